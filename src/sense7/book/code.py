"""The code that makes an edition: packages that are installed, and the part of the library that a notebook uses."""

import ast
import contextlib
import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

import sense7
from sense7.book.notebooks import TextNotebook
from sense7.checkout import CARRIED
from sense7.files import digest_of, read_json, write_whole

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


def is_source(path: Path) -> bool:
    """Whether it is a file that somebody wrote: Python writes compiled modules, under passing names at first."""
    return "__pycache__" not in path.parts and path.is_file()


def digest_files(paths: Iterable[Path], base: Path) -> str:
    """SHA-256 of files, by name relative to ``base`` and content."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(str(path.relative_to(base)).encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


# --- what is installed --------------------------------------------------------------------


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
    """Names and versions of the installed packages: those that the lock names, or all where there is no lock."""
    installed, locked = installed_packages(), _locked(root)
    return sorted(
        f"{name} {version}" for name, version in installed.items() if name in locked or not locked
    )


def installed_otherwise(root: Path) -> list[str]:
    """A warning for every package that is installed in another version than the lock's."""
    installed, lines = installed_packages(), []
    for name, locked in sorted(_locked(root).items()):
        if name in installed and installed[name] not in locked:
            versions_of_lock = " or ".join(sorted(locked))
            lines.append(
                f"{name} {installed[name]} is installed, the lock has {versions_of_lock}: results may differ. "
                "To go back: rm -r .venv, then make setup"
            )
    return lines


def _locked(root: Path) -> dict[str, set[str]]:
    """Name of every package that the lock has for this Python and system -> its versions."""
    locked: dict[str, set[str]] = {}
    with contextlib.suppress(OSError):
        text = (root / "requirements.lock").read_text("utf-8")
        for name, version, marker in re.findall(
            r"(?m)^([\w.-]+)==([^\s;\\]+)(?: *; *([^\\\n]+))?", text
        ):
            if not marker or Marker(marker).evaluate():
                locked.setdefault(canonicalize_name(name), set()).add(version)
    return locked


def installed_packages() -> dict[str, str]:
    """Name of every installed package -> version, by the folders that describe them: to read these takes longer."""
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


@dataclass(frozen=True)
class Module:
    """What a build knows of a module: the digest of its code without docstrings and comments, and what it imports."""

    digest: str
    imports: list[str]


class Library:
    """The library's modules as a build reads them, each once.

    Parameters
    ----------
    folder : Path
        Of the package.
    names : mapping
        Name that the package gives when it is asked for -> the module that it comes from.
    file : Path, optional
        File in which :meth:`keep` writes what is known of the modules, for the next build: to read them all takes a
        second.
    """

    def __init__(
        self,
        folder: Path = PACKAGE,
        names: Mapping[str, str] = sense7.NAMES,
        file: Path | None = None,
    ):
        self._folder = folder
        self._names = names
        self._file = file
        self._modules: dict[str, Module] = {}
        self._before: dict[str, dict] = {}  # digest of a module's text -> what was known of it
        self._now: dict[str, dict] = {}
        # Another version of this module may read them otherwise.
        self._reader = Path(__file__).read_bytes()
        if file is not None:
            with contextlib.suppress(OSError, ValueError, TypeError):
                self._before = dict(read_json(file))

    def keep(self) -> None:
        """Write down what is known of the modules that were asked for."""
        if self._now != self._before:
            write_whole(self._file, json.dumps(self._now), replace=True)

    def modules_of(self, notebook: TextNotebook) -> set[str]:
        """Modules that an execution of the notebook may import: those behind its cells, transitively."""
        statements: list[ast.stmt] = []
        for source, _ in json.loads(notebook.code):
            with contextlib.suppress(SyntaxError):  # the cell will say so when it is run
                statements += ast.parse(re.sub(r"(?m)^[^\S\n]*+[%!].*$", "", source)).body
        modules: set[str] = set()
        waiting = names_in(ast.Module(statements, []))
        while waiting:
            module = self._module_of(waiting.pop())
            if module is not None and module not in modules:
                modules.add(module)
                waiting += self._read(module).imports
                waiting.append(module.rpartition(".")[0])
        return modules

    def digest(self, module: str) -> str:
        """Digest of a module's code; of a package, with that of the data that lie in it."""
        path = self._file_of(module)
        if path.name != "__init__.py":
            return self._read(module).digest
        files = []
        for entry in path.parent.iterdir():
            if entry.name == CARRIED or (entry / "__init__.py").exists():
                continue
            files += [entry, *entry.rglob("*")]
        data = [file for file in files if is_source(file) and file.suffix != ".py"]
        return self._read(module).digest + digest_files(data, path.parent)

    def _module_of(self, name: str) -> str | None:
        """The module that a dotted name is, or stands in; None if it is none of the library."""
        if self._file_of(name) is not None:
            return name
        package, _, attribute = name.rpartition(".")
        if package == "sense7" and attribute in self._names:
            return f"{package}.{self._names[attribute]}"
        if self._file_of(package) is not None:
            return package
        return None

    def _file_of(self, module: str) -> Path | None:
        path = self._folder.parent.joinpath(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
        return None

    def _read(self, module: str) -> Module:
        """Parse a module, unless it was parsed before."""
        if module not in self._modules:
            text = self._file_of(module).read_bytes()
            key = digest_of(self._reader + text)
            entry = self._before.get(key) or asdict(read_module(text))
            self._now[key] = entry
            self._modules[module] = Module(**entry)
        return self._modules[module]


def read_module(text: bytes) -> Module:
    """Read a module's text.

    >>> read_module(b"from sense7 import files").imports
    ['sense7.files']
    >>> read_module(b"x = 1  # one").digest == read_module(b"x = 1").digest
    True
    """
    tree = ast.parse(text)
    imports = sorted(set(names_in(tree)))
    for node in _nodes(tree):
        if not isinstance(getattr(node, "body", None), list):
            continue
        statements = []
        for statement in node.body:
            # A constant that nothing reads, such as a docstring, changes nothing.
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                statements.append(statement)
        node.body = statements
    return Module(digest_of(ast.dump(tree).encode()), imports)


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Nodes of a tree, without those for type checkers alone."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)
    return nodes


def names_in(tree: ast.AST) -> list[str]:
    """Dotted names of the library that a tree imports, or reaches by a name that it imports.

    >>> sorted(names_in(ast.parse("import sense7 as s7; s7.load(1)")))
    ['sense7', 'sense7.load']
    """
    names: list[str] = []
    bound: dict[str, set[str]] = {}  # name here -> dotted names that it may stand for
    nodes = _nodes(tree)
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                names.append(name)
                bound.setdefault(alias.asname or alias.name, set()).add(name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                names.append(alias.name)
                top = alias.name.partition(".")[0]
                if alias.asname:
                    bound.setdefault(alias.asname, set()).add(alias.name)
                else:
                    bound.setdefault(top, set()).add(top)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names += [f"{name}.{node.attr}" for name in bound.get(node.value.id, ())]
    return [name for name in names if name.partition(".")[0] == "sense7"]
