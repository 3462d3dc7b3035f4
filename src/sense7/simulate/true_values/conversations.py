"""True values of conversations: conditions, variances, ground truth, characteristics, context, course, outcomes."""

import functools
import itertools

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from sense7.simulate.judge import offered_quality
from sense7.simulate.parameters import EXPERIENCE_ITEMS, Parameters
from sense7.simulate.true_values import arrays
from sense7.simulate.true_values.arrays import Tables
from sense7.workbook.sheets import find_prompted


@functools.lru_cache(maxsize=8)
def prompted(parameters: Parameters) -> str | None:
    """The condition that a reader of the workbook takes for the empathy-prompted one; None if its name doesn't say."""
    return find_prompted(pd.DataFrame({"condition": parameters.conditions}), None, "")[0]


def compared_pairs(parameters: Parameters) -> dict[str, tuple[int, int]]:
    """Pairs of conditions as they are compared, the prompted one first, then by name: ending of keys -> numbers."""
    names = parameters.conditions
    best = prompted(parameters)
    order = sorted(range(len(names)), key=lambda number: (names[number] != best, names[number]))
    return {f"{names[a]}_{names[b]}": (a, b) for a, b in itertools.combinations(order, 2)}


# Conditions ---------------------------------------------------------------------------------------


def conditions(tables: Tables) -> dict[str, float]:
    """Mean and sd of the ground truth, means of the conditions, and differences of any two."""
    study = tables.study
    names = study.parameters.conditions
    truth = tables.rated_truth
    condition = tables.rated_condition
    sd = truth.std(ddof=1) if len(truth) > 1 else np.nan
    values = {"ground_truth_mean": arrays.mean(truth), "ground_truth_sd": sd}
    groups = [truth[condition == number] for number in range(len(names))]
    means_of_overall = _means_by_condition(tables.overall_mean, tables)
    for name, group, mean in zip(names, groups, means_of_overall, strict=True):
        values[f"condition_mean_{name}"] = arrays.mean(group)
        values[f"condition_mean_overall_{name}"] = mean
    for pair, (a, b) in compared_pairs(study.parameters).items():
        # Conditions are assigned by chance, so that the mixed model's contrast has the expectation of plain means.
        difference = arrays.mean(groups[a]) - arrays.mean(groups[b])
        values[f"condition_model_difference_{pair}"] = difference
        values[f"condition_d_{pair}"] = arrays.cohens_d(groups[a], groups[b])
    best = prompted(study.parameters)
    if best is not None and len(names) > 1:
        means = _means_by_condition(tables.truth, tables)
        mean_prompted = means[names.index(best)]
        other_means = np.delete(means, names.index(best))
        values["prompted_difference_ground_truth"] = mean_prompted - other_means.mean()
        values["prompted_minus_best_other"] = mean_prompted - other_means.max()
    return values


def odds_ratios(tables: Tables) -> dict[str, float]:
    """Odds ratios of the overall rating of turns."""
    logits = cumulative_logit(_counts_by_condition(tables))
    values = {}
    for pair, (a, b) in compared_pairs(tables.study.parameters).items():
        values[f"condition_odds_ratio_{pair}"] = np.exp(logits[a] - logits[b])
    return values


def _means_by_condition(values: np.ndarray, tables: Tables) -> np.ndarray:
    return arrays.mean_by(values, tables.study.condition, len(tables.study.parameters.conditions))


def _counts_by_condition(tables: Tables) -> np.ndarray:
    """Overall ratings of turns: (conditions, 5)."""
    study = tables.study
    is_rated = tables.overall > 0
    condition = study.condition[study.conversation[is_rated]]
    cells = 5 * condition + tables.overall[is_rated] - 1
    count = len(study.parameters.conditions)
    return np.bincount(cells, minlength=5 * count).reshape(count, 5).astype(float)


