"""The explorer's page: what it loads is there, and nothing of the data is in its markup."""

import json
import re
from pathlib import Path

import pytest

from sense7 import load
from sense7.book.extensions.page import EXPLORER_SCRIPTS as SCRIPTS

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
