"""What a page has from elsewhere: links into the explorer, which ask for what they say, and figures of notebooks."""

import base64
import html
import json
import re
from urllib.parse import parse_qsl, unquote, urldefrag

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from sense7 import tables
from sense7.book.extensions.links import (
    COLUMN,
    FILTERS,
    LACKING,
    filtered_address,
    find_picture,
    link_figures,
    link_tables,
    wrong_filters,
)
from sense7.figures.style import csv_text

GROUPS = {"condition": ["model-a", "A & B", "<b>", "none", "=1"], "topic": ["Work", "7"], "participant": ["P1", "12"]}
FIGURE = (
    '<figure class="sense7-figure sense7-specifications" id="specification-alpha"><script type="application/json">{}'
    '</script><a download="alpha.csv" href="#">Data (CSV)</a></figure>'
)
EXPLORER = {"book/explorer.md": "# Explorer\n\n```{explorer}\n```\n"}


def links(shown):
    found = BeautifulSoup(str(shown), "html.parser").find_all(
        "a", href=lambda address: address and "explorer.html#" in address
    )
    return {link.get_text(): dict(parse_qsl(urldefrag(link["href"]).fragment)) for link in found}


def table(index, *names):
    return tables.plain(pd.DataFrame({"n": [1] * len(names)}, index=pd.Index(names, name=index)), "A")._repr_html_()


# --- addresses


@given(
    st.dictionaries(
        st.sampled_from(["text", "condition", "topic", "participant", "poor"]), st.text(min_size=1), min_size=1
    )
)
def test_an_address_holds_every_filter_whatever_its_value(filters):
    page, _, fragment = filtered_address(filters, "notebooks/06-poor-turn").partition("#")
    assert page == "../book/explorer.html"
    assert fragment.isascii()
    read = dict(parse_qsl(fragment, strict_parsing=True))
    # "none" and a leading = mean something else where a name is asked for, so that the name gets a sign before it.
    assert {
        name: value if value == filters[name] else value.removeprefix("=") for name, value in read.items()
    } == filters


@given(st.text(min_size=1))
def test_the_address_of_a_conversation_gives_its_name_back(name):
    fragment = filtered_address({"conversation": name}, "notebooks/00-taxonomy").partition("#")[2]
    assert re.fullmatch(r"conversation=[\w.~%-]+", fragment, re.ASCII)
    assert unquote(fragment.removeprefix("conversation=")) == name


def test_a_condition_called_none_is_not_what_is_not_given():
    assert filtered_address({"condition": "none"}, "book/ledger").endswith("#condition=%3Dnone")
    assert filtered_address({"label": "none"}, "book/ledger").endswith("#label=none")


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"poor": "yes", "condition": "Prompted"}, ""),
        ({"low": "Relational", "level": "1"}, ""),
        ({"apart": "1.5", "sort": "apart"}, ""),
        ({"turns_from": "3", "turns_to": "8", "from": "1", "to": "2.5"}, ""),
        ({"poro": "yes"}, "'poro'"),
        ({"poor": "often"}, "'often'"),
        ({"low": "Warmth"}, "'Warmth'"),
        ({"importance": "6"}, "'6'"),
        ({"topic": ""}, "topic"),
        ({}, "no filter"),
    ],
)
def test_filters_of_the_explorer_are_accepted_and_what_is_none_is_named(filters, named):
    said = wrong_filters(filters)
    assert named in said
    assert bool(said) is bool(named)


def test_the_role_links_to_the_explorer_with_its_filters_or_is_a_warning(page):
    texts = {
        "the poor ones <poor=yes&condition=A %26 B>": "",
        "words <poro=yes>": "'poro' is no filter",
        "words": "words <filter=value>",
        "words <poor=yes&poor=no>": "twice",
    }
    source = "\n\n".join(["# Page", *(f"See {{conversations}}`{text}`." for text in texts)])
    shown, warnings = page(source, ["links"], files=EXPLORER)
    assert warnings.count("notebooks/03.md") == 3
    assert all(complaint in warnings for complaint in texts.values())
    assert links(shown) == {"the poor ones": {"poor": "yes", "condition": "A & B"}}


def test_a_book_without_the_explorer_shows_the_words_alone(page):
    shown, warnings = page("# Page\n\n{conversations}`the poor ones <poor=yes>`, {conversation}`T1`.\n", ["links"])
    assert warnings == ""
    assert "the poor ones, T1." in shown.get_text()
    assert links(shown) == {}


def test_the_explorers_page_has_its_place_its_data_and_words_without_javascript(page):
    shown, warnings = page(EXPLORER["book/explorer.md"], ["links"])
    assert warnings == ""
    assert shown.find(id="sense7-explorer")["data-folder"] == "../explorer/"
    assert shown.noscript.get_text(strip=True).startswith("This page needs JavaScript")
    assert "../explorer/conversations.js" in [script.get("src") for script in shown.find_all("script")]


# --- tables


@pytest.mark.parametrize("name", ["model-a", "A & B", "<b>"])
def test_a_row_that_is_a_condition_leads_to_its_conversations(name):
    plain = table("condition", name, "(all)")
    linked = link_tables(plain, "notebooks/02-ratings", GROUPS)
    assert links(linked) == {name: {"condition": name}}
    assert BeautifulSoup(linked, "html.parser").get_text() == BeautifulSoup(plain, "html.parser").get_text()


