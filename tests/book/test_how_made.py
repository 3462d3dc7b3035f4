"""How an edition was made: its commit, what the foot of every page says, and on what more than one page depends."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from helpers import naming
from sense7.book import pages
from sense7.book.pages import describe
from sense7.checkout import commit_of

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


def git(folder, *arguments):
    """Git with an identity of its own, and none of the user's settings."""
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        [GIT, "-C", folder, *own, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "a checkout"
    (folder / "book").mkdir(parents=True)
    (folder / "book" / "index.md").write_text("# Front\n", "utf-8")
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


@needs_git
def test_the_commit_is_that_of_the_checkout(repository):
    assert commit_of(repository) == {
        "commit": git(repository, "rev-parse", "HEAD"),
        "changed": False,
    }


@needs_git
@pytest.mark.parametrize(
    "where", ["book/index.md", "book/new.md", "src/sense7/new.py", "notes.txt"]
)
def test_a_change_of_what_books_are_made_of_is_said_and_no_other(repository, where):
    (repository / where).parent.mkdir(parents=True, exist_ok=True)
    (repository / where).write_text("other", "utf-8")
    assert commit_of(repository)["changed"] is (where != "notes.txt")


@needs_git
def test_the_commit_of_a_repository_around_the_checkout_is_not_taken_for_its_own(repository):
    inner = repository / "inner"
    inner.mkdir()
    assert commit_of(inner)["commit"] is None


def facts(**given):
    told = {
        "parameters": {},
        "notebooks": {"01-a": {"seed": 7, "data": "../data/<b>.xlsx"}},
        "versions": {"sense7": "0.1.0", "numpy": "2.0"},
        "commit": "c" * 40,
        "changed": False,
        "library": "d" * 64,
    }
    return {"file": "<b>.xlsx", "sha256": "a" * 64, "parameters": "seed = 1", "made": told | given}


def text(markup):
    page = BeautifulSoup(markup, "html.parser")
    assert {tag.name for tag in page.find_all()} == {"p", "strong"}
    return page.get_text()


@pytest.mark.parametrize(
    "given",
    [{"changed": True}, {"commit": None, "changed": None}, {}],
    ids=["changed", "no commit", "committed"],
)
def test_what_the_commit_does_not_tell_is_said_and_texts_are_escaped(given):
    told = " ".join(text(describe(facts(**given))).split())
    naming.check(told, "<b>.xlsx", "a" * 64, "seed = 1", "numpy 2.0")


# Pages that are made from what the last ones left: no other than those of a first build, and only where it is safe.

ROOT = Path(__file__).resolve().parents[2]
# What more than one page depends on


def notebook(*prose):
    cells = [{"cell_type": "markdown", "source": text} for text in prose]
    return json.dumps({"cells": [*cells, {"cell_type": "code", "source": "# a comment"}]}).encode()


def sources(**changes):
    """What pages are made from, by names that stand for their places."""
    rehearsal = {"is_set": True}
    row = {"id": "counted", "rehearsal": rehearsal, "computed": {"key": "a", "estimate": 1}}
    value = {"key": "a", "notebook": "01-a", "cell": 3, "estimate": 1}
    given = {
        "row": row,
        "value": value,
        "facts": {"verdicts": "one line", "sha256": "0"},
        "prose": ["# Title\n\nText."],
        "code": "1",
        "page": b"# Front",
        "expected": b"{}",
    } | changes
    return (
        {
            "edition/results/01-a.json": json.dumps([given["value"]]).encode(),
            "edition/ledger.json": json.dumps([given["row"]]).encode(),
            "edition/data/expected.json": given["expected"],
            "edition/edition.json": json.dumps(given["facts"]).encode(),
            "edition/notebooks/01-a.ipynb": given["code"].encode(),
            "stage/notebooks/01-a.ipynb": notebook(*given["prose"]),
            "stage/book/index.md": given["page"],
        },
        given["facts"],
        {"title": given.get("title", "Book")},
    )


ROW, VALUE, FACTS = (
    json.loads(sources()[0][f"edition/{name}.json"])
    for name in ("ledger", "results/01-a", "edition")
)


@pytest.mark.parametrize(
    "change",
    [
        {"prose": ["# Another title\n\nText."]},
        {"prose": ["# Title\n\n## Section\n\nText."]},
        {"prose": ["# Title\n\n(name)=\nText."]},
        {"prose": ["# Title\n\nText {cite}`someone`."]},
        {"value": VALUE[0] | {"cell": 4}},
        {"value": VALUE[0] | {"notebook": "02-b"}},
        {"row": ROW[0] | {"rehearsal": {"is_set": False}}},
        {"row": ROW[0] | {"computed": None}},
        {"facts": FACTS | {"sha256": "1"}},
        {"page": b"# Front page"},
        {"expected": b'{"values": {}}'},
        {"title": "Another book"},
    ],
    ids=str,
)
def test_what_other_pages_show_begins_anew(change):
    assert pages.frame_digest(ROOT, *sources(**change)) != pages.frame_digest(ROOT, *sources())
