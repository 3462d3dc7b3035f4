"""What breaks empathy: turns around the first poor one, neighboring turns, lost continuity, unmet expectations.

Around the first poor turn ratings are compared with those in permuted order. Before the first poor turn no turn is
poor, by the meaning of "first", while turns after it may be poor. So ratings in an arbitrary order show a lasting drop
too. What an arbitrary order shows is known exactly: the mean over all orders of the ratings within each conversation.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import gammaln

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.least_squares import least_squares
from sense7.estimators.order import in_order_of_appearance, rounded
from sense7.findings.core import Number, finding, need, require_own, resampled, tabulate
from sense7.findings.ground_truth import labels
from sense7.findings.measures import OUTCOMES, POOR, is_poor, turn_levels, turn_rating
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "LASTING_DROP",
    "continuity_contrasts",
    "lag_1_correlation",
    "lasting_drop",
    "levels_by_event_time",
    "response_surface",
    "reversed_order",
    "unmet_expectations",
]

TIMES = tuple(range(-3, 6))
"""Event times: turns after (negative: before) the first poor turn of the conversation."""
BEFORE, LASTING = (-3, -2, -1), (2, 3, 4, 5)
"""Event times that :func:`lasting_drop` compares."""
AFTERWARDS = f"turns {min(LASTING)} to {max(LASTING)} after"
LASTING_DROP = f"Mean level of the three turns before minus that of {AFTERWARDS}"
"""The estimand of :func:`lasting_drop`, for captions."""

DIFFERENCE = "level, difference"
NEVER_RATED = "no turn was rated in this data set"
NEVER_POOR = "no turn was rated poor in this data set"
NOT_THERE = "no rated turn stands there"
NO_ORDER = (
    "no conversation with a poor turn has a second rated turn, so there is no order to compare with"
)


@dataclass(frozen=True)
class Event:
    """Rated turns of the conversations with a poor turn, and their sums around the first poor one.

    ``sums`` (turns, times, 4) are at each event time level and count as rated, then as expected in permuted order;
    ``reason`` says why there are none.
    """

    turns: pd.DataFrame
    sums: np.ndarray
    reason: str

    def at(self, time: int) -> np.ndarray:
        """The sums at one event time."""
        return self.sums[:, TIMES.index(time)]

    @property
    def around(self) -> np.ndarray:
        """The sums before the first poor turn and some turns after it: (turns, 2, 4)."""
        return np.stack([sum(map(self.at, times)) for times in (BEFORE, LASTING)], axis=1)

    @property
    def no_order(self) -> str:
        """Why there is no order to compare with; "" if there is one."""
        return self.reason or ("" if self.turns["conversation"].duplicated().any() else NO_ORDER)


def first_poor_event(study: Study) -> Event:
    """Turns around the first poor one of each conversation."""
    levels, _ = turn_levels(study)
    poor = levels[is_poor(levels["level"])]
    if poor.empty:
        return Event(
            levels[:0], np.zeros((0, len(TIMES), 4)), NEVER_RATED if levels.empty else NEVER_POOR
        )
    first = levels["conversation"].map(poor.groupby("conversation")["turn"].min())
    turns = levels.assign(time=levels["turn"] - first)[first.notna()]
    turns = in_order_of_appearance(turns, "conversation", "turn").reset_index(drop=True)
    groups, level, poor = (
        turns.groupby("conversation", sort=False),
        turns["level"].to_numpy(),
        is_poor(turns["level"]),
    )
    codes = groups.ngroup().to_numpy()
    rated, number = np.bincount(codes)[codes], np.bincount(codes, weights=poor)[codes]
    others = rated - number
    total, total_poor = (
        np.bincount(codes, weights=level)[codes],
        np.bincount(codes, weights=level * poor)[codes],
    )
    poor_mean = total_poor / number
    other_mean = np.divide(total - total_poor, others, out=np.zeros(len(turns)), where=others > 0)
    position = groups.cumcount().to_numpy()
    left = np.maximum(rated - 1 - position, 1)
    after = ((number - 1) * poor_mean + np.maximum(others - position, 0) * other_mean) / left
    cell = codes * (int(turns["turn"].max()) + 2 * len(TIMES)) + turns["turn"].to_numpy()
    share, sums = first_poor_shares(rated, number, position), []
    for time in TIMES:
        here = turns["time"].to_numpy() == time
        there = np.isin(cell + time, cell)  # whether a rated turn stands so far from each
        expected = other_mean if time < 0 else poor_mean if time == 0 else after
        weight = np.where(there, share, 0.0)
        sums.append(np.column_stack([level * here, here, expected * weight, weight]))
    return Event(turns, np.stack(sums, axis=1), "")


def first_poor_shares(rated: np.ndarray, poor: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Share of all orders in which the first of some poor turns has a position (from 0) among the rated ones.

    Examples
    --------
    >>> [round(float(share), 3) for share in first_poor_shares(np.full(3, 4), np.full(3, 2), np.arange(3))]
    [0.5, 0.333, 0.167]
    """
    left = rated - 1 - position
    possible = left >= poor - 1

    def log_choose(n, k):
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    left = np.where(possible, left, poor)  # any that is defined
    return np.where(possible, np.exp(log_choose(left, poor - 1) - log_choose(rated, poor)), 0.0)


