"""True values of the simulated study in data/, by plain array code on large simulated populations.

    python -m evidence.truth

A parameter is seldom what a statistic estimates: ratings are rounded to levels and end at 5. So the model is drawn at
twenty times the size of a study, forty times over; each statistic is computed there, and their mean is its true value.
No estimator and no finding of the library is used: an error of one shows as a distance from its true value. Computed
are the numbers that a claim, a page's sentence or the coverage of intervals is compared with; ``make derived`` writes
them to data/truth.json.
"""

import functools
import hashlib
import itertools
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.stats import rankdata

from sense7.record import write_json
from sense7.simulate import DEFAULT_JUDGE, NOT_PUT, UNKNOWN, Numbers, Parameters, draw
from sense7.simulate.judge import USABLE, JudgeScores, assistant_words, draw_judge
from sense7.simulate.parameters import JudgeParameters
from sense7.simulate.text import write_words
from sense7.taxonomy import DIMENSION_NAMES

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "make derived"
SEED = 160925
SEED_OF_JUDGE = 369487
SEED_OF_ORDER = 160926
BATCHES = 40
"""Independent draws behind a true value; their spread gives its Monte Carlo error."""

SCALE = 20
"""Size of each draw, in studies."""

JUDGE_BATCHES = 20
TEXT_BATCHES = 16
"""Studies whose texts are written, for the difference that the number of words makes to a judge."""

WORDS_A_TURN = 44
"""Words that stand in for those of a turn of the assistant where no text is written."""

PROMPTED = "model-a-empathy-prompt"
POOR = 2
"""A rating is poor up to this level."""

LOW_BELOW = 3.5
HIGH = 3
LEVELS = np.arange(1, 6)
DIMENSIONS = list(DIMENSION_NAMES)


# A study in tables --------------------------------------------------------------------------------


def turn_table(study: Numbers) -> pd.DataFrame:
    """Ratings of the turns that were put to rating, NaN where none was given, and the mean of the seven."""
    columns = [*DIMENSIONS, "overall"]
    ratings = pd.DataFrame(study.ratings, columns=columns).astype(float)
    was_put = (ratings != NOT_PUT).any(axis=1)
    turns = ratings.where(ratings > UNKNOWN)
    turns["mean"] = turns[DIMENSIONS].mean(axis=1)
    turns["conversation"] = study.conversation
    turns["turn"] = study.turn
    turns["was_put"] = was_put
    return turns


def conversation_table(study: Numbers, turns: pd.DataFrame) -> pd.DataFrame:
    """Conversations with their ground truth (mean over rated turns of their means) and the ratings after them."""
    conditions = np.array(study.parameters.conditions, dtype=object)
    topics = np.array(study.parameters.topics, dtype=object)
    by_conversation = turns.groupby("conversation")
    return pd.DataFrame(
        {
            "participant": study.participant,
            "condition": conditions[study.condition],
            "topic": topics[study.topic],
            "importance": study.importance.astype(float),
            "desired": study.desired.astype(float),
            "post": study.post.mean(axis=1),
            "experience": study.experience.mean(axis=1),
            "ground_truth": by_conversation["mean"].mean(),
            "rated_turns": by_conversation["overall"].count(),
            "poor_turns": (turns["overall"] <= POOR).groupby(turns["conversation"]).sum(),
        }
    )


# Ratings of turns ---------------------------------------------------------------------------------


def relational(turns: pd.DataFrame) -> dict[str, float]:
    """How often Relational is rated, and how often very poor, beside the nearest other dimension."""
    ratings = turns.loc[turns["was_put"], DIMENSIONS]
    applicability = ratings.notna().mean()
    very_poor = (ratings == 1).sum() / ratings.notna().sum()
    next_rarest = applicability.drop("Relational").min()
    next_poorest = very_poor.drop("Relational").max()
    return {
        "relational_applicability": applicability["Relational"],
        "relational_applicability_below_nearest": next_rarest - applicability["Relational"],
        "relational_very_poor": very_poor["Relational"],
        "relational_very_poor_above_nearest": very_poor["Relational"] - next_poorest,
    }


def alpha(ratings: pd.DataFrame) -> float:
    """Cronbach's alpha from pairwise covariances."""
    covariances = ratings.cov().to_numpy()
    items = len(covariances)
    return items / (items - 1) * (1 - np.trace(covariances) / covariances.sum())


