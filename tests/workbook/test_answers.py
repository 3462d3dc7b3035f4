"""From a cell to a level: what the official format or a reading file states for exactly its text, or none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.studies import parse_sheets
from sense7.taxonomy import LEVELS, TASK_COLUMNS, TURN_RATING, Column
from sense7.workbook.answers import level_of
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.reading import parse_reading

NONE = "{reading: 1}"
FIVE = "{reading: 1, defaults: {turn ratings: {scale: [1, 5]}}}"
SEVEN = "{reading: 1, defaults: {turn ratings: {scale: [1, 7]}}}"
REVERSED = "{reading: 1, exceptions: {Affective: {scale: [5, 1]}}}"
PERCENT = "{reading: 1, defaults: {turn ratings: {scale: [0, 1]}}}"
COMMA = '{reading: 1, decimal: ",", defaults: {turn ratings: {scale: [1, 5]}}}'
DUTCH = """
reading: 1
defaults:
  turn ratings:
    scale: [1, 7]
    categories: [{value: heel slecht, level: 1}, {value: no, level: 4}, {value: heel goed, level: 7}]
    missingValues:
      - {value: niet van toepassing, label: not applicable}
      - {value: zeg ik niet, label: declined}
      - "-99"
"""
CODED = "{reading: 1, defaults: {turn ratings: {categories: [{value: d, level: 2}]}}}"
CODES = "{reading: 1, missingValues: [NA, '8'], defaults: {turn ratings: {scale: [1, 5]}}}"

CELLS = [
    # reading file, cell, level or None, state
    *((NONE, word, level, "rated") for level, word in enumerate(LEVELS, 1)),
    (NONE, "  Very GOOD ", 5, "rated"),
    *((NONE, cell, None, "unreadable") for cell in ("very  good", "goods", "good!", "NA", 4.0)),
    (NONE, "unknown", None, "not rated"),
    (NONE, None, None, "absent"),
    (NONE, " \n", None, "absent"),
    (NONE, "4 - good", 4, "rated"),
    (NONE, "2 (good)", 4, "rated"),
    (FIVE, 4.0, 4, "rated"),
    (FIVE, "4.0", 4, "rated"),
    (FIVE, 2.5, 2.5, "rated"),
    (FIVE, 6.0, None, "unreadable"),
    (FIVE, "4,0", None, "unreadable"),
    (FIVE, "1e0", 1, "rated"),
    (FIVE, "4" * 400, None, "unreadable"),
    (FIVE, "\u0664", None, "unreadable"),
    (FIVE, "4/5", None, "unreadable"),
    (FIVE, "good (5)", 4, "rated"),
    (FIVE, "3 - neutral", 3, "rated"),
    (FIVE, "4 - neutral", 3, "rated"),
    (FIVE, "7 - good", None, "unreadable"),
    (FIVE, "1 (very good)", None, "against"),
    (FIVE, True, None, "unreadable"),
    (FIVE, math.inf, None, "unreadable"),
    (SEVEN, 3.0, 1 + 4 * 2 / 6, "rated"),
    (REVERSED, 1.0, 5, "rated"),
    (REVERSED, "1 (very good)", 5, "rated"),
    (REVERSED, "very good", 5, "rated"),
    (PERCENT, 0.35, 1 + 4 * 0.35, "rated"),
    (PERCENT, "35 %", None, "unreadable"),
    (COMMA, "4,0", 4, "rated"),
    (COMMA, "4.0", None, "unreadable"),
    (DUTCH, "heel goed", 5, "rated"),
    (DUTCH, "no", 3, "rated"),
    (DUTCH, "Niet van toepassing", None, "not rated"),
    (DUTCH, "9 (niet van toepassing)", None, "not rated"),
    (DUTCH, "zeg ik niet", None, "declined"),
    (DUTCH, -99.0, None, "absent"),
    (DUTCH, "good", None, "unreadable"),
    (CODED, "d", 2, "rated"),
    (CODED, 3.0, None, "unreadable"),
    (CODES, "NA", None, "absent"),
    (CODES, 8.0, None, "absent"),
    ("{reading: 1, missingValues: [good]}", "good", None, "absent"),
    (DUTCH, "unknown", None, "not rated"),
]


def answers_of(reading):
    return parse_reading(reading).answers_of(Column("Affective", "Affective", TURN_RATING))


@pytest.mark.parametrize(("reading", "cell", "level", "state"), CELLS)
def test_from_a_cell_to_a_level(reading, cell, level, state):
    decimal = parse_reading(reading).decimal
    found, found_state = level_of(cell, answers_of(reading), decimal)
    assert found_state == state
    assert found == pytest.approx(level) if level is not None else math.isnan(found)


WORDS = {"very poor": 1, "poor": 2, "neutral": 3, "good": 4, "very good": 5, "unknown": None}
BESIDE_A_WORD = " +-0123456789.,:;=/|()[]\u2013"
"""Signs of a number beside a word."""

ENDS = st.tuples(st.integers(-9, 9), st.integers(-9, 9)).filter(lambda ends: ends[0] != ends[1])


@given(
    ends=st.none() | ENDS,
    cell=st.none()
    | st.booleans()
    | st.floats()
    | st.dates()
    | st.integers(-20, 20).map(float)
    | st.integers(-20, 20).map(str)
    | st.sampled_from([*WORDS, "GOOD", " poor ", "fair", "4 - good", "-3 (poor)", "1e0", "n/a"])
    | st.text(max_size=8),
)
def test_a_level_is_stated_for_exactly_this_text_or_there_is_none(ends, cell):
    scale = f"{{scale: [{ends[0]}, {ends[1]}]}}" if ends else "{}"
    reading = f"{{reading: 1, defaults: {{turn ratings: {scale}}}}}"
    level, _ = level_of(cell, answers_of(reading))
    if math.isnan(level):
        return
    text = str(cell).strip()
    word = text.lower() if text.lower() in WORDS else text.lower().strip(BESIDE_A_WORD)
    stated = WORDS.get(word)
    if stated is None:
        assert not isinstance(cell, bool)
        assert min(ends) <= float(text) <= max(ends)
        stated = 1 + 4 * (float(text) - ends[0]) / (ends[1] - ends[0])
    assert level == pytest.approx(stated)
    assert 1 <= level <= 5


# A column of them


def refused(sheets, reading):
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(sheets, reading)
    return {
        (item.kind, item.column)
        for item in caught.value.diagnostics.of("error")
        if item.kind != "no-rating"
    }


def test_a_value_that_stands_three_times_is_declared_or_reading_stops(minimal_sheets):
    cells = [None, "good"] * 38 + [None, "splendid"] * 2
    sheets = minimal_sheets(conversations=20, messages={"Affective": cells})
    study = parse_sheets(sheets)
    assert study.turns["Affective_state"].value_counts()["unreadable"] == 2
    (warning,) = study.warnings
    assert (warning.kind, warning.column, warning.rows) == ("unreadable", "Affective", [79, 81])
    cells[1] = "splendid"
    sheets = minimal_sheets(conversations=20, messages={"Affective": cells})
    assert refused(sheets, NONE) >= {("undeclared", "Affective")}


def test_more_than_the_largest_share_stops_too_and_the_share_is_declared(minimal_sheets):
    cells = [None, "good", None, "splendid"] + [None, "good"] * 6
    sheets = minimal_sheets(messages={"Affective": cells}, tasks=dict.fromkeys(NUMBERS))
    assert refused(sheets, NONE) == {("undeclared", "Affective")}
    study = parse_sheets(sheets, "{reading: 1, unreadable: 0.2}")
    assert [warning.kind for warning in study.warnings] == ["unreadable"]


NUMBERS = [column.official for column in TASK_COLUMNS if column.scale]


def test_numbers_of_ones_own_need_a_line_in_every_sheet(minimal_sheets):
    sheets = minimal_sheets(messages={"Interest": 4.0})
    found = refused(sheets, NONE)
    assert ("undeclared", "Interest") in found
    assert ("undeclared", "PostTaskEmpathy_Relational") in found
    assert parse_sheets(sheets).turns["Interest"].eq(4).all()


def test_numbers_against_their_words_stop_reading(minimal_sheets):
    cells = [None, "1 (very good)"] * 8
    sheets = minimal_sheets(messages={"Affective": cells})
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(sheets, FIVE)
    errors = caught.value.diagnostics.of("error")
    (against,) = [error for error in errors if error.kind == "number-against-word"]
    assert (against.column, against.rows) == ("Affective", [3])
    reading = "{reading: 1, defaults: {turn ratings: {scale: [5, 1]}}}"
    sheets = minimal_sheets(messages={"Affective": cells}, tasks=dict.fromkeys(NUMBERS))
    assert parse_sheets(sheets, reading).turns["Affective"].eq(5).all()


@pytest.mark.parametrize(("scale", "rescaled"), [("[1, 5]", set()), ("[1, 7]", {"Interest"})])
def test_words_are_rescaled_with_their_scale_unless_it_is_of_five(minimal_sheets, scale, rescaled):
    entry = f"{{scale: {scale}, categories: [{{value: c, level: 3}}]}}"
    sheets = minimal_sheets(messages={"Interest": [None, "c"] * 8}, tasks=dict.fromkeys(NUMBERS))
    study = parse_sheets(sheets, f"{{reading: 1, exceptions: {{Interest: {entry}}}}}")
    assert set(study.rescaled["column"]) == rescaled
    level = 1 + 4 * 2 / (6 if rescaled else 4)
    assert study.turns["Interest"].iloc[0] == pytest.approx(level)


def test_an_eighth_rating_is_kept_and_not_analysed(minimal_sheets):
    sheets = minimal_sheets(messages={"Warmth": [None, "good"] * 8, "Note": [None, "x"] * 8})
    study = parse_sheets(sheets)
    assert study.turns["Warmth"].tolist() == ["good"] * 8
    assert {item.column for item in study.diagnostics if item.kind == "unknown-column"} == {
        "Warmth",
        "Note",
    }
    assert "Warmth" not in study.rated_dimensions
