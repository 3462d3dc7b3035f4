"""One factor for all dimensions: omega, loadings and fit."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.factor import FIT_KEYS, ITEMS_FOR_A_FACTOR, fit_one_factor, indices_of, omega_total
from sense7.estimators.item_analysis import (
    correlations_from_covariances,
    joined,
    lacking_items,
    rows_of,
    too_few,
    usable,
)
from sense7.terminal import count_of

__all__ = [
    "OMEGAS",
    "OMEGA_KEYS",
    "fit_indices",
    "loadings",
    "omega_row",
    "omega_table",
    "omegas_and_loadings",
]

OMEGAS = {
    "per turn, listwise": ("omega_turn_listwise", "turn", []),
    "per turn, without Relational": ("omega_turn_without_relational", "turn", ["Relational"]),
    "after the conversation, listwise": ("omega_post", "post", []),
}
"""The omegas of the book: name -> key, ratings, dimensions left out."""

OMEGA_KEYS = {name: key for name, (key, *_) in OMEGAS.items()}

ITEMS_FOR_A_TEST = 4
FEWEST_UNITS = 20


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


check_arguments(globals())
