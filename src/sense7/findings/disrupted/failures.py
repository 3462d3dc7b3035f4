"""Loss of ratings with a failure of Relational beyond failures of the other dimensions.

A dimension fails in a turn if its rating there is poor (:func:`sense7.findings.measures.is_poor`). Turns are
compared with the other turns of their own conversation, failures among them: to leave out the bad ones of these
would make any turn look better or worse than it is.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares
from sense7.estimators.order import in_order_of_appearance
from sense7.findings.ground_truth import labels
from sense7.findings.measures import POOR, turn_rating
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["continuity_contrast", "continuity_contrasts"]

CONTRASTED = "Relational"

_CONTINUITY = {
    "same turn, Relational minus the others": "continuity_contrast_same_turn",
    "next turn, Relational minus the others": "continuity_contrast_next_turn",
    "next turn, Relational": "continuity_failure_next_turn",
    "next turn, mean of the others": "other_failures_next_turn",
}
"""Rows of :func:`continuity_contrasts` -> keys."""

FEWEST = 2
UNIT = "level, difference"


def continuity_contrasts(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how much more ratings fall with a failure of Relational than with one of any other dimension.

    Each turn t is compared with the other turns of its own conversation, and the failures of all seven dimensions in
    it are analyzed together, so that a failure of Relational counts only beyond the other failures:

    .. math:: \bar y_{R(t)} - y_t = a + \sum_d b_d f_{td} + e_t \quad \text{(same turn)}

    .. math:: \bar y_{R(t)} - y_{t+1} = a + \sum_d b_d f_{td} + e_t \quad \text{(next turn)}

    by least squares over turns. :math:`f_{td}` is 1 where dimension d is rated at most poor in turn t, and 0 where it
    is rated better or not rated. R(t) are the rated turns of the conversation other than t and t + 1. The contrast is
    :math:`b_{Relational}` minus the mean of the :math:`b_d` of the other six; a dimension that failed in fewer than two
    of these turns is left out. The rating y is the overall rating in the same turn, and the mean of the rated
    dimensions in the next turn: that has less noise, and none of it is of turn t.

    If the order of a conversation's turns means nothing, turn t + 1 is like any turn of R(t), regardless of what
    happened in t, so that every :math:`b_d` of the next turn is zero. In the same turn they are not: all ratings of a
    turn resemble each other.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Relational minus the others in the same turn and in the next; and of the next turn Relational, and the mean of
        the others: estimate (levels; positive: lower where it failed, or lower with Relational), low, high, n (failures
        of Relational; of any other dimension), unit, method, reason. A turn without y, without a next turn (for the
        next turn), or without another rated turn is left out.

    Notes
    -----
    Checked against statsmodels' OLS, and that the next turn's are zero over all orders.
    """
    rows = {}
    for moment, rating in (("same", "overall"), ("next", "dimensions")):
        regressed = _regressed(study, moment, rating)
        reason = regressed.reason
        estimates = [Estimate(np.nan)] * len(regressed.numbers)
        if not reason:
            estimates = bootstrap.estimates(regressed.statistic, regressed.cross, regressed.participants)
        names = [name for name in _CONTINUITY if name.startswith(moment)]
        undefined = reason or "the failures of the dimensions cannot be distinguished"
        for name, estimate, n in zip(names, estimates, regressed.numbers, strict=False):
            rows[name] = bootstrap.row(estimate, n=int(n), unit=UNIT, method=regressed.method, undefined=undefined)
    return estimate_table(rows, "loss", _CONTINUITY)


def _contrast_of(count: int):
    """Relational minus the mean of the others, and both, from cross products in which Relational is first."""

    def statistic(cross: np.ndarray) -> np.ndarray:
        coefficients = least_squares(cross)[0][..., :count]
        own, others = coefficients[..., 0], coefficients[..., 1:].mean(axis=-1)
        return np.stack([own - others, own, others], axis=-1)

    return statistic


