"""The map of means: each mean with its n in its own cell, readable on it, and empty cells empty."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from sense7.figures import cell_means
from sense7.tables import Sentence

TABLE = pd.DataFrame(
    [("work", "b", 3.0, 12), ("work", "a", 4.5, 1200), ("home", "b", np.nan, 2), ("home", "a", 1.25, 7)],
    columns=["topic", "condition", "mean", "n"],
)


def drawn(table=TABLE):
    return cell_means(table, name="x", label="mean rating", caption="n = 1,221 conversations.")


def test_each_cell_has_its_mean_and_n_in_the_order_of_the_table():
    axes = drawn().drawing.axes[0]
    written = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in axes.texts}
    assert written == {(0, 0): "3.00\nn = 12", (0, 1): "4.50\nn = 1,200", (1, 1): "1.25\nn = 7"}, (
        "none where no mean is"
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == ["work", "home"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["b", "a"]
    (mesh,) = axes.collections
    assert mesh.get_array().mask.tolist() == [[False, False], [True, False]]


def luminance(color):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def test_numbers_stand_out_from_their_cells():
    table = pd.DataFrame({"topic": "t", "condition": range(12), "mean": np.linspace(1, 5, 12), "n": 9})
    axes = drawn(table).drawing.axes[0]
    (mesh,) = axes.collections
    for text in axes.texts:
        cell = mesh.to_rgba(float(text.get_text().split()[0]))
        light, dark = sorted((luminance(cell), luminance(to_rgb(text.get_color()))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, "WCAG 2, level AA"


def test_words_say_every_cell():
    assert drawn().alt == (
        "Map of the mean rating by topic and condition. work: b 3.00 (n = 12), a 4.50 (n = 1,200); "
        "home: b empty (n = 2), a 1.25 (n = 7)."
    )


def test_names_of_a_workbook_are_no_markup():
    assert "<script" not in drawn(TABLE.replace("home", "<script>alert(1)</script>")).html()


@pytest.mark.parametrize("table", [TABLE.assign(mean=np.nan), TABLE[:0]])
def test_without_a_mean_a_sentence_says_so(table):
    assert isinstance(drawn(table), Sentence)
