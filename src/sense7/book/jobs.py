"""The jobs of an edition: its notebooks in their order, each with its parameters and the digest of all it rests on."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from sense7.book.code import Library, digest_files, environment_of, library_digest, versions
from sense7.book.notebooks import DECLARED, TextNotebook, find_notebooks, unfit_parameters
from sense7.checkout import commit_of
from sense7.errors import UserError
from sense7.files import digest_of
from sense7.processes import FIXED
from sense7.sources.released import RELEASED, verified_digest

SET_BY_BUILD = frozenset({"data", "predictions", "results"})
"""Parameters that a build sets itself: notebooks read the edition's own copies of what it is made from."""


class Job(NamedTuple):
    """A notebook, the parameters that are injected, and the digest of all that its result depends on.

    ``beside`` has what it rests on besides the workbook: "predictions", or the path of a stored result or
    released table -> digest; "" for what is not here. ``modules`` are those of the library that it uses.
    """

    notebook: TextNotebook
    parameters: dict
    digest: str = ""
    beside: Mapping[str, str] = {}
    modules: frozenset[str] = frozenset()


Jobs = Mapping[str, Job]


def digest_of_values(content: object) -> str:
    """SHA-256 of plain values."""
    return digest_of(json.dumps(content, sort_keys=True, default=str).encode())


def parameters_of(chosen: Mapping, file: str, is_judged: bool) -> dict:
    """Values for the notebooks' parameters: those that a user chose, and those of the build itself."""
    parameters = {**chosen, "data": f"../data/{file}", "results": "../results"}
    if is_judged:
        parameters["predictions"] = "../predictions"
    return parameters


def in_order(
    notebooks: Sequence[TextNotebook], parameters: Mapping
) -> list[tuple[TextNotebook, dict]]:
    """Notebooks, each after those that it needs, with the parameters that it takes; refused if they are unfit."""
    defaults = {}
    for notebook in notebooks:
        defaults |= notebook.defaults
    # All that is wrong in one message; several notebooks say the same of a parameter that they share.
    problems = unfit_parameters(defaults, parameters)
    if problems:
        raise UserError(f"parameters refused. {'; '.join(dict.fromkeys(problems))}.")
    by_name = {notebook.name: notebook for notebook in notebooks}
    order = TopologicalSorter({notebook.name: notebook.needs for notebook in notebooks})
    ordered = []
    try:
        for name in order.static_order():
            notebook = by_name[name]
            accepted = {key: parameters[key] for key in parameters if key in notebook.defaults}
            ordered.append((notebook, accepted))
    except CycleError as error:
        raise UserError(
            f"notebooks need each other in a circle: {' -> '.join(error.args[1])}."
        ) from None
    return ordered


def plan(
    root: Path,
    parameters: Mapping,
    workbook: str = "",
    judged: Sequence[Path] = (),
    library: Library | None = None,
) -> dict[str, Job]:
    """Give every notebook's job, each after those that it needs; ``workbook`` is the digest of that and how it is read.

    A notebook's key is the digest of its code, its parameters, the modules that it uses with their package data, what
    it looks at beside the workbook, the jobs that it needs, and what is installed.
    """
    library = library or Library()
    common = [workbook, environment_of(root), sys.version, versions(), FIXED]
    jobs: dict[str, Job] = {}
    for notebook, accepted in in_order(find_notebooks(root), parameters):
        beside = _beside(notebook, root, judged)
        modules = library.modules_of(notebook)
        is_of_released = verified_digest.__module__ in modules
        if is_of_released and "data" not in notebook.defaults and not notebook.released:
            tables = ", ".join(RELEASED)
            raise UserError(
                f"{notebook.path}: it has no parameter data and can read ratings that other studies "
                "released, but its head does not name their tables, so its page would call them "
                f"simulated. Name them there: {DECLARED}: {{released: [{tables}]}}, of these the ones "
                "that it reads."
            )
        code = {module: library.digest(module) for module in sorted(modules)}
        needed = [jobs[name].digest for name in notebook.needs]
        digest = digest_of_values(
            [notebook.name, notebook.code, accepted, beside, code, common, needed]
        )
        jobs[notebook.name] = Job(notebook, accepted, digest, beside, frozenset(modules))
    return jobs


def _beside(notebook: TextNotebook, root: Path, judged: Sequence[Path]) -> dict[str, str]:
    """What a notebook looks at besides the workbook: path -> digest."""
    beside = {}
    for name in notebook.stored:
        files = [path for path in [root / name] if path.exists()]
        beside[name] = digest_files(files, root)
    for name in notebook.released:
        beside[RELEASED[name].file] = verified_digest(name)
    if judged and "predictions" in notebook.defaults:
        beside["predictions"] = digest_files(judged, judged[0].parent)
    return beside


@dataclass(frozen=True)
class HowMade:
    """All that is needed to make an edition again, and to say on its pages how it was made.

    Attributes
    ----------
    parameters : dict
        Those that a user gave.
    notebooks : dict
        Notebook -> its parameters, those that nobody gave included.
    needs, released : dict
        Notebook -> the notebooks that it needs; the released tables that it rests on alone.
    beside : dict
        What the notebooks rest on besides the workbook -> digest, as :class:`Job` has it.
    versions : dict
        Package -> version.
    commit, changed
        Commit of the checkout, and whether it was changed since; None where that is not known.
    library : str
        SHA-256 of the library's source.
    """

    parameters: dict[str, object]
    notebooks: dict[str, dict]
    needs: dict[str, list[str]]
    released: dict[str, list[str]]
    beside: dict[str, str]
    versions: dict[str, str]
    commit: str | None
    changed: bool | None
    library: str

    @classmethod
    def of(cls, root: Path, jobs: Jobs, parameters: Mapping) -> "HowMade":
        """Record how an edition of these jobs is made, now and here."""
        how = cls(
            dict(parameters),
            {},
            {},
            {},
            {},
            versions(),
            **commit_of(root),
            library=library_digest(),
        )
        for name, job in sorted(jobs.items()):
            how.notebooks[name] = {**job.notebook.defaults, **job.parameters}
            how.notebooks[name].pop("results", None)
            if job.notebook.needs:
                how.needs[name] = list(job.notebook.needs)
            if job.notebook.released_alone:
                how.released[name] = list(job.notebook.released_alone)
        for job in jobs.values():
            how.beside.update(job.beside)
        return how

    @classmethod
    def from_dict(cls, record: Mapping) -> "HowMade":
        """Read it as plain values; TypeError or ValueError if it is no such record."""
        how = cls(**record)
        mappings = (how.parameters, how.notebooks, how.beside, how.versions)
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise ValueError("how it was made is not said")
        return how
