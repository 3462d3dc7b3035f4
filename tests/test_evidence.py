"""What is measured of the project: stored results are whole, the code still gives them, and claims can fail."""

import json
from dataclasses import replace

import pytest
from evidence import bench
from evidence.coverage import few_people
from evidence.coverage import simulated_studies as many
from scipy import stats

from sense7.book.notebooks import find_notebooks
from sense7.claims import load_claims
from sense7.findings import coverage as stored_coverage

ROOT = bench.ROOT
EXPECTED, POWER, COVERAGE = (
    json.loads((ROOT / "data" / f"{name}.json").read_text("utf-8"))
    for name in ("expected", "claims_power", "coverage")
)


# Simulated studies

LEVEL = 0.05
"""Largest share of studies without an effect that meet a directional rule, as the head of data/claims.yml says."""

SLOWEST = {"03-reliability", "06-individualized", "07-context", "10-conditions"}
SLOWEST |= {"11-words", "12-judge", "13-baselines", "17-robustness"}
"""Notebooks that take five sixths of the time of all."""


@pytest.fixture(scope="module")
def notebooks():
    return {notebook.name: notebook for notebook in find_notebooks(ROOT)}


@pytest.fixture(scope="module")
def claims():
    return load_claims(ROOT / "data" / "claims.yml")


@pytest.mark.parametrize(
    "left_out", [SLOWEST, pytest.param(set(), marks=pytest.mark.long)], ids=["most", "all"]
)
def test_the_code_still_gives_the_first_study(claims, notebooks, left_out):
    world = many.worlds_of(claims, notebooks)[0]
    world = replace(
        world, notebooks=tuple(name for name in world.notebooks if name not in left_out)
    )
    recorded = many.one_study(world, 0, many.DRAWS)
    found = {value["key"]: value["estimate"] for values in recorded.values() for value in values}
    numbers = {key: value for key, value in found.items() if isinstance(value, int | float)}
    # What only some studies have is a topic's share or rating.
    of = {key: value["notebook"] for key, value in EXPECTED["values"].items()}
    first = EXPECTED["first_study"]
    wanted = {
        key: value
        for key, value in first.items()
        if key in numbers or of.get(key) not in {None, *left_out}
    }
    assert len(wanted) >= (150 if left_out else 380)
    # A number of a new finding is in no stored study before `make simulated-studies` runs again.
    assert {key: numbers.get(key) for key in wanted} == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_no_rule_is_passed_without_its_effect_more_often_than_its_level(claims):
    """A count that a true rate of the level would exceed in one run of a hundred only."""
    rates = POWER["claims"]
    for claim in claims:
        if claim.no_effect and claim.id in rates:
            without = rates[claim.id]["null"]
            assert rates[claim.id]["null_parameters"] == many.in_words(claim.no_effect), claim.id
            assert without["studies"] >= 0.9 * many.STUDIES, claim.id
            assert without["passed"] <= stats.binom.ppf(0.99, without["studies"], LEVEL), claim.id


def test_independent_code_and_the_companions_statistics_mean_the_same():
    """What plain code finds in very large studies, and the companion's own means over studies of the release's size.

    They may differ by the Monte Carlo errors of both and by what a small study adds: the nearest of several rivals is
    nearer by chance, so that this differs by more.
    """
    stored = json.loads((ROOT / "data" / "truth.json").read_text("utf-8"))["values"]
    distances = {}
    for key, own in EXPECTED["values"].items():
        if key in stored and own["sd"]:
            error = (own["error"] ** 2 + stored[key]["error"] ** 2) ** 0.5
            distances[key] = abs(own["mean"] - stored[key]["value"]) / error
    assert len(distances) > 35
    far = {key for key, distance in distances.items() if distance > 3.5}
    assert far == {"kappa_difference_nearest"}


# Coverage

KEPT = stored_coverage.KEPT_LIMITS


@pytest.mark.parametrize("design", ["within", "between"])
def test_intervals_over_participants_keep_their_promise(design):
    """The Wilson interval of the coverage has to reach into the range that is asked for."""
    table = stored_coverage.coverage_table(design=design, kind="participants")
    assert len(table) == 14
    assert (table["high"] >= KEPT[0]).all()
    assert (table["low"] <= KEPT[1]).all()


@pytest.mark.parametrize("design", ["within", "between"])
def test_false_positives_are_as_rare_as_the_level_says_with_participants_only(design):
    """Wilson's interval of each test that knows of participants holds 5%; over turns it is far off."""
    table = stored_coverage.coverage_table(design=design, kind="false positives")
    over_turns = table.index.str.contains("turns as independent")
    assert over_turns.tolist() == [False, False, False, True, True]
    assert (table.loc[~over_turns, "low"] <= 0.05).all()
    assert (table.loc[~over_turns, "high"] >= 0.05).all()
    assert (table.loc[over_turns, "low"] > 0.1).all()
    assert table["key"].nunique() == 5
    # What the page says of them.
    assert table["estimate"].iloc[:3].idxmax() == "percentile interval over resampled participants"


# Few people in a condition, and judges that are asked again


@pytest.mark.parametrize(
    "design", ["within", pytest.param("between", marks=pytest.mark.long)]
)  # the other design is the same code on other parameters
def test_the_code_still_gives_what_was_counted_of_few_people(design):
    stored = json.loads((ROOT / "data" / "few_people.json").read_text("utf-8"))
    assert few_people.one_study(design, 0) == stored["first_study"][design]
