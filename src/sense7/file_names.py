"""Names of files that are made from names in data: of sheets, models, prompts."""

import re
import unicodedata

from sense7.files import digest_of

LONGEST = 160
"""Bytes of a name at most: with an ending it stays below the 255 that file systems hold."""

_DIGEST = 17
"""Characters by which a longer name ends: ``~`` and sixteen digits of its SHA-256."""

_FORBIDDEN = re.compile(r'[/\\<>:"|?*~]|%(?=[0-9A-Fa-f]{2})|^[.\s-]|[.\s]\Z')
"""Separators and what Windows forbids; the sign of a shortened name; what would look encoded; at the ends, what makes a
file hidden, an option of a command, or is left out by Windows."""

_UNSEEN = ("C", "Zl", "Zp")
"""Categories of Unicode: controls, bidirectional and other format characters, surrogates, unassigned; line ends."""


def file_name(text: str, *, unsafe: str = "", longest: int = LONGEST) -> str:
    r"""Give the name of a file, without its ending, for a name from data; different names have different ones.

    It holds no separator and no character that can't be seen, is no dots alone, and not long.
    What it can't hold is written as in addresses (``%2F``), a longer name is cut and ends with its digest.

    Parameters
    ----------
    text : str
        Any text, such as the name of a sheet.
    unsafe : str
        A regular expression of what else is to be encoded.
    longest : int
        Bytes at most.

    Examples
    --------
    >>> file_name("Notes"), file_name("../a\\b"), file_name("50 % of \u202eall")
    ('Notes', '%2E.%2Fa%5Cb', '50 % of %E2%80%AEall')
    """
    patterns = [_FORBIDDEN.pattern]
    if unsafe:
        patterns.append(unsafe)
    is_unsafe = re.compile("|".join(patterns))
    marked = {match.start() for match in is_unsafe.finditer(text)}
    characters = []
    for position, character in enumerate(text):
        if position in marked or unicodedata.category(character).startswith(_UNSEEN):
            encoded = character.encode(errors="surrogatepass")
            characters.append("".join(f"%{byte:02X}" for byte in encoded))
        else:
            characters.append(character)
    name = "".join(characters)
    if not name:
        return "%"  # no other text has this one: it would be a name for itself
    if len(name.encode()) <= longest:
        return name
    digest = digest_of(text.encode(errors="surrogatepass"))[: _DIGEST - 1]
    room = longest - _DIGEST
    start = ""
    for character in characters:  # none of them in part
        room -= len(character.encode())
        if room < 0:
            break
        start += character
    return f"{start}~{digest}"
