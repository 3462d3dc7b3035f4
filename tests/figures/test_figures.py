"""Every figure: described, with n, with its data; texts of a workbook inert; equal data, equal figures."""

import base64
import io
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7 import figures
from sense7.figures import style
from sense7.figures.people import MOST
from sense7.figures.specification import (
    SpecificationCurve,
    specification_curve,
)
from sense7.figures.style import INK, figure_of, new_axes
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
EIGENVALUES = pd.DataFrame(
    {"components": [2.0, 0.5], "components, noise": [1.1, 0.9]}, index=[1, 2]
)
EIGENVALUES["components, noise of participants"] = [1.3, 0.8]
CURVE = pd.DataFrame({"spearman": [0.0, 0.6, 1.0]}, index=[0.0, 0.5, 1.0])
BOUND = table_of(["bound"], "share of the variance", 0.45).iloc[0]
JUDGES = {HOSTILE[0]: 0.3, "too good": 1.2, "below": -0.1, "none": np.nan}

STEPS = pd.DataFrame({"n": [1200, 7], "left_out": ["", HOSTILE[1]]}, index=HOSTILE[:2])
TALK = pd.DataFrame(
    {
        "who": ["user", "assistant", "user", "assistant"],
        "text": HOSTILE[:4],
        "overall": [np.nan, 4.0, np.nan, 2.0],
        HOSTILE[2]: [np.nan, np.nan, np.nan, 1.0],
    }
)
DIMENSIONS = pd.DataFrame(
    {"group": ["one", "other", "one"], "definition": HOSTILE[2:5]}, index=HOSTILE[:3]
)
TILES = pd.DataFrame(
    {
        "row": [HOSTILE[0], HOSTILE[0], HOSTILE[1]],
        "column": [HOSTILE[2], HOSTILE[3], HOSTILE[2]],
        "verdict": ["not seen", "was not asked", "seen here too"],
        "text": ["", "", "0.5"],
    }
)
CONFUSION = pd.DataFrame(
    np.arange(25).reshape(5, 5) * (np.arange(5) > 0)[:, None], range(1, 6), range(1, 6)
)

