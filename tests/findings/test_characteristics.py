"""What characteristics explain: against R, exact in resamplings, and which columns can't be examined."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.studies import bootstrap_of
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import individualized
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def names(golden):
    """Traits of the reference."""
    return [name.removeprefix("char_rho_") for name in golden if name.startswith("char_rho_")]


@pytest.fixture(scope="module")
def turn_means(study):
    """The reference relates traits to participants' mean overall rating of turns."""
    return study.turns.groupby("participant")["overall"].mean()


@pytest.fixture(scope="module")
def traits(study, turn_means, names):
    only = replace(study, participants=study.participants[["participant", *names, "row"]])
    return individualized.relations_of(only.participants, turn_means, bootstrap_of(study), 0)


def test_correlations_are_those_of_r(traits, golden, names):
    assert sorted(traits.tests.index) == sorted(names)
    for trait in names:
        golden.check(f"char_rho_{trait}", traits.estimates.loc[trait, "estimate"], abs=1e-7)
        golden.check(f"char_p_{trait}", traits.tests.loc[trait, "p"], rel=1e-7)
        golden.check(f"char_bh_{trait}", traits.tests.loc[trait, "q"], rel=1e-7)


@pytest.mark.long
def test_permutations_agree_with_the_approximations(study, turn_means, traits, names):
    permuted = individualized.relations_of(study.participants, turn_means, bootstrap_of(study, 4000), 4000)
    np.testing.assert_allclose(permuted.tests.loc[names, "p"], traits.tests["p"], atol=0.03)
    gender = study.participants.set_index("participant")["gender"]
    expected = stats.f_oneway(*(group for _, group in turn_means.groupby(gender.reindex(turn_means.index)))).pvalue
    assert permuted.tests.loc["gender", "p"] == pytest.approx(expected, abs=0.03)
    only = replace(study, participants=study.participants[["participant", "gender", "row"]])
    by_f = individualized.relations_of(only.participants, turn_means, bootstrap_of(study), 0)
    assert by_f.tests.loc["gender", "p"] == pytest.approx(expected)


def group_sums(y, group):
    return np.array([[(group == g).sum(), y[group == g].sum(), (y[group == g] ** 2).sum()] for g in np.unique(group)])


def test_omega_squared_is_that_of_the_analysis_of_variance():
    generator = np.random.default_rng(1)
    y, group = generator.normal(size=40), generator.integers(3, size=40)
    f = stats.f_oneway(*(y[group == g] for g in range(3))).statistic
    expected = 2 * (f - 1) / (2 * (f - 1) + 40)
    assert individualized.omega_squared(group_sums(y, group)) == pytest.approx(expected)
    assert np.isnan(individualized.omega_squared(np.array([[2.0, 4.0, 8.0], [1.0, 2.0, 4.0]])))
    assert np.isnan(individualized.omega_squared(np.array([[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]])))


@pytest.mark.long
def test_the_interval_of_a_group_holds_its_estimate_and_covers_the_truth(minimal_sheets):
    generator = np.random.default_rng(3)
    bootstrap = ParticipantBootstrap(np.arange(60), draws=100, seed=1)
    values = pd.Series(np.repeat(["a", "b", "c"], 20))
    effect = 0.8 * (values == "a").to_numpy()
    truth, covered = effect.var() / (effect.var() + 1), []
    for _ in range(200):
        y = pd.Series(effect + generator.normal(size=60))
        row, p = individualized.group_relation(values, y, bootstrap, 0, generator)
        assert row["low"] <= row["estimate"] <= row["high"]
        assert p == pytest.approx(stats.f_oneway(*(part for _, part in y.groupby(values))).pvalue)
        covered.append(row["low"] <= truth <= row["high"])
    assert 0.9 <= np.mean(covered) <= 0.99


def test_columns_that_cannot_be_examined_are_listed_with_the_reason():
    people = pd.Index([f"P{number}" for number in range(30)])
    frame = pd.DataFrame(
        {
            "participant": people,
            "Prolific_ID": range(1000, 1060, 2),
            "number": range(1, 31),
            "same": "x",
            "words": [f"text {number}" for number in range(30)],
            "town": [f"town {number % 14}" for number in range(30)],
            "few": [1.0, 2.0] + [np.nan] * 28,
            "age": [20.0 + number % 17 for number in range(30)],
            "gender": ["f", "m"] * 15,
            "row": range(2, 32),
        }
    )
    table = individualized.characteristic_columns(frame, people)
    assert table["kind"].to_dict() == dict.fromkeys(table.index, "") | {"age": "number", "gender": "group"}
    assert table["reason"].to_dict() == {
        "Prolific_ID": "an identifier",
        "number": "a running number",
        "same": "the same for everybody",
        "words": "another text for everybody",
        "town": "14 groups of 30 participants are too many",
        "few": "2 participants with ratings answered it: too few",
        "age": "",
        "gender": "",
    }


def test_together_they_explain_what_least_squares_does(study, names):
    table = individualized.explained_together(study, bootstrap_of(study))
    means = individualized.participant_means(study)
    sheet = study.participants.set_index("participant").reindex(means.index)
    genders = [sheet["gender"] == name for name in sorted(sheet["gender"].unique())[1:]]
    x = np.column_stack([np.ones(len(means)), sheet[["age", *names]], *genders]).astype(float)
    y = means.to_numpy()

    def predict(rows, other):
        return x[other] @ np.linalg.lstsq(x[rows], y[rows], rcond=None)[0]

    everybody = np.arange(len(y))
    r2 = 1 - ((y - predict(everybody, everybody)) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    adjusted = 1 - (1 - r2) * (len(y) - 1) / (len(y) - x.shape[1])
    assert table.loc["explained, adjusted", "estimate"] == pytest.approx(adjusted, abs=1e-9)
    assert table.loc["explained, adjusted", "low"] < adjusted < table.loc["explained, adjusted", "high"]
    left = {one: np.delete(everybody, one) for one in everybody}
    # A participant who is alone in a group can't be predicted from the others.
    left = {one: rows for one, rows in left.items() if np.linalg.matrix_rank(x[rows]) == x.shape[1]}
    errors = [y[one] - predict(rows, [one])[0] for one, rows in left.items()]
    without = [y[one] - y[rows].mean() for one, rows in left.items()]
    expected = 1 - np.square(errors).sum() / np.square(without).sum()
    assert table.loc["predicted, cross-validated", "estimate"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.long
def test_the_interval_of_the_explained_share_covers_it():
    generator = np.random.default_rng(4)
    x = np.column_stack([np.ones(80), generator.normal(size=(80, 5))])
    signal = x[:, 1] * 0.6
    truth = ((signal - signal.mean()) ** 2).sum() / (((signal - signal.mean()) ** 2).sum() + 80)
    covered = []
    for _ in range(100):
        y = signal + generator.normal(size=80)
        left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        within, whole = (left**2).sum(), ((y - y.mean()) ** 2).sum()
        low, high = individualized.noncentral_limits((whole - within) / 5 / (within / 74), 5, 74, 80, 0.95)
        covered.append(low <= truth <= high)
    assert 0.88 <= np.mean(covered) <= 1
