"""A key that an endpoint returns is taken out of every text, however it is written there.

A text is first searched in a reduced form, without markup, blanks and escapes. If it holds the key, the key is replaced
where it stands; what still holds it after that is withheld whole.
"""

import base64
import functools
import html
import math
import re

__all__ = ["MASK", "WITHHELD", "holds", "masked", "masked_in"]

MASK = "[key]"
WITHHELD = "[text withheld: it holds the key in another form]"

_SHORTEST_SECRET = 8
"""Shorter keys (EMPTY, ollama) are placeholders that local servers are given, and words that replies may hold."""

_SHORTEST_PART = 16
_PART_OF_KEY = 2 / 3
"""Of a key so much of its beginning or end counts as the key."""

_MOST_ROUNDS = 4
"""Escapes of escapes that are undone in search of a key."""

_TAG = r"<[^<>]{0,100}+>"
_UNSEEN = r"[\x00-\x1f\x7f\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_BETWEEN = rf"(?:{_TAG}|\s|{_UNSEEN}){{0,4}}"
"""What may stand between the characters of a key and is not seen."""

_ESCAPE = re.compile(r"(?:\\u00|\\x|\\U000000|%(?:25){0,4}|=)([0-9A-Fa-f]{2})")
_BETWEEN_HEX = dict.fromkeys(map(ord, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"))


def masked(text: str, key: str) -> str:
    """Return a text without a key."""
    if not holds(text, key):
        return text
    text = _forms_of(key).pattern.sub(MASK, text)
    return WITHHELD if holds(text, key) else text


def masked_in(value: object, key: str) -> object:
    """Return a JSON value in which no text holds a key."""
    if isinstance(value, str):
        return masked(value, key)
    if isinstance(value, list):
        return [masked_in(item, key) for item in value]
    if isinstance(value, dict):
        return {masked(name, key): masked_in(item, key) for name, item in value.items()}
    return value


def holds(text: str, key: str) -> bool:
    """Whether a text holds a key in any form that is known here."""
    if len(key) < _SHORTEST_SECRET or len(text) < _SHORTEST_SECRET:
        return False
    forms = _forms_of(key)
    for _ in range(_MOST_ROUNDS):
        reduced = _reduced(text)
        if any(form in reduced for form in forms.plain):
            return True
        unescaped = html.unescape(text) if "&" in text else text
        if any(sign in unescaped for sign in "\\%="):
            unescaped = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), unescaped)
        if unescaped == text:
            break
        text = unescaped
    standard = reduced.replace("-", "+").replace("_", "/")
    if any(form in standard for form in forms.base64):
        return True
    return forms.hexadecimal in reduced.translate(_BETWEEN_HEX).replace("0x", "")


class _Forms:
    """The forms of a key that reduced texts are searched for, and the pattern of those that are replaced.

    The pattern: plain, in escapes of JSON, URLs and HTML, split by markup, in hexadecimal, and in Base64.
    """

    def __init__(self, key: str):
        length = max(_SHORTEST_PART, math.ceil(len(key) * _PART_OF_KEY))
        # Of a short key these are the key itself.
        parts = dict.fromkeys((key, key[:length], key[-length:]))
        self.plain = {_reduced(part) for part in parts} - {""}
        coded = _in_base64(key, "utf-8")
        self.base64 = {text.casefold() for text in coded + _in_base64(key, "utf-16-le")}
        self.hexadecimal = key.encode().hex()

        in_base64 = []
        for text in coded:
            letters = {"+": "[+-]", "/": r"\\{0,8}[/_]"}
            in_base64.append("".join(letters.get(character, character) for character in text))
        escaped = [_BETWEEN.join(map(_escaped, part)) for part in parts]
        escaped.append(r"(?:[\s:,_-]{0,2}(?:0x)?)".join(f"{byte:02x}" for byte in key.encode()))
        self.pattern = re.compile(
            f"(?i:{'|'.join(escaped)})|(?:{'|'.join(in_base64)})[A-Za-z0-9+/_-]?={{0,2}}"
        )


_forms_of = functools.lru_cache(maxsize=8)(_Forms)


def _escaped(character: str) -> str:
    """Pattern of a character, plain and in any escape."""
    code = f"{ord(character):02x}"
    return (
        rf"(?:\\{{0,8}}{re.escape(character)}|\\{{1,8}}(?:u00|x|U000000){code}|%(?:25){{0,4}}{code}|={code}|"
        rf"&#0{{0,5}}{ord(character)};|&#x0{{0,5}}{code};|{re.escape(html.escape(character))})"
    )


def _reduced(text: str) -> str:
    """A text without markup, blanks, and what is not seen; small letters alone."""
    reduced = "".join(text.split())
    if "<" in reduced:
        reduced = re.sub(_TAG, "", reduced)
    if "\\" in reduced:
        reduced = re.sub(r"\\+[nrt]?", "", reduced)
    if not reduced.isascii() or not reduced.isprintable():
        reduced = re.sub(_UNSEEN, "", reduced)
    return reduced.casefold()


def _in_base64(key: str, encoding: str) -> list[str]:
    """A key in Base64 after any number of bytes, without the characters that depend on what stands around it."""
    content = key.encode(encoding)
    texts = []
    for offset, dependent in enumerate((0, 2, 3)):
        independent = (offset + len(content)) * 8 // 6
        texts.append(base64.b64encode(bytes(offset) + content).decode()[dependent:independent])
    return texts
