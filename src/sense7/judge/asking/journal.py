"""What a session of a judge has been answered so far, in one SQLite file: no paid answer is lost, or paid twice.

Each answer is kept as it came. ``asked`` says what was asked: a session that would ask something else is refused.
"""

import contextlib
import errno
import json
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from sense7.errors import UserError
from sense7.files import lock_file, not_written
from sense7.judge.asking.ask import Answer
from sense7.judge.files import JOURNAL

VERSION = 2
"""Version of the tables, which SQLite keeps as user_version; 0 in a new file."""

_TABLES = f"""
CREATE TABLE asked (content TEXT NOT NULL);
CREATE TABLE replies (
    run INTEGER NOT NULL, conversation TEXT NOT NULL, attempt INTEGER NOT NULL, seconds REAL, content TEXT NOT NULL,
    PRIMARY KEY (run, conversation, attempt));
PRAGMA user_version = {VERSION};
"""
PATIENCE = {"ro": 5.0, "rwc": 3600.0}
"""Seconds that SQLite waits for a journal which another program holds: a session under way has paid answers."""


class Journal:
    """The journal of a folder, opened by :meth:`open`."""

    def __init__(self, path: Path, database: sqlite3.Connection):
        self.path = path
        self.waiting: list[Answer] = []
        self._database = database
        self._writing = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        folder: Path,
        question: Mapping,
        *,
        to_write: bool = False,
    ) -> Iterator["Journal | None"]:
        """Open the journal of a question: to read, None if there is none; or to write, made if need be."""
        path = folder / JOURNAL
        if not to_write and not path.exists():
            yield None
            return
        with contextlib.ExitStack() as closing:
            try:
                if to_write:
                    folder.mkdir(parents=True, exist_ok=True)
                    descriptor = os.open(folder, os.O_RDONLY)
                    closing.callback(os.close, descriptor)
                    lock_file(descriptor, wait=False)  # until the session ends, however that ends
            except BlockingIOError:
                raise UserError(
                    f"{folder}: another session is at work here. Wait for its end."
                ) from None
            except OSError as error:
                raise UserError(not_written(path, error)) from None
            closing.enter_context(_explained(path))
            mode = "rwc" if to_write else "ro"
            address = f"file:{quote(str(path.absolute()))}?mode={mode}"
            database = sqlite3.connect(
                address, uri=True, check_same_thread=False, timeout=PATIENCE[mode]
            )
            closing.enter_context(contextlib.closing(database))
            journal = cls(path, database)
            if to_write:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute(
                    "PRAGMA synchronous = FULL"
                )  # an answer outlives a failure of power
            yield journal if journal._check(question, to_write=to_write) else None
            if to_write:  # one file remains, and can be read where nothing is written
                with contextlib.suppress(sqlite3.Error):
                    database.execute("PRAGMA journal_mode = DELETE")

    def _check(self, question: Mapping, *, to_write: bool) -> bool:
        """Whether answers to a question are in it; without answers it is made its journal."""
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and version != VERSION:
            raise UserError(
                f"{self.path}: written by another version of sense7 (journal version {version}; this one reads "
                f"{VERSION}). Go on with that version, or choose another folder."
            )
        if not tables and to_write:
            self._database.executescript(_TABLES)
        if not tables and not to_write:
            return False
        row = self._database.execute("SELECT content FROM asked").fetchone()
        earlier = json.loads(row[0]) if row else {}
        if earlier == question:
            return True
        if self.has_answer:
            differences = []
            for name in {**earlier, **question}:
                if earlier.get(name) != question.get(name):
                    differences.append(
                        f"{name}: {earlier.get(name)!s:.60} there, {question.get(name)!s:.60} now"
                    )
            raise UserError(
                f"{self.path.parent}: holds a session that asked something else ({'; '.join(differences)}). "
                "Give the same data and options as then, or another folder."
            )
        if to_write:
            with self._database:
                self._database.execute("DELETE FROM asked")
                self._database.execute("INSERT INTO asked VALUES (?)", (json.dumps(question),))
        return True

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer."""
        return self._database.execute("SELECT 1 FROM replies LIMIT 1").fetchone() is not None

    def pending(self, conversations: Collection[str], runs: int) -> list[tuple[str, int]]:
        """Conversations and runs without an answer."""
        pending = []
        for run in range(1, runs + 1):
            query = "SELECT conversation FROM replies WHERE run = ?"
            answered = {name for (name,) in self._database.execute(query, (run,))}
            pending += [(name, run) for name in conversations if name not in answered]
        return pending

    def answers(self, run: int) -> dict[str, Answer]:
        """The last answer to each conversation of a run."""
        query = (
            "SELECT conversation, run, content, seconds, max(attempt) FROM replies "
            "WHERE run = ? GROUP BY conversation"
        )
        return {row[0]: Answer(*row) for row in self._database.execute(query, (run,))}

    def write(self) -> None:
        """Put the answers that wait on the disk."""
        # A session that is stopped writes the last answers while a worker may still wait.
        with self._writing:
            rows = [
                (answer.run, answer.conversation, answer.attempts, answer.seconds, answer.content)
                for answer in self.waiting
            ]
            with self._database:
                self._database.executemany("INSERT INTO replies VALUES (?, ?, ?, ?, ?)", rows)
            del self.waiting[: len(rows)]


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say what is wrong with a journal, or with its disk."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise UserError(not_written(path, full)) from None
        raise UserError(
            f"{path}: can't be written or read as the journal of a session ({error}). Close it where another program "
            "holds it, check its disk and permissions, or choose another folder."
        ) from None
