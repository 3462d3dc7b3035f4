"""Broken and odd input: each case one small function, whose name says what is wrong, and what must come of it.

A function gets a :class:`Bench` to make files with, and gives the arguments of the command line. ``Refused`` says
which words the one message must hold: the place and how to fix it. ``Read`` says which warnings are counted, and how
the frames differ from those of the clean workbook: in the touched cells and nowhere else.
"""

import contextlib
import csv
import gc
import io
import json
import os
import re
import resource
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

import openpyxl

from sense7.workbook import Sheet, write_sheets

NAN = float("nan")
NOBODY = 65534
SHEETS = {"Tasks": "sheet1", "Messages": "sheet2", "Participants": "sheet3"}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True)
class Refused:
    """Exit code 2 and one message with these words; nothing is written."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """Exit code 0, these kinds of warnings with their counts, and the clean frames but for what ``touch`` changes.

    Of what is no workbook: exit code 0 and these words in what is printed.
    """

    warnings: Mapping[str, int] = field(default_factory=dict)
    touch: Callable[[dict], None] | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """What is done, and what must come of it."""

    make: Callable[["Bench"], list]
    outcome: Refused | Read
    around: Callable[["Bench"], contextlib.AbstractContextManager]
    costly: bool

    @property
    def name(self) -> str:
        return self.make.__name__


CASES: list[Case] = []


def untouched(bench: "Bench") -> contextlib.AbstractContextManager:
    """Nothing is different while the command runs."""
    return contextlib.nullcontext()


def case(outcome, *, around=untouched, costly=False):
    """Enter a function among the cases; a costly one runs in a process of its own, whose memory is measured."""

    def enter(make):
        CASES.append(Case(make, outcome, around, costly))
        return make

    return enter


def refused(*words, **options):
    return case(Refused(words), **options)


def read(touch=None, words=(), **warnings):
    return case(Read({kind.replace("_", "-"): count for kind, count in warnings.items()}, touch, words))


class Bench:
    """A folder, and what makes clean files in it."""

    def __init__(self, folder: Path, sheets: Callable):
        self.folder, self.sheets = folder, sheets

    def file(self, name: str, content: bytes | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def workbook(self, **changes) -> Path:
        """A workbook with changes of its columns; see ``minimal_sheets``."""
        write_sheets(self.sheets(**changes), self.folder / "mine.xlsx")
        return self.folder / "mine.xlsx"

    def by_others(self, change: Callable) -> Path:
        """A workbook as another program writes it, changed by its means."""
        book = openpyxl.load_workbook(self.workbook())
        change(book)
        book.save(self.folder / "mine.xlsx")
        return self.folder / "mine.xlsx"

    def parts(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.workbook()) as package:
            return {name: package.read(name) for name in package.namelist()}

    def package(self, parts: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
        with zipfile.ZipFile(self.folder / "mine.xlsx", "w", method) as package:
            for name, content in parts.items():
                package.writestr(name, content)
        return self.folder / "mine.xlsx"

    def edited(self, sheet: str, old: str, new: str | bytes) -> Path:
        """A workbook whose sheet has other XML in one place."""
        parts, name = self.parts(), f"xl/worksheets/{SHEETS[sheet]}.xml"
        assert parts[name].count(old.encode()) >= 1, old
        new = new.encode() if isinstance(new, str) else new
        return self.package(parts | {name: parts[name].replace(old.encode(), new, 1)})

    def tables(self, *, encoding: str = "utf-8", delimiter: str = ",", **changes) -> Path:
        """A folder of CSV tables."""
        folder = self.folder / "mine"
        folder.mkdir()
        for sheet in self.sheets(**changes).values():
            text = io.StringIO()
            csv.writer(text, delimiter=delimiter).writerows([sheet.header, *sheet.rows])
            (folder / f"{sheet.name}.csv").write_bytes(text.getvalue().encode(encoding))
        return folder

    def predictions(self, name: str = "model-prompt-iter1.csv", **columns) -> Path:
        """A prediction file of four conversations; ``...`` removes a column."""
        known = {
            "TaskId": ["C1", "C2", "C3", "C4"],
            "PID": ["P1", "P1", "P2", "P3"],
            "IS_EMPATHY": ["4", "5", "4", "2"],
            "ground-truth": ["4.5", "4.5", "4.5", "4.5"],
        } | {name.replace("_TRUTH", "ground-truth"): cells for name, cells in columns.items()}
        kept = {column: cells for column, cells in known.items() if cells is not ...}
        rows = [list(row) for row in zip(*kept.values(), strict=True)]
        if name.endswith(".xlsx"):
            write_sheets([Sheet("results", list(kept), rows)], self.folder / name)
            return self.folder / name
        return self.file(name, "\n".join(",".join(row) for row in [list(kept), *rows]) + "\n")


def check(path, *options) -> list:
    return ["check", path, *options]


def evaluate(*paths) -> list:
    return ["judge", "evaluate", *paths, "--draws", "20"]


def first_turn(cell, column="Affective"):
    """A column of Messages whose first assistant row holds this cell."""
    return {"messages": {column: [None, cell] + [None, "Very good"] + [None, "good", None, "Very good"] * 3}}


def change_turn(level, state="unreadable", column="Affective"):
    def touch(frames):
        frames["turns"].loc[0, column] = level
        frames["turns"].loc[0, f"{column}_state"] = state

    return touch


def change(frame, rows, column, value):
    def touch(frames):
        frames[frame].loc[rows, column] = value

    return touch


# Sheets and columns -------------------------------------------------------------------------


@refused("mine.xlsx", "sheet Tasks", "is missing (sheets present: Messages, Participants)", "name the sheet Tasks")
def sheet_of_tasks_missing(bench):
    """There is no sheet Tasks."""
    return check(bench.workbook(tasks=None))


@refused("mine.xlsx", "the sheet Messages is missing", "name the sheet Messages")
def sheet_of_messages_called_otherwise(bench):
    """The sheet Messages has a name of its own."""
    return check(bench.by_others(lambda book: setattr(book["Messages"], "title", "Chats")))


@read(renamed_sheet=1)
def sheet_in_other_case(bench):
    """The sheet Tasks is called TASKS."""
    parts = bench.parts()
    return check(bench.package(parts | {"xl/workbook.xml": parts["xl/workbook.xml"].replace(b'"Tasks"', b'"TASKS"')}))


@read(renamed_column=1)
def column_in_other_case(bench):
    """The column TaskId is called task_id."""
    return check(bench.by_others(lambda book: book["Messages"].__setitem__("A1", "task_id")))


@refused("sheet Tasks, column PID", "key column PID is missing in row 1", "columns present: Who", "name the column PID")
def key_column_renamed_beyond_recognition(bench):
    """The column PID is called Who."""
    return check(bench.by_others(lambda book: book["Tasks"].__setitem__("A1", "Who")))


@refused("sheet Messages, column Role", "is missing", "name the column Role")
def key_column_missing(bench):
    """Messages have no Role."""
    return check(bench.workbook(messages={"Role": ...}))


@refused("key column TaskId is missing", "names stand in row 1, with nothing above them")
def title_above_the_names(bench):
    """Row 1 holds a title, the names stand in row 2."""
    return check(bench.by_others(lambda book: book["Tasks"].insert_rows(1)))


@refused("sheet Tasks", "holds no conversation", "fill it")
def names_without_rows(bench):
    """Tasks has its names and nothing below."""
    return check(bench.by_others(lambda book: book["Tasks"].delete_rows(2, 10)))


def _drop_column(frame, column):
    def touch(frames):
        frames[frame][column] = NAN

    return touch


@read(_drop_column("conversations", "importance"))
def column_missing(bench):
    """PreTaskImportance is not there."""
    return check(bench.workbook(tasks={"PreTaskImportance": ...}))


@read(duplicate_column=1)
def column_twice(bench):
    """A second column Affective with other ratings: the first is used."""

    def twice(book):
        book["Messages"]["P1"] = "Affective"
        book["Messages"]["P3"] = "very poor"

    return check(bench.by_others(twice))


@read(nameless_column=1)
def column_without_a_name(bench):
    """Cells below a blank head."""
    return check(bench.by_others(lambda book: book["Messages"].__setitem__("Q3", "stray")))


@read(unknown_column=1, unknown_sheet=1)
def column_and_sheet_that_the_format_does_not_know(bench):
    """A further column and a further sheet."""

    def add(book):
        book["Tasks"]["R1"] = "Mood"
        book.create_sheet("Notes")["A1"] = "x"

    return check(bench.by_others(add))


@refused("mine.xlsx", "several sheets are called", "Rename or remove all but one")
def two_sheets_of_one_name(bench):
    """Two sheets called Tasks: one would hide the other."""
    parts = bench.parts()
    book = parts["xl/workbook.xml"].replace(b'"Participants"', b'"TASKS"')
    return check(bench.package(parts | {"xl/workbook.xml": book}))


@read(hidden_sheet=1)
def hidden_sheet(bench):
    """The sheet Messages is hidden."""
    return check(bench.by_others(lambda book: setattr(book["Messages"], "sheet_state", "hidden")))


@read(change("conversations", 1, "topic", None), merged_cells=1)
def merged_cells(bench):
    """The topics of two conversations are one merged cell."""
    return check(bench.by_others(lambda book: book["Tasks"].merge_cells("D2:D3")))


@read()
def hundreds_of_thousands_of_formatted_empty_rows(bench):
    """A format far below the data, as by a click on a whole column."""
    rows = "".join(f'<row r="{row}" s="1" customFormat="1"><c r="A{row}" s="1"/></row>' for row in range(20, 200_000))
    return check(bench.edited("Messages", "</sheetData>", f"{rows}</sheetData>"))


@read()
def blank_rows_and_columns_at_the_end(bench):
    """Cells with nothing but an empty text beyond the data."""
    cells = '<row r="40"><c r="Z40" t="inlineStr"><is><t></t></is></c></row></sheetData>'
    return check(bench.edited("Tasks", "</sheetData>", cells))


@read()
def dimension_too_large(bench):
    """The sheet says that it fills all rows and columns."""
    return check(bench.edited("Tasks", 'ref="A1:Q5"', 'ref="A1:XFD1048576"'))


@read()
def dimension_too_small(bench):
    """The sheet says that it has one cell."""
    return check(bench.edited("Tasks", 'ref="A1:Q5"', 'ref="A1"'))


@read()
def prefixed_xml(bench):
    """Every element has a prefix, as some programs write them."""
    parts, name = bench.parts(), "xl/worksheets/sheet2.xml"
    xml = re.sub(rb"<(/?)(\w)", rb"<\1x:\2", parts[name]).replace(b'xmlns="', b'xmlns:x="')
    return check(bench.package(parts | {name: xml}))


# Ratings and answers ------------------------------------------------------------------------


@read(change_turn(NAN), unknown_word=1)
def rating_misspelt(bench):
    """A rating is called gud: counted as not rated, never guessed."""
    return check(bench.workbook(**first_turn("gud")), "--allow-unreadable")


@read()
def numbers_and_words_mixed(bench):
    """Ratings as 4, "4", "4.0", "GOOD ", "4 - good" in one column."""
    cells = [None, 4.0, None, "5", None, "4.0", None, " VERY GOOD ", None, "4 - good", None, 5.0]
    return check(bench.workbook(messages={"Affective": [*cells, None, "good", None, "Very good"]}))


@read(change_turn(NAN), unknown_word=1)
def date_where_a_rating_belongs(bench):
    """A spreadsheet program made 4.5. a date."""
    return check(bench.workbook(**first_turn(date(2025, 5, 4))), "--allow-unreadable")


@read(change_turn(NAN), unknown_word=1)
def truth_value_where_a_rating_belongs(bench):
    """TRUE is no 1."""
    return check(bench.workbook(**first_turn(True)), "--allow-unreadable")


@read(change_turn(NAN), out_of_range=1)
def rating_beyond_the_scale(bench):
    """A rating of 6."""
    return check(bench.workbook(**first_turn(6.0)), "--allow-unreadable")


@read(change_turn(NAN), out_of_range=1)
def rating_between_levels(bench):
    """A rating of 3.5."""
    return check(bench.workbook(**first_turn(3.5)), "--allow-unreadable")


@read(change_turn(NAN), out_of_range=1)
def rating_too_large_for_a_whole_number(bench):
    """A rating of 1e300."""
    return check(bench.workbook(**first_turn(1e300)), "--allow-unreadable")


@read(change_turn(NAN), contradiction=1)
def number_and_word_that_differ(bench):
    """4 - Poor."""
    return check(bench.workbook(**first_turn("4 - Poor")), "--allow-unreadable")


@read(change_turn(NAN, "not rated"))
def rating_unknown(bench):
    """Asked and not rated is no warning."""
    return check(bench.workbook(**first_turn("Unknown")))


@read(change_turn(NAN), unknown_word=1)
def rating_is_the_text_of_an_error(bench):
    """The text #REF!, as a formula leaves it."""
    return check(bench.workbook(**first_turn("#REF!")), "--allow-unreadable")


