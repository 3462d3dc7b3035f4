"""The truth of a simulated study: what was planted, and what the plants imply.

Implied values are those of the population: the model is drawn at many times the size of
the study and each statistic is computed there with plain array code. None of the
project's statistics library is used, so that an error in it can't hide behind itself.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sense7.simulate.model import NOT_PUT, Numbers, draw
from sense7.simulate.parameters import EXPERIENCE_ITEMS, Parameters
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = [
    "BATCHES",
    "BATCH_SCALE",
    "Ledger",
    "correlation",
    "ground_truth",
    "implied_values",
    "ranks",
    "statistics_of",
    "truth_of",
]

BATCHES = 40
"""Independent draws behind an implied value; their spread gives its Monte Carlo error."""

BATCH_SCALE = 20
"""Size of each draw, in studies."""

BRUTE_FORCE_SEED = 160925
"""Seed of the brute force: implied values depend on the parameters, not on the study's seed."""

_OVERALL = 7


def ground_truth(study: Numbers) -> np.ndarray:
    """Ground truth of each conversation: mean over its rated turns of the mean over rated dimensions.

    Returns
    -------
    ndarray, (C,)
        NaN where no turn has a rating.
    """
    means = turn_means(study)
    rated = ~np.isnan(means)
    counts = np.bincount(study.conversation[rated], minlength=len(study.turns))
    sums = np.bincount(study.conversation[rated], weights=means[rated], minlength=len(study.turns))
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def turn_means(study: Numbers) -> np.ndarray:
    """Mean over the rated dimensions of each turn; NaN where none is rated. Shape (T,)."""
    return _row_means(study.ratings[:, :7])


def _row_means(ratings: np.ndarray) -> np.ndarray:
    rated = ratings > 0
    counts = rated.sum(axis=1)
    sums = np.where(rated, ratings, 0).sum(axis=1)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _alpha(values: np.ndarray) -> float:
    """K / (k - 1) * (1 - trace / sum) of the pairwise covariances; zeros are missing."""
    items = values.shape[1]
    # Sums of whole numbers are exact in floating point, so the products are the same everywhere.
    ratings = values.astype(float)
    rated = (values > 0).astype(float)
    pairs = rated.T @ rated
    if pairs.min() < 2:
        return np.nan
    # Entry (a, b) of sums is the sum of a over the rows where both are rated.
    sums = ratings.T @ rated
    covariance = (ratings.T @ ratings - sums * sums.T / pairs) / (pairs - 1)
    return items / (items - 1) * (1 - np.trace(covariance) / covariance.sum())


def _kappa(a: np.ndarray, b: np.ndarray, power: int) -> float:
    """Cohen's weighted kappa on labels 1..5; disagreement weighs |i - j| ** power."""
    both = (a > 0) & (b > 0)
    pairs = 5 * (a[both].astype(int) - 1) + b[both] - 1
    table = np.bincount(pairs, minlength=25).reshape(5, 5).astype(float)
    if not table.any():
        return np.nan
    table /= table.sum()
    weights = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** power
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return 1 - (weights * table).sum() / (weights * expected).sum()


def _d(first: np.ndarray, second: np.ndarray) -> float:
    """Cohen's d with the pooled sd."""
    if min(len(first), len(second)) < 2:
        return np.nan
    pooled = ((len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)) / (
        len(first) + len(second) - 2
    )
    return (first.mean() - second.mean()) / np.sqrt(pooled)


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson correlation; NaN below two rows."""
    if len(x) < 2:
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum())


def _mean(values: np.ndarray) -> float:
    """Mean, NaN of nothing."""
    return float(values.mean()) if values.size else np.nan


def ranks(x: np.ndarray) -> np.ndarray:
    """Ranks with ties at their mean."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + 1 + last) / 2)[inverse]


