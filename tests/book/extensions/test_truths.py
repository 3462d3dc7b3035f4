"""Planted, implied, found: what a page says of its values on simulated data, and on others."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from sense7.book.extensions import truths
from sense7.book.extensions.truths import (
    NO_POWER,
    NO_TRUTH,
    NOT_SIMULATED,
    beyond_in_words,
    compared,
    planted_in_words,
)
from sense7.errors import UserError
from sense7.implied import ImpliedTruth
from sense7.simulate.parameters import Parameters

ROOT = Path(__file__).resolve().parents[3]
ENTRY = {"unit": "level", "meaning": "fall of quality <b>", "kind": "parameter", "tuned": False}
PLANTED = [ENTRY | {"key": "continuity_drop", "value": 0.8}]
TRUTH = {"planted": PLANTED, "parameters": Parameters().as_dict(), "seed": 1}
OWN = "the companion's statistics, 200 studies"
IMPLIED = {
    "drop": ImpliedTruth(0.4, 0.0123, 0.1, 200, OWN),
    "share": ImpliedTruth(0.381, 0.0004),
    "edge": ImpliedTruth(0.8729),
    "counted": ImpliedTruth(109.0, 0.0, 0.0, 200, OWN),
    "missing": ImpliedTruth(0.2),
    "elsewhere": ImpliedTruth(0.2, 0.0, 0.1, 200, OWN),
}


def value(key, estimate, low=None, high=None, unit="correlation", reason=None, notebook="03"):
    return {
        **{"key": key, "estimate": estimate, "low": low, "high": high, "n": 1234, "unit": unit},
        **{"method": f"method of <{key}>", "reason": reason, "notebook": notebook, "cell": 1},
    }


VALUES = [
    value("drop", 0.7, 0.5, 0.9),
    value("share", 0.4, 0.36, 0.44, "share of turns"),
    value("edge", 0.88, 0.8731, 0.9, "alpha"),
    value("counted", 109, unit="participants"),
    value("missing", None, reason="never asked"),
    value("untold", 0.5, 0.4, 0.6),
    value("elsewhere", 0.5, 0.4, 0.6, notebook="04"),
]
ROWS = """\
drop | the <i>drop</i> | continuity_drop, overall_weights.Relational
share | the share |

