"""Execution of notebooks: by papermill, side by side, and only where something changed.

What a notebook gives depends on its text, its parameters, the workbook, the library, the
locked environment, and the notebooks whose values it reads. The digest of all these is
the name of its place in the cache, which several editions share. A finished notebook is
moved there in one step, so that an interrupted build loses none.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sense7
from sense7.errors import UserError
from sense7.pipeline.notebooks import TextNotebook, check_parameters, to_ipynb

__all__ = ["BuildError", "Job", "digest_files", "library_digest", "plan", "run"]

NOT_IN_NOTEBOOKS = ("cli.py", "claims.py", "pipeline", "simulate")
"""Parts of the library that no notebook imports: a change there re-executes nothing."""


class BuildError(Exception):
    """A book that could not be built, for a reason in its own sources."""


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
    """SHA-256 of the library's source, without the parts named in ``skip``."""
    base = Path(sense7.__file__).parent
    paths = [path for path in base.rglob("*.py") if path.relative_to(base).parts[0] not in skip]
    return digest_files(paths, base)


def plan(notebooks: Sequence[TextNotebook], parameters: Mapping, workbook_digest: str, lock: Path) -> dict[str, Job]:
    """Check the parameters and work out the digest of every notebook.

    Parameters
    ----------
    notebooks : sequence of TextNotebook
        All notebooks of the book.
    parameters : mapping
        Given values; a notebook takes those that it knows.
    workbook_digest : str
        SHA-256 of the workbook.
    lock : Path
        File with the locked environment.

    Returns
    -------
    dict
        Name -> job, in an order in which each comes after what it needs.

    Raises
    ------
    UserError
        If a parameter is known to no notebook, or unfit; or notebooks need each other in a circle.
    """
    accepted = set().union(*(notebook.schemas for notebook in notebooks))
    if unknown := sorted(set(parameters) - accepted):
        raise UserError(
            f"no notebook knows the parameters {', '.join(unknown)} (accepted: {', '.join(sorted(accepted))})."
        )
    by_name = {notebook.name: notebook for notebook in notebooks}
    try:
        order = list(TopologicalSorter({n.name: n.needs for n in notebooks}).static_order())
    except CycleError as error:
        raise UserError(f"notebooks need each other in a circle: {' -> '.join(error.args[1])}.") from None
    common = [workbook_digest, library_digest(), hashlib.sha256(lock.read_bytes()).hexdigest(), sys.version]
    jobs: dict[str, Job] = {}
    for name in order:
        notebook = by_name[name]
        given = {key: value for key, value in parameters.items() if key in notebook.schemas}
        check_parameters(notebook, given)
        needed = [jobs[other].digest for other in notebook.needs]
        content = json.dumps([notebook.name, notebook.source, given, *common, *needed], sort_keys=True)
        jobs[name] = Job(notebook, given, hashlib.sha256(content.encode()).hexdigest())
    return jobs


def run(
    jobs: Mapping[str, Job],
    edition: Path,
    cache: Path,
    *,
    workers: int,
    report: Callable[[str, bool], None] = lambda name, executed: None,
) -> int:
    """Bring every notebook's result into ``edition``, executing those not in the cache.

    Parameters
    ----------
    jobs : mapping
        As :func:`plan` returns it.
    edition : Path
        Folder of the edition in the making; holds ``data/``. Filled: ``notebooks/``, ``results/``.
    cache : Path
        Folder of finished notebooks.
    workers : int
        Notebooks that run at once.
    report : callable
        Called with the name, and whether it was executed, as each is ready.

    Returns
    -------
    int
        Number of notebooks that were executed.

    Raises
    ------
    BuildError
        Naming the notebook, the cell and the exception, if one fails; those that run beside
        it are finished first and kept.
    """
    for folder in (edition / "notebooks", edition / "results", cache):
        folder.mkdir(parents=True, exist_ok=True)
    sorter = TopologicalSorter({name: job.notebook.needs for name, job in jobs.items()})
    sorter.prepare()
    executed, failure, running = 0, None, {}
    with ThreadPoolExecutor(workers) as pool:
        while sorter.is_active() and not (failure and not running):
            for name in sorter.get_ready() if not failure else ():
                running[pool.submit(_obtain, jobs[name], edition, cache)] = name
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                try:
                    fresh = future.result()
                except BuildError as error:
                    failure = failure or error
                    continue
                executed += fresh
                sorter.done(name)
                report(name, fresh)
    if failure:
        raise failure
    return executed


def _obtain(job: Job, edition: Path, cache: Path) -> bool:
    """Copy a finished notebook from the cache, after executing it if it is not there."""
    place = cache / f"{job.notebook.name}-{job.digest[:24]}"
    fresh = not (place / "notebook.ipynb").exists()
    if fresh:
        _execute(job, edition, place)
    shutil.copyfile(place / "notebook.ipynb", edition / "notebooks" / f"{job.notebook.name}.ipynb")
    shutil.copyfile(place / "values.json", edition / "results" / f"{job.notebook.name}.json")
    os.utime(place)
    return fresh


def _execute(job: Job, edition: Path, place: Path) -> None:
    """Execute a notebook as papermill does, and move what it gave to its place in one step."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    name = job.notebook.name
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=place.parent) as scratch:
        given, done, finished = (Path(scratch) / part for part in ("given.ipynb", "done.ipynb", "finished"))
        given.write_text(to_ipynb(job.notebook), encoding="utf-8")
        try:
            papermill.execute_notebook(
                given,
                done,
                parameters=job.parameters,
                kernel_name="python3",
                cwd=edition / "notebooks",
                progress_bar=False,
                # A notice about unencrypted loopback ports says nothing about the notebook.
                extra_arguments=["--IPKernelApp.log_level=40"],
            )
        except PapermillExecutionError as error:
            raise BuildError(_failure(job.notebook, error)) from None
        except Exception as error:
            raise BuildError(
                f"{job.notebook.path}: could not be executed ({type(error).__name__}: {error})."
            ) from error
        finished.mkdir()
        (finished / "notebook.ipynb").write_text(_tidy(done), encoding="utf-8")
        values = edition / "results" / f"{name}.json"
        if not values.exists():
            raise BuildError(f"{job.notebook.path}: records no value. Make a Recorder in it.")
        shutil.copyfile(values, finished / "values.json")
        if place.exists():  # another build was quicker with the same notebook
            return
        finished.replace(place)


def _failure(notebook: TextNotebook, error) -> str:
    lines = error.source.strip().splitlines()
    return (
        f"{notebook.path}: code cell {error.exec_count}, which begins with {lines[0] if lines else ''!r}, "
        f"raised {error.ename}: {error.evalue}"
    )


def _tidy(path: Path) -> str:
    """The executed notebook without times and random ids, so that equal runs are equal."""
    node = json.loads(path.read_text(encoding="utf-8"))
    node["metadata"]["papermill"] = {"parameters": node["metadata"]["papermill"]["parameters"]}
    node["metadata"]["language_info"] = {"name": "python"}
    for number, cell in enumerate(node["cells"], 1):
        cell["id"] = f"cell-{number:02d}"
        tags = cell["metadata"].get("tags", [])
        cell["metadata"] = {"tags": tags} if tags else {}
    return json.dumps(node, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
