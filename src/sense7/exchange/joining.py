"""Ratings in a table, joined to conversations as ``FILE.map.yml`` beside the table declares, and both as a workbook.

Cells are kept as they are, words or numbers; the reading file says what they mean. Several people may rate the same
conversation: then it stands once for each of them, since a workbook has one participant for a conversation.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import yaml

from sense7.errors import UserError
from sense7.exchange.content import ASSISTANT, Chat
from sense7.files import require_free, require_schema
from sense7.taxonomy import (
    DIMENSION_NAMES,
    MESSAGE_COLUMNS,
    SCALE_OF,
    TASK_COLUMNS,
    Column,
    normalise_word,
)
from sense7.terminal import count_of
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.ids import as_name, as_number, as_text, is_blank
from sense7.workbook.reading import (
    Reading,
    parse_reading,
    read_yaml,
    reading_path,
    write_reading,
)
from sense7.workbook.sheets import parse_workbook
from sense7.workbook.tables import read_table
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet, read_sheets, write_sheets

OF_TURNS = {column.official for column in MESSAGE_COLUMNS if column.is_question}
QUESTIONS = OF_TURNS | {column.official for column in TASK_COLUMNS if column.is_question}
IDS = ("TaskId", "PID", "Turn")
COLUMNS = (*IDS, "Model", *sorted(QUESTIONS))

_TEXT = {"type": "string", "minLength": 1, "description": "Write a text."}
_ENTRIES = {"type": "object", "description": "Write entries of NAME: VALUE."}
MAP_SCHEMA = {
    "type": "object",
    "description": "Write entries of NAME: COLUMN.",
    "additionalProperties": False,
    "properties": {
        **dict.fromkeys(("header_rows", "ratings", *COLUMNS), _TEXT),
        **dict.fromkeys(("participants", "reading"), _ENTRIES),
    },
}
"""What a map may hold."""

MOST_TURNS = 1000
"""Turns of a conversation that columns are looked for."""


@dataclass(frozen=True)
class RatingMap:
    """Declares which columns of a table hold what.

    ``columns``: name in the format, name of a characteristic, or ``Turn`` -> column, or with ``{turn}`` in it a column
    for each turn.
    """

    table: Path
    columns: Mapping[str, str]
    characteristics: Sequence[str]
    header_rows: int
    reading: Reading

    def is_missing(self, name: str, cell: object) -> bool:
        """Whether a cell of a turn holds a value that is declared to be no answer."""
        missing = self.reading.missing
        if SCALE_OF[name]:
            missing = self.reading.answers_of(Column(name, name, SCALE_OF[name])).missing
        return normalise_word(as_text(cell)) in missing


Ratings = dict[tuple, dict[str, tuple[int, object]]]
"""Conversation, participant (None if not declared) and turn (None if about all of it) -> name -> row, and cell.

Without conversation and turn: what is said of a participant.
"""


def read_map(table: Path) -> RatingMap:
    """Read the map beside a table of ratings; a UserError names the key that can't be used."""
    path = table.with_name(f"{table.name}.map.yml")
    if not path.exists():
        raise UserError(
            f"{table}: no {path.name} beside it. Declare there which column holds what, a line each: TaskId: COLUMN, "
            'ratings: "T{turn}_{dimension}", and so on.'
        )
    content = read_yaml(path, scalars_are_texts=True)
    require_schema(content, MAP_SCHEMA, str(path))
    people = content.get("participants", {})
    characteristics = {name: str(column) for name, column in people.items()}
    columns = dict(characteristics)
    for dimension in DIMENSION_NAMES:
        if "ratings" in content:
            columns[dimension] = content["ratings"].replace("{dimension}", dimension)
    columns.update({name: content[name] for name in COLUMNS if name in content})
    for name, column in columns.items():
        if ("{turn}" in column) != (name in OF_TURNS and "Turn" not in columns):
            raise UserError(
                f"{path}: {name}: {column}: a rating needs {{turn}} in the name of its columns, or Turn: COLUMN where "
                "each turn has a row of its own; other columns have no {turn}."
            )
    rated = [column for name, column in columns.items() if name in OF_TURNS]
    header_rows = as_number(content.get("header_rows", "1"))
    is_complete = "TaskId" in columns and rated and len(set(rated)) == len(rated)
    if not is_complete or header_rows not in range(1, 10):
        raise UserError(
            f"{path}: declare the column of TaskId, for each rating a column of its own ({{dimension}} in ratings), "
            "and as header_rows how many rows stand above the answers, if not 1."
        )
    declared = {"reading": "1", **content.get("reading", {})}
    text = yaml.safe_dump(declared, allow_unicode=True, sort_keys=False)
    reading = parse_reading(text, f"{path}: reading")
    return RatingMap(table, columns, list(characteristics), int(header_rows), reading)


