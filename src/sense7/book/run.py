"""Execution of notebooks by papermill in an executor: the longest first, and only where something changed.

The digest of all that a notebook's result depends on is the name of its place in the cache, which several editions
share. A finished notebook is moved there in one step, so that an interrupted build loses none. Prose is no part of the
digest: executed cells get the prose that the notebook has now.
"""

import contextlib
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from sense7.book.code import Library, digest_files, environment_of, library_digest, versions
from sense7.book.kernels import ENVIRONMENT, kernel_manager, start_fork_server
from sense7.book.notebooks import (
    DECLARED,
    TextNotebook,
    find_notebooks,
    ipynb_text,
    leave_out_unfit,
    number_cells,
    tags_of,
    to_node,
    unfit_parameters,
)
from sense7.errors import BuildError, UserError
from sense7.files import digest_of, digest_of_file, one_line, read_json, scratch_folder
from sense7.processes import FIXED, NO_MEMORY, without_keys
from sense7.record import read_values, write_json
from sense7.sources.released import RELEASED, verified_digest
from sense7.terminal import silent

SET_BY_BUILD = frozenset({"data", "predictions", "results"})
"""Parameters that a build sets itself: notebooks read the edition's own copies of what it is made from."""

FIRST_GUESS = {
    "17-robustness": 30.0,
    "12-judge": 22.0,
    "13-baselines": 12.0,
    "06-individualized": 9.0,
    "09-poor-turn": 9.0,
    "15-three-judges": 8.0,
}
"""Seconds that a notebook takes beside others, where none was measured; 4 of all that stand not here."""

EXECUTED, VALUES, MADE = "notebook.ipynb", "values.json", "made.json"
"""Files of a place in the cache; the last has the seconds of the execution and what its result depends on."""


