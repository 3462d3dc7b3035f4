"""An edition's manifest: the digest of each of its files, and of all that the command which built it could have read.

By the files, a damaged edition is noticed: a build repairs it, the ledger, the export and the site refuse it. By both,
the same command says that nothing changed before anything slow is imported. What is digested of the inputs is rather
too much than too little, whole and byte by byte: where it differs, nothing is lost but this shortcut, for
:func:`sense7.book.build.build_edition` decides again.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sense7 import __path__ as _package
from sense7.checkout import cache_folder, commit_of, find_project
from sense7.errors import UserError
from sense7.files import write_whole
from sense7.record import MANIFEST
from sense7.terminal import count_of, plain_lines

__all__ = [
    "damage",
    "environment_of",
    "installed_otherwise",
    "lines_of",
    "observe",
    "observe_again",
    "require_whole",
    "unchanged",
    "write_manifest",
]

LOCK = "requirements.lock"
"""What the environment of a checkout is made from."""

NOTHING_CHANGED = "nothing changed since this edition was built"

_SOURCES = ("book", "notebooks", "data", "_config.yml", "_toc.yml", LOCK)
_VARIABLES = ("SENSE7_", "GITHUB_REPOSITORY", "PYTHON")
"""Environment variables that begin so decide what is found, or stand on the pages."""

_UNFINISHED = ".making-"
_QUIET = {"--quiet", "-q"}
_MOST_FILES = 20_000
_SHOWN = 3
"""Files of a damaged edition that a message names."""


class _TooMuch(Exception):
    """So many files that digesting them would be no shortcut."""


# --- what an edition consists of --------------------------------------------------------


def write_manifest(edition: Path, arguments: Sequence[str], observed: str | None) -> None:
    """Write the manifest of an edition, as its last file.

    Parameters
    ----------
    edition : Path
        Its folder, with every other file in place.
    arguments : sequence of str
        What follows ``sense7 build``; the same command is answered from the manifest while nothing changes.
    observed : str or None
        What :func:`observe` gave before the build began; None if the command is not to be answered so.
    """
    known = observed is not None and observe(arguments) == observed
    content = {
        "command": _command(arguments) if known else None,
        "inputs": observed if known else None,
        "installed": environment_of(find_project().sources),
        "files": _contents(edition),
    }
    write_whole(edition / MANIFEST, json.dumps(content, indent=1) + "\n")


def observe_again(edition: Path, arguments: Sequence[str], before: str | None) -> None:
    """After this command itself wrote copies of notebooks: a manifest that held before holds now."""
    content = json.loads((edition / MANIFEST).read_text(encoding="utf-8"))
    if before is not None and content["inputs"] == before:
        write_whole(edition / MANIFEST, json.dumps(content | {"inputs": observe(arguments)}, indent=1) + "\n")


def damage(edition: Path) -> list[str]:
    """What of an edition differs from its manifest: files that changed or are missing, and recorded values too many."""
    try:
        listed = dict(json.loads((edition / MANIFEST).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, LookupError, TypeError):
        return [f"{MANIFEST} is missing or can't be read"]
    present = _contents(edition)
    differing = [path for path in listed if present.get(path) != listed[path]]
    # Others may lie beside an edition's pages; recorded values would be read.
    added = [path for path in present.keys() - listed.keys() if path.startswith("results/")]
    return [
        *(f"{path} {'changed' if path in present else 'is missing'}" for path in differing),
        *(f"{path} was added" for path in added),
    ]


def require_whole(edition: Path) -> None:
    """Refuse an edition whose files are not those of its manifest.

    Raises
    ------
    UserError
        Naming what differs.
    """
    if wrong := damage(edition):
        raise UserError(f"{edition}: damaged ({shown(wrong)}). Repair it: sense7 build {_quoted(edition.name)}")


def shown(wrong: Sequence[str]) -> str:
    """The first files of a damaged edition, and how many more there are."""
    more = len(wrong) - _SHOWN
    return ", ".join([*wrong[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _contents(edition: Path) -> dict[str, str]:
    """Path of every file of an edition but the manifest -> SHA-256."""
    paths = (Path(folder, name) for folder, _, names in os.walk(edition) for name in names)
    files = {path.relative_to(edition).as_posix(): path for path in paths}
    return {name: _digest(path) for name, path in sorted(files.items()) if name != MANIFEST}


# --- whether anything changed since a command built one ---------------------------------


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
        predictions = list(_beside(place / "predictions_"))
        files = _files(
            [*_package, *(root / name for name in _SOURCES), *predictions, cache_folder(), *_named(arguments)]
        )
        logs = any((folder / "logs").is_dir() for folder in predictions)
        parts = {
            "command": [_command(arguments), sys.executable, sys.version, sys.platform, *_machine()],
            "environment": sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES)),
            "installed": environment_of(root),
            "logs": logs and importlib.util.find_spec("inspect_ai") is not None,  # what shows them
            "commit": commit_of(root),
            "files": {str(path): _digest(path) for path in files},
        }
    except (OSError, UserError, _TooMuch):
        return None  # the build says what is wrong
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def unchanged(arguments: Sequence[str]) -> list[tuple[str, str]] | None:
    """What a command has to say of the edition that it built, if all still holds; None if anything differs.

    Each line with the name of its stream in :mod:`sys`.
    """
    try:
        root, place = find_project()
        editions = place / "_build" / "editions"
        listed = json.loads((editions / "editions.js").read_text(encoding="utf-8").partition(" = ")[2].rstrip(";\n"))
        present = {path.parent.name for path in editions.glob("[!.]*/edition.json")}
        if {edition["name"] for edition in listed} != present or any(_unfinished(place)):
            return None
        for path in editions.glob(f"*/{MANIFEST}"):
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["command"] == _command(arguments) and known["inputs"] == observe(arguments):
                nothing = [] if _QUIET & {*arguments} else [("stderr", NOTHING_CHANGED)]
                whole = not damage(path.parent)
                return [*installed_otherwise(root), *nothing, *lines_of(path.parent)] if whole else None
    except (OSError, UserError, ValueError, LookupError, TypeError, RecursionError):
        pass
    return None


def lines_of(edition: Path) -> list[tuple[str, str]]:
    """What a build says of a finished edition: the reader's warnings, the verdicts, and where its front page is."""
    facts = json.loads((edition / "edition.json").read_text(encoding="utf-8"))
    kinds = facts["warnings"]
    lines = []
    if kinds:
        each = [f"{one['warnings']:,} {kind} ({count_of(one['places'], 'place')})" for kind, one in kinds.items()]
        total = count_of(sum(one["warnings"] for one in kinds.values()), "warning")
        page = edition / "html" / "notebooks" / "01-dataset.html"
        lines.append(("stderr", plain_lines(f"{total} about this workbook: {', '.join(each)}. Listed on {page}")))
    verdicts = f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"
    return [*lines, ("stdout", verdicts), ("stdout", str(edition / "html" / "index.html"))]


