"""The forest: every estimate beside the lines that judge it."""

import io
import re

import numpy as np
import pytest

from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures import forest
from sense7.figures.style import styled
from sense7.tables import Sentence


def table_of(estimates, unit):
    rows = {
        name: estimate_row(value, value - 0.1, value + 0.2, n=9, unit=unit, method="m; 95% interval")
        for name, value in estimates.items()
    }
    return estimate_table(rows, "data set")


PANELS = {
    "consistent": (table_of({"A": 0.5, "B": 0.9}, "alpha"), (0.8, 0.7)),
    "individual": (table_of({"C": 0.3}, "share of the variance"), (0.05,)),
}


def drawn():
    return forest(PANELS, name="x", caption="n = 9; 95% intervals.")


def raw(figure):
    """The drawing as matplotlib itself writes it."""
    with styled():
        figure.drawing.savefig(stream := io.StringIO(), format="svg")
    return stream.getvalue()


def test_each_panel_has_its_estimates_intervals_and_lines():
    first, second = drawn().drawing.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["A", "B"]
    ((points, _, (bars,)),) = first.containers
    assert points.get_xdata().tolist() == [0.5, 0.9]
    np.testing.assert_allclose([segment[:, 0] for segment in bars.get_segments()], [[0.4, 0.7], [0.8, 1.1]])
    vertical = [line for line in first.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_xdata()) == 0]
    found = {(float(line.get_xdata()[0]), line.get_linestyle()) for line in vertical if line.get_linestyle() != "None"}
    assert found == {(0.8, "--"), (0.7, ":")}
    assert first.get_xlabel() == "alpha"
    assert second.get_xlabel() == "share of the variance (%)"
    assert second.containers[0][0].get_xdata().tolist() == [30.0]
    assert {float(line.get_xdata()[0]) for line in second.lines if line.get_linestyle() == "--"} == {5.0}


def test_the_text_and_the_data_say_the_same():
    figure = drawn()
    assert "consistent, lines at 0.800 and 0.700: A: 0.500 (0.400 to 0.700)" in figure.alt
    assert "individual, line at 5.0%: C: 30.0% (20.0% to 50.0%)" in figure.alt
    assert figure.data.index.tolist() == [("consistent", "A"), ("consistent", "B"), ("individual", "C")]
    assert figure.html() == drawn().html()


def test_a_digit_that_is_not_seen_changes_nothing_in_the_page():
    """A fit ends in other last digits on another processor; the notebook's output must be the same text."""
    figure = drawn()
    moved = drawn()
    for axes in moved.drawing.axes:
        left, right = axes.get_xlim()
        axes.set_xlim(left, right * (1 + 1e-11))
    moved.drawing.set_figheight(moved.drawing.get_figheight() * (1 + 1e-10))
    hashes = {re.search(r'clipPath id="(p\w+)"', raw(each))[1] for each in (figure, moved)}
    assert len(hashes) == 2
    assert figure.html() == moved.html()


def test_an_estimate_without_an_interval_is_a_mark_alone():
    row = estimate_row(0.5, n=9, unit="alpha", method="m", reason="no interval")
    figure = forest({"x": (estimate_table({"A": row}, "data"), (0.8,))}, name="x", caption="n = 9")
    assert figure.drawing.axes[0].containers[0][0].get_xdata().tolist() == [0.5]
    assert "A: 0.500." in figure.alt


def test_where_there_is_nothing_a_sentence_says_so():
    assert isinstance(forest({}, name="x", caption=""), Sentence)
    with pytest.raises(UserError, match="forest wants a table of estimates"):
        forest({"x": (table_of({"A": 1.0}, "alpha").drop(columns="n"), (0,))}, name="x", caption="")


def test_where_no_estimate_is_known_the_sentence_says_why():
    row = estimate_row(n=0, unit="alpha", method="m", reason="nothing was rated")
    sentence = forest({"x": (estimate_table({"A": row, "B": row}, "data"), (0.8,))}, name="x", caption="n = 0")
    assert isinstance(sentence, Sentence)
    assert sentence.text == "No figure of the estimates: nothing was rated."
