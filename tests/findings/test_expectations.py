"""Unmet expectations: against statsmodels, on data with a planted loss, and where there is none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import disrupted
from sense7.findings.measures import OUTCOMES
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
