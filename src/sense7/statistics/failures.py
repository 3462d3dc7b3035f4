"""What a failure of one dimension goes with: in the same turn, in the next, and after the conversation.

A dimension fails in a turn if its rating there is poor (:func:`sense7.statistics.disruption.is_poor`). Turns are
compared with the other turns of their own conversation, failures among them: to leave out the bad ones of these
would make any turn look better or worse than it is.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.disruption import OUTCOMES, is_poor
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.order import in_order_of_appearance
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["CONTRAST", "CONTRASTED", "MOMENTS", "failure_losses", "keys"]

MOMENTS = ("same_turn", "next_turn", "after")
"""When the loss is looked at: in the turn itself, in the next one, after the conversation."""

CONTRASTED = "Relational"
CONTRAST = "Relational minus the mean of the others"

FEWEST = 2
UNIT = "level, difference"

_METHODS = {
    "same_turn": "mean overall rating of the conversation's other turns (the next apart) minus that of the turn",
    "next_turn": "mean overall rating of the conversation's other turns minus that of the turn after the failure",
    "after": "mean post-task empathy of conversations without a failure minus that of those with one",
}


def keys(moment: str) -> dict[str, str]:
    """Key under which each row of :func:`failure_losses` is recorded.

    Examples
    --------
    >>> keys("after")["Relational"], keys("after")[CONTRAST]
    ('failure_after_Relational', 'failure_after_contrast')
    """
    return {name: f"failure_{moment}_{name}" for name in DIMENSION_NAMES} | {CONTRAST: f"failure_{moment}_contrast"}


def failure_losses(study: Study, bootstrap: ParticipantBootstrap, moment: str) -> pd.DataFrame:
    r"""How much lower ratings are where a dimension failed, for each dimension.

    With t a turn in which the dimension is rated at most poor, t + 1 the turn after it, and R the rated
    turns of the conversation other than these two: the mean over failures of
    :math:`\bar y_R - y_t` (same turn) or of :math:`\bar y_R - y_{t+1}` (next turn), y the overall rating. If
    the order of turns meant nothing, the loss of the next turn would be nought on the average. After the
    conversation: mean post-task empathy of conversations in which the dimension was rated and never failed,
    minus that of conversations in which it failed at least once.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.
    moment : {"same_turn", "next_turn", "after"}
        See ``MOMENTS``.

    Returns
    -------
    DataFrame
        A row a dimension, and one for Relational minus the mean of the other dimensions: estimate
        (levels; positive: lower where it failed), low, high, n (failures; after the conversation,
        conversations), unit, method, reason. A failure whose turn, or next turn, or all other turns have no
        overall rating is left out.

    Notes
    -----
    Checked against brute force, and that the loss of the next turn is nought over all orders.
    """
    columns = [_after(study, name) if moment == "after" else _turns(study, name, moment) for name in DIMENSION_NAMES]
    lengths = [len(values) for values, _ in columns]
    sums = np.zeros((sum(lengths), len(DIMENSION_NAMES), 4))
    start = 0
    for place, (values, _) in enumerate(columns):
        sums[start : start + len(values), place] = values
        start += len(values)
    participants = pd.concat([who for _, who in columns], ignore_index=True)
    totals = sums.sum(axis=0)
    reasons = [_missing(study, name, moment, totals[place]) for place, name in enumerate(DIMENSION_NAMES)]
    rows = {}
    for place, name in enumerate(DIMENSION_NAMES):
        n = totals[place, 0] + (totals[place, 2] if moment == "after" else 0)
        mine = sums[:, place].any(axis=1)
        rows[name] = _row(
            _loss_of([place]), sums[mine], participants[mine], bootstrap, int(n), _METHODS[moment], reasons[place]
        )
    return estimate_table(rows | {CONTRAST: _contrast(rows, reasons, sums, participants, bootstrap)}, "dimension")


def _loss_of(places: list[int]):
    """Mean loss over dimensions; columns are n and sum of the failed, n and sum of what they are held against."""

    def statistic(sums: np.ndarray) -> np.ndarray:
        chosen = sums[..., places, :]
        return (chosen[..., 3] / chosen[..., 2] - chosen[..., 1] / chosen[..., 0]).mean(axis=-1)

    return statistic


def _contrast(rows: dict, reasons: list[str], sums, participants, bootstrap: ParticipantBootstrap) -> dict:
    own = DIMENSION_NAMES.index(CONTRASTED)
    others = [place for place, reason in enumerate(reasons) if not reason and place != own]
    method = f"loss of {CONTRASTED} minus the mean loss of the other dimensions that failed"
    reason = reasons[own] or ("" if others else "no other dimension failed often enough")
    n = rows[CONTRASTED]["n"]
    first, rest = _loss_of([own]), _loss_of(others)
    return _row(lambda s: first(s) - rest(s), sums, participants, bootstrap, n, method, reason)


def _turns(study: Study, name: str, moment: str) -> tuple[np.ndarray, pd.Series]:
    """For each failure: 1, overall rating of the turn or the next, 1, mean of the other turns."""
    turns = in_order_of_appearance(study.turns, "conversation", "turn")
    level = turns["overall"].astype(float)
    groups = level.groupby(turns["conversation"])
    succeeds = turns.groupby("conversation")["turn"].shift(-1) == turns["turn"] + 1
    following = groups.shift(-1).where(succeeds)
    count = groups.transform("count") - level.notna() - following.notna()
    others = (groups.transform("sum") - level.fillna(0) - following.fillna(0)) / count.where(count > 0)
    outcome = level if moment == "same_turn" else following
    used = is_poor(turns[name]) & outcome.notna() & others.notna()
    ones = np.ones(int(used.sum()))
    return np.column_stack([ones, outcome[used], ones, others[used]]), turns.loc[used, "participant"]


def _after(study: Study, name: str) -> tuple[np.ndarray, pd.Series]:
    """For each conversation in which the dimension was rated: n and outcome if it failed, n and outcome if not."""
    conversations = study.conversations.set_index("conversation")
    outcome = conversations[OUTCOMES["empathy"]].mean(axis=1)
    lowest = study.turns[name].astype(float).groupby(study.turns["conversation"]).min().reindex(conversations.index)
    used = outcome.notna() & lowest.notna()
    y, failed = outcome[used].to_numpy(), is_poor(lowest[used]).to_numpy()
    values = np.column_stack([failed, y * failed, ~failed, y * ~failed]).astype(float)
    return values, conversations.loc[used, "participant"]


def _missing(study: Study, name: str, moment: str, totals: np.ndarray) -> str:
    """Why a dimension has no loss; "" if it has."""
    if not study.turns[name].notna().any():
        return f"{name} was never rated in this data set"
    if moment != "after" and not study.turns["overall"].notna().any():
        return "the overall rating was never given in this data set"
    if moment == "after" and not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    failed, others = int(totals[0]), int(totals[2])
    if failed < FEWEST or others < FEWEST:
        if moment == "after":
            return f"{count_of(failed, 'conversation')} with a failure and {others} without one: too few"
        return f"{failed} failures with what they can be compared with: too few"
    return ""


def _row(statistic, values, participants, bootstrap: ParticipantBootstrap, n: int, method: str, reason: str) -> dict:
    if reason:
        return estimate_row(n=n, unit=UNIT, method=method, reason=reason)
    estimate, low, high, reason = bootstrap.estimate(statistic, values, participants)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=n, unit=UNIT, method=method, reason=reason)


check_arguments(globals())
