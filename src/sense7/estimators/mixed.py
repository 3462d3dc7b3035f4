r"""Mixed models with random intercepts, fitted from sums per participant, so that they can be resampled.

With :math:`\lambda = \sigma_p^2 / \sigma^2` the inverse covariance of a participant's n values
is :math:`(I - \lambda/(1 + n\lambda)\, 11^\top)/\sigma^2`. So the restricted likelihood needs
cross products per participant only, and is a function of one number: it is minimized for many
resamples at once. (statsmodels' MixedLM fits it too, one data set at a time, and not
dependably where the participants' variance is near zero.)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.estimators.bootstrap import pieces

_LARGEST_RATIO = 20.0
"""Largest standard deviation of participants, in units of the residual one."""

_LARGEST_LOG = np.log1p(_LARGEST_RATIO**2)
_START = np.log1p(0.5)
_ITERATIONS = 60
_SMALL_STEP = 1e-7
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RandomIntercept:
    """A fitted model, or many."""

    coefficients: np.ndarray
    errors: np.ndarray
    participant_variance: np.ndarray
    residual_variance: np.ndarray


def random_intercept_sums(
    y: np.ndarray, design: np.ndarray, participants: pd.Series
) -> tuple[np.ndarray, pd.Index]:
    """Return cross products per participant, as :func:`fit_random_intercept` takes them summed."""
    codes, names = pd.factorize(pd.Series(participants).to_numpy())
    z = np.column_stack([design, y])
    width = z.shape[1]
    size = np.bincount(codes)
    sizes, size_index = np.unique(size, return_inverse=True)
    products, totals = np.zeros((len(names), width, width)), np.zeros((len(names), width))
    np.add.at(products, codes, z[:, :, None] * z[:, None, :])
    np.add.at(totals, codes, z)
    sums = np.zeros((len(names), len(sizes), width + 1, 2 * width))
    each = np.arange(len(names))
    sums[each, size_index, :width, :width] = products
    sums[each, size_index, :width, width:] = totals[:, :, None] * totals[:, None, :]
    sums[each, size_index, width, 0] = 1
    sums[each, size_index, width, 1] = size
    return sums, pd.Index(names)


def fit_random_intercept(sums: np.ndarray) -> RandomIntercept:
    r"""Return the random-intercept model fitted by restricted maximum likelihood (REML).

    .. math:: y = X\beta + u_{p} + e, \quad u_p \sim N(0, \sigma_p^2), \quad e \sim N(0, \sigma^2)

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
    """Attributes of :class:`RandomIntercept`, at the root of the deviance's derivative by bracketed Newton steps."""
    by_size = _BySize.of(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.zeros(len(sums))  # log(1 + ratio of the variances)
        slope, _ = _slopes(by_size, log_ratio)
        # Where the deviance rises from zero on, the minimum is there; NaN where the design is singular.
        active = np.flatnonzero(slope < 0)
        low, high = np.zeros(len(active)), np.full(len(active), _LARGEST_LOG)
        log_ratio[active] = _START
        for _ in range(_ITERATIONS):
            if not len(active):
                break
            at = log_ratio[active]
            slope, curvature = _slopes(_BySize(*(part[active] for part in by_size)), at)
            low, high = np.where(slope < 0, at, low), np.where(slope < 0, high, at)
            new = at - slope / curvature
            new = np.where((new >= low) & (new <= high) & (curvature > 0), new, (low + high) / 2)
            log_ratio[active] = new
            # Convergence is quadratic: the step after one this small is below rounding.
            moving = np.abs(new - at) > _SMALL_STEP
            active, low, high = active[moving], low[moving], high[moving]
        ratio = np.expm1(log_ratio)
        weight = ratio[:, None] / (1 + by_size.size * ratio[:, None])
        inverse, coefficients, residual = _solve(by_size.cross(weight), by_size.freedom)
        errors = np.sqrt(residual[..., None] * np.diagonal(inverse, axis1=-2, axis2=-1))
    return coefficients, errors, residual * ratio, residual


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

    def cross(self, weight: np.ndarray) -> np.ndarray:
        """Cross products of (design, y) less the weighted outer products of the participants' sums."""
        return self.products - self.weighted(weight[:, None])[:, 0]

    def weighted(self, weights: np.ndarray) -> np.ndarray:
        """Outer products of the participants' sums, by several weights at once: (fits, weights, p + 1, p + 1)."""
        return (weights @ self.outer).reshape(*weights.shape[:2], *self.products.shape[1:])


def _slopes(sums: _BySize, log_ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""First and second derivative of the restricted deviance in log(1 + ratio).

    With f the ratio, :math:`w = f/(1 + nf)`, A the design's cross products, and r = (-coefficients, 1), of which the
    residual sum of squares is the quadratic form; it changes as if the coefficients stayed.
    """
    ratio = np.expm1(log_ratio)[:, None]
    shrink = 1 / (1 + sums.size * ratio)
    weights = np.stack([ratio * shrink, shrink**2, -2 * sums.size * shrink**3], axis=1)
    outer, first, second = np.moveaxis(sums.weighted(weights), 1, 0)
    inverse, coefficients, residual = _solve(sums.products - outer, sums.freedom)
    r = np.concatenate([-coefficients, np.ones((len(coefficients), 1))], axis=1)
    moved = (first @ r[..., None])[..., 0]
    square, bend = (
        -(moved * r).sum(axis=1) / residual,
        -((second @ r[..., None])[..., 0] * r).sum(axis=1),
    )
    bend = bend - 2 * np.einsum("fi,fij,fj->f", moved[:, :-1], inverse, moved[:, :-1])
    scaled = inverse @ first[:, :-1, :-1]
    slope = (
        square + (sums.people * sums.size * shrink).sum(axis=1) - np.trace(scaled, axis1=1, axis2=2)
    )
    curvature = (
        bend / residual
        - square**2 / sums.freedom
        - (sums.people * (sums.size * shrink) ** 2).sum(axis=1)
    )
    curvature = (
        curvature
        - (inverse * second[:, :-1, :-1]).sum(axis=(1, 2))
        - np.einsum("fij,fji->f", scaled, scaled)
    )
    ahead = 1 + ratio[:, 0]
    return slope * ahead, curvature * ahead**2 + slope * ahead


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


_CHUNK = 250
_ARRAYS = 128
"""Resamples fitted at once, and numbers held for each cell of one: sizes that fit into the cache are faster."""


@dataclass(frozen=True, eq=False)
class NestedSums:
    """Sums of rows for :func:`fit_nested`; one entry per cell (a participant in a condition)."""

    participants: pd.Index
    starts: np.ndarray
    design: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    within: np.ndarray
    free: np.ndarray

    # Derived arrays that every step of every fit needs: cells on a grid (rows, participants), with zero weights where
    # a participant has fewer cells; a row of the grid is a condition if every cell has exactly one.

    @cached_property
    def person(self) -> np.ndarray:
        """Number of the participant of each cell."""
        return np.repeat(
            np.arange(len(self.participants)), np.diff([*self.starts, len(self.design)])
        )

    @cached_property
    def one_condition(self) -> np.ndarray | None:
        """The condition of each cell, if each is in one, and each participant in it once at most; else None."""
        ones, condition = self.design == 1, self.design.argmax(axis=1)
        apart = (ones.sum(axis=1) == 1).all() and np.count_nonzero(self.design) == len(self.design)
        key = self.person * self.design.shape[1] + condition
        return condition if apart and len(np.unique(key)) == len(key) else None

    def on_grid(self, values: np.ndarray) -> np.ndarray:
        """Values of the cells, (cells, ...), on the grid: (rows, participants, ...)."""
        if self.one_condition is not None:
            row, count = self.one_condition, self.design.shape[1]
        else:
            row = np.arange(len(self.design)) - self.starts[self.person]
            count = row.max() + 1
        grid = np.zeros((count, len(self.participants), *values.shape[1:]))
        grid[row, self.person] = values
        return grid

    @cached_property
    def effects(self) -> np.ndarray:
        """Fixed effects: (rows * participants, p)."""
        return self.on_grid(self.design).reshape(-1, self.design.shape[1])

    @cached_property
    def products(self) -> np.ndarray:
        """Products of the fixed effects: (rows * participants, p * p)."""
        return (self.effects[:, :, None] * self.effects[:, None, :]).reshape(len(self.effects), -1)

    @cached_property
    def rows(self) -> np.ndarray:
        """Number of rows of each participant."""
        return np.add.reduceat(self.counts @ self.sizes, self.starts)

    @cached_property
    def counts_of_person(self) -> np.ndarray:
        """Number of groups of each participant: (participants, sizes)."""
        return np.add.reduceat(self.counts, self.starts, axis=0)

    @cached_property
    def _of_sizes(self) -> tuple[np.ndarray, tuple[int, int]]:
        """Rows and totals of cells, and squares of participants, side by side, (sizes, ...); shape of the grid."""
        rows, totals = (self.on_grid(table) for table in (self.counts * self.sizes, self.totals))
        squares = np.add.reduceat(self.squares, self.starts, axis=0)
        width = len(self.sizes)
        return np.concatenate(
            [part.reshape(-1, width).T for part in (rows, totals, squares)], axis=1
        ), rows.shape[:2]

    def of_groups(self, ratio: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        r"""Rows and totals of cells, and squares of participants, weighted by :math:`s (sn)^k, s = 1/(1 + n\,ratio)`.

        For k = 0 and, where groups have a variance, 1 and 2; without one, of which there is one for all draws.
        """
        tables, grid = self._of_sizes
        shrink = 1 / (1 + self.sizes * (ratio if self.free[2] else ratio[:1]))
        cells, found = grid[0] * grid[1], []
        for power in range(3 if self.free[2] else 1):
            sums = (shrink * (shrink * self.sizes) ** power) @ tables
            rows, totals = (
                part.reshape(-1, *grid) for part in (sums[:, :cells], sums[:, cells : 2 * cells])
            )
            found.append((rows, totals, sums[:, 2 * cells :]))
        return found

    def by_participant(self, weights: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Sums of (weighted fixed effects, totals) of each participant's cells: (draws, p + 1, participants)."""
        if self.one_condition is None:
            effects = self.effects.reshape(*weights.shape[1:], -1)
            weights = np.einsum("drn,rnk->dkn", weights, effects)
        return np.concatenate([weights, totals.sum(axis=1, keepdims=True)], axis=1)

    def by_cell(self, values: np.ndarray) -> np.ndarray:
        """Inner products of each cell's fixed effects with its participant's values, (draws, p, participants)."""
        if self.one_condition is not None:
            return values
        return np.einsum("dkn,rnk->drn", values, self.effects.reshape(-1, *values.shape[:0:-1]))

    def cross_products(
        self, draws: np.ndarray, weights: np.ndarray, totals: np.ndarray, squares: np.ndarray
    ) -> np.ndarray:
        """Cross products of (fixed effects, outcome) over the cells, in each draw: (draws, p + 1, p + 1)."""
        width = self.design.shape[1]
        cross = np.empty((len(draws), width + 1, width + 1))
        flat = lambda values: (draws[:, None] * values).reshape(len(draws), -1)  # noqa: E731
        cross[:, :-1, :-1] = (flat(weights) @ self.products).reshape(-1, width, width)
        cross[:, -1, :-1] = cross[:, :-1, -1] = flat(totals) @ self.effects
        cross[:, -1, -1] = (draws * squares).sum(axis=1)
        return cross


@dataclass(frozen=True, eq=False)
class Nested:
    """A fitted model, or many."""

    coefficients: np.ndarray
    covariance: np.ndarray
    variances: np.ndarray
    deviance: np.ndarray


def nested_sums(
    y: np.ndarray,
    design: np.ndarray,
    participants: pd.Series,
    cells: pd.Series,
    groups: pd.Series | None = None,
) -> NestedSums:
    """Return sums of rows nested in groups, in cells, in participants, as :func:`fit_nested` takes them."""
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
    sizes, size_index = np.unique(size, return_inverse=True)
    tables = np.zeros((3, len(who_of_cell), len(sizes)))
    for table, values in zip(tables, (np.ones_like(size), total, total**2 / size), strict=True):
        np.add.at(table, (cell_of_group, size_index), values)
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
    sums: NestedSums, weights: np.ndarray | None = None, start: np.ndarray | None = None
) -> Nested:
    r"""Return the nested model fitted by restricted maximum likelihood (REML), for many resamples at once.

    .. math:: y = X\beta + u_p + v_{pc} + w_{pcg} + e

    with independent normal effects of participants, of cells, of groups, and of rows. All that
    the likelihood needs of a participant follows, for given ratios of the variances to the residual one, from sums per
    cell; the ratios are found by Newton steps within their bounds.

    Examples
    --------
    >>> who = pd.Series(list("aaaabbbbcccc"))
    >>> what = pd.Series(["x", "x", "y", "y"] * 3)
    >>> y = np.array([1.0, 2, 3, 4, 3, 4, 4, 6, 5, 6, 7, 9])
    >>> design = np.column_stack([what == "x", what == "y"])
    >>> fit = fit_nested(nested_sums(y, design, who, what))
    >>> fit.coefficients.round(3).tolist(), fit.variances.round(4).tolist()
    ([3.5, 5.5], [4.3594, 0.0, 0.0, 0.8125])
    """
    if weights is None:
        fit = fit_nested(sums, np.ones((1, len(sums.participants))), start)
        return Nested(fit.coefficients[0], fit.covariance[0], fit.variances[0], fit.deviance[0])
    begin = np.log1p(np.where(sums.free, 0.5 if start is None else start, 0.0))
    width = _ARRAYS * len(sums.design)
    fits = [
        _fit_chunk(sums, weights[piece], begin) for piece in pieces(len(weights), width, _CHUNK)
    ]
    return Nested(
        *(
            np.concatenate([getattr(fit, name) for fit in fits])
            for name in Nested.__dataclass_fields__
        )
    )


def _fit_chunk(sums: NestedSums, weights: np.ndarray, begin: np.ndarray) -> Nested:
    """Newton steps in log(1 + ratio), bounded below by 0; steps that do not descend are shortened."""
    free = np.flatnonzero(sums.free)
    log_ratio = np.tile(begin, (len(weights), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        state = _likelihood(sums, weights, log_ratio)
        active, shrink = np.flatnonzero(np.isfinite(state.deviance)), np.ones(len(weights))
        for _ in range(_ITERATIONS if len(free) else 0):
            if not len(active):
                break
            now = _Likelihood(*(part[active] for part in state))
            step = shrink[active, None] * _newton_step(log_ratio[active], now, free)
            trial = np.clip(log_ratio[active] + step, 0, _LARGEST_LOG)
            trial[trial < _SMALL_STEP] = 0
            tried = _likelihood(sums, weights[active], trial)
            # Convergence is quadratic: the step after one this small is below rounding, as are its gains.
            small = np.abs(trial - log_ratio[active]).max(axis=1) < _SMALL_STEP
            before = state.deviance[active]
            better = small | (tried.deviance < before + _ROUNDING * np.abs(before))
            rows = active[better]
            log_ratio[rows], shrink[rows] = trial[better], 1
            shrink[active[~better]] /= 4
            for whole, part in zip(state, tried, strict=True):
                whole[rows] = part[better]
            active = active[~small]
    variances = np.column_stack([np.expm1(log_ratio) * state.residual[:, None], state.residual])
    variances[~np.isfinite(state.deviance)] = np.nan
    freedom = weights @ sums.rows - sums.design.shape[1]
    return Nested(
        state.coefficients,
        state.residual[:, None, None] * state.inverse,
        variances,
        state.deviance + freedom * (1 + np.log(2 * np.pi)),
    )


def _newton_step(log_ratio: np.ndarray, state: "_Likelihood", free: np.ndarray) -> np.ndarray:
    """A descending step of the free ratios; none of a ratio that is at a bound."""
    ahead = np.exp(log_ratio)  # derivative of the ratio
    gradient = state.gradient * ahead
    hessian = (
        state.curvature
        - state.squares[:, :, None] * state.squares[:, None, :] / state.freedom[:, None, None]
    )
    hessian = hessian * ahead[:, :, None] * ahead[:, None, :]
    hessian[:, range(3), range(3)] += gradient
    gradient, hessian = gradient[:, free], hessian[:, free[:, None], free]
    at = log_ratio[:, free]
    held = (
        (at <= 0) & (gradient > 0) | (at >= _LARGEST_LOG) & (gradient < 0) | ~np.isfinite(gradient)
    )
    gradient = np.where(held, 0, gradient)
    hessian = np.where(held[:, :, None] | held[:, None, :] | ~np.isfinite(hessian), 0, hessian)
    hessian[:, range(len(free)), range(len(free))] += held
    # Where the deviance is not convex, its curvature's size still scales the descent.
    sizes, axes = np.linalg.eigh(hessian)
    scaled = np.einsum("dij,di->dj", axes, gradient) / np.maximum(np.abs(sizes), 1e-2)
    step = np.zeros_like(log_ratio)
    step[:, free] = -np.einsum("dij,dj->di", axes, scaled)
    return step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))


class _Likelihood(NamedTuple):
    """The deviance at given ratios of the variances to the residual one, and its derivatives in them.

    ``squares`` (draws, 3) is the derivative of the residual sum of squares by the residual variance, ``slopes``
    (draws, 3, p, p) that of the weighted cross products of the design, whose inverse is ``inverse``. ``gradient`` holds
    first derivatives, and ``curvature`` second ones with the residual variance held at its estimate.
    """

    deviance: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    squares: np.ndarray
    slopes: np.ndarray
    inverse: np.ndarray
    coefficients: np.ndarray
    residual: np.ndarray
    freedom: np.ndarray


def _likelihood(sums: NestedSums, weights: np.ndarray, log_ratio: np.ndarray) -> _Likelihood:
    r"""Deviance and derivatives at ``log_ratio``, logarithms of 1 + ratio.

    With a, c and g the ratios of participants, cells and groups: of a cell, :math:`I = \sum n s` and
    :math:`T = \sum t s` over its groups of n rows and total t, :math:`s = 1/(1 + ng)`, and :math:`u = 1/(1 + cI)`; it
    enters the cross products by h = Iu with its design and by m = Tu with the outcome. Of a participant, W is the sum
    of h, o that of (h design, m), and :math:`f = a/(1 + aW)`; the cross products are those of the cells less
    :math:`f o o^\top`. Derivatives follow by the chain rule.
    """
    ratios = np.expm1(log_ratio)
    a, c = ratios[:, :1], ratios[:, 1:2, None]
    (rows, total, squared), *by_groups = sums.of_groups(ratios[:, 2:])
    u = 1 / (1 + c * rows)
    h, m = rows * u, total * u
    held = h.sum(axis=1)
    v = 1 / (1 + a * held)
    f = a * v
    o = sums.by_participant(h, m)
    cross = sums.cross_products(weights, h, m, sums.within + squared - (c * m * total).sum(axis=1))
    cross -= (o * (weights * f)[:, None]) @ np.swapaxes(o, 1, 2)
    freedom = weights @ sums.rows - sums.design.shape[1]
    inverse, coefficients, residual = _solve(cross, freedom)
    logs = (
        np.log1p(sums.sizes * ratios[:, 2:]) @ sums.counts_of_person.T
        - np.log(u).sum(axis=1)
        - np.log(v)
    )
    deviance = freedom * np.log(residual) + (weights * logs).sum(axis=1)
    deviance = deviance + np.log(np.linalg.det(cross[:, :-1, :-1]))

    # What a change of the cross products does to the deviance.
    r = np.concatenate([-coefficients, np.ones_like(residual)[:, None]], axis=1)
    effect = r[:, :, None] * r[:, None, :] / residual[:, None, None]
    effect[:, :-1, :-1] += inverse
    gradient, curvature, slopes = _derivatives(
        sums, weights, effect, (c, u, m, rows, by_groups), (held, v, f, o)
    )
    gradient += np.einsum("dij,dkij->dk", effect, slopes)
    turned = (slopes @ r[:, None, :, None])[..., 0]
    squares = (turned * r[:, None]).sum(axis=2) / residual[:, None]
    slopes, turned = slopes[..., :-1, :-1], turned[..., :-1]
    curvature -= 2 * turned @ inverse @ np.swapaxes(turned, 1, 2) / residual[:, None, None]
    scaled = inverse[:, None] @ slopes
    curvature -= np.einsum("dkij,dlji->dkl", scaled, scaled)
    return _Likelihood(
        deviance, gradient, curvature, squares, slopes, inverse, coefficients, residual, freedom
    )


def _derivatives(
    sums, weights, effect, cells, participants
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First derivatives of the logarithms; second ones of the deviance at given cross products; first ones of these."""
    held, v, f, o = participants
    first, second = _of_cells(sums, *cells)
    pull = effect @ o
    oo = (pull * o).sum(axis=1)

    # By the weight and the total of a cell, and by its square.
    grid = (len(weights), *cells[3].shape[1:])
    by_weight = (effect[:, :-1, :-1].reshape(len(weights), -1) @ sums.products.T).reshape(grid)
    by_weight = by_weight - 2 * f[:, None] * sums.by_cell(pull[:, :-1]) + (f**2 * oo + f)[:, None]
    by_total = 2 * (
        (effect[:, :-1, -1] @ sums.effects.T).reshape(grid) - (f * pull[:, -1])[:, None]
    )
    by_square = effect[:, -1, -1, None]

    slopes = np.zeros((len(weights), 3, *effect.shape[1:]))
    gradient, curvature = np.zeros((len(weights), 3)), np.zeros((len(weights), 3, 3))
    slopes[:, 0] = -(o * (weights * v**2)[:, None]) @ np.swapaxes(o, 1, 2)
    gradient[:, 0] = (weights * held * v).sum(axis=1)
    curvature[:, 0, 0] = (weights * held * v**2 * (2 * v * oo - held)).sum(axis=1)
    moved = {}
    for i, (h_i, m_i, of_cell, of_person, log) in first.items():
        held_i, o_i = h_i.sum(axis=1), sums.by_participant(h_i, m_i)
        turned = (o_i - (f * held_i / 2)[:, None] * o) * (weights * f)[:, None]
        both = turned @ np.swapaxes(o, 1, 2)
        slopes[:, i] = sums.cross_products(weights, h_i, m_i, of_person + of_cell.sum(axis=1))
        slopes[:, i] -= both + np.swapaxes(both, 1, 2)
        oo_i = (pull * o_i).sum(axis=1)
        gradient[:, i] = (weights * (log + f * held_i)).sum(axis=1)
        curvature[:, 0, i] = (weights * v**2 * (held_i * (1 + 2 * f * oo) - 2 * oo_i)).sum(axis=1)
        moved[i] = held_i, o_i, oo_i
    for (i, j), (h_ij, m_ij, of_cell, of_person, log) in second.items():
        (held_i, o_i, oo_i), (held_j, o_j, oo_j) = moved[i], moved[j]
        of_cells = (h_ij * by_weight + m_ij * by_total).sum(axis=1) + by_square * (
            of_person + of_cell.sum(axis=1)
        )
        together = 2 * (held_i * oo_j + held_j * oo_i) - held_i * held_j * (1 + 2 * f * oo)
        crossed = ((effect @ o_i) * o_j).sum(axis=1)
        curvature[:, i, j] = (weights * (log + of_cells + f**2 * together - 2 * f * crossed)).sum(
            axis=1
        )
    curvature += np.swapaxes(np.triu(curvature, 1), 1, 2)

    return gradient, curvature, slopes


def _of_cells(sums, c, u, m, rows, by_groups) -> tuple[dict, dict]:
    """First and second derivatives of h, m, squares of cells and of participants, and of the logarithms besides W's."""
    h, first, second = rows * u, {}, {}
    if sums.free[1]:
        first[1] = -h * h, -m * h, -m * m, 0.0, h.sum(axis=1)
        second[1, 1] = *(-2 * h * slope for slope in first[1][:3]), 0.0, first[1][0].sum(axis=1)
    if sums.free[2]:
        (rows_2, total_2, squared_2), (rows_3, total_3, squared_3) = by_groups
        bent, k = c * rows_2 * u, total_2 - c * m * rows_2
        first[2] = (
            -rows_2 * u * u,
            -u * k,
            c * m * (total_2 + k),
            -squared_2,
            (rows - bent).sum(axis=1),
        )
        second[2, 2] = (
            2 * u * u * (rows_3 - rows_2 * bent),
            2 * u * (total_3 - c * m * rows_3 - bent * k),
            -2 * c * (m * (2 * total_3 - c * m * rows_3) + u * k * k),
            2 * squared_3,
            (2 * c * rows_3 * u - rows_2 - bent * bent).sum(axis=1),
        )
    if len(first) == 2:
        h_2, m_2 = first[2][:2]
        second[1, 2] = -2 * h * h_2, -(m_2 * h + m * h_2), -2 * m * m_2, 0.0, h_2.sum(axis=1)
    return first, second


def satterthwaite(sums: NestedSums, fit: Nested, contrasts: np.ndarray) -> np.ndarray:
    r"""Return the degrees of freedom of contrasts of the fixed effects, by Satterthwaite's rule.

    .. math:: \nu = 2 v^2 / (g^\top A g)

    with v the variance of the contrast, g its gradient in the variances, and A their covariance
    matrix, from the curvature of the restricted likelihood. Variances of zero are held there.
    """
    ratios = fit.variances[:3] / fit.variances[3]
    at = _likelihood(sums, np.ones((1, len(sums.participants))), np.log1p(ratios)[None])
    moving = np.flatnonzero(sums.free & (ratios > 1e-8))
    # In these ratios, and in the logarithm of the residual variance.
    hessian = np.full((len(moving) + 1, len(moving) + 1), at.freedom[0])
    hessian[:-1, :-1] = at.curvature[0][np.ix_(moving, moving)]
    hessian[-1, :-1] = hessian[:-1, -1] = -at.squares[0, moving]
    covariance = 2 * np.linalg.pinv(hessian)
    weighted = contrasts @ at.inverse[0]
    variance = np.einsum("ci,ci->c", weighted, contrasts)
    gradient = np.stack(
        [*-np.einsum("ci,kij,cj->kc", weighted, at.slopes[0, moving], weighted), variance]
    )
    spread = np.einsum("ic,ij,jc->c", gradient, covariance, gradient)
    return 2 * variance**2 / spread


def satterthwaite_f(
    sums: NestedSums, fit: Nested, contrasts: np.ndarray
) -> tuple[float, float, float]:
    r"""Return the test of several contrasts of the fixed effects at once: F, degrees of freedom of its denominator, p.

    With :math:`L V L^\top = P D P^\top`, the q rotated contrasts :math:`P^\top L` are uncorrelated, each with
    :math:`\nu_i` degrees of freedom of its own, and

    .. math:: F = \frac{1}{q} \sum_i \frac{(P^\top L \hat\beta)_i^2}{D_{ii}}, \quad
              \nu = \frac{2E}{E - q}, \quad E = \sum_i \frac{\nu_i}{\nu_i - 2}
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
