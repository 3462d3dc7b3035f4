"""The official workbook, read to validated frames.

The real workbook could not be seen when this was written, so the reader lives with what it did not foresee: an error
is what makes the analysis impossible (a missing sheet or key column, duplicate TaskIds, no rating at all) or its
numbers false (answers on a scale that was not declared, a column that mostly can't be read); all else is a counted
warning that names its cells and says what was done. Conventions: ``book/format.md``.
"""

import gc
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter
from pathlib import Path

import numpy as np

from sense7 import taxonomy
from sense7.errors import wrong_kind
from sense7.study import ABSENT, STATES, UNREADABLE, Study
from sense7.taxonomy import DIMENSIONS, RATING_NAMES, normalise_name, normalise_word
from sense7.terminal import count_of
from sense7.workbook import ids
from sense7.workbook.diagnostics import ERROR, WARNING, Diagnostics, WorkbookError, refusal
from sense7.workbook.ids import as_name, as_names, as_number, as_texts, is_blank
from sense7.workbook.options import ALL_COLUMNS, ReadingOptions, is_scales_sheet, scale_columns, with_scales_sheet
from sense7.workbook.scales import NO_ID, TOTALS, is_answer, read_scales, says_nothing, stands_for
from sense7.workbook.tables import read_tables
from sense7.workbook.xlsx import Sheet, read_sheets

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
"""Columns without which a sheet can't be read."""

NAMES = {"conversation": "TaskId", "participant": "PID", "condition": "Model", "topic": "PreTaskChoice"}
"""Columns of names: in the frame, and in the sheet."""

KNOWN_ROLES = ("user", "assistant", "error")

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
            kinds = {name: object if isinstance(column, list) else None for name, column in columns.items()}
            return pd.DataFrame({name: pd.Series(columns[name], dtype=kinds[name], copy=False) for name in columns})

        states = [name for name in self.turns if name.endswith("_state")]
        turns = self.turns | {name: pd.Categorical.from_codes(self.turns[name], STATES) for name in states}
        frames = {"conversations": frame(self.conversations), "messages": frame(self.messages), "turns": frame(turns)}
        people = None if self.participants is None else frame(self.participants)
        return Study(**vars(self) | frames | {"participants": people, "columns": pd.DataFrame(self.columns)})


def read_workbook(path: str | Path, **options) -> Study:
    """Read a workbook of the official format, or a folder of tables; options as for :func:`parse_workbook`."""
    if not isinstance(path, (str, Path)):
        raise wrong_kind("read_workbook", "a text or a path", "path", path, "Give the path of a file.")
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
        return _parsed(sheets, path, strict, prompted_condition, name or Path(path).stem, part, options)
    finally:
        if on:
            gc.enable()


