"""From turns to the whole: against R and models fitted one by one, and where there is none."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sense7 as s7
from helpers.studies import bootstrap_of, read
from sense7.estimators import least_squares, ranks
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.ranks import spearman_in_draws
from sense7.findings import measures
from sense7.findings.whole import outcomes
from sense7.workbook import parse_sheets

ROOT = Path(__file__).resolve().parents[2]
POST = [f"PostTaskEmpathy_{name}" for name in ("Affective", "Cognitive", "Response", "Prosocial", "Interest")]
POST += ["PostTaskEmpathy_Contextual", "PostTaskEmpathy_Relational"]


@pytest.fixture(scope="module")
def study(workbooks):
    return read(workbooks["reference"])


@pytest.fixture(scope="module")
def planted():
    truth = json.loads((ROOT / "data" / "synthetic_truth.json").read_text("utf-8"))
    return {entry["key"]: entry["value"] for entry in truth["planted"]}


# Summaries of the turns


def test_the_end_is_the_last_rated_turn(minimal_sheets):
    overall = [None, "poor", None, "good", None, "very good", None, None]
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall * 4}, turns=4))
    first = outcomes.turn_summaries(study).iloc[0]
    assert first[list(outcomes.PREDICTORS)].tolist() == pytest.approx([11 / 3, 2, 5, 5])
    assert first["rated"] == 3


# Cross-validation


def test_cross_validation_equals_models_fitted_one_by_one(study):
    bootstrap = bootstrap_of(study)
    frame = outcomes.turn_summaries(study)
    people = sorted(frame["participant"].unique())
    fold = np.random.default_rng(bootstrap.seed).permutation(np.arange(len(people)) % outcomes.FOLDS)
    row_fold = frame["participant"].map(dict(zip(people, fold, strict=True)))
    table = outcomes.cross_validated_r2(study, bootstrap)
    shares = {}
    for name, chosen in outcomes.MODELS.items():
        errors = null = 0.0
        for number in range(outcomes.FOLDS):
            train, test = frame[row_fold != number], frame[row_fold == number]
            fit = sm.OLS(train["outcome"], sm.add_constant(train[list(chosen)])).fit()
            errors += ((test["outcome"] - fit.predict(sm.add_constant(test[list(chosen)]))) ** 2).sum()
            null += ((test["outcome"] - train["outcome"].mean()) ** 2).sum()
        shares[name] = 1 - errors / null
    expected = [shares["mean alone"], shares["peak and end"], shares["all four"] - shares["mean alone"]]
    assert table["key"].tolist() == ["predicted_mean", "predicted_peak_end", "predicted_beyond_mean"]
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-9)


def test_a_resampling_keeps_copies_in_the_fold_of_their_participant():
    generator = np.random.default_rng(2)
    z = np.column_stack([np.ones(60), generator.normal(size=(60, 5))])
    fold, times = generator.integers(5, size=60), generator.integers(1, 4, size=60)
    products = z[:, :, None] * z[:, None, :]
    by_weights, by_copies = np.zeros((5, 6, 6)), np.zeros((5, 6, 6))
    np.add.at(by_weights, fold, times[:, None, None] * products)
    np.add.at(by_copies, np.repeat(fold, times), np.repeat(products, times, axis=0))
    np.testing.assert_allclose(outcomes._predicted_shares(by_weights), outcomes._predicted_shares(by_copies))


def test_each_resampling_is_predicted_on_its_own():
    generator = np.random.default_rng(4)
    z = np.concatenate([np.ones((3, 5, 40, 1)), generator.normal(size=(3, 5, 40, 5))], axis=-1)
    sums = np.einsum("dfri,dfrj->dfij", z, z)
    together = outcomes._predicted_shares(sums)
    assert together.shape == (3, len(outcomes.MODELS))
    for draw in range(3):
        np.testing.assert_allclose(together[draw], outcomes._predicted_shares(sums[draw]))


def test_what_has_nothing_to_predict_predicts_nothing():
    generator = np.random.default_rng(5)
    z = np.column_stack([np.ones(300), generator.normal(size=(300, 5))])
    sums = np.zeros((10, 6, 6))
    np.add.at(sums, np.arange(300) % 10, z[:, :, None] * z[:, None, :])
    assert (outcomes._predicted_shares(sums)[:-1] < 0.02).all()


# Empathy and experience


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3)), min_size=2, max_size=25))
def test_the_weighted_correlation_is_that_of_the_rows_copied_out(rows):
    first, second, times = (np.array(each) for each in zip(*rows, strict=True))
    x, y = np.repeat(first, times), np.repeat(second, times)
    found = spearman_in_draws(first, second, times[None].astype(float))[0]
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-10)


def test_correlations_equal_scipys_and_lie_near_what_was_planted(planted):
    study = s7.load("synthetic")
    table = outcomes.empathy_and_experience(study, bootstrap_of(study))
    assert table.index.name == "experience"
    conversations = study.conversations
    empathy = conversations[measures.OUTCOMES["empathy"]].mean(axis=1)
    for words, key in outcomes.EXPERIENCE.items():
        if words == "all four together, within participants":
            continue
        names = measures.OUTCOMES["experience"] if words == "all four together" else [words.replace(" ", "_")]
        expected = stats.spearmanr(empathy, conversations[names].mean(axis=1)).statistic
        assert table.loc[words, "estimate"] == pytest.approx(expected, abs=1e-10)
        assert table.loc[words, "low"] < table.loc[words, "estimate"] < table.loc[words, "high"]
        assert table.loc[words, "estimate"] == pytest.approx(planted[key], abs=0.05)


def test_the_correlation_within_participants_is_that_of_residuals():
    study = s7.load("synthetic")
    conversations = study.conversations
    both = pd.DataFrame(
        {
            "empathy": conversations[measures.OUTCOMES["empathy"]].mean(axis=1),
            "experience": conversations[measures.OUTCOMES["experience"]].mean(axis=1),
        }
    )
    several = conversations["participant"].map(conversations["participant"].value_counts()) > 1
    people = pd.get_dummies(conversations.loc[several, "participant"], dtype=float).to_numpy()
    left = [y - people @ np.linalg.lstsq(people, y, rcond=None)[0] for y in both[several].to_numpy().T]
    row = outcomes.empathy_and_experience(study, bootstrap_of(study)).loc["all four together, within participants"]
    assert row["estimate"] == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-10)
    assert row["low"] < row["estimate"] < row["high"]
    assert row["n"] == several.sum()


def three_columns(rows=60, seed=3):
    generator = np.random.default_rng(seed)
    groups = pd.Series(generator.integers(12, size=rows).astype(str))
    z = generator.standard_normal(rows)
    x, y = z + generator.standard_normal(rows), z + generator.standard_normal(rows)
    level = 5 * groups.astype(int).to_numpy()
    return np.column_stack([x + level, y - level, z]), groups


def test_a_third_column_is_held_constant_as_by_regression():
    values, groups = three_columns()
    kept = (groups.map(groups.value_counts()) > 1).to_numpy()
    design = np.column_stack([pd.get_dummies(groups[kept], dtype=float), values[kept, 2]])
    left = [y - design @ np.linalg.lstsq(design, y, rcond=None)[0] for y in values[kept, :2].T]
    bootstrap = ParticipantBootstrap(groups, 200, 1)
    row = least_squares.within_correlation(values, groups, groups, bootstrap, "x and y")
    assert row["estimate"] == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-10)
    alone = least_squares.within_correlation(values[:, :2], groups, groups, bootstrap, "x and y")
    assert alone["estimate"] > row["estimate"] + 0.1  # what z makes common is gone


def test_levels_of_groups_and_groups_of_one_say_nothing():
    values, groups = three_columns()
    bootstrap = ParticipantBootstrap([*groups, "alone"], 50, 1)
    shifted = values + np.array([[100.0, -7.0, 3.0]]) * groups.astype(int).to_numpy()[:, None]
    with_one = np.vstack([shifted, [1e6, -1e6, 1e6]]), pd.Series([*groups, "alone"])
    first = least_squares.within_correlation(values, groups, groups, bootstrap, "x and y")
    second = least_squares.within_correlation(with_one[0], with_one[1], with_one[1], bootstrap, "x and y")
    assert second["estimate"] == pytest.approx(first["estimate"], abs=1e-6)
    assert second["n"] == first["n"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[1.0, 1.0], [1.0, 2.0]], "one of the two does not vary"),
        ([[1.0, 1.0]], "nothing has two ratings to compare"),
        (np.empty((0, 2)), "nothing has two ratings to compare"),
    ],
)
def test_without_variation_there_is_no_correlation_within(values, reason):
    groups = pd.Series(["a"] * len(values), dtype=object)
    row = least_squares.within_correlation(
        np.array(values), groups, groups, ParticipantBootstrap(["a"], 10, 1), "x and y"
    )
    assert np.isnan(row["estimate"])
    assert row["reason"] == reason


# What can't be computed


def every_table(study):
    bootstrap, rating = bootstrap_of(study, 100), outcomes.available_turn_rating(study)
    return [
        outcomes.cross_validated_r2(study, bootstrap, rating=rating),
        outcomes.empathy_and_experience(study, bootstrap),
    ]


def sound(table):
    missing = table["estimate"].isna()
    assert (table.loc[missing, "reason"] != "").all()
    assert table.loc[missing, ["low", "high"]].isna().all(axis=None)
    assert (table["method"] != "").all()


@pytest.mark.parametrize("file", ["reference", "ieval", "lend_an_ear"])
def test_every_data_set_gives_estimates_or_reasons(workbooks, file):
    for table in every_table(read(workbooks[file])):
        sound(table)


def test_one_rated_turn_cannot_distinguish_the_four(workbooks):
    study = read(workbooks["ieval"])
    reason = "mean, trough, peak and end of the turns can't be distinguished in this data set"
    assert outcomes.available_turn_rating(study) == "dimensions"
    table = outcomes.cross_validated_r2(study, bootstrap_of(study), rating="dimensions")
    assert np.isfinite(table.loc["mean alone", "estimate"])
    assert table.loc["all four minus mean alone", "reason"] == reason


def test_what_was_never_asked_is_said(workbooks):
    study = read(workbooks["lend_an_ear"])
    table = outcomes.cross_validated_r2(study, bootstrap_of(study))
    assert set(table["reason"]) == {"the overall rating of a turn was never given in this data set"}
    reasons = set(outcomes.empathy_and_experience(study, bootstrap_of(study))["reason"])
    assert reasons == {"post-task empathy was never rated in this data set"}


varied = [float(1 + number % 5) for number in range(12)]
turns = ["poor", "good", "very good", "neutral", "good", "poor", "very poor", "good", "neutral"]
DEGENERATE = {
    "as it is": {},
    "one participant": {"tasks": {"PID": "P1"}, "participants": None},
    "three conversations": {"conversations": 3},
    "one conversation": {"conversations": 1},
    "constant ratings of turns": {"conversations": 12, "tasks": dict.fromkeys(POST, varied)},
    "constant outcome": {
        "conversations": 12,
        "messages": {"EmpathyOverall": [each for turn in turns * 6 for each in (None, turn)][:48]},
    },
    "no post-task": {"tasks": dict.fromkeys(POST)},
    "two turns each": {
        "conversations": 12,
        "tasks": dict.fromkeys(POST, varied),
        "messages": {"EmpathyOverall": [each for turn in turns * 6 for each in (None, turn)][:48]},
    },
}


@pytest.mark.parametrize("changes", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_data_give_estimates_or_reasons(minimal_sheets, changes):
    for table in every_table(parse_sheets(minimal_sheets(**changes))):
        sound(table)


def test_reasons_name_what_does_not_vary(minimal_sheets):
    def reason(name):
        study = parse_sheets(minimal_sheets(**DEGENERATE[name]))
        return outcomes.cross_validated_r2(study, bootstrap_of(study)).loc["all four minus mean alone", "reason"]

    assert reason("constant ratings of turns").endswith("is the same in every conversation")
    assert reason("constant outcome") == "post-task empathy does not vary"
    assert reason("two turns each").endswith("can't be distinguished in this data set")
    assert reason("three conversations") == "only 3 conversations of 2 participants with both"


def test_an_interval_needs_three_participants():
    who = pd.Series(["a", "b"] * 5)
    values = pd.Series(np.arange(10.0))
    row = ranks.spearman_row(values, values, who, ParticipantBootstrap(who, draws=100), "m")
    assert row["estimate"] == pytest.approx(1)
    assert row["reason"] == "no interval: only 2 participants to resample"
