"""What is left out of a conversation is counted by kind; nothing is joined that does not belong together.

Each case goes through the command line, and holds for any reader of the same files.
"""

import json
import re

import pytest

from helpers import naming
from sense7.errors import UserError
from sense7.loading import load

NIL = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def bring(run, write, tmp_path):
    """Import one file: the conversations as (condition, texts), what was printed, and what was warned of."""

    def brought(name, content, *options, lines=False):
        write(name, content, lines=lines)
        done = run(name, "--out", "chats.jsonl", "--force", *options)
        chats = [json.loads(line) for line in (tmp_path / "chats.jsonl").read_text().splitlines()]
        texts = [[message["content"] for message in chat["messages"]] for chat in chats]
        return [chat.get("condition") for chat in chats], texts, done.stdout, done.stderr

    return brought


def node(parent, role, text, time=None, **further):
    content = {"content_type": "text", "parts": [text]}
    return {
        "parent": parent,
        "message": {"author": {"role": role}, "content": content, "create_time": time},
    } | further


def claude(name, parent, sender, text, minute):
    moment = f"2025-01-01T00:0{minute}:00Z"
    return {
        "uuid": name,
        "parent_message_uuid": parent,
        "sender": sender,
        "text": text,
        "created_at": moment,
    }


TREE = [
    claude("m1", NIL, "human", "q", 0),
    claude("m2", "m1", "assistant", "old", 1),
    claude("m3", "m1", "assistant", "new", 2),
    claude("m4", "m3", "human", "thanks", 3),
]
EDITED = [
    claude("e1", NIL, "human", "q again", 5),
    claude("e2", "e1", "assistant", "last", 6),
    *TREE,
]
LISTED = [
    {"id": "1", "parent_id": None, "role": "user", "content": "q"},
    {"id": "2", "parent_id": "1", "role": "assistant", "content": "old"},
    {"id": "3", "parent_id": "1", "role": "assistant", "content": "new"},
]
BY_CHILDREN = [
    one | {"parent_id": None, "childrenIds": ["2", "3"] if one["id"] == "1" else []}
    for one in LISTED
]
NUMBERED = [one | {"id": int(one["id"])} for one in LISTED]
NODES = {
    "a": node(None, "user", "q", 1),
    "c": node("a", "assistant", "new", 3),
    "d": node("c", "user", "thanks"),
    "b": node("a", "assistant", "old", 2),
}
CHILDREN_ALONE = {
    "root": {"message": None, "children": ["a"]},
    "a": node(None, "user", "q", children=["b"]),
    "b": node(None, "assistant", "yes", children=[]),
}


def holding(key):
    """A message that holds its answers, the second of which holds another one."""
    answers = [{"role": "assistant", "content": text, key: []} for text in ("old", "new")]
    answers[1][key] = [{"role": "user", "content": "thanks"}]
    return [{"role": "user", "content": "q", key: answers}]


TREES = {
    "Claude's newest branch": ({"chat_messages": TREE}, ["q", "new", "thanks"], 1),
    "the branch that it names": (
        {"current_leaf_message_uuid": "m2", "chat_messages": TREE},
        ["q", "old"],
        2,
    ),
    "a first question that was edited": ({"chat_messages": EDITED}, ["q again", "last"], 4),
    "a list with parents": ({"messages": LISTED}, ["q", "new"], 1),
    "a list with children": ({"messages": BY_CHILDREN}, ["q", "new"], 1),
    "ids that are numbers": ({"current_id": 2, "messages": NUMBERED}, ["q", "old"], 1),
    "no message with a parent": (
        {"messages": [one | {"parent_id": None} for one in LISTED]},
        ["q", "old", "new"],
        0,
    ),
    "messages that hold their answers": (
        {"messages": holding("children")},
        ["q", "new", "thanks"],
        1,
    ),
    "messages that hold replies": ({"messages": holding("replies")}, ["q", "new", "thanks"], 1),
    "ChatGPT's children alone": ({"mapping": CHILDREN_ALONE, "current_node": "b"}, ["q", "yes"], 0),
    **{
        f"ChatGPT with {current}": ({"mapping": NODES} | current, ["q", "new", "thanks"], 1)
        for current in ({}, {"current_node": None}, {"current_node": "gone"}, {"current_node": 7})
    },
}


@pytest.mark.parametrize(("record", "texts", "others"), TREES.values(), ids=TREES)
def test_a_tree_is_read_along_one_branch_and_the_others_are_counted(bring, record, texts, others):
    _, found, said, _ = bring("conversations.json", [record])
    assert found == [texts]
    counted = re.search("(?m)^left out: (.*)$", said)[1]
    assert counted.split()[0] == (str(others) if others else "nothing")


