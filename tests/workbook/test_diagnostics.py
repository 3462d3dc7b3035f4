"""What is found in a workbook, as it is said: place, value, what was done; and what ``sense7 check`` prints."""

import json
import re

import pytest

from sense7.findings.description import print_description
from sense7.workbook import WorkbookError, write_sheets
from sense7.workbook.diagnostics import Diagnostics, _entries

DESCRIPTION = {
    "name": "mine",
    "provenance": "own workbook [not SENSE-7]",
    "counts": {"participants": 1200, "conversations": 7},
    "conditions": {"a": 3, "a longer name": 4},
    "prompted_condition": {"name": "a", "how": "given"},
    "topics": {"work": 7},
    "ratings": {"overall": {"not rated": 1000, "rated": 2}, "affective": {"rated": 1}},
    "participants_sheet": "Participants",
    "characteristics": ["age", "role"],
    "never_asked": ["Tasks.A", "Messages.B"],
    "not_recorded": ["Tasks.C"],
    "diagnostics": [
        {"severity": "warning", "text": "Tasks.A: odd", "count": 1000},
        {"severity": "error", "text": "Messages: no rating", "count": 34},
    ],
}

PRINTED = """\
mine: own workbook [not SENSE-7]

Counts
  participants   1,200
  conversations  7

Conditions
  a              3
  a longer name  4

Prompted condition
  name  a
  how   given

Topics
  work  7

Ratings
  overall    1,000 not rated, 2 rated
  affective  1 rated

Participants sheet: Participants
Characteristics: age, role
Never asked: Tasks.A, Messages.B
Not recorded: Tasks.C

2 warnings, 1,034 places
  warning: Tasks.A: odd
  error: Messages: no rating
"""


def test_everything_that_is_in_a_workbook_is_printed(capsys):
    print_description(DESCRIPTION)
    assert capsys.readouterr().out == PRINTED


def test_what_is_absent_is_said(capsys):
    nothing = {name: type(value)() for name, value in DESCRIPTION.items()}
    nothing |= {"name": "mine", "provenance": "not known"}
    print_description(
        nothing | {"prompted_condition": {"name": "not known", "how": "no name says so"}}
    )
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "mine: not known"
    assert said[-1] == "No warnings."
    assert set(said) >= {
        "Participants sheet: none; no further sheet has a PID column",
        "Never asked: nothing",
        "Not recorded: nothing",
    }


def test_many_entries_and_long_names_leave_the_rest_readable(capsys):
    many = {f"{'t' * 70}{number}": number for number in range(41)} | {"short": 1000}
    print_description(DESCRIPTION | {"topics": many})
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Topics")
    assert lines[start + 1] == f"  {'t' * 70}0  0"
    assert lines[start + 40 : start + 43] == [
        f"  {'t' * 70}39  39",
        "  and 2 more; --json lists all",
        "",
    ]
    print_description(DESCRIPTION | {"topics": {"t" * 70: 1, "short": 1000}})
    assert f"  {'short':<60}  1,000" in capsys.readouterr().out.splitlines()


def test_a_name_from_a_workbook_prints_nothing_but_itself(capsys):
    print_description(DESCRIPTION | {"name": "\x1b[31mred[/bold]"})
    assert (
        capsys.readouterr().out.splitlines()[0] == r"\x1b[31mred[/bold]: own workbook [not SENSE-7]"
    )


# Diagnostics themselves

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
    for line in (
        "mine: workbook mine.xlsx, given by its path",
        "  participants         3",
        "  assistant turns      8",
        "  plain-empathy  2",
        "  name  plain-empathy",
        "  how   guessed from its name",
        "  overall     8 rated",
        "Participants sheet: Participants",
        "Never asked: Messages.Cognitive",
        "Not recorded: Messages.Retry",
        "1 warning, 1 place",
    ):
        assert line in out
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
