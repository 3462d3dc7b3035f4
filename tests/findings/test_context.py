"""How ratings depend on the context: permutations, and what does not depend on units."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.findings import context


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def permuted(y, topics, draws=400):
    people = pd.Series(np.repeat(np.arange(10), 4))
    frame = pd.DataFrame({"participant": people, "topic": topics})
    y = y - pd.Series(y).groupby(people).transform("mean").to_numpy()
    return context.permutation_p(y, frame, draws, 2)


def test_a_permutation_finds_what_is_there_and_nothing_else():
    topics = np.tile(["a", "b", "c", "d"], 10)
    effect = np.tile([1.0, 0, 0, -1], 10)
    noise = np.random.default_rng(1).normal(size=40)
    assert permuted(effect + 0.1 * noise, topics) == pytest.approx(1 / 401)
    # Differences between participants are no differences between topics.
    assert permuted(np.repeat(np.arange(10), 4) + noise, topics) > 0.05


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
    shifted = replace(
        study,
        conversations=conversations.assign(desired_empathy=conversations["desired_empathy"] + 3),
    )
    tests = {
        name: context.gap_differs_by_topic(each, bootstrap_of(each, 300))["estimate"]
        for name, each in {"plain": plain, "other": other}.items()
    }
    assert tests["other"][context.RANKS] == tests["plain"][context.RANKS]
    gaps = [
        context.expected_experienced_gap(each, bootstrap_of(each)).iloc[0]
        for each in (plain, shifted)
    ]
    assert gaps[0]["low"] > 0 > gaps[1]["high"]
