"""Plain code and the library's statistics give the same on one simulated study, key by key.

So neither hides an error of the other: an implied value is what the recorded statistic of the same key estimates.
"""

import importlib.util
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7 import ParticipantBootstrap
from sense7.estimators import clustered
from sense7.findings import agreement, ground_truth, naming, relative_importance
from sense7.findings import measures as measures_module
from sense7.findings import ratings as library_ratings
from sense7.findings.conditions import cumulative_logit_model, mixed_model
from sense7.findings.conditions import intervals as conditions_intervals
from sense7.findings.conditions import means as conditions_means
from sense7.findings.conditions import pairs as pairs_module
from sense7.findings.conditions import profile as profile_module
from sense7.findings.context import gap
from sense7.findings.context import means as context_means
from sense7.findings.context import shares as shares_module
from sense7.findings.context import slopes as slopes_module
from sense7.findings.disrupted import expectations, failures, recovery
from sense7.findings.individualized import characteristics, same_person, variance_components
from sense7.findings.poor_turn import definitions, ladder
from sense7.findings.poor_turn import intervals as poor_turn_intervals
from sense7.findings.reliability import alphas, levels
from sense7.findings.structure import items, number_of_factors, one_factor
from sense7.findings.whole import outcomes, time_course
from sense7.judge.scoring import noise_ceiling
from sense7.simulate import Parameters, draw
from sense7.simulate import truth as truth_file
from sense7.simulate.implied import TWINS, arrays, conversations, implied_values, ratings, statistics_of
from sense7.simulate.implied.meanings import described, parameters_behind
from sense7.taxonomy import DIMENSION_NAMES

ROOT = Path(__file__).resolve().parents[2]
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
    return study_of(numbers)


def study_of(numbers):
    """A Study of simulated numbers, with the scores of its participants."""
    spec = importlib.util.spec_from_file_location("sense7_coverage_run", ROOT / "evidence" / "coverage" / "run.py")
    coverage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(coverage)
    study = coverage.study_of(numbers)
    names = study.conversations["participant"].unique()
    scores = pd.DataFrame(numbers.scores, columns=list(PARAMETERS.characteristics))
    people = pd.concat([pd.DataFrame({"participant": names, "row": range(len(names))}), scores], axis=1)
    columns = pd.DataFrame(columns=["name", "lowest", "highest"])
    return replace(study, participants=people, prompted_condition="model-a-empathy-prompt", columns=columns)


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 2, 1)


# What the notebooks record, by family: key -> estimate ---------------------------------------------


def keyed(table, keys):
    """Estimates of a table under the keys that a notebook gives its rows."""
    if isinstance(keys, str):
        keys = {name: keys.format(name) for name in table.index}
    return {key: float(table.loc[name, "estimate"]) for name, key in keys.items()}


def of_ratings(study, bootstrap):
    applied = library_ratings.applicability(study, bootstrap)
    found = keyed(applied, "applicability_{}") | keyed(applied, {"Relational": "relational_applicability"})
    found |= keyed(library_ratings.mean_levels(study, bootstrap), "mean_{}")
    found |= keyed(library_ratings.applicability(study, bootstrap, of="all"), "applicability_all_turns_{}")
    first = library_ratings.applicability_of_first_turn(study, bootstrap, "Relational")
    found |= keyed(first, library_ratings.FIRST_TURN_KEYS)
    by_turn = library_ratings.applicability_by_turn(study, bootstrap, ["Relational"])
    found |= keyed(by_turn, "relational_applicability_turn_{}")
    for of in ("rated", "all"):
        shares = library_ratings.level_shares(study, bootstrap, level=1, of=of)
        found |= keyed(shares, f"very_poor_of_{of}_{{}}")
        found |= keyed(shares, {"Relational": f"relational_very_poor{'_of_all' * (of == 'all')}"})
    return found


def of_reliability(study, bootstrap):
    turns, after = measures_module.turn_ratings(study), measures_module.post_task_ratings(study)
    found = {}
    for interval, ending in (("participants", ""), ("percentile", "_percentile"), ("feldt", "_feldt")):
        table = alphas.alpha_table(turns, after, bootstrap, interval=interval)
        found |= keyed(table, {name: key + ending for name, key in alphas.ALPHA_KEYS.items()})
    for which, frame in (("turn", turns), ("post", after)):
        for missing, ending in (("pairwise", ""), ("listwise", "_listwise")):
            table = alphas.alpha_if_dropped(frame, bootstrap, missing=missing)
            found |= keyed(table, f"alpha_{which}{ending}_without_only_{{}}")
    return found


