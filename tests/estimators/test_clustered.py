"""Clustered errors and three intervals side by side: against R, against whole matrices, and where there are none."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sense7.estimators import clustered
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.conditions import intervals as conditions_intervals
from sense7.findings.conditions import pairs
from sense7.findings.disrupted import recovery
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

CLOSED_FORM = 1e-7
CONDITIONS = ("llama2-70b", "gpt-3.5", "gpt-4", "gpt-4-emp")


def bootstrap_of(study, draws=500):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=1)


def errors(covariance):
    return np.sqrt(np.diag(covariance))


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


# The errors


def test_errors_and_degrees_of_freedom_are_those_of_club_sandwich(study, golden):
    turns = study.turns.dropna(subset=["overall"])
    design = np.column_stack([np.ones(len(turns)), *(turns["condition"] == name for name in CONDITIONS[1:])])
    fit = clustered.fit_clustered(turns["overall"].to_numpy(), design, turns["participant"])
    freedom = fit.freedom(np.eye(4))
    for place, name in enumerate(["(Intercept)", *(f"model{name}" for name in CONDITIONS[1:])]):
        golden.check(f"ols_b_{name}", fit.coefficients[place], abs=CLOSED_FORM)
        golden.check(f"ols_se_naive_{name}", errors(fit.independent)[place], abs=CLOSED_FORM)
        golden.check(f"ols_se_CR1S_{name}", errors(fit.cr1)[place], abs=CLOSED_FORM)
        golden.check(f"ols_se_CR2_{name}", errors(fit.cr2)[place], abs=CLOSED_FORM)
        golden.check(f"ols_satt_df_CR2_{name}", freedom[place], abs=CLOSED_FORM)


def test_errors_of_the_usual_event_study_are_those_of_sandwich(study, golden):
    turns = study.turns.dropna(subset=["overall"])
    first = turns[turns["overall"] <= measures.POOR].groupby("conversation")["turn"].min()
    turns = turns[turns["conversation"].isin(first.index)]
    bins = (turns["turn"] - turns["conversation"].map(first)).clip(-3, 4)
    frame = pd.DataFrame({time: (bins == time).astype(float) for time in recovery.STUDY_TIMES})
    # An intercept of each conversation: as means taken off, which are parameters all the same.
    centred = frame.assign(y=turns["overall"])
    centred = centred - centred.groupby(turns["conversation"]).transform("mean")
    fit = clustered.fit_clustered(centred["y"], centred[list(recovery.STUDY_TIMES)], turns["participant"])
    p, n = frame.shape[1], len(frame)
    scale = np.sqrt((n - p) / (n - p - turns["conversation"].nunique()))
    for place, time in enumerate(recovery.STUDY_TIMES):
        golden.check(f"event_b_kb{time}", fit.coefficients[place], abs=CLOSED_FORM)
        golden.check(f"event_se_kb{time}", scale * errors(fit.cr1)[place], abs=CLOSED_FORM)


def data_of(seed, people=9, p=3):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), generator.integers(1, 8, people))
    design = np.column_stack([np.ones(len(who)), generator.normal(size=(len(who), p - 1))])
    return generator.normal(size=people)[who] + generator.normal(size=len(who)), design, who


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_cr2_is_that_of_whole_matrices(seed):
    y, design, who = data_of(seed)
    fit = clustered.fit_clustered(y, design, pd.Series(who))
    bread = np.linalg.inv(design.T @ design)
    off = np.eye(len(y)) - design @ bread @ design.T
    left, contrast = off @ y, np.array([0.3, -1, 2])
    covariance, directions = np.zeros((3, 3)), []
    for one in np.unique(who):
        own = who == one
        values, vectors = np.linalg.eigh(off[np.ix_(own, own)])
        adjusted = vectors @ np.diag(np.where(values > 1e-9, 1 / np.sqrt(np.maximum(values, 1e-9)), 0)) @ vectors.T
        score = design[own].T @ adjusted @ left[own]
        covariance += np.outer(score, score)
        directions.append(off[:, own] @ adjusted @ design[own] @ bread @ contrast)
    np.testing.assert_allclose(fit.cr2, bread @ covariance @ bread, atol=1e-9)
    g = np.array(directions) @ np.array(directions).T
    assert fit.freedom(contrast[None])[0] == pytest.approx(np.trace(g) ** 2 / np.trace(g @ g), rel=1e-6)
    # If rows are independent, the expectation of CR2 is the truth.
    assert np.trace(g) == pytest.approx(contrast @ bread @ contrast, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_cr1_is_that_of_statsmodels(seed):
    y, design, who = data_of(seed)
    fit = clustered.fit_clustered(y, design, pd.Series(who))
    expected = sm.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": who})
    np.testing.assert_allclose(errors(fit.cr1), expected.bse, rtol=1e-8)
    np.testing.assert_allclose(errors(fit.independent), sm.OLS(y, design).fit().bse, rtol=1e-8)


def test_of_equally_many_rows_each_cr2_is_the_t_test_of_participants_means():
    y = np.random.default_rng(3).normal(size=40)
    means = y.reshape(8, 5).mean(axis=1)
    fit = clustered.fit_clustered(y, np.ones((40, 1)), pd.Series(np.repeat(np.arange(8), 5)))
    assert errors(fit.cr2)[0] == pytest.approx(stats.sem(means))
    assert fit.freedom(np.ones((1, 1)))[0] == pytest.approx(7)


def test_the_order_of_rows_and_the_names_of_participants_do_not_matter():
    y, design, who = data_of(4)
    order = np.random.default_rng(1).permutation(len(y))
    one = clustered.fit_clustered(y, design, pd.Series(who))
    other = clustered.fit_clustered(y[order], design[order], pd.Series([f"P{each}" for each in who[order]]))
    np.testing.assert_allclose(one.cr2, other.cr2)
    np.testing.assert_allclose(one.freedom(np.eye(3)), other.freedom(np.eye(3)))


def test_a_row_with_its_own_coefficient_does_not_change_the_fit():
    y, design, who = data_of(5)
    y, design, who = np.append(y, 9.0), np.vstack([design, [1, 0.5, 2]]), np.append(who, 99)
    with_it = clustered.fit_clustered(y, np.column_stack([design, who == 99]), pd.Series(who))
    without = clustered.fit_clustered(y[:-1], design[:-1], pd.Series(who[:-1]))
    np.testing.assert_allclose(with_it.coefficients[:3], without.coefficients)
    np.testing.assert_allclose(with_it.cr2[:3, :3], without.cr2)
    np.testing.assert_allclose(with_it.freedom(np.eye(4)[:3]), without.freedom(np.eye(3)))


def test_columns_that_depend_on_each_other_are_refused():
    with pytest.raises(ValueError, match="not independent"):
        clustered.fit_clustered(np.arange(4.0), np.ones((4, 2)), pd.Series(list("aabb")))


# Side by side


def test_all_kinds_of_intervals_have_the_same_estimate(study):
    tables = conditions_intervals.condition_intervals(study, bootstrap_of(study))
    assert list(tables) == list(clustered.KINDS)
    means = study.turns.assign(y=study.turns[list(DIMENSION_NAMES)].mean(axis=1))
    means = means.groupby("condition")["y"].mean()
    for table in tables.values():
        assert list(table.index) == list(pairs.condition_pairs(study))
        for name, (first, second) in pairs.condition_pairs(study).items():
            assert table.loc[name, "estimate"] == pytest.approx(means[first] - means[second])
            assert table.loc[name, "low"] < table.loc[name, "estimate"] < table.loc[name, "high"]


def test_turns_as_if_independent_are_the_t_test(study):
    two = ["gpt-4", "gpt-4-emp"]
    frames = {name: getattr(study, name) for name in ("conversations", "turns")}
    few = dataclasses.replace(study, **{name: frame[frame["condition"].isin(two)] for name, frame in frames.items()})
    row = conditions_intervals.condition_intervals(few, bootstrap_of(few, 50))["as if independent"].iloc[0]
    y = few.turns[list(DIMENSION_NAMES)].mean(axis=1)
    test = stats.ttest_ind(*(y[few.turns["condition"] == name].dropna() for name in reversed(two)))
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval()))


def test_clustered_and_resampled_intervals_are_wider_and_of_equal_width(study):
    tables = conditions_intervals.condition_intervals(study, bootstrap_of(study, 5000))
    ratios = clustered.widths(tables)
    assert (ratios["estimate"] > 2).all()
    assert ratios["estimate"].iloc[0] == pytest.approx(ratios["estimate"].iloc[1], rel=0.05)
    assert (ratios["n"] == 6).all()


def test_side_by_side_says_what_is_missing(minimal_sheets):
    levels = ["good", "poor", "very good", "good", "neutral", "poor", "good", "good"]
    study = parse_sheets(minimal_sheets(messages={"Affective": [each for level in levels for each in (None, level)]}))
    shown = clustered.side_by_side(conditions_intervals.condition_intervals(study, bootstrap_of(study)))
    assert shown["clustered errors"].tolist() == ["none"]
    assert "3 participants: too few for clustered errors" in shown["note"].item()
    assert "only 3 participants to resample" in shown["note"].item()


DEGENERATE = {
    "as it is": {},
    "one participant": {"tasks": {"PID": "P1"}, "participants": None},
    "one conversation": {"conversations": 1},
    "three conversations": {"conversations": 3},
    "no condition": {"tasks": {"Model": [None] * 4}},
    "one condition": {"tasks": {"Model": ["only"] * 4}},
    "no dimension": {"messages": dict.fromkeys(DIMENSION_NAMES)},
    "no overall": {"messages": {"EmpathyOverall": None}},
    "ratings that vary": {"messages": {"EmpathyOverall": [None, "poor", None, "good"] * 2 + [None, "good"] * 4}},
    "thirteen conditions": {"conversations": 26, "tasks": {"Model": [f"m{n % 13}" for n in range(26)]}},
}


@pytest.mark.parametrize("changes", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_data_give_estimates_or_reasons(minimal_sheets, changes):
    study = parse_sheets(minimal_sheets(**changes))
    tables = conditions_intervals.condition_intervals(study, bootstrap_of(study, 50))
    for table in tables.values():
        assert len(table)
        missing = table["low"].isna()
        assert (table.loc[missing, "reason"] != "").all()
        assert (table["low"].isna() == table["high"].isna()).all()
        assert (table["method"] != "").all()
    shown = clustered.side_by_side(tables)
    assert not shown.astype(str).apply(lambda column: column.str.contains("nan")).any(axis=None)
    ratios = clustered.widths(tables)
    assert (ratios["estimate"].notna() | (ratios["reason"] != "")).all()


@pytest.mark.parametrize("file", ["ieval", "lend_an_ear"])
def test_real_ratings_give_estimates_or_reasons(workbooks, file):
    study = read_workbook(workbooks[file])
    tables = conditions_intervals.condition_intervals(study, bootstrap_of(study, 100))
    for table in tables.values():
        assert (table["estimate"].notna() | (table["reason"] != "")).all()
    if file == "ieval":
        assert all(np.isfinite(table["low"]).all() for table in tables.values())


def test_side_by_side_shows_estimate_limits_and_n(study):
    tables = conditions_intervals.condition_intervals(study, bootstrap_of(study))
    shown = clustered.side_by_side(tables)
    first = next(iter(tables.values()))
    assert shown["n"].tolist() == first["n"].tolist()
    assert shown["estimate"].tolist() == [f"{value:.3f}" for value in first["estimate"]]
    for kind, table in tables.items():
        assert shown[kind].tolist() == [f"{row.low:.3f} to {row.high:.3f}" for row in table.itertuples()]
