"""Names of files from names in data, and CSV that is no formula: for any text."""

import csv
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.csv_text import frame_as_csv, is_guarded
from sense7.file_names import LONGEST, file_name
from sense7.workbook.tables import read_table

PIECES = ["/", "\\", "..", ".", " ", ":", "%2F", "~", "-", "\u202e", "\0", "\n", "é", "e\u0301"]
NAMES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join))


@given(NAMES)
def test_a_name_from_data_is_one_plain_file_in_its_folder(text):
    name = file_name(text)
    assert not set(name) & set('/\\<>:"|?*')
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert name.strip(". ") == name != ""
    assert not name.startswith("-")
    assert len(name.encode()) <= LONGEST


@given(NAMES, NAMES)
def test_different_names_have_different_files(first, second):
    assert (file_name(first) == file_name(second)) == (first == second)


FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), min_size=1) | st.lists(
    st.sampled_from([*FORMULAS, "'", "cmd", "1", ";", ",", '"']), min_size=1
).map("".join)


@given(CELLS)
def test_no_text_of_a_csv_is_a_formula_and_the_reader_takes_it_as_it_was(tmp_path_factory, cell):
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    table = pd.DataFrame({"text": [cell]}, index=pd.Index(["a"], name="id"))
    path.write_text(frame_as_csv(table), encoding="utf-8", newline="")
    with path.open(encoding="utf-8", newline="") as stream:
        _, (_, shown) = csv.reader(stream)
    assert not shown.startswith(FORMULAS)
    read = read_table(path).rows[0][1]
    assert read == cell or (isinstance(read, float) and float(cell) == read)


@pytest.mark.parametrize("text", ["'tis", "''quoted''", "'", "plain", "-1.5"])
def test_a_table_of_another_program_keeps_its_apostrophes(tmp_path, text):
    (tmp_path / "t.csv").write_text(f"id,text\na,{text}\n", encoding="utf-8")
    assert not is_guarded(text)
    assert str(read_table(tmp_path / "t.csv").rows[0][1]) == text
