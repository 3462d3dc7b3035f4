"""Implied truths: which source holds for a workbook, and how far a found value lies from one."""

import json

import pytest

from sense7.errors import UserError
from sense7.implied import ImpliedTruth, implied_truths, load_implied

PARAMETERS = {"participants": 109, "turn_sd": 0.55}
PLANTED = [
    {"key": "alpha", "value": 0.96, "kind": "implied", "monte_carlo_error": 0.002},
    {"key": "participants", "value": 109, "kind": "count", "monte_carlo_error": None},
    {"key": "importance", "value": 0.2, "kind": "parameter", "monte_carlo_error": None},
    {"key": "turn_sd", "value": 0.55, "kind": "parameter", "monte_carlo_error": None},
]
TRUTH = {"parameters": PARAMETERS, "planted": PLANTED, "judge": {"name": "simulated", "parameters": {"judge_runs": 10}}}
MEAN = {"notebook": "03-reliability", "mean": 0.5, "sd": 0.04, "error": 0.003, "studies": 200}
IMPLIED = {
    "studies": 200,
    "seed": 1,
    "parameters": PARAMETERS,
    "values": {
        "alpha": MEAN | {"mean": 0.9},
        "omega": MEAN,
        "importance": MEAN | {"mean": 0.21},
        "participants": MEAN | {"mean": 109, "sd": 0.0, "error": 0.0},
        "judge_accuracy": MEAN,
        "undefined": MEAN | {"mean": None, "sd": None, "error": None, "studies": 0},
    },
}


def test_independent_code_comes_before_the_means_of_the_companions_own_statistics():
    truths = implied_truths(TRUTH, IMPLIED)
    assert truths["alpha"] == ImpliedTruth(0.96, 0.002, 0.04, 200, "independent code")
    own = "the companion's statistics, 200 studies"
    assert truths["omega"] == ImpliedTruth(0.5, 0.003, 0.04, 200, own)


def test_a_planted_parameter_is_the_truth_of_its_value_only_where_no_mean_is_known():
    assert implied_truths(TRUTH, IMPLIED)["importance"].value == 0.21
    assert implied_truths(TRUTH, None)["importance"].value == 0.2


def test_what_no_study_defined_has_no_implied_truth():
    assert "undefined" not in implied_truths(TRUTH, IMPLIED)


@pytest.mark.parametrize("parameters", [PARAMETERS | {"turn_sd": 0.5}, {}, PARAMETERS | {"new": 1}])
def test_means_of_studies_with_other_parameters_do_not_hold(parameters):
    assert implied_truths(TRUTH | {"parameters": parameters}, IMPLIED) == implied_truths(TRUTH, None)
    assert implied_truths(TRUTH, None).keys() == {"alpha", "participants", "importance", "turn_sd"}


@pytest.mark.parametrize(
    ("judge", "implied", "there"),
    [
        (TRUTH["judge"], IMPLIED, True),
        (TRUTH["judge"], IMPLIED | {"judge": {"judge_runs": 10}}, True),
        (TRUTH["judge"], IMPLIED | {"judge": {"judge_runs": 9}}, False),
        (None, IMPLIED, False),
    ],
)
def test_means_of_a_judge_hold_for_the_simulated_judge_of_the_same_parameters(judge, implied, there):
    """A real judge's predictions of a synthetic workbook have no truth."""
    assert ("judge_accuracy" in implied_truths(TRUTH | {"judge": judge}, implied)) is there


def test_a_mean_says_itself_whether_it_depends_on_the_judge():
    values = {"ceiling": MEAN | {"judge": True}, "judge_words": MEAN | {"judge": False}}
    truths = implied_truths(TRUTH | {"judge": None}, IMPLIED | {"values": values})
    assert "ceiling" not in truths
    assert "judge_words" in truths


def test_data_that_are_not_simulated_have_no_truth():
    assert implied_truths(None, IMPLIED) == {}


# Distance


def found(estimate, low=None, high=None):
    return {"estimate": estimate, "low": low, "high": high}


def test_the_distance_is_in_standard_errors_of_study_and_simulation():
    assert ImpliedTruth(0.5, 0.3, 0.4).distance(found(1.0)) == pytest.approx(1.0)
    assert ImpliedTruth(0.5, 0.0, 0.25).distance(found(0.0)) == pytest.approx(-2.0)


def test_without_simulated_studies_the_interval_says_the_error():
    half = 1.96 * 0.4
    assert ImpliedTruth(0.5, 0.3).distance(found(1.0, 1.0 - half, 1.0 + half)) == pytest.approx(1.0)
    assert ImpliedTruth(0.5).distance(found(1.0)) is None
    assert ImpliedTruth(0.5).distance(found(1.0, 1.0, 1.0)) is None


@pytest.mark.parametrize(
    ("truth", "value"),
    [
        (ImpliedTruth(0.5, sd=0.0), found(0.6, 0.1, 0.9)),
        (ImpliedTruth("a", sd=0.1), found("b")),
        (ImpliedTruth(0.5, sd=0.1), found(None)),
    ],
)
def test_what_is_fixed_named_or_missing_has_no_distance(truth, value):
    assert truth.distance(value) is None


# The file


def test_the_file_is_read_and_need_not_be_there(tmp_path):
    path = tmp_path / "implied.json"
    assert load_implied(path) is None
    path.write_text(json.dumps(IMPLIED))
    assert load_implied(path) == IMPLIED


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"studies": 1, "parameters": {}, "values": []}', "{"])
def test_a_file_that_is_something_else_is_refused_by_its_name(tmp_path, content):
    path = tmp_path / "implied.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"implied\.json: can't be read"):
        load_implied(path)
