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
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.origins import RepliesSeen, in_words, other_models
from sense7.judge.ratings import ratings_sheet, read_ratings
from sense7.judge.reply import FAILED, NOT_ASKED, USABLE, Reply, ending, read_reply
from sense7.terminal import count_of

__all__ = ["Answer", "NoCompletion", "Written", "now", "read_response", "words_of"]

_COLUMNS = {
    **{
        "score": float,
        "authors_score": float,
        "doubtful": bool,
        "status": object,
        "reason": object,
    },
    **dict.fromkeys(("reasoning", "output", "returned_model", "system_fingerprint"), object),
    **dict.fromkeys(("response_id", "finish_reason"), object),
    **dict.fromkeys(("seconds", "input_tokens", "output_tokens"), float),
}
"""What a frame of predictions has of an answer and its reply."""

_FILTER_CODE = re.compile(
    r"content.?(?:filter|policy|management|moderation)|moderation|guardrail", re.IGNORECASE
)
_THOUGHTS = (
    *("reasoning_content", "reasoning", "reasoning_details", "reasoning_text"),
    *("thinking", "thinking_blocks", "thought"),
)
_SAID_IN = (
    *("message", "detail", "msg", "error_description", "description"),
    *("error", "errors", "title", "reason", "text", "faultstring", "error_message", "errorMessage"),
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
        reply = replace(reply, status="prompt_cut") if self.prompt_cut else reply
        if self.asked:
            reply = read_ratings(self.output, tuple(self.asked), reply)
        if self.attempts == 0:
            reply = replace(reply, status=NOT_ASKED, authors_score=math.nan)
        return reply if reply.status in USABLE else replace(reply, levels={})


def answers_to(
    frame: pd.DataFrame, run: int, answers: Mapping[str, Answer], lacking: str
) -> list[Answer]:
    """Answers to all conversations of a frame, in its order: what has none was never sent."""
    return [
        answers.get(name) or Answer(name, run, attempts=0, error=lacking)
        for name in frame["conversation"]
    ]


def with_answers(frame: pd.DataFrame, answers: list[Answer]) -> pd.DataFrame:
    """Frame with one row per conversation, and what was answered."""
    rows = [vars(answer.reply) | vars(answer) for answer in answers]
    known = pd.DataFrame(rows, columns=list(_COLUMNS), index=frame.index, dtype=object)
    return pd.concat([frame, known.where(known.notna(), None).astype(_COLUMNS)], axis=1)


@dataclass
class Written:
    """The prediction files of a session or a batch, and what its replies came to."""

    paths: list[Path] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)
    stopped: str = ""
    final: bool = False
    seen: RepliesSeen = field(default_factory=RepliesSeen)

    def add(
        self, questions: Questions, folder: Path, run: int, answers: list[Answer], *, policy: str
    ) -> pd.DataFrame:
        """Write the file of a run, and give its frame."""
        units = questions.frame
        frame = with_answers(
            units[["conversation", "participant", "chat", "prompt", "ground_truth"]], answers
        )
        frame = frame.assign(model=questions.model, run=run, prompt_sha256=questions.prompt.sha256)
        replies = [answer.reply for answer in answers]
        levels = [reply.levels for reply in replies]
        further = [ratings_sheet(units, questions.ratings, levels)] if questions.ratings else []
        self.paths.append(prediction_path(folder, questions.model, questions.prompt.name, run))
        self.remarks += write_predictions(
            self.paths[-1],
            frame,
            policy=policy,
            further=further,
            own=True,
        )
        self.remarks += [f"run {run:,}: {note}" for note in other_models(frame)]
        repeated, number = self.seen.repeated(frame)
        if repeated:
            self.remarks.append(f"run {run:,}: {in_words(repeated, number)}")
        self.statuses.update(frame["status"])
        self.doubtful += int(frame["doubtful"].sum())
        came = [reply for reply in replies if reply.status != NOT_ASKED]
        if came and not any(reply.status in USABLE for reply in came):
            said = f"none of {count_of(len(came), 'reply', 'replies')} could be used; the last: "
            self.without_score.append(f"run {run:,}: {said}{describe_reply(came[-1])}")
        return frame


class NoCompletion(ValueError):
    """What was returned is no chat completion; what it says of itself, in words and by name."""

    def __init__(self, reason: str, said):
        self.body = said
        self.words = words_of(said)
        self.known = _error_in(said)
        super().__init__(f"{reason}: {self.words or 'without a message'}")


def read_response(status: int, said) -> dict:
    """Take from a response what an :class:`Answer` keeps of it: of a completion, or of a filter's refusal."""
    if 200 <= status < 300:
        return read_completion(said)
    problem = NoCompletion(f"HTTP {status}", said)
    code, kind, metadata = map(problem.known.get, ("code", "type", "metadata"))
    moderated = isinstance(metadata, dict) and isinstance(metadata.get("reasons"), list)
    if status in (400, 403) and (moderated or _FILTER_CODE.search(f"{code} {kind}")):
        words = words_of(problem.known) or "refused by the endpoint's content filter"
        return {"refusal": words, "finish_reason": "content_filter"}
    raise problem


