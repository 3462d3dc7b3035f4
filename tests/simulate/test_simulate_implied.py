"""Plain code and the library's statistics give the same on one simulated study, key by key.

So neither hides an error of the other: an implied value is what the recorded statistic of the same key estimates.
"""

import itertools

import numpy as np
import pytest

from helpers.studies import simulated_study
from sense7 import ParticipantBootstrap
from sense7.findings import (
    agreement,
    conditions,
    context,
    disrupted,
    ground_truth,
    individualized,
    poor_turn,
    reliability,
)
from sense7.findings import measures as measures_module
from sense7.findings import ratings as library_ratings
from sense7.simulate import Parameters, draw
from sense7.simulate.implied import arrays, conversations, implied_values, ratings, statistics_of
from sense7.simulate.truth import described, parameters_behind

PARAMETERS = Parameters()
SCALE = 2
EXACT = 1e-8


@pytest.fixture(scope="module")
def numbers():
    return draw(PARAMETERS, np.random.default_rng(17), SCALE)


@pytest.fixture(scope="module")
def plain(numbers):
    return statistics_of(numbers)


@pytest.fixture(scope="module")
def study(numbers):
    return simulated_study(numbers)


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 2, 1)


# What the notebooks record, by family: key -> estimate ---------------------------------------------


def recorded(*tables):
    """Estimates of the rows that have a key, by that key."""
    rows = (row for table in tables for _, row in table.iterrows() if row["key"])
    return {row["key"]: float(row["estimate"]) for row in rows}


def of_ratings(study, bootstrap):
    tables = [
        library_ratings.applicability(study, bootstrap),
        library_ratings.mean_levels(study, bootstrap),
        library_ratings.applicability_of_all_turns(study, bootstrap),
        library_ratings.applicability_of_first_turn(study, bootstrap, "Relational"),
        library_ratings.shares_very_poor(study, bootstrap),
        library_ratings.relational_very_poor_of_all(study, bootstrap),
        library_ratings.nearest_rivals(study, bootstrap),
    ]
    return recorded(*tables, *(library_ratings.under_claims(table) for table in tables))


def of_reliability(study, bootstrap):
    turns, after = measures_module.turn_ratings(study), measures_module.post_task_ratings(study)
    return recorded(
        reliability.alpha_table(turns, after, bootstrap),
        reliability.alpha_if_dropped(turns, bootstrap, recorded_as="turn"),
        reliability.alpha_if_dropped(after, bootstrap, recorded_as="post"),
    )


def of_agreement(study, bootstrap):
    linear = agreement.agreement_with_overall(study, bootstrap, weights="linear")
    quadratic = agreement.agreement_with_overall(study, bootstrap, weights="quadratic")
    differences = [agreement.kappa_differences(study, bootstrap, weights=way) for way in ("linear", "quadratic")]
    return recorded(linear, agreement.under_claims(linear), quadratic, *differences)


def of_structure(study, bootstrap):
    turns = measures_module.turn_ratings(study)
    return recorded(
        reliability.correlations(turns, bootstrap, recorded_as="turn"),
        reliability.eigenvalues(turns, bootstrap, recorded_as="turn"),
        reliability.item_rest(turns, bootstrap, recorded_as="turn"),
        reliability.average_correlation_table(turns, bootstrap),
    )


def of_one_factor(study, bootstrap):
    return recorded(*reliability.omega_and_loadings(measures_module.turn_ratings(study), bootstrap))


def of_nesting(study, bootstrap):
    nested = measures_module.nested_turn_ratings(study)
    return recorded(reliability.by_level(nested, bootstrap))


def of_importance(study, bootstrap):
    data = *agreement.overall_and_ratings(study), bootstrap
    of = study.turns_put_to_rating["conversation"]
    within = agreement.parts_and_shares(*data, conversations=of, recorded_as="relative_importance_within")
    return recorded(*agreement.parts_and_shares(*data, recorded_as="relative_importance"), *within)


