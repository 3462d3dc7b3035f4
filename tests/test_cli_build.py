"""The verbs that make books, as users and workflows meet them: last lines, exit codes, no traceback."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sense7.book.manifest import write_manifest

ROOT = Path(__file__).resolve().parents[1]


def environment_of(root):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SENSE7_", "GITHUB_"))}
    return kept | ({"SENSE7_ROOT": str(root)} if root else {})


def run(*arguments, root=None, cwd=None):
    """Run the command as users do."""
    return subprocess.run(
        [sys.executable, "-c", "from sense7.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd or ROOT,
        env=environment_of(root),
    )


@pytest.fixture
def call(run_here):
    """Run it in this process, which takes less time."""
    return lambda *arguments, root=None: run_here(*arguments, cwd=ROOT, environment=environment_of(root))


@pytest.fixture
def checkout(tmp_path):
    """What is enough of a checkout for the ledger's verbs."""
    (tmp_path / "notebooks").mkdir()
    shutil.copyfile(ROOT / "_config.yml", tmp_path / "_config.yml")
    return tmp_path


def ledger_row(name, verdict, grade="A", estimate=4, release=None):
    computed = {"estimate": estimate, "low": None, "high": None, "n": 672, "unit": "conditions", "reason": None}
    claim = {"title": f"[bold]{name}", "grade": grade, "shown": "4", "contradiction": None, "release": release}
    row = {"id": name, "published": claim, "computed": computed, "verdict": verdict, "tuned": False}
    return row | {"rule": {"mark": "passed by these data", "why": None}, "check": None}


def write_ledger(root, name, *rows):
    folder = root / "_build" / "editions" / name
    folder.mkdir(parents=True)
    (folder / "ledger.json").write_text(json.dumps(rows), "utf-8")
    (folder / "edition.json").write_text(json.dumps({"label": f"the data of {name}"}), "utf-8")
    write_manifest(folder)


def test_the_last_line_of_a_build_is_the_front_page_and_the_one_before_the_verdicts(tmp_path, call):
    first = run("build", "synthetic", cwd=tmp_path)  # from anywhere: the library knows its checkout
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-1] == str(ROOT / "_build" / "editions" / "synthetic" / "html" / "index.html")
    assert first.stdout.splitlines()[-2].startswith("Ledger: ")
    again = call("build", "--quiet")
    assert again.returncode == 0
    assert again.stdout == first.stdout
    assert again.stderr == ""
    assert "nothing changed since this edition was built" in call("build").stderr


def test_the_ledger_is_printed_with_every_claim(call):
    done = call("ledger")
    assert done.returncode == 0, done.stderr
    rows = json.loads(call("ledger", "synthetic", "--json").stdout)
    assert len(rows) > 20
    shown = "".join(done.stdout.split())
    for row in rows:
        assert "".join(row["rule"]["mark"].split()) in shown
    assert "Contradiction:" in done.stdout
    strict = call("ledger", "synthetic", "--strict")
    assert strict.returncode == 1, "only the official workbook is compared with the paper"
    assert "synthetic: nothing was compared with the paper" in strict.stderr


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([ledger_row("a", "reproduced"), ledger_row("b", "cannot be computed here")], 0),
        ([ledger_row("a", "reproduced"), ledger_row("b", "differs")], 1),
        ([ledger_row("b", "differs", grade="B")], 1),
        ([ledger_row("b", "differs", grade="C"), ledger_row("d", "differs", grade="D")], 0),
    ],
)
def test_strict_fails_where_the_official_workbook_differs_from_a_primary_figure(checkout, rows, code, call):
    write_ledger(checkout, "official", *rows)
    done = call("ledger", "official", "--strict", root=checkout)
    assert done.returncode == code
    assert ("differs from a primary figure: b" in done.stderr) is bool(code)
    assert "[bold]" in done.stdout, "titles are text, not markup of the terminal"
    assert call("ledger", "official", root=checkout).returncode == 0


@pytest.mark.parametrize("name", ["official", "mine"])
def test_strict_fails_where_nothing_was_compared_with_the_paper(checkout, name, call):
    """It printed a note and ended with 0 for an unverified copy, as if that had reproduced the paper."""
    write_ledger(checkout, name, ledger_row("a", "not comparable"), ledger_row("b", "not comparable"))
    done = call("ledger", name, "--strict", "--json", root=checkout)
    assert done.returncode == 1
    assert f"{name}: nothing was compared with the paper, since these data are: the data of {name}" in done.stderr
    assert "sense7 fetch official" in done.stderr
    assert json.loads(done.stdout)[0]["verdict"] == "not comparable"


@pytest.mark.parametrize(("about_sense_7", "code"), [("reproduced", 0), ("not comparable", 1)])
def test_strict_does_not_look_at_other_works(checkout, about_sense_7, code, call):
    """They are compared with their own numbers in every edition: that is no word on the paper, for or against."""
    others = [ledger_row(name, name, release=["ieval"]) for name in ("reproduced", "differs")]
    write_ledger(checkout, "official", ledger_row("a", about_sense_7), *others)
    done = call("ledger", "official", "--strict", root=checkout)
    assert done.returncode == code
    assert "Claims about other works, compared with the numbers that they released" in done.stdout


def test_an_edition_that_is_not_there_is_named_with_those_that_are(checkout, call):
    write_ledger(checkout, "mine", ledger_row("a", "not comparable"))
    done = call("ledger", "yours", root=checkout)
    assert done.returncode == 2
    assert "no edition 'yours' yet (present: mine)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", [["build"], ["ledger"], ["notebooks"]])
def test_a_folder_that_is_no_checkout_is_refused(tmp_path, verb, call):
    done = call(*verb, root=tmp_path)
    assert done.returncode == 2
    assert "not a checkout" in done.stderr


def test_derived_notebooks_can_be_checked_and_written(checkout, call):
    shutil.copyfile(ROOT / "notebooks" / "01-dataset.md", checkout / "notebooks" / "01-dataset.md")
    stale = call("notebooks", "--check", root=checkout)
    assert stale.returncode == 1
    assert "01-dataset.ipynb" in stale.stderr
    assert call("notebooks", root=checkout).stdout == "1 written\n"
    assert call("notebooks", "--check", root=checkout).stdout == "up to date\n"
    derived = (checkout / "notebooks" / "01-dataset.ipynb").read_bytes()
    assert derived == (ROOT / "notebooks" / "01-dataset.ipynb").read_bytes()
