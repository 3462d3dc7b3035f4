"""Files read and written so that what goes wrong is one clear message, and nothing is left half done."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
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
            raise UserError(
                f"{path}: this is no ordinary file (a pipe or a device). Make a file of it first."
            )
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file. Check the path.") from None
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: can't be read ({reason(error)}). Check its path and permissions."
        ) from None


@contextlib.contextmanager
def replacing(path: Path, *, replace: bool = False, own: bool = False) -> Iterator[Path]:
    """Give a place beside ``path`` to write to; the file is moved to ``path`` once it is whole.

    Its folder is made if need be. If the block is left by an error, ``path`` is as it was. A link stays one: the file
    that it leads to is replaced.

    Parameters
    ----------
    path : Path
        The file.
    replace : bool
        Whether a file that is there when this one is whole may be replaced, also one of somebody else.
    own : bool
        Whether it may be replaced if it is one that was written so and did not change since, see
        :func:`require_as_written`.

    Raises
    ------
    UserError
        If something is there that may not be replaced. It stays as it is.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new" / "a.txt"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in path.parent.iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    with scratch_folder(target.parent) as scratch:
        temporary = scratch / path.name
        yield temporary
        if own:
            require_as_written([path])
            note_as_written(path.parent, {path.name: digest_of_file(temporary)})
        if replace or (own and os.path.lexists(path)):
            require_free(path, replace=True)
            temporary.replace(target)
            return
        try:
            os.link(temporary, path)  # refuses what is there, where moving would replace it
        except FileExistsError:
            require_free(path)
            raise
        except (OSError, NotImplementedError):  # a disk without hard links
            require_free(path)
            temporary.replace(path)


@contextlib.contextmanager
def replacing_folder(
    folder: Path,
    *,
    check: Callable[[Path], object] | None = None,
) -> Iterator[Path]:
    """Give an empty folder to write to, which takes the place of ``folder`` once it is whole.

    If the block is left by an error, ``folder`` is as it was. Where the system can exchange two
    folders in one step (Linux), it is at every moment the old or the new one; elsewhere it is missing for a moment.

    Parameters
    ----------
    folder : Path
        The folder.
    check : function, optional
        Is given the folder that is there, before it is replaced, and raises UserError if it may
        not be. Without it, only an empty one may.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "a"
    >>> for name in ("first.txt", "second.txt"):
    ...     with replacing_folder(folder, check=print) as temporary:  # doctest: +ELLIPSIS
    ...         _ = (temporary / name).write_text("whole")
    /...
    >>> [file.name for file in folder.iterdir()], len(list(folder.parent.iterdir()))
    (['second.txt'], 1)
    """
    with scratch_folder(folder.parent) as scratch:
        temporary = scratch / folder.name
        temporary.mkdir()
        yield temporary
        if os.path.lexists(folder):
            (check or require_empty)(folder)
        if not folder.exists():
            temporary.replace(folder)
        elif not exchange(temporary, folder):
            folder.replace(scratch / f"{folder.name}.old")
            temporary.replace(folder)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step, where the system can (Linux); whether it did."""
    import ctypes

    # A TypeError on Windows, which has no such library.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        current, in_one_step = -100, 2
        return rename(current, os.fsencode(first), current, os.fsencode(second), in_one_step) == 0
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
    for unfinished in folder.glob(f"{UNFINISHED}*"):
        if unfinished.is_symlink() or not unfinished.is_dir():
            continue  # not ours; to open a pipe would wait for its other end
        lock = _lock(unfinished, wait=False)
        if lock is not None:
            shutil.rmtree(unfinished, ignore_errors=True)
            os.close(lock)
    while True:
        scratch = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder))
        lock = _lock(scratch, wait=True)
        if scratch.exists():
            break  # else another process took it for one that was left, before the lock
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until what is returned is closed; None where another process holds it, or nothing can be locked."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
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
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_whole(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a text as UTF-8 so that the file is whole or not there; see :func:`replacing`.

    What can't be written is an OSError: the caller knows what the file is for; see :func:`not_written`.
    """
    with replacing(path, replace=replace) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def require_free(path: Path, *, replace: bool = False) -> None:
    """Refuse a place for a file where there is a folder, or a file that is not to be replaced.

    This is said before anything is computed; :func:`replacing` sees to it again when the file is
    there to be moved.
    """
    if path.is_dir():
        raise UserError(f"{path}: this is a folder. Give the name of a file.")
    if not os.path.lexists(path):
        return
    if not path.is_symlink() and not path.is_file():
        raise UserError(
            f"{path}: this is no ordinary file (a pipe or a device). Give another name."
        )
    if not replace:
        raise UserError(
            f"{path}: is there already. Give another name, or --force to write over it."
        )


