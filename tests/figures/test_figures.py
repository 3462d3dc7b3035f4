"""Every figure: described, with its data; texts of a workbook inert; numbers drawn are those recorded."""

import base64
import io
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import naming
from sense7 import figures
from sense7.figures.source import INK
from sense7.findings.robustness import HEADLINES, specifications
from sense7.sources import Provenance
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study
from sense7.tables import Sentence
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook.xlsx import Sheet

HOSTILE = [
    *("<script>alert(1)</script>", "$\\frac{1}$", "a & b -- c", "{value}`x`"),
    "[a](javascript:b) \u4e2d\u6587\u7684\u540d\u5b57, a rather long name of a condition, in words",
    '0.123456 #010203 id="x" url(#y) href="#z"; <!-- a --> <metadata>b</metadata> ]]> </text>',
]
COMMON = {"name": "x", "caption": "n = 9 <b>; no interval"}
TITLED = {**COMMON, "title": "It <i>rises"}


def table_of(names, unit="share of turns", estimate=0.5):
    rows = {
        name: estimate_row(estimate, 0.4, 0.6, n=10 + place, unit=unit, method="mean; 95% interval")
        for place, name in enumerate(names)
    }
    return estimate_table(rows, "which")


def missing(names, reason="never asked"):
    rows = {
        name: estimate_row(n=0, unit="share of turns", method="m", reason=reason) for name in names
    }
    return estimate_table(rows, "which")


def multiverse_of(estimates, headline="relational_applicability", reason="no participant"):
    """A multiverse with these estimates: the first specifications of the headline."""
    numbers = np.asarray(estimates, dtype=float)
    return specifications(headline).iloc[: len(estimates)].assign(
        estimate=numbers, low=numbers - 0.1, high=numbers + 0.1, n=1234,
        unit=HEADLINES[headline].unit, method="m",
        reason=["" if np.isfinite(number) else reason for number in numbers],
    )  # fmt: skip


def curve_of(estimates=(0.3, 0.1, np.nan, 0.2), **arguments):
    options = {"published": 0.25, "caption": COMMON["caption"], **arguments}
    return figures.specification_curve(
        multiverse_of(estimates, reason=HOSTILE[0]), name="relational_applicability", **options
    )


LEVELS = pd.DataFrame(
    np.arange(14).reshape(2, 7), index=HOSTILE[:2], columns=[1, 2, 3, 4, 5, "not rated", "absent"]
)
LENGTHS = pd.DataFrame({"condition": HOSTILE[:3] * 4, "value": range(12)})
RATED = pd.DataFrame(
    {"participant": [HOSTILE[0], "P1", "P1", HOSTILE[0]], "rating": [4.0, 2.0, 3.0, 4.5]}
)
SCORES = pd.DataFrame(
    {"by <b>one": [1.0, 5, 3], "by the other": [2.0, 5, 1], "corpus": HOSTILE[:3]}
)
BOXES = pd.DataFrame({"text": HOSTILE[:2], "note": ["", HOSTILE[1]]})
CONFUSION = pd.DataFrame(
    np.arange(25).reshape(5, 5) * (np.arange(5) > 0)[:, None], range(1, 6), range(1, 6)
)
CORRELATIONS = [[1, np.nan, -0.001], [np.nan, 1, 0.5], [-0.001, 0.5, 1]]
OVER = {"label": "share", "across": "turn"}

