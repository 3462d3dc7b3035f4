"""Plain code and the library's statistics give the same on one simulated study, key by key.

So neither hides an error of the other: a true value is what the recorded statistic of the same key estimates.
"""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from helpers.findings import numbers, rows_of
from helpers.studies import bootstrap_of
from sense7.findings import agreement, conditions, measures, reliability
from sense7.simulate import Parameters, simulate
from sense7.simulate.true_values import arrays, conversations, ratings
from sense7.simulate.true_values.population import (
    load_functions,
    population_values,
    statistics_of,
)
from sense7.simulate.true_values.table import FAMILIES, TWINS, described, family_and_names
from sense7.simulate.truth import parameters_behind
from sense7.workbook import parse_sheets

PARAMETERS = Parameters(participants=218, conversations=1344)


@pytest.fixture(scope="module")
def simulation():
    return simulate(PARAMETERS, 1, None, texts=False)


@pytest.fixture(scope="module")
def plain(simulation):
    return statistics_of(simulation.study)


@pytest.fixture(scope="module")
def study(simulation):
    study = parse_sheets(simulation.sheets)
    people = study.participants[["participant", *PARAMETERS.characteristics, "row"]]
    return replace(study, participants=people, prompted_condition="model-a-empathy-prompt")


@pytest.fixture(scope="module")
def bootstrap(study):
    return bootstrap_of(study, 2)


# What the notebooks record


APPROXIMATED = re.compile(
    "mixed model(:| with conditions)|expected over all orders|turns as they came"
)
"""Methods for which the plain code has a quicker one: variances by their moments, and orders drawn at random."""


def recorded(study, bootstrap):
    """Rows of every finding, and of findings in the other ways in which notebooks call them."""
    after, of = measures.post_task_ratings(study), study.turns_put_to_rating["conversation"]
    importance = *agreement.overall_and_ratings(study), bootstrap
    several = [
        reliability.alpha_if_dropped(after, bootstrap, recorded_as="post"),
        agreement.agreement_with_overall(study, bootstrap, weights="quadratic"),
        agreement.kappa_differences(study, bootstrap, weights="quadratic"),
        agreement.parts_and_shares(*importance, recorded_as="relative_importance"),
        agreement.parts_and_shares(
            *importance, conversations=of, recorded_as="relative_importance_within"
        ),
        conditions.condition_means(study, bootstrap, rating="overall"),
        conditions.condition_differences(study, bootstrap, standardized=True),
    ]
    return [*numbers(study, 2, bootstrap=bootstrap).values(), *rows_of(several).values()]


def test_the_same_statistic_by_two_codes_is_the_same_number(study, bootstrap, plain):
    """What is found by iteration agrees up to where it stops."""
    compared = set()
    for row in recorded(study, bootstrap):
        key = row.get("key", "")
        if key in plain and not APPROXIMATED.search(row["method"]):
            allowed = 1e-4 if re.search("mixed model|factor|cumulative", row["method"]) else 1e-8
            assert plain[key] == pytest.approx(
                row["estimate"], rel=allowed, abs=allowed, nan_ok=True
            ), key
            compared.add(key)
    assert len(compared) > 230


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
            wanted[item] += (
                explained(list(order[: place + 1])) - explained(list(order[:place]))
            ) / 6
    assert ratings.shapley_shares(rows) == pytest.approx(wanted)


def test_one_factor_recovers_its_loadings_and_says_when_there_are_none():
    loadings = np.array([0.9, 0.8, 0.7, 0.6])
    matrix = np.outer(loadings, loadings)
    np.fill_diagonal(matrix, 1)
    assert ratings.one_factor(matrix) == pytest.approx(loadings, abs=1e-6)
    assert np.isnan(ratings.one_factor(np.ones((3, 3)))).all()


def test_odds_ratio_of_two_levels_is_that_of_the_table():
    counts = np.array([[30.0, 10.0], [15.0, 45.0]])
    assert np.exp(conversations.cumulative_logit(counts)) == pytest.approx(
        [1, (45 / 15) / (10 / 30)]
    )
    assert np.isnan(conversations.cumulative_logit(np.array([[1.0, 0.0], [2.0, 0.0]]))).all()


def test_regression_without_an_answer_has_none():
    x = np.column_stack([np.arange(9.0), 2 * np.arange(9.0)])
    assert np.isnan(arrays.regression(x, np.ones(9))[0]).all()
    assert np.isnan(arrays.regression(x[:2], np.ones(2))[0]).all()
    coefficients, left = arrays.regression(arrays.with_ones(np.arange(9.0)), 1 + 2 * np.arange(9.0))
    assert coefficients == pytest.approx([1, 2])
    assert left == pytest.approx(0, abs=1e-9)


def test_labels_round_halves_to_even_whatever_a_sum_leaves():
    assert conversations.labels(np.array([np.nan, 2.5, 3.5 + 1e-15, 4.5, 0.7])).tolist() == [
        0,
        2,
        4,
        4,
        1,
    ]


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


def test_the_table_names_the_function_that_computes_each_value(simulation, plain):
    tables = arrays.Tables(simulation.study)
    computed = set()
    for function in (*load_functions("all"), *load_functions("half")):
        path = f"{function.__module__}.{function.__name__}"
        with np.errstate(invalid="ignore", divide="ignore"):
            values = function(tables)
        for key in values:
            assert path == f"sense7.simulate.true_values.{family_and_names(key)[0].function}", key
            computed.add(key)
    assert computed | TWINS.keys() == plain.keys()
    without_value = {
        family.key for family in FAMILIES.values() if family.batches in {"all", "half"}
    }
    without_value -= {family_and_names(key)[0].key for key in plain}
    assert not without_value


def test_an_effect_that_is_not_planted_is_nothing_to_rest_on_unless_none_is():
    planted = {"slope_a": 0.0, "slope_b": 0.3, "level": 1.0}
    assert parameters_behind(("slope_*", "level"), planted) == ["slope_b", "level"]
    assert parameters_behind(("slope_*",), planted | {"slope_b": 0.0}) == ["slope_a", "slope_b"]


def test_without_effects_what_measures_an_effect_is_zero():
    null = PARAMETERS.without_effects()
    values = population_values(null, batches=6, scale=8)
    for key in (
        *("lasting_drop", "continuity_contrast_next_turn", "expectation_loss", "prompt_fading"),
        *(
            "context_share",
            "prompted_difference_ground_truth",
            "desired_slope_within",
            "importance_slope_within",
        ),
        "response_surface_interaction",
    ):
        value, error = values[key]
        assert abs(value) < 5 * error, key
