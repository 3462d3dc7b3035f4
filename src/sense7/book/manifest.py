"""An edition's manifest: the digest of each of its files and the key of all that it was made from; what is installed.

A build makes a damaged edition again; the ledger, the export and the site refuse it.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.markers import Marker

from sense7.errors import UserError
from sense7.files import write_whole
from sense7.record import MANIFEST

_SHOWN = 3
"""Files of a damaged edition that a message names."""


def write_manifest(edition: Path, key: str = "", source: str = "") -> None:
    """Write the manifest of an edition, as its last file."""
    content = {"key": key, "source": digest_of(source), "files": _contents(edition)}
    write_whole(edition / MANIFEST, json.dumps(content, indent=1) + "\n")


def read_manifest(edition: Path) -> dict:
    """The key of what an edition was made from, the digest of its source, and its files; {} if it is not finished."""
    try:
        content = json.loads((edition / MANIFEST).read_text(encoding="utf-8"))
        return {"key": content["key"], "source": content["source"], "files": dict(content["files"])}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def digest_of(source: str) -> str:
    """What stands for the path of a workbook, which is nobody's business."""
    return hashlib.sha256(source.encode()).hexdigest()


def damage(edition: Path) -> list[str]:
    """What of an edition differs from its manifest: files that changed or are missing, and recorded values too many."""
    if not (manifest := read_manifest(edition)):
        return [f"{MANIFEST} is missing or can't be read"]
    listed, present = manifest["files"], _contents(edition)
    differing = [path for path in listed if present.get(path) != listed[path]]
    # Others may lie beside an edition's pages; recorded values would be read.
    added = [path for path in present.keys() - listed.keys() if path.startswith("results/")]
    return [
        *(f"{path} {'changed' if path in present else 'is missing'}" for path in differing),
        *(f"{path} was added" for path in added),
    ]


def require_whole(edition: Path) -> None:
    """Refuse an edition whose files are not those of its manifest, naming what differs."""
    if wrong := damage(edition):
        name = f'"{edition.name}"' if " " in edition.name else edition.name
        raise UserError(f"{edition}: damaged ({shown(wrong)}). Repair it: sense7 build {name}")


def shown(wrong: Sequence[str]) -> str:
    """The first files of a damaged edition, and how many more there are."""
    more = len(wrong) - _SHOWN
    return ", ".join([*wrong[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _contents(edition: Path) -> dict[str, str]:
    """Path of every file of an edition but the manifest -> SHA-256."""
    paths = (Path(folder, name) for folder, _, names in os.walk(edition) for name in names)
    files = {path.relative_to(edition).as_posix(): path for path in paths}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(files.items()) if name != MANIFEST
    }


def digest_files(paths: Iterable[Path], base: Path) -> str:
    """SHA-256 of files, by name relative to ``base`` and content."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(str(path.relative_to(base)).encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def environment_of(root: Path) -> list[str]:
    """Names and versions of the installed packages: those that the lock names, or all where there is no lock."""
    installed, locked = installed_packages(), _locked(root)
    return sorted(f"{name} {version}" for name, version in installed.items() if name in locked or not locked)


def installed_otherwise(root: Path) -> list[str]:
    """A warning for every package that is installed in another version than the lock's."""
    installed, lines = installed_packages(), []
    for name, versions in sorted(_locked(root).items()):
        if name in installed and installed[name] not in versions:
            what = f"{name} {installed[name]} is installed, the lock has {' or '.join(sorted(versions))}"
            lines.append(f"{what}: results may differ. To go back: rm -r .venv, then make setup")
    return lines


def _locked(root: Path) -> dict[str, set[str]]:
    """Name of every package that the lock has for this Python and system -> its versions."""
    versions: dict[str, set[str]] = {}
    with contextlib.suppress(OSError):
        text = (root / "requirements.lock").read_text(encoding="utf-8")
        for name, version, marker in re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)(?: *; *([^\\\n]+))?", text):
            if not marker or Marker(marker).evaluate():
                versions.setdefault(_normal(name), set()).add(version)
    return versions


def installed_packages() -> dict[str, str]:
    """Name of every installed package -> version, by the folders that describe them: to read these takes longer."""
    paths = [path for folder in filter(Path.is_dir, map(Path, reversed(sys.path))) for path in folder.iterdir()]
    described = [path.stem.partition("-") for path in paths if path.suffix in {".dist-info", ".egg-info"}]
    return {_normal(name): version for name, _, version in described}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
