"""A number is declared with its needs, and the core computes it, or says why there is none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from helpers.findings import rows_of
from sense7.errors import UserError
from sense7.findings.core import Needs, Number, finding, need, share, tabulate
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import Estimate

ROWS = pd.DataFrame(
    {
        "participant": [f"P{row // 2}" for row in range(20)],
        "x": np.arange(20) % 7,
        "y": np.arange(20),
    }
)
BOOTSTRAP = ParticipantBootstrap(ROWS["participant"], draws=300, seed=2)
NEVER = pd.Series([np.nan, np.nan])


def number(statistic, **more):
    return Number("mean", statistic, unit="points", method="mean", rows=ROWS, **more)


def mean(name):
    return share(BOOTSTRAP, ROWS[name], np.ones(len(ROWS)), ROWS["participant"])


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"needs": Needs(answers={"importance": NEVER, "x": ROWS["x"]})}, ["importance"]),
        ({"needs": Needs(answers={"a": NEVER}), "reason": "another"}, ["a"]),
        ({"reason": "the model failed"}, ["the model failed"]),
        ({"rows": ROWS[:0]}, ["conversation"]),
        ({"needs": Needs(rows=21), "counted": "turn"}, ["20 turns", 21]),
        ({"needs": Needs(participants=11)}, ["10 participants", 11]),
        ({"needs": Needs(in_each_group=3), "groups": ROWS["y"] > 17}, ["2 conversations", 3]),
        ({"needs": Needs(in_each_group=1), "groups": ROWS["y"] > 90}, ["0 conversations"]),
        ({"needs": Needs(varying={"the rating is": [3.0, 3.0]})}, ["the rating"]),
        ({"statistic": lambda: need([], "nobody was asked")}, ["nobody was asked"]),
        ({"statistic": Estimate(np.nan, reason="no fit")}, ["no fit"]),
        ({"statistic": Estimate(np.nan), "undefined": "constant"}, ["constant"]),
    ],
)
def test_a_missing_need_is_the_reason(changes, names):
    def never_called():
        raise AssertionError

    row = replace(number(never_called), **changes).row(BOOTSTRAP)
    assert np.isnan(row["estimate"])
    naming.check(row["reason"], *names)


@pytest.mark.parametrize("error", [KeyError, ZeroDivisionError, UserError])
def test_a_real_error_is_never_swallowed(error):
    def wrong():
        raise error("a mistake")

    with pytest.raises(error, match="a mistake"):
        tabulate("what", [number(wrong)], BOOTSTRAP)


# Each number names the function that returns it


@finding
def points_of(rows, ratings="turns"):
    numbers = [Number("mean", mean("y"), "points", "mean", rows, key="points")]
    return tabulate("what", numbers, BOOTSTRAP)


@finding
def under_two_keys(rows):
    table = points_of(rows)
    return {
        "as it is": table,
        "another": table.assign(key="points_again"),
        "none": table.assign(key=""),
    }


def test_a_row_names_the_function_that_returns_it_with_the_options_of_its_call():
    (row,) = rows_of(points_of(ROWS, ratings="conversations")).values()
    assert row["computed_by"].function.endswith("points_of")
    assert row["computed_by"].options == {"ratings": "conversations"}
    assert row["computed_by"].key == "points"


def test_a_row_under_a_new_key_is_a_number_of_the_function_that_gave_it_the_key():
    rows = {}
    for row in rows_of(under_two_keys(ROWS)).values():
        if row["key"]:
            rows[row["key"]] = row["computed_by"].function.rpartition(".")[2]
    assert rows == {"points": "points_of", "points_again": "under_two_keys"}
