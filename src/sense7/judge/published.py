r"""Judges that others ran on data of their own: what they scored, and how that compares with people.

Lend an Ear (Kumar and others, 2025) has 50 conversations that three experts and three language models rated alike. It
isn't SENSE-7: other conversations, other questions, raters who only read along. What it shows is how a
judge can be held against people where several of them rated the same conversation, which nobody did in
SENSE-7.

A rater's *score* of a conversation is the mean of its three ratings, as ground truth is for a conversation
with one rated turn. The three experts rated the same conversations, and each model gave each conversation one
score: so it is conversations that are resampled, each with all that was said of it. The intervals say what other
conversations would have given, and nothing of other experts.

Nothing here fails where the data set wasn't fetched: every row then says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.metrics import METRICS, SHARE, confusion, label_metrics
from sense7.sources import SOURCES, is_fetched, part_files
from sense7.sources.lend_an_ear import EXPERTS, JUDGES, QUESTIONS, ratings
from sense7.statistics.agreement import weighted_kappa
from sense7.statistics.bootstrap import ConversationBootstrap, ratio
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import labels
from sense7.taxonomy import LEVELS

__all__ = [
    "EXPERTS",
    "JUDGES",
    "MEASURES",
    "METRIC_NAMES",
    "NAME",
    "RATERS",
    "TITLES",
    "Panel",
    "against_the_mean",
    "confusions",
    "judge_metrics",
    "listed",
    "mean_kappa",
    "named",
    "pairwise_kappa",
    "panel",
    "published_predictions",
    "same_targets",
]

NAME = "lend-an-ear"
"""Name of the data set, as ``sense7 fetch`` knows it."""

RATERS = {expert: f"{expert[:-1]} {expert[-1]}" for expert in EXPERTS} | JUDGES
"""Every rater: key -> name for readers."""

MEASURES = QUESTIONS | {"score": "mean of the three"}
"""What two raters can agree on: dimension, or the label of the score -> name for readers."""

METRIC_NAMES = ("accuracy", "macro_f1", "within_one", "mean_absolute_error", "spearman", "quadratic_kappa")
"""Keys of the metrics shown here, a part of :data:`sense7.judge.metrics.METRICS`."""

TITLES = {
    **RATERS,
    "experts": "experts",
    **MEASURES,
    **{metric: METRICS[metric].title for metric in METRIC_NAMES},
    **{f"{first}_{second}": f"{RATERS[first]} and {RATERS[second]}" for first, second in permutations(RATERS, 2)},
    **{f"{judge}_minus_experts": f"{name} minus experts" for judge, name in JUDGES.items()},
}
"""Row or table of this module -> name for readers."""

_EXPERT_PAIRS = list(combinations(EXPERTS, 2))
_PAIRS = {judge: [(judge, expert) for expert in EXPERTS] for judge in JUDGES}
_KAPPA = "Cohen's kappa, quadratic weights, five levels"
_CONSTANT = "two raters give every conversation the same level"


@dataclass(frozen=True, eq=False)
class Panel:
    """The same conversations, rated by experts and by language models.

    Attributes
    ----------
    ratings : DataFrame
        A row a conversation; columns (rater, dimension) with levels 1 .. 5.
    reason : str
        Why there are no ratings; "" if there are.
    notice : str
        Whose data these are and under which licence; or how to get them.
    """

    ratings: pd.DataFrame
    reason: str = ""
    notice: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Mapping[str, int]]], notice: str = "") -> "Panel":
        """Make a panel from rater -> conversation -> dimension -> level; conversations in alphabetical order.

        Raises
        ------
        ValueError
            If a rater left out a conversation or a dimension: then other conversations would be compared.

        Examples
        --------
        >>> levels = {"C2": {"Affective": 4, "Interest": 2}, "C1": {"Affective": 1, "Interest": 1}}
        >>> Panel.of({"expert1": levels, "gpt": levels}).scores["gpt"].to_dict()
        {'C1': 1.0, 'C2': 3.0}
        """
        tables = {rater: pd.DataFrame.from_dict(table, orient="index") for rater, table in given.items()}
        frame = pd.concat(tables, axis=1).sort_index().astype(float)
        if frame.isna().to_numpy().any():
            raise ValueError("every rater has to have rated every conversation on every dimension")
        return cls(frame, notice=notice)

    @property
    def conversations(self) -> pd.Index:
        """Ids of the conversations."""
        return self.ratings.index

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Mean rating of each conversation (row) by each rater (column)."""
        raters = self.ratings.columns.get_level_values(0).unique()
        return pd.DataFrame({rater: self.ratings[rater].mean(axis=1) for rater in raters}, index=self.conversations)

    def resampling(self, draws: int, seed: int, confidence: float = 0.95) -> ConversationBootstrap:
        """Draw conversations, for the intervals of everything in this module."""
        return ConversationBootstrap(pd.Series(self.conversations, dtype=object), draws, seed, confidence)


