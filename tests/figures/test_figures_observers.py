"""Agreement in groups, and scores in pairs: every number where it belongs, whole on a phone."""

import base64
import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.observers import grouped_intervals, score_pairs
from sense7.figures.style import COLOURS
from sense7.tables import Sentence


def table(**values):
    rows = {
        name: estimate_row(*numbers, n=50, unit="Spearman's rho", method="m", reason="" if len(numbers) > 1 else "none")
        for name, numbers in values.items()
    }
    return estimate_table(rows, "who")


GROUPS = {
    "with each other": table(experts=(0.7, 0.6, 0.8), models=(0.8, 0.65, 0.9)),
    "with the person": table(experts=(0.17, -0.12, 0.44), nobody=(np.nan,)),
}


def drawn(groups=None, **given):
    given = {"name": "x", "label": "rho", "caption": "n = 50; 95% interval.", "limits": (-0.4, 1)} | given
    return grouped_intervals(GROUPS if groups is None else groups, **given)


def test_each_row_has_its_name_numbers_and_interval():
    axes = drawn().drawing.axes[0]
    written = [text.get_text() for text in axes.texts]
    for words in ("with each other", "experts", "0.70 [0.60, 0.80]", "0.17 [-0.12, 0.44]", "not available"):
        assert words in written
    spans = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert {(0.6, 0.8), (0.65, 0.9), (-0.12, 0.44)} <= set(spans)


def test_a_group_has_one_colour_and_mark_of_its_own():
    lines = drawn().drawing.axes[0].lines
    marks = {
        (line.get_marker(), to_hex(line.get_color()).upper()) for line in lines if line.get_marker() not in ("", "None")
    }
    assert marks == {("o", COLOURS[0].upper()), ("s", COLOURS[1].upper())}


@pytest.mark.parametrize(("limits", "count"), [((-0.4, 1), 4), ((0.1, 1), 0)])
def test_zero_is_marked_where_it_is_in_sight(limits, count):
    upright = [line for line in drawn(limits=limits).drawing.axes[0].lines if list(line.get_xdata()) == [0, 0]]
    assert len(upright) == count


def test_words_and_data_hold_every_number():
    figure = drawn()
    assert "with the person: experts: 0.170 (-0.120 to 0.440); nobody: not available (none)." in figure.alt
    (link,) = re.findall(r'href="data:text/csv;base64,([^"]+)"', figure.html())
    lines = list(csv.reader(io.StringIO(base64.b64decode(link).decode())))
    assert lines[0][:5] == ["group", "who", "estimate", "low", "high"]
    assert lines[2][:2] == ["with each other", "models"]


def test_it_is_as_wide_as_the_text_and_equal_again():
    assert drawn().html() == drawn().html()
    assert "currentColor" in drawn().svg()


def test_nothing_to_show_is_a_sentence_and_no_table_is_refused():
    assert isinstance(drawn({"empty": GROUPS["with each other"].iloc[:0]}), Sentence)
    with pytest.raises(UserError, match="grouped_intervals wants a table of estimates as groups"):
        drawn({"a": pd.DataFrame({"estimate": [1.0]})})


SCORES = pd.DataFrame({"a": [1.0, 2.0, 7.0, 4.0], "b": [2.0, 1.0, 5.0, 4.0], "c": [7.0, 6.0, 1.0, 3.0]})
NAMES = {"a": "rating a", "b": "rating b", "c": "rating c"}


def paired(panels):
    return score_pairs(SCORES, panels, axes_names=NAMES, name="x", caption="n = 4.", limits=(1, 7))


def test_every_pair_has_its_points_on_one_scale():
    figure = paired({"first": ("a", "b"), "second": ("a", "c")})
    for axes, (title, (across, upwards)) in zip(
        figure.drawing.axes, {"first": ("a", "b"), "second": ("a", "c")}.items(), strict=True
    ):
        equal, points = axes.lines
        assert list(equal.get_xdata()) == list(equal.get_ydata()) == [1, 7]
        assert list(points.get_xdata()) == SCORES[across].tolist()
        assert list(points.get_ydata()) == SCORES[upwards].tolist()
        assert axes.get_xlim() == axes.get_ylim()
        assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == (title, NAMES[across], NAMES[upwards])
    assert (
        "first: 4 points, rating a across and rating b upwards; 50.0% lie below the line of equal scores." in figure.alt
    )
    assert figure.data.columns.tolist() == ["a", "b", "c"]


def test_a_column_that_lacks_is_said():
    with pytest.raises(UserError, match="they lack z"):
        paired({"first": ("a", "z")})
