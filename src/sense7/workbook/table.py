"""The first pass over a sheet: its columns are found, and where to report what is strange in it."""

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

from sense7.taxonomy import (
    CORE_COLUMNS,
    DIMENSION_NAMES,
    Column,
    normalise_word,
)
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.ids import MISSING_TEXTS, as_names, as_number, cell_name, is_blank, is_number
from sense7.workbook.reading import SHEETS, Reading
from sense7.workbook.xlsx import Sheet

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
"""Columns without which a sheet can't be read."""

IDS = ("PID", "TaskId")

LARGEST_ID = 10**15
"""A spreadsheet keeps no more digits than this number has."""

AFTER_TASK = "PostTaskEmpathy_"


def official_sheet_name(name: str, reading: Reading) -> str:
    """Name of the format that a sheet has, by its own name or as declared; its own if it is none of these."""
    officials = {normalise_word(official): official for official in SHEETS}
    return officials.get(normalise_word(reading.sheets.get(name.strip(), name)), name)


class Table:
    """A sheet with its columns found.

    ``positions``: official name -> position; ``further``: header of another column -> position; ``undeclared``: columns
    with values of which nobody said what they mean.
    """

    def __init__(self, official: str, sheet: Sheet, reading: Reading, diagnostics: Diagnostics):
        self.official = official
        self.sheet = sheet
        self.reading = reading
        self.diagnostics = diagnostics
        self.columns = CORE_COLUMNS.get(official, (Column("PID", "participant"),))
        self.positions: dict[str, int] = {}
        self.further: dict[str, int] = {}
        self.undeclared: set[str] = set()
        self._cells = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.header)
        for position, header in enumerate(sheet.header):
            if header.strip() or any(cell is not None for cell in self._cells[position]):
                self._add_column(position, header.strip() or f"column {position + 1}")
        if not sheet.visible or sheet.hidden:
            self.add("hidden", "", sheet.hidden or None)
        for position, row in sheet.without_value:
            self.add("no-value", position, [row])
        missing = [key for key in KEY_COLUMNS.get(official, ()) if key not in self.positions]
        for key in missing:
            present = ", ".join(filter(None, sheet.header)) or "none"
            self.add("missing-key-column", key, key=key, present=present)
        self.has_keys = not missing

    def _add_column(self, position: int, name: str) -> None:
        """Find the official column that a header names, or keep it as a further one."""
        declared = normalise_word(self.reading.columns.get(name, name))
        officials = [column.official for column in self.columns]
        matches = [official for official in officials if normalise_word(official) == declared]
        start = normalise_word(AFTER_TASK)
        is_after_task = self.official == "Tasks" and declared.startswith(start)
        if is_after_task and not matches:
            suffix = declared.removeprefix(start)
            dimensions = [name for name in DIMENSION_NAMES if normalise_word(name) in suffix]
            matches = [f"{AFTER_TASK}{dimension}" for dimension in dimensions]
        if len(matches) == 1 and matches[0] not in self.positions:
            self.positions[matches[0]] = position
            return
        while name in self.further:
            name += "'"
        self.further[name] = position
        if len(matches) == 1:
            self.add("duplicate", position, official=matches[0])
        elif is_after_task:
            self.add("unmatched-column", position, dimensions=", ".join(DIMENSION_NAMES))
        elif self.official in CORE_COLUMNS:
            self.add("unknown-column", position)

    def cells(self, name: str) -> tuple:
        """Cells of a column by its official name, or that of a further one; all None where the column is missing."""
        position = self.positions.get(name, self.further.get(name))
        if position is None:
            return (None,) * len(self.sheet.rows)
        return self._cells[position]

    @property
    def is_filled(self) -> list[bool]:
        """Whether each row has any cell."""
        blank = [None] * len(self.sheet.header)
        return [row != blank for row in self.sheet.rows]

    def add(self, entry: str, column: str | int = "", rows=None, value: object = "", /, **words):
        """Report an entry of diagnostics.toml, see ``Diagnostics.add``; a column by its name or position."""
        name = position = column
        if isinstance(column, str):
            position = self.positions.get(column, self.further.get(column))
        if position is not None:
            name = "".join(self.sheet.header[position : position + 1]).strip()
            name = name or f"{cell_name(position, 1).rstrip('1')} (no name)"
        location = {"sheet": self.sheet.name, "column": name, "position": position}
        location["holds_ids"] = column in (*IDS, "MessageId")
        self.diagnostics.add(entry, location, rows, value, **words)

    def names(self, official: str) -> list[str | None]:
        """A column of names or ids; None where the cell is blank or says that there is none, which is counted."""
        names = self.without_missing(official, as_names(self.cells(official)))
        if official not in IDS:
            return names
        for row, cell in enumerate(self.cells(official), 2):
            if cell is None or isinstance(cell, str):
                continue
            is_whole = is_number(cell) and abs(cell) < LARGEST_ID and int(cell) == cell
            if not is_whole:
                self.add("id-type", official, [row], cell, severity=self.reading.severity)
        return names

    def numbers(self, column: str, cells: Sequence, lowest: float = -math.inf) -> array:
        """Cells of a column as plain numbers; other cells are NaN, with a warning."""
        values = array("d", [math.nan]) * len(cells)
        for index, cell in enumerate(cells):
            number = as_number(cell, self.reading.decimal)
            if number is not None and number >= lowest:
                values[index] = number
            elif not is_blank(cell):
                self.add("not-a-number", column, [index + 2], cell)
        return values

    def without_missing(self, column: str, names: Sequence[str | None]) -> list[str | None]:
        """Texts of a column of which those are None that stand for a missing one; a notice counts them."""
        codes = self.reading.missing
        texts = MISSING_TEXTS
        if column not in (*IDS, "Comment"):  # a topic, condition or group may be called None
            texts = texts - {"None"}
        missing = set()
        for name in set(names) - {None}:
            if name.strip() in texts or (codes and normalise_word(name) in codes):
                missing.add(name)
        if not missing:
            return list(names)
        rows = [row for row, name in enumerate(names, 2) if name in missing]
        self.add("missing-text", column, rows, texts=", ".join(sorted(missing)))
        return [None if name in missing else name for name in names]

    def report_similar(self, official: str, names: Iterable[str | None]) -> None:
        """Report names that differ only by case or inner space."""
        alike = defaultdict(list)
        for name in sorted(set(names) - {None}):
            alike["".join(name.split()).casefold()].append(name)
        for forms in alike.values():
            if len(forms) > 1:
                self.add("similar", official, None, "/".join(forms))

    def identified(self, noun: str, official: str, names: Sequence[str | None]) -> list[int]:
        """Indices of the rows that have an id which no earlier row has; reports the others."""
        by_row = enumerate(zip(names, self.is_filled, strict=True), 2)
        rows = [row for row, (name, is_filled) in by_row if is_filled and name is None]
        self.add("missing-id", official, rows, noun=noun)
        further = self.report_twice(noun, official, names)
        return [i for i, name in enumerate(names) if name is not None and i not in further]

    def report_twice(self, noun: str, official: str, keys: Sequence) -> set[int]:
        """Report rows whose key stands in an earlier row; the indices of these. A key of None is none."""
        rows_of = defaultdict(list)
        for index, key in enumerate(keys):
            if key is not None:
                rows_of[key].append(index)
        further = set()
        for key, indices in rows_of.items():
            if len(indices) > 1:
                further.update(indices[1:])
                rows = [index + 2 for index in indices]
                value = " ".join(str(part) for part in key) if isinstance(key, tuple) else key
                severity = self.reading.severity
                self.add("twice", official, rows, value, noun=noun, severity=severity)
        return further
