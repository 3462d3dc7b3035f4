"""Alpha, levels, straight lines, correlations, components, one factor: against R and loops, and where there is none."""

import itertools

import numpy as np
import pandas as pd
import pytest

from helpers.studies import draws_of
from sense7.estimators import alpha
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures, reliability
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def turns(study):
    return measures.turn_ratings(study)


def nested(seed=1, people=12, talks=4, turns=(2, 7), between=1.0, within=1.0, noise=0.5, holes=0.2):
    """Ratings of two levels with one common part at each: person and talk of each turn are the index."""
    generator = np.random.default_rng(seed)
    rows = []
    for person, talk in itertools.product(range(people), range(talks)):
        common = between * generator.normal()
        for _ in range(generator.integers(*turns)):
            ratings = 3 + common + within * generator.normal() + noise * generator.normal(size=7)
            ratings[generator.random(7) < holes] = np.nan
            rows.append((f"P{person}", f"P{person}-{talk}", *ratings))
    frame = pd.DataFrame(rows, columns=["participant", "conversation", *DIMENSION_NAMES])
    return frame.set_index(["participant", "conversation"])


def scores(rows=60, items=4, people=10, seed=1):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(rows, 1)) + 0.7 * generator.normal(size=(rows, items)) + 3
    names = [f"P{row % people}" for row in range(rows)]
    return pd.DataFrame(np.clip(np.round(values), 1, 5), index=names, columns=list("abcdefg"[:items]))


def copied(frame, bootstrap, draw):
    """Rows of a resample, copied out."""
    times = dict(zip(bootstrap.names, bootstrap.weights()[draw].astype(int), strict=True))
    return pd.concat([frame.loc[[name]] for name in bootstrap.names for _ in range(times[name])])


# Alpha over all turns, and without one dimension


# Within conversations and between them


def by_loops(frame, a, b):
    """Covariances within and between conversations of two items, by the definitions, one conversation at a time."""
    parts = []
    for _, own in frame[[a, b]].set_axis(["x", "y"], axis=1).groupby(level=1):
        both = own.dropna()
        if len(both):
            parts.append(both.to_numpy())
    pooled = np.concatenate(parts)
    crossed = sum(((part - part.mean(axis=0)).prod(axis=1)).sum() for part in parts)
    within = crossed / sum(len(part) - 1 for part in parts)
    distances = [len(part) * (part.mean(axis=0) - pooled.mean(axis=0)).prod() for part in parts]
    sizes = np.array([len(part) for part in parts])
    per_group = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(parts) - 1)
    return within, (sum(distances) / (len(parts) - 1) - within) / per_group


def test_covariances_of_both_levels_are_those_of_plain_loops():
    frame = nested()
    sums = alpha.nested_moments(frame)[0].sum(axis=0)
    within, between = alpha.within_covariances(sums), alpha.between_covariances(sums)
    for (i, a), (j, b) in itertools.product(enumerate(frame), repeat=2):
        assert (within[i, j], between[i, j]) == pytest.approx(by_loops(frame, a, b), abs=1e-10)
    matrix = reliability.correlation_matrices(frame.assign(Interest=np.nan))["within conversations"]
    expected = within[0, 1] / np.sqrt(within[0, 0] * within[1, 1])
    assert matrix.loc["Affective", "Cognitive"] == pytest.approx(expected, abs=1e-12)
    assert matrix.loc["Interest"].isna().all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda f: f * np.nan, "none of these ratings was given and varies; this needs"),
        (lambda f: f.assign(**dict.fromkeys(DIMENSION_NAMES[1:], np.nan)), "only 1 of these ratings was given"),
        (lambda f: f.groupby(level=1).head(1), "no conversation has two turns that rate the same two dimensions"),
        (lambda f: f.groupby(level=1).transform("first"), "a dimension does not vary within conversations"),
    ],
)
def test_without_variation_within_conversations_the_reason_says_so(change, reason):
    frame = change(nested(holes=0.0))
    table = reliability.by_level(frame, draws_of(frame))
    within = table[table.index.str.contains("within")]
    assert within["estimate"].isna().all()
    assert within["reason"].str.startswith(reason).all()


# Straight lines


def lines_by_loop(turns):
    """Whether each turn with five or more ratings has one level, and whether this is below the top; by participant."""
    rows = []
    for who, ratings in zip(turns.index, turns.to_numpy(), strict=True):
        given = {level for level in ratings if not np.isnan(level)}
        if np.sum(~np.isnan(ratings)) >= 5:
            rows.append((who, len(given) == 1, len(given) == 1 and given != {5.0}))
    return pd.DataFrame(rows, columns=["participant", "straight", "below"])


