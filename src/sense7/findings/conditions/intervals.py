"""Three kinds of interval for the differences between conditions."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio_difference
from sense7.estimators.clustered import KINDS, DescribedInterval, clustered_intervals, fit_clustered, resampled, widths
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions, pairs_in_keys
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["condition_interval_widths", "condition_intervals"]

_KEY_STARTS = {
    "as if independent": "condition_difference_turns_naive",
    "clustered errors": "condition_difference_turns_clustered",
    "participants resampled": "condition_difference_turns_resampled",
}
"""Kind of interval -> beginning of the key of a pair's difference."""

_WIDTHS = {
    "clustered errors": "interval_width_clustered_conditions",
    "participants resampled": "interval_width_resampled_conditions",
}


def condition_intervals(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return the difference of two conditions' mean turns, with each kind of interval.

    A turn counts by the mean of its rated dimensions; each turn counts the same, so long conversations
    count more than in :func:`sense7.findings.conditions.means.condition_differences`. All kinds have the same estimate.

    Parameters
    ----------
    study : Study
        The data. Turns without a rated dimension or a condition are left out.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants; its confidence is that of all intervals.

    Returns
    -------
    dict of DataFrame
        Kind (``KINDS``) -> table of estimates, one row per pair of conditions; n counts the turns of both. The kind
        *as if independent* is least squares with the residual variance of all conditions, which for two is the t test.
    """
    turns = study.turns.assign(y=study.turns[list(DIMENSION_NAMES)].mean(axis=1))
    turns = turns[turns["y"].notna() & turns["condition"].notna()]
    common = {"unit": "points (levels from 1 to 5)", "method": "difference of means over turns"}
    if reason := no_pairs(study):
        none = estimate_row(n=len(turns), **common, reason=reason)
        return {kind: estimate_table({"no pair": none}, "pair", {}) for kind in KINDS}
    present = [name for name in ordered_conditions(study) if (turns["condition"] == name).any()]
    fit = None
    if present:
        design = np.column_stack([turns["condition"] == name for name in present]).astype(float)
        fit = fit_clustered(turns["y"].to_numpy(), design, turns["participant"])
    rows = {
        name: _rows_of_pair(fit, present, turns[turns["condition"].isin(pair)], pair, bootstrap, common)
        for name, pair in condition_pairs(study).items()
    }
    pairs = pairs_in_keys(study)
    tables = {}
    for kind, start in _KEY_STARTS.items():
        keys = {name: f"{start}_{pair}" for name, pair in pairs.items()}
        tables[kind] = estimate_table({name: row[kind] for name, row in rows.items()}, "pair", keys)
    return tables


def _rows_of_pair(fit, present: list[str], turns: pd.DataFrame, pair: tuple[str, str], bootstrap, common: dict) -> dict:
    """Kind of interval -> row of estimates of the difference of two conditions."""
    if absent := [condition for condition in pair if condition not in present]:
        none = estimate_row(n=len(turns), **common, reason=f"no rated turn in {' and '.join(absent)}")
        return dict.fromkeys(KINDS, none)
    contrast = np.array([(condition == pair[0]) - float(condition == pair[1]) for condition in present])
    intervals = clustered_intervals(fit, contrast, bootstrap.confidence)
    intervals["participants resampled"] = _resampled_difference(turns, pair, bootstrap)
    return {
        kind: interval.row(common["method"], n=len(turns), unit=common["unit"]) for kind, interval in intervals.items()
    }


def _resampled_difference(
    turns: pd.DataFrame, pair: tuple[str, str], bootstrap: ParticipantBootstrap
) -> DescribedInterval:
    groups = np.column_stack([turns["condition"] == condition for condition in pair]).astype(float)
    values = groups[:, :, None] * np.column_stack([turns["y"], np.ones(len(turns))])[:, None, :]
    return resampled(ratio_difference, values, turns["participant"], bootstrap)


def condition_interval_widths(intervals: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how many times as wide as the interval *as if independent* the other kinds are, on average over pairs.

    Parameters
    ----------
    intervals : dict of DataFrame
        As :func:`condition_intervals` returns them.

    Returns
    -------
    DataFrame
        Table of estimates with one row for each other kind of interval (no interval; n pairs).
    """
    return widths(intervals, _WIDTHS)


check_arguments(globals())
