"""Ordinary least squares from cross products, so that it can be resampled exactly."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments

__all__ = ["NEGLIGIBLE", "coefficient", "least_squares", "within"]

NEGLIGIBLE = 1e-8
"""A sum of squares up to this is zero, up to rounding."""

_RELATIVE, _IDENTIFIED = 1e-8, 1e-6


def least_squares(cross: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return ordinary least squares from cross products, for many resamples at once.

    .. math:: b = (X^\top X)^{+} X^\top y, \quad \mathrm{RSS} = y^\top y - b^\top X^\top y

    Parameters
    ----------
    cross : array, shape (..., p + 1, p + 1)
        Cross products of (design, y).

    Returns
    -------
    coefficients : array, shape (..., p)
        NaN for a coefficient that the design does not identify; the others are given.
    residual : array, shape (...)
        Sum of squared residuals.
    rank : array, shape (...)
        Rank of the design.

    Notes
    -----
    Checked against statsmodels' OLS to 1e-10.

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
    a = np.where(present[..., None] & present[..., None, :], a / (scale[..., None] * scale[..., None, :]), 0.0)
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
    b = (vectors @ (inverse_values[..., None] * (np.swapaxes(vectors, -1, -2) @ c[..., None])))[..., 0]
    return b, (vectors**2 * kept[..., None, :]).sum(axis=-1) > 1 - _IDENTIFIED, kept.sum(axis=-1)


def coefficient(column: int, minus: int | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from cross products to one coefficient, or to the difference of two.

    Parameters
    ----------
    column : int
        Column of the design.
    minus : int, optional
        Column whose coefficient is subtracted.

    Returns
    -------
    callable
        Takes cross products as :func:`least_squares`, shape (..., p + 1, p + 1); returns shape (...).

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


check_arguments(globals())
