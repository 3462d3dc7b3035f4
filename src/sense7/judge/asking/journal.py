"""What a session of a judge has been answered so far: kept so that no paid answer is lost or paid twice.

Beside the logs stands ``journal.jsonl``: one line per answer, appended before anything else is done with it.
``manifest.json`` says what was asked; a session that would ask something else is refused. It also lists the
conversations with their ground truth, so that the answers of an interrupted session can be evaluated as they stand.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.files import not_written, reason, write_whole
from sense7.judge.asking.answers import NOT_ASKED, Answer, add_answers
from sense7.judge.asking.questions import Questions
from sense7.judge.predictions import Predictions, prediction_path

__all__ = ["Answers", "Journal"]

try:
    import fcntl
except ImportError:  # Windows: there two sessions at once in one folder are not noticed
    fcntl = None

JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"

_PLANNED = ("conversation", "participant", "ground_truth")

Answers = dict[tuple[str, int], Answer]
"""(conversation, run) -> answer."""


def read_journal(path: Path) -> tuple[Answers, int]:
    """Read the answers of a session."""
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
    """An open journal; see :meth:`open`."""

    def __init__(self, path: Path, answers: Answers, stream):
        self.path, self.answers, self._stream = path, answers, stream
        self.written = self.synced = 0
        self.unlocked = ""

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator["Journal"]:
        """Open a journal to add to it; a line that was cut off by a kill is taken away."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("ab", buffering=0)  # nothing is left that would fail again when it is closed
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        unlocked = ""
        with stream:
            if fcntl:
                try:  # the lock ends with the process, however that ends
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise UserError(f"{path.parent}: another session is at work here. Wait for its end.") from None
                except OSError as error:
                    unlocked = (
                        f"{path.parent}: the disk has no locks ({reason(error)}), so that a second session in this "
                        "folder would not be noticed. Begin none before this one has ended"
                    )
            answers, length = read_journal(path)
            journal = cls(path, answers, stream)
            journal.unlocked = unlocked
            journal._cut(length)
            yield journal

    def is_answered(self, conversation: str, run: int) -> bool:
        """Whether there is an answer; a failure is none."""
        known = self.answers.get((conversation, run))
        return known is not None and known.error is None

    def add(self, answer: Answer) -> None:
        """Append an answer. When this returns it is on disk, and outlives the process."""
        line = json.dumps(answer.to_dict()).encode() + b"\n"  # ASCII: also half a pair of surrogates has its escape
        length = self._stream.tell()
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            self._cut(length)  # there may be room again for the next answer: it must not follow half a line
            raise self._full(error) from None
        self.written += 1
        _keep(self.answers, answer)

    def sync(self) -> None:
        """Wait until what was appended is on the disk, so that it outlives a failure of power too."""
        written = self.written
        if self.synced < written:
            try:
                os.fsync(self._stream.fileno())
            except OSError as error:
                raise self._full(error) from None
            self.synced = written

    def _cut(self, length: int) -> None:
        try:
            self._stream.truncate(length)
            self._stream.seek(length)
        except OSError as error:
            raise self._full(error) from None

    def _full(self, error: OSError) -> UserError:
        return UserError(not_written(self.path, error))


def check_manifest(folder: Path, manifest: Mapping, answers: Answers) -> None:
    """Refuse a folder in which something else was asked."""
    path = folder / MANIFEST
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["asked"]
        known = {name: known[name] for name in manifest}
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path}: is no manifest of a session. Choose another folder.") from None
    differing = [name for name in manifest if known[name] != manifest[name]]
    if set(differing) <= {"data", "request", "requests"} and all(
        answer.error is not None for answer in answers.values()
    ):
        return
    if differing:
        said = "; ".join(_difference(name, known[name], manifest[name]) for name in differing)
        raise UserError(
            f"{folder}: holds a session that asked something else ({said}). "
            "Give the same data and options as then, or another folder."
        )


