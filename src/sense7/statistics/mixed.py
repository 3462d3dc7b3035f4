r"""The random-intercept model, from sums per participant, so that it can be resampled too.

With :math:`\lambda = \sigma_p^2 / \sigma^2` the inverse covariance of a participant's n values
is :math:`(I - \lambda/(1 + n\lambda)\, 11^\top)/\sigma^2`. So the restricted likelihood needs
cross products per participant only, and is a function of one number: it is minimised for many
resamplings at once. (statsmodels' MixedLM fits it too, one data set at a time, and not
dependably where the participants' variance is near nought.)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import pieces

__all__ = [
    "Nested",
    "NestedSums",
    "RandomIntercept",
    "fit_nested",
    "fit_random_intercept",
    "likelihood_ratio",
    "nested_sums",
    "random_intercept_sums",
    "satterthwaite",
    "satterthwaite_f",
]

_LARGEST_RATIO = 20.0
"""Largest standard deviation of participants, in units of the residual one."""

_STEPS = 45  # the interval shrinks to 20 * 0.618^45 < 1e-8
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class RandomIntercept:
    """A fitted model, or many.

    Attributes
    ----------
    coefficients : array, shape (..., p)
        Fixed effects.
    errors : array, shape (..., p)
        Their standard errors, given the variances.
    participant_variance, residual_variance : array, shape (...)
        The two variances.
    """

    coefficients: np.ndarray
    errors: np.ndarray
    participant_variance: np.ndarray
    residual_variance: np.ndarray


def random_intercept_sums(y: np.ndarray, design: np.ndarray, participants: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Cross products per participant, as :func:`fit_random_intercept` takes them summed.

    Parameters
    ----------
    y : array, shape (rows,)
        The outcome; no NaN.
    design : array, shape (rows, p)
        The fixed effects, with their column of ones.
    participants : Series
        Participant of each row.

    Returns
    -------
    sums : array, shape (participants, sizes, p + 2, 2 (p + 1))
        For each participant, at the place of its number of rows among the distinct ones: the
        cross products of (design, y), the outer product of their sums, and in a last row the
        number of participants (1) and of rows.
    names : Index
        The participants, in the order of the sums.
    """
    codes, names = pd.factorize(pd.Series(participants).to_numpy())
    z = np.column_stack([design, y])
    width = z.shape[1]
    size = np.bincount(codes)
    sizes, place = np.unique(size, return_inverse=True)
    products, totals = np.zeros((len(names), width, width)), np.zeros((len(names), width))
    np.add.at(products, codes, z[:, :, None] * z[:, None, :])
    np.add.at(totals, codes, z)
    sums = np.zeros((len(names), len(sizes), width + 1, 2 * width))
    each = np.arange(len(names))
    sums[each, place, :width, :width] = products
    sums[each, place, :width, width:] = totals[:, :, None] * totals[:, None, :]
    sums[each, place, width, 0] = 1
    sums[each, place, width, 1] = size
    return sums, pd.Index(names)


def fit_random_intercept(sums: np.ndarray) -> RandomIntercept:
    r"""Fit by restricted maximum likelihood (REML).

    .. math:: y = X\beta + u_{p} + e, \quad u_p \sim N(0, \sigma_p^2), \quad e \sim N(0, \sigma^2)

    Parameters
    ----------
    sums : array, shape (..., sizes, p + 2, 2 (p + 1))
        From :func:`random_intercept_sums`, summed over participants.

    Returns
    -------
    RandomIntercept
        NaN where the design is singular or there are too few rows.

    References
    ----------
    Laird, N. M., & Ware, J. H. (1982). Biometrics 38, 963-974.

    Notes
    -----
    R: lme4::lmer(overall ~ poor + (1 | participant)), tests/reference/reference.R; equal to 2e-4 and better.

    Examples
    --------
    >>> who = pd.Series(["a", "a", "b", "b", "c", "c"])
    >>> y = np.array([1.0, 2.0, 3.0, 4.5, 5.0, 6.5])
    >>> sums, _ = random_intercept_sums(y, np.ones((6, 1)), who)
    >>> fit = fit_random_intercept(sums.sum(axis=0))
    >>> round(float(fit.coefficients[0]), 4), round(float(fit.residual_variance), 4)
    (3.6667, 0.9167)
    """
    fits = sums.reshape(-1, *sums.shape[-3:])
    parts = [_fit_at_once(fits[piece]) for piece in pieces(len(fits), fits[0].size, _CHUNK)]
    joined = (np.concatenate(part) for part in zip(*parts, strict=True))
    return RandomIntercept(*(part.reshape((*sums.shape[:-3], *part.shape[1:])) for part in joined))


