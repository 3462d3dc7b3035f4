"""Names that are spelt in several ways: what is one name, what is only alike, and what a user is told of it."""

import datetime as dt
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import naming
from sense7.judge.files import read_predictions
from sense7.workbook import WorkbookError, parse_sheets
from sense7.workbook.diagnostics import NOTICE, WARNING
from sense7.workbook.ids import as_name, group_spellings, is_retyped, look_alikes

ZWSP, NBSP, SOFT_HYPHEN, BOM, RIGHT_TO_LEFT = "\u200b", "\u00a0", "\u00ad", "\ufeff", "\u202e"
COMPOSED, DECOMPOSED = "Mod\u00e8le", "Mode\u0300le"
SAME = {
    "two blanks": "Modell  1",
    "no-break space": f"Modell{NBSP}1",
    "line break": "Modell\n1",
    "zero-width space": f"Mo{ZWSP}dell 1",
    "zero-width joiner": "Modell\u200d 1",
    "soft hyphen": f"Mo{SOFT_HYPHEN}dell 1",
    "byte order mark": f"{BOM}Modell 1",
    "direction mark": f"{RIGHT_TO_LEFT}Modell 1",
    "control character": "Mo\x02dell 1",
    "full-width letters": "\uff2d\uff4fdell \uff11",
    "ligature": "Mode\u217cl 1",
    "entity": "Modell&nbsp;1",
    "entity by its number": "Mod&#101;ll 1",
    "entity resolved twice": "Modell&amp;#32;1",
}
SIGNS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d",
    "'": "\u2018\u2019\u201b\u2032\u02bc\u00b4\uff07",
    '"': "\u201c\u201d\u201e\u2033\uff02",
}
"""Sign of the keyboard -> what programs write for it."""

LOOKS = {
    "A": "\u0410",
    "B": "\u0392",
    "C": "\u0421",
    "E": "\u0415",
    "H": "\u041d",
    "I": "\u0406",
    "K": "\u039a",
}
LOOKS |= {
    "M": "\u041c",
    "O": "\u041e",
    "P": "\u03a1",
    "T": "\u0422",
    "X": "\u03a7",
    "D": "\u13a0",
    "W": "\u13b3",
}
LOOKS |= {
    "a": "\u0430",
    "c": "\u0441",
    "e": "\u0435",
    "o": "\u043e",
    "p": "\u0440",
    "x": "\u0445",
    "y": "\u0443",
}
"""Latin letter -> one of another alphabet (Cyrillic, Greek, Cherokee) that looks like it."""

COLUMNS = {"PID": "participant", "Model": "condition", "PreTaskChoice": "topic"}


@pytest.fixture
def read(minimal_sheets):
    return lambda *, strict=False, prompted_condition=None, **changes: parse_sheets(
        minimal_sheets(**{"participants": None} | changes),
        strict=strict,
        prompted_condition=prompted_condition,
    )


@given(text=st.text())
@example(text=f" a{ZWSP} ")
@example(text="\u2000\u0301")
def test_a_name_is_its_own_name(text):
    name = as_name(text)
    assert name is None or (
        as_name(name) == name and unicodedata.is_normalized("NFC", name) and name == name.strip()
    )


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("spelling", SAME.values(), ids=SAME)
def test_what_cannot_be_seen_makes_no_other_name(read, column, spelling):
    study = read(tasks={column: ["Modell 1", spelling, "Modell 1", spelling]})
    assert set(study.conversations[COLUMNS[column]]) == {"Modell 1"}
    [notice] = study.diagnostics
    assert (notice.severity, notice.kind, notice.column, notice.rows) == (
        NOTICE,
        "replaced-signs",
        column,
        (3, 5),
    )
    assert f"{spelling!r} " in notice.problem
    assert "'Modell 1'" in notice.problem


@pytest.mark.parametrize("column", COLUMNS)
def test_blanks_at_the_ends_are_no_sign(read, column):
    study = read(tasks={column: ["Modell 1", "Modell 1 ", " Modell 1", "Modell 1\n"]})
    assert set(study.conversations[COLUMNS[column]]) == {"Modell 1"}
    assert not study.diagnostics


NAMES = st.text("AZaz09 .-'\"", min_size=1).map(lambda text: f"P{' '.join(text.split())}7")


@given(name=NAMES, data=st.data())
def test_a_name_is_the_same_with_any_sign_that_programs_write_for_one_of_the_keyboard(name, data):
    written = "".join(data.draw(st.sampled_from([sign, *SIGNS.get(sign, "")])) for sign in name)
    places = data.draw(st.lists(st.integers(0, len(written)), max_size=3))
    for place in places:
        written = (
            written[:place]
            + data.draw(st.sampled_from([ZWSP, BOM, SOFT_HYPHEN, "\x01"]))
            + written[place:]
        )
    assert as_name(written) == as_name(name)