DRAWN = {
    "intervals": lambda: figures.intervals(
        {"a": table_of(HOSTILE), "b": table_of(HOSTILE)}, label="share", **COMMON
    ),
    "forest": lambda: figures.forest(
        {name: (table_of(HOSTILE), (0.7,)) for name in HOSTILE[:2]}, **COMMON
    ),
    "panels": lambda: figures.forest(
        {"r": (table_of(HOSTILE), ()), "s": (table_of(HOSTILE), ())}, beside=True, **COMMON
    ),
    "lines": lambda: figures.lines_by_turn(
        {name: table_of([1, 2, 3]) for name in HOSTILE}, label="share", **COMMON
    ),
    "counts": lambda: figures.heat_map(
        pd.DataFrame([[0, 1200], [600, 7]], HOSTILE[:2], HOSTILE[2:4]), label="<i>", **COMMON
    ),
    "correlations": lambda: figures.heat_map(
        pd.DataFrame(
            [[1, np.nan, -0.001], [np.nan, 1, 0.5], [-0.001, 0.5, 1]], HOSTILE[:3], HOSTILE[:3]
        ),
        label="r",
        **COMMON,
    ),
    "levels": lambda: figures.level_distribution(LEVELS, **COMMON),
    "shares": lambda: figures.stacked_shares({HOSTILE[0]: table_of(HOSTILE[:2])}, **COMMON),
    "lengths": lambda: figures.distributions(
        {HOSTILE[0]: LENGTHS, "none": LENGTHS[:0]}, label="length", **COMMON
    ),
    "people": lambda: figures.ratings_by_participant(RATED, **COMMON),
    "pairs": lambda: figures.score_pairs({"one": SCORES, HOSTILE[1]: SCORES.iloc[:, :2]}, **COMMON),
    "scree": lambda: figures.scree(EIGENVALUES, **COMMON),
    "calibration": lambda: figures.reliability_diagram(
        table_of([2, 4], "level, 1 to 5", 3.5), **COMMON
    ),
    "ceiling": lambda: figures.ceiling_curves(CURVE, JUDGES, bound=BOUND, **COMMON),
    "flow": lambda: figures.study_flow(STEPS, **COMMON),
    "conversation": lambda: figures.rated_conversation(TALK, **COMMON),
    "taxonomy": lambda: figures.taxonomy_tree(DIMENSIONS, **COMMON),
    "verdicts": lambda: figures.verdict_map(TILES, label="it", looks=figures.VERDICTS, **COMMON),
    "confusion": lambda: figures.confusion_matrix(CONFUSION, **COMMON),
    "ranges": lambda: figures.specification_ranges(
        {"alpha": multiverse_of([0.3, 0.1], "alpha")}, {"alpha": 0.961}, **COMMON
    ),
}
NAMED = {
    "intervals": "a: <script>alert(1)</script>: 50.0% (40.0% to 60.0%)",
    "forest": "$\\frac{1}$, line at 70.0%: <script>alert(1)</script>: 50.0% (40.0% to 60.0%)",
    "panels": "r: <script>alert(1)</script>: 50.0% (40.0% to 60.0%)",
    "lines": "a & b -- c: turn 1: 50.0% (40.0% to 60.0%)",
    "counts": "$\\frac{1}$: a & b -- c 600, {value}`x` 7",
    "correlations": "<script>alert(1)</script>: $\\frac{1}$ none, a & b -- c 0.00",
    "levels": "$\\frac{1}$: very poor 10%",
    "shares": "$\\frac{1}$: 50.0% (40.0% to 60.0%)",
    "lengths": "a & b -- c: median 6.5, quartiles 4.25 and 8.75, n = 4",
    "people": "2.67 to 4.08",
    "pairs": "33.3%",
    "scree": "1.30, 0.80",
    "calibration": "Predicted 4: 3.50 (0.40 to 0.60), n = 11",
    "ceiling": "too good: 1.200",
    "flow": "1,200 <script>alert(1)</script>; 7 $\\frac{1}$ (left out: $\\frac{1}$)",
    "conversation": "assistant: {value}`x` (overall 2, a & b -- c 1)",
    "taxonomy": "one: <script>alert(1)</script> (a & b -- c), a & b -- c (",
    "verdicts": "$\\frac{1}$: a & b -- c 0.5 seen here too",
    "confusion": "Rated 2 poor: judged 1 5 (14%), 2 6 (17%)",
    "ranges": "Cronbach's alpha per turn: 0.100 to 0.300 (2 analyses); published 0.961",
}


@cache
def drawn(kind):
    """A figure of this kind, drawn once: only to be read."""
    return DRAWN[kind]()


@pytest.mark.parametrize("kind", DRAWN)
def test_a_figure_is_described_and_its_data_and_caption_stand_beside_it(kind):
    figure = drawn(kind)
    naming.check(figure.alt, NAMED[kind])
    assert "nan" not in figure.alt.casefold()
    page = BeautifulSoup(figure.html(), "html.parser")
    assert {picture["aria-label"] for picture in page.select("svg[role=img]")} == {figure.alt}
    assert page.figcaption.get_text().startswith("n = 9 <b>; no interval")
    link = page.select_one("a[download='x-source-not-stated.csv']")
    content = base64.b64decode(link["href"].partition("base64,")[2])
    assert len(pd.read_csv(io.BytesIO(content))) == len(figure.data) > 0
    assert page.find_all(["script", "b", "i"]) == [], "text from the data is never markup"


@pytest.mark.parametrize("kind", DRAWN)
def test_equal_data_give_equal_figures_whose_ink_follows_the_page(kind):
    first = drawn(kind).html()
    assert first == DRAWN[kind]().html()
    assert "currentColor" in first
    assert not re.search(f'[":] ?{INK}', first)


