"""Errors that a user can cause: one clear message each, never a traceback."""

from numbers import Real


class UserError(Exception):
    """An error that the user can fix: bad input, a missing file, no network.

    The command line prints the message and exits with code 2. The message names
    the place (file, sheet, column, row or cell) and how to fix it.
    """


class BuildError(Exception):
    """A book that could not be built, for a reason in its own sources."""


def described(value: object) -> str:
    """What a value is, in few words: its class, and the value itself where that is short.

    Examples
    --------
    >>> described({}), described(123), described(None)
    ('a dict', 'an int (123)', 'None')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[0].lower() in "aeiou" else "a"
    if isinstance(value, str | Real) and len(repr(value)) <= 60:
        return f"{article} {name} ({value!r})"
    return f"{article} {name}"
