"""What an edition is made from: names and files, notebooks with their parameters, and the digests of all these."""

import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import yaml
from packaging.markers import Marker

import sense7
from sense7 import sources
from sense7.book.editions import edition_folder, require_same_source, source_of
from sense7.book.notebooks import TextNotebook, find_notebooks, unfit_parameters
from sense7.checkout import CARRIED, Project, cache_folder, commit_of, find_project
from sense7.errors import UserError
from sense7.files import write_whole
from sense7.sources import Provenance
from sense7.sources.released import RELEASED, verified_digest
from sense7.workbook.options import ReadingOptions

RESERVED = ("synthetic", *sources.SOURCES)
LONGEST_NAME = 100

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")}
ONE_THREAD |= {"VECLIB_MAXIMUM_THREADS": "1"}
FIXED = {"PYTHONHASHSEED": "0", **ONE_THREAD}
"""The order of sets, and of sums on several threads, would change the last digits of what a notebook gives."""

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

_PACKAGE = Path(sense7.__file__).parent
_SOURCES = ("book", "notebooks", "data", "_config.yml", "_toc.yml")


KILLED = -9
"""What a process ends with that the system kills, as it does where memory runs out."""

NO_MEMORY = (
    "The system does so where memory runs out: close other programs, "
    "or let fewer notebooks run at a time, by --jobs 1."
)


class BuildError(Exception):
    """A book that could not be built, for a reason in its own sources."""


class Job(NamedTuple):
    """A notebook, the parameters that are injected, the digest of all that its result depends on, and of what beside.

    ``beside`` has what it rests on besides the workbook: "predictions", the name of a data set, or the path of a stored
    result or released table -> digest; "" for what is not here.
    """

    notebook: TextNotebook
    parameters: dict
    digest: str
    beside: dict[str, str]


Jobs = Mapping[str, Job]