@pytest.mark.parametrize(
    ("shown", "named"),
    [
        (
            lambda: figures.intervals(table_of([]), label="it", **COMMON),
            "it",
        ),
        (
            lambda: figures.forest({}, **COMMON),
            "estimates",
        ),
        (
            lambda: figures.forest({"a": (missing("b"), (0,))}, **COMMON),
            "never asked",
        ),
        (
            lambda: figures.lines_by_turn(missing([1, 2]), label="it", **COMMON),
            "it: never asked",
        ),
        (
            lambda: figures.stacked_shares({"a": missing("b")}, **COMMON),
            "never asked",
        ),
        (
            lambda: figures.heat_map(pd.DataFrame(), label="it", **COMMON),
            "it",
        ),
        (
            lambda: figures.distributions({"a": LENGTHS[:0]}, label="it", **COMMON),
            "it",
        ),
        (
            lambda: figures.ratings_by_participant(RATED[:0], **COMMON),
            "participants",
        ),
        (lambda: figures.scree(EIGENVALUES[:0], **COMMON), "eigenvalues"),
        (
            lambda: figures.reliability_diagram(missing([1]), **COMMON),
            "never asked",
        ),
        (lambda: figures.study_flow(STEPS[:0], **COMMON), "study"),
        (lambda: figures.rated_conversation(TALK[:0], **COMMON), "conversation"),
        (
            lambda: figures.verdict_map(TILES[:0], label="it", looks={}, **COMMON),
            "it",
        ),
        (
            lambda: figures.confusion_matrix(CONFUSION * 0, **COMMON),
            "confusion matrix",
        ),
    ],
)
def test_where_there_is_nothing_to_draw_a_sentence_says_why(shown, named):
    shown = shown()
    assert isinstance(shown, Sentence)
    naming.check(shown.text, named)


def test_n_and_the_kind_of_interval_come_from_the_table_where_the_caption_lacks_them():
    figure = figures.intervals(
        table_of("abc"), name="x", label="share", caption="Look at the last."
    )
    naming.check(figure.caption, "Look at the last. n = 10 to 12")
    without = table_of("a").assign(low=np.nan, high=np.nan)
    figure = figures.lines_by_turn(without.set_axis([1]), label="share", **COMMON)
    naming.check(figure.caption, COMMON["caption"])


def test_of_many_participants_some_are_drawn_and_the_caption_says_so():
    rated = pd.DataFrame(
        {"participant": np.repeat(range(MOST + 9), 2), "rating": [1.0, 5.0] * (MOST + 9)}
    )
    figure = figures.ratings_by_participant(rated, **COMMON)
    assert figure.data["participant"].nunique() == MOST
    naming.check(figure.caption, f"{MOST} of {MOST + 9}")


# Two layouts of one drawing, whose texts are real


@pytest.fixture(
    params=["intervals", "panels", "lines", "counts", "shares", "conversation", "taxonomy"]
)
def figure(request):
    return drawn(request.param)


def pictures(figure):
    return BeautifulSoup(figure.html(), "html.parser").select("figure > svg")


def squeezed(text):
    return re.sub(r"\s", "", text)


def test_names_are_text_and_stand_in_both_drawings_as_they_are(figure):
    used = [name for name in HOSTILE if name in figure.alt]
    assert len(used) >= 2
    for picture in pictures(figure):
        shown = squeezed("".join(text.get_text() for text in picture.find_all("text")))
        # Panels have no room for more of a name than its beginning and its end.
        assert [
            name
            for name in used
            if squeezed(name)[:12] not in shown or squeezed(name)[-12:] not in shown
        ] == []
        assert not picture.find_all(["script", "style", "metadata", "foreignobject", "image"])
        assert {text.get("fill", "") for text in picture.find_all("text")} == {""}


def test_drawings_share_no_ids_and_refer_only_into_themselves(figure):
    seen = []
    for picture in pictures(figure):
        ids = [tag["id"] for tag in picture.find_all(id=True)]
        values = [value for tag in picture.find_all(True) for value in tag.attrs.values()]
        used = {
            name for value in values for name in re.findall(r"^url\(#(.*)\)$|^#(.*)$", str(value))
        }
        assert {url or link for url, link in used} <= set(ids)
        assert used
        seen += ids
    assert len(seen) == len(set(seen)) > 0


# Names beside what they name


