"""The cumulative logit: clustered errors against a logistic regression, separation against a linear programme."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from helpers import golden
from sense7.statistics.cumulative_logit import fit_cumulative_logit, separated
from sense7.statistics.least_squares import indicators


@pytest.fixture(scope="module")
def study():
    return golden.study()


def test_clustered_errors_of_two_levels_are_those_of_a_logistic_regression(study):
    turns = study.turns.dropna(subset=["overall"])
    is_high = (turns["overall"] > 3).to_numpy(dtype=float)
    design = indicators(turns["condition"], study.conditions)[:, 1:]
    fit = fit_cumulative_logit(is_high, design, turns["participant"])
    people = {"groups": pd.factorize(turns["participant"])[0]}
    model = sm.Logit(is_high, sm.add_constant(design))
    expected = model.fit(disp=0, cov_type="cluster", cov_kwds=people)
    np.testing.assert_allclose(fit.coefficients, expected.params[1:], rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), expected.bse[1:], rtol=1e-9)


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
    assert separated(levels, groups) != finite_by_linear_programme(levels, groups)


@pytest.mark.parametrize("levels", [np.repeat([1, 2], 6), np.ones(12)])
def test_without_a_maximum_there_is_no_model(levels):
    groups = np.repeat([0.0, 1], 6)[:, None]
    assert fit_cumulative_logit(levels, groups, pd.Series(np.arange(12) % 6)) is None
