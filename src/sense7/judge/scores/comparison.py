r"""One judge compared with others: paired differences of every metric, on the same conversations.

A judge is a set of runs, a baseline a judge of one run; its metric is the mean over its runs. Two metrics can be
subtracted only where they rest on the same conversations, so each judge is measured on those for which every run of
every judge has a usable score. Who was left out is counted. All judges are measured in the same bootstrap resamples of
participants. P values are :func:`sense7.statistics.bootstrap.resampled_p`, for each metric corrected by Holm's rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.findings.core import finding, mean_of_rows, tabulate
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import (
    METRICS,
    SHARE,
    SHOWN_METRICS,
    Metric,
    OverRuns,
    resampling,
    simulated_prefix,
)
from sense7.statistics.bootstrap import NO_WIDTH, ParticipantBootstrap, resampled_p
from sense7.statistics.estimates import estimate_row, estimate_table, holm, safe_names
from sense7.statistics.order import rounded
from sense7.terminal import count_of

__all__ = ["Comparison", "compare_edition", "compare_judges"]

Runs = Mapping[str, Run]
"""Runs of a judge by their names."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Metrics of every judge, and by metric (``coverage`` included) the first judge's differences from each other one.

    ``left_out`` counts what each judge has scored and others have not, and what it lacks; ``shared`` counts the
    conversations that all metrics but coverage rest on. Of an edition, ``counts`` sums up the differences; without a
    judge there is a reason.
    """

    judges: Mapping[str, OverRuns] = field(default_factory=dict)
    differences: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    coverage: pd.DataFrame = field(default_factory=pd.DataFrame)
    shared: int = 0
    conversations: int = 0
    reason: str = ""
    counts: pd.DataFrame = field(default_factory=pd.DataFrame)

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
    policy: str = "strict",
) -> Comparison:
    """Compare the first judge with each other one, on the conversations for which all have usable scores."""
    if len(judges) < 2:
        raise UserError(
            f"{', '.join(judges) or 'nothing'}: a comparison needs at least two judges. Give the predictions of "
            "another one, or add the baselines with --data DATA."
        )
    truth = _one_truth(judges)
    everybody = _participants(judges, truth.index)
    resampled = resampling(everybody, bootstrap)
    usable_share = Metric(
        "", SHARE, "share of replies with a usable score, of the conversations of all judges"
    )
    scored = pd.DataFrame(index=truth.index)  # whether every run of a judge has a usable score
    coverages, numbers = {}, []
    for judge, runs in judges.items():
        scores = [run.at(truth.index).scores(policy) for run in runs.values()]
        usable = np.isfinite(scores)
        scored[judge] = usable.all(axis=0)
        coverages[judge] = mean_of_rows(resampled, usable.mean(axis=0), everybody)
        numbers.append(usable_share.number(judge, coverages[judge], everybody))
    coverage = tabulate("judge", numbers, resampled)
    differences = {
        "coverage": _differences(coverage["reason"], coverages, usable_share, everybody, resampled)
    }
    shared = scored.index[scored.all(axis=1)]
    if shared.empty:
        fewest = scored.sum().idxmin()
        raise UserError(
            f"No conversation has a usable score of all {scored.shape[1]:,} judges; {fewest} has the fewest "
            f"({scored[fewest].sum():,}). Leave it out, or give predictions for the same conversations."
        )
    people = everybody[shared]
    bootstrap = resampling(people, bootstrap)
    measured = {}
    for judge, runs in judges.items():
        shared_runs = {}
        for name, run in runs.items():
            shared_runs[name] = replace(run.at(shared), participant=people.to_numpy())
        measured[judge] = OverRuns(shared_runs, bootstrap, policy)
    for name, metric in METRICS.items():
        reasons = {judge: over.undefined(name) for judge, over in measured.items()}
        statistics = {judge: over.drawn[name] for judge, over in measured.items()}
        differences[name] = _differences(reasons, statistics, metric, people, bootstrap)
    left_out = pd.DataFrame(
        {
            "runs": {judge: len(runs) for judge, runs in judges.items()},
            "left_out": scored.sum() - len(shared),
            "lacking": (~scored).sum(),
        }
    )
    left_out = left_out.rename_axis("judge").loc[list(judges)]
    return Comparison(measured, differences, left_out, coverage, len(shared), len(truth))


def _differences(
    reasons: Mapping,
    statistics: Mapping[str, np.ndarray],
    metric: Metric,
    people,
    bootstrap,
) -> pd.DataFrame:
    """Differences of the first judge from each other one in one metric, with p values, and those by Holm's rule."""
    metric = _difference_in(metric)
    first, *others = statistics
    numbers, p = [], []
    for second in others:
        undefined = ""
        if not np.isfinite(statistics[first][0]):
            undefined = reasons[first]
        elif not np.isfinite(statistics[second][0]):
            undefined = reasons[second]
        difference = statistics[first] - statistics[second]
        numbers.append(metric.number(f"{first} minus {second}", difference, people, undefined))
        p.append(resampled_p(difference[1:]))
    table = tabulate("pair", numbers, bootstrap)
    # One where nothing differs in any resample, none where there is no other interval.
    never_differs = (table["reason"] == NO_WIDTH) & (table["estimate"] == 0)
    p = np.where((table["reason"] == "") | never_differs, p, np.nan)
    return table.assign(first=first, second=others, p=p, p_holm=holm(p))


