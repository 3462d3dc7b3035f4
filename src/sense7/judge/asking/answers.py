"""What came back for a request, in the endpoint's own words: kept whole, and read only when it is shown."""

import contextlib
import html
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pandas as pd

from sense7.judge.asking.requests import Questions
from sense7.judge.files import models_that_answered, write_predictions
from sense7.judge.ratings import ratings_sheet, read_ratings
from sense7.judge.reply import NOT_ASKED, USABLE, Reply, read_reply
from sense7.terminal import count_of

__all__ = ["Answer", "NoCompletion", "Written", "now", "read_response", "words_of"]

_COLUMNS = (
    "score",
    "authors_score",
    "doubtful",
    "status",
    "reason",
    "reasoning",
    "output",
    "returned_model",
    "system_fingerprint",
    "response_id",
    "finish_reason",
    "seconds",
    "input_tokens",
    "output_tokens",
)
"""What a frame of predictions has of an answer and its reply."""

_FILTER_CODE = re.compile(
    r"content.?(?:filter|policy|management|moderation)|moderation|guardrail", re.IGNORECASE
)
_THOUGHTS = (
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "reasoning_text",
    "thinking",
    "thinking_blocks",
    "thought",
)
_MESSAGES_IN = (
    "message",
    "detail",
    "msg",
    "error_description",
    "description",
    "error",
    "errors",
    "title",
    "reason",
    "text",
    "faultstring",
    "error_message",
    "errorMessage",
)
_ERROR_IN = ("error", "errors", "response", "body", "data", "fault")
"""Names of an object inside of which an error may stand."""

_NOT_SHOWN = re.compile(
    r"<(script|style|head)\b.{0,20000}?</\1>|<!--.{0,20000}?-->", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Answer:
    """The outcome of one request: what the endpoint returned, or why it returned nothing."""

    conversation: str
    run: int
    output: str | None = None
    refusal: str | None = None
    note: str | None = None
    finish_reason: str | None = None
    returned_model: str | None = None
    system_fingerprint: str | None = None
    response_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    attempts: int = 1
    time: str | None = None
    error: str | None = None
    prompt_cut: bool = False
    asked: list | None = None

    @cached_property
    def reply(self) -> Reply:
        """The reply, read once however often it is asked for: score, status, levels of the ratings asked for."""
        reply = read_reply(
            self.output, finish_reason=self.finish_reason, refusal=self.refusal, error=self.error
        )
        if self.note and reply.status == "parse_failure":
            reply = replace(reply, reason=f"{reply.reason}: {self.note}")
        if self.asked:
            reply = read_ratings(self.output, tuple(self.asked), reply)
        if self.attempts == 0:
            reply = replace(reply, status=NOT_ASKED, authors_score=math.nan)
        if reply.status not in USABLE:
            reply = replace(reply, levels={})
        return reply


@dataclass
class Written:
    """The prediction files of a session, and what its replies came to."""

    paths: list[Path] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)
    stopped: str = ""
    final: bool = False

    def add(
        self,
        questions: Questions,
        folder: Path,
        run: int,
        answered: Mapping[str, Answer],
        *,
        lacking: str,
        policy: str,
    ) -> list[Answer]:
        """Write the file of a run, and count what its replies came to; give an answer for each conversation.

        What has no answer was never sent, for the reason that is ``lacking``.
        """
        units = questions.frame
        answers = []
        for name in units["conversation"]:
            not_asked = Answer(name, run, attempts=0, error=lacking)
            answers.append(answered.get(name, not_asked))
        replies = [answer.reply for answer in answers]
        rows = [{**vars(answer.reply), **vars(answer)} for answer in answers]
        frame = pd.DataFrame(rows, units.index, _COLUMNS)
        frame = frame.assign(model=questions.model, run=run, prompt_sha256=questions.prompt.sha256)
        for name in ("conversation", "participant", "chat", "prompt", "ground_truth"):
            frame[name] = units[name]
        further = []
        if questions.ratings:
            levels = [reply.levels for reply in replies]
            further.append(ratings_sheet(units, questions.ratings, levels))
        self.paths.append(questions.path(folder, run))
        self.remarks += write_predictions(
            self.paths[-1], frame, policy=policy, further=further, own=True
        )
        self.remarks += [f"run {run:,}: {note}" for note in models_that_answered(frame)]
        self.statuses.update(frame["status"])
        self.doubtful += int(frame["doubtful"].sum())
        received = [reply for reply in replies if reply.status != NOT_ASKED]
        if received and not set(USABLE) & set(frame["status"]):
            number = count_of(len(received), "reply", "replies")
            last = describe_reply(received[-1])
            self.without_score.append(
                f"run {run:,}: none of {number} could be used; the last: {last}"
            )
        return answers


