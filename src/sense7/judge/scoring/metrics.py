r"""How good a judge's scores are: the authors' metrics to the letter, and what they leave out.

Scores and ground truth are levels from 1 to 5 with decimals. *Labels* are these rounded half to even and clipped to
1..5. Rows that lack either are left out, as the authors do; that is why coverage and
:func:`missing_bounds` stand beside every table.

Intervals resample participants, exactly: every metric of labels is a function of the 5 x 5 table of counts, and
tables add up over participants; Spearman's rho of a draw is that of its weighted midranks.

Two kinds of uncertainty are never mixed. Between runs a judge's answers differ
(:attr:`OverRuns.spread`); were other people asked, the conversations would differ
(the intervals). At temperature 0 the second is by far the larger.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, ratio
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.findings.ground_truth import labels
from sense7.judge.predictions import UNSTATED, counted_scores
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "OverRuns",
    "calibration",
    "confusion",
    "coverage",
    "label_metrics",
    "level_and_length",
    "levels_recognized",
    "metrics_in_draws",
    "over_runs",
    "recognition",
    "stability",
]

LEVEL_NUMBERS = range(1, len(LEVELS) + 1)
AUTHORS_METRICS = ("accuracy", "macro_f1", "within_one", "mean_absolute_error", "spearman")
_CELLS = len(LEVELS) ** 2
SHARE = "share of conversations"
_TRUTH = "level, 1 to 5"
_LABELS = "labels (rounded half to even, clipped to 1..5)"


# A metric of labels is a function of sums: the 25 cells of the table (rows truth, columns prediction), and the
# sum of absolute errors. Shapes are (..., 26) -> (...), so that a draw costs no more than a number.


def _table(sums: np.ndarray) -> np.ndarray:
    return sums[..., :_CELLS].reshape(*sums.shape[:-1], len(LEVELS), len(LEVELS))


def _hits(table: np.ndarray) -> np.ndarray:
    return np.diagonal(table, axis1=-2, axis2=-1)


def _share_within(distance: int) -> Callable[[np.ndarray], np.ndarray]:
    near = np.abs(np.subtract.outer(np.arange(len(LEVELS)), np.arange(len(LEVELS)))) <= distance

    def share(sums: np.ndarray) -> np.ndarray:
        table = _table(sums)
        return table[..., near].sum(axis=-1) / table.sum(axis=(-2, -1))

    return share


def _f1(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F1 of each class, 0 where undefined, and whether the class is seen in truth or prediction."""
    table = _table(sums)
    sizes = table.sum(axis=-1) + table.sum(axis=-2)
    seen = sizes > 0
    return np.where(seen, 2 * _hits(table) / np.where(seen, sizes, 1), 0), seen


def _macro_f1(sums: np.ndarray) -> np.ndarray:
    scores, seen = _f1(sums)
    return scores.sum(axis=-1) / seen.sum(axis=-1)


def _mean_absolute_error(sums: np.ndarray) -> np.ndarray:
    return sums[..., _CELLS] / sums[..., :_CELLS].sum(axis=-1)


def _kappa(sums: np.ndarray) -> np.ndarray:
    return weighted_kappa(_table(sums), "quadratic")


def _sensitivity(level: int) -> Callable[[np.ndarray], np.ndarray]:
    def share(sums: np.ndarray) -> np.ndarray:
        table = _table(sums)
        return table[..., level - 1, level - 1] / table[..., level - 1, :].sum(axis=-1)

    return share


def _specificity(level: int) -> Callable[[np.ndarray], np.ndarray]:
    def share(sums: np.ndarray) -> np.ndarray:
        others = np.delete(_table(sums), level - 1, axis=-2)
        return np.delete(others, level - 1, axis=-1).sum(axis=(-2, -1)) / others.sum(axis=(-2, -1))

    return share


@dataclass(frozen=True)
class _Metric:
    title: str
    unit: str
    method: str
    statistic: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    undefined: str = ""


