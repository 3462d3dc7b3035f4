"""Mean empathy by group of a context variable."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import within
from sense7.findings.context.frame import CONTEXT, context_frame, not_varying
from sense7.findings.ground_truth import labels
from sense7.study import Study

__all__ = ["group_means", "topic_by_condition"]

MOST_GROUPS = 40

NOT_GIVEN = "(not given)"
LEVEL = "level, 1 to 5"

_STARTS = {
    ("topic", False): "topic_mean",
    ("topic", True): "topic_mean_own",
    ("importance", False): "importance_mean",
    ("desired_empathy", False): "desired_mean",
}
"""Variable, and whether minus the participant's own mean -> beginning of a group's key."""


def group_means(study: Study, bootstrap: ParticipantBootstrap, by: str, *, own: bool = False) -> pd.DataFrame:
    r"""Return the mean ground truth of the conversations of each topic, importance or desired empathy.

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
        :math:`y_{pc} - \bar y_p`, so that it does not matter who chose the group.

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
        rows = {NOT_GIVEN: estimate_row(n=0, unit=unit, method=method, reason=reason)}
    else:
        rows = _group_rows(frame, by, bootstrap, unit, method, _no_own_means(frame, by) if own else "")
    keys = {}
    if start := _STARTS.get((by, own)):
        # A topic by its number, since it is a text of the workbook; a level by itself.
        keys = {name: f"{start}_{name if isinstance(name, int) else i}" for i, name in enumerate(rows, 1)}
    return estimate_table(rows, CONTEXT[by], keys)


def topic_by_condition(study: Study) -> pd.DataFrame:
    """Return the mean ground truth of the conversations of each topic in each condition.

    Returns
    -------
    DataFrame
        One row per topic and condition, in their order (of more than 40 topics or conditions the 40 largest): topic,
        condition, mean (1..5; NaN with fewer than ``FEWEST_PARTICIPANTS`` participants, as for an interval), n
        (conversations). Those without ground truth, topic or condition are left out.
    """
    frame = context_frame(study).dropna(subset=["topic", "condition"])
    by = ["topic", "condition"]
    groups = [largest_groups(frame[name]) for name in by]
    cells = frame.groupby(by).agg(mean=("y", "mean"), n=("y", "size"), people=("participant", "nunique"))
    cells = cells.reindex(pd.MultiIndex.from_product(groups, names=by))
    cells["mean"] = cells["mean"].where(cells["people"] >= FEWEST_PARTICIPANTS)
    return cells[["mean", "n"]].fillna({"n": 0}).astype({"n": int}).reset_index()


def _group_rows(frame: pd.DataFrame, by: str, bootstrap, unit: str, method: str, reason: str) -> dict:
    rows = {}
    for name in largest_groups(frame[by]):
        group = frame[frame[by] == name]
        if reason:
            row = estimate_row(n=len(group), unit=unit, method=method, reason=reason)
        else:
            row = mean_row(group["y"], group["participant"], bootstrap, unit, method)
        rows[name if by == "topic" else int(name)] = row
    return rows


def _no_own_means(frame: pd.DataFrame, by: str) -> str:
    """Why groups can't be compared within participants; "" if they can."""
    if frame[by].nunique() < 2:
        return not_varying(frame, by)
    return "" if frame["participant"].duplicated().any() else "no participant has two conversations to compare"


def largest_groups(groups: pd.Series) -> list:
    return sorted(groups.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_GROUPS])


def mean_row(y: pd.Series, participants: pd.Series, bootstrap, unit: str, method: str) -> dict:
    values = np.column_stack([y, np.ones(len(y))])
    return bootstrap.row(bootstrap.estimate(ratio, values, participants), n=len(y), unit=unit, method=method)


check_arguments(globals())
