"""The reader as a table: what is done to a valid workbook, and what is then found and read."""

import datetime as dt
import gc
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from sense7 import loading
from sense7.cli.description import describe
from sense7.errors import UserError
from sense7.findings.dataset import diagnostics_table
from sense7.study import ABSENT, NOT_RATED, RATED, UNREADABLE
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS
from sense7.workbook import (
    ReadingOptions,
    Sheet,
    WorkbookError,
    parse_sheets,
    read_workbook,
    write_sheets,
)
from sense7.workbook.diagnostics import NOTICE, WARNING
from sense7.workbook.ids import as_name, as_names, as_text, as_texts
from sense7.workbook.sheets import find_prompted

AFFECTIVE = "sheet Messages, column Affective, cell H3"
TURN_ROWS = [3, 5, 7, 9, 11, 13, 15, 17]
"""Rows of the sheet Messages with an assistant turn, and the cell of the first one's Affective."""


@pytest.fixture
def read(minimal_sheets):
    """Read a minimal workbook with changes; see ``minimal_sheets``."""
    allowing = ReadingOptions(
        allow_unreadable=True
    )  # one odd cell is a large share of so small a workbook
    return lambda *, prompted_condition=None, strict=False, options=allowing, **changes: (
        parse_sheets(
            minimal_sheets(**changes),
            prompted_condition=prompted_condition,
            strict=strict,
            options=options,
        )
    )


def turn_cells(*cells):
    """A column of Messages whose assistant rows hold these cells, and otherwise good."""
    assistant = [*cells, *["good"] * (8 - len(cells))]
    return [cell for rating in assistant for cell in (None, rating)]


def found(study_or_error, kind):
    """The only diagnostic of this kind."""
    matching = [diagnostic for diagnostic in study_or_error.diagnostics if diagnostic.kind == kind]
    assert len(matching) == 1, [str(diagnostic) for diagnostic in study_or_error.diagnostics]
    return matching[0]


def kinds(study_or_error):
    return {diagnostic.kind for diagnostic in study_or_error.diagnostics}


def failure(read, **changes):
    with pytest.raises(WorkbookError) as caught:
        read(**changes)
    return caught.value


def states(study, name="Affective"):
    return study.turns[f"{name}_state"].tolist()


def test_the_minimal_workbook_is_read_without_a_diagnostic(read, minimal_sheets, tmp_path):
    study = read()
    assert study.diagnostics == []
    assert len(study.conversations) == 4
    assert len(study.messages) == 16
    assert study.turns["turn"].tolist() == [1, 2] * 4
    assert study.turns["row"].tolist() == TURN_ROWS
    assert parse_sheets(minimal_sheets(participants=None), strict=True).participants is None
    assert (study.turns[list(RATING_NAMES)].to_numpy() == np.array([[4.0], [5.0]] * 4)).all()
    assert study.participants["Age"].tolist() == [30.0, 41.0, 52.0]
    assert study.prompted_condition == "plain-empathy"
    assert len(study.never_asked) == len(study.not_recorded) == 0
    assert study.name == "workbook"
    write_sheets(minimal_sheets(), tmp_path / "mine.xlsx")
    from_file = read_workbook(tmp_path / "mine.xlsx")
    assert from_file.name == "mine"
    assert from_file.turns.equals(study.turns)
    assert from_file.messages.equals(study.messages)


# Errors: only what makes the analysis impossible


@pytest.mark.parametrize(
    ("changes", "kind", "sheet", "column"),
    [
        ({"tasks": None}, "missing-sheet", "Tasks", ""),
        ({"messages": None}, "missing-sheet", "Messages", ""),
        ({"tasks": {"PID": ...}}, "missing-key-column", "Tasks", "PID"),
        ({"tasks": {"TaskId": ...}}, "missing-key-column", "Tasks", "TaskId"),
        ({"messages": {"TaskId": ...}}, "missing-key-column", "Messages", "TaskId"),
        ({"messages": {"Role": ...}}, "missing-key-column", "Messages", "Role"),
        ({"tasks": {"TaskId": ["C1", "C2", "C1", "C4"]}}, "duplicate-id", "Tasks", "TaskId"),
        ({"tasks": {"TaskId": ["1", 2.0, 1.0, " 3 "]}}, "duplicate-id", "Tasks", "TaskId"),
        ({"messages": dict.fromkeys(RATING_NAMES[1:]) | {"EmpathyOverall": None}}, "no-rating", "Messages", ""),
        ({"messages": {"Role": "Assistant"}}, "no-rating", "Messages", ""),
        ({"tasks": {"TaskId": None, "PID": None}}, "no-conversation", "Tasks", ""),
    ],
)  # fmt: skip
def test_what_makes_the_analysis_impossible_is_an_error(read, changes, kind, sheet, column):
    error = failure(read, **changes)
    diagnostic = found(error, kind)
    assert (diagnostic.severity, diagnostic.sheet, diagnostic.column) == ("error", sheet, column)
    naming.check(diagnostic, sheet, column)
    assert str(diagnostic) in str(error)


