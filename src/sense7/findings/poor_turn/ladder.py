"""How much lower conversations with a poor turn are rated, with more and more held equal."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares
from sense7.findings.measures import is_poor
from sense7.findings.poor_turn.definitions import POINTS, poor_turn_conversations, why_not_compared
from sense7.study import Study

__all__ = ["LADDER_KEYS", "LENGTH_KEYS", "poor_turn_by_length", "poor_turn_ladder"]

LADDER_KEYS = {
    "as they are": "poor_turn_ladder_as_they_are",
    "at the same number of turns": "poor_turn_ladder_same_length",
    "and the same mean of the other turns": "poor_turn_ladder_same_other_turns",
    "and within the same participant": "poor_turn_ladder_same_participant",
}
"""Rungs of :func:`poor_turn_ladder` -> keys."""

LENGTH_KEYS = {
    "shortest third": "poor_turn_share_shortest_third",
    "middle third": "poor_turn_share_middle_third",
    "longest third": "poor_turn_share_longest_third",
}
"""Rows of :func:`poor_turn_by_length` -> keys."""


def poor_turn_ladder(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    """How much lower conversations with a poor turn are rated afterwards, with more and more held equal.

    Minus the coefficient of having at least one poor turn in a least-squares regression of the outcome on it and on

    - nothing else (a difference of means);
    - the number of rated turns: a longer conversation has more chances of a poor turn;
    - that, and the mean overall rating of the turns that are not poor: how good the conversation was otherwise;
    - both, with an intercept of each participant: a person's conversations are compared with each other.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    DataFrame
        The rows of ``LADDER_KEYS``: estimate (points, levels 1 to 5; positive: lower with a poor turn), low, high, n
        (conversations), unit, method, reason. All rungs rest on the same conversations: those with a rated turn that
        is not poor, and a post-task rating.

    Notes
    -----
    Checked against statsmodels' OLS, with an indicator of each participant in the last rung.
    """
    frame = _with_other_turns(study, outcome)
    reason = why_not_compared(study, frame, outcome)
    columns = frame[["poor", "rated", "others", "outcome"]].to_numpy(dtype=float)
    own = _minus_own_mean(columns, frame["participant"])
    ones = np.ones((len(frame), 1))
    designs = (columns[:, [0, 3]], columns[:, [0, 1, 3]], columns, own)
    words = ("", ", the number of turns", ", the number of turns and the mean of the other turns")
    words = (*words, f"{words[-1]}, with an intercept of each participant")
    rows = {}
    for name, design, held in zip(LADDER_KEYS, designs, words, strict=True):
        method = f"least squares on having a poor turn{held}"
        if reason:
            rows[name] = estimate_row(n=len(frame), unit=POINTS, method=method, reason=reason)
            continue
        z = design if design is own else np.column_stack([design[:, :-1], ones, design[:, -1]])
        cross = z[:, :, None] * z[:, None, :]
        found = bootstrap.estimate(lambda sums: -least_squares(sums)[0][..., 0], cross, frame["participant"])
        undefined = "conversations with a poor turn differ from the others in what is to be held equal"
        rows[name] = bootstrap.row(found, n=len(frame), unit=POINTS, method=method, undefined=undefined)
    return estimate_table(rows, "what is held equal")


def _with_other_turns(study: Study, outcome: str) -> pd.DataFrame:
    """Conversations with a turn that is not poor: the mean of these turns, and whether they have a poor one besides."""
    frame = poor_turn_conversations(study, outcome)
    turns = study.turns
    good = turns["overall"].astype(float).where(~is_poor(turns["overall"]))
    means = good.groupby(turns["conversation"]).mean().reindex(frame.index)
    return frame.assign(poor=frame["poor"] > 0, others=means)[means.notna()]


def _minus_own_mean(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    frame = pd.DataFrame(values)
    codes = pd.factorize(groups)[0]
    return (frame - frame.groupby(codes).transform("mean")).to_numpy()


def poor_turn_by_length(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the conversations with at least one poor turn, by the number of their rated turns.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        The rows of ``LENGTH_KEYS``: estimate (0..1), low, high, n (conversations of that length), unit, method, reason.
        The thirds are cut at the numbers of turns below which a third and two thirds of the conversations lie; equal
        lengths are never parted, so that thirds are not equally large.
    """
    frame = poor_turn_conversations(study)
    unit, method = "share of conversations", "with at least one poor turn"
    third = np.zeros(0, dtype=int)
    if len(frame):
        third = np.searchsorted(np.quantile(frame["rated"], [1 / 3, 2 / 3]), frame["rated"], side="left")
    never = not study.turns["overall"].notna().any()
    rows = {}
    for place, name in enumerate(LENGTH_KEYS):
        chosen = frame[third == place]
        if chosen.empty:
            reason = "the overall rating was never given in this data set" if never else "no conversation is so long"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        span = f"{chosen['rated'].min()} to {chosen['rated'].max()} rated turns"
        values = np.column_stack([chosen["poor"] > 0, np.ones(len(chosen))]).astype(float)
        found = bootstrap.estimate(ratio, values, chosen["participant"])
        rows[name] = bootstrap.row(found, n=len(chosen), unit=unit, method=f"{method}, of those with {span}")
    return estimate_table(rows, "length")


check_arguments(globals())
