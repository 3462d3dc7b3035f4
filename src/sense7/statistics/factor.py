r"""One factor behind the ratings: its loadings, omega, and how well it fits.

The model is :math:`R = \lambda\lambda^\top + \Psi` for the correlations R of k items, with
loadings :math:`\lambda` and uniquenesses :math:`\Psi = \mathrm{diag}(\psi)`. Units without one of
the items are left out (listwise): the correlations of different units need not fit together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from sense7.statistics.alpha import correlations_from_covariances, unexplained_variances

FIT_INDICES = ("chi-square", "degrees of freedom", "CFI", "RMSEA", "SRMR")
"""What :func:`indices_of` returns, in this order."""

ITEMS_FOR_A_FACTOR = 3
_SMALLEST = np.log(0.005)
_LARGEST = 0.0
"""Bounds of the logarithm of a uniqueness, as stats::factanal (R) has them."""

_STEPS = 100
_CONVERGED = 1e-8


@dataclass(frozen=True, eq=False)
class OneFactor:
    """A fitted one-factor model, or many."""

    loadings: np.ndarray
    uniquenesses: np.ndarray
    discrepancy: np.ndarray


def fit_one_factor(correlations: np.ndarray) -> OneFactor:
    r"""Fit one factor by maximum likelihood to one correlation matrix or to many at once.

    With :math:`\theta_1 > \theta_2 \ge \dots` the eigenvalues and :math:`\omega_m` the eigenvectors of
    :math:`\Psi^{-1/2} R \Psi^{-1/2}`, the best loadings given :math:`\Psi` are
    :math:`\sqrt{\theta_1 - 1}\,\Psi^{1/2}\omega_1`, and what remains to be minimised is

    .. math:: F(\psi) = \sum_{m \ge 2} (\theta_m - \log\theta_m - 1)

    over :math:`\log\psi_i`, by Newton's method with the exact second derivatives, each
    :math:`\psi_i` between 0.005 and 1.

    Examples
    --------
    >>> loadings = np.array([0.9, 0.8, 0.7, 0.6])
    >>> fit = fit_one_factor(np.outer(loadings, loadings) + np.diag(1 - loadings**2))
    >>> fit.loadings.round(6).tolist(), round(float(fit.discrepancy), 9)
    ([0.9, 0.8, 0.7, 0.6], 0.0)
    """
    correlations = np.asarray(correlations, dtype=float)
    k = correlations.shape[-1]
    if k < ITEMS_FOR_A_FACTOR:
        raise ValueError(f"one factor takes at least {ITEMS_FOR_A_FACTOR} items, not {k}")
    matrices = correlations.reshape(-1, k, k)
    unexplained = unexplained_variances(matrices)
    definite = np.flatnonzero(np.isfinite(unexplained).all(axis=1))
    logs = np.full(unexplained.shape, np.nan)
    start = np.log((1 - 0.5 / k) * unexplained[definite])
    logs[definite] = _minimised(matrices[definite], start)
    fitted = definite[np.isfinite(logs[definite]).all(axis=1)]
    minimum = _discrepancy(matrices[fitted], logs[fitted])
    discrepancy = np.full(len(matrices), np.nan)
    discrepancy[fitted] = minimum.value
    loadings = np.full(unexplained.shape, np.nan)
    loadings[fitted] = minimum.loadings
    shape = correlations.shape[:-1]
    return OneFactor(
        loadings=loadings.reshape(shape),
        uniquenesses=np.exp(logs).reshape(shape),
        discrepancy=discrepancy.reshape(shape[:-1]),
    )


class _Discrepancy(NamedTuple):
    """Discrepancy, its derivatives in the logarithms of the uniquenesses, and the best loadings there."""

    value: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    loadings: np.ndarray


def _discrepancy(matrices: np.ndarray, logs: np.ndarray) -> _Discrepancy:
    """Discrepancy of correlation matrices at logarithms of the uniquenesses; see :func:`fit_one_factor`."""
    scale = np.exp(-logs / 2)
    # theta and omega of the formula, the first of each apart from the others.
    values, vectors = np.linalg.eigh(scale[:, :, None] * matrices * scale[:, None, :])
    theta_1 = values[:, -1:]
    theta = values[:, :-1]
    omega_1 = vectors[:, :, -1]
    omega = vectors[:, :, :-1]
    omega_transposed = omega.transpose(0, 2, 1)

    value = (theta - np.log(theta) - 1).sum(axis=1)
    gradient = ((1 - theta)[:, None, :] * omega**2).sum(axis=2)
    among_others = (omega * theta[:, None, :]) @ omega_transposed
    weights = (1 - theta) * (theta + theta_1) / np.maximum(theta_1 - theta, 1e-12)
    with_first = (omega * weights[:, None, :]) @ omega_transposed
    hessian = among_others * (omega @ omega_transposed)
    hessian = hessian + with_first * omega_1[:, :, None] * omega_1[:, None, :]

    signs = np.where(omega_1.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    loadings = signs * np.sqrt(np.maximum(theta_1 - 1, 0)) * omega_1 / scale
    return _Discrepancy(value, gradient, hessian, loadings)


def _minimised(matrices: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Logarithms of the uniquenesses at the minimum; NaN where it was not reached."""
    logs = np.clip(start, _SMALLEST, _LARGEST)
    damping = np.zeros(len(logs))
    value, gradient, hessian, _ = _discrepancy(matrices, logs)
    for _ in range(_STEPS):
        is_held = _held_at_bound(logs, gradient)
        slope = np.where(is_held, 0.0, gradient)
        active = np.flatnonzero(np.abs(slope).max(axis=1) > _CONVERGED)
        if not len(active):
            break
        # Newton steps of the free logarithms, none of the others: downhill even where the surface is a saddle, and far
        # in the flat valleys of small uniquenesses.
        free = ~is_held[active]
        curvature = np.where(free[:, :, None] & free[:, None, :], hessian[active], 0.0)
        curvatures, axes = np.linalg.eigh(curvature)
        slope_along_axes = (axes * slope[active][:, :, None]).sum(axis=1)
        sizes = np.maximum(np.abs(curvatures), 1e-7) + damping[active][:, None]
        step = -(axes * (slope_along_axes / sizes)[:, None, :]).sum(axis=2)
        step = np.where(free, step, 0.0)
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True), 1)
        trial = np.clip(logs[active] + step, _SMALLEST, _LARGEST)
        tried = _discrepancy(matrices[active], trial)
        is_better = tried.value <= value[active] + 1e-13
        less_damping = damping[active] / 10
        more_damping = np.maximum(10 * damping[active], 1e-3)
        damping[active] = np.where(is_better, less_damping, more_damping)
        damping[damping < 1e-7] = 0
        improved = active[is_better]
        logs[improved] = trial[is_better]
        value[improved] = tried.value[is_better]
        gradient[improved] = tried.gradient[is_better]
        hessian[improved] = tried.hessian[is_better]
    slope = np.where(_held_at_bound(logs, gradient), 0.0, gradient)
    reached = np.abs(slope).max(axis=1, initial=0) < 1e-5
    return np.where(reached[:, None], logs, np.nan)


