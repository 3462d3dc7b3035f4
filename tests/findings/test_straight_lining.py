"""Turns of one level: against a loop over turns, against alpha of the participants left, and where there is none."""

import numpy as np
import pandas as pd
import pytest

from sense7.estimators.alpha import cronbach_alpha
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.reliability import straight_lining
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def turns(workbooks):
    return measures.turn_ratings(read_workbook(workbooks["reference"]))


def by_loop(turns):
    """Whether each turn with five or more ratings has one level, and whether this is below the top; by participant."""
    rows = []
    for who, ratings in zip(turns.index, turns.to_numpy(), strict=True):
        given = {level for level in ratings if not np.isnan(level)}
        if np.sum(~np.isnan(ratings)) >= 5:
            rows.append((who, len(given) == 1, len(given) == 1 and given != {5.0}))
    return pd.DataFrame(rows, columns=["participant", "straight", "below"])


def test_shares_are_those_of_a_loop_over_turns(turns, copies_of, resampled):
    bootstrap, times = copies_of(ParticipantBootstrap(turns.index, 100, 1))
    table = straight_lining(turns, bootstrap)
    rows = by_loop(turns)
    expected = [rows["straight"].mean(), rows["below"].sum() / rows["straight"].sum()]
    np.testing.assert_allclose(table["estimate"].iloc[:2], expected, atol=1e-12)
    assert table["n"].tolist()[:2] == [len(rows), rows["straight"].sum()]
    weights = rows["participant"].map(times)
    drawn = [
        np.average(rows["straight"], weights=weights),
        np.average(rows["below"], weights=weights * rows["straight"]),
    ]
    np.testing.assert_allclose(resampled(table.iloc[:2]), drawn, atol=1e-12)


def test_alpha_is_that_of_the_participants_left(turns):
    table = straight_lining(turns, ParticipantBootstrap(turns.index, 100, 1))
    shares = by_loop(turns).groupby("participant")["straight"].mean()
    left_out = shares.index[shares > np.quantile(shares, 0.75)]
    assert 0 < len(left_out) <= len(shares) / 4
    row = table.iloc[2]
    assert row["estimate"] == pytest.approx(cronbach_alpha(turns[~turns.index.isin(left_out)]), abs=1e-12)
    assert row["low"] < row["estimate"] < row["high"]
    assert row["method"].endswith(f"without {len(left_out)} of {turns.index.nunique()} participants")


def test_who_gives_one_level_throughout_is_left_out():
    generator = np.random.default_rng(1)
    ratings = generator.integers(1, 6, size=(80, 7)).astype(float)
    frame = pd.DataFrame(ratings, index=[f"P{row % 8}" for row in range(80)], columns=list(DIMENSION_NAMES))
    frame.loc[["P0", "P1"]] = 4.0
    table = straight_lining(frame, ParticipantBootstrap(frame.index, 100, 1))
    assert table["estimate"].iloc[:2].tolist() == [20 / 80, 1.0]
    assert table["estimate"].iloc[2] == pytest.approx(cronbach_alpha(frame.drop(index=["P0", "P1"])))


def test_without_five_ratings_or_one_level_the_rows_say_so():
    frame = pd.DataFrame([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1]] * 5, index=[f"P{row // 2}" for row in range(10)])
    bootstrap = ParticipantBootstrap(frame.index, 100, 1)
    table = straight_lining(frame, bootstrap)
    assert table["estimate"].iloc[0] == 0
    assert table["reason"].iloc[1] == "no turn has one level throughout"
    fewer = straight_lining(frame[[0, 1, 2, 3]], bootstrap)
    assert fewer["reason"].tolist()[:2] == ["no turn has 5 ratings"] * 2
    assert np.isfinite(fewer["estimate"].iloc[2])
