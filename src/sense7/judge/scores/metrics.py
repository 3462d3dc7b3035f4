r"""The authors' metrics to the letter, and what they leave out.

Scores and ground truth are levels from 1 to 5 with decimals. *Labels* are these rounded half to even and clipped to
1..5. Rows that lack either are left out, as the authors do; that is why coverage and
:func:`missing_bounds` stand beside every table.

A statistic is an array: its value in the data and, where participants can be resampled, in every resample of them; so
a mean over runs is a mean, and the difference of two judges a minus sign. Resampling is exact: every metric of labels
is a function of the 5 x 5 table of counts, and tables add up over participants; Spearman's rho of a draw is that of its
weighted midranks. The spread between runs is another uncertainty, and at temperature 0 by far the smaller; the two are
never mixed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.findings.core import (
    Number,
    mean_number,
    mean_of_rows,
    rank_correlations,
    resampled,
    tabulate,
)
from sense7.findings.ground_truth import labels
from sense7.judge.files import UNSTATED, Run
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.statistics.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.rater_agreement import weighted_kappa
from sense7.taxonomy import LEVELS, SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["OverRuns", "calibration", "coverage", "run_metrics", "stability"]

LEVEL_NUMBERS = range(1, len(LEVELS) + 1)
AUTHORS_METRICS = ("accuracy", "macro_f1", "within_one", "mean_absolute_error", "spearman")
SHOWN_METRICS = ("spearman", "accuracy")
"""Those of which a page shows more than the judge's own value: its spread, differences from other judges."""

SHARE = "share of conversations"
_NOTHING = "no conversation has both a score and a ground truth"
_CELLS = len(LEVELS) ** 2
_NEAR = np.abs(np.subtract.outer(LEVEL_NUMBERS, LEVEL_NUMBERS)) <= 1
_LABELS = "labels (rounded half to even, clipped to 1..5)"


@dataclass(frozen=True)
class Metric:
    """A metric: how it is called, its unit, how it is computed, and why it may be undefined."""

    title: str
    unit: str
    method: str
    undefined: str = ""

    def number(
        self, label: str, statistic: np.ndarray, people, undefined: str = "", key: str = ""
    ) -> Number:
        """A number of this kind: the statistic in the data and in every resample, over rows of these people."""
        return Number(
            label=label,
            statistic=statistic,
            unit=self.unit,
            method=self.method,
            rows=people,
            key=key,
            undefined=undefined or self.undefined,
        )


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", SHARE, f"equal {_LABELS}"),
    "macro_f1": Metric(
        "macro F1", "F1", "mean F1 over the classes seen in truth or prediction, 0 where undefined"
    ),
    "within_one": Metric("within 1", SHARE, f"{_LABELS} at most 1 apart"),
    "mean_absolute_error": Metric(
        "MAE", "level, difference", "mean absolute error, unrounded and unclipped"
    ),
    "spearman": Metric("Spearman", "Spearman's rho", "Spearman's rho, unrounded and unclipped"),
    "quadratic_kappa": Metric(
        "quadratic kappa",
        "weighted kappa",
        "Cohen's kappa of labels, quadratic weights, five levels",
        "ground truth and scores are all at the same level",
    ),
}
"""Every metric by its key."""

for _level in LEVEL_NUMBERS:
    METRICS[f"sensitivity_{_level}"] = Metric(
        f"sensitivity, {_level}",
        SHARE,
        f"share predicted as {_level} among those whose ground truth is {_level}",
        f"no conversation has the ground truth {_level}",
    )
for _level in LEVEL_NUMBERS:
    METRICS[f"specificity_{_level}"] = Metric(
        f"specificity, {_level}",
        SHARE,
        f"share not predicted as {_level} among those whose ground truth is another",
        f"every conversation has the ground truth {_level}",
    )

COVERAGE = Metric(
    "coverage", SHARE, "share of the rows of the file with a usable score", "there is no prediction"
)
MEASURED = {"coverage": COVERAGE, **METRICS}


