"""Errors that a user can cause: one clear message each, never a traceback."""


class UserError(Exception):
    """What a user can fix: bad input, a missing file, no network.

    The command line prints the message and exits with code 2. The message names
    the place (file, sheet, column, row or cell) and how to fix it.
    """
