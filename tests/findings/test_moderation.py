"""Characteristics by contexts: against least squares, without an effect, with a planted one, and where it fails."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.estimators.multiplicity import holm
from sense7.findings.conditions.moderators import CONTEXTS, LEVEL, moderation
from sense7.findings.measures import conversation_ratings
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def with_effect(study, size, characteristic="TrustInAI"):
    """Add to every rating in the prompted condition: size per standard deviation of a characteristic."""
    people = study.participants.set_index("participant")[characteristic]
    z = (people - people.mean()) / people.std()
    prompted = study.turns["condition"] == study.prompted_condition
    added = size * study.turns["participant"].map(z).where(prompted, 0)
    turns = study.turns.copy()
    turns[list(DIMENSION_NAMES)] = turns[list(DIMENSION_NAMES)].add(added, axis=0)
    return replace(study, turns=turns)


def test_with_one_column_on_both_sides_it_is_a_squared_correlation(study):
    """Scores by hand: importance minus the participant's mean, times what a regression leaves."""
    found = moderation(study, bootstrap_of(study)).tests
    frame = conversation_ratings(study).join(study.conversations.set_index("conversation")["importance"])
    frame = frame.dropna(subset=["ground_truth", "importance"])
    frame = frame[frame.groupby("participant")["importance"].transform("nunique") > 1]
    people = pd.get_dummies(frame["participant"], dtype=float).to_numpy()
    h, y = (
        frame[name].to_numpy(float) - people @ np.linalg.lstsq(people, frame[name].to_numpy(float), rcond=None)[0]
        for name in ("importance", "ground_truth")
    )
    left = y - h * (h @ y) / (h @ h)
    scores = pd.Series(h * left).groupby(frame["participant"].to_numpy()).sum()
    x = study.participants.set_index("participant")["Openness"].reindex(scores.index)
    assert found.loc["Openness by importance", "estimate"] == pytest.approx(np.corrcoef(x, scores)[0, 1] ** 2)
    assert found.loc["Openness by importance", "n"] == len(scores)


def test_of_a_condition_it_is_the_explained_share_of_a_regression(study):
    """With one number and several conditions: R squared of the number on the scores."""
    found = moderation(study, bootstrap_of(study)).tests
    frame = conversation_ratings(study).dropna(subset=["ground_truth"])
    frame = frame[frame.groupby("participant")["condition"].transform("nunique") > 1]
    people = pd.get_dummies(frame["participant"], dtype=float).to_numpy()
    columns = np.column_stack([pd.get_dummies(frame["condition"], dtype=float).iloc[:, 1:], frame["ground_truth"]])
    columns = columns - people @ np.linalg.lstsq(people, columns, rcond=None)[0]
    h, y = columns[:, :-1], columns[:, -1]
    left = y - h @ np.linalg.lstsq(h, y, rcond=None)[0]
    scores = pd.DataFrame(h * left[:, None]).groupby(frame["participant"].to_numpy()).sum()
    x = study.participants.set_index("participant")["Extraversion"].reindex(scores.index).to_numpy(float)
    design = np.column_stack([np.ones(len(x)), scores])
    rest = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    expected = 1 - (rest**2).sum() / ((x - x.mean()) ** 2).sum()
    assert found.loc["Extraversion by condition", "estimate"] == pytest.approx(expected)


def test_a_planted_effect_is_found_and_one_in_all_conditions_is_not(study):
    planted = moderation(with_effect(study, 0.3), bootstrap_of(study, 1_999))
    assert planted.shown["p (Holm)"].loc["TrustInAI by condition"] < "0.0500"
    assert planted.summary.loc["significant", "estimate"] >= 1
    people = study.participants.set_index("participant")["TrustInAI"]
    turns = study.turns.copy()
    turns[list(DIMENSION_NAMES)] = turns[list(DIMENSION_NAMES)].add(study.turns["participant"].map(people), axis=0)
    everywhere = moderation(replace(study, turns=turns), bootstrap_of(study))
    as_before = moderation(study, bootstrap_of(study))
    np.testing.assert_allclose(everywhere.tests["estimate"], as_before.tests["estimate"], atol=1e-9)


def test_without_an_effect_p_values_are_uniform(study):
    """Characteristics shuffled over participants: each p value is at most p in a share p of the cases."""
    p = []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(study.participants))
        shuffled = study.participants.iloc[order].reset_index(drop=True)
        shuffled["participant"] = study.participants["participant"].to_numpy()
        found = moderation(replace(study, participants=shuffled), bootstrap_of(study, 199, seed)).shown["p"]
        p += [float(text.replace("< ", "")) for text in found]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.array(p) <= 0.5) == pytest.approx(0.5, abs=0.08)


def test_holm_is_over_all_tests_and_the_summary_counts(study):
    found = moderation(study, bootstrap_of(study))
    p, adjusted = (found.shown[name].astype(float).to_numpy() for name in ("p", "p (Holm)"))
    np.testing.assert_allclose(adjusted, holm(p), atol=6e-3)  # p is shown to four places, and multiplied
    assert found.summary.loc["tested", "estimate"] == len(found.tests) == len(CONTEXTS) * 13
    assert found.summary.loc["significant", "estimate"] == (adjusted <= LEVEL).sum()
    assert found.summary.loc["smallest p", "estimate"] == pytest.approx(adjusted.min(), abs=1e-3)
    assert found.summary["method"].str.endswith(f"Holm over {len(p)} tests").all()


def test_the_same_seed_gives_the_same_p_values(study):
    first, second = (moderation(study, bootstrap_of(study, 200, 5)).shown for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_without_a_sheet_of_participants_it_says_so(study):
    found = moderation(replace(study, participants=None), bootstrap_of(study))
    assert found.tests.empty
    assert set(found.summary["reason"]) == {"the workbook has no participants' sheet"}


def test_a_context_that_does_not_vary_within_people_is_left_out(study):
    people = study.conversations["participant"].map(
        dict(zip(study.participants["participant"], [*"abcd"] * len(study.participants), strict=False))
    )
    conversations = study.conversations.assign(condition=people, topic=None, importance=3.0)
    found = moderation(replace(study, conversations=conversations), bootstrap_of(study))
    assert found.left_out["reason"].to_dict() == {
        "condition": "0 participants had conversations that differ in condition: too few",
        "topic": "topic was not given in this data set",
        "importance": "importance is the same in every conversation",
    }
    assert all(name.endswith("by desired empathy") for name in found.tests.index)


def test_a_test_with_too_few_answers_says_why_it_has_no_value(study):
    """Of 22 participants 19 gave their age: enough answers to be examined, too few for a test."""
    some = study.subset(participants=study.participants["participant"].head(22))
    some = replace(some, participants=some.participants.assign(Age=some.participants["Age"].iloc[3:]))
    found = moderation(some, bootstrap_of(some, 20))
    row = found.tests.loc["Age by condition"]
    assert np.isnan(row["estimate"])
    assert row["n"] == 19
    assert row["reason"] == "19 participants answered: too few, or all alike"
    assert found.summary.loc["tested", "estimate"] == (found.tests["reason"] == "").sum() > 0


def test_a_small_study_gives_reasons(minimal_sheets):
    study = parse_sheets(minimal_sheets())
    found = moderation(study, bootstrap_of(study, 20))
    assert found.summary["estimate"].isna().all()
    assert (found.summary["reason"] != "").all()
