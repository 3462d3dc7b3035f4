"""Texts of each side and their TF-IDF, by its formula."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import parse_sheets
from sense7.judge.tfidf import conversation_texts, tfidf, word_counts

TEXTS = st.lists(
    st.sampled_from(["tea", "ale", "a warm day", "Day!", "", "tea tea", "7"]),
    min_size=6,
    max_size=6,
)


def texts_of(user, assistant=None):
    return pd.DataFrame({"user": user, "assistant": assistant or [""] * len(user)})


def tfidf_by_hand(texts, learn_from):
    """TF-IDF of one side by its formula, word by word."""
    words = [text.lower().replace("!", "").split() for text in texts]
    holding = {}
    for row in learn_from:
        for word in set(words[row]):
            holding[word] = holding.get(word, 0) + 1
    rows = []
    for said in words:
        row = {
            word: (1 + np.log(said.count(word)))
            * (1 + np.log((1 + len(learn_from)) / (1 + number)))
            for word, number in sorted(holding.items())
            if number >= 2 and word in said and word.isalpha()
        }
        length = np.sqrt(sum(value**2 for value in row.values())) or 1
        rows.append({word: value / length for word, value in row.items()})
    return rows


# Texts


def test_each_side_has_its_texts_words_and_turns_in_file_order(minimal_sheets):
    sheets = minimal_sheets(
        conversations=2,
        messages={
            "TaskId": ["C2", "C1", "C2", "C2", "C2", "C2"],
            "MessageId": [9.0, 1.0, 2.0, 3.0, 4.0, 5.0],  # which is not the order of the rows
            "Role": ["User", "user", "assistant", "error", "user", "assistant"],
            "Content": ["first  words", None, "an answer", "not counted", "more", None],
            "EmpathyOverall": None,
            "Affective": [None, None, "good", None, None, None],
        },
    )
    found = conversation_texts(parse_sheets(sheets))
    assert found.index.tolist() == ["C1", "C2"]
    assert found.loc["C1"].tolist() == ["", "", 0, 0, 0]
    assert found.loc["C2"].tolist() == ["first  words\nmore", "an answer", 3, 2, 2]


# TF-IDF


@settings(max_examples=20, deadline=None)
@given(TEXTS, st.sets(st.integers(0, 5), min_size=1))
def test_tfidf_is_its_formula_and_knows_only_the_words_it_learned(user, rows):
    rows = sorted(rows)
    found = tfidf(word_counts(texts_of(user)), np.array(rows))
    expected = pd.DataFrame(tfidf_by_hand(user, rows), index=range(6)).fillna(0.0)
    expected = expected[sorted(expected.columns)].to_numpy() / np.sqrt(2)
    found = found.toarray()
    found = found[:, found.any(axis=0)]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-12)
