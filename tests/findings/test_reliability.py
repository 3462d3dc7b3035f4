"""Ratings of several dimensions: against loops, and where there is no number."""

import numpy as np
import pandas as pd

from helpers import golden
from helpers.studies import draws_of
from sense7.findings import measures, reliability
from sense7.statistics import alpha


def test_straight_lines_are_those_of_a_loop_and_alpha_is_that_of_the_participants_left():
    turns, rows = measures.turn_ratings(golden.study()), []
    for who, ratings in zip(turns.index, turns.to_numpy(), strict=True):
        given = {level for level in ratings if not np.isnan(level)}
        if np.sum(~np.isnan(ratings)) >= 5:
            rows.append((who, len(given) == 1, len(given) == 1 and given != {5.0}))
    rows = pd.DataFrame(rows, columns=["participant", "straight", "below"])
    table = reliability.straight_lining(turns, draws_of(turns))
    shares = rows.groupby("participant")["straight"].mean()
    left_out = shares.index[shares > np.quantile(shares, 0.75)]
    expected = [rows["straight"].mean(), rows["below"].sum() / rows["straight"].sum()]
    np.testing.assert_allclose(
        table["estimate"],
        [*expected, alpha.cronbach_alpha(turns[~turns.index.isin(left_out)])],
        atol=1e-12,
    )
    assert table["n"].tolist()[:2] == [len(rows), rows["straight"].sum()]
    assert 0 < len(left_out) <= np.ceil(len(shares) / 4)
    assert (
        table["method"]
        .iloc[2]
        .endswith(f"without {len(left_out)} of {turns.index.nunique()} participants")
    )