TALK = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
WHOLE = {"messages": TALK}


@pytest.mark.parametrize(
    ("record", "condition"),
    [
        ({"mapping": {"a": node(None, "user", "q")}, "default_model_slug": "m"}, "m"),
        ({"chat_messages": TREE, "model": "m"}, "m"),
        ({"conversations": [{"from": "human", "value": "q"}], "model_name": "m"}, "m"),
        ({"messages": [TALK[0], TALK[1] | {"model": "m"}]}, "m"),
        ({"messages": TALK}, None),
    ],
    ids=["ChatGPT", "Claude", "ShareGPT", "its messages", "none"],
)
def test_the_model_is_the_condition_or_is_said_to_be_unknown(bring, record, condition):
    conditions, _, said, _ = bring("a.json", [record])
    assert conditions == [condition]
    unknown = [line for line in said.splitlines() if "--condition" in line]
    if condition is None:
        naming.check(*unknown, 1, "--condition")
    else:
        assert unknown == []


def test_a_refusal_in_a_field_of_its_own_is_the_answer(run, write, tmp_path):
    refused = {"role": "assistant", "content": None, "refusal": "I cannot"}
    write("a.jsonl", [{"id": "x", "model": "m", "messages": [TALK[0], refused, *TALK]}], lines=True)
    write("r.csv", "TaskId,Turn,PID,Affective\nx,1,P1,1\nx,2,P1,5\n")
    run("a.jsonl", "--out", "a.xlsx", "--ratings", "r.csv")
    turns = load(tmp_path / "a.xlsx").turns
    assert turns["Affective"].tolist() == [1, 5]


LISTS = {  # content of a message, its text, how many parts are counted as left out
    "a list in a list": ([["a", {"type": "text", "text": "b"}]], "ab", 0),
    "a text in pieces": ([{"type": "text", "text": ["a", "b"]}], "ab", 0),
    "a text without a type": (
        [{"text": "a"}, {"type": "text", "text": {"value": "b", "annotations": []}}],
        "ab",
        0,
    ),
    "null and a text": ([None, {"type": "text", "text": "a"}], "a", 1),
    "null for a text": ([{"type": "text", "text": None}], "", 1),
    "unknown types": ([{"type": "hologram"}, {"type": "hologram"}], "", 2),
    "null": (None, "", 1),
}


@pytest.mark.parametrize("case", LISTS)
def test_parts_of_any_kind_leave_the_message_in_its_turn(bring, case):
    content, text, parts_left_out = LISTS[case]
    listed = [TALK[0], {"role": "assistant", "content": content}, *TALK]
    _, texts, said, _ = bring("a.json", {"model": "m", "messages": listed})
    assert texts == [["q", text, "q", "a"]]
    left_out = re.search("(?m)^left out: .*$", said)[0]
    if parts_left_out:
        naming.check(left_out, parts_left_out)
    else:
        assert left_out == "left out: nothing"


def test_null_and_unknown_parts_of_chatgpt(bring):
    mapping = {
        "a": node(None, "user", None),
        "b": node("a", "assistant", {"content_type": "hologram"}),
    }
    _, texts, said, _ = bring("a.json", [{"id": "x", "mapping": mapping, "current_node": "b"}])
    assert texts == [["", ""]]
    left_out = re.search("(?m)^left out: .*$", said)[0]
    naming.check(left_out, "1 empty", "hologram")