edge | the edge
missing | what is missing |
untold | what nobody implies |
never | what was not recorded | condition_slope_model-z
"""


@pytest.fixture(scope="module")
def shown(page):
    """Make a page with directives from what an edition holds: the page, and the warnings."""

    def make(source=f"```{{truths}}\n{ROWS}```", kind="synthetic", truth=TRUTH, shares=()):
        held = {"truths": {key: asdict(entry) for key, entry in IMPLIED.items()}, "beyond_shares": list(shares)}
        implied = held if truth and kind == "synthetic" else None
        source = f"# Page\n\n{source}\n"
        return page(source, ["truths", "page"], values=VALUES, kind=kind, truth=truth, implied=implied)

    return make


@pytest.fixture(scope="module")
def whole(shown):
    return shown()


def cells(table):
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in table.select("tbody tr")]


def test_each_row_shows_planted_implied_and_found(whole):
    html, warnings = whole
    assert warnings == ""
    rows = cells(html.select("table.sense7-truths")[0])
    assert rows[0] == [
        "the <i>drop</i>",
        "fall of quality <b>: 0.8 (level) overall weights, Relational: 0.05",
        f"0.400 (Monte Carlo error 0.012) {OWN}",
        "0.700 [0.500, 0.900]",
        "outside the interval: 0.400 and [0.500, 0.900]; 3.0 standard errors above",
    ]
    assert rows[1] == [
        *("the share", "-", "38.1% (Monte Carlo error 0.04%) independent code", "40.0% [36.0%, 44.0%]"),
        "inside the interval",
    ]


def test_a_truth_and_a_limit_that_would_look_alike_get_another_digit(whole):
    (row,) = [row for row in cells(whole[0].select("table.sense7-truths")[0]) if row[0] == "the edge"]
    assert row[3:] == ["0.880 [0.873, 0.900]", "outside the interval: 0.8729 and [0.8731, 0.9000]"]


def test_what_parts_is_emphasized_and_the_rest_is_not(whole):
    table = whole[0].select("table.sense7-truths")[0]
    strong = [row.find("td").get_text(strip=True) for row in table.select("tbody tr") if row.find("strong")]
    assert strong == ["the <i>drop</i>", "the edge"]


def test_what_has_no_value_or_no_truth_says_why(whole):
    rows = {row[0]: row[1:] for row in cells(whole[0].select("table.sense7-truths")[0])}
    assert rows["what is missing"] == ["-", "0.200 independent code", "not available here (never asked)", "-"]
    assert rows["what nobody implies"][1] == "no implied value: neither source has this value"
    assert rows["what was not recorded"] == [
        "condition slope model-z: not planted in this workbook",
        "no implied value: not recorded on these data",
        "not recorded on these data",
        "-",
    ]


def test_n_and_method_go_with_each_found_value(whole):
    (tag,) = [tag for tag in whole[0].select("table.sense7-truths")[0].select("abbr") if "0.700" in tag.get_text()]
    assert tag["title"] == "n = 1,234; method of <drop>"


def test_all_values_of_the_page_are_folded_below_with_what_is_implied(whole):
    first, fold = whole[0].select("details.sense7-fold")
    assert first.summary.get_text() == "Planted, implied and estimated values (6)"
    assert fold.summary.get_text() == "All values of this page (6)"
    (table,) = fold.select("table.sense7-values")
    assert [row[0] for row in cells(table)] == [entry["key"] for entry in VALUES[:6]]
    assert table.select("tbody a") == [], "the page may not show the cell"
    assert cells(table)[1] == [
        *("share", "40.0% [36.0%, 44.0%]", "1,234", "method of <share>"),
        *("38.1% (Monte Carlo error 0.04%) independent code", "inside the interval"),
    ]
    assert cells(table)[5][4:] == ["", ""]


@pytest.mark.parametrize(("kind", "sentence"), [("own", NOT_SIMULATED), ("synthetic", NO_TRUTH)])
def test_on_data_without_a_known_truth_each_is_one_sentence(shown, kind, sentence):
    html, warnings = shown(f"```{{truths}}\n{ROWS}```\n\n```{{distances}}\n```", kind, None)
    assert warnings == ""
    assert html.get_text().count(sentence) == 2
    assert html.select("table.sense7-truths, figure") == []


def test_rows_that_name_nothing_are_warnings_with_page_and_line_and_end_the_build(shown):
    rows = "drop | the drop | continuity_drops\n\ndrop\ndrop | a | b | c\n| a | b\n"
    _, warnings = shown(f"```{{truths}}\n{rows}```")
    assert "03.md:4: WARNING: truths: nothing is planted under the name 'continuity_drops'" in warnings
    assert "03.md:6: WARNING: truths: 'drop' is no row. Write: key | what it is" in warnings
    assert warnings.count("is no row") == 3


# Distances


def test_every_value_with_a_truth_and_an_error_is_drawn_and_those_beyond_are_listed(shown):
    html, warnings = shown("```{distances}\n```", shares=[0.0] * 50 + [0.5] * 50)
    assert warnings == ""
    text = " ".join(html.get_text(" ").split())
    # drop: 3 errors of sd 0.1 and 0.0123; share and edge: by their intervals; elsewhere: another page's
    assert "2 of 4 values lie more than 1.96 standard errors from their implied truth; 0 are expected by chance" in text
    assert "The values are correlated" in text
    assert "Among 100 simulated studies, the middle 95% have 0 to 2 of so many beyond" in text
    assert "Left out: 1 value that every simulated study gives alike." in text
    (figure,) = html.select("figure.sense7-figure")
    assert figure.svg["aria-label"].startswith("4 distances from 0.9 to 3.0, in ascending order; 2 of them beyond 1.96")
    fold, _ = html.select("details.sense7-fold")
    assert fold.summary.get_text() == "Values beyond 1.96 (2)"
    assert [row[0] for row in cells(fold)] == ["elsewhere", "drop"]
    assert [link["href"] for link in fold.select("tbody a")] == [f"../notebooks/{n}.html#cell-1" for n in ("04", "03")]


@pytest.mark.parametrize(("values", "beyond", "expected"), [(1, 0, "0"), (400, 31, "20"), (1000, 50, "50")])
def test_the_expected_number_stands_beside_the_number_found(values, beyond, expected):
    said = beyond_in_words(values, beyond, [])
    assert said.startswith(f"{beyond:,} of {values:,} value")
    assert f"; {expected} are expected by chance" in said
    assert "simulated studies" not in said


# How often rules are passed


def test_how_often_rules_are_passed_stands_with_wilson_intervals(shown, tmp_path, monkeypatch):
    """Wilson's interval of 6 in 200 by its formula: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)."""
    counted = {"null": {"passed": 6, "studies": 200}, "planted": {"passed": 0, "studies": 0}}
    entry = counted | {"null_parameters": "continuity <drop> = 0"}
    path = tmp_path / "claims_power.json"
    path.write_text(json.dumps({"studies": 200, "claims": {"finding": entry}}))
    monkeypatch.setattr(truths, "data_file", lambda name: path)
    html, warnings = shown("```{claims-power}\n```")
    assert warnings == ""
    z, p, n = 1.959964, 0.03, 200
    middle, half = p + z**2 / (2 * n), z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    low, high = (100 * (middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    assert cells(html.select_one("table.sense7-truths")) == [
        [
            *("finding", "continuity <drop> = 0", f"3.0% [{low:.1f}%, {high:.1f}%], n = 200"),
            "could be applied in no study",
        ]
    ]


def test_without_the_stored_table_a_sentence_says_so(shown, monkeypatch):
    def missing(name):
        raise UserError("not here")

    monkeypatch.setattr(truths, "data_file", missing)
    html, warnings = shown("```{claims-power}\n```")
    assert warnings == ""
    assert NO_POWER in html.get_text()


# Planted, in words


def test_names_of_truth_file_and_of_the_simulation_are_put_in_words():
    assert planted_in_words("continuity_drop", TRUTH) == "fall of quality <b>: 0.8 (level)"
    assert planted_in_words("failure_probability", TRUTH) == "failure probability: 0.04"
    assert planted_in_words("overall_weights", TRUTH).startswith("overall weights: Affective 0.3, Cognitive 0.2")
    assert planted_in_words("topic_effects", TRUTH) == "topic effects: 8 values from -0.15 to 0.2"
    assert planted_in_words("thresholds.2|3", TRUTH) == "thresholds, 2|3: 2.5"
    assert planted_in_words("conditions", TRUTH).startswith("conditions: 1 model-a, 2 model-b")


@pytest.mark.parametrize("name", ["drop", "overall_weight", "continuity_drop.Relational", ""])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(KeyError):
        planted_in_words(name, TRUTH)


@pytest.mark.parametrize("name", ["condition_slope_model-z", "condition_effects.model-z", "topic_effect_Weather"])
def test_conditions_of_another_workbook_are_no_mistake_of_the_page(name):
    assert planted_in_words(name, TRUTH).endswith("not planted in this workbook")


# Compared


@pytest.mark.parametrize(
    ("found", "truth", "parts", "words"),
    [
        ((0.5, 0.4, 0.6), ImpliedTruth(0.4), False, "inside the interval"),
        ((0.5, 0.4, 0.6), ImpliedTruth(0.6, sd=0.05), True, "inside the interval; 2.0 standard errors below"),
        ((0.5, None, None), ImpliedTruth(0.6, sd=0.1), False, "1.0 standard errors below"),
        (
            (0.5, None, None),
            ImpliedTruth(0.6),
            False,
            "no interval, and its spread over simulated studies is not known",
        ),
        ((5, None, None), ImpliedTruth(5, sd=0.0), False, "the same"),
        ((5, None, None), ImpliedTruth(4, sd=0.0), True, "not the same"),
        (("a", None, None), ImpliedTruth("b"), True, "not the same"),
        (("a", None, None), ImpliedTruth("a"), False, "the same"),
    ],
)
def test_found_beside_implied_in_words(found, truth, parts, words):
    found = dict(zip(("estimate", "low", "high"), found, strict=True)) | {"unit": "alpha"}
    assert compared(found, truth) == (parts, words)


def test_every_stem_is_one_of_the_truth_file():
    truth = json.loads((ROOT / "data" / "synthetic_truth.json").read_text("utf-8"))
    keys = [entry["key"] for entry in truth["planted"]]
    for stem in truths._STEMS:
        assert any(key.startswith(stem) for key in keys), stem


def test_of_a_simulation_without_a_judge_nothing_of_a_judge_is_planted(shown):
    html, warnings = shown("```{truths}\ndrop | the drop | judge_signal\n```")
    assert warnings == ""
    assert cells(html.select_one("table.sense7-truths"))[0][1] == "-"
