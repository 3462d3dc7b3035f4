"""R's values: the project's own are near them, what the script reports, and that the book's table says the same."""

import fnmatch
import json
import math
import pydoc
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from evidence import reference

from helpers import golden
from helpers.studies import bootstrap_of
from sense7.findings import conditions

ROOT = Path(__file__).resolve().parents[1]
TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
SMALL = {"families": [{"statistic": "a", "quantities": ["a_*"], "functions": ["f"], "r": "a()", "moved": 1e-3}]}
SMALL |= {"not_computed": [{"quantities": "b", "reason": "no", "moved": 0}], "without_reference": []}
VALUES, FAMILIES = reference.read_values(reference.VALUES), reference.read_families()
STORED = json.loads(reference.TABLE.read_text("utf-8"))


@pytest.mark.parametrize("family", golden.OURS, ids=lambda family: family.__name__)
def test_the_values_are_those_of_r(family):
    assert [error for error in golden.errors_of(family) if not error[3] <= error[2]] == []


def test_each_value_is_asserted_or_left_out_with_a_reason_and_the_books_table_says_so():
    fresh = reference.make_table(VALUES, FAMILIES, reference.measure())
    assert reference.differences(STORED, fresh) == []
    assert all(row["reason"] for row in fresh["not_computed"])


def test_odds_ratios_are_those_of_clm_in_r():
    table = conditions.odds_ratios(golden.study(), bootstrap_of(golden.study()))["estimate"]
    first, *others = golden.called("emmean_")
    logs = {name: golden.reference()[f"clm_b_model{name}"] for name in others} | {first: 0.0}
    for one, other in conditions.condition_pairs(golden.study()).values():
        assert table[f"{one} against {other}"] == pytest.approx(np.exp(logs[one] - logs[other]), abs=1e-5)


def rows(**found):
    return {
        name: {"quantity": name, "method": "m", "r_package": "p 1", "value": value} for name, value in found.items()
    }


# Comparing


@pytest.mark.parametrize(("value", "moved"), [("1.0009", False), ("1.0011", True), ("0.9989", True), ("nan", True)])
def test_a_value_moves_beyond_the_tolerance_of_its_family(value, moved):
    lines = reference.compare(rows(a_1="1", b="2"), rows(a_1=value, b="2"), SMALL)
    assert [line.partition(" -> ")[0] for line in lines] == ["moved    a_1: 1.0"][: int(moved)]
    assert all("(tolerance 0.001; p 1 -> p 1)" in line for line in lines)


def test_added_and_removed_values_are_named():
    lines = reference.compare(rows(a_1="1", a_2="3", b="2"), rows(a_1="1", a_3="4", b="2"), SMALL)
    assert lines == ["added    a_3: 4 (m, p 1)", "removed  a_2: 3"]


TWICE = deepcopy(SMALL)
TWICE["not_computed"][0]["quantities"] = "*"


@pytest.mark.parametrize(
    ("quantities", "families", "said"),
    [
        (["a_1", "b", "c"], SMALL, "c belongs to no entry"),
        (["a_1"], TWICE, "a_1 belongs to several entries"),
        (["a_1"], SMALL, "no quantity is called b"),
    ],
)
def test_a_quantity_belongs_to_one_entry(quantities, families, said):
    with pytest.raises(reference.ReferenceProblem, match=said):
        reference.family_of(quantities, families)


def test_a_file_that_has_no_values_is_one_message(tmp_path):
    with pytest.raises(reference.ReferenceProblem, match=r"values.csv: cannot be read"):
        reference.read_values(tmp_path / "values.csv")
    (tmp_path / "values.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(reference.ReferenceProblem, match="columns quantity, method, r_package and value are expected"):
        reference.read_values(tmp_path / "values.csv")


def test_the_command_line_replaces_the_values_only_when_asked(tmp_path, monkeypatch, capsys):
    kept, new = tmp_path / "golden.csv", tmp_path / "new.csv"
    text = reference.VALUES.read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("alpha_raw_post,"))
    moved = text.replace(row, row[: row.rindex(",")] + ",0.5")
    kept.write_text(text, "utf-8")
    new.write_text(moved, "utf-8")
    monkeypatch.setattr(reference, "VALUES", kept)
    for arguments, code, said, after in (
        (["compare", kept], 0, ["values of R agree"], text),
        (["compare", new], 1, ["moved    alpha_raw_post", "nothing was written"], text),
        (["compare", "--update", new], 0, ["1 of"], moved),
    ):
        assert reference.main(list(map(str, arguments))) == code
        shown = capsys.readouterr().out
        assert [words for words in said if words not in shown] == []
        assert kept.read_text("utf-8") == after


