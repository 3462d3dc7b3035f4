"""The proof of coverage: its stored result, and that the code still gives it."""

import json

import numpy as np
import pandas as pd
import pytest
from evidence.coverage import run

from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import coverage as stored_coverage
from sense7.simulate import Parameters, draw, simulate
from sense7.workbook import parse_sheets

KEPT = stored_coverage.KEPT_LIMITS


@pytest.fixture(scope="module")
def coverage():
    """The script, which is no part of the package."""
    return run


@pytest.fixture(scope="module")
def stored():
    return json.loads(data_file(stored_coverage.COVERAGE).read_text("utf-8"))


def test_the_stored_result_is_whole(stored, coverage):
    assert stored["command"] == "make coverage"
    rows = stored["results"]
    # By participants and false positives in both designs; the others where the page shows them.
    naive = sum(bool(one.naive) for one in coverage.STATISTICS)
    parts = {"first": 2 * (len(coverage.STATISTICS) + 5) + naive + 1 + 1, "further": 2 * len(coverage.FURTHER)}
    assert len({row["key"] for row in rows}) == len(rows) == sum(parts.values())
    for part, settings in stored["parts"].items():
        assert settings["draws"] >= 400
        assert {"Python", "numpy", "scipy"} < set(settings)
        chosen = [row for row in rows if row["part"] == part]
        assert len(chosen) == parts[part]
        for row in chosen:
            assert 0 <= row["count"] <= row["studies"] == settings["studies"], "undefined in some study"
    assert stored["parts"]["first"]["studies"] >= 300
    assert stored["parts"]["further"]["studies"] >= 100


@pytest.mark.parametrize("design", ["within", "between"])
def test_intervals_over_participants_keep_their_promise(design, stored):
    """The Wilson interval of the coverage has to reach into the range that is asked for."""
    table = stored_coverage.coverage_table(design=design, kind="participants")
    assert len(table) == 14
    assert (table["high"] >= KEPT[0]).all()
    assert (table["low"] <= KEPT[1]).all()


def test_alpha_per_turn_of_the_percentile_interval_is_why_it_is_another():
    others = stored_coverage.coverage_table(design="within", kind="other")
    assert others.loc["alpha per turn, percentile", "estimate"] < KEPT[0]
    own = stored_coverage.coverage_table(design="within", kind="participants").loc["alpha per turn"]
    assert own["estimate"] > others.loc["alpha per turn, percentile", "estimate"]
    assert "log(1 - alpha)" in own["method"]


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


@pytest.mark.parametrize(
    "design", ["within", pytest.param("between", marks=pytest.mark.long)]
)  # the other design is the same code on other parameters
def test_the_code_still_gives_the_first_studies(stored, coverage, design):
    assert list(stored["first_studies"]) == list(coverage.WORLDS)
    part_of = {world: part for part, worlds in coverage.PARTS.items() for world in worlds}
    for world in [world for world in coverage.WORLDS if world.startswith(design)]:
        part, first = stored["parts"][part_of[world]], stored["first_studies"][world][0]
        found = coverage.one_study(world, 0, coverage.Settings(part["studies"], part["draws"], part["seed"]))
        assert found.keys() == first.keys()
        for key, numbers in found.items():
            np.testing.assert_allclose(numbers, first[key], rtol=0, atol=1e-6, err_msg=key)


@pytest.fixture
def one_design(coverage, monkeypatch):
    """Two worlds instead of six."""
    worlds = {world: coverage.WORLDS[world] for world in ("within, with effects", "within, without effects")}
    monkeypatch.setattr(coverage, "WORLDS", worlds)
    return coverage


def test_a_small_run_is_the_same_again_and_goes_on_where_it_was(one_design, tmp_path):
    keep, settings = tmp_path / "kept" / "studies.jsonl", one_design.Settings(studies=3, draws=20)
    whole = one_design.run(settings, keep)
    assert [len(studies) for studies in whole.values()] == [3, 3]
    lines = keep.read_text("utf-8").splitlines(keepends=True)
    keep.write_text("".join(lines[:-1]), "utf-8")
    # What is gone is the second world: it is computed again, and nothing else is.
    assert one_design.run(settings, keep) == whole
    assert keep.read_text("utf-8").splitlines(keepends=True) == lines
    assert one_design.one_study("within, with effects", 2, settings) == whole["within, with effects"][2]


def test_the_light_study_is_that_of_the_workbook(coverage):
    parameters = Parameters(participants=12, conversations=40)
    simulation = simulate(parameters, seed=3)
    light, read = coverage.study_of(simulation.study), parse_sheets(simulation.sheets)
    for frame in ("conversations", "turns"):
        ours, theirs = getattr(light, frame), getattr(read, frame)
        for column in ours.columns.difference(["conversation", "participant"]):
            assert ours[column].astype(object).fillna("").tolist() == theirs[column].astype(object).fillna("").tolist()
        for column in ("conversation", "participant"):
            # Other names, and the same groups.
            assert (pd.factorize(ours[column])[0] == pd.factorize(theirs[column])[0]).all()


