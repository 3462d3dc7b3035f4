r"""Polychoric correlations: of the normal variables that may underlie the five levels.

Each rating is taken as a normal variable cut at four thresholds; the polychoric correlation is that
of the two normal variables. It is a sensitivity analysis: it asks what the coarse scale may hide.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from sense7.arguments import check_arguments
from sense7.taxonomy import LEVELS

__all__ = ["LEVEL_COUNT", "polychoric", "polychoric_ml"]

LEVEL_COUNT = len(LEVELS)
_LARGEST = 0.999
"""A correlation that runs beyond this has no finite estimate."""

_FAR = 8.0  # stands for infinity in units of standard deviations
_STEPS = 60
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)


def bivariate_normal(h: np.ndarray, k: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Return the probability that two standard normal variables of correlation rho are below h and k.

    .. math:: \Phi_2(h, k; \rho) = \Phi(h)\Phi(k) + \frac{1}{2\pi}\int_0^{\arcsin\rho}
              \exp\left(-\frac{h^2 + k^2 - 2hk\sin t}{2\cos^2 t}\right) dt

    by Gauss-Legendre quadrature.

    Parameters
    ----------
    h, k : array
        Limits; of shapes that broadcast.
    rho : array
        Correlations, -0.999..0.999.

    References
    ----------
    Drezner, Z., & Wesolowsky, G. O. (1990). Journal of Statistical Computation and Simulation 35, 101-107.

    Notes
    -----
    Checked against scipy.stats.multivariate_normal to 1e-12 for correlations up to 0.99.

    Examples
    --------
    >>> round(float(bivariate_normal(0.0, 0.0, 0.5)), 6)
    0.333333
    """
    h, k, rho = (np.asarray(value, dtype=float) for value in (h, k, rho))
    half = np.arcsin(rho) / 2
    total = 0.0
    squares, product = (h * h + k * k) / 2, h * k
    for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        sine = np.sin(half * (1 + node))
        total = total + weight * np.exp((product * sine - squares) / (1 - sine * sine))
    return ndtr(h) * ndtr(k) + half * total / (2 * np.pi)


