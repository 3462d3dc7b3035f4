"""Ratings of turns in a table of any layout, joined to conversations row by row: what does not join is listed.

Cells are kept as they are, words or numbers; the reader of workbooks decides what they mean on a scale. People may rate
conversations of others, and several the same one: then each conversation stands once for each of them, under an id that
ends with their name, since a workbook has one participant for a conversation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.chats import ASSISTANT, Chat
from sense7.files import one_line, parse_yaml
from sense7.taxonomy import MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS, normalise_name
from sense7.terminal import count_of
from sense7.workbook.ids import as_name, as_number, as_text, is_blank
from sense7.workbook.tables import ENDINGS, read_table, read_text
from sense7.workbook.xlsx import Sheet, read_sheets

__all__ = ["ColumnMap", "Joined", "Rated", "RatingTable", "join_ratings", "read_ratings", "row_ranges"]

TURN = "Turn"
"""Name under which a column counts the assistant's messages of a conversation: 1, 2, 3 ..."""

KEYS = (TURN, "MessageId", "Content")
"""Columns that can say which turn a row rates."""

RATINGS = tuple(column.official for column in MESSAGE_COLUMNS if column.name in RATING_NAMES)
ANSWERS = (*RATINGS, "Comment")
"""Columns of a turn that a row fills."""

OF_TASKS = tuple(column.official for column in TASK_COLUMNS if column.official != "TaskId")
"""Columns of a conversation, which are the same in each row of it."""

_NAMES = ("TaskId", *KEYS, *ANSWERS, *OF_TASKS)
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


@dataclass(frozen=True)
class ColumnMap:
    """What the columns of a table mean: name in the official format, or ``Turn``, -> name in the table."""

    columns: Mapping[str, str]

    @classmethod
    def of(cls, path: Path | None = None, items: Iterable[str] = ()) -> "ColumnMap":
        """Read a map as users give it: from YAML with lines NAME: COLUMN, and before it from items NAME=COLUMN.

        Examples
        --------
        >>> ColumnMap.of(None, ["conversation=chat", "overall=q8", "Turn=no"]).columns
        {'TaskId': 'chat', 'EmpathyOverall': 'q8', 'Turn': 'no'}
        """
        columns = {} if path is None else {_official(name, str(path)): str(of) for name, of in _entries(path).items()}
        for item in items:
            name, equals, of = item.partition("=")
            if not equals or not of.strip():
                raise UserError(f"--column {item!r}: expected NAME=COLUMN, e.g. Affective=q1.")
            columns[_official(name, f"--column {item}")] = of.strip()
        return cls(columns)

    def positions(self, sheet: Sheet, path: Path) -> dict[str, int]:
        """Find the columns in a table: those of the map, and further ones by their official names."""
        positions = {}
        for name, of in self.columns.items():
            found = [number for number, header in enumerate(sheet.header) if header == of]
            if len(found) != 1:
                problem = "is missing" if not found else "stands there several times"
                raise UserError(
                    f"{path}: the column {of!r} ({name}) {problem} in row 1 (columns present: "
                    f"{', '.join(sheet.header)}). Correct the map or the table."
                )
            positions[name] = found[0]
        for number, header in enumerate(sheet.header):
            name = _ALIKE.get(normalise_name(header))
            if name and name not in self.columns and number not in positions.values():
                if name in positions:
                    raise UserError(
                        f"{path}: columns {sheet.header[positions[name]]!r} and {header!r} could both be {name}. "
                        f"Say which: --column {name}=COLUMN."
                    )
                positions[name] = number
        return positions


@dataclass(frozen=True)
class RatingTable:
    """Ratings of turns: row ``i`` of ``rows`` (official name, or ``Turn``, -> cell) is row ``i + 2`` of the table."""

    path: Path
    rows: list[dict]
    columns: list[str]
    unused: list[str]

    def filled(self, row: Mapping) -> dict:
        """Answers of a row that are not blank."""
        return {name: row[name] for name in ANSWERS if name in row and not is_blank(row[name])}


