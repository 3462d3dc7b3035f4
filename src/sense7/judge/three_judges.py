"""Three language models as judges of 200 conversations, beside three experts and a crowd."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.alternative_annotator import alternative_test, benjamini_yekutieli, winning_rate, wins
from sense7.estimators.bootstrap import ConversationBootstrap, resampled_p
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, holm
from sense7.estimators.ranks import spearman_in_draws, spearmans_in_draws
from sense7.estimators.rater_agreement import STEPS, quadratic_kappa
from sense7.judge.comparison import agreement_sums, krippendorff_alpha
from sense7.judge.metrics import label_metrics
from sense7.sources.converters import QUESTIONS as STAND_INS
from sense7.sources.released import (
    CORPORA,
    CROWD,
    EXPERTS,
    JUDGES,
    PERSON,
    RELEASED,
    judged_conversations,
    published_agreement,
)

__all__ = [
    "ACKNOWLEDGEMENT",
    "ALL",
    "DIFFERENCES",
    "EPSILON",
    "LEFT_OUT_DIFFERENCES",
    "MEASURES",
    "RATERS",
    "TITLES",
    "ByQuestion",
    "CorpusBootstrap",
    "against_experts",
    "against_the_left_out_expert",
    "against_the_person",
    "agreement_among_models",
    "agreement_table",
    "agreement_with_experts",
    "beside_each_other",
    "counts",
    "expert_and_model_kappas",
    "jury_gains",
    "label_evaluation",
    "largest_differences",
    "level_against_experts",
    "model_differences",
    "nearness",
    "passed",
    "published_values",
    "questions",
    "ratings",
    "reproduced",
    "sizes",
    "standings",
    "with_jury",
    "with_row_labels",
]

ACKNOWLEDGEMENT = RELEASED["judged_conversations"].acknowledgement
"""Whom to credit for the ratings, and under which licence they are."""

MEASURES = {"spearman": "Spearman", "kappa": "kappa"}
"""What the authors published of every question and pair of raters: column -> name for readers."""

ALL = "all"
"""Row with the mean over all questions of the four corpora."""

EXPERT = "expert"
"""The expert who is left out, where experts and judges are compared with the same two experts."""

RATERS = (*JUDGES, CROWD)
"""Who is compared with the experts."""

_REPRODUCED = {
    ("empatheticdialogues", "spearman"): "kumar_spearman_empatheticdialogues",
    ("epitome", "spearman"): "kumar_spearman_epitome",
    ("lend_an_ear", "spearman"): "kumar_spearman_lend_an_ear",
    ("perceived_empathy", "spearman"): "kumar_spearman_perceived_empathy",
    ("empatheticdialogues", "kappa"): "kumar_kappa_empatheticdialogues",
    ("epitome", "kappa"): "kumar_kappa_epitome",
    ("lend_an_ear", "kappa"): "kumar_kappa_lend_an_ear",
    ("perceived_empathy", "kappa"): "kumar_kappa_perceived_empathy",
}
"""Corpus and measure -> key under which the number of reproduced values is recorded."""

DIFFERENCES = (("gpt", "claude"), ("gpt", "gemini"), ("claude", "gemini"))
"""The pairs of judges."""

LEFT_OUT_DIFFERENCES = tuple((judge, EXPERT) for judge in JUDGES)
"""Each judge and the expert who is left out."""

_NAMES = {
    **{expert: f"{expert[:-1]} {expert[-1]}" for expert in EXPERTS},
    **JUDGES,
    "experts": "experts (median)",
    "llm": JUDGES["gemini"],
    CROWD: "crowd",
    EXPERT: "expert left out",
}

_SHORT = _NAMES | {
    **{judge: model.partition(" ")[0] for judge, model in JUDGES.items()},
    "experts": "experts",
    "llm": "Gemini",
    EXPERT: "expert",
}

TITLES = {
    **_NAMES,
    **CORPORA,
    ALL: "all questions",
    **{f"{a}_minus_{b}": f"{_NAMES[a]} minus {_NAMES[b]}" for a, b in (*DIFFERENCES, *LEFT_OUT_DIFFERENCES)},
    "kumar_expert_expert_kappa": "two experts",
    "kumar_expert_llm_kappa": f"experts (median) and {JUDGES['gemini']}",
}
"""Row or table of this module -> name for readers."""

_LEFT_OUT = {"spearman": "left_out", "error": "error"}
"""Measure of :func:`against_the_left_out_expert` -> part of its keys."""

_RHO = "Spearman's rho"
_RANGE = "share of the scale's range"
_VALUES = "published values"
_LEND_AN_EAR = "lend_an_ear"


def ratings() -> pd.DataFrame:
    """Return the ratings of the 200 conversations, with the authors' two derived raters.

    Returns
    -------
    DataFrame
        As :func:`sense7.sources.released.judged_conversations`, one row per conversation and question (1,050), and
        two columns more, by the authors' conventions: experts (median of the three experts) and llm (Gemini 2.5 Pro
        alone; the other two models do not enter).

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> judged = ratings()
    >>> judged[["conversation", "corpus"]].drop_duplicates()["corpus"].value_counts().unique().tolist()
    [50]
    >>> judged.drop_duplicates(["corpus", "question"]).shape[0]
    21
    """
    judged = judged_conversations()
    return judged.assign(experts=judged[list(EXPERTS)].median(axis=1), llm=judged["gemini"])


def counts(judged: pd.DataFrame) -> list[dict]:
    """Return how much was rated, and by which models.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.

    Returns
    -------
    list of dict
        Numbers of conversations and questions and the names of the models: key, estimate, n, unit and method, as
        ``Recorder.value`` takes them.

    Examples
    --------
    >>> {row["key"]: row["n"] for row in counts(ratings())}["three_judges_questions"]
    21
    """
    conversations = int(judged["conversation"].nunique())
    asked = len(judged.drop_duplicates(["corpus", "question"]))
    of = "in the released ratings"
    return [
        {
            "key": "three_judges_conversations",
            "estimate": conversations,
            "n": conversations,
            "unit": "conversations",
            "method": f"rated by all seven raters {of}",
        },
        {
            "key": "three_judges_questions",
            "estimate": asked,
            "n": asked,
            "unit": "questions",
            "method": f"over the four corpora {of}",
        },
        {
            "key": "three_judges_models",
            "estimate": ", ".join(JUDGES.values()),
            "n": len(JUDGES),
            "unit": "models",
            "method": f"as named {of}",
        },
    ]


def sizes(judged: pd.DataFrame) -> str:
    """Return in words how many conversations there are, for captions.

    Examples
    --------
    >>> sizes(ratings())
    'n = 50 conversations in each corpus, 200 conversations in all'
    """
    numbers = sorted(set(judged.groupby("corpus")["conversation"].nunique()))
    each = " or ".join(f"{number:,}" for number in numbers)
    return f"n = {each} conversations in each corpus, {judged['conversation'].nunique():,} conversations in all"


def questions(judged: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the questions of each corpus: name of the corpus -> row of a table by question -> words for readers.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.

    Examples
    --------
    >>> questions(ratings())["EPITOME"]["epitome_emotional_reactions"]
    'emotional reactions'
    """
    by_corpus = {}
    for corpus, name in CORPORA.items():
        asked = judged.loc[judged["corpus"] == corpus, "question"].unique()
        by_corpus[name] = {f"{corpus}_{question}": _question(question) for question in asked}
    return by_corpus


