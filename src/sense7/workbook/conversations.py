"""The pass over sheet Tasks: one row per conversation."""

from collections import Counter
from collections.abc import Mapping
from itertools import compress

import numpy as np

from sense7.workbook import ids
from sense7.workbook.missing_names import is_no_name, report_perhaps_missing, without_missing
from sense7.workbook.repeats import report_repeated_conversations
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
    """Every conversation that has a TaskId, with the number of its row; duplicates are errors."""
    names = {name: tasks.names(official) for name, official in NAMES.items()}
    rows = np.arange(2, len(tasks.sheet.rows) + 2)
    has_id = np.array([identifier is not None for identifier in names["conversation"]], dtype=bool)
    repeats = report_repeated_conversations(tasks, names["conversation"])
    tasks.add("missing-id/conversation", "TaskId", rows[tasks.is_filled & ~has_id])
    has_id[list(repeats)] = False
    columns: Columns = {name: list(compress(column, has_id)) for name, column in names.items()}
    for name, (levels, _) in answers.items():
        columns[name] = levels[has_id]
    columns["row"] = rows[has_id]
    numbers = columns["row"].tolist()
    if not numbers:
        tasks.add("no-conversation")
    repeated = Counter(columns["conversation"])
    for identifier, row in zip(columns["conversation"], numbers, strict=True):
        if repeated[identifier] > 1:
            tasks.add("duplicate-id", "TaskId", [row], identifier)
    for name in ("condition", "topic"):
        columns[name] = without_missing(tasks, NAMES[name], columns[name], numbers)
    people = columns["participant"]
    nameless = []
    for index, person in enumerate(people):
        if person is None or is_no_name(person):
            nameless.append(index)
            people[index] = None
    for name, official in NAMES.items():
        ids.report_similar(tasks, official, columns[name], numbers, name)
        if name != "conversation":
            report_perhaps_missing(tasks, official, columns[name], numbers, name)
    tasks.add("missing-participant", "PID", [numbers[index] for index in nameless])
    # A participant of their own, by a name that no PID can equal, since ids are trimmed.
    for index in nameless:
        people[index] = f" (no PID) {columns['conversation'][index]}"
    is_blank = [condition is None for condition in columns["condition"]]
    if "Model" in tasks.positions and not all(is_blank):
        tasks.add("missing-condition", "Model", list(compress(numbers, is_blank)))
    return columns
