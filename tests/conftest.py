"""Fixtures for all tests: the data sets beside the checkout, and a small official workbook."""

from pathlib import Path

import pytest

from sense7.taxonomy import MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook import Sheet

SHARED = Path(__file__).resolve().parents[1].parent / "shared"

TASK = {
    "PID": ["P1", "P1", "P2", "P3"],
    "Model": ["plain", "plain-empathy", "plain", "plain-empathy"],
    "TaskId": ["C1", "C2", "C3", "C4"],
    "PreTaskChoice": ["work", "home", "work", "home"],
    "PreTaskImportance": [1.0, 3.0, 4.0, 5.0],
    "PreTaskDesiredEmpathy": [1.0, 2.0, 3.0, 3.0],
}
"""Other columns of Tasks are 4 in every row."""

MESSAGE = {
    "TaskId": [task for task in TASK["TaskId"] for _ in range(4)],
    "MessageId": [1.0, 2.0, 3.0, 4.0] * 4,
    "TimeOffsetSeconds": [0.0, 5.5, 40.0, 47.0] * 4,
    "Role": ["user", "assistant"] * 8,
    "Content": ["I had a bad day.", "I am sorry to hear that.", "Thank you.", "You are welcome."] * 4,
    "Retry": [0.0] * 16,
    "Comment": [None, "kind", None, None] * 4,
}
"""Ratings are good, then very good, in assistant rows."""

PARTICIPANTS = {"PID": ["P1", "P2", "P3"], "Age": [30.0, 41.0, 52.0], "Gender": ["f", "m", "f"]}


@pytest.fixture(scope="session")
def shared():
    """The folder ``shared`` beside the checkout: real ratings and reference values."""
    if not SHARED.is_dir():
        pytest.skip("the folder with real ratings is not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def minimal_sheets():
    """Build a small valid workbook: three participants, four conversations, eight rated turns.

    Each of ``tasks``, ``messages`` and ``participants`` may be None, which leaves out the sheet, or
    a mapping of columns: a list gives the cells, any other value stands in every row, and
    ``...`` removes the column. ``further`` are sheets to add.
    """
    return build_minimal


def build_minimal(*, tasks=(), messages=(), participants=(), further=()):
    every_task = {column.official: TASK.get(column.official, [4.0] * 4) for column in TASK_COLUMNS}
    rating = [None, "good", None, "Very good"] * 4
    every_message = {column.official: MESSAGE.get(column.official, rating) for column in MESSAGE_COLUMNS}
    sheets = {}
    for name, columns, changes in (
        ("Tasks", every_task, tasks),
        ("Messages", every_message, messages),
        ("Participants", PARTICIPANTS, participants),
    ):
        if changes is not None:
            sheets[name] = sheet_of(name, columns, dict(changes))
    return sheets | {sheet.name: sheet for sheet in further}


def sheet_of(name, columns, changes):
    columns = dict(columns)
    length = max((len(cells) for cells in changes.values() if isinstance(cells, list)), default=0)
    length = length or len(next(iter(columns.values())))
    for column, cells in changes.items():
        if cells is ...:
            del columns[column]
        else:
            columns[column] = cells if isinstance(cells, list) else [cells] * length
    columns = {column: (cells + [None] * length)[:length] for column, cells in columns.items()}
    return Sheet(name, list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
