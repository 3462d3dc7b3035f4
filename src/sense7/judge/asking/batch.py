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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, write_whole
from sense7.judge.asking.answers import FILTERED, Answer, filter_refusal, read_completion, run_frame, without_score
from sense7.judge.asking.journal import MANIFEST
from sense7.judge.asking.questions import Questions
from sense7.judge.predictions import prediction_path, write_predictions
from sense7.terminal import count_of

__all__ = ["ADDRESS", "MISSING", "Imported", "custom_id", "export_requests", "import_replies"]

ADDRESS = "/v1/chat/completions"

MISSING = "no reply in the batch"

_LONGEST_NAME = 64 - len("run999999")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_ID = re.compile(r"run([1-9][0-9]{0,5})(-.+)")


@dataclass(frozen=True)
class Imported:
    """What replies came to.

    Attributes
    ----------
    paths : list of Path
        Prediction files, one a run.
    statuses : Counter
        Of all conversations in all runs.
    missing : int
        Requests without a reply; their status is api_error.
    repeated : int
        Further replies to a request that has one; the first that was answered counts.
    foreign : list of str
        Ids of replies to requests that these data and options do not make; they are left out.
    remarks : list of str
        What could not be written as it was.
    doubtful : int
        Doubtful readings, see :class:`sense7.judge.reply.Reply`.
    without_score : list of str
        A line for each run of which no reply could be used.
    """

    paths: list[Path]
    statuses: Counter
    missing: int
    repeated: int
    foreign: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)


def custom_id(conversation: str, run: int, request_sha256: str) -> str:
    """Name a request, in at most 64 characters (runs have up to six digits).

    A conversation's name stands in it as it is, if it has only letters, digits, ``_`` and ``-``, or else in Base64;
    where it is too long, its hash does.

    Examples
    --------
    >>> custom_id("T0001", 3, "a129f20eb0ca81d3")
    'run3-a129f20e-id-T0001'
    """
    return f"run{run}{_name(conversation, request_sha256)}"


def export_requests(questions: Questions, runs: int, path: str | Path) -> int:
    """Write the requests of all runs as JSON lines.

    Parameters
    ----------
    questions : Questions
        The requests of a run.
    runs : int
        How often each is made.
    path : path
        The file; whole or not at all.

    Returns
    -------
    int
        Number of requests.

    Raises
    ------
    UserError
        If it can't be written.
    """
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
    """Read the replies of a batch, in any order, and write a prediction file a run.

    Parameters
    ----------
    questions : Questions
        As they were exported.
    paths : sequence of paths
        Files of replies, those of errors included.
    folder : path
        Where prediction files go.
    runs : int, optional
        How many were exported; the highest that has a reply if not given.
    policy : {"strict", "authors"}
        Which reading of a reply IS_EMPATHY holds.

    Returns
    -------
    Imported
        Every conversation has its row in every file; nothing is guessed for a missing reply.

    Raises
    ------
    UserError
        If a file can't be read, a line is no reply, no reply belongs to these questions, or the folder holds a session.
    """
    folder = Path(folder)
    if (folder / MANIFEST).exists():
        raise UserError(f"{folder}: holds a session of `sense7 judge run`. Choose another folder.")
    replies = [reply for path in paths for reply in _replies(Path(path))]
    known = {_name(name, questions.request_sha256(name)): name for name in questions.conversations}
    answers: dict[tuple[str, int], Answer] = {}
    foreign, repeated = [], 0
    for name, record in replies:
        parts = _ID.fullmatch(name)
        conversation = known.get(parts[2]) if parts else None
        if conversation is None or (runs is not None and int(parts[1]) > runs):
            foreign.append(name)
            continue
        key = conversation, int(parts[1])
        answer = _answer(record, *key, questions.request_sha256(conversation))
        repeated += key in answers
        if key not in answers or (answers[key].error is not None and answer.error is None):
            answers[key] = answer
    if not answers:
        said = f"; the first is {foreign[0]!r}" if foreign else ""
        raise UserError(
            f"{', '.join(map(str, paths))}: none of {count_of(len(replies), 'reply', 'replies')} is to a request "
            f"of these data and options{said}. Give the data, model, prompt and shots with which the "
            "requests were exported."
        )
    highest = max(run for _, run in answers)
    if runs is None and highest > len(replies):
        raise UserError(
            f"{', '.join(map(str, paths))}: {count_of(len(replies), 'reply', 'replies')}, one of them to run "
            f"{highest:,}. "
            "Say with --runs how many runs were exported."
        )
    runs = runs or highest
    written, remarks, statuses, doubtful, without = [], [], Counter(), 0, []
    for run in range(1, runs + 1):
        of_run = {conversation: answer for (conversation, number), answer in answers.items() if number == run}
        frame = run_frame(questions, run, of_run, lacking=MISSING)
        path = prediction_path(folder, questions.model, questions.prompt.name, run)
        remarks += write_predictions(path, frame, policy=policy)
        written.append(path)
        statuses.update(frame["status"])
        doubtful += int(frame["doubtful"].sum())
        without += filter(None, [without_score(run, of_run)])
    missing = runs * len(known) - len(answers)
    return Imported(written, statuses, missing, repeated, foreign, remarks, doubtful, without)


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
    response = record.get("response")
    if not isinstance(response, dict):
        return Answer(conversation, run, sha256, error=_message(record.get("error")) or "the reply has no response")
    body, status = response.get("body"), response.get("status_code")
    if status != 200:
        problem = body.get("error") if isinstance(body, dict) else None
        refusal = filter_refusal(status, problem)
        if refusal is not None:
            return Answer(conversation, run, sha256, refusal=refusal, finish_reason=FILTERED)
        said = _message(problem) or "without a message"
        return Answer(conversation, run, sha256, error=f"HTTP {status}: {said}")
    try:
        return Answer(conversation, run, sha256, **read_completion(body))
    except ValueError as error:
        return Answer(conversation, run, sha256, error=str(error))


def _message(error) -> str:
    """Words of an error; "" if it has none."""
    if isinstance(error, str):
        return error
    said = [error.get(name) for name in ("code", "message")] if isinstance(error, dict) else []
    return ": ".join(str(part) for part in said if part)


check_arguments(globals())
