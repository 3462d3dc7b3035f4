"""The official workbook, read to validated frames.

The real workbook could not be seen when this was written, so the reader lives with what it did not foresee: an error
is what makes the analysis impossible (a missing sheet or key column, duplicate TaskIds, no rating at all) or its
numbers false (answers on a scale that was not declared, a column that mostly can't be read); all else is a counted
warning that names its cells and says what was done. Conventions: ``book/format.md``.
"""

import gc
import inspect
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import compress, dropwhile, pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np

from sense7 import taxonomy
from sense7.arguments import bind_arguments, checked, is_path
from sense7.study import ABSENT, STATES, UNREADABLE, Study
from sense7.taxonomy import DIMENSIONS, RATING_NAMES, normalise_name, normalise_word
from sense7.terminal import count_of
from sense7.workbook import ids
from sense7.workbook.diagnostics import ERROR, WARNING, Diagnostics, WorkbookError, refusal
from sense7.workbook.ids import as_name, as_names, as_number, as_texts, is_blank
from sense7.workbook.options import (
    ALL_COLUMNS,
    ReadingOptions,
    is_scales_sheet,
    scale_columns,
    with_scales_sheet,
)
from sense7.workbook.repeats import report_repeated_conversations, report_repeated_messages
from sense7.workbook.scales import NO_ID, TOTALS, is_answer, read_scales, says_nothing, stands_for
from sense7.workbook.tables import read_tables
from sense7.workbook.xlsx import LONGEST_TEXT, Sheet, may_be_cut, read_sheets

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
"""Columns without which a sheet can't be read."""

NAMES = {
    "conversation": "TaskId",
    "participant": "PID",
    "condition": "Model",
    "topic": "PreTaskChoice",
}
"""Columns of names: in the frame, and in the sheet."""

KNOWN_ROLES = ("user", "assistant", "error")

_IMPORT_ID = re.compile(r"\s*+\{\s*+.?ImportId.?\s*+:", re.IGNORECASE)

Columns = dict[str, list | np.ndarray]
"""Name -> column: texts and other cells as a list (None if blank), numbers as an array (NaN if there is none)."""


@dataclass(frozen=True, eq=False, repr=False)
class ParsedWorkbook(Study):
    """A workbook that was read and checked, by columns, without data frames: importing pandas takes longer than that.

    A state is its place in ``sense7.study.STATES``.
    """

    def study(self) -> Study:
        """The same with data frames."""
        import pandas as pd

        def frame(columns: Columns) -> pd.DataFrame:
            # Without a type of its own pandas would infer one for a list, and turn None into NaN.
            kinds = {
                name: object if isinstance(column, list) else None
                for name, column in columns.items()
            }
            return pd.DataFrame(
                {name: pd.Series(columns[name], dtype=kinds[name], copy=False) for name in columns}
            )

        states = [name for name in self.turns if name.endswith("_state")]
        turns = self.turns | {
            name: pd.Categorical.from_codes(self.turns[name], STATES) for name in states
        }
        frames = {
            "conversations": frame(self.conversations),
            "messages": frame(self.messages),
            "turns": frame(turns),
        }
        people = None if self.participants is None else frame(self.participants)
        return Study(
            **vars(self) | frames | {"participants": people, "columns": pd.DataFrame(self.columns)}
        )


@checked(path=is_path("Give the path of a file."))
def read_workbook(path: str | Path, **options) -> Study:
    """Read a workbook of the official format, or a folder of tables; options as for :func:`parse_workbook`."""
    bind_arguments("read_workbook", inspect.signature(parse_workbook), (path,), options)
    return parse_workbook(path, **options).study()


def parse_sheets(
    sheets: dict[str, Sheet], *, path: str | Path = "workbook", name: str = "workbook", **options
) -> Study:
    """Give meaning to sheets that are read already; options as for :func:`parse_workbook`."""
    return parse_workbook(path, name=name, sheets=sheets, **options).study()


