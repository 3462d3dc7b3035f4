"""How an edition was made: parameters, versions and commit, for every page and for whoever verifies it.

What is said holds of the machine that built the pages. A notebook is executed again where one of the versions
changed, so that they hold of its results as well.
"""

import html
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sense7 import __file__ as _package
from sense7 import __version__
from sense7.sources.released import RELEASED

__all__ = ["SHOWN_VERSIONS", "commit_of", "describe", "versions"]

SHOWN_VERSIONS = ("numpy", "scipy", "pandas", "scikit-learn", "statsmodels", "matplotlib", "jupyter-book")
"""Packages whose versions stand on every page; requirements.lock names the rest."""

_SOURCES = ("book", "notebooks", "data", "src", "_config.yml", "_toc.yml", "requirements.lock")
"""What a book is made of: changes elsewhere in the checkout do not show in it."""


def versions() -> dict[str, str]:
    """Versions of this project, of Python and of the packages that compute and show: name -> version.

    Examples
    --------
    >>> list(versions())[:3]
    ['sense7', 'Python', 'numpy']
    """
    found = {"sense7": __version__, "Python": platform.python_version()}
    for name in SHOWN_VERSIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def commit_of(root: Path) -> dict:
    """Commit of a checkout, and whether what books are made of was changed since.

    Parameters
    ----------
    root : Path
        The checkout.

    Returns
    -------
    dict
        ``commit``: its hash, None where git or its history is missing; ``changed``: whether a file that a book
        is made of differs from it, None where that is not known; ``apart``: whether the library lies outside of the
        checkout, so that the commit says nothing of it.
    """
    root = root.resolve()
    apart = not Path(_package).resolve().is_relative_to(root)
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top.strip()).resolve() != root:  # a folder inside some other repository
        return {"commit": None, "changed": None, "apart": apart}
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=all", "--", *_SOURCES)
    if commit is None or changes is None:
        return {"commit": None, "changed": None, "apart": apart}
    return {"commit": commit.strip(), "changed": bool(changes), "apart": apart}


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None where it is missing or fails."""
    # What a hook or a rebase sets would lead git to another repository.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - git, with words of our own
            ["git", "-C", str(root), *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            check=False,
        )
    except OSError:
        return None
    return None if done.returncode else done.stdout


def describe(facts: Mapping, page: str = "") -> str:
    """What a page says of how it was made, as HTML; all that comes from outside is escaped.

    Parameters
    ----------
    facts : mapping
        Of the edition, as edition.json holds them.
    page : str
        Path of the page without ending; a notebook's page gives the parameters of that notebook.
    """
    made = facts["made"]
    notebook = page.removeprefix("notebooks/")
    parameters = facts["parameters"]
    if page != notebook and notebook in made["notebooks"]:
        given = made["notebooks"][notebook]
        parameters = ", ".join(f"{key} = {value!r}" for key, value in given.items()) or "none"
    tables = made.get("released", {}).get(notebook, ()) if page != notebook else ()
    lines = {
        "Released ratings": ", ".join(f"{RELEASED[name].file}, SHA-256 {RELEASED[name].sha256}" for name in tables),
        "Workbook": "" if tables else f"{facts['file']}, SHA-256 {facts['sha256']}",
        "Parameters": parameters,
        "Versions": ", ".join(f"{name} {version}" for name, version in made["versions"].items()),
        "Code": _code(made),
    }
    shown = ". ".join(f"<strong>{name}:</strong> {html.escape(text)}" for name, text in lines.items() if text)
    return f'<p class="sense7-made">How this page was made. {shown}.</p>'


def _code(made: Mapping) -> str:
    library = f"library SHA-256 {made['library'][:12]}"
    if made["commit"] is None:
        return f"commit not known, as the checkout has no history of git; {library}"
    changed = ", with changes that are not committed" if made["changed"] else ""
    apart = ", from which the library lies apart" if made["apart"] else ""
    return f"commit {made['commit']}{changed}{apart}; {library}"
