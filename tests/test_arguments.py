"""Arguments of a wrong kind, of everything that ``import sense7 as s7`` gives: a UserError, never another."""

import contextlib
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sense7 as s7
from helpers.findings import FINDINGS

RATINGS = pd.DataFrame([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6]])
FRAME = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "condition": ["a"]})
TURNS = FRAME.assign(**dict.fromkeys(s7.DIMENSION_NAMES, 4.0))
ROW = {
    "estimate": 1.0,
    "low": 0.0,
    "high": 2.0,
    "n": 3,
    "unit": "points",
    "method": "mean",
    "reason": "",
}
RIGHT = {
    "ConversationBootstrap": {"participants": ["a", "b"]},
    "ParticipantBootstrap": {"participants": ["a", "b"], "draws": 10, "seed": 1, "confidence": 0.9},
    "StratifiedBootstrap": {"participants": ["a", "b"], "strata": ["x", "y"]},
    "Recorder": {"notebook": "example", "folder": "results"},
    "Study": {
        **{"name": "mine", "conversations": FRAME, "messages": FRAME, "turns": TURNS},
        **{"participants": None, "columns": FRAME},
    },
    "cohens_d": {"sums": [[3, 12.0, 50], [3, 6.0, 14]]},
    "count_of": {"number": 3, "noun": "copy", "plural": "copies"},
    "cronbach_alpha": {"ratings": RATINGS, "missing": "listwise"},
    "estimate_table": {"rows": {"a": ROW}, "name": "turns", "keys": {"a": "mean_a"}},
    "ground_truth": {"turns": TURNS, "conversations": ["C1"]},
    "holm": {"p": [0.01, 0.02]},
    "intraclass_correlations": {"table": RATINGS, "confidence": 0.9},
    "load": {
        **{
            "data": "synthetic",
            "prompted_condition": "model-a-empathy-prompt",
            "strict": True,
            "scale": "1-5",
        },
        **{"words": {"fine": 4}, "allow_unreadable": False, "missing": -99, "rated": True},
    },
    "omega_total": {"loadings": [0.8, 0.8], "uniquenesses": [0.36, 0.36]},
    "read_values": {"folder": "results"},
    "read_workbook": {"path": "absent.xlsx", "strict": True},
    "weighted_kappa": {"tables": np.ones((5, 5)), "weights": "linear"},
}
"""What can be called -> arguments that it takes."""

NEVER_CALLED = {"UserError"}

OTHERS = {
    **{"None": None, "a number": 5, "a fraction": 2.5, "no number": np.nan, "a truth value": True},
    **{
        "a text": "abc",
        "an empty text": "",
        "bytes": b"x",
        "a list": [1.0, 2, 3],
        "lists": [[1, 2], [3, 4]],
    },
    **{
        "lists of two lengths": [[1, 2], [3]],
        "texts": ["a", "b"],
        "a dict": {"a": 1},
        "a set": {1},
    },
    **{
        "a frame": RATINGS,
        "an empty frame": pd.DataFrame(),
        "a frame of texts": pd.DataFrame({"a": ["x", "1"]}),
    },
    **{
        "a column": pd.Series([1.0, 2]),
        "a column of texts": pd.Series(["x", None]),
        "dates": pd.Series([pd.NaT]),
    },
    **{
        "no dimension": np.array(3.0),
        "one dimension": np.ones(3),
        "two": np.ones((3, 2)),
        "three": np.ones((2, 2, 2)),
    },
    **{"nothing": np.array([]), "no row": np.zeros((0, 3)), "an array of texts": np.array(["a"])},
    **{
        "missing numbers": np.full((3, 2), np.nan),
        "infinite numbers": np.array([[1, np.inf], [2, 3]]),
    },
    **{"complex numbers": np.array([1j]), "an object": object(), "a class": int, "a function": len},
}


def call(name, arguments):
    """Call it; a UserError is right, any other error fails the test."""
    with contextlib.suppress(s7.UserError):
        getattr(s7, name)(**arguments)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_everything_that_can_be_called_is_tried():
    called = {
        name
        for name in s7.__all__
        if callable(getattr(s7, name)) and not inspect.ismodule(getattr(s7, name))
    }
    assert RIGHT.keys() == called - NEVER_CALLED


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("name", sorted(RIGHT.keys() - {"load"}))
def test_an_argument_of_another_kind_is_taken_or_refused_with_one_message(name, other):
    for parameter in RIGHT[name]:
        call(name, RIGHT[name] | {parameter: other})


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_an_option_of_reading_of_another_kind_is_taken_or_refused_with_one_message(other):
    Path("absent.xlsx").write_bytes(b"no workbook")
    for parameter in RIGHT["load"]:
        call("load", {"data": "absent.xlsx", parameter: other})


@pytest.mark.parametrize("name", RIGHT)
def test_too_few_and_too_many_arguments_are_refused(name):
    for arguments, options in (
        ((), {}),
        ((1,) * 20, {}),
        ((), RIGHT[name] | {"no_such_option": 1}),
    ):
        with pytest.raises(s7.UserError):
            getattr(s7, name)(*arguments, **options)


NUMBERS = st.floats() | st.integers(-9, 9) | st.none() | st.text(max_size=2)
TABLES = st.lists(NUMBERS, max_size=4) | st.lists(st.lists(NUMBERS, max_size=5), max_size=5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    [
        "cohens_d",
        "cronbach_alpha",
        "holm",
        "intraclass_correlations",
        "omega_total",
        "weighted_kappa",
    ],
)
@given(values=TABLES)
def test_any_table_is_taken_or_refused_with_one_message(name, values):
    arguments = dict.fromkeys(list(RIGHT[name])[:1], values)
    if name == "omega_total":
        arguments["uniquenesses"] = values[::-1]
    call(name, arguments)


@pytest.mark.parametrize(
    "table", [RATINGS, RATINGS.to_numpy().tolist(), RATINGS.astype(int), RATINGS.astype("Int64")]
)
def test_a_table_may_be_a_frame_or_a_list_of_rows(table):
    expected = s7.icc(RATINGS.to_numpy())["estimate"]
    assert s7.icc(table)["estimate"].tolist() == expected.tolist()


RECORDED = [name for name, (function, _) in FINDINGS.items() if hasattr(function, "__wrapped__")]
"""Findings of which values are recorded."""


@pytest.mark.parametrize("name", RECORDED)
def test_a_finding_refuses_what_is_no_study_and_no_bootstrap(name):
    function, asked = FINDINGS[name]
    for parameter in {"study", "bootstrap"}.intersection(asked):
        with pytest.raises(s7.UserError):
            function(**dict.fromkeys(asked, RATINGS) | {parameter: RATINGS})
