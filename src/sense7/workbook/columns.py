"""The sheets and columns of the official format, found in a file by their names.

Exact names come first; what bears a name alike is taken with a warning, and what can't be matched
is kept and said.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sense7 import taxonomy
from sense7.study import ABSENT, STATES, UNREADABLE
from sense7.taxonomy import DIMENSIONS, RATING_NAMES, Column, normalise_name, normalise_word
from sense7.terminal import count_of
from sense7.workbook.diagnostics import ERROR, NOTICE, WARNING, Diagnostics
from sense7.workbook.languages import declining_words, language_vocabularies
from sense7.workbook.options import Interval
from sense7.workbook.parsed import Columns
from sense7.workbook.sheets import Sheet, cell_name
from sense7.workbook.values import (
    DECLINING_WORDS,
    MISSING_WORDS,
    as_name,
    as_number,
    count_filled,
    is_blank,
    is_import_id,
)

__all__ = [
    "KEY_COLUMNS",
    "Table",
    "column_report",
    "further_names",
    "leave_out_further_names",
    "locate_sheet",
    "place_of",
    "report_further_names",
    "report_state",
    "without_rows",
]

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
"""Columns without which a sheet can't be read."""

_EXPLAINING_ROWS = 4
"""Rows below the names that may explain them."""


def locate_sheet(sheets: dict[str, Sheet], official: str, diagnostics: Diagnostics) -> Sheet | None:
    """Find a sheet by its official name, or else by one alike; None, with an error, if there is none."""
    if official in sheets:
        sheet = sheets[official]
    else:
        alike = [sheet for name, sheet in sheets.items() if normalise_name(name) == normalise_name(official)]
        if not alike:
            present = ", ".join(sheets) or "none"
            diagnostics.add(
                ERROR,
                "missing-sheet",
                f"the sheet {official} is missing (sheets present: {present}).",
                f"name the sheet {official}.",
                sheet=official,
            )
            return None
        sheet = alike[0]
        diagnostics.add(
            WARNING,
            "renamed-sheet",
            f"read as the sheet {official}.",
            f"name it {official}; the authors' scripts need the exact name.",
            sheet=sheet.name,
        )
    report_state(sheet, diagnostics)
    return sheet


def report_state(sheet: Sheet, diagnostics: Diagnostics) -> None:
    """Report what a sheet's cells don't show: merged ranges, what is hidden, formulas without values."""
    if sheet.merged:
        diagnostics.add(
            WARNING,
            "merged-cells",
            f"{count_of(sheet.merged, 'merged range')}: only the first cell of each holds its value, the others are "
            "blank.",
            "unmerge them and fill every cell.",
            sheet=sheet.name,
        )
    if not sheet.visible:
        diagnostics.add(
            WARNING,
            "hidden-sheet",
            "the sheet is hidden; it was read all the same.",
            "show it.",
            sheet=sheet.name,
        )
    if sheet.hidden:
        diagnostics.add(
            NOTICE,
            "hidden-rows",
            f"{count_of(len(sheet.hidden), 'row')} hidden by a filter or by hand; they were read like all others.",
            "nothing, if that is as meant; otherwise delete them in a copy.",
            sheet=sheet.name,
            rows=sheet.hidden,
        )
    for position, row in sheet.errors:
        diagnostics.add(
            WARNING,
            "error-cell",
            "a formula's error (such as #N/A or #DIV/0!); the cell was read as blank.",
            "correct the formula, or write the value.",
            **place_of(sheet, position),
            rows=[row],
        )
    for position, row in sheet.formulas:
        diagnostics.add(
            WARNING,
            "formula-without-value",
            "a formula that was never calculated or has no stored value; the cell was read as blank.",
            "open the file in a spreadsheet program and save it again, or write the value.",
            **place_of(sheet, position),
            rows=[row],
        )


