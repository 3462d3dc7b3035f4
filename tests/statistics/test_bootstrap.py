"""The engine: exact, seeded, about participants, and honest where there is no interval."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.statistics.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.statistics.reliability import _alpha_from_sums, cronbach_alpha, pair_moments


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def rows_of(participants: int, rows: int, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    who = np.concatenate([np.arange(participants), generator.integers(participants, size=rows)])
    return pd.DataFrame({"who": [f"P{code:03d}" for code in who], "x": generator.normal(size=len(who))})


def totals(rows: pd.DataFrame) -> np.ndarray:
    return np.column_stack([rows["x"], np.ones(len(rows))])


def test_every_draw_equals_the_statistic_of_the_rows_copied_out():
    rows = rows_of(participants=7, rows=60, seed=3)
    bootstrap = ParticipantBootstrap(rows["who"], draws=200, seed=5)
    drawn = bootstrap.distribution(mean, totals(rows), rows["who"])
    groups = dict(list(rows.groupby("who")))
    for weights, value in zip(bootstrap.weights, drawn, strict=True):
        copied = pd.concat(
            [groups[name] for name, times in zip(bootstrap.names, weights, strict=True) for _ in range(int(times))]
        )
        assert value == pytest.approx(copied["x"].mean(), abs=1e-13)


def test_alpha_of_every_draw_equals_alpha_of_the_rows_copied_out():
    generator = np.random.default_rng(1)
    quality = generator.normal(size=(80, 1))
    ratings = np.clip(np.round(3 + quality + generator.normal(size=(80, 4))), 1, 5)
    ratings[generator.random(ratings.shape) < 0.2] = np.nan
    who = pd.Series([f"P{code}" for code in generator.integers(9, size=80)])
    bootstrap = ParticipantBootstrap(who, draws=50, seed=2)
    drawn = bootstrap.distribution(_alpha_from_sums, pair_moments(ratings), who)
    for weights, value in zip(bootstrap.weights, drawn, strict=True):
        times = dict(zip(bootstrap.names, weights.astype(int), strict=True))
        copied = np.concatenate([np.repeat(ratings[[row]], times[who[row]], axis=0) for row in range(len(ratings))])
        assert value == pytest.approx(cronbach_alpha(copied), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(participants=st.integers(1, 40), draws=st.integers(1, 50), seed=st.integers(0, 2**32))
def test_a_draw_takes_as_many_participants_as_there_are(participants, draws, seed):
    names = [f"P{code}" for code in range(participants)]
    weights = ParticipantBootstrap(names, draws, seed).weights
    assert weights.shape == (draws, participants)
    assert (weights.sum(axis=1) == participants).all()


def test_the_seed_decides_and_the_order_of_rows_does_not():
    rows = rows_of(participants=12, rows=100, seed=1)
    shuffled = rows.sample(frac=1, random_state=4)

    def interval(frame, seed):
        return ParticipantBootstrap(frame["who"], 500, seed).estimate(mean, totals(frame), frame["who"])[1:3]

    assert interval(rows, 1) == pytest.approx(interval(shuffled, 1), abs=1e-12)
    assert interval(rows, 1) != interval(rows, 2)


def test_many_rows_of_few_participants_do_not_narrow_the_interval():
    few = pd.DataFrame({"who": list("abcdefgh"), "x": [1.0, 5, 2, 4, 3, 1, 5, 2]})
    many = pd.concat([few] * 50, ignore_index=True)
    widths = []
    for rows in (few, many):
        _, low, high, _ = ParticipantBootstrap(rows["who"], 2000, 1).estimate(mean, totals(rows), rows["who"])
        widths.append(high - low)
    assert widths[0] == pytest.approx(widths[1])


@pytest.mark.parametrize("participants", [1, 2, 4])
def test_below_five_participants_there_is_no_interval_and_the_reason_says_so(participants):
    rows = rows_of(participants, rows=10, seed=1)
    estimate, low, high, reason = ParticipantBootstrap(rows["who"], 100, 1).estimate(mean, totals(rows), rows["who"])
    assert np.isfinite(estimate)
    assert np.isnan([low, high]).all()
    assert reason == f"no interval: only {participants} participant{'s' * (participants > 1)} to resample"


def test_a_statistic_undefined_in_many_draws_has_no_interval():
    # Only one of six participants has rows that count: a third of the draws do without it.
    rows = pd.DataFrame({"who": list("abcdef"), "x": 1.0})
    values = np.column_stack([np.eye(6)[0], np.eye(6)[0]])
    _, low, _, reason = ParticipantBootstrap(rows["who"], 1000, 1).estimate(mean, values, rows["who"])
    assert np.isnan(low)
    assert reason.startswith("no interval: undefined in 3")


def test_a_share_of_nought_is_not_called_certain():
    rows = pd.DataFrame({"who": list("abcdefgh"), "x": 0.0})
    estimate, low, _, reason = ParticipantBootstrap(rows["who"], 200, 1).estimate(mean, totals(rows), rows["who"])
    assert estimate == 0
    assert np.isnan(low)
    assert reason == "no interval: every resampling gives the same value"


def test_coverage_of_the_mean_is_near_nominal_under_clustering():
    generator = np.random.default_rng(7)
    hits = 0
    studies = 300
    for study in range(studies):
        effect = np.repeat(generator.normal(size=40), 10)
        rows = pd.DataFrame({"who": np.repeat(np.arange(40), 10), "x": effect + generator.normal(size=400)})
        _, low, high, _ = ParticipantBootstrap(rows["who"], 400, study).estimate(mean, totals(rows), rows["who"])
        hits += low <= 0 <= high
    # The binomial spread of 300 studies is 1.3 points either side of 95%.
    assert 0.90 <= hits / studies <= 0.985


def test_sums_keep_the_shape_of_what_is_summed():
    values = np.arange(24.0).reshape(4, 3, 2)
    sums = sums_by_participant(values, np.array([1, 0, 1, 1]), 3)
    assert sums.shape == (3, 3, 2)
    np.testing.assert_array_equal(sums[1], values[[0, 2, 3]].sum(axis=0))
    np.testing.assert_array_equal(sums[2], 0)
