"""Applicability and levels: against R, by hand, and where a dimension was never asked."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.studies import bootstrap_of
from sense7.findings import dataset, ratings
from sense7.findings.ground_truth import ground_truth
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.workbook import parse_sheets, read_workbook

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", RATING_NAMES)
def test_applicability_equals_the_share_rated_of_r(workbooks, golden, name):
    study = read_workbook(workbooks["reference"])
    table = ratings.applicability(study, bootstrap_of(study))
    golden.check(f"share_rated_{name}", table.loc[name, "estimate"], abs=1e-9)
    golden.check("n_turns", table.loc[name, "n"], abs=0)


def test_turns_that_were_not_put_to_rating_do_not_count(workbooks):
    study = read_workbook(workbooks["ieval"])
    table = ratings.applicability(study, bootstrap_of(study))
    assert table.loc["Affective", "n"] == 1920  # of 5,760 turns
    assert table.loc["Affective", "estimate"] == 1


def test_a_dimension_never_asked_says_so_in_every_table(workbooks):
    study = read_workbook(workbooks["ieval"])
    bootstrap = bootstrap_of(study)
    tables = [
        ratings.applicability(study, bootstrap),
        ratings.shares_very_poor(study, bootstrap),
        ratings.mean_levels(study, bootstrap),
    ]
    for table in tables:
        for name in ("overall", "Cognitive", "Relational"):
            assert np.isnan(table.loc[name, "estimate"])
            assert table.loc[name, "reason"] == "never asked in this data set"


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


def test_first_and_later_turns_together_are_all(workbooks, copies_of, resampled):
    study = read_workbook(workbooks["reference"])
    bootstrap, times = copies_of(bootstrap_of(study))
    table = ratings.applicability_of_first_turn(study, bootstrap, "Relational")
    put = study.turns_put_to_rating
    first, rated = put["turn"] == 1, put["Relational"].notna()
    expected = [rated[first].mean(), rated[~first].mean(), rated[~first].mean() - rated[first].mean()]
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)
    assert table["n"].tolist() == [first.sum(), (~first).sum(), len(put)]
    weights = put["participant"].map(times)
    early, late = (np.average(rated[chosen], weights=weights[chosen]) for chosen in (first, ~first))
    np.testing.assert_allclose(resampled(table), [early, late, late - early], atol=1e-12)


def test_turns_that_lack_something_say_what(minimal_sheets, workbooks):
    study = read_workbook(workbooks["ieval"])
    table = ratings.applicability_of_first_turn(study, bootstrap_of(study), "Relational")
    assert set(table["reason"]) == {"never asked in this data set"}
    rivals = ratings.nearest_rivals(study, bootstrap_of(study))
    assert set(rivals["reason"]) == {"Relational was never rated in this data set"}
    # Each conversation of the minimal workbook has two turns, of which only the second is rated here.
    messages = dict.fromkeys(DIMENSION_NAMES, [None, None, None, "good"] * 4)
    study = parse_sheets(minimal_sheets(messages=messages | {"EmpathyOverall": [None, None, None, "good"] * 4}))
    table = ratings.applicability_of_first_turn(study, bootstrap_of(study), "Relational")
    assert table.loc["first turn", "reason"] == "no first turn was put to rating"
    assert table.loc["later turns", "estimate"] == 1
    assert table.loc["later minus first", "reason"] == "no first turn, or no later one, was put to rating"


def test_asked_and_never_rated_is_not_never_asked(small_study):
    bootstrap = bootstrap_of(small_study)
    assert ratings.applicability(small_study, bootstrap).loc["Relational", "estimate"] == 0
    row = ratings.mean_levels(small_study, bootstrap).loc["Relational"]
    assert row["reason"] == "asked, and never rated in this data set"


def test_level_counts_add_up_to_the_turns_put_to_rating(small_study):
    counts = ratings.level_counts(small_study)
    assert (counts.sum(axis=1) == len(small_study.turns_put_to_rating)).all()
    assert counts.loc["Interest"].to_dict() == {1: 0, 2: 0, 3: 0, 4: 3, 5: 0, "not rated": 0, "absent": 1}


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


def test_ground_truth_of_the_experts_is_the_mean_of_their_answers(workbooks):
    study = read_workbook(workbooks["lend_an_ear"])
    row = dataset.ground_truth_mean(study, bootstrap_of(study))
    released = pd.read_csv(ROOT / "data" / "real" / "judged_conversations.csv")
    asked = ["validating_emotions", "demonstrating_understanding", "encouraging_elaboration"]
    answers = released[(released["corpus"] == "lend_an_ear") & released["question"].isin(asked)]
    assert row["n"] == len(answers) == 150
    assert row["estimate"] == pytest.approx(answers[["expert1", "expert2", "expert3"]].to_numpy().mean(), abs=1e-12)


def test_what_a_data_set_lacks_is_a_reason_and_not_a_zero(workbooks):
    study = read_workbook(workbooks["lend_an_ear"])
    topics = dataset.counts(study).loc["tasks"]
    assert np.isnan(topics["estimate"])
    assert topics["reason"] == "topics were not given in this data set"


def test_the_tables_rows_are_ratings(small_study):
    table = ratings.level_counts(small_study)
    assert table.index.name == "rating"
    assert list(table.columns) == [1, 2, 3, 4, 5, "not rated", "absent"]


def test_the_unit_of_a_share_says_of_which_turns(small_study):
    bootstrap = bootstrap_of(small_study)
    assert set(ratings.shares_very_poor(small_study, bootstrap)["unit"]) == {"share of rated turns"}
    of_all = ratings.relational_very_poor_of_all(small_study, bootstrap)
    assert set(of_all["unit"]) == {"share of turns put to rating"}


def test_the_distance_to_the_nearest_rival_is_that_of_the_shares(workbooks, copies_of, resampled):
    study = read_workbook(workbooks["reference"])
    bootstrap, times = copies_of(bootstrap_of(study))
    table = ratings.nearest_rivals(study, bootstrap)
    put = study.turns_put_to_rating

    def distances(turns):
        rated = turns[list(DIMENSION_NAMES)].notna().mean()
        worst = (turns[list(DIMENSION_NAMES)] == 1).sum() / turns[list(DIMENSION_NAMES)].notna().sum()
        others = rated.index != "Relational"
        return [rated[others].min() - rated["Relational"], worst["Relational"] - worst[others].max()]

    np.testing.assert_allclose(table["estimate"], distances(put), atol=1e-12)
    copied = put.loc[put.index.repeat(put["participant"].map(times).astype(int))]
    np.testing.assert_allclose(resampled(table), distances(copied), atol=1e-12)


def test_the_nearest_rival_by_hand(small_study):
    """Relational is never rated; each other dimension in three of four turns, one of these very poor."""
    table = ratings.nearest_rivals(small_study, bootstrap_of(small_study))
    assert set(table["reason"]) == {"Relational was never rated in this data set"}
    turns = small_study.turns.copy()
    turns.loc[turns.index[0], ["Relational", "Relational_state"]] = 1.0, "rated"
    changed = dataclasses.replace(small_study, turns=turns)
    estimates = ratings.nearest_rivals(changed, bootstrap_of(changed))["estimate"].tolist()
    assert estimates == pytest.approx([3 / 4 - 1 / 4, 1 - 1 / 3])
