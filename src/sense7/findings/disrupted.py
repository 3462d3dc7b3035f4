"""What breaks empathy: turns around the first poor one, neighboring turns, lost continuity, unmet expectations.

Around the first poor turn ratings are compared with those in permuted order. Before the first poor turn no turn is
poor, by the meaning of "first", while turns after it may be poor. So ratings in an arbitrary order show a lasting drop
too. What an arbitrary order shows is known exactly: the mean over all orders of the ratings within each conversation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import gammaln

from sense7.findings.core import Needs, Number, finding, resampled, tabulate
from sense7.findings.ground_truth import labels
from sense7.findings.measures import (
    ANSWERS_OF,
    OUTCOMES,
    POOR,  # noqa: TID251 -- a declared alternative
    answers_to,
    first_poor_turns,
    is_poor,
    turn_levels,
    turn_rating,
)
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import Estimate
from sense7.statistics.least_squares import coefficient, cross_products, least_squares
from sense7.statistics.mixed import fit_nested, nested_sums, satterthwaite
from sense7.statistics.order import in_order_of_appearance, rounded
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "CONTINUITY",
    "LASTING_DROP",
    "continuity_losses",
    "lag_1_correlation",
    "lasting_drop",
    "levels_after_a_poor_turn",
    "response_surface",
    "reversed_order",
    "unmet_expectations",
]

TIMES = tuple(range(-3, 6))
"""Event times: turns after (negative: before) the first poor turn of the conversation."""
BEFORE = (-3, -2, -1)
LASTING = (2, 3, 4, 5)
"""Event times that :func:`lasting_drop` compares with those before."""
AFTERWARDS = f"turns {min(LASTING)} to {max(LASTING)} after"
LASTING_DROP = f"Mean level of the three turns before minus that of {AFTERWARDS}"
"""The estimand of :func:`lasting_drop`, for captions."""

DIFFERENCE = "level, difference"
OVER_ALL_ORDERS = "over all orders of the ratings"
UNDEFINED = "too few turns around it to tell it apart"
FEWEST = 2


# Around the first poor turn


@dataclass(frozen=True, eq=False)
class FirstPoorTurns:
    """Rated turns of the conversations with a poor turn, and what each adds to the means around the first poor one.

    ``sums`` has an array (turns, 4) for each event time, of which the columns are added up: the level of a turn that
    stands there and 1; and, in permuted order, the level that is expected there and its weight, if the first poor turn
    stood at this turn.
    """

    turns: pd.DataFrame
    sums: dict[int, np.ndarray]

    def at(self, times: Sequence[int]) -> np.ndarray:
        """The sums at several event times together: (turns, 4)."""
        return np.sum([self.sums[time] for time in times], axis=0)

    def before_and_lasting(self) -> np.ndarray:
        """The sums before the first poor turn, and some turns after it: (turns, 2, 4)."""
        return np.stack([self.at(BEFORE), self.at(LASTING)], axis=1)


def around_first_poor_turns(study: Study) -> FirstPoorTurns:
    """Turns around the first poor one of each conversation."""
    levels, _ = turn_levels(study)
    first = levels["conversation"].map(first_poor_turns(levels))
    turns = levels.assign(time=levels["turn"] - first)[first.notna()]
    turns = in_order_of_appearance(turns, "conversation", "turn").reset_index(drop=True)
    level = turns["level"].to_numpy()
    expected = _in_permuted_order(turns)

    # Each conversation has a range of numbers, so wide that no event time leads into another's.
    width_of_range = turns["turn"].max() + 2 * len(TIMES)
    conversation = turns.groupby("conversation", sort=False).ngroup().to_numpy()
    number = conversation * width_of_range + turns["turn"].to_numpy()
    sums = {}
    for time in TIMES:
        stands_here = turns["time"].to_numpy() == time
        rated_turn_is_there = np.isin(number + time, number)
        weight = np.where(rated_turn_is_there, expected["share"], 0.0)
        if time < 0:
            expected_level = expected["before"]
        elif time == 0:
            expected_level = expected["poor"]
        else:
            expected_level = expected["after"]
        sums[time] = np.column_stack(
            [level * stands_here, stands_here, expected_level * weight, weight]
        )
    return FirstPoorTurns(turns, sums)


def _in_permuted_order(turns: pd.DataFrame) -> pd.DataFrame:
    """What all orders of a conversation's levels give, for each turn at which the first poor one may stand.

    ``share`` of the orders in which it stands there, and the mean level in them ``before`` it, of the ``poor`` turn
    itself, and ``after`` it.
    """
    conversation = turns["conversation"]
    groups = turns.groupby("conversation", sort=False)
    level = turns["level"]
    poor = is_poor(level)
    rated = groups["level"].transform("size")
    number_of_poor = poor.groupby(conversation, sort=False).transform("sum")
    number_of_others = rated - number_of_poor
    poor_mean = level.where(poor).groupby(conversation, sort=False).transform("mean")
    other_mean = level.where(~poor).groupby(conversation, sort=False).transform("mean").fillna(0)

    position = groups.cumcount()
    poor_after = number_of_poor - 1
    others_after = (number_of_others - position).clip(lower=0)
    turns_after = (rated - 1 - position).clip(lower=1)
    level_after = (poor_after * poor_mean + others_after * other_mean) / turns_after
    share = first_poor_shares(rated.to_numpy(), number_of_poor.to_numpy(), position.to_numpy())
    return pd.DataFrame(
        {"share": share, "before": other_mean, "poor": poor_mean, "after": level_after},
    )


def first_poor_shares(rated: np.ndarray, poor: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Share of all orders in which the first of some poor turns has a position (from 0) among the rated ones.

    Examples
    --------
    >>> [round(float(share), 3) for share in first_poor_shares(np.full(3, 4), np.full(3, 2), np.arange(3))]
    [0.5, 0.333, 0.167]
    """
    turns_after = rated - 1 - position
    is_possible = turns_after >= poor - 1
    turns_after = np.where(is_possible, turns_after, poor)  # any number that is defined
    share = np.exp(_log_choose(turns_after, poor - 1) - _log_choose(rated, poor))
    return np.where(is_possible, share, 0.0)


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Logarithm of the binomial coefficient."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def as_rated(sums: np.ndarray) -> np.ndarray:
    """Mean level as rated."""
    level, rated, _, _ = np.moveaxis(sums, -1, 0)
    return level / rated


