"""A judge's reply, read: its score by both rules, or why there is none; what a model thinks aloud is no answer."""

import re
import unicodedata
from dataclasses import dataclass, field

from sense7.errors import UserError

__all__ = ["Reply", "without_thinking"]

_NAME = (
    r"(?:think(?:s|ing)?|thoughts?|reason(?:s|ing)?|reflect(?:ions?|ing)?|analysis|analyzing|scratch[_-]?pad|"
    r"(?:inner|internal)[_-]?(?:monologue|thoughts?|reasoning)|deliberat(?:e|ion)|cot|chain[_-]of[_-]thoughts?)"
)
_BEGINS_OR_ENDS = (
    r"(?P<ends>/|(?:end|stop|close)[_ \u2581]?(?:of[_ \u2581])?)?(?:(?:begin|start|open)[_ \u2581]?(?:of[_ \u2581])?)?"
)
_SPECIAL = r"(?P<only><\|(?:end|return|start|content)\|>)"
_MARKS = {
    "tag": rf"<{_BEGINS_OR_ENDS}(?P<name>(?:[\w-]{{1,20}}[:_.-]|ant)?{_NAME})"
    r"(?:[:_.-](?:(?P<end>end|stop)\b|(?:begin|start)\b|[\w-]{1,30}))?(?:\s[^<>]{0,200})?>",
    "details": r"<details\b[^<>]{0,200}\breasoning\b[^<>]{0,200}>|(?P<only></details>)",
    "square": rf"\[(?P<ends>/?)(?P<name>{_NAME})\]",
    "triangle": rf"◁(?P<ends>/?)(?P<name>{_NAME})▷",
    "channel": r"<\|channel\|>\s*(?:(?P<ends>final\b)|\w+)[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>|"
    rf"{_SPECIAL}",
    "token": rf"<[|\uff5c]{_BEGINS_OR_ENDS}(?:{_NAME}|inner)"
    rf"(?:[:_ \u2581](?:start|begin|prefix|(?P<end>end|stop|suffix)))?[|\uff5c]>|{_SPECIAL}",
    "Pangu": r"\[unused16\]|(?P<ends>\[unused17\])",
    "MedGemma": r"<unused94>|(?P<ends><unused95>)",
    "Gemma": r"<\|channel>|(?P<ends><channel\|>|<\|/channel\|?>)",
    "Granite": r"Here(?:'s| is) my thought process:|(?P<only>Here(?:'s| is) my response:)",
    "Apriel": r"Here are my reasoning steps:|(?P<ends>\[BEGIN FINAL RESPONSE\])",
    "Huatuo": r"^#{1,4} Thinking[ \t]*$|(?P<only>^#{1,4} Final (?:Response|Answer)[ \t]*$)",
    "s1": r"<\|im_start\|>\s*think\b|(?P<ends><\|im_start\|>\s*answer\b)",
    "HyperCLOVA X": r"\A\s*/think\s*\n|(?P<only><\|im_end\|>\s*<\|im_start\|>assistant)",
    "gpt-oss without tokens": r"\A\s*(?-i:analysis(?=[A-Z\"'<]))|(?P<only>assistant\s?final)",
    "fence": r"^```[ \t]*(?:think|thinking|thoughts?|reasoning)[ \t]*$|(?P<only>^```[ \t]*$)",
}
"""How thinking begins, and how it ends (``ends``; ``only`` where it has begun: elsewhere that means something else)."""

_PATTERNS = {kind: re.compile(marks, re.IGNORECASE | re.ASCII | re.MULTILINE) for kind, marks in _MARKS.items()}

_ANSWER = {"s2", "response", "answer", "output", "final", "final_answer", "solution", "result", "conclusion"}
"""Tags that hold what was asked for."""

_PLAIN = {"b", "i", "em", "strong", "p", "br", "hr", "ul", "ol", "li", "u", "s", "code", "pre", "h1", "h2", "h3", "h4"}
_TAG = re.compile(r"<([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,200})?>", re.ASCII)
_OTHER_MARK = re.compile(r"\s*(?:\[([A-Za-z][\w: -]{0,40})\]|◁([^\s◁▷]{1,40})▷|<[|\uff5c]([^<>\n]{1,60})>)")


