"""Which part of a request an endpoint refused, by its words, and what to give instead."""

import re
from collections.abc import Mapping

from sense7.judge.asking.answers import NoCompletion
from sense7.judge.asking.requests import REQUEST, TOKEN_LIMITS

__all__ = ["TOO_LONG", "refusal_of"]

_FEWEST = 50
"""Tokens in which a judge may just answer."""

_LENGTH = re.compile(
    r"context.?(length|window|size|limit)|(prompt|input|request|messages?) (is|are) too (long|large)|"
    r"too many .{0,20}tokens|"
    r"(longer|larger|greater) than the (model'?s )?(maximum|max|context)|max(imum)? (model|input|prompt) (length|len)|"
    r"input length|max_model_len|reduce (the|your) (length|prompt|messages|input)|"
    r"exceeds? .{0,30}(maximum|context|input)",
    re.IGNORECASE,
)
_UNKNOWN_NAME = re.compile(
    r"unsupported[ _]parameter|not supported with this model|support(s|ed)? (the )?param|"
    r"un(recogni[sz]ed|known|expected)|"
    r"not permitted|cannot find|extra (input|field)|no such|not allowed",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:less than or equal to|at most|<=|\u2264|up to|no more than|maximum(?: value)?(?: allowed)?(?: of| is|:)?|"
    r"between [\d.]+ and|supports? only|range [\[(][\d.]+, ?)\s*'?(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[\[(] ?[\d.]+ ?, ?([\d.]*\d) ?[\])]")
_VALUE = re.compile(
    r"(?:unsupported|invalid) value|must be|should be|too (?:large|high|big|low|small)|at (?:most|least)|"
    r"less than|greater|"
    r"maximum|minimum|range|exceed|does not support '?[\d.]|only the default|between",
    re.IGNORECASE,
)
_TOKENS = r"(?<![\d,])\d[\d,]{0,15}+"  # from its first digit on: else each digit of a long number begins a search
_WINDOW = rf"(?is)\A(?=.*?(?:context|model).{{0,20}}(?:length|window|size|limit)\D{{0,30}}(?P<most>{_TOKENS}))"
_SUMS = [
    re.compile(pattern)
    for pattern in (
        rf"(?P<used>{_TOKENS}) \+ [\d,]{{1,16}}+ > (?P<most>{_TOKENS})",
        rf"<= ?(?P<most>{_TOKENS})\. Given: (?P<used>{_TOKENS}) inputs? tokens",
        rf"{_TOKENS} > (?P<most>{_TOKENS}) - (?P<used>{_TOKENS})",
        rf"{_WINDOW}.*?(?P<used>{_TOKENS})(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?"
        r"(?:messages|text|prompt|input)|(?:input|prompt|text) tokens)",
        rf"{_WINDOW}.*?(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? (?P<used>{_TOKENS})",
    )
]
"""How endpoints say that a prompt and its answer do not fit together."""

TOO_LONG = "the prompt"

_MOST_READ = 4000
"""Characters of a refusal that are searched for what was refused."""


def refusal_of(problem: NoCompletion, parameters: Mapping) -> tuple[str, str]:
    """Return which parameter an endpoint refused, by the body of its answer, and the remedy; else ``TOO_LONG`` or "".

    ``TOO_LONG`` with a remedy: a prompt that would fit with a shorter answer.
    """
    said, code, named = (
        problem.words[:_MOST_READ],
        problem.known.get("code"),
        problem.known.get("param"),
    )
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    if limit and (sums := next(filter(None, (pattern.search(said) for pattern in _SUMS)), None)):
        tokens, most = (int(sums[name].replace(",", "")) for name in ("used", "most"))
        room = max(0, most - tokens)
        fewer = room // 2 if room < parameters[limit] else parameters[limit] // 2
        how = f"Lower it, so that the prompt and the answer fit: --param {limit}={fewer}"
        return TOO_LONG, how if fewer >= _FEWEST else ""
    head = re.split(r"[.\[]", named)[0] if isinstance(named, str) else ""
    is_name, is_value = bool(_UNKNOWN_NAME.search(said)), bool(_VALUE.search(said))
    if head not in parameters:
        folded = said.casefold().replace("_", "")
        places = {name: re.search(rf"\b{name.replace('_', '')}\b", folded) for name in parameters}
        known = {name: match.start() for name, match in places.items() if match}
        if _LENGTH.search(said) or "context_length" in str(code):
            is_parameter = known and (is_name or (is_value and _BOUND.search(said) and not head))
            if not is_parameter or "context" in f"{said} {code}".casefold():
                return TOO_LONG, ""
        head = min(known, key=known.get) if known else ""
    if not head:
        return "", ""
    value, other = parameters[head], next((name for name in TOKEN_LIMITS if name != head), "")
    bounds = (re.compile(rf"\b{re.escape(str(value))} > ([\d.]*\d)"), _RANGE, _BOUND)
    bound = next(filter(None, (pattern.search(said) for pattern in bounds)), None)
    if (is_value or bound) and not is_name and type(value) in (int, float):
        most = float(bound[1]) if bound else value
        if most < value and (head not in TOKEN_LIMITS or most >= 1):
            return head, f"Give --param {head}={most:.15g}"
        if head in TOKEN_LIMITS:
            return head, f"Lower it: --param {head}={max(1, value // 2)}"
    if head in TOKEN_LIMITS:
        return head, f"Give --param {other}={value}"
    ours = head in REQUEST or head == "response_format"
    return head, f"Give --omit {head}" if ours else f"Leave out --param {head}"
