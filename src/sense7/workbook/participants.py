"""The pass over the sheet with one row per participant, which may have any name."""

import re
from collections.abc import Mapping

import numpy as np

from sense7 import taxonomy
from sense7.taxonomy import normalise_name
from sense7.workbook import ids
from sense7.workbook.conversations import Columns
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.ids import as_names, as_number, as_text, is_blank
from sense7.workbook.missing_names import report_group_perhaps_missing, without_missing
from sense7.workbook.options import ReadingOptions, is_scales_sheet
from sense7.workbook.scales import stands_for
from sense7.workbook.table import KEY_COLUMNS, Table, is_word, leave_out
from sense7.workbook.xlsx import Sheet

_POINT_BEFORE_THREE = re.compile(r"\s*+[+-]?[1-9]\d{0,2}\.\d{3}\s*+")


def find_participants(
    sheets: Mapping[str, Sheet], tables: Mapping[str, Table], diagnostics: Diagnostics
) -> Sheet | None:
    """The sheet with one row per participant, found by its PID column; reports every sheet that is not used."""
    used = {table.sheet.name: official for official, table in tables.items()}
    candidates = []
    for sheet in sheets.values():
        of_the_project = {taxonomy.SYNTHETIC_SHEET, taxonomy.ORIGIN_SHEET}
        if sheet.name in used or sheet.name in of_the_project or is_scales_sheet(sheet):
            continue
        columns = set(sheet.names) - {""}
        original = _original_of(sheet, columns, sheets, used)
        if original is not None:
            diagnostics.add("copied-sheet", {"sheet": sheet.name}, original=original)
            continue
        people = []
        if "pid" in columns:
            people = [name for name in as_names(sheet.column(sheet.names.index("pid"))) if name]
        is_once = len(people) == len(set(people))
        # Several rows per participant beside a TaskId: a sheet about conversations, e.g. an old copy of Tasks.
        if "pid" in columns and ("taskid" not in columns or is_once):
            earlier_names = [normalise_name(candidate.name) for _, candidate in candidates]
            is_copy = any(name in normalise_name(sheet.name) for name in earlier_names)
            fitness = ("taskid" not in columns, is_once, not is_copy, len(set(people)))
            candidates.append((fitness, sheet))
        else:
            diagnostics.add("unknown-sheet", {"sheet": sheet.name})
    if not candidates:
        return None
    _, chosen = max(candidates, key=lambda candidate: candidate[0])
    for _, candidate in candidates:
        if candidate is not chosen:
            location = {"sheet": candidate.name}
            diagnostics.add("further-participants-sheet", location, chosen=chosen.name)
    return chosen


def _original_of(
    sheet: Sheet, columns: set[str], sheets: Mapping[str, Sheet], used: Mapping[str, str]
) -> str | None:
    """Name of the sheet that this is a copy of: it has all its columns, or its name and its key columns."""
    for name, official in used.items():
        has_keys = set(map(normalise_name, KEY_COLUMNS[official])) <= columns
        has_name = normalise_name(official) in normalise_name(sheet.name)
        has_columns = columns == set(sheets[name].names) - {""}
        if has_keys and (has_name or has_columns):
            return name
    return None


