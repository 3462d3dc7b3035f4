"""One notebook with other parameters; editions of tables, and of data that others published in parts."""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from helpers import naming
from helpers.checkout import SHARED_NAME, recording
from sense7.book.build import build_edition, read_inputs
from sense7.book.inputs import resolve_inputs
from sense7.book.rerun import rerun
from sense7.claims import State
from sense7.record import format_value
from sense7.sources import SOURCES, copy_for_edition, fetch, resolve
from sense7.sources.converters import official_sheets
from sense7.sources.registry import Source
from sense7.workbook import read_sheets

ROOT = Path(__file__).resolve().parents[2]
LOADING = "import sense7 as s7\n\nstudy = s7.load(data)\n"
READING = 'import json\nfrom pathlib import Path\n\nbefore = json.loads(Path(results, "01-a.json").read_text())\n'


@pytest.fixture
def book(checkout):
    """Two notebooks, the second of which reads what the first recorded."""
    checkout.workbook(checkout.root / "data" / "synthetic.xlsx")
    checkout.notebook("01-a", recording("01-a", "seed_of_a", before=LOADING))
    checkout.notebook("02-b", recording("02-b", "b", "len(before)", before=READING), needs=["01-a"])
    return checkout


def values(folder, name):
    """Key -> value of what a notebook recorded."""
    recorded = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return {entry["key"]: entry["estimate"] for entry in recorded}


def sources_of(path):
    return [
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    ]


def test_the_sentences_of_a_copy_have_its_numbers_and_say_whose_data_they_are(tmp_path):
    done = rerun(ROOT, "03", {"draws": 100}, out=tmp_path / "mine.ipynb")
    (alpha,) = [
        value
        for value in json.loads((done.results / "03-reliability.json").read_text("utf-8"))
        if value["key"] == "alpha_turn"
    ]
    cells = nbformat.read(done.notebook, as_version=4).cells
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert "ynthetic" in done.label
    assert done.label in prose[0]
    assert f"is {format_value(alpha)} per turn (n = {alpha['n']:,} turns)" in prose[0]
    assert "{value}" not in "".join(prose)


def test_a_copy_is_executed_with_what_was_given_after_what_it_needs_and_its_values_lie_beside_it(
    book, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = rerun(book.root, "2", {"seed": 7, "data": "check out/mine.xlsx"})
    assert (done.notebook, done.results) == (
        tmp_path / "02-b.executed.ipynb",
        tmp_path / "02-b.executed.results",
    )
    assert (values(done.results, "01-a"), values(done.results, "02-b")) == (
        {"seed_of_a": 7},
        {"b": 1},
    )
    defaults, injected, _ = sources_of(done.notebook)
    assert "seed = 1" in defaults
    assert "seed = 7" in injected
    assert repr(str(book.root / "mine.xlsx")).strip("'") in injected
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "02-b.executed.ipynb",
        "02-b.executed.results",
        "check out",
    ]


