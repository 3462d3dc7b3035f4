"""The head of a page: answer, and box with each claim and its state; the ledger as a picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7.book.words import positions

BOX = "# Page\n\n```{finding} alpha\n{answer}`alpha`: the value is {value}`alpha`.\n```\n"
DIRECTIVES = ["finding"]
COUNTS = {"passed": 56, "studies": 200}
STUDIES = {"effect": COUNTS, "null": {"passed": 7, "studies": 200}}
REHEARSED = {
    "state": "rehearsed",
    "rehearsal": {"expected": 0.75, "is_put_in": False, "is_inside": True, "is_set": False},
    "studies": STUDIES,
}


def text(node):
    return " ".join(node.get_text(" ").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())


def marks(html):
    """Label -> mark and words of each part of a claim, one dictionary for each claim of the box."""
    claims = html.select(".sense7-finding .sense7-marks")
    return [
        {text(part.strong.extract()): text(part) for part in one.find_all("div")} for one in claims
    ]


def test_the_answer_stands_above_the_box_and_the_marks_in_it(page, claim, recorded):
    html, warnings = page(BOX, DIRECTIVES, [claim(state="not met", value=None)], [recorded()])
    assert warnings == ""
    answer = html.select_one(".sense7-answer")
    naming.check(text(answer), ": the value is 0.800 [0.700, 0.850] .")
    assert answer.find_next_sibling("div")["class"][0] == "sense7-finding"
    (claim_mark,) = html.select(".sense7-finding .sense7-marks")
    naming.check(text(claim_mark), "Title of <alpha> (notes)", "not met")


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (" The value is {value}`alpha` (n = {value}`alpha.n`).", ""),
        (" It is {value}`beta` here, and {value}`alpha` there (n = 7).", "It is 0.800 here."),
        (
            " It is {value}`alpha` here and in others (a, b) {value}`beta`.",
            "In others (a, b) 0.800.",
        ),
    ],
)
def test_a_number_that_is_missing_takes_its_own_words_with_it(
    page, claim, recorded, sentence, left
):
    source = BOX.replace(" the value is {value}`alpha`.", f" as the rule says.{sentence}")
    missing = recorded(estimate=None, low=None, high=None, reason="nobody was asked")
    values = [missing, recorded("beta", low=None, high=None)]
    html, warnings = page(source, DIRECTIVES, [claim(state="not met")], values)
    assert warnings == ""
    _, _, answer = text(html.select_one(".sense7-answer")).partition(": as the rule says.")
    kept, _, reason = answer.partition("Not available here")
    assert kept.strip().replace(" .", ".") == left
    assert reason == ": nobody was asked."


def test_simulated_data_have_what_was_expected_and_found_and_no_verdict(page, claim, recorded):
    also = [{"like": "in which any bad turn carries over", "passed": 24, "studies": 200}]
    row = claim(**REHEARSED | {"studies": STUDIES | {"also": also}})
    html, warnings = page(BOX, DIRECTIVES, [row], [recorded()])
    assert warnings == ""
    (said,) = marks(html)
    naming.check(said["Rehearsal"], "rehearsed", "0.750", "0.800 [0.700, 0.850]")
    naming.check(said["Studies"], "56 of 200", "7 of 200", "24 of 200", "any bad turn carries over")
    words = f"{text(html.select_one('.sense7-answer'))} {text(html.select_one('.sense7-finding'))}"
    assert "Yes" not in words
    assert " met" not in words.replace("meet", "")


@pytest.mark.parametrize("kind", ["own", "synthetic"])
def test_real_data_have_a_verdict_in_every_edition(page, claim, recorded, kind):
    release = ["ieval"] if kind == "synthetic" else None
    html, _ = page(
        BOX, DIRECTIVES, [claim(state="met", why="", release=release)], [recorded()], kind=kind
    )
    assert text(html.select_one(".sense7-answer strong")).startswith("Yes")
    naming.check(marks(html)[0]["Answer"], "met")


def test_the_answer_says_how_the_interval_lies_to_the_smallest_effect_of_interest(
    page, claim, recorded
):
    words = set()
    for effect in (0.1, 0.8, 0.9):
        row = claim(state="met", smallest={"effect": effect, "reason": "so"})
        html, _ = page(BOX, DIRECTIVES, [row], [recorded()], kind="own")
        naming.check(marks(html)[0]["Answer"], f"{effect:.3f}")
        words.add(text(html.select_one(".sense7-answer strong")))
    assert len(words) == 3


def test_the_first_of_several_claims_is_shown_at_once_and_a_set_one_says_so(page, claim, recorded):
    source = BOX.replace("alpha\n", "alpha beta gamma\n", 1)
    fixed = REHEARSED | {"rehearsal": REHEARSED["rehearsal"] | {"is_set": True}}
    rows = [claim("beta", **REHEARSED), claim(**fixed), claim("gamma", **REHEARSED)]
    html, _ = page(source, DIRECTIVES, rows, [recorded()])
    assert [one["Claim"].split()[2] for one in marks(html)] == ["<alpha>:", "<beta>:", "<gamma>:"]
    assert len(html.select(".sense7-finding > .sense7-marks")) == 1
    naming.check(text(html.select_one(".sense7-set-note")), 1)


def test_an_unusable_box_ends_the_build(page, claim, recorded, complaints):
    sources = [
        "```{finding} beta\nText.\n```",
        "```{finding}\nText.\n```",
        "```{finding} alpha\n```",
        "Text {answer}`beta`.",
    ]
    _, warnings = page("\n\n".join(["# Page", *sources]), DIRECTIVES, [claim()], [recorded()])
    found = complaints(warnings)
    assert list(found) == ["3", "7", "11", "14"]
    naming.check(found["3"], "finding: ", "beta")
    naming.check(found["7"], "finding: ", ":claim:")
    naming.check(found["11"], "finding: ")
    naming.check(found["14"], "answer: ", "beta")


# The ledger as one picture: a row per claim, on an axis that its kind gives.

PICTURE = "# Page\n\n```{ledger-picture}\n```\n"
NUMBERS = st.floats(-1e6, 1e6)


def test_each_row_links_to_its_cell_and_says_both_values(page, claim):
    ledger = [claim(short="Alpha"), claim("beta", "in no release", computed=None)]
    html, warnings = page(PICTURE, ["finding"], ledger)
    assert warnings == ""
    first, second = html.select(".sense7-ledger-picture section li")
    assert first.a["href"] == "../notebooks/03.html#cell-4"
    naming.check(first.get_text(), "Alpha", "0.800", ": 0.9")
    assert second.a["href"] == "ledger.html#claim-beta"
    assert second.select_one(".sense7-bar").find_all() == [], (
        "nothing is drawn where nothing was computed"
    )
    every_claim, *states = html.select(".sense7-states li")
    assert every_claim["data-rule"] == ""
    assert len(states) == 2
    for item in states:
        naming.check(item.get_text(), "(1)")


def test_counts_typed_into_a_simulation_are_no_results(page, claim):
    typed = claim(**REHEARSED, key="participants")
    html, _ = page(PICTURE, ["finding"], [claim(**REHEARSED), typed])
    (row,) = html.select(".sense7-ledger-picture section li")
    naming.check(text(row), "0.750", "0.800")


def test_names_from_outside_are_text(page, claim):
    html, _ = page(PICTURE, ["finding"], [claim(short="<script>alert(1)</script>", shown="<b>")])
    (row,) = html.select(".sense7-ledger-picture section li")
    assert row.find(["script", "b"]) is None
    assert row["title"] == "Title of <alpha>"


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([0.9, 109.0, None]))
def test_nothing_is_drawn_outside_of_the_axis(claim, first, second, third, published):
    low, estimate, high = sorted([first, second, third])
    rule = {"within": 1} if published else {"sign": "positive"}
    row = claim(
        value=published, compare=rule, computed={"estimate": estimate, "low": low, "high": high}
    )
    reference, *places = positions(row)
    assert 0 < reference < 100
    assert places[1] <= places[0] <= places[2]
    assert all(0 <= place <= 100 for place in places)