def parse_workbook(
    path: str | Path,
    *,
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str | None = None,
    part: bool = False,
    options: ReadingOptions | None = None,
    sheets: dict[str, Sheet] | None = None,
) -> ParsedWorkbook:
    """Read a workbook without making data frames of it.

    Parameters
    ----------
    path : path
        The .xlsx file, or a folder of tables, see :func:`~sense7.workbook.tables.read_tables`.
    strict : bool
        Whether any warning is an error.
    prompted_condition : str, optional
        The condition with the empathy prompt; guessed from the names if not given.
    name : str, optional
        Name of the study; the file's stem if not given.
    part : bool
        Whether this is one part of a data set (:mod:`sense7.workbook.writing`), which may lack any rating.
    options : ReadingOptions, optional
        Declared scales and words; those of ``FILE.reading.yml`` beside the workbook if not given. A sheet Scales of
        the workbook declares scales, too; what is given here comes first.
    sheets : mapping, optional
        The sheets, where they are read already.

    Raises
    ------
    UserError
        If the file can't be opened or is no workbook, or ``prompted_condition`` is not in it.
    WorkbookError
        If the analysis is impossible, or ``strict`` and anything was found; lists every diagnostic.
    """
    # Reading makes many objects and no cycles, and looking for some takes a third of its time.
    on = gc.isenabled()
    gc.disable()
    try:
        if sheets is None:
            sheets = read_tables(path) if Path(path).is_dir() else read_sheets(path)
            options = ReadingOptions.beside(Path(path)) if options is None else options
        options = with_scales_sheet(sheets, options or ReadingOptions(), path)
        diagnostics = Diagnostics()
        located = {
            official: locate_sheet(sheets, official, diagnostics) for official in KEY_COLUMNS
        }
        tables = {
            official: Table(official, sheet, diagnostics)
            for official, sheet in located.items()
            if sheet
        }
        tasks, messages = (
            tables[one] if one in tables and tables[one].has_keys else None for one in KEY_COLUMNS
        )
        explained, conversations, said, turns = False, None, None, None
        if tasks and messages:
            explained = messages.leave_out("TaskId", set(as_names(tasks.cells("TaskId"))), False)
            explained |= tasks.leave_out(
                "TaskId", set(as_names(messages.cells("TaskId"))), explained
            )
        if tasks:
            answers = read_scales(tasks, options)
            conversations = read_conversations(tasks, answers)
        if messages:
            ratings = read_scales(messages, options)
            if conversations is not None:
                said, turns = read_messages(messages, ratings, tasks, conversations)
        people, people_sheet = read_participants(
            sheets, tables, conversations, explained, options, diagnostics
        )
        named = {normalise_name(name) for name in (*scale_columns(), *(people or ()), ALL_COLUMNS)}
        if unknown := [name for name in options.missing if normalise_name(name) not in named]:
            raise refusal(path, "no-missing-column", name=unknown[0])
        errors = [
            diagnostic
            for diagnostic in diagnostics.of(ERROR)
            if not (part and diagnostic.kind == "no-rating")
        ]
        if (
            conversations is None
            or said is None
            or errors
            or (strict and diagnostics.of(ERROR, WARNING))
        ):
            raise WorkbookError(path, diagnostics, strict)
        # Ratings count where they belong, in assistant turns.
        records = tasks.report(answers, slice(None), options) + messages.report(
            ratings, turns["row"] - 2, options
        )
        prompted, reason = find_prompted(conversations, prompted_condition, path)
        return ParsedWorkbook(
            name=name or Path(path).stem,
            conversations=conversations,
            messages=said,
            turns=turns,
            participants=people,
            participants_sheet=people_sheet,
            columns={key: [record[key] for record in records] for key in records[0]},
            sheets=sheets,
            diagnostics=list(diagnostics),
            prompted_condition=prompted,
            prompted_reason=reason,
        )
    finally:
        if on:
            gc.enable()


