"""Context: against models with an indicator of each participant, against rows copied out, and where there is none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import context


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


# How the ratings depend on context


def test_own_topic_means_are_plain_means_of_what_is_left_of_the_participants_mean(study):
    frame = context.context_frame(study)
    own = frame["y"] - frame.groupby("participant")["y"].transform("mean")
    table = context.own_topic_means(study, bootstrap_of(study))
    np.testing.assert_allclose(table["estimate"], own.groupby(frame["topic"]).mean()[table.index], atol=1e-12)
    assert table["n"].tolist() == frame["topic"].value_counts()[table.index].tolist()


def with_participants(frame, columns):
    people = pd.get_dummies(frame["participant"], dtype=float)
    return sm.OLS(frame["y"], pd.concat([columns, people], axis=1).astype(float)).fit()


def test_slopes_within_participants_equal_a_model_with_an_indicator_of_each(study):
    frame = context.context_frame(study)
    table = context.context_slopes(study, bootstrap_of(study))["estimate"]
    within = with_participants(frame, frame[["importance", "desired_empathy"]]).params
    prompted = frame["condition"] == study.prompted_condition
    columns = pd.DataFrame(
        {
            "p": prompted * frame["desired_empathy"],
            "o": ~prompted * frame["desired_empathy"],
            "i": frame["importance"],
        }
    )
    kinds = pd.get_dummies(frame["condition"], drop_first=True, dtype=float)
    fit = with_participants(frame, pd.concat([columns, kinds], axis=1))
    expected = [within["importance"], within["desired_empathy"], fit.params["p"] - fit.params["o"]]
    np.testing.assert_allclose(table, expected, atol=1e-8)


def test_the_share_is_the_adjusted_one_of_that_model(study):
    frame = context.context_frame(study)
    topics = pd.get_dummies(frame["topic"], drop_first=True, dtype=float)
    columns = pd.concat([frame[["importance", "desired_empathy"]], topics], axis=1)
    fit, null = with_participants(frame, columns), with_participants(frame, columns[[]])
    row = context.context_shares(study, bootstrap_of(study)).iloc[0]
    expected = 1 - (fit.ssr / fit.df_resid) / (null.ssr / null.df_resid)
    assert row["estimate"] == pytest.approx(expected, abs=1e-8)
    assert row["low"] < row["estimate"] < row["high"]


def permuted(y, topics, draws=400):
    people = pd.Series(np.repeat(np.arange(10), 4))
    frame = pd.DataFrame({"participant": people, "topic": topics, "y": y})
    return context.permutation_row(frame, ParticipantBootstrap(people, draws=draws, seed=2))


def test_a_permutation_finds_what_is_there_and_nothing_else():
    topics = np.tile(["a", "b", "c", "d"], 10)
    effect = np.tile([1.0, 0, 0, -1], 10)
    noise = np.random.default_rng(1).normal(size=40)
    assert permuted(effect + 0.1 * noise, topics)["estimate"] == pytest.approx(1 / 401)
    # Differences between participants are no differences between topics.
    assert permuted(np.repeat(np.arange(10), 4) + noise, topics)["estimate"] > 0.05
    assert permuted(np.repeat(np.arange(10.0), 4), topics)["reason"] == "no participant's conversations differ"
    alone = permuted(noise, np.repeat(list("abcdefghij"), 4))
    assert alone["reason"] == "no participant has conversations on two topics"


@pytest.mark.long
def test_null_topics_give_p_values_that_are_evenly_spread():
    generator = np.random.default_rng(3)
    p = [permuted(generator.normal(size=40), generator.choice(list("abc"), 40), 100)["estimate"] for _ in range(200)]
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.1


# Expected and experienced


def test_the_test_over_topics_depends_on_neither_place_nor_unit_of_the_scales(study):
    """Any other levels in the same order: the p value of percent ranks stays, though the gap itself turns round."""
    conversations = study.conversations
    post = [name for name in conversations if name.startswith("post_")]
    # All items alike, so that a curve of the items is a curve of their mean.
    conversations = conversations.assign(**dict.fromkeys(post, conversations[post[0]]))
    curved = {name: conversations[name] ** 3 / 50 + 1 for name in post}
    desired = conversations["desired_empathy"].map({1: 0.5, 2: 2.9, 3: 3.0})
    plain = replace(study, conversations=conversations)
    other = replace(study, conversations=conversations.assign(**curved, desired_empathy=desired))
    shifted = replace(study, conversations=conversations.assign(desired_empathy=conversations["desired_empathy"] + 3))
    tests = {
        name: context.gap_differs_by_topic(each, bootstrap_of(each, 300))["estimate"]
        for name, each in {"plain": plain, "other": other, "shifted": shifted}.items()
    }
    assert tests["other"][context.RANKS] == tests["plain"][context.RANKS]
    assert tests["other"][context.SCALE] != tests["plain"][context.SCALE]
    assert tests["shifted"][context.SCALE] == pytest.approx(tests["plain"][context.SCALE])
    gaps = [context.expected_experienced_gap(each, bootstrap_of(each)).iloc[0] for each in (plain, shifted)]
    assert gaps[0]["low"] > 0 > gaps[1]["high"]


@pytest.mark.long
def test_topics_that_differ_in_their_gap_are_found_and_others_are_not(study):
    """At most one in twenty without a difference; the synthetic topics exchanged at random have none."""
    generator, found = np.random.default_rng(7), []
    post = [name for name in study.conversations if name.startswith("post_")]
    for _ in range(60):
        topics = generator.permutation(study.conversations["topic"])
        without = replace(study, conversations=study.conversations.assign(topic=topics))
        found.append(context.gap_differs_by_topic(without, bootstrap_of(without))["estimate"].iloc[-1])
    assert np.mean(np.array(found) <= 0.05) <= 0.15  # five in a hundred, as far as sixty studies can tell
    assert 0.3 < np.median(found) < 0.7
    moved = study.conversations.copy()
    for topic, step in zip(moved["topic"].unique(), (1, -1), strict=False):
        moved.loc[moved["topic"] == topic, post] = (moved.loc[moved["topic"] == topic, post] + step).clip(1, 5)
    differing = replace(study, conversations=moved)
    assert context.gap_differs_by_topic(differing, bootstrap_of(differing, 999))["estimate"].iloc[-1] == 0.001
