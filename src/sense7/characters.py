"""Characters that look alike or can't be seen: what is one sign for certain, and what only looks like one."""

import functools
import html
import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters but those of white space, and what Unicode calls default ignorable: zero-width, bidirectional."""

_HYPHENS = (
    "\u02d7\u058a\u05be\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2796\u2e3a\u2e3b"
)
_APOSTROPHES = "\u00b4\u02b9\u02bb\u02bc\u02c8\u2018\u2019\u201b\u2032\u2035"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u2036"
_PLAIN_SIGNS = str.maketrans(
    {
        **dict.fromkeys(_HYPHENS, "-"),
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_QUOTES, '"'),
    }
)
"""Dashes, a minus, apostrophes and quotation marks -> the sign on the keyboard, for which programs write them."""

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MOST_ROUNDS = 20
"""Entities of entities that are resolved; text that goes on like &amp;amp;amp; is not read again for each of them."""


def without_invisible(text: str) -> str:
    r"""Text without the characters that can't be seen and that stand for no space.

    Examples
    --------
    >>> without_invisible("P\u200b1\u202e")
    'P1'
    """
    return _INVISIBLE.sub("", text)


def with_plain_signs(text: str) -> str:
    r"""Text in form NFKC with the signs of a keyboard, entities of HTML resolved, and every white space one space.

    Nothing invisible remains. The result is its own plain form.

    Examples
    --------
    >>> with_plain_signs("P\u20111"), with_plain_signs("R&amp;D \u2013 \uff21\u200b\u00a0 b")
    ('P-1', 'R&D - A b')
    """
    if text.isascii() and text.isprintable() and "&" not in text:
        return " ".join(text.split())  # as most texts are
    # What is left out or replaced may bring together what has a form of its own.
    for _ in range(_MOST_ROUNDS):
        unchanged = text
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
        # The acute accent first: in form NFKC it is a space.
        text = without_invisible(text).translate(_PLAIN_SIGNS)
        text = " ".join(unicodedata.normalize("NFKC", text).split())
        if text == unchanged:
            return text
    return with_plain_signs(text.replace("&", ""))


@functools.cache
def _look_of(character: str) -> str:
    """The character for which another is taken (Unicode Technical Standard 39)."""
    from confusable_homoglyphs.confusables import confusables_data  # read from a file of 900 KB

    alike = confusables_data.get(character, ())
    # The data name with each look all characters that have it, and with such a character the look alone.
    if len(alike) != 1:
        return character
    look = without_invisible(alike[0]["c"])
    are_a_pair = len(confusables_data.get(look, ())) == 1
    if are_a_pair:
        return min(character, look)
    return look


def look_of(text: str) -> str:
    r"""What a text looks like, in letters of any alphabet: equal for texts that are taken for each other.

    Examples
    --------
    >>> look_of("\u0410\u0421") == look_of("AC"), look_of("A") == look_of("B")
    (True, False)
    """
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(map(_look_of, decomposed)).casefold()


def with_code_points(text: str) -> str:
    r"""Text in quotation marks, with the names of all characters in it that a keyboard does not have.

    Examples
    --------
    >>> with_code_points("P\u20111"), with_code_points("P-1")
    ("'P\u20111' (U+2011 NON-BREAKING HYPHEN)", "'P-1'")
    """
    names = []
    for character in dict.fromkeys(text):
        if not (character.isascii() and character.isprintable()):
            names.append(f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip())
    if not names:
        return repr(text)
    if len(names) > 3:
        names[3:] = ["..."]
    return f"{text!r} ({', '.join(names)})"