def _command(arguments: Sequence[str]) -> str:
    """SHA-256 of a command and its folder: a manifest names no place of the machine that made it."""
    words = [*(argument for argument in arguments if argument not in _QUIET), str(Path.cwd())]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def _unfinished(place: Path) -> Iterator[Path]:
    """What a killed build left."""
    for folder in (place / "_build" / "editions", place / "_build" / "cache"):
        yield from folder.glob(f"{_UNFINISHED}*")


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


def _machine() -> tuple[str, ...]:
    return tuple(getattr(os, "uname", tuple)())  # Windows has none


# --- what is installed ------------------------------------------------------------------


def environment_of(root: Path) -> list[str]:
    """Names and versions of the installed packages: those that the lock names, or all where there is no lock."""
    installed, locked = _installed(), _locked(root)
    return sorted(f"{name} {version}" for name, version in installed.items() if name in locked or not locked)


def installed_otherwise(root: Path) -> list[tuple[str, str]]:
    """A warning for every package that is installed in another version than the lock's, as ``lines_of`` gives lines."""
    installed, lines = _installed(), []
    for name, versions in sorted(_locked(root).items()):
        if name in installed and installed[name] not in versions:
            what = f"{name} {installed[name]} is installed, the lock has {' or '.join(sorted(versions))}"
            lines.append(("stderr", f"{what}: results may differ. To go back: rm -r .venv, then make setup"))
    return lines


def _locked(root: Path) -> dict[str, set[str]]:
    """Name of every package of the lock -> its versions, several where they depend on the system."""
    versions: dict[str, set[str]] = {}
    with contextlib.suppress(OSError):
        for name, version in re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", (root / LOCK).read_text(encoding="utf-8")):
            versions.setdefault(_normal(name), set()).add(version)
    return versions


def _installed() -> dict[str, str]:
    """Name of every installed package -> version, as the folders say in which installers describe them."""
    found: dict[str, str] = {}
    for folder in filter(Path.is_dir, map(Path, reversed(sys.path))):
        for path in folder.iterdir():
            if path.suffix in {".dist-info", ".egg-info"}:
                name, _, version = path.stem.partition("-")
                found[_normal(name)] = version
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
