"""Cohen's d where nothing varies (its values beside R: tests/reference)."""

import numpy as np
import pytest

from sense7.statistics.effect_size import cohens_d, group_moments


@pytest.mark.parametrize("y", [[1.0, 1, 1, 1], [0.1, 0.1, 0.1, 0.1]])
def test_without_variation_there_is_none(y):
    assert np.isnan(cohens_d(group_moments(np.array(y), np.array([0, 0, 1, 1])).sum(axis=0)))
