"""What is asked for at the doors: wrong kinds of arguments are refused in one sentence, and nothing is computed."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
import sense7.findings
from helpers.studies import bootstrap_of
from sense7.arguments import HINTS
from sense7.study import Study


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def refused(function, *args, **kwargs):
    """What is said when a call is refused."""
    with pytest.raises(s7.UserError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


# A bootstrap of others


def test_a_bootstrap_of_other_participants_is_refused(study):
    people = study.conversations["participant"].unique()
    few = study.subset(participants=people[:20])
    said = refused(s7.ratings.mean_levels, few, bootstrap_of(study))
    assert f"The bootstrap resamples {len(people)} participants; synthetic (subset) has 20" in said
    assert "s7.ParticipantBootstrap(study.conversations['participant'])" in said
    said = refused(s7.ratings.mean_levels, study, bootstrap_of(few))
    assert f"The bootstrap resamples 20 participants; synthetic has {len(people)}" in said


def test_a_subset_with_its_own_bootstrap_has_its_own_interval(study):
    few = study.subset(participants=study.conversations["participant"].unique()[:20])
    row = s7.ratings.applicability(few, bootstrap_of(few)).loc["Relational"]
    turns = few.turns_put_to_rating
    assert row["n"] == len(turns)
    assert row["estimate"] == pytest.approx((turns["Relational_state"] == "rated").mean())
    assert row["low"] < row["estimate"] < row["high"]


def test_participants_without_data_are_resampled_as_before(study):
    """Not all of a study's participants need a level: who has one is chance as well."""
    some = study.turns["participant"].isin(study.conversations["participant"].unique()[:30])
    holes = study.turns.assign(overall=study.turns["overall"].where(some))
    table = s7.ratings.mean_levels(s7.Study(**(vars(study) | {"turns": holes})), bootstrap_of(study))
    assert table.loc["overall", "low"] < table.loc["overall", "estimate"] < table.loc["overall", "high"]


@pytest.mark.parametrize("function", [s7.alpha.alpha_row, s7.reliability.item_rest])
def test_rows_of_unknown_participants_are_refused(study, function):
    ratings = s7.measures.turn_ratings(study)
    few = study.subset(participants=study.conversations["participant"].unique()[:20])
    said = refused(function, ratings, bootstrap_of(few))
    assert "are not among the 20 that the bootstrap resamples" in said
    said = refused(function, ratings.reset_index(drop=True), bootstrap_of(study))
    assert re.search(r"such as [0-9]+, are not among the 109", said)


# Wrong kinds

FRAME = pd.DataFrame({"a": [1.0]})


@pytest.mark.parametrize(
    ("function", "args", "said"),
    [
        (s7.load, (FRAME,), "load wants a text or a path as data; got a DataFrame."),
        (s7.load, (123,), "load wants a text or a path as data; got an int (123)."),
        (s7.load, (None,), "load wants a text or a path as data; got None."),
        (s7.read_workbook, (123,), "read_workbook wants a text or a path as path; got an int (123)."),
        (s7.cronbach_alpha, (5,), "cronbach_alpha wants a DataFrame or an array as ratings; got an int (5)."),
        (s7.tables.estimates, ({}, "x"), "estimates wants a table of estimates as table; got a dict."),
        (s7.tables.estimates, (FRAME, "x"), "estimates wants a table of estimates as table; it lacks the columns"),
        (s7.ratings.mean_levels, ("synthetic", None), "mean_levels wants a Study as study; got a str ('synthetic')."),
    ],
)
def test_the_message_says_what_is_wanted_and_what_was_given(function, args, said):
    assert refused(function, *args).startswith(said)


def test_a_recorder_and_a_figure_want_tables_of_estimates(study, tmp_path):
    record = s7.Recorder("x", tmp_path)
    assert "record.table wants a table of estimates as table; it lacks" in refused(record.table, study.turns)
    said = refused(s7.figures.intervals, study.turns, name="x", label="y", caption="z")
    assert "intervals wants a table of estimates as tables; it lacks" in said


@pytest.mark.parametrize("path", ["synthetic", Path("missing.xlsx")])
def test_right_kinds_are_let_through(path):
    if path == "synthetic":
        assert isinstance(s7.load(path), Study)
    else:
        assert "missing.xlsx" in refused(s7.load, path)


def test_alpha_takes_arrays_lists_and_frames_of_whole_numbers():
    rows = [[1, 2], [2, 3], [3, 5]]
    alpha = s7.cronbach_alpha(rows)
    assert alpha == s7.cronbach_alpha(np.array(rows)) == s7.cronbach_alpha(pd.DataFrame(rows))
    assert alpha == s7.cronbach_alpha(pd.DataFrame(rows, dtype=object))


def test_a_missing_argument_is_a_type_error_as_ever():
    with pytest.raises(TypeError, match="bootstrap"):
        s7.ratings.applicability(s7.load("synthetic"))


def test_what_may_be_given_stands_in_the_library():
    """The advice of the messages is code that works."""
    study = s7.load("synthetic")
    for advice in HINTS.values():
        for code in ("s7.measures.turn_ratings(study)", "s7.measures.post_task_ratings(study)"):
            if code in advice:
                assert isinstance(eval(code), pd.DataFrame)  # noqa: S307
    assert isinstance(study, Study)
