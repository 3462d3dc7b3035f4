"""Workbooks on other scales and in other spellings: the table of the page of the format, row by row.

Each row of that table names a workbook, the options given, what happens and what the user is told. Here each is made
and read; the mean of the overall rating is computed from the cells by hand.
"""

import datetime as dt
import re
import shlex
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from sense7.errors import UserError
from sense7.findings import measures, ratings
from sense7.loading import load
from sense7.study import NOT_RATED, RATED, UNREADABLE
from sense7.taxonomy import (
    AGREEMENT,
    DESIRED_EMPATHY,
    DIMENSION_NAMES,
    DIMENSIONS,
    IMPORTANCE,
    LEVELS,
    MESSAGE_COLUMNS,
    POST_EMPATHY,
    TASK_COLUMNS,
    TURN_RATING,
    normalise_name,
    normalise_word,
)
from sense7.workbook import ReadingOptions, Sheet, WorkbookError, parse_sheets, write_sheets
from sense7.workbook.options import Interval
from sense7.workbook.scales import Question, choose_vocabulary, languages

PAGE = Path(__file__).resolve().parents[2] / "book" / "format.md"
TURN_RATINGS = ("EmpathyOverall", *DIMENSION_NAMES)
POST_RATINGS = tuple(f"PostTaskEmpathy_{name}" for name in DIMENSION_NAMES)
OTHER_QUESTIONS = (
    "PreTaskImportance",
    *(column.official for column in TASK_COLUMNS if "Experience" in column.official),
)
LEVELS_OF_TURNS = [5, 4, 1, 3, 2, 5, 4, 3, 2, 4] * 6
"""Level of the overall rating of each of 60 turns; the dimensions follow it, one of them a level apart at times."""

SEVEN_WORDS = (
    "strongly disagree", "disagree", "somewhat disagree", "neutral", "somewhat agree", "agree", "strongly agree",
)  # fmt: skip
WORDS = {
    "German": ["sehr schlecht", "schlecht", "neutral", "gut", "sehr gut"],
    "French": ["très mauvais", "mauvais", "moyen", "bon", "très bon"],
    "Spanish": ["muy malo", "malo", "regular", "bueno", "muy bueno"],
    "Portuguese": ["muito ruim", "ruim", "regular", "bom", "muito bom"],
    "Chinese": ["很差", "差", "一般", "好", "很好"],
    "Japanese": ["とても悪い", "悪い", "普通", "良い", "とても良い"],
    "Dutch": ["heel slecht", "slecht", "gaat wel", "goed", "heel goed"],
}
DUTCH = "\n".join(f"{word}: {level}" for level, word in enumerate(WORDS["Dutch"], 1))
SEVEN = "\n".join(f"{word}: {level}" for level, word in enumerate(SEVEN_WORDS, 1))


# --- workbooks ---------------------------------------------------------------------------


def turn_levels(column):
    """Levels of a column: those of the overall rating, every seventh one a level lower."""
    shift = TURN_RATINGS.index(column)
    return [
        max(1, level - (shift > 0 and (index + shift) % 7 == 0))
        for index, level in enumerate(LEVELS_OF_TURNS)
    ]


def sheets_with(minimal_sheets, cell_of, tasks=(), scales=None):
    """A workbook of 12 conversations with 5 rated turns each, whose ratings are ``cell_of(level, place)``."""
    messages = {}
    for column in TURN_RATINGS:
        cells = [cell_of(level, place) for place, level in enumerate(turn_levels(column))]
        messages[column] = [cell for rating in cells for cell in (None, rating)]
    asked_after = {
        name: [cell_of(LEVELS_OF_TURNS[n], n + 13) for n in range(12)] for name in POST_RATINGS
    }
    tasks = dict.fromkeys(OTHER_QUESTIONS) | asked_after | dict(tasks)
    further = [Sheet("Scales", ["column", "scale"], scales)] if scales else []
    return minimal_sheets(
        tasks=tasks, messages=messages, conversations=12, turns=5, further=further
    )