def place_of(sheet: Sheet, position: int) -> dict:
    """Where a column stands, as arguments of ``Diagnostics.add``; named by its letters if it has no header."""
    header = sheet.header[position] if position < len(sheet.header) else ""
    name = header if header.strip() else f"{cell_name(position, 1).rstrip('1')} (no name)"
    return {"sheet": sheet.name, "column": name, "position": position}


class Table:
    """A sheet of the official format with its columns found."""

    def __init__(self, official: str, sheet: Sheet, diagnostics: Diagnostics):
        self.official = official
        self.sheet = sheet
        self.columns = taxonomy.CORE_COLUMNS[official]
        self.positions = _match_columns(official, sheet, diagnostics)
        self.filled: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.unreadable: dict[str, int] = {}
        self.declared: dict[str, Interval | None] = {}
        self._columns = list(zip(*sheet.rows, strict=True))
        missing_keys = [key for key in KEY_COLUMNS[official] if key not in self.positions]
        for key in missing_keys:
            present = ", ".join(filter(None, sheet.header)) or "none"
            diagnostics.add(
                ERROR,
                "missing-key-column",
                f"the key column {key} is missing in row 1 (columns present: {present}).",
                f"name the column {key}; names stand in row 1, with nothing above them.",
                sheet=sheet.name,
                column=key,
            )
        self.has_keys = not missing_keys

    def leave_out(self, further: list[int]) -> None:
        """Make rows blank, so that the others keep their numbers."""
        if further:
            self.sheet = without_rows(self.sheet, further)
            self._columns = list(zip(*self.sheet.rows, strict=True))

    @property
    def length(self) -> int:
        """Number of rows, the header left out."""
        return len(self.sheet.rows)

    def cells(self, official: str) -> tuple:
        """Cells of a column; all None where the column is missing."""
        position = self.positions.get(official)
        return (None,) * self.length if position is None or not self.length else self._columns[position]

    def place(self, official: str) -> dict:
        """Where a column stands or would stand, as arguments of ``Diagnostics.add``."""
        if official in self.positions:
            return place_of(self.sheet, self.positions[official])
        return {"sheet": self.sheet.name, "column": official, "position": None}

    def count(self, official: str, filled: int, read: int) -> None:
        """Note how many cells of a column are filled, and how many of them could be read."""
        self.filled[official], self.read[official] = int(filled), int(read)

    def note_scale(self, official: str, declared: Interval | None, unreadable: int) -> None:
        """Note the declared scale of a column, and how many of its answers can't be read on its scale."""
        self.declared[official], self.unreadable[official] = declared, unreadable

    def report(self) -> list[dict]:
        """What became of each column of this sheet; where nothing was counted, every filled cell is read."""
        records = []
        for column in self.columns:
            position = self.positions.get(column.official)
            filled = self.filled.get(column.official)
            if filled is None:
                filled = count_filled(self.cells(column.official))
            declared = self.declared.get(column.official)
            records.append(
                {
                    "sheet": self.official,
                    "column": column.official,
                    "name": column.name,
                    "header": None if position is None else self.sheet.header[position],
                    "question": column.is_question,
                    "filled": filled,
                    "read": self.read.get(column.official, filled),
                    "unreadable": self.unreadable.get(column.official, 0),
                    "lowest": math.nan if declared is None else declared.lowest,
                    "highest": math.nan if declared is None else declared.highest,
                }
            )
        return records


def without_rows(sheet: Sheet, indices: list[int]) -> Sheet:
    """A sheet in which some rows, counted from 0, are blank."""
    blank, left_out = [None] * len(sheet.header), set(indices)
    return replace(sheet, rows=[blank if index in left_out else row for index, row in enumerate(sheet.rows)])


def leave_out_further_names(tasks: Table, messages: Table, diagnostics: Diagnostics) -> bool:
    """Leave out rows below the names that name or explain the columns again; whether there were any."""
    in_messages = further_names(messages.sheet, lambda row: _is_no_answer(messages, row))
    messages.leave_out(in_messages)
    known = set(map(as_name, set(messages.cells("TaskId"))))
    place = tasks.positions["TaskId"]
    in_tasks = further_names(
        tasks.sheet, lambda row: as_name(row[place]) not in known and (bool(in_messages) or _is_no_answer(tasks, row))
    )
    tasks.leave_out(in_tasks)
    for table, rows in ((tasks, in_tasks), (messages, in_messages)):
        report_further_names(table.sheet, rows, diagnostics)
    return bool(in_tasks or in_messages)


