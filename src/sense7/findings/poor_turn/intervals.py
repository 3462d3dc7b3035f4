"""Three kinds of interval for Cohen's d of a poor turn."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.clustered import KINDS, clustered_intervals, d_interval, fit_clustered, resampled
from sense7.estimators.effect_size import cohens_d
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.poor_turn.definitions import poor_turn_conversations
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["POOR_TURN_KEYS", "poor_turn_intervals"]

POOR_TURN_KEYS = {"at least one poor turn": "poor_turn_d", "exactly one poor turn": "poor_turn_d_exactly_one"}
"""Rows of :func:`poor_turn_intervals` -> start of the key."""


def poor_turn_intervals(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> dict[str, pd.DataFrame]:
    """Cohen's d of conversations without and with a poor turn, with each kind of interval.

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
        Kind (``KINDS``) -> table of estimates, the rows of ``POOR_TURN_KEYS``; n counts conversations.
    """
    conversations = poor_turn_conversations(study, outcome)
    tables: dict[str, dict] = {name: {} for name in KINDS}
    for row in POOR_TURN_KEYS:
        poor = conversations["poor"]
        chosen = conversations[(poor == 0) | ((poor > 0) if row.startswith("at least") else (poor == 1))]
        common, kind = {"n": len(chosen), "unit": "Cohen's d"}, f"{row}, between conversations"
        groups = np.column_stack([chosen["poor"] == 0, chosen["poor"] > 0]).astype(float)
        y = chosen["outcome"].to_numpy()
        values = groups[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]
        d, sizes = float(cohens_d(values.sum(axis=0))), groups.sum(axis=0).astype(int)
        if not np.isfinite(d):
            counts = f"{count_of(sizes[1], 'conversation')} with such a turn and {sizes[0]} without a poor one"
            reason = f"{counts}: too few, or all rated alike"
            for table in tables.values():
                table[row] = estimate_row(**common, method=kind, reason=reason)
            continue
        found = clustered_intervals(
            fit_clustered(y, groups, chosen["participant"]), np.array([1.0, -1]), bootstrap.confidence
        )
        difference, low, high, method, reason = found["clustered errors"]
        spread = difference / d if abs(d) > 1e-12 else np.nan
        found["clustered errors"] = d, low / spread, high / spread, method, reason
        low, high = d_interval(d, *sizes, bootstrap.confidence)
        method = f"conversations as if independent; {bootstrap.confidence:.0%} interval by noncentral t"
        found["as if independent"] = d, low, high, method, "" if np.isfinite(low) else "no interval: d is too large"
        found["participants resampled"] = resampled(cohens_d, values, chosen["participant"], bootstrap)
        for name, (*numbers, method, why) in found.items():
            tables[name][row] = estimate_row(*numbers, **common, method=f"{kind}; {method}", reason=why)
    return {name: estimate_table(rows, "definition") for name, rows in tables.items()}


check_arguments(globals())
