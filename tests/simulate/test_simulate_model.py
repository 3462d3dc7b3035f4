"""The plants are there: population values by simple code, beside what was put in."""

import numpy as np
import pandas as pd
import pytest

from sense7.simulate import NOT_PUT, Parameters, draw
from sense7.simulate.implied import implied_values, statistics_of
from sense7.simulate.implied.arrays import ground_truth
from sense7.taxonomy import DIMENSION_NAMES

# Far from floor and ceiling, ratings are the latent up to rounding, so that latent effects
# are rated effects.
CENTRED = Parameters().replace(
    quality_mean=3.0,
    condition_effects=(0.3, 0.0, 0.0, -0.3),
    condition_slopes=(0.0,) * 4,
    condition_desired_slopes=(0.0,) * 4,
    topic_effects=(0.0,) * 8,
    importance_effect=0.0,
    desired_effect=0.0,
    participant_sd=0.3,
    characteristic_effects=(0.0,) * 8,
    dimension_intercepts=(0.0,) * 7,
    failure_probability=0.0,
)


def frame_of(study):
    ratings = pd.DataFrame(study.ratings[:, :7], columns=list(DIMENSION_NAMES)).where(study.ratings[:, :7] > 0)
    turns = pd.DataFrame({"conversation": study.conversation, "mean": ratings.mean(axis=1)})
    frame = pd.DataFrame({"participant": study.participant, "condition": study.condition})
    frame["truth"] = turns.groupby("conversation")["mean"].mean()
    return frame


@pytest.fixture(scope="module")
def large():
    return draw(Parameters(), np.random.default_rng(5), 30)


def test_states_and_shapes(default):
    study = default.study
    assert set(np.unique(study.ratings)) == {NOT_PUT, 0, 1, 2, 3, 4, 5}
    blank = study.ratings == NOT_PUT
    assert (blank.all(axis=1) == blank.any(axis=1)).all(), "a turn is put to rating as a whole"
    assert study.turns.min() >= 4
    assert study.turns.max() <= 20
    assert np.bincount(study.conversation).tolist() == study.turns.tolist()
    assert not study.failure[study.turn == 0].any()
    counts = np.bincount(study.participant)
    assert len(counts) == 109
    assert counts.sum() == 672
    assert counts.min() >= 1
    assert counts.max() > 2 * counts.min()
    assert np.isnan(ground_truth(study)).sum() == 2
    for name, low, high in (("importance", 1, 5), ("desired", 1, 3), ("post", 1, 5), ("experience", 1, 5)):
        assert set(np.unique(getattr(study, name))) == set(range(low, high + 1)), name


def test_conditions_are_balanced_within_participants(large):
    counts = np.zeros((large.participant.max() + 1, 4), dtype=int)
    np.add.at(counts, (large.participant, large.condition), 1)
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


def test_between_design_gives_each_participant_one_condition():
    study = draw(Parameters(design="between"), np.random.default_rng(1))
    groups = pd.Series(study.condition).groupby(study.participant)
    assert (groups.max() == groups.min()).all()
    people = groups.first()
    assert people.value_counts().max() - people.value_counts().min() <= 1


def test_condition_differences_are_those_put_in():
    study = draw(CENTRED, np.random.default_rng(2), 30)
    means = frame_of(study).groupby("condition")["truth"].mean()
    # 20,160 conversations with sd of about 0.6: standard error of a difference about 0.01.
    assert means[0] - means[1] == pytest.approx(0.3, abs=0.035)
    assert means[0] - means[3] == pytest.approx(0.6, abs=0.035)
    assert means[1] - means[2] == pytest.approx(0.0, abs=0.035)


@pytest.mark.long
def test_variance_parts_are_those_put_in():
    # The ends of the scale take some 4% away; four draws have standard errors of about 0.0017.
    values = [statistics_of(draw(CENTRED, np.random.default_rng(seed), 20)) for seed in range(4)]
    for key, sd in (("variance_participant", 0.3), ("variance_participant_condition", 0.2)):
        assert np.mean([value[key] for value in values]) == pytest.approx(0.96 * sd**2, abs=0.008), key


def test_tuned_values_are_near_the_published_ones():
    published = {
        "alpha_turn": (0.961, 0.001),
        "alpha_post": (0.94, 0.002),
        "applicability_Relational": (0.381, 0.006),
        "very_poor_of_rated_Relational": (0.022, 0.001),
        "poor_turn_d": (1.142, 0.03),
        "kappa_linear_Affective": (0.703, 0.004),
        "kappa_linear_Relational": (0.541, 0.004),
    }
    values = implied_values(Parameters())
    for key, (value, allowed) in published.items():
        assert values[key][0] == pytest.approx(value, abs=allowed), key
    for family, best in (("applicability_", min), ("kappa_linear_", min), ("very_poor_of_rated_", max)):
        assert best(DIMENSION_NAMES, key=lambda name, of=family: values[of + name][0]) == "Relational"


def test_a_failure_of_continuity_drops_and_lingers(large):
    overall = large.latent[:, 7]
    before = np.append(False, large.failure[:-1]) & (large.turn > 0) & ~large.failure
    usual = overall[large.carry < 0.02].mean()
    assert overall[large.failure].mean() < usual - 0.6
    assert usual - 0.7 < overall[before].mean() < usual - 0.2
    drop = large.quality[large.carry < 0.02].mean(axis=0) - large.quality[large.failure].mean(axis=0)
    assert DIMENSION_NAMES[int(drop.argmax())] == "Relational"
    assert DIMENSION_NAMES[int(np.argsort(drop)[-2])] == "Contextual"


def test_unmet_expectation_lowers_post_task_ratings():
    with_drop = draw(Parameters(expectation_drop=1.0), np.random.default_rng(4), 10)
    without = draw(Parameters(expectation_drop=0.0), np.random.default_rng(4), 10)
    assert (with_drop.unmet == without.unmet).all()
    assert 0.02 < without.unmet.mean() < 0.2
    loss = without.post.mean(axis=1) - with_drop.post.mean(axis=1)
    assert loss[~without.unmet].max() == 0
    assert 0.6 < loss[without.unmet].mean() < 1.0


def test_characteristics_with_and_without_effect(large):
    means = frame_of(large).groupby("participant")["truth"].mean().dropna()
    # 3,270 participants: standard error of a null correlation 0.0175.
    correlations = [np.corrcoef(large.scores[means.index, k], means)[0, 1] for k in range(8)]
    assert correlations[0] > 0.25
    assert correlations[1] > 0.15
    assert np.abs(correlations[2:]).max() < 0.07


@pytest.mark.parametrize(
    "changes",
    [
        {"participants": 1, "conversations": 1, "unrated_conversations": 0},
        {"participants": 5, "conversations": 9, "unrated_turn_rate": 1},
        {"participants": 5, "conversations": 9, "failure_probability": 1, "overall_applicability": 0},
        {"participants": 5, "conversations": 9, "thresholds": (-10, -9, -8, -7)},
        {"participants": 5, "conversations": 9, "turns_minimum": 1, "turns_maximum": 1, "turns_mean": 1},
        {"participants": 5, "conversations": 9, "characteristics": (), "characteristic_effects": ()},
        {"participants": 5, "conversations": 9, "design": "between"},
    ],
)
def test_degenerate_studies_have_a_truth_without_warnings(changes):
    values = implied_values(Parameters().replace(**changes), batches=2, scale=2)
    assert "alpha_turn" in values
