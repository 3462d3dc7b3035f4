"""Workbooks with next to nothing in them: each gives a complete book, which says what it can't compute."""

import copy
import re

import pytest

from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import write_sheets

NOTHING = dict.fromkeys(DIMENSION_NAMES)
ONE_PERSON = {"PID": "P1", "Model": "plain"}
BARE = dict.fromkeys(("Model", "PreTaskChoice", "PreTaskImportance", "PreTaskDesiredEmpathy"), ...)
NO_POST = {f"PostTaskEmpathy_{name}": ... for name in DIMENSION_NAMES}

WORKBOOKS = {
    "only overall ratings, no context, no post-task": {
        "tasks": BARE | NO_POST,
        "messages": NOTHING | {"Comment": None},
        "participants": None,
    },
    "one participant, constant ratings of one dimension": {
        "tasks": ONE_PERSON,
        "messages": NOTHING | {"Affective": [None, "good"] * 8, "EmpathyOverall": None},
    },
}


@pytest.mark.long
@pytest.mark.parametrize("name", WORKBOOKS)
def test_every_page_is_there_and_no_hole_shows(name, minimal_sheets, build_in_copy, tmp_path):
    path = tmp_path / "degenerate.xlsx"
    write_sheets(minimal_sheets(**WORKBOOKS[name]), path)
    edition = build_in_copy(path, f"degenerate {sorted(WORKBOOKS).index(name)}")
    for file in (file for file in edition.toc if not file.startswith("book/api")):  # which says NaN of the code
        page = copy.copy(edition.page(file))
        for quoted in page.select("code"):  # what a cell may hold, on the pages of the format and of promises
            quoted.decompose()
        text = page.get_text(" ")
        assert re.findall(r"\b(?:[Nn]a[Nn]|NAN|NaT|inf)\b|<NA>", text) == [], file
    for value in edition.values.values():
        if value["estimate"] is None:
            assert value["reason"], value["key"]
            assert value["low"] is None, value["key"]
