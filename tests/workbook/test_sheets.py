"""Sheets, columns, roles, order and texts: what is an error, what a located warning, and what is read."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import naming
from helpers.studies import parse_sheets, write_study
from sense7.taxonomy import RATING_NAMES
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.sheets import read_workbook
from sense7.workbook.xlsx import Sheet

TURN_ROWS = [3, 5, 7, 9, 11, 13, 15, 17]
LONGEST = 32_767


@pytest.fixture
def read(minimal_sheets):
    """Read a minimal workbook with changes; see ``minimal_sheets``."""
    return lambda **changes: parse_sheets(minimal_sheets(**changes))


def found(study_or_error, kind):
    """The only diagnostic of this kind."""
    (diagnostic,) = [item for item in study_or_error.diagnostics if item.kind == kind]
    return diagnostic


def test_the_minimal_workbook_is_read_without_a_diagnostic(read, minimal_sheets, tmp_path):
    study = read()
    assert study.diagnostics == []
    assert len(study.conversations) == 4
    assert len(study.messages) == 16
    assert study.turns["turn"].tolist() == [1, 2] * 4
    assert study.turns["row"].tolist() == TURN_ROWS
    assert (study.turns[list(RATING_NAMES)].to_numpy() == np.array([[4.0], [5.0]] * 4)).all()
    assert study.participants["Age"].tolist() == [30.0, 41.0, 52.0]
    assert len(study.never_asked) == len(study.not_recorded) == 0
    assert read(participants=None).participants is None
    write_study(minimal_sheets(), tmp_path / "mine.xlsx")
    from_file = read_workbook(tmp_path / "mine.xlsx")
    assert from_file.name == "mine"
    assert from_file.turns.equals(study.turns)


@pytest.mark.parametrize(
    ("changes", "kind", "sheet", "column"),
    [
        ({"tasks": None}, "missing-sheet", "Tasks", ""),
        ({"messages": None}, "missing-sheet", "Messages", ""),
        ({"tasks": {"PID": ...}}, "missing-key-column", "Tasks", "PID"),
        ({"messages": {"TaskId": ...}}, "missing-key-column", "Messages", "TaskId"),
        ({"messages": {"Role": ...}}, "missing-key-column", "Messages", "Role"),
        ({"messages": dict.fromkeys(RATING_NAMES[1:]) | {"EmpathyOverall": None}}, "no-rating", "Messages", ""),
        ({"messages": {"Role": "Assistant"}}, "no-rating", "Messages", ""),
        ({"tasks": {"TaskId": None, "PID": None}}, "no-conversation", "Tasks", ""),
    ],
)  # fmt: skip
def test_what_makes_the_analysis_impossible_is_an_error(read, changes, kind, sheet, column):
    with pytest.raises(WorkbookError) as caught:
        read(**changes)
    diagnostic = found(caught.value, kind)
    assert (diagnostic.severity, diagnostic.sheet, diagnostic.column) == ("error", sheet, column)
    naming.check(caught.value, sheet, column)


@pytest.mark.parametrize("name", ["Tasks", "Messages"])
@pytest.mark.parametrize("rows", ["header only", "nothing at all"])
def test_empty_sheets_are_errors_without_a_traceback(minimal_sheets, name, rows):
    sheets = minimal_sheets()
    sheets[name] = Sheet(name, sheets[name].header if rows == "header only" else [], [])
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(sheets)
    assert name in {fault.sheet for fault in caught.value.diagnostics.of("error")}


TIMES = "TimeOffsetSeconds"
BOT = ["user", "bot", "user", "assistant"] * 4
IN_ORDER = [1.0, 2.0, 3.0, 4.0] * 3
WRONG_ROLE = ["user", "Assistant", "user", "assistant"] * 4
ONE_UNKNOWN = {"PID": ["P1", "P2", "P9"], "Age": 30.0}
LAST_UNKNOWN = {"TaskId": ["C1", "C2", "C3", "C9"]}


@pytest.mark.parametrize(
    ("changes", "kind", "place", "rows"),
    [
        ({"tasks": {"PID": ["P1", None, "P2", "P3"]}}, "missing-participant", "Tasks.PID", (3,)),
        ({"tasks": {"Model": ["a", " ", "b", "b"]}}, "missing-condition", "Tasks.Model", (3,)),
        ({"tasks": LAST_UNKNOWN}, "orphan", "Messages.TaskId", (14, 15, 16, 17)),
        ({"tasks": LAST_UNKNOWN}, "no-message", "Tasks.TaskId", (5,)),
        ({"tasks": {"TaskId": ["C1", "C2", "C3", None]}}, "missing-id", "Tasks.TaskId", (5,)),
        ({"tasks": {"Mood": "x"}}, "unknown-column", "Tasks.Mood", ()),
        ({"further": [Sheet(" messages", ["a"], [["b"]])]}, "duplicate", " messages", ()),
        ({"messages": {"MessageId": [1.0, 2.0, 4.0, 3.0] * 4}}, "message-order", "Messages.MessageId", (5, 9, 13, 17)),
        ({"messages": {"MessageId": [1.0, None, 3.0, 4.0, *IN_ORDER]}}, "message-order", "Messages.MessageId", (3,)),
        ({"messages": {"MessageId": ["x", 2.0, 3.0, 4.0, *IN_ORDER]}}, "not-a-number", "Messages.MessageId", (2,)),
        ({"messages": {TIMES: [-1.0, 2.0, 3.0, 4.0] * 4}}, "not-a-number", f"Messages.{TIMES}", (2, 6, 10, 14)),
        ({"messages": {TIMES: [0.0, 950.0, 1.2, 1.3, *IN_ORDER]}}, "time-goes-back", f"Messages.{TIMES}", (4,)),
        ({"messages": {"Role": BOT}}, "unknown-role", "Messages.Role", (3, 7, 11, 15)),
        ({"messages": {"Role": WRONG_ROLE}}, "rating-elsewhere", "Messages", (3, 7, 11, 15)),
        ({"messages": {"Content": "a &amp; b&#39;s"}}, "escaped-text", "Messages.Content", tuple(range(2, 18))),
        ({"messages": {"Comment": [None, "x" * LONGEST] + [None] * 14}}, "cut-text", "Messages.Comment", (3,)),
        ({"participants": ONE_UNKNOWN}, "participant-without-characteristics", "Tasks.PID", (5,)),
        ({"participants": {"PID": ["P1", None, "P3"], "Age": 30.0}}, "missing-id", "Participants.PID", (3,)),
    ],
)  # fmt: skip
def test_all_else_is_located(read, changes, kind, place, rows):
    diagnostic = found(read(**changes), kind)
    assert f"{diagnostic.sheet}.{diagnostic.column}".rstrip(".") == place
    assert tuple(diagnostic.rows) == rows
    assert diagnostic.severity in {"warning", "notice"}


def test_names_of_sheets_and_columns_may_differ_in_case_and_outer_space(minimal_sheets):
    sheets = minimal_sheets()
    tasks = replace(
        sheets["Tasks"],
        name=" tasks",
        header=[f" {name.upper()} " for name in sheets["Tasks"].header],
    )
    study = parse_sheets(
        {" tasks": tasks, **{name: sheets[name] for name in ("Messages", "Participants")}}
    )
    assert study.diagnostics == []
    assert study.conversations["post_Relational"].eq(4).all()


@pytest.mark.parametrize("header", ["PostTaskEmpathy_Q3", "PostTaskEmpathy_AffectiveCognitive"])
def test_suffixes_that_name_none_or_several_dimensions_are_listed(minimal_sheets, header):
    sheets = minimal_sheets()
    names = [
        header if name.endswith("Empathy_Affective") else name for name in sheets["Tasks"].header
    ]
    sheets["Tasks"] = replace(sheets["Tasks"], header=names)
    study = parse_sheets(sheets)
    assert found(study, "unmatched-column").column == header
    assert "PostTaskEmpathy_Affective" in study.never_asked["column"].tolist()
    sheets["Tasks"] = replace(
        sheets["Tasks"],
        header=[name.replace(header, "posttaskempathy_1affectiveUnderstanding") for name in names],
    )
    assert parse_sheets(sheets).conversations["post_Affective"].eq(4).all()


def test_of_two_equal_names_the_first_column_is_used(minimal_sheets):
    sheets = minimal_sheets()
    messages = sheets["Messages"]
    rows = [[*row, "poor"] for row in messages.rows]
    sheets["Messages"] = replace(messages, header=[*messages.header, "Interest"], rows=rows)
    study = parse_sheets(sheets)
    assert found(study, "duplicate").position == 15
    assert study.turns["Interest"].tolist() == [4.0, 5.0] * 4


def test_of_several_sheets_with_a_pid_the_one_where_nobody_stands_twice_is_read(minimal_sheets):
    log = Sheet("Log", ["PID", "event"], [["P1", "a"], ["P1", "b"]])
    people = replace(minimal_sheets()["Participants"], name="Who")
    study = parse_sheets(minimal_sheets(participants=None, further=[log, people]))
    assert study.participants_sheet == "Who"
    assert study.diagnostics == []


def test_never_asked_is_blank_or_missing_but_not_unknown(read):
    study = read(
        messages={
            "Cognitive": None,
            "Relational": ...,
            "Interest": [None, "unknown"] * 8,
            "Retry": None,
        },
        tasks={"PreTaskImportance": " ", "PreTaskChoice": None},
    )
    assert study.never_asked["column"].tolist() == [
        *("PreTaskChoice", "PreTaskImportance", "Cognitive", "Relational")
    ]
    assert study.not_recorded["column"].tolist() == ["Retry"]
    assert "Interest" in study.asked
    assert "Interest" not in study.rated_dimensions


def test_hidden_sheets_and_error_cells_are_said(minimal_sheets):
    sheets = minimal_sheets()
    sheets["Messages"] = replace(sheets["Messages"], without_value=[(6, 3), (7, 5)], hidden=[4])
    sheets["Tasks"] = replace(sheets["Tasks"], visible=False)
    places = [(item.kind, item.place) for item in parse_sheets(sheets).diagnostics]
    assert sorted(places) == [
        ("hidden", "sheet Messages, row 4"),
        ("hidden", "sheet Tasks"),
        ("no-value", "sheet Messages, column Affective, cell H5"),
        ("no-value", "sheet Messages, column EmpathyOverall, cell G3"),
    ]
