"""The ledger as one picture: a row per claim, on an axis that its kind gives."""

from hypothesis import given
from hypothesis import strategies as st

from sense7.book.editions import positions

PICTURE = "# Page\n\n```{ledger-picture}\n```\n"
CARD = "# Page\n\n```{claim-card} alpha\n```\n"
NUMBERS = st.floats(-1e6, 1e6)


def test_each_row_links_to_its_cell_and_says_both_values(page, claim):
    ledger = [claim(short="Alpha"), claim("beta", check=None, computed=None, rule={"passed": False})]
    html, warnings = page(PICTURE, ["finding"], ledger)
    assert warnings == ""
    first, second = html.select(".sense7-ledger-picture section li")
    assert first.a["href"] == "../notebooks/03.html#cell-4"
    assert first.get_text() == (
        "○Alpha0.800, published: 0.9 D, claim's rule: can't be decided by these data, "
        "check of the method: true value inside"
    )
    assert second.a["href"] == "ledger.html#claim-beta"
    assert second.select_one(".sense7-bar").find_all() == [], "nothing is drawn where nothing was computed"
    assert [item.get_text() for item in html.select(".sense7-verdicts li")] == [
        "◆ not passed (1)",
        "○ can't be decided (1)",
    ]


def test_claims_about_other_works_are_left_to_the_ledger(page, claim):
    html, _ = page(PICTURE, ["finding"], [claim(), claim("other", release=["ieval"])])
    assert len(html.select(".sense7-ledger-picture section li")) == 1


def test_names_from_outside_are_text(page, claim):
    html, _ = page(PICTURE, ["finding"], [claim(short="<script>alert(1)</script>", shown="<b>")])
    (row,) = html.select(".sense7-ledger-picture section li")
    assert row.find(["script", "b"]) is None
    assert row["title"] == "Title of <alpha>"


def test_a_card_has_words_value_other_peoples_ratings_and_both_marks(page, claim):
    other = {"study": "iEval", "passed": False}
    other["value"] = {"key": "b", "estimate": -0.2, "low": -0.3, "high": -0.1, "n": 1920, "unit": "alpha"}
    compare = {"beyond": 0, "number": "the share,"}
    html, warnings = page(CARD, ["finding"], [claim(value=None, compare=compare, elsewhere=other)])
    assert warnings == ""
    said = [one.get_text() for one in html.select("article p, .body p")]
    assert said[1] == "The share: 0.800 [0.700, 0.850] (n = 9)."
    assert (
        "Real ratings of other people (iEval, n = 1,920): -0.200 [-0.300, -0.100]; the same rule is not passed." in said
    )
    assert html.select_one(".sense7-bar b").get_text() == "zero"
    assert len(html.select(".sense7-badge")) == len(html.select(".sense7-check")) == 1


def test_a_card_without_other_ratings_says_so(page, claim):
    row = claim(value=None, compare={"beyond": 0, "number": "the share"}, check=None)
    html, _ = page(CARD, ["finding"], [row])
    assert "No released ratings of other people bear on it." in html.get_text()
    assert html.select(".sense7-check") == []


def test_the_axis_of_a_claim_in_words_has_the_excluded_value_in_its_middle(claim):
    row = claim(value=None, compare={"beyond": 0.5}, computed={"estimate": 0.8, "low": 0.4, "high": 1.2})
    reference, estimate, low, high = positions(row)
    assert reference == 50
    assert low < 50 < estimate < high < 100


def test_what_has_no_axis_is_not_drawn(claim):
    assert positions(claim(computed=None)) is None
    assert positions(claim(computed={"estimate": "a name"})) is None
    assert positions(claim(kind="check")) is None
    assert positions(claim(value=None, compare={"significant": 0.05})) is None


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([0.9, 109.0, None]))
def test_nothing_is_drawn_outside_of_the_axis(claim, first, second, third, published):
    low, estimate, high = sorted([first, second, third])
    rule = {"within": 1} if published else {"sign": "positive"}
    row = claim(value=published, compare=rule, computed={"estimate": estimate, "low": low, "high": high})
    reference, *places = positions(row)
    assert 0 < reference < 100
    assert places[1] <= places[0] <= places[2]
    assert all(0 <= place <= 100 for place in places)
