"""Spearman's correlation in resamples: what it refuses."""

import numpy as np
import pytest

from sense7.errors import UserError
from sense7.estimators.ranks import spearman_in_draws, spearmans_in_draws


@pytest.mark.parametrize("missing", [np.nan, None])
@pytest.mark.parametrize("first", [True, False])
def test_a_missing_value_is_refused_and_not_ranked(missing, first):
    columns = [[1.0, 2.0, missing, 4.0], [2.0, 1.0, 4.0, 3.0]]
    x, y = columns if first else reversed(columns)
    with pytest.raises(UserError, match="1 of 8 are missing"):
        spearman_in_draws(x, y, np.ones((1, 4)))
    with pytest.raises(UserError, match="1 of 8 are missing"):
        spearmans_in_draws([x, y], [(0, 1)], np.ones((1, 4)))
