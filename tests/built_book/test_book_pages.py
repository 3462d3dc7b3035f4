"""The built book as a reader meets it: pages, links, banner, figures, tables, how it was made, without a network."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, unquote, urldefrag, urlsplit

import pytest

from helpers.pages import text
from helpers.studies import write_study
from sense7.record import format_value
from sense7.sources.released import RELEASED
from sense7.taxonomy import DIMENSION_NAMES

ROOT = Path(__file__).resolve().parents[2]
# What a browser loads by itself to show a page; links that a reader follows are apart.
LOADED = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")
LOADED |= dict.fromkeys(("use", "image"), "xlink:href") | {"link": "href", "object": "data"}
HOLE = re.compile(r"\b(?:[Nn]a[Nn]|NAN|NaT|None(?! of)|inf)\b|<NA>")
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


def references(page):
    """Every address on a page: tag, address."""
    for tag in page.find_all(["a", "area", *LOADED]):
        address = tag.get(LOADED.get(tag.name, "href"))
        if address is not None:
            yield tag, address


def words(page):
    """What a reader reads of an article, code apart."""
    apart = {"pre", "code", "script", "style"}
    parts = page.find("article").find_all(string=True)
    return " ".join(part for part in parts if not apart & {parent.name for parent in part.parents})


def test_no_page_shows_an_error_or_a_hole_of_the_program(edition):
    for file in edition.files:
        page = edition.page(file)
        assert (
            page.select(".traceback, .output.stderr, .output.error, .system-message, .problematic")
            == []
        ), file
        if not file.startswith("book/api"):  # the reference shows examples, of errors too
            assert "Traceback" not in page.get_text(), file
    for name in [*edition.notebooks, "book/ledger", "book/index"]:
        assert HOLE.findall(words(edition.page(name))) == [], name


def test_every_internal_link_leads_somewhere(edition):
    broken = []
    for file in edition.files:
        page = edition.page(file)
        for tag, address in references(page):
            if OUTSIDE.match(address):
                assert tag.name == "a" or address.startswith("data:"), f"{file} loads {address}"
                assert re.match(r"(?i)https://|data:text/csv;base64,|data:image/", address), (
                    f"{file}: {address}"
                )
                continue
            target, anchor = urldefrag(address)
            target = unquote(urlsplit(target).path)
            place = (edition.html / file).parent / target if target else edition.html / file
            if not place.is_file():
                broken.append((file, address))
            elif "=" in anchor and place.name == "explorer.html":
                continue  # what the explorer is asked for: tests/browser
            elif anchor and place.suffix == ".html":
                name = str(place.resolve().relative_to(edition.html.resolve()))
                if unquote(anchor) not in edition.anchors(name):
                    broken.append((file, address))
    assert broken == []


def repository_path(address, revision):
    """Path inside the repository that a launch or source link points at, if it is one at a revision."""
    parts = urlsplit(address)
    if parts.netloc == "mybinder.org" and parts.path.endswith(f"/{revision}"):
        return parse_qs(parts.query)["urlpath"][0].removeprefix("lab/tree/")
    found = re.fullmatch(rf"/[^/]+/[^/]+/(?:blob|edit|tree)/{revision}/(.+)", parts.path)
    return unquote(found[1]) if found else None


def test_launch_and_source_links_point_at_files_of_the_commit_that_the_page_was_built_from(edition):
    revision = edition.facts["made"]["commit"] or "main"
    for name in edition.toc:
        addresses = [tag["href"] for tag in edition.page(name).find_all("a", href=True)]
        outside = [
            address for address in addresses if "github.com" in address or "mybinder.org" in address
        ]
        paths = [repository_path(address, revision) for address in outside]
        paths = [path for path in paths if path]
        assert [path for path in paths if not (ROOT / path).is_file()] == [], name
        stem = Path(name).name
        if name in edition.notebooks:
            # Binder opens the notebook on the repository's own data: on other editions that would mislead.
            launched = ["mybinder.org"] if edition.facts["kind"] == "synthetic" else []
            assert paths.count(f"notebooks/{stem}.ipynb") == 1 + len(launched), (
                f"{name}: source and launch links"
            )
            assert [
                urlsplit(address).netloc for address in outside if "urlpath" in address
            ] == launched
        else:
            assert paths == [f"book/{stem}.md"], name
        download = [address for address in addresses if "_sources/" in address]
        assert download, f"{name} cannot be downloaded"


def announced(page):
    """What stands at the head of a page on the data that it shows."""
    return text(page.select_one(".bd-header-announcement"))


def test_every_page_has_its_banner_and_says_how_it_was_made(edition):
    """Pages of released ratings have a banner of their own; the first page leads to the front page."""
    facts = edition.facts
    banner = announced(edition.page("book/ledger"))
    assert facts["sha256"][:12] in banner
    assert {"search.html", "genindex.html", "book/explorer.html"} <= set(edition.files)
    for file in set(edition.files) - {"index.html", "book/index.html"}:
        page = edition.page(file)
        name = Path(file).stem
        made = text(page.select_one("p.sense7-made"))
        rests_on = [f"Workbook: {facts['file']}, SHA-256 {facts['sha256']}"]
        if name in facts["made"]["released"]:
            tables = [RELEASED[table] for table in facts["made"]["released"][name]]
            rests_on = [f"{table.file}, SHA-256 {table.sha256}" for table in tables]
        parameters = [f"Parameters: {facts['parameters']}. Versions"]
        if name in edition.executed:
            given = edition.executed[name]["metadata"]["papermill"]["parameters"]
            parameters = [f"{key} = {given[key]!r}" for key in given if key != "results"]
        for part in (*rests_on, *parameters):
            assert part in made, f"{file}: {part}"
        is_rehearsed = page.find(id="rehearsal-simulated-data-no-findings")
        is_of_others = name in facts["made"]["released"] or is_rehearsed
        assert (announced(page) != banner) is bool(is_of_others), file


def test_every_recorded_value_is_shown_on_the_page_that_records_it(edition):
    shown = {
        (Path(name).name, row.find("td").get_text(strip=True)): row
        for name in edition.notebooks
        for row in edition.page(name).select(".sense7-values tbody tr")
    }
    recorded = {(value["notebook"], key): value for key, value in edition.values.items()}
    assert shown.keys() == recorded.keys()
    assert len(recorded) > 500
    for key, value in recorded.items():
        assert format_value(value) in text(shown[key]), key


def test_every_table_has_a_caption_and_head_cells(edition):
    for name in [*edition.notebooks, "book/ledger"]:
        tables = edition.page(name).find("article").find_all("table")
        # Where there is nothing to tabulate, a sentence stands in the table's place.
        assert tables or edition.page(name).select(".cell_output p > em"), f"{name} has no table"
        for table in tables:
            assert table.caption.get_text(strip=True), name
            head = table.thead.find_all("th")
            assert len(head) > 1
            for row in table.tbody.find_all("tr"):
                assert len(row.find_all(["td", "th"])) == len(head), name
    for name in edition.notebooks:
        for table in edition.page(name).find("article").select(".cell_output table"):
            assert {cell.get("scope") for cell in table.find_all("th")} == {"col", "row"}


def test_values_in_sentences_are_those_that_were_recorded_with_n_and_method(synthetic):
    for name in synthetic.toc:
        source = (ROOT / f"{name}.md").read_text("utf-8")
        for part in re.findall(r"\{include\} (\S+)", source):
            source += (ROOT / "book" / part).read_text("utf-8")
        keys = re.findall(r"\{value\}`([^`]+)`", source)
        expected = Counter()
        for key in keys:
            if key in synthetic.values and synthetic.values[key]["estimate"] is not None:
                value = synthetic.values[key]
                is_simulated = value["method"].startswith("simulated judge: ")
                expected[format_value(value) + " (simulated judge)" * is_simulated] += 1
        tags = synthetic.page(name).select(".sense7-value")
        for tag in tags:
            is_missing = "not available" in tag.get_text()
            how = ".; computed by" if is_missing else r"n = [\d,]+; .{5,}; computed by"
            assert re.search(how, tag["aria-description"]), f"{name}: {tag}"
        shown = Counter(tag.get_text() for tag in tags)
        assert shown.total() == len(keys), name
        assert expected - shown == Counter(), name


# The front page


def test_the_front_page_leads_with_real_ratings_and_says_what_was_not_seen(synthetic):
    article = synthetic.page("book/index").find("article")
    first = article.select_one("figure.sense7-figure")
    assert "whose-empathy-scores" in first["data-name"]
    assert len(re.findall(r"\w[\w'.,-]*", " ".join(article.find_all(string=True)))) < 1500
    assert not article.select(".sense7-badge")


# Workbooks with next to nothing in them: each gives a complete book, which says what it can't compute

NOTHING = dict.fromkeys(DIMENSION_NAMES)
ONE_PERSON = {"PID": "P1", "Model": "plain"}
BARE = dict.fromkeys(("Model", "PreTaskChoice", "PreTaskImportance", "PreTaskDesiredEmpathy"), ...)
NO_POST = {f"PostTaskEmpathy_{name}": ... for name in DIMENSION_NAMES}
WORKBOOKS = {
    "only overall ratings, no context, no post-task": {
        "tasks": BARE | NO_POST,
        "messages": NOTHING | {"Comment": None},
        "participants": None,
    },
    "one participant, constant ratings of one dimension": {
        "tasks": ONE_PERSON,
        "messages": NOTHING | {"Affective": [None, "good"] * 8, "EmpathyOverall": None},
    },
}


@pytest.mark.long
@pytest.mark.parametrize("name", WORKBOOKS)
def test_every_page_is_there_and_no_hole_shows(name, minimal_sheets, build_in_copy, tmp_path):
    path = tmp_path / "degenerate.xlsx"
    write_study(minimal_sheets(**WORKBOOKS[name]), path)
    edition = build_in_copy(path, f"degenerate {sorted(WORKBOOKS).index(name)}")
    for file in (
        file for file in edition.toc if not file.startswith("book/api")
    ):  # which says NaN of the code
        assert HOLE.findall(words(edition.page(file))) == [], file
    for value in edition.values.values():
        if value["estimate"] is None:
            assert value["reason"], value["key"]
            assert value["low"] is None, value["key"]
