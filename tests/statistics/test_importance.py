"""Participants' choices: found by their content, counted by participant."""

import numpy as np
import pytest

from sense7.statistics import importance
from sense7.statistics.bootstrap import ParticipantBootstrap
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
