"""`sense7 build`, ended at any step: the last good book and finished work stay, and the next build gives the same."""

import json
import shutil
import signal
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
SHARES = [(place + 0.5) / 18 for place in range(18)]
"""Of all steps of a build: how far it comes."""

ENDINGS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


class Project:
    """A checkout with a good book that has become outdated, and what the next build comes to undisturbed."""

    def __init__(self, base):
        self.base = base
        made = book.Checkout(base / "made" / "check out")
        made.book()
        made.notebook("02-b", book.recording("02-b", "seed_of_b"))
        made.toc("book/ledger", *(f"notebooks/{name}" for name in NOTEBOOKS))
        assert self.command(made.root).run(*BUILD).code == 0
        self.outdated = made.root
        for name in NOTEBOOKS:
            path = made.root / "notebooks" / f"{name}.md"
            path.write_text(path.read_text("utf-8").replace("seed = 1", "seed = 2"), "utf-8")
        self.before = edition(made.root)
        command = self.fresh("undisturbed")
        self.whole = command.run(*BUILD)
        assert self.whole.code == 0, self.whole.err
        self.after = edition(command.folder)
        self.finished = cached(command.folder)
        self.new = self.finished.keys() - cached(self.outdated).keys()
        assert len(self.new) == len(NOTEBOOKS)

    def command(self, root):
        given = {"SENSE7_ROOT": str(root), "JUPYTER_DATA_DIR": str(self.base / "jupyter")}
        return interrupting.Command(root, **given)

    def fresh(self, name):
        """A copy of the checkout with the outdated book."""
        root = self.base / name / "check out"
        shutil.copytree(self.outdated, root)
        return self.command(root)


def edition(root):
    """Every file of the edition but its manifest, which is of one folder: path -> bytes."""
    files = interrupting.content(root / "_build" / "editions" / "mine")
    return {path: held for path, held in files.items() if path != "manifest.json"}


def cached(root):
    """Notebooks that were finished: place in the cache -> its values and cells, without times."""
    found = {}
    for place in (root / "_build" / "cache").glob("[!.]*"):
        cells = json.loads((place / "notebook.ipynb").read_text("utf-8"))["cells"]
        shown = [(cell["source"], cell.get("outputs")) for cell in cells]
        found[place.name] = shown, (place / "values.json").read_bytes()
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("build"))


@pytest.mark.parametrize("place", range(len(SHARES)))
def test_whatever_ends_it_the_book_stays_and_the_next_build_is_the_same(project, place):
    command, ending = project.fresh(str(place)), ENDINGS[place % len(ENDINGS)]
    step = max(1, round(SHARES[place] * project.whole.steps))
    ended = command.run(*BUILD, number=ending, step=step)
    interrupting.require_a_good_end(ended, ending)
    assert edition(command.folder) in (project.before, project.after), (
        "neither the old book nor the new"
    )
    kept = cached(command.folder)
    assert [name for name in kept if kept[name] != project.finished.get(name)] == []
    again = command.run(*BUILD)
    assert again.code == 0, again.err
    assert edition(command.folder) == project.after
    assert damage(command.folder / "_build" / "editions" / "mine") == []
    assert cached(command.folder) == project.finished
    assert interrupting.unfinished(command.folder) == []
    for name in project.new & kept.keys():
        assert f"{name[:4]}: executed" not in again.err, "finished work was done again"
    left = [path for path in (project.base / "jupyter").rglob("*") if path.is_file()]
    assert left == [], "a file was left in the user's home"