@given(
    name=st.text("".join(LOOKS), min_size=1, max_size=8).map(lambda text: f"P{text}7"),
    data=st.data(),
)
def test_names_with_letters_of_other_alphabets_are_told_and_stay_apart(name, data):
    place = data.draw(st.integers(1, len(name) - 2))
    other = name[:place] + LOOKS[name[place]] + name[place + 1 :]
    assert as_name(other) != as_name(name)
    assert look_alikes([name, "Q1", other]) == [[name, other]]


@pytest.mark.parametrize("column", COLUMNS)
def test_both_forms_of_names_that_look_alike_are_told(read, column):
    study = read(tasks={column: ["A01", "\u041001", "A01", "A01"]})
    [warning] = study.diagnostics
    assert (warning.severity, warning.column, warning.rows) == (WARNING, column, (2, 3, 4, 5))
    assert "'A01' (3 rows)" in warning.problem
    assert "'\u041001' (U+0410 CYRILLIC CAPITAL LETTER A) (1 row)" in warning.problem


def test_names_of_one_keyboard_and_names_in_another_script_are_no_look_alikes():
    assert look_alikes(["Pl1", "PI1", "P11", "O0", "OO"]) == []
    assert look_alikes(["\u0410\u043d\u043d\u0430", "Anna", "\u041e\u043b\u0435\u0433"]) == []


def test_many_groups_of_names_are_one_warning(read):
    names = [f"plan {number}{case}" for number in range(30) for case in "aA"]
    tasks = {"PID": names, "TaskId": [f"C{number}" for number in range(60)]}
    [warning] = [one for one in read(tasks=tasks).diagnostics if one.kind == "similar-participants"]
    assert warning.count == 60
    naming.check(warning, "column PID", 27)


def test_answers_of_people_that_differ_in_case_are_told(minimal_sheets):
    study = parse_sheets(minimal_sheets(participants={"Group": ["Nurse", "nurse", "nurse"]}))
    [warning] = study.diagnostics
    assert (warning.kind, warning.sheet, warning.column) == (
        "similar-groups",
        "Participants",
        "Group",
    )


def test_a_message_whose_id_looks_like_that_of_a_task_is_matched_with_a_warning(read):
    study = read(messages={"TaskId": ["\u04211"] * 4 + ["C2"] * 4 + ["C3"] * 4 + ["C4"] * 4})
    assert len(study.messages) == 16
    assert [warning.kind for warning in study.diagnostics] == ["respelt-id"]


def test_composed_and_decomposed_letters_are_the_same(read):
    study = read(tasks={"Model": [COMPOSED, DECOMPOSED] * 2})
    assert study.conditions == [COMPOSED]
    assert (
        read(tasks={"Model": [COMPOSED, "b"] * 2}, prompted_condition=DECOMPOSED).prompted_condition
        == COMPOSED
    )
    with naming.refused("workbook", "' '"):
        read(prompted_condition=" ")


def test_ids_of_all_sheets_are_matched_alike(read):
    study = read(
        tasks={"PID": ["P1", "P1", "P2", "P3"], "TaskId": ["C1", "C2", f"C{ZWSP}3", "C4"]},
        messages={"TaskId": [f"C1{ZWSP}"] * 4 + ["C2"] * 4 + ["C3"] * 4 + [f" C4{BOM}"] * 4},
        participants={"PID": [f"P1{NBSP}", "P2", "P3"]},
    )
    assert study.messages["conversation"].value_counts().tolist() == [4] * 4
    assert study.participants["participant"].tolist() == ["P1", "P2", "P3"]
    assert {one.kind for one in study.diagnostics} == {"replaced-signs"}


def test_predictions_are_matched_alike(tmp_path):
    path = tmp_path / "model-prompt-iter1.csv"
    path.write_text(
        f"TaskId,IS_EMPATHY,ground-truth\nC1{ZWSP},4,4\n{NBSP}{DECOMPOSED},2,3\n", encoding="utf-8"
    )
    assert read_predictions(path).frame["conversation"].tolist() == ["C1", COMPOSED]


@pytest.mark.parametrize(
    ("column", "kind"),
    [("PID", "participants"), ("Model", "conditions"), ("PreTaskChoice", "topics")],
)
def test_names_that_differ_in_case_stay_apart_with_a_warning_that_shows_both(read, column, kind):
    study = read(tasks={column: ["Plan B", "plan b", "Plan B", "Plan B"]})
    assert set(study.conversations[COLUMNS[column]]) == {"Plan B", "plan b"}
    [warning] = study.diagnostics
    assert (warning.severity, warning.kind, warning.column) == (WARNING, f"similar-{kind}", column)
    naming.check(warning, column, "'Plan B' (3 rows)", "'plan b' (1 row)")
    assert warning.rows == (2, 3, 4, 5)
    with pytest.raises(WorkbookError) as strict:
        read(tasks={column: ["Plan B", "plan b", "Plan B", "Plan B"]}, strict=True)
    assert list(strict.value.diagnostics) == [warning]


@pytest.mark.parametrize(
    "names",
    [["\u0412\u0415\u0420\u0410", "\u0432\u0435\u0440\u0430"], ["\u039d\u039f", "\u03bd\u03bf"]],
)
def test_case_is_seen_in_every_script(names):
    assert list(group_spellings(names).values()) == [names]


