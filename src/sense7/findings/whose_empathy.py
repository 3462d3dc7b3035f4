r"""Whether observers of an empathic answer agree with the person who was answered, or with each other.

Fifty people wrote about a difficult situation, received one answer, and rated how it made them feel: understood,
validated, affirmed, seen, accepted, cared for (Yin, Jia and Wakslak, 2024). Three experts, a crowd and three language
models read the same texts and rated the same six feelings (Kumar and others, 2025). A rater's *score* of a
conversation is the mean of the six ratings. Agreement is Spearman's rank correlation of two raters' scores over
conversations, so that a rater who is merely stricter than another one loses nothing.

Intervals resample conversations, each with all that was said about it; every statistic, differences and corrections
included, is computed again from the ranks of each resample. The raters are few and fixed: an interval says what other
conversations might have given, and nothing about other experts or models. None of these ratings is of SENSE-7.

References
----------
Kumar, A., and others (2025). When Large Language Models are Reliable for Judging Empathic Communication. arXiv
2506.10150.

Yin, Y., Jia, N., & Wakslak, C. J. (2024). AI can help people feel heard, but an AI label diminishes this impact. PNAS,
121(14).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ConversationBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.sources.released import CROWD, EXPERTS, FEELINGS, JUDGES, PERSON, RELEASED, felt_heard, judged_conversations

__all__ = [
    "CREDIT",
    "TITLES",
    "Panel",
    "Resampled",
    "among_observers",
    "by_question",
    "definition_groups",
    "differences",
    "every_pair",
    "facts",
    "levels",
    "main_groups",
    "noise",
    "other_definitions",
    "panel",
    "precision",
    "spread",
    "statements",
    "verdict",
    "with_person",
    "with_row_labels",
]

CORPUS = "perceived_empathy"
"""Key of the corpus in which the person who was answered rated, too."""

CREDIT = (
    f"Ratings by observers: {RELEASED['judged_conversations'].acknowledgement} Ratings by the people who were "
    f"answered, released with them: {RELEASED['felt_heard'].credit.partition(' Released with')[0]}"
)
"""Whose ratings these are, and under which licence."""

RATERS = (PERSON, *EXPERTS, CROWD, *JUDGES)
"""Everyone who rated: columns of the released table."""

RATER_NAMES = {
    **{expert: f"Expert {number}" for number, expert in enumerate(EXPERTS, 1)},
    CROWD: "Crowd",
    "gpt": "GPT-4o",
    "claude": "Claude",
    "gemini": "Gemini",
    PERSON: "The person",
}
"""Rater -> name for readers, observers first."""

FEELING_NAMES = {name: "cared for" if name == "caredfor" else name for name in FEELINGS}
"""Question -> what was rated, for readers: "the answer makes the person feel ..."."""

SEEN, NOT_SETTLED, OPPOSITE = "seen in these data", "not settled by these data", "the opposite is seen in these data"
"""What an interval says: all of it above zero, zero inside it, all of it below zero."""

TITLES = {
    "whose_observers_agree": "One expert with the other two",
    "whose_expert1_with_others": "Expert 1 with experts 2 and 3",
    "whose_expert2_with_others": "Expert 2 with experts 1 and 3",
    "whose_expert3_with_others": "Expert 3 with experts 1 and 2",
    "whose_claude_with_experts": "Claude 3.7 Sonnet with the experts",
    "whose_gemini_with_experts": "Gemini 2.5 Pro with the experts",
    "whose_gpt_with_experts": "GPT-4o with the experts",
    "whose_crowd_with_experts": "Crowd with the experts",
    "whose_models_agree": "Two models with each other",
    "whose_gpt_with_claude": "GPT-4o with Claude 3.7 Sonnet",
    "whose_gpt_with_gemini": "GPT-4o with Gemini 2.5 Pro",
    "whose_claude_with_gemini": "Claude 3.7 Sonnet with Gemini 2.5 Pro",
    "whose_experts_with_person": "Experts' mean with the person",
    "whose_expert1_with_person": "Expert 1 with the person",
    "whose_expert2_with_person": "Expert 2 with the person",
    "whose_expert3_with_person": "Expert 3 with the person",
    "whose_two_experts_with_person": "Two experts' mean with the person",
    "whose_crowd_with_person": "Crowd with the person",
    "whose_gpt_with_person": "GPT-4o with the person",
    "whose_claude_with_person": "Claude 3.7 Sonnet with the person",
    "whose_gemini_with_person": "Gemini 2.5 Pro with the person",
    "whose_models_with_person": "The three models' mean with the person",
    "whose_gemini_with_person_adjusted": "Gemini 2.5 Pro with the person, as the best of five observers",
    "whose_difference": "Experts: with each other, minus with the person",
    "whose_difference_same_target": "Experts: the person in the place of one expert",
    "whose_models_difference": "Models: with each other, minus the best of them with the person",
    "whose_claude_difference": "Claude 3.7 Sonnet: with the experts, minus with the person",
    "whose_gemini_difference": "Gemini 2.5 Pro: with the experts, minus with the person",
    "whose_gpt_difference": "GPT-4o: with the experts, minus with the person",
    "whose_crowd_difference": "Crowd: with the experts, minus with the person",
    "whose_models_minus_experts": "With the person: the models' mean, minus the experts' mean",
    "whose_crowd_minus_experts": "With the person: the crowd, minus the experts' mean",
    "whose_level_self": "The person",
    "whose_level_crowd": "Crowd",
    "whose_level_experts": "Experts",
    "whose_level_models": "Models",
    "whose_level_crowd_minus_person": "Crowd minus the person",
    "whose_level_experts_minus_person": "Experts minus the person",
    "whose_level_models_minus_person": "Models minus the person",
    "whose_reliability_person": "The person's mean of six questions: alpha",
    "whose_reliability_experts": "The mean of three experts: alpha over experts",
    "whose_experts_with_person_corrected": "Experts' mean with the person, corrected for both",
    "whose_reliability_needed": "Reliability of the person's mean at which the corrected correlation would be one",
    "whose_spread_person": "The person: standard deviation",
    "whose_spread_experts": "Experts' mean: standard deviation",
    "whose_spread_ratio": "Standard deviation: experts' mean by the person",
    "whose_quartiles_person": "The person: distance of the quartiles",
    "whose_quartiles_experts": "Experts' mean: distance of the quartiles",
    "whose_quartiles_ratio": "Distance of the quartiles: experts' mean by the person",
    "whose_experts_with_person_spread": "Experts' mean with the person, if the person varied so much more",
    "whose_difference_spread": "Experts: with each other, minus with the person at that spread",
}
"""Key of a value -> its name for readers."""

STATEMENTS = {
    "whose_difference": "Experts agree with each other more than with the person.",
    "whose_models_difference": "Models agree with each other more than the best of them agrees with the person.",
    "whose_claude_difference": "Claude 3.7 Sonnet agrees with the experts more than with the person.",
    "whose_gemini_difference": "Gemini 2.5 Pro agrees with the experts more than with the person.",
    "whose_gpt_difference": "GPT-4o agrees with the experts more than with the person.",
    "whose_crowd_difference": "The crowd agrees with the experts more than with the person.",
    "whose_level_experts_minus_person": "Experts' ratings differ in level from the person's.",
    "whose_level_models_minus_person": "The models' ratings differ in level from the person's.",
    "whose_level_crowd_minus_person": "The crowd's ratings differ in level from the person's.",
    "whose_experts_with_person": "The experts' mean rises with the person's rating.",
    "whose_models_with_person": "The models' mean rises with the person's rating.",
    "whose_gemini_with_person_adjusted": "The best of the five observers rises with the person's rating.",
    "whose_models_minus_experts": "Models agree with the person more than experts do.",
    "whose_crowd_minus_experts": "The crowd agrees with the person more than experts do.",
}
"""Key -> the statement that holds if its whole interval lies on one side of zero."""

DEFINITIONS = {
    "whose_difference_single_experts": "Single experts instead of means of experts",
    "whose_difference_median": "The experts' median instead of their mean",
    "whose_difference_pearson": "Pearson correlations instead of Spearman",
    "whose_difference_label": "The label of the answer (AI or human) held constant",
    "whose_difference_below_highest": "Without people who gave only highest ratings",
}
"""Key of the difference -> in what it departs from the main definition."""

_UPPER = (
    "whose_observers_agree",
    "whose_models_agree",
    "whose_claude_with_experts",
    "whose_gemini_with_experts",
    "whose_gpt_with_experts",
    "whose_crowd_with_experts",
)
_LOWER = (
    "whose_gemini_with_person",
    "whose_gpt_with_person",
    "whose_crowd_with_person",
    "whose_experts_with_person",
    "whose_claude_with_person",
)
_RHO = "Spearman's rho"
_DIFFERENCE = "difference of Spearman's rho"
_LEVEL = "level, mean of six questions (1 to 7)"
_MEANS = "scores are means of six questions"
_DECIMALS = 9
_OBSERVERS = 5
"""Observers that were compared with the person: the experts' mean, the crowd, three models."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Conversations rated by the person who was answered and by observers.

    Attributes
    ----------
    items : DataFrame
        One row per conversation; columns (rater, question), ratings without a gap. Raters: ``self``, ``expert1``,
        ``expert2``, ``expert3``, ``crowd``, ``gpt``, ``claude``, ``gemini``.
    label : Series
        Who was said to have answered, by conversation: ``ai`` or ``human``.
    response : Series
        Who answered, by conversation: ``ai`` or ``human``.
    """

    items: pd.DataFrame
    label: pd.Series
    response: pd.Series

    def __post_init__(self):
        raters = set(self.items.columns.get_level_values(0))
        if lacking := [name for name in RATERS if name not in raters]:
            raise UserError(f"A panel needs ratings by {', '.join(RATERS)}; these lack {', '.join(lacking)}.")
        if missing := int(self.items.isna().to_numpy().sum()):
            raise UserError(f"A panel needs every rating; {missing:,} are missing. Leave out these conversations.")

    @property
    def conversations(self) -> pd.Index:
        """Names of the conversations."""
        return self.items.index

    @property
    def questions(self) -> list[str]:
        """What was rated."""
        return list(self.items.columns.get_level_values(1).unique())

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Mean over the questions: one row per conversation, one column per rater and per mean of raters.

        ``experts`` and ``models`` are means of three, ``median`` is the experts' median, and ``without_expert1`` is
        the mean of the other two experts. Rounded to nine decimals, so that equal means are ties.
        """
        single = pd.DataFrame({rater: self.items[rater].mean(axis=1) for rater in RATERS})
        means = {
            "experts": single[list(EXPERTS)].mean(axis=1),
            "models": single[list(JUDGES)].mean(axis=1),
            "median": single[list(EXPERTS)].median(axis=1),
            **{f"without_{e}": single[[other for other in EXPERTS if other != e]].mean(axis=1) for e in EXPERTS},
        }
        return single.assign(**means).round(_DECIMALS)

    def only(self, question: str) -> "Panel":
        """The same conversations with one of the questions.

        Raises
        ------
        UserError
            If it was not asked.
        """
        if question not in self.questions:
            raise UserError(f"{question!r} was not asked. Known: {', '.join(self.questions)}.")
        return replace(self, items=self.items.loc[:, (slice(None), [question])])

    def resampling(self, draws: int, seed: int, confidence: float = 0.95) -> ConversationBootstrap:
        """Resamples of the conversations, for every interval of this module."""
        return ConversationBootstrap(pd.Series(self.conversations, dtype=object), draws, seed, confidence)


