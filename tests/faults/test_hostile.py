"""What people write stays text, no path leads out of its folder, and the judge's key is in no file and no message."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import checkout as small
from helpers import hostile
from helpers.endpoint import need_the_judge
from helpers.studies import write_study
from sense7 import cli, tables
from sense7.book import run
from sense7.book.run import execute_notebooks, in_threads, plan
from sense7.cli.common import print_table
from sense7.judge.files import write_predictions
from sense7.processes import KEYS

PAYLOADS = hostile.texts("payload")
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, or would be shown other than it is; line breaks apart."""


@pytest.fixture(scope="module")
def workbook(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / hostile.FILE
    write_study(hostile.sheets(), path)
    return path


# What is shown


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_table_and_a_sentence_show_a_text_as_it_is(payload):
    frame = pd.DataFrame({payload: [payload]}, index=pd.Index([payload], name=payload))
    for shown in (tables.plain(frame, payload), tables.Sentence(payload)):
        page = BeautifulSoup(shown._repr_html_(), "html.parser")
        known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "em"}
        assert {tag.name for tag in page.find_all()} <= known
        attributes = [(name, tag[name]) for tag in page.find_all() for name in tag.attrs]
        assert {name for name, _ in attributes} <= {"class", "scope", "style"}
        assert {value for name, value in attributes if name == "style"} <= {"text-align: left"}
        for place in page.select("td, caption, em"):
            assert " ".join(place.get_text().split()) == " ".join(payload.split())
        assert not STEERS.search(repr(shown))


# The terminal


def test_a_table_in_a_terminal_shows_marks_of_its_program_as_text(capsys):
    print_table("[b]title[/b] :cat:", ["head"], [["[red]cell[/] :dog:"]])
    shown = capsys.readouterr().out
    assert "[b]title[/b] :cat:" in shown
    assert "[red]cell[/] :dog:" in shown


def test_nothing_that_a_command_prints_steers_the_terminal(workbook, monkeypatch, capsys, tmp_path):
    text = hostile.text("model", 50)
    frame = pd.DataFrame({"conversation": ["C1", text], "participant": ["P1", "P2"], "score": 3.0})
    frame = frame.assign(status="ok", ground_truth=[3.0, 4.0], model=text)
    write_predictions(tmp_path / "a.xlsx", frame)
    write_predictions(tmp_path / f"{text[:9]}\x1b[31m.xlsx", frame.iloc[1:])
    for arguments in (
        ["check", workbook],
        ["check", workbook, "--json"],
        ["check", tmp_path / text[:20]],
        ["build", workbook, "--name", text],
        ["ledger", text],
        ["run", text],
        ["fetch", text],
        ["judge", "evaluate", tmp_path, "--draws", 20],
        ["judge", "evaluate", tmp_path, "--draws", 20, "--json"],
    ):
        monkeypatch.setattr(sys, "argv", ["sense7", *map(str, arguments)])
        with pytest.raises(SystemExit):
            cli.main()
        said = capsys.readouterr()
        assert said.out + said.err != ""
        assert not STEERS.search(said.out + said.err), arguments


KEY = "sk-hostile-0123456789abcdef"
TELLING = "import json, os\n\nprint(json.dumps(dict(os.environ)), os.popen('env').read())\n\n"
"""A cell that shows its whole environment, and that of the programs it starts."""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    made = small.Checkout(tmp_path / "checkout")
    monkeypatch.setenv("SENSE7_ROOT", str(made.root))
    return made


def holding(folder, secret):
    files = filter(Path.is_file, folder.rglob("*"))
    return [path for path in files if secret.encode() in path.read_bytes()]


# The judge's key


def test_no_notebook_of_a_book_can_show_the_key(checkout, monkeypatch):
    """Whether its kernel was forked or started fresh: what a cell prints of its environment holds no key."""
    for name in KEYS:
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("HARMLESS", "seen-by-notebooks")
    for name in ("01-a", "02-b"):
        checkout.notebook(name, small.recording(name, f"seed_of_{name}", before=TELLING))
    for forks in (run.FORKS, False):
        monkeypatch.setattr(run, "FORKS", forks)
        given = {"data": "mine", "results": "../results"}
        jobs = plan(checkout.root, given, f"digest {forks}")
        edition = checkout.root / f"edition {forks}"
        cache = checkout.root / "cache"
        with in_threads(jobs, cache, 2) as execution:
            execute_notebooks(jobs, edition, cache, execution, failed=cache / "failed")
        assert len(holding(edition, "seen-by-notebooks")) == 2
    assert holding(checkout.root, KEY) == []


CRASH = """
from sense7.cli import main
from sense7.judge.asking import session

def crash(plan, **options):
    local = plan.endpoint
    raise RuntimeError(f"{plan!r} {plan.endpoint!r} {vars(plan)!r} {options!r}")

session.carry_out = crash
main()
"""
"""The command, but for a fault of its own that shows all it can."""


def test_a_traceback_does_not_hold_the_key(checkout, tmp_path):
    need_the_judge()
    environment = {name: value for name, value in os.environ.items() if name not in KEYS}
    environment |= {"SENSE7_JUDGE_KEY": KEY, "HOME": str(tmp_path), "INSPECT_TRACEBACK_LOCALS": "1"}
    asked = ["--data", checkout.root / "mine.xlsx", "--base-url", "https://127.0.0.1:9/v1"]
    asked += ["--out", "session", "--yes"]
    command = [sys.executable, "-c", CRASH, "judge", "run", *map(str, asked)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "RuntimeError: Plan(" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert holding(tmp_path, KEY) == []
