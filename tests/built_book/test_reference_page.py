"""The page of R's values: every row of the stored table."""

import json
import re
from pathlib import Path

import pytest

from sense7.book.extensions.truths import power_of_ten

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "reference.json").read_text("utf-8"))


@pytest.fixture
def tables(synthetic):
    return synthetic.page("book/promises").select("table.sense7-reference")


def body(table):
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in table.select("tbody tr")]


def test_every_statistic_stands_with_its_values_tolerance_and_error(tables, stored):
    rows = body(tables[0])
    assert len(rows) == len(stored["families"])
    for (what, values, tolerance, error), row in zip(rows, stored["families"], strict=True):
        assert what.startswith(row["statistic"])
        assert all(package in what for package in row["packages"])
        assert values == f"{row['values']:,}"
        for found in row["errors"]:
            assert (power_of_ten(found["tolerance"]) if found["tolerance"] else "equal") in tolerance
            assert power_of_ten(found["largest_error"]) in error


def test_every_promise_names_tests_that_exist():
    page = (ROOT / "book" / "promises.md").read_text("utf-8").partition("## Agreement with R")[0]
    promises = [line for line in page.splitlines() if line.startswith("- ")]
    assert len(promises) > 15
    for promise in promises:
        named = re.findall(r"`([\w/]+\.py)`", promise)
        assert named, promise
        assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
