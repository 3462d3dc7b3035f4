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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.findings.core import Number, resampled, share, tabulate, widened
from sense7.findings.ground_truth import labels
from sense7.judge.files import UNSTATED, counted_scores
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = ["OverRuns", "calibration", "coverage", "recognition", "run_metrics", "stability"]

LEVEL_NUMBERS = range(1, len(LEVELS) + 1)
AUTHORS_METRICS = ("accuracy", "macro_f1", "within_one", "mean_absolute_error", "spearman")
SHARE = "share of conversations"
NEVER_GIVEN = "no interval: the judge never gives this level"
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

    def number(self, label: str, drawn: np.ndarray, people, undefined: str = "", **more) -> Number:
        """A number of this kind: the statistic in the data and in every resample, over rows of these people."""
        undefined = undefined or self.undefined
        return Number(
            label,
            partial(np.asarray, drawn),
            self.unit,
            self.method,
            people,
            undefined=undefined,
            **more,
        )


METRICS: Mapping[str, Metric] = {
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
    **{
        f"sensitivity_{level}": Metric(
            f"sensitivity, {level}",
            SHARE,
            f"share predicted as {level} among those whose ground truth is {level}",
            f"no conversation has the ground truth {level}",
        )
        for level in LEVEL_NUMBERS
    },
    **{
        f"specificity_{level}": Metric(
            f"specificity, {level}",
            SHARE,
            f"share not predicted as {level} among those whose ground truth is another",
            f"every conversation has the ground truth {level}",
        )
        for level in LEVEL_NUMBERS
    },
}
"""Every metric by its key."""

COVERAGE = Metric(
    "coverage", SHARE, "share of the rows of the file with a usable score", "there is no prediction"
)
MEASURED = {"coverage": COVERAGE, **METRICS}


def _table(sums: np.ndarray) -> np.ndarray:
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LEVELS), len(LEVELS))


