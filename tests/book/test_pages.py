"""Pages that are made from what the last ones left: no other than those of a first build, and only where it is safe."""

import json
from pathlib import Path

import pytest

from sense7.book import pages

ROOT = Path(__file__).resolve().parents[2]
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
