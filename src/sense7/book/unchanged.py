"""Whether anything changed since a command built a book: said from bytes, before anything slow is imported.

A build that ended well leaves a stamp for its command: the digest of all that it could have read, that of the editions
that it left, and what it printed. The same command, in the same folder and environment, prints that again while
both digests are the same. What is digested is rather too much than too little, whole and byte by byte: where it
differs, nothing is lost but this shortcut, for :func:`sense7.book.build.build_edition` decides again.
"""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sense7 import __path__ as _package
from sense7.checkout import cache_folder, commit_of, find_project
from sense7.errors import UserError
from sense7.files import write_whole

__all__ = ["Said", "described_packages", "keep", "observe", "say", "unchanged"]

Said = Sequence[tuple[str, str]]
"""What a command printed: name of the stream in :mod:`sys`, and the text."""

_SOURCES = ("book", "notebooks", "data", "_config.yml", "_toc.yml", "requirements.lock")
_VARIABLES = ("SENSE7_", "GITHUB_REPOSITORY", "PYTHON", "XDG_CACHE", "HOME", "USERPROFILE", "LOCALAPPDATA", "PATH")
"""Environment variables that begin so decide what is found, or stand on the pages."""

_DISTRIBUTION = (".dist-info", ".egg-info", ".egg-link", ".pth")
_UNFINISHED = ".making-"
_MOST_FILES = 20_000


class _TooMuch(Exception):
    """So many files that digesting them would be no shortcut."""


def observe(arguments: Sequence[str]) -> str | None:
    """SHA-256 of all that the build of a command can depend on.

    The library, the book's sources and commit, Python and the installed packages, the environment, what was
    fetched, every folder of predictions where books are built, and every file or folder that an argument names, with
    what lies beside it under a name that begins alike.

    Parameters
    ----------
    arguments : sequence of str
        What follows ``sense7 build``.

    Returns
    -------
    str or None
        None where there is nothing to build from, or more to read than a shortcut is worth.
    """
    try:
        root, place = find_project()
        files = set(_packages())
        files |= _files([*_package, *(root / name for name in _SOURCES), *_beside(place / "predictions_")])
        files |= _files([cache_folder(), *_named(arguments)])
        if len(files) > _MOST_FILES:
            return None
        parts = {
            "command": [*arguments, str(Path.cwd()), sys.executable, sys.version, sys.platform, *_machine()],
            "environment": sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES)),
            "commit": commit_of(root),
            "files": {str(path): _digest(path) for path in files},
        }
    except (OSError, UserError, _TooMuch):
        return None  # the build says what is wrong
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def keep(arguments: Sequence[str], before: str | None, said: Said) -> None:
    """Leave a stamp, if all is as it was when the build began.

    Parameters
    ----------
    arguments : sequence of str
        What follows ``sense7 build``.
    before : str or None
        What :func:`observe` gave before the build.
    said
        What the same command is to print while nothing changes.
    """
    if before is None or observe(arguments) != before:
        return
    place = find_project().place
    stamp = _stamp(place, arguments)
    with contextlib.suppress(OSError):  # the book is there; the next build takes longer to say so
        stamp.parent.mkdir(parents=True, exist_ok=True)
        write_whole(stamp, json.dumps({"inputs": before, "editions": _editions(place), "said": said}, indent=1) + "\n")


def unchanged(arguments: Sequence[str]) -> Said | None:
    """What a command printed when it built what still holds; None if anything differs."""
    try:
        place = find_project().place
        stamp = json.loads(_stamp(place, arguments).read_text(encoding="utf-8"))
        holds = stamp["editions"] == _editions(place) and stamp["inputs"] == observe(arguments)
        return [(stream, text) for stream, text in stamp["said"]] if holds else None
    except (OSError, UserError, ValueError, KeyError, TypeError, RecursionError):
        return None


def say(said: Said) -> None:
    """Print what a command says, each text a line on its stream."""
    for stream, text in said:
        print(text, file=getattr(sys, stream))


def _stamp(place: Path, arguments: Sequence[str]) -> Path:
    command = json.dumps([*arguments, str(Path.cwd())])
    return place / "_build" / "stamps" / f"{hashlib.sha256(command.encode()).hexdigest()[:24]}.json"


def _editions(place: Path) -> dict[str, str]:
    """The finished editions, and what lists them: name -> digest; what a killed build left as well."""
    folder = place / "_build" / "editions"
    digests = {}
    for path in folder.iterdir():
        facts, front = path / "edition.json", path / "html" / "index.html"
        digests[path.name] = f"{_digest(path)} {_digest(facts)} {front.is_file()}"
    left = [path.name for path in (place / "_build" / "cache").iterdir() if path.name.startswith(_UNFINISHED)]
    return digests | dict.fromkeys(left, "")


def _files(places: Iterable[str | Path]) -> set[Path]:
    """Every file and folder in these places, without compiled code; the places themselves, too."""
    files: set[Path] = set()
    for root in map(Path, places):
        files.add(root)
        for folder, folders, names in os.walk(root, followlinks=True):
            folders[:] = [name for name in folders if name != "__pycache__"]
            files.update(Path(folder, name) for name in (*folders, *names))
            if len(files) > _MOST_FILES:
                raise _TooMuch
    return files


def _digest(path: Path) -> str:
    """SHA-256 of a file; ``folder`` or ``absent`` where there is no file."""
    if not path.is_file():
        return "folder" if path.is_dir() else "absent"
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _beside(path_prefix: Path) -> Iterator[Path]:
    """What lies in a folder under a name that begins so."""
    return (path for path in path_prefix.parent.iterdir() if path.name.startswith(path_prefix.name))


def _named(arguments: Sequence[str]) -> Iterator[Path]:
    """Files and folders that arguments name, alone or after ``NAME=``, and what begins like them beside them."""
    for argument in arguments:
        for text in {argument, argument.partition("=")[2]} - {""}:
            path = Path(text).expanduser().absolute()
            if path.exists() and path.name:
                yield from _beside(path.with_name(path.stem))


def described_packages() -> Iterator[Path]:
    """The files and folders in which installers describe packages."""
    for folder in filter(Path.is_dir, map(Path, sys.path)):
        yield from (path for path in folder.iterdir() if path.suffix in _DISTRIBUTION)


def _packages() -> Iterator[Path]:
    """The files by which installed packages say their version."""
    for path in described_packages():
        yield path
        yield path / "METADATA"


def _machine() -> tuple[str, ...]:
    return tuple(getattr(os, "uname", tuple)())  # Windows has none
