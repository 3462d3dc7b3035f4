"""Recorded values, complete or refused; tables, matrices and variants, in which text stays text."""

import json
import re

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7 import tables
from sense7.record import Recorder, format_number, format_value, read_values
from sense7.statistics.estimates import ComputedBy, estimate_row, estimate_table
from sense7.tables import Sentence, Variants


def table_of(names, unit="share of turns"):
    rows = {name: estimate_row(0.5, 0.4, 0.6, n=10, unit=unit, method="m") for name in names}
    return estimate_table(rows, "which")


def test_an_estimate_that_is_missing_is_said_to_be():
    table = table_of(["a"])
    table.loc["b"] = estimate_row(n=0, unit="share of turns", method="m", reason="never asked")
    page = BeautifulSoup(tables.estimates(table, "c")._repr_html_(), "html.parser")
    _, missing = (" ".join(row.get_text(" ").split()) for row in page.select("tbody tr"))
    naming.check(missing, "b", "never asked")
    assert "nan" not in page.get_text().casefold()


# Variants: computed results that a reader switches between, without a script, a kernel or a network


def test_switches_of_other_results_share_no_name_and_no_id():
    made = [("rule", {"a": "x"}), ("rule", {"a": "y"}), ("bc", {"a": "x"}), ("c", {"ab": "x"})]
    pages = []
    for label, texts in made:
        variants = Variants({name: Sentence(text) for name, text in texts.items()}, label=label)
        pages.append(BeautifulSoup(variants._repr_html_(), "html.parser"))
    names = [page.input["name"] for page in pages]
    ids = [tag["id"] for page in pages for tag in page.find_all(id=True)]
    assert len(set(names)) == len(names)
    assert len(set(ids)) == len(ids) > 0


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True), st.text())
def test_names_and_labels_are_text_whatever_they_hold(names, label):
    html = Variants({name: Sentence("s") for name in names}, label=label)._repr_html_()
    # "<" and "&" as characters of the data are the only way to markup, and both are written as references.
    labels = re.findall(r"<label [^>]*>([^<]*)</label>", html)
    assert [text.count("&") for text in labels] == [
        sum(map(name.count, "&<>\"'")) for name in names
    ]
    assert len(re.findall("<legend>[^<]*</legend>", html)) == 1
    assert html.count("<input ") == html.count("<label ") == len(names)


# Recorded values: complete or refused, and the same words everywhere


HOW = {"n": np.int64(12), "unit": "alpha", "method": "m", "computed_by": "this notebook"}


@pytest.fixture
def recorder(tmp_path):
    return Recorder("01-example", tmp_path)


def stored(tmp_path):
    return json.loads((tmp_path / "01-example.json").read_text(encoding="utf-8"))


def test_what_is_missing_is_null_and_has_its_reason(recorder, tmp_path):
    recorder.value("alpha", float("nan"), low=np.nan, high=np.nan, **HOW, reason="never asked")
    (value,) = stored(tmp_path)
    assert [value[part] for part in ("estimate", "low", "high")] == [None] * 3
    assert value["reason"] == "never asked"


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"estimate": None}, ["reason"]),
        ({"n": None}, ["n,"]),
        ({"method": ""}, ["method"]),
        ({"unit": ""}, ["unit"]),
        ({"low": 0.5}, ["limit"]),
        ({"computed_by": None}, ["computed_by"]),
        ({"computed_by": ComputedBy("findings.alpha", {}, "omega")}, ["findings.alpha", "'omega'"]),
    ],
)
def test_an_incomplete_value_is_refused(recorder, changes, places):
    with naming.refused("'alpha'", *places, error=ValueError):
        recorder.value("alpha", **({"estimate": 0.9} | HOW | changes))


def test_a_key_is_recorded_once(recorder, tmp_path):
    recorder.value("alpha", 1, **HOW)
    with naming.refused("'alpha'", error=ValueError):
        recorder.value("alpha", 1, **HOW)
    Recorder("02-other", tmp_path).value("alpha", 1, **HOW)
    with naming.refused("'alpha'", "01-example", "02-other", error=ValueError):
        read_values(tmp_path)


class Session:
    """A notebook's session, as far as a recorder asks it which cell runs."""

    kernel = True

    def __init__(self):
        self.input_hist_raw = [""]
        self.history_manager = self

    def run(self, *keys, recorder):
        self.input_hist_raw.append("a cell")
        for key in keys:
            recorder.value(key, len(self.input_hist_raw), **HOW)


@pytest.fixture
def session(monkeypatch):
    session = Session()
    monkeypatch.setattr("builtins.get_ipython", lambda: session, raising=False)
    return session


def test_a_cell_that_is_run_again_replaces_its_values(recorder, session, tmp_path):
    session.run("alpha", "beta", recorder=recorder)
    session.run("alpha", "beta", recorder=recorder)
    assert [(value["estimate"], value["cell"]) for value in stored(tmp_path)] == [(3, 2), (3, 2)]
    with naming.refused("'alpha'", error=ValueError):
        session.run("alpha", "alpha", recorder=recorder)


def test_a_run_starts_without_the_values_of_the_last_and_leaves_no_empty_file(recorder, tmp_path):
    recorder.value("alpha", 1, **HOW)
    again = Recorder("01-example", tmp_path)
    assert not (tmp_path / "01-example.json").exists()
    again.value("beta", 1, **HOW)
    assert [value["key"] for value in stored(tmp_path)] == ["beta"]


def test_nothing_is_written_into_a_finished_edition(recorder, tmp_path):
    Recorder("01-example", tmp_path / "results").value(
        "alpha", 1, n=1, unit="u", method="m", computed_by="this notebook"
    )
    before = (tmp_path / "results" / "01-example.json").read_bytes()
    (tmp_path / "manifest.json").touch()  # which lists the edition's files, and is its last
    again = Recorder("01-example", tmp_path / "results")
    again.value("alpha", 2, **HOW)
    Recorder("02-other", tmp_path / "results").value("gamma", 1, **HOW)
    assert (tmp_path / "results" / "01-example.json").read_bytes() == before
    assert not (tmp_path / "results" / "02-other.json").exists()
    with naming.refused("'alpha'", error=ValueError):
        again.value("alpha", 1, **HOW)


@pytest.mark.parametrize(
    ("number", "unit", "recorded"),
    [
        (9.0, "number of turns", int),
        (np.float64(0), "number of judges", int),
        (9.5, "number of turns", float),
        (1.0, "alpha", float),
    ],
)
def test_a_whole_count_is_recorded_as_a_whole_number(recorder, tmp_path, number, unit, recorded):
    how = {"n": 4, "unit": unit, "method": "counted", "computed_by": "this notebook"}
    recorder.value("a", number, low=number, high=number, **how)
    (value,) = stored(tmp_path)
    assert {type(value[part]) for part in ("estimate", "low", "high")} == {recorded}
    assert value["estimate"] == number


@pytest.mark.parametrize(
    "unit", ["share of turns", "level, 1 to 5", "seconds", "number of turns", "correlation"]
)
def test_what_rounds_to_zero_has_no_minus(unit):
    assert format_number(-0.0, unit) == format_number(0.0, unit)
    assert "-" not in format_number(-0.00004, unit)
    assert format_number(-0.7, unit).startswith("-")
    value = {"estimate": -0.00004, "low": -0.2, "high": -0.00001, "unit": "level, 1 to 5"}
    assert format_value(value) == "0.00 [-0.20, 0.00]"
