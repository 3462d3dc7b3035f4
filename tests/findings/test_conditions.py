"""Conditions compared: against R, exact in resamplings, and where there is nothing to compare."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.multivariate.factor import Factor

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.findings import conditions, measures
from sense7.findings.conditions import largest_loading_difference
from sense7.findings.measures import turn_rating
from sense7.simulate import Parameters, simulate
from sense7.study import RATED, Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.workbook import parse_sheets, read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


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


# Dimension by condition

CONDITIONS_DIMENSIONS = ("first", "second", "third")

SEVEN = list(DIMENSION_NAMES)


def study_of(seed, interaction=0.0, level=0.0, people=40):
    """Each participant has one conversation per condition, of one turn; ratings are numbers, not cut into levels.

    ``interaction``: added to Relational in the first condition; ``level``: to every dimension in it.
    """
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        own = generator.normal(scale=1.0)
        for condition in CONDITIONS_DIMENSIONS:
            ratings = 3 + own + 0.3 * generator.normal() + 0.4 * generator.normal(size=7)
            if condition == "first":
                ratings += level
                ratings[-1] += interaction
            rows.append([f"P{person}", condition, *ratings])
    turns = pd.DataFrame(rows, columns=["participant", "condition", *SEVEN])
    turns["conversation"] = [f"C{number}" for number in range(len(turns))]
    turns = turns.assign(turn=1, overall=np.nan)
    conversations = turns[["conversation", "participant", "condition"]].assign(topic=None)
    return Study("made up", conversations, turns, turns, None, pd.DataFrame())


def test_deviations_are_those_by_hand():
    study = study_of(1, interaction=0.5)
    found = conditions.dimension_by_condition(study, bootstrap_of(study))
    means = study.turns.groupby("condition")[SEVEN].mean()
    profile = means - means.mean()
    deviation = profile.sub(profile.mean(axis=1), axis=0)
    for condition in CONDITIONS_DIMENSIONS:
        for name in SEVEN:
            row = found.deviations.loc[f"{name}, {condition}"]
            assert row["estimate"] == pytest.approx(deviation.loc[condition, name], abs=1e-12)
            assert row["low"] < row["estimate"] < row["high"]
            assert row["n"] == 40
    assert deviation.abs().to_numpy().max() == abs(deviation.loc["first", "Relational"])
    assert found.where["estimate"] == "Relational, first"
    largest = found.test.loc["largest deviation", "estimate"]
    assert largest == pytest.approx(deviation.loc["first", "Relational"], abs=1e-12)


@pytest.mark.parametrize("draws", [60, 2])  # two are the fewest that have a standard error
def test_the_p_value_is_that_of_resampled_rows(draws):
    study = study_of(4)
    bootstrap = bootstrap_of(study, draws)
    found = conditions.dimension_by_condition(study, bootstrap).test.loc["interaction"]

    def deviations(turns):
        means = turns.groupby("condition")[SEVEN].mean()
        profile = means - means.mean()
        return profile.sub(profile.mean(axis=1), axis=0).to_numpy()

    own, drawn = deviations(study.turns), []
    for weights in bootstrap.weights():
        times = study.turns["participant"].map(dict(zip(bootstrap.names, weights.astype(int), strict=True)))
        drawn.append(deviations(study.turns.loc[study.turns.index.repeat(times)]))
    errors = np.std(drawn, axis=0)
    by_chance = (np.abs(np.array(drawn) - own) / errors).max(axis=(1, 2))
    expected = ((by_chance >= np.abs(own / errors).max()).sum() + 1) / (draws + 1)
    assert found["estimate"] == pytest.approx(expected, abs=1e-9)
    assert found["n"] == len(study.conversations)


def p_value(seed, **planted):
    study = study_of(seed, **planted)
    return conditions.dimension_by_condition(study, bootstrap_of(study, 200)).test.loc["interaction", "estimate"]


@pytest.mark.long
def test_a_level_of_a_condition_is_no_interaction_and_an_interaction_is_seen():
    same = [p_value(seed) for seed in range(60)]
    level = [p_value(seed, level=1.5) for seed in range(60)]
    np.testing.assert_allclose(level, same, atol=1e-9)  # what all dimensions gain cancels exactly
    assert np.mean(np.array(same) <= 0.05) <= 0.13  # 5% of 60 studies, and three standard errors
    planted = [p_value(seed, interaction=0.5) for seed in range(10)]
    assert max(planted) <= 0.05


def test_without_differences_between_dimensions_there_is_no_test():
    study = study_of(3)
    for name in SEVEN[1:]:
        study.turns[name] = study.turns["Affective"]
    found = conditions.dimension_by_condition(study, bootstrap_of(study))
    assert found.test.loc["interaction", "reason"] == "no test: a deviation is the same in every resample"


# Loadings in the prompted condition and in the others


def loadings_by_statsmodels(ratings):
    found = Factor(ratings, n_factor=1, method="ml").fit(maxiter=2000).loadings[:, 0]
    return found * np.sign(found.sum())


def test_the_difference_is_that_of_two_factor_models_of_statsmodels():
    study = s7.load("synthetic")
    row = largest_loading_difference(study, bootstrap_of(study)).iloc[0]
    turns = study.turns.dropna(subset=SEVEN)
    prompted = turns["condition"] == study.prompted_condition
    differences = pd.Series(
        loadings_by_statsmodels(turns.loc[prompted, SEVEN]) - loadings_by_statsmodels(turns.loc[~prompted, SEVEN]),
        SEVEN,
    )
    largest = differences.abs().idxmax()
    assert row["estimate"] == pytest.approx(differences[largest], abs=1e-4)
    assert f"; {largest}, prompted condition minus the others" in row["method"]
    assert row["n"] == len(turns)
    assert row["low"] < row["estimate"] < row["high"]


def study_of_factors(seed, loading=0.8, people=60, talks=6):
    """One factor with loadings of .8; in the prompted condition that of Relational is another."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), talks)
    condition = np.where(np.arange(len(who)) % 2, "plain", "prompted")
    size = np.full((len(who), 7), 0.8)
    size[condition == "prompted", -1] = loading
    ratings = generator.normal(size=(len(who), 1)) * size + generator.normal(size=size.shape) * np.sqrt(1 - size**2)
    frame = pd.DataFrame(ratings, columns=SEVEN)
    names = {"participant": [f"P{one}" for one in who], "condition": condition, "topic": None}
    frame = frame.assign(**names, conversation=[f"C{one}" for one in range(len(who))], turn=1, overall=np.nan)
    frame = frame.assign(**{f"{name}_state": RATED for name in RATING_NAMES})
    return Study("made up", frame, frame, frame, None, pd.DataFrame(), prompted_condition="prompted")