def test_all_diagnostics_of_a_file_come_together(read):
    error = failure(
        read,
        tasks={"PID": ..., "TaskId": ["a", "a", "b", "c"], "Notes": "x"},
        messages={"Role": ..., "Affective": "splendid"},
        participants={"PID": "P1"},
    )
    assert {"missing-key-column", "unknown-column", "duplicate-participant"} <= kinds(error)
    assert [diagnostic.column for diagnostic in error.diagnostics.of("error")] == ["PID", "Role"]
    naming.check(error, "workbook: 2 things", "column PID", "column Role", "make the")
    severities = [diagnostic.severity for diagnostic in error.diagnostics]
    assert severities == sorted(severities)


@pytest.mark.parametrize("name", ["Tasks", "Messages"])
@pytest.mark.parametrize("rows", ["header only", "nothing at all"])
def test_empty_sheets_are_errors_without_a_traceback(minimal_sheets, name, rows):
    sheets = minimal_sheets()
    sheets[name] = Sheet(name, sheets[name].header if rows == "header only" else [], [])
    with pytest.raises(WorkbookError) as refusal:
        parse_sheets(sheets)
    assert name in {fault.sheet for fault in refusal.value.diagnostics.of("error")}


def test_a_blank_row_above_the_names_is_explained(minimal_sheets):
    sheets = minimal_sheets()
    tasks = sheets["Tasks"]
    sheets["Tasks"] = Sheet("Tasks", [""] * len(tasks.header), [tasks.header, *tasks.rows])
    with pytest.raises(WorkbookError) as refusal:
        parse_sheets(sheets)
    faults = refusal.value.diagnostics.of("error")
    assert [(fault.kind, fault.column) for fault in faults] == [
        ("missing-key-column", "PID"),
        ("missing-key-column", "TaskId"),
    ]
    naming.check(faults[0], "sheet Tasks, column PID", "row 1")


# Warnings: each located, and what is read all the same


