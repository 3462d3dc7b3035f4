"""A simulated judge: scores of every conversation of a simulated study, in several runs, with known truth.

No model is asked and no text is read. The scores say what the simulation was told, and nothing about a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sense7.simulate.model import Numbers, cut
from sense7.simulate.parameters import JudgeParameters

__all__ = ["KINDS", "USABLE", "JudgeScores", "assistant_words", "draw_judge", "offered_quality", "reply_text"]

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
_THRESHOLDS = (1.5, 2.5, 3.5, 4.5)


@dataclass(frozen=True)
class JudgeScores:
    """Scores of a simulated judge. R runs, C conversations.

    Attributes
    ----------
    parameters : JudgeParameters
        What was planted.
    judgment : ndarray, (C,)
        Latent judgment that all runs share, levels.
    score : ndarray of int8, (R, C)
        Score that the reply of each run gives, or would give if it were usable, 1 to 5.
    kind : ndarray of int8, (R, C)
        What the reply is: a place in :data:`KINDS`.
    """

    parameters: JudgeParameters = field(repr=False)
    judgment: np.ndarray = field(repr=False)
    score: np.ndarray = field(repr=False)
    kind: np.ndarray = field(repr=False)


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

    Parameters
    ----------
    study : Numbers
        The study.
    words : ndarray, (C,)
        Words that the assistant wrote in each conversation, see :func:`assistant_words`; none counts as one.
    judge : JudgeParameters
        What to plant.
    generator : numpy.random.Generator
        Source of chance; the same state gives the same scores.

    Returns
    -------
    JudgeScores
        Of ``judge_runs`` runs.

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
    jitter = judge.judge_jitter_sd * generator.standard_normal((judge.judge_runs, total))
    chance = generator.random((judge.judge_runs, total))
    # The first kinds lie at the low end: chance below the sum of all rates is one of them.
    unusable = np.searchsorted(np.cumsum(judge.unusable_rates), chance, side="right")
    kind = np.where(unusable < len(judge.unusable_rates), unusable + 1, USABLE).astype(np.int8)
    return JudgeScores(judge, judgment, cut(judgment + jitter, _THRESHOLDS), kind)


def offered_quality(study: Numbers) -> np.ndarray:
    """Quality that each conversation offers: mean over its turns of the mean over the seven dimensions. Shape (C,)."""
    return np.bincount(study.conversation, weights=study.quality.mean(axis=1), minlength=len(study.turns)) / study.turns


def assistant_words(study: Numbers, assistant: Sequence[str]) -> np.ndarray:
    """Words that the assistant wrote in each conversation, parted by white space.

    Parameters
    ----------
    study : Numbers
        The study.
    assistant : sequence of str
        Text of each assistant turn.

    Returns
    -------
    ndarray, (C,)
        Whole numbers as float.
    """
    counts = [len(text.split()) for text in assistant]
    return np.bincount(study.conversation, weights=counts, minlength=len(study.turns))


def reply_text(kind: int, score: int) -> str:
    """Text of a reply, from which its score is read, or not.

    >>> reply_text(USABLE, 4)
    '<S0>Simulated: no model was asked, and no text was read.</S0><S2>4</S2>'
    """
    return _REPLIES[kind].format(reasoning=REASONING, score=score)
