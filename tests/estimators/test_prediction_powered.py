"""Prediction-powered means: the formulas by hand, the limits, and the coverage of the intervals by simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from sense7.estimators.prediction_powered import mean_of_sums, prediction_powered_mean, sums_of


def made_up(seed, people=30, each=3, rated=10, signal=1.0):
    """Ratings of the first people, and a judge's scores of all."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), each)
    quality = generator.normal(size=len(who))
    ratings = 4 + quality + generator.normal(0, 0.5, people)[who]
    scores = 2 + signal * quality + generator.normal(0, 0.4, len(who))
    return np.where(who < rated, ratings, np.nan), scores, pd.Series(who), ratings


def by_hand(ratings, scores, people, weight, parameters):
    """Estimate and standard error, participant by participant."""
    rated = np.isfinite(ratings)
    estimate = ratings[rated].mean() + weight * (scores[~rated].mean() - scores[rated].mean())
    total, clusters = 0.0, 0
    for person in people.unique():
        own = (people == person).to_numpy()
        part = (ratings[own & rated] - ratings[rated].mean()).sum() / rated.sum()
        part -= weight * (scores[own & rated] - scores[rated].mean()).sum() / rated.sum()
        part += weight * (scores[own & ~rated] - scores[~rated].mean()).sum() / (~rated).sum()
        total, clusters = total + part**2, clusters + (own & rated).any()
    return estimate, np.sqrt(clusters / (clusters - parameters) * total), clusters


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 0.5, 1.0, None]), mixed=st.booleans())
def test_estimate_and_interval_are_those_of_the_formula(seed, weight, mixed):
    ratings, scores, people, whole = made_up(seed)
    if mixed:  # participants with conversations of both kinds
        ratings = np.where(np.random.default_rng(seed).random(len(whole)) < 0.5, whole, np.nan)
        ratings[:18:3] = whole[:18:3]
    found = prediction_powered_mean(ratings, scores, people, weight=weight)
    estimate, error, clusters = by_hand(ratings, scores, people, found.weight, 2 if weight is None else 1)
    half = stats.t.ppf(0.975, clusters - (2 if weight is None else 1)) * error
    assert (found.estimate, found.low, found.high) == pytest.approx((estimate, estimate - half, estimate + half))
    assert (found.rated, found.unrated) == (np.isfinite(ratings).sum(), np.isnan(ratings).sum())


def test_a_list_with_holes_is_as_good_as_an_array():
    sums = sums_of([4, None, 3], [5, 2, 1], pd.Series(["a", "b", "b"]))
    assert [column.tolist() for column in sums] == [[1, 1], [4, 3], [5, 1], [0, 1], [0, 2]]


def test_the_weight_makes_the_variance_least():
    ratings, scores, people, _ = made_up(3)
    found = prediction_powered_mean(ratings, scores, people)
    best = optimize.minimize_scalar(lambda weight: by_hand(ratings, scores, people, weight, 1)[1]).x
    assert found.weight == pytest.approx(best, abs=1e-6)
    assert 0.3 < found.weight < 1.2


def test_one_row_per_participant_gives_the_published_weight():
    generator = np.random.default_rng(5)
    scores = generator.normal(size=4000)
    ratings = scores + generator.normal(size=4000)
    ratings[1000:] = np.nan
    known, covariance = np.isfinite(ratings), np.cov(ratings[:1000], scores[:1000])[0, 1]
    published = covariance / ((1 + 1000 / 3000) * scores.var(ddof=1))
    assert known.sum() == 1000
    assert prediction_powered_mean(ratings, scores, pd.Series(range(4000))).weight == pytest.approx(published, rel=0.05)


def test_a_judge_that_gives_one_score_counts_for_nothing():
    ratings, scores, people, _ = made_up(1)
    same, alone = np.full(len(scores), 3.0), prediction_powered_mean(ratings, scores, people, weight=0.0)
    found = prediction_powered_mean(ratings, same, people)
    assert (found.weight, found.estimate) == (0.0, alone.estimate)
    assert alone.estimate == pytest.approx(np.nanmean(ratings))


def test_where_all_rated_it_is_the_users_mean():
    _, scores, people, whole = made_up(1)
    found = prediction_powered_mean(whole, scores, people)
    assert (found.estimate, found.unrated) == (pytest.approx(whole.mean()), 0)


def test_too_few_participants_give_the_reason():
    ratings, scores, people, _ = made_up(1, rated=4)
    found = prediction_powered_mean(ratings, scores, people)
    assert np.isnan(found.low)
    assert found.reason == "4 participants with ratings: too few for an interval"
    nobody = prediction_powered_mean(np.full(4, np.nan), np.ones(4), pd.Series(range(4)))
    assert (nobody.reason, np.isnan(nobody.estimate)) == ("no conversation is rated", True)


@pytest.mark.parametrize(("signal", "narrower"), [(1.0, 0.9), (0.0, 1.1)], ids=["a good judge", "one that guesses"])
def test_intervals_hold_the_truth_and_a_good_judge_makes_them_shorter(signal, narrower):
    held, widths = np.zeros(2), []
    for seed in range(400):
        ratings, scores, people, _ = made_up(seed, people=60, rated=20, signal=signal)
        sums = sums_of(ratings, scores, people)
        both = [mean_of_sums(sums, weight=weight) for weight in (None, 0.0)]
        held += [found.low <= 4 <= found.high for found in both]
        widths.append((both[0].high - both[0].low) / (both[1].high - both[1].low))
    assert (np.abs(held / 400 - 0.95) < 0.03).all(), held / 400
    assert np.mean(widths) < narrower
