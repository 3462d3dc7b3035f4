"""Recorded values: complete or refused, and the same words everywhere."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.record import Recorder, format_distinct, format_number, format_value, read_values


@pytest.fixture
def recorder(tmp_path):
    return Recorder("01-example", tmp_path)


def stored(tmp_path):
    return json.loads((tmp_path / "01-example.json").read_text(encoding="utf-8"))


def test_a_value_is_in_the_file_as_soon_as_it_is_recorded(recorder, tmp_path):
    recorder.value("alpha", np.float64(0.9), low=np.float64(0.8), high=0.95, n=np.int64(12), unit="alpha", method="m")
    assert stored(tmp_path) == [
        {
            "key": "alpha", "estimate": 0.9, "low": 0.8, "high": 0.95, "n": 12, "unit": "alpha", "method": "m",
            "reason": None, "notebook": "01-example", "cell": None,
        }
    ]  # fmt: skip


def test_what_is_missing_is_null_and_has_its_reason(recorder, tmp_path):
    recorder.value("alpha", float("nan"), low=np.nan, high=np.nan, n=0, unit="alpha", method="m", reason="never asked")
    (value,) = stored(tmp_path)
    assert (value["estimate"], value["low"], value["high"], value["reason"]) == (None, None, None, "never asked")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimate": None}, "give the reason"),
        ({"n": None}, "needs its n"),
        ({"method": ""}, "needs its n, unit and method"),
        ({"unit": ""}, "needs its n, unit and method"),
        ({"low": 0.5}, "one limit"),
        ({"high": 0.5}, "one limit"),
    ],
)
def test_an_incomplete_value_is_refused(recorder, changes, message):
    whole = {"estimate": 0.9, "n": 12, "unit": "alpha", "method": "m"}
    with pytest.raises(ValueError, match=message):
        recorder.value("alpha", **(whole | changes))


def test_a_key_is_recorded_once(recorder, tmp_path):
    recorder.value("alpha", 1, n=1, unit="u", method="m")
    with pytest.raises(ValueError, match="recorded already"):
        recorder.value("alpha", 1, n=1, unit="u", method="m")
    Recorder("02-other", tmp_path).value("alpha", 1, n=1, unit="u", method="m")
    with pytest.raises(ValueError, match="01-example and 02-other"):
        read_values(tmp_path)


def test_a_run_starts_without_the_values_of_the_last_and_leaves_no_empty_file(recorder, tmp_path):
    recorder.value("alpha", 1, n=1, unit="u", method="m")
    again = Recorder("01-example", tmp_path)
    assert not (tmp_path / "01-example.json").exists()
    with pytest.raises(UserError, match="recorded no value here yet"):
        read_values(tmp_path, "01-example")
    again.value("beta", 1, n=1, unit="u", method="m")
    assert [value["key"] for value in stored(tmp_path)] == ["beta"]


def test_nothing_is_written_into_a_finished_edition(recorder, tmp_path):
    Recorder("01-example", tmp_path / "results").value("alpha", 1, n=1, unit="u", method="m")
    before = (tmp_path / "results" / "01-example.json").read_bytes()
    (tmp_path / "manifest.json").touch()  # which lists the edition's files, and is its last
    again = Recorder("01-example", tmp_path / "results")
    again.value("alpha", 2, n=1, unit="u", method="m")
    Recorder("02-other", tmp_path / "results").value("gamma", 1, n=1, unit="u", method="m")
    assert (tmp_path / "results" / "01-example.json").read_bytes() == before
    assert not (tmp_path / "results" / "02-other.json").exists()
    with pytest.raises(ValueError, match="recorded already"):
        again.value("alpha", 1, n=1, unit="u", method="m")


def test_of_a_table_the_rows_with_a_key_are_recorded(recorder, tmp_path):
    rows = {name: estimate_row(0.5, n=3, unit="share", method="m") for name in ("a", "b")}
    recorder.table(estimate_table(rows, "which"))
    recorder.table(estimate_table(rows, "which", {"a": "share_a", "b": "share_b"}))
    recorder.table(estimate_table(rows | {"c": rows["a"] | {"key": "only_c"}}, "which"))
    assert [value["key"] for value in stored(tmp_path)] == ["share_a", "share_b", "only_c"]


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0.3806, "share of turns", "38.1%"),
        (6812.0, "turns", "6,812"),
        (0.9613, "alpha", "0.961"),
        (3.5333, "level, 1 to 5", "3.53"),
        ("gpt", "condition", "gpt"),
        (1.0, "alpha", "1.000"),
        (4.0, "level, 1 to 5", "4.00"),
        (4.0, "conditions", "4"),
        (0.0, "share of turns", "0.0%"),
        (0.0, "p value", "< 0.001"),
        (0.00099, "p value", "< 0.001"),
        (0.001, "p value", "0.001"),
        (0.0312, "p value", "0.031"),
        (0.00001, "correlation", "0.000"),
    ],
)
def test_numbers_in_the_words_of_their_unit(number, unit, shown):
    assert format_number(number, unit) == shown


@pytest.mark.parametrize("unit", ["share of turns", "level, 1 to 5", "seconds", "turns", "correlation"])
def test_what_rounds_to_zero_has_no_minus(unit):
    assert format_number(-0.0, unit) == format_number(0.0, unit)
    assert "-" not in format_number(-0.00004, unit)
    assert format_number(-0.7, unit).startswith("-")
    value = {"estimate": -0.00004, "low": -0.2, "high": -0.00001, "unit": "level, 1 to 5"}
    assert format_value(value) == "0.00 [-0.20, 0.00]"


def test_a_value_that_is_not_there_reads_as_its_reason():
    value = {
        "estimate": None,
        "low": None,
        "high": None,
        "n": 0,
        "unit": "alpha",
        "method": "m",
        "reason": "never asked",
    }
    assert format_value(value) == "not available here (never asked)"


def test_values_of_single_notebooks_are_read_without_those_of_others(tmp_path):
    for name in ("01-one", "02-two", "03-three"):
        Recorder(name, tmp_path).value(name[3:], 1.0, n=1, unit="alpha", method="m")
    assert set(read_values(tmp_path, "03-three", "01-one")) == {"one", "three"}
    assert set(read_values(tmp_path)) == {"one", "two", "three"}
    (tmp_path / "02-two.json").write_text("not finished")  # as where another notebook is running
    assert set(read_values(tmp_path, "01-one")) == {"one"}


# Numbers that are compared

UNITS = ("alpha", "share of turns", "level, 1 to 5", "words", "turns", "Cohen's d")


@pytest.mark.parametrize("unit", UNITS)
@given(numbers=st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=4))
@example(numbers=[0.1 + 0.2, 0.3])
@example(numbers=[0.0, -0.0, 1e-300])
@settings(deadline=None)
def test_different_numbers_look_different_and_equal_ones_alike(unit, numbers):
    texts = format_distinct(numbers, unit)
    for (a, text_of_a), (b, text_of_b) in itertools.combinations(zip(numbers, texts, strict=True), 2):
        assert (text_of_a == text_of_b) is (a == b)
