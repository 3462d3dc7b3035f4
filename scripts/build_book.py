"""Build the book that `make book` asks for.

    .venv/bin/python scripts/build_book.py .venv/bin/sense7

What stands after DATA=, NAME=, PREDICTIONS= and OPTIONS= reaches this script by the environment (MAKE_DATA and so on),
so that no shell reads the name of a file. OPTIONS alone holds several words, in the quotes of a shell.
"""

import os
import shlex
import sys


def command(program: str) -> list[str]:
    """The verb of sense7 with its arguments."""
    words = [program, "build"]
    for option in ("name", "predictions"):
        value = os.environ.get(f"MAKE_{option.upper()}", "")
        if value:
            words.append(f"--{option}={value}")
    words += shlex.split(os.environ.get("MAKE_OPTIONS", ""))
    return [*words, "--", os.environ.get("MAKE_DATA") or "synthetic"]


if __name__ == "__main__":
    try:
        words = command(sys.argv[1])
    except ValueError as error:
        sys.exit(f"make: OPTIONS={os.environ['MAKE_OPTIONS']}: {error}. Close each quotation mark.")
    os.execv(words[0], words)  # noqa: S606 - no shell, which is the point