def _pair_covariance(values: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Sum of products over ordered pairs of different rows of a group, and the number of pairs."""
    sums = np.bincount(groups, weights=values)
    squares = np.bincount(groups, weights=values**2)
    counts = np.bincount(groups).astype(float)
    return float((sums**2 - squares).sum()), float((counts * (counts - 1)).sum())


def _parts(values: np.ndarray, levels: list[np.ndarray]) -> list[float]:
    """Variance parts of nested groups from covariances of pairs, outermost first, residual last.

    The covariance of two rows that share group g but not the next finer one is the sum of
    the variances of g and all groups around it; differences of these are the parts.
    """
    shared = []
    for place, groups in enumerate(levels):
        products, pairs = _pair_covariance(values, groups)
        if place + 1 < len(levels):
            inner_products, inner_pairs = _pair_covariance(values, levels[place + 1])
            products, pairs = products - inner_products, pairs - inner_pairs
        shared.append(products / pairs if pairs else np.nan)
    shared.append(_mean(values**2))
    return list(np.diff([0.0, *shared]))


def _compact(*keys: np.ndarray) -> np.ndarray:
    """One group number for each combination of keys."""
    combined = keys[0].astype(np.int64)
    for key in keys[1:]:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    return np.unique(combined, return_inverse=True)[1]


def _centred(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    return values - (np.bincount(groups, weights=values) / np.bincount(groups))[groups]


def statistics_of(study: Numbers) -> dict[str, float]:
    """Every statistic of the truth file, on one (large) study, with plain array code.

    Returns
    -------
    dict
        Key -> value. The keys are described in :func:`truth_of`'s entries.
    """
    values: dict[str, float] = {}
    # A rating below 1 is no rating, whether asked for or not.
    rated = np.where(study.ratings > 0, study.ratings, 0)
    put = (study.ratings != NOT_PUT).any(axis=1)
    seven, overall = rated[:, :7], rated[:, _OVERALL]
    values["alpha_turn"] = _alpha(seven)
    values["alpha_turn_listwise"] = _alpha(seven[(seven > 0).all(axis=1)])
    values["alpha_turn_without_relational"] = _alpha(seven[:, :6])
    values["alpha_post"] = _alpha(study.post)
    for place, name in enumerate(DIMENSION_NAMES):
        column = seven[put, place]
        given = column[column > 0]
        values[f"applicability_{name}"] = _mean(column > 0)
        values[f"very_poor_of_rated_{name}"] = _mean(given == 1)
        values[f"very_poor_of_all_{name}"] = _mean(column == 1)
        values[f"mean_{name}"] = _mean(given)
        values[f"kappa_linear_{name}"] = _kappa(seven[:, place], overall, 1)
        values[f"kappa_quadratic_{name}"] = _kappa(seven[:, place], overall, 2)
        values[f"mean_post_{name}"] = study.post[:, place].mean()
    values["applicability_EmpathyOverall"] = _mean(overall[put] > 0)
    values["mean_EmpathyOverall"] = _mean(overall[overall > 0])
    values.update(_disruption(study, overall))
    values.update(_conversations(study))
    values.update(_outcomes(study))
    return values


def _disruption(study: Numbers, overall: np.ndarray) -> dict[str, float]:
    values = {}
    poor = (overall > 0) & (overall <= 2)
    counts = np.bincount(study.conversation[poor], minlength=len(study.turns))
    post = study.post.mean(axis=1)
    values["poor_turn_share"] = _mean(poor[overall > 0])
    values["poor_turn_conversations"] = (counts > 0).mean()
    values["poor_turn_d"] = _d(post[counts == 0], post[counts > 0])
    values["poor_turn_d_exactly_one"] = _d(post[counts == 0], post[counts == 1])
    # What the failure costs in rated points: the same turns, rated as if it had not happened.
    p = study.parameters
    lift = p.continuity_drop * study.carry[:, None] * np.array(p.continuity_weights)
    undisturbed = 1 + sum((study.latent[:, :7] + lift > t).astype(np.int8) for t in p.thresholds)
    loss = np.where(study.ratings[:, :7] > 0, undisturbed - study.ratings[:, :7], 0).astype(float)
    given = study.ratings[:, :7] > 0
    values["failure_share"] = study.failure.mean()
    here = study.failure
    before = np.append(False, here[:-1]) & (study.turn > 0) & ~here
    for name, rows in (("continuity_loss", here), ("continuity_loss_next_turn", before)):
        loss_of_turn = np.divide(
            loss[rows].sum(axis=1),
            given[rows].sum(axis=1),
            where=given[rows].any(axis=1),
            out=np.full(int(rows.sum()), np.nan),
        )
        values[name] = _mean(loss_of_turn[~np.isnan(loss_of_turn)])
    for place, name in enumerate(DIMENSION_NAMES):
        rows = here & given[:, place]
        values[f"continuity_loss_{name}"] = loss[rows, place].mean() if rows.any() else 0.0
    values["unmet_share"] = study.unmet.mean()
    met = study.post_latent[study.unmet] + p.expectation_drop
    lost = 1 + sum((met > t).astype(np.int8) for t in p.thresholds) - study.post[study.unmet]
    values["expectation_loss"] = float(lost.mean()) if lost.size else 0.0
    return values


def _conversations(study: Numbers) -> dict[str, float]:
    values = {}
    p = study.parameters
    truth = ground_truth(study)
    known = ~np.isnan(truth)
    truth, condition = truth[known], study.condition[known]
    # Numbered anew: a participant may have no conversation with a rating.
    people, participant = np.unique(study.participant[known], return_inverse=True)
    values["ground_truth_mean"] = _mean(truth)
    values["ground_truth_sd"] = truth.std(ddof=1) if len(truth) > 1 else np.nan
    groups = [truth[condition == place] for place in range(len(p.conditions))]
    for name, group in zip(p.conditions, groups, strict=True):
        values[f"condition_mean_{name}"] = _mean(group)
    for a, b in itertools.permutations(range(len(p.conditions)), 2):
        pair = f"{p.conditions[a]}_{p.conditions[b]}"
        values[f"condition_difference_{pair}"] = _mean(groups[a]) - _mean(groups[b])
        values[f"condition_d_{pair}"] = _d(groups[a], groups[b])
    rest = _centred(truth, condition)
    parts = _parts(rest, [participant, _compact(participant, condition)])
    for name, part in zip(("participant", "participant_condition", "conversation"), parts, strict=True):
        values[f"variance_{name}"] = part
    values["icc_participant"] = parts[0] / sum(parts)
    values["icc_1"] = _icc_1(truth, participant)

    means = turn_means(study)
    rated = ~np.isnan(means)
    of = study.conversation[rated]
    rest = _centred(means[rated], study.condition[of])
    parts = _parts(
        rest,
        [study.participant[of], _compact(study.participant[of], study.condition[of]), _compact(of)],
    )
    names = ("participant", "participant_condition", "conversation", "residual")
    for name, part in zip(names, parts, strict=True):
        values[f"variance_turn_{name}"] = part
    values["icc_turn_participant"] = parts[0] / sum(parts)

    offered = np.bincount(study.conversation, weights=study.quality.mean(axis=1)) / study.turns
    values["content_share"] = correlation(truth, offered[known]) ** 2
    mean_of_participant = np.bincount(participant, weights=truth) / np.bincount(participant)
    for place, name in enumerate(p.characteristics):
        if p.characteristic_effects[place]:
            score = study.scores[people, place]
            values[f"characteristic_correlation_{name}"] = correlation(ranks(score), ranks(mean_of_participant))
    return values


def _icc_1(values: np.ndarray, groups: np.ndarray) -> float:
    """ICC(1) of the one-way analysis of variance with unequal group sizes."""
    counts = np.bincount(groups).astype(float)
    means = np.bincount(groups, weights=values) / counts
    total, kinds = counts.sum(), len(counts)
    if kinds < 2 or total <= kinds:
        return np.nan
    between = (counts * (means - values.mean()) ** 2).sum() / (kinds - 1)
    within = ((values - means[groups]) ** 2).sum() / (total - kinds)
    size = (total - (counts**2).sum() / total) / (kinds - 1)
    return (between - within) / (between + (size - 1) * within)


def _outcomes(study: Numbers) -> dict[str, float]:
    values = {}
    post = study.post.mean(axis=1)
    ranked = ranks(post)
    values["empathy_satisfaction"] = correlation(ranked, ranks(study.experience.mean(axis=1)))
    for place, name in enumerate(EXPERIENCE_ITEMS):
        values[f"empathy_{name}"] = correlation(ranked, ranks(study.experience[:, place]))
    values["expected_experienced_gap"] = ((post - 1) / 4 - (study.desired - 1) / 2).mean()
    return values


@functools.lru_cache(maxsize=8)
def implied_values(
    parameters: Parameters, batches: int = BATCHES, scale: int = BATCH_SCALE
) -> dict[str, tuple[float, float]]:
    """Population values that the parameters imply, by brute force.

    Parameters
    ----------
    parameters : Parameters
        What was planted.
    batches : int
        Independent draws, at least 2.
    scale : int
        Size of each draw in studies; ``batches * scale`` studies are drawn in all, so that the
        Monte Carlo error is about ``1 / sqrt(batches * scale)`` of a study's sampling error.

    Returns
    -------
    dict
        Key -> (mean over batches, its standard error). A statistic that is undefined in a batch
        (no poor turn at all, say) is left out of the mean; NaN if it is undefined in all.
    """
    seeds = np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(batches)
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = [statistics_of(draw(parameters, np.random.default_rng(seed), scale)) for seed in seeds]
    values = {}
    for key in draws[0]:
        column = np.array([entry[key] for entry in draws], dtype=float)
        column = column[np.isfinite(column)]
        if len(column) < 2:
            values[key] = (np.nan, np.nan)
        else:
            values[key] = (float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column))))
    return values


_PUBLISHED = {
    "participants": 109,
    "conversations_released": 672,
    "dimensions": 7,
    "levels": 5,
    "llm_conditions": 4,
    "tasks": 8,
    "alpha_turn": 0.961,
    "alpha_post": 0.94,
    "poor_turn_d": 1.142,
    "importance_cognitive": 0.281,
    "importance_affective": 0.198,
    "importance_response": 0.193,
    "relational_applicability": 0.381,
    "relational_very_poor": 0.022,
    "kappa_affective": 0.703,
    "kappa_relational": 0.541,
    "best_condition": None,
    "judge_spearman": 0.369,
    "judge_accuracy": 0.487,
}
"""Published figures by their id, shares as fractions."""

_NEAR = {
    "applicability_Relational": "relational_applicability",
    "very_poor_of_rated_Relational": "relational_very_poor",
    "very_poor_of_all_Relational": "relational_very_poor",
    "kappa_linear_Affective": "kappa_affective",
    "kappa_linear_Relational": "kappa_relational",
    "kappa_quadratic_Affective": "kappa_affective",
    "kappa_quadratic_Relational": "kappa_relational",
}
"""Other keys that may be what a published figure means."""

_TUNED = set(_PUBLISHED) | {
    # The same quantities under the names of their families.
    "applicability_Relational",
    "very_poor_of_rated_Relational",
    "kappa_linear_Affective",
    "kappa_linear_Relational",
}

_BY_SIMULATION = "brute force: mean over independent draws at many times the size of the study"
_PLACED = "put in as a parameter"
_COUNTED = "counted in the design"

_FAMILIES = (
    # Prefix, unit, meaning with {} for what follows the prefix; the first match holds.
    ("alpha_turn_listwise", "1", "Cronbach's alpha of the seven turn ratings, complete turns only"),
    (
        "alpha_turn_without_relational",
        "1",
        "Cronbach's alpha of the six turn ratings other than Relational, from pairwise covariances",
    ),
    ("alpha_turn", "1", "Cronbach's alpha of the seven turn ratings, from pairwise covariances"),
    ("alpha_post", "1", "Cronbach's alpha of the seven post-task empathy ratings"),
    ("applicability_", "share", "share of the turns put to rating in which {} is rated"),
    ("very_poor_of_rated_", "share", "share of very poor among the ratings of {}"),
    ("very_poor_of_all_", "share", "share of very poor for {} among all turns put to rating"),
    ("mean_post_", "level", "mean post-task empathy rating of {}"),
    ("mean_", "level", "mean turn rating of {}"),
    (
        "kappa_linear_",
        "1",
        "Cohen's kappa with linear weights of {} with EmpathyOverall, labels 1 to 5, turns where both are rated",
    ),
    (
        "kappa_quadratic_",
        "1",
        "Cohen's kappa with quadratic weights of {} with EmpathyOverall, labels 1 to 5, turns where both are rated",
    ),
    ("poor_turn_share", "share", "share of turns with EmpathyOverall of at most 2 among those with one"),
    ("poor_turn_conversations", "share", "share of conversations with at least one such poor turn"),
    (
        "poor_turn_d_exactly_one",
        "sd",
        "Cohen's d (pooled sd) of mean post-task empathy, conversations without a poor turn minus those "
        "with exactly one",
    ),
    (
        "poor_turn_d",
        "sd",
        "Cohen's d (pooled sd) of mean post-task empathy, conversations without a turn of EmpathyOverall "
        "at most 2 minus those with at least one",
    ),
    ("failure_share", "share", "share of assistant turns at which continuity fails"),
    (
        "continuity_loss_next_turn",
        "level",
        "rated points lost on average over rated dimensions at the turn after a continuity failure, "
        "against the same turn had it not happened",
    ),
    ("continuity_loss_", "level", "rated points of {} lost at a turn where continuity fails"),
    (
        "continuity_loss",
        "level",
        "rated points lost on average over rated dimensions at a turn where continuity fails, against "
        "the same turn had it not happened",
    ),
    ("unmet_share", "share", "share of conversations where a high desired empathy was not met"),
    (
        "expectation_loss",
        "level",
        "rated points of post-task empathy lost where a high desired empathy was not met, against the "
        "same conversation without that drop",
    ),
    ("ground_truth_mean", "level", "mean ground truth of a conversation"),
    ("ground_truth_sd", "level", "standard deviation of the ground truth over conversations"),
    ("condition_mean_", "level", "mean ground truth of conversations in {}"),
    (
        "variance_turn_",
        "level^2",
        "variance part {} of the turn mean over rated dimensions, condition fixed",
    ),
    ("variance_", "level^2", "variance part {} of the ground truth of a conversation, condition fixed"),
    (
        "icc_participant",
        "share",
        "participants' share of the variance of conversations' ground truth, condition fixed",
    ),
    (
        "icc_turn_participant",
        "share",
        "participants' share of the variance of turn means, condition fixed",
    ),
    ("icc_1", "1", "ICC(1) of conversations' ground truth in participants, one-way analysis of variance"),
    (
        "content_share",
        "share",
        "squared correlation of the ground truth with the mean quality that the turns offer: what a reader "
        "of a perfect text could explain",
    ),
    (
        "characteristic_correlation_",
        "1",
        "Spearman correlation over participants of {} with the mean ground truth of their conversations",
    ),
    (
        "empathy_satisfaction",
        "1",
        "Spearman correlation of mean post-task empathy with the mean of the four experience items",
    ),
    ("empathy_", "1", "Spearman correlation of mean post-task empathy with PostTaskExperience_{}"),
    (
        "expected_experienced_gap",
        "share of scale",
        "mean of (post-task empathy - 1) / 4 minus (desired empathy - 1) / 2",
    ),
)


def _described(key: str) -> tuple[str, str]:
    for prefix, unit, meaning in _FAMILIES:
        if key == prefix or (prefix.endswith("_") and key.startswith(prefix)):
            return unit, meaning.format(key.removeprefix(prefix))
    raise KeyError(key)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    """Round to significant digits; NaN becomes None, which JSON can hold."""
    if value is None or not np.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def _is_tuned(key: str, value: Any, published: float | None) -> bool:
    """Whether a value was set near a published figure: by the defaults, and not moved away since.

    Which parameters move which value is not known in general; so a value that still lies
    within a tenth of the published figure counts as tuned, whatever was changed.
    """
    if key not in _TUNED:
        return False
    if isinstance(value, str) or published is None or value is None:
        return True
    return abs(value - published) <= 0.1 * abs(published)


class Ledger:
    """Collects the entries of the planted values in order.

    Attributes
    ----------
    entries : list of dict
        Entries of the truth file; see :meth:`add`.
    """

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, key, value, unit, meaning, kind, how, error=None) -> None:
        """Add a planted value; numbers are rounded to six significant digits, errors to two."""
        near = key if key in _PUBLISHED else _NEAR.get(key)
        self.entries.append(
            {
                "key": key,
                "value": _rounded(value) if isinstance(value, float) else value,
                "unit": unit,
                "meaning": meaning,
                "kind": kind,
                "tuned": _is_tuned(key, value, _PUBLISHED.get(near)),
                "near": near,
                "published": _PUBLISHED.get(near) if near else None,
                "how": how,
                "monte_carlo_error": _rounded(error, 2),
            }
        )


def _counts(ledger: Ledger, p: Parameters) -> None:
    for key, value, meaning in (
        ("participants", p.participants, "participants"),
        ("conversations_released", p.conversations, "conversations"),
        ("llm_conditions", len(p.conditions), "conditions"),
        ("tasks", len(p.topics), "topics"),
        ("dimensions", len(DIMENSION_NAMES), "dimensions of empathy"),
        ("levels", len(LEVELS), "levels of a rating"),
    ):
        ledger.add(key, value, "count", f"number of {meaning}", "count", _COUNTED)


def _placed(ledger: Ledger, p: Parameters) -> None:
    for key, unit, meaning in (
        ("participant_sd", "level", "sd of the participant's own latent effect, characteristics apart"),
        ("participant_condition_sd", "level", "sd of the latent effect of participant by condition"),
        ("conversation_sd", "level", "sd of the latent effect of the conversation"),
        ("turn_sd", "level", "sd of the latent effect of the turn"),
        ("importance_effect", "level per step", "latent effect of importance"),
        ("desired_effect", "level per step", "latent effect of desired empathy"),
        ("failure_probability", "share", "probability that continuity fails at a turn after the first"),
        (
            "continuity_drop",
            "level",
            "fall of latent quality where continuity fails, times a dimension's weight",
        ),
        ("continuity_persistence", "share", "share of that fall left one turn later"),
        (
            "expectation_drop",
            "level",
            "fall of the post-task latents where a high desired empathy was not met",
        ),
    ):
        ledger.add(key, getattr(p, key), unit, meaning, "parameter", _PLACED)
    for field, name_of, unit, meaning in (
        ("condition_effects", "condition_effect_{}", "level", "latent effect of {} at the first turn"),
        (
            "condition_slopes",
            "condition_slope_{}",
            "level per turn",
            "change of the latent effect of {} per turn",
        ),
        (
            "condition_desired_slopes",
            "condition_desired_slope_{}",
            "level per step",
            "additional latent effect of {} per step of desired empathy above 2",
        ),
        ("topic_effects", "topic_effect_{}", "level", "latent effect of the topic {}"),
        ("continuity_weights", "continuity_weight_{}", "1", "multiple of continuity_drop that {} falls"),
        (
            "most_important_shares",
            "importance_{}",
            "share",
            "probability that a participant names {} most important",
        ),
        ("characteristic_effects", "characteristic_effect_{}", "level per sd", "latent effect of {}"),
    ):
        rule = Parameters.__dataclass_fields__[field].metadata
        for key, value in zip(p.keys_of(rule["one_per"]), getattr(p, field), strict=True):
            short = key.lower() if field == "most_important_shares" else key
            ledger.add(name_of.format(short), value, unit, meaning.format(key), "parameter", _PLACED)


def _implied(ledger: Ledger, p: Parameters, values: dict[str, tuple[float, float]]) -> None:
    twins = {
        "relational_applicability": "applicability_Relational",
        "relational_very_poor": "very_poor_of_rated_Relational",
        "kappa_affective": "kappa_linear_Affective",
        "kappa_relational": "kappa_linear_Relational",
    }
    for key, twin in twins.items():
        unit, meaning = _described(twin)
        ledger.add(key, values[twin][0], unit, meaning, "implied", _BY_SIMULATION, values[twin][1])
    best = max(p.conditions, key=lambda name: values[f"condition_mean_{name}"][0])
    ledger.add(
        "best_condition",
        best,
        "name",
        "condition of the highest mean ground truth",
        "implied",
        _BY_SIMULATION,
    )
    pairs = {}
    for a, b in itertools.permutations(p.conditions, 2):
        pairs[f"condition_difference_{a}_{b}"] = ("level", f"mean ground truth of {a} minus that of {b}")
        pairs[f"condition_d_{a}_{b}"] = (
            "sd",
            f"Cohen's d (pooled sd over conversations) of the ground truth, {a} minus {b}",
        )
    for key, (value, error) in values.items():
        unit, meaning = pairs.get(key) or _described(key)
        ledger.add(key, value, unit, meaning, "implied", _BY_SIMULATION, error)
    for name, effect in zip(p.characteristics, p.characteristic_effects, strict=True):
        if effect == 0:
            key = f"characteristic_correlation_{name}"
            ledger.add(
                key,
                0.0,
                *_described(key),
                "implied",
                "zero by construction: the characteristic has no effect",
            )


def _table(columns: Sequence[str], *values: Iterable) -> dict[str, list]:
    rows = [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in zip(*values, strict=True)]
    return {"columns": list(columns), "rows": rows}


def truth_of(study: Numbers, seed: int, pids: list[str], task_ids: list[str], message_ids: list[int]) -> dict:
    """The truth file of a study as a JSON-able dictionary.

    Parameters
    ----------
    study : Numbers
        The study whose unit effects are listed.
    seed : int
        Its seed.
    pids, task_ids : list of str
        Ids of participants and conversations, in the study's order.
    message_ids : list of int
        MessageId of each assistant turn.

    Returns
    -------
    dict
        format (1), seed, parameters, planted (a list of entries) and units (effects of each
        participant, participant by condition, conversation and turn; four decimals).
    """
    p = study.parameters
    ledger = Ledger()
    _counts(ledger, p)
    _placed(ledger, p)
    _implied(ledger, p, implied_values(p))
    participants = range(len(pids))
    units = {
        "participants": _table(["PID", "participant_effect"], pids, study.participant_effect.tolist()),
        "participant_conditions": _table(
            ["PID", "Model", "participant_condition_effect"],
            [pids[row] for row in participants for _ in p.conditions],
            [name for _ in participants for name in p.conditions],
            study.participant_condition_effect.ravel().tolist(),
        ),
        "conversations": _table(
            ["TaskId", "PID", "Model", "conversation_effect", "context_effect", "unmet", "ground_truth"],
            task_ids,
            [pids[row] for row in study.participant.tolist()],
            [p.conditions[row] for row in study.condition.tolist()],
            study.conversation_effect.tolist(),
            study.context_effect.tolist(),
            study.unmet.tolist(),
            [None if np.isnan(value) else value for value in ground_truth(study).tolist()],
        ),
        "turns": _table(
            ["TaskId", "MessageId", "failure", "carry", "turn_effect"]
            + [f"quality_{name}" for name in DIMENSION_NAMES]
            + ["experienced"],
            [task_ids[row] for row in study.conversation.tolist()],
            message_ids,
            study.failure.tolist(),
            study.carry.tolist(),
            study.turn_effect.tolist(),
            *study.quality.T.tolist(),
            study.experienced.tolist(),
        ),
    }
    return {"format": 1, "seed": seed, "parameters": p.as_dict(), "planted": ledger.entries, "units": units}
