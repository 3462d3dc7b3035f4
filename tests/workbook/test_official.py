"""Of plausible official workbooks, each with one thing not foreseen, all findings are there, and it is said."""

import pytest

from helpers.findings import numbers
from helpers.studies import parse_sheets
from helpers.unforeseen import UNFORESEEN, a_word_not_seen_in_one_rating, changed, official_sheets
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.reading import official_text

DRAWS = 20


@pytest.fixture(scope="module")
def sheets():
    return official_sheets()


def test_with_all_that_was_not_foreseen_every_finding_has_its_numbers_or_a_reason(sheets):
    for change in UNFORESEEN:
        sheets = change(sheets)
    study = parse_sheets(sheets, official_text())
    said = {(warning.kind, warning.column) for warning in study.warnings}
    assert said >= set(UNFORESEEN.values())
    assert study.prompted_condition == "model-a-empathy-prompt"
    assert study.participants_sheet == "Users"
    for place, row in numbers(study, DRAWS).items():
        assert row["estimate"] == row["estimate"] or row["reason"], place


def test_a_column_that_is_left_out_is_in_no_number(sheets):
    study = parse_sheets(a_word_not_seen_in_one_rating(sheets), official_text())
    assert study.turns["Interest"].isna().all()
    assert "Interest" not in study.rated_dimensions
    assert set(study.turns["Interest_state"].unique()) <= {"absent", "unreadable"}


def without_words(sheets, number):
    """So many turn ratings of which every answer is a word that nobody foresaw."""
    for name in ("EmpathyOverall", *DIMENSION_NAMES)[:number]:
        sheets = changed(sheets, "Messages", name, lambda _, cell: cell and "fine")
    return sheets


def test_reading_stops_if_half_of_the_turn_ratings_are_left_out_and_not_before(sheets):
    study = parse_sheets(without_words(sheets, 3), official_text())
    assert [item.kind for item in study.warnings] == ["undeclared"] * 3
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(without_words(sheets, 4), official_text())
    assert "turn-ratings" in {item.kind for item in caught.value.diagnostics.of("error")}
