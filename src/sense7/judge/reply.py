"""A judge's reply, read: its score by both rules, or why there is none."""

import re
from dataclasses import dataclass, field

__all__ = ["HIGHEST", "LOWEST", "Reply", "answer_in"]

LOWEST, HIGHEST = 1.0, 5.0
"""Ends of the scale."""

STATUSES = ("ok", "parse_failure", "refusal", "truncated", "api_error", "not_applicable")
"""What became of a request; only the first has a score. ``not_applicable``: the judge says that the dimension it was
asked for does not apply."""

USABLE = ("ok", "not_applicable")

FAILURES = STATUSES[1:-1]
"""Statuses of replies that can't be used."""

NOT_ASKED = "not_asked"
"""Status of a conversation that was never asked about: no failure, and no score under any policy."""

AUTHORS_DEFAULT = 3.0

# ASCII: to Unicode a long s is an S of another case.
_TAGS = {
    tag: re.compile(f"<{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2", "/S0", "/S2")
}
_AUTHORS_SCORE = re.compile(r"[1-5](?:\.[0-9]+)?")
_MARKUP = r"[\s*_`#~]*+"
_SCORE = re.compile(rf"{_MARKUP}([1-5](?:\.[0-9]++)?+){_MARKUP}(?:/{_MARKUP}5{_MARKUP})?+")
"""One number from 1 to 5, of five or not, with white space and signs of Markdown around it."""

_LONGEST_QUOTE = 60


@dataclass(frozen=True)
class Reply:
    """A judge's reply, read."""

    text: str
    score: float | None
    authors_score: float
    status: str
    reason: str
    reasoning: str | None
    doubtful: bool = False
    levels: dict = field(default_factory=dict)
    """Level of each rating asked for, see :func:`sense7.judge.ratings.read_levels`; empty if the reply is a score."""


def read_reply(
    text: str | None,
    *,
    finish_reason: str | None = None,
    refusal: str | None = None,
    error: str | None = None,
) -> Reply:
    """Score of a reply by both rules, or why there is none."""
    text = text or ""
    match = _AUTHORS_SCORE.search(_inside("S2", text) or "")
    authors_score = None
    if match and error is None:
        authors_score = float(match[0])
    score = None
    if error is not None:
        status = "api_error"
        reason = error or "the request failed"
    elif refusal or finish_reason == "content_filter":
        status = "refusal"
        reason = refusal or "stopped by the endpoint's content filter"
    else:
        is_cut = finish_reason == "length"
        score, reason = _strict_score(text, is_cut)
        if score is not None:
            status = "ok"
        elif is_cut:
            status = "truncated"
            reason = "cut off at the limit of tokens before a usable score"
        else:
            status = "parse_failure"
    doubtful = score != authors_score
    if doubtful:
        by_authors = "no score" if authors_score is None else f"{authors_score:g}"
        reason = "; ".join(filter(None, (reason, f"the authors' rule reads {by_authors}")))
    if authors_score is None:
        authors_score = AUTHORS_DEFAULT
    reasoning = _inside("S0", text)
    if reasoning is not None:
        reasoning = reasoning.strip()
    return Reply(text, score, authors_score, status, reason, reasoning, doubtful)


def answer_in(text: str) -> str:
    """Return a reply without what the model thought aloud: what stands behind the last ``</think>``."""
    _, closing, answer = text.rpartition("</think>")
    if not closing and text.lstrip().startswith("<think>"):  # it never came to an answer
        return ""
    return answer


def _strict_score(text: str, is_cut: bool) -> tuple[float | None, str]:
    """The one number inside every <S2> of the answer; else None, and why there is none.

    Inside <S0> a score is a quoted one; of a reply that was cut off it may be a draft before the first </S0>, too.
    """
    answer = answer_in(text)
    if not text.strip():
        return None, "the reply is empty"
    *reasons, behind = _TAGS["/S0"].split(answer)
    outside = [_TAGS["S0"].split(part)[0] for part in reasons] + [behind]
    if is_cut:
        outside[0] = ""
    blocks = []
    for part in _TAGS["S2"].split("".join(outside))[1:]:
        inside, *closed = _TAGS["/S2"].split(part, maxsplit=1)
        if not closed:
            return None, "<S2> is not closed"
        blocks.append(inside)
    if not blocks:
        thought = "" if answer == text else " after its thinking"
        return None, f"no <S2> in the reply{thought}"
    scores = set()
    for block in blocks:
        match = _SCORE.fullmatch(block)
        if match is None or float(match[1]) > HIGHEST:
            return None, f"not one number from 1 to 5 inside <S2>: {_quoted(block)}"
        scores.add(float(match[1]))
    if len(scores) > 1:
        return None, f"different scores in several <S2>: {_quoted(', '.join(blocks))}"
    return scores.pop(), ""


def _quoted(block: str) -> str:
    """The beginning of a block in quotation marks."""
    text = " ".join(block.split())
    if len(text) > _LONGEST_QUOTE:
        text = f"{text[:_LONGEST_QUOTE]} .."
    return repr(text)


def _inside(tag: str, text: str) -> str | None:
    """Text from the first opening tag to the next closing one; None if there is none."""
    opening = _TAGS[tag].search(text)
    closing = opening and _TAGS[f"/{tag}"].search(text, opening.end())
    if not closing:
        return None
    return text[opening.end() : closing.start()]
