"""Rank tests: Kruskal-Wallis, Friedman, Wilcoxon."""

import numpy as np
from scipy import stats

from sense7.arguments import check_arguments

__all__ = ["friedman", "kruskal_wallis", "wilcoxon"]


def kruskal_wallis(groups: list[np.ndarray]) -> tuple[float, float, float, float]:
    r"""Kruskal and Wallis' rank test: H, p, epsilon squared and eta squared of H.

    .. math:: \epsilon^2 = H (n + 1) / (n^2 - 1), \quad \eta_H^2 = (H - k + 1) / (n - k)

    NaN if there are fewer than two groups, or all values are equal.

    References
    ----------
    Kruskal, W. H., & Wallis, W. A. (1952). Journal of the American Statistical Association 47, 583-621.

    Notes
    -----
    R: kruskal.test, rstatix::kruskal_effsize, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> [round(float(x), 3) for x in kruskal_wallis([np.array([1.0, 2, 3]), np.array([4.0, 5, 6])])]
    [3.857, 0.05, 0.771, 0.714]
    """
    values, n = np.concatenate(groups), sum(map(len, groups))
    if len(groups) < 2 or n <= len(groups) or np.ptp(values) == 0:
        return (np.nan,) * 4
    h, p = stats.kruskal(*groups)
    return h, p, h * (n + 1) / (n**2 - 1), (h - len(groups) + 1) / (n - len(groups))


def friedman(table: np.ndarray) -> tuple[float, float, float]:
    r"""Friedman's rank test of columns within rows: chi squared, p and Kendall's W.

    .. math:: W = \chi^2 / (n (k - 1))

    NaN below three columns or two rows, or if every row is constant.

    References
    ----------
    Friedman, M. (1937). Journal of the American Statistical Association 32, 675-701.

    Notes
    -----
    R: friedman.test, rstatix::friedman_effsize, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.array([[1.0, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> [round(float(x), 3) for x in friedman(table)]
    [4.667, 0.097, 0.778]
    """
    rows, columns = table.shape
    if columns < 3 or rows < 2 or (np.ptp(table, axis=1) == 0).all():
        return (np.nan,) * 3
    chi, p = stats.friedmanchisquare(*table.T)
    return chi, p, chi / (rows * (columns - 1))


def wilcoxon(differences: np.ndarray) -> tuple[float, float, float]:
    """Wilcoxon's signed-rank test: V, p (normal, corrected for continuity) and rank-biserial correlation.

    Differences of zero are left out; NaN if none is left.

    References
    ----------
    Wilcoxon, F. (1945). Biometrics Bulletin 1, 80-83.

    Notes
    -----
    R: wilcox.test(paired=TRUE, exact=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> [round(float(x), 3) for x in wilcoxon(np.array([1.0, 2, 3, -0.5]))]
    [9.0, 0.201, 0.8]
    """
    differences = np.asarray(differences, dtype=float)
    differences = differences[np.abs(differences) > 1e-12]
    if not len(differences):
        return (np.nan,) * 3
    ranks = stats.rankdata(np.abs(differences))
    total, v = ranks.sum(), ranks[differences > 0].sum()
    ties = np.unique(ranks, return_counts=True)[1].astype(float)
    n = len(differences)
    spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48)
    away = v - total / 2
    p = 2 * stats.norm.sf(max(abs(away) - 0.5, 0) / spread)
    return v, min(p, 1.0), (2 * v - total) / total


check_arguments(globals())