def of_agreement(study, bootstrap):
    linear = agreement.agreement_with_overall(study, bootstrap, weights="linear")
    quadratic = agreement.agreement_with_overall(study, bootstrap, weights="quadratic")
    twins = {"Affective": "kappa_affective", "Relational": "kappa_relational"}
    found = keyed(linear, "kappa_linear_{}") | keyed(linear, twins) | keyed(quadratic, "kappa_quadratic_{}")
    same = agreement.agreement_with_overall(study, bootstrap, weights="linear", turns="complete")
    found |= keyed(same, "kappa_same_turns_{}")
    for weights, start in (("linear", "relational_kappa_minus"), ("quadratic", "relational_kappa_quadratic_minus")):
        differences = agreement.kappa_differences(study, bootstrap, weights=weights)
        found |= keyed(differences.drop(agreement.NEAREST), f"{start}_{{}}")
    return found


def of_structure(study, bootstrap):
    turns, after = measures_module.turn_ratings(study), measures_module.post_task_ratings(study)
    pairs = {pair: f"correlation_turn_{key}" for pair, key in items.PAIR_KEYS.items()}
    found = keyed(items.correlations(turns, bootstrap), pairs)
    for frame, missing, ending in (
        (turns, "pairwise", "turn"),
        (turns, "listwise", "turn_listwise"),
        (after, "pairwise", "post"),
    ):
        found |= keyed(items.item_rest(frame, bootstrap, missing=missing), f"item_rest_{ending}_{{}}")
        keys = {name: f"{key}_{ending}" for name, key in items.CONSISTENCY_KEYS.items()}
        found |= keyed(items.consistency(frame, bootstrap, missing=missing), keys)
    return found | keyed(number_of_factors.eigenvalues(turns, bootstrap), "eigenvalue_turn_{}")


def of_one_factor(study, bootstrap):
    turns, after = measures_module.turn_ratings(study), measures_module.post_task_ratings(study)
    found = keyed(one_factor.omega_table(turns, after, bootstrap), one_factor.OMEGA_KEYS)
    found |= keyed(levels.omegas_within(measures_module.nested_turn_ratings(study), bootstrap), levels.LEVEL_OMEGA_KEYS)
    return found | keyed(one_factor.loadings(turns, bootstrap), "one_factor_loading_turn_{}")


def of_nesting(study, bootstrap):
    nested = measures_module.nested_turn_ratings(study)
    found = keyed(levels.alphas_by_level(nested, bootstrap), levels.LEVEL_ALPHA_KEYS)
    found |= keyed(levels.average_correlations_by_level(nested, bootstrap), levels.CORRELATION_KEYS)
    overall, turns = relative_importance.overall_and_ratings(study)
    talks = study.turns_put_to_rating["conversation"]
    within = relative_importance.relative_importance(overall, turns, bootstrap, conversations=talks)
    found |= keyed(within, relative_importance.keys("relative_importance_within"))
    shares = relative_importance.relative_importance(overall, turns, bootstrap, share=True, conversations=talks)
    found |= keyed(shares, "relative_importance_within_share_{}")
    found |= keyed(relative_importance.coefficients(overall, turns, bootstrap), "overall_coefficient_{}")
    slopes = relative_importance.coefficients(overall, turns, bootstrap, conversations=talks)
    return found | keyed(slopes, "overall_coefficient_within_{}")


def of_importance(study, bootstrap):
    overall, turns = relative_importance.overall_and_ratings(study)
    experience, after = relative_importance.experience_and_ratings(study)
    found = {}
    for prefix, outcome, frame in (
        ("relative_importance", overall, turns),
        ("relative_importance_without_relational", overall, turns.drop(columns="Relational")),
        ("relative_importance_experience", experience, after),
    ):
        names = {*frame, relative_importance.TOTAL}
        keys = {name: key for name, key in relative_importance.keys(prefix).items() if name in names}
        found |= keyed(relative_importance.relative_importance(outcome, frame, bootstrap), keys)
        shares = relative_importance.relative_importance(outcome, frame, bootstrap, share=True)
        found |= keyed(shares, f"{prefix}_share_{{}}")
    return found