@refused("PreTaskImportance", "3 of 4 below 1", "--scale PreTaskImportance=0-4")
def scale_that_begins_with_0(bench):
    """Importance from 0 to 4 is on another scale."""
    return check(bench.workbook(tasks={"PreTaskImportance": [0.0, 0.0, 0.0, 4.0]}))


@refused("column Affective", "1 of 8 answers can't be read", "--allow-unreadable")
def more_unreadable_ratings_than_pass(bench):
    """One rating of eight is called gud."""
    return check(bench.workbook(**first_turn("gud")))


@read(rating_elsewhere=8)
def rating_on_the_users_rows(bench):
    """Ratings stand beside user messages too; those belong to no turn."""
    cells = ["poor", "good", "poor", "Very good"] * 4
    return check(bench.workbook(messages={"Affective": cells}))


@refused("sheet Messages", "not one assistant turn has a rating", "1 to 5 or very poor to very good")
def no_rating_at_all(bench):
    """Every rating is a dash."""
    from sense7.taxonomy import RATING_NAMES

    return check(bench.workbook(messages={name.replace("overall", "EmpathyOverall"): "-" for name in RATING_NAMES}))


@refused("sheet Messages", "rows whose Role is assistant", "column Role")
def roles_in_capitals(bench):
    """Assistant in place of assistant: as in the authors' scripts no turn."""
    return check(bench.workbook(messages={"Role": ["user", "Assistant"] * 8}))


# Formulas -----------------------------------------------------------------------------------


def formula(bench, xml: str):
    """The rating in Messages!H3 as a formula."""
    return check(bench.edited("Messages", '<c r="H3" t="inlineStr"><is><t>good</t></is></c>', f'<c r="H3"{xml}</c>'))


@read()
def formula_with_its_value(bench):
    """=2+2, stored as 4."""
    return formula(bench, "><f>2+2</f><v>4</v>")


@read(change_turn(NAN, "absent"), formula_without_value=1)
def formula_without_its_value(bench):
    """A program wrote the formula and did not compute it."""
    return formula(bench, "><f>2+2</f><v></v>")


@read(change_turn(NAN, "absent"))
def formula_whose_value_is_an_empty_text(bench):
    """=IF(1,"","x") is blank, and no fault."""
    return formula(bench, ' t="str"><f>IF(1,"","x")</f><v></v>')


@read(change_turn(NAN, "absent"), error_cell=1)
def formula_with_an_error(bench):
    """=NA() is blank, and located."""
    return formula(bench, ' t="e"><f>NA()</f><v>#N/A</v>')


@read(change_turn(NAN, "absent"), error_cell=1)
def formula_with_an_error_in_other_quotes(bench):
    """The same as another program writes it."""
    return formula(bench, " t='e'><f>1/0</f><v>#DIV/0!</v>")


# Keys and order -----------------------------------------------------------------------------


@refused("sheet Tasks, column TaskId, cells C2, C4", "'C1'", "stands in several rows", "a TaskId of its own")
def task_twice(bench):
    """Two conversations of one TaskId."""
    return check(bench.workbook(tasks={"TaskId": ["C1", "C2", "C1", "C4"]}))


