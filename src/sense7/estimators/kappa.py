"""Weighted kappa of two ratings of the same units."""

import numpy as np

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import pieces
from sense7.taxonomy import LEVELS

__all__ = ["LEVELS", "STEPS", "quadratic_kappa", "weighted_kappa"]

LEVELS = len(LEVELS)
_DISTANCE = np.abs(np.subtract.outer(np.arange(LEVELS), np.arange(LEVELS))).astype(float)
WEIGHTS = {"linear": _DISTANCE, "quadratic": _DISTANCE**2}
"""Disagreement weights of two levels: their distance, or its square."""

STEPS = {"scale": "steps of the scale", "occurring": "steps between the values that occur"}
"""What the distance of two values is counted in, see :func:`quadratic_kappa`."""

_PIECE = 2000


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

    Parameters
    ----------
    first, second : array, shape (units,)
        Ratings of the same units; no NaN.
    weights : array, shape (..., units), optional
        How often each unit is taken in a bootstrap resample; each unit once if left out. The values that occur are
        those of the resample.
    steps : {"scale", "occurring"}
        What the distance of two values is counted in.

    Returns
    -------
    array, shape (...)
        -1 .. 1; a single number without weights. NaN where both raters give all units one and the same value, or no
        unit is taken.

    Raises
    ------
    UserError
        If the raters have not rated equally many units, a rating is missing, or steps is another word.

    References
    ----------
    Cohen, J. (1968). Weighted kappa. Psychological Bulletin 70, 213-220.

    Lin, L. I. (1989). A concordance correlation coefficient to evaluate reproducibility. Biometrics 45, 255-268.

    Notes
    -----
    Checked against sklearn.metrics.cohen_kappa_score(weights="quadratic") to 1e-12, and by ``"occurring"`` against
    values that Kumar and others (2025) published, see :mod:`sense7.judge.three_judges`.

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
        raise UserError(f"quadratic_kappa wants {' or '.join(map(repr, STEPS))} as steps; got {steps!r}.")
    taken = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    flat = taken.reshape(-1, len(x)) if len(x) else np.zeros((int(np.prod(taken.shape[:-1])), 0))
    kappas = [_concordance(x, y, flat[piece], steps) for piece in pieces(len(flat), max(1, len(x)), _PIECE)]
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
        return np.where(expected > 1e-12, 2 * (share * a * b).sum(axis=1) / expected, np.nan)


check_arguments(globals())
