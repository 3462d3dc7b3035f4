"""Unmet expectations: conversations that were to be empathic and were not felt to be.

An expectation counts as unmet where the participant wished for high empathy before the
conversation and rated its turns, on the average, nearer to neutral than to good, or lower.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.disruption import OUTCOMES
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.least_squares import least_squares
from sense7.statistics.recovery import turn_levels
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["HIGH", "KEYS", "LOW_BELOW", "expectation_conversations", "unmet_expectations"]

HIGH = 3
"""The highest of the three levels of desired empathy."""

LOW_BELOW = 3.5
"""A conversation was felt to be low in empathy if the mean level of its turns is below this: half-way
between neutral and good."""

FEWEST = 2
UNIT = "level, difference"

COMPARISONS = {
    "against all other conversations": ("expectation_difference", ()),
    "at the same mean rating of turns": ("expectation_difference_adjusted", ("mean",)),
    "beyond low ratings and high wishes by themselves": ("expectation_loss", ("low", "high", "mean")),
}
"""Comparisons: name -> key, and what is held equal besides."""

KEYS = {name: key for name, (key, _) in COMPARISONS.items()}


def expectation_conversations(study: Study, outcome: str = "empathy") -> pd.DataFrame:
    """Wish, experience and post-task outcome of each conversation.

    Parameters
    ----------
    study : Study
        The data.
    outcome : {"empathy", "experience"}
        See ``sense7.statistics.disruption.OUTCOMES``.

    Returns
    -------
    DataFrame
        participant; ``mean`` (mean level of its rated turns: overall rating or, if that was never given,
        mean of the rated dimensions); ``low`` (``mean`` below ``LOW_BELOW``); ``high`` (highest desired
        empathy); ``unmet`` (both); ``outcome`` (mean of the post-task ratings given, 1..5). Only
        conversations with a rated turn, a desired empathy and a post-task rating.
    """
    conversations = study.conversations.set_index("conversation")
    levels, _ = turn_levels(study)
    means = levels.groupby("conversation")["level"].mean()
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "mean": means.reindex(conversations.index).astype(float),
            "desired": conversations["desired_empathy"].astype(float),
            "outcome": conversations[OUTCOMES[outcome]].mean(axis=1),
        }
    ).dropna(subset=["mean", "desired", "outcome"])
    frame["low"], frame["high"] = frame["mean"] < LOW_BELOW, frame["desired"] == HIGH
    frame["unmet"] = frame["low"] & frame["high"]
    return frame.drop(columns="desired")


def unmet_expectations(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    r"""How much lower conversations with an unmet expectation are rated afterwards.

    Minus the coefficient of ``unmet`` in a least-squares regression of the outcome on it and on

    - nothing else (the plain difference of means);
    - the mean level of the turns;
    - that, low ratings and high wishes: what an unmet expectation goes with beyond what low ratings
      go with where less was wished, and high wishes where ratings were not low.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals, which take the place of clustered errors.
    outcome : {"empathy", "experience"}
        Mean of the seven post-task ratings of empathy, or of the four of the experience.

    Returns
    -------
    DataFrame
        A row a comparison: estimate (levels; positive: lower where the expectation was unmet), low, high,
        n (conversations), unit, method, reason. Missing values: see :func:`expectation_conversations`.

    Notes
    -----
    Checked against statsmodels' OLS, and the intervals against its errors clustered by participant. On
    simulated studies with a planted loss the last comparison finds it, up to what the unobserved
    threshold of the simulation blurs.
    """
    frame = expectation_conversations(study, outcome)
    missing = _missing(study, frame, outcome)
    rows = {}
    for name, (_, held) in COMPARISONS.items():
        method = f"least squares on unmet{''.join(f', {column}' for column in held)}"
        method += f"; {count_of(int(frame['unmet'].sum()), 'conversation')} with an unmet expectation"
        if missing:
            rows[name] = estimate_row(n=len(frame), unit=UNIT, method=method, reason=missing)
        else:
            rows[name] = _row(frame, held, bootstrap, method)
    return estimate_table(rows, "comparison")


def _missing(study: Study, frame: pd.DataFrame, outcome: str) -> str:
    """Why there is nothing to compare; "" if there is."""
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was never given in this data set"
    if not study.conversations[OUTCOMES[outcome]].notna().any(axis=None):
        return f"post-task {outcome} was never rated in this data set"
    if frame.empty:
        return "no conversation has a rated turn, a desired empathy and a post-task rating"
    unmet = int(frame["unmet"].sum())
    if min(unmet, len(frame) - unmet) < FEWEST:
        others = count_of(len(frame) - unmet, "other")
        return f"{count_of(unmet, 'conversation')} with an unmet expectation and {others}: too few"
    return ""


def _row(frame: pd.DataFrame, held: tuple[str, ...], bootstrap: ParticipantBootstrap, method: str) -> dict:
    columns = frame[["unmet", *held, "outcome"]].to_numpy(dtype=float)
    z = np.column_stack([np.ones(len(frame)), columns])
    estimate, low, high, reason = bootstrap.estimate(
        lambda cross: -least_squares(cross)[0][..., 1], z[:, :, None] * z[:, None, :], frame["participant"]
    )
    if not np.isfinite(estimate):
        reason = "what is to be held equal can't be told apart from the unmet expectation in these conversations"
        return estimate_row(n=len(frame), unit=UNIT, method=method, reason=reason)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(frame), unit=UNIT, method=method, reason=reason)


check_arguments(globals())
