"""The ledger as one picture: a row per claim, on an axis that its kind gives."""

from hypothesis import given
from hypothesis import strategies as st

from sense7.book.ledger_axis import positions

PICTURE = "# Page\n\n```{ledger-picture}\n```\n\n```{interval} alpha\n```\n"
NUMBERS = st.floats(-1e6, 1e6)


def test_each_row_links_to_its_cell_and_says_both_values(page, claim):
    ledger = [claim(short="Alpha"), claim("beta", check=None, computed=None, rule={"passed": False})]
    html, warnings = page(PICTURE, ["ledger_picture"], ledger)
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
    html, _ = page(PICTURE, ["ledger_picture"], [claim(), claim("other", release=["ieval"])])
    assert len(html.select(".sense7-ledger-picture section li")) == 1


def test_names_from_outside_are_text(page, claim):
    html, _ = page(PICTURE, ["ledger_picture"], [claim(short="<script>alert(1)</script>", shown="<b>")])
    (row,) = html.select(".sense7-ledger-picture section li")
    assert row.find(["script", "b"]) is None
    assert row["title"] == "Title of <alpha>"


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
