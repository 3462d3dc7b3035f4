"""Weighted kappa of two ratings of the same units."""

import numpy as np
import pandas as pd

from sense7 import taxonomy
from sense7.statistics.least_squares import cross_products
from sense7.statistics.order import rounded

LEVELS = len(taxonomy.LEVELS)
_DISTANCE = np.abs(np.subtract.outer(range(LEVELS), range(LEVELS))).astype(float)
WEIGHTS = {"linear": _DISTANCE, "quadratic": _DISTANCE**2}
"""Disagreement weights of two levels: their distance, or its square."""

STEPS = {"scale": "steps of the scale", "occurring": "steps between the values that occur"}
"""What the distance of two values is counted in, see :func:`quadratic_kappa`."""


def weighted_kappa(tables: np.ndarray, weights: str = "linear") -> np.ndarray:
    r"""Return Cohen's weighted kappa of two ratings, from tables that count each pair of levels.

    .. math:: \kappa_w = 1 - \frac{\sum_{ij} w_{ij} O_{ij}}{\sum_{ij} w_{ij} E_{ij}}

    with O the counts, :math:`E_{ij} = O_{i\cdot} O_{\cdot j} / n` and w the distance of the
    levels (linear) or its square (quadratic). The table always has all five levels: one
    that does not occur changes nothing, and one that is left out would.

    Parameters
    ----------
    tables : array, shape (..., 5, 5)
        Counts by level of the first and of the second rating.
    weights : {"linear", "quadratic"}
        Disagreement weights (``WEIGHTS``).

    Returns
    -------
    array, shape (...)
        At most 1; NaN where one of the ratings is constant at the other's only level, or
        the table is empty.

    References
    ----------
    Cohen, J. (1968). Psychological Bulletin 70, 213-220.

    Notes
    -----
    R: psych::cohen.kappa, vcd::Kappa, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.zeros((5, 5))
    >>> table[0, 0], table[4, 4], table[0, 4], table[3, 4] = 4, 4, 1, 1
    >>> round(float(weighted_kappa(table)), 4)
    0.7525
    """
    w = WEIGHTS[weights]
    tables = np.asarray(tables, dtype=float)
    rows = tables.sum(axis=-1)
    columns = tables.sum(axis=-2)
    n = tables.sum(axis=(-2, -1))
    observed = (tables * w).sum(axis=(-2, -1))
    expected_times_n = np.einsum("...i,...j,ij->...", rows, columns, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = 1 - n * observed / expected_times_n
    return np.where(expected_times_n > 0, kappa, np.nan)


def pair_tables(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a table for each unit as :func:`weighted_kappa` takes them summed, 1 at its two levels, counted from 0.

    Examples
    --------
    >>> pair_tables(np.array([0, 4]), np.array([1, 4]))[:, 0, 1].tolist()
    [1.0, 0.0]
    """
    levels = np.eye(LEVELS)
    return cross_products(levels[first.astype(int)], levels[second.astype(int)])


def quadratic_kappa(
    first: np.ndarray, second: np.ndarray, weights: np.ndarray, *, steps: str
) -> np.ndarray:
    r"""Return Cohen's kappa with quadratic weights of two raters, who use any numbers, in every resample of units.

    .. math::
        \kappa = 1 - \frac{\frac{1}{n} \sum_c (x_c - y_c)^2}{\frac{1}{n^2} \sum_{c,d} (x_c - y_d)^2}
        = 1 - \frac{\frac{1}{n} \sum_c (x_c - y_c)^2}{s_x^2 + s_y^2 + (\bar x - \bar y)^2}

    with the variances divided by n: observed by expected disagreement over the units c, which for quadratic weights
    is Lin's coefficient of concordance. What x and y are depends on ``steps``:

    - ``"scale"``: the values themselves. The distance of two values is that on the scale.
    - ``"occurring"``: the position of each value, rounded to two decimals, in the sorted list of the distinct values
      that either rater gave. The distance of two values is then the number of these positions between them. This is
      what software computes that takes the categories from the data, as ``sklearn.metrics.cohen_kappa_score`` does
      without ``labels``. It depends on which values occur: a level that no one gave is left out, and two means of a
      crowd that differ by a hundredth are as far apart as two levels.

    Both are the same where every step of the scale occurs and nothing between the steps.

    Examples
    --------
    Nobody gave a 4, so that by the values that occur 3 and 5 are as near as 2 and 3.

    >>> first, second, once_each = [1, 2, 3, 5], [2, 2, 3, 5], np.ones((1, 4))
    >>> quadratic_kappa(first, second, once_each, steps="scale").round(4).tolist()
    [0.9333]
    >>> quadratic_kappa(first, second, once_each, steps="occurring").tolist()
    [0.875]
    """
    x = np.asarray(first, dtype=float)
    y = np.asarray(second, dtype=float)
    if steps == "occurring":
        # Positions of the values, rounded to two decimals, among those that have a weight.
        hundredths = np.rint(100 * np.concatenate([x, y]))
        values, code = np.unique(hundredths, return_inverse=True)
        code_x, code_y = code.reshape(2, -1)
        has_value_x = code_x[:, None] == np.arange(len(values))
        has_value_y = code_y[:, None] == np.arange(len(values))
        occurs = weights @ (has_value_x | has_value_y) > 0
        position = np.cumsum(occurs, axis=1, dtype=float)
        x = position[:, code_x]
        y = position[:, code_y]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = weights / weights.sum(axis=1, keepdims=True)
        observed = (share * (x - y) ** 2).sum(axis=1)
        mean_x = (share * x).sum(axis=1, keepdims=True)
        mean_y = (share * y).sum(axis=1, keepdims=True)
        variance_x = (share * (x - mean_x) ** 2).sum(axis=1)
        variance_y = (share * (y - mean_y) ** 2).sum(axis=1)
        expected = variance_x + variance_y + (mean_x - mean_y)[:, 0] ** 2
        return np.where(rounded(expected) > 0, 1 - observed / expected, np.nan)


def icc_sums(y: np.ndarray, groups: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Return sums per group, number, n, n², y², the total of y, and its square by n; and the groups."""
    codes, names = pd.factorize(groups)
    n = np.bincount(codes).astype(float)
    total = np.bincount(codes, weights=y)
    squares = np.bincount(codes, weights=y**2)
    return np.column_stack([np.ones(len(n)), n, n**2, squares, total, total**2 / n]), names


def icc_of_sums(sums: np.ndarray) -> np.ndarray:
    r"""Return the intraclass correlation ICC(1) by the one-way analysis of variance, from sums of :func:`icc_sums`.

    .. math:: \frac{B - W}{B + (n_0 - 1) W}, \quad n_0 = \frac{1}{m - 1}\left(n - \frac{\sum_i n_i^2}{n}\right)

    with B and W the mean squares between and within m groups of :math:`n_i` rows.

    Examples
    --------
    >>> sums, _ = icc_sums(np.array([1.0, 2, 5, 6, 9, 9]), pd.Series(list("aabbcc")))
    >>> round(float(icc_of_sums(sums.sum(axis=0))), 4)
    0.9766
    """
    m, n, squares_of_n, squares, total, squares_of_totals = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares_between = squares_of_totals - total**2 / n
        squares_of_all = squares - total**2 / n
        squares_within = squares - squares_of_totals
        n_0 = (n - squares_of_n / n) / (m - 1)
        B = squares_between / (m - 1)
        W = squares_within / (n - m)
        varies = rounded(squares_of_all / np.maximum(squares, 1)) > 0
        defined = (m > 1) & (n > m) & varies
        return np.where(defined, (B - W) / (B + (n_0 - 1) * W), np.nan)
