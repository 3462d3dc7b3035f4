"""Expected and found: what a page says of its values on simulated data, and on others."""

from dataclasses import asdict

import pytest

from sense7.book.extensions.truths import compared
from sense7.expected import ExpectedValue
from sense7.simulate.parameters import Parameters

ENTRY = {"unit": "level", "meaning": "fall of quality <b>", "kind": "parameter", "tuned": False}
PLANTED = [ENTRY | {"key": "continuity_drop", "value": 0.8}]
TRUTH = {"planted": PLANTED, "parameters": Parameters().as_dict(), "seed": 1}
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
    value("counted", 109, unit="participants"),
    value("missing", None, reason="never asked"),
    value("untold", 0.5, 0.4, 0.6),
    value("elsewhere", 0.5, 0.4, 0.6, notebook="04"),
]


@pytest.fixture(scope="module")
def shown(page):
    """Make a page from what an edition holds: the page, and the warnings."""

    def make(kind="synthetic", truth=TRUTH):
        expected = {"values": {key: asdict(entry) for key, entry in EXPECTED.items()}}
        expected = expected if truth and kind == "synthetic" else None
        source = "# Page\n"
        return page(
            source, ["truths", "page"], values=VALUES, kind=kind, truth=truth, expected=expected
        )

    return make


def cells(table):
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all("td")]
        for row in table.select("tbody tr")
    ]


def test_all_values_of_the_page_stand_in_a_fold_with_what_is_expected(shown):
    html, warnings = shown()
    assert warnings == ""
    (fold,) = [
        one for one in html.select("details.sense7-fold") if "All values" in one.summary.get_text()
    ]
    assert fold.summary.get_text() == "All values of this page (6)"
    (table,) = fold.select("table.sense7-values")
    assert [row[0] for row in cells(table)] == [entry["key"] for entry in VALUES[:6]]
    assert table.select("tbody a") == [], "the page may not show the cell"
    assert cells(table)[1] == [
        *("share", "40.0% [36.0%, 44.0%]", "1,234", "method of <share>"),
        *("38.1% independent code", "inside the interval"),
    ]
    assert cells(table)[5][4:] == ["", ""]
    sources = {row.td.get_text(): row.select("td")[4] for row in table.select("tbody tr")}
    (computed_by,) = sources["alpha_turn"].select("p[title]")
    assert computed_by["title"] == "sense7.simulate.true_values.ratings.reliability"
    assert sources["share"].select("p[title]") == [], "in no row of the table of true values"
    strong = [
        row.find("td").get_text(strip=True)
        for row in table.select("tbody tr")
        if row.find("strong")
    ]
    assert strong == ["drop", "alpha_turn"]


# Compared


@pytest.mark.parametrize(
    ("found", "truth", "parts", "words"),
    [
        ((0.5, 0.4, 0.6), ExpectedValue(0.4), False, "inside the interval"),
        (
            (0.5, 0.4, 0.6),
            ExpectedValue(0.6, sd=0.05),
            True,
            "inside the interval; 2.0 standard errors below",
        ),
        ((0.5, None, None), ExpectedValue(0.6, sd=0.1), False, "1.0 standard errors below"),
        (
            (0.5, None, None),
            ExpectedValue(0.6),
            False,
            "no interval, and its spread over simulated studies is not known",
        ),
        ((5, None, None), ExpectedValue(5, sd=0.0), False, "the same"),
        ((5, None, None), ExpectedValue(4, sd=0.0), True, "not the same"),
        (("a", None, None), ExpectedValue("b"), True, "not the same"),
        (("a", None, None), ExpectedValue("a"), False, "the same"),
    ],
)
def test_found_beside_expected_in_words(found, truth, parts, words):
    found = dict(zip(("estimate", "low", "high"), found, strict=True)) | {"unit": "alpha"}
    assert compared(found, truth) == (parts, words)
