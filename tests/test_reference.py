"""R's values: what the script compares and reports, and that the book's table says what the tests assert."""

import fnmatch
import json
import math
import pydoc
import re
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
from evidence import reference

from sense7.book.extensions.truths import power_of_ten

ROOT = Path(__file__).resolve().parents[1]
TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
PATH = ROOT / "evidence" / "reference.py"
SMALL = {"families": [{"statistic": "a", "quantities": ["a_*"], "functions": ["f"], "r": "a()", "moved": 1e-3}]}
SMALL |= {"not_computed": [{"quantities": "b", "reason": "no", "moved": 0}], "without_reference": []}


@pytest.fixture(scope="module")
def script():
    return reference


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "reference.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def values(script):
    return script.read_values(script.VALUES)


def rows(**found):
    return {
        name: {"quantity": name, "method": "m", "r_package": "p 1", "value": value} for name, value in found.items()
    }


# Comparing


@pytest.mark.parametrize(("value", "moved"), [("1.0009", False), ("1.0011", True), ("0.9989", True), ("nan", True)])
def test_a_value_moves_beyond_the_tolerance_of_its_family(script, value, moved):
    lines = script.compare(rows(a_1="1", b="2"), rows(a_1=value, b="2"), SMALL)
    assert bool(lines) == moved
    if moved:
        assert lines[0].startswith("moved    a_1: 1.0 -> ")
        assert "(tolerance 0.001; p 1 -> p 1)" in lines[0]


def test_added_and_removed_values_are_named(script):
    lines = script.compare(rows(a_1="1", a_2="3", b="2"), rows(a_1="1", a_3="4", b="2"), SMALL)
    assert lines == ["added    a_3: 4 (m, p 1)", "removed  a_2: 3"]


def test_a_quantity_belongs_to_one_entry(script):
    with pytest.raises(script.ReferenceProblem, match="c belongs to no entry"):
        script.family_of(["a_1", "b", "c"], SMALL)
    twice = deepcopy(SMALL)
    twice["not_computed"][0]["quantities"] = "*"
    with pytest.raises(script.ReferenceProblem, match="a_1 belongs to several entries"):
        script.family_of(["a_1"], twice)
    with pytest.raises(script.ReferenceProblem, match="no quantity is called b"):
        script.family_of(["a_1"], SMALL)


def test_a_file_that_has_no_values_is_one_message(script, tmp_path):
    with pytest.raises(script.ReferenceProblem, match=r"values.csv: cannot be read"):
        script.read_values(tmp_path / "values.csv")
    (tmp_path / "values.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(script.ReferenceProblem, match="columns quantity, method, r_package and value are expected"):
        script.read_values(tmp_path / "values.csv")


@pytest.fixture
def copied(script, tmp_path, monkeypatch):
    """The script on a copy of the committed values."""
    shutil.copyfile(script.VALUES, tmp_path / "golden.csv")
    monkeypatch.setattr(script, "VALUES", tmp_path / "golden.csv")
    return tmp_path


def test_the_command_line_replaces_the_values_only_when_asked(script, copied, capsys):
    text = (copied / "golden.csv").read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("alpha_raw_post,"))
    moved = text.replace(row, row[: row.rindex(",")] + ",0.5")
    (copied / "new.csv").write_text(moved, "utf-8")
    assert script.main(["compare", str(copied / "golden.csv")]) == 0
    assert "values of R agree" in capsys.readouterr().out
    assert script.main(["compare", str(copied / "new.csv")]) == 1
    said = capsys.readouterr().out
    assert "moved    alpha_raw_post" in said
    assert "nothing was written" in said
    assert (copied / "golden.csv").read_text("utf-8") == text
    assert script.main(["compare", "--update", str(copied / "new.csv")]) == 0
    assert (copied / "golden.csv").read_text("utf-8") == moved


