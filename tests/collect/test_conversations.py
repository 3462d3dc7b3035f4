"""Conversations to rate come from a JSON Lines file; what can't be rated is named by its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.collect import conversations as module
from sense7.collect.conversations import read_conversations, strict_json
from sense7.errors import UserError

TURN = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def write(tmp_path, *lines):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


def test_texts_are_kept_to_the_character(tmp_path):
    text = " two  spaces\r\n\ttab\u2028 \u202ertl </script> =1+1 \U0001f600\n"
    read = read_conversations(write(tmp_path, {"id": 7, "messages": [*TURN, {"role": "assistant", "content": text}]}))
    assert read == [{"id": "7", "messages": [*TURN, {"role": "assistant", "content": text}]}]


def test_further_keys_and_blank_lines_are_passed_over(tmp_path):
    line = {"id": "a", "participant": "P1", "source": "x", "topic": None, "messages": [{**TURN[1], "at": 3}]}
    assert read_conversations(write(tmp_path, "", line, "  ")) == [
        {"id": "a", "participant": "P1", "messages": [TURN[1]]}
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON"),
        ("[]", "id and messages are needed"),
        ({"id": "a"}, "id and messages are needed"),
        ({"id": "", "messages": TURN}, "id: '' is no text"),
        ({"id": "=cmd()", "messages": TURN}, "begins with ="),
        ({"id": "a\u202eb", "messages": TURN}, "an invisible character"),
        ({"id": "a", "participant": "@x", "messages": TURN}, "participant: '@x' begins with"),
        ({"id": "a", "condition": ["x"], "messages": TURN}, "condition: "),
        ({"id": "a", "messages": []}, "no list of 1 to"),
        ({"id": "a", "messages": TURN[:1]}, "no message of the assistant"),
        ({"id": "a", "messages": [*TURN, {"role": "tool", "content": ""}]}, "message 3: role 'tool' is neither"),
        ({"id": "a", "messages": [*TURN, "x"]}, "message 3: role 'x'"),
        ({"id": "a", "messages": [{"role": "assistant", "content": [1]}]}, "message 1: content is no text"),
        ({"id": "a", "messages": [{"role": "assistant", "content": "x" * 32_768}]}, "too many for a workbook's cell"),
        ({"id": "a", "messages": [{"role": "assistant", "content": "\ud83d"}]}, "half a character"),
        ({"id": "a", "messages": [{**TURN[1], "seconds": -1}]}, "message 1: seconds: -1"),
        ('{"id": "a", "id": "b", "messages": []}', "the key 'id' stands twice"),
    ],
)
def test_what_can_not_be_rated_is_refused_with_its_line(tmp_path, line, said):
    path = write(tmp_path, {"id": "first", "messages": TURN}, line)
    with pytest.raises(UserError) as refused:
        read_conversations(path)
    assert str(refused.value).startswith(f"{path}: line 2: ")
    assert said in str(refused.value)


def test_an_id_stands_once(tmp_path):
    with pytest.raises(UserError, match="line 2: id 'a' stands in line 1, too"):
        read_conversations(write(tmp_path, {"id": "a", "messages": TURN}, {"id": "a", "messages": TURN}))


def test_an_empty_or_too_large_file_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="holds no conversation"):
        read_conversations(write(tmp_path, ""))
    monkeypatch.setattr(module, "LARGEST", 10)
    with pytest.raises(UserError, match="larger than"):
        read_conversations(write(tmp_path, {"id": "a", "messages": TURN}))


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", pytest.param("[" * 100_000, id="deep"), '{"a": {"b": 1, "b": 1}}', "", "1" * 5000]
)
def test_json_that_readers_understand_differently_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        strict_json(text)


PLAIN = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_all_other_json_is_read(content):
    assert strict_json(json.dumps(content)) == content
