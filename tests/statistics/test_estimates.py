"""Rows and tables of estimates, and Holm's rule against statsmodels."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sense7.statistics.estimates import holm


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.lists(st.integers(0, 8), max_size=4))
def test_holms_rule_is_that_of_statsmodels_without_tests_not_made(p, places):
    holes = list(p)
    for place in places:
        holes.insert(min(place, len(holes)), float("nan"))
    found = holm(holes)
    assert np.isnan(found).tolist() == np.isnan(holes).tolist()
    np.testing.assert_allclose(
        found[~np.isnan(found)], multipletests(p, method="holm")[1], atol=1e-15
    )
