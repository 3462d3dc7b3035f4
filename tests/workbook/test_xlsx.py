"""Cells in, cells out: what is written is read back equal, as .xlsx or as a folder of CSV tables, or refused."""

import datetime as dt
import zipfile

import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import naming
from helpers.studies import FRAMES, write_study, write_tables
from sense7.workbook import xlsx
from sense7.workbook.sheets import read_workbook
from sense7.workbook.tables import read_tables
from sense7.workbook.xlsx import Sheet, read_sheets, write_sheets

TEXTS = [
    "=1+1", "+1", "-1", "@a", "{=1}", "'quoted", "http://example.org", "mailto:a@example.org",
    "NA", "N/A", "None", "nan", "null", "True", "1", "001", "1e5",
    "a\x00b", "\x01\x02\x08\x0b\x0c\x1f", "a\r\nb", "a\rb", "a\nb", "\t", "\ta\t", " ", "  a  ", "\n",
    "\u200b", "\xa0", "\u2028",
    "_x000D_", "_x005F_x000D_", "_x000D_x000D_x0041_", "_xD800_", "_x000d_", "_x00", "\x00_x0000_x0000_\x01",
    "<r>x</r>", "<r><t>x</t></r>", "<b>&amp;</b>", "]]>", '"',
    "😀👩‍👩‍👧", "مرحبا \u202eabc", "é", "e\u0301", "\x7f\x85\x9f", "\ufffd", "\U0001ffff",
    "a" * 32_767, "😀" * 16_383,
]  # fmt: skip
NUMBERS = [
    *(0.0, -0.0, 0.1, 0.1 + 0.2, 1 / 3, 1e300, 1e-300, 5e-324, 1.7976931348623157e308),
    *(2.0**53, -7.0),
]


def column_of(*cells):
    return [Sheet("Notes", ["cell"], [[cell] for cell in cells])]


def by_openpyxl(path, cells, title="S"):
    book = openpyxl.Workbook()
    book.active.title = title
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)
    return path


def test_cells_of_all_sheets_are_counted_together(tmp_path, monkeypatch):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("A", "B"):
            sheet = book.add_worksheet(name)
            sheet.write(0, 0, "name")
            sheet.write(9, 9, 1)
    monkeypatch.setattr(xlsx, "MOST_CELLS", 200)
    assert len(read_sheets(path)) == 2
    monkeypatch.setattr(xlsx, "MOST_CELLS", 199)
    with naming.refused(path, "sheet B", "200 cells"):
        read_sheets(path)
    assert len(read_sheets(path, only="B")) == 1


# Round trip


def test_cells_come_back_as_they_were(tmp_path):
    cells = [*TEXTS, *NUMBERS, True, False, None, "."]
    write_sheets(column_of(*cells), tmp_path / "a.xlsx")
    written = openpyxl.load_workbook(tmp_path / "a.xlsx")["Notes"]
    assert not any(cell.hyperlink or cell.data_type == "f" for (cell,) in written.rows)
    back = [row[0] for row in read_sheets(tmp_path / "a.xlsx")["Notes"].rows]
    assert [(type(cell), repr(cell)) for cell in back] == [
        (type(cell), repr(cell)) for cell in cells
    ]


texts = st.text(max_size=20) | st.lists(
    st.sampled_from(
        ["_", "x", "005F", "000D", "\r", "\x00", "<r>", "</r>", "=", "&", " ", "_x0041_"]
    ),
    max_size=8,
).map("".join)
cells = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.tuples(cells, cells), max_size=6), header=st.tuples(texts, texts))
def test_what_was_read_is_written_and_read_again_equal(rows, header, tmp_path):
    path = tmp_path / "a.xlsx"
    write_sheets([Sheet("S", list(header), [list(row) for row in rows])], path)
    once = read_sheets(path)
    write_sheets(once, path)
    assert read_sheets(path) == once
    for written, read in zip(rows, once["S"].rows, strict=False):
        for cell, back in zip(written, read, strict=False):
            assert repr(back) == repr(cell or (None if cell == "" else cell))