def require_empty(folder: Path) -> None:
    """Refuse a place for a folder where there is a file, or a folder that holds anything."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir() or any(folder.iterdir()):
        raise UserError(f"{folder}: is there already. Remove it, or give another place.")


def unused_path(path: Path) -> Path:
    """Give the path, or the first with a number before its ending at which there is nothing."""
    free, number = path, 1
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


# --- files that are written more than once: only as they were written are they replaced ---

WRITTEN = ".sense7-written"
"""File of a folder that says what was written into it, in lines like those of sha256sum."""


_ELSEWHERE = "Move it or give it another name, or choose another --out."


def require_as_written(paths: Iterable[Path], fix: str = _ELSEWHERE) -> None:
    """Refuse files that are there and differ from what was written, or were not written here.

    Parameters
    ----------
    paths : iterable of Path
        The files, which need not be there.
    fix : str
        What the user can do.

    Raises
    ------
    UserError
        If what is there is not what :func:`note_as_written` noted.
    """
    for path in paths:
        if not os.path.lexists(path):
            continue
        is_ordinary = path.is_file() and not path.is_symlink()
        noted = _written(path.parent).get(path.name, ())
        if not is_ordinary or digest_of_file(path) not in noted:
            raise UserError(
                f"{path}: is there already, and not as sense7 wrote it (edited, or from elsewhere), "
                f"so it was kept. {fix}"
            )


def note_as_written(folder: Path, digests: Mapping[str, str]) -> None:
    """Note what is about to be written: name of a file, relative to the folder -> SHA-256.

    What is there stays noted beside it, so that whichever of the two a killed process leaves is as
    it was written.
    """
    noted = _written(folder)
    for name, digest in digests.items():
        path = folder / name
        accepted = {digest}
        if path.is_file():
            accepted |= noted.get(name, set()) & {digest_of_file(path)}
        noted[name] = accepted
    lines = []
    for name in sorted(noted):
        lines += [f"{digest}  {name}\n" for digest in sorted(noted[name])]
    write_whole(folder / WRITTEN, "".join(lines), replace=True)


def _written(folder: Path) -> dict[str, set[str]]:
    """Digests that were noted of a folder's files; nothing where there is no such record."""
    record = folder / WRITTEN
    if record.is_symlink() or not record.is_file():
        return {}
    noted: dict[str, set[str]] = {}
    for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        noted.setdefault(name, set()).add(digest)
    return noted


