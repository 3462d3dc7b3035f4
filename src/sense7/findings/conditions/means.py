"""Conditions compared: whom they vary within or between, how far apart they are, how sure that is.

A participant has a level of their own, and an interaction of their own with a condition. So
intervals resample participants, and p values come from a model with both: with a participant's
level alone it finds differences in most data sets that have none.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.effect_size import cohens_d
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.conditions.pairs import NO_CONDITION, ONE_CONDITION, condition_pairs, no_pairs, ordered_conditions
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
    """Mean rating of the conversations of each condition.

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
        values = np.column_stack([own["y"], np.ones(len(own))])
        rows[name] = _row(ratio, values, own["participant"], bootstrap, unit, method)
    if not rows:
        rows["no condition"] = estimate_row(n=0, unit=unit, method=method, reason=NO_CONDITION)
    return estimate_table(rows, "condition")


def _row(statistic, values, participants, bootstrap, unit, method, undefined="the ratings do not vary") -> dict:
    estimate, low, high, reason = bootstrap.estimate(statistic, values, participants)
    if not np.isfinite(estimate):
        return estimate_row(n=len(values), unit=unit, method=method, reason=undefined)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(values), unit=unit, method=method, reason=reason)


def condition_differences(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth", *, standardised: bool = False
) -> pd.DataFrame:
    r"""All pairs of conditions: difference of their means, in points or as Cohen's d.

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
    standardised : bool
        Whether as d.

    Returns
    -------
    DataFrame
        One row per pair, the prompted condition first, then by name; one row that says so if there are fewer
        than two conditions, or more than 12. n counts conversations.
    """
    frame = compared_conversations(study, rating)
    unit = "Cohen's d" if standardised else "points (levels from 1 to 5)"
    rows = {}
    for name, (first, second) in condition_pairs(study).items():
        method = (
            "difference of means over conversations, in standard deviations"
            if standardised
            else ("difference of means over conversations")
        )
        both = frame[frame["condition"].isin([first, second])]
        empty = [one for one in (first, second) if not (both["condition"] == one).any()]
        if empty:
            reason = f"no rated conversation in {' and '.join(empty)}"
            rows[name] = estimate_row(n=len(both), unit=unit, method=method, reason=reason)
            continue
        groups = np.column_stack([both["condition"] == first, both["condition"] == second]).astype(float)
        y = both["y"].to_numpy()
        values = groups[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]
        statistic, undefined = (
            (cohens_d, "too few conversations, or ratings that do not vary")
            if standardised
            else (_difference, "no rated conversation")
        )
        rows[name] = _row(statistic, values, both["participant"], bootstrap, unit, method, undefined)
    if not rows:
        method = "difference of means over conversations"
        rows["no pair"] = estimate_row(n=len(frame), unit=unit, method=method, reason=no_pairs(study))
    return estimate_table(rows, "pair")


def _difference(sums: np.ndarray) -> np.ndarray:
    means = sums[..., 1] / sums[..., 0]
    return means[..., 0] - means[..., 1]


