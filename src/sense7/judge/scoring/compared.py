"""The judges of an edition compared with each other and with the baselines, and the juries that they form, for a page.

Every table is there without a judge, too, and then says why it has no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words, safe_names
from sense7.judge.scoring.available_judges import ABSENT
from sense7.judge.scoring.baselines import Baseline
from sense7.judge.scoring.comparison import JudgeComparison, as_judges, compare_judges, least_p
from sense7.judge.scoring.juries import GAIN_METRICS, LOWER_IS_BETTER, RULES, juries_of, jury_tables, with_verdicts
from sense7.judge.scoring.metrics import METRICS
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["EditionComparison", "EditionJuries", "compare_edition", "gains_in_words", "juries_of_edition"]

_KEYS = {
    "spearman": {
        "better": "compared_better_spearman",
        "worse": "compared_worse_spearman",
        "undecided": "compared_undecided_spearman",
    },
    "accuracy": {
        "better": "compared_better_accuracy",
        "worse": "compared_worse_accuracy",
        "undecided": "compared_undecided_accuracy",
    },
    "mean_absolute_error": {
        "better": "compared_better_error",
        "worse": "compared_worse_error",
        "undecided": "compared_undecided_error",
    },
}
"""Metric -> outcome -> key of the number of others."""

_RUNS_KEYS = {
    "mean": {
        "accuracy": "jury_runs_mean_accuracy",
        "mean_absolute_error": "jury_runs_mean_error",
        "spearman": "jury_runs_mean_spearman",
        "quadratic_kappa": "jury_runs_mean_kappa",
    },
    "median": {
        "accuracy": "jury_runs_median_accuracy",
        "mean_absolute_error": "jury_runs_median_error",
        "spearman": "jury_runs_median_spearman",
        "quadratic_kappa": "jury_runs_median_kappa",
    },
    "majority": {
        "accuracy": "jury_runs_majority_accuracy",
        "mean_absolute_error": "jury_runs_majority_error",
        "spearman": "jury_runs_majority_spearman",
        "quadratic_kappa": "jury_runs_majority_kappa",
    },
}
"""Rule -> metric -> key of the gain of the jury of the shown judge's runs over the mean run."""

_FEW = "one run of one judge is no jury"


@dataclass(frozen=True, eq=False)
class EditionComparison:
    """What :func:`compare_edition` computed.

    Attributes
    ----------
    judge : str
        The one that is compared with all others; "" if there is none.
    reason : str
        Why there is no comparison; "" if there is one.
    comparison : JudgeComparison or None
    counts : DataFrame
        Table of estimates with keys: conversations that are compared, and outcomes by metric.
    differences : dict of DataFrame
        Metric -> table of estimates, the judge minus each other one, with p, p_holm and keys that end with the name.
    """

    judge: str
    reason: str
    comparison: JudgeComparison | None = field(repr=False)
    counts: pd.DataFrame = field(repr=False)
    differences: dict[str, pd.DataFrame] = field(repr=False)

    def panels(self) -> dict[str, tuple[pd.DataFrame, tuple[float, ...]]]:
        """Panels of :func:`sense7.figures.forest`: metric -> differences, and the line at zero."""
        shown = {}
        for metric, table in self.differences.items():
            side = "left" if metric in LOWER_IS_BETTER else "right"
            shown[f"{METRICS[metric].title}: {side} of zero the judge is better"] = (table, (0.0,))
        return shown

    def left_out(self) -> pd.DataFrame:
        """How many conversations each judge has scored and lacks, as texts."""
        if self.comparison is None:
            return pd.DataFrame()
        heads = {
            "runs": "runs",
            "scored": "scored in every run",
            "left_out": "of these not by all others",
            "lacking": "without a score in some run",
        }
        return self.comparison.left_out[list(heads)].rename(columns=heads).map("{:,}".format)


