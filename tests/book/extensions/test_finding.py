"""The box at the head of a page: claim, what this edition shows, verdict."""

import pytest

BOX = "# Page\n\n```{finding} alpha\nThe value is {value}`alpha`.\n```\n"
DIRECTIVES = ["finding"]


def parts(html):
    """Label -> text of each part of the box."""
    return {
        part.strong.get_text(): " ".join(part.find_all("div")[-1].get_text(" ").split())
        for part in html.select(".sense7-finding-part")
    }


def test_the_box_answers_first(page, claim, recorded):
    html, warnings = page(BOX, DIRECTIVES, [claim()], [recorded()])
    assert warnings == ""
    assert parts(html) == {
        "Claim": "Title of <alpha>: 0.9 (grade D)",
        "This edition": "The value is 0.800 [0.700, 0.850] .",
        "Verdict": "recovered the analysis finds the effect that was put into the data, precisely "
        "Synthetic data: no number here is a finding about SENSE-7.",
    }


def test_a_verdict_is_a_link_to_its_row_in_the_ledger(page, claim, recorded):
    html, _ = page(BOX.replace("alpha\n", "an_alpha\n", 1), DIRECTIVES, [claim("an_alpha")], [recorded()])
    link = html.select_one(".sense7-badge").parent
    assert link["href"] == "../book/ledger.html#claim-an-alpha"


def test_other_data_than_synthetic_get_the_ledgers_own_reason(page, claim, recorded):
    html, _ = page(BOX, DIRECTIVES, [claim(verdict="reproduced")], [recorded()], kind="official")
    assert parts(html)["Verdict"] == "reproduced why reproduced"


def test_tuned_claims_and_rules_are_said(page, claim, recorded):
    row = claim(tuned=True, rule={"passed": False, "words": "above zero"}, value=None)
    html, _ = page(BOX, DIRECTIVES, [row], [recorded()])
    assert "the simulated data do not pass the claim's rule tuned" in parts(html)["Verdict"]
    assert parts(html)["Claim"] == "Title of <alpha> (in words, grade D)"
    assert "Tuned, wherever this page shows them : Title of <alpha>." in html.get_text(" ")


def test_whether_own_data_pass_a_rule_is_said_of_these_data(page, claim, recorded):
    row = claim(verdict="not comparable", rule={"passed": True, "words": "above zero"}, value=None)
    html, _ = page(BOX, DIRECTIVES, [row], [recorded()], kind="own")
    assert "; these data pass the claim's rule" in parts(html)["Verdict"]


def test_several_claims_are_named_in_the_verdict(page, claim, recorded):
    html, _ = page(
        BOX.replace("alpha\n", "alpha beta\n", 1), DIRECTIVES, [claim(), claim("beta", "missed")], [recorded()]
    )
    verdict = parts(html)["Verdict"]
    assert "recovered Title of <alpha>: the analysis finds" in verdict
    assert "missed Title of <beta>: the interval does not hold" in verdict


def test_a_page_of_released_ratings_never_calls_them_simulated(page, claim, recorded):
    html, _ = page(BOX, DIRECTIVES, [claim(verdict="reproduced")], [recorded()], made={"released": {"03": ["ieval"]}})
    assert "These data" in parts(html)
    assert "Real ratings of other studies" in parts(html)["Verdict"]
    assert "Synthetic" not in parts(html)["Verdict"]


def test_a_page_without_a_claim_says_what_it_asks(page, recorded):
    source = "# Page\n\n```{finding}\n:claim: Does *it* hold?\n\nIt is {value}`alpha`.\n```\n"
    html, warnings = page(source, DIRECTIVES, [], [recorded()])
    assert warnings == ""
    assert parts(html)["Question"] == "Does it hold?"
    assert parts(html)["Verdict"].startswith("no published figure nothing to compare with")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("```{finding} beta\nText.\n```", "the ledger has no claim beta"),
        ("```{finding}\nText.\n```", "name a claim of the ledger, or say with :claim: what the page asks"),
        ("```{finding} alpha\n```", "the content has to say what this edition shows"),
    ],
)
def test_an_unusable_box_ends_the_build(page, claim, recorded, source, complaint):
    _, warnings = page(f"# Page\n\n{source}\n", DIRECTIVES, [claim()], [recorded()])
    assert complaint in warnings
