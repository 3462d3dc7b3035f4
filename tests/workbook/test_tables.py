"""A folder of CSV tables says what a workbook of the same sheets says."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7 import sources
from sense7.errors import UserError
from sense7.loading import load
from sense7.workbook import read_workbook, write_sheets
from sense7.workbook.tables import hash_tables, read_tables, table_files


@pytest.fixture
def sheets(minimal_sheets):
    return minimal_sheets(tasks={"PreTaskChoice": ["NA", "None", "nan", "a, b"]})


def write_csv(folder, sheets, *, encoding="utf-8"):
    folder.mkdir(exist_ok=True)
    for sheet in sheets.values():
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerows([sheet.header, *sheet.rows])
        (folder / f"{sheet.name}.csv").write_text(text.getvalue(), encoding=encoding, newline="")
    return folder


def write_text(folder, name, content):
    folder.mkdir(exist_ok=True)
    content = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(content)
    return folder


WRITERS = {
    "comma": write_csv,
    "byte order mark": lambda folder, sheets: write_csv(folder, sheets, encoding="utf-8-sig"),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_folder_is_read_as_the_workbook_of_the_same_sheets(writer, sheets, tmp_path):
    write_sheets(sheets, tmp_path / "mine.xlsx")
    workbook, folder = read_workbook(tmp_path / "mine.xlsx"), read_workbook(writer(tmp_path / "mine", sheets))
    assert folder.sheets == workbook.sheets
    assert folder.diagnostics == workbook.diagnostics
    for frame in ("conversations", "messages", "turns", "participants"):
        pd.testing.assert_frame_equal(getattr(folder, frame), getattr(workbook, frame))


@pytest.mark.parametrize(
    "text", ["NA", "None", "nan", "inf", "007", "1e3", "1_000", "+4", "4,5", "12345678901234567890"]
)
def test_a_text_that_a_number_would_not_give_back_stays_a_text(text, tmp_path):
    write_text(tmp_path / "a", "T.csv", f'x;y\n"{text}";z\n')
    assert read_tables(tmp_path / "a")["T"].rows == [[text, "z"]]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_no_text_is_lost_whatever_it_holds(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("texts")
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    (folder / "T.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    read = [["" if cell is None else cell for cell in row] for row in read_tables(folder)["T"].rows]
    read += [["", ""]] * (len(rows) - len(read))  # blank rows at the end are left out
    for given_row, read_row in zip(rows, read, strict=True):
        for before, after in zip(given_row, read_row, strict=True):
            assert after == (before if isinstance(after, str) else float(before))


def test_rows_are_counted_as_in_a_spreadsheet_whatever_line_breaks_texts_hold(tmp_path):
    write_text(tmp_path / "a", "T.csv", 'x,y\n"1\n2\r\n3",b\n\nlast,\n')
    assert read_tables(tmp_path / "a")["T"].rows == [["1\n2\r\n3", "b"], [None, None], ["last", None]]


BROKEN = {
    "another encoding": ("T.csv", b"x,y\na,b\nMu\xfcller,c\n", r"T\.csv: line 3, byte 11: not UTF-8\. .*CSV UTF-8"),
    "UTF-16": ("T.csv", "x,y\na,b\n".encode("utf-16"), r"T\.csv: line 1, byte 1: not UTF-8"),
    "UTF-16 unmarked": ("T.csv", "x,y\na,b\n".encode("utf-16-le"), r"T\.csv: line 1: a zero byte"),
    "more cells than names": ("T.csv", "x,y\na,b\na,b,c\n", r"T\.csv: row 3 has 3 cells, row 1 names 2 columns"),
    "a quote left open": ("T.csv", 'x,y\na,b\n"a,b\n', r"T\.csv: row 3, .*no CSV.*double quote"),
    "an empty file": ("T.csv", "", r"T\.csv: row 1 names no column"),
    "a blank line before the names": ("T.csv", "\r\na,b\r\n", r"T\.csv: row 1 names no column"),
    "no table": ("notes.txt", "x", r"a folder without a table\. Expected Tasks\.csv"),
}


@pytest.mark.parametrize(("name", "content", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_said_with_its_place(name, content, message, tmp_path):
    with pytest.raises(UserError, match=message):
        read_tables(write_text(tmp_path / "a", name, content))


def test_two_files_of_one_table_are_refused(tmp_path):
    write_text(tmp_path / "a", "Tasks.csv", "x\n1\n")
    write_text(tmp_path / "a", "tasks.CSV", "x\n1\n")
    with pytest.raises(UserError, match=r"Tasks\.csv and tasks\.CSV hold the same table"):
        table_files(tmp_path / "a")


def test_the_hash_is_of_the_tables_and_their_names_only(sheets, tmp_path):
    folder = write_csv(tmp_path / "mine", sheets)
    before, size = hash_tables(folder)
    assert size == sum(path.stat().st_size for path in folder.iterdir())
    (folder / "notes.txt").write_text("not a table")
    (folder / ".Tasks.csv.swp").write_text("nor this")
    assert hash_tables(folder) == (before, size)
    (folder / "Participants.csv").rename(folder / "People.csv")
    assert hash_tables(folder)[0] != before


def test_a_folder_is_loaded_by_its_path_as_ones_own_data(sheets, tmp_path, monkeypatch):
    folder = write_csv(tmp_path / "mine", sheets)
    monkeypatch.chdir(folder)
    for path in (folder, f"{folder}/", "."):
        study = load(path)
        assert (study.name, study.provenance.kind, study.provenance.file) == ("mine", "own", "mine")


def test_an_edition_has_its_own_copy_of_the_tables_with_their_record(sheets, tmp_path):
    folder = write_csv(tmp_path / "mine", sheets)
    (folder / "private.txt").write_text("not for an edition")
    path, provenance = sources.resolve(folder)
    copy = sources.copy_for_edition(path, provenance, tmp_path / "edition" / "data")
    assert sorted(path.name for path in copy.iterdir()) == ["Messages.csv", "Participants.csv", "Tasks.csv"]
    assert sorted(path.name for path in copy.parent.iterdir()) == ["mine", "mine.provenance.json"]
    assert sources.resolve(copy)[1] == provenance


def test_tables_that_change_meanwhile_are_no_copy(sheets, tmp_path):
    folder = write_csv(tmp_path / "mine", sheets)
    path, provenance = sources.resolve(folder)
    with (folder / "Tasks.csv").open("a") as stream:
        stream.write("more")
    with pytest.raises(UserError, match="changed while it was read"):
        sources.copy_for_edition(path, provenance, tmp_path / "edition")
    assert list((tmp_path / "edition").iterdir()) == []
