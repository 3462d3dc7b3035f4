"""`sense7 new finding`: what it writes works as it is, and keeps the rules of a finding."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

import sense7.findings
from sense7.book.new_finding import write_finding
from sense7.book.notebooks import find_notebooks, to_ipynb
from sense7.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def begun(checkout, monkeypatch):
    """A small checkout with a new finding, whose module this process can import."""
    checkout.book()
    assert checkout.call("new", "finding", "length-of-turns", "--title", "How long are turns?").returncode == 0
    monkeypatch.setattr(
        sense7.findings, "__path__", [*sense7.findings.__path__, str(checkout.root / "src/sense7/findings")]
    )
    monkeypatch.setenv("SENSE7_ROOT", str(ROOT))  # where the data are
    yield checkout
    sys.modules.pop("sense7.findings.length_of_turns", None)


def test_the_notebook_runs_and_records_under_the_findings_name(begun, tmp_path):
    (notebook,) = [one for one in find_notebooks(begun.root) if one.name == "02-length-of-turns"]
    names = {}
    for cell in nbformat.reads(to_ipynb(notebook), 4).cells:
        if cell.cell_type == "code":
            exec(cell.source, names)  # noqa: S102 -- the template's own code
            if "parameters" in cell.metadata.get("tags", ()):
                names |= {"results": str(tmp_path), "draws": 100}
    (value,) = json.loads((tmp_path / "02-length-of-turns.json").read_text("utf-8"))
    assert value["key"] == "length_of_turns_mean"
    assert 1 < value["low"] < value["estimate"] < value["high"] < 5


def test_the_test_and_the_doctest_pass(begun):
    run = (
        "import sys, sense7.findings as f, pytest; f.__path__.append(sys.argv[1]); sys.exit(pytest.main(sys.argv[2:]))"
    )
    (begun.root / "tests" / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    module = importlib.import_module("sense7.findings.length_of_turns")
    options = ["-q", "-n", "0", "-c", "/dev/null", f"--rootdir={begun.root}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-c", run, str(Path(module.__file__).parent), *options]
    done = subprocess.run(
        [*command, str(begun.root / "tests" / "findings")],
        capture_output=True,
        text=True,
        check=False,
        cwd=begun.root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    import doctest

    assert doctest.testmod(module) == (0, 4)


def test_its_page_is_in_the_table_of_contents(begun):
    toc = yaml.safe_load((begun.root / "_toc.yml").read_text("utf-8"))
    files = [chapter["file"] for chapter in toc["chapters"]]
    assert files == ["book/ledger", "notebooks/01-a", "notebooks/02-length-of-turns"]


def test_what_is_written_is_said_and_a_second_one_of_the_name_is_refused(begun):
    before = sorted(begun.root.rglob("*"))
    done = begun.call("new", "finding", "length-of-turns")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is a finding of this name" in done.stderr
    assert sorted(begun.root.rglob("*")) == before


@pytest.mark.parametrize("name", ["", "Length", "length of turns", "1st", "../up", "class", "a--b", "é", "x" * 41])
def test_a_name_that_can_not_be_one_is_refused_and_nothing_written(checkout, name):
    checkout.book()
    before = sorted(checkout.root.rglob("*"))
    with pytest.raises(UserError, match="can't be the name of a finding"):
        write_finding(checkout.root, name)
    assert sorted(checkout.root.rglob("*")) == before


def test_names_of_findings_that_are_here_are_taken():
    for name in ("agreement", "poor-turn", "felt-heard"):
        with pytest.raises(UserError, match="there is a finding of this name"):
            write_finding(ROOT, name)


def test_the_next_number_follows_the_last(checkout):
    checkout.book(name="41-a")
    *_, notebook, contents = write_finding(checkout.root, "b")
    assert (notebook.name, contents.name) == ("42-b.md", "_toc.yml")
