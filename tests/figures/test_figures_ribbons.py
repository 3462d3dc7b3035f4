"""Ribbons around the first poor turn: every turn in its place and color, in the order of what came after."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures import ribbons as drawn_ribbons
from sense7.figures.ribbons import MOST
from sense7.figures.style import LEVEL_COLOURS
from sense7.tables import Sentence

TURNS = pd.DataFrame(
    [("low", -1, 4), ("low", 0, 2), ("low", 1, 2), ("ends", 0, 1), ("high", 0, 2), ("high", 1, 5), ("high", 3, 5)],
    columns=["conversation", "time", "level"],
)


def means_of(levels, low=True):
    rows = {
        time: estimate_row(
            level, level - 0.1 if low else np.nan, level + 0.1 if low else np.nan, n=9, unit="level", method="m"
        )
        for time, level in levels.items()
    }
    return {"as rated": estimate_table(rows, "event time")}


def drawn(turns=TURNS, means=None):
    means = means_of({-1: 4.0, 0: 1.5, 1: 3.5}) if means is None else means
    return drawn_ribbons(turns, means, name="x", caption="n = 7 turns.")


def cells(figure):
    """(row, time, level) of each cell that is filled, of each path."""
    found = set()
    for patch in figure.drawing.axes[1].patches:
        level = [color.lower() for color in LEVEL_COLOURS].index(to_hex(patch.get_facecolor())) + 1
        for left, top, right, _ in patch.get_path().vertices.reshape(-1, 5, 2)[:, [0, 2]].reshape(-1, 4):
            found |= {(int(top), int(time), level) for time in np.arange(left + 0.5, right)}
    return found


def test_rows_are_ordered_by_what_comes_after_and_those_without_come_last():
    figure = drawn()
    assert list(dict.fromkeys(figure.data["conversation"])) == ["high", "low", "ends"]
    place = {"high": 0, "low": 1, "ends": 2}
    assert cells(figure) == {(place[row.conversation], row.time, row.level) for row in TURNS.itertuples()}


def test_neighboring_cells_of_one_level_are_one_box_and_a_gap_parts_them():
    turns = pd.DataFrame({"conversation": "a", "time": [0, 1, 2, 4], "level": 2})
    (boxes,) = (patch for patch in drawn(turns).drawing.axes[1].patches if len(patch.get_path().vertices))
    assert boxes.get_path().vertices.reshape(-1, 5, 2)[:, :2, 0].tolist() == [[-0.5, 2.5], [3.5, 4.5]]


def test_one_path_per_level_however_many_turns():
    generator = np.random.default_rng(2)
    many = pd.MultiIndex.from_product([range(MOST), range(-3, 6)], names=["conversation", "time"]).to_frame(index=False)
    many = many.assign(level=generator.integers(1, 6, len(many)))
    few, full = drawn(), drawn(many)
    assert len(few.drawing.axes[1].patches) == len(full.drawing.axes[1].patches) == len(LEVEL_COLOURS)
    assert full.svg().count("<path") < few.svg().count("<path") + 20


def test_of_very_many_conversations_some_are_drawn_and_the_caption_says_so():
    many = pd.DataFrame({"conversation": np.repeat(np.arange(MOST + 9), 2), "time": [0, 1] * (MOST + 9), "level": 2})
    figure = drawn(many)
    assert figure.data["conversation"].nunique() == MOST
    assert f"{MOST} of {MOST + 9} conversations" in figure.caption
    assert "Drawn" not in drawn().caption


def test_words_say_what_is_drawn():
    alt = drawn().alt
    assert alt.startswith("Levels of 3 conversations around their first poor turn.")
    assert "1 after: very poor 0, poor 1, neutral 0, good 0, very good 1;" in alt
    assert "as rated: 1 before: 4.000 (3.900 to 4.100)" in alt


def test_the_caption_says_where_there_is_no_interval():
    assert drawn(means=means_of({0: 1.5}, low=False)).caption.endswith("No interval could be computed.")
    assert "No interval" not in drawn().caption


@pytest.mark.parametrize("reason", ["no turn was rated poor in this data set", ""])
def test_without_a_turn_a_sentence_says_why(reason):
    row = estimate_row(n=0, unit="level", method="m", reason=reason or "unknown")
    means = {"as rated": estimate_table({0: row}, "event time")} if reason else {}
    sentence = drawn(TURNS[:0], means)
    assert isinstance(sentence, Sentence)
    assert (reason or "there are none") in sentence.text
