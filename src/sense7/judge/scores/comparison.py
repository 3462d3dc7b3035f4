r"""Judges compared with each other: paired differences of every metric, on the same conversations.

A judge is a set of runs, a baseline a judge of one run; its metric is the mean over its runs. Two metrics can be
subtracted only where they rest on the same conversations, so each judge is measured on those for which every run of
every judge has a usable score. Who was left out is counted. All judges are measured in the same bootstrap resamples of
participants. P values are :func:`sense7.estimators.bootstrap.resampled_p`, for each metric corrected by Holm's rule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, resampled_p
from sense7.estimators.estimates import estimate_row, estimate_table, holm, safe_names
from sense7.estimators.order import rounded
from sense7.findings.core import finding, tabulate
from sense7.judge.files import counted_scores
from sense7.judge.scores.judges import ABSENT, simulated_prefix
from sense7.judge.scores.metrics import (
    METRICS,
    SHARE,
    Metric,
    OverRuns,
    Run,
    Unresampled,
    means,
    resampling,
)
from sense7.terminal import count_of

__all__ = ["Comparison", "compare_edition", "compare_judges", "jury_of_runs"]

Runs = Mapping[str, pd.DataFrame]
"""Name of a run -> its predictions."""

_EDITION_METRICS = ("spearman", "accuracy")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Metrics of every judge, and by metric (``coverage`` included) the differences of all pairs.

    ``left_out`` counts what each judge has scored and others have not, and what it lacks; ``people`` are the
    participants of the conversations that all metrics but coverage rest on. Of an edition, ``differences`` are those of
    one judge, and ``counts`` sums them up; without a judge there is a reason.
    """

    judges: dict[str, OverRuns] = field(default_factory=dict)
    differences: dict[str, pd.DataFrame] = field(default_factory=dict)
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    coverage: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    people: pd.Series = field(default_factory=lambda: pd.Series(dtype=object), repr=False)
    conversations: int = 0
    bootstrap: ParticipantBootstrap | Unresampled | None = field(default=None, repr=False)
    judge: str = ""
    reason: str = ""
    counts: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)

    @property
    def shared(self) -> int:
        """Number of conversations that all metrics but coverage rest on."""
        return len(self.people)

    def panels(self) -> dict[str, tuple[pd.DataFrame, tuple[float, ...]]]:
        """Panels of :func:`sense7.figures.forest`: metric -> differences, and the line at zero."""
        return {
            f"{METRICS[metric].title}: right of zero the judge is better": (table, (0.0,))
            for metric, table in self.differences.items()
        }


def compare_judges(
    judges: Mapping[str, Runs],
    bootstrap: ParticipantBootstrap | None,
    *,
    references: Mapping[str, Runs] | None = None,
    policy: str = "strict",
) -> Comparison:
    """Compare any number of judges on the conversations for which all have usable scores."""
    references = references or {}
    pairs = [*combinations(judges, 2), *product(judges, references)]
    if not pairs:
        raise UserError(
            f"{', '.join(judges) or 'nothing'}: a comparison needs at least two judges. Give the predictions of "
            "another one, or add the baselines with --data DATA."
        )
    everyone = {
        judge: {
            run: frame.set_index(frame["conversation"].to_numpy(dtype=object))
            for run, frame in runs.items()
        }
        for judge, runs in {**judges, **references}.items()
    }
    truth = _one_truth(everyone)
    scores = {
        judge: np.stack(
            [counted_scores(frame.reindex(truth.index), policy) for frame in runs.values()]
        )
        for judge, runs in everyone.items()
    }
    scored = pd.DataFrame(
        {judge: np.isfinite(table).all(axis=0) for judge, table in scores.items()},
        index=truth.index,
    )
    shared = scored.index[scored.all(axis=1)]
    if shared.empty:
        fewest = scored.sum().idxmin()
        raise UserError(
            f"No conversation has a usable score of all {scored.shape[1]:,} judges; {fewest} has the fewest "
            f"({scored[fewest].sum():,}). Leave it out, or give predictions for the same conversations."
        )
    people = _participants(everyone, truth.index)
    about = Metric(
        "", SHARE, "share of replies with a usable score, of the conversations of all judges"
    )
    own = resampling(people, bootstrap)
    drawn = {
        judge: means(own, np.isfinite(table).mean(axis=0), people)
        for judge, table in scores.items()
    }
    coverage = tabulate(
        "judge", [about.number(judge, values, people) for judge, values in drawn.items()], own
    )
    differences = {"coverage": _differences(coverage["reason"], drawn, about, pairs, people, own)}
    measured, people, bootstrap = {}, people[shared], resampling(people[shared], bootstrap)
    for judge, runs in everyone.items():
        frames = {
            run: frame.loc[shared].assign(participant=people.to_numpy())
            for run, frame in runs.items()
        }
        measured[judge] = OverRuns(frames, bootstrap, policy)
    for name, metric in METRICS.items():
        reasons = {judge: over.mean.loc[name, "reason"] for judge, over in measured.items()}
        drawn = {judge: over.drawn[name] for judge, over in measured.items()}
        differences[name] = _differences(reasons, drawn, metric, pairs, people, bootstrap)
    counts = {
        "runs": {judge: len(runs) for judge, runs in everyone.items()},
        "left_out": scored.sum() - len(shared),
        "lacking": (~scored).sum(),
    }
    left_out = pd.DataFrame(counts).rename_axis("judge").loc[list(everyone)]
    return Comparison(measured, differences, left_out, coverage, people, len(truth), bootstrap)


