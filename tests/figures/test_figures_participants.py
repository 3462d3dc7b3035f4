"""Ratings by participant: everybody once, in order of their means, and the spread between people beside that within."""

import numpy as np
import pandas as pd
import pytest

from sense7.figures import participants, ratings_by_participant
from sense7.tables import Sentence

RATED = pd.DataFrame(
    {"participant": ["P2", "P1", "P1", "P3", "P2"], "rating": [5.0, 1.0, 2.0, 3.0, 4.0]},
)


def drawn(frame=RATED):
    return ratings_by_participant(frame, name="x", caption="n = 5 conversations.")


def strokes(figure, line):
    """Ends of the strokes of one path: x from, x to, y from, y to."""
    x, y = figure.drawing.axes[0].lines[line].get_data()
    return [
        (*pair, *y[place : place + 2])
        for place, pair in zip(range(0, len(x), 3), zip(x[::3], x[1::3], strict=True), strict=True)
    ]


def test_participants_stand_in_ascending_order_of_their_means():
    figure = drawn()
    assert figure.data["participant"].tolist() == ["P1", "P1", "P3", "P2", "P2"]
    assert [(x, low, high) for x, _, low, high in strokes(figure, 0)] == [(0, 1, 2), (1, 3, 3), (2, 4, 5)], "ranges"
    assert [(x, y) for x, _, y, _ in strokes(figure, 1)] == [(0, 1), (0, 2), (1, 3), (2, 5), (2, 4)], "conversations"
    assert [y for *_, y in strokes(figure, 2)] == [1.5, 3.0, 4.5], "means"


def test_the_bars_compare_means_of_people_with_conversations_of_one_person():
    """Worked out by hand: means 1.5, 3, 4.5; distances from them -0.5, 0.5, 0, 0.5, -0.5 around the mean of all, 3."""
    between, within = drawn().drawing.axes[1].patches
    assert (between.get_y(), between.get_height()) == pytest.approx((1.8, 2.4))
    assert (within.get_y(), within.get_height()) == pytest.approx((2.5, 1.0))


def test_conversations_are_one_path_however_many_there_are():
    """An element for each would weigh several times as much."""
    generator = np.random.default_rng(1)
    many = pd.DataFrame(
        {"participant": np.repeat(np.arange(200), 9).astype(str), "rating": generator.uniform(1, 5, 1800)}
    )
    assert drawn(many).svg().count("<path") < drawn().svg().count("<path") + 10


def test_of_very_many_participants_some_are_drawn_and_the_caption_says_so():
    number = participants.MOST + 50
    many = pd.DataFrame({"participant": [f"P{i}" for i in range(number)], "rating": np.linspace(1, 5, number)})
    figure = drawn(many)
    assert figure.data["participant"].nunique() == participants.MOST
    assert {"P0", f"P{number - 1}"} <= set(figure.data["participant"]), "both ends"
    assert f"{participants.MOST} of {number} participants" in figure.caption
    assert "Drawn" not in drawn().caption


def test_names_of_a_workbook_are_no_markup():
    hostile = RATED.replace({"participant": {"P1": "<script>alert(1)</script>"}})
    assert "<script" not in drawn(hostile).html()


def test_without_a_rating_a_sentence_says_so():
    assert isinstance(drawn(RATED[:0]), Sentence)
