"""A simulated judge: scores of every conversation of a simulated study, in several runs, with known truth.

No model is asked and no text is read. The scores say what the simulation was told, and nothing about a model. As in
:mod:`sense7.simulate.truth`, true values are those of the population, by brute force and with plain array code: none
of the project's statistics and none of its metrics of judges is used.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sense7.simulate.model import Numbers, cut, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.text import write_words
from sense7.simulate.true_values.arrays import correlation, ground_truth, over_draws, ranks
from sense7.simulate.truth import PLACED, TABLES, described, entry

KINDS = ("ok", "refusal", "no number", "off the scale", "truncated")
"""What a reply is, by its code."""

USABLE = KINDS.index("ok")

REASONING = "Simulated: no model was asked, and no text was read."
"""Stands in every reply, so that a row says what it is wherever it is copied to."""

_REPLIES = (
    "<S0>{reasoning}</S0><S2>{score}</S2>",
    "{reasoning} I can't rate this conversation.",
    "<S0>{reasoning}</S0> It was rather empathic.",
    "<S0>{reasoning}</S0><S2>10</S2>",
    "<S0>{reasoning}",
)


@dataclass(frozen=True, repr=False)
class JudgeScores:
    """Scores of a simulated judge. R runs, C conversations.

    ``judgment`` (C) is the latent one that all runs share, levels; ``score`` (R, C) what the reply of each run gives,
    or would give if it were usable, 1 to 5; ``kind`` (R, C) what the reply is, a place in :data:`KINDS`.
    """

    parameters: JudgeParameters
    judgment: np.ndarray
    score: np.ndarray
    kind: np.ndarray


def draw_judge(
    study: Numbers, words: np.ndarray, judge: JudgeParameters, generator: np.random.Generator
) -> JudgeScores:
    r"""Draw the scores of every run of a simulated judge.

    With :math:`q_c` the quality that conversation c offers (:func:`offered_quality`), :math:`\mu` the parameter
    ``quality_mean`` of the study and :math:`w_c` the words of the assistant, the judgment of c in run r is

    .. math:: \mu + \text{shift} + \text{signal}\,(q_c - \mu) + \text{length weight}\,\log_2\frac{w_c}{\text{usual}}
              + m_c + j_{cr}, \quad m \sim N(0, \sigma_m^2),\ j \sim N(0, \sigma_j^2)

    and the score is its nearest level from 1 to 5. The judge thus sees what the text offers and not the person: neither
    how strictly the participant rates nor what they wished for. Whether a reply is usable does not depend on the
    conversation.

    Examples
    --------
    >>> from sense7.simulate import Parameters, draw
    >>> study = draw(Parameters(), np.random.default_rng(1))
    >>> found = draw_judge(study, np.full(672, 400), JudgeParameters(), np.random.default_rng(2))
    >>> found.score.shape, int(found.score.min()) >= 1, int(found.score.max()) <= 5
    ((10, 672), True, True)
    """
    mean = study.parameters.quality_mean
    total = len(study.turns)
    judgment = (
        mean
        + judge.judge_level_shift
        + judge.judge_signal * (offered_quality(study) - mean)
        + judge.judge_length_weight * np.log2(np.maximum(words, 1) / judge.judge_usual_length)
        + judge.judge_misjudgment_sd * generator.standard_normal(total)
    )
    return _asked(judge, judgment, generator)


def ask_again(scores: JudgeScores, generator: np.random.Generator) -> JudgeScores:
    """Draw the scores of the same judge asked again about the same conversations: its judgment stays, runs are others.

    Examples
    --------
    >>> from sense7.simulate import Parameters, draw
    >>> study = draw(Parameters(), np.random.default_rng(1))
    >>> first = draw_judge(study, np.full(672, 400), JudgeParameters(), np.random.default_rng(2))
    >>> again = ask_again(first, np.random.default_rng(3))
    >>> bool((again.judgment == first.judgment).all()), bool((again.score == first.score).all())
    (True, False)
    """
    return _asked(scores.parameters, scores.judgment, generator)


def _asked(
    judge: JudgeParameters, judgment: np.ndarray, generator: np.random.Generator
) -> JudgeScores:
    """Replies of every run to conversations with a latent judgment."""
    total = len(judgment)
    jitter = judge.judge_jitter_sd * generator.standard_normal((judge.judge_runs, total))
    chance = generator.random((judge.judge_runs, total))
    # The first kinds lie at the low end: chance below the sum of all rates is one of them.
    unusable = np.searchsorted(np.cumsum(judge.unusable_rates), chance, side="right")
    kind = np.where(unusable < len(judge.unusable_rates), unusable + 1, USABLE).astype(np.int8)
    return JudgeScores(judge, judgment, cut(judgment + jitter, (1.5, 2.5, 3.5, 4.5)), kind)


def offered_quality(study: Numbers) -> np.ndarray:
    """Quality that each conversation offers: mean over its turns of the mean over the seven dimensions. Shape (C,)."""
    return (
        np.bincount(
            study.conversation, weights=study.quality.mean(axis=1), minlength=len(study.turns)
        )
        / study.turns
    )


def assistant_words(study: Numbers, assistant: Sequence[str]) -> np.ndarray:
    """Words that the assistant wrote in each conversation, parted by white space."""
    counts = [len(text.split()) for text in assistant]
    return np.bincount(study.conversation, weights=counts, minlength=len(study.turns))


def reply_text(kind: int, score: int) -> str:
    """Text of a reply, from which its score is read, or not.

    >>> reply_text(USABLE, 4)
    '<S0>Simulated: no model was asked, and no text was read.</S0><S2>4</S2>'
    """
    return _REPLIES[kind].format(reasoning=REASONING, score=score)


# Its truth ------------------------------------------------------------------------------------------------------------

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
_HOW = (
    "brute force: mean over independent draws at many times the size of the study, with the number of turns in place "
    "of the number of words; plus the mean difference that the words make, over further draws with texts"
)


def judge_statistics(study: Numbers, scores: JudgeScores, words: np.ndarray) -> dict[str, float]:
    """Every statistic of a judge in the truth file, on one study, with plain array code: means over runs.

    They are of usable replies to conversations with ground truth, where the key says nothing else. Macro F1 over the
    classes that are seen is left out: which are seen depends on the study's size.
    """
    truth = ground_truth(study)
    known = ~np.isnan(truth)
    truth, words = truth[known], words[known]
    score, usable = scores.score[:, known].astype(float), (scores.kind == USABLE)[:, known]
    with np.errstate(invalid="ignore", divide="ignore"):  # what is undefined is NaN
        runs = [_run(truth[use], run[use]) for run, use in zip(score, usable, strict=True)]
        values = {f"judge_{key}": float(np.mean([run[key] for run in runs])) for key in runs[0]}
        values["judge_coverage"] = float((scores.kind == USABLE).mean())
        values["judge_length_spearman"] = float(
            np.mean([_rho(run[use], words[use]) for run, use in zip(score, usable, strict=True)])
        )
        off_scale = (scores.kind == KINDS.index("off the scale"))[:, known]
        read = np.where(usable, score, np.where(off_scale, 1, 3))
        values["judge_authors_accuracy"] = float(
            np.mean([(_labels(truth) == run).mean() for run in read])
        )
        values["judge_authors_spearman"] = float(np.mean([_rho(run, truth) for run in read]))
        several = (scores.kind == USABLE).sum(axis=0) > 1
        score, usable = scores.score[:, several].astype(float), (scores.kind == USABLE)[:, several]
        lowest, highest = (
            np.where(usable, score, np.inf).min(axis=0),
            np.where(usable, score, -np.inf).max(axis=0),
        )
        values["judge_same_label"] = float((lowest == highest).mean()) if several.any() else np.nan
        return values


def _run(truth: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """The metrics of one run; labels are levels, halves to the even one."""
    label = _labels(truth)
    table = np.array(
        [[((label == row) & (score == column)).sum() for column in _LEVELS] for row in _LEVELS],
        float,
    )
    hits, rows, columns, total = np.diag(table), table.sum(axis=1), table.sum(axis=0), table.sum()
    apart = np.subtract.outer(_LEVELS, _LEVELS) ** 2
    values = {
        "accuracy": hits.sum() / total,
        "within_one": table[apart <= 1].sum() / total,
        "mean_absolute_error": np.abs(truth - score).mean(),
        "spearman": _rho(truth, score),
        "quadratic_kappa": 1
        - (apart * table).sum() / (apart * np.outer(rows, columns) / total).sum(),
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
def population_judge_values(
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
    """
    first, second = np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(2)
    plain = []
    for seed in first.spawn(batches):
        numbers, own = (np.random.default_rng(child) for child in seed.spawn(2))
        study = draw(parameters, numbers, scale)
        words = WORDS_A_TURN * study.turns.astype(float)
        plain.append(judge_statistics(study, draw_judge(study, words, judge, own), words))
    enough = max(1, -(-LEAST_CONVERSATIONS // parameters.conversations))
    apart = [_difference(parameters, judge, seed, enough) for seed in second.spawn(text_batches)]
    values = {}
    for key in plain[0]:
        (mean, error), (change, change_error) = over_draws(plain, key), over_draws(apart, key)
        # What only a few of the smaller studies define, such as the sensitivity of a rare level, has no difference.
        change, change_error = (change, change_error) if np.isfinite(change) else (0.0, 0.0)
        values[key] = (mean + change, float(np.hypot(error, change_error)))
    return values


def _difference(
    parameters: Parameters, judge: JudgeParameters, seed: np.random.SeedSequence, scale: int
) -> dict:
    """Statistics with the words of the texts, minus those with the stand-in."""
    numbers, texts, own = seed.spawn(3)
    study = draw(parameters, np.random.default_rng(numbers), scale)
    written = assistant_words(study, write_words(study, np.random.default_rng(texts)).assistant)
    differences = [
        judge_statistics(study, draw_judge(study, words, judge, np.random.default_rng(own)), words)
        for words in (written, WORDS_A_TURN * study.turns.astype(float))
    ]
    return {key: differences[0][key] - differences[1][key] for key in differences[0]}


def plant_judge(parameters: Parameters, judge: JudgeParameters) -> list[dict[str, Any]]:
    """Entries of the truth file for a simulated judge: its parameters, and what they imply for page and metrics."""
    entries = [
        entry(
            key,
            value,
            *TABLES["judge"][key],
            "count" if key == "judge_runs" else "parameter",
            PLACED,
        )
        for key, value in judge.as_dict().items()
    ]
    for key, (value, error) in population_judge_values(parameters, judge).items():
        entries.append(entry(key, value, *described(key)[:2], "implied", _HOW, error))
    return entries
