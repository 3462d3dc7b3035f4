"""The explorer's files hold what the workbook holds, exactly, and no text in them is anything but text."""

import json
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import validate

import sense7
from helpers.studies import READING, write_study
from sense7 import load
from sense7.explorer import explorer_files, script_json
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import is_poor
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES

SCHEMA = json.loads(files(sense7).joinpath("explorer_schema.json").read_text("utf-8"))


def follows_the_schema(content, part):
    """What a script file holds, if it is as the schema says."""
    validate(content, SCHEMA | {"$ref": f"#/$defs/{part}"})
    return content


def data_of(scripts):
    """The files as a browser reads them: what the index holds, and the messages of each conversation, in order."""
    content = json.loads(
        re.fullmatch(r"window\.sense7Conversations=(.*);\n", scripts["conversations.js"])[1]
    )
    follows_the_schema(content, "index")
    messages = []
    for number, text in enumerate(content["texts"]):
        head, _, rest = scripts[text["file"]].partition("=window.sense7Texts||{})")
        assert head == "(window.sense7Texts"
        place, _, body = rest.partition("=")
        assert place == f"[{number}]"
        part = follows_the_schema(json.loads(body.removesuffix(";\n")), "texts")
        assert len(part) == text["conversations"]
        assert len(scripts[text["file"]].encode()) == text["bytes"]
        messages += part
    files = [text["file"] for text in content["texts"]]
    assert set(scripts) == {"conversations.js", "texts.js", *files}
    assert scripts["texts.js"] == "".join(scripts[file] for file in files)
    return content, messages


@pytest.fixture(scope="module")
def synthetic():
    """A sixth of the people of the synthetic data set: their texts fill several files."""
    study = load("synthetic")
    study = study.subset(participants=study.conversations["participant"].unique()[::6])
    return study, *data_of(explorer_files(study))


@pytest.fixture
def study_of(minimal_sheets, tmp_path):
    def study(*, reading=READING, **changes):
        write_study(minimal_sheets(**changes), tmp_path / "own.xlsx", reading)
        return load(str(tmp_path / "own.xlsx"))

    return study


# --- what the files hold


def test_every_message_is_there_in_order_as_the_workbook_has_it(synthetic):
    study, _, found = synthetic
    assert len(found) == len(study.conversations) == 96
    by_conversation = dict(list(study.messages.sort_values("position").groupby("conversation")))
    for name, messages in zip(study.conversations["conversation"], found, strict=True):
        expected = by_conversation[name]
        for column in ("role", "content", "comment"):
            texts = expected[column].astype(object).where(expected[column].notna(), None)
            assert [message.get(column) for message in messages] == texts.tolist()
        assert [message["seconds"] for message in messages] == pytest.approx(
            expected["seconds"].tolist(), abs=0.051
        )


def test_a_conversation_has_its_answers_and_what_statistics_give(synthetic):
    study, index, _ = synthetic
    assert len(index["texts"]) > 5
    truth = ground_truth(study.turns, study.conversations["conversation"])
    rows = pd.DataFrame(index["conversations"]).set_index("name")
    np.testing.assert_allclose(rows["mean"], truth, atol=5e-7)
    assert rows["level"].tolist() == np.nan_to_num(labels(truth)).tolist()
    for name in ("participant", "condition", "topic"):
        assert rows[name].tolist() == study.conversations[name].tolist()
    titles = [answer["title"] for answer in index["answers"]]
    assert (titles[0], titles[6]) == ("Importance of the topic", "Affective Understanding")
    lowest = study.turns.groupby("conversation")[list(RATING_NAMES)].min().loc[rows.index]
    post = study.conversations[[f"post_{name}" for name in DIMENSION_NAMES]]
    for shown, frame in ((rows["answers"].str[6:], post), (rows["lowest"], lowest)):
        levels = frame.astype("Int64").astype(object).where(frame.notna().to_numpy(), ".")
        assert shown.tolist() == levels.astype(str).agg("".join, axis=1).tolist()
    assert index["prompted"] == study.prompted_condition
    assert is_poor([index["poorLevel"], index["poorLevel"] + 1]).tolist() == [True, False]


def test_rated_not_rated_unreadable_blank_and_never_asked_are_five_things(study_of):
    turns = ["good", "unknown", None, "poor", "good", "oops", "good", "good"]
    cells = [cell for turn in turns for cell in (None, turn)]
    messages = {"Affective": cells, "Relational": None, "EmpathyOverall": None}
    study = study_of(messages=messages, reading=f"{READING}unreadable: 0.2\n")
    index, by_conversation = data_of(explorer_files(study))
    asked = {rating["title"]: rating["asked"] for rating in index["ratings"]}
    assert asked["Affective Understanding"]
    assert not asked["Relational Continuity"]
    assert not asked["Overall"]
    place = RATING_NAMES.index("Affective")
    messages = [message for messages in by_conversation for message in messages]
    assert "".join(m["ratings"][place] for m in messages if "ratings" in m) == "4-.24?44"
    assert index["conversations"]["poorTurns"] == [None] * 4, (
        "without overall ratings no turn is known as poor"
    )


# --- nothing but text


@settings(max_examples=30)
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
