"""The head of a page: answer, and box with each claim and its state; the ledger as a picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7.book.words import positions

BOX = "# Page\n\n```{finding} alpha\n{answer}`alpha`: the value is {value}`alpha`.\n```\n"
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


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (" The value is {value}`alpha` (n = {value}`alpha.n`).", ""),
        (" It is {value}`beta` here. It is {value}`alpha` there (n = 7).", "It is 0.800 here."),
        (" In a case it is {value}`alpha` and {value}`beta`. So it is.", "So it is."),
    ],
)
def test_a_missing_number_takes_its_sentence_with_it(page, claim, recorded, sentence, left):
    source = BOX.replace(" the value is {value}`alpha`.", f" as the rule says.{sentence}")
    missing = recorded(estimate=None, low=None, high=None, reason="nobody was asked")
    values = [missing, recorded("beta", low=None, high=None)]
    html, warnings = page(source, [claim(state="not met")], values)
    assert warnings == ""
    _, _, answer = text(html.select_one(".sense7-answer")).partition(": as the rule says.")
    kept, _, reason = answer.partition("Not available here")
    assert kept.strip().replace(" .", ".") == left
    assert reason == ": nobody was asked."


def test_simulated_data_have_what_was_expected_and_found_and_no_verdict(page, claim, recorded):
    also = [{"like": "in which any bad turn carries over", "passed": 24, "studies": 200}]
    row = claim(**REHEARSED | {"studies": STUDIES | {"also": also}})
    html, warnings = page(BOX, [row], [recorded()])
    assert warnings == ""
    (said,) = marks(html)
    naming.check(said["Rehearsal"], "rehearsed", "0.750", "0.800 [0.700, 0.850]")
    naming.check(said["Studies"], "56 of 200", "7 of 200", "24 of 200", "any bad turn carries over")
    words = f"{text(html.select_one('.sense7-answer'))} {text(html.select_one('.sense7-finding'))}"
    assert "Yes" not in words
    assert " met" not in words.replace("meet", "")


def test_only_studies_like_the_simulated_ones_are_counted(page, claim):
    rows = [claim(**REHEARSED), claim("beta", **REHEARSED | {"studies": None}), claim("gamma")]
    source = "\n\n".join(f"{{rehearsed}}`{row['id']}`" for row in rows)
    html, _ = page(f"# Page\n\n{source}\n", rows)
    assert text(html.section).count(" of 200 ") == 1


@pytest.mark.parametrize("kind", ["own", "synthetic"])
def test_real_data_have_a_verdict_in_every_edition(page, claim, recorded, kind):
    release = ["ieval"] if kind == "synthetic" else None
    html, _ = page(BOX, [claim(state="met", why="", release=release)], [recorded()], kind=kind)
    assert text(html.select_one(".sense7-answer strong")).startswith("Yes")
    naming.check(marks(html)[0]["Answer"], "met")


def test_the_answer_compares_the_interval_with_the_smallest_effect(page, claim, recorded):
    words = set()
    for effect in (0.1, 0.8, 0.9):
        row = claim(state="met", smallest={"effect": effect, "reason": "so"})
        html, _ = page(BOX, [row], [recorded()], kind="own")
        naming.check(marks(html)[0]["Answer"], f"{effect:.3f}")
        words.add(text(html.select_one(".sense7-answer strong")))
    assert len(words) == 3


def test_an_unusable_box_ends_the_build(page, claim, recorded, complaints):
    sources = [
        "```{finding} beta\nText.\n```",
        "```{finding}\nText.\n```",
        "```{finding} alpha\n```",
        "Text {answer}`beta`.",
    ]
    _, warnings = page("\n\n".join(["# Page", *sources]), [claim()], [recorded()])
    found = complaints(warnings)
    assert list(found) == ["3", "7", "11", "14"]
    naming.check(found["3"], "finding: ", "beta")
    naming.check(found["7"], "finding: ", ":claim:")
    naming.check(found["11"], "finding: ")
    naming.check(found["14"], "answer: ", "beta")


# The ledger as one picture: a row per claim, on an axis that its kind gives.

PICTURE = "# Page\n\n```{ledger-picture}\n```\n"
NUMBERS = st.floats(-1e6, 1e6)


def test_counts_typed_into_a_simulation_are_no_results(page, claim):
    typed = claim(**REHEARSED, key="participants")
    html, _ = page(PICTURE, [claim(**REHEARSED), typed])
    (row,) = html.select(".sense7-ledger-picture section li")
    naming.check(text(row), "0.750", "0.800")


def test_names_from_outside_are_text(page, claim):
    html, _ = page(PICTURE, [claim(short="<script>alert(1)</script>", shown="<b>")])
    (row,) = html.select(".sense7-ledger-picture section li")
    assert row.find(["script", "b"]) is None
    assert row["title"] == "Title of <alpha>"


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([0.9, 109.0, None]))
def test_nothing_is_drawn_outside_of_the_axis(claim, first, second, third, published):
    rule = {"within": 1} if published else {"sign": "positive"}
    computed = dict(zip(("low", "estimate", "high"), sorted([first, second, third]), strict=True))
    row = claim(value=published, compare=rule, computed=computed)
    reference, *places = positions(row)
    assert 0 < reference < 100
    assert places[1] <= places[0] <= places[2]
    assert all(0 <= place <= 100 for place in places)