ONE_BAD = {
    "no list": ("a.json", [WHOLE, {"messages": 3}, WHOLE], ["conversation 2:", "messages:"]),
    "no JSON": ("a.jsonl", f'{json.dumps(TALK)}\n{{]\n{json.dumps(TALK)}\n', ["line 2:", "column 2:"]),
    "no UTF-8": ("a.jsonl", json.dumps(TALK).encode() + b'\n"\xe9"\n' + json.dumps(TALK).encode(),
                 ["line 2:", "byte 2:"]),
    "no tree": ("a.json", [WHOLE, {"mapping": {"a": {"parent": "b"}}}, WHOLE], ["conversation 2:", "mapping:"]),
    "half a character": ("a.json", [WHOLE, {"messages": [{"role": "user", "content": "\ud800"}]}, WHOLE],
                         ["conversation 2: message 1", r"\ud800"]),
    "a sample": (
        "a.json",
        {"eval": {"task": "t"}, "samples": [{"id": n, "messages": TALK if n != 2 else None} for n in (1, 2, 3)]},
        ["samples[2]:", "messages:"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", ONE_BAD)
def test_one_bad_conversation_is_named_and_the_others_are_read(bring, fault):
    name, content, named = ONE_BAD[fault]
    _, texts, said, warned = bring(name, content)
    assert texts == [["q", "a"], ["q", "a"]]
    assert "left out: 1 conversation " in said
    naming.check(warned, f"{name}: ", *named)


def test_a_file_of_bad_conversations_alone_is_refused(bring):
    with naming.refused("a.jsonl: ", "line 1: ", 2):
        bring("a.jsonl", "{}\n[]\n")


RATED = "TaskId,{key},PID,Affective\nc1,{first},P1,1\nc1,{second},P1,5\nc2,{second},P1,4\n"


@pytest.mark.parametrize(
    ("key", "first", "second"), [("Turn", 0, 1), ("Turn", 1, 2), ("MessageId", 2, 4)]
)
def test_turns_are_counted_from_0_where_0_stands_among_them(
    run, write, tmp_path, key, first, second
):
    write(
        "a.jsonl",
        [{"id": name, "model": "m", "messages": TALK * 2} for name in ("c1", "c2")],
        lines=True,
    )
    write("r.csv", RATED.format(key=key, first=first, second=second))
    done = run("a.jsonl", "--out", "a.xlsx", "--ratings", "r.csv")
    assert load(tmp_path / "a.xlsx").turns["Affective"].fillna(0).tolist() == [1, 5, 0, 4]
    if first == 0:
        naming.check(done.stderr, "r.csv: ", "Turn", 0)
    else:
        assert done.stderr == ""


LIKE_SPEAKERS = {  # text, options, texts of the messages, line of the first that is like a speaker
    "Windows": (
        "User: A PC.\nSystem: Windows\nIt broke.\nAssistant: Oh.",
        [],
        ["A PC.\nSystem: Windows\nIt broke.", "Oh."],
        "line 2",
    ),
    "You and Model": (
        "System: Be kind.\nUser: Hi\nYou: both\nAssistant: Yes\nModel: 4",
        [],
        ["Hi\nYou: both", "Yes\nModel: 4"],
        "line 3",
    ),
    "two names": (
        "Anna: Hi\nUser: root\nEliza: Hello",
        ["--speaker", "Anna=user", "--speaker", "Eliza=assistant"],
        ["Hi\nUser: root", "Hello"],
        "line 2",
    ),
    "one name": (
        "Anna: Hi\nBot: Hello\nAI: me",
        ["--speaker", "Anna=user"],
        ["Hi", "Hello\nAI: me"],
        "line 3",
    ),
}


@pytest.mark.parametrize("case", LIKE_SPEAKERS)
def test_a_line_like_a_speaker_is_text_unless_the_file_opens_with_it(bring, case):
    text, options, texts, line = LIKE_SPEAKERS[case]
    _, found, _, warned = bring("a.txt", text, *options)
    assert found == [texts]
    naming.check(warned, "a.txt: ", line, "--speaker")


@pytest.mark.parametrize(
    "moment",
    [
        "[11/8/21, 9:41:32 AM]",  # as on an iPhone
        "\u200e[31.12.23, 21:41:00]",
        "[31.12.23, 21:41:00]",
        "[2023-12-31, 21:41:00]",
        "[2023/12/31 \u4e0b\u53489:41:00]",
        "[2023. 1. 5. \uc624\ud6c4 9:41:00]",
        "[\u0663\u0661\u200f/\u0661\u0662\u200f/\u0662\u0663\u060c \u0669:\u0664\u0661:\u0660\u0660 \u0645]",
        "11/8/21, 9:41\u202fAM -",  # as on Android
        "31/12/2023 \u00e0 21:41 -",
        "31/12/23, 9:41 p. m. -",
        "31/12/23 21.41 -",
        "23-12-31 21 h 41 -",
        "Dec 31, 9:41 PM -",
    ],
)
def test_a_chat_of_a_messenger_is_named_for_what_it_is(bring, moment):
    line = f"{moment} Guest: Hi"
    for name in ("a.txt", "a.json"):
        with pytest.raises(UserError, match=rf"^{name}: line 1: .*WhatsApp"):
            bring(name, f"{line}\n{line}\n", "--speaker", "Guest=user")


def test_how_to_correct_a_chat_of_a_messenger_is_said(bring):
    with naming.refused("a.txt: ", "line 1: ", "WhatsApp", "--speaker"):
        bring("a.txt", "[31.12.23, 21:41:00] Guest: Hi\n", "--speaker", "Guest=user")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_nothing(bring, value):
    line = f'{{"toxicity": {value}, "model": {value}, "conversation": {json.dumps(TALK)}}}\n'
    conditions, texts, _, _ = bring("a.jsonl", line)
    assert (conditions, texts) == ([None], [["q", "a"]])
