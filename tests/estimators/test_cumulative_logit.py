"""The cumulative logit: against R, against its own formula, in closed form, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from statsmodels.miscmodels.ordinal_model import OrderedModel

from helpers.studies import bootstrap_of
from sense7.estimators import cumulative_logit
from sense7.findings import conditions
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

CONDITIONS = ("llama2-70b", "gpt-3.5", "gpt-4", "gpt-4-emp")


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def test_clustered_errors_are_those_of_statsmodels_on_all_rows(study):
    turns = study.turns.dropna(subset=["overall"])
    levels, who = turns["overall"].to_numpy(), pd.factorize(turns["participant"])[0]
    design = np.column_stack([turns["condition"] == name for name in CONDITIONS[1:]]).astype(float)
    fit = cumulative_logit.fit_cumulative_logit(levels, design, turns["participant"])
    model = OrderedModel(levels.astype(int), design, distr="logit")
    start = np.concatenate([fit.coefficients, fit.thresholds[:1], np.log(np.diff(fit.thresholds))])
    expected = model.fit(start, method="newton", disp=0, cov_type="cluster", cov_kwds={"groups": who})
    np.testing.assert_allclose(fit.coefficients, expected.params[:3], atol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), expected.bse[:3], rtol=1e-4)


def finite_by_linear_programme(levels, groups):
    """Whether every direction of the parameters that raises some row's likelihood lowers another's."""
    names, cuts, rows = sorted(set(groups)), np.unique(levels)[:-1], []
    for level, group in zip(levels, groups, strict=True):
        shift = -np.array([group == name for name in names[1:]], dtype=float)
        above, below = cuts == level, cuts == cuts[cuts < level].max(initial=-1)
        # The cut above a row may only move away from it, as may the one below.
        rows += [sign * np.append(shift, cut) for sign, cut in ((1, above), (-1, below)) if cut.any()]
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
    assert cumulative_logit.fit_cumulative_logit(np.repeat([1, 2], 6), np.repeat([0.0, 1], 6)[:, None], who) is None
    assert cumulative_logit.fit_cumulative_logit(np.ones(12), np.repeat([0.0, 1], 6)[:, None], who) is None


def test_ratios_of_pairs_fit_together(study):
    table = conditions.odds_ratios(study, bootstrap_of(study))
    value = lambda a, b: table.loc[f"{a} against {b}", "estimate"]  # noqa: E731
    first, second, third, _ = conditions.ordered_conditions(study)
    assert value(first, second) * value(second, third) == pytest.approx(value(first, third))
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()


DEGENERATE = {
    "as it is": ({}, None),
    "constant": ({"messages": {"EmpathyOverall": [None, "good"] * 8}}, "the ratings do not vary"),
    "one participant": ({"tasks": {"PID": "P1"}, "participants": None}, "there is one participant only"),
    "one conversation": ({"conversations": 1}, conditions.ONE_CONDITION),
    "no condition": ({"tasks": {"Model": [None] * 4}}, conditions.NO_CONDITION),
    "thirteen conditions": (
        {"conversations": 13, "tasks": {"Model": [f"m{number}" for number in range(13)]}},
        "13 conditions are too many to compare all pairs",
    ),
    "no overall": ({"messages": {"EmpathyOverall": None}}, None),
    "three turns": (
        {
            "conversations": 3,
            "turns": 1,
            "tasks": {"Model": ["a", "b", "a"]},
            "messages": {"EmpathyOverall": [None, "poor", None, "neutral", None, "good"]},
        },
        "too few turns for the model",
    ),
    "one condition always higher": (
        {"messages": {"EmpathyOverall": [None, "poor", None, "poor", None, "good", None, "very good"] * 2}},
        "some conditions were always rated at least as high as the others: the odds ratio is not finite",
    ),
    "three participants": ({"messages": {"EmpathyOverall": [None, "poor", None, "good", None, "neutral"] * 3}}, None),
}


@pytest.mark.parametrize(("changes", "reason"), DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_data_give_estimates_or_reasons(minimal_sheets, changes, reason):
    study = parse_sheets(minimal_sheets(**changes))
    table = conditions.odds_ratios(study, bootstrap_of(study))
    assert len(table)
    if reason:
        assert set(table["reason"]) == {reason}
        assert table["estimate"].isna().all()
    missing = table["low"].isna()
    assert (table.loc[missing, "reason"] != "").all()


def test_without_an_overall_rating_the_dimension_rated_most_often_is_compared(minimal_sheets):
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets())) == "overall"
    only = dict.fromkeys((*DIMENSION_NAMES, "EmpathyOverall")) | {"Interest": [None, "good"] * 8}
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets(messages=only))) == "Interest"


def test_keys_of_odds_ratios_begin_alike_and_are_of_their_pair(study):
    keys = conditions.odds_ratios(study, bootstrap_of(study))["key"]
    assert all(key.startswith("condition_odds_ratio_") for key in keys)
    assert len(set(keys)) == len(keys)