def numbers(lowest, highest):
    """Levels 1..5 spread over a scale; in whole numbers where the scale has more levels, every one of them is used."""

    def cell(level, place):
        exact = lowest + (level - 1) * (highest - lowest) / 4
        steps = abs(highest - lowest)
        if steps == 4:
            return float(exact)
        whole = float(np.floor(exact + 0.5 * (place % 2)))
        return float(min(max(whole, lowest), highest))

    return cell


def words(of):
    return lambda level, place: of[level - 1]


def seven_words(level, place):
    return SEVEN_WORDS[int(numbers(1, 7)(level, place)) - 1]


def half_steps(level, place):
    return level - 0.5 if level > 1 and place % 3 == 0 else float(level)


def words_and(scale):
    return lambda level, place: LEVELS[level - 1] if place % 2 else numbers(*scale)(level, place)


def with_strays(share, stray):
    return lambda level, place: stray if place % round(1 / share) == 0 else float(level)


def plain(level, place):
    return float(level)


CELLS = {
    "numbers from 1 to 5": plain,
    "words of the official scale": words(LEVELS),
    "the number 0 or 1": numbers(0, 1),
    "numbers from 0 to 4": numbers(0, 4),
    "numbers from 0 to 10": numbers(0, 10),
    "numbers from 1 to 4": lambda level, place: float(min(level, 4)),
    "numbers from 1 to 6": numbers(1, 6),
    "numbers from 1 to 7": numbers(1, 7),
    "numbers from 1 to 10": numbers(1, 10),
    "numbers from 0 to 100": numbers(0, 100),
    "numbers from -3 to 3": numbers(-3, 3),
    "percentages as text": lambda level, place: f"{25 * (level - 1)} %",
    "half steps from 1 to 5": half_steps,
    "German words": words(WORDS["German"]),
    "French words": words(WORDS["French"]),
    "Spanish words": words(WORDS["Spanish"]),
    "Portuguese words": words(WORDS["Portuguese"]),
    "Chinese words": words(WORDS["Chinese"]),
    "Japanese words": words(WORDS["Japanese"]),
    "words in an unknown language": words(WORDS["Dutch"]),
    "seven levels in words": seven_words,
    "words and numbers from 1 to 5": words_and((1, 5)),
    "words and numbers from 1 to 7": words_and((1, 7)),
    "numbers with their words": lambda level, place: f"{level} - {LEVELS[level - 1]}",
    "numbers against their words": lambda level, place: f"{6 - level} - {LEVELS[level - 1]}",
    "numbers from 5 (least) to 1 (most)": lambda level, place: float(6 - level),
    "dates, as a spreadsheet makes of 4-5": lambda level, place: dt.date(2026, 5, level),
    "R's NA for missing values": lambda level, place: "NA" if place % 5 == 0 else float(level),
    "some cells that are no answer": with_strays(1 / 60, "oops"),
    "many cells that are no answer": with_strays(0.1, "oops"),
}


def percent_cells(path, minimal_sheets):
    """Excel's percentages: the value 1.0 is shown as 100 %."""
    write_sheets(sheets_with(minimal_sheets, lambda level, place: (level - 1) / 4), path)
    book = openpyxl.load_workbook(path)
    sheet = book["Messages"]
    for column in sheet.iter_cols():
        if column[0].value in TURN_RATINGS:
            for cell in column[1:]:
                cell.number_format = "0%"
    book.save(path)


def one_number_off(path, minimal_sheets):
    sheets = sheets_with(minimal_sheets, plain)
    sheets["Messages"].rows[1][sheets["Messages"].header.index("Interest")] = 55.0
    write_sheets(sheets, path)


def sheet_scales(path, minimal_sheets):
    declared = [[column, "1-7"] for column in TURN_RATINGS + POST_RATINGS]
    write_sheets(sheets_with(minimal_sheets, numbers(1, 7), scales=declared), path)


