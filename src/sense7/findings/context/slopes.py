"""Slopes of empathy on importance and desired empathy."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import coefficient, within
from sense7.findings.context.frame import (
    CONTEXT,
    STEPS,
    context_design,
    context_frame,
    indicators,
    not_varying,
    products,
)
from sense7.study import Study

__all__ = ["context_slopes"]

_SLOPES = {
    "importance": "importance_slope_within",
    "desired empathy": "desired_slope_within",
    "desired empathy, empathy prompt minus the other conditions": "desired_slope_difference",
}


def context_slopes(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the change of the ground truth per step of importance and of desired empathy, within participants.

    Least squares with both in one model (one alone where the other was not given or does not vary), all columns minus
    the participant's mean. The last row is the slope on desired empathy in the condition with the empathy prompt minus
    that in all others, in one model with the conditions and the importance.

    Returns
    -------
    DataFrame
        One row per slope: estimate (points per step), low, high, n (conversations with ground truth and the columns of
        the model), unit, method, reason.

    Notes
    -----
    Checked against statsmodels' OLS with an indicator of each participant.
    """
    frame, unit = context_frame(study), "points per step"
    *slopes, difference = _SLOPES
    rows = {}
    for name, words in zip(STEPS, slopes, strict=True):
        if reason := not_varying(frame, name):
            rows[words] = estimate_row(n=0, unit=unit, method="least squares", reason=reason)
            continue
        names = [name, *(other for other in STEPS if other != name and not not_varying(frame, other))]
        complete = frame[frame[names].notna().all(axis=1)]
        z = within(np.column_stack([context_design(complete, names), complete["y"]]), complete["participant"])
        slope = bootstrap.estimate(coefficient(0), products(z), complete["participant"])
        method = f"least squares on {', '.join(CONTEXT[each] for each in names)}; within participants"
        undefined = f"{words} can't be distinguished from the rest of the model here"
        rows[words] = bootstrap.row(slope, n=len(z), unit=unit, method=method, undefined=undefined)

    method = "least squares within participants"
    others = [] if not_varying(frame, "importance") else ["importance"]
    complete = frame[frame[["condition", "desired_empathy", *others]].notna().all(axis=1)]
    prompted = (complete["condition"] == study.prompted_condition).to_numpy()
    reason = not_varying(frame, "desired_empathy")
    if not reason and complete.empty:
        reason = "conditions were not given in this data set"
    if not reason and study.prompted_condition is None:
        reason = "it is not known which condition has the empathy prompt"
    if not reason and (prompted.all() or not prompted.any()):
        reason = "there is no condition to compare the empathy prompt with"
    if reason:
        rows[difference] = estimate_row(n=0, unit=unit, method=method, reason=reason)
        return estimate_table(rows, "slope", _SLOPES)
    slopes = np.column_stack([prompted, ~prompted]).astype(float) * complete[["desired_empathy"]].to_numpy(dtype=float)
    conditions = indicators(complete["condition"])[:, 1:]
    columns = np.column_stack([slopes, conditions, context_design(complete, others), complete["y"]])
    z = within(columns, complete["participant"])
    slope = bootstrap.estimate(coefficient(0, minus=1), products(z), complete["participant"])
    undefined = "the slope of desired empathy can't be distinguished from the rest of the model here"
    rows[difference] = bootstrap.row(slope, n=len(z), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "slope", _SLOPES)


check_arguments(globals())
