"""Files read and written so that what goes wrong is one clear message, and nothing is left half done."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError

try:
    import fcntl
except ImportError:  # Windows: there nothing is locked, and what a killed process left stays
    fcntl = None


UNFINISHED = ".part-sense7-"
"""Names of folders for what is being written begin so."""

_AGAIN = "and give the same command again."
_FIXES = {
    errno.ENOSPC: f"Make room on that disk, {_AGAIN}",
    errno.EDQUOT: f"Make room within your quota of that disk, {_AGAIN}",
    errno.EFBIG: f"Files can't become that large here: raise the limit (ulimit -f) or choose another disk, {_AGAIN}",
}


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
            raise UserError(f"{path}: this is a folder. Give the path of a file.")
        if not stat.S_ISREG(mode):  # it might never end
            raise UserError(f"{path}: this is no ordinary file (a pipe or a device). Make a file of it first.")
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
    >>> [file.name for file in path.parent.iterdir()]
    ['a.txt']
    """
    with scratch_folder(path.parent) as scratch:
        temporary = scratch / path.name
        yield temporary
        temporary.replace(path)


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write to, which takes the place of ``folder`` once it is whole.

    What stood there goes. If the block is left by an error, ``folder`` is as it was. Where the system can exchange two
    folders in one step (Linux), it is at every moment the old or the new one; elsewhere it is missing for a moment.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "a"
    >>> for name in ("first.txt", "second.txt"):
    ...     with replacing_folder(folder) as temporary:
    ...         _ = (temporary / name).write_text("whole")
    >>> [file.name for file in folder.iterdir()], len(list(folder.parent.iterdir()))
    (['second.txt'], 1)
    """
    with scratch_folder(folder.parent) as scratch:
        temporary = scratch / folder.name
        temporary.mkdir()
        yield temporary
        if not folder.exists():
            temporary.replace(folder)
        elif not exchange(temporary, folder):
            folder.replace(scratch / f"{folder.name}.old")
            temporary.replace(folder)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step, where the system can (Linux); whether it did."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):  # the last on Windows, which has no such library
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        here, in_one_step = -100, 2
        return rename(here, os.fsencode(first), here, os.fsencode(second), in_one_step) == 0
    return False


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a hidden folder for what is unfinished inside ``folder``, and remove it in the end.

    Those that killed processes left there are removed first. They are told from those at work by a lock, which
    the system gives back when a process ends, however it ends.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / ".part-sense7-killed").mkdir()
    >>> with scratch_folder(folder) as mine, scratch_folder(folder) as other:
    ...     sorted(folder.iterdir()) == sorted([mine, other])
    True
    >>> list(folder.iterdir())
    []
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{UNFINISHED}*"):
        if (lock := _lock(left, wait=False)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    while True:
        made = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder))
        lock = _lock(made, wait=True)
        if made.exists():
            break  # else another process took it for one that was left, before the lock
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until what is returned is closed; None where another process holds it, or nothing can be locked."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        lock_file(descriptor, wait=wait)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def lock_file(file, *, wait: bool = True) -> None:
    """Lock an open file, or folder, until it is closed or its process ends; nothing where the system has no such locks.

    Parameters
    ----------
    file : file or int
        Open file, or its descriptor.
    wait : bool
        Whether to wait until others close it.

    Raises
    ------
    BlockingIOError
        If another process holds it, and ``wait`` is False.

    Examples
    --------
    >>> with tempfile.TemporaryFile() as stream:
    ...     lock_file(stream)
    """
    if fcntl:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8 so that the file is whole or not there.

    What can't be written is an OSError: the caller knows what the file is for; see :func:`not_written`.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def require_free(path: Path, where: str = "", *, replace: bool = False) -> None:
    """Refuse a place for a file where there is a folder, or a file that is not to be replaced."""
    if path.is_dir():
        raise UserError(f"{where or path}: this is a folder. Give the name of a file.")
    if path.exists() and not replace:
        raise UserError(f"{where or path}: is there already. Give another name, or --force to write over it.")


def not_written(path: str | Path, error: Exception, fix: str = "Check the path and its permissions.") -> str:
    """Say that a file can't be written, why, and what to do: make room where that is it, else ``fix``.

    >>> print(not_written("a.csv", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    a.csv: can't be written (No space left on device). Make room on that disk, and give the same command again.
    """
    return f"{path}: can't be written ({reason(error)}). {_FIXES.get(getattr(_cause(error), 'errno', None), fix)}"


def disk_trouble(text: str) -> OSError | None:
    """Find in what another program said that it ran out of room; None if it did not.

    >>> disk_trouble("OSError: [Errno 28] No space left on device: 'a'")
    OSError(28, 'No space left on device')
    """
    return next((OSError(number, os.strerror(number)) for number in _FIXES if os.strerror(number) in text), None)


def reason(error: Exception) -> str:
    """Give the system's words for what went wrong, without number and path; else the error's own."""
    return getattr(_cause(error), "strerror", None) or one_line(error)


def _cause(error: Exception) -> Exception:
    """The system's error inside one of a library's own, as XlsxWriter wraps it."""
    return next((inner for inner in error.args if isinstance(inner, OSError)), error)


def one_line(error: Exception) -> str:
    """Give an error's text in one line; its name if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def parse_yaml(text: str):
    """Read plain values from YAML: nothing is run, and the result is no larger than the text makes it look.

    An alias is refused, since a few lines of them stand for more than any memory holds; and a key that stands twice.

    Raises
    ------
    ValueError
        If it is no YAML, or holds a value that can't be, such as the date 2001-99-99.

    Examples
    --------
    >>> parse_yaml("a: [1, x]")
    {'a': [1, 'x']}
    >>> parse_yaml("[&a 1, *a]")
    Traceback (most recent call last):
        ...
    ValueError: line 1: an alias, *a. Write the value out
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent, index):
            if self.check_event(yaml.AliasEvent):
                alias = self.peek_event()
                raise ValueError(f"line {alias.start_mark.line + 1}: an alias, *{alias.anchor}. Write the value out")
            return super().compose_node(parent, index)

        def compose_mapping_node(self, anchor):
            node, seen = super().compose_mapping_node(anchor), set()
            for key, _ in node.value:  # by itself YAML keeps the last of two equal keys and says nothing
                if isinstance(key.value, str) and key.value in seen:
                    raise ValueError(f"line {key.start_mark.line + 1}: {key.value}: stands here twice. Keep one")
                seen |= {key.value} if isinstance(key.value, str) else set()
            return node

    try:
        return yaml.load(text, Loader)  # noqa: S506 -- a SafeLoader
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (yaml.YAMLError, AttributeError, LookupError, OverflowError, TypeError) as error:
        # PyYAML lets pass what its constructors raise for a value that its tag or form can't have.
        raise ValueError(f"no YAML: {one_line(error)}") from None
