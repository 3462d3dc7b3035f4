"""Coverage-accuracy curves: by brute force, and where there is no certainty."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge.scoring.certainty import certainties, coverage_curve, selective

ROWS, PEOPLE = 60, 10


def run_of(seed, noise, **columns):
    truth = np.clip(np.random.default_rng(0).normal(3.4, 1.2, ROWS), 1, 5).round(2)
    score = np.clip(np.round(truth + np.random.default_rng(seed).normal(0, noise, ROWS)), 1, 5)
    frame = pd.DataFrame({"ground_truth": truth, "score": score, "status": "ok"})
    frame["conversation"] = [f"C{row}" for row in range(ROWS)]
    frame["participant"] = [f"P{row % PEOPLE}" for row in range(ROWS)]
    return frame.assign(**columns)


@pytest.fixture(scope="module")
def bootstrap():
    return ParticipantBootstrap([f"P{number}" for number in range(PEOPLE)], 300, 1)


def unsure(rows=ROWS):
    """Noise of the scores by conversation: the second half is guessed."""
    return np.where(np.arange(rows) < rows / 2, 0.1, 2.0)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=6))
def test_the_curve_is_the_mean_over_all_orders_of_equally_certain_conversations(groups):
    sums = np.array([(count, min(count, right)) for count, right in groups], dtype=float)
    each = np.concatenate([np.full(int(count), right / count) for count, right in sums])  # every one its group's mean
    curve, total = coverage_curve(sums), len(each)
    for percent in range(1, 101):
        if percent * total % 100 == 0:
            first = percent * total // 100
            assert curve[percent - 1] == pytest.approx(each[:first].mean())


def test_certainty_is_the_spread_over_runs(bootstrap):
    noise = unsure()
    runs = {str(seed): run_of(seed, noise) for seed in range(1, 5)}
    certainty, how, reason = certainties(runs)
    scores = np.stack([run["score"] for run in runs.values()])
    assert certainty.to_numpy() == pytest.approx(-scores.std(axis=0, ddof=1))
    assert (how, reason) == ("spread of the scores over 4 runs", "")
    found = selective(runs, bootstrap)
    curve = found.curves["accuracy"]["estimate"]
    assert curve[0.5] > curve[1.0] + 0.2  # the guessed half is left out first
    right = np.mean([np.rint(run["score"]) == np.rint(run["ground_truth"]) for run in runs.values()], axis=0)
    assert curve[1.0] == pytest.approx(right.mean())
    assert found.areas["accuracy"].loc["gain", "low"] > 0
    assert found.areas["mean_absolute_error"].loc["gain", "low"] > 0


def test_a_certainty_that_the_file_states_goes_before_the_spread(bootstrap):
    truth_known = np.arange(ROWS) % 2  # every second one is right for certain
    run = run_of(1, 2.0)
    run["score"] = np.where(truth_known, run["ground_truth"], 1.0)
    run["certainty"] = truth_known.astype(float)
    found = selective({"1": run}, bootstrap)
    assert found.how == "column certainty of the predictions"
    assert found.curves["accuracy"]["estimate"][0.5] == 1
    assert found.areas["accuracy"].loc["share", "estimate"] == pytest.approx(1, abs=0.2)


def test_the_ideal_order_is_never_passed_and_shares_are_of_the_way(bootstrap):
    found = selective({str(seed): run_of(seed, unsure()) for seed in (1, 2, 3)}, bootstrap)
    for areas in found.areas.values():
        one, chance, best = (areas.loc[name, "estimate"] for name in ("area", "chance", "ideal"))
        assert min(chance, best) <= one <= max(chance, best)
        assert areas.loc["share", "estimate"] == pytest.approx((one - chance) / (best - chance))
        assert areas.loc["gain", "estimate"] == pytest.approx(abs(one - chance))
        assert "" not in areas["key"].tolist()


def test_intervals_are_those_of_the_rows_copied_out(bootstrap):
    runs = {str(seed): run_of(seed, unsure()) for seed in (1, 2, 3)}
    certainty, _, _ = certainties(runs)
    right = np.mean([np.rint(run["score"]) == np.rint(run["ground_truth"]) for run in runs.values()], axis=0)
    codes, halves = bootstrap.codes(runs["1"]["participant"]), []
    for weights in bootstrap.weights():
        taken = weights[codes].astype(int)
        order = np.repeat(-certainty.round(9).to_numpy(), taken)
        values = pd.Series(np.repeat(right, taken)).groupby(order).transform("mean").to_numpy()
        halves.append(values[np.argsort(order, kind="stable")][: len(order) // 2].mean())
    row = selective(runs, bootstrap).curves["accuracy"].loc[0.5]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(halves, [0.025, 0.975]))


def test_one_run_that_states_none_has_no_curve_and_says_why(bootstrap):
    found = selective({"1": run_of(1, 1.0)}, bootstrap)
    assert found.how == ""
    for table in (*found.curves.values(), *found.areas.values()):
        assert table["estimate"].isna().all()
        assert set(table["reason"]) == {"one run without the column certainty does not say how certain the judge is"}
    assert selective({}, bootstrap).curves["accuracy"]["estimate"].isna().all()