@pytest.mark.parametrize(
    ("changes", "kind", "place"),
    [
        ({"messages": {"Affective": turn_cells("splendid")}}, "unknown-word", AFFECTIVE),
        ({"messages": {"Affective": turn_cells("fair")}}, "unknown-word", AFFECTIVE),
        ({"messages": {"Affective": turn_cells(True)}}, "unknown-word", AFFECTIVE),
        ({"messages": {"Affective": turn_cells(dt.date(2025, 1, 2))}}, "unknown-word",
         AFFECTIVE),
        ({"messages": {"Affective": turn_cells(0.0)}}, "out-of-range", AFFECTIVE),
        ({"messages": {"Affective": turn_cells("good", 6.0)}}, "out-of-range",
         "sheet Messages, column Affective, cell H5"),
        ({"messages": {"Affective": turn_cells("4 - Poor")}}, "contradiction", AFFECTIVE),
        ({"tasks": {"PreTaskDesiredEmpathy": [1.0, 4.0, 2.0, 3.0]}}, "out-of-range",
         "sheet Tasks, column PreTaskDesiredEmpathy, cell F3"),
        ({"tasks": {"TaskId": ["C1", "C2", "C3", None]}}, "missing-id", "sheet Tasks, column TaskId, cell C5"),
        ({"tasks": {"PID": ["P1", None, " ", "P3"]}}, "missing-participant", "sheet Tasks, column PID, cells A3, A4"),
        ({"tasks": {"PID": ["p1", "P1", "P2", "P3"]}}, "similar-participants", "sheet Tasks, column PID, cells A2, A3"),
        ({"tasks": {"Model": ["a", None, "b", ""]}}, "missing-condition", "sheet Tasks, column Model, cells B3, B5"),
        ({"messages": {"TaskId": ["C1"] * 4 + ["C2"] * 4 + ["C3"] * 4 + ["D"] * 4}}, "orphan",
         "sheet Messages, column TaskId, cells A14, A15, A16, A17"),
        ({"messages": {"TaskId": ["C1"] * 4 + ["C2"] * 4 + ["C3"] * 4 + [None] * 4}}, "orphan",
         "sheet Messages, column TaskId, cells A14, A15, A16, A17"),
        ({"messages": {"TaskId": ["C1"] * 4 + ["C2"] * 4 + ["C3"] * 4 + ["c4"] * 4}}, "respelt-id",
         "sheet Messages, column TaskId, cells A14, A15, A16, A17"),
        ({"messages": {"TaskId": ["C1"] * 8 + ["C2"] * 4 + ["C3"] * 4}}, "no-message",
         "sheet Tasks, column TaskId, cell C5"),
        ({"messages": {"Role": ["user", "Assistant"] + ["user", "assistant"] * 7}}, "unknown-role",
         "sheet Messages, column Role, cell D3"),
        ({"messages": {"Role": [None, "assistant"] + ["user", "assistant"] * 7}}, "unknown-role",
         "sheet Messages, column Role, cell D2"),
        ({"messages": {"Interest": ["good", "good"] + [None, "poor"] * 7}}, "rating-elsewhere",
         "sheet Messages, column Interest, cell L2"),
        ({"messages": {"MessageId": [1.0, 2.0, None, 4.0] + [1.0, 2.0, 3.0, 4.0] * 3}}, "missing-message-id",
         "sheet Messages, column MessageId, cell B4"),
        ({"messages": {"MessageId": [1.0, 2.0, 2.0, 3.0] + [1.0, 2.0, 3.0, 4.0] * 3}}, "repeated-message-id",
         "sheet Messages, column MessageId, cells B3, B4"),
        ({"messages": {"MessageId": [4.0, 3.0, 5.0, 6.0] + [1.0, 2.0, 3.0, 4.0] * 3}}, "unordered-message-id",
         "sheet Messages, column MessageId, cell B3"),
        ({"messages": {"MessageId": ["one", 2.0, 3.0, 4.0] + [1.0, 2.0, 3.0, 4.0] * 3}}, "not-a-number",
         "sheet Messages, column MessageId, cell B2"),
        ({"messages": {"TimeOffsetSeconds": [-1.0, 2.0, 3.0, 4.0] * 4}}, "not-a-number",
         "sheet Messages, column TimeOffsetSeconds, cells C2, C6, C10, C14"),
        ({"messages": {"TimeOffsetSeconds": [dt.time(0, 1)] + [1.0] * 15}}, "not-a-number",
         "sheet Messages, column TimeOffsetSeconds, cell C2"),
        ({"messages": {"Mood": "x"}}, "unknown-column", "sheet Messages, column Mood"),
        ({"tasks": {"Model": ..., "model": "a"}}, "renamed-column", "sheet Tasks, column model"),
        ({"messages": {"": "x"}}, "unknown-column", "sheet Messages, column P (no name)"),
        ({"messages": {"affective ": "x"}}, "duplicate-column", "sheet Messages, column affective "),
        ({"tasks": {"PostTaskEmpathy_Warmth": 4.0}}, "unmatched-column", "sheet Tasks, column PostTaskEmpathy_Warmth"),
        ({"participants": {"PID": ["P1", "P2", "P2"]}}, "duplicate-participant",
         "sheet Participants, column PID, cell A4"),
        ({"participants": {"PID": ["P1", "P2", None]}}, "missing-id", "sheet Participants, column PID, cell A4"),
        ({"participants": {"PID": ["P1", "P2", "P4"]}}, "participant-without-conversation",
         "sheet Participants, column PID, cell A4"),
        ({"participants": {"PID": ["P1", "P2", "P4"]}}, "participant-without-characteristics",
         "sheet Tasks, column PID, cell A5"),
        ({"participants": {"Age": [30.0, "NA", 40.0]}}, "mixed-column", "sheet Participants, column Age, cell B3"),
        ({"further": [Sheet("Codebook", ["a"], [["b"]])]}, "unknown-sheet", "sheet Codebook"),
        ({"further": [Sheet("More", ["PID", "b"], [["P1", "b"]])]}, "further-participants-sheet", "sheet More"),
        ({"further": [Sheet("Old tasks", ["PID", "TaskId"], [["P1", 1.0], ["P1", 2.0]])]}, "copied-sheet",
         "sheet Old tasks"),
    ],
)  # fmt: skip
def test_all_else_is_a_located_warning(read, changes, kind, place):
    diagnostic = found(read(**changes), kind)
    assert (diagnostic.severity, diagnostic.place) == ("warning", place)
    naming.check(diagnostic, place)


def test_many_values_of_one_kind_are_one_diagnostic(read):
    study = read(messages={"MessageId": [f"m{index}" for index in range(16)]})
    diagnostic = found(study, "not-a-number")
    assert diagnostic.count == 16
    assert diagnostic.value == "m0, m1, m2 and 13 others"
    assert diagnostic.rows == tuple(range(2, 18))
    assert "missing-message-id" not in kinds(study)
    assert study.turns["turn"].tolist() == [1, 2] * 4


def test_a_missing_column_is_listed_as_not_recorded_and_is_no_warning(read):
    study = read(messages={"MessageId": ...}, strict=True)
    assert kinds(study) == set()
    assert "MessageId" in set(study.not_recorded["column"])
    assert study.turns["turn"].tolist() == [1, 2] * 4


def test_hidden_sheets_and_error_cells_are_said(minimal_sheets):
    sheets = minimal_sheets()
    for name in ("Messages", "Participants"):
        sheet = sheets[name]
        sheets[name] = Sheet(
            name, sheet.header, sheet.rows, visible=False, errors=[(0, 3), (0, 4), (99, 5)]
        )
    study = parse_sheets(sheets)
    assert {"hidden-sheet", "error-cell"} == kinds(study)
    places = [
        diagnostic.place for diagnostic in study.diagnostics if diagnostic.kind == "error-cell"
    ]
    assert places[:2] == [
        "sheet Messages, column TaskId, cells A3, A4",
        "sheet Messages, column CV (no name), cell CV5",
    ]
    assert len(places) == 4
    assert [
        diagnostic.sheet for diagnostic in study.diagnostics if diagnostic.kind == "hidden-sheet"
    ] == [
        "Messages",
        "Participants",
    ]


# Ratings


