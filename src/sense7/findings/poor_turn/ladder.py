"""How much lower conversations with a poor turn are rated, with more and more held equal."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares
from sense7.findings.measures import is_poor
from sense7.findings.poor_turn.definitions import POINTS, poor_turn_conversations, why_not_compared
from sense7.study import Study

__all__ = ["poor_turn_ladder"]

_LADDER = {
    "as they are": "poor_turn_ladder_as_they_are",
    "at the same number of turns": "poor_turn_ladder_same_length",
    "and the same mean of the other turns": "poor_turn_ladder_same_other_turns",
    "and within the same participant": "poor_turn_ladder_same_participant",
}
"""Rows of :func:`poor_turn_ladder` -> key."""


def poor_turn_ladder(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    """Return how much lower conversations with a poor turn are rated afterwards, with more and more held equal.

    Minus the coefficient of having at least one poor turn in a least-squares regression of the outcome on it and on

    - nothing else (a difference of means);
    - the number of rated turns: a longer conversation has more chances of a poor turn;
    - that, and the mean overall rating of the turns that are not poor: how good the conversation was otherwise;
    - both, with an intercept of each participant: a person's conversations are compared with each other.

    Parameters
    ----------
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    DataFrame
        One row per step: estimate (points, levels 1 to 5; positive: lower with a poor turn), low, high, n
        (conversations), unit, method, reason. All steps rest on the same conversations: those with a rated turn that
        is not poor, and a post-task rating.

    Notes
    -----
    Checked against statsmodels' OLS, with an indicator of each participant in the last step.
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
    for name, design, held in zip(_LADDER, designs, words, strict=True):
        method = f"least squares on having a poor turn{held}"
        if reason:
            rows[name] = estimate_row(n=len(frame), unit=POINTS, method=method, reason=reason)
            continue
        z = design if design is own else np.column_stack([design[:, :-1], ones, design[:, -1]])
        cross = z[:, :, None] * z[:, None, :]
        difference = bootstrap.estimate(lambda sums: -least_squares(sums)[0][..., 0], cross, frame["participant"])
        undefined = "conversations with a poor turn differ from the others in what is to be held equal"
        rows[name] = bootstrap.row(difference, n=len(frame), unit=POINTS, method=method, undefined=undefined)
    return estimate_table(rows, "what is held equal", _LADDER)


def _with_other_turns(study: Study, outcome: str) -> pd.DataFrame:
    """Conversations with a turn that is not poor: the mean of these turns, and whether they also have a poor one."""
    frame = poor_turn_conversations(study, outcome)
    turns = study.turns
    good = turns["overall"].astype(float).where(~is_poor(turns["overall"]))
    means = good.groupby(turns["conversation"]).mean().reindex(frame.index)
    return frame.assign(poor=frame["poor"] > 0, others=means)[means.notna()]


def _minus_own_mean(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    frame = pd.DataFrame(values)
    codes = pd.factorize(groups)[0]
    return (frame - frame.groupby(codes).transform("mean")).to_numpy()


check_arguments(globals())
