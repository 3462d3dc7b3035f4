"""Smallest detectable differences: the formula, a simulation of power, and where there is none."""

import numpy as np
import pytest

from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings import conditions, poor_turn, robustness
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

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


def test_a_test_sees_such_a_difference_as_often_as_its_power():
    generator = np.random.default_rng(1)
    error = 1 / np.sqrt(50)
    reach = 1.959963984540054 * error
    size = robustness.smallest_detectable(table_of(0.0, -reach, reach), FIVE).loc["difference", "estimate"]
    means = generator.normal(size, 1, size=(20_000, 50)).mean(axis=1)
    assert (np.abs(means) > reach).mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (table_of(np.nan, np.nan, np.nan, "never rated"), "never rated"),
        (table_of(1.0, np.nan, np.nan, "no interval: too few"), "no interval: too few"),
        (table_of(1.0, 1.0, 1.0), "the interval has no width"),
    ],
)
def test_without_an_interval_it_says_why(table, reason):
    row = robustness.smallest_detectable(table, FIVE).loc["difference"]
    assert np.isnan(row["estimate"])
    assert row["reason"] == reason


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


@pytest.mark.parametrize(
    "changes",
    [
        {"tasks": {"Model": "only"}},
        {"tasks": {"Model": None}},
        {"tasks": {"PID": "P1"}, "participants": None},
        {"messages": {"EmpathyOverall": None}},
        {"messages": {"Affective": None}},
        {"messages": {name: [None, "good"] * 8 for name in ("EmpathyOverall", *DIMENSION_NAMES)}},
        {"tasks": {f"PostTaskEmpathy_{name}": None for name in DIMENSION_NAMES}},
        {"conversations": 3},
    ],
)
def test_what_cannot_be_computed_says_why(minimal_sheets, changes):
    study = parse_sheets(minimal_sheets(**changes))
    bootstrap = bootstrap_of(study, 20)
    table = robustness.smallest_detectable(robustness.headline_estimates(study, bootstrap), bootstrap)
    unknown = table["estimate"].isna()
    assert (table.loc[unknown, "reason"] != "").all()
    assert unknown.all()  # so few participants have no interval
