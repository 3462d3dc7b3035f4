"""R's values: the project's own are near them, what the script reports, and that the book's table says the same."""

import fnmatch
import json
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
VALUES, FAMILIES = reference.read_values(reference.VALUES), reference.read_families()
STORED = json.loads(reference.TABLE.read_text("utf-8"))


@pytest.mark.parametrize("family", golden.OURS, ids=lambda family: family.__name__)
def test_the_values_are_those_of_r(family):
    assert [error for error in golden.errors_of(family) if not error[3] <= error[2]] == []


def test_each_value_is_asserted_or_left_out_with_a_reason_and_the_books_table_says_so():
    how = "Run: .venv/bin/python evidence/reference.py table"
    assert reference.make_table(VALUES, FAMILIES, reference.asserted_values()) == STORED, how
    assert all(row["reason"] for row in STORED["not_computed"])


def test_odds_ratios_are_those_of_clm_in_r():
    table = conditions.odds_ratios(golden.study(), bootstrap_of(golden.study()))["estimate"]
    first, *others = golden.called("emmean_")
    logs = {name: golden.reference()[f"clm_b_model{name}"] for name in others} | {first: 0.0}
    for one, other, _ in conditions.condition_pairs(golden.study()).values():
        assert table[f"{one} against {other}"] == pytest.approx(
            np.exp(logs[one] - logs[other]), abs=1e-5
        )


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
    how = "Name each key in one entry of tests/reference/families.yml"
    assert {key: found for key, found in by_key.items() if len(found) != 1} == {}, how
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