@refused("column TaskId", "'1'", "stands in several rows")
def task_twice_as_number_and_text(bench):
    """1 and "1" are one id."""
    return check(bench.workbook(tasks={"TaskId": ["1", 1.0, "3", "4"]}))


def _only(*conversations):
    """What is left where the others have no messages."""

    def touch(frames):
        for frame in ("messages", "turns"):
            kept = frames[frame]["conversation"].isin(conversations)
            frames[frame] = frames[frame][kept].reset_index(drop=True)

    return touch


@read(_only("C1", "C2", "C3"), orphan=4, no_message=1)
def messages_without_their_task(bench):
    """Messages of a conversation that Tasks does not have."""
    cells = [name for name in ("C1", "C2", "C3", "X9") for _ in range(4)]
    return check(bench.workbook(messages={"TaskId": cells}))


@read(_only("C1", "C2", "C3"), orphan=4, no_message=1)
def messages_without_an_id(bench):
    """The last conversation's messages have a blank TaskId."""
    cells = [name for name in ("C1", "C2", "C3", None) for _ in range(4)]
    return check(bench.workbook(messages={"TaskId": cells}))


@read(respelt_id=4)
def ids_spelt_otherwise(bench):
    """{c4} and c4 for C4."""
    cells = [name for name in ("C1", "C2", "C3") for _ in range(4)] + ["{C4}", "c4", "c4", "{c4}"]
    return check(bench.workbook(messages={"TaskId": cells}))


def _rename(old, new, column="conversation"):
    def touch(frames):
        for frame in frames.values():
            if column in frame:
                frame[column] = frame[column].replace(dict(zip(old, new, strict=True)))

    return touch


@read(_rename(["C1", "C2", "C3", "C4"], ["1", "2", "3", "4"]))
def ids_as_numbers_here_and_texts_there(bench):
    """TaskIds are numbers in Tasks and texts in Messages."""
    return check(
        bench.workbook(
            tasks={"TaskId": [1.0, 2.0, 3.0, 4.0]},
            messages={"TaskId": [name for name in "1234" for _ in range(4)]},
        )
    )


@read(_rename(["C4"], ["2025-09-19"]))
def date_where_an_id_belongs(bench):
    """A spreadsheet program made an id a date, in both sheets."""
    day = date(2025, 9, 19)
    return check(
        bench.workbook(
            tasks={"TaskId": ["C1", "C2", "C3", day]},
            messages={"TaskId": [name for name in ("C1", "C2", "C3", day) for _ in range(4)]},
        )
    )


def _reversed(frames):
    # The rows stay as they are in the file; turns and positions are counted by MessageId.
    frames["messages"]["message_id"] = [4.0, 3.0, 2.0, 1.0] * 4
    frames["messages"]["position"] = [4, 3, 2, 1] * 4
    frames["turns"]["position"] = [3, 1] * 4
    frames["turns"]["turn"] = [2, 1] * 4


@read(_reversed, unordered_message_id=12)
def messages_in_reversed_order(bench):
    """MessageIds fall within each conversation."""
    return check(bench.workbook(messages={"MessageId": [4.0, 3.0, 2.0, 1.0] * 4}))


@read(change("messages", slice(0, 3), "message_id", 1.0), repeated_message_id=4)
def message_ids_repeated(bench):
    """Every message of a conversation is the first: the order of the rows stands in."""
    return check(bench.workbook(messages={"MessageId": [1.0] * 4 + [1.0, 2.0, 3.0, 4.0] * 3}))


def seconds(cell):
    return {"messages": {"TimeOffsetSeconds": [0.0, cell, 40.0, 60.0] + [0.0, 20.0, 40.0, 60.0] * 3}}


def _without_seconds(frames):
    frames["messages"].loc[1, "seconds"] = NAN
    frames["turns"].loc[0, "seconds"] = NAN


@read(_without_seconds, out_of_range=1)
def time_negative(bench):
    """-5 seconds since the beginning."""
    return check(bench.workbook(**seconds(-5.0)))


@read(_without_seconds, not_a_number=1)
def time_in_words(bench):
    """A time is called soon."""
    return check(bench.workbook(**seconds("soon")))


@read(_without_seconds, not_a_number=1)
def time_as_a_date(bench):
    """A moment in place of seconds."""
    return check(bench.workbook(**seconds(datetime(2025, 9, 19, 12, 30))))


def number(bench, text: str):
    """The seconds in Messages!C3 as they stand in the XML."""
    return check(bench.edited("Messages", '<c r="C3"><v>20.0</v></c>', f'<c r="C3"><v>{text}</v></c>'))


@read(_without_seconds, not_a_number=1)
def time_infinite(bench):
    """1e999 is infinite, and no number."""
    return number(bench, "1e999")


@read(_without_seconds, not_a_number=1)
def time_nan(bench):
    """NaN in a cell of numbers."""
    return number(bench, "NaN")


def _backwards(frames):
    frames["messages"].loc[1, "seconds"] = 50.0
    frames["turns"].loc[0, "seconds"] = 50.0


@read(_backwards, unordered_time=1)
def time_runs_backwards(bench):
    """The second message is later than the third."""
    return check(bench.workbook(**seconds(50.0)))


@read(change("messages", 0, "role", "system"), unknown_role=1)
def role_unknown(bench):
    """A message of a system."""
    return check(bench.workbook(messages={"Role": ["system", "assistant"] + ["user", "assistant"] * 7}))


def _nameless(frames):
    for name in ("conversations", "turns"):
        frame = frames[name]
        frame.loc[frame["conversation"] == "C3", "participant"] = " (no PID) C3"


@read(_nameless, missing_participant=1, participant_without_conversation=1, participant_without_characteristics=1)
def conversation_without_participant(bench):
    """A blank PID: a participant of its own."""
    return check(bench.workbook(tasks={"PID": ["P1", "P1", None, "P3"]}))


def _unconditioned(frames):
    frames["conversations"].loc[0, "condition"] = None
    frames["turns"].loc[[0, 1], "condition"] = None


@read(_unconditioned, missing_condition=1)
def conversation_without_condition(bench):
    """A blank Model."""
    return check(bench.workbook(tasks={"Model": [None, "plain-empathy", "plain", "plain-empathy"]}))


@read(duplicate_participant=1)
def participant_twice(bench):
    """A participant has two rows: the first is used."""
    return check(bench.by_others(lambda book: book["Participants"].append(["P3", 61, "m"])))


@read(change("participants", 1, "Age", NAN), mixed_column=1)
def word_among_the_numbers_of_participants(bench):
    """Age: prefer not to say."""
    return check(bench.workbook(participants={"Age": [30.0, "prefer not to say", 52.0]}))


# Texts --------------------------------------------------------------------------------------


def text(content: str):
    """Touch: the first message's text."""
    return change("messages", 0, "content", content)


def first_message(bench, content: str):
    cells = ["I had a bad day.", "I am sorry to hear that.", "Thank you.", "Gladly."] * 4
    return check(bench.workbook(messages={"Content": [content, *cells[1:]]}))


@read(text("long." * 20_000))
def message_of_100_000_characters(bench):
    """Three times as long as a cell may be."""
    return check(bench.edited("Messages", "I had a bad day.", "long." * 20_000))


@read(text("👩‍👩‍👧 😀 \U0001f9d1\U0001f3ff"))
def emoji(bench):
    """Emoji of several code points."""
    return first_message(bench, "👩‍👩‍👧 😀 \U0001f9d1\U0001f3ff")


@read(text("مرحبا \u202eabc\u202c שלום"))
def right_to_left(bench):
    """Arabic, Hebrew and a mark that turns the direction."""
    return first_message(bench, "مرحبا \u202eabc\u202c שלום")


@read(text("a\x00b\x01\x08\x1b[31m\x0b"))
def control_characters(bench):
    """NUL, escape and others, escaped as the format prescribes."""
    return first_message(bench, "a\x00b\x01\x08\x1b[31m\x0b")


@read(text("a\r\nb"))
def carriage_return_escaped(bench):
    """_x000D_, as spreadsheet programs write it."""
    return check(bench.edited("Messages", "I had a bad day.", "a_x000D_\nb"))


@read(text("_x000D_ NA =1+1"))
def text_that_looks_like_an_escape(bench):
    """What looks like an escape, a missing value or a formula is text."""
    return first_message(bench, "_x000D_ NA =1+1")


