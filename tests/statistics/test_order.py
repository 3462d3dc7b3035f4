"""Nothing depends on the order of ids, nor on the last bits of a sum."""

import numpy as np
import pandas as pd

from sense7.statistics.order import in_order_of_appearance, rounded


def test_groups_stand_in_the_order_of_their_first_rows_and_sums_that_are_equal_tie():
    frame = pd.DataFrame({"who": ["b", "a", "b", "a"], "turn": [2, 1, 1, 0]})
    ordered = in_order_of_appearance(frame, "who", "turn")
    assert ordered.index.tolist() == [2, 0, 3, 1]
    values = np.random.default_rng(1).normal(size=100)
    assert rounded(values.sum()) == rounded(values[::-1].sum())
