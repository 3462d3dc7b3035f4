"""The stored coverage of intervals: shares with Wilson's interval, verdicts, and how many people a contrast needs."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from helpers import naming
from sense7.checkout import data_file
from sense7.findings import coverage as stored_coverage
from sense7.statistics.bootstrap import FEWEST_IN_A_GROUP

COVERAGE = json.loads(data_file("coverage.json").read_text("utf-8"))


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (475, 500), (1, 3)])
def test_wilsons_interval_is_that_of_the_formula(count, n):
    row = stored_coverage.wilson_row(count, n, unit="share", method="counted")
    p = count / n
    z = norm.ppf(0.975)
    middle = p + z**2 / (2 * n)
    reach = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = (p, (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n))
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def changed_rows(path, change):
    """A stored result whose rows are changed."""
    path.write_text(
        json.dumps(COVERAGE | {"results": [row | change(row) for row in COVERAGE["results"]]}),
        "utf-8",
    )
    return path


def test_the_verdict_names_what_is_outside(tmp_path, monkeypatch):
    path = changed_rows(
        tmp_path / "coverage.json", lambda row: {"count": round(0.95 * row["studies"])}
    )
    monkeypatch.setattr(stored_coverage, "data_file", lambda name: path)
    verdict = stored_coverage.coverage_verdict("within")
    naming.check(verdict, "0 of 14", "95%", "91%", "98%")
    assert stored_coverage.coverage_exclusions()["estimate"].tolist() == [0, 0]
    first = COVERAGE["results"][0]
    changed_rows(
        path, lambda row: {"count": round((0.5 if row == first else 0.95) * row["studies"])}
    )
    text = stored_coverage.coverage_verdict("within")
    naming.check(text, "1 of 14", "alpha per turn 50.0%", "1 (alpha per turn, 50.0%)")
    assert stored_coverage.coverage_exclusions()[["estimate", "n"]].to_numpy().tolist() == [
        [1, 28],
        [1, 28],
    ]


def test_contrasts_need_as_many_people_as_was_measured():
    assert stored_coverage.fewest_people() == FEWEST_IN_A_GROUP
    assert list(stored_coverage.few_people_coverage()["needed"]) == list(FEWEST_IN_A_GROUP.values())
