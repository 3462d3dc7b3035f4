"""Each option of reading, through the pages of the data set and of the ratings: what is accepted can be shown."""

import contextlib
import io
import json

import matplotlib.pyplot as plt
import pytest

from sense7.book.notebooks import find_notebooks
from sense7.checkout import find_checkout
from sense7.record import read_values
from sense7.taxonomy import DIMENSION_NAMES, LEVELS
from sense7.workbook import ReadingOptions, Sheet, write_sheets
from sense7.workbook.options import scale_columns

RATINGS = ("EmpathyOverall", *DIMENSION_NAMES)
QUESTIONS_BEFORE_AND_AFTER = (
    "PreTaskImportance",
    *(
        f"PostTaskExperience_{name}"
        for name in ("Successful", "Engaged", "PositiveInteraction", "UseAgain")
    ),
)
FIVE_LEVELS = [name for name, size in scale_columns().items() if size == 5]
DUTCH = ("heel slecht", "slecht", "gaat wel", "goed", "heel goed")
OPTIONS = {
    "one scale for all columns": ({"scale": "1-7"}, lambda level: min(7.0, level + 2.0)),
    "a reversed scale": ({"scale": "5-1"}, lambda level: 6.0 - level),
    "a scale from below zero": ({"scale": "-3..3"}, lambda level: level - 3.0),
    "a scale in fractions": ({"scale": ".1-.9"}, lambda level: f".{2 * level - 1}"),
    "a scale for each column": (
        {"scale": [f"{name}=0-100" for name in FIVE_LEVELS]},
        lambda level: 25.0 * (level - 1),
    ),
    "words": (
        {"words": dict(zip(DUTCH, range(1, 6), strict=True))},
        lambda level: DUTCH[level - 1],
    ),
    "words on a wider scale": (
        {"scale": "1-9", "words": dict(zip(DUTCH, range(1, 10, 2), strict=True))},
        lambda level: DUTCH[level - 1],
    ),
    "missing answers": ({"missing": "9"}, lambda level: 9.0 if level == 1 else float(level)),
    "unreadable answers": (
        {"allow_unreadable": True},
        lambda level: "oops" if level == 1 else LEVELS[level - 1],
    ),
    "none of them": ({}, lambda level: LEVELS[level - 1]),
}
"""Option -> what is given, and how a level is written in the workbook."""


def workbook_of(minimal_sheets, write_level, path, *, further=()):
    """Write a workbook of twelve conversations whose ratings of turns have the levels 1 to 5 in turn.

    Half of the questions after the conversation were asked, and those before it if the answers are numbers.
    """
    written = [write_level(1 + turn * 3 % 5) for turn in range(24)]
    cells = [cell for rating in written for cell in (None, rating)]
    tasks = {f"PostTaskEmpathy_{name}": written[:12] for name in DIMENSION_NAMES}
    tasks |= dict.fromkeys(QUESTIONS_BEFORE_AND_AFTER)
    if all(isinstance(cell, float) for cell in written):
        tasks["PreTaskImportance"] = written[:12]
        tasks["PostTaskExperience_Successful"] = written[:12]
    sheets = minimal_sheets(
        tasks=tasks, messages=dict.fromkeys(RATINGS, cells), conversations=12, further=further
    )
    write_sheets(sheets, path)


def execute(numbers, path, results):
    """Execute notebooks on a workbook in this process; what each recorded."""
    recorded = {}
    for notebook in find_notebooks(find_checkout()):
        if notebook.name.partition("-")[0] in numbers:
            names = {"__name__": "__main__"}
            for code, metadata in json.loads(notebook.code):
                if "by-hand" in metadata.get("tags", ()):
                    continue  # the same number again, where the data have it
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, notebook.name, "exec"), names)  # noqa: S102 -- the project's own notebooks
                if "parameters" in metadata.get("tags", ()):
                    names |= {"data": str(path), "results": str(results), "draws": 20}
            plt.close("all")
            recorded[notebook.name] = read_values(results, notebook.name)
    return recorded


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPTIONS)
def test_what_an_option_reads_can_be_shown(name, minimal_sheets, tmp_path):
    options, write_level = OPTIONS[name]
    path = tmp_path / "mine.xlsx"
    workbook_of(minimal_sheets, write_level, path)
    ReadingOptions.of(**options).write_beside(path)
    recorded = execute(("00", "01", "02"), path, tmp_path / "results")
    levels = [1 + turn * 3 % 5 for turn in range(24)]
    if name == "one scale for all columns":
        levels = [1 + 4 * (min(7, level + 2) - 1) / 6 for level in levels]
    elif name in {"missing answers", "unreadable answers"}:
        levels = [level for level in levels if level > 1]
    mean = recorded["02-ratings"]["mean_overall"]
    assert mean["estimate"] == pytest.approx(sum(levels) / len(levels), abs=1e-12)
    assert mean["n"] == len(levels)


@pytest.mark.filterwarnings("ignore")
def test_a_sheet_of_scales_can_be_shown(minimal_sheets, tmp_path):
    path = tmp_path / "mine.xlsx"
    rows = [[name, "0-10", 99.0] for name in FIVE_LEVELS]
    further = [Sheet("Scales", ["column", "scale", "missing"], rows)]
    workbook_of(minimal_sheets, lambda level: 2.5 * (level - 1), path, further=further)
    recorded = execute(("00", "01", "02"), path, tmp_path / "results")
    levels = [1 + turn * 3 % 5 for turn in range(24)]
    assert recorded["02-ratings"]["mean_overall"]["estimate"] == pytest.approx(
        sum(levels) / len(levels), abs=1e-12
    )


@pytest.mark.filterwarnings("ignore")
def test_every_notebook_runs_on_a_declared_scale(minimal_sheets, tmp_path):
    path = tmp_path / "mine.xlsx"
    workbook_of(minimal_sheets, lambda level: min(7.0, level + 2.0), path)
    ReadingOptions.of("1-7").write_beside(path)
    numbers = ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "18"]
    assert len(execute(numbers, path, tmp_path / "results")) == len(numbers)