def read_participants(
    sheet: Sheet,
    tasks: Table | None,
    conversations: Columns | None,
    explained: bool,
    options: ReadingOptions,
    diagnostics: Diagnostics,
) -> Columns:
    """Columns of the sheet with one row per participant; ``explained`` as :func:`leave_out` takes it."""
    active = set()
    if conversations:
        active.update(conversations["participant"])
    position = sheet.names.index("pid")
    table = Table("Participants", sheet, diagnostics, {"PID": position})
    leave_out(table, "PID", active, explained)

    people, is_filled = table.names("PID", active, "participant"), table.is_filled
    columns: Columns = {"participant": people}
    for index, header in enumerate(sheet.header):
        name = header
        if not header.strip():
            if all(cell is None for cell in table.sheet.column(index)):
                continue
            name = f"column {index + 1}"
        if index == position:
            continue
        while name in columns or name == "row":
            name += "'"
        columns[name] = _characteristic(table, index, options.missing_of(header))
    columns["row"] = np.arange(2, len(people) + 2)
    first_index = {}
    without_id, repeated = [], []
    for index, name in enumerate(people):
        if name is None:
            if is_filled[index]:
                without_id.append(index + 2)
        elif name in first_index:
            repeated.append(index + 2)
        else:
            first_index[name] = index
    table.add("missing-id/participant", "PID", without_id)
    table.add("duplicate-participant", "PID", repeated)
    indices = list(first_index.values())
    for name, column in columns.items():
        if isinstance(column, list):
            columns[name] = [column[index] for index in indices]
        else:
            columns[name] = column[indices]
    if conversations is not None:
        is_idle = [name not in active for name in columns["participant"]]
        table.add("participant-without-conversation", "PID", columns["row"][is_idle])
        is_unknown = [name not in first_index for name in conversations["participant"]]
        rows = conversations["row"][is_unknown]
        tasks.add("participant-without-characteristics", "PID", rows, chosen=sheet.name)
    return columns


def _report_grouping_points(table: Table, position: int, cells: list, numbers: np.ndarray) -> None:
    """Report texts such as 21.500 where every number of the column may be one whose thousands a point separates."""
    rows = []
    for row, (cell, number) in enumerate(zip(cells, numbers.tolist(), strict=True), 2):
        if _POINT_BEFORE_THREE.fullmatch(as_text(cell) or ""):
            if isinstance(cell, str):
                rows.append(row)
        elif number >= 1000 or number % 1 > 0:
            return
    if rows:
        first = cells[rows[0] - 2]
        words = {"text": first.strip(), "number": f"{as_number(first):g}"}
        table.add("point-before-three", position, rows, **words)


def _characteristic(table: Table, position: int, declared: tuple | None) -> list | np.ndarray:
    """Numbers if every answer is one, otherwise text; declared and known codes for a missing answer are blank."""
    cells = table.sheet.column(position)
    numbers = np.full(len(cells), np.nan)
    odd = []  # neither a number nor blank
    for index, cell in enumerate(cells):
        if stands_for(cell, declared or ()):
            cells[index] = None
            continue
        number = as_number(cell)
        if number is not None:
            numbers[index] = ids.as_shown(number)
        elif not is_blank(cell):
            odd.append(index)
    is_finite = np.isfinite(numbers)
    count = int(is_finite.sum())
    if count and all(isinstance(cells[index], str) and not is_word(cells[index]) for index in odd):
        for index in odd:
            table.add("mixed-column/number", position, [index + 2], cells[index])
        if declared is None:
            for code in ids.codes_among(set(numbers[is_finite].tolist())):
                rows, column = np.flatnonzero(numbers == code), table.sheet.header[position]
                table.add(
                    "missing-number", position, rows + 2, code, column=column, code=f"{code:g}"
                )
                numbers[rows] = np.nan
        _report_grouping_points(table, position, cells, numbers)
        return numbers
    for index in odd:
        if len(odd) < count:
            table.add("mixed-column/text", position, [index + 2], cells[index])
        elif ids.looks_like_number(cells[index]):
            table.add("number-as-text", position, [index + 2], cells[index])
    names = as_names(cells)
    ids.report_replaced_signs(table, position, cells, names, joined_only=True)
    names = without_missing(table, position, names, range(2, len(names) + 2))
    report_group_perhaps_missing(table, position, names)
    ids.report_similar(table, position, names, list(range(2, len(names) + 2)), "group")
    # A date among ages such as 18-24 was one of them.
    if any(name is not None and re.fullmatch(r"\d{1,3} ?[-/] ?\d{1,3}", name) for name in names):
        ids.report_retyped(table, position, cells, names)
    return names
