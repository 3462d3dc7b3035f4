"""The tests notice small changes of the code: what a sample of mutants came to, as it is stored.

What was killed by a test written since counts as dead here; how many lived at first stands beside it.
"""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_ALIVE = 0.10
FEWEST = 3


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "mutation.json").read_text("utf-8"))


def test_at_most_a_tenth_of_the_sample_lives(stored):
    rows = stored["modules"].values()
    assert sum(row["alive"] for row in rows) <= MOST_ALIVE * sum(row["run"] for row in rows)


def test_every_module_that_computes_or_reads_was_sampled(stored):
    package = ROOT / "src" / "sense7"
    for part in ("estimators", "findings", "workbook"):
        files = (file.relative_to(package).with_suffix("") for file in (package / part).rglob("[!_]*.py"))
        assert {".".join(file.parts) for file in files} <= stored["modules"].keys()
    assert {"claims", "judge.reply", "judge.scoring.metrics", "judge.predictions"} <= stored["modules"].keys()
    for name, row in stored["modules"].items():
        assert row["run"] == row["dead"] + row["out_of_time"] + row["dead_since"] + row["alive"], name
        assert row["run"] >= min(FEWEST, row["mutants"] - row["passed_over"]), name
