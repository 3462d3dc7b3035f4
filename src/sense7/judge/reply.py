"""What a judge answered: the score in it, or why there is none."""

import math
import re
from dataclasses import dataclass

from sense7.arguments import check_arguments
from sense7.errors import UserError

__all__ = ["POLICIES", "STATUSES", "Reply", "apply_policy", "read_reply"]

STATUSES = ("ok", "parse_failure", "refusal", "truncated", "api_error")
"""What became of a request; only the first has a score."""

POLICIES = ("strict", "authors")
"""What an unusable reply counts: nothing (strict), or the middle of the scale (authors)."""

AUTHORS_DEFAULT = 3.0

# ASCII: to Unicode a long s is an S of another case, and a full-width digit a digit.
_OPEN = {tag: re.compile(f"<{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_CLOSE = {tag: re.compile(f"</{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_SCORE = re.compile(r"[1-5](?:\.[0-9]+)?")
_PLAIN = re.compile(r"\s*(?:[1-4](?:\.[0-9]+)?|5(?:\.0+)?)\s*")
_LONGEST_QUOTE = 60


@dataclass(frozen=True)
class Reply:
    """A judge's reply, read.

    Attributes
    ----------
    text : str
        As it came; "" if nothing came.
    score : float or None
        1 up to below 6; None if there is no usable score.
    status : str
        One of ``STATUSES``.
    reason : str
        Why there is no score. For a usable reply "", unless more than a score from 1 to 5 stands where the
        score was read: then what stood there, since the rule may have misread it.
    reasoning : str or None
        Text inside the first S0; None if there is none.
    """

    text: str
    score: float | None
    status: str
    reason: str
    reasoning: str | None


def read_reply(
    text: str | None, *, finish_reason: str | None = None, refusal: str | None = None, error: str | None = None
) -> Reply:
    """Find the score in a reply by the authors' rule, or say why there is none.

    The score is the first match of a digit from 1 to 5 with optional decimals (ASCII digits) inside the first
    ``<S2>..</S2>``, tags without regard to case. So 10 is 1, 7.5 is 5 and ``Score (1-5): 4`` is 1, as
    it is to the authors; ``reason`` then quotes what was read.

    Parameters
    ----------
    text : str or None
        The reply; None if there was none.
    finish_reason : str, optional
        Why the model stopped: ``length`` makes a reply without a usable score ``truncated`` (one with a
        complete S2 is ok); ``content_filter`` makes any reply a refusal.
    refusal : str, optional
        The model's words of refusal, where the endpoint gives them apart from the text.
    error : str, optional
        What went wrong with the request, if anything.

    Returns
    -------
    Reply
        Words of refusal inside the text are not interpreted: such a reply is a parse failure.

    Notes
    -----
    Source of the rule: the authors' script that makes the predictions (official release).

    Examples
    --------
    >>> read_reply("<S0>Kind.</S0> <S2>4.5</S2>").score
    4.5
    >>> read_reply("<S2>four</S2>").reason
    "no digit from 1 to 5 inside <S2>: 'four'"
    """
    text = text or ""
    reasoning = _inside("S0", text)
    reasoning = None if reasoning is None else reasoning.strip()

    def unusable(status: str, reason: str) -> Reply:
        return Reply(text, None, status, reason, reasoning)

    if error is not None:
        return unusable("api_error", error or "the request failed")
    if refusal:
        return unusable("refusal", refusal)
    if finish_reason == "content_filter":
        return unusable("refusal", "stopped by the endpoint's content filter")
    inside = _inside("S2", text)
    match = _SCORE.search(inside or "")
    if match:
        doubt = "" if _PLAIN.fullmatch(inside) else f"more than a score from 1 to 5 inside <S2>: {_quoted(inside)}"
        return Reply(text, float(match[0]), "ok", doubt, reasoning)
    if finish_reason == "length":
        return unusable("truncated", "cut off at the limit of tokens before a usable score")
    return unusable("parse_failure", _why_no_score(text, inside))


def apply_policy(reply: Reply | tuple[float | None, str], policy: str) -> float | None:
    """Return the score that a reply counts under a policy.

    Parameters
    ----------
    reply : Reply or tuple
        A reply, or its score and status.
    policy : {"strict", "authors"}
        What an unusable reply counts: None (strict), or 3 (authors).

    Raises
    ------
    UserError
        If there is no such policy.

    Examples
    --------
    >>> apply_policy((None, "refusal"), "strict"), apply_policy((None, "refusal"), "authors")
    (None, 3.0)
    """
    if policy not in POLICIES:
        raise UserError(f"There is no policy {policy!r}. Choose {' or '.join(POLICIES)}.")
    score, status = (reply.score, reply.status) if isinstance(reply, Reply) else reply
    if status not in STATUSES:
        raise ValueError(f"no status of a reply: {status!r}")
    if status == "ok" and score is not None and not math.isnan(score):
        return float(score)
    return AUTHORS_DEFAULT if policy == "authors" else None


def _inside(tag: str, text: str) -> str | None:
    """Text inside the first pair of tags; None if there is none."""
    # Not one lazy pattern, which would search to the end anew from every opening tag that is never closed.
    opening = _OPEN[tag].search(text)
    closing = _CLOSE[tag].search(text, opening.end()) if opening else None
    return text[opening.end() : closing.start()] if closing else None


def _why_no_score(text: str, inside: str | None) -> str:
    if not text.strip():
        return "the reply is empty"
    if inside is not None:
        return f"no digit from 1 to 5 inside <S2>: {_quoted(inside)}"
    return "<S2> is not closed" if _OPEN["S2"].search(text) else "no <S2> in the reply"


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..")


check_arguments(globals())
