r"""Judges compared with each other: paired differences of every metric, on the same conversations.

A judge is a set of runs, a baseline a judge of one run; its metric is the mean over its runs. Two metrics can be
subtracted only where they rest on the same conversations, so each judge is measured on those for which every run of
every judge has a usable score. Who was left out is counted. All judges are measured in the same bootstrap resamples of
participants, so that an interval is that of the difference.

P values are :func:`sense7.estimators.bootstrap.resampled_p`; for each metric they are corrected by Holm's rule for the
number of pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, ratio, resampled_p
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, holm, p_in_words
from sense7.judge.predictions import counted_scores
from sense7.judge.scoring.metrics import METRICS, SHARE, OverRuns, over_runs
from sense7.terminal import count_of

__all__ = [
    "JudgeComparison",
    "as_judges",
    "compare_judges",
    "differences_in_words",
    "differences_of",
    "least_p",
    "pair_name",
]

Runs = Mapping[str, pd.DataFrame]
"""Name of a run -> its predictions."""

COVERAGE = "coverage"
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class JudgeComparison:
    """What :func:`compare_judges` computed."""

    judges: dict[str, OverRuns]
    differences: dict[str, pd.DataFrame]
    left_out: pd.DataFrame
    coverage: pd.DataFrame = field(repr=False)
    people: pd.Series = field(repr=False)
    conversations: int

    @property
    def shared(self) -> int:
        """Number of conversations that all metrics but coverage rest on."""
        return len(self.people)

    def by_judge(self, metric: str) -> pd.DataFrame:
        """One metric of every judge, as a table of estimates."""
        if metric == COVERAGE:
            return self.coverage
        return estimate_table({name: runs.mean.loc[metric].to_dict() for name, runs in self.judges.items()}, "judge")

    def against(self, judge: str, metric: str) -> pd.DataFrame:
        """One metric of ``judge`` minus that of every other, as a table of estimates by the other one."""
        table = self.differences[metric]
        first, second = table[table["first"] == judge], table[table["second"] == judge]
        turned = second.assign(estimate=-second["estimate"], low=-second["high"], high=-second["low"])
        rows = pd.concat([first.set_index("second"), turned.set_index("first")]).rename_axis("compared with")
        return rows.loc[[name for name in self.judges if name in rows.index], table.columns.drop(["first", "second"])]


def pair_name(first: str, second: str) -> str:
    """Name of a difference."""
    return f"{first} minus {second}"


def compare_judges(
    judges: Mapping[str, Runs],
    bootstrap: ParticipantBootstrap | None,
    *,
    references: Mapping[str, Runs] | None = None,
    policy: str = "strict",
) -> JudgeComparison:
    """Compare any number of judges on the conversations for which all have usable scores."""
    references = references or {}
    pairs = [*combinations(judges, 2), *product(judges, references)]
    if not pairs:
        raise UserError(
            f"{', '.join(judges) or 'nothing'}: a comparison needs at least two judges. Give the predictions of "
            "another one, compare single runs with --each-run, or add the baselines with --data DATA."
        )
    everyone = {**judges, **references}
    truth = _one_truth(everyone)
    scores = {judge: _scores(runs, truth.index, policy) for judge, runs in everyone.items()}
    scored = pd.DataFrame({judge: np.isfinite(table).all(axis=0) for judge, table in scores.items()}, index=truth.index)
    shared = scored.index[scored.all(axis=1)]
    if shared.empty:
        raise _nothing_shared(scored)
    people = _participants(everyone, truth.index)
    measured = {judge: _on(runs, people[shared], bootstrap, policy) for judge, runs in everyone.items()}
    usable = {judge: np.isfinite(table).mean(axis=0) for judge, table in scores.items()}
    coverage, of_coverage = _coverage(usable, pairs, people, bootstrap)
    differences = differences_of(measured, pairs, people[shared], bootstrap)
    counts = _left_out(everyone, scored, len(shared))
    return JudgeComparison(
        measured, {COVERAGE: of_coverage, **differences}, counts, coverage, people[shared], len(truth)
    )


def _left_out(judges: Mapping[str, Runs], scored: pd.DataFrame, shared: int) -> pd.DataFrame:
    """How many conversations each judge has scored, shares with all, and lacks."""
    counts = {
        "runs": {judge: len(runs) for judge, runs in judges.items()},
        "scored": scored.sum(),
        "shared": shared,
        "left_out": scored.sum() - shared,
        "lacking": (~scored).sum(),
    }
    return pd.DataFrame(counts).rename_axis("judge").loc[list(judges)]


def differences_of(
    measured: Mapping[str, OverRuns],
    pairs: Sequence[tuple[str, str]],
    participant: pd.Series,
    bootstrap: ParticipantBootstrap | None,
) -> dict[str, pd.DataFrame]:
    """Return paired differences of every metric, for judges that were measured on the same conversations."""
    tables = {}
    for metric, kind in METRICS.items():
        rows = {}
        for first, second in pairs:
            one, other = (measured[judge].mean.loc[metric] for judge in (first, second))
            drawn = None
            if measured[first].draws and measured[second].draws:
                drawn = measured[first].draws[metric] - measured[second].draws[metric]
            rows[first, second] = _difference(one, other, drawn, kind, participant, bootstrap)
        tables[metric] = _with_holm(rows)
    return tables


def _difference(one: pd.Series, other: pd.Series, drawn, kind, participant, bootstrap) -> dict:
    """One paired difference with its p value."""
    value = one["estimate"] - other["estimate"]
    method = f"paired difference of: {kind.method}"
    unit = kind.unit
    reason = next((row["reason"] for row in (one, other) if not np.isfinite(row["estimate"])), "")
    if reason or drawn is None:
        reason = reason or one["reason"] or other["reason"]
        return estimate_row(value, n=one["n"], unit=unit, method=method, reason=reason) | {"p": np.nan}
    found = Estimate(value, *bootstrap.interval(drawn, participant))
    return bootstrap.row(found, n=one["n"], unit=unit, method=method) | {"p": _p(found, drawn)}


def _p(found: Estimate, drawn: np.ndarray) -> float:
    """P value of a difference: one where nothing differs in any resample, none where there is no other interval."""
    same = found.reason == NO_WIDTH and found.estimate == 0
    return resampled_p(drawn) if same or not found.reason else np.nan


def _with_holm(rows: Mapping[tuple[str, str], dict]) -> pd.DataFrame:
    """Rows of pairs as a table of estimates, with p values for each pair and for the family."""
    table = estimate_table({pair_name(*pair): row for pair, row in rows.items()}, "pair")
    p = np.array([row["p"] for row in rows.values()])
    firsts, seconds = zip(*rows, strict=True)
    return table.assign(first=firsts, second=seconds, p=p, p_holm=holm(p))


def _scores(runs: Runs, conversations: pd.Index, policy: str) -> np.ndarray:
    """Score of each run and conversation, NaN where there is none: (runs, conversations)."""
    found = [
        pd.Series(counted_scores(frame, policy), index=frame["conversation"].to_numpy(dtype=object)).reindex(
            conversations
        )
        for frame in runs.values()
    ]
    return np.stack([run.to_numpy(dtype=float) for run in found])


def _on(runs: Runs, people: pd.Series, bootstrap: ParticipantBootstrap | None, policy: str) -> OverRuns:
    """Metrics of a judge on the conversations of ``people``, all in its order."""
    chosen = {}
    for name, frame in runs.items():
        rows = frame.set_index(frame["conversation"].to_numpy(dtype=object)).loc[people.index]
        chosen[name] = rows.assign(participant=people.to_numpy()).reset_index(drop=True)
    return over_runs(chosen, bootstrap, policy=policy)


def _one_truth(judges: Mapping[str, Runs]) -> pd.Series:
    """Ground truth of every conversation that has one, the same in all runs."""
    columns = {
        f"{judge}, {run}": pd.Series(
            frame["ground_truth"].to_numpy(dtype=float), frame["conversation"].to_numpy(dtype=object)
        )
        for judge, runs in judges.items()
        for run, frame in runs.items()
    }
    truths = pd.concat(columns.values(), axis=1, keys=columns)
    low, high = truths.min(axis=1), truths.max(axis=1)
    if (differ := high - low > _SAME).any():
        first = truths.loc[differ].iloc[0].dropna()
        raise UserError(
            f"The ground truth of {count_of(int(differ.sum()), 'conversation')} differs between the judges; the first "
            f"is {first.name!r}: {first.iloc[0]:g} in {first.index[0]}, {first[first != first.iloc[0]].iloc[0]:g} in "
            f"{first.index[first != first.iloc[0]][0]}. Compare predictions for the same data."
        )
    return low.dropna()


def _participants(judges: Mapping[str, Runs], conversations: pd.Index) -> pd.Series:
    """Participant of each conversation; missing where no file says."""
    known = [
        frame[["conversation", "participant"]]
        for runs in judges.values()
        for frame in runs.values()
        if "participant" in frame
    ]
    if not known:
        return pd.Series(None, index=conversations, dtype=object)
    pairs = pd.concat(known, ignore_index=True).dropna().drop_duplicates()
    if (twice := pairs["conversation"].duplicated(keep=False)).any():
        name = pairs.loc[twice, "conversation"].iloc[0]
        names = " and ".join(map(repr, pairs.loc[pairs["conversation"] == name, "participant"]))
        raise UserError(
            f"Conversation {name!r} is of different participants (PID) in different files: {names}. Correct one."
        )
    return pairs.set_index("conversation")["participant"].reindex(conversations)


def _nothing_shared(scored: pd.DataFrame) -> UserError:
    fewest = scored.sum().idxmin()
    return UserError(
        f"No conversation has a usable score of all {scored.shape[1]:,} judges; {fewest} has the fewest "
        f"({scored[fewest].sum():,}). Leave it out, or give predictions for the same conversations."
    )


def _coverage(
    usable: Mapping[str, np.ndarray], pairs: Sequence[tuple[str, str]], people: pd.Series, bootstrap
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Share of usable replies of each judge, and the paired differences."""
    method = "share of replies with a usable score, of the conversations of all judges"
    table = {judge: _share(share, people, bootstrap, method)[0] for judge, share in usable.items()}
    rows = {}
    for first, second in pairs:
        row, found, drawn = _share(usable[first] - usable[second], people, bootstrap, f"paired difference of: {method}")
        rows[first, second] = row | {"p": np.nan if drawn is None else _p(found, drawn)}
    return estimate_table(table, "judge"), _with_holm(rows)


