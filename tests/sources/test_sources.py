"""Fetching from a real server on loopback, and what is then known of a file's origin."""

import errno
import gc
import hashlib
import json
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import naming
from helpers.downloads import workbook
from sense7.errors import UserError
from sense7.files import scratch_folder
from sense7.sources import SOURCES, Provenance, copy_for_edition, fetch, fetching, resolve
from sense7.sources.provenance import record_path, write_record

AUTHORS = SOURCES["official"].address


def redirect(target):
    return lambda handler: handler.send(b"", 302, Location=target)


@pytest.fixture
def server(listening, monkeypatch, tmp_path):
    """Plays the authors' repository."""
    monkeypatch.setitem(
        SOURCES, "official", replace(SOURCES["official"], address=listening.address())
    )
    listening.answers["/official.xlsx"] = workbook(tmp_path / "upstream.xlsx")
    return listening


# Fetching


def test_a_fetched_file_is_the_servers_and_its_record_is_true(server, places, left_behind):
    path = fetch("official")
    assert path.read_bytes() == server.answers["/official.xlsx"]
    assert path.name == "official.xlsx"
    found, provenance = resolve("official")
    assert found == path
    assert provenance.verified
    assert provenance.label
    assert provenance.address == server.address()
    assert provenance.size == path.stat().st_size
    assert provenance.fetched.endswith("Z")
    stored = json.loads((places / "cache" / "official.provenance.json").read_text("utf-8"))
    assert stored == provenance.to_dict()
    assert left_behind() == []


@pytest.mark.parametrize(
    "damage", ["workbook", "gone", "{", "[]", '{"kind": "official"}', "[" * 100_000]
)
def test_what_was_damaged_is_refused_and_brought_again(server, places, damage):
    path = fetch("official")
    assert fetch("official") == path
    assert len(server.asked) == 1
    gc.collect()  # what other tests left must not be cleared away where the brackets leave no room on the stack
    if damage == "gone":
        path.unlink()
        with naming.refused("official: ", "sense7 fetch official"):
            resolve("official")
        assert fetch("official").exists()
        return
    if damage == "workbook":
        damaged = path
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    else:
        damaged = places / "cache" / "official.provenance.json"
        damaged.write_text(damage, encoding="utf-8")
    problem = rf"{re.escape(str(damaged))}: .*sense7 fetch official --again"
    with pytest.raises(UserError, match=problem):
        resolve("official")
    with naming.refused(damaged, "sense7 fetch official --again"):
        fetch("official")
    fetch("official", again=True)
    assert resolve("official")[1].verified


# Mirrors


def test_a_mirrors_copy_stays_unverified(server, places):
    server.answers["/copy"] = server.answers["/official.xlsx"]
    fetch("official", mirror=server.address("/copy?key=secret"))
    assert server.asked == ["/copy?key=secret"]
    path, provenance = resolve("official")
    assert provenance.mirror
    assert not provenance.verified
    assert provenance.kind == "official"
    naming.check(provenance.label, "UNVERIFIED")
    assert provenance.address == server.address("/copy")
    assert "secret" not in (places / "cache" / "official.provenance.json").read_text("utf-8")
    again, told = resolve(copy_for_edition(path, provenance, places / "edition" / "data"))
    assert again.name == "official.xlsx"
    assert told == provenance
    assert not told.verified


@pytest.mark.parametrize("first", ["a file", "an address", "the authors' file"])
def test_another_mirror_replaces_nothing_unless_told_to(server, places, capsys, first):
    origins = {
        "a file": places / "first.xlsx",
        "an address": server.address("/first.xlsx"),
        "the authors' file": None,
    }
    server.answers["/first.xlsx"] = workbook(places / "first.xlsx", "first")
    workbook(places / "other.xlsx", "other")
    path = fetch("official", mirror=origins[first])
    before = resolve("official")[1]
    (places / "same.xlsx").write_bytes(path.read_bytes())
    for mirror in ("same.xlsx", "other.xlsx"):
        assert fetch("official", mirror=places / mirror) == path
        assert resolve("official") == (path, before)
    assert before.verified == (origins[first] is None)
    assert capsys.readouterr().err == ""
    fetch("official", mirror=places / "other.xlsx", again=True)
    after = resolve("official")[1]
    digest = hashlib.sha256((places / "other.xlsx").read_bytes()).hexdigest()
    assert (after.sha256, after.mirror) == (digest, True)
    naming.check(capsys.readouterr().err, "official", before.sha256)


@pytest.mark.parametrize(
    "mirror",
    [
        "http://me:secret@example.org/a.xlsx",
        "http://example.org/a.xlsx?key=secret",
        "nowhere.xlsx",
        ".",
        "~nobody-of-that-name/a.xlsx",
    ],
)
def test_places_that_are_refused(mirror):
    place = mirror.replace("\\", "\\\\").replace("me:secret@", "").partition("?")[0]
    with naming.refused(place) as refused:
        fetch("official", mirror=mirror)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("mirror", "cause"),
    [
        ("https://127.0.0.1:PORT/a.xlsx", "SSLError"),
        ("http://127.0.0.1:1/a.xlsx", "ConnectionError"),
        ("https://example.org/by/proxy", "HTTPS_PROXY"),
    ],
)
def test_hosts_without_an_answer(server, monkeypatch, mirror, cause):
    if "proxy" in mirror:
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
    mirror = mirror.replace("PORT", str(server.port))
    with naming.refused("official: ", cause, mirror, "sense7 fetch official --mirror"):
        fetch("official", mirror=mirror)


# Faults: each leaves what was here before