def find_prompted(
    conversations: Mapping[str, Iterable], chosen: str | None, path: str | Path
) -> tuple[str | None, str]:
    """Give the empathy-prompted condition, None if it is not known, and how it is known or why not."""
    conditions = sorted({name for name in conversations["condition"] if isinstance(name, str)})
    if chosen:
        if (name := as_name(chosen)) not in conditions:
            known = ", ".join(map(repr, conditions)) or "none"
            raise refusal(path, "unknown-condition", name=chosen, conditions=known)
        return name, "given"
    best = []
    for condition in conditions:
        words = re.findall(
            r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", condition).casefold()
        )  # GptEmp: two words
        negated = any(
            re.fullmatch(r"non?|not|without|un|(non?|un)(empath|prompt).*", word) for word in words
        )
        if not negated and any(re.fullmatch(r"emph?|.*(empath|prompt).*", word) for word in words):
            best.append(condition)
    if len(best) == 1:
        return best[0], "guessed from its name"
    several = f"several conditions' names speak of it: {', '.join(best)}"
    return None, several if best else "no condition's name speaks of empathy or of a prompt"


# --- sheets and columns ---


def locate_sheet(sheets: dict[str, Sheet], official: str, diagnostics: Diagnostics) -> Sheet | None:
    """Find a sheet by its official name, or else by one alike; None, with an error, if there is none."""
    alike = [
        sheet for name, sheet in sheets.items() if normalise_name(name) == normalise_name(official)
    ]
    sheet = sheets.get(official, alike[0] if alike else None)
    if sheet is None:
        diagnostics.add(
            "missing-sheet",
            {"sheet": official},
            official=official,
            present=", ".join(sheets) or "none",
        )
    elif official not in sheets:
        diagnostics.add("renamed-sheet", {"sheet": sheet.name}, official=official)
    return sheet


