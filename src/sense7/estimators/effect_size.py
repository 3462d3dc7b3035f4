"""Cohen's d from sums."""

import numpy as np

from sense7.arguments import check_arguments

__all__ = ["cohens_d", "pooled_difference", "standardized"]


def cohens_d(sums: np.ndarray) -> np.ndarray:
    r"""Cohen's d of two groups from their sums, with the pooled standard deviation.

    .. math:: d = \frac{\bar y_0 - \bar y_1}{s}, \quad
              s^2 = \frac{(n_0 - 1) s_0^2 + (n_1 - 1) s_1^2}{n_0 + n_1 - 2}

    Parameters
    ----------
    sums : array, shape (..., 2, 3)
        For each group n, the sum and the sum of squares; the second group is subtracted.

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
    """Cohen's d, its numerator and its denominator, on the last axis; see :func:`cohens_d`."""
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        groups = (squares - n * means**2).sum(axis=-1)
        freedom = n.sum(axis=-1) - 2
        # Guards against a variance of zero that rounding made slightly larger.
        defined = (n > 0).all(axis=-1) & (freedom > 0) & (groups > 1e-9 * np.maximum(squares.sum(axis=-1), 1))
        return standardized(means[..., 0] - means[..., 1], groups / freedom, defined)


def standardized(difference: np.ndarray, variance: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """The difference in standard deviations, in points, and the standard deviation; NaN where not defined."""
    spread = np.sqrt(np.where(defined, variance, np.nan))
    return np.stack([difference / spread, np.where(defined, difference, np.nan), spread], axis=-1)


check_arguments(globals())
