"""The same requests as a batch: a file for OpenAI's Batch API, and its replies back into prediction files.

Each request has a ``custom_id`` that says which it is: run, the beginning of its hash, conversation. So replies are
matched by what they say, and one to a request that these data and options would not make is foreign.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, write_whole
from sense7.judge.answers import FILTERED, Answer, NoCompletion, Written, filter_refusal, read_completion, words_of
from sense7.judge.journal import JOURNAL
from sense7.judge.requests import Questions
from sense7.terminal import count_of

__all__ = ["MISSING", "Imported", "export_requests", "import_replies"]

MISSING = "no reply in the batch"
_LONGEST_NAME = 64 - len("run999999")
_ID = re.compile(r"run([1-9][0-9]{0,5})(-.+)")


@dataclass
class Imported(Written):
    """What replies came to."""

    missing: int = 0
    repeated: int = 0
    foreign: list[str] = field(default_factory=list)


def custom_id(conversation: str, run: int, request_sha256: str) -> str:
    """Name a request, in at most 64 characters (runs have up to six digits)."""
    return f"run{run}{_name(conversation, request_sha256)}"


def _name(conversation: str, request_sha256: str) -> str:
    """A request's name without its run."""
    coded, begin = conversation.encode("utf-8", "surrogatepass"), f"-{request_sha256[:8]}"
    plain = f"{begin}-id-{conversation}"
    if re.fullmatch(r"[A-Za-z0-9_-]+", conversation) and len(plain) <= _LONGEST_NAME:
        return plain
    if len(name := f"{begin}-b64-{base64.urlsafe_b64encode(coded).decode().rstrip('=')}") <= _LONGEST_NAME:
        return name
    return f"{begin}-sha-{hashlib.sha256(coded).hexdigest()[:32]}"


def export_requests(questions: Questions, runs: int, path: str | Path) -> int:
    """Write the requests of all runs as JSON lines."""
    lines = [
        json.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": questions.body(chat)})
        for run in range(1, runs + 1)
        for chat in questions.conversations
        for name in [custom_id(chat, run, questions.request_sha256(chat))]
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
    folder, found, named = Path(folder), Imported(), ", ".join(map(str, paths))
    if (folder / JOURNAL).exists():
        raise UserError(f"{folder}: holds a session of `sense7 judge run`. Choose another folder.")
    replies = [reply for path in paths for reply in _replies(Path(path))]
    said = count_of(len(replies), "reply", "replies")
    known = {_name(name, questions.request_sha256(name)): name for name in questions.conversations}
    answers: dict[tuple[int, str], Answer] = {}
    for name, record in replies:
        parts = _ID.fullmatch(name)
        conversation = known.get(parts[2]) if parts else None
        if conversation is None or (runs is not None and int(parts[1]) > runs):
            found.foreign.append(name)
            continue
        answer = _answer(record, conversation, int(parts[1]))
        earlier = answers.get((answer.run, conversation))
        found.repeated += earlier is not None
        if earlier is None or (earlier.error is not None and answer.error is None):
            answers[answer.run, conversation] = answer
    if not answers:
        first = f"; the first is {found.foreign[0]!r}" if found.foreign else ""
        raise UserError(
            f"{named}: none of {said} is to a request of these data and options{first}. Give the data, model, prompt "
            "and shots with which the requests were exported."
        )
    highest = max(run for run, _ in answers)
    if runs is None and highest > len(replies):
        raise UserError(
            f"{named}: {said}, one of them to run {highest:,}. Say with --runs how many runs were exported."
        )
    runs = runs or highest
    found.missing = runs * len(questions.conversations) - len(answers)
    for run in range(1, runs + 1):
        of_run = {conversation: answer for (number, conversation), answer in answers.items() if number == run}
        found.add(questions, folder, run, of_run, policy=policy, lacking=MISSING)
    return found


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


def _answer(record: dict, conversation: str, run: int) -> Answer:
    """The answer in a line of replies; a request that was never carried out is not asked."""
    response, error = record.get("response"), record.get("error")
    if not isinstance(response, dict):
        code = error.get("code") if isinstance(error, dict) else ""
        said = ": ".join(filter(None, (str(code or ""), words_of(error)))) or "the reply has no response"
        never = code in ("batch_expired", "batch_cancelled")
        return Answer(conversation, run, attempts=0 if never else 1, error=said)
    body, status = response.get("body"), response.get("status_code", 200)
    if status != 200:
        refusal = filter_refusal(status, body.get("error") if isinstance(body, dict) else None)
        if refusal is not None:
            return Answer(conversation, run, refusal=refusal, finish_reason=FILTERED)
        return Answer(conversation, run, error=f"HTTP {status}: {words_of(body) or 'without a message'}")
    try:
        return Answer(conversation, run, **read_completion(body))
    except NoCompletion as error:
        return Answer(conversation, run, error=str(error))
