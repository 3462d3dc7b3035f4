"""Holm's rule: its definition, written out once more, and what could not be tested."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.estimators.estimates import holm


def by_definition(p):
    """The i-th smallest of m, times m - i + 1, at least as large as those before it, at most 1."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    adjusted, largest = [0.0] * len(p), 0.0
    for number, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - number) * p[place]))
        adjusted[place] = largest
    return adjusted


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_it_is_the_rule(p):
    np.testing.assert_allclose(holm(p), by_definition(p), atol=1e-15)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), max_size=8), st.lists(st.integers(0, 8), max_size=4))
def test_a_test_that_could_not_be_made_does_not_count(p, places):
    holes = list(p)
    for place in places:
        holes.insert(min(place, len(holes)), float("nan"))
    found = holm(holes)
    assert np.isnan(found).tolist() == np.isnan(holes).tolist()
    np.testing.assert_allclose(found[~np.isnan(found)], by_definition(p), atol=1e-15)


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