DRAWN = {
    "forest": lambda: figures.forest(
        {"a": table_of(HOSTILE), "b": table_of(HOSTILE)}, label="share", **TITLED
    ),
    "panels": lambda: figures.forest(
        {name: (table_of(HOSTILE), (0.7,)) for name in HOSTILE[:2]}, **TITLED
    ),
    "lines": lambda: figures.lines(
        {name: table_of([1, 2, 3]) for name in HOSTILE}, **OVER, **TITLED
    ),
    "calibration": lambda: figures.reliability_diagram(
        table_of([2, 4], "level, 1 to 5", 3.5), **TITLED
    ),
    "counts": lambda: figures.heat_map(
        pd.DataFrame([[0, 1200], [600, 7]], HOSTILE[:2], HOSTILE[2:4]), label="<i>", **TITLED
    ),
    "correlations": lambda: figures.heat_map(
        pd.DataFrame(CORRELATIONS, HOSTILE[:3], HOSTILE[:3]), label="r", **TITLED
    ),
    "confusion": lambda: figures.heat_map(CONFUSION, label="judged", shares_of_rows=True, **TITLED),
    "levels": lambda: figures.level_distribution(LEVELS, **TITLED),
    "lengths": lambda: figures.distributions(
        {HOSTILE[0]: LENGTHS, "none": LENGTHS[:0]}, label="length", **TITLED
    ),
    "people": lambda: figures.ratings_by_participant(RATED, **TITLED),
    "pairs": lambda: figures.score_pairs({"one": SCORES, HOSTILE[1]: SCORES.iloc[:, :2]}, **TITLED),
    "flow": lambda: figures.flow(BOXES, **TITLED),
    "curve": curve_of,
}
IN_WORDS = {
    "forest": "a: <script>alert(1)</script>: 50.0% (40.0% to 60.0%)",
    "panels": "$\\frac{1}$, line at 70.0%: <script>alert(1)</script>: 50.0% (40.0% to 60.0%)",
    "lines": "a & b -- c: 1: 50.0% (40.0% to 60.0%)",
    "calibration": "4: 3.50 (0.40 to 0.60)",
    "counts": "$\\frac{1}$: a & b -- c 600, {value}`x` 7",
    "correlations": "<script>alert(1)</script>: a & b -- c 0.00",
    "confusion": "2: 1 5 (14%), 2 6 (17%)",
    "levels": "$\\frac{1}$: very poor 10%",
    "lengths": "a & b -- c: median 6.5, quartiles 4.25 and 8.75, n = 4",
    "people": "2.67 to 4.08",
    "pairs": "33.3%",
    "flow": "<script>alert(1)</script>; $\\frac{1}$ ($\\frac{1}$)",
    "curve": "3 of 4",
}


@cache
def drawn(kind):
    """A figure of this kind and its HTML, drawn once: only to be read."""
    figure = DRAWN[kind]()
    return figure, figure.html()


def pictures(drawing):
    return BeautifulSoup(drawing, "html.parser").select("svg")


def text_of(picture):
    return re.sub(r"\s", "", "".join(text.get_text() for text in picture.find_all("text")))


@pytest.mark.parametrize("kind", DRAWN)
def test_a_figure_is_described_in_words_beside_its_data_and_caption(kind):
    figure, drawing = drawn(kind)
    naming.check(figure.alt, IN_WORDS[kind])
    assert "nan" not in figure.alt.casefold()
    page = BeautifulSoup(drawing, "html.parser")
    assert {svg["aria-label"] for svg in page.select("figure > svg")} == {figure.alt}
    assert figure.caption in page.figcaption.get_text()
    link = page.select_one(f"a[download='{figure.file_name}.csv']")
    content = base64.b64decode(link["href"].partition("base64,")[2])
    assert len(pd.read_csv(io.BytesIO(content))) == len(figure.data) > 0
    assert page.find_all(["b", "i", "foreignobject", "image"]) == [], "a text is never markup"


@pytest.mark.parametrize("kind", DRAWN)
def test_both_drawings_have_title_and_source_as_text_and_the_page_s_ink(kind):
    figure, drawing = drawn(kind)
    label = "Source of the data not stated"
    for picture in pictures(drawing)[:2]:
        assert re.sub(r"\s", "", f"{figure.title}") in text_of(picture)
        assert re.sub(r"\s", "", label) in text_of(picture)
    assert figure.alt.endswith(f" {label}.")
    assert set(figure.data["data"]) == {label}
    assert drawing == DRAWN[kind]().html(), "equal data give equal figures"
    assert "currentColor" in drawing
    assert not re.search(f'[":] ?{INK}', drawing)


@pytest.mark.parametrize(
    ("title", "source", "expected"),
    [
        ("It rises", figures.SIMULATED, "Simulated: It rises"),
        ("Does it rise?", figures.SIMULATED, "Does it rise?"),
        ("It rises", figures.RELEASED, "It rises"),
        ("It rises", {"a": figures.SIMULATED, "b": figures.PUBLISHED}, "Simulated: It rises"),
        ("It rises", {"a": figures.SIMULATED, "b": figures.RELEASED}, "It rises"),
    ],
)
def test_a_statement_about_simulated_data_begins_so(title, source, expected):
    figure = figures.forest(table_of("ab"), **COMMON, title=title, source=source)
    assert figure.title == expected
    assert figure.alt.startswith(expected)


