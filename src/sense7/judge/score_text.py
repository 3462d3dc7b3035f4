"""The score in the text of an S2: a number that stands alone there, or that is so many of five.

A text is read from its first character to its last. Before the number only words that announce a score may stand, and
behind it its unit, of how many it is, or a remark that is set off by punctuation. Beside any other words a number is
that of something else: a count, the end of the scale, a bound. So words of scores are listed (score_words.toml), and
words of counts need not be. A level in words beside the number that is far from it says that the scale was
reversed.
"""

import importlib.resources
import re
import tomllib
import unicodedata

from sense7.taxonomy import TURN_RATING, normalise_word
from sense7.workbook.scales import lists_for

__all__ = ["HIGHEST", "LOWEST", "score_of"]

LOWEST, HIGHEST = 1.0, 5.0
"""Ends of the scale."""

_WORDS = tomllib.loads(
    (importlib.resources.files(__package__) / "score_words.toml").read_text("utf-8")
)
_WITHOUT_SPACES = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)  # Chinese, Japanese and Korean


def _any_of(words: list[str]) -> str:
    """Pattern of any of some words; those of a script with spaces end where their letters do."""
    patterns = []
    for word in sorted(words, key=len, reverse=True):
        end = "" if _WITHOUT_SPACES.match(word) else r"(?![^\W\d_])"
        patterns.append(re.escape(word) + end)
    return f"(?:{'|'.join(patterns)})"


# No quantifier over users' text gives back what it took (++, *+, ?+), so that time grows as the text does.
_ANNOUNCING = _any_of(_WORDS["announcing"])
_UNIT = rf"(?:\s*+{_any_of(_WORDS['units'])}\.?+)?+"
_OF = _any_of(_WORDS["of"])
_BESIDE_OF = _any_of(_WORDS["beside_of"])
_MAXIMUM = _any_of(_WORDS["maximum"])
_FIVE = rf"(?:5(?:[.,]0++)?+(?![0-9]|[.,][0-9])|{_any_of(_WORDS['numbers'][4])})"
_BLANKS = r"[\s:]*+"
_LINK = rf"(?:{_BLANKS}{_BESIDE_OF})*+{_BLANKS}{_OF}(?:{_BLANKS}(?:{_OF}|{_BESIDE_OF}))*+"
_OF_FIVE = (
    rf"(?:\s*+[/\u2044\u2215]|\s*+[(,]?+{_LINK}|\s*+\(\s*+{_MAXIMUM}{_BLANKS})\s*+{_FIVE}{_UNIT}|"
    rf"\s*+\(\s*+5{_UNIT}\s*+(?:\u6e80\u70b9|\ub9cc\uc810)"
)
_FIVE_FIRST = "|".join(
    r"\s*+5\s*+".join(re.escape(part.strip()) for part in phrase.split("5"))
    for phrase in _WORDS["five_first"]
)
_NUMBER_WORD = "|".join(
    rf"(?P<word{number}>{_any_of(words)})" for number, words in enumerate(_WORDS["numbers"], 1)
)
_OPEN, _CLOSE = r"[\s(\[\u3010]", r"[\s)\]\u3011]"
_FIELD = re.compile(
    rf"{_OPEN}*+(?:{_ANNOUNCING}(?:[\s:=,\u3001\u2192]|(?<=\s)[-\u2013\u2014]++(?=\s))*+)*+"
    rf"(?:(?:{_FIVE_FIRST})[\s,:]*+)?+(?:(?:{_NUMBER_WORD}){_OPEN}++)?{_OPEN}*+"
    rf"(?P<score>0*+[0-9]++|[0-9](?:\.[0-9]++)?+)(?![0-9]|[.,][0-9]){_UNIT}(?:{_OF_FIVE})?+{_CLOSE}*+"
    r"(?P<rest>.*+)",
    re.DOTALL | re.IGNORECASE,
)
_SET_OFF = re.compile(
    r"[,;:\u3002\u3001(\[!\u2013\u2014\n]|(?<=[)\]\n])|(?<=\s)(?:-{1,2}|=)(?=\s|$)|(?P<point>\.)(?=\s|$)"
)
_BOUND = re.compile(rf"[\W_]*+{_any_of(_WORDS['bounds'])}", re.IGNORECASE)
_ANY_NUMBER_WORD = re.compile(rf"(?<![^\W\d_])(?:{_NUMBER_WORD})", re.IGNORECASE)