def compare_edition(
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    baselines: Mapping[str, Baseline],
    bootstrap: ParticipantBootstrap,
) -> EditionComparison:
    """Compare one judge of an edition with all others and with the baselines.

    Parameters
    ----------
    judges : mapping
        As :func:`sense7.judge.scoring.available_judges.read_runs` gives it.
    judge : str
        One of them; "" if there is none.
    baselines : mapping
        As :func:`sense7.judge.scoring.baselines.baseline_predictions` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of participants.

    Examples
    --------
    >>> compare_edition({}, "", {}, ParticipantBootstrap(["a", "b"])).reason
    'no predictions of a judge are available'
    """
    comparison, reason = None, "" if judges else ABSENT
    if not reason:
        try:
            comparison = compare_judges(judges, bootstrap, references=as_judges(baselines))
        except UserError as error:
            reason = str(error)
    prefix = f"{SIMULATED_WORDS}: " if judge in getattr(judges, "simulated", ()) else ""
    differences = {metric: _differences(comparison, judge, metric, reason, prefix) for metric in _KEYS}
    counts = _counts(comparison, differences, reason, prefix, bootstrap)
    return EditionComparison(judge, reason, comparison, counts, differences)


def _differences(comparison: JudgeComparison | None, judge: str, metric: str, reason: str, prefix: str) -> pd.DataFrame:
    kind = METRICS[metric]
    if comparison is None:
        row = estimate_row(n=0, unit=kind.unit, method=f"paired difference of: {kind.method}", reason=reason)
        return estimate_table({"none": row}, "compared with").assign(p=np.nan, p_holm=np.nan, key="")
    table = comparison.against(judge, metric)
    keys = {name: f"compared_{metric}_{plain}" for name, plain in safe_names(table.index).items()}
    return table.assign(key=[keys[name] for name in table.index], method=prefix + table["method"])


