"""Expected and found: what a page says of its values on simulated data, and on others."""

from dataclasses import asdict

import pytest

from helpers import naming
from sense7.book.extensions.tables import compared
from sense7.expected import BEYOND, ExpectedValue

OWN = "the companion's statistics, 200 studies"
EXPECTED = {
    "drop": ExpectedValue(0.4, 0.0123, 0.1, 200, OWN),
    "share": ExpectedValue(0.381, 0.0004),
    "alpha_turn": ExpectedValue(0.8729),
    "counted": ExpectedValue(109.0, 0.0, 0.0, 200, OWN),
    "missing": ExpectedValue(0.2),
    "elsewhere": ExpectedValue(0.2, 0.0, 0.1, 200, OWN),
}


def value(key, estimate, low=None, high=None, unit="correlation", reason=None, notebook="03"):
    return {
        **{"key": key, "estimate": estimate, "low": low, "high": high, "n": 1234, "unit": unit},
        **{"method": f"method of <{key}>", "reason": reason, "notebook": notebook, "cell": 1},
    }


VALUES = [
    value("drop", 0.7, 0.5, 0.9),
    value("share", 0.4, 0.36, 0.44, "share of turns"),
    value("alpha_turn", 0.88, 0.8731, 0.9, "alpha"),
    value("counted", 109, unit="number of participants"),
    value("missing", None, reason="never asked"),
    value("untold", 0.5, 0.4, 0.6),
    value("elsewhere", 0.5, 0.4, 0.6, notebook="04"),
]


@pytest.fixture(scope="module")
def shown(page):
    """Make a page from what an edition holds: the page, and the warnings."""

    def make(kind="synthetic"):
        expected = None
        if kind == "synthetic":
            expected = {"values": {key: asdict(entry) for key, entry in EXPECTED.items()}}
        return page("# Page\n", ["tables", "page"], values=VALUES, kind=kind, expected=expected)

    return make


def cells(table):
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all("td")]
        for row in table.select("tbody tr")
    ]


def test_all_values_of_the_page_stand_in_a_fold_with_what_is_expected(shown):
    html, warnings = shown()
    assert warnings == ""
    (table,) = html.select("details.sense7-fold table.sense7-values")
    naming.check(table.find_parent("details").summary.get_text(), 6)
    assert [row[0] for row in cells(table)] == [entry["key"] for entry in VALUES[:6]]
    assert table.select("tbody a") == [], "the page may not show the cell"
    *recorded, expected, comparison = cells(table)[1]
    assert recorded == ["share", "40.0% [36.0%, 44.0%]", "1,234", "method of <share>"]
    naming.check(expected, "38.1%")
    assert "inside" in comparison
    assert cells(table)[5][4:] == ["", ""]
    strong = [
        row.find("td").get_text(strip=True)
        for row in table.select("tbody tr")
        if row.find("strong")
    ]
    assert strong == ["drop", "alpha_turn"]


# Compared


COMPARED = {  # found, expected, whether they differ, distance in standard errors
    "in its interval": ((0.5, 0.4, 0.6), ExpectedValue(0.4), False, None),
    "in its interval and far": ((0.5, 0.4, 0.6), ExpectedValue(0.6, sd=0.05), True, 2.0),
    "without an interval": ((0.5, None, None), ExpectedValue(0.6, sd=0.1), False, 1.0),
    "at the edge": ((BEYOND, None, None), ExpectedValue(0.0, sd=1.0), False, 2.0),
    "without any spread": ((0.5, None, None), ExpectedValue(0.6), False, None),
    "an equal number": ((5, None, None), ExpectedValue(5, sd=0.0), False, None),
    "another number": ((5, None, None), ExpectedValue(4, sd=0.0), True, None),
}


@pytest.mark.parametrize("case", COMPARED)
def test_found_beside_expected_in_words(case):
    interval, truth, is_apart, errors = COMPARED[case]
    found = dict(zip(("estimate", "low", "high"), interval, strict=True)) | {"unit": "alpha"}
    differs, words = compared(found, truth)
    assert differs is is_apart
    naming.check(words, *([errors] if errors else []))
