"""What is written in the official format: the template, empty and filled in, and a data set in parts."""

import openpyxl
import pandas as pd
import pytest

from helpers.studies import FRAMES
from sense7.errors import UserError
from sense7.loading import load
from sense7.taxonomy import CORE_COLUMNS
from sense7.workbook import Sheet, WorkbookError, parse_sheets, read_sheets, read_workbook
from sense7.workbook.writing import partition_folders, write_partitions, write_template

# The template: empty it is refused with clear words, filled in it is accepted without a word


@pytest.fixture
def path(tmp_path):
    return write_template(tmp_path / "new" / "mine.xlsx")


def fill(path, *, participants=True):
    """Write two example conversations as a person would, by another program."""
    book = openpyxl.load_workbook(path)
    answers = ["4", "Moderate", *["Agree"] * 4, *["Good"] * 7]
    for number, model in ((1, "plain"), (2, "plain-empathy")):
        book["Tasks"].append([f"P{number}", model, f"C{number}", "a topic", *answers])
        book["Messages"].append([f"C{number}", 1, 0, "user", "Hello"])
        ratings = ["Very good", *["Good"] * 6, "Unknown"]
        book["Messages"].append([f"C{number}", 2, 5, "assistant", "Hello!", None, *ratings, "kind"])
        if participants:
            book["Participants"].append([f"P{number}", 30 + number, "woman"])
    book.save(path)


def test_it_has_every_column_of_the_format_and_no_row(path):
    sheets = read_sheets(path)
    assert list(sheets) == ["Tasks", "Messages", "Participants"]
    for name, columns in CORE_COLUMNS.items():
        assert sheets[name].header == [column.official for column in columns]
    assert all(sheet.rows == [] for sheet in sheets.values())


def test_empty_it_is_refused_with_what_is_to_be_filled(path, sentences):
    with pytest.raises(WorkbookError) as caught:
        read_workbook(path)
    assert {diagnostic.kind for diagnostic in caught.value.diagnostics.of("error")} == {
        "no-conversation",
        "no-rating",
    }
    sentences.check(caught.value, path, "sheet Tasks", "sheet Messages")


def test_filled_in_it_is_read_without_a_diagnostic(path):
    fill(path)
    study = read_workbook(path, strict=True)
    assert len(study.conversations) == 2
    assert study.turns["overall"].tolist() == [5.0, 5.0]
    assert study.turns["Relational_state"].tolist() == ["not rated", "not rated"]
    assert study.conversations["desired_empathy"].tolist() == [2.0, 2.0]
    assert study.participants["Age"].tolist() == [31.0, 32.0]


def test_a_note_says_each_level_of_an_answer(path):
    book = openpyxl.load_workbook(path)
    for name, columns in CORE_COLUMNS.items():
        for position, column in enumerate(columns, 1):
            cell = book[name].cell(1, position)
            assert cell.comment is not None, cell.value
            for level, synonyms in enumerate(
                column.scale.vocabularies[0] if column.scale else (), 1
            ):
                assert f"{level} = {synonyms[0]}" in cell.comment.text


def test_equal_calls_give_equal_bytes(path, tmp_path):
    assert write_template(tmp_path / "other.xlsx").read_bytes() == path.read_bytes()


def test_a_file_that_is_there_is_replaced_only_if_that_is_asked_for(path, sentences):
    fill(path)
    filled = path.read_bytes()
    with sentences.refused(path, "--force"):
        write_template(path)
    assert path.read_bytes() == filled
    write_template(path, replace=True)
    assert read_sheets(path)["Tasks"].rows == []


@pytest.mark.parametrize("name", ["mine.csv", "folder.xlsx"])
def test_a_place_that_will_not_do_is_refused(name, tmp_path, sentences):
    (tmp_path / "folder.xlsx").mkdir()
    with sentences.refused(tmp_path / name):
        write_template(tmp_path / name)


# Parts: all that a participant did in one of them, and nothing changed on the way


def together(places):
    """The frames of all parts, one below the other, without the numbers of rows."""
    studies = [read_workbook(place, part=True) for place in places]
    return {
        name: pd.concat(
            [getattr(study, name).drop(columns="row") for study in studies], ignore_index=True
        )
        for name in FRAMES
    }


@pytest.fixture(scope="module")
def synthetic():
    return load("synthetic")


def test_the_parts_together_are_the_data_set(synthetic, tmp_path):
    places = write_partitions(synthetic, tmp_path / "parts", 4)
    found = together(places)
    for name in FRAMES:
        expected = getattr(synthetic, name).drop(columns="row").reset_index(drop=True)
        pd.testing.assert_frame_equal(found[name], expected, check_dtype=False, check_exact=True)


