"""Which notebooks are to run, with which parameters and in which order, and the digest of what each result rests on."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sense7
from sense7 import sources
from sense7.book.how_made import versions
from sense7.book.manifest import environment_of
from sense7.book.notebooks import TextNotebook, find_notebooks, unfit_parameters
from sense7.checkout import CARRIED
from sense7.errors import UserError
from sense7.sources.released import RELEASED, verified_digest

__all__ = [
    "FIXED",
    "ONE_THREAD",
    "Job",
    "data_beside",
    "digest_files",
    "library_digest",
    "plan",
    "plan_jobs",
    "released_only",
]

ONE_THREAD = dict.fromkeys(
    (
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
        *("BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
    ),
    "1",
)
"""Linear algebra on several threads sums in another order, so that the last digits follow the number of processors."""

FIXED = {"PYTHONHASHSEED": "0", **ONE_THREAD}
"""The order of sets, and the number of threads, would change what a notebook gives."""

NOT_IN_NOTEBOOKS = (
    *("cli", "start.py", "help.txt"),
    *("claims.py", "implied.py", "book", "simulate"),
)
"""Parts of the library that no notebook imports: a change there re-executes nothing."""


@dataclass(frozen=True)
class Job:
    """A notebook with the parameters it is to run with.

    Attributes
    ----------
    notebook : TextNotebook
        What is to run.
    parameters : dict
        All that is injected.
    digest : str
        Of everything that its result depends on.
    """

    notebook: TextNotebook
    parameters: dict
    digest: str


def digest_files(paths: Sequence[Path], base: Path) -> str:
    """SHA-256 of files, by name relative to ``base`` and content."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(str(path.relative_to(base)).encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def library_digest(skip: Sequence[str] = NOT_IN_NOTEBOOKS) -> str:
    """SHA-256 of the library's source, without the parts named in ``skip``, nor the notebooks that a wheel carries."""
    base = Path(sense7.__file__).parent
    paths = [path for path in base.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    paths = [path for path in paths if path.relative_to(base).parts[0] not in (*skip, CARRIED)]
    return digest_files(paths, base)


def plan(
    notebooks: Sequence[TextNotebook],
    parameters: Mapping,
    workbook_digest: str,
    environment: Sequence[str],
    beside: Mapping[str, str] | None = None,
) -> dict[str, Job]:
    """Check the parameters and work out the digest of every notebook.

    Parameters
    ----------
    notebooks : sequence of TextNotebook
        All notebooks of the book.
    parameters : mapping
        Given values; a notebook takes those that it knows.
    workbook_digest : str
        SHA-256 of the workbook.
    environment : sequence of str
        What says which packages are installed; see :func:`sense7.book.manifest.environment_of`.
    beside : mapping, optional
        Digests of what only some notebooks rest on: by the parameter that leads there, by the
        name of the data set, or by the path of the stored result or the released table.

    Returns
    -------
    dict
        Name -> job, in an order in which each comes after what it needs.

    Raises
    ------
    UserError
        If a parameter is known to no notebook, or unfit; or notebooks need each other in a circle.
    """
    # All that is wrong in one message; several notebooks say the same of a parameter that they share.
    accepted = {name: {} for notebook in notebooks for name in notebook.schemas}
    problems = unfit_parameters(accepted, parameters)
    for notebook in notebooks:
        problems += unfit_parameters(notebook.schemas, _known(notebook, parameters))
    if problems:
        raise UserError(f"parameters refused. {'; '.join(dict.fromkeys(problems))}.")
    by_name = {notebook.name: notebook for notebook in notebooks}
    try:
        order = list(TopologicalSorter({n.name: n.needs for n in notebooks}).static_order())
    except CycleError as error:
        raise UserError(f"notebooks need each other in a circle: {' -> '.join(error.args[1])}.") from None
    common = [workbook_digest, library_digest(), *environment, sys.version, versions(), FIXED]
    jobs: dict[str, Job] = {}
    for name in order:
        notebook = by_name[name]
        values = _known(notebook, parameters)
        needed = [jobs[other].digest for other in notebook.needs]
        rests_on = {*notebook.schemas, *notebook.sources, *notebook.stored}
        rests_on |= {RELEASED[table].file for table in notebook.released}
        further = {name: digest for name, digest in (beside or {}).items() if name in rests_on}
        content = json.dumps([notebook.name, notebook.code, values, further, *common, *needed], sort_keys=True)
        jobs[name] = Job(notebook, values, hashlib.sha256(content.encode()).hexdigest())
    return jobs


def _known(notebook: TextNotebook, parameters: Mapping) -> dict:
    return {key: value for key, value in parameters.items() if key in notebook.schemas}


def released_only(jobs: Mapping[str, Job]) -> dict[str, list[str]]:
    """Notebooks that rest on released ratings and not on the edition's workbook: name -> tables.

    One that reads the workbook as well may say anything of it, and nothing about another work alone.
    """
    return {
        name: list(job.notebook.released)
        for name, job in sorted(jobs.items())
        if job.notebook.released and "data" not in job.notebook.schemas
    }


def plan_jobs(root: Path, parameters: Mapping, workbook_digest: str, judged: Sequence[Path]) -> dict[str, Job]:
    """What is to be executed, and what each notebook's result depends on."""
    notebooks = find_notebooks(root)
    beside = data_beside(root, notebooks, judged)
    return plan(notebooks, parameters, workbook_digest, environment_of(root), beside)


def data_beside(root: Path, notebooks: Sequence[TextNotebook], judged: Sequence[Path]) -> dict[str, str]:
    """Digests of what some notebooks look at besides the workbook; "" for what is not here."""
    beside = {name: sources.fetched_digest(name) for notebook in notebooks for name in notebook.sources}
    for name in (name for notebook in notebooks for name in notebook.stored):
        path = root / name
        beside[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
    for name in (name for notebook in notebooks for name in notebook.released):
        beside[RELEASED[name].file] = verified_digest(name)
    if judged:
        beside["predictions"] = digest_files(judged, judged[0].parent)
    return beside
