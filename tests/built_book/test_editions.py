"""Editions of each kind of data begin with their own front page, and claim no more than their data allow."""

from pathlib import Path

import pytest

from helpers.pages import text
from helpers.unforeseen import UNFORESEEN
from sense7.book.pages import FRONT_PAGES
from sense7.claims import CHECK, State
from sense7.workbook.diagnostics import WARNING

ROOT = Path(__file__).resolve().parents[2]
long = pytest.mark.long
REAL = {State.MET, State.NOT_MET, State.UNDECIDED}
STATES = {  # edition -> states of figures and of effects that the data could show
    "synthetic": {State.REHEARSED, State.UNDECIDED},
    "ieval": {State.WAITING, *REAL},
    "official": REAL,
}


@pytest.mark.parametrize(
    "kind", ["synthetic", pytest.param("ieval", marks=long), pytest.param("official", marks=long)]
)
def test_an_edition_has_its_front_page_and_the_states_that_its_data_allow(kind, request):
    edition = request.getfixturevalue(kind)
    source = (ROOT / "book" / FRONT_PAGES.get(edition.facts["kind"], "index-own.md")).read_text()
    title = next(line for line in source.splitlines() if line.startswith("# "))
    heading = text(edition.page("book/index").h1).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert heading.startswith(title.removeprefix("# "))
    never_decided = {State.NO_RULE, State.UNRELEASED}
    states = set()
    for row in edition.json("ledger.json"):
        if row["published"]["kind"] == CHECK:
            assert row["state"] == State.CONTRADICTION
        elif row["published"]["release"]:
            assert row["state"] in {State.MET, State.NOT_MET}, row["id"]
        elif row["state"] not in never_decided:
            states.add(State(row["state"]))
    assert states
    assert states <= STATES[kind]
    assert (edition.folder / "data" / "expected.json").exists() is (kind == "synthetic")
    banner = text(edition.page("book/ledger").select_one(".bd-header-announcement"))
    assert ("ynthetic" in banner) is (kind == "synthetic")


@pytest.mark.long
def test_a_book_says_what_of_a_workbook_it_left_out(official):
    noticed = official.json("results/reader/warnings.json")
    kinds = {entry["kind"] for entry in noticed if entry["severity"] == WARNING}
    assert kinds == {kind for kind, _ in UNFORESEEN.values()}
    page = official.page("notebooks/01-dataset").get_text()
    for _, column in UNFORESEEN.values():
        assert column in page
    assert set(official.toc) <= {file.removesuffix(".html") for file in official.files}
