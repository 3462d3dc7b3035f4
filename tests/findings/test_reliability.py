"""Ratings of several dimensions: against loops, and where there is no number."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.multivariate.factor import Factor

from helpers import golden, naming
from helpers.studies import bootstrap_of, draws_of
from sense7.findings import agreement, measures, reliability
from sense7.statistics import alpha
from sense7.statistics.rater_agreement import weighted_kappa
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES


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


# What cannot be computed


def nested():
    """Ratings of turns within conversations, with one common part at each level; person and talk are the index."""
    generator, rows = np.random.default_rng(1), []
    for person, talk in itertools.product(range(12), range(4)):
        common = generator.normal()
        for _ in range(4):
            ratings = 3 + common + generator.normal() + 0.5 * generator.normal(size=7)
            rows.append((f"P{person}", f"P{person}-{talk}", *ratings))
    frame = pd.DataFrame(rows, columns=["participant", "conversation", *DIMENSION_NAMES])
    return frame.set_index(["participant", "conversation"])


def scores(rows=60, items=4, people=10):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(rows, 1)) + 0.7 * generator.normal(size=(rows, items)) + 3
    names = [f"P{row % people}" for row in range(rows)]
    return pd.DataFrame(
        np.clip(np.round(values), 1, 5), index=names, columns=list("abcdefg"[:items])
    )


def within(frame):
    return reliability.by_level(frame, draws_of(frame)).filter(like="within", axis=0)


def of(function):
    return lambda frame: function(frame, draws_of(frame))


def of_one_factor(frame):
    found = reliability.omega_and_loadings(frame, draws_of(frame))
    return pd.concat([found.omega, found.loadings, reliability.fit_indices(frame)])


NESTED = nested()
LINES = pd.DataFrame(
    [[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1]] * 5, index=[f"P{row // 2}" for row in range(10)]
)
CONSTANT = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [2.0] * 4}, index=list("pqrs"))
counted = partial(reliability.retained, seed=1)


@pytest.mark.parametrize(
    ("function", "frame", "named"),
    [
        (
            within,
            NESTED.assign(**dict.fromkeys(DIMENSION_NAMES[1:], np.nan)),
            "only 1 ",
        ),
        (of(reliability.straight_lining), LINES[[0, 1, 2, 3]], 5),
        (of(reliability.correlations), CONSTANT, "b is"),
        (of(reliability.average_correlation_table), CONSTANT, 1),
        (counted, scores(400, 6, 7), "7 participants for 6 items"),
        (counted, scores(items=2), "only 2 "),
        (
            of_one_factor,
            scores(items=2),
            "only 2 ",
        ),
        (of_one_factor, scores(rows=8), "4 items: 8; this needs 20"),
    ],
)
def test_where_there_is_no_number_the_row_says_why(function, frame, named):
    table = function(frame)
    missing = table[table["estimate"].isna()]
    assert (missing["reason"] != "").all()
    naming.check("\n".join(missing["reason"].unique()), named)


def differences_of(turns):
    """Kappa of Relational minus that of each other dimension, where all three ratings are there."""
    differences = []
    for name in DIMENSION_NAMES[:-1]:
        both = turns.dropna(subset=["overall", "Relational", name]).astype(
            {name: int, "Relational": int, "overall": int}
        )
        tables = np.zeros((2, 5, 5))
        for table, one in zip(tables, ("Relational", name), strict=True):
            np.add.at(table, (both[one] - 1, both["overall"] - 1), 1)
        differences.append(np.subtract(*weighted_kappa(tables)))
    return np.array(differences)


def test_simultaneous_intervals_are_those_of_participants_left_out_and_copied_out():
    generator = np.random.default_rng(1)
    overall = generator.integers(1, 6, size=200).astype(float)
    turns = pd.DataFrame(
        {"participant": [f"P{turn % 12}" for turn in range(200)], "overall": overall}
    )
    for name in DIMENSION_NAMES:
        turns[name] = np.clip(np.rint(overall + 0.8 * generator.normal(size=200)), 1, 5)
        turns.loc[generator.random(200) < 0.1, name] = np.nan
    study = Study("x", turns, pd.DataFrame(), turns, participants=None, columns=pd.DataFrame())
    bootstrap = bootstrap_of(study, 40)
    table = agreement.kappa_differences(study, bootstrap).iloc[:-1]
    here, people = table["estimate"].to_numpy(), list(bootstrap.names)
    without = np.array([differences_of(turns[turns["participant"] != name]) for name in people])
    errors = np.sqrt(11 / 12 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    drawn = []
    for weights in bootstrap.weights().astype(int):
        times = turns["participant"].map(dict(zip(people, weights, strict=True)))
        drawn.append(differences_of(turns.loc[turns.index.repeat(times)]))
    largest = (np.abs(np.array(drawn) - here) / np.std(drawn, axis=0)).max(axis=1)
    reach = np.quantile(largest, 0.95) * stats.t.ppf(0.975, 11) / stats.norm.ppf(0.975)
    np.testing.assert_allclose(table["high"] - here, reach * errors, rtol=1e-5)
    np.testing.assert_allclose(here - table["low"], reach * errors, rtol=1e-5)
    (interval,) = set(table["method"].str.rpartition("; ")[2])
    naming.check(interval, "95%", "max-t", 40)


# Shares of the variance


GENERATOR = np.random.default_rng(1)
SCORES = np.clip(
    np.round(3 + GENERATOR.normal(size=(120, 1)) + GENERATOR.normal(size=(120, 4))), 1, 5
)
SCORES = pd.DataFrame(SCORES, index=[f"P{row % 12}" for row in range(120)], columns=[*"abcy"])


@pytest.mark.parametrize(
    ("changes", "talks", "row", "named"),
    [
        ({}, None, "a", "1 participant"),
        ({"e": np.nan}, None, agreement.TOTAL, "e"),
    ],
)
def test_where_no_variance_is_explained_or_there_is_no_interval_the_row_says_why(
    changes, talks, row, named
):
    """Where a dimension is lacking as well, the reason names it at its end."""
    frame = SCORES.assign(**changes)
    draws = draws_of(frame if talks is not None else frame.set_axis(["P0"] * 120))
    frame = frame if talks is not None else frame.set_axis(["P0"] * 120)
    table = agreement.explained_shares(frame.pop("y"), frame, draws, conversations=talks)
    naming.check(table.loc[row, "reason"], named)


def two_level_ratings(between, seed=3, conversations=200, turns=4):
    """Ratings with one factor within conversations, and so many unrelated parts between them."""
    generator = np.random.default_rng(seed)
    rows = []
    for talk in range(conversations):
        level = np.resize(generator.normal(0, 1.5, between), 6)
        for _ in range(turns):
            values = level + generator.normal() + generator.normal(0, 0.6, 6)
            rows.append((f"P{talk // 4}", f"C{talk}", *values))
    return pd.DataFrame(rows).set_index([0, 1])


def test_the_fit_within_conversations_is_that_of_statsmodels_factor_of_the_pooled_covariances():
    ratings = two_level_ratings(between=2)
    own_mean = ratings.groupby(level=1).transform("mean")
    deviations = (ratings - own_mean).to_numpy()
    freedom = len(ratings) - ratings.index.get_level_values(1).nunique()
    pooled = deviations.T @ deviations / freedom
    sd = np.sqrt(np.diag(pooled))
    observed = pooled / np.outer(sd, sd)
    fitted = Factor(corr=observed, n_factor=1, method="ml", nobs=freedom).fit()
    modeled = fitted.loadings @ fitted.loadings.T + np.diag(fitted.uniqueness)
    discrepancy = (
        np.linalg.slogdet(modeled)[1]
        - np.linalg.slogdet(observed)[1]
        + np.trace(np.linalg.solve(modeled, observed))
        - 6
    )
    chi_square = freedom * discrepancy
    chi_square_none = -freedom * np.linalg.slogdet(observed)[1]
    excess = max(chi_square - 9, 0)
    residuals = (observed - modeled)[np.tril_indices(6)]
    table = reliability.within_fit_indices(ratings)
    assert table["n"].tolist() == [freedom] * 3
    expected = {
        "CFI": 1 - excess / (chi_square_none - 15),
        "RMSEA": np.sqrt(excess / (9 * freedom)),
        "SRMR": np.sqrt((residuals**2).mean()),
    }
    assert table["estimate"].to_dict() == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (two_level_ratings(2).groupby(level=1).head(1), "0 turns"),
        (two_level_ratings(2)[[2, 3, 4]], "only 3 "),
    ],
)
def test_why_there_is_no_fit_within_conversations(frame, named):
    table = reliability.within_fit_indices(frame)
    assert table["estimate"].isna().all()
    (reason,) = set(table["reason"])
    naming.check(reason, named)
