"""Ids and names are compared as they stand; what stands twice, or was changed by a spreadsheet, is refused."""

import datetime

import pytest

from helpers.studies import parse_sheets
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.ids import as_name
from sense7.workbook.reading import official_text


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (12.0, "12"),
        (" P1 ", "P1"),
        ("e\u0301", "\u00e9"),
        ("P  1", "P  1"),
        ("P\u20111", "P\u20111"),
        ("\u0410", "\u0410"),
        ("007", "007"),
        ("&amp;", "&amp;"),
        (" ", None),
        (None, None),
    ],
)
def test_a_name_stands_as_it_is_in_form_nfc_without_outer_space(cell, name):
    assert as_name(cell) == name


def errors_of(sheets, reading=None):
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(sheets, **({} if reading is None else {"reading": reading}))
    return {
        (item.kind, item.sheet, tuple(item.rows)) for item in caught.value.diagnostics.of("error")
    }


@pytest.mark.parametrize(
    "cell", [datetime.datetime(2026, 3, 1), True, 1.5, 1e15, datetime.time(1, 2), float("inf")]
)
def test_what_a_spreadsheet_made_of_another_text_is_no_id(minimal_sheets, cell):
    found = errors_of(minimal_sheets(tasks={"PID": ["P1", cell, "P2", "P3"]}))
    assert ("id-type", "Tasks", (3,)) in found


def test_a_conversation_that_stands_twice_is_refused_with_both_rows(minimal_sheets):
    found = errors_of(minimal_sheets(tasks={"TaskId": ["C1", "C2", "C1", "C4"]}))
    assert ("twice", "Tasks", (2, 4)) in found


def test_a_message_that_stands_twice_is_refused_with_both_rows(minimal_sheets):
    found = errors_of(minimal_sheets(messages={"MessageId": [1.0, 2.0, 2.0, 4.0] * 4}))
    assert [rows[:2] for kind, _, rows in found if kind == "twice"] == [(3, 4)]
    same = {"MessageId": ..., "Role": ["user", "assistant", "assistant", "user"] * 4}
    said = ["Hello", "I see.", "I see.", "Bye"] * 4
    found = errors_of(minimal_sheets(messages={**same, "Content": said}))
    assert [rows[:2] for kind, _, rows in found if kind == "twice"] == [(3, 4)]
    other = ["Hello", "I see.", "And?", "Bye"] * 4
    assert len(parse_sheets(minimal_sheets(messages={**same, "Content": other})).turns) == 8


def test_a_participant_who_stands_twice_is_refused_with_both_rows(minimal_sheets):
    people = {"PID": ["P1", "P2", "P1"], "Age": [30.0, 40.0, None], "Gender": [None, "f", "m"]}
    found = errors_of(minimal_sheets(participants=people))
    assert found == {("twice", "Participants", (2, 4))}


def test_in_official_data_what_stands_twice_is_counted(minimal_sheets):
    sheets = minimal_sheets(
        tasks={"TaskId": ["C1", "C2", "C1", "C4"]},
        messages={"MessageId": [1.0, 2.0, 2.0, 4.0] * 4},
        participants={"PID": ["P1", "P2", "P1"], "Age": [30.0, 40.0, 50.0], "Gender": "f"},
    )
    study = parse_sheets(sheets, official_text())
    assert study.conversations["row"].tolist() == [2, 3, 5]
    assert study.turns["position"].tolist() == [2, 4] * 3
    assert study.participants["Age"].tolist() == [30.0, 40.0]
    sheets_named = {item.sheet for item in study.warnings if item.kind == "twice"}
    assert sheets_named == {"Tasks", "Messages", "Participants"}


def test_one_warning_names_what_differs_only_by_case_or_inner_space(minimal_sheets):
    changes = {"PID": ["P1", "p1", "P 1", "P2"], "Model": ["Plain", "plain", "warm", "warm"]}
    study = parse_sheets(minimal_sheets(tasks=changes, participants=None))
    assert study.conversations["participant"].nunique() == 4
    assert [item.column for item in study.warnings if item.kind == "similar"] == ["PID", "Model"]


@pytest.mark.parametrize("text", ["NA", "nan", "#N/A", "null"])
def test_what_pandas_reads_as_missing_is_counted_as_missing(minimal_sheets, text):
    study = parse_sheets(
        minimal_sheets(
            tasks={
                "PID": [text, "P1", "P2", "P3"],
                "Model": ["plain", text, "plain-empathy", "plain"],
            },
            messages={"Comment": [None, text, None, "kind"] * 4, "Content": text},
            participants={"PID": ["P1", "P2", "P3"], "Age": [30.0, text, 40.0], "Gender": text},
        )
    )
    assert study.conversations["participant"].nunique() == 4
    assert study.conversations["condition"].isna().sum() == 1
    assert study.messages["comment"].notna().sum() == 4
    assert study.messages["content"].eq(text).all()
    assert study.participants["Age"].count() == 2
    assert study.participants["Gender"].isna().all()
    counted = {item.column: item.count for item in study.diagnostics if item.kind == "missing-text"}
    assert counted == {"PID": 1, "Model": 1, "Comment": 4, "Age": 1, "Gender": 3}


def test_none_is_a_characteristic_and_no_comment(minimal_sheets):
    study = parse_sheets(
        minimal_sheets(
            messages={"Comment": [None, "None"] * 8},
            participants={"PID": ["P1", "P2", "P3"], "Age": 30.0, "Gender": ["None", "f", "m"]},
        )
    )
    assert study.participants["Gender"].tolist() == ["None", "f", "m"]
    assert study.messages["comment"].isna().all()
