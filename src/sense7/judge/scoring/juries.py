r"""Juries: one score from several calls, of one judge or of several, and whether that is worth the calls.

A jury is made only where it is asked for. Its members are the runs of one judge, or one run of each of several judges;
a jury of judges has as many runs as its member with the fewest. Three rules make one score of the members' scores:

- *mean* and *median* of the scores;
- *majority*: the most frequent label; of equally frequent ones that nearest to the mean of the scores, then the lower.

The gain is that of the jury's metric over its members' mean metric, and over the best member's; which member that is
has been seen in the same data, so the second gain is if anything understated. A gain is always positive where the jury
is better: of an error, it is the member's minus the jury's.

Whether a jury is worth its cost is asked by the gain per additional call: over the mean run for runs of one judge,
since no run is better than another by design, and over the best member for several judges, since one could ask that
one alone.

Krippendorff, K. (2004). Content Analysis: An Introduction to Its Methodology, chapter 11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, holm
from sense7.judge.predictions import counted_scores
from sense7.judge.scoring.metrics import METRICS, metrics_in_draws

__all__ = ["RULES", "Gain", "Jury", "agreement_sums", "gains", "juries_of", "jury_scores", "krippendorff_alpha"]

RULES = ("mean", "median", "majority")
"""How a jury makes one score of those of its members."""

GAIN_METRICS = ("accuracy", "mean_absolute_error", "spearman", "quadratic_kappa")
LOWER_IS_BETTER = ("mean_absolute_error",)


def require_rule(rule: str) -> None:
    """Refuse a rule that is none."""
    if rule not in RULES:
        raise UserError(f"--jury {rule}: no such rule. Give one of {', '.join(RULES)}.")


def jury_scores(scores: np.ndarray, rule: str) -> np.ndarray:
    """Return one score for each conversation from those of the members."""
    require_rule(rule)
    frame = pd.DataFrame(scores)
    if rule != "majority":
        return (frame.mean() if rule == "mean" else frame.median()).to_numpy()
    rounded, means = np.rint(scores), frame.mean().to_numpy()
    levels = np.unique(rounded[np.isfinite(rounded)])
    if not len(levels):
        return means
    votes = np.stack([(rounded == level).sum(axis=0) for level in levels])
    distance = np.abs(levels[:, None] - means)
    first = np.where(votes == votes.max(axis=0), distance.round(9), np.inf)
    return np.where(np.isfinite(means), levels[np.argmin(first, axis=0)], np.nan)


def agreement_sums(scores: np.ndarray) -> np.ndarray:
    """Return what Krippendorff's alpha is computed from, for each conversation: shape (conversations, 4)."""
    known = np.isfinite(scores)
    count = known.sum(axis=0).astype(float)
    values = np.where(known, scores, 0.0)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (count * squares - total**2) / (count - 1)
    return np.where(count[:, None] > 1, np.column_stack([count, total, squares, within]), 0.0)


def krippendorff_alpha(sums: np.ndarray) -> np.ndarray:
    """Return Krippendorff's alpha for intervals, from :func:`agreement_sums` added up over conversations."""
    n, total, squares, within = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = 2 * within / n
        expected = 2 * (n * squares - total**2) / (n * (n - 1))
        return np.where(expected > 1e-12, 1 - observed / expected, np.nan)


class Measured(NamedTuple):
    """A metric, and its value in every resample (None without an interval)."""

    estimate: float
    draws: np.ndarray | None


class Gain(NamedTuple):
    """What a jury adds to its members in one metric; see :func:`gains`."""

    best: str
    over_best: Measured
    over_mean: Measured
    per_call: Measured


