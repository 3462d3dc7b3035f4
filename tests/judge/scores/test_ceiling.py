"""The noise ceiling: against simulation, and where it can't be told."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from helpers.studies import bootstrap_of
from sense7.judge.scores import ceiling as noise_ceiling
from sense7.statistics.estimates import estimate_row, estimate_table

# The curve


@pytest.mark.parametrize("share", [0.05, 0.29, 0.8])
def test_the_ceiling_is_the_correlation_of_simulated_content_and_ratings_and_ties_lower_it(share):
    content, own = np.random.default_rng(1).normal(size=(2, 400_000))
    rating = np.sqrt(share) * content + np.sqrt(1 - share) * own
    ceiling = noise_ceiling.best_correlation(share)
    assert stats.spearmanr(content, rating).statistic == pytest.approx(ceiling, abs=0.005)
    levels = np.searchsorted([-1.6, -1, -0.2, 0.8], rating)
    assert stats.spearmanr(content, levels).statistic < ceiling - 0.005


# How much content a result needs


@pytest.mark.parametrize("rho", [0.1, 0.369, 0.55, 0.9, 1])
def test_the_content_share_needed_is_the_inverse_of_the_curve(rho):
    needed = noise_ceiling.content_share_needed(rho)
    assert noise_ceiling.best_correlation(needed) == pytest.approx(rho)
    assert noise_ceiling.content_share_needed(-rho) == 0


def correlations(**judges):
    rows = {}
    for name, numbers in judges.items():
        rows[name] = estimate_row(*numbers, n=9, unit="correlation", method="mean", reason="few")
    return estimate_table(rows, "judge")


def test_the_need_carries_the_correlations_interval_over_and_says_where_there_is_none():
    judges = correlations(a=(0.3, -0.1, 0.5), b=(0.3, np.nan, np.nan), c=(np.nan, np.nan, np.nan))
    table = noise_ceiling.shares_needed(judges)
    assert table["estimate"].tolist()[:2] == [noise_ceiling.content_share_needed(0.3)] * 2
    limits = table.loc["a", ["low", "high"]].astype(float)
    np.testing.assert_allclose(limits, [0, noise_ceiling.content_share_needed(0.5)])
    assert table.drop("a")[["low", "high"]].isna().all(axis=None)
    with_interval, without_interval, without_result = table["method"]
    assert with_interval != without_interval == without_result
    assert table["reason"].tolist() == judges["reason"].tolist()


# The published classifier


@pytest.mark.parametrize(
    ("kind", "verified"), [("official", True), ("official", False), ("synthetic", True)]
)
def test_published_results_are_said_to_be_from_other_data(study, kind, verified):
    provenance = SimpleNamespace(kind=kind, verified=verified)
    (name,) = noise_ceiling.judge_results(replace(study, provenance=provenance), {}).index
    assert (name == "published classifier") == (kind == "official" and verified)


# The upper bound


def test_a_participants_share_above_one_leaves_no_content(study, monkeypatch):
    """The variance of conditions may be estimated below zero in a resample."""
    row = estimate_row(0.7, 0.1, 1.03, n=25, unit="share", method="model")
    shares = estimate_table({"participant": row}, "share")
    monkeypatch.setattr(noise_ceiling, "variance_shares", lambda *_: shares)
    found = noise_ceiling.content_share_bound(study, bootstrap_of(study, 20))
    assert found["low"].tolist() == [0, 0]
    assert found["high"].iloc[0] == pytest.approx(0.9)
