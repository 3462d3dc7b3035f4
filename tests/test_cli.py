"""The command line as users and workflows meet it: messages, last lines, exit codes, no traceback."""

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from helpers import naming
from helpers.checkout import environment_of
from helpers.interrupting import Ended, require_full
from sense7.book.editions import FORMAT, write_manifest
from sense7.book.ledger import read_ledger
from sense7.checkout import find_project
from sense7.workbook.reading import reading_path
from sense7.workbook.xlsx import read_sheets

ROOT = Path(__file__).resolve().parents[1]
SENSE7 = Path(sys.executable).with_name("sense7")
LONG = partial(pytest.param, marks=pytest.mark.long)


def run(*arguments, cwd=None, **environment):
    """Run the command as users do."""
    command = [SENSE7, *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment_of(**environment),
    )


@pytest.fixture
def call(run_here):
    """Run it in this process, which takes less time."""
    return lambda *arguments, **more: run_here(
        *arguments, cwd=Path.cwd(), environment=environment_of(**more)
    )


def refused(done, *parts):
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", *map(LONG, ["cp1252", "latin-1", "utf-8"])])
@pytest.mark.parametrize("arguments", [("check", "\u5f20.xlsx"), ("--help",), ("\u5f20",)])
def test_letters_that_an_output_lacks_are_escaped(tmp_path, encoding, arguments):
    done = run(*arguments, cwd=tmp_path, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert done.returncode == (0 if arguments == ("--help",) else 2)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk of Linux")
def test_an_output_onto_a_full_disk_is_a_message():
    command = [SENSE7, "check", "synthetic", "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    require_full(Ended(done.returncode, "", done.stderr, 0), "standard output")


SMALL = ("-p", "participants=8", "-p", "conversations=16")
"""All of one size: what it implies is computed once in a process."""

SIMULATE = "simulate --out x.xlsx"
REFUSED = {
    # What was meant
    "biuld": ["'biuld'", "'build'", "sense7 --help"],
    "build --quite": ["--quite", "--quiet", "sense7 build --help"],
    "judge rnu": ["'rnu'", "'run'", "sense7 judge --help"],
    # Data sets, editions and notebooks
    "check": ["'DATA'"],
    "check ofical": ["ofical", "synthetic, official", "official?"],
    "build ofical": ["ofical", "synthetic, official"],
    "build official": ["sense7 fetch official"],
    "ledger nowhere": ["nowhere", "sense7 build "],
    # Parameters
    "build --jobs 0": ["--jobs", "0"],
    "build synthetic -p draws": ["draws", "NAME=VALUE"],
    "build synthetic -p draws=5 -p seed=yes -p color=1 -p confidence=.nan": [
        "draws = 5",
        "seed = True",
        "color",
        "confidence = nan",
    ],
    # Simulations
    "simulate --out x.xlsx --seed -1": ["--seed", "-1"],
    f"{SIMULATE} -p judge_signal=9": ["judge_signal is 9", "0 to 3"],
}


@pytest.mark.parametrize(("command", "places"), REFUSED.items(), ids=REFUSED)
def test_what_can_not_be_done_is_refused_at_once(command, places, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*command.split(), SENSE7_CACHE=tmp_path / "none")
    refused(done)
    # Which editions there are, and so what is advised, depends on the checkout.
    naming.check(done.stderr, *places)
    assert "executed" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_simulate_writes_a_workbook_that_knows_it_is_synthetic(tmp_path, call):
    out = tmp_path / "mine.xlsx"
    done = call("simulate", "--out", out, "--seed", 3, *SMALL)
    assert done.returncode == 0, done.stderr
    judged = [tmp_path / "mine_judge" / f"simulated-judge-iter{run}.xlsx" for run in range(1, 11)]
    assert done.stdout.split() == list(map(str, (out, *judged)))
    assert sorted(judged) == sorted((tmp_path / "mine_judge").iterdir())
    copy = tmp_path / "copy.xlsx"
    copy.write_bytes(out.read_bytes())
    reading_path(copy).write_bytes(reading_path(out).read_bytes())
    for path in (out, copy):
        naming.check(call("check", path).stdout.splitlines()[0], path.stem, "synthetic")
    assert len(read_sheets(out)["Tasks"].rows) == 16


@pytest.fixture
def checkout(tmp_path):
    """What is enough of a checkout for the ledger's verbs."""
    (tmp_path / "notebooks").mkdir()
    shutil.copyfile(ROOT / "_config.yml", tmp_path / "_config.yml")
    return tmp_path


def ledger_row(name, state, grade="A", release=None):
    computed = {"estimate": 4, "low": None, "high": None, "n": 672, "unit": "conditions"}
    claim = {"title": f"[bold]{name}", "grade": grade, "shown": "4", "contradiction": None}
    row = {"id": name, "published": claim | {"release": release}}
    row |= {"computed": computed | {"reason": None}}
    return row | {"state": state, "why": "", "rehearsal": None}


def write_ledger(root, name, *rows, verified=False):
    folder = root / "_build" / "editions" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ledger.json").write_text(json.dumps(rows), "utf-8")
    facts = {"format": FORMAT, "label": f"the data of {name}", "kind": name, "verified": verified}
    facts |= {"verdicts": "Ledger: a line", "verdicts_of_other_works": "Other works: a line"}
    (folder / "edition.json").write_text(json.dumps(facts), "utf-8")
    write_manifest(folder)


def test_the_ledger_is_printed_with_every_claim(call):
    assert call("build", "--quiet").returncode == 0
    done = call("ledger")
    assert done.returncode == 0, done.stderr
    rows, _ = read_ledger(find_project().place, "synthetic")
    assert len(rows) > 20
    shown = "".join(done.stdout.split())
    for row in rows:
        first_word = row["state"].split()[0]  # the table wraps longer states
        assert first_word in shown
    assert "Contradiction:" in done.stdout
    strict = call("ledger", "synthetic", "--strict")
    assert strict.returncode == 1, "only the official workbook is compared with the paper"
    naming.check(strict.stderr, "synthetic: ", "sense7 fetch official", "sense7 build official")


OTHER_WORKS = [ledger_row(name, name, release=["ieval"]) for name in ("reproduced", "differs")]
"""They are compared with their own numbers in every edition: no word on the paper, for or against."""


@pytest.mark.parametrize(
    ("rows", "verified", "code"),
    [
        ([ledger_row("a", "met"), ledger_row("b", "in no release")], True, 0),
        ([ledger_row("a", "met"), ledger_row("b", "not met")], True, 1),
        ([ledger_row("b", "not met", grade="B")], True, 1),
        ([ledger_row("b", "not met", grade="C"), ledger_row("d", "not met", grade="D")], True, 0),
        ([ledger_row("a", "reproduced"), *OTHER_WORKS], True, 0),
        ([ledger_row("a", "not comparable"), *OTHER_WORKS], False, 1),
        ([ledger_row("a", "met"), ledger_row("b", "met")], False, 1),
    ],
)
def test_strict_fails_unless_the_authors_workbook_agrees(checkout, rows, verified, code, call):
    write_ledger(checkout, "official", *rows, verified=verified)
    done = call("ledger", "official", "--strict", root=checkout)
    assert done.returncode == code
    assert bool(done.stderr) is bool(code)
    if code:
        naming.check(done.stderr, ": b" if verified else "sense7 fetch official")
    assert "[bold]" in done.stdout, "titles are text, not markup of the terminal"
    assert call("ledger", "official", root=checkout).returncode == 0


def test_a_name_of_no_edition_leads_to_what_to_run(checkout, call):
    missing = call("ledger", "mine", root=checkout)
    refused(missing)
    naming.check(missing.stderr, "mine", "sense7 build synthetic")
    write_ledger(checkout, "mine", ledger_row("a", "met"))
    refused(call("ledger", "mien", root=checkout), "mine?")
    refused(call("ledger", "other", root=checkout), "sense7 build WORKBOOK --name other")
