"""How ratings depend on the context: permutations."""

import numpy as np
import pandas as pd
import pytest

from sense7.findings import context


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
