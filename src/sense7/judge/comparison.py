r"""Judges compared with each other: paired differences of every metric, on the same conversations; and juries of them.

A judge is a set of runs, a baseline a judge of one run; its metric is the mean over its runs. Two metrics can be
subtracted only where they rest on the same conversations, so each judge is measured on those for which every run of
every judge has a usable score. Who was left out is counted. All judges are measured in the same bootstrap resamples of
participants. P values are :func:`sense7.estimators.bootstrap.resampled_p`, for each metric corrected by Holm's rule.

A *jury* makes one score of several: of the runs of one judge, or of one run of each of several judges, by the mean, the
median, or the majority (the most frequent label; of equally frequent ones that nearest to the mean of the scores, then
the lower). Its gain is always positive where the jury is better. Whether it is worth its cost is asked by the gain per
additional call: over the mean run for runs of one judge, since no run is better than another by design, and over the
best member for several judges, since one could ask that one alone. Which member is best is seen in the same data.

Krippendorff, K. (2004). Content Analysis: An Introduction to Its Methodology, chapter 11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import NO_WIDTH, ParticipantBootstrap, ratio, resampled_p
from sense7.estimators.estimates import COLUMNS, estimate_row, estimate_table, holm, p_in_words, safe_names
from sense7.judge.files import counted_scores
from sense7.judge.judges import ABSENT, simulated_prefix
from sense7.judge.metrics import METRICS, SHARE, Metric, OverRuns, interval_row, no_interval, over_runs, with_ones
from sense7.terminal import count_of

__all__ = ["Comparison", "compare_edition", "compare_judges", "differences_in_words", "jury_of_runs"]

Runs = Mapping[str, pd.DataFrame]
"""Name of a run -> its predictions."""

RULES = ("mean", "median", "majority")
"""How a jury makes one score of those of its members."""

GAIN_METRICS = ("accuracy", "mean_absolute_error", "spearman", "quadratic_kappa")
LOWER_IS_BETTER = ("mean_absolute_error",)
_EDITION_METRICS = ("spearman", "accuracy")
_UNDEFINED = "undefined for the jury or for a member"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Metrics of every judge, and by metric (``coverage`` included) the differences of all pairs.

    ``left_out`` counts what each judge has scored and lacks; ``people`` are the participants of the conversations that
    all metrics but coverage rest on. Of an edition, ``differences`` are those of one judge, and ``counts`` sums them
    up; without a judge there is a reason.
    """

    judges: dict[str, OverRuns] = field(default_factory=dict)
    differences: dict[str, pd.DataFrame] = field(default_factory=dict)
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    coverage: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    people: pd.Series = field(default_factory=lambda: pd.Series(dtype=object), repr=False)
    conversations: int = 0
    judge: str = ""
    reason: str = ""
    counts: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)

    @property
    def shared(self) -> int:
        """Number of conversations that all metrics but coverage rest on."""
        return len(self.people)

    def against(self, judge: str, metric: str) -> pd.DataFrame:
        """One metric of ``judge`` minus that of every other, as a table of estimates by the other one."""
        table = self.differences[metric]
        first, second = table[table["first"] == judge], table[table["second"] == judge]
        turned = second.assign(estimate=-second["estimate"], low=-second["high"], high=-second["low"])
        rows = pd.concat([first.set_index("second"), turned.set_index("first")]).rename_axis("compared with")
        return rows.loc[[name for name in self.judges if name in rows.index], table.columns.drop(["first", "second"])]

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
            "another one, compare single runs with --each-run, or add the baselines with --data DATA."
        )
    everyone = {**judges, **references}
    truth = _one_truth(everyone)
    scores = {
        judge: np.stack([_scores(frame, policy).reindex(truth.index).to_numpy(dtype=float) for frame in runs.values()])
        for judge, runs in everyone.items()
    }
    scored = pd.DataFrame({judge: np.isfinite(table).all(axis=0) for judge, table in scores.items()}, index=truth.index)
    shared = scored.index[scored.all(axis=1)]
    if shared.empty:
        fewest = scored.sum().idxmin()
        raise UserError(
            f"No conversation has a usable score of all {scored.shape[1]:,} judges; {fewest} has the fewest "
            f"({scored[fewest].sum():,}). Leave it out, or give predictions for the same conversations."
        )
    people = _participants(everyone, truth.index)
    measured = {judge: _on(runs, people[shared], bootstrap, policy) for judge, runs in everyone.items()}
    differences = {}
    about = Metric("", SHARE, "share of replies with a usable score, of the conversations of all judges")
    usable = {judge: np.isfinite(table).mean(axis=0) for judge, table in scores.items()}
    why, drawn = no_interval(people, bootstrap), dict.fromkeys(usable)
    if not why:
        drawn = {judge: bootstrap.distribution(ratio, with_ones(one), people) for judge, one in usable.items()}
    coverage = {
        judge: interval_row(float(one.mean()), drawn[judge], about, len(one), people, bootstrap, why)
        for judge, one in usable.items()
    }
    coverage = estimate_table(coverage, "judge")
    differences["coverage"] = _differences(coverage.assign(reason=why), drawn, about, pairs, people, bootstrap)
    for name, metric in METRICS.items():
        rows = pd.DataFrame({judge: runs.mean.loc[name] for judge, runs in measured.items()}).T
        drawn = {judge: runs.draws.get(name) for judge, runs in measured.items()}
        differences[name] = _differences(rows, drawn, metric, pairs, people[shared], bootstrap)
    counts = {
        "runs": {judge: len(runs) for judge, runs in everyone.items()},
        "scored": scored.sum(),
        "shared": len(shared),
        "left_out": scored.sum() - len(shared),
        "lacking": (~scored).sum(),
    }
    left_out = pd.DataFrame(counts).rename_axis("judge").loc[list(everyone)]
    return Comparison(measured, differences, left_out, coverage, people[shared], len(truth))


