"""The ground truth is the authors' to the last bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.findings.ground_truth import ground_truth, labels
from sense7.taxonomy import DIMENSION_NAMES


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
    return pd.DataFrame(rows, columns=["conversation", *DIMENSION_NAMES]).astype(
        dict.fromkeys(DIMENSION_NAMES, float)
    )


turn_strategy = st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=7, max_size=7)


# Up to 150 turns: numpy sums in blocks of 8 and of 128, and the vectorised sum has to follow.
study_strategy = st.lists(
    st.one_of(
        st.lists(turn_strategy, max_size=12), st.lists(turn_strategy, min_size=120, max_size=150)
    ),
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


@pytest.mark.parametrize(
    ("score", "label"),
    [(1.5, 2), (2.5, 2), (3.5, 4), (4.5, 4), (4.500000000000001, 5), (5.9, 5), (0.2, 1), (7.5, 5)],
)
def test_labels_round_half_to_even_and_clip(score, label):
    assert labels([score])[0] == label
