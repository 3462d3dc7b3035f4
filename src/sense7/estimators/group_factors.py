r"""One factor for each group of dimensions, correlated, compared with one factor for all of them.

The taxonomy sorts the dimensions into three groups: affective, cognitive and motivational. If the groups are more than
words, ratings of one group correlate more with each other than with those of another. The model is

.. math:: R = \Lambda \Phi \Lambda^\top + \Psi

for the correlations R of k items, with a loading of every item on the factor of its own group only, factor correlations
:math:`\Phi`, and uniquenesses :math:`\Psi`. A group of one item has no uniqueness: its factor is that item, errors of
rating included, and its correlations with other factors are lower for that. One factor for all is the case in which the
factors of all groups of several items correlate at 1, and a group of one item correlates alike with each of them.

The maximum is searched without the bound :math:`|\phi| \le 1`: an estimated correlation may pass 1 by chance, where the
true one is 1, and an interval that reaches 1 says that two factors are not distinguished. Units without one of the
items are left out (listwise).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sense7.arguments import check_arguments
from sense7.estimators.factor import fit_one_factor

__all__ = ["GroupFactorModel", "GroupFactors", "fit_group_factors"]

_SMALLEST = np.log(0.005)
_STEPS = 200
_CONVERGED = 1e-9


@dataclass(frozen=True, eq=False)
class GroupFactors:
    """A fitted model of correlated factors, or many.

    Attributes
    ----------
    groups : tuple of str
        Names of the factors, g of them.
    loadings, uniquenesses : array, shape (..., k)
        In the metric of correlations; the sum of the loadings of a group is not negative.
    correlations : array, shape (..., g, g)
        Of the factors; not held below 1.
    discrepancy : array, shape (...)
        Value of the maximum-likelihood discrepancy; times n it is chi-square.
    """

    groups: tuple[str, ...]
    loadings: np.ndarray
    uniquenesses: np.ndarray
    correlations: np.ndarray
    discrepancy: np.ndarray


def fit_group_factors(correlations: np.ndarray, groups: Sequence[str]) -> GroupFactors:
    r"""Fit one factor per group by maximum likelihood to one correlation matrix or to many at once.

    What is minimized is

    .. math:: F = \log|\Sigma| + \mathrm{tr}(R \Sigma^{-1}) - \log|R| - k, \quad \Sigma = \Lambda\Phi\Lambda^\top + \Psi

    over loadings, correlations of factors and logarithms of uniquenesses (each at least 0.005), by Fisher scoring from
    the fit of one factor, so that F is never above that of :func:`sense7.estimators.factor.fit_one_factor`.

    Parameters
    ----------
    correlations : array, shape (..., k, k)
        k at least 3.
    groups : sequence of str, length k
        Group of each item.

    Returns
    -------
    GroupFactors
        NaN where a matrix is not positive definite, one factor can't be fitted, or the method did not converge.

    References
    ----------
    Joreskog, K. G. (1969). Psychometrika 34, 183-202. Savalei, V., & Kolenikov, S. (2008). Psychological Methods 13,
    150-170 (why the search is not bounded).

    Notes
    -----
    Checked against a general minimizer.

    Examples
    --------
    >>> loadings, factors = np.array([[0.9, 0], [0.8, 0], [0, 0.7], [0, 0.6]]), np.array([[1, 0.5], [0.5, 1]])
    >>> model = loadings @ factors @ loadings.T
    >>> np.fill_diagonal(model, 1)
    >>> fit = fit_group_factors(model, "aabb")
    >>> fit.loadings.round(6).tolist(), fit.correlations[0, 1].round(6).tolist(), abs(fit.discrepancy.round(9))
    ([0.9, 0.8, 0.7, 0.6], 0.5, np.float64(0.0))
    """
    correlations = np.asarray(correlations, dtype=float)
    k = correlations.shape[-1]
    shape = correlations.shape[:-2]
    matrices = correlations.reshape(-1, k, k)
    model = GroupFactorModel(groups)
    one = fit_one_factor(matrices)
    points = np.full((len(matrices), model.size), np.nan)
    values = np.full(len(matrices), np.nan)
    sound = np.flatnonzero(np.isfinite(one.discrepancy))
    if len(sound):
        start = model.start(one.loadings[sound], one.uniquenesses[sound])
        points[sound], values[sound] = _minimized(model, matrices[sound], start)
    loadings, factors, uniquenesses = model.parts(points)
    signs = np.stack([np.where(loadings[:, model.code == g].sum(axis=1) < 0, -1.0, 1.0) for g in range(model.count)], 1)
    return GroupFactors(
        model.names,
        (loadings * signs[:, model.code]).reshape(*shape, k),
        uniquenesses.reshape(*shape, k),
        (factors * signs[:, :, None] * signs[:, None, :]).reshape(*shape, model.count, model.count),
        values.reshape(shape),
    )


class GroupFactorModel:
    """Which parameter stands where: k loadings, the correlations of the factors, and the logarithms of uniquenesses."""

    def __init__(self, groups: Sequence[str]):
        self.names = tuple(dict.fromkeys(groups))
        self.code = np.array([self.names.index(name) for name in groups])
        self.count, self.k = len(self.names), len(self.code)
        self.sizes = np.bincount(self.code)
        self.own = np.flatnonzero(self.sizes[self.code] > 1)  # items with a uniqueness
        self.pairs = list(itertools.combinations(range(self.count), 2))
        self.size = self.k + len(self.pairs) + len(self.own)

    @property
    def constraints(self) -> int:
        """By how many parameters it exceeds one factor."""
        return self.size - 2 * self.k

    def start(self, loadings: np.ndarray, uniquenesses: np.ndarray) -> np.ndarray:
        """Parameters to begin with, from the solution with one factor: shape (matrices, parameters)."""
        several = self.sizes > 1
        of_group = np.ones((len(loadings), self.count))
        for group in np.flatnonzero(~several):
            of_group[:, group] = loadings[:, self.code == group][:, 0]
        free = np.where(several[self.code], loadings, 1.0)
        between = [of_group[:, a] * of_group[:, b] for a, b in self.pairs]
        parts = [free, np.stack(between, 1) if between else np.empty((len(free), 0)), np.log(uniquenesses[:, self.own])]
        return np.concatenate(parts, axis=1)

    def parts(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loadings, correlations of the factors and uniquenesses, from the parameters."""
        loadings, between, logs = np.split(points, [self.k, self.k + len(self.pairs)], axis=1)
        factors = np.broadcast_to(np.eye(self.count), (len(points), self.count, self.count)).copy()
        for place, (a, b) in enumerate(self.pairs):
            factors[:, a, b] = factors[:, b, a] = between[:, place]
        uniquenesses = np.zeros_like(loadings)
        uniquenesses[:, self.own] = np.exp(logs)
        return loadings, factors, uniquenesses

    def modeled(self, points: np.ndarray) -> np.ndarray:
        """Correlations that the model implies, shape (matrices, k, k)."""
        loadings, factors, uniquenesses = self.parts(points)
        spread = factors[:, self.code[:, None], self.code[None, :]]
        model = loadings[:, :, None] * spread * loadings[:, None, :]
        model[:, range(self.k), range(self.k)] += uniquenesses
        return model

    def slopes(self, points: np.ndarray) -> np.ndarray:
        """Derivative of the modeled matrix in each parameter, shape (matrices, parameters, k, k)."""
        loadings, factors, uniquenesses = self.parts(points)
        spread = factors[:, self.code[:, None], self.code[None, :]]
        slopes = np.zeros((len(points), self.size, self.k, self.k))
        for item in range(self.k):
            slopes[:, item, item, :] += spread[:, item, :] * loadings
            slopes[:, item, :, item] += spread[:, item, :] * loadings
        products = loadings[:, :, None] * loadings[:, None, :]
        for place, (a, b) in enumerate(self.pairs, self.k):
            between = (self.code[:, None] == a) & (self.code[None, :] == b)
            slopes[:, place] = products * (between | between.T)
        for place, item in enumerate(self.own, self.k + len(self.pairs)):
            slopes[:, place, item, item] = uniquenesses[:, item]
        return slopes

    def departures(self, factors: np.ndarray) -> np.ndarray:
        """How far the factors' correlations are from those of one factor, shape (matrices, constraints)."""
        several, single = np.flatnonzero(self.sizes > 1), np.flatnonzero(self.sizes == 1)
        if not len(several):
            return np.empty((len(factors), 0))
        first = several[0]
        parts = [factors[:, a, b] - 1 for a, b in itertools.combinations(several, 2)]
        parts += [factors[:, s, g] - factors[:, s, first] for s in single for g in several[1:]]
        parts += [factors[:, s, t] - factors[:, s, first] * factors[:, t, first] for s, t in _two(single)]
        return np.stack(parts, axis=1) if parts else np.empty((len(factors), 0))


