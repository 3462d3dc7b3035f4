"""Rows that stand twice: what is left out, what is counted with a warning, and what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.workbook import WorkbookError, parse_sheets
from sense7.workbook.diagnostics import ERROR, WARNING

TURNS = 8
SAID = {"Content": [f"message {number}" for number in range(16)]}
"""A text of its own for each message of the minimal workbook."""

NAMELESS = SAID | {"MessageId": ..., "TimeOffsetSeconds": ...}


@pytest.fixture(scope="module")
def sheets_with(minimal_sheets):
    """Give the minimal workbook with other rows of a sheet: what a function makes of a copy of its rows."""

    def build(choose, *, name="Messages", **messages):
        sheets = minimal_sheets(messages=messages)
        rows = choose([list(row) for row in sheets[name].rows])
        return sheets | {name: replace(sheets[name], rows=[list(row) for row in rows])}

    return build


def rated(row, word):
    """A row of Messages with another word in place of its overall rating."""
    place = row.index("good")
    return [*row[:place], word, *row[place + 1 :]]


def told(study_or_error):
    return {(one.kind, one.severity): one.rows for one in study_or_error.diagnostics}


def levels(study):
    return study.turns["overall"].tolist()


def shifted(rows, by):
    """Rows with other MessageIds."""
    return [[row[0], row[1] + by, *row[2:]] for row in rows]


OVERLAPS = {
    "all rows once more": (SAID, lambda rows: rows + rows, range(18, 34)),
    "all rows three times": (SAID, lambda rows: rows * 3, range(18, 50)),
    "the second half once more": (SAID, lambda rows: rows + rows[8:], range(18, 26)),
    "each row beside its copy": (
        SAID,
        lambda rows: [row for row in rows for _ in range(2)],
        range(3, 35, 2),
    ),
    "answers of the assistant alone": (SAID, lambda rows: rows + rows[1::2], range(18, 26)),
    "all rows, without MessageIds": (NAMELESS, lambda rows: rows + rows, range(18, 34)),
    "a conversation, without MessageIds": (NAMELESS, lambda rows: rows + rows[4:8], range(18, 22)),
    "answers alone, without MessageIds": (NAMELESS, lambda rows: rows + rows[1::2], range(18, 26)),
    "all rows, with blank MessageIds": (
        SAID | {"MessageId": None},
        lambda rows: rows + rows,
        range(18, 34),
    ),
    "texts that recur": ({}, lambda rows: rows + rows, range(18, 34)),
}


@pytest.mark.parametrize(("messages", "choose", "repeated"), OVERLAPS.values(), ids=OVERLAPS)
def test_messages_of_files_that_overlap_are_counted_once(sheets_with, messages, choose, repeated):
    study = parse_sheets(sheets_with(choose, **messages))
    once = parse_sheets(sheets_with(list, **messages))
    assert levels(study) == levels(once)
    assert study.turns["turn"].tolist() == once.turns["turn"].tolist()
    assert told(study)["doubled-row", WARNING] == tuple(repeated)
    assert told(once).keys() >= {key for key in told(study) if key[0] != "doubled-row"}


@given(st.data())
def test_rows_that_are_repeated_in_any_number_and_place_change_no_number(sheets_with, data):
    count = data.draw(st.integers(1, 12))
    places = data.draw(st.lists(st.integers(0, 15), min_size=count, max_size=count))
    study = parse_sheets(sheets_with(lambda rows: rows + [rows[place] for place in places], **SAID))
    assert levels(study) == [4.0, 5.0] * 4
    assert told(study) == {("doubled-row", WARNING): tuple(range(18, 18 + count))}


@pytest.mark.parametrize("first", [True, False], ids=["before the ratings", "after the ratings"])
def test_of_a_message_that_was_exported_before_and_after_it_was_rated_the_fuller_row_counts(
    sheets_with, first
):
    def choose(rows):
        blank = [row[:6] + [None] * (len(row) - 6) for row in rows]
        return blank + rows if first else rows + blank

    study = parse_sheets(sheets_with(choose, **SAID))
    assert levels(study) == [4.0, 5.0] * 4
    assert [len(rows) for rows in told(study).values()] == [16]


@pytest.mark.parametrize("messages", [SAID, NAMELESS], ids=["MessageId", "none"])
def test_a_turn_that_is_rated_again_otherwise_is_refused(sheets_with, messages):
    def choose(rows):
        return [*rows, rows[0], rated(rows[1], "very poor"), *rows[2:4]]

    with pytest.raises(WorkbookError) as caught:
        parse_sheets(sheets_with(choose, **messages))
    assert told(caught.value)["rated-again", ERROR] == (3, 19)


def test_ratings_that_are_spelt_otherwise_do_not_contradict(sheets_with):
    study = parse_sheets(
        sheets_with(lambda rows: [*rows, rated(rows[1], "Good"), *rows[2:4]], **SAID)
    )
    assert levels(study) == [4.0, 5.0] * 4


def test_the_advice_on_repeated_rows_ends_in_right_numbers_or_another_warning(sheets_with):
    renumbered = parse_sheets(
        sheets_with(lambda rows: rows + shifted(rows, 4), **SAID | {"TimeOffsetSeconds": ...})
    )
    assert len(renumbered.turns) == 2 * TURNS
    assert told(renumbered) == {("doubled-turn", WARNING): tuple(range(19, 34, 2))}


def test_turns_that_may_have_been_said_twice_are_counted_with_a_warning(sheets_with):
    study = parse_sheets(
        sheets_with(lambda rows: [rows[0], rows[1], rows[1], *rows[2:]], **NAMELESS)
    )
    assert len(study.turns) == TURNS + 1
    assert told(study) == {("doubled-turn", WARNING): (4,)}


def test_messages_that_share_a_number_and_differ_are_no_repeats(sheets_with):
    ids = [1.0, 1.0, 2.0, 2.0] * 4
    study = parse_sheets(sheets_with(list, **SAID | {"MessageId": ids}))
    assert len(study.turns) == TURNS
    assert {kind for kind, _ in told(study)} == {"repeated-message-id"}


def test_messages_without_text_are_known_again_by_their_whole_row_alone(sheets_with):
    study = parse_sheets(sheets_with(list, Content=None, MessageId=1.0))
    assert len(study.turns) == TURNS


def test_users_who_say_the_same_again_in_conversations_that_take_turns_are_heard(sheets_with):
    order = [0, 4, 1, 5, 2, 6, 3, 7, *range(8, 16)]
    messages = {
        "MessageId": ...,
        "TimeOffsetSeconds": ...,
        "Comment": [None, *"abcdefghijklmno"],
        "Content": "yes",
    }
    study = parse_sheets(sheets_with(lambda rows: [rows[place] for place in order], **messages))
    assert (len(study.messages), len(study.turns)) == (16, TURNS)


def test_a_conversation_that_stands_twice_in_tasks_is_counted_once(sheets_with):
    study = parse_sheets(sheets_with(lambda rows: [*rows, rows[1]], name="Tasks"))
    assert len(study.conversations) == 4
    assert told(study) == {("doubled-row", WARNING): (6,)}
    fuller = parse_sheets(
        sheets_with(
            lambda rows: [[*rows[1][:5], *[None] * (len(rows[1]) - 5)], *rows], name="Tasks"
        )
    )
    assert fuller.conversations["row"].tolist() == [3, 4, 5, 6]


def test_an_exchange_that_recurs_under_numbers_of_its_own_was_said_again(sheets_with):
    cells = {
        "Content": "ok",
        "Comment": None,
        "TimeOffsetSeconds": ...,
        "EmpathyOverall": [None, "good"] * 8,
    }
    cells |= dict.fromkeys(
        ("Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual"), "good"
    )
    study = parse_sheets(sheets_with(list, **cells | {"Relational": "good"}))
    assert "doubled-turn" not in {kind for kind, _ in told(study)}