METRICS: Mapping[str, _Metric] = {
    "accuracy": _Metric("accuracy", SHARE, f"equal {_LABELS}", _share_within(0)),
    "macro_f1": _Metric(
        "macro F1",
        "F1",
        "mean F1 over the classes seen in truth or prediction, 0 where undefined",
        _macro_f1,
    ),
    "within_one": _Metric("within 1", SHARE, f"{_LABELS} at most 1 apart", _share_within(1)),
    "mean_absolute_error": _Metric(
        "MAE", "level, difference", "mean absolute error, unrounded and unclipped", _mean_absolute_error
    ),
    "spearman": _Metric("Spearman", "Spearman's rho", "Spearman's rho, unrounded and unclipped"),
    "quadratic_kappa": _Metric(
        "quadratic kappa",
        "weighted kappa",
        "Cohen's kappa of labels, quadratic weights, five levels",
        _kappa,
        "ground truth and scores are all at the same level",
    ),
    **{
        f"sensitivity_{level}": _Metric(
            f"sensitivity, {level}",
            SHARE,
            f"share predicted as {level} among those whose ground truth is {level}",
            _sensitivity(level),
            f"no conversation has the ground truth {level}",
        )
        for level in LEVEL_NUMBERS
    },
    **{
        f"specificity_{level}": _Metric(
            f"specificity, {level}",
            SHARE,
            f"share not predicted as {level} among those whose ground truth is another",
            _specificity(level),
            f"every conversation has the ground truth {level}",
        )
        for level in LEVEL_NUMBERS
    },
}
"""Every metric by its key: how it is called, its unit, and how it is computed."""

NO_PREDICTION = "there is no prediction"
_COVERAGE = _Metric("coverage", SHARE, "share of the rows of the file with a usable score")


_IN_DRAWS: WeakKeyDictionary[ParticipantBootstrap, dict[bytes, dict[str, np.ndarray]]] = WeakKeyDictionary()
"""Bootstrap -> digest of what was scored -> every metric in every draw: a run is compared, and is a jury's member."""


