"""Neighboring turns: against all orders one by one, against loops, on planted resemblance, and where there are none."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.disrupted import lag_1_correlation
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

DIFFERENCE = "as rated minus permuted order"


def study_of(conversations, people=None):
    """Conversations as lists of levels, None for a turn without one."""
    rows = [
        (f"C{number}", people[number] if people else f"P{number}", turn, level)
        for number, levels in enumerate(conversations)
        for turn, level in enumerate(levels, 1)
    ]
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall"])
    turns = turns.astype({"overall": float}).assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    return Study(
        "made up", turns[["conversation", "participant"]].drop_duplicates(), turns, turns, None, pd.DataFrame()
    )


def found(study, draws=100):
    return lag_1_correlation(study, ParticipantBootstrap(study.turns["participant"], draws, seed=1))


def by_loops(conversations):
    """Numerator and denominator of the correlation, pair by pair."""
    products = squares = 0.0
    for levels in conversations:
        rated = [level for level in levels if level is not None]
        mean = sum(rated) / len(rated) if rated else 0
        spread = sum((level - mean) ** 2 for level in rated) / len(rated) if rated else 0
        for one, other in itertools.pairwise(levels):
            if one is not None and other is not None:
                products += (one - mean) * (other - mean)
                squares += spread
    return products, squares


conversations_of_levels = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=5), min_size=1, max_size=4
)


@settings(max_examples=60, deadline=None)
@given(conversations_of_levels)
def test_permuted_order_is_the_mean_over_all_orders(conversations):
    table = found(study_of(conversations), draws=2)["estimate"]
    products, squares = by_loops(conversations)
    if squares < 1e-9:
        assert table.isna().all()
        return
    expected = 0.0
    for levels in conversations:
        places = [turn for turn, level in enumerate(levels) if level is not None]
        orders = list(itertools.permutations([levels[place] for place in places]))
        for order in orders:
            given_to = dict(zip(places, order, strict=True))
            expected += by_loops([[given_to.get(turn) for turn in range(len(levels))]])[0] / len(orders)
    assert table["as rated"] == pytest.approx(products / squares)
    assert table["permuted order"] == pytest.approx(expected / squares)
    assert table[DIFFERENCE] == pytest.approx((products - expected) / squares, abs=1e-9)


@pytest.mark.parametrize(
    ("conversations", "reason"),
    [
        ([[1], [2], [None, 3, None, 4]], "no conversation has two rated turns after each other"),
        ([[2, 2], [3, 3, 3]], "the turns of each conversation are rated alike"),
        ([[None, None]], "no conversation has two rated turns after each other"),
    ],
)
def test_where_there_are_no_neighbors_it_says_why(conversations, reason):
    table = found(study_of(conversations))
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {reason}
