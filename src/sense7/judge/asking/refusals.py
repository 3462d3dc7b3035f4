"""Which part of a request an endpoint refused, by its words, and what to give instead."""

import re
from collections.abc import Mapping, Sequence

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
    words = problem.words[:_MOST_READ]
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    counts = _first_match(_SUMS, words)
    if limit and counts:
        used = int(counts["used"].replace(",", ""))
        most = int(counts["most"].replace(",", ""))
        fewer = min(most - used, parameters[limit]) // 2
        if fewer < _FEWEST:
            return TOO_LONG, ""
        remedy = f"Lower it, so that the prompt and the answer fit: --param {limit}={fewer}"
        return TOO_LONG, remedy
    name = _refused_in(words, problem.details, parameters)
    if name in parameters:
        return name, _remedy(name, parameters[name], words)
    return name, ""


def _refused_in(words: str, error: Mapping, parameters: Mapping) -> str:
    """The parameter that a refusal names, or ``TOO_LONG``, or ""."""
    parameter = error.get("param")
    name = re.split(r"[.\[]", parameter)[0] if isinstance(parameter, str) else ""
    if name in parameters:
        return name
    folded = words.casefold().replace("_", "")
    positions = {}
    for sought in parameters:
        match = re.search(rf"\b{sought.replace('_', '')}\b", folded)
        if match:
            positions[sought] = match.start()
    code = str(error.get("code"))
    if _LENGTH.search(words) or "context_length" in code:
        has_bound = not name and _VALUE.search(words) and _BOUND.search(words)
        is_parameter = positions and (_UNKNOWN_NAME.search(words) or has_bound)
        if not is_parameter or "context" in f"{words} {code}".casefold():
            return TOO_LONG
    return min(positions, key=positions.get, default="")


def _remedy(name: str, value: object, words: str) -> str:
    """What to give in place of a parameter that was refused: another value, another name, or none."""
    is_limit = name in TOKEN_LIMITS
    above = re.compile(rf"\b{re.escape(str(value))} > ([\d.]*\d)")
    bound = _first_match([above, _RANGE, _BOUND], words)
    is_value = (bound or _VALUE.search(words)) and not _UNKNOWN_NAME.search(words)
    if is_value and type(value) in (int, float):
        most = float(bound[1]) if bound else value
        if most < value and (most >= 1 or not is_limit):
            return f"Give --param {name}={most:.15g}"
        if is_limit:
            return f"Lower it: --param {name}={max(1, value // 2)}"
    if is_limit:
        other = next(limit for limit in TOKEN_LIMITS if limit != name)
        return f"Give --param {other}={value}"
    if name in REQUEST or name == "response_format":
        return f"Give --omit {name}"
    return f"Leave out --param {name}"


def _first_match(patterns: Sequence[re.Pattern], words: str) -> re.Match | None:
    for pattern in patterns:
        match = pattern.search(words)
        if match:
            return match
    return None
