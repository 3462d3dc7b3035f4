"""Poor turns, and what breaks empathy: against all orders of turns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import bootstrap_of
from sense7.findings import disrupted
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES


def study_of(conversations, people=None):
    """Conversations as lists of levels, None for a turn without one."""
    rows = [
        (f"C{number}", people[number] if people else f"P{number}", turn, level)
        for number, levels in enumerate(conversations)
        for turn, level in enumerate(levels, 1)
    ]
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall"])
    turns = turns.astype({"overall": float}).assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    names = turns[["conversation", "participant"]].drop_duplicates()
    return Study("made up", names, pd.DataFrame(), turns, None, pd.DataFrame())


def around(levels):
    """(event time, level) of each rated turn; nothing without a poor turn."""
    poor = [turn for turn, level in enumerate(levels) if level is not None and level <= 2]
    return (
        [(turn - poor[0], level) for turn, level in enumerate(levels) if level is not None]
        if poor
        else []
    )


def orders(levels):
    """All orders of the levels among the rated turns."""
    places = [turn for turn, level in enumerate(levels) if level is not None]
    for order in itertools.permutations([level for level in levels if level is not None]):
        given_to = dict(zip(places, order, strict=True))
        yield [given_to.get(turn) for turn in range(len(levels))]


def mean_by_time(pieces):
    """Mean level by event time; each piece has a weight."""
    sums, weights = dict.fromkeys(disrupted.TIMES, 0.0), dict.fromkeys(disrupted.TIMES, 0.0)
    for weight, pairs in pieces:
        for time, level in pairs:
            if time in sums:
                sums[time] += weight * level
                weights[time] += weight
    return {
        time: sums[time] / weights[time] if weights[time] else np.nan for time in disrupted.TIMES
    }


conversations_of_levels = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(conversations_of_levels)
def test_chance_order_is_the_mean_over_all_orders(conversations):
    study = study_of(conversations)
    event = disrupted.around_first_poor_turns(study)
    differences = disrupted.levels_after_a_poor_turn(study, bootstrap_of(study, draws=2))
    rated = mean_by_time([(1, around(levels)) for levels in conversations])
    pieces = []
    for levels in conversations:
        possible = list(orders(levels))
        pieces += [(1 / len(possible), around(order)) for order in possible]
    chance = mean_by_time(pieces)
    for time in disrupted.TIMES:
        with np.errstate(invalid="ignore"):
            sums = event.sums[time].sum(axis=0)
            assert disrupted.as_rated(sums) == pytest.approx(rated[time], nan_ok=True)
            assert disrupted.permuted(sums) == pytest.approx(chance[time], nan_ok=True)
    for time, row in differences.iterrows():
        if np.isfinite(row["estimate"]):
            assert row["estimate"] == pytest.approx(rated[time] - chance[time], abs=1e-9)
        else:
            assert row["reason"]


def test_the_reversed_order_is_the_statistic_of_conversations_read_backwards():
    generator = np.random.default_rng(6)
    conversations = generator.integers(1, 6, size=(60, 9)).tolist()
    people = [f"P{number % 12}" for number in range(60)]
    study, backwards = (
        study_of(conversations, people),
        study_of([levels[::-1] for levels in conversations], people),
    )
    table = disrupted.reversed_order(study, bootstrap_of(study))
    drops = [
        disrupted.lasting_drop(one, bootstrap_of(one)).loc["difference"]
        for one in (study, backwards)
    ]
    after = [
        disrupted.levels_after_a_poor_turn(one, bootstrap_of(one)).loc[1]
        for one in (study, backwards)
    ]
    for name, (forward, backward) in {"lasting drop": drops, "right after": after}.items():
        difference = table.loc[f"{name}, as it happened minus reversed"]
        assert difference["estimate"] == pytest.approx(forward["estimate"] - backward["estimate"])
        assert difference["n"] == backward["n"]
