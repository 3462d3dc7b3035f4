"""Text for a terminal, which would obey escape sequences that a workbook or a server put into it."""

from collections.abc import Iterable


def count_of(number: int, noun: str, plural: str = "") -> str:
    """Return a number followed by its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> count_of(1, "item"), count_of(1200, "warning"), count_of(0, "copy", "copies")
    ('1 item', '1,200 warnings', '0 copies')
    """
    words = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {words}"


def did_you_mean(text: str, names: Iterable[str], otherwise: str = "") -> str:
    """A question that names what is spelt most alike; another text where nothing is.

    Examples
    --------
    >>> did_you_mean("Relaibility", ["agreement", "reliability"])
    'Did you mean reliability?'
    >>> did_you_mean("words", ["agreement"], "Check the name.")
    'Check the name.'
    """
    import difflib

    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(text.casefold(), folded, n=1)
    if close:
        return f"Did you mean {plain(folded[close[0]])}?"
    return otherwise


def plain(text: str) -> str:
    r"""Text that can't steer a terminal: what is not printable is written as its escape.

    Examples
    --------
    >>> print(plain("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def plain_lines(text: str) -> str:
    r"""Lines of text that can't steer a terminal, see :func:`plain`.

    Examples
    --------
    >>> print(plain_lines("a\x1b[31m\nb"))
    a\x1b[31m
    b
    """
    return "\n".join(map(plain, text.split("\n")))


def silent(line: str) -> None:
    """Say nothing: what takes a line about the work."""
