"""Files read and written so that what goes wrong is one clear message, and nothing is left half done."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError

__all__ = ["not_written", "one_line", "reading", "reason", "replacing", "write_whole"]


@contextlib.contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open an ordinary file to read its bytes.

    Raises
    ------
    UserError
        If there is none, or it can't be opened or read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UserError(f"{path}: this is a folder. Give the path of an .xlsx file.")
        if not stat.S_ISREG(mode):  # it might never end
            raise UserError(f"{path}: this is no ordinary file (a pipe or a device). Save it as an .xlsx file first.")
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file. Check the path.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Check its path and permissions.") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a place beside ``path`` to write to; the file is moved to ``path`` once it is whole.

    Its folder is made if need be. If the block is left by an error, ``path`` is as it was.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new" / "a.txt"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [found.name for found in path.parent.iterdir()]
    ['a.txt']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8 so that the file is whole or not there.

    What can't be written is an OSError: the caller knows what the file is for; see :func:`not_written`.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def not_written(path: str | Path, error: Exception) -> str:
    """Say that a file can't be written, and why."""
    return f"{path}: can't be written ({reason(error)})."


def reason(error: Exception) -> str:
    """Give the system's words for what went wrong, without number and path; else the error's own."""
    return getattr(error, "strerror", None) or one_line(error)


def one_line(error: Exception) -> str:
    """Give an error's text in one line; its name if it has none."""
    return " ".join(str(error).split()) or type(error).__name__
