"""Each format is recognized by what it holds, texts stay as they are; what can't be read is refused with its place."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import naming
from helpers.changing import changed, places
from sense7.errors import UserError
from sense7.exchange import ImportSummary, read_chats, records
from sense7.exchange.chatgpt import read_chatgpt
from sense7.exchange.content import Chat, Message
from sense7.exchange.readers import Transcript, read_list, read_transcript

TALK = [("user", "I lost my job."), ("assistant", "I am sorry. What happened?")]


def said(chat):
    return [(one.role, one.text) for one in chat.messages]


def messages(talk=TALK):
    return [{"role": role, "content": text} for role, text in talk]


def node(role, parts, parent, *, kind="text", time=None, **further):
    metadata = {"model_slug": "gpt-4o"} if role == "assistant" else {}
    content = {"content_type": kind, "parts": parts}
    author = {"role": role, "name": further.pop("name", None)}
    return {
        "parent": parent,
        "message": {"author": author, "content": content, "create_time": time, "metadata": metadata}
        | further,
    }


def export(**nodes):
    return {
        "title": "Work",
        "conversation_id": "abc",
        "mapping": nodes,
        "current_node": list(nodes)[-1],
    }


def one(path, **options):
    [chat] = read_chats([path], **options)
    return chat


# Each format, once: file, content, what is said, what is left out, and what is known of the conversation

CALLS = [{"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]
OPENAI = [
    {"role": "system", "content": "Be kind."},
    messages()[0],
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "1", "content": "nothing"},
    messages()[1],
]
PARTS = [
    {"type": "thinking", "thinking": "hm"},
    {"type": "text", "text": "I am sorry. "},
    {"type": "text", "text": "What happened?"},
    {"type": "tool_use", "id": "1", "name": "search", "input": {}},
]
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}
ANTHROPIC = [messages()[0], {"role": "assistant", "content": PARTS}, RESULT]
PICTURE = [{"type": "text", "text": "Look: "}, {"type": "image_url", "image_url": {"url": "x"}}]
EMPTY = [
    {"role": "user", "content": ""},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]},
]
TREE = {
    "root": {"parent": None, "message": None},
    "hello": node("system", [""], "root"),
    "ask": node("user", [TALK[0][1]], "hello", time=1000.5),
    "old": node("assistant", ["Well."], "ask", time=1001),
    "answer": node("assistant", [TALK[1][1]], "ask", time=1010.5),
}
UNSEEN = {
    "about": node(
        "user", ["About me"], None, metadata={"is_visually_hidden_from_conversation": True}
    ),
    "ask": node(
        "user", [{"content_type": "image_asset_pointer"}, "Why?"], "about", kind="multimodal_text"
    ),
    "think": node("assistant", [], "ask", kind="thoughts"),
    "call": node("assistant", ["q"], "think", recipient="browser"),
    "result": node("tool", ["r"], "call", name="browser"),
    "answer": node("assistant", ["Because."], "result"),
}
CLAUDE = [
    {"sender": "human", "text": TALK[0][1], "created_at": "2025-09-19T10:00:00Z", "content": []},
    {
        "sender": "assistant",
        "text": "(shortened)",
        "created_at": "2025-09-19T10:00:07Z",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": TALK[1][1]}],
    },
    {"sender": "human", "text": "", "attachments": [{"file_name": "a.txt"}]},
]
SHAREGPT = [
    {"from": who, "value": text}
    for who, text in (("system", "Be kind."), ("human", "q"), ("gpt", "a"))
]
WILDCHAT = {
    "conversation_hash": "h",
    "model": "gpt-4",
    "hashed_ip": "p",
    "turn": 1,
    "conversation": messages(),
}
SYSTEM = "system message"
FORMATS = {
    "OpenAI": ("a.json", {"model": "gpt-4o", "messages": OPENAI}, TALK,
               [SYSTEM, "tool call", "tool result"], {"id": "a-1", "condition": "gpt-4o"}),
    "Anthropic": ("a.jsonl", [{"system": [{"type": "text", "text": "Be kind."}], "messages": ANTHROPIC}], TALK,
                  [SYSTEM, "reasoning", "tool call", "tool result"], {}),
    "an image": ("a.json", [{"role": "user", "content": PICTURE}, messages()[1]],
                 [("user", "Look: [image]"), TALK[1]], ["image"], {}),
    "empty messages": ("a.json", [*EMPTY, {"role": "assistant", "content": None}], [("user", ""), ("assistant", "")],
                       ["tool call", "message without content"], {}),
    "ChatGPT": ("conversations.json", [export(**TREE)], TALK, ["message of another branch"],
                {"id": "abc", "condition": "gpt-4o", "seconds": [0, 10]}),
    "ChatGPT, unseen": ("conversations.json", [export(**UNSEEN)], [("user", "[image]Why?"), ("assistant", "Because.")],
                        ["hidden message", "image", "reasoning",
                         "tool call", "tool result"], {}),
    "Claude": ("conversations.json", [{"uuid": "u", "name": "Work", "chat_messages": CLAUDE}],
               [*TALK, ("user", "[file]")], ["reasoning", "file"],
               {"id": "u", "seconds": [0, 7, None]}),
    "ShareGPT": ("a.json", [{"id": "x_0", "conversations": SHAREGPT}], [("user", "q"), ("assistant", "a")], [SYSTEM],
                 {"id": "x_0"}),
    "WildChat": ("a.jsonl", [WILDCHAT], TALK, [], {"id": "h", "participant": "p", "condition": "gpt-4"}),
    "text": ("talk.txt", "User: I lost it.\n\nAll: of it.\r\n\r\n**Assistant:**  Oh no.\n- a\nuser: Yes\n",
             [("user", "I lost it.\n\nAll: of it."), ("assistant", " Oh no.\n- a"), ("user", "Yes")], [],
             {"id": "talk-1"}),
    "wide colons": ("talk.txt", "User\uff1a Hi\nAssistant\uff1aHello", [("user", "Hi"), ("assistant", "Hello")],
                    [], {}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "talk", "left_out", "known"), FORMATS.values(), ids=FORMATS
)
def test_a_format_is_read_and_what_is_no_text_is_named(write, name, content, talk, left_out, known):
    chat = one(write(name, content, lines=name.endswith("l")))
    assert said(chat) == talk
    assert list(chat.omitted) == left_out
    about = vars(chat) | {"seconds": [message.seconds for message in chat.messages]}
    assert {key: about[key] for key in known} == known


@pytest.mark.parametrize("lines", [False, True], ids=["JSON", "JSON Lines"])
def test_several_conversations_in_one_file(write, lines):
    records = [{"id": "a", "messages": messages()}, messages(), {"id": 7, "messages": messages()}]
    chats = list(read_chats([write("x.jsonl" if lines else "x.json", records, lines=lines)]))
    assert [chat.id for chat in chats] == ["a", "x-2", "7"]


def test_an_export_of_chatgpt_as_it_is_downloaded(tmp_path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps([export(ask=node("user", ["Hi"], None))]))
    assert said(one(tmp_path / "export.zip")) == [("user", "Hi")]


def test_a_tree_of_chatgpt_as_deep_as_it_likes():
    nodes = {str(n): node("user", [str(n)], str(n - 1) if n else None) for n in range(5000)}
    assert len(read_chatgpt(export(**nodes)).messages) == 5000


# inspect_ai


def log():
    sample = {"id": "s", "epoch": 1, "messages": messages(), "attachments": {"a": "b"}}
    return {"eval": {"task": "t", "model": "m"}, "samples": [sample, sample | {"epoch": 2}]}


def test_a_log_of_inspect_in_json_and_as_an_archive(write, tmp_path):
    whole = log()
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        for sample in whole["samples"]:
            archive.writestr(f"samples/s_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps({"eval": whole["eval"]}))
    expected = [(f"t-s-epoch{epoch}", "m", TALK) for epoch in (1, 2)]
    for path in (write("log.json", whole), tmp_path / "log.eval"):
        assert [(chat.id, chat.condition, said(chat)) for chat in read_chats([path])] == expected


# All of them

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=6)


@given(TALKS)
def test_texts_stay_character_by_character(talk):
    chat = read_list({"messages": messages(talk)})
    assert said(chat) == talk
    chat = read_list(json.loads(json.dumps(chat.to_dict())))
    assert said(chat) == talk
    chat = read_list({"conversations": [{"from": role, "value": text} for role, text in talk]})
    assert said(chat) == talk
    nodes = {
        str(n): node(role, [text], str(n - 1) if n else None) for n, (role, text) in enumerate(talk)
    }
    chat = read_chatgpt(export(**nodes))
    assert said(chat) == [(role, text) for role, text in talk if text or role == "user"]


@given(TEXTS.filter(lambda text: text == text.rstrip("\r\n") and not text.startswith((" ", "\t"))))
def test_a_text_in_a_transcript_stays_character_by_character(text):
    if any(":" in line for line in text.splitlines()):
        return
    chat = read_transcript(Transcript(f"User: {text}\nAssistant: yes"))
    assert said(chat) == [("user", text), ("assistant", "yes")]


@given(TALKS, st.text(min_size=1, alphabet="ab"), st.none() | st.text(min_size=1, alphabet="xy"))
def test_what_is_written_is_read_again_the_same(talk, name, participant):
    chat = Chat(name, tuple(Message(role, text) for role, text in talk), participant=participant)
    again = read_list(json.loads(json.dumps(chat.to_dict())))
    assert again == chat


def test_the_summary_names_what_is_not_among_the_texts(write):
    parts = [{"type": "image", "source": {}}]
    listed = [{"role": "system", "content": "x"}, {"role": "user", "content": parts}, messages()[1]]
    summary = ImportSummary()
    alone = {"id": "alone", "messages": [messages()[0]]}
    list(
        read_chats(
            [write("a.jsonl", [listed, {"messages": []}, alone], lines=True)], summary=summary
        )
    )
    form, amount, left_out, unknown = summary.lines()
    naming.check(form, "a.jsonl: ")
    naming.check(amount, 2, 3, 1)
    counted = dict.fromkeys(["conversation without any message", "image", "system message"], 1)
    assert summary.omitted == counted
    naming.check(left_out, *(f"1 {what}" for what in counted))
    naming.check(unknown, 2, "--condition")


GOOD = {"messages": [{"role": "user", "content": "Hi"}]}
LINE = json.dumps(GOOD)


NO_CONVERSATIONS = {  # file, content, what of it is named
    "empty": ("a.jsonl", "", []),
    "an empty object, and no JSON": ("a.jsonl", "{}\n{]\n", ["line 1:"]),
    "no JSON, and a number": ("a.jsonl", "{]\n7\n", ["line 1:", "column 2:"]),
    "not closed": ("a.json", '[\n {"messages": [}]', ["line 2,", "column 16:"]),
    "other keys": ("a.jsonl", '{"prompt": "x"}\n', ["line 1:", "prompt"]),
    "a number": ("a.json", "[7]", ["conversation 1:"]),
    "a text for messages": ("a.json", {"messages": "Hi"}, ["messages:"]),
    "a number for a content": ("a.json", {"messages": [{"role": "user", "content": 3}]}, ["messages[1].content:"]),
    "another role": ("a.json", {"messages": [{"role": "judge", "content": ""}]}, ["messages[1].role:", "'judge'"]),
    "no role": ("a.json", {"messages": [{"content": ""}]}, ["messages[1].role:"]),
    "an object for a list": ("a.json", {"conversation": {}}, ["conversation:"]),
    "a sample without messages": ("a.json", {"eval": {}, "samples": [{"id": 1}]}, ["samples[1]:", "messages:"]),
    "a list for a tree": ("a.json", {"mapping": []}, ["mapping:"]),
    "a circle": ("a.json", export(a={"parent": "b", "message": None}, b={"parent": "a", "message": None}),
                 ["mapping: ", "'b'"]),
    "a parent that is not there": ("a.json", export(a={"parent": "zz", "message": None}), ["mapping", "'zz'"]),
    "another role in a tree": ("a.json", export(a=node("narrator", ["x"], None)), ["'narrator'"]),
    "prose": ("a.txt", "\n\nOnce upon a time", ["line 3:"]),
    "one side": ("a.txt", "User: Hi", []),
    "a table": ("a.csv", "user,assistant\nHi,Hello", ["line 1:"]),
    "Parquet": ("a.parquet", b"PAR1....", ["parquet"]),
    "a zero byte": ("a.txt", b"User: \0", ["line 1:"]),
    "no UTF-8 in JSON": ("a.json", b'\xef\xbb\xbf["\n\xff"]', ["line 2,", "byte 4:"]),
    "no UTF-8 in a text": ("a.txt", b"User: a\nAssistant: \xe9", ["line 2,", "byte 20:"]),
    "deep": ("a.json", "[" * 200_000 + "]" * 200_000, []),
    "a number of 5001 digits": ("a.json", '{"messages": 1' + "0" * 5000 + "}", [4300]),
    "NaN": ("a.json", '{"messages": NaN}', ["messages:"]),
    "half a character": ("a.json", {"messages": [{"role": "user", "content": "a\ud800"}]}, ["message 1", r"\ud800"]),
    "an id twice": ("a.jsonl", f'{{"id": "x", {LINE[1:]}\n' * 2, ["line 2:", "'x'", "line 1"]),
    "an archive cut short": ("a.eval", b"PK\x03\x04 cut short", []),
}  # fmt: skip


@pytest.mark.parametrize("fault", NO_CONVERSATIONS)
def test_a_file_that_is_no_conversation(write, fault):
    name, content, named = NO_CONVERSATIONS[fault]
    path = write(name, content)
    with naming.refused(f"{path}: ", *named):
        list(read_chats([path]))


def packed(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def test_archives_of_other_things(tmp_path):
    with naming.refused("a.zip: ", "header.json"):
        list(read_chats([packed(tmp_path / "a.zip", readme="x")]))
    damaged = packed(tmp_path / "a.eval", **{"header.json": "{}", "samples/a.json": "{"})
    with naming.refused("a.eval: ", "samples/a.json: ", "column 2: "):
        list(read_chats([damaged]))


def test_no_more_is_unpacked_than_can_be_held(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LARGEST", 1000)
    bomb = packed(tmp_path / "a.eval", **{"header.json": "[" + " " * 100_000 + "]"})
    with naming.refused("a.eval: ", "header.json: "):
        list(read_chats([bomb]))
    (tmp_path / "a.json").write_text("[" + " " * 2000 + "]")
    with naming.refused("a.json: "):
        list(read_chats([tmp_path / "a.json"]))
    (tmp_path / "a.jsonl").write_text(f"{LINE}\n[{' ' * 2000}]")
    with naming.refused("a.jsonl: ", "line 2: "):
        list(read_chats([tmp_path / "a.jsonl"]))


def test_an_archive_that_this_python_cannot_unpack(tmp_path):
    path = packed(tmp_path / "a.eval", **{"header.json": "{}"})
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02") + 10
    path.write_bytes(content[:at] + (90).to_bytes(2, "little") + content[at + 2 :])
    with naming.refused("a.eval: ", "header.json: ", "--to", "--output-dir"):
        list(read_chats([path]))


def test_a_file_whose_name_is_not_utf8(tmp_path):
    path = tmp_path / b"a\xff.json".decode("utf-8", "surrogateescape")
    path.write_text(LINE)
    with naming.refused(path):
        list(read_chats([path]))
    assert [chat.id for chat in read_chats([path], new_ids=True)] == ["c1"]


def test_a_conversation_in_two_files(write):
    first, second = write("a.json", {"id": "x"} | GOOD), write("b.json", {"id": " x "} | GOOD)
    with naming.refused("b.json: ", "'x'", "a.json", "--new-ids"):
        list(read_chats([first, second]))
    assert [chat.id for chat in read_chats([first, second], new_ids=True)] == ["c1", "c2"]


# Any other value anywhere

VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        1e400,
        "",
        "x",
        "user",
        "text",
        [],
        {},
        ["x"],
        {"x": 1},
        {"type": "text"},
    ]
)
RECORDS = {
    "a list": OPENAI,
    "parts": ANTHROPIC,
    "ChatGPT": export(**UNSEEN),
    "Claude": {"uuid": "x", "name": "t", "chat_messages": CLAUDE},
    "ShareGPT": {"id": "x", "conversations": SHAREGPT, "system": "s", "model": "m"},
    "WildChat": WILDCHAT,
    "ours": {
        "messages": messages(),
        "omitted": [{"before": 1, "what": "image", "text": ""}],
        "title": "t",
    },
    "inspect_ai": log(),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
@given(data=st.data())
def test_another_value_anywhere_is_read_or_refused(record, data, tmp_path_factory):
    path = data.draw(st.sampled_from(list(places(record))))
    file = tmp_path_factory.getbasetemp() / "changed.jsonl"
    file.write_text(json.dumps(changed(record, path, data.draw(VALUES))) + "\n", "utf-8")
    chats = read_or_refused(file, f"{file}: line 1: ")
    assert all(type(one.text) is str for chat in chats for one in chat.messages)
    json.dumps([chat.to_dict() for chat in chats], allow_nan=False)


def read_or_refused(file, where):
    """Conversations of a file; none if it is refused by a message that begins with the place."""
    try:
        return list(read_chats([file]))
    except UserError as error:
        message = str(error)
    assert message.startswith(where)
    return []


@given(st.binary(max_size=200) | st.sampled_from([b"PK\x03\x04", b"[", b"{", b"User:", b"PAR1"]).flatmap(
    lambda start: st.binary(max_size=60).map(lambda rest: start + rest)))  # fmt: skip
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "bytes"
    file.write_bytes(content)
    read_or_refused(file, f"{file}: ")


# Ids and times as other programs write them


@pytest.mark.parametrize(
    ("name", "read"), [(7, "7"), (7.0, "7"), ("07", "07"), (2**60, str(2**60))]
)
def test_a_number_is_an_id(name, read):
    assert read_list({"id": name, "messages": messages()}).id == read


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9], ids=["s", "ms", "us", "ns"])
def test_times_since_1970_are_read_in_any_unit(unit):
    talk = [
        {"sender": sender, "text": "x", "created_at": moment * unit}
        for sender, moment in (("human", 1_758_276_000), ("assistant", 1_758_276_007.5))
    ]
    chat = read_list({"chat_messages": talk})
    assert [message.seconds for message in chat.messages] == [0, pytest.approx(7.5, abs=1e-3)]