# The published values ---------------------------------------------------------------------------


def agreement_table(judged: pd.DataFrame) -> pd.DataFrame:
    r"""Return every published agreement of two raters beside the one that is computed here.

    Spearman's correlation has ties at their mean rank. Kappa is Cohen's, with quadratic weights, once as the authors
    computed it, between the values that occur in either series (rounded to two decimals), and once by steps of the
    scale, where the disagreement of two ratings is the square of their numeric distance; crowd means and the halves
    of a median stay as they are. See :func:`sense7.estimators.rater_agreement.quadratic_kappa`.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.

    Returns
    -------
    DataFrame
        One row per question and pair of raters (126): corpus, question, first, second; spearman_published and
        spearman, kappa_published, kappa (between values that occur) and kappa_scale (by steps of the scale); n, the
        number of conversations.

    References
    ----------
    Kumar and others (2025): ``annotations/all_annotator_pairs_spearman_kappa.csv`` of their repository.

    Notes
    -----
    Checked against scipy.stats.spearmanr and sklearn.metrics.cohen_kappa_score(weights="quadratic") to 1e-12.

    Examples
    --------
    >>> table = agreement_table(ratings()).set_index(["question", "first", "second"])
    >>> row = table.loc[("validating_emotions", "expert1", "expert2")]
    >>> row[["spearman_published", "spearman", "kappa_published", "kappa"]].astype(float).round(3).tolist()
    [0.48, 0.477, 0.25, 0.248]
    """
    groups = dict(iter(judged.groupby(["corpus", "question"], sort=False)))
    rows = []
    for row in published_agreement().itertuples(index=False):
        group = groups[row.corpus, row.question]
        first, second = group[row.first].to_numpy(), group[row.second].to_numpy()
        rows.append(
            {
                "corpus": row.corpus,
                "question": row.question,
                "first": row.first,
                "second": row.second,
                "spearman_published": row.spearman,
                "spearman": float(spearman_in_draws(first, second, _once(first))[0]),
                "kappa_published": row.kappa,
                "kappa": float(quadratic_kappa(first, second, steps="occurring")),
                "kappa_scale": float(quadratic_kappa(first, second, steps="scale")),
                "n": len(group),
            }
        )
    return pd.DataFrame(rows)


