"""What helps a reader along: citations, glossary, how to cite, the front page, paper and small screens."""

import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from pybtex.database import parse_file, parse_string

from helpers.pages import text
from sense7 import __version__
from sense7.sources import SOURCES

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
SOURCE = {path: path.read_text("utf-8") for path in [*BOOK.glob("*.md"), *(ROOT / "notebooks").glob("[0-9]*.md")]}
BIBLIOGRAPHY = parse_file(BOOK / "references.bib").entries
PAPER = "suh2025sense7taxonomydatasetmeasuring"
NEEDED = {
    "article": {"author", "title", "journal", "year", "volume", "pages"},
    "inproceedings": {"author", "title", "booktitle", "year", "pages", "doi"},
    "book": {"author", "title", "publisher", "year"},
    "misc": {"author", "title", "year", "eprint", "archiveprefix"},
}


def plain(title):
    return re.sub(r"[{}]", "", title)


# Citations


def cited():
    roles = re.findall(r"\{cite:[pt]\}`([^`]+)`", "\n".join(SOURCE.values()))
    return {key.strip() for keys in roles for key in keys.split(",")}


def test_what_is_cited_is_what_the_bibliography_holds():
    assert cited() == set(BIBLIOGRAPHY)


@pytest.mark.parametrize("key", BIBLIOGRAPHY)
def test_an_entry_says_where_its_work_is_found(key):
    entry = BIBLIOGRAPHY[key]
    assert NEEDED[entry.type] <= {*entry.fields, *entry.persons}
    assert re.fullmatch(r"(?:19|20)\d\d", entry.fields["year"])
    assert entry.fields["year"] in key
    assert re.fullmatch(r"10\.\d{4,}/\S+", entry.fields.get("doi", "10.1000/none"))
    assert re.fullmatch(r"\d{4}\.\d{5}", entry.fields.get("eprint", "0000.00000"))
    assert all(person.last_names and person.first_names for person in entry.persons["author"])


def test_no_work_has_two_entries():
    titles = [plain(entry.fields["title"]).casefold() for entry in BIBLIOGRAPHY.values()]
    assert len(set(titles)) == len(titles)


def test_the_page_of_references_lists_every_entry_once(synthetic):
    shown = [text(tag) for tag in synthetic.page("book/cite").select("div.citation")]
    assert len(shown) == len(BIBLIOGRAPHY)
    for entry in BIBLIOGRAPHY.values():
        surname = str(entry.persons["author"][0].rich_last_names[0])
        assert [line for line in shown if surname in line and entry.fields["year"] in line], surname


def test_a_citation_leads_to_its_reference(synthetic):
    for path, source in SOURCE.items():
        name = str(path.relative_to(ROOT).with_suffix(""))
        if "{cite:" not in source or name not in synthetic.toc or name == "book/cite":
            continue
        links = [a["href"] for a in synthetic.page(name).select("a.reference[href*='cite.html#']")]
        assert links, name
        entries = {tag["id"] for tag in synthetic.page("book/cite").select("div.citation")}
        assert {link.partition("#")[2] for link in links} <= entries, name


# Words


def test_terms_are_explained_and_how_to_read_leads_to_them(synthetic):
    page = synthetic.page("book/how-to-read")
    terms = {
        text(term).removesuffix(" #").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"): term
        for term in page.select("dl.glossary dt")
    }
    assert list(terms) == sorted(terms, key=str.casefold)
    assert {
        *("study", "participant", "condition", "conversation", "turn", "rating", "applicability", "dimension", "level"),
        *(
            "ground truth",
            "label",
            "edition",
            "claim",
            "claim's rule",
            "check of the method",
            "grade",
            "tuned",
            "percentile interval",
            "judge",
        ),
    } <= terms.keys()
    for name, term in terms.items():
        assert len(text(term.find_next_sibling("dd"))) > 30, name
    for name in ("book/ledger", "book/index", "book/synthetic"):
        assert synthetic.page(name).select("a[href^='how-to-read.html#term-']"), name


# How to cite


def blocks():
    found = re.findall(r"```bibtex\n(.*?)```", SOURCE[BOOK / "cite.md"], re.DOTALL)
    return {key: entry for block in found for key, entry in parse_string(block, "bibtex").entries.items()}


def test_the_paper_is_cited_alike_everywhere():
    paper, shown = BIBLIOGRAPHY[PAPER], blocks()[PAPER]
    assert dict(shown.fields) == dict(paper.fields)
    assert shown.persons == paper.persons
    reference = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["preferred-citation"]
    assert reference["title"] == plain(paper.fields["title"])
    names = [f"{name['family-names']}, {name['given-names']}" for name in reference["authors"]]
    assert names == [str(person) for person in paper.persons["author"]]
    assert f"arXiv:{paper.fields['eprint']}" in [item["value"] for item in reference["identifiers"]]


