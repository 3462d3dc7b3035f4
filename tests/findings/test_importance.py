"""Participants' choices: found by their content, counted by participant."""

import math
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest

from sense7.claims import load_claims
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import importance
from sense7.workbook import parse_sheets


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
        ("prosocial_expression", "Prosocial"),
        ("Affective and Cognitive", None),
        ("interesting", None),
        ("", None),
        (3.0, None),
        (None, None),
    ],
)
def test_an_answer_names_one_dimension_or_none(text, name):
    assert importance.named_dimension(text) == name


def test_the_column_is_found_by_its_answers_whatever_its_name(minimal_sheets):
    study, table = shares_of(minimal_sheets(participants={"Q17": ["Affective", "interest", "Affective Understanding"]}))
    assert importance.choice_column(study.participants) == "Q17"
    assert table.loc["Affective", "estimate"] == pytest.approx(2 / 3)
    assert table.loc["Interest", "estimate"] == pytest.approx(1 / 3)
    assert table["estimate"].sum() == pytest.approx(1)
    assert (table["n"] == 3).all()
    assert table["method"].str.contains("column Q17").all()
    assert set(table["reason"]) == {"no interval: only 3 participants to resample"}


def test_those_who_did_not_choose_are_left_out(minimal_sheets):
    _, table = shares_of(minimal_sheets(participants={"Q17": ["Affective", None, "Interest"]}))
    assert table.loc["Affective", ["estimate", "n"]].tolist() == [0.5, 2]


@pytest.mark.parametrize(
    ("participants", "reason"),
    [
        (None, "the workbook has no participants' sheet"),
        ({}, "the participants' sheet has no column in which they name a dimension"),
        ({"Q17": ["Affective", "all of them", "Interest"]}, "the participants' sheet has no column in which they name"),
    ],
)
def test_without_choices_the_rows_say_why(minimal_sheets, participants, reason):
    _, table = shares_of(minimal_sheets(participants=participants))
    assert np.isnan(table["estimate"]).all()
    assert table["reason"].str.startswith(reason).all()


def test_a_method_names_column_and_interval_and_no_more(minimal_sheets):
    _, table = shares_of(minimal_sheets(participants={"Q17": ["Affective", "Interest", "Affective"]}))
    assert table.index.name == "dimension"
    opening = "participants who name it in the column Q17"
    assert table["method"].str.startswith(f"{opening}; ").all() or (table["method"] == opening).all()
    _, missing = shares_of(minimal_sheets(participants={}))
    assert not missing["method"].str.contains(";").any()


# Of how many people published shares can be

CLAIMS = {claim.id: claim for claim in load_claims(Path(__file__).resolve().parents[2] / "data" / "claims.yml")}
SHARES = {name: CLAIMS[f"importance_{name}"].value for name in ("cognitive", "affective", "response")}
PARTICIPANTS = CLAIMS["participants"].value


def rounds_to(count, total, share):
    """By decimal arithmetic, halves up or down."""
    exact = Decimal(count) / Decimal(total)
    return Decimal(str(share)) in {exact.quantize(Decimal("0.001"), way) for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def test_the_published_shares_are_not_all_shares_of_the_published_participants():
    """30 of 109 are 27.5 %, 31 are 28.4 %; 21 are 19.3 %, 22 are 20.2 %."""
    table = importance.rounded_counts(SHARES, PARTICIPANTS)
    assert table["possible"].to_dict() == {"cognitive": False, "affective": False, "response": True}
    assert table["count"].to_dict() == {"cognitive": 31, "affective": 22, "response": 21}


def test_the_smallest_number_of_people_that_fits_all_three_shares():
    row = importance.smallest_total(SHARES)
    assert (row["estimate"], row["n"], row["unit"]) == (192, 3, "people")
    assert importance.rounded_counts(SHARES, 192)["count"].tolist() == [54, 38, 37]


def test_possible_totals_are_those_of_every_count_tried_by_decimal_arithmetic():
    brute = [
        total
        for total in range(1, 701)
        if all(
            any(rounds_to(count, total, share) for count in {int(share * total), int(share * total) + 1})
            for share in SHARES.values()
        )
    ]
    assert importance.possible_totals(SHARES) == brute
    assert (len(brute), brute[0]) == (61, 192)


@pytest.mark.parametrize(("shares", "totals"), [({"a": 0.125}, [8, 16]), ({"a": 0.0}, list(range(1, 17))), ({}, None)])
def test_simple_shares(shares, totals):
    found = importance.possible_totals(shares, most=16)
    assert found == (totals or list(range(1, 17)))


def test_a_half_may_be_rounded_up_or_down():
    """1 of 16 is 6.25 %."""
    assert 16 in importance.possible_totals({"a": 0.062}, most=16)
    assert 16 in importance.possible_totals({"a": 0.063}, most=16)


def test_shares_that_no_total_gives_have_a_reason():
    row = importance.smallest_total({"a": 0.281, "b": 0.198}, most=20)
    assert np.isnan(row["estimate"])
    assert row["reason"] == "no number of people up to 20 gives all 2 shares"


def test_whether_the_shares_fit_is_a_flag_with_its_reason():
    fits = importance.fits_total(SHARES, PARTICIPANTS)
    assert (fits["estimate"], fits["reason"]) == ("no", "not possible: cognitive, affective")
    assert importance.fits_total(SHARES, 192)["estimate"] == "yes"
    assert importance.fits_total(SHARES, 192)["reason"] == ""


def test_the_table_says_the_nearest_count_of_each_total_and_whether_it_fits():
    table = importance.rounding_table(SHARES, {"participants": PARTICIPANTS, "smallest": 192})
    assert table.columns.tolist() == ["published", "participants, 109: nearest count", "smallest, 192: nearest count"]
    assert table.loc["affective"].tolist() == ["19.8%", "22 (20.18%): no", "38 (19.79%): fits"]
    assert table.loc["response"].tolist() == ["19.3%", "21 (19.27%): fits", "37 (19.27%): fits"]


def test_the_tolerance_holds_for_nineteen_of_twenty_random_parts():
    """Parts of 109 drawn from 192 people, 54 of whom named the dimension."""
    rng = np.random.default_rng(5)
    found = rng.hypergeometric(54, 192 - 54, 109, 20_000) / 109
    inside = np.abs(found - 54 / 192) <= importance.tolerance_of_a_part(0.281, 109, 192)
    assert 0.94 <= inside.mean() <= 0.98
    assert importance.tolerance_of_a_part(0.3, 50, 50) == pytest.approx(0.0005)


def test_the_claims_tolerances_follow_from_the_rounding_check():
    total = importance.smallest_total(SHARES)["estimate"]
    for name, share in SHARES.items():
        tolerance = importance.tolerance_of_a_part(share, PARTICIPANTS, total)
        assert CLAIMS[f"importance_{name}"].compare["within"] == math.ceil(1000 * tolerance) / 1000
