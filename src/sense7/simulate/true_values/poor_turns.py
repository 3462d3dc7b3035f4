"""True values of poor turns, failures of a dimension, and unmet expectations, and of what follows them."""

import numpy as np
from scipy.optimize import minimize_scalar

from sense7.simulate.model import cut
from sense7.simulate.true_values import arrays
from sense7.simulate.true_values.arrays import POOR, Tables
from sense7.taxonomy import DIMENSION_NAMES

SHUFFLE_SEED = 160926
"""Seed of the one shuffled order of each conversation's ratings that stands for chance."""

_HIGH = 3
_LOW_BELOW = 3.5
_RELATIONAL = DIMENSION_NAMES.index("Relational")


# A poor turn and the ratings after the conversation -----------------------------------------------


def poor_turn_effects(tables: Tables) -> dict[str, float]:
    """How often turns are poor, and Cohen's d of the ratings of conversations with a poor turn."""
    overall = tables.overall
    counts = tables.poor_turns
    is_rated = ~np.isnan(tables.overall_mean)
    values = {
        "poor_turn_share": arrays.mean(overall[overall > 0] <= POOR),
        "poor_turn_conversations": (counts > 0).mean(),
    }
    for number, has_poor in (("", counts > 0), ("_exactly_one", counts == 1)):
        rows = is_rated & (has_poor | (counts == 0))
        poor = has_poor[rows]
        outcome = tables.post[rows]
        participant = tables.study.participant[rows]
        points, sd = arrays.difference(outcome[~poor], outcome[poor])
        points_within, sd_within = _within(poor, outcome, participant)
        points_mixed, sd_mixed = _mixed(poor, outcome, participant)
        values[f"poor_turn_d{number}"] = points / sd
        if not number:
            values["poor_turn_points"] = points
        values[f"poor_turn_d_within{number}"] = points_within / sd_within
        if not number:
            values["poor_turn_points_within"] = points_within
        values[f"poor_turn_d_mixed{number}"] = points_mixed / sd_mixed
    means = {"": tables.overall_mean, "_not_poor": _mean_of_other_turns(tables)}
    for ending, mean in means.items():
        has_mean = ~np.isnan(mean)
        poor = counts[has_mean] > 0
        outcome = mean[has_mean]
        values[f"poor_turn_d_overall{ending}"] = arrays.cohens_d(outcome[~poor], outcome[poor])
    return values


def _mean_of_other_turns(tables: Tables) -> np.ndarray:
    """Mean overall rating of the turns that are not poor: (C,)."""
    good = np.where(tables.overall > POOR, tables.overall, 0)
    return tables.mean_by_conversation(arrays.missing(good))


def poor_turn_ladder(tables: Tables) -> dict[str, float]:
    """Points lost with a poor turn, with more and more held equal, where some turn is not poor."""
    mean_of_other_turns = _mean_of_other_turns(tables)
    rows = ~np.isnan(mean_of_other_turns)
    conversation = tables.study.conversation
    rated_turns = np.bincount(conversation, weights=tables.overall > 0, minlength=len(rows))
    columns = np.column_stack(
        [tables.poor_turns[rows] > 0, rated_turns[rows], mean_of_other_turns[rows]]
    )
    columns = columns.astype(float)
    outcome = tables.post[rows]
    values = {}
    for count, name in enumerate(("as_they_are", "same_length", "same_other_turns"), 1):
        coefficients, _ = arrays.regression(arrays.with_ones(columns[:, :count]), outcome)
        values[f"poor_turn_ladder_{name}"] = -coefficients[1]
    participant = arrays.compact(tables.study.participant[rows])
    coefficients, _ = arrays.regression(
        arrays.centered(columns, participant), arrays.centered(outcome, participant)
    )
    values["poor_turn_ladder_same_participant"] = -coefficients[0]
    return values


