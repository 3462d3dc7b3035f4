"""The pass over sheet Tasks: one row per conversation."""

from collections.abc import Mapping
from itertools import compress

import numpy as np

from sense7.workbook.table import Table

Columns = dict[str, list | np.ndarray]
"""Name -> column: texts and other cells as a list (None if blank), numbers as an array (NaN if there is none)."""

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
    rows = np.arange(2, len(tasks.sheet.rows) + 2)
    is_kept = np.array([identifier is not None for identifier in names["conversation"]], dtype=bool)
    tasks.add("missing-id", "TaskId", rows[tasks.is_filled & ~is_kept], noun="conversation")
    is_kept[list(tasks.report_twice("conversation", "TaskId", names["conversation"]))] = False
    columns: Columns = {name: list(compress(column, is_kept)) for name, column in names.items()}
    for name, (levels, _) in answers.items():
        columns[name] = levels[is_kept]
    columns["row"] = rows[is_kept]
    if not len(columns["row"]):
        tasks.add("no-conversation")
    is_nameless = np.array([name is None for name in columns["participant"]], dtype=bool)
    tasks.add("missing-participant", "PID", columns["row"][is_nameless])
    # A participant of their own, by a name that no PID can equal, since ids are trimmed.
    for index in np.flatnonzero(is_nameless):
        columns["participant"][index] = f" (no PID) {columns['conversation'][index]}"
    is_blank = np.array([condition is None for condition in columns["condition"]], dtype=bool)
    if "Model" in tasks.positions and not is_blank.all():
        tasks.add("missing-condition", "Model", columns["row"][is_blank])
    return columns