def published_values() -> pd.DataFrame:
    """Return the 252 published values one by one, each with the computed one and whether it is reproduced.

    A value is reproduced if the computed one, rounded to two decimals, is the published one: the two are compared in
    whole hundredths, without any tolerance.

    Returns
    -------
    DataFrame
        One row per published value (252): corpus, question, first, second, measure (``spearman`` or ``kappa``),
        published (two decimals), computed (not rounded) and reproduced (bool). Corpora are in the order of
        :data:`sense7.sources.released.CORPORA`.

    Raises
    ------
    UserError
        If a file is missing or is not the one that is pinned.

    Examples
    --------
    >>> values = published_values()
    >>> len(values), int(values["reproduced"].sum())
    (252, 252)
    """
    table = agreement_table(ratings())
    parts = []
    for measure in MEASURES:
        part = table[["corpus", "question", "first", "second"]].assign(
            measure=measure, published=table[f"{measure}_published"], computed=table[measure]
        )
        parts.append(part)
    values = pd.concat(parts, ignore_index=True)
    values["reproduced"] = np.rint(100 * values["computed"]) == np.rint(100 * values["published"])
    order = values["corpus"].map(list(CORPORA).index)
    return values.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def reproduced(values: pd.DataFrame) -> list[dict]:
    """Return how many published values are reproduced, by corpus and measure and altogether.

    Parameters
    ----------
    values : DataFrame
        What :func:`published_values` returns.

    Returns
    -------
    list of dict
        For each corpus and measure, then for all: key, estimate (a whole number), n (published values), unit and
        method, as ``Recorder.value`` takes them; those of one corpus and measure also listed (every value beside the
        computed one).

    Examples
    --------
    >>> [row["estimate"] for row in reproduced(published_values())]
    [18, 18, 36, 54, 18, 18, 36, 54, 252]
    """
    rows = []
    for (corpus, measure), key in _REPRODUCED.items():
        chosen = values[(values["corpus"] == corpus) & (values["measure"] == measure)]
        method = f"{MEASURES[measure]} computed from the released ratings, equal to two decimals"
        rows.append({"key": key, **_count(chosen, method), "listed": _listed(chosen)})
    every = _count(values, "computed from the released ratings, equal to two decimals")
    return [*rows, {"key": "kumar_values_reproduced", **every}]


def _listed(values: pd.DataFrame) -> pd.DataFrame:
    what = [f"{_question(row['question'])}: {_pair(row, _NAMES)}" for row in values.to_dict("records")]
    return values[["published", "computed"]].assign(what=what, same=values["reproduced"])


def _count(values: pd.DataFrame, method: str) -> dict:
    return {"estimate": int(values["reproduced"].sum()), "n": len(values), "unit": _VALUES, "method": method}


def largest_differences(agreement: pd.DataFrame) -> list[dict]:
    """Return the largest difference of a published and a computed value, and what kappa by steps of the scale changes.

    Parameters
    ----------
    agreement : DataFrame
        What :func:`agreement_table` returns.

    Returns
    -------
    list of dict
        Key, estimate, n, unit and method, as ``Recorder.value`` takes them:
        ``kumar_largest_difference`` (of a published and a computed value before rounding, in size; below .005 where
        all are reproduced and none depends on how a half is rounded), ``kumar_kappa_steps_equal`` (kappas that are the
        published ones by steps of the scale as well).

    Examples
    --------
    >>> [row["estimate"] for row in largest_differences(agreement_table(ratings()))][1]
    93
    """
    equal = np.rint(100 * agreement["kappa_scale"]) == np.rint(100 * agreement["kappa_published"])
    apart = np.abs([agreement[f"{measure}_published"] - agreement[measure] for measure in MEASURES])
    return [
        {
            "key": "kumar_largest_difference",
            "estimate": f"{apart.max():.5f}",
            "n": apart.size,
            "unit": "Spearman's rho or weighted kappa",
            "method": "largest absolute difference of a published and a computed value, before rounding",
        },
        {
            "key": "kumar_kappa_steps_equal",
            "estimate": int(equal.sum()),
            "n": len(agreement),
            "unit": _VALUES,
            "method": f"quadratic weights by {STEPS['scale']}, equal to two decimals",
        },
    ]


def _question(question: str) -> str:
    return "cared for" if question == "caredfor" else question.replace("_", " ")


def _pair(row: Mapping, names: Mapping[str, str]) -> str:
    return f"{names[row['first']]} and {names[row['second']]}"


# Intervals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CorpusBootstrap:
    """Bootstrap resamples of conversations within each corpus, each conversation with all ratings of it.

    The corpora were chosen by the authors, and each has as many conversations in every resample as it has. Corpora are
    resampled independently of each other.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns; only corpus and conversation are used.
    draws, seed, confidence
        As for :class:`sense7.estimators.bootstrap.ParticipantBootstrap`.

    Raises
    ------
    UserError
        If an argument is of another kind or out of range.

    Examples
    --------
    >>> bootstrap = CorpusBootstrap(ratings(), draws=1000, seed=1)
    >>> bootstrap.description
    '95% percentile interval, 1,000 resamplings of conversations within each corpus'
    >>> bootstrap.corpora["epitome"].weights().shape
    (1000, 50)
    """

    judged: pd.DataFrame = field(repr=False)
    draws: int = 10_000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self):
        self._together  # noqa: B018 -- refuses what is out of range

    @cached_property
    def _together(self) -> ConversationBootstrap:
        """All conversations, for what does not depend on the corpus."""
        return ConversationBootstrap(self.judged["conversation"], self.draws, self.seed, self.confidence)

    @cached_property
    def corpora(self) -> dict[str, ConversationBootstrap]:
        """Resamples of each corpus; no two corpora, nor two seeds, share their random numbers."""
        names = self.judged["corpus"].unique()
        return {
            corpus: ConversationBootstrap(
                self.judged.loc[self.judged["corpus"] == corpus, "conversation"],
                self.draws,
                len(names) * int(self.seed) + number,
                self.confidence,
            )
            for number, corpus in enumerate(names)
        }

    @property
    def description(self) -> str:
        """Kind of interval, in words."""
        return f"{self._together.description} within each corpus"

    def row(
        self, estimate: float, resamples: np.ndarray, conversations: pd.Series, *, unit: str, method: str, key: str = ""
    ) -> dict:
        """Return one row of estimates from a statistic and its values in every resample."""
        return self._together.row(
            Estimate(float(estimate), *self._together.interval(resamples, conversations)),
            n=conversations.nunique(),
            unit=unit,
            method=method,
            undefined="one of two raters gives every conversation the same rating",
            how=self.description,
            key=key,
        )


