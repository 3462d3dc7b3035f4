"""A plausible official workbook, with all at once that nobody foresaw, makes a book that says what it left out."""

import pytest

from helpers.studies import write_study
from helpers.unforeseen import UNFORESEEN, official_sheets
from sense7.workbook.reading import official_text

pytestmark = pytest.mark.long


def test_the_book_is_built_and_says_what_it_left_out(build_in_copy, tmp_path):
    sheets = official_sheets(participants=40, conversations=120)
    for change in UNFORESEEN:
        sheets = change(sheets)
    write_study(sheets, tmp_path / "sense-7_dataset.xlsx", official_text())
    edition = build_in_copy(tmp_path / "sense-7_dataset.xlsx", "unforeseen")
    kinds = set(edition.facts["warnings"])
    assert kinds == {kind for kind, _ in UNFORESEEN.values()}
    text = edition.page("notebooks/01-dataset").get_text()
    for _, column in UNFORESEEN.values():
        assert column in text
    assert set(edition.toc) <= {file.removesuffix(".html") for file in edition.files}