@given(st.lists(st.tuples(st.floats(-50, 150), st.floats(1, 30)), min_size=1, max_size=8))
def test_intervals_are_moved_apart_within_the_limits_and_no_further_than_needed(wished):
    wished.sort()
    centres, sizes = (np.array(column) for column in zip(*wished, strict=True))
    found = style.separated(centres, sizes, (0, 300))
    low, high = found - sizes / 2, found + sizes / 2
    assert (low[1:] - high[:-1] >= -1e-6).all()
    assert low.min() >= -1e-6
    assert high.max() <= 300 + 1e-6
    alone = (centres[:-1] + sizes[:-1] / 2 <= centres[1:] - sizes[1:] / 2).all()
    if alone and (centres - sizes / 2).min() >= 0:
        np.testing.assert_allclose(found, centres, atol=1e-6)


@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg"), ("csv", b'"')]
)
def test_a_figure_is_saved_by_the_ending_of_its_name_and_replaces_what_is_there(
    tmp_path, ending, begins
):
    def draw():
        drawing, axes = new_axes(3, 2)
        axes.plot([1, 2], [3, 4])
        return drawing

    data = pd.DataFrame({"x": [1, 2]}, index=["=a", "b"])
    figure = figure_of(draw, "line", "A line.", "n = 2", data, None)
    path = tmp_path / "new folder" / f"line.{ending.upper()}"
    shown = figure.html()
    for _ in range(2):
        assert figure.save(path) == path
        assert path.read_bytes().startswith(begins)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert figure.html() == shown, "what a page shows stays as it was"


def test_a_figure_is_saved_to_no_file_of_another_kind(tmp_path):
    figure = figure_of(lambda: new_axes(3, 2)[0], "line", "A line.", "n = 2", pd.DataFrame(), None)
    with naming.refused(tmp_path / "line.jpg", ".png, .pdf, .svg"):
        figure.save(tmp_path / "line.jpg")
    (tmp_path / "file").touch()
    with naming.refused(tmp_path / "file" / "line.png"):
        figure.save(tmp_path / "file" / "line.png")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


HOSTILE_TEXT = "</script><script>window.ran = 1</script></figure><!-- \u2028 \"'&amp;"
CHOICES = list(HEADLINES["relational_applicability"].choices)


def multiverse_of(estimates, headline="relational_applicability", reason="no participant"):
    """A multiverse with these estimates: the first specifications of the headline."""
    chosen = specifications(headline).iloc[: len(estimates)]
    numbers = np.asarray(estimates, dtype=float)
    unit = HEADLINES[headline].unit
    reasons = ["" if np.isfinite(number) else reason for number in numbers]
    return chosen.assign(
        estimate=numbers,
        low=numbers - 0.1,
        high=numbers + 0.1,
        n=1234,
        unit=unit,
        method="m",
        reason=reasons,
    )


def curve_of(table, published=0.25, name="relational_applicability"):
    figure = specification_curve(table, name=name, caption="n = 5.", published=published)
    assert isinstance(figure, SpecificationCurve)
    return figure, BeautifulSoup(figure._repr_html_(), "html.parser")


def content_of(page):
    return json.loads(page.find("script", type="application/json").string)


def test_the_embedded_table_is_the_multiverse_and_the_alternative_text_says_its_range():
    table = multiverse_of([0.3, 0.1, np.nan, 0.2])
    figure, page = curve_of(table)
    assert {picture["aria-label"] for picture in page.select("svg[role=img]")} == {figure.alt}
    naming.check(figure.alt, "3 of 4", "10.0%", "30.0%")
    content = content_of(page)
    options = {name: given for name, _, given in content["choices"]}
    assert list(options) == CHOICES
    assert len(content["rows"]) == len(table)
    for (codes, *numbers, n, words, place, _), (_, row) in zip(
        content["rows"], table.iterrows(), strict=True
    ):
        assert [options[name][code] for name, code in zip(options, codes, strict=True)] == row[
            CHOICES
        ].tolist()
        assert n == row["n"]
        for number, name in zip(numbers, ("estimate", "low", "high"), strict=True):
            assert number == (
                pytest.approx(row[name], rel=1e-5) if np.isfinite(row[name]) else None
            )
        assert (place is None) == np.isnan(row["estimate"])
        is_missing = np.isnan(row["estimate"])
        assert (row["reason"] if is_missing else f"{100 * row['estimate']:.1f}%") in words
    assert [row[6] for row in content["rows"]] == [2, 0, None, 1]


