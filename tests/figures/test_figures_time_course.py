"""Lines over turns: a line without a single estimate is left out, and the others keep their names."""

import numpy as np

from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.time_course import lines_by_turn


def table(*estimates):
    rows = {
        turn: estimate_row(value, value - 0.1, value + 0.1, n=9, unit="share", method="mean; interval", reason="none")
        for turn, value in enumerate(estimates, 1)
    }
    return estimate_table(rows, "turn")


def test_a_line_without_estimates_does_not_keep_the_others_from_being_drawn():
    tables = {"rated": table(0.5, 0.6), "never rated": table(np.nan, np.nan), "also rated": table(0.2, 0.3)}
    figure = lines_by_turn(tables, name="x", label="applicability (%)", caption="n = 9; interval")
    written = [text.get_text() for text in figure.drawing.axes[0].texts]
    assert written == ["rated", "also rated"]
    assert "<svg" in figure.html()
    assert len(figure.data) == 6, "the data say why there is none"
