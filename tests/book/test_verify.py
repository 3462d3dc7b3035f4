"""`sense7 verify`: an edition is recomputed from its own data, and every difference is found."""

import json
import os
import re
import shutil
import signal
import time

import numpy as np
import pytest

from helpers import naming
from helpers.checkout import SHARED_FILE, SHARED_JUDGE, SHARED_NAME
from sense7.book import verify
from sense7.book.verify import TOLERANCE, compare, verify_edition
from sense7.checkout import Project
from sense7.errors import BuildError
from sense7.sources import Provenance


@pytest.fixture
def verified(built, copy):
    """Verify the copy, whose values are taken from it and not computed."""
    return lambda: verify_edition(Project(built.root, built.root), str(copy))


@pytest.fixture
def computed(edition, monkeypatch):
    """Have the edition's own results and notebooks in place of what an execution gives."""

    def run(jobs, again, *_, **__):
        for name in ("results", "notebooks"):
            shutil.copytree(edition / name, again / name)

    monkeypatch.setattr(verify.execute, "run", run)


def change(path, old, new):
    text = path.read_text("utf-8")
    assert old in text, f"{path.name} does not hold {old!r}"
    path.write_text(text.replace(old, new, 1), "utf-8")


def found(comparison):
    return {
        (difference.part, difference.where, difference.name)
        for difference in comparison.differences
    }


# What is found