# Not by sense7.estimators.cumulative_logit: the estimate is compared with this value, so each needs code of its own.
def cumulative_logit(counts: np.ndarray) -> np.ndarray:
    """Effects of groups (the first is 0) in the proportional-odds model of levels, by Fisher's scoring.

    The log odds of a level above the k-th are the group's effect minus the k-th threshold.
    """
    groups, levels = counts.shape
    if groups < 2 or (counts.sum(axis=0) == 0).any() or (counts.sum(axis=1) == 0).any():
        return np.full(groups, np.nan)
    total = counts.sum()
    below = np.cumsum(counts.sum(axis=0))[:-1] / total
    parameters = np.concatenate([np.log(below / (1 - below)), np.zeros(groups - 1)])
    # Threshold k and effect g in the log odds of a level up to the k-th: (groups, thresholds, parameters).
    design = np.zeros((groups, levels - 1, len(parameters)))
    design[:, np.arange(levels - 1), np.arange(levels - 1)] = 1
    design[np.arange(1, groups), :, levels - 1 + np.arange(groups - 1)] = -1
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
    condition = tables.rated_condition
    deviations = arrays.centered(tables.rated_truth, condition)
    levels = [tables.person, arrays.compact(tables.person, condition)]
    return arrays.variance_parts(deviations, levels)


def variance_parts(tables: Tables) -> dict[str, float]:
    """Variance parts of the ground truth, the participants' share, and what that leaves of it to the content."""
    study = tables.study
    truth = tables.rated_truth
    parts = _parts_of_conversations(tables)
    total = _variance_of_conditions(tables) + sum(parts)
    offered = offered_quality(study)
    return {
        "variance_participant": parts[0],
        "variance_participant_condition": parts[1],
        "variance_conversation": parts[2],
        "icc_reml": parts[0] / sum(parts),
        "icc_anova": arrays.icc_1(truth, tables.person),
        "ceiling_bound_participant": 1 - parts[0] / total,
        "content_share": arrays.correlation(truth, offered[tables.has_truth]) ** 2,
    }


def distances_in_a_condition(tables: Tables) -> dict[str, float]:
    """Mean distances of the ground truth of two conversations in one condition, of two people and of one."""
    truth = tables.rated_truth
    condition = tables.rated_condition
    cell = arrays.compact(tables.person, condition)
    total, pairs = arrays.distances(truth, condition)
    total_within, pairs_within = arrays.distances(truth, cell)
    two_people = np.nan
    if pairs > pairs_within:
        two_people = (total - total_within) / (pairs - pairs_within)
    one_person = total_within / pairs_within if pairs_within else np.nan
    return {
        "apart_two_people": two_people,
        "apart_one_person": one_person,
        "apart_excess": two_people - one_person,
    }


def _variance_of_conditions(tables: Tables) -> float:
    """Variance of the conditions' means over the conversations that have a ground truth."""
    condition = tables.rated_condition
    means = _means_by_condition(tables.truth, tables)
    share = np.bincount(condition, minlength=len(means)) / max(len(condition), 1)
    center = np.nansum(share * means)
    return float(np.nansum(share * (means - center) ** 2))


def _noise(tables: Tables) -> float:
    """Residual mean square of the ratings in the least-squares model turn + dimension, both fixed."""
    is_turn_rated = (tables.seven > 0).any(axis=1)
    ratings = tables.seven[is_turn_rated].astype(float)
    is_rated = (ratings > 0).astype(float)
    count = is_rated.sum(axis=1)
    turn_means = ratings.sum(axis=1) / count
    squares_within_turns = (ratings**2).sum() - (count * turn_means**2).sum()
    # Normal equations of the dimensions: sums of products of their indicators with each other and with the rating,
    # each minus its mean over the ratings of the turn. The first dimension is the reference.
    indicators = np.diag(is_rated.sum(axis=0)) - (is_rated / count[:, None]).T @ is_rated
    indicators = indicators[1:, 1:]
    with_rating = (ratings.sum(axis=0) - is_rated.T @ turn_means)[1:]
    other_dimensions = len(with_rating)
    freedom = is_rated.sum() - len(count) - other_dimensions
    if freedom <= 0 or np.linalg.matrix_rank(indicators) < other_dimensions:
        return np.nan
    explained_by_dimensions = with_rating @ np.linalg.solve(indicators, with_rating)
    return (squares_within_turns - explained_by_dimensions) / freedom


