r"""The authors' metrics to the letter, and what they leave out.

Scores and ground truth are levels from 1 to 5 with decimals. *Labels* are these rounded half to even and clipped to
1..5. Rows that lack either are left out, as the authors do; that is why coverage and
:func:`missing_bounds` stand beside every table.

Intervals resample participants, exactly: every metric of labels is a function of the 5 x 5 table of counts, and
tables add up over participants; Spearman's rho of a draw is that of its weighted midranks. The spread between runs is
another uncertainty, and at temperature 0 by far the smaller; the two are never mixed.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, ratio
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.findings.ground_truth import labels
from sense7.judge.files import UNSTATED, counted_scores
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = ["calibration", "coverage", "label_metrics", "over_runs", "recognition", "run_metrics", "stability"]

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

_IN_DRAWS: WeakKeyDictionary[ParticipantBootstrap, dict[bytes, dict[str, np.ndarray]]] = WeakKeyDictionary()
"""Bootstrap -> digest of what was scored -> every metric in every draw: a run is compared, and is a jury's member."""


def _table(sums: np.ndarray) -> np.ndarray:
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LEVELS), len(LEVELS))


def _of_labels(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Every metric of labels from the 25 cells (rows truth, columns prediction) and the errors: (..., 26) -> (...)."""
    table = _table(sums)
    hits, truths, given = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)
    total, sizes = truths.sum(axis=-1), truths + given
    with np.errstate(divide="ignore", invalid="ignore"):
        f1 = np.where(sizes > 0, 2 * hits / np.where(sizes > 0, sizes, 1), 0)
        others = total[..., None] - truths
        sensitivity, specificity = hits / truths, (others - given + hits) / others
        return {
            "accuracy": hits.sum(axis=-1) / total,
            "macro_f1": f1.sum(axis=-1) / (sizes > 0).sum(axis=-1),
            "within_one": table[..., _NEAR].sum(axis=-1) / total,
            "mean_absolute_error": sums[..., _CELLS] / total,
            "quadratic_kappa": weighted_kappa(table, "quadratic"),
            **{f"sensitivity_{level}": sensitivity[..., level - 1] for level in LEVEL_NUMBERS},
            **{f"specificity_{level}": specificity[..., level - 1] for level in LEVEL_NUMBERS},
        }


# One row of estimates, with its interval if there can be one


def no_interval(participant: pd.Series | None, bootstrap: ParticipantBootstrap | None) -> str:
    """Why participants can't be resampled; "" if they can."""
    if participant is None or bootstrap is None or (len(participant) and participant.isna().all()):
        return "no interval: participants are not known"
    if participant.isna().any():
        return f"no interval: rows whose participant is not known: {participant.isna().sum():,}"
    bootstrap.codes(participant)  # refuses participants that it does not resample
    return bootstrap.too_few(participant)


def interval_row(value: float, draws, metric, n: int, participant, bootstrap, reason: str = "", **shown) -> dict:
    """A row of estimates with the interval of its draws; ``reason`` says why there is no value or no interval."""
    shown |= {"n": n, "unit": metric.unit, "method": metric.method}
    if reason or not np.isfinite(value):
        return estimate_row(value, reason=reason, **shown)
    return bootstrap.row(Estimate(value, *bootstrap.interval(draws, participant)), **shown)


def mean_row(values: np.ndarray, metric, participant, bootstrap, reason: str = "", **shown) -> dict:
    """A row of estimates of a mean over rows."""
    reason = reason or no_interval(participant, bootstrap)
    draws = None if reason else bootstrap.distribution(ratio, with_ones(values), participant)
    mean = values.mean() if len(values) else np.nan
    return interval_row(mean, draws, metric, len(values), participant, bootstrap, reason, **shown)


def with_ones(values: np.ndarray) -> np.ndarray:
    """Values with a column of ones, of which sums make means."""
    return np.column_stack([values, np.ones(len(values))]).astype(float)


def _paired(truth, score) -> tuple[np.ndarray, np.ndarray]:
    truth, score = np.asarray(truth, dtype=float), np.asarray(score, dtype=float)
    if truth.shape != score.shape:  # numpy would stretch a single score over all truths
        raise ValueError(f"{truth.size} ground truths and {score.size} scores")
    return truth, score


def _plain(participant) -> pd.Series:
    return pd.Series(np.asarray(participant, dtype=object), dtype=object)  # not a Series' own index, which may repeat


class Run:
    """Coverage and every metric of one run: values, the same in every draw, and why there is no interval."""

    def __init__(self, truth, score, participant=None, bootstrap=None, order=None, usable=None, *, exact=False):
        truth, score = _paired(truth, score)
        both = np.isfinite(truth) & np.isfinite(score)
        self.truth, self.score, self.n, self.bootstrap = truth[both], score[both], int(both.sum()), bootstrap
        self.order = self.score if order is None else np.asarray(order, dtype=float)[both]
        # The authors' correlation is theirs to the last bit: distinct values are no ties, however near they are.
        ranked = (self.truth, self.order)
        self.ranked = [np.unique(column, return_inverse=True)[1] for column in ranked] if exact else ranked
        self.usable, self.everyone = usable, None if participant is None else _plain(participant)
        self.participant = None if participant is None else self.everyone[both].reset_index(drop=True)
        self.sums = np.zeros((self.n, _CELLS + 1))
        cell = len(LEVELS) * (labels(self.truth) - 1) + labels(self.score) - 1
        self.sums[np.arange(self.n), cell.astype(int)] = 1
        self.sums[:, _CELLS] = np.abs(self.truth - self.score)
        self.no_interval = no_interval(self.participant, bootstrap)

    @classmethod
    def of(cls, frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, policy: str = "strict") -> "Run":
        """Take a frame of predictions."""
        known = frame["ground_truth"], counted_scores(frame, policy), frame.get("participant")
        return cls(*known, bootstrap, frame.get("above"), np.isfinite(counted_scores(frame)), exact=policy == "authors")

    @property
    def confusion(self) -> np.ndarray:
        """Counts of labels: rows truth, columns prediction."""
        return _table(self.sums.sum(axis=0))

    @cached_property
    def found(self) -> dict[str, float]:
        """Coverage and every metric; NaN where it is undefined."""
        found = _of_labels(self.sums.sum(axis=0))
        found["spearman"] = spearman_in_draws(*self.ranked, np.ones((1, self.n)))[0]
        covered = {}
        if self.usable is not None:
            covered["coverage"] = self.usable.mean() if len(self.usable) else np.nan
        return covered | {name: float(found[name]) for name in METRICS}

    @cached_property
    def draws(self) -> dict[str, np.ndarray]:
        """Coverage and every metric in every draw; nothing without an interval; not to be changed."""
        if self.no_interval:
            return {}
        bootstrap, known = self.bootstrap, _IN_DRAWS.setdefault(self.bootstrap, {})
        codes = bootstrap.codes(self.participant)
        rests_on = np.array((self.truth, self.score, *self.ranked, codes), dtype=float)
        key = hashlib.sha256(rests_on.tobytes()).digest()
        if key not in known:
            found = _of_labels(bootstrap.distribution(lambda sums: sums, self.sums, self.participant))
            spearman = partial(spearman_in_draws, *self.ranked, codes=codes)
            found["spearman"] = bootstrap.in_every_draw(spearman)
            known[key] = {name: found[name] for name in METRICS}
        covered = {}
        if self.usable is not None:
            covered["coverage"] = bootstrap.distribution(ratio, with_ones(self.usable), self.everyone)
        return known[key] | covered

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

    def n_of(self, name: str) -> int:
        """How many rows a metric rests on."""
        return len(self.usable) if name == "coverage" else self.n

    @cached_property
    def table(self) -> pd.DataFrame:
        """Table of estimates, one row per metric."""
        rows = {}
        for name, value in self.found.items():
            reason = "" if np.isfinite(value) else self.missing(name)
            if name == "coverage":
                rows[name] = mean_row(self.usable, COVERAGE, self.everyone, self.bootstrap, reason)
            else:
                known = METRICS[name], self.n, self.participant, self.bootstrap, reason or self.no_interval
                rows[name] = interval_row(value, self.draws.get(name), *known)
        return estimate_table(rows, "metric")


def label_metrics(
    truth, score, participant=None, bootstrap: ParticipantBootstrap | None = None, order=None
) -> pd.DataFrame:
    """Every metric of scores, with its interval; Spearman's rho is that of ``order``, if that is given."""
    return Run(truth, score, participant, bootstrap, order).table


def run_metrics(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Coverage and every metric of one run's predictions under a policy."""
    return Run.of(frame, bootstrap, policy).table


def spearman_p(frame: pd.DataFrame, policy: str = "strict") -> float:
    """P value of Spearman's rho as the authors' evaluation prints it: that of ``scipy.stats.spearmanr``."""
    run = Run.of(frame, None, policy)
    if run.n < 3 or np.ptp(run.score) == 0 or np.ptp(run.truth) == 0:
        return np.nan
    from scipy.special import stdtr  # scipy.stats has the test itself, and takes half a second to import

    rho, freedom = float(spearman_in_draws(*run.ranked, np.ones((1, run.n)))[0]), run.n - 2
    return 2 * float(stdtr(freedom, -abs(rho) * np.sqrt(freedom / max((1 - rho) * (1 + rho), np.finfo(float).tiny))))


def coverage(frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Share of the rows with a usable score, and number of rows with each status."""
    usable = np.isfinite(counted_scores(frame))
    people = _plain(frame["participant"]) if "participant" in frame else None
    if len(usable):
        rows = {"coverage": mean_row(usable, COVERAGE, people, bootstrap)}
    else:
        rows = {"coverage": estimate_row(n=0, unit=SHARE, method=COVERAGE.method, reason=NO_PREDICTION)}
    known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
    status = np.where(usable, "ok", known.where(known != "ok", UNSTATED).to_numpy(dtype=object))
    listed = (*STATUSES, UNSTATED, *([NOT_ASKED] if NOT_ASKED in status else []))
    counts = {name: ((status == name).sum(), f"rows whose status is {name}") for name in listed}
    if "ground_truth" in frame:
        counts["without_ground_truth"] = (frame["ground_truth"].isna().sum(), "rows without ground truth")
    if "doubtful" in frame:
        doubtful = frame["doubtful"].eq(True).sum()
        counts["doubtful"] = (doubtful, "rows whose score is doubtful: see the column reason")
    for name, (number, method) in counts.items():
        rows[name] = estimate_row(int(number), n=len(frame), unit="conversations", method=method)
    return estimate_table(rows, "coverage")


def missing_bounds(truth, score, participant=None, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Worst and best that accuracy, within 1 and mean absolute error could be, for any values of the missing scores."""
    truth, score = _paired(truth, score)
    known = np.isfinite(truth)
    participant = None if participant is None else _plain(participant)[known].reset_index(drop=True)
    truth, score = truth[known], score[known]
    missing = ~np.isfinite(score)
    filled = np.where(missing, truth, score)
    apart, error = np.abs(labels(truth) - labels(filled)), np.abs(truth - filled)
    bounds = {
        ("accuracy", "worst"): (apart == 0) & ~missing,
        ("accuracy", "best"): apart == 0,
        ("within_one", "worst"): (apart <= 1) & ~missing,
        ("within_one", "best"): apart <= 1,
        ("mean_absolute_error", "worst"): np.where(missing, np.maximum(truth - 1, len(LEVELS) - truth), error),
        ("mean_absolute_error", "best"): error,
    }
    rows = {}
    for (name, end), bound in bounds.items():
        metric = Metric("", METRICS[name].unit, f"{METRICS[name].method}; missing scores at their {end}")
        shown = {"n": 0, "unit": metric.unit, "method": metric.method, "reason": "no conversation has a ground truth"}
        row = mean_row(bound, metric, participant, bootstrap) if len(bound) else estimate_row(**shown)
        rows[f"{name}_{end}"] = row
    return estimate_table(rows, "bound")


def _several(frames: pd.DataFrame | Sequence[pd.DataFrame], policy: str) -> list[Run]:
    return [Run.of(frame, None, policy) for frame in ([frames] if isinstance(frames, pd.DataFrame) else frames)]


def confusion(frames: pd.DataFrame | Sequence[pd.DataFrame], *, policy: str = "strict") -> pd.DataFrame:
    """Confusion matrix of the labels of ground truth and score."""
    counts = sum((run.confusion for run in _several(frames, policy)), np.zeros((len(LEVELS), len(LEVELS))))
    levels = list(LEVEL_NUMBERS)
    return pd.DataFrame(counts.astype(int), pd.Index(levels, name="ground truth"), pd.Index(levels, name="prediction"))


def calibration(
    frames: pd.DataFrame | Sequence[pd.DataFrame],
    bootstrap: ParticipantBootstrap | None = None,
    *,
    policy: str = "strict",
) -> pd.DataFrame:
    """Mean ground truth by predicted level: what a score of 4 is worth."""
    runs = _several(frames, policy)
    truth = np.concatenate([np.empty(0), *(run.truth for run in runs)])
    predicted = labels(np.concatenate([np.empty(0), *(run.score for run in runs)]))
    participant, rows = _everyone(runs), {}
    for level in LEVEL_NUMBERS:
        chosen = predicted == level
        metric = Metric("", "level, 1 to 5", f"mean ground truth of what is predicted as {level}")
        if chosen.any():
            who = None if participant is None else participant[chosen]
            rows[level] = mean_row(truth[chosen], metric, who, bootstrap)
        else:
            reason = f"nothing is predicted as {level}"
            rows[level] = estimate_row(n=0, unit=metric.unit, method=metric.method, reason=reason)
    return estimate_table(rows, "prediction")


def _everyone(runs: Sequence) -> pd.Series | None:
    """Participants of all rows of several runs; None where one does not know them."""
    known = bool(runs) and all(run.participant is not None for run in runs)
    return pd.concat([run.participant for run in runs], ignore_index=True) if known else None


@dataclass(frozen=True, eq=False)
class OverRuns:
    """Metrics of several runs of a judge: their mean, the spread between runs, the mean in every draw, and the runs."""

    mean: pd.DataFrame
    spread: pd.DataFrame
    draws: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    measured: Mapping[str, Run] = field(default_factory=dict, repr=False)

    @cached_property
    def runs(self) -> dict[str, pd.DataFrame]:
        """Name of a run -> its table, as :func:`run_metrics` gives it."""
        return {name: run.table for name, run in self.measured.items()}


def over_runs(
    frames: Mapping[str, pd.DataFrame] | Sequence[pd.DataFrame],
    bootstrap: ParticipantBootstrap | None = None,
    *,
    policy: str = "strict",
) -> OverRuns:
    """Every metric of every run, its mean over runs, and its spread from run to run."""
    if not isinstance(frames, Mapping):
        frames = {str(number): frame for number, frame in enumerate(frames, 1)}
    if not frames:
        raise UserError("There is no run to be evaluated. Give at least one file of predictions.")
    measured = {name: Run.of(frame, bootstrap, policy) for name, frame in frames.items()}
    runs, names = list(measured.values()), ("coverage", *METRICS)
    reason = next(filter(None, (run.no_interval for run in runs)), "")
    everyone = None if reason else _everyone(runs)
    draws = {} if reason else {name: np.mean([run.draws[name] for run in runs], axis=0) for name in names}
    means, spreads = {}, {}
    for name in names:
        metric, values, undefined = METRICS.get(name, COVERAGE), np.array([run.found[name] for run in runs]), ""
        if lacking := [run.missing(name) for run in runs if np.isnan(run.found[name])]:
            undefined = f"undefined in {len(lacking):,} of {count_of(len(runs), 'run')}: {lacking[0]}"
        n, over = max(run.n_of(name) for run in runs), replace(metric, method=mean_over(len(runs), metric.method))
        means[name] = interval_row(values.mean(), draws.get(name), over, n, everyone, bootstrap, undefined or reason)
        why = undefined if len(runs) > 1 else "one run has no spread"
        spreads[name] = estimate_row(
            np.nan if why else values.std(ddof=1),
            n=len(values),
            unit="level, difference" if metric.unit.startswith("level") else metric.unit,
            method=f"standard deviation (n - 1) over runs: {metric.method}",
            reason=why,
        )
    return OverRuns(estimate_table(means, "metric"), estimate_table(spreads, "metric"), draws, measured)


def mean_over(runs: int, method: str) -> str:
    """Method of a mean over runs, in words."""
    return f"mean over {runs:,} runs: {method}" if runs > 1 else method


def stability(
    frames: Sequence[pd.DataFrame], bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Agreement between runs about one conversation: share with one label, and standard deviation of the scores."""
    metrics = {
        "same_label": Metric("", SHARE, "same label in every run with a score, at least two"),
        "score_deviation": Metric(
            "", "level, difference", "mean over conversations of the standard deviation (n - 1) over runs"
        ),
    }
    runs = [
        pd.Series(counted_scores(frame, policy), index=frame["conversation"].to_numpy(dtype=object)) for frame in frames
    ]
    runs = [run[run.index.notna()] for run in runs]
    if any(run.index.has_duplicates for run in runs):
        raise ValueError("a conversation is there twice in a run")
    scores = pd.concat(runs, axis=1, keys=range(len(runs))) if len(runs) > 1 else pd.DataFrame()
    scores = scores[scores.notna().sum(axis=1) > 1]
    if scores.empty:
        reason = "one run has nothing to agree with" if len(runs) < 2 else "no conversation has a score in two runs"
        rows = {name: estimate_row(n=0, unit=m.unit, method=m.method, reason=reason) for name, m in metrics.items()}
        return estimate_table(rows, "stability")
    predicted = labels(scores)
    values = {
        "same_label": np.nanmax(predicted, axis=1) == np.nanmin(predicted, axis=1),
        "score_deviation": scores.std(axis=1, ddof=1).to_numpy(),
    }
    people = None
    if all("participant" in frame for frame in frames):  # of each conversation as the first run that knows it has it
        pairs = pd.concat([frame[["conversation", "participant"]] for frame in frames], ignore_index=True).dropna()
        people = _plain(
            pairs.drop_duplicates("conversation").set_index("conversation")["participant"].reindex(scores.index)
        )
    rows = {name: mean_row(value, metrics[name], people, bootstrap) for name, value in values.items()}
    return estimate_table(rows, "stability")


def level_and_length(
    frames: Sequence[pd.DataFrame],
    words: pd.Series | None = None,
    bootstrap: ParticipantBootstrap | None = None,
    *,
    policy: str = "strict",
) -> pd.DataFrame:
    """Mean error of a judge's scores, and Spearman's correlation of scores and length."""
    metrics = {
        "level_bias": Metric("", "level, difference", mean_over(len(frames), "mean of score minus ground truth")),
        "length_spearman": Metric(
            "", "Spearman's rho", mean_over(len(frames), "Spearman's rho of score and words of the assistant")
        ),
    }
    runs, errors, lengths = _several(frames, policy), [], []
    for frame, run in zip(frames, runs, strict=True):
        known = np.isfinite(counted_scores(frame, policy)) & np.isfinite(frame["ground_truth"].to_numpy(dtype=float))
        found = np.zeros(run.n) if words is None else words.reindex(frame["conversation"][known]).fillna(0)
        lengths.append(np.asarray(found, dtype=float))
        errors.append(run.score - run.truth)
    reason = next(filter(None, (no_interval(run.participant, bootstrap) for run in runs)), "")
    n, everyone = max((run.n for run in runs), default=0), None if reason else _everyone(runs)

    def correlations(run: Run, length: np.ndarray) -> np.ndarray:
        one = partial(spearman_in_draws, length, run.score, codes=bootstrap.codes(run.participant))
        return bootstrap.in_every_draw(one)

    statistics = {
        "level_bias": (
            [error.mean() if len(error) else np.nan for error in errors],
            lambda: [
                bootstrap.distribution(ratio, with_ones(error), run.participant)
                for run, error in zip(runs, errors, strict=True)
            ],
        ),
        "length_spearman": (
            [
                spearman_in_draws(length, run.score, np.ones((1, run.n)))[0]
                for run, length in zip(runs, lengths, strict=True)
            ],
            lambda: [correlations(run, length) for run, length in zip(runs, lengths, strict=True)],
        ),
    }
    rows = {}
    for name, (values, drawn) in statistics.items():
        value = float(np.mean(values)) if values else np.nan
        why = reason
        if not np.isfinite(value):
            why = "scores or lengths are all the same" if n else _NOTHING
        draws = None if why else np.mean(drawn(), axis=0)
        rows[name] = interval_row(value, draws, metrics[name], n, everyone, bootstrap, why)
    return estimate_table(rows, "measure")


def recognition(
    frames: Sequence[pd.DataFrame], bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Youden's index of each level: how much more often a judge gives it where it is right than where it is not."""
    method = mean_over(len(frames), "sensitivity minus the share of the other conversations that get this level")
    metric = Metric("", SHARE, f"{method}; all {len(LEVELS)} intervals together hold")
    runs = _several(frames, policy)
    reason = next(filter(None, (no_interval(run.participant, bootstrap) for run in runs)), "")
    counts = np.array([run.confusion for run in runs] or [np.zeros((len(LEVELS), len(LEVELS)))])
    values, draws, together = _youden(counts).mean(axis=0), None, None
    if not reason and runs:
        indices = [
            bootstrap.distribution(lambda sums: _youden(_table(sums)), one.sums, one.participant) for one in runs
        ]
        draws = np.mean(indices, axis=0)
    if bootstrap is not None:  # five intervals that together have the confidence, by Bonferroni
        together = replace(bootstrap, confidence=1 - (1 - bootstrap.confidence) / len(LEVELS))
    rows = {}
    for column, level in enumerate(LEVEL_NUMBERS):
        why, people = reason, None
        if not counts.any():
            why = _NOTHING
        elif np.isnan(values[column]):
            side = "specificity" if counts[:, column].any() else "sensitivity"
            why = METRICS[f"{side}_{level}"].undefined
        elif not counts[:, :, column].any():
            why = NEVER_GIVEN
        if not why:
            at_level = [run.participant[labels(run.truth) == level] for run in runs]
            people = pd.concat(at_level, ignore_index=True)
        n = int(counts[:, column].sum(axis=1).max())
        drawn = None if why else draws[:, column]
        rows[level] = interval_row(values[column], drawn, metric, n, people, together, why)
    return estimate_table(rows, "level")


def _youden(table: np.ndarray) -> np.ndarray:
    """Youden's index of every level: (..., 5, 5) -> (..., 5)."""
    hits, rows, columns = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return hits / rows - (columns - hits) / (table.sum(axis=(-2, -1))[..., None] - rows)


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
