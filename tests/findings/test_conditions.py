"""Conditions and topics compared: exact in resamplings, and where there is nothing to compare."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.multivariate.factor import Factor

from helpers import golden, naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import conditions, measures
from sense7.findings.conditions import largest_loading_difference
from sense7.findings.individualized import variance_shares
from sense7.statistics.bootstrap import FEWEST_IN_A_GROUP
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES


def test_the_best_condition_is_named():
    study = golden.study()
    bootstrap, frame = bootstrap_of(study), measures.conversation_ratings(study)
    best = conditions.best_condition(study, bootstrap)
    assert best["best"]["estimate"] == frame.groupby("condition")["ground_truth"].mean().idxmax()
    assert (
        best["best"]["n"]
        == best["share"]["n"]
        == measures.conversation_ratings(study)["ground_truth"].count()
    )
    cells = [
        frame.pivot_table("ground_truth", "participant", "condition", one, fill_value=0).reindex(
            bootstrap.names
        )
        for one in ("sum", "count")
    ]
    total, count = (bootstrap.weights() @ cell.to_numpy() for cell in cells)
    highest = cells[0].columns[(total / count).argmax(axis=1)]
    assert best["share"]["estimate"] == pytest.approx((highest == best["best"]["estimate"]).mean())


# The prompted condition and the best of the others


def rated_by(minimal_sheets, levels):
    """A study of one conversation per participant and condition: condition -> level of each participant."""
    pairs = [
        (f"P{person}", name, level)
        for name, given in levels.items()
        for person, level in enumerate(given)
    ]
    ratings = [value for *_, level in pairs for value in (None, LEVELS[level - 1]) * 2]
    sheets = minimal_sheets(
        conversations=len(pairs),
        participants=None,
        tasks={"PID": [person for person, *_ in pairs], "Model": [name for _, name, _ in pairs]},
        messages={"EmpathyOverall": ratings, **dict.fromkeys(DIMENSION_NAMES, ratings)},
    )
    return replace(parse_sheets(sheets), prompted_condition="prompted")


@pytest.mark.parametrize(
    ("conditions_of", "people", "kind", "several"),
    [
        ("aabbaabb", "00112233", "between participants", "0 of 4"),
        ("abababab", "00112233", "within participants", "4 of 4"),
        ("abaaabaa", "00112233", "within participants", "2 of 4"),
        ("ababaaaa", "00123456", "between participants", "1 of 7"),
        ("aaaaaaaa", "00112233", "one condition", "one"),
    ],
)
def test_the_design_follows_from_who_met_what(minimal_sheets, conditions_of, people, kind, several):
    tasks = {"PID": [f"P{person}" for person in people], "Model": list(conditions_of)}
    study = parse_sheets(minimal_sheets(conversations=8, participants=None, tasks=tasks))
    design, words = conditions.design_values(study)
    assert (design["estimate"], design["n"]) == (kind, len(set(people)))
    naming.check(words["estimate"], several)


# Dimension by condition

CONDITIONS_DIMENSIONS = ("first", "second", "third")

SEVEN = list(DIMENSION_NAMES)


def study_of(seed, interaction=0.0):
    """Each participant has one conversation per condition, of one turn; ratings are numbers, not cut into levels.

    ``interaction``: added to Relational in the first condition.
    """
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(40):
        own = generator.normal(scale=1.0)
        for condition in CONDITIONS_DIMENSIONS:
            ratings = 3 + own + 0.3 * generator.normal() + 0.4 * generator.normal(size=7)
            if condition == "first":
                ratings[-1] += interaction
            rows.append([f"P{person}", condition, *ratings])
    turns = pd.DataFrame(rows, columns=["participant", "condition", *SEVEN])
    turns["conversation"] = [f"C{number}" for number in range(len(turns))]
    turns = turns.assign(turn=1, overall=np.nan)
    conversations = turns[["conversation", "participant", "condition"]].assign(topic=None)
    return Study("made up", conversations, turns, turns, None, pd.DataFrame())


def deviations_of(turns):
    means = turns.groupby("condition")[SEVEN].mean()
    profile = means - means.mean()
    return profile.sub(profile.mean(axis=1), axis=0)


def test_deviations_are_those_by_hand():
    study = study_of(1, interaction=0.5)
    found = conditions.dimension_by_condition(study, bootstrap_of(study))
    deviation = deviations_of(study.turns)
    assert deviation.abs().to_numpy().max() == abs(deviation.loc["first", "Relational"])
    assert found.where["estimate"] == "Relational, first"
    row = found.test.loc["largest deviation"]
    assert row["estimate"] == pytest.approx(deviation.loc["first", "Relational"], abs=1e-12)
    assert row["low"] < row["estimate"] < row["high"]
    assert row["n"] == 40


@pytest.mark.parametrize("draws", [60, 2])  # two are the fewest that have a standard error
def test_the_p_value_is_that_of_resampled_rows(draws):
    study = study_of(4)
    bootstrap = bootstrap_of(study, draws)
    found = conditions.dimension_by_condition(study, bootstrap).test.loc["interaction"]

    own, drawn = deviations_of(study.turns).to_numpy(), []
    for weights in bootstrap.weights():
        times = study.turns["participant"].map(
            dict(zip(bootstrap.names, weights.astype(int), strict=True))
        )
        drawn.append(deviations_of(study.turns.loc[study.turns.index.repeat(times)]).to_numpy())
    errors = np.std(drawn, axis=0)
    by_chance = (np.abs(np.array(drawn) - own) / errors).max(axis=(1, 2))
    expected = ((by_chance >= np.abs(own / errors).max()).sum() + 1) / (draws + 1)
    assert found["estimate"] == pytest.approx(expected, abs=1e-9)
    assert found["n"] == len(study.conversations)


# Loadings in the prompted condition and in the others


def loadings_by_statsmodels(ratings):
    found = Factor(ratings, n_factor=1, method="ml").fit(maxiter=2000).loadings[:, 0]
    return found * np.sign(found.sum())


def test_the_difference_is_that_of_two_factor_models_of_statsmodels(synthetic):
    row = largest_loading_difference(synthetic, bootstrap_of(synthetic)).iloc[0]
    turns = synthetic.turns.dropna(subset=SEVEN)
    prompted = turns["condition"] == synthetic.prompted_condition
    differences = pd.Series(
        loadings_by_statsmodels(turns.loc[prompted, SEVEN])
        - loadings_by_statsmodels(turns.loc[~prompted, SEVEN]),
        SEVEN,
    )
    largest = differences.abs().idxmax()
    assert row["estimate"] == pytest.approx(differences[largest], abs=1e-4)
    naming.check(row["method"], f"; {largest}, ")
    assert row["n"] == len(turns)
    assert row["low"] < row["estimate"] < row["high"]


# Without noise, and with few people


def exact(minimal_sheets, higher=1):
    """Ten people of different level, each of whom rates the prompted condition higher by the same."""
    levels = [1, 2, 3, 4, 1, 2, 3, 4, 2, 3]
    prompted = [level + higher for level in levels]
    return rated_by(minimal_sheets, {"prompted": prompted, "plain": levels})


@pytest.mark.parametrize("higher", [0, 1])
def test_without_noise_a_difference_has_no_error_and_no_test(minimal_sheets, higher):
    study = exact(minimal_sheets, higher)
    found = conditions.mixed_contrasts(study, bootstrap_of(study))
    difference = found.differences.iloc[0]
    assert difference["estimate"] == pytest.approx(higher, abs=1e-9)
    assert np.isnan(difference["low"])
    naming.check(difference["reason"], "noise")
    assert found.overall["estimate"].isna().all()
    best = conditions.prompted_minus_best_other(study, bootstrap_of(study))
    assert np.isnan(best["estimate"])
    naming.check(best["reason"], "noise")


def test_one_person_who_came_twice_is_no_measure_of_noise(minimal_sheets):
    """The only difference within a person would be the difference of conditions, with hardly any error."""
    levels = {"prompted": [2, 3, 4, 5, 3, 4], "plain": [1, 2, 4, 3, 2, 2]}
    study = rated_by(minimal_sheets, levels)
    once = [f"P{number}" for number in range(12)]
    twice = [*once[:11], "P0"]
    for people, words in ((once, ""), (twice, "participants with several")):
        sheets = study.conversations.assign(participant=people)
        who = dict(zip(sheets["conversation"], people, strict=True))
        turns = study.turns.assign(participant=study.turns["conversation"].map(who))
        changed = replace(study, conversations=sheets, turns=turns)
        row = conditions.mixed_contrasts(changed, bootstrap_of(changed)).differences.iloc[0]
        assert row["reason"].startswith(words)
        assert np.isnan(row["estimate"]) == bool(words)
        of_people = variance_shares(changed, bootstrap_of(changed)).loc["participant"]
        assert np.isnan(of_people["estimate"])
        naming.check(of_people["reason"], words or "no participant has two")


def with_few(minimal_sheets, prompted, plain):
    """Each person in one condition; levels that vary, so that only the number of people stands against an interval."""
    generator = np.random.default_rng(prompted + 100 * plain)
    people = [f"P{number}" for number in range(prompted + plain)]
    names = ["prompted"] * prompted + ["plain"] * plain
    ratings = {}
    for name in RATING_NAMES:
        ratings[name] = []
        for _ in range(2 * len(people)):
            ratings[name] += [None, LEVELS[generator.integers(0, 5)]]
    sheets = minimal_sheets(
        conversations=len(people),
        participants=None,
        tasks={"PID": people, "Model": names},
        messages=ratings,
    )
    return replace(parse_sheets(sheets), prompted_condition="prompted")


def intervals_of_contrasts(study):
    """Contrast -> whether it has an interval or a test."""
    bootstrap = bootstrap_of(study)
    tested = conditions.dimension_by_condition(study, bootstrap)
    rows = {
        "odds ratio": conditions.odds_ratios(study, bootstrap),
        "difference of means": conditions.condition_differences(study, bootstrap),
        "Cohen's d": conditions.condition_differences(study, bootstrap, standardized=True),
        "fading": conditions.prompt_fading(study, bootstrap).iloc[:1],
    }
    has = {name: bool(np.isfinite(table["low"]).all()) for name, table in rows.items()}
    has["dimension by condition"] = bool(np.isfinite(tested.test.loc["interaction", "estimate"]))
    assert np.isfinite(tested.test.loc["largest deviation", "low"]) == has["dimension by condition"]
    return has


@pytest.mark.parametrize(
    ("prompted", "plain"),
    [(1, 12), (12, 2), (12, 3), (9, 30), (30, 9), (10, 10), (19, 40), (20, 20)],
)
def test_a_contrast_needs_enough_people_in_each_group(minimal_sheets, prompted, plain):
    has = intervals_of_contrasts(with_few(minimal_sheets, prompted, plain))
    smaller = min(prompted, plain)
    fewest_of = {name: n for name, n in FEWEST_IN_A_GROUP.items() if name != "loadings"}
    assert has == {name: smaller >= fewest for name, fewest in fewest_of.items()}


def test_without_an_overall_rating_the_dimension_rated_most_often_is_compared(minimal_sheets):
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets())) == "overall"
    only = dict.fromkeys((*DIMENSION_NAMES, "EmpathyOverall")) | {"Interest": [None, "good"] * 8}
    assert conditions.main_turn_rating(parse_sheets(minimal_sheets(messages=only))) == "Interest"
