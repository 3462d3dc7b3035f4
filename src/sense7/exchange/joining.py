"""Ratings in a table of any layout, joined to conversations row by row, and both as a workbook of the official format.

What does not join is listed. Cells are kept as they are, words or numbers; the reader of workbooks decides what they
mean on a scale. People may rate conversations of others, and several the same one: then each conversation stands once
for each of them, under an id that ends with their name, since a workbook has one participant for a conversation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.content import ASSISTANT, Chat
from sense7.files import one_line, parse_yaml, reading
from sense7.taxonomy import MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS, normalise_name
from sense7.terminal import count_of
from sense7.workbook import Sheet, WorkbookError, read_sheets, write_sheets
from sense7.workbook.diagnostics import ERROR
from sense7.workbook.draft import draft_of
from sense7.workbook.ids import as_name, as_number, is_blank
from sense7.workbook.reading import reading_beside, write_reading
from sense7.workbook.sheets import read_passes
from sense7.workbook.tables import read_table
from sense7.workbook.writing import official_sheets

TURN = "Turn"
"""Name under which a column counts the assistant's messages of a conversation: 1, 2, 3 ..."""

KEYS = (TURN, "MessageId")
"""Columns that can say which turn a row rates."""

RATINGS = tuple(column.official for column in MESSAGE_COLUMNS if column.name in RATING_NAMES)

OF_TASKS = tuple(column.official for column in TASK_COLUMNS if column.official != "TaskId")
"""Columns of a conversation, which are the same in each row of it."""

_NAMES = ("TaskId", *KEYS, *RATINGS, "Comment", *OF_TASKS)
_ALIKE = {normalise_name(name): name for name in _NAMES}
for _column in (*TASK_COLUMNS, *MESSAGE_COLUMNS):
    if _column.official in _NAMES:
        _ALIKE[normalise_name(_column.name)] = _column.official

_NEEDED = {
    ("TaskId",): ("the conversation", "TaskId=COLUMN"),
    KEYS: (f"the turn, by one of {', '.join(KEYS)}", f"{TURN}=COLUMN"),
    RATINGS: ("a rating", "Affective=COLUMN"),
}
"""Columns of which one has to be there -> what they say, and an example of the option."""


def column_map(path: Path | None = None, items: Iterable[str] = ()) -> dict[str, str]:
    """Read what columns mean, official name (or ``Turn``) -> column: from YAML, and before it from items NAME=COLUMN.

    Examples
    --------
    >>> column_map(None, ["conversation=chat", "overall=q8", "Turn=no"])
    {'TaskId': 'chat', 'EmpathyOverall': 'q8', 'Turn': 'no'}
    """
    entries = []
    if path is not None:
        with reading(path) as stream:
            content = stream.read()
        try:
            declared = parse_yaml(content.decode("utf-8"), scalars_are_texts=True)
        except ValueError as error:
            raise UserError(f"{path}: {one_line(error)}. Write NAME: COLUMN.") from None
        if not isinstance(declared, Mapping):
            raise UserError(f"{path}: no lines NAME: COLUMN. Write some.")
        entries += [(name, column, path) for name, column in declared.items()]
    for item in items:
        name, _, column = item.partition("=")
        entries.append((name, column, f"--column {item}"))
    columns = {}
    for name, column, where in entries:
        if not isinstance(column, str) or not column.strip():
            raise UserError(f"{where}: expected NAME=COLUMN, e.g. Affective=q1.")
        official = _ALIKE.get(normalise_name(str(name)))
        if official is None:
            raise UserError(
                f"{where}: {str(name)[:60]!r} is no column of the format. Use one of {', '.join(_NAMES)}."
            )
        columns[official] = str(column).strip()
    return columns


@dataclass(frozen=True)
class RatingTable:
    """Ratings of turns: row ``i`` of ``rows`` (official name, or ``Turn``, -> cell) is row ``i + 2`` of the table."""

    path: Path
    rows: list[dict]
    unused: list[str]


