"""Parts of the variance: against R, exact in resamplings, recovered, and where they can't be told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.mixed import fit_nested, nested_sums
from sense7.findings import individualized
from sense7.findings.context import CONTEXT, context_frame
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def ieval(workbooks):
    return read_workbook(workbooks["ieval"])


def simulated(generator, people=12, conditions=3):
    who = np.repeat(np.arange(people), generator.integers(4, 9, people))
    what = generator.integers(conditions, size=len(who))
    talk = np.arange(len(who))
    times = generator.integers(1, 5, len(who))
    who, what, talk = (np.repeat(one, times) for one in (who, what, talk))
    y = generator.normal(size=people)[who] + generator.normal(0, 0.6, (people, conditions))[who, what]
    y = y + generator.normal(0, 0.7, talk.max() + 1)[talk] + generator.normal(size=len(who))
    return pd.DataFrame({"y": y, "who": who, "what": what, "talk": talk})


def by_matrices(frame, design, variances):
    """Minus twice the restricted log-likelihood with the whole covariance matrix."""
    same = lambda values: np.equal.outer(values.to_numpy(), values.to_numpy()).astype(float)  # noqa: E731
    cell, people = frame["who"] * 1000 + frame["what"], same(frame["who"])
    v = variances[0] * people + variances[1] * same(cell) + variances[2] * same(frame["talk"])
    v += variances[3] * np.eye(len(frame))
    inverse = np.linalg.inv(v)
    a = design.T @ inverse @ design
    left = frame["y"] - design @ np.linalg.solve(a, design.T @ inverse @ frame["y"])
    freedom = len(frame) - design.shape[1]
    logs = np.linalg.slogdet(v)[1] + np.linalg.slogdet(a)[1]
    return logs + left @ inverse @ left + freedom * np.log(2 * np.pi)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("coding", ["conditions", "treatment and a characteristic", "one level"])
def test_the_fit_is_the_lowest_deviance_of_the_whole_matrix(seed, coding):
    frame = simulated(np.random.default_rng(seed))
    what = frame["what"].to_numpy()
    design = {
        "conditions": np.eye(3)[what],
        "treatment and a characteristic": np.column_stack(
            [np.ones(len(frame)), np.eye(3)[what][:, 1:], frame["who"] % 4]
        ),
        "one level": np.ones((len(frame), 1)),
    }[coding]
    fit = fit_nested(nested_sums(frame["y"].to_numpy(), design, frame["who"], frame["what"], frame["talk"]))
    assert fit.deviance == pytest.approx(by_matrices(frame, design, fit.variances), abs=1e-6)
    for place in range(4):
        for change in (0.9, 1.1):
            moved = fit.variances.copy()
            moved[place] = moved[place] * change + (change > 1) * 1e-3
            assert by_matrices(frame, design, moved) >= fit.deviance - 1e-6


def test_a_resampled_nested_model_is_that_of_the_rows_copied_out():
    frame = simulated(np.random.default_rng(8))
    times = np.array([2, 0, 1, 3, 1, 1, 0, 1, 1, 0, 2, 0])
    copies = [frame[frame["who"] == one].assign(copy=copy) for one in range(12) for copy in range(times[one])]
    copied = pd.concat(copies)
    copied["talk"] = copied["talk"] * 10 + copied["copy"]
    by_weights = fit_nested(
        nested_sums(frame["y"].to_numpy(), np.eye(3)[frame["what"]], frame["who"], frame["what"], frame["talk"]),
        times[None, :].astype(float),
    )
    by_copies = fit_nested(
        nested_sums(
            copied["y"].to_numpy(),
            np.eye(3)[copied["what"]],
            copied["who"] * 10 + copied["copy"],
            copied["what"],
            copied["talk"],
        )
    )
    np.testing.assert_allclose(by_weights.variances[0], by_copies.variances, atol=1e-4)
    np.testing.assert_allclose(by_weights.coefficients[0], by_copies.coefficients, atol=1e-4)


def test_participants_icc_is_that_of_the_analysis_of_variance(ieval):
    frame = conversation_ratings(ieval)
    row = individualized.participant_icc(ieval, bootstrap_of(ieval)).loc["as rated"]
    of_person = frame["ground_truth"].groupby(frame["participant"])  # eight conversations each
    between, within = 8 * of_person.mean().var(), of_person.var().mean()
    assert row["estimate"] == pytest.approx((between - within) / (between + 7 * within), abs=1e-12)
    assert row["low"] < row["estimate"] < row["high"]


def test_conversations_of_one_condition_are_counted_pair_by_pair(study):
    frame = conversation_ratings(study).dropna(subset=["ground_truth"]).iloc[:80]
    small = type(study)(**{**study.__dict__, "conversations": study.conversations.iloc[:80]})
    table = individualized.same_condition_differences(small, bootstrap_of(small))
    apart = {"two people": [], "one person": []}
    for i in range(len(frame)):
        for j in range(i):
            one, other = frame.iloc[i], frame.iloc[j]
            if one["condition"] == other["condition"]:
                who = "one person" if one["participant"] == other["participant"] else "two people"
                apart[who].append(abs(one["ground_truth"] - other["ground_truth"]))
    for who, values in apart.items():
        row = table.loc[f"{who}, same condition"]
        assert row["estimate"] == pytest.approx(np.mean(values))
        assert row["n"] == len(values)
        assert row["low"] <= row["estimate"] <= row["high"]


def test_pairs_of_every_draw_are_those_of_the_rows_copied_out():
    generator = np.random.default_rng(4)
    y, group = generator.integers(1, 6, size=30) / 2, generator.integers(3, size=30)
    who, weights = generator.integers(12, size=30), generator.integers(4, size=(5, 12)).astype(float)
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
    parts = individualized.variance_parts(study, bootstrap_of(study), draws=50)
    for table in (parts.variances, parts.shares):
        assert table.loc["participant", "estimate"] == pytest.approx(0, abs=1e-9)
        assert table.loc["participant", "reason"] == "no interval: every resampling gives the same value"
        assert np.isnan(table.loc["participant", ["low", "high"]].to_numpy(dtype=float)).all()


# Shares on one base


@pytest.fixture(scope="module")
def synthetic():
    return s7.load("synthetic")


def test_the_variance_of_effects_is_that_of_a_balanced_analysis_of_variance():
    generator = np.random.default_rng(3)
    y = generator.normal(size=(20, 4)) + generator.normal(size=(20, 1)) + np.array([0.0, 1.0, 1.0, 3.0])
    means = y.mean(axis=0)
    rest = y - y.mean(axis=1, keepdims=True) - means + y.mean()
    error = (rest**2).sum() / (19 * 3)
    # Participants shift all conditions alike; so their variance is in all variances and covariances of the means.
    covariance = (error * np.eye(4) + 0.7) / 20
    found = individualized.variance_of_effects(means, covariance, np.full(4, 20))
    mean_square = 20 * means.var(ddof=1)
    assert found == pytest.approx((mean_square - error) / 20 * 3 / 4)


def test_noise_within_a_turn_is_the_residual_of_turn_and_dimension(synthetic):
    """By hand on complete turns: the residual mean square of a two-way table, by the number of dimensions."""
    complete = synthetic.turns[synthetic.turns[list(DIMENSION_NAMES)].notna().all(axis=1)]
    some = replace(synthetic, turns=complete)
    table = complete[list(DIMENSION_NAMES)].to_numpy()
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    square = (rest**2).sum() / ((len(table) - 1) * 6)
    frame = individualized.rated_conversations(some)
    sums = individualized.turn_sums(some, frame, pd.Index(frame["participant"].unique())).sum(axis=0)
    turn, noise, turn_of_mean, noise_of_mean = individualized.within_conversations(sums)
    assert noise == pytest.approx(square / 7)
    means = complete.assign(y=table.mean(axis=1)).groupby("conversation")["y"]
    size = means.size()
    spread = (means.var() * (size - 1)).sum() / (size - 1).sum()
    assert turn == pytest.approx(spread)
    assert noise_of_mean == pytest.approx(square / 7 * (1 / size).mean())
    assert turn_of_mean == pytest.approx((spread - square / 7) * (1 / size).mean())


def test_parts_within_conversations_of_a_resample_are_those_of_the_rows_copied_out(synthetic):
    frame = individualized.rated_conversations(synthetic)
    names = pd.Index(frame["participant"].unique())
    times = np.random.default_rng(2).integers(0, 3, len(names))
    copies = []
    for name, count in zip(names, times, strict=True):
        for copy in range(count):
            own = synthetic.turns[synthetic.turns["participant"] == name]
            copies.append(own.assign(conversation=own["conversation"].astype(str) + f"/{copy}"))
    copied = replace(synthetic, turns=pd.concat(copies, ignore_index=True))
    whole = individualized.rated_conversations(synthetic)
    whole = whole.assign(conversation=whole["conversation"].astype(str))
    whole = pd.concat([whole.assign(conversation=whole["conversation"] + f"/{copy}") for copy in range(3)])
    expected = individualized.within_conversations(individualized.turn_sums(copied, whole, names).sum(axis=0))
    found = individualized.within_conversations(times @ individualized.turn_sums(synthetic, frame, names))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def planted_study(seed, people=150, kinds=3, talks=3, turns=4):
    """Ratings without rounding: variances of .36 (people), .09 (their conditions), .25, .64 (turns) and .49 (noise)."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), kinds * talks)
    what = np.tile(np.repeat(np.arange(kinds), talks), people)
    level = np.array([0.0, 0.5, 1.0])[what] + generator.normal(0, 0.6, people)[who]
    level = level + generator.normal(0, 0.3, people * kinds)[who * kinds + what]
    level = level + generator.normal(0, 0.5, len(who))
    of = np.repeat(np.arange(len(who)), turns)
    rating = level[of] + generator.normal(0, 0.8, len(of))
    ratings = rating[:, None] + generator.normal(0, 0.7, (len(of), 7)) + np.arange(7) / 5
    names = {"participant": who.astype(str), "condition": what.astype(str), "conversation": np.arange(len(who))}
    conversations = pd.DataFrame(names | {"topic": None}).astype({"participant": object, "condition": object})
    frame = conversations.iloc[of].drop(columns="topic").reset_index(drop=True)
    frame[list(DIMENSION_NAMES)], frame["overall"] = ratings, np.nan
    return Study("simulated", conversations, pd.DataFrame(), frame, participants=None, columns=pd.DataFrame())


