"""Unmet expectations: against statsmodels, on data with a planted loss, and where there is none."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import disrupted
from sense7.findings.measures import OUTCOMES
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

COMPARISONS = {
    "against all other conversations": [],
    "at the same mean rating of turns": ["mean"],
    "beyond low ratings and high wishes by themselves": ["low", "high", "mean"],
}
PLAIN, ADJUSTED, BEYOND = COMPARISONS


@pytest.fixture(scope="module")
def study():
    return read_workbook(data_file("synthetic.xlsx"))


def bootstrap_of(study, draws=100, seed=1):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=seed)


def test_the_estimates_are_those_of_statsmodels(study):
    table = disrupted.unmet_expectations(study, bootstrap_of(study, 2000))
    frame = disrupted.expectation_conversations(study)
    groups = pd.factorize(frame["participant"])[0]
    for name, held in COMPARISONS.items():
        design = sm.add_constant(frame[["unmet", *held]].astype(float))
        fit = sm.OLS(frame["outcome"], design).fit(cov_type="cluster", cov_kwds={"groups": groups})
        row = table.loc[name]
        assert row["estimate"] == pytest.approx(-fit.params["unmet"], abs=1e-10)
        assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse["unmet"], rel=0.2)
        assert row["n"] == len(frame)


def test_the_plain_comparison_is_a_difference_of_means(study):
    frame = disrupted.expectation_conversations(study)
    unmet = frame["unmet"]
    expected = frame.loc[~unmet, "outcome"].mean() - frame.loc[unmet, "outcome"].mean()
    table = disrupted.unmet_expectations(study, bootstrap_of(study))
    assert table.loc[PLAIN, "estimate"] == pytest.approx(expected, abs=1e-10)


def surface_by_statsmodels(frame):
    m, w = (frame["mean"] - 3) / 2, frame["desired"] - 2
    design = np.column_stack([np.ones(len(frame)), m, w, m**2, m * w, w**2])
    groups = pd.factorize(frame["participant"])[0]
    return sm.OLS(frame["outcome"].to_numpy(), design).fit(cov_type="cluster", cov_kwds={"groups": groups})


def test_the_response_surface_is_that_of_statsmodels(study):
    found = disrupted.response_surface(study, bootstrap_of(study, 2000))
    frame = disrupted.expectation_conversations(study)
    fit = surface_by_statsmodels(frame)
    row = found.loc["mean rating by wish"]
    assert row["estimate"] == pytest.approx(fit.params[4], abs=1e-9)
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse[4], rel=0.2)


def test_the_interaction_finds_that_low_ratings_cost_more_where_more_was_wished_for():
    study = made(loss=0.8)
    surface = disrupted.response_surface(study, bootstrap_of(study, 200))
    assert surface.loc["mean rating by wish", "low"] > 0
    study = made(loss=0.0)
    surface = disrupted.response_surface(study, bootstrap_of(study, 200))
    assert surface.loc["mean rating by wish", "low"] < 0 < surface.loc["mean rating by wish", "high"]


def test_a_surface_without_wishes_or_with_one_says_so(minimal_sheets, workbooks):
    study = read_workbook(workbooks["lend_an_ear"])
    surface = disrupted.response_surface(study, bootstrap_of(study))
    assert set(surface["reason"]) == {"desired empathy was never given in this data set"}
    study = made(conversations=50)
    for wishes, reason in ((2.0, "all participants wished for the same level of empathy"), ([1.0, 3.0] * 25, "")):
        other = replace(study, conversations=study.conversations.assign(desired_empathy=wishes))
        surface = disrupted.response_surface(other, bootstrap_of(other))
        assert set(surface["reason"]) == {reason}
        assert np.isfinite(surface["estimate"]).all() == (not reason)


def made(seed=3, loss=0.6, conversations=4000):
    """Conversations whose outcome follows the mean rating, apart from a loss where high wishes met low ratings."""
    generator = np.random.default_rng(seed)
    mean = generator.normal(3.8, 0.7, size=conversations).clip(1, 5)
    desired = generator.integers(1, 4, size=conversations)
    unmet = (mean < disrupted.LOW_BELOW) & (desired == 3)
    outcome = 0.5 + 0.8 * mean - loss * unmet + generator.normal(0, 0.5, size=conversations)
    names = [f"C{number}" for number in range(conversations)]
    people = [f"P{number % 200}" for number in range(conversations)]
    frame = pd.DataFrame({"conversation": names, "participant": people, "desired_empathy": desired.astype(float)})
    for column in OUTCOMES["empathy"] + OUTCOMES["experience"]:
        frame[column] = outcome
    turns = pd.DataFrame({"conversation": names, "participant": people, "turn": 1, "overall": mean})
    turns = turns.assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    return Study("made up", frame, pd.DataFrame(), turns, None, pd.DataFrame())


@pytest.mark.parametrize("loss", [0.0, 0.6])
def test_a_planted_loss_is_found_once_the_mean_rating_is_held_constant(loss):
    table = disrupted.unmet_expectations(study := made(loss=loss), bootstrap_of(study, 500))
    for name in (ADJUSTED, BEYOND):
        assert table.loc[name, "estimate"] == pytest.approx(loss, abs=0.1)
        assert table.loc[name, "low"] <= loss <= table.loc[name, "high"]
    assert table.loc[PLAIN, "low"] > loss + 0.3


def test_the_loss_planted_in_the_synthetic_workbook_lies_in_the_interval(study):
    planted = json.loads(data_file("synthetic_truth.json").read_text("utf-8"))["planted"]
    truth = next(entry["value"] for entry in planted if entry["key"] == "expectation_loss")
    row = disrupted.unmet_expectations(study, bootstrap_of(study, 2000)).loc[BEYOND]
    assert row["low"] <= truth <= row["high"]


# Where there is nothing to compute

POOR = [None, "poor", None, "poor"]
GOOD = [None, "good", None, "good"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "0 conversations with an unmet expectation and 4 others: too few"),
        (
            {"tasks": {"PreTaskDesiredEmpathy": ...}},
            "desired empathy was never given in this data set",
        ),
        (
            {"tasks": dict.fromkeys([f"PostTaskEmpathy_{column[5:]}" for column in OUTCOMES["empathy"]], ...)},
            "post-task empathy was never rated in this data set",
        ),
        (
            {"messages": {"EmpathyOverall": POOR * 4}, "tasks": {"PreTaskDesiredEmpathy": 3.0}},
            "4 conversations with an unmet expectation and 0 others: too few",
        ),
    ],
)
def test_what_is_missing_is_said(minimal_sheets, changes, reason):
    study = parse_sheets(minimal_sheets(**changes))
    table = disrupted.unmet_expectations(study, bootstrap_of(study))
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {reason}


def test_what_cannot_be_distinguished_is_said(minimal_sheets):
    overall = POOR * 2 + GOOD * 2
    changes = {"PreTaskDesiredEmpathy": [3.0, 3.0, 1.0, 1.0]}
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}, tasks=changes))
    table = disrupted.unmet_expectations(study, bootstrap_of(study))
    assert table.loc[PLAIN, "estimate"] == pytest.approx(0)
    assert table.loc[[ADJUSTED, BEYOND], "estimate"].isna().all()
    assert table.loc[BEYOND, "reason"].startswith("what is to be held equal")


def test_an_estimate_without_an_interval_says_why(minimal_sheets):
    changes = {"PreTaskDesiredEmpathy": [3.0, 3.0, 1.0, 1.0], "PID": "P1"}
    overall = POOR * 2 + GOOD * 2
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}, tasks=changes, participants=None))
    row = disrupted.unmet_expectations(study, bootstrap_of(study)).loc[PLAIN]
    assert np.isfinite(row["estimate"])
    assert np.isnan(row["low"])
    assert row["reason"].startswith("no interval: ")


def test_one_wish_for_all_has_no_unmet_one(workbooks):
    study = read_workbook(workbooks["reference"])
    table = disrupted.unmet_expectations(study, bootstrap_of(study))
    assert table["estimate"].isna().all()
    assert table.loc[BEYOND, "reason"].startswith("0 conversations with an unmet expectation")
