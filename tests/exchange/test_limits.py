"""JSON that would fill the process: refused by its bytes, its values, or what an archive unpacks to."""

import json
import zipfile

import pytest

from helpers import naming
from sense7.exchange import records

CHAT = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi, and so on: [{" + "," * 200},
]


def packed(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", content)
    return path


def test_json_of_more_bytes_than_the_limit_is_refused_before_it_is_read(write, monkeypatch):
    content = json.dumps(CHAT).encode()
    path = write("chat.json", content)
    monkeypatch.setattr(records, "LARGEST", len(content))
    assert len(list(records.records(path))) == 1
    monkeypatch.setattr(records, "LARGEST", len(content) - 1)
    with naming.refused("chat.json: ", "0 MiB"):
        list(records.records(path))


def test_a_line_of_json_lines_has_the_limit_of_a_file_and_the_file_has_none(write, monkeypatch):
    path = write("chats.jsonl", [CHAT, CHAT, CHAT], lines=True)
    line = path.stat().st_size // 3
    monkeypatch.setattr(records, "LARGEST", line)
    assert len(list(records.records(path))) == 3
    monkeypatch.setattr(records, "LARGEST", line - 2)
    with naming.refused("chats.jsonl: ", "line 1: ", "0 MiB"):
        list(records.records(path))


def test_json_of_more_values_than_the_limit_is_refused_and_signs_in_its_texts_are_no_values(
    write, monkeypatch
):
    monkeypatch.setattr(records, "MOST_VALUES", 100)
    path = write("chat.json", CHAT)
    assert [record for _, record in records.records(path)] == [CHAT]
    path = write("many.json", "[" + "0," * 100 + "0]")
    with naming.refused("many.json: ", 100):
        list(records.records(path))


@pytest.mark.parametrize("unit", ["[", "0,"])
def test_json_of_ten_million_small_values_is_refused(unit, write):
    count = records.MOST_VALUES + 1
    with naming.refused("many.json: ", "10,000,000"):
        records.parsed(b"[" + unit.encode() * count, "many.json")


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused_before_it_is_unpacked(
    tmp_path,
):
    path = packed(tmp_path / "export.zip", b"[" + b" " * records.ALWAYS_SMALL + b"]")
    with naming.refused("export.zip: ", "16 MiB"):
        list(records.records(path))
    path = packed(
        tmp_path / "small.zip",
        b"[" + b" " * (records.ALWAYS_SMALL - 1_000) + json.dumps(CHAT).encode()[1:],
    )
    assert len(list(records.records(path))) == 1
