"""Probabilities of the five levels where a reply states its score, from the log probabilities of its tokens.

Source of the method: the expected score over the tokens of the levels, as in G-Eval (Liu and others 2023).
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from sense7.arguments import check_arguments

__all__ = ["expected_score"]

_OPEN = re.compile("<S2>", re.IGNORECASE | re.ASCII)
_DIGIT = re.compile("[1-5]")

LevelLogprobs = list[list]
"""Pairs of a level (1 to 5) and a log probability."""


def expected_score(pairs: Sequence[Sequence]) -> tuple[float, float]:
    r"""Return the expected score, and the certainty, of the probabilities of levels.

    .. math:: e = \frac{\sum_k k\,p_k}{\sum_k p_k}, \qquad c = \frac{\max_k p_k}{\sum_k p_k}

    with :math:`p_k` the sum over all tokens that write level k. Levels of which no token is known have probability 0.

    Parameters
    ----------
    pairs : sequence of (int, float)
        Level and log probability of each token.

    Returns
    -------
    expected : float
        1 to 5; NaN if there is no token.
    certainty : float
        Probability of the most probable level, 0.2 to 1; NaN if there is no token.

    Examples
    --------
    >>> import math
    >>> expected, certainty = expected_score([(4, math.log(0.6)), (5, math.log(0.2))])
    >>> round(expected, 3), round(certainty, 3)
    (4.25, 0.75)
    >>> expected_score([])
    (nan, nan)
    """
    shares = np.zeros(6)
    highest = max((logprob for _, logprob in pairs), default=-math.inf)
    if highest == -math.inf:
        return math.nan, math.nan
    for level, logprob in pairs:
        shares[level] += math.exp(logprob - highest)  # the highest is 1: no sum of them is 0
    return float(shares @ np.arange(6) / shares.sum()), float(shares.max() / shares.sum())


def logprobs_of_levels(text: str | None, logprobs) -> LevelLogprobs | None:
    """Return level and log probability of each token that could have stood where a reply states its score.

    The place is the first digit in the last ``<S2>``. Tokens have to give the text of the reply when they are put
    together; else the place is not known.

    Parameters
    ----------
    text : str or None
        The reply.
    logprobs : object
        The object ``logprobs`` of the choice.

    Returns
    -------
    list or None
        Pairs of level (1 to 5) and log probability, the most probable first. Empty if the place is not known; None if
        the endpoint gave no alternatives to any token.

    Examples
    --------
    >>> def token(text, *others):
    ...     tops = [{"token": other, "logprob": -1.0 - n} for n, other in enumerate(others)]
    ...     return {"token": text, "logprob": -1.0, "top_logprobs": tops}
    >>> said = [token("<S2>", "<S2>"), token("4", "4", "5", "four"), token("</S2>", "</S2>")]
    >>> logprobs_of_levels("<S2>4</S2>", {"content": said})
    [[4, -1.0], [5, -2.0]]
    """
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list) or not any(_alternatives(token) for token in tokens):
        return None
    openings = list(_OPEN.finditer(text or ""))
    digit = _DIGIT.search(text, openings[-1].end()) if openings else None
    parts = [_bytes(token) for token in tokens]
    if digit is None or None in parts:
        return []
    start = b"".join(parts).find(text.encode("utf-8", "surrogatepass"))
    place = start + len(text[: digit.start()].encode("utf-8", "surrogatepass"))
    if start < 0:
        return []
    for token, part in zip(tokens, parts, strict=True):
        if place < len(part):
            return _levels(token, part, place)
        place -= len(part)
    return []


def _levels(token: dict, part: bytes, place: int) -> LevelLogprobs:
    """Levels of a token and its alternatives, which differ from it in the digit alone, and in blanks."""
    before, after = part[:place].strip(), part[place + 1 :].strip()
    pattern = re.compile(rb"\s*" + re.escape(before) + rb"\s*([1-5])\s*" + re.escape(after) + rb"\s*")
    known: dict[bytes, float] = {}
    for one in [*_alternatives(token), token]:
        text, logprob = _bytes(one), one.get("logprob") if isinstance(one, dict) else None
        if text is not None and isinstance(logprob, int | float) and not math.isnan(logprob):
            known.setdefault(text, float(logprob))
    found = [[int(match[1]), logprob] for text, logprob in known.items() if (match := pattern.fullmatch(text))]
    return sorted([pair for pair in found if math.isfinite(pair[1])], key=lambda pair: -pair[1])


def _alternatives(token) -> list:
    tops = token.get("top_logprobs") if isinstance(token, dict) else None
    return tops if isinstance(tops, list) else []


def _bytes(token) -> bytes | None:
    """A token as bytes: one may be a part of a character, which its text can't show."""
    if not isinstance(token, dict):
        return None
    known = token.get("bytes")
    if isinstance(known, list) and all(type(value) is int and 0 <= value < 256 for value in known):
        return bytes(known)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None


def is_level_logprobs(value) -> bool:
    """Whether a value is what :func:`logprobs_of_levels` gives."""
    return value is None or all(
        isinstance(pair, list)
        and len(pair) == 2
        and type(pair[0]) is int
        and 1 <= pair[0] <= 5
        and isinstance(pair[1], float)
        and math.isfinite(pair[1])
        for pair in value
    )


check_arguments(globals())
