"""Weighted kappa: against R, against scikit-free arithmetic, and where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.statistics import agreement
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


def bootstrap_of(study, draws=200):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=1)


@pytest.fixture(scope="module")
def tables(workbooks):
    study = read_workbook(workbooks["reference"])
    return {
        weights: agreement.agreement_with_overall(study, bootstrap_of(study), weights)
        for weights in ("linear", "quadratic")
    }


@pytest.mark.parametrize("dimension", DIMENSION_NAMES)
@pytest.mark.parametrize(("weights", "short"), [("linear", "lin"), ("quadratic", "quad")])
def test_kappa_equals_that_of_psych_in_r(tables, golden, dimension, weights, short):
    golden.check(f"kappa_{short}_{dimension}_overall", tables[weights].loc[dimension, "estimate"], abs=1e-7)


def by_definition(first, second, power):
    """Observed and expected disagreement, pair by pair."""
    observed = np.mean([abs(a - b) ** power for a, b in zip(first, second, strict=True)])
    expected = np.mean([abs(a - b) ** power for a in first for b in second])
    return 1 - observed / expected


levels = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


@settings(max_examples=100, deadline=None)
@given(levels, st.sampled_from([("linear", 1), ("quadratic", 2)]))
def test_kappa_is_one_minus_observed_by_expected_disagreement(pairs, which):
    weights, power = which
    first, second = zip(*pairs, strict=True)
    table = np.zeros((5, 5))
    np.add.at(table, (np.array(first) - 1, np.array(second) - 1), 1)
    kappa = agreement.weighted_kappa(table, weights)
    if set(first) == set(second) and len(set(first)) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(by_definition(first, second, power), abs=1e-12)


def test_full_agreement_is_one_and_chance_is_zero():
    assert agreement.weighted_kappa(np.eye(5)) == 1
    assert agreement.weighted_kappa(np.ones((5, 5))) == pytest.approx(0)


def test_without_an_overall_rating_the_row_says_so(workbooks):
    study = read_workbook(workbooks["ieval"])
    table = agreement.agreement_with_overall(study, bootstrap_of(study))
    assert table["estimate"].isna().all()
    assert table.loc["Affective", "reason"] == "the overall rating was never rated in this data set"
    assert table.loc["Relational", "reason"] == "the overall rating and Relational was never rated in this data set"


def test_constant_ratings_have_no_kappa(minimal_sheets):
    constant = [None, "good", None, "good"] * 4
    study = parse_sheets(minimal_sheets(messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), constant)))
    row = agreement.agreement_with_overall(study, bootstrap_of(study)).loc["Affective"]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "both ratings are constant at the same level"


def test_ratings_of_different_turns_have_no_kappa(minimal_sheets):
    messages = {"EmpathyOverall": [None, "good", None, None] * 4, "Interest": [None, None, None, "good"] * 4}
    study = parse_sheets(minimal_sheets(messages=messages))
    assert agreement.agreement_with_overall(study, bootstrap_of(study)).loc["Interest", "reason"] == (
        "no turn has both ratings"
    )
