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
from sense7.taxonomy import MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS, normalise_name
from sense7.terminal import count_of
from sense7.workbook import ReadingOptions, Sheet, parse_sheets, read_sheets, write_sheets
from sense7.workbook.ids import as_name, as_number, is_blank
from sense7.workbook.options import ALL_COLUMNS, entries_of
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
_ALIKE = {normalise_name(name): name for name in _NAMES} | {
    normalise_name(column.name): column.official
    for column in (*TASK_COLUMNS, *MESSAGE_COLUMNS)
    if column.official in _NAMES
}

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
    columns = {}
    for name, of, where in [*entries_of(path, "--columns"), *entries_of(list(items), "--column")]:
        # YAML reads a bare yes, no, on, off as a truth value.
        if (
            name == ALL_COLUMNS
            or isinstance(of, bool)
            or not isinstance(of, str | int | float)
            or not str(of).strip()
        ):
            fix = "(in a file NAME: COLUMN, a name such as yes or on in quotes)"
            raise UserError(f"{where}: expected NAME=COLUMN, e.g. Affective=q1 {fix}.")
        official = _ALIKE.get(normalise_name(str(name)))
        if official is None:
            raise UserError(
                f"{where}: {str(name)[:60]!r} is no column of the format. Use one of {', '.join(_NAMES)}."
            )
        columns[official] = str(of).strip()
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
    if ending not in (".csv", ".xlsx"):
        raise UserError(
            f"{path}: expected a table that ends in .csv or .xlsx. Save it as CSV in UTF-8."
        )
    sheet = next(iter(read_sheets(path).values())) if ending == ".xlsx" else read_table(path)
    present, header = f"(columns present: {', '.join(sheet.header)})", sheet.header
    for name, of in columns.items():
        if of not in header:
            fix = "Correct the map or the table."
            raise UserError(
                f"{path}: the column {of!r} ({name}) is missing in row 1 {present}. {fix}"
            )
    chosen, positions = {of: name for name, of in columns.items()}, {}
    for number, own in enumerate(header):
        name = chosen.get(own, _ALIKE.get(normalise_name(own)))
        if name is None or (name in columns and own not in chosen):
            continue
        if name in positions:
            both = f"columns {header[positions[name]]!r} and {own!r} could both be {name}"
            raise UserError(
                f"{path}: {both}. Give them different names, and say which: --column {name}=COLUMN."
            )
        positions[name] = number
    for wanted, (what, example) in _NEEDED.items():
        if not any(name in positions for name in wanted):
            fix = f"Name it: --column {example}, or in a file for --columns."
            raise UserError(f"{path}: no column for {what} {present}. {fix}")
    rows = [{name: row[position] for name, position in positions.items()} for row in sheet.rows]
    return RatingTable(
        path, rows, [own for number, own in enumerate(header) if number not in positions.values()]
    )


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
        self.ratings: dict[int, dict] = {}
        self.rows: dict[int | str, int] = {}


@dataclass
class Joined:
    """Conversations, once for each person who rated them (or once without ratings), and by row what did not join."""

    rated: list[Rated]
    remarks: list[str] = field(default_factory=list)
    has_ratings: bool = False

    def lines(self) -> list[str]:
        """Give what was joined, in a line; nothing where there was no table."""
        turns, without = (
            sum(len(one.ratings) for one in self.rated),
            sum(not one.ratings for one in self.rated),
        )
        lines = [f"ratings of {count_of(turns, 'turn')} joined"] if self.has_ratings else []
        return lines + (
            [f"{count_of(without, 'conversation')} without a rating"] if lines and without else []
        )


