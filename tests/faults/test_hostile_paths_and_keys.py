"""No path that a user or a notebook gives leads out of its folder, and the judge's key is in no file and no message."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from helpers import checkout as small
from helpers.extras import need_the_judge
from sense7 import cli
from sense7.book import execute
from sense7.book.execute import rerun
from sense7.book.plan import plan
from sense7.errors import UserError
from sense7.judge.endpoint import KEYS, Endpoint, without_keys
from sense7.record import Recorder

KEY = "sk-hostile-0123456789abcdef"
TELLING = "import json, os\n\nprint(json.dumps(dict(os.environ)), os.popen('env').read())\n\n"
"""A cell that shows its whole environment, and that of the programs it starts."""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    made = small.Checkout(tmp_path / "checkout")
    monkeypatch.setenv("SENSE7_ROOT", str(made.root))
    return made


def holding(folder, secret):
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


# Paths


@pytest.mark.parametrize("name", ["../01-a", "/tmp/01-a", "a/b", "."])  # noqa: S108 - nothing is written
def test_a_recorder_writes_into_its_folder_only(name, tmp_path):
    with pytest.raises(ValueError, match="is no name of a notebook"):
        Recorder(name, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_looks_like_a_path_is_a_key(tmp_path):
    record = Recorder("01-a", tmp_path / "results")
    record.value("../../evil", 1, n=1, unit="things", method="counted")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == ["results/01-a.json"]


@pytest.mark.parametrize("place", ["../../elsewhere", "/elsewhere", "results", "~/elsewhere"])
def test_the_place_of_values_is_no_parameter(place, checkout, tmp_path):
    checkout.notebook("01-a", "1")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="Choose its place by --out"):
        rerun(checkout.root, "01", {"results": place}, out=tmp_path / "copy.ipynb")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_in_the_place_of_values_is_not_followed(checkout, tmp_path):
    checkout.notebook("01-a", small.recording("01-a", "a"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.json").write_text("[]", encoding="utf-8")
    (tmp_path / "copy.results").symlink_to(outside, target_is_directory=True)
    with pytest.raises(UserError, match="symbolic link"):
        rerun(checkout.root, "01", {}, out=tmp_path / "copy.ipynb")
    assert [path.name for path in outside.iterdir()] == ["precious.json"]
    assert not (tmp_path / "copy.ipynb").exists()


# The judge's key


def test_no_notebook_of_a_book_can_show_the_key(checkout, monkeypatch):
    """Whether its kernel was forked or started fresh: what a cell prints of its environment holds no key."""
    for name in KEYS:
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("HARMLESS", "seen-by-notebooks")
    for name in ("01-a", "02-b"):
        checkout.notebook(name, small.recording(name, f"seed_of_{name}", before=TELLING))
    for fork in (2, 99):
        monkeypatch.setattr(execute, "WORTH_FORKING", fork)
        given = {"data": "mine", "results": "../results"}
        jobs = plan(checkout.root, given, f"digest {fork}")
        edition = checkout.root / f"edition {fork}"
        execute.run(jobs, edition, checkout.root / "cache", workers=2)
        assert len(holding(edition, "seen-by-notebooks")) == 2
    assert holding(checkout.root, KEY) == []


def test_only_keys_are_kept_back():
    environ = dict.fromkeys([*KEYS, "PATH", "SENSE7_ROOT"], "x")
    assert without_keys(environ) == {"PATH": "x", "SENSE7_ROOT": "x"}
    assert not KEYS & without_keys().keys()


CRASH = """
from sense7.cli import main
from sense7.judge import session

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
    asked = ["--data", checkout.root / "mine.xlsx", "--base-url", "https://127.0.0.1:9/v1", "--out", "session", "--yes"]
    command = [sys.executable, "-c", CRASH, "judge", "run", *map(str, asked)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "RuntimeError: Plan(" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert holding(tmp_path, KEY) == []


@pytest.mark.parametrize("verb", [["--help"], ["judge", "--help"], ["judge", "run", "--help"]])
def test_the_help_does_not_hold_the_key(verb, monkeypatch):
    for name in KEYS:
        monkeypatch.setenv(name, KEY)
    said = CliRunner().invoke(cli.app, verb)
    assert said.exit_code == 0
    assert KEY not in said.output


def test_an_endpoint_shows_its_key_to_nobody_who_did_not_ask_for_it():
    endpoint = Endpoint.of("https://example.org/v1", {"SENSE7_JUDGE_KEY": KEY})
    assert endpoint.key == KEY
    for shown in (repr(endpoint), str(endpoint), f"{endpoint}", json.dumps({"endpoint": str(endpoint)})):
        assert KEY not in shown
