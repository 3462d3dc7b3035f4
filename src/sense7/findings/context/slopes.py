"""Slopes of empathy on context variables."""

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
    fewer_resamples,
    indicators,
    not_varying,
    products,
)
from sense7.findings.context.means import MOST_GROUPS, NOT_GIVEN
from sense7.study import Study

__all__ = ["context_slopes", "slopes_by_condition", "slopes_with_prompt"]

ADJUSTMENTS = ("over conversations", "within participants", "within participants, topics held equal")
_SLOPES = {
    "importance, over conversations": "importance_slope",
    "importance, within participants": "importance_slope_within",
    "importance, within participants, topics held equal": "importance_slope_within_topics",
    "desired empathy, over conversations": "desired_slope",
    "desired empathy, within participants": "desired_slope_within",
    "desired empathy, within participants, topics held equal": "desired_slope_within_topics",
}
_WITH_PROMPT = {
    "desired_empathy": {
        "with the empathy prompt": "desired_slope_prompted",
        "the other conditions": "desired_slope_others",
        "difference": "desired_slope_difference",
    },
    "importance": {
        "with the empathy prompt": "importance_slope_prompted",
        "the other conditions": "importance_slope_others",
        "difference": "importance_slope_difference",
    },
}
"""Variable -> rows of :func:`slopes_with_prompt` -> keys."""
PER_STEP = "points per step"


