"""The correlation matrix: every number where it belongs, and to be read on its cell."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from sense7.figures.structure import heat_map
from sense7.tables import Sentence

NAMES = list("abcde")


def matrix_of(low, high):
    """Correlations of five items, spread evenly from low to high; the last item was never rated."""
    values = np.full((5, 5), np.nan)
    rows, columns = np.triu_indices(4, 1)
    values[rows, columns] = values[columns, rows] = np.linspace(low, high, 6)
    values[range(4), range(4)] = 1.0
    return pd.DataFrame(values, index=NAMES, columns=NAMES)


def drawn(matrix):
    return heat_map(matrix, name="x", label="correlations", caption="n = 10")


@pytest.mark.parametrize(("low", "high"), [(0.7, 0.9), (-0.8, 0.8), (0.5, 0.5)])
def test_each_cell_has_its_number(low, high):
    matrix = matrix_of(low, high)
    axes = drawn(matrix).drawing.axes[0]
    written = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in axes.texts}
    expected = {(i, j): f"{matrix.iloc[i, j]:.2f}" for i in range(4) for j in range(4) if i != j}
    assert written == expected, "neither the diagonal nor what was never rated"
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
    assert [label.get_text() for label in axes.get_xticklabels()] == NAMES


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


@pytest.mark.parametrize(("low", "high"), [(0.7, 0.9), (-0.8, 0.8), (0.5, 0.5)])
def test_numbers_stand_out_from_their_cells(low, high):
    axes = drawn(matrix_of(low, high)).drawing.axes[0]
    mesh = axes.collections[0]
    assert len(axes.texts) == 12
    for text in axes.texts:
        x, y = text.get_position()
        cell = mesh.get_facecolors()[5 * int(y) + int(x)]
        light, dark = sorted((luminance(cell), luminance(to_rgb(text.get_color()))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, "WCAG 2, level AA"


def test_equal_correlations_give_equal_figures_whose_words_say_them():
    first, second = drawn(matrix_of(0.1, 0.6)), drawn(matrix_of(0.1, 0.6))
    assert first.html() == second.html()
    assert "Lowest a and b, 0.10; highest c and d, 0.60." in first.alt
    assert "a and e: none" in first.alt
    assert "currentColor" in first.svg()


def test_without_a_correlation_a_sentence_says_so():
    assert isinstance(drawn(pd.DataFrame(np.eye(2), index=["a", "b"], columns=["a", "b"]) * np.nan), Sentence)
