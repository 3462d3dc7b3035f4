"""Studies read once, and bootstraps with as few draws as tests need."""

import csv
import io
from functools import cache

import sense7.workbook.sheets
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.workbook.reading import PROMPTED_BY_NAME, STANDARD, parse_reading, write_reading
from sense7.workbook.sheets import read_workbook
from sense7.workbook.xlsx import write_sheets

READING = STANDARD + PROMPTED_BY_NAME
"""Reading file of most workbooks of tests: the official scales in numbers, the prompted condition by its name."""

FRAMES = ("conversations", "messages", "turns", "participants")
"""Tables of a study."""


def parse_sheets(sheets, reading=READING, **options):
    """The study in sheets, read as a reading file says."""
    return sense7.workbook.sheets.parse_sheets(sheets, parse_reading(reading), **options)


def write_study(sheets, path, reading=READING):
    """Write a workbook with a reading file beside it."""
    write_sheets(sheets, path)
    write_reading(path, reading)


def write_tables(sheets, folder, encoding="utf-8"):
    """Write a folder of CSV tables with a reading file beside it."""
    folder.mkdir(exist_ok=True)
    for sheet in sheets.values():
        text = io.StringIO()
        csv.writer(text).writerows([sheet.header, *sheet.rows])
        (folder / f"{sheet.name}.csv").write_text(text.getvalue(), encoding=encoding, newline="")
    write_reading(folder, READING)
    return folder


@cache
def read(path):
    """The study in a workbook, read once for all tests: not to be changed."""
    return read_workbook(path)


def bootstrap_of(study, draws=100, seed=1):
    """Resample the participants of a study."""
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=seed)


def draws_of(frame, draws=100):
    """Resample the participants whom the first level of a frame's index names."""
    return ParticipantBootstrap(frame.index.get_level_values(0), draws=draws, seed=1)