def continuity_contrast(
    study: Study, bootstrap: ParticipantBootstrap, moment: str, rating: str, *, poor: int = POOR, first_turn: int = 1
) -> dict:
    """Return Relational minus the other dimensions, as in :func:`continuity_contrasts`, with other choices.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the interval.
    moment : {"same", "next"}
        Turn in which the loss is measured.
    rating : {"overall", "dimensions"}
        Rating whose loss it is.
    poor : int
        Highest level that is called a failure.
    first_turn : int
        Failures in earlier turns are left out.

    Returns
    -------
    dict
        A row of estimates; n counts failures of Relational.
    """
    regressed = _regressed(study, moment, rating, poor, first_turn)
    common = {"n": int(regressed.numbers[0]), "unit": UNIT, "method": regressed.method}
    if regressed.reason:
        return estimate_row(**common, reason=regressed.reason)
    statistic = regressed.statistic
    contrast = bootstrap.estimate(lambda cross: statistic(cross)[..., 0], regressed.cross, regressed.participants)
    return bootstrap.row(contrast, **common)


class _Regressed(NamedTuple):
    """Data of the contrasts of one moment.

    ``cross`` holds one matrix of cross products per turn, ``numbers`` the failures behind each estimate of
    ``statistic``, and ``reason`` why there is none.
    """

    cross: np.ndarray
    participants: pd.Series
    numbers: list[float]
    statistic: Callable[[np.ndarray], np.ndarray]
    method: str
    reason: str


def _regressed(study: Study, moment: str, rating: str, poor: int = POOR, first_turn: int = 1) -> _Regressed:
    """Cross products of the failures of Relational first and then of the others, one, and the loss, turn by turn."""
    loss, failed, participants = _losses_and_failures(study, moment, rating, poor, first_turn)
    counts, own = failed.sum(axis=0), DIMENSION_NAMES.index(CONTRASTED)
    others = [i for i, count in enumerate(counts) if count >= FEWEST and i != own]
    columns = np.column_stack([failed[:, [own, *others]], np.ones(len(loss)), loss])
    return _Regressed(
        columns[:, :, None] * columns[:, None, :],
        participants,
        [counts[own], counts[own], failed[:, others].any(axis=1).sum()],
        _contrast_of(1 + len(others)),
        f"least squares of the loss in the {moment} turn on the failures of all dimensions in the turn",
        _no_contrast(study, rating, counts[own], others),
    )


def _losses_and_failures(
    study: Study, moment: str, rating: str, poor: int = POOR, first_turn: int = 1
) -> tuple[np.ndarray, np.ndarray, pd.Series]:
    """Loss, failures of each dimension, and participant of each turn that can be compared."""
    turns = in_order_of_appearance(study.turns, "conversation", "turn")
    level, following, others = _compared(turns, turn_rating(turns, rating))
    loss = others - (level if moment == "same" else following)
    used = loss.notna() & (turns["turn"] >= first_turn)
    failed = np.column_stack([labels(turns.loc[used, name]) <= poor for name in DIMENSION_NAMES]).astype(float)
    return loss[used].to_numpy(), failed, turns.loc[used, "participant"]


def _no_contrast(study: Study, rating: str, failures: float, others: list[int]) -> str:
    """Why there is no contrast; "" if there is one."""
    if rating == "overall" and not study.turns["overall"].notna().any():
        return "the overall rating was never given in this data set"
    if not study.turns[CONTRASTED].notna().any():
        return f"{CONTRASTED} was never rated in this data set"
    if failures < FEWEST:
        return f"{count_of(int(failures), 'failure')} of {CONTRASTED} with what it can be compared with: too few"
    return "" if others else "no other dimension failed often enough"


def _compared(turns: pd.DataFrame, level: pd.Series) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Level of each turn, that of the next turn, and the mean of the conversation's others; turns in their order."""
    level = level.astype(float)
    groups = level.groupby(turns["conversation"])
    succeeds = turns.groupby("conversation")["turn"].shift(-1) == turns["turn"] + 1
    following = groups.shift(-1).where(succeeds)
    count = groups.transform("count") - level.notna() - following.notna()
    others = (groups.transform("sum") - level.fillna(0) - following.fillna(0)) / count.where(count > 0)
    return level, following, others


check_arguments(globals())
