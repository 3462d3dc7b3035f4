"""iEval as a workbook: against a workbook made of the same data by others, and one person by hand."""

import json

import pytest

from sense7.sources import SOURCES, converters, fetch, part_files
from sense7.workbook import read_sheets

ANSWERS = {"P": 3, "^P": 1, "A": 4, "^A": 2, "EU": 5, "ER": 1, "L": 2, "R": 3, "S": 4, "Rating": 1}
CHAT = "- I won!_x000D_\n- What - really ?\n- yes\n- Great .  \n- bye\n- See you"


@pytest.fixture
def one_person(tmp_path):
    """The published layout with one person."""
    bots = {bot: {"chat_log": CHAT, **ANSWERS} for bot in ("Pink", "Purple", "Yellow", "Green")}
    scenarios = {valence: {"emotion": f"{valence} one", **bots} for valence in ("positive", "negative")}
    person = {"part": 7, "elapsed_sec": 810, "TEQ_raw": [3, 1], "TEQ_agg": 47, **scenarios}
    path = tmp_path / "ieval_data.json"
    path.write_text(json.dumps([person]), encoding="utf-8")
    return {sheet.name: sheet for sheet in converters.ieval({"ieval_data.json": path})}


def rows(sheet):
    return [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]


def test_a_person_has_eight_conversations(one_person):
    tasks = rows(one_person["Tasks"])
    assert [task["TaskId"] for task in tasks] == [
        f"ieval-007-{valence}-{bot}" for valence in ("pos", "neg") for bot in ("Pink", "Purple", "Yellow", "Green")
    ]
    assert {task["PID"] for task in tasks} == {"ieval-007"}
    assert tasks[4]["Model"] == "bot-Pink"
    assert tasks[4]["PreTaskChoice"] == "negative one"
    assert tasks[4]["src_valence"] == "negative"


def test_the_answers_stand_where_the_mapping_says(one_person):
    filled = {name: cell for name, cell in rows(one_person["Tasks"])[0].items() if isinstance(cell, float)}
    assert filled == {
        "PostTaskExperience_PositiveInteraction": 2.0,
        "PostTaskEmpathy_Affective": 5.0,
        "PostTaskEmpathy_Response": 1.0,
        "PostTaskEmpathy_Prosocial": 3.0,
        "PostTaskEmpathy_Interest": 4.0,
        "PostTaskEmpathy_Contextual": 4.0,
        "src_inverse_rank": 1.0,
        "src_repetitive": 3.0,
        "src_insulting": 1.0,
        "src_inattentive": 2.0,
    }


def test_messages_alternate_and_the_rating_stands_on_the_chatbots_last(one_person):
    messages = rows(one_person["Messages"])[:6]
    assert [(message["MessageId"], message["Role"], message["Content"]) for message in messages] == [
        (1.0, "user", "I won!"),
        (2.0, "assistant", "What - really ?"),
        (3.0, "user", "yes"),
        (4.0, "assistant", "Great ."),
        (5.0, "user", "bye"),
        (6.0, "assistant", "See you"),
    ]
    content = {"TaskId", "MessageId", "Role", "Content"}
    ratings = [
        {name: cell for name, cell in row.items() if cell is not None and name not in content} for row in messages
    ]
    assert ratings[:5] == [{}] * 5
    assert ratings[5] == {
        "Affective": "Very good",
        "Response": "Very poor",
        "Prosocial": "Neutral",
        "Interest": "Good",
        "Contextual": "Good",
    }


def test_the_persons_sheet(one_person):
    assert rows(one_person["src_Participants"]) == [
        {"PID": "ieval-007", "elapsed_sec": 810.0, "TEQ_agg": 47.0, "TEQ_raw": "3 1"}
    ]


@pytest.mark.long
def test_the_published_data_give_the_workbook_that_others_made_of_them(shared):
    path = fetch("ieval", mirror=shared / "data" / "raw" / "ieval")
    ours, theirs = read_sheets(path), read_sheets(shared / "data" / "ieval.xlsx")
    assert list(ours) == [*theirs, "src_Source"]
    for name, sheet in theirs.items():
        assert ours[name].header == sheet.header
        assert ours[name].rows == sheet.rows
    assert "_x000D_" in part_files("ieval")["ieval_data.json"].read_text("utf-8")


def test_the_number_of_the_conversion_is_raised_with_its_result(shared, digest_of):
    """A change of the converter without a new number would leave users with what the old one made."""
    sheets = converters.ieval({"ieval_data.json": shared / "data" / "raw" / "ieval" / "ieval_data.json"})
    assert (SOURCES["ieval"].conversion, digest_of(sheets)) == (1, "c91c69799524ae9e")