def _within(poor: np.ndarray, outcome: np.ndarray, participant: np.ndarray) -> tuple[float, float]:
    """Mean difference of a participant's two means, and the root mean square of the sds of both."""
    number = participant.max(initial=-1) + 1
    mean_without = arrays.mean_by(outcome[~poor], participant[~poor], number)
    mean_with = arrays.mean_by(outcome[poor], participant[poor], number)
    means = np.column_stack([mean_without, mean_with])
    means = means[~np.isnan(means).any(axis=1)]
    if len(means) < 2:
        return np.nan, np.nan
    return (means[:, 0] - means[:, 1]).mean(), np.sqrt(means.var(axis=0, ddof=1).mean())


def _mixed(poor: np.ndarray, outcome: np.ndarray, participant: np.ndarray) -> tuple[float, float]:
    """Minus the coefficient, and the model's sd, participants' intercepts random, by REML."""
    if min(poor.sum(), (~poor).sum()) < 2:
        return np.nan, np.nan
    design = arrays.with_ones(poor.astype(float))
    coefficients, variance = _random_intercept(design, outcome, participant)
    return -coefficients[1], np.sqrt(variance)


def _random_intercept(
    design: np.ndarray, outcome: np.ndarray, participant: np.ndarray
) -> tuple[np.ndarray, float]:
    """Coefficients, and the sum of both variances, participants' intercepts random, by REML.

    With t the participants' variance by the residual one, a participant's n rows have the inverse covariance
    I - t / (1 + n t), so that sums by participant suffice. NaN where the columns do not identify the coefficients.
    """
    width = design.shape[1]
    if np.isnan(arrays.regression(design, outcome)[0]).any():
        return np.full(width, np.nan), np.nan
    rows = np.column_stack([design, outcome - outcome.mean()])
    cross = rows.T @ rows
    group = arrays.compact(participant)
    counts = np.bincount(group).astype(float)
    sums = np.column_stack([np.bincount(group, weights=column) for column in rows.T])
    freedom = len(rows) - width

    def fit(log_ratio: float) -> tuple[float, np.ndarray, float]:
        ratio = np.exp(log_ratio)
        inside = cross - sums.T @ (sums * (ratio / (1 + counts * ratio))[:, None])
        of_design = inside[:width, :width]
        with_outcome = inside[:width, width]
        coefficients = np.linalg.solve(of_design, with_outcome)
        residual = (inside[width, width] - coefficients @ with_outcome) / freedom
        likelihood = np.log1p(counts * ratio).sum() + np.linalg.slogdet(of_design)[1]
        return likelihood + freedom * np.log(residual), coefficients, residual * (1 + ratio)

    minimum = minimize_scalar(
        lambda log_ratio: fit(log_ratio)[0], bounds=(-12, 6), method="bounded"
    )
    _, coefficients, variance = fit(minimum.x)
    return coefficients, variance


# Around the first poor turn -----------------------------------------------------------------------


def around_first_poor_turn(tables: Tables) -> dict[str, float]:
    """Overall ratings around the first poor turn against a shuffled order, and in reversed order."""
    study = tables.study
    has_poor = tables.poor_turns[study.conversation] > 0
    rows = (tables.overall > 0) & has_poor
    conversation = study.conversation[rows]
    turn = study.turn[rows]
    level = tables.overall[rows].astype(float)
    # One order of each conversation's ratings, drawn at random; turns without a rating stay where they are.
    chance = np.random.default_rng(SHUFFLE_SEED).random(len(level))
    shuffled = level[np.lexsort((chance, conversation))]
    time = _time_since_first_poor(level, conversation, turn)
    shuffled_time = _time_since_first_poor(shuffled, conversation, turn)
    values = {}
    for step in range(-3, 6):
        name = f"recovery_{'after' if step >= 0 else 'before'}_{abs(step)}"
        mean_by_chance = arrays.mean(shuffled[shuffled_time == step])
        values[name] = arrays.mean(level[time == step]) - mean_by_chance
    drop = _drop(level, time)
    drop_by_chance = _drop(shuffled, shuffled_time)
    values["lasting_drop_as_rated"] = drop
    values["lasting_drop_in_chance_order"] = drop_by_chance
    values["lasting_drop"] = drop - drop_by_chance
    # The same with the last turn of each conversation as the first.
    backward = study.turns[conversation] - 1 - turn
    time = _time_since_first_poor(level, conversation, backward)
    shuffled_time = _time_since_first_poor(shuffled, conversation, backward)
    reversed_recovery = arrays.mean(level[time == 1]) - arrays.mean(shuffled[shuffled_time == 1])
    values["recovery_after_1_minus_reversed"] = values["recovery_after_1"] - reversed_recovery
    reversed_drop = _drop(level, time) - _drop(shuffled, shuffled_time)
    values["lasting_drop_minus_reversed"] = values["lasting_drop"] - reversed_drop
    return values


