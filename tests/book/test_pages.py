"""Pages that are made from what the last ones left: no other than those of a first build, and only where it is safe."""

import json
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from sense7.book import pages
from sense7.book.build import build_edition

ROOT = Path(__file__).resolve().parents[2]
TERMS = "# Terms\n\n```{glossary}\nTurn\n  A message and its answer.\n```\n"
FIGURE = '<figure class="sense7-figure">{}<a download="drawn.csv"></a></figure>'
DRAWING = "from IPython.display import HTML\nname = dict(\n    name=\"drawn\",\n)\nHTML('{}')"


@pytest.fixture
def book(checkout, recording_code):
    """Pages that show values, a figure and terms of others; two notebooks."""

    def notebooks(first="seed", drawn="1", prose="Text."):
        checkout.notebook("01-a", recording_code("01-a", "seed_of_a", first))
        checkout.notebook(
            "02-b", recording_code("02-b", "seed_of_b"), DRAWING.format(FIGURE.format(drawn)), prose=prose
        )

    checkout.notebooks = notebooks
    notebooks()
    checkout.page("index", "# Front\n\nSeed: {value}`seed_of_a`, {edition}`verdicts`.\n")
    checkout.page("ledger", "# Ledger\n\n{published}`counted`\n\n```{ledger}\n```\n")
    checkout.page("figure", "# Figure\n\n```{picture} notebooks/02-b drawn\n```\n")
    checkout.page("plain", "# Plain\n\nA {term}`Turn`.\n")
    checkout.page("terms", TERMS)
    checkout.toc(
        *(f"book/{name}" for name in ("ledger", "figure", "plain", "terms")), "notebooks/01-a", "notebooks/02-b"
    )
    return checkout


def build(checkout):
    return build_edition(str(checkout.root / "mine.xlsx")).folder / "html"


def test_other_prose_is_on_the_page_and_nothing_was_executed(book):
    build(book)
    book.notebooks(prose="Other text.")
    built = build_edition(str(book.root / "mine.xlsx"))
    assert (built.changed, built.executed) == (True, [])
    assert "Other text." in (built.folder / "html" / "notebooks" / "02-b.html").read_text("utf-8")


def read_when(checkout):
    """When Sphinx last read each page."""
    folder = checkout.root / "_build" / "pages" / "mine" / "pages" / "_build" / ".doctrees"
    return {
        str(path.relative_to(folder).with_suffix("")): path.stat().st_mtime_ns for path in folder.rglob("*.doctree")
    }


def contents(html):
    return {str(path.relative_to(html)): path.read_bytes() for path in html.rglob("*") if path.is_file()}


EDITS = {
    "prose": ({"prose": "Other text."}, {"notebooks/02-b", "book/figure"}),
    "value": ({"first": "seed + 6"}, {"notebooks/01-a", "book/index", "book/ledger"}),
    "drawing": ({"drawn": "2"}, {"notebooks/02-b", "book/figure"}),
}


def test_what_changed_is_read_alone_and_pages_are_those_of_a_first_build(book):
    build(book)
    given = {}
    for edit, read in EDITS.values():
        before = read_when(book)
        given |= edit
        book.notebooks(**given)
        html = build(book)
        after = read_when(book)
        assert before.keys() == after.keys()
        assert {page for page in after if after[page] != before[page]} == read
    kept = contents(html)
    assert b"Other text." in kept["notebooks/02-b.html"]
    assert "Seed: 7" in BeautifulSoup(kept["book/index.html"], "html.parser").get_text()
    assert b"turn" in kept["searchindex.js"]
    for folder in ("pages", "editions"):
        shutil.rmtree(book.root / "_build" / folder)
    first = contents(build(book))
    assert [name for name in first if kept.get(name) != first[name]] == []
    assert kept.keys() == first.keys()


@pytest.mark.parametrize("begun", [True, False], ids=["after a first build", "after one that changed a page"])
def test_after_a_mere_commit_no_page_is_read_and_all_name_it(book, monkeypatch, begun):
    build(book)
    if not begun:
        book.notebooks(prose="Other text.")
        build(book)
    before = read_when(book)
    commit = {"commit": "c0ffee" * 6 + "c0ff", "changed": False, "apart": False}
    monkeypatch.setattr("sense7.book.plan.commit_of", lambda root: commit)
    html = build(book)
    assert read_when(book) == before
    assert "c0ffee" in (html / "book" / "plain.html").read_text("utf-8")
    assert (html / "_static" / "togglebutton.js").exists()


# What more than one page depends on


def notebook(*prose):
    cells = [{"cell_type": "markdown", "source": text} for text in prose]
    return json.dumps({"cells": [*cells, {"cell_type": "code", "source": "# a comment"}]}).encode()


def sources(**changes):
    """What pages are made from, by names that stand for their places."""
    row = {"id": "counted", "tuned": True, "computed": {"key": "a", "estimate": 1}}
    value = {"key": "a", "notebook": "01-a", "cell": 3, "estimate": 1}
    given = {
        "row": row,
        "value": value,
        "facts": {"verdicts": "1 recovered", "sha256": "0"},
        "prose": ["# Title\n\nText."],
        "code": "1",
        "page": b"# Front",
        "truth": b"{}",
    } | changes
    return (
        {
            "edition/results/01-a.json": json.dumps([given["value"]]).encode(),
            "edition/ledger.json": json.dumps([given["row"]]).encode(),
            "edition/data/truth.json": given["truth"],
            "edition/edition.json": json.dumps(given["facts"]).encode(),
            "edition/notebooks/01-a.ipynb": given["code"].encode(),
            "stage/notebooks/01-a.ipynb": notebook(*given["prose"]),
            "stage/book/index.md": given["page"],
        },
        given["facts"],
        {"title": given.get("title", "Book")},
    )


ROW, VALUE, FACTS = (json.loads(sources()[0][f"edition/{name}.json"]) for name in ("ledger", "results/01-a", "edition"))


@pytest.mark.parametrize(
    "change",
    [
        {"prose": ["# Title\n\nOther text with a `{value}`."]},
        {"code": "2"},
        {"value": VALUE[0] | {"estimate": 2}},
        {"row": ROW[0] | {"computed": {"key": "a", "estimate": 2}}},
        {"facts": FACTS | {"verdicts": "1 missed"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_one_page_shows_leaves_the_others_as_they_are(change):
    assert pages._frame(ROOT, *sources(**change)) == pages._frame(ROOT, *sources())


@pytest.mark.parametrize(
    "change",
    [
        {"prose": ["# Another title\n\nText."]},
        {"prose": ["# Title\n\n## Section\n\nText."]},
        {"prose": ["# Title\n\n(name)=\nText."]},
        {"prose": ["# Title\n\nText {cite}`someone`."]},
        {"value": VALUE[0] | {"cell": 4}},
        {"value": VALUE[0] | {"notebook": "02-b"}},
        {"row": ROW[0] | {"tuned": False}},
        {"row": ROW[0] | {"computed": None}},
        {"facts": FACTS | {"sha256": "1"}},
        {"page": b"# Front page"},
        {"truth": b'{"planted": []}'},
        {"title": "Another book"},
    ],
    ids=str,
)
def test_what_other_pages_show_begins_anew(change):
    assert pages._frame(ROOT, *sources(**change)) != pages._frame(ROOT, *sources())


def test_other_packages_begin_anew(monkeypatch):
    before = pages._frame(ROOT, *sources())
    monkeypatch.setattr(pages, "environment_of", lambda root: ["other 1"])
    assert pages._frame(ROOT, *sources()) != before
