"""The pass over the sheet with one row per participant, found by its PID column."""

from array import array
from collections.abc import Mapping

from sense7.taxonomy import CORE_COLUMNS, normalise_word
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import as_names, as_number, as_texts, is_blank, select
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
        columns = [normalise_word(reading.columns.get(head, head)) for head in sheet.header]
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
    texts = table.without_missing(header, as_texts(table.cells(header)))
    is_number = declared.type == "number"
    if declared.type is None:
        answers = [as_number(text, table.reading.decimal) for text in texts if not is_blank(text)]
        is_number = bool(answers) and None not in answers
    if is_number:
        return table.numbers(header, texts)
    names = as_names(texts)
    labels = {}
    for name in set(names) - {None}:
        labels[name] = declared.labels.get(normalise_word(name), name)
    return list(map(labels.get, names))