def kappa(first: pd.Series, second: pd.Series, power: int) -> float:
    """Cohen's kappa of levels, where both are rated; disagreement weighs |i - j| ** power."""
    observed = pd.crosstab(first, second, normalize=True)
    observed = observed.reindex(index=LEVELS, columns=LEVELS, fill_value=0).to_numpy()
    by_chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weights = np.abs(np.subtract.outer(LEVELS, LEVELS)) ** power
    return 1 - (weights * observed).sum() / (weights * by_chance).sum()


def agreement(turns: pd.DataFrame) -> dict[str, float]:
    """Kappas with the overall rating; of Relational minus that of the next lowest, in turns that rate all three."""
    overall = turns["overall"]
    differences = []
    for name in DIMENSIONS:
        if name == "Relational":
            continue
        rows = turns.dropna(subset=["Relational", name, "overall"])
        of_relational = kappa(rows["Relational"], rows["overall"], 1)
        differences.append(of_relational - kappa(rows[name], rows["overall"], 1))
    affective = kappa(turns["Affective"], overall, 1)
    return {
        "kappa_affective": affective,
        "kappa_relational": kappa(turns["Relational"], overall, 1),
        "kappa_linear_Affective": affective,
        "kappa_quadratic_Affective": kappa(turns["Affective"], overall, 2),
        "kappa_difference_nearest": max(differences),
    }


def relative_importance(turns: pd.DataFrame) -> dict[str, float]:
    """LMG, what a dimension adds to R squared for the overall rating on average over all orders, by R squared."""
    correlations = turns[[*DIMENSIONS, "overall"]].dropna().corr().to_numpy()

    @functools.cache
    def r_squared(subset: frozenset) -> float:
        rows = sorted(subset)
        with_overall = correlations[rows, -1]
        return with_overall @ np.linalg.solve(correlations[np.ix_(rows, rows)], with_overall)

    values = {}
    for item, name in enumerate(DIMENSIONS):
        others = set(range(len(DIMENSIONS))) - {item}
        share = 0.0
        for size in range(len(DIMENSIONS)):
            gains = [
                r_squared(frozenset((*before, item))) - r_squared(frozenset(before))
                for before in itertools.combinations(others, size)
            ]
            share += sum(gains) / comb(len(others), size) / len(DIMENSIONS)
        values[f"relative_importance_share_{name}"] = share
    explained = sum(values.values())
    return {name: share / explained for name, share in values.items()}


# The variance of the ground truth -----------------------------------------------------------------


def conditions(conversations: pd.DataFrame) -> dict[str, float]:
    """Mean ground truth, and differences of the prompted condition from the others."""
    means = conversations.groupby("condition")["ground_truth"].mean()
    others = means.drop(PROMPTED)
    values = {
        "ground_truth_mean": conversations["ground_truth"].mean(),
        "prompted_minus_best_other": means[PROMPTED] - others.max(),
    }
    # Conditions are assigned by chance, so that the mixed model's contrast has the expectation of plain means.
    for name, mean in others.items():
        values[f"condition_model_difference_{PROMPTED}_{name}"] = means[PROMPTED] - mean
    return values


def icc_anova(values: pd.Series, groups: pd.Series) -> float:
    """ICC(1) of the one-way analysis of variance with unequal group sizes."""
    by_group = values.groupby(groups)
    sizes = by_group.size()
    total = len(values)
    count = len(sizes)
    between = (sizes * (by_group.mean() - values.mean()) ** 2).sum() / (count - 1)
    within = ((values - by_group.transform("mean")) ** 2).sum() / (total - count)
    size = (total - (sizes**2).sum() / total) / (count - 1)
    return (between - within) / (between + (size - 1) * within)


def pair_products(values: pd.Series, groups: list) -> tuple[float, float]:
    """Sum of products over ordered pairs of different rows of a group, and the number of pairs."""
    by_group = values.groupby(groups)
    sizes = by_group.size()
    return (by_group.sum() ** 2).sum() - (values**2).sum(), (sizes * (sizes - 1)).sum()


