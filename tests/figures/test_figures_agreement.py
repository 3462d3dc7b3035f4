"""Figures of agreement: every value in its place, and in words for those who do not see it."""

import numpy as np
import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.agreement import intervals_by_group, published_against_computed

TABLE = pd.DataFrame(
    {
        "corpus": ["a", "a", "b"],
        "published": [0.10, 0.50, 0.90],
        "computed": [0.104, 0.496, 0.90],
        "other": [0.104, 0.60, 0.90],
    }
)


def scatter():
    panels = {"kappa": ("published", {"computed": "one way", "other": "another way"})}
    return published_against_computed(TABLE, panels, {"a": "First", "b": "Second"}, name="x", caption="n = 3")


def test_every_published_value_is_drawn_and_of_other_ways_only_what_differs():
    (axes,) = scatter().drawing.axes
    drawn = [np.asarray(marks.get_offsets()).tolist() for marks in axes.collections]
    assert drawn == [[[0.1, 0.104], [0.5, 0.496]], [[0.5, 0.6]], [[0.9, 0.9]], []]
    assert [text.get_text() for text in scatter().drawing.legends[0].get_texts()] == ["First", "Second"]


def test_agreement_is_said_in_words():
    alt = scatter().alt
    assert "kappa one way: 3 of 3 within rounding, largest difference 0.004" in alt
    assert "kappa another way: 2 of 3 within rounding, largest difference 0.100" in alt


def estimates(*values, unit="points"):
    rows = {
        f"row{number}": estimate_row(value, value - 0.1, value + 0.1, n=9, unit=unit, method="mean; interval")
        for number, value in enumerate(values)
    }
    return estimate_table(rows, "row")


GROUPS = {"One": {"row0": "first"}, "Two": {"row1": "second", "row2": "third"}}


def forest(**options):
    tables = {"A": estimates(0.1, 0.2, np.nan), "B": estimates(0.4, 0.5, 0.6)}
    return intervals_by_group(tables, GROUPS, name="x", label="mean", caption="n = 9; interval", **options)


def test_each_group_has_a_panel_with_its_rows():
    upper, lower = forest().drawing.axes
    assert (upper.get_title(loc="left"), lower.get_title(loc="left")) == ("One", "Two")
    assert [label.get_text() for label in lower.get_yticklabels()] == ["second", "third"]
    found = [[point.tolist() for point in container.lines[0].get_xdata()] for container in lower.containers]
    assert found == [[0.2], [0.5, 0.6]], "a row without an estimate has no mark"


def test_every_estimate_stands_in_the_words_and_the_data():
    figure = forest(zero=True)
    assert "One, A: first: 0.100 (0.000 to 0.200)." in figure.alt
    assert "third: not available" in figure.alt
    assert len(figure.data) == 6
    assert forest(zero=True).html() == figure.html()


def test_shares_are_drawn_in_percent():
    tables = {"A": estimates(0.1, 0.2, 0.3, unit="share of the range")}
    figure = intervals_by_group(tables, GROUPS, name="x", label="level", caption="n = 9; interval")
    upper, lower = figure.drawing.axes
    assert upper.containers[0].lines[0].get_xdata().tolist() == [10.0]
    assert lower.get_xlabel() == "level (%)"


def test_what_is_no_table_of_estimates_is_refused():
    with pytest.raises(UserError, match="intervals_by_group wants a table of estimates"):
        intervals_by_group({"A": TABLE}, GROUPS, name="x", label="l", caption="c")
