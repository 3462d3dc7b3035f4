r"""Ratings around the first poor turn of a conversation, compared with chance order.

Before the first poor turn no turn is poor, by the meaning of "first", while turns after it may be poor. So ratings in
an arbitrary order show a lasting drop too. What an arbitrary order shows is known exactly: the mean over all orders of
the ratings within each conversation. It is subtracted here. What follows a poor turn is then compared with what went
before it, by the same statistic on the turns in reversed order.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import gammaln

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.order import in_order_of_appearance
from sense7.findings.measures import is_poor, turn_levels
from sense7.study import Study
from sense7.terminal import in_words

__all__ = [
    "LASTING_DROP",
    "TIMES",
    "lasting_drop",
    "levels_by_event_time",
    "reversed_order",
]

TIMES = tuple(range(-3, 6))
"""Event times: turns after (negative: before) the first poor turn of the conversation."""

_BEFORE = ("recovery_before_3", "recovery_before_2", "recovery_before_1")
_AFTER = (
    *("recovery_after_0", "recovery_after_1", "recovery_after_2"),
    *("recovery_after_3", "recovery_after_4", "recovery_after_5"),
)
_DIFFERENCES = dict(zip(TIMES, (*_BEFORE, *_AFTER), strict=True))
"""Event time -> key of the difference from chance order."""

_DROP = {
    "as rated": "lasting_drop_as_rated",
    "in chance order": "lasting_drop_in_chance_order",
    "difference": "lasting_drop",
}

_REVERSED = {
    "right after, as it happened minus reversed": "recovery_after_1_minus_reversed",
    "lasting drop, as it happened minus reversed": "lasting_drop_minus_reversed",
}

BEFORE, LASTING = (-3, -2, -1), (2, 3, 4, 5)
"""Event times that :func:`lasting_drop` compares."""

_LASTING = f"{min(LASTING)} to {max(LASTING)}"
LASTING_DROP = f"Mean level of the {in_words(len(BEFORE))} turns before minus that of turns {_LASTING} after"
"""The estimand of :func:`lasting_drop`, for captions."""

UNIT = "level, difference"
MEAN = "level, 1 to 5"
NEVER_RATED = "no turn was rated in this data set"
NEVER_POOR = "no turn was rated poor in this data set"
NOT_THERE = "no rated turn stands there"
NO_ORDER = "no conversation with a poor turn has a second rated turn, so there is no order to compare with"


def _around_first_poor(study: Study) -> tuple[pd.DataFrame, str]:
    """Rated turns of conversations with a poor turn, with their event time; and why there are none."""
    levels, _ = turn_levels(study)
    poor = levels[is_poor(levels["level"])]
    if levels.empty or poor.empty:
        return levels[:0], NEVER_RATED if levels.empty else NEVER_POOR
    first = levels["conversation"].map(poor.groupby("conversation")["turn"].min())
    chosen = levels.assign(time=levels["turn"] - first)[first.notna()]
    return in_order_of_appearance(chosen, "conversation", "turn").reset_index(drop=True), ""


def levels_by_event_time(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    r"""Return the mean level around the first poor turn: observed, in chance order, and the difference.

    *Chance order* is the expectation over all permutations of a conversation's levels among its
    rated turns. It needs no random numbers: with n rated turns, m of them poor, the first poor turn is
    the j-th (from 0) in the share :math:`\binom{n-1-j}{m-1} / \binom{n}{m}` of the orders; given that,
    each turn before it has the mean level of the turns that are not poor, it has that of the
    poor ones, and each turn after it the mean of the m - 1 poor and n - m - j others that are left.
    Observed and expected sums and counts are added up over conversations, then divided.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    dict of DataFrame
        "as rated", "in chance order" and "difference" (the first minus the second; levels, negative: lower
        than chance order would have it). Each has one row per event time, -3 .. 5: estimate, low, high,
        n (rated turns at that time), unit, method, reason. Time counts turns; those without a level leave
        a hole that the permutations keep. The poor turn itself is poor in every order, so at time 0 the
        two differ only by how poor.

    Notes
    -----
    Checked against brute force over all orders.

    Examples
    --------
    >>> from sense7.findings.disrupted.recovery import first_poor_shares
    >>> [round(float(share), 3) for share in first_poor_shares(np.full(3, 4), np.full(3, 2), np.arange(3))]
    [0.5, 0.333, 0.167]
    """
    statistics = {
        "as rated": (lambda s: s[..., 0] / s[..., 1], MEAN, "mean level"),
        "in chance order": (
            lambda s: s[..., 2] / s[..., 3],
            MEAN,
            "mean level expected over all orders of the ratings",
        ),
        "difference": (
            lambda s: s[..., 0] / s[..., 1] - s[..., 2] / s[..., 3],
            UNIT,
            "mean level minus that expected over all orders of the ratings within each conversation",
        ),
    }
    turns, none = _around_first_poor(study)
    sums = dict.fromkeys(TIMES, np.zeros((0, 4))) if none else dict(zip(TIMES, _sums_by_time(turns), strict=True))
    no_order = "" if turns["conversation"].duplicated().any() else NO_ORDER
    tables = {}
    for name, (statistic, unit, method) in statistics.items():
        rows = {}
        for time, values in sums.items():
            n = int(values[:, 1].sum())
            reason = none or ("" if n else NOT_THERE) or ("" if name == "as rated" else no_order)
            if reason:
                rows[time] = estimate_row(n=n, unit=unit, method=method, reason=reason)
                continue
            filled = (values[:, [1, 3]] > 0).any(axis=1)
            rows[time] = _row(statistic, values[filled], turns["participant"][filled], bootstrap, n, method, unit)
        tables[name] = estimate_table(rows, "event time", _DIFFERENCES if name == "difference" else None)
    return tables


def lasting_drop(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of the turns ``BEFORE`` the first poor one minus that of the ``LASTING`` turns after it.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Rows "as rated", "in chance order" (see :func:`levels_by_event_time`: the drop that the meaning of
        "first" makes by itself) and "difference": estimate (levels; positive: lower afterwards), low, high,
        n (``LASTING`` turns after), unit, method, reason.
    """
    methods = {
        "as rated": f"mean level of the {in_words(len(BEFORE))} turns before the first poor one minus that of turns "
        f"{_LASTING} after it",
        "in chance order": "the same, expected over all orders of the ratings within each conversation",
        "difference": "drop as rated minus the drop expected over all orders of the ratings within each conversation",
    }
    statistics = {
        "as rated": lambda s: _drop(s[..., :2]),
        "in chance order": lambda s: _drop(s[..., 2:]),
        "difference": lambda s: _drop(s[..., :2]) - _drop(s[..., 2:]),
    }
    values, who, n, reason = _around_lasting(study)
    if reason:
        rows = {name: estimate_row(n=n, unit=UNIT, method=method, reason=reason) for name, method in methods.items()}
    else:
        rows = {name: _row(statistics[name], values, who, bootstrap, n, methods[name]) for name in methods}
    return estimate_table(rows, "order of the ratings", _DROP)


