"""Participants' choices: found by their content, counted by participant."""

import math
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from helpers import naming
from helpers.studies import parse_sheets
from sense7.claims import load_claims
from sense7.findings import importance
from sense7.statistics.bootstrap import ParticipantBootstrap


def shares_of(sheets):
    study = parse_sheets(sheets)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=200, seed=1)
    return study, importance.importance_shares(study, bootstrap)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Affective", "Affective"),
        (" cognitive understanding ", "Cognitive"),
        ("RELATIONAL CONTINUITY", "Relational"),
        ("Affective and Cognitive", None),
        ("", None),
        (3.0, None),
    ],
)
def test_an_answer_names_one_dimension_or_none(text, name):
    assert importance.named_dimension(text) == name


def test_the_column_is_recognized_by_its_answers_and_not_by_its_name(minimal_sheets):
    study, table = shares_of(
        minimal_sheets(participants={"Q17": ["Affective", "interest", "Affective Understanding"]})
    )
    assert importance.choice_column(study.participants) == "Q17"
    assert table.loc["Affective", "estimate"] == pytest.approx(2 / 3)
    assert table.loc["Interest", "estimate"] == pytest.approx(1 / 3)
    assert table["estimate"].sum() == pytest.approx(1)
    assert (table["n"] == 3).all()
    assert table["method"].str.contains("column Q17").all()
    (reason,) = set(table["reason"])
    naming.check(reason, "3 participants")


# Of how many people published shares can be

CLAIMS = {
    claim.id: claim
    for claim in load_claims(Path(__file__).resolve().parents[2] / "data" / "claims.yml")
}
SHARES = {
    name: CLAIMS[f"importance_{name}"].value for name in ("cognitive", "affective", "response")
}
PARTICIPANTS = CLAIMS["participants"].value


def rounds_to(count, total, share):
    """By decimal arithmetic, halves up or down."""
    exact = Decimal(count) / Decimal(total)
    return Decimal(str(share)) in {
        exact.quantize(Decimal("0.001"), way) for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)
    }


def test_the_published_shares_are_not_all_shares_of_the_published_participants():
    """30 of 109 are 27.5 %, 31 are 28.4 %; 21 are 19.3 %, 22 are 20.2 %."""
    table = importance.rounded_counts(SHARES, PARTICIPANTS)
    assert table["possible"].to_dict() == {"cognitive": False, "affective": False, "response": True}
    assert table["count"].to_dict() == {"cognitive": 31, "affective": 22, "response": 21}


def test_possible_totals_are_those_of_every_count_tried_by_decimal_arithmetic():
    brute = [
        total
        for total in range(1, 701)
        if all(
            any(
                rounds_to(count, total, share)
                for count in {int(share * total), int(share * total) + 1}
            )
            for share in SHARES.values()
        )
    ]
    assert importance.possible_totals(SHARES) == brute
    assert (len(brute), brute[0]) == (61, 192)


def test_the_claims_tolerances_follow_from_the_rounding_check():
    """Half a unit of the last digit, and 1.96 standard errors of a part of the smallest total that is possible."""
    total = importance.smallest_total(SHARES)["estimate"]
    for name, share in SHARES.items():
        error = math.sqrt(share * (1 - share) * (1 / PARTICIPANTS - 1 / total))
        assert (
            CLAIMS[f"importance_{name}"].compare["within"] == math.ceil(0.5 + 1960 * error) / 1000
        )