def _two(groups: np.ndarray):
    return itertools.combinations(groups, 2)


def _discrepancy(model: GroupFactorModel, matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """F of each matrix at its point; infinite where the modeled matrix is not positive definite."""
    modeled = model.modeled(points)
    positive = np.linalg.eigvalsh(modeled)[:, 0] > 1e-10
    safe = np.where(positive[:, None, None], modeled, np.eye(model.k))
    value = np.linalg.slogdet(safe)[1] + np.einsum("bij,bji->b", matrices, np.linalg.inv(safe))
    return np.where(positive, value - np.linalg.slogdet(matrices)[1] - model.k, np.inf)


def _minimized(model: GroupFactorModel, matrices: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points at the minimum and the discrepancies there; NaN where it was not reached."""
    logs = slice(model.k + len(model.pairs), None)
    points = start.copy()
    points[:, logs] = np.maximum(points[:, logs], _SMALLEST)
    value = _discrepancy(model, matrices, points)
    damping = np.full(len(points), 1e-3)
    reached = np.zeros(len(points), dtype=bool)
    for _ in range(_STEPS):
        going = np.flatnonzero(~reached)
        if not len(going):
            break
        here = points[going]
        modeled, slopes = model.modeled(here), model.slopes(here)
        inverse = np.linalg.inv(modeled)
        weighted = inverse[:, None] @ slopes
        residual = np.eye(model.k) - inverse @ matrices[going]
        gradient = np.einsum("bpij,bji->bp", weighted, residual)
        flat = weighted.reshape(len(going), model.size, -1)
        other = weighted.transpose(0, 1, 3, 2).reshape(len(going), model.size, -1)
        curvature = flat @ other.transpose(0, 2, 1)
        # At its bound, and pushed against it: held there.
        held = np.zeros(gradient.shape, dtype=bool)
        held[:, logs] = (here[:, logs] <= _SMALLEST) & (gradient[:, logs] > 0)
        gradient = np.where(held, 0.0, gradient)
        done = np.abs(gradient).max(axis=1) < _CONVERGED
        reached[going[done]] = True
        free = ~held
        curvature = np.where(free[:, :, None] & free[:, None, :], curvature, 0.0)
        diagonal = np.einsum("bpp->bp", curvature)
        diagonal += damping[going][:, None] * np.maximum(diagonal, 1e-6) + np.where(held, 1.0, 1e-12)
        step = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True), 1)
        trial = here + step
        trial[:, logs] = np.maximum(trial[:, logs], _SMALLEST)
        found = _discrepancy(model, matrices[going], trial)
        better = ~done & (found <= value[going] + 1e-14)
        damping[going] = np.where(better, damping[going] / 10, np.maximum(10 * damping[going], 1e-6))
        points[going[better]], value[going[better]] = trial[better], found[better]
    points[~reached], value[~reached] = np.nan, np.nan
    return points, value


check_arguments(globals())
