"""What `load` gives is what the file holds now, for each caller."""

import shutil
from pathlib import Path

import pytest

from sense7.checkout import data_file
from sense7.loading import load
from sense7.workbook import read_sheets, write_sheets


@pytest.fixture
def mine(tmp_path):
    return Path(shutil.copyfile(data_file("synthetic.xlsx"), tmp_path / "mine.xlsx"))


def test_nobody_finds_what_another_changed(mine):
    del load(mine).conversations["condition"]
    assert "condition" in load(mine).conversations


def test_where_it_came_from_is_looked_up_when_it_is_loaded(mine):
    assert load(mine).provenance.kind == "synthetic"
    assert load("synthetic").name == "synthetic" != load(mine).name


def test_a_file_that_changed_meanwhile_is_read_again(mine):
    known = len(load(mine).conversations)
    sheets = read_sheets(mine)
    tasks = sheets["Tasks"]
    gone = tasks.rows.pop()[tasks.header.index("TaskId")]
    messages = sheets["Messages"]
    messages.rows[:] = [row for row in messages.rows if row[messages.header.index("TaskId")] != gone]
    write_sheets(list(sheets.values()), mine)
    assert len(load(mine).conversations) == known - 1