def test_coverage_counts_intervals_that_contain_the_truth(coverage):
    found = [[1.0, 0.0, 2.0], [3.0, 2.5, 4.0], [0.0, -1.0, 0.5], [np.nan, np.nan, np.nan]]
    counted = coverage.covered(found, 1.0)
    assert (counted["studies"], counted["count"], counted["too_low"], counted["too_high"]) == (3, 1, 1, 1)


def test_a_null_study_has_no_effect(coverage):
    parameters, work = coverage.WORLDS["within, without effects"]
    numbers = draw(parameters, np.random.default_rng(1))
    people = pd.Series(coverage.study_names(numbers))
    found = work(numbers, ParticipantBootstrap(people, 50, seed=1))
    assert set(found) == {"condition_difference", "left_out", "mixed_model", "t_test", "kruskal_wallis"}
    # The same difference, by two intervals.
    assert found["left_out"][0] == pytest.approx(found["condition_difference"][0], abs=1e-12)
    assert found["left_out"][1] < found["left_out"][0] < found["left_out"][2]


def test_other_code_is_another_run(coverage, tmp_path, monkeypatch):
    settings, keep = coverage.Settings(studies=0, draws=20), tmp_path / "studies.jsonl"
    coverage.run(settings, keep)
    head = keep.read_text("utf-8")
    monkeypatch.setattr(coverage, "code", lambda: "changed")
    coverage.run(settings, keep)
    assert json.loads(head)["code"] != "changed"
    assert json.loads(keep.read_text("utf-8"))["code"] == "changed"


def test_the_verdict_names_what_is_outside(stored, tmp_path):
    path = tmp_path / "coverage.json"
    rows = [row | {"count": round(0.95 * row["studies"])} for row in stored["results"]]
    path.write_text(json.dumps(stored | {"results": rows}), "utf-8")
    assert stored_coverage.coverage_verdict("within", path) == (
        "0 of 14 Wilson intervals exclude 95%. Every coverage lies from 91% to 98%."
    )
    assert stored_coverage.coverage_exclusions(path)["estimate"].tolist() == [0, 0]
    rows[0]["count"] = round(0.5 * rows[0]["studies"])
    path.write_text(json.dumps(stored | {"results": rows}), "utf-8")
    text = stored_coverage.coverage_verdict("within", path)
    assert text.startswith("1 of 14 Wilson intervals exclude 95%: alpha per turn 50.0%.")
    assert "Not from 91% to 98%: alpha per turn (50.0%; its Wilson interval does not reach it either)" in text
    found = stored_coverage.coverage_exclusions(path)
    assert found["estimate"].tolist() == [1, 1]
    assert found["n"].tolist() == [28, 28]


def test_a_part_that_is_run_again_leaves_the_other_as_it_was(coverage, stored, monkeypatch):
    monkeypatch.setattr(coverage, "further_truths", lambda design: {one.key: (0.5, "") for one in coverage.FURTHER})
    study = {one.key: [0.5, 0.4, 0.6] for one in coverage.FURTHER}
    studies = {world: [study] * 4 for world in coverage.PARTS["further"]}
    new = coverage.stored_again(stored, coverage.Settings(studies=4, draws=20), studies, "further")
    assert new["parts"]["first"] == stored["parts"]["first"]
    assert new["parts"]["further"]["studies"] == 4

    def of(content, part):
        return [row for row in content["results"] if row["part"] == part]

    assert of(new, "first") == of(stored, "first")
    assert [row["count"] for row in of(new, "further")] == [4] * 2 * len(coverage.FURTHER)
    for world in coverage.PARTS["first"]:
        assert new["first_studies"][world] == stored["first_studies"][world]


def test_the_right_width_is_that_of_a_normal_interval(stored, tmp_path):
    path = tmp_path / "coverage.json"
    rows = [row | {"mean_width": 2 * 1.96 * 3, "standard_deviation": 3.0} for row in stored["results"]]
    path.write_text(json.dumps(stored | {"results": rows}), "utf-8")
    widths = stored_coverage.coverage_misses("within", path)["mean width, by the right one"]
    np.testing.assert_allclose(widths, 1, atol=1e-4)


# Wilson's interval


def by_formula(count, n, z=1.959963984540054):
    share = count / n
    middle = share + z**2 / (2 * n)
    reach = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (475, 500), (1, 3)])
def test_wilsons_interval_is_that_of_the_formula(count, n):
    row = stored_coverage.wilson_row(count, n, unit="share", method="counted")
    assert (row["low"], row["high"]) == pytest.approx(by_formula(count, n), abs=1e-9)
    assert row["estimate"] == count / n