class _Scored:
    """Truth and score of the rows that have both, their participants, and all metrics of them."""

    def __init__(self, truth, score, participant, order=None):
        truth, score = _numbers(truth, score)
        complete = np.isfinite(truth) & np.isfinite(score)
        self.truth, self.score = truth[complete], score[complete]
        self.order = self.score if order is None else np.asarray(order, dtype=float)[complete]
        self.n = int(complete.sum())
        # Not by a Series' own index, which may repeat.
        self.participant = None if participant is None else _plain(participant)[complete].reset_index(drop=True)
        self.sums = np.zeros((self.n, _CELLS + 1))
        cell = len(LEVELS) * (labels(self.truth) - 1) + labels(self.score) - 1
        self.sums[np.arange(self.n), cell.astype(int)] = 1
        self.sums[:, _CELLS] = np.abs(self.truth - self.score)

    def values(self) -> dict[str, float]:
        """Every metric."""
        return {name: float(value) for name, value in self._metrics(self.sums.sum(axis=0), None).items()}

    def draws(self, bootstrap: ParticipantBootstrap) -> dict[str, np.ndarray]:
        """Every metric in every draw; not to be changed."""
        known = _IN_DRAWS.setdefault(bootstrap, {})
        rests_on = (self.truth, self.score, self.order, bootstrap.codes(self.participant))
        key = hashlib.sha256(np.array(rests_on, dtype=float).tobytes()).digest()
        if key not in known:
            resampled = bootstrap.distribution(lambda sums: sums, self.sums, self.participant)
            known[key] = self._metrics(resampled, bootstrap)
        return dict(known[key])

    def _metrics(self, sums: np.ndarray, bootstrap: ParticipantBootstrap | None) -> dict[str, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = {name: metric.statistic(sums) for name, metric in METRICS.items() if metric.statistic}
        if bootstrap is None:
            values["spearman"] = spearman_in_draws(self.truth, self.order, np.ones((1, self.n)))[0]
        else:
            codes = bootstrap.codes(self.participant)
            values["spearman"] = bootstrap.in_every_draw(
                partial(spearman_in_draws, self.truth, self.order, codes=codes)
            )
        return {name: values[name] for name in METRICS}

    def missing(self, name: str) -> str:
        """Why a metric that is NaN is so."""
        if self.n == 0:
            return "no conversation has both a score and a ground truth"
        if name != "spearman":
            return METRICS[name].undefined
        if self.n == 1:
            return "only one conversation has both a score and a ground truth"
        return "every score is the same" if np.ptp(self.order) == 0 else "ground truth is the same everywhere"


def _numbers(truth, score) -> tuple[np.ndarray, np.ndarray]:
    truth, score = np.asarray(truth, dtype=float), np.asarray(score, dtype=float)
    if truth.shape != score.shape:  # numpy would stretch a single score over all truths
        raise ValueError(f"{truth.size} ground truths and {score.size} scores")
    return truth, score


def _plain(participant) -> pd.Series:
    return pd.Series(np.asarray(participant, dtype=object), dtype=object)


def label_metrics(
    truth, score, participant=None, bootstrap: ParticipantBootstrap | None = None, order=None
) -> pd.DataFrame:
    """Every metric of one run, with its interval."""
    return _metric_table(_Scored(truth, score, participant, order), bootstrap)


def _metric_table(scored: _Scored, bootstrap: ParticipantBootstrap | None, draws: Mapping | None = None):
    no_interval = _no_interval(scored.participant, bootstrap)
    if draws is None and not no_interval:
        draws = scored.draws(bootstrap)
    rows = {}
    for name, value in scored.values().items():
        missing = "" if np.isfinite(value) else scored.missing(name)
        drawn = None if no_interval else draws[name]
        rows[name] = _row(METRICS[name], value, drawn, scored.n, scored.participant, bootstrap, missing or no_interval)
    return estimate_table(rows, "metric")


def _no_interval(participant: pd.Series | None, bootstrap: ParticipantBootstrap | None) -> str:
    """Why participants can't be resampled; "" if they can."""
    if participant is None or bootstrap is None or (len(participant) and participant.isna().all()):
        return "no interval: participants are not known"
    if participant.isna().any():
        return f"no interval: rows whose participant is not known: {participant.isna().sum():,}"
    bootstrap.codes(participant)  # refuses participants that it does not resample
    return bootstrap.too_few(participant)


def _row(metric: _Metric, value: float, draws, n: int, participant, bootstrap, reason: str) -> dict:
    """A row of estimates; ``reason`` says why there is no value or no interval, if that is known."""
    if reason or not np.isfinite(value):
        return estimate_row(value, n=n, unit=metric.unit, method=metric.method, reason=reason)
    estimate = Estimate(value, *bootstrap.interval(draws, participant))
    return bootstrap.row(estimate, n=n, unit=metric.unit, method=metric.method)


def run_metrics(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Coverage and every metric of one run's predictions under a policy."""
    return _Run(frame, bootstrap, policy).table


def spearman_p(frame: pd.DataFrame, policy: str = "strict") -> float:
    """P value of Spearman's rho as the authors' evaluation prints it: that of ``scipy.stats.spearmanr``."""
    scored = _scored(frame, policy)
    if scored.n < 3 or np.ptp(scored.score) == 0 or np.ptp(scored.truth) == 0:
        return np.nan
    from scipy.special import stdtr  # scipy.stats has the test itself, and takes half a second to import

    rho = float(spearman_in_draws(scored.truth, scored.score, np.ones((1, scored.n)))[0])
    freedom = scored.n - 2
    return 2 * float(stdtr(freedom, -abs(rho) * np.sqrt(freedom / max((1 - rho) * (1 + rho), np.finfo(float).tiny))))


def _scored(frame: pd.DataFrame, policy: str) -> _Scored:
    return _Scored(frame["ground_truth"], counted_scores(frame, policy), frame.get("participant"), frame.get("above"))


def coverage(frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Share of the rows with a usable score, and number of rows with each status."""
    usable = np.isfinite(counted_scores(frame))
    rows = {"coverage": _coverage_row(usable, frame.get("participant"), bootstrap)}
    known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
    status = np.where(usable, "ok", known.where(known != "ok", UNSTATED).to_numpy(dtype=object))
    for name in (*STATUSES, UNSTATED, *([NOT_ASKED] if NOT_ASKED in status else [])):
        rows[name] = _count(int((status == name).sum()), len(frame), f"rows whose status is {name}")
    if "ground_truth" in frame:
        number = int(frame["ground_truth"].isna().sum())
        rows["without_ground_truth"] = _count(number, len(frame), "rows without ground truth")
    if "doubtful" in frame:
        number = int(frame["doubtful"].eq(True).sum())
        rows["doubtful"] = _count(number, len(frame), "rows whose score is doubtful: see the column reason")
    return estimate_table(rows, "coverage")


def _coverage_row(usable: np.ndarray, participant, bootstrap: ParticipantBootstrap | None, draws=None) -> dict:
    if not len(usable):
        return estimate_row(n=0, unit=SHARE, method=_COVERAGE.method, reason=NO_PREDICTION)
    participant = None if participant is None else _plain(participant)
    reason = _no_interval(participant, bootstrap)
    if draws is None and not reason:
        draws = bootstrap.distribution(ratio, _with_ones(usable), participant)
    return _row(_COVERAGE, usable.mean(), draws, len(usable), participant, bootstrap, reason)


def _with_ones(values: np.ndarray) -> np.ndarray:
    return np.column_stack([values, np.ones(len(values))]).astype(float)


def _count(number: int, n: int, method: str) -> dict:
    return estimate_row(number, n=n, unit="conversations", method=method)


def missing_bounds(truth, score, participant=None, bootstrap: ParticipantBootstrap | None = None) -> pd.DataFrame:
    """Worst and best that accuracy, within 1 and mean absolute error could be, for any values of the missing scores."""
    truth, score = _numbers(truth, score)
    known = np.isfinite(truth)
    participant = None if participant is None else _plain(participant)[known].reset_index(drop=True)
    truth, score = truth[known], score[known]
    missing = ~np.isfinite(score)
    filled = np.where(missing, truth, score)
    apart = np.abs(labels(truth) - labels(filled))
    error = np.abs(truth - filled)
    farthest = np.maximum(truth - 1, len(LEVELS) - truth)
    bounds = {
        ("accuracy", "worst"): (apart == 0) & ~missing,
        ("accuracy", "best"): apart == 0,
        ("within_one", "worst"): (apart <= 1) & ~missing,
        ("within_one", "best"): apart <= 1,
        ("mean_absolute_error", "worst"): np.where(missing, farthest, error),
        ("mean_absolute_error", "best"): error,
    }
    reason = _no_interval(participant, bootstrap) if len(truth) else "no conversation has a ground truth"
    values = _with_ones(np.column_stack(list(bounds.values())))
    draws = (
        None if reason else bootstrap.distribution(lambda sums: sums[..., :-1] / sums[..., -1:], values, participant)
    )
    rows = {}
    for column, ((name, end), bound) in enumerate(bounds.items()):
        metric = _Metric("", METRICS[name].unit, f"{METRICS[name].method}; missing scores at their {end}")
        value = bound.mean() if len(bound) else np.nan
        drawn = None if reason else draws[:, column]
        rows[f"{name}_{end}"] = _row(metric, value, drawn, len(truth), participant, bootstrap, reason)
    return estimate_table(rows, "bound")


def confusion(frames: pd.DataFrame | Sequence[pd.DataFrame], *, policy: str = "strict") -> pd.DataFrame:
    """Confusion matrix of the labels of ground truth and score."""
    sums = np.zeros(_CELLS + 1)
    for frame in _several(frames):
        sums += _scored(frame, policy).sums.sum(axis=0)
    levels = list(LEVEL_NUMBERS)
    return pd.DataFrame(
        _table(sums).astype(int), pd.Index(levels, name="ground truth"), pd.Index(levels, name="prediction")
    )


def _several(frames: pd.DataFrame | Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    return [frames] if isinstance(frames, pd.DataFrame) else list(frames)


def calibration(
    frames: pd.DataFrame | Sequence[pd.DataFrame],
    bootstrap: ParticipantBootstrap | None = None,
    *,
    policy: str = "strict",
) -> pd.DataFrame:
    """Mean ground truth by predicted level: what a score of 4 is worth."""
    runs = [_scored(frame, policy) for frame in _several(frames)]
    truth = np.concatenate([np.empty(0), *(run.truth for run in runs)])
    predicted = labels(np.concatenate([np.empty(0), *(run.score for run in runs)]))
    known = bool(runs) and all(run.participant is not None for run in runs)
    participant = pd.concat([run.participant for run in runs], ignore_index=True) if known else None
    rows = {}
    for level in LEVEL_NUMBERS:
        chosen = predicted == level
        n = int(chosen.sum())
        metric = _Metric("", _TRUTH, f"mean ground truth of what is predicted as {level}")
        if not n:
            reason = f"nothing is predicted as {level}"
            rows[level] = estimate_row(n=0, unit=metric.unit, method=metric.method, reason=reason)
            continue
        who = None if participant is None else participant[chosen]
        reason = _no_interval(who, bootstrap)
        draws = None if reason else bootstrap.distribution(ratio, _with_ones(truth[chosen]), who)
        rows[level] = _row(metric, truth[chosen].mean(), draws, n, who, bootstrap, reason)
    return estimate_table(rows, "prediction")


@dataclass(frozen=True, eq=False)
class OverRuns:
    """Metrics of several runs of a judge."""

    mean: pd.DataFrame
    spread: pd.DataFrame
    draws: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    measured: Mapping[str, "_Run"] = field(default_factory=dict, repr=False)

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
    runs = {name: _Run(frame, bootstrap, policy) for name, frame in frames.items()}
    reason = next(filter(None, (run.no_interval for run in runs.values())), "")
    everyone = None if reason else pd.concat([run.participant for run in runs.values()], ignore_index=True)
    names = ("coverage", *METRICS)
    draws = {} if reason else {name: np.mean([run.draws[name] for run in runs.values()], axis=0) for name in names}
    rows = {
        name: _rows_over_runs(name, list(runs.values()), draws.get(name), everyone, bootstrap, reason) for name in names
    }
    means, spreads = ({name: pair[side] for name, pair in rows.items()} for side in (0, 1))
    return OverRuns(estimate_table(means, "metric"), estimate_table(spreads, "metric"), draws, runs)


def metrics_in_draws(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> tuple[pd.Series, dict[str, np.ndarray], str]:
    """Return coverage and every metric of a run, and the same in every resample."""
    run = _Run(frame, bootstrap, policy)
    return pd.Series(run.estimates, dtype=float), run.draws, run.no_interval


class _Run:
    """Coverage and metrics of one run: values, the same in every draw, and why there is no interval."""

    def __init__(self, frame: pd.DataFrame, bootstrap: ParticipantBootstrap | None, policy: str):
        self.scored, self.bootstrap = _scored(frame, policy), bootstrap
        self.usable = np.isfinite(counted_scores(frame))
        self.everyone = None if "participant" not in frame else _plain(frame["participant"])
        self.no_interval = _no_interval(self.participant, bootstrap)
        self.draws = {} if self.no_interval else self.scored.draws(bootstrap)
        if not self.no_interval:
            self.draws["coverage"] = bootstrap.distribution(ratio, _with_ones(self.usable), self.everyone)

    @property
    def participant(self) -> pd.Series | None:
        """Of the rows with score and ground truth."""
        return self.scored.participant

    @cached_property
    def estimates(self) -> dict[str, float]:
        """Coverage and every metric; NaN where it is undefined."""
        return {"coverage": self.usable.mean() if len(self.usable) else np.nan, **self.scored.values()}

    def missing(self, name: str) -> str:
        """Why a metric that is NaN is so."""
        return NO_PREDICTION if name == "coverage" else self.scored.missing(name) or self.no_interval

    def n(self, name: str) -> int:
        """How many rows a metric rests on."""
        return len(self.usable) if name == "coverage" else self.scored.n

    @cached_property
    def table(self) -> pd.DataFrame:
        """Table of estimates, one row per metric."""
        covered = _coverage_row(self.usable, self.everyone, self.bootstrap, self.draws.get("coverage"))
        metrics = _metric_table(self.scored, self.bootstrap, self.draws)
        return pd.concat([estimate_table({"coverage": covered}, "metric"), metrics])


def _rows_over_runs(name: str, runs: Sequence[_Run], draws, participant, bootstrap, reason: str) -> tuple[dict, dict]:
    """Mean and spread of a metric over runs; ``reason`` says why there is no interval."""
    metric = METRICS.get(name, _COVERAGE)
    values = np.array([run.estimates[name] for run in runs])
    undefined = ""
    if lacking := [run.missing(name) for run in runs if np.isnan(run.estimates[name])]:
        undefined = f"undefined in {len(lacking):,} of {count_of(len(runs), 'run')}: {lacking[0]}"
    why = undefined or reason
    method = _mean_over(len(runs), metric.method)
    n = max(run.n(name) for run in runs)
    mean = _row(_Metric(metric.title, metric.unit, method), values.mean(), draws, n, participant, bootstrap, why)
    return mean, _spread_row(metric, values, undefined)


def _mean_over(runs: int, method: str) -> str:
    """Method of a mean over runs, in words."""
    return f"mean over {runs:,} runs: {method}" if runs > 1 else method


def _spread_row(metric: _Metric, values: np.ndarray, reason: str) -> dict:
    method = f"standard deviation (n - 1) over runs: {metric.method}"
    unit = "level, difference" if metric.unit.startswith("level") else metric.unit
    if len(values) < 2:
        reason = "one run has no spread"
    spread = np.nan if reason else values.std(ddof=1)
    return estimate_row(spread, n=len(values), unit=unit, method=method, reason=reason)


def stability(
    frames: Sequence[pd.DataFrame], bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Agreement between runs about one conversation: share with one label, and standard deviation of the scores."""
    metrics = {
        "same_label": _Metric("", SHARE, "same label in every run with a score, at least two"),
        "score_deviation": _Metric(
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
    participant = _participant_of(frames, scores.index)
    reason = _no_interval(participant, bootstrap)
    rows = {}
    for name, value in values.items():
        draws = None if reason else bootstrap.distribution(ratio, _with_ones(value), participant)
        rows[name] = _row(metrics[name], value.mean(), draws, len(scores), participant, bootstrap, reason)
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
        "level_bias": _Metric("", "level, difference", _mean_over(len(frames), "mean of score minus ground truth")),
        "length_spearman": _Metric(
            "", "Spearman's rho", _mean_over(len(frames), "Spearman's rho of score and words of the assistant")
        ),
    }
    runs = [_errors_and_lengths(frame, words, policy) for frame in frames]
    n = max((len(run.error) for run in runs), default=0)
    reason = next(filter(None, (_no_interval(run.participant, bootstrap) for run in runs)), "")
    everyone = None if reason or not runs else pd.concat([run.participant for run in runs], ignore_index=True)
    rows = {
        name: _level_or_length_row(name, metric, runs, n, everyone, bootstrap, reason)
        for name, metric in metrics.items()
    }
    return estimate_table(rows, "measure")


def _level_or_length_row(name: str, metric: _Metric, runs, n: int, participant, bootstrap, reason: str) -> dict:
    statistic, statistic_in_draws = _LEVEL_AND_LENGTH[name]
    value = float(np.mean([statistic(run) for run in runs])) if runs else np.nan
    lacking = "scores or lengths are all the same" if n else "no conversation has both a score and a ground truth"
    why = reason if np.isfinite(value) else lacking
    drawn = None if why else np.mean([statistic_in_draws(run, bootstrap) for run in runs], axis=0)
    return _row(metric, value, drawn, n, participant, bootstrap, why)


class _ErrorsAndLengths(NamedTuple):
    """Score minus ground truth, score, and words of the assistant, where there are both; and the participants."""

    error: np.ndarray
    score: np.ndarray
    length: np.ndarray
    participant: pd.Series | None


def _errors_and_lengths(frame: pd.DataFrame, words: pd.Series | None, policy: str) -> _ErrorsAndLengths:
    score, truth = counted_scores(frame, policy), frame["ground_truth"].to_numpy(dtype=float)
    known = np.isfinite(score) & np.isfinite(truth)
    participant = _plain(frame["participant"])[known].reset_index(drop=True) if "participant" in frame else None
    length = np.zeros(int(known.sum()))
    if words is not None:
        length = words.reindex(frame["conversation"][known]).fillna(0).to_numpy(dtype=float)
    return _ErrorsAndLengths((score - truth)[known], score[known], length, participant)


_LEVEL_AND_LENGTH = {
    "level_bias": (
        lambda run: run.error.mean() if len(run.error) else np.nan,
        lambda run, bootstrap: bootstrap.distribution(ratio, _with_ones(run.error), run.participant),
    ),
    "length_spearman": (
        lambda run: spearman_in_draws(run.length, run.score, np.ones((1, len(run.error))))[0],
        lambda run, bootstrap: bootstrap.in_every_draw(
            partial(spearman_in_draws, run.length, run.score, codes=bootstrap.codes(run.participant))
        ),
    ),
}
"""Row of :func:`level_and_length` -> its statistic of one run, and the same in every draw."""


def recognition(
    frames: Sequence[pd.DataFrame], bootstrap: ParticipantBootstrap | None = None, *, policy: str = "strict"
) -> pd.DataFrame:
    """Youden's index of each level: how much more often a judge gives it where it is right than where it is not."""
    method = "sensitivity minus the share of the other conversations that get this level"
    method = _mean_over(len(frames), method)
    runs = [_scored(frame, policy) for frame in frames]
    reason = next(filter(None, (_no_interval(run.participant, bootstrap) for run in runs)), "")
    counts = np.array([_table(run.sums.sum(axis=0)) for run in runs] or [np.zeros((len(LEVELS), len(LEVELS)))])
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _youden(counts).mean(axis=0)
    draws = None if reason or not runs else _recognition_in_draws(runs, bootstrap)
    metric = _Metric("", SHARE, f"{method}; all {len(LEVELS)} intervals together hold")
    together = None if bootstrap is None else replace(bootstrap, confidence=_for_each(bootstrap.confidence))
    rows = {}
    for column, level in enumerate(LEVEL_NUMBERS):
        why = _why_not_recognized(counts, values, column) or reason
        participant = None if why else _participants_at(level, runs)
        drawn = None if why else draws[:, column]
        n = int(counts[:, column].sum(axis=1).max())
        rows[level] = _row(metric, values[column], drawn, n, participant, together, why)
    return estimate_table(rows, "level")


def _recognition_in_draws(runs: Sequence[_Scored], bootstrap: ParticipantBootstrap) -> np.ndarray:
    """Mean over runs of Youden's index of every level in every draw: (draws, levels)."""
    indices = [bootstrap.distribution(lambda sums: _youden(_table(sums)), run.sums, run.participant) for run in runs]
    return np.mean(indices, axis=0)


def _participants_at(level: int, runs: Sequence[_Scored]) -> pd.Series:
    """Participants of the conversations of all runs whose ground truth has a level."""
    return pd.concat([run.participant[labels(run.truth) == level] for run in runs], ignore_index=True)


def _why_not_recognized(counts: np.ndarray, values: np.ndarray, column: int) -> str:
    """Why a level has no index, or no interval since the judge never gives it; "" otherwise. Counts: (runs, 5, 5)."""
    if not counts.any():
        return "no conversation has both a score and a ground truth"
    if np.isnan(values[column]):
        side = "specificity" if counts[:, column].any() else "sensitivity"
        return METRICS[f"{side}_{LEVEL_NUMBERS[column]}"].undefined
    return "" if counts[:, :, column].any() else NEVER_GIVEN


NEVER_GIVEN = "no interval: the judge never gives this level"


def _for_each(confidence: float) -> float:
    """Confidence of each of five intervals that together have a confidence, by Bonferroni."""
    return 1 - (1 - confidence) / len(LEVELS)


def _youden(table: np.ndarray) -> np.ndarray:
    """Youden's index of every level: (..., 5, 5) -> (..., 5)."""
    hits, rows, columns = _hits(table), table.sum(axis=-1), table.sum(axis=-2)
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


def _participant_of(frames: Sequence[pd.DataFrame], conversations: pd.Index) -> pd.Series | None:
    """Participant of each conversation, as the first run that knows it has it."""
    if not all("participant" in frame for frame in frames):
        return None
    pairs = pd.concat([frame[["conversation", "participant"]] for frame in frames], ignore_index=True).dropna()
    first = pairs.drop_duplicates("conversation").set_index("conversation")["participant"]
    return _plain(first.reindex(conversations))


check_arguments(globals())
