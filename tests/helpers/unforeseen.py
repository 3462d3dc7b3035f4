"""Plausible official workbooks, each with one thing that nobody foresaw."""

from dataclasses import replace

from sense7.simulate import Parameters
from sense7.simulate.workbook import simulate
from sense7.workbook.xlsx import Sheet


def official_sheets(participants=20, conversations=60):
    """The official workbook as far as it is described: words throughout, further sheets, a participants' sheet."""
    size = {"participants": participants, "conversations": conversations}
    sheets = dict(simulate(Parameters.from_mapping(size), seed=3, judge=None).sheets)
    del sheets["Synthetic"]
    sheets["Notes"] = Sheet("Notes", ["a"], [["b"]])
    sheets["Users"] = replace(sheets.pop("Participants"), name="Users")
    return sheets


def changed(sheets, sheet, column, change):
    """The sheets with other cells in a column: ``change`` gets the number of a row and its cell."""
    position = sheets[sheet].header.index(column)
    rows = []
    for number, row in enumerate(sheets[sheet].rows):
        rows.append([*row[:position], change(number, row[position]), *row[position + 1 :]])
    return {**sheets, sheet: replace(sheets[sheet], rows=rows)}


def words_not_seen(sheets):
    words = ["no", "a bit", "some", "rather", "a lot"]
    return changed(sheets, "Tasks", "PreTaskImportance", lambda _, cell: words[int(cell) - 1])


def a_word_not_seen_in_one_rating(sheets):
    return changed(
        sheets,
        "Messages",
        "Interest",
        lambda number, cell: cell and (cell if number % 5 else "skipped"),
    )


def other_suffixes(sheets):
    header = [
        name.replace("PostTaskEmpathy_Response", "PostTaskEmpathy_Q3")
        for name in sheets["Tasks"].header
    ]
    return {**sheets, "Tasks": replace(sheets["Tasks"], header=header)}


def retried_messages(sheets):
    rows = [list(row) for row in sheets["Messages"].rows]
    rows[1:1] = [[*rows[0][:4], "the same again", *rows[0][5:]]]
    return {**sheets, "Messages": replace(sheets["Messages"], rows=rows)}


def a_person_twice(sheets):
    rows = sheets["Users"].rows
    return {
        **sheets,
        "Users": replace(sheets["Users"], rows=[*rows, [rows[0][0], 99.0, *rows[0][2:]]]),
    }


UNFORESEEN = {
    # what is changed, kind of the warning, column
    words_not_seen: ("undeclared", "PreTaskImportance"),
    a_word_not_seen_in_one_rating: ("undeclared", "Interest"),
    other_suffixes: ("unmatched-column", "PostTaskEmpathy_Q3"),
    retried_messages: ("twice", "MessageId"),
    a_person_twice: ("twice", "PID"),
}
