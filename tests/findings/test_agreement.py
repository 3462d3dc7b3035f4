"""Weighted kappa: against R, against scikit-free arithmetic, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from helpers.studies import bootstrap_of
from sense7.errors import UserError
from sense7.estimators import rater_agreement as kappa_module
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import agreement
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


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


# Paired differences


def rated(seed=1, turns=300, people=30, spread=None, holes=0.3):
    """A study in which each dimension is the overall rating and an error of its own size; some are not rated."""
    generator = np.random.default_rng(seed)
    spread = dict.fromkeys(DIMENSION_NAMES, 0.8) | (spread or {})
    overall = generator.integers(1, 6, size=turns).astype(float)
    frame = pd.DataFrame({"participant": [f"P{turn % people}" for turn in range(turns)], "overall": overall})
    for name in DIMENSION_NAMES:
        frame[name] = np.clip(np.rint(overall + spread[name] * generator.normal(size=turns)), 1, 5)
        frame.loc[generator.random(turns) < holes, name] = np.nan
    return Study("x", frame, pd.DataFrame(), frame, participants=None, columns=pd.DataFrame())


def differences_of(turns):
    """Differences of the kappas, counted out turn by turn."""
    differences = []
    for name in DIMENSION_NAMES[:-1]:
        both = turns.dropna(subset=["overall", "Relational", name])
        differences.append(kappa_by_table(both, "Relational") - kappa_by_table(both, name))
    return np.array(differences)


def test_simultaneous_intervals_are_those_of_participants_left_out_and_copied_out():
    study = rated(holes=0.1)
    bootstrap = bootstrap_of(study, 150)
    table = agreement.kappa_differences(study, bootstrap).iloc[:-1]
    here, people = table["estimate"].to_numpy(), list(bootstrap.names)
    without = np.array([differences_of(study.turns[study.turns["participant"] != name]) for name in people])
    errors = np.sqrt(29 / 30 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    drawn = []
    for weights in bootstrap.weights().astype(int):
        times = dict(zip(people, weights, strict=True))
        drawn.append(differences_of(study.turns.loc[study.turns.index.repeat(study.turns["participant"].map(times))]))
    largest = (np.abs(np.array(drawn) - here) / np.std(drawn, axis=0)).max(axis=1)
    reach = np.quantile(largest, 0.95) * 2.045230 / 1.959964  # t on 29 degrees of freedom by normal
    np.testing.assert_allclose(table["high"] - here, reach * errors, rtol=1e-5)
    np.testing.assert_allclose(here - table["low"], reach * errors, rtol=1e-5)
    assert table["method"].str.endswith("simultaneous 95% max-t interval, 150 resamplings of participants").all()


def kappa_by_table(turns, name):
    table = np.zeros((5, 5))
    np.add.at(table, (turns[name].astype(int) - 1, turns["overall"].astype(int) - 1), 1)
    return float(kappa_module.weighted_kappa(table))


def test_differences_that_lack_something_say_what(workbooks, minimal_sheets):
    study = read_workbook(workbooks["ieval"])
    table = agreement.kappa_differences(study, bootstrap_of(study))
    assert table["estimate"].isna().all()
    assert list(table.index) == [*DIMENSION_NAMES[:-1], agreement.NEAREST]
    assert table.loc["Affective", "reason"] == "the overall rating and Relational was never rated in this data set"
    constant = [None, "good", None, "good"] * 4
    study = parse_sheets(minimal_sheets(messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), constant)))
    table = agreement.kappa_differences(study, bootstrap_of(study))
    assert set(table["reason"]) == {"a rating is constant at the level of the other"}
    single = rated(people=1)
    table = agreement.kappa_differences(single, bootstrap_of(single))
    assert table["estimate"].notna().all()
    assert set(table["reason"]) == {"no interval: only 1 participant to resample"}
    single.turns["Interest"] = np.nan
    table = agreement.kappa_differences(single, bootstrap_of(single))
    assert table.loc["Interest", "reason"] == "Interest was never rated in this data set"
    assert np.isfinite(table.loc[agreement.NEAREST, "estimate"])


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
    kappa = kappa_module.quadratic_kappa(first, second)
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(by_definition(first, second, 2), abs=1e-12)
        assert -1 <= kappa <= 1


@settings(max_examples=100, deadline=None)
@given(two_raters)
def test_by_the_values_that_occur_kappa_is_that_of_scikit_learn(pairs):
    first, second = zip(*pairs, strict=True)
    kappa = kappa_module.quadratic_kappa(first, second, steps="occurring")
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(with_scikit_learn(first, second), abs=1e-12)


@pytest.mark.parametrize("steps", kappa_module.STEPS)
def test_a_resample_has_the_kappa_of_its_units_copied_out(steps):
    """So the values that occur are those of the resample."""
    generator = np.random.default_rng(3)
    first, second = generator.integers(1, 8, (2, 12)) / 2
    bootstrap = ParticipantBootstrap([f"u{number}" for number in range(12)], draws=150, seed=1)
    kappas = kappa_module.quadratic_kappa(first, second, bootstrap.weights(), steps=steps)
    assert kappas.shape == (150,)
    for kappa, weights in zip(kappas, bootstrap.weights().astype(int), strict=True):
        copies = np.repeat(first, weights), np.repeat(second, weights)
        np.testing.assert_allclose(kappa, kappa_module.quadratic_kappa(*copies, steps=steps), atol=1e-12)


@pytest.mark.parametrize("steps", kappa_module.STEPS)
def test_two_raters_without_any_difference_have_no_kappa(steps):
    assert np.isnan(kappa_module.quadratic_kappa([2.5, 2.5], [2.5, 2.5], steps=steps))
    assert np.isnan(kappa_module.quadratic_kappa([1, 2], [1, 3], np.zeros(2), steps=steps)), "nothing is taken"
    assert np.isnan(kappa_module.quadratic_kappa([], [], steps=steps))
    assert kappa_module.quadratic_kappa([1, 1], [2, 2], steps=steps) == 0, "both constant, at two levels"


def test_ratings_that_do_not_match_are_refused():
    with pytest.raises(UserError, match="got 2 and 3"):
        kappa_module.quadratic_kappa([1, 2], [1, 2, 3])
    with pytest.raises(UserError, match=r"1 are missing\. Leave out"):
        kappa_module.quadratic_kappa([1, np.nan], [1, 2])
    with pytest.raises(UserError, match="'scale' or 'occurring' as steps; got 'levels'"):
        kappa_module.quadratic_kappa([1, 2], [1, 2], steps="levels")