def panel() -> Panel:
    """Give the ratings of Lend an Ear, or an empty panel that says how to get them.

    Returns
    -------
    Panel
        With ``reason`` if the data set wasn't fetched.

    Raises
    ------
    UserError
        If what was fetched was changed since.
    """
    source = SOURCES[NAME]
    if not is_fetched(NAME):
        reason = f"the data set {NAME} wasn't fetched"
        notice = f"{source.title} isn't on this machine, so there is nothing to show. To get it: sense7 fetch {NAME}"
        columns = pd.MultiIndex.from_product([RATERS, QUESTIONS])
        return Panel(pd.DataFrame(columns=columns, dtype=float), reason, notice)
    notice = f"Data: {source.title}. {source.acknowledgement}"
    return Panel.of(ratings(part_files(NAME)), notice)


def published_predictions(name: str = NAME) -> dict[str, pd.DataFrame]:
    """Give the scores of the judges that were published with a data set, as prediction files hold them.

    Parameters
    ----------
    name : str
        The data set; only Lend an Ear has published scores.

    Returns
    -------
    dict
        Judge -> frame with a row a task of the converted workbook, in its order: conversation (TaskId),
        participant (PID, the expert), score (the judge's, 1..5; the same for the three tasks of one
        conversation), status ("ok"), model, run, and ground_truth (the expert's score).

    Raises
    ------
    UserError
        If the data set has no published scores, wasn't fetched, or was changed since.
    """
    if name != NAME:
        raise UserError(f"{name}: no judge's scores are published with it. Known: {NAME}.")
    found = panel()
    if found.reason:
        raise UserError(f"{name}: not fetched yet. Run: sense7 fetch {name}")
    return {judge: _predictions(found, judge) for judge in JUDGES}


def _predictions(found: Panel, judge: str) -> pd.DataFrame:
    scores = found.scores
    rows = [
        (f"{conversation}-{expert}", expert, scores.loc[conversation, judge], scores.loc[conversation, expert])
        for conversation in found.conversations
        for expert in EXPERTS
    ]
    frame = pd.DataFrame(rows, columns=["conversation", "participant", "score", "ground_truth"])
    return frame.assign(status="ok", model=JUDGES[judge], run=1)


def judge_metrics(found: Panel, bootstrap: ConversationBootstrap) -> dict[str, pd.DataFrame]:
    """Metrics of each judge against every expert's score, one row a conversation and expert.

    Parameters
    ----------
    found : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Returns
    -------
    dict
        Judge -> table with a row a metric (``METRIC_NAMES``), as
        :func:`sense7.judge.metrics.label_metrics` gives it; n counts rows, three a conversation.
    """
    if found.reason:
        return {judge: _absent(found, METRIC_NAMES) for judge in JUDGES}
    truth = found.scores[list(EXPERTS)].to_numpy().ravel()
    conversation = np.repeat(found.conversations, len(EXPERTS))
    tables = {}
    for judge in JUDGES:
        score = np.repeat(found.scores[judge].to_numpy(), len(EXPERTS))
        table = label_metrics(truth, score, conversation, bootstrap).loc[list(METRIC_NAMES)]
        tables[judge] = table.replace({"unit": {SHARE: "share of experts' scores"}})
    return tables


