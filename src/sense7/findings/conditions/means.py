"""Mean ratings of the conditions, their differences, and which condition is rated highest."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.effect_size import cohens_d, group_moments, mean_difference
from sense7.estimators.estimates import estimate_row, estimate_table, safe_names
from sense7.findings.conditions.pairs import (
    NO_CONDITION,
    ONE_CONDITION,
    condition_pairs,
    no_pairs,
    ordered_conditions,
    pairs_in_keys,
)
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["best_condition", "condition_differences", "condition_means", "prompted_minus_mean_of_others"]

RATINGS = {
    "ground_truth": "ground truth of the conversation",
    "overall": "mean overall rating of the conversation's turns",
    **{name: f"mean {name} rating of the conversation's turns" for name in DIMENSION_NAMES},
}
"""What a conversation can be compared on: its mean over all rated dimensions, or one rating."""

_POINTS = "points (levels from 1 to 5)"

_MEANS = {"ground_truth": "condition_mean", "overall": "condition_mean_overall"}
"""Rating -> beginning of the key of a condition's mean."""

_EQUAL = 1e-9
"""Means that differ by no more are equal but for rounding."""


def compared_conversations(study: Study, rating: str, ratings: pd.DataFrame | None = None) -> pd.DataFrame:
    """Conversations with a condition and the rating, as ``y``; ``ratings`` are the :func:`conversation_ratings`."""
    frame = conversation_ratings(study) if ratings is None else ratings
    frame = frame.assign(y=frame[rating].astype(float))
    return frame[frame["y"].notna() & frame["condition"].notna() & frame["participant"].notna()]


def why_not_compared(study: Study, rating: str, compared: pd.DataFrame | None = None) -> str:
    """Why no condition can be rated or compared at all; "" if it can. ``compared`` are its rows, if they are known."""
    if not study.conditions:
        return NO_CONDITION
    if (compared_conversations(study, rating) if compared is None else compared).empty:
        return f"no conversation with a condition has a {RATINGS[rating]} in this data set"
    return ""


