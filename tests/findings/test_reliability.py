"""Ratings of several dimensions: against loops, and where there is no number."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.multivariate.factor import Factor

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