def write_manifest(folder: Path, manifest: Mapping, about: Mapping, questions: Questions, runs: int) -> None:
    """Write what is asked. If that is there, only the list of conversations and the runs are brought up to date."""
    path = folder / MANIFEST
    known = questions.frame[list(_PLANNED)].astype(object)
    planned = {"runs": runs, **known.where(known.notna(), None).to_dict("list")}
    content = {"asked": dict(manifest), "about": dict(about)}
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        if there["asked"] == content["asked"]:  # else nothing is answered so far, see check_manifest
            content = there
        if content.get("planned") == planned:
            return
    content["planned"] = planned
    try:
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UserError(not_written(path, error)) from None


def with_unfinished_runs(folder: Path, read: list[Predictions]) -> list[Predictions]:
    """Add the runs of a session whose answers are in the journal and not, or not all, in a prediction file."""
    answers, _ = read_journal(folder / JOURNAL)
    if not answers:
        return read
    session = _session(folder / MANIFEST, may_lack_plan=bool(read))
    if session is None:
        return read
    files = {file.path: file for file in read}
    for run, path in session.paths.items():
        own = {conversation: answer for (conversation, number), answer in answers.items() if number == run}
        answered = sum(answer.error is None for answer in own.values())
        if answered and (path not in files or files[path].answered < answered):
            files[path] = _unfinished_run(session, run, own, answered)
    return list(files.values())


class _Session(NamedTuple):
    """What a manifest says of its session: the model, run -> prediction file, and the conversations asked about."""

    model: str
    paths: dict[int, Path]
    conversations: pd.DataFrame


def _session(path: Path, *, may_lack_plan: bool) -> _Session | None:
    """Session of a manifest; None if it lists no conversations, where it may lack them."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        asked, planned = manifest["asked"], manifest.get("planned")
        if planned is None and may_lack_plan:
            return None
        known = pd.DataFrame({name: pd.Series(planned[name], dtype=object) for name in _PLANNED})
        known["ground_truth"] = known["ground_truth"].astype(float)
        model, prompt, runs = asked["model"], asked["prompt name"], range(1, planned["runs"] + 1)
        return _Session(model, {run: prediction_path(path.parent, model, prompt, run) for run in runs}, known)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UserError(
            f"{path}: doesn't say which conversations were asked about, so that the answers beside it can't be "
            "evaluated. Finish the session first: give the same `sense7 judge run` again."
        ) from None


def _unfinished_run(session: _Session, run: int, own: Mapping[str, Answer], answered: int) -> Predictions:
    """Predictions of a run from its answers so far."""
    frame, path = session.conversations.copy(), session.paths[run]
    names = frame["conversation"]
    add_answers(frame, [own.get(name) or Answer(name, run, "", attempts=0, error=NOT_ASKED) for name in names])
    note = (
        f"run {run:,} of {len(session.paths):,} was interrupted: {answered:,} of {len(frame):,} answers so far, from "
        f"{JOURNAL}; the same `sense7 judge run` asks for the others"
    )
    return Predictions(path, path.stem, frame.assign(model=session.model, run=float(run)), frozenset(), [note])


def require_same_requests(folder: Path, answers: Answers, questions: Questions, runs: int) -> None:
    """Refuse answers that belong to no request of this session."""
    known = set(questions.conversations)
    for conversation, run in answers:
        if run > runs or conversation not in known:
            raise UserError(
                f"{folder}: holds answers of run {run:,}, conversation {conversation!r}, which are left out now. "
                "Give at least as many --runs and as great a --limit as then, or another folder."
            )
        answer = answers[conversation, run]
        if answer.error is None and answer.request_sha256 != questions.request_sha256(conversation):
            raise UserError(
                f"{folder}: the answer to conversation {conversation!r}, run {run:,}, is to another request than "
                "this version would send. Choose another folder."
            )


def _difference(name: str, known, wanted) -> str:
    """How an entry of a manifest differs: of parameters only those that do."""
    if isinstance(known, dict) and isinstance(wanted, dict):
        there = {key: value for key, value in known.items() if key not in wanted or wanted[key] != value}
        now = {key: value for key, value in wanted.items() if key not in known or known[key] != value}
        return f"{name}: {_brief(there) if there else 'nothing'} there, {_brief(now) if now else 'nothing'} now"
    return f"{name}: {_brief(known)} there, {_brief(wanted)} now"


def _brief(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text[:12]}.." if len(text) == 64 and text.isalnum() else text


check_arguments(globals())