_MARKUP = re.compile(
    r"</?(?:b|i|u|em|strong|code|pre|p|br|span|div|score|h[1-6])\s?/?>|\\(?:boxed|text|mathbf|textbf)\b|^\s*#+\s|"
    r"[*_`\"\u201c-\u201e\u00ab\u00bb{}\\]|['\u2018\u2019](?![a-z])",
    re.IGNORECASE,
)
_SYMBOLS = re.compile(
    "[\u2600-\u27bf\u2b50\U0001f000-\U0001faff\ufe0e\ufe0f\u200b-\u200f\u2060\ufeff]"
)
_IN_DOLLARS = re.compile(r"\$([^$\n]{0,40})\$")
_AROUND_WORDS = " \n\t()[]:.,;!"
_ENDS = {
    **dict.fromkeys(_WORDS["worst"], LOWEST),
    **dict.fromkeys(_WORDS["best"], HIGHEST),
}
_LONGEST_LEVEL = 60
"""Characters of a score with a level in words."""

_FAR = 2
"""Levels between a score and the word beside it from which on they contradict each other."""

_FEW_WORDS = 3
"""A remark of no more words than these in which a number word stands is another score: "maybe four"."""


def score_of(inside: str) -> float | None:
    """Return the score in the text of an S2; None if there is none, or any other number beside it."""
    for character in inside:
        is_number = unicodedata.category(character)[0] == "N"
        if is_number and not character.isascii():  # such as a half or a full-width digit
            return None
    plain = _SYMBOLS.sub(" ", _MARKUP.sub(" ", _IN_DOLLARS.sub(r" \1 ", inside)))
    score, remark = _announced(unicodedata.normalize("NFKC", plain).strip())
    if re.search("[0-9]", remark):  # it may repeat the score: 4 (4/5)
        repeated, further = _announced(remark.strip(" \n\t:,;.([)]"))
        if repeated != score or re.search("[0-9]", further):
            return None
    if score is None or not LOWEST <= score <= HIGHEST:
        return None
    plain = plain.strip()
    if len(plain) > _LONGEST_LEVEL:  # such a text has other words than those of a level
        return score
    _, word = TURN_RATING.split_number(plain)
    for words in (word, remark):
        if _is_contradicted(score, words.strip(_AROUND_WORDS)):
            return None
    return score


def _is_contradicted(score: float, words: str) -> bool:
    """Whether words beside a score mean another level by far, as on a reversed scale."""
    word = normalise_word(words)
    if not word:
        return False
    levels = {listed.levels.get(word) for listed in lists_for(TURN_RATING, [word])}
    levels.add(_ENDS.get(word))
    distances = [abs(level - score) for level in levels if level is not None]
    return bool(distances) and min(distances) >= _FAR


def _announced(text: str) -> tuple[float | None, str]:
    """The number that a text begins with, after words that announce a score; and the remark behind it."""
    field = _FIELD.match(text)
    if field is None:
        return None, ""
    score = float(field["score"])
    if _number_words(field) - {score}:
        return None, ""
    if not field["rest"]:
        return score, ""
    set_off = _SET_OFF.match(text, field.start("rest"))
    if set_off is None:
        return None, ""
    remark = text[set_off.end() :]
    words = re.findall(r"[^\W\d_]+", remark)
    is_of_a_list = (
        set_off["point"] and 0 < len(words) < _FEW_WORDS
    )  # as in "1. Message" and "4. May"
    if is_of_a_list or _BOUND.match(remark):
        return None, ""
    if len(words) <= _FEW_WORDS:
        for match in _ANY_NUMBER_WORD.finditer(remark):
            if _number_words(match) != {score}:
                return None, ""
    return score, remark


def _number_words(match: re.Match) -> set[float]:
    """The number that a match has as a word."""
    return {
        float(number) for number in range(1, len(_WORDS["numbers"]) + 1) if match[f"word{number}"]
    }
