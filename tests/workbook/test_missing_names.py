"""Names and ids in place of which a word or a number says that there is none: blank, or told; never one more name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.workbook import parse_sheets
from sense7.workbook.diagnostics import NOTICE, WARNING
from sense7.workbook.scales import NO_NAME, PERHAPS_NO_NAME

FRAME_COLUMNS = {"PID": "participant", "Model": "condition", "PreTaskChoice": "topic"}
WORDS = [
    "NA",
    "None",
    "none",
    "-",
    "\u2014",
    "?",
    ".",
    "Unknown",
    "unbekannt",
    "k.A.",
    "keine Angabe",
    "anonymous",
]
WORDS += ["nil", "NaT", "missing", "not available", "TBD", "\u672a\u77e5", "inconnu", "undefined"]
BLANKS = [
    "#N/A",
    "#NV",
    "#N/D",
    "n/a",
    "N/A",
    "NULL",
    "nan",
    "NaN",
    "<NA>",
    "(blank)",
    "(leer)",
    "[null]",
]
BLANKS += ["#NAME?", "#REF!", "#BEZUG!", "#DIV/0!"]


@pytest.fixture(scope="module")
def read(minimal_sheets):
    def read(column, cells):
        return parse_sheets(minimal_sheets(participants=None, tasks={column: cells}))

    return read


def told_about(study, column):
    return [item for item in study.diagnostics if item.column == column]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("column", FRAME_COLUMNS)
def test_a_word_that_may_say_that_there_is_none_is_a_name_and_told(read, column, word):
    study = read(column, [word, "B", word, "B"])
    assert study.conversations[FRAME_COLUMNS[column]].nunique() == 2
    [told] = [item for item in told_about(study, column) if item.kind == "perhaps-missing"]
    assert told.rows == (2, 4)
    assert told.severity == (NOTICE if column == "PreTaskChoice" else WARNING)


@pytest.mark.parametrize("word", BLANKS)
def test_what_programs_write_for_none_is_no_condition_and_no_topic(read, word):
    for column in ("Model", "PreTaskChoice"):
        study = read(column, [word, "B", word, "B"])
        names = study.conversations[FRAME_COLUMNS[column]]
        assert names.dropna().unique().tolist() == ["B"]
        [told] = [item for item in told_about(study, column) if item.kind == "missing-name"]
        assert told.rows == (2, 4)
    assert read("PID", [word, "B", word, "B"]).conversations["participant"].nunique() == 3


@given(
    word=st.sampled_from(sorted(NO_NAME | PERHAPS_NO_NAME)),
    column=st.sampled_from([*FRAME_COLUMNS]),
)
def test_no_word_for_none_is_read_without_a_word_to_the_user(read, word, column):
    assert told_about(read(column, [word.upper(), "B", f" {word}", "B"]), column)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ([1.0, 1.0, 999.0, 999.0], None),
        ([1.0, 2.0, 999.0, 999.0], 999),
        (["1", "2", "-99", "-99"], -99),
        (["A", "B", 99.0, 99.0], 99),
        (["A", "B", 9.0, 9.0], None),
        ([96.0, 97.0, 98.0, 99.0], None),
    ],
)
@pytest.mark.parametrize("column", ["PID", "Model"])
def test_a_number_apart_from_all_others_may_say_that_there_is_none(read, column, names, code):
    told = [
        item for item in told_about(read(column, names), column) if item.kind == "perhaps-missing"
    ]
    assert [(item.value, item.rows) for item in told] == ([(str(code), (4, 5))] if code else [])


def test_an_id_that_stands_once_is_one_participant_anyway(read):
    assert not told_about(read("PID", ["NA", "B", "C", "C"]), "PID")


@pytest.mark.parametrize(
    ("word", "answer", "kind"), [("NA", "NA", "perhaps-missing"), ("#N/A", None, "missing-name")]
)
def test_answers_of_participants_that_say_none_are_told(minimal_sheets, word, answer, kind):
    sheets = minimal_sheets(participants={"Age": ["young", word, "old"]})
    study = parse_sheets(sheets)
    assert study.participants["Age"].tolist() == ["young", answer, "old"]
    [told] = study.diagnostics
    assert (told.severity, told.kind, told.rows) == (NOTICE, kind, (3,))
