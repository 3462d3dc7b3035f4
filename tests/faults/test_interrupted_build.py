"""`sense7 build`, ended at any moment or beside another: the last good book and finished work stay."""

import json
import shutil
import sys

import pytest

from helpers import checkout as book
from helpers import interrupting
from sense7.book.editions import damage

# A killed build, its next one, and one on a full disk are in every run: tests/book/test_build.py.
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]

NOTEBOOKS = ("01-a", "02-b")
BUILD = ("build", "mine.xlsx", "--jobs", 2)


class Project:
    """A checkout with a good book that has become outdated, and what the next build comes to undisturbed."""

    def __init__(self, base):
        self.base = base
        made = book.Checkout(base / "made" / "check out")
        made.book()
        made.notebook("02-b", book.recording("02-b", "seed_of_b"), needs=["01-a"])
        made.toc("book/ledger", *(f"notebooks/{name}" for name in NOTEBOOKS))
        assert self.command(made.root).run(*BUILD).code == 0
        self.outdated = made.root
        for name in NOTEBOOKS:
            path = made.root / "notebooks" / f"{name}.md"
            path.write_text(path.read_text("utf-8").replace("seed = 1", "seed = 2"), "utf-8")
        self.before = editions(made.root)["mine"]
        command = self.fresh("undisturbed")
        self.whole = command.run(*BUILD)
        assert self.whole.code == 0, self.whole.err
        self.after = editions(command.folder)["mine"]
        self.finished = cached(command.folder)
        self.new = self.finished.keys() - names_in_cache(self.outdated)
        assert len(self.new) == len(NOTEBOOKS)

    def command(self, root):
        return interrupting.Command(
            root, SENSE7_ROOT=str(root), JUPYTER_DATA_DIR=str(self.base / "jupyter")
        )

    def fresh(self, name):
        """A copy of the checkout with the outdated book."""
        root = self.base / name / "check out"
        shutil.copytree(self.outdated, root)
        return self.command(root)


def editions(root):
    """Every file of every edition but its manifest, which is of one folder: name -> relative path -> bytes."""
    folder = root / "_build" / "editions"
    places = {
        place.name: interrupting.content(place) for place in folder.glob("[!.]*") if place.is_dir()
    }
    return {
        name: {path: held[path] for path in held if path != "manifest.json"}
        for name, held in places.items()
    }


def names_in_cache(root):
    """Places of the notebooks that were finished."""
    return {place.name for place in (root / "_build" / "cache").glob("[!.]*")}


def cached(root):
    """Notebooks that were finished: place in the cache -> its files, but for the seconds that it took."""
    places = {
        name: interrupting.content(root / "_build" / "cache" / name)
        for name in names_in_cache(root)
    }
    return {
        name: {path: held[path] for path in held if path != "made.json"}
        for name, held in places.items()
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("build"))


def require_intact(project, root):
    """The last good book or the next; every notebook in the cache is whole."""
    assert editions(root)["mine"] in (project.before, project.after), (
        "the book is neither the old nor the new one"
    )
    found = cached(root)
    differing = [name for name in found if found[name] != project.finished.get(name)]
    assert differing == [], "something in the cache is not what it is in the end"
    return found


def require_the_same(project, command, kept):
    """The next build ends as if nothing had happened, and executes only what was not finished."""
    again = command.run(*BUILD)
    assert again.code == 0, again.err
    assert editions(command.folder)["mine"] == project.after
    assert damage(command.folder / "_build" / "editions" / "mine") == []
    assert cached(command.folder) == project.finished
    assert interrupting.unfinished(command.folder) == []
    for name in project.new:
        assert (f"{name[:4]}: executed" in again.err) <= (name not in kept), (
            "what was finished was executed again"
        )
    listed = (command.folder / "_build" / "editions" / "editions.js").read_text("utf-8")
    assert json.loads(listed.partition("=")[2].rstrip(";\n"))[0]["name"] == "mine"


@pytest.mark.parametrize("moment", interrupting.moments(10, seed=4), ids=str)
def test_whatever_ends_it_the_book_and_finished_work_stay_and_the_next_build_gives_the_same(
    project, moment
):
    command = project.fresh(f"{moment} {moment.share}")
    command.interrupt(moment, project.whole, *BUILD)
    kept = require_intact(project, command.folder)
    require_the_same(project, command, kept)
    left = [path for path in (project.base / "jupyter").rglob("*") if path.is_file()]
    assert left == [], "a file was left in the user's home"