def join_ratings(chats: Sequence[Chat], table: RatingTable | None = None) -> Joined:
    """Join ratings to the turns that they rate.

    A row joins if its conversation is among ``chats``, and every column that names the turn (number of the turn, number
    of the message) names the same message of the assistant. Numbers count from 0 if one of the column is 0.
    """
    by_id = {chat.id: chat for chat in chats}
    people: dict[str, dict[str | None, Rated]] = defaultdict(dict)
    failures: dict[str, list[str]] = defaultdict(list)
    rows = table.rows if table else []
    from_0 = {
        key
        for key in KEYS
        for row in rows
        if not is_blank(row.get(key)) and as_number(row[key]) == 0
    }
    for number, row in enumerate(rows, 2):
        filled = {
            name: row[name]
            for name in (*RATINGS, "Comment")
            if name in row and not is_blank(row[name])
        }
        name = as_name(row["TaskId"])
        chat = by_id.get(name)
        message, problem = (
            _message_of(chat, row, from_0) if chat else (0, "no conversation has this id")
        )
        if problem or not filled:
            reason = f"not joined: {problem}" if filled else "no answer in them, passed over"
            failures[reason].append(f"{number} ({name or 'blank'})")
            continue
        one = people[name].setdefault(as_name(row.get("PID")), Rated(chat))
        if message in one.ratings:
            raise UserError(
                f"{table.path}: rows {one.rows[message]} and {number} rate the same turn of {chat.id!r}. Remove one; "
                "if two people rated it, name the column that says who: --column PID=COLUMN."
            )
        one.ratings[message], one.rows[message] = filled, number
        for of_task in OF_TASKS:
            if is_blank(cell := row.get(of_task)):
                continue
            if of_task in one.rows and one.task[of_task] != cell:
                raise UserError(
                    f"{table.path}: rows {one.rows[of_task]} and {number}: {of_task} is {one.task[of_task]!r:.40} and "
                    f"{cell!r:.40} in the same conversation, {chat.id!r}. Correct one, or leave this column out."
                )
            one.task[of_task] = cell
            one.rows.setdefault(of_task, number)
    remarks = []
    for reason, places in failures.items():
        more = f" and {len(places) - 10:,} more" if len(places) > 10 else ""
        remarks.append(
            f"{table.path}: row{'s' * (len(places) > 1)} {', '.join(places[:10])}{more}: {reason}"
        )
    if table and table.unused:
        remarks.append(f"{table.path}: columns that are not used: {', '.join(table.unused)}")
    if table and not people:
        raise UserError(
            "\n".join([f"{table.path}: not one row joins. Nothing was written.", *remarks])
        )
    rated = []
    for chat in chats:
        raters = people.get(chat.id) or {None: Rated(chat)}
        for rater, one in raters.items():
            if len(raters) > 1:  # under an id of its own for each
                one.task["TaskId"] = f"{chat.id}-{rater or chat.participant or 'unnamed'}"
            rated.append(one)
    remarks += [
        f"{table.path}: {key} is counted from 0, since 0 stands in it" for key in sorted(from_0)
    ]
    return Joined(rated, remarks, table is not None)


def _message_of(chat: Chat, row: Mapping, from_0: set[str]) -> tuple[int, str]:
    """Number of the message that a row rates, from 1; or why it rates none."""
    turns = [number for number, one in enumerate(chat.messages, 1) if one.role == ASSISTANT]
    named: set[int] = set()
    for key in KEYS:
        if not is_blank(row.get(key)):
            place = as_number(row[key])
            place = place + 1 if key in from_0 and place is not None else place
            if place not in (range(1, len(turns) + 1) if key == TURN else turns):
                return (
                    0,
                    "no such turn" if key == TURN else "this message is none of the assistant's",
                )
            named.add(turns[int(place) - 1] if key == TURN else int(place))
    if len(named) > 1:
        return 0, f"{' and '.join(KEYS)} name different turns"
    return (named.pop(), "") if named else (0, "nothing says which turn")


def workbook_sheets(joined: Joined) -> list[Sheet]:
    """Lay out conversations as the sheets Tasks and Messages of the official format."""
    messages = []
    for one in joined.rated:
        for number, message in enumerate(one.chat.messages, 1):
            cells = {
                "TaskId": one.task["TaskId"],
                "MessageId": float(number),
                "TimeOffsetSeconds": message.seconds,
            }
            cells |= {"Role": message.role, "Content": message.text}
            messages.append(
                cells | (one.ratings.get(number, {}) if message.role == ASSISTANT else {})
            )
    return official_sheets([one.task for one in joined.rated], messages)


def write_workbook(
    joined: Joined,
    out: Path,
    options: ReadingOptions,
    *,
    replace: bool = False,
) -> None:
    """Write a workbook that ``sense7 check`` accepts, and beside it how its ratings are to be read, if declared.

    If its reader finds an error in what would be written, nothing is.
    """
    beside = ReadingOptions.place(out)
    if beside.exists():
        raise UserError(
            f"{beside}: says how another workbook of this name is to be read. Remove it, or choose another --out."
        )
    sheets = workbook_sheets(joined)
    parse_sheets(
        {sheet.name: sheet for sheet in sheets},
        path=out,
        part=not joined.has_ratings,
        options=options,
    )
    write_sheets(sheets, out, replace=replace)
    options.write_beside(out)
