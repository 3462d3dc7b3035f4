"""One factor for all dimensions: omega, loadings and fit."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, keys_of_rows
from sense7.estimators.factor import FIT_INDICES, ITEMS_FOR_A_FACTOR, fit_one_factor, indices_of, omega_total
from sense7.estimators.item_analysis import (
    correlations_from_covariances,
    joined,
    lacking_items,
    rows_of,
    too_few,
    usable,
)
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["fit_indices", "omega_row", "omegas_and_loadings"]

_OMEGAS = {
    "per turn, listwise": ("omega_turn_listwise", "turn", []),
    "per turn, without Relational": ("omega_turn_without_relational", "turn", ["Relational"]),
    "after the conversation, listwise": ("omega_post", "post", []),
}
"""Omegas of :func:`omegas_and_loadings`: row -> key, ratings, dimensions left out."""

_LOADINGS = """
    one_factor_loading_turn_Affective one_factor_loading_turn_Cognitive one_factor_loading_turn_Response
    one_factor_loading_turn_Prosocial one_factor_loading_turn_Interest one_factor_loading_turn_Contextual
    one_factor_loading_turn_Relational
"""
"""Keys of the loadings of :func:`omegas_and_loadings`, in the order of the dimensions."""

_FIT = {
    "turn": """
        one_factor_turn_chisq one_factor_turn_df one_factor_turn_cfi one_factor_turn_tli one_factor_turn_rmsea
        one_factor_turn_srmr one_factor_turn_log_likelihood one_factor_turn_aic one_factor_turn_bic
    """,
    "post": """
        one_factor_post_chisq one_factor_post_df one_factor_post_cfi one_factor_post_tli one_factor_post_rmsea
        one_factor_post_srmr one_factor_post_log_likelihood one_factor_post_aic one_factor_post_bic
    """,
}
"""Ratings -> keys of :func:`fit_indices`, in the order of its rows."""

ITEMS_FOR_A_TEST = 4
FEWEST_UNITS = 20


def _omega_and_loadings(sums: np.ndarray) -> np.ndarray:
    fit = fit_one_factor(correlations_from_covariances(covariances_from_sums(sums)))
    return np.concatenate([omega_total(fit.loadings, fit.uniquenesses)[..., None], fit.loadings], axis=-1)


class _Fitted(NamedTuple):
    """Units used, note on what was left out, estimates of omega and then of the loadings, why there are none."""

    used: pd.DataFrame
    note: str
    estimates: list[Estimate]
    reason: str


def _fitted(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> _Fitted:
    used, note = usable(ratings)
    if reason := too_few(used, ITEMS_FOR_A_FACTOR, FEWEST_UNITS):
        return _Fitted(used, note, [], reason)
    moments = moments_by_participant(used.to_numpy(dtype=float), used.index)
    return _Fitted(used, note, bootstrap.estimates(_omega_and_loadings, *moments), "")


_UNDEFINED = "no factor model can be fitted: some of the ratings are the same, or sums of others"


def omega_row(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Return omega total of the one-factor maximum-likelihood model, listwise, as a row of estimates.

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


def _omega(fitted: _Fitted, bootstrap: ParticipantBootstrap) -> dict:
    used, note, estimates, reason = fitted
    items = count_of(used.shape[1], "item")
    common = {
        "n": len(used),
        "unit": "omega",
        "method": f"omega total, one factor by maximum likelihood, listwise, {items}{note}",
    }
    if reason:
        return estimate_row(**common, reason=reason)
    row = bootstrap.row(estimates[0], **common, undefined=_UNDEFINED)
    return row | {"reason": joined(row["reason"], lacking_items(used, note))}


def omegas_and_loadings(
    turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return omega total per turn (with and without Relational) and after the conversation, and loadings per turn.

    Both tables rest on the same fits.

    Parameters
    ----------
    turns, post_task : DataFrame, shape (units, items)
        Indexed by participant.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.

    Returns
    -------
    omegas, loadings : DataFrame
        Tables of estimates; a loading is the correlation of item and factor (-1..1), listwise.
    """
    frames = {"turn": turns, "post": post_task}
    fits = {
        name: _fitted(frames[level].drop(columns=left_out), bootstrap) for name, (_, level, left_out) in _OMEGAS.items()
    }
    omegas = {name: _omega(fit, bootstrap) | {"key": _OMEGAS[name][0]} for name, fit in fits.items()}
    return estimate_table(omegas, "ratings"), _loadings(turns, fits["per turn, listwise"], bootstrap)


def _loadings(ratings: pd.DataFrame, fitted: _Fitted, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    used, note, estimates, reason = fitted
    unit, method = "loading", f"one factor by maximum likelihood, listwise, {count_of(used.shape[1], 'item')}{note}"
    rows = {}
    if not reason:
        counts = [len(used)] * used.shape[1]
        rows = rows_of(used, estimates[1:], bootstrap, counts=counts, unit=unit, method=method, undefined=_UNDEFINED)
    never = ratings.columns[~ratings.notna().any()]
    for name in ratings:
        why = "never rated in this data set" if name in never else reason or "does not vary in the units used"
        rows.setdefault(name, estimate_row(n=len(used), unit=unit, method=method, reason=why))
    return estimate_table({name: rows[name] for name in ratings}, "item", keys_of_rows(DIMENSION_NAMES, _LOADINGS))


def fit_indices(ratings: pd.DataFrame, *, recorded_as: str = "") -> pd.DataFrame:
    r"""Return how well one factor fits: chi-square and indices from it, listwise.

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
    recorded_as : {"turn", "post", ""}
        Whose keys the rows get: those of the ratings per turn, or after the conversation; "" for no keys.

    Returns
    -------
    DataFrame
        One row per index: estimate, n, unit, method, reason. There are no intervals and
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
    indices = {} if reason else _indices(used.to_numpy(dtype=float))
    if not reason and not np.isfinite(indices["chi-square"]):
        indices, reason = {}, _UNDEFINED
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    rows = {
        name: estimate_row(indices.get(name, np.nan), n=n, unit=name, method=method, reason=reason or about)
        for name in FIT_INDICES
    }
    return estimate_table(rows, "index", keys_of_rows(FIT_INDICES, _FIT.get(recorded_as, "")))


def _indices(values: np.ndarray) -> dict[str, float]:
    n, k = values.shape
    covariances = np.cov(values.T, ddof=0)
    fit = fit_one_factor(correlations_from_covariances(covariances))
    modeled = np.outer(fit.loadings, fit.loadings)
    return indices_of(covariances, n, float(fit.discrepancy), modeled, parameters=2 * k)


check_arguments(globals())
