"""The pass over sheet Tasks: one row per conversation."""

from array import array
from collections.abc import Mapping

from sense7.workbook.ids import select
from sense7.workbook.table import Table

Columns = dict[str, list | array]
"""Name -> column: texts and other cells as a list (None if blank), numbers as an array (NaN if there is none).

Python's own arrays: to import NumPy takes as long as to read half a workbook."""

NAMES = {
    "conversation": "TaskId",
    "participant": "PID",
    "condition": "Model",
    "topic": "PreTaskChoice",
}
"""Columns of names: in the frame, and in the sheet."""


def read_conversations(tasks: Table, answers: Mapping) -> Columns:
    """Every conversation that has a TaskId, with the number of its row."""
    names = {name: tasks.names(official) for name, official in NAMES.items()}
    for name, official in NAMES.items():
        tasks.report_similar(official, names[name])
    indices = tasks.identified("conversation", "TaskId", names["conversation"])
    columns: Columns = {name: select(column, indices) for name, column in names.items()}
    for name, (levels, _) in answers.items():
        columns[name] = select(levels, indices)
    columns["row"] = array("q", [index + 2 for index in indices])
    if not indices:
        tasks.add("no-conversation")
    nameless, without_condition = [], []
    for index, row in enumerate(columns["row"]):
        if columns["participant"][index] is None:
            nameless.append(row)
            # A participant of their own, by a name that no PID can equal, since ids are trimmed.
            columns["participant"][index] = f" (no PID) {columns['conversation'][index]}"
        if columns["condition"][index] is None:
            without_condition.append(row)
    tasks.add("missing-participant", "PID", nameless)
    if "Model" in tasks.positions and len(without_condition) < len(indices):
        tasks.add("missing-condition", "Model", without_condition)
    return columns
