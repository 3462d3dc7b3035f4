r"""One factor behind the ratings: its loadings, omega, and how well it fits.

The model is :math:`R = \lambda\lambda^\top + \Psi` for the correlations R of k items, with
loadings :math:`\lambda` and uniquenesses :math:`\Psi = \mathrm{diag}(\psi)`. Units without one of
the items are left out (listwise): the correlations of different units need not fit together.
"""

import contextlib
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sense7.arguments import checked, is_numbers
from sense7.errors import UserError
from sense7.estimators.alpha import correlations_from_covariances, unexplained_variances

FIT_INDICES = ("chi-square", "degrees of freedom", "CFI", "RMSEA", "SRMR")
"""What :func:`indices_of` returns, in this order."""

ITEMS_FOR_A_FACTOR = 3
_SMALLEST, _LARGEST = np.log(0.005), 0.0
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
    sound = np.flatnonzero(np.isfinite(unexplained).all(axis=1))
    logs = np.full(unexplained.shape, np.nan)
    logs[sound] = _minimised(matrices[sound], np.log((1 - 0.5 / k) * unexplained[sound]))
    values, loadings = np.full(len(matrices), np.nan), np.full(unexplained.shape, np.nan)
    sound = sound[np.isfinite(logs[sound]).all(axis=1)]
    values[sound], _, _, loadings[sound] = _discrepancy(matrices[sound], logs[sound])
    shape = correlations.shape[:-1]
    return OneFactor(
        loadings.reshape(shape), np.exp(logs).reshape(shape), values.reshape(shape[:-1])
    )


def _discrepancy(matrices: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, ...]:
    """Discrepancy, its gradient and Hessian in the logarithms of the uniquenesses, and the loadings."""
    scale = np.exp(-logs / 2)
    values, vectors = np.linalg.eigh(scale[:, :, None] * matrices * scale[:, None, :])
    first, rest = values[:, -1:], values[:, :-1]
    direction, others = vectors[:, :, -1], vectors[:, :, :-1]
    discrepancy = (rest - np.log(rest) - 1).sum(axis=1)
    gradient = ((1 - rest)[:, None, :] * others**2).sum(axis=2)
    weighted = (others * rest[:, None, :]) @ others.transpose(0, 2, 1)
    crossed = (1 - rest) * (rest + first) / np.maximum(first - rest, 1e-12)
    mixed = (others * crossed[:, None, :]) @ others.transpose(0, 2, 1)
    hessian = (
        weighted * (others @ others.transpose(0, 2, 1))
        + mixed * direction[:, :, None] * direction[:, None, :]
    )
    signs = np.where(direction.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return (
        discrepancy,
        gradient,
        hessian,
        signs * np.sqrt(np.maximum(first - 1, 0)) * direction / scale,
    )


def _minimised(matrices: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Logarithms of the uniquenesses at the minimum; NaN where it was not reached."""
    logs = np.clip(start, _SMALLEST, _LARGEST)
    going = np.arange(len(logs))
    damping = np.zeros(len(logs))
    value, gradient, hessian, _ = _discrepancy(matrices, logs)
    for _ in range(_STEPS):
        # At a bound, with a gradient that points beyond it: fixed there.
        held = ((logs <= _SMALLEST) & (gradient > 0)) | ((logs >= _LARGEST) & (gradient < 0))
        slope = np.where(held, 0.0, gradient)
        going = np.flatnonzero(np.abs(slope).max(axis=1) > _CONVERGED)
        if not len(going):
            break
        step = _step(slope[going], hessian[going], ~held[going], damping[going])
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True), 1)
        trial = np.clip(logs[going] + step, _SMALLEST, _LARGEST)
        results = _discrepancy(matrices[going], trial)
        better = results[0] <= value[going] + 1e-13
        damping[going] = np.where(
            better, damping[going] / 10, np.maximum(10 * damping[going], 1e-3)
        )
        damping[damping < 1e-7] = 0
        taken = going[better]
        logs[taken] = trial[better]
        value[taken], gradient[taken], hessian[taken] = (result[better] for result in results[:3])
    held = ((logs <= _SMALLEST) & (gradient > 0)) | ((logs >= _LARGEST) & (gradient < 0))
    reached = np.where(held, 0.0, np.abs(gradient)).max(axis=1, initial=0) < 1e-5
    return np.where(reached[:, None], logs, np.nan)


def _step(
    slope: np.ndarray, hessian: np.ndarray, free: np.ndarray, damping: np.ndarray
) -> np.ndarray:
    """Newton steps of the free logarithms, none of the others."""
    curvature = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    if not damping.any():
        whole = curvature + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(slope.shape[1])
        with contextlib.suppress(np.linalg.LinAlgError):
            np.linalg.cholesky(whole)  # an error where one of them is not positive definite
            return np.where(free, -np.linalg.solve(whole, slope[:, :, None])[:, :, 0], 0.0)
    # Downhill even where the surface is a saddle, and far in the flat valleys of small uniquenesses.
    bends, axes = np.linalg.eigh(curvature)
    along = (axes * slope[:, :, None]).sum(axis=1) / (
        np.maximum(np.abs(bends), 1e-7) + damping[:, None]
    )
    return np.where(free, -(axes * along[:, None, :]).sum(axis=2), 0.0)


@checked(
    loadings=is_numbers("one number for each item"),
    uniquenesses=is_numbers("one number for each item"),
)
def omega_total(loadings: np.ndarray, uniquenesses: np.ndarray) -> np.ndarray:
    r"""Return omega total of one factor.

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
    if loadings.ndim == 0 or loadings.shape != uniquenesses.shape or not loadings.shape[-1]:
        raise UserError(
            "omega_total wants the loading and the uniqueness of each item; got arrays of the shapes "
            f"{loadings.shape} and {uniquenesses.shape}."
        )
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
    chi, freedom = n * discrepancy, k * (k + 1) / 2 - parameters
    chi_none, freedom_none = -n * np.linalg.slogdet(correlations)[1], k * (k - 1) / 2
    excess, excess_none = chi - freedom, chi_none - freedom_none
    residuals = (correlations - modeled)[np.triu_indices(k, 1)]
    worst = max(excess_none, excess, 0)
    return {
        "chi-square": chi,
        "degrees of freedom": freedom,
        "CFI": 1 - max(excess, 0) / worst if worst > 0 else 1.0,
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


def noise_eigenvalues(
    rows: int, items: int, *, seed: int, simulations: int = SIMULATIONS, quantile: float = QUANTILE
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the eigenvalues of unrelated normal data, by rank.

    Examples
    --------
    >>> components, factors = noise_eigenvalues(1000, 3, seed=1)
    >>> components.round(1).tolist(), factors.round(1).tolist()
    ([1.1, 1.0, 1.0], [0.1, 0.0, -0.0])
    """
    # Sums of squares of normal data are Wishart distributed: no data need be drawn.
    drawn = stats.wishart.rvs(
        rows - 1, np.eye(items), size=simulations, random_state=np.random.default_rng(seed)
    )
    correlations = correlations_from_covariances(drawn)
    return tuple(
        np.quantile(descending_eigenvalues(matrix), quantile, axis=0)
        for matrix in (correlations, reduced_correlations(correlations))
    )
