"""Conversations to rate come from a JSON Lines file; what can't be rated is named by its line."""

import json

import pytest

from sense7.collect.study import read_conversations
from sense7.errors import UserError

TURN = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def write(tmp_path, *lines):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


@pytest.mark.parametrize(("lines", "said"), [([""], "empty"), ([" "], "both sides"), (["{"], "column 2: no JSON")])
def test_a_file_without_conversations_is_refused(tmp_path, lines, said):
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
        ('{"id": "first", "messages": [{"role": "assistant"}]}', "line 2: the id 'first' is also that of"),
        ("[]", "line 2: no known form of a conversation"),
        ({"id": "=cmd()", "messages": TURN}, "conversation '=cmd()': id: '=cmd()' is no text"),
        ({"id": "a", "participant": "@x", "messages": TURN}, "conversation 'a': participant: '@x' is no text"),
        ({"id": "a", "messages": TURN[:1]}, "conversation 'a': no message of the assistant"),
        ({"id": "a", "messages": [*TURN, {"role": "judge", "content": ""}]}, "line 2: messages[3].role: 'judge'"),
        ({"id": "a", "messages": [*TURN, "x"]}, "line 2: messages[3]: expected an object"),
        ({"id": "a", "messages": [{"role": "assistant", "content": [1]}]}, "line 2: messages[1].content[1]: expected"),
        ({"id": "a", "messages": [{"role": "assistant", "content": "x" * 32_768}]}, "too many for a workbook's cell"),
        ({"id": "a", "messages": [{"role": "assistant", "content": "\ud83d"}]}, "half of a surrogate pair"),
    ],
)
def test_what_can_not_be_rated_is_refused_with_its_place(tmp_path, line, said):
    path = write(tmp_path, {"id": "first", "messages": TURN}, line)
    with pytest.raises(UserError) as refused:
        read_conversations(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)