def _margins(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts of hits, of ground truths and of predictions of each level."""
    return np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)


def _table(sums: np.ndarray) -> np.ndarray:
    """Counts of conversations: rows are levels of the ground truth, columns those of the score."""
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LEVELS), len(LEVELS))


def resampling(people: pd.Series, bootstrap: ParticipantBootstrap | None) -> ParticipantBootstrap:
    """The bootstrap, if it can resample these people."""
    missing = people.isna()
    if bootstrap is None or (len(people) and missing.all()):
        return ParticipantBootstrap((), no_interval="no interval: participants are not known")
    if missing.any():
        count = f"{missing.sum():,}"
        reason = f"no interval: rows whose participant is not known: {count}"
        return ParticipantBootstrap((), no_interval=reason)
    too_few = bootstrap.too_few(people)
    if too_few:
        return ParticipantBootstrap((), no_interval=too_few)
    return bootstrap


class MeasuredRun:
    """Coverage and every metric of one run's predictions, and why there is no interval."""

    def __init__(
        self,
        run: Run,
        bootstrap: ParticipantBootstrap | None = None,
        policy: str = "strict",
    ):
        self.run = run
        score = run.scores(policy)
        self.rows = run.table[["participant", "conversation"]].assign(
            truth=run.ground_truth,
            score=score,
            order=np.where(np.isnan(run.above), score, run.above),
        )
        self.everyone = self.rows["participant"]
        self.bootstrap = resampling(self.everyone, bootstrap)
        self.scored = self.rows[np.isfinite(self.rows[["truth", "score"]]).all(axis=1)]
        self.n = len(self.scored)
        self.people = self.scored["participant"]
        self.truth = self.scored["truth"].to_numpy()
        self.score = self.scored["score"].to_numpy()
        self.order = self.scored["order"].to_numpy()
        self.rho: np.ndarray | None = None
        """Spearman's correlation, once :func:`correlate` has computed it."""
        self.ranked = [self.truth, self.order]
        if policy == "authors":
            # The authors' correlation is theirs to the last bit: distinct values are no ties, however near they are.
            self.ranked = [np.unique(column, return_inverse=True)[1] for column in self.ranked]
        self.sums = np.zeros((self.n, _CELLS + 1))
        cell = len(LEVELS) * (labels(self.truth) - 1) + labels(self.score) - 1
        self.sums[np.arange(self.n), cell.astype(int)] = 1
        self.sums[:, _CELLS] = np.abs(self.truth - self.score)

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric; NaN where it is undefined."""
        if self.rho is None:
            correlate([self])
        sums = resampled(self.bootstrap, np.asarray, self.sums, self.people)
        table = _table(sums)
        hits, truths, predictions = _margins(table)
        total = truths.sum(axis=-1)
        other_conversations = total[..., None] - truths
        sizes = truths + predictions
        usable = np.isfinite(self.run.score)
        with np.errstate(divide="ignore", invalid="ignore"):
            f1 = np.where(sizes > 0, 2 * hits / np.where(sizes > 0, sizes, 1), 0)
            sensitivity = hits / truths
            specificity = (other_conversations - predictions + hits) / other_conversations
            statistics = {
                "coverage": mean_of_rows(self.bootstrap, usable, self.everyone),
                "accuracy": hits.sum(axis=-1) / total,
                "macro_f1": f1.sum(axis=-1) / (sizes > 0).sum(axis=-1),
                "within_one": table[..., _NEAR].sum(axis=-1) / total,
                "mean_absolute_error": sums[..., _CELLS] / total,
                "spearman": self.rho,
                "quadratic_kappa": weighted_kappa(table, "quadratic"),
            }
        for column, level in enumerate(LEVEL_NUMBERS):
            statistics[f"sensitivity_{level}"] = sensitivity[..., column]
            statistics[f"specificity_{level}"] = specificity[..., column]
        return statistics

    def missing(self, name: str) -> str:
        """Why a metric that is NaN is so."""
        if name == "coverage" or (self.n and name != "spearman"):
            return MEASURED[name].undefined
        if self.n == 0:
            return _NOTHING
        if self.n == 1:
            return "only one conversation has both a score and a ground truth"
        if np.ptp(self.order) == 0:
            return "every score is the same"
        return "ground truth is the same everywhere"


def correlate(runs: Iterable[MeasuredRun]) -> None:
    """Compute Spearman's correlation of each run; runs with the same conversations rank their ground truth once."""
    together = defaultdict(list)
    for run in runs:
        if run.rho is None:
            together[run.ranked[0].tobytes(), *run.people].append(run)
    for alike in together.values():
        first = alike[0]
        columns = {"truth": first.ranked[0]}
        for number, run in enumerate(alike):
            columns[number] = run.ranked[1]
        pairs = [("truth", number) for number in range(len(alike))]
        rhos = rank_correlations(first.bootstrap, columns, pairs, first.people)
        for run, pair in zip(alike, pairs, strict=True):
            run.rho = rhos[pair]


class OverRuns:
    """Metrics of the runs of a judge: of each, their mean, and the spread between runs.

    Parameters
    ----------
    runs : mapping of str to Run
        Each run, by its name; or what was measured already, a :class:`MeasuredRun`.
    bootstrap : ParticipantBootstrap, optional
        Of the intervals; without it, or without participants, there are none.
    policy : {"strict", "authors"}
        See :meth:`sense7.judge.files.Run.scores`.
    lengths : DataFrame, optional
        How long each conversation is: one row per conversation, one column per measure, such as ``words``.

    Raises
    ------
    UserError
        If there is no run.
    """

    def __init__(
        self,
        runs: Mapping[str, "Run | MeasuredRun"],
        bootstrap: ParticipantBootstrap | None = None,
        policy: str = "strict",
        lengths: pd.DataFrame | None = None,
    ):
        if not runs:
            raise UserError(
                "There is no run to be evaluated. Give at least one file of predictions."
            )
        self.runs: dict[str, MeasuredRun] = {}
        for name, run in runs.items():
            is_measured = isinstance(run, MeasuredRun)
            self.runs[name] = run if is_measured else MeasuredRun(run, bootstrap, policy)
        self.lengths = pd.DataFrame() if lengths is None else lengths
        self.bootstrap = bootstrap
        for run in reversed(self.runs.values()):
            # One run whose participants are not known, and the mean has no interval.
            if run.bootstrap.no_interval:
                self.bootstrap = run.bootstrap
        self.people = max((run.people for run in self.runs.values()), key=len)

    @cached_property
    def replies(self) -> Run:
        """Predictions of all runs, one below the other."""
        return Run.joined(run.run for run in self.runs.values())

    def average(self, of_runs: Iterable[np.ndarray]) -> np.ndarray:
        """Mean over runs of a statistic in the data and in every resample; in the data alone if a run has no other."""
        of_runs = list(of_runs)
        length = min(map(len, of_runs))
        return np.mean([statistic[:length] for statistic in of_runs], axis=0)

    def number(
        self, label: str, statistic: np.ndarray, metric: Metric, undefined: str = "", people=None
    ) -> Number:
        """A number that is a mean over runs."""
        if people is None:
            people = self.people
        if len(self.runs) > 1:
            metric = replace(metric, method=f"mean over {len(self.runs):,} runs: {metric.method}")
        return metric.number(label, statistic, people, undefined)

    @cached_property
    def by_run(self) -> dict[str, dict[str, np.ndarray]]:
        """Run -> coverage and every metric."""
        correlate(self.runs.values())
        return {name: run.drawn for name, run in self.runs.items()}

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric, mean over runs."""
        runs = self.by_run.values()
        return {name: self.average(drawn[name] for drawn in runs) for name in MEASURED}

    def with_lengths(self, run: MeasuredRun) -> pd.DataFrame:
        """Rows of a run with a score, a ground truth and every length."""
        return run.scored.join(self.lengths, on="conversation").dropna(subset=list(self.lengths))

    @cached_property
    def length_correlations(self) -> list[dict[tuple[str, str], np.ndarray]]:
        """Spearman's correlations of score, ground truth and each length in each run, where all are there."""
        pairs = [("score", "truth"), *product(["score", "truth"], self.lengths)]
        of_runs = []
        for run in self.runs.values():
            rows = self.with_lengths(run)
            rhos = rank_correlations(run.bootstrap, rows, pairs, rows["participant"])
            of_runs.append(rhos)
        return of_runs

    def undefined(self, name: str) -> str:
        """In how many runs a metric is undefined, and why."""
        reasons = []
        for run, drawn in self.by_run.items():
            if np.isnan(drawn[name][0]):
                reasons.append(self.runs[run].missing(name))
        if len(self.runs) == 1 or not reasons:
            return "".join(reasons)
        runs = count_of(len(self.runs), "run")
        return f"undefined in {len(reasons):,} of {runs}: {reasons[0]}"

    @cached_property
    def mean(self) -> pd.DataFrame:
        """Table of estimates: mean over runs, one row per metric."""
        everyone = max((run.everyone for run in self.runs.values()), key=len)
        numbers = []
        for name, metric in MEASURED.items():
            people = everyone if name == "coverage" else self.people
            undefined = self.undefined(name)
            numbers.append(self.number(name, self.drawn[name], metric, undefined, people))
        return tabulate("metric", numbers, self.bootstrap)

    @property
    def spread(self) -> pd.DataFrame:
        """Table of estimates: standard deviation over runs, one row per metric."""
        rows = {}
        for name, metric in MEASURED.items():
            values = [drawn[name][0] for drawn in self.by_run.values()]
            reason = self.undefined(name)
            if len(values) == 1:
                reason = "one run has no spread"
            deviation = np.nan
            if not reason:
                deviation = np.std(values, ddof=1)
            rows[name] = estimate_row(
                deviation,
                n=len(values),
                unit=metric.unit,
                method=f"standard deviation (n - 1) over runs: {metric.method}",
                reason=reason,
            )
        return estimate_table(rows, "metric")

    @property
    def confusion(self) -> pd.DataFrame:
        """Counts of the labels of ground truth and score, in all runs."""
        counts = sum(_table(run.sums.sum(axis=0)) for run in self.runs.values()).astype(int)
        levels = list(LEVEL_NUMBERS)
        return pd.DataFrame(
            counts, pd.Index(levels, name="ground truth"), pd.Index(levels, name="prediction")
        )


def simulated_prefix(runs: Mapping[str, Run]) -> str:
    """Return what the method of every value of a simulated judge begins with; "" for the runs of any other judge."""
    if any(run.simulated for run in runs.values()):
        return f"{SIMULATED_WORDS}: "
    return ""


def run_metrics(
    run: Run, bootstrap: ParticipantBootstrap | None = None, policy: str = "strict"
) -> pd.DataFrame:
    """Coverage and every metric of one run under a policy."""
    return OverRuns({"": run}, bootstrap, policy).mean


def coverage(over: OverRuns) -> pd.DataFrame:
    """Share of the rows of all runs with a usable score, and number of rows with each status."""
    replies = over.replies
    people = pd.Series(replies.participant)
    bootstrap = resampling(people, over.bootstrap)
    usable = np.isfinite(replies.score)
    number = COVERAGE.number("coverage", mean_of_rows(bootstrap, usable, people), people)
    rows = {"coverage": number.row(bootstrap)}

    about = {"n": len(usable), "unit": "number of conversations"}
    for name in (*STATUSES, UNSTATED, NOT_ASKED):
        count = (replies.status == name).sum()
        if count or name != NOT_ASKED:
            rows[name] = estimate_row(count, **about, method=f"rows whose status is {name}")
    method = "rows whose score is doubtful: see the column reason"
    rows["doubtful"] = estimate_row(replies.doubtful.sum(), **about, method=method)
    return estimate_table(rows, "coverage")


def missing_bounds(over: OverRuns) -> pd.DataFrame:
    """Worst and best that the accuracy of all runs could be, for any values of the missing scores."""
    rows = over.replies.table.dropna(subset="ground_truth")
    bootstrap = resampling(rows["participant"], over.bootstrap)
    right = labels(rows["score"]) == labels(rows["ground_truth"])
    numbers = []
    for end, hits in {"worst": right, "best": right | rows["score"].isna()}.items():
        number = mean_number(
            bootstrap,
            hits,
            rows,
            label=f"accuracy_{end}",
            unit=SHARE,
            method=f"{METRICS['accuracy'].method}; missing scores at their {end}",
            undefined="no conversation has a ground truth",
        )
        numbers.append(number)
    return tabulate("bound", numbers, bootstrap)


def calibration(over: OverRuns) -> pd.DataFrame:
    """Mean ground truth by predicted level: what a score of 4 is worth."""
    rows = pd.concat([run.scored for run in over.runs.values()])
    numbers = []
    for level in LEVEL_NUMBERS:
        at_level = rows[labels(rows["score"]) == level]
        number = mean_number(
            resampling(at_level["participant"], over.bootstrap),
            at_level["truth"],
            at_level,
            label=level,
            unit="level, 1 to 5",
            method=f"mean ground truth of what is predicted as {level}",
            undefined=f"nothing is predicted as {level}",
        )
        numbers.append(number)
    return tabulate("prediction", numbers, over.bootstrap)


def stability(over: OverRuns) -> pd.DataFrame:
    """Agreement between runs: share of the conversations that have one label in all of them."""
    rows = pd.concat([run.rows for run in over.runs.values()])
    rows["label"] = labels(rows["score"])
    conversations = rows.groupby("conversation", sort=False).agg(
        participant=("participant", "first"),
        lowest=("label", "min"),
        highest=("label", "max"),
        scores=("label", "count"),
    )
    conversations = conversations[conversations["scores"] > 1]
    bootstrap = resampling(conversations["participant"], over.bootstrap)
    undefined = "no conversation has a score in two runs"
    if len(over.runs) == 1:
        undefined = "one run has nothing to agree with"
    number = mean_number(
        bootstrap,
        conversations["lowest"] == conversations["highest"],
        conversations,
        label="same_label",
        unit=SHARE,
        method="same label in every run with a score, at least two",
        undefined=undefined,
    )
    return tabulate("stability", [number], bootstrap)


def level_and_length(over: OverRuns) -> pd.DataFrame:
    """Mean error of a judge's scores, and Spearman's correlation of scores and words."""
    errors = []
    for run in over.runs.values():
        errors.append(mean_of_rows(run.bootstrap, run.score - run.truth, run.people))
    error = over.average(errors)
    correlation = np.full_like(error, np.nan)
    if "words" in over.lengths:
        correlation = over.average(rhos["score", "words"] for rhos in over.length_correlations)
    level_bias = Metric("", "level, difference", "mean of score minus ground truth")
    of_words = Metric("", "Spearman's rho", "Spearman's rho of score and words of the assistant")
    undefined = "scores or lengths are all the same"
    if not len(over.people):
        undefined = _NOTHING
    numbers = [
        over.number("level_bias", error, level_bias, undefined),
        over.number("length_spearman", correlation, of_words, undefined),
    ]
    return tabulate("measure", numbers, over.bootstrap)


def mean_recall(over: OverRuns) -> pd.DataFrame:
    r"""Mean recall of the levels that enough people gave, and by how much it exceeds what is possible without skill.

    .. math:: \frac{1}{K} \sum_{k} \frac{\text{conversations of level } k \text{ predicted as } k}
              {\text{conversations of level } k}, \quad \text{minus } \frac{1}{K}

    over the K levels of the ground truth that at least five participants gave. Scores that have nothing to do with the
    ground truth find each level as often as they name it; these shares add up to 1 at most, for any preference of
    levels, so that their mean is 1/K at most.
    """
    longest = max(over.runs.values(), key=lambda run: run.n)
    people_by_level = longest.people.groupby(labels(longest.truth)).nunique()
    levels = [
        level for level in LEVEL_NUMBERS if people_by_level.get(level, 0) >= FEWEST_PARTICIPANTS
    ]

    def recall(sums: np.ndarray) -> np.ndarray:
        hits, truths, _ = _margins(_table(sums))
        recalls = hits / truths
        return recalls[..., np.array(levels) - 1].mean(axis=-1)

    if len(levels) < 2:
        undefined = f"fewer than two levels were given by {FEWEST_PARTICIPANTS} participants"
        if longest.n == 0:
            undefined = _NOTHING
        elif longest.people.isna().all():
            undefined = "participants are not known"
        statistic = np.full_like(over.drawn["accuracy"], np.nan)
    else:
        undefined = "in some run no conversation of one of the levels has a score"
        of_runs = []
        for run in over.runs.values():
            of_runs.append(resampled(run.bootstrap, recall, run.sums, run.people))
        statistic = over.average(of_runs)
    names = ", ".join(map(str, levels)) or "none"
    method = (
        f"mean recall of the levels given by {FEWEST_PARTICIPANTS} or more participants ({names})"
    )
    classes = max(len(levels), 1)
    chance = "one divided by their number"
    if levels:
        chance = f"1/{classes}"
    recall_itself = Metric("", SHARE, method)
    above_chance = Metric("", f"{SHARE}, difference", f"{method} minus {chance}")
    numbers = [
        over.number("mean_recall", statistic, recall_itself, undefined),
        over.number("mean_recall_above_chance", statistic - 1 / classes, above_chance, undefined),
    ]
    return tabulate("recall", numbers, over.bootstrap)
