"""The words of a text in any script: one tokenizer for all that counts or compares words."""

import re
import unicodedata
from collections.abc import Iterator

from sense7.characters import without_invisible

_HYPHENS = frozenset("-\u2010\u2011")
_APOSTROPHES = re.compile("['\N{RIGHT SINGLE QUOTATION MARK}\N{FULLWIDTH APOSTROPHE}]")


def _segments(text: str) -> Iterator[str]:
    """Pieces of a text by Unicode's rules for words (Annex 29), and by ICU's dictionaries where words have no space."""
    from icu4py.breakers import WordBreaker  # a library of 40 MB, which no reader needs

    return iter(WordBreaker(text, "root"))


def words_in(text: str) -> list[str]:
    """Return the words of a text: what Unicode's rules take for one and has a letter or a digit.

    Words that a hyphen joins are one. Signs and emoji are no words.

    Examples
    --------
    >>> words_in("It didn't help: a follow-up, at 3.5 km ...")
    ['It', "didn't", 'help', 'a', 'follow-up', 'at', '3.5', 'km']
    >>> words_in("我今天很难过")
    ['我', '今天', '很', '难过']
    """
    words: list[str] = []
    follows_word, hyphen = False, ""  # what stands right before a piece
    for segment in _segments(text):
        if segment != " " and any(map(str.isalnum, segment)):
            if hyphen:
                words[-1] += hyphen + segment
            else:
                words.append(segment)
            follows_word, hyphen = True, ""
        else:
            hyphen = segment if follows_word and segment in _HYPHENS else ""
            follows_word = False
    return words


def folded_words_in(text: str) -> list[str]:
    """Return the words of a text to compare them: lower case, letters with their marks alone, without apostrophes.

    Examples
    --------
    >>> folded_words_in("It didn't HELP; 2nd follow-up")
    ['it', 'didnt', 'help', 'nd', 'follow', 'up']
    >>> folded_words_in("मैं समझता हूँ")
    ['मैं', 'समझता', 'हूँ']
    """
    folded = []
    for word in words_in(_APOSTROPHES.sub("", text)):
        if word.isascii() and word.isalpha():
            folded.append(word.lower())
        else:
            folded += _letters_of(without_invisible(unicodedata.normalize("NFKC", word).lower()))
    return folded


def _letters_of(word: str) -> list[str]:
    """Runs of letters of a word, each with its marks, such as the signs of vowels."""
    kept = [character if unicodedata.category(character)[0] in "LM" else " " for character in word]
    return [run for run in "".join(kept).split() if any(map(str.isalpha, run))]
