"""What is found in a workbook, as it is said: place, value, what was done."""

import json

import pytest

from helpers import naming
from helpers.studies import write_study

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
