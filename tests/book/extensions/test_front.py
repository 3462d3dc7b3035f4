"""The front page: what some ratings give for a claim in words, and one rated conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7.book.extensions.front import axis

CARD = "# Page\n\n```{claim-card} alpha\n```\n"
REAL = "# Page\n\n```{claim-card} alpha\n:ratings: elsewhere\n```\n"
IN_WORDS = {"value": None, "compare": {"beyond": 0, "number": "the share,"}}
OTHER = {
    "study": "iEval",
    "passed": False,
    "value": {
        "key": "b",
        "estimate": -0.2,
        "low": -0.3,
        "high": -0.1,
        "n": 1920,
        "unit": "alpha",
    },
}
MET = {"state": "met", "passed": True, "power": 0.46, "null": 0.03}
NUMBERS = st.floats(-1e6, 1e6)


def words(html):
    return html.select_one("article, .body").get_text(" ", strip=True)


def test_a_card_has_this_edition_s_value_its_rule_and_how_often_studies_pass_it(page, claim):
    row = claim(**IN_WORDS, elsewhere=OTHER, rule=MET)
    html, warnings = page(CARD, ["front"], [row])
    assert warnings == ""
    said = words(html)
    naming.check(said, "0.800 [0.700, 0.850]", "46%")
    assert "-0.200" not in said, "other ratings have a card of their own"
    (badge,) = html.select(".sense7-badge")
    assert "sense7-rule-met" in badge["class"]


def test_a_card_of_other_ratings_has_their_value_and_outcome_alone(page, claim):
    row = claim(**IN_WORDS, elsewhere=OTHER, rule=MET)
    html, warnings = page(REAL, ["front"], [row])
    assert warnings == ""
    said = words(html)
    assert "-0.200 [-0.300, -0.100]" in said
    assert "iEval" in said
    assert "n = 1,920" in said
    assert "Power" not in said
    assert "Synthetic" not in said
    (badge,) = html.select(".sense7-badge")
    assert "sense7-rule-not-met" in badge["class"]


CARDS = {
    "a claim of no ledger": (CARD, {"name": "beta"}),
    "no other ratings": (REAL, IN_WORDS),
    "nothing computed": (CARD, IN_WORDS | {"computed": None}),
}


@pytest.mark.parametrize("reason", CARDS)
def test_a_card_that_can_t_be_made_ends_the_build(page, claim, complaints, reason):
    source, row = CARDS[reason]
    _, warnings = page(source, ["front"], [claim(**row)])
    naming.check(complaints(warnings)["3"], "alpha")


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_cards_of_a_unit_share_an_axis_that_holds_zero_and_every_interval(intervals):
    values = []
    for interval in intervals:
        low, estimate, high = sorted(interval)
        values.append({"estimate": estimate, "low": low, "high": high, "unit": "share"})
    axes = [axis(value, values) for value in values]
    assert len({(each["low"], each["high"], each["places"][0]) for each in axes}) == 1
    for each in axes:
        assert all(0 <= place <= 100 for place in each["places"])
        _, estimate, low, high = each["places"]
        assert low <= estimate <= high


def test_a_rated_conversation_is_a_table_whose_texts_are_texts(page, tmp_path):
    example = {
        "name": "a&b=c",
        "topic": "<script>window.ran=1</script>",
        "condition": "m",
        "turns": 2,
        "ratings": [{"title": "Overall", "signs": ["2", "-"]}],
        "colours": {"2": ["#f4a582", "#000000"]},
    }
    html, warnings = page("# Page\n\n```{rated-conversation}\n```\n", ["front"], example=example)
    assert warnings == ""
    table = html.select_one(".sense7-conversation table")
    assert table.script is None
    assert "<script>" in table.caption.get_text()
    assert [cell.get_text() for cell in table.select("tbody td")] == ["2", "-"]
    assert html.select_one("figcaption a")["href"] == "explorer.html#conversation=a%26b%3Dc"
