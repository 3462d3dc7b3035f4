"""Each format is recognized by what it holds: texts stay character by character, and what is no text is named."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.extras import need_the_judge
from sense7.exchange import ImportSummary, read_chats
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
        "message": {"author": author, "content": content, "create_time": time, "metadata": metadata} | further,
    }


def export(**nodes):
    return {"title": "Work", "conversation_id": "abc", "mapping": nodes, "current_node": list(nodes)[-1]}


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
EMPTY = [{"role": "user", "content": ""}, {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]}]
TREE = {
    "root": {"parent": None, "message": None},
    "hello": node("system", [""], "root"),
    "ask": node("user", [TALK[0][1]], "hello", time=1000.5),
    "old": node("assistant", ["Well."], "ask", time=1001),
    "answer": node("assistant", [TALK[1][1]], "ask", time=1010.5),
}
UNSEEN = {
    "about": node("user", ["About me"], None, metadata={"is_visually_hidden_from_conversation": True}),
    "ask": node("user", [{"content_type": "image_asset_pointer"}, "Why?"], "about", kind="multimodal_text"),
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
SHAREGPT = [{"from": who, "value": text} for who, text in (("system", "Be kind."), ("human", "q"), ("gpt", "a"))]
WILDCHAT = {"conversation_hash": "h", "model": "gpt-4", "hashed_ip": "p", "turn": 1, "conversation": messages()}
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


@pytest.mark.parametrize(("name", "content", "talk", "left_out", "known"), FORMATS.values(), ids=FORMATS)
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
    chat = read_chatgpt(export(**nodes))
    assert len(chat.messages) == 5000


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ({"a": {"parent": "b", "message": None}, "b": {"parent": "a", "message": None}}, "its own ancestor"),
        ({"a": {"parent": "zz", "message": None}}, "'zz', which is named and not there"),
        ({"a": node("narrator", ["x"], None)}, "'narrator' is no known role"),
    ],
)
def test_a_broken_tree_of_chatgpt_is_refused(write, nodes, problem):
    with pytest.raises(Exception, match=rf"conversations.json: conversation 1: mapping.*{problem}"):
        one(write("conversations.json", [export(**nodes)]))


# inspect_ai


def log():
    sample = {"id": "s", "epoch": 1, "messages": messages(), "attachments": {}}
    return {"eval": {"task": "t", "model": "m"}, "samples": [sample, sample | {"epoch": 2}]}


def test_a_log_of_inspect_in_json(write):
    chats = list(read_chats([write("log.json", log())]))
    assert [(chat.id, chat.condition, said(chat)) for chat in chats] == [
        ("t-s-epoch1", "m", TALK),
        ("t-s-epoch2", "m", TALK),
    ]


def test_a_log_of_inspect_as_an_archive(tmp_path):
    whole = log()
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        for sample in whole["samples"]:
            archive.writestr(f"samples/s_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps({"eval": whole["eval"]}))
    assert [said(chat) for chat in read_chats([tmp_path / "log.eval"])] == [TALK, TALK]


@pytest.mark.long
def test_a_log_that_inspect_writes(tmp_path):
    need_the_judge()
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

    talk = [ChatMessageUser(content=TALK[0][1]), ChatMessageAssistant(content=TALK[1][1])]
    sample = EvalSample(id="s", epoch=1, input="x", target="", messages=talk)
    spec = EvalSpec(
        created="2025-09-19T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
    )
    for ending in ("eval", "json"):
        path = tmp_path / f"log.{ending}"
        write_eval_log(EvalLog(eval=spec, samples=[sample]), str(path), format=ending)
        assert said(one(path)) == TALK


# Plain text


def test_speakers_of_ones_own(write):
    chat = one(write("talk.txt", "Anna: Hi\nBot 2: Hello"), speakers={"anna": "user", "bot 2": "assistant"})
    assert said(chat) == [("user", "Hi"), ("assistant", "Hello")]


# All of them

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=6)


@given(TALKS)
def test_texts_stay_character_by_character(talk):
    chat = read_list({"messages": messages(talk)})
    assert said(chat) == talk
    chat = read_list(json.loads(json.dumps(chat.to_dict())))
    assert said(chat) == talk
    chat = read_list({"conversations": [{"from": role, "value": text} for role, text in talk]}, "conversations")
    assert said(chat) == talk
    nodes = {str(n): node(role, [text], str(n - 1) if n else None) for n, (role, text) in enumerate(talk)}
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
    list(read_chats([write("a.jsonl", [listed, {"messages": []}, alone], lines=True)], summary=summary))
    assert summary.lines()[0] == "a.jsonl: list of messages (OpenAI, Anthropic)"
    assert summary.lines()[1] == "2 conversations, 3 messages, 1 of them by the assistant"
    assert summary.lines()[2] == "left out: 1 conversation without any message, 1 image, 1 system message"
    assert summary.lines()[3] == "no model is named, so no condition is known: 2 conversations (give --condition)"
