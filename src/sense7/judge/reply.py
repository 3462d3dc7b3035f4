"""A judge's reply, read: its score by both rules, or why there is none; what a model thinks aloud is no answer."""

import bisect
import json
import re
from dataclasses import dataclass, field
from itertools import pairwise

from sense7.errors import UserError
from sense7.judge.score_text import score_of

__all__ = ["Reply", "without_thinking"]

_NAME = (
    r"(?:think(?:s|ing)?|thoughts?|reason(?:s|ing)?|reflect(?:ions?|ing)?|analysis|analyzing|scratch[_-]?pad|"
    r"(?:inner|internal)[_-]?(?:monologue|thoughts?|reasoning)|deliberat(?:e|ion)|cot|chain[_-]of[_-]thoughts?)"
)
_BEGINS_OR_ENDS = (
    r"(?P<ends>/|(?:end|stop|close)[_ \u2581]?(?:of[_ \u2581])?)?"
    r"(?:(?:begin|start|open)[_ \u2581]?(?:of[_ \u2581])?)?"
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

_PATTERNS = {
    kind: re.compile(marks, re.IGNORECASE | re.ASCII | re.MULTILINE)
    for kind, marks in _MARKS.items()
}

# ASCII: to Unicode a long s is an S of another case, and a full-width digit a digit.
_OPEN = {tag: re.compile(f"<{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_CLOSE = {tag: re.compile(f"</{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2")}
_TAGS_OF_ANSWERS = _OPEN | {f"/{tag}": pattern for tag, pattern in _CLOSE.items()}

_HEADINGS = ("square", "Granite", "Apriel", "Huatuo")
"""Kinds whose marks are common words, too."""

_ANSWER = {
    "s2",
    "response",
    "answer",
    "output",
    "final",
    "final_answer",
    "solution",
    "result",
    "conclusion",
}
"""Tags that hold what was asked for."""

_PLAIN = {
    "b",
    "i",
    "em",
    "strong",
    "p",
    "br",
    "hr",
    "ul",
    "ol",
    "li",
    "u",
    "s",
    "code",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
}
_TAG = re.compile(r"<([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,200})?>", re.ASCII)
_OTHER_MARK = re.compile(
    r"\s*(?:\[([A-Za-z][\w: -]{0,40})\]|◁([^\s◁▷]{1,40})▷|<[|\uff5c]([^<>\n]{1,60})>)"
)


_QUOTES = "`'\"\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_JSON_BEGINS = re.compile(r"\s*+(?:```[ \t]*+(?:json)?[ \t]*+\n\s*+)?+(?=\{)", re.IGNORECASE)


def without_thinking(text: str, *, cut: bool = False) -> str:
    """Return a reply without what the model thought before it answered.

    A mark of thinking that is quoted is a word: one in quotation marks, inside the answer (``<S0>``, ``<S2>``, or the
    texts of a reply in JSON), and an end without a beginning after a closed answer that no other answer follows.
    """
    marks = [(mark, kind) for kind, pattern in _PATTERNS.items() for mark in pattern.finditer(text)]
    parts = _parts_of_answers(text)
    last_score = max((mark.start() for mark in _OPEN["S2"].finditer(text)), default=-1)
    last_ends = {_name_of(mark, kind): mark.start() for mark, kind in marks if _ends(mark)}
    kept: list[str] = []
    start = 0
    open_names: list[str] = []  # kinds of thinking that are open
    json_ends = _end_of_json(text, 0)
    for mark, kind in sorted(marks, key=lambda mark_and_kind: mark_and_kind[0].start()):
        name = _name_of(mark, kind)
        means_nothing = mark.groupdict().get("only") and name not in open_names
        if mark.start() < start or means_nothing or _is_quoted(text, mark):
            continue
        ends = _ends(mark)
        if not open_names:
            if mark.start() < json_ends or parts.hold(mark.start()):
                continue
            if not ends:
                is_closed = last_ends.get(name, -1) > mark.start()
                if _is_heading(name) and not is_closed and parts.whole_from(mark.end()):
                    continue
                kept.append(text[start : mark.start()])
            elif not cut and mark.start() > last_score and parts.whole_from(start):
                continue
            else:
                kept.clear()
        start = mark.end()
        if not ends:
            open_names += [] if name in open_names else [name]
        elif name in open_names:
            open_names.remove(name)
        elif not cut:  # an end of another name: some models mix them
            open_names.clear()
        if not open_names and json_ends == 0:  # the first end: trying at each would be quadratic
            json_ends = _end_of_json(text, start)
    if not open_names:
        kept.append(text[start:])
    answer = "".join(kept)
    return _without_unknown_markup(answer) if cut else answer


@dataclass
class _Parts:
    """Where the parts of answers stand in a text: each ``<S0>`` and ``<S2>`` that holds no other tag of an answer."""

    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)

    def hold(self, place: int) -> bool:
        """Whether a place is inside of a part."""
        number = bisect.bisect(self.begins, place) - 1
        return number >= 0 and place < self.ends[number]

    def whole_from(self, place: int) -> bool:
        """Whether reasons and a score begin behind a place."""
        return all(self.last.get(tag, -1) >= place for tag in _OPEN)


def _parts_of_answers(text: str) -> _Parts:
    """The parts of answers in a text."""
    parts = _Parts()
    tags = sorted(
        (mark.start(), tag)
        for tag, pattern in _TAGS_OF_ANSWERS.items()
        for mark in pattern.finditer(text)
    )
    for (begin, tag), (end, following) in pairwise(tags):
        if following == f"/{tag}":
            parts.begins.append(begin)
            parts.ends.append(end)
            parts.last[tag] = begin
    return parts


def _is_quoted(text: str, mark: re.Match) -> bool:
    """Whether a mark of thinking stands in quotation marks."""
    before = text[mark.start() - 1 : mark.start()]
    behind = text[mark.end() : mark.end() + 1]
    return bool(before and behind) and before in _QUOTES and behind in _QUOTES


def _name_of(mark: re.Match, kind: str) -> str:
    """What the marks that belong together have in common."""
    return f"{kind} {(mark.groupdict().get('name') or '').casefold()}"


def _ends(mark: re.Match) -> bool:
    """Whether a mark ends thinking."""
    groups = mark.groupdict()
    return bool(groups.get("ends") or groups.get("end") or groups.get("only"))


def _is_heading(name: str) -> bool:
    """Whether a mark may be the heading of an answer, such as [Analysis], where nothing closes it."""
    return name.startswith(_HEADINGS) and not name.startswith("square think")


def _end_of_json(text: str, start: int) -> int:
    """Where an object of JSON that begins the answer at a place ends; the place if none begins there."""
    begins = _JSON_BEGINS.match(text, start)
    if begins is None:
        return start
    try:
        return json.JSONDecoder().raw_decode(text, begins.end())[1]
    except (ValueError, RecursionError):
        return start


def _without_unknown_markup(answer: str) -> str:
    """Return what was cut off without markup of unknown meaning or reasoning not closed: it may be thinking, too."""
    if other := _OTHER_MARK.match(answer):
        name = next(filter(None, other.groups()))
        end = next(
            (place for end in (f"[/{name}]", f"◁/{name}▷") if (place := answer.find(end)) >= 0), -1
        )
        answer = answer[answer.index(name, end) + len(name) + 1 :] if end >= 0 else ""
    kept: list[str] = []
    start = 0
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


STATUSES = (
    "ok",
    "parse_failure",
    "refusal",
    "truncated",
    "api_error",
    "prompt_cut",
    "not_applicable",
)
"""What became of a request; only the first has a score. ``prompt_cut``: the prompt did not fit the model's context;
``not_applicable``: the judge says that the dimension it was asked for does not apply."""

USABLE = ("ok", "not_applicable")

FAILURES = STATUSES[1:-1]
"""Statuses of replies that can't be used."""

NOT_ASKED = "not_asked"
"""Status of a conversation that was never asked about: no failure, and no score under any policy."""

CUT, FILTERED, FAILED = "cut", "filtered", "failed"

_ENDINGS = {
    FILTERED: re.compile(
        "filter|safety|refus|toxic|moderat|block|prohibit|recitation|spii|guardrail|sensitive|flagged|policy|armor|"
        "^language$"
    ),
    CUT: re.compile(
        "length|(?<!rate_)limit|max_?(?:[a-z]{1,20}_)?tokens?|window|incomplete|not_finished|truncat"
    ),
    FAILED: re.compile(
        "error|abort|fail|cancel|time_?d?_?out|insufficient|overload|malformed|unavailable|interrupt|network|rate_limit|"
        "deadline|shutdown|preempt"
    ),
}

POLICIES = ("strict", "authors")
"""Which reading of a reply counts: the strict one, which may be none, or the authors', which is 3 at the least."""

AUTHORS_DEFAULT = 3.0

_AUTHORS_SCORE = re.compile(r"[1-5](?:\.[0-9]+)?")
_BARE_SCORE = re.compile(r"\s*[0-9]+(?:\.[0-9]+)?\s*")
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
        reason = (
            "cut off at the limit of tokens before a usable score"
            if status == "truncated"
            else reason
        )
    differs = score != authors_score
    other = (
        f"the authors' rule reads {'no score' if authors_score is None else f'{authors_score:g}'}"
    )
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
    return next((kind for kind, words in _ENDINGS.items() if words.search(said)), "")


def _strict_score(text: str, *, cut: bool) -> tuple[float | None, str]:
    """Score of a text by the strict rule; why there is none, or what more than a bare score was read."""
    answer = without_thinking(text, cut=cut)
    asked_for = _without_reasons(answer)
    blocks: list[str] = []
    end = 0

    def quoted(said: str) -> str:
        said = " ".join(said.split())
        return repr(said if len(said) <= _LONGEST_QUOTE else f"{said[:_LONGEST_QUOTE]} ..")

    while opening := _OPEN["S2"].search(asked_for, end):
        closing = _CLOSE["S2"].search(asked_for, opening.end())
        if closing is None:
            return None, "<S2> is not closed"
        blocks.append(asked_for[opening.end() : closing.start()])
        end = closing.end()
    if not blocks:
        thought = "" if answer == text else " after its thinking"
        return None, f"no <S2> in the reply{thought}" if text.strip() else "the reply is empty"
    scores = [score_of(block) for block in blocks]
    if None in scores:
        return None, f"not one number from 1 to 5 inside <S2>: {quoted(blocks[scores.index(None)])}"
    if len(set(scores)) > 1:
        return None, f"different scores in several <S2>: {quoted(', '.join(blocks))}"
    odd = next((block for block in blocks if not _BARE_SCORE.fullmatch(block)), None)
    return scores[
        0
    ], "" if odd is None else f"more than a score from 1 to 5 inside <S2>: {quoted(odd)}"


def _without_reasons(answer: str) -> str:
    """Return an answer without its closed ``<S0>``, in which a score is a quoted one, if it has a score elsewhere."""
    outside: list[str] = []
    start = 0
    while opening := _OPEN["S0"].search(answer, start):
        closing = _CLOSE["S0"].search(answer, opening.end())
        if closing is None:
            break
        outside.append(answer[start : opening.start()])
        start = closing.end()
    text = "".join([*outside, answer[start:]])
    return text if _OPEN["S2"].search(text) else answer


def check_policy(policy: str) -> None:
    """Refuse what is no policy."""
    if policy not in POLICIES:
        raise UserError(f"There is no policy {policy!r}. Choose {' or '.join(POLICIES)}.")


def _inside(tag: str, text: str) -> str | None:
    """Text inside the first pair of tags; None if there is none."""
    # Not one lazy pattern, which would search to the end again from every opening tag that is never closed.
    opening = _OPEN[tag].search(text)
    closing = _CLOSE[tag].search(text, opening.end()) if opening else None
    return text[opening.end() : closing.start()] if closing else None