def of_poor_turns(study, bootstrap):
    tables = poor_turn.poor_turn_measures(study, bootstrap).values()
    return recorded(
        *(table[~table.index.str.contains("mixed")] for table in tables), poor_turn.poor_turn_ladder(study, bootstrap)
    )


def of_poor_turns_mixed(study, bootstrap):
    table = poor_turn.poor_turn_effects(study, bootstrap)
    return recorded(table[table.index.str.contains("mixed")])


def of_events(study, bootstrap):
    drop = disrupted.lasting_drop(study, bootstrap)
    return recorded(drop.loc[["as rated"]], disrupted.lag_1_correlation(study, bootstrap))


def of_failures(study, bootstrap):
    return recorded(disrupted.continuity_contrasts(study, bootstrap))


def of_expectations(study, bootstrap):
    surface = disrupted.response_surface(study, bootstrap)
    return recorded(disrupted.unmet_expectations(study, bootstrap), surface)


def of_conditions(study, bootstrap):
    return recorded(
        *(conditions.condition_means(study, bootstrap, rating=rating) for rating in ("ground_truth", "overall")),
        conditions.condition_differences(study, bootstrap, standardized=True),
        conditions.prompted_minus_mean_of_others(study, bootstrap),
    )


def of_odds(study, bootstrap):
    return recorded(conditions.odds_ratios(study, bootstrap))


def of_persons(study, bootstrap):
    tables = (
        individualized.participant_icc(study, bootstrap),
        individualized.same_condition_differences(study, bootstrap),
        individualized.relations(study, bootstrap).estimates.loc[["TrustInAI", "EmpathicConcern"]],
        individualized.explained_together(study, bootstrap),
    )
    return {key: value for key, value in recorded(*tables).items() if "cross_validated" not in key}


def of_context(study, bootstrap):
    return recorded(
        context.own_topic_means(study, bootstrap),
        context.context_slopes(study, bootstrap),
        context.context_shares(study, bootstrap),
        context.expected_experienced_gap(study, bootstrap),
        context.gap_by_topic(study, bootstrap),
    )


def of_course(study, bootstrap):
    return recorded(
        conditions.prompt_fading(study, bootstrap),
        poor_turn.empathy_and_experience(study, bootstrap),
    )


def of_ground_truth(study, bootstrap):
    return recorded(ground_truth.label_shares(study, bootstrap), ground_truth.changed_labels(study, bootstrap))


SAME_FORMULA = (
    *(
        of_ratings,
        of_reliability,
        of_agreement,
        of_structure,
        of_importance,
        of_nesting,
        of_poor_turns,
        of_events,
        of_failures,
    ),
    *(of_expectations, of_conditions, of_persons, of_context, of_course, of_ground_truth),
)


@pytest.mark.parametrize("family", SAME_FORMULA, ids=lambda family: family.__name__)
def test_the_same_statistic_by_two_codes_is_the_same_number(family, study, bootstrap, plain):
    for key, value in family(study, bootstrap).items():
        assert plain[key] == pytest.approx(value, rel=EXACT, abs=EXACT, nan_ok=True), key


@pytest.mark.parametrize(
    ("family", "allowed"),
    [(of_one_factor, 1e-5), (of_odds, 1e-5), (of_poor_turns_mixed, 1e-4)],
    ids=["one factor", "odds ratios", "mixed model"],
)
def test_what_is_found_by_iteration_agrees_up_to_where_it_stops(family, allowed, study, bootstrap, plain):
    for key, value in family(study, bootstrap).items():
        assert plain[key] == pytest.approx(value, rel=allowed, abs=allowed), key


# Parts of the plain code by hand and by brute force -----------------------------------------------------


def test_distances_are_those_of_all_pairs():
    generator = np.random.default_rng(3)
    values, groups = generator.integers(1, 6, 40).astype(float), generator.integers(0, 4, 40)
    pairs = [(i, j) for i, j in itertools.combinations(range(40), 2) if groups[i] == groups[j]]
    wanted = sum(abs(values[i] - values[j]) for i, j in pairs), len(pairs)
    assert arrays.distances(values, groups) == pytest.approx(wanted)


