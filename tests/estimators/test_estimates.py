"""Rows and tables of estimates: nothing is shown without its n, unit and method."""

import math

import pytest

from sense7.estimators.estimates import COLUMNS, estimate_row, estimate_table


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
