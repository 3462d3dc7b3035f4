"""Mixed models with nested random intercepts, fitted from sums per participant that can be resampled.

The restricted likelihood needs sums per cell only, and is a function of the ratios of the variances
to the residual one: it is minimized for many resamples at once. (statsmodels' MixedLM fits such
models too, one data set at a time, and not dependably where a variance is near zero.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
_CONVERGED = 1e-5
"""Convergence is quadratic: the step after one this small is below the errors of the derivatives, as are its gains."""
_ZERO = 1e-7
_ROUNDING = 1e-12

_CHUNK = 250
"""Resamples fitted at once: what fits into the cache is faster."""

_ARRAYS = 128
"""Numbers that the fit of one resample holds for each cell."""


@dataclass(frozen=True, eq=False)
class NestedSums:
    """Sums of rows for :func:`fit_nested`; one entry per cell (a participant in a condition).

    Cells stand on a grid of rows by participants, with zeros where a participant has fewer. Where each cell is in
    exactly one condition, in which no other of the person is, a row of the grid is that condition (``by_condition``).
    """

    participants: pd.Index
    grid: tuple[int, int]
    by_condition: bool
    effects: np.ndarray
    """Fixed effects of the cells: (rows * participants, p)."""
    rank_within: int
    """Number of fixed effects that differences of cells of one participant determine."""
    sizes: np.ndarray
    """The sizes of groups that occur."""
    counts: np.ndarray
    """Number of groups of each participant of each size: (participants, sizes)."""
    of_sizes: np.ndarray
    """Rows and totals of cells, and squares of participants, side by side: (sizes, ...)."""
    units: np.ndarray
    """Numbers of participants (1), of cells and of groups of each participant: (participants, 3)."""
    within: np.ndarray
    """Sum of squares within the groups of each participant."""
    free: np.ndarray
    """Whether the variances of participants, cells and groups are estimated; the others are zero."""
    width: float
    """Width of differences of log(1 + ratio): small beside 1 / rows of any participant, the scale at zero."""

    @property
    def without_noise(self) -> str:
        """Why noise can't be told from people's levels, if fixed effects fit all differences within participants."""
        conversations = self.units[:, 2]
        if not self.free[0] or conversations.sum() - len(conversations) > self.rank_within:
            return ""
        several = np.count_nonzero(conversations > 1)
        return (
            f"participants with several conversations: {several} of {len(conversations)}, too few to tell noise from "
            "differences between people"
        )


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
    _, first_row, group, size = np.unique(
        group_key, return_index=True, return_inverse=True, return_counts=True
    )
    cell_of_group = cell[first_row]
    _, first_row = np.unique(cell, return_index=True)
    participant_of_cell = participant[first_row]
    design_of_cell = design[first_row]
    first_cells = np.searchsorted(participant_of_cell, np.arange(len(names)))
    first_cell = first_cells[participant_of_cell]

    # The cells on a grid (rows, participants).
    condition = design_of_cell.argmax(axis=1)
    in_one_condition = np.array_equal(design_of_cell, np.eye(design.shape[1])[condition])
    participant_in_condition = participant_of_cell * design.shape[1] + condition
    no_other_is_there = len(np.unique(participant_in_condition)) == len(condition)
    by_condition = in_one_condition and no_other_is_there
    row = np.arange(len(design_of_cell)) - first_cell
    rows = int(row.max()) + 1
    if by_condition:
        row = condition
        rows = design.shape[1]

    # Of the groups of a cell, those of one size have the same weight: their sums suffice.
    total = np.bincount(group, weights=y)
    sizes, size_index = np.unique(size, return_inverse=True)
    counts, totals, squares = np.zeros((3, len(design_of_cell), len(sizes)))
    np.add.at(counts, (cell_of_group, size_index), 1)
    np.add.at(totals, (cell_of_group, size_index), total)
    np.add.at(squares, (cell_of_group, size_index), total**2 / size)
    counts_of_participant = np.add.reduceat(counts, first_cells, axis=0)
    squares_of_participant = np.add.reduceat(squares, first_cells, axis=0)
    squares_of_rows = np.bincount(participant, weights=y**2)
    values = np.concatenate([counts * sizes, totals, design_of_cell], axis=1)
    grid = np.zeros((rows, len(names), values.shape[1]))
    grid[row, participant_of_cell] = values
    ends = [len(sizes), 2 * len(sizes)]
    rows_of_cells, totals_of_cells, effects = np.split(
        grid.reshape(-1, values.shape[1]), ends, axis=1
    )
    by_size = [rows_of_cells, totals_of_cells, squares_of_participant]
    cells_of_participant = np.bincount(participant_of_cell)
    groups_of_participant = counts_of_participant.sum(axis=1)

    # A variance is free where there are several units at its level, and smaller ones within one.
    groups_have_rows = size.max() > 1
    several_groups_in_a_cell = counts.sum(axis=1).max() > 1
    several_in_a_participant = groups_of_participant.max() > 1 or groups_have_rows
    several_in_a_cell = several_groups_in_a_cell or groups_have_rows
    free = [
        len(names) > 1 and several_in_a_participant,
        cells is not None and cells_of_participant.max() > 1 and several_in_a_cell,
        groups_have_rows and several_groups_in_a_cell,
    ]
    return NestedSums(
        participants=pd.Index(names),
        grid=(rows, len(names)),
        by_condition=by_condition,
        effects=effects,
        rank_within=int(np.linalg.matrix_rank(design_of_cell - design_of_cell[first_cell])),
        sizes=sizes.astype(float),
        counts=counts_of_participant,
        of_sizes=np.concatenate(by_size).T,
        units=np.column_stack([np.ones(len(names)), cells_of_participant, groups_of_participant]),
        within=np.maximum(squares_of_rows - squares_of_participant.sum(axis=1), 0),
        free=np.array(free),
        width=0.01 / np.bincount(participant).max(),
    )


class _Likelihood(NamedTuple):
    """The deviance at given ratios, and what it is made of; ``inverse`` is that of the design's cross products."""

    deviance: np.ndarray
    inverse: np.ndarray
    coefficients: np.ndarray
    residual: np.ndarray
    freedom: np.ndarray


