"""Parts of the variance: against R, exact in resamplings, recovered, and where they can't be told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import sense7 as s7
from helpers import golden, naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import individualized
from sense7.findings.context import CONTEXT, context_frame
from sense7.statistics.bootstrap import NO_WIDTH
from sense7.taxonomy import DIMENSION_NAMES


def test_pairs_of_every_draw_are_those_of_the_rows_copied_out():
    generator = np.random.default_rng(4)
    y, group = generator.integers(1, 6, size=30) / 2, generator.integers(3, size=30)
    who, weights = (
        generator.integers(12, size=30),
        generator.integers(4, size=(5, 12)).astype(float),
    )
    sums, pairs = individualized.pair_sums(y, group, weights, who)
    apart = np.abs(y[:, None] - y[None])
    for place, taken in enumerate(weights[:, who]):
        often = taken[:, None] * taken[None] * (1 - np.eye(30))
        for one in range(3):
            both = np.ix_(group == one, group == one)
            assert sums[place, one] == pytest.approx((often * apart)[both].sum(), abs=1e-9)
            assert pairs[place, one] == often[both].sum()


def test_a_part_that_is_zero_in_every_resampling_is_not_called_certain(minimal_sheets):
    # Everybody's conversations are alike on average and differ in themselves: nothing is the participants'.
    words = ("poor", "neutral", "good", "Very good")
    study = parse_sheets(
        minimal_sheets(
            conversations=24,
            tasks={"PID": [f"P{n // 4}" for n in range(24)], "Model": "only"},
            messages={
                name: [cell for n in range(24) for cell in (None, words[n % 4]) * 2]
                for name in ("EmpathyOverall", *DIMENSION_NAMES)
            },
        )
    )
    row = individualized.participant_icc(study, bootstrap_of(study), draws=50).loc["mixed model"]
    assert row["estimate"] == pytest.approx(0, abs=1e-9)
    assert np.isnan(row[["low", "high"]].to_numpy(dtype=float)).all()
    assert row["reason"] == NO_WIDTH


# Shares on one base


@pytest.fixture(scope="module")
def synthetic():
    return s7.load("synthetic")


def test_the_variance_of_effects_is_that_of_a_balanced_analysis_of_variance():
    generator = np.random.default_rng(3)
    y = (
        generator.normal(size=(20, 4))
        + generator.normal(size=(20, 1))
        + np.array([0.0, 1.0, 1.0, 3.0])
    )
    means = y.mean(axis=0)
    rest = y - y.mean(axis=1, keepdims=True) - means + y.mean()
    error = (rest**2).sum() / (19 * 3)
    # Participants shift all conditions alike; so their variance is in all variances and covariances of the means.
    covariance = (error * np.eye(4) + 0.7) / 20
    found = individualized.variance_of_effects(means, covariance, np.full(4, 20))
    mean_square = 20 * means.var(ddof=1)
    assert found == pytest.approx((mean_square - error) / 20 * 3 / 4)


def mean_square(frame, *contexts):
    """Of an ordinary regression on an indicator of each participant and condition, and on some contexts."""
    columns = [
        pd.get_dummies(frame["participant"], dtype=float),
        pd.get_dummies(frame["condition"], dtype=float).iloc[:, 1:],
    ]
    for name in contexts:
        if name == "topic":
            columns.append(pd.get_dummies(frame["topic"], dtype=float).iloc[:, 1:])
        else:
            columns.append(frame[name])
    return sm.OLS(frame["y"], pd.concat(columns, axis=1)).fit().mse_resid


def test_context_on_one_base_is_the_fall_of_the_mean_square_with_an_indicator_of_each(synthetic):
    some = synthetic.subset(participants=synthetic.conversations["participant"].unique()[:30])
    frame = context_frame(some)
    base = individualized.variance_shares(some, bootstrap_of(some), draws=2)
    shares = base.shares["estimate"]
    _, model = individualized.fit_variance_model(frame)
    participant = model.fit.variances[0]
    whole = participant / shares["participant"]
    for name, contexts in (
        ("context", CONTEXT),
        ("of the context: topic", ["topic"]),
        ("of the context: importance", ["importance"]),
        ("of the context: desired empathy", ["desired_empathy"]),
    ):
        fall = mean_square(frame) - mean_square(frame, *contexts)
        assert shares[name] == pytest.approx(fall / whole, abs=1e-8)
    assert shares.iloc[:5].sum() == pytest.approx(1)
    comparison = base.comparison["estimate"]
    assert comparison["condition and topic"] == pytest.approx(
        shares["condition"] + shares["of the context: topic"]
    )
    assert comparison.iloc[2] == pytest.approx(comparison.iloc[0] - comparison.iloc[1])


def test_context_in_a_resample_is_the_fall_of_the_mean_square_of_the_rows_copied_out(synthetic):
    frame = context_frame(synthetic)
    names = pd.Index(frame["participant"].unique())
    times = np.random.default_rng(6).integers(0, 3, len(names))
    sums, columns = individualized.context_sums(frame, list(CONTEXT), names)
    copies = [
        frame[frame["participant"] == name].assign(participant=f"{name}/{copy}")
        for name, count in zip(names, times, strict=True)
        for copy in range(count)
    ]
    copied = pd.concat(copies, ignore_index=True)
    falls = individualized.context_variances(times @ sums, columns)
    without = mean_square(copied)
    assert falls["all"] == pytest.approx(without - mean_square(copied, *CONTEXT), abs=1e-8)
    for name in CONTEXT:
        assert falls[name] == pytest.approx(without - mean_square(copied, name), abs=1e-8)


def test_a_base_without_topics_or_conditions_compares_with_what_there_is(synthetic):
    conversations = synthetic.conversations
    no_topic = replace(synthetic, conversations=conversations.assign(topic=None))
    comparison = individualized.variance_shares(no_topic, bootstrap_of(no_topic), draws=20)
    naming.check(comparison.shares.loc["of the context: topic", "reason"], "topic")
    assert comparison.comparison.loc["condition and topic", "estimate"] == pytest.approx(
        comparison.shares.loc["condition", "estimate"]
    )
    one = replace(synthetic, conversations=conversations.assign(condition="only"))
    shares = individualized.variance_shares(one, bootstrap_of(one), draws=20)
    naming.check(shares.shares.loc["condition", "reason"], "condition")
    assert shares.shares["estimate"].iloc[:5].sum() == pytest.approx(1)
    assert shares.comparison.loc["condition and topic", "estimate"] == pytest.approx(
        shares.shares.loc["of the context: topic", "estimate"]
    )
    neither = replace(synthetic, conversations=conversations.assign(condition="only", topic=None))
    table = individualized.variance_shares(neither, bootstrap_of(neither), draws=20).comparison
    assert table["estimate"].notna().tolist() == [True, False, False]
    (reason,) = set(table["reason"].iloc[1:])
    naming.check(reason, "condition", "topic")


# What characteristics explain


def test_omega_squared_is_that_of_the_analysis_of_variance():
    people = pd.Index([f"P{number}" for number in range(40)])
    means = pd.Series(np.random.default_rng(1).normal(size=40), index=people)
    sheet = pd.DataFrame({"participant": people, "group": [f"g{n * n % 3}" for n in range(40)]})
    f = stats.f_oneway(*(group for _, group in means.groupby(sheet["group"].to_numpy()))).statistic
    bootstrap = s7.ParticipantBootstrap(people, 100, 1)
    found = individualized.relations_of(sheet, means, bootstrap, 0).estimates.loc["group"]
    assert found["estimate"] == pytest.approx((f - 1) / (f - 1 + 40))
    alike = individualized.relations_of(sheet, 0 * means + 3, bootstrap, 0).estimates.loc["group"]
    assert np.isnan(alike["estimate"])
    assert alike["reason"] == "the ratings do not vary"


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
    assert table["kind"].to_dict() == dict.fromkeys(table.index, "") | {
        "age": "number",
        "gender": "group",
    }
    assert (table["reason"] == "").tolist() == (table["kind"] != "").tolist()
    said = "\n".join(f"{column}: {reason}" for column, reason in table["reason"].items())
    naming.check(said, "town: 14 groups of 30 ", "few: 2 ")


def test_predicted_shares_are_those_of_least_squares_without_each_participant():
    study, traits = golden.study(), golden.called("char_rho_")
    means = individualized.participant_means(study)
    sheet = study.participants.set_index("participant").reindex(means.index)
    genders = [sheet["gender"] == name for name in sorted(sheet["gender"].unique())[1:]]
    x = np.column_stack([np.ones(len(means)), sheet[["age", *traits]], *genders]).astype(float)
    y, errors, without = means.to_numpy(), [], []
    for one in range(len(y)):
        others, rest = np.delete(x, one, axis=0), np.delete(y, one)
        # A participant who is alone in a group can't be predicted from the others.
        if np.linalg.matrix_rank(others) == x.shape[1]:
            errors.append(y[one] - x[one] @ np.linalg.lstsq(others, rest, rcond=None)[0])
            without.append(y[one] - rest.mean())
    table = individualized.explained_together(study, bootstrap_of(study))
    expected = 1 - np.square(errors).sum() / np.square(without).sum()
    assert table.loc["predicted, cross-validated", "estimate"] == pytest.approx(expected, abs=1e-9)


def test_groups_are_compared_by_permutations_or_by_f():
    study = golden.study()
    means = study.turns.groupby("participant")["overall"].mean()
    people = study.participants[["participant", "gender", "row"]]
    gender = people.set_index("participant")["gender"].reindex(means.index)
    expected = stats.f_oneway(*(group for _, group in means.groupby(gender))).pvalue
    for permutations, near in ((4000, 0.03), (0, 1e-9)):
        found = individualized.relations_of(
            people, means, bootstrap_of(study), permutations
        ).tests.loc["gender", "p"]
        assert found == pytest.approx(expected, abs=near)


def test_numbers_are_tested_by_permutations_as_by_scipy():
    generator = np.random.default_rng(4)
    people = pd.Index([f"P{number}" for number in range(40)])
    age = generator.integers(20, 60, 40).astype(float)
    means = pd.Series(0.03 * age + generator.normal(size=40), index=people)
    sheet = pd.DataFrame({"participant": people, "age": age})
    expected = stats.permutation_test(
        (age,),
        lambda ages: stats.spearmanr(ages, means).statistic,
        permutation_type="pairings",
        n_resamples=4000,
        random_state=5,
    ).pvalue
    bootstrap = s7.ParticipantBootstrap(people, 10, 1)
    p = individualized.relations_of(sheet, means, bootstrap, 4000).tests.loc["age", "p"]
    assert 0.01 < expected < 0.3
    assert p == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("noise", [0, 0.005, 0.05])
def test_the_intraclass_correlation_goes_up_to_one(noise):
    """Balanced, so that REML gives the mean squares' variances; noise is 260 and 26 times as small as differences."""
    generator = np.random.default_rng(2)
    people, conversations = 12, 4
    level = np.repeat(generator.permutation(np.linspace(1, 5, people)), conversations)
    y = level + noise * generator.standard_normal(len(level))
    frame = pd.DataFrame({"participant": np.repeat(np.arange(people), conversations), "y": y})
    frame["condition"] = ""
    _, model = individualized.fit_variance_model(frame)
    participant, _, _, residual = model.fit.variances
    by_person = frame.groupby("participant")["y"]
    within = by_person.var().mean()
    between = by_person.mean().var() - within / conversations
    assert participant == pytest.approx(between, rel=1e-5)
    assert residual == pytest.approx(within, rel=1e-5, abs=1e-12)
    share = participant / (participant + residual)
    assert share == pytest.approx(between / (between + within), abs=1e-9)
