"""Three kinds of interval for the differences between conditions."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.clustered import KINDS, clustered_intervals, fit_clustered, resampled
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["condition_intervals"]


def condition_intervals(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Difference of two conditions' mean turns, with each kind of interval.

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
    present = [name for name in ordered_conditions(study) if (turns["condition"] == name).any()]
    unit, kind = "points (levels from 1 to 5)", "difference of means over turns"
    tables: dict[str, dict] = {name: {} for name in KINDS}
    if reason := no_pairs(study):
        none = estimate_row(n=len(turns), unit=unit, method=kind, reason=reason)
        return {name: estimate_table({"no pair": none}, "pair") for name in KINDS}
    design = np.column_stack([turns["condition"] == name for name in present]).astype(float) if present else None
    fit = None if design is None else fit_clustered(turns["y"].to_numpy(), design, turns["participant"])
    for row, pair in condition_pairs(study).items():
        both = turns[turns["condition"].isin(pair)]
        common = {"n": len(both), "unit": unit}
        if not set(pair) <= set(present):
            absent = " and ".join(name for name in pair if name not in present)
            for table in tables.values():
                table[row] = estimate_row(**common, method=kind, reason=f"no rated turn in {absent}")
            continue
        contrast = np.array([(name == pair[0]) - float(name == pair[1]) for name in present])
        found = clustered_intervals(fit, contrast, bootstrap.confidence)
        groups = np.column_stack([both["condition"] == name for name in pair]).astype(float)
        values = groups[:, :, None] * np.column_stack([both["y"], np.ones(len(both))])[:, None, :]
        found["participants resampled"] = resampled(_difference, values, both["participant"], bootstrap)
        for name, (*numbers, method, why) in found.items():
            tables[name][row] = estimate_row(*numbers, **common, method=f"{kind}; {method}", reason=why)
    return {name: estimate_table(rows, "pair") for name, rows in tables.items()}


def _difference(sums: np.ndarray) -> np.ndarray:
    means = ratio(sums)
    return means[..., 0] - means[..., 1]


check_arguments(globals())