def _fit_at_once(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What :class:`RandomIntercept` holds; the ratio of the standard deviations by golden section."""
    left, right = np.zeros(len(sums)), np.full(len(sums), _LARGEST_RATIO)
    by_size = _BySize.of(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        at_low, at_high = _deviance(by_size, low), _deviance(by_size, high)
        for _ in range(_STEPS):
            lower = at_low <= at_high
            left, right = np.where(lower, left, low), np.where(lower, high, right)
            new = np.where(lower, right - _GOLDEN * (right - left), left + _GOLDEN * (right - left))
            at_new = _deviance(by_size, new)
            # The other inner point is where one of the last two was.
            low, high = np.where(lower, new, high), np.where(lower, low, new)
            at_low, at_high = np.where(lower, at_new, at_high), np.where(lower, at_low, at_new)
        ratio = (left + right) / 2
        # The minimum may be the boundary itself.
        ratio = np.where(_deviance(by_size, np.zeros_like(ratio)) <= _deviance(by_size, ratio), 0.0, ratio)
        cross, _ = by_size.weighted(ratio)
        inverse, coefficients, residual = _solve(cross, by_size.freedom)
        errors = np.sqrt(residual[..., None] * np.diagonal(inverse, axis1=-2, axis2=-1))
    return coefficients, errors, residual * ratio**2, residual


class _BySize(NamedTuple):
    """The sums of some fits, as every step of them takes them.

    Participants (fits, sizes) of so many rows (fits, sizes), all cross products (fits, p + 1, p + 1), outer products of
    the sums by size (fits, sizes, (p + 1)^2), and degrees of freedom (fits,).
    """

    people: np.ndarray
    size: np.ndarray
    products: np.ndarray
    outer: np.ndarray
    freedom: np.ndarray

    @classmethod
    def of(cls, sums: np.ndarray) -> "_BySize":
        width = sums.shape[-1] // 2
        people, rows = sums[..., width, 0], sums[..., width, 1]
        return cls(
            people,
            np.divide(rows, people, out=np.zeros_like(rows), where=people > 0),
            sums[..., :width, :width].sum(axis=-3),
            sums[..., :width, width:].reshape(*sums.shape[:-2], width * width),
            rows.sum(axis=-1) - (width - 1),
        )

    def weighted(self, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted cross products of (design, y), and log-determinant of the weights."""
        factor = ratio[..., None] ** 2
        weight = factor / (1 + self.size * factor)
        cross = self.products - (weight[..., None, :] @ self.outer).reshape(self.products.shape)
        return cross, (self.people * np.log1p(self.size * factor)).sum(axis=-1)


def _solve(cross: np.ndarray, freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inverse of the design's cross products, coefficients, residual variance; NaN where singular."""
    a, c, q = cross[..., :-1, :-1], cross[..., :-1, -1], cross[..., -1, -1]
    scale = np.prod(np.diagonal(a, axis1=-2, axis2=-1), axis=-1)
    solvable = (np.linalg.det(a) > 1e-10 * scale) & (freedom > 0)
    identity = np.eye(a.shape[-1])
    inverse = np.linalg.inv(np.where(solvable[..., None, None], a, identity))
    inverse = np.where(solvable[..., None, None], inverse, np.nan)
    coefficients = (inverse @ c[..., None])[..., 0]
    return inverse, coefficients, (q - (coefficients * c).sum(axis=-1)) / freedom


def _deviance(sums: _BySize, ratio: np.ndarray) -> np.ndarray:
    """Minus twice the restricted log-likelihood, up to a constant."""
    cross, log_weights = sums.weighted(ratio)
    _, _, residual = _solve(cross, sums.freedom)
    return sums.freedom * np.log(residual) + log_weights + np.log(np.linalg.det(cross[..., :-1, :-1]))


_PARTS = 3
_LARGEST_LOG = np.log1p(_LARGEST_RATIO**2)
_ITERATIONS = 40
_CHUNK = 250
_ARRAYS = 128
"""Resamplings fitted at once, and numbers held for each cell of one: what fits into the cache is faster."""


@dataclass(frozen=True, eq=False)
class NestedSums:
    """What :func:`fit_nested` needs of the rows; one entry a cell (a participant in a condition).

    Attributes
    ----------
    participants : Index
        The participants.
    starts : array of int, shape (participants,)
        First cell of each participant.
    design : array, shape (cells, p)
        Fixed effects of each cell.
    sizes : array, shape (sizes,)
        Distinct numbers of rows of a group.
    counts, totals, squares : array, shape (cells, sizes)
        By size: number of groups, sum of the outcome, sum of squared group totals by size.
    within : array, shape (participants,)
        Sum of squares around the groups' means.
    free : array of bool, shape (3,)
        Whether the rows tell the variance of participants, of cells and of groups from that within.
    """

    participants: pd.Index
    starts: np.ndarray
    design: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    within: np.ndarray
    free: np.ndarray

    # What follows from these, and is needed at every step of every fit.

    @cached_property
    def person(self) -> np.ndarray:
        """Number of the participant of each cell."""
        return np.repeat(np.arange(len(self.participants)), np.diff([*self.starts, len(self.design)]))

    @cached_property
    def one_condition(self) -> np.ndarray | None:
        """The condition of each cell, if each is in one, and each participant in it once at most; else None."""
        ones, condition = self.design == 1, self.design.argmax(axis=1)
        apart = (ones.sum(axis=1) == 1).all() and np.count_nonzero(self.design) == len(self.design)
        key = self.person * self.design.shape[1] + condition
        return condition if apart and len(np.unique(key)) == len(key) else None

    @cached_property
    def products(self) -> np.ndarray:
        """Products of the fixed effects: (cells, p * p)."""
        return (self.design[:, :, None] * self.design[:, None, :]).reshape(len(self.design), -1)

    @cached_property
    def rows_by_size(self) -> np.ndarray:
        """Number of rows of each cell: (cells, sizes)."""
        return self.counts * self.sizes

    @cached_property
    def rows(self) -> np.ndarray:
        """Number of rows of each participant."""
        return np.add.reduceat(self.counts @ self.sizes, self.starts)

    @cached_property
    def counts_of_person(self) -> np.ndarray:
        """Number of groups of each participant: (participants, sizes)."""
        return np.add.reduceat(self.counts, self.starts, axis=0)

    @cached_property
    def squares_of_person(self) -> np.ndarray:
        """Sum of squared group totals by size of each participant: (participants, sizes)."""
        return np.add.reduceat(self.squares, self.starts, axis=0)


@dataclass(frozen=True, eq=False)
class Nested:
    """A fitted model, or many.

    Attributes
    ----------
    coefficients : array, shape (..., p)
        Fixed effects.
    covariance : array, shape (..., p, p)
        Their covariances, given the variances.
    variances : array, shape (..., 4)
        Of participants, of cells, of groups, and the residual one; 0 where it is not free.
    deviance : array, shape (...)
        Minus twice the log-likelihood, the restricted one if that was maximised.
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    variances: np.ndarray
    deviance: np.ndarray


def nested_sums(
    y: np.ndarray, design: np.ndarray, participants: pd.Series, cells: pd.Series, groups: pd.Series | None = None
) -> NestedSums:
    """Sums of rows nested in groups, in cells, in participants, as :func:`fit_nested` takes them.

    Parameters
    ----------
    y : array, shape (rows,)
        The outcome; no NaN.
    design : array, shape (rows, p)
        Fixed effects, the same in all rows of a cell, columns independent.
    participants, cells : Series
        Participant of each row, and its cell within the participant (the condition).
    groups : Series, optional
        Group of each row within the cell (the conversation of a turn); without it, each row is one.
    """
    y, design = np.asarray(y, dtype=float), np.asarray(design, dtype=float)
    who, names = pd.factorize(pd.Series(participants).to_numpy())
    inner = pd.factorize(pd.Series(cells).to_numpy())[0]
    own = np.arange(len(y)) if groups is None else pd.factorize(pd.Series(groups).to_numpy())[0]
    # Codes in order of the participants, so that the cells of one stand side by side.
    cell = np.unique(who * (inner.max() + 1) + inner, return_inverse=True)[1]
    group = np.unique(cell * (own.max() + 1) + own, return_inverse=True)[1]
    size, total = np.bincount(group).astype(float), np.bincount(group, weights=y)
    cell_of_group = np.zeros(len(size), dtype=int)
    cell_of_group[group] = cell
    who_of_cell = np.zeros(cell.max() + 1, dtype=int)
    who_of_cell[cell] = who
    design_of_cell = np.zeros((len(who_of_cell), design.shape[1]))
    design_of_cell[cell] = design
    sizes, place = np.unique(size, return_inverse=True)
    tables = np.zeros((3, len(who_of_cell), len(sizes)))
    for table, values in zip(tables, (np.ones_like(size), total, total**2 / size), strict=True):
        np.add.at(table, (cell_of_group, place), values)
    squares = np.bincount(who, weights=y**2, minlength=len(names))
    between = np.bincount(who_of_cell, weights=tables[2].sum(axis=1))
    cells_of_one, groups_of_one = np.bincount(who_of_cell), np.bincount(cell_of_group)
    nested_groups = bool((size > 1).any())
    free = np.array(
        [
            len(names) > 1 and (np.bincount(who_of_cell[cell_of_group]).max() > 1 or nested_groups),
            cells_of_one.max() > 1 and (groups_of_one.max() > 1 or nested_groups),
            nested_groups and groups_of_one.max() > 1,
        ]
    )
    return NestedSums(
        participants=pd.Index(names),
        starts=np.searchsorted(who_of_cell, np.arange(len(names))),
        design=design_of_cell,
        sizes=sizes,
        counts=tables[0],
        totals=tables[1],
        squares=tables[2],
        within=np.maximum(squares - between, 0),
        free=free,
    )


def fit_nested(
    sums: NestedSums, weights: np.ndarray | None = None, start: np.ndarray | None = None, *, restricted: bool = True
) -> Nested:
    r"""Fit the nested model by restricted maximum likelihood (REML), or the full one, for many resamplings at once.

    .. math:: y = X\beta + u_p + v_{pc} + w_{pcg} + e

    with independent normal effects of participants, of cells, of groups, and of rows. All that
    the likelihood needs of a participant follows, for given ratios of the variances to the residual one, from sums per
    cell; the ratios are found by Newton steps within their bounds.

    Parameters
    ----------
    sums : NestedSums
        From :func:`nested_sums`.
    weights : array, shape (draws, participants), optional
        How often each participant is taken; without it, once.
    start : array, shape (3,), optional
        Ratios of the variances to begin with.
    restricted : bool
        Whether the likelihood is the restricted one; the full one (ML) compares models of different fixed effects.

    Returns
    -------
    Nested
        With ``weights`` one entry a draw; NaN where the design is singular.

    References
    ----------
    Patterson, H. D., & Thompson, R. (1971). Biometrika 58, 545-554.

    Notes
    -----
    R: lme4::lmer, REML and ML, tests/reference/reference.R; variances, effects, standard errors and likelihood equal
    to 2e-4.

    Examples
    --------
    >>> who = pd.Series(list("aaaabbbbcccc"))
    >>> what = pd.Series(["x", "x", "y", "y"] * 3)
    >>> y = np.array([1.0, 2, 3, 4, 3, 4, 4, 6, 5, 6, 7, 9])
    >>> design = np.column_stack([what == "x", what == "y"])
    >>> fit = fit_nested(nested_sums(y, design, who, what))
    >>> fit.coefficients.round(3).tolist(), fit.variances.round(3).tolist()
    ([3.5, 5.5], [4.359, 0.0, 0.0, 0.812])
    """
    if weights is None:
        fit = fit_nested(sums, np.ones((1, len(sums.participants))), start, restricted=restricted)
        return Nested(fit.coefficients[0], fit.covariance[0], fit.variances[0], fit.deviance[0])
    begin = np.log1p(np.where(sums.free, 0.5 if start is None else start, 0.0))
    width = _ARRAYS * len(sums.design)
    fits = [_fit_chunk(sums, weights[piece], begin, restricted) for piece in pieces(len(weights), width, _CHUNK)]
    return Nested(*(np.concatenate([getattr(fit, name) for fit in fits]) for name in Nested.__dataclass_fields__))


def _fit_chunk(sums: NestedSums, weights: np.ndarray, begin: np.ndarray, restricted: bool) -> Nested:
    """Newton steps in log(1 + ratio), bounded below by 0; steps that do not descend are halved."""
    free = np.flatnonzero(sums.free)
    place = np.tile(begin, (len(weights), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = _nested_deviance(sums, weights, place, restricted)
        moving = np.isfinite(value)
        for _ in range(_ITERATIONS if len(free) else 0):
            active = np.flatnonzero(moving)
            if not len(active):
                break
            step = _newton_step(sums, weights[active], place[active], value[active], free, restricted)
            best, shrink = value[active], np.ones(len(active))
            moved = np.zeros(len(active), dtype=bool)
            for _ in range(8):
                left = np.flatnonzero(~moved)
                trial = np.clip(place[active[left]] + shrink[left, None] * step[left], 0, _LARGEST_LOG)
                found = _nested_deviance(sums, weights[active[left]], trial, restricted)
                better = found < best[left]
                rows = active[left[better]]
                place[rows], value[rows] = trial[better], found[better]
                moved[left[better]] = True
                shrink[left] /= 4
                if moved.all():
                    break
            moving[active] = moved & (best - value[active] > 1e-7)
        cross, _, freedom = _nested_cross(sums, weights, np.expm1(place), restricted)
        inverse, coefficients, residual = _solve(cross, freedom)
    variances = np.column_stack([np.expm1(place) * residual[:, None], residual])
    variances[~np.isfinite(value)] = np.nan
    deviance = value + freedom * (1 + np.log(2 * np.pi))
    return Nested(coefficients, residual[:, None, None] * inverse, variances, deviance)


def _newton_step(sums, weights, place, value, free, restricted) -> np.ndarray:
    """A descending step from differences of the deviance."""
    width, count = 1e-3 / max(1.0, float(sums.rows_by_size.sum(axis=1).max()) / 50), len(free)
    at = lambda *moves: _nested_deviance(sums, weights, place + sum(moves), restricted)  # noqa: E731
    unit = width * np.eye(_PARTS)[free]
    ahead, behind = [at(e) for e in unit], [at(-e) for e in unit]
    gradient, hessian = np.zeros((len(place), count)), np.zeros((len(place), count, count))
    for i in range(count):
        gradient[:, i] = (ahead[i] - behind[i]) / (2 * width)
        hessian[:, i, i] = (ahead[i] + behind[i] - 2 * value) / width**2
        for j in range(i):
            mixed = at(unit[i], unit[j]) - ahead[i] - ahead[j] + value
            hessian[:, i, j] = hessian[:, j, i] = mixed / width**2
    held = (place[:, free] <= 0) & (gradient > 0) | ~np.isfinite(gradient)
    gradient[held] = 0
    hessian[held[:, :, None] | held[:, None, :]] = 0
    hessian[:, range(count), range(count)] += held
    hessian = np.where(np.isfinite(hessian), hessian, np.eye(count))
    # Where the deviance is not convex, its curvature's size still scales the descent.
    sizes, axes = np.linalg.eigh(hessian)
    scaled = np.einsum("dij,di->dj", axes, gradient) / np.maximum(np.abs(sizes), 1e-2)
    step = np.zeros_like(place)
    step[:, free] = -np.einsum("dij,dj->di", axes, scaled)
    return step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))


def _nested_cross(
    sums: NestedSums, weights: np.ndarray, ratios: np.ndarray, restricted: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted cross products of (design, y), log-determinant of the weights, divisor of the residual variance."""
    people, cells, groups = ratios[:, :1], ratios[:, 1:2], ratios[:, 2:]
    by_person = lambda values: np.add.reduceat(values, sums.starts, axis=1)  # noqa: E731
    shrink = 1 / (1 + sums.sizes * groups)
    information, total = shrink @ sums.rows_by_size.T, shrink @ sums.totals.T
    inner = 1 / (1 + cells * information)
    square = shrink @ sums.squares_of_person.T - by_person(cells * inner * total**2)
    logs = -np.log(shrink) @ sums.counts_of_person.T - by_person(np.log(inner))
    held, summed = information * inner, total * inner
    person, width = sums.person, sums.design.shape[1] + 1
    outer = np.empty((len(weights), len(sums.participants), width))
    outer[:, :, -1] = by_person(summed)
    if sums.one_condition is not None:  # no sums to take
        outer[:, :, :-1] = 0
        outer[:, person, sums.one_condition] = held
    else:
        outer[:, :, :-1] = by_person(held[:, :, None] * sums.design)
    whole = by_person(held)
    factor = people / (1 + people * whole)
    taken = weights[:, person]
    cross = np.empty((len(weights), width, width))
    cross[:, :-1, :-1] = ((taken * held) @ sums.products).reshape(len(weights), width - 1, width - 1)
    cross[:, -1, :-1] = cross[:, :-1, -1] = (taken * summed) @ sums.design
    cross[:, -1, -1] = (weights * (square + sums.within)).sum(axis=1)
    cross -= np.swapaxes(outer * (weights * factor)[:, :, None], 1, 2) @ outer
    logs = (weights * (logs + np.log1p(people * whole))).sum(axis=1)
    return cross, logs, weights @ sums.rows - (width - 1 if restricted else 0)


def _nested_deviance(sums: NestedSums, weights: np.ndarray, place: np.ndarray, restricted: bool) -> np.ndarray:
    cross, logs, freedom = _nested_cross(sums, weights, np.expm1(place), restricted)
    _, _, residual = _solve(cross, freedom)
    deviance = freedom * np.log(residual) + logs
    return deviance + np.log(np.linalg.det(cross[:, :-1, :-1])) if restricted else deviance


def satterthwaite(sums: NestedSums, fit: Nested, contrasts: np.ndarray) -> np.ndarray:
    r"""Degrees of freedom of contrasts of the fixed effects, by Satterthwaite's rule.

    .. math:: \nu = 2 v^2 / (g^\top A g)

    with v the variance of the contrast, g its gradient in the variances, and A their covariance
    matrix, from the curvature of the restricted likelihood. Variances of nought are held there.

    Parameters
    ----------
    sums : NestedSums
        The data.
    fit : Nested
        One fitted model of them.
    contrasts : array, shape (contrasts, p)
        Weights of the fixed effects.

    References
    ----------
    Satterthwaite, F. E. (1946). Biometrics Bulletin 2, 110-114.

    Notes
    -----
    R: pairs(emmeans::emmeans(lmerTest::lmer))$df, tests/reference/reference.R; equal to 0.1%.
    """
    ones = np.ones((1, len(sums.participants)))
    place = np.append(np.log1p(fit.variances[:3] / fit.variances[3]), np.log(fit.variances[3]))
    moving = [*np.flatnonzero(sums.free & (fit.variances[:3] > 1e-8 * fit.variances[3])), 3]

    def state(at):
        cross, logs, freedom = _nested_cross(sums, ones, np.expm1(at[None, :3]))
        inverse, _, residual = _solve(cross, freedom)
        deviance = freedom * at[3] + freedom * residual / np.exp(at[3]) + logs
        deviance = deviance + np.log(np.linalg.det(cross[:, :-1, :-1]))
        return deviance[0], np.exp(at[3]) * np.einsum("ci,ij,cj->c", contrasts, inverse[0], contrasts)

    width, units = 1e-3, 1e-3 * np.eye(4)[moving]
    count = len(moving)
    gradient, hessian = np.zeros((count, len(contrasts))), np.zeros((count, count))
    for i in range(count):
        gradient[i] = (state(place + units[i])[1] - state(place - units[i])[1]) / (2 * width)
        for j in range(i + 1):
            plus, minus = units[i] + units[j], units[i] - units[j]
            corners = (
                state(place + plus)[0] - state(place + minus)[0] - state(place - minus)[0] + state(place - plus)[0]
            )
            hessian[i, j] = hessian[j, i] = corners / (4 * width**2)
    covariance = 2 * np.linalg.pinv(hessian)
    spread = np.einsum("ic,ij,jc->c", gradient, covariance, gradient)
    return 2 * state(place)[1] ** 2 / spread


def satterthwaite_f(sums: NestedSums, fit: Nested, contrasts: np.ndarray) -> tuple[float, float, float]:
    r"""Test several contrasts of the fixed effects at once: F, degrees of freedom of its denominator, p.

    With :math:`L V L^\top = P D P^\top`, the q rotated contrasts :math:`P^\top L` are uncorrelated, each with
    :math:`\nu_i` degrees of freedom of its own, and

    .. math:: F = \frac{1}{q} \sum_i \frac{(P^\top L \hat\beta)_i^2}{D_{ii}}, \quad
              \nu = \frac{2E}{E - q}, \quad E = \sum_i \frac{\nu_i}{\nu_i - 2}

    Parameters
    ----------
    sums : NestedSums
        The data.
    fit : Nested
        One fitted model of them, by REML.
    contrasts : array, shape (q, p)
        Weights of the fixed effects, rows independent; all are nought under the hypothesis.

    Returns
    -------
    f, freedom, p : float
        On q and ``freedom`` degrees of freedom; NaN where a contrast has no more than two of its own. By this rule
        ``freedom`` depends a little on which contrasts say the same, F does not.

    References
    ----------
    Fai, A. H.-T., & Cornelius, P. L. (1996). Journal of Statistical Computation and Simulation 54, 363-378.

    Notes
    -----
    R: anova(lmerTest::lmer), tests/reference/reference.R; F equal to 2e-4, degrees of freedom to 0.1%.
    """
    contrasts = np.asarray(contrasts, dtype=float)
    spread, axes = np.linalg.eigh(contrasts @ fit.covariance @ contrasts.T)
    rotated = axes.T @ contrasts
    own, q = satterthwaite(sums, fit, rotated), len(contrasts)
    f = float(((rotated @ fit.coefficients) ** 2 / spread).mean())
    if (own <= 2).any():
        return f, np.nan, np.nan
    expected = (own / (own - 2)).sum()
    freedom = float(own[0]) if q == 1 else float(2 * expected / (expected - q))
    return f, freedom, float(stats.f.sf(f, q, freedom))


def likelihood_ratio(larger: Nested, smaller: Nested) -> tuple[float, int, float]:
    r"""Test the fixed effects that the smaller of two models lacks: chi-square, degrees of freedom, p.

    .. math:: \chi^2 = 2 (\ell_1 - \ell_0)

    Parameters
    ----------
    larger, smaller : Nested
        Fitted to the same rows with the same random effects by full maximum likelihood
        (``restricted=False``); the smaller one's fixed effects lie within the larger one's.

    Returns
    -------
    chi, freedom, p : float
        NaN where one of the models has no finite likelihood.

    References
    ----------
    Wilks, S. S. (1938). Annals of Mathematical Statistics 9, 60-62.

    Notes
    -----
    R: anova(lme4::lmer, lme4::lmer), tests/reference/reference.R; equal to 2e-4.

    It takes many participants for granted.
    """
    chi, freedom = float(smaller.deviance - larger.deviance), len(larger.coefficients) - len(smaller.coefficients)
    if not np.isfinite(chi):
        return np.nan, freedom, np.nan
    # Rounding may leave a hair below nought where nothing differs.
    chi = max(chi, 0.0)
    return chi, freedom, float(stats.chi2.sf(chi, freedom))


check_arguments(globals())
