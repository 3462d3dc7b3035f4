"""Cohen's d: that of its formula, in a resample that of the rows copied out, and none without variation."""

import numpy as np
import pytest

from sense7.statistics.effect_size import cohens_d, group_moments, mean_difference


def test_d_is_the_difference_of_means_by_the_pooled_standard_deviation():
    generator = np.random.default_rng(2)
    y, in_second = generator.normal(size=40), np.arange(40) % 3 == 0
    times_taken = generator.integers(3, size=40)
    sums = np.tensordot(times_taken, group_moments(y, in_second), axes=1)
    first, second = (np.repeat(y[group], times_taken[group]) for group in (~in_second, in_second))
    freedom = len(first) + len(second) - 2
    squares = first.var() * len(first) + second.var() * len(second)
    difference = first.mean() - second.mean()
    assert mean_difference(sums) == pytest.approx(difference)
    assert cohens_d(sums) == pytest.approx(difference / np.sqrt(squares / freedom))


@pytest.mark.parametrize("y", [[1.0, 1, 1, 1], [0.1, 0.1, 0.1, 0.1]])
def test_without_variation_there_is_none(y):
    assert np.isnan(cohens_d(group_moments(np.array(y), np.array([0, 0, 1, 1])).sum(axis=0)))
