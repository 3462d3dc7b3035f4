"""Files that can't be read as conversations are refused with file, place and what was expected; nothing is written."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.exchange import read_chats, records

GOOD = {"messages": [{"role": "user", "content": "Hi"}]}
LINE = json.dumps(GOOD)


def refusal(path):
    with pytest.raises(UserError) as caught:
        list(read_chats([path]))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        ("a.jsonl", "{}\n{]\n", "a.jsonl: line 1: no known form of a conversation; it is an object"),
        ("a.jsonl", "{]\n7\n", "a.jsonl: line 1: column 2: no JSON"),
        ("a.json", '[\n {"messages": [}]', "a.json: line 2, column 16: no JSON"),
        ("a.jsonl", '{"prompt": "x"}\n', "a.jsonl: line 1: no known form of a conversation; it has pro"),
        ("a.json", "[7]", "a.json: conversation 1: no known form of a conversation; it is a number"),
        ("a.json", {"messages": "Hi"}, "a.json: messages: expected a list, found a text"),
        ("a.json", {"messages": [{"role": "user", "content": 3}]}, "messages[1].content: expected an object, found"),
        ("a.json", {"messages": [{"role": "judge", "content": ""}]}, "messages[1].role: 'judge' is no known role; ex"),
        ("a.json", {"messages": [{"content": ""}]}, "messages[1].role: expected a text, found null"),
        ("a.json", {"conversation": {}}, "conversation: expected a list, found an object"),
        ("a.json", {"eval": {}, "samples": [{"id": 1}]}, "samples[1]: messages: expected a list, found null"),
        ("a.json", {"mapping": []}, "mapping: expected an object, found a list"),
        ("a.txt", "\n\nOnce upon a time", "a.txt: line 3: expected a message that begins with its speaker, as"),
        ("a.txt", "User: Hi", "a.txt: expected messages of both sides"),
        ("a.csv", "user,assistant\nHi,Hello", "a.csv: line 1: expected a message that begins with its speaker"),
        ("a.parquet", b"PAR1....", "a.parquet: a parquet file. Save it as JSON Lines first"),
        ("a.txt", b"User: \0", "a.txt: line 1: a zero byte"),
        ("a.json", b'\xef\xbb\xbf["\n\xff"]', "a.json: line 2, byte 4: not UTF-8"),
        ("a.txt", b"User: a\nAssistant: \xe9", "a.txt: line 2, byte 20: not UTF-8"),
        ("a.json", "[" * 200_000 + "]" * 200_000, "a.json: nested too deeply"),
        ("a.json", '{"messages": 1' + "0" * 5000 + "}", "a.json: Exceeds the limit"),
        ("a.json", '{"messages": NaN}', "a.json: messages: expected a list, found null"),
        ("a.json", {"messages": [{"role": "user", "content": "a\ud800"}]}, "a text has half of a"),
        ("a.jsonl", f'{{"id": "x", {LINE[1:]}\n' * 2, "a.jsonl: line 2: the id 'x' is also that of"),
        ("a.eval", b"PK\x03\x04 cut short", "a.eval: damaged or cut short"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_conversation(write, name, content, problem):
    assert problem in refusal(write(name, content))


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def test_archives_of_other_things(tmp_path):
    assert "a workbook already" in refusal(archive(tmp_path / "a.xlsx", **{"[Content_Types].xml": ""}))
    assert "an archive without header.json" in refusal(archive(tmp_path / "a.zip", readme="x"))
    damaged = archive(tmp_path / "a.eval", **{"header.json": "{}", "samples/a.json": "{"})
    assert "a.eval: samples/a.json: column 2: no JSON" in refusal(damaged)


def test_no_more_is_unpacked_than_can_be_held(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LARGEST", 1000)
    bomb = archive(tmp_path / "a.eval", **{"header.json": "[" + " " * 100_000 + "]"})
    assert "a.eval: header.json: more than" in refusal(bomb)
    (tmp_path / "a.json").write_text("[" + " " * 2000 + "]")
    assert "a.json: more than" in refusal(tmp_path / "a.json")
    (tmp_path / "a.jsonl").write_text(f"{LINE}\n[{' ' * 2000}]")
    assert "a.jsonl: line 2: more than" in refusal(tmp_path / "a.jsonl")


def test_an_archive_that_this_python_cannot_unpack(tmp_path):
    path = archive(tmp_path / "a.eval", **{"header.json": "{}"})
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02") + 10
    path.write_bytes(content[:at] + (90).to_bytes(2, "little") + content[at + 2 :])
    assert "a.eval: header.json: can't be unpacked (That compression method is not supported). Unpack it" in refusal(
        path
    )


def test_nothing_is_written_when_a_later_line_is_refused(write, run, tmp_path):
    path = write("a.jsonl", f'{{"id": "x", {LINE[1:]}\n' * 2)
    with pytest.raises(UserError, match="line 2"):
        run(path, "--out", "chats.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_file_whose_name_is_not_utf8(tmp_path):
    path = tmp_path / b"a\xff.json".decode("utf-8", "surrogateescape")
    path.write_text(LINE)
    assert "a text has half of a surrogate pair" in refusal(path)
    assert [chat.id for chat in read_chats([path], new_ids=True)] == ["c1"]


def test_a_conversation_in_two_files(write):
    first, second = write("a.json", {"id": "x"} | GOOD), write("b.json", {"id": " x "} | GOOD)
    with pytest.raises(UserError, match=r"b.json: the id 'x' is also that of .*a.json. Remove one"):
        list(read_chats([first, second]))
    assert [chat.id for chat in read_chats([first, second], new_ids=True)] == ["c1", "c2"]


# Any other value anywhere

VALUES = st.sampled_from(
    [None, True, 0, -1, 1.5, 1e400, "", "x", "user", "text", [], {}, ["x"], {"x": 1}, {"type": "text"}]
)
TEXT = {"type": "text", "text": "a"}
CALLS = [{"function": {"name": "f"}}]
NODE = {
    "parent": None,
    "message": {
        "author": {"role": "user", "name": "n"},
        "content": {
            "content_type": "multimodal_text",
            "parts": ["a", {"content_type": "audio_transcription", "text": "b"}],
        },
        "create_time": 1.0,
        "metadata": {"model_slug": "m"},
        "recipient": "all",
    },
}
RECORDS = [
    {
        "id": "x",
        "system": "s",
        "messages": [{"role": "assistant", "content": [TEXT], "tool_calls": CALLS, "seconds": 1}],
    },
    {
        "messages": [{"role": "user", "content": "a"}],
        "omitted": [{"before": 1, "what": "image", "text": ""}],
        "title": "t",
    },
    {"id": "x", "mapping": {"a": NODE, "b": {"parent": "a", "message": None}}, "current_node": "b", "title": "t"},
    {
        "uuid": "x",
        "name": "t",
        "chat_messages": [{"sender": "human", "text": "a", "created_at": "2025-09-19", "files": []}],
    },
    {"id": "x", "conversations": [{"from": "human", "value": "a"}], "system": "s", "model": "m"},
    {"conversation_hash": "x", "conversation": [{"role": "user", "content": "a"}], "hashed_ip": "p", "model": "m"},
    {
        "eval": {"task": "t", "model": "m"},
        "samples": [{"id": "s", "epoch": 1, "messages": [{"role": "user", "content": "a"}], "attachments": {"a": "b"}}],
    },
]


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    changed = value.copy()
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


@pytest.mark.parametrize("record", RECORDS, ids=" ".join)
@given(data=st.data())
def test_another_value_anywhere_is_read_or_refused(record, data, tmp_path_factory):
    path = data.draw(st.sampled_from(list(places(record))))
    file = tmp_path_factory.getbasetemp() / "changed.jsonl"
    file.write_text(json.dumps(replaced(record, path, data.draw(VALUES))) + "\n", "utf-8")
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