@dataclass(frozen=True, eq=False)
class ByQuestion:
    """A statistic of several raters on every question, with its values in every bootstrap resample."""

    estimates: pd.DataFrame
    resamples: np.ndarray = field(repr=False)
    bootstrap: CorpusBootstrap = field(repr=False)
    unit: str = ""
    method: str = ""
    key: Callable[[str, str], str] = field(default=lambda _rater, _row: "", repr=False)

    def by_question(self) -> dict[str, pd.DataFrame]:
        """Rater -> table of estimates with one row per question, called ``CORPUS_QUESTION``; none is recorded."""
        rows = {f"{corpus}_{question}": [number] for number, (corpus, question) in enumerate(self.estimates.index)}
        return replace(self, key=lambda _rater, _row: "")._tables(rows, "question", self.method)

    def by_corpus(self) -> dict[str, pd.DataFrame]:
        """Rater -> table of estimates: the mean over each corpus's questions, and over all questions (``all``)."""
        corpora = self.estimates.index.get_level_values("corpus")
        rows = {corpus: np.flatnonzero(corpora == corpus) for corpus in corpora.unique()}
        rows[ALL] = np.arange(len(corpora))
        return self._tables(rows, "corpus", f"mean over questions: {self.method}")

    def minus(self, pairs: Iterable[tuple[str, str]]) -> "ByQuestion":
        """Return paired differences of raters, on the same conversations of every resample."""
        pairs = list(pairs)
        columns = list(self.estimates)
        first, second = ([columns.index(pair[side]) for pair in pairs] for side in (0, 1))
        values = self.estimates.to_numpy()
        return ByQuestion(
            pd.DataFrame(
                values[:, first] - values[:, second],
                self.estimates.index,
                [f"{a}_minus_{b}" for a, b in pairs],
            ),
            self.resamples[..., first] - self.resamples[..., second],
            self.bootstrap,
            self.unit,
            f"difference of {self.method}",
            self.key,
        )

    def _tables(self, rows: Mapping[str, Iterable[int]], name: str, method: str) -> dict[str, pd.DataFrame]:
        judged = self.bootstrap.judged
        corpora = self.estimates.index.get_level_values("corpus")
        # The same for every rater, and searching a thousand rows for each would take longer than the statistics.
        conversations = {
            row: judged.loc[judged["corpus"].isin(corpora[questions]), "conversation"]
            for row, questions in rows.items()
        }
        tables = {}
        for column, rater in enumerate(self.estimates):
            values = self.estimates[rater].to_numpy()
            estimates = {
                row: self.bootstrap.row(
                    values[questions].mean(),
                    self.resamples[:, questions, column].mean(axis=1),
                    conversations[row],
                    unit=self.unit,
                    method=method,
                    key=self.key(rater, row),
                )
                for row, questions in rows.items()
            }
            tables[rater] = estimate_table(estimates, name)
        return tables


_Statistic = Callable[[pd.DataFrame, np.ndarray], np.ndarray]
"""Takes the ratings of one question and weights (draws, ratings); returns (draws, raters)."""


def _by_question(
    judged: pd.DataFrame,
    resampling: CorpusBootstrap,
    raters: Iterable[str],
    statistic: _Statistic,
    unit: str,
    method: str,
) -> ByQuestion:
    """A statistic of the ratings of one question by every rater, weighted: for all questions."""
    estimates, resamples = {}, []
    for (corpus, question), group in judged.groupby(["corpus", "question"], sort=False):
        own = resampling.corpora[corpus]
        weights = own.weights()[:, own.codes(group["conversation"])]
        estimates[corpus, question] = statistic(group, _once(group))[0]
        resamples.append(statistic(group, weights))
    frame = pd.DataFrame.from_dict(estimates, orient="index", columns=list(raters))
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["corpus", "question"])
    return ByQuestion(frame, np.stack(resamples, axis=1), resampling, unit, method)


def _once(values) -> np.ndarray:
    """Weights by which every unit is taken once."""
    return np.ones((1, len(values)))