def _share(values: np.ndarray, people: pd.Series, bootstrap, method: str) -> tuple[dict, Estimate, np.ndarray | None]:
    """Mean over conversations with its interval: a row, the estimate, and the draws."""
    if bootstrap is None or people.isna().any():
        reason = "no interval: participants are not known"
        found = Estimate(float(values.mean()), reason=reason)
        return estimate_row(found.estimate, n=len(values), unit=SHARE, method=method, reason=reason), found, None
    drawn = bootstrap.distribution(ratio, np.column_stack([values, np.ones(len(values))]), people)
    found = Estimate(float(values.mean()), *bootstrap.interval(drawn, people))
    return bootstrap.row(found, n=len(values), unit=SHARE, method=method), found, drawn


def as_judges(baselines: Mapping) -> dict[str, Runs]:
    """Return the baselines that have predictions as judges of one run, called ``baseline: NAME``."""
    return {f"baseline: {name}": {name: one.predictions} for name, one in baselines.items() if not one.reason}


def least_p(pairs: int, draws: int) -> float:
    """Smallest p value by Holm that so many resamples allow for so many pairs."""
    return min(1.0, 2 * pairs / (draws + 1))


def differences_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return differences with p values as texts.

    Parameters
    ----------
    table : DataFrame
        Table of estimates with p and p_holm.

    Examples
    --------
    >>> row = {"estimate": -0.1, "low": -0.2, "high": 0.05, "n": 40, "p": 0.2, "p_holm": 0.4, "reason": ""}
    >>> differences_in_words(pd.DataFrame(row, index=["a minus b"])).loc["a minus b"].tolist()
    ['-0.100', '-0.200 to 0.050', '40', '0.2000', '0.4000', '']
    """
    limits = zip(table["low"], table["high"], strict=True)
    return pd.DataFrame(
        {
            "difference": [f"{value:z.3f}" if np.isfinite(value) else "" for value in table["estimate"]],
            "interval": [f"{low:z.3f} to {high:z.3f}" if np.isfinite(low) else "" for low, high in limits],
            "n": table["n"].map("{:,}".format),
            "p": table["p"].map(p_in_words),
            "p, Holm": table["p_holm"].map(p_in_words),
            "note": table["reason"],
        },
        index=table.index,
    )


check_arguments(globals())