def confusions(found: Panel) -> dict[str, pd.DataFrame]:
    """How often each label was predicted for each label of an expert's score.

    Returns
    -------
    dict
        Judge -> 5 x 5 counts, see :func:`sense7.judge.metrics.confusion`; empty if there are no ratings.
    """
    return {judge: pd.DataFrame() if found.reason else confusion(_predictions(found, judge)) for judge in JUDGES}


def against_the_mean(found: Panel, bootstrap: ConversationBootstrap) -> dict[str, pd.DataFrame]:
    """Metrics of each expert against the mean of the other two, and of each judge against the mean of all three.

    The mean of three experts is steadier than that of two, which favours the judges a little; see
    :func:`same_targets` and :func:`mean_kappa` for comparisons that are free of that.

    Parameters
    ----------
    found : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Returns
    -------
    dict
        Metric (``METRIC_NAMES``) -> table with a row a rater; n counts conversations.
    """
    if found.reason:
        return {metric: _absent(found, RATERS, "rater", metric) for metric in METRIC_NAMES}
    tables = {}
    for rater in RATERS:
        others = [expert for expert in EXPERTS if expert != rater]
        target = found.scores[others].mean(axis=1)
        tables[rater] = label_metrics(target, found.scores[rater], found.conversations, bootstrap)
    rows = pd.concat(tables, names=["rater"])
    return {metric: rows.xs(metric, level="metric") for metric in METRIC_NAMES}


def same_targets(found: Panel, bootstrap: ConversationBootstrap) -> pd.DataFrame:
    r"""Mean absolute error of experts and judges against the same targets.

    Each expert e in turn is left out, and the mean :math:`t_{ce}` of the other two is the target for the expert
    who was left out and for the judges alike:

    .. math:: \frac{1}{3C} \sum_{c,e} |s_{ce} - t_{ce}| \quad\text{and}\quad \frac{1}{3C} \sum_{c,e} |s_{cj} - t_{ce}|

    Parameters
    ----------
    found : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Returns
    -------
    DataFrame
        Rows ``experts``, each judge, and each judge ``_minus_experts`` (below 0: the judge is nearer): estimate, low,
        high in levels, n (conversations), unit, method, reason.
    """
    keys = ["experts", *JUDGES, *(f"{judge}_minus_experts" for judge in JUDGES)]
    unit, method = "level, difference", "mean absolute error against the mean of two experts, each left out in turn"
    if found.reason:
        return estimate_table({key: _absent_row(found, unit, method) for key in keys}, "rater")
    scores = found.scores
    targets = {e: scores[[other for other in EXPERTS if other != e]].mean(axis=1) for e in EXPERTS}
    errors = {judge: sum((scores[judge] - target).abs() for target in targets.values()) for judge in JUDGES}
    errors["experts"] = sum((scores[expert] - target).abs() for expert, target in targets.items())
    errors |= {f"{judge}_minus_experts": errors[judge] - errors["experts"] for judge in JUDGES}
    count = np.full(len(scores), float(len(EXPERTS)))
    rows = {
        key: _row(bootstrap, ratio, np.column_stack([errors[key], count]), found.conversations, unit, method)
        for key in keys
    }
    return estimate_table(rows, "rater")


def pairwise_kappa(found: Panel, bootstrap: ConversationBootstrap) -> dict[str, pd.DataFrame]:
    """Weighted kappa of every two experts, and of every judge with every expert.

    Parameters
    ----------
    found : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Returns
    -------
    dict
        Measure (``MEASURES``: a dimension, or the label of the score) -> table with a row a pair, named
        ``expert1_expert2`` and so on: estimate, low, high (at most 1), n (conversations), unit, method, reason.
    """
    pairs = {
        f"{a}_{b}": ([(a, b)], []) for a, b in (*_EXPERT_PAIRS, *(pair for each in _PAIRS.values() for pair in each))
    }
    return {measure: _kappa_table(found, bootstrap, measure, pairs, _KAPPA, "pair") for measure in MEASURES}


