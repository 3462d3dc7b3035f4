"""The words of a text in any script: one tokenizer for all that counts or compares words."""

import re
import unicodedata

from sense7.characters import without_invisible

_HYPHENS = frozenset("-\u2010\u2011")
_APOSTROPHES = re.compile("['\N{RIGHT SINGLE QUOTATION MARK}\N{FULLWIDTH APOSTROPHE}]")


def words_in(text: str) -> list[str]:
    """Return the words of a text: what Unicode's rules take for one and has a letter or a digit.

    The rules are those of Annex 29, and ICU's dictionaries where words have no space.

    Words that a hyphen joins are one. Signs and emoji are no words.

    Examples
    --------
    >>> words_in("It didn't help: a follow-up, at 3.5 km ...")
    ['It', "didn't", 'help', 'a', 'follow-up', 'at', '3.5', 'km']
    >>> words_in("我今天很难过")
    ['我', '今天', '很', '难过']
    """
    from icu4py.breakers import WordBreaker  # a library of 40 MB, which no reader needs

    words: list[str] = []
    follows_word, hyphen = False, ""  # what stands right before a piece
    for segment in WordBreaker(text, "root"):
        is_word = segment != " " and any(map(str.isalnum, segment))
        if is_word and hyphen:
            words[-1] += hyphen + segment
        elif is_word:
            words.append(segment)
        hyphen = ""
        if follows_word and segment in _HYPHENS:
            hyphen = segment
        follows_word = is_word
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
            continue
        # Runs of letters, each with its marks, such as the signs of vowels.
        letters = ""
        for character in without_invisible(unicodedata.normalize("NFKC", word).lower()):
            is_letter_or_mark = unicodedata.category(character)[0] in "LM"
            letters += character if is_letter_or_mark else " "
        folded += [run for run in letters.split() if any(map(str.isalpha, run))]
    return folded
