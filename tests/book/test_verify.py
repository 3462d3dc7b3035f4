"""`sense7 verify`: an edition is recomputed from its own data, and every difference is found."""

import base64
import json
import os
import re
import shutil
import signal
import time

import pytest

from helpers.checkout import SHARED_FILE, SHARED_JUDGE, SHARED_NAME
from sense7.book import verify
from sense7.book.plan import BuildError
from sense7.book.verify import TOLERANCE, compare, figure_data, verify_edition
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.loading import load


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


def change_figure(path):
    """Change the first number of the first figure whose data a page or a notebook gives."""
    text = path.read_text("utf-8")
    (content,) = set(re.findall(r"text/csv;base64,([\w+/=]+)", text))
    lines = base64.b64decode(content).decode().splitlines(keepends=True)
    name, _, number = lines[1].rstrip().partition(",")
    lines[1] = f"{name},{float(number) + 0.001}\n"
    path.write_text(text.replace(content, base64.b64encode("".join(lines).encode()).decode()), "utf-8")


def found(comparison):
    return {(difference.kind, difference.where, difference.what) for difference in comparison.differences}


# What is found


def test_an_untouched_edition_verifies_and_stays_as_it_is(built):
    before = built.bytes(SHARED_NAME)
    done = built.call("verify", SHARED_NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"verified: all \d+ agree", done.stdout.splitlines()[-1])
    for kind in ("recorded values", "ledger", "figure data, as executed", "figure data, as the pages show them"):
        (row,) = [line for line in done.stdout.splitlines() if re.match(rf"│ {kind} +│", line)]
        compared, equal, near, different = (int(cell) for cell in re.findall(r"\d+", row))
        assert compared == equal > 0, kind
        assert near == different == 0, kind
    assert "01-a: executed" in done.stderr
    assert built.bytes(SHARED_NAME) == before


def test_whatever_was_tampered_with_is_found(copy, verified, computed):
    change(copy / "results" / "01-a.json", '"estimate": 7', '"estimate": 8')
    change(copy / "ledger.json", '"verdict": "not comparable"', '"verdict": "reproduced"')
    change(copy / "html" / "book" / "ledger.html", ">can't be decided by these data<", ">passed by these data<")
    change_figure(copy / "html" / "notebooks" / "01-a.html")
    change_figure(copy / "notebooks" / "01-a.ipynb")
    comparison = verified()
    assert found(comparison) == {
        ("recorded values", "01-a", "seed_of_a.estimate"),
        ("ledger", "counted", "verdict"),
        ("ledger, as the page shows it", "counted", "rule"),
        ("figure data, as executed", "01-a", "drawn (1), line 2, column 2"),
        ("figure data, as the pages show them", "01-a", "drawn (1), line 2, column 2"),
    }
    tampered = {difference.what: (difference.shown, difference.recomputed) for difference in comparison.differences}
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
    assert re.search(r"\d+ of \d+ differ", done.stdout.splitlines()[-1])
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