@dataclass(frozen=True)
class Job:
    """A notebook, its parameters, and part of all that its result depends on -> digest."""

    notebook: TextNotebook
    parameters: dict
    parts: dict[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 of all that the result depends on."""
        return digest_of_values(self.parts)

    def place(self, cache: Path) -> Path:
        """Folder of the result in the cache."""
        return cache / f"{self.notebook.name}-{self.digest[:24]}"


Jobs = Mapping[str, Job]

FORKS = sys.platform == "linux"
"""Whether this system forks safely; macOS does not, once its libraries run."""


def digest_of_values(content: object) -> str:
    """SHA-256 of plain values."""
    return digest_of(json.dumps(content, sort_keys=True, default=str).encode())


# --- plan ---------------------------------------------------------------------------------


def plan(
    root: Path,
    parameters: Mapping,
    workbook: str,
    judged: Sequence[Path] = (),
    only: Sequence[str] = (),
) -> dict[str, Job]:
    """Plan the execution of all notebooks, or of ``only`` some; ``workbook`` is a digest."""
    library = Library()
    notebooks = [notebook for notebook in find_notebooks(root) if not only or notebook.name in only]
    accepted = dict.fromkeys(SET_BY_BUILD, "")
    for notebook in notebooks:
        accepted |= notebook.defaults
    problems = unfit_parameters(accepted, parameters)
    if problems:
        raise UserError(f"parameters refused. {'; '.join(problems)}.")
    packages = digest_of_values([environment_of(root), sys.version, versions(), FIXED])
    jobs: dict[str, Job] = {}
    for notebook in notebooks:
        modules = library.modules_of(notebook)
        reads_released = verified_digest.__module__ in modules
        if reads_released and "data" not in notebook.defaults and not notebook.released:
            raise UserError(
                f"{notebook.path}: it has no parameter data and can read ratings that other studies "
                "released, but its head does not name their tables, so its page would call them "
                f"simulated. Name them there: {DECLARED}: {{released: [{', '.join(RELEASED)}]}}, of these the ones "
                "that it reads."
            )
        settings = {key: parameters[key] for key in parameters if key in notebook.defaults}
        parts = {
            "page": digest_of_values([notebook.name, notebook.code]),
            "parameters": digest_of_values(settings),
            "packages": packages,
        }
        if "data" in notebook.defaults:
            parts["data"] = workbook
        if judged and "predictions" in notebook.defaults:
            parts["predictions"] = digest_files(judged, judged[0].parent)
        for file in notebook.stored:
            parts[file] = digest_of_file(root / file) if (root / file).exists() else ""
        for table in notebook.released:
            parts[RELEASED[table].file] = verified_digest(table)
        for module in modules:
            parts[f"module {module}"] = library.digest(module)
        jobs[notebook.name] = Job(notebook, settings, parts)
    return jobs


# --- executors ----------------------------------------------------------------------------


@dataclass
class Kernels:
    """The kernels of this process, which are killed together; forked where the system can (Linux)."""

    fork: bool = False
    stopped: bool = False
    started: list = field(default_factory=list)

    def add(self, process) -> None:
        """Take a kernel that has started."""
        self.started.append(process)
        if self.stopped:
            process.kill()

    def kill(self) -> None:
        """Kill every kernel, also one that is about to start."""
        self.stopped = True
        for process in self.started:
            process.kill()  # does nothing to one that has ended


@dataclass
class Execution:
    """An executor, how many notebooks it executes at a time, and the kernels of this process."""

    executor: Executor
    workers: int
    kernels: Kernels | None


@contextlib.contextmanager
def in_threads(
    jobs: Jobs, cache: Path, workers: int | None = None, study: tuple[Path, str] | None = None
) -> Iterator[Execution]:
    """Execute on this machine: threads wait for kernels, which are processes; the study is read before they fork."""
    waiting = [job for job in jobs.values() if not job.place(cache).exists()]
    kernels = Kernels(fork=FORKS and bool(waiting))
    if kernels.fork:
        start_fork_server(study)
    # One more than processors: a kernel that is starting or stopping leaves its processor idle.
    workers = workers or (os.cpu_count() or 1) + 1
    executor = ThreadPoolExecutor(workers)
    try:
        yield Execution(executor, workers, kernels)
    finally:
        kernels.kill()
        executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def on_cluster(address: str) -> Iterator[Execution]:
    """Execute on the workers of a Dask cluster, which have this library, and the checkout at the same path."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "--scheduler: clusters are reached by dask.distributed, which is not installed. "
            'Run: python -m pip install "distributed>=2024.8"'
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its exceptions say what matters
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"--scheduler {address}: nothing answers there ({one_line(error)}). Start one: dask scheduler; "
            "and on each machine: dask worker ADDRESS"
        ) from None
    with client:
        threads = client.nthreads()
        if not threads:
            raise UserError(f"--scheduler {address}: no worker. Start some: dask worker {address}")
        for worker, digest in client.run(computes_with).items():
            if digest != computes_with():
                raise UserError(
                    f"--scheduler {address}: the worker {worker} has another library, Python or packages than this "
                    "process. Start it again, in an environment of the same lock, with the checkout at the same path "
                    "on a folder that all machines share."
                )
        yield Execution(client.get_executor(pure=False), sum(threads.values()), None)


def computes_with() -> list:
    """The library, the Python and the packages of this process."""
    return [library_digest(), sys.version, versions()]


# --- execution ----------------------------------------------------------------------------