def test_each_of_several_tables_is_read_by_its_own_head():
    shown = table("condition", "model-a") + table("pair", "model-a") + table("topic", "Work")
    shown += table("importance", "1", "5", "6") + table("desired empathy", "3", "4")
    assert list(links(link_tables(shown, "notebooks/a", GROUPS)).values()) == [
        {"condition": "model-a"},
        {"topic": "Work"},
        {"importance": "1"},
        {"importance": "5"},
        {"desired": "3"},
    ]


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ("condition", ["model-z", "(all)", "all conversations"]),  # not of this edition, or no condition
        ("topic", ["1", "7"]),  # numbered rows, such as topics of a topic model
        ("participant", ["12"]),
        ("pair", ["model-a"]),
        ("dimension", [*FILTERS["low"].split("|")]),
    ],
)
def test_other_rows_stay_as_they_are(index, names):
    shown = table(index, *names)
    assert link_tables(shown, "notebooks/a", GROUPS) == shown
    assert link_tables(table("condition", "model-a"), "book/a", None) == table("condition", "model-a")


@pytest.mark.parametrize("name", ["T0001", "a b&c", '"><script>alert(1)</script>', "12"])
def test_cells_of_the_column_become_links_and_other_cells_stay(name):
    frame = pd.DataFrame({"text": ["said <b>"], COLUMN: [name], "n": ["3"]}, index=["first"])
    plain = tables.plain(frame, "A table")._repr_html_()
    linked = BeautifulSoup(link_tables(plain, "notebooks/14-words", None), "html.parser")
    (link,) = linked.find_all("a")
    assert link.get_text() == name
    assert link["href"] == filtered_address({"conversation": name}, "notebooks/14-words")
    link.unwrap()
    assert linked.find("script") is None
    assert linked.get_text() == BeautifulSoup(plain, "html.parser").get_text()


def test_tables_without_the_column_are_left_to_the_byte_and_an_empty_cell_leads_nowhere():
    frame = pd.DataFrame({"conversation": ["T1"], "n": [COLUMN]}, index=["a"])
    shown = f"<p>{html.escape(COLUMN)}</p>" + tables.plain(frame, COLUMN)._repr_html_()
    assert link_tables(shown, "notebooks/14-words", GROUPS) == shown
    frame = pd.DataFrame({COLUMN: ["T1", "", None], "n": ["1", "2", "3"]}, index=["a", "b", "c"])
    linked = link_tables(tables.plain(frame, "A table")._repr_html_(), "book/ledger", None)
    assert re.findall(r'href="([^"]*)"', linked) == ["explorer.html#conversation=T1"]


# --- figures


def figure(frame):
    data = base64.b64encode(csv_text(frame).encode()).decode()
    link = f'<a download="a.csv" href="data:text/csv;base64,{data}">Data (CSV)</a>'
    return f'<figure class="sense7-figure x"><svg></svg><figcaption>A figure. {link}</figcaption></figure>'


def test_a_figure_of_groups_is_followed_by_links_to_them():
    frame = pd.DataFrame({"line": ["x", "x", "y"], "condition": ["model-a", "<b>", "model-a"], "n": [1, 2, 3]})
    linked = link_figures(figure(frame.set_index("line")), "notebooks/a", GROUPS)
    assert links(linked) == {"model-a": {"condition": "model-a"}, "<b>": {"condition": "<b>"}}


@pytest.mark.parametrize(
    ("column", "names"),
    [
        ("condition", ["model-z"]),
        ("rating", ["model-a"]),
        ("topic", ["1: felt, understood"]),
        ("participant", [f"P{number}" for number in range(100)]),  # many people: no list of them
    ],
)
def test_a_figure_of_something_else_is_left_to_the_byte(column, names):
    shown = figure(pd.DataFrame({column: names}).set_index(column))
    groups = GROUPS | {"participant": [f"P{number}" for number in range(100)]}
    assert link_figures(shown, "notebooks/a", groups) == shown


# --- figures of other notebooks


def notebook(*cells):
    return {"cells": [{"source": [source], "outputs": [{"data": {"text/html": shown}}]} for source, shown in cells]}


def test_a_figure_is_found_by_its_name_or_the_sentence_in_its_place():
    other, sentence = FIGURE.replace("alpha.csv", "beta.csv"), "<p><em>Nothing was rated.</em></p>"
    node = notebook(
        ('draw(name="beta")', other), ('draw(name="alpha")', [f"<div>{FIGURE[:30]}", f"{FIGURE[30:]}</div>"])
    )
    assert (find_picture(node, "alpha"), find_picture(node, "beta")) == (FIGURE, other)
    assert find_picture(notebook(('draw(name="alpha")', sentence)), "alpha") == sentence
    assert find_picture(node, "alph") is None
    assert find_picture({"cells": [{"source": '`name="alpha"` in prose'}]}, "alpha") is None


@pytest.mark.parametrize(
    ("shown", "name", "words", "complaint"),
    [
        (f"<div>{FIGURE}</div>", "alpha", FIGURE, ""),
        ("<p><em>No curve of alpha.</em></p>", "alpha", "<em>No curve of alpha.</em>", ""),
        (None, "alpha", LACKING, ""),
        (FIGURE, "alfa", "", "notebooks/15-robustness has no figure 'alfa'"),
    ],
    ids=["figure", "sentence", "no such notebook", "unknown"],
)
def test_a_page_shows_the_specifications_of_its_finding_or_why_it_cannot(page, shown, name, words, complaint):
    executed = {} if shown is None else {"15-robustness": json.dumps(notebook(('draw(name="alpha")', shown)))}
    html_of, warnings = page(f"# Page\n\n```{{specifications}} {name}\n```\n", ["links"], executed=executed)
    assert complaint in warnings
    assert bool(warnings) is bool(complaint)
    assert words in str(html_of)
