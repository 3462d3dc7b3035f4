"""Where things lie: the checkout, the project's own data, and the cache for what was fetched."""

import importlib.resources
import os
from pathlib import Path

from sense7.errors import UserError

__all__ = ["cache_folder", "data_file", "find_root"]


def find_root() -> Path | None:
    """Find the checkout: the folder that holds ``_config.yml`` and ``notebooks/``.

    Returns
    -------
    Path or None
        The folder that the environment variable SENSE7_ROOT names, else the one this package
        lies in (``src/sense7``), else the nearest above the working directory; None if there is
        none, as where only the wheel is installed.

    Raises
    ------
    UserError
        If SENSE7_ROOT names a folder that is no checkout.
    """
    if given := os.environ.get("SENSE7_ROOT"):
        root = Path(given).expanduser().resolve()
        if not _is_root(root):
            raise UserError(
                f"SENSE7_ROOT={given}: not a checkout of this project (no _config.yml and notebooks/ there). "
                "Correct the variable or unset it."
            )
        return root
    here = Path.cwd()
    candidates = [Path(__file__).resolve().parents[3], here, *here.parents]
    return next((folder for folder in candidates if _is_root(folder)), None)


def _is_root(folder: Path) -> bool:
    return (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir()


def data_file(name: str) -> Path:
    """Find a file of the project's ``data/``, in the checkout or else in the installed package.

    Raises
    ------
    UserError
        If it is in neither.
    """
    relative = Path(name)
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"a name inside data/ is expected, not {name}")
    root = find_root()
    folders = [root / "data"] if root else []
    folders.append(Path(str(importlib.resources.files("sense7"))) / "_data")
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    tried = " nor ".join(str(folder) for folder in folders)
    raise UserError(
        f"{name}: neither in {tried}. The checkout or the installation isn't complete: "
        "get it anew, or set SENSE7_ROOT to a checkout."
    )


def cache_folder() -> Path:
    """Give the folder for what was fetched: SENSE7_CACHE, else the system's place for caches."""
    if given := os.environ.get("SENSE7_CACHE"):
        return Path(given).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_cache_dir("sense7"))