def panel() -> Panel:
    """The conversations of the corpus Perceived Empathy, with the six questions that the person answered, too.

    Returns
    -------
    Panel
        Fifty conversations, in the order of their names; the person's ratings are those of
        :func:`sense7.sources.released.felt_heard`, which also says who answered and under which label.

    Raises
    ------
    UserError
        If a file of released ratings is missing or is not the one that is pinned.

    Examples
    --------
    >>> people = panel()
    >>> len(people.conversations), people.questions == list(FEELINGS)
    (50, True)
    >>> people.scores[["self", "experts"]].mean().round(2).to_dict()
    {'self': 5.57, 'experts': 3.4}
    """
    table = judged_conversations()
    table = table[(table["corpus"] == CORPUS) & table[PERSON].notna()]
    items = table.pivot_table(index="conversation", columns="question", values=list(RATERS)).astype(float)
    items = items.loc[:, [(rater, question) for rater in RATERS for question in FEELINGS]]
    people = felt_heard().set_index("participant").loc[items.index]
    return Panel(items, people["label"], people["response"])


class Resampled:
    """Statistics of a panel in all conversations and in every resample of them, each correlation computed once.

    Parameters
    ----------
    people : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Notes
    -----
    Statistics come as arrays of shape (1 + draws,): first that of the conversations as they are, then one per
    resample. Functions of several of them are thus paired: every part sees the same conversations.

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(100, seed=1))
    >>> values = resampled.spearman("experts", "self")
    >>> values.shape, round(float(values[0]), 3)
    ((101,), 0.173)
    """

    def __init__(self, people: Panel, bootstrap: ConversationBootstrap):
        self.panel, self.bootstrap = people, bootstrap
        codes = bootstrap.codes(people.conversations)
        self.weights = np.vstack([np.ones((1, len(codes))), bootstrap.weights()[:, codes]])
        self._known: dict[tuple[str, str], np.ndarray] = {}

    def of(self, people: Panel) -> "Resampled":
        """The same resamples of another panel with some or all of these conversations."""
        return Resampled(people, self.bootstrap)

    def spearman(self, first: str, second: str) -> np.ndarray:
        """Spearman's rank correlation of two columns of :attr:`Panel.scores`, ties at their mean rank."""
        pair = (first, second) if first < second else (second, first)
        if pair not in self._known:
            x, y = (self.panel.scores[name].to_numpy() for name in pair)
            self._known[pair] = spearman_in_draws(x, y, self.weights)
        return self._known[pair]

    def pearson(self, first: str, second: str) -> np.ndarray:
        """Pearson's correlation of two columns of :attr:`Panel.scores`."""
        x, y = (self.panel.scores[name].to_numpy() for name in (first, second))
        x, y = x - x.mean(), y - y.mean()
        covariance, of_x, of_y = self._moment(x, y), self._moment(x, x), self._moment(y, y)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((of_x > 1e-12) & (of_y > 1e-12), covariance / np.sqrt(of_x * of_y), np.nan)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of a number per conversation."""
        return self.weights @ np.asarray(values, dtype=float) / self.weights.sum(axis=1)

    def deviation(self, values: np.ndarray) -> np.ndarray:
        """Standard deviation (divisor n - 1) of a number per conversation."""
        centred = np.asarray(values, dtype=float) - np.mean(values)
        n = self.weights.sum(axis=1)
        return np.sqrt(np.maximum(self._moment(centred, centred), 0) * n / (n - 1))

    def quantile(self, values: np.ndarray, share: float) -> np.ndarray:
        """Quantile of a number per conversation, linear between neighbours (numpy's default)."""
        order = np.argsort(values, kind="stable")
        ranked, upto = np.asarray(values, dtype=float)[order], np.cumsum(self.weights[:, order], axis=1)
        position = (upto[:, -1] - 1) * share
        low = ranked[(upto > np.floor(position)[:, None]).argmax(axis=1)]
        high = ranked[(upto > np.ceil(position)[:, None]).argmax(axis=1)]
        return low + (position - np.floor(position)) * (high - low)

    def alpha(self, items: np.ndarray) -> np.ndarray:
        """Cronbach's alpha of the columns of an array with one row per conversation."""
        count = items.shape[1]
        parts = sum(self.deviation(column) ** 2 for column in items.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            return count / (count - 1) * (1 - parts / self.deviation(items.sum(axis=1)) ** 2)

    def row(self, values: np.ndarray, unit: str, method: str, bootstrap: ConversationBootstrap | None = None) -> dict:
        """A row of estimates: the first value, and the percentile interval of the others."""
        bootstrap, conversations = bootstrap or self.bootstrap, self.panel.conversations
        estimate = Estimate(float(values[0]), *bootstrap.interval(values[1:], conversations))
        return bootstrap.row(estimate, n=len(conversations), unit=unit, method=method)

    def _moment(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Covariance with divisor n."""
        return self.mean(x * y) - self.mean(x) * self.mean(y)


def _table(rows: Mapping[str, dict], name: str) -> pd.DataFrame:
    """Table of estimates whose rows are called by their keys."""
    return estimate_table(rows, name, {key: key for key in rows})


def among_observers(resampled: Resampled) -> pd.DataFrame:
    r"""Spearman correlations of observers with each other.

    Three experts are compared without letting one agree with itself: each with the mean of the other two,

    .. math:: \bar\rho = \tfrac13 \sum_e \rho(x_e, \tfrac12 \sum_{f \neq e} x_f).

    Models and crowd are compared with the mean of the three experts, and every two models with each other.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``: rho from -1 to 1, its percentile interval, n conversations.

    Examples
    --------
    >>> people = panel()
    >>> table = among_observers(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(3)["whose_observers_agree"]
    np.float64(0.738)
    """
    rho, method = resampled.spearman, f"Spearman correlation; {_MEANS}"
    pairs = {
        "whose_expert1_with_others": rho("expert1", "without_expert1"),
        "whose_expert2_with_others": rho("expert2", "without_expert2"),
        "whose_expert3_with_others": rho("expert3", "without_expert3"),
        "whose_claude_with_experts": rho("claude", "experts"),
        "whose_gemini_with_experts": rho("gemini", "experts"),
        "whose_gpt_with_experts": rho("gpt", "experts"),
        "whose_crowd_with_experts": rho("crowd", "experts"),
        "whose_gpt_with_claude": rho("gpt", "claude"),
        "whose_gpt_with_gemini": rho("gpt", "gemini"),
        "whose_claude_with_gemini": rho("claude", "gemini"),
    }
    rows = {
        "whose_observers_agree": resampled.row(
            experts_agreement(resampled),
            _RHO,
            f"mean over three experts of the {method}, each with the other two's mean",
        ),
        "whose_models_agree": resampled.row(_models_agree(resampled), _RHO, f"mean over three pairs; {method}"),
        **{key: resampled.row(values, _RHO, method) for key, values in pairs.items()},
    }
    return _table(rows, "who with whom")


def experts_agreement(resampled: Resampled) -> np.ndarray:
    """Mean over three experts of the correlation of each with the mean of the other two: shape (1 + draws,).

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Examples
    --------
    >>> people = panel()
    >>> round(float(experts_agreement(Resampled(people, people.resampling(100, seed=1)))[0]), 3)
    0.738
    """
    return np.mean([resampled.spearman(expert, f"without_{expert}") for expert in EXPERTS], axis=0)


def _models_agree(resampled: Resampled) -> np.ndarray:
    pairs = ("gpt", "claude"), ("gpt", "gemini"), ("claude", "gemini")
    return np.mean([resampled.spearman(*pair) for pair in pairs], axis=0)


def _person_with_two(resampled: Resampled) -> np.ndarray:
    return np.mean([resampled.spearman(PERSON, f"without_{expert}") for expert in EXPERTS], axis=0)


def with_person(resampled: Resampled) -> pd.DataFrame:
    """Spearman correlations of observers with the person who was answered.

    The last row widens the interval of the observer with the largest correlation: it was chosen, after the fact, as
    the best of five (the experts' mean, the crowd, three models), so that each tail holds a fifth of the usual share
    (Bonferroni).

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``: rho from -1 to 1, its percentile interval, n conversations.

    Examples
    --------
    >>> people = panel()
    >>> table = with_person(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(3)[["whose_experts_with_person", "whose_gemini_with_person"]].tolist()
    [0.173, 0.32]
    """
    rho, method = resampled.spearman, f"Spearman correlation; {_MEANS}"
    pairs = {
        "whose_experts_with_person": rho("experts", PERSON),
        "whose_crowd_with_person": rho(CROWD, PERSON),
        "whose_gpt_with_person": rho("gpt", PERSON),
        "whose_claude_with_person": rho("claude", PERSON),
        "whose_gemini_with_person": rho("gemini", PERSON),
        "whose_models_with_person": rho("models", PERSON),
        "whose_expert1_with_person": rho("expert1", PERSON),
        "whose_expert2_with_person": rho("expert2", PERSON),
        "whose_expert3_with_person": rho("expert3", PERSON),
    }
    rows = {key: resampled.row(values, _RHO, method) for key, values in pairs.items()}
    rows["whose_two_experts_with_person"] = resampled.row(
        _person_with_two(resampled), _RHO, f"mean over the three pairs of experts; {method}"
    )
    wider = replace(resampled.bootstrap, confidence=1 - (1 - resampled.bootstrap.confidence) / _OBSERVERS)
    rows["whose_gemini_with_person_adjusted"] = resampled.row(
        rho("gemini", PERSON), _RHO, f"{method}; corrected for {_OBSERVERS} observers (Bonferroni)", wider
    )
    return _table(rows, "who with whom")


def every_pair(resampled: Resampled) -> pd.DataFrame:
    """Spearman correlations of every two raters, the person included.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates with the columns ``first`` and ``second`` (who the two are, the person last): rho from -1
        to 1, its percentile interval, n conversations.

    Examples
    --------
    >>> people = panel()
    >>> table = every_pair(Resampled(people, people.resampling(100, seed=1)))
    >>> len(table), table.index[0], table.index[-1]
    (28, 'Expert 1 with Expert 2', 'Gemini with The person')
    """
    method = f"Spearman correlation; {_MEANS}"
    pairs = {
        f"{RATER_NAMES[first]} with {RATER_NAMES[second]}": (first, second)
        for first, second in itertools.combinations(RATER_NAMES, 2)
    }
    rows = {row: resampled.row(resampled.spearman(*pair), _RHO, method) for row, pair in pairs.items()}
    first, second = zip(*([RATER_NAMES[rater] for rater in pair] for pair in pairs.values()), strict=True)
    return estimate_table(rows, "who with whom").assign(first=first, second=second)


def differences(resampled: Resampled) -> pd.DataFrame:
    r"""Agreement among observers minus agreement with the person, of the same conversations.

    The main difference is :math:`\bar\rho - \rho(\bar x, y)`: the mean correlation of an expert with the other two
    (:func:`among_observers`) minus that of the experts' mean :math:`\bar x` with the person y. It favors the person:
    the mean of three is steadier than the mean of two. ``whose_difference_same_target`` is free of that: the person
    takes the place of the expert who is left out. For the models, the best of the three with the person is subtracted,
    chosen again in every resample, which again favors the person.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``: difference of two rho, its percentile interval, n conversations.

    Examples
    --------
    >>> people = panel()
    >>> table = differences(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(2)["whose_difference"]
    np.float64(0.57)
    """
    rho = resampled.spearman
    best = np.max([rho(judge, PERSON) for judge in JUDGES], axis=0)
    values = {
        "whose_difference": experts_agreement(resampled) - rho("experts", PERSON),
        "whose_difference_same_target": experts_agreement(resampled) - _person_with_two(resampled),
        "whose_models_difference": _models_agree(resampled) - best,
        "whose_claude_difference": rho("claude", "experts") - rho("claude", PERSON),
        "whose_gemini_difference": rho("gemini", "experts") - rho("gemini", PERSON),
        "whose_gpt_difference": rho("gpt", "experts") - rho("gpt", PERSON),
        "whose_crowd_difference": rho(CROWD, "experts") - rho(CROWD, PERSON),
        "whose_models_minus_experts": rho("models", PERSON) - rho("experts", PERSON),
        "whose_crowd_minus_experts": rho(CROWD, PERSON) - rho("experts", PERSON),
    }
    method = f"difference of Spearman correlations in the same conversations; {_MEANS}"
    rows = {key: resampled.row(difference, _DIFFERENCE, method) for key, difference in values.items()}
    return _table(rows, "difference")


def levels(resampled: Resampled) -> pd.DataFrame:
    """Mean ratings of the person and of observers, and paired differences.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``: levels from 1 to 7, differences from -6 to 6; n conversations.

    Examples
    --------
    >>> people = panel()
    >>> table = levels(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(2)["whose_level_experts_minus_person"]
    np.float64(-2.17)
    """
    scores = resampled.panel.scores
    means = {
        "whose_level_self": scores[PERSON],
        "whose_level_crowd": scores[CROWD],
        "whose_level_experts": scores["experts"],
        "whose_level_models": scores["models"],
    }
    paired = {
        "whose_level_crowd_minus_person": scores[CROWD] - scores[PERSON],
        "whose_level_experts_minus_person": scores["experts"] - scores[PERSON],
        "whose_level_models_minus_person": scores["models"] - scores[PERSON],
    }
    rows = {
        key: resampled.row(resampled.mean(values), _LEVEL, "mean over conversations") for key, values in means.items()
    }
    unit, method = "level, difference", "mean paired difference over conversations"
    rows |= {key: resampled.row(resampled.mean(values), unit, method) for key, values in paired.items()}
    return _table(rows, "mean rating")


def by_question(resampled: Resampled) -> dict[str, pd.DataFrame]:
    """Agreement among experts, of experts with the person, and their difference for each question.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    dict of str to DataFrame
        ``observers`` (an expert with the mean of the other two, averaged), ``person`` (the experts' mean with the
        person) and ``difference`` -> a table of estimates with one row per question.

    Examples
    --------
    >>> people = panel()
    >>> tables = by_question(Resampled(people, people.resampling(100, seed=1)))
    >>> int((tables["difference"]["estimate"] > 0).sum())
    6
    """
    method = "Spearman correlation of the ratings of one question"
    rows: dict[str, dict] = {"observers": {}, "person": {}, "difference": {}}
    for question in resampled.panel.questions:
        one = resampled.of(resampled.panel.only(question))
        observers, person = experts_agreement(one), one.spearman("experts", PERSON)
        values = {
            "observers": (observers, _RHO, f"{method}; mean over three experts, each with the others"),
            "person": (person, _RHO, f"{method}; experts' mean with the person"),
            "difference": (observers - person, _DIFFERENCE, f"{method}; difference"),
        }
        keys = {
            "observers": f"whose_observers_on_{question}",
            "person": f"whose_person_on_{question}",
            "difference": f"whose_difference_on_{question}",
        }
        for name, parts in values.items():
            rows[name][question] = one.row(*parts) | {"key": keys[name]}
    return {name: estimate_table(table, "question") for name, table in rows.items()}


def other_definitions(resampled: Resampled) -> pd.DataFrame:
    r"""The main difference under other defensible definitions, each departing in one choice.

    The label of the answer (AI or human), which the person was shown and which is not part of the text, is held
    constant by the partial rank correlation
    :math:`(\rho_{xy} - \rho_{xz} \rho_{yz}) / \sqrt{(1 - \rho_{xz}^2)(1 - \rho_{yz}^2)}`, z the label.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``DEFINITIONS``: difference of two correlations, its percentile interval, n.

    Examples
    --------
    >>> people = panel()
    >>> table = other_definitions(Resampled(people, people.resampling(100, seed=1)))
    >>> bool((table["estimate"] > 0.4).all())
    True
    """
    rho, r = resampled.spearman, resampled.pearson
    agree = experts_agreement(resampled)
    pairs = [("expert1", "expert2"), ("expert1", "expert3"), ("expert2", "expert3")]
    single = np.mean([rho(*pair) for pair in pairs], axis=0) - np.mean([rho(one, PERSON) for one in EXPERTS], axis=0)
    linear = np.mean([r(expert, f"without_{expert}") for expert in EXPERTS], axis=0) - r("experts", PERSON)
    values = {
        "whose_difference_single_experts": single,
        "whose_difference_median": agree - rho("median", PERSON),
        "whose_difference_pearson": linear,
        "whose_difference_label": agree - _partial_on_label(resampled),
    }
    rows = {key: resampled.row(difference, _DIFFERENCE, DEFINITIONS[key]) for key, difference in values.items()}
    fewer, key = _below_highest(resampled), "whose_difference_below_highest"
    rows[key] = fewer.row(experts_agreement(fewer) - fewer.spearman("experts", PERSON), _DIFFERENCE, DEFINITIONS[key])
    return _table(rows, "definition")


def _partial_on_label(resampled: Resampled) -> np.ndarray:
    """Rank correlation of the experts' mean and the person, the label of the answer held constant."""
    scores, said = resampled.panel.scores, (resampled.panel.label == "ai").to_numpy(dtype=float)
    experts, person = (
        spearman_in_draws(scores[name].to_numpy(), said, resampled.weights) for name in ("experts", PERSON)
    )
    rho = resampled.spearman("experts", PERSON)
    return (rho - experts * person) / np.sqrt((1 - experts**2) * (1 - person**2))


def _below_highest(resampled: Resampled) -> Resampled:
    """Conversations of people who did not give the highest rating to all questions, with resamples of their own."""
    people, bootstrap = resampled.panel, resampled.bootstrap
    kept = (people.items[PERSON] < people.items[PERSON].to_numpy().max()).any(axis=1)
    below = Panel(people.items[kept], people.label[kept], people.response[kept])
    return Resampled(below, below.resampling(bootstrap.draws, bootstrap.seed, bootstrap.confidence))


def noise(resampled: Resampled) -> pd.DataFrame:
    r"""Reliability of the scores, and the correlation with the person corrected for attenuation.

    Spearman's (1904) correction for attenuation, :math:`\rho_c = \rho / \sqrt{\alpha_y \alpha_{\bar x}}`, with
    :math:`\alpha_y` Cronbach's alpha of the person's six questions and :math:`\alpha_{\bar x}` that of the three
    experts' scores as items: the reliability of their mean, equal to the Spearman-Brown formula from the mean
    reliability of one expert. Turned around, :math:`\max(\rho, 0)^2 / \alpha_{\bar x}` is the reliability of the
    person's mean at which the corrected correlation would be one: how noisy the person would have to be if noise were
    the only reason.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``; alphas with the t interval on the scale log(1 - alpha)
        (:func:`sense7.estimators.alpha.alpha_row`), the others with percentile intervals in which the
        reliabilities are estimated again in every resample.

    Notes
    -----
    The correction was derived for Pearson's correlation and is an approximation for ranks. Alpha treats as reliable
    all that the six answers of one moment share, a passing mood included.

    References
    ----------
    Spearman, C. (1904). The proof and measurement of association between two things. American Journal of Psychology 15,
    72-101.

    Examples
    --------
    >>> people = panel()
    >>> table = noise(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(3).tolist()
    [0.959, 0.861, 0.19, 0.035]
    """
    people = resampled.panel
    by_question, by_expert = people.items[PERSON], people.scores[list(EXPERTS)]
    of_person, of_experts = (resampled.alpha(items.to_numpy()) for items in (by_question, by_expert))
    rho = resampled.spearman("experts", PERSON)
    with np.errstate(invalid="ignore", divide="ignore"):
        corrected = rho / np.sqrt(np.where((of_person > 0) & (of_experts > 0), of_person * of_experts, np.nan))
        needed = np.maximum(rho, 0) ** 2 / np.where(of_experts > 0, of_experts, np.nan)
    rows = {
        "whose_reliability_person": alpha_row(by_question, resampled.bootstrap),
        "whose_reliability_experts": alpha_row(by_expert, resampled.bootstrap),
        "whose_experts_with_person_corrected": resampled.row(
            corrected, _RHO, "Spearman correlation by the root of the product of the two alphas"
        ),
        "whose_reliability_needed": resampled.row(
            needed,
            "alpha",
            "square of the Spearman correlation, where it is positive, by the alpha of the experts' mean",
        ),
    }
    return _table(rows, "reliability")


def spread(resampled: Resampled) -> pd.DataFrame:
    r"""Spread of the scores between conversations, and the correlation corrected for restriction of range.

    Thorndike's (1949) correction for restriction of range: if the person's score varied u times as much,

    .. math:: \rho_u = \frac{u \rho}{\sqrt{1 - \rho^2 + u^2 \rho^2}}.

    u is the ratio of the distance between the quartiles, experts' mean by person, where it is larger than the ratio of
    the standard deviations: the choice that favors the person more.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates, keys as in ``TITLES``: spreads in levels, ratios, correlations; n conversations.

    Notes
    -----
    The correction was derived for Pearson's correlation, and takes the relation as linear beyond the range that was
    seen; it is an approximation here.

    References
    ----------
    Thorndike, R. L. (1949). Personnel selection: Test and measurement techniques. Wiley.

    Examples
    --------
    >>> people = panel()
    >>> table = spread(Resampled(people, people.resampling(100, seed=1)))
    >>> table["estimate"].round(2)[["whose_spread_person", "whose_spread_experts"]].tolist()
    [1.33, 1.27]
    """
    person, experts = (resampled.panel.scores[name].to_numpy() for name in (PERSON, "experts"))
    deviations = [resampled.deviation(values) for values in (person, experts)]
    quartiles = [resampled.quantile(values, 0.75) - resampled.quantile(values, 0.25) for values in (person, experts)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [
            np.where(of_person > 1e-9, of_experts / of_person, np.nan)
            for of_person, of_experts in (deviations, quartiles)
        ]
    u, rho = np.maximum(*ratios), resampled.spearman("experts", PERSON)
    wider = u * rho / np.sqrt(1 - rho**2 + (u * rho) ** 2)
    measures = {
        "whose_spread_person": (deviations[0], "level, standard deviation", "standard deviation over conversations"),
        "whose_spread_experts": (deviations[1], "level, standard deviation", "standard deviation over conversations"),
        "whose_spread_ratio": (ratios[0], "ratio", "ratio of standard deviations"),
        "whose_quartiles_person": (quartiles[0], "level, difference", "third minus first quartile over conversations"),
        "whose_quartiles_experts": (quartiles[1], "level, difference", "third minus first quartile over conversations"),
        "whose_quartiles_ratio": (ratios[1], "ratio", "ratio of distances between quartiles"),
        "whose_experts_with_person_spread": (wider, _RHO, "Thorndike's correction, larger of the two ratios"),
        "whose_difference_spread": (
            experts_agreement(resampled) - wider,
            _DIFFERENCE,
            "difference to the corrected one",
        ),
    }
    return _table({key: resampled.row(*parts) for key, parts in measures.items()}, "spread")


def spearman_interval(rho: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Approximate interval of Spearman's correlation from its value and n alone, for planning.

    .. math:: \tanh\left(\operatorname{artanh} \rho \pm z \sqrt{(1 + \rho^2 / 2) / (n - 3)}\right)

    Parameters
    ----------
    rho : float
        Between -1 and 1, both excluded.
    n : int
        Pairs, at least four.
    confidence : float
        Between 0 and 1, both excluded.

    Returns
    -------
    low, high : float

    Raises
    ------
    UserError
        If an argument is out of its range.

    References
    ----------
    Bonett, D. G., & Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika 65, 23-28.

    Examples
    --------
    >>> low, high = spearman_interval(0.0, 50)
    >>> round(low, 3), round(high, 3)
    (-0.278, 0.278)
    """
    if not (-1 < rho < 1 and n >= 4 and 0 < confidence < 1):
        raise UserError(
            "spearman_interval wants rho between -1 and 1, n from 4 and a confidence between 0 and 1; "
            f"got {rho:g}, {n:g} and {confidence:g}."
        )
    reach = float(ndtri((1 + confidence) / 2)) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    return float(np.tanh(np.arctanh(rho) - reach)), float(np.tanh(np.arctanh(rho) + reach))


def smallest_settled(n: int, confidence: float = 0.95) -> float:
    """The smallest Spearman correlation whose interval (:func:`spearman_interval`) lies above zero.

    Parameters
    ----------
    n : int
        Pairs, at least ten.
    confidence : float
        Between 0.5 and 0.999.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    UserError
        If n is below ten: the approximation is of no use there.

    Examples
    --------
    >>> round(smallest_settled(50), 3)
    0.284
    """
    if n < 10:
        raise UserError(f"smallest_settled wants n from 10; got {n:g}.")
    return float(brentq(lambda rho: spearman_interval(rho, n, confidence)[0], 0.0, 0.999))


def people_needed(rho: float, confidence: float = 0.95) -> int:
    """The smallest n at which the interval of a Spearman correlation (:func:`spearman_interval`) lies above zero.

    Parameters
    ----------
    rho : float
        Above 0 and below 1.
    confidence : float
        Between 0 and 1, both excluded.

    Returns
    -------
    int
        From four; with so many, an estimate of exactly rho is distinguished from zero, and an estimate below it is not.

    Raises
    ------
    UserError
        If rho is not between 0 and 1.

    Examples
    --------
    >>> people_needed(0.3), people_needed(0.1)
    (45, 387)
    """
    if not 0 < rho < 1:
        raise UserError(f"people_needed wants rho between 0 and 1; got {rho:g}.")
    z = float(ndtri((1 + confidence) / 2))
    n = max(4, int(np.floor(3 + (z / np.arctanh(rho)) ** 2 * (1 + rho**2 / 2))))
    while spearman_interval(rho, n, confidence)[0] <= 0:
        n += 1
    return n


def precision(resampled: Resampled) -> pd.DataFrame:
    """Precision that the number of conversations allows.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.

    Returns
    -------
    DataFrame
        A table of estimates without intervals: ``whose_half_width`` (of the interval of a correlation of zero),
        ``whose_smallest_settled`` (correlation), and ``whose_people_needed`` (people for a correlation as small as that
        of the experts' mean with the person; without an estimate if that is not positive).

    Examples
    --------
    >>> people = panel()
    >>> precision(Resampled(people, people.resampling(100, seed=1)))["estimate"].round(3).tolist()
    [0.278, 0.284, 132.0]
    """
    n, confidence = len(resampled.panel.conversations), resampled.bootstrap.confidence
    method = f"{confidence:.0%} interval by Bonett and Wright (2000)"
    rho = float(resampled.spearman("experts", PERSON)[0])
    needed = {"n": n, "unit": "people", "method": method}
    rows = {
        "whose_half_width": estimate_row(spearman_interval(0.0, n, confidence)[1], n=n, unit=_RHO, method=method),
        "whose_smallest_settled": estimate_row(smallest_settled(n, confidence), n=n, unit=_RHO, method=method),
        "whose_people_needed": estimate_row(people_needed(rho, confidence), **needed)
        if 0 < rho < 1
        else estimate_row(**needed, reason="the correlation is not positive"),
    }
    return _table(rows, "precision")


def facts(resampled: Resampled, tables: Mapping[str, pd.DataFrame]) -> list[dict]:
    """What the page says in words and counts, as arguments of ``Recorder.value``.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.
    tables : mapping of str to DataFrame
        ``differences``, ``questions`` (the difference by question), ``definitions`` and ``spread``: tables of estimates
        of this module.

    Returns
    -------
    list of dict
        ``whose_models`` (names), ``whose_people``, ``whose_answers_by_people`` and ``whose_answers_labeled_ai``
        (counts), ``whose_highest_everywhere`` (people who gave the highest rating to all questions),
        ``whose_questions_settled`` (questions whose difference has an interval above zero),
        ``whose_definitions_settled`` (the same of other definitions), ``whose_verdict`` (in words, of the main
        difference), ``whose_verdict_spread`` (in words, of the difference at a wider spread).

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(100, seed=1))
    >>> tables = {"differences": differences(resampled), "questions": by_question(resampled)["difference"]}
    >>> tables |= {"definitions": other_definitions(resampled), "spread": spread(resampled)}
    >>> rows = {row["key"]: row["estimate"] for row in facts(resampled, tables)}
    >>> rows["whose_verdict"], rows["whose_answers_by_people"]
    ('seen in these data', 50)
    """
    people = resampled.panel
    n, own = len(people.conversations), people.items[PERSON]
    highest = (own == own.to_numpy().max()).all(axis=1)
    asked, definitions = tables["questions"]["low"] > 0, tables["definitions"]["low"] > 0
    main, wider = tables["differences"].loc["whose_difference"], tables["spread"].loc["whose_difference_spread"]
    above, interval = "interval above zero", "whether the interval of the difference lies above zero"
    rows = [
        ("whose_models", ", ".join(JUDGES.values()), len(JUDGES), "models", "as published"),
        ("whose_people", n, n, "people", "conversations with ratings by the person who was answered"),
        (
            "whose_answers_by_people",
            int((people.response == "human").sum()),
            n,
            "conversations",
            "answered by a person",
        ),
        ("whose_answers_labeled_ai", int((people.label == "ai").sum()), n, "conversations", "labeled as by an AI"),
        ("whose_highest_everywhere", int(highest.sum()), n, "people", "highest rating each time"),
        ("whose_questions_settled", int(asked.sum()), len(asked), "questions", above),
        ("whose_definitions_settled", int(definitions.sum()), len(definitions), "definitions", above),
        ("whose_verdict", verdict(main["low"], main["high"]), int(main["n"]), "verdict", interval),
        ("whose_verdict_spread", verdict(wider["low"], wider["high"]), int(wider["n"]), "verdict", interval),
    ]
    return [dict(zip(("key", "estimate", "n", "unit", "method"), row, strict=True)) for row in rows]


def verdict(low: float, high: float) -> str:
    """Verdict of the interval of a difference, in words.

    Parameters
    ----------
    low, high : float
        The interval; NaN if there is none.

    Returns
    -------
    str
        ``SEEN`` if it lies above zero, ``OPPOSITE`` if below, otherwise ``NOT_SETTLED``.

    Examples
    --------
    >>> verdict(0.2, 0.9), verdict(-0.1, 0.9), verdict(float("nan"), float("nan"))
    ('seen in these data', 'not settled by these data', 'not settled by these data')
    """
    return SEEN if low > 0 else OPPOSITE if high < 0 else NOT_SETTLED


def statements(*tables: pd.DataFrame) -> pd.DataFrame:
    """Statements that these data settle, since zero lies outside the interval, and those that they do not.

    Parameters
    ----------
    *tables : DataFrame
        Tables of estimates of this module that together hold the keys of ``STATEMENTS``.

    Returns
    -------
    DataFrame
        One row per statement: ``settled`` (yes or no), and ``estimate, interval``, the number that it rests on, in
        words; settled ones first.

    Raises
    ------
    UserError
        If a key is in none of the tables.

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(1000, seed=1))
    >>> table = statements(differences(resampled), with_person(resampled), levels(resampled))
    >>> table["settled"].iloc[[0, -1]].tolist()
    ['yes', 'no']
    """
    known = pd.concat(tables) if tables else pd.DataFrame(index=pd.Index([]))
    if lacking := [key for key in STATEMENTS if key not in known.index]:
        raise UserError(f"statements wants tables that hold {', '.join(STATEMENTS)}; these lack {', '.join(lacking)}.")
    rows = {}
    for key, words in STATEMENTS.items():
        row = known.loc[key]
        settled = verdict(row["low"], row["high"]) != NOT_SETTLED
        rows[words] = {"settled": "yes" if settled else "no", "estimate, interval": _in_brackets(row)}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("statement")
    return frame.sort_values("settled", ascending=False, kind="stable")


def _in_brackets(row: pd.Series) -> str:
    if not np.isfinite(row["low"]):
        return row["reason"]
    return f"{row['estimate']:z.2f} [{row['low']:z.2f}, {row['high']:z.2f}]"


def main_groups(observers: pd.DataFrame, person: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Agreement among observers, and of the same observers with the person, for the page's main figure.

    Parameters
    ----------
    observers, person : DataFrame
        As :func:`among_observers` and :func:`with_person` return them.

    Returns
    -------
    dict of str to DataFrame
        Heading -> table of estimates with names for readers, two of them.

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(100, seed=1))
    >>> groups = main_groups(among_observers(resampled), with_person(resampled))
    >>> {heading: len(table) for heading, table in groups.items()}
    {'Observers with each other': 6, 'Observers with the person': 5}
    """
    return {
        "Observers with each other": with_row_labels(observers.loc[list(_UPPER)]),
        "Observers with the person": with_row_labels(person.loc[list(_LOWER)]),
    }


def definition_groups(differences: pd.DataFrame, definitions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The main difference and the same under other definitions, for the page's figure of definitions.

    Parameters
    ----------
    differences, definitions : DataFrame
        As :func:`differences` and :func:`other_definitions` return them.

    Returns
    -------
    dict of str to DataFrame
        Heading -> table of estimates with names for readers.

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(100, seed=1))
    >>> groups = definition_groups(differences(resampled), other_definitions(resampled))
    >>> {heading: len(table) for heading, table in groups.items()}
    {'Main definition': 1, 'Same targets for person and expert': 1, 'One choice changed': 5}
    """
    return {
        "Main definition": with_row_labels(differences.loc[["whose_difference"]]),
        "Same targets for person and expert": with_row_labels(differences.loc[["whose_difference_same_target"]]),
        "One choice changed": with_row_labels(definitions),
    }


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """A table of this module whose rows have names for readers.

    Parameters
    ----------
    table : DataFrame
        Of this module.

    Examples
    --------
    >>> with_row_labels(pd.DataFrame({"n": [50, 50]}, index=["whose_level_self", "caredfor"])).index.tolist()
    ['The person', 'cared for']
    """
    return table.rename(index=TITLES | DEFINITIONS | FEELING_NAMES)


check_arguments(globals())