@pytest.mark.long
def test_where_loadings_are_the_same_the_largest_difference_is_rarely_off_zero():
    """The interval allows for having picked the largest of seven: at 95%, at most 3 of 30 by chance."""
    studies = [study_of_factors(seed) for seed in range(30)]
    rows = [largest_loading_difference(study, bootstrap_of(study)).iloc[0] for study in studies]
    assert sum(not row["low"] <= 0 <= row["high"] for row in rows) <= 4
    assert all(row["estimate"] != 0 for row in rows)


# Fading


@pytest.fixture(scope="module")
def synthetic():
    return s7.load("synthetic")


def test_levels_are_plain_means_of_each_turn(synthetic):
    turns = synthetic.turns.assign(y=turn_rating(synthetic.turns, "dimensions"))
    expected = turns.groupby(["condition", "turn"])["y"].agg(["mean", "count"])
    for condition, table in conditions.levels_by_turn(synthetic, bootstrap_of(synthetic)).items():
        assert list(table.index) == list(range(1, 11))
        np.testing.assert_allclose(table["estimate"], expected.loc[condition].loc[1:10, "mean"])
        assert table["n"].tolist() == expected.loc[condition].loc[1:10, "count"].tolist()
        assert ((table["low"] < table["estimate"]) & (table["estimate"] < table["high"])).all()


def test_fading_is_that_of_a_model_with_an_indicator_of_each_conversation(synthetic):
    people = synthetic.conversations["participant"].unique()[:12]
    some = synthetic.subset(participants=list(people))
    turns = some.turns.assign(y=turn_rating(some.turns, "dimensions")).dropna(subset=["y"]).reset_index(drop=True)
    prompted = (turns["condition"] == synthetic.prompted_condition).to_numpy()
    met = pd.Series(prompted).groupby(turns["participant"]).transform("nunique").to_numpy() == 2
    assert met.any()
    found = conditions.prompt_fading(some, bootstrap_of(some))
    for name, used in (("all participants", np.ones(len(turns), dtype=bool)), ("participants who met both", met)):
        own, kind = turns[used], prompted[used]
        columns = pd.DataFrame({"p": own["turn"] * kind, "o": own["turn"] * ~kind})
        indicators = pd.get_dummies(own["conversation"], dtype=float)
        fit = sm.OLS(own["y"], pd.concat([columns, indicators], axis=1).astype(float)).fit()
        assert found.loc[name, "estimate"] == pytest.approx(fit.params["p"] - fit.params["o"], abs=1e-9)
        assert found.loc[name, "n"] == used.sum()