def shares_of_conversation_means(tables: Tables) -> dict[str, float]:
    """Shares of the variance of conversations' means, conditions included."""
    parts = _parts_of_conversations(tables)
    study = tables.study
    is_rated = ~np.isnan(tables.turn_mean)
    conversation = study.conversation[is_rated]
    means = tables.turn_mean[is_rated]
    turns = np.bincount(conversation, minlength=len(study.turns)).astype(float)
    has_turns = turns > 0
    deviations = arrays.centered(means, arrays.compact(conversation))
    freedom = len(conversation) - has_turns.sum()
    variance_of_turns = (deviations**2).sum() / freedom if freedom > 0 else np.nan
    inverse = 1 / (tables.seven[is_rated] > 0).sum(axis=1)
    sums = np.bincount(conversation, weights=inverse, minlength=len(turns))
    noise = _noise(tables) * arrays.mean((sums / turns**2)[has_turns])
    turn = variance_of_turns * arrays.mean(1 / turns[has_turns]) - noise
    shares = {
        "participant": parts[0],
        "participant_by_condition": parts[1],
        "condition": _variance_of_conditions(tables),
        "conversation": parts[2] - turn - noise,
        "turn": turn,
        "noise": noise,
    }
    total = sum(shares.values())
    return {f"conversation_mean_share_{name}": part / total for name, part in shares.items()}


def shares_with_context(tables: Tables) -> dict[str, float]:
    """Shares of participants, conditions and context in the variance of the ground truth, on one base."""
    parts = _parts_of_conversations(tables)
    study = tables.study
    has_truth = tables.has_truth
    person = tables.person
    deviations = tables.truth_within
    indicators_of_condition = _indicators(tables.rated_condition)
    context = {
        "topic": _indicators(study.topic[has_truth]),
        "importance": study.importance[has_truth, None].astype(float),
        "desired_empathy": study.desired[has_truth, None].astype(float),
    }
    freedom = len(deviations) - int(person.max(initial=-1)) - 1

    def mean_square(*columns: np.ndarray) -> float:
        design = np.column_stack([indicators_of_condition, *columns])
        width = design.shape[1]
        if freedom <= width:
            return np.nan
        if not width:
            return (deviations**2).sum() / freedom
        _, residual = arrays.regression(arrays.centered(design, person), deviations)
        return residual / (freedom - width)

    without_context = mean_square()
    falls = {name: without_context - mean_square(columns) for name, columns in context.items()}
    fall_by_all = without_context - mean_square(*context.values())
    condition = _variance_of_conditions(tables)
    total = condition + sum(parts)
    variances = {
        "one_base_share_participant": parts[0],
        "one_base_share_condition": condition,
        "one_base_share_participant_by_condition": parts[1],
        "one_base_share_context": fall_by_all,
        "one_base_share_rest": parts[2] - fall_by_all,
        "one_base_share_topic": falls["topic"],
        "one_base_share_importance": falls["importance"],
        "one_base_share_desired_empathy": falls["desired_empathy"],
        "participant_share": parts[0],
        "condition_and_topic_share": condition + falls["topic"],
        "participant_share_beyond_condition_and_topic": parts[0] - condition - falls["topic"],
    }
    return {key: variance / total for key, variance in variances.items()}


def _indicators(codes: np.ndarray) -> np.ndarray:
    """An indicator of each group but the first."""
    return (codes[:, None] == np.unique(codes)[1:]).astype(float)


# What makes the ground truth ----------------------------------------------------------------------


def labels(values: np.ndarray) -> np.ndarray:
    """Rounded to a level, halves to the even one; 0 for NaN. Twelve digits first, since sums leave a half beside it."""
    levels = np.clip(np.round(np.round(values, 12)), 1, 5)
    return np.where(np.isnan(values), 0, levels).astype(int)