@pytest.mark.long
def test_what_was_planted_in_the_variance_is_found_on_one_base():
    """Conversations of four turns with seven dimensions each."""
    planted = np.array([0.36, 0.5 / 3, 0.09, 0.25, 0.64 / 4, 0.49 / 7 / 4])
    found = []
    for seed in range(12):
        study = planted_study(seed)
        parts = individualized.variance_parts(study, bootstrap_of(study, 2))
        found.append(parts.on_one_base["estimate"].to_numpy())
    error = np.std(found, axis=0, ddof=1) / np.sqrt(12)
    assert error.max() < 0.02
    assert (np.abs(np.mean(found, axis=0) - planted / planted.sum()) < 3.5 * error).all()


def test_context_on_one_base_is_the_fall_of_the_mean_square_with_an_indicator_of_each(synthetic):
    frame = context_frame(synthetic)
    people = pd.get_dummies(frame["participant"], dtype=float)
    conditions = pd.get_dummies(frame["condition"], dtype=float).iloc[:, 1:]
    topics = pd.get_dummies(frame["topic"], dtype=float).iloc[:, 1:]
    steps = frame[["importance", "desired_empathy"]]

    def mean_square(*more):
        return sm.OLS(frame["y"], pd.concat([people, conditions, *more], axis=1)).fit().mse_resid

    base = individualized.variance_shares(synthetic, bootstrap_of(synthetic), draws=40)
    shares = base.shares["estimate"]
    parts = individualized.variance_parts(synthetic, bootstrap_of(synthetic), draws=2)
    whole = parts.variances.loc["participant", "estimate"] / shares["participant"]
    for name, columns in (
        ("context", (topics, steps)),
        ("of the context: topic", (topics,)),
        ("of the context: importance", (steps[["importance"]],)),
        ("of the context: desired empathy", (steps[["desired_empathy"]],)),
    ):
        assert shares[name] == pytest.approx((mean_square() - mean_square(*columns)) / whole, abs=1e-8)
    assert shares.iloc[:5].sum() == pytest.approx(1)
    assert shares["participant"] == pytest.approx(parts.on_one_base.loc["participant", "estimate"])
    comparison = base.comparison["estimate"]
    assert comparison["condition and topic"] == pytest.approx(shares["condition"] + shares["of the context: topic"])
    assert comparison.iloc[2] == pytest.approx(comparison.iloc[0] - comparison.iloc[1])
    for table in (base.shares, base.comparison):
        assert (table["low"] <= table["estimate"]).all()
        assert (table["estimate"] <= table["high"]).all()