def without_mixed(keys, ending=""):
    return {name: key + ending for name, key in keys.items() if "mixed" not in name}


def of_poor_turns(study, bootstrap):
    found = {}
    for outcome, ending in (("empathy", ""), ("experience", "_experience")):
        table = definitions.poor_turn_effects(study, bootstrap, outcome=outcome)
        found |= keyed(table, without_mixed(definitions.KEYS, ending))
    measures = definitions.poor_turn_measures(study, bootstrap)
    found |= keyed(measures["points"], without_mixed(definitions.POINTS_KEYS))
    found |= keyed(measures["spread"], without_mixed(definitions.SPREAD_KEYS))
    found |= keyed(ladder.poor_turn_ladder(study, bootstrap), ladder.LADDER_KEYS)
    found |= keyed(ladder.poor_turn_by_length(study, bootstrap), ladder.LENGTH_KEYS)
    intervals = poor_turn_intervals.poor_turn_intervals(study, bootstrap)
    for kind in intervals:
        if (end := clustered.KINDS[kind]) in ("naive", "clustered"):
            found |= keyed(
                intervals[kind], {row: f"{key}_{end}" for row, key in poor_turn_intervals.POOR_TURN_KEYS.items()}
            )
    return found


def of_poor_turns_mixed(study, bootstrap):
    found = {}
    for outcome, ending in (("empathy", ""), ("experience", "_experience")):
        table = definitions.poor_turn_effects(study, bootstrap, outcome=outcome)
        found |= keyed(table, {name: key + ending for name, key in definitions.KEYS.items() if "mixed" in name})
    measures = definitions.poor_turn_measures(study, bootstrap)
    for measure, keys in (("points", definitions.POINTS_KEYS), ("spread", definitions.SPREAD_KEYS)):
        found |= keyed(measures[measure], {name: key for name, key in keys.items() if "mixed" in name})
    return found


def of_events(study, bootstrap):
    drop = recovery.lasting_drop(study, bootstrap)
    found = keyed(recovery.event_study(study, bootstrap), recovery.STUDY_KEYS)
    return found | keyed(drop, {"as rated": recovery.DROP_KEYS["as rated"]})


def of_failures(study, bootstrap):
    found = {}
    for moment in failures.MOMENTS:
        found |= keyed(failures.failure_losses(study, bootstrap, moment), failures.keys(moment))
    return found | keyed(failures.continuity_contrasts(study, bootstrap), failures.CONTINUITY_KEYS)


def of_expectations(study, bootstrap):
    found = keyed(expectations.unmet_expectations(study, bootstrap), expectations.EXPECTATION_KEYS)
    keys = {name: f"{key}_experience" for name, key in expectations.EXPECTATION_KEYS.items()}
    return found | keyed(expectations.unmet_expectations(study, bootstrap, outcome="experience"), keys)


def of_conditions(study, bootstrap):
    found = {}
    for rating, start in (("ground_truth", "condition_mean"), ("overall", "condition_mean_overall")):
        means = conditions_means.condition_means(study, bootstrap, rating=rating)
        found |= keyed(means, pairs_module.condition_keys(study, start))
    for start, standardised in (("condition_difference", False), ("condition_d", True)):
        differences = conditions_means.condition_differences(study, bootstrap, standardised=standardised)
        found |= keyed(differences, pairs_module.pair_keys(study, start))
    intervals = conditions_intervals.condition_intervals(study, bootstrap)
    for kind, key in clustered.KINDS.items():
        found |= keyed(intervals[kind], pairs_module.pair_keys(study, f"condition_difference_turns_{key}"))
    profile = profile_module.condition_profile(study, bootstrap)
    for condition, table in profile.items():
        found |= keyed(table, profile_module.profile_keys(study, condition))
    prompted = conditions_means.prompted_by_dimension(study, bootstrap).rename(index={"ground truth": "ground_truth"})
    return found | keyed(prompted, "prompted_difference_{}")


def of_odds(study, bootstrap):
    return keyed(cumulative_logit_model.odds_ratios(study, "overall", 0.95), cumulative_logit_model.odds_keys(study))