def read_ratings(path: Path, columns: ColumnMap) -> RatingTable:
    """Read a table of ratings: CSV, parquet, or the first sheet of a workbook, with names of columns in row 1."""
    ending = path.suffix.casefold()
    if ending not in (*ENDINGS, ".xlsx"):
        raise UserError(
            f"{path}: expected a table that ends in {', '.join(ENDINGS)} or .xlsx. Save it as CSV in UTF-8."
        )
    sheet = next(iter(read_sheets(path).values())) if ending == ".xlsx" else read_table(path)
    positions = columns.positions(sheet, path)
    for wanted, (what, example) in _NEEDED.items():
        if not any(name in positions for name in wanted):
            raise UserError(
                f"{path}: no column for {what} (columns present: {', '.join(sheet.header)}). Name it: "
                f"--column {example}, or in a file for --columns."
            )
    rows = [{name: row[position] for name, position in positions.items()} for row in sheet.rows]
    unused = [header for number, header in enumerate(sheet.header) if number not in positions.values()]
    return RatingTable(path, rows, list(positions), unused)


def _official(name: object, where: str) -> str:
    official = _ALIKE.get(normalise_name(str(name)))
    if official is None:
        raise UserError(f"{where}: {str(name)[:60]!r} is no column of the format. Use one of {', '.join(_NAMES)}.")
    return official


def _entries(path: Path) -> Mapping:
    try:
        entries = parse_yaml(read_text(path))
    except ValueError as error:
        raise UserError(f"{path}: {one_line(error)}. Write one line per column, NAME: COLUMN.") from None
    of_bool = [name for name, of in entries.items() if isinstance(of, bool)] if isinstance(entries, Mapping) else []
    if of_bool:  # YAML reads a bare yes, no, on, off as a truth value
        raise UserError(f"{path}: {of_bool[0]}: this is read as true or false. Put the column's name in quotes.")
    if not isinstance(entries, Mapping) or not all(isinstance(of, str | int | float) for of in entries.values()):
        raise UserError(f"{path}: holds no map of columns. Write one line per column, NAME: COLUMN.")
    return entries


@dataclass
class Rated:
    """A conversation with the ratings of one person.

    ``ratings`` has the cells of each message by its number, ``rows`` the row of the table from which the ratings of a
    message or a column of ``task`` come.
    """

    chat: Chat
    task: dict
    ratings: dict[int, dict] = field(default_factory=dict)
    rows: dict[int | str, int] = field(default_factory=dict)


@dataclass
class Joined:
    """Conversations, once for each person who rated them (or once without ratings), and by row what did not join."""

    rated: list[Rated]
    remarks: list[str] = field(default_factory=list)
    has_ratings: bool = False

    def lines(self) -> list[str]:
        """Give what was joined, in a line; nothing where there was no table."""
        if not self.has_ratings:
            return []
        turns = sum(len(one.ratings) for one in self.rated)
        without = sum(not one.ratings for one in self.rated)
        lines = [f"ratings of {count_of(turns, 'turn')} joined"]
        others = sum(one.chat.participant not in (None, as_name(one.task["PID"])) for one in self.rated)
        if others:
            lines.append(f"{count_of(others, 'conversation')} rated by others than their participant: PID is who rated")
        return lines + ([f"{count_of(without, 'conversation')} without a rating"] if without else [])


def row_ranges(rows: Sequence[int]) -> str:
    """Rows in words, consecutive ones as a range.

    Examples
    --------
    >>> row_ranges([7]), row_ranges([2, 3, 4, 9])
    ('row 7', 'rows 2-4, 9')
    """
    ranges: list[list[int]] = []
    for row in sorted(rows):
        if ranges and row == ranges[-1][1] + 1:
            ranges[-1][1] = row
        else:
            ranges.append([row, row])
    named = ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)
    return f"row{'s' if len(rows) > 1 else ''} {named}"


def join_ratings(chats: Sequence[Chat], table: RatingTable | None = None) -> Joined:
    """Join ratings to the turns that they rate.

    A row joins if its conversation is among ``chats``, and every column that names the turn (number of the turn, number
    of the message, text) names the same message of the assistant. Numbers count from 0 if one of the column is 0.
    """
    by_id = {chat.id: chat for chat in chats}
    people: dict[str, dict[str | None, Rated]] = defaultdict(dict)
    failures: dict[str, list[tuple[int, str]]] = defaultdict(list)
    from_0 = {key for key in (TURN, "MessageId") for row in (table.rows if table else []) if _number(row, key) == 0}
    for number, row in enumerate(table.rows if table else [], 2):
        filled = table.filled(row)
        if not filled:
            failures["no answer in them, passed over"].append((number, ""))
            continue
        name = as_name(row["TaskId"])
        chat = by_id.get(name)
        if chat is None:
            failures["not joined: no conversation has this id"].append((number, name or "(blank)"))
            continue
        message, problem = _message_of(chat, row, from_0)
        if problem:
            failures[f"not joined: {problem}"].append((number, name))
            continue
        rater = as_name(row.get("PID"))
        one = people[name].setdefault(rater, Rated(chat, _task(chat)))
        _add(one, message, filled, row, number, table)
    if table and not people:
        raise UserError(
            "\n".join([f"{table.path}: not one row joins. Nothing was written.", *_remarks(table, failures)])
        )
    rated = [one for chat in chats for one in _named(chat, people.get(chat.id, {}))]
    _require_distinct(rated)
    remarks = _remarks(table, failures) if table else []
    remarks += [f"{table.path}: {key} is counted from 0, since 0 stands in it" for key in sorted(from_0)]
    return Joined(rated, remarks, table is not None)