def ground_truth_conventions(tables: Tables) -> dict[str, float]:
    """Labels of the ground truth, and how many conversations have another one by other conventions."""
    study = tables.study
    conversation = study.conversation
    number = len(study.turns)
    sums = np.bincount(conversation, weights=tables.seven.sum(axis=1), minlength=number)
    counts = np.bincount(conversation, weights=(tables.seven > 0).sum(axis=1), minlength=number)
    has_mean = ~np.isnan(tables.dimension_means)
    of_complete_turns = np.where(tables.complete, tables.turn_mean, np.nan)
    median, last_turn = _median_and_last(tables)
    conventions = {
        "pooled": arrays.divided(sums, counts),
        "by_dimension": arrays.divided(
            np.nansum(tables.dimension_means, axis=1), has_mean.sum(axis=1)
        ),
        "complete_turns": tables.mean_by_conversation(of_complete_turns),
        "median": median,
        "last_turn": last_turn,
        "overall": tables.overall_mean,
        "post_task": tables.post,
    }
    has_truth = tables.has_truth
    label = labels(tables.truth)
    values = {}
    for level in range(1, 6):
        values[f"ground_truth_label_{level}"] = arrays.mean(label[has_truth] == level)
    values["conversations_with_ground_truth"] = has_truth.mean() * study.parameters.conversations
    for name, convention in conventions.items():
        rows = has_truth & ~np.isnan(convention)
        changed = label[rows] != labels(convention)[rows]
        values[f"ground_truth_changed_{name}"] = arrays.mean(changed)
    return values