def mean_square_within(conversations: pd.DataFrame, columns: list[str]) -> float:
    """Residual mean square of the ground truth within participants, given these columns."""
    participant = conversations["participant"]
    design = pd.get_dummies(conversations[columns], drop_first=True, dtype=float)
    design = design - design.groupby(participant).transform("mean")
    truth = conversations["ground_truth"]
    deviations = truth - truth.groupby(participant).transform("mean")
    coefficients, *_ = np.linalg.lstsq(design.to_numpy(), deviations.to_numpy())
    residuals = deviations - design.to_numpy() @ coefficients
    freedom = len(residuals) - participant.nunique() - design.shape[1]
    return (residuals**2).sum() / freedom


def variance_shares(conversations: pd.DataFrame) -> dict[str, float]:
    """Shares of participants, conditions and context in the variance of the ground truth.

    Two conversations of a participant in different conditions share the participant's variance; two in the same
    condition also that of participant by condition. So mean products of pairs give the parts.
    """
    rated = conversations.dropna(subset="ground_truth")
    truth = rated["ground_truth"]
    in_condition = truth.groupby(rated["condition"]).transform("mean")
    deviations = truth - in_condition
    products, pairs = pair_products(deviations, [rated["participant"]])
    products_in_cell, pairs_in_cell = pair_products(
        deviations, [rated["participant"], rated["condition"]]
    )
    participant = np.nan
    if pairs > pairs_in_cell:
        participant = (products - products_in_cell) / (pairs - pairs_in_cell)
    condition = in_condition.var(ddof=0)
    without_condition = (deviations**2).mean()
    total = condition + without_condition
    context = ["topic", "importance", "desired"]
    unexplained = mean_square_within(rated, ["condition"])
    fall_by_topic = unexplained - mean_square_within(rated, ["condition", "topic"])
    fall_by_context = unexplained - mean_square_within(rated, ["condition", *context])
    return {
        "icc_anova": icc_anova(truth, rated["participant"]),
        "icc_reml": participant / without_condition,
        "participant_share_beyond_condition_and_topic": (participant - condition - fall_by_topic)
        / total,
        "context_share": fall_by_context / total,
    }


# Poor turns, failures, expectations ---------------------------------------------------------------


def random_intercept(
    design: np.ndarray, outcome: pd.Series, participant: pd.Series
) -> tuple[np.ndarray, float]:
    """Coefficients and the sum of both variances, participants' intercepts random, by REML.

    With t the participants' variance by the residual one, a participant's n rows have the inverse covariance
    I - t / (1 + n t), so that sums by participant suffice.
    """
    width = design.shape[1]
    rows = pd.DataFrame(np.column_stack([design, outcome - outcome.mean()]))
    by_participant = rows.groupby(participant.to_numpy())
    counts = by_participant.size().to_numpy()
    sums = by_participant.sum().to_numpy()
    products = rows.to_numpy().T @ rows.to_numpy()
    freedom = len(rows) - width

    def fit(log_ratio: float) -> tuple[float, np.ndarray, float]:
        ratio = np.exp(log_ratio)
        weights = ratio / (1 + counts * ratio)
        inside = products - sums.T @ (sums * weights[:, None])
        of_design = inside[:width, :width]
        with_outcome = inside[:width, width]
        coefficients = np.linalg.solve(of_design, with_outcome)
        residual = (inside[width, width] - coefficients @ with_outcome) / freedom
        deviance = np.log1p(counts * ratio).sum() + np.linalg.slogdet(of_design)[1]
        return deviance + freedom * np.log(residual), coefficients, residual * (1 + ratio)

    best = minimize_scalar(lambda log_ratio: fit(log_ratio)[0], bounds=(-12, 6), method="bounded")
    _, coefficients, variance = fit(best.x)
    return coefficients, variance


