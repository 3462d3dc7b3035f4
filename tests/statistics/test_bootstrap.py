"""The engine: exact, seeded, about participants, and honest where there is no interval."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from helpers import naming
from sense7.statistics.alpha import alpha_from_sums, cronbach_alpha, moments_by_participant
from sense7.statistics.bootstrap import (
    OWN_SCALE,
    ParticipantBootstrap,
    Scale,
    ratio,
    sums_by_participant,
)

LOG = Scale("log", np.log, np.exp)
LOG_OF_REST = Scale("log(1 - x)", lambda x: np.log1p(-x), lambda y: -np.expm1(y))


def rows_of(participants: int, rows: int, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    who = np.concatenate([np.arange(participants), generator.integers(participants, size=rows)])
    return pd.DataFrame(
        {"who": [f"P{code:03d}" for code in who], "x": generator.normal(size=len(who))}
    )


def totals(rows: pd.DataFrame) -> np.ndarray:
    return np.column_stack([rows["x"], np.ones(len(rows))])


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_resamples_and_interval_are_those_of_scipy_on_sums_per_participant(confidence):
    """To the bit, of whole numbers; of alpha, whose sums are not, to the last digits."""
    generator = np.random.default_rng(3)
    who = pd.Series([f"P{code:02d}" for code in [*range(9), *generator.integers(9, size=80)]])
    ratings = generator.integers(1, 6, size=(89, 4)).astype(float)
    whole = np.column_stack([ratings[:, 0], np.ones(89)])
    ratings[generator.random(ratings.shape) < 0.2] = np.nan
    bootstrap = ParticipantBootstrap(who, draws=500, seed=5, confidence=confidence)
    for statistic, values, most in (
        (ratio, whole, 0),
        (alpha_from_sums, moments_by_participant(ratings, np.arange(89))[0], 1e-12),
    ):
        sums = sums_by_participant(values, pd.factorize(who)[0], 9)
        expected = stats.bootstrap(
            (np.arange(9),),
            lambda taken, axis, sums=sums, statistic=statistic: statistic(
                sums[taken].sum(axis=taken.ndim - 1)
            ),
            n_resamples=500,
            confidence_level=confidence,
            method="percentile",
            vectorized=True,
            random_state=np.random.default_rng(5),
        )
        np.testing.assert_allclose(
            bootstrap.distribution(statistic, values, who),
            expected.bootstrap_distribution,
            rtol=0,
            atol=most,
        )
        found = bootstrap.estimate(statistic, values, who)[:3]
        limits = expected.confidence_interval
        assert found == pytest.approx(
            (float(statistic(sums.sum(axis=0))), limits.low, limits.high), abs=most or 1e-15
        )
    assert cronbach_alpha(ratings) == pytest.approx(found[0], abs=1e-14)


@pytest.mark.parametrize(
    ("x", "n", "number"),
    [
        ([2.0], [1.0], 1),
        ([1.0, 2, 3, 4], [1.0] * 4, 4),
        ([1.0, 0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0], "33%"),
        ([0.0] * 8, [1.0] * 8, ""),
    ],
)
def test_where_there_is_no_interval_the_reason_says_so(x, n, number):
    who, values = pd.Series(list("abcdefgh"[: len(x)])), np.column_stack([x, n])
    bootstrap = ParticipantBootstrap(who, draws=1000, seed=1)
    reasons = set()
    for estimate, low, high, reason in (
        bootstrap.estimate(ratio, values, who),
        bootstrap.percentile(
            np.append(sum(x) / sum(n), bootstrap.distribution(ratio, values, who)), who
        ),
    ):
        assert estimate == sum(x) / sum(n)
        assert np.isnan([low, high]).all()
        reasons.add(reason)
    (reason,) = reasons
    naming.check(reason, number)


def one_row_each(values) -> pd.DataFrame:
    return pd.DataFrame({"who": [f"P{place:02d}" for place in range(len(values))], "x": values})


def t_interval(rows: pd.DataFrame, scale: Scale, confidence: float = 0.95):
    bootstrap = ParticipantBootstrap(rows["who"], draws=1, confidence=confidence)
    return bootstrap.estimate(ratio, totals(rows), rows["who"], scale)


several_values = st.lists(st.integers(-1000, 1000), min_size=5, max_size=30).filter(
    lambda v: len(set(v)) > 1
)


@settings(max_examples=50, deadline=None)
@given(several_values, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_t_interval_of_a_mean_of_participants_is_that_of_scipy(values, confidence):
    estimate, low, high, reason = t_interval(one_row_each(values), OWN_SCALE, confidence)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert (estimate, low, high) == pytest.approx(
        (np.mean(values), expected.low, expected.high), rel=1e-9, abs=1e-9
    )
    assert reason == ""


@pytest.mark.parametrize("scale", [LOG, LOG_OF_REST], ids=lambda scale: scale.words)
def test_on_a_scale_the_interval_is_taken_there_and_brought_back(scale):
    rows = rows_of(participants=9, rows=40, seed=2)
    rows["x"] = 1 / (1 + np.exp(-rows["x"]))
    without = [rows.loc[rows["who"] != name, "x"].mean() for name in sorted(rows["who"].unique())]
    scaled = scale.forward(np.array(without))
    error = np.sqrt(8 / 9 * ((scaled - scaled.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, 8) * error * np.array([-1, 1])
    expected = sorted(scale.backward(scale.forward(rows["x"].mean()) + reach))
    estimate, low, high, _ = t_interval(rows, scale)
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-12)
    assert low < estimate < high < 1


@pytest.mark.parametrize(
    ("values", "scale", "number"),
    [
        ([1.0, 2, 3, 4], OWN_SCALE, 4),
        ([2.0] * 6, LOG, ""),
        ([1.0] * 6, LOG_OF_REST, ""),
        ([6.0, -1, -1, -1, -1, -1], LOG, "1 of the 6"),
    ],
)
def test_where_there_is_no_t_interval_the_reason_says_so(values, scale, number):
    estimate, low, high, reason = t_interval(one_row_each(values), scale)
    assert estimate == pytest.approx(np.mean(values))
    assert np.isnan([low, high]).all()
    naming.check(reason, number)


def test_an_estimate_that_the_scale_does_not_know_has_no_interval():
    # A mean of -1 in all, and above zero without any one of them, can't be: a statistic made up for this.
    rows = one_row_each([1.0, 2, 3, 4, 5, 6])
    bootstrap = ParticipantBootstrap(rows["who"], draws=1)
    *limits, reason = bootstrap.estimate(
        lambda sums: np.where(sums[..., 1] == 6, -1.0, sums[..., 0]), totals(rows), rows["who"], LOG
    )
    assert np.isnan(limits[1:]).all()
    naming.check(reason, "undefined")


# What it refuses

SOME = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"confidence": 0}, "int (0)"),
        ({"confidence": float("nan")}, "float (nan)"),
        ({"confidence": "0.95"}, "str ('0.95')"),
        ({"draws": 0}, "int (0)"),
        ({"draws": True}, "bool (True)"),
        ({"seed": -1}, "int (-1)"),
        ({"participants": []}, "none"),
        ({"participants": "abc"}, "str ('abc')"),
        ({"participants": pd.DataFrame({"who": SOME})}, "DataFrame"),
        ({"participants": ["a", None, np.nan]}, "of 3 given, 2"),
        ({"participants": [("a", "b")]}, "list"),
    ],
)
def test_what_is_no_bootstrap_is_refused_with_what_is_wanted(given, fault):
    (parameter,) = given
    with naming.refused(parameter.removesuffix("s"), fault):
        ParticipantBootstrap(**({"participants": SOME} | given))


# Within groups


def grouped(draws=300, seed=7):
    rows = rows_of(participants=9, rows=40, seed=2)
    group = {f"P{code:03d}": "a" if code % 3 else "b" for code in range(9)}
    return (
        rows,
        group,
        ParticipantBootstrap(rows["who"], draws, seed, strata=rows["who"].map(group)),
    )


def test_each_draw_takes_as_many_participants_of_a_group_as_there_are():
    _, group, bootstrap = grouped()
    groups = bootstrap.names.map(group)
    for name, size in (("a", 6), ("b", 3)):
        assert set(bootstrap.weights()[:, groups == name].sum(axis=1)) == {size}
    assert bootstrap.weights().std(axis=0).min() > 0, "and not always the same ones"


@pytest.mark.parametrize(
    ("people", "groups"),
    [(["a", "b"], ["x"]), (["a", "b"], ["x", None]), (["a", "b", "a"], ["x", "x", "y"])],
)
def test_groups_that_do_not_fit_are_refused(people, groups):
    with naming.refused("participant", "strata"):
        ParticipantBootstrap(people, strata=groups)