def as_rated(sums: np.ndarray) -> np.ndarray:
    """Mean level as rated."""
    return sums[..., 0] / sums[..., 1]


def permuted(sums: np.ndarray) -> np.ndarray:
    """Mean level in permuted order."""
    return sums[..., 2] / sums[..., 3]


def beyond_order(sums: np.ndarray) -> np.ndarray:
    """Mean level as rated minus that in permuted order."""
    return as_rated(sums) - permuted(sums)


def dropped(level, sums: np.ndarray) -> np.ndarray:
    """Level before the first poor turn minus that some turns after it."""
    levels = level(sums)
    return levels[..., 0] - levels[..., 1]


def in_resamples(
    bootstrap: ParticipantBootstrap, statistic, event: Event, values: np.ndarray
) -> np.ndarray:
    """A statistic of sums of an event's turns, of those that have any."""
    filled = (values[..., [1, 3]] > 0).any(axis=tuple(range(1, values.ndim)))
    return resampled(bootstrap, statistic, values[filled], event.turns["participant"][filled])


UNDEFINED = "too few turns around it to tell it apart"


@finding
def levels_by_event_time(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    r"""Return the mean level around the first poor turn: as rated, in permuted order, and the difference.

    *Permuted order* is the expectation over all permutations of a conversation's levels among its rated turns. It needs
    no random numbers: with n rated turns, m of them poor, the first poor turn is the j-th (from 0) in the share
    :math:`\binom{n-1-j}{m-1} / \binom{n}{m}` of the orders; given that, each turn before it has the mean level of the
    turns that are not poor, it has that of the poor ones, and each turn after it the mean of the m - 1 poor and
    n - m - j others that are left. Observed and expected sums and counts are added up over conversations, then divided.

    Returns
    -------
    dict of DataFrame
        "as rated", "in permuted order" and "difference" (the first minus the second; levels, negative: lower than in
        permuted order). Each has one row per event time, -3 .. 5: estimate, low, high, n (rated turns at that time),
        unit, method, reason. Time counts turns; those without a level leave a hole that the permutations keep. The poor
        turn itself is poor in every order, so at time 0 the two differ only by how poor.
    """
    require_own(study, bootstrap)
    event, tables = first_poor_event(study), {}

    def level(name: str, statistic, time: int):
        need(not event.reason, event.reason)
        need(event.at(time)[:, 1].any(), NOT_THERE)
        need(name == "as rated" or not event.no_order, event.no_order)
        return in_resamples(bootstrap, statistic, event, event.at(time))

    ways = {
        "as rated": (as_rated, "level, 1 to 5", "mean level"),
        "in permuted order": (
            permuted,
            "level, 1 to 5",
            "mean level expected over all orders of the ratings",
        ),
        "difference": (
            beyond_order,
            DIFFERENCE,
            "mean level minus that expected over all orders of the ratings within each conversation",
        ),
    }
    for name, (statistic, *how) in ways.items():
        numbers = []
        for time in TIMES:
            rows = event.turns[event.at(time)[:, 1] > 0]
            key = (
                f"recovery_{'before' if time < 0 else 'after'}_{abs(time)}"
                if name == "difference"
                else ""
            )
            number = Number(time, partial(level, name, statistic, time), *how, rows, key, UNDEFINED)
            numbers.append(number)
        tables[name] = tabulate("event time", numbers, bootstrap)
    return tables


def no_lasting(event: Event) -> str:
    """Why no lasting drop can be computed; "" if it can."""
    turns = event.around[:, :, 1].sum(axis=0)
    lacking = f"no rated turns stand both before a first poor one and {min(LASTING)} to {max(LASTING)} turns after one"
    return event.reason or ("" if turns.all() else lacking)


@finding
def lasting_drop(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of the turns ``BEFORE`` the first poor one minus that of the ``LASTING`` turns after it.

    Rows "as rated", "in permuted order" (see :func:`levels_by_event_time`: the drop that the meaning of "first" makes
    by itself) and "difference": estimate (levels; positive: lower afterwards), low, high, n (``LASTING`` turns after).
    """
    require_own(study, bootstrap)
    event = first_poor_event(study)
    rows = event.turns[event.around[:, 1, 1] > 0]

    def drop(level):
        need(not no_lasting(event), no_lasting(event))
        return in_resamples(bootstrap, partial(dropped, level), event, event.around)

    over = "over all orders of the ratings within each conversation"
    before = (
        f"mean level of the three turns before the first poor one minus that of {AFTERWARDS} it"
    )
    numbers = (
        ("as rated", as_rated, before, "lasting_drop_as_rated"),
        (
            "in permuted order",
            permuted,
            f"the same, expected {over}",
            "lasting_drop_in_chance_order",
        ),
        (
            "difference",
            beyond_order,
            f"drop as rated minus the drop expected {over}",
            "lasting_drop",
        ),
    )
    return tabulate(
        "order of the ratings",
        [
            Number(name, partial(drop, level), DIFFERENCE, how, rows, key, UNDEFINED)
            for name, level, how, key in numbers
        ],
        bootstrap,
    )


def reversed_turns(study: Study) -> Study:
    """The study with the turns of every conversation in reversed order, numbered from 1 again; nothing else changed."""
    turns = study.turns
    number = turns.groupby("conversation")["turn"].transform("max") + 1 - turns["turn"]
    return replace(
        study, turns=in_order_of_appearance(turns.assign(turn=number), "conversation", "turn")
    )


@finding
def reversed_order(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the difference from permuted order minus that with the turns of every conversation reversed: a placebo.

    Effects of a poor turn on later turns are absent there: what now follows came before. That turns resemble their
    neighbors, whichever of them is first, remains, and so does what conditioning on the conversation's own mean does.
    The difference of the two directions is what has a direction: an effect on what follows, or a trend.

    Returns
    -------
    DataFrame
        One row for each of two statistics. *Right after*: mean level one turn after the first poor one minus that in
        permuted order (negative: lower), as in :func:`levels_by_event_time`; *lasting drop*: the difference of
        :func:`lasting_drop` (positive: lower afterwards). For each: estimate as it happened minus in reversed order,
        low, high, n (turns after, in the reversed order), unit, method, reason.
    """
    require_own(study, bootstrap)
    forward, backward = first_poor_event(study), first_poor_event(reversed_turns(study))

    def direction(values_of, why_not, statistic):
        reasons = [why_not(event) for event in (forward, backward)]
        need(not any(reasons), next(filter(None, reasons), ""))
        first, second = (
            in_resamples(bootstrap, statistic, event, values_of(event))
            for event in (forward, backward)
        )
        return first - second

    def none_after(event: Event) -> str:
        return event.reason or ("" if event.at(1)[:, 1].any() else NOT_THERE) or event.no_order

    parts = (
        (
            "right after",
            "recovery_after_1_minus_reversed",
            lambda event: event.at(1),
            none_after,
            beyond_order,
        ),
        (
            "lasting drop",
            "lasting_drop_minus_reversed",
            lambda event: event.around,
            no_lasting,
            partial(dropped, beyond_order),
        ),
    )
    numbers = []
    for name, key, values_of, why_not, statistic in parts:
        after = values_of(backward)[..., 1]
        rows = backward.turns[(after if after.ndim == 1 else after[:, -1]) > 0]
        method = f"{name} minus permuted order, turns as they came minus turns in reversed order"
        compute, row = (
            partial(direction, values_of, why_not, statistic),
            f"{name}, as it happened minus reversed",
        )
        numbers.append(Number(row, compute, DIFFERENCE, method, rows, key, UNDEFINED))
    return tabulate("order of the turns", numbers, bootstrap)


@finding
def lag_1_correlation(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the lag-1 correlation of the turns within conversations, and that in permuted order.

    .. math:: r = \frac{\sum_c \sum_t z_{ct} z_{c,t+1}}{\sum_c K_c S_c / n_c}, \quad
              r_0 = -\frac{\sum_c K_c S_c / (n_c (n_c - 1))}{\sum_c K_c S_c / n_c}

    with z the level of a turn minus the mean of its conversation, n the rated turns of a conversation, K its pairs of
    neighboring rated turns and :math:`S = \sum_t z_t^2`. The second is the mean of the first over all orders of the
    levels among a conversation's rated turns: deviations from their own mean add up to zero, so that two of them have a
    negative correlation of :math:`-1/(n - 1)` in any order.

    Returns
    -------
    DataFrame
        Rows *as rated*, *permuted order* and *as rated minus permuted order* (above zero: neighbors resemble each
        other): estimate, low, high, n (pairs of neighboring turns), unit, method, reason.
    """
    require_own(study, bootstrap)
    turns, words = turn_levels(study)
    turns = turns.sort_values(["turn"], kind="stable")
    groups = turns.groupby("conversation", sort=False)
    z, follows = (
        turns["level"] - groups["level"].transform("mean"),
        groups["turn"].shift(-1) == turns["turn"] + 1,
    )
    pair = (z * z.groupby(turns["conversation"], sort=False).shift(-1)).where(follows, 0.0)
    frame = turns[["conversation", "participant"]].assign(
        n=1.0, K=follows.astype(float), S=z**2, products=pair
    )
    talks = (
        frame.groupby(["conversation", "participant"], sort=False).sum().reset_index("participant")
    )
    talks = talks[talks["K"] > 0]
    square = talks["K"] * talks["S"] / talks["n"]
    values = np.column_stack([talks["products"], -square / (talks["n"] - 1), square])

    def correlation(weights: tuple[int, int]):
        need(len(talks), "no conversation has two rated turns after each other")
        need(rounded(square.sum()) > 0, "the turns of each conversation are rated alike")
        return resampled(
            bootstrap,
            lambda s: s[..., :2] @ np.array(weights) / s[..., 2],
            values,
            talks["participant"],
        )

    numbers = []
    names = {"as rated": (1, 0), "permuted order": (0, 1), "as rated minus permuted order": (1, -1)}
    for name, weights in names.items():
        method = f"lag-1 correlation of the {words} within conversations, {name}"
        key = "lag_1_minus_permuted_order" if "minus" in name else ""
        numbers.append(
            Number(name, partial(correlation, weights), "correlation", method, turns[follows], key)
        )
    return tabulate("order of the turns", numbers, bootstrap)


# Lost continuity. A dimension fails in a turn if its rating there is poor. Turns are compared with the other turns of
# their own conversation, failures among them: to leave out the bad ones of these would make any turn look better or
# worse than it is.

CONTRASTED = "Relational"
FEWEST = 2


@finding
def continuity_contrasts(
    study: Study,
    bootstrap: ParticipantBootstrap,
    rating: str = "",
    poor: int = POOR,
    first_turn: int = 1,
) -> pd.DataFrame:
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
    rating : {"", "overall", "dimensions"}
        Rating whose loss it is in either turn; that of the text above if empty.
    poor : int
        Highest level that is called a failure.
    first_turn : int
        Failures in earlier turns are left out.

    Returns
    -------
    DataFrame
        Relational minus the others in the same turn and in the next; and of the next turn Relational, and the mean of
        the others: estimate (levels; positive: lower where it failed, or lower with Relational), low, high, n (failures
        of Relational; of any other dimension), unit, method, reason. A turn without y, without a next turn (for the
        next turn), or without another rated turn is left out.
    """
    require_own(study, bootstrap)

    def losses(
        columns: np.ndarray, people: pd.Series, others: int, failures: int, rating: str
    ) -> np.ndarray:
        never = "the overall rating was never given in this data set"
        need(rating != "overall" or study.turns["overall"].notna().any(), never)
        need(
            study.turns[CONTRASTED].notna().any(), f"{CONTRASTED} was never rated in this data set"
        )
        few = f"{count_of(failures, 'failure')} of {CONTRASTED} with what it can be compared with: too few"
        need(failures >= FEWEST, few)
        need(others, "no other dimension failed often enough")

        def contrast(cross: np.ndarray) -> np.ndarray:
            b = least_squares(cross)[0]
            relational, mean = b[..., 0], b[..., 1 : 1 + others].mean(axis=-1)
            return np.stack([relational - mean, relational, mean], axis=-1)

        return resampled(bootstrap, contrast, columns[:, :, None] * columns[:, None, :], people)

    turns, numbers = in_order_of_appearance(study.turns, "conversation", "turn"), []
    for moment, usual in (("same", "overall"), ("next", "dimensions")):
        level = turn_rating(turns, rating or usual).astype(float)
        groups = level.groupby(turns["conversation"])
        follows = turns.groupby("conversation")["turn"].shift(-1) == turns["turn"] + 1
        following = groups.shift(-1).where(follows)
        count = groups.transform("count") - level.notna() - following.notna()
        rest = (groups.transform("sum") - level.fillna(0) - following.fillna(0)) / count.where(
            count > 0
        )
        loss = rest - (level if moment == "same" else following)
        used = turns[loss.notna() & (turns["turn"] >= first_turn)]
        failed = np.column_stack([labels(used[name]) <= poor for name in DIMENSION_NAMES]).astype(
            float
        )
        own = DIMENSION_NAMES.index(CONTRASTED)
        others = [i for i, count in enumerate(failed.sum(axis=0)) if count >= FEWEST and i != own]
        columns = np.column_stack([failed[:, [own, *others]], np.ones(len(used)), loss[used.index]])
        failures = used[failed[:, own] > 0], used[failed[:, others].any(axis=1)]

        given = columns, used["participant"], len(others), len(failures[0]), rating or usual
        contrasts = cache(partial(losses, *given))
        method = f"least squares of the loss in the {moment} turn on the failures of all dimensions in the turn"
        rows = [("Relational minus the others", f"continuity_contrast_{moment}_turn", failures[0])]
        if moment == "next":
            rows.append(("Relational", "continuity_failure_next_turn", failures[0]))
            rows.append(("mean of the others", "other_failures_next_turn", failures[1]))
        for place, (name, key, counted) in enumerate(rows):
            undefined = "the failures of the dimensions cannot be distinguished"
            statistic = partial(lambda contrasts, place: contrasts()[:, place], contrasts, place)
            label = f"{moment} turn, {name}"
            numbers.append(Number(label, statistic, DIFFERENCE, method, counted, key, undefined))
    return tabulate("loss", numbers, bootstrap)


# Unmet expectations

HIGH = 3
"""The highest of the three levels of desired empathy."""
LOW_BELOW = 3.5
"""A conversation is low in empathy if the mean level of its turns is below this: half-way between neutral and good."""


def expectation_conversations(study: Study, low_below: float = LOW_BELOW) -> pd.DataFrame:
    """Wish, mean rating and post-task empathy of each conversation that has all three.

    participant; ``mean`` (mean level of its rated turns: overall rating or, if that was never given, mean of the rated
    dimensions); ``desired`` (1 minimal .. 3 high); ``low`` (``mean`` below a cut); ``high`` (highest desired empathy);
    ``unmet`` (both); ``outcome`` (mean of the post-task ratings of empathy given, 1..5).
    """
    conversations = study.conversations.set_index("conversation")
    levels, _ = turn_levels(study)
    means = (
        levels.groupby("conversation")["level"].mean().reindex(conversations.index).astype(float)
    )
    frame = conversations[["participant"]].assign(
        mean=means,
        desired=conversations["desired_empathy"].astype(float),
        outcome=conversations[OUTCOMES["empathy"]].mean(axis=1),
    )
    frame = frame.dropna(subset=["mean", "desired", "outcome"])
    low, high = rounded(frame["mean"]) < low_below, frame["desired"] == HIGH
    return frame.assign(low=low, high=high, unmet=low & high)


def need_expectations(study: Study, frame: pd.DataFrame) -> None:
    """What every analysis of expectations needs."""
    need(
        study.conversations["desired_empathy"].notna().any(),
        "desired empathy was never given in this data set",
    )
    rated = study.conversations[OUTCOMES["empathy"]].notna().any(axis=None)
    need(rated, "post-task empathy was never rated in this data set")
    need(len(frame), "no conversation has a rated turn, a desired empathy and a post-task rating")


@finding
def unmet_expectations(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame | None = None
) -> pd.DataFrame:
    r"""Return how much lower conversations with an unmet expectation are rated afterwards.

    An expectation counts as unmet where the participant wished for high empathy before the conversation and rated its
    turns, on the average, closer to neutral than to good, or lower. Minus the coefficient of ``unmet`` in a
    least-squares regression of the outcome on it and on

    - nothing else (the plain difference of means);
    - the mean level of the turns;
    - that, low ratings and high wishes: what an unmet expectation goes with beyond what low ratings
      go with where less was wished, and high wishes where ratings were not low.

    Parameters
    ----------
    frame : DataFrame, optional
        Other rows than those of :func:`expectation_conversations`, with its columns.

    Returns
    -------
    DataFrame
        One row per comparison: estimate (levels; positive: lower where the expectation was unmet), low, high,
        n (conversations), unit, method, reason.
    """
    require_own(study, bootstrap)
    frame = expectation_conversations(study) if frame is None else frame
    unmet = int(frame["unmet"].sum())

    def loss(held_equal: tuple[str, ...]):
        need_expectations(study, frame)
        others = count_of(len(frame) - unmet, "other")
        few = f"{count_of(unmet, 'conversation')} with an unmet expectation and {others}: too few"
        need(min(unmet, len(frame) - unmet) >= FEWEST, few)
        columns = frame[["unmet", *held_equal, "outcome"]].to_numpy(dtype=float)
        z = np.column_stack([np.ones(len(frame)), columns])
        minus_b = lambda cross: -least_squares(cross)[0][..., 1]  # noqa: E731
        return resampled(bootstrap, minus_b, z[:, :, None] * z[:, None, :], frame["participant"])

    comparisons = (
        ("against all other conversations", "expectation_difference", ()),
        ("at the same mean rating of turns", "expectation_difference_adjusted", ("mean",)),
        (
            "beyond low ratings and high wishes by themselves",
            "expectation_loss",
            ("low", "high", "mean"),
        ),
    )
    numbers = []
    for name, key, held_equal in comparisons:
        method = f"least squares on unmet{''.join(f', {column}' for column in held_equal)}"
        method += f"; {count_of(unmet, 'conversation')} with an unmet expectation"
        undefined = "what is to be held equal can't be distinguished from the unmet expectation in these conversations"
        numbers.append(
            Number(name, partial(loss, held_equal), DIFFERENCE, method, frame, key, undefined)
        )
    return tabulate("comparison", numbers, bootstrap)


@finding
def response_surface(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how much steeper the judgment falls with low ratings where more was wished for.

    The coefficient :math:`b_4` of a quadratic polynomial by least squares over conversations,

    .. math:: y = b_0 + b_1 m + b_2 w + b_3 m^2 + b_4 m w + b_5 w^2 + e

    with the mean rating and the wish each put on the scale from -1 (their lowest level) to 1 (their highest):
    :math:`m = (\bar r - 3) / 2`, :math:`w` = desired empathy - 2. If low ratings cost more where more was wished for,
    it is positive.

    Returns
    -------
    DataFrame
        One row: estimate (levels of the judgment for a step of 1 on the scale from -1 to 1), low, high, n
        (conversations), unit, method, reason.

    References
    ----------
    Edwards, J. R., & Parry, M. E. (1993). On the use of polynomial regression equations as an alternative to
    difference scores in organizational research. Academy of Management Journal 36, 1577-1613.
    """
    require_own(study, bootstrap)
    frame = expectation_conversations(study)
    m, w = (frame["mean"].to_numpy() - 3) / 2, frame["desired"].to_numpy() - 2.0
    z = np.column_stack([np.ones(len(frame)), m, w, m**2, m * w, w**2, frame["outcome"]])

    def steeper():
        need_expectations(study, frame)
        need(np.ptp(w) > 0, "all participants wished for the same level of empathy")
        b_4 = lambda cross: least_squares(cross)[0][..., 4]  # noqa: E731
        return resampled(bootstrap, b_4, z[:, :, None] * z[:, None, :], frame["participant"])

    how, undefined = (
        "quadratic response surface by least squares",
        "the wishes or the ratings take too few values",
    )
    key, unit = "response_surface_interaction", "level per half scale"
    number = Number("mean rating by wish", steeper, unit, how, frame, key, undefined)
    return tabulate("part of the surface", [number], bootstrap)
