"""True values of conversations: conditions, variances, ground truth, characteristics, context, course, outcomes."""

import functools
import itertools

import numpy as np
import pandas as pd

from sense7.simulate.parameters import EXPERIENCE_ITEMS, Parameters
from sense7.simulate.true_values import arrays
from sense7.simulate.true_values.arrays import Tables
from sense7.workbook.sheets import find_prompted


def values_of_conversations(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ground truth of conversations says, and of what the ratings after them go with."""
    themes = (_conditions, _whose, _characteristics, _gaps, _outcomes)
    return {key: value for theme in themes for key, value in theme(tables).items()}


def details_of_conversations(tables: Tables) -> dict[str, float]:
    """The same of what costs more to compute."""
    themes = (
        _odds_ratios,
        _apart_alike,
        _on_one_base,
        _with_context,
        _conventions,
        _topic_means,
        _slopes,
        _fading,
    )
    return {key: value for theme in themes for key, value in theme(tables).items()}


@functools.lru_cache(maxsize=8)
def prompted(parameters: Parameters) -> str | None:
    """The condition that a reader of the workbook takes for the empathy-prompted one; None if its name doesn't say."""
    return find_prompted(pd.DataFrame({"condition": parameters.conditions}), None, "")[0]


def compared_pairs(parameters: Parameters) -> dict[str, tuple[int, int]]:
    """Pairs of conditions as they are compared, the prompted one first, then by name: ending of keys -> numbers."""
    names, best = parameters.conditions, prompted(parameters)
    order = sorted(range(len(names)), key=lambda number: (names[number] != best, names[number]))
    return {f"{names[a]}_{names[b]}": (a, b) for a, b in itertools.combinations(order, 2)}


# Conditions ---------------------------------------------------------------------------------------


def _conditions(tables: Tables) -> dict[str, float]:
    values = {}
    study, truth = tables.study, tables.truth
    names, known = study.parameters.conditions, ~np.isnan(truth)
    values["ground_truth_mean"] = arrays.mean(truth[known])
    values["ground_truth_sd"] = truth[known].std(ddof=1) if known.sum() > 1 else np.nan
    groups = [truth[known & (study.condition == number)] for number in range(len(names))]
    overall = _means_by_condition(tables.overall_mean, tables)
    for name, group, mean in zip(names, groups, overall, strict=True):
        values[f"condition_mean_{name}"] = arrays.mean(group)
        values[f"condition_mean_overall_{name}"] = mean
    for pair, (a, b) in compared_pairs(study.parameters).items():
        # Conditions are assigned by chance, so that the mixed model's contrast has the expectation of plain means.
        values[f"condition_model_difference_{pair}"] = arrays.mean(groups[a]) - arrays.mean(
            groups[b]
        )
        values[f"condition_d_{pair}"] = arrays.cohens_d(groups[a], groups[b])
    if (best := prompted(study.parameters)) is not None and len(names) > 1:
        number, means = names.index(best), _means_by_condition(truth, tables)
        values["prompted_difference_ground_truth"] = means[number] - np.delete(means, number).mean()
        values["prompted_minus_best_other"] = means[number] - np.delete(means, number).max()
    return values


def _odds_ratios(tables: Tables) -> dict[str, float]:
    """Odds ratios of the overall rating of turns."""
    logits = cumulative_logit(_counts_by_condition(tables))
    pairs = compared_pairs(tables.study.parameters)
    return {
        f"condition_odds_ratio_{pair}": np.exp(logits[a] - logits[b])
        for pair, (a, b) in pairs.items()
    }


def _means_by_condition(values: np.ndarray, tables: Tables) -> np.ndarray:
    return arrays.mean_by(values, tables.study.condition, len(tables.study.parameters.conditions))


def _counts_by_condition(tables: Tables) -> np.ndarray:
    """Overall ratings of turns: (conditions, 5)."""
    study, rated = tables.study, tables.overall > 0
    kinds = len(study.parameters.conditions)
    cells = 5 * study.condition[study.conversation[rated]] + tables.overall[rated] - 1
    return np.bincount(cells, minlength=5 * kinds).reshape(kinds, 5).astype(float)


def cumulative_logit(counts: np.ndarray) -> np.ndarray:
    """Effects of groups (the first is 0) in the proportional-odds model of levels, by Fisher's scoring.

    The log odds of a level above the k-th are the group's effect minus the k-th threshold.
    """
    groups, levels = counts.shape
    if groups < 2 or (counts.sum(axis=0) == 0).any() or (counts.sum(axis=1) == 0).any():
        return np.full(groups, np.nan)
    total = counts.sum()
    below = np.cumsum(counts.sum(axis=0))[:-1] / total
    start = np.concatenate([np.log(below / (1 - below)), np.zeros(groups - 1)])
    # Threshold k and effect g in the log odds of a level up to the k-th: (groups, thresholds, parameters).
    design = np.zeros((groups, levels - 1, len(start)))
    design[:, np.arange(levels - 1), np.arange(levels - 1)] = 1
    design[np.arange(1, groups), :, levels - 1 + np.arange(groups - 1)] = -1
    parameters = start
    for _ in range(50):
        cumulative = 1 / (1 + np.exp(-(design @ parameters)))
        slopes = (cumulative * (1 - cumulative))[..., None] * design
        probability = np.diff(cumulative, prepend=0, append=1, axis=1)
        edge = np.zeros_like(slopes[:, :1])
        change = np.diff(slopes, prepend=edge, append=edge, axis=1)
        score = ((counts / probability)[..., None] * change).sum(axis=(0, 1))
        weights = counts.sum(axis=1, keepdims=True) / probability
        information = np.einsum("gl,gli,glj->ij", weights, change, change)
        step = np.linalg.solve(information, score)
        parameters = parameters + step
        if np.abs(step).max() < 1e-10:
            break
    return np.concatenate([[0.0], parameters[levels - 1 :]])


# Whose the variance is ----------------------------------------------------------------------------


def _parts_of_conversations(tables: Tables) -> list[float]:
    """Variance of participants, participants by conditions, and conversations; conditions fixed."""
    known = ~np.isnan(tables.truth)
    condition, participant = tables.study.condition[known], tables.study.participant[known]
    rest = arrays.centered(tables.truth[known], condition)
    return arrays.variance_parts(
        rest, [arrays.compact(participant), arrays.compact(participant, condition)]
    )


def _whose(tables: Tables) -> dict[str, float]:
    known = ~np.isnan(tables.truth)
    truth, participant = tables.truth[known], arrays.compact(tables.study.participant[known])
    parts = _parts_of_conversations(tables)
    total = sum(parts)
    values = {
        "variance_participant": parts[0],
        "variance_participant_condition": parts[1],
        "variance_conversation": parts[2],
        "icc_participant": parts[0] / total,
        "icc_1": arrays.icc_1(truth, participant),
    }
    return values | _ceiling(tables, parts)


def _apart_alike(tables: Tables) -> dict[str, float]:
    """Distances of the ground truth of two conversations in one condition, of two people and of one."""
    study, known = tables.study, ~np.isnan(tables.truth)
    two, one = _apart(
        tables.truth[known], study.condition[known], arrays.compact(study.participant[known])
    )
    return {"apart_two_people": two, "apart_one_person": one, "apart_excess": two - one}


def _apart(truth: np.ndarray, cell: np.ndarray, participant: np.ndarray) -> tuple[float, float]:
    """Mean distance of two conversations of a cell, of two people and of one."""
    everyone, pairs = arrays.distances(truth, cell)
    own, own_pairs = arrays.distances(truth, arrays.compact(participant, cell))
    two = (everyone - own) / (pairs - own_pairs) if pairs > own_pairs else np.nan
    return two, own / own_pairs if own_pairs else np.nan


def _ceiling(tables: Tables, parts: list[float]) -> dict[str, float]:
    """What the participants' share of the ground truth's whole variance bounds the content share by, and the share."""
    study = tables.study
    known = ~np.isnan(tables.truth)
    offered = np.bincount(study.conversation, weights=study.quality.mean(axis=1)) / study.turns
    whole = _of_conditions(tables, tables.truth, study.condition) + sum(parts)
    return {
        "ceiling_bound_participant": 1 - parts[0] / whole,
        "content_share": arrays.correlation(tables.truth[known], offered[known]) ** 2,
    }


def _of_conditions(tables: Tables, rating: np.ndarray, of: np.ndarray) -> float:
    """Variance of the conditions' means over the rows that have the rating."""
    rated = ~np.isnan(rating)
    kinds = len(tables.study.parameters.conditions)
    means = arrays.mean_by(rating, of, kinds)
    share = np.bincount(of[rated], minlength=kinds) / max(rated.sum(), 1)
    center = np.nansum(share * means)
    return float(np.nansum(share * (means - center) ** 2))


def _noise(tables: Tables) -> float:
    """Mean square of ratings around their turn and their dimension, turns and dimensions fixed."""
    ratings, rated = tables.seven.astype(float), (tables.seven > 0).astype(float)
    number = rated.sum(axis=1)
    some = number > 0
    ratings, rated, number = ratings[some], rated[some], number[some]
    turn = ratings.sum(axis=1) / number
    # Sums of products of (indicators of dimensions, rating), each minus its mean over the ratings of the turn.
    indicators = np.diag(rated.sum(axis=0)) - (rated / number[:, None]).T @ rated
    with_rating = ratings.sum(axis=0) - rated.T @ turn
    squares = (ratings**2).sum() - (number * turn**2).sum()
    freedom = rated.sum() - len(number) - 6
    if freedom <= 0 or np.linalg.matrix_rank(indicators[1:, 1:]) < 6:
        return np.nan
    return (
        squares - with_rating[1:] @ np.linalg.solve(indicators[1:, 1:], with_rating[1:])
    ) / freedom


def _on_one_base(tables: Tables) -> dict[str, float]:
    """Shares of the variance of conversations' means, conditions included."""
    parts = _parts_of_conversations(tables)
    study, rated = tables.study, ~np.isnan(tables.turn_mean)
    of, means = study.conversation[rated], tables.turn_mean[rated]
    inverse = 1 / (tables.seven[rated] > 0).sum(axis=1)
    turns = np.bincount(of, minlength=len(study.turns)).astype(float)
    known = turns > 0
    own = arrays.centered(means, arrays.compact(of))
    around = (own**2).sum() / (len(of) - known.sum()) if len(of) > known.sum() else np.nan
    noise = _noise(tables)
    in_conversation = noise * arrays.mean(
        (np.bincount(of, weights=inverse, minlength=len(turns)) / turns**2)[known]
    )
    turn = around * arrays.mean(1 / turns[known]) - in_conversation
    shares = {
        "participant": parts[0],
        "participant_by_condition": parts[1],
        "condition": _of_conditions(tables, tables.truth, study.condition),
        "conversation": parts[2] - turn - in_conversation,
        "turn": turn,
        "noise": in_conversation,
    }
    return {
        f"conversation_mean_share_{name}": part / sum(shares.values())
        for name, part in shares.items()
    }


def _with_context(tables: Tables) -> dict[str, float]:
    """Shares of participants, conditions and context in the variance of the ground truth, on one base."""
    parts = _parts_of_conversations(tables)
    study, known = tables.study, ~np.isnan(tables.truth)
    person = arrays.compact(study.participant[known])
    rest = arrays.centered(tables.truth[known], person)
    conditions = _indicators(study.condition[known])
    context = {
        "topic": _indicators(study.topic[known]),
        "importance": study.importance[known, None].astype(float),
        "desired_empathy": study.desired[known, None].astype(float),
    }
    freedom = len(rest) - int(person.max(initial=-1)) - 1

    def mean_square(*columns: np.ndarray) -> float:
        design = np.column_stack([conditions, *columns])
        if freedom <= design.shape[1]:
            return np.nan
        if not design.shape[1]:
            return (rest**2).sum() / freedom
        return arrays.regression(arrays.centered(design, person), rest)[1] / (
            freedom - design.shape[1]
        )

    without = mean_square()
    falls = {name: without - mean_square(columns) for name, columns in context.items()}
    every = without - mean_square(*context.values())
    condition = _of_conditions(tables, tables.truth, study.condition)
    whole = condition + sum(parts)
    values = {
        "one_base_share_participant": parts[0],
        "one_base_share_condition": condition,
        "one_base_share_participant_by_condition": parts[1],
        "one_base_share_context": every,
        "one_base_share_rest": parts[2] - every,
        **{f"one_base_share_{name}": fall for name, fall in falls.items()},
        "participant_share": parts[0],
        "condition_and_topic_share": condition + falls["topic"],
        "participant_share_beyond_condition_and_topic": parts[0] - condition - falls["topic"],
    }
    return {key: value / whole for key, value in values.items()}


def _indicators(codes: np.ndarray) -> np.ndarray:
    """An indicator of each group but the first."""
    return (codes[:, None] == np.unique(codes)[1:]).astype(float)


# What makes the ground truth ----------------------------------------------------------------------


def labels(values: np.ndarray) -> np.ndarray:
    """Rounded to a level, halves to the even one; 0 for NaN. Twelve digits first, since sums leave a half beside it."""
    return np.where(np.isnan(values), 0, np.clip(np.round(np.round(values, 12)), 1, 5)).astype(int)


def _conventions(tables: Tables) -> dict[str, float]:
    study, truth, seven = tables.study, tables.truth, tables.seven
    of, number = study.conversation, len(study.turns)
    rated = seven > 0
    dimensions = tables.dimension_means
    pooled = np.bincount(of, weights=seven.sum(axis=1), minlength=number)
    asked = np.where(rated.all(axis=1), tables.turn_mean, np.nan)
    conventions = {
        "pooled": arrays.divided(
            pooled, np.bincount(of, weights=rated.sum(axis=1), minlength=number)
        ),
        "by_dimension": arrays.divided(
            np.nansum(dimensions, axis=1), (~np.isnan(dimensions)).sum(axis=1)
        ),
        "complete_turns": arrays.mean_by(asked, of, number),
        **_middle_and_last(tables),
        "overall": tables.overall_mean,
        "post_task": tables.post,
    }
    known, own = ~np.isnan(truth), labels(truth)
    values = {
        f"ground_truth_label_{level}": arrays.mean(own[known] == level) for level in range(1, 6)
    }
    values["conversations_with_ground_truth"] = known.mean() * study.parameters.conversations
    for name, other in conventions.items():
        both = known & ~np.isnan(other)
        values[f"ground_truth_changed_{name}"] = arrays.mean(own[both] != labels(other)[both])
    return values


def _middle_and_last(tables: Tables) -> dict[str, np.ndarray]:
    """Median and last of the turns' means of each conversation."""
    rows = np.flatnonzero(~np.isnan(tables.turn_mean))
    of, means, number = (
        tables.study.conversation[rows],
        tables.turn_mean[rows],
        len(tables.study.turns),
    )
    counts = np.bincount(of, minlength=number)
    some = counts > 0
    first = (np.cumsum(counts) - counts)[some]
    ordered = means[np.lexsort((means, of))]
    median, last = np.full(number, np.nan), np.full(number, np.nan)
    median[some] = (
        ordered[first + (counts[some] - 1) // 2] + ordered[first + counts[some] // 2]
    ) / 2
    last[some] = means[first + counts[some] - 1]
    return {"median": median, "last_turn": last}


# Characteristics ----------------------------------------------------------------------------------


def _characteristics(tables: Tables) -> dict[str, float]:
    study, p = tables.study, tables.study.parameters
    known = ~np.isnan(tables.truth)
    people, participant = np.unique(study.participant[known], return_inverse=True)
    means = arrays.mean_by(tables.truth[known], participant, len(people))
    values = {}
    for position, name in enumerate(p.characteristics):
        if p.characteristic_effects[position]:
            score = arrays.ranks(study.scores[people, position])
            values[f"characteristic_correlation_{name}"] = arrays.correlation(
                score, arrays.ranks(means)
            )
    if not p.characteristics or len(people) < 2:
        return values
    scores = study.scores[people]
    _, left = arrays.regression(arrays.with_ones(scores), means)
    freedom = len(people) - 1 - scores.shape[1]
    whole = ((means - means.mean()) ** 2).sum()
    values["characteristics_explained"] = (
        1 - left / freedom * (len(people) - 1) / whole if freedom > 0 else np.nan
    )
    return values


# Context ------------------------------------------------------------------------------------------


def _topics(tables: Tables) -> list[int]:
    """Numbers of the topics in alphabetical order."""
    names = tables.study.parameters.topics
    return [names.index(name) for name in sorted(names)]


def _topic_means(tables: Tables) -> dict[str, float]:
    study, known = tables.study, ~np.isnan(tables.truth)
    own = arrays.centered(tables.truth[known], arrays.compact(study.participant[known]))
    topic = study.topic[known]
    return {
        f"topic_mean_own_{number}": arrays.mean(own[topic == code])
        for number, code in enumerate(_topics(tables), 1)
    }


def _slopes(tables: Tables) -> dict[str, float]:
    study, known = tables.study, ~np.isnan(tables.truth)
    truth, person = tables.truth[known], arrays.compact(study.participant[known])
    steps = np.column_stack([study.importance[known], study.desired[known]]).astype(float)
    topics = (study.topic[known][:, None] == np.array(_topics(tables)[1:], dtype=int)).astype(float)
    own, rest = arrays.centered(steps, person), arrays.centered(truth, person)
    within, _ = arrays.regression(own, rest)
    values = {"importance_slope_within": within[0], "desired_slope_within": within[1]}
    everything = np.column_stack(
        [own, arrays.centered(topics, person) if topics.shape[1] else topics]
    )
    values["context_share"] = _adjusted_share(everything, rest, int(person.max(initial=-1)) + 1)
    name = prompted(study.parameters)
    if name is None or len(study.parameters.conditions) < 2:
        return values
    # Slopes on desired empathy with the prompt and without it, conditions and importance held equal.
    kinds = np.column_stack([rows[known] for _, rows in tables.conditions]).astype(float)
    prompt = dict(tables.conditions)[name][known]
    columns = np.column_stack(
        [np.column_stack([prompt, ~prompt]) * steps[:, [1]], kinds[:, 1:], steps[:, :1]]
    )
    first, second = arrays.regression(arrays.centered(columns, person), rest)[0][:2]
    return values | {"desired_slope_difference": first - second}


def _adjusted_share(columns: np.ndarray, rest: np.ndarray, people: int) -> float:
    """Share explained within participants, each column and participant paid for by a degree of freedom."""
    freedom = len(rest) - people
    if not columns.shape[1] or freedom <= columns.shape[1]:
        return np.nan
    _, left = arrays.regression(columns, rest)
    return 1 - left / (freedom - columns.shape[1]) * freedom / (rest**2).sum()


def _gaps(tables: Tables) -> dict[str, float]:
    """Experienced minus desired empathy, both scales from 0 to 1."""
    study = tables.study
    gap = (tables.post - 1) / 4 - (study.desired - 1) / 2
    topics = enumerate(_topics(tables), 1)
    by_topic = {
        f"expected_experienced_gap_topic_{at}": arrays.mean(gap[study.topic == code])
        for at, code in topics
    }
    return {"expected_experienced_gap": gap.mean(), **by_topic}


# The course, and the ratings after the conversation -------------------------------------------------


def _fading(tables: Tables) -> dict[str, float]:
    """Slope per turn within conversations of the prompted condition minus that of the others."""
    study, rated = tables.study, ~np.isnan(tables.turn_mean)
    best = prompted(study.parameters)
    if best is None or len(study.parameters.conditions) < 2:
        return {}
    of, level = study.conversation[rated], tables.turn_mean[rated]
    turn = arrays.centered(study.turn[rated] + 1.0, arrays.compact(of))

    def slope(rows: np.ndarray) -> float:
        return float(arrays.divided((turn * (level - 3))[rows].sum(), (turn**2)[rows].sum()))

    own = study.condition[of] == study.parameters.conditions.index(best)
    people = study.participant[of]
    both = np.isin(people, np.intersect1d(people[own], people[~own]))
    return {
        "prompt_fading": slope(own) - slope(~own),
        "prompt_fading_within": slope(own & both) - slope(~own & both),
    }


def _outcomes(tables: Tables) -> dict[str, float]:
    ranked, person = arrays.ranks(tables.post), arrays.compact(tables.study.participant)
    own = (arrays.centered(outcome, person) for outcome in (tables.post, tables.experience))
    values = {
        "empathy_satisfaction": arrays.correlation(ranked, arrays.ranks(tables.experience)),
        "empathy_satisfaction_within": arrays.correlation(*own),
    }
    for position, name in enumerate(EXPERIENCE_ITEMS):
        values[f"empathy_{name}"] = arrays.correlation(
            ranked, arrays.ranks(tables.study.experience[:, position])
        )
    return values
