"""Ordinary least squares from cross products, so that it can be resampled exactly."""

from collections.abc import Callable, Sequence
from math import factorial

import numpy as np
import pandas as pd

NEGLIGIBLE = 1e-8
"""A sum of squares up to this is zero, up to rounding."""

_RELATIVE = 1e-8
"""An eigenvalue up to this share of the largest, of cross products of columns of length one, is zero."""

_IDENTIFIED = 1e-6
"""A coefficient is identified if it lies in the space of the other eigenvalues but for this."""


def cross_products(first: np.ndarray, second: np.ndarray | None = None) -> np.ndarray:
    """Return the products of every two columns, or of each with every second one, for each row: (rows, first, second).

    Examples
    --------
    >>> cross_products(np.array([[1.0, 2.0]])).tolist()
    [[[1.0, 2.0], [2.0, 4.0]]]
    """
    if second is None:
        second = first
    return first[:, :, None] * second[:, None, :]


def indicators(values: pd.Series, levels: Sequence) -> np.ndarray:
    """Return a column for each level, 1 in the rows that have it: (rows, levels).

    Examples
    --------
    >>> indicators(pd.Series(["a", "b", "a"]), ["b", "a"]).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    return np.equal.outer(values.to_numpy(), np.array(levels, dtype=object)).astype(float)


def least_squares(cross: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return ordinary least squares from cross products, for many resamples at once.

    .. math:: b = (X^\top X)^{+} X^\top y, \quad \mathrm{RSS} = y^\top y - b^\top X^\top y

    Examples
    --------
    >>> z = np.array([[1.0, 0, 1], [1, 1, 3], [1, 2, 5]])
    >>> coefficients, residual, rank = least_squares(z.T @ z)
    >>> coefficients.round(6).tolist(), abs(residual.round(6)).item(), int(rank)
    ([1.0, 2.0], 0.0, 2)
    """
    cross = np.asarray(cross, dtype=float)
    XX = cross[..., :-1, :-1]
    Xy = cross[..., :-1, -1]
    yy = cross[..., -1, -1]
    # Of columns of length one, so that one limit serves for all of them.
    squares = np.diagonal(XX, axis1=-2, axis2=-1)
    present = squares > NEGLIGIBLE
    length = np.sqrt(np.where(present, squares, 1.0))
    both_present = present[..., None] & present[..., None, :]
    lengths = length[..., None] * length[..., None, :]
    XX = np.where(both_present, XX / lengths, 0.0)
    Xy = np.where(present, Xy / length, 0.0)

    # Of predictors that depend on each other: coefficients of least norm.
    inverse = np.linalg.pinv(XX, rcond=_RELATIVE, hermitian=True)
    b = (inverse @ Xy[..., None])[..., 0]
    share_in_space = np.diagonal(inverse @ XX, axis1=-2, axis2=-1)
    identified = share_in_space > 1 - _IDENTIFIED
    rank = np.rint(share_in_space.sum(axis=-1)).astype(int)
    residual = np.maximum(yy - (b * Xy).sum(axis=-1), 0.0)
    coefficients = np.where(identified, b / length, np.nan)
    return coefficients, residual, rank


def coefficient(column: int, minus: int | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from cross products to one coefficient, or to the difference of two.

    Examples
    --------
    >>> z = np.array([[1.0, 0.0, 3.0], [1.0, 0.0, 5.0], [0.0, 1.0, 2.0]])
    >>> float(coefficient(0)(z.T @ z).round(6)), float(coefficient(0, minus=1)(z.T @ z).round(6))
    (4.0, 2.0)
    """

    def of_cross_products(cross: np.ndarray) -> np.ndarray:
        coefficients = least_squares(cross)[0]
        if minus is None:
            return coefficients[..., column]
        return coefficients[..., column] - coefficients[..., minus]

    return of_cross_products


def within(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    """Return values minus the mean of their group, column by column.

    Examples
    --------
    >>> within(np.array([[1.0], [3.0], [7.0]]), pd.Series(["a", "a", "b"])).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    frame = pd.DataFrame(values)
    return (frame - frame.groupby(groups.to_numpy(), sort=False).transform("mean")).to_numpy()


ROUNDING = 1e-9


def lmg_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Return LMG of k predictors of an outcome, from the covariances of both.

    .. math:: \mathrm{LMG}_i = \sum_{S \not\ni i} \frac{|S|!\,(k - |S| - 1)!}{k!}
              \left(R^2_{S \cup \{i\}} - R^2_S\right)

    What i adds to S is :math:`c_{iy \cdot S}^2 / (c_{ii \cdot S}\, c_{yy})`, with the covariances
    given S; sweeping one predictor after the other gives these for every subset. A predictor
    that the others determine adds nothing to them.

    Examples
    --------
    >>> lmg_from_covariances(np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.3], [0.6, 0.3, 1.0]])).round(4).tolist()
    [0.36, 0.09]
    """
    matrices = np.moveaxis(np.asarray(covariances, dtype=float), (-2, -1), (0, 1))
    k = len(matrices) - 1
    added = np.zeros((k, *matrices.shape[2:]))
    if not k:
        return np.moveaxis(added, 0, -1)
    outcome = matrices[-1, -1]
    variances = np.stack([matrices[i, i] for i in range(k)])
    weights = [factorial(size) * factorial(k - size - 1) / factorial(k) for size in range(k)]

    def visit(residual: np.ndarray, outside: list[int], next_to_join: int) -> None:
        """Add to ``added`` what each predictor outside of a subset adds to it, then visit the larger subsets.

        ``residual`` has the covariances of these predictors and, last, the outcome, given the subset. The subset grows
        by the predictors outside from position ``next_to_join`` on, so that each subset is visited once.
        """
        count = len(outside)
        positions = np.arange(count)
        residual_variances = residual[positions, positions]
        varies = residual_variances > ROUNDING * variances[outside]
        precision = np.where(varies, 1 / np.where(varies, residual_variances, 1), 0)
        with_outcome = residual[positions, -1]
        added[outside] += weights[k - count] * with_outcome**2 * precision
        if count == 1:
            return  # the larger subset has all predictors: nothing is left to add
        for i in range(next_to_join, count):
            still_outside = [*outside[:i], *outside[i + 1 :]]
            remaining = [*positions[:i], *positions[i + 1 :], count]
            rows = residual[remaining]
            explained_by_i = rows[:, i, None] * (residual[i, remaining] * precision[i])
            residual_given_i = rows[:, remaining] - explained_by_i
            visit(residual_given_i, still_outside, i)

    visit(matrices, list(range(k)), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(outcome > ROUNDING, added / outcome, np.nan)
    return np.moveaxis(shares, 0, -1)


def correlation(cross: np.ndarray) -> np.ndarray:
    """Correlation of two columns from their cross products."""
    squares = np.diagonal(cross, axis1=-2, axis2=-1)
    vary = (squares > 1e-9).all(axis=-1)
    return np.where(vary, cross[..., 0, 1] / np.sqrt(squares.prod(axis=-1)), np.nan)