class Table:
    """A sheet with its columns found, and where to report what is strange in it.

    ``positions`` are given of a sheet that the format does not describe.
    """

    def __init__(
        self, official: str, sheet: Sheet, diagnostics: Diagnostics, positions: dict | None = None
    ):
        self.official, self.sheet, self.diagnostics = official, sheet, diagnostics
        self.columns, self.positions = taxonomy.CORE_COLUMNS.get(official, ()), positions or {}
        self._cells = list(zip(*sheet.rows, strict=True))
        if not sheet.visible:
            self.add("hidden-sheet")
        self.add("hidden-rows", "", sheet.hidden, rows_hidden=count_of(len(sheet.hidden), "row"))
        for entry, cells in (
            ("error-cell", sheet.errors),
            ("formula-without-value", sheet.formulas),
        ):
            for position, row in cells:
                self.add(entry, position, [row])
        if positions is None:
            self.positions = self._match_columns()
        missing = [key for key in KEY_COLUMNS.get(official, ()) if key not in self.positions]
        for key in missing:
            self.add(
                "missing-key-column",
                key,
                key=key,
                present=", ".join(filter(None, sheet.header)) or "none",
            )
        self.has_keys = not missing

    def cells(self, official: str) -> tuple:
        """Cells of a column; all None where the column is missing."""
        position, length = self.positions.get(official), len(self.sheet.rows)
        return (None,) * length if position is None or not length else self._cells[position]

    @property
    def filled(self) -> list[bool]:
        """Whether each row has any cell."""
        blank = [None] * len(self.sheet.header)
        return [row != blank for row in self.sheet.rows]

    def add(
        self, entry: str, column: str | int = "", rows=None, value: object = "", /, **words: object
    ) -> None:
        """Report an entry of diagnostics.toml, see ``Diagnostics.add``; a column by its official name or position."""
        position = column if isinstance(column, int) else self.positions.get(column)
        if position is not None:
            header = self.sheet.header[position] if position < len(self.sheet.header) else ""
            column = (
                header if header.strip() else f"{ids.cell_name(position, 1).rstrip('1')} (no name)"
            )
        place = {"sheet": self.sheet.name, "column": column, "position": position}
        self.diagnostics.add(entry, place, rows, value, **words)

    def names(
        self, official: str, known: set[str] | None = None, noun: str = ""
    ) -> list[str | None]:
        """A column as names; as ``known`` spells them, if these are given and one alone is alike."""
        cells = self.cells(official)
        names = as_names(cells)
        ids.report_replaced_signs(self, official, cells, names)
        ids.report_rounded(self, official, cells, names)
        respelt = {} if known is None else ids.respelt(names, known)
        for row, name in enumerate(names, 2):
            if name in respelt:
                self.add(f"respelt-id/{noun}", official, [row], name)
        return [respelt.get(name, name) for name in names]

    def report(
        self, answers: Mapping, counted: slice | np.ndarray, options: ReadingOptions
    ) -> list[dict]:
        """What became of each column of this sheet; of answers on a scale, those of some rows count."""
        records = []
        for column in self.columns:
            position, ends = self.positions.get(column.official), (np.nan, np.nan)
            if not column.scale:
                filled, unreadable = (
                    len(self.sheet.rows) - sum(map(is_blank, self.cells(column.official))),
                    0,
                )
            else:
                states = answers[column.name][1][counted]
                filled = int((states != STATES.index(ABSENT)).sum())
                unreadable = int((states == STATES.index(UNREADABLE)).sum())
                declared = options.scale_of(column.official, column.scale.size)
                if declared and (declared.lowest, declared.highest) != (1, column.scale.size):
                    ends = (declared.lowest, declared.highest)
            record = {"sheet": self.official, "column": column.official, "name": column.name}
            record |= {"header": None if position is None else self.sheet.header[position]}
            record |= {"question": column.is_question, "filled": filled, "unreadable": unreadable}
            records.append(record | {"lowest": ends[0], "highest": ends[1]})
        return records

    def leave_out(self, key: str, known: set, explained: bool) -> bool:
        """Make rows without data blank, and report them; whether any of them names the columns.

        Survey programs write a row of questions and a row of {"ImportId": ..} under the names; files that were joined
        repeat the names in between; spreadsheets end in totals, whose id in the column ``key`` is not ``known``. One of
        the first four rows is such a row if it holds nothing but texts, its role or id is not known, and one of its
        texts stands above a column of numbers, or is no answer on the scale of its column, or other sheets have such
        rows, too (``explained``).
        """
        first = 0
        rows, names = self.sheet.rows, self.sheet.names
        id_place, role = self.positions[key], self.positions.get("Role")
        scales = {
            self.positions.get(column.official): column.scale
            for column in self.columns
            if column.scale
        }

        def names_column(place: int, cell: object) -> bool:
            if place in scales:
                return _is_word(cell) and not is_answer(scales[place], cell)
            # Above numbers alone, but for texts in the first rows.
            numbers = [as_number(cell) for cell in self._cells[place] if not is_blank(cell)]
            below = list(dropwhile(lambda number: number is None, numbers))
            texts = len(numbers) - len(below)
            is_above = texts < 5 and len(below) >= max(2, texts) and None not in below
            return place != id_place and is_above and _is_word(cell)

        for number, row in enumerate(rows[:4]):
            filled = [cell for cell in row if not is_blank(cell)]
            if role is not None:
                is_data = isinstance(row[role], str) and normalise_word(row[role]) in KNOWN_ROLES
            else:
                is_data = as_name(row[id_place]) in known
            is_text = (
                first == number
                and not is_data
                and filled
                and all(isinstance(cell, str) for cell in filled)
            )
            if any(isinstance(cell, str) and _IMPORT_ID.match(cell) for cell in filled) or (
                is_text
                and (explained or any(names_column(place, cell) for place, cell in enumerate(row)))
            ):
                first = number + 1
        headers, totals = set(range(first)), set()
        begins = [row[0] if row[0] is not None else next(filter(None, row), None) for row in rows]
        again = {
            cell
            for cell in set(self.cells(key))
            if isinstance(cell, str) and normalise_name(cell) == names[id_place]
        }
        sums = {
            cell for cell in set(begins) if isinstance(cell, str) and normalise_word(cell) in TOTALS
        }
        for index, row in enumerate(rows[first:], first):
            if row[id_place] in again and all(
                is_blank(cell) or normalise_name(str(cell)) == name
                for cell, name in zip(row, names, strict=True)
            ):
                headers.add(index)
            elif begins[index] in sums and as_name(row[id_place]) not in known:
                totals.add(index)
        for entry, found in (("further-header", headers), ("totals", totals)):
            self.add(entry, "", [row + 2 for row in sorted(found)])
        if headers | totals:
            blank = [None] * len(names)
            self.sheet = replace(
                self.sheet,
                rows=[blank if at in headers | totals else row for at, row in enumerate(rows)],
            )
            self._cells = list(zip(*self.sheet.rows, strict=True))
        return bool(headers)

    def _match_columns(self) -> dict[str, int]:
        """Official name -> position: exact names, then alike ones and titles, then dimensions that one column names."""
        sheet, officials, after = (
            self.sheet,
            {one.official for one in self.columns},
            normalise_name("PostTaskEmpathy"),
        )
        alike = {normalise_name(official): official for official in officials}
        alike |= {
            normalise_name(one.title): one.name for one in DIMENSIONS if one.name in officials
        }
        positions = {
            one.official: sheet.header.index(one.official)
            for one in self.columns
            if one.official in sheet.header
        }
        naming: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(sheet.names):
            official = alike.get(name)
            if official in officials - positions.keys():
                positions[official] = place
                self.add("renamed-column", place, official=official)
            elif name.startswith(after) and place not in positions.values():
                held = [
                    one.name
                    for one in DIMENSIONS
                    if normalise_name(one.name) in name.removeprefix(after)
                ]
                naming[f"PostTaskEmpathy_{held[0]}" if len(held) == 1 else ""].append(place)
        # Of several columns that name a dimension, such as one with a comment, nobody knows which is meant.
        for official in naming.keys() & officials - positions.keys():
            if len(naming[official]) == 1:
                positions[official] = naming[official][0]
        for place, name in enumerate(sheet.names):
            if place not in positions.values() and (
                name or any(row[place] is not None for row in sheet.rows)
            ):
                entry = "unmatched-column" if name.startswith(after) else "unknown-column"
                entry = "duplicate-column" if alike.get(name) in positions else entry
                self.add(
                    entry,
                    place,
                    official=alike.get(name),
                    dimensions=", ".join(taxonomy.DIMENSION_NAMES),
                )
        return positions