def test_straight_lines_are_those_of_a_loop_and_alpha_is_that_of_the_participants_left(turns, copies_of, resampled):
    bootstrap, times = copies_of(ParticipantBootstrap(turns.index, 100, 1))
    table, rows = reliability.straight_lining(turns, bootstrap), lines_by_loop(turns)
    expected = [rows["straight"].mean(), rows["below"].sum() / rows["straight"].sum()]
    np.testing.assert_allclose(table["estimate"].iloc[:2], expected, atol=1e-12)
    assert table["n"].tolist()[:2] == [len(rows), rows["straight"].sum()]
    weights = rows["participant"].map(times)
    drawn = [
        np.average(rows["straight"], weights=weights),
        np.average(rows["below"], weights=weights * rows["straight"]),
    ]
    np.testing.assert_allclose(resampled(table.iloc[:2]), drawn, atol=1e-12)
    shares = rows.groupby("participant")["straight"].mean()
    left_out = shares.index[shares > np.quantile(shares, 0.75)]
    assert 0 < len(left_out) <= len(shares) / 4
    assert table["estimate"].iloc[2] == pytest.approx(alpha.cronbach_alpha(turns[~turns.index.isin(left_out)]))
    assert table["method"].iloc[2].endswith(f"without {len(left_out)} of {turns.index.nunique()} participants")


def test_without_five_ratings_or_one_level_the_rows_say_so():
    frame = pd.DataFrame([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1]] * 5, index=[f"P{row // 2}" for row in range(10)])
    bootstrap = ParticipantBootstrap(frame.index, 100, 1)
    table = reliability.straight_lining(frame, bootstrap)
    assert table["estimate"].iloc[0] == 0
    assert table["reason"].iloc[1] == "no turn has one level throughout"
    fewer = reliability.straight_lining(frame[[0, 1, 2, 3]], bootstrap)
    assert fewer["reason"].tolist()[:2] == ["no turn has 5 ratings"] * 2


# Correlations


def test_correlations_are_those_of_pandas_and_their_intervals_quantiles_over_copied_rows(turns):
    table, square = reliability.correlations(turns, draws_of(turns), recorded_as="turn"), turns.corr()
    for a, b in itertools.combinations(turns, 2):
        row = table.loc[f"{a} with {b}"]
        assert row["estimate"] == pytest.approx(square.loc[a, b], abs=1e-12)
        assert (row["n"], row["key"]) == (len(turns[[a, b]].dropna()), f"correlation_turn_{a}_{b}")
    frame = scores()
    bootstrap = draws_of(frame, 200)
    values = [copied(frame, bootstrap, draw)[["a", "b"]].corr().iloc[0, 1] for draw in range(200)]
    row = reliability.correlations(frame[["a", "b"]], bootstrap).iloc[0]
    np.testing.assert_allclose([row["low"], row["high"]], np.quantile(values, [0.025, 0.975]), atol=1e-10)


def test_few_common_units_have_no_correlation():
    frame = pd.DataFrame({"a": [1, 2, np.nan, np.nan], "b": [np.nan, 4, 3, 2]}, index=list("pqrs"))
    assert set(reliability.correlations(frame, draws_of(frame))["reason"]) == {"fewer than three units rate both"}
    rest = reliability.item_rest(frame, draws_of(frame))
    assert set(rest["reason"]) == {"too few units rate the item together with the others"}
    constant = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [2.0] * 4}, index=list("pqrs"))
    assert reliability.correlations(constant, draws_of(constant))["reason"].tolist() == ["does not vary: b"]
    few = "only 1 of these ratings was given and varies; this needs 2"
    assert reliability.average_correlation_table(constant, draws_of(constant))["reason"].tolist() == [few]


# Components


def two_factors(rows=400, people=40, seed=1):
    generator = np.random.default_rng(seed)
    factors = generator.normal(size=(rows, 2)).repeat(3, axis=1)
    names = [f"P{row % people}" for row in range(rows)]
    return pd.DataFrame(factors + 0.6 * generator.normal(size=(rows, 6)), index=names, columns=list("abcdef"))


@pytest.mark.parametrize(
    ("frame", "row", "reason"),
    [
        (two_factors(people=7), "components, noise of as many participants", "only 7 participants for 6 items"),
        (
            two_factors().assign(g=lambda f: f["a"]),
            "factors, noise of as many units",
            "some of the ratings are the same, or sums of others",
        ),
        (
            two_factors()[["a", "b"]],
            "components, noise of as many units",
            "only 2 of these ratings were given and vary; this needs 3",
        ),
    ],
)
def test_where_components_cannot_be_counted_the_row_says_why(frame, row, reason):
    table = reliability.retained(frame, seed=1, simulations=50)
    assert np.isnan(table.loc[row, "estimate"])
    assert table.loc[row, "reason"] == reason


# One factor


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (scores(items=2), "only 2 of these ratings were given and vary; this needs 3"),
        (scores(rows=8), "units that rate all of 4 items: 8; this needs 20"),
        (scores().assign(e=lambda f: f["a"]), reliability.NO_FACTOR),
    ],
)
def test_where_there_is_no_factor_the_row_says_why(frame, reason):
    omega, loadings = reliability.omega_and_loadings(frame, draws_of(frame))
    fit = reliability.fit_indices(frame)
    assert omega["reason"].tolist() == [reason]
    assert set(loadings["reason"]) == {reason}
    assert fit["estimate"].isna().all()
    assert (fit["reason"] != "").all()