class NoCompletion(ValueError):
    """What was returned is no chat completion; what it says of itself, in words and by name."""

    def __init__(self, reason: str, response):
        self.body = response
        self.words = words_of(response)
        self.details = _error_in(response)
        super().__init__(f"{reason}: {self.words or 'without a message'}")


def read_response(status: int, response) -> dict:
    """Take from a response what an :class:`Answer` keeps of it: of a completion, or of a filter's refusal."""
    if 200 <= status < 300:
        return read_completion(response)
    problem = NoCompletion(f"HTTP {status}", response)
    error = problem.details
    metadata = error.get("metadata")
    is_moderated = isinstance(metadata, dict) and isinstance(metadata.get("reasons"), list)
    is_filtered = is_moderated or _FILTER_CODE.search(f"{error.get('code')} {error.get('type')}")
    if status in (400, 403) and is_filtered:
        words = words_of(error) or "refused by the endpoint's content filter"
        return {"refusal": words, "finish_reason": "content_filter"}
    raise problem


def read_completion(completion) -> dict:
    """Take from a chat completion what an :class:`Answer` keeps of it."""
    response = _object(completion)
    choices = response.get("choices")
    usage = _object(response.get("usage"))
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    is_completion = isinstance(choices, list) or usage
    if not choice and (response.get("error") or not is_completion):
        raise NoCompletion("what was returned is no chat completion", completion)
    message = choice.get("message")
    if not isinstance(message, dict):
        message = {"content": choice.get("text")}
    finish_reason = choice.get("finish_reason")
    if isinstance(finish_reason, dict):
        finish_reason = finish_reason.get("type")
    finish_reason = _text(finish_reason)
    answer = _content_of(message)
    failure = words_of(choice.get("error")) or words_of(response.get("error"))
    error = None
    if failure:
        error = f"the reply ended in an error ({finish_reason or 'no reason'})"
        if failure:
            error = f"{error}: {failure}"
    elif not isinstance(choices, list):
        error = f"the completion has no choices in it: it has {', '.join(sorted(response))}"
    elif not choice:
        error = "the completion has no reply in it: its choices are empty"
    elif not {"message", "text"} & set(choice):
        error = f"the completion has no message in it: its choice has {', '.join(sorted(choice))}"
    elif message.get("content") and set(answer.values()) == {None}:
        error = "the reply of the chat completion is no text"
    input_tokens = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
    # Some endpoints count the tokens of the prompt that they took from a cache apart from the others.
    cached = _count(usage.get("cache_read_input_tokens")) or 0
    cached += _count(usage.get("cache_creation_input_tokens")) or 0
    if input_tokens is not None and input_tokens < cached:
        input_tokens += cached
    return {
        **answer,
        "finish_reason": finish_reason,
        "returned_model": _text(response.get("model")),
        "system_fingerprint": _text(response.get("system_fingerprint")),
        "response_id": _text(response.get("id")),
        "input_tokens": input_tokens,
        "output_tokens": _count(usage.get("completion_tokens", usage.get("output_tokens"))),
        "error": error,
    }