def _is_word(cell: object) -> bool:
    """Whether a cell is a text that is no number, and does not say that there is none."""
    return (
        isinstance(cell, str) and as_number(cell) is None and not says_nothing(normalise_word(cell))
    )


# --- Tasks ---


def read_conversations(tasks: Table, answers: Mapping) -> Columns:
    """Every conversation that has a TaskId, with the number of its row; duplicates are errors."""
    names = {name: tasks.names(official) for name, official in NAMES.items()}
    rows = np.arange(2, len(tasks.sheet.rows) + 2)
    named = np.array([identifier is not None for identifier in names["conversation"]], dtype=bool)
    again = report_repeated_conversations(tasks, names["conversation"])
    tasks.add(
        "missing-id/conversation", "TaskId", rows[np.array(tasks.filled, dtype=bool) & ~named]
    )
    named[list(again)] = False
    columns: Columns = {name: list(compress(column, named)) for name, column in names.items()}
    columns |= {name: levels[named] for name, (levels, _) in answers.items()}
    columns["row"] = rows[named]
    numbers = columns["row"].tolist()
    if not numbers:
        tasks.add("no-conversation")
    repeated = Counter(columns["conversation"])
    for identifier, row in zip(columns["conversation"], numbers, strict=True):
        if repeated[identifier] > 1:
            tasks.add("duplicate-id", "TaskId", [row], identifier)
    for name, official in NAMES.items():
        ids.report_similar(tasks, official, columns[name], numbers, name)
    people = columns["participant"]
    without = [
        index
        for index, person in enumerate(people)
        if person is None or normalise_word(person) in NO_ID or ids.is_error(person)
    ]
    tasks.add("missing-participant", "PID", [numbers[index] for index in without])
    for index in without:  # a made-up name that no PID can equal, since ids are trimmed
        people[index] = f" (no PID) {columns['conversation'][index]}"
    blank = [
        row
        for condition, row in zip(columns["condition"], numbers, strict=True)
        if condition is None
    ]
    if "Model" in tasks.positions and len(blank) < len(numbers):
        tasks.add("missing-condition", "Model", blank)
    return columns


