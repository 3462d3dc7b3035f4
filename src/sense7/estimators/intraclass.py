"""Intraclass correlations."""

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments

__all__ = ["icc_1", "icc_of_sums", "icc_sums", "intraclass_correlations"]


def icc_1(y: np.ndarray, groups: pd.Series) -> float:
    r"""Return the intraclass correlation ICC(1) by the one-way analysis of variance.

    .. math:: \frac{B - W}{B + (n_0 - 1) W}, \quad n_0 = \frac{1}{m - 1}\left(n - \frac{\sum_i n_i^2}{n}\right)

    with B and W the mean squares between and within m groups of :math:`n_i` rows.

    Parameters
    ----------
    y : array, shape (rows,)
        The values; no NaN.
    groups : Series
        Group of each row.

    Returns
    -------
    float
        At most 1, below zero where groups are more alike than chance; NaN below two groups, if no
        group has two rows, or if nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: anova(aov(overall ~ factor(participant))), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> round(icc_1(np.array([1.0, 2, 5, 6, 9, 9]), pd.Series(list("aabbcc"))), 4)
    0.9766
    """
    codes, names = pd.factorize(pd.Series(groups).to_numpy())
    return float(icc_of_sums(icc_sums(np.asarray(y, dtype=float), codes, len(names)).sum(axis=0)))


def icc_sums(y: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    """Return sums per participant: number, n, n², y², the total of y, and its square by n."""
    n = np.bincount(codes, minlength=count).astype(float)
    total = np.bincount(codes, weights=y, minlength=count)
    squares = np.bincount(codes, weights=y**2, minlength=count)
    return np.column_stack([np.ones(count), n, n**2, squares, total, total**2 / n])


def icc_of_sums(sums: np.ndarray) -> np.ndarray:
    """Return ICC(1) from sums of the columns of :func:`icc_sums`."""
    groups, n, squares_of_n, squares, total, of_groups = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        between = of_groups - 2 * mean * total + mean**2 * n
        whole = squares - 2 * mean * total + mean**2 * n
        within = whole - between
        size = (n - squares_of_n / n) / (groups - 1)
        b, w = between / (groups - 1), within / (n - groups)
        defined = (groups > 1) & (n > groups) & (whole > 1e-9 * np.maximum(squares, 1))
        return np.where(defined, (b - w) / (b + (size - 1) * w), np.nan)


def intraclass_correlations(table: np.ndarray, confidence: float = 0.95) -> pd.DataFrame:
    """Return the six intraclass correlations of a complete table of rows rated on the same columns.

    Parameters
    ----------
    table : array, shape (rows, columns)
        At least two of each, no NaN.
    confidence : float
        Of the intervals, which take rows as independent and ratings as normal.

    Returns
    -------
    DataFrame
        Rows ICC1, ICC2, ICC3 (of one column), ICC1k, ICC2k, ICC3k (of their mean): estimate, low, high. All are 1
        where the columns agree perfectly, and NaN where nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: psych::ICC(lmer=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> intraclass_correlations(table)["estimate"].round(2).tolist()
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    n, k = table.shape
    grand, by_row, by_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    varies = np.ptp(table) > 1e-9 * np.abs(table).max()  # more than what floating-point arithmetic leaves
    rows = k * ((by_row - grand) ** 2).sum() / (n - 1) if varies else np.nan
    columns = n * ((by_column - grand) ** 2).sum() / (k - 1)
    inside = ((table - by_row[:, None]) ** 2).sum() / (n * (k - 1))
    rest = ((table - by_row[:, None] - by_column + grand) ** 2).sum() / ((n - 1) * (k - 1))
    tail = (1 + confidence) / 2
    # By mean squares, not by their ratio F, which is infinite where agreement is perfect.
    single = lambda b, w: (b - w) / (b + (k - 1) * w)  # noqa: E731
    limits = lambda w, freedom: (  # noqa: E731
        single(rows, w),
        single(rows, w * stats.f.ppf(tail, n - 1, freedom)),
        single(rows * stats.f.ppf(tail, freedom, n - 1), w),
    )
    two = (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)
    outside = n * (1 + (k - 1) * two) - k * two
    above = (k - 1) * (n - 1) * (k * two * columns + outside * rest) ** 2
    below = (n - 1) * (k * two * columns) ** 2 + (outside * rest) ** 2
    freedom = above / below if below > 0 else 1.0  # where nothing is left beside the rows, it is multiplied by 0
    f_low, f_high = stats.f.ppf(tail, n - 1, freedom), stats.f.ppf(tail, freedom, n - 1)
    base = k * columns + (k * n - k - n) * rest
    low = n * (rows - f_low * rest) / (f_low * base + n * rows)
    high = n * (f_high * rows - rest) / (base + n * f_high * rows)
    single_ratings = {
        "ICC1": limits(inside, n * (k - 1)),
        "ICC2": (two, low, high),
        "ICC3": limits(rest, (n - 1) * (k - 1)),
    }
    of_mean = lambda r: r * k / (1 + r * (k - 1))  # noqa: E731
    means = {f"{name}k": tuple(map(of_mean, values)) for name, values in single_ratings.items()}
    return pd.DataFrame.from_dict(single_ratings | means, orient="index", columns=["estimate", "low", "high"])


check_arguments(globals())
