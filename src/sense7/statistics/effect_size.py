"""Differences of two groups from their sums: in points, and as Cohen's d."""

import numpy as np

from sense7.statistics.least_squares import cross_products
from sense7.statistics.order import rounded


def group_moments(y: np.ndarray, in_second: np.ndarray) -> np.ndarray:
    """Return the terms of each row whose sums give Cohen's d of two groups; see :func:`cohens_d`.

    Examples
    --------
    >>> group_moments(np.array([4.0, 2.0]), np.array([False, True])).tolist()
    [[[1.0, 4.0, 16.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]]]
    """
    y = np.asarray(y, dtype=float)
    in_second = np.asarray(in_second, dtype=bool)
    groups = np.column_stack([~in_second, in_second]).astype(float)
    return cross_products(groups, np.column_stack([np.ones(len(y)), y, y**2]))


def mean_difference(sums: np.ndarray) -> np.ndarray:
    """Return the mean of the first group minus that of the second, from sums as :func:`cohens_d` takes them.

    Examples
    --------
    >>> float(mean_difference(np.array([[2.0, 8.0, 34.0], [1.0, 3.0, 9.0]])))
    1.0
    """
    means = sums[..., 1] / sums[..., 0]
    return means[..., 0] - means[..., 1]


def cohens_d(sums: np.ndarray) -> np.ndarray:
    r"""Return Cohen's d with the pooled standard deviation, from n, sum and sum of squares of each of two groups.

    .. math:: d = \frac{\bar y_0 - \bar y_1}{s}, \quad
              s^2 = \frac{(n_0 - 1) s_0^2 + (n_1 - 1) s_1^2}{n_0 + n_1 - 2}

    Parameters
    ----------
    sums : array, shape (..., 2, 3)
        For each group n, the sum and the sum of squares (:func:`group_moments`); the second group is subtracted.

    Returns
    -------
    array, shape (...)
        NaN where a group is empty, fewer than three values remain, or nothing varies.

    References
    ----------
    Cohen, J. (1988). Statistical power analysis for the behavioral sciences.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> groups = [[4.0, 5.0, 3.0], [2.0, 3.0, 1.0]]
    >>> float(cohens_d(np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups])))
    2.0
    """
    return pooled_difference(sums)[..., 0]


def pooled_difference(sums: np.ndarray) -> np.ndarray:
    """Return Cohen's d, its numerator and its denominator, on the last axis; see :func:`cohens_d`."""
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        difference = means[..., 0] - means[..., 1]
        within_groups = (squares - n * means**2).sum(axis=-1)
        freedom = n.sum(axis=-1) - 2
        share_within = within_groups / np.maximum(squares.sum(axis=-1), 1)
        has_values = (n > 0).all(axis=-1) & (freedom > 0)
        defined = has_values & (rounded(share_within) > 0)
        return standardized(difference, within_groups / freedom, defined)


def standardized(difference: np.ndarray, variance: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """Return the difference in standard deviations, in points, and the standard deviation; NaN where not defined."""
    s = np.sqrt(np.where(defined, variance, np.nan))
    d = difference / s
    in_points = np.where(defined, difference, np.nan)
    return np.stack([d, in_points, s], axis=-1)
