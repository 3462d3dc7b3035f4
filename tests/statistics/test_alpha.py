"""Cronbach's alpha: its interval against a program of its own, and why a row lacks one."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import golden, naming
from sense7.findings import measures
from sense7.statistics.alpha import alpha_row, cronbach_alpha
from sense7.statistics.bootstrap import ParticipantBootstrap


@pytest.fixture(scope="module")
def study():
    return golden.study()


def row_of(ratings, draws=100, seed=1, **options):
    return alpha_row(ratings, ParticipantBootstrap(ratings.index, draws, seed), **options)


def test_the_interval_is_that_of_bonett_with_an_error_by_leaving_out_participants(study):
    """An independent program: drop each participant's rows, compute alpha of the others."""
    frame = measures.turn_ratings(study)
    people, rest = frame.index.unique(), 1 - cronbach_alpha(frame)
    logs = np.log([1 - cronbach_alpha(frame[frame.index != who]) for who in people])
    reach = stats.t.ppf(0.975, len(people) - 1) * np.sqrt((len(people) - 1) * logs.var())
    found = row_of(frame)
    assert found["low"] == pytest.approx(1 - rest * np.exp(reach), abs=1e-9)
    assert found["high"] == pytest.approx(1 - rest * np.exp(-reach), abs=1e-9)
    naming.check(found["method"], "95%", "log(1 - alpha)")


def one_participant_each(rows: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        rows, columns=list("abc"[: len(rows[0])]), index=[f"P{i}" for i in range(len(rows))]
    )


@pytest.mark.parametrize(
    ("rows", "has_estimate", "named"),
    [
        ([[np.nan, np.nan], [np.nan, np.nan]], False, "none of these dimensions"),
        ([[1, np.nan], [2, np.nan]], False, "only one of these dimensions"),
        ([[3, 3], [3, 3], [3, 3]], False, "do not vary"),
        ([[1, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 4]], False, "share two units"),
        ([[1, 2]], False, "2 dimensions"),
        ([[1, 2, np.nan], [2, 2, np.nan], [4, 5, np.nan]], True, "2 dimensions; never rated: c"),
    ],
)
def test_where_there_is_no_alpha_the_row_says_why(rows, has_estimate, named):
    ratings = one_participant_each(rows)
    row = row_of(ratings)
    assert np.isnan(row["low"])
    assert np.isfinite(row["estimate"]) == has_estimate
    naming.check(row["reason"], named)


@pytest.mark.parametrize("interval", ["participants", "percentile"])
def test_an_alpha_of_one_is_not_called_certain(interval):
    ratings = one_participant_each([[1, 1], [2, 2], [4, 4], [5, 5], [3, 3], [2, 2]])
    row = row_of(ratings, interval=interval)
    assert row["estimate"] == pytest.approx(1)
    assert np.isnan([row["low"], row["high"]]).all()
    naming.check(row["reason"], "same value")
    assert "interval" not in row["method"]