def test_where_r_is_absent_one_sentence_says_so():
    command, environment = [sys.executable, reference.__file__, "run"], {"PATH": "", "RSCRIPT": "no-such-R"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("R is not installed here")


def test_every_package_that_the_script_calls_is_asked_for():
    text = re.sub(r"#.*", "", (ROOT / "tests" / "reference" / "reference.R").read_text("utf-8"))
    asked = set(re.findall(r'^  (\w+) = "r-cran-', text, re.MULTILINE))
    # The call in a recorded method is text: what R runs stands outside of quotes.
    called = set(re.findall(r"\b(\w+)::\w", re.sub(r'"[^"\n]*"', "", text)))
    assert called - {"base"} <= asked
    assert asked - called == {"GPArotation"}  # psych calls it
    readme = (ROOT / "tests" / "reference" / "README.md").read_text("utf-8")
    assert set(re.findall(r'"(r-cran-\w+)"', text)) == set(re.findall(r"\br-cran-\w+", readme))


def test_values_have_a_method_and_a_package_with_its_version():
    for name, row in VALUES.items():
        assert row["method"], name
        assert re.fullmatch(r"\w+ (R-)?\d[\d.]+", row["r_package"]), name
        assert math.isfinite(float(row["value"])), name


# Measuring


def test_the_largest_error_of_each_tolerance_is_kept_with_its_quantity():
    errors = [("a_1", "absolute", 1e-7, 1e-9), ("a_2", "absolute", 1e-7, 3.14159e-8), ("a_1", "relative", 1e-3, 0.0)]
    entries = reference.family_of(["a_1", "a_2", "b"], SMALL)
    found = reference.errors_by_family(errors, entries)["a"]
    assert found == [
        {"kind": "absolute", "tolerance": 1e-7, "values": 2, "largest_error": 3.1e-8, "quantity": "a_2"},
        {"kind": "relative", "tolerance": 1e-3, "values": 1, "largest_error": 0.0, "quantity": "a_1"},
    ]


def test_a_value_that_no_test_asserts_is_a_problem():
    asserted = ("a_1", "absolute", 1e-7, 0.0)
    with pytest.raises(reference.ReferenceProblem, match="a_2"):
        reference.make_table(rows(a_1="1", a_2="2", b="3"), SMALL, [asserted])
    with pytest.raises(reference.ReferenceProblem, match=r": b\. Correct"):
        reference.make_table(rows(a_1="1", b="3"), SMALL, [asserted, ("b", *asserted[1:])])


@pytest.mark.parametrize(
    ("before", "after", "stale"),
    [(1e-5, 1e-5, False), (1e-5, 1.9e-5, False), (1e-5, 3e-5, True), (3e-5, 1e-5, True), (1e-12, 9e-10, False)],
)
def test_a_stored_error_may_differ_by_rounding_only_and_nothing_else_at_all(before, after, stale):
    stored, fresh = (
        reference.make_table(rows(a_1="1", b="3"), SMALL, [("a_1", "absolute", 1e-3, error)])
        for error in (before, after)
    )
    assert bool(reference.differences(stored, fresh)) == stale
    for key in fresh:
        assert reference.differences(stored | {key: ["x"]}, fresh)


# What has a reference


def test_every_declared_number_has_its_oracle():
    """Each recorded value of the book rests on one entry: on values of R, or on tests that are there."""
    entries = [*FAMILIES["families"], *FAMILIES["without_reference"]]
    declared = json.loads((ROOT / "tests" / "reference" / "frozen_values.json").read_text("utf-8"))
    by_key = {key: set() for key in declared}
    for entry in entries:
        for pattern in entry.get("keys", ()):
            matching = fnmatch.filter(declared, pattern)
            assert matching, f"{entry['statistic']}: no recorded value is called {pattern}"
            for key in matching:
                by_key[key].add(entry["statistic"])
    assert {key: found for key, found in by_key.items() if len(found) != 1} == {}
    modules = list((ROOT / "tests").rglob("test_*.py"))
    tests = {name for path in modules for name in (path.stem, *TEST.findall(path.read_text("utf-8")))}
    lacking = [entry["statistic"] for entry in FAMILIES["without_reference"] if "keys" in entry and not entry["tests"]]
    assert lacking == []
    assert {name for entry in entries for name in entry.get("tests", ())} - tests == set()


def test_every_module_of_statistics_is_in_the_table():
    named = {name for part in ("families", "without_reference") for row in STORED[part] for name in row["functions"]}
    package = ROOT / "src/sense7"
    own = {
        path.relative_to(package).with_suffix("").as_posix().replace("/", ".")
        for part in ("estimators", "findings")
        for path in (package / part).rglob("[!_]*.py")
    }
    covered = {
        module
        for module in own
        for name in named
        if f"{name}.".startswith(f"{module}.") or f"{module}.".startswith(f"{name}.")
    }
    assert own - covered == set()
    for name in named:
        if ":" not in name:
            path = package / name.replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").is_file() or callable(pydoc.locate(f"sense7.{name}")), name
