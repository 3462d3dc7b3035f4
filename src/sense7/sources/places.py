"""Where things lie: the checkout, the project's own data, and the cache for what was fetched."""

import importlib.resources
from pathlib import Path

from sense7.checkout import cache_folder, find_root
from sense7.errors import UserError

__all__ = ["cache_folder", "data_file", "find_root"]


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
        "get it again, or set SENSE7_ROOT to a checkout."
    )
