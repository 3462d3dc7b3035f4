"""Least squares from cross products: that of numpy, and NaN where a coefficient is not identified."""

import numpy as np

from sense7.statistics.least_squares import least_squares


def test_least_squares_is_that_of_numpy():
    generator = np.random.default_rng(1)
    design, y = generator.normal(size=(30, 4)) * [1, 1e3, 1e-3, 1], generator.normal(size=30)
    z = np.column_stack([design, y])
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(least_squares(z.T @ z)[0], expected, rtol=1e-8)
    singular = np.column_stack([design[:, 0], 2 * design[:, 0], y])
    assert np.isnan(least_squares(singular.T @ singular)[0]).all()
