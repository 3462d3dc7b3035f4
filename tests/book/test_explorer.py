"""The explorer's files hold what the workbook holds, exactly, and no text in them is anything but text."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from sense7 import explorer, load
from sense7.explorer import explorer_files, script_json
from sense7.figures.style import ink_on
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import is_poor
from sense7.judge.judges import Judges, read_runs, simulated_note
from sense7.taxonomy import DIMENSION_NAMES, LEVEL_COLOURS, RATING_NAMES
from sense7.workbook import write_sheets


def data_of(files):
    """The files as a browser reads them: what the index holds, and the parts with texts."""
    index = files["conversations.js"]
    content = json.loads(re.fullmatch(r"window\.sense7Conversations=(.*);\n", index)[1])
    parts = []
    for number, name in enumerate(content["files"]):
        head, _, rest = files[name].partition("=window.sense7Texts||{})")
        assert head == "(window.sense7Texts"
        place, _, body = rest.partition("=")
        assert place == f"[{number}]"
        parts.append(json.loads(body.removesuffix(";\n")))
    assert set(files) == {"conversations.js", *content["files"]}
    return content, parts


def messages_of(parts):
    """The messages of each conversation, in the order of the index: texts in place of their numbers."""
    for part in parts:
        for conversation in part["conversations"]:
            yield [
                [None if place < 0 else part["texts"][place] for place in (role, content, comment)]
                + [None if retry < 0 else part["texts"][retry], seconds, ratings]
                for role, content, seconds, retry, comment, ratings in conversation
            ]


@pytest.fixture(scope="module")
def synthetic():
    study = load("synthetic")
    return study, *data_of(explorer_files(study))


@pytest.fixture
def study_of(minimal_sheets, tmp_path):
    def study(*, allow_unreadable=False, **changes):
        write_sheets(minimal_sheets(**changes), tmp_path / "own.xlsx")
        return load(str(tmp_path / "own.xlsx"), allow_unreadable=allow_unreadable)

    return study


# --- what the files hold


def test_every_message_is_there_in_order_as_the_workbook_has_it(synthetic):
    study, _, parts = synthetic
    by_conversation = dict(list(study.messages.sort_values("position").groupby("conversation")))
    found = list(messages_of(parts))
    assert len(found) == len(study.conversations) == 672
    for name, messages in zip(study.conversations["conversation"], found, strict=True):
        expected = by_conversation[name]
        for number, column in enumerate(("role", "content", "comment")):
            assert [message[number] for message in messages] == expected[column].tolist()
        assert [message[4] for message in messages] == pytest.approx(
            expected["seconds"].tolist(), abs=0.051
        )


def test_every_rating_of_a_turn_is_there_and_what_is_missing_says_how(synthetic):
    study, _, parts = synthetic
    found = [
        (name, message[5])
        for name, messages in zip(
            study.conversations["conversation"], messages_of(parts), strict=True
        )
        for message in messages
        if message[5]
    ]
    turns = study.turns.set_index("conversation").loc[study.conversations["conversation"].unique()]
    assert [name for name, _ in found] == turns.index.tolist()
    for place, name in enumerate(RATING_NAMES):
        signs = np.array([ratings[place] for _, ratings in found])
        rated = turns[name].notna().to_numpy()
        assert (signs[rated].astype(float) == turns[name].to_numpy()[rated]).all()
        assert ((signs == "-") == (turns[f"{name}_state"] == "not rated").to_numpy()).all()
        assert ((signs == ".") == (turns[f"{name}_state"] == "absent").to_numpy()).all()


def test_a_conversation_has_its_answers_and_what_statistics_give(synthetic):
    study, index, parts = synthetic
    for part in parts:
        assert len(part["texts"]) == len(set(part["texts"])), (
            "a text that stands often is kept once"
        )
    truth = ground_truth(study.turns, study.conversations["conversation"])
    rows = pd.DataFrame(
        index["conversations"],
        columns=[
            "name",
            "participant",
            "condition",
            "topic",
            "answers",
            "truth",
            "label",
            "poor",
            "overall",
            "low",
        ],
    ).set_index("name")
    assert rows.index.tolist() == study.conversations["conversation"].tolist()
    np.testing.assert_allclose(rows["truth"], truth, atol=5e-7)
    assert rows["label"].tolist() == np.nan_to_num(labels(truth)).tolist()
    levels = {
        name: turns.dropna().tolist()
        for name, turns in study.turns.groupby("conversation")["overall"]
    }
    poor = [
        sum(level <= 2 for level in levels[name]) if levels[name] else None for name in rows.index
    ]
    assert [row[7] for row in index["conversations"]] == poor
    for name in ("participant", "condition", "topic"):
        assert [index[f"{name}s"][place] for place in rows[name]] == study.conversations[
            name
        ].tolist()
    titles = [title for title, _, _ in index["answers"]]
    assert titles[:2] == ["Importance of the topic", "Empathy wished for"]
    columns = [
        "importance",
        "desired_empathy",
        "successful",
        "engaged",
        "positive_interaction",
        "use_again",
    ]
    columns += [f"post_{name}" for name in DIMENSION_NAMES]
    assert len(titles) == len(columns)
    assert [name for _, _, name in index["ratings"]] == list(RATING_NAMES)
    lowest = study.turns.groupby("conversation")[list(RATING_NAMES)].min().loc[rows.index]
    for column, frame in (("answers", study.conversations[columns]), ("low", lowest)):
        shown = (
            frame.astype("Int64").astype(object).where(frame.notna().to_numpy(), ".").astype(str)
        )
        assert rows[column].tolist() == shown.agg("".join, axis=1).tolist()
    assert index["conditions"][index["prompted"]] == study.prompted_condition
    assert is_poor([index["poorLevel"], index["poorLevel"] + 1]).tolist() == [True, False]


def test_rated_not_rated_unreadable_blank_and_never_asked_are_five_things(study_of):
    turns = ["good", "unknown", None, "poor", "good", "oops", "good", "good"]
    cells = [cell for turn in turns for cell in (None, turn)]
    messages = {"Affective": cells, "Relational": None, "EmpathyOverall": None}
    study = study_of(messages=messages, allow_unreadable=True)
    index, parts = data_of(explorer_files(study))
    asked = {title: asked for title, asked, _ in index["ratings"]}
    assert asked["Affective Understanding"]
    assert not asked["Relational Continuity"]
    assert not asked["Overall"]
    place = RATING_NAMES.index("Affective")
    assert [m[5][place] for messages in messages_of(parts) for m in messages if m[5]] == list(
        "4-.24?44"
    )
    assert [row[7] for row in index["conversations"]] == [None] * 4, (
        "without overall ratings no turn is known as poor"
    )


def test_a_conversation_without_any_rating_has_no_mean(study_of):
    blank = dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES))
    first_turn_only = [None, "good", *[None] * 14]
    index, _ = data_of(explorer_files(study_of(messages=blank | {"Affective": first_turn_only})))
    assert [row[5:7] for row in index["conversations"]] == [[4.0, 4], *[[None, 0]] * 3]


def test_a_judge_has_the_score_of_each_run_and_why_there_is_none(synthetic):
    study, index, _ = synthetic
    assert index["judges"] == [], "without predictions there is no judge"
    judges = read_runs(study)
    (judge,) = data_of(explorer_files(study, judges))[0]["judges"]
    runs = judges[judge["name"]]
    assert judge["runs"] == list(runs)
    assert judge["note"] == simulated_note([judge["name"]]), "a simulated judge says so"
    assert len(judge["scores"]) == len(study.conversations)
    for number, frame in enumerate(runs.values()):
        shown = [scores[number] for scores in judge["scores"]]
        usable = frame["status"] == "ok"
        assert [score for score in shown if not isinstance(score, str)] == frame.loc[
            usable, "score"
        ].tolist()
        assert [score for score in shown if isinstance(score, str)] == [
            status.replace("_", " ") for status in frame.loc[~usable, "status"]
        ]
    assert {score for scores in judge["scores"] for score in scores if isinstance(score, str)} >= {
        "refusal",
        "truncated",
    }


def test_the_judge_that_the_book_shows_comes_first(synthetic):
    study, *_ = synthetic
    (runs,) = read_runs(study).values()
    few = dict(list(runs.items())[:2])
    judges = Judges({"a few": few, "many": runs}, {})
    names = [
        [judge["name"] for judge in data_of(explorer_files(study, judges, first))[0]["judges"]]
        for first in ("", "a few")
    ]
    assert names == [["many", "a few"], ["a few", "many"]]
    notes = [judge["note"] for judge in data_of(explorer_files(study, judges))[0]["judges"]]
    assert notes == ["", ""], "what is not simulated is not called so"


def test_the_size_that_is_stated_is_that_of_the_files(synthetic):
    study, index, _ = synthetic
    files = explorer_files(study)
    assert index["bytes"] == sum(len(files[name].encode()) for name in index["files"])
    judged = explorer_files(study, read_runs(study))
    assert len(judged["conversations.js"].encode()) < 100_000, "the first view waits for this file"


@pytest.mark.parametrize(("at_once", "loaded"), [(4, True), (3, False)])
def test_a_large_study_is_cut_into_files_that_are_loaded_on_demand(
    study_of, monkeypatch, at_once, loaded
):
    study = study_of()
    _, (whole,) = data_of(explorer_files(study))
    monkeypatch.setattr(explorer, "TEXTS_A_FILE", 3)
    monkeypatch.setattr(explorer, "AT_ONCE", at_once)
    index, parts = data_of(explorer_files(study))
    assert index["files"] == ["texts-0.js", "texts-1.js"]
    assert index["atOnce"] is loaded
    assert [len(part["conversations"]) for part in parts] == [3, 1]
    assert list(messages_of(parts)) == list(messages_of([whole]))


def test_colours_are_those_of_the_figures_and_their_ink_can_be_read(synthetic):
    inks = ink_on([to_rgb(colour) for colour in LEVEL_COLOURS])
    assert synthetic[1]["colours"] == [list(pair) for pair in zip(LEVEL_COLOURS, inks, strict=True)]


# --- nothing but text


@given(st.recursive(st.text() | st.none() | st.integers(), st.lists))
@example(
    "</script><!-- & \u2028\u2029 \u202a\u202e \u2066\u2069 \x00\x1f\x7f\x9f `${1}` \\u003c \\"
)
def test_any_text_survives_and_none_can_end_the_script(content):
    script = script_json(content)
    assert json.loads(script) == content
    assert (
        re.search("[<>&\u2028\u2029\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f-\x9f]", script) is None
    )
    script.encode()


def test_half_a_character_can_be_written():
    script = script_json("\ud800 lone")
    script.encode()
    assert json.loads(script) == "\ud800 lone"