@pytest.mark.parametrize(
    ("cell", "level", "state"),
    [
        ("very poor", 1, RATED), ("Poor", 2, RATED), (" NEUTRAL ", 3, RATED), ("very  good", 5, RATED),
        (4.0, 4, RATED), (4, 4, RATED), ("4", 4, RATED), (" 4.0 ", 4, RATED), ("4,0", 4, RATED),
        ("4 - Good", 4, RATED), ("Good (4)", 4, RATED), ("(4) good", 4, RATED), ("4: GOOD", 4, RATED),
        ("4. good", 4, RATED),
        ("very\u00a0good", 5, RATED), ("\uff14", 4, RATED),
        ("unknown", None, NOT_RATED), (" Unknown", None, NOT_RATED), ("0 - unknown", None, NOT_RATED),
        ("not applicable", None, NOT_RATED), ("keine Angabe", None, NOT_RATED),
        ("N/A", None, ABSENT), ("NA", None, ABSENT), ("NaN", None, ABSENT), (".", None, ABSENT),
        ("fair", None, UNREADABLE), ("5%", None, UNREADABLE), ("4 %", None, UNREADABLE),
        ("goood", None, UNREADABLE), ("#REF!", None, UNREADABLE), ("4 - Poor", None, UNREADABLE),
        ("4/5", None, UNREADABLE), ("3-4", None, UNREADABLE),
        (0.0, None, UNREADABLE), (6.0, None, UNREADABLE), (3.5, None, UNREADABLE), ("-2", None, UNREADABLE),
        (1e300, None, UNREADABLE), ("9" * 400, None, UNREADABLE),
        (True, None, UNREADABLE), (dt.date(2025, 4, 5), None, UNREADABLE), (dt.time(4), None, UNREADABLE),
        (None, None, ABSENT), ("  ", None, ABSENT),
    ],
)  # fmt: skip
def test_a_cell_of_a_turn_rating(read, cell, level, state):
    study = read(messages={"Affective": turn_cells(cell)})
    number = study.turns["Affective"].iloc[0]
    assert number == level if level else np.isnan(number)
    assert states(study)[0] == state
    assert states(study)[1:] == [RATED] * 7
    missing_code = state == ABSENT and str(cell or "").strip() != ""
    expected = ["warning"] if state == UNREADABLE else ["notice"] if missing_code else []
    assert [diagnostic.severity for diagnostic in study.diagnostics] == expected


AGREE = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]


@pytest.mark.parametrize(
    "words",
    [LEVELS, AGREE, ["1 - very poor", "2 - poor", "3 - neutral", "4 - good", "5 - very good"],
     [1.0, "2", "neutral", 4.0, "Very good (5)"],
     ["Poor", "Fair", "Good", "Very good", "Excellent"], ["Never", "Rarely", "Sometimes", "Often", "Always"]],
    ids=str,
)  # fmt: skip
def test_every_scale_may_come_in_other_words(read, words):
    study = read(
        messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), turn_cells(*words, *words[:3]))
    )
    for name in RATING_NAMES:
        assert study.turns[name].tolist() == [1, 2, 3, 4, 5, 1, 2, 3]
    assert kinds(study) <= {"other-words"}
    assert ("other-words" in kinds(study)) == (words[0] in {"Strongly disagree", "Poor", "Never"})


def test_one_column_in_other_words_does_not_change_the_rest(read):
    study = read(messages={"EmpathyOverall": turn_cells(*AGREE, *AGREE[:3])})
    assert study.turns["overall"].tolist() == [1, 2, 3, 4, 5, 1, 2, 3]
    assert found(study, "other-words").column == "EmpathyOverall"
    assert study.turns["Affective"].tolist() == [4, 5] * 4


# Names of sheets and columns


def test_keys_in_another_case_and_space_are_read_with_a_warning(minimal_sheets):
    plain = minimal_sheets()
    renamed = {
        " tasks ": Sheet(
            " tasks ", [f" {name.lower()} " for name in plain["Tasks"].header], plain["Tasks"].rows
        ),
        "MESSAGES": Sheet(
            "MESSAGES", [name.upper() for name in plain["Messages"].header], plain["Messages"].rows
        ),
    }
    study = parse_sheets(renamed)
    assert kinds(study) == {"renamed-sheet", "renamed-column"}
    assert study.turns.equals(parse_sheets(plain).turns)
    assert len(
        [diagnostic for diagnostic in study.diagnostics if diagnostic.kind == "renamed-column"]
    ) == len(TASK_COLUMNS) + len(MESSAGE_COLUMNS)


def test_a_missing_key_of_a_renamed_sheet_is_said_once(minimal_sheets):
    tasks = minimal_sheets(tasks={"PID": ...})["Tasks"]
    with pytest.raises(WorkbookError) as caught:
        parse_sheets(
            {
                "tasks": Sheet("tasks", tasks.header, tasks.rows),
                "Messages": minimal_sheets()["Messages"],
            }
        )
    assert [
        diagnostic.kind for diagnostic in caught.value.diagnostics if diagnostic.column == "PID"
    ] == ["missing-key-column"]


