"""Notebooks for readers: plain Markdown with the numbers of an edition, and outputs that any viewer shows."""

import json

import pytest

from helpers import naming
from sense7.book.derived import Book, Prose, as_markdown, derive, write_derived
from sense7.book.notebooks import cells_digest, find_notebooks
from sense7.book.words import Edition
from sense7.errors import BuildError

VALUE = {"key": "a", "estimate": 0.9613, "low": 0.95, "high": 0.97, "n": 1234, "unit": "alpha"}
VALUE |= {"method": "pairwise", "reason": None, "notebook": "01-a", "cell": 3}


def book_of(checkout):
    """A book whose notebooks are those of a small checkout, of an edition with a few values."""
    folder = checkout.root / "edition"
    for name in ("results", "data"):
        (folder / name).mkdir(parents=True)
    facts = {"kind": "synthetic", "name": "synthetic", "file": "mine_1.xlsx", "sha256": "0" * 64}
    facts |= {"warnings": "", "label": "a workbook", "verified": False, "credit": ""}
    for name, content in {
        "results/01-a.json": [VALUE],
        "ledger.json": [],
        "edition.json": facts,
        "data/expected.json": {"values": {"a": {"value": 0.9}}},
    }.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    notebooks = find_notebooks(checkout.root)
    return Book(Edition(folder), notebooks, checkout.root, "A book", "git+x@main")


@pytest.fixture
def book(checkout):
    checkout.notebook("01-a")
    return book_of(checkout)


def plain(book, text):
    return Prose(book, book.notebooks[0]).plain(text)


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("https://example.org/a", "https://example.org/a"),
        ("#below", "#below"),
        ("02-b", "02-b.ipynb"),
        ("../book/format", "../book/format.md"),
    ],
)
def test_a_link_leads_where_a_viewer_of_notebooks_finds_it(book, link, address):
    assert book.address(link) == address


@pytest.mark.parametrize(
    "text", ["{cite:p}`gone`", "{new}`a`", "```{new} a\n```", "{answer}`gone`"]
)
def test_what_has_no_plain_form_is_refused_by_name(book, text):
    with pytest.raises(BuildError, match=r"01-a\.md: "):
        plain(book, text)


MARKUP = ("<b>", "a_b*c", "[x](javascript:1)", "0.9 [0.8, 1.0] [x](y:1)", "[1, 2](y:1)")


@pytest.mark.parametrize("text", [*MARKUP, "`x`", "$x$", "# x", "| a"])
def test_a_text_of_a_workbook_is_no_markup(text):
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(f"is {as_markdown(text)} so")
    assert html.count("<") == 2, html  # the paragraph


def executed(prose="Text."):
    """An executed notebook: prose, parameters, injected parameters, and a cell that shows something."""

    def cell(source, *tags, kind="code"):
        return {
            "cell_type": kind,
            "source": source,
            "outputs": [],
            "metadata": {"tags": list(tags)},
        }

    parameters = cell('data = "synthetic"\nseed = 1\nresults = "results"', "parameters")
    heading = cell(f"# 01-a\n\n{prose}", kind="markdown")
    return {"cells": [heading, parameters, cell("seed = 7", "injected-parameters"), cell("shown")]}


def test_a_notebook_says_first_which_data_it_shows_and_how_to_run_it_on_others(checkout):
    checkout.notebook("01-a", "shown")
    book = book_of(checkout)
    node = json.loads(derive(book, book.notebooks[0], executed("{value}`a`.")))
    first = "".join(node["cells"][0]["source"])
    naming.check(first, '`data = "mine.xlsx"`', "01-a.md", "sense7 build")
    assert first.startswith("# 01-a\n\n> **Synthetic data")
    assert first.endswith("\n\n0.961 [0.950, 0.970].")
    assert [cell["execution_count"] for cell in node["cells"] if "outputs" in cell] == [1, 2, 3]
    assert "seed = 7" not in json.dumps(node)


def notebook_with(picture, drawing="svg"):
    data = {"image/png": picture, "text/plain": "a"}
    output = {"data": data, "metadata": {"image/png": {"drawing": drawing}}}
    cell = {"cell_type": "code", "outputs": [output], "source": "x"}
    metadata = {"sense7": {"derived": cells_digest([cell])}}
    return json.dumps({"cells": [cell], "metadata": metadata})


@pytest.mark.parametrize(("drawing", "is_written"), [("svg", False), ("other", True)])
def test_a_picture_is_written_again_where_its_drawing_is_another(tmp_path, drawing, is_written):
    path = tmp_path / "01-a.ipynb"
    path.write_text(notebook_with("aaaa"), "utf-8")
    assert write_derived(tmp_path, {"01-a": notebook_with("bbbb", drawing)}) == [path] * is_written
