"""Inputs that a search for crashes has kept, replayed: each is read or refused, soon and without much memory."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz import targets
from sense7.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", targets.TARGETS)
def test_every_kept_input_is_read_or_refused(name):
    inputs = targets.kept(name)
    assert inputs
    for place, content in inputs.items():
        started = time.process_time()  # the processor's, so that a busy machine is no finding
        try:
            targets.TARGETS[name](content)
        except BaseException as error:
            error.add_note(f"while reading {place} of {name}.zip")
            raise
        assert time.process_time() - started < targets.SECONDS, place


def test_a_target_lets_pass_refusals_only(monkeypatch):
    def fails(_):
        raise KeyError("a fault of the reader's")

    monkeypatch.setattr(targets, "read_workbook", fails)
    with pytest.raises(KeyError):
        targets.TARGETS["workbook"](b"")


def test_a_refusal_that_says_nothing_is_a_finding(monkeypatch):
    def refuses(_):
        raise UserError("bad file")

    monkeypatch.setattr(targets, "read_workbook", refuses)
    with pytest.raises(AssertionError, match="names the place and how to fix it"):
        targets.TARGETS["workbook"](b"")


def test_without_atheris_the_search_refuses_and_says_how_to_get_it(tmp_path):
    # A folder that can't be imported from comes first: as if atheris weren't installed, though it may be.
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'atheris' else find(name, *rest)\n"
    )
    done = subprocess.run(
        [sys.executable, ROOT / "evidence" / "fuzzing.py", "reply"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'atheris" in done.stderr
    assert "Traceback" not in done.stderr