def respelt(sheet, column, respell):
    """Make a workbook in which every third row of a column is spelled in another way."""

    def write(path, minimal_sheets):
        sheets = sheets_with(minimal_sheets, plain)
        place = sheets[sheet].header.index(column)
        for row in sheets["Tasks"].rows:
            row[0] = row[0].replace("P", "P\u00e9 -")
        for row in sheets["Participants"].rows:
            row[0] = row[0].replace("P", "P\u00e9 -")
        for number, row in enumerate(sheets[sheet].rows):
            if number % 3 == 0:
                row[place] = respell(row[place])
        write_sheets(sheets, path)

    return write


SPECIAL = {
    "conditions in two cases": respelt("Tasks", "Model", str.upper),
    "participants in two Unicode forms": respelt(
        "Tasks", "PID", lambda name: unicodedata.normalize("NFD", name)
    ),
    "participants with invisible characters": respelt("Tasks", "PID", lambda name: f"{name}\u200b"),
    "participants with further blanks": respelt(
        "Tasks", "PID", lambda name: f" {name.replace(' ', chr(160))}"
    ),
    "participants with other dashes": respelt(
        "Tasks", "PID", lambda name: name.replace("-", "\u2011")
    ),
    "participants with a letter of another alphabet": respelt(
        "Tasks", "PID", lambda name: name.replace("P", "\u0420")
    ),
    "participants in two cases": respelt("Participants", "PID", str.lower),
    "cells formatted as percentages": percent_cells,
    "a single number off the scale": one_number_off,
    "numbers from 1 to 7 and a sheet Scales": sheet_scales,
}


def write_workbook(name, path, minimal_sheets):
    if name in SPECIAL:
        SPECIAL[name](path, minimal_sheets)
    else:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for sheet in sheets_with(minimal_sheets, CELLS[name]).values():
            page = book.create_sheet(sheet.name)
            for row in (sheet.header, *sheet.rows):
                page.append(row)
        book.save(path)
    (path.parent / "dutch.yml").write_text(DUTCH, encoding="utf-8")
    (path.parent / "seven.yml").write_text(SEVEN, encoding="utf-8")


# --- the table -----------------------------------------------------------------------------


def table_rows():
    """Rows of the page's table: workbook, options, what happens, what is told."""
    section = (
        PAGE.read_text(encoding="utf-8")
        .split("What happens to each kind of scale")[1]
        .split("\n:::")[0]
    )
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


ROWS = table_rows()


def options_of(text, folder):
    """Keyword arguments of ``load`` for options as they stand in the table."""
    words = shlex.split(text.strip("`")) if text != "none" else []
    given = {"scale": [], "words": None, "allow_unreadable": "--allow-unreadable" in words}
    for option, value in pairwise(words):
        if option == "--scale":
            given["scale"].append(value)
        elif option == "--words":
            given["words"] = folder / value
    return given


