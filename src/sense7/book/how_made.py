"""How an edition was made: parameters, versions and commit, for every page and for verification.

What is said holds of the machine that built the pages. A notebook is executed again where one of the versions
changed, so that they hold of its results as well.
"""

import html
import importlib.metadata
import platform
from collections.abc import Mapping

from sense7 import __version__
from sense7.sources.released import RELEASED

__all__ = ["CODE", "SHOWN_VERSIONS", "describe", "describe_code", "versions"]

CODE = "sense7:code"
"""Stands on a page for what :func:`describe_code` says, which every commit and the first edit after it change."""

SHOWN_VERSIONS = ("numpy", "scipy", "pandas", "scikit-learn", "statsmodels", "matplotlib", "jupyter-book")
"""Packages whose versions stand on every page; requirements.lock names the rest."""


def versions() -> dict[str, str]:
    """Versions of this project, of Python and of the packages that compute and show: name -> version.

    Examples
    --------
    >>> list(versions())[:3]
    ['sense7', 'Python', 'numpy']
    """
    installed = {"sense7": __version__, "Python": platform.python_version()}
    for name in SHOWN_VERSIONS:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            installed[name] = "not installed"
    return installed | {"system": f"{platform.system()} {platform.machine()}"}


def describe(facts: Mapping, page: str = "") -> str:
    """What a page says of how it was made, as HTML; all that comes from outside is escaped.

    Of facts without a commit, :data:`CODE` stands in the place of what is said of it.

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
        "Code": describe_code(made) if "commit" in made else CODE,
    }
    shown = ". ".join(f"<strong>{name}:</strong> {html.escape(text)}" for name, text in lines.items() if text)
    return f'<p class="sense7-made">How this page was made. {shown}.</p>'


def describe_code(made: Mapping) -> str:
    """Which commit and library made an edition, in words.

    Examples
    --------
    >>> describe_code({"commit": "1a2b", "changed": True, "apart": False, "library": "3c4d"})
    'commit 1a2b, with changes that are not committed; library SHA-256 3c4d'
    """
    library = f"library SHA-256 {made['library'][:12]}"
    if made["commit"] is None:
        return f"commit not known, as this is an installed package or a checkout without history of git; {library}"
    changed = ", with changes that are not committed" if made["changed"] else ""
    apart = ", from which the library lies apart" if made["apart"] else ""
    return f"commit {made['commit']}{changed}{apart}; {library}"