def _differences(
    reasons: Mapping,
    drawn: Mapping[str, np.ndarray],
    metric: Metric,
    pairs: Sequence,
    people,
    bootstrap,
) -> pd.DataFrame:
    """Paired differences of one metric with p values, for each pair and corrected by Holm's rule."""
    about, numbers, p = replace(metric, method=f"paired difference of: {metric.method}"), [], []
    for first, second in pairs:
        undefined = next(
            (reasons[judge] for judge in (first, second) if not np.isfinite(drawn[judge][0])), ""
        )
        difference = drawn[first] - drawn[second]
        numbers.append(about.number(f"{first} minus {second}", difference, people, undefined))
        p.append(resampled_p(difference[1:]))
    table = tabulate("pair", numbers, bootstrap)
    # One where nothing differs in any resample, none where there is no other interval.
    known = (table["reason"] == "") | ((table["reason"] == NO_WIDTH) & (table["estimate"] == 0))
    p = np.where(known, p, np.nan)
    first, second = zip(*pairs, strict=True)
    return table.assign(first=first, second=second, p=p, p_holm=holm(p))


def _one_truth(judges: Mapping[str, Runs]) -> pd.Series:
    """Ground truth of every conversation that has one, the same in all runs."""
    columns = {
        f"{judge}, {run}": frame["ground_truth"].astype(float)
        for judge, runs in judges.items()
        for run, frame in runs.items()
    }
    truths = pd.concat(columns.values(), axis=1, keys=columns)
    low, high = truths.min(axis=1), truths.max(axis=1)
    if (differ := high - low > 1e-9).any():
        first = truths.loc[differ].iloc[0].dropna()
        other = first[first != first.iloc[0]]
        raise UserError(
            f"The ground truth of {count_of(int(differ.sum()), 'conversation')} differs between the judges; the first "
            f"is {first.name!r}: {first.iloc[0]:g} in {first.index[0]}, {other.iloc[0]:g} in {other.index[0]}. "
            "Compare predictions for the same data."
        )
    return low.dropna()


def _participants(judges: Mapping[str, Runs], conversations: pd.Index) -> pd.Series:
    """Participant of each conversation; missing where no file says."""
    columns = ["conversation", "participant"]
    frames = [frame.reindex(columns=columns) for runs in judges.values() for frame in runs.values()]
    pairs = pd.concat(frames, ignore_index=True).dropna().drop_duplicates()
    if (twice := pairs["conversation"].duplicated(keep=False)).any():
        name = pairs.loc[twice, "conversation"].iloc[0]
        raise UserError(
            f"Conversation {name!r} is of different participants (PID) in different files. Correct one."
        )
    return pairs.set_index("conversation")["participant"].astype(object).reindex(conversations)


def as_judges(baselines: Mapping) -> dict[str, Runs]:
    """Return the baselines that have predictions as judges of one run, called ``baseline: NAME``."""
    return {
        f"baseline: {name}": {name: one.predictions}
        for name, one in baselines.items()
        if not one.reason
    }


def decided(p, confidence: float):
    """Whether p values are below one minus the confidence."""
    return rounded(p) < rounded(1 - confidence)


# The judges of an edition, for its page


