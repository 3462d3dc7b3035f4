"""R's values: the project's own are near them, what the script reports, and that the book's table says the same."""

import fnmatch
import json
import pydoc
import re
from pathlib import Path

import numpy as np
import pytest
from evidence import reference

from helpers import golden
from helpers.studies import bootstrap_of
from sense7.findings import conditions

ROOT = Path(__file__).resolve().parents[1]
TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
SMALL = {
    "families": [
        {"statistic": "a", "quantities": ["a_*"], "functions": ["f"], "r": "a()", "moved": 1e-3}
    ]
}
SMALL |= {
    "not_computed": [{"quantities": "b", "reason": "no", "moved": 0}],
    "without_reference": [],
}
VALUES, FAMILIES = reference.read_values(reference.VALUES), reference.read_families()
STORED = json.loads(reference.TABLE.read_text("utf-8"))


@pytest.mark.parametrize("family", golden.OURS, ids=lambda family: family.__name__)
def test_the_values_are_those_of_r(family):
    assert [error for error in golden.errors_of(family) if not error[3] <= error[2]] == []


def test_each_value_is_asserted_or_left_out_with_a_reason_and_the_books_table_says_so():
    assert reference.make_table(VALUES, FAMILIES, reference.asserted_values()) == STORED
    assert all(row["reason"] for row in STORED["not_computed"])


def test_odds_ratios_are_those_of_clm_in_r():
    table = conditions.odds_ratios(golden.study(), bootstrap_of(golden.study()))["estimate"]
    first, *others = golden.called("emmean_")
    logs = {name: golden.reference()[f"clm_b_model{name}"] for name in others} | {first: 0.0}
    for one, other, _ in conditions.condition_pairs(golden.study()).values():
        assert table[f"{one} against {other}"] == pytest.approx(
            np.exp(logs[one] - logs[other]), abs=1e-5
        )


def rows(**found):
    return {
        name: {"quantity": name, "method": "m", "r_package": "p 1", "value": value}
        for name, value in found.items()
    }


# Comparing


@pytest.fixture
def committed(tmp_path, monkeypatch):
    """A copy of the committed values, which the script reads and writes."""
    path = tmp_path / "golden.csv"
    path.write_bytes(reference.VALUES.read_bytes())
    monkeypatch.setattr(reference, "VALUES", path)
    return path


@pytest.mark.parametrize("update", [True, False])
def test_only_lines_that_moved_are_accepted(committed, tmp_path, update):
    lines = committed.read_text("utf-8").splitlines()
    quantities = [line.partition(",")[0] for line in lines]
    slightly_changed = quantities.index("lmm_null_logLik")
    moved = quantities.index("d_overall")
    new_lines = list(lines)
    for line, added in {slightly_changed: 1e-6, moved: 0.1}.items():
        before_value, _, value = lines[line].rpartition(",")
        new_lines[line] = f"{before_value},{float(value) + added}"
    given_by_r = tmp_path / "values.csv"
    given_by_r.write_text("\n".join(new_lines) + "\n", "utf-8")
    assert reference.compare_with(given_by_r, update=update) == int(not update)
    accepted = committed.read_text("utf-8").splitlines()
    changed = [line for line, text in enumerate(lines) if accepted[line] != text]
    assert changed == [moved] * update
    assert len(accepted) == len(lines)


def test_a_value_that_no_test_asserts_is_a_problem():
    asserted = ("a_1", "absolute", 1e-7)
    with pytest.raises(reference.ReferenceProblem, match="a_2"):
        reference.make_table(rows(a_1="1", a_2="2", b="3"), SMALL, [asserted])
    with pytest.raises(reference.ReferenceProblem, match=r": b\. Correct"):
        reference.make_table(rows(a_1="1", b="3"), SMALL, [asserted, ("b", *asserted[1:])])


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
    tests = {
        name for path in modules for name in (path.stem, *TEST.findall(path.read_text("utf-8")))
    }
    lacking = [
        entry["statistic"]
        for entry in FAMILIES["without_reference"]
        if "keys" in entry and not entry["tests"]
    ]
    assert lacking == []
    assert {name for entry in entries for name in entry.get("tests", ())} - tests == set()


def test_every_module_of_statistics_is_in_the_table():
    named = {
        name
        for part in ("families", "without_reference")
        for row in STORED[part]
        for name in row["functions"]
    }
    package = ROOT / "src/sense7"
    own = {
        path.relative_to(package).with_suffix("").as_posix().replace("/", ".")
        for part in ("statistics", "findings")
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
            assert (
                path.is_dir()
                or path.with_suffix(".py").is_file()
                or callable(pydoc.locate(f"sense7.{name}"))
            ), name
