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
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.factor import FEWEST_UNITS, FIT_KEYS, ITEMS_FOR_A_TEST, fit_one_factor, indices_of
from sense7.statistics.multilevel import nested_moments, within_covariances
from sense7.statistics.reliability import covariances_from_sums, moments_by_participant
from sense7.statistics.structure import correlations_from_covariances, joined, lacking_items, too_few, usable
from sense7.taxonomy import DIMENSIONS
from sense7.terminal import count_of

__all__ = [
    "COMPARISON_KEYS",
    "FIT_KEYS_OF_MODELS",
    "GROUPS",
    "GroupFactors",
    "comparison",
    "fit_group_factors",
    "fit_of_models",
]

GROUPS = {dimension.name: dimension.group for dimension in DIMENSIONS}
"""Dimension -> its group in the taxonomy."""

_NAMES = tuple(dict.fromkeys(GROUPS.values()))
_PAIRS = tuple(itertools.combinations(_NAMES, 2))
MODELS = {"one factor": "one_factor", "a factor for each group": "group_factors"}

FIT_KEYS_OF_MODELS = {
    f"{model}: {index}": f"{key}_{{}}_{end}" for model, key in MODELS.items() for index, end in FIT_KEYS.items()
}
"""Rows of :func:`fit_of_models` -> pattern of their keys, ``{}`` standing for the ratings."""

COMPARISON_KEYS = {
    "likelihood ratio": "group_factors_{}_likelihood_ratio",
    "BIC of the groups minus that of one factor": "group_factors_{}_bic_difference",
    "p of one factor": "group_factors_{}_p",
    **{f"correlation of {a} and {b}": f"group_factors_{{}}_correlation_{a}_{b}" for a, b in _PAIRS},
}
"""Rows of :func:`comparison` -> pattern of their keys."""

_SMALLEST = np.log(0.005)
_STEPS = 200
_CONVERGED = 1e-9
_ALIKE = (
    "the groups that were rated are no other model than one factor: this needs two groups of several dimensions, or "
    "one of them and two further groups"
)
_UNDEFINED = "no factor model can be fitted: some of the ratings are the same, or sums of others"


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
    the fit of one factor, so that F is never above that of :func:`sense7.statistics.factor.fit_one_factor`.

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
    model = _Model(groups)
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


