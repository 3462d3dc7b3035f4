"""Weighted kappa: against R, against scikit-free arithmetic, and where there is none."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from helpers.studies import bootstrap_of, draws_of
from sense7.errors import UserError
from sense7.estimators import least_squares as lmg_module
from sense7.estimators import rater_agreement as kappa_module
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import agreement
from sense7.findings import agreement as importance
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES


def by_definition(first, second, power):
    """Observed and expected disagreement, pair by pair."""
    observed = np.mean([abs(a - b) ** power for a, b in zip(first, second, strict=True)])
    expected = np.mean([abs(a - b) ** power for a in first for b in second])
    return 1 - observed / expected


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


# Two raters on any scale

THIRDS = st.integers(3, 21).map(lambda third: third / 3)

two_raters = st.lists(st.tuples(THIRDS, THIRDS), min_size=2, max_size=40)


def with_scikit_learn(first, second):
    """Categories are the values that occur, in their order."""
    codes = (np.rint(100 * np.asarray(values)).astype(int) for values in (first, second))
    return cohen_kappa_score(*codes, weights="quadratic")


@settings(max_examples=50, deadline=None)
@given(two_raters)
def test_by_the_scale_kappa_is_one_minus_observed_by_expected_squared_distance(pairs):
    first, second = zip(*pairs, strict=True)
    kappa = kappa_module.quadratic_kappa(first, second)
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(by_definition(first, second, 2), abs=1e-12)
        assert -1 <= kappa <= 1


@settings(max_examples=50, deadline=None)
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


# LMG


def r_squared(y, x):
    design = np.column_stack([np.ones(len(y)), x])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()


def by_all_orders(y, x):
    """Mean over all orders of what each column adds to R squared."""
    k = x.shape[1]
    added = np.zeros(k)
    orders = list(itertools.permutations(range(k)))
    for order in orders:
        for place, column in enumerate(order):
            added[column] += r_squared(y, x[:, order[: place + 1]]) - r_squared(y, x[:, order[:place]])
    return added / len(orders)


def related(seed, k=4, rows=50):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 1)) + generator.normal(size=(rows, k))
    return x @ generator.normal(size=k) + generator.normal(size=rows), x


def lmg_of(y, x):
    return lmg_module.lmg_from_covariances(np.cov(np.column_stack([x, y]).T))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_lmg_is_the_mean_over_all_orders(seed, k):
    y, x = related(seed, k)
    np.testing.assert_allclose(lmg_of(y, x), by_all_orders(y, x), atol=1e-10)


def scores(seed=1, rows=120, people=12):
    generator = np.random.default_rng(seed)
    common = generator.normal(size=(rows, 1))
    values = np.clip(np.round(3 + common + generator.normal(size=(rows, 4))), 1, 5)
    frame = pd.DataFrame(values, index=[f"P{row % people}" for row in range(rows)], columns=[*"abc", "y"])
    return frame["y"], frame[["a", "b", "c"]]


def test_incomplete_units_are_left_out_wherever_the_hole_is():
    y, x = scores()
    with_holes, outcome = x.copy(), y.copy()
    with_holes.iloc[3, 0], with_holes.iloc[7, 2], outcome.iloc[11] = np.nan, np.nan, np.nan
    keep = [row for row in range(len(x)) if row not in {3, 7, 11}]
    table = importance.parts_and_shares(outcome, with_holes, draws_of(x))[0]
    expected = importance.parts_and_shares(y.iloc[keep], x.iloc[keep], draws_of(x))[0]
    pd.testing.assert_frame_equal(table, expected)
    assert set(table["n"]) == {117}


def in_conversations(seed=1, talks=15):
    y, x = scores(seed)
    x.iloc[[4, 9], [0, 1]] = np.nan
    return y, x, pd.Series([f"C{row % talks}" for row in range(len(x))])


def test_within_conversations_it_is_that_of_departures_of_the_complete_turns():
    y, x, talks = in_conversations()
    complete = x.notna().all(axis=1).to_numpy()
    both = x.assign(y=y)[complete].reset_index(drop=True)
    departures = (both - both.groupby(talks[complete].to_numpy()).transform("mean")).to_numpy()
    table = importance.parts_and_shares(y, x, draws_of(x), conversations=talks)[0]
    expected = by_all_orders(departures[:, -1], departures[:, :-1])
    np.testing.assert_allclose(table["estimate"], [*expected, expected.sum()], atol=1e-10)
    assert set(table["n"]) == {complete.sum()}
    assert table["method"].str.contains("within conversations, listwise").all()


def test_nothing_that_varies_within_conversations_says_so():
    y, x, talks = in_conversations()
    constant = x.groupby(talks.to_numpy()).transform("first")
    for outcome, dimensions in ((y, constant), (y.groupby(talks.to_numpy()).transform("first"), x)):
        for table in importance.parts_and_shares(outcome, dimensions, draws_of(x), conversations=talks):
            assert set(table["reason"]) == {"the outcome or a dimension does not vary within conversations"}
    alone, _ = importance.parts_and_shares(y, x, draws_of(x), conversations=pd.Series(range(len(x))))
    assert set(alone["reason"]) == {"the outcome or a dimension does not vary within conversations"}


def test_nothing_rated_constant_columns_and_one_participant():
    y, x = scores(people=1)
    table = importance.parts_and_shares(y, x.assign(d=3.0), draws_of(x))[0]
    assert table.loc["d", "reason"] == "does not vary in the units used"
    assert table.loc["a", "reason"] == "no interval: only 1 participant to resample"
    assert table.loc["a", "estimate"] > 0
    nothing = importance.parts_and_shares(y, x * np.nan, draws_of(x))[0]
    assert nothing.loc[importance.TOTAL, "reason"] == "no dimension was rated in this data set"
    constant = importance.parts_and_shares(y * 0 + 3, x, draws_of(x))[0]
    assert set(constant["reason"]) == {"the outcome does not vary"}


def test_r_squared_of_some_dimensions_says_what_it_lacks_beside_why_it_has_no_interval():
    y, x = scores(people=1)
    table = importance.parts_and_shares(y, x.assign(e=np.nan), draws_of(x))[0]
    reason = table.loc[importance.TOTAL, "reason"]
    assert reason.startswith("no interval: only 1 participant to resample; ")
    assert "e" in reason.removeprefix("no interval: only 1 participant to resample; ")