def mean_kappa(found: Panel, bootstrap: ConversationBootstrap) -> dict[str, pd.DataFrame]:
    """Mean weighted kappa of two experts, of each judge with an expert, and the difference.

    A judge stands here where an expert does: beside single experts, never beside their mean.

    Parameters
    ----------
    found : Panel
        The ratings.
    bootstrap : ConversationBootstrap
        See :meth:`Panel.resampling`.

    Returns
    -------
    dict
        ``experts`` (mean over the three pairs), each judge (mean over the three experts), and each judge
        ``_minus_experts`` -> table with a row a measure (``MEASURES``); columns as for :func:`pairwise_kappa`.
    """
    groups = {"experts": (_EXPERT_PAIRS, []), **{judge: (pairs, []) for judge, pairs in _PAIRS.items()}}
    groups |= {f"{judge}_minus_experts": (pairs, _EXPERT_PAIRS) for judge, pairs in _PAIRS.items()}
    method = f"mean over pairs; {_KAPPA}"
    tables = {measure: _kappa_table(found, bootstrap, measure, groups, method, "rater") for measure in MEASURES}
    rows = pd.concat(tables, names=["measure"])
    return {name: rows.xs(name, level="rater") for name in groups}


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Give the rows of a table names for readers.

    Examples
    --------
    >>> named(pd.DataFrame({"n": [50, 50]}, index=["expert1_expert2", "gpt_minus_experts"])).index.tolist()
    ['expert 1 and expert 2', 'GPT-4o minus experts']
    """
    return table.rename(index=TITLES)


def listed(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other; each row is named by its table and itself.

    Examples
    --------
    >>> listed({"gpt": pd.DataFrame({"n": [50]}, index=["spearman"])}).index.tolist()
    ['GPT-4o: Spearman']
    """
    parts = [
        named(table).rename(index=lambda row, name=name: f"{TITLES[name]}: {row}") for name, table in tables.items()
    ]
    return pd.concat(parts).rename_axis(index=None)


def _kappa_table(found: Panel, bootstrap, measure: str, groups: Mapping, method: str, index: str) -> pd.DataFrame:
    """A row a name: the mean kappa of the first list of pairs, less that of the second if it has any."""
    unit = "weighted kappa"
    if found.reason:
        return estimate_table({name: _absent_row(found, unit, method) for name in groups}, index)
    levels = found.scores.apply(labels) if measure == "score" else found.ratings.xs(measure, axis=1, level=1)
    levels = levels.astype(int)
    rows = {}
    for name, (plus, minus) in groups.items():
        tables = np.stack([_cells(levels[a], levels[b]) for a, b in (*plus, *minus)], axis=1)
        shares = np.array([1 / len(plus) for _ in plus] + [-1 / len(minus) for _ in minus])

        def mean(sums: np.ndarray, shares: np.ndarray = shares) -> np.ndarray:
            return weighted_kappa(sums, "quadratic") @ shares

        rows[name] = _row(bootstrap, mean, tables, found.conversations, unit, method)
    return estimate_table(rows, index)


def _cells(first: pd.Series, second: pd.Series) -> np.ndarray:
    """One table of counts a conversation."""
    cells = np.zeros((len(first), len(LEVELS), len(LEVELS)))
    cells[np.arange(len(first)), first - 1, second - 1] = 1
    return cells


def _row(bootstrap, statistic, values: np.ndarray, conversations: pd.Index, unit: str, method: str) -> dict:
    estimate, low, high, reason = bootstrap.estimate(statistic, values, pd.Series(conversations, dtype=object))
    if not np.isfinite(estimate):
        return estimate_row(n=len(conversations), unit=unit, method=method, reason=_CONSTANT)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(conversations), unit=unit, method=method, reason=reason)


def _absent(found: Panel, keys, index: str = "metric", metric: str = "") -> pd.DataFrame:
    """A table of metrics whose rows all say why they are missing."""
    rows = {}
    for key in keys:
        known = METRICS[metric or key]
        rows[key] = _absent_row(found, known.unit, known.method)
    return estimate_table(rows, index)


def _absent_row(found: Panel, unit: str, method: str) -> dict:
    return estimate_row(n=0, unit=unit, method=method, reason=found.reason)


check_arguments(globals())
