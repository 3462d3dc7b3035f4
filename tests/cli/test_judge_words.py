"""What the verbs of ``sense7 judge`` say below their tables."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from sense7.cli.judge_words import notes_of_evaluation, notes_of_files
from sense7.judge.files import Run
from sense7.judge.scores.report import Calibration, Evaluation, Facts

REPORTS = {
    notes_of_evaluation: Evaluation,
    notes_of_files: Calibration,
}
SAID = [
    *("1,200 refusal", "2 truncated", "0.250", "0.750", "1 not_asked", "3", "4"),
    *("1 unstated", "2 models", "gpt", "mistral", "1,500", "2,000", "2; the first is C7"),
    "my_results.csv",
]


def report_of(kind, facts, **parts):
    """A report as a verb makes it; of its tables what is said below them."""
    made = dict.fromkeys(field.name for field in fields(kind))
    common = {"settings": {"policy": "strict"}, "facts": facts, "skipped": [], "files": []}
    common |= parts
    return kind(**made | {name: common[name] for name in made if name in common})


def run_without_scores(statuses, doubts):
    """A run of so many rows of each status, the last of them doubtful or without a ground truth."""
    status = [name for name, count in statuses.items() for _ in range(count)]
    frame = pd.DataFrame({"status": status, "reason": "two numbers", "ground_truth": 4.0})
    frame.loc[frame.index[:doubts], "doubtful"] = True
    frame.loc[frame.index[: doubts + 1], "ground_truth"] = np.nan if doubts else 4.0
    return Run.of(frame)


def test_every_fact_of_an_evaluation_is_said():
    statuses = {"refusal": 1200, "truncated": 2, "not_asked": 1}
    facts = Facts(
        simulated=["a"],
        remarks=[("a", "one cell is blank")],
        runs={"a": run_without_scores(statuses, 3), "b": run_without_scores({"unstated": 1}, 0)},
        models=["gpt", "mistral"],
        conversations=2000,
        lacking={"a": 0, "b": 1500},
        differing_truths=["C7", "C8"],
    )
    bounds = {"a": [0.25, 0.75], "b": [np.nan, np.nan]}
    files = [{"name": name, "bounds": pd.DataFrame({"estimate": b})} for name, b in bounds.items()]
    given = {"files": files, "skipped": [Path("my_results.csv")], "settings": {"policy": "authors"}}
    naming.check("\n".join(notes_of_evaluation(report_of(Evaluation, facts, **given))), *SAID)


@pytest.mark.parametrize(("notes", "kind"), REPORTS.items())
def test_files_that_were_passed_over_are_said_and_else_nothing(notes, kind):
    facts = Facts(models=["gpt"], conversations=2, lacking={"a": 0})
    assert notes(report_of(kind, facts)) == []
    (said,) = notes(report_of(kind, facts, skipped=[Path("my_results.csv")]))
    naming.check(said, "my_results.csv")