def poor_turn_effects(conversations: pd.DataFrame) -> dict[str, float]:
    """Cohen's d of post-task empathy without a poor turn minus with one: plain, within participants, mixed model."""
    rated = conversations[conversations["rated_turns"] > 0]
    poor = rated["poor_turns"] > 0
    post = rated["post"]
    groups = post.groupby(poor)
    degrees = groups.size() - 1
    pooled = (degrees * groups.var()).sum() / degrees.sum()
    means = groups.mean()
    means_of_person = rated.assign(poor=poor).pivot_table("post", "participant", "poor")
    both = means_of_person.dropna()
    spread_within = np.sqrt(both.var().mean())
    design = np.column_stack([np.ones(len(rated)), poor])
    coefficients, variance = random_intercept(design, post, rated["participant"])
    return {
        "poor_turn_d": (means[False] - means[True]) / np.sqrt(pooled),
        "poor_turn_d_within": (both[False] - both[True]).mean() / spread_within,
        "poor_turn_d_mixed": -coefficients[1] / np.sqrt(variance),
    }


def drop_after_poor_turn(level: pd.Series, rated: pd.DataFrame) -> float:
    """Mean of the three turns before the first poor one minus that of turns 2 to 5 after it."""
    poor = rated["turn"].where(level <= POOR)
    since = rated["turn"] - poor.groupby(rated["conversation"]).transform("min")
    return level[since.between(-3, -1)].mean() - level[since.between(2, 5)].mean()


def lasting_drop(turns: pd.DataFrame) -> float:
    """Drop after the first poor turn minus that of the same ratings in an order drawn at random."""
    rated = turns.dropna(subset="overall")
    level = rated["overall"]
    has_poor = level.groupby(rated["conversation"]).transform("min") <= POOR
    rated = rated[has_poor]
    level = level[has_poor]
    chance = np.random.default_rng(SEED_OF_ORDER).random(len(level))
    order = np.lexsort((chance, rated["conversation"]))
    shuffled = pd.Series(level.to_numpy()[order], level.index)
    return drop_after_poor_turn(level, rated) - drop_after_poor_turn(shuffled, rated)


def loss_after_failure(turns: pd.DataFrame) -> float:
    """Loss in the turn after a poor Relational, beyond that in other turns.

    Loss is the mean of a conversation's turns other than this and the next, minus that of the next.
    """
    level = turns["mean"]
    by_conversation = level.groupby(turns["conversation"])
    next_level = by_conversation.shift(-1)
    count = by_conversation.transform("count") - level.notna() - next_level.notna()
    total = by_conversation.transform("sum") - level.fillna(0) - next_level.fillna(0)
    loss = total / count.where(count > 0) - next_level
    failed = turns["Relational"] <= POOR
    return loss[failed].mean() - loss[~failed].mean()


def expectation_loss(conversations: pd.DataFrame) -> float:
    """How much lower the judgment is where high empathy was wished for and the mean is low, both held equal."""
    rated = conversations.dropna(subset="ground_truth")
    mean = rated["ground_truth"]
    low = mean.round(9) < LOW_BELOW
    high = rated["desired"] == HIGH
    design = np.column_stack([np.ones(len(rated)), low & high, low, high, mean])
    coefficients, _ = random_intercept(design, rated["post"], rated["participant"])
    return -coefficients[1]


# The population -----------------------------------------------------------------------------------


def statistics_of(study: Numbers) -> dict[str, float]:
    """Every statistic, on one (large) study; NaN where it does not define it."""
    turns = turn_table(study)
    conversations = conversation_table(study, turns)
    return {
        "alpha_turn": alpha(turns[DIMENSIONS]),
        "alpha_post": alpha(pd.DataFrame(study.post)),
        **relational(turns),
        **agreement(turns),
        **relative_importance(turns),
        **conditions(conversations),
        **variance_shares(conversations),
        **poor_turn_effects(conversations),
        "lasting_drop": lasting_drop(turns),
        "continuity_loss_after_failure": loss_after_failure(turns),
        "expectation_loss": expectation_loss(conversations),
        "empathy_satisfaction": correlation_of_ranks(
            conversations["post"], conversations["experience"]
        ),
    }