@pytest.mark.parametrize(
    "names", [["P1", "P11"], ["a", "\u00e9", "e"], ["model a", "model-a"], ["1", "10", "100"]]
)
def test_other_names_are_not_alike(names):
    assert all(len(group) == 1 for group in group_spellings(names).values())


def test_a_message_whose_id_differs_in_case_from_that_of_a_task_is_matched_with_a_warning(read):
    study = read(messages={"TaskId": ["c1"] * 4 + ["C2"] * 4 + ["C3"] * 4 + ["C4"] * 4})
    assert len(study.messages) == 16
    [warning] = study.diagnostics
    assert (warning.severity, warning.kind, warning.count) == (WARNING, "respelt-id", 4)


# Ids that a spreadsheet retyped


RETYPED = {
    "a date": ["13-1", dt.date(2026, 3, 1)],
    "a date with a time": ["13-1", dt.datetime(2026, 3, 1)],
    "a day and a month": ["13-1", "1-Mar"],
    "a day and a month in German": ["13-1", "01. Mrz"],
    "a month and a year": ["Mar-1", "Mar-26"],
    "a date as text": ["13/1", "3/1/2026"],
    "a date in ISO form": ["13-1", "2026-03-01 00:00:00"],
    "a time": ["1:70", dt.time(1, 2)],
    "a duration": ["1:70", dt.timedelta(hours=25)],
    "a time as text": ["1:70", "01:02:00"],
    "a number for 12e4": ["12d4", 120000.0],
    "a number in scientific notation": ["12d4", "1.20E+05"],
    "a small number in scientific notation": ["12d4", "1,2E-03"],
    "a fraction": ["13/4", 0.5],
    "decimals without their zero": [1.1, 1.2],
    "a truth value": ["maybe", True],
    "a truth value as text": ["vielleicht", "WAHR"],
    "an error": ["x", "#NAME?"],
    "an error in French": ["x", "#NOM?"],
}


@pytest.mark.parametrize("column", ["PID", "TaskId"])
@pytest.mark.parametrize("cells", RETYPED.values(), ids=RETYPED)
def test_an_id_that_a_spreadsheet_retyped_is_told(read, cells, column):
    ids = [*cells, 7.0, 8.0] if isinstance(cells[0], float) else [*cells, "77c1", "78c1"]
    names = [identifier for identifier in ids for _ in range(4)]
    study = read(tasks={column: ids}, messages={"TaskId": names} if column == "TaskId" else {})
    retyped = [one for one in study.warnings if one.kind == "rounded-id" and one.sheet == "Tasks"]
    assert {one.column for one in retyped} == {column}
    assert {row for one in retyped for row in one.rows} == (
        {2, 3} if isinstance(cells[0], float) else {3}
    )


@pytest.mark.parametrize(
    "cells",
    [
        *(
            ["3-1", "Mar-1", "3/1", "1:2"],
            ["12e4", "12d4", "7", 8.0],
            ["1-1", "13-25", "2026-13-45", "32-Mar"],
        ),
        *(["1.1", "1.10", 1.2, 1.3], [10.0, 20.0, 30.0, 40.0], ["a1", "b2", 7.0, 9.0]),
        ["2026-03-01 14:22:05", dt.datetime(2026, 3, 1, 14, 22, 5), "Maja-07", "May"],
    ],
)
def test_an_id_as_people_write_one_is_not_taken_for_a_date(read, cells):
    assert not read(tasks={"PID": cells}).warnings


@given(
    day=st.dates(dt.date(1990, 1, 1), dt.date(2030, 12, 31)),
    form=st.sampled_from(
        ["%d-%b", "%b-%y", "%d-%b-%y", "%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d. %b"]
    ),
)
def test_every_date_that_a_spreadsheet_writes_is_seen(day, form):
    assert is_retyped(day.strftime(form))
    assert is_retyped(day.strftime(form).removeprefix("0"))


@given(group=st.integers(32, 999), number=st.integers(0, 99), sign=st.sampled_from("-/._ "))
def test_a_group_and_a_number_that_are_no_date_are_none(group, number, sign):
    assert not is_retyped(f"{group}{sign}{number}")


def test_conditions_may_be_truth_values_and_versions(read):
    assert not read(tasks={"Model": [True, False, True, False]}).warnings
    assert not read(tasks={"Model": [4.0, 4.5, 4.0, 4.5]}).warnings


def test_an_age_that_became_a_date_is_told(minimal_sheets):
    study = parse_sheets(
        minimal_sheets(participants={"Age": ["18-24", dt.datetime(2026, 12, 10), "10-12"]})
    )
    assert [(one.kind, one.column, one.rows) for one in study.warnings] == [
        ("rounded-id", "Age", (3,))
    ]
    study = parse_sheets(
        minimal_sheets(participants={"Begun": [dt.datetime(2026, 12, day) for day in (1, 2, 3)]})
    )
    assert not study.warnings