def read_ratings(path: Path, columns: Mapping[str, str]) -> RatingTable:
    """Read a table of ratings: CSV, or the first sheet of a workbook, with names of columns in row 1.

    Columns are those of the map, and further ones by their official names.
    """
    ending = path.suffix.casefold()
    if ending == ".xlsx":
        sheet, *_ = read_sheets(path).values()
    elif ending == ".csv":
        sheet = read_table(path)
    else:
        raise UserError(
            f"{path}: expected a table that ends in .csv or .xlsx. Save it as CSV in UTF-8."
        )
    header = sheet.header
    present = f"(columns present: {', '.join(header)})"
    for name, column in columns.items():
        if column not in header:
            raise UserError(
                f"{path}: the column {column!r} ({name}) is missing in row 1 {present}. Correct the map or the table."
            )
    positions = _positions(path, header, columns)
    for names, (meaning, example) in _NEEDED.items():
        if positions.keys().isdisjoint(names):
            fix = f"Name it: --column {example}, or in a file for --columns."
            raise UserError(f"{path}: no column for {meaning} {present}. {fix}")
    rows = [{name: row[position] for name, position in positions.items()} for row in sheet.rows]
    used = set(positions.values())
    unused = [column for position, column in enumerate(header) if position not in used]
    return RatingTable(path, rows, unused)