def without_thinking(text: str, *, cut: bool = False) -> str:
    """Return a reply without what the model thought before it answered."""
    found = [(mark, kind) for kind, pattern in _PATTERNS.items() for mark in pattern.finditer(text)]
    kept: list[str] = []
    start, open_ones = 0, []  # kinds of thinking that are open
    for mark, kind in sorted(found, key=lambda one: one[0].start()):
        said = mark.groupdict()
        name = f"{kind} {(said.get('name') or '').casefold()}"
        if mark.start() < start or (said.get("only") and name not in open_ones):
            continue
        ends = said.get("ends") or said.get("end") or said.get("only")
        if not open_ones:
            if ends:
                kept.clear()
            else:
                kept.append(text[start : mark.start()])
        start = mark.end()
        if not ends:
            open_ones += [] if name in open_ones else [name]
        elif name in open_ones:
            open_ones.remove(name)
        elif not cut:  # an end of another name: some models mix them
            open_ones.clear()
    answer = "".join([*kept, "" if open_ones else text[start:]])
    if not cut:
        return answer
    # What stands in markup of unknown meaning, or in reasoning that is not closed, may be thinking, too.
    if other := _OTHER_MARK.match(answer):
        name = next(filter(None, other.groups()))
        end = next((place for end in (f"[/{name}]", f"◁/{name}▷") if (place := answer.find(end)) >= 0), -1)
        answer = answer[answer.index(name, end) + len(name) + 1 :] if end >= 0 else ""
    kept, start = [], 0
    while tag := _TAG.search(answer, start):
        name = tag[1].casefold()
        begin, start = start, tag.end()
        if name in _ANSWER or name in _PLAIN:
            kept.append(answer[begin:start])
            continue
        kept.append(answer[begin : tag.start()])
        end = re.compile(f"</{re.escape(tag[1])}>", re.IGNORECASE | re.ASCII).search(answer, start)
        if end is None:
            return "".join(kept)
        start = end.end()
        if name == "s0":
            kept.append(answer[tag.start() : start])
    return "".join([*kept, answer[start:]])


STATUSES = ("ok", "parse_failure", "refusal", "truncated", "api_error", "prompt_cut", "not_applicable")
"""What became of a request; only the first has a score. ``prompt_cut``: the prompt did not fit the model's context;
``not_applicable``: the judge says that the dimension it was asked for does not apply."""

USABLE = ("ok", "not_applicable")

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
    CUT: "length|(?<!rate_)limit|max_?(?:[a-z]+_)?tokens?|window|incomplete|not_finished|truncat",
    FAILED: (
        "error|abort|fail|cancel|time_?d?_?out|insufficient|overload|malformed|unavailable|interrupt|network|rate_limit|"
        "deadline|shutdown|preempt"
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
_BARE_SCORE = re.compile(r"\s*[0-9]+(?:\.[0-9]+)?\s*")
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
    levels: dict = field(default_factory=dict)
    """Level of each rating asked for, see :func:`sense7.judge.ratings.read_levels`; empty if the reply is a score."""


def read_reply(
    text: str | None, *, finish_reason: str | None = None, refusal: str | None = None, error: str | None = None
) -> Reply:
    """Score of a reply by both rules, or why there is none."""
    text, ended, score = text or "", ending(finish_reason), None
    match = None if error is not None else _AUTHORS_SCORE.search(_inside("S2", text) or "")
    authors_score = None if match is None else float(match[0])
    if error is not None:
        status, reason = "api_error", error or "the request failed"
    elif refusal or ended == FILTERED:
        status, reason = "refusal", refusal or "stopped by the endpoint's content filter"
    elif ended == FAILED:
        status, reason = "api_error", f"the reply ended in an error ({finish_reason})"
    else:
        score, reason = _strict_score(text, cut=ended == CUT)
        status = "ok" if score is not None else "truncated" if ended == CUT else "parse_failure"
        reason = "cut off at the limit of tokens before a usable score" if status == "truncated" else reason
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


def ending(finish_reason: str | None) -> str:
    """Say how a reply ended, by the words that endpoints use: ``CUT``, ``FILTERED``, ``FAILED``, or ""."""
    said = re.sub(r"[\W_]+", "_", finish_reason or "").casefold()
    return next((kind for kind, words in _ENDINGS.items() if re.search(words, said)), "")


def _strict_score(text: str, *, cut: bool) -> tuple[float | None, str]:
    """Score of a text by the strict rule; why there is none, or what more than a bare score was read."""
    answer, blocks, end = without_thinking(text, cut=cut), [], 0

    def quoted(said: str) -> str:
        said = " ".join(said.split())
        return repr(said if len(said) <= _LONGEST_QUOTE else f"{said[:_LONGEST_QUOTE]} ..")

    while opening := _OPEN["S2"].search(answer, end):
        closing = _CLOSE["S2"].search(answer, opening.end())
        if closing is None:
            return None, "<S2> is not closed"
        blocks.append(answer[opening.end() : closing.start()])
        end = closing.end()
    if not blocks:
        thought = "" if answer == text else " after its thinking"
        return None, f"no <S2> in the reply{thought}" if text.strip() else "the reply is empty"
    scores = [_score_in(block) for block in blocks]
    if None in scores:
        return None, f"not one number from 1 to 5 inside <S2>: {quoted(blocks[scores.index(None)])}"
    if len(set(scores)) > 1:
        return None, f"different scores in several <S2>: {quoted(', '.join(blocks))}"
    odd = next((block for block in blocks if not _BARE_SCORE.fullmatch(block)), None)
    return scores[0], "" if odd is None else f"more than a score from 1 to 5 inside <S2>: {quoted(odd)}"


def check_policy(policy: str) -> None:
    """Refuse what is no policy."""
    if policy not in POLICIES:
        raise UserError(f"There is no policy {policy!r}. Choose {' or '.join(POLICIES)}.")


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
