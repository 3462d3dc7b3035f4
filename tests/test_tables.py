"""Tables, matrices and variants: text stays text, what is missing is said, equal data give equal output."""

import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from sense7 import figures, tables
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.tables import Sentence, Table, Variants

HOSTILE = ["<script>alert(1)</script>", "$\\frac{1}$", "a & b -- c", "{value}`x`", "[a](javascript:b)"]


def table_of(names, unit="share of turns"):
    rows = {name: estimate_row(0.5, 0.4, 0.6, n=10, unit=unit, method="m") for name in names}
    return estimate_table(rows, "which")


def test_a_table_names_its_rows_and_columns_for_screen_readers():
    page = BeautifulSoup(tables.estimates(table_of(["a", "b"]), "caption")._repr_html_(), "html.parser")
    assert {head["scope"] for head in page.select("thead th")} == {"col"}
    assert {head["scope"] for head in page.select("tbody th")} == {"row"}


def test_an_estimate_that_is_missing_is_said_to_be():
    table = table_of(["a"])
    table.loc["b"] = estimate_row(n=0, unit="share of turns", method="m", reason="never asked")
    text = BeautifulSoup(tables.estimates(table, "c")._repr_html_(), "html.parser").get_text(" ")
    assert "not available" in text
    assert "never asked" in text
    assert "nan" not in text.casefold()


def test_no_table_shows_minus_zero():
    frame = pd.DataFrame({"x": [-0.001, -0.0, -0.4]})
    assert [row[1] for row in (line.split() for line in repr(tables.plain(frame, "c")).splitlines()[2:])] == [
        "0.00", "0", "-0.40",
    ]  # fmt: skip
    row = estimate_row(-0.0001, -0.0002, 0.5, n=9, unit="level, 1 to 5", method="mean; interval")
    assert "-0" not in repr(tables.estimates(estimate_table({"a": row}, "which"), "c; interval"))


def test_a_table_whose_caption_does_not_say_what_its_intervals_are_gives_the_methods():
    rows = {
        name: estimate_row(0.5, low, 0.6, n=9, unit="levels", method=f"mean of {name}; percentile interval")
        for name, low in (("a", 0.4), ("b", 0.3))
    }
    table = estimate_table(rows, "which")
    shown = tables.estimates(table, "Means")
    assert shown.caption == "Means; mean of a; percentile interval; mean of b; percentile interval"
    assert "n" in shown.frame.columns
    assert tables.estimates(table, "Means; 95% percentile interval").caption == "Means; 95% percentile interval"
    none = estimate_table({"a": estimate_row(0.5, n=9, unit="levels", method="mean")}, "which")
    assert tables.estimates(none, "Means").caption == "Means"


# Matrix of verdicts


def cells(names=("first", "second")):
    value = {"estimate": 0.5, "low": 0.4, "high": 0.6, "unit": "share of turns"}
    common = {"row": names[0], "text": names[1], "n": 1234, "link": "a.html#cell-2"}
    none = {"row": names[0], "text": "", "n": None, "link": "", "value": None}
    return pd.DataFrame(
        [
            common | {"column": "published", "verdict": "", "value": 0.75, "n": None},
            common | {"column": "A", "verdict": "seen here too", "value": value},
            none | {"column": "B", "verdict": "was not asked"},
        ]
    )


def test_a_cell_of_a_matrix_is_a_word_a_mark_and_a_link_to_its_number():
    page = BeautifulSoup(tables.Matrix(cells(), "Verdicts", "finding")._repr_html_(), "html.parser")
    assert page.caption.text == "Verdicts"
    assert [head.text for head in page.select("thead th[scope=col]")] == ["finding", "published", "A", "B"]
    assert page.select_one("tbody th[scope=row]").text == "first"
    published, seen, not_asked = page.select("td")
    assert published.a.text == "0.75"
    assert published.strong is None
    assert (seen.strong.text, seen.a.text, seen.a["href"]) == ("seen here too", "50.0% [40.0%, 60.0%]", "a.html#cell-2")
    assert seen.select("small")[1].text == "second; n = 1,234"
    assert (not_asked.strong.text, not_asked.a, not_asked.select("small")) == ("was not asked", None, [])
    marks = [cell.select_one("[aria-hidden]").text for cell in (seen, not_asked)]
    assert len(set(marks)) == 2, "a verdict does not rest on color alone"
    assert [cell["data-column"] for cell in page.select("td")] == ["published", "A", "B"]
    assert {tag["role"] for tag in page.select("[role]")} == {
        *("table", "rowgroup", "row", "columnheader", "rowheader", "cell")
    }