def prompted_by_dimension(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Prompted condition minus the mean of the other conditions' means, for each rating.

    Each of the other conditions counts the same, however many conversations it has.

    Returns
    -------
    DataFrame
        A row each for the ground truth, the overall rating and the seven dimensions; n counts
        conversations.
    """
    unit, method = "points (levels from 1 to 5)", "mean of the prompted condition minus mean of the others' means"
    rows, ratings = {}, conversation_ratings(study)
    for rating in RATINGS:
        frame = compared_conversations(study, rating, ratings)
        present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
        reason = why_not_compared(study, rating, frame)
        if not reason and study.prompted_condition is None:
            reason = f"which condition is prompted is not known: {study.prompted_reason}"
        elif not reason and study.prompted_condition not in present:
            reason = "no rated conversation in the prompted condition"
        elif not reason and len(present) < 2:
            reason = "no rated conversation in any other condition"
        if reason:
            rows[rating] = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
            continue
        values = _by_condition(frame, present)
        rows[rating] = _row(_first_minus_rest, values, frame["participant"], bootstrap, unit, method)
    return estimate_table(rows, "rating").rename(index={"ground_truth": "ground truth"})


def _by_condition(frame: pd.DataFrame, conditions: list[str]) -> np.ndarray:
    """Of each row its value and a one, in the place of its condition: (rows, conditions, 2)."""
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    return groups[:, :, None] * np.column_stack([frame["y"], np.ones(len(frame))])[:, None, :]


def _first_minus_rest(sums: np.ndarray) -> np.ndarray:
    means = sums[..., 0] / sums[..., 1]
    return means[..., 0] - means[..., 1:].mean(axis=-1)


def best_condition(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> dict:
    """Name of the condition with the highest mean, and the share of bootstrap resamples in which it is the highest.

    Where several conditions share the highest mean there is no name, and the reason says so.

    Returns
    -------
    dict
        ``best``: a value for a record, whose estimate is the name; ``share``: a row of a table of
        estimates, the share of resamples of participants in which that condition alone is the highest. There is no
        share with fewer than five rated participants, as there is no interval.
    """
    means = _ConditionMeans.of(study, bootstrap, rating)
    kind = f"condition with the highest mean {RATINGS[rating]}"
    reason = why_not_compared(study, rating) or (ONE_CONDITION if len(means.names) < 2 else "")
    if not reason and len(means.highest) > 1:
        reason = "several conditions have the same highest mean"
    if reason:
        best = {"estimate": None, "n": means.n, "unit": "condition", "method": kind, "reason": reason}
        return {"best": best, "share": means.share(None, kind, reason)}
    (name,) = means.highest
    best = {"estimate": name, "n": means.n, "unit": "condition", "method": kind, "reason": ""}
    return {"best": best, "share": means.share(name, kind)}


def prompted_is_highest(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> dict:
    """Whether the prompted condition has the highest mean, and the share of bootstrap resamples in which it has it.

    Returns
    -------
    dict
        ``highest``: a value for a record: "yes", "no", or "tie" where another condition has the same highest mean;
        ``share``: a row of a table of estimates, as in :func:`best_condition`.
    """
    means = _ConditionMeans.of(study, bootstrap, rating)
    kind = f"whether the prompted condition has the highest mean {RATINGS[rating]}"
    prompted = study.prompted_condition
    reason = why_not_compared(study, rating) or (ONE_CONDITION if len(means.names) < 2 else "")
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    elif not reason and prompted not in means.names:
        reason = "no rated conversation in the prompted condition"
    value = {"estimate": None, "n": means.n, "unit": "yes, no or tie", "method": kind}
    if reason:
        return {"highest": value | {"reason": reason}, "share": means.share(None, kind, reason)}
    answer = "no" if prompted not in means.highest else "yes" if len(means.highest) == 1 else "tie"
    return {"highest": value | {"estimate": answer, "reason": ""}, "share": means.share(prompted, kind)}


@dataclass(frozen=True, eq=False)
class _ConditionMeans:
    """Means of the conditions that have ratings.

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
        What resampled them.
    """

    names: list[str]
    values: np.ndarray
    resampled: np.ndarray
    participants: pd.Series
    bootstrap: ParticipantBootstrap

    @classmethod
    def of(cls, study: Study, bootstrap: ParticipantBootstrap, rating: str) -> "_ConditionMeans":
        frame = compared_conversations(study, rating)
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
        place = self.names.index(name)
        others = np.delete(self.resampled, place, axis=1)
        # A condition that a resample does not hold is not the highest in it.
        above = self.resampled[:, [place]] > np.where(np.isnan(others), -np.inf, others) + _EQUAL
        return estimate_row(above.all(axis=1).mean(), n=self.n, unit=unit, method=method)


check_arguments(globals())
