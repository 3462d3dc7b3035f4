"""`sense7 run`, one notebook with other parameters; and `sense7 verify`, an edition recomputed from its own data."""

import json
import shutil

import nbformat
import pytest

from helpers import naming
from helpers.checkout import SHARED_FILE, SHARED_NAME, recording
from sense7.book.again import rerun, verify_edition
from sense7.book.editions import write_manifest
from sense7.checkout import Project
from sense7.errors import BuildError

LOADING = "import sense7 as s7\n\nstudy = s7.load(data)\n"


@pytest.fixture
def book(checkout):
    """Two notebooks."""
    checkout.workbook(checkout.root / "data" / "synthetic.xlsx")
    (checkout.root / "_toc.yml").write_text("format: jb-book\nroot: notebooks/01-a\n", "utf-8")
    checkout.notebook("01-a", recording("01-a", "seed_of_a", before=LOADING))
    checkout.notebook(
        "02-b",
        recording("02-b", "b", before=LOADING),
        prose="{value}`b` and {value}`elsewhere.n`.",
    )
    checkout.project = Project(checkout.root, checkout.root)
    return checkout


def values(folder, name):
    """Key -> value of what a notebook recorded."""
    recorded = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return {entry["key"]: entry["estimate"] for entry in recorded}


def test_a_copy_has_its_values_beside_it(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = rerun(book.project, "2", {"seed": 7, "data": "check out/mine.xlsx"})
    assert done.notebook == tmp_path / "02-b.executed.ipynb"
    assert done.results == tmp_path / "02-b.executed.results"
    assert values(done.results, "02-b") == {"b": 7}
    cells = nbformat.read(done.notebook, as_version=4).cells
    naming.check(cells[0].source, "7 and", "elsewhere.n")
    assert "seed = 7" in cells[1].source
    assert str(book.root / "mine.xlsx") in cells[1].source
    names = [".sense7-written", "02-b.executed.ipynb", "02-b.executed.results", "check out"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_copy_is_replaced_and_stays_where_the_next_fails(book, tmp_path):
    out = tmp_path / "a.ipynb"
    for seed in (1, 2):
        rerun(book.project, "01-a", {"seed": seed}, out=out)
    assert values(tmp_path / "a.results", "01-a") == {"seed_of_a": 2}
    good = out.read_bytes()
    book.notebook("01-a", "missing + 1")
    failed = book.root / "_build" / "failed" / "01-a.ipynb"
    with naming.refused("01-a.md: ", "cell 3", "NameError", failed, error=BuildError):
        rerun(book.project, "01-a", {}, out=out)
    assert out.read_bytes() == good
    assert "papermill-error-cell-tag" in failed.read_text("utf-8")


def test_an_untouched_edition_verifies_and_a_changed_value_is_found(built, copy):
    before = built.bytes(SHARED_NAME)
    project = Project(built.root, built.root)
    comparison = verify_edition(project, str(copy))
    assert (comparison.differences, comparison.compared > 3) == ([], True)
    recorded = copy / "results" / "01-a.json"
    text = recorded.read_text("utf-8").replace('"estimate": 7', '"estimate": 8')
    recorded.write_text(text.replace('"key": "none"', '"key": "of_nobody"'), "utf-8")
    write_manifest(copy)
    done = built.call("verify", copy)
    assert done.returncode == 1
    naming.check(done.stdout, "seed_of_a", "of_nobody", "none")
    assert built.bytes(SHARED_NAME) == before


def spoil_workbook(copy):
    with (copy / "data" / SHARED_FILE).open("ab") as stream:
        stream.write(b"x")


NOT_VERIFIED = {  # what becomes of the edition, what of it is named
    "gone": (shutil.rmtree, ["a copy: ", "sense7 build "]),
    "pages alone": (lambda copy: (copy / "edition.json").unlink(), ["a copy: "]),
    "a byte more": (spoil_workbook, [SHARED_FILE]),
}


@pytest.mark.parametrize("reason", NOT_VERIFIED)
def test_an_edition_that_can_not_be_verified_is_refused(reason, built, copy):
    spoil, named = NOT_VERIFIED[reason]
    spoil(copy)
    with naming.refused(*named):
        verify_edition(Project(built.root, built.root), str(copy))
