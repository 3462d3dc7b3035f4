"""Spearman's correlation where a value is missing (in resamples: tests/findings and tests/judge)."""

import numpy as np
import pytest

from helpers import naming
from sense7.statistics.ranks import spearman_in_draws


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_value_is_refused_and_not_ranked(missing):
    columns = {"x": [1.0, 2.0, missing, 4.0], "y": [2.0, 1.0, 4.0, 3.0]}
    with naming.refused("1 of 8"):
        spearman_in_draws(columns, [("y", "x")], np.ones((1, 4)))