@read(text("NaN"))
def text_that_looks_like_nothing(bench):
    """The message NaN is a message."""
    return first_message(bench, "NaN")


@read(text("1\u2028<script>alert(1)</script>]]>&amp;"))
def text_of_markup(bench):
    """Markup is text."""
    return first_message(bench, "1\u2028<script>alert(1)</script>]]>&amp;")


@read(text("I had a bad day."))
def text_in_several_styles(bench):
    """Runs of rich text with a reading aid, which is no part of it."""
    rich = '<r><t>I had</t></r><r><rPr><b/></rPr><t xml:space="preserve"> a bad day.</t></r>'
    rich += '<rPh sb="0" eb="1"><t>X</t></rPh>'
    return check(bench.edited("Messages", "<t>I had a bad day.</t>", rich))


@refused("mine.xlsx", "sheet Messages", "can be read", "save it again")
def nul_in_the_xml(bench):
    """A raw zero byte, which XML does not have."""
    return check(bench.edited("Messages", "I had a bad day.", "a\0b&#0;"))


# Packages -----------------------------------------------------------------------------------


@refused("mine.xlsx", "the file is empty", "Fetch or save it again")
def empty_file(bench):
    """No byte."""
    return check(bench.file("mine.xlsx", b""))


@refused("mine.xlsx", "not an .xlsx file, or cut short", "Fetch or save it again")
def truncated_zip(bench):
    """A download that ended early."""
    path = bench.workbook()
    return check(bench.file("mine.xlsx", path.read_bytes()[:-300]))


@refused("mine.xlsx", "damaged", "sheet2.xml", "Fetch or save it again")
def flipped_bytes(bench):
    """Bytes of a sheet are others than were written."""
    path = bench.workbook()
    with zipfile.ZipFile(path) as package:
        start = package.getinfo("xl/worksheets/sheet2.xml").header_offset + 150
    content = bytearray(path.read_bytes())
    content[start : start + 20] = bytes(20)
    return check(bench.file("mine.xlsx", bytes(content)))


@refused("mine.xlsx", "a zip archive, but none of an .xlsx workbook", "save it again as .xlsx")
def zip_of_something_else(bench):
    """A zip archive of notes."""
    return check(bench.package({"notes.txt": b"hello"}))


@refused("mine.xlsx", "a zip archive, but none of an .xlsx workbook", "save it again as .xlsx")
def word_document(bench):
    """A .docx called .xlsx."""
    return check(bench.package({"_rels/.rels": b"<Relationships/>", "word/document.xml": b"<document/>"}))


@refused("mine.ods", "a zip archive, but none of an .xlsx workbook", "save it again as .xlsx")
def opendocument(bench):
    """A spreadsheet of another format."""
    path = bench.package({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b"<x/>"})
    return check(path.rename(bench.folder / "mine.ods"))


@refused("mine.xlsx", "sheet Messages", "can be read", "save it again")
def part_missing(bench):
    """The part of a sheet is not in the archive."""
    parts = bench.parts()
    del parts["xl/worksheets/sheet2.xml"]
    return check(bench.package(parts))


@refused("mine.xlsx", "a part is in the archive twice", "Save it again")
def part_twice(bench):
    """Two parts of one name but for case: programs differ in which they read."""
    parts = bench.parts()
    return check(bench.package(parts | {"xl/worksheets/SHEET1.xml": parts["xl/worksheets/sheet1.xml"]}))


@refused("mine.xlsx", "damaged", "compressed in a way that .xlsx files do not know")
def other_compression(bench):
    """Parts compressed by LZMA."""
    return check(bench.package(bench.parts(), zipfile.ZIP_LZMA))


@refused("mine.xlsx", "sheet Messages", "can be read", "save it again")
def xml_cut_short(bench):
    """A sheet's XML ends in the middle."""
    parts, name = bench.parts(), "xl/worksheets/sheet2.xml"
    return check(bench.package(parts | {name: parts[name][:3000]}))


@refused("mine.xlsx", "sheet2.xml is not in UTF-8", "save it again as .xlsx")
def xml_in_utf_16(bench):
    """A sheet's XML in another encoding, which would be read as an empty sheet."""
    parts, name = bench.parts(), "xl/worksheets/sheet2.xml"
    return check(bench.package(parts | {name: parts[name].decode().replace("UTF-8", "UTF-16").encode("utf-16")}))


@refused("mine.xlsx", "sheet Messages", "UTF-8", "save it again")
def xml_in_latin_1(bench):
    """A text in an encoding that the XML does not say."""
    return check(bench.edited("Messages", "I had a bad day.", b"caf\xe9"))


@refused("mine.xlsx", "sheet Messages", "string", "save it again")
def shared_text_that_is_not_there(bench):
    """A cell points at the text of number 99 of none."""
    xml = '<c r="H3" t="s"><v>99</v></c>'
    return check(bench.edited("Messages", '<c r="H3" t="inlineStr"><is><t>good</t></is></c>', xml))


@refused("mine.xlsx", "sheet Messages", "save it again")
def type_of_cell_unknown(bench):
    """A cell of the type zz."""
    return check(bench.edited("Messages", '<c r="C3"><v>20.0</v></c>', '<c r="C3" t="zz"><v>20.0</v></c>'))


@refused("mine.xlsx", "sheet Messages", "save it again")
def place_of_a_cell_unreadable(bench):
    """A cell in 3C."""
    return check(bench.edited("Messages", '<c r="C3"><v>', '<c r="3C"><v>'))


@refused("mine.xlsx", "protected by a password", "Save a copy as .xlsx without a password")
def password_protected(bench):
    """Encrypted by a spreadsheet program: an OLE file that holds the package."""
    return check(bench.file("mine.xlsx", OLE + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(512)))


@refused("mine.xls", "of a format before .xlsx", "Save a copy as .xlsx")
def workbook_before_xlsx(bench):
    """An .xls file."""
    return check(bench.file("mine.xls", OLE + bytes(504) + "Workbook".encode("utf-16-le") + bytes(512)))


@refused("mine.xlsx", "protected by a password", "Save a copy without one")
def zip_protected_by_password(bench):
    """The archive itself is encrypted."""
    content = bytearray(bench.workbook().read_bytes())
    for start in [found.start() for found in re.finditer(rb"PK\x01\x02", bytes(content))]:
        content[start + 8] |= 1
    return check(bench.file("mine.xlsx", bytes(content)))


@refused("mine.xlsx", "no zip archive", "Fetch or save it again")
def csv_called_xlsx(bench):
    """A text file with the wrong ending."""
    return check(bench.file("mine.xlsx", "PID,TaskId\nP1,C1\n"))


@refused("Tasks.csv", "Expected an .xlsx file", "give the folder that holds Tasks.csv and Messages.csv")
def csv_alone(bench):
    """One table in place of the folder."""
    return check(bench.file("Tasks.csv", "PID,TaskId\nP1,C1\n"))


@refused("mine.pdf", "Expected an .xlsx file", "save it again as .xlsx")
def pdf(bench):
    """A document."""
    return check(bench.file("mine.pdf", b"%PDF-1.7\n1 0 obj\n"))


@refused("mine.xlsx", "no zip archive")
def picture(bench):
    """A picture called .xlsx."""
    return check(bench.file("mine.xlsx", b"\x89PNG\r\n\x1a\n" + bytes(100)))


@refused("mine.xlsx", "Git LFS pointer", "Download the file it stands for")
def pointer_in_place_of_the_file(bench):
    """What a clone without large files holds."""
    return check(bench.file("mine.xlsx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"))


# Places -------------------------------------------------------------------------------------


@refused("none.xlsx", "neither the name of a data set", "Check the path")
def nothing_there(bench):
    """A path to nothing."""
    return check(bench.folder / "none.xlsx")


@refused("mine", "a folder without a table", "Expected Tasks.csv and Messages.csv", "the path of its .xlsx file")
def folder_without_tables(bench):
    """A folder of notes."""
    return check(bench.file("mine/notes.txt", "x").parent)


