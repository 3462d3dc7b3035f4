"""True values of poor turns, failures of a dimension, and unmet expectations, and of what follows them."""

import numpy as np
from scipy.optimize import minimize_scalar

from sense7.simulate.true_values import arrays
from sense7.simulate.true_values.arrays import POOR, Tables
from sense7.taxonomy import DIMENSION_NAMES

SHUFFLE_SEED = 160926
"""Seed of the one shuffled order of each conversation's ratings that stands for chance."""

_HIGH, _LOW_BELOW = 3, 3.5
_RELATIONAL = DIMENSION_NAMES.index("Relational")


def values_of_poor_turns(tables: Tables) -> dict[str, float]:
    """Key -> value of what poor turns go with, and of what failures and unmet expectations cause."""
    return _effects(tables) | _caused(tables)


def details_of_poor_turns(tables: Tables) -> dict[str, float]:
    """The same of what costs more to compute: other definitions, what follows, and what failures go with."""
    return {
        **_ladder(tables),
        **_around_first_poor(tables),
        **_neighbors(tables),
        **_contrasts(tables),
        **_expectations(tables),
    }


# A poor turn and the ratings after the conversation -----------------------------------------------


def _effects(tables: Tables) -> dict[str, float]:
    overall, counts = tables.overall, tables.poor_turns
    rated = ~np.isnan(tables.overall_mean)
    values = {
        "poor_turn_share": arrays.mean(overall[overall > 0] <= POOR),
        "poor_turn_conversations": (counts > 0).mean(),
    }
    for kind, poor in (("", counts > 0), ("_exactly_one", counts == 1)):
        rows = rated & (poor | (counts == 0))
        chosen = poor[rows], tables.post[rows], tables.study.participant[rows]
        for way, effect in (("", _between), ("_within", _within), ("_mixed", _mixed)):
            points, spread = effect(*chosen)
            values[f"poor_turn_d{way}{kind}"] = points / spread
            if not kind and effect is not _mixed:
                values[f"poor_turn_points{way}"] = points
    by_overall = {"": tables.overall_mean, "_not_poor": _mean_of_others(tables)}
    for ending, outcome in by_overall.items():
        has_outcome = ~np.isnan(outcome)
        points, spread = _between(counts[has_outcome] > 0, outcome[has_outcome], None)
        values[f"poor_turn_d_overall{ending}"] = points / spread
    return values


def _mean_of_others(tables: Tables) -> np.ndarray:
    """Mean overall rating of the turns that are not poor: (C,)."""
    good = np.where(tables.overall > POOR, tables.overall, 0)
    return arrays.mean_by(arrays.missing(good), tables.study.conversation, len(tables.study.turns))


def _between(poor: np.ndarray, outcome: np.ndarray, _) -> tuple[float, float]:
    """Difference of means, and the pooled sd."""
    return arrays.difference(outcome[~poor], outcome[poor])


def _ladder(tables: Tables) -> dict[str, float]:
    """Points lost with a poor turn, with more and more held equal, where some turn is not poor."""
    others = _mean_of_others(tables)
    rows = ~np.isnan(others)
    rated = np.bincount(
        tables.study.conversation, weights=tables.overall > 0, minlength=len(others)
    )[rows]
    columns = np.column_stack([tables.poor_turns[rows] > 0, rated, others[rows]]).astype(float)
    outcome, person = tables.post[rows], arrays.compact(tables.study.participant[rows])
    values = {}
    for held, name in enumerate(("as_they_are", "same_length", "same_other_turns"), 1):
        coefficients, _ = arrays.regression(arrays.with_ones(columns[:, :held]), outcome)
        values[f"poor_turn_ladder_{name}"] = -coefficients[1]
    own, _ = arrays.regression(arrays.centered(columns, person), arrays.centered(outcome, person))
    return values | {"poor_turn_ladder_same_participant": -own[0]}