def test_an_untouched_edition_verifies_and_stays_as_it_is(built):
    before = built.bytes(SHARED_NAME)
    done = built.call("verify", SHARED_NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("verified")
    for kind in ("recorded values", "ledger", "files"):
        (row,) = [line for line in done.stdout.splitlines() if re.match(rf"│ {kind} +│", line)]
        compared, equal, near, different = (int(cell) for cell in re.findall(r"\d+", row))
        assert compared == equal > 0, kind
        assert near == different == 0, kind
    assert "01-a: executed" in done.stderr
    assert built.bytes(SHARED_NAME) == before


def test_whatever_was_tampered_with_is_found(copy, verified, computed):
    change(copy / "results" / "01-a.json", '"estimate": 7', '"estimate": 8')
    change(copy / "ledger.json", '"state": "needs the official workbook"', '"state": "met"')
    change(copy / "html" / "book" / "ledger.html", "<h1>Ledger", "<h1>Another ledger")
    change(copy / "notebooks" / "01-a.ipynb", "7", "8")
    comparison = verified()
    changed = ("results/01-a.json", "ledger.json", "html/book/ledger.html", "notebooks/01-a.ipynb")
    assert found(comparison) == {
        ("recorded values", "01-a", "seed_of_a.estimate"),
        ("ledger", "counted.state", ""),
        *(("files", f"{path} changed", "") for path in changed),
    }
    tampered = {
        difference.name: (difference.in_edition, difference.recomputed)
        for difference in comparison.differences
    }
    assert tampered["seed_of_a.estimate"] == ("8", "7")


def test_what_is_missing_or_too_much_is_found_on_the_command_line(built, copy, computed):
    values = json.loads((copy / "results" / "01-a.json").read_text("utf-8"))
    values[0]["key"] = "of_nobody"
    (copy / "results" / "01-a.json").write_text(json.dumps(values), "utf-8")
    # Digits that other machines may give otherwise do not count as a difference.
    change(copy / "ledger.json", '"n": 1', '"n": 1.0000000001')
    done = built.call("verify", copy)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for words in ("of_nobody.estimate", "seed_of_a.estimate", "absent"):
        assert words in done.stdout, words
    assert "differ" in done.stdout.splitlines()[-1]
    (row,) = [line for line in done.stdout.splitlines() if re.match(r"│ ledger +│", line)]
    compared, equal, near, different = (int(cell) for cell in re.findall(r"\d+", row))
    assert (compared, near, different) == (equal + 1, 1, 0)


@pytest.mark.parametrize(
    ("shown", "recomputed", "state"),
    [
        (0.961, 0.961, "equal"),
        (0.961, 0.961 * (1 + TOLERANCE / 2), "within the tolerance"),
        (0.961, 0.961 * (1 + 2 * TOLERANCE), "different"),
        (0.0, TOLERANCE / 2000, "within the tolerance"),
        (0.0, TOLERANCE, "different"),
        (5, 5.0, "within the tolerance"),
        (None, 0.0, "different"),
        ("reproduced", "differs", "different"),
        (True, 1, "different"),
    ],
)
def test_numbers_may_differ_by_the_stated_tolerance_and_nothing_else_may(shown, recomputed, state):
    assert compare(shown, recomputed) == state


# What can't be verified


def spoil_workbook(copy):
    with (copy / "data" / SHARED_FILE).open("ab") as stream:
        stream.write(b"x")


def replace_workbook(copy):
    """A workbook with a true record, but not the one that the edition was made of."""
    spoil_workbook(copy)
    record = copy / "data" / f"{SHARED_FILE}.provenance.json"
    content = json.loads(record.read_text("utf-8"))
    content["sha256"] = Provenance.of(copy / "data" / SHARED_FILE).sha256
    record.write_text(json.dumps(content), "utf-8")


def edit_facts(copy, **given):
    facts = json.loads((copy / "edition.json").read_text("utf-8"))
    facts["made"] |= given
    (copy / "edition.json").write_text(json.dumps(facts), "utf-8")


def forge_record(copy):
    record = copy / "data" / f"{SHARED_FILE}.provenance.json"
    content = json.loads(record.read_text("utf-8"))
    record.write_text(json.dumps(content | {"kind": "official"}), "utf-8")


def add_prediction(copy):
    (copy / "predictions" / "judge-iter1.csv").write_text(SHARED_JUDGE + "3,P3,2,2\n")


NOT_VERIFIED = {  # what becomes of the edition, what of it is named
    "gone": (shutil.rmtree, ["a copy: ", "sense7 build "]),
    "pages alone": (lambda copy: (copy / "edition.json").unlink(), ["a copy: "]),
    "no JSON": (lambda copy: (copy / "edition.json").write_text("{"), ["edition.json: "]),
    "an empty object": (lambda copy: (copy / "edition.json").write_text("{}"), ["edition.json: "]),
    "a list of parameters": (lambda copy: edit_facts(copy, parameters=[]), ["edition.json: "]),
    "a parameter of a build": (
        lambda copy: edit_facts(copy, parameters={"data": "/etc"}),
        ["edition.json: "],
    ),
    "a parameter out of range": (
        lambda copy: edit_facts(copy, parameters={"seed": -1}),
        ["seed = -1"],
    ),
    "nothing beside it": (lambda copy: edit_facts(copy, beside={}), ["predictions: "]),
    "no workbook": (
        lambda copy: (copy / "data" / SHARED_FILE).unlink(),
        [f"a copy/data/{SHARED_FILE}: "],
    ),
    "no ledger": (lambda copy: (copy / "ledger.json").unlink(), ["ledger.json: "]),
    "another prediction": (add_prediction, ["predictions: "]),
    "a byte more": (spoil_workbook, [f"a copy/data/{SHARED_FILE}: "]),
    "another workbook": (replace_workbook, [f"a copy/data/{SHARED_FILE}: ", "own"]),
    "another record": (forge_record, [f"a copy/data/{SHARED_FILE}: ", "own", "official"]),
}


@pytest.mark.parametrize("reason", NOT_VERIFIED)
def test_what_can_not_be_verified_is_refused_with_the_fix(copy, verified, computed, reason):
    spoil, named = NOT_VERIFIED[reason]
    spoil(copy)
    with naming.refused(*named):
        verified()


def test_other_code_and_other_versions_are_said(copy, verified, computed):
    edit_facts(copy, library="0" * 64, versions={"numpy": "0.1"})
    *versions, library = verified().notes
    (of_numpy,) = [note for note in versions if note.startswith("numpy: ")]
    naming.check(of_numpy, "0.1", np.__version__)
    assert library


def test_a_notebook_that_fails_now_is_named(built, copy, tmp_path):
    root = shutil.copytree(built.root, tmp_path / "other", ignore=shutil.ignore_patterns("_build"))
    change(root / "notebooks" / "01-a.md", "import pathlib\n", "1 / 0\n")
    failed = root / "_build" / "failed" / "01-a.ipynb"
    with naming.refused("01-a.md: ", "cell 3", "ZeroDivisionError", failed, error=BuildError):
        verify_edition(Project(root, root), str(copy))
    assert "1 / 0" in failed.read_text("utf-8")


def test_an_interrupted_verification_leaves_nothing_behind(built, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = built.bytes(SHARED_NAME)
    process = built.start("verify", SHARED_NAME)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("sense7-verify-*/cache/.part-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert list(tmp_path.glob("sense7-verify-*")) == []
    assert built.bytes(SHARED_NAME) == before
