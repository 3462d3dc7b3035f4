"""Ordinary least squares from cross products, so that it can be resampled exactly."""

from collections.abc import Callable
from math import factorial

import numpy as np
import pandas as pd

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate

NEGLIGIBLE = 1e-8
"""A sum of squares up to this is zero, up to rounding."""

_RELATIVE, _IDENTIFIED = 1e-8, 1e-6


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
    a, c, q = cross[..., :-1, :-1], cross[..., :-1, -1], cross[..., -1, -1]
    squares = np.diagonal(a, axis1=-2, axis2=-1)
    present = squares > NEGLIGIBLE
    scale = np.sqrt(np.where(present, squares, 1.0))
    a = np.where(
        present[..., None] & present[..., None, :],
        a / (scale[..., None] * scale[..., None, :]),
        0.0,
    )
    c = np.where(present, c / scale, 0.0)
    b, rank = np.empty(c.shape), np.full(c.shape[:-1], c.shape[-1])
    identified = np.ones(c.shape, dtype=bool)
    inverse, clear = _inverse(a)
    b[clear] = (inverse[clear] @ c[clear][..., None])[..., 0]
    b[~clear], identified[~clear], rank[~clear] = _of_least_norm(a[~clear], c[~clear])
    residual = np.maximum(q - (b * c).sum(axis=-1), 0.0)
    return np.where(identified, b / scale, np.nan), residual, rank


def _inverse(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses, and where no eigenvalue is near ``_RELATIVE``: none is below one by the trace of the inverse."""
    regular = np.linalg.det(a) > np.finfo(float).tiny
    inverse = np.zeros(a.shape)
    inverse[regular] = np.linalg.inv(a[regular])
    own = np.diagonal(inverse, axis1=-2, axis2=-1)
    return inverse, regular & (own > 0).all(axis=-1) & (own.sum(axis=-1) < 0.01 / _RELATIVE)


def _of_least_norm(a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients of least norm, which of them are identified, and rank."""
    values, vectors = np.linalg.eigh(a)
    kept = values > _RELATIVE
    inverse_values = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    b = (vectors @ (inverse_values[..., None] * (np.swapaxes(vectors, -1, -2) @ c[..., None])))[
        ..., 0
    ]
    return b, (vectors**2 * kept[..., None, :]).sum(axis=-1) > 1 - _IDENTIFIED, kept.sum(axis=-1)


def coefficient(column: int, minus: int | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from cross products to one coefficient, or to the difference of two.

    Examples
    --------
    >>> z = np.array([[1.0, 0.0, 3.0], [1.0, 0.0, 5.0], [0.0, 1.0, 2.0]])
    >>> float(coefficient(0)(z.T @ z).round(6)), float(coefficient(0, minus=1)(z.T @ z).round(6))
    (4.0, 2.0)
    """

    def of(cross: np.ndarray) -> np.ndarray:
        coefficients = least_squares(cross)[0]
        return coefficients[..., column] - (0 if minus is None else coefficients[..., minus])

    return of


def within(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    """Return values minus the mean of their group, column by column.

    Examples
    --------
    >>> within(np.array([[1.0], [3.0], [7.0]]), pd.Series(["a", "a", "b"])).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    codes, names = pd.factorize(pd.Series(groups).to_numpy())
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, codes, values)
    return values - (sums / np.bincount(codes, minlength=len(names))[:, None])[codes]


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
    weights = [factorial(size) * factorial(k - size - 1) / factorial(k) for size in range(k)]
    own = np.stack([matrices[i, i] for i in range(k)]) if k else added

    def visit(residual: np.ndarray, outside: list[int], later: int) -> None:
        """Add what each predictor outside of a subset adds to it, from residual covariances with the outcome."""
        positions = np.arange(len(outside))
        free = residual[positions, positions] > ROUNDING * own[outside]
        scale = np.where(free, 1 / np.where(free, residual[positions, positions], 1), 0)
        added[outside] += weights[k - len(outside)] * residual[positions, -1] ** 2 * scale
        # Each subset once: it grows by later predictors only, and the last complement adds nothing.
        for i in range(later, len(outside) if len(outside) > 1 else 0):
            left = [*outside[:i], *outside[i + 1 :]]
            kept = [*positions[:i], *positions[i + 1 :], len(outside)]
            rows = residual[kept]
            visit(rows[:, kept] - rows[:, i, None] * (residual[i, kept] * scale[i]), left, i)

    if k:
        visit(matrices, list(range(k)), 0)
    outcome = matrices[-1, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(outcome > ROUNDING, added / outcome, np.nan)
    return np.moveaxis(shares, 0, -1)


def within_correlation(
    values: np.ndarray,
    groups: pd.Series,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
    method: str,
) -> dict:
    r"""Return the correlation of two columns within groups, as a row of estimates; a third column may be held equal.

    .. math:: r_{xy} = \frac{\sum \tilde x \tilde y}{\sqrt{\sum \tilde x^2 \sum \tilde y^2}}, \quad
              r_{xy \cdot z} = \frac{r_{xy} - r_{xz} r_{yz}}{\sqrt{(1 - r_{xz}^2)(1 - r_{yz}^2)}}

    with each value minus the mean of its group. So what differs between groups, such as the level at which a person
    rates, has no part in it.
    """
    codes = pd.factorize(pd.Series(groups).to_numpy())[0]
    kept = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=bool)
    common = {"n": int(kept.sum()), "unit": "correlation", "method": method}
    if not kept.any():
        return bootstrap.row(
            Estimate(np.nan), **common, undefined="nothing has two ratings to compare"
        )
    values, participants = np.asarray(values, dtype=float)[kept], pd.Series(participants)[kept]
    values = within(values, pd.Series(codes[kept]))
    correlation = bootstrap.estimate(
        _partial, values[:, :, None] * values[:, None, :], participants
    )
    return bootstrap.row(correlation, **common, undefined="one of the two does not vary")


def _partial(cross: np.ndarray) -> np.ndarray:
    """Correlation of the first two columns from cross products, the third held equal if there is one."""
    squares = np.diagonal(cross, axis1=-2, axis2=-1)
    vary = (squares > 1e-9).all(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = cross / np.sqrt(squares[..., :, None] * squares[..., None, :])
        correlation = r[..., 0, 1]
        if cross.shape[-1] == 3:
            remaining = (1 - r[..., 0, 2] ** 2) * (1 - r[..., 1, 2] ** 2)
            vary = vary & (remaining > 1e-9)
            correlation = (correlation - r[..., 0, 2] * r[..., 1, 2]) / np.sqrt(remaining)
    return np.where(vary, correlation, np.nan)
