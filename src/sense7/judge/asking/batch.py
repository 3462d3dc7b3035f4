"""The same requests as a batch: a file for OpenAI's Batch API, and its replies back into prediction files.

Each request has a ``custom_id`` of its run and a digest of the request and its conversation. So replies are matched by
what they say, and one to a request that these data and options would not make is foreign.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.records import json_lines
from sense7.files import digest_of, not_written, reading, require_as_written, write_whole
from sense7.judge.asking.answers import (
    Answer,
    NoCompletion,
    Written,
    read_response,
    words_of,
)
from sense7.judge.asking.requests import Questions
from sense7.judge.files import JOURNAL
from sense7.terminal import count_of

__all__ = ["MISSING", "Imported", "export_requests", "import_replies"]

MISSING = "no reply in the batch"
PATH = "/v1/chat/completions"
_ID = re.compile(r"run([1-9][0-9]{0,5})-(.+)")


@dataclass
class Imported(Written):
    """What replies came to."""

    missing: int = 0
    repeated: int = 0
    foreign: list[str] = field(default_factory=list)


def request_name(unit) -> str:
    """Name a request without its run, by digest: a conversation may have any name."""
    content = f"{unit.conversation} {unit.request_sha256}".encode("utf-8", "surrogatepass")
    return digest_of(content)[:40]


def export_requests(
    questions: Questions, runs: int, path: str | Path, *, replace: bool = False
) -> int:
    """Write the requests of all runs as JSON lines."""
    lines = []
    for run in range(1, runs + 1):
        for conversation, unit in questions.units.items():
            request = {
                "custom_id": f"run{run}-{request_name(unit)}",
                "method": "POST",
                "url": PATH,
                "body": questions.body(conversation),
            }
            lines.append(json.dumps(request) + "\n")
    try:
        write_whole(Path(path), "".join(lines), replace=replace)
    except OSError as error:
        raise UserError(not_written(path, error)) from None
    return len(lines)


def import_replies(
    questions: Questions,
    paths: Sequence[str | Path],
    folder: str | Path,
    *,
    runs: int | None = None,
    policy="strict",
) -> Imported:
    """Prediction files of all runs, one each, from the replies of a batch in any order."""
    folder = Path(folder)
    if (folder / JOURNAL).exists():
        raise UserError(f"{folder}: holds a session of `sense7 judge run`. Choose another folder.")
    imported = Imported()
    records = list(chain.from_iterable(_replies(Path(path)) for path in paths))
    conversations = {request_name(unit): name for name, unit in questions.units.items()}
    answers = defaultdict(dict)
    for record in records:
        parts = _ID.fullmatch(record["custom_id"])
        # Each run has a reply, so that there are no more runs than replies.
        if parts is None or parts[2] not in conversations or int(parts[1]) > (runs or len(records)):
            imported.foreign.append(record["custom_id"])
            continue
        answer = _answer(record, conversations[parts[2]], int(parts[1]))
        of_run = answers[answer.run]
        earlier = of_run.setdefault(answer.conversation, answer)
        if earlier is not answer:
            imported.repeated += 1
            if earlier.error is not None and answer.error is None:
                of_run[answer.conversation] = answer
    if not answers:
        files = ", ".join(map(str, paths))
        first = f"; the first is {imported.foreign[0]!r}" if imported.foreign else ""
        raise UserError(
            f"{files}: none of {count_of(len(records), 'reply', 'replies')} is to a request of these data and "
            f"options{first}. Give the data, model, prompt and number of shots with which the requests were exported."
        )
    runs = runs or max(answers)
    imported.missing = runs * len(conversations) - sum(map(len, answers.values()))
    numbers = range(1, runs + 1)
    # All of them, before the first is replaced.
    require_as_written(questions.path(folder, run) for run in numbers)
    for run in numbers:
        imported.add(questions, folder, run, answers[run], lacking=MISSING, policy=policy)
    return imported


def _replies(path: Path) -> Iterator[dict]:
    """Every reply in a file."""
    with reading(path) as stream:
        for line, record in json_lines(path, stream):
            if isinstance(record, UserError):
                raise record
            if not isinstance(record, dict) or not isinstance(record.get("custom_id"), str):
                raise UserError(
                    f"{path}: {line} is no reply of a batch: it has no custom_id. Check the file."
                )
            if "body" in record and not {"response", "error"} & set(record):
                raise UserError(
                    f"{path}: {line} is a request, not its reply. "
                    "Give the files that came of the batch."
                )
            yield record


def _answer(record: dict, conversation: str, run: int) -> Answer:
    """The answer in a line of replies; a request that was never carried out is not asked."""
    response = record.get("response")
    if not isinstance(response, dict):
        error = record.get("error")
        code = str(error.get("code") or "") if isinstance(error, dict) else ""
        message = ": ".join(filter(None, (code, words_of(error)))) or "the reply has no response"
        attempts = int(code not in ("batch_expired", "batch_cancelled"))
        return Answer(conversation, run, attempts=attempts, error=message)
    status = response.get("status_code")
    if status is None:
        status = 200
    try:
        status = int(status)
    except (TypeError, ValueError):
        message = f"its status_code is {str(status)[:40]!r}, which is no number"
        return Answer(conversation, run, error=message)
    try:
        return Answer(conversation, run, **read_response(status, response.get("body")))
    except NoCompletion as problem:
        return Answer(conversation, run, error=str(problem))