def restricted_likelihood(
    sums: NestedSums, weights: np.ndarray, log_ratio: np.ndarray
) -> _Likelihood:
    r"""Restricted likelihood of many resamples at ``log_ratio``, logarithms of 1 + ratio, (draws, 3).

    With a, c and g the ratios of participants, cells and groups: of a cell, :math:`N = \sum n s`
    and :math:`T = \sum t s` over its groups of n rows and total t, :math:`s = 1/(1 + ng)`, and
    :math:`u = 1/(1 + cN)`; it enters the cross products by h = Nu with its design and by m = Tu
    with the outcome. Of a participant, W is the sum of h, o that of (h design, m), and :math:`v = 1/(1
    + aW)`; the cross products are those of the cells less :math:`a v o o^\top`.
    """
    ratios = np.expm1(log_ratio)
    a = ratios[:, :1]
    c = ratios[:, 1:2, None]
    g = ratios[:, 2:]
    if not sums.free[2]:
        g = g[:1]  # one for all draws
    draws = len(weights)
    width = sums.effects.shape[1]
    cells = len(sums.effects)

    shrink = 1 / (1 + sums.sizes * g)
    of_groups = shrink @ sums.of_sizes
    N = of_groups[:, :cells].reshape(-1, *sums.grid)
    T = of_groups[:, cells : 2 * cells].reshape(-1, *sums.grid)
    u = 1 / (1 + c * N)
    h = N * u
    m = T * u
    W = h.sum(axis=1)
    v = 1 / (1 + a * W)
    h_design = h
    if not sums.by_condition:
        h_design = np.einsum("drn,rnk->dkn", h, sums.effects.reshape(*sums.grid, width))
    o = np.concatenate([h_design, m.sum(axis=1, keepdims=True)], axis=1)

    drawn_h = (weights[:, None] * h).reshape(draws, cells)
    drawn_m = (weights[:, None] * m).reshape(draws, cells)
    products = cross_products(sums.effects).reshape(cells, -1)
    squares = sums.within + of_groups[:, 2 * cells :] - (c * m * T).sum(axis=1)
    cross = np.empty((draws, width + 1, width + 1))
    cross[:, :-1, :-1] = (drawn_h @ products).reshape(draws, width, width)
    cross[:, :-1, -1] = drawn_m @ sums.effects
    cross[:, -1, :-1] = cross[:, :-1, -1]
    cross[:, -1, -1] = (weights * squares).sum(axis=1)
    cross -= (o * (weights * a * v)[:, None]) @ np.swapaxes(o, 1, 2)

    # Generalized least squares, with NaN where the design is singular.
    of_design = cross[:, :-1, :-1]
    with_outcome = cross[:, :-1, -1]
    freedom = weights @ (sums.counts @ sums.sizes) - width
    determinant = np.linalg.det(of_design)
    scale = np.prod(np.diagonal(of_design, axis1=1, axis2=2), axis=1)
    solvable = (determinant > 1e-10 * scale) & (freedom > 0)
    inverse = np.linalg.inv(np.where(solvable[:, None, None], of_design, np.eye(width)))
    inverse[~solvable] = np.nan
    coefficients = (inverse @ with_outcome[:, :, None])[:, :, 0]
    residual = (cross[:, -1, -1] - (coefficients * with_outcome).sum(axis=1)) / freedom

    logs_of_groups = np.log1p(sums.sizes * g) @ sums.counts.T
    logs = logs_of_groups - np.log(u).sum(axis=1) - np.log(v)
    deviance = freedom * np.log(residual) + (weights * logs).sum(axis=1) + np.log(determinant)
    return _Likelihood(deviance, inverse, coefficients, residual, freedom)


