"""Mixed models with nested random intercepts, fitted from sums per participant that can be resampled.

The restricted likelihood needs sums per cell only, and is a function of the ratios of the variances
to the residual one: it is minimized for many resamples at once. (statsmodels' MixedLM fits such
models too, one data set at a time, and not dependably where a variance is near zero.)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.statistics.bootstrap import pieces
from sense7.statistics.least_squares import cross_products

_LARGEST_RATIO = 1000.0
"""Largest standard deviation of participants, in units of the residual one; there the residual variance counts as zero.

Without residual variance the likelihood has no maximum: it rises with this ratio without end.
"""

_LARGEST_LOG = np.log1p(_LARGEST_RATIO**2)
_NEAR_LARGEST_LOG = _LARGEST_LOG - 1e-3
_ITERATIONS = 60
_SMALL_STEP = 1e-7
_ROUNDING = 1e-12


def _solve(cross: np.ndarray, freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inverse of the design's products, coefficients, residual variance; NaN where singular."""
    of_design = cross[..., :-1, :-1]
    with_outcome = cross[..., :-1, -1]
    of_outcome = cross[..., -1, -1]
    scale = np.prod(np.diagonal(of_design, axis1=-2, axis2=-1), axis=-1)
    solvable = (np.linalg.det(of_design) > 1e-10 * scale) & (freedom > 0)
    identity = np.eye(of_design.shape[-1])
    inverse = np.linalg.inv(np.where(solvable[..., None, None], of_design, identity))
    inverse = np.where(solvable[..., None, None], inverse, np.nan)
    coefficients = (inverse @ with_outcome[..., None])[..., 0]
    residual = (of_outcome - (coefficients * with_outcome).sum(axis=-1)) / freedom
    return inverse, coefficients, residual


_CHUNK = 250
"""Resamples fitted at once: what fits into the cache is faster."""

_ARRAYS = 128
"""Numbers that the fit of one resample holds for each cell."""


class _GroupSums(NamedTuple):
    """Sums over groups: of rows and of totals in each cell, of squares in each participant."""

    rows: np.ndarray
    totals: np.ndarray
    squares: np.ndarray