def _differences(rows: pd.DataFrame, drawn: Mapping, metric, pairs: Sequence, people, bootstrap) -> pd.DataFrame:
    """Paired differences of one metric with p values, for each pair and corrected by Holm's rule."""
    found, about = {}, replace(metric, method=f"paired difference of: {metric.method}")
    for first, second in pairs:
        one, other = rows.loc[first], rows.loc[second]
        value, p, draws = one["estimate"] - other["estimate"], np.nan, None
        reason = next((row["reason"] for row in (one, other) if not np.isfinite(row["estimate"])), "")
        if reason or drawn[first] is None or drawn[second] is None:
            reason = reason or one["reason"] or other["reason"]
        else:
            draws = drawn[first] - drawn[second]
        row = interval_row(value, draws, about, int(one["n"]), people, bootstrap, reason)
        # One where nothing differs in any resample, none where there is no other interval.
        if draws is not None and (not row["reason"] or (row["reason"] == NO_WIDTH and value == 0)):
            p = resampled_p(draws)
        found[f"{first} minus {second}"] = row | {"first": first, "second": second, "p": p}
    table, kept = estimate_table(found, "pair"), pd.DataFrame.from_dict(found, orient="index")
    p = kept["p"].to_numpy(dtype=float)
    return table.assign(first=kept["first"], second=kept["second"], p=p, p_holm=holm(p))


def _scores(frame: pd.DataFrame, policy: str) -> pd.Series:
    return pd.Series(counted_scores(frame, policy), index=frame["conversation"].to_numpy(dtype=object))


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
    frames = [frame for runs in judges.values() for frame in runs.values() if "participant" in frame]
    if not frames:
        return pd.Series(None, index=conversations, dtype=object)
    known = pd.concat([frame[["conversation", "participant"]] for frame in frames], ignore_index=True)
    pairs = known.dropna().drop_duplicates()
    if (twice := pairs["conversation"].duplicated(keep=False)).any():
        name = pairs.loc[twice, "conversation"].iloc[0]
        names = " and ".join(map(repr, pairs.loc[pairs["conversation"] == name, "participant"]))
        raise UserError(
            f"Conversation {name!r} is of different participants (PID) in different files: {names}. Correct one."
        )
    return pairs.set_index("conversation")["participant"].reindex(conversations)


def as_judges(baselines: Mapping) -> dict[str, Runs]:
    """Return the baselines that have predictions as judges of one run, called ``baseline: NAME``."""
    return {f"baseline: {name}": {name: one.predictions} for name, one in baselines.items() if not one.reason}


def least_p(pairs: int, draws: int) -> float:
    """Smallest p value by Holm that so many resamples allow for so many pairs."""
    return min(1.0, 2 * pairs / (draws + 1))


