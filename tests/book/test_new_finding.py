"""`sense7 new`: a copy of a real finding that works as it is."""

import runpy
import shutil
import sys
from pathlib import Path

import pytest

import sense7.findings
from sense7.book.notebooks import find_notebooks
from sense7.cli.book import EXAMPLE, new
from sense7.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    old = EXAMPLE.partition("-")[2]
    for path in (
        f"src/sense7/findings/{old}.py",
        f"tests/findings/test_{old}.py",
        f"notebooks/{EXAMPLE}.md",
        "data/claims.yml",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    monkeypatch.setattr("sense7.checkout.find_checkout", lambda: tmp_path)
    return tmp_path


def test_the_copy_is_a_finding_of_its_own(checkout, monkeypatch):
    new("length-of-turns")
    here = [*sense7.findings.__path__, str(checkout / "src/sense7/findings")]
    monkeypatch.setattr(sense7.findings, "__path__", here)
    tests = runpy.run_path(str(checkout / "tests/findings/test_length_of_turns.py"))
    copied = sys.modules.pop("sense7.findings.length_of_turns")
    assert [thing for thing in tests.values() if thing is copied]
    assert copied.__file__ == str(checkout / "src/sense7/findings/length_of_turns.py")
    assert [one.name for one in find_notebooks(checkout)] == [EXAMPLE, "06-length-of-turns"]
    code = (checkout / "notebooks/06-length-of-turns.md").read_text("utf-8")
    assert 's7.Recorder("06-length-of-turns", results)' in code
    assert "from sense7.findings import length_of_turns" in code
    assert "length_of_turns.importance_shares(study, bootstrap)" in code


@pytest.mark.parametrize("name", ["", "Length", "length of turns", "1st", "../up", "a--b", "é", "x" * 41, "importance"])
def test_a_name_that_can_not_be_one_is_refused_and_nothing_written(checkout, name):
    before = sorted(checkout.rglob("*"))
    with pytest.raises(UserError, match="Give"):
        new(name)
    assert sorted(checkout.rglob("*")) == before
