"""Parameters of a request: the authors', those that a model needs in their place, and those that the user gives.

``parameters_by_model.json`` lists patterns of models' names. A model that matches none is sent the authors' parameters
to the letter.
"""

import fnmatch
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.asking.prompt import REQUEST

__all__ = [
    "Refusal",
    "by_model",
    "describe_parameters",
    "parse_parameters",
    "refusal_of",
    "request_parameters",
    "token_limit",
]

TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the limit of a reply's tokens: a request has one of them."""

_FIXED = {
    "model": "Give --model",
    "messages": "Give --prompt",
    "stream": "Replies are read whole: leave it out",
    "n": "One reply is read: give --runs to ask several times",
}
"""Names that are no free parameters -> what to do instead."""

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
_VALUE = re.compile(
    r"(?:unsupported|invalid) value|must be|should be|too (?:large|high|big|low|small)|at (?:most|least)|"
    r"less than|greater|"
    r"maximum|minimum|range|exceed|does not support '?[\d.]|only the default|between",
    re.IGNORECASE,
)
_TABLE = Path(__file__).with_name("parameters_by_model.json")


def parse_parameters(texts: Sequence[str]) -> dict:
    """Read parameters that were given as ``NAME=JSON``."""
    found: dict = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not name or not equals:
            raise UserError(f"--param {text}: give a name, an equals sign and JSON: --param seed=1.")
        if name in _FIXED:
            raise UserError(f"--param {name}: is no free parameter. {_FIXED[name]}.")
        if name in found:
            raise UserError(f"--param {name}: is given twice. Give it once.")
        try:
            found[name] = json.loads(value)
            json.dumps(found[name], allow_nan=False)  # NaN and Infinity are Python's, not JSON's
        except (ValueError, RecursionError):
            shown = json.dumps(value.strip())
            raise UserError(
                f"--param {text}: what stands after the equals sign is no JSON. A number is written as it is, a text "
                f"in quotation marks: --param '{name}={shown}'."
            ) from None
        if name in TOKEN_LIMITS and (type(found[name]) is not int or found[name] < 1):
            raise UserError(f"--param {text}: is no number of tokens. Give a whole number from 1.")
    return found


def by_model(model: str) -> Mapping:
    """Return the entry of the table for a model: ``omit``, ``set`` and ``why``; all empty if there is none."""
    name = model.strip().rpartition("/")[2].casefold()
    for entry in _table():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in entry["models"]):
            return entry
    return {"omit": [], "set": {}, "why": ""}


@cache
def _table() -> list[dict]:
    return json.loads(_TABLE.read_text(encoding="utf-8"))


def request_parameters(
    model: str, *, omit: Collection[str] = (), param: Mapping | None = None, needed: Mapping | None = None
) -> dict:
    """Return the parameters of every request of a session."""
    param, entry = dict(param or {}), by_model(model)
    replaced = set(TOKEN_LIMITS) if param.keys() & set(TOKEN_LIMITS) else set()
    known = {name: value for name, value in REQUEST.items() if name not in entry["omit"]}
    known |= entry["set"] | dict(needed or {})
    if both := sorted(set(omit) & param.keys()):
        raise UserError(f"{both[0]}: is left out by --omit and given by --param. Give one of them.")
    may_be_omitted = known.keys() | REQUEST.keys()
    if unknown := sorted(set(omit) - may_be_omitted):
        left = ", ".join(sorted(may_be_omitted - set(TOKEN_LIMITS)))
        raise UserError(f"--omit {unknown[0]}: is no parameter of the requests. Choose of {left}.")
    found = {name: value for name, value in known.items() if name not in replaced | set(omit)} | param
    if not found.keys() & set(TOKEN_LIMITS):
        raise UserError(
            f"--omit {next(iter(set(omit) & set(TOKEN_LIMITS)))}: a reply needs a limit of tokens. Give the other name "
            f"in its place: --param max_completion_tokens={REQUEST['max_tokens']}, or --param max_tokens=.."
        )
    return found


@dataclass(frozen=True)
class Refusal:
    """What an endpoint refused a request for."""

    name: str = ""
    remedy: str = ""
    too_long: bool = False
    one_prompt: bool = False