def report_further_names(sheet: Sheet, indices: list[int], diagnostics: Diagnostics) -> None:
    """Report rows that :func:`further_names` found."""
    if indices:
        diagnostics.add(
            WARNING,
            "further-header",
            "a further header row, which names or explains the columns again; it is left out.",
            "keep one row of names, if that is as meant; otherwise write answers into the row.",
            sheet=sheet.name,
            rows=[index + 2 for index in indices],
        )


def further_names(sheet: Sheet, explains: Callable[[list], bool]) -> list[int]:
    """Rows, counted from 0, that are no data: names repeated anywhere, ids of an export, texts below the names.

    Survey programs write a row of questions and a row of {"ImportId": ..} under the names; files that were joined
    repeat the names in between. ``explains`` says of one of the first rows, all texts, whether it is no data.
    """
    first = _EXPLAINING_ROWS
    while first and not any(is_import_id(cell) for row in sheet.rows[first - 1 : first] for cell in row):
        first -= 1
    while first < min(len(sheet.rows), _EXPLAINING_ROWS):
        filled = [cell for cell in sheet.rows[first] if not is_blank(cell)]
        if not filled or not all(isinstance(cell, str) for cell in filled) or not explains(sheet.rows[first]):
            break
        first += 1
    names = [normalise_name(header) for header in sheet.header]
    key = next((place for place, name in enumerate(names) if name in {"taskid", "pid"}), 0)
    cells = sheet.column(key) if names else []
    repeated = {cell for cell in set(cells) if isinstance(cell, str) and normalise_name(cell) == names[key]}
    return list(range(first)) + [
        index
        for index in range(first, len(cells))
        if cells[index] in repeated
        and all(
            is_blank(cell) or normalise_name(str(cell)) == name
            for cell, name in zip(sheet.rows[index], names, strict=True)
        )
    ]


def _is_no_answer(table: Table, row: list) -> bool:
    """Whether a row has texts where the format has numbers, answers or a role, and none of them is one."""
    expected = [
        (column, row[table.positions[column.official]])
        for column in table.columns
        if column.official in table.positions
        and (column.scale or column.official in {"MessageId", "TimeOffsetSeconds", "Role"})
    ]
    filled = [(column, cell) for column, cell in expected if not is_blank(cell)]
    return any(column.official != "Role" for column, _ in filled) and not any(
        normalise_word(cell) in {"user", "assistant", "error"}
        if column.official == "Role"
        else as_number(cell, decimal_comma=True) is not None or _is_answer(column, cell)
        for column, cell in filled
    )


def _is_answer(column: Column, cell: str) -> bool:
    """Whether a text is an answer on the scale of a column, in any language, or says that there is none."""
    if column.scale is None:
        return normalise_word(cell) in MISSING_WORDS
    number, word = column.scale.split_number(cell)
    known = (MISSING_WORDS, DECLINING_WORDS, declining_words(), *column.scale.tables)
    return (number is not None and word in {"", "%"}) or any(
        word in words for words in (*known, *language_vocabularies(column.scale.name))
    )


def column_report(tasks: Table, messages: Table, turns: Columns) -> Columns:
    """What became of each column; a turn's rating counts where it belongs, in assistant turns."""
    records = tasks.report() + messages.report()
    for record in records:
        if (name := record["name"]) in RATING_NAMES:
            states = turns[f"{name}_state"]
            record["filled"] = int((states != STATES.index(ABSENT)).sum())
            record["read"] = int(np.isfinite(turns[name]).sum())
            record["unreadable"] = int((states == STATES.index(UNREADABLE)).sum())
    return {name: [record[name] for record in records] for name in records[0]}


