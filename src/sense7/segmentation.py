"""The words of a text in any script: one tokenizer for all that counts or compares words."""

import unicodedata

_HYPHENS = frozenset("-\u2010\u2011")
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018`\u00b4\u2032\u02bc\uff07", "'"))
"""Signs that keyboards and programs write for an apostrophe -> the apostrophe."""


def words_in(text: str) -> list[str]:
    """Return the words of a text: the pieces between Unicode's boundaries of words that have a letter or a digit.

    The boundaries are the default ones of Annex 29: in scripts without spaces, such as Chinese, each character is a
    word. Words that a hyphen joins are one. Signs and emoji are no words.

    Examples
    --------
    >>> words_in("It didn't help: a follow-up, at 3.5 km ...")
    ['It', "didn't", 'help', 'a', 'follow-up', 'at', '3.5', 'km']
    >>> words_in("很难过")
    ['很', '难', '过']
    """
    import regex  # a tenth of the time that reading a workbook takes

    words: list[str] = []
    follows_word, hyphen = False, ""  # what stands right before a piece
    for segment in regex.split(r"(?V1w)\b", text.translate(_APOSTROPHES)):
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
    """Return the words of a text to compare them: case folded, letters with their marks alone, without apostrophes.

    The Turkish dotted capital is folded to i, and so is I: a dotless i stays apart from its capital.

    Examples
    --------
    >>> folded_words_in("It didn't HELP; 2nd follow-up")
    ['it', 'didnt', 'help', 'nd', 'follow', 'up']
    >>> folded_words_in("मैं समझता हूँ"), folded_words_in("İYİ STRASSE")
    (['मैं', 'समझता', 'हूँ'], ['iyi', 'strasse'])
    """
    folded = []
    for word in words_in(text.translate(_APOSTROPHES).replace("'", "")):
        if word.isascii() and word.isalpha():
            folded.append(word.lower())
            continue
        # Runs of letters, each with its marks, such as the signs of vowels.
        letters = ""
        for character in unicodedata.normalize("NFKC", word.replace("İ", "i")).casefold():
            category = unicodedata.category(character)
            if category[0] in "LM":
                letters += character
            elif category != "Cf":  # a sign that can't be seen parts no word
                letters += " "
        folded += [run for run in letters.split() if any(map(str.isalpha, run))]
    return folded