def correlation_of_ranks(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's correlation."""
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def mean_and_error(draws: list[dict[str, float]]) -> pd.DataFrame:
    """Mean and its standard error over draws: a row for each statistic."""
    frame = pd.DataFrame(draws)
    return pd.DataFrame({"value": frame.mean(), "error": frame.sem()})


@functools.cache
def population_values(
    parameters: Parameters, batches: int = BATCHES, scale: int = SCALE
) -> pd.DataFrame:
    """True values of a population and their Monte Carlo errors: a row for each statistic."""
    draws = []
    for seed in np.random.SeedSequence(SEED).spawn(batches):
        draws.append(statistics_of(draw(parameters, np.random.default_rng(seed), scale)))
    return mean_and_error(draws)


# The simulated judge ------------------------------------------------------------------------------


def judge_statistics(study: Numbers, scores: JudgeScores) -> dict[str, float]:
    """Accuracy and rank correlation of a judge's usable scores with the ground truth, means over runs."""
    truth = conversation_table(study, turn_table(study))["ground_truth"].to_numpy()
    label = np.clip(np.rint(truth.round(12)), 1, 5)
    usable = (scores.kind == USABLE) & ~np.isnan(truth)
    accuracies = []
    correlations = []
    for score, use in zip(scores.score, usable, strict=True):
        accuracies.append((score[use] == label[use]).mean())
        correlations.append(correlation_of_ranks(score[use], truth[use]))
    return {
        "judge_accuracy": float(np.mean(accuracies)),
        "judge_spearman": float(np.mean(correlations)),
    }


def judge_values(parameters: Parameters, judge: JudgeParameters) -> pd.DataFrame:
    """True values of a simulated judge and their Monte Carlo errors: a row for each statistic.

    To write texts takes a hundred times as long as to draw numbers. So most draws take a constant number of words for
    each turn, and further ones, with texts, give the mean difference that this makes (a control variate, no bias).
    """
    of_numbers, of_texts = np.random.SeedSequence(SEED_OF_JUDGE).spawn(2)
    by_turns = []
    for seed in of_numbers.spawn(JUDGE_BATCHES):
        of_study, of_judge = seed.spawn(2)
        study = draw(parameters, np.random.default_rng(of_study), SCALE)
        scores = draw_judge(study, words_by_turns(study), judge, np.random.default_rng(of_judge))
        by_turns.append(judge_statistics(study, scores))
    differences = []
    for seed in of_texts.spawn(TEXT_BATCHES):
        of_study, of_words, of_judge = seed.spawn(3)
        study = draw(parameters, np.random.default_rng(of_study))
        texts = write_words(study, np.random.default_rng(of_words)).assistant
        statistics = []
        for words in (assistant_words(study, texts), words_by_turns(study)):
            scores = draw_judge(study, words, judge, np.random.default_rng(of_judge))
            statistics.append(pd.Series(judge_statistics(study, scores)))
        differences.append(statistics[0] - statistics[1])
    main = mean_and_error(by_turns)
    change = mean_and_error(differences)
    error = np.hypot(main["error"], change["error"])
    return pd.DataFrame({"value": main["value"] + change["value"], "error": error})


def words_by_turns(study: Numbers) -> np.ndarray:
    """Number of words that stands in for that of the texts, from the number of turns."""
    return WORDS_A_TURN * study.turns.astype(float)


# The file -----------------------------------------------------------------------------------------


def put_in(parameters: Parameters) -> dict[str, float]:
    """Numbers that are put in, by the key of the claim that they are compared with."""
    values = {
        "participants": parameters.participants,
        "conversations_released": parameters.conversations,
        "llm_conditions": len(parameters.conditions),
        "tasks": len(parameters.topics),
        "dimensions": len(DIMENSIONS),
    }
    for name, share in zip(DIMENSIONS, parameters.most_important_shares, strict=True):
        values[f"importance_{name.lower()}"] = share
    return values


def main() -> None:
    """Write data/truth.json."""
    parameters = Parameters()
    values = {}
    for key, value in put_in(parameters).items():
        values[key] = {"value": value, "error": 0.0}
    computed = pd.concat([population_values(parameters), judge_values(parameters, DEFAULT_JUDGE)])
    for key, row in computed.iterrows():
        values[key] = {"value": float(f"{row['value']:.6g}"), "error": float(f"{row['error']:.2g}")}
    workbook = ROOT / "data" / "synthetic.xlsx"
    stored = {
        "command": COMMAND,
        "workbook_sha256": hashlib.sha256(workbook.read_bytes()).hexdigest(),
        "parameters": parameters.as_dict(),
        "judge": DEFAULT_JUDGE.as_dict(),
        "values": values,
    }
    write_json(ROOT / "data" / "truth.json", stored)


if __name__ == "__main__":
    main()
