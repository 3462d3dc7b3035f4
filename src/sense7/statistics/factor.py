r"""One factor behind the ratings: its loadings, omega, and how well it fits.

The model is :math:`R = \lambda\lambda^\top + \Psi` for the correlations R of k items, with
loadings :math:`\lambda` and uniquenesses :math:`\Psi = \mathrm{diag}(\psi)`. Units without one of
the items are left out (listwise): the correlations of different units need not fit together.
"""

import contextlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.structure import (
    correlations_from_covariances,
    covariances_from_sums,
    joined,
    lacking_items,
    moments_by_participant,
    rows_of,
    too_few,
    unexplained_variances,
    usable,
)
from sense7.terminal import count_of

__all__ = [
    "FIT_KEYS",
    "OMEGAS",
    "OMEGA_KEYS",
    "OneFactor",
    "fit_indices",
    "fit_one_factor",
    "indices_of",
    "loadings",
    "minres_loadings",
    "omega_row",
    "omega_table",
    "omega_total",
    "omegas_and_loadings",
]

OMEGAS = {
    "per turn, listwise": ("omega_turn_listwise", "turn", []),
    "per turn, without Relational": ("omega_turn_without_relational", "turn", ["Relational"]),
    "after the conversation, listwise": ("omega_post", "post", []),
}
"""The omegas of the book: name -> key, ratings, dimensions left out."""

OMEGA_KEYS = {name: key for name, (key, *_) in OMEGAS.items()}

FIT_KEYS = {
    "chi-square": "chisq",
    "degrees of freedom": "df",
    "CFI": "cfi",
    "TLI": "tli",
    "RMSEA": "rmsea",
    "SRMR": "srmr",
    "log-likelihood": "log_likelihood",
    "AIC": "aic",
    "BIC": "bic",
}
"""Rows of :func:`fit_indices` -> end of the key."""

ITEMS_FOR_A_FACTOR = 3
ITEMS_FOR_A_TEST = 4
FEWEST_UNITS = 20
_SMALLEST, _LARGEST = np.log(0.005), 0.0
"""Bounds of the logarithm of a uniqueness, as stats::factanal (R) has them."""

_STEPS = 100
_CONVERGED = 1e-8