@finding
def compare_edition(
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    baselines: Mapping,
    bootstrap: ParticipantBootstrap,
) -> Comparison:
    """Compare one judge of an edition with all others and with the baselines; without one, the tables say why.

    Parameters
    ----------
    judges : mapping
        As :func:`sense7.judge.scores.judges.read_runs` gives it.
    judge : str
        One of them; "" if there is none.
    baselines : mapping
        As :func:`sense7.judge.scores.baselines.baseline_predictions` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of participants.

    Examples
    --------
    >>> compare_edition({}, "", {}, ParticipantBootstrap(["a", "b"])).reason
    'no predictions of a judge are available'
    """
    found = Comparison(reason="" if judges else ABSENT, bootstrap=bootstrap)
    if judges:
        try:
            others = {name: runs for name, runs in judges.items() if name != judge} | as_judges(
                baselines
            )
            found = compare_judges({judge: judges[judge]}, bootstrap, references=others)
        except UserError as error:
            found = Comparison(reason=str(error), bootstrap=bootstrap)
    prefix, reason, tables = simulated_prefix(judges.get(judge, {})), found.reason, {}
    for metric in _EDITION_METRICS:
        kind = METRICS[metric]
        if reason:
            row = estimate_row(
                n=0, unit=kind.unit, method=f"paired difference of: {kind.method}", reason=reason
            )
            table = estimate_table({"none": row}, "compared with").assign(
                p=np.nan, p_holm=np.nan, key=""
            )
        else:
            table = (
                found.differences[metric]
                .set_index("second")
                .rename_axis("compared with")
                .drop(columns="first")
            )
            names, known = (
                safe_names(table.index),
                np.isfinite(table["estimate"]),
            )  # the majority label orders nothing
            keys = [
                f"compared_{metric}_{names[name]}" if known[name] else "" for name in table.index
            ]
            table = table.assign(key=keys, method=prefix + table["method"])
        tables[metric] = table
    counted, n = tables[_EDITION_METRICS[0]], found.conversations
    p, favors = counted["p_holm"], counted["estimate"] > 0
    pairs, clear = int(p.notna().sum()), decided(p, bootstrap.confidence)
    why = reason or ("" if pairs else "no difference has a p value")
    method = f"{prefix}conversations with a usable score in every run of every judge; n: all with ground truth"
    shared, about = (
        np.nan if reason else found.shared,
        {"unit": "conversations", "method": method, "reason": reason},
    )
    rows = {"compared": estimate_row(shared, n=n, **about, key="compared_conversations")}
    outcomes = {"better": clear & favors, "worse": clear & ~favors, "undecided": p.notna() & ~clear}
    for outcome, chosen in outcomes.items():
        rows[outcome] = estimate_row(
            np.nan if why else int(chosen.sum()),
            n=pairs,
            unit="judges",
            method=f"{prefix}{METRICS['spearman'].title}: {outcome}, p by Holm below {1 - bootstrap.confidence:.2g}",
            reason=why,
            key=f"compared_{outcome}_spearman",
        )
    return replace(found, differences=tables, counts=estimate_table(rows, "count"), judge=judge)


@finding
def jury_of_runs(judges: Mapping, found: Comparison) -> pd.DataFrame:
    """Return what the mean score of all runs of the shown judge gains over its mean run, on the conversations compared.

    The gain is that of a *jury* of the runs: one score of several, their mean.
    """
    runs, numbers = judges.get(found.judge, {}), []
    reason, gain = found.reason or ("one run of one judge is no jury" if len(runs) < 2 else ""), {}
    if not reason:
        over = found.judges[found.judge]
        each = list(over.runs.values())
        frame = pd.DataFrame(
            {"ground_truth": each[0].truth, "score": np.mean([run.score for run in each], axis=0)}
        )
        jury = Run(frame.assign(participant=found.people.to_numpy()), found.bootstrap)
        gain = {metric: jury.drawn[metric] - over.drawn[metric] for metric in _EDITION_METRICS}
    for metric in _EDITION_METRICS:
        kind, undefined = METRICS[metric], reason or "undefined for the jury or for a run"
        method = (
            f"{simulated_prefix(runs)}gain of the jury over the mean of its runs: {kind.method}"
        )
        drawn, key = gain.get(metric, np.array([np.nan])), f"jury_runs_mean_{metric}"
        number = replace(kind, method=method).number(
            kind.title, drawn, found.people if gain else (), undefined, key=key
        )
        numbers.append(number)
    return tabulate("gain", numbers, found.bootstrap)


# Krippendorff's alpha: Krippendorff, K. (2004). Content Analysis: An Introduction to Its Methodology, chapter 11


def agreement_sums(scores: np.ndarray) -> np.ndarray:
    """Return what Krippendorff's alpha is computed from, for each conversation: shape (conversations, 4)."""
    count, total, squares = len(scores), scores.sum(axis=0), (scores**2).sum(axis=0)
    within = (count * squares - total**2) / (count - 1)
    return np.column_stack([np.full(len(total), float(count)), total, squares, within])


def krippendorff_alpha(sums: np.ndarray) -> np.ndarray:
    """Return Krippendorff's alpha for intervals, from :func:`agreement_sums` added up over conversations."""
    n, total, squares, within = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = 2 * within / n, 2 * (n * squares - total**2) / (n * (n - 1))
        return np.where(expected > 1e-12, 1 - observed / expected, np.nan)
