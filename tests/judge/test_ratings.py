"""Ratings of turns and dimensions: what is asked, how strictly it is read, and how it compares with the person's."""

import json
from collections import Counter

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import endpoint, judged, naming
from helpers.endpoint import need_the_judge
from helpers.judged import cells_of, table_of
from sense7.judge.asking.requests import asked_units
from sense7.judge.files import read_predictions
from sense7.judge.ratings import NOT_APPLICABLE, read_levels, read_ratings, schema
from sense7.judge.reply import read_reply
from sense7.taxonomy import RATING_NAMES

need_the_judge()

Answered = endpoint.Answer
ALL = dict.fromkeys(RATING_NAMES, 4)


def ask(study, server, folder, **options):
    return judged.ask(
        study, server, folder, **{"prompt": None, "unit": "turn", "rating": "all"} | options
    )


# What is asked


def test_a_turn_is_asked_about_with_what_was_said_up_to_it_and_nothing_after(study_of):
    study = study_of(3, 2)
    units = asked_units(study, "turn", ["overall"])
    assert units["conversation"].tolist() == [f"C{c}.turn{t}" for c in (1, 2, 3) for t in (1, 2)]
    assert units["source"].tolist() == ["C1", "C1", "C2", "C2", "C3", "C3"]
    for number, chat in enumerate(units["chat"]):
        said = [message["content"] for message in json.loads(chat)]
        assert said == [
            f"Message {n} of conversation {number // 2}." for n in range(2 + 2 * (number % 2))
        ]


def test_only_several_ratings_are_asked_for_with_a_schema(server, study_of, tmp_path):
    server.script = endpoint.rates
    ask(study_of(2, 2), server, tmp_path / "out")
    assert len(server.asked) == 4, "two conversations of two turns"
    for asked in server.asked:
        assert asked.body["response_format"] == schema(RATING_NAMES)
        assert all(f"- {name}: " in asked.prompt for name in RATING_NAMES)
        assert "{{" not in asked.prompt
        assert "Rate the last message" in asked.prompt
    server.asked.clear()
    server.script = lambda asked: Answered(text='{"Interest": 4}')
    assert ask(study_of(1), server, tmp_path / "one", rating="Interest").statuses == Counter(ok=1)
    assert "response_format" not in server.asked[0].body


@pytest.mark.parametrize("unit", ["conversation", "turn"])
@pytest.mark.parametrize("rating", ["overall", "Interest", "all"])
def test_every_unit_and_rating_has_its_file_and_truth(server, unit, rating, study_of, tmp_path):
    study = study_of(3, 2)
    standard = (unit, rating) == ("conversation", "overall")
    server.script = lambda asked: endpoint.GOOD if standard else endpoint.rates(asked)
    outcome = ask(study, server, tmp_path / "out", unit=unit, rating=rating)
    name = "empathy" if standard else f"{rating}_{unit}"
    assert outcome.paths[0].name == f"judge-{name}-iter1.xlsx"
    frame = table_of(outcome.paths[0])
    assert len(frame) == (3 if unit == "conversation" else 6)
    if standard:
        assert openpyxl.load_workbook(outcome.paths[0]).sheetnames == ["results"]
        assert "response_format" not in server.asked[0].body
    elif unit == "turn":
        truth = study.turns.set_index(["conversation", "turn"])[
            "overall" if rating == "all" else rating
        ]
        places = (name.split(".turn") for name in frame["conversation"])
        assert frame["ground_truth"].tolist() == [
            truth.loc[conversation, int(turn)] for conversation, turn in places
        ]


def test_the_ratings_stand_beside_the_persons_own(server, study_of, tmp_path):
    study = study_of(2, 2)
    study.turns.loc[0, ["Interest", "Interest_state"]] = [np.nan, "not rated"]
    study.turns.loc[1, ["Interest", "Interest_state"]] = [2.0, "rated"]
    study.turns.loc[2, ["Interest", "Interest_state"]] = [np.nan, "absent"]
    study.turns.loc[3, ["Interest", "Interest_state"]] = [np.nan, "not rated"]
    server.script = endpoint.rates
    turns = ask(study, server, tmp_path / "turns").paths[0]
    whole = ask(study, server, tmp_path / "whole", unit="conversation").paths[0]
    cells = cells_of(turns, "ratings")
    assert cells["TaskId"] == ["C1.turn1", "C1.turn2", "C2.turn1", "C2.turn2"]
    assert (cells["Conversation"], cells["Turn"]) == (["C1", "C1", "C2", "C2"], [1, 2, 1, 2])
    assert cells["Interest person"] == [NOT_APPLICABLE, 2, None, NOT_APPLICABLE]
    said = {asked.prompt: json.loads(endpoint.rates(asked).text) for asked in server.asked}
    outputs = cells_of(turns, "results")["Prompt"]
    for name in RATING_NAMES:
        assert cells[f"{name} judge"] == [said[prompt][name] for prompt in outputs]
    cells = cells_of(whole, "ratings")
    assert cells["Interest person"] == [2, NOT_APPLICABLE]
    assert cells["Turn"] == [None, None]