@pytest.mark.parametrize("kind", DRAWN)
def test_drawings_share_no_ids_and_refer_only_into_themselves(kind):
    seen = []
    for picture in pictures(drawn(kind)[1]):
        ids = [tag["id"] for tag in picture.find_all(id=True)]
        used = set()
        for tag in picture.find_all(True):
            references = " ".join(str(tag.get(name, "")) for name in ("href", "clip-path", "style"))
            used.update(re.findall(r"#(f[^\s)]*-[^\s)]*)", references))
        assert used <= set(ids)
        seen += ids
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("shown", "named"),
    [
        (lambda: figures.forest(table_of([]), label="it", **TITLED), "it"),
        (lambda: figures.forest({}, **TITLED), "estimates"),
        (lambda: figures.forest({"a": (missing("b"), (0,))}, **TITLED), "never asked"),
        (lambda: figures.lines(missing([1, 2]), **OVER, **TITLED), "share: never asked"),
        (lambda: figures.lines({}, **OVER, **TITLED), "share"),
        (lambda: figures.heat_map(pd.DataFrame(), label="it", **TITLED), "it"),
        (lambda: figures.distributions({"a": LENGTHS[:0]}, label="it", **TITLED), "it"),
        (lambda: figures.ratings_by_participant(RATED[:0], **TITLED), "participants"),
        (lambda: figures.reliability_diagram(missing([1]), **TITLED), "never asked"),
        (lambda: figures.flow(BOXES[:0], **TITLED), "x"),
        (lambda: figures.heat_map(CONFUSION * 0, label="it", shares_of_rows=True, **TITLED), "it"),
        (lambda: curve_of([np.nan]), "alert(1)"),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_draw_a_sentence_says_why(shown, named):
    shown = shown()
    assert isinstance(shown, Sentence)
    naming.check(shown.text, named)


# Numbers


def test_marks_of_an_svg_lie_at_the_recorded_numbers():
    table = table_of("abc", "alpha").assign(estimate=[0.41, 0.5, 0.587])
    figure = figures.forest(table, **TITLED)
    for svg in pictures(figure.html()):
        ticks = {}
        for text in svg.find_all("text"):
            if re.fullmatch(r"0\.\d+", text.get_text()):
                place = re.search(r"translate\(([\d.]+) ", str(text.get("transform", "")))
                ticks[float(text.get_text())] = float(text["x"] if text.has_attr("x") else place[1])
        slope, start = np.polyfit(list(ticks.values()), list(ticks), 1)
        marks = [use for use in svg.find_all("use") if "currentColor" in use.get("style", "")]
        across = {round(start + slope * float(use["x"]), 3) for use in marks}
        for number in table[["estimate", "low", "high"]].to_numpy().ravel():
            assert min(abs(number - place) for place in across) < 2e-3


def test_n_and_the_kind_of_interval_come_from_the_table_where_the_caption_lacks_them():
    figure = figures.forest(table_of("abc"), name="x", title="T", caption="Look at the last.")
    naming.check(figure.caption, "Look at the last. n = 10 to 12")
    without = table_of([1]).assign(low=np.nan, high=np.nan)
    figure = figures.lines(without, **OVER, **TITLED)
    naming.check(figure.caption, COMMON["caption"])


def test_published_values_are_drawn_where_the_data_have_none():
    published = figures.published_values({"a": 0.3}, "which", "share of turns")
    panels = {"this data set": missing("ab"), "published": published}
    figure = figures.forest(panels, name="x", title="T", caption="Beside the paper.")
    assert figure.data["estimate"].notna().sum() == 1
    assert "n = " not in figure.caption
    assert figures.highest(missing("ab"), "is first") == "Not computed from these data"


# Variants of an analysis


def test_the_main_analysis_is_marked_without_a_script_and_texts_are_inert():
    source = curve_of(caption=f"</script>{HOSTILE[0]}</figure>").html()
    assert source.count("</script") == source.count("<script") == source.count("</figure>") == 1
    page = BeautifulSoup(source, "html.parser")
    naming.check(page.output.get_text(), "30.0% [20.0%, 40.0%], n = 1,234", "of 3")
    naming.check(curve_of().title, "2 of 3", "25.0%")
    assert page.select("input, button, select") == [], "a script adds what only a script moves"


# Whose data a figure shows


def studies():
    """Studies of every kind of origin, by the label that their figures are to have."""
    provenance = Provenance("own", "mine", "<b>mine.xlsx", None, None, "0" * 64, 1, mirror=False)
    frame = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "condition": ["a"]})
    study = Study("mine", frame, frame, frame, participants=None, columns=pd.DataFrame())
    simulated = {SYNTHETIC_SHEET: Sheet(SYNTHETIC_SHEET, ["key", "value"], [["seed", "1"]])}
    return {
        "Workbook <b>mine.xlsx, not the SENSE-7 release": replace(study, provenance=provenance),
        "Unverified copy of the SENSE-7 workbook, no reproduction": replace(
            study, provenance=replace(provenance, kind="official")
        ),
        "Data of mine": study,
        "Simulated data, not findings": replace(study, sheets=simulated),
        "Simulated data, not findings ": replace(
            study, provenance=replace(provenance, kind="synthetic")
        ),
    }


