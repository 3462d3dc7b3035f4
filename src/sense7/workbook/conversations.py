"""The sheet Tasks: one row a conversation, with its participant, condition and answers."""

import numpy as np
import pandas as pd

from sense7.workbook.answers import read_scales
from sense7.workbook.columns import Table
from sense7.workbook.findings import ERROR, WARNING, Findings
from sense7.workbook.options import ReadingOptions
from sense7.workbook.spellings import report_normalised, report_similar
from sense7.workbook.values import as_name

__all__ = ["read_conversations"]

_NAMES = {"conversation": "TaskId", "participant": "PID", "condition": "Model", "topic": "PreTaskChoice"}
"""Columns of names: in the frame, and in the sheet."""


def read_conversations(tasks: Table, findings: Findings, options: ReadingOptions) -> pd.DataFrame:
    """Every conversation that has a TaskId, with the number of its row; duplicates are errors."""
    names = {name: [as_name(cell) for cell in tasks.cells(official)] for name, official in _NAMES.items()}
    for name, official in _NAMES.items():
        report_normalised(tasks.cells(official), names[name], tasks.place(official), findings)
    identifiers = names["conversation"]
    rows = np.arange(2, tasks.length + 2)
    filled_rows = np.array([any(cell is not None for cell in row) for row in tasks.sheet.rows], dtype=bool)
    frame = pd.DataFrame(names, dtype=object)
    for name, levels in read_scales(tasks, findings, options).items():
        frame[name] = levels.numbers
    frame["row"] = rows
    nameless = np.array([identifier is None for identifier in identifiers], dtype=bool)
    if (nameless & filled_rows).any():
        findings.add(
            WARNING,
            "missing-id",
            "a conversation without a TaskId; it is left out.",
            "give each conversation its TaskId.",
            **tasks.place("TaskId"),
            rows=rows[nameless & filled_rows].tolist(),
        )
    frame = frame[~nameless].reset_index(drop=True)
    if frame.empty:
        findings.add(ERROR, "no-conversation", "the sheet holds no conversation.", "fill it.", sheet=tasks.sheet.name)
    for identifier, group in frame[frame.duplicated("conversation", keep=False)].groupby("conversation", sort=False):
        findings.add(
            ERROR,
            "duplicate-id",
            "the TaskId stands in several rows; its messages can't be told apart.",
            "give each conversation a TaskId of its own.",
            **tasks.place("TaskId"),
            rows=group["row"].tolist(),
            value=identifier,
        )
    for name, official in _NAMES.items():
        report_similar(frame[name].tolist(), frame["row"].tolist(), name, tasks.place(official), findings)
    without = frame["participant"].isna()
    if without.any():
        findings.add(
            WARNING,
            "missing-participant",
            "a conversation without a PID; it is counted as a participant of its own.",
            "give each conversation the PID of its participant.",
            **tasks.place("PID"),
            rows=frame.loc[without, "row"].tolist(),
        )
        # A made-up name that no PID can equal, since ids are trimmed.
        frame.loc[without, "participant"] = " (no PID) " + frame.loc[without, "conversation"]
    _report_blank(tasks, frame, "condition", "Model", "it is left out where conditions are compared", findings)
    return frame


def _report_blank(tasks, frame, name, official, consequence, findings) -> None:
    blank = frame[name].isna()
    if official in tasks.positions and blank.any() and not blank.all():
        findings.add(
            WARNING,
            f"missing-{name}",
            f"a conversation without a {name}; {consequence}.",
            f"fill in {official}.",
            **tasks.place(official),
            rows=frame.loc[blank, "row"].tolist(),
        )
