"""What a sample of mutants came to, as it is stored: every package, with the interval of the share that lives."""

import json
from pathlib import Path

import pytest
from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "mutation.json").read_text("utf-8"))


def test_as_many_mutants_of_every_package_were_run(stored):
    package = ROOT / "src" / "sense7"
    assert {file.parent.name for file in package.glob("*/__init__.py")} | {"top"} == stored["packages"].keys()
    for name, row in stored["packages"].items():
        assert row["run"] == min(stored["number"], row["mutants"]), name
        assert row["run"] == row["dead"] + row["out_of_time"] + row["alive"], name


def test_the_interval_is_that_of_all_that_were_run(stored):
    for name, row in stored["packages"].items():
        interval = binomtest(row["alive"], row["run"]).proportion_ci(method="wilson")
        expected = [row["alive"] / row["run"], interval.low, interval.high]
        assert [row["share"], row["low"], row["high"]] == pytest.approx(expected, abs=0.0006), name
