"""The first two passes over a sheet: its columns are found, and rows that hold no data are made blank."""

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from sense7.taxonomy import (
    CORE_COLUMNS,
    DIMENSION_NAMES,
    DIMENSIONS,
    normalise_name,
    normalise_word,
)
from sense7.terminal import count_of
from sense7.workbook import ids
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.ids import as_name, as_names, as_number, is_blank
from sense7.workbook.scales import TOTALS, is_answer, says_nothing
from sense7.workbook.xlsx import Sheet

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
"""Columns without which a sheet can't be read."""

KNOWN_ROLES = ("user", "assistant", "error")

_AFTER_TASK = "PostTaskEmpathy"
"""How the columns begin that rate a dimension of a whole conversation."""

_FIRST_ROWS = 4
"""Rows among which a survey program writes further names of the columns."""

_TEXTS_ABOVE = 5
"""Fewer texts than this stand above a column of numbers."""

_IMPORT_ID = re.compile(r"\s*+\{\s*+.?ImportId.?\s*+:", re.IGNORECASE)


def locate_sheet(sheets: dict[str, Sheet], official: str, diagnostics: Diagnostics) -> Sheet | None:
    """Find a sheet by its official name, or else by one alike; None, with an error, if there is none."""
    # Of alike names the first counts.
    alike = {normalise_name(name): sheets[name] for name in reversed(sheets)}
    sheet = sheets.get(official, alike.get(normalise_name(official)))
    if sheet is None:
        present = ", ".join(sheets) or "none"
        diagnostics.add("missing-sheet", {"sheet": official}, official=official, present=present)
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
        self.official = official
        self.sheet = sheet
        self.diagnostics = diagnostics
        self.columns = CORE_COLUMNS.get(official, ())
        self.positions = positions or {}
        self._columns = list(zip(*sheet.rows, strict=True))
        if not sheet.visible:
            self.add("hidden-sheet")
        self.add("hidden-rows", "", sheet.hidden, rows_hidden=count_of(len(sheet.hidden), "row"))
        for position, row in sheet.errors:
            self.add("error-cell", position, [row])
        for position, row in sheet.formulas:
            self.add("formula-without-value", position, [row])
        if positions is None:
            self.positions = _find_columns(self)
        missing = [key for key in KEY_COLUMNS.get(official, ()) if key not in self.positions]
        present = ", ".join(filter(None, sheet.header)) or "none"
        for key in missing:
            self.add("missing-key-column", key, key=key, present=present)
        self.has_keys = not missing

    def cells(self, official: str) -> tuple:
        """Cells of a column; all None where the column is missing."""
        if official not in self.positions or not self.sheet.rows:
            return (None,) * len(self.sheet.rows)
        return self._columns[self.positions[official]]

    @property
    def is_filled(self) -> np.ndarray:
        """Whether each row has any cell."""
        blank = [None] * len(self.sheet.header)
        return np.array([row != blank for row in self.sheet.rows], dtype=bool)

    def make_blank(self, indices: Collection[int]) -> None:
        """Have rows without any cell in the place of some."""
        rows = list(self.sheet.rows)
        for index in indices:
            rows[index] = [None] * len(self.sheet.header)
        self.sheet = replace(self.sheet, rows=rows)
        self._columns = list(zip(*rows, strict=True))

    def add(
        self, entry: str, column: str | int = "", rows=None, value: object = "", /, **words: object
    ) -> None:
        """Report an entry of diagnostics.toml, see ``Diagnostics.add``; a column by its official name or position."""
        position = column
        if isinstance(column, str):
            position = self.positions.get(column)
        if position is not None:
            column = "".join(self.sheet.header[position : position + 1])
            if not column.strip():
                letters = ids.cell_name(position, 1).rstrip("1")
                column = f"{letters} (no name)"
        location = {"sheet": self.sheet.name, "column": column, "position": position}
        self.diagnostics.add(entry, location, rows, value, **words)

    def names(
        self, official: str, spellings: set[str] | None = None, noun: str = ""
    ) -> list[str | None]:
        """A column as names; as ``spellings`` has them, if these are given and one alone is alike."""
        cells = self.cells(official)
        names = as_names(cells)
        ids.report_replaced_signs(self, official, cells, names)
        ids.report_rounded(self, official, cells, names)
        if spellings is None:
            return names
        respelt = ids.respelt(names, spellings)
        for row, name in enumerate(names, 2):
            if name in respelt:
                self.add(f"respelt-id/{noun}", official, [row], name)
        return [respelt.get(name, name) for name in names]


# --- columns ---


