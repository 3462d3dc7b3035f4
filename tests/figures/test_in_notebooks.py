"""What a kernel shows of a result: outputs that any viewer shows; for a page of the book its HTML as well."""

import base64
import io

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from PIL import Image

from sense7 import figures
from sense7.outputs import OUTPUTS, outputs_of
from sense7.record import EXECUTED_BY
from sense7.statistics.estimates import estimate_row, estimate_table


def table():
    how = {"n": 9, "unit": "alpha", "method": "pairwise; percentile interval"}
    rows = {f"ratings of group {number}": estimate_row(0.5, 0.4, 0.6, **how) for number in range(3)}
    return estimate_table(rows, "ratings")


def drawn():
    caption = "n = 9 turns; percentile interval."
    source = figures.RELEASED
    return figures.forest(table(), name="a", title="Alike", caption=caption, source=source)


def test_a_figure_is_a_picture_with_its_words_and_below_it_its_caption():
    picture, caption = outputs_of(drawn())
    assert picture["data"].keys() == {"image/png", "text/plain"}
    assert picture["metadata"]["image/png"]["alt"] in picture["data"]["text/plain"]
    assert caption["data"]["text/plain"] == "n = 9 turns; percentile interval."


def test_a_picture_is_small_and_has_room_for_all_that_is_drawn():
    content = base64.b64decode(outputs_of(drawn())[0]["data"]["image/png"])
    picture = Image.open(io.BytesIO(content)).convert("L")
    assert len(content) < 20_000
    edges = [picture.crop((0, 0, 2, picture.height)), picture.crop((0, 0, picture.width, 2))]
    assert {edge.getextrema() for edge in edges} == {(255, 255)}


@pytest.mark.parametrize("in_a_build", [True, False])
def test_the_kernel_of_a_build_gives_the_page_beside_what_any_kernel_gives(monkeypatch, in_a_build):
    monkeypatch.delenv(EXECUTED_BY, raising=False)
    if in_a_build:
        monkeypatch.setenv(EXECUTED_BY, "sense7")
    InteractiveShell.instance()
    figure = drawn()
    with capture_output() as captured:
        figure._ipython_display_()
    given = [output.data for output in captured.outputs]
    expected = outputs_of(figure)
    if in_a_build:
        assert given == [
            {"text/html": figure.html(), "text/plain": repr(figure), OUTPUTS: expected}
        ]
    else:
        assert given == [output["data"] for output in expected]