def test_the_first_specification_stands_there_without_a_script():
    _, page = curve_of(multiverse_of([0.3, 0.1, np.nan, 0.2]))
    naming.check(page.output.get_text(), "30.0% [20.0%, 40.0%], n = 1,234", "of 3", "25.0%: 2 of 3")
    assert page.output["aria-live"] == "polite"
    assert len(page.select("svg .sense7-here")) == 2, "on a wide page and on a phone"
    assert page.select("input, button, select") == [], (
        "what only a script can move is added by the script"
    )


def test_texts_of_a_workbook_are_inert():
    figure = specification_curve(
        multiverse_of([np.nan, 0.2], reason=HOSTILE_TEXT),
        name="relational_applicability",
        caption=HOSTILE_TEXT,
        published=0.25,
    )
    source = figure._repr_html_()
    assert source.count("</script") == source.count("<script") == source.count("</figure>") == 1
    page = BeautifulSoup(source, "html.parser")
    assert content_of(page)["rows"][0][5] == f"no estimate: {HOSTILE_TEXT}"
    assert HOSTILE_TEXT in page.output.get_text()
    assert HOSTILE_TEXT in page.figcaption.get_text()


def test_the_ranges_are_of_the_specifications_that_could_be_computed():
    tables = {
        "alpha": multiverse_of([0.3, np.nan, 0.1], "alpha"),
        "judge_spearman": multiverse_of([np.nan]),
    }
    figure = figures.specification_ranges(tables, {}, **COMMON)
    assert figure.data["estimate"].tolist() == [0.3, 0.1]
    assert "judge" not in figure.alt
    shown = figures.specification_ranges({"alpha": multiverse_of([np.nan], "alpha")}, {}, **COMMON)
    assert isinstance(shown, Sentence)


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


@pytest.mark.parametrize("kind", DRAWN)
def test_drawing_alt_text_and_data_say_whose_data_they_are(kind):
    figure = drawn(kind)
    label = "Source of the data not stated"
    assert all(
        squeezed(label) in squeezed("".join(text.get_text() for text in picture.find_all("text")))
        for picture in pictures(figure)
    )
    assert figure.alt.endswith(f" {label}.")
    assert set(figure.data["data"]) == {label}
    assert figure.file_name == "x-source-not-stated"


@pytest.mark.parametrize("label", studies())
def test_a_figure_of_a_study_says_what_its_data_are(label):
    figure = figures.intervals(table_of("ab"), label="share", source=studies()[label], **COMMON)
    label = label.strip()
    assert set(figure.data["data"]) == {label}
    assert label in pictures(figure)[0].get_text()
    color, other = figures.SIMULATED.colors[0], figures.RELEASED.colors[0]
    if not label.startswith("Simulated"):
        color, other = other, color
    assert color.lower() in figure.svg()
    assert other.lower() not in figure.svg()


def test_a_figure_of_several_sources_names_each_and_gives_each_its_color():
    sources = {"here": figures.SIMULATED, "iEval": figures.RELEASED, "paper": figures.PUBLISHED}
    figure = figures.forest(
        {"r": ({name: table_of("ab") for name in sources}, (0,))}, source=sources, **COMMON
    )
    for name, source in sources.items():
        assert source.colors[0].lower() in figure.svg()
        assert f"{name}: {source.label}" in figure.alt
        assert set(figure.data.loc[figure.data["series"] == name, "data"]) == {source.label}
    assert figure.file_name == "x-simulated-and-real-and-published"


def test_a_published_value_is_gray_and_its_line_is_named():
    figure = figures.forest({"r": (table_of("ab"), {"published": 0.25})}, **COMMON)
    naming.check(figure.alt, "r, ", "published 25.0%", "a: 50.0%")
    assert "#8c8c8c" in figure.svg()
    assert "published 25.0%" in pictures(figure)[0].get_text()


def test_a_row_that_a_series_lacks_has_no_mark_of_it():
    published = figures.published_values({"b": 0.25}, "which", "share of turns")
    figure = figures.intervals(
        {"here": table_of("ab"), "published": published}, label="share", **COMMON
    )
    assert "published: b: 25.0%." in figure.alt
    assert len(figure.data) == 3