def find_columns(header: Sequence[str], declared: RatingMap) -> dict[tuple, int]:
    """Return the position of each declared column, by its name in the format and the turn in its name."""
    columns = {}
    for turn in (None, *range(MOST_TURNS)):
        of_turn = {}
        for name, column in declared.columns.items():
            if ("{turn}" in column) != (turn is None):
                of_turn[name, turn] = column.replace("{turn}", str(turn))
        if turn is None or not set(header).isdisjoint(of_turn.values()):
            columns.update(of_turn)
    for (name, _), column in columns.items():
        if header.count(column) != 1:
            problem = "several columns" if column in header else "no column"
            raise UserError(
                f"{declared.table}: row 1 has {problem} {column!r}, which {declared.table.name}.map.yml declares as "
                f"{name} (columns present: {', '.join(header)}). Correct one of the two files."
            )
    return {key: header.index(column) for key, column in columns.items()}


def join_ratings(
    sheet: Sheet, positions: Mapping[tuple, int], declared: RatingMap, chats: Sequence[Chat]
) -> Ratings:
    """Join the answers in a table to conversations.

    A UserError names row and column of an answer that belongs to no turn, of a second answer about the same, and of a
    formula without a value. A missing value in the column of a turn that a conversation does not have is blank.
    """
    turns_of, person_of = {}, {}
    for chat in chats:
        turns_of[chat.id] = sum(message.role == ASSISTANT for message in chat.messages)
        person_of[chat.id] = chat.participant

    def refuse(number: int, key: tuple, problem: str) -> None:
        column = sheet.header[positions[key]]
        raise UserError(
            f"{declared.table}: row {number}, column {column!r}: {problem}. Correct the table or its map."
        )

    key_at = {position: key for key, position in positions.items()}
    for position, number in sheet.without_value:
        if position in key_at and number > declared.header_rows:
            refuse(
                number, key_at[position], "a formula's error, or a formula without a stored value"
            )
    ratings = defaultdict(dict)
    for number, row in enumerate(sheet.rows, 2):
        cells = {key: row[position] for key, position in positions.items()}
        ids = [as_name(cells.pop((name, None), None)) for name in IDS]
        conversation, participant, turn_of_row = ids
        if number <= declared.header_rows:
            continue
        filled = {key: cell for key, cell in cells.items() if not is_blank(cell)}
        person = participant or person_of.get(conversation)
        if QUESTIONS.isdisjoint(name for name, _ in filled):
            # A person may have been asked for the age with the first conversation only.
            about_person = {(name, None) for name in declared.characteristics if person is not None}
            filled = {key: cell for key, cell in filled.items() if key in about_person}
        elif conversation not in turns_of:
            problem = f"no conversation has the id {conversation!r}"
            if conversation is None:
                problem = "answers without the id of a conversation"
            refuse(number, ("TaskId", None), problem)
        for (name, turn_of_column), cell in filled.items():
            about = (conversation, participant, None)
            if name in declared.characteristics and person is not None:
                about = (None, person, None)
            if name in OF_TURNS:
                said_turn = turn_of_row if turn_of_column is None else turn_of_column
                turn = as_number(str(said_turn))
                about = (conversation, participant, turn)
                turns = turns_of[conversation]
                if turn not in range(1, turns + 1):
                    if turn_of_column and declared.is_missing(name, cell):
                        continue
                    problem = (
                        f"an answer about turn {said_turn} of {conversation!r}, which has {turns}"
                    )
                    refuse(number, (name, turn_of_column), problem)
            earlier_row, earlier = ratings[about].setdefault(name, (number, cell))
            is_equal = name not in OF_TURNS and as_name(earlier) == as_name(cell)
            if earlier_row != number and not is_equal:
                both = f"{as_name(cell)!r:.40}, and {as_name(earlier)!r:.40} in row {earlier_row}"
                parts = []
                for word, value in zip(("conversation", "participant", "turn"), about, strict=True):
                    if value:
                        parts.append(f"{word} {as_text(value)}")
                problem = f"{both}, about {', '.join(parts)}"
                if about[0] and participant is None:
                    problem += "; declare PID if two people rated the conversation"
                refuse(number, (name, turn_of_column), problem)
    if not ratings:
        refuse(declared.header_rows + 1, ("TaskId", None), "no answer stands in this row, or below")
    return ratings


