"""The code that makes an edition: packages that are installed, and the modules of the library that a notebook uses."""

import contextlib
import json
import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

import sense7
from sense7.book.notebooks import TextNotebook
from sense7.checkout import CARRIED
from sense7.files import digest_of, digest_of_file

PACKAGE = Path(sense7.__file__).parent
"""Folder of the library."""

SHOWN_VERSIONS = (
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "statsmodels",
    "matplotlib",
    "jupyter-book",
)
"""Packages whose versions stand on every page; requirements.lock names the rest."""

_IMPORT = re.compile(
    r"^[ \t]*from (?P<module>sense7[\w.]*) import (?P<names>\([^)]*\)|.*)"
    r"|^[ \t]*import (?P<whole>sense7[\w.]*)",
    re.MULTILINE,
)


def is_source(path: Path) -> bool:
    """Whether somebody wrote this file: Python writes compiled modules, under passing names at first."""
    return "__pycache__" not in path.parts and path.is_file()


def digest_files(paths: Iterable[Path], base: Path) -> str:
    """SHA-256 of files, by name relative to ``base`` and content."""
    digests = [[path.relative_to(base).as_posix(), digest_of_file(path)] for path in sorted(paths)]
    return digest_of(json.dumps(digests).encode())


# --- installed packages --------------------------------------------------------------------


def versions() -> dict[str, str]:
    """Versions of this project, of Python and of the packages that compute and show: name -> version."""
    installed = installed_packages()
    return {
        "sense7": sense7.__version__,
        "Python": platform.python_version(),
        **{name: installed.get(name, "not installed") for name in SHOWN_VERSIONS},
        "system": f"{platform.system()} {platform.machine()}",
    }


def environment_of(root: Path) -> list[str]:
    """Names and versions of the installed packages that the lock names; of all where there is no lock."""
    installed, locked = installed_packages(), _locked(root)
    return sorted(
        f"{name} {version}" for name, version in installed.items() if name in locked or not locked
    )


def installed_otherwise(root: Path) -> list[str]:
    """A warning for every package that is installed in another version than the lock's."""
    installed, lines = installed_packages(), []
    for name, locked in sorted(_locked(root).items()):
        if name in installed and installed[name] not in locked:
            lines.append(
                f"{name} {installed[name]} is installed, the lock has {' or '.join(sorted(locked))}: results may "
                "differ. To go back: rm -r .venv, then make setup"
            )
    return lines


def _locked(root: Path) -> dict[str, set[str]]:
    """Name of every package that the lock has -> its versions, one for each Python or system."""
    locked: dict[str, set[str]] = {}
    with contextlib.suppress(OSError):
        text = (root / "requirements.lock").read_text("utf-8")
        for name, version in re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", text):
            locked.setdefault(canonicalize_name(name), set()).add(version)
    return locked


def installed_packages() -> dict[str, str]:
    """Name of every installed package -> version, by the names of folders: to read their metadata takes longer."""
    installed = {}
    for folder in map(Path, reversed(sys.path)):  # the first of two is the one that is imported
        if not folder.is_dir():
            continue
        for path in folder.iterdir():
            if path.suffix in {".dist-info", ".egg-info"}:
                name, _, version = path.stem.partition("-")
                installed[canonicalize_name(name)] = version
    return installed


# --- the library --------------------------------------------------------------------------


def library_digest() -> str:
    """SHA-256 of the library's source, without the notebooks that a wheel carries."""
    paths = []
    for path in PACKAGE.rglob("*"):
        is_carried = path.relative_to(PACKAGE).parts[0] == CARRIED
        if not is_carried and is_source(path):
            paths.append(path)
    return digest_files(paths, PACKAGE)


class Library:
    """The library's modules, each read once: what it imports, and its digest."""

    def __init__(self, package: Path = PACKAGE):
        self.package = package
        self._files = {}
        for file in package.rglob("*.py"):
            parts = file.relative_to(package.parent).with_suffix("").parts
            self._files[".".join(parts).removesuffix(".__init__")] = file
        self._imports: dict[str, set[str]] = {}
        self._digests: dict[str, str] = {}

    def modules_of(self, notebook: TextNotebook) -> set[str]:
        """Modules that an execution of the notebook may import: the modules that its cells name, and their imports."""
        code = "\n".join(source for source, _ in json.loads(notebook.code))
        waiting = self._imported(code)
        for alias in re.findall(r"(?m)^[ \t]*import sense7 as (\w+)", code):
            names = re.findall(rf"\b{alias}\.(\w+)", code)
            waiting |= {f"sense7.{name}" for name in names}
            waiting |= {f"sense7.findings.{name}" for name in names}
        modules: set[str] = set()
        while waiting:
            module = waiting.pop()
            name = module.removeprefix("sense7.")
            if name in sense7.NAMES:
                module = f"sense7.{sense7.NAMES[name]}"
            if module not in self._files or module in modules:
                continue
            modules.add(module)
            if module not in self._imports:
                self._imports[module] = self._imported(self._files[module].read_text("utf-8"))
            waiting |= self._imports[module]
            waiting.add(module.rpartition(".")[0])
        return modules

    def digest(self, module: str) -> str:
        """SHA-256 of a module's file; of a package, with the data that lie in it."""
        if module not in self._digests:
            file = self._files[module]
            files = [file]
            if file.name == "__init__.py":
                data = [path for path in file.parent.iterdir() if path.suffix != ".py"]
                files += filter(is_source, data)
            self._digests[module] = digest_files(files, self.package)
        return self._digests[module]

    @staticmethod
    def _imported(text: str) -> set[str]:
        """Dotted names of the library that a text imports."""
        names = set()
        for match in _IMPORT.finditer(text):
            if match["whole"]:
                names.add(match["whole"])
                continue
            names.add(match["module"])
            for name in re.findall(r"(\w+)(?: as \w+)?", re.sub(r"#.*", "", match["names"])):
                names.add(f"{match['module']}.{name}")
        return names
