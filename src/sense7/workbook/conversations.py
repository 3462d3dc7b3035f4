"""The sheet Tasks: one row per conversation, with its participant, condition and answers."""

from itertools import compress

import numpy as np

from sense7.workbook.answers import read_scales
from sense7.workbook.columns import Table
from sense7.workbook.diagnostics import ERROR, WARNING, Diagnostics
from sense7.workbook.options import ReadingOptions
from sense7.workbook.parsed import Columns
from sense7.workbook.spellings import report_normalised, report_similar
from sense7.workbook.values import as_names, rows_of

__all__ = ["read_conversations"]

_NAMES = {"conversation": "TaskId", "participant": "PID", "condition": "Model", "topic": "PreTaskChoice"}
"""Columns of names: in the frame, and in the sheet."""


def read_conversations(tasks: Table, diagnostics: Diagnostics, options: ReadingOptions) -> Columns:
    """Every conversation that has a TaskId, with the number of its row; duplicates are errors."""
    names = {name: as_names(tasks.cells(official)) for name, official in _NAMES.items()}
    for name, official in _NAMES.items():
        report_normalised(tasks.cells(official), names[name], tasks.place(official), diagnostics)
    rows = np.arange(2, tasks.length + 2)
    named = np.array([identifier is not None for identifier in names["conversation"]], dtype=bool)
    columns: Columns = {name: list(compress(column, named)) for name, column in names.items()}
    for name, levels in read_scales(tasks, diagnostics, options).items():
        columns[name] = levels.numbers[named]
    columns["row"] = rows[named]
    filled = np.array([any(cell is not None for cell in row) for row in tasks.sheet.rows], dtype=bool)
    if (filled & ~named).any():
        diagnostics.add(
            WARNING,
            "missing-id",
            "a conversation without a TaskId; it is left out.",
            "give each conversation its TaskId.",
            **tasks.place("TaskId"),
            rows=rows[filled & ~named].tolist(),
        )
    numbers = columns["row"].tolist()
    if not numbers:
        diagnostics.add(
            ERROR, "no-conversation", "the sheet holds no conversation.", "fill it.", sheet=tasks.sheet.name
        )
    for identifier, twice in rows_of(columns["conversation"], numbers).items():
        if len(twice) > 1:
            diagnostics.add(
                ERROR,
                "duplicate-id",
                "the TaskId stands in several rows; its messages can't be distinguished.",
                "give each conversation a TaskId of its own.",
                **tasks.place("TaskId"),
                rows=twice,
                value=identifier,
            )
    for name, official in _NAMES.items():
        report_similar(columns[name], numbers, name, tasks.place(official), diagnostics)
    _name_unnamed_participants(tasks, columns, diagnostics)
    blank = [row for condition, row in zip(columns["condition"], numbers, strict=True) if condition is None]
    if "Model" in tasks.positions and 0 < len(blank) < len(numbers):
        diagnostics.add(
            WARNING,
            "missing-condition",
            "a conversation without a condition; it is left out where conditions are compared.",
            "fill in Model.",
            **tasks.place("Model"),
            rows=blank,
        )
    return columns


def _name_unnamed_participants(tasks: Table, columns: Columns, diagnostics: Diagnostics) -> None:
    participants = columns["participant"]
    without = [index for index, participant in enumerate(participants) if participant is None]
    if without:
        diagnostics.add(
            WARNING,
            "missing-participant",
            "a conversation without a PID; it is counted as a participant of its own.",
            "give each conversation the PID of its participant.",
            **tasks.place("PID"),
            rows=columns["row"][without].tolist(),
        )
    for index in without:  # a made-up name that no PID can equal, since ids are trimmed
        participants[index] = f" (no PID) {columns['conversation'][index]}"
