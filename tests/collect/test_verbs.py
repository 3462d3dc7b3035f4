"""The two verbs as users meet them: what they print, and one message for what they refuse."""

import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def call(run_here, tmp_path):
    return lambda *arguments: run_here(*arguments, cwd=tmp_path, environment=dict(os.environ))


@pytest.fixture
def chats(tmp_path, make_chat):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(json.dumps(make_chat(name)) for name in ("C1", "C2")), "utf-8")
    (tmp_path / "study.yml").write_text("title: Ten chats", "utf-8")
    return path


def test_a_page_is_written_and_named(call, chats, tmp_path):
    done = call("instrument", "study.yml", "--conversations", "chats.jsonl", "--out", "rate.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "rate.html\n", "")
    assert (tmp_path / "rate.html").exists()


def test_what_is_refused_is_one_message_and_leaves_no_page(call, chats, tmp_path):
    chats.write_text("{", "utf-8")
    done = call("instrument", "study.yml", "--conversations", "chats.jsonl", "--out", "rate.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sense7: chats.jsonl: line 1: column 2: no JSON")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "rate.html").exists()


def test_gathering_prints_the_study_and_tells_the_rest(call, folder, make_download, tmp_path):
    folder(anna=make_download(), twice=make_download(), ben=make_download("ben"))
    done = call("gather", "ratings", "--out", "mine.xlsx")
    assert done.returncode == 0
    assert "2 people, 4 rated conversations, 8 rated turns\nmine.xlsx\n" in done.stdout
    assert done.stderr == f"sense7: {Path('ratings') / 'twice.json'}: passed over: anna.json has all its answers\n"
    assert call("check", "mine.xlsx", "--strict").returncode == 0
