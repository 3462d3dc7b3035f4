"""A judge's reply, read: its score by both rules, or why there is none; what a model thinks aloud is no answer."""

import bisect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

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
    family: re.compile(marks, re.IGNORECASE | re.ASCII | re.MULTILINE)
    for family, marks in _MARKS.items()
}

# ASCII: to Unicode a long s is an S of another case, and a full-width digit a digit.
_ANSWER_TAGS = {
    tag: re.compile(f"<{tag}>", re.IGNORECASE | re.ASCII) for tag in ("S0", "S2", "/S0", "/S2")
}

_HEADINGS = ("square", "Granite", "Apriel", "Huatuo")
"""Families whose marks are common words, too: one may be the heading of an answer."""

_KNOWN_TAGS = {
    "s2",
    "response",
    "answer",
    "output",
    "final",
    "final_answer",
    "solution",
    "result",
    "conclusion",
    # Of plain text:
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
"""Tags that hold what was asked for, or are of its text."""

_TAG = re.compile(r"<([^\W\d_][\w:.-]{0,60})(?:\s[^<>]{0,200})?>")  # in any language
_OTHER_MARK = re.compile(
    r"\s*(?:\[([^\W\d_][\w: -]{0,40})\]|◁([^\s◁▷]{1,40})▷|<[|\uff5c]([^<>\n]{1,60})>)"
)


_QUOTES = set("`'\"\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb")
_JSON_BEGINS = re.compile(r"\s*+(?:```[ \t]*+(?:json)?[ \t]*+\n\s*+)?+(?=\{)", re.IGNORECASE)


def without_thinking(text: str, *, cut: bool = False) -> str:
    """Return a reply without what the model thought before it answered.

    A mark of thinking that is quoted is a word: one in quotation marks, inside the answer (``<S0>``, ``<S2>``, or the
    texts of a reply in JSON), and an end without a beginning after a closed answer that no other answer follows.
    """
    marks = _marks_in(text)
    parts = _Parts(text)
    last_score = max((tag.start() for tag in _ANSWER_TAGS["S2"].finditer(text)), default=-1)
    last_ends = {mark.name: mark.begin for mark in marks if mark.ends}
    answer = []
    start = 0
    open_names = set()  # of the thinking that is open
    json_ends = _end_of_json(text, 0)
    for mark in marks:
        means_nothing = mark.only_ends and mark.name not in open_names
        around = [text[mark.begin - 1 : mark.begin], text[mark.end : mark.end + 1]]
        is_quoted = all(around) and set(around) <= _QUOTES
        if mark.begin < start or means_nothing or is_quoted:
            continue
        if not open_names:
            if mark.begin < json_ends or parts.hold(mark.begin):
                continue
            if not mark.ends:
                is_closed = last_ends.get(mark.name, -1) > mark.begin
                # Such as [Analysis], where nothing closes it.
                is_heading = mark.name.startswith(_HEADINGS) and "square think" not in mark.name
                if is_heading and not is_closed and parts.complete_from(mark.end):
                    continue
                answer.append(text[start : mark.begin])
            elif not cut and mark.begin > last_score and parts.complete_from(start):
                continue
            else:
                answer.clear()
        start = mark.end
        if not mark.ends:
            open_names.add(mark.name)
        elif mark.name in open_names:
            open_names.remove(mark.name)
        elif not cut:  # an end of another name: some models mix them
            open_names.clear()
        if not open_names and json_ends == 0:  # the first end: trying at each would be quadratic
            json_ends = _end_of_json(text, start)
    if not open_names:
        answer.append(text[start:])
    if cut:
        return _without_unknown_markup("".join(answer))
    return "".join(answer)


@dataclass(frozen=True)
class _Mark:
    """A mark of thinking. ``name``: what the marks that belong together have in common."""

    begin: int
    end: int
    name: str
    ends: bool
    only_ends: bool


def _marks_in(text: str) -> list[_Mark]:
    """The marks of thinking in a text, in their order."""
    marks = []
    for family, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            groups = match.groupdict(default="")
            name = f"{family} {groups.get('name', '').casefold()}"
            only_ends = bool(groups.get("only"))
            ends = only_ends or bool(groups.get("ends") or groups.get("end"))
            marks.append(_Mark(match.start(), match.end(), name, ends, only_ends))
    return sorted(marks, key=attrgetter("begin"))


class _Parts:
    """Where the parts of answers stand in a text: each ``<S0>`` and ``<S2>`` that holds no other tag of an answer."""

    def __init__(self, text: str):
        tags = []
        for tag, pattern in _ANSWER_TAGS.items():
            tags += [(match.start(), tag) for match in pattern.finditer(text)]
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.last: dict[str, int] = {}
        for (begin, tag), (end, following) in pairwise(sorted(tags)):
            if following == f"/{tag}":
                self.begins.append(begin)
                self.ends.append(end)
                self.last[tag] = begin

    def hold(self, position: int) -> bool:
        """Whether a position is inside of a part."""
        number = bisect.bisect(self.begins, position) - 1
        return number >= 0 and position < self.ends[number]

    def complete_from(self, position: int) -> bool:
        """Whether reasons and a score begin behind a position."""
        return min(self.last.get("S0", -1), self.last.get("S2", -1)) >= position


def _end_of_json(text: str, start: int) -> int:
    """Where an object of JSON that begins the answer at a position ends; the position if none begins there."""
    begins = _JSON_BEGINS.match(text, start)
    if begins is None:
        return start
    try:
        return json.JSONDecoder().raw_decode(text, begins.end())[1]
    except (ValueError, RecursionError):
        return start


def _without_unknown_markup(answer: str) -> str:
    """Return what was cut off without markup of unknown meaning or reasoning not closed: it may be thinking, too."""
    other = _OTHER_MARK.match(answer)
    if other:
        name = re.escape(next(filter(None, other.groups())))
        behind = re.match(rf"(?s:.*?)\[/{name}\]|(?s:.*?)◁/{name}▷", answer)
        answer = answer[behind.end() :] if behind else ""
    parts = []
    start = 0
    tag = _TAG.search(answer)
    while tag:
        name = tag[1].lower()  # casefold makes an s of a long s
        if name in _KNOWN_TAGS:
            parts.append(answer[start : tag.end()])
            start = tag.end()
        else:
            parts.append(answer[start : tag.start()])
            pattern = re.compile(f"</{re.escape(tag[1])}>", re.IGNORECASE)
            closing = pattern.search(answer, tag.end())
            if closing is None:
                return "".join(parts)
            start = closing.end()
            if name == "s0":
                parts.append(answer[tag.start() : start])
        tag = _TAG.search(answer, start)
    parts.append(answer[start:])
    return "".join(parts)


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
    text = text or ""
    ended = ending(finish_reason)
    match = _AUTHORS_SCORE.search(_inside("S2", text) or "")
    authors_score = None
    if match and error is None:
        authors_score = float(match[0])
    score = None
    if error is not None:
        status = "api_error"
        reason = error or "the request failed"
    elif refusal or ended == FILTERED:
        status = "refusal"
        reason = refusal or "stopped by the endpoint's content filter"
    elif ended == FAILED:
        status = "api_error"
        reason = f"the reply ended in an error ({finish_reason})"
    else:
        score, reason = _strict_score(text, cut=ended == CUT)
        if score is not None:
            status = "ok"
        elif ended == CUT:
            status = "truncated"
            reason = "cut off at the limit of tokens before a usable score"
        else:
            status = "parse_failure"
    doubtful = bool(score and reason)
    if score != authors_score:
        doubtful = True
        by_authors = "no score" if authors_score is None else f"{authors_score:g}"
        reason = "; ".join(filter(None, (reason, f"the authors' rule reads {by_authors}")))
    if authors_score is None:
        authors_score = AUTHORS_DEFAULT
    reasoning = _inside("S0", text)
    if reasoning is not None:
        reasoning = reasoning.strip()
    return Reply(text, score, authors_score, status, reason, reasoning, doubtful)


def ending(finish_reason: str | None) -> str:
    """Say how a reply ended, by the words that endpoints use: ``CUT``, ``FILTERED``, ``FAILED``, or ""."""
    reason = re.sub(r"[\W_]+", "_", finish_reason or "").casefold()
    for ended, pattern in _ENDINGS.items():
        if pattern.search(reason):
            return ended
    return ""


def _strict_score(text: str, *, cut: bool) -> tuple[float | None, str]:
    """Score of a text by the strict rule; why there is none, or what more than a bare score was read."""
    answer = without_thinking(text, cut=cut)
    asked_for = _without_reasons(answer)
    blocks = []
    for opening, closing in _pairs("S2", asked_for):
        if closing is None:
            return None, "<S2> is not closed"
        blocks.append(asked_for[opening.end() : closing.start()])
    if not text.strip():
        return None, "the reply is empty"
    if not blocks:
        thought = "" if answer == text else " after its thinking"
        return None, f"no <S2> in the reply{thought}"
    scores = [score_of(block) for block in blocks]
    if None in scores:
        unread = _quoted(blocks[scores.index(None)])
        return None, f"not one number from 1 to 5 inside <S2>: {unread}"
    if len(set(scores)) > 1:
        return None, f"different scores in several <S2>: {_quoted(', '.join(blocks))}"
    for block in blocks:
        if not _BARE_SCORE.fullmatch(block):
            return scores[0], f"more than a score from 1 to 5 inside <S2>: {_quoted(block)}"
    return scores[0], ""


def _quoted(block: str) -> str:
    """The beginning of a block in quotation marks."""
    text = " ".join(block.split())
    if len(text) > _LONGEST_QUOTE:
        text = f"{text[:_LONGEST_QUOTE]} .."
    return repr(text)


def _without_reasons(answer: str) -> str:
    """Return an answer without its closed ``<S0>``, in which a score is a quoted one, if it has a score elsewhere."""
    outside = []
    start = 0
    for opening, closing in _pairs("S0", answer):
        if closing:
            outside.append(answer[start : opening.start()])
            start = closing.end()
    outside.append(answer[start:])
    text = "".join(outside)
    if _ANSWER_TAGS["S2"].search(text):
        return text
    return answer


def _pairs(tag: str, text: str) -> Iterator[tuple[re.Match, re.Match | None]]:
    """Opening and closing tags in pairs; None closes the last one if it is not closed."""
    # Not one lazy pattern, which would search to the end again from every opening tag that is never closed.
    end = 0
    while True:
        opening = _ANSWER_TAGS[tag].search(text, end)
        if opening is None:
            return
        closing = _ANSWER_TAGS[f"/{tag}"].search(text, opening.end())
        yield opening, closing
        if closing is None:
            return
        end = closing.end()


def _inside(tag: str, text: str) -> str | None:
    """Text inside the first pair of tags; None if there is none."""
    for opening, closing in _pairs(tag, text):
        if closing:
            return text[opening.end() : closing.start()]
    return None
