"""What a session of a judge has been answered so far: kept so that no paid answer is lost or paid twice.

Beside inspect_ai's logs stands ``journal.jsonl``: a line an answer, appended before anything else is done with
it. inspect_ai's own cache does not serve here: it takes two conversations of the same words for
one, never keeps a refusal by a content filter, and is shared by all sessions, so that a second would be a copy.
``manifest.json`` says what was asked; a session that would ask something else is refused.
"""

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from sense7.errors import UserError
from sense7.files import not_written, reason, write_whole
from sense7.judge.answers import Answer
from sense7.judge.questions import Questions

try:
    import fcntl
except ImportError:  # Windows: there two sessions at once in one folder are not noticed
    fcntl = None

__all__ = ["JOURNAL", "MANIFEST", "Answers", "Journal", "check_manifest", "read_journal", "write_manifest"]

JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"

Answers = dict[tuple[str, int], Answer]
"""(conversation, run) -> answer."""


def read_journal(path: Path) -> tuple[Answers, int]:
    """Read the answers of a session.

    An answer stays what it is; of failures the last counts, and none counts beside an answer. A last line without an
    end was being written when the session was killed: its answer was not yet taken for received.

    Returns
    -------
    answers : dict
        (conversation, run) -> Answer; a failure has an ``error``.
    length : int
        Bytes up to the end of the last whole line.

    Raises
    ------
    UserError
        If the journal can't be read, or a whole line is no record.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}, 0
    except OSError as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Check its permissions.") from None
    length = content.rfind(b"\n") + 1
    answers: Answers = {}
    for number, line in enumerate(content[:length].split(b"\n")[:-1], 1):
        try:
            answer = Answer.from_dict(json.loads(line))
        except (ValueError, RecursionError):
            raise UserError(
                f"{path}: line {number:,} is no record of an answer. The file is not to be edited; if that line is "
                "removed, its request is sent again."
            ) from None
        _keep(answers, answer)
    return answers, length


def _keep(answers: Answers, answer: Answer) -> None:
    known = answers.get((answer.conversation, answer.run))
    if known is None or known.error is not None:
        answers[answer.conversation, answer.run] = answer


class Journal:
    """An open journal; see :meth:`open`.

    Attributes
    ----------
    answers : dict
        (conversation, run) -> Answer, whatever came first and last.
    """

    def __init__(self, path: Path, answers: Answers, stream):
        self.path, self.answers, self._stream = path, answers, stream
        self._written = self._synced = 0
        self._lock = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator["Journal"]:
        """Open a journal to add to it; a line that was cut off by a kill is taken away.

        Raises
        ------
        UserError
            If another session has it open, or it can't be read or written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("ab", buffering=0)  # nothing is left that would fail again when it is closed
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        with stream:
            if fcntl:
                try:  # the lock ends with the process, however that ends
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise UserError(f"{path.parent}: another session is at work here. Wait for its end.") from None
            answers, length = read_journal(path)
            journal = cls(path, answers, stream)
            journal._cut(length)
            yield journal

    def is_answered(self, conversation: str, run: int) -> bool:
        """Whether there is an answer; a failure is none."""
        known = self.answers.get((conversation, run))
        return known is not None and known.error is None

    def add(self, answer: Answer) -> None:
        """Append an answer. It outlives this process when this returns, whatever ends that.

        Raises
        ------
        UserError
            If it can't be written.
        """
        line = json.dumps(answer.to_dict()).encode() + b"\n"  # ASCII: also half a pair of surrogates has its escape
        length = self._stream.tell()
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            self._cut(length)  # there may be room again for the next answer: it must not follow half a line
            raise self._full(error) from None
        self._written += 1
        _keep(self.answers, answer)

    def sync(self) -> None:
        """Wait until what was appended is on the disk, so that it outlives a failure of power too.

        From several threads at once, the disk is waited for once.

        Raises
        ------
        UserError
            If it can't be written.
        """
        wanted = self._written
        with self._lock:
            if self._synced >= wanted:
                return
            written = self._written
            try:
                os.fsync(self._stream.fileno())
            except OSError as error:
                raise self._full(error) from None
            self._synced = written

    def _cut(self, length: int) -> None:
        try:
            self._stream.truncate(length)
            self._stream.seek(length)
        except OSError as error:
            raise self._full(error) from None

    def _full(self, error: OSError) -> UserError:
        return UserError(not_written(self.path, error))


def check_manifest(folder: Path, manifest: Mapping) -> None:
    """Refuse a folder in which something else was asked.

    Parameters
    ----------
    folder : Path
        Of the session.
    manifest : mapping
        What is to be asked.

    Raises
    ------
    UserError
        If the folder's manifest differs, or is no manifest; it names what differs.
    """
    path = folder / MANIFEST
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["asked"]
        known = {name: known[name] for name in manifest}
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path}: is no manifest of a session. Choose another folder.") from None
    differing = [name for name in manifest if known[name] != manifest[name]]
    if differing:
        said = "; ".join(f"{name}: {_brief(known[name])} there, {_brief(manifest[name])} now" for name in differing)
        raise UserError(
            f"{folder}: holds a session that asked something else ({said}). "
            "Give the same data and options as then, or another folder."
        )


def write_manifest(folder: Path, manifest: Mapping, about: Mapping) -> None:
    """Write what is asked, unless that is there.

    Parameters
    ----------
    folder : Path
        Of the session.
    manifest, about : mapping
        What a later session has to ask as well, and what is only good to know.

    Raises
    ------
    UserError
        If it can't be written.
    """
    path = folder / MANIFEST
    if path.exists():
        return
    content = {"asked": dict(manifest), "about": dict(about)}
    try:
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UserError(not_written(path, error)) from None


def require_same_requests(folder: Path, answers: Answers, questions: Questions, runs: int) -> None:
    """Refuse answers that belong to no request of this session.

    Raises
    ------
    UserError
        If an answer is to another request, or of a run or conversation that isn't asked for now.
    """
    known = set(questions.conversations)
    for conversation, run in answers:
        if run > runs or conversation not in known:
            raise UserError(
                f"{folder}: holds answers of run {run:,}, conversation {conversation!r}, which are left out now. "
                "Give at least as many --runs and as great a --limit as then, or another folder."
            )
        if answers[conversation, run].request_sha256 != questions.request_sha256(conversation):
            raise UserError(
                f"{folder}: the answer to conversation {conversation!r}, run {run:,}, is to another request than "
                "this version would send. Choose another folder."
            )


def _brief(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text[:12]}.." if len(text) == 64 and text.isalnum() else text
