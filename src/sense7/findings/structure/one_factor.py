"""One factor for all dimensions: omega, loadings and fit."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import (
    correlations_from_covariances,
    covariances_from_sums,
    joined,
    lacking_items,
    moments_by_participant,
    rows_of,
    too_few,
    usable,
)
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.factor import ITEMS_FOR_A_FACTOR, fit_one_factor, indices_of, omega_total
from sense7.terminal import count_of

__all__ = ["fit_indices", "omega_and_loadings", "omega_row"]

_FIT = {"CFI": "one_factor_turn_cfi", "RMSEA": "one_factor_turn_rmsea", "SRMR": "one_factor_turn_srmr"}
"""Rows of :func:`fit_indices` -> key of the ratings per turn."""

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


def omega_and_loadings(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return omega total of the ratings per turn, and the loadings, by the same fits.

    Parameters
    ----------
    turns : DataFrame, shape (units, items)
        Indexed by participant.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.

    Returns
    -------
    omega, loadings : DataFrame
        Tables of estimates; a loading is the correlation of item and factor (-1..1), listwise.
    """
    fitted = _fitted(turns, bootstrap)
    omega = _omega(fitted, bootstrap) | {"key": "omega_turn_listwise"}
    return estimate_table({"per turn, listwise": omega}, "ratings"), _loadings(turns, fitted, bootstrap)


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
    keys = {name: f"one_factor_loading_turn_{name}" for name in ratings}
    return estimate_table({name: rows[name] for name in ratings}, "item", keys)


def fit_indices(ratings: pd.DataFrame, *, recorded_as: str = "") -> pd.DataFrame:
    r"""Return how well one factor fits: CFI, RMSEA and SRMR, listwise.

    With n units, F the discrepancy (:func:`fit_one_factor`), f = k (k - 3) / 2 degrees of freedom,
    and of the model of no correlation :math:`\chi_0^2 = -n \log|R|` on :math:`f_0 = k (k - 1) / 2`:

    .. math::

        \chi^2 = nF, \quad
        \mathrm{CFI} = 1 - \frac{\max(\chi^2 - f, 0)}{\max(\chi_0^2 - f_0, \chi^2 - f, 0)}, \quad
        \mathrm{RMSEA} = \sqrt{\max(\chi^2 - f, 0) / (fn)}, \quad
        \mathrm{SRMR} = \sqrt{\textstyle\sum_{i \le j} (r_{ij} - \hat r_{ij})^2 / (k (k + 1) / 2)}

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant.
    recorded_as : {"turn", ""}
        Whose keys the rows get: those of the ratings per turn; "" for no keys.

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
    if not reason and not np.isfinite(indices["CFI"]):
        indices, reason = {}, _UNDEFINED
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    rows = {
        name: estimate_row(indices.get(name, np.nan), n=n, unit=name, method=method, reason=reason or about)
        for name in _FIT
    }
    return estimate_table(rows, "index", _FIT if recorded_as == "turn" else None)


def _indices(values: np.ndarray) -> dict[str, float]:
    n, k = values.shape
    covariances = np.cov(values.T, ddof=0)
    fit = fit_one_factor(correlations_from_covariances(covariances))
    modeled = np.outer(fit.loadings, fit.loadings)
    return indices_of(covariances, n, float(fit.discrepancy), modeled, parameters=2 * k)


check_arguments(globals())