def of_persons(study, bootstrap):
    found = keyed(
        same_person.participant_icc(study, bootstrap),
        {"as rated": "icc_1", "without conditions' means": "icc_1_without_conditions"},
    )
    alike = same_person.same_condition_differences(study, bootstrap)
    kinds = (f"{kind}{ending}" for ending in ("", "_topic") for kind in ("two_people", "one_person", "excess"))
    found |= keyed(alike, {row: f"apart_{kind}" for row, kind in zip(alike.index, kinds, strict=True)})
    relations = characteristics.relations(study, bootstrap, permutations=0)
    with_effect = {name: key for name, key in relations.keys.items() if name in ("TrustInAI", "EmpathicConcern")}
    found |= keyed(relations.estimates, with_effect)
    keys = {name: key for name, key in characteristics.TOGETHER_KEYS.items() if "predicted" not in name}
    return found | keyed(characteristics.explained_together(study, bootstrap), keys)


def of_variances(study, bootstrap):
    found = {}
    for rating, prefix in (("ground_truth", ""), ("turn_mean", "turn_"), ("overall", "overall_")):
        parts = variance_components.variance_parts(study, bootstrap, rating=rating)
        names = {
            part: f"variance_{prefix}{key}"
            for part, key in variance_components.KEYS.items()
            if part in parts.variances.index
        }
        found |= keyed(parts.variances, names)
    return found


def of_context(study, bootstrap):
    found = {}
    for by, pattern, own in (
        ("topic", "topic_mean_{}", False),
        ("importance", "importance_mean_{}", False),
        ("desired_empathy", "desired_mean_{}", False),
        ("topic", "topic_mean_own_{}", True),
    ):
        table = context_means.group_means(study, bootstrap, by, own=own)
        found |= keyed(table, naming.numbered_keys(table, pattern))
    found |= keyed(slopes_module.context_slopes(study, bootstrap), slopes_module.SLOPE_KEYS)
    found |= keyed(shares_module.context_shares(study, bootstrap), shares_module.SHARE_KEYS)
    for name, column in (("desired", "desired_empathy"), ("importance", "importance")):
        keys = {row: key.format(name) for row, key in slopes_module.PROMPT_KEYS.items()}
        found |= keyed(slopes_module.slopes_with_prompt(study, bootstrap, column), keys)
    by_condition = slopes_module.slopes_by_condition(study, bootstrap)
    found |= keyed(by_condition, naming.numbered_keys(by_condition, "desired_slope_condition_{}"))
    by_topic = gap.gap_by_topic(study, bootstrap)
    found |= keyed(by_topic, naming.numbered_keys(by_topic, "expected_experienced_gap_topic_{}"))
    gaps = keyed(gap.expected_experienced_gap(study, bootstrap), gap.GAP_KEYS)
    del gaps["expected_experienced_gap_ranks"]
    return found | gaps | {"expected_experienced_gap": gaps["expected_experienced_gap_scale"]}


def of_course(study, bootstrap):
    found = {}
    for number, table in enumerate(time_course.levels_by_turn(study, bootstrap).values(), 1):
        found |= keyed(table, {turn: f"level_turn_{turn}_condition_{number}" for turn in table.index})
    slopes = time_course.slopes_per_turn(study, bootstrap)
    found |= keyed(slopes, naming.numbered_keys(slopes, "turn_slope_{}"))
    found |= keyed(time_course.prompt_fading(study, bootstrap), time_course.FADING_KEYS)
    found |= keyed(outcomes.peak_end(study), outcomes.PEAK_END_KEYS)
    found |= keyed(outcomes.variance_inflation(study), "peak_end_inflation_{}")
    return found | keyed(
        outcomes.empathy_and_experience(study, bootstrap), outcomes.EXPERIENCE_KEYS | outcomes.WITHIN_KEYS
    )


def of_ground_truth(study, bootstrap):
    found = keyed(ground_truth.label_shares(study, bootstrap), "ground_truth_label_{}")
    choices = ground_truth.compare_choices(study, bootstrap)
    for what, table in (
        ("correlation", choices.correlations),
        ("changed", choices.changed),
        ("shift", choices.differences),
    ):
        found |= keyed(table, {row: f"ground_truth_{what}_{key}" for row, key in ground_truth.CHOICES.items()})
    return found


