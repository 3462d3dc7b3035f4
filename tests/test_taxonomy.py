"""Scales: which word and which number is which level."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.taxonomy import (
    AGREEMENT,
    DESIRED_EMPATHY,
    DIMENSION_NAMES,
    DIMENSIONS,
    IMPORTANCE,
    LEVELS,
    POST_EMPATHY,
    TURN_RATING,
    normalise_name,
    normalise_word,
)
from sense7.workbook.scales import choose_vocabulary

SCALES = [TURN_RATING, AGREEMENT, POST_EMPATHY, IMPORTANCE, DESIRED_EMPATHY]


def test_the_seven_dimensions_are_those_of_the_release():
    assert DIMENSION_NAMES == (
        "Affective",
        "Cognitive",
        "Response",
        "Prosocial",
        "Interest",
        "Contextual",
        "Relational",
    )
    assert {dimension.group for dimension in DIMENSIONS} == {"affective", "cognitive", "motivational"}


def test_official_turn_ratings_are_exactly_five_words():
    assert TURN_RATING.tables[0] == {word: level for level, word in enumerate(LEVELS, 1)}
    assert TURN_RATING.not_rated == {"unknown", "not applicable"}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_a_vocabulary_has_every_level_and_no_word_twice(scale):
    for vocabulary in scale.vocabularies:
        words = [word for level in vocabulary for word in level]
        assert len(vocabulary) == scale.size
        assert len(words) == len(set(words))
        assert all(word == normalise_word(word) for word in words)
        assert not scale.not_rated & set(words)


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
@pytest.mark.parametrize(
    "form", ["{n}", " {n} ", "{n}.0", "{n} - {w}", "{n}: {w}", "{n}. {w}", "({n}) {w}", "{w} ({n})"]
)
def test_a_number_beside_a_word_is_split_off(scale, form):
    text = form.format(n=2, w="Somewhat So")
    assert scale.split_number(text) == (2.0, "somewhat so" if "{w}" in form else "")


@pytest.mark.parametrize(
    ("answers", "word", "level"),
    [
        ({"good": 90, "fair": 10}, "fair", None),  # official words, a stray one
        ({"very poor": 3, "good": 6, "excellent": 2}, "excellent", None),
        ({"poor": 1, "fair": 4, "good": 2, "very good": 1, "excellent": 4}, "good", 3),  # another scale
        ({"very poor": 2, "poor": 1, "fair": 9, "good": 3, "very good": 1}, "fair", 3),
        ({"strongly agree": 5, "disagree": 1}, "disagree", 2),
        ({"neutral": 1}, "neutral", 3),
        ({}, "very good", 5),
    ],
)
def test_turn_ratings_stay_official_while_most_answers_are(answers, word, level):
    assert choose_vocabulary(TURN_RATING, Counter(answers)).get(word) == level


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ({"very important": 2, "extremely important": 1}, 4),
        ({"very important": 2, "important": 1}, 5),
        ({"very important": 2}, 4),
    ],
)
def test_a_word_of_two_scales_is_read_by_its_neighbours(answers, level):
    assert choose_vocabulary(IMPORTANCE, Counter(answers))["very important"] == level


@given(st.text())
def test_normal_forms_are_stable(text):
    assert normalise_word(normalise_word(text)) == normalise_word(text)
    assert normalise_name(normalise_name(text)) == normalise_name(text)