def numerical_gradient(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, width: float
) -> np.ndarray:
    """Gradients of a function of parameters (draws, k): its values' shape, and k.

    Central differences of ``width`` and of twice that, extrapolated to a width of zero (Richardson).

    Examples
    --------
    >>> volume = lambda edges: edges[:, 0] ** 2 * edges[:, 1]
    >>> numerical_gradient(volume, np.array([[3.0, 2.0]]), width=0.01).round(9).tolist()
    [[12.0, 9.0]]
    """
    gradients = []
    for step in width * np.eye(at.shape[1]):
        near = (function(at + step) - function(at - step)) / (2 * width)
        far = (function(at + 2 * step) - function(at - 2 * step)) / (4 * width)
        gradients.append((4 * near - far) / 3)
    return np.stack(gradients, axis=-1)


def central_differences(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, middle: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients and Hessians by central differences; ``middle`` is the function at ``at``."""
    steps = width * np.eye(at.shape[1])
    ahead = [function(at + step) for step in steps]
    behind = [function(at - step) for step in steps]
    hessian = np.empty((*at.shape, len(steps)))
    for i, step in enumerate(steps):
        hessian[:, i, i] = ahead[i] - 2 * middle + behind[i]
        for j in range(i):
            diagonal = function(at + step + steps[j]) + function(at - step - steps[j])
            along_axes = ahead[i] + behind[i] + ahead[j] + behind[j]
            hessian[:, i, j] = (diagonal - along_axes + 2 * middle) / 2
            hessian[:, j, i] = hessian[:, i, j]
    gradient = (np.transpose(ahead) - np.transpose(behind)) / (2 * width)
    return gradient, hessian / width**2


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
    chunks = pieces(len(weights), _ARRAYS * len(sums.effects), _CHUNK)
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = [_fit_chunk(sums, weights[chunk], log_ratio) for chunk in chunks]
    return Nested(*map(np.concatenate, zip(*fits, strict=True)))


def _fit_chunk(sums: NestedSums, weights: np.ndarray, start: np.ndarray) -> Nested:
    """Newton steps in log(1 + ratio), from 0 up; steps that do not descend are shortened."""
    free = np.flatnonzero(sums.free)
    log_ratio = np.tile(start, (len(weights), 1))
    deviance = restricted_likelihood(sums, weights, log_ratio).deviance
    shrink = np.ones(len(weights))
    hessian = np.zeros((len(weights), len(free), len(free)))
    estimable = np.flatnonzero(np.isfinite(deviance))
    active = estimable
    iterations = _ITERATIONS if len(free) else 0

    def deviance_of(draws: np.ndarray, free_log_ratio: np.ndarray) -> np.ndarray:
        """The deviances of some resamples at free parameters."""
        log_ratios = np.zeros((len(draws), 3))
        log_ratios[:, free] = free_log_ratio
        return restricted_likelihood(sums, weights[draws], log_ratios).deviance

    for _ in range(iterations):
        if not len(active):
            break
        deviance_at = partial(deviance_of, active)
        current = log_ratio[active][:, free]
        current_deviance = deviance[active]
        gradient, hessian[active] = central_differences(
            deviance_at, current, current_deviance, sums.width
        )
        trial = _after_step(current, gradient, hessian[active], shrink[active, None])
        trial_deviance = deviance_at(trial)
        is_small = np.abs(trial - current).max(axis=1) < _CONVERGED
        is_better = is_small | (
            trial_deviance < current_deviance + _ROUNDING * np.abs(current_deviance)
        )
        improved = active[is_better]
        log_ratio[np.ix_(improved, free)] = trial[is_better]
        deviance[improved] = trial_deviance[is_better]
        shrink[improved] = 1
        shrink[active[~is_better]] /= 4
        active = active[~is_small]

    # The last step rests on gradients that are exact enough for any processor to find the same digits.
    converged = np.setdiff1d(estimable, active)
    if len(free) and len(converged):
        current = log_ratio[converged][:, free]
        gradient = numerical_gradient(partial(deviance_of, converged), current, sums.width)
        log_ratio[np.ix_(converged, free)] = _after_step(current, gradient, hessian[converged])

    fitted = restricted_likelihood(sums, weights, log_ratio)
    # Without noise, the finest units whose ratio is at its bound vary alone.
    at_bound = log_ratio >= _NEAR_LARGEST_LOG
    without_noise = at_bound.any(axis=1)
    width = sums.effects.shape[1]
    units = weights @ sums.units
    freedom = units[:, 0] - width + sums.rank_within
    for level in (1, 2):
        freedom = np.where(at_bound[:, level], units[:, level] - width, freedom)
    rescaled = fitted.residual * fitted.freedom / freedom
    residual = np.where(without_noise, rescaled, fitted.residual)
    noise = np.where(without_noise, 0.0, residual)
    ratios = np.expm1(log_ratio)
    variances = np.column_stack([ratios * residual[:, None], noise])
    variances[~np.isfinite(fitted.deviance)] = np.nan
    return Nested(
        coefficients=fitted.coefficients,
        covariance=residual[:, None, None] * fitted.inverse,
        variances=variances,
        ratios=ratios,
        deviance=fitted.deviance + fitted.freedom * (1 + np.log(2 * np.pi)),
    )


def _after_step(
    at: np.ndarray, gradient: np.ndarray, hessian: np.ndarray, shrink: np.ndarray | float = 1
) -> np.ndarray:
    """The log(1 + ratio) after a descending step, at most 1, within its bounds; as it is where it is at a bound."""
    at_lower_bound = (at <= 0) & (gradient > 0)
    at_upper_bound = (at >= _LARGEST_LOG) & (gradient < 0)
    is_held = at_lower_bound | at_upper_bound | ~np.isfinite(gradient)
    gradient = np.where(is_held, 0, gradient)
    without_curvature = is_held[:, :, None] | is_held[:, None, :] | ~np.isfinite(hessian)
    places = np.arange(at.shape[1])
    hessian = np.where(without_curvature, 0, hessian)
    hessian[:, places, places] += is_held
    # Where the deviance is not convex, its curvature's size still scales the descent.
    curvatures, axes = np.linalg.eigh(hessian)
    gradient_along_axes = np.einsum("dij,di->dj", axes, gradient)
    step_along_axes = gradient_along_axes / np.maximum(np.abs(curvatures), 1e-2)
    step = -np.einsum("dij,dj->di", axes, step_along_axes)
    step /= np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
    after = np.clip(at + shrink * step, 0, _LARGEST_LOG)
    return np.where(after < _ZERO, 0, after)


def satterthwaite(sums: NestedSums, fit: Nested, contrasts: np.ndarray) -> np.ndarray:
    r"""Return the degrees of freedom of contrasts of the fixed effects, by Satterthwaite's rule.

    .. math:: \nu = 2 v^2 / (g^\top A g)

    with v the variance of the contrast, g its gradient in the variances, and A their covariance
    matrix, from the curvature of the restricted likelihood. Variances of zero are held there, and so is a ratio at its
    upper bound. The parameters are logarithms of 1 + ratio, and of the residual variance.
    """
    everyone = np.ones((1, len(sums.participants)))
    log_ratio = np.log1p(fit.ratios)
    positive = (fit.ratios > 1e-8) & (log_ratio < _NEAR_LARGEST_LOG) & sums.free
    at_fit = restricted_likelihood(sums, everyone, log_ratio[None])
    parameters = np.append(log_ratio[positive], np.log(at_fit.residual))[None]

    def likelihood_at(parameters: np.ndarray) -> _Likelihood:
        moved = log_ratio.copy()
        moved[positive] = parameters[0, :-1]
        return restricted_likelihood(sums, everyone, moved[None])

    def deviance(parameters: np.ndarray) -> np.ndarray:
        """The deviance where the residual variance is a parameter, too."""
        likelihood = likelihood_at(parameters)
        log_of_ratio = parameters[:, -1] - np.log(likelihood.residual)
        return likelihood.deviance + likelihood.freedom * (log_of_ratio + np.expm1(-log_of_ratio))

    def variances(parameters: np.ndarray) -> np.ndarray:
        """Variances of the contrasts."""
        inverse = likelihood_at(parameters).inverse[0]
        unscaled = np.einsum("ci,ij,cj->c", contrasts, inverse, contrasts)
        return np.exp(parameters[0, -1]) * unscaled

    middle = deviance(parameters)
    _, hessian = central_differences(deviance, parameters, middle, sums.width)
    _, coarse_hessian = central_differences(deviance, parameters, middle, 2 * sums.width)
    A = 2 * np.linalg.pinv((4 * hessian[0] - coarse_hessian[0]) / 3)
    v = variances(parameters)
    g = numerical_gradient(variances, parameters, sums.width)
    return 2 * v**2 / np.einsum("ci,ij,cj->c", g, A, g)


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
