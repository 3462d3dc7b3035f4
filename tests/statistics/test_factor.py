"""One factor by maximum likelihood: bounds, unsound matrices, and many at once (R's loadings: tests/reference)."""

import numpy as np
import pytest

from helpers import naming
from sense7.statistics import factor


def test_a_uniqueness_that_tends_to_zero_stops_at_its_bound():
    correlations = np.array(
        [[1, 0.9, 0.9], [0.9, 1, 0.5], [0.9, 0.5, 1]]
    )  # Heywood: 0.9 * 0.9 / 0.5 > 1
    correlations[0, 1:] = correlations[1:, 0] = 0.8
    fit = factor.fit_one_factor(correlations)
    assert fit.uniquenesses[0] == pytest.approx(0.005)
    assert fit.discrepancy > 0


def test_unrelated_items_and_unsound_matrices_do_no_harm():
    assert factor.fit_one_factor(np.eye(4)).discrepancy == pytest.approx(0)
    unsound = np.stack(
        [np.ones((4, 4)), np.full((4, 4), np.nan), (np.eye(4) + np.ones((4, 4))) / 2]
    )
    assert np.isfinite(factor.fit_one_factor(unsound).discrepancy).tolist() == [False, False, True]
    with naming.refused(3, 2, error=ValueError):
        factor.fit_one_factor(np.eye(2))


def test_a_matrix_has_the_same_fit_alone_and_among_others():
    generator = np.random.default_rng(2)
    matrices = np.stack([np.corrcoef(generator.normal(size=(4, 8))) for _ in range(300)])
    alone = [factor.fit_one_factor(matrix).uniquenesses for matrix in matrices]
    together = factor.fit_one_factor(matrices.reshape(3, 100, 4, 4))
    assert np.isfinite(together.discrepancy).all()
    np.testing.assert_allclose(together.uniquenesses.reshape(300, 4), alone, atol=1e-6)
