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
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, ratio
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.findings.core import resampled, widened
from sense7.findings.ground_truth import labels
from sense7.judge.files import UNSTATED, counted_scores
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = ["OverRuns", "calibration", "coverage", "recognition", "run_metrics", "stability"]

LEVEL_NUMBERS = range(1, len(LEVELS) + 1)
AUTHORS_METRICS = ("accuracy", "macro_f1", "within_one", "mean_absolute_error", "spearman")
SHARE = "share of conversations"
NO_PREDICTION = "there is no prediction"
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


METRICS: Mapping[str, Metric] = {
    "accuracy": Metric("accuracy", SHARE, f"equal {_LABELS}"),
    "macro_f1": Metric("macro F1", "F1", "mean F1 over the classes seen in truth or prediction, 0 where undefined"),
    "within_one": Metric("within 1", SHARE, f"{_LABELS} at most 1 apart"),
    "mean_absolute_error": Metric("MAE", "level, difference", "mean absolute error, unrounded and unclipped"),
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

COVERAGE = Metric("coverage", SHARE, "share of the rows of the file with a usable score")


def _table(sums: np.ndarray) -> np.ndarray:
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LEVELS), len(LEVELS))


# One row of estimates, with its interval if there can be one


def no_interval(participant: pd.Series | None, bootstrap: ParticipantBootstrap | None) -> str:
    """Why participants can't be resampled; "" if they can."""
    if participant is None or bootstrap is None or (len(participant) and participant.isna().all()):
        return "no interval: participants are not known"
    if participant.isna().any():
        return f"no interval: rows whose participant is not known: {participant.isna().sum():,}"
    bootstrap.codes(participant)  # refuses participants that it does not resample
    return bootstrap.too_few(participant)


def in_draws(statistic: Callable, values: np.ndarray, participant, bootstrap, why: str) -> np.ndarray:
    """A function of sums over rows, in the data and, unless there is a reason why not, in every resample."""
    if not why:
        return resampled(bootstrap, statistic, values, participant)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic(np.asarray(values, dtype=float).sum(axis=0)))[None]


def drawn_row(drawn: np.ndarray, metric: Metric, n: int, participant, bootstrap, reason: str = "", **shown) -> dict:
    """A row of estimates of a statistic; ``reason`` says why there is no value or no interval."""
    shown |= {"n": n, "unit": metric.unit, "method": metric.method}
    if reason or not np.isfinite(drawn[0]):
        return estimate_row(drawn[0], reason=reason, **shown)
    return bootstrap.row(Estimate(float(drawn[0]), *bootstrap.interval(drawn[1:], participant)), **shown)


def mean_row(values: np.ndarray, metric: Metric, participant, bootstrap, reason: str = "") -> dict:
    """A row of estimates of a mean over rows."""
    reason = reason or no_interval(participant, bootstrap)
    drawn = in_draws(ratio, with_ones(values), participant, bootstrap, reason)
    return drawn_row(drawn, metric, len(values), participant, bootstrap, reason)


def with_ones(values: np.ndarray) -> np.ndarray:
    """Values with a column of ones, of which sums make means."""
    return np.column_stack([values, np.ones(len(values))]).astype(float)


def _people(frame: pd.DataFrame) -> pd.Series | None:
    known = "participant" in frame
    return pd.Series(frame["participant"].to_numpy(dtype=object), dtype=object) if known else None


