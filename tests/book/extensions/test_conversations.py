"""A link into the explorer asks for what it says, and nothing that is no group of this edition becomes a link."""

import base64
from io import StringIO
from urllib.parse import parse_qsl, urldefrag

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from sense7 import tables
from sense7.book.extensions.explorer import FILTERS, filtered_address, link_figures, link_groups, wrong_filters
from sense7.figures.style import csv_text

GROUPS = {"condition": ["model-a", "A & B", "<b>", "none", "=1"], "topic": ["Work", "7"], "participant": ["P1", "12"]}


def links(shown):
    found = BeautifulSoup(shown, "html.parser").find_all("a", href=lambda address: "explorer.html#" in address)
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


def test_a_condition_called_none_is_not_what_is_not_given():
    assert filtered_address({"condition": "none"}, "book/ledger").endswith("#condition=%3Dnone")
    assert filtered_address({"label": "none"}, "book/ledger").endswith("#label=none")


@pytest.mark.parametrize(
    "filters",
    [
        {"poor": "yes", "condition": "Prompted"},
        {"low": "Relational", "level": "1"},
        {"apart": "1.5", "sort": "apart"},
        {"turns_from": "3", "turns_to": "8", "from": "1", "to": "2.5"},
    ],
)
def test_filters_of_the_explorer_are_accepted(filters):
    assert wrong_filters(filters) == ""


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"poro": "yes"}, "'poro'"),
        ({"poor": "often"}, "'often'"),
        ({"low": "Warmth"}, "'Warmth'"),
        ({"importance": "6"}, "'6'"),
        ({"topic": ""}, "topic"),
        ({"page": "2"}, "'page'"),
        ({}, "no filter"),
    ],
)
def test_what_is_no_filter_is_named(filters, named):
    assert named in wrong_filters(filters)


# --- in a page


def build(folder, text, *, explorer=True):
    """Warnings and the page of a small book."""
    source = folder / "source"
    (source / "book").mkdir(parents=True)
    (source / "index.md").write_text("# Top\n\n```{toctree}\n:glob:\nbook/*\n```\n", "utf-8")
    (source / "book" / "page.md").write_text(f"# Page\n\n{text}\n", "utf-8")
    if explorer:
        (source / "book" / "explorer.md").write_text("# Explorer\n", "utf-8")
    settings = {"extensions": ["myst_parser", "sense7.book.extensions.explorer"]}
    warnings = StringIO()
    with docutils_namespace():
        arguments = (source, None, folder / "out", folder / "trees", "html")
        Sphinx(*arguments, confoverrides=settings, status=None, warning=warnings).build()
    return warnings.getvalue(), (folder / "out" / "book" / "page.html").read_text("utf-8")


def test_the_role_links_to_the_explorer_with_its_filters(tmp_path):
    warnings, page = build(tmp_path, "See {conversations}`the poor ones <poor=yes&condition=A %26 B>`.")
    assert warnings == ""
    assert links(page) == {"the poor ones": {"poor": "yes", "condition": "A & B"}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("words <poro=yes>", "'poro' is no filter"),
        ("words <poor=maybe>", "'maybe'"),
        ("words", "words <filter=value>"),
        ("words <poor=yes&poor=no>", "twice"),
    ],
)
def test_a_role_that_asks_for_what_is_not_there_is_a_warning(tmp_path, text, complaint):
    warnings, page = build(tmp_path, f"See {{conversations}}`{text}`.")
    assert "page.md" in warnings
    assert complaint in warnings
    assert links(page) == {}


def test_a_book_without_the_explorer_shows_the_words_alone(tmp_path):
    warnings, page = build(tmp_path, "See {conversations}`the poor ones <poor=yes>`.", explorer=False)
    assert warnings == ""
    assert "the poor ones" in page
    assert links(page) == {}


# --- tables


@pytest.mark.parametrize("name", ["model-a", "A & B", "<b>"])
def test_a_row_that_is_a_condition_leads_to_its_conversations(name):
    plain = table("condition", name, "(all)")
    linked = link_groups(plain, "notebooks/02-ratings", GROUPS)
    assert links(linked) == {name: {"condition": name}}
    assert BeautifulSoup(linked, "html.parser").get_text() == BeautifulSoup(plain, "html.parser").get_text()


def test_levels_of_importance_and_of_the_wish_lead_to_theirs():
    assert links(link_groups(table("importance", "1", "5", "6"), "notebooks/a", GROUPS)) == {
        "1": {"importance": "1"},
        "5": {"importance": "5"},
    }
    assert links(link_groups(table("desired empathy", "3", "4"), "notebooks/a", GROUPS)) == {"3": {"desired": "3"}}


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
    assert link_groups(shown, "notebooks/a", GROUPS) == shown


def test_each_of_several_tables_is_read_by_its_own_head():
    shown = table("condition", "model-a") + table("pair", "model-a") + table("topic", "Work")
    assert list(links(link_groups(shown, "notebooks/a", GROUPS)).values()) == [
        {"condition": "model-a"},
        {"topic": "Work"},
    ]


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
    "frame",
    [
        pd.DataFrame({"condition": ["model-z"]}),
        pd.DataFrame({"rating": ["model-a"]}),
        pd.DataFrame({"topic": ["1: felt, understood"]}),
    ],
)
def test_a_figure_of_something_else_is_left_to_the_byte(frame):
    shown = figure(frame.set_index(frame.columns[0]))
    assert link_figures(shown, "notebooks/a", GROUPS) == shown


def test_a_figure_of_many_people_has_no_list_of_them():
    people = [f"P{number}" for number in range(100)]
    shown = figure(pd.DataFrame({"participant": people}).set_index("participant"))
    assert link_figures(shown, "notebooks/a", {"participant": people}) == shown
