"""Cronbach's alpha: against R, against algebra, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.statistics import reliability
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook

CLOSED_FORM = 1e-7


@pytest.fixture(scope="module")
def study(shared):
    return read_workbook(shared / "golden" / "golden.xlsx")


@pytest.fixture(scope="module")
def tables(study):
    turns, post = reliability.turn_ratings(study), reliability.post_task_ratings(study)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=10_000, seed=1)
    return {
        interval: reliability.alpha_table(turns, post, bootstrap, interval=interval)
        for interval in ("participants", "feldt")
    }


GOLDEN_NAMES = {
    "per turn, pairwise": "turn_pairwise",
    "per turn, listwise": "turn_listwise",
    "per turn, without Relational": "turn_6dims_pairwise",
    "after the conversation, pairwise": "post",
    "after the conversation, listwise": "post",
}


@pytest.mark.parametrize(("row", "name"), GOLDEN_NAMES.items())
def test_alpha_equals_that_of_psych_in_r(tables, golden, row, name):
    assert tables["participants"].loc[row, "estimate"] == pytest.approx(golden[f"alpha_raw_{name}"], abs=CLOSED_FORM)


@pytest.mark.parametrize(("row", "name"), GOLDEN_NAMES.items())
@pytest.mark.parametrize("limit", ["low", "high"])
def test_feldt_limits_equal_those_of_r(tables, golden, row, name, limit):
    reference = golden[f"alpha_feldt_{'lower' if limit == 'low' else 'upper'}_{name}"]
    assert tables["feldt"].loc[row, limit] == pytest.approx(reference, abs=CLOSED_FORM)


@pytest.mark.parametrize("dimension", DIMENSION_NAMES)
def test_alpha_if_dropped_equals_that_of_psych_in_r(study, golden, dimension):
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    dropped = reliability.alpha_if_dropped(reliability.turn_ratings(study), bootstrap)
    reference = golden[f"alpha_if_dropped_turn_pairwise_{dimension}"]
    assert dropped.loc[dimension, "estimate"] == pytest.approx(reference, abs=CLOSED_FORM)


def test_the_counts_beside_alpha_are_those_of_r(tables, golden):
    counts = tables["participants"]["n"]
    assert counts["per turn, pairwise"] == golden["n_turns"]
    assert counts["per turn, listwise"] == golden["n_turns_listwise"]
    assert counts["after the conversation, pairwise"] == golden["n_conversations"]


def test_resampling_frames_gives_the_interval_that_the_engine_gives(study, tables):
    """An independent program: copy participants' rows, compute alpha with pandas, 2,000 times."""
    turns = reliability.turn_ratings(study)
    groups = {who: frame.to_numpy() for who, frame in turns.groupby(level=0)}
    generator = np.random.default_rng(11)
    names = list(groups)
    alphas = []
    for _ in range(2000):
        rows = np.concatenate([groups[names[code]] for code in generator.integers(len(names), size=len(names))])
        covariances = pd.DataFrame(rows).cov().to_numpy()
        alphas.append(7 / 6 * (1 - np.trace(covariances) / covariances.sum()))
    low, high = np.quantile(alphas, [0.025, 0.975])
    row = tables["participants"].loc["per turn, pairwise"]
    # The golden README: independent programs agree within 0.001.
    assert row["low"] == pytest.approx(low, abs=0.001)
    assert row["high"] == pytest.approx(high, abs=0.001)


def test_over_turns_feldt_is_too_narrow_to_be_true(tables):
    width = {
        kind: table.loc["per turn, pairwise", "high"] - table.loc["per turn, pairwise", "low"]
        for kind, table in tables.items()
    }
    assert width["participants"] > 3 * width["feldt"]


def test_ieval_gives_its_known_answer(shared):
    study = read_workbook(shared / "data" / "ieval.xlsx")
    turns = reliability.turn_ratings(study)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    row = reliability.alpha_row(turns, bootstrap)
    assert round(row["estimate"], 3) == 0.917
    assert row["n"] == 1920
    assert row["reason"] == "5 dimensions; never rated: Cognitive, Relational"
    correlations = turns.corr()
    assert round(correlations.loc["Affective", "Response"], 3) == 0.878
    assert round(correlations.loc["Interest", "Contextual"], 3) == 0.848


ratings_frames = st.integers(0, 2**32).map(
    lambda seed: pd.DataFrame(
        np.clip(
            np.round(
                3
                + np.random.default_rng(seed).normal(size=(30, 1))
                + np.random.default_rng(seed + 1).normal(size=(30, 4))
            ),
            1,
            5,
        ),
        columns=list("abcd"),
    )
)


@settings(max_examples=50, deadline=None)
@given(ratings_frames, st.floats(-50, 50), st.permutations(list("abcd")))
def test_alpha_does_not_change_by_shifting_or_reordering_items(ratings, shift, order):
    alpha = reliability.cronbach_alpha(ratings)
    assert reliability.cronbach_alpha(ratings[order] + shift) == pytest.approx(alpha, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(ratings_frames)
def test_without_holes_both_rules_agree_with_the_plain_formula(ratings):
    items = ratings.var(ddof=1).sum()
    total = ratings.sum(axis=1).var(ddof=1)
    plain = 4 / 3 * (1 - items / total)
    assert reliability.cronbach_alpha(ratings, "pairwise") == pytest.approx(plain, abs=1e-12)
    assert reliability.cronbach_alpha(ratings, "listwise") == pytest.approx(plain, abs=1e-12)


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
        ([[1, 2]], "fewer than two units rate all 2 dimensions"),
    ],
)
def test_where_there_is_no_alpha_the_row_says_why(rows, reason):
    ratings = one_participant_each(rows)
    row = reliability.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1))
    assert np.isnan(row["estimate"])
    assert row["reason"] == reason


def test_one_participant_has_an_alpha_and_no_interval():
    ratings = one_participant_each([[1, 2], [2, 2], [4, 5], [5, 4]])
    ratings.index = ["P1"] * 4
    row = reliability.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1))
    assert row["estimate"] > 0.8
    assert np.isnan(row["low"])
    assert row["reason"] == "no interval: only 1 participant to resample"


def test_an_unknown_rule_for_missing_ratings_is_refused():
    with pytest.raises(ValueError, match="pairwise"):
        reliability.cronbach_alpha(one_participant_each([[1, 2], [2, 3]]), "mean")
