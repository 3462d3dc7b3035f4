"""Correction of p values for the number of tests."""

import numpy as np

from sense7.arguments import check_arguments

__all__ = ["holm"]


def holm(p) -> np.ndarray:
    r"""Return p values by Holm's rule, which controls the family-wise error rate.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{(m - j + 1) p_{(j)}, 1\}

    Parameters
    ----------
    p : array-like, shape (tests,)
        P values; NaN, a test that could not be computed, stays NaN and does not count among the m tests.

    Returns
    -------
    array, shape (tests,)
        0..1.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Notes
    -----
    Not by statsmodels' multipletests, which collects garbage at each call: thousands of them stand in a comparison of
    judges. R: emmeans' adjust="holm", tests/reference/reference.R; p values equal to 0.1%.

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan, 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    out = np.array(p, dtype=float)
    known = np.flatnonzero(np.isfinite(out))
    known = known[np.argsort(out[known])]
    out[known] = np.minimum(np.maximum.accumulate(out[known] * np.arange(len(known), 0, -1)), 1)
    return out


check_arguments(globals())
