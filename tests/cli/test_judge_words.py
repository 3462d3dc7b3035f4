"""What the verbs of ``sense7 judge`` say below their tables."""

from pathlib import Path

import numpy as np
import pytest

from helpers import naming
from sense7.cli.judge_words import notes_of_comparison, notes_of_evaluation, notes_of_files
from sense7.judge.scores.report import Facts, Report, RowFacts

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

ROWS = RowFacts(
    failures={"refusal": 1200, "truncated": 2},
    bounds=[0.25, 0.75],
    not_asked=1,
    doubtful=3,
    first_doubt="two numbers",
    without_truth=4,
)
WITHOUT_BOUNDS = RowFacts({"unstated": 1}, [np.nan, np.nan], 0, 0, "", 0)


@pytest.mark.parametrize("verb", WORDS)
def test_every_fact_is_said_in_its_order(verb):
    facts = Facts(
        skipped=[Path("my_results.csv")],
        simulated=["a"],
        remarks=[("a", "one cell is blank")],
        rows={"a": ROWS, "b": WITHOUT_BOUNDS},
        models=["gpt", "mistral"],
        conversations=2000,
        lacking={"a": 0, "b": 1500},
        differing_truths=["C7", "C8"],
    )
    report = Report({}, {"policy": "authors"}, facts)
    naming.check("\n".join(WORDS[verb](report)), *PLACES[verb])


@pytest.mark.parametrize("verb", WORDS)
def test_nothing_is_said_of_files_that_lack_nothing(verb):
    facts = Facts([], models=["gpt"], conversations=2, lacking={"a": 0})
    assert WORDS[verb](Report({}, {"policy": "strict"}, facts)) == []
