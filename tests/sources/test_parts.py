"""Data sets that are published in parts: fetched part by part, each verified, and converted to a workbook."""

import hashlib
import json
import re
from dataclasses import replace

import pytest

from helpers import naming
from sense7.errors import UserError
from sense7.loading import load
from sense7.sources import SOURCES, fetch, resolve
from sense7.sources.converters import rated_at_end
from sense7.sources.registry import SOURCE_SHEET, Source
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import read_sheets

FILES = {"data/chats.txt": b"hi|hello", "data/ratings.txt": b"4", "notes.txt": b"not converted"}


def convert(parts):
    user, assistant = parts["chats.txt"].read_text("utf-8").split("|")
    rating = int(parts["ratings.txt"].read_text("utf-8"))
    task = {"PID": "P1", "Model": "bot", "TaskId": "T1"}
    messages = [("user", user), ("assistant", assistant)]
    return official_sheets([(task, rated_at_end(messages, {"Affective": rating}))])


def pinned(address):
    return Source(
        name="theirs",
        title="Their data (Them, 2020)",
        address=address,
        licence="CC-BY-4.0",
        credit="Them: Their Paper.",
        kind="third-party",
        parts={path: hashlib.sha256(content).hexdigest() for path, content in FILES.items()},
        convert=convert,
        changes="One chat.",
    )


@pytest.fixture
def server(listening, monkeypatch):
    """Plays the repository of the third party."""
    monkeypatch.setitem(SOURCES, "theirs", pinned(listening.address("/commit/")))
    listening.answers |= {f"/commit/{path}": content for path, content in FILES.items()}
    return listening


def asked_for(server):
    asked = [path.removeprefix("/commit/") for path in server.asked]
    server.asked.clear()
    return asked


# From parts to a workbook


def test_the_parts_become_a_workbook_that_says_whose_data_it_holds(server, places, left_behind):
    path = fetch("theirs")
    assert asked_for(server) == list(FILES)
    found, provenance = resolve("theirs")
    assert found == path == places / "cache" / "theirs" / provenance.sha256[:16] / "theirs.xlsx"
    record = (places / "cache" / "theirs.provenance.json").read_text("utf-8")
    assert json.loads(record) == provenance.to_dict()
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in FILES.items()}
    assert provenance.parts == hashes
    assert provenance.address == server.address("/commit/")
    assert not provenance.mirror
    sheets = read_sheets(path)
    assert list(sheets) == ["Tasks", "Messages", SOURCE_SHEET]
    said = dict(sheets[SOURCE_SHEET].rows)
    naming.check(said["note"], "SENSE-7")
    given = [said[name] for name in ("credit", "licence", "changes")]
    assert given == ["Them: Their Paper.", "CC-BY-4.0", "One chat."]
    assert said["sha256 of data/chats.txt"] == hashes["data/chats.txt"]
    assert left_behind() == []


# Fetched once


def test_a_fetch_that_broke_off_goes_on_where_it_was(server, left_behind):
    del server.answers["/commit/data/ratings.txt"]
    with naming.refused("HTTP 404", server.address("/commit/data/ratings.txt"), "sense7 fetch"):
        fetch("theirs")
    assert asked_for(server) == ["data/chats.txt", "data/ratings.txt"]
    assert left_behind() == []
    with naming.refused("theirs", "sense7 fetch"):
        resolve("theirs")
    server.answers["/commit/data/ratings.txt"] = FILES["data/ratings.txt"]
    path = fetch("theirs")
    assert asked_for(server) == ["data/ratings.txt", "notes.txt"]
    assert fetch("theirs") == path
    assert asked_for(server) == []
    path.write_bytes(path.read_bytes() + b"\0")
    with naming.refused(path, "sense7 fetch theirs --again") as refusal:
        fetch("theirs")
    for use in (resolve, load):
        with pytest.raises(UserError, match=re.escape(str(refusal.value))):
            use("theirs")
    fetch("theirs", again=True)
    assert resolve("theirs")[0] == path


def test_what_an_older_version_converted_is_converted_anew_without_a_download(server, monkeypatch):
    fetch("theirs")
    asked_for(server)

    def otherwise(parts):
        tasks, messages = convert(parts)
        return [tasks, replace(messages, rows=messages.rows[1:])]

    monkeypatch.setitem(
        SOURCES, "theirs", replace(SOURCES["theirs"], convert=otherwise, conversion=2)
    )
    with naming.refused("theirs: ", "sense7 fetch theirs"):
        resolve("theirs")
    fetch("theirs")
    assert asked_for(server) == []
    assert load("theirs").messages["content"].tolist() == ["hello"]


# Faults: each is one message, and nothing of it is kept


def test_a_part_that_is_not_the_published_one_is_refused(server, places, left_behind):
    server.answers["/commit/data/ratings.txt"] = b"5"
    hashes = [hashlib.sha256(content).hexdigest() for content in (b"5", b"4")]
    with naming.refused(server.address("/commit/data/ratings.txt"), *hashes, "--mirror"):
        fetch("theirs")
    parts = places / "cache" / "theirs" / "parts"
    assert [path.name for path in parts.iterdir()] == ["chats.txt"]
    assert left_behind() == []


# What is known of it


@pytest.mark.parametrize(
    "change",
    [
        {"parts": {}},
        {"parts": {"data/chats.txt": "0" * 64}},
        {"sha256_now": None},
        {"sha256": "0" * 64},
        {},
    ],
    ids=["no parts", "another part", "not read", "another workbook", "as it was"],
)
def test_without_the_right_hashes_it_is_not_called_by_its_name(server, change):
    fetch("theirs")
    changed = replace(resolve("theirs")[1], **change)
    assert ("Their data" in changed.label) == ("UNVERIFIED" not in changed.label) == (not change)
    naming.check(changed.label, "SENSE-7")
    assert not replace(changed, address=SOURCES["official"].address).verified
