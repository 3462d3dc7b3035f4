"""The journal of a session: each answer once, also where another program holds it or it is none."""

import contextlib
import sqlite3
import threading
from collections import Counter

import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, number_of, plan_for
from sense7.judge.asking import journal
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.session import carry_out
from sense7.judge.files import JOURNAL
from sense7.judge.scores.report import evaluate

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD


# The journal


@pytest.mark.parametrize("change", ["no database", "cut", "version", "tables"])
def test_no_journal_of_this_version_is_refused_and_nothing_sent(change, server, study_of, tmp_path):
    path = tmp_path / JOURNAL
    ask(study_of(30), server, tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (journal.VERSION,)
        if change == "version":
            database.execute(f"PRAGMA user_version = {journal.VERSION + 1}")
        if change == "tables":
            database.execute("DROP TABLE replies")
            database.commit()
    if change == "no database":
        path.write_text("no database, and long enough to be read as the head of one" * 9)
    if change == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with naming.refused(path, "another folder"):
        ask(study_of(30), server, tmp_path)
    assert len(server.asked) == 30


def test_on_a_full_disk_no_more_is_asked(server, study_of, tmp_path, monkeypatch):
    """The disk ends where the journal does: no page of the database is free."""
    write = Journal.write

    def with_a_full_disk(self):
        self._database.execute("PRAGMA max_page_count = 1")  # sqlite makes it as many as there are
        write(self)

    server.script = lambda asked: Answered(text=f"{GOOD.text} {'x' * 50_000}")
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write", with_a_full_disk)
        with naming.refused(tmp_path / JOURNAL, "Make room on that disk"):
            ask(study_of(20), server, tmp_path, concurrency=2)
    assert len(server.asked) <= 4
    assert ask(study_of(20), server, tmp_path).statuses == Counter(ok=20)


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_held_journal_is_waited_for_and_nothing_bought_twice(lock, server, study_of, tmp_path):
    ask(study_of(20), server, tmp_path, limit=2)
    path = tmp_path / JOURNAL
    with contextlib.closing(
        sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    ) as other:

        def script(asked):
            if asked.number == 6:
                other.execute(f"BEGIN {lock}")
                threading.Timer(0.3, other.rollback).start()
            return GOOD

        server.script = script
        assert ask(study_of(20), server, tmp_path).statuses == Counter(ok=20)
    assert Counter(number_of(asked) for asked in server.asked) == Counter(range(20))


def test_a_journal_that_is_held_at_the_start_is_refused(server, study_of, tmp_path, monkeypatch):
    monkeypatch.setitem(journal.PATIENCE, "ro", 0.1)
    ask(study_of(2), server, tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / JOURNAL)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with naming.refused(tmp_path / JOURNAL, "another program"):
            ask(study_of(2), server, tmp_path)
    assert len(server.asked) == 2


def test_a_session_that_has_not_ended_holds_no_predictions(server, study_of, tmp_path):
    def say(line):
        raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
        carry_out(plan_for(study_of(6), server, tmp_path), say=say)
    with naming.refused(tmp_path, JOURNAL, "sense7 judge run"):
        evaluate([tmp_path])