def _drop(level: np.ndarray, time: np.ndarray) -> float:
    """Mean of the three turns before the first poor one minus that of turns 2 to 5 after it."""
    earlier = level[(time >= -3) & (time <= -1)]
    later = level[(time >= 2) & (time <= 5)]
    return arrays.mean(earlier) - arrays.mean(later)


def _time_since_first_poor(
    level: np.ndarray, conversation: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """Turns since the first poor turn of the conversation, negative before it."""
    poor = level <= POOR
    first = np.full(conversation.max(initial=-1) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, conversation[poor], turn[poor])
    return turn - first[conversation]


def neighboring_turns(tables: Tables) -> dict[str, float]:
    """Correlation of neighboring turns within conversations minus that of all pairs of their turns."""
    is_rated = tables.overall > 0
    conversation = arrays.compact(tables.study.conversation[is_rated])
    turn = tables.study.turn[is_rated]
    z = arrays.centered(tables.overall[is_rated].astype(float), conversation)
    size = np.bincount(conversation).astype(float)
    variance = np.bincount(conversation, weights=z**2) / size
    same_conversation = conversation[1:] == conversation[:-1]
    first = np.flatnonzero(same_conversation & (turn[1:] == turn[:-1] + 1))
    pairs = conversation[first]
    by_chance = -variance[pairs] / (size[pairs] - 1)
    covariance = (z[first] * z[first + 1] - by_chance).sum()
    return {"lag_1_minus_permuted_order": float(covariance / variance[pairs].sum())}


# Failures of a dimension --------------------------------------------------------------------------


def continuity_contrasts(tables: Tables) -> dict[str, float]:
    """Loss after a failure of Relational, and that beyond the others, the failures of a turn taken together."""
    failed = ((tables.seven > 0) & (tables.seven <= POOR)).astype(float)
    next_turn = _losses(tables, np.nan_to_num(tables.turn_mean), in_next_turn=True)
    same_turn = _losses(tables, tables.overall.astype(float), in_next_turn=False)
    relational_same, others_same, _ = _contrast(failed, same_turn)
    relational_next, others_next, plain = _contrast(failed, next_turn)
    return {
        "continuity_contrast_same_turn": relational_same - others_same,
        "continuity_contrast_next_turn": relational_next - others_next,
        "continuity_loss_after_failure": plain,
        "continuity_failure_next_turn": relational_next,
        "other_failures_next_turn": others_next,
    }


def _losses(tables: Tables, level: np.ndarray, *, in_next_turn: bool) -> np.ndarray:
    """Mean of a conversation's other turns minus the level of each turn, or of the next: (T,), NaN where undefined.

    The other turns are those but this one and the next.
    """
    conversation = tables.study.conversation
    number = len(tables.study.turns)
    has_next = np.append(conversation[1:] == conversation[:-1], False)
    next_level = np.where(has_next, np.append(level[1:], 0), 0)
    rated_turns = np.bincount(conversation, weights=level > 0, minlength=number)[conversation]
    sums = np.bincount(conversation, weights=level, minlength=number)[conversation]
    count = rated_turns - (level > 0) - (next_level > 0)
    mean_of_others = arrays.divided(sums - level - next_level, count)
    outcome = next_level if in_next_turn else level
    return np.where(outcome > 0, mean_of_others - outcome, np.nan)


def _contrast(failed: np.ndarray, loss: np.ndarray) -> tuple[float, float, float]:
    """Loss with a failure of Relational and of others on average, held equal; with the former, nothing held equal."""
    rows = ~np.isnan(loss)
    failed = failed[rows]
    loss = loss[rows]
    plain = np.nan
    coefficients = np.full(3, np.nan)
    if failed[:, _RELATIONAL].sum() >= 2:
        plain = arrays.regression(arrays.with_ones(failed[:, _RELATIONAL]), loss)[0][1]
        occurring = failed[:, failed.sum(axis=0) >= 2]
        if occurring.shape[1] > 1:
            coefficients, _ = arrays.regression(arrays.with_ones(occurring), loss)
    return coefficients[-1], coefficients[1:-1].mean(), plain


# Unmet expectations -------------------------------------------------------------------------------


def unmet_expectations(tables: Tables) -> dict[str, float]:
    """How much lower the judgment is where the mean rating is low and high empathy was wished for."""
    mean = tables.rated_truth
    outcome = tables.post[tables.has_truth]
    desired = tables.study.desired[tables.has_truth]
    low = np.round(mean, 9) < _LOW_BELOW
    high = desired == _HIGH
    designs = {
        "expectation_difference": arrays.with_ones(low & high),
        "expectation_difference_adjusted": arrays.with_ones(low & high, mean),
        "expectation_loss": arrays.with_ones(low & high, low, high, mean),
    }
    values = {}
    for key, design in designs.items():
        coefficients, _ = _random_intercept(design, outcome, tables.person)
        values[key] = -coefficients[1]
    # Post-task empathy on mean rating and wish, both from -1 to 1, their squares and product.
    m = (mean - 3) / 2
    w = desired - 2.0
    coefficients, _ = arrays.regression(arrays.with_ones(m, w, m**2, m * w, w**2), outcome)
    values["response_surface_interaction"] = coefficients[4]
    return values


# What was caused, by taking it away ---------------------------------------------------------------


def losses_caused(tables: Tables) -> dict[str, float]:
    """Rated points that failures and unmet expectations cost, against the same study without them."""
    study = tables.study
    p = study.parameters
    # What the failure costs in rated points: the same turns, rated as if it had not happened.
    lift = p.continuity_drop * study.carry[:, None] * np.array(p.continuity_weights)
    undisturbed = cut(study.latent[:, :7] + lift, p.thresholds)
    is_rated = study.ratings[:, :7] > 0
    loss = np.where(is_rated, undisturbed - study.ratings[:, :7], 0).astype(float)
    loss_of_turn = arrays.divided(loss.sum(axis=1), is_rated.sum(axis=1))
    fails = study.failure
    follows_failure = np.append(False, fails[:-1]) & (study.turn > 0) & ~fails
    values = {"failure_share": fails.mean()}
    for key, rows in (("continuity_loss", fails), ("continuity_loss_next_turn", follows_failure)):
        losses = loss_of_turn[rows]
        values[key] = arrays.mean(losses[~np.isnan(losses)])
    for position, name in enumerate(DIMENSION_NAMES):
        rows = fails & is_rated[:, position]
        values[f"continuity_loss_{name}"] = loss[rows, position].mean() if rows.any() else 0.0
    values["unmet_share"] = study.unmet.mean()
    if_met = cut(study.post_latent[study.unmet] + p.expectation_drop, p.thresholds)
    losses = if_met - study.post[study.unmet]
    values["expectation_loss_caused"] = float(losses.mean()) if losses.size else 0.0
    return values