REFUSED = {  # notebook, parameters, what of them is named
    "wrong type": ("01-a", {"seed": "one"}, ["seed = 'one'"]),
    "results": ("01-a", {"results": "x"}, ["results", "--out FILE.ipynb"]),
    "no such data": ("01-a", {"data": "nowhere.xlsx"}, ["nowhere.xlsx: "]),
    "no such notebook": ("99", {}, ["99: ", "01-a, 02-b"]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_will_not_do_is_refused_before_anything_runs(reason, book, tmp_path):
    notebook, given, named = REFUSED[reason]
    with naming.refused(*named):
        rerun(book.root, notebook, given, out=tmp_path / "out" / "a.ipynb")
    assert not (tmp_path / "out").exists()


def test_a_cell_that_fails_is_named_and_the_last_good_copy_stays(book, tmp_path):
    out = tmp_path / "a.ipynb"
    rerun(book.root, "01-a", out=out)
    good = (out.read_bytes(), (tmp_path / "a.results" / "01-a.json").read_bytes())
    book.notebook("01-a", "missing + 1")
    for failed in ("a.failed.ipynb", "a.failed-2.ipynb"):
        done = book.call("run", "01", "--out", out)
        assert (done.returncode, done.stdout) == (1, "")
        message = done.stderr.partition("sense7: ")[2]
        naming.check(message, "01-a.md: ", "cell 3", "'missing + 1'", "NameError", failed)
    assert (out.read_bytes(), (tmp_path / "a.results" / "01-a.json").read_bytes()) == good
    names = sorted(path.name for path in tmp_path.glob("a.*"))
    assert names == ["a.failed-2.ipynb", "a.failed.ipynb", "a.ipynb", "a.results"]


def test_a_copy_is_replaced_until_it_is_edited_or_something_lies_beside_its_values(book, tmp_path):
    out = tmp_path / "a.ipynb"
    for seed in (1, 2):
        rerun(book.root, "01-a", {"seed": seed}, out=out)
    assert values(tmp_path / "a.results", "01-a") == {"seed_of_a": 2}
    for mine in (tmp_path / "a.results" / "thesis.docx", tmp_path / "a.results" / "codes.json"):
        mine.write_text("years of work")
        with naming.refused(tmp_path / "a.results", mine.name):
            rerun(book.root, "01-a", out=out)
        assert mine.read_text() == "years of work"
        mine.unlink()
    out.write_text(out.read_text("utf-8") + " ", "utf-8")
    with naming.refused(f"{out}: "):
        rerun(book.root, "01-a", out=out)


# Downloads, and books of tables


def test_a_download_shows_what_it_gives_where_it_was_saved_and_writes_nothing(
    built, edition, tmp_path
):
    """nbval runs each cell again, and compares text and tables with those that are in the file."""
    shutil.copy(edition / "html" / "_sources" / "notebooks" / "01-a.ipynb", tmp_path)
    shutil.copytree(edition / "data", tmp_path, dirs_exist_ok=True)
    shutil.copytree(edition / "predictions", tmp_path / f"predictions_{SHARED_NAME}")
    text = (tmp_path / "01-a.ipynb").read_text("utf-8")
    assert str(built.root) not in text
    node = json.loads(text)
    _, banner, *_ = "".join(node["cells"][0]["source"]).split("\n\n")
    naming.check(banner, "SENSE-7", "sense7 build")
    assert "seed = 7" in "".join(node["cells"][1]["source"])
    assert [
        "image/png" in shown["data"] for cell in node["cells"] for shown in cell.get("outputs", ())
    ] == [False, True, False]  # a table; a figure and its caption
    before = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--nbval", "01-a.ipynb"]
    done = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_book_is_built_from_a_folder_of_tables(checkout):
    """The data that a notebook reads are the edition's own copy of the tables."""
    checkout.book()
    folder = checkout.root / "tables"
    folder.mkdir()
    for sheet in read_sheets(checkout.root / "mine.xlsx").values():
        with (folder / f"{sheet.name}.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([sheet.header, *sheet.rows])
    inputs = resolve_inputs(str(folder))
    assert len(read_inputs(inputs, False, print)[0].study.conversations) == 2
    copy_for_edition(inputs.path, inputs.provenance, checkout.root / "data")
    assert sorted(path.name for path in (checkout.root / "data" / "tables").iterdir()) == [
        "Messages.csv",
        "Tasks.csv",
    ]
    (checkout.root / "tables" / "Tasks.csv").write_text("PID\n", "utf-8")
    assert resolve_inputs(str(folder)).key != inputs.key


# Data that others published in parts: built from their name, never taken for SENSE-7


def convert(parts):
    texts = parts["chats.txt"].read_text("utf-8").split()
    messages = list(zip(("user", "assistant") * 2, texts, strict=True))
    tasks = [{"PID": f"P{number}", "Model": "bot", "TaskId": f"T{number}"} for number in (1, 2)]
    return official_sheets([(task, messages, {"Affective": 4}) for task in tasks])


@pytest.fixture
def theirs(checkout, tmp_path, monkeypatch):
    """Fetch a small data set of a third party; gives its name."""
    content = b"hi hello well bye"
    (tmp_path / "chats.txt").write_bytes(content)
    source = Source(
        name="theirs",
        title="Their data (Them, 2020)",
        address="https://raw.githubusercontent.com/them/theirs/0123/",
        licence="CC-BY-4.0",
        credit="Them: Their Paper.",
        kind="third-party",
        parts={"chats.txt": hashlib.sha256(content).hexdigest()},
        convert=convert,
    )
    monkeypatch.setitem(SOURCES, "theirs", source)
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    fetch("theirs", mirror=tmp_path)
    return "theirs"


def test_an_edition_is_built_by_the_name_and_reproduces_nothing(checkout, theirs):
    before = "import sense7 as s7\n\nstudy = s7.load(data)\n"
    checkout.book(code=recording("01-a", "seed_of_a", "3 + len(study.turns)", before=before))
    built = build_edition(theirs)
    facts = json.loads((built.folder / "edition.json").read_text("utf-8"))
    assert (facts["name"], facts["kind"], facts["verified"]) == ("theirs", "third-party", False)
    naming.check(facts["label"], "Their data (Them, 2020)", "SENSE-7")
    front = (built.folder / "html" / "book" / "index.html").read_text("utf-8")
    credit = re.search(r"Them: Their Paper\.[^<]*", front)[0]
    naming.check(credit, "CC-BY-4.0")
    rows = json.loads((built.folder / "ledger.json").read_text("utf-8"))
    counted = next(row for row in rows if row["id"] == "counted")
    assert counted["computed"]["estimate"] == counted["published"]["value"] == 7
    assert counted["state"] == State.WAITING
    copy, provenance = resolve(built.folder / "data" / "theirs.xlsx")
    assert provenance.parts == SOURCES[theirs].pins
    assert copy.read_bytes() == resolve(theirs)[0].read_bytes()
    assert not build_edition(theirs).changed
