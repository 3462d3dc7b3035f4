"""What ``sense7 judge`` prints of a report: tables and sentences for a terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from sense7.cli.common import number_in_words, print_table
from sense7.judge.files import SKIPPED_WORD
from sense7.judge.scores.comparison import decided
from sense7.judge.scores.judges import ABOUT_SIMULATED
from sense7.judge.scores.metrics import AUTHORS_METRICS, MEASURED
from sense7.judge.scores.report import Calibration, Evaluation, JudgesCompared, Report
from sense7.statistics.estimates import p_in_words
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

_METRICS = (*AUTHORS_METRICS, "quadratic_kappa")


def with_interval(row: Mapping, otherwise: str = "") -> str:
    """An estimate with its interval, or with what stands in the place of an interval."""
    number = number_in_words(row["estimate"])
    interval = otherwise
    if np.isfinite(row["low"]):
        interval = f"{row['low']:z.3f} to {row['high']:z.3f}"
    if not interval:
        return number
    return f"{number} ({interval})"


def _titles(names: Iterable[str]) -> list[str]:
    return [MEASURED[name].title for name in names]


def notes_of_files(report: Report) -> list[str]:
    """Say what has to be known of files under every verb: simulated judges, remarks, the policy, files passed over."""
    facts = report.facts
    notes = []
    if facts.simulated:
        notes.append(f"{SIMULATED_WORDS} ({', '.join(facts.simulated)}): {ABOUT_SIMULATED}")
    notes += [f"{file}: {remark}." for file, remark in facts.remarks]
    if report.settings.get("policy") == "authors":
        notes.append(
            "Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not."
        )
    if report.skipped:
        notes.append(
            f"Passed over, as the authors do, for the word {SKIPPED_WORD} in the full path: {len(report.skipped):,}; "
            f"the first is {report.skipped[0]}."
        )
    return notes


# --- evaluate -----------------------------------------------------------------------------


def print_evaluation(report: Evaluation) -> None:
    """Print what ``sense7 judge evaluate`` found: each file, all files, each rating."""
    names = ("coverage", *AUTHORS_METRICS)
    rows = []
    for file in report.files:
        metrics = file["metrics"]
        estimates = metrics.loc[[*names], "estimate"]
        rows.append([file["name"], metrics.loc["accuracy", "n"], *estimates])
    print_table("Files", ["file", "n", *_titles(names)], rows)

    rows = []
    spread = report.over_files["spread"]
    for name, row in report.over_files["mean"].iterrows():
        deviation = spread.loc[name, "estimate"]
        title = MEASURED[name].title
        rows.append([title, row["n"], with_interval(row), deviation, row["reason"]])
    mean = f"mean over files ({report.settings['confidence']:.0%} interval)"
    heads = ["metric", "n", mean, "sd over files", "note"]
    print_table("Over files", heads, rows)

    stability = report.over_files["stability"].loc["same_label"]
    if stability["n"]:
        share = number_in_words(stability["estimate"])
        print(f"Share of {stability['n']:,} conversations that keep one label over files: {share}.")
    rows = []
    for rating, table in report.ratings.items():
        numbers = [with_interval(table.loc[name]) for name in _METRICS]
        rows.append([rating, table.loc["accuracy", "n"], *numbers])
    if rows:
        print_table("Ratings", ["rating", "n", *_titles(_METRICS)], rows)


def notes_of_evaluation(report: Evaluation) -> list[str]:
    """What has to be known of the files that were evaluated: what they lack, and how they differ."""
    facts = report.facts
    notes = notes_of_files(report)
    bounds_of = {file["name"]: file["bounds"]["estimate"] for file in report.files}
    for file, run in facts.runs.items():
        failures = Counter(run.status[np.isnan(run.score)])
        without_truth = np.isnan(run.ground_truth).sum()
        doubts = run.reason[run.doubtful]
        if failures:
            counts = ", ".join(f"{count:,} {status}" for status, count in failures.most_common())
            bounded = ""
            if np.isfinite(bounds_of[file]).all():
                lowest, highest = bounds_of[file]
                bounds = f"{lowest:z.3f} to {highest:z.3f}"
                bounded = f"; for any values of these scores, the accuracy is {bounds}"
            notes.append(f"{file}: without a usable score: {counts}{bounded}.")
        if len(doubts):
            notes.append(f"{file}: doubtful readings: {len(doubts):,}; the first: {doubts[0]}.")
        if without_truth:
            notes.append(f"{file}: rows without ground truth, left out: {without_truth:,}.")
    if len(facts.models) > 1:
        models = ", ".join(facts.models)
        notes.append(
            f"The files are of {len(facts.models):,} models ({models}): mean and sd are over files, not over runs."
        )
    for file, lacking in facts.lacking.items():
        if lacking:
            notes.append(
                f"{file}: {lacking:,} of the {facts.conversations:,} conversations of all files are not in it."
            )
    if facts.differing_truths:
        notes.append(
            f"Conversations whose ground truth differs between files: {len(facts.differing_truths):,}; the first is "
            f"{facts.differing_truths[0]}. Are they predictions for the same data?"
        )
    return notes


# --- compare ------------------------------------------------------------------------------


def print_comparison(report: JudgesCompared) -> None:
    """Print what ``sense7 judge compare`` found: each judge, and how the first differs from each other one."""
    confidence = report.settings["confidence"]
    judges = count_of(len(report.judges), "judge")
    rows = []
    for judge in report.judges:
        counts = [judge["runs"], judge["lacking"], judge["left_out"]]
        numbers = [judge["coverage"]["estimate"], *judge["metrics"].loc[[*_METRICS], "estimate"]]
        rows.append([judge["name"], *counts, *numbers])
    title = (
        f"{judges} on the same {report.shared:,} of {report.conversations:,} conversations with ground truth: those "
        "for which every run of every judge has a usable score. Coverage is over all of them."
    )
    heads = ["judge", "runs", "without a score", "left out", "coverage", *_titles(_METRICS)]
    print_table(title, heads, rows)

    rows = []
    for metric in ("coverage", *_METRICS):
        for name, row in report.differences[metric].iterrows():
            p_values = [p_in_words(row["p"]), p_in_words(row["p_holm"])]
            less_is_better = metric == "mean_absolute_error"
            outcome = row["reason"] or "not distinguished"
            if decided(row["p_holm"], confidence):
                outcome = row["second"]
                if (row["estimate"] > 0) != less_is_better:
                    outcome = row["first"]
            rows.append([MEASURED[metric].title, name, with_interval(row), *p_values, outcome])
    pairs = count_of(len(report.differences["coverage"]), "pair")
    title = (
        f"Paired differences; {report.settings['draws']:,} resamplings of participants, the same for all; p by Holm "
        f"over {pairs} for each metric. Of the mean absolute error (MAE), less is better."
    )
    difference = f"difference ({confidence:.0%} interval)"
    heads = ["metric", "first minus other", difference, "p", "p, Holm", "better"]
    print_table(title, heads, rows)


# --- calibrate ----------------------------------------------------------------------------


def print_calibration(report: Calibration) -> None:
    """Print what ``sense7 judge calibrate`` wrote: each file with its error before and after."""
    rows = []
    for name, table in report.errors.items():
        errors = [with_interval(row, row["reason"]) for _, row in table.iterrows()]
        counts = [f"{count:,} {status}" for status, count in report.without_score[name].items()]
        rows.append([name, table["n"].iloc[0], *errors, ", ".join(counts)])
    heads = ["file", "n", "as given", "calibrated", "lower by", "without a score"]
    print_table("Expected calibration error", heads, rows)
