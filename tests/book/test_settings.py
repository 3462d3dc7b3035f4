"""What pages say of a choice of the analysis is what the code chooses."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS
from sense7.estimators.factor import ITEMS_FOR_A_FACTOR
from sense7.findings import disrupted, measures, poor_turn, words
from sense7.findings.ground_truth import labels
from sense7.findings.reliability import ITEMS_FOR_A_TEST
from sense7.judge import baselines

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("page", "words", "constant", "value"),
    [
        ("how-to-read", "fewer than five participants", FEWEST_PARTICIPANTS, 5),
        ("03-reliability", "at least three dimensions, its fit four", (ITEMS_FOR_A_FACTOR, ITEMS_FOR_A_TEST), (3, 4)),
        ("06-poor-turn", "if its overall rating is poor or very poor", measures.POOR, 2),
        ("12-disrupted", "to turns two to five after it", (min(disrupted.LASTING), max(disrupted.LASTING)), (2, 5)),
        ("12-disrupted", "From the three turns before", len(disrupted.BEFORE), 3),
        ("14-words", "at least three participants use it", words.FEWEST_PEOPLE, 3),
        ("14-words", "good ones (good or very good)", words.GOOD, 4),
        ("18-baselines", "at least five participants", baselines.FEWEST_PARTICIPANTS, 5),
    ],
)
def test_what_a_page_says_of_a_choice_is_what_the_code_chooses(page, words, constant, value):
    (path,) = ROOT.glob(f"book/{page}.md") if page[0] not in "01" else ROOT.glob(f"notebooks/{page}.md")
    assert words in " ".join(path.read_text("utf-8").split())
    assert constant == value


def test_no_other_module_compares_with_the_level_itself():
    """``is_poor`` is the one function; declared alternatives name the setting. The simulation knows no statistics."""
    users = {
        str(path.relative_to(ROOT / "src" / "sense7"))
        for path in (ROOT / "src" / "sense7").rglob("*.py")
        if "simulate" not in path.parts and re.search(r"\bPOOR\b", path.read_text("utf-8"))
    }
    alternatives = {f"findings/{name}.py" for name in ("disrupted", "robustness")}
    # The explorer hands the level on to its script, which marks poor turns.
    assert users == {"book/explorer.py", "findings/measures.py"} | alternatives


# What is poor


def test_a_rating_is_poor_by_its_label():
    ratings = np.array([1, 2, 2.5, 2.500001, 1.67, 3, 3.5, 5, np.nan])
    assert measures.is_poor(ratings).tolist() == [True, True, True, False, True, False, False, False, False]
    assert measures.is_poor(ratings).tolist() == (labels(ratings) <= measures.POOR).tolist()
    series = pd.Series(ratings, index=list("abcdefghi"))
    pd.testing.assert_series_equal(measures.is_poor(series), pd.Series(measures.is_poor(ratings), series.index))


def test_ratings_between_levels_are_counted_by_their_label(minimal_sheets):
    from dataclasses import replace

    from sense7.findings.words import commented_turns
    from sense7.workbook import parse_sheets

    study = parse_sheets(minimal_sheets(conversations=4, turns=2))
    ratings = pd.Series([1.67, 3.5, 2.5, 2.75, 3.0, 4.5, 5.0, np.nan])
    study = replace(study, turns=study.turns.assign(overall=ratings))
    found = poor_turn.poor_turn_conversations(study)
    assert found["poor"].tolist() == [1, 1, 0, 0]
    levels = commented_turns(study)["level"]
    assert levels.fillna(0).tolist() == [2, 4, 2, 3, 3, 4, 5, 0]