def expected_mean(name, options):
    """Mean of the overall rating on 1..5, from the cells and the declared ends."""
    scale = next((one for one in options["scale"] if "=" not in one), "1-5")
    lowest, highest = (
        float(end) for end in re.fullmatch(r"(-?\d+)(?:-|\.\.)(-?\d+)", scale).groups()
    )
    if name == "cells formatted as percentages":
        values = [(level - 1) / 4 for level in LEVELS_OF_TURNS]
    elif name == "numbers from 1 to 7 and a sheet Scales":
        lowest, highest = 1, 7
        values = [numbers(1, 7)(level, place) for place, level in enumerate(LEVELS_OF_TURNS)]
    elif name == "seven levels in words":
        values = [numbers(1, 7)(level, place) for place, level in enumerate(LEVELS_OF_TURNS)]
    elif name == "percentages as text":
        values = [25 * (level - 1) for level in LEVELS_OF_TURNS]
    else:
        cells = [
            CELLS.get(name, plain)(level, place) for place, level in enumerate(LEVELS_OF_TURNS)
        ]
        of_word = (
            all(isinstance(cell, str) and cell not in {"NA", "oops"} for cell in cells)
            or "words and" in name
        )
        values = LEVELS_OF_TURNS if of_word else [cell for cell in cells if isinstance(cell, float)]
    return np.mean([1 + 4 * (value - lowest) / (highest - lowest) for value in values])


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}, {row[1]}" for row in ROWS])
def test_what_the_page_promises_of_a_workbook_happens(row, tmp_path, minimal_sheets):
    name, options, happens, told = row
    path = tmp_path / "mine.xlsx"
    write_workbook(name, path, minimal_sheets)
    given = options_of(options, tmp_path)
    fragments = re.findall(r"`([^`]+)`", told)
    if happens == "refused":
        with pytest.raises(UserError) as error:
            load(path, **given)
        message = str(error.value)
    else:
        study = load(path, **given)
        assert study.turns["overall"].mean() == pytest.approx(expected_mean(name, given), abs=1e-12)
        # The first two conversations are of one person, whose name has the other letter in the first alone.
        people = 12 if name == "participants with a letter of another alphabet" else 11
        assert study.conversations["participant"].nunique() == people
        assert study.conversations["condition"].nunique() == (
            4 if name == "conditions in two cases" else 2
        )
        message = "\n".join(map(str, study.diagnostics))
        assert bool(study.diagnostics) == (happens not in {"read", "rescaled"}), message
        assert bool(len(study.rescaled)) == (
            given["scale"] not in ([], ["1-5"]) or "sheet Scales" in name
        )
    for fragment in fragments:
        assert fragment in message, message


def test_every_workbook_stands_in_the_table_and_the_other_way_round():
    assert {row[0] for row in ROWS} == CELLS.keys() | SPECIAL.keys()
    assert len(ROWS) >= 40


def test_every_language_that_is_bundled_stands_in_the_table():
    assert {row[0].removesuffix(" words") for row in ROWS} >= set(languages())


# --- unreadable is a state of its own --------------------------------------------------------


def test_unreadable_answers_stand_in_no_denominator_of_applicability(minimal_sheets):
    import sense7 as s7

    cells = ["unknown", "oops", 5.0, None] * 15
    columns = {"Affective": [cell for rating in cells for cell in (None, rating)]}
    sheets = minimal_sheets(messages=columns, conversations=12, turns=5)
    study = parse_sheets(sheets, options=ReadingOptions(allow_unreadable=True))
    states = study.turns["Affective_state"]
    assert [(states == state).sum() for state in (RATED, NOT_RATED, UNREADABLE)] == [15, 15, 15]
    bootstrap = s7.ParticipantBootstrap(study.conversations["participant"], 50, 1)
    row = ratings.applicability(study, bootstrap).loc["Affective"]
    assert (row["estimate"], row["n"]) == (15 / 45, 45)
    counts = ratings.level_counts(study).loc["Affective"]
    assert (counts["not rated"], counts["absent"], counts["unreadable"]) == (15, 15, 15)
    assert study.columns.set_index("column").loc["Affective", "unreadable"] == 15


def test_a_turn_of_which_no_answer_can_be_read_was_not_put_to_rating(minimal_sheets):
    messages = {name: [None, "oops", None, 4.0] * 4 for name in TURN_RATINGS}
    study = parse_sheets(
        minimal_sheets(messages=messages), options=ReadingOptions(allow_unreadable=True)
    )
    assert len(study.turns_put_to_rating) == 4


