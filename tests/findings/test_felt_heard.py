"""Felt heard: known answers, R's values, and every statistic against a naive computation."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from sense7.findings import elsewhere

FEELINGS = ["understood", "validated", "affirmed", "seen", "accepted", "caredfor"]
CELLS = [("ai", "ai"), ("ai", "human"), ("human", "ai"), ("human", "human")]


@pytest.fixture(scope="module")
def people():
    return elsewhere.felt_heard()


@pytest.fixture(scope="module")
def bootstrap(people):
    return elsewhere.felt_heard_resampling(people, draws=400, seed=3)


@pytest.fixture(scope="module")
def small():
    """Twenty people in unequal groups."""
    generator = np.random.default_rng(8)
    cells = [cell for cell, count in zip(CELLS, (7, 3, 4, 6), strict=True) for _ in range(count)]
    frame = pd.DataFrame(cells, columns=["response", "label"])
    frame.insert(0, "participant", [f"p{number}" for number in range(20)])
    frame[FEELINGS] = generator.integers(1, 8, (20, 6))
    return frame.assign(**{"mean of six": frame[FEELINGS].mean(axis=1)})


# Known answers


def test_the_means_that_others_computed(people, bootstrap):
    found = elsewhere.felt_heard_tables(people, bootstrap)
    means = [table for name, table in found.items() if name.startswith("answer")]
    by_key = {row["key"]: row for table in means for row in table.to_dict("records")}
    known = {
        "felt_heard_mean_ai_ai": (5.407, 124),
        "felt_heard_mean_ai_human": (6.118, 110),
        "felt_heard_mean_human_ai": (4.820, 110),
        "felt_heard_mean_human_human": (5.511, 111),
    }
    assert {key: (round(row["estimate"], 3), row["n"]) for key, row in by_key.items()} == known
    assert all(row["low"] < row["estimate"] < row["high"] for row in by_key.values())


def test_alpha_is_that_of_r(people, bootstrap):
    """psych::alpha, raw_alpha."""
    row = elsewhere.felt_heard_tables(people, bootstrap)["feelings"].loc["Cronbach's alpha"]
    assert row["estimate"] == pytest.approx(0.969167190524, rel=1e-9)
    assert 0.9 < row["low"] < row["estimate"] < row["high"]


# Naive computations


def naive_effects(frame):
    mean = frame.groupby(["response", "label"])["mean of six"].mean()
    source = (mean["ai", "ai"] + mean["ai", "human"]) / 2 - (mean["human", "ai"] + mean["human", "human"]) / 2
    label = (mean["ai", "human"] + mean["human", "human"]) / 2 - (mean["ai", "ai"] + mean["human", "ai"]) / 2
    interaction = (mean["ai", "human"] - mean["ai", "ai"]) - (mean["human", "human"] - mean["human", "ai"])
    return [source, label, interaction, mean["ai", "ai"] - mean["human", "human"]]


def fitted(people):
    source, label = (people["response"] == "ai") - 0.5, (people["label"] == "human") - 0.5
    return ols("y ~ s * n", people.assign(y=people["mean of six"], s=source, n=label)).fit(cov_type="HC3", use_t=True)


def test_effects_are_the_coefficients_of_the_model(people, bootstrap):
    found = elsewhere.felt_heard_tables(people, bootstrap)["effects"]["estimate"]
    np.testing.assert_allclose(found.iloc[:3], fitted(people).params[["s", "n", "s:n"]], rtol=1e-9)


def test_intervals_are_those_of_resampled_people(small):
    """Each draw, done again with copies of rows."""
    bootstrap = elsewhere.felt_heard_resampling(small, draws=60, seed=4)
    resampled = [
        naive_effects(small.loc[np.repeat(small.index, weights.astype(int))]) for weights in bootstrap.weights()
    ]
    low, high = np.quantile(np.array(resampled), [0.025, 0.975], axis=0)
    found = elsewhere.felt_heard_tables(small, bootstrap)["effects"]
    np.testing.assert_allclose(found["low"], low, atol=1e-12)
    np.testing.assert_allclose(found["high"], high, atol=1e-12)


def test_the_share_at_the_ceiling_against_a_naive_computation(people, bootstrap):
    found = elsewhere.felt_heard_tables(people, bootstrap)["feelings"]
    assert found.loc["highest rating to all six", "estimate"] == (people[FEELINGS] == 7).all(axis=1).mean()


# The verdict


@pytest.mark.parametrize(
    ("source", "label", "begins"),
    [
        ((0.1, 0.5), (0.2, 0.9), "seen: "),
        ((-0.5, -0.1), (-0.9, -0.2), "the opposite: "),
        ((-0.1, 0.5), (0.2, 0.9), "not seen: "),
        ((-0.5, -0.1), (0.2, 0.9), "not seen: "),
    ],
)
def test_the_verdict_follows_from_both_intervals(source, label, begins):
    limits = {elsewhere.SOURCE: source, elsewhere.LABEL: label}
    rows = {name: {"estimate": 0, "low": low, "high": high, "n": 9} for name, (low, high) in limits.items()}
    assert elsewhere.felt_heard_verdict(pd.DataFrame(rows).T)["estimate"].startswith(begins)
