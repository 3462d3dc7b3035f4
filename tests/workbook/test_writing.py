"""The template: empty it is refused, filled in it is read."""

import openpyxl
import pytest

from helpers import naming
from sense7.taxonomy import CORE_COLUMNS
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.reading import usual_words
from sense7.workbook.sheets import read_workbook
from sense7.workbook.writing import write_template


@pytest.fixture
def path(tmp_path):
    return write_template(tmp_path / "new" / "mine.xlsx")


def fill(path, *, participants=True):
    """Write two example conversations as a person would, by another program."""
    book = openpyxl.load_workbook(path)
    answers = ["4", "Moderate", *["Agree"] * 4, *["Good"] * 7]
    for number, model in ((1, "plain"), (2, "plain-empathy")):
        book["Tasks"].append([f"P{number}", model, f"C{number}", "a topic", *answers])
        book["Messages"].append([f"C{number}", 1, 0, "user", "Hello"])
        ratings = ["Very good", *["Good"] * 6, "Unknown"]
        book["Messages"].append([f"C{number}", 2, 5, "assistant", "Hello!", None, *ratings, "kind"])
        if participants:
            book["Participants"].append([f"P{number}", 30 + number, "woman"])
    book.save(path)


def test_empty_it_is_refused_with_what_is_to_be_filled(path):
    with pytest.raises(WorkbookError) as caught:
        read_workbook(path)
    assert {diagnostic.kind for diagnostic in caught.value.diagnostics.of("error")} == {
        "no-conversation",
        "no-rating",
    }
    naming.check(caught.value, path, "sheet Tasks", "sheet Messages", "sense7 judge run")


def test_filled_in_it_is_read_without_a_diagnostic(path):
    fill(path)
    study = read_workbook(path)
    assert len(study.conversations) == 2
    assert study.turns["overall"].tolist() == [5.0, 5.0]
    assert study.turns["Relational_state"].tolist() == ["not rated", "not rated"]
    assert study.conversations["desired_empathy"].tolist() == [2.0, 2.0]
    assert study.participants["Age"].tolist() == [31.0, 32.0]


def test_a_note_says_each_level_of_an_answer(path):
    book = openpyxl.load_workbook(path)
    for name, columns in CORE_COLUMNS.items():
        for position, column in enumerate(columns, 1):
            cell = book[name].cell(1, position)
            assert cell.comment is not None, cell.value
            words = usual_words(column.scale.name) if column.scale else ()
            for level, word in enumerate(words, 1):
                assert f"{level} = {word}" in cell.comment.text
