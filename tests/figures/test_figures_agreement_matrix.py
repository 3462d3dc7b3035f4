"""Matrix of agreement: every pair once, below the diagonal, with its number."""

import numpy as np
import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.agreement_matrix import agreement_matrix
from sense7.tables import Sentence

RHO = {("A", "B"): 0.71, ("A", "person"): -0.004, ("B", "person"): 0.2}


def pairs(values):
    rows = {
        f"{first} with {second}": estimate_row(
            rho, rho - 0.1, rho + 0.1, n=50, unit="Spearman's rho", method="Spearman; percentile interval"
        )
        for (first, second), rho in values.items()
    }
    first, second = zip(*values, strict=True)
    return estimate_table(rows, "who with whom").assign(first=first, second=second)


def drawn(values):
    return agreement_matrix(pairs(values), name="x", label="Spearman correlation", caption="n = 50; 95% interval.")


def numbers(figure):
    """Row and column of each cell -> the number in it."""
    (axes,) = figure.drawing.axes
    down, across = ([label.get_text() for label in ticks()] for ticks in (axes.get_yticklabels, axes.get_xticklabels))
    return {
        (down[round(text.get_position()[1])], across[round(text.get_position()[0])]): text.get_text()
        for text in axes.texts
    }


def test_each_pair_stands_once_below_the_diagonal():
    shown = {("B", "A"): "0.71", ("person", "A"): "0.00", ("person", "B"): "0.20"}
    assert numbers(drawn(RHO)) == shown
    turned = {("A", "B"): 0.71, ("person", "A"): -0.004, ("B", "person"): 0.2}
    assert numbers(drawn(turned)) == shown, "which of the two is named first does not matter"


def test_a_pair_without_an_estimate_has_an_empty_cell():
    figure = drawn(RHO | {("B", "person"): np.nan})
    assert numbers(figure) == {("B", "A"): "0.71", ("person", "A"): "0.00"}
    assert "B with person: not available" in figure.alt


def test_words_and_data_hold_every_number():
    figure = drawn(RHO)
    assert "A with B: 0.710 (0.610 to 0.810); A with person: " in figure.alt
    pd.testing.assert_frame_equal(figure.data, pairs(RHO))
    assert figure.html().count("<svg") == 2, "a second layout for phones"
    assert drawn(RHO).html() == figure.html()


def test_numbers_can_be_read_on_their_cells():
    (axes,) = drawn({("A", "B"): 0.0, ("A", "C"): 1.0, ("B", "C"): 0.5}).drawing.axes
    ink = {text.get_text(): text.get_color() for text in axes.texts}
    assert (ink["0.00"], ink["1.00"]) == ("#ffffff", "#000000")


def test_nothing_known_is_a_sentence_and_a_table_without_raters_is_refused():
    assert isinstance(drawn({("A", "B"): np.nan}), Sentence)
    with pytest.raises(UserError, match="the table lacks second"):
        agreement_matrix(pairs(RHO).drop(columns="second"), name="x", label="rho", caption="n")