@refused("mine.xlsx", "there is no such file", "Check the path")
def dangling_link(bench):
    """A link whose file is gone."""
    (bench.folder / "mine.xlsx").symlink_to(bench.folder / "gone.xlsx")
    return check(bench.folder / "mine.xlsx")


@refused("mine.xlsx", "can't be read", "Check its path and permissions")
def links_in_a_circle(bench):
    """A link to itself."""
    (bench.folder / "mine.xlsx").symlink_to(bench.folder / "mine.xlsx")
    return check(bench.folder / "mine.xlsx")


@refused("pipe.xlsx", "no ordinary file", "Make a file of it first")
def pipe(bench):
    """A pipe that nobody writes to must not hang."""
    os.mkfifo(bench.folder / "pipe.xlsx")
    return check(bench.folder / "pipe.xlsx")


@refused("/dev/zero", "no ordinary file")
def device(bench):
    """A device that never ends."""
    return check("/dev/zero")


@refused("mine.xlsx", "can't be read (File name too long)")
def name_too_long(bench):
    """A longer name than the system has."""
    return check(bench.folder / ("x" * 300) / "mine.xlsx")


@contextlib.contextmanager
def as_nobody(bench: Bench) -> Iterator[None]:
    """Run as a user who may read nothing that is not for all."""
    before = os.geteuid()
    if before == 0:
        bench.folder.chmod(0o755)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@refused("mine.xlsx", "can't be read (Permission denied)", "permissions", around=as_nobody)
def no_permission(bench):
    """A file of somebody else's."""
    path = bench.workbook()
    path.chmod(0)
    return check(path)


@contextlib.contextmanager
def full_disk(bench: Bench) -> Iterator[None]:
    """No file can grow beyond a few bytes: what a full disk is to a program that writes."""
    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python would leave a part of a module's, and stumble over it ever after
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # XlsxWriter leaves the files that it could not fill to the collector
            gc.collect()


@refused("new.xlsx", "can't be written", "give the same command again", around=full_disk)
def full_disk_for_a_template(bench):
    """No room for an empty workbook."""
    return ["template", bench.folder / "new.xlsx"]


@refused("new.xlsx", "can't be written", "give the same command again", around=full_disk)
def full_disk_for_a_simulation(bench):
    """No room for a synthetic workbook."""
    out = bench.folder / "new.xlsx"
    return ["simulate", "--out", out, "--set", "participants=8", "--set", "conversations=16"]


@refused("requests.jsonl", "can't be written", "give the same command again", around=full_disk)
def full_disk_for_a_batch(bench):
    """No room for requests."""
    return ["judge", "batch", "export", "--out", bench.folder / "requests.jsonl", "--data", bench.workbook()]


@refused("mine.xlsx/new.xlsx", "can't be written", "Check the path")
def file_where_a_folder_belongs(bench):
    """Something is to be written inside a file."""
    return ["template", bench.workbook() / "new.xlsx"]


@refused("is there already", "--force")
def file_that_is_there(bench):
    """A template in place of one's own workbook."""
    return ["template", bench.workbook()]


# Bombs --------------------------------------------------------------------------------------


