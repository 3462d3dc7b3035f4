"""What a session of a judge has been answered so far, in one SQLite file: no paid answer is lost, or paid twice.

``requests`` has one row per conversation that is asked about, ``replies`` one per reply, as it came; what is pending is
a query of both. ``asked`` says what was asked: a session that would ask something else is refused.
"""

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from urllib.parse import quote

from sense7.errors import UserError
from sense7.files import lock_file, not_written, one_line, reason
from sense7.judge.asking.answers import Answer
from sense7.judge.asking.requests import Questions
from sense7.judge.files import JOURNAL
from sense7.terminal import silent

__all__ = ["Journal"]

VERSION = 1
"""Version of the tables and of the answers in them, which SQLite keeps as user_version; 0 where none was kept yet."""

_EARLIER = "journal.jsonl"
_ROOM = 2**16  # bytes, of a disk that is full
_TABLES = """
CREATE TABLE IF NOT EXISTS asked (content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
    place INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, characters INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS replies (
    run INTEGER NOT NULL, place INTEGER NOT NULL, failed INTEGER NOT NULL, output_tokens INTEGER, content TEXT NOT NULL,
    PRIMARY KEY (run, place));
CREATE INDEX IF NOT EXISTS states ON replies (place, run, failed, output_tokens);
"""
_KEEP = """
INSERT INTO replies VALUES (?, (SELECT place FROM requests WHERE name = ?), ?, ?, ?)
ON CONFLICT (run, place) DO UPDATE SET failed = excluded.failed, output_tokens = excluded.output_tokens,
    content = excluded.content
WHERE replies.failed
"""
_PENDING = """
WITH RECURSIVE runs (run) AS (SELECT 1 UNION ALL SELECT run + 1 FROM runs WHERE run < ?),
whole (run) AS (
    SELECT run FROM replies INDEXED BY states WHERE NOT failed
    GROUP BY run HAVING count(*) = (SELECT count(*) FROM requests))
SELECT requests.name, runs.run FROM runs CROSS JOIN requests WHERE runs.run NOT IN whole AND NOT EXISTS (
    SELECT 1 FROM replies INDEXED BY states
    WHERE replies.run = runs.run AND replies.place = requests.place AND NOT failed)
ORDER BY runs.run, requests.place
"""
_PATIENCE = 2.0
"""Seconds that a held journal is waited for before that is said."""

_SAID_AGAIN = 60.0
"""Seconds after which it is said again that another program holds the journal."""

_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_STATES = "FROM replies INDEXED BY states JOIN requests USING (place)"