def context_slopes(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the change of the ground truth per step of importance and of desired empathy.

    Least squares with both in one model (one alone where the other was not given or does not
    vary): over conversations; within participants, all columns minus the participant's mean; and within
    participants with indicators of the topics added.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row per slope and adjustment: estimate (points per step), low, high, n
        (conversations with ground truth and the columns of the model), unit, method, reason.

    Notes
    -----
    Checked against statsmodels' OLS with an indicator of each participant.
    """
    frame = context_frame(study)
    rows = {}
    for name in STEPS:
        for adjustment in ADJUSTMENTS:
            words = f"{CONTEXT[name]}, {adjustment}"
            reason = not_varying(frame, name)
            if not reason and "topics" in adjustment:
                reason = not_varying(frame, "topic")
            if reason:
                rows[words] = estimate_row(n=0, unit=PER_STEP, method="least squares", reason=reason)
            else:
                rows[words] = _slope_row(frame, name, adjustment, bootstrap)
    return estimate_table(rows, "slope", _SLOPES)


def slope_model(frame: pd.DataFrame, name: str, adjustment: str) -> tuple[pd.DataFrame, np.ndarray, str]:
    """Complete rows, (design, y) with the slope of ``name`` first, and the model in words."""
    names = [name, *(other for other in STEPS if other != name and not not_varying(frame, other))]
    if "topics" in adjustment:
        names.append("topic")
    complete = frame[frame[names].notna().all(axis=1)]
    design = context_design(complete, names)
    words = f"least squares on {', '.join(CONTEXT[each] for each in names)}; {adjustment}"
    if adjustment == "over conversations":
        return complete, np.column_stack([design, np.ones(len(complete)), complete["y"]]), words
    return complete, within(np.column_stack([design, complete["y"]]), complete["participant"]), words


def _slope_row(frame: pd.DataFrame, name: str, adjustment: str, bootstrap: ParticipantBootstrap) -> dict:
    complete, z, method = slope_model(frame, name, adjustment)
    if z.shape[1] > MOST_GROUPS // 4:
        bootstrap = fewer_resamples(bootstrap)
    return _contrast_row(coefficient(0), z, complete["participant"], bootstrap, method, CONTEXT[name])


def _contrast_row(statistic, z: np.ndarray, participants: pd.Series, bootstrap, method: str, words: str) -> dict:
    """Row of a statistic of cross products; a slope that nothing identifies says so."""
    contrast = bootstrap.estimate(statistic, products(z), participants)
    undefined = f"{words} can't be distinguished from the rest of the model here"
    return bootstrap.row(contrast, n=len(z), unit=PER_STEP, method=method, undefined=undefined)


def slopes_by_condition(study: Study, bootstrap: ParticipantBootstrap, name: str = "desired_empathy") -> pd.DataFrame:
    """Return the slope of the ground truth on desired empathy (or importance) in each condition, within participants.

    One model: the slopes of all conditions, the conditions themselves and the other of the two steps, every
    column minus its participant's mean.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    name : {"desired_empathy", "importance"}
        The variable.

    Returns
    -------
    DataFrame
        One row per condition, as :func:`context_slopes`; n counts the condition's conversations.
    """
    frame = _with_condition(study, name)
    if reason := _no_slopes(study, frame, name):
        none = estimate_row(n=0, unit=PER_STEP, method="least squares within participants", reason=reason)
        rows = dict.fromkeys(study.conditions or [NOT_GIVEN], none)
    else:
        rows = _slope_rows_by_condition(frame, bootstrap, name)
    keys = {condition: f"desired_slope_condition_{number}" for number, condition in enumerate(rows, 1)}
    return estimate_table(rows, "condition", keys if name == "desired_empathy" else None)


def _slope_rows_by_condition(frame: pd.DataFrame, bootstrap: ParticipantBootstrap, name: str) -> dict[str, dict]:
    conditions = sorted(frame["condition"].unique())
    members = frame["condition"].to_numpy()[:, None] == np.array(conditions)[None, :]
    z, participants = _interaction(frame, name, members)
    words, method = f"the slope of {CONTEXT[name]} in this condition", "least squares within participants"
    rows = {}
    for i, condition in enumerate(conditions):
        row = _contrast_row(coefficient(i), z, participants, bootstrap, method, words)
        rows[condition] = row | {"n": int(members[:, i].sum())}
    return rows


def slopes_with_prompt(study: Study, bootstrap: ParticipantBootstrap, name: str = "desired_empathy") -> pd.DataFrame:
    """Return the slope on desired empathy (or importance) with the empathy prompt, without it, and their difference.

    As :func:`slopes_by_condition`, with one slope for all other conditions together.

    Returns
    -------
    DataFrame
        Rows ``with the empathy prompt``, ``the other conditions``, ``difference`` (the first minus the second).
    """
    frame, method = _with_condition(study, name), "least squares within participants"
    reason = _no_slopes(study, frame, name)
    prompted = (frame["condition"] == study.prompted_condition).to_numpy()
    if not reason and study.prompted_condition is None:
        reason = "it is not known which condition has the empathy prompt"
    if not reason and (prompted.all() or not prompted.any()):
        reason = "there is no condition to compare the empathy prompt with"
    keys = _WITH_PROMPT[name]
    if reason:
        none = estimate_row(n=0, unit=PER_STEP, method=method, reason=reason)
        return estimate_table(dict.fromkeys(keys, none), "slope", keys)
    z, participants = _interaction(frame, name, np.column_stack([prompted, ~prompted]))
    statistics = (coefficient(0), coefficient(1), coefficient(0, minus=1))
    rows = {}
    for words, statistic, n in zip(keys, statistics, (prompted.sum(), (~prompted).sum(), len(frame)), strict=True):
        row = _contrast_row(statistic, z, participants, bootstrap, method, f"the slope of {CONTEXT[name]}")
        rows[words] = row | {"n": int(n)}
    return estimate_table(rows, "slope", keys)


def _with_condition(study: Study, name: str) -> pd.DataFrame:
    frame = context_frame(study)
    others = [other for other in STEPS if other != name and not not_varying(frame, other)]
    return frame[frame[["condition", name, *others]].notna().all(axis=1)]


def _no_slopes(study: Study, frame: pd.DataFrame, name: str) -> str:
    if reason := not_varying(context_frame(study), name):
        return reason
    return "" if len(frame) else "conditions were not given in this data set"


def _interaction(frame: pd.DataFrame, name: str, groups: np.ndarray) -> tuple[np.ndarray, pd.Series]:
    """Slopes by group first, then conditions and the other step, then y; minus the participant's mean."""
    slopes = groups.astype(float) * frame[[name]].to_numpy(dtype=float)
    others = [other for other in STEPS if other != name and not not_varying(frame, other)]
    columns = np.column_stack(
        [slopes, indicators(frame["condition"])[:, 1:], context_design(frame, others), frame["y"]]
    )
    return within(columns, frame["participant"]), frame["participant"]


check_arguments(globals())