def test_where_r_is_absent_one_sentence_says_so():
    command = [sys.executable, str(PATH), "run"]
    done = subprocess.run(
        command, env={"PATH": "", "RSCRIPT": "no-such-R"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("R is not installed here")
    assert done.stderr.count("\n") == 1


def test_every_package_that_the_script_calls_is_asked_for():
    text = re.sub(r"#.*", "", (ROOT / "tests" / "reference" / "reference.R").read_text("utf-8"))
    asked = set(re.findall(r'^  (\w+) = "r-cran-', text, re.MULTILINE))
    # The call in a recorded method is text: what R runs stands outside of quotes.
    called = set(re.findall(r"\b(\w+)::\w", re.sub(r'"[^"\n]*"', "", text)))
    assert called - {"base"} <= asked
    assert asked - called == {"GPArotation"}  # psych calls it
    readme = (ROOT / "tests" / "reference" / "README.md").read_text("utf-8")
    assert set(re.findall(r'"(r-cran-\w+)"', text)) == set(re.findall(r"\br-cran-\w+", readme))


def test_values_have_a_method_and_a_package_with_its_version(values):
    for name, row in values.items():
        assert row["method"], name
        assert re.fullmatch(r"\w+ (R-)?\d[\d.]+", row["r_package"]), name
        assert math.isfinite(float(row["value"])), name


# Measuring


def test_the_largest_error_of_each_tolerance_is_kept_with_its_quantity(script):
    errors = [("a_1", "absolute", 1e-7, 1e-9), ("a_2", "absolute", 1e-7, 3.14159e-8), ("a_1", "relative", 1e-3, 0.0)]
    entries = script.family_of(["a_1", "a_2", "b"], SMALL)
    found = script.errors_by_family(errors, entries)["a"]
    assert found == [
        {"kind": "absolute", "tolerance": 1e-7, "values": 2, "largest_error": 3.1e-8, "quantity": "a_2"},
        {"kind": "relative", "tolerance": 1e-3, "values": 1, "largest_error": 0.0, "quantity": "a_1"},
    ]


def test_a_value_that_no_test_asserts_is_a_problem(script):
    with pytest.raises(script.ReferenceProblem, match="a_2"):
        script.make_table(rows(a_1="1", a_2="2", b="3"), SMALL, [("a_1", "absolute", 1e-7, 0.0)])
    with pytest.raises(script.ReferenceProblem, match=r": b\. Correct"):
        script.make_table(rows(a_1="1", b="3"), SMALL, [("a_1", "absolute", 1e-7, 0.0), ("b", "absolute", 1e-7, 0.0)])


def table_with(script, error):
    return script.make_table(rows(a_1="1", b="3"), SMALL, [("a_1", "absolute", 1e-3, error)])


@pytest.mark.parametrize(
    ("before", "after", "stale"),
    [(1e-5, 1e-5, False), (1e-5, 1.9e-5, False), (1e-5, 3e-5, True), (3e-5, 1e-5, True), (1e-12, 9e-10, False)],
)
def test_a_stored_error_may_differ_by_rounding_only(script, before, after, stale):
    assert bool(script.differences(table_with(script, before), table_with(script, after))) == stale


@pytest.mark.parametrize("key", ["values", "asserted", "not_computed", "without_reference", "families"])
def test_other_contents_are_stale(script, key):
    stored, fresh = table_with(script, 0.0), table_with(script, 0.0)
    stored[key] = [] if isinstance(stored[key], list) else -1
    fresh[key] = fresh[key] or ["x"]
    assert script.differences(stored, fresh)


# The stored table. That its errors are those of a fresh run is checked when all tests have run (conftest.py).


def test_every_value_is_in_the_table(script, stored, values):
    families = script.read_families()
    entries = script.family_of(values, families)
    assert stored["values"] == len(values) == len(entries)
    assert stored["asserted"] == sum(row["values"] for row in stored["families"])
    left = [quantity for row in stored["not_computed"] for quantity in row["quantities"]]
    assert stored["values"] - stored["asserted"] == len(left) == len(set(left))
    assert [row["statistic"] for row in stored["families"]] == [row["statistic"] for row in families["families"]]
    instead = [row["instead"] for row in families["without_reference"]]
    assert [row["instead"] for row in stored["without_reference"]] == instead
    for row, family in zip(stored["families"], families["families"], strict=True):
        own = [quantity for quantity in values if entries[quantity] is family]
        assert (row["functions"], row["r"], row["values"]) == (family["functions"], family["r"], len(own))
        assert row["packages"] == sorted({values[quantity]["r_package"] for quantity in own})


def test_every_declared_number_has_its_oracle(script):
    """Each recorded value of the book rests on one entry: on values of R, or on tests that are there."""
    families = script.read_families()
    entries = [*families["families"], *families["without_reference"]]
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
    lacking = [entry["statistic"] for entry in families["without_reference"] if "keys" in entry and not entry["tests"]]
    assert lacking == []
    assert {name for entry in entries for name in entry.get("tests", ())} - tests == set()


def test_every_error_is_within_its_tolerance(stored):
    for row in stored["families"]:
        assert row["errors"], row["statistic"]
        for error in row["errors"]:
            assert 0 <= error["largest_error"] <= error["tolerance"], row["statistic"]


def test_every_module_of_statistics_is_in_the_table(stored):
    named = {name for part in ("families", "without_reference") for row in stored[part] for name in row["functions"]}
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


# Numbers on the page


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (1e-7, "10⁻⁷"), (2e-4, "2 \u00d7 10⁻⁴"), (3.14e-12, "3.1 \u00d7 10⁻¹²"), (0.5, "5 \u00d7 10⁻¹")],
)
def test_a_small_number_is_shown_as_a_power_of_ten(number, text):
    assert power_of_ten(number) == text
