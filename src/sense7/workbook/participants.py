"""The pass over the sheet with one row per participant, found by its PID column."""

import math
from array import array
from collections.abc import Mapping

from sense7.taxonomy import CORE_COLUMNS, normalise_word
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import MISSING_TEXTS, as_names, as_number, as_text, is_blank, select
from sense7.workbook.reading import Characteristic, Reading
from sense7.workbook.table import Table, official_sheet_name
from sense7.workbook.xlsx import Sheet


def find_participants(sheets: Mapping[str, Sheet], reading: Reading) -> Sheet | None:
    """The sheet with one row per participant: Participants, or another with a column PID and no column TaskId.

    Of several that is the first in which nobody stands twice.
    """
    ranks = {}
    for name, sheet in sheets.items():
        official = official_sheet_name(name, reading)
        columns = [normalise_word(reading.columns.get(name, name)) for name in sheet.header]
        if official in CORE_COLUMNS or "pid" not in columns:
            continue
        is_other = official != "Participants"
        if is_other and "taskid" in columns:
            continue
        people = as_names(sheet.column(columns.index("pid")))
        ranks[name] = (is_other, len(set(people)) < len(people))
    if not ranks:
        return None
    return sheets[min(ranks, key=ranks.get)]


def read_participants(table: Table, tasks: Table | None, conversations: Columns | None) -> Columns:
    """Columns of the sheet with one row per participant."""
    people = table.names("PID")
    table.report_similar("PID", people)
    columns: Columns = {"participant": people}
    declared = table.reading.characteristics
    for header in table.further:
        characteristic = declared.get(header, Characteristic())
        if characteristic.type == "leave out":
            continue
        name = header
        while name in columns or name == "row":
            name += "'"
        columns[name] = _read_characteristic(table, header, characteristic)
    columns["row"] = array("q", range(2, len(people) + 2))
    indices = table.identified("participant", "PID", people)
    columns = {name: select(column, indices) for name, column in columns.items()}
    if conversations is not None:
        listed = set(columns["participant"])
        by_row = zip(conversations["row"], conversations["participant"], strict=True)
        rows = [row for row, name in by_row if name not in listed]
        tasks.add("participant-without-characteristics", "PID", rows, chosen=table.sheet.name)
    return columns


def _read_characteristic(table: Table, header: str, declared: Characteristic) -> list | array:
    """Numbers where that is declared, or where all that is answered are numbers; otherwise the names of groups."""
    texts = list(map(as_text, table.cells(header)))
    texts = table.without_missing(header, texts, MISSING_TEXTS - {"None"})
    numbers = []
    not_numbers = []
    for row, text in enumerate(texts, 2):
        number = as_number(text, table.reading.decimal)
        if number is None and not is_blank(text):
            not_numbers.append(row)
        numbers.append(math.nan if number is None else number)
    is_number = declared.type == "number"
    if declared.type is None:
        is_number = not not_numbers and any(map(math.isfinite, numbers))
    if not is_number:
        names = as_names(texts)
        labels = {}
        for name in set(names) - {None}:
            labels[name] = declared.labels.get(normalise_word(name), name)
        return list(map(labels.get, names))
    for row in not_numbers:
        table.add("not-a-number", header, [row], texts[row - 2])
    return array("d", numbers)
