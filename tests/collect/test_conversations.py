"""Conversations to rate come from a JSON Lines file; what can't be rated is named by its line."""

import json

import pytest

from sense7.collect import study as module
from sense7.collect.study import read_conversations
from sense7.errors import UserError

TURN = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def write(tmp_path, *lines):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


@pytest.mark.parametrize(
    ("largest", "lines", "said"),
    [
        (10, [{"id": "a", "messages": TURN}], "larger than"),
        (10, [""], "holds no"),
        (99, ["{"], "line 1, column 2: no JSON"),
    ],
)
def test_a_file_without_conversations_is_refused(tmp_path, monkeypatch, largest, lines, said):
    monkeypatch.setitem(module.LARGEST, "file of conversations", largest)
    with pytest.raises(UserError, match=said):
        read_conversations(write(tmp_path, *lines))


def test_texts_are_kept_to_the_character(tmp_path):
    text = " two  spaces\r\n\ttab\u2028 \u202ertl </script> =1+1 \U0001f600\n"
    line = {"id": 7, "participant": "P1", "source": "x", "topic": None}
    line |= {"messages": [*TURN, {"role": "assistant", "content": text, "at": 3}]}
    read = read_conversations(write(tmp_path, "", line, "  "))
    assert read == [{"id": "7", "participant": "P1", "messages": [*TURN, {"role": "assistant", "content": text}]}]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "first", "messages": [{"role": "assistant"}]}', "id 'first' stands in line 1, too"),
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
        ('{"id": "a", "id": "b", "messages": []}', "the key 'id' twice"),
    ],
)
def test_what_can_not_be_rated_is_refused_with_its_line(tmp_path, line, said):
    path = write(tmp_path, {"id": "first", "messages": TURN}, line)
    with pytest.raises(UserError) as refused:
        read_conversations(path)
    assert str(refused.value).startswith(f"{path}: line 2: ")
    assert said in str(refused.value)