def refusal_of(problem, parameters: Mapping, model: str = "") -> Refusal:
    """Return what an endpoint refused, by the body of its answer: a name, a value, or a prompt that is too long."""
    said = problem if isinstance(problem, str) else json.dumps(_words(problem), ensure_ascii=False)
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    room = _room(said)
    if room is not None and limit:
        fewer = room // 2 if room < parameters[limit] else parameters[limit] // 2
        how = f"Lower it, so that the prompt and the answer fit: --param {limit}={fewer}"
        return Refusal(limit, how, one_prompt=True) if fewer >= _FEWEST else Refusal(too_long=True)
    code = str(problem.get("code")) if isinstance(problem, dict) else ""
    named = problem.get("param") if isinstance(problem, dict) else None
    head = re.split(r"[.\[]", named)[0] if isinstance(named, str) else ""
    is_name, is_value = bool(_UNKNOWN_NAME.search(said)), bool(_VALUE.search(said))
    if head not in parameters:
        folded = said.casefold().replace("_", "")
        places = {name: re.search(rf"\b{name.replace('_', '')}\b", folded) for name in parameters}
        found = {name: match.start() for name, match in places.items() if match}
        about_length = _LENGTH.search(said) or "context_length" in code
        if about_length and not (found and (is_name or (is_value and _BOUND.search(said) and not head))):
            return Refusal(too_long=True)
        if about_length and "context" in f"{said} {code}".casefold():
            return Refusal(too_long=True)
        head = min(found, key=found.get) if found else ""
    if not head:
        return Refusal()
    value = parameters[head]
    bounds = (rf"\b{re.escape(str(value))} > ([\d.]*\d)", r"[\[(] ?[\d.]+ ?, ?([\d.]*\d) ?[\])]", _BOUND)
    bound = next(filter(None, (re.search(pattern, said) for pattern in bounds)), None)
    most = float(bound[1]) if bound else None
    if (is_value or bound) and not is_name and type(value) in (int, float):
        if most is not None and value > most and (head not in TOKEN_LIMITS or most >= 1):
            return Refusal(head, f"Give --param {head}={most:g}" if most % 1 else f"Give --param {head}={int(most)}")
        if head in TOKEN_LIMITS:
            return Refusal(head, f"Lower it: --param {head}={max(1, value // 2)}")
    if head in TOKEN_LIMITS:
        other = next(name for name in TOKEN_LIMITS if name != head)
        return Refusal(head, f"Give --param {other}={value}")
    ours = head in REQUEST or head in by_model(model)["set"] or head == "response_format"
    return Refusal(head, f"Give --omit {head}" if ours else f"Leave out --param {head}")


_FEWEST = 50
"""Tokens in which a judge may just answer."""


def _room(said: str) -> int | None:
    """Tokens that a prompt leaves for the answer, where an endpoint says that both together do not fit."""
    if sums := re.search(r"([\d,]+) \+ ([\d,]+) > ([\d,]+)", said):
        prompt, most = _whole(sums[1]), _whole(sums[3])
    elif given := re.search(r"<= ?(\d+)\. Given: (\d+) inputs? tokens", said):
        prompt, most = _whole(given[2]), _whole(given[1])
    elif differs := re.search(r"[\d,]+ > ([\d,]+) - ([\d,]+)", said):
        prompt, most = _whole(differs[2]), _whole(differs[1])
    else:
        length = re.search(r"(?:context|model).{0,20}(?:length|window|size|limit)\D{0,30}([\d,]+)", said, re.IGNORECASE)
        used = re.search(
            r"([\d,]+)(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|text|prompt|input)|"
            r"(?:input|prompt|text) tokens)|"
            r"(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? ([\d,]+)",
            said,
            re.IGNORECASE,
        )
        if not length or not used:
            return None
        prompt, most = _whole(used[1] or used[2]), _whole(length[1])
    return max(0, most - prompt)


def _whole(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _words(problem) -> object:
    """What an endpoint says of a failure, without what it repeats of the request."""
    if isinstance(problem, dict):
        return {
            key: _words(value) for key, value in problem.items() if key in ("message", "msg", "loc", "detail", "error")
        }
    return [_words(one) for one in problem] if isinstance(problem, list) else problem


def describe_parameters(model: str, parameters: Mapping) -> list[str]:
    """Say in a line how the parameters of a request differ from the authors'; no line if they don't."""
    gone = [name for name in REQUEST if name not in parameters]
    new = [f"{name}={json.dumps(value)}" for name, value in parameters.items() if _differs(name, value)]
    said = [f"without {', '.join(gone)}" if gone else "", f"with {', '.join(new)}" if new else ""]
    why = by_model(model)["why"]
    if not any(said):
        return []
    return [f"parameters     the authors', {' and '.join(filter(None, said))}" + (f" ({model}: {why})" if why else "")]


def _differs(name: str, value) -> bool:
    return name not in REQUEST or REQUEST[name] != value


def token_limit(parameters: Mapping) -> int:
    """Return the limit of a reply's tokens."""
    return max(parameters[name] for name in TOKEN_LIMITS if name in parameters)


check_arguments(globals())
