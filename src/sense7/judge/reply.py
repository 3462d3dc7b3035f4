"""What a judge answered: the score in it, or why there is none.

Every reply is read twice: by the strict rule of this project, and by the authors' rule. See :func:`read_reply`.
"""

import re
import unicodedata
from dataclasses import dataclass

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.thinking import without_thinking

__all__ = ["Reply"]

STATUSES = ("ok", "parse_failure", "refusal", "truncated", "api_error", "prompt_cut", "not_applicable")
"""What became of a request; only the first has a score. ``prompt_cut``: the prompt did not fit the model's context;
``not_applicable``: the judge says that the dimension it was asked for does not apply."""

FAILURES = STATUSES[1:-1]
"""Statuses of replies that can't be used."""

NOT_ASKED = "not_asked"
"""Status of a conversation that was never asked about: no failure, and no score under any policy."""

CUT, FILTERED, FAILED = "cut", "filtered", "failed"

_ENDINGS = {
    FILTERED: (
        "filter|safety|refus|toxic|moderat|block|prohibit|recitation|spii|guardrail|sensitive|flagged|policy|armor|"
        "^language$"
    ),
    CUT: "length|(?<!rate_)limit|max_?(?:[a-z]+_)?tokens?|window|incomplete|truncat",
    FAILED: (
        "error|abort|fail|cancel|time_?d?_?out|insufficient|overload|malformed|unavailable|interrupt|network|rate_limit"
    ),
}

POLICIES = ("strict", "authors")
"""Which reading of a reply counts: the strict one, which may be none, or the authors', which is 3 at the least."""

AUTHORS_DEFAULT = 3.0

LOWEST, HIGHEST = 1.0, 5.0
"""Ends of the scale."""

# ASCII: to Unicode a long s is an S of another case, and a full-width digit a digit.
_OPEN = {tag: re.compile(f"<{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_CLOSE = {tag: re.compile(f"</{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_AUTHORS_SCORE = re.compile(r"[1-5](?:\.[0-9]+)?")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_OF_FIVE = re.compile(r"\s*(?:/|(?:out )?of)\s*5(?![0-9.,]*[0-9])", re.IGNORECASE)
_BARE = re.compile(r"\s*[0-9]+(?:\.[0-9]+)?\s*")
_NOT_BEFORE = re.compile(r"[A-Za-z_.,/+\-\u2010-\u2015\u2212]$|(?:[<>≤≥]|\bof)\s*$")
_NOT_AFTER = re.compile(r"[A-Za-z_/]|\.[A-Za-z_]|\s*[%\u2030]")
_LONGEST_QUOTE = 60
_LOOK_BACK = 20


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


def read_reply(
    text: str | None, *, finish_reason: str | None = None, refusal: str | None = None, error: str | None = None
) -> Reply:
    """Score of a reply by both rules, or why there is none."""
    text = text or ""
    match = None if error is not None else _AUTHORS_SCORE.search(_inside("S2", text) or "")
    authors_score = None if match is None else float(match[0])
    status, reason, score = _strictly(text, finish_reason, refusal, error)
    differs = score != authors_score
    other = f"the authors' rule reads {'no score' if authors_score is None else f'{authors_score:g}'}"
    reasoning = _inside("S0", text)
    return Reply(
        text,
        score,
        AUTHORS_DEFAULT if authors_score is None else authors_score,
        status,
        "; ".join(filter(None, (reason, other if differs else ""))),
        None if reasoning is None else reasoning.strip(),
        doubtful=differs or bool(score and reason),
    )


def _strictly(
    text: str, finish_reason: str | None, refusal: str | None, error: str | None
) -> tuple[str, str, float | None]:
    """Status, reason and score of a reply by the strict rule."""
    if error is not None:
        return "api_error", error or "the request failed", None
    if refusal:
        return "refusal", refusal, None
    ended = ending(finish_reason)
    if ended == FILTERED:
        return "refusal", "stopped by the endpoint's content filter", None
    if ended == FAILED:
        return "api_error", f"the reply ended in an error ({finish_reason})", None
    score, reason = _strict_score(text, cut=ended == CUT)
    if score is not None:
        return "ok", reason, score
    if ended == CUT:
        return "truncated", "cut off at the limit of tokens before a usable score", None
    return "parse_failure", reason, None


def ending(finish_reason: str | None) -> str:
    """Say how a reply ended, by the words that endpoints use: ``CUT``, ``FILTERED``, ``FAILED``, or ""."""
    said = re.sub(r"[\W_]+", "_", finish_reason or "").casefold()
    return next((kind for kind, words in _ENDINGS.items() if re.search(words, said)), "")


def _strict_score(text: str, *, cut: bool) -> tuple[float | None, str]:
    """Score of a text by the strict rule; why there is none, or what more than a bare score was read."""
    answer = without_thinking(text, cut=cut)
    blocks, whole = _blocks(answer)
    scores = [_score_in(block) for block in blocks]
    if not whole or not blocks:
        return None, _why_no_block(text, answer)
    if None in scores:
        return None, f"not one number from 1 to 5 inside <S2>: {_quoted(blocks[scores.index(None)])}"
    if len(set(scores)) > 1:
        return None, f"different scores in several <S2>: {_quoted(', '.join(blocks))}"
    odd = next((block for block in blocks if not _BARE.fullmatch(block)), None)
    return scores[0], "" if odd is None else f"more than a score from 1 to 5 inside <S2>: {_quoted(odd)}"


def check_policy(policy: str) -> None:
    """Refuse what is no policy."""
    if policy not in POLICIES:
        raise UserError(f"There is no policy {policy!r}. Choose {' or '.join(POLICIES)}.")


def _blocks(text: str) -> tuple[list[str], bool]:
    """Texts inside S2, and whether the last of them is closed."""
    blocks, end = [], 0
    while opening := _OPEN["S2"].search(text, end):
        closing = _CLOSE["S2"].search(text, opening.end())
        if closing is None:
            return blocks, False
        blocks.append(text[opening.end() : closing.start()])
        end = closing.end()
    return blocks, True


def _score_in(inside: str) -> float | None:
    """The one number from 1 to 5 in the text of an S2; None if there is none, or any other beside it."""
    if any(unicodedata.category(character)[0] == "N" for character in inside if not character.isascii()):
        return None  # such as a half or a full-width digit
    scores, end = set(), 0
    while number := _NUMBER.search(inside, end):
        before = inside[max(0, number.start() - _LOOK_BACK) : number.start()]
        of_five = _OF_FIVE.match(inside, number.end())
        end = of_five.end() if of_five else number.end()
        if not _DECIMAL.fullmatch(number[0]) or _NOT_BEFORE.search(before) or _NOT_AFTER.match(inside, end):
            return None
        scores.add(float(number[0]))
    return scores.pop() if len(scores) == 1 and LOWEST <= min(scores) <= HIGHEST else None


def _inside(tag: str, text: str) -> str | None:
    """Text inside the first pair of tags; None if there is none."""
    # Not one lazy pattern, which would search to the end again from every opening tag that is never closed.
    opening = _OPEN[tag].search(text)
    closing = _CLOSE[tag].search(text, opening.end()) if opening else None
    return text[opening.end() : closing.start()] if closing else None


def _why_no_block(text: str, answer: str) -> str:
    if not text.strip():
        return "the reply is empty"
    if _OPEN["S2"].search(answer):
        return "<S2> is not closed"
    return "no <S2> in the reply" if answer == text else "no <S2> in the reply after its thinking"


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} ..")


check_arguments(globals())
