"""Text for a terminal, which would obey escape sequences that a workbook or a server put into it."""

__all__ = ["plain", "plain_lines"]


def plain(text: str) -> str:
    r"""Text that can't steer a terminal: what is not printable is written as its escape.

    Examples
    --------
    >>> print(plain("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def plain_lines(text: str) -> str:
    r"""Lines of text that can't steer a terminal, see :func:`plain`.

    Examples
    --------
    >>> print(plain_lines("a\x1b[31m\nb"))
    a\x1b[31m
    b
    """
    return "\n".join(map(plain, text.split("\n")))
