"""Mean, standard deviation and quantiles in resamples: those of the units copied out."""

import numpy as np
import pytest

from sense7.statistics.weighted import weighted_deviation, weighted_mean, weighted_quantile


def test_each_resample_has_the_statistics_of_its_units_copied_out():
    generator = np.random.default_rng(5)
    values = generator.integers(1, 6, 12) / 3
    weights = generator.multinomial(12, np.full(12, 1 / 12), size=20)
    for draw, times_taken in enumerate(weights):
        copies = np.repeat(values, times_taken)
        for found, expected in (
            (weighted_mean(values, weights), copies.mean()),
            (weighted_deviation(values, weights), copies.std(ddof=1)),
            (weighted_quantile(values, 0.25, weights), np.quantile(copies, 0.25)),
        ):
            assert found[draw] == pytest.approx(expected, abs=1e-12)
