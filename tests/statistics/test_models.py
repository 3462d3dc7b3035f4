"""Mixed models, the cumulative logit, one factor and least squares: against their formulas, and where there is none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from helpers import naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import conditions
from sense7.statistics import cumulative_logit, factor, mixed
from sense7.statistics.least_squares import indicators, least_squares
from sense7.statistics.mixed import fit_nested, nested_sums
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook


def simulated(seed, people=10):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), generator.integers(3, 8, people))
    what, talk = generator.integers(3, size=len(who)), np.arange(len(who))
    times = generator.integers(1, 4, len(who))
    who, what, talk = (np.repeat(one, times) for one in (who, what, talk))
    y = generator.normal(size=people)[who] + generator.normal(0, 0.6, (people, 3))[who, what]
    y = y + generator.normal(0, 0.7, talk.max() + 1)[talk] + generator.normal(size=len(who))
    return y, np.eye(3)[what], pd.Series(who), pd.Series(what), pd.Series(talk)


def test_fits_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    rng = np.random.default_rng(4)
    who = pd.Series(rng.integers(12, size=150)).map("P{}".format)
    cells = pd.Series(rng.choice(["a", "b", "c"], size=150))
    y = rng.normal(size=150) + who.map(dict(zip(who.unique(), rng.normal(size=12), strict=True)))
    design = np.column_stack([cells == name for name in "abc"])
    small = nested_sums(y.to_numpy(), design, who, cells)
    weights = rng.integers(3, size=(60, 12)).astype(float)
    together = fit_nested(small, weights)
    monkeypatch.setattr("sense7.statistics.mixed._ARRAYS", 1 << 17)  # so that few fit into a chunk
    apart = fit_nested(small, weights)
    np.testing.assert_allclose(apart.deviance, together.deviance, atol=1e-9)
    for name in ("coefficients", "variances"):
        np.testing.assert_allclose(getattr(apart, name), getattr(together, name), atol=1e-9)


@pytest.mark.parametrize("coding", ["conditions", "treatment and a characteristic"])
def test_derivatives_of_the_likelihood_are_its_differences(coding):
    y, design, who, what, talk = simulated(8)
    if coding != "conditions":
        design = np.column_stack([np.ones(len(y)), design[:, 1:], who % 4])
    sums, width = nested_sums(y, design, who, what, talk), 1e-5
    weights = np.random.default_rng(1).integers(3, size=(4, 10)).astype(float)
    ratios = np.random.default_rng(2).uniform(0.1, 1, (4, 3))
    at = lambda ratios: mixed.restricted_likelihood(sums, weights, np.log1p(ratios))  # noqa: E731
    found = at(ratios)
    hessian = (
        found.curvature
        - found.squares[:, :, None] * found.squares[:, None] / found.freedom[:, None, None]
    )
    for part in range(3):
        ahead, behind = at(ratios + width * np.eye(3)[part]), at(ratios - width * np.eye(3)[part])
        difference = lambda name: (getattr(ahead, name) - getattr(behind, name)) / (2 * width)  # noqa: B023, E731
        np.testing.assert_allclose(found.gradient[:, part], difference("deviance"), atol=1e-6)
        np.testing.assert_allclose(hessian[:, part], difference("gradient"), atol=1e-6)


def test_the_fit_is_where_the_gradient_is_zero_or_rises_from_the_bound():
    y, design, who, what, talk = simulated(9)
    sums = nested_sums(y, design, who, what, talk)
    weights = np.random.default_rng(3).multinomial(10, np.full(10, 0.1), 50).astype(float)
    fit = fit_nested(sums, weights)
    ratios = fit.variances[:, :3] / fit.variances[:, 3:]
    gradient = mixed.restricted_likelihood(sums, weights, np.log1p(ratios)).gradient
    np.testing.assert_allclose(gradient[ratios > 0], 0, atol=1e-8)
    assert (ratios == 0).any()
    assert (gradient[ratios == 0] > 0).all()


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def test_clustered_errors_of_two_levels_are_those_of_a_logistic_regression(study):
    turns = study.turns.dropna(subset=["overall"])
    is_high = (turns["overall"] > 3).to_numpy(dtype=float)
    design = indicators(turns["condition"], study.conditions)[:, 1:]
    fit = cumulative_logit.fit_cumulative_logit(is_high, design, turns["participant"])
    people = {"groups": pd.factorize(turns["participant"])[0]}
    model = sm.Logit(is_high, sm.add_constant(design))
    expected = model.fit(disp=0, cov_type="cluster", cov_kwds=people)
    np.testing.assert_allclose(fit.coefficients, expected.params[1:], atol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), expected.bse[1:], rtol=1e-4)


def finite_by_linear_programme(levels, groups):
    """Whether every direction of the parameters that raises some row's likelihood lowers another's."""
    names, cuts, rows = sorted(set(groups)), np.unique(levels)[:-1], []
    for level, group in zip(levels, groups, strict=True):
        shift = -np.array([group == name for name in names[1:]], dtype=float)
        above, below = cuts == level, cuts == cuts[cuts < level].max(initial=-1)
        # The cut above a row may only move away from it, as may the one below.
        rows += [
            sign * np.append(shift, cut) for sign, cut in ((1, above), (-1, below)) if cut.any()
        ]
    rows = np.array(rows)
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    return found.fun > -1e-9


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from("abc")), min_size=3, max_size=9))
def test_separation_is_what_leaves_the_likelihood_without_a_maximum(rows):
    levels, groups = (np.array(each) for each in zip(*rows, strict=True))
    assume(len(set(groups)) > 1)
    assume(len(set(levels)) > 1)
    assert cumulative_logit.separated(levels, groups) != finite_by_linear_programme(levels, groups)


def test_without_a_maximum_there_is_no_model():
    who = pd.Series(np.arange(12) % 6)
    assert (
        cumulative_logit.fit_cumulative_logit(
            np.repeat([1, 2], 6), np.repeat([0.0, 1], 6)[:, None], who
        )
        is None
    )
    assert (
        cumulative_logit.fit_cumulative_logit(np.ones(12), np.repeat([0.0, 1], 6)[:, None], who)
        is None
    )


def test_ratios_of_pairs_fit_together(study):
    table = conditions.odds_ratios(study, bootstrap_of(study))
    value = lambda a, b: table.loc[f"{a} against {b}", "estimate"]  # noqa: E731
    first, second, third, *_ = conditions.ordered_conditions(study)
    assert value(first, second) * value(second, third) == pytest.approx(value(first, third))
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()


def test_without_an_overall_rating_the_dimension_rated_most_often_is_compared(minimal_sheets):
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets())) == "overall"
    only = dict.fromkeys((*DIMENSION_NAMES, "EmpathyOverall")) | {"Interest": [None, "good"] * 8}
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets(messages=only))) == "Interest"


def sample_correlations(seed, k=5, rows=60):
    generator = np.random.default_rng(seed)
    loadings = generator.uniform(0.3, 0.95, size=k)
    values = generator.normal(size=(rows, 1)) * loadings + generator.normal(
        size=(rows, k)
    ) * np.sqrt(1 - loadings**2)
    return np.corrcoef(values.T)


def test_a_uniqueness_that_tends_to_zero_stops_at_its_bound():
    correlations = np.array(
        [[1, 0.9, 0.9], [0.9, 1, 0.5], [0.9, 0.5, 1]]
    )  # Heywood: 0.9 * 0.9 / 0.5 > 1
    correlations[0, 1:] = correlations[1:, 0] = 0.8
    fit = factor.fit_one_factor(correlations)
    assert fit.uniquenesses[0] == pytest.approx(0.005)
    assert fit.discrepancy > 0


def test_unrelated_items_and_unsound_matrices_do_no_harm():
    assert factor.fit_one_factor(np.eye(4)).discrepancy == pytest.approx(0)
    unsound = np.stack([np.ones((4, 4)), np.full((4, 4), np.nan), sample_correlations(1, k=4)])
    assert np.isfinite(factor.fit_one_factor(unsound).discrepancy).tolist() == [False, False, True]
    with naming.refused(3, 2, error=ValueError):
        factor.fit_one_factor(np.eye(2))


def test_a_matrix_has_the_same_fit_alone_and_among_others():
    generator = np.random.default_rng(2)
    matrices = np.stack([np.corrcoef(generator.normal(size=(4, 8))) for _ in range(300)])
    alone = [factor.fit_one_factor(matrix).uniquenesses for matrix in matrices]
    together = factor.fit_one_factor(matrices.reshape(3, 100, 4, 4))
    assert np.isfinite(together.discrepancy).all()
    np.testing.assert_allclose(together.uniquenesses.reshape(300, 4), alone, atol=1e-6)


def test_least_squares_is_that_of_numpy():
    generator = np.random.default_rng(1)
    design, y = generator.normal(size=(30, 4)) * [1, 1e3, 1e-3, 1], generator.normal(size=30)
    z = np.column_stack([design, y])
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(least_squares(z.T @ z)[0], expected, rtol=1e-8)
    singular = np.column_stack([design[:, 0], 2 * design[:, 0], y])
    assert np.isnan(least_squares(singular.T @ singular)[0]).all()