def gains(
    jury: Measured, members: Mapping[str, Measured], *, calls: int, of_runs: bool, lower_is_better: bool = False
) -> Gain:
    """Return a jury's gain over its best member, over the mean of its members, and per additional call."""
    sign = -1 if lower_is_better else 1
    # A member whose metric is undefined is not the best; where all are, there is no best, and no gain.
    best = max(members, key=lambda name: np.nan_to_num(sign * members[name].estimate, nan=-np.inf))
    mean = Measured(
        float(np.mean([member.estimate for member in members.values()])),
        _mean([member.draws for member in members.values()]),
    )
    over_best, over_mean = (_minus(jury, other, sign) for other in (members[best], mean))
    rests_on = over_mean if of_runs else over_best
    per_call = Measured(*(None if part is None else part / (calls - 1) for part in rests_on))
    return Gain(best, over_best, over_mean, per_call)


def _mean(draws: Sequence[np.ndarray | None]) -> np.ndarray | None:
    return None if any(one is None for one in draws) else np.mean(draws, axis=0)


def _minus(one: Measured, other: Measured, sign: int) -> Measured:
    drawn = None if one.draws is None or other.draws is None else sign * (one.draws - other.draws)
    return Measured(sign * (one.estimate - other.estimate), drawn)


def one_sided(confidence: float) -> float:
    """Confidence of the two-sided interval whose lower end is a one-sided limit."""
    return 2 * confidence - 1


@dataclass(frozen=True, eq=False)
class Jury:
    """One jury."""

    name: str
    members: dict[str, Mapping[str, pd.DataFrame]] = field(repr=False)
    runs: dict[str, pd.DataFrame] = field(repr=False)
    of_runs: bool

    @property
    def calls(self) -> int:
        """Calls for one conversation."""
        return len(self.members)


def juries_of(
    judges: Mapping[str, Mapping[str, pd.DataFrame]], conversations: pd.Index, rule: str, policy: str = "strict"
) -> list[Jury]:
    """Return the juries that judges can form: of the runs of each that has several, and of all judges."""
    require_rule(rule)
    on = {judge: {name: _rows(frame, conversations) for name, frame in runs.items()} for judge, runs in judges.items()}
    found = []
    for judge, runs in on.items():
        if len(runs) > 1:
            members = {name: {name: frame} for name, frame in runs.items()}
            together = {"jury": _together(list(runs.values()), rule, policy)}
            found.append(Jury(f"{judge}: {rule} of {len(runs):,} runs", members, together, of_runs=True))
    if len(on) > 1:
        fewest = min(map(len, on.values()))
        each = [list(runs.values())[:fewest] for runs in on.values()]
        together = {
            str(number): _together(frames, rule, policy) for number, frames in enumerate(zip(*each, strict=True), 1)
        }
        found.append(Jury(f"{rule} of {len(on):,} judges", dict(on), together, of_runs=False))
    if not found:
        raise UserError(f"--jury {rule}: one run of one judge is no jury. Give several runs, or several judges.")
    return found


def _rows(frame: pd.DataFrame, conversations: pd.Index) -> pd.DataFrame:
    return frame.set_index(frame["conversation"].to_numpy(dtype=object)).loc[conversations].reset_index(drop=True)


def _together(frames: Sequence[pd.DataFrame], rule: str, policy: str) -> pd.DataFrame:
    score = jury_scores(np.stack([counted_scores(frame, policy) for frame in frames]), rule)
    kept = frames[0][["conversation", "ground_truth"]]
    return kept.assign(score=score, status=np.where(np.isfinite(score), "ok", "unstated"))


def jury_tables(
    juries: Sequence[Jury],
    people: pd.Series,
    bootstrap: ParticipantBootstrap | None,
    *,
    policy: str = "strict",
    worth: float = 0.0,
) -> dict[str, pd.DataFrame]:
    """Return what each jury adds to its members, and how much these agree."""
    alphas, rows = {}, {}
    for jury in juries:
        alphas[jury.name] = _agreement(jury, people, bootstrap, policy)
        together = _measured(jury.runs, people, bootstrap, "strict")
        members = {name: _measured(runs, people, bootstrap, policy) for name, runs in jury.members.items()}
        for metric in GAIN_METRICS:
            found = gains(
                together[metric],
                {name: member[metric] for name, member in members.items()},
                calls=jury.calls,
                of_runs=jury.of_runs,
                lower_is_better=metric in LOWER_IS_BETTER,
            )
            rows[jury.name, metric] = gain_row(found, METRICS[metric], people, bootstrap, worth)
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["jury", "metric"])
    return {"agreement": estimate_table(alphas, "jury"), "gains": with_verdicts(table, bootstrap)}


