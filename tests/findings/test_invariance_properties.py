"""What must not change a statistic doesn't: the order of rows, the names of people, the unit of a scale."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sense7.estimators.alpha import cronbach_alpha
from sense7.estimators.effect_size import cohens_d
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import icc_1, intraclass_correlations, weighted_kappa
from sense7.findings.ground_truth import ground_truth
from sense7.taxonomy import DIMENSION_NAMES

levels = st.integers(1, 5).map(float)
values = st.integers(-50, 50).map(float)
seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([0.25, 3.0, -2.0, -0.5, 1000.0])
shifts = st.sampled_from([0.0, -7.0, 100.0])


def tables(cells, rows=(3, 12), columns=(2, 5)):
    size = st.tuples(st.integers(*rows), st.integers(*columns))
    return size.flatmap(
        lambda shape: st.lists(
            st.lists(cells, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        ).map(np.array)
    )


def equal(first, second, tolerance=1e-9):
    assert first == pytest.approx(second, abs=tolerance, rel=tolerance, nan_ok=True)


# One formula each


@given(table=tables(levels | st.just(np.nan)), seed=seeds, scale=scales, shift=shifts)
def test_alpha_knows_neither_the_order_of_rows_and_items_nor_the_unit(table, seed, scale, shift):
    order = np.random.default_rng(seed)
    moved = order.permutation(order.permutation(table, axis=0), axis=1)
    for missing in ("pairwise", "listwise"):
        equal(cronbach_alpha(moved * scale + shift, missing), cronbach_alpha(table, missing), 1e-6)


@given(table=tables(values), seed=seeds, scale=scales, shift=shifts)
def test_intraclass_correlations_know_neither_the_order_nor_the_unit(table, seed, scale, shift):
    assume(np.ptp(table) > 0)
    order = np.random.default_rng(seed)
    moved = order.permutation(order.permutation(table, axis=0), axis=1) * scale + shift
    first, second = intraclass_correlations(table), intraclass_correlations(moved)
    known = np.isfinite(first["estimate"]) & (first["estimate"].abs() < 1e6)
    equal(second.loc[known, "estimate"].tolist(), first.loc[known, "estimate"].tolist(), 1e-6)


@given(rows=st.lists(st.tuples(values, st.sampled_from("abcd")), min_size=3, max_size=20), seed=seeds, scale=scales)
def test_icc_1_knows_no_names_of_groups_no_order_and_no_unit(rows, seed, scale):
    y, groups = np.array([value for value, _ in rows]), pd.Series([group for _, group in rows])
    order = np.random.default_rng(seed).permutation(len(rows))
    other_names = groups.map({"a": "z", "b": "y", "c": "x", "d": "a b"})
    equal(icc_1(y[order] * scale + 3, other_names.iloc[order].reset_index(drop=True)), icc_1(y, groups), 1e-7)


counts = st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=5, max_size=5).map(np.array)


@given(table=counts, times=st.integers(1, 7), weights=st.sampled_from(["linear", "quadratic"]))
def test_kappa_is_the_same_for_both_raters_either_way_up_and_however_often(table, times, weights):
    kappa = weighted_kappa(table, weights)
    for alike in (table.T, table[::-1, ::-1], times * table):
        equal(weighted_kappa(alike, weights), kappa)


pairs = st.lists(st.tuples(values, values), min_size=3, max_size=20).map(np.array)


@given(pairs=pairs, seed=seeds, scale=scales)
def test_spearman_knows_ranks_alone(pairs, seed, scale):
    first, second = pairs[np.random.default_rng(seed).permutation(len(pairs))].T
    once = np.ones((1, len(pairs)))
    known = spearman_in_draws(*pairs.T, once)
    equal(spearman_in_draws(np.exp(first / 10), scale * second, once), np.sign(scale) * known, 1e-7)
    equal(spearman_in_draws(second, first, 3 * once), known, 1e-7)


groups = st.lists(values, min_size=2, max_size=12).map(np.array)


def d(first, second):
    return cohens_d(np.array([[len(y), y.sum(), (y**2).sum()] for y in (first, second)]))


@given(first=groups, second=groups, seed=seeds, scale=scales, shift=shifts)
def test_d_knows_no_unit_and_changes_its_sign_with_the_sides(first, second, seed, scale, shift):
    assume(np.ptp(first) > 0 or np.ptp(second) > 0)
    order = np.random.default_rng(seed)
    moved = [order.permutation(y) * scale + shift for y in (first, second)]
    equal(d(*moved), np.sign(scale) * d(first, second), 1e-6)
    equal(d(second, first), -d(first, second))


seven = st.lists(levels | st.just(np.nan), min_size=7, max_size=7)


@given(turns=st.lists(st.tuples(st.integers(0, 4), seven), max_size=25))
def test_the_ground_truth_lies_between_the_ratings_and_turns_over_with_them(turns):
    frame = pd.DataFrame([levels for _, levels in turns], columns=list(DIMENSION_NAMES), dtype=float)
    frame["conversation"] = pd.Series([f"C{number}" for number, _ in turns], dtype=object)
    names = pd.Series([f"C{number}" for number in range(5)], dtype=object)
    truth = ground_truth(frame, names)
    by_hand = frame.set_index("conversation").T.mean().dropna().groupby(level=0).mean().reindex(names)
    equal(truth.tolist(), by_hand.tolist(), 1e-12)
    turned = frame.assign(**{name: 6 - frame[name] for name in DIMENSION_NAMES})
    equal(ground_truth(turned, names).tolist(), (6 - truth).tolist(), 1e-12)