def _counts(
    comparison: JudgeComparison | None, differences: Mapping, reason: str, prefix: str, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    rows, confidence = {}, bootstrap.confidence
    total, shared = (comparison.conversations, comparison.shared) if comparison else (0, 0)
    about = "with a usable score in every run of every judge; n: all with ground truth"
    rows["compared"] = estimate_row(
        shared if comparison else np.nan,
        n=total,
        unit="conversations",
        method=f"{prefix}conversations {about}",
        reason=reason,
        key="compared_conversations",
    )
    for metric, keys in _KEYS.items():
        table = differences[metric]
        defined = table["p_holm"].notna()
        decided = table["p_holm"] < 1 - confidence
        favors = (table["estimate"] > 0) != (metric in LOWER_IS_BETTER)
        outcomes = {"better": decided & favors, "worse": decided & ~favors, "undecided": defined & ~decided}
        for outcome, chosen in outcomes.items():
            why = reason or _undecidable(int(defined.sum()), bootstrap)
            rows[f"{outcome}, {METRICS[metric].title}"] = estimate_row(
                np.nan if why else int(chosen.sum()),
                n=int(defined.sum()),
                unit="judges",
                method=f"{prefix}{METRICS[metric].title}: {outcome}, p by Holm below {1 - confidence:.2g}",
                reason=why,
                key=keys[outcome],
            )
    return estimate_table(rows, "count")


def _undecidable(pairs: int, bootstrap: ParticipantBootstrap) -> str:
    """Why no difference can be decided; "" if one can."""
    if not pairs:
        return "no difference has a p value"
    if least_p(pairs, bootstrap.draws) < 1 - bootstrap.confidence:
        return ""
    return f"too few resamples ({bootstrap.draws:,}) to decide on {count_of(pairs, 'pair')}"


@dataclass(frozen=True, eq=False)
class EditionJuries:
    """What :func:`juries_of_edition` computed.

    Attributes
    ----------
    reason : str
        Why there is no jury; "" if there is one.
    agreement : DataFrame
        Krippendorff's alpha of the members of each jury; that of the shown judge's runs has a key.
    gains : DataFrame
        As :func:`sense7.judge.scoring.juries.jury_tables`, of all rules, which are one family for Holm; those of the
        shown judge's runs have keys.
    """

    reason: str
    agreement: pd.DataFrame = field(repr=False)
    gains: pd.DataFrame = field(repr=False)


def juries_of_edition(judges: Mapping, bootstrap: ParticipantBootstrap, found: EditionComparison) -> EditionJuries:
    """Return what juries of an edition's judges, and of their runs, add to their members, by every rule.

    Parameters
    ----------
    judges : mapping
        As :func:`sense7.judge.scoring.available_judges.read_runs` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of participants.
    found : EditionComparison
        What :func:`compare_edition` returned: juries judge the conversations that were compared.
    """
    reason = found.reason
    if not reason and len(judges) == 1 and all(len(runs) < 2 for runs in judges.values()):
        reason = _FEW
    agreement, tables = None, []
    prefix = f"{SIMULATED_WORDS}: " if getattr(judges, "simulated", ()) else ""
    for rule in () if reason else RULES:
        people = found.comparison.people
        made = jury_tables(juries_of(judges, people.index, rule), people, bootstrap)
        of_shown = f"{found.judge}: {rule} of {len(judges[found.judge]):,} runs"
        gains = made["gains"]
        keys = [_RUNS_KEYS[rule][metric] if jury == of_shown else "" for jury, metric in gains.index]
        tables.append(gains.assign(key=keys, method=prefix + gains["method"]))
        if agreement is None:
            own = made["agreement"].rename(index=lambda name, rule=rule: name.replace(f"{rule} of ", ""))
            shown = of_shown.replace(f"{rule} of ", "")
            alphas = ["jury_runs_alpha" if name == shown else "" for name in own.index]
            agreement = own.assign(key=alphas, method=prefix + own["method"])
    if not tables:
        return EditionJuries(reason, *_no_jury(reason))
    return EditionJuries("", agreement, with_verdicts(pd.concat(tables), bootstrap))


def _no_jury(reason: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    alpha = estimate_row(n=0, unit="alpha", method="Krippendorff's alpha (interval)", reason=reason)
    rows = {
        ("none", f"{metric} {rule}"): estimate_row(
            n=0, unit=METRICS[metric].unit, method=METRICS[metric].method, reason=reason, key=_RUNS_KEYS[rule][metric]
        )
        for rule in RULES
        for metric in GAIN_METRICS
    }
    gains = pd.DataFrame.from_dict(rows, orient="index")
    gains.index = pd.MultiIndex.from_tuples(rows, names=["jury", "metric"])
    return estimate_table({"none": alpha | {"key": "jury_runs_alpha"}}, "jury"), gains


def gains_in_words(gains: pd.DataFrame) -> pd.DataFrame:
    """Gains of juries as texts: over the mean member, over the best, per call with its one-sided limit, verdict.

    Parameters
    ----------
    gains : DataFrame
        Of :class:`EditionJuries`.
    """

    def ranged(value: float, low: float, high: float) -> str:
        interval = f" [{low:z.3f}, {high:z.3f}]" if np.isfinite(low) else ""
        return f"{value:z.3f}{interval}" if np.isfinite(value) else ""

    rows = {}
    for (jury, metric), row in gains.iterrows():
        per_call = f"{row['per_call']:z.4f}, at least {row['per_call_low']:z.4f}"
        rows[f"{jury}, {METRICS[metric].title}"] = {
            "over the mean member": ranged(row["estimate"], row["low"], row["high"]),
            "over the best member": ranged(row["over_best"], row["best_low"], row["best_high"]),
            "per additional call": per_call if np.isfinite(row["per_call_low"]) else "",
            "p, Holm": p_in_words(row["p_holm"]),
            "worth its calls": row["reason"] or ("yes" if row["worth"] else "not shown"),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("jury and metric")


check_arguments(globals())
