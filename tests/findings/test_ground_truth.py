"""Ground truth: the authors' convention to the letter, and other conventions compared with it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import bootstrap_of
from sense7.checkout import data_file
from sense7.findings.ground_truth import (
    CHOICES,
    changed_labels,
    ground_truth,
    label_counts,
    label_shares,
    labels,
    other_ground_truths,
)
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook

SEVEN = list(DIMENSION_NAMES)


def as_the_authors_do(turns: pd.DataFrame, conversations: list[str]) -> list[float]:
    """Loops over conversations, turns and dimensions."""
    truths = []
    for conversation in conversations:
        means = []
        for _, row in turns[turns["conversation"] == conversation].iterrows():
            rated = [row[name] for name in DIMENSION_NAMES if not np.isnan(row[name])]
            if rated:
                means.append(np.mean(rated))
        truths.append(np.mean(means) if means else np.nan)
    return truths


def turns_of(conversations: list[list[list[float]]]) -> pd.DataFrame:
    rows = [
        [f"C{number}", *(np.nan if level is None else float(level) for level in turn)]
        for number, turns in enumerate(conversations)
        for turn in turns
    ]
    return pd.DataFrame(rows, columns=["conversation", *DIMENSION_NAMES]).astype(dict.fromkeys(DIMENSION_NAMES, float))


turn_strategy = st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=7, max_size=7)
# Up to 150 turns: numpy sums in blocks of 8 and of 128, and the vectorised sum has to follow.
study_strategy = st.lists(
    st.one_of(st.lists(turn_strategy, max_size=12), st.lists(turn_strategy, min_size=120, max_size=150)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(study_strategy, st.randoms())
def test_equals_the_loops_to_the_last_bit_in_any_order_of_conversations(study, random):
    turns = turns_of(study)
    names = [f"C{number}" for number in range(len(study))]
    random.shuffle(names)
    truth = ground_truth(turns, pd.Series(names, dtype=object))
    np.testing.assert_array_equal(truth.to_numpy(), as_the_authors_do(turns, names))


def test_exact_halves_land_where_numpy_puts_them():
    """Turn means of sevenths whose exact mean is 4.5 need not be 4.5 in floating point."""
    sevenths = [
        [5, 5, 5, 5, 5, 4, 4],
        [5, 4, 4, 4, 4, 4, 4],
        [5, 5, 5, 5, 4, 4, 4],
        [5, 5, 5, 4, 4, 4, 4],
        [5, 5, 5, 5, 5, 5, 4],
        [4, 4, 4, 4, 4, 4, 4],
        [5, 5, 5, 5, 5, 5, 5],
        [5, 5, 4, 4, 4, 4, 4],
    ]
    turns = turns_of([sevenths])
    truth = ground_truth(turns, pd.Series(["C0"])).iloc[0]
    assert truth == np.mean([np.mean(turn) for turn in sevenths])
    assert labels([4.500000000000001, 4.5]).tolist() == [5, 4]


@pytest.mark.parametrize(("score", "label"), [(1.5, 2), (2.5, 2), (3.5, 4), (4.5, 4), (5.9, 5), (0.2, 1), (7.5, 5)])
def test_labels_round_half_to_even_and_clip(score, label):
    assert labels([score])[0] == label


# How the labels fall


@pytest.fixture(scope="module")
def study():
    return read_workbook(data_file("synthetic.xlsx"))


def truth_of(study):
    return ground_truth(study.turns, study.conversations["conversation"])


def test_label_shares_are_of_the_conversations_with_ground_truth(study):
    table = label_shares(study, bootstrap_of(study))
    assert table["estimate"].sum() == pytest.approx(1)
    assert set(table["n"]) == {truth_of(study).count()}
    assert table.index.tolist() == [1, 2, 3, 4, 5]
    expected = label_counts(truth_of(study)) / truth_of(study).count()
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)


def with_turns(study):
    """A study with these turns."""
    names = pd.Series([f"C{number}" for number in range(len(study))], dtype=object)
    conversations = pd.DataFrame({"conversation": names})
    return Study("made up", conversations, pd.DataFrame(), turns_of(study), None, pd.DataFrame())


TRAPPED = [[5, 5, 4, *[None] * 4], [4, 4, 4, *[None] * 4], *[[5, 5, 4, *[None] * 4]] * 2]
"""Turns whose exact mean is 4.5, and whose mean in floating point is slightly more."""


# Other conventions


def by_loops(study, conversation, convention):
    """One conversation under a convention, from its turns one by one."""
    turns = study.turns[study.turns["conversation"] == conversation].sort_values("turn")
    rows = [[level for level in row if not np.isnan(level)] for row in turns[SEVEN].to_numpy()]
    means = [np.mean(row) for row in rows if row]
    if convention == "overall ratings":
        return turns["overall"].mean()
    if convention == "ratings after the conversation":
        row = study.conversations.set_index("conversation").loc[conversation]
        return pd.to_numeric(row[[f"post_{name}" for name in SEVEN]]).mean()
    if not means:
        return np.nan
    full = [np.mean(row) for row in rows if len(row) == len(study.rated_dimensions)]
    dimensions = [turns[name].dropna().mean() for name in SEVEN if turns[name].notna().any()]
    return {
        "all ratings pooled": lambda: np.mean([level for row in rows for level in row]),
        "by dimension, then over dimensions": lambda: np.mean(dimensions),
        "complete turns only": lambda: np.mean(full) if full else np.nan,
        "median of the turns": lambda: np.median(means),
        "last rated turn": lambda: means[-1],
    }[convention]()


@pytest.mark.parametrize("convention", CHOICES)
def test_every_convention_equals_that_of_the_turns_one_by_one(study, convention):
    found = other_ground_truths(study)[convention].iloc[::30]
    expected = [by_loops(study, conversation, convention) for conversation in found.index]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_conventions_are_compared_with_the_authors_own(study):
    bootstrap = bootstrap_of(study)
    table = changed_labels(study, bootstrap)
    truth, frame = truth_of(study), other_ground_truths(study)
    for name in CHOICES:
        both = truth.notna() & frame[name].notna()
        row = table.loc[name]
        assert row["estimate"] == (labels(truth[both]) != labels(frame.loc[both, name])).mean()
        assert row["n"] == both.sum()
        assert row["low"] < row["estimate"] < row["high"]
        assert bootstrap.description in row["method"]


def test_a_value_equal_but_for_rounding_is_no_other_label():
    """Where all turns rate the same dimensions, pooling is the authors' mean in other words, trapped or not."""
    study = with_turns([TRAPPED])
    turns = study.turns.assign(turn=range(1, 5), overall=np.nan)
    conversations = study.conversations.assign(**{f"post_{name}": np.nan for name in SEVEN})
    study = replace(study, turns=turns, conversations=conversations)
    others = other_ground_truths(study).loc["C0"]
    same = ["all ratings pooled", "complete turns only"]
    assert others[same].tolist() == truth_of(study).tolist() * 2
