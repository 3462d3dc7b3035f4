"""A simulated judge: scores of every conversation of a simulated study, in several runs.

No model is asked and no text is read. The scores say what the simulation was told, and nothing about a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sense7.simulate.model import LEVEL_CUTS, Numbers, cut
from sense7.simulate.parameters import JudgeParameters

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
    or would give if it were usable, 1 to 5; ``kind`` (R, C) what the reply is, a position in :data:`KINDS`.
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
    >>> scores = draw_judge(study, np.full(672, 400), JudgeParameters(), np.random.default_rng(2))
    >>> scores.score.shape, int(scores.score.min()) >= 1, int(scores.score.max()) <= 5
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
    return _replies(judge, judgment, generator)


def ask_again(scores: JudgeScores, generator: np.random.Generator) -> JudgeScores:
    """Draw the scores of the same judge, asked again about the same conversations: the same judgment, new runs.

    Examples
    --------
    >>> from sense7.simulate import Parameters, draw
    >>> study = draw(Parameters(), np.random.default_rng(1))
    >>> first = draw_judge(study, np.full(672, 400), JudgeParameters(), np.random.default_rng(2))
    >>> again = ask_again(first, np.random.default_rng(3))
    >>> bool((again.judgment == first.judgment).all()), bool((again.score == first.score).all())
    (True, False)
    """
    return _replies(scores.parameters, scores.judgment, generator)


def _replies(
    judge: JudgeParameters, judgment: np.ndarray, generator: np.random.Generator
) -> JudgeScores:
    """Replies of every run to conversations with a latent judgment."""
    total = len(judgment)
    jitter = judge.judge_jitter_sd * generator.standard_normal((judge.judge_runs, total))
    chance = generator.random((judge.judge_runs, total))
    # The first kinds lie at the low end: chance below the sum of all rates is one of them.
    unusable = np.searchsorted(np.cumsum(judge.unusable_rates), chance, side="right")
    is_unusable = unusable < len(judge.unusable_rates)
    return JudgeScores(
        parameters=judge,
        judgment=judgment,
        score=cut(judgment + jitter, LEVEL_CUTS),
        kind=np.where(is_unusable, unusable + 1, USABLE).astype(np.int8),
    )


def offered_quality(study: Numbers) -> np.ndarray:
    """Quality that each conversation offers: mean over its turns of the mean over the seven dimensions. Shape (C,)."""
    quality_of_turns = study.quality.mean(axis=1)
    sums = np.bincount(study.conversation, weights=quality_of_turns, minlength=len(study.turns))
    return sums / study.turns


def assistant_words(study: Numbers, assistant_texts: Sequence[str]) -> np.ndarray:
    """Number of words, separated by white space, that the assistant wrote in each conversation; one text per turn."""
    counts = [len(text.split()) for text in assistant_texts]
    return np.bincount(study.conversation, weights=counts, minlength=len(study.turns))


def reply_text(kind: int, score: int) -> str:
    """Text of a reply, from which its score is read, or not.

    >>> reply_text(USABLE, 4)
    '<S0>Simulated: no model was asked, and no text was read.</S0><S2>4</S2>'
    """
    return _REPLIES[kind].format(reasoning=REASONING, score=score)
