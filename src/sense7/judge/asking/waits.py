"""How long an endpoint asks to wait before a further attempt: said in a header, or in the body of its answer."""

import contextlib
import datetime
import email.utils
import math
import re
import time
from collections.abc import Iterator, Mapping

__all__ = ["LONGEST_WAIT", "asked_to_wait", "is_too_large"]

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

_SECONDS = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
"""Unit of a duration -> its seconds."""

_NUMBER = r"\d{1,20}(?:\.\d{1,20})?"
_UNIT = f"(?:{'|'.join(sorted(_SECONDS, key=len, reverse=True))})(?![a-z])"
_PART = re.compile(rf"({_NUMBER})\s?({_UNIT})", re.IGNORECASE)
_BETWEEN_PARTS = r"(?:,? and |, |\s)?"
_IN_WORDS = re.compile(
    r"(?:again|retry|retrying|wait|available|resets?|reset)\b[^\d.]{0,40}?"
    rf"(?<![\d.,])(?P<wait>{_NUMBER}\s?{_UNIT}(?:{_BETWEEN_PARTS}{_NUMBER}\s?{_UNIT}){{0,3}})",
    re.IGNORECASE,
)
_WITHOUT_UNIT = re.compile(
    rf"(?:try again|retry) (?:in|after):? (?P<wait>{_NUMBER})(?![\d\s]*[\w:/-])", re.IGNORECASE
)
_DELAYS = {
    "retrydelay",
    "retryafter",
    "retryafterseconds",
    "retryafterms",
    "retryinms",
    "retryinseconds",
}
_FIRST_TIME = 1e9
"""Seconds since 1970 from which a number is a time; a thousand times as many are milliseconds."""

_TOO_LARGE = re.compile(
    r"request (?:is |was )?too (?:large|big|long)|"
    r"(?:tokens|input|prompt|request|messages)\b[^.]{0,60} must be (?:reduced|shorter|smaller)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\blimit:? (\d[\d,]{0,15})\b[^.]{0,60}?\brequested:? (\d[\d,]{0,15})\b", re.IGNORECASE
)


def asked_to_wait(
    status: int, headers: Mapping[str, str], body: object, words: str
) -> float | None:
    """Seconds that an endpoint asks to wait; None if it does not say.

    A header Retry-After comes first, in seconds or milliseconds, then what the body says in a field or in words, then
    for HTTP 429 the headers that say when a limit is reset: of those the longest that nothing remains of.
    """
    headers = {name.casefold(): value.strip() for name, value in headers.items()}
    now = time.time()  # of this machine; the endpoint's own clock tells better how long it means
    with contextlib.suppress(TypeError, ValueError):
        now = email.utils.parsedate_to_datetime(headers.get("date")).timestamp()
    in_headers = []
    for name, value in headers.items():
        if name.endswith(("retry-after", "retry-after-ms")):
            in_headers.append(_wait_in_field(name, value, now))
    waits = [wait for wait in in_headers if wait is not None]
    if any(waits):
        return min(wait for wait in waits if wait)
    for wait in _waits_in(body, words, now):
        if wait:
            return wait
    if waits:
        return 0.0
    if status == 429:
        return _until_reset(headers, now)
    return None


def is_too_large(words: str) -> bool:
    """Whether a request is refused since it alone is more than a limit of requests in a time: waiting is no help."""
    limit = _LIMIT.search(words)
    if limit:
        allowed, requested = (int(number.replace(",", "")) for number in limit.groups())
        return requested > allowed
    return _TOO_LARGE.search(words) is not None


def _wait_of(value: object, now: float) -> float | None:
    """Seconds of a duration, or until a time, in any of the forms that endpoints write; None if it is neither."""
    if isinstance(value, Mapping):  # as protocol buffers have it
        return _wait_of(value.get("seconds"), now)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    with contextlib.suppress(ValueError):
        number = float(text)
        if not math.isfinite(number):
            return None
        if number >= _FIRST_TIME:  # a time in seconds, milliseconds, microseconds or nanoseconds
            while number >= _FIRST_TIME * 1000:
                number /= 1000
            number -= now
        return max(0.0, number)
    parts = _PART.findall(text)
    if parts and re.fullmatch(r"(?:PT)?[\s,]*", _PART.sub("", text), re.IGNORECASE):
        return sum(float(number) * _SECONDS[unit.casefold()] for number, unit in parts)
    with contextlib.suppress(ValueError, OverflowError):
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return max(0.0, moment.timestamp() - now)
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    return None


def _wait_in_field(name: str, value: object, now: float) -> float | None:
    """As :func:`_wait_of`, in milliseconds where the name of a field says so."""
    wait = _wait_of(value, now)
    if wait is not None and name.endswith("ms"):
        return wait / 1000
    return wait


def _waits_in(body: object, words: str, now: float) -> Iterator[float | None]:
    """Waits that the body of an answer names in its fields, and then in words."""
    waiting = [body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part[::-1]
        if not isinstance(part, dict):
            continue
        for name, value in part.items():
            plain = re.sub(r"[\W_]", "", str(name)).casefold()
            if plain in _DELAYS:
                yield _wait_in_field(plain, value, now)
        waiting += [value for value in part.values() if isinstance(value, dict | list)][::-1]
    for pattern in (_IN_WORDS, _WITHOUT_UNIT):
        match = pattern.search(words)
        if match:
            yield _wait_of(match["wait"].replace(" and", ""), now)


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a limit is reset, of those of which nothing remains; else the longest that may be waited for."""
    resets = []
    for name, value in headers.items():
        if "limit" not in name:
            continue
        fields = dict(re.findall(r"\b(reset|remaining|t|r)=(\d{1,15})", value))
        reset_value = value if "reset" in name else ""
        reset = fields.get("reset", fields.get("t", reset_value))
        remaining_value = headers.get(name.replace("reset", "remaining"), "")
        remaining = fields.get("remaining", fields.get("r", remaining_value))
        wait = _wait_of(reset, now)
        if wait is not None:
            resets.append((wait, remaining.strip() == "0"))
    exhausted = [wait for wait, nothing_remains in resets if nothing_remains]
    short = [wait for wait, _ in resets if wait <= LONGEST_WAIT]
    return max(exhausted or short, default=None)
