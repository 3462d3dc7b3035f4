"""Mean ratings of the conditions, their differences, and which condition is rated highest."""

from dataclasses import dataclass

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

__all__ = ["best_condition", "condition_differences", "condition_means", "prompted_by_dimension", "prompted_is_highest"]

RATINGS = {
    "ground_truth": "ground truth of the conversation",
    "overall": "mean overall rating of the conversation's turns",
    **{name: f"mean {name} rating of the conversation's turns" for name in DIMENSION_NAMES},
}
"""What a conversation can be compared on: its mean over all rated dimensions, or one rating."""

_POINTS = "points (levels from 1 to 5)"

_MEANS = {"ground_truth": "condition_mean", "overall": "condition_mean_overall"}
"""Rating -> beginning of the key of a condition's mean."""

_PROMPTED = {
    "ground_truth": "prompted_difference_ground_truth",
    "overall": "prompted_difference_overall",
    "Affective": "prompted_difference_Affective",
    "Cognitive": "prompted_difference_Cognitive",
    "Response": "prompted_difference_Response",
    "Prosocial": "prompted_difference_Prosocial",
    "Interest": "prompted_difference_Interest",
    "Contextual": "prompted_difference_Contextual",
    "Relational": "prompted_difference_Relational",
}
"""Rating -> key of the prompted condition's difference from the others."""

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
    keys = {
        name: f"condition_d_{pair}" if standardized else f"condition_difference_{pair}"
        for name, pair in pairs_in_keys(study).items()
    }
    return estimate_table(rows, "pair", keys if rating == "ground_truth" else None)


def prompted_by_dimension(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the prompted condition's mean minus the mean of the other conditions' means, for each rating.

    Each of the other conditions counts the same, however many conversations it has.

    Returns
    -------
    DataFrame
        One row for the ground truth, the overall rating and each of the seven dimensions; n counts
        conversations.
    """
    unit, method = _POINTS, "mean of the prompted condition minus mean of the others' means"
    rows, ratings = {}, conversation_ratings(study)
    for rating in RATINGS:
        frame = compared_conversations(study, rating, ratings)
        present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
        reason = why_not_compared(study, rating, frame) or _why_prompted_is_not_compared(study, present)
        if not reason and len(present) < 2:
            reason = "no rated conversation in any other condition"
        if reason:
            rows[rating] = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
            continue
        values = _by_condition(frame, present)
        difference = bootstrap.estimate(_first_minus_rest, values, frame["participant"])
        rows[rating] = bootstrap.row(
            difference, n=len(frame), unit=unit, method=method, undefined="the ratings do not vary"
        )
    return estimate_table(rows, "rating", _PROMPTED).rename(index={"ground_truth": "ground truth"})


def _why_prompted_is_not_compared(study: Study, present: list[str]) -> str:
    """Why the prompted condition is not among those with ratings; "" if it is."""
    if study.prompted_condition is None:
        return f"which condition is prompted is not known: {study.prompted_reason}"
    return "" if study.prompted_condition in present else "no rated conversation in the prompted condition"


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
    means = _ConditionMeans.of(study, bootstrap)
    kind = f"condition with the highest mean {RATINGS['ground_truth']}"
    reason = why_not_compared(study, "ground_truth") or (ONE_CONDITION if len(means.names) < 2 else "")
    if not reason and len(means.highest) > 1:
        reason = "several conditions have the same highest mean"
    name = None if reason else means.highest[0]
    best = {"estimate": name, "n": means.n, "unit": "condition", "method": kind, "reason": reason}
    share = means.share(name, kind, reason)
    return {"best": best | {"key": "best_condition"}, "share": share | {"key": "best_condition_share"}}


def prompted_is_highest(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Return whether the prompted condition has the highest mean, and in which share of the bootstrap resamples.

    Returns
    -------
    dict
        ``highest``: a value for a record: "yes", "no", or "tie" where another condition has the same highest mean;
        ``share``: a row of a table of estimates, as in :func:`best_condition`.
    """
    means = _ConditionMeans.of(study, bootstrap)
    kind = f"whether the prompted condition has the highest mean {RATINGS['ground_truth']}"
    prompted = study.prompted_condition
    reason = why_not_compared(study, "ground_truth") or (ONE_CONDITION if len(means.names) < 2 else "")
    reason = reason or _why_prompted_is_not_compared(study, means.names)
    answer = None
    if not reason:
        answer = "no" if prompted not in means.highest else "yes" if len(means.highest) == 1 else "tie"
    highest = {"estimate": answer, "n": means.n, "unit": "yes, no or tie", "method": kind, "reason": reason}
    share = means.share(prompted, kind, reason)
    return {"highest": highest | {"key": "prompted_is_highest"}, "share": share | {"key": "prompted_is_highest_share"}}


@dataclass(frozen=True, eq=False)
class _ConditionMeans:
    """Mean ground truths of the conditions that have ratings.

    Attributes
    ----------
    names : list of str
        The conditions.
    values : array, shape (conditions,)
        Their means.
    resampled : array, shape (resamples, conditions)
        Their means in every resample; NaN where it does not hold the condition.
    participants : Series
        Participant of each rated conversation.
    bootstrap : ParticipantBootstrap
        The resamples.
    """

    names: list[str]
    values: np.ndarray
    resampled: np.ndarray
    participants: pd.Series
    bootstrap: ParticipantBootstrap

    @classmethod
    def of(cls, study: Study, bootstrap: ParticipantBootstrap) -> "_ConditionMeans":
        frame = compared_conversations(study, "ground_truth")
        names = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
        if not names:
            return cls(names, np.empty(0), np.empty((0, 0)), frame["participant"].iloc[:0], bootstrap)
        values = _by_condition(frame, names)
        resampled = bootstrap.distribution(ratio, values, frame["participant"])
        return cls(names, ratio(values.sum(axis=0)), resampled, frame["participant"], bootstrap)

    @property
    def n(self) -> int:
        """Number of rated conversations."""
        return len(self.participants)

    @property
    def highest(self) -> list[str]:
        """The condition with the highest mean, or all that share it."""
        return [name for name, mean in zip(self.names, self.values, strict=True) if mean >= self.values.max() - _EQUAL]

    def share(self, name: str | None, kind: str, reason: str = "") -> dict:
        """Share of the resamples in which a condition alone is the highest, as a row of estimates."""
        unit, method = "share of resamplings", f"{kind}; {count_of(self.bootstrap.draws, 'resampling')} of participants"
        reason = reason or self.bootstrap.too_few(self.participants).replace("no interval", "no share")
        if reason:
            return estimate_row(n=self.n, unit=unit, method=method, reason=reason)
        column = self.names.index(name)
        others = np.delete(self.resampled, column, axis=1)
        # A condition that a resample does not hold is not the highest in it.
        above = self.resampled[:, [column]] > np.where(np.isnan(others), -np.inf, others) + _EQUAL
        return estimate_row(above.all(axis=1).mean(), n=self.n, unit=unit, method=method)


check_arguments(globals())