@dataclass(frozen=True)
class Unresampled:
    """Stands for a bootstrap where participants can't be resampled: there is no resample, and the reason is given."""

    reason: str
    confidence: float = np.nan
    row = ParticipantBootstrap.row

    def too_few(self, participants) -> str:
        """Why there is no interval."""
        return self.reason

    def interval(self, draws, participants) -> tuple[float, float, str]:
        """No interval, and why."""
        return np.nan, np.nan, self.reason

    def distribution(self, statistic: Callable, values: np.ndarray, participants) -> np.ndarray:
        """Of no resample."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(statistic(values.sum(axis=0)))[None][:0]

    def in_every_draw(self, statistic: Callable) -> np.ndarray:
        """Of no resample."""
        return np.empty(0)


def people_of(frame: pd.DataFrame) -> pd.Series:
    """Participant of each row; missing where no column says."""
    known = (
        frame["participant"].to_numpy(dtype=object)
        if "participant" in frame
        else [None] * len(frame)
    )
    return pd.Series(known, dtype=object)


def resampling(
    people: pd.Series, bootstrap: ParticipantBootstrap | None
) -> ParticipantBootstrap | Unresampled:
    """The bootstrap, if it can resample these people."""
    if bootstrap is None or (len(people) and people.isna().all()):
        return Unresampled("no interval: participants are not known")
    if unknown := people.isna().sum():
        return Unresampled(f"no interval: rows whose participant is not known: {unknown:,}")
    few = bootstrap.too_few(people)
    return Unresampled(few) if few else bootstrap


def means(bootstrap: ParticipantBootstrap | Unresampled, values, people: pd.Series) -> np.ndarray:
    """Mean over rows, in the data and in every resample."""
    return share(bootstrap, values, np.ones(len(values)), people)


class Run:
    """Coverage and every metric of one run's predictions, and why there is no interval."""

    def __init__(
        self,
        frame: pd.DataFrame,
        bootstrap: ParticipantBootstrap | None = None,
        policy: str = "strict",
    ):
        truth, score = frame["ground_truth"].to_numpy(dtype=float), counted_scores(frame, policy)
        everyone = people_of(frame)
        both = np.isfinite(truth) & np.isfinite(score)
        self.frame, self.counted, self.n, self.everyone = frame, score, int(both.sum()), everyone
        self.bootstrap, self.people = resampling(everyone, bootstrap), everyone[both]
        self.truth, self.score, self.rows = truth[both], score[both], frame[both]
        self.order = self.rows["above"].to_numpy(dtype=float) if "above" in frame else self.score
        # The authors' correlation is theirs to the last bit: distinct values are no ties, however near they are.
        ranked = (self.truth, self.order)
        exact = policy == "authors"
        self.ranked = (
            [np.unique(column, return_inverse=True)[1] for column in ranked] if exact else ranked
        )
        self.sums = np.zeros((self.n, _CELLS + 1))
        cell = len(LEVELS) * (labels(self.truth) - 1) + labels(self.score) - 1
        self.sums[np.arange(self.n), cell.astype(int)] = 1
        self.sums[:, _CELLS] = np.abs(self.truth - self.score)

    def resampled(self, statistic: Callable, values: np.ndarray) -> np.ndarray:
        """A function of sums over the rows with score and ground truth."""
        return resampled(self.bootstrap, statistic, values, self.people)

    def spearman(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Spearman's correlation of two columns of these rows."""
        once = spearman_in_draws(x, y, np.ones((1, self.n)))
        drawn = lambda weights: spearman_in_draws(x, y, weights, self.bootstrap.codes(self.people))  # noqa: E731
        return np.concatenate([once, self.bootstrap.in_every_draw(drawn)])

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric; NaN where it is undefined."""
        sums = self.resampled(np.asarray, self.sums)
        # Rows truth, columns prediction.
        table = _table(sums)
        hits, truths, given = (
            np.diagonal(table, axis1=-2, axis2=-1),
            table.sum(axis=-1),
            table.sum(axis=-2),
        )
        total, sizes = truths.sum(axis=-1), truths + given
        with np.errstate(divide="ignore", invalid="ignore"):
            f1 = np.where(sizes > 0, 2 * hits / np.where(sizes > 0, sizes, 1), 0)
            others = total[..., None] - truths
            by_level = {
                "sensitivity": hits / truths,
                "specificity": (others - given + hits) / others,
            }
            return {
                "coverage": means(
                    self.bootstrap, np.isfinite(counted_scores(self.frame)), self.everyone
                ),
                "accuracy": hits.sum(axis=-1) / total,
                "macro_f1": f1.sum(axis=-1) / (sizes > 0).sum(axis=-1),
                "within_one": table[..., _NEAR].sum(axis=-1) / total,
                "mean_absolute_error": sums[..., _CELLS] / total,
                "spearman": self.spearman(*self.ranked),
                "quadratic_kappa": weighted_kappa(table, "quadratic"),
                **{
                    f"{name}_{level}": shares[..., level - 1]
                    for name, shares in by_level.items()
                    for level in LEVEL_NUMBERS
                },
            }

    def missing(self, name: str) -> str:
        """Why a metric that is NaN is so."""
        if name == "coverage" or (self.n and name != "spearman"):
            return MEASURED[name].undefined
        if self.n < 2:
            return (
                "only one conversation has both a score and a ground truth" if self.n else _NOTHING
            )
        return (
            "every score is the same"
            if np.ptp(self.order) == 0
            else "ground truth is the same everywhere"
        )


class OverRuns:
    """Metrics of the runs of a judge: of each, their mean, and the spread between runs.

    Parameters
    ----------
    frames : mapping or sequence of DataFrame
        Predictions of each run, by its name.
    bootstrap : ParticipantBootstrap, optional
        Of the intervals; without it, or without participants, there are none.
    policy : {"strict", "authors"}
        See :func:`sense7.judge.files.counted_scores`.

    Raises
    ------
    UserError
        If there is no run.
    """

    def __init__(
        self,
        frames: Mapping | Sequence,
        bootstrap: ParticipantBootstrap | None = None,
        policy: str = "strict",
    ):
        if not isinstance(frames, Mapping):
            frames = {str(number): frame for number, frame in enumerate(frames, 1)}
        if not frames:
            raise UserError(
                "There is no run to be evaluated. Give at least one file of predictions."
            )
        self.runs = {
            name: one if isinstance(one, Run) else Run(one, bootstrap, policy)
            for name, one in frames.items()
        }
        runs = list(self.runs.values())
        # One run whose participants are not known, and the mean has no interval.
        self.bootstrap = next(
            (run.bootstrap for run in runs if isinstance(run.bootstrap, Unresampled)), bootstrap
        )
        self.people = max((run.people for run in runs), key=len)

    def over(self, statistic: Callable[[Run], np.ndarray]) -> np.ndarray:
        """Mean over runs of a statistic."""
        found = [statistic(run) for run in self.runs.values()]
        length = min(map(len, found))  # one where some run has no interval
        return np.mean([values[:length] for values in found], axis=0)

    def number(
        self, label: str, drawn: np.ndarray, metric: Metric, undefined: str = "", people=None
    ) -> Number:
        """A number that is a mean over runs."""
        about = replace(metric, method=mean_over(len(self.runs), metric.method))
        return about.number(label, drawn, self.people if people is None else people, undefined)

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric, mean over runs."""
        return {name: self.over(lambda run, name=name: run.drawn[name]) for name in MEASURED}

    def _undefined(self, name: str) -> str:
        """In how many runs a metric is undefined, and why."""
        why = [run.missing(name) for run in self.runs.values() if np.isnan(run.drawn[name][0])]
        if len(self.runs) == 1 or not why:
            return "".join(why)
        return f"undefined in {len(why):,} of {count_of(len(self.runs), 'run')}: {why[0]}"

    @cached_property
    def each(self) -> dict[str, "OverRuns"]:
        """The same of every run alone."""
        alone = len(self.runs) == 1
        return {
            name: self if alone else OverRuns({name: run}, run.bootstrap)
            for name, run in self.runs.items()
        }

    @cached_property
    def mean(self) -> pd.DataFrame:
        """Table of estimates: mean over runs, one row per metric."""
        people = {"coverage": max((run.everyone for run in self.runs.values()), key=len)}
        numbers = [
            self.number(name, self.drawn[name], metric, self._undefined(name), people.get(name))
            for name, metric in MEASURED.items()
        ]
        return tabulate("metric", numbers, self.bootstrap)

    @property
    def spread(self) -> pd.DataFrame:
        """Table of estimates: standard deviation over runs, one row per metric."""
        rows = {}
        for name, metric in MEASURED.items():
            values = [run.drawn[name][0] for run in self.runs.values()]
            why = self._undefined(name) if len(values) > 1 else "one run has no spread"
            rows[name] = estimate_row(
                np.nan if why else np.std(values, ddof=1),
                n=len(values),
                unit="level, difference" if metric.unit.startswith("level") else metric.unit,
                method=f"standard deviation (n - 1) over runs: {metric.method}",
                reason=why,
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


def mean_over(runs: int, method: str) -> str:
    """Method of a mean over runs, in words."""
    return f"mean over {runs:,} runs: {method}" if runs > 1 else method


def run_metrics(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, policy: str = "strict"
) -> pd.DataFrame:
    """Coverage and every metric of one run's predictions under a policy."""
    return OverRuns([frame], bootstrap, policy).mean


def coverage(frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Share of the rows with a usable score, and number of rows with each status."""
    usable, people = np.isfinite(counted_scores(frame)), people_of(frame)
    bootstrap = resampling(people, bootstrap)
    rows = {
        "coverage": COVERAGE.number("coverage", means(bootstrap, usable, people), people).row(
            bootstrap
        )
    }
    known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
    status = np.where(usable, "ok", known.where(known != "ok", UNSTATED).to_numpy(dtype=object))
    listed = (*STATUSES, UNSTATED, *([NOT_ASKED] if NOT_ASKED in status else []))
    counts = {name: ((status == name).sum(), f"rows whose status is {name}") for name in listed}
    if "doubtful" in frame:
        doubtful = frame["doubtful"].eq(True).sum()
        counts["doubtful"] = (doubtful, "rows whose score is doubtful: see the column reason")
    for name, (number, method) in counts.items():
        rows[name] = estimate_row(int(number), n=len(frame), unit="conversations", method=method)
    return estimate_table(rows, "coverage")


def missing_bounds(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None
) -> pd.DataFrame:
    """Worst and best that the accuracy could be, for any values of the missing scores."""
    frame = frame[frame["ground_truth"].notna()]
    score, people, metric = counted_scores(frame), people_of(frame), METRICS["accuracy"]
    bootstrap, right = (
        resampling(people, bootstrap),
        labels(score) == labels(frame["ground_truth"].to_numpy()),
    )
    numbers = []
    for end, bound in {"worst": right, "best": right | ~np.isfinite(score)}.items():
        about = replace(metric, method=f"{metric.method}; missing scores at their {end}")
        drawn = means(bootstrap, bound, people)
        numbers.append(
            about.number(f"accuracy_{end}", drawn, people, "no conversation has a ground truth")
        )
    return tabulate("bound", numbers, bootstrap)


def calibration(over: OverRuns) -> pd.DataFrame:
    """Mean ground truth by predicted level: what a score of 4 is worth."""
    runs, numbers = over.runs.values(), []
    truth, score = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("truth", "score")
    )
    people = pd.concat([run.people for run in runs], ignore_index=True)
    for level in LEVEL_NUMBERS:
        chosen = labels(score) == level
        metric = Metric("", "level, 1 to 5", f"mean ground truth of what is predicted as {level}")
        drawn = means(resampling(people[chosen], over.bootstrap), truth[chosen], people[chosen])
        numbers.append(
            metric.number(level, drawn, people[chosen], f"nothing is predicted as {level}")
        )
    return tabulate("prediction", numbers, over.bootstrap)


def stability(over: OverRuns) -> pd.DataFrame:
    """Agreement between runs: share of the conversations that have one label in all of them."""
    frames = [
        run.frame.assign(counted=run.counted, participant=run.everyone.to_numpy())
        for run in over.runs.values()
    ]
    named = [frame.dropna(subset="conversation").set_index("conversation") for frame in frames]
    scores = pd.concat([frame["counted"] for frame in named], axis=1, keys=range(len(named)))
    scores = scores[scores.notna().sum(axis=1) > 1]
    people = pd.concat(
        [frame["participant"] for frame in named]
    ).dropna()  # of each conversation as the first run has it
    people = people[~people.index.duplicated()].reindex(scores.index).astype(object)
    bootstrap = resampling(people, over.bootstrap)
    reason = (
        "one run has nothing to agree with"
        if len(named) < 2
        else "no conversation has a score in two runs"
    )
    predicted = labels(scores.to_numpy(dtype=float))
    highest = np.nanmax(predicted, axis=1, initial=0)[:, None]
    same = means(bootstrap, (np.isnan(predicted) | (predicted == highest)).all(axis=1), people)
    metric = Metric("", SHARE, "same label in every run with a score, at least two")
    numbers = [metric.number("same_label", same, people, reason)]
    return tabulate("stability", numbers, bootstrap)


def level_and_length(over: OverRuns, words: pd.Series | None = None) -> pd.DataFrame:
    """Mean error of a judge's scores, and Spearman's correlation of scores and length."""

    def length(run: Run) -> np.ndarray:
        known = (
            np.zeros(run.n) if words is None else words.reindex(run.rows["conversation"]).fillna(0)
        )
        return run.spearman(np.asarray(known, dtype=float), run.score)

    error = over.over(lambda run: means(run.bootstrap, run.score - run.truth, run.people))
    bias = Metric("", "level, difference", "mean of score minus ground truth")
    correlation = Metric("", "Spearman's rho", "Spearman's rho of score and words of the assistant")
    undefined = "scores or lengths are all the same" if len(over.people) else _NOTHING
    numbers = [
        over.number("level_bias", error, bias, undefined),
        over.number("length_spearman", over.over(length), correlation, undefined),
    ]
    return tabulate("measure", numbers, over.bootstrap)


def recognition(over: OverRuns) -> pd.DataFrame:
    """Youden's index of each level: how much more often a judge gives it where it is right than where it is not."""

    def youden(sums: np.ndarray) -> np.ndarray:
        table = _table(sums)
        hits, rows, columns = (
            np.diagonal(table, axis1=-2, axis2=-1),
            table.sum(axis=-1),
            table.sum(axis=-2),
        )
        return hits / rows - (columns - hits) / (table.sum(axis=(-2, -1))[..., None] - rows)

    runs, numbers = list(over.runs.values()), []
    drawn = over.over(lambda run: run.resampled(youden, run.sums))
    counts = np.array([_table(run.sums.sum(axis=0)) for run in runs])
    method = mean_over(
        len(runs), "sensitivity minus the share of the other conversations that get this level"
    )
    metric = Metric("", SHARE, f"{method}; all {len(LEVELS)} intervals together hold")
    for column, level in enumerate(LEVEL_NUMBERS):
        side = "specificity" if counts[:, column].any() else "sensitivity"
        undefined = METRICS[f"{side}_{level}"].undefined if counts.any() else _NOTHING
        people = max((run.people[labels(run.truth) == level] for run in runs), key=len)
        number = metric.number(level, drawn[:, column], people, undefined)
        if not counts[:, :, column].any():
            number = replace(
                number, statistic=partial(Estimate, drawn[0, column], reason=NEVER_GIVEN)
            )
        numbers.append(number)
    return tabulate("level", numbers, widened(over.bootstrap, len(LEVELS)))


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
    often = [
        level for level in LEVEL_NUMBERS if people_by_level.get(level, 0) >= FEWEST_PARTICIPANTS
    ]
    places = [level - 1 for level in often]

    def recall(sums: np.ndarray) -> np.ndarray:
        table = _table(sums)[..., places, :]
        hits = np.stack([table[..., row, place] for row, place in enumerate(places)], axis=-1)
        return (hits / table.sum(axis=-1)).mean(axis=-1)

    if len(often) < 2:
        undefined = f"fewer than two levels were given by {FEWEST_PARTICIPANTS} participants"
        if longest.n == 0:
            undefined = _NOTHING
        elif longest.people.isna().all():
            undefined = "participants are not known"
        values = np.full_like(over.drawn["accuracy"], np.nan)
    else:
        undefined = "in some run no conversation of one of the levels has a score"
        values = over.over(lambda run: run.resampled(recall, run.sums))
    named = ", ".join(map(str, often)) or "none"
    method = (
        f"mean recall of the levels given by {FEWEST_PARTICIPANTS} or more participants ({named})"
    )
    chance = 1 / max(len(often), 1)
    metrics = {
        "mean_recall": (Metric("", SHARE, method), values),
        "mean_recall_above_chance": (
            Metric("", SHARE, f"{method} minus 1/{max(len(often), 1)}"),
            values - chance,
        ),
    }
    numbers = []
    for name, (metric, drawn) in metrics.items():
        numbers.append(over.number(name, drawn, metric, undefined))
    return tabulate("recall", numbers, over.bootstrap)
