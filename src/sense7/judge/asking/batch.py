"""The same requests as a batch: a file for OpenAI's Batch API, and its replies back into prediction files.

Each request has a ``custom_id`` that says which it is: run, the beginning of its hash, conversation. So replies need no
table beside them: they are matched by what they say, and one to a request that these data and options would not make
is foreign.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, write_whole
from sense7.judge.asking.answers import (
    FILTERED,
    Answer,
    NoCompletion,
    filter_refusal,
    read_completion,
    run_frame,
    without_score,
    words_of,
)
from sense7.judge.asking.journal import MANIFEST
from sense7.judge.asking.questions import Questions
from sense7.judge.predictions import prediction_path, write_predictions
from sense7.terminal import count_of

__all__ = ["ADDRESS", "MISSING", "Imported", "export_requests", "import_replies"]

ADDRESS = "/v1/chat/completions"

MISSING = "no reply in the batch"

_LONGEST_NAME = 64 - len("run999999")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_ID = re.compile(r"run([1-9][0-9]{0,5})(-.+)")


@dataclass
class Imported:
    """What replies came to."""

    paths: list[Path]
    statuses: Counter
    missing: int
    repeated: int
    foreign: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)


def custom_id(conversation: str, run: int, request_sha256: str) -> str:
    """Name a request, in at most 64 characters (runs have up to six digits)."""
    return f"run{run}{_name(conversation, request_sha256)}"


def export_requests(questions: Questions, runs: int, path: str | Path) -> int:
    """Write the requests of all runs as JSON lines."""
    lines = [
        json.dumps(
            {
                "custom_id": custom_id(conversation, run, questions.request_sha256(conversation)),
                "method": "POST",
                "url": ADDRESS,
                "body": questions.body(conversation),
            }
        )
        for run in range(1, runs + 1)
        for conversation in questions.conversations
    ]
    try:
        write_whole(Path(path), "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise UserError(not_written(path, error)) from None
    return len(lines)


def import_replies(
    questions: Questions, paths: Sequence[str | Path], folder: str | Path, *, runs: int | None = None, policy="strict"
) -> Imported:
    """Prediction files of all runs, one each, from the replies of a batch in any order."""
    folder = Path(folder)
    if (folder / MANIFEST).exists():
        raise UserError(f"{folder}: holds a session of `sense7 judge run`. Choose another folder.")
    replies = [reply for path in paths for reply in _replies(Path(path))]
    matched = _matched(questions, replies, runs)
    if not matched.answers:
        raise _no_answer(paths, replies, matched.foreign)
    runs = runs or _highest_run(paths, replies, matched.answers)
    imported = Imported(
        paths=[],
        statuses=Counter(),
        missing=runs * len(questions.conversations) - len(matched.answers),
        repeated=matched.repeated,
        foreign=matched.foreign,
    )
    for run in range(1, runs + 1):
        _write_run(questions, run, matched.answers, folder, policy, imported)
    return imported


@dataclass
class _Matched:
    """Answer to each conversation and run; further replies to one of them; ids of replies to other requests."""

    answers: dict[tuple[str, int], Answer] = field(default_factory=dict)
    repeated: int = 0
    foreign: list[str] = field(default_factory=list)


def _matched(questions: Questions, replies: Sequence[tuple[str, dict]], runs: int | None) -> _Matched:
    """Replies matched with requests by their ids; of several to one request, the first that was answered."""
    known = {_name(name, questions.request_sha256(name)): name for name in questions.conversations}
    matched = _Matched()
    for name, record in replies:
        parts = _ID.fullmatch(name)
        conversation = known.get(parts[2]) if parts else None
        if conversation is None or (runs is not None and int(parts[1]) > runs):
            matched.foreign.append(name)
            continue
        key = conversation, int(parts[1])
        answer = _answer(record, *key, questions.request_sha256(conversation))
        earlier = matched.answers.get(key)
        matched.repeated += earlier is not None
        if earlier is None or (earlier.error is not None and answer.error is None):
            matched.answers[key] = answer
    return matched


def _no_answer(paths: Sequence[str | Path], replies: Sequence, foreign: Sequence[str]) -> UserError:
    said = f"; the first is {foreign[0]!r}" if foreign else ""
    return UserError(
        f"{', '.join(map(str, paths))}: none of {count_of(len(replies), 'reply', 'replies')} is to a request "
        f"of these data and options{said}. Give the data, model, prompt and shots with which the "
        "requests were exported."
    )


def _highest_run(paths: Sequence[str | Path], replies: Sequence, answers: Mapping[tuple[str, int], Answer]) -> int:
    """Number of runs by the highest that has an answer, unless it can't be as many."""
    highest = max(run for _, run in answers)
    if highest > len(replies):
        raise UserError(
            f"{', '.join(map(str, paths))}: {count_of(len(replies), 'reply', 'replies')}, one of them to run "
            f"{highest:,}. "
            "Say with --runs how many runs were exported."
        )
    return highest


