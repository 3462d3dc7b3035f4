"""What is found in a workbook, as it is said: place, value, what was done, how to fix it."""

import re

import pytest

from sense7.workbook import WorkbookError
from sense7.workbook.diagnostics import Diagnostics, _entries

EMPTY = "Tasks, row {}: the sheet holds no conversation. Fix: fill it."
HIDDEN = "Tasks, row {}: the sheet is hidden; it was read all the same. Fix: show it."


def found(*entries):
    diagnostics = Diagnostics()
    for number, entry in enumerate(entries):
        diagnostics.add(entry, {"sheet": "Tasks"}, [number + 2])
    return diagnostics


def test_as_plain_values_it_has_its_rows_and_how_many():
    diagnostics = Diagnostics()
    for rows in ([2], [7]):
        diagnostics.add("nameless-column", {"sheet": "Tasks", "column": "C", "position": 2}, rows, 3.0)
    (diagnostic,) = diagnostics
    problem = "the column holds values but has no name in row 1; it is kept and not used."
    assert diagnostic.to_dict() == {
        **{"severity": "warning", "kind": "nameless-column", "sheet": "Tasks", "column": "C", "position": 2},
        **{"rows": [2, 7], "value": "3", "problem": problem, "fix": "name it.", "count": 2},
    }
    assert str(diagnostic) == f"sheet Tasks, column C, cells C2, C7: '3': {problem} Fix: name it."


@pytest.mark.parametrize(
    ("entries", "strict", "lines"),
    [
        (["no-conversation"], False, ["1 thing that makes the analysis impossible", f"error: {EMPTY}"]),
        (
            ["no-conversation", "hidden-sheet"],
            False,
            ["1 thing that makes the analysis impossible", f"error: {EMPTY}", "and 1 warning:", f"warning: {HIDDEN}"],
        ),
        (["hidden-sheet"], True, ["1 thing found by --strict", f"warning: {HIDDEN}"]),
        (
            ["no-conversation", "hidden-sheet"],
            True,
            ["2 things that make the analysis impossible", f"error: {EMPTY}", f"warning: {HIDDEN}"],
        ),
    ],
)
def test_an_error_lists_everything_once(entries, strict, lines):
    said = [line.strip() for line in str(WorkbookError("mine.xlsx", found(*entries), strict)).split("\n")]
    rows = iter(range(2, 9))
    lines = [line.replace(": Tasks", ": sheet Tasks") for line in lines]
    lines = [line.format(next(rows)) if "{}" in line else line for line in lines]
    assert said == [f"mine.xlsx: {lines[0]}", *lines[1:]]


@pytest.mark.parametrize("entry", _entries())
def test_every_kind_says_what_was_done_and_what_to_do(entry):
    said = _entries().get(entry.partition("/")[0], {}) | _entries()[entry]
    if "problem" in said:
        assert said["problem"].endswith((".", "{consequence}"))
        assert said["fix"].endswith((".", "{advice}", "{template}"))
        assert re.fullmatch("error|warning|notice", said.get("severity", "warning"))
