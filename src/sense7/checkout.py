"""Where files lie: the project that books are built from, and where they are built; its data; its commit; the cache.

Books are built from a checkout or, where there is none, from what the installed package carries of it: notebooks,
pages, data and configuration. The wheel's build copies them into the package (pyproject.toml), so that the repository
holds them once.
"""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from sense7.errors import UserError
from sense7.terminal import plain

CARRIED = "_project"
"""Folder of an installed package with what a book is built from."""

_SOURCES = ("book", "notebooks", "data", "src", "_config.yml", "_toc.yml", "requirements.lock")
"""What a book is made of: changes elsewhere in the checkout do not show in it."""

_ASK_COMMIT = ("rev-parse", "--verify", "HEAD")
_ASK_CHANGES = ("status", "--porcelain", "--untracked-files=all", "--", *_SOURCES)


def find_root() -> Path | None:
    """Find the checkout: the folder that holds ``_config.yml`` and ``notebooks/``.

    Returns
    -------
    Path or None
        The folder that the environment variable SENSE7_ROOT names, else the one this package
        lies in (``src/sense7``), else the nearest above the working directory with the claims of this project, too;
        None if there is none, as where only the wheel is installed.

    Raises
    ------
    UserError
        If SENSE7_ROOT names a folder that is no checkout.
    """
    variable = os.environ.get("SENSE7_ROOT")
    if not variable:
        return _package_root() or _root_above()
    root = Path(variable).expanduser().resolve()
    if not _is_root(root):
        raise UserError(
            f"SENSE7_ROOT={variable}: not a checkout of this project (no _config.yml and notebooks/ there). "
            "Correct the variable or unset it."
        )
    return root


def _package_root() -> Path | None:
    """The checkout that this package lies in; None where it is installed."""
    folder = Path(__file__).resolve().parents[2]
    if _is_root(folder):
        return folder
    return None


def _root_above() -> Path | None:
    """The nearest checkout of this project at or above the working directory."""
    working_directory = Path.cwd()
    for folder in (working_directory, *working_directory.parents):
        # Any Jupyter Book has the rest of a checkout, but not these claims.
        if _is_root(folder) and (folder / "data/claims.yml").is_file() and folder != _carried():
            return folder.resolve()
    return None


def _require_own_notebooks() -> None:
    """Refuse to run the notebooks of a checkout that this package does not belong to, unless SENSE7_ROOT names them."""
    belongs_to, nearest = _package_root(), _root_above()
    if os.environ.get("SENSE7_ROOT") or nearest is None or nearest == belongs_to:
        return
    if belongs_to is not None:
        raise UserError(
            f"{nearest} is a checkout, and this sense7 belongs to another one, {belongs_to}. Use its own: make setup, "
            "then .venv/bin/sense7 there. Or say whose notebooks are to be run: "
            f"SENSE7_ROOT={belongs_to} or SENSE7_ROOT={nearest}"
        )
    raise UserError(
        f"{nearest} has notebooks of its own, which are programs, and this sense7 is installed with others. To run "
        f"those of that folder: SENSE7_ROOT={nearest}. To run the installed ones, call it from another folder."
    )


def _carried() -> Path:
    return Path(__file__).resolve().parent / CARRIED


class Project(NamedTuple):
    """What books are built from, and where.

    Attributes
    ----------
    sources : Path
        Folder that holds ``notebooks/``, ``book/``, ``data/``, ``_config.yml`` and ``_toc.yml``; only read.
    place : Path
        Folder in which ``_build`` is written: the checkout, or else the working directory.
    """

    sources: Path
    place: Path


def find_project() -> Project:
    """Find what books are built from, and where: the checkout or else the installed package and the working directory.

    Raises
    ------
    UserError
        If there is neither, the working directory is a part of the installed package, or it lies in a checkout that
        this package does not belong to.
    """
    _require_own_notebooks()
    root = find_root()
    if root is not None:
        return Project(root, root)
    sources, working_directory = _carried(), Path.cwd()
    if not _is_root(sources):
        raise UserError(
            f"{sources}: notebooks and pages are missing, and there is no checkout. Install the package again: "
            "pip install --force-reinstall 'sense7-companion[book]'; or set SENSE7_ROOT to a checkout."
        )
    if working_directory.is_relative_to(sources.parent):
        raise UserError(
            f"{working_directory}: a folder of the installed package, where nothing is written. Use another folder."
        )
    return Project(sources, working_directory)


def find_checkout() -> Path:
    """The checkout, for what edits or measures it.

    Raises
    ------
    UserError
        If there is none, or the working directory lies in one that this package does not belong to.
    """
    _require_own_notebooks()
    root = find_root()
    if root is None:
        raise UserError(
            "no checkout found, which this needs: run it inside one, or set SENSE7_ROOT to it."
        )
    return root


def _is_root(folder: Path) -> bool:
    return (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir()


def data_file(name: str) -> Path:
    """Find a file of the project's ``data/``, in the checkout or else in the installed package.

    Raises
    ------
    UserError
        If it is in neither.
    """
    root = find_root()
    folders = [_carried() / "data"]
    if root is not None:
        folders.insert(0, root / "data")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise UserError(
        f"{name}: not in {folder}. The checkout or the installation isn't complete: get it again, or set SENSE7_ROOT "
        "to a checkout."
    )


def cache_folder() -> Path:
    """Give the folder for what was fetched: SENSE7_CACHE, else the system's place for caches."""
    variable = os.environ.get("SENSE7_CACHE")
    if variable:
        return Path(variable).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_cache_dir("sense7"))


def commit_of(root: Path) -> dict:
    """Commit of a checkout, and whether what books are made of was changed since.

    Parameters
    ----------
    root : Path
        The checkout.

    Returns
    -------
    dict
        ``commit``: its hash, None where git or its history is missing, as for an installed package; ``changed``:
        whether a file that a book is made of differs from it, None where that is not known.
    """
    answers = []
    # Without it: an archive, an installed package, or a folder inside some other repository.
    if os.path.lexists(root / ".git"):
        answers = [_run_git(root, *arguments) for arguments in (_ASK_COMMIT, _ASK_CHANGES)]
    if not answers or any(answer is None or answer.returncode for answer in answers):
        return {"commit": None, "changed": None}
    commit, changes = (answer.stdout.strip() for answer in answers)
    return {"commit": commit, "changed": bool(changes)}


def why_commit_unknown(root: Path) -> str:
    """Why git doesn't give the commit of a checkout that has a history, in git's own words; else empty."""
    if not os.path.lexists(root / ".git"):  # an archive, or an installed package: nothing is lost
        return ""
    for arguments in (_ASK_COMMIT, _ASK_CHANGES):
        answer = _run_git(root, *arguments)
        reason = ""
        if answer is None:
            reason = "git is not installed"
        elif answer.returncode:
            # With its remedy: where the checkout belongs to another user, the setting that allows it.
            reason = plain(" ".join(answer.stderr.split()))
        if reason:
            return f"{root}: its commit is not known, and the pages say so: {reason}"
    return ""


def _run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess | None:
    """What git answers, in English; None where it is missing."""
    # What a hook or a rebase sets would lead git to another repository.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    environment["GIT_CEILING_DIRECTORIES"] = str(root.resolve().parent)
    environment["LC_ALL"] = "C"
    try:
        return subprocess.run(  # noqa: S603 - git, with words of our own
            ["git", "-C", str(root), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            check=False,
        )
    except OSError:
        return None