# --- how options are given -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ends"),
    [("1-7", (1, 7)), ("0..100", (0, 100)), ("-3..3", (-3, 3)), ("5-1", (5, 1)), ("1\u20137", (1, 7)),
     ("0 to 10", (0, 10)), ("0.5-5", (0.5, 5)), ("-3-3", (-3, 3)), ("0-100%", (0, 100))],
)  # fmt: skip
def test_a_scale_is_given_by_its_ends(text, ends):
    assert ReadingOptions.of(text).scales["all"] == Interval(*ends)


@pytest.mark.parametrize("text", ["", "7", "1-", "a-b", "1-1", "1-7-9", "1e3-2", "--1-7"])
def test_what_is_no_scale_is_refused(text):
    with naming.refused(repr(text), "--scale"):
        ReadingOptions.of([text])


def test_options_come_from_files_and_a_column_comes_before_all(tmp_path):
    (tmp_path / "scale.yml").write_text("all: 1-7\npretaskimportance: 0-10\n", encoding="utf-8")
    options = ReadingOptions.of(tmp_path / "scale.yml")
    assert options.scale_of("PreTaskImportance", 5) == Interval(0, 10)
    assert options.scale_of("Affective", 5) == Interval(1, 7)
    assert options.scale_of("PreTaskDesiredEmpathy", 3) is None


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        ("- 1-7", ""),
        ("Warmth: 1-7", "'Warmth'"),
        ("all: wide", "'wide'"),
        ("Affective: [1, 7]", "[1, 7]"),
    ],
)
def test_a_broken_file_of_scales_is_refused_with_its_name(tmp_path, content, entry):
    path = tmp_path / "scale.yml"
    path.write_text(content, encoding="utf-8")
    with naming.refused(path, entry):
        ReadingOptions.of(path)


def test_a_file_that_is_no_yaml_is_refused_with_its_name(tmp_path):
    (tmp_path / "scale.yml").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"scale\.yml: .*YAML.* line 1, column 2"):
        ReadingOptions.of(tmp_path / "scale.yml")


@pytest.mark.parametrize(
    ("content", "entry"),
    [("goed: five", "'goed': 'five'"), ("yes: 5", "True: 5"),
     ("Warmth: {goed: 4}", "'Warmth'"), ("goed: true", "'goed': True")],
)  # fmt: skip
def test_a_broken_file_of_words_is_refused_with_its_name(tmp_path, content, entry):
    path = tmp_path / "words.yml"
    path.write_text(content, encoding="utf-8")
    with naming.refused(path, entry):
        ReadingOptions.of(None, path)


def test_options_lie_beside_a_workbook_and_come_back_as_they_were(tmp_path):
    options = ReadingOptions.of(
        ["1-7", "Affective=5-1"], {"goed": 4, "geen mening": "unknown"}, allow_unreadable=True
    )
    options.write_beside(tmp_path / "mine.xlsx")
    assert ReadingOptions.beside(tmp_path / "mine.xlsx") == options
    assert options.digest("abc") != "abc"
    assert ReadingOptions().digest("abc") == "abc"


@pytest.mark.parametrize("ends", ["0-1000000", "0.1234567-1", "-0.5..2500000.25"])
def test_the_ends_of_a_scale_lose_no_digit_on_the_way_to_a_file_and_back(tmp_path, ends):
    options = ReadingOptions.of(ends)
    options.write_beside(tmp_path / "mine.xlsx")
    assert ReadingOptions.beside(tmp_path / "mine.xlsx") == options
    assert ReadingOptions.of(options.scales) == options


def test_a_workbook_is_read_by_the_options_beside_it(tmp_path, minimal_sheets):
    path = tmp_path / "mine.xlsx"
    write_workbook("numbers from 1 to 7", path, minimal_sheets)
    with pytest.raises(WorkbookError):
        load(path)
    ReadingOptions.of("1-7").write_beside(path)
    assert len(load(path).rescaled) == len(TURN_RATINGS + POST_RATINGS + OTHER_QUESTIONS)


