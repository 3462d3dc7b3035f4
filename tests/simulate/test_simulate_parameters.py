import dataclasses
import re
from importlib.resources import files

import pytest

from sense7.errors import UserError
from sense7.simulate import Parameters
from sense7.simulate.parameters import TOPICS
from sense7.simulate.text import PHRASES


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"turn_sds": 1}, r"no parameter turn_sds\. Did you mean turn_sd"),
        ({"turn_sd": "x"}, r"turn_sd is 'x'; accepted: a number from 0 to 3"),
        ({"turn_sd": None}, r"turn_sd is None"),
        ({"turn_sd": True}, r"turn_sd is True"),
        ({"turn_sd": -0.1}, r"turn_sd is -0.1; accepted: a number from 0 to 3"),
        ({"turn_sd": float("nan")}, r"turn_sd is nan"),
        ({"participants": 1.5}, r"participants is 1.5; accepted: a whole number from 1 to 100,000"),
        ({"conversations": 50}, r"conversations is 50; accepted: at least one a participant \(109\)"),
        ({"unrated_conversations": 672}, r"unrated_conversations is 672"),
        ({"conditions": "model-a"}, r"conditions is 'model-a'; accepted: a list of 1 to 12 different names"),
        ({"conditions": ["a", "a"]}, r"conditions is \['a', 'a'\]"),
        ({"conditions": ["a", "b"]}, r"condition_effects .* 2 numbers, one for each of the conditions"),
        ({"condition_effects": {"model-x": 0}}, r"condition_effects\.model-x is 0; .*model-a"),
        ({"condition_effects": {"model-b": 9}}, r"condition_effects\[1\] is 9; accepted: a number from -3 to 3"),
        ({"applicability": 0.5}, r"applicability is 0.5; accepted: a list with a number from 0 to 1"),
        ({"applicability": [0.5] * 6}, r"7 numbers, one for each of the dimensions"),
        ({"thresholds": [1, 1, 2, 3]}, r"thresholds .* ascending"),
        ({"topics": ["the weather"]}, r"topics is \['the weather'\]; .*Working from home"),
        ({"design": "crossed"}, r"design is 'crossed'; accepted: within or between"),
        ({"most_important_shares": [0.1] * 7}, r"most_important_shares .* sum to 1"),
        ({"turns_mean": 3}, r"turns_mean is 3.0; accepted: from 4 to 20"),
        ({"turns_maximum": 3}, r"turns_maximum is 3; accepted: at least turns_minimum \(4\)"),
        ({"post_trough_weight": 0.9}, r"post_end_weight is 0.15; accepted: at most 1 together"),
        ({"characteristics": ["Age"], "characteristic_effects": [0]}, r"names other than PID, Age"),
    ],
)
def test_refusals_name_parameter_value_and_range(mapping, said):
    with pytest.raises(UserError, match=said):
        Parameters.from_mapping(mapping)


def test_mapping_changes_only_the_named_entries():
    changed = Parameters.from_mapping({"applicability": {"Relational": 0.2}, "condition_effects": {"model-b": 1}})
    assert changed.applicability == (*Parameters().applicability[:6], 0.2)
    assert changed.condition_effects[1] == 1.0
    new = {"conditions": ["x", "y"], "condition_slopes": [0, 0], "condition_desired_slopes": [0, 0]}
    assert Parameters.from_mapping(new | {"condition_effects": {"y": 1, "x": 0}}).condition_effects == (0.0, 1.0)
    with pytest.raises(UserError, match="missing: x"):
        Parameters.from_mapping(new | {"condition_effects": {"y": 1}})


def test_round_trip_and_immutability():
    parameters = Parameters.from_mapping({"turn_sd": 1, "participants": 10.0, "conversations": 40})
    assert Parameters.from_mapping(parameters.as_dict()) == parameters
    assert isinstance(parameters.turn_sd, float)
    assert isinstance(parameters.participants, int)
    assert hash(parameters) == hash(Parameters.from_mapping(parameters.as_dict()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameters.turn_sd = 2.0


def test_every_parameter_is_documented():
    text = (files("sense7.simulate") / "parameters.toml").read_text("utf-8")
    for entry in dataclasses.fields(Parameters):
        assert re.search(rf"\b{entry.name}\b", text), entry.name


def test_no_systematic_effect_is_left_in_the_null_world():
    null = Parameters().without_effects()
    for name in ("condition_effects", "condition_slopes", "topic_effects", "characteristic_effects"):
        assert not any(getattr(null, name)), name
    assert null.continuity_drop == null.expectation_drop == null.importance_effect == null.desired_effect == 0
    assert null.participant_sd == Parameters().participant_sd


def test_there_is_a_story_for_every_topic():
    assert set(PHRASES["stories"]) == set(TOPICS)
