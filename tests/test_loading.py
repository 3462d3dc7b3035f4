"""What was read ahead is what reading gives, for one load, and only as long as the file is the same."""

import shutil
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

from sense7 import loading
from sense7.checkout import data_file
from sense7.loading import load, read_ahead
from sense7.workbook import read_sheets, read_workbook, write_sheets


@pytest.fixture
def read(monkeypatch):
    """Names of the files that were read, in order."""
    names = []

    def reading(path, **options):
        names.append(Path(path).name)
        return read_workbook(path, **options)

    monkeypatch.setattr(loading, "read_workbook", reading)
    monkeypatch.setattr(loading, "_read_ahead", {})
    return names


@pytest.fixture
def mine(tmp_path):
    return Path(shutil.copyfile(data_file("synthetic.xlsx"), tmp_path / "mine.xlsx"))


def assert_same(one, other):
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, pd.DataFrame):
            pd.testing.assert_frame_equal(mine, theirs)
        else:
            assert mine == theirs


def test_a_study_read_ahead_is_the_one_that_reading_gives(read, mine):
    read_ahead(mine)
    ahead = load(mine)
    assert read == ["mine.xlsx"]
    assert_same(ahead, load(mine))


def test_it_is_taken_once_so_that_nobody_finds_what_another_changed(read, mine):
    read_ahead(mine)
    del load(mine).conversations["condition"]
    assert "condition" in load(mine).conversations
    assert read == ["mine.xlsx", "mine.xlsx"]


def test_where_it_came_from_is_looked_up_when_it_is_loaded(read, mine):
    read_ahead(mine)
    assert load(mine).provenance.kind == "synthetic"
    read_ahead("synthetic")
    assert load("synthetic").name == "synthetic" != load(mine).name


def test_with_other_options_it_is_read_anew(read, mine):
    read_ahead(mine)
    condition = load("synthetic").conversations["condition"].iloc[0]
    for options in ({"strict": True}, {"prompted_condition": condition}):
        load(mine, **options)
    assert read == ["mine.xlsx", "synthetic.xlsx", "mine.xlsx", "mine.xlsx"]


def test_a_file_that_changed_meanwhile_is_read_anew(read, mine):
    read_ahead(mine)
    sheets = read_sheets(mine)
    tasks = sheets["Tasks"]
    gone = tasks.rows.pop()[tasks.header.index("TaskId")]
    messages = sheets["Messages"]
    messages.rows[:] = [row for row in messages.rows if row[messages.header.index("TaskId")] != gone]
    write_sheets(list(sheets.values()), mine)
    assert len(load(mine).conversations) == len(load("synthetic").conversations) - 1
    assert read == ["mine.xlsx", "mine.xlsx", "synthetic.xlsx"]
