r"""Where a judge errs to one side: its mean error by what a conversation is like.

The error of a conversation is the score minus the ground truth, mean over the runs that have a score. Each row of the
table is one condition: the mean error there minus the mean error of all other conversations, with its
interval over participants. P values (:func:`sense7.statistics.bootstrap.resampled_p`) are
corrected by Holm's rule over the whole table. Groups are not made by chance: what a condition differs in, such as
length, shows in its row as well.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.findings.core import finding, share
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import Metric, simulated_prefix
from sense7.statistics.bootstrap import ParticipantBootstrap, resampled_p
from sense7.statistics.estimates import Estimate, estimate_row, estimate_table, holm, safe_names
from sense7.study import Study

__all__ = ["bias_table"]

_ABOUT = Metric(
    "",
    "level, difference",
    "mean error (score minus ground truth, mean over runs) minus that of all other conversations",
)


@finding
def bias_table(
    study: Study,
    runs: Mapping[str, Run],
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """Return how a judge's mean error in each group differs from that in all other conversations.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    runs : mapping
        The judge's runs by their names; none if there is no judge.
    bootstrap : ParticipantBootstrap
        Resamples of the study's participants.

    Returns
    -------
    DataFrame
        Table of estimates of the differences, indexed by ``condition: name``, with the columns p, p_holm (over the
        table) and key; or one row that says why there is no difference.
        A group of few participants, or whose complement has few, has no interval (``FEWEST_IN_A_GROUP``).
    """
    truth = ground_truth(study.turns, study.conversations["conversation"])
    errors = [pd.Series(dtype=float)]
    for run in runs.values():
        score = pd.Series(run.score, run.conversation)
        errors.append((score - truth.reindex(score.index)).dropna())
    error = pd.concat(errors).groupby(level=0, sort=False).mean()
    conversations = study.conversations.set_index("conversation").reindex(error.index)
    rated = conversations.assign(error=error).dropna(subset="condition")
    condition, people = rated["condition"], rated["participant"]
    names = safe_names(condition.value_counts().index)
    reason = ""
    if error.empty:
        reason = ABSENT
    elif len(names) < 2:
        reason = "nothing to compare"
    rows = {}
    if reason:
        row = estimate_row(n=0, unit=_ABOUT.unit, method=_ABOUT.method, reason=reason)
        rows["condition"] = {**row, "key": "", "p": np.nan}
        names = {}
    for group, name in names.items():
        inside = (condition == group).to_numpy()
        outside = ~inside
        mean_inside = share(bootstrap, rated["error"] * inside, inside, people)
        mean_outside = share(bootstrap, rated["error"] * outside, outside, people)
        statistic = mean_inside - mean_outside
        p = resampled_p(statistic[1:])
        too_few = bootstrap.too_few_in_a_group(people, inside, "difference of means")
        if too_few:
            statistic = Estimate(statistic[0], reason=too_few)
        key = f"bias_condition_{name}"
        row = _ABOUT.number(group, statistic, people[inside], key=key).row(bootstrap)
        if row["reason"]:
            p = np.nan
        rows[f"condition: {group}"] = {**row, "p": p}
    table = estimate_table(rows, "conversations")
    p = np.array([row["p"] for row in rows.values()], dtype=float)
    return table.assign(method=simulated_prefix(runs) + table["method"], p=p, p_holm=holm(p))
