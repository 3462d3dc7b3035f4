"""Weighted kappa: of each dimension with the overall rating of the same turn, and of two raters on any scale.

A dimension and the overall rating of a turn are both one person's, given at one moment. Kappa of the two says how
consistent that person's ratings are; it says nothing about two persons who rate the same turn.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap, jackknife_error
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, under_keys
from sense7.estimators.rater_agreement import LEVELS, weighted_kappa
from sense7.findings.ground_truth import labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["agreement_with_overall", "kappa_differences", "under_claims"]

PAIRED = "Relational"
"""The dimension of which the paper says that its kappa is the lowest."""

NEAREST = "nearest of the others"
"""Row of :func:`kappa_differences`: the dimension whose kappa exceeds that of Relational least."""

_CLAIMED = {"kappa_linear_Affective": "kappa_affective", "kappa_linear_Relational": "kappa_relational"}
"""Key of a row -> key under which the ledger compares it with a published value."""


def agreement_with_overall(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    """Return weighted kappa of each dimension with the overall rating, over the turns that have both.

    Parameters
    ----------
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.

    Returns
    -------
    DataFrame
        One row per dimension: estimate, low, high (at most 1), n (turns with both ratings),
        unit, method, reason.

    Notes
    -----
    R: psych::cohen.kappa, tests/reference/reference.R; see :func:`weighted_kappa`.
    """
    turns = study.turns
    rows = {name: kappa_row(turns, turns, name, bootstrap, weights, "five levels") for name in DIMENSION_NAMES}
    return estimate_table(rows, "dimension", {name: f"kappa_{weights}_{name}" for name in rows})


def under_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Return the kappas that the ledger compares with a published value, under the ledger's key."""
    return under_keys(table, _CLAIMED)


def _tables(turns: pd.DataFrame, name: str) -> np.ndarray:
    """Table of counts of each turn, a 1 at its levels of the dimension and of the overall rating."""
    cells = np.zeros((len(turns), LEVELS, LEVELS))
    own, overall = (labels(turns[rating]).astype(int) - 1 for rating in (name, "overall"))
    cells[np.arange(len(turns)), own, overall] = 1
    return cells


