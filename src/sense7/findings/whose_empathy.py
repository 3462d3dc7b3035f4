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

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ConversationBootstrap
from sense7.estimators.estimates import Estimate, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.sources.released import CROWD, EXPERTS, FEELINGS, JUDGES, PERSON, RELEASED, felt_heard, judged_conversations

__all__ = [
    "CREDIT",
    "TITLES",
    "Panel",
    "Resampled",
    "among_observers",
    "differences",
    "facts",
    "levels",
    "main_groups",
    "noise",
    "panel",
    "spread",
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

SEEN, NOT_SETTLED, OPPOSITE = "seen in these data", "not settled by these data", "the opposite is seen in these data"
"""What an interval says: all of it above zero, zero inside it, all of it below zero."""

TITLES = {
    "whose_observers_agree": "One expert with the other two",
    "whose_claude_with_experts": "Claude 3.7 Sonnet with the experts",
    "whose_gemini_with_experts": "Gemini 2.5 Pro with the experts",
    "whose_gpt_with_experts": "GPT-4o with the experts",
    "whose_crowd_with_experts": "Crowd with the experts",
    "whose_models_agree": "Two models with each other",
    "whose_experts_with_person": "Experts' mean with the person",
    "whose_crowd_with_person": "Crowd with the person",
    "whose_gpt_with_person": "GPT-4o with the person",
    "whose_claude_with_person": "Claude 3.7 Sonnet with the person",
    "whose_gemini_with_person": "Gemini 2.5 Pro with the person",
    "whose_models_with_person": "The three models' mean with the person",
    "whose_difference": "Experts: with each other, minus with the person",
    "whose_difference_same_target": "Experts: the person in the place of one expert",
    "whose_models_difference": "Models: with each other, minus the best of them with the person",
    "whose_claude_difference": "Claude 3.7 Sonnet: with the experts, minus with the person",
    "whose_level_self": "The person",
    "whose_level_crowd": "Crowd",
    "whose_level_experts": "Experts",
    "whose_level_models": "Models",
    "whose_level_experts_minus_person": "Experts minus the person",
    "whose_reliability_person": "The person's mean of six questions: alpha",
    "whose_reliability_experts": "The mean of three experts: alpha over experts",
    "whose_experts_with_person_corrected": "Experts' mean with the person, corrected for both",
    "whose_experts_with_person_spread": "Experts' mean with the person, if the person varied so much more",
    "whose_difference_spread": "Experts: with each other, minus with the person at that spread",
}
"""Key of a value -> its name for readers."""

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

    def spearman(self, first: str, second: str) -> np.ndarray:
        """Spearman's rank correlation of two columns of :attr:`Panel.scores`, ties at their mean rank."""
        pair = (first, second) if first < second else (second, first)
        if pair not in self._known:
            x, y = (self.panel.scores[name].to_numpy() for name in pair)
            self._known[pair] = spearman_in_draws(x, y, self.weights)
        return self._known[pair]

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
        "whose_claude_with_experts": rho("claude", "experts"),
        "whose_gemini_with_experts": rho("gemini", "experts"),
        "whose_gpt_with_experts": rho("gpt", "experts"),
        "whose_crowd_with_experts": rho("crowd", "experts"),
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
    }
    rows = {key: resampled.row(values, _RHO, method) for key, values in pairs.items()}
    return _table(rows, "who with whom")


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
        "whose_level_experts_minus_person": scores["experts"] - scores[PERSON],
    }
    rows = {
        key: resampled.row(resampled.mean(values), _LEVEL, "mean over conversations") for key, values in means.items()
    }
    unit, method = "level, difference", "mean paired difference over conversations"
    rows |= {key: resampled.row(resampled.mean(values), unit, method) for key, values in paired.items()}
    return _table(rows, "mean rating")


def noise(resampled: Resampled) -> pd.DataFrame:
    r"""Reliability of the scores, and the correlation with the person corrected for attenuation.

    Spearman's (1904) correction for attenuation, :math:`\rho_c = \rho / \sqrt{\alpha_y \alpha_{\bar x}}`, with
    :math:`\alpha_y` Cronbach's alpha of the person's six questions and :math:`\alpha_{\bar x}` that of the three
    experts' scores as items: the reliability of their mean, equal to the Spearman-Brown formula from the mean
    reliability of one expert.

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
    [0.959, 0.861, 0.19]
    """
    people = resampled.panel
    by_question, by_expert = people.items[PERSON], people.scores[list(EXPERTS)]
    of_person, of_experts = (resampled.alpha(items.to_numpy()) for items in (by_question, by_expert))
    rho = resampled.spearman("experts", PERSON)
    with np.errstate(invalid="ignore", divide="ignore"):
        corrected = rho / np.sqrt(np.where((of_person > 0) & (of_experts > 0), of_person * of_experts, np.nan))
    rows = {
        "whose_reliability_person": alpha_row(by_question, resampled.bootstrap),
        "whose_reliability_experts": alpha_row(by_expert, resampled.bootstrap),
        "whose_experts_with_person_corrected": resampled.row(
            corrected, _RHO, "Spearman correlation by the root of the product of the two alphas"
        ),
    }
    return _table(rows, "reliability")


def spread(resampled: Resampled) -> pd.DataFrame:
    r"""The main difference if the person's scores had varied more: correction for restriction of range.

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
        A table of estimates, keys as in ``TITLES``: correlations and their difference; n conversations.

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
    >>> bool((table["estimate"] > 0).all())
    True
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
        "whose_experts_with_person_spread": (wider, _RHO, "Thorndike's correction, larger of the two ratios"),
        "whose_difference_spread": (
            experts_agreement(resampled) - wider,
            _DIFFERENCE,
            "difference to the corrected one",
        ),
    }
    return _table({key: resampled.row(*parts) for key, parts in measures.items()}, "spread")


def facts(resampled: Resampled, differences: pd.DataFrame, spread: pd.DataFrame) -> list[dict]:
    """What the page says in words and counts, as arguments of ``Recorder.value``.

    Parameters
    ----------
    resampled : Resampled
        Of the panel.
    differences, spread : DataFrame
        As :func:`differences` and :func:`spread` return them.

    Returns
    -------
    list of dict
        ``whose_models`` (names), ``whose_people``, ``whose_answers_by_people`` and ``whose_answers_labeled_ai``
        (counts), ``whose_verdict`` (in words, of the main difference), ``whose_verdict_spread`` (in words, of the
        difference at a wider spread).

    Examples
    --------
    >>> people = panel()
    >>> resampled = Resampled(people, people.resampling(100, seed=1))
    >>> rows = {row["key"]: row["estimate"] for row in facts(resampled, differences(resampled), spread(resampled))}
    >>> rows["whose_verdict"], rows["whose_answers_by_people"]
    ('seen in these data', 50)
    """
    people = resampled.panel
    n = len(people.conversations)
    main, wider = differences.loc["whose_difference"], spread.loc["whose_difference_spread"]
    interval = "whether the interval of the difference lies above zero"
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


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """A table of this module whose rows have names for readers.

    Parameters
    ----------
    table : DataFrame
        Of this module.

    Examples
    --------
    >>> with_row_labels(pd.DataFrame({"n": [50, 50]}, index=["whose_level_self", "whose_level_crowd"])).index.tolist()
    ['The person', 'Crowd']
    """
    return table.rename(index=TITLES)


check_arguments(globals())
