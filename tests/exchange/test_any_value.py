"""Any JSON value in the place of any other: a refusal, or a conversation that holds nothing but texts of the file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.changing import changed, places
from helpers.chats import ANTHROPIC, CHATGPT, GEMINI, OPENAI
from sense7.errors import UserError
from sense7.exchange import read_chats

RECORDS = {"OpenAI": OPENAI, "Anthropic": ANTHROPIC, "Gemini": GEMINI, "ChatGPT": CHATGPT}
OWN = [
    "text",
    "user",
    "assistant",
    "thinking",
    "image",
    "hidden",
    "\ue200x\ue201",
    "\ud800",
    "a: b",
]
TEXTS = st.sampled_from(OWN) | st.text(max_size=8)
KEYS = st.sampled_from(
    ["type", "text", "content", "parts", "role", "messages", "thought", "alt", "matched_text"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def texts_in(value):
    """Every text that a JSON value holds, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def is_made_of(text, pieces):
    """Whether a text is some of the pieces, one after the other."""
    reached = {0}
    for start in range(len(text)):
        if start in reached:
            reached.update(start + len(piece) for piece in pieces if text.startswith(piece, start))
    return len(text) in reached


def read_or_refused(path):
    """The conversations of a file; none where it is refused by a message that begins with the file."""
    try:
        return read_chats([path])[0]
    except UserError as error:
        refusal = str(error)
    assert refusal.startswith(f"{path}: ")
    return []


@pytest.mark.parametrize("name", RECORDS)
@given(data=st.data())
def test_another_value_anywhere_is_refused_or_adds_nothing(name, data, tmp_path_factory):
    place = data.draw(st.sampled_from(list(places(RECORDS[name]))))
    record = changed(RECORDS[name], place, data.draw(VALUES))
    path = tmp_path_factory.getbasetemp() / "changed.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    pieces = {text for text in texts_in(record) if text}
    for chat in read_or_refused(path):
        assert all(is_made_of(message.text, pieces) for message in chat.messages)
        json.dumps(chat.to_dict(), allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", RECORDS)
@given(data=st.data())
def test_a_text_under_a_new_key_anywhere_is_read_counted_or_refused(name, data, tmp_path_factory):
    """Only what the schema leaves out by name, or takes for a fact, may hold a text that no message holds."""
    objects = [
        place for place in places(RECORDS[name]) if isinstance(value_at(RECORDS[name], place), dict)
    ]
    place = data.draw(st.sampled_from(objects))
    key = data.draw(st.sampled_from(["response", "said", "answer", "reply"]))
    record = changed(RECORDS[name], (*place, key), "something that was said")
    path = tmp_path_factory.getbasetemp() / "more.json"
    path.write_text(json.dumps(record), "utf-8")
    if passes(name, place):
        assert read_or_refused(path)
    else:
        assert not read_or_refused(path)


def value_at(value, place):
    for step in place:
        value = value[step]
    return value


def passes(name, place):
    """Whether an object lies in what is left out whole: metadata, calls, messages that were not shown."""
    inside = {"metadata", "tool_calls", "input", "functionCall", "author"}
    if name == "OpenAI" and place in (("messages", 0), ("messages", 3)):
        return True
    if name == "ChatGPT" and len(place) > 1:
        is_shown = place[1] in ("ask", "answer")
        if place[1] == "old" or (len(place) > 3 and not is_shown):
            return True
    return not inside.isdisjoint(place)


@given(
    st.sampled_from([b"", b"PK\x03\x04", b"[", b"{", b"User:", b"\x1f\x8b"]).flatmap(
        lambda start: st.binary(max_size=60).map(lambda end: start + end)
    )
)
@pytest.mark.parametrize("ending", ["json", "jsonl", "txt"])
def test_any_bytes_are_read_or_refused(tmp_path_factory, ending, content):
    path = tmp_path_factory.getbasetemp() / f"bytes.{ending}"
    path.write_bytes(content)
    read_or_refused(path)