# How it is read

UNREADABLE = {
    "": "no JSON object",
    "[4, 3]": "no JSON object",
    '{"overall": 4, "Interest": 3} {"overall": 5, "Interest": 3}': "different levels",
    '{"overall": 4}': "Interest",
    '{"overall": 4, "Interest": "4"}': "Interest",
    '{"overall": 4, "Interest": true}': "Interest",
    '{"overall": 0, "Interest": 3}': "overall",
    '{"overall": 4, "Interest": "n/a"}': "Interest",
    '{"overall": "not applicable", "Interest": 3}': "overall",
    '{"overall": 4, "Interest": 3': "overall, Interest",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_reply_that_is_not_what_was_asked_for_gives_no_rating_at_all(text):
    levels, reason, _ = read_levels(text, ("overall", "Interest"))
    assert levels == {}
    assert UNREADABLE[text] in reason


FORMS = {
    "alone": "{}",
    "fenced": "```json\n{}\n```",
    "words around it": "Here it is (3 tries):\n```json\n{}\n```\nI hope it helps.",
    "behind thinking": '<think>{"overall": 1, "Interest": 1} or 4?</think>\n{}',
    "twice": "{}\n{}",
    "inside the name of the schema": '{"ratings": {}}',
    "behind an object that does not fit": '{"overall": 6, "Interest": 3} {}',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", ["4", "4.0"])
def test_the_object_that_fits_is_read_wherever_it_stands(form, level):
    said = (
        f'{{"reasoning": "Kind,\nall in all.", "overall": {level}, "Interest": "not applicable"}}'
    )
    levels, reason, reasoning = read_levels(
        FORMS[form].replace("{}", said), ("overall", "Interest")
    )
    assert (levels, reason) == ({"overall": 4, "Interest": NOT_APPLICABLE}, "")
    assert type(levels["overall"]) is int
    assert reasoning == "Kind,\nall in all."


def test_an_object_behind_words_of_a_reply_that_was_cut_off_could_be_a_draft():
    said = '{"overall": 4, "Interest": 3}'
    names = ("overall", "Interest")
    assert read_levels(f"{said}  \n", names, is_cut=True)[0]["overall"] == 4
    assert read_levels(f"A draft: {said}", names, is_cut=True)[0] == {}


@settings(max_examples=30)
@given(
    text=st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_breaks_the_reading(text):
    levels, reason, _ = read_levels(text, ("overall",))
    assert bool(levels) != bool(reason)


@pytest.mark.parametrize(
    ("text", "how", "status", "score"),
    [
        (json.dumps(ALL | {"overall": 3}), {}, "ok", 3),
        ("<S2>4</S2>", {}, "parse_failure", None),
        ("", {"refusal": "I can't."}, "refusal", None),
        ('{"overall": 4', {"finish_reason": "length"}, "truncated", None),
    ],
)
def test_failures_keep_their_status_and_nothing_is_scored_by_default(text, how, status, score):
    reply = read_ratings(text, RATING_NAMES, read_reply(text, **how))
    assert (reply.status, reply.score) == (status, score)
    assert bool(reply.levels) == (status == "ok")


def test_a_dimension_that_does_not_apply_is_an_answer_and_no_score(server, study_of, tmp_path):
    none = Answered(text=json.dumps({"Interest": NOT_APPLICABLE}))
    server.script = lambda asked: none
    outcome = ask(study_of(3, 2), server, tmp_path / "out", rating="Interest")
    assert (outcome.stopped, outcome.without_score) == ("", [])
    assert outcome.statuses == Counter(not_applicable=6)
    frame = table_of(outcome.paths[0])
    assert frame["score"].isna().all()
    assert frame["status"].eq("not_applicable").all()


@pytest.mark.parametrize("cell", [6, "N/A"])
def test_a_cell_that_is_no_rating_is_refused_with_its_place(server, cell, study_of, tmp_path):
    server.script = endpoint.rates
    path = ask(study_of(1, 2), server, tmp_path / "out").paths[0]
    book = openpyxl.load_workbook(path)
    column = [cell.value for cell in book["ratings"][1]].index("Interest judge") + 1
    book["ratings"].cell(3, column).value = cell
    book.save(path)
    with naming.refused(f"{path}: sheet ratings, column Interest judge, row 3: '{cell}'"):
        read_predictions(path)
