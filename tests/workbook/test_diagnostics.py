"""What is found in a workbook, as it is said: place, value, what was done."""

import json
import re

import pytest

from sense7.workbook import WorkbookError, write_sheets
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
        diagnostics.add(
            "unknown-column", {"sheet": "Tasks", "column": "C", "position": 2}, rows, 3.0
        )
    (diagnostic,) = diagnostics
    problem = "the official format does not describe this column; it is kept and not used."
    fix = "nothing, if that is as meant."
    assert diagnostic.to_dict() == {
        **{
            "severity": "warning",
            "kind": "unknown-column",
            "sheet": "Tasks",
            "column": "C",
            "position": 2,
        },
        **{"rows": [2, 7], "value": "3", "problem": problem, "fix": fix, "count": 2},
    }
    assert str(diagnostic) == f"sheet Tasks, column C, cells C2, C7: '3': {problem} Fix: {fix}"


@pytest.mark.parametrize(
    ("entries", "strict", "lines"),
    [
        (
            ["no-conversation"],
            False,
            ["1 thing that makes the analysis impossible", f"error: {EMPTY}"],
        ),
        (
            ["no-conversation", "hidden-sheet"],
            False,
            [
                "1 thing that makes the analysis impossible",
                f"error: {EMPTY}",
                "and 1 warning:",
                f"warning: {HIDDEN}",
            ],
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
    said = [
        line.strip()
        for line in str(WorkbookError("mine.xlsx", found(*entries), strict)).split("\n")
    ]
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


# The verb


@pytest.fixture
def check(minimal_sheets, tmp_path, sense7):
    """Check a minimal workbook with changes; give the exit code, the output and the messages."""

    def run(*options, **changes):
        write_sheets(minimal_sheets(**changes), tmp_path / "mine.xlsx")
        return sense7("check", tmp_path / "mine.xlsx", *options)

    return run


def test_it_says_what_is_in_a_workbook(check):
    code, out, err = check(messages={"Cognitive": None, "Retry": None, "Mood": "x"})
    assert (code, err) == (0, "")
    said = [" ".join(line.split()) for line in out.splitlines()]
    for line in (
        "mine: workbook mine.xlsx, given by its path",
        "participants 3",
        "assistant turns 8",
        "plain-empathy 2",
        "name plain-empathy",
        "how guessed from its name",
        "overall 8 rated",
        "Participants sheet: Participants",
        "Never asked: Messages.Cognitive",
        "Not recorded: Messages.Retry",
        "1 warning, 1 place",
    ):
        assert line in said
    assert (
        "warning: sheet Messages, column Mood: the official format does not describe this column"
        in out
    )


def test_as_json_it_is_complete(check):
    code, out, _ = check(
        "--json", "--allow-unreadable", messages={"Affective": [None, "splendid"] * 8}
    )
    description = json.loads(out)
    assert (code, description["counts"]["conversations"]) == (0, 4)
    (diagnostic,) = description["diagnostics"]
    assert diagnostic["kind"] == "unknown-word"
    assert (diagnostic["sheet"], diagnostic["column"], diagnostic["value"]) == (
        "Messages",
        "Affective",
        "splendid",
    )
    assert diagnostic["rows"] == [3, 5, 7, 9, 11, 13, 15, 17]
    assert diagnostic["count"] == 8
    assert "very poor" in diagnostic["fix"]


def test_strict_makes_warnings_errors(check):
    changes = {"Mood": "x", "Affective": [None, "splendid"] * 8}
    code, out, err = check("--strict", "--allow-unreadable", messages=changes)
    assert (code, out) == (2, "")
    for said in ("2 things found by --strict", "column Mood", "'splendid'"):
        assert said in err


def test_the_prompted_condition_can_be_given(check):
    assert "  name  plain\n  how   given" in check("--prompted", "plain")[1]
    code, out, err = check("--prompted", "gpt")
    assert (code, out) == (2, "")
    assert "no condition 'gpt'" in err