def condition_means(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> pd.DataFrame:
    """Return the mean rating of the conversations of each condition.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    rating : str
        One of ``RATINGS``. Conversations without it are left out.

    Returns
    -------
    DataFrame
        One row per condition: estimate, low, high (1..5), n (conversations), unit, method, reason.
    """
    frame = compared_conversations(study, rating)
    unit, method = "level (from 1 to 5)", f"mean over conversations of the {RATINGS[rating]}"
    rows = {}
    for name in ordered_conditions(study):
        own = frame[frame["condition"] == name]
        if own.empty:
            reason = (
                why_not_compared(study, rating, frame) or f"no conversation of this condition has a {RATINGS[rating]}"
            )
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        mean = bootstrap.estimate(ratio, np.column_stack([own["y"], np.ones(len(own))]), own["participant"])
        rows[name] = bootstrap.row(mean, n=len(own), unit=unit, method=method)
    if not rows:
        rows["no condition"] = estimate_row(n=0, unit=unit, method=method, reason=NO_CONDITION)
    keys = {}
    if start := _MEANS.get(rating):
        keys = {name: f"{start}_{safe}" for name, safe in safe_names(study.conditions).items()}
    return estimate_table(rows, "condition", keys)


def condition_differences(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth", *, standardized: bool = False
) -> pd.DataFrame:
    r"""Return the difference of the means of each pair of conditions, in points or as Cohen's d.

    .. math:: \bar y_a - \bar y_b, \quad d = (\bar y_a - \bar y_b) / s_{ab}

    over conversations, with s the pooled standard deviation of conversations in the two conditions
    (:func:`sense7.estimators.effect_size.cohens_d`).

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; they also carry what a participant's conversations
        in both conditions have in common.
    rating : str
        One of ``RATINGS``. Conversations without it are left out.
    standardized : bool
        Whether as d.

    Returns
    -------
    DataFrame
        One row per pair, the prompted condition first, then by name; one row that says so if there are fewer
        than two conditions, or more than 12. n counts conversations.
    """
    frame = compared_conversations(study, rating)
    method = "difference of means over conversations"
    if standardized:
        unit, statistic, undefined = "Cohen's d", cohens_d, "too few conversations, or ratings that do not vary"
    else:
        unit, statistic, undefined = _POINTS, mean_difference, "no rated conversation"
    if not condition_pairs(study):
        none = estimate_row(n=len(frame), unit=unit, method=method, reason=no_pairs(study))
        return estimate_table({"no pair": none}, "pair", {})
    method += ", in standard deviations" if standardized else ""
    rows = {}
    for name, pair in condition_pairs(study).items():
        both = frame[frame["condition"].isin(pair)]
        if empty := [one for one in pair if not (both["condition"] == one).any()]:
            reason = f"no rated conversation in {' and '.join(empty)}"
            rows[name] = estimate_row(n=len(both), unit=unit, method=method, reason=reason)
            continue
        moments = group_moments(both["y"], both["condition"] == pair[1])
        difference = bootstrap.estimate(statistic, moments, both["participant"])
        rows[name] = bootstrap.row(difference, n=len(both), unit=unit, method=method, undefined=undefined)
    keys = {name: f"condition_d_{pair}" for name, pair in pairs_in_keys(study).items()}
    return estimate_table(rows, "pair", keys if standardized and rating == "ground_truth" else None)


def prompted_minus_mean_of_others(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the prompted condition's mean ground truth minus the mean of the other conditions' means.

    Each of the other conditions counts the same, however many conversations it has.

    Returns
    -------
    DataFrame
        One row; n counts conversations.
    """
    method = "mean of the prompted condition minus mean of the others' means"
    frame = compared_conversations(study, "ground_truth")
    present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    reason = why_not_compared(study, "ground_truth", frame)
    if not reason and study.prompted_condition is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    if not reason and study.prompted_condition not in present:
        reason = "no rated conversation in the prompted condition"
    if not reason and len(present) < 2:
        reason = "no rated conversation in any other condition"
    common = {"n": len(frame), "unit": _POINTS, "method": method}
    row = estimate_row(**common, reason=reason)
    if not reason:
        difference = bootstrap.estimate(_first_minus_rest, _by_condition(frame, present), frame["participant"])
        row = bootstrap.row(difference, **common, undefined="the ratings do not vary")
    keys = {"ground truth": "prompted_difference_ground_truth"}
    return estimate_table({"ground truth": row}, "rating", keys)


def _by_condition(frame: pd.DataFrame, conditions: list[str]) -> np.ndarray:
    """Value and a one of each row, in the column of its condition: (rows, conditions, 2)."""
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    return groups[:, :, None] * np.column_stack([frame["y"], np.ones(len(frame))])[:, None, :]


def _first_minus_rest(sums: np.ndarray) -> np.ndarray:
    means = sums[..., 0] / sums[..., 1]
    return means[..., 0] - means[..., 1:].mean(axis=-1)


def best_condition(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Return the condition with the highest mean, and the share of bootstrap resamples in which it is the highest.

    Where several conditions share the highest mean there is no name, and the reason says so.

    Returns
    -------
    dict
        ``best``: a value for a record, whose estimate is the name; ``share``: a row of a table of
        estimates, the share of resamples of participants in which that condition alone is the highest. There is no
        share with fewer than five rated participants, as there is no interval.
    """
    frame = compared_conversations(study, "ground_truth")
    names = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    values = _by_condition(frame, names) if names else np.empty((0, 0, 2))
    means = ratio(values.sum(axis=0))
    highest = [name for name, mean in zip(names, means, strict=True) if mean >= means.max() - _EQUAL]
    kind = f"condition with the highest mean {RATINGS['ground_truth']}"
    reason = why_not_compared(study, "ground_truth") or (ONE_CONDITION if len(names) < 2 else "")
    if not reason and len(highest) > 1:
        reason = "several conditions have the same highest mean"
    best = {"estimate": None if reason else highest[0], "n": len(frame), "unit": "condition", "method": kind}
    common = {
        "n": len(frame),
        "unit": "share of resamplings",
        "method": f"{kind}; {count_of(bootstrap.draws, 'resampling')} of participants",
    }
    why_no_share = reason or bootstrap.too_few(frame["participant"]).replace("no interval", "no share")
    if why_no_share:
        share = estimate_row(**common, reason=why_no_share)
    else:
        resampled = bootstrap.distribution(ratio, values, frame["participant"])
        column = names.index(highest[0])
        others = np.delete(resampled, column, axis=1)
        # A condition that a resample does not hold is not the highest in it.
        above = resampled[:, [column]] > np.where(np.isnan(others), -np.inf, others) + _EQUAL
        share = estimate_row(above.all(axis=1).mean(), **common)
    return {
        "best": best | {"reason": reason, "key": "best_condition"},
        "share": share | {"key": "best_condition_share"},
    }


check_arguments(globals())
