"""Conditions compared: against R, exact in resamplings, and where there is nothing to compare."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import conditions, measures
from sense7.simulate import Parameters, simulate
from sense7.taxonomy import DIMENSION_NAMES, LEVELS
from sense7.workbook import parse_sheets, read_workbook

MIXED_MODEL = 2e-4
P_VALUE = {"rel": 1e-3, "abs": 0}
"""The reference has ten digits; lme4 stops 2e-5 short of the largest likelihood, which moves small p values by 4e-4 of
themselves. Relative, since an absolute tolerance holds nothing where p is smaller than it."""

CONDITIONS = ("llama2-70b", "gpt-3.5", "gpt-4", "gpt-4-emp")


def bootstrap_of(study, draws=300):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=1)


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def overall_ratings(study):
    """Turns with an overall rating, as the reference takes them."""
    turns = study.turns[study.turns["overall"].notna() & study.turns["condition"].notna()]
    return turns.assign(y=turns["overall"].astype(float))


@pytest.fixture(scope="module")
def contrasts(study):
    return conditions.mixed_contrasts(study, bootstrap_of(study), overall_ratings(study))


PAIRS = [(a, b) for place, a in enumerate(CONDITIONS) for b in CONDITIONS[place + 1 :]]


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_contrasts_are_those_of_lme4_and_emmeans(contrasts, golden, pair):
    first, second = pair
    name = f"({first})-({second})"
    row, sign = f"{first} minus {second}", 1
    if row not in contrasts.differences.index:
        row, sign = f"{second} minus {first}", -1
    golden.check(f"contrast_{name}", sign * contrasts.differences.loc[row, "estimate"], abs=MIXED_MODEL)
    golden.check(f"contrast_p_holm_{name}", contrasts.p.loc[row, "estimate"], **P_VALUE)
    low, high = contrasts.differences.loc[row, ["low", "high"]]
    error = (high - low) / 2 / stats.t.ppf(0.975, golden[f"contrast_df_{name}"])
    golden.check(f"contrast_se_{name}", error, abs=MIXED_MODEL)
    freedom = float(contrasts.shown.loc[row, "degrees of freedom"])
    golden.check(f"contrast_df_{name}", freedom, rel=1e-3)


def test_the_test_of_all_conditions_at_once_is_that_of_lmertest(contrasts, golden):
    p = contrasts.overall["estimate"]
    golden.check("lmm_p_model_satt", p["F test"], **P_VALUE)
    between = len(CONDITIONS) - 1
    said = re.search(r"F = (\S+) on (\d+) and (\S+) degrees of freedom", contrasts.overall.loc["F test", "method"])
    assert float(said[1]) == pytest.approx(golden["lmm_F_model_satt"], abs=0.006)
    assert int(said[2]) == between
    assert float(said[3]) == pytest.approx(golden["lmm_dendf_model_satt"], rel=1e-3, abs=0.06)


def test_means_and_differences_are_those_of_the_conversations(study):
    frame = measures.conversation_ratings(study)
    means = conditions.condition_means(study, bootstrap_of(study))
    expected = frame.groupby("condition")["ground_truth"].mean()
    np.testing.assert_allclose(means["estimate"], expected[means.index], atol=1e-12)
    assert means["n"].sum() == frame["ground_truth"].notna().sum()
    row = conditions.condition_differences(study, bootstrap_of(study)).loc["gpt-4-emp minus gpt-4"]
    assert row["estimate"] == pytest.approx(expected["gpt-4-emp"] - expected["gpt-4"])
    assert row["low"] < row["estimate"] < row["high"]
    prompted = conditions.prompted_minus_mean_of_others(study, bootstrap_of(study))
    others = expected.drop("gpt-4-emp").mean()
    assert prompted.loc["ground truth", "estimate"] == pytest.approx(expected["gpt-4-emp"] - others)


def test_the_best_condition_is_named(study):
    bootstrap, frame = bootstrap_of(study), measures.conversation_ratings(study)
    best = conditions.best_condition(study, bootstrap)
    assert best["best"]["estimate"] == frame.groupby("condition")["ground_truth"].mean().idxmax()
    assert best["best"]["n"] == best["share"]["n"] == measures.conversation_ratings(study)["ground_truth"].count()
    cells = [
        frame.pivot_table("ground_truth", "participant", "condition", one, fill_value=0).reindex(bootstrap.names)
        for one in ("sum", "count")
    ]
    total, count = (bootstrap.weights() @ cell.to_numpy() for cell in cells)
    highest = cells[0].columns[(total / count).argmax(axis=1)]
    assert best["share"]["estimate"] == pytest.approx((highest == best["best"]["estimate"]).mean())


# The prompted condition and the best of the others


def planted(seed, **changes):
    """A simulated study in two conditions of the mixed model, without its words."""
    found = simulate(Parameters(participants=40, conversations=240).replace(**changes), seed, judge=None)
    return parse_sheets(found.sheets)


@pytest.mark.long
def test_it_is_above_zero_only_if_the_prompted_condition_beats_every_other():
    """One other condition equals the prompted one, two lie far below: the highest mean is a coin, this is not."""
    equal = {"condition_effects": [0.4, -0.4, -0.4, 0.4], "condition_slopes": [0] * 4}
    rows, highest = [], []
    for seed in range(12):
        study = planted(seed, condition_desired_slopes=[0] * 4, **equal)
        rows.append(conditions.prompted_minus_best_other(study, bootstrap_of(study, 5)))
        highest.append(conditions.best_condition(study, bootstrap_of(study, 5))["best"]["estimate"])
    assert sum(row["low"] > 0 for row in rows) <= 2  # of 12 at 2.5%
    assert 2 <= highest.count("model-a-empathy-prompt") <= 10
    clear = planted(1, condition_effects=[0, 0, 0, 0.8])
    row = conditions.prompted_minus_best_other(clear, bootstrap_of(clear, 5))
    assert 0 < row["low"] < row["estimate"] < row["high"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tasks": {"Model": ["only"] * 4}}, conditions.ONE_CONDITION),
        ({"tasks": {"Model": [None] * 4}}, conditions.NO_CONDITION),
        ({}, "the ratings do not vary"),
    ],
)
def test_where_no_condition_can_beat_another_it_says_why(minimal_sheets, change, reason):
    study = parse_sheets(minimal_sheets(**change))
    row = conditions.prompted_minus_best_other(study, bootstrap_of(study, 5))
    assert np.isnan(row["estimate"])
    assert row["reason"] == reason


def test_without_a_prompted_condition_there_is_no_smallest_difference(study):
    unknown = replace(study, prompted_condition=None, prompted_reason="no name says so")
    row = conditions.prompted_minus_best_other(unknown, bootstrap_of(study))
    assert row["reason"] == "which condition is prompted is not known: no name says so"
    absent = replace(study, prompted_condition="gpt-9")
    row = conditions.prompted_minus_best_other(absent, bootstrap_of(study))
    assert row["reason"] == "no rated conversation in the prompted condition, or in any other"


def rated_by(minimal_sheets, levels):
    """A study of one conversation per participant and condition: condition -> level of each participant."""
    pairs = [(f"P{person}", name, level) for name, given in levels.items() for person, level in enumerate(given)]
    ratings = [value for *_, level in pairs for value in (None, LEVELS[level - 1]) * 2]
    sheets = minimal_sheets(
        conversations=len(pairs),
        participants=None,
        tasks={"PID": [person for person, *_ in pairs], "Model": [name for _, name, _ in pairs]},
        messages={"EmpathyOverall": ratings, **dict.fromkeys(DIMENSION_NAMES, ratings)},
    )
    return replace(parse_sheets(sheets), prompted_condition="prompted")


@pytest.mark.parametrize("people", [1, 4, 5])
def test_a_share_of_resamples_needs_five_participants_as_an_interval_does(minimal_sheets, people):
    study = rated_by(minimal_sheets, {"prompted": [5] * people, "plain": [4] * people})
    best = conditions.best_condition(study, bootstrap_of(study))
    assert best["best"]["estimate"] == "prompted"
    share = best["share"]
    if people < 5:
        assert np.isnan(share["estimate"])
        assert share["reason"] == f"no share: only {people} participant{'s' if people > 1 else ''} to resample"
    else:
        assert (share["estimate"], share["reason"]) == (1, "")


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        ({"prompted": [3] * 6, "plain": [3] * 6, "other": [3] * 6}, None),
        ({"prompted": [2, 3, 4] * 2, "plain": [4, 3, 2] * 2, "other": [1] * 6}, None),
        ({"prompted": [3] * 6, "plain": [4] * 6, "other": [4] * 6}, None),
        ({"prompted": [3] * 6, "plain": [4] * 6, "other": [2] * 6}, "plain"),
        ({"prompted": [4] * 6, "plain": [4] * 5 + [3], "other": [2] * 6}, "prompted"),
        ({"prompted": [1, 1, 1, 2, 1, 3], "plain": [3, 1, 2, 1, 1, 1], "other": [1] * 6}, None),
    ],
)
def test_conditions_that_share_the_highest_mean_have_no_best(minimal_sheets, levels, name):
    study = rated_by(minimal_sheets, levels)
    found = conditions.best_condition(study, bootstrap_of(study))
    assert found["best"]["estimate"] == name
    if name is None:
        assert found["best"]["reason"] == found["share"]["reason"] == "several conditions have the same highest mean"


def test_the_design_is_inferred_from_the_data(study, workbooks, minimal_sheets):
    assert conditions.condition_design(study).kind == "within participants"
    assert conditions.condition_design(study).n == study.conversations["participant"].nunique()
    lend = read_workbook(workbooks["lend_an_ear"])
    assert conditions.condition_design(lend).kind == "one condition"
    assert conditions.condition_design(lend).n == lend.conversations["participant"].nunique()
    people = [f"P{number // 2}" for number in range(8)]

    def kind(models, pids=people):
        sheets = minimal_sheets(conversations=8, participants=8, tasks={"PID": pids, "Model": models})
        return conditions.condition_design(parse_sheets(sheets)).kind

    assert kind(["a", "a", "b", "b"] * 2) == "between participants"
    assert kind(["a", "b"] * 4) == "within participants"
    assert kind(["a", "b", "a", "a"] * 2) == "mixed"
    assert kind(["a", "b"] * 4, [f"P{number + 1}" for number in range(8)]) == "between participants"


def test_without_a_condition_everything_says_so(minimal_sheets):
    study = parse_sheets(minimal_sheets(tasks={"Model": [None] * 4}))
    bootstrap = bootstrap_of(study)
    assert conditions.condition_design(study).kind == "no condition"
    for table in (
        conditions.condition_means(study, bootstrap),
        conditions.condition_differences(study, bootstrap),
        conditions.prompted_minus_mean_of_others(study, bootstrap),
    ):
        assert table["estimate"].isna().all()
        assert set(table["reason"]) == {conditions.NO_CONDITION}
    assert conditions.mixed_contrasts(study, bootstrap_of(study)).reason == conditions.NO_CONDITION
    assert conditions.best_condition(study, bootstrap)["best"]["reason"] == conditions.NO_CONDITION