def read_completion(completion) -> dict:
    """Take from a chat completion what an :class:`Answer` keeps of it."""
    known = completion if isinstance(completion, dict) else {}
    choices, usage = known.get("choices"), known.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    choice = (
        choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    )
    if not choice and (known.get("error") or not (isinstance(choices, list) or usage)):
        raise NoCompletion("what was returned is no chat completion", completion)
    message = (
        choice.get("message")
        if isinstance(choice.get("message"), dict)
        else {"content": choice.get("text")}
    )
    finish = choice.get("finish_reason")
    finish = _text(finish.get("type") if isinstance(finish, dict) else finish)
    content = message.get("content")
    parts = content if isinstance(content, list) else [] if content is None else [content]
    texts, refusals, kinds = [], [_text(message.get("refusal"))], set()
    for said in parts:  # some of them may be thinking
        part = (
            said
            if isinstance(said, dict)
            else {"text": said}
            if isinstance(said, str)
            else {"type": "unknown"}
        )
        kind = "thought" if part.get("thought") is True else part.get("type", "text")
        kinds.add(str(kind))
        if kind in ("text", "output_text") and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "refusal":
            refusals.append(_text(part.get("refusal")) or "refused")
    output, refusal, note = (
        "".join(texts) if texts else None,
        " ".join(filter(None, refusals)) or None,
        None,
    )
    if not (output or "").strip():
        thought_in = next((name for name in _THOUGHTS if message.get(name)), "")
        if kinds - {"text", "unknown"}:
            note = f"it has parts of the type {', '.join(sorted(kinds))} alone"
        elif thought_in:
            note = f"its text stands in {thought_in}, which holds what the model thinks"
        elif message.get("tool_calls") or message.get("function_call"):
            note = "it calls a tool"
    # Some endpoints count tokens that they took from a cache apart from those of the prompt.
    tokens = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
    cached = sum(
        _count(usage.get(name)) or 0
        for name in ("cache_read_input_tokens", "cache_creation_input_tokens")
    )
    failed = words_of(choice.get("error")) or words_of(known.get("error"))
    error = None
    if failed or ending(finish) == FAILED:
        error = ": ".join(
            filter(None, (f"the reply ended in an error ({finish or 'no reason'})", failed))
        )
    elif not choice:
        error = "the completion has no reply in it: its choices are empty"
    elif content and output is None and not refusal and not note:
        error = "the reply of the chat completion is no text"
    return {
        "output": output,
        "refusal": refusal,
        "note": note,
        "finish_reason": finish,
        "returned_model": _text(known.get("model")),
        "system_fingerprint": _text(known.get("system_fingerprint")),
        "response_id": _text(known.get("id")),
        "input_tokens": tokens + cached if tokens is not None and tokens < cached else tokens,
        "output_tokens": _count(usage.get("completion_tokens", usage.get("output_tokens"))),
        "error": error,
    }


def _error_in(said) -> dict:
    """The object that says what went wrong, which may stand inside others; an empty one if there is none."""
    while True:
        said = said[0] if isinstance(said, list) and len(said) == 1 else said
        if not isinstance(said, dict):
            return {}
        inner = next(
            (
                said[name]
                for name in _ERROR_IN
                if isinstance(said.get(name), dict | list) and said[name]
            ),
            None,
        )
        inner = inner[0] if isinstance(inner, list) else inner
        if not isinstance(inner, dict):
            return said
        said = inner


def _text(value) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value) -> int | None:
    return (
        value if type(value) is int and 0 <= value <= 2**53 else None
    )  # more can't be counted exactly in a frame


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
    said = [words_of(problem[name]) for name in _SAID_IN if name in problem]
    said = [
        words
        for number, words in enumerate(said)
        if words and not any(words in one for one in said[:number])
    ]
    if said and isinstance(where := problem.get("loc"), list):
        said = [f"{'.'.join(map(str, where))}: {said[0]}"]
    metadata = problem.get("metadata")
    if isinstance(metadata, dict) and _text(metadata.get("raw")):
        said.append(words_of(metadata["raw"]))
    if not said:
        said = [words_of(value) for value in problem.values() if isinstance(value, dict | list)]
        said = list(filter(None, said))
    return "; ".join(said[:3])


def _without_html(text: str) -> str:
    text = text[:100_000]
    if re.search(r"<(?:!doctype|html|head|body|h\d|p|pre|div|center|title)\b", text, re.IGNORECASE):
        title = re.search(r"<title[^>]{0,200}>([^<]{0,300})", text, re.IGNORECASE)
        text = re.sub(r"<[^<>]{0,1000}>", " ", _NOT_SHOWN.sub(" ", text))
        text = html.unescape(text if text.strip() or not title else title[1])
    return re.sub(r" ([.,:;])(?= |$)", r"\1", " ".join(text.split()))


def describe_reply(reply: Reply) -> str:
    """Say in one line what an unusable reply was: its status, the reason, and the beginning of its text."""
    text = " ".join(reply.text.split())
    shown = f": {text if len(text) <= 200 else f'{text[:200]} ..'!r}" if text else ""
    return f"{reply.status} ({reply.reason}){shown}"


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