def _write_run(
    questions: Questions,
    run: int,
    answers: Mapping[tuple[str, int], Answer],
    folder: Path,
    policy: str,
    imported: Imported,
) -> None:
    """Write the prediction file of one run, and add to what was imported."""
    of_run = {conversation: answer for (conversation, number), answer in answers.items() if number == run}
    frame = run_frame(questions, run, of_run, lacking=MISSING)
    path = prediction_path(folder, questions.model, questions.prompt.name, run)
    imported.remarks.extend(write_predictions(path, frame, policy=policy))
    imported.paths.append(path)
    imported.statuses.update(frame["status"])
    imported.doubtful += int(frame["doubtful"].sum())
    if line := without_score(run, of_run):
        imported.without_score.append(line)


def _name(conversation: str, request_sha256: str) -> str:
    """A request's name without its run."""
    coded = conversation.encode("utf-8", "surrogatepass")
    begin = f"-{request_sha256[:8]}"
    if _PLAIN.fullmatch(conversation) and len(name := f"{begin}-id-{conversation}") <= _LONGEST_NAME:
        return name
    if len(name := f"{begin}-b64-{base64.urlsafe_b64encode(coded).decode().rstrip('=')}") <= _LONGEST_NAME:
        return name
    return f"{begin}-sha-{hashlib.sha256(coded).hexdigest()[:32]}"


def _replies(path: Path) -> Iterator[tuple[str, dict]]:
    """Name and content of every reply in a file."""
    with reading(path) as stream:  # a pipe might never end
        content = stream.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: not a text in UTF-8 (byte {error.start + 1:,}). Download the replies again."
        ) from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{path}: line {number:,} is no JSON ({one_line(error)}). Download the replies again."
            ) from None
        if not isinstance(record, dict) or not isinstance(record.get("custom_id"), str):
            raise UserError(f"{path}: line {number:,} is no reply of a batch: it has no custom_id. Check the file.")
        yield record["custom_id"], record


def _answer(record: dict, conversation: str, run: int, sha256: str) -> Answer:
    """The answer in a line of replies; a request that was never carried out is not asked."""
    response, error = record.get("response"), record.get("error")
    if not isinstance(response, dict):
        code = error.get("code") if isinstance(error, dict) else ""
        said = ": ".join(filter(None, (str(code or ""), words_of(error)))) or "the reply has no response"
        never = code in ("batch_expired", "batch_cancelled")
        return Answer(conversation, run, sha256, attempts=0 if never else 1, error=said)
    body, status = response.get("body"), response.get("status_code", 200)
    if status != 200:
        problem = body.get("error") if isinstance(body, dict) else None
        refusal = filter_refusal(status, problem)
        if refusal is not None:
            return Answer(conversation, run, sha256, refusal=refusal, finish_reason=FILTERED)
        return Answer(conversation, run, sha256, error=f"HTTP {status}: {words_of(body) or 'without a message'}")
    try:
        return Answer(conversation, run, sha256, **read_completion(body))
    except NoCompletion as error:
        return Answer(conversation, run, sha256, error=str(error))


check_arguments(globals())
