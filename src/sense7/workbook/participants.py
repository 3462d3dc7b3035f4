"""The pass over the sheet with one row per participant, found by its PID column."""

from collections.abc import Mapping
from operator import itemgetter

import numpy as np

from sense7 import taxonomy
from sense7.taxonomy import normalise_word
from sense7.workbook.conversations import Columns
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.ids import MISSING_TEXTS, as_names, as_number, as_text
from sense7.workbook.reading import Characteristic, Reading
from sense7.workbook.table import Table, official_sheet_name
from sense7.workbook.xlsx import Sheet


def find_participants(
    sheets: Mapping[str, Sheet],
    tables: Mapping[str, Table],
    reading: Reading,
    diagnostics: Diagnostics,
) -> Table | None:
    """The sheet with one row per participant; reports every sheet that is not used.

    That is the sheet called Participants, or else, of those with a column PID and no column TaskId, the first in which
    nobody stands twice.
    """
    candidates = []
    used = {table.sheet.name for table in tables.values()}
    used.update((taxonomy.SYNTHETIC_SHEET, taxonomy.ORIGIN_SHEET))
    for sheet in sheets.values():
        if sheet.name in used:
            continue
        columns = [normalise_word(reading.columns.get(name, name)) for name in sheet.header]
        is_named = official_sheet_name(sheet.name, reading) == "Participants"
        if "pid" in columns and (is_named or "taskid" not in columns):
            people = as_names(sheet.column(columns.index("pid")))
            candidates.append((not is_named, len(set(people)) < len(people), sheet))
        else:
            diagnostics.add("unknown-sheet", {"sheet": sheet.name})
    if not candidates:
        return None
    *_, chosen = min(candidates, key=itemgetter(0, 1))
    for *_, sheet in candidates:
        if sheet is not chosen:
            location = {"sheet": sheet.name}
            diagnostics.add("further-participants", location, chosen=chosen.name)
    return Table("Participants", chosen, reading, diagnostics)


def read_participants(table: Table, tasks: Table | None, conversations: Columns | None) -> Columns:
    """Columns of the sheet with one row per participant."""
    people = table.names("PID")
    table.report_similar("PID", people)
    columns: Columns = {"participant": people}
    declared = table.reading.characteristics
    for header in table.further:
        characteristic = declared.get(header, Characteristic(missing=table.reading.missing))
        if characteristic.type == "leave out":
            continue
        name = header
        while name in columns or name == "row":
            name += "'"
        columns[name] = _read_characteristic(table, header, characteristic)
    columns["row"] = np.arange(2, len(people) + 2)
    is_nameless = np.array([name is None for name in people], dtype=bool)
    table.add(
        "missing-id", "PID", columns["row"][table.is_filled & is_nameless], noun="participant"
    )
    is_kept = ~is_nameless
    is_kept[list(table.report_twice("participant", "PID", people))] = False
    indices = np.flatnonzero(is_kept).tolist()
    for name, column in columns.items():
        if isinstance(column, list):
            columns[name] = [column[index] for index in indices]
        else:
            columns[name] = column[indices]
    if conversations is not None:
        active, listed = set(conversations["participant"]), set(columns["participant"])
        is_idle = [name not in active for name in columns["participant"]]
        table.add("participant-without-conversation", "PID", columns["row"][is_idle])
        is_unknown = [name not in listed for name in conversations["participant"]]
        rows = conversations["row"][is_unknown]
        tasks.add("participant-without-characteristics", "PID", rows, chosen=table.sheet.name)
    return columns


def _read_characteristic(table: Table, header: str, declared: Characteristic) -> list | np.ndarray:
    """Numbers where that is declared, or where all that is answered are numbers; otherwise the names of groups."""
    cells = table.cells(header)
    texts = list(map(as_text, cells))
    texts = table.without_missing(header, texts, MISSING_TEXTS - {"None"}, declared.missing)
    numbers = np.full(len(cells), np.nan)
    not_numbers = []
    for index, text in enumerate(texts):
        if text is not None and text.strip():
            number = as_number(cells[index], table.reading.decimal)
            if number is None:
                not_numbers.append(index)
            else:
                numbers[index] = number
    is_number = declared.type == "number"
    if declared.type is None:
        is_number = not not_numbers and bool(np.isfinite(numbers).any())
    if not is_number:
        names = as_names(texts)
        return [declared.labels.get(name, name) for name in names]
    for index in not_numbers:
        table.add("not-a-number", header, [index + 2], texts[index])
    return numbers
