"""Reliability diagram: a mark where a level was predicted, its interval, the diagonal, and how often."""

import numpy as np
import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.calibration import reliability_diagram
from sense7.judge.metrics import calibration
from sense7.tables import Sentence


def row(*numbers, n, reason=""):
    return estimate_row(*numbers, n=n, unit="level, 1 to 5", method="mean ground truth", reason=reason)


TABLE = estimate_table(
    {
        1: row(n=0, reason="nothing is predicted as 1"),
        2: row(2.5, n=1, reason="no interval: one participant"),
        3: row(n=0, reason="nothing is predicted as 3"),
        4: row(3.75, 3.5, 4.0, n=1200),
        5: row(4.5, 4.25, 4.75, n=30),
    },
    "prediction",
)


def drawn(table=TABLE):
    return reliability_diagram(table, name="x", caption="n = 1,231 predictions; 95% interval.")


def test_each_predicted_level_has_its_mark_interval_and_count():
    upper, lower = drawn().drawing.axes
    diagonal, marks = upper.lines[0], upper.containers[0]
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [1, 5]
    assert list(marks.lines[0].get_xdata()) == [2, 4, 5]
    assert list(marks.lines[0].get_ydata()) == [2.5, 3.75, 4.5]
    spans = [segment[:, 1].tolist() for segment in marks.lines[2][0].get_segments()]
    assert spans == [[2.5, 2.5], [3.5, 4.0], [4.25, 4.75]]
    assert [bar.get_height() for bar in lower.patches] == [1, 1200, 30]
    assert {"1", "1,200", "30"} <= {text.get_text() for text in lower.texts}


def test_words_and_data_hold_every_number():
    figure = drawn()
    assert "Predicted 2: 2.50, n = 1; Predicted 4: 3.75 (3.50 to 4.00), n = 1,200; Predicted 5" in figure.alt
    assert "Predicted 1" not in figure.alt
    pd.testing.assert_frame_equal(figure.data, TABLE)
    assert figure.html().count("<svg") == 2, "a second layout for phones"
    assert drawn().html() == figure.html()


def test_it_draws_what_calibration_computes():
    runs = pd.DataFrame({"score": [4.0, 4.4, 5.0] * 8, "ground_truth": [3.0, 4.0, 5.0, 2.0, 4.0, 4.5] * 4})
    runs["participant"] = [f"P{place // 3}" for place in range(24)]
    table = calibration(runs, ParticipantBootstrap(runs["participant"], 200, seed=1))
    marks = drawn(table).drawing.axes[0].containers[0]
    assert list(marks.lines[0].get_ydata()) == table["estimate"].dropna().tolist() == [3.25, 4.75]


def test_without_an_interval_the_caption_says_so():
    assert drawn(TABLE.loc[[2]]).caption.endswith("No interval could be computed.")
    assert "No interval" not in drawn().caption


def test_nothing_predicted_is_a_sentence_with_the_reason_and_no_table_is_refused():
    nothing = drawn(TABLE.loc[[1]])
    assert isinstance(nothing, Sentence)
    assert "nothing is predicted as 1" in nothing.text
    with pytest.raises(UserError, match="reliability_diagram wants a table of estimates"):
        drawn(pd.DataFrame({"estimate": [np.nan]}))
