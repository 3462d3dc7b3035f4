"""One notebook with other parameters: an executed copy and its values, or one clear message and nothing."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import typer
from typer.testing import CliRunner

from sense7 import cli
from sense7.book.build import _write_downloads, build_edition
from sense7.book.execute import rerun, select_notebook
from sense7.book.notebooks import find_notebooks
from sense7.book.plan import BuildError
from sense7.errors import UserError
from sense7.workbook import read_sheets

ROOT = Path(__file__).resolve().parents[2]
RELIABILITY = ROOT / "notebooks" / "03-reliability.md"
LOADING = "import sense7 as s7\n\nstudy = s7.load(data)\n"
READING = 'import json\nfrom pathlib import Path\n\nbefore = json.loads(Path(results, "01-a.json").read_text())\n'


@pytest.fixture
def book(checkout, recording_code):
    """Two notebooks, the second of which reads what the first recorded."""
    checkout.workbook(checkout.root / "data" / "synthetic.xlsx")
    checkout.notebook("01-a", recording_code("01-a", "seed_of_a", before=LOADING))
    checkout.notebook("02-b", recording_code("02-b", "b", "len(before)", before=READING), needs=["01-a"])
    return checkout


def values(folder, name):
    """Key -> value of what a notebook recorded."""
    recorded = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return {entry["key"]: entry["estimate"] for entry in recorded}


def sources_of(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def test_a_copy_is_executed_with_what_was_given_and_its_values_lie_beside_it(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = rerun(book.root, "1", {"seed": 7, "data": "check out/mine.xlsx"})
    assert done.notebook == tmp_path / "01-a.executed.ipynb"
    assert done.results == tmp_path / "01-a.executed.results"
    assert values(done.results, "01-a")["seed_of_a"] == 7
    defaults, injected, _ = sources_of(done.notebook)
    assert "seed = 1" in defaults
    assert "seed = 7" in injected
    assert repr(str(book.root / "mine.xlsx")).strip("'") in injected
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_copy_can_be_executed_again_where_it_lies(book, tmp_path):
    done = rerun(book.root, "01-a", {"seed": 7}, out=tmp_path / "new" / "mine.ipynb")
    (done.results / "01-a.json").unlink()
    command = [sys.executable, "-m", "jupyter", "execute", "mine.ipynb"]
    subprocess.run(command, cwd=tmp_path / "new", check=True, capture_output=True, timeout=300)
    assert values(done.results, "01-a")["seed_of_a"] == 7


def test_what_a_notebook_needs_is_computed_with_the_same_parameters(book, tmp_path):
    done = rerun(book.root, "02", {"seed": 9}, out=tmp_path / "b.ipynb")
    assert values(done.results, "01-a")["seed_of_a"] == 9
    assert sorted(path.name for path in tmp_path.glob("b*")) == ["b.ipynb", "b.results"]


REFUSED = {
    "unknown parameter": ("01-a", {"sed": 1}, "parameters refused. unknown: sed .accepted: data, results, seed"),
    "wrong type": ("01-a", {"seed": "one"}, "seed = 'one': 'one' is not of type 'integer'"),
    "results": ("01-a", {"results": "x"}, "--out FILE.ipynb"),
    "no such data": ("01-a", {"data": "nowhere.xlsx"}, "nowhere.xlsx: neither the name of a data set"),
    "no such notebook": ("99", {}, "99: neither a notebook of this book .01-a, 02-b. nor a file"),
}


@pytest.mark.parametrize(("notebook", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_what_will_not_do_is_refused_before_anything_runs(notebook, given, message, book, tmp_path):
    with pytest.raises(UserError, match=message):
        rerun(book.root, notebook, given, out=tmp_path / "out" / "a.ipynb")
    assert not (tmp_path / "out").exists()


def test_a_cell_that_fails_is_named_and_the_last_good_copy_stays(book, tmp_path):
    out = tmp_path / "a.ipynb"
    before = rerun(book.root, "01-a", {"seed": 3}, out=out)
    kept = out.read_bytes(), values(before.results, "01-a")
    book.notebook("01-a", "missing + 1")
    with pytest.raises(BuildError, match=r"01-a\.md: code cell \d, which begins with 'missing \+ 1', raised NameError"):
        rerun(book.root, "01-a", out=out)
    assert (out.read_bytes(), values(before.results, "01-a")) == kept
    assert sorted(path.name for path in tmp_path.glob("a.*")) == ["a.failed.ipynb", "a.ipynb", "a.results"]


def test_a_folder_of_something_else_is_not_replaced(book, tmp_path):
    (tmp_path / "a.results").mkdir()
    (tmp_path / "a.results" / "thesis.docx").write_text("years of work")
    with pytest.raises(UserError, match=r"holds thesis\.docx"):
        rerun(book.root, "01-a", out=tmp_path / "a.ipynb")
    assert (tmp_path / "a.results" / "thesis.docx").read_text() == "years of work"


@pytest.mark.parametrize("name", ["copy.md", "copy", "folder.ipynb"])
def test_a_place_for_something_else_is_refused(name, book, tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    with pytest.raises(UserError, match=r"ends in \.ipynb|in the way"):
        rerun(book.root, "01-a", out=tmp_path / name)


@pytest.mark.parametrize(
    "text", ["3", "03", "03-reliability", "reliability", str(ROOT / "notebooks/03-reliability.md")]
)
def test_a_notebook_is_found_by_number_name_and_path(text):
    assert select_notebook(text, find_notebooks(ROOT)).name == "03-reliability"


def test_a_derived_notebook_is_not_taken_for_its_text():
    with pytest.raises(UserError, match=r"Give the \.md file"):
        select_notebook(str(RELIABILITY.with_suffix(".ipynb")), find_notebooks(ROOT))


# Downloads


def test_a_download_has_no_path_of_the_build_and_runs_where_it_was_saved(book, tmp_path):
    pages = book.root / "html"
    place = pages / "_sources" / "notebooks" / "01-a.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text("the page's own source", encoding="utf-8")
    facts = {"name": "mine", "file": "mine.xlsx", "kind": "own", "predictions": ""}
    _write_downloads(book.root, facts, pages, "git+https://example.org/a@b")
    assert [path.name for path in place.parent.iterdir()] == ["01-a.ipynb"], "what has no page is no download"
    saved = tmp_path / "saved"
    saved.mkdir()
    place.rename(saved / "01-a.ipynb")
    book.workbook(saved / "mine.xlsx")
    command = [sys.executable, "-m", "jupyter", "execute", "01-a.ipynb"]
    subprocess.run(command, cwd=saved, check=True, capture_output=True, timeout=300)
    assert values(saved / "01-a.results", "01-a")["seed_of_a"] == 1


# The command line


@pytest.fixture
def sense7():
    """The two verbs as they are mounted."""
    app = typer.Typer()
    app.command("run")(cli.book.run)
    app.command("template")(cli.data.template)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_run_prints_where_the_copy_lies(book, tmp_path, sense7):
    done = sense7("run", "01", "-p", "seed=5", "--out", tmp_path / "a.ipynb")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == str(tmp_path / "a.ipynb")
    assert values(tmp_path / "a.results", "01-a")["seed_of_a"] == 5


def test_run_ends_with_1_where_a_cell_fails(book, tmp_path, sense7):
    book.notebook("01-a", "1 / 0")
    done = sense7("run", "01", "--out", tmp_path / "a.ipynb")
    assert done.exit_code == 1
    assert "raised ZeroDivisionError" in done.output


def test_template_writes_over_a_file_only_if_told_to(tmp_path, sense7):
    assert sense7("template", tmp_path / "a.xlsx").output.strip() == str(tmp_path / "a.xlsx")
    assert isinstance(sense7("template", tmp_path / "a.xlsx").exception, UserError)
    assert sense7("template", tmp_path / "a.xlsx", "--force").exit_code == 0


def test_a_book_is_built_from_a_folder_of_tables(checkout, recording_code):
    """The data that a notebook reads are the edition's own copy of the tables."""
    code = recording_code("01-a", "conversations", "len(study.conversations)", before=LOADING)
    checkout.book(front="{value}`conversations`", code=code)
    folder = checkout.root / "tables"
    folder.mkdir()
    for sheet in read_sheets(checkout.root / "mine.xlsx").values():
        with (folder / f"{sheet.name}.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([sheet.header, *sheet.rows])
    built = build_edition(str(folder), workers=1)
    assert sorted(path.name for path in (built.folder / "data" / "tables").iterdir()) == ["Messages.csv", "Tasks.csv"]
    assert values(built.folder / "results", "01-a")["conversations"] == 2
    assert not build_edition(str(folder)).changed
