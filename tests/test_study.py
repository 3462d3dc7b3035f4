"""Parts of a study, how a study is shown, and what is said at the doors to what is of a wrong kind."""

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
from sense7.errors import UserError
from sense7.workbook import parse_sheets


@pytest.fixture
def study(minimal_sheets):
    """Four conversations of three participants, P1 in two of them; conditions in turn."""
    return parse_sheets(minimal_sheets(), name="small")


def ids(study):
    return study.conversations["conversation"].tolist()


@pytest.mark.parametrize(
    ("criteria", "kept"),
    [
        ({"participants": ["P1"]}, ["C1", "C2"]),
        ({"participants": "P1"}, ["C1", "C2"]),
        ({"participants": {"P1", "P3"}}, ["C1", "C2", "C4"]),
        ({"conversations": ["C4", "C2"]}, ["C2", "C4"]),
        ({"conversations": [True, False, False, True]}, ["C1", "C4"]),
        ({"conversations": np.array([True, False, False, True])}, ["C1", "C4"]),
        ({"participants": pd.Series([False, True, True, False])}, ["C2", "C3"]),
        ({"conditions": ["plain"]}, ["C1", "C3"]),
        ({"participants": ["P1"], "conditions": "plain"}, ["C1"]),
    ],
)
def test_a_subset_holds_the_conversations_that_meet_all_criteria(study, criteria, kept):
    part = study.subset(**criteria)
    assert ids(part) == kept
    people = part.conversations["participant"]
    for name in ("conversations", "messages", "turns", "participants"):
        frame, whole = getattr(part, name), getattr(study, name)
        chosen = whole["conversation"].isin(kept) if "conversation" in whole else whole["participant"].isin(people)
        pd.testing.assert_frame_equal(frame, whole[chosen].reset_index(drop=True))
    assert part.conditions == sorted(set(part.conversations["condition"]))
    assert part.columns is study.columns
    assert part.name == "small (subset)"
    assert part.provenance is None, "a part of a file is not that file"


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ({}, "at least one of them"),
        ({"participants": ["P1", "P9"]}, "The study small has no participant 'P9'. Known: 'P1', 'P2', 'P3'."),
        ({"conversations": ["C5"]}, "has no conversation 'C5'"),
        ({"conditions": "other"}, "has no condition 'other'. Known: 'plain', 'plain-empathy'."),
        (
            {"conversations": [True, False]},
            "one value per conversation: 4; this one has 2.",
        ),
        ({"participants": "P2", "conversations": "C1"}, "meets participant and conversation together"),
        ({"participants": []}, "No conversation of the study small meets participant"),
        ({"participants": 5}, "subset wants ids or a boolean mask as participants; got an int (5)."),
        ({"participants": [5]}, "has no participant 5"),
    ],
)
def test_what_selects_nothing_or_is_unknown_is_refused(study, criteria, said):
    with pytest.raises(UserError) as caught:
        study.subset(**criteria)
    assert said in str(caught.value)


def test_statistics_of_a_subset_are_those_of_a_workbook_of_its_conversations(minimal_sheets, study):
    part, alone = study.subset(participants=["P1"]), parse_sheets(minimal_sheets(conversations=2, participants=1))
    tables = [
        s7.ratings.mean_levels(one, s7.ParticipantBootstrap(one.conversations["participant"], draws=10))
        for one in (part, alone)
    ]
    pd.testing.assert_frame_equal(*tables)


FRAME = pd.DataFrame({"a": [1.0], "b": ["x"]})


@pytest.mark.parametrize(
    ("function", "args", "said"),
    [
        (s7.load, (FRAME,), "load wants a text or a path as data; got a DataFrame. Give 'synthetic', the name"),
        (s7.load, (None,), "load wants a text or a path as data; got None."),
        (s7.read_workbook, (123,), "read_workbook wants a text or a path as path; got an int (123). Give the path"),
        (s7.cronbach_alpha, (5,), "cronbach_alpha wants a DataFrame or an array as ratings; got an int (5)."),
        (s7.alpha.alpha_row, (FRAME, None), "alpha_row wants ratings with a column of numbers for each item; column"),
        (s7.tables.estimates, ({}, "x"), "estimates wants a table of estimates as table; got a dict."),
        (s7.tables.estimates, (FRAME, "x"), "estimates wants a table of estimates as table; it lacks the columns"),
        (s7.ratings.mean_levels, ("synthetic", None), "a finding wants a Study as study; got a str ('synthetic')."),
    ],
)
def test_a_wrong_kind_is_refused_with_what_is_wanted(function, args, said):
    with pytest.raises(UserError) as caught:
        function(*args)
    assert str(caught.value).startswith(said)


def test_a_study_is_shown_in_one_short_line(study):
    assert repr(study) == "<Study small: 3 participants, 4 conversations, 2 conditions, 8 turns>"
    assert repr(s7.load("synthetic")).startswith("<Study synthetic (synthetic data): ")


def test_a_name_cannot_steer_the_terminal(minimal_sheets):
    assert "\x1b" not in repr(parse_sheets(minimal_sheets(), name="a\x1b[31m"))