class Run:
    """Coverage and every metric of one run's predictions, and why there is no interval."""

    def __init__(self, frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, policy: str = "strict"):
        truth, score = frame["ground_truth"].to_numpy(dtype=float), counted_scores(frame, policy)
        both, everyone = np.isfinite(truth) & np.isfinite(score), _people(frame)
        self.frame, self.bootstrap, self.counted, self.n = frame, bootstrap, score, int(both.sum())
        self.truth, self.score, self.rows = truth[both], score[both], frame[both]
        self.order = self.rows["above"].to_numpy(dtype=float) if "above" in frame else self.score
        # The authors' correlation is theirs to the last bit: distinct values are no ties, however near they are.
        ranked = (self.truth, self.order)
        exact = policy == "authors"
        self.ranked = [np.unique(column, return_inverse=True)[1] for column in ranked] if exact else ranked
        self.usable, self.everyone = np.isfinite(counted_scores(frame)), everyone
        self.participant = None if everyone is None else everyone[both].reset_index(drop=True)
        self.sums = np.zeros((self.n, _CELLS + 1))
        cell = len(LEVELS) * (labels(self.truth) - 1) + labels(self.score) - 1
        self.sums[np.arange(self.n), cell.astype(int)] = 1
        self.sums[:, _CELLS] = np.abs(self.truth - self.score)
        self.no_interval = no_interval(self.participant, bootstrap)

    def in_draws(self, statistic: Callable, values: np.ndarray) -> np.ndarray:
        """A function of sums over the rows with score and ground truth."""
        return in_draws(statistic, values, self.participant, self.bootstrap, self.no_interval)

    def spearman(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Spearman's correlation of two columns of these rows."""
        once = spearman_in_draws(x, y, np.ones((1, self.n)))
        if self.no_interval:
            return once
        drawn = partial(spearman_in_draws, x, y, codes=self.bootstrap.codes(self.participant))
        return np.concatenate([once, self.bootstrap.in_every_draw(drawn)])

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric; NaN where it is undefined."""
        sums = self.in_draws(np.asarray, self.sums)
        # Rows truth, columns prediction.
        table = _table(sums)
        hits, truths, given = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)
        total, sizes = truths.sum(axis=-1), truths + given
        why = self.no_interval or no_interval(self.everyone, self.bootstrap)
        with np.errstate(divide="ignore", invalid="ignore"):
            f1 = np.where(sizes > 0, 2 * hits / np.where(sizes > 0, sizes, 1), 0)
            others = total[..., None] - truths
            sensitivity, specificity = hits / truths, (others - given + hits) / others
            return {
                "coverage": in_draws(ratio, with_ones(self.usable), self.everyone, self.bootstrap, why),
                "accuracy": hits.sum(axis=-1) / total,
                "macro_f1": f1.sum(axis=-1) / (sizes > 0).sum(axis=-1),
                "within_one": table[..., _NEAR].sum(axis=-1) / total,
                "mean_absolute_error": sums[..., _CELLS] / total,
                "spearman": self.spearman(*self.ranked),
                "quadratic_kappa": weighted_kappa(table, "quadratic"),
                **{f"sensitivity_{level}": sensitivity[..., level - 1] for level in LEVEL_NUMBERS},
                **{f"specificity_{level}": specificity[..., level - 1] for level in LEVEL_NUMBERS},
            }

    def missing(self, name: str) -> str:
        """Why a metric that is NaN is so."""
        if name == "coverage":
            return NO_PREDICTION
        if self.n == 0:
            return _NOTHING
        if name != "spearman":
            return METRICS[name].undefined
        if self.n == 1:
            return "only one conversation has both a score and a ground truth"
        return "every score is the same" if np.ptp(self.order) == 0 else "ground truth is the same everywhere"

    @property
    def naive_p(self) -> float:
        """P value of Spearman's rho as the authors' evaluation prints it: that of ``scipy.stats.spearmanr``."""
        if self.n < 3 or np.ptp(self.score) == 0 or np.ptp(self.truth) == 0:
            return np.nan
        from scipy.special import stdtr  # scipy.stats has the test itself, and takes half a second to import

        rho, freedom = float(self.drawn["spearman"][0]), self.n - 2
        t = abs(rho) * np.sqrt(freedom / max((1 - rho) * (1 + rho), np.finfo(float).tiny))
        return 2 * float(stdtr(freedom, -t))


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
        self, frames: Mapping | Sequence, bootstrap: ParticipantBootstrap | None = None, policy: str = "strict"
    ):
        if not isinstance(frames, Mapping):
            frames = {str(number): frame for number, frame in enumerate(frames, 1)}
        if not frames:
            raise UserError("There is no run to be evaluated. Give at least one file of predictions.")
        self.runs = {name: one if isinstance(one, Run) else Run(one, bootstrap, policy) for name, one in frames.items()}
        self.bootstrap, runs = bootstrap, list(self.runs.values())
        self.no_interval = next(filter(None, (run.no_interval for run in runs)), "")
        known = all(run.participant is not None for run in runs)
        self.participant = pd.concat([run.participant for run in runs], ignore_index=True) if known else None
        self.n = max(run.n for run in runs)

    def over(self, statistic: Callable[[Run], np.ndarray]) -> np.ndarray:
        """Mean over runs of a statistic."""
        found = [statistic(run) for run in self.runs.values()]
        length = min(map(len, found))  # one where some run has no interval
        return np.mean([values[:length] for values in found], axis=0)

    def row(self, drawn: np.ndarray, metric: Metric, undefined: str = "", n: int | None = None) -> dict:
        """A row of estimates of a mean over runs."""
        about, n = replace(metric, method=mean_over(len(self.runs), metric.method)), self.n if n is None else n
        return drawn_row(drawn, about, n, self.participant, self.bootstrap, undefined or self.no_interval)

    @cached_property
    def drawn(self) -> dict[str, np.ndarray]:
        """Coverage and every metric, mean over runs."""
        return {name: self.over(lambda run, name=name: run.drawn[name]) for name in ("coverage", *METRICS)}

    def _undefined(self, name: str) -> str:
        """In how many runs a metric is undefined, and why."""
        why = [run.missing(name) for run in self.runs.values() if np.isnan(run.drawn[name][0])]
        if len(self.runs) == 1 or not why:
            return "".join(why)
        return f"undefined in {len(why):,} of {count_of(len(self.runs), 'run')}: {why[0]}"

    @property
    def each(self) -> dict[str, "OverRuns"]:
        """The same of every run alone."""
        alone = len(self.runs) == 1
        return {name: self if alone else OverRuns({name: run}, self.bootstrap) for name, run in self.runs.items()}

    @cached_property
    def mean(self) -> pd.DataFrame:
        """Table of estimates: mean over runs, one row per metric."""
        rows = {}
        for name, drawn in self.drawn.items():
            n, why = self.n, self._undefined(name)
            if name == "coverage":
                n = max(len(run.usable) for run in self.runs.values())
                why = why or next(
                    filter(None, (no_interval(run.everyone, self.bootstrap) for run in self.runs.values())), ""
                )
            rows[name] = self.row(drawn, METRICS.get(name, COVERAGE), why, n)
        return estimate_table(rows, "metric")

    @property
    def spread(self) -> pd.DataFrame:
        """Table of estimates: standard deviation over runs, one row per metric."""
        rows = {}
        for name in ("coverage", *METRICS):
            metric, values = METRICS.get(name, COVERAGE), [run.drawn[name][0] for run in self.runs.values()]
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
        return pd.DataFrame(counts, pd.Index(levels, name="ground truth"), pd.Index(levels, name="prediction"))


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
    usable = np.isfinite(counted_scores(frame))
    rows = {"coverage": mean_row(usable, COVERAGE, _people(frame), bootstrap, "" if len(usable) else NO_PREDICTION)}
    known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
    status = np.where(usable, "ok", known.where(known != "ok", UNSTATED).to_numpy(dtype=object))
    listed = (*STATUSES, UNSTATED, *([NOT_ASKED] if NOT_ASKED in status else []))
    counts = {name: ((status == name).sum(), f"rows whose status is {name}") for name in listed}
    counts["without_ground_truth"] = (frame["ground_truth"].isna().sum(), "rows without ground truth")
    if "doubtful" in frame:
        doubtful = frame["doubtful"].eq(True).sum()
        counts["doubtful"] = (doubtful, "rows whose score is doubtful: see the column reason")
    for name, (number, method) in counts.items():
        rows[name] = estimate_row(int(number), n=len(frame), unit="conversations", method=method)
    return estimate_table(rows, "coverage")


def missing_bounds(frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Worst and best that accuracy, within 1 and mean absolute error could be, for any values of the missing scores."""
    frame = frame[frame["ground_truth"].notna()]
    truth, score = frame["ground_truth"].to_numpy(dtype=float), counted_scores(frame)
    missing = ~np.isfinite(score)
    filled = np.where(missing, truth, score)
    apart, error = np.abs(labels(truth) - labels(filled)), np.abs(truth - filled)
    furthest = np.maximum(truth - 1, len(LEVELS) - truth)
    bounds = {
        "accuracy": ((apart == 0) & ~missing, apart == 0),
        "within_one": ((apart <= 1) & ~missing, apart <= 1),
        "mean_absolute_error": (np.where(missing, furthest, error), error),
    }
    rows, reason = {}, "" if len(truth) else "no conversation has a ground truth"
    for name, ends in bounds.items():
        for end, bound in zip(("worst", "best"), ends, strict=True):
            metric = replace(METRICS[name], method=f"{METRICS[name].method}; missing scores at their {end}")
            rows[f"{name}_{end}"] = mean_row(bound, metric, _people(frame), bootstrap, reason)
    return estimate_table(rows, "bound")


def calibration(over: OverRuns) -> pd.DataFrame:
    """Mean ground truth by predicted level: what a score of 4 is worth."""
    truth = np.concatenate([run.truth for run in over.runs.values()])
    predicted = labels(np.concatenate([run.score for run in over.runs.values()]))
    rows = {}
    for level in LEVEL_NUMBERS:
        chosen = predicted == level
        metric = Metric("", "level, 1 to 5", f"mean ground truth of what is predicted as {level}")
        who = None if over.participant is None else over.participant[chosen]
        reason = "" if chosen.any() else f"nothing is predicted as {level}"
        rows[level] = mean_row(truth[chosen], metric, who, over.bootstrap, reason)
    return estimate_table(rows, "prediction")


def stability(over: OverRuns) -> pd.DataFrame:
    """Agreement between runs about one conversation: share with one label, and standard deviation of the scores."""
    deviation = "mean over conversations of the standard deviation (n - 1) over runs"
    metrics = {
        "same_label": Metric("", SHARE, "same label in every run with a score, at least two"),
        "score_deviation": Metric("", "level, difference", deviation),
    }
    runs = [pd.Series(run.counted, run.frame["conversation"].to_numpy(dtype=object)) for run in over.runs.values()]
    scores = pd.concat([run[run.index.notna()] for run in runs], axis=1, keys=range(len(runs)))
    scores, people = scores[scores.notna().sum(axis=1) > 1], None
    reason = "" if len(scores) else "no conversation has a score in two runs"
    reason = "one run has nothing to agree with" if len(runs) < 2 else reason
    if not reason and over.participant is not None:  # of each conversation as the first run that knows it has it
        frames = [run.frame[["conversation", "participant"]] for run in over.runs.values()]
        pairs = pd.concat(frames, ignore_index=True).dropna().drop_duplicates("conversation").set_index("conversation")
        people = _people(pairs.reindex(scores.index))
    predicted = labels(scores.to_numpy(dtype=float))
    values = {
        "same_label": (np.isnan(predicted) | (predicted == np.nanmax(predicted, axis=1, initial=0)[:, None])).all(
            axis=1
        ),
        "score_deviation": scores.std(axis=1, ddof=1).to_numpy(),
    }
    rows = {name: mean_row(value, metrics[name], people, over.bootstrap, reason) for name, value in values.items()}
    return estimate_table(rows, "stability")


def level_and_length(over: OverRuns, words: pd.Series | None = None) -> pd.DataFrame:
    """Mean error of a judge's scores, and Spearman's correlation of scores and length."""

    def length(run: Run) -> np.ndarray:
        known = np.zeros(run.n) if words is None else words.reindex(run.rows["conversation"]).fillna(0)
        return run.spearman(np.asarray(known, dtype=float), run.score)

    correlation = Metric("", "Spearman's rho", "Spearman's rho of score and words of the assistant")
    statistics = {
        "level_bias": (
            Metric("", "level, difference", "mean of score minus ground truth"),
            lambda run: run.in_draws(ratio, with_ones(run.score - run.truth)),
        ),
        "length_spearman": (correlation, length),
    }
    rows, undefined = {}, "scores or lengths are all the same" if over.n else _NOTHING
    for name, (metric, statistic) in statistics.items():
        drawn = over.over(statistic)
        rows[name] = over.row(drawn, metric, "" if np.isfinite(drawn[0]) else undefined)
    return estimate_table(rows, "measure")


def recognition(over: OverRuns) -> pd.DataFrame:
    """Youden's index of each level: how much more often a judge gives it where it is right than where it is not."""
    runs = list(over.runs.values())
    together = None if over.bootstrap is None else widened(over.bootstrap, len(LEVELS))
    method = mean_over(len(runs), "sensitivity minus the share of the other conversations that get this level")
    metric = Metric("", SHARE, f"{method}; all {len(LEVELS)} intervals together hold")
    counts, drawn = np.array([_table(run.sums.sum(axis=0)) for run in runs]), over.over(_youden)
    rows = {}
    for column, level in enumerate(LEVEL_NUMBERS):
        why, people = over.no_interval, None
        if not counts.any():
            why = _NOTHING
        elif np.isnan(drawn[0, column]):
            side = "specificity" if counts[:, column].any() else "sensitivity"
            why = METRICS[f"{side}_{level}"].undefined
        elif not counts[:, :, column].any():
            why = NEVER_GIVEN
        if not why:
            people = pd.concat([run.participant[labels(run.truth) == level] for run in runs], ignore_index=True)
        n = int(counts[:, column].sum(axis=1).max())
        rows[level] = drawn_row(drawn[:, column], metric, n, people, together, why)
    return estimate_table(rows, "level")


def _youden(run: Run) -> np.ndarray:
    """Youden's index of every level: (1 + draws, 5)."""

    def index(sums: np.ndarray) -> np.ndarray:
        table = _table(sums)
        hits, rows, columns = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)
        return hits / rows - (columns - hits) / (table.sum(axis=(-2, -1))[..., None] - rows)

    return run.in_draws(index, run.sums)


def levels_recognized(table: pd.DataFrame) -> dict:
    """Number of levels that a judge recognizes: those whose whole interval of :func:`recognition` lies above zero."""
    defined = table[table["estimate"].notna()]
    # Of a judge that is never wrong every resample gives the same index.
    above = (table["low"] > 0) | ((table["reason"] == NO_WIDTH) & (table["estimate"] > 0))
    lacking = defined["reason"][~defined["reason"].isin(["", NEVER_GIVEN, NO_WIDTH])]
    reason = "" if len(defined) else table["reason"].iloc[0]
    if len(lacking) and len(lacking) == (defined["reason"] != NEVER_GIVEN).sum():  # no level could be decided
        reason = lacking.iloc[0]
    return {
        "estimate": None if reason else int(above.sum()),
        "n": int(table["n"].sum()),
        "unit": "levels",
        "method": "levels whose sensitivity minus the share of the other conversations that get them lies above zero, "
        "the whole interval; intervals of the five levels together",
        "reason": reason,
    }