def differences_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of estimates with p and p_holm as texts."""
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


# The judges of an edition, for its page


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
        As :func:`sense7.judge.judges.read_runs` gives it.
    judge : str
        One of them; "" if there is none.
    baselines : mapping
        As :func:`sense7.judge.baselines.baseline_predictions` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of participants.

    Examples
    --------
    >>> compare_edition({}, "", {}, ParticipantBootstrap(["a", "b"])).reason
    'no predictions of a judge are available'
    """
    found = Comparison(reason="" if judges else ABSENT)
    if judges:
        try:
            found = compare_judges(judges, bootstrap, references=as_judges(baselines))
        except UserError as error:
            found = Comparison(reason=str(error))
    prefix, reason, tables = simulated_prefix(judges, judge), found.reason, {}
    for metric in _EDITION_METRICS:
        kind = METRICS[metric]
        if reason:
            row = estimate_row(n=0, unit=kind.unit, method=f"paired difference of: {kind.method}", reason=reason)
            table = estimate_table({"none": row}, "compared with").assign(p=np.nan, p_holm=np.nan, key="")
        else:
            table = found.against(judge, metric)
            names, known = safe_names(table.index), np.isfinite(table["estimate"])  # the majority label orders nothing
            keys = [f"compared_{metric}_{names[name]}" if known[name] else "" for name in table.index]
            table = table.assign(key=keys, method=prefix + table["method"])
        tables[metric] = table
    counted, alpha = tables[_EDITION_METRICS[0]], 1 - bootstrap.confidence
    pairs = int(counted["p_holm"].notna().sum())
    decided, favors = counted["p_holm"] < alpha, counted["estimate"] > 0
    why = reason or ("" if pairs else "no difference has a p value")
    if not why and least_p(pairs, bootstrap.draws) >= alpha:
        why = f"too few resamples ({bootstrap.draws:,}) to decide on {count_of(pairs, 'pair')}"
    rows = {
        "compared": estimate_row(
            np.nan if reason else found.shared,
            n=found.conversations,
            unit="conversations",
            method=f"{prefix}conversations with a usable score in every run of every judge; n: all with ground truth",
            reason=reason,
            key="compared_conversations",
        )
    }
    undecided = counted["p_holm"].notna() & ~decided
    for outcome, chosen in {"better": decided & favors, "worse": decided & ~favors, "undecided": undecided}.items():
        rows[outcome] = estimate_row(
            np.nan if why else int(chosen.sum()),
            n=pairs,
            unit="judges",
            method=f"{prefix}{METRICS['spearman'].title}: {outcome}, p by Holm below {alpha:.2g}",
            reason=why,
            key=f"compared_{outcome}_spearman",
        )
    return replace(found, differences=tables, counts=estimate_table(rows, "count"), judge=judge)


def jury_of_runs(judges: Mapping, bootstrap: ParticipantBootstrap, found: Comparison) -> pd.DataFrame:
    """Return what the mean of all runs of the shown judge gains over its mean run, on the conversations compared."""
    runs, gains = judges.get(found.judge, {}), None
    reason = found.reason or ("one run of one judge is no jury" if len(runs) < 2 else "")
    if not reason:
        (jury,) = juries_of({found.judge: runs}, found.people.index, "mean")
        gains = jury_tables([jury], found.people, bootstrap)["gains"].loc[jury.name]
    rows = {}
    for metric in _EDITION_METRICS:
        kind = METRICS[metric]
        row = {"n": 0, "unit": kind.unit, "method": kind.method, "reason": reason}
        if gains is not None:
            row = {name: gains.loc[metric, name] for name in COLUMNS}
        row = estimate_row(**row, key=f"jury_runs_mean_{metric}")
        rows[kind.title] = row | {"method": simulated_prefix(judges, found.judge) + row["method"]}
    return estimate_table(rows, "gain")


# Juries


@dataclass(frozen=True, eq=False)
class Jury:
    """One jury: the runs of each member, its own runs, and whether its members are runs of one judge."""

    name: str
    members: dict[str, Runs] = field(repr=False)
    runs: dict[str, pd.DataFrame] = field(repr=False)
    of_runs: bool


def require_rule(rule: str) -> None:
    """Refuse a rule that is none."""
    if rule not in RULES:
        raise UserError(f"--jury {rule}: no such rule. Give one of {', '.join(RULES)}.")


