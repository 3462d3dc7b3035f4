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