def _content_of(message: dict) -> dict:
    """Text and refusal of a message, and a note if it has no text; parts that are thinking are none."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = []
    refusals = [_text(message.get("refusal"))]
    types = set()
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            types.add("text")
            continue
        fields = _object(part)
        part_type = fields.get("type", "text")
        if fields.get("thought") is True:
            part_type = "thought"
        elif not isinstance(part, dict):
            part_type = "unknown"
        types.add(str(part_type))
        if part_type in ("text", "output_text") and isinstance(fields.get("text"), str):
            texts.append(fields["text"])
        elif part_type == "refusal":
            refusals.append(_text(fields.get("refusal")) or "refused")
    text = "".join(texts)
    thoughts = [name for name in _THOUGHTS if message.get(name)]
    note = None  # on what a message without text has in its place
    if not text.strip() and types - {"text", "unknown"}:
        note = f"it has parts of the type {', '.join(sorted(types))} alone"
    elif not text.strip() and thoughts:
        note = f"its text stands in {thoughts[0]}, which holds what the model thinks"
    elif not text.strip() and (message.get("tool_calls") or message.get("function_call")):
        note = "it calls a tool"
    return {
        "output": text if texts else None,
        "refusal": " ".join(filter(None, refusals)) or None,
        "note": note,
    }


def _error_in(response) -> dict:
    """The object that says what went wrong, which may stand inside others; an empty one if there is none."""
    error = response
    while True:
        if isinstance(error, list) and len(error) == 1:
            error = error[0]
        if not isinstance(error, dict):
            return {}
        inner = None
        for name in _ERROR_IN:
            if isinstance(error.get(name), dict | list) and error[name]:
                inner = error[name]
                break
        if isinstance(inner, list):
            inner = inner[0]
        if not isinstance(inner, dict):
            return error
        error = inner


def _object(value) -> dict:
    return value if isinstance(value, dict) else {}


def _text(value) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value) -> int | None:
    if type(value) is int and 0 <= value <= 2**53:  # more can't be counted exactly in a frame
        return value
    return None


def words_of(problem) -> str:
    """Return what an endpoint says of a failure: an object, a list of them, a text, or HTML."""
    if isinstance(problem, str):
        if problem.lstrip().startswith(("{", "[")):  # JSON in a text of JSON
            with contextlib.suppress(ValueError, RecursionError):
                return words_of(json.loads(problem)) or _without_html(problem)
        return _without_html(problem)
    if isinstance(problem, list):
        return "; ".join(filter(None, map(words_of, problem)))
    if not isinstance(problem, dict):
        return ""
    messages = []
    for name in _MESSAGES_IN:
        message = words_of(problem.get(name))
        if message and not any(message in earlier for earlier in messages):
            messages.append(message)
    location = problem.get("loc")
    if messages and isinstance(location, list):
        messages = [f"{'.'.join(map(str, location))}: {messages[0]}"]
    metadata = problem.get("metadata")
    if isinstance(metadata, dict) and _text(metadata.get("raw")):
        messages.append(words_of(metadata["raw"]))
    if not messages:
        parts = [value for value in problem.values() if isinstance(value, dict | list)]
        messages = list(filter(None, map(words_of, parts)))
    return "; ".join(messages[:3])


def _without_html(text: str) -> str:
    text = text[:100_000]
    if re.search(r"<(?:!doctype|html|head|body|h\d|p|pre|div|center|title)\b", text, re.IGNORECASE):
        title = re.search(r"<title[^>]{0,200}>([^<]{0,300})", text, re.IGNORECASE)
        text = re.sub(r"<[^<>]{0,1000}>", " ", _NOT_SHOWN.sub(" ", text))
        if title and not text.strip():
            text = title[1]
        text = html.unescape(text)
    return re.sub(r" ([.,:;])(?= |$)", r"\1", " ".join(text.split()))


def describe_reply(reply: Reply) -> str:
    """Say in one line what an unusable reply was: its status, the reason, and the beginning of its text."""
    description = f"{reply.status} ({reply.reason})"
    text = " ".join(reply.text.split())
    if len(text) > 200:
        text = f"{text[:200]} .."
    if text:
        description += f": {text!r}"
    return description


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