def jury_scores(scores: np.ndarray, rule: str) -> np.ndarray:
    """Return one score for each conversation from those of the members: (members, conversations)."""
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
    count, values = known.sum(axis=0).astype(float), np.where(known, scores, 0.0)
    total, squares = values.sum(axis=0), (values**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (count * squares - total**2) / (count - 1)
    return np.where(count[:, None] > 1, np.column_stack([count, total, squares, within]), 0.0)


def krippendorff_alpha(sums: np.ndarray) -> np.ndarray:
    """Return Krippendorff's alpha for intervals, from :func:`agreement_sums` added up over conversations."""
    n, total, squares, within = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = 2 * within / n, 2 * (n * squares - total**2) / (n * (n - 1))
        return np.where(expected > 1e-12, 1 - observed / expected, np.nan)


def juries_of(judges: Mapping[str, Runs], conversations: pd.Index, rule: str, policy: str = "strict") -> list[Jury]:
    """Return the juries that judges can form: of the runs of each that has several, and of all judges."""
    require_rule(rule)

    def together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
        score = jury_scores(np.stack([counted_scores(frame, policy) for frame in frames]), rule)
        kept = frames[0][["conversation", "ground_truth"]]
        return kept.assign(score=score, status=np.where(np.isfinite(score), "ok", "unstated"))

    on = {
        judge: {
            name: frame.set_index(frame["conversation"].to_numpy(dtype=object))
            .loc[conversations]
            .reset_index(drop=True)
            for name, frame in runs.items()
        }
        for judge, runs in judges.items()
    }
    found = []
    for judge, runs in on.items():
        if len(runs) > 1:
            members = {name: {name: frame} for name, frame in runs.items()}
            own = {"jury": together(list(runs.values()))}
            found.append(Jury(f"{judge}: {rule} of {len(runs):,} runs", members, own, of_runs=True))
    if len(on) > 1:  # as many runs as the member with the fewest
        each = zip(*(runs.values() for runs in on.values()), strict=False)
        own = {str(number): together(frames) for number, frames in enumerate(each, 1)}
        found.append(Jury(f"{rule} of {len(on):,} judges", dict(on), own, of_runs=False))
    if not found:
        raise UserError(f"--jury {rule}: one run of one judge is no jury. Give several runs, or several judges.")
    return found


def jury_tables(
    juries: Sequence[Jury],
    people: pd.Series,
    bootstrap: ParticipantBootstrap | None,
    *,
    policy: str = "strict",
    worth: float = 0.0,
) -> dict[str, pd.DataFrame]:
    """Return what each jury adds to its members, and how much these agree."""
    why, alphas, rows = no_interval(people, bootstrap), {}, {}
    for jury in juries:
        firsts = [next(iter(runs.values())) for runs in jury.members.values()]
        sums = agreement_sums(np.stack([counted_scores(frame, policy) for frame in firsts]))
        about = {"n": len(people), "unit": "alpha"}
        about["method"] = f"Krippendorff's alpha (interval) of {len(firsts):,} members"
        if why:
            alphas[jury.name] = estimate_row(krippendorff_alpha(sums.sum(axis=0)), reason=why, **about)
        else:
            same = "all members give the same score everywhere"
            found = bootstrap.estimate(krippendorff_alpha, sums, people)
            alphas[jury.name] = bootstrap.row(found, undefined=same, **about)
        own = _on(jury.runs, people, bootstrap, "strict")
        members = {name: _on(runs, people, bootstrap, policy) for name, runs in jury.members.items()}
        for metric in GAIN_METRICS:
            rows[jury.name, metric] = _gain(jury, metric, own, members, people, bootstrap, worth, why)
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["jury", "metric"])
    corrected = table.groupby(level="metric", sort=False)["p"].transform(lambda p: holm(p.to_numpy()))
    decided = corrected < 1 - (bootstrap.confidence if bootstrap else 1.0)
    return {"agreement": estimate_table(alphas, "jury"), "gains": table.assign(p_holm=corrected, worth=decided)}


def _gain(
    jury: Jury, metric: str, own: OverRuns, members: Mapping[str, OverRuns], people, bootstrap, worth, why
) -> dict:
    """What a jury adds to its members in one metric: over their mean, the best of them, and per additional call."""
    sign, value = -1 if metric in LOWER_IS_BETTER else 1, own.mean.loc[metric, "estimate"]
    values = {name: member.mean.loc[metric, "estimate"] for name, member in members.items()}
    # A member whose metric is undefined is not the best; where all are, there is no best, and no gain.
    best = max(values, key=lambda name: np.nan_to_num(sign * values[name], nan=-np.inf))
    over_mean, over_best = sign * (value - float(np.mean(list(values.values())))), sign * (value - values[best])
    per_call = (over_mean if jury.of_runs else over_best) / (len(members) - 1)
    row = {"best": best, "over_best": over_best, "per_call": per_call}
    row |= dict.fromkeys(("best_low", "best_high", "per_call_low", "p"), np.nan)
    about = replace(METRICS[metric], method=f"gain of the jury over the mean of its members: {METRICS[metric].method}")
    if not np.isfinite(over_mean) or why:
        reason = why if np.isfinite(over_mean) else _UNDEFINED
        return interval_row(over_mean, None, about, len(people), people, bootstrap, reason) | row
    of_mean = sign * (own.draws[metric] - np.mean([member.draws[metric] for member in members.values()], axis=0))
    of_best = sign * (own.draws[metric] - members[best].draws[metric])
    drawn = (of_mean if jury.of_runs else of_best) / (len(members) - 1)
    drawn = drawn[np.isfinite(drawn)]
    low, high, _ = bootstrap.interval(of_best, people)
    row |= {"best_low": low, "best_high": high}
    if len(drawn):
        row["per_call_low"] = float(np.quantile(drawn, 1 - bootstrap.confidence))
        row["p"] = (1 + np.count_nonzero(drawn <= worth)) / (1 + len(drawn))
    return interval_row(over_mean, of_mean, about, len(people), people, bootstrap) | row
