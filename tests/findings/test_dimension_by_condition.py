"""Dimension by condition: deviations by hand, what the test sees and what it does not, and where there is nothing."""

import numpy as np
import pandas as pd
import pytest

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import conditions
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets

CONDITIONS = ("first", "second", "third")
SEVEN = list(DIMENSION_NAMES)


def bootstrap_of(study, draws=400):
    return ParticipantBootstrap(study.conversations["participant"], draws, 1)


def study_of(seed, interaction=0.0, level=0.0, people=40):
    """Each participant has one conversation per condition, of one turn; ratings are numbers, not cut into levels.

    ``interaction``: added to Relational in the first condition; ``level``: to every dimension in it.
    """
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        own = generator.normal(scale=1.0)
        for condition in CONDITIONS:
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
    for condition in CONDITIONS:
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


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tasks": {"Model": ["only"] * 4}}, "there is one condition only"),
        ({"tasks": {"Model": [None] * 4}}, "no conversation has a condition"),
        ({}, "fewer than two conditions have conversations in which every dimension was rated"),
        ({"messages": dict.fromkeys(SEVEN[1:], None)}, "fewer than two dimensions were rated in this data set"),
    ],
)
def test_where_there_is_nothing_to_compare_it_says_why(minimal_sheets, changes, reason):
    study = parse_sheets(minimal_sheets(**changes))
    found = conditions.dimension_by_condition(study, bootstrap_of(study, 20))
    assert found.test["estimate"].isna().all()
    assert found.test["reason"].str.startswith(reason).all()
    assert found.deviations.empty
    assert found.where["estimate"] is None
    assert found.where["reason"].startswith(reason)


def test_without_differences_between_dimensions_there_is_no_test():
    study = study_of(3)
    for name in SEVEN[1:]:
        study.turns[name] = study.turns["Affective"]
    found = conditions.dimension_by_condition(study, bootstrap_of(study))
    assert found.test.loc["interaction", "reason"] == "no test: a deviation is the same in every resample"