def _median_and_last(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Median and last of the turns' means of each conversation; NaN where no turn is rated: (C,), (C,)."""
    turn_means = pd.Series(tables.turn_mean).groupby(tables.study.conversation)
    conversations = range(len(tables.study.turns))
    median = turn_means.median().reindex(conversations)
    last = turn_means.last().reindex(conversations)
    return median.to_numpy(), last.to_numpy()


# Characteristics ----------------------------------------------------------------------------------


def characteristics(tables: Tables) -> dict[str, float]:
    """Rank correlations of characteristics that have an effect, and what all of them explain."""
    study = tables.study
    p = study.parameters
    people = np.unique(study.participant[tables.has_truth])
    means = arrays.mean_by(tables.rated_truth, tables.person, len(people))
    scores = study.scores[people]
    rank_of_mean = rankdata(means)
    values = {}
    for position, name in enumerate(p.characteristics):
        if p.characteristic_effects[position]:
            correlation = arrays.correlation(rankdata(scores[:, position]), rank_of_mean)
            values[f"characteristic_correlation_{name}"] = correlation
    if not p.characteristics or len(people) < 2:
        return values
    _, residual = arrays.regression(arrays.with_ones(scores), means)
    freedom = len(people) - 1 - scores.shape[1]
    squares = ((means - means.mean()) ** 2).sum()
    explained = np.nan
    if freedom > 0:
        explained = 1 - residual / freedom * (len(people) - 1) / squares
    values["characteristics_explained"] = explained
    return values


# Context ------------------------------------------------------------------------------------------


def _topics(tables: Tables) -> list[int]:
    """Numbers of the topics in alphabetical order."""
    names = tables.study.parameters.topics
    return [names.index(name) for name in sorted(names)]


def topic_means(tables: Tables) -> dict[str, float]:
    """Mean ground truth of each topic minus the participant's own mean."""
    topic = tables.study.topic[tables.has_truth]
    values = {}
    for number, code in enumerate(_topics(tables), 1):
        values[f"topic_mean_own_{number}"] = arrays.mean(tables.truth_within[topic == code])
    return values


def context_slopes(tables: Tables) -> dict[str, float]:
    """Slopes on importance and desired empathy within participants, and what all context explains."""
    study = tables.study
    has_truth = tables.has_truth
    person = tables.person
    deviations = tables.truth_within
    importance = study.importance[has_truth].astype(float)
    desired = study.desired[has_truth].astype(float)
    context = arrays.centered(np.column_stack([importance, desired]), person)
    slopes, _ = arrays.regression(context, deviations)
    later_topics = np.array(_topics(tables)[1:], dtype=int)
    if later_topics.size:
        topics = (study.topic[has_truth][:, None] == later_topics).astype(float)
        context = np.column_stack([context, arrays.centered(topics, person)])
    people = int(person.max(initial=-1)) + 1
    values = {
        "importance_slope_within": slopes[0],
        "desired_slope_within": slopes[1],
        "context_share": _adjusted_share(context, deviations, people),
    }
    best = prompted(study.parameters)
    if best is None or len(study.parameters.conditions) < 2:
        return values
    # Slopes on desired empathy with the prompt and without it, conditions and importance held equal.
    indicators = [rows[has_truth] for _, rows in tables.conditions]
    with_prompt = dict(tables.conditions)[best][has_truth]
    columns = [with_prompt * desired, ~with_prompt * desired, *indicators[1:], importance]
    design = np.column_stack(columns).astype(float)
    coefficients, _ = arrays.regression(arrays.centered(design, person), deviations)
    values["desired_slope_difference"] = coefficients[0] - coefficients[1]
    return values


def _adjusted_share(columns: np.ndarray, deviations: np.ndarray, people: int) -> float:
    """Share explained within participants, each column and participant paid for by a degree of freedom."""
    freedom = len(deviations) - people
    if not columns.shape[1] or freedom <= columns.shape[1]:
        return np.nan
    _, residual = arrays.regression(columns, deviations)
    return 1 - residual / (freedom - columns.shape[1]) * freedom / (deviations**2).sum()


def expectation_gaps(tables: Tables) -> dict[str, float]:
    """Experienced minus desired empathy, both scales from 0 to 1."""
    study = tables.study
    gap = (tables.post - 1) / 4 - (study.desired - 1) / 2
    values = {"expected_experienced_gap": gap.mean()}
    for number, code in enumerate(_topics(tables), 1):
        gap_of_topic = arrays.mean(gap[study.topic == code])
        values[f"expected_experienced_gap_topic_{number}"] = gap_of_topic
    return values


# The course, and the ratings after the conversation -------------------------------------------------


def prompt_fading(tables: Tables) -> dict[str, float]:
    """Slope per turn within conversations of the prompted condition minus that of the others."""
    study = tables.study
    best = prompted(study.parameters)
    if best is None or len(study.parameters.conditions) < 2:
        return {}
    is_rated = ~np.isnan(tables.turn_mean)
    conversation = study.conversation[is_rated]
    level = tables.turn_mean[is_rated]
    turn = arrays.centered(study.turn[is_rated] + 1.0, arrays.compact(conversation))

    def slope(rows: np.ndarray) -> float:
        return float(arrays.divided((turn * (level - 3))[rows].sum(), (turn**2)[rows].sum()))

    is_prompted = study.condition[conversation] == study.parameters.conditions.index(best)
    people = study.participant[conversation]
    in_both = np.isin(people, np.intersect1d(people[is_prompted], people[~is_prompted]))
    return {
        "prompt_fading": slope(is_prompted) - slope(~is_prompted),
        "prompt_fading_within": slope(is_prompted & in_both) - slope(~is_prompted & in_both),
    }


def outcomes(tables: Tables) -> dict[str, float]:
    """Correlations of post-task empathy with the ratings of the experience."""
    person = arrays.compact(tables.study.participant)
    rank_of_empathy = rankdata(tables.post)
    values = {
        "empathy_satisfaction": arrays.correlation(rank_of_empathy, rankdata(tables.experience)),
        "empathy_satisfaction_within": arrays.correlation(
            arrays.centered(tables.post, person), arrays.centered(tables.experience, person)
        ),
    }
    for position, name in enumerate(EXPERIENCE_ITEMS):
        rank_of_item = rankdata(tables.study.experience[:, position])
        values[f"empathy_{name}"] = arrays.correlation(rank_of_empathy, rank_of_item)
    return values