def test_context_sums_of_a_resample_are_those_of_the_rows_copied_out(synthetic):
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
    expected, _ = individualized.context_sums(copied, list(CONTEXT), pd.Index(copied["participant"].unique()))
    found = individualized.context_variances(times @ sums, columns)
    for name, value in individualized.context_variances(expected.sum(axis=0), columns).items():
        assert found[name] == pytest.approx(value, abs=1e-9)


def test_a_base_without_topics_or_conditions_compares_with_what_there_is(synthetic):
    conversations = synthetic.conversations
    no_topic = replace(synthetic, conversations=conversations.assign(topic=None))
    comparison = individualized.variance_shares(no_topic, bootstrap_of(no_topic), draws=20)
    assert comparison.shares.loc["of the context: topic", "reason"] == "topic was not given in this data set"
    assert comparison.comparison.loc["condition and topic", "estimate"] == pytest.approx(
        comparison.shares.loc["condition", "estimate"]
    )
    one = replace(synthetic, conversations=conversations.assign(condition="only"))
    shares = individualized.variance_shares(one, bootstrap_of(one), draws=20)
    assert shares.shares.loc["condition", "reason"] == "there is one condition only"
    assert shares.shares["estimate"].iloc[:5].sum() == pytest.approx(1)
    assert shares.comparison.loc["condition and topic", "estimate"] == pytest.approx(
        shares.shares.loc["of the context: topic", "estimate"]
    )
    neither = replace(synthetic, conversations=conversations.assign(condition="only", topic=None))
    table = individualized.variance_shares(neither, bootstrap_of(neither), draws=20).comparison
    assert table["estimate"].notna().tolist() == [True, False, False]
    assert set(table["reason"].iloc[1:]) == {"neither condition nor topic varies in this data set"}


# What characteristics explain


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
