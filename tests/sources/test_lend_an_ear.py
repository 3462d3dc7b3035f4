"""Lend an Ear as a workbook: against a workbook made of the same data by others, and two conversations by hand."""

from pathlib import Path

import pytest

from helpers.studies import lend_an_ear_sheets
from sense7.sources import SOURCES, converters, fetch, part_files
from sense7.sources.converters import EXPERTS
from sense7.workbook import parse_sheets, read_sheets, read_workbook

CONVERSATIONS = """\
conversation_id,full_conversation,response_length
22,"Seeker: I lost it.
Supporter: Oh: no!
Seeker: My job.
",3
11,"Seeker: Hello
Supporter: \n
Supporter: Tell me
 more.
Supporter: Please.
Seeker: \n\
Supporter: ",4
"""
HEAD = "conversation_id,validating_emotions,encouraging_elaboration,demonstrating_understanding"
HEAD += ",advice_giving,self_oriented,dismissing_emotions\n"


@pytest.fixture
def parts(tmp_path):
    """The published layout with two conversations; expert k rates the first k, 5, 1 and the second 2, 2, k."""
    texts = {"sample_lend_an_ear_conversations.csv": CONVERSATIONS}
    for number, expert in enumerate(EXPERTS, 1):
        texts[f"{expert}_ratings.csv"] = f"{HEAD}22,{number},5,1,4,3,2\n11,2,2,{number},1,1,1\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return {name: tmp_path / name for name in texts}


def rows(sheet):
    return [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]


def test_a_conversation_and_an_expert_make_a_task(parts):
    tasks, _ = converters.lend_an_ear(parts)
    assert [{name: cell for name, cell in row.items() if cell is not None} for row in rows(tasks)[2:4]] == [
        {
            "PID": "expert3",
            "Model": "human-supporter",
            "TaskId": "11-expert3",
            "src_conv_id": "11",
            "src_rater_type": "expert",
            "src_advice_giving": 1.0,
            "src_self_oriented": 1.0,
            "src_dismissing_emotions": 1.0,
        },
        {
            "PID": "expert1",
            "Model": "human-supporter",
            "TaskId": "22-expert1",
            "src_conv_id": "22",
            "src_rater_type": "expert",
            "src_advice_giving": 4.0,
            "src_self_oriented": 3.0,
            "src_dismissing_emotions": 2.0,
        },
    ]


def test_messages_and_the_rating_on_the_supporters_last(parts):
    _, messages = converters.lend_an_ear(parts)
    found = [
        (
            row["TaskId"],
            row["MessageId"],
            row["Role"],
            row["Content"],
            row["Affective"],
            row["Cognitive"],
            row["Interest"],
        )
        for row in rows(messages)
        if row["TaskId"] in {"11-expert3", "22-expert1"}
    ]
    assert found == [
        ("11-expert3", 1.0, "user", "Hello", None, None, None),
        ("11-expert3", 2.0, "assistant", "Tell me\n more.", None, None, None),
        ("11-expert3", 3.0, "assistant", "Please.", "Poor", "Neutral", "Poor"),
        ("22-expert1", 1.0, "user", "I lost it.", None, None, None),
        ("22-expert1", 2.0, "assistant", "Oh: no!", "Very poor", "Very poor", "Very good"),
        ("22-expert1", 3.0, "user", "My job.", None, None, None),
    ]


# Against the published data


@pytest.fixture
def fetched(shared):
    return fetch("lend-an-ear", mirror=shared / "data" / "raw" / "lend_an_ear")


@pytest.fixture
def expected(shared):
    """Sheets that others made of the same data, without the crowd's tasks."""
    sheets = read_sheets(shared / "data" / "lend_an_ear.xlsx")
    place = {name: sheet.header.index("TaskId") for name, sheet in sheets.items()}
    return {
        name: (sheet.header, [row for row in sheet.rows if "-expert" in row[place[name]]])
        for name, sheet in sheets.items()
    }


def test_the_published_data_give_the_workbook_that_others_made_of_them(fetched, expected):
    sheets = read_sheets(fetched)
    assert list(sheets) == ["Tasks", "Messages", "src_Source"]
    for name in ("Tasks", "Messages"):
        assert (sheets[name].header, sheets[name].rows) == expected[name]
    assert len(sheets["Tasks"].rows) == 50 * len(EXPERTS)


def test_the_released_numbers_are_those_of_the_published_data(fetched, monkeypatch):
    """Ids were assigned again; so it is all ratings of one expert and question that are compared, in order."""
    monkeypatch.setenv("SENSE7_ROOT", str(Path(__file__).resolve().parents[2]))
    study = read_workbook(fetched)
    numbers = parse_sheets({sheet.name: sheet for sheet in lend_an_ear_sheets()})
    people = [frame.conversations.set_index("conversation")["participant"] for frame in (study, numbers)]
    for dimension in converters.QUESTIONS:
        for expert in EXPERTS:
            theirs, ours = (
                frame.turns[frame.turns["conversation"].map(who) == expert][dimension].dropna().sort_values().tolist()
                for frame, who in zip((study, numbers), people, strict=True)
            )
            assert len(ours) == 50
            assert ours == theirs, (dimension, expert)


def test_the_number_of_the_conversion_is_raised_with_its_result(fetched, digest_of):
    """A change of the converter without a new number would leave users with what the old one made."""
    sheets = converters.lend_an_ear(part_files("lend-an-ear"))
    assert (SOURCES["lend-an-ear"].conversion, digest_of(sheets)) == (1, "f3ff4485c3a8268a")