def test_text_is_never_markup_in_a_matrix():
    hostile = cells(HOSTILE[:2]).assign(column=[*HOSTILE[2:4], '"><b>'], link='"onclick="x')
    page = BeautifulSoup(tables.Matrix(hostile, "<i>", "<u>")._repr_html_(), "html.parser")
    assert page.select("script, i, u, b, [onclick]") == []
    assert page.select_one("tbody th").text == HOSTILE[0]
    assert page.select("td")[2]["data-column"] == '"><b>'


def test_a_matrix_that_lacks_a_cell_or_knows_no_such_verdict_is_refused():
    two = pd.concat([cells(), cells(("other", "x")).iloc[:2]])
    with pytest.raises(ValueError, match="the same columns"):
        tables.Matrix(two, "Verdicts", "finding")
    with pytest.raises(ValueError, match="without a mark: maybe"):
        tables.Matrix(cells().assign(verdict="maybe"), "Verdicts", "finding")


def test_a_matrix_as_text_says_the_same():
    lines = repr(tables.Matrix(cells(), "Verdicts", "finding")).splitlines()
    assert lines == [
        "Verdicts",
        "first; published: 0.75, second",
        "first; A: seen here too, 50.0% [40.0%, 60.0%], second, n = 1,234",
        "first; B: was not asked",
    ]


# Variants: computed results that a reader switches between, without a script, a kernel or a network


def table(text="a", caption="n = 3"):
    return Table(pd.DataFrame({"text": [text, text]}, index=pd.Index(["one", "two"], name="row")), caption)


def heat_map(values, name="x"):
    return figures.heat_map(pd.DataFrame({"n": values}), name=name, label="turns", caption="n = 4 turns.")


def some():
    shown = {"pairwise": table("p"), "listwise": heat_map([1, 2, 2, 5]), "neither": Sentence("Nothing was rated.")}
    return Variants(shown, label="missing rule")


def soup(variants):
    return BeautifulSoup(variants._repr_html_(), "html.parser")


def test_every_variant_is_a_choice_with_its_name_and_the_first_is_chosen():
    group = soup(some()).fieldset
    assert group.legend.get_text() == "Switch: missing rule"
    choices = group.find_all("input", recursive=False)
    assert [choice["type"] for choice in choices] == ["radio"] * 3
    assert len({choice["name"] for choice in choices}) == 1
    assert [choice.has_attr("checked") for choice in choices] == [True, False, False]
    for choice, name in zip(choices, ["pairwise", "listwise", "neither"], strict=True):
        label = choice.find_next_sibling()
        assert (label.name, label["for"], label.get_text()) == ("label", choice["id"], name)
        shown = label.find_next_sibling()
        assert (shown["role"], shown["aria-labelledby"]) == ("group", label["id"])


def test_each_variant_is_shown_as_it_would_be_alone():
    variants = some()
    bodies = [str(body) for body in soup(variants).select("fieldset > div")]
    for body, alone in zip(bodies, variants.shown.values(), strict=True):
        expected = BeautifulSoup(alone._repr_html_(), "html.parser")
        assert BeautifulSoup(body, "html.parser").div.decode_contents() == expected.decode()


def test_equal_variants_give_equal_html_and_others_share_no_id():
    assert some()._repr_html_() == some()._repr_html_()
    pages = [soup(some())]
    pages += [soup(Variants({"a": table(text), "b": Sentence("c")}, label="rule")) for text in "xy"]
    pages += [soup(Variants({name: table("x")}, label=label)) for name, label in (("a", "bc"), ("ab", "c"))]
    names = [page.input["name"] for page in pages]
    assert len(set(names)) == len(names)
    ids = [tag["id"] for page in pages for tag in page.find_all(id=True)]
    assert len(set(ids)) == len(ids)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True), st.text())
def test_names_and_labels_are_text_whatever_they_hold(names, label):
    html = Variants({name: Sentence("s") for name in names}, label=label)._repr_html_()
    # "<" and "&" as characters of the data are the only way to markup, and both are written as references.
    labels = re.findall(r"<label [^>]*>([^<]*)</label>", html)
    assert [text.count("&") for text in labels] == [sum(map(name.count, "&<>\"'")) for name in names]
    assert len(re.findall("<legend>[^<]*</legend>", html)) == 1
    assert html.count("<input ") == html.count("<label ") == len(names)


def test_a_terminal_gets_all_variants_under_their_names():
    text = repr(some())
    assert text.startswith("Switch, missing rule:\n[pairwise]\nn = 3\n")
    assert "[listwise]\nFigure: Heat map of turns" in text
    assert text.endswith("[neither]\nNothing was rated.")


@pytest.mark.parametrize(
    ("shown", "problem"), [({}, "there is none"), ({"a": "<b>text</b>"}, "'a' is no figure, table or sentence")]
)
def test_what_cannot_be_shown_is_refused(shown, problem):
    with pytest.raises(ValueError, match=f"variants of 'rule': {problem}"):
        Variants(shown, label="rule")
