"""Polychoric correlations: against R, against scipy, against planted truth, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from sense7.estimators import alpha, factor, polychoric
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.structure import ordinal_alpha
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook

POLYCHORIC = 5e-5


@pytest.fixture(scope="module")
def frames(workbooks):
    study = read_workbook(workbooks["reference"])
    return {"turn_listwise": measures.turn_ratings(study), "post": measures.post_task_ratings(study)}


def test_two_step_correlations_equal_those_of_psych_and_polycor_in_r(frames, golden):
    matrix = ordinal_alpha.polychoric_matrix(frames["post"])
    for name in DIMENSION_NAMES[:-1]:
        golden.check(f"polychoric_post_{name}_Relational", matrix.loc[name, "Relational"], abs=POLYCHORIC)
    golden.check("polychor_2step_post_Affective_Cognitive", matrix.loc["Affective", "Cognitive"], abs=POLYCHORIC)


def log_likelihood(table, rho):
    """Of a table, at the thresholds that are best for rho: by a general minimiser."""
    shares = [np.cumsum(table.sum(axis=axis))[:-1] / table.sum() for axis in (1, 0)]
    start = np.concatenate([[norm.ppf(one[0]), *np.log(np.diff(norm.ppf(one)))] for one in shares])

    def loss(point):
        cuts = [np.concatenate([[-9], np.cumsum([half[0], *np.exp(half[1:])]), [9]]) for half in np.split(point, 2)]
        below = polychoric.bivariate_normal(cuts[0][:, None], cuts[1][None, :], rho)
        return -(table * np.log(np.maximum(np.diff(np.diff(below, axis=0), axis=1), 1e-300))).sum()

    return -minimize(loss, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 500}).fun


def test_the_full_likelihood_is_higher_than_at_polycors_value(frames, golden):
    """R's optimiser stops when the likelihood gains 1e-8 of itself, and so 1.7e-4 short of the maximum found here."""
    table = ordinal_alpha.level_tables(frames["post"][["Affective", "Cognitive"]])[0].sum(axis=0)[0]
    ours, theirs = polychoric.polychoric_ml(table), golden["polychor_ml_post_Affective_Cognitive"]
    golden.check("polychor_ml_post_Affective_Cognitive", ours, abs=2e-4)
    best = log_likelihood(table, ours)
    assert best > log_likelihood(table, theirs)
    assert best > log_likelihood(table, ours - 5e-5)
    assert best > log_likelihood(table, ours + 5e-5)


@pytest.mark.parametrize("which", ["turn_listwise", "post"])
def test_ordinal_alpha_equals_that_of_psych_in_r(frames, golden, which):
    row = ordinal_alpha.ordinal_alpha_row(frames[which], ParticipantBootstrap(frames[which].index, 50, 1))
    golden.check(f"ordinal_alpha_{which}", row["estimate"], abs=POLYCHORIC)
    assert row["low"] < row["estimate"] < row["high"]


def test_omega_of_polychoric_correlations_equals_that_of_psych_in_r(frames, golden):
    matrix = ordinal_alpha.polychoric_matrix(frames["turn_listwise"].dropna()).to_numpy()
    loadings = factor.minres_loadings(matrix)
    omega = factor.omega_total(loadings, 1 - loadings**2)
    golden.check("ordinal_omega_minres_turn_listwise", omega, abs=POLYCHORIC)


limits = st.floats(-4, 4)


@settings(max_examples=100, deadline=None)
@given(limits, limits, st.floats(-0.99, 0.99))
def test_the_bivariate_normal_is_that_of_scipy(h, k, rho):
    expected = multivariate_normal.cdf([h, k], cov=[[1, rho], [rho, 1]])
    assert polychoric.bivariate_normal(h, k, rho) == pytest.approx(expected, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-0.9, 0.9))
def test_the_correlation_behind_exact_tables_is_found(seed, rho):
    cuts = np.sort(np.random.default_rng(seed).normal(size=(2, 4)), axis=1)
    edges = np.pad(cuts, ((0, 0), (1, 1)), constant_values=(-9, 9))
    below = polychoric.bivariate_normal(edges[0][:, None], edges[1][None, :], rho)
    table = 1000 * np.diff(np.diff(below, axis=0), axis=1)
    assert polychoric.polychoric(np.maximum(table, 0)) == pytest.approx(rho, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_the_ratings_and_of_the_levels_does_not_matter(seed):
    table = np.random.default_rng(seed).integers(1, 20, size=(5, 5))
    rho = polychoric.polychoric(table)
    assert polychoric.polychoric(table.T) == pytest.approx(rho, abs=1e-8)
    assert polychoric.polychoric(table[::-1]) == pytest.approx(-rho, abs=1e-8)


def test_many_tables_at_once_are_as_one_by_one():
    tables = np.random.default_rng(1).integers(0, 9, size=(3, 4, 5, 5))
    together = polychoric.polychoric(tables)
    alone = [[float(polychoric.polychoric(table)) for table in row] for row in tables]
    np.testing.assert_allclose(together, alone, atol=1e-9)


def test_full_agreement_and_constant_ratings_have_no_correlation():
    assert np.isnan(polychoric.polychoric(np.eye(5) * 10))
    assert np.isnan(polychoric.polychoric(np.outer([0, 0, 1, 0, 0], [1, 2, 3, 4, 5])))
    assert np.isnan(polychoric.polychoric(np.zeros((5, 5))))
    assert np.isnan(polychoric.polychoric_ml(np.zeros((5, 5))))


def scores(rows=80, people=10, items=3):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(rows, 1)) + generator.normal(size=(rows, items)) + 3
    names = [f"P{row % people}" for row in range(rows)]
    return pd.DataFrame(np.clip(np.round(values), 1, 5), index=names, columns=list("abc"[:items]))


def test_a_resampled_ordinal_alpha_is_that_of_the_rows_copied_out():
    frame = scores()
    bootstrap = ParticipantBootstrap(frame.index, 10, 1)
    values = bootstrap.distribution(ordinal_alpha._ordinal_alpha, *ordinal_alpha.level_tables(frame))
    for draw in range(10):
        times = dict(zip(bootstrap.names, bootstrap.weights()[draw].astype(int), strict=True))
        rows = pd.concat([frame.loc[[name]] for name in bootstrap.names for _ in range(times[name])])
        matrix = ordinal_alpha.polychoric_matrix(rows).to_numpy()
        assert values[draw] == pytest.approx(float(alpha.alpha_from_covariances(matrix)), abs=1e-7)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (scores(items=1), "only 1 of these ratings was given and varies; this needs 2"),
        (scores(rows=6), "units that rate all of 3 items: 6; this needs 20"),
        (scores() + 0.5, "the ratings are no whole levels from 1 to 5"),
        (
            scores()[["a", "b"]].assign(c=lambda f: f["a"]),
            "a polychoric correlation runs to its limit: two of the ratings hardly ever differ",
        ),
    ],
)
def test_where_there_is_no_ordinal_alpha_the_row_says_why(frame, reason):
    row = ordinal_alpha.ordinal_alpha_row(frame, ParticipantBootstrap(frame.index, 50, 1))
    assert np.isnan(row["estimate"])
    assert np.isnan(row["low"])
    assert row["reason"] == reason


def test_a_matrix_keeps_the_place_of_what_was_never_rated():
    matrix = ordinal_alpha.polychoric_matrix(scores().assign(never=np.nan, constant=2.0))
    assert matrix.loc["never"].isna().all()
    assert matrix.loc["constant"].isna().all()
    assert matrix.loc["a", "b"] > 0