def _mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted means of columns: (draws, columns)."""
    return weights @ values / weights.sum(axis=1, keepdims=True)


def _columns(group: pd.DataFrame, names: Iterable[str]) -> np.ndarray:
    return group[list(names)].to_numpy(dtype=float)


def _range(group: pd.DataFrame) -> np.ndarray:
    return (group["highest"] - group["lowest"]).to_numpy(dtype=float)[:, None]


# What the authors summarise -----------------------------------------------------------------------


def expert_and_model_kappas(judged: pd.DataFrame, resampling: CorpusBootstrap) -> pd.DataFrame:
    """Return the median kappa of two experts, and of the experts' median with the model.

    Kappa is the authors': quadratic weights between the values that occur, in every resample between those that occur
    in it. The model is Gemini 2.5 Pro. The two medians are not alike: the median of three experts is steadier than one
    expert, which favours the model. See :func:`against_the_left_out_expert` for a comparison that is free of that.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.

    Returns
    -------
    DataFrame
        A table of estimates with the rows ``kumar_expert_expert_kappa`` (median over 21 questions and three pairs) and
        ``kumar_expert_llm_kappa`` (median over 21 questions); n: conversations.
    """
    pairs = {
        "kumar_expert_expert_kappa": [("expert1", "expert2"), ("expert2", "expert3"), ("expert3", "expert1")],
        "kumar_expert_llm_kappa": [("experts", "llm")],
    }
    names = {f"{a} {b}": (a, b) for group in pairs.values() for a, b in group}

    def kappa(group: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        kappas = [quadratic_kappa(group[a], group[b], weights, steps="occurring") for a, b in names.values()]
        return np.stack(kappas, axis=-1)

    kappas = _by_question(judged, resampling, names, kappa, "weighted kappa", "kappa")
    rows = {}
    for key, group in pairs.items():
        columns = [list(names).index(f"{a} {b}") for a, b in group]
        values = kappas.estimates.to_numpy()[:, columns]
        resamples = kappas.resamples[..., columns].reshape(len(kappas.resamples), -1)
        rows[key] = resampling.row(
            np.median(values),
            np.median(resamples, axis=1),
            judged["conversation"],
            unit="weighted kappa",
            method=f"median of {values.size:,} kappas, quadratic weights by {STEPS['occurring']}",
            key=key,
        )
    return estimate_table(rows, "pair")


# Judges and experts ---------------------------------------------------------------------------------


def agreement_with_experts(judged: pd.DataFrame, resampling: CorpusBootstrap) -> ByQuestion:
    """Return Spearman's correlation of each judge, and of the crowd, with the experts' median on every question.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.

    Returns
    -------
    ByQuestion
        Raters gpt, claude, gemini and crowd; -1 .. 1. In the rare resamples in which all conversations have the same
        rating it is undefined, and passed over.

    Notes
    -----
    Checked against scipy.stats.spearmanr to 1e-12.
    """

    def rho(group: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        pairs = [(rater, len(RATERS)) for rater in range(len(RATERS))]
        return spearmans_in_draws(_columns(group, [*RATERS, "experts"]).T, pairs, weights)

    agreement = _by_question(judged, resampling, RATERS, rho, _RHO, "Spearman's rho with the median of three experts")
    return replace(agreement, key=lambda rater, row: f"three_judges_agreement_{rater}_{row}")


def level_against_experts(judged: pd.DataFrame, resampling: CorpusBootstrap) -> ByQuestion:
    r"""Return how much higher each judge, and the crowd, rates than the experts, as a share of the scale's range.

    .. math:: \frac{1}{C} \sum_c \frac{s_{cj} - \bar e_c}{h - l}

    with :math:`s_{cj}` the rating of conversation c by judge j, :math:`\bar e_c` the mean of the three experts, and l
    and h the ends of the question's scale. Differences of opposite sign cancel in a mean over questions.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.

    Returns
    -------
    ByQuestion
        Raters gpt, claude, gemini and crowd; -1 .. 1, above zero where the rater is more generous than the experts.
    """

    def level(group: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        experts = _columns(group, EXPERTS).mean(axis=1, keepdims=True)
        return _mean((_columns(group, RATERS) - experts) / _range(group), weights)

    levels = _by_question(judged, resampling, RATERS, level, _RANGE, "mean rating minus that of three experts")
    return replace(levels, key=lambda rater, row: f"three_judges_level_{rater}_{row}")


def against_the_left_out_expert(
    judged: pd.DataFrame, resampling: CorpusBootstrap, measure: str = "spearman", raters: Sequence[str] = RATERS
) -> ByQuestion:
    r"""Return how near experts and judges come to the same targets: the mean of two experts.

    Each expert e in turn is left out, and the mean :math:`t_{ce}` of the other two is the target for this expert and
    for the judges alike. The statistic is averaged over the three targets:

    .. math:: \frac{1}{3} \sum_e \rho(s_{\cdot e}, t_{\cdot e}) \quad\text{and}\quad
        \frac{1}{3} \sum_e \rho(s_{\cdot j}, t_{\cdot e})

    or, for the error, with the mean over conversations of :math:`|s_c - t_{ce}| / (h - l)` in the place of
    Spearman's :math:`\rho`. A judge that keeps to the usual ratings has small errors without distinguishing
    conversations, and one that rates all too low may still order them as experts do: both belong together.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.
    measure : {"spearman", "error"}
        Which statistic.
    raters : sequence of str
        Columns that are compared with the experts.

    Returns
    -------
    ByQuestion
        Raters expert (the one who is left out) and ``raters``. Spearman: -1 .. 1, higher is nearer;
        error: share of the scale's range, 0 .. 1, lower is nearer.

    Raises
    ------
    UserError
        If there is no such measure.
    """
    if measure not in _LEFT_OUT:
        raise UserError(f"against_the_left_out_expert wants 'spearman' or 'error' as measure; got {measure!r}.")

    statistic = _spearman_with_two if measure == "spearman" else _error_from_two
    kind = _RHO if measure == "spearman" else "mean absolute error"
    method = f"{kind} with the mean of two experts, the third left out, averaged over the three"
    unit = _RHO if measure == "spearman" else _RANGE
    return replace(
        _by_question(judged, resampling, (EXPERT, *raters), partial(statistic, raters), unit, method),
        key=lambda rater, row: f"three_judges_{_LEFT_OUT[measure]}_{rater}_{row}" if row == ALL else "",
    )


def _raters_and_targets(raters: Sequence[str], group: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """Ratings by experts and raters; the means of two experts, one column for each who is left out; who is compared."""
    targets = [
        _columns(group, [expert for expert in EXPERTS if expert != left_out]).mean(axis=1) for left_out in EXPERTS
    ]
    places = range(len(EXPERTS), len(EXPERTS) + len(raters))
    compared = [[out, *places] for out in range(len(EXPERTS))]
    return _columns(group, [*EXPERTS, *raters]), np.column_stack(targets), compared


def _spearman_with_two(raters: Sequence[str], group: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
    ratings, targets, compared = _raters_and_targets(raters, group)
    pairs = [(rater, ratings.shape[1] + out) for out, places in enumerate(compared) for rater in places]
    rho = spearmans_in_draws([*ratings.T, *targets.T], pairs, weights)
    return rho.reshape(len(weights), len(compared), -1).mean(axis=1)


def _error_from_two(raters: Sequence[str], group: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
    ratings, targets, compared = _raters_and_targets(raters, group)
    errors = [np.abs(ratings[:, places] - targets[:, [out]]) for out, places in enumerate(compared)]
    return _mean(np.mean(errors, axis=0) / _range(group), weights)


def standings(differences: Mapping[str, pd.DataFrame]) -> list[dict]:
    """Return in words whether each judge orders all conversations as like two experts as the third expert does.

    Parameters
    ----------
    differences : mapping
        ``JUDGE_minus_expert`` -> table with a row ``all``, as
        ``against_the_left_out_expert(...).minus(LEFT_OUT_DIFFERENCES).by_corpus()`` gives it.

    Returns
    -------
    list of dict
        For each judge: key, estimate (the words), n, unit and method, as ``Recorder.value`` takes them. ``lower`` or
        ``higher`` if the interval of the difference lies below or above zero; without an interval there is no verdict.

    Examples
    --------
    >>> table = pd.DataFrame({"low": [-0.2], "high": [-0.05], "n": [200], "method": ["difference"]}, index=["all"])
    >>> standings({f"{judge}_minus_expert": table for judge in JUDGES})[0]["estimate"]
    'lower than the expert'
    """
    keys = {
        "gpt": "three_judges_standing_gpt",
        "claude": "three_judges_standing_claude",
        "gemini": "three_judges_standing_gemini",
    }
    rows = []
    for judge, key in keys.items():
        row = differences[f"{judge}_minus_{EXPERT}"].loc[ALL]
        words = "not distinguished from the expert"
        if np.isnan(row["low"]):
            words = "no verdict without an interval"
        elif row["high"] < 0:
            words = "lower than the expert"
        elif row["low"] > 0:
            words = "higher than the expert"
        rows.append({"key": key, "estimate": words, "n": int(row["n"]), "unit": "verdict", "method": row["method"]})
    return rows


# Lend an Ear by the official evaluation ---------------------------------------------------------------


def published_predictions(judged: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the models' scores of Lend an Ear as prediction files of a judge hold them."""
    scores = _scores(judged)
    return {
        judge: pd.DataFrame(
            [
                (f"{conversation}-{expert}", expert, row[judge], row[expert])
                for conversation, row in scores.iterrows()
                for expert in EXPERTS
            ],
            columns=["conversation", "participant", "score", "ground_truth"],
        ).assign(status="ok", model=model, run=1)
        for judge, model in JUDGES.items()
    }


