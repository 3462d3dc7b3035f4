"""The stored coverage of intervals: shares with Wilson's interval, and how many people a contrast needs."""

import numpy as np
import pytest
from scipy.stats import norm

from sense7.findings import coverage as stored_coverage
from sense7.statistics.bootstrap import FEWEST_IN_A_GROUP


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (475, 500), (1, 3)])
def test_wilsons_interval_is_that_of_the_formula(count, n):
    row = stored_coverage.wilson_row(count, n, unit="share", method="counted")
    p = count / n
    z = norm.ppf(0.975)
    middle = p + z**2 / (2 * n)
    reach = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = (p, (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n))
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def test_contrasts_need_as_many_people_as_was_measured():
    assert stored_coverage.fewest_people() == FEWEST_IN_A_GROUP
    assert list(stored_coverage.few_people_coverage()["needed"]) == list(FEWEST_IN_A_GROUP.values())