def test_shapley_shares_are_means_over_all_orders():
    generator = np.random.default_rng(4)
    x = generator.standard_normal((60, 3)) @ generator.standard_normal((3, 3))
    rows = np.column_stack([x, x @ [0.5, 0.2, 0.0] + generator.standard_normal(60)])

    def explained(places):
        if not places:
            return 0.0
        design = np.column_stack([np.ones(60), rows[:, places]])
        left = rows[:, 3] - design @ np.linalg.lstsq(design, rows[:, 3], rcond=None)[0]
        return 1 - left.var() / rows[:, 3].var()

    wanted = np.zeros(3)
    for order in itertools.permutations(range(3)):
        for place, item in enumerate(order):
            wanted[item] += (explained(list(order[: place + 1])) - explained(list(order[:place]))) / 6
    assert ratings.shapley_shares(rows) == pytest.approx(wanted)


def test_one_factor_recovers_its_loadings_and_says_when_there_are_none():
    loadings = np.array([0.9, 0.8, 0.7, 0.6])
    matrix = np.outer(loadings, loadings)
    np.fill_diagonal(matrix, 1)
    assert ratings.one_factor(matrix) == pytest.approx(loadings, abs=1e-6)
    assert np.isnan(ratings.one_factor(np.ones((3, 3)))).all()


def test_odds_ratio_of_two_levels_is_that_of_the_table():
    counts = np.array([[30.0, 10.0], [15.0, 45.0]])
    assert np.exp(conversations.cumulative_logit(counts)) == pytest.approx([1, (45 / 15) / (10 / 30)])
    assert np.isnan(conversations.cumulative_logit(np.array([[1.0, 0.0], [2.0, 0.0]]))).all()


def test_regression_without_an_answer_has_none():
    x = np.column_stack([np.arange(9.0), 2 * np.arange(9.0)])
    assert np.isnan(arrays.regression(x, np.ones(9))[0]).all()
    assert np.isnan(arrays.regression(x[:2], np.ones(2))[0]).all()
    coefficients, left = arrays.regression(arrays.with_ones(np.arange(9.0)), 1 + 2 * np.arange(9.0))
    assert coefficients == pytest.approx([1, 2])
    assert left == pytest.approx(0, abs=1e-9)


def test_labels_round_halves_to_even_whatever_a_sum_leaves():
    assert conversations.labels(np.array([np.nan, 2.5, 3.5 + 1e-15, 4.5, 0.7])).tolist() == [0, 2, 4, 4, 1]


# What is said of the values -----------------------------------------------------------------------------


def test_every_value_is_described_and_rests_on_something(plain, planted):
    parameters = {key for key, entry in planted.items() if entry["kind"] == "parameter"}
    for key in plain:
        unit, meaning, _ = described(key, PARAMETERS.conditions)
        assert unit
        assert "{" not in meaning
        assert planted[key]["rests_on"], key
        assert set(planted[key]["rests_on"]) <= parameters, key
    with pytest.raises(KeyError):
        described("nothing_of_this_name")


def test_an_effect_that_is_not_planted_is_nothing_to_rest_on_unless_none_is():
    planted = {"slope_a": 0.0, "slope_b": 0.3, "level": 1.0}
    assert parameters_behind(("slope_*", "level"), planted) == ["slope_b", "level"]
    assert parameters_behind(("slope_*",), planted | {"slope_b": 0.0}) == ["slope_a", "slope_b"]


def test_without_effects_what_measures_an_effect_is_zero():
    null = PARAMETERS.without_effects()
    values = implied_values(null, batches=6, scale=8)
    for key in (
        *("lasting_drop", "continuity_contrast_next_turn", "expectation_loss", "prompt_fading"),
        *("context_share", "prompted_difference_ground_truth", "desired_slope_within", "importance_slope_within"),
        "response_surface_interaction",
    ):
        value, error = values[key]
        assert abs(value) < 5 * error, key
