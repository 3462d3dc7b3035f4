"""Names that are spelt in several ways: what is one name, what is only alike, and what a user is told of it."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.judge.files import read_predictions
from sense7.workbook import WorkbookError, parse_sheets
from sense7.workbook.diagnostics import WARNING
from sense7.workbook.ids import as_name, group_spellings

ZWSP, NBSP, SOFT_HYPHEN, BOM, RIGHT_TO_LEFT = "\u200b", "\u00a0", "\u00ad", "\ufeff", "\u202e"
COMPOSED, DECOMPOSED = "Mod\u00e8le", "Mode\u0300le"
SAME = {
    "blank at the end": "Modell 1 ",
    "two blanks": "Modell  1",
    "no-break space": f"Modell{NBSP}1",
    "line break": "Modell\n1",
    "zero-width space": f"Mo{ZWSP}dell 1",
    "zero-width joiner": "Modell\u200d 1",
    "soft hyphen": f"Mo{SOFT_HYPHEN}dell 1",
    "byte order mark": f"{BOM}Modell 1",
    "direction mark": f"{RIGHT_TO_LEFT}Modell 1",
}
COLUMNS = {"PID": "participant", "Model": "condition", "PreTaskChoice": "topic"}


@pytest.fixture
def read(minimal_sheets):
    return lambda *, strict=False, prompted_condition=None, **changes: parse_sheets(
        minimal_sheets(**{"participants": None} | changes), strict=strict, prompted_condition=prompted_condition
    )


@given(text=st.text())
@example(text=f" a{ZWSP} ")
@example(text="\u2000\u0301")
def test_a_name_is_its_own_name(text):
    name = as_name(text)
    assert name is None or (as_name(name) == name and unicodedata.is_normalized("NFC", name) and name == name.strip())


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("spelling", SAME.values(), ids=SAME)
def test_what_cannot_be_seen_makes_no_other_name(read, column, spelling):
    study = read(tasks={column: ["Modell 1", spelling, "Modell 1", spelling]})
    assert set(study.conversations[COLUMNS[column]]) == {"Modell 1"}
    assert not study.diagnostics


def test_composed_and_decomposed_letters_are_the_same(read):
    study = read(tasks={"Model": [COMPOSED, DECOMPOSED] * 2})
    assert study.conditions == [COMPOSED]
    assert read(tasks={"Model": [COMPOSED, "b"] * 2}, prompted_condition=DECOMPOSED).prompted_condition == COMPOSED
    with pytest.raises(UserError, match="there is no condition ' '"):
        read(prompted_condition=" ")


def test_ids_of_all_sheets_are_matched_alike(read):
    study = read(
        tasks={"PID": ["P1", "P1", "P2", "P3"], "TaskId": ["C1", "C2", f"C{ZWSP}3", "C4"]},
        messages={"TaskId": [f"C1{ZWSP}"] * 4 + ["C2"] * 4 + ["C3"] * 4 + [f" C4{BOM}"] * 4},
        participants={"PID": [f"P1{NBSP}", "P2", "P3"]},
    )
    assert study.messages["conversation"].value_counts().tolist() == [4] * 4
    assert study.participants["participant"].tolist() == ["P1", "P2", "P3"]
    assert not study.diagnostics


def test_predictions_are_matched_alike(tmp_path):
    path = tmp_path / "model-prompt-iter1.csv"
    path.write_text(f"TaskId,IS_EMPATHY,ground-truth\nC1{ZWSP},4,4\n{NBSP}{DECOMPOSED},2,3\n", encoding="utf-8")
    assert read_predictions(path).frame["conversation"].tolist() == ["C1", COMPOSED]


@pytest.mark.parametrize(
    ("column", "kind"), [("PID", "participants"), ("Model", "conditions"), ("PreTaskChoice", "topics")]
)
def test_names_that_differ_in_case_stay_apart_with_a_warning_that_shows_both(read, column, kind):
    study = read(tasks={column: ["Plan B", "plan b", "Plan B", "Plan B"]})
    assert set(study.conversations[COLUMNS[column]]) == {"Plan B", "plan b"}
    [warning] = study.diagnostics
    assert (warning.severity, warning.kind, warning.column) == (WARNING, f"similar-{kind}", column)
    assert "'Plan B' (3 rows), 'plan b' (1 row)" in str(warning)
    assert warning.rows == (2, 3, 4, 5)
    with pytest.raises(WorkbookError, match="plan b"):
        read(tasks={column: ["Plan B", "plan b", "Plan B", "Plan B"]}, strict=True)


@pytest.mark.parametrize(
    "names", [["\u0412\u0415\u0420\u0410", "\u0432\u0435\u0440\u0430"], ["\u039d\u039f", "\u03bd\u03bf"]]
)
def test_case_is_seen_in_every_script(names):
    assert list(group_spellings(names).values()) == [names]


@pytest.mark.parametrize("names", [["P1", "P11"], ["a", "\u00e9", "e"], ["model a", "model-a"], ["1", "10", "100"]])
def test_other_names_are_not_alike(names):
    assert all(len(group) == 1 for group in group_spellings(names).values())


def test_a_message_whose_id_differs_in_case_from_that_of_a_task_is_matched_with_a_warning(read):
    study = read(messages={"TaskId": ["c1"] * 4 + ["C2"] * 4 + ["C3"] * 4 + ["C4"] * 4})
    assert len(study.messages) == 16
    [warning] = study.diagnostics
    assert (warning.severity, warning.kind, warning.count) == (WARNING, "respelt-id", 4)
