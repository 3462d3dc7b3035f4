"""What several findings use of a study."""

import numpy as np
import pandas as pd

from sense7.findings import measures
from sense7.findings.ground_truth import labels


def test_a_rating_is_poor_by_its_label():
    ratings = np.array([1, 2, 2.5, 1.67, 2.500001, 3, 3.5, 5, np.nan])
    assert np.flatnonzero(measures.is_poor(ratings)).tolist() == [0, 1, 2, 3]
    assert measures.is_poor(ratings).tolist() == (labels(ratings) <= measures.POOR).tolist()
    assert measures.is_poor(pd.Series(ratings, list("abcdefghi"))).index[-1] == "i"