def _find_columns(table: Table) -> dict[str, int]:
    """Official name -> position: exact names, then alike ones and titles, then dimensions that one column names."""
    header, names = table.sheet.header, table.sheet.names
    officials = {column.official for column in table.columns}
    after_task = normalise_name(_AFTER_TASK)
    alike = {normalise_name(official): official for official in officials}
    for dimension in DIMENSIONS:
        if dimension.name in officials:
            alike[normalise_name(dimension.title)] = dimension.name
    positions = {}
    for column in table.columns:
        if column.official in header:
            positions[column.official] = header.index(column.official)
    candidates = defaultdict(list)
    for position, name in enumerate(names):
        official = alike.get(name)
        if official in officials - positions.keys():
            positions[official] = position
            table.add("renamed-column", position, official=official)
        elif name.startswith(after_task) and position not in positions.values():
            text = name.removeprefix(after_task)
            dimensions = [name for name in DIMENSION_NAMES if normalise_name(name) in text]
            if len(dimensions) == 1:
                candidates[f"{_AFTER_TASK}_{dimensions[0]}"].append(position)
    # Of several columns that name a dimension, such as one with a comment, nobody knows which is meant.
    for official in candidates.keys() & officials - positions.keys():
        if len(candidates[official]) == 1:
            positions[official] = candidates[official][0]
    for position, name in enumerate(names):
        is_empty = not name and all(row[position] is None for row in table.sheet.rows)
        if position in positions.values() or is_empty:
            continue
        if alike.get(name) in positions:
            entry = "duplicate-column"
        elif name.startswith(after_task):
            entry = "unmatched-column"
        else:
            entry = "unknown-column"
        words = {"official": alike.get(name), "dimensions": ", ".join(DIMENSION_NAMES)}
        table.add(entry, position, **words)
    return positions


# --- rows without data ---


def leave_out(table: Table, key: str, known_ids: Collection[str], explained: bool) -> bool:
    """Make rows without data blank, and report them; whether any of them names the columns.

    Survey programs write a row of questions and a row of {"ImportId": ..} under the names; files that were joined
    repeat the names in between; spreadsheets end in totals, whose id in the column ``key`` is not among
    ``known_ids``. One of the first four rows is such a row if it holds nothing but texts, its role or id is not
    known, and one of its texts stands above a column of numbers, or is no answer on the scale of its column, or other
    sheets have such rows, too (``explained``).
    """
    rows, names, id_position = table.sheet.rows, table.sheet.names, table.positions[key]
    first_cells = []
    for row in rows:
        cell = row[0]
        if cell is None:
            cell = next(filter(None, row), None)
        first_cells.append(cell)
    # Each different cell once: nearly all rows have an id.
    texts = [cell for cell in set(table.cells(key)) if isinstance(cell, str)]
    names_of_id = {text for text in texts if normalise_name(text) == names[id_position]}
    texts = [cell for cell in set(first_cells) if isinstance(cell, str)]
    words_of_totals = {text for text in texts if normalise_word(text) in TOTALS}
    name_rows = _count_name_rows(table, id_position, known_ids, explained)
    headers, totals = list(range(name_rows)), []
    for index in range(name_rows, len(rows)):
        row = rows[index]
        if row[id_position] in names_of_id:
            pairs = zip(row, names, strict=True)
            if all(is_blank(cell) or normalise_name(str(cell)) == name for cell, name in pairs):
                headers.append(index)
                continue
        if first_cells[index] in words_of_totals and as_name(row[id_position]) not in known_ids:
            totals.append(index)
    table.add("further-header", "", [index + 2 for index in headers])
    table.add("totals", "", [index + 2 for index in totals])
    if headers or totals:
        table.make_blank(headers + totals)
    return bool(headers)


def _count_name_rows(
    table: Table, id_position: int, known_ids: Collection[str], explained: bool
) -> int:
    """How many of the first rows explain the columns."""
    role_position = table.positions.get("Role")
    scale_of = {}
    for column in table.columns:
        if column.scale:
            scale_of[table.positions.get(column.official)] = column.scale

    def is_data(row: Sequence) -> bool:
        if role_position is None:
            return as_name(row[id_position]) in known_ids
        role = row[role_position]
        return isinstance(role, str) and normalise_word(role) in KNOWN_ROLES

    def names_column(position: int, cell: object) -> bool:
        if position == id_position or not is_word(cell):
            return False
        if position in scale_of:
            return not is_answer(scale_of[position], cell)
        # A few texts with numbers alone below them, at least two and as many as the texts.
        cells = [cell for cell in table.sheet.column(position) if not is_blank(cell)]
        numbers = list(itertools.dropwhile(lambda number: number is None, map(as_number, cells)))
        texts = len(cells) - len(numbers)
        if texts >= _TEXTS_ABOVE or None in numbers:
            return False
        return len(numbers) >= max(2, texts)

    name_rows = 0
    for index, row in enumerate(table.sheet.rows[:_FIRST_ROWS]):
        filled = [cell for cell in row if not is_blank(cell)]
        if any(isinstance(cell, str) and _IMPORT_ID.match(cell) for cell in filled):
            name_rows = index + 1  # with all rows above it
            continue
        if name_rows < index:
            continue  # a row above it explains nothing
        is_text = bool(filled) and all(isinstance(cell, str) for cell in filled)
        if is_data(row) or not is_text:
            continue
        if explained or any(names_column(position, cell) for position, cell in enumerate(row)):
            name_rows = index + 1
    return name_rows


def is_word(cell: object) -> bool:
    """Whether a cell is a text that is no number, and does not say that there is none."""
    return (
        isinstance(cell, str) and as_number(cell) is None and not says_nothing(normalise_word(cell))
    )
