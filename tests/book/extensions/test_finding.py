"""The head of a page: answer, and box with each claim and its two marks; the ledger as a picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7.book.extensions.finding import positions

BOX = "# Page\n\n```{finding} alpha\n{answer}`alpha`: the value is {value}`alpha`.\n```\n"
DIRECTIVES = ["finding"]
DECIDED = {
    "passed": False,
    "state": "not met",
    "why": None,
    "power": 0.28,
    "null": 0.035,
    "also": [],
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
    html, warnings = page(BOX, DIRECTIVES, [claim(rule=DECIDED, value=None)], [recorded()])
    assert warnings == ""
    answer = html.select_one(".sense7-answer")
    naming.check(text(answer), ": the value is 0.800 [0.700, 0.850] .")
    assert answer.find_next_sibling("div")["class"][0] == "sense7-finding"
    (claim_mark,) = html.select(".sense7-finding .sense7-marks")
    naming.check(text(claim_mark), "Title of <alpha> (notes)", "not met", "28%", "3.5%")


def test_a_number_that_is_missing_takes_its_sentence_with_it_and_leaves_the_reason(
    page, claim, recorded
):
    source = BOX.replace(
        "the value is {value}`alpha`.",
        "as the rule says. The value is {value}`alpha` (n = {value}`alpha.n`). It is {value}`beta` elsewhere.",
    )
    missing = recorded(estimate=None, low=None, high=None, reason="nobody was asked")
    html, warnings = page(source, DIRECTIVES, [claim(rule=DECIDED)], [missing, recorded("beta")])
    assert warnings == ""
    answer = text(html.select_one(".sense7-answer"))
    naming.check(answer, ": as the rule says.", "elsewhere.", ": nobody was asked.")
    assert "The value" not in answer
    assert "0.800" in answer


@pytest.mark.parametrize(
    ("kind", "release"),
    [("synthetic", None), ("synthetic", ["ieval"]), ("own", None)],
    ids=["simulated", "released beside simulated", "own"],
)
def test_a_decided_claim_says_whether_the_data_that_decide_it_are_simulated(
    page, claim, recorded, kind, release
):
    row = claim(rule=DECIDED, check=None, release=release)
    html, _ = page(BOX, DIRECTIVES, [row], [recorded()], kind=kind)
    answer = marks(html)[0]["Answer"]
    naming.check(answer, "not met")
    assert ("simulated" in answer) == (kind == "synthetic" and release is None)


def test_the_power_is_followed_by_other_simulated_studies_that_a_claim_names(page, claim, recorded):
    also = [{"like": "in which any bad turn carries over", "share": 0.16}]
    html, _ = page(BOX, DIRECTIVES, [claim(rule=DECIDED | {"also": also})], [recorded()])
    power = marks(html)[0]["Power"]
    naming.check(power, "28%", "16%", "in which any bad turn carries over")


@pytest.mark.parametrize(
    ("kind", "cases"),
    [
        ("synthetic", [(True, None), (True, "ieval")]),
        ("own", [(True, None), (False, None), (None, None)]),
    ],
    ids=["synthetic", "own"],
)
def test_the_first_word_of_the_answer_is_the_rule_s_alone(page, claim, recorded, kind, cases):
    rows = [
        claim(
            f"claim{place}",
            rule={"passed": passed},
            check={"passed": not passed},
            release=release and [release],
        )
        for place, (passed, release) in enumerate(cases)
    ]
    source = "\n\n".join(["# Page", *(f"{{answer}}`{row['id']}`" for row in rows)])
    html, _ = page(source, DIRECTIVES, rows, [recorded()], kind=kind)
    answers = html.select(".body p strong, article p strong")
    assert len(answers) == len(cases)
    for answer in answers:
        assert answer.get_text()


def test_what_cannot_be_decided_says_why_and_other_data_have_no_check(page, claim, recorded):
    html, _ = page(BOX, DIRECTIVES, [claim(check=None)], [recorded()], kind="own")
    (claim_mark,) = html.select(".sense7-finding .sense7-marks")
    naming.check(text(claim_mark), "Title of <alpha>: 0.9 (notes)", "0.800 [0.700, 0.850] (n = 9)")


def test_each_of_several_claims_has_its_marks_and_a_tuned_one_says_so(page, claim, recorded):
    source = BOX.replace("alpha\n", "alpha beta\n", 1)
    html, _ = page(source, DIRECTIVES, [claim(tuned=True), claim("beta")], [recorded()])
    first, second = html.select(".sense7-finding .sense7-marks")
    naming.check(text(first), "calibrated")
    assert "calibrated" not in text(second)
    naming.check(text(html.select_one(".sense7-tuned-note")), 1)
    (summary,) = html.select(".sense7-finding > details > summary")
    naming.check(text(summary), 1)


def test_the_first_claim_is_shown_at_once_and_the_others_are_folded(page, claim, recorded):
    source = BOX.replace("alpha\n", "alpha beta gamma\n", 1)
    rows = [claim("beta", rule=DECIDED), claim(), claim("gamma", rule=DECIDED)]
    html, _ = page(source, DIRECTIVES, rows, [recorded()])
    assert [one["Claim"].split()[2] for one in marks(html)] == ["<alpha>:", "<beta>:", "<gamma>:"]
    assert len(html.select(".sense7-finding > .sense7-marks")) == 1


def test_a_page_of_released_ratings_never_calls_them_simulated(page, claim, recorded):
    html, _ = page(
        BOX, DIRECTIVES, [claim(check=None)], [recorded()], made={"released": {"03": ["ieval"]}}
    )
    assert "imulated" not in text(html.select_one(".sense7-finding"))


def test_a_page_without_a_claim_says_what_it_asks(page, recorded):
    source = "# Page\n\n```{finding}\n:claim: Does *it* hold?\n\nIt is {value}`alpha`.\n```\n"
    html, warnings = page(source, DIRECTIVES, [], [recorded()])
    assert warnings == ""
    question, comparison = html.select(".sense7-finding-part")
    naming.check(text(question), "Does it hold?")
    assert text(comparison)
    labels = html.select(".sense7-finding-part .sense7-finding-label")
    assert [text(label) for label in labels] == ["Question", "Claim"]


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
    ledger = [
        claim(short="Alpha"),
        claim("beta", check=None, computed=None, rule=DECIDED),
    ]
    html, warnings = page(PICTURE, ["finding"], ledger)
    assert warnings == ""
    first, second = html.select(".sense7-ledger-picture section li")
    assert first.a["href"] == "../notebooks/03.html#cell-4"
    naming.check(first.get_text(), "Alpha", "0.800", ": 0.9")
    assert second.a["href"] == "ledger.html#claim-beta"
    assert second.select_one(".sense7-bar").find_all() == [], (
        "nothing is drawn where nothing was computed"
    )
    every_claim, *verdicts = html.select(".sense7-verdicts li")
    assert every_claim["data-rule"] == ""
    assert every_claim.get_text() == "all (2)"
    assert len(verdicts) == 2
    for item in verdicts:
        naming.check(item.get_text(), "(1)")


def test_claims_about_other_works_are_left_to_the_ledger(page, claim):
    html, _ = page(PICTURE, ["finding"], [claim(), claim("other", release=["ieval"])])
    assert len(html.select(".sense7-ledger-picture section li")) == 1


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
