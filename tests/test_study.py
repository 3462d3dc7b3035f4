"""Studies as they are loaded, their parts, how they are shown, and the names of ``import sense7 as s7``."""

import pandas as pd
import pytest

import sense7 as s7
from helpers import naming
from helpers.studies import READING, parse_sheets, write_study
from sense7.loading import load


@pytest.fixture
def study(minimal_sheets):
    """Four conversations of three participants, P1 in two of them; conditions in turn."""
    return parse_sheets(minimal_sheets(), name="small")


@pytest.mark.parametrize(
    ("criteria", "kept"),
    [
        ({"participants": ["P1"]}, ["C1", "C2"]),
        ({"participants": {"P1", "P3"}}, ["C1", "C2", "C4"]),
        ({"conversations": ["C4", "C2"]}, ["C2", "C4"]),
        ({"conditions": ["plain"]}, ["C1", "C3"]),
        ({"participants": ["P1"], "conditions": ["plain"]}, ["C1"]),
    ],
)
def test_a_subset_holds_the_conversations_that_meet_all_criteria(study, criteria, kept):
    part = study.subset(**criteria)
    assert part.conversations["conversation"].tolist() == kept
    people = part.conversations["participant"]
    for name in ("conversations", "messages", "turns", "participants"):
        frame, whole = getattr(part, name), getattr(study, name)
        chosen = (
            whole["conversation"].isin(kept)
            if "conversation" in whole
            else whole["participant"].isin(people)
        )
        pd.testing.assert_frame_equal(frame, whole[chosen].reset_index(drop=True))
    assert part.conditions == sorted(set(part.conversations["condition"]))
    assert part.columns is study.columns
    assert part.name == "small (subset)"
    assert part.provenance is None, "a part of a file is not that file"


@pytest.mark.parametrize(
    ("criteria", "places"),
    [
        ({"participants": ["P1", "P9"]}, ["small", "participant 'P9'", "'P1', 'P2', 'P3'"]),
        ({"conversations": ["C5"]}, ["small", "conversation 'C5'"]),
        ({"conditions": ["other"]}, ["small", "condition 'other'", "'plain', 'plain-empathy'"]),
        ({"participants": ["P2"], "conversations": ["C1"]}, ["small"]),
        ({"participants": []}, ["small"]),
        ({"participants": [5]}, ["small", "participant 5"]),
    ],
)
def test_what_selects_nothing_or_is_unknown_is_refused(study, criteria, places):
    with naming.refused(*places):
        study.subset(**criteria)


def test_a_name_cannot_steer_the_terminal(minimal_sheets):
    assert "\x1b" not in repr(parse_sheets(minimal_sheets(), name="a\x1b[31m"))


def test_a_file_that_changed_meanwhile_is_read_again(minimal_sheets, tmp_path):
    path = tmp_path / "mine.xlsx"
    for conversations in (4, 3):
        write_study(minimal_sheets(conversations=conversations), path, READING)
        assert len(load(path).conversations) == conversations


def test_every_listed_name_is_there():
    assert set(s7.__all__) <= set(dir(s7))
    for name in dir(s7):
        assert hasattr(s7, name), name


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("recordr", "Recorder"), ("cronbach_aplha", "cronbach_alpha"), ("laod", "load")],
)
def test_what_was_meant_is_said_of_a_misspelt_name(misspelt, meant):
    with naming.refused(repr(misspelt), meant, "sense7 import", error=AttributeError):
        getattr(s7, misspelt)
