"""Applicability and levels: against R, by hand, and where a dimension was never asked."""

import dataclasses

import pytest

from helpers.studies import bootstrap_of
from sense7.findings import dataset, ratings
from sense7.findings.ground_truth import ground_truth
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


@pytest.fixture
def small_study(minimal_sheets):
    """Four conversations whose first turn is rated; Relational never is, and one is not asked about Interest."""

    def first_turns(*answers):
        return [cell for answer in answers for cell in (None, answer, None, None)]

    common = first_turns("very poor", "poor", "unknown", "very good")
    messages = dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), common)
    messages["Relational"] = first_turns(*["unknown"] * 4)
    messages["Interest"] = first_turns("good", "good", "good", None)
    return parse_sheets(minimal_sheets(messages=messages))


def test_shares_count_what_they_say_they_count(small_study):
    bootstrap = bootstrap_of(small_study)
    applicability = ratings.applicability(small_study, bootstrap)["estimate"]
    assert applicability["Affective"] == 0.75
    assert applicability["Interest"] == 0.75
    assert applicability["Relational"] == 0
    assert ratings.shares_very_poor(small_study, bootstrap).loc["Affective", "estimate"] == pytest.approx(1 / 3)
    assert ratings.mean_levels(small_study, bootstrap).loc["Affective", "estimate"] == pytest.approx(8 / 3)


def test_of_all_turns_those_not_put_to_rating_count_as_not_rated(minimal_sheets):
    answers = [None, "good", None, "unknown", None, None, None, "poor"] * 2
    study = parse_sheets(minimal_sheets(messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), answers)))
    bootstrap = bootstrap_of(study)
    assert (len(study.turns), len(study.turns_put_to_rating)) == (8, 6)
    put = ratings.applicability(study, bootstrap).loc["Relational"]
    every = ratings.applicability_of_all_turns(study, bootstrap).loc["Relational"]
    assert (put["estimate"], put["n"]) == (4 / 6, 6)
    assert (every["estimate"], every["n"]) == (4 / 8, 8)
    counts = ratings.level_counts(study, of="all").loc["Relational"]
    assert counts.to_dict() == {1: 0, 2: 2, 3: 0, 4: 2, 5: 0, "not rated": 2, "absent": 2}


def test_counts_of_the_real_data_are_those_of_their_readme(workbooks):
    counts = dataset.counts(read_workbook(workbooks["ieval"]))["estimate"]
    assert counts["participants"] == 240
    assert counts["conversations_released"] == 1920
    assert counts["llm_conditions"] == 4
    assert counts["dimensions"] == 5
    assert counts["levels"] == 5


def test_ground_truth_of_the_real_data_is_the_known_answer(workbooks):
    study = read_workbook(workbooks["ieval"])
    row = dataset.ground_truth_mean(study, bootstrap_of(study))
    truth = ground_truth(study.turns, study.conversations["conversation"])
    assert (round(row["estimate"], 3), round(truth.std(), 3)) == (3.133, 1.106)


def test_the_nearest_rival_by_hand(small_study):
    """Relational is never rated; each other dimension in three of four turns, one of these very poor."""
    table = ratings.nearest_rivals(small_study, bootstrap_of(small_study))
    assert set(table["reason"]) == {"Relational was never rated in this data set"}
    turns = small_study.turns.copy()
    turns.loc[turns.index[0], ["Relational", "Relational_state"]] = 1.0, "rated"
    changed = dataclasses.replace(small_study, turns=turns)
    estimates = ratings.nearest_rivals(changed, bootstrap_of(changed))["estimate"].tolist()
    assert estimates == pytest.approx([3 / 4 - 1 / 4, 1 - 1 / 3])
