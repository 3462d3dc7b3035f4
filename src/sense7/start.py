"""Where the command begins: its help and a book that is up to date at once, the verbs for all else.

What parses a command line takes far longer to import than the help takes to print (measured: 0.27 s against
0.02 s). So the help is kept as text, which ``make derived`` writes; a test compares it with what the verbs say. So is
what a build says while nothing changes, see :mod:`sense7.book.manifest`.
"""

import os
import sys

__all__ = ["main"]

HELP = "help.txt"
WIDTH = 80
"""Columns from which the help looks alike on every terminal."""


def main() -> None:
    """Run the command line; see :func:`sense7.cli.main`."""
    if sys.argv[1:] in (["--help"], ["-h"]) and _show_help():
        return
    if sys.argv[1:2] == ["build"] and _up_to_date():
        return
    from sense7.cli import main as run

    run()


def _show_help() -> bool:
    """Print the kept help where it fits; in all other cases the verbs print it, or say what is wrong."""
    try:
        if "COLUMNS" in os.environ or (sys.stdout.isatty() and os.get_terminal_size().columns < WIDTH):
            return False
        with open(os.path.join(os.path.dirname(__file__), HELP), encoding="utf-8") as stream:  # noqa: PTH118, PTH120, PTH123 -- pathlib would take as long as all of this
            text = stream.read()
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return bool(text)


def _up_to_date() -> bool:
    """Say again what the last such build said, if nothing changed."""
    from sense7.book.manifest import unchanged

    said = unchanged(sys.argv[2:])
    if said is None:
        return False
    try:
        for stream, text in said:
            print(text, file=getattr(sys, stream))
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True
