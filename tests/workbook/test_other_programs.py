"""What spreadsheets, statistics and survey programs write into a workbook: read as it is meant, or said.

Each test writes a file as such a program does and opens it by ``s7.load``, so that it holds however it is read.
"""

import csv
import io
import json
import zipfile

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from typer.testing import CliRunner

import sense7 as s7
from helpers import naming
from sense7 import cli
from sense7.errors import UserError
from sense7.study import NOT_RATED
from sense7.taxonomy import DIMENSION_NAMES, LEVELS
from sense7.workbook import ReadingOptions, WorkbookError

RATINGS = ("EmpathyOverall", *DIMENSION_NAMES)


def rows_of_a_study(people=12, ids=None, rating=lambda number: 1 + number % 5, **answers):
    """Rows of Tasks and Messages, names first: two conversations per person, each with two rated turns.

    ``answers`` are cells of the column Affective by the number of the turn; ``rating`` gives all others.
    """
    tasks, messages = (
        [["PID", "Model", "TaskId"]],
        [["TaskId", "MessageId", "Role", "Content", *RATINGS]],
    )
    cells = answers.get("cells", {})
    for number in range(2 * people):
        person = ids[number // 2] if ids else f"P{number // 2 + 1}"
        tasks.append([person, ("plain", "plain-empathy")[number % 2], f"T{number + 1}"])
        for turn in range(2):
            place = 2 * number + turn
            messages.append(
                [f"T{number + 1}", 2 * turn + 1, "user", "hello", *[None] * len(RATINGS)]
            )
            ratings = [rating(place)] * len(RATINGS)
            ratings[1] = cells.get(place, ratings[1])
            messages.append([f"T{number + 1}", 2 * turn + 2, "assistant", "I see.", *ratings])
    return {"Tasks": tasks, "Messages": messages}


def write_xlsx(path, sheets, hidden=(), columns=()):
    """As XlsxWriter writes it: formulas with the stored value 0, to be calculated when the file is opened."""
    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            for place, row in hidden:
                if place == name:
                    sheet.set_row(row - 1, None, None, {"hidden": True})
            for place, letters, width, how in columns:
                if place == name:
                    sheet.set_column(letters, width, None, how)
    return path


def write_csv(folder, sheets, before="", **dialect):
    folder.mkdir(exist_ok=True)
    for name, rows in sheets.items():
        text = io.StringIO(before)
        text.seek(0, io.SEEK_END)
        csv.writer(text, **dialect).writerows(
            [["" if cell is None else cell for cell in row] for row in rows]
        )
        (folder / f"{name}.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    return folder


def kinds(study):
    return {diagnostic.kind for diagnostic in study.diagnostics}


def affective(study):
    return study.turns["Affective"].dropna().tolist()


def of_others(sheets, cells):
    """Ratings of the column Affective but for some turns."""
    turns = [row[5] for row in sheets["Messages"][1:] if row[2] == "assistant"]
    return [level for place, level in enumerate(turns) if place not in cells]


# --- words and numbers for a missing answer ------------------------------------------------------

MISSING = [
    "None",
    "NA",
    "N/A",
    "#N/A",
    "-",
    "\u2013",
    "nil",
    "NULL",
    "(blank)",
    "missing",
    ".",
    ".a",
    "sysmis",
    "?",
    "#NV",
    "1.#QNAN",
    "#N/D",
    "<missing>",
]


@pytest.mark.parametrize(
    ("word", "as_text"), [*((word, False) for word in MISSING), ("None", True), ("NA", True)]
)
def test_a_word_for_missing_among_numbers_is_no_level(word, as_text, tmp_path):
    cells = dict.fromkeys(range(1, 48, 4), word)
    sheets = rows_of_a_study(cells=cells)
    expected = of_others(sheets, cells)
    if as_text:
        sheets["Messages"] = [
            [None if cell is None else str(cell) for cell in row] for row in sheets["Messages"]
        ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert affective(study) == expected
    (notice,) = [
        diagnostic for diagnostic in study.diagnostics if diagnostic.kind == "missing-code"
    ]
    assert notice.count == 12
    assert word in notice.problem


@pytest.mark.parametrize(
    "word", ["keine Angabe", "Prefer not to say", "don't know", "9 - don't know", "sin respuesta"]
)
def test_a_word_that_declines_among_numbers_is_not_rated(word, tmp_path):
    cells = dict.fromkeys(range(1, 48, 4), word)
    sheets = rows_of_a_study(cells=cells)
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert affective(study) == of_others(sheets, cells)
    assert (study.turns["Affective_state"] == NOT_RATED).sum() == 12


def test_none_is_a_level_where_the_other_words_speak_its_language(tmp_path):
    amounts = ["None", "A little", "Somewhat", "A lot", "A great deal"]
    study = s7.load(
        write_xlsx(tmp_path / "a.xlsx", rows_of_a_study(rating=lambda number: amounts[number % 5]))
    )
    assert affective(study) == [1 + number % 5 for number in range(48)]
    wished = rows_of_a_study()
    column = ["PreTaskDesiredEmpathy", *["None", "Moderate", "High"] * 8]
    wished["Tasks"] = [[*row, cell] for row, cell in zip(wished["Tasks"], column, strict=True)]
    study = s7.load(write_xlsx(tmp_path / "b.xlsx", wished))
    assert study.conversations["desired_empathy"].tolist() == [1, 2, 3] * 8


@pytest.mark.parametrize(
    "column", [["None", 2, 3, 3], ["None", "Minimal", "Moderate", "High"], ["None", 1, "High", 3]]
)
def test_none_is_no_level_beside_numbers_or_another_word_of_the_level(column, tmp_path):
    sheets = rows_of_a_study()
    cells = ["PreTaskDesiredEmpathy", *column * 6]
    sheets["Tasks"] = [[*row, cell] for row, cell in zip(sheets["Tasks"], cells, strict=True)]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert (
        study.conversations["desired_empathy"].isna().tolist()
        == [cell == "None" for cell in column] * 6
    )


def fault_of_affective(refusal, kind):
    """The error of a kind that names the column Affective."""
    for fault in refusal.value.diagnostics.of("error"):
        if (fault.kind, fault.column) == (kind, "Affective"):
            return fault
    raise refusal.value


def test_a_lone_word_that_means_two_things_is_unreadable_among_numbers(tmp_path):
    sheets = rows_of_a_study(cells=dict.fromkeys(range(0, 48, 4), "fair"))
    with pytest.raises(WorkbookError, match=r"mine\.xlsx") as refusal:
        s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    fault = fault_of_affective(refusal, "unreadable-column")
    naming.check(
        fault,
        "sheet Messages, column Affective",
        "12 of 48",
        "'fair' (12)",
        "--words",
        "--allow-unreadable",
    )


@pytest.mark.parametrize("code", [-99, 999, 9, 88, -9, 99, 8, -1, -999, 77, 9999, "99", "-99.0"])
def test_a_number_for_missing_is_no_level_and_no_wider_scale(code, tmp_path):
    cells = dict.fromkeys(range(1, 48, 4), code)
    sheets = rows_of_a_study(cells=cells)
    path = write_xlsx(tmp_path / "mine.xlsx", sheets)
    with pytest.raises(UserError, match=rf"--missing {float(code):g}") as error:
        s7.load(path)
    assert "--scale" not in str(error.value)
    missing = {-99: code, 999: f"Affective={code}"}.get(code, {"Affective": [5000, code]})
    assert affective(s7.load(path, missing=missing)) == of_others(sheets, cells)
    sheets["Scales"] = [["column", "missing"], ["Affective", code]]
    assert affective(s7.load(write_xlsx(path, sheets))) == of_others(sheets, cells)


@pytest.mark.parametrize("code", [-99, 999])
def test_the_scale_of_a_slider_is_named_without_its_codes(code, tmp_path):
    sheets = rows_of_a_study(rating=lambda number: code if number % 4 == 1 else number * 37 % 101)
    path = write_xlsx(tmp_path / "mine.xlsx", sheets)
    with pytest.raises(WorkbookError) as refusal:
        s7.load(path)
    fault = fault_of_affective(refusal, "other-scale")
    naming.check(fault, "column Affective", "--scale 0-100", f"--missing {code}")
    with pytest.raises(UserError, match=f"--missing {code}"):
        s7.load(path, scale="0-100")
    assert len(affective(s7.load(path, scale="0-100", missing=code))) == 36


@pytest.mark.parametrize("numbers", [range(1, 10), range(1, 11), range(-3, 4), range(0, 8)])
def test_numbers_of_a_wider_scale_are_no_codes(numbers, tmp_path):
    sheets = rows_of_a_study(rating=lambda number: numbers[number % len(numbers)])
    with pytest.raises(UserError, match=r"--scale ") as error:
        s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert "--missing" not in str(error.value).split("Affective")[1]


@pytest.mark.parametrize("code", [-99, 999, 9999, -9, 99, 88, "999"])
def test_a_number_for_missing_is_no_age(code, tmp_path):
    sheets = rows_of_a_study()
    ages = [code if number % 6 == 2 else 20 + 3 * number for number in range(12)]
    sheets["People"] = [
        ["PID", "Age"],
        *[[f"P{number + 1}", age] for number, age in enumerate(ages)],
    ]
    path = write_xlsx(tmp_path / "mine.xlsx", sheets)
    study = s7.load(path)
    assert study.participants["Age"].isna().sum() == 2
    assert "missing-number" in kinds(study)
    declared = s7.load(path, missing=f"Age={code}")
    assert declared.participants["Age"].isna().sum() == 2
    assert "missing-number" not in kinds(declared)
    assert s7.load(path, missing="Age=none").participants["Age"].max() == max(
        float(age) for age in ages
    )


@pytest.mark.parametrize(
    "numbers",
    [
        [20 + n for n in range(12)],
        [0, 1, 2, 3] * 3,
        [5.5, 6.25, -2, -1, 0, 1, 2, 3, 1, 1, 0, 2],
        [70, 99] * 6,
    ],
)
def test_other_numbers_of_people_are_kept(numbers, tmp_path):
    sheets = rows_of_a_study()
    sheets["People"] = [
        ["PID", "Score"],
        *[[f"P{place}", number] for place, number in enumerate(numbers, 1)],
    ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert study.participants["Score"].tolist() == numbers
    assert not kinds(study)


def test_missing_answers_are_declared_on_the_command_line(tmp_path):
    cells = dict.fromkeys(range(1, 48, 4), -99)
    path = write_xlsx(tmp_path / "mine.xlsx", rows_of_a_study(cells=cells))
    done = CliRunner().invoke(cli.app, ["check", str(path), "--missing", "-99", "--json"])
    assert json.loads(done.output)["ratings"]["Affective"] == {"rated": 36, "absent": 12}


def test_missing_answers_lie_beside_a_workbook(tmp_path):
    path = write_xlsx(
        tmp_path / "mine.xlsx", rows_of_a_study(cells=dict.fromkeys(range(1, 48, 4), 9))
    )
    options = ReadingOptions.of(missing=["Affective=8,9", "keine Lust"])
    options.write_beside(path)
    assert ReadingOptions.beside(path) == options
    naming.check(options, "Affective: 8, 9", "all: keine lust")
    assert len(affective(s7.load(path))) == 36


def test_missing_answers_of_a_column_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(UserError, match="'Agee'"):
        s7.load(write_xlsx(tmp_path / "mine.xlsx", rows_of_a_study()), missing="Agee=99")


# --- numbers that a spreadsheet changed ----------------------------------------------------------

LONG = [1405211234567890123 + number for number in range(12)]


@pytest.mark.parametrize(
    ("header", "told"), [("PID", set()), ("\uff30\uff29\uff24", {"renamed-column"})]
)
def test_ids_of_many_digits_stay_apart_as_the_file_holds_them(header, told, tmp_path):
    sheets = rows_of_a_study(ids=[9_000_001 + number for number in range(12)])
    sheets["Tasks"][0][0] = header
    path = write_xlsx(tmp_path / "short.xlsx", sheets)
    with zipfile.ZipFile(path) as short, zipfile.ZipFile(tmp_path / "mine.xlsx", "w") as long:
        for part in short.namelist():
            xml = short.read(part)
            for number, digits in enumerate(LONG):
                xml = xml.replace(b"<v>%d</v>" % (9_000_001 + number), b"<v>%d</v>" % digits)
            long.writestr(part, xml)
    study = s7.load(tmp_path / "mine.xlsx")
    assert sorted(set(study.conversations["participant"])) == sorted(map(str, LONG))
    assert kinds(study) == told


@pytest.mark.parametrize("shift", [10**16, 14 * 10**17])
def test_ids_that_a_program_has_rounded_are_said(shift, tmp_path):
    book = openpyxl.Workbook()  # which writes the first 16 digits
    book.remove(book.active)
    for name, rows in rows_of_a_study(
        ids=[5_211_234_567_890_123 + shift + number for number in range(12)]
    ).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "mine.xlsx")
    (warning,) = [
        one for one in s7.load(tmp_path / "mine.xlsx").diagnostics if one.kind == "rounded-id"
    ]
    assert (warning.column, warning.count, warning.rows[:2]) == ("PID", 24, (2, 3))


@pytest.mark.parametrize(
    "text", ["1.40521E+15", "1,40521E+15", "1.40521e+15", "1.4E+11", "#########"]
)
def test_ids_in_scientific_notation_are_refused(text, tmp_path):
    with naming.refused(text, "column PID", "cells A2"):
        s7.load(write_csv(tmp_path / "mine", rows_of_a_study(ids=[text] * 12)))


@pytest.mark.parametrize("word", ["#N/A", "nan", "NULL", "(blank)"])
def test_people_whose_ids_are_missing_are_not_one_person(word, tmp_path):
    study = s7.load(
        write_csv(
            tmp_path / "mine", rows_of_a_study(ids=[word, word, *[f"P{n}" for n in range(10)]])
        )
    )
    assert study.conversations["participant"].nunique() == 14
    assert kinds(study) == {"missing-participant"}


def test_formulas_that_nobody_calculated_are_blank(tmp_path):
    sheets = rows_of_a_study(cells={3: "=ROUND(AVERAGE(G9:L9),0)"})
    sheets["People"] = [
        ["PID", "Age", "Born"],
        *[[f"P{n}", f"=2025-C{n + 1}", 1980 + n] for n in range(1, 13)],
    ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert np.isnan(study.turns["Affective"].iloc[3])
    assert study.participants["Age"].isna().all()
    said = [
        diagnostic for diagnostic in study.diagnostics if diagnostic.kind == "formula-without-value"
    ]
    assert [(one.sheet, one.count) for one in said] == [("Messages", 1), ("People", 12)]
    assert all("formula" in one.problem for one in said)


@pytest.mark.parametrize("writer", ["xlsx", "csv"])
def test_what_arithmetic_left_beside_a_level_is_that_level(writer, tmp_path):
    cells = {0: 2.9999999999999996, 1: 4.000000000000001, 2: 0.1 + 0.2 + 2.7, 3: 1 + 1e-12}
    sheets = rows_of_a_study(cells=cells)
    write = {
        "xlsx": lambda: write_xlsx(tmp_path / "a.xlsx", sheets),
        "csv": lambda: write_csv(tmp_path / "a", sheets),
    }
    study = s7.load(write[writer]())
    assert affective(study)[:4] == [3, 4, 3, 1]
    assert not kinds(study)


def test_what_arithmetic_left_beside_a_declared_end_is_on_the_scale(tmp_path):
    sheets = rows_of_a_study(
        rating=lambda number: (number % 4) / 3, cells={0: 0.1 + 0.2 - 0.3, 1: 1.0000000000000002}
    )
    sheets["Messages"][2][5] = -5e-17
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets), scale="0-1")
    assert affective(study)[:2] == [1, 5]
    assert len(affective(study)) == 48


# --- rows and sheets that are no data ------------------------------------------------------------

LABELS = {
    "Tasks": ["Participant", "Which model", "Conversation id"],
    "Messages": [
        "Conversation id",
        "No",
        "Role",
        "Text",
        "How empathic was it?",
        *["Please rate"] * 7,
    ],
    "People": ["Who are you?", "How old are you?"],
}
IDS = {
    name: [f'{{"ImportId":"QID{number}"}}' for number in range(len(row))]
    for name, row in LABELS.items()
}


@pytest.mark.parametrize(
    "further",
    [[LABELS], [LABELS, IDS], [IDS], [LABELS, LABELS]],
    ids=["labels", "labels and ids", "ids", "two rows of labels"],
)
@pytest.mark.parametrize("writer", ["xlsx", "csv"])
def test_further_rows_of_names_are_left_out(further, writer, tmp_path):
    sheets = rows_of_a_study()
    sheets["People"] = [["PID", "Age"], *[[f"P{number}", 20 + number] for number in range(1, 13)]]
    sheets = {
        name: [rows[0], *[each[name] for each in further], *rows[1:]]
        for name, rows in sheets.items()
    }
    write = {
        "xlsx": lambda: write_xlsx(tmp_path / "a.xlsx", sheets),
        "csv": lambda: write_csv(tmp_path / "a", sheets),
    }
    study = s7.load(write[writer]())
    assert len(study.conversations) == 24
    assert study.conversations["participant"].nunique() == 12
    assert study.conversations["condition"].nunique() == 2
    assert study.participants["Age"].tolist() == list(range(21, 33))
    assert kinds(study) == {"further-header"}
    rows = {diagnostic.sheet: diagnostic.rows for diagnostic in study.diagnostics}
    assert rows == dict.fromkeys(sheets, tuple(range(2, 2 + len(further))))
    assert study.turns["row"].tolist()[0] == 3 + len(further)


ONE_ROW = {
    "survey software": ["", "", "", "Open-Ended Response", *["Response"] * 8],
    "types": ["string", "numeric", "string", "string", *["numeric"] * 8],
    "numbered questions": [
        "Id",
        "1. Number",
        "Who",
        "What",
        *[f"{n}. How empathic was it? (1-5)" for n in range(2, 10)],
    ],
    "anchors": ["Id", "", "", "", *["1 = very poor ... 5 = very good"] * 8],
}


@pytest.mark.parametrize("row", ONE_ROW.values(), ids=ONE_ROW)
def test_a_row_that_explains_messages_is_left_out(row, tmp_path):
    sheets = rows_of_a_study()
    sheets["Messages"].insert(1, row)
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert (len(study.messages), len(affective(study))) == (96, 48)
    assert kinds(study) == {"further-header"}


def test_labels_above_answers_in_words_are_left_out(tmp_path):
    sheets = rows_of_a_study(rating=lambda number: LEVELS[number % 5])
    sheets = {name: [rows[0], LABELS[name], *rows[1:]] for name, rows in sheets.items()}
    sheets["Messages"] = [
        [cell for place, cell in enumerate(row) if place != 1] for row in sheets["Messages"]
    ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert (len(study.conversations), len(study.messages), len(affective(study))) == (24, 96, 48)
    assert kinds(study) == {"further-header"}


def test_names_repeated_where_files_were_joined_are_left_out(tmp_path):
    sheets = rows_of_a_study()
    joined = {name: [*rows[:9], rows[0], *rows[9:]] for name, rows in sheets.items()}
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", joined))
    assert (len(study.conversations), len(study.turns)) == (24, 48)
    assert [diagnostic.rows for diagnostic in study.diagnostics] == [(10,), (10,)]


def test_rows_of_totals_are_left_out(tmp_path):
    sheets = rows_of_a_study()
    sheets["Tasks"].append(["Total", None, 24])
    sheets["Messages"].append(["Mean", None, None, None, *[3.2] * len(RATINGS)])
    sheets["People"] = [
        ["PID", "Age"],
        *[[f"P{n}", 20 + n] for n in range(1, 13)],
        ["Average", 26.5],
    ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    assert (len(study.conversations), len(study.participants), len(affective(study))) == (
        24,
        12,
        48,
    )
    assert {one.sheet: (one.kind, one.rows) for one in study.diagnostics} == {
        "Tasks": ("totals", (26,)),
        "Messages": ("totals", (98,)),
        "People": ("totals", (14,)),
    }


@pytest.mark.parametrize(
    "name", ["Tasks (2)", "Copy of Tasks", "Tasks - Kopie", "Sheet7", "tasks_backup"]
)
def test_a_copy_of_tasks_holds_no_participants(name, tmp_path):
    sheets = rows_of_a_study()
    sheets["Tasks"] = [sheets["Tasks"][0], *sheets["Tasks"][1::2]]
    sheets["Messages"] = [
        row for row in sheets["Messages"] if row[0] in {"TaskId", *(r[2] for r in sheets["Tasks"])}
    ]
    people = [["PID", "Age"], *[[f"P{number}", 20 + number] for number in range(1, 13)]]
    study = s7.load(
        write_xlsx(tmp_path / "mine.xlsx", sheets | {name: sheets["Tasks"], "People": people})
    )
    assert study.participants_sheet == "People"
    assert kinds(study) == {"copied-sheet"}
    assert (
        s7.load(
            write_xlsx(tmp_path / "other.xlsx", sheets | {name: sheets["Tasks"]})
        ).participants_sheet
        is None
    )


@pytest.mark.parametrize("by", ["hand", "filter"])
def test_hidden_rows_are_read_and_said(by, tmp_path):
    hidden = [("Messages", row) for row in range(6, 26)] + [("Tasks", 4)]
    path = write_xlsx(tmp_path / "mine.xlsx", rows_of_a_study(), hidden)
    if by == "filter":
        book = openpyxl.load_workbook(path)
        book["Messages"].auto_filter.ref = "A1:L97"
        book["Messages"].auto_filter.add_filter_column(0, ["T1"])
        book.save(path)
    study = s7.load(path, strict=True)
    assert len(study.turns) == 48
    notices = {diagnostic.sheet: diagnostic.rows for diagnostic in study.diagnostics}
    assert notices == {"Tasks": (4,), "Messages": tuple(range(6, 26))}
    assert all("hidden" in diagnostic.problem for diagnostic in study.diagnostics)
    assert {diagnostic.column for diagnostic in study.diagnostics} == {""}, "whole rows are meant"


@pytest.mark.parametrize(
    "text",
    [
        "{}1,500",
        "{}1.500,00",
        "{}1,5",
        "${}1,500",
        "{}1 500 \u20ac",
        "{}1'500",
        "{}1 %",
        "EUR {}1.500",
        "{}1 years",
    ],
)
def test_texts_like_numbers_in_a_column_of_people_are_said(text, tmp_path):
    sheets = rows_of_a_study()
    incomes = [text.format(number) for number in range(1, 13)]
    sheets["People"] = [
        ["PID", "Income"],
        *[[f"P{n}", income] for n, income in enumerate(incomes, 1)],
    ]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets), strict=True)
    assert study.participants["Income"].tolist() == incomes
    (notice,) = study.diagnostics
    assert (notice.kind, notice.column, notice.count) == ("number-as-text", "Income", 12)


@pytest.mark.parametrize(
    "text", ["1{}-24", "2024-05-{}", "P{}", "{} or more people", "0{}.05.2024"]
)
def test_other_texts_of_people_are_no_numbers(text, tmp_path):
    sheets = rows_of_a_study()
    sheets["People"] = [["PID", "Group"], *[[f"P{n}", text.format(n % 9)] for n in range(1, 13)]]
    assert not kinds(s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets)))