def test_the_citation_file_is_what_its_format_asks_for():
    """Of the schema of the Citation File Format 1.2.0: what is required, and what may stand where."""
    file = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert file["cff-version"] == "1.2.0"
    assert file["message"]
    assert file["title"]
    assert file.get("type", "software") in {"software", "dataset"}
    assert str(file["version"]) == __version__
    assert file["license"] == "MIT"
    paper = file["preferred-citation"]
    for work in (file, paper):
        assert work["authors"]
        for author in work["authors"]:
            person = {"family-names", "given-names", "name-particle", "name-suffix", "alias", "affiliation", "orcid"}
            assert set(author) <= (person | {"website", "email"} if "name" not in author else {"name", "website"})
    assert {"type", "title", "authors"} <= paper.keys()
    assert 1 <= paper["month"] <= 12
    assert {item["type"] for item in paper["identifiers"]} <= {"doi", "url", "swh", "other"}


def test_the_companion_is_cited_in_the_version_it_has():
    companion = blocks()["sense7companion"]
    assert companion.fields["version"] == __version__
    assert companion.fields["license"] == "MIT"


def test_every_licence_is_that_of_the_registry_and_the_licence_file():
    rows = [line.strip("| ").split(" | ") for line in SOURCE[BOOK / "cite.md"].splitlines() if line.startswith("| ")]
    licences = {what: licence.strip("`").replace(" ", "-") for what, _, licence in rows[1:]}
    for name, words in {"official": "official workbook", "ieval": "iEval", "lend-an-ear": "Lend an Ear"}.items():
        (licence,) = [licence for what, licence in licences.items() if what.startswith(words)]
        assert licence == SOURCES[name].licence
    assert (ROOT / "LICENSE").read_text("utf-8").startswith(f"{licences['code and prose of this companion']} License")


def test_a_block_to_cite_can_be_copied(synthetic):
    page = synthetic.page("book/cite")
    assert len(page.select("div.highlight-bibtex pre")) == len(blocks())
    loaded = {script["src"].partition("?")[0].rpartition("/")[2] for script in page.find_all("script", src=True)}
    assert {"copybutton.js", "clipboard.min.js"} <= loaded


# The front page


def test_the_front_page_says_what_its_data_are_and_how_sure_it_is(edition):
    page = edition.page("book/index").find("article")
    assert edition.facts["label"] in text(page)


def test_a_reader_who_goes_on_meets_every_page_in_the_order_of_the_contents(synthetic):
    for name, following in zip(synthetic.toc, synthetic.toc[1:], strict=False):
        (link,) = synthetic.page(name).select("a.right-next")
        page = (synthetic.html / f"{name}.html").parent / link["href"]
        assert page.resolve() == (synthetic.html / f"{following}.html").resolve()
    assert synthetic.toc[1] == "notebooks/00-taxonomy"


# Paper, dark pages, small screens

CSS = (BOOK / "static" / "companion.css").read_text("utf-8")
SCREEN, _, PAPER_CSS = CSS.partition("@media print {")


def rules(css):
    """Selector -> declarations, comments apart."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return {
        selector.strip(): declarations
        for selectors, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", css)
        for selector in re.split(r",\s*\n", selectors)
    }


def test_colours_on_screens_are_those_of_the_theme():
    """A colour of our own would fit the light pages or the dark ones."""
    for selector, declarations in rules(SCREEN).items():
        for name, value in re.findall(r"([\w-]*color)\s*:\s*([^;]+)", declarations):
            assert re.fullmatch(r"var\(--pst-color-[\w-]+\)|inherit|transparent|currentcolor", value), (selector, name)
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(", declarations), selector


def test_a_caption_is_as_wide_as_what_is_in_sight():
    """A caption is as wide as its table, which may be wider than a phone: its end was out of sight."""
    screen = rules(SCREEN)
    for caption, place in {
        "table.table caption": ".cell_output .output",
        "figure.sense7-figure figcaption": "",
    }.items():
        assert "100cqi" in screen[caption]
        assert "position: sticky" in screen[caption]
        assert not place or "overflow-x: auto" in screen[place]
    for holder in (".cell_output .output.text_html", ".sense7-scroll", "figure.sense7-figure"):
        assert "container-type: inline-size" in screen[holder], holder


def test_on_paper_are_the_banner_the_text_and_the_results(synthetic):
    paper = rules(PAPER_CSS)
    hidden = [
        selector for selector, declarations in paper.items() if "display: none" in declarations and "::" not in selector
    ]
    page = BeautifulSoup(str(synthetic.page("notebooks/04-agreement")), "html.parser")
    for selector in hidden:
        for tag in page.select(selector):
            tag.decompose()
    assert (
        page.select(".bd-sidebar-primary, .bd-sidebar-secondary, .cell_input, .prev-next-footer, nav.d-print-none")
        == []
    )
    whole = synthetic.page("notebooks/04-agreement")
    for kept in (".bd-header-announcement", "article h1", "article table", "figure.sense7-figure svg", "figcaption"):
        assert len(page.select(kept)) == len(whole.select(kept)) > 0, kept
    assert text(page.select_one(".bd-header-announcement")) == text(whole.select_one(".bd-header-announcement"))
    assert "display: block" in paper[".bd-header-announcement"]


def test_every_page_has_the_style_sheet(edition):
    assert (edition.html / "_static" / "companion.css").read_text("utf-8") == CSS
    for name in edition.toc:
        sheets = [tag["href"] for tag in edition.page(name).find_all("link", rel="stylesheet")]
        assert any("_static/companion.css" in sheet for sheet in sheets), name
