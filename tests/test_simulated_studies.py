"""The notebooks on simulated studies: the stored results, that the code still gives them, and that claims can fail."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from evidence.coverage import simulated_studies
from scipy import stats

from sense7.book.notebooks import find_notebooks
from sense7.claims import load_claims
from sense7.simulate import DEFAULT_JUDGE, JudgeParameters, Parameters

ROOT = Path(__file__).resolve().parents[1]
LEVEL = 0.05
SLOWEST = {"14-words", "15-robustness", "18-baselines", "19-judge"}
"""Notebooks that take half the time of all; those that no other needs, or that need each other alone."""

IN_WORDS = {"finding", "direction", "sign", "ordering"}


@pytest.fixture(scope="module")
def evidence():
    """The script, as a module."""
    return simulated_studies


@pytest.fixture(scope="module")
def notebooks():
    return {notebook.name: notebook for notebook in find_notebooks(ROOT)}


@pytest.fixture(scope="module")
def claims():
    return load_claims(ROOT / "data" / "claims.yml")


@pytest.fixture(scope="module")
def stored():
    return {
        name: json.loads((ROOT / "data" / f"{name}.json").read_text("utf-8")) for name in ("implied", "claims_power")
    }


def test_the_stored_results_are_of_todays_parameters(stored, evidence):
    for found, studies in ((stored["implied"], evidence.WHOLE), (stored["claims_power"], evidence.STUDIES)):
        assert found["command"] == "make simulated-studies"
        assert (found["studies"], found["draws"], found["seed"]) == (studies, evidence.DRAWS, evidence.SEED)
    assert stored["implied"]["parameters"] == Parameters().as_dict()
    assert stored["implied"]["judge"] == DEFAULT_JUDGE.as_dict()


@pytest.mark.parametrize("left_out", [SLOWEST, pytest.param(set(), marks=pytest.mark.long)], ids=["most", "all"])
def test_the_code_still_gives_the_first_study(stored, evidence, claims, notebooks, left_out):
    world = evidence.worlds_of(claims, notebooks)[0]
    world = replace(world, notebooks=tuple(name for name in world.notebooks if name not in left_out))
    recorded = evidence.one_study(world, 0, evidence.DRAWS)
    found = {value["key"]: value["estimate"] for values in recorded.values() for value in values}
    numbers = {key: value for key, value in found.items() if isinstance(value, int | float)}
    # What only some studies have is a topic's share or rating.
    of = {key: value["notebook"] for key, value in stored["implied"]["values"].items()}
    first = stored["implied"]["first_study"]
    wanted = {key: value for key, value in first.items() if key in numbers or of.get(key) not in {None, *left_out}}
    assert len(wanted) >= (330 if left_out else 450)
    assert numbers == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_every_claim_in_words_names_the_parameters_without_its_effect(claims):
    lacking = [
        claim.id
        for claim in claims
        if claim.key and not claim.release and claim.kind in IN_WORDS and not claim.no_effect
    ]
    assert lacking == []


def test_the_parameters_without_an_effect_are_parameters(claims):
    for claim in claims:
        changes = dict(claim.no_effect or {})
        JudgeParameters.from_mapping(changes.pop("judge", {}))
        Parameters.from_mapping(changes)


def test_no_rule_is_passed_without_its_effect_more_often_than_its_level(stored, claims, evidence):
    """A count that a true rate of the level would exceed in one run of a hundred only."""
    rates = stored["claims_power"]["claims"]
    for claim in claims:
        if claim.no_effect and claim.id in rates:
            without = rates[claim.id]["null"]
            assert rates[claim.id]["null_parameters"] == evidence.in_words(claim.no_effect), claim.id
            assert without["studies"] >= 0.9 * evidence.STUDIES, claim.id
            assert without["passed"] <= stats.binom.ppf(0.99, without["studies"], LEVEL), claim.id


def test_every_rule_has_its_rates(stored, claims):
    assert {claim.id for claim in claims if claim.no_effect} == stored["claims_power"]["claims"].keys()


def test_a_study_without_an_effect_differs_from_one_with_it_in_that_alone(evidence, notebooks):
    """The same seed: the numbers of the design stay, those of the effect go."""
    notebook = ("09-conditions",)
    with_effect = evidence.World(evidence.PLANTED, notebooks=notebook)
    null = {name: [0.0] * 4 for name in ("condition_effects", "condition_slopes", "condition_desired_slopes")}
    without = evidence.World("null", null, notebooks=notebook)
    small = {"participants": 40, "conversations": 120, "unrated_conversations": 0}
    found = []
    for world in (with_effect, without):
        changed = replace(world, changes={**world.changes, **small})
        values = evidence.run_notebooks([notebooks[name] for name in notebook], changed, 3, draws=100)["09-conditions"]
        found.append({value["key"]: value for value in values})
    assert found[0].keys() == found[1].keys()
    key = "condition_mean_model-a-empathy-prompt"
    assert found[0][key]["n"] == found[1][key]["n"]
    assert found[0][key]["estimate"] > found[1][key]["estimate"]


def test_a_run_goes_on_where_it_was_interrupted(evidence, notebooks, tmp_path, monkeypatch):
    changes = {"participants": 8, "conversations": 24}
    world = evidence.World("small", changes, notebooks=("02-ratings", "05-importance"), studies=2)
    kept = evidence.Kept(tmp_path, 100)
    evidence.run([world], kept)
    whole = {name: kept.read(world, name) for name in world.notebooks}
    path = next(tmp_path.glob("*-02-ratings.jsonl"))
    lines = path.read_text("utf-8").splitlines()[1:]
    path.write_text("\n" + lines[0] + "\n" + lines[1][:20], "utf-8")
    tasks = []
    submit = evidence.ProcessPoolExecutor.submit
    monkeypatch.setattr(
        evidence.ProcessPoolExecutor, "submit", lambda pool, *task: (tasks.append(task[1:3]), submit(pool, *task))[1]
    )
    evidence.run([world], kept)
    assert {name: kept.read(world, name) for name in world.notebooks} == whole
    assert [(task.notebooks, number) for task, number in tasks] == [(("02-ratings",), json.loads(lines[1])[0])]


def test_parameters_without_an_effect_in_words(evidence):
    parameters = {"continuity_drop": 0, "topic_effects": [0, 0], "condition_effects": {"a": 0, "b": 1}}
    said = "continuity drop 0, topic effects all 0, condition effects {'a': 0, 'b': 1}, judge signal 0"
    assert evidence.in_words(parameters | {"judge": {"judge_signal": 0}}) == said


def test_a_notebook_comes_after_what_it_needs(evidence, notebooks):
    one, two = (replace(notebooks["02-ratings"], needs=needs) for needs in ((), ("a",)))
    assert evidence.in_order(["b"], {"a": one, "b": two}) == ("a", "b")


def test_independent_code_and_the_companions_statistics_mean_the_same(stored):
    """What plain code finds in very large studies, and the companion's own means over studies of the release's size.

    They may differ by the Monte Carlo errors of both and by what a small study adds: ordered eigenvalues are spread by
    chance, and the nearest of several rivals is nearer by chance, so that these differ by more.
    """
    truth = json.loads((ROOT / "data" / "synthetic_truth.json").read_text("utf-8"))["planted"]
    implied = {entry["key"]: entry for entry in truth if entry["kind"] == "implied"}
    distances = {}
    for key, own in stored["implied"]["values"].items():
        other = implied.get(key)
        if other and own["sd"] and isinstance(other["value"], int | float):
            error = (own["error"] ** 2 + (other["monte_carlo_error"] or 0) ** 2) ** 0.5
            distances[key] = abs(own["mean"] - other["value"]) / error
    assert len(distances) > 280
    assert sum(distance > 1.96 for distance in distances.values()) <= 0.05 * len(distances)
    far = {key for key, distance in distances.items() if distance > 4}
    assert far <= {"kappa_difference_nearest", *(f"eigenvalue_turn_{number}" for number in range(1, 8))}