@dataclass(frozen=True)
class Inputs:
    """What an edition is made from; what takes long to find is found when it is asked for."""

    project: Project
    name: str
    data: str
    path: Path
    provenance: Provenance
    options: ReadingOptions
    given: dict
    chosen: Path | None

    @property
    def folder(self) -> Path:
        """Where the edition lies once it is finished."""
        return edition_folder(self.project.place, self.name)

    @property
    def cache(self) -> Path:
        """Folder of executed notebooks, which all editions share."""
        return self.project.place / "_build" / "cache"

    @property
    def pages(self) -> Path:
        """Folder of what is kept of the edition's pages from one build to the next."""
        return self.project.place / "_build" / "pages" / self.name

    @property
    def source(self) -> str:
        """Name of the data set, or absolute path of the workbook."""
        return source_of(self.data, self.path)

    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of all that the edition can depend on: whole files, and rather too many than too few."""
        root, place = self.project
        beside = [
            path
            for path in self.path.parent.resolve().iterdir()
            if path.name.startswith(self.path.stem)
        ]
        chosen = self.chosen or place / f"predictions_{self.name}"
        files = {
            Path(folder, name)
            for one in [
                _PACKAGE,
                *(root / name for name in _SOURCES),
                *beside,
                chosen,
                cache_folder(),
            ]
            for folder, _, names in (
                os.walk(one, followlinks=True) if one.is_dir() else [(one.parent, (), [one.name])]
            )
            for name in names
            if not name.endswith((".pyc", ".ipynb"))
        }
        return _sha(
            [
                {
                    str(path): hashlib.sha256(path.read_bytes()).hexdigest()
                    for path in sorted(files)
                    if path.is_file()
                },
                [
                    self.name,
                    self.source,
                    self.provenance.to_dict(),
                    self.options.to_dict(),
                    self.given,
                ],
                self.chosen and str(self.chosen.resolve()),  # named, it has to hold files
                [
                    environment_of(root),
                    sys.version,
                    versions(),
                    commit_of(root),
                    configuration(root)["repository"],
                ],
            ]
        )

    @functools.cached_property
    def predictions(self) -> list[Path]:
        """Files of a judge: those that the user chose, else of predictions_NAME, else of the simulated judge."""
        from sense7.judge.files import prediction_files  # imports pandas
        from sense7.judge.judges import simulated_files, simulated_folder

        folder = self.chosen or self.project.place / f"predictions_{self.name}"
        judged = prediction_files(folder) if folder.is_dir() else []
        if self.chosen and not judged:
            raise UserError(
                f"{folder}: no folder with prediction files (.xlsx, .csv). Make some: sense7 judge run --out {folder}"
            )
        return judged or simulated_files(simulated_folder(self.path))

    @functools.cached_property
    def jobs(self) -> dict[str, Job]:
        """What is to be executed, by name."""
        given = parameters_of(self.given, self.provenance.file, bool(self.predictions))
        with _remembering(self.project.place / "_build" / "modules.json"):
            return plan(
                self.project.sources,
                given,
                self.options.digest(self.provenance.sha256),
                self.predictions,
            )


def parameters_of(given: Mapping, file: str, is_judged: bool) -> dict:
    """Values for the notebooks' parameters; they read the edition's own copy of the data."""
    own = {"data": f"../data/{file}", "results": "../results"}
    return {**given, **own} | ({"predictions": "../predictions"} if is_judged else {})


def _sha(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def resolve_inputs(
    data: str,
    *,
    name: str | None = None,
    predictions: str | Path | None = None,
    parameters: Mapping | None = None,
    options: ReadingOptions | None = None,
) -> Inputs:
    """Find what an edition is made from; refuse data and name that are unfit, and a name that others took."""
    project, given = find_project(), dict(parameters or {})
    if reserved := sorted({"data", "predictions", "results"} & given.keys()):
        raise UserError(
            f"{', '.join(reserved)}: set by the build itself. Choose the data as DATA=... or as the argument, "
            "and a judge's predictions by --predictions FOLDER."
        )
    name = _edition_name(name, data)
    path, provenance = sources.resolve(data)
    require_same_source(
        edition_folder(project.place, name), source_of(data, path), provenance.sha256
    )
    options, chosen = (
        options or ReadingOptions.beside(path),
        Path(predictions).expanduser() if predictions else None,
    )
    return Inputs(project, name, data, path, replace(provenance, name=name), options, given, chosen)


def _edition_name(name: str | None, data: str) -> str:
    is_chosen = name is not None
    if not is_chosen:
        # A folder such as . or .. has its name in the folder above.
        name = (
            data
            if data in RESERVED
            else Path(data).stem
            if Path(data).name not in ("", "..")
            else ""
        )
        name = name or Path(data).expanduser().resolve().name or data
    # Without case: some file systems do not distinguish Official from official.
    if name.casefold() in RESERVED and name != data:
        what = f"--name {name}" if is_chosen else data
        raise UserError(
            f"{what}: an edition can't be called {name!r}, which is the name of another data set. "
            f"Give another name: --name my-{name}"
        )
    if len(name) > LONGEST_NAME or not re.fullmatch(r"[^\W_]([\w .+()-]*[\w+()-])?", name):
        other = re.sub(r"[^\w.+-]+", "-", name)[: LONGEST_NAME // 2].strip(
            "-._+"
        )  # a shell takes it without quotes
        raise UserError(
            f"{name!r} can't be the name of an edition: letters, digits, spaces and . + - _ ( ), beginning with a "
            f"letter or digit, at most {LONGEST_NAME} of them. Give another: --name {other or 'NAME'}"
        )
    return name


def how_made(root: Path, jobs: Jobs, parameters: Mapping) -> dict:
    """All that is needed to make an edition again, and to say on its pages how it was made."""
    notebooks = {}
    for name, job in sorted(jobs.items()):
        notebooks[name] = {**job.notebook.defaults, **job.parameters}
        notebooks[name].pop("results", None)
    return {
        "parameters": dict(parameters),
        "notebooks": notebooks,
        "needs": {
            name: list(job.notebook.needs)
            for name, job in sorted(jobs.items())
            if job.notebook.needs
        },
        "released": {
            name: list(job.notebook.released_alone)
            for name, job in sorted(jobs.items())
            if job.notebook.released_alone
        },
        "beside": {name: digest for job in jobs.values() for name, digest in job.beside.items()},
        "versions": versions(),
        **commit_of(root),
        "library": library_digest(),
    }


def versions() -> dict[str, str]:
    """Versions of this project, of Python and of the packages that compute and show: name -> version."""
    installed = installed_packages()
    shown = {name: installed.get(name, "not installed") for name in SHOWN_VERSIONS}
    own = {"sense7": sense7.__version__, "Python": platform.python_version()}
    return own | shown | {"system": f"{platform.system()} {platform.machine()}"}


def declared_configuration(root: Path) -> dict:
    """Jupyter Book's configuration as the checkout's file has it, wherever it is read."""
    try:
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        _ = config["repository"]["branch"], config["sphinx"]["config"]["html_theme_options"]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise BuildError(
            f"_config.yml: {type(error).__name__}: {' '.join(str(error).split())}. It has to hold repository: url and "
            "branch, and sphinx: config: html_theme_options."
        ) from None
    return config


def configuration(root: Path) -> dict:
    """Jupyter Book's configuration for pages: their links lead to the repository whose workflow builds them.

    What is committed, or installs code, is made from :func:`declared_configuration`.
    """
    config = declared_configuration(root)
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository:
        server = (
            os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
        )  # other forges set both
        config["repository"]["url"] = f"{server}/{repository}"
    return config


# --- what is installed --------------------------------------------------------------------


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
    return sorted(
        f"{name} {version}" for name, version in installed.items() if name in locked or not locked
    )


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
        for name, version, marker in re.findall(
            r"(?m)^([\w.-]+)==([^\s;\\]+)(?: *; *([^\\\n]+))?", text
        ):
            if not marker or Marker(marker).evaluate():
                versions.setdefault(_normal(name), set()).add(version)
    return versions


def installed_packages() -> dict[str, str]:
    """Name of every installed package -> version, by the folders that describe them: to read these takes longer."""
    paths = [
        path
        for folder in filter(Path.is_dir, map(Path, reversed(sys.path)))
        for path in folder.iterdir()
    ]
    described = [
        path.stem.partition("-") for path in paths if path.suffix in {".dist-info", ".egg-info"}
    ]
    return {_normal(name): version for name, _, version in described}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# --- jobs ------------------------------------------------------------------------------


def in_order(
    notebooks: Sequence[TextNotebook], parameters: Mapping
) -> list[tuple[TextNotebook, dict]]:
    """Notebooks, each after those that it needs, with the parameters that it takes; refused if they are unfit."""
    known = {
        one.name: {key: value for key, value in parameters.items() if key in one.defaults}
        for one in notebooks
    }
    # All that is wrong in one message; several notebooks say the same of a parameter that they share.
    problems = unfit_parameters(
        {name: value for one in notebooks for name, value in one.defaults.items()}, parameters
    )
    if problems:
        raise UserError(f"parameters refused. {'; '.join(dict.fromkeys(problems))}.")
    by_name = {one.name: one for one in notebooks}
    try:
        order = TopologicalSorter({one.name: one.needs for one in notebooks}).static_order()
        return [(by_name[name], known[name]) for name in order]
    except CycleError as error:
        raise UserError(
            f"notebooks need each other in a circle: {' -> '.join(error.args[1])}."
        ) from None


def plan(
    root: Path, parameters: Mapping, workbook: str = "", judged: Sequence[Path] = ()
) -> dict[str, Job]:
    """Give every notebook's job, each after those that it needs; ``workbook`` is the digest of that and how it is read.

    A notebook's key is the digest of its code, its parameters, the modules that it uses with their package data, what
    it looks at beside the workbook, the jobs that it needs, and what is installed.
    """
    common = [workbook, environment_of(root), sys.version, versions(), FIXED]
    jobs: dict[str, Job] = {}
    for notebook, known in in_order(find_notebooks(root), parameters):
        beside = {name: sources.fetched_digest(name) for name in notebook.sources}
        beside |= {
            name: digest_files([root / name] if (root / name).exists() else [], root)
            for name in notebook.stored
        }
        beside |= {RELEASED[name].file: verified_digest(name) for name in notebook.released}
        if judged and "predictions" in notebook.defaults:
            beside["predictions"] = digest_files(judged, judged[0].parent)
        modules = {module: _module_digest(module) for module in sorted(modules_of(notebook))}
        parts = [notebook.name, notebook.code, known, beside, modules, common]
        digest = _sha([*parts, [jobs[other].digest for other in notebook.needs]])
        jobs[notebook.name] = Job(notebook, known, digest, beside)
    return jobs


# --- the part of the library that a notebook uses ----------------------------------------


def library_digest() -> str:
    """SHA-256 of the library's source, without the notebooks that a wheel carries."""
    paths = [path for path in _PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return digest_files(
        [path for path in paths if path.relative_to(_PACKAGE).parts[0] != CARRIED], _PACKAGE
    )


def modules_of(notebook: TextNotebook) -> set[str]:
    """Modules of the library that an execution of the notebook may import: those behind its cells, transitively."""
    body: list[ast.stmt] = []
    for source, _ in json.loads(notebook.code):
        with contextlib.suppress(SyntaxError):  # the cell will say so when it is run
            body += ast.parse(re.sub(r"(?m)^[^\S\n]*+[%!].*$", "", source)).body
    found, left = set(), _names_in(_nodes(ast.Module(body, [])))
    while left:
        if (name := module_of(left.pop())) and name not in found:
            found.add(name)
            path = file_of(name)
            left += [*_parsed(path, path.stat().st_mtime_ns)[1], name.rpartition(".")[0]]
    return found


def _module_digest(module: str) -> str:
    """Of a module's code without docstrings and comments; of a package, with the data that lie in it."""
    path = file_of(module)
    digest = _parsed(path, path.stat().st_mtime_ns)[0]
    if path.name != "__init__.py":
        return digest
    own = [entry for entry in path.parent.iterdir() if entry.name not in {CARRIED, "__pycache__"}]
    data = [
        one
        for entry in own
        if not (entry / "__init__.py").exists()
        for one in (entry, *entry.rglob("*"))
    ]
    files = [one for one in data if one.is_file() and one.suffix not in {".py", ".pyc"}]
    return digest + digest_files(files, path.parent)


_known: dict[str, list] = {}
_asked: dict[str, list] = {}
"""What is known of modules by their text, from builds before this one; and what of that was asked for."""


@contextlib.contextmanager
def _remembering(file: Path) -> Iterator[None]:
    """Keep what is known of modules from one build to the next: to read them all takes a second."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        _known.update(json.loads(file.read_text(encoding="utf-8")))
    yield
    if _known != _asked:
        write_whole(file, json.dumps(_asked), replace=True)


@functools.cache
def _parsed(path: Path, changed: int) -> tuple[str, list[str]]:
    """Digest of a module's code, and the names that it takes from the library."""
    key = hashlib.sha256(
        Path(__file__).read_bytes() + path.read_bytes()
    ).hexdigest()  # this file says how it is read
    _asked[key] = _known.get(key) or _read_code(ast.parse(path.read_bytes()))
    return _asked[key]


def _read_code(tree: ast.AST) -> list:
    nodes = _nodes(tree)
    names = sorted(set(_names_in(nodes)))
    for node in nodes:
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [
                one
                for one in body
                if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ]
    return [hashlib.sha256(ast.dump(tree).encode()).hexdigest(), names]


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Nodes of a tree, without those for type checkers alone."""
    found = [tree]
    for node in found:  # which grows
        is_typing = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        found += node.orelse if is_typing else ast.iter_child_nodes(node)
    return found


def _names_in(nodes: Sequence[ast.AST]) -> list[str]:
    """Names of the library that nodes import, or reach by a module that they import."""
    bound = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                dotted = (
                    f"{node.module}.{alias.name}"
                    if isinstance(node, ast.ImportFrom)
                    else alias.name
                )
                bound[alias.asname or alias.name] = dotted
    for node in nodes:
        if isinstance(node, ast.Attribute) and (
            package := bound.get(getattr(node.value, "id", ""))
        ):
            bound[f"{package}.{node.attr}"] = f"{package}.{node.attr}"
    return [dotted for dotted in bound.values() if dotted.partition(".")[0] == "sense7"]


@functools.cache
def module_of(dotted: str) -> str | None:
    """The module that a name is, or stands in, or comes from where its package gives it when it is asked for."""
    if file_of(dotted):
        return dotted
    package, _, name = dotted.rpartition(".")
    if not (path := file_of(package)):
        return None
    gives = path.name == "__init__.py" and b"def __getattr__" in path.read_bytes()
    where = vars(importlib.import_module(package)) if gives else {}
    name = where.get("_SHORT", {}).get(name, name)
    module = where.get("_WHERE", {}).get(name)
    return f"{package}.{module}" if module else package


@functools.cache
def file_of(module: str) -> Path | None:
    """File of a module of the library; None if there is no such module."""
    path = _PACKAGE.parent.joinpath(*module.split("."))
    return next(
        (one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None
    )
