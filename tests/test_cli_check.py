"""``sense7 check``: what is said of good files, and one clear message for every bad one."""

import json
import sys

import pytest

from sense7 import cli
from sense7.workbook import write_sheets


@pytest.fixture
def check(monkeypatch, capsys):
    """Run the verb; give its exit code, its output and its messages."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sense7", "check", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return caught.value.code or 0, shown.out, shown.err

    return run


@pytest.fixture
def workbook(minimal_sheets, tmp_path):
    """Write a minimal workbook with changes; see ``minimal_sheets``."""

    def write(**changes):
        write_sheets(minimal_sheets(**changes), tmp_path / "mine.xlsx")
        return tmp_path / "mine.xlsx"

    return write


def test_it_says_what_is_in_a_workbook(check, workbook):
    code, out, err = check(workbook(messages={"Cognitive": None, "Retry": None, "Mood": "x"}))
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
        "Not matched: Messages.Mood",
        "1 warning, 1 place",
    ):
        assert line in out
    assert "warning: sheet Messages, column Mood: the official format does not describe this column" in out


def test_a_clean_workbook_has_nothing_to_say_of(check, workbook):
    code, out, _ = check(workbook(), "--strict")
    assert code == 0
    assert "No warnings." in out
    assert "Never asked: nothing" in out


def test_as_json_it_is_complete(check, workbook):
    path = workbook(messages={"Affective": [None, "splendid"] * 8})
    code, out, _ = check(path, "--json", "--allow-unreadable")
    description = json.loads(out)
    assert code == 0
    assert description["counts"]["conversations"] == 4
    (diagnostic,) = description["diagnostics"]
    assert diagnostic["kind"] == "unknown-word"
    assert (diagnostic["sheet"], diagnostic["column"], diagnostic["value"]) == ("Messages", "Affective", "splendid")
    assert diagnostic["rows"] == [3, 5, 7, 9, 11, 13, 15, 17]
    assert diagnostic["count"] == 8
    assert "very poor" in diagnostic["fix"]


def test_strict_makes_warnings_errors(check, workbook):
    path = workbook(messages={"Mood": "x", "Affective": [None, "splendid"] * 8})
    code, out, err = check(path, "--strict", "--allow-unreadable")
    assert (code, out) == (2, "")
    assert "2 things found by --strict" in err
    assert "column Mood" in err
    assert "'splendid'" in err


def test_the_prompted_condition_can_be_given(check, workbook):
    assert "  name  plain\n  how   given" in check(workbook(), "--prompted", "plain")[1]
    code, out, err = check(workbook(), "--prompted", "gpt")
    assert (code, out) == (2, "")
    assert "no condition 'gpt'" in err


def test_all_errors_are_said_at_once(check, workbook):
    code, out, err = check(workbook(tasks={"PID": ...}, messages={"Role": ..., "Mood": "x"}))
    assert (code, out) == (2, "")
    assert err.startswith("sense7: ")
    for part in ("key column PID", "key column Role", "column Mood", "Fix: "):
        assert part in err


def test_text_from_a_workbook_cannot_steer_the_terminal(check, workbook):
    evil = "\x1b[2J\r[bold]x[/bold]\u202e"
    _, out, _ = check(workbook(tasks={"Model": evil, "PreTaskChoice": evil}, messages={f"{evil}": evil}))
    assert "\\x1b[2J\\r[bold]x[/bold]\\u202e" in out
    assert not {"\x1b", "\r", "\u202e"} & set(out)


def test_many_topics_are_cut_short(check, workbook):
    many = [f"C{index}" for index in range(100)]
    path = workbook(tasks={"TaskId": many, "PID": many, "PreTaskChoice": many}, participants=None)
    _, out, _ = check(path)
    assert "and 60 more; --json lists all" in out
    assert len(json.loads(check(path, "--json")[1])["topics"]) == 100
