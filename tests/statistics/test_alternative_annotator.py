"""The alternative annotator test in resamples (its p values beside R: tests/reference)."""

import numpy as np
import pytest

from sense7.statistics.alternative_annotator import alternative_test, wins


def test_a_resample_is_the_test_of_its_rows_copied_out():
    generator = np.random.default_rng(1)
    table = generator.integers(1, 6, (40, 4)).astype(float)
    found = wins(table[:, 0], table[:, 1:])
    rows = generator.integers(40, size=(5, 40))
    weights = np.array([np.bincount(row, minlength=40) for row in rows])
    drawn = alternative_test(found, 0.2, weights)
    for number, row in enumerate(rows):
        copied = alternative_test(wins(table[row, 0], table[row, 1:]), 0.2, np.ones((1, 40)))
        assert drawn.advantage[number] == pytest.approx(copied.advantage[0])
        assert drawn.p[number] == pytest.approx(copied.p[0])
