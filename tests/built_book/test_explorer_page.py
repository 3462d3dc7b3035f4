"""The explorer's page: what it loads is there, and nothing of the data is in its markup."""

import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

import pytest

from sense7 import load
from sense7.book.extensions.links import FILTERS, SCRIPTS, wrong_filters

STATIC = Path(__file__).resolve().parents[2] / "book" / "static"
SCRIPT = "\n".join((STATIC / name).read_text("utf-8") for name in SCRIPTS)
STYLE = (STATIC / "explorer.css").read_text("utf-8")


@pytest.fixture
def index(edition):
    script = (edition.html / "explorer" / "conversations.js").read_text("utf-8")
    return json.loads(script.removeprefix("window.sense7Conversations=").removesuffix(";\n"))


def test_the_page_loads_its_data_and_scripts_from_beside_it(edition):
    page = edition.page("book/explorer")
    sources = [script["src"].split("?")[0] for script in page.find_all("script", src=True)]
    assert "../explorer/conversations.js" in sources
    own = [source for source in sources if source.startswith("../_static/explorer")]
    assert own == [f"../_static/{name}" for name in SCRIPTS], "each builds on those before"
    styles = [link["href"].split("?")[0] for link in page.find_all("link", rel="stylesheet")]
    assert "../_static/explorer.css" in styles
    for address in [source for source in sources if "explorer" in source]:
        assert (edition.html / "book" / address).is_file(), address


def test_no_other_page_loads_them(edition):
    for file in edition.files:
        if file != "book/explorer.html":
            assert not [s for s in edition.page(file).find_all("script", src=True) if "explorer" in s["src"]], file


def test_without_scripts_a_sentence_says_where_the_conversations_are(edition):
    sentence = edition.page("book/explorer").select_one("#sense7-explorer noscript")
    assert "sheets Tasks and Messages" in sentence.get_text()


def test_every_conversation_of_the_edition_is_there(edition, index):
    study = load(str(edition.folder / "data" / edition.facts["file"]))
    assert [row[0] for row in index["conversations"]] == study.conversations["conversation"].tolist()
    files = sorted(path.name for path in (edition.html / "explorer").iterdir())
    assert files == sorted(["conversations.js", *index["files"]])
    assert index["bytes"] == sum((edition.html / "explorer" / name).stat().st_size for name in index["files"])


@pytest.mark.long
def test_what_was_never_asked_is_known_to_the_page(ieval):
    script = (ieval.html / "explorer" / "conversations.js").read_text("utf-8")
    index = json.loads(script.removeprefix("window.sense7Conversations=").removesuffix(";\n"))
    never = {title for title, asked, _ in index["ratings"] if not asked}
    assert never == {"Overall", "Cognitive Understanding", "Relational Continuity"}
    assert {row[7] for row in index["conversations"]} == {None}, "without overall ratings no turn is known as poor"


def test_links_into_the_explorer_name_conversations_that_it_has(edition, index):
    names = {row[0] for row in index["conversations"]}
    for file in edition.files:
        for link in edition.page(file).select('a[href*="#conversation="]'):
            assert link.get_text() in names, file


def test_every_link_to_a_group_leads_to_conversations(edition, index):
    """What a link asks for is known to the explorer, and some conversation of the edition has it."""
    names = {name: index[f"{name}s"] for name in ("condition", "topic", "participant")}
    columns = {
        name: {row[number] for row in index["conversations"]}
        for number, name in ((1, "participant"), (2, "condition"), (3, "topic"))
    }
    found = Counter()
    for file in edition.files:
        for link in edition.page(file).select('a[href*="explorer.html#"]'):
            ((name, value),) = parse_qsl(urldefrag(link["href"]).fragment, strict_parsing=True)
            if name == "conversation":
                continue
            assert not wrong_filters({name: value}), file
            found[name] += 1
            if name in names:
                assert link.get_text() == value, file
                assert names[name].index(value) in columns[name], file
    asked = {name for name, answer in zip(("importance", "desired"), index["answers"], strict=False) if answer[2]}
    assert {"condition", "label"} <= set(found)
    assert "topic" in found or edition.facts["kind"] != "synthetic", "of iEval's valences none has a table of its own"
    assert found.keys() & {"importance", "desired"} <= asked, "a question that was never asked has no groups"


def test_a_group_in_a_table_has_as_many_conversations_as_the_explorer_finds(edition, index):
    page = edition.page("notebooks/01-dataset")
    table = next(
        table for table in page.select("table.dataframe") if "What each condition holds" in table.caption.get_text()
    )
    column = [head.get_text() for head in table.select("thead th")].index("conversations")
    for row in table.select("tbody tr"):
        name = index["conditions"].index(row.a.get_text())
        count = sum(one[2] == name for one in index["conversations"])
        assert row.find_all(["th", "td"])[column].get_text() == f"{count:,}"


def test_pages_about_other_data_lead_to_no_conversation(edition):
    for name in edition.facts["made"]["released"]:
        assert edition.page(f"notebooks/{name}").select('article a[href*="explorer.html#"]') == [], name


def test_script_and_pages_know_the_same_filters():
    empty = re.search(r"const EMPTY = \{(.*?)\n  \};", SCRIPT, re.DOTALL)[1]
    assert set(re.findall(r'(\w+): ""', empty)) == {*FILTERS, "page", "compare"}
    values = {name: pattern.replace("\\", "").split("|") for name, pattern in FILTERS.items()}
    sorts = re.search(r"const SORTS = \{(.*?)\n  \};", SCRIPT, re.DOTALL)[1]
    assert re.findall(r"^    (\w+): \[", sorts, re.MULTILINE) == values["sort"]
    for name in ("poor", "repeat"):
        choice = re.search(rf"^    {name}: \{{(.*?)\n    \}},", SCRIPT, re.DOTALL | re.MULTILINE)[1]
        assert re.findall(r'\["(\w+)", "', choice) == values[name]
    assert json.loads(re.search(r"const APART = (\[.*?\]);", SCRIPT)[1]) == values["apart"][:-1]


@pytest.mark.parametrize(
    "way", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"]
)
def test_the_script_has_no_way_to_make_markup_of_a_text(way):
    assert way not in SCRIPT


def test_the_script_needs_no_network_and_no_exception_from_a_content_security_policy(edition):
    for way in ("fetch(", "XMLHttpRequest", "import(", "://", 'setAttribute("style"', 'setAttribute("on'):
        assert way not in SCRIPT, way
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    place = edition.page("book/explorer").find(id="sense7-explorer").parent
    for tag in [place, *place.find_all(True)]:
        assert not [name for name in tag.attrs if name.startswith("on") or name == "style"], tag


def test_every_sign_of_a_rating_has_its_look():
    shown = set(re.findall(r'\[data-level="(.)"\]', STYLE))
    assert shown == set("12345-?.")