# --- Messages ---


def read_messages(
    table: Table, ratings: Mapping, tasks: Table, conversations: Columns
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them, in the order of the rows."""
    # The conversation of each message, as Tasks spells it.
    number_of = {name: number for number, name in enumerate(conversations["conversation"])}
    identifiers, filled = table.names("TaskId", set(number_of), "conversation"), table.filled
    matched = [name if name in number_of else None for name in identifiers]
    message_id = _numbers(
        table, "MessageId", -np.inf, "the rows' order in the file stands in for it."
    )
    seconds = _numbers(table, "TimeOffsetSeconds", 0, "counted as not known.")
    roles = as_texts(table.cells("Role"))
    again = report_repeated_messages(table, matched, message_id, ratings)
    joined = {matched[number] for number in again}
    matched = [None if number in again else name for number, name in enumerate(matched)]
    for row, (identifier, conversation, role, is_filled) in enumerate(
        zip(identifiers, matched, roles, filled, strict=True), 2
    ):
        if conversation is None and is_filled and row - 2 not in again:
            table.add("orphan", "TaskId", [row], identifier or "(blank)")
        if role not in KNOWN_ROLES and is_filled:
            table.add("unknown-role", "Role", [row], "(blank)" if role is None else role)
    for official in ("Content", "Comment"):
        cut = [
            row
            for row, cell in enumerate(table.cells(official), 2)
            if isinstance(cell, str) and may_be_cut(cell)
        ]
        table.add("cut-text", official, cut, longest=f"{LONGEST_TEXT:,}")
    known = np.array([name is not None for name in matched], dtype=bool)
    is_turn = known & np.array([role == "assistant" for role in roles], dtype=bool)
    for column in table.columns:
        if column.scale:
            stray = known & ~is_turn & np.isfinite(ratings[column.name][0])
            table.add("rating-elsewhere", column.official, np.flatnonzero(stray) + 2)
    # The position of each message in its conversation: by MessageId where every message has one of its own.
    index, of_conversation = np.flatnonzero(known), defaultdict(list)
    for number in index.tolist():
        of_conversation[matched[number]].append(number)
    numbers = [None if math.isnan(number) else number for number in message_id.tolist()]
    position, turn = np.zeros(len(matched), dtype=np.int64), np.zeros(len(matched), dtype=np.int64)
    found: dict[str, list[int]] = defaultdict(list)
    for name, spoken in of_conversation.items():
        own = [numbers[one] for one in spoken]
        counts = Counter(own) if len(set(own)) < len(own) else {}
        repeated = [
            one for one in spoken if numbers[one] is not None and counts.get(numbers[one], 1) > 1
        ]
        found["repeated-message-id"] += repeated
        if None in own:
            found["missing-message-id"] += [
                one for one in spoken if is_blank(table.cells("MessageId")[one])
            ]
        elif not repeated:
            falls = [one for last, one in pairwise(spoken) if numbers[one] < numbers[last]]
            found["unordered-message-id"] += (
                [] if name in joined else falls
            )  # rows of two files are in no order
            spoken.sort(key=numbers.__getitem__)
        position[spoken] = np.arange(1, len(spoken) + 1)
        replies = [one for one in spoken if is_turn[one]]
        turn[replies] = np.arange(1, len(replies) + 1)
    for entry, rows in found.items() if "MessageId" in table.positions else ():
        table.add(entry, "MessageId", [row + 2 for row in sorted(rows)])

    kept, places = known.tolist(), np.flatnonzero(is_turn)
    messages: Columns = {
        "conversation": list(compress(matched, kept)),
        "position": position[index],
        "message_id": message_id[index],
        "seconds": seconds[index],
        "role": list(compress(roles, kept)),
        "content": list(compress(as_texts(table.cells("Content")), kept)),
        "retry": list(compress(table.cells("Retry"), kept)),
        "comment": list(compress(as_texts(table.cells("Comment")), kept)),
        "row": index + 2,
    }
    of_turn = [number_of[matched[one]] for one in places.tolist()]
    turns: Columns = {
        name: [conversations[name][number] for number in of_turn]
        for name in ("conversation", "participant", "condition")
    }
    turns |= {
        "turn": turn[places],
        "position": position[places],
        "seconds": seconds[places],
        "row": places + 2,
    }
    turns |= {name: ratings[name][0][places] for name in RATING_NAMES}
    turns |= {f"{name}_state": ratings[name][1][places] for name in RATING_NAMES}
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        table.add("no-rating")
    silent = [name not in of_conversation for name in conversations["conversation"]]
    tasks.add("no-message", "TaskId", conversations["row"][silent])
    return messages, turns


def _numbers(table: Table, official: str, lowest: float, consequence: str) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    words = {
        "consequence": consequence,
        "from_lowest": f" from {lowest:g} up" if np.isfinite(lowest) else "",
    }
    for index in np.flatnonzero(np.isnan(values)).tolist():
        number = as_number(cells[index], decimal_comma=True)
        if number is not None and number >= lowest:
            values[index] = number
        elif not is_blank(cells[index]):
            table.add("not-a-number", official, [index + 2], cells[index], **words)
    return values


# --- participants ---


def read_participants(
    sheets: dict[str, Sheet],
    tables: dict[str, Table],
    conversations: Columns | None,
    explained,
    options,
    diagnostics,
) -> tuple[Columns | None, str | None]:
    """The sheet with one row per participant, found by its PID column: its columns and its name; None without one.

    ``explained`` says that the other sheets have further rows of names.
    """
    candidates, used = [], {table.sheet.name: official for official, table in tables.items()}
    for sheet in sheets.values():
        known = sheet.name in {taxonomy.SYNTHETIC_SHEET, taxonomy.ORIGIN_SHEET} or is_scales_sheet(
            sheet
        )
        if sheet.name in used or known:
            continue
        # A copy has all columns of another, or its name and the columns without which it can't be read.
        own = set(sheet.names) - {""}
        originals = [
            name
            for name, official in used.items()
            if set(map(normalise_name, KEY_COLUMNS[official])) <= own
            and (
                normalise_name(official) in normalise_name(sheet.name)
                or own == set(sheets[name].names) - {""}
            )
        ]
        people = (
            [one for one in as_names(sheet.column(sheet.names.index("pid"))) if one]
            if "pid" in own
            else []
        )
        once = len(people) == len(set(people))
        if originals:
            diagnostics.add("copied-sheet", {"sheet": sheet.name}, original=originals[0])
        # Several rows per participant beside a TaskId: a sheet about conversations, e.g. an old copy of Tasks.
        elif "pid" in own and ("taskid" not in own or once):
            is_copy = any(
                normalise_name(one.name) in normalise_name(sheet.name) for _, one in candidates
            )
            candidates.append((("taskid" not in own, once, not is_copy, len(set(people))), sheet))
        else:
            diagnostics.add("unknown-sheet", {"sheet": sheet.name})
    if not candidates:
        return None, None
    _, chosen = max(candidates, key=itemgetter(0))
    for _, candidate in candidates:
        if candidate is not chosen:
            diagnostics.add(
                "further-participants-sheet", {"sheet": candidate.name}, chosen=chosen.name
            )
    position, active = (
        chosen.names.index("pid"),
        set(conversations["participant"]) if conversations else set(),
    )
    table = Table("Participants", chosen, diagnostics, {"PID": position})
    table.leave_out("PID", active, explained)

    people, filled = table.names("PID", active, "participant"), table.filled
    columns: Columns = {"participant": people}
    for index, header in enumerate(chosen.header):
        if index != position and (
            header.strip() or any(cell is not None for cell in table.sheet.column(index))
        ):
            name = header if header.strip() else f"column {index + 1}"
            while name in columns or name == "row":
                name += "'"
            columns[name] = _characteristic(table, index, options.missing_of(header))
    columns["row"] = np.arange(2, len(people) + 2)
    first = {name: index for index, name in reversed(list(enumerate(people)))}
    lost = [index + 2 for index, name in enumerate(people) if name is None and filled[index]]
    repeated = [
        index + 2 for index, name in enumerate(people) if name is not None and first[name] != index
    ]
    table.add("missing-id/participant", "PID", lost)
    table.add("duplicate-participant", "PID", repeated)
    kept = sorted(index for name, index in first.items() if name is not None)
    for name, column in columns.items():
        columns[name] = (
            [column[index] for index in kept] if isinstance(column, list) else column[kept]
        )
    if conversations is not None:
        idle = [name not in active for name in columns["participant"]]
        table.add("participant-without-conversation", "PID", columns["row"][idle])
        unknown = [name not in first for name in conversations["participant"]]
        rows = conversations["row"][unknown]
        tables["Tasks"].add("participant-without-characteristics", "PID", rows, chosen=chosen.name)
    return columns, chosen.name


def _characteristic(table: Table, position: int, declared: tuple | None) -> list | np.ndarray:
    """Numbers if every answer is one, otherwise text; declared and known codes for a missing answer are blank."""
    cells = [
        None if stands_for(cell, declared or ()) else cell for cell in table.sheet.column(position)
    ]
    numbers = np.array(
        [np.nan if (n := as_number(cell)) is None else ids.as_shown(n) for cell in cells],
        dtype=float,
    )
    odd = [
        index for index in np.flatnonzero(np.isnan(numbers)).tolist() if not is_blank(cells[index])
    ]
    count = int(np.isfinite(numbers).sum())
    if count and all(isinstance(cells[index], str) and not _is_word(cells[index]) for index in odd):
        for index in odd:
            table.add("mixed-column/number", position, [index + 2], cells[index])
        for code in (
            ids.codes_among(set(numbers[np.isfinite(numbers)].tolist())) if declared is None else ()
        ):
            found, column = np.flatnonzero(numbers == code), table.sheet.header[position]
            table.add("missing-number", position, found + 2, code, column=column, code=f"{code:g}")
            numbers[found] = np.nan
        return numbers
    for index in odd:
        if len(odd) < count or ids.looks_like_number(cells[index]):
            entry = "mixed-column/text" if len(odd) < count else "number-as-text"
            table.add(entry, position, [index + 2], cells[index])
    names = as_names(cells)
    ids.report_replaced_signs(table, position, cells, names, joined_only=True)
    ids.report_similar(table, position, names, list(range(2, len(names) + 2)), "group")
    # A date among ages such as 18-24 was one of them.
    if any(name is not None and re.fullmatch(r"\d{1,3} ?[-/] ?\d{1,3}", name) for name in names):
        ids.report_retyped(table, position, cells, names)
    return names