def _held_at_bound(logs: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Which logarithms are at a bound, with a gradient that points beyond it."""
    at_smallest = (logs <= _SMALLEST) & (gradient > 0)
    at_largest = (logs >= _LARGEST) & (gradient < 0)
    return at_smallest | at_largest


def omega_total(loadings: np.ndarray, uniquenesses: np.ndarray) -> np.ndarray:
    r"""Return McDonald's omega total from the loadings and uniquenesses of a one-factor model.

    .. math:: \omega = \frac{(\sum_i \lambda_i)^2}{(\sum_i \lambda_i)^2 + \sum_i \psi_i}

    Parameters
    ----------
    loadings, uniquenesses : array, shape (..., k)
        Of the model.

    Returns
    -------
    array, shape (...)
        0..1.

    References
    ----------
    McDonald, R. P. (1999). Test theory.

    Notes
    -----
    R: psych::fa(nfactors=1, fm='minres'), tests/reference/reference.R; equal to 5e-5.

    Examples
    --------
    >>> round(float(omega_total(np.array([0.8, 0.8]), np.array([0.36, 0.36]))), 4)
    0.7805
    """
    loadings, uniquenesses = np.stack([loadings, uniquenesses])  # of one shape, or an error
    common = loadings.sum(axis=-1) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return common / (common + uniquenesses.sum(axis=-1))


def indices_of(
    covariances: np.ndarray, n: float, discrepancy: float, modeled: np.ndarray, *, parameters: int
) -> dict[str, float]:
    r"""Fit indices of any model of the covariances of k items, by the formulas of :func:`~indices_of`.

    Examples
    --------
    A model that leaves no residual: chi-square is zero, and the comparative fit index one.

    >>> indices = indices_of(np.eye(4) + 1, 100, 0.0, np.full((4, 4), 0.5), parameters=8)
    >>> indices["chi-square"], indices["degrees of freedom"], float(indices["CFI"])
    (0.0, 2.0, 1.0)
    """
    if not np.isfinite(discrepancy):
        return dict.fromkeys(FIT_INDICES, np.nan)
    k = len(covariances)
    correlations = correlations_from_covariances(covariances)
    chi_square = n * discrepancy
    freedom = k * (k + 1) / 2 - parameters
    excess = chi_square - freedom

    # The model without any correlation.
    chi_square_none = -n * np.linalg.slogdet(correlations)[1]
    freedom_none = k * (k - 1) / 2
    excess_none = chi_square_none - freedom_none

    largest_excess = max(excess_none, excess, 0)
    cfi = 1.0
    if largest_excess > 0:
        cfi = 1 - max(excess, 0) / largest_excess
    residuals = (correlations - modeled)[np.triu_indices(k, 1)]
    return {
        "chi-square": chi_square,
        "degrees of freedom": freedom,
        "CFI": cfi,
        "RMSEA": np.sqrt(max(excess, 0) / (freedom * n)),
        "SRMR": np.sqrt((residuals**2).sum() / (k * (k + 1) / 2)),
    }


SIMULATIONS = 1000
QUANTILE = 0.95


def descending_eigenvalues(matrices: np.ndarray) -> np.ndarray:
    """Return eigenvalues from the largest to the smallest; NaN where a matrix has a NaN."""
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrices, np.eye(matrices.shape[-1]))
    return np.where(finite[..., None], np.linalg.eigvalsh(safe)[..., ::-1], np.nan)


def reduced_correlations(correlations: np.ndarray) -> np.ndarray:
    """Return correlation matrices with squared multiple correlations in the diagonal."""
    unexplained = unexplained_variances(correlations)
    return correlations - unexplained[..., None] * np.eye(correlations.shape[-1])


def noise_eigenvalues(rows: int, items: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the eigenvalues of unrelated normal data, by rank.

    Examples
    --------
    >>> components, factors = noise_eigenvalues(1000, 3, seed=1)
    >>> components.round(1).tolist(), factors.round(1).tolist()
    ([1.1, 1.0, 1.0], [0.1, 0.0, -0.0])
    """
    # Sums of squares of normal data are Wishart distributed: no data need be drawn.
    generator = np.random.default_rng(seed)
    covariances = stats.wishart.rvs(
        rows - 1, np.eye(items), size=SIMULATIONS, random_state=generator
    )
    correlations = correlations_from_covariances(covariances)
    components = descending_eigenvalues(correlations)
    factors = descending_eigenvalues(reduced_correlations(correlations))
    return np.quantile(components, QUANTILE, axis=0), np.quantile(factors, QUANTILE, axis=0)