def executed(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": list(cells)}), "utf-8")


def drawing(name, text):
    data = base64.b64encode(text.encode()).decode()
    shown = f'<figure class="sense7-figure"><a download="{name}.csv" href="data:text/csv;base64,{data}"></a></figure>'
    outputs = [{"data": {"text/html": [shown]}}]
    return {"cell_type": "code", "source": [f'draw(name="{name}")'], "outputs": outputs}


def test_a_figure_that_a_page_borrows_from_another_notebook_is_compared_with_that_one(tmp_path):
    prose = {"cell_type": "markdown", "source": ["```{specifications} b\n```\n", "```{picture} notebooks/02-c c\n```"]}
    executed(tmp_path / "notebooks" / "01-a.ipynb", drawing("a", "1"), prose, drawing("b", "2"))
    executed(tmp_path / "notebooks" / "02-c.ipynb", drawing("c", "3"))
    executed(tmp_path / "notebooks" / "15-robustness.ipynb", drawing("b", "4"))
    own = {("01-a", "a (1)"): 1, ("01-a", "b (1)"): 2, ("02-c", "c (1)"): 3, ("15-robustness", "b (1)"): 4}
    page = own | {("01-a", "b (1)"): 4, ("01-a", "b (2)"): 2, ("01-a", "c (1)"): 3}
    for expected, borrowed in ((own, False), (page, True)):
        parts = verify._notebook_figures(tmp_path, borrowed)
        assert {(name, what.partition(",")[0]): cell for (name, what), cell in parts.items()} == expected


def test_a_figure_that_stands_twice_is_compared_twice():
    link = '<a download="a.csv" href="data:text/csv;base64,{}">'
    page = "".join(link.format(base64.b64encode(text.encode()).decode()) for text in ("x\n1\n", "x\n2\n"))
    assert figure_data(page) == {"a (1)": "x\n1\n", "a (2)": "x\n2\n"}


# What can't be verified


def spoil_workbook(copy):
    with (copy / "data" / SHARED_FILE).open("ab") as stream:
        stream.write(b"x")


def replace_workbook(copy):
    """A workbook with a true record, but not the one that the edition was made of."""
    spoil_workbook(copy)
    record = copy / "data" / f"{SHARED_FILE}.provenance.json"
    content = json.loads(record.read_text("utf-8"))
    content["sha256"] = verify.sources.Provenance.of(copy / "data" / SHARED_FILE).sha256
    record.write_text(json.dumps(content), "utf-8")


def edit_facts(copy, **given):
    facts = json.loads((copy / "edition.json").read_text("utf-8"))
    facts["made"] |= given
    (copy / "edition.json").write_text(json.dumps(facts), "utf-8")


def forge_record(copy):
    record = copy / "data" / f"{SHARED_FILE}.provenance.json"
    content = json.loads(record.read_text("utf-8"))
    record.write_text(json.dumps(content | {"kind": "official"}), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shutil.rmtree, "neither an edition .*sense7 build"),
        (lambda copy: (copy / "edition.json").unlink(), "Pages alone can't be verified"),
        (lambda copy: (copy / "edition.json").write_text("{"), r"edition\.json: no JSON"),
        (lambda copy: (copy / "edition.json").write_text("{}"), "file can't be what it says"),
        (lambda copy: edit_facts(copy, parameters=[]), r"edition\.json: made: parameters can't be"),
        (lambda copy: edit_facts(copy, parameters={"data": "/etc"}), r"made: parameters can't be"),
        (lambda copy: edit_facts(copy, parameters={"seed": -1}), "parameters refused"),
        (lambda copy: edit_facts(copy, beside={}), "predictions: not the files"),
        (lambda copy: (copy / "data" / SHARED_FILE).unlink(), "is missing, and no data set here"),
        (lambda copy: (copy / "ledger.json").write_text("1"), r"ledger\.json: not what a build writes"),
        (lambda copy: (copy / "ledger.json").unlink(), r"ledger\.json: is missing"),
        (
            lambda copy: (copy / "predictions" / "judge-iter1.csv").write_text(SHARED_JUDGE + "3,P3,2,2\n"),
            "predictions: not the files",
        ),
        (spoil_workbook, "changed since its origin was recorded"),
        (replace_workbook, "not the workbook that the edition was made of"),
        (forge_record, "its record makes it 'official' data, edition.json 'own'"),
    ],
)
def test_what_can_not_be_verified_is_refused_with_the_fix(copy, verified, computed, spoil, message):
    spoil(copy)
    with pytest.raises(UserError, match=message):
        verified()


def test_of_a_published_edition_the_pages_are_held_against_the_data_set_that_is_here(
    copy, edition, verified, computed, monkeypatch
):
    """A site has neither workbooks nor executed notebooks; whose data set is here can verify it all the same."""
    known, resolve = edition / "data" / SHARED_FILE, verify.sources.resolve
    monkeypatch.setattr(verify.sources, "resolve", lambda data: resolve(known if data == "synthetic" else data))
    monkeypatch.setattr(verify, "load", lambda data, **given: load(known, **given))
    shutil.rmtree(copy / "data")
    shutil.rmtree(copy / "notebooks")
    change_figure(copy / "html" / "notebooks" / "01-a.html")
    comparison = verified()
    assert "figure data, as executed" not in comparison.counts
    assert found(comparison) == {("figure data, as the pages show them", "01-a", "drawn (1), line 2, column 2")}


def test_refusals_end_with_exit_code_2_and_no_traceback(built):
    done = built.sense7("verify", "nosuch")
    assert done.returncode == 2
    assert done.stderr.startswith(f"sense7: nosuch: neither an edition (present: {SHARED_NAME}) nor the folder of one.")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("then", "now", "message"),
    [
        ({"ieval": "a"}, {"ieval": ""}, "Run: sense7 fetch ieval$"),
        ({"ieval": ""}, {"ieval": "a"}, "SENSE7_CACHE=EMPTY_FOLDER"),
        ({"ieval": "a"}, {"ieval": "b"}, "fetch ieval --again"),
        ({"data/coverage.json": "a"}, {"data/coverage.json": "b"}, "^data/coverage.json: not the stored result"),
        ({}, {"data/coverage.json": "b"}, "^data/coverage.json: not the stored result"),
    ],
)
def test_data_sets_that_pages_show_besides_their_own_have_to_be_here_as_they_were(tmp_path, then, now, message):
    with pytest.raises(UserError, match=message):
        verify._require_same_beside(tmp_path, then, now)
    verify._require_same_beside(tmp_path, then, then)


def test_other_code_and_other_versions_are_said(copy, verified, computed):
    edit_facts(copy, library="0" * 64, versions={"numpy": "0.1"})
    notes = verified().notes
    assert any("the library is not the one that made the edition" in note for note in notes)
    assert any(re.match(r"numpy: 0\.1 then, \d+\.\S+ here", note) for note in notes)


def test_a_notebook_that_fails_now_is_named(built, copy, tmp_path):
    root = shutil.copytree(built.root, tmp_path / "other", ignore=shutil.ignore_patterns("_build"))
    change(root / "notebooks" / "01-a.md", "import pathlib\n", "1 / 0\n")
    with pytest.raises(BuildError, match=r"01-a\.md.*ZeroDivisionError"):
        verify_edition(Project(root, root), str(copy))


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
