"""Figures and tables: text stays text, figures are described, equal data give equal output."""

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from sense7 import figures, tables
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.taxonomy import LEVELS

HOSTILE = ["<script>alert(1)</script>", "$\\frac{1}$", "a & b -- c", "{value}`x`", "[a](javascript:b)"]


def table_of(names, unit="share of turns"):
    rows = {name: estimate_row(0.5, 0.4, 0.6, n=10, unit=unit, method="m") for name in names}
    return estimate_table(rows, "which")


def test_bars_of_levels_hold_every_answer_and_follow_the_page():
    """Answers without a level are drawn in the page's ink; a kind that nobody gave has no name."""
    counts = pd.DataFrame(
        [[1, 2, 3, 4, 10, 15, 5, 0], [0, 0, 0, 0, 0, 0, 40, 0]],
        index=["overall", "Interest"],
        columns=[1, 2, 3, 4, 5, "not rated", "absent", "unreadable"],
    )
    figure = figures.level_distribution(counts, name="x", caption="c")
    axes = figure.drawing.axes[0]
    labels = [text.get_text().replace("\n", " ") for text in axes.texts]
    assert sorted(labels) == sorted([*LEVELS, "unknown or not applicable", "blank"])
    widths = [sum(bar.get_width() for bar in axes.patches if round(bar.get_y() + 0.36) == row) for row in (0, 1)]
    assert widths == pytest.approx([100, 100])
    empty = [bar for bar in axes.patches if bar.get_facecolor()[3] == 0]
    assert [round(bar.get_width(), 6) for bar in empty] == [37.5, 12.5, 100]
    assert "overall: very poor 2%" in figure.alt
    assert "unknown or not applicable 38%, blank 12%" in figure.alt
    assert "Interest: very poor 0%" in figure.alt
    assert "#010203" not in figure.svg()


def test_text_from_the_data_is_never_markup_in_a_table():
    frame = pd.DataFrame({"text": HOSTILE}, index=pd.Index(HOSTILE, name="<i>"))
    page = BeautifulSoup(tables.plain(frame, "<b>caption</b>")._repr_html_(), "html.parser")
    assert not page.find_all(["script", "b", "i"])
    assert page.caption.get_text() == "<b>caption</b>"
    assert [cell.get_text() for cell in page.select("tbody td")] == HOSTILE


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


def test_long_texts_are_shown_whole():
    frame = pd.DataFrame({"text": ["x" * 500]})
    assert "x" * 500 in tables.plain(frame, "c")._repr_html_()


def test_no_table_shows_minus_zero():
    frame = pd.DataFrame({"x": [-0.001, -0.0, -0.4]})
    assert [row[1] for row in (line.split() for line in repr(tables.plain(frame, "c")).splitlines()[2:])] == [
        "0.00", "0", "-0.40",
    ]  # fmt: skip
    row = estimate_row(-0.0001, -0.0002, 0.5, n=9, unit="level, 1 to 5", method="mean; interval")
    assert "-0" not in repr(tables.estimates(estimate_table({"a": row}, "which"), "c; interval"))


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


def test_stacked_shares_leave_out_what_is_not_known_and_say_so():
    rows = {
        "person": estimate_row(0.7, 0.6, 0.8, n=10, unit="share of the variance", method="m"),
        "condition": estimate_row(-0.1, -0.2, 0.1, n=10, unit="share of the variance", method="m"),
        "turn": estimate_row(n=10, unit="share of the variance", method="m", reason="it can't be identified"),
    }
    known, empty = estimate_table(rows, "part"), estimate_table({"person": rows["turn"]}, "part")
    figure = figures.stacked_shares({"mean": known, "none": empty}, name="x", caption="c")
    widths = [patch.get_width() for patch in figure.drawing.axes[0].patches]
    assert widths == pytest.approx([70, 0, 0])
    assert [text.get_text() for text in figure.drawing.axes[0].texts] == ["70"]
    assert "turn: not available (it can't be identified)" in figure.alt
    assert "condition: -10.0% (-20.0% to 10.0%)" in figure.alt
    assert len(figure.data) == 3
    sentence = figures.stacked_shares({"none": empty}, name="x", caption="c")
    assert repr(sentence) == "No figure of shares of the variance: it can't be identified."