class _Model:
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
        several = self.sizes > 1
        of_group = np.ones((len(loadings), self.count))
        for group in np.flatnonzero(~several):
            of_group[:, group] = loadings[:, self.code == group][:, 0]
        free = np.where(several[self.code], loadings, 1.0)
        between = [of_group[:, a] * of_group[:, b] for a, b in self.pairs]
        parts = [free, np.stack(between, 1) if between else np.empty((len(free), 0)), np.log(uniquenesses[:, self.own])]
        return np.concatenate(parts, axis=1)

    def parts(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        loadings, between, logs = np.split(points, [self.k, self.k + len(self.pairs)], axis=1)
        factors = np.broadcast_to(np.eye(self.count), (len(points), self.count, self.count)).copy()
        for place, (a, b) in enumerate(self.pairs):
            factors[:, a, b] = factors[:, b, a] = between[:, place]
        uniquenesses = np.zeros_like(loadings)
        uniquenesses[:, self.own] = np.exp(logs)
        return loadings, factors, uniquenesses

    def modeled(self, points: np.ndarray) -> np.ndarray:
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


def _discrepancy(model: _Model, matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """F of each matrix at its point; infinite where the modeled matrix is not positive definite."""
    modeled = model.modeled(points)
    positive = np.linalg.eigvalsh(modeled)[:, 0] > 1e-10
    safe = np.where(positive[:, None, None], modeled, np.eye(model.k))
    value = np.linalg.slogdet(safe)[1] + np.einsum("bij,bji->b", matrices, np.linalg.inv(safe))
    return np.where(positive, value - np.linalg.slogdet(matrices)[1] - model.k, np.inf)


def _minimized(model: _Model, matrices: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def _moments(ratings: pd.DataFrame, within: bool):
    """Sums by participant, the participants, and how correlations come from the sums."""
    if within:
        moments, people = nested_moments(ratings)
        return moments, people, within_covariances
    moments, people = moments_by_participant(ratings.to_numpy(dtype=float), ratings.index.get_level_values(0))
    return moments, people, covariances_from_sums


def _units(ratings: pd.DataFrame, within: bool) -> int:
    """Independent units: units, or within conversations the units less the conversations."""
    return len(ratings) - (ratings.index.get_level_values(1).nunique() if within else 0)


def _prepared(ratings: pd.DataFrame, within: bool) -> tuple[pd.DataFrame, str, _Model | None, str]:
    """Units used, what was left out, the model (none if not even one factor can be fitted), and why there is none."""
    used, note = usable(ratings)
    units = _units(used, within)
    if not (reason := too_few(used, ITEMS_FOR_A_TEST, FEWEST_UNITS)) and units < FEWEST_UNITS:
        reason = f"turns beyond the first of their conversation: {units}; this needs {FEWEST_UNITS}"
    if reason:
        return used, note, None, reason
    model = _Model([GROUPS[name] for name in used])
    return used, note, model, "" if model.constraints > 0 else _ALIKE


def _method(used: pd.DataFrame, note: str, within: bool) -> str:
    where = "covariances within conversations, " if within else ""
    return f"maximum likelihood, {where}listwise, {count_of(used.shape[1], 'item')}{note}"


def fit_of_models(ratings: pd.DataFrame, *, within: bool = False) -> pd.DataFrame:
    """How well one factor fits, and how well one factor for each group of the taxonomy does, listwise.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant, or by participant and conversation. Columns are dimensions; those never rated or
        without variation are left out.
    within : bool
        Whether to take the covariances within conversations (:func:`sense7.statistics.multilevel.within_covariances`).
        The index holds the conversation then, and n is the number of turns less that of conversations.

    Returns
    -------
    DataFrame
        One row per model and index (``FIT_KEYS_OF_MODELS``): estimate, n, unit, method, reason. The indices are those
        of :func:`sense7.statistics.factor.fit_indices`. There are no intervals: resampling inflates misfit.
    """
    used, note, model, reason = _prepared(ratings, within)
    n, k, fits = _units(used, within), used.shape[1], {}
    if model is not None:
        moments, _, of = _moments(used, within)
        # By maximum likelihood: divided by the number of units, of which the pooled covariances lose none.
        covariances = of(moments.sum(axis=0)) * (1 if within else (n - 1) / n)
        correlations = correlations_from_covariances(covariances)
        one = fit_one_factor(correlations)
        fits["one factor"] = float(one.discrepancy), np.outer(one.loadings, one.loadings), 2 * k
    if model is not None and not reason:
        fit = fit_group_factors(correlations, [GROUPS[name] for name in used])
        spread = fit.correlations[model.code[:, None], model.code[None, :]]
        implied = np.outer(fit.loadings, fit.loadings) * spread
        fits["a factor for each group"] = float(fit.discrepancy), implied, model.size
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    method, rows = _method(used, note, within), {}
    for name in FIT_KEYS_OF_MODELS:
        which, index = name.split(": ")
        found = dict.fromkeys(FIT_KEYS, np.nan)
        if which in fits:
            discrepancy, implied, size = fits[which]
            found = indices_of(covariances, n, discrepancy, implied, parameters=size)
        why = about if np.isfinite(found[index]) else _UNDEFINED if which in fits else reason
        rows[name] = estimate_row(found[index], n=n, unit=index, method=method, reason=why)
    return estimate_table(rows, "model and index")


def comparison(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, within: bool = False) -> pd.DataFrame:
    r"""One factor for each group of the taxonomy compared with one factor for all, listwise.

    The likelihood ratio is n times the difference of the two discrepancies. It takes units as independent, and so does
    the difference of BIC. The p value does not: with d the q departures of the factors' correlations from those of one
    factor (see the head of this module), and V their covariance by leaving out each of m participants in turn,

    .. math:: d^\top V^{-1} d \; \frac{m - q}{q (m - 1)} \sim F_{q, m - q}

    if one factor is right. Intervals of the correlations are t intervals with the same kind of error.

    Parameters
    ----------
    ratings, within
        As for :func:`fit_of_models`.
    bootstrap : ParticipantBootstrap
        Of the participants.

    Returns
    -------
    DataFrame
        One row per entry of ``COMPARISON_KEYS``: estimate, low, high, n, unit, method, reason.

    References
    ----------
    Hotelling, H. (1931). Annals of Mathematical Statistics 2, 360-378 (the distribution of the test).
    """
    used, note, model, reason = _prepared(ratings, within)
    method, n = _method(used, note, within), _units(used, within)
    if reason:
        rows = {
            name: estimate_row(n=n, unit=_unit(name), method=method, reason=_no_pair(name, used) or reason)
            for name in COMPARISON_KEYS
        }
        return estimate_table(rows, "comparison")
    moments, people, of = _moments(used, within)
    groups = [GROUPS[name] for name in used]
    sums = moments.sum(axis=0)
    left_out = bootstrap.without_each(lambda sums: sums, moments, people)
    correlations = correlations_from_covariances(of(np.concatenate([sums[None], left_out])))
    fit, one = fit_group_factors(correlations, groups), fit_one_factor(correlations[0])
    ratio = n * float(one.discrepancy - fit.discrepancy[0])
    undefined = "" if np.isfinite(ratio) else _UNDEFINED
    lacking, none = lacking_items(used, note), "no interval: units are taken as independent"
    penalty = model.constraints * np.log(n)
    rows = {}
    for name, value in zip(COMPARISON_KEYS, (ratio, penalty - ratio), strict=False):
        why = undefined or joined(none, lacking)
        rows[name] = estimate_row(value, n=n, unit=_unit(name), method=method, reason=why)
    p, why, how = _p(model, fit, len(people))
    rows["p of one factor"] = estimate_row(
        p, n=n, unit="p value", method=f"{method}; {how}", reason=undefined or joined(why, "" if why else lacking)
    )
    for name, (a, b) in zip(list(COMPARISON_KEYS)[3:], _PAIRS, strict=True):
        if why := _no_pair(name, used):
            rows[name] = estimate_row(n=n, unit=_unit(name), method=method, reason=why)
            continue
        values = fit.correlations[:, fit.groups.index(a), fit.groups.index(b)]
        # What is fitted already takes the place of the statistic, so that the rules of an interval stand in one place.
        found = bootstrap.estimate(
            lambda sums, values=values: values[1:] if sums.ndim > 1 else values[0],
            np.ones((len(people), 1)),
            people,
            OWN_SCALE,
        )
        row = bootstrap.row(
            found, n=n, unit=_unit(name), method=method, undefined=_UNDEFINED, how=bootstrap.describe(OWN_SCALE)
        )
        rows[name] = row | {"reason": joined(row["reason"], lacking)}
    return estimate_table(rows, "comparison")


def _unit(name: str) -> str:
    units = {"p of one factor": "p value", "likelihood ratio": "chi-square"}
    return units.get(name, "correlation" if name.startswith("correlation") else "BIC")


def _no_pair(name: str, used: pd.DataFrame) -> str:
    """Why the correlation of two groups has no value: a group without ratings."""
    present = {GROUPS[column] for column in used}
    pair = name.removeprefix("correlation of ").split(" and ") if name.startswith("correlation") else []
    missing = [group for group in pair if group not in present]
    return f"no dimension of this group was rated, or varies: {', '.join(missing)}" if missing else ""


def _p(model: _Model, fit: GroupFactors, people: int) -> tuple[float, str, str]:
    """P value of one factor, why there is none, and how it was computed."""
    q = model.constraints
    how = f"test of {count_of(q, 'departure')}, covariance by leaving out each participant in turn"
    departures = model.departures(fit.correlations)
    if people <= q + 2:
        return np.nan, f"no test: only {count_of(people, 'participant')}", how
    if not np.isfinite(departures).all():
        without = np.count_nonzero(~np.isfinite(departures[1:]).all(axis=1))
        return np.nan, f"no test: undefined without {without} of the {count_of(people, 'participant')}", how
    spread = departures[1:] - departures[1:].mean(axis=0)
    covariance = (people - 1) / people * spread.T @ spread
    if np.linalg.eigvalsh(covariance)[0] <= 1e-14:
        return np.nan, "no test: leaving out a participant changes nothing", how
    statistic = float(departures[0] @ np.linalg.solve(covariance, departures[0]))
    return float(stats.f.sf(statistic * (people - q) / (q * (people - 1)), q, people - q)), "", how


check_arguments(globals())