@dataclass(frozen=True, eq=False)
class OneFactor:
    """A fitted one-factor model, or many.

    Attributes
    ----------
    loadings, uniquenesses : array, shape (..., k)
        In the metric of correlations; the sum of the loadings is not negative.
    discrepancy : array, shape (...)
        Value of the maximum-likelihood discrepancy; times n it is chi-square.
    """

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

    Parameters
    ----------
    correlations : array, shape (..., k, k)
        k at least 3; for fewer items the model is not identified.

    Returns
    -------
    OneFactor
        NaN where a matrix is not positive definite, or the method did not converge. Where hardly
        anything is common, there may be several minima, of which this is one.

    References
    ----------
    Joreskog, K. G. (1967). Psychometrika 32, 443-482. Clarke, M. R. B. (1970). British Journal of
    Mathematical and Statistical Psychology 23, 43-52 (second derivatives).

    Notes
    -----
    R: psych::fa(nfactors=1, fm='ml'), semTools::compRelSEM(lavaan::cfa), tests/reference/reference.R; equal to 5e-5
    and better. Checked against a general
    minimiser.

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
    values, found = np.full(len(matrices), np.nan), np.full(unexplained.shape, np.nan)
    sound = sound[np.isfinite(logs[sound]).all(axis=1)]
    values[sound], _, _, found[sound] = _discrepancy(matrices[sound], logs[sound])
    shape = correlations.shape[:-1]
    return OneFactor(found.reshape(shape), np.exp(logs).reshape(shape), values.reshape(shape[:-1]))


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
    hessian = weighted * (others @ others.transpose(0, 2, 1)) + mixed * direction[:, :, None] * direction[:, None, :]
    signs = np.where(direction.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return discrepancy, gradient, hessian, signs * np.sqrt(np.maximum(first - 1, 0)) * direction / scale


def _minimised(matrices: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Logarithms of the uniquenesses at the minimum; NaN where it was not reached."""
    logs = np.clip(start, _SMALLEST, _LARGEST)
    going = np.arange(len(logs))
    damping = np.zeros(len(logs))
    value, gradient, hessian, _ = _discrepancy(matrices, logs)
    for _ in range(_STEPS):
        # At a bound, and pushed against it: held there.
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
        damping[going] = np.where(better, damping[going] / 10, np.maximum(10 * damping[going], 1e-3))
        damping[damping < 1e-7] = 0
        taken = going[better]
        logs[taken] = trial[better]
        value[taken], gradient[taken], hessian[taken] = (result[better] for result in results[:3])
    held = ((logs <= _SMALLEST) & (gradient > 0)) | ((logs >= _LARGEST) & (gradient < 0))
    reached = np.where(held, 0.0, np.abs(gradient)).max(axis=1, initial=0) < 1e-5
    return np.where(reached[:, None], logs, np.nan)


def _step(slope: np.ndarray, hessian: np.ndarray, free: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Newton steps of the free logarithms, none of the others."""
    curvature = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    if not damping.any():
        whole = curvature + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(slope.shape[1])
        with contextlib.suppress(np.linalg.LinAlgError):
            np.linalg.cholesky(whole)  # an error where one of them is not positive definite
            return np.where(free, -np.linalg.solve(whole, slope[:, :, None])[:, :, 0], 0.0)
    # Downhill even where the surface is a saddle, and far in the flat valleys of small uniquenesses.
    bends, axes = np.linalg.eigh(curvature)
    along = (axes * slope[:, :, None]).sum(axis=1) / (np.maximum(np.abs(bends), 1e-7) + damping[:, None])
    return np.where(free, -(axes * along[:, None, :]).sum(axis=2), 0.0)


def minres_loadings(correlations: np.ndarray) -> np.ndarray:
    r"""Loadings of one factor by least squares (minimum residuals).

    .. math:: \min_\lambda \sum_{i < j} (r_{ij} - \lambda_i \lambda_j)^2, \quad |\lambda_i| \le \sqrt{0.995}

    Parameters
    ----------
    correlations : array, shape (k, k)
        One matrix; k at least 3.

    Returns
    -------
    array, shape (k,)

    References
    ----------
    Harman, H. H., & Jones, W. H. (1966). Psychometrika 31, 351-368.

    Notes
    -----
    R: psych::fa(nfactors=1, fm='minres'), tests/reference/reference.R; equal to 5e-5.

    Examples
    --------
    >>> loadings = np.array([0.9, 0.8, 0.7, 0.6])
    >>> minres_loadings(np.outer(loadings, loadings) + np.diag(1 - loadings**2)).round(6).tolist()
    [0.9, 0.8, 0.7, 0.6]
    """
    first, second = np.triu_indices(len(correlations), 1)
    values, vectors = np.linalg.eigh(correlations)
    bound = np.sqrt(0.995)
    start = vectors[:, -1] * np.sqrt(max(values[-1], 0)) * 0.9
    start = np.clip(start * (-1 if start.sum() < 0 else 1), -0.95 * bound, 0.95 * bound)
    target = correlations[first, second]
    solved = least_squares(
        lambda loading: loading[first] * loading[second] - target, start, bounds=(-bound, bound), xtol=1e-12, ftol=1e-12
    )
    return solved.x


def omega_total(loadings: np.ndarray, uniquenesses: np.ndarray) -> np.ndarray:
    r"""Omega total of one factor.

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
    common = loadings.sum(axis=-1) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return common / (common + uniquenesses.sum(axis=-1))


def _omega_and_loadings(sums: np.ndarray) -> np.ndarray:
    fit = fit_one_factor(correlations_from_covariances(covariances_from_sums(sums)))
    return np.concatenate([omega_total(fit.loadings, fit.uniquenesses)[..., None], fit.loadings], axis=-1)


def _fitted(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> tuple[pd.DataFrame, str, list, str]:
    """Units used, note on what was left out, estimates of omega and the loadings, reason if there are none."""
    used, note = usable(ratings)
    if reason := too_few(used, ITEMS_FOR_A_FACTOR, FEWEST_UNITS):
        return used, note, [], reason
    results = bootstrap.estimates(_omega_and_loadings, *moments_by_participant(used.to_numpy(dtype=float), used.index))
    return used, note, results, ""


_UNDEFINED = "no factor model can be fitted: some of the ratings are the same, or sums of others"


def omega_row(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Omega total of the one-factor maximum-likelihood model, listwise, as a row of estimates.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items never rated or without variation are left out, and named in
        the method.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants; the model is fitted again in each.

    Returns
    -------
    dict
        Row of estimates; n is the number of units that rate every item.

    Notes
    -----
    R: psych::fa(nfactors=1, fm='ml'), tests/reference/reference.R; equal to 5e-5.
    """
    return _omega(_fitted(ratings, bootstrap), bootstrap)


def _omega(fitted: tuple[pd.DataFrame, str, list, str], bootstrap: ParticipantBootstrap) -> dict:
    used, note, results, reason = fitted
    items = count_of(used.shape[1], "item")
    unit, method = "omega", f"omega total, one factor by maximum likelihood, listwise, {items}{note}"
    if reason:
        return estimate_row(n=len(used), unit=unit, method=method, reason=reason)
    rows = rows_of(
        ["omega"],
        results[:1],
        bootstrap,
        counts=[len(used)],
        unit=unit,
        method=method,
        undefined=_UNDEFINED,
        lacking=lacking_items(used, note),
    )
    return rows["omega"]


def omega_table(turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Omega total per turn (with and without Relational) and after the conversation: the rows of ``OMEGAS``."""
    return omegas_and_loadings(turns, post_task, bootstrap)[0]


def omegas_and_loadings(
    turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of :func:`omega_table`, and the :func:`loadings` of turns from the same fits.

    Parameters
    ----------
    turns, post_task : DataFrame, shape (units, items)
        Indexed by participant.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    """
    frames = {"turn": turns, "post": post_task}
    fits = {
        name: _fitted(frames[which].drop(columns=left_out), bootstrap) for name, (_, which, left_out) in OMEGAS.items()
    }
    omegas = estimate_table({name: _omega(fit, bootstrap) for name, fit in fits.items()}, "ratings")
    whole = next(name for name, (_, which, left_out) in OMEGAS.items() if which == "turn" and not left_out)
    return omegas, _loadings(turns, fits[whole], bootstrap)


def loadings(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Loading of each item on the one factor, by maximum likelihood, listwise.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.

    Returns
    -------
    DataFrame
        One row per item: estimate, low, high (-1..1, the correlation of item and factor), n, unit,
        method, reason.
    """
    return _loadings(ratings, _fitted(ratings, bootstrap), bootstrap)


def _loadings(ratings: pd.DataFrame, fitted, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    used, note, results, reason = fitted
    unit, method = "loading", f"one factor by maximum likelihood, listwise, {count_of(used.shape[1], 'item')}{note}"
    rows = {}
    if not reason:
        counts = [len(used)] * used.shape[1]
        rows = rows_of(used, results[1:], bootstrap, counts=counts, unit=unit, method=method, undefined=_UNDEFINED)
    never = ratings.columns[~ratings.notna().any()]
    for name in ratings:
        why = "never rated in this data set" if name in never else reason or "does not vary in the units used"
        rows.setdefault(name, estimate_row(n=len(used), unit=unit, method=method, reason=why))
    return estimate_table({name: rows[name] for name in ratings}, "item")


def fit_indices(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""How well one factor fits: chi-square and indices from it, listwise.

    With n units, F the discrepancy (:func:`fit_one_factor`), f = k (k - 3) / 2 degrees of freedom,
    and of the model of no correlation :math:`\chi_0^2 = -n \log|R|` on :math:`f_0 = k (k - 1) / 2`:

    .. math::

        \chi^2 = nF, \quad
        \mathrm{CFI} = 1 - \frac{\max(\chi^2 - f, 0)}{\max(\chi_0^2 - f_0, \chi^2 - f, 0)}, \quad
        \mathrm{TLI} = \frac{\chi_0^2 / f_0 - \chi^2 / f}{\chi_0^2 / f_0 - 1},

        \mathrm{RMSEA} = \sqrt{\max(\chi^2 - f, 0) / (fn)}, \quad
        \mathrm{SRMR} = \sqrt{\textstyle\sum_{i \le j} (r_{ij} - \hat r_{ij})^2 / (k (k + 1) / 2)}

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant.

    Returns
    -------
    DataFrame
        One row per index (``FIT_KEYS``): estimate, n, unit, method, reason. There are no intervals and
        no test: chi-square takes units as independent, which turns are not, and resampling inflates misfit.

    References
    ----------
    Bentler, P. M. (1990). Psychological Bulletin 107, 238-246. Hu, L., & Bentler, P. M. (1999).
    Structural Equation Modeling 6, 1-55.

    Notes
    -----
    R: lavaan::fitMeasures(lavaan::cfa(std.lv=TRUE)), tests/reference/reference.R; equal to 2e-4.
    """
    used, note = usable(ratings)
    n, k = used.shape
    method = f"one factor by maximum likelihood, listwise, {count_of(k, 'item')}{note}"
    reason = too_few(used, ITEMS_FOR_A_TEST, FEWEST_UNITS)
    found = {} if reason else _indices(used.to_numpy(dtype=float))
    if not reason and not np.isfinite(found["chi-square"]):
        found, reason = {}, _UNDEFINED
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    rows = {
        name: estimate_row(found.get(name, np.nan), n=n, unit=name, method=method, reason=reason or about)
        for name in FIT_KEYS
    }
    return estimate_table(rows, "index")


def _indices(values: np.ndarray) -> dict[str, float]:
    n, k = values.shape
    covariances = np.cov(values.T, ddof=0)
    fit = fit_one_factor(correlations_from_covariances(covariances))
    modeled = np.outer(fit.loadings, fit.loadings)
    return indices_of(covariances, n, float(fit.discrepancy), modeled, parameters=2 * k)


def indices_of(
    covariances: np.ndarray, n: float, discrepancy: float, modeled: np.ndarray, *, parameters: int
) -> dict[str, float]:
    r"""Fit indices of any model of the covariances of k items, by the formulas of :func:`fit_indices`.

    Parameters
    ----------
    covariances : array, shape (k, k)
        By maximum likelihood: divided by n.
    n : float
        Number of independent units.
    discrepancy : float
        Value of the maximum-likelihood discrepancy of the model; NaN if it could not be fitted.
    modeled : array, shape (k, k)
        Correlations by the model; the diagonal is not read.
    parameters : int
        Free parameters of the model, the variances of the items included: degrees of freedom are
        :math:`k (k + 1) / 2` less these. At least one is left.

    Returns
    -------
    dict
        The rows of ``FIT_KEYS``; NaN if the model could not be fitted.

    Examples
    --------
    A model that leaves no residual: chi-square is zero, and the comparative fit index one.

    >>> found = indices_of(np.eye(4) + 1, 100, 0.0, np.full((4, 4), 0.5), parameters=8)
    >>> found["chi-square"], found["degrees of freedom"], float(found["CFI"])
    (0.0, 2.0, 1.0)
    """
    if not np.isfinite(discrepancy):
        return dict.fromkeys(FIT_KEYS, np.nan)
    k = len(covariances)
    correlations = correlations_from_covariances(covariances)
    chi, freedom = n * discrepancy, k * (k + 1) / 2 - parameters
    chi_none, freedom_none = -n * np.linalg.slogdet(correlations)[1], k * (k - 1) / 2
    excess, excess_none = chi - freedom, chi_none - freedom_none
    residuals = (correlations - modeled)[np.triu_indices(k, 1)]
    saturated = -n / 2 * (k * np.log(2 * np.pi) + np.linalg.slogdet(covariances)[1] + k)
    likelihood = saturated - chi / 2
    worst = max(excess_none, excess, 0)
    return {
        "chi-square": chi,
        "degrees of freedom": freedom,
        "CFI": 1 - max(excess, 0) / worst if worst > 0 else 1.0,
        "TLI": (chi_none / freedom_none - chi / freedom) / (chi_none / freedom_none - 1),
        "RMSEA": np.sqrt(max(excess, 0) / (freedom * n)),
        "SRMR": np.sqrt((residuals**2).sum() / (k * (k + 1) / 2)),
        "log-likelihood": likelihood,
        "AIC": -2 * likelihood + 2 * parameters,
        "BIC": -2 * likelihood + parameters * np.log(n),
    }


check_arguments(globals())
