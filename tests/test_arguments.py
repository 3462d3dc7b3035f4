"""Wrong kinds of arguments, and a bootstrap of other participants, are refused in one sentence; nothing is computed."""

import importlib
import inspect
import pkgutil
import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
import sense7.estimators
import sense7.findings
import sense7.judge
from helpers.studies import bootstrap_of
from sense7.arguments import HINTS
from sense7.judge.ceiling import ContentShares
from sense7.judge.files import Predictions
from sense7.study import Study


def public_functions():
    """Every public function of the statistics and the judges that checks its arguments: name -> function."""
    found = {}
    for package in (sense7.estimators, sense7.findings, sense7.judge):
        for entry in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(entry.name)
            functions = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
            found |= {
                f"{entry.name.removeprefix('sense7.')}.{name}": one
                for name, one in functions.items()
                if inspect.isfunction(one) and hasattr(one, "__wrapped__") and not entry.ispkg
            }
    return found


RELEASED = ("findings.elsewhere.", "findings.felt_heard.", "findings.whose_empathy.", "judge.three_judges.")
"""Findings on released ratings, which take tables or bootstraps of other kinds."""

FUNCTIONS = {name: one for name, one in public_functions().items() if not name.startswith(RELEASED)}
PARAMETERS = {name: inspect.signature(function).parameters for name, function in FUNCTIONS.items()}
OF_STUDIES = [name for name, parameters in PARAMETERS.items() if "study" in parameters]
OF_BOOTSTRAPS = [name for name, parameters in PARAMETERS.items() if "bootstrap" in parameters]
OF_BOTH = [name for name in OF_STUDIES if name in OF_BOOTSTRAPS]
FURTHER = {
    "by": "topic",
    "first": pd.DataFrame(),
    "folder": "predictions",
    "headline": "alpha",
    "judge": "",
    "judges": {},
    "level": 1,
    "method": "m",
    "model": "m",
    "moment": "after",
    "name": "overall",
    "predictions": object.__new__(Predictions),
    "rating": "overall",
    "runs": 1,
    "second": pd.DataFrame(),
    "start": "x",
    "shares": object.__new__(ContentShares),
}
"""What else a function needs; never looked at, since what it is refused for comes first."""


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def call(name, **given):
    """The function with what is given, and what else it needs."""
    needed = {
        parameter: given.get(parameter, FURTHER.get(parameter))
        for parameter, entry in PARAMETERS[name].items()
        if (entry.default is entry.empty or parameter in given) and entry.kind is not entry.VAR_KEYWORD
    }
    return partial(FUNCTIONS[name], **needed)


def refused(function, *args, **kwargs):
    """What is said when a call is refused."""
    with pytest.raises(s7.UserError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_the_functions_are_found():
    assert len(OF_STUDIES) > 20
    assert len(OF_BOTH) > 10
    assert len(OF_BOOTSTRAPS) > 10


# A bootstrap of others


@pytest.mark.parametrize("name", OF_BOTH)
def test_every_statistic_refuses_a_bootstrap_of_other_participants(study, name):
    people = study.conversations["participant"].unique()
    few = study.subset(participants=people[:20])
    said = refused(call(name, study=few, bootstrap=bootstrap_of(study)))
    assert f"The bootstrap resamples {len(people)} participants; synthetic (subset) has 20" in said
    assert "s7.ParticipantBootstrap(study.conversations['participant'])" in said
    said = refused(call(name, study=study, bootstrap=bootstrap_of(few)))
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


@pytest.mark.parametrize("name", OF_STUDIES)
def test_every_function_of_a_study_says_that_it_wants_one(study, name):
    said = refused(call(name, study=study.turns, bootstrap=bootstrap_of(study)))
    short = name.rpartition(".")[2]
    assert said == f"{short} wants a Study as study; got a DataFrame. Give what s7.load(...) returns."


@pytest.mark.parametrize("name", OF_BOOTSTRAPS)
def test_every_function_of_a_bootstrap_says_that_it_wants_one(study, name):
    ratings = s7.measures.turn_ratings(study)
    frames = dict.fromkeys(("ratings", "turns", "post_task", "frame"), ratings) | {"unit": "u", "undefined": "none"}
    said = refused(call(name, study=study, bootstrap=study.conversations["participant"], **frames))
    assert "Bootstrap as bootstrap; got a Series. Give s7.ParticipantBootstrap(" in said


def test_a_table_over_turns_and_post_task_ratings_refuses_other_frames(study):
    post_task = s7.measures.post_task_ratings(study)
    assert "wants ratings" in refused(s7.reliability.alpha_table, study.turns, post_task, bootstrap_of(study))


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


# What comes with every estimate

SLOW = {
    "findings.robustness.multiverse",
    "findings.individualized.variance_parts",
    "findings.robustness.headline_estimates",
}
OF_OTHER_TABLES = {"findings.words.coder_agreement"}
QUICK = [
    name
    for name in OF_BOTH
    if FUNCTIONS[name].__module__.startswith("sense7.findings") and name not in SLOW | OF_OTHER_TABLES
]
"""Statistics of a study and its bootstrap; those that take seconds, or tables besides, have tests of their own."""


def estimates_in(found):
    """Every table and row of estimates in what a statistic returns; tables that are for show only are left out."""
    if isinstance(found, pd.DataFrame):
        return [set(found.columns)] if "estimate" in found.columns else []
    if isinstance(found, dict):
        return [set(found)] if "estimate" in found else [one for part in found.values() for one in estimates_in(part)]
    if hasattr(found, "__dataclass_fields__"):
        return estimates_in({name: part for name, part in vars(found).items() if name != "shown"})
    return []


@pytest.mark.parametrize("name", QUICK)
def test_every_estimate_comes_with_n_unit_method_and_reason(study, name):
    few = study.subset(participants=study.conversations["participant"].unique()[:15])
    found = estimates_in(call(name, study=few, bootstrap=bootstrap_of(few))())
    assert found, "a statistic has estimates"
    for columns in found:
        assert {"estimate", "n", "unit", "method", "reason"} <= columns
