"""The content of a workbook comes through a file as it was; a damaged file is refused or harmless."""

import csv
import io
import zipfile

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.workbook import parse_sheets, read_workbook, write_sheets
from sense7.workbook.diagnostics import describe

FRAMES = ("conversations", "messages", "turns", "participants")

# Pieces that formats treat as their own: escapes, mark-up, formulas, numbers, blanks, other directions.
PIECES = [
    "_x000D_", "_x0041", "_", "x", "\x00", "\x0b", "\r", "\n", "\t", "\x85", "\u2028", " ", "\u00a0", "=1+1", "@", "+",
    "-", "'", '"', ",", ";", "<r>", "</r>", "&amp;", "]]>", "NA", "None", "nan", "1e5", "007", "\u202e", "\u0645",
    "e\u0301", "\U0001f642", "\U0010ffff", "\ufeff", "\ufffd",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6).map("".join)
names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8).filter(str.strip)
levels = st.sampled_from([None, None, "good", "Very Good", "unknown", "1", 5.0, 3.0, "excellent", " poor "])
ages = st.none() | st.integers(18, 99).map(float) | st.just("no answer")


@st.composite
def studies(draw, text=texts):
    """Columns to change in the small workbook: any ids, texts and holes."""
    tasks = draw(st.lists(names, min_size=4, max_size=4, unique_by=lambda name: name.casefold()))
    people = draw(st.lists(names, min_size=4, max_size=4))
    of_message = [name for name in tasks for _ in range(4)]

    def cells(strategy, length):
        return draw(st.lists(strategy, min_size=length, max_size=length))

    changes = {
        "tasks": {
            "TaskId": tasks,
            "PID": people,
            "PreTaskChoice": cells(text, 4),
            "PreTaskImportance": cells(levels, 4),
        },
        "messages": {
            "TaskId": of_message,
            "Content": cells(st.none() | text, 16),
            "Comment": cells(st.none() | text, 16),
            "Affective": cells(levels, 16),
        },
        "participants": {"PID": sorted(set(people)), "Age": cells(ages | text, len(set(people)))},
    }
    for sheet, column in (("messages", "Relational"), ("messages", "Comment"), ("tasks", "PreTaskImportance")):
        if draw(st.booleans()):
            changes[sheet][column] = ...
    return changes


def frames_of(read, *arguments):
    """What is read, or the kinds of errors for which it is refused."""
    try:
        study = read(*arguments)
    except UserError as error:
        return [diagnostic.kind for diagnostic in error.diagnostics.of("error")]
    return {name: getattr(study, name) for name in FRAMES} | {
        "found": [str(diagnostic) for diagnostic in study.diagnostics]
    }


def blank_as_none(sheets):
    """An empty text is no cell to a file."""
    for sheet in sheets.values():
        for row in sheet.rows:
            row[:] = [None if cell == "" else cell for cell in row]
    return sheets


def write_tables(sheets, folder):
    for name, sheet in sheets.items():
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        writer.writerow(sheet.header)
        writer.writerows([["" if cell is None else cell for cell in row] for row in sheet.rows])
        (folder / f"{name}.csv").write_text(text.getvalue(), encoding="utf-8", newline="")


without_zero = texts.map(lambda text: text.replace("\0", "")).filter(lambda text: not text.endswith(".0"))


@settings(max_examples=30)
@given(changes=studies(without_zero))
def test_a_study_comes_through_a_folder_of_tables_as_it_was(minimal_sheets, tmp_path_factory, changes):
    """But for which cells are numbers, which a CSV file does not say."""
    sheets = blank_as_none(minimal_sheets(**changes))
    folder = tmp_path_factory.mktemp("tables")
    write_tables(sheets, folder)
    read, known = frames_of(read_workbook, folder), frames_of(parse_sheets, sheets)
    if isinstance(known, list):
        assert read == known
        return
    for frame, columns in {
        "conversations": ["conversation", "participant", "topic", "importance"],
        "messages": ["conversation", "position", "role", "content", "comment"],
        "turns": ["conversation", "turn", "Affective", "Affective_state", "overall"],
    }.items():
        pd.testing.assert_frame_equal(read[frame][columns], known[frame][columns], check_exact=True)


# A package that something has befallen