def _around_lasting(study: Study) -> tuple[np.ndarray, pd.Series, int, str]:
    """Sums before and ``LASTING`` turns after the first poor turn (turns, 2, 4), participants, n, and why none."""
    turns, reason = _around_first_poor(study)
    if reason:
        return np.zeros((0, 2, 4)), turns["participant"], 0, reason
    by_time = dict(zip(TIMES, _sums_by_time(turns), strict=True))
    values = np.stack([sum(by_time[time] for time in times) for times in (BEFORE, LASTING)], axis=1)
    before, n = values[:, :, 1].sum(axis=0).astype(int)
    if not (before and n):
        reason = f"no rated turns stand both before a first poor one and {_LASTING} turns after one"
    filled = (values[:, :, [1, 3]] > 0).any(axis=(1, 2))
    return values[filled], turns["participant"][filled], int(n), reason


def reversed_turns(study: Study) -> Study:
    """Return the study with the turns of every conversation in reversed order: the last one is the first.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    Study
        Turns are numbered from 1 again and come in that order; nothing else is changed.
    """
    turns = study.turns
    number = turns.groupby("conversation")["turn"].transform("max") + 1 - turns["turn"]
    return replace(study, turns=in_order_of_appearance(turns.assign(turn=number), "conversation", "turn"))


