"""The judges of an edition compared with each other and with the baselines, and the jury of a judge's runs, for a page.

Every table is there without a judge, too, and then says why it has no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import COLUMNS, estimate_row, estimate_table, safe_names
from sense7.judge.scoring.available_judges import ABSENT
from sense7.judge.scoring.baselines import Baseline
from sense7.judge.scoring.comparison import JudgeComparison, as_judges, compare_judges, least_p
from sense7.judge.scoring.juries import juries_of, jury_tables
from sense7.judge.scoring.metrics import METRICS
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["EditionComparison", "compare_edition", "jury_of_runs"]

_COUNTED = "spearman"
"""Metric by which the others that are better, worse and undecided are counted."""

_METRICS = ("spearman", "accuracy")

_FEW = "one run of one judge is no jury"


@dataclass(frozen=True, eq=False)
class EditionComparison:
    """What :func:`compare_edition` computed."""

    judge: str
    reason: str
    comparison: JudgeComparison | None = field(repr=False)
    counts: pd.DataFrame = field(repr=False)
    differences: dict[str, pd.DataFrame] = field(repr=False)

    def panels(self) -> dict[str, tuple[pd.DataFrame, tuple[float, ...]]]:
        """Panels of :func:`sense7.figures.forest`: metric -> differences, and the line at zero."""
        return {
            f"{METRICS[metric].title}: right of zero the judge is better": (table, (0.0,))
            for metric, table in self.differences.items()
        }

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
    differences = {metric: _differences(comparison, judge, metric, reason, prefix) for metric in _METRICS}
    counts = _counts(comparison, differences[_COUNTED], reason, prefix, bootstrap)
    return EditionComparison(judge, reason, comparison, counts, differences)


def _differences(comparison: JudgeComparison | None, judge: str, metric: str, reason: str, prefix: str) -> pd.DataFrame:
    kind = METRICS[metric]
    if comparison is None:
        row = estimate_row(n=0, unit=kind.unit, method=f"paired difference of: {kind.method}", reason=reason)
        return estimate_table({"none": row}, "compared with").assign(p=np.nan, p_holm=np.nan, key="")
    table = comparison.against(judge, metric)
    keys = {name: f"compared_{metric}_{plain}" for name, plain in safe_names(table.index).items()}
    known = np.isfinite(table["estimate"])  # the majority label orders nothing
    return table.assign(
        key=[keys[name] if known[name] else "" for name in table.index], method=prefix + table["method"]
    )


def _counts(
    comparison: JudgeComparison | None, table: pd.DataFrame, reason: str, prefix: str, bootstrap: ParticipantBootstrap
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
    defined = table["p_holm"].notna()
    decided, favors = table["p_holm"] < 1 - confidence, table["estimate"] > 0
    outcomes = {"better": decided & favors, "worse": decided & ~favors, "undecided": defined & ~decided}
    for outcome, chosen in outcomes.items():
        why = reason or _undecidable(int(defined.sum()), bootstrap)
        rows[outcome] = estimate_row(
            np.nan if why else int(chosen.sum()),
            n=int(defined.sum()),
            unit="judges",
            method=f"{prefix}{METRICS[_COUNTED].title}: {outcome}, p by Holm below {1 - confidence:.2g}",
            reason=why,
            key=f"compared_{outcome}_{_COUNTED}",
        )
    return estimate_table(rows, "count")


def _undecidable(pairs: int, bootstrap: ParticipantBootstrap) -> str:
    """Why no difference can be decided; "" if one can."""
    if not pairs:
        return "no difference has a p value"
    if least_p(pairs, bootstrap.draws) < 1 - bootstrap.confidence:
        return ""
    return f"too few resamples ({bootstrap.draws:,}) to decide on {count_of(pairs, 'pair')}"


def jury_of_runs(judges: Mapping, bootstrap: ParticipantBootstrap, found: EditionComparison) -> pd.DataFrame:
    """Return what the mean of all runs of the shown judge gains over its mean run.

    Parameters
    ----------
    judges : mapping
        As :func:`sense7.judge.scoring.available_judges.read_runs` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of participants.
    found : EditionComparison
        What :func:`compare_edition` returned: the jury judges the conversations that were compared.

    Returns
    -------
    DataFrame
        Table of estimates with the rows ``Spearman`` and ``accuracy``.
    """
    runs = judges.get(found.judge, {})
    reason = found.reason or (_FEW if len(runs) < 2 else "")
    prefix = f"{SIMULATED_WORDS}: " if found.judge in getattr(judges, "simulated", ()) else ""
    gains = None
    if not reason:
        people = found.comparison.people
        (jury,) = juries_of({found.judge: runs}, people.index, "mean")
        gains = jury_tables([jury], people, bootstrap)["gains"].loc[jury.name]
    rows = {}
    for metric in _METRICS:
        kind = METRICS[metric]
        row = {"n": 0, "unit": kind.unit, "method": kind.method, "reason": reason}
        if gains is not None:
            row = {name: gains.loc[metric, name] for name in COLUMNS}
        row = estimate_row(**row, key=f"jury_runs_mean_{metric}")
        rows[kind.title] = row | {"method": prefix + row["method"]}
    return estimate_table(rows, "gain")


check_arguments(globals())
