"""Rows and tables of estimates: nothing is shown without its n, unit and method."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sense7.estimators.estimates import COLUMNS, estimate_row, estimate_table, holm


def test_a_row_has_every_column_in_plain_types():
    row = estimate_row(1, 0, 2, n=3.0, unit="level", method="mean", reason="few")
    assert tuple(row) == COLUMNS
    assert row == {"estimate": 1.0, "low": 0.0, "high": 2.0, "n": 3, "unit": "level", "method": "mean", "reason": "few"}
    assert [type(row[name]) for name in COLUMNS] == [float, float, float, int, str, str, str]


def test_what_is_not_given_is_missing_and_needs_no_reason():
    row = estimate_row(n=0, unit="level", method="mean")
    assert all(math.isnan(row[name]) for name in ("estimate", "low", "high"))
    assert row["reason"] == ""


@pytest.mark.parametrize("name", ["unit", "method"])
@pytest.mark.parametrize("text", ["", None, 1])
def test_an_estimate_without_its_unit_or_method_is_refused(name, text):
    with pytest.raises(ValueError, match=f"needs a {name}"):
        estimate_row(1.0, n=1, **{"unit": "level", "method": "mean", name: text})


def test_an_estimate_without_its_n_is_refused():
    with pytest.raises(TypeError):
        estimate_row(1.0, n=None, unit="level", method="mean")


@pytest.mark.parametrize("name", ["", None])
def test_a_table_that_does_not_say_what_its_rows_are_is_refused(name):
    with pytest.raises(ValueError, match="what its rows are"):
        estimate_table({}, name)


def test_a_table_keeps_the_order_of_rows_and_columns():
    rows = {name: estimate_row(n=number, unit="level", method="mean") for number, name in enumerate("ba")}
    table = estimate_table(rows, "which")
    assert list(table.index) == ["b", "a"]
    assert (table.index.name, tuple(table.columns)) == ("which", COLUMNS)
    assert tuple(estimate_table({}, "which").columns) == COLUMNS


# Holm's rule


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.lists(st.integers(0, 8), max_size=4))
def test_it_is_that_of_statsmodels_and_a_test_that_could_not_be_made_does_not_count(p, places):
    holes = list(p)
    for place in places:
        holes.insert(min(place, len(holes)), float("nan"))
    found = holm(holes)
    assert np.isnan(found).tolist() == np.isnan(holes).tolist()
    np.testing.assert_allclose(found[~np.isnan(found)], multipletests(p, method="holm")[1], atol=1e-15)


@pytest.mark.parametrize("p", [[0, 1], (0, 1, 1)])
def test_p_values_in_whole_numbers_stay_numbers(p):
    found = holm([*p, 0.01])
    assert found.dtype == float
    assert holm(p).dtype == float
    assert holm(p).tolist() == [0.0] + [1.0] * (len(p) - 1)


def test_the_given_values_stay_as_they_are():
    p = np.array([0.01, 0.02])
    holm(p)
    assert p.tolist() == [0.01, 0.02]