class Journal:
    """The journal of a folder: open to read (:meth:`reading`), or to add to it (:meth:`open`)."""

    def __init__(
        self,
        folder: Path,
        database: sqlite3.Connection,
        unlocked: str = "",
        say: Callable[[str], None] = silent,
    ):
        self.folder = folder
        self.unlocked = unlocked
        self._database = database
        self._say = say
        self.waiting: list[Answer] = []
        self._writes = threading.Lock()
        self._closed = threading.Event()
        self._added: dict[tuple[str, int], Answer] = {}

    @classmethod
    @contextlib.contextmanager
    def reading(
        cls, folder: Path, say: Callable[[str], None] = silent
    ) -> Iterator["Journal | None"]:
        """The journal of a folder to read; None if there is none, or nothing is in it.

        While another program holds it, it is waited for, and ``say`` is told for whom.
        """
        path = folder / JOURNAL
        if (folder / _EARLIER).exists():
            raise UserError(
                f"{folder}: holds a session of an earlier version ({_EARLIER}). Choose another folder."
            )
        if not path.exists():
            yield None
            return
        try:
            with contextlib.closing(_connected(path, "ro")) as database:
                database.execute("BEGIN")  # so that nobody changes it while it is read

                query = partial(database.execute, "SELECT name FROM sqlite_master")
                tables = {name for (name,) in _when_free(path, say, query)}
                if tables and not {"asked", "requests", "replies"} <= tables:
                    raise sqlite3.DatabaseError("other tables")
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version not in {0, VERSION}:
                    raise UserError(
                        f"{path}: written by another version of sense7 (journal version {version}; this one reads "
                        f"{VERSION}). Go on with that version, or choose another folder."
                    )
                yield cls(folder, database) if tables else None
        except sqlite3.OperationalError as error:
            raise UserError(f"{path}: can't be read ({error}). Check its permissions.") from None
        except sqlite3.DatabaseError:
            raise UserError(_damaged(path)) from None

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder: Path, say: Callable[[str], None] = silent) -> Iterator["Journal"]:
        """Open a journal to add to it, made if need be; no other session can do so at the same time.

        While another program holds it, it is waited for, and ``say`` is told for whom.
        """
        path = folder / JOURNAL
        unlocked = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        with cls.reading(folder, say):  # what is no journal is refused
            pass
        with contextlib.ExitStack() as closing:
            try:  # locked until the session ends, however that ends
                descriptor = os.open(folder, os.O_RDONLY)
                closing.callback(os.close, descriptor)
                lock_file(descriptor, wait=False)
            except BlockingIOError:
                raise UserError(
                    f"{folder}: another session is at work here. Wait for its end."
                ) from None
            except OSError as error:
                unlocked = (
                    f"{folder}: the disk has no locks ({reason(error)}), so that a second session in this folder "
                    "would not be noticed. Begin none before this one has ended"
                )
            closing.enter_context(_writing(path))
            database = closing.enter_context(contextlib.closing(_connected(path, "rwc")))

            def prepare() -> None:
                database.rollback()  # of an attempt before
                database.execute("PRAGMA journal_mode = WAL")
                # An answer outlives a failure of power, too.
                database.execute("PRAGMA synchronous = FULL")
                database.executescript(
                    f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
                )

            _when_free(path, say, prepare)
            journal = cls(folder, database, unlocked, say)
            try:
                yield journal
            finally:
                journal._closed.set()
                # One file remains, and can be read where nothing is written.
                with contextlib.suppress(sqlite3.Error):
                    database.execute("PRAGMA journal_mode = DELETE")

    def _row(self, query: str, *values) -> tuple:
        return self._database.execute(query, values).fetchone()

    @property
    def content(self) -> dict:
        """What was asked: ``asked``, ``about`` and ``runs``; empty in a new journal."""
        row = self._row("SELECT content FROM asked")
        if row is None:
            return {}
        try:
            content = json.loads(row[0])
            return {
                "asked": dict(content["asked"]),
                "about": dict(content["about"]),
                "runs": int(content["runs"]),
            }
        except (ValueError, LookupError, TypeError) as error:
            raise UserError(self._otherwise("what was asked", error)) from None

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer; a failure is none."""
        row = self._row("SELECT 1 FROM replies INDEXED BY states WHERE NOT failed LIMIT 1")
        return row is not None

    def check(self, question: Mapping, questions: Questions, runs: int) -> None:
        """Refuse a folder in which something else was asked, or that holds answers to no request of this session."""
        earlier = self.content.get("asked", question)
        differing = [
            name for name in {**earlier, **question} if earlier.get(name) != question.get(name)
        ]
        if differing:
            if not self.has_answer and set(differing) <= {"data", "request", "requests"}:
                return  # the failures give way
            differences = "; ".join(
                _difference(name, earlier.get(name), question.get(name)) for name in differing
            )
            raise UserError(
                f"{self.folder}: holds a session that asked something else ({differences}). "
                "Give the same data and options as then, or another folder."
            )
        for name, sha256, run in self._database.execute(
            f"SELECT name, sha256, max(run) {_STATES} GROUP BY place"
        ):
            if run > runs or name not in questions.units:
                raise UserError(
                    f"{self.folder}: holds answers of run {run:,}, conversation {name!r}, which are left out now. "
                    "Give at least as many --runs and as great a --limit as then, or another folder."
                )
            if sha256 != questions.units[name].request_sha256:
                raise UserError(
                    f"{self.folder}: the answers to conversation {name!r} are to another request than this version "
                    "would send. Choose another folder."
                )

    def begin(self, question: Mapping, about: Mapping, questions: Questions, runs: int) -> None:
        """Write down what is asked, and of whom."""
        earlier = self.content
        replaced_tables = ["asked", "requests"]
        if earlier.get("asked") == question:
            about = earlier["about"]
        else:  # the replies are failures: see check
            replaced_tables.append("replies")
        content = json.dumps({"asked": question, "about": about, "runs": runs})
        requests = questions.frame[["conversation", "request_sha256", "characters"]]
        rows = list(requests.itertuples(name=None))

        def write() -> None:
            for table in replaced_tables:
                self._database.execute(f"DELETE FROM {table}")  # noqa: S608
            self._database.execute("INSERT INTO asked VALUES (?)", (content,))
            self._database.executemany(
                "INSERT INTO requests (place, name, sha256, characters) VALUES (?, ?, ?, ?)", rows
            )

        self._written(write)

    def pending(self, runs: int) -> list[tuple[str, int]]:
        """Conversations and runs without an answer."""
        return self._database.execute(_PENDING, (runs,)).fetchall()

    def add(self, answer: Answer) -> None:
        """Take an answer; it is on the disk when :meth:`sync` has returned."""
        self.waiting.append(answer)
        self._added[answer.conversation, answer.run] = answer

    def sync(self) -> None:
        """Wait until every answer that was taken is on the disk. No answer is replaced by another, only failures.

        While another program holds the journal, answers are kept here, and written when it is free.
        """
        # A session that is stopped writes the last answers while a worker may still wait.
        with self._writes:
            rows = []
            for answer in list(self.waiting):
                failed = answer.error is not None
                content = json.dumps(asdict(answer))  # in ASCII: half a pair of surrogates, too
                rows.append(
                    (answer.run, answer.conversation, failed, answer.output_tokens, content)
                )
            self._written(partial(self._database.executemany, _KEEP, rows))
            del self.waiting[: len(rows)]

    def _written(self, write: Callable[[], object]) -> None:
        """Write within a transaction, as soon as no other program holds the journal."""
        path = self.folder / JOURNAL

        def transaction() -> None:
            with self._database:
                write()

        with _writing(path):
            _when_free(path, self._say, transaction, self._closed)

    def answers(self, run: int) -> dict[str, Answer]:
        """Answers of a run and what came of its failures, by conversation; of this session they have been read."""
        query = "SELECT name, content FROM replies JOIN requests USING (place) WHERE run = ?"
        answers = {}
        for name, content in self._database.execute(query, (run,)):
            try:
                answers[name] = self._added.get((name, run)) or Answer(**json.loads(content))
            except (ValueError, TypeError) as error:
                part = f"the answer of run {run:,} to conversation {name!r}"
                raise UserError(self._otherwise(part, error)) from None
        return answers

    def _otherwise(self, part: str, error: Exception) -> str:
        return (
            f"{self.folder / JOURNAL}: {part} was written by another version of sense7, or changed since "
            f"({one_line(error)}). Go on with the version that wrote it, or choose another folder."
        )

    def counts(self, characters_a_token: int) -> tuple[int, int]:
        """Number of answers, and the estimated tokens of their requests."""
        query = f"SELECT count(*), total((characters + ?1 - 1) / ?1) {_STATES} WHERE NOT failed"
        answers, tokens = self._row(query, characters_a_token)
        return answers, int(tokens)


def _when_free(
    path: Path,
    say: Callable[[str], None],
    step: Callable[[], object],
    closed: threading.Event | None = None,
) -> object:
    """Carry out a step of a database; while another program holds it, wait for that, and say so now and then."""
    said_at = float("-inf")
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            is_held = getattr(error, "sqlite_errorcode", 0) & 0xFF in _HELD
            if not is_held or (closed is not None and closed.is_set()):
                raise
        if time.monotonic() - said_at >= _SAID_AGAIN:
            said_at = time.monotonic()
            program = _holders(path)
            say(
                f"waiting for {program}, which holds {path}: close it there; no answer is lost meanwhile"
            )
        time.sleep(0.1)


def _holders(path: Path) -> str:
    """Name the other programs that have a file open, as far as Linux tells."""
    names = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        process = link.parent.parent
        with contextlib.suppress(OSError):
            if int(process.name) != os.getpid() and link.readlink() == path.resolve():
                names.append(f"{(process / 'comm').read_text().strip()} (process {process.name})")
    return " and ".join(dict.fromkeys(names)) or "another program"


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, check_same_thread=False, timeout=_PATIENCE)


def _damaged(path: Path) -> str:
    return f"{path}: is no journal of a session, or damaged. Choose another folder."


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say of a journal that can't be written why."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED:  # a part that was not read before
            raise UserError(_damaged(path)) from None
        # Of a full disk SQLite says so only if it is the journal itself that finds no room.
        full = code == sqlite3.SQLITE_FULL
        if full or shutil.disk_usage(path.parent).free < _ROOM:
            error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise UserError(not_written(path, error)) from None


def _difference(name: str, earlier, current) -> str:
    """How an entry of what was asked differs: of parameters only those that do."""
    if isinstance(earlier, dict) and isinstance(current, dict):
        alike = {key for key in earlier.keys() & current.keys() if earlier[key] == current[key]}
        earlier = _without(earlier, alike)
        current = _without(current, alike)
    return f"{name}: {_brief(earlier)} there, {_brief(current)} now"


def _without(parameters: dict, names: set[str]) -> dict | str:
    return {key: value for key, value in parameters.items() if key not in names} or "nothing"


def _brief(value) -> str:
    """A value as text, of a digest its beginning."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    is_digest = len(text) == 64 and text.isalnum()
    return f"{text[:12]}.." if is_digest else text