def execute_notebooks(
    jobs: Jobs,
    edition: Path,
    cache: Path,
    execution: Execution,
    *,
    failed: Path,
    say: Callable = silent,
) -> list[str]:
    """Bring every notebook's result into ``edition``; return the names of the executed ones.

    A failure is raised when the notebooks that run beside it are finished, and kept. The copy of a notebook that
    failed is kept in the folder ``failed``.
    """
    for folder in (edition / "notebooks", edition / "results", cache):
        folder.mkdir(parents=True, exist_ok=True)
    waiting = {}
    for name, job in jobs.items():
        if job.place(cache).exists():
            take_result(job, job.place(cache), edition)
        else:
            last = last_made(job, cache)
            waiting[name] = last.get("seconds", FIRST_GUESS.get(name, 4.0))
            say(f"{name}: to be executed, {why_again(job, last.get('parts'))}")
    unchanged = len(jobs) - len(waiting)
    if waiting:
        seconds = max(*waiting.values(), sum(waiting.values()) / execution.workers)
        say(f"{unchanged} of {len(jobs)} notebooks unchanged; about {seconds:.0f} s left")
    futures = {}
    for name in sorted(waiting, key=waiting.get, reverse=True):  # the longest first
        result = jobs[name].place(cache)
        folders = edition.absolute(), result.absolute(), failed.absolute()
        future = execution.executor.submit(execute, jobs[name], *folders, execution.kernels)
        futures[future] = name
    executed: list[str] = []
    failure = None
    for future in as_completed(futures):
        name = futures[future]
        try:
            future.result()
        except CancelledError:
            continue
        except BuildError as error:
            failure = failure or error
            say(f"{name} failed: {error}")
            for other in futures:
                other.cancel()  # no further one begins
            continue
        take_result(jobs[name], jobs[name].place(cache), edition)
        executed.append(name)
        say(f"{name}: executed ({len(executed)} of {len(waiting)})")
    if failure:
        raise failure
    return executed


def last_made(job: Job, cache: Path) -> dict:
    """Seconds and parts of a notebook's last execution; {} if it was never executed."""
    places = cache.glob(f"{job.notebook.name}-{'?' * 24}")
    last = max(places, key=lambda result: result.stat().st_mtime, default=None)
    return read_json(last / MADE) if last else {}


def why_again(job: Job, parts: Mapping[str, str] | None) -> str:
    """The parts of all that a result depends on which changed since the last execution."""
    if parts is None:
        return "for the first time"
    changed = [part for part in job.parts | parts if job.parts.get(part) != parts.get(part)]
    return f"since these changed: {', '.join(sorted(changed))}"


def take_result(job: Job, result: Path, edition: Path) -> None:
    """Copy a finished notebook from the cache, with the prose that it has now."""
    name = job.notebook.name
    executed = with_prose(read_json(result / EXECUTED), job.notebook)
    (edition / "notebooks" / f"{name}.ipynb").write_text(executed, "utf-8")
    shutil.copyfile(result / VALUES, edition / "results" / f"{name}.json")
    os.utime(result)


def with_prose(node: dict, notebook: TextNotebook) -> str:
    """An executed notebook with the prose of the text, its cells numbered and bare of all metadata but tags."""
    executed = [cell for cell in node["cells"] if cell["cell_type"] == "code"]
    is_injected = any("injected-parameters" in tags_of(cell) for cell in executed)
    cells = []
    for cell in to_node(notebook)["cells"]:
        if cell["cell_type"] == "code":
            is_of_parameters = "parameters" in tags_of(cell)
            cells.append(executed.pop(0))
            if is_of_parameters and is_injected:
                cells.append(executed.pop(0))
        else:
            cell["source"] = cell["source"].splitlines(keepends=True)
            cells.append(cell)
    number_cells(cells)
    for cell in cells:
        tags = tags_of(cell)
        cell["metadata"] = {"tags": tags} if tags else {}
    return ipynb_text({**node, "cells": cells})