def _scores(judged: pd.DataFrame) -> pd.DataFrame:
    """Mean of the three stand-ins by each rater, one row per conversation of Lend an Ear."""
    questions = [question.replace(" ", "_") for question in STAND_INS.values()]
    chosen = judged[(judged["corpus"] == _LEND_AN_EAR) & judged["question"].isin(questions)]
    return chosen.groupby("conversation", sort=False)[[*EXPERTS, *JUDGES]].mean()


def label_evaluation(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, pd.DataFrame]:
    """Return the accuracy by the SENSE-7 authors' evaluation of each judge against every expert's score of Lend an Ear.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations; a conversation is taken with its three rows.

    Returns
    -------
    dict
        Judge -> table of estimates with the row ``accuracy``, see :func:`sense7.judge.metrics.label_metrics`;
        n: rows, three for each conversation.

    Notes
    -----
    Known answers, computed independently of this project, are in ``data/README.md``.
    """
    scores = _scores(judged)
    truth = scores[list(EXPERTS)].to_numpy().ravel()
    conversations = np.repeat(scores.index, len(EXPERTS))
    tables = {}
    for judge in JUDGES:
        score = np.repeat(scores[judge].to_numpy(), len(EXPERTS))
        table = label_metrics(truth, score, conversations, resampling.corpora[_LEND_AN_EAR]).loc[["accuracy"]]
        key = f"three_judges_lend_an_ear_{judge}_accuracy"
        tables[judge] = table.assign(unit="share of experts' scores", key=key)
    return tables