def _parsed(sheets, path, strict, prompted_condition, name, part, options) -> ParsedWorkbook:
    diagnostics = Diagnostics()
    located = {official: locate_sheet(sheets, official, diagnostics) for official in KEY_COLUMNS}
    tables = {official: Table(official, sheet, diagnostics) for official, sheet in located.items() if sheet}
    tasks, messages = (tables[one] if one in tables and tables[one].has_keys else None for one in KEY_COLUMNS)
    explained, conversations, said, turns = False, None, None, None
    if tasks and messages:
        explained = messages.leave_out(messages.is_no_answer, set(as_names(tasks.cells("TaskId"))), diagnostics)
        known = set(as_names(messages.cells("TaskId")))
        explained |= tasks.leave_out(
            lambda row: as_name(row[tasks.positions["TaskId"]]) not in known and (explained or tasks.is_no_answer(row)),
            known,
            diagnostics,
        )
    if tasks:
        conversations = read_conversations(tasks, diagnostics, options)
    if messages:
        levels = read_scales(messages, diagnostics, options)
        if conversations is not None:
            said, turns = read_messages(messages, levels, tasks, conversations, diagnostics)
    people, people_sheet = read_participants(sheets, tables, conversations, diagnostics, options, explained=explained)
    named = {normalise_name(name) for name in (*scale_columns(), *(people or ()), ALL_COLUMNS)}
    if unknown := [name for name in options.missing if normalise_name(name) not in named]:
        raise refusal(path, "no-missing-column", name=unknown[0])
    errors = [diagnostic for diagnostic in diagnostics.of(ERROR) if not (part and diagnostic.kind == "no-rating")]
    if conversations is None or said is None or errors or (strict and diagnostics.of(ERROR, WARNING)):
        raise WorkbookError(path, diagnostics, strict)
    records = tasks.report() + messages.report()
    for record in records:
        if (rating := record["name"]) in RATING_NAMES:  # counts where it belongs, in assistant turns
            states = turns[f"{rating}_state"]
            record["filled"] = int((states != STATES.index(ABSENT)).sum())
            record["read"] = int(np.isfinite(turns[rating]).sum())
            record["unreadable"] = int((states == STATES.index(UNREADABLE)).sum())
    prompted, reason = find_prompted(conversations, prompted_condition, path)
    return ParsedWorkbook(
        name=name,
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
    named: dict[str, list[str]] = {"empathy": [], "prompt": []}
    for condition in conditions:
        words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", condition).casefold())  # GptEmp: two words
        if any(re.fullmatch(r"non?|not|without|un|(non?|un)(empath|prompt).*", word) for word in words):
            continue
        if any(word in {"emp", "emph"} or "empath" in word for word in words):
            named["empathy"].append(condition)
        elif any("prompt" in word for word in words):
            named["prompt"].append(condition)
    best = named["empathy"] or named["prompt"]
    if not best:
        return None, "no condition's name speaks of empathy or of a prompt"
    if len(best) > 1:
        return None, f"several conditions' names speak of it: {', '.join(best)}"
    return best[0], "guessed from its name"


# --- sheets and columns ---


def locate_sheet(sheets: dict[str, Sheet], official: str, diagnostics: Diagnostics) -> Sheet | None:
    """Find a sheet by its official name, or else by one alike; None, with an error, if there is none."""
    alike = [sheet for name, sheet in sheets.items() if normalise_name(name) == normalise_name(official)]
    sheet = sheets.get(official, alike[0] if alike else None)
    if sheet is None:
        present = ", ".join(sheets) or "none"
        diagnostics.add("missing-sheet", {"sheet": official}, official=official, present=present)
        return None
    if official not in sheets:
        diagnostics.add("renamed-sheet", {"sheet": sheet.name}, official=official)
    report_state(sheet, diagnostics)
    return sheet


def report_state(sheet: Sheet, diagnostics: Diagnostics) -> None:
    """Report what a sheet's cells don't show: merged ranges, what is hidden, formulas without values."""
    place = {"sheet": sheet.name}
    if sheet.merged:
        diagnostics.add("merged-cells", place, ranges=count_of(sheet.merged, "merged range"))
    if not sheet.visible:
        diagnostics.add("hidden-sheet", place)
    diagnostics.add("hidden-rows", place, sheet.hidden, rows_hidden=count_of(len(sheet.hidden), "row"))
    for position in sheet.hidden_columns:
        diagnostics.add("hidden-columns", place_of(sheet, position))
    for entry, cells in (("error-cell", sheet.errors), ("formula-without-value", sheet.formulas)):
        for position, row in cells:
            diagnostics.add(entry, place_of(sheet, position), [row])


def place_of(sheet: Sheet, position: int) -> dict:
    """Where a column stands, for ``Diagnostics.add``; named by its letters if it has no header."""
    header = sheet.header[position] if position < len(sheet.header) else ""
    name = header if header.strip() else f"{ids.cell_name(position, 1).rstrip('1')} (no name)"
    return {"sheet": sheet.name, "column": name, "position": position}


class Table:
    """A sheet of the official format with its columns found; ``notes`` has what became of the answers in some."""

    def __init__(self, official: str, sheet: Sheet, diagnostics: Diagnostics):
        self.official, self.sheet, self.columns = official, sheet, taxonomy.CORE_COLUMNS[official]
        self.positions = _match_columns(self.columns, sheet, diagnostics)
        self.notes: dict[str, dict] = {}
        self._columns = list(zip(*sheet.rows, strict=True))
        missing = [key for key in KEY_COLUMNS[official] if key not in self.positions]
        for key in missing:
            present = ", ".join(filter(None, sheet.header)) or "none"
            diagnostics.add("missing-key-column", {"sheet": sheet.name, "column": key}, key=key, present=present)
        self.has_keys = not missing

    def leave_out(self, explains: Callable[[list], bool], known: set, diagnostics: Diagnostics) -> bool:
        """Make rows that are no data blank, see :func:`only_data`; whether any of them names the columns."""
        self.sheet, explained = only_data(self.sheet, self.positions["TaskId"], explains, known, diagnostics)
        self._columns = list(zip(*self.sheet.rows, strict=True))
        return explained

    def cells(self, official: str) -> tuple:
        """Cells of a column; all None where the column is missing."""
        position, length = self.positions.get(official), len(self.sheet.rows)
        return (None,) * length if position is None or not length else self._columns[position]

    def place(self, official: str) -> dict:
        """Where a column stands or would stand, for ``Diagnostics.add``."""
        if official in self.positions:
            return place_of(self.sheet, self.positions[official])
        return {"sheet": self.sheet.name, "column": official, "position": None}

    def report(self) -> list[dict]:
        """What became of each column of this sheet; where nothing was noted, every filled cell is read."""
        records = []
        for column in self.columns:
            notes, position = self.notes.get(column.official, {}), self.positions.get(column.official)
            cells = self.cells(column.official) if not notes else ()
            texts = [cell for cell in cells if type(cell) is str]
            filled = notes.get(
                "filled", len(cells) - cells.count(None) - texts.count("") - sum(map(str.isspace, texts))
            )
            record = {"sheet": self.official, "column": column.official, "name": column.name}
            record |= {"header": None if position is None else self.sheet.header[position]}
            record |= {"question": column.is_question, "filled": filled, "read": filled, "unreadable": 0}
            records.append(record | {"lowest": np.nan, "highest": np.nan} | notes)
        return records

    def is_no_answer(self, row: list) -> bool:
        """Whether a row has texts where the format has numbers, answers or a role, and none of them is one."""
        filled = [
            (column, row[self.positions[column.official]])
            for column in self.columns
            if column.official in self.positions
            and (column.scale or column.official in {"MessageId", "TimeOffsetSeconds", "Role"})
            and not is_blank(row[self.positions[column.official]])
        ]
        return any(column.official != "Role" for column, _ in filled) and not any(
            normalise_word(cell) in KNOWN_ROLES
            if column.official == "Role"
            else as_number(cell, decimal_comma=True) is not None or is_answer(column, cell)
            for column, cell in filled
        )


def only_data(
    sheet: Sheet, key: int, explains: Callable[[list], bool], known: set, diagnostics: Diagnostics
) -> tuple[Sheet, bool]:
    """A sheet whose rows without data are blank, and whether any of these names the columns; they are reported.

    Survey programs write a row of questions and a row of {"ImportId": ..} under the names; files that were joined
    repeat the names in between; spreadsheets end in totals, whose id in the column ``key`` is not among the ``known``.
    ``explains`` says of one of the first four rows, all texts, whether it is no data.
    """
    import_id, first = re.compile(r"\s*\{\s*.?ImportId.?\s*:", re.IGNORECASE), 0
    for number, row in enumerate(sheet.rows[:4], 1):
        filled = [cell for cell in row if not is_blank(cell)]
        is_text = bool(filled) and all(isinstance(cell, str) for cell in filled)
        if any(map(import_id.match, filter(lambda cell: isinstance(cell, str), filled))) or (
            is_text and first == number - 1 and explains(row)
        ):
            first = number
    names = sheet.names
    headers, totals = set(range(first)), set()
    begins = [row[0] if row[0] is not None else next(filter(None, row), None) for row in sheet.rows]
    again = {cell for cell in set(sheet.column(key)) if isinstance(cell, str) and normalise_name(cell) == names[key]}
    sums = {cell for cell in set(begins) if isinstance(cell, str) and normalise_word(cell) in TOTALS}
    for index, row in enumerate(sheet.rows[first:], first):
        if row[key] in again and all(
            is_blank(cell) or normalise_name(str(cell)) == name for cell, name in zip(row, names, strict=True)
        ):
            headers.add(index)
        elif begins[index] in sums and as_name(row[key]) not in known:
            totals.add(index)
    for entry, rows in (("further-header", headers), ("totals", totals)):
        diagnostics.add(entry, {"sheet": sheet.name}, [row + 2 for row in sorted(rows)])
    if headers | totals:
        blank = [None] * len(names)
        rows = [blank if index in headers | totals else row for index, row in enumerate(sheet.rows)]
        sheet = replace(sheet, rows=rows)
    return sheet, bool(headers)


def _match_columns(columns: tuple, sheet: Sheet, diagnostics: Diagnostics) -> dict[str, int]:
    """Official name -> position; exact names first, then alike ones, then post-task suffixes."""
    after = normalise_name("PostTaskEmpathy")
    names = sheet.names

    def by_dimension(column: taxonomy.Column, name: str) -> bool:
        """Whether a name has the dimension of a rating column, as its suffix or in full."""
        if column.name.startswith("post_"):
            named = [one.name for one in DIMENSIONS if normalise_name(one.name) in name[len(after) :]]
            return name.startswith(after) and named == [column.name.removeprefix("post_")]
        return any(one.name == column.official and name == normalise_name(one.title) for one in DIMENSIONS)

    # The suffixes of post-task columns are not published, so the whole title of a dimension is as good as ours.
    titles = {f"post_{one.name}": f"{after}{normalise_name(one.title)}" for one in DIMENSIONS if one.title != one.name}
    positions = {one.official: sheet.header.index(one.official) for one in columns if one.official in sheet.header}
    for match in (lambda column, name: name == normalise_name(column.official), by_dimension):
        for column in (one for one in columns if one.official not in positions):
            free = [place for place, name in enumerate(names) if name and place not in positions.values()]
            candidates = [place for place in free if match(column, names[place])]
            if candidates and (len(candidates) == 1 or match is not by_dimension):
                positions[column.official] = candidates[0]
                if titles.get(column.name) != names[candidates[0]]:
                    place = {"sheet": sheet.name, "column": sheet.header[candidates[0]]}
                    diagnostics.add("renamed-column", place, official=column.official)
    taken = {names[position]: official for official, position in positions.items()}
    for position, header in enumerate(sheet.header):
        if position in positions.values() or (not header.strip() and all(row[position] is None for row in sheet.rows)):
            continue
        if not header.strip():
            entry = "nameless-column"
        elif names[position] in taken:
            entry = "duplicate-column/alike"
        elif header in sheet.header[:position]:
            entry = "duplicate-column"
        else:
            entry = "unmatched-column" if names[position].startswith(after) else "unknown-column"
        words = {"official": taken.get(names[position]), "dimensions": ", ".join(taxonomy.DIMENSION_NAMES)}
        diagnostics.add(entry, place_of(sheet, position), **words)
    return positions


# --- Tasks ---


def read_conversations(tasks: Table, diagnostics: Diagnostics, options: ReadingOptions) -> Columns:
    """Every conversation that has a TaskId, with the number of its row; duplicates are errors."""
    names = {name: as_names(tasks.cells(official)) for name, official in NAMES.items()}
    for name, official in NAMES.items():
        ids.report_normalised(tasks.cells(official), names[name], tasks.place(official), diagnostics)
    rows = np.arange(2, len(tasks.sheet.rows) + 2)
    named = np.array([identifier is not None for identifier in names["conversation"]], dtype=bool)
    columns: Columns = {name: list(compress(column, named)) for name, column in names.items()}
    columns |= {name: levels[named] for name, (levels, _) in read_scales(tasks, diagnostics, options).items()}
    columns["row"] = rows[named]
    filled = np.array([any(cell is not None for cell in row) for row in tasks.sheet.rows], dtype=bool)
    diagnostics.add("missing-id/conversation", tasks.place("TaskId"), rows[filled & ~named])
    numbers = columns["row"].tolist()
    if not numbers:
        diagnostics.add("no-conversation", {"sheet": tasks.sheet.name})
    repeated = Counter(columns["conversation"])
    for identifier, row in zip(columns["conversation"], numbers, strict=True):
        if repeated[identifier] > 1:
            diagnostics.add("duplicate-id", tasks.place("TaskId"), [row], identifier)
    for name, official in NAMES.items():
        ids.report_similar(columns[name], numbers, name, tasks.place(official), diagnostics)
    people = columns["participant"]
    without = [index for index, person in enumerate(people) if person is None or normalise_word(person) in NO_ID]
    diagnostics.add("missing-participant", tasks.place("PID"), [numbers[index] for index in without])
    for index in without:  # a made-up name that no PID can equal, since ids are trimmed
        people[index] = f" (no PID) {columns['conversation'][index]}"
    blank = [row for condition, row in zip(columns["condition"], numbers, strict=True) if condition is None]
    if "Model" in tasks.positions and len(blank) < len(numbers):
        diagnostics.add("missing-condition", tasks.place("Model"), blank)
    return columns


# --- Messages ---


def read_messages(
    table: Table, levels: Mapping, tasks: Table, conversations: Columns, diagnostics: Diagnostics
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them, in the order of the rows."""
    # The conversation of each message, as Tasks spells it.
    cells, place = table.cells("TaskId"), table.place("TaskId")
    identifiers = as_names(cells)
    ids.report_normalised(cells, identifiers, place, diagnostics, tasks.cells("TaskId"))
    matched = ids.match_ids(identifiers, set(conversations["conversation"]))
    for index, (identifier, conversation) in enumerate(zip(identifiers, matched, strict=True)):
        if conversation is not None and conversation != identifier:
            diagnostics.add("respelt-id/conversation", place, [index + 2], identifier)
        elif conversation is None and any(value is not None for value in table.sheet.rows[index]):
            diagnostics.add("orphan" if identifier else "orphan/blank", place, [index + 2], identifier or "")
    number_of = {name: number for number, name in reversed(list(enumerate(conversations["conversation"])))}
    conversation = np.array([number_of.get(name, -1) for name in matched], dtype=np.intp)
    message_id = _numbers(table, "MessageId", -np.inf, diagnostics, "the rows' order in the file stands in for it.")
    seconds = _numbers(table, "TimeOffsetSeconds", 0, diagnostics, "counted as not known.")
    roles = as_texts(table.cells("Role"))
    for index, role in enumerate(roles):
        if role not in KNOWN_ROLES and any(cell is not None for cell in table.sheet.rows[index]):
            alike = role is not None and normalise_word(role) in KNOWN_ROLES
            value = "(blank)" if role is None else role
            diagnostics.add("unknown-role/alike" if alike else "unknown-role", table.place("Role"), [index + 2], value)
    known = conversation >= 0
    is_turn = known & np.array([role == "assistant" for role in roles], dtype=bool)
    for column in table.columns:
        if column.name in levels:
            stray = known & ~is_turn & np.isfinite(levels[column.name][0])
            diagnostics.add("rating-elsewhere", table.place(column.official), np.flatnonzero(stray) + 2)
    kept, index, is_turn = known.tolist(), np.flatnonzero(known), is_turn[known]
    conversation, message_id, seconds, rows = conversation[known], message_id[known], seconds[known], index + 2

    # Rows that repeat an earlier row of their conversation cell by cell. Rows without MessageId and time may be alike
    # because the same was said twice: they are duplicates if they are rated turns, or stand beside a duplicate.
    others = [table.cells(column.official) for column in table.columns if column.official != "TaskId"]
    ratings = [table.cells(column.official) for column in table.columns if column.name in RATING_NAMES]
    located = np.isfinite(message_id) | np.isfinite(seconds)
    seen, repeats, certain = set(), [], []
    for number in np.flatnonzero(_repeated(conversation, message_id)).tolist():  # only these can equal another row
        row = (conversation[number], *(column[index[number]] for column in others))
        if row in seen:
            repeats.append(number)
            if located[number] or any(not is_blank(column[index[number]]) for column in ratings):
                certain.append(number)
        seen.add(row)
    duplicates = np.zeros(len(index), dtype=bool)
    duplicates[repeats] = np.isin(conversation[repeats], conversation[certain])
    diagnostics.add("duplicate-message", table.place("TaskId"), rows[duplicates])

    # The position of each message in its conversation: by MessageId where every message has one of its own.
    missing, single, cells = np.isnan(message_id), np.flatnonzero(~duplicates), table.cells("MessageId")
    repeated = np.zeros(len(index), dtype=bool)
    repeated[single] = _repeated(conversation[single], message_id[single]) & ~missing[single]

    def falls(values: np.ndarray) -> np.ndarray:
        """Whether a number is smaller than that of the message before it in the conversation, duplicates left out."""
        order, falling = single[np.argsort(conversation[single], kind="stable")], np.zeros(len(values), dtype=bool)
        falling[order[1:]] = (np.diff(values[order]) < 0) & (np.diff(conversation[order]) == 0)
        return falling

    unordered, blank = falls(message_id), missing.copy()
    blank[missing] = [is_blank(cells[number]) for number in index[missing]]
    place = table.place("MessageId")
    diagnostics.add("missing-message-id", place, rows[blank & ("MessageId" in table.positions)])
    diagnostics.add("repeated-message-id", place, rows[repeated])
    diagnostics.add("unordered-message-id", place, rows[unordered])
    diagnostics.add("unordered-time", table.place("TimeOffsetSeconds"), rows[falls(seconds) & ~unordered])
    by_row = np.isin(conversation, conversation[missing | repeated])
    position = _rank(conversation, np.where(by_row, 0, message_id))
    messages: Columns = {
        "conversation": list(compress(matched, kept)),
        "position": position,
        "message_id": message_id,
        "seconds": seconds,
        "role": list(compress(roles, kept)),
        "content": list(compress(as_texts(table.cells("Content")), kept)),
        "retry": list(compress(table.cells("Retry"), kept)),
        "comment": list(compress(as_texts(table.cells("Comment")), kept)),
        "row": rows,
    }
    of_turn, places = conversation[is_turn], index[is_turn]
    turns: Columns = {
        name: [conversations[name][number] for number in of_turn.tolist()]
        for name in ("conversation", "participant", "condition")
    }
    turns |= {"turn": _rank(of_turn, position[is_turn]), "position": position[is_turn]}
    turns |= {"seconds": seconds[is_turn], "row": rows[is_turn]}
    turns |= {name: levels[name][0][places] for name in RATING_NAMES}
    turns |= {f"{name}_state": levels[name][1][places] for name in RATING_NAMES}
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        diagnostics.add("no-rating", {"sheet": table.sheet.name})
    speaking = set(messages["conversation"])
    silent = [name not in speaking for name in conversations["conversation"]]
    diagnostics.add("no-message", tasks.place("TaskId"), conversations["row"][silent])
    return messages, turns


def _numbers(table: Table, official: str, lowest: float, diagnostics: Diagnostics, consequence: str) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells, place = table.cells(official), table.place(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    others = [index for index in np.flatnonzero(np.isnan(values)).tolist() if not is_blank(cells[index])]
    filled, commas = int(np.isfinite(values).sum()) + len(others), []
    words = {"consequence": consequence, "from_lowest": f" from {lowest:g} up" if np.isfinite(lowest) else ""}
    for index in others:
        number = as_number(cells[index], decimal_comma=True)
        if number is None:
            diagnostics.add("not-a-number", place, [index + 2], cells[index], **words)
        elif number < lowest:
            diagnostics.add("out-of-range/number", place, [index + 2], cells[index], lowest=f"{lowest:g}", **words)
        else:
            values[index] = number
            commas += [index + 2] if ids.has_decimal_comma(cells[index]) else []
    diagnostics.add("decimal-comma", place, commas)
    table.notes[official] = {"filled": filled, "read": int(np.isfinite(values).sum())}
    return values


def _rank(conversation: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rank of each value in its conversation, from 1; equal ones by their order."""
    order = np.lexsort((values, conversation))
    first = np.append(True, np.diff(conversation[order]) != 0)[: len(order)]
    places, rank = np.arange(len(order)), np.empty(len(order), dtype=np.int64)
    rank[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return rank


def _repeated(conversation: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Whether a number, or its lack, stands in another message of the conversation, too."""
    order = np.lexsort((values, conversation))
    ordered, repeated = values[order], np.zeros(len(order), dtype=bool)
    alike = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    alike &= np.diff(conversation[order]) == 0
    repeated[order[1:]] = alike
    repeated[order[:-1]] |= alike
    return repeated


# --- participants ---


def read_participants(
    sheets: dict[str, Sheet],
    tables: dict[str, Table],
    conversations: Columns | None,
    diagnostics: Diagnostics,
    options: ReadingOptions,
    *,
    explained: bool,
) -> tuple[Columns | None, str | None]:
    """The sheet with one row per participant, found by its PID column: its columns and its name; None without one.

    ``explained`` says that the other sheets have further rows of names.
    """
    candidates, used = [], {table.sheet.name: official for official, table in tables.items()}
    for sheet in sheets.values():
        known = sheet.name in {taxonomy.SYNTHETIC_SHEET, taxonomy.ORIGIN_SHEET} or is_scales_sheet(sheet)
        if sheet.name in used or known or tuple(sheet.header) == taxonomy.IMPORT_SHEETS.get(sheet.name):
            continue
        # A copy has all columns of another, or its name and the columns without which it can't be read.
        own, original = set(sheet.names) - {""}, None
        for name, official in used.items():
            columns, keys = set(sheets[name].names) - {""}, set(map(normalise_name, KEY_COLUMNS[official]))
            called = normalise_name(official) in normalise_name(sheet.name)
            if columns and keys <= own and (called or columns == own):
                original = original or name
        people = [one for one in as_names(sheet.column(sheet.names.index("pid"))) if one] if "pid" in own else []
        once = len(people) == len(set(people))
        if original:
            diagnostics.add("copied-sheet", {"sheet": sheet.name}, original=original)
        # Several rows per participant beside a TaskId: a sheet about conversations, e.g. an old copy of Tasks.
        elif "pid" in own and ("taskid" not in own or once):
            candidates.append((("taskid" not in own, once, len(set(people))), sheet))
        else:
            diagnostics.add("unknown-sheet", {"sheet": sheet.name})
    if not candidates:
        return None, None
    names = {normalise_name(one.name) for _, one in candidates}
    originals = [  # "People (2)" is a copy of "People"
        (likely, one)
        for likely, one in candidates
        if not any(name in normalise_name(one.name) != name for name in names)
    ]
    _, chosen = max(originals or candidates, key=itemgetter(0))
    position, active = chosen.names.index("pid"), set(conversations["participant"]) if conversations else set()

    def explains(row: list) -> bool:
        """Whether a row of texts is no participant: it has words above columns of numbers."""
        if as_name(row[position]) in active:
            return False
        words = (place for place, cell in enumerate(row) if isinstance(cell, str) and as_number(cell) is None)
        return explained or any(
            place != position and not says_nothing(normalise_word(row[place])) and _is_number_below(chosen, place)
            for place in words
        )

    sheet, _ = only_data(chosen, position, explains, active, diagnostics)
    for _, candidate in candidates:
        if candidate is not chosen:
            diagnostics.add("further-participants-sheet", {"sheet": candidate.name}, chosen=sheet.name)
    report_state(sheet, diagnostics)

    place, cells = place_of(sheet, position), sheet.column(position)
    people = as_names(cells)
    columns: Columns = {"participant": people}
    for index, header in enumerate(sheet.header):
        if index != position and (header.strip() or any(cell is not None for cell in sheet.column(index))):
            name = header if header.strip() else f"column {index + 1}"
            while name in columns or name == "row":
                name += "'"
            columns[name] = _characteristic(sheet, index, diagnostics, options)
    columns["row"] = np.arange(2, len(sheet.rows) + 2)
    lost = [row for row, name in enumerate(people, 2) if name is None and not all(map(is_blank, sheet.rows[row - 2]))]
    diagnostics.add("missing-id/participant", place, lost)
    if conversations is not None:
        ids.report_normalised(cells, people, place, diagnostics, tables["Tasks"].cells("PID"))
        for index, (own, name) in enumerate(zip(people, ids.match_ids(people, active), strict=True)):
            if name is not None and name != own:
                diagnostics.add("respelt-id/participant", place, [index + 2], own)
                people[index] = name
    first = {name: index for index, name in reversed(list(enumerate(people))) if name is not None}
    kept = sorted(first.values())
    repeated = [row for row, name in enumerate(people, 2) if name is not None and first[name] != row - 2]
    diagnostics.add("duplicate-participant", place, repeated)
    for name, column in columns.items():
        columns[name] = [column[index] for index in kept] if isinstance(column, list) else column[kept]
    if conversations is not None:
        idle = [name not in active for name in columns["participant"]]
        diagnostics.add("participant-without-conversation", place, columns["row"][idle])
        unknown = [name not in first for name in conversations["participant"]]
        rows, tasks = conversations["row"][unknown], tables["Tasks"]
        diagnostics.add("participant-without-characteristics", tasks.place("PID"), rows, chosen=sheet.name)
    return columns, sheet.name


def _is_number_below(sheet: Sheet, place: int) -> bool:
    """Whether a column holds numbers alone, but for texts in its first rows."""
    cells = [(row, as_number(cell)) for row, cell in enumerate(sheet.column(place)) if not is_blank(cell)]
    numbers = sum(number is not None for _, number in cells)
    return numbers > 1 and all(
        number is not None or (order < 4 and row < numbers) for order, (row, number) in enumerate(cells)
    )


def _characteristic(
    sheet: Sheet, position: int, diagnostics: Diagnostics, options: ReadingOptions
) -> list | np.ndarray:
    """Numbers if every answer is one, otherwise text; declared and known codes for a missing answer are blank."""
    header, place = sheet.header[position], place_of(sheet, position)
    declared = options.missing_of(header)
    cells = [None if declared is not None and stands_for(cell, declared) else cell for cell in sheet.column(position)]
    numbers = np.array([np.nan if (n := as_number(cell)) is None else ids.as_shown(n) for cell in cells], dtype=float)
    odd = [index for index in np.flatnonzero(np.isnan(numbers)).tolist() if not is_blank(cells[index])]
    like = [index for index in odd if ids.looks_like_number(cells[index])]
    count = int(np.isfinite(numbers).sum())
    numeric = count > 0 and all(isinstance(cells[i], str) and says_nothing(normalise_word(cells[i])) for i in odd)
    if odd and (numeric or len(odd) < count):
        for index in odd:
            diagnostics.add("mixed-column/number" if numeric else "mixed-column/text", place, [index + 2], cells[index])
    elif like:
        diagnostics.add("number-as-text", place, [index + 2 for index in like], cells[like[0]])
    if not numeric:
        return as_names(cells)
    for code in (
        () if declared is not None else ids.codes_among(set(numbers[np.isfinite(numbers)].tolist()), name=header)
    ):
        found = np.flatnonzero(numbers == code)
        diagnostics.add("missing-number", place, found + 2, code, column=header, code=f"{code:g}")
        numbers[found] = np.nan
    return numbers
