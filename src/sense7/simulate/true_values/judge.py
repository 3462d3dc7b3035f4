"""True values of a simulated judge, with plain array code: none of the project's metrics of judges is used."""

import functools

import numpy as np
from scipy.stats import rankdata

from sense7.simulate.judge import KINDS, USABLE, JudgeScores, assistant_words, draw_judge
from sense7.simulate.model import Numbers, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.text import write_words
from sense7.simulate.true_values.arrays import Tables, correlation, over_draws

BATCHES = 20
"""Independent draws of numbers alone; their spread gives most of the Monte Carlo error."""

BATCH_SCALE = 20
"""Size of each of these draws, in studies."""

TEXT_BATCHES = 16
"""Independent studies whose texts are written, for the difference that the number of words makes."""

LEAST_CONVERSATIONS = 300
"""Smallest number of conversations of such a study: it is drawn as often as that takes."""

WORDS_A_TURN = 44
"""Words that stand in for those of a turn of the assistant where no text is written."""

BRUTE_FORCE_SEED = 369487

_LEVELS = np.arange(1, 6)


def judge_statistics(study: Numbers, scores: JudgeScores, words: np.ndarray) -> dict[str, float]:
    """Every statistic of a judge in the truth file, on one study: means over runs.

    They are of usable replies to conversations with ground truth, where the key says nothing else. Macro F1 over the
    classes that are seen is left out: which are seen depends on the study's size.
    """
    truth = Tables(study).truth
    has_truth = ~np.isnan(truth)
    truth = truth[has_truth]
    words = words[has_truth]
    score = scores.score[:, has_truth].astype(float)
    usable = (scores.kind == USABLE)[:, has_truth]
    off_scale = (scores.kind == KINDS.index("off the scale"))[:, has_truth]
    # The authors read 1 from a number off the scale, and 3 from other unusable replies.
    authors_scores = np.where(usable, score, np.where(off_scale, 1, 3))
    with np.errstate(invalid="ignore", divide="ignore"):  # what is undefined is NaN
        metrics_of_runs = []
        length_correlations = []
        for run, use in zip(score, usable, strict=True):
            metrics_of_runs.append(_metrics_of_run(truth[use], run[use]))
            length_correlations.append(_spearman(run[use], words[use]))
        values = {}
        for key in metrics_of_runs[0]:
            values[f"judge_{key}"] = float(np.mean([metrics[key] for metrics in metrics_of_runs]))
        values["judge_coverage"] = float((scores.kind == USABLE).mean())
        values["judge_length_spearman"] = float(np.mean(length_correlations))
        accuracies = [(_labels(truth) == run).mean() for run in authors_scores]
        values["judge_authors_accuracy"] = float(np.mean(accuracies))
        correlations = [_spearman(run, truth) for run in authors_scores]
        values["judge_authors_spearman"] = float(np.mean(correlations))
        values["judge_same_label"] = _share_with_same_score(scores)
        return values


def _share_with_same_score(scores: JudgeScores) -> float:
    """Share of conversations with the same score in every usable run, among those with several."""
    usable = scores.kind == USABLE
    several = usable.sum(axis=0) > 1
    if not several.any():
        return np.nan
    score = scores.score[:, several].astype(float)
    lowest = np.where(usable[:, several], score, np.inf).min(axis=0)
    highest = np.where(usable[:, several], score, -np.inf).max(axis=0)
    return float((lowest == highest).mean())


def _metrics_of_run(truth: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """The metrics of one run; labels are levels, halves to the even one."""
    label_is = _labels(truth) == _LEVELS[:, None]
    score_is = score == _LEVELS[:, None]
    table = label_is.astype(float) @ score_is.astype(float).T
    hits = np.diag(table)
    rows = table.sum(axis=1)
    columns = table.sum(axis=0)
    total = table.sum()
    squared_distance = np.subtract.outer(_LEVELS, _LEVELS) ** 2
    disagreement = (squared_distance * table).sum()
    by_chance = (squared_distance * np.outer(rows, columns) / total).sum()
    values = {
        "accuracy": hits.sum() / total,
        "within_one": table[squared_distance <= 1].sum() / total,
        "mean_absolute_error": np.abs(truth - score).mean(),
        "spearman": _spearman(truth, score),
        "quadratic_kappa": 1 - disagreement / by_chance,
        "level_bias": (score - truth).mean(),
    }
    for level, hit, row, column in zip(_LEVELS, hits, rows, columns, strict=True):
        values[f"sensitivity_{level}"] = hit / row
        values[f"specificity_{level}"] = (total - row - column + hit) / (total - row)
    return values


def _labels(truth: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(truth), 1, 5)


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return correlation(rankdata(x), rankdata(y))


@functools.lru_cache(maxsize=8)
def population_judge_values(
    parameters: Parameters,
    judge: JudgeParameters,
    batches: int = BATCHES,
    scale: int = BATCH_SCALE,
    text_batches: int = TEXT_BATCHES,
) -> dict[str, tuple[float, float]]:
    r"""Population values that follow from the parameters of a study and of its judge, by brute force.

    To write texts takes a hundred times as long as to draw numbers. So most draws take :data:`WORDS_A_TURN` words for
    each turn (a control variate), and further ones with texts give what that leaves out:

    .. math:: \bar{f}_\text{turns}^{\,(1)} + \overline{f_\text{words} - f_\text{turns}}^{\,(2)}

    where both terms of the difference are of the same conversations and the same chance. The sum has no bias by the
    stand-in, however good that is.
    """
    seed_of_numbers, seed_of_texts = np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(2)
    by_turns = []
    for seed in seed_of_numbers.spawn(batches):
        study_seed, judge_seed = seed.spawn(2)
        study = draw(parameters, np.random.default_rng(study_seed), scale)
        words = WORDS_A_TURN * study.turns.astype(float)
        scores = draw_judge(study, words, judge, np.random.default_rng(judge_seed))
        by_turns.append(judge_statistics(study, scores, words))
    text_scale = max(1, -(-LEAST_CONVERSATIONS // parameters.conversations))
    differences = []
    for seed in seed_of_texts.spawn(text_batches):
        differences.append(_difference_by_words(parameters, judge, seed, text_scale))
    values = {}
    for key in by_turns[0]:
        mean, error = over_draws(by_turns, key)
        change, change_error = over_draws(differences, key)
        # What only a few of the smaller studies define, such as the sensitivity of a rare level, has no difference.
        if np.isfinite(change):
            mean = mean + change
            error = float(np.hypot(error, change_error))
        values[key] = (mean, error)
    return values


def _difference_by_words(
    parameters: Parameters, judge: JudgeParameters, seed: np.random.SeedSequence, scale: int
) -> dict[str, float]:
    """Statistics with the words of the texts, minus those with the stand-in."""
    study_seed, text_seed, judge_seed = seed.spawn(3)
    study = draw(parameters, np.random.default_rng(study_seed), scale)
    texts = write_words(study, np.random.default_rng(text_seed)).assistant

    def statistics_with(words: np.ndarray) -> dict[str, float]:
        scores = draw_judge(study, words, judge, np.random.default_rng(judge_seed))
        return judge_statistics(study, scores, words)

    by_words = statistics_with(assistant_words(study, texts))
    by_turns = statistics_with(WORDS_A_TURN * study.turns.astype(float))
    return {key: by_words[key] - by_turns[key] for key in by_words}
