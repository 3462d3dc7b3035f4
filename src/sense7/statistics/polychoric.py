r"""Correlations of what may lie behind the five levels: polychoric correlations, ordinal alpha.

Each rating is taken as a normal variable cut at four thresholds; the polychoric correlation is that
of the two normal variables. It is a sensitivity analysis: it asks what the coarse scale may hide.
"""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.reliability import alpha_from_covariances
from sense7.statistics.structure import joined, lacking_items, too_few, usable, varies
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "ORDINAL_KEYS",
    "bivariate_normal",
    "level_tables",
    "ordinal_alpha_row",
    "ordinal_alphas",
    "polychoric",
    "polychoric_matrix",
    "polychoric_ml",
]

ORDINAL_KEYS = {"per turn, listwise": "ordinal_alpha_turn", "after the conversation, listwise": "ordinal_alpha_post"}
"""Rows of :func:`ordinal_alphas` -> key."""

_LEVELS = len(LEVELS)
_LARGEST = 0.999
"""A correlation that runs beyond this has no finite estimate."""

_FAR = 8.0  # stands for infinity in units of standard deviations
_STEPS = 60
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
MOST_DRAWS = 500
"""Draws for the interval of ordinal alpha: each takes all correlations again."""


def bivariate_normal(h: np.ndarray, k: np.ndarray, rho: np.ndarray) -> np.ndarray:
    r"""Probability that two standard normal variables of correlation rho are below h and k.

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
    r"""Polychoric correlations from tables of counts, in two steps.

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
    counts = tables.reshape(-1, _LEVELS, _LEVELS)
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
    levels = np.arange(_LEVELS)
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
    """Polychoric correlation of one table by full maximum likelihood: thresholds and rho together.

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


def level_tables(ratings: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    """Count, for each participant and pair of items, how often which levels were given together.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Units that lack an item, or give it no whole level 1..5, are in none of its tables.

    Returns
    -------
    tables : array, shape (participants, pairs, 5, 5)
        By level of the first and of the second item of a pair. Units alone would need a table each.
    participants : Index
        The first axis.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1.0, 1.0, 5.0], "b": [2.0, 2.0, np.nan]}, index=["P1", "P1", "P2"])
    >>> tables, participants = level_tables(ratings)
    >>> tables.shape, tables[0, 0, 0, 1].item(), tables.sum().item(), list(participants)
    ((2, 1, 5, 5), 2.0, 2.0, ['P1', 'P2'])
    """
    codes, participants = pd.factorize(ratings.index, use_na_sentinel=False)
    values = ratings.to_numpy(dtype=float)
    given = np.isin(values, np.arange(1, _LEVELS + 1))
    levels = np.where(given, values, 1).astype(int) - 1
    pairs = list(itertools.combinations(range(values.shape[1]), 2))
    tables = np.zeros((len(participants), len(pairs), _LEVELS, _LEVELS))
    for place, (a, b) in enumerate(pairs):
        both = given[:, a] & given[:, b]
        cells = (codes[both] * _LEVELS + levels[both, a]) * _LEVELS + levels[both, b]
        tables[:, place] = np.bincount(cells, minlength=len(participants) * _LEVELS**2).reshape(-1, _LEVELS, _LEVELS)
    return tables, participants


def _square(correlations: np.ndarray, items: int) -> np.ndarray:
    matrix = np.zeros((*correlations.shape[:-1], items, items))
    rows, columns = np.triu_indices(items, 1)
    matrix[..., rows, columns] = matrix[..., columns, rows] = correlations
    return matrix + np.eye(items)


def polychoric_matrix(ratings: pd.DataFrame) -> pd.DataFrame:
    """Polychoric correlations of all pairs of items, each over the units that rate both.

    Items without a rating or without variation keep their row and column, of NaN.

    Notes
    -----
    R: psych::polychoric(correct=0), polycor::polychor(ML=FALSE), tests/reference/reference.R; equal to 5e-5.
    """
    counts = level_tables(ratings)[0].sum(axis=0)
    matrix = _square(polychoric(counts), ratings.shape[1])
    constant = [place for place, name in enumerate(ratings) if not varies(ratings[name])]
    matrix[constant, constant] = np.nan
    return pd.DataFrame(matrix, index=list(ratings), columns=list(ratings))


def _ordinal_alpha(sums: np.ndarray) -> np.ndarray:
    items = round((1 + np.sqrt(1 + 8 * sums.shape[-3])) / 2)
    return alpha_from_covariances(_square(polychoric(sums), items))


def ordinal_alpha_row(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    r"""Cronbach's alpha of the polychoric correlations, listwise, as a row of estimates.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Whole levels 1..5, indexed by participant. Items never rated or without variation are left
        out, and named in the method.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants, of which at most 500 are used: each takes all correlations again.

    Returns
    -------
    dict
        Row of estimates; n is the number of units that rate every item.

    References
    ----------
    Zumbo, B. D., Gadermann, A. M., & Zeisser, C. (2007). Journal of Modern Applied Statistical
    Methods 6, 21-29.

    Notes
    -----
    R: psych::alpha(psych::polychoric(correct=0)$rho), tests/reference/reference.R; equal to 5e-5.
    """
    used, note = usable(ratings)
    unit, method = "alpha", f"ordinal alpha (two-step polychoric), listwise, {count_of(used.shape[1], 'item')}{note}"
    if reason := too_few(used, items=2, units=20) or _no_levels(used):
        return estimate_row(n=len(used), unit=unit, method=method, reason=reason)
    own = replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))
    estimate, low, high, reason = own.estimate(_ordinal_alpha, *level_tables(used))
    if not np.isfinite(estimate):
        reason = "a polychoric correlation runs to its limit: two of the ratings hardly ever differ"
    elif not reason:
        method += f"; {own.description}"
    reason = joined(reason, lacking_items(used, note))
    return estimate_row(estimate, low, high, n=len(used), unit=unit, method=method, reason=reason)


def ordinal_alphas(turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Ordinal alpha per turn and after the conversation: the rows of ``ORDINAL_KEYS``."""
    frames = zip(ORDINAL_KEYS, (turns, post_task), strict=True)
    return estimate_table({name: ordinal_alpha_row(ratings, bootstrap) for name, ratings in frames}, "ratings")


def _no_levels(used: pd.DataFrame) -> str:
    whole = used.isin(range(1, _LEVELS + 1)).all(axis=None)
    return "" if whole else "the ratings are no whole levels from 1 to 5"


check_arguments(globals())
