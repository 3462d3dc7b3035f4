"""What all figures share: real text that stays as it is, two layouts of one drawing, names beside what they name."""

import re

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from sense7 import figures
from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures import style
from sense7.figures.style import Figure, new_axes

HOSTILE = [
    '0.123456 #010203 id="x" url(#y) href="#z"',
    "font-family: q; <!-- a --> <metadata>b</metadata>",
    "<script>alert(1)</script> &amp; ]]> </text>",
    "$a$ \u4e2d\u6587\u7684\u540d\u5b57 \N{PARTY POPPER}",
    "a rather long name of a condition, in words",
]
COMMON = {"name": "x", "caption": "n = 9."}


def table_of(names, unit="level", base=0.5):
    rows = {
        name: estimate_row(base + place / 10, base - 1, base + 2, n=9, unit=unit, method="m")
        for place, name in enumerate(names)
    }
    return estimate_table(rows, "which")


def lines(names=("first", "second, with a longer name")):
    tables = {name: table_of(range(1, 6), base=place / 7) for place, name in enumerate(names)}
    return figures.lines_by_turn(tables, label="level", **COMMON)


DRAWN = {
    "intervals": lambda: figures.intervals(
        {"a": table_of(HOSTILE), "b": table_of(HOSTILE)},
        label="a label of the axis that is longer than a phone",
        **COMMON,
    ),
    "counts": lambda: figures.heat_map(pd.DataFrame({"n": [3, 4, 1, 2, 5]}, index=HOSTILE), label="n", **COMMON),
    "lines": lambda: lines(HOSTILE[:3]),
    "panels": lambda: figures.forest(
        {"r": (table_of(HOSTILE), ()), "accuracy": (table_of(HOSTILE), ())}, beside=True, **COMMON
    ),
    "shares": lambda: figures.stacked_shares(
        {"a": table_of(HOSTILE, "share"), "b": table_of(HOSTILE, "share")}, **COMMON
    ),
}


@pytest.fixture(params=DRAWN)
def figure(request):
    return DRAWN[request.param]()


def pictures(figure):
    return BeautifulSoup(figure.html(), "html.parser").select("figure > svg")


def squeezed(text):
    return re.sub(r"\s", "", text)


def test_names_are_text_and_stand_in_both_drawings_as_they_are(figure):
    used = [name for name in HOSTILE if name in figure.alt]
    assert len(used) >= 3
    for picture in pictures(figure):
        shown = squeezed("".join(text.get_text() for text in picture.find_all("text")))
        # Panels have no room for more of a name than its beginning and its end.
        assert [name for name in used if squeezed(name)[:12] not in shown or squeezed(name)[-12:] not in shown] == []
        assert not picture.find_all(["script", "style", "metadata", "foreignobject", "image"])
        assert {text.get("fill", "") for text in picture.find_all("text")} == {""}


def test_both_drawings_are_described_and_only_one_is_shown_without_a_style_sheet(figure):
    wide, small = pictures(figure)
    assert [picture["aria-label"] for picture in (wide, small)] == [figure.alt] * 2
    assert {picture["role"] for picture in (wide, small)} == {"img"}
    assert not wide.has_attr("style")
    assert small["style"] == "display: none"


def test_drawings_share_no_ids_and_refer_only_into_themselves(figure):
    seen = []
    for picture in pictures(figure):
        ids = [tag["id"] for tag in picture.find_all(id=True)]
        values = [value for tag in picture.find_all(True) for value in tag.attrs.values()]
        used = {name for value in values for name in re.findall(r"^url\(#(.*)\)$|^#(.*)$", str(value))}
        assert {url or link for url, link in used} <= set(ids)
        assert used
        seen += ids
    assert len(seen) == len(set(seen)) > 0


def test_the_narrow_drawing_fits_a_phone_and_no_letter_is_smaller(figure):
    wide, small = (float(picture["width"].removesuffix("pt")) / 72 for picture in pictures(figure))
    assert small < 4.6
    assert wide > 6
    assert all(float(size) >= 10 for size in re.findall(r"font-size: ([\d.]+)px", str(pictures(figure)[1])))


# Names beside what they name


@given(st.lists(st.tuples(st.floats(-50, 150), st.floats(1, 30)), min_size=1, max_size=8))
def test_intervals_are_moved_apart_within_the_limits_and_no_further_than_needed(wished):
    wished.sort()
    centres, sizes = (np.array(column) for column in zip(*wished, strict=True))
    found = style._apart(centres, sizes, (0, 300))
    low, high = found - sizes / 2, found + sizes / 2
    assert (low[1:] - high[:-1] >= -1e-6).all()
    assert low.min() >= -1e-6
    assert high.max() <= 300 + 1e-6
    alone = (centres[:-1] + sizes[:-1] / 2 <= centres[1:] - sizes[1:] / 2).all()
    if alone and (centres - sizes / 2).min() >= 0:
        np.testing.assert_allclose(found, centres, atol=1e-6)


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg"), ("csv", b'"')])
def test_a_figure_is_saved_by_the_ending_of_its_name_and_replaces_what_is_there(tmp_path, ending, begins):
    drawing, axes = new_axes(3, 2)
    axes.plot([1, 2], [3, 4])
    figure = Figure(drawing, "line", "A line.", "n = 2", pd.DataFrame({"x": [1, 2]}, index=["=a", "b"]))
    path = tmp_path / "new folder" / f"line.{ending.upper()}"
    shown = figure.html()
    for _ in range(2):
        assert figure.save(path) == path
        assert path.read_bytes().startswith(begins)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert figure.html() == shown, "what a page shows stays as it was"


def test_a_figure_is_saved_to_no_file_of_another_kind(tmp_path):
    figure = Figure(new_axes(3, 2)[0], "line", "A line.", "n = 2", pd.DataFrame())
    with pytest.raises(UserError, match=r"line\.jpg: .*\.png, \.pdf, \.svg"):
        figure.save(tmp_path / "line.jpg")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"line\.png: can't be written"):
        figure.save(tmp_path / "file" / "line.png")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
