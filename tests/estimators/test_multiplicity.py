"""Holm's rule: that of statsmodels, and what could not be tested."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sense7.estimators.estimates import holm


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
