"""Built books to look at: the synthetic edition, and one of real ratings."""

import fcntl
import gc
import json
import os
import shutil
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from helpers.studies import write_study
from helpers.unforeseen import UNFORESEEN, official_sheets
from sense7.book.build import build_edition
from sense7.sources import SOURCES, Provenance
from sense7.sources.provenance import write_record
from sense7.workbook.reading import official_text

ROOT = Path(__file__).resolve().parents[2]
BOOK_SOURCES = (
    "book",
    "notebooks",
    *(
        f"data/{path.name}"
        for path in (ROOT / "data").glob("*.*")
        if path.suffix in {".json", ".yml"}
    ),
    "data/real",
    "_config.yml",
    "_toc.yml",
    "requirements.lock",
)


class Edition:
    """An edition, read as a reader's browser would."""

    def __init__(self, folder):
        self.folder, self.html = folder, folder / "html"
        self.facts = self.json("edition.json")
        self._pages, self._anchors = {}, {}

    def json(self, name):
        return json.loads((self.folder / name).read_text("utf-8"))

    @cached_property
    def toc(self):
        """Pages that the table of contents names."""

        def files(node):
            for key, value in node.items():
                if key in {"root", "file"}:
                    yield value
                elif isinstance(value, list):
                    for child in value:
                        yield from files(child)

        return list(files(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))))

    @cached_property
    def notebooks(self):
        return [name for name in self.toc if name.startswith("notebooks/")]

    @cached_property
    def files(self):
        """Every page of the book, by its path."""
        return sorted(
            str(path.relative_to(self.html))
            for path in self.html.rglob("*.html")
            if "_static" not in path.parts
        )

    def page(self, file):
        file = file if file.endswith(".html") else f"{file}.html"
        if file not in self._pages:
            # Pages are millions of objects that stay: looking through them for cycles takes as long as reading them.
            gc.disable()
            self._pages[file] = BeautifulSoup((self.html / file).read_text("utf-8"), "html.parser")
            gc.freeze()
            gc.enable()
        return self._pages[file]

    def text(self, name):
        return (self.html / f"{name}.html").read_text("utf-8")

    def anchors(self, file):
        """What a link into a page may name."""
        if file not in self._anchors:
            page = self.page(file)
            self._anchors[file] = {
                tag[name] for name in ("id", "name") for tag in page.find_all(attrs={name: True})
            }
        return self._anchors[file]

    @cached_property
    def values(self):
        """Key -> recorded value."""
        return {
            value["key"]: value
            for path in sorted((self.folder / "results").glob("*.json"))
            for value in json.loads(path.read_text("utf-8"))
        }

    @cached_property
    def executed(self):
        """Name -> executed notebook."""
        return {
            path.stem: json.loads(path.read_text("utf-8"))
            for path in (self.folder / "notebooks").glob("*.ipynb")
        }


@pytest.fixture(scope="session")
def synthetic():
    """The edition of this checkout; built if it is not up to date."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SENSE7_ROOT", "GITHUB_REPOSITORY"):
            patch.delenv(name, raising=False)
        return Edition(build_edition("synthetic").folder)


@pytest.fixture(scope="session")
def copied_checkout():
    """A copy of what a build reads, so that no edition for a test is left among those of this checkout.

    It stays from run to run with all that its builds keep, so that what did not change since is neither executed nor
    made into pages again; a process that finds another one at work in it waits.
    """
    root = ROOT / "_build" / "tests"
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in BOOK_SOURCES:
            place = root / name
            if place.is_dir():
                shutil.rmtree(place)
            place.parent.mkdir(exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, place)
        yield root


@pytest.fixture(scope="session")
def build_in_copy(copied_checkout):
    """Build an edition of a workbook in the copied checkout: path, name -> Edition.

    With few draws: these books are looked at for what they say, not for their last digits.
    """

    def build(path, name):
        # At a place of its own: the edition is of the same source in the next run.
        workbook = copied_checkout / "given" / name / path.name
        workbook.parent.mkdir(parents=True, exist_ok=True)
        for file in path.parent.glob(f"{path.name}*"):  # with how it is read, and its record
            shutil.copyfile(file, workbook.parent / file.name)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("GITHUB_REPOSITORY", raising=False)
            patch.setenv("SENSE7_ROOT", str(copied_checkout))
            patch.chdir(copied_checkout)
            given = os.path.relpath(workbook, copied_checkout)
            return Edition(build_edition(given, name=name, parameters={"draws": 500}).folder)

    return build


@pytest.fixture(scope="session")
def ieval(build_in_copy, ieval_workbook):
    """An edition of real ratings with holes, and without texts."""
    return build_in_copy(ieval_workbook, "for a test")


@pytest.fixture(scope="session")
def official(build_in_copy, tmp_path_factory):
    """An edition of what looks like the official workbook, with all at once that nobody foresaw."""
    path = tmp_path_factory.mktemp("official") / "sense-7_dataset.xlsx"
    sheets = official_sheets(participants=40, conversations=120)
    for change in UNFORESEEN:
        sheets = change(sheets)
    write_study(sheets, path, official_text())
    fetched = {"address": SOURCES["official"].address, "fetched": "2026-01-01T00:00:00Z"}
    record = replace(Provenance.of(path), kind="official", name="official", **fetched)
    write_record(path, record)
    return build_in_copy(path, "as official")


@pytest.fixture(params=["synthetic", pytest.param("ieval", marks=pytest.mark.long)])
def edition(request):
    """Each edition in turn: what holds of one holds of all."""
    return request.getfixturevalue(request.param)