# For readers ---------------------------------------------------------------------------------------


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have names for readers.

    Examples
    --------
    >>> with_row_labels(pd.DataFrame({"n": [50, 50]}, index=["epitome", "gpt_minus_expert"])).index.tolist()
    ['EPITOME', 'GPT-4o minus expert left out']
    >>> with_row_labels(pd.DataFrame({"n": [50]}, index=["perceived_empathy_caredfor"])).index.tolist()
    ['Perceived Empathy: cared for']
    """
    return table.rename(index=_title)


def _title(row: str) -> str:
    if row in TITLES:
        return TITLES[row]
    corpus = next((corpus for corpus in CORPORA if row.startswith(f"{corpus}_")), "")
    return f"{CORPORA[corpus]}: {_question(row.removeprefix(f'{corpus}_'))}" if corpus else row


def beside_each_other(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables of estimates with the same rows as one table of texts, a column for each and n in the last.

    Parameters
    ----------
    tables : mapping
        Rater, or ``FIRST_minus_SECOND`` -> table of estimates, as :meth:`ByQuestion.by_corpus` gives them.

    Returns
    -------
    DataFrame
        Estimate with its interval in brackets; an estimate without an interval stands alone, a missing one as "-".

    Examples
    --------
    >>> row = {"estimate": -0.1, "low": -0.2, "high": 0.05, "n": 50, "unit": "Spearman's rho"}
    >>> beside_each_other({"gpt_minus_expert": pd.DataFrame(row, index=["epitome"])}).loc["EPITOME"].to_dict()
    {'GPT-4o minus expert': '-0.100 [-0.200, 0.050]', 'n': '50'}
    """
    columns = {}
    for name, table in tables.items():
        words = " minus ".join(_SHORT[part] for part in name.split("_minus_"))
        columns[words] = [_in_brackets(row) for _, row in table.iterrows()]
    last = next(iter(tables.values()))
    columns["n"] = [f"{n:,}" for n in last["n"]]
    return pd.DataFrame(columns, index=with_row_labels(last).index)


def _in_brackets(row: Mapping) -> str:
    if not np.isfinite(row["estimate"]):
        return "-"
    estimate, low, high = (_shown(row[part], row["unit"]) for part in ("estimate", "low", "high"))
    return f"{estimate} [{low}, {high}]" if np.isfinite(row["low"]) else estimate


def _shown(number: float, unit: str) -> str:
    if unit.startswith("share"):
        return f"{100 * number:z.1f}%"
    return f"{number:z.2f}" if unit.startswith("level") else f"{number:z.3f}"


