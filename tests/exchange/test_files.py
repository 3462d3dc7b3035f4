"""Files: which form they have, what is no text or no JSON, how large they may be, and ids that no two share."""

import io
import json
import zipfile

import pytest

from helpers.chats import ASSISTANT, USER
from sense7.errors import UserError
from sense7.exchange import read_chats

LINE = json.dumps({"messages": [USER, ASSISTANT]})

# Plain text


def test_messages_of_plain_text_stay_character_by_character(read):
    text = "\ufeffUser: I lost it.\n\nAll: of it.\r\n\r\nAssistant:  Oh no.\n- a\nUser:\tYes\n"
    talk = [("user", "I lost it.\n\nAll: of it."), ("assistant", " Oh no.\n- a"), ("user", "\tYes")]
    assert read("talk.txt", text) == ([talk], {})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n\nOnce upon a time", 3),
        ("My chat\nUser: Hi\nAssistant: Hello", 1),
        ("User: Hi\nAssistant: Hello\nuser: Yes", 3),
        ("**User:** Hi\n**Assistant:** Hello", 1),
        ("System: Be kind.\nUser: Hi\nAssistant: Hello", 1),
        ("User: Hi\nAssistant\uff1a Hello", 2),
        ("user,assistant\nHi,Hello", 1),
        ("", 1),
    ],
)
def test_other_beginnings_of_a_message_are_refused_by_their_line(refuse, text, line):
    refuse("a.txt", text, f"line {line}: ", "User:", "Assistant:")


# What is no text, and no JSON


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", content)
    return packed.getvalue()


NO_JSON = {
    "zip": ("a.json", zipped(LINE), "compressed"),
    "no JSON": ("a.jsonl", LINE + "\n{]\n", "line 2: ", "column 2"),
    "not closed": ("a.json", '[\n {"messages": [}]', "line 2 column 16"),
    "JSON Lines of another name": ("a.json", f"{LINE}\n{LINE}", "line 2 column 1", ".jsonl"),
    "no UTF-8": ("a.json", b'["\n\xff"]', "line 2, ", "byte 4: "),
    "a zero byte": ("a.txt", b"User: \0", "line 1, "),
    "deep": ("a.json", "[" * 200_000 + "]" * 200_000),
    "a number of 5001 digits": ("a.json", '{"messages": 1' + "0" * 5000 + "}"),
    "a number that JSON does not have": ("a.json", '{"messages": NaN}', "messages: "),
    "a key twice": ("a.json", '[{"role": "user", "content": "a", "content": "b"}]', "twice"),
    "no list of messages": ("a.json", {"prompt": "x"}, "prompt", "messages", "mapping"),
}


@pytest.mark.parametrize("name", NO_JSON)
def test_a_file_that_holds_no_conversation_is_refused(refuse, name):
    file, content, *named = NO_JSON[name]
    refuse(file, content, *named)


# Ids


def test_ids_are_read_as_in_a_workbook(write):
    ids = [7, 7.5, "07", 2**60, None, "", " x "]
    lines = [{"id": name, "messages": [USER, ASSISTANT]} for name in ids]
    path = write("a.jsonl", lines, lines=True)
    read = ["7", "7.5", "07", str(2**60), "a-5", "a-6", "x"]
    assert [chat.id for chat in read_chats([path])[0]] == read


def test_no_two_conversations_have_one_id(write, refuse):
    chats = [{"id": name, "messages": [USER, ASSISTANT]} for name in ("x", " x ")]
    refuse("a.jsonl", chats, "line 2: ", "'x'", "line 1")
    paths = [write(f"{n}.json", chat) for n, chat in enumerate(chats)]
    with pytest.raises(UserError, match=r"1\.json: .*'x'.*0\.json"):
        read_chats(paths)


def test_a_file_whose_name_is_not_utf8_gives_no_id(tmp_path):
    path = tmp_path / b"a\xff.json".decode("utf-8", "surrogateescape")
    path.write_text(LINE)
    with pytest.raises(UserError, match="id: "):
        read_chats([path])