def _task(chat: Chat) -> dict:
    return {"PID": chat.participant, "Model": chat.condition, "TaskId": chat.id, "PreTaskChoice": chat.topic}


def _number(row: Mapping, key: str) -> float | None:
    return None if is_blank(row.get(key)) else as_number(row[key])


def _message_of(chat: Chat, row: Mapping, from_0: set[str]) -> tuple[int, str]:
    """Number of the message that a row rates, from 1; or why it rates none."""
    turns = [number for number, one in enumerate(chat.messages, 1) if one.role == ASSISTANT]
    named: dict[str, int] = {}
    for key in KEYS:
        cell = row.get(key)
        if is_blank(cell):
            continue
        if key == "Content":
            said = " ".join(as_text(cell).split())
            alike = [turn for turn in turns if " ".join(chat.messages[turn - 1].text.split()) == said]
            if len(alike) != 1:
                return 0, "no turn of the conversation has this text" if not alike else "several turns have this text"
            named[key] = alike[0]
            continue
        place = as_number(cell)
        if place is not None and key in from_0:
            place += 1
        if key == TURN and place in range(1, len(turns) + 1):
            named[key] = turns[int(place) - 1]
        elif key == "MessageId" and place in turns:
            named[key] = int(place)
        else:
            return 0, "no such turn" if key == TURN else "this message is none of the assistant's"
    if len(set(named.values())) > 1:
        return 0, f"{' and '.join(named)} name different turns"
    return (next(iter(named.values())), "") if named else (0, "nothing says which turn")


def _add(one: Rated, message: int, filled: Mapping, row: Mapping, number: int, table: RatingTable) -> None:
    """Add a row to the ratings of its conversation and person."""
    if message in one.ratings:
        raise UserError(
            f"{table.path}: rows {one.rows[message]} and {number} rate the same turn of {one.chat.id!r}. Remove one; "
            "if two people rated it, name the column that says who: --column PID=COLUMN."
        )
    one.ratings[message], one.rows[message] = dict(filled), number
    for name in OF_TASKS:
        cell = row.get(name)
        if is_blank(cell):
            continue
        if name in one.rows and one.task[name] != cell:
            raise UserError(
                f"{table.path}: rows {one.rows[name]} and {number}: {name} is {one.task[name]!r:.40} and {cell!r:.40} "
                f"in the same conversation, {one.chat.id!r}. Correct one of them, or leave this column out."
            )
        one.task[name] = cell
        one.rows.setdefault(name, number)


def _named(chat: Chat, people: Mapping[str | None, Rated]) -> list[Rated]:
    """The conversation for each person; with several, under an id of its own for each."""
    if not people:
        return [Rated(chat, _task(chat))]
    for rater, one in people.items() if len(people) > 1 else ():
        one.task["TaskId"] = f"{chat.id}-{rater or chat.participant or 'unnamed'}"
    return list(people.values())


def _require_distinct(rated: Sequence[Rated]) -> None:
    seen: dict[str, str] = {}
    for one in rated:
        name = one.task["TaskId"]
        if name in seen:
            raise UserError(
                f"the conversations {seen[name]!r} and {one.chat.id!r} would both have the TaskId {name!r}, since "
                "several people rated one of them. Give --new-ids, or other ids."
            )
        seen[name] = one.chat.id


def _remarks(table: RatingTable, failures: Mapping[str, list[tuple[int, str]]]) -> list[str]:
    remarks = []
    for reason, places in failures.items():
        values = list(dict.fromkeys(value for _, value in places if value))
        shown = f" ({', '.join(map(repr, values[:5]))}{' ...' if len(values) > 5 else ''})" if values else ""
        remarks.append(f"{table.path}: {row_ranges([row for row, _ in places])}: {reason}{shown}")
    if table.unused:
        remarks.append(f"{table.path}: columns that are not used: {', '.join(table.unused)}")
    return remarks