@pytest.mark.parametrize(
    ("row", "message"), [(["Warmth", "1-7"], "row 2: 'Warmth'"), (["Affective", "x"], "row 2")]
)
def test_a_wrong_row_of_the_sheet_scales_is_named(minimal_sheets, row, message):
    with pytest.raises(UserError, match=message):
        parse_sheets(minimal_sheets(further=[Sheet("Scales", ["column", "scale"], [row])]))


@pytest.mark.parametrize(
    "rows", [[["Affective", "1-7"], ["affective ", "1-9"]], [["all", "1-7"], ["All", "7-1"]]]
)
def test_two_scales_of_one_column_are_refused(minimal_sheets, rows):
    with naming.refused("sheet Scales, row 3", rows[0][0], "1 to 7"):
        parse_sheets(minimal_sheets(further=[Sheet("Scales", ["column", "scale"], rows)]))
    with naming.refused("--scale", rows[0][0], "1 to 7"):
        ReadingOptions.of([f"{column}={scale}" for column, scale in rows])
    twice = ReadingOptions.of([f"{column}=1-7" for column, _ in rows])
    assert twice == ReadingOptions.of(f"{rows[0][0]}=1-7")


def test_two_numbers_of_one_word_are_refused():
    with naming.refused("words: ", "'GOOD '", 4, 5):
        ReadingOptions.of(words={"good": 4, "GOOD ": 5})
    both = ReadingOptions.of(words={"Affective": {"good": 4}, "Interest": {"Good": 5}})
    assert both.words == {"Affective": {"good": 4.0}, "Interest": {"good": 5.0}}


def test_numbers_for_missing_answers_add_up_over_the_rows_of_a_sheet(minimal_sheets):
    rows = [["Affective", 98.0], ["Affective", 99.0]]
    cells = [None, 98.0, None, 99.0] * 4
    scales = Sheet("Scales", ["column", "missing"], rows)
    study = parse_sheets(minimal_sheets(messages={"Affective": cells}, further=[scales]))
    assert set(study.turns["Affective_state"]) == {"absent"}


def test_statistics_that_do_not_depend_on_the_unit_are_those_of_the_original_scale(minimal_sheets):
    import sense7 as s7

    study = parse_sheets(
        sheets_with(minimal_sheets, numbers(1, 7)), options=ReadingOptions.of("1-7")
    )
    given = np.array(
        [
            [numbers(1, 7)(level, place) for place, level in enumerate(turn_levels(column))]
            for column in DIMENSION_NAMES
        ]
    ).T
    covariance = np.cov(given, rowvar=False)
    alpha = 7 / 6 * (1 - np.trace(covariance) / covariance.sum())
    bootstrap = s7.ParticipantBootstrap(study.conversations["participant"], 50, 1)
    assert s7.cronbach_alpha(measures.turn_ratings(study)) == pytest.approx(alpha, abs=1e-12)
    means = ratings.mean_levels(study, bootstrap)
    naming.check(means.loc["Affective", "method"], f"{given[:, 0].mean():.2f}")


# Which scale a column's numbers are on


@pytest.mark.parametrize(
    ("numbers", "likely"),
    [
        ({1: 10, 2: 10, 3: 10, 4: 10, 5: 10}, None),
        ({1: 10, 2: 10, 3: 10, 5: 10, 6: 2}, None),  # fewer than three
        ({3: 57, 5: 1, 6: 3}, None),  # 3 of 61: at most 5 %
        ({3: 57, 5: 1, 6: 4}, "1-6"),  # 4 of 62: more
        ({0: 1, 3: 10, 4: 9}, "0-4"),  # zeros and, among 20, no 5
        ({0: 1, 3: 10, 4: 8}, None),  # among 19
        ({0: 1, 3: 10, 4: 8, 5: 1}, None),
    ],
)
def test_a_foreign_scale_is_told_from_slips_by_how_many_there_are(numbers, likely):
    forms = (float, str)  # the same number is counted once, however the file holds it
    cells = [
        forms[place % 2](number) for number, count in numbers.items() for place in range(count)
    ]
    question = Question(
        next(one for one in MESSAGE_COLUMNS if one.official == "Interest"), cells, ReadingOptions()
    )
    question.use(choose_vocabulary(question.scale, question.unknown_words))
    found = question.refusal([])
    assert (found and found[1]["likely"]) == likely