@pytest.mark.parametrize(
    "header", ["PostTaskEmpathy_1", "PostTaskEmpathy_AffectiveCognitive", "PostTaskEmpathy_"]
)
def test_suffixes_that_name_none_or_several_are_listed(read, header):
    study = read(
        tasks={"PostTaskEmpathy_Affective": ..., "PostTaskEmpathy_Cognitive": ..., header: 4.0}
    )
    assert found(study, "unmatched-column").column == header
    assert study.conversations["post_Affective"].isna().all()


@pytest.mark.parametrize(
    "others", [{"PostTaskEmpathy_AffectiveWhy": "x"}, {"posttaskempathy_affective": 3.0}, {}]
)
def test_a_dimension_that_several_columns_name_is_that_of_its_own_name_or_of_none(read, others):
    """A rating that was read from the column with the comment, or from one of two, would be a false number."""
    further = {"PostTaskEmpathy_AffectiveLater": 2.0, **others}
    study = read(
        tasks={"PostTaskEmpathy_Affective": ..., "PostTaskEmpathy_AffectiveNow": 5.0, **further}
    )
    own = "posttaskempathy_affective" in others
    assert study.conversations["post_Affective"].dropna().unique().tolist() == [3.0] * own
    kinds = [one.column for one in study.diagnostics if one.kind == "unmatched-column"]
    assert kinds == [
        "PostTaskEmpathy_AffectiveNow",
        *(name for name in further if name != "posttaskempathy_affective"),
    ]


def test_of_two_equal_names_the_first_column_is_used(minimal_sheets):
    sheets = minimal_sheets()
    tasks = sheets["Tasks"]
    sheets["Tasks"] = Sheet(
        "Tasks", [*tasks.header, "Model"], [[*row, "other"] for row in tasks.rows]
    )
    study = parse_sheets(sheets)
    assert study.conditions == ["plain", "plain-empathy"]
    assert found(study, "duplicate-column").column == "Model"


# Ids


GUID = "3F2504E0-4F89-11D3-9A0C-0305E82C3301"


@pytest.mark.parametrize(
    ("in_tasks", "in_messages", "kind"),
    [
        ("1", 1.0, None), (1.0, "1", None), (1, "1 ", None), ("A1 ", "A1", None),
        ("NA", "NA", None), ("None", "None", None),
        (1.0, "001", "respelt-id"), ("001", 1.0, "respelt-id"), ("1.0", 1.0, "respelt-id"),
        (GUID, GUID.lower(), "respelt-id"),
        (f"{{{GUID}}}", GUID, "respelt-id"),
        ("9" * 30, "9" * 30, None), ("9" * 5000, "0" + "9" * 5000, "respelt-id"),
        (123456789012345.0, "123456789012345", None),
        ("=1+1", "=1+1", None),
        (True, "True", "rounded-id"), (dt.date(2025, 9, 19), dt.date(2025, 9, 19), "rounded-id"),
    ],
)  # fmt: skip
def test_ids_match_in_whatever_type_they_come(read, in_tasks, in_messages, kind):
    study = read(
        tasks={"TaskId": [in_tasks, "x2", "x3", "x4"]},
        messages={"TaskId": [in_messages] * 4 + ["x2"] * 4 + ["x3"] * 4 + ["x4"] * 4},
    )
    assert len(study.messages) == 16
    assert study.messages["conversation"].iloc[0] == study.conversations["conversation"].iloc[0]
    assert kinds(study) == ({kind} if kind else set())


def test_an_id_that_is_alike_to_two_is_an_orphan(read):
    study = read(
        tasks={"TaskId": ["a", "A", "C3", "C4"]},
        messages={"TaskId": ["a"] * 3 + ["A"] * 4 + ["{a}"] + ["C3"] * 4 + ["C4"] * 4},
    )
    assert found(study, "orphan").rows == (9,)


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        ("MessageId", "ninth", "ninth"),
        ("TimeOffsetSeconds", -9.0, "-9"),
        ("TimeOffsetSeconds", "1,000", "1,000"),
        ("TimeOffsetSeconds", "1,5,2", "1,5,2"),
        ("TimeOffsetSeconds", -2.5, "-2.5"),
        ("TimeOffsetSeconds", True, "True"),
    ],
)
def test_a_cell_is_quoted_as_it_is_shown_and_the_hint_names_no_infinity(read, column, cell, value):
    others = {"MessageId": [1.0, 3.0, 4.0], "TimeOffsetSeconds": [0.0, None, None]}
    first, *last = others[column]
    study = read(messages={column: [first, cell, *last, *[first, *last, None] * 3]})
    [quoting] = [diagnostic for diagnostic in study.diagnostics if diagnostic.value]
    assert quoting.value == value
    naming.check(quoting, column, repr(value))
    assert "inf" not in quoting.fix


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10,0", 10.0),
        ("0,125", 0.125),
        (",5", 0.5),
        (" 7,25 ", 7.25),
        ("1234,567", 1234.567),
        ("\uff11\uff12\uff0c\uff15", 12.5),
        ("\u0661\u0662\u066b\u0665", 12.5),
        ("1,000", None),
        ("1.234,5", None),
        ("1'234", None),
        ("1\u202f234", None),
        ("\u0661\u066c\u0662\u0663\u0664", None),
        ("4\u00bd", None),
    ],
)
def test_a_decimal_comma_is_read_where_it_can_be_nothing_else(read, text, number):
    study = read(messages={"TimeOffsetSeconds": [None, text, None, None] + [None] * 12})
    seconds = study.messages["seconds"].iloc[1]
    if number is None:
        assert np.isnan(seconds)
        assert found(study, "not-a-number").severity == WARNING
    else:
        assert seconds == number
        assert not study.diagnostics


