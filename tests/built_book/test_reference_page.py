"""The page of R's values: every row of the stored table, each function a link into the reference of the library."""

import json
from pathlib import Path

import pytest

from sense7.book.extensions.references import power_of_ten

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "reference.json").read_text("utf-8"))


@pytest.fixture
def tables(synthetic):
    return synthetic.page("book/reference-values").select("table.sense7-reference")


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


def test_what_is_not_compared_stands_with_its_reason(tables, stored):
    assert [row[-1] for row in body(tables[1])] == [row["reason"] for row in stored["not_computed"]]
    assert [row[-1] for row in body(tables[2])] == [row["instead"] for row in stored["without_reference"]]


def test_every_function_is_a_link_to_what_is_said_of_it(synthetic, tables, stored):
    named = [name for part in ("families", "without_reference") for row in stored[part] for name in row["functions"]]
    named = [name for name in named if ":" not in name]
    links = [link for table in (tables[0], tables[2]) for link in table.select("tbody a[href]")]
    assert [link.get_text() for link in links] == named
    for link in links:
        page, _, anchor = link["href"].partition("#")
        assert anchor in synthetic.anchors(f"book/{page}"), link["href"]