def _difference_in(metric: Metric) -> Metric:
    """The paired difference of a metric; that of two shares is in percentage points."""
    unit = metric.unit
    if unit == SHARE:
        unit = f"{SHARE}, difference"
    return replace(metric, unit=unit, method=f"paired difference of: {metric.method}")


def _one_truth(judges: Mapping[str, Runs]) -> pd.Series:
    """Ground truth of every conversation that has one, the same in all runs."""
    columns = {}
    for judge, runs in judges.items():
        for name, run in runs.items():
            columns[f"{judge}, {name}"] = pd.Series(run.ground_truth, run.conversation)
    truths = pd.concat(columns, axis=1)
    lowest = truths.min(axis=1)
    differs = truths.max(axis=1) - lowest > 1e-9
    if differs.any():
        first = truths.loc[differs].iloc[0].dropna()
        other = first[first != first.iloc[0]]
        raise UserError(
            f"The ground truth of {count_of(int(differs.sum()), 'conversation')} differs between the judges; the first "
            f"is {first.name!r}: {first.iloc[0]:g} in {first.index[0]}, {other.iloc[0]:g} in {other.index[0]}. "
            "Compare predictions for the same data."
        )
    return lowest.dropna()


def _participants(judges: Mapping[str, Runs], conversations: pd.Index) -> pd.Series:
    """Participant of each conversation; missing where no file says."""
    frames = []
    for runs in judges.values():
        for run in runs.values():
            frames.append(run.table[["conversation", "participant"]])
    pairs = pd.concat(frames, ignore_index=True).dropna().drop_duplicates()
    differs = pairs["conversation"].duplicated(keep=False)
    if differs.any():
        name = pairs.loc[differs, "conversation"].iloc[0]
        raise UserError(
            f"Conversation {name!r} is of different participants (PID) in different files. Correct one."
        )
    return pairs.set_index("conversation")["participant"].astype(object).reindex(conversations)


def as_judges(baselines: Mapping) -> dict[str, Runs]:
    """Return the baselines that have predictions as judges of one run, called ``baseline: NAME``."""
    judges = {}
    for name, baseline in baselines.items():
        if not baseline.reason:
            judges[f"baseline: {name}"] = {name: baseline.run}
    return judges


def decided(p, confidence: float):
    """Whether p values are below one minus the confidence."""
    return rounded(p) < rounded(1 - confidence)


# The judges of an edition, for its page


@finding
def compare_edition(
    judges: Mapping[str, Runs],
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
    compared = Comparison(reason=ABSENT)
    if judges:
        try:
            compared = compare_judges(
                {judge: judges[judge], **judges, **as_judges(baselines)},
                bootstrap,
            )
        except UserError as error:
            compared = Comparison(reason=str(error))
    prefix = simulated_prefix(judges.get(judge, {}))
    tables = {}
    for metric in SHOWN_METRICS:
        if compared.reason:
            missing = _difference_in(METRICS[metric])
            row = estimate_row(
                n=0, unit=missing.unit, method=missing.method, reason=compared.reason
            )
            table = estimate_table({"none": row}, "compared with")
            tables[metric] = table.assign(p=np.nan, p_holm=np.nan, key="")
            continue
        table = compared.differences[metric].set_index("second").rename_axis("compared with")
        names = table.index.map(safe_names(table.index))
        keys = f"compared_{metric}_" + names.where(table["estimate"].notna())
        table = table.drop(columns="first")
        # A difference without a value has no key: the majority label orders nothing.
        tables[metric] = table.assign(key=keys.fillna(""), method=prefix + table["method"])
    counts = _outcome_counts(compared, tables["spearman"], prefix, bootstrap.confidence)
    return replace(compared, differences=tables, counts=counts)


def _outcome_counts(
    compared: Comparison, differences: pd.DataFrame, prefix: str, confidence: float
) -> pd.DataFrame:
    """How many conversations were compared, and to how many others the shown judge is better or worse."""
    p, is_higher = differences["p_holm"], differences["estimate"] > 0
    tested, is_clear = p.notna(), decided(p, confidence)
    reason = compared.reason
    rows = {
        "compared": estimate_row(
            np.nan if reason else compared.shared,
            n=compared.conversations,
            unit="number of conversations",
            method=f"{prefix}conversations with a usable score in every run of every judge; n: all with ground truth",
            reason=reason,
            key="compared_conversations",
        )
    }
    if not reason and not tested.any():
        reason = "no difference has a p value"
    outcomes = {
        "better": is_clear & is_higher,
        "worse": is_clear & ~is_higher,
        "undecided": tested & ~is_clear,
    }
    for outcome, judges in outcomes.items():
        rows[outcome] = estimate_row(
            np.nan if reason else int(judges.sum()),
            n=int(tested.sum()),
            unit="number of judges",
            method=f"{prefix}{METRICS['spearman'].title}: {outcome}, p by Holm below {1 - confidence:.2g}",
            reason=reason,
            key=f"compared_{outcome}_spearman",
        )
    return estimate_table(rows, "count")
