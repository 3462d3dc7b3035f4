"""Three kinds of interval for Cohen's d of a poor turn."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.clustered import (
    KINDS,
    DescribedInterval,
    clustered_intervals,
    d_interval,
    fit_clustered,
    resampled,
    widths,
)
from sense7.estimators.effect_size import cohens_d, group_moments, pooled_difference
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.findings.poor_turn.definitions import UNIT, conversations_compared, poor_turn_conversations
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["poor_turn_interval_widths", "poor_turn_intervals"]

_ROWS = {"at least one poor turn": "any", "exactly one poor turn": "one"}
"""Rows of :func:`poor_turn_intervals` -> which conversations count as poor."""

_KEYS = {
    "as if independent": "poor_turn_d_naive poor_turn_d_exactly_one_naive",
    "clustered errors": "poor_turn_d_clustered poor_turn_d_exactly_one_clustered",
    "participants resampled": "",
}
"""Kind of interval -> keys, in the order of the rows; resampled, they are recorded by the table of definitions."""

_WIDTHS = {
    "clustered errors": "interval_width_clustered_poor_turn",
    "participants resampled": "interval_width_resampled_poor_turn",
}


def poor_turn_intervals(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> dict[str, pd.DataFrame]:
    """Return Cohen's d of conversations without and with a poor turn, with each kind of interval.

    *As if independent* is :func:`d_interval`. *Clustered errors* are those of the difference in points, divided by the
    standard deviation as if that were known. *Participants resampled* is the interval of
    :func:`sense7.findings.poor_turn.definitions.poor_turn_effects`, whose first two definitions these are.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants; its confidence is that of all intervals.
    outcome : {"empathy", "experience"}
        See :data:`sense7.findings.measures.OUTCOMES`.

    Returns
    -------
    dict of DataFrame
        Kind (``KINDS``) -> table of estimates, at least one poor turn and exactly one; n counts conversations.
    """
    conversations = poor_turn_conversations(study, outcome)
    rows = {row: _intervals(row, conversations_compared(conversations, _ROWS[row]), bootstrap) for row in _ROWS}
    return {
        kind: estimate_table(
            {row: intervals[kind] for row, intervals in rows.items()}, "definition", keys_of_rows(_ROWS, keys)
        )
        for kind, keys in _KEYS.items()
    }


def _intervals(row: str, compared: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, dict]:
    """A row of estimates for each kind of interval."""
    y, people = compared["outcome"].to_numpy(), compared["participant"]
    moments = group_moments(y, compared["poor"])
    statistic, common = f"{row}, between conversations", {"n": len(compared), "unit": UNIT}
    sizes = moments[:, :, 0].sum(axis=0).astype(int)
    d, _, spread = (float(value) for value in pooled_difference(moments.sum(axis=0)))
    if not np.isfinite(d):
        counts = f"{count_of(sizes[1], 'conversation')} with such a turn and {sizes[0]} without a poor one"
        reason = f"{counts}: too few, or all rated alike"
        return dict.fromkeys(KINDS, estimate_row(**common, method=statistic, reason=reason))
    in_points = clustered_intervals(
        fit_clustered(y, moments[:, :, 0], people), np.array([1.0, -1]), bootstrap.confidence
    )["clustered errors"]
    low, high = d_interval(d, *sizes, bootstrap.confidence)
    noncentral = f"conversations as if independent; {bootstrap.confidence:.0%} interval by noncentral t"
    no_low = "" if np.isfinite(low) else "no interval: d is too large"
    intervals = {
        "as if independent": DescribedInterval(d, low, high, noncentral, no_low),
        "clustered errors": in_points._replace(estimate=d, low=in_points.low / spread, high=in_points.high / spread),
        "participants resampled": resampled(cohens_d, moments, people, bootstrap),
    }
    return {kind: interval.row(statistic, **common) for kind, interval in intervals.items()}


def poor_turn_interval_widths(intervals: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how many times as wide as the interval *as if independent* the other kinds are, on average over the rows.

    Parameters
    ----------
    intervals : dict of DataFrame
        As :func:`poor_turn_intervals` returns them.

    Returns
    -------
    DataFrame
        As :func:`sense7.estimators.clustered.widths`, with keys.
    """
    return widths(intervals, _WIDTHS)


check_arguments(globals())