# Roles, order


@pytest.mark.parametrize(
    ("seconds", "rows"),
    [
        ([0, 5, 9, 20], ()),
        ([0, 0, None, 0], ()),
        ([20, 9, 5, 0], (3, 4, 5)),  # the newest message first
        ([0, 950, "1.234", "1.300"], (4,)),  # a point between thousands
        ([5, None, 3, 9], (4,)),
    ],
)
@pytest.mark.parametrize("is_numbered", [True, False])
def test_times_against_the_order_of_messages_are_told(read, seconds, rows, is_numbered):
    changes = {"TimeOffsetSeconds": [*seconds, *[0, 5, 9, 20] * 3]}
    if not is_numbered:
        changes["MessageId"] = ...
    told = read(messages=changes).diagnostics
    assert [(item.kind, item.rows) for item in told] == ([("time-goes-back", rows)] if rows else [])


@pytest.mark.parametrize(
    "role", ["Assistant", "assistant ", "ASSISTANT", "bot", "system", None, 1.0]
)
def test_only_exactly_assistant_makes_a_turn(read, role):
    study = read(messages={"Role": ["user", role, "user", "assistant"] * 4})
    assert len(study.turns) == 4
    assert study.turns["turn"].tolist() == [1] * 4
    assert {"unknown-role", "rating-elsewhere"} == kinds(study)
    assert found(study, "unknown-role").count == 4


def test_all_ratings_that_one_wrong_role_concerns_are_one_warning(read):
    study = read(messages={"Role": ["user", "Assistant"] + ["user", "assistant"] * 7})
    warning = found(study, "rating-elsewhere")
    assert warning.place == "sheet Messages, row 3"
    assert warning.problem.startswith("8 ratings ")


# Texts


@pytest.mark.parametrize(
    "text", ["NA", "None", "nan", "null", "N/A", " ", "=1+1", "\x00", "a\r\nb", "_x000D_"]
)
def test_texts_that_look_like_holes_are_texts(minimal_sheets, tmp_path, text):
    sheets = minimal_sheets(
        messages={"Content": text, "Comment": text}, tasks={"PreTaskChoice": f"x{text}"}
    )
    write_sheets(sheets, tmp_path / "a.xlsx")
    study = read_workbook(tmp_path / "a.xlsx")
    assert set(study.messages["content"]) == set(study.messages["comment"]) == {text}
    assert set(study.conversations["topic"]) == {" ".join(f"x{text}".replace("\0", "").split())}
    assert study.warnings == []


LONGEST = 32_767
CUT = {
    "within a word": ("word " * 6554)[:LONGEST],
    "after a space": "word" * 8191 + "ab ",
    "at a full stop": "a" * (LONGEST - 1) + ".",
    "by UTF-16 units": "a" + "\U0001f642" * ((LONGEST - 1) // 2),
    "before a character of two units": "\U0001f642" * (LONGEST // 2),
    "characters where each emoji counts once": "\U0001f642" * LONGEST,
}


@pytest.mark.parametrize("text", CUT.values(), ids=CUT)
@pytest.mark.parametrize("column", ["Content", "Comment"])
def test_a_text_as_long_as_a_cell_may_be_is_said_to_be_cut(read, column, text):
    study = read(messages={column: [None, text] + [None] * 5 + [text] + [None] * 8})
    [notice] = study.diagnostics
    assert (notice.kind, notice.severity, notice.column, notice.rows) == (
        "cut-text",
        NOTICE,
        column,
        (3, 9),
    )


@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST + 1, 16_383, 40_000])
def test_a_text_of_another_length_is_whole(read, length):
    assert not read(
        messages={"Content": "a" * length, "MessageId": [1.0, 2.0, 3.0, 4.0] * 4}
    ).diagnostics


# Participants


def test_of_several_the_sheet_with_one_row_a_participant_is_taken(read):
    study = read(
        further=[
            Sheet(
                "Log",
                ["PID", "event"],
                [["P1", "a"], ["P1", "b"], ["P2", "c"], ["P3", "d"], ["P4", "e"]],
            )
        ]
    )
    assert study.participants_sheet == "Participants"


# What is read of other columns: changes, where it is read, what, and the kinds of diagnostics


def tasks(column, cells, name, values, *kinds):
    return {"tasks": {column: cells}}, "conversations", name, values, *kinds