@pytest.mark.parametrize(
    ("incomes", "told"),
    [
        (["21.500", "950", "1.250"], ("21.500", 21.5, (2, 4))),
        (["21.500", "21.345", "1.250"], ("21.500", 21.5, (2, 3, 4))),
        (["0.500", "1.250", "2.000"], None),
        (["21.500", "2150", "1.250"], None),
        (["21.5", "9.125", "1.25"], None),
    ],
)
def test_a_point_that_may_separate_thousands_is_told(incomes, told, tmp_path):
    sheets = rows_of_a_study(people=3)
    sheets["People"] = [["PID", "Income"], *[[f"P{n}", text] for n, text in enumerate(incomes, 1)]]
    study = s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets), strict=True)
    assert study.participants["Income"].tolist() == list(map(float, incomes))
    if told is None:
        assert not study.diagnostics
        return
    text, number, rows = told
    [notice] = study.diagnostics
    assert (notice.kind, notice.rows) == ("point-before-three", rows)
    assert f"{text} as {number}" in notice.problem


# --- CSV -----------------------------------------------------------------------------------------

NAMES = [
    "Topic, chosen before, in your own words, please, or, leave blank",
    'He said "a; b, c"',
    "two\nlines; or, more",
]


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL], ids=["quoted", "as needed"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("delimiter", [";", "\t", ",", "|"])
def test_the_separator_is_found_whatever_names_hold(delimiter, name, quoting, tmp_path):
    sheets = rows_of_a_study()
    sheets["Tasks"] = [
        [*row, name if number == 0 else "work"] for number, row in enumerate(sheets["Tasks"])
    ]
    study = s7.load(write_csv(tmp_path / "mine", sheets, delimiter=delimiter, quoting=quoting))
    assert (len(study.conversations), len(study.turns)) == (24, 48)
    assert study.sheets["Tasks"].header[-1] == name


@pytest.mark.parametrize("delimiter", [";", "\t", ",", "|"])
@pytest.mark.parametrize("line", ["sep={}\r\n", '"sep={}"\r\n', "SEP={}\n", "\ufeffsep={}\r\n"])
def test_a_first_line_may_name_the_separator(line, delimiter, tmp_path):
    sheets = rows_of_a_study()
    study = s7.load(
        write_csv(tmp_path / "mine", sheets, before=line.format(delimiter), delimiter=delimiter)
    )
    assert (len(study.conversations), len(study.turns)) == (24, 48)
    assert study.conversations["row"].tolist() == list(range(2, 26))


@pytest.mark.parametrize("delimiter", [";", ","])
def test_a_space_behind_the_separator_is_no_part_of_a_cell(delimiter, tmp_path):
    folder = write_csv(
        tmp_path / "mine", rows_of_a_study(), delimiter=delimiter, quoting=csv.QUOTE_ALL
    )
    for path in folder.iterdir():
        path.write_text(
            path.read_text("utf-8").replace(f'"{delimiter}"', f'"{delimiter} "'), "utf-8"
        )
    study = s7.load(folder, strict=True)
    assert (len(study.turns), len(affective(study))) == (48, 48)


@pytest.mark.parametrize("code", [-99, 9])
def test_a_number_for_missing_among_words_is_no_wider_scale(code, tmp_path):
    words = ("very poor", "poor", "neutral", "good", "very good")
    cells = dict.fromkeys(range(1, 48, 4), code)
    path = write_xlsx(
        tmp_path / "mine.xlsx",
        rows_of_a_study(rating=lambda number: words[number % 5], cells=cells),
    )
    with pytest.raises(UserError, match=f"--missing {code}") as error:
        s7.load(path)
    assert "--scale" not in str(error.value)
    assert len(affective(s7.load(path, missing=code))) == 36


@pytest.mark.parametrize(
    "ids", [[1405211234567890, 1405211234567900], [140521000000, 140522000000]]
)
def test_ids_that_end_in_zeros_are_said(ids, tmp_path):
    study = s7.load(write_csv(tmp_path / "mine", rows_of_a_study(people=2, ids=ids)))
    (warning,) = [diagnostic for diagnostic in study.diagnostics if diagnostic.kind == "rounded-id"]
    assert (warning.severity, warning.count) == ("warning", 4)


def test_words_at_the_ends_of_numbers_are_no_level_that_stands_as_a_number(tmp_path):
    ends = ["Not at all", 2, 3, 4, "Very much"]
    sheets = rows_of_a_study(rating=lambda number: ends[number % 5])
    with pytest.raises(WorkbookError, match=r"mine\.xlsx") as refusal:
        s7.load(write_xlsx(tmp_path / "mine.xlsx", sheets))
    fault = fault_of_affective(refusal, "unreadable-column")
    naming.check(
        fault,
        "sheet Messages, column Affective",
        "19 of 48",
        "'Very much' (9)",
        "--words",
        "--allow-unreadable",
    )
