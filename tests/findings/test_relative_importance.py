"""LMG: against the mean over all orders by plain least squares, by its axioms, and where there is none."""

import itertools

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import draws_of
from sense7.estimators import least_squares as lmg_module
from sense7.findings import agreement as importance


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
