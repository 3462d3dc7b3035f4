"""Weighted kappa: of each dimension with the overall rating of the same turn, and of two raters on any scale.

A dimension and the overall rating of a turn are both one person's, given at one moment. Kappa of the two says how
consistent that person's ratings are; it says nothing about two persons who rate the same turn.
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap, jackknife_error
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.kappa import LEVELS, weighted_kappa
from sense7.findings.ground_truth import labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["NEAREST", "PAIRED", "agreement_with_overall", "kappa_differences"]

PAIRED = "Relational"
"""The dimension of which the paper says that its kappa is the lowest."""

NEAREST = "nearest of the others"
"""Row of :func:`kappa_differences`: the dimension whose kappa exceeds that of Relational least."""


def agreement_with_overall(
    study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear", *, turns: str = "each"
) -> pd.DataFrame:
    """Weighted kappa of each dimension with the overall rating, over the turns that have both or that have all eight.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.
    turns : {"each", "complete"}
        Each dimension over the turns that rate it and have an overall rating, so that the dimensions have turns of
        their own; or all of them over the same turns, those with an overall rating and a rating of every dimension
        that was rated at all.

    Returns
    -------
    DataFrame
        One row per dimension: estimate, low, high (at most 1), n (turns with both ratings, or with all),
        unit, method, reason.

    Raises
    ------
    UserError
        If ``turns`` is another word.

    Notes
    -----
    R: psych::cohen.kappa, tests/reference/reference.R; see :func:`weighted_kappa`. That is of ``"each"``.
    """
    if turns not in {"each", "complete"}:
        raise UserError(f"agreement_with_overall wants 'each' or 'complete' as turns; got {turns!r}.")
    given, among = study.turns, "five levels"
    if turns == "complete":
        given, among = _complete(study), "five levels, turns that rate all"
    rows = {name: _row(study.turns, given, name, bootstrap, weights, among) for name in DIMENSION_NAMES}
    return estimate_table(rows, "dimension")


def _complete(study: Study) -> pd.DataFrame:
    """Turns with an overall rating and a rating of every dimension that was rated at all."""
    return study.turns.dropna(subset=["overall", *study.rated_dimensions])


def _tables(turns: pd.DataFrame, name: str) -> np.ndarray:
    """Table of counts of each turn, a 1 at its levels of the dimension and of the overall rating."""
    cells = np.zeros((len(turns), LEVELS, LEVELS))
    own, overall = (labels(turns[one]).astype(int) - 1 for one in (name, "overall"))
    cells[np.arange(len(turns)), own, overall] = 1
    return cells


def _never(turns: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Which of these ratings was never given, as a reason; "" if each was."""
    missing = ["the overall rating" if one == "overall" else one for one in names if not turns[one].notna().any()]
    return f"{' and '.join(missing)} was never rated in this data set" if missing else ""


def _row(every: pd.DataFrame, turns: pd.DataFrame, name: str, bootstrap, weights: str, among: str) -> dict:
    unit, method = "weighted kappa", f"Cohen's kappa, {weights} weights, {among}"
    both = turns[turns[name].notna() & turns["overall"].notna()]
    if both.empty:
        reason = _never(every, ("overall", name))
        reason = reason or ("no turn has both ratings" if every is turns else "no turn has all ratings")
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    found = bootstrap.estimate(lambda sums: weighted_kappa(sums, weights), _tables(both, name), both["participant"])
    undefined = "both ratings are constant at the same level"
    return bootstrap.row(found, n=len(both), unit=unit, method=method, undefined=undefined)


def kappa_differences(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    r"""Kappa of Relational Continuity minus that of each other dimension, over the turns that rate both.

    .. math:: d_j = \kappa_w(\text{Relational}, \text{overall}) - \kappa_w(j, \text{overall})

    Both kappas are over the turns that have a rating of Relational, of j and overall, so that a difference is none of
    the turns. The intervals hold together for all j (max-t):

    .. math:: d_j \pm c \, \frac{t_{m - 1, 1 - \gamma/2}}{z_{1 - \gamma/2}} \, SE_j

    with :math:`SE_j` by leaving out each of m participants in turn, c the quantile of
    :math:`\max_j |d_j^* - d_j| / s_j` over resamples of participants, :math:`s_j` the standard deviation of
    :math:`d_j^*`, and :math:`\gamma` one minus the confidence. The ratio of quantiles allows for m.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants.
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
    others = [name for name in DIMENSION_NAMES if name != PAIRED]
    unit, method = "weighted kappa", f"difference of Cohen's kappas, {weights} weights, turns that rate both"
    rows, drawn, found = {}, {}, {}
    for name in others:
        turns = study.turns.dropna(subset=["overall", PAIRED, name])
        if turns.empty:
            reason = _never(study.turns, ("overall", PAIRED, name)) or "no turn has all three ratings"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        tables = np.stack([_tables(turns, PAIRED), _tables(turns, name)], axis=1)

        def difference(sums: np.ndarray) -> np.ndarray:
            kappas = weighted_kappa(sums, weights)
            return kappas[..., 0] - kappas[..., 1]

        given = difference, tables, turns["participant"]
        # By both kinds of interval, of which each may say why there is none.
        estimate, _, _, reason = bootstrap.estimate(*given, OWN_SCALE)
        drawn[name] = bootstrap.distribution(*given)
        reason = reason or bootstrap.interval(drawn[name], turns["participant"])[2]
        error = np.nan if reason else jackknife_error(bootstrap.without_each(*given))
        found[name] = estimate, error, reason, turns
    known = [name for name, (_, error, _, _) in found.items() if np.isfinite(error)]
    reach = _reach([drawn[name] - found[name][0] for name in known], bootstrap.confidence)
    how = f"simultaneous {bootstrap.confidence:.0%} max-t interval, {bootstrap.draws:,} resamplings of participants"
    for name, (estimate, error, reason, turns) in found.items():
        tail, people = (1 + bootstrap.confidence) / 2, turns["participant"].nunique()
        width = reach * stdtrit(people - 1, tail) / ndtri(tail) * error if people > 1 else np.nan
        n = len(turns)
        rows[name] = bootstrap.row(
            (estimate, estimate - width, estimate + width, reason),
            n=n,
            unit=unit,
            method=method,
            undefined="a rating is constant at the level of the other",
            how=how,
        )
    rows = {name: rows[name] for name in others}
    rows[NEAREST] = rows[max(found or rows, key=lambda name: np.nan_to_num(rows[name]["estimate"], nan=-np.inf))]
    return estimate_table(rows, f"{PAIRED} minus")


def _reach(departures: list[np.ndarray], confidence: float) -> float:
    """Quantile over the resamples of the largest departure, each counted in its standard deviation."""
    if not departures:
        return np.nan
    largest = np.max([np.abs(one) / np.nanstd(one) for one in departures], axis=0)
    return float(np.quantile(largest[np.isfinite(largest)], confidence))


check_arguments(globals())
