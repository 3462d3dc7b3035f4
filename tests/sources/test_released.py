"""Data of others: converted to workbooks as others did or by hand; released ratings, pinned and credited."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from helpers import naming
from sense7.errors import UserError
from sense7.sources import converters, released
from sense7.sources.converters import EXPERTS

ROOT = Path(__file__).resolve().parents[2]
READERS = {
    "judged_conversations": released.judged_conversations,
    "published_agreement": released.published_agreement,
    "felt_heard": released.felt_heard,
    "ieval": released.ieval_conversations,
    "ieval_workers": released.ieval_workers,
}


@pytest.fixture(autouse=True)
def this_checkout(places, monkeypatch):
    """Other tests of this folder have a checkout of their own; here it is this one that is looked at."""
    monkeypatch.setenv("SENSE7_ROOT", str(ROOT))
    released.ieval_study.cache_clear()


@pytest.fixture
def changed_checkout(tmp_path, monkeypatch):
    """A checkout whose copy of a table can be changed."""
    tmp_path = tmp_path / "changed"
    shutil.copytree(ROOT / "data" / "real", tmp_path / "data" / "real")
    shutil.copyfile(ROOT / "_config.yml", tmp_path / "_config.yml")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setenv("SENSE7_ROOT", str(tmp_path))
    return tmp_path


# The tables


@pytest.mark.parametrize("name", READERS)
def test_one_changed_byte_is_refused_and_the_file_named(changed_checkout, name):
    path = changed_checkout / "data" / "real" / f"{name}.csv"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with naming.refused(path, f"git checkout -- data/real/{name}.csv") as refusal:
        READERS[name]()
    with pytest.raises(UserError, match=re.escape(str(refusal.value))):
        released.verified_digest(name)


# As a workbook


def test_ieval_as_a_workbook_is_read_to_the_number():
    study, table = released.ieval_study(), released.ieval_conversations()
    assert study.diagnostics == []
    assert (len(study.conversations), study.conversations["participant"].nunique()) == (1920, 240)
    rated = study.turns.dropna(subset=["Affective"])
    assert rated["Affective"].tolist() == table["understood"].tolist()
    assert rated["Contextual"].tolist() == table["sensible"].tolist()
    assert study.participants["TEQ"].tolist() == released.ieval_workers()["teq"].tolist()


def test_a_workbook_of_released_ratings_says_whose_they_are_and_has_no_text():
    named = {sheet.name: sheet for sheet in released.ieval_sheets()}
    said = dict(named["src_Source"].rows)
    naming.check(said["note"], "SENSE-7")
    naming.check(said["credit"], "CC-BY-4.0")
    messages = pd.DataFrame(named["Messages"].rows, columns=named["Messages"].header)
    assert set(messages["Content"]) == {released.NO_TEXT}


ANSWERS = {"P": 3, "^P": 1, "A": 4, "^A": 2, "EU": 5, "ER": 1, "L": 2, "R": 3, "S": 4, "Rating": 1}
CHAT = "- I won!_x000D_\n- What - really ?\n- yes\n- Great .  \n- bye\n- See you"


def rows(sheet):
    return [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]


def filled(sheet):
    """The rows of a sheet without their blank cells."""
    return [{name: cell for name, cell in row.items() if cell is not None} for row in rows(sheet)]


@pytest.fixture
def one_person(tmp_path):
    """The published layout with one person."""
    bots = {bot: {"chat_log": CHAT, **ANSWERS} for bot in ("Pink", "Purple", "Yellow", "Green")}
    scenarios = {
        valence: {"emotion": f"{valence} one", **bots} for valence in ("positive", "negative")
    }
    person = {"part": 7, "elapsed_sec": 810, "TEQ_raw": [3, 1], "TEQ_agg": 47, **scenarios}
    path = tmp_path / "ieval_data.json"
    path.write_text(json.dumps([person]), encoding="utf-8")
    return {sheet.name: sheet for sheet in converters.ieval({"ieval_data.json": path})}


def test_a_person_has_eight_conversations_rated_on_the_chatbots_last_message(one_person):
    tasks = rows(one_person["Tasks"])
    assert [task["TaskId"] for task in tasks] == [
        f"ieval-007-{valence}-{bot}"
        for valence in ("pos", "neg")
        for bot in ("Pink", "Purple", "Yellow", "Green")
    ]
    known = ("PID", "Model", "PreTaskChoice")
    assert [tasks[4][name] for name in known] == ["ieval-007", "bot-Pink", "negative one"]
    answers = {name: cell for name, cell in tasks[0].items() if isinstance(cell, float)}
    assert answers.pop("PostTaskExperience_PositiveInteraction") == 2.0
    levels = {"Affective": 5, "Response": 1, "Prosocial": 3, "Interest": 4, "Contextual": 4}
    assert answers == {f"PostTaskEmpathy_{name}": level for name, level in levels.items()}
    assert rows(one_person["Participants"]) == [{"PID": "ieval-007", "TEQ": 47.0}]
    said = ["I won!", "What - really ?", "yes", "Great .", "bye", "See you"]
    expected = [
        {
            "TaskId": "ieval-007-pos-Pink",
            "MessageId": number,
            "Role": ("assistant", "user")[number % 2],
            "Content": text,
        }
        for number, text in enumerate(said, 1)
    ]
    expected[-1] |= {"Affective": "Very good", "Response": "Very poor", "Prosocial": "Neutral"}
    expected[-1] |= {"Interest": "Good", "Contextual": "Good"}
    assert filled(one_person["Messages"])[:6] == expected


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


def test_a_conversation_and_an_expert_make_a_task_rated_on_the_supporters_last_message(parts):
    tasks, messages = converters.lend_an_ear(parts)
    assert filled(tasks)[2:4] == [
        {"PID": "expert3", "Model": "human-supporter", "TaskId": "11-expert3"},
        {"PID": "expert1", "Model": "human-supporter", "TaskId": "22-expert1"},
    ]
    names = ("TaskId", "MessageId", "Role", "Content", "Affective", "Cognitive", "Interest")
    found = [tuple(row[name] for name in names if row[name] is not None) for row in rows(messages)]
    assert [row for row in found if row[0] in {"11-expert3", "22-expert1"}] == [
        ("11-expert3", 1.0, "user", "Hello"),
        ("11-expert3", 2.0, "assistant", "Tell me\n more."),
        ("11-expert3", 3.0, "assistant", "Please.", "Poor", "Neutral", "Poor"),
        ("22-expert1", 1.0, "user", "I lost it."),
        ("22-expert1", 2.0, "assistant", "Oh: no!", "Very poor", "Very poor", "Very good"),
        ("22-expert1", 3.0, "user", "My job."),
    ]
