"""Cronbach's alpha: against R, against algebra, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sense7.estimators import alpha as alpha_module
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_table
from sense7.findings import measures
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def tables(study):
    turns, post = measures.turn_ratings(study), measures.post_task_ratings(study)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=10_000, seed=1)
    rows = {
        "per turn, pairwise": (turns, "pairwise"),
        "per turn, listwise": (turns, "listwise"),
        "per turn, without Relational": (turns.drop(columns="Relational"), "pairwise"),
        "after the conversation": (post, "pairwise"),
    }
    return {
        interval: estimate_table(
            {
                row: alpha_module.alpha_row(ratings, bootstrap, missing=missing, interval=interval)
                for row, (ratings, missing) in rows.items()
            },
            "ratings",
        )
        for interval in alpha_module.INTERVALS
    }


def alpha_by_pandas(ratings: pd.DataFrame) -> float:
    covariances, items = ratings.cov().to_numpy(), ratings.shape[1]
    return items / (items - 1) * (1 - np.trace(covariances) / covariances.sum())


ROWS = {
    "per turn, pairwise": ("turn_ratings", [], False),
    "per turn, listwise": ("turn_ratings", [], True),
    "per turn, without Relational": ("turn_ratings", ["Relational"], False),
    "after the conversation": ("post_task_ratings", [], False),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_interval_is_that_of_bonett_with_an_error_by_leaving_out_participants(study, tables, row):
    """An independent program: drop each participant's rows, compute alpha with pandas."""
    ratings, left_out, complete = ROWS[row]
    frame = getattr(measures, ratings)(study).drop(columns=left_out)
    frame = frame.dropna() if complete else frame
    people = frame.index.unique()
    logs = np.log([1 - alpha_by_pandas(frame[frame.index != who]) for who in people])
    error = np.sqrt((len(people) - 1) * logs.var())
    reach = stats.t.ppf(0.975, len(people) - 1) * error
    rest = 1 - alpha_by_pandas(frame)
    found = tables["participants"].loc[row]
    assert found["low"] == pytest.approx(1 - rest * np.exp(reach), abs=1e-9)
    assert found["high"] == pytest.approx(1 - rest * np.exp(-reach), abs=1e-9)
    assert found["method"].endswith(
        "; 95% t interval on the scale log(1 - alpha), standard error by leaving out each participant in turn"
    )


def test_the_t_interval_does_not_depend_on_resamples_or_seed_and_the_percentile_interval_does(study):
    ratings = measures.post_task_ratings(study)
    few, many = (ParticipantBootstrap(ratings.index, draws, seed) for draws, seed in ((50, 1), (60, 2)))
    first, second = (alpha_module.alpha_row(ratings, one) for one in (few, many))
    assert first == second
    first, second = (alpha_module.alpha_row(ratings, one, interval="percentile") for one in (few, many))
    assert first["low"] != second["low"]
    assert first["method"].endswith("; 95% percentile interval, 50 resamplings of participants")


def one_participant_each(rows: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list("abc"[: len(rows[0])]), index=[f"P{i}" for i in range(len(rows))])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[np.nan, np.nan], [np.nan, np.nan]], "none of these dimensions was rated in this data set; alpha needs two"),
        ([[1, np.nan], [2, np.nan]], "only one of these dimensions was rated in this data set; alpha needs two"),
        ([[3, 3], [3, 3], [3, 3]], "the ratings do not vary, or no two items share two units"),
        (
            [[1, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 4]],
            "the ratings do not vary, or no two items share two units",
        ),
        ([[1, 2]], "fewer than two units rate all of 2 dimensions"),
        (
            [[1, 2, np.nan], [2, 2, np.nan], [4, 5, np.nan]],
            "no interval: only 3 participants to resample; 2 dimensions; never rated: c",
        ),
    ],
)
def test_where_there_is_no_alpha_the_row_says_why(rows, reason):
    ratings = one_participant_each(rows)
    row = alpha_module.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1))
    assert np.isnan(row["low"])
    assert np.isnan(row["estimate"]) != reason.startswith("no interval")
    assert row["reason"] == reason


def test_an_alpha_of_one_is_not_called_certain():
    ratings = one_participant_each([[1, 1], [2, 2], [4, 4], [5, 5], [3, 3], [2, 2]])
    for interval in ("participants", "percentile"):
        row = alpha_module.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1), interval=interval)
        assert row["estimate"] == pytest.approx(1)
        assert np.isnan([row["low"], row["high"]]).all()
        assert row["reason"] == "no interval: every resampling gives the same value"
        assert "interval" not in row["method"]


def test_an_unknown_interval_is_refused():
    ratings = one_participant_each([[1, 2], [2, 3]])
    with pytest.raises(ValueError, match="participants, percentile, feldt"):
        alpha_module.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1), interval="bca")


def test_an_unknown_rule_for_missing_ratings_is_refused():
    with pytest.raises(ValueError, match="pairwise"):
        alpha_module.cronbach_alpha(one_participant_each([[1, 2], [2, 3]]), "mean")
