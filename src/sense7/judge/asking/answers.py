"""What came back for a request, in the endpoint's own words: kept whole, and read only when it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime

import pandas as pd

from sense7.arguments import check_arguments
from sense7.judge.asking.questions import Questions
from sense7.judge.ratings import read_levels, read_ratings
from sense7.judge.reply import Reply, read_reply
from sense7.terminal import count_of

__all__ = ["NOT_ASKED", "Answer", "now", "without_score"]

NOT_ASKED = "not asked"

FILTERED = "content_filter"
"""Reason for which a reply ended that a filter of the endpoint stopped."""

_MOST_TOKENS = 2**53
"""More can't be counted exactly in a frame, nor by any endpoint."""

_LONGEST_SHOWN = 200
"""Characters of a reply that a message shows."""

_FILTER_CODES = (FILTERED, "content_policy_violation")


@dataclass(frozen=True)
class Answer:
    """The outcome of one request: what the endpoint returned, or why it returned nothing.

    Attributes
    ----------
    conversation : str
        Of which it was asked.
    run : int
        From 1.
    request_sha256 : str
        Of the body that was sent.
    output : str or None
        Text of the reply, as it came.
    refusal : str or None
        Words of refusal, where the endpoint gives them apart from the text.
    finish_reason, returned_model, system_fingerprint, response_id : str or None
        As returned.
    input_tokens, output_tokens : int or None
        As the endpoint counted them.
    seconds : float or None
        From the request that was answered to its answer.
    attempts : int
        Requests that were sent, the last included.
    time : str or None
        When it came, as ISO 8601 in UTC.
    error : str or None
        Why there is no reply, or none to the whole prompt; None if there is one.
    prompt_cut : bool
        Whether the prompt is longer than the context of the model: it was not sent, refused, or cut.
    asked : list of str or None
        Ratings that the reply has to hold as JSON; None where it states a score.
    """

    conversation: str
    run: int
    request_sha256: str
    output: str | None = None
    refusal: str | None = None
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

    @property
    def reply(self) -> Reply:
        """The reply, read: its score and status."""
        reply = read_reply(self.output, finish_reason=self.finish_reason, refusal=self.refusal, error=self.error)
        reply = replace(reply, status="prompt_cut") if self.prompt_cut else reply
        return read_ratings(self.output, tuple(self.asked), reply) if self.asked else reply

    @property
    def levels(self) -> dict:
        """Level of each rating asked for, as :func:`sense7.judge.ratings.read_levels` gives it; empty if unusable."""
        usable = self.asked and self.reply.status in ("ok", "not_applicable")
        return read_levels(self.output, tuple(self.asked))[0] if usable else {}

    def to_dict(self) -> dict:
        """Give the answer as JSON values."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, record: dict) -> "Answer":
        """Read what :meth:`to_dict` gave.

        Raises
        ------
        ValueError
            If it is no such record.
        """
        known = {entry.name for entry in fields(cls)}
        if not isinstance(record, dict) or not {"conversation", "run", "request_sha256"} <= record.keys() <= known:
            raise ValueError("not an answer's record")
        if not isinstance(record["conversation"], str) or type(record["run"]) is not int or record["run"] < 1:
            raise ValueError("conversation is no text, or run no number from 1")
        for entry in fields(cls):
            if entry.name in record and not isinstance(record[entry.name], entry.type):
                raise ValueError(f"{entry.name} is no {entry.type}")
        if not all(isinstance(name, str) for name in record.get("asked") or ()):
            raise ValueError("asked is no list of names")
        return cls(**record)


def read_completion(completion) -> dict:
    """Take from a chat completion what an :class:`Answer` keeps of it.

    Parameters
    ----------
    completion : object
        The JSON that an endpoint returned.

    Returns
    -------
    dict
        output, refusal, finish_reason, returned_model, system_fingerprint, response_id, input_tokens, output_tokens;
        None where it is not returned.

    Raises
    ------
    ValueError
        If it is no chat completion. Nothing is guessed then: there is no answer.

    Examples
    --------
    >>> message = {"role": "assistant", "content": "<S2>4</S2>"}
    >>> read_completion({"choices": [{"message": message, "finish_reason": "stop"}]})["output"]
    '<S2>4</S2>'
    """
    choices = completion.get("choices") if isinstance(completion, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        problem = completion.get("error") if isinstance(completion, dict) else None
        said = _text(problem.get("message")) if isinstance(problem, dict) else None
        raise ValueError("what was returned is no chat completion" + (f": {said}" if said else ""))
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise ValueError("the reply of the chat completion is no text")
    usage = completion.get("usage") if isinstance(completion.get("usage"), dict) else {}
    return {
        "output": content,
        "refusal": _text(message.get("refusal")),
        "finish_reason": _text(choice.get("finish_reason")),
        "returned_model": _text(completion.get("model")),
        "system_fingerprint": _text(completion.get("system_fingerprint")),
        "response_id": _text(completion.get("id")),
        "input_tokens": _count(usage.get("prompt_tokens")),
        "output_tokens": _count(usage.get("completion_tokens")),
    }


def filter_refusal(status: int | None, error) -> str | None:
    """Return the words of a content filter that refused a request as a whole; None if it failed otherwise.

    Azure answers so, with status 400. Such a request is answered: sent again, it would be refused again.

    Parameters
    ----------
    status : int or None
        Of the HTTP response.
    error : object
        The JSON object ``error`` in its body.

    Examples
    --------
    >>> filter_refusal(400, {"code": "content_filter", "message": "The prompt was filtered."})
    'The prompt was filtered.'
    """
    if status != 400 or not isinstance(error, dict) or error.get("code") not in _FILTER_CODES:
        return None
    return _text(error.get("message")) or "refused by the endpoint's content filter"


def run_frame(
    questions: Questions, run: int, answers: Mapping[str, Answer], *, lacking: str = NOT_ASKED
) -> pd.DataFrame:
    """Return one run as the frame that :func:`sense7.judge.predictions.write_predictions` takes.

    Parameters
    ----------
    questions : Questions
        What was asked: every conversation has its row, in the order of sheet Tasks.
    run : int
        From 1.
    answers : mapping
        Conversation -> Answer.
    lacking : str
        Why a conversation has no answer; it has the status api_error then.

    Returns
    -------
    DataFrame
        ``FRAME_COLUMNS`` and ``READ_COLUMNS`` of :mod:`sense7.judge.predictions`, without ``altered``.
    """
    asked = questions.frame
    of_run = [
        answers.get(conversation) or Answer(conversation, run, sha256, error=lacking)
        for conversation, sha256 in zip(asked["conversation"], asked["request_sha256"], strict=True)
    ]
    frame = asked[["conversation", "participant", "chat", "prompt", "ground_truth"]].reset_index(drop=True)
    add_answers(frame, of_run)
    return frame.assign(model=questions.model, run=run, prompt_sha256=questions.prompt.sha256)


def add_answers(frame: pd.DataFrame, answers: Sequence[Answer]) -> None:
    """Add to a frame with one row per conversation what was answered: columns of a frame of predictions."""
    replies = [answer.reply for answer in answers]
    for name in ("score", "authors_score"):
        frame[name] = pd.Series([getattr(reply, name) for reply in replies], dtype=float)
    frame["doubtful"] = pd.Series([reply.doubtful for reply in replies], dtype=bool)
    for name in ("status", "reason", "reasoning"):
        frame[name] = pd.Series([getattr(reply, name) for reply in replies], dtype=object)
    copied = ("output", "returned_model", "system_fingerprint", "finish_reason")
    for name in copied:
        frame[name] = pd.Series([getattr(answer, name) for answer in answers], dtype=object)
    for name in ("seconds", "input_tokens", "output_tokens"):
        frame[name] = pd.Series([getattr(answer, name) for answer in answers], dtype=float)


def describe_reply(reply: Reply) -> str:
    """Say in one line what an unusable reply was: its status, the reason, and the beginning of its text.

    Examples
    --------
    >>> describe_reply(read_reply("I would say four."))
    "parse_failure (no <S2> in the reply): 'I would say four.'"
    """
    text = " ".join(reply.text.split())
    shown = f": {text if len(text) <= _LONGEST_SHOWN else f'{text[:_LONGEST_SHOWN]} ..'!r}" if text else ""
    return f"{reply.status} ({reply.reason}){shown}"


def without_score(run: int, answers: Mapping[str, Answer]) -> str:
    """Say that no answer of a run has a score, and show one; "" if one has, or there are none.

    Parameters
    ----------
    run : int
        From 1.
    answers : mapping
        Conversation -> Answer.
    """
    replies = [answer.reply for answer in answers.values()]
    if not replies or any(reply.status in ("ok", "not_applicable") for reply in replies):
        return ""
    number = count_of(len(replies), "reply", "replies")
    return f"run {run:,}: none of {number} could be used; the last: {describe_reply(replies[-1])}"


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _text(value) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


check_arguments(globals())
