"""A workbook parsed to columns: no pandas is imported for it, and the same is said of it as of its study."""

import subprocess
import sys

import pytest

from sense7 import loading
from sense7.checkout import data_file
from sense7.workbook import parse_workbook, read_workbook, write_sheets
from sense7.workbook.diagnostics import describe
from sense7.workbook.ids import as_name, as_names, as_text, as_texts

NOT_FOR_CHECK = {"pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "rich", "yaml", "xlsxwriter"}


@pytest.fixture
def odd(minimal_sheets, tmp_path):
    """A workbook in which much is strange, though nothing so much that it is refused."""
    sheets = minimal_sheets(
        conversations=3,
        tasks={"Model": ["empathy", None, "plain"], "PID": ["P1", None, "p1"]},
        messages={"Affective": [None, "splendid"] * 6, "Cognitive": None, "MessageId": [None, 2.0] * 6, "Mood": "x"},
    )
    write_sheets(sheets, tmp_path / "odd.xlsx")
    return tmp_path / "odd.xlsx"


def test_the_same_is_said_of_what_was_parsed_and_of_its_study(odd):
    options = {"options": loading.reading_options(odd, allow_unreadable=True)}
    for path, given in ((odd, options), (data_file("synthetic.xlsx"), {})):
        said = describe(read_workbook(path, **given))
        assert describe(parse_workbook(path, **given)) == said
    assert said["counts"]["conversations"] == 672


def test_where_it_came_from_is_the_same_either_way():
    for data in ("synthetic", data_file("synthetic.xlsx")):
        assert loading.parse(data).provenance == loading.load(data).provenance


@pytest.mark.parametrize("options", [[], ["--json"], ["--strict"], ["--prompted", "nobody"]])
def test_check_imports_nothing_that_only_statistics_and_drawings_need(options):
    code = (
        "import atexit, sys; from sense7.cli import main; "
        f"atexit.register(lambda: print(sorted({NOT_FOR_CHECK} & set(sys.modules)), file=sys.stderr)); main()"
    )
    command = [sys.executable, "-c", code, "check", "synthetic", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if "nobody" in options else 0)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "cells",
    [
        ("a", " a", "a", None, "", "a\u200b"),
        (1.0, True, "1", 0.0, False, None, 1.0),  # which Python holds to be equal
        (float("nan"), 2.5, float("nan")),
        (),
    ],
)
def test_a_column_is_read_as_its_cells_one_by_one(cells):
    assert as_names(cells) == [as_name(cell) for cell in cells]
    assert as_texts(cells) == [as_text(cell) for cell in cells]