def workbook_sheets(
    chats: Sequence[Chat], ratings: Ratings, characteristics: Sequence[str] = ()
) -> dict[str, Sheet]:
    """Lay out conversations as the sheets Tasks and Messages of the official format, and Participants if declared."""
    people_of = defaultdict(dict)
    for conversation, participant, _ in ratings:
        people_of[conversation][participant] = None

    def cells_of(*key) -> dict:
        return {name: cell for name, (_, cell) in ratings.get(key, {}).items()}

    conversations = []
    for chat in chats:
        people = people_of.get(chat.id, [None])
        for participant in people:
            task = {"Model": chat.condition, "PreTaskChoice": chat.topic}
            task.update(cells_of(chat.id, participant, None))
            task["TaskId"] = chat.id if len(people) == 1 else f"{chat.id}:{participant}"
            task["PID"] = participant or chat.participant
            messages = []
            turn = 0
            for message in chat.messages:
                cells = {
                    "TimeOffsetSeconds": message.seconds,
                    "Role": message.role,
                    "Content": message.text,
                }
                if message.role == ASSISTANT:
                    turn += 1
                    cells.update(cells_of(chat.id, participant, turn))
                messages.append(cells)
            conversations.append((task, messages))
    sheets = official_sheets(conversations)
    if characteristics:
        names = ["PID", *characteristics]
        rows = {}
        for task, _ in conversations:
            person = {**task, **cells_of(None, task["PID"], None)}
            if any(person.get(name) is not None for name in characteristics):
                row = list(map(person.get, names))
                rows[tuple(row)] = row
        sheets.append(Sheet("Participants", names, list(rows.values())))
    return {sheet.name: sheet for sheet in sheets}


def write_workbook(
    chats: Sequence[Chat], out: Path, ratings: Path | None = None, *, replace: bool = False
) -> list[str]:
    """Write a workbook of conversations, with the ratings in a table and the reading file that its map declares.

    If the map, the table or the workbook that would be made has an error, nothing is written. Gives what was joined.
    """
    if ratings is None:
        sheets = workbook_sheets(chats, {})
        parse_workbook(out, sheets=sheets, rated=False)
        write_sheets(sheets, out, replace=replace)
        return []
    declared = read_map(ratings)
    reading = declared.reading
    require_free(reading_path(out), replace=replace)
    if ratings.suffix.casefold() == ".xlsx":
        table, *further = read_sheets(ratings).values()
    else:
        table = read_table(ratings, reading.decimal)
        further = []
    positions = find_columns(table.header, declared)
    joined = join_ratings(table, positions, declared, chats)
    sheets = workbook_sheets(chats, joined, declared.characteristics)
    try:
        parse_workbook(out, sheets=sheets, reading=reading)
    except WorkbookError as error:
        fix = (
            "Nothing was written, so there is no workbook yet that sense7 check could draft a reading file for. "
            f"Declare all this under reading: in {ratings}.map.yml"
        )
        raise UserError(f"{error}\n{fix}") from None
    write_sheets(sheets, out, replace=replace)
    write_reading(out, reading.text)
    lines = [f"{count_of(sum(map(len, joined.values())), 'cell')} joined"]
    answered = {conversation for conversation, _, _ in joined}
    unanswered = [chat.id for chat in chats if chat.id not in answered]
    if unanswered:
        count = count_of(len(unanswered), "conversation")
        lines.append(
            f"{count} without an answer, such as {unanswered[0]!r}: participant and condition are "
            "those of the conversations' file"
        )
    unused = [name for at, name in enumerate(table.header) if at not in positions.values()]
    if unused:
        lines.append(f"columns that are not declared: {', '.join(unused)}")
    if table.hidden:
        rows = count_of(len(table.hidden), "hidden row")
        lines.append(f"{rows} read like all others, the first row {table.hidden[0]}")
    if further:
        lines.append(f"sheets that were not read: {', '.join(sheet.name for sheet in further)}")
    in_parts = []
    for chat in chats:
        roles = [message.role for message in chat.messages]
        if (ASSISTANT, ASSISTANT) in pairwise(roles):
            in_parts.append(chat.id)
    if in_parts:
        lines.append(
            f"{count_of(len(in_parts), 'conversation')} where messages of the assistant follow each other, such as "
            f"{in_parts[0]!r}: each message is a turn of its own"
        )
    return lines
