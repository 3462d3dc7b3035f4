"""The measurements: each works in a tiny form, both sides give the same answer, and RESULTS.md shows what is stored."""

import json
import subprocess

import pytest
from evidence import bench

ROOT = bench.ROOT


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    known = subprocess.run(["git", "cat-file", "-e", bench.BEFORE], cwd=ROOT, check=False).returncode == 0  # noqa: S607
    return known, bench.Bench(tmp_path_factory.mktemp("bench"), tiny=True)


@pytest.mark.parametrize("name", bench.MEASURES)
def test_every_measure_works(name, tiny):
    known, where = tiny
    if not known and name in ("clean", "cold"):
        pytest.skip(f"needs commit {bench.BEFORE}, which a shallow clone lacks")
    measure = bench.MEASURES[name]
    row = bench.measured(measure, where)
    assert len(row["ours"]) == 1
    assert bool(row["theirs"]) == bool(measure.peer) == bool(row["ratio"])


def test_different_answers_are_refused():
    bench.require_same({"a": [1.0, 2.0], "b": [0.0]}, {"a": [1.0, 2.0]}, 1e-9)
    bench.require_same(["a", 1.0], ["a", 1.0], 1e-9)
    for ours, theirs in (({"a": [1.0]}, {"a": [1.1]}), ([1.0], [1.0 + 1e-6]), (["a"], ["b"])):
        with pytest.raises((AssertionError, TypeError)):
            bench.require_same(ours, theirs, 1e-9)


def test_the_page_shows_what_is_stored():
    assert bench.RESULTS.read_text("utf-8") == bench.page(json.loads(bench.BENCH.read_text("utf-8")))


def test_the_page_names_a_missed_goal_growth_and_what_was_not_measured():
    steps = {"check": [[0.5, 40], [1.0, 50], [10.0, 90]]}
    rows = {
        "check": {"ours": [2.0], "theirs": [1.0], "ratio": 0.5, "steps": {}, "made": "here"},
        "growth": {"ours": [90.0], "theirs": [], "ratio": None, "steps": steps, "made": "here"},
    }
    page = bench.page(rows)
    assert "| sense7 check | import pandas | 2 s | 1 s | 0.50 | at most 1.3 times its time | **missed** |" in page
    assert "| check | 0.5 s, 40 MiB | 1.0 s, 50 MiB | 10.0 s, 90 MiB | 1.00 |" in page
    assert "Not measured yet: clean clone to book" in page
