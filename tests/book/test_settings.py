"""A choice of the analysis that sentences repeat is written once: no sentence keeps old words."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7.book.extensions.values import SETTINGS, setting
from sense7.findings import measures, poor_turn
from sense7.findings.ground_truth import labels

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks").glob("*.md")])
ROLE = re.compile(r"\{setting\}`([^`]+)`")


def woven(page):
    return ROLE.findall(page.read_text("utf-8"))


def test_every_setting_on_a_page_is_one_and_every_one_is_used():
    assert {name for page in PAGES for name in woven(page)} == SETTINGS.keys()


def test_settings_are_said_as_sentences_say_them():
    found = {name: setting(name) for name in SETTINGS}
    assert found == {
        "fewest_participants": "five",
        "fewest_participants_of_baselines": "five",
        "good_turn": "good or very good",
        "high_example": "very good",
        "items_for_a_factor": "three",
        "items_for_a_test_of_a_factor": "four",
        "low_example": "very poor or poor",
        "poor_turn": "poor or very poor",
        "turns_after": "2 to 5",
        "turns_before": "three",
        "writers_of_a_term": "three",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_says_by_itself_which_levels_are_poor(page):
    text = " ".join(page.read_text("utf-8").split())
    assert not re.search(r"poor or very poor|very poor or poor|at most 2\b|good or very good", text)


@pytest.mark.parametrize(
    "page", ["06-poor-turn", "12-disrupted", "14-words", "how-to-read", "explorer"], ids=lambda name: name
)
def test_the_pages_of_poor_turns_read_the_setting(page):
    (path,) = (path for path in PAGES if path.stem == page)
    assert "poor_turn" in woven(path)


def test_no_other_module_compares_with_the_level_itself():
    """``is_poor`` is the one function; declared alternatives name the setting. The simulation knows no statistics."""
    users = {
        str(path.relative_to(ROOT / "src" / "sense7"))
        for path in (ROOT / "src" / "sense7").rglob("*.py")
        if "simulate" not in path.parts and re.search(r"\bPOOR\b", path.read_text("utf-8"))
    }
    alternatives = {f"findings/{name}.py" for name in ("disrupted", "robustness")}
    # The explorer hands the level on to its script, which marks poor turns.
    assert users == {"book/extensions/values.py", "book/explorer.py", "findings/measures.py"} | alternatives


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


def test_with_another_setting_code_and_sentences_change_together(monkeypatch):
    monkeypatch.setattr(measures, "POOR", 1)
    assert setting("poor_turn") == "very poor"
    assert measures.is_poor(np.array([1, 1.5, 2, 2.5])).tolist() == [True, False, False, False]
