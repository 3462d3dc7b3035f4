"""Mean empathy by group of a context variable."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import within
from sense7.findings.context.frame import CONTEXT, context_frame, not_varying
from sense7.findings.ground_truth import labels
from sense7.study import Study

__all__ = ["group_means"]

MOST_GROUPS = 40

NOT_GIVEN = "(not given)"
LEVEL = "level, 1 to 5"


# How the ratings depend on context


def group_means(study: Study, bootstrap: ParticipantBootstrap, by: str, *, own: bool = False) -> pd.DataFrame:
    r"""Mean ground truth of the conversations of each topic, importance or desired empathy.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    by : {"topic", "importance", "desired_empathy"}
        What makes the groups.
    own : bool
        Whether each conversation is first compared with its participant's own mean,
        :math:`y_{pc} - \bar y_p`: what is left of a group's mean when who is in it is set aside.

    Returns
    -------
    DataFrame
        One row per group, in its order (of more than 40 groups the 40 largest): estimate, low,
        high (1..5; points if ``own``), n (conversations), unit, method, reason. Conversations
        without ground truth or without the context are left out.
    """
    frame = context_frame(study)
    frame = frame[frame[by].notna()]
    if by != "topic":
        frame = frame.assign(**{by: labels(frame[by])})
    if own:
        frame = frame.assign(y=within(frame[["y"]].to_numpy(), frame["participant"])[:, 0])
    unit = "points" if own else LEVEL
    method = "mean ground truth over conversations" + (", minus the participant's own mean" if own else "")
    if frame.empty:
        reason = not_varying(context_frame(study), by) or f"{CONTEXT[by]} was not given in this data set"
        return estimate_table({NOT_GIVEN: estimate_row(n=0, unit=unit, method=method, reason=reason)}, CONTEXT[by])
    nothing = ""
    if own and frame[by].nunique() < 2:
        nothing = not_varying(frame, by)
    elif own and not frame["participant"].duplicated().any():
        nothing = "no participant has two conversations to compare"
    rows = {}
    for name in largest_groups(frame[by]):
        group = frame[frame[by] == name]
        if nothing:
            row = estimate_row(n=len(group), unit=unit, method=method, reason=nothing)
        else:
            row = mean_row(group["y"], group["participant"], bootstrap, unit, method)
        rows[name if by == "topic" else int(name)] = row
    return estimate_table(rows, CONTEXT[by])


def largest_groups(groups: pd.Series) -> list:
    return sorted(groups.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_GROUPS])


def mean_row(y: pd.Series, participants: pd.Series, bootstrap, unit: str, method: str) -> dict:
    values = np.column_stack([y, np.ones(len(y))])
    return bootstrap.row(bootstrap.estimate(ratio, values, participants), n=len(y), unit=unit, method=method)


check_arguments(globals())
