"""What is found in a workbook, as it is said: place, value, what was done, how to fix it."""

import pytest

from sense7.workbook import WorkbookError
from sense7.workbook.diagnostics import ERROR, WARNING, Diagnostics


def diagnostics(*severities):
    found = Diagnostics()
    for number, severity in enumerate(severities):
        found.add(severity, f"kind-{number}", f"odd {number}.", "fix it.", sheet="Tasks", rows=[number + 2])
    return found


def test_one_without_a_place_or_a_value_says_neither():
    found = Diagnostics()
    found.add(WARNING, "kind", "odd.", "fix it.")
    (diagnostic,) = found
    assert str(diagnostic) == "odd. Fix: fix it."
    assert diagnostic.place == ""
    assert (diagnostic.sheet, diagnostic.column, diagnostic.value) == ("", "", "")


def test_as_plain_values_it_has_its_rows_and_how_many():
    found = Diagnostics()
    found.add(WARNING, "kind", "odd.", "fix it.", sheet="Tasks", column="Age", position=2, rows=[2, 7], value=3)
    (diagnostic,) = found
    assert diagnostic.to_dict() == {
        "severity": "warning",
        "kind": "kind",
        "sheet": "Tasks",
        "column": "Age",
        "position": 2,
        "rows": [2, 7],
        "value": "3",
        "problem": "odd.",
        "fix": "fix it.",
        "count": 2,
    }


FIRST, SECOND = ("sheet Tasks, row {}: odd {}. Fix: fix it.".format(*numbers) for numbers in ((2, 0), (3, 1)))


@pytest.mark.parametrize(
    ("severities", "strict", "lines"),
    [
        ([ERROR], False, ["1 thing that makes the analysis impossible", f"  error: {FIRST}"]),
        (
            [ERROR, ERROR],
            False,
            ["2 things that make the analysis impossible", f"  error: {FIRST}", f"  error: {SECOND}"],
        ),
        (
            [ERROR, WARNING],
            False,
            [
                *("1 thing that makes the analysis impossible", f"  error: {FIRST}"),
                *("  and 1 warning:", f"  warning: {SECOND}"),
            ],
        ),
        ([WARNING], True, ["1 thing found by --strict", f"  warning: {FIRST}"]),
        (
            [ERROR, WARNING],
            True,
            ["2 things that make the analysis impossible", f"  error: {FIRST}", f"  warning: {SECOND}"],
        ),
    ],
)
def test_an_error_lists_everything_once(severities, strict, lines):
    error = WorkbookError("mine.xlsx", diagnostics(*severities), strict)
    lines[0] = f"mine.xlsx: {lines[0]}"
    assert str(error).split("\n") == lines
