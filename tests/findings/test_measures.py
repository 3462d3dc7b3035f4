"""What several findings use of a study."""

import numpy as np
import pandas as pd

from sense7.findings import measures
from sense7.findings.ground_truth import labels


def test_a_rating_is_poor_by_its_label():
    ratings = np.array([1, 2, 2.5, 2.500001, 1.67, 3, 3.5, 5, np.nan])
    assert measures.is_poor(ratings).tolist() == [
        True,
        True,
        True,
        False,
        True,
        False,
        False,
        False,
        False,
    ]
    assert measures.is_poor(ratings).tolist() == (labels(ratings) <= measures.POOR).tolist()
    series = pd.Series(ratings, index=list("abcdefghi"))
    pd.testing.assert_series_equal(
        measures.is_poor(series), pd.Series(measures.is_poor(ratings), series.index)
    )
