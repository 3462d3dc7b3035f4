"""The map of all claims: one tile for what was published, what the edition gives, and what other ratings say."""

from bs4 import BeautifulSoup

from helpers import naming
from sense7.book.claims_map import claims_map

FACTS = {"kind": "synthetic", "label": "synthetic", "file": "s.xlsx", "verified": False}
MARKS = {"met": "●", "in no release": "□"}


def row(name, state, computed=None, *, release=None):
    published = {"shown": "0.5", "title": name, "short": "", "release": release}
    return {
        "id": name,
        "published": published,
        "computed": computed,
        "rule": {"state": state},
    }


def drawn(values):
    computed = {"estimate": 0.25, "unit": "share of the variance"}
    ledger = [
        row("finding_individualized", "met", computed),
        row("alpha_turn", "in no release"),
        row("expert_expert_kappa", "met", release="released"),
    ]
    source = claims_map(ledger, values, FACTS, MARKS)
    return BeautifulSoup(source, "html.parser")


def test_each_claim_has_its_published_value_its_state_and_the_verdicts_of_others():
    values = {"ieval_participant_share_beyond_condition_and_topic": {"low": -0.2, "high": -0.1}}
    alt = drawn(values).svg["aria-label"]
    naming.check(
        alt,
        "finding_individualized: published 0.5 published, this data set 25.0% met",
        "0 of 1 the opposite",
        "alpha_turn: ",
    )
    assert "expert_expert_kappa" not in alt


def test_without_recorded_ratings_of_others_nothing_is_said_of_them():
    page = drawn({})
    assert "elsewhere" not in page.svg["aria-label"].split(". ")[1]
    assert page.a["download"].startswith("claims-published-and-simulated")