@pytest.fixture(scope="module")
def package(minimal_sheets, tmp_path_factory):
    """Members of a small workbook's package: name -> content."""
    path = tmp_path_factory.mktemp("package") / "study.xlsx"
    write_sheets(minimal_sheets(), path)
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pack(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return stream.getvalue()


def outcome(content, folder):
    """The frames that are read; None if the file is refused. Any other exception fails the test."""
    path = folder / "study.xlsx"
    path.write_bytes(content)
    try:
        study = read_workbook(path)
    except UserError:
        return None
    describe(study)
    return study


places = st.floats(0, 1, exclude_max=True)


@settings(max_examples=60)
@given(data=st.data())
def test_a_package_with_a_broken_member_is_refused_or_read(package, tmp_path_factory, data):
    members = dict(package)
    name = data.draw(st.sampled_from(sorted(members)))
    content = members[name]
    start = int(data.draw(places) * len(content))
    match data.draw(st.sampled_from(["dropped", "cut", "garbled", "repeated", "emptied"])):
        case "dropped":
            del members[name]
        case "cut":
            members[name] = content[:start]
        case "garbled":
            members[name] = content[:start] + data.draw(st.binary(min_size=1, max_size=8)) + content[start + 4 :]
        case "repeated":
            end = start + int(data.draw(places) * (len(content) - start))
            members[name] = content[:end] + content[start:]
        case "emptied":
            members[name] = b""
    study = outcome(pack(members), tmp_path_factory.mktemp("broken"))
    if study is not None and name.startswith(("docProps", "xl/theme")):
        clean = outcome(pack(package), tmp_path_factory.mktemp("clean"))
        pd.testing.assert_frame_equal(study.turns, clean.turns)


@settings(max_examples=60)
@given(cut=places, flips=st.lists(st.tuples(places, st.integers(1, 255)), max_size=4), whole=st.booleans())
def test_a_file_cut_short_or_with_wrong_bytes_is_refused_or_read(package, tmp_path_factory, cut, flips, whole):
    content = bytearray(pack(package))
    for place, change in flips:
        content[int(place * len(content))] ^= change
    content = bytes(content if whole else content[: int(cut * len(content))])
    study = outcome(content, tmp_path_factory.mktemp("cut"))
    assert whole or study is None, "a file that is cut short lacks its directory"


def test_a_sheet_that_goes_by_many_names_is_refused(package, tmp_path):
    names = b"".join(b'<sheet name="T%d" sheetId="%d" r:id="rId1"/>' % (number, number + 9) for number in range(9999))
    book = package["xl/workbook.xml"].replace(b"</sheets>", names + b"</sheets>")
    path = tmp_path / "study.xlsx"
    path.write_bytes(pack(package | {"xl/workbook.xml": book}))
    with pytest.raises(UserError, match="the sheets Tasks and T0 are one and the same part"):
        read_workbook(path)


ENDLESS = {
    "cells without an end": b"<c " * 80_000,
    "cells in open quotes": b'<c ">"' * 40_000,
    "cells with a place and no end": b'<c r="A1" ' * 20_000,
    "cells of errors without an end": b'<c t="e" ' * 20_000,
    "rows without an end": b"<row " * 40_000,
    "names without an end": b"<" + b"a" * 200_000,
    "one cell with many places": b"<c " + b'r="A1" ' * 30_000 + b">",
    "one formula and much space": b'<c r="A1"><f/>' + b" " * 200_000,
    "one formula with many slashes": b'<c r="A1"><f ' + b"/" * 200_000 + b">",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_sheet_that_is_no_markup_takes_no_time(kind, package, tmp_path):
    """These took minutes: a search that begins again at each tag, and looks on to the end of the sheet."""
    sheet = package["xl/worksheets/sheet2.xml"].replace(b"</sheetData>", b"<f>" + ENDLESS[kind] + b"</sheetData>")
    outcome(pack(package | {"xl/worksheets/sheet2.xml": sheet}), tmp_path)


def test_a_place_behind_a_tag_inside_a_tag_is_not_overlooked(package, tmp_path):
    far = b'<c x="<c/>" r="XFD1048576" t="n"><v>1</v></c></sheetData>'
    sheet = package["xl/worksheets/sheet2.xml"].replace(b"</sheetData>", far)
    path = tmp_path / "study.xlsx"
    path.write_bytes(pack(package | {"xl/worksheets/sheet2.xml": sheet}))
    with pytest.raises(UserError, match="sheet Messages: damaged: not well-formed"):
        read_workbook(path)