@pytest.mark.parametrize("label", studies())
def test_a_figure_of_a_study_says_what_its_data_are_and_has_their_color(label):
    figure = figures.forest(table_of("ab"), source=studies()[label], **TITLED)
    label = label.strip()
    assert set(figure.data["data"]) == {label}
    assert re.sub(r"\s", "", label) in text_of(pictures(figure.html())[0])
    color, other = figures.SIMULATED.colors[0], figures.RELEASED.colors[0]
    if not label.startswith("Simulated"):
        color, other = other, color
    assert color in figure.svg
    assert other not in figure.svg


def test_a_figure_of_several_sources_names_each_and_gives_each_its_color():
    sources = {"here": figures.SIMULATED, "iEval": figures.RELEASED, "paper": figures.PUBLISHED}
    panels = {"r": ({name: table_of("ab") for name in sources}, {"published": 0.25})}
    figure = figures.forest(panels, source=sources, **TITLED)
    for name, source in sources.items():
        assert source.colors[0] in figure.svg
        assert f"{name}: {source.label}" in figure.alt
    assert figure.data["data"].tolist()[::2] == [source.label for source in sources.values()]
    assert figure.file_name == "x-simulated-and-real-and-published"
    naming.check(figure.alt, "r, ", "published 25.0%")


# Files


@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg"), ("csv", b'"')]
)
def test_a_figure_is_saved_by_the_ending_of_its_name(tmp_path, ending, begins):
    figure, shown = drawn("forest")
    path = tmp_path / "new folder" / f"line.{ending.upper()}"
    for _ in range(2):
        assert figure.save(path) == path
        assert path.read_bytes().startswith(begins)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert figure.html() == shown, "what a page shows stays as it was"
    if ending == "pdf":
        assert b"/Type3" not in path.read_bytes(), "letters stay letters"


def test_a_figure_is_saved_to_no_file_of_another_kind(tmp_path):
    figure, _ = drawn("forest")
    with naming.refused(tmp_path / "line.jpg", ".png, .pdf, .svg"):
        figure.save(tmp_path / "line.jpg")
    with naming.refused("width_cm=2", "6"):
        figure.save(tmp_path / "line.png", width_cm=2)
    (tmp_path / "file").touch()
    with naming.refused(tmp_path / "file" / "line.png"):
        figure.save(tmp_path / "file" / "line.png")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("label", list(studies())[::3])
def test_at_the_width_of_a_column_one_s_own_data_have_no_stamp(tmp_path, label):
    figure = figures.forest(table_of("ab"), source=studies()[label], **TITLED)
    path = figure.save(tmp_path / "column.svg", width_cm=8.5)
    svg = BeautifulSoup(path.read_text("utf-8"), "html.parser").svg
    assert float(svg["width"].removesuffix("pt")) == pytest.approx(8.5 / 2.54 * 72, abs=0.1)
    is_stamped = re.sub(r"\s", "", label) in text_of(svg)
    assert is_stamped == label.startswith("Simulated")