def _positions(path: Path, header: list[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Official name -> position in the table: by the map, else by a column's own name."""
    name_of = {column: name for name, column in columns.items()}
    positions = {}
    for position, column in enumerate(header):
        name = name_of.get(column)
        if name is None:
            name = _ALIKE.get(normalise_name(column))
            if name is None or name in columns:
                continue
        if name in positions:
            both = f"columns {header[positions[name]]!r} and {column!r} could both be {name}"
            raise UserError(
                f"{path}: {both}. Give them different names, and say which: --column {name}=COLUMN."
            )
        positions[name] = position
    return positions


class Rated:
    """A conversation with the ratings of one person.

    ``ratings`` has the cells of each message by its number, ``rows`` the row of the table from which the ratings of a
    message or a column of ``task`` come.
    """

    def __init__(self, chat: Chat):
        self.chat = chat
        self.task = {
            "PID": chat.participant,
            "Model": chat.condition,
            "TaskId": chat.id,
            "PreTaskChoice": chat.topic,
        }
        self.ratings = {}
        self.rows = {}


@dataclass
class Joined:
    """Conversations, once for each person who rated them (or once without ratings), and by row what did not join."""

    rated: list[Rated]
    remarks: list[str] = field(default_factory=list)

    @property
    def turns(self) -> int:
        """Number of turns with ratings; 0 only where there was no table."""
        return sum(len(conversation.ratings) for conversation in self.rated)

    def lines(self) -> list[str]:
        """Give what was joined, in a line; nothing where there was no table."""
        if not self.turns:
            return []
        without = sum(not conversation.ratings for conversation in self.rated)
        lines = [f"ratings of {count_of(self.turns, 'turn')} joined"]
        if without:
            lines.append(f"{count_of(without, 'conversation')} without a rating")
        return lines


def join_ratings(chats: Sequence[Chat], table: RatingTable | None = None) -> Joined:
    """Join ratings to the turns that they rate.

    A row joins if its conversation is among ``chats``, and every column that names the turn (number of the turn, number
    of the message) names the same message of the assistant. Numbers count from 0 if one of the column is 0.
    """
    if table is None:
        return Joined([Rated(chat) for chat in chats])
    by_id = {chat.id: chat for chat in chats}
    from_0 = set()
    for key in KEYS:
        cells = [row.get(key) for row in table.rows]
        if any(as_number(cell) == 0 for cell in cells):
            from_0.add(key)
    people: dict[str, dict[str | None, Rated]] = defaultdict(dict)
    failures = defaultdict(list)
    for number, row in enumerate(table.rows, 2):
        name = as_name(row["TaskId"])
        chat = by_id.get(name)
        problem = "no conversation has this id"
        if chat:
            message, problem = _message_of(chat, row, from_0)
        answers = {}
        for column in (*RATINGS, "Comment"):
            if not is_blank(row.get(column)):
                answers[column] = row[column]
        if not answers:
            problem = "no answer in them, passed over"
        elif problem:
            problem = f"not joined: {problem}"
        if problem:
            failures[problem].append(f"{number} ({name or 'blank'})")
            continue
        rated = people[name].setdefault(as_name(row.get("PID")), Rated(chat))
        if message in rated.ratings:
            raise UserError(
                f"{table.path}: rows {rated.rows[message]} and {number} rate the same turn of {name!r}. Remove one; if "
                "two people rated it, name the column that says who: --column PID=COLUMN."
            )
        rated.ratings[message] = answers
        rated.rows[message] = number
        for column in OF_TASKS:
            cell = row.get(column)
            if is_blank(cell):
                continue
            first_row = rated.rows.setdefault(column, number)
            if first_row != number and as_name(rated.task[column]) != as_name(cell):
                raise UserError(
                    f"{table.path}: rows {first_row} and {number}: {column} is {rated.task[column]!r:.40} and "
                    f"{cell!r:.40} in the same conversation, {name!r}. Correct one, or leave this column out."
                )
            rated.task[column] = cell
    remarks = []
    for problem, places in failures.items():
        noun = "rows" if len(places) > 1 else "row"
        first_places = ", ".join(places[:10])
        if len(places) > 10:
            first_places += f" and {len(places) - 10:,} more"
        remarks.append(f"{table.path}: {noun} {first_places}: {problem}")
    if table.unused:
        remarks.append(f"{table.path}: columns that are not used: {', '.join(table.unused)}")
    if not people:
        message = f"{table.path}: not one row joins. Nothing was written."
        raise UserError("\n".join([message, *remarks]))
    conversations = []
    for chat in chats:
        raters = people.get(chat.id) or {None: Rated(chat)}
        for rater, rated in raters.items():
            if len(raters) > 1:  # under an id of its own for each
                rated.task["TaskId"] = f"{chat.id}-{rater or chat.participant or 'unnamed'}"
            conversations.append(rated)
    for key in sorted(from_0):
        remarks.append(f"{table.path}: {key} is counted from 0, since 0 stands in it")
    return Joined(conversations, remarks)


def _message_of(chat: Chat, row: Mapping, from_0: set[str]) -> tuple[int, str]:
    """Number of the message that a row rates, from 1; or why it rates none."""
    turns = [number for number, message in enumerate(chat.messages, 1) if message.role == ASSISTANT]
    messages = set()
    for key in KEYS:
        if is_blank(row.get(key)):
            continue
        number = as_number(row[key])
        if number is not None and key in from_0:
            number += 1
        if key == TURN:
            if number not in range(1, len(turns) + 1):
                return 0, "no such turn"
            messages.add(turns[int(number) - 1])
        elif number in turns:
            messages.add(int(number))
        else:
            return 0, "this message is none of the assistant's"
    if not messages:
        return 0, "nothing says which turn"
    if len(messages) > 1:
        return 0, f"{' and '.join(KEYS)} name different turns"
    return messages.pop(), ""


def workbook_sheets(joined: Joined) -> list[Sheet]:
    """Lay out conversations as the sheets Tasks and Messages of the official format."""
    messages = []
    for rated in joined.rated:
        for number, message in enumerate(rated.chat.messages, 1):
            cells = {
                "TaskId": rated.task["TaskId"],
                "MessageId": float(number),
                "TimeOffsetSeconds": message.seconds,
                "Role": message.role,
                "Content": message.text,
            }
            if message.role == ASSISTANT:
                cells.update(rated.ratings.get(number, {}))
            messages.append(cells)
    return official_sheets([rated.task for rated in joined.rated], messages)


def write_workbook(joined: Joined, out: Path, *, replace: bool = False) -> None:
    """Write a workbook, and beside it the reading file in which its user says what the ratings mean.

    A reading file that is there already is kept, and the workbook read by it. If its reader finds an error other than
    undeclared ratings in what would be written, nothing is.
    """
    sheets = {sheet.name: sheet for sheet in workbook_sheets(joined)}
    declared = reading_beside(out)
    passes = read_passes(sheets, declared)
    ignored = set() if declared.text else {"undeclared"}
    if not declared.text or not joined.turns:
        ignored.add("no-rating")
    if any(diagnostic.kind not in ignored for diagnostic in passes.diagnostics.of(ERROR)):
        raise WorkbookError(out, passes.diagnostics)
    write_sheets(sheets, out, replace=replace)
    if declared.text:
        return
    place = write_reading(out, draft_of(passes))
    if any(table.undeclared for table in passes.tables.values()):
        joined.remarks.append(f"{place}: say there what the ratings mean, in place of the capitals")
