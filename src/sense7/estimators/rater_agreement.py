"""Weighted kappa of two ratings of the same units."""

import numpy as np
import pandas as pd

from sense7.arguments import checked, is_numbers, is_one_of, is_share
from sense7.errors import UserError
from sense7.estimators.bootstrap import pieces
from sense7.estimators.order import rounded
from sense7.taxonomy import LEVELS

LEVELS = len(LEVELS)
_DISTANCE = np.abs(np.subtract.outer(np.arange(LEVELS), np.arange(LEVELS))).astype(float)
WEIGHTS = {"linear": _DISTANCE, "quadratic": _DISTANCE**2}
"""Disagreement weights of two levels: their distance, or its square."""

STEPS = {"scale": "steps of the scale", "occurring": "steps between the values that occur"}
"""What the distance of two values is counted in, see :func:`quadratic_kappa`."""

_PIECE = 2000


@checked(
    tables=is_numbers("counts in tables of five by five levels", last=(LEVELS, LEVELS)),
    weights=is_one_of(WEIGHTS),
)
def weighted_kappa(tables: np.ndarray, weights: str = "linear") -> np.ndarray:
    r"""Return Cohen's weighted kappa from tables of counts.

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
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = np.einsum("...i,...j,ij->...", rows, columns, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = 1 - tables.sum(axis=(-2, -1)) * (tables * w).sum(axis=(-2, -1)) / expected
    return np.where(expected > 0, kappa, np.nan)


def quadratic_kappa(
    first: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    steps: str = "scale",
) -> np.ndarray:
    r"""Return Cohen's kappa with quadratic weights of two raters who use any numbers, such as levels, halves or means.

    .. math::
        \kappa = 1 - \frac{\frac{1}{n} \sum_c (x_c - y_c)^2}{\frac{1}{n^2} \sum_{c,d} (x_c - y_d)^2}
        = \frac{2 s_{xy}}{s_x^2 + s_y^2 + (\bar x - \bar y)^2}

    with the (co)variances divided by n: observed by expected disagreement over the units c, which for quadratic weights
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

    >>> first, second = [1, 2, 3, 5], [2, 2, 3, 5]
    >>> round(float(quadratic_kappa(first, second)), 4)
    0.9333
    >>> float(quadratic_kappa(first, second, steps="occurring"))
    0.875
    """
    x, y = (np.asarray(one, dtype=float) for one in (first, second))
    if x.ndim != 1 or x.shape != y.shape or np.isnan(x).any() or np.isnan(y).any():
        raise UserError(
            f"quadratic_kappa wants two ratings of every unit, none missing; got {x.size:,} and {y.size:,}, of which "
            f"{np.isnan(x).sum() + np.isnan(y).sum():,} are missing. Leave out the units that lack a rating."
        )
    if steps not in STEPS:
        raise UserError(
            f"quadratic_kappa wants {' or '.join(map(repr, STEPS))} as steps; got {steps!r}."
        )
    taken = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    flat = taken.reshape(-1, len(x)) if len(x) else np.zeros((int(np.prod(taken.shape[:-1])), 0))
    kappas = [
        _concordance(x, y, flat[piece], steps)
        for piece in pieces(len(flat), max(1, len(x)), _PIECE)
    ]
    return np.concatenate(kappas).reshape(taken.shape[:-1])


def _concordance(x: np.ndarray, y: np.ndarray, taken: np.ndarray, steps: str) -> np.ndarray:
    """Twice the covariance by the expected squared distance, in every row of ``taken``."""
    if steps == "occurring":
        values, code = np.unique(np.rint(100 * np.concatenate([x, y])), return_inverse=True)
        code = code.reshape(2, -1)
        occurs = (code[..., None] == np.arange(len(values))).any(axis=0)
        position = np.cumsum(taken @ occurs > 0, axis=1, dtype=float)
        x, y = position[:, code[0]], position[:, code[1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = taken / taken.sum(axis=1, keepdims=True)
        a = x - (share * x).sum(axis=1, keepdims=True)
        b = y - (share * y).sum(axis=1, keepdims=True)
        apart = ((share * x).sum(axis=1) - (share * y).sum(axis=1)) ** 2
        expected = (share * a**2).sum(axis=1) + (share * b**2).sum(axis=1) + apart
        return np.where(rounded(expected) > 0, 2 * (share * a * b).sum(axis=1) / expected, np.nan)


def icc_1(y: np.ndarray, groups: pd.Series) -> float:
    r"""Return the intraclass correlation ICC(1) by the one-way analysis of variance.

    .. math:: \frac{B - W}{B + (n_0 - 1) W}, \quad n_0 = \frac{1}{m - 1}\left(n - \frac{\sum_i n_i^2}{n}\right)

    with B and W the mean squares between and within m groups of :math:`n_i` rows.

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
        defined = (groups > 1) & (n > groups) & (rounded(whole / np.maximum(squares, 1)) > 0)
        return np.where(defined, (b - w) / (b + (size - 1) * w), np.nan)


@checked(
    table=is_numbers(
        "a complete table of numbers with at least two rows and two columns",
        dimensions=2,
        fewest=2,
        missing=False,
    ),
    confidence=is_share,
)
def intraclass_correlations(table: np.ndarray, confidence: float = 0.95) -> pd.DataFrame:
    """Return the six intraclass correlations of a complete table of rows rated on the same columns.

    Parameters
    ----------
    table : array, DataFrame or list of rows, shape (rows, columns)
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
    from scipy import stats  # takes as long to import as all that judges need

    n, k = table.shape
    grand, by_row, by_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    varies = np.abs(table).max() > 0 and rounded(np.ptp(table) / np.abs(table).max()) > 0
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
    freedom = (
        above / below if below > 0 else 1.0
    )  # where nothing is left beside the rows, it is multiplied by 0
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
    return pd.DataFrame.from_dict(
        single_ratings | means, orient="index", columns=["estimate", "low", "high"]
    )
