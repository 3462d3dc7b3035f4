"""P values of several tests, held together."""

import numpy as np
from statsmodels.stats.multitest import multipletests

from sense7.arguments import check_arguments

__all__ = ["holm"]


def holm(p) -> np.ndarray:
    r"""P values by Holm's rule, so that any false finding among all has at most the level asked for.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{(m - j + 1) p_{(j)}, 1\}

    Parameters
    ----------
    p : array-like, shape (tests,)
        P values; NaN, a test that could not be made, stays NaN and does not count among the m tests.

    Returns
    -------
    array, shape (tests,)
        0..1.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Notes
    -----
    Computed by statsmodels.stats.multitest.multipletests. R: emmeans' adjust="holm", tests/reference/reference.R; p
    values equal to 0.1%.

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan, 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    out = np.array(p, dtype=float)
    known = np.isfinite(out)
    if known.any():
        out[known] = multipletests(out[known], method="holm")[1]
    return out


check_arguments(globals())
