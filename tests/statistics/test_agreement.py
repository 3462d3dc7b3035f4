"""Weighted kappa: against R, against scikit-free arithmetic, and where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sense7.errors import UserError
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


# Two raters on any scale

THIRDS = st.integers(3, 21).map(lambda third: third / 3)
two_raters = st.lists(st.tuples(THIRDS, THIRDS), min_size=2, max_size=40)


def with_scikit_learn(first, second):
    """Categories are the values that occur, in their order."""
    codes = (np.rint(100 * np.asarray(values)).astype(int) for values in (first, second))
    return cohen_kappa_score(*codes, weights="quadratic")


@settings(max_examples=100, deadline=None)
@given(two_raters)
def test_by_the_scale_kappa_is_one_minus_observed_by_expected_squared_distance(pairs):
    first, second = zip(*pairs, strict=True)
    kappa = agreement.quadratic_kappa(first, second)
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(by_definition(first, second, 2), abs=1e-12)
        assert -1 <= kappa <= 1


@settings(max_examples=100, deadline=None)
@given(two_raters)
def test_by_the_values_that_occur_kappa_is_that_of_scikit_learn(pairs):
    first, second = zip(*pairs, strict=True)
    kappa = agreement.quadratic_kappa(first, second, steps="occurring")
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(with_scikit_learn(first, second), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(levels)
def test_of_five_levels_both_functions_give_the_same_kappa(pairs):
    first, second = zip(*pairs, strict=True)
    table = np.zeros((5, 5))
    np.add.at(table, (np.array(first) - 1, np.array(second) - 1), 1)
    expected = agreement.weighted_kappa(table, "quadratic")
    np.testing.assert_allclose(agreement.quadratic_kappa(first, second), expected, atol=1e-12)


def test_the_two_ways_to_count_steps_by_hand():
    """Nobody gave a 4, so that by the values that occur 3 and 5 are one step apart."""
    first, second = [1, 2, 3, 5], [2, 2, 3, 5]
    assert agreement.quadratic_kappa(first, second) == pytest.approx(1 - 0.25 / 3.75, abs=1e-15)
    assert agreement.quadratic_kappa(first, second, steps="occurring") == pytest.approx(1 - 0.25 / 2, abs=1e-15)


def test_where_every_level_occurs_and_nothing_between_both_ways_agree():
    first, second = [1, 2, 3, 4, 5, 2], [2, 2, 3, 5, 4, 1]
    by_values = agreement.quadratic_kappa(first, second, steps="occurring")
    assert by_values == pytest.approx(float(agreement.quadratic_kappa(first, second)), abs=1e-15)


@pytest.mark.parametrize("steps", agreement.STEPS)
def test_a_resample_has_the_kappa_of_its_units_copied_out(steps):
    """So the values that occur are those of the resample."""
    generator = np.random.default_rng(3)
    first, second = generator.integers(1, 8, (2, 12)) / 2
    bootstrap = ParticipantBootstrap([f"u{number}" for number in range(12)], draws=150, seed=1)
    found = agreement.quadratic_kappa(first, second, bootstrap.weights(), steps=steps)
    assert found.shape == (150,)
    for kappa, weights in zip(found, bootstrap.weights().astype(int), strict=True):
        copies = np.repeat(first, weights), np.repeat(second, weights)
        np.testing.assert_allclose(kappa, agreement.quadratic_kappa(*copies, steps=steps), atol=1e-12)


@pytest.mark.parametrize("steps", agreement.STEPS)
def test_two_raters_without_any_difference_have_no_kappa(steps):
    assert np.isnan(agreement.quadratic_kappa([2.5, 2.5], [2.5, 2.5], steps=steps))
    assert np.isnan(agreement.quadratic_kappa([1, 2], [1, 3], np.zeros(2), steps=steps)), "nothing is taken"
    assert np.isnan(agreement.quadratic_kappa([], [], steps=steps))
    assert agreement.quadratic_kappa([1, 1], [2, 2], steps=steps) == 0, "both constant, at two levels"


def test_ratings_that_do_not_match_are_refused():
    with pytest.raises(UserError, match="got 2 and 3"):
        agreement.quadratic_kappa([1, 2], [1, 2, 3])
    with pytest.raises(UserError, match=r"1 are missing\. Leave out"):
        agreement.quadratic_kappa([1, np.nan], [1, 2])
    with pytest.raises(UserError, match="'scale' or 'occurring' as steps; got 'levels'"):
        agreement.quadratic_kappa([1, 2], [1, 2], steps="levels")