def test_options_say_what_was_declared():
    options = ReadingOptions.of(["1-7", "Affective=5-1"], {"goed": 4}, allow_unreadable=True)
    naming.check(options, "all: 1 to 7", "Affective: 5 to 1")
    assert str(ReadingOptions()) == ""


# Which word and which number is which level

SCALES = [TURN_RATING, AGREEMENT, POST_EMPATHY, IMPORTANCE, DESIRED_EMPATHY]


def test_the_seven_dimensions_are_those_of_the_release():
    assert DIMENSION_NAMES == (
        "Affective",
        "Cognitive",
        "Response",
        "Prosocial",
        "Interest",
        "Contextual",
        "Relational",
    )
    assert {dimension.group for dimension in DIMENSIONS} == {
        "affective",
        "cognitive",
        "motivational",
    }


def test_official_turn_ratings_are_exactly_five_words():
    assert TURN_RATING.tables[0] == {word: level for level, word in enumerate(LEVELS, 1)}
    assert TURN_RATING.not_rated == {"unknown", "not applicable"}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_a_vocabulary_has_every_level_and_no_word_twice(scale):
    for vocabulary in scale.vocabularies:
        words = [word for level in vocabulary for word in level]
        assert len(vocabulary) == scale.size
        assert len(words) == len(set(words))
        assert all(word == normalise_word(word) for word in words)
        assert not scale.not_rated & set(words)


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
@pytest.mark.parametrize(
    "form", ["{n}", " {n} ", "{n}.0", "{n} - {w}", "{n}: {w}", "{n}. {w}", "({n}) {w}", "{w} ({n})"]
)
def test_a_number_beside_a_word_is_split_off(scale, form):
    text = form.format(n=2, w="Somewhat So")
    assert scale.split_number(text) == (2.0, "somewhat so" if "{w}" in form else "")


@pytest.mark.parametrize(
    ("answers", "word", "level"),
    [
        ({"good": 96, "fair": 4}, "fair", None),  # official words, a slip
        (
            {"very poor": 3, "neutral": 6, "excellent": 2},
            "excellent",
            None,
        ),  # official words, and no list has all
        ({"very poor": 3, "good": 6, "excellent": 2}, "excellent", 5),
        (
            {"poor": 1, "fair": 4, "good": 2, "very good": 1, "excellent": 4},
            "good",
            3,
        ),  # another scale
        ({"very poor": 2, "poor": 1, "fair": 9, "good": 3, "very good": 1}, "fair", 3),
        ({"strongly agree": 5, "disagree": 1}, "disagree", 2),
        ({"neutral": 1}, "neutral", 3),
        ({}, "very good", 5),
    ],
)
def test_turn_ratings_stay_official_while_most_answers_are(answers, word, level):
    vocabulary = choose_vocabulary(TURN_RATING, Counter(answers))
    assert vocabulary.doubt is None
    assert vocabulary.levels.get(word) == level


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ({"very important": 2, "extremely important": 1}, 4),
        ({"very important": 2, "moderately important": 1, "important": 1}, 5),
        ({"very important": 2}, 4),
    ],
)
def test_a_word_of_two_scales_is_read_by_its_neighbours(answers, level):
    vocabulary = choose_vocabulary(IMPORTANCE, Counter(answers))
    assert (vocabulary.doubt, vocabulary.levels["very important"]) == (None, level)


@given(st.text())
def test_normal_forms_are_stable(text):
    assert normalise_word(normalise_word(text)) == normalise_word(text)
    assert normalise_name(normalise_name(text)) == normalise_name(text)