def named(header, *kinds):
    """The column PostTaskEmpathy_Affective under another name."""
    changes = {"PostTaskEmpathy_Affective": ..., header: [1.0, 2.0, 3.0, 5.0]}
    return {"tasks": changes}, "conversations", "post_Affective", [1, 2, 3, 5], *kinds


def messages(column, cells, frame, name, values, *kinds):
    return {"messages": {column: cells}}, frame, name, values, *kinds


def people(column, cells, values, *kinds):
    return (
        {"participants": {column: cells}},
        "participants",
        column.replace("PID", "participant"),
        values,
        *kinds,
    )


def another_sheet(name):
    sheet = Sheet(name, ["x", " pid"], [[1.0, "P1"], [2.0, "P2"], [3.0, "P3"]])
    return {"participants": None, "further": [sheet]}, "participants", "x", [1, 2, 3]


INTERLEAVED = {"TaskId": ["C1", "C1", "C2", "C2"] * 2 + ["C3"] * 4 + ["C4"] * 4, "MessageId": None}
INTERLEAVED |= {"Content": [f"message {number}" for number in range(16)]}
UNORDERED = ("unordered-message-id", "time-goes-back")
READ = [
    tasks("PreTaskImportance", ["Not at all important", "very important", "5", 2.0], "importance", [1, 4, 5, 2]),
    tasks(
        "PreTaskImportance",
        ["not important", "important", "Very important", "moderately important"],
        "importance",
        [1, 4, 5, 3],
        "other-words",
    ),
    tasks("PreTaskDesiredEmpathy", ["Minimal", "Moderate", "HIGH", "3 - high"], "desired_empathy", [1, 2, 3, 3]),
    tasks("PostTaskExperience_UseAgain", [*AGREE[:3], "Strongly Agree"], "use_again", [1, 2, 3, 5]),
    tasks("PostTaskEmpathy_Interest", ["very poor", "good", "unknown", None], "post_Interest", [1, 4, None, None]),
    *(tasks(column, word, name, [word] * 4, "perhaps-missing")
      for word in ("None", "NA") for column, name in (("Model", "condition"), ("PreTaskChoice", "topic"))),
    tasks("Model", None, "condition", [None] * 4),
    *(named(header, "renamed-column") for header in (
        "posttaskempathy_affective", "PostTaskEmpathy Affective", "PostTaskEmpathyAffective")),
    *map(named, ("PostTaskEmpathy_Affective_Underst", "PostTask_Empathy_Affective_1")),
    named("PostTaskEmpathy_AffectiveUnderstanding"),
    named("PostTaskEmpathy_Affective Understanding"),
    messages("MessageId", [3.0, 4.0, 1.0, 2.0] * 4, "messages", "position", [3, 4, 1, 2] * 4, *UNORDERED),
    messages("MessageId", [3.0, 4.0, 1.0, 2.0] * 4, "turns", "turn", [2, 1] * 4, *UNORDERED),
    messages("MessageId", [3.0, 4.0, 1.0, 2.0] * 4, "turns", "row", TURN_ROWS, *UNORDERED),
    ({"messages": INTERLEAVED}, "turns", "turn", [1, 1, 2, 2, 1, 2, 1, 2], "missing-message-id", "time-goes-back"),
    *(messages("Content", cell, "messages", "content", [text] * 16) for cell, text in (
        (None, None), (3.0, "3"), (0.5, "0.5"), (True, "True"), (dt.date(2025, 1, 2), "2025-01-02"))),
    people("PID", ["p1", "p2", "p3"], ["P1", "P2", "P3"], "respelt-id"),
    people("PID", ["{P1}", "P2 ", "P3"], ["P1", "P2", "P3"], "respelt-id"),
    people("Sources", ["1,2", "1,3", "2,3"], ["1,2", "1,3", "2,3"], "number-as-text"),  # choices, no decimals
    people("Age", [30.0, "41", None], [30.0, 41.0, None]),
    people("Age", [30.0, "prefer not to say", 52.0], [30.0, None, 52.0], "mixed-column"),
    people("Age", [30.0, "N/A", "unknown"], [30.0, None, None], "mixed-column"),
    people("Age", [30.0, 41.0, "65+"], ["30", "41", "65+"], "mixed-column"),
    people("Age", ["18-24", "25-34", "65+"], ["18-24", "25-34", "65+"]),
    people("Age", ["none", "none", "unknown"], ["none", "none", "unknown"], "perhaps-missing"),
    people("Age", [True, False, None], ["True", "False", None]),
    *map(another_sheet, ("src_People", "Sheet4", "donn\u00e9es")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "frame", "column", "values", "found"), [(*row[:4], set(row[4:])) for row in READ]
)
def test_what_is_read_of_other_columns(read, changes, frame, column, values, found):
    study = read(**changes)
    got = getattr(study, frame)[column].tolist()
    assert [
        None if isinstance(value, float) and np.isnan(value) else value for value in got
    ] == values
    assert kinds(study) == found


# What was never asked