def _within(poor: np.ndarray, outcome: np.ndarray, participant: np.ndarray) -> tuple[float, float]:
    """Mean difference of a participant's two means, and the root mean square of the sds of both."""
    number = participant.max(initial=-1) + 1
    both = np.column_stack(
        [arrays.mean_by(outcome[kind], participant[kind], number) for kind in (~poor, poor)]
    )
    both = both[~np.isnan(both).any(axis=1)]
    if len(both) < 2:
        return np.nan, np.nan
    return (both[:, 0] - both[:, 1]).mean(), np.sqrt(both.var(axis=0, ddof=1).mean())


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

    def fit(logarithm: float) -> tuple[float, np.ndarray, float]:
        ratio = np.exp(logarithm)
        inside = cross - sums.T @ (sums * (ratio / (1 + counts * ratio))[:, None])
        of_design, with_outcome = inside[:width, :width], inside[:width, width]
        coefficients = np.linalg.solve(of_design, with_outcome)
        residual = (inside[width, width] - coefficients @ with_outcome) / freedom
        likelihood = np.log1p(counts * ratio).sum() + np.linalg.slogdet(of_design)[1]
        return likelihood + freedom * np.log(residual), coefficients, residual * (1 + ratio)

    best = minimize_scalar(lambda logarithm: fit(logarithm)[0], bounds=(-12, 6), method="bounded")
    _, coefficients, variance = fit(best.x)
    return coefficients, variance


# Around the first poor turn -----------------------------------------------------------------------


def _around_first_poor(tables: Tables) -> dict[str, float]:
    study, rated = tables.study, tables.overall > 0
    poor = tables.poor_turns[study.conversation] > 0
    of, turn = study.conversation[rated & poor], study.turn[rated & poor]
    level = tables.overall[rated & poor].astype(float)
    # One order of each conversation's ratings, drawn at random; turns without a rating stay where they are.
    shuffled = level[np.lexsort((np.random.default_rng(SHUFFLE_SEED).random(len(level)), of))]
    observed, chance = (_event_times(values, of, turn) for values in (level, shuffled))
    values = {}
    for time in range(-3, 6):
        name = f"recovery_{'after' if time >= 0 else 'before'}_{abs(time)}"
        values[name] = arrays.mean(level[observed == time]) - arrays.mean(shuffled[chance == time])
    values["lasting_drop_as_rated"] = _drop(level, observed)
    values["lasting_drop_in_chance_order"] = _drop(shuffled, chance)
    values["lasting_drop"] = _drop(level, observed) - _drop(shuffled, chance)
    # The same with the last turn of each conversation as the first.
    backward = study.turns[of] - 1 - turn
    reverse, chance = (_event_times(values, of, backward) for values in (level, shuffled))
    after = arrays.mean(level[reverse == 1]) - arrays.mean(shuffled[chance == 1])
    values["recovery_after_1_minus_reversed"] = values["recovery_after_1"] - after
    drop = _drop(level, reverse) - _drop(shuffled, chance)
    values["lasting_drop_minus_reversed"] = values["lasting_drop"] - drop
    return values


def _drop(level: np.ndarray, times: np.ndarray) -> float:
    """Mean of the three turns before the first poor one minus that of turns 2 to 5 after it."""
    before, later = (times >= -3) & (times <= -1), (times >= 2) & (times <= 5)
    return arrays.mean(level[before]) - arrays.mean(level[later])


