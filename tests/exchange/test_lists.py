"""Lists of messages: texts stay as they are, other parts are counted, no key that may hold a text is passed over."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.chats import ANTHROPIC, ASSISTANT, GEMINI, OPENAI, TALK, USER
from sense7.exchange import Chat, Message, read_chats
from sense7.exchange.messages import read_list

LISTS = {
    "OpenAI": (OPENAI, ["image", "reasoning", "system message", "tool call", "tool result"]),
    "Anthropic": (ANTHROPIC, ["reasoning", "system message", "tool call", "tool result"]),
    "Gemini": (GEMINI, ["reasoning", "tool call"]),
    "a list alone": ([USER, ASSISTANT], []),
    "a refusal": ([USER, {"role": "assistant", "content": None, "refusal": TALK[1][1]}], []),
    "metadata": ({"title": "t", "temperature": 1, "stop": ["x"], "messages": [USER, ASSISTANT]}, []),
    "empty values": ({"tags": [], "note": "", "messages": [USER, {**ASSISTANT, "audio": None}]}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_texts_are_read_and_other_parts_are_counted(read, name):
    record, left_out = LISTS[name]
    assert read("a.json", record) == ([TALK], dict.fromkeys(left_out, 1))


def test_each_record_is_one_conversation(read, write):
    records = [{"id": "a", "messages": [USER, ASSISTANT]}, [USER, ASSISTANT], {"messages": [USER]}]
    records[2]["messages"] = [{"role": "user", "content": "Hi"}]
    for name in ("x.json", "x.jsonl"):
        assert read(name, records)[0] == [TALK, TALK, [("user", "Hi")]]
        chats, _ = read_chats([write(name, records, lines=name.endswith("l"))])
        assert [chat.id for chat in chats] == ["a", "x-2", "x-3"]


def test_facts_come_along(read, write):
    about = {"participant": 7, "topic": "work", "messages": [USER, {**ASSISTANT, "model": "m"}]}
    [chat], _ = read_chats([write("a.json", about)])
    assert (chat.participant, chat.condition, chat.topic) == ("7", None, "work")
    [chat], _ = read_chats([write("a.json", about)], participant="P1", condition="c")
    assert (chat.participant, chat.condition) == ("P1", "c")
    [chat], _ = read_chats([write("a.json", about)], condition="{model}")
    assert chat.condition == "m"


def test_only_a_message_that_nobody_saw_is_left_out_whole(read):
    said = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}, {"id": "2"}]},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": None},
    ]
    kept = [("user", ""), ("assistant", ""), ("user", "")]
    assert read("a.json", said) == ([kept], {"image": 1, "tool call": 2})


SOMETHING = ["a text", ["a list"], {"an": "object"}]


@pytest.mark.parametrize("value", SOMETHING, ids=["text", "list", "object"])
@pytest.mark.parametrize(
    "key", ["response", "output", "completion", "choices", "audio", "children"]
)
def test_a_key_that_is_not_known_refuses_the_file_wherever_it_stands(refuse, key, value):
    more = {key: value}
    block = [{"type": "text", "text": "x", **more}]
    records = {
        "line 2": {"messages": [USER, ASSISTANT], **more},
        "line 2: messages[2]": [USER, {**ASSISTANT, **more}],
        "line 2: messages[1].content[1]": [{"role": "user", "content": block}],
    }
    for place, record in records.items():
        refuse("a.jsonl", [[USER, ASSISTANT], record], f"{place}: ", repr(key))


REFUSED = {
    "another role": ([USER, {"role": "narrator", "content": "x"}], "messages[2].role: ", "narrator"),
    "a content that is a number": ([{"role": "user", "content": 3}], "messages[1].content: "),
    "another type of a block": ([{"role": "user", "content": [{"type": "hologram"}]}], "[1]: ", "hologram"),
    "a text that is no text": ([{"role": "user", "content": [{"type": "text", "text": {"value": "x"}}]}], "[1].text: "),
    "a thought that is a text": ([{"role": "model", "parts": [{"text": "x", "thought": "y"}]}], "'thought'"),
    "two places of a text": ([{**USER, "parts": [{"text": "y"}]}], "messages[1]: ", "content and parts"),
    "half a character": ([{"role": "user", "content": "a\ud800"}], "messages[1].content: ", "U+D800"),
    "a mark of ChatGPT's page": ([{"role": "user", "content": "\ue200cite\ue201"}], "messages[1].content: ", "U+E200"),
    "a text behind a tool call": ([{"role": "assistant", "content": [
        {"type": "text", "text": "one"}, {"type": "tool_use", "input": {}}, {"type": "text", "text": "two"}]}],
        "content[3]: ", "tool call"),
    "seconds without end": ([{**USER, "seconds": 10**400}], "messages[1].seconds: "),
    "messages and contents": ({"messages": [USER], "contents": [USER]}, "'contents'"),
    "a participant that is a list": ({"messages": [USER], "participant": ["P1"]}, "participant: "),
    "ShareGPT": ({"conversations": [{"from": "human", "value": "x"}]}, "conversations"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_read_is_refused_with_its_place(refuse, name):
    record, *named = REFUSED[name]
    refuse("a.json", record, *named)


def test_texts_around_a_left_out_part_are_joined_where_white_space_parts_them(read):
    content = [
        {"type": "text", "text": "one\n"},
        {"type": "tool_use"},
        {"type": "text", "text": "two"},
    ]
    assert read("a.json", [{"role": "assistant", "content": content}])[0] == [[("assistant", "one\ntwo")]]  # fmt: skip


# Times

TIMES = {
    "ISO 8601": ["2026-03-29T01:00:00Z", "2026-03-29T03:00:07.5+02:00"],
    "ISO 8601 without a zone": ["2026-03-29 01:00:00", "2026-03-29 01:00:07.5"],
    "seconds": [1_774_746_000, 1_774_746_007.5],
    "milliseconds": [1_774_746_000_000, 1_774_746_007_500],
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("key", ["timestamp", "createdAt", "time", "ts"])
def test_times_become_seconds_since_the_first_and_may_go_back(write, times, key):
    said = [{**USER, key: times[0]}, USER, {**ASSISTANT, key: times[1]}]
    [chat], _ = read_chats([write("a.json", said)])
    assert [message.seconds for message in chat.messages] == [0, None, 7.5]
    said = [{**USER, key: times[1]}, {**ASSISTANT, key: times[0]}]
    [chat], _ = read_chats([write("a.json", said)])
    assert [message.seconds for message in chat.messages] == [0, -7.5]


@pytest.mark.parametrize(
    "time",
    ["Sun, 29 Mar 2026 01:00:00 GMT", "3/29/2026 1:00 PM", "1774746000", "1711012340612", "2026-03-29", 1.7e15, 10**400,
     True, [], {"$date": 1}],
)  # fmt: skip
def test_other_times_are_refused(refuse, time):
    refuse("a.json", [USER, {**ASSISTANT, "timestamp": time}], "messages[2].timestamp: ")


def test_times_with_and_without_a_zone_can_not_be_compared(refuse):
    times = ("2026-03-29T01:00:00", "2026-03-29T01:00:00Z")
    refuse("a.json", [{**USER, "timestamp": time} for time in times], "zone")


# All of them

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ue200\ue201\ue202"))
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=6)


@given(TALKS, st.text(min_size=1, alphabet="ab"), st.none() | st.floats(-1e9, 1e9))
def test_what_is_written_is_read_again_the_same(talk, name, seconds):
    chat = Chat(name, tuple(Message(role, text, seconds) for role, text in talk), topic="t")
    assert read_list(json.loads(json.dumps(chat.to_dict())), "", []) == chat


# Logs of calls


MORE = [USER, ASSISTANT, {"role": "user", "content": "They closed."}]
OTHER = [{"role": "user", "content": "Hello"}]
LOGS = {
    "what was sent": [[USER], OTHER, MORE],
    "with its answer": [MORE[:2], [*MORE, ASSISTANT], OTHER, [*MORE, ASSISTANT, USER, ASSISTANT]],
}


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("name", ["log.json", "log.jsonl"])
def test_a_log_with_a_line_for_each_call_is_refused(refuse, name, log, newest_first):
    calls = [{"id": str(number), "messages": sent} for number, sent in enumerate(log)]
    refuse(name, calls[::-1] if newest_first else calls, "API", "last line")


def test_one_session_in_several_lines_is_refused(refuse):
    said = [{"role": "user", "content": text} for text in "ab"]
    lines = [{"id": one["content"], "session_id": "s", "messages": [one]} for one in said]
    refuse("log.jsonl", lines, "line 2: ", "'s'", "line 1", "API")


def test_conversations_may_begin_with_the_same_greeting_or_alike_in_two_files(read, write):
    assert len(read("a.jsonl", [MORE[:2], MORE, MORE[:2]])[0]) == 3
    assert len(read_chats([write("a.json", MORE), write("b.json", [USER])])[0]) == 2