def of_ceiling(study, bootstrap):
    shares = noise_ceiling.content_shares(study, bootstrap)
    found = keyed(shares.bounds, {name: f"ceiling_bound_{key}" for name, key in noise_ceiling.BOUNDS.items()})
    names = ("condition", "participant", "participant_condition", "conversation", "turns")
    rows = zip(shares.averaged.index, (f"ceiling_part_{name}" for name in names), strict=True)
    return found | keyed(shares.averaged, dict(rows))


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


# What plain code estimates in another way: the same in the mean over studies -------------------------

STUDIES, STUDIES_SCALE = 10, 3


def of_chance_order(study, bootstrap):
    found = keyed(recovery.lasting_drop(study, bootstrap), recovery.DROP_KEYS)
    found |= keyed(recovery.levels_by_event_time(study, bootstrap)["difference"], recovery.KEYS)
    return found | keyed(recovery.reversed_order(study, bootstrap), recovery.REVERSED_KEYS)


def of_models(study, _):
    contrasts = mixed_model.mixed_contrasts(study, confidence=0.95)
    return keyed(contrasts.differences, pairs_module.pair_keys(study, "condition_model_difference"))


ANOTHER_WAY = (of_variances, of_ceiling, of_chance_order, of_models)


@pytest.mark.long
def test_another_way_to_estimate_the_same_has_the_same_mean_over_studies():
    """Variances by REML and by pairs of rows, order by all permutations and by one: the library on other studies."""
    found = []
    for seed in range(STUDIES):
        study = study_of(draw(PARAMETERS, np.random.default_rng([23, seed]), STUDIES_SCALE))
        bootstrap = ParticipantBootstrap(study.conversations["participant"], 2, 1)
        found.append({key: value for family in ANOTHER_WAY for key, value in family(study, bootstrap).items()})
    found = pd.DataFrame(found)
    implied = pd.DataFrame(implied_values(PARAMETERS), index=["value", "error"]).T.loc[found.columns]
    error = np.hypot(found.std(ddof=1) / np.sqrt(STUDIES), implied["error"])
    distances = ((found.mean() - implied["value"]) / error).abs()
    # t with 9 degrees of freedom lies beyond 5.5 once in 2,500 times; there are 40 keys.
    assert distances.max() < 5.5, distances.sort_values().tail()
    for key in ("variance_participant", "variance_turn_residual", "ceiling_bound_participant"):
        assert error[key] < 0.05 * implied.loc[key, "value"], "the comparison is too coarse to mean anything"


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


def test_every_value_is_described_and_rests_on_something(plain):
    truth = {entry["key"]: entry for entry in planted_entries()}
    parameters = {key for key, entry in truth.items() if entry["kind"] == "parameter"}
    for key in plain:
        unit, meaning, _ = described(key, PARAMETERS.conditions)
        assert unit
        assert "{" not in meaning
        assert truth[key]["rests_on"], key
        assert set(truth[key]["rests_on"]) <= parameters, key
    with pytest.raises(KeyError):
        described("nothing_of_this_name")


def planted_entries():
    ledger = truth_file.Ledger()
    truth_file._placed(ledger, PARAMETERS)
    truth_file._implied(ledger, PARAMETERS, implied_values(PARAMETERS))
    return ledger.entries


def test_an_effect_that_is_not_planted_is_nothing_to_rest_on_unless_none_is():
    planted = {"slope_a": 0.0, "slope_b": 0.3, "level": 1.0}
    assert parameters_behind(("slope_*", "level"), planted) == ["slope_b", "level"]
    assert parameters_behind(("slope_*",), planted | {"slope_b": 0.0}) == ["slope_a", "slope_b"]


def test_a_statistic_under_two_names_is_one(plain):
    assert all(plain[key] == plain[twin] for key, twin in TWINS.items())


def test_without_effects_what_measures_an_effect_is_zero():
    null = PARAMETERS.without_effects()
    values = implied_values(null, batches=6, scale=8)
    for key in (
        *("lasting_drop", "continuity_contrast_next_turn", "expectation_loss", "prompt_fading"),
        *("context_share", "prompted_difference_ground_truth", "desired_slope_within", "importance_slope_within"),
        *(f"failure_next_turn_{name}" for name in DIMENSION_NAMES),
    ):
        value, error = values[key]
        assert abs(value) < 5 * error, key