# What can't be held


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("a" * 32_768, "32,768 characters"),
        ("😀" * 16_384, "32,768 characters"),
        ("a\ud800", "U+FFFF"),
        ("\uffff", "U+FFFF"),
        (float("inf"), "infinite"),
        (2**53 + 1, "digits"),
        (10**400, "digits"),
        (dt.date(2025, 1, 1), "date"),
    ],
)
def test_a_cell_that_cannot_be_held_is_refused_and_nothing_is_written(cell, fault, tmp_path):
    with naming.refused(tmp_path / "a.xlsx", "sheet Notes, cell A3", fault):
        write_sheets(column_of("fine", cell), tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []
    write_sheets(column_of(2**53), tmp_path / "a.xlsx")  # the largest integer that can


# Reading what other programs write


def test_a_formula_that_was_never_calculated_is_blank_and_located(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("T")
        page.write_row(0, 0, ["x", "y"])
        page.write_row(1, 0, [5])
        page.write_formula("B2", "=1+1")  # a library stores 0 beside it
    sheet = read_sheets(path)["T"]
    assert (sheet.rows, sheet.without_value) == ([[5, None]], [(1, 2)])


def test_formulas_give_their_cached_values_and_errors_are_located_and_no_data(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("S")
        page.write_row(0, 0, ["a", "b", "c"])
        for row, column, formula, value in (
            (1, 0, "=1+1", 2),
            (1, 1, '="a"', "a"),
            (1, 2, "=NA()", "#N/A"),
        ):
            page.write_formula(row, column, formula, None, value)
        for row, column in ((1, 4), (4, 0)):  # beside and below the data
            page.write_formula(row, column, "=NA()", None, "#N/A")
    sheet = read_sheets(tmp_path / "a.xlsx")["S"]
    assert [row[:3] for row in sheet.rows] == [[2.0, "a", None]]
    assert sheet.without_value == [(2, 2), (4, 2), (0, 5)]


@pytest.mark.parametrize("error", ["#CALC!", "#SPILL!"])
def test_an_error_that_the_library_does_not_know_is_refused_by_its_sheet(error, tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        book.add_worksheet("S").write_row(0, 0, ["a", "b"])
        book.worksheets()[0].write_formula(1, 1, "=NA()", None, "#N/A")
    replaced(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", b"#N/A", error.encode())
    with naming.refused("a.xlsx", "sheet S", error):
        read_sheets(tmp_path / "a.xlsx")


def test_blank_rows_between_are_kept_so_that_rows_have_their_numbers(tmp_path):
    (sheet,) = read_sheets(by_openpyxl(tmp_path / "a.xlsx", {"B2": "x", "A5": "y"})).values()
    assert (sheet.header, sheet.rows) == (
        ["", ""],
        [[None, "x"], [None, None], [None, None], ["y", None]],
    )


def replaced(path, part, old, new):
    """The same package with some text of one part replaced."""
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return path


# A folder of CSV tables says what a workbook of the same sheets says


@pytest.fixture
def sheets(minimal_sheets):
    return minimal_sheets(tasks={"PreTaskChoice": ["NA", "None", "nan", "a, b"]})


def write_text(folder, name, content):
    folder.mkdir(exist_ok=True)
    content = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_folder_is_read_as_the_workbook_of_the_same_sheets(encoding, sheets, tmp_path):
    write_study(sheets, tmp_path / "mine.xlsx")
    workbook = read_workbook(tmp_path / "mine.xlsx")
    folder = read_workbook(write_tables(sheets, tmp_path / "mine", encoding))
    assert folder.sheets == workbook.sheets
    assert folder.diagnostics == workbook.diagnostics
    for frame in FRAMES:
        pd.testing.assert_frame_equal(getattr(folder, frame), getattr(workbook, frame))


@pytest.mark.parametrize(
    "text", ["NA", "None", "nan", "inf", "007", "1e3", "1_000", "+4", "4,5", "12345678901234567890"]
)
def test_a_text_that_a_number_would_not_give_back_stays_a_text(text, tmp_path):
    write_text(tmp_path / "a", "T.csv", f'x;y\n"{text}";z\n')
    assert read_tables(tmp_path / "a")["T"].rows == [[text, "z"]]


def test_rows_are_counted_as_in_a_spreadsheet_whatever_line_breaks_texts_hold(tmp_path):
    write_text(tmp_path / "a", "T.csv", 'x,y\n"1\n2\r\n3",b\n\nlast,\n')
    assert read_tables(tmp_path / "a")["T"].rows == [
        ["1\n2\r\n3", "b"],
        [None, None],
        ["last", None],
    ]


BROKEN = {
    "another encoding": ("T.csv", b"x,y\na,b\nMu\xfcller,c\n", "T.csv: line 3, byte 11: "),
    "another encoding behind a byte order mark": (
        "T.csv",
        b"\xef\xbb\xbfx,y\n\xfc,c\n",
        "T.csv: line 2, byte 8: ",
    ),
    "UTF-16": ("T.csv", "x,y\na,b\n".encode("utf-16"), "T.csv: line 1, byte 1: "),
    "UTF-16 unmarked": ("T.csv", "x,y\na,b\n".encode("utf-16-le"), "T.csv: line 1, "),
    "more cells than names": (
        "T.csv",
        "x,y\na,b\na,b,c\n",
        "T.csv: row 3: 3 cells, and row 1 names 2 columns",
    ),
    "a quote left open": ("T.csv", 'x,y\na,b\n"a,b\n', "T.csv: row 3: "),
    "an empty file": ("T.csv", "", "row 1 "),
    "a blank line before the names": ("T.csv", "\r\na,b\r\n", "row 1 "),
    "no table": ("notes.txt", "x", "Tasks.csv"),
}


@pytest.mark.parametrize(("name", "content", "place"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_said_with_its_place(name, content, place, tmp_path):
    with naming.refused(place):
        read_tables(write_text(tmp_path / "a", name, content))