@dataclass(frozen=True, eq=False)
class NestedSums:
    """Sums of rows for :func:`fit_nested`; one entry per cell (a participant in a condition)."""

    participants: pd.Index
    cells: int
    effects: np.ndarray
    """Fixed effects of the cells on a grid: (rows * participants, p). Rows have zeros where a participant has fewer."""
    products: np.ndarray
    """Products of the fixed effects: (rows * participants, p * p)."""
    grid: tuple[int, int]
    """Rows and participants of the grid."""
    by_condition: bool
    """Whether a row of the grid is a condition: each cell is in exactly one, in which no other of the person is."""
    rank_within: int
    """Number of fixed effects that differences of cells of one participant determine."""
    sizes: np.ndarray
    of_sizes: np.ndarray
    """Rows and totals of cells, and squares of participants, side by side: (sizes, ...)."""
    rows: np.ndarray
    """Number of rows of each participant."""
    counts: np.ndarray
    """Number of groups of each participant: (participants, sizes)."""
    units: np.ndarray
    """Numbers of participants (1), of cells and of groups of each participant: (participants, 3)."""
    within: np.ndarray
    free: np.ndarray

    def freedom_without_noise(self, weights: np.ndarray, at_bound: np.ndarray) -> np.ndarray:
        """Degrees of freedom of the finest units whose ratio is at its bound: without noise they alone vary."""
        effects = self.effects.shape[1]
        units = weights @ self.units
        freedom = units[:, 0] - effects + self.rank_within
        for level in (1, 2):
            freedom = np.where(at_bound[:, level], units[:, level] - effects, freedom)
        return freedom

    def of_groups(self, ratio: np.ndarray) -> list[_GroupSums]:
        r"""Sums over groups weighted by :math:`s (sn)^k, s = 1/(1 + n\,ratio)`.

        For k = 0 and, where groups have a variance, 1 and 2; without one, of which there is one for
        all draws.
        """
        groups_vary = self.free[2]
        if groups_vary:
            powers = range(3)
        else:
            powers = range(1)
            ratio = ratio[:1]
        shrink = 1 / (1 + self.sizes * ratio)
        cells = len(self.effects)
        of_powers = []
        for k in powers:
            sums = (shrink * (shrink * self.sizes) ** k) @ self.of_sizes
            group_sums = _GroupSums(
                rows=sums[:, :cells].reshape(-1, *self.grid),
                totals=sums[:, cells : 2 * cells].reshape(-1, *self.grid),
                squares=sums[:, 2 * cells :],
            )
            of_powers.append(group_sums)
        return of_powers

    def by_participant(self, weights: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Sums of (weighted effects, totals) of participants' cells: (draws, p + 1, participants)."""
        if not self.by_condition:
            effects = self.effects.reshape(*self.grid, -1)
            weights = np.einsum("drn,rnk->dkn", weights, effects)
        return np.concatenate([weights, totals.sum(axis=1, keepdims=True)], axis=1)

    def by_cell(self, values: np.ndarray) -> np.ndarray:
        """Inner products of a cell's effects with its participant's values, (draws, p, people)."""
        if self.by_condition:
            return values
        effects = self.effects.reshape(*self.grid, -1)
        return np.einsum("dkn,rnk->drn", values, effects)

    def cross_products(
        self, draws: np.ndarray, weights: np.ndarray, totals: np.ndarray, squares: np.ndarray
    ) -> np.ndarray:
        """Cross products of (fixed effects, outcome) over the cells: (draws, p + 1, p + 1)."""
        width = self.effects.shape[1]
        drawn_weights = (draws[:, None] * weights).reshape(len(draws), -1)
        drawn_totals = (draws[:, None] * totals).reshape(len(draws), -1)
        with_outcome = drawn_totals @ self.effects
        cross = np.empty((len(draws), width + 1, width + 1))
        cross[:, :-1, :-1] = (drawn_weights @ self.products).reshape(-1, width, width)
        cross[:, -1, :-1] = with_outcome
        cross[:, :-1, -1] = with_outcome
        cross[:, -1, -1] = (draws * squares).sum(axis=1)
        return cross


class Nested(NamedTuple):
    """A fitted model, or many.

    ``variances`` are those of participants, cells, groups, and the residual one; ``ratios`` the first three by the
    residual one, at most ``_LARGEST_RATIO`` squared, where the residual variance is zero.
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    variances: np.ndarray
    ratios: np.ndarray
    deviance: np.ndarray


def nested_sums(
    y: np.ndarray,
    design: np.ndarray,
    participants: pd.Series,
    cells: pd.Series | None = None,
    groups: pd.Series | None = None,
) -> NestedSums:
    """Return sums of rows nested in groups, cells, participants, as :func:`fit_nested` takes them.

    Without cells, those are the rows with the same fixed effects, and have no variance of their own. Without groups,
    each row is one.
    """
    y = np.asarray(y, dtype=float)
    design = np.asarray(design, dtype=float)
    participant, names = pd.factorize(pd.Series(participants).to_numpy())
    if cells is None:
        cell_name = np.unique(design, axis=0, return_inverse=True)[1].ravel()
    else:
        cell_name = pd.factorize(pd.Series(cells).to_numpy())[0]
    group_name = np.arange(len(y))
    if groups is not None:
        group_name = pd.factorize(pd.Series(groups).to_numpy())[0]
    # Codes in order of the participants, so that the cells of a participant stand side by side.
    cell_key = participant * (cell_name.max() + 1) + cell_name
    cell = np.unique(cell_key, return_inverse=True)[1]
    group_key = cell * (group_name.max() + 1) + group_name
    group = np.unique(group_key, return_inverse=True)[1]

    size = np.bincount(group).astype(float)
    total = np.bincount(group, weights=y)
    cell_of_group = np.zeros(len(size), dtype=int)
    cell_of_group[group] = cell
    participant_of_cell = np.zeros(cell.max() + 1, dtype=int)
    participant_of_cell[cell] = participant
    first_cells = np.searchsorted(participant_of_cell, np.arange(len(names)))
    first_cell = first_cells[participant_of_cell]
    design_of_cell = np.zeros((len(participant_of_cell), design.shape[1]))
    design_of_cell[cell] = design

    sizes, size_index = np.unique(size, return_inverse=True)
    by_cell_and_size = np.zeros((3, len(participant_of_cell), len(sizes)))
    counts, totals, squares = by_cell_and_size
    np.add.at(counts, (cell_of_group, size_index), np.ones_like(size))
    np.add.at(totals, (cell_of_group, size_index), total)
    np.add.at(squares, (cell_of_group, size_index), total**2 / size)
    squares_of_rows = np.bincount(participant, weights=y**2, minlength=len(names))
    between_groups = np.bincount(participant_of_cell, weights=squares.sum(axis=1))
    counts_of_participant = np.add.reduceat(counts, first_cells, axis=0)
    cells_of_participant = np.bincount(participant_of_cell)
    units = [np.ones(len(names)), cells_of_participant, counts_of_participant.sum(axis=1)]

    # The cells on a grid (rows, participants).
    condition = design_of_cell.argmax(axis=1)
    in_one_condition = np.array_equal(design_of_cell, np.eye(design.shape[1])[condition])
    participant_in_condition = participant_of_cell * design.shape[1] + condition
    no_other_is_there = len(np.unique(participant_in_condition)) == len(condition)
    by_condition = in_one_condition and no_other_is_there
    if by_condition:
        row = condition
        grid = (design.shape[1], len(names))
    else:
        row = np.arange(len(design_of_cell)) - first_cell
        grid = (int(row.max()) + 1, len(names))

    def on_grid(values: np.ndarray) -> np.ndarray:
        """Values of the cells, (cells, k), on the grid: (rows * participants, k)."""
        values_on_grid = np.zeros((*grid, values.shape[1]))
        values_on_grid[row, participant_of_cell] = values
        return values_on_grid.reshape(-1, values.shape[1])

    effects = on_grid(design_of_cell)
    squares_of_participant = np.add.reduceat(squares, first_cells, axis=0)
    by_size = [on_grid(counts * sizes), on_grid(totals), squares_of_participant]

    # A variance is free where there are several units at its level, and smaller ones within one.
    most_cells = cells_of_participant.max()
    most_groups = np.bincount(cell_of_group).max()
    most_groups_of_participant = np.bincount(participant_of_cell[cell_of_group]).max()
    groups_have_rows = bool((size > 1).any())
    participants_vary = len(names) > 1 and (most_groups_of_participant > 1 or groups_have_rows)
    several_in_a_cell = most_groups > 1 or groups_have_rows
    cells_vary = cells is not None and most_cells > 1 and several_in_a_cell
    groups_vary = groups_have_rows and most_groups > 1
    return NestedSums(
        participants=pd.Index(names),
        cells=len(design_of_cell),
        effects=effects,
        products=cross_products(effects).reshape(len(effects), -1),
        grid=grid,
        by_condition=by_condition,
        rank_within=int(np.linalg.matrix_rank(design_of_cell - design_of_cell[first_cell])),
        sizes=sizes,
        of_sizes=np.concatenate(by_size).T,
        rows=counts_of_participant @ sizes,
        counts=counts_of_participant,
        units=np.column_stack(units),
        within=np.maximum(squares_of_rows - between_groups, 0),
        free=np.array([participants_vary, cells_vary, groups_vary]),
    )


def fit_nested(
    sums: NestedSums,
    weights: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> Nested:
    r"""Return the nested model fitted by restricted maximum likelihood (REML), for many resamples.

    .. math:: y = X\beta + u_p + v_{pc} + w_{pcg} + e

    with independent normal effects of participants, of cells, of groups, and of rows. All that
    the likelihood needs of a participant follows, for given ratios of the variances to the residual
    one, from sums per cell; the ratios are found by Newton steps within their bounds.

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
        of_all = fit_nested(sums, np.ones((1, len(sums.participants))), start)
        return Nested(*(values[0] for values in of_all))
    ratios = 0.5 if start is None else start
    log_ratio = np.log1p(np.where(sums.free, ratios, 0.0))
    chunks = pieces(len(weights), _ARRAYS * sums.cells, _CHUNK)
    fits = [_fit_chunk(sums, weights[chunk], log_ratio) for chunk in chunks]
    return Nested(*map(np.concatenate, zip(*fits, strict=True)))


def _fit_chunk(sums: NestedSums, weights: np.ndarray, start: np.ndarray) -> Nested:
    """Newton steps in log(1 + ratio), from 0 up; steps that do not descend are shortened."""
    free = np.flatnonzero(sums.free)
    iterations = _ITERATIONS if len(free) else 0
    log_ratio = np.tile(start, (len(weights), 1))
    shrink = np.ones(len(weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        state = restricted_likelihood(sums, weights, log_ratio)
        active = np.flatnonzero(np.isfinite(state.deviance))
        for _ in range(iterations):
            if not len(active):
                break
            current = log_ratio[active]
            step = shrink[active, None] * _newton_step(current, state.of_draws(active), free)
            trial = np.clip(current + step, 0, _LARGEST_LOG)
            trial[trial < _SMALL_STEP] = 0
            tried = restricted_likelihood(sums, weights[active], trial)
            # Convergence is quadratic: the step after one this small is below rounding, as are its
            # gains.
            is_small = np.abs(trial - current).max(axis=1) < _SMALL_STEP
            deviance = state.deviance[active]
            is_better = is_small | (tried.deviance < deviance + _ROUNDING * np.abs(deviance))
            improved = active[is_better]
            log_ratio[improved] = trial[is_better]
            shrink[improved] = 1
            shrink[active[~is_better]] /= 4
            state.set_draws(improved, tried.of_draws(is_better))
            active = active[~is_small]
    ratios = np.expm1(log_ratio)
    freedom = weights @ sums.rows - sums.effects.shape[1]
    at_bound = log_ratio >= _NEAR_LARGEST_LOG
    without_noise = at_bound.any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rescaled = state.residual * freedom / sums.freedom_without_noise(weights, at_bound)
    residual = np.where(without_noise, rescaled, state.residual)
    noise = np.where(without_noise, 0.0, residual)
    variances = np.column_stack([ratios * residual[:, None], noise])
    variances[~np.isfinite(state.deviance)] = np.nan
    return Nested(
        coefficients=state.coefficients,
        covariance=residual[:, None, None] * state.inverse,
        variances=variances,
        ratios=ratios,
        deviance=state.deviance + freedom * (1 + np.log(2 * np.pi)),
    )


def _newton_step(log_ratio: np.ndarray, state: "_Likelihood", free: np.ndarray) -> np.ndarray:
    """A descending step of the free ratios; none of a ratio that is at a bound."""
    ratio_1 = np.exp(log_ratio)  # derivative of the ratio in log(1 + ratio)
    gradient = state.gradient * ratio_1
    squares = cross_products(state.squares)
    hessian = state.curvature - squares / state.freedom[:, None, None]
    hessian = hessian * ratio_1[:, :, None] * ratio_1[:, None, :]
    hessian[:, range(3), range(3)] += gradient
    gradient = gradient[:, free]
    hessian = hessian[:, free[:, None], free]

    free_log_ratio = log_ratio[:, free]
    at_lower_bound = (free_log_ratio <= 0) & (gradient > 0)
    at_upper_bound = (free_log_ratio >= _LARGEST_LOG) & (gradient < 0)
    is_held = at_lower_bound | at_upper_bound | ~np.isfinite(gradient)
    gradient = np.where(is_held, 0, gradient)
    without_curvature = is_held[:, :, None] | is_held[:, None, :] | ~np.isfinite(hessian)
    hessian = np.where(without_curvature, 0, hessian)
    hessian[:, range(len(free)), range(len(free))] += is_held

    # Where the deviance is not convex, its curvature's size still scales the descent.
    curvatures, axes = np.linalg.eigh(hessian)
    gradient_along_axes = np.einsum("dij,di->dj", axes, gradient)
    step_along_axes = gradient_along_axes / np.maximum(np.abs(curvatures), 1e-2)
    step = np.zeros_like(log_ratio)
    step[:, free] = -np.einsum("dij,dj->di", axes, step_along_axes)
    return step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))


class _Likelihood(NamedTuple):
    """The deviance at given ratios of the variances to the residual one, and its derivatives.

    ``squares`` (draws, 3) is the derivative of the residual sum of squares by the residual
    variance, ``slopes`` (draws, 3, p, p) that of the weighted cross products of the design, whose
    inverse is ``inverse``. ``gradient`` holds first derivatives, and ``curvature`` second ones with
    the residual variance held at its estimate.
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

    def of_draws(self, draws: np.ndarray) -> "_Likelihood":
        """The same of some of the draws."""
        return _Likelihood(*(values[draws] for values in self))

    def set_draws(self, draws: np.ndarray, of_draws: "_Likelihood") -> None:
        """Write other values of some of the draws into the arrays."""
        for values, values_of_draws in zip(self, of_draws, strict=True):
            values[draws] = values_of_draws


@dataclass(frozen=True, eq=False)
class _Terms:
    """What cells and participants add to the likelihood, in the letters of :func:`restricted_likelihood`.

    Of cells (draws, rows, participants): N, T, u, h, m. Of participants (draws, participants): W,
    v, f; o is (draws, p + 1, participants). ``by_groups`` holds the sums of which N and T are the
    first, with weights s, then :math:`s^2 n` and :math:`s^3 n^2`.
    """

    c: np.ndarray
    u: np.ndarray
    h: np.ndarray
    m: np.ndarray
    W: np.ndarray
    v: np.ndarray
    f: np.ndarray
    o: np.ndarray
    by_groups: list[_GroupSums]


def restricted_likelihood(
    sums: NestedSums, weights: np.ndarray, log_ratio: np.ndarray
) -> _Likelihood:
    r"""Deviance and derivatives at ``log_ratio``, logarithms of 1 + ratio.

    With a, c and g the ratios of participants, cells and groups: of a cell, :math:`N = \sum n s`
    and :math:`T = \sum t s` over its groups of n rows and total t, :math:`s = 1/(1 + ng)`, and
    :math:`u = 1/(1 + cN)`; it enters the cross products by h = Nu with its design and by m = Tu
    with the outcome. Of a participant, W is the sum of h, o that of (h design, m), :math:`v = 1/(1
    + aW)`, and :math:`f = av`; the cross products are those of the cells less :math:`f o o^\top`.
    Derivatives follow by the chain rule.
    """
    ratios = np.expm1(log_ratio)
    a = ratios[:, :1]
    c = ratios[:, 1:2, None]
    g = ratios[:, 2:]
    by_groups = sums.of_groups(g)
    N = by_groups[0].rows
    T = by_groups[0].totals
    u = 1 / (1 + c * N)
    h = N * u
    m = T * u
    W = h.sum(axis=1)
    v = 1 / (1 + a * W)
    f = a * v
    o = sums.by_participant(h, m)

    squares_of_outcome = sums.within + by_groups[0].squares - (c * m * T).sum(axis=1)
    cross = sums.cross_products(weights, h, m, squares_of_outcome)
    cross -= (o * (weights * f)[:, None]) @ np.swapaxes(o, 1, 2)
    freedom = weights @ sums.rows - sums.effects.shape[1]
    inverse, coefficients, residual = _solve(cross, freedom)

    logs_of_groups = np.log1p(sums.sizes * g) @ sums.counts.T
    logs = logs_of_groups - np.log(u).sum(axis=1) - np.log(v)
    deviance = freedom * np.log(residual) + (weights * logs).sum(axis=1)
    deviance = deviance + np.log(np.linalg.det(cross[:, :-1, :-1]))

    # E: what a change of the cross products does to the deviance.
    r = np.concatenate([-coefficients, np.ones_like(residual)[:, None]], axis=1)
    E = r[:, :, None] * r[:, None, :] / residual[:, None, None]
    E[:, :-1, :-1] += inverse
    terms = _Terms(c=c, u=u, h=h, m=m, W=W, v=v, f=f, o=o, by_groups=by_groups)
    gradient, curvature, slopes = _derivatives(sums, weights, E, terms)
    gradient += np.einsum("dij,dkij->dk", E, slopes)

    # The coefficients move with the ratios, and the inverse with the cross products.
    slopes_r = (slopes @ r[:, None, :, None])[..., 0]
    squares = (slopes_r * r[:, None]).sum(axis=2) / residual[:, None]
    slopes = slopes[..., :-1, :-1]
    slopes_r = slopes_r[..., :-1]
    of_coefficients = 2 * slopes_r @ inverse @ np.swapaxes(slopes_r, 1, 2)
    curvature -= of_coefficients / residual[:, None, None]
    inverse_slopes = inverse[:, None] @ slopes
    curvature -= np.einsum("dkij,dlji->dkl", inverse_slopes, inverse_slopes)
    return _Likelihood(
        deviance=deviance,
        gradient=gradient,
        curvature=curvature,
        squares=squares,
        slopes=slopes,
        inverse=inverse,
        coefficients=coefficients,
        residual=residual,
        freedom=freedom,
    )


def _derivatives(
    sums: NestedSums,
    weights: np.ndarray,
    E: np.ndarray,
    terms: _Terms,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Gradient of the logarithms, curvature of the deviance, and slopes of the cross products.

    All are derivatives in the ratios a, c, g, in this order; E, what a change of the cross products
    does to the deviance, is held. Of the cross products S and the sum L of the logarithms, the
    deviance is then :math:`\mathrm{tr}(E S) + L`. A participant enters these by
    :math:`-f o o^\top` and :math:`\log(1 + aW)`, with the derivatives

    .. math:: f_a = v^2, \quad f_W = -f^2, \quad \log(1 + aW)_a = Wv, \quad \log(1 + aW)_W = f

    and c and g change h and m of its cells, hence W and o. A name ending in _i or _ij is a
    derivative in one or two of c and g.
    """
    W = terms.W
    v = terms.v
    f = terms.f
    o = terms.o
    Eo = E @ o
    oEo = (Eo * o).sum(axis=1)
    by_ratio, by_two_ratios = _derivatives_of_cells(sums, terms)

    slopes = np.zeros((len(weights), 3, *E.shape[1:]))
    gradient = np.zeros((len(weights), 3))
    curvature = np.zeros((len(weights), 3, 3))

    # In the ratio a, of which only f and the logarithm depend.
    slopes[:, 0] = -(o * (weights * v**2)[:, None]) @ np.swapaxes(o, 1, 2)
    gradient[:, 0] = (weights * W * v).sum(axis=1)
    curvature[:, 0, 0] = (weights * W * v**2 * (2 * v * oEo - W)).sum(axis=1)

    # In c or g, once, and in a and one of these.
    W_by = {}
    o_by = {}
    oEo_by = {}
    for i, cell_i in by_ratio.items():
        W_i = cell_i.h.sum(axis=1)
        o_i = sums.by_participant(cell_i.h, cell_i.m)
        oEo_i = (Eo * o_i).sum(axis=1)
        squares_i = cell_i.squares_of_participants + cell_i.squares_of_cells.sum(axis=1)
        # The derivative of f o o^T, f (o_i o^T + o o_i^T) - f^2 W_i o o^T, is a matrix and its transpose.
        f_o_i = (o_i - (f * W_i / 2)[:, None] * o) * (weights * f)[:, None]
        half_i = f_o_i @ np.swapaxes(o, 1, 2)
        slopes[:, i] = sums.cross_products(weights, cell_i.h, cell_i.m, squares_i)
        slopes[:, i] -= half_i + np.swapaxes(half_i, 1, 2)
        gradient[:, i] = (weights * (cell_i.logs + f * W_i)).sum(axis=1)
        curvature_ai = v**2 * (W_i * (1 + 2 * f * oEo) - 2 * oEo_i)
        curvature[:, 0, i] = (weights * curvature_ai).sum(axis=1)
        W_by[i] = W_i
        o_by[i] = o_i
        oEo_by[i] = oEo_i

    # What h, m and the square of a cell do to the deviance.
    grid = (len(weights), *terms.h.shape[1:])
    xEx = (E[:, :-1, :-1].reshape(len(weights), -1) @ sums.products.T).reshape(grid)
    xEy = (E[:, :-1, -1] @ sums.effects.T).reshape(grid)
    xEo = sums.by_cell(Eo[:, :-1])
    by_h = xEx - 2 * f[:, None] * xEo + (f**2 * oEo + f)[:, None]
    by_m = 2 * (xEy - (f * Eo[:, -1])[:, None])
    by_square = E[:, -1, -1, None]

    # In c or g, twice.
    for (i, j), cell_ij in by_two_ratios.items():
        squares_ij = cell_ij.squares_of_participants + cell_ij.squares_of_cells.sum(axis=1)
        of_cells = (cell_ij.h * by_h + cell_ij.m * by_m).sum(axis=1) + by_square * squares_ij
        of_W_and_o = 2 * (W_by[i] * oEo_by[j] + W_by[j] * oEo_by[i])
        of_W = W_by[i] * W_by[j] * (1 + 2 * f * oEo)
        oEo_ij = ((E @ o_by[i]) * o_by[j]).sum(axis=1)
        curvature_ij = cell_ij.logs + of_cells + f**2 * (of_W_and_o - of_W) - 2 * f * oEo_ij
        curvature[:, i, j] = (weights * curvature_ij).sum(axis=1)
    curvature += np.swapaxes(np.triu(curvature, 1), 1, 2)
    return gradient, curvature, slopes


class _CellDerivative(NamedTuple):
    """Derivatives, in one or two of the ratios c and g, of what cells add to the likelihood.

    Of h, of m, of the squares of cells and of participants, and of the logarithms but for that of
    1 + aW.
    """

    h: np.ndarray
    m: np.ndarray
    squares_of_cells: np.ndarray
    squares_of_participants: np.ndarray | float
    logs: np.ndarray


def _derivatives_of_cells(
    sums: NestedSums,
    terms: _Terms,
) -> tuple[dict[int, _CellDerivative], dict[tuple[int, int], _CellDerivative]]:
    """First and second derivatives of what cells add, by the index of the ratio: 1 is c, 2 is g."""
    c = terms.c
    u = terms.u
    h = terms.h
    m = terms.m
    by_ratio = {}
    by_two_ratios = {}
    cells_vary, groups_vary = sums.free[1:]
    if cells_vary:
        by_ratio[1] = _CellDerivative(
            h=-h * h,
            m=-m * h,
            squares_of_cells=-m * m,
            squares_of_participants=0.0,
            logs=h.sum(axis=1),
        )
        by_two_ratios[1, 1] = _CellDerivative(
            h=-2 * h * by_ratio[1].h,
            m=-2 * h * by_ratio[1].m,
            squares_of_cells=-2 * h * by_ratio[1].squares_of_cells,
            squares_of_participants=0.0,
            logs=by_ratio[1].h.sum(axis=1),
        )
    if groups_vary:
        # The derivative of N in g is -N_2, and that of N_2 is -2 N_3; so for T.
        N = terms.by_groups[0].rows
        N_2, T_2, squares_2 = terms.by_groups[1]
        N_3, T_3, squares_3 = terms.by_groups[2]
        cuN_2 = c * N_2 * u
        k = T_2 - c * m * N_2
        by_ratio[2] = _CellDerivative(
            h=-N_2 * u * u,
            m=-u * k,
            squares_of_cells=c * m * (T_2 + k),
            squares_of_participants=-squares_2,
            logs=(N - cuN_2).sum(axis=1),
        )
        by_two_ratios[2, 2] = _CellDerivative(
            h=2 * u * u * (N_3 - N_2 * cuN_2),
            m=2 * u * (T_3 - c * m * N_3 - cuN_2 * k),
            squares_of_cells=-2 * c * (m * (2 * T_3 - c * m * N_3) + u * k * k),
            squares_of_participants=2 * squares_3,
            logs=(2 * c * N_3 * u - N_2 - cuN_2 * cuN_2).sum(axis=1),
        )
    if cells_vary and groups_vary:
        h_g = by_ratio[2].h
        m_g = by_ratio[2].m
        by_two_ratios[1, 2] = _CellDerivative(
            h=-2 * h * h_g,
            m=-(m_g * h + m * h_g),
            squares_of_cells=-2 * m * m_g,
            squares_of_participants=0.0,
            logs=h_g.sum(axis=1),
        )
    return by_ratio, by_two_ratios


def satterthwaite(sums: NestedSums, fit: Nested, contrasts: np.ndarray) -> np.ndarray:
    r"""Return the degrees of freedom of contrasts of the fixed effects, by Satterthwaite's rule.

    .. math:: \nu = 2 v^2 / (g^\top A g)

    with v the variance of the contrast, g its gradient in the variances, and A their covariance
    matrix, from the curvature of the restricted likelihood. Variances of zero are held there, and so is a ratio at its
    upper bound.
    """
    ratios = fit.ratios
    all_participants = np.ones((1, len(sums.participants)))
    likelihood = restricted_likelihood(sums, all_participants, np.log1p(ratios)[None])
    is_inside = (ratios > 1e-8) & (np.log1p(ratios) < _NEAR_LARGEST_LOG)
    positive = np.flatnonzero(sums.free & is_inside)
    # In these ratios, and in the logarithm of the residual variance.
    hessian = np.full((len(positive) + 1, len(positive) + 1), likelihood.freedom[0])
    hessian[:-1, :-1] = likelihood.curvature[0][np.ix_(positive, positive)]
    hessian[-1, :-1] = -likelihood.squares[0, positive]
    hessian[:-1, -1] = -likelihood.squares[0, positive]
    A = 2 * np.linalg.pinv(hessian)
    weighted = contrasts @ likelihood.inverse[0]
    v = np.einsum("ci,ci->c", weighted, contrasts)
    slopes = likelihood.slopes[0, positive]
    by_ratios = -np.einsum("ci,kij,cj->kc", weighted, slopes, weighted)
    g = np.stack([*by_ratios, v])
    gAg = np.einsum("ic,ij,jc->c", g, A, g)
    return 2 * v**2 / gAg


def satterthwaite_f(
    sums: NestedSums,
    fit: Nested,
    contrasts: np.ndarray,
) -> tuple[float, float, float]:
    r"""Return the test of several contrasts of the fixed effects at once: F, its degrees of freedom, p.

    With :math:`L V L^\top = P D P^\top`, the q rotated contrasts :math:`P^\top L` are uncorrelated,
    each with :math:`\nu_i` degrees of freedom of its own, and

    .. math:: F = \frac{1}{q} \sum_i \frac{(P^\top L \hat\beta)_i^2}{D_{ii}}, \quad
              \nu = \frac{2E}{E - q}, \quad E = \sum_i \frac{\nu_i}{\nu_i - 2}
    """
    contrasts = np.asarray(contrasts, dtype=float)
    q = len(contrasts)
    D, P = np.linalg.eigh(contrasts @ fit.covariance @ contrasts.T)
    rotated = P.T @ contrasts
    f = float(((rotated @ fit.coefficients) ** 2 / D).mean())
    nu = satterthwaite(sums, fit, rotated)
    if (nu <= 2).any():
        return f, np.nan, np.nan
    E = (nu / (nu - 2)).sum()
    freedom = float(2 * E / (E - q))
    return f, freedom, float(stats.f.sf(f, q, freedom))