def _event_times(level: np.ndarray, of: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Turns since the first poor turn of the conversation, negative before it."""
    poor = level <= POOR
    first = np.full(of.max(initial=-1) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, of[poor], turn[poor])
    return turn - first[of]


def _neighbors(tables: Tables) -> dict[str, float]:
    """Correlation of neighboring turns within conversations minus that of all pairs of their turns."""
    rated = tables.overall > 0
    of, turn = arrays.compact(tables.study.conversation[rated]), tables.study.turn[rated]
    z = arrays.centered(tables.overall[rated].astype(float), of)
    size = np.bincount(of).astype(float)
    spread = np.bincount(of, weights=z**2) / size
    here = np.flatnonzero((of[1:] == of[:-1]) & (turn[1:] == turn[:-1] + 1))
    pairs = of[here]
    chance = -spread[pairs] / (size[pairs] - 1)
    return {
        "lag_1_minus_permuted_order": float(
            (z[here] * z[here + 1] - chance).sum() / spread[pairs].sum()
        )
    }


# Failures of a dimension --------------------------------------------------------------------------


def _compared(tables: Tables, level: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Level of each turn and of the next, 0 if there is none, and the mean of the conversation's others."""
    of, number = tables.study.conversation, len(tables.study.turns)
    following = np.where(np.append(of[1:] == of[:-1], False), np.append(level[1:], 0), 0)
    count = np.bincount(of, weights=level > 0, minlength=number)[of] - (level > 0) - (following > 0)
    sums = np.bincount(of, weights=level, minlength=number)[of] - level - following
    return level, following, arrays.divided(sums, count)


def _contrasts(tables: Tables) -> dict[str, float]:
    """Loss after a failure of Relational, and that beyond the others, the failures of a turn taken together."""
    failed = ((tables.seven > 0) & (tables.seven <= POOR)).astype(float)
    values = {}
    for moment, rating in (
        ("same", tables.overall.astype(float)),
        ("next", np.nan_to_num(tables.turn_mean)),
    ):
        level, following, others = _compared(tables, rating)
        outcome = level if moment == "same" else following
        rows = (outcome > 0) & ~np.isnan(others)
        used, loss = failed[rows], others[rows] - outcome[rows]
        plain = coefficients = np.full(3, np.nan)
        if used[:, _RELATIONAL].sum() >= 2:
            plain, _ = arrays.regression(arrays.with_ones(used[:, _RELATIONAL]), loss)
            used = used[:, used.sum(axis=0) >= 2]
            if used.shape[1] > 1:
                coefficients, _ = arrays.regression(arrays.with_ones(used), loss)
        own, rest = coefficients[-1], coefficients[1:-1].mean()
        values[f"continuity_contrast_{moment}_turn"] = own - rest
    return values | {
        "continuity_loss_after_failure": plain[1],
        "continuity_failure_next_turn": own,
        "other_failures_next_turn": rest,
    }


# Unmet expectations -------------------------------------------------------------------------------


def _expectations(tables: Tables) -> dict[str, float]:
    """How much lower the judgment is where the mean rating is low and high empathy was wished for."""
    rated = ~np.isnan(tables.truth)
    mean, outcome = tables.truth[rated], tables.post[rated]
    low, high = np.round(mean, 9) < _LOW_BELOW, tables.study.desired[rated] == _HIGH
    person = tables.study.participant[rated]
    values = {}
    for key, held in (
        ("expectation_difference", ()),
        ("expectation_difference_adjusted", (mean,)),
        ("expectation_loss", (low, high, mean)),
    ):
        design = arrays.with_ones(low & high, *held)
        coefficients, _ = _random_intercept(design, outcome, person)
        values[key] = -coefficients[1]
    # Post-task empathy on mean rating and wish, both from -1 to 1, their squares and product.
    m, w = (mean - 3) / 2, tables.study.desired[rated] - 2.0
    b = arrays.regression(arrays.with_ones(m, w, m**2, m * w, w**2), outcome)[0]
    return values | {"response_surface_interaction": b[4]}


# What was caused, by taking it away ---------------------------------------------------------------


def _caused(tables: Tables) -> dict[str, float]:
    study, values = tables.study, {}
    p = study.parameters
    # What the failure costs in rated points: the same turns, rated as if it had not happened.
    lift = p.continuity_drop * study.carry[:, None] * np.array(p.continuity_weights)
    undisturbed = 1 + sum((study.latent[:, :7] + lift > t).astype(np.int8) for t in p.thresholds)
    loss = np.where(study.ratings[:, :7] > 0, undisturbed - study.ratings[:, :7], 0).astype(float)
    rated = study.ratings[:, :7] > 0
    values["failure_share"] = study.failure.mean()
    here = study.failure
    before = np.append(False, here[:-1]) & (study.turn > 0) & ~here
    for name, rows in (("continuity_loss", here), ("continuity_loss_next_turn", before)):
        loss_of_turn = np.divide(
            loss[rows].sum(axis=1),
            rated[rows].sum(axis=1),
            where=rated[rows].any(axis=1),
            out=np.full(int(rows.sum()), np.nan),
        )
        values[name] = arrays.mean(loss_of_turn[~np.isnan(loss_of_turn)])
    for position, name in enumerate(DIMENSION_NAMES):
        rows = here & rated[:, position]
        values[f"continuity_loss_{name}"] = loss[rows, position].mean() if rows.any() else 0.0
    values["unmet_share"] = study.unmet.mean()
    met = study.post_latent[study.unmet] + p.expectation_drop
    lost = 1 + sum((met > t).astype(np.int8) for t in p.thresholds) - study.post[study.unmet]
    values["expectation_loss_caused"] = float(lost.mean()) if lost.size else 0.0
    return values