def with_verdicts(table: pd.DataFrame, bootstrap: ParticipantBootstrap | None) -> pd.DataFrame:
    """Rows of :func:`gain_row`, indexed by jury and metric, with Holm's correction and whether the jury is worth it."""
    corrected = table.groupby(level="metric", sort=False)["p"].transform(lambda p: holm(p.to_numpy()))
    decided = corrected < 1 - (bootstrap.confidence if bootstrap else 1.0)
    return table.assign(p_holm=corrected, worth=decided)


def gain_row(found: Gain, metric, people: pd.Series, bootstrap: ParticipantBootstrap | None, worth: float) -> dict:
    """One row of ``gains``, see :func:`jury_tables`; ``metric`` has unit and method."""
    method = f"gain of the jury over the mean of its members: {metric.method}"
    n, drawn = len(people), found.over_mean.draws
    if drawn is None or bootstrap is None:
        reason = _why_not(found, people, bootstrap)
        row = estimate_row(found.over_mean.estimate, n=n, unit=metric.unit, method=method, reason=reason)
        limits = dict.fromkeys(("best_low", "best_high", "per_call_low", "p"), np.nan)
    else:
        mean = Estimate(found.over_mean.estimate, *bootstrap.interval(drawn, people))
        undefined = "undefined for the jury or for a member"
        row = bootstrap.row(mean, n=n, unit=metric.unit, method=method, undefined=undefined)
        low, high, _ = bootstrap.interval(found.over_best.draws, people)
        per_call = found.per_call.draws[np.isfinite(found.per_call.draws)]
        limits = {
            "best_low": low,
            "best_high": high,
            "per_call_low": float(np.quantile(per_call, 1 - bootstrap.confidence)) if len(per_call) else np.nan,
            "p": (1 + np.count_nonzero(per_call <= worth)) / (1 + len(per_call)) if len(per_call) else np.nan,
        }
    own = {"best": found.best, "over_best": found.over_best.estimate, "per_call": found.per_call.estimate}
    return row | own | limits


def _why_not(found: Gain, people: pd.Series, bootstrap: ParticipantBootstrap | None) -> str:
    """Why a gain or its interval is not known."""
    if not np.isfinite(found.over_mean.estimate):
        return "undefined for the jury or for a member"
    if bootstrap is None or people.isna().any():
        return "no interval: participants are not known"
    return bootstrap.too_few(people)


def _measured(runs: Mapping[str, pd.DataFrame], people: pd.Series, bootstrap, policy: str) -> dict[str, Measured]:
    """Means over runs of the metrics of gains."""
    found = [
        metrics_in_draws(frame.assign(participant=people.to_numpy()), bootstrap, policy=policy)
        for frame in runs.values()
    ]
    return {
        metric: Measured(
            float(np.mean([values[metric] for values, *_ in found])),
            _mean([draws.get(metric) for _, draws, _ in found]),
        )
        for metric in GAIN_METRICS
    }


def _agreement(jury: Jury, people: pd.Series, bootstrap, policy: str) -> dict:
    """Krippendorff's alpha among the members, of a jury of judges among their first runs."""
    firsts = [next(iter(runs.values())) for runs in jury.members.values()]
    sums = agreement_sums(np.stack([counted_scores(frame, policy) for frame in firsts]))
    method = f"Krippendorff's alpha (interval) of {len(firsts):,} members"
    if bootstrap is None or people.isna().any():
        reason = "no interval: participants are not known"
        return estimate_row(
            krippendorff_alpha(sums.sum(axis=0)), n=len(people), unit="alpha", method=method, reason=reason
        )
    found = bootstrap.estimate(krippendorff_alpha, sums, people)
    undefined = "all members give the same score everywhere"
    return bootstrap.row(found, n=len(people), unit="alpha", method=method, undefined=undefined)


check_arguments(globals())
