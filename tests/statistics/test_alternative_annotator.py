"""The alternative annotator test: in resamples, and its corrected p values beside statsmodels (R: tests/reference)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sense7.statistics.alternative_annotator import alternative_test, benjamini_yekutieli, wins

NAN = np.nan


def test_a_resample_is_the_test_of_its_rows_copied_out():
    generator = np.random.default_rng(1)
    table = generator.integers(1, 6, (40, 4)).astype(float)
    found = wins(table[:, 0], table[:, 1:])
    rows = generator.integers(40, size=(5, 40))
    weights = np.array([np.bincount(row, minlength=40) for row in rows])
    drawn = alternative_test(found, 0.2, weights)
    for number, row in enumerate(rows):
        copied = alternative_test(wins(table[row, 0], table[row, 1:]), 0.2)
        assert drawn.advantage[number] == pytest.approx(copied.advantage)
        assert drawn.p[number] == pytest.approx(copied.p)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.floats(0, 1), st.floats(0, 0.02), st.just(NAN)), min_size=1, max_size=8)
)
def test_rejections_are_those_of_statsmodels(p):
    p = np.array(p)
    known = np.isfinite(p)
    expected = np.zeros(len(p), dtype=bool)
    if known.any():
        expected[known] = multipletests(p[known], 0.05, method="fdr_by")[0]
    assert benjamini_yekutieli(p).tolist() == expected.tolist()
    assert benjamini_yekutieli(np.array([p, p[::-1]]))[1].tolist() == expected[::-1].tolist()
