"""What is found in a workbook, as it is said: place, value, what was done."""

import importlib.resources
import json
import tomllib

import pytest

from helpers import naming
from helpers.studies import write_study
from sense7.workbook.diagnostics import Diagnostics, WorkbookError

ENTRIES = tomllib.loads(
    (importlib.resources.files("sense7.workbook") / "diagnostics.toml").read_text("utf-8")
)


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
    assert diagnostic.to_dict() == {
        "severity": "notice",
        "kind": "unknown-column",
        "sheet": "Tasks",
        "column": "C",
        "position": 2,
        "rows": [2, 7],
        "value": "3",
        "values": ["3"],
        "problem": diagnostic.problem,
        "fix": diagnostic.fix,
        "count": 2,
    }
    naming.check(
        diagnostic,
        "sheet Tasks, column C, cells C2, C7: '3': ",
        diagnostic.problem,
        diagnostic.fix,
    )


@pytest.mark.parametrize(
    ("entries", "things"),
    [
        (["no-conversation"], 1),
        (["no-conversation", "orphan"], 1),
        (["no-conversation", "no-rating"], 2),
    ],
)
def test_an_error_lists_everything_once(entries, things):
    diagnostics = found(*entries)
    message = str(WorkbookError("mine.xlsx", diagnostics))
    naming.check(message, f"mine.xlsx: {things} thing")
    for diagnostic in diagnostics:
        assert message.count(f"{diagnostic.severity}: {diagnostic}") == 1


def test_there_are_few_kinds_and_each_says_what_to_do():
    assert len(ENTRIES) <= 45
    for entry, said in ENTRIES.items():
        assert said.get("severity", "warning") in {"error", "warning", "notice"}, entry
        assert said["fix"].endswith("."), entry


# The verb


@pytest.fixture
def check(minimal_sheets, tmp_path, sense7):
    """Check a minimal workbook with changes; give the exit code, the output and the messages."""

    def run(*options, **changes):
        write_study(minimal_sheets(**changes), tmp_path / "mine.xlsx")
        return sense7("check", tmp_path / "mine.xlsx", *options)

    return run


def test_it_says_what_is_in_a_workbook(check):
    code, out, err = check(messages={"Cognitive": None, "Retry": None, "Mood": "x"})
    assert (code, err) == (0, "")
    naming.check(
        "\n".join(" ".join(line.split()) for line in out.splitlines()),
        "mine.xlsx",
        "participants 3\n",
        "assistant turns 8\n",
        "plain-empathy 2\n",
        "name plain-empathy\n",
        "overall 8 rated\n",
        "Participants sheet: Participants\n",
        "Messages.Cognitive",
        "Messages.Retry",
        "No warnings",
        "sheet Messages, column Mood: ",
    )


ROLES = ["user", "bot", "user", "assistant"] * 4


def test_as_json_it_is_complete(check):
    code, out, _ = check("--json", messages={"Role": ROLES})
    description = json.loads(out)
    assert (code, description["counts"]["conversations"]) == (0, 4)
    diagnostic, _ = description["diagnostics"]
    assert diagnostic["kind"] == "unknown-role"
    place = (diagnostic["sheet"], diagnostic["column"], diagnostic["value"])
    assert place == ("Messages", "Role", "bot")
    assert (diagnostic["rows"], diagnostic["count"]) == ([3, 7, 11, 15], 4)
