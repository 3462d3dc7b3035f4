"""Loadings in the prompted condition and in the others: against statsmodels, on planted studies, and where none are."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.multivariate.factor import Factor

import sense7 as s7
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.conditions import largest_loading_difference
from sense7.study import RATED, Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.workbook import parse_sheets

SEVEN = list(DIMENSION_NAMES)


def bootstrap_of(study, draws=200):
    return ParticipantBootstrap(study.conversations["participant"], draws, 1)


def loadings_by_statsmodels(ratings):
    found = Factor(ratings, n_factor=1, method="ml").fit(maxiter=2000).loadings[:, 0]
    return found * np.sign(found.sum())


def test_the_difference_is_that_of_two_factor_models_of_statsmodels():
    study = s7.load("synthetic")
    row = largest_loading_difference(study, bootstrap_of(study)).iloc[0]
    turns = study.turns.dropna(subset=SEVEN)
    prompted = turns["condition"] == study.prompted_condition
    differences = pd.Series(
        loadings_by_statsmodels(turns.loc[prompted, SEVEN]) - loadings_by_statsmodels(turns.loc[~prompted, SEVEN]),
        SEVEN,
    )
    largest = differences.abs().idxmax()
    assert row["estimate"] == pytest.approx(differences[largest], abs=1e-4)
    assert f"; {largest}, prompted condition minus the others" in row["method"]
    assert row["n"] == len(turns)
    assert row["low"] < row["estimate"] < row["high"]


def study_of(seed, loading=0.8, people=60, talks=6):
    """One factor with loadings of .8; in the prompted condition that of Relational is another."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), talks)
    condition = np.where(np.arange(len(who)) % 2, "plain", "prompted")
    size = np.full((len(who), 7), 0.8)
    size[condition == "prompted", -1] = loading
    ratings = generator.normal(size=(len(who), 1)) * size + generator.normal(size=size.shape) * np.sqrt(1 - size**2)
    frame = pd.DataFrame(ratings, columns=SEVEN)
    names = {"participant": [f"P{one}" for one in who], "condition": condition, "topic": None}
    frame = frame.assign(**names, conversation=[f"C{one}" for one in range(len(who))], turn=1, overall=np.nan)
    frame = frame.assign(**{f"{name}_state": RATED for name in RATING_NAMES})
    return Study("made up", frame, frame, frame, None, pd.DataFrame(), prompted_condition="prompted")


@pytest.mark.long
def test_where_loadings_are_the_same_the_largest_difference_is_rarely_off_zero():
    """The interval allows for having picked the largest of seven: at 95%, at most 3 of 30 by chance."""
    rows = [largest_loading_difference(study := study_of(seed), bootstrap_of(study)).iloc[0] for seed in range(30)]
    assert sum(not row["low"] <= 0 <= row["high"] for row in rows) <= 4
    assert all(row["estimate"] != 0 for row in rows)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tasks": {"Model": ["a", "b", "a", "b"]}}, "which condition is prompted is not known"),
        ({"messages": dict.fromkeys(SEVEN)}, "a factor needs 3 dimensions that were rated and vary"),
        (
            {"messages": {name: [None, "poor", None, "good", None, "neutral"] * 3 for name in SEVEN}},
            "turns that rate every dimension: 4 in the prompted condition and 4 in the others; this needs 20 in each",
        ),
    ],
)
def test_where_there_are_no_loadings_it_says_why(minimal_sheets, changes, reason):
    study = parse_sheets(minimal_sheets(**changes))
    row = largest_loading_difference(study, bootstrap_of(study, 20)).iloc[0]
    assert np.isnan(row["estimate"])
    assert row["reason"].startswith(reason)
    assert row["key"] == "prompted_largest_loading_difference"