def test_never_asked_is_blank_or_missing_but_not_unknown(read):
    study = read(
        messages={
            "Cognitive": None,
            "Relational": ...,
            "Interest": turn_cells(*["unknown"] * 8),
            "Retry": None,
        },
        tasks={"PreTaskImportance": " ", "PreTaskChoice": None},
    )
    assert study.never_asked["column"].tolist() == [
        "PreTaskChoice",
        "PreTaskImportance",
        "Cognitive",
        "Relational",
    ]
    assert study.not_recorded["column"].tolist() == ["Retry"]
    assert "Interest" in study.asked
    assert "Interest" not in study.rated_dimensions
    report = describe(study)
    assert report["never_asked"] == [
        "Tasks.PreTaskChoice",
        "Tasks.PreTaskImportance",
        "Messages.Cognitive",
        "Messages.Relational",
    ]
    assert report["not_recorded"] == ["Messages.Retry"]


def test_a_rating_that_stands_on_user_rows_only_was_never_put_to_a_turn(read):
    study = read(messages={"Cognitive": ["good", None] * 8})
    assert study.never_asked["column"].tolist() == ["Cognitive"]
    assert found(study, "rating-elsewhere").count == 8


def test_the_collector_of_cycles_is_afterwards_as_it_was_before(tmp_path):
    (tmp_path / "broken.xlsx").write_bytes(b"broken")
    assert gc.isenabled()
    with pytest.raises(UserError):
        read_workbook(tmp_path / "broken.xlsx")
    assert gc.isenabled()


def test_the_diagnostics_make_a_table(read):
    table = diagnostics_table(read(messages={"Affective": turn_cells("splendid", "splendid")}))
    assert table.loc[0, ["where", "count", "value"]].tolist() == [
        "sheet Messages, column Affective, cells H3, H5",
        2,
        "splendid",
    ]


# The prompted condition, guessed from names

SPEAKING = [
    "GPT-4o empathy",
    "gpt-empathic",
    "Emp",
    "GPT emph",
    "GptEmp",
    "with prompt",
    "Prompted",
    "GPT_EMPATHETIC",
]
DENYING = [
    "no empathy",
    "non prompted",
    "not prompted",
    "without empathy",
    "un prompted",
    "nonempathic",
    "noprompt",
]
DENYING += ["unprompted", "unempathic", "temper", "contempt", "tempo"]


def guessed(*names, given=None):
    return find_prompted(pd.DataFrame({"condition": [*names, None]}), given, "mine.xlsx")


@pytest.mark.parametrize(
    ("names", "prompted"),
    [
        *((("plain", name), name) for name in SPEAKING),
        *((("plain", name), None) for name in DENYING),
        *((("with prompt", name), "with prompt") for name in DENYING),
        (("a prompt", "empathy"), None),
    ],
)
def test_the_prompted_condition_is_guessed_from_names(names, prompted):
    assert guessed(*names)[0] == prompted


def test_how_the_prompted_condition_was_guessed_is_said():
    assert guessed("plain", "with prompt")[1]
    assert guessed("plain", "no prompt")[1]
    naming.check(guessed("a prompt", "empathy", "plain")[1], "a prompt, empathy")


def test_what_is_given_is_taken_or_refused_with_what_there_is():
    assert guessed("a", "empathy", given="a") == ("a", "given")
    with naming.refused("mine.xlsx", "'c'", "'a', 'b'"):
        guessed("b", "a", given="c")
    with naming.refused("mine.xlsx", "'c'"):
        guessed(given="c")


# Without data frames: the same is said, and no pandas is imported

NOT_FOR_CHECK = {
    "pandas",
    "scipy",
    "sklearn",
    "statsmodels",
    "matplotlib",
    "rich",
    "yaml",
    "xlsxwriter",
}


@pytest.fixture
def odd(minimal_sheets, tmp_path):
    """A workbook in which much is strange, though nothing so much that it is refused."""
    sheets = minimal_sheets(
        conversations=3,
        tasks={"Model": ["empathy", None, "plain"], "PID": ["P1", None, "p1"]},
        messages={
            "Affective": [None, "splendid"] * 6,
            "Cognitive": None,
            "MessageId": [None, 2.0] * 6,
            "Mood": "x",
        },
    )
    write_sheets(sheets, tmp_path / "odd.xlsx")
    return tmp_path / "odd.xlsx"


def test_the_same_is_said_of_what_was_parsed_and_of_its_study(odd):
    for data, given in ((odd, {"allow_unreadable": True}), ("synthetic", {})):
        said = describe(loading.load(data, **given))
        assert describe(loading.parse(data, **given)) == said
    assert said["counts"]["conversations"] == 672
    naming.check(said["provenance"], "synthetic")


def test_check_imports_nothing_that_only_statistics_and_drawings_need(minimal_sheets, tmp_path):
    path = tmp_path / "mine.xlsx"
    write_sheets(minimal_sheets(), path)
    code = (
        "import contextlib, sys\nfrom sense7.cli import main\n"
        "for options in ([], ['--json'], ['--strict'], ['--prompted', 'nobody']):\n"
        f"    sys.argv = ['sense7', 'check', {str(path)!r}, *options]\n"
        "    with contextlib.suppress(SystemExit):\n        main()\n"
        f"print(sorted({NOT_FOR_CHECK} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "'nobody'" in done.stderr
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