def _never(turns: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Which of these ratings was never given, as a reason; "" if each was."""
    missing = ["the overall rating" if name == "overall" else name for name in names if turns[name].isna().all()]
    return f"{' and '.join(missing)} was never rated in this data set" if missing else ""


def kappa_row(every: pd.DataFrame, turns: pd.DataFrame, name: str, bootstrap, weights: str, among: str) -> dict:
    """Return weighted kappa of a dimension with the overall rating over some of all turns, as a row of estimates."""
    unit, method = "weighted kappa", f"Cohen's kappa, {weights} weights, {among}"
    both = turns[turns[name].notna() & turns["overall"].notna()]
    if both.empty:
        reason = _never(every, ("overall", name))
        reason = reason or ("no turn has both ratings" if every is turns else "no turn has all ratings")
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    kappa = bootstrap.estimate(lambda sums: weighted_kappa(sums, weights), _tables(both, name), both["participant"])
    undefined = "both ratings are constant at the same level"
    return bootstrap.row(kappa, n=len(both), unit=unit, method=method, undefined=undefined)


def kappa_differences(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    r"""Return kappa of Relational Continuity minus that of each other dimension, over the turns that rate both.

    .. math:: d_j = \kappa_w(\text{Relational}, \text{overall}) - \kappa_w(j, \text{overall})

    Both kappas are over the turns that have a rating of Relational, of j and overall, so that a difference is none of
    the turns. The intervals hold together for all j (max-t):

    .. math:: d_j \pm c \, \frac{t_{m - 1, 1 - \gamma/2}}{z_{1 - \gamma/2}} \, SE_j

    with :math:`SE_j` by leaving out each of m participants in turn, c the quantile of
    :math:`\max_j |d_j^* - d_j| / s_j` over resamples of participants, :math:`s_j` the standard deviation of
    :math:`d_j^*`, and :math:`\gamma` one minus the confidence. The ratio of quantiles allows for m.

    Parameters
    ----------
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.

    Returns
    -------
    DataFrame
        One row for each other dimension, and once more that with the largest difference (``NEAREST``): estimate, low,
        high, n (turns), unit, method, reason. Relational is the lowest of all if the interval of ``NEAREST`` lies
        below zero.

    References
    ----------
    Hothorn, T., Bretz, F., & Westfall, P. (2008). Biometrical Journal 50, 346-363 (max-t).
    """
    unit, method = "weighted kappa", f"difference of Cohen's kappas, {weights} weights, turns that rate both"
    others = [name for name in DIMENSION_NAMES if name != PAIRED]
    rows, differences = {}, {}
    for name in others:
        turns = study.turns.dropna(subset=["overall", PAIRED, name])
        if turns.empty:
            reason = _never(study.turns, ("overall", PAIRED, name)) or "no turn has all three ratings"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        differences[name] = _difference(turns, name, bootstrap, weights)
    widest = _widest_departure([one for one in differences.values() if np.isfinite(one.error)], bootstrap.confidence)
    resamplings = f"{bootstrap.draws:,} resamplings of participants"
    for name, difference in differences.items():
        rows[name] = bootstrap.row(
            difference.with_limits(widest, bootstrap.confidence),
            n=difference.turns,
            unit=unit,
            method=method,
            undefined="a rating is constant at the level of the other",
            how=f"simultaneous {bootstrap.confidence:.0%} max-t interval, {resamplings}",
        )
    rows = {name: rows[name] for name in others}
    rows[NEAREST] = rows[max(differences or rows, key=lambda name: np.nan_to_num(rows[name]["estimate"], nan=-np.inf))]
    keys = {name: f"kappa_difference_{name}" for name in others} if weights == "linear" else {}
    keys[NEAREST] = "kappa_difference_nearest" if weights == "linear" else "kappa_difference_quadratic_nearest"
    return estimate_table(rows, f"{PAIRED} minus", keys)


class _Difference(NamedTuple):
    """Difference of two kappas: estimate, jackknife error, resamples, turns, participants, why there is no interval."""

    estimate: float
    error: float
    resamples: np.ndarray
    turns: int
    participants: int
    reason: str

    def with_limits(self, widest: float, confidence: float) -> Estimate:
        """Return the estimate with limits at the widest departure, in standard errors."""
        tail, width = (1 + confidence) / 2, np.nan
        if self.participants > 1:
            width = widest * stdtrit(self.participants - 1, tail) / ndtri(tail) * self.error
        return Estimate(self.estimate, self.estimate - width, self.estimate + width, self.reason)


def _difference(turns: pd.DataFrame, name: str, bootstrap: ParticipantBootstrap, weights: str) -> _Difference:
    def of_sums(sums: np.ndarray) -> np.ndarray:
        kappas = weighted_kappa(sums, weights)
        return kappas[..., 0] - kappas[..., 1]

    people = turns["participant"]
    data = of_sums, np.stack([_tables(turns, PAIRED), _tables(turns, name)], axis=1), people
    # Each kind of interval may have a reason why there is none.
    estimate, _, _, reason = bootstrap.estimate(*data, OWN_SCALE)
    resamples = bootstrap.distribution(*data)
    reason = reason or bootstrap.interval(resamples, people)[2]
    error = np.nan if reason else jackknife_error(bootstrap.without_each(*data))
    return _Difference(estimate, error, resamples, len(turns), people.nunique(), reason)


def _widest_departure(differences: list[_Difference], confidence: float) -> float:
    """Quantile over the resamples of the largest departure, each in its standard deviations."""
    if not differences:
        return np.nan
    departures = [difference.resamples - difference.estimate for difference in differences]
    largest = np.max([np.abs(one) / np.nanstd(one) for one in departures], axis=0)
    return float(np.quantile(largest[np.isfinite(largest)], confidence))


check_arguments(globals())
