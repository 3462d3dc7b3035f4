"""Spearman's correlation in resamples: that of scipy on the rows copied out."""

import numpy as np
import pytest
from scipy import stats

from helpers import naming
from sense7.statistics.ranks import spearman_in_draws


def test_each_resample_has_the_correlations_of_its_rows_copied_out():
    generator = np.random.default_rng(1)
    columns = {name: generator.integers(1, 6, 30) / 3 for name in "xyz"}
    unit = generator.integers(8, size=30)
    weights = generator.multinomial(8, np.full(8, 1 / 8), size=20)
    found = spearman_in_draws(columns, [("x", "y"), ("z", "x")], weights, unit)
    assert list(found) == [("x", "y"), ("z", "x")]
    for (first, second), correlations in found.items():
        for draw, correlation in zip(weights, correlations, strict=True):
            copies = (np.repeat(columns[name], draw[unit]) for name in (first, second))
            assert correlation == pytest.approx(stats.spearmanr(*copies).statistic, abs=1e-12)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_value_is_refused_and_not_ranked(missing):
    columns = {"x": [1.0, 2.0, missing, 4.0], "y": [2.0, 1.0, 4.0, 3.0]}
    with naming.refused("1 of 8"):
        spearman_in_draws(columns, [("y", "x")], np.ones((1, 4)))
