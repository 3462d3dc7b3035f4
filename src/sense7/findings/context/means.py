"""Mean empathy by topic."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import within
from sense7.findings.context.frame import context_frame, not_varying
from sense7.study import Study

__all__ = ["own_topic_means", "topic_by_condition"]

MOST_GROUPS = 40

NOT_GIVEN = "(not given)"


def own_topic_means(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean ground truth of the conversations of each topic, minus the participant's own mean.

    .. math:: \overline{y_{pc} - \bar y_p}

    so that it does not matter who chose the topic.

    Returns
    -------
    DataFrame
        One row per topic, in its order (of more than 40 the 40 largest): estimate (points), low, high, n
        (conversations), unit, method, reason. Conversations without ground truth or topic are left out.
    """
    frame = context_frame(study)
    reason = not_varying(frame, "topic")
    frame = frame[frame["topic"].notna()]
    common = {"unit": "points", "method": "mean ground truth over conversations, minus the participant's own mean"}
    if not reason and not frame["participant"].duplicated().any():
        reason = "no participant has two conversations to compare"
    if frame.empty:
        rows = {NOT_GIVEN: estimate_row(n=0, **common, reason=reason)}
    else:
        frame = frame.assign(y=within(frame[["y"]].to_numpy(), frame["participant"])[:, 0])
        rows = {}
        for topic in largest_groups(frame["topic"]):
            own = frame[frame["topic"] == topic]
            rows[topic] = (
                estimate_row(n=len(own), **common, reason=reason)
                if reason
                else mean_row(own["y"], own["participant"], bootstrap, **common)
            )
    # A topic by its number, since it is a text of the workbook.
    return estimate_table(rows, "topic", {topic: f"topic_mean_own_{number}" for number, topic in enumerate(rows, 1)})


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


def largest_groups(groups: pd.Series) -> list:
    return sorted(groups.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_GROUPS])


def mean_row(y: pd.Series, participants: pd.Series, bootstrap, unit: str, method: str) -> dict:
    values = np.column_stack([y, np.ones(len(y))])
    return bootstrap.row(bootstrap.estimate(ratio, values, participants), n=len(y), unit=unit, method=method)


check_arguments(globals())
