"""Smallest detectable differences: the formula, a simulation of power, and where there is none."""

import numpy as np
import pytest

from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings import conditions, poor_turn, robustness
from sense7.workbook import read_workbook

FIVE = ParticipantBootstrap(list("abcde"), draws=100, seed=1)


def bootstrap_of(study, draws=200):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=1)


@pytest.fixture(scope="module")
def study():
    return read_workbook(data_file("synthetic.xlsx"))


def table_of(estimate, low, high, reason=""):
    row = estimate_row(estimate, low, high, n=10, unit="levels", method="mean", reason=reason)
    return estimate_table({"difference": row}, "statistic")


def test_it_is_the_textbook_multiple_of_the_standard_error():
    detectable = robustness.smallest_detectable(table_of(0.5, 0.5 - 1.959963984540054, 0.5 + 1.959963984540054), FIVE)
    assert detectable.loc["difference", "estimate"] == pytest.approx(1.959963985 + 0.841621234, abs=1e-8)
    assert detectable.loc["difference", "unit"] == "levels"


def test_the_headlines_are_those_of_their_pages(study):
    bootstrap = bootstrap_of(study)
    table = robustness.headline_estimates(study, bootstrap)
    assert list(table.index) == ["best minus worst condition", "poor turn, Cohen's d"]
    pairs = conditions.condition_differences(study, bootstrap)["estimate"].abs()
    expected = [
        pairs.max(),
        poor_turn.poor_turn_effects(study, bootstrap)["estimate"].iloc[0],
    ]
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)
    assert (table["low"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["high"]).all()
