"""What the verbs of ``sense7 judge`` say below their tables."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from sense7.cli.judge_words import notes_of_comparison, notes_of_evaluation, notes_of_files
from sense7.judge.files import Run
from sense7.judge.scores.report import Calibration, Evaluation, Facts, JudgesCompared

REPORTS = {"evaluate": Evaluation, "compare": JudgesCompared, "calibrate": Calibration}
WORDS = {
    "evaluate": notes_of_evaluation,
    "compare": notes_of_comparison,
    "calibrate": notes_of_files,
}
SKIPPED = ["my_results.csv"]
PLACES = {
    "evaluate": [
        *("1,200 refusal", "2 truncated", "0.250", "0.750", "1 conversation", "3", "4"),
        *("1 unstated", "2 models", "gpt", "mistral", "1,500", "2,000", "2; the first is C7"),
        *SKIPPED,
    ],
    "compare": ["b:", "1,500 of 2,000", *SKIPPED],
    "calibrate": SKIPPED,
}
"""Verb -> numbers, files and names in what it says."""


def report_of(verb, policy, facts, **parts):
    """A report as a verb makes it; of its tables what is said below them."""
    made = dict.fromkeys(field.name for field in fields(REPORTS[verb]))
    skipped = [Path("my_results.csv")] if facts.simulated else []
    common = {"settings": {"policy": policy}, "facts": facts, "skipped": skipped, "files": []}
    return REPORTS[verb](**made | {name: common[name] for name in made if name in common} | parts)


def run_without_scores(statuses, doubts):
    """A run of so many rows of each status, the last of them doubtful or without a ground truth."""
    status = [name for name, count in statuses.items() for _ in range(count)]
    frame = pd.DataFrame({"status": status, "reason": "two numbers", "ground_truth": 4.0})
    frame.loc[frame.index[:doubts], "doubtful"] = True
    frame.loc[frame.index[: doubts + 1], "ground_truth"] = np.nan if doubts else 4.0
    return Run.of(frame)


@pytest.mark.parametrize("verb", WORDS)
def test_every_fact_is_said_in_its_order(verb):
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
    parts = {}
    if verb == "evaluate":
        bounds = {"a": [0.25, 0.75], "b": [np.nan, np.nan]}
        parts["files"] = [
            {"name": name, "bounds": pd.DataFrame({"estimate": ends})}
            for name, ends in bounds.items()
        ]
    report = report_of(verb, "authors", facts, **parts)
    naming.check("\n".join(WORDS[verb](report)), *PLACES[verb])


@pytest.mark.parametrize("verb", WORDS)
def test_nothing_is_said_of_files_that_lack_nothing(verb):
    facts = Facts(models=["gpt"], conversations=2, lacking={"a": 0})
    assert WORDS[verb](report_of(verb, "strict", facts)) == []