def with_jury(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with one more rater, ``jury``: the mean of the three models.

    Examples
    --------
    >>> from sense7.judge.three_judges import ratings
    >>> float(with_jury(ratings()).loc[0, "jury"].round(3))
    2.667
    """
    return judged.assign(jury=judged[list(JUDGES)].mean(axis=1))


def nearness(judged: pd.DataFrame, resampling: CorpusBootstrap) -> ByQuestion:
    """Return the correlations with two experts of the one left out, the three models and their jury.

    Parameters
    ----------
    judged : DataFrame
        What :func:`with_jury` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.
    """
    return against_the_left_out_expert(judged, resampling, raters=(*JUDGES, "jury"))


def model_differences(near: ByQuestion) -> pd.DataFrame:
    """Return the paired differences of the three models over all questions, with p values corrected by Holm's rule.

    Parameters
    ----------
    near : ByQuestion
        What :func:`nearness` returns.

    Returns
    -------
    DataFrame
        Table of estimates with one row per pair, key, p and p_holm.
    """
    differences = near.minus(DIFFERENCES)
    tables = differences.by_corpus()
    rows = {pair: tables[pair].loc[ALL].to_dict() for pair in differences.estimates}
    drawn = differences.resamples.mean(axis=1)
    p = np.array([resampled_p(drawn[:, column]) for column in range(drawn.shape[1])])
    table = estimate_table(rows, "difference", {pair: f"real_difference_spearman_{pair}" for pair in rows})
    return table.rename(index=TITLES).assign(p=p, p_holm=holm(p))


def jury_gains(near: ByQuestion) -> pd.DataFrame:
    """Return what the mean of the three models adds to the best of them and to their mean.

    Parameters
    ----------
    near : ByQuestion
        What :func:`nearness` returns.

    Returns
    -------
    DataFrame
        Table of estimates, positive where the jury is nearer to the experts: one row for each that it is compared with.
    """
    means = near.estimates.mean()
    drawn = dict(zip(near.estimates, np.moveaxis(near.resamples.mean(axis=1), -1, 0), strict=True))
    models = list(JUDGES)
    best = max(models, key=lambda model: means[model])
    others = {
        "best": (f"jury minus the best model ({JUDGES[best]})", means[best], drawn[best]),
        "mean": (
            "jury minus the mean model",
            float(np.mean([means[model] for model in models])),
            np.mean([drawn[model] for model in models], axis=0),
        ),
    }
    rows = {
        name: near.bootstrap.row(
            float(means["jury"]) - value,
            drawn["jury"] - draws,
            near.bootstrap.judged["conversation"],
            unit=near.unit,
            method=f"gain of the jury, mean over questions: {near.method}",
            key=f"real_jury_mean_over_{against}_spearman",
        )
        for against, (name, value, draws) in others.items()
    }
    return estimate_table(rows, "gain")


def agreement_among_models(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict:
    """Return Krippendorff's alpha of the three models, mean over the questions, as a row of estimates to be recorded.

    Parameters
    ----------
    judged : DataFrame
        What :func:`sense7.judge.three_judges.ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.
    """
    values, draws = [], []
    for (corpus, _), group in judged.groupby(["corpus", "question"], sort=False):
        sums = agreement_sums(group[list(JUDGES)].to_numpy(dtype=float).T)
        own = resampling.corpora[corpus]
        values.append(float(krippendorff_alpha(sums.sum(axis=0))))
        draws.append(own.distribution(krippendorff_alpha, sums, group["conversation"]))
    estimate, drawn = float(np.mean(values)), np.mean(draws, axis=0)
    method = "Krippendorff's alpha (interval) of three models, mean over questions"
    if not np.isfinite(estimate):
        reason = "the models give the same rating everywhere on a question"
        return estimate_row(n=judged["conversation"].nunique(), unit="alpha", method=method, reason=reason)
    return resampling.row(estimate, drawn, judged["conversation"], unit="alpha", method=method, key="real_jury_alpha")


EPSILON = 0.2
"""What a model may be worse by than an expert, as the authors of the test advise for experts."""

PASSED = 0.5
"""Winning rate from which a judge may take the annotators' place."""

_ADVANTAGE = "average advantage probability: share of conversations on which the model is at least as close to"
_RATE = f"winning rate at epsilon {EPSILON:g}, Benjamini-Yekutieli over questions and experts"


def against_experts(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, ByQuestion]:
    r"""Models compared with each expert by closeness to the other two experts.

    Parameters
    ----------
    judged : DataFrame
        As :func:`sense7.judge.three_judges.ratings` returns it.
    resampling : CorpusBootstrap
        Resamples of conversations within corpora.

    Returns
    -------
    dict
        "advantage": :math:`\rho`, mean over experts; "rate": the winning rate :math:`\omega`. Each by question and
        model. Rates of resamples are those of tests that are made again in each.

    Examples
    --------
    >>> from sense7.judge.three_judges import CorpusBootstrap, ratings
    >>> judged = ratings()
    >>> found = against_experts(judged, CorpusBootstrap(judged, draws=100, seed=1))
    >>> found["rate"].estimates.loc[("empatheticdialogues", "empathy")].round(3).tolist()
    [0.0, 0.0, 0.0]
    """
    return _compared(judged, resampling, "the other two as the expert left out", None)


def against_the_person(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, ByQuestion]:
    """Models compared with each expert by closeness to the rating of the person who was answered.

    Parameters
    ----------
    judged, resampling
        As for :func:`against_experts`; only questions that the person answered count.

    Returns
    -------
    dict
        As :func:`against_experts`.
    """
    asked = judged[judged[PERSON].notna()]
    return _compared(asked, resampling, "the person's own rating as an expert", PERSON)


def _compared(
    judged: pd.DataFrame, resampling: CorpusBootstrap, closer: str, reference: str | None
) -> dict[str, ByQuestion]:
    """Advantage and winning rate; (resamples, questions, models) each."""
    tests, resampled, names = [], [], []
    for name, group in judged.groupby(["corpus", "question"], sort=False):
        own = resampling.corpora[name[0]]
        names.append(name)
        tests.append(_question_alternative_annotators(group, reference, np.ones((1, len(group)))))
        resampled.append(
            _question_alternative_annotators(group, reference, own.weights()[:, own.codes(group["conversation"])])
        )
    point, drawn = _gathered(tests), _gathered(resampled)
    index = pd.MultiIndex.from_tuples(names, names=["corpus", "question"])
    whom = "person" if reference else "experts"
    keys = {
        name: lambda judge, row, name=name: f"alternative_{name}_{whom}_{judge}_{row}" if row == ALL else ""
        for name in ("advantage", "rate")
    }
    methods = {"advantage": f"{_ADVANTAGE} {closer}", "rate": f"{_RATE}; {closer}"}
    units = {"advantage": "share of conversations", "rate": "share of experts"}
    return {
        name: ByQuestion(
            pd.DataFrame(point[place][0], index, list(JUDGES)),
            drawn[place],
            resampling,
            units[name],
            methods[name],
            keys[name],
        )
        for place, name in enumerate(keys)
    }


def _question_alternative_annotators(
    group: pd.DataFrame, reference: str | None, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages and p values of one question: (resamples, models, experts)."""
    experts = group[list(EXPERTS)].to_numpy(dtype=float)
    own = None if reference is None else group[reference].to_numpy(dtype=float)
    tests = [
        alternative_test(wins(group[judge].to_numpy(dtype=float), experts, own), EPSILON, weights) for judge in JUDGES
    ]
    shape = (len(weights), len(EXPERTS))
    return tuple(np.stack([part.reshape(shape) for part in parts], axis=1) for parts in zip(*tests, strict=True))


def _gathered(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean advantage and winning rate, (resamples, questions, models)."""
    advantages, p = (np.stack(parts, axis=1) for parts in zip(*found, strict=True))
    rejected = np.empty(p.shape, dtype=bool)
    for judge in range(p.shape[2]):
        tests = p[:, :, judge].reshape(len(p), -1)
        rejected[:, :, judge] = benjamini_yekutieli(tests).reshape(p[:, :, judge].shape)
    return advantages.mean(axis=-1), winning_rate(rejected, p)


def passed(found: Mapping[str, ByQuestion], kind: str) -> pd.DataFrame:
    """Number of questions on which each model may take the experts' place: winning rate of at least one half.

    Parameters
    ----------
    found : mapping
        As :func:`against_experts` returns it.
    kind : str
        ``experts`` or ``person``, for the keys.

    Returns
    -------
    DataFrame
        Table of estimates by model: how many of the questions.
    """
    rates = found["rate"].estimates
    rows = {
        name: estimate_row(
            int((rates[judge] >= PASSED).sum()),
            n=len(rates),
            unit="questions",
            method=f"{_RATE}; winning rate of at least {PASSED:g}",
            reason="a count of decisions has no interval",
            key=f"alternative_passed_{kind}_{judge}",
        )
        for judge, name in JUDGES.items()
    }
    return estimate_table(rows, "model")