def _cells(first: np.ndarray, second: np.ndarray, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the cells and their derivatives by rho, (..., 5, 5), from four thresholds each."""
    h, k, r = first[..., :, None], second[..., None, :], rho[..., None, None]
    edges = [(0, 0)] * rho.ndim + [(1, 1), (1, 1)]
    below = np.pad(bivariate_normal(h, k, r), edges)
    below[..., 1:-1, -1], below[..., -1, 1:-1], below[..., -1, -1] = ndtr(first), ndtr(second), 1
    spread = 1 - r * r
    density = np.exp(-(h * h - 2 * r * h * k + k * k) / (2 * spread)) / (2 * np.pi * np.sqrt(spread))
    return tuple(np.diff(np.diff(grid, axis=-2), axis=-1) for grid in (below, np.pad(density, edges)))


def polychoric(tables: np.ndarray) -> np.ndarray:
    r"""Return polychoric correlations from tables of counts, in two steps.

    The thresholds are the normal quantiles of the cumulative shares of each rating; given these, rho
    maximises :math:`\sum_{ij} n_{ij} \log \pi_{ij}(\rho)`, by Fisher's scoring. Empty cells stay empty
    (no half is added).

    Parameters
    ----------
    tables : array, shape (..., 5, 5)
        Counts by level of the first and of the second rating.

    Returns
    -------
    array, shape (...)
        NaN where a rating has one level only, or the likelihood rises up to a correlation of one.

    References
    ----------
    Olsson, U. (1979). Psychometrika 44, 443-460.

    Notes
    -----
    R: psych::polychoric(correct=0), polycor::polychor(ML=FALSE), tests/reference/reference.R; equal to 5e-5.

    Examples
    --------
    >>> table = np.zeros((5, 5))
    >>> table[:2, :2] = [[40, 20], [20, 40]]  # two levels: cos(pi q), q the share off the diagonal
    >>> round(float(polychoric(table)), 6)
    0.5
    """
    tables = np.asarray(tables, dtype=float)
    counts = tables.reshape(-1, LEVEL_COUNT, LEVEL_COUNT)
    rho = np.full(len(counts), np.nan)
    margins = counts.sum(axis=2), counts.sum(axis=1)
    varies = ((margins[0] > 0).sum(axis=1) > 1) & ((margins[1] > 0).sum(axis=1) > 1)
    going = np.flatnonzero(varies)
    first, second = (_thresholds(margin[going]) for margin in margins)
    rho[going] = _maximised(counts[going], first, second)
    return np.where(np.abs(rho) < _LARGEST, rho, np.nan).reshape(tables.shape[:-2])


def _thresholds(margins: np.ndarray) -> np.ndarray:
    """Normal quantiles of the cumulative shares, (tables, 4)."""
    shares = margins.cumsum(axis=1)[:, :-1] / margins.sum(axis=1, keepdims=True)
    return np.clip(ndtri(shares), -_FAR, _FAR)


def _maximised(counts: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    levels = np.arange(LEVEL_COUNT)
    total = counts.sum(axis=(1, 2))
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    x, y = rows @ levels / total, columns @ levels / total
    cross = np.einsum("tij,i,j->t", counts, levels, levels) / total - x * y
    spread = (rows @ levels**2 / total - x**2) * (columns @ levels**2 / total - y**2)
    # Scoring on the scale of Fisher's z, which has no limits.
    z = np.arctanh(np.clip(cross / np.sqrt(spread), -0.95, 0.95))
    limit = np.arctanh(_LARGEST)
    going = np.arange(len(counts))
    for _ in range(_STEPS):
        rho = np.tanh(z[going])
        probability, slope = _cells(first[going], second[going], rho)
        probability = np.maximum(probability, 1e-12)
        score = (counts[going] * slope / probability).sum(axis=(1, 2))
        information = total[going] * (slope**2 / probability).sum(axis=(1, 2))
        change = 1 - rho**2
        step = np.clip(score / np.maximum(information * change, 1e-12), -0.4, 0.4)
        z[going] = np.clip(z[going] + step, -limit, limit)
        going = going[(np.abs(step) > 1e-9) & (np.abs(z[going]) < limit)]
        if not len(going):
            break
    return np.tanh(z)


def polychoric_ml(table: np.ndarray) -> float:
    """Return the polychoric correlation of one table by full maximum likelihood: thresholds and rho together.

    Parameters
    ----------
    table : array, shape (5, 5)
        Counts.

    Returns
    -------
    float
        NaN where :func:`polychoric` is.

    Notes
    -----
    R: polycor::polychor(ML=TRUE), tests/reference/reference.R; equal to 2e-4: R's optimizer stops short of the
    maximum, which is found here to 5e-5.

    Examples
    --------
    >>> table = np.zeros((5, 5))
    >>> table[:2, :2] = [[40, 20], [20, 40]]
    >>> round(polychoric_ml(table), 4)
    0.5
    """
    table = np.asarray(table, dtype=float)
    start = float(polychoric(table))
    if not np.isfinite(start):
        return np.nan
    margins = [table.sum(axis=1), table.sum(axis=0)]
    kept = [np.flatnonzero(margin > 0) for margin in margins]
    counts = table[np.ix_(*kept)]
    cuts = [ndtri(margin[levels].cumsum()[:-1] / margin.sum()) for margin, levels in zip(margins, kept, strict=True)]
    split = len(cuts[0])

    def loss(point: np.ndarray) -> float:
        first, second = point[:split], point[split:-1]
        if (np.diff(first) <= 0).any() or (np.diff(second) <= 0).any():
            return 1e10
        probability, _ = _cells(first, second, np.asarray(np.tanh(point[-1])))
        return -float((counts * np.log(np.maximum(probability, 1e-12))).sum()) / counts.sum()

    point = np.concatenate([*cuts, [np.arctanh(start)]])
    solved = minimize(loss, point, method="BFGS", options={"gtol": 1e-8})
    return float(np.tanh(solved.x[-1]))


check_arguments(globals())