def execute(job: Job, edition: Path, result: Path, failed: Path, kernels: Kernels | None) -> None:
    """Execute a notebook in a folder of its own, and move its result to its place in the cache in one step."""
    import papermill
    from jupyter_core.utils import ensure_event_loop
    from nbclient.exceptions import DeadKernelError

    name = job.notebook.name
    kernels = kernels or Kernels()
    begun = time.monotonic()
    logging.getLogger("papermill").addHandler(
        logging.NullHandler()
    )  # its exceptions say what matters
    with scratch_folder(result.parent) as scratch, tempfile.TemporaryDirectory() as sockets:
        folder = stage(edition, scratch / "stage")
        finished = scratch / "finished"
        finished.mkdir()
        source = scratch / "given.ipynb"
        done = scratch / "done.ipynb"
        node = to_node(job.notebook)
        for cell in node["cells"]:
            if cell["metadata"].get("needs"):  # a cell by hand: what it lacks is seen afterwards
                tags_of(cell).append("raises-exception")
        source.write_text(ipynb_text(node), "utf-8")
        # IPython's folder in place of the user's: what users have a kernel do at its start changes what it gives.
        environment = {**without_keys(), **ENVIRONMENT, "IPYTHONDIR": str(scratch / "ipython")}
        try:
            papermill.execute_notebook(
                source,
                done,
                parameters=job.parameters,
                kernel_name="python3",
                # Not cwd=: papermill would change the folder of this whole process, in every thread at once.
                resources={"metadata": {"path": str(folder)}},
                kernel_manager_class=kernel_manager(sockets, environment, kernels),
                progress_bar=False,
                # Else all of it is written again before and after every cell, and nobody looks.
                request_save_on_cell_execute=False,
                # A line that is printed comes in one part or in two, by chance.
                coalesce_streams=True,
                # All that it gave is here by then. A kernel that is asked to end takes a while.
                shutdown_kernel="immediate",
                extra_arguments=["--IPKernelApp.log_level=50"],
            )
        except papermill.exceptions.PapermillExecutionError:
            pass  # the copy has the error
        except Exception as error:
            problem = f"could not be executed ({type(error).__name__}: {one_line(error)})"
            if isinstance(error, DeadKernelError):
                problem = f"its kernel ended before the notebook did. {NO_MEMORY}"
            raise BuildError(f"{job.notebook.path}: {problem.rstrip('.')}.") from error
        finally:
            ensure_event_loop().close()  # nbclient makes one for every thread, and leaves it open
        values = folder.parent / "results" / f"{name}.json"
        recorded = read_values(values.parent) if values.exists() else {}
        node = read_json(done)
        leave_out_unfit(node["cells"], recorded)
        for cell in node["cells"]:
            for output in cell.get("outputs", ()):
                if output["output_type"] == "error":
                    failed.mkdir(parents=True, exist_ok=True)
                    copy = shutil.copyfile(done, failed / f"{name}.ipynb")
                    first_line = next(iter("".join(cell["source"]).strip().splitlines()), "")
                    count = cell["execution_count"]
                    raise BuildError(
                        f"{job.notebook.path}: code cell {count}, which begins with {first_line!r}, "
                        f"raised {output['ename']}: {output['evalue']}. Where it stopped: {copy}"
                    )
            if cell["metadata"].get("needs"):
                tags_of(cell).remove("raises-exception")
        if not recorded:
            raise BuildError(
                f"{job.notebook.path}: records no value under its own name. "
                f'Make a s7.Recorder("{name}", results) in it, and record one.'
            )
        # Without times and random ids, so that equal runs are equal.
        node["metadata"]["papermill"] = {"parameters": node["metadata"]["papermill"]["parameters"]}
        node["metadata"]["language_info"] = {"name": "python"}
        (finished / EXECUTED).write_text(with_prose(node, job.notebook), "utf-8")
        shutil.copyfile(values, finished / VALUES)
        seconds = round(time.monotonic() - begun, 1)
        write_json(finished / MADE, {"seconds": seconds, "parts": job.parts})
        finished.replace(result)
    (failed / f"{name}.ipynb").unlink(missing_ok=True)


def stage(edition: Path, folder: Path) -> Path:
    """Lay out a folder in which a notebook runs, with the data."""
    for name in ("notebooks", "results"):
        (folder / name).mkdir(parents=True)
    for name in ("data", "predictions"):
        if (edition / name).exists():
            try:
                (folder / name).symlink_to(edition / name, target_is_directory=True)
            except OSError:  # Windows reserves links for administrators
                shutil.copytree(edition / name, folder / name)
    return folder / "notebooks"
