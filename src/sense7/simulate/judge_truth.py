"""The truth of a simulated judge: what was planted, and what it implies for the metrics of judges.

As in :mod:`sense7.simulate.truth`, implied values are those of the population, by brute force and with plain array
code: none of the project's statistics and none of its metrics of judges is used.
"""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from sense7.simulate.implied.arrays import correlation, ground_truth, ranks
from sense7.simulate.judge import KINDS, USABLE, JudgeScores, assistant_words, draw_judge
from sense7.simulate.model import Numbers, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.text import write_words
from sense7.simulate.truth import Ledger
from sense7.taxonomy import SIMULATED_JUDGE

__all__ = ["implied_judge_values", "judge_record", "judge_statistics", "plant_judge"]

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
_AUTHORS_DEFAULT = 3
_AUTHORS_OFF_SCALE = 1
_HOW = (
    "brute force: mean over independent draws at many times the size of the study, with the number of turns in place "
    "of the number of words; plus the mean difference that the words make, over further draws with texts"
)
_PLACED = "put in as a parameter"


def judge_statistics(study: Numbers, scores: JudgeScores, words: np.ndarray) -> dict[str, float]:
    """Every statistic of a judge in the truth file, on one study, with plain array code.

    Parameters
    ----------
    study : Numbers
        The study.
    scores : JudgeScores
        Scores of the judge for it.
    words : ndarray, (C,)
        Words of the assistant in each conversation.

    Returns
    -------
    dict
        Key -> value: mean over runs, of the usable replies to conversations with ground truth, where the key says
        nothing else. Macro F1 over the classes that are seen is left out: which are seen depends on the study's size.
    """
    truth = ground_truth(study)
    known = ~np.isnan(truth)
    truth, words = truth[known], words[known]
    score, usable = scores.score[:, known].astype(float), (scores.kind == USABLE)[:, known]
    with np.errstate(invalid="ignore", divide="ignore"):  # what is undefined is NaN
        return _statistics(scores, truth, words, score, usable, known)


def _statistics(scores, truth, words, score, usable, known) -> dict[str, float]:
    runs = [_run(truth[use], run[use]) for run, use in zip(score, usable, strict=True)]
    values = {f"judge_{key}": float(np.mean([run[key] for run in runs])) for key in runs[0]}
    values["judge_coverage"] = float((scores.kind == USABLE).mean())
    values["judge_length_spearman"] = float(
        np.mean([_rho(run[use], words[use]) for run, use in zip(score, usable, strict=True)])
    )
    off_scale = (scores.kind == KINDS.index("off the scale"))[:, known]
    read = np.where(usable, score, np.where(off_scale, _AUTHORS_OFF_SCALE, _AUTHORS_DEFAULT))
    values["judge_authors_accuracy"] = float(np.mean([(_labels(truth) == run).mean() for run in read]))
    values["judge_authors_spearman"] = float(np.mean([_rho(run, truth) for run in read]))
    several = (scores.kind == USABLE).sum(axis=0) > 1
    score, usable = scores.score[:, several].astype(float), (scores.kind == USABLE)[:, several]
    lowest, highest = np.where(usable, score, np.inf).min(axis=0), np.where(usable, score, -np.inf).max(axis=0)
    values["judge_same_label"] = float((lowest == highest).mean()) if several.any() else np.nan
    return values


def _run(truth: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """The metrics of one run; labels are levels, halves to the even one."""
    label = _labels(truth)
    table = np.array([[((label == row) & (score == column)).sum() for column in _LEVELS] for row in _LEVELS], float)
    hits, rows, columns, total = np.diag(table), table.sum(axis=1), table.sum(axis=0), table.sum()
    apart = np.subtract.outer(_LEVELS, _LEVELS) ** 2
    values = {
        "accuracy": hits.sum() / total,
        "within_one": table[apart <= 1].sum() / total,
        "mean_absolute_error": np.abs(truth - score).mean(),
        "spearman": _rho(truth, score),
        "quadratic_kappa": 1 - (apart * table).sum() / (apart * np.outer(rows, columns) / total).sum(),
        "level_bias": (score - truth).mean(),
    }
    for level, hit, row, column in zip(_LEVELS, hits, rows, columns, strict=True):
        values[f"sensitivity_{level}"] = hit / row
        values[f"specificity_{level}"] = (total - row - column + hit) / (total - row)
    return values


def _labels(truth: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(truth), 1, 5)


def _rho(x: np.ndarray, y: np.ndarray) -> float:
    return correlation(ranks(x), ranks(y))


@functools.lru_cache(maxsize=8)
def implied_judge_values(
    parameters: Parameters,
    judge: JudgeParameters,
    batches: int = BATCHES,
    scale: int = BATCH_SCALE,
    text_batches: int = TEXT_BATCHES,
) -> dict[str, tuple[float, float]]:
    r"""Population values that the parameters of a study and of its judge imply, by brute force.

    To write texts takes a hundred times as long as to draw numbers. So most draws take :data:`WORDS_A_TURN` words for
    each turn (a control variate), and further ones with texts give what that leaves out:

    .. math:: \bar{f}_\text{turns}^{\,(1)} + \overline{f_\text{words} - f_\text{turns}}^{\,(2)}

    where both terms of the difference are of the same conversations and the same chance. The sum has no bias by the
    stand-in, however good that is.

    Parameters
    ----------
    parameters : Parameters
        Of the study.
    judge : JudgeParameters
        Of the judge.
    batches, scale : int
        Draws of the first term, at least 2, and their size in studies.
    text_batches : int
        Draws of the second term, at least 2.

    Returns
    -------
    dict
        Key -> (value, its Monte Carlo standard error); NaN where a statistic is undefined in every draw.
    """
    first, second = np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(2)
    plain = [_by_turns(parameters, judge, seed, scale) for seed in first.spawn(batches)]
    enough = max(1, -(-LEAST_CONVERSATIONS // parameters.conversations))
    apart = [_difference(parameters, judge, seed, enough) for seed in second.spawn(text_batches)]
    values = {}
    for key in plain[0]:
        (mean, error), (change, change_error) = _mean(plain, key), _mean(apart, key)
        # What only a few of the smaller studies define, such as the sensitivity of a rare level, has no difference.
        change, change_error = (change, change_error) if np.isfinite(change) else (0.0, 0.0)
        values[key] = (mean + change, float(np.hypot(error, change_error)))
    return values


def _by_turns(parameters: Parameters, judge: JudgeParameters, seed: np.random.SeedSequence, scale: int) -> dict:
    numbers, own = (np.random.default_rng(child) for child in seed.spawn(2))
    study = draw(parameters, numbers, scale)
    words = WORDS_A_TURN * study.turns.astype(float)
    return judge_statistics(study, draw_judge(study, words, judge, own), words)


def _difference(parameters: Parameters, judge: JudgeParameters, seed: np.random.SeedSequence, scale: int) -> dict:
    """Statistics with the words of the texts, minus those with the stand-in."""
    numbers, texts, own = seed.spawn(3)
    study = draw(parameters, np.random.default_rng(numbers), scale)
    written = assistant_words(study, write_words(study, np.random.default_rng(texts)).assistant)
    differences = [
        judge_statistics(study, draw_judge(study, words, judge, np.random.default_rng(own)), words)
        for words in (written, WORDS_A_TURN * study.turns.astype(float))
    ]
    return {key: differences[0][key] - differences[1][key] for key in differences[0]}


def _mean(draws: list[dict], key: str) -> tuple[float, float]:
    """Mean and standard error over draws that define a statistic; NaN if fewer than two do."""
    column = np.array([entry[key] for entry in draws], dtype=float)
    column = column[np.isfinite(column)]
    if len(column) < 2:
        return np.nan, np.nan
    return float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column)))