def permuted(sums: np.ndarray) -> np.ndarray:
    """Mean level in permuted order."""
    _, _, expected_level, weight = np.moveaxis(sums, -1, 0)
    return expected_level / weight


def beyond_order(sums: np.ndarray) -> np.ndarray:
    """Mean level as rated minus that in permuted order."""
    return as_rated(sums) - permuted(sums)


def drop_of(level: Callable) -> Callable:
    """The function from sums to the level before the first poor turn minus that some turns after it."""

    def drop(sums: np.ndarray) -> np.ndarray:
        levels = level(sums)
        return levels[..., 0] - levels[..., 1]

    return drop


def in_resamples(
    bootstrap: ParticipantBootstrap, statistic: Callable, event: FirstPoorTurns, sums: np.ndarray
) -> np.ndarray:
    """A statistic of sums, over the turns that add anything to them."""
    counts = sums[..., [1, 3]]
    adds = (counts > 0).any(axis=tuple(range(1, counts.ndim)))
    return resampled(bootstrap, statistic, sums[adds], event.turns["participant"][adds])


@finding
def levels_after_a_poor_turn(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean level of the turns after the first poor one, minus that in permuted order.

    *Permuted order* is the expectation over all permutations of a conversation's levels among its rated turns. It needs
    no random numbers: with n rated turns, m of them poor, the first poor turn is the j-th (from 0) in the share
    :math:`\binom{n-1-j}{m-1} / \binom{n}{m}` of the orders; given that, each turn before it has the mean level of the
    turns that are not poor, it has that of the poor ones, and each turn after it the mean of the m - 1 poor and
    n - m - j others that are left. Observed and expected sums and counts are added up over conversations, then divided.

    Returns
    -------
    DataFrame
        One row per turn after it, 1 .. 5: estimate (levels, negative: lower than in permuted order), low, high, n
        (rated turns at that time), unit, method, reason. Time counts turns; those without a level leave a hole that the
        permutations keep.
    """
    event = around_first_poor_turns(study)

    def number(time: int) -> Number:
        sums = event.sums[time]
        return Number(
            label=time,
            statistic=lambda: in_resamples(bootstrap, beyond_order, event, sums),
            unit=DIFFERENCE,
            method=f"mean level minus that expected {OVER_ALL_ORDERS} within each conversation",
            rows=event.turns[sums[:, 1] > 0],
            counted="turn after a poor one",
            key=f"recovery_after_{time}",
            undefined=UNDEFINED,
        )

    numbers = [number(time) for time in TIMES if time > 0]
    return tabulate("turns after it", numbers, bootstrap)


@finding
def lasting_drop(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of the turns ``BEFORE`` the first poor one minus that of the ``LASTING`` turns after it.

    Rows "as rated", "in permuted order" (see :func:`levels_after_a_poor_turn`: the drop that the meaning of "first"
    makes by itself) and "difference": estimate (levels; positive: lower afterwards), low, high, n (``LASTING`` turns
    after).
    """
    event = around_first_poor_turns(study)
    sums = event.before_and_lasting()

    def number(name: str, level: Callable, method: str, key: str) -> Number:
        return Number(
            label=name,
            statistic=lambda: in_resamples(bootstrap, drop_of(level), event, sums),
            unit=DIFFERENCE,
            method=method,
            rows=event.turns[sums[:, 1, 1] > 0],
            counted="turn after a poor one",
            key=key,
            undefined=UNDEFINED,
        )

    within = f"expected {OVER_ALL_ORDERS} within each conversation"
    drop = f"mean level of the three turns before the first poor one minus that of {AFTERWARDS} it"
    numbers = [
        number("as rated", as_rated, drop, "lasting_drop_as_rated"),
        number(
            "in permuted order", permuted, f"the same, {within}", "lasting_drop_in_chance_order"
        ),
        number(
            "difference", beyond_order, f"drop as rated minus the drop {within}", "lasting_drop"
        ),
    ]
    return tabulate("order of the ratings", numbers, bootstrap)


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
        permuted order (negative: lower), as in :func:`levels_after_a_poor_turn`; *lasting drop*: the difference of
        :func:`lasting_drop` (positive: lower afterwards). For each: estimate as it happened minus in reversed order,
        low, high, n (turns after, in the reversed order), unit, method, reason.
    """
    forward = around_first_poor_turns(study)
    last = study.turns.groupby("conversation")["turn"].transform("max")
    turns = study.turns.assign(turn=last + 1 - study.turns["turn"])
    turns = in_order_of_appearance(turns, "conversation", "turn")
    backward = around_first_poor_turns(replace(study, turns=turns))

    def right_after(event: FirstPoorTurns) -> np.ndarray:
        return in_resamples(bootstrap, beyond_order, event, event.sums[1])

    def lasting(event: FirstPoorTurns) -> np.ndarray:
        drop = drop_of(beyond_order)
        return in_resamples(bootstrap, drop, event, event.before_and_lasting())

    def number(name: str, compute: Callable, turns_after: np.ndarray, key: str) -> Number:
        return Number(
            label=f"{name}, as it happened minus reversed",
            statistic=lambda: compute(forward) - compute(backward),
            unit=DIFFERENCE,
            method=f"{name} minus permuted order, turns as they came minus turns in reversed order",
            rows=backward.turns[turns_after > 0],
            counted="turn after a poor one",
            key=key,
            undefined=UNDEFINED,
        )

    one_turn_after = backward.sums[1][:, 1]
    some_turns_after = backward.at(LASTING)[:, 1]
    numbers = [
        number("right after", right_after, one_turn_after, "recovery_after_1_minus_reversed"),
        number("lasting drop", lasting, some_turns_after, "lasting_drop_minus_reversed"),
    ]
    return tabulate("order of the turns", numbers, bootstrap)


@finding
def lag_1_correlation(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the lag-1 correlation of the turns within conversations, minus that in permuted order.

    .. math:: r = \frac{\sum_c \sum_t z_{ct} z_{c,t+1}}{\sum_c K_c S_c / n_c}, \quad
              r_0 = -\frac{\sum_c K_c S_c / (n_c (n_c - 1))}{\sum_c K_c S_c / n_c}

    with z the level of a turn minus the mean of its conversation, n the rated turns of a conversation, K its pairs of
    neighboring rated turns and :math:`S = \sum_t z_t^2`. The second is the mean of the first over all orders of the
    levels among a conversation's rated turns: deviations from their own mean add up to zero, so that two of them have a
    negative correlation of :math:`-1/(n - 1)` in any order.

    Returns
    -------
    DataFrame
        One row: :math:`r - r_0` (above zero: neighbors resemble each other): estimate, low, high, n (pairs of
        neighboring turns), unit, method, reason.
    """
    turns, words = turn_levels(study)
    turns = turns.sort_values("turn", kind="stable")
    groups = turns.groupby("conversation", sort=False)
    z = turns["level"] - groups["level"].transform("mean")
    next_z = z.groupby(turns["conversation"], sort=False).shift(-1)
    has_neighbor = groups["turn"].shift(-1) == turns["turn"] + 1
    columns = turns[["conversation", "participant"]].assign(
        n=1.0,
        K=has_neighbor.astype(float),
        S=z**2,
        products=(z * next_z).where(has_neighbor, 0.0),
    )
    by_conversation = columns.groupby(["conversation", "participant"], sort=False)
    conversations = by_conversation.sum().reset_index("participant")
    conversations = conversations[conversations["K"] > 0]
    squares = conversations["K"] * conversations["S"] / conversations["n"]
    products_expected = -squares / (conversations["n"] - 1)
    values = np.column_stack([conversations["products"], products_expected, squares])

    number = Number(
        label="as rated minus permuted order",
        statistic=lambda: resampled(
            bootstrap, minus_permuted_order, values, conversations["participant"]
        ),
        unit="correlation",
        method=f"lag-1 correlation of the {words} within conversations, minus that {OVER_ALL_ORDERS}",
        rows=turns[has_neighbor],
        counted="pair of neighboring turns",
        key="lag_1_minus_permuted_order",
        undefined="the turns of each conversation are rated alike",
    )
    return tabulate("order of the turns", [number], bootstrap)


def minus_permuted_order(sums: np.ndarray) -> np.ndarray:
    """Lag-1 correlation minus that in permuted order, from sums of products, of those expected, and of squares."""
    squares = np.where(rounded(sums[..., 2]) > 0, sums[..., 2], np.nan)
    return (sums[..., 0] - sums[..., 1]) / squares


# Lost continuity. A dimension fails in a turn if its rating there is poor. Turns are compared with the other turns of
# their own conversation, failures among them: to leave out the bad ones of these would make any turn look better or
# worse than it is.

CONTINUITY = "Relational"
"""The dimension whose failures stand for lost continuity."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Loss of each turn that can be compared with others of its conversation, and the failures before it.

    ``turns`` are those in which something may have failed; ``loss`` is that in the same turn or in the next; ``failed``
    has one column per dimension, 1 where it failed; ``others`` names the other dimensions that failed often enough to
    be part of a regression.
    """

    turns: pd.DataFrame
    loss: np.ndarray
    failed: pd.DataFrame
    others: list[str]


def losses_in(study: Study, moment: str, rating: str, poor: int, first_turn: int) -> Losses:
    """Loss in the same or in the next turn: the mean of the conversation's other rated turns minus that turn."""
    turns = in_order_of_appearance(study.turns, "conversation", "turn")
    level = turn_rating(turns, rating).astype(float)
    groups = level.groupby(turns["conversation"])
    next_number = turns.groupby("conversation")["turn"].shift(-1)
    next_level = groups.shift(-1).where(next_number == turns["turn"] + 1)
    # The turn itself and the next one are left out of what they are compared with.
    number_of_others = groups.transform("count") - level.notna() - next_level.notna()
    sum_of_others = groups.transform("sum") - level.fillna(0) - next_level.fillna(0)
    mean_of_others = sum_of_others / number_of_others.where(number_of_others > 0)
    losses = {"same turn": mean_of_others - level, "next turn": mean_of_others - next_level}
    loss = losses[moment]
    is_compared = loss.notna() & (turns["turn"] >= first_turn)
    compared = turns[is_compared]
    failed = pd.DataFrame(
        {name: (labels(compared[name]) <= poor).astype(float) for name in DIMENSION_NAMES},
        index=compared.index,
    )
    often = failed.columns[failed.sum() >= FEWEST]
    return Losses(
        turns=compared,
        loss=loss[is_compared].to_numpy(),
        failed=failed,
        others=[name for name in often if name != CONTINUITY],
    )


@finding
def continuity_losses(
    study: Study,
    bootstrap: ParticipantBootstrap,
    rating: str = "",
    poor: int = POOR,
    first_turn: int = 1,
) -> pd.DataFrame:
    r"""Return how much lower turns are rated where, or right after, Relational failed.

    Each turn t is compared with R(t), the rated turns of its conversation other than t and t + 1. The plain loss is b
    in a regression by least squares over turns:

    .. math:: \bar y_{R(t)} - y_{t+1} = a + b f_t + e_t

    where :math:`f_t` is 1 where Relational is rated at most poor in turn t, and 0 where it is rated better or not
    rated. If the order of a conversation's turns means nothing, turn t + 1 is like any turn of R(t), regardless of what
    happened in t, so that b is zero.

    Whether the loss is specific to continuity, the failures of all seven dimensions tell, analyzed together:

    .. math:: \bar y_{R(t)} - y_{t+1} = a + \sum_d b_d f_{td} + e_t \quad \text{(next turn)}

    .. math:: \bar y_{R(t)} - y_t = a + \sum_d b_d f_{td} + e_t \quad \text{(same turn)}

    The contrast is :math:`b_{Relational}` minus the mean of the :math:`b_d` of the other six; a dimension that failed
    in fewer than two of these turns is left out. The rating y is the mean of the rated dimensions in the next turn,
    which has less noise, and the overall rating in the same turn. In the same turn b is not zero by order alone: all
    ratings of a turn resemble each other.

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
        Of the next turn: the plain loss, Relational minus the others, and its two parts; of the same turn: Relational
        minus the others. For each: estimate (levels; positive: lower where it failed, or lower with Relational), low,
        high, n (failures of Relational; of any other dimension), unit, method, reason. A turn without y, without a next
        turn (for the next turn), or without another rated turn is left out.

    Notes
    -----
    R: lm, equal to 1e-7; boot::boot.ci(type='perc') of resampled participants, equal within their Monte Carlo error;
    tests/reference/reference.R.
    """
    numbers = continuity_numbers(study, bootstrap, rating, poor, first_turn)
    return tabulate("loss", numbers, bootstrap)


def continuity_numbers(
    study: Study, bootstrap: ParticipantBootstrap, rating: str, poor: int, first_turn: int
) -> list[Number]:
    """Numbers of :func:`continuity_losses`, each computed when its row is made."""
    rating_of = {"next turn": rating or "dimensions", "same turn": rating or "overall"}
    losses_of = {}
    for moment, rating_of_moment in rating_of.items():
        losses_of[moment] = losses_in(study, moment, rating_of_moment, poor, first_turn)

    def coefficients_of_failures(sums: np.ndarray) -> np.ndarray:
        with_constant, _, _ = least_squares(sums)
        return with_constant[..., :-1]

    @cache
    def losses_with(moment: str, *, others_held_equal: bool) -> np.ndarray:
        """Loss with a failure of Relational and, adjusted for each other, of the others: (1 + draws, dimensions)."""
        losses = losses_of[moment]
        dimensions = [CONTINUITY]
        if others_held_equal:
            dimensions += losses.others
        constant = np.ones(len(losses.turns))
        columns = np.column_stack([losses.failed[dimensions], constant, losses.loss])
        products = cross_products(columns)
        return resampled(bootstrap, coefficients_of_failures, products, losses.turns["participant"])

    def plain_loss(moment: str) -> np.ndarray:
        return losses_with(moment, others_held_equal=False)[:, 0]

    def of_relational(moment: str) -> np.ndarray:
        return losses_with(moment, others_held_equal=True)[:, 0]

    def mean_of_others(moment: str) -> np.ndarray:
        return losses_with(moment, others_held_equal=True)[:, 1:].mean(axis=1)

    def contrast(moment: str) -> np.ndarray:
        return of_relational(moment) - mean_of_others(moment)

    def number(moment: str, words: str, statistic: Callable, key: str) -> Number:
        losses = losses_of[moment]
        rows = losses.turns[losses.failed[CONTINUITY] == 1]
        regressors = "the failures of all dimensions"
        reason = "" if losses.others else "no other dimension failed often enough"
        if statistic is plain_loss:
            regressors = f"a failure of {CONTINUITY}"
            reason = ""
        if statistic is mean_of_others:
            rows = losses.turns[losses.failed[losses.others].any(axis=1)]
        return Number(
            label=f"{moment}, {words}",
            statistic=partial(statistic, moment),
            unit=DIFFERENCE,
            method=f"least squares of the loss in the {moment} on {regressors} in the turn",
            rows=rows,
            counted=f"failure of {CONTINUITY}",
            needs=Needs(
                answers=answers_to(study, CONTINUITY, ANSWERS_OF[rating_of[moment]]), rows=FEWEST
            ),
            reason=reason,
            key=key,
            undefined="the failures of the dimensions cannot be distinguished",
        )

    next_turn = partial(number, "next turn")
    return [
        next_turn("after a failure of Relational", plain_loss, "continuity_loss_after_failure"),
        next_turn("Relational minus the others", contrast, "continuity_contrast_next_turn"),
        next_turn(
            "Relational adjusted for the others", of_relational, "continuity_failure_next_turn"
        ),
        next_turn("mean of the others", mean_of_others, "other_failures_next_turn"),
        number(
            "same turn", "Relational minus the others", contrast, "continuity_contrast_same_turn"
        ),
    ]


# Unmet expectations

HIGH = 3
"""The highest of the three levels of desired empathy."""
LOW_BELOW = 3.5
"""A conversation is low in empathy if the mean level of its turns is below this: half-way between neutral and good."""

MODEL = "mixed model (REML), participants random"


def expectation_conversations(
    study: Study, low_below: float = LOW_BELOW, rating: str = "dimensions"
) -> pd.DataFrame:
    """Desired empathy, mean rating and post-task empathy of each conversation that has all three.

    participant; ``mean`` (mean over turns of the mean of the rated dimensions or, if ``rating`` is "overall", of the
    overall rating); ``desired`` (1 minimal .. 3 high); ``low`` (``mean`` below a cut); ``high`` (highest desired
    empathy); ``unmet`` (both); ``outcome`` (mean of the post-task ratings of empathy given, 1..5). Where no dimension
    was ever rated, the overall rating is taken.
    """
    if not study.rated_dimensions:
        rating = "overall"
    level = turn_rating(study.turns, rating).astype(float)
    conversations = study.conversations.set_index("conversation")
    means = level.groupby(study.turns["conversation"]).mean().reindex(conversations.index)
    frame = conversations[["participant"]].assign(
        mean=means,
        desired=conversations["desired_empathy"].astype(float),
        outcome=conversations[OUTCOMES["empathy"]].mean(axis=1),
    )
    frame = frame.dropna(subset=["mean", "desired", "outcome"])
    low = rounded(frame["mean"]) < low_below
    high = frame["desired"] == HIGH
    return frame.assign(low=low, high=high, unmet=low & high)


@finding
def unmet_expectations(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame | None = None
) -> pd.DataFrame:
    r"""Return how much lower conversations with an unmet expectation are rated afterwards.

    An expectation counts as unmet where the participant wished for high empathy before the conversation and rated its
    turns, on the average, closer to neutral than to good, or lower. Minus the coefficient of ``unmet`` in a mixed model
    of the outcome, with a random intercept of the participant (REML), on it and on

    - nothing else (the plain difference);
    - the mean level of the turns;
    - that, low ratings and high wishes: what an unmet expectation goes with beyond what low ratings
      go with where less was wished, and high wishes where ratings were not low.

    .. math:: y = b_0 + b_1\,\mathrm{low} + b_2\,\mathrm{high} + b_3\,\mathrm{low} \times \mathrm{high}
              + b_4\,\mathrm{mean} + u_p + e, \quad u_p \sim N(0, \sigma_p^2)

    Intervals are the model's: t, with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    bootstrap : ParticipantBootstrap
        Its confidence is that of the model's intervals.
    frame : DataFrame, optional
        Other rows than those of :func:`expectation_conversations`, with its columns.

    Returns
    -------
    DataFrame
        One row per comparison: estimate (levels; positive: lower where the expectation was unmet), low, high,
        n (conversations), unit, method, reason.

    Notes
    -----
    R: lmerTest::contest1D(lmer(outcome ~ low * high + mean + (1 | participant))), tests/reference/reference.R;
    estimates and limits equal to 2e-4.
    """
    if frame is None:
        frame = expectation_conversations(study)
    return tabulate("comparison", expectation_numbers(study, bootstrap, frame), bootstrap)


def expectation_numbers(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame
) -> list[Number]:
    """Numbers of :func:`unmet_expectations`, each computed when its row is made."""
    unmet = count_of(frame["unmet"].sum(), "conversation")

    def number(label: str, held_equal: list[str], key: str) -> Number:
        regressors = ["unmet", *held_equal]
        return Number(
            label=label,
            statistic=lambda: _loss_in_model(frame, regressors, bootstrap.confidence),
            unit=DIFFERENCE,
            method=f"{MODEL}, on {', '.join(regressors)}; {unmet} with an unmet expectation",
            rows=frame,
            needs=Needs(
                answers=answers_to(study, "desired empathy", "post-task empathy"),
                in_each_group=FEWEST,
            ),
            groups=frame["unmet"],
            reason=why_no_judgment_of_the_whole(study),
            key=key,
            undefined="what is adjusted for can't be distinguished from the unmet expectation "
            "in these conversations",
            interval=f"{bootstrap.confidence:.0%} interval of the model (t), participants as "
            "random effects",
        )

    return [
        number("compared with all other conversations", [], "expectation_difference"),
        number("at the same mean rating of turns", ["mean"], "expectation_difference_adjusted"),
        number(
            "beyond low ratings and high wishes by themselves",
            ["low", "high", "mean"],
            "expectation_loss",
        ),
    ]


def _loss_in_model(frame: pd.DataFrame, regressors: list[str], confidence: float) -> Estimate:
    """Minus the coefficient of the first regressor, with the model's interval."""
    constant = np.ones(len(frame))
    design = np.column_stack([constant, frame[regressors].astype(float)])
    sums = nested_sums(frame["outcome"], design, frame["participant"])
    fit = fit_nested(sums)
    if not np.isfinite(fit.coefficients).all():
        return Estimate(np.nan)
    estimate = -fit.coefficients[1]
    if frame["participant"].nunique() < 2:
        return Estimate(estimate, reason="no interval: only 1 participant")
    error = np.sqrt(fit.covariance[1, 1])
    if not error > 0:
        return Estimate(estimate, reason="no interval: the model leaves nothing unexplained")
    of_loss = np.zeros((1, design.shape[1]))
    of_loss[0, 1] = 1
    freedom = max(satterthwaite(sums, fit, of_loss)[0], 1)
    reach = error * stats.t.ppf((1 + confidence) / 2, freedom)
    return Estimate(estimate, estimate - reach, estimate + reach)


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
    frame = expectation_conversations(study)
    m = (frame["mean"].to_numpy() - 3) / 2
    w = frame["desired"].to_numpy() - 2.0
    constant = np.ones(len(frame))
    columns = np.column_stack([constant, m, w, m**2, m * w, w**2, frame["outcome"]])

    def steeper():
        products = cross_products(columns)
        return resampled(bootstrap, coefficient(4), products, frame["participant"])

    number = Number(
        label="mean rating by wish",
        statistic=steeper,
        unit="level per half scale",
        method="quadratic response surface by least squares",
        rows=frame,
        needs=Needs(
            answers=answers_to(study, "desired empathy", "post-task empathy"),
            varying={"desired empathy is": w},
        ),
        reason=why_no_judgment_of_the_whole(study),
        key="response_surface_interaction",
        undefined="the wishes or the ratings take too few values",
    )
    return tabulate("part of the surface", [number], bootstrap)