HTML = b"\n<!doctype html><html><title>Sign in</title></html>"
FAULTS = {
    "no such file": (None, ["HTTP 404"]),
    "web page": (HTML, ["official.xlsx: "]),
    "no zip": (b"PK but no zip", ["official.xlsx: "]),
    "cut short": (lambda handler: handler.send(b"PK\x03\x04 and then", length=10_000), []),
    "slow": (lambda handler: time.sleep(1), ["--mirror"]),
    "another workbook": (workbook, ["official.xlsx: ", "Messages"]),
    "unsafe": (None, ["http://127.1:"]),  # the same file, by another way
    "loop": (redirect("/official.xlsx"), ["official.xlsx"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_old_file(server, places, monkeypatch, fault, left_behind):
    answer, named = FAULTS[fault]
    if answer is workbook:
        answer = workbook(places / "other.xlsx", sheets=("Tasks", "Extra"))
    server.answers["/moved.xlsx"] = server.answers["/official.xlsx"]
    server.answers["/official.xlsx"] = redirect("/moved.xlsx")  # on the same host: followed
    path = fetch("official")
    assert resolve("official")[1].address == server.address()
    before = path.read_bytes()
    if fault == "slow":
        monkeypatch.setattr(fetching, "TIMEOUT", (0.2, 0.2))
    if fault == "unsafe":
        answer = redirect(server.address("/moved.xlsx").replace("127.0.0.1", "127.1"))
    server.answers["/official.xlsx"] = answer
    with naming.refused(*named) as caught:
        fetch("official", again=True)
    assert not any(
        strange in str(caught.value) for strange in ("\n", " object at 0x", str(places / "cache"))
    )
    assert resolve("official")[0].read_bytes() == before
    assert left_behind() == []


def test_a_full_disk_is_told_from_a_network_error(places, monkeypatch):
    def copyfile(_source, _target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    workbook(places / "copy.xlsx")
    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with naming.refused(places / "cache" / "official", os.strerror(errno.ENOSPC), "SENSE7_CACHE"):
        fetch("official", mirror=places / "copy.xlsx")


def test_what_a_killed_fetch_left_is_removed_by_the_next(server, places, left_behind):
    folder = places / "cache" / "official"
    with scratch_folder(folder) as at_work:
        (folder / ".part-sense7-killed").mkdir()
        fetch("official")
        assert left_behind() == [at_work.name]
    assert left_behind() == []


# What is known of a file


NOT_RESOLVED = {
    "official": ["official: ", "sense7 fetch official"],
    "Oficial": ["Oficial: ", "work/Oficial.", "synthetic", *SOURCES],
    "../none.xlsx": ["../none.xlsx: ", "work/../none.xlsx."],
    ".": ["/work: "],
    "x" * 300: ["x" * 300 + ": "],
    "nul\0.xlsx": ["nul\0.xlsx: "],
    "~nobody-of-that-name/a.xlsx": ["~nobody-of-that-name/a.xlsx: "],
}


@pytest.mark.parametrize("data", NOT_RESOLVED)
def test_what_can_not_be_resolved(data):
    with naming.refused(*NOT_RESOLVED[data]):
        resolve(data)


@pytest.mark.parametrize("claim", [None, "own", "official"])
def test_the_synthetic_workbook_is_synthetic_under_any_name(places, claim):
    copy = Path(shutil.copy(resolve("synthetic")[0], places / "findings.xlsx"))
    if claim:
        write_record(copy, replace(Provenance.of(copy), kind=claim, address=AUTHORS))
    provenance = resolve(copy)[1]
    assert provenance.kind == "synthetic"
    assert not provenance.verified


def test_an_editions_copy_knows_what_it_is(server, places):
    fetch("official")
    path, provenance = resolve("official")
    copy = copy_for_edition(path, provenance, places / "edition" / "data")
    assert sorted(found.name for found in copy.parent.iterdir()) == [
        "official.xlsx",
        "official.xlsx.provenance.json",
        "official.xlsx.reading.yml",
    ]
    assert resolve(copy) == (copy, provenance)
    assert resolve(copy)[1].verified
    copy.write_bytes(copy.read_bytes() + b"\0")
    with naming.refused(copy, "official.xlsx.provenance.json"):
        resolve(copy)
    record_path(copy).unlink()
    assert resolve(copy)[1].kind == "own"
    bare = resolve(shutil.copy(path, places / "copy.xlsx"))[
        1
    ]  # the official bytes, given by a path
    assert (bare.sha256, bare.kind, bare.verified) == (provenance.sha256, "own", False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "own"), ("mirror", True), ("address", None), ("fetched", None), ("sha256", "0" * 64),
        ("address", "https://raw.githubusercontent.com/somebody/sense-7/main/sense-7_dataset.xlsx"),
    ],
)  # fmt: skip
def test_every_condition_of_verified_counts(server, key, value):
    fetch("official")
    provenance = resolve("official")[1]
    assert provenance.verified
    assert not replace(provenance, **{key: value}).verified


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "authentic"), ("name", ""), ("file", "../official.xlsx"), ("file", ".."), ("size", -1), ("size", "3"),
        ("address", "javascript:alert(1)"), ("address", 'https://example.org/"onclick="'), ("mirror", "no"),
        ("address", "https://example.org\n"), ("fetched", "2025-11-01T12:00:00"), ("parts", {"data.csv": 1}),
        ("fetched", "2025-11-01T12:00:00+02:00"), ("conversion", "1"), ("more", 1),
    ],
)  # fmt: skip
def test_a_record_that_can_not_be_one_is_refused(places, key, value):
    workbook(places / "mine.xlsx")
    record = Provenance.of(places / "mine.xlsx").to_dict() | {key: value}
    with naming.refused(key):
        Provenance.from_dict(record)
    record_path(places / "mine.xlsx").write_text(json.dumps(record), encoding="utf-8")
    with naming.refused("mine.xlsx.provenance.json", key):
        resolve(places / "mine.xlsx")