def test_a_participant_lies_in_one_part_and_parts_are_about_equal_and_say_where_they_are_from(
    synthetic, tmp_path
):
    people, sizes = [], []
    for place in write_partitions(synthetic, tmp_path / "parts", 6):
        part = read_workbook(place, part=True)
        people += list(part.conversations["participant"].unique())
        sizes.append(part.conversations["participant"].nunique())
    assert sorted(people) == sorted(synthetic.conversations["participant"].unique())
    assert max(sizes) - min(sizes) <= 1
    assert load(str(place)).provenance.kind == "synthetic"


def test_words_spellings_and_strays_are_settled_before_the_parts_are_written(
    minimal_sheets, tmp_path
):
    sheets = minimal_sheets(
        conversations=4,
        participants=4,
        tasks={"TaskId": ["a1", "b2", "C3", "d4"], "PID": ["P1", "P2", None, "P4"]},
        messages={
            "TaskId": [name for name in ("A1", "b2", "C3", "nobody") for _ in range(4)],
            "Affective": [None, "sehr gut", "2", "unknown"] * 4,
            "Role": ["user", "assistant", "Assistant", "assistant"] * 4,
        },
    )
    study = parse_sheets(sheets)
    found = together(write_partitions(study, tmp_path / "parts", 4))
    for name in ("conversations", "messages", "turns"):
        expected = getattr(study, name).drop(columns="row").reset_index(drop=True)
        pd.testing.assert_frame_equal(found[name], expected, check_dtype=False, check_exact=True)


def test_csv_refuses_a_text_that_it_would_make_a_number(minimal_sheets, tmp_path, sentences):
    study = parse_sheets(minimal_sheets(messages={"Content": ["4.0", "ok", "ok", "ok"]}))
    with sentences.refused("Messages", "column Content", "row 2", "'4.0'"):
        write_partitions(study, tmp_path / "parts", 1)
    assert list(tmp_path.iterdir()) == []


def test_names_of_sheets_lead_to_no_other_folder_and_texts_like_formulas_come_back(
    minimal_sheets, tmp_path
):
    sheets = minimal_sheets(messages={"Content": ["=1+1", "'=x", "-a", "'tis"]})
    outside = tmp_path / "grades.csv"
    outside.write_text("mine")
    for name in ("../../grades", str(tmp_path / "grades"), "..", "aux"):
        sheets[name] = Sheet(name, ["a"], [["b"]])
    (part,) = write_partitions(parse_sheets(sheets), tmp_path / "out" / "parts", 1)
    assert outside.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grades.csv", "out"]
    assert len(list(part.glob("*.csv"))) == len(sheets) + 1
    assert read_workbook(part).messages["content"].tolist()[:4] == ["=1+1", "'=x", "-a", "'tis"]


def test_sheets_that_would_be_one_file_are_named(minimal_sheets, tmp_path, sentences):
    sheets = minimal_sheets() | {name: Sheet(name, ["a"], [["b"]]) for name in ("Notes", "notes")}
    with sentences.refused("'Notes'", "'notes'"):
        write_partitions(parse_sheets(sheets), tmp_path / "parts", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_left_alone(minimal_sheets, tmp_path, sentences):
    study = parse_sheets(minimal_sheets())
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "mine.txt").write_text("mine")
    with sentences.refused(tmp_path / "parts"):
        write_partitions(study, tmp_path / "parts", 1)
    assert [path.name for path in tmp_path.rglob("*")] == ["parts", "mine.txt"]


@pytest.mark.parametrize("parts", [0, 99])
def test_parts_are_at_least_one_and_at_most_the_participants(
    minimal_sheets, parts, tmp_path, sentences
):
    with sentences.refused("1 to 3"):
        write_partitions(parse_sheets(minimal_sheets()), tmp_path / "parts", parts)


def test_a_folder_without_parts_is_refused_with_the_fix(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UserError, match="sense7 partition"):
            partition_folders(folder)


@pytest.mark.parametrize("parts", [1, 2, 5, 12])
def test_no_part_stays_empty_where_one_person_wrote_nearly_everything(
    minimal_sheets, parts, tmp_path
):
    names = [f"C{number + 1}" for number in (*range(12), *[3] * 36)]
    sheets = minimal_sheets(
        conversations=12, participants=12, messages={"TaskId": names, "MessageId": ...}
    )
    places = write_partitions(parse_sheets(sheets), tmp_path / "parts", parts)
    people = [
        list(read_workbook(place, part=True).conversations["participant"]) for place in places
    ]
    assert len(people) == parts
    assert all(people)
    assert [one for part in people for one in part] == [f"P{number + 1}" for number in range(12)]


def test_half_a_character_and_a_missing_participant_come_through_csv(minimal_sheets, tmp_path):
    sheets = minimal_sheets(
        tasks={"PID": ["P1", None, "P2", "P3"]},
        messages={"Content": ["half \ud83d", "ok", "ok", "ok"]},
    )
    study = parse_sheets(sheets)
    (place,) = write_partitions(study, tmp_path / "parts", 1)
    assert b"half \xed\xa0\xbd" in (place / "Messages.csv").read_bytes()
    assert "(no PID)" not in (place / "Tasks.csv").read_text("utf-8", "surrogatepass")