_SHARE, _LEVEL = "share", "level"
_MEANINGS = {
    "judge_accuracy": (_SHARE, "share of conversations whose label the score hits, mean over runs"),
    "judge_within_one": (_SHARE, "share of conversations whose label the score misses by at most one, mean over runs"),
    "judge_mean_absolute_error": (_LEVEL, "mean absolute difference of score and ground truth, mean over runs"),
    "judge_spearman": ("1", "Spearman correlation of score and ground truth, mean over runs"),
    "judge_quadratic_kappa": ("1", "Cohen's kappa of labels with quadratic weights, mean over runs"),
    "judge_level_bias": (_LEVEL, "mean of score minus ground truth, mean over runs"),
    "judge_coverage": (_SHARE, "share of replies with a usable score"),
    "judge_length_spearman": ("1", "Spearman correlation of score and number of the assistant's words, mean over runs"),
    "judge_authors_accuracy": (_SHARE, "accuracy by the authors' rule for unusable replies, mean over runs"),
    "judge_authors_spearman": ("1", "Spearman correlation by the authors' rule for unusable replies, mean over runs"),
    "judge_same_label": (_SHARE, "share of conversations with the same score in every run that has a usable one"),
    **{
        f"judge_sensitivity_{level}": (
            _SHARE,
            f"share scored {level} among those whose label is {level}, mean over runs",
        )
        for level in _LEVELS
    },
    **{
        f"judge_specificity_{level}": (
            _SHARE,
            f"share not scored {level} among those whose label is another, mean over runs",
        )
        for level in _LEVELS
    },
}
_PARAMETERS = {
    "judge_runs": ("count", "number of runs of the simulated judge"),
    "judge_signal": ("level per level", "change of the judgment per level of quality that a conversation offers"),
    "judge_length_weight": ("level", "change of the judgment per doubling of the assistant's words"),
    "judge_usual_length": ("words", "number of words at which the length changes nothing"),
    "judge_level_shift": (_LEVEL, "shift of every judgment"),
    "judge_misjudgment_sd": (_LEVEL, "sd over conversations of the error that all runs share"),
    "judge_jitter_sd": (_LEVEL, "sd of the error of a single run"),
    "judge_refusal_rate": (_SHARE, "probability that a reply is a refusal"),
    "judge_no_number_rate": (_SHARE, "probability that a reply holds no number"),
    "judge_off_scale_rate": (_SHARE, "probability that the number in a reply is off the scale"),
    "judge_truncation_rate": (_SHARE, "probability that a reply ends before its score"),
}


def plant_judge(parameters: Parameters, judge: JudgeParameters) -> list[dict[str, Any]]:
    """Entries of the truth file for a simulated judge: its parameters, and what they imply for page and metrics."""
    ledger = Ledger()
    for key, value in judge.as_dict().items():
        kind = "count" if key == "judge_runs" else "parameter"
        ledger.add(key, value, *_PARAMETERS[key], kind, _PLACED)
    for key, (value, error) in implied_judge_values(parameters, judge).items():
        ledger.add(key, value, *_MEANINGS[key], "implied", _HOW, error)
    return ledger.entries


def judge_record(judge: JudgeParameters) -> Mapping[str, Any]:
    """What the truth file says of the judge whose values it holds."""
    return {"name": SIMULATED_JUDGE, "parameters": judge.as_dict()}