def digest_of(content: bytes) -> str:
    """Give the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def digest_of_file(path: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def not_written(path: str | Path, error: Exception) -> str:
    """Say that a file can't be written, why, and what to do.

    >>> print(not_written("a.csv", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    a.csv: can't be written (No space left on device). Make room on that disk, and give the same command again.
    """
    number = getattr(_cause(error), "errno", None)
    fix = _FIXES.get(number, "Check the path and its permissions.")
    return f"{path}: can't be written ({reason(error)}). {fix}"


def disk_trouble(text: str) -> OSError | None:
    """Find in what another program said that it ran out of room; None if it did not.

    >>> disk_trouble("OSError: [Errno 28] No space left on device: 'a'")
    OSError(28, 'No space left on device')
    """
    for number in _FIXES:
        words = os.strerror(number)
        if words in text:
            return OSError(number, words)
    return None


def reason(error: Exception) -> str:
    """Give the system's words for what went wrong, without number and path; else the error's own."""
    return getattr(_cause(error), "strerror", None) or one_line(error)


def _cause(error: Exception) -> Exception:
    """The system's error inside one of a library's own, as XlsxWriter wraps it."""
    for inner in error.args:
        if isinstance(inner, OSError):
            return inner
    return error


def one_line(error: Exception) -> str:
    """Give an error's text in one line; its name if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def read_json(path: Path):
    """Give the content of a JSON file."""
    return json.loads(path.read_text("utf-8"))


def require_schema(content: object, schema: Mapping, where: str) -> None:
    """Refuse what a JSON schema does not allow, by place and key; a ``description`` there says what to write.

    Examples
    --------
    >>> require_schema({"langauge": "de"}, {"properties": {"language": {}}, "additionalProperties": False}, "a.yml")
    Traceback (most recent call last):
        ...
    sense7.errors.UserError: a.yml: langauge: there is no such key. Did you mean language?
    """
    import jsonschema

    from sense7.terminal import did_you_mean  # not at the top: make setup has this module alone

    errors = jsonschema.Draft202012Validator(schema).iter_errors(content)
    error = jsonschema.exceptions.best_match(errors)
    if error is None:
        return
    keys = [part + 1 if isinstance(part, int) else part for part in error.absolute_path]
    value = error.instance
    fix = error.schema.get("description", f"{error.message:.200}.")
    problem = f"{value!r:.40} does not fit. {fix}"
    if error.validator == "required":
        keys.append(next(key for key in error.validator_value if key not in value))
        problem = "is missing. Write it."
    elif error.validator == "additionalProperties":
        names = error.schema["properties"]
        keys.append(next(key for key in value if key not in names))
        suggestion = did_you_mean(str(keys[-1]), names, f"Known: {', '.join(names)}.")
        problem = f"there is no such key. {suggestion}"
    elif error.validator == "enum":
        names = list(map(str, error.validator_value))
        suggestion = did_you_mean(str(value), names, f"Known: {', '.join(names)}.")
        problem = f"{value!r:.40} is not known. {suggestion}"
    raise UserError(": ".join(map(str, [where, *keys, problem])))


def parse_yaml(text: str, *, scalars_are_texts: bool = False):
    """Read plain values from YAML: nothing is run, and the result is no larger than the text makes it look.

    An alias is refused, since a few lines of them stand for more than any memory holds; and a key that stands twice.
    With ``scalars_are_texts``, no, on, ~, 1 and 2026-01-02 are the texts that they look like.

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
                raise ValueError(
                    f"line {alias.start_mark.line + 1}: an alias, *{alias.anchor}. Write the value out"
                )
            return super().compose_node(parent, index)

        def resolve(self, kind, value, implicit):
            if scalars_are_texts and kind is yaml.ScalarNode:
                return "tag:yaml.org,2002:str"
            return super().resolve(kind, value, implicit)

        def compose_mapping_node(self, anchor):
            node = super().compose_mapping_node(anchor)
            # By itself YAML keeps the last of two equal keys and says nothing.
            keys = set()
            for key, _ in node.value:
                if not isinstance(key.value, str):
                    continue
                if key.value in keys:
                    raise ValueError(
                        f"line {key.start_mark.line + 1}: {key.value}: stands here twice. Keep one"
                    )
                keys.add(key.value)
            return node

    try:
        return yaml.load(text, Loader)  # noqa: S506 -- a SafeLoader
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (yaml.YAMLError, AttributeError, LookupError, OverflowError, TypeError) as error:
        # PyYAML lets pass what its constructors raise for a value that its tag or form can't have.
        raise ValueError(f"no YAML: {one_line(error)}") from None