def reversed_order(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the difference from chance order minus that with the turns of every conversation reversed: a placebo.

    Effects of a poor turn on later turns are absent there: what now follows came before. That turns resemble their
    neighbors, whichever of them is first, remains, and so does what conditioning on the conversation's own mean does.
    The difference of the two directions is what has a direction: an effect on what follows, or a trend.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row for each of two statistics. *Right after*: mean level one turn after the first poor one minus that in
        chance order (negative: lower), as in :func:`levels_by_event_time`; *lasting drop*: the difference of
        :func:`lasting_drop` (positive: lower afterwards). For each: estimate as it happened minus in reversed order,
        low, high, n (turns after, in the reversed order), unit, method, reason.
    """
    parts = {
        "right after": (_right_after, lambda s: s[..., 0] / s[..., 1] - s[..., 2] / s[..., 3]),
        "lasting drop": (_around_lasting, lambda s: _drop(s[..., :2]) - _drop(s[..., 2:])),
    }
    backwards = reversed_turns(study)
    rows = {}
    for name, (sums_of, statistic) in parts.items():
        forward, people, _, reason = sums_of(study)
        backward, people_backward, n, none_backward = sums_of(backwards)
        method = f"{name} minus chance order, turns as they came minus turns in reversed order"
        reason = reason or none_backward
        row = f"{name}, as it happened minus reversed"
        if reason:
            rows[row] = estimate_row(n=n, unit=UNIT, method=method, reason=reason)
            continue
        # The two directions are an axis before those of a row.
        both = np.zeros((len(forward) + len(backward), 2, *forward.shape[1:]))
        both[: len(forward), 0], both[len(forward) :, 1] = forward, backward
        who = pd.concat([people, people_backward], ignore_index=True)

        def difference(sums: np.ndarray, of=statistic, dimensions: int = forward.ndim) -> np.ndarray:
            first, second = (np.take(sums, direction, axis=sums.ndim - dimensions) for direction in (0, 1))
            return of(first) - of(second)

        rows[row] = _row(difference, both, who, bootstrap, n, method)
    return estimate_table(rows, "order of the turns", _REVERSED)


def _right_after(study: Study) -> tuple[np.ndarray, pd.Series, int, str]:
    """Sums one turn after the first poor turn (turns, 4), participants, n, and why there are none."""
    turns, reason = _around_first_poor(study)
    if reason:
        return np.zeros((0, 4)), turns["participant"], 0, reason
    values = _sums_by_time(turns)[TIMES.index(1)]
    n = int(values[:, 1].sum())
    reason = "" if n else NOT_THERE
    if n and not turns["conversation"].duplicated().any():
        reason = NO_ORDER
    filled = (values[:, [1, 3]] > 0).any(axis=1)
    return values[filled], turns["participant"][filled], n, reason


def _drop(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0, 0] / sums[..., 0, 1] - sums[..., 1, 0] / sums[..., 1, 1]


def first_poor_shares(rated: np.ndarray, poor: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the share of all orders in which the first poor turn has a given position.

    Parameters
    ----------
    rated, poor : array of int
        Rated turns of the conversation, and poor ones among them (at least 1).
    position : array of int
        Position among the rated turns, from 0.

    Examples
    --------
    >>> first_poor_shares(np.array([5]), np.array([5]), np.array([0])).tolist()
    [1.0]
    """
    left = rated - 1 - position
    possible = left >= poor - 1

    def log_choose(n, k):
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    left = np.where(possible, left, poor)  # any that is defined
    return np.where(possible, np.exp(log_choose(left, poor - 1) - log_choose(rated, poor)), 0.0)


def _sums_by_time(turns: pd.DataFrame) -> list[np.ndarray]:
    """For each event time an array (turns, 4): level and count as rated, then as expected in chance order."""
    groups = turns.groupby("conversation", sort=False)["level"]
    level, poor = turns["level"].to_numpy(), is_poor(turns["level"]).to_numpy()
    codes = groups.ngroup().to_numpy()
    rated = np.bincount(codes)[codes]
    number = np.bincount(codes, weights=poor)[codes]
    others = rated - number
    total, total_poor = np.bincount(codes, weights=level)[codes], np.bincount(codes, weights=level * poor)[codes]
    poor_mean = total_poor / number
    other_mean = np.divide(total - total_poor, others, out=np.zeros(len(turns)), where=others > 0)
    position = groups.cumcount().to_numpy()
    share = first_poor_shares(rated, number, position)
    left = np.maximum(rated - 1 - position, 1)
    after = ((number - 1) * poor_mean + np.maximum(others - position, 0) * other_mean) / left
    moments = turns["turn"].to_numpy()
    span = int(moments.max()) + 2 * len(TIMES)
    cell = codes * span + moments
    values = []
    for time in TIMES:
        here = turns["time"].to_numpy() == time
        there = np.isin(cell + time, cell)  # whether a rated turn stands so far from each
        expected = other_mean if time < 0 else poor_mean if time == 0 else after
        weight = np.where(there, share, 0.0)
        values.append(np.column_stack([level * here, here, expected * weight, weight]))
    return values


def _row(
    statistic, values, participants, bootstrap: ParticipantBootstrap, n: int, method: str, unit: str = UNIT
) -> dict:
    estimate = bootstrap.estimate(statistic, values, participants)
    undefined = "too few turns around it to tell it apart"
    return bootstrap.row(estimate, n=n, unit=unit, method=method, undefined=undefined)


check_arguments(globals())
