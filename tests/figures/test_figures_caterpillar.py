"""The caterpillar plot: every distance once, in order, and those beyond marked."""

import numpy as np
import pytest

from sense7.figures import caterpillar
from sense7.tables import Sentence


def drawn(distances, beyond=1.96):
    rows = [{"value": f"v{number}", "distance": distance} for number, distance in enumerate(distances)]
    return caterpillar(rows, beyond=beyond, name="x", caption="n = 5 values.")


def marks(figure):
    """Points of each series by its label: x and y."""
    (axes,) = figure.drawing.axes
    return {line.get_label(): np.column_stack(line.get_data()) for line in axes.lines}


def test_points_are_drawn_in_ascending_order_and_those_beyond_apart():
    figure = drawn([0.5, -2.5, 1.0, 3.0, -1.96])
    points = marks(figure)
    np.testing.assert_allclose(points["at most 1.96"], [[-1.96, 2], [0.5, 3], [1.0, 4]])
    np.testing.assert_allclose(points["beyond 1.96"], [[-2.5, 1], [3.0, 5]])
    assert figure.data["value"].tolist() == ["v1", "v4", "v0", "v2", "v3"]
    assert figure.alt == "5 distances from -2.5 to 3.0, in ascending order; 2 of them beyond 1.96."


def test_the_dashed_line_is_where_normal_distances_would_lie():
    """The median of five is zero, and the line is symmetric about it."""
    line = marks(drawn([0.1, 0.2, 0.3, 0.4, 0.5]))["normal distances"]
    np.testing.assert_allclose(line[:, 1], [1, 2, 3, 4, 5])
    np.testing.assert_allclose(line[:, 0], -line[::-1, 0], atol=1e-12)
    assert line[-1, 0] == pytest.approx(1.2815516)  # the ninetieth percentile


def test_without_a_distance_a_sentence_says_so():
    assert isinstance(drawn([]), Sentence)