def big(bench, unit: bytes, megabytes: int) -> Path:
    """A workbook whose second sheet holds a great many equal rows; written piece by piece."""
    parts, name = bench.parts(), "xl/worksheets/sheet2.xml"
    head = parts[name].split(b"<sheetData>")[0] + b"<sheetData>"
    piece = unit * (2**20 // len(unit))
    path = bench.folder / "mine.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
        for other, content in parts.items():
            if other != name:
                package.writestr(other, content)
        with package.open(name, "w") as stream:
            stream.write(head)
            for _ in range(megabytes):
                stream.write(piece)
            stream.write(b"</sheetData></worksheet>")
    return path


@refused("mine.xlsx", "unpacks to 52", "(512 MB)", "Check where it comes from", costly=True)
def zip_bomb(bench):
    """Half a gigabyte and more in a few megabytes."""
    return check(big(bench, b"<row><c><v>1</v></c></row>", 520))


@refused("mine.xlsx", "times its size", "Check where it comes from", costly=True)
def zip_bomb_just_small_enough(bench):
    """Less than that, but far denser than any workbook."""
    return check(big(bench, b"<row/>", 64))


@refused("mine.xlsx", "damaged", "sheet2.xml can't be unpacked", "Fetch or save it again", costly=True)
def zip_bomb_that_lies(bench):
    """A part says that it unpacks to 100 bytes, and unpacks to 256 MB."""
    path = big(bench, b"<row><c><v>1</v></c></row>", 256)
    content, name = bytearray(path.read_bytes()), b"xl/worksheets/sheet2.xml"
    start = content.rfind(name) - 46
    assert content[start : start + 4] == b"PK\x01\x02"
    content[start + 24 : start + 28] = struct.pack("<I", 100)
    return check(bench.file("mine.xlsx", bytes(content)))


@refused("mine.xlsx", "sheet Messages", "more than can be read", "Delete", costly=True)
def rows_beyond_the_last(bench):
    """More than a million rows that do not say their number, in a file large enough not to look dense."""
    path = big(bench, b"<row><c><v>1</v></c></row>", 30)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as package:
        package.writestr("docProps/thumbnail.jpeg", os.urandom(2**20))
    return check(path)


FAR = ("mine.xlsx", "sheet Tasks", "row 1,048,576 and column 16,384", "Delete the stray cells")


def stray(bench, xml: str):
    return check(bench.edited("Tasks", "</sheetData>", f"{xml}</sheetData>"))


@refused(*FAR, costly=True)
def stray_cell_in_the_last_corner(bench):
    """A cell in XFD1048576: as a rectangle, 17 billion cells."""
    return stray(bench, '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')


@refused(*FAR, costly=True)
def stray_cell_in_other_quotes(bench):
    """The same, as another program might write it."""
    return stray(bench, "<row r = '1048576'><c s=\"0\"\nr = 'XFD1048576' ><v>1</v></c></row>")


@refused(*FAR)
def stray_cell_in_small_letters(bench):
    """The same in small letters."""
    return stray(bench, '<row r="7"><c r="xfd1048576"><v>1</v></c></row>')


@refused(*FAR)
def stray_cell_behind_a_false_place(bench):
    """What stands inside another attribute is no place."""
    return stray(bench, """<row r="7"><c x=' r="A7"' r="XFD1048576"><v>1</v></c></row>""")


@refused("mine.xlsx", "row 99,999,999", "Delete the stray cells")
def stray_cell_beyond_the_last_corner(bench):
    """A place that no sheet has."""
    return stray(bench, '<row r="99999999"><c r="ZZZZ99999999"><v>1</v></c></row>')


@refused("mine.xlsx", "sheet Tasks reaches to row 100,0", "column 16,001", "Delete the stray cells")
def stray_cell_without_a_place(bench):
    """Rows and cells that do not say where they stand."""
    return stray(bench, "<row/>" * 100_000 + "<row>" + "<c/>" * 16_000 + "<c><v>1</v></c></row>")


def with_document_type(bench, declaration: str):
    parts, name = bench.parts(), "xl/worksheets/sheet2.xml"
    xml = parts[name].replace(b"<worksheet", f"<!DOCTYPE w [{declaration}]><worksheet".encode(), 1)
    return check(bench.package(parts | {name: xml.replace(b"I had a bad day.", b"&x;", 1)}))


@refused("mine.xlsx", "sheet2.xml has a document type", "save it again", costly=True)
def entities_that_multiply(bench):
    """A billion laughs."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return with_document_type(bench, f'<!ENTITY l0 "ha">{levels}<!ENTITY x "&l9;">')


@refused("mine.xlsx", "sheet2.xml has a document type", "save it again")
def entity_from_a_file(bench):
    """An entity that stands for a file of this machine."""
    return with_document_type(bench, '<!ENTITY x SYSTEM "file:///etc/passwd">')


# Folders of tables --------------------------------------------------------------------------


@refused("Messages.csv", "not UTF-8", "line 2", "CSV UTF-8")
def tables_in_latin_1(bench):
    """As an old spreadsheet program saves them."""
    return check(bench.tables(encoding="latin-1", messages={"Content": "caf\xe9"}))


@refused("Messages.csv", "not UTF-8", "line 1, byte 1", "CSV UTF-8")
def tables_in_utf_16(bench):
    """As "Unicode text" is saved."""
    return check(bench.tables(encoding="utf-16"))


@refused("Messages.csv", "line 1", "a zero byte", "Save it again")
def tables_in_utf_16_without_a_mark(bench):
    """The same without its mark."""
    return check(bench.tables(encoding="utf-16-le"))


@read()
def tables_with_a_byte_order_mark(bench):
    """UTF-8 as spreadsheet programs mark it."""
    return check(bench.tables(encoding="utf-8-sig"))


@read()
def tables_with_semicolons(bench):
    """As spreadsheet programs save them where the comma is the decimal mark."""
    return check(bench.tables(delimiter=";"))


@read(text("long " * 40_000))
def table_with_a_text_of_200_000_characters(bench):
    """Longer than Python's own limit of a field."""
    cells = ["I had a bad day.", "I am sorry to hear that.", "Thank you.", "Gladly."] * 4
    return check(bench.tables(messages={"Content": ["long " * 40_000, *cells[1:]]}))


@refused("Tasks.csv", "row 2 has 19 cells, row 1 names 17 columns", "double quotes")
def table_with_more_cells_than_names(bench):
    """A text holds the separator and no quotes."""
    folder = bench.tables()
    table = folder / "Tasks.csv"
    table.write_text(table.read_text().replace("work", "work, home, rest", 1))
    return check(folder)


@refused("Tasks.csv", "no CSV", "Close every double quote")
def table_with_an_open_quote(bench):
    """A quote that nobody closes."""
    folder = bench.tables()
    table = folder / "Tasks.csv"
    table.write_text(table.read_text().replace("work", '"work', 1))
    return check(folder)


@refused("Tasks.csv", "row 1 names no column", "Write the columns' names there")
def table_that_is_empty(bench):
    """A file without a line."""
    folder = bench.tables()
    (folder / "Tasks.csv").write_bytes(b"")
    return check(folder)


@refused("Tasks.csv and tasks.CSV hold the same table", "Keep one of them")
def table_twice(bench):
    """Two files of one table."""
    folder = bench.tables()
    (folder / "tasks.CSV").write_bytes(b"x\n")
    return check(folder)


@refused("Messages.csv", "no ordinary file")
def table_that_is_a_pipe(bench):
    """A pipe among the tables must not hang."""
    folder = bench.tables()
    (folder / "Messages.csv").unlink()
    os.mkfifo(folder / "Messages.csv")
    return check(folder)


@refused("the sheet Messages is missing", "sheets present: Participants, Tasks")
def table_missing(bench):
    """No Messages.csv."""
    folder = bench.tables()
    (folder / "Messages.csv").unlink()
    return check(folder)


@refused("mine.xlsx.provenance.json", "not a record of provenance", "Delete it")
def record_of_origin_broken(bench):
    """What lies beside the workbook as its record is none."""
    bench.file("mine.xlsx.provenance.json", "{")
    return check(bench.workbook())


@refused("mine.xlsx", "changed since its origin was recorded", "Restore it, or delete mine.xlsx.provenance.json")
def record_of_origin_of_another_file(bench):
    """A record that claims the authors' workbook for another file."""
    path = bench.workbook()
    claim = {"kind": "official", "name": "official", "file": "mine.xlsx", "fetched": "2026-01-01T00:00:00+00:00"}
    claim |= {"address": "https://example.org/a.xlsx", "sha256": "0" * 64, "size": 1, "mirror": False}
    bench.file("mine.xlsx.provenance.json", json.dumps(claim))
    return check(path)


# Parameters ---------------------------------------------------------------------------------


def build(*parameters: str):
    return ["build", "synthetic", *(word for parameter in parameters for word in ("-p", parameter))]


@refused("unknown: colour", "accepted:", "draws")
def parameter_unknown(bench):
    """A parameter that no notebook has."""
    return build("colour=red")


@refused("draws = 'ten'", "not of type 'integer'", "number of bootstrap draws")
def parameter_of_another_type(bench):
    """A word in place of a number."""
    return build("draws=ten")


@refused("draws = True", "not of type 'integer'")
def parameter_that_is_a_truth_value(bench):
    """yes is no number, though Python thinks so."""
    return build("draws=yes")


@refused("confidence = 95", "0.999")
def parameter_out_of_range(bench):
    """95 in place of 0.95."""
    return build("confidence=95")


@refused("confidence = nan", "not of type 'number'")
def parameter_nan(bench):
    """What compares with no limit."""
    return build("confidence=.nan")


@refused("seed = 1180591620717411303424", "maximum")
def parameter_too_large(bench):
    """More than 64 bits."""
    return build(f"seed={2**70}")


@refused("draws = [1, 2]", "not of type 'integer'")
def parameter_that_is_a_list(bench):
    """Several values."""
    return build("draws=[1, 2]")


@refused("seed = -1", "minimum", "draws = 5")
def parameters_wrong_all_at_once(bench):
    """All that is wrong is in one message."""
    return build("seed=-1", "draws=5")


@refused("data", "set by the build itself", "DATA=...")
def parameter_that_is_a_path_to_data(bench):
    """A notebook is to read another file than its edition's."""
    return build("data=../../../etc/passwd")


@refused("results", "set by the build itself")
def parameter_that_is_a_path_to_write(bench):
    """Values are to be written outside the edition."""
    return build("results=/tmp/elsewhere")


@refused("'draws'", "expected NAME=VALUE", "draws=2000")
def parameter_without_a_value(bench):
    """A name alone."""
    return build("draws")


@refused("parameters refused", "draws")
def parameter_of_aliases(bench):
    """YAML that would grow without end."""
    return build("draws=[&a [x, x], &b [*a, *a], &c [*b, *b], *c]")


@refused("parameters refused", "seed")
def parameter_that_would_run(bench):
    """YAML that would call Python."""
    return build("seed=!!python/object/apply:os.getcwd []")


@refused("there is no condition 'nobody'", "Give one of them as the prompted condition")
def condition_unknown(bench):
    """A prompted condition that is not in the data."""
    return build("prompted_condition=nobody")


@refused("'../../elsewhere' can't be the name of an edition", "--name elsewhere")
def edition_outside_its_folder(bench):
    """A path as the name of an edition."""
    return ["build", "synthetic", "--name", "../../elsewhere"]


@refused("this is a folder without a table", "for a workbook, give the path of its .xlsx file")
def edition_of_the_folder_itself(bench):
    """The folder in which the command is given."""
    return ["build", "."]


@refused("can't be called 'official'", "Give another name: --name my-official")
def edition_that_claims_to_be_official(bench):
    """One's own workbook under the name of the authors'."""
    return ["build", bench.workbook(), "--name", "official"]


@refused("no folder of predictions", "sense7 judge run --out")
def predictions_nowhere(bench):
    """A folder that is not there."""
    return ["build", "synthetic", "--predictions", bench.folder / "none"]


@refused("neither a notebook of this book", "Check the name or the path")
def notebook_unknown(bench):
    """A notebook that is not there."""
    return ["run", "99"]


def simulate(bench, *settings: str):
    return ["simulate", "--out", bench.folder / "new.xlsx", *(word for one in settings for word in ("--set", one))]


@refused("There is no parameter colours", "Known:")
def simulation_parameter_unknown(bench):
    """A parameter that the simulation does not have."""
    return simulate(bench, "colours=3")


@refused("participants is 'many'", "a whole number from")
def simulation_parameter_of_another_type(bench):
    """A word in place of a number."""
    return simulate(bench, "participants=many")


@refused("participants is 0", "a whole number from")
def simulation_parameter_out_of_range(bench):
    """A study of nobody."""
    return simulate(bench, "participants=0")


@refused("turn_sd is nan", "a number from 0 to 3")
def simulation_parameter_nan(bench):
    """A spread that is no number."""
    return simulate(bench, "turn_sd=.nan")


@refused("condition_effects", "for each of the conditions")
def simulation_parameter_too_short(bench):
    """One effect for four conditions."""
    return simulate(bench, "condition_effects=[0.1]")


@refused("conditions", "different names")
def simulation_conditions_alike(bench):
    """Two conditions of one name."""
    return simulate(bench, "conditions=[a, a]")


@refused("say where the workbook is to be written", "--out FILE.xlsx")
def simulation_without_a_place(bench):
    """Nowhere to write."""
    return ["simulate"]


# The ledger ---------------------------------------------------------------------------------

CLAIM = """\
- {id: a, title: A claim, kind: figure, value: 1, unit: things, grade: A, source: abstract, needs: data,
   notebook: 01-a, key: seed_of_a, compare: {within: 0, reason: exact}}
"""
NOTEBOOK = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

```{code-cell} ipython3
:tags: [parameters]

data = "synthetic"
predictions = ""
results = "results"
```
"""
CHECKOUT = Path(__file__).resolve().parents[2]


def ledger(claims: bytes | str):
    """A build from a checkout with these claims; it ends before anything runs."""

    def make(bench):
        bench.file("checkout/notebooks/01-a.md", NOTEBOOK)
        bench.file("checkout/data/claims.yml", claims)
        for name in ("_config.yml", "_toc.yml", "requirements.lock"):
            bench.file(f"checkout/{name}", (CHECKOUT / name).read_bytes())
        return ["build", bench.workbook()]

    return make


@contextlib.contextmanager
def in_its_checkout(bench: Bench) -> Iterator[None]:
    """Run in the checkout that the case made."""
    before = os.environ.get("SENSE7_ROOT")
    os.environ["SENSE7_ROOT"] = str(bench.folder / "checkout")
    try:
        yield
    finally:
        del os.environ["SENSE7_ROOT"]
        if before is not None:
            os.environ["SENSE7_ROOT"] = before


def refused_ledger(name: str, about: str, claims: bytes | str, *words: str) -> None:
    """Enter a case about the file of claims."""
    make = ledger(claims)
    make.__name__, make.__doc__ = name, about
    refused("claims.yml", *words, around=in_its_checkout)(make)


DOUBLED = "".join(f"&a{n} [{', '.join([f'*a{n - 1}'] * 9)}], " for n in range(1, 9))

for _name, _about, _claims, *_words in (
    ("ledger_no_yaml", "A bracket that nobody closes.", "- {id: a", "can't be read", "line 1"),
    ("ledger_of_aliases", "A billion laughs in YAML.", f"[&a0 [x], {DOUBLED}]", "an alias", "Write the value out"),
    ("ledger_that_would_run", "A tag that calls Python.", "- !!python/object/apply:os.getcwd []", "can't be read"),
    ("ledger_no_list", "A text in place of claims.", "just text", "expected a list of claims"),
    ("ledger_empty", "An empty file.", "", "expected a list of claims"),
    ("ledger_in_latin_1", "Another encoding.", CLAIM.encode() + b"# caf\xe9", "can't be read", "utf-8"),
    ("ledger_nested_too_deeply", "Ten thousand brackets.", "[" * 10_000, "can't be read", "nested too deeply"),
    ("ledger_claim_twice", "Two claims of one id.", CLAIM * 2, "a stands more than once", "Keep one"),
    ("ledger_grade_unknown", "A grade that is none.", CLAIM.replace("grade: A", "grade: S"), "grade 'S'", "A, B, C, D"),
    ("ledger_field_missing", "A claim without source.", CLAIM.replace("source: abstract, ", ""), "missing source"),
    ("ledger_field_unknown", "A claim with a colour.", CLAIM.replace("kind:", "colour: red, kind:"), "colour"),
    (
        "ledger_value_in_words",
        "A word as a figure.",
        CLAIM.replace("value: 1", "value: one"),
        "value is 'one'",
        "number",
    ),
    ("ledger_value_nan", "A figure that is none.", CLAIM.replace("value: 1", "value: .nan"), "value is nan", "number"),
    ("ledger_without_tolerance", "No reason.", CLAIM.replace(", reason: exact", ""), "no tolerance with its reason"),
    ("ledger_tolerance_negative", "Within -1.", CLAIM.replace("within: 0", "within: -1"), "within can't be -1"),
    ("ledger_notebook_a_list", "A list.", CLAIM.replace("01-a", "[1]"), "notebook is [1]", "text in quotes"),
    ("ledger_computed_by_none", "No key, no reason.", CLAIM.replace("seed_of_a", "null"), "by no notebook", "why_not"),
):
    refused_ledger(_name, _about, _claims, *_words)


@refused("claims.yml", "can't be read (No such file or directory)", around=in_its_checkout)
def ledger_missing(bench):
    """No file of claims."""
    command = ledger(CLAIM)(bench)
    (bench.folder / "checkout/data/claims.yml").unlink()
    return command


@refused("not a checkout of this project", "Correct the variable or unset it", around=in_its_checkout)
def checkout_that_is_none(bench):
    """SENSE7_ROOT names a folder of something else."""
    bench.file("checkout/notes.txt", "x")
    return ["build", "synthetic"]


@refused("mine", "damaged", "Repair it: sense7 build mine", around=in_its_checkout)
def ledger_of_an_edition_broken(bench):
    """The ledger of a built edition is cut short."""
    ledger(CLAIM)(bench)
    bench.file("checkout/_build/editions/mine/ledger.json", "[{")
    bench.file("checkout/_build/editions/mine/edition.json", "{}")
    return ["ledger", "mine"]


@refused("there is no edition 'none' yet", "sense7 build none", around=in_its_checkout)
def ledger_of_no_edition(bench):
    """An edition that nobody built."""
    ledger(CLAIM)(bench)
    return ["ledger", "none"]


# Prompts ------------------------------------------------------------------------------------


def ask(bench, prompt: Path, *more):
    command = ["judge", "run", "--dry-run", "--data", bench.workbook(), "--out", bench.folder / "session"]
    return [*command, "--base-url", "http://localhost:9/v1", "--prompt", prompt, *more]


@refused("mine.txt", "the prompt has no {chat}", "Write {chat} where the conversation is to stand")
def prompt_without_a_place_for_the_chat(bench):
    """{Chat} is not {chat}."""
    return ask(bench, bench.file("mine.txt", "Rate this: {Chat}"))


@refused("mine.txt", "the prompt has no {chat}")
def prompt_empty(bench):
    """Nothing to ask."""
    return ask(bench, bench.file("mine.txt", ""))


@refused("mine.txt", "byte 17 of the prompt is not UTF-8", "Save the file as plain text in UTF-8")
def prompt_in_latin_1(bench):
    """Another encoding."""
    return ask(bench, bench.file("mine.txt", b"Rate {chat}, caf\xe9"))


@refused("prompts", "no ordinary file", "Give the path of a prompt's text file")
def prompt_that_is_a_folder(bench):
    """A folder of prompts."""
    return ask(bench, bench.file("prompts/mine.txt", "{chat}").parent)


@refused("pipe", "no ordinary file")
def prompt_that_is_a_pipe(bench):
    """A pipe that nobody writes to must not hang."""
    os.mkfifo(bench.folder / "pipe")
    return ask(bench, bench.folder / "pipe")


@refused("mine.txt", "50 MB", "at most 1", "Give the path of a prompt's text file", costly=True)
def prompt_of_50_megabytes(bench):
    """Another kind of file."""
    return ask(bench, bench.file("mine.txt", b"{chat}" + b"x" * (50 * 2**20)))


@refused("none.txt", "there is no such file", "Check the path of the prompt")
def prompt_nowhere(bench):
    """A path to nothing."""
    return ask(bench, bench.folder / "none.txt")


@refused("mine", "has no ~~EXAMPLES~~", "where examples are to stand")
def prompt_without_a_place_for_examples(bench):
    """Examples are asked for, and the prompt has no place for them."""
    return ask(bench, bench.file("mine.txt", "{chat}"), "--shots", "adaptive", "--examples", "1")


# Predictions --------------------------------------------------------------------------------


@read(words=("model-prompt-iter1",))
def predictions_clean(bench):
    """Nothing is wrong with them: the others differ from these."""
    return evaluate(bench.predictions())


@refused("iter1.csv", "the column IS_EMPATHY is missing", "columns present: TaskId", "name it exactly IS_EMPATHY")
def predictions_without_scores(bench):
    """No column of scores."""
    return evaluate(bench.predictions(IS_EMPATHY=...))


@refused("sheet results", "the column ground-truth is missing", "name it exactly ground-truth")
def predictions_without_truth(bench):
    """No column of ratings, in a workbook."""
    return evaluate(bench.predictions("a-b-iter1.xlsx", _TRUTH=...))


@refused("iter1.csv, column TaskId: 'C1' is in rows 2, 3", "keep one row a conversation")
def predictions_with_a_task_twice(bench):
    """Two predictions of one conversation."""
    return evaluate(bench.predictions(TaskId=["C1", "C1", "C3", "C4"]))


@refused("column status, row 3: 'fine' is no status", "Write one of ok")
def predictions_with_an_unknown_status(bench):
    """A status that is none."""
    return evaluate(bench.predictions(status=["ok", "fine", "ok", "ok"]))


@refused("the column IS_EMPATHY is there 2 times", "Remove all but one")
def predictions_with_scores_twice(bench):
    """Two columns of scores."""
    path = bench.predictions()
    return evaluate(bench.file(path.name, path.read_text().replace("PID", "IS_EMPATHY", 1)))


@read(
    words=(
        "IS_EMPATHY: 1 cell not a number, counted as missing; the first is 'four' in row 2",
        "without a usable score",
    )
)
def predictions_in_words(bench):
    """A score is called four: missing, never guessed."""
    return evaluate(bench.predictions(IS_EMPATHY=["four", "5", "4", "2"]))


@read(words=("IS_EMPATHY: 2 cells not a number", "counted as missing"))
def predictions_beyond_all_bounds(bench):
    """inf and 1e999 are no scores."""
    return evaluate(bench.predictions(IS_EMPATHY=["inf", "1e999", "4", "2"]))


@read(words=("a-b-iter1", "a-b-iter2", "sd over files"))
def predictions_as_csv_and_as_workbook(bench):
    """Files of both kinds in one folder."""
    bench.predictions("a-b-iter1.csv")
    bench.predictions("a-b-iter2.xlsx")
    return evaluate(bench.folder)


@read(words=("1 of the 5 conversations of all files are not in it",))
def predictions_of_other_tasks(bench):
    """Two runs that do not hold the same conversations."""
    bench.predictions("a-b-iter1.csv")
    bench.predictions("a-b-iter2.csv", TaskId=["C1", "C2", "C3", "X9"])
    return evaluate(bench.folder)


@refused("iter1.csv", "the file is empty", "Save it again, or leave it out")
def predictions_empty(bench):
    """No byte."""
    return evaluate(bench.file("a-b-iter1.csv", b""))


@refused("iter1.xlsx", "the column IS_EMPATHY is missing", "columns present: none")
def predictions_on_an_empty_sheet(bench):
    """A workbook with an empty sheet."""
    write_sheets([Sheet("results", [], [])], bench.folder / "a-b-iter1.xlsx")
    return evaluate(bench.folder / "a-b-iter1.xlsx")


@refused("iter1.csv", "line 2, byte 10: not UTF-8", "CSV UTF-8")
def predictions_in_latin_1(bench):
    """Another encoding."""
    return evaluate(bench.file("a-b-iter1.csv", b"TaskId\nC1\xe9\n"))


@refused("iter1.xlsx", "no zip archive")
def predictions_as_csv_called_xlsx(bench):
    """The wrong ending."""
    return evaluate(bench.predictions().rename(bench.folder / "a-b-iter1.xlsx"))


@refused("iter1.csv", "not UTF-8", "Save it again as CSV")
def predictions_as_workbook_called_csv(bench):
    """The wrong ending, the other way."""
    return evaluate(bench.predictions("a-b-iter1.xlsx").rename(bench.folder / "a-b-iter1.csv"))


@refused("iter1.csv", "not a table that can be read", "line 3", "Save it again as CSV")
def predictions_with_more_cells_than_names(bench):
    """A row longer than the names."""
    return evaluate(bench.file("a-b-iter1.csv", "IS_EMPATHY,ground-truth\n4,4\n4,4,4\n"))


@refused("no file of predictions", "Give .xlsx or .csv files")
def predictions_in_an_empty_folder(bench):
    """Nothing to evaluate."""
    return evaluate(bench.file("session/notes.txt", "x").parent)


@refused("pipe.csv", "no ordinary file")
def predictions_from_a_pipe(bench):
    """A pipe that nobody writes to must not hang."""
    os.mkfifo(bench.folder / "pipe.csv")
    return evaluate(bench.folder / "pipe.csv")


@refused("the confidence is between 0 and 1", "these are 20, 95")
def confidence_out_of_range(bench):
    """95 in place of 0.95."""
    return [*evaluate(bench.predictions()), "--confidence", "95"]


@refused("times its size", "Check where it comes from", costly=True)
def predictions_that_are_a_bomb(bench):
    """A zip bomb in place of a prediction file."""
    return evaluate(big(bench, b"<row/>", 64))


@refused("iter1.csv", "conversations that are not of this data set: 1 of 4", "'X9'", around=in_its_checkout)
def predictions_for_another_workbook(bench):
    """A book is to show predictions of conversations that it does not have."""
    command = ledger(CLAIM)(bench)
    path = bench.predictions("predictions/a-b-iter1.csv", TaskId=["C1", "C2", "C3", "X9"])
    return [*command, "--predictions", path.parent]


@refused("iter1.csv: column TaskId: blank in 4 of 4 predictions", "Give each row its TaskId", around=in_its_checkout)
def predictions_without_tasks(bench):
    """A book is to show predictions that do not say of which conversations they are."""
    command = ledger(CLAIM)(bench)
    return [*command, "--predictions", bench.predictions("predictions/a-b-iter1.csv", TaskId=...).parent]


@refused("iter1.csv", "the ground truth of 4 conversations is not that of this data set", around=in_its_checkout)
def predictions_made_before_the_workbook_changed(bench):
    """A book is to show predictions that were compared with other ratings."""
    command = ledger(CLAIM)(bench)
    path = bench.predictions("predictions/a-b-iter1.csv", _TRUTH=["1", "1", "1", "1"])
    return [*command, "--predictions", path.parent]


# Batches and sessions -----------------------------------------------------------------------


def replies(bench, content: bytes | str):
    path = bench.file("replies.jsonl", content)
    return ["judge", "batch", "import", path, "--out", bench.folder / "out", "--data", bench.workbook()]


@refused("replies.jsonl", "line 2 is no JSON", "Download the replies again")
def reply_cut_short(bench):
    """A download that ended early."""
    return replies(bench, '{"custom_id": "run1-x"}\n{"custom_id": "ru')


@refused("replies.jsonl", "line 1 is no reply of a batch", "no custom_id")
def reply_without_its_name(bench):
    """JSON of something else."""
    return replies(bench, "[1, 2]\n")


@refused("replies.jsonl", "line 1 is no JSON", "Download the replies again")
def reply_nested_too_deeply(bench):
    """A hundred thousand brackets."""
    return replies(bench, "[" * 100_000)


@refused("replies.jsonl", "not a text in UTF-8 (byte 1)", "Download the replies again")
def reply_in_another_encoding(bench):
    """UTF-16."""
    return replies(bench, '{"custom_id": "x"}'.encode("utf-16"))


@refused("replies.jsonl", "none of 1 reply is to a request of these data and options", "'run1-x'", "Give the data")
def reply_to_another_request(bench):
    """A reply to something that was never asked."""
    return replies(bench, '{"custom_id": "run1-x"}\n')


@refused("replies.jsonl", "none of 0 replies")
def reply_missing(bench):
    """An empty file."""
    return replies(bench, "\n")


@refused("pipe.jsonl", "no ordinary file")
def replies_from_a_pipe(bench):
    """A pipe that nobody writes to must not hang."""
    os.mkfifo(bench.folder / "pipe.jsonl")
    return ["judge", "batch", "import", bench.folder / "pipe.jsonl", "--out", bench.folder, "--data", bench.workbook()]


@refused("journal.sqlite", "is no journal of a session", "Choose another folder")
def session_whose_journal_is_broken(bench):
    """A file with something else in the place of a session's journal."""
    bench.file("session/journal.sqlite", "something else " * 99)
    return ask(bench, bench.file("mine.txt", "{chat}"))