def _match_columns(official: str, sheet: Sheet, diagnostics: Diagnostics) -> dict[str, int]:
    """Official name -> position; exact names first, then alike ones, then post-task suffixes."""
    columns = taxonomy.CORE_COLUMNS[official]
    positions: dict[str, int] = {}
    claimed: dict[int, str] = {}

    def claim(official: str, position: int) -> None:
        positions[official] = position
        claimed[position] = official

    for column in columns:
        if column.official in sheet.header:
            claim(column.official, sheet.header.index(column.official))
    for match in (_alike, _by_dimension):
        for column in columns:
            if column.official in positions:
                continue
            candidates = [
                position
                for position, header in enumerate(sheet.header)
                if position not in claimed and header.strip() and match(column, header)
            ]
            if len(candidates) == 1 or (candidates and match is _alike):
                claim(column.official, candidates[0])
                if _has_full_title(column, sheet.header[candidates[0]]):
                    continue
                diagnostics.add(
                    WARNING,
                    "renamed-column",
                    f"read as {column.official}.",
                    f"check that it is {column.official}, and name it so if it is.",
                    sheet=sheet.name,
                    column=sheet.header[candidates[0]],
                )
    _report_unmatched(sheet, claimed, diagnostics)
    return positions


def _alike(column: Column, header: str) -> bool:
    return normalise_name(header) == normalise_name(column.official)


def _by_dimension(column: Column, header: str) -> bool:
    """Whether the header names the dimension of a rating column, as its suffix or in full."""
    name = normalise_name(header)
    if column.name.startswith("post_"):
        prefix = normalise_name("PostTaskEmpathy")
        if not name.startswith(prefix):
            return False
        named = [dimension.name for dimension in DIMENSIONS if normalise_name(dimension.name) in name[len(prefix) :]]
        return named == [column.name.removeprefix("post_")]
    return any(
        dimension.name == column.official and name == normalise_name(dimension.title) for dimension in DIMENSIONS
    )


def _has_full_title(column: Column, header: str) -> bool:
    """Whether a post-task column ends in the whole title of its dimension: then there is nothing to doubt.

    The suffixes of these columns are not published, so this name is as good as ours.
    """
    return any(
        column.name == f"post_{dimension.name}"
        and dimension.title != dimension.name
        and normalise_name(header) == normalise_name(f"PostTaskEmpathy{dimension.title}")
        for dimension in DIMENSIONS
    )


def _report_unmatched(sheet, claimed, diagnostics) -> None:
    prefix = normalise_name("PostTaskEmpathy")
    taken = {normalise_name(sheet.header[position]): official for position, official in claimed.items()}
    for position, header in enumerate(sheet.header):
        if position in claimed:
            continue
        if not header.strip():
            if all(row[position] is None for row in sheet.rows):
                continue
            kind = "nameless-column"
            problem = "the column holds values but has no name in row 1; it is kept and not used."
            fix = "name it."
        elif normalise_name(header) in taken:
            kind = "duplicate-column"
            problem = (
                f"a further column of the name {taken[normalise_name(header)]}; the one that bears the exact name is "
                "used, or else the first. This one is kept and not used."
            )
            fix = "rename or remove one of the two."
        elif header in sheet.header[:position]:
            kind = "duplicate-column"
            problem = "the name stands twice in row 1; neither column is used."
            fix = "rename or remove one of the two."
        elif normalise_name(header).startswith(prefix):
            kind = "unmatched-column"
            problem = (
                "it could not be matched to one of the seven dimensions, or not to one alone; it is kept and not used."
            )
            fix = f"name it PostTaskEmpathy_ and one of {', '.join(taxonomy.DIMENSION_NAMES)}."
        else:
            kind = "unknown-column"
            problem = "the official format does not describe this column; it is kept and not used."
            fix = "nothing, if that is as meant."
        diagnostics.add(WARNING, kind, problem, fix, **place_of(sheet, position))
