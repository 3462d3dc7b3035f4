"""Execution of notebooks: by papermill, side by side, and only where something changed.

The digest of all that a notebook's result depends on (:mod:`sense7.book.jobs`) is the name of its place in the cache,
which several editions share. A finished notebook is moved there in one step, so that an interrupted build loses none.
Prose is no part of the digest: what was executed gets the prose that the notebook has now.

Papermill runs in threads of this process: its kernels end by themselves when that is gone.
"""

import contextlib
import json
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from sense7.book.jobs import Job, Jobs
from sense7.book.notebooks import (
    TextNotebook,
    ipynb_text,
    number_cells,
    skip_unfit,
    tags_of,
    to_ipynb,
)
from sense7.errors import BuildError
from sense7.files import (
    one_line,
    read_json,
    scratch_folder,
)
from sense7.processes import FIXED, KILLED, NO_MEMORY, without_keys
from sense7.record import EXECUTED_BY
from sense7.terminal import silent

STARTS = 3
"""How often a kernel that does not come up is started."""

FORKS = sys.platform == "linux"
"""Whether this system forks safely; macOS does not, once its libraries run."""

STATISTICS = ("scipy.stats", "sklearn", "statsmodels.api")
"""Imported before kernels are forked: not for one alone, which would wait for what it may not need."""

ENVIRONMENT = {
    **FIXED,
    EXECUTED_BY: "sense7",
    # Python's warnings name the path of a package on this machine. What findings can't compute they say in words.
    "PYTHONWARNINGS": "ignore",
    # Memory that the C library of Linux keeps: what it returned has to be cleared again, a fifth of a kernel's time.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 28),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}


class Kernels:
    """The kernels of a run, which are stopped together from another thread."""

    # One that starts or ends is waited for, which leaves its processor to another.
    workers = (os.cpu_count() or 1) + 1

    def __init__(self, jobs: Jobs, cache: Path, say: Callable = silent, failed: Path | None = None):
        self.stopped = False
        self._failed = failed or cache.with_name("failed")
        self._say = say
        self._started = []
        self._lock = threading.Lock()
        waiting = [job for job in jobs.values() if not _in_cache(job, cache).exists()]
        self.fork = FORKS and bool(waiting)
        if not self.fork:
            return
        from sense7.book import kernels

        modules = set().union(*(job.modules for job in waiting))
        if len(waiting) > 1:
            modules.update(STATISTICS)
        environment = _environment()
        environment["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        try:
            kernels.start_fork_server(modules, environment)
        except (OSError, AttributeError, TypeError) as error:
            # The last two: those of another Python's fork server.
            self.fall_back(error)

    def fall_back(self, error: Exception) -> None:
        """Have kernels start fresh from now on."""
        if self.fork and not self.stopped:
            self._say(f"kernels start fresh, which takes longer: {one_line(error)}")
        self.fork = False

    def add(self, process) -> None:
        """Take a kernel that has started."""
        with self._lock:
            self._started.append(process)
            if self.stopped:
                process.kill()

    def kill(self) -> None:
        """Kill every kernel, and those that are about to start."""
        with self._lock:
            self.stopped = True
            for process in self._started:
                process.kill()  # does nothing to one that has ended

    def execute(self, job: Job, edition: Path, cached: Path) -> None:
        """Execute a notebook in a folder of its own, and move what it gave to its place in one step."""
        name = job.notebook.name
        with scratch_folder(cached.parent) as scratch:
            apart = scratch / "apart"
            finished = scratch / "finished"
            finished.mkdir()
            folder = stage(edition, job.notebook.needs, apart)
            failed = self._failed / f"{name}.ipynb"
            copy = self.executed_copy(job, folder, scratch, failed)
            (finished / "notebook.ipynb").write_text(copy, "utf-8")
            shutil.copyfile(apart / "results" / f"{name}.json", finished / "values.json")
            finished.replace(cached)
            failed.unlink(missing_ok=True)

    def executed_copy(self, job: Job, folder: Path, scratch: Path, failed: Path) -> str:
        """Execute a notebook as papermill does, its kernel in ``folder``; equal runs give equal texts.

        Where a cell fails, papermill's copy, which marks the cell, is kept as ``failed``. Values have to be recorded.
        """
        notebook = job.notebook
        parameters = {**notebook.defaults, **job.parameters}
        source = scratch / "given.ipynb"
        done = scratch / "done.ipynb"
        source.write_text(skip_unfit(to_ipynb(notebook), parameters, folder), encoding="utf-8")
        self._run(job, source, done, folder, failed)
        values = folder / parameters.get("results", "") / f"{notebook.name}.json"
        if not values.exists() or not read_json(values):
            raise BuildError(
                f"{notebook.path}: records no value under its own name. "
                f'Make a s7.Recorder("{notebook.name}", results) in it, and record one.'
            )
        node = read_json(done)
        # Without times and random ids, so that equal runs are equal.
        node["metadata"]["papermill"] = {"parameters": node["metadata"]["papermill"]["parameters"]}
        node["metadata"]["language_info"] = {"name": "python"}
        return _in_order(node)

    def _run(self, job: Job, source: Path, done: Path, folder: Path, failed: Path) -> None:
        """Have a kernel run a notebook; one that does not come up is started again."""
        import papermill
        from jupyter_core.utils import ensure_event_loop
        from nbclient.exceptions import DeadKernelError

        from sense7.book.kernels import kernel_manager, require_loopback

        require_loopback()
        # What papermill has to say is in its exceptions.
        logging.getLogger("papermill").addHandler(logging.NullHandler())
        for attempt in range(1, STARTS + 1):
            # IPython's folder in place of the user's: what users have a kernel do at its start changes what it gives.
            environment = _environment()
            environment["IPYTHONDIR"] = str(source.with_name(f"ipython {attempt}"))
            connection = source.with_name(f"{attempt}.json")
            fork = self.fork
            processes = []

            def started(process, processes=processes) -> None:
                processes.append(process)
                self.add(process)

            try:
                papermill.execute_notebook(
                    source,
                    done,
                    parameters=job.parameters,
                    kernel_name="python3",
                    # Not cwd=: papermill would change the folder of this whole process, in every thread at once.
                    resources={"metadata": {"path": str(folder)}},
                    kernel_manager_class=kernel_manager(connection, environment, fork, started),
                    progress_bar=False,
                    # Else all of it is written again before and after every cell, and nobody looks.
                    request_save_on_cell_execute=False,
                    # All that it gave is here by then. A kernel that is asked to end takes a while.
                    shutdown_kernel="immediate",
                    # Notices about unencrypted loopback ports say nothing about the notebook.
                    extra_arguments=["--IPKernelApp.log_level=50"],
                )
                return
            except papermill.exceptions.PapermillExecutionError as error:
                with contextlib.suppress(OSError):
                    failed.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(done, failed)
                raise BuildError(
                    f"{job.notebook.path}: {failed_cell(error)}. Where it stopped: {failed}"
                ) from None
            except Exception as error:
                # A forked kernel did not come up; or processes may have taken the same ports meanwhile: start again.
                may_come_up = fork or isinstance(error, RuntimeError)
                is_dead = isinstance(error, DeadKernelError)
                if is_dead or not may_come_up or attempt == STARTS or self.stopped:
                    problem = f"could not be executed ({type(error).__name__}: {one_line(error)})"
                    if processes and processes[-1].poll() == KILLED and not self.stopped:
                        problem = f"its kernel was killed. {NO_MEMORY}"
                    raise BuildError(f"{job.notebook.path}: {problem.rstrip('.')}.") from error
                if fork:
                    self.fall_back(error)
            finally:
                ensure_event_loop().close()  # nbclient makes one for every thread, and leaves it open


def failed_cell(error) -> str:
    """What papermill's error says of a cell: where it stands, what it raised, and at which line of this library."""
    first_line = next(iter(error.source.strip().splitlines()), "")
    traceback = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    lines = re.findall(r"^File \S*?(sense7/\S+?\.py):(\d+), in ", traceback, re.MULTILINE)
    words = f"code cell {error.exec_count}, which begins with {first_line!r}, raised {error.ename}: {error.evalue}"
    if lines:
        file, number = lines[-1]
        words += f" ({file}, line {number})"
    return words


def _environment() -> dict[str, str]:
    """Variables of the environment of kernels."""
    return {**without_keys(), **ENVIRONMENT}


def run(
    jobs: Jobs,
    edition: Path,
    cache: Path,
    *,
    workers: int | None = None,
    say: Callable = silent,
    kernels=None,
    failed: Path | None = None,
) -> list[str]:
    """Bring every notebook's result into ``edition``, each after those that it needs; return those executed.

    What failed is said at once. It is raised when those that run beside it are finished, and kept; an interrupt kills
    what runs. ``kernels`` may be a cluster (:mod:`sense7.book.scheduler`). Copies of notebooks that failed are kept
    in the folder ``failed``, by default beside the cache.
    """
    for folder in (edition / "notebooks", edition / "results", cache):
        folder.mkdir(parents=True, exist_ok=True)
    kernels = kernels or Kernels(jobs, cache, say, failed)
    needed = set()
    for job in jobs.values():
        needed.update(job.notebook.needs)
    order = TopologicalSorter({name: job.notebook.needs for name, job in jobs.items()})
    order.prepare()
    begun = time.monotonic()
    executed = []
    running = {}
    finished = 0
    failure = None
    with ThreadPoolExecutor(min(workers or kernels.workers, len(jobs))) as pool:
        try:
            while order.is_active() and (running or not failure):
                ready = () if failure else order.get_ready()
                # First those that others wait for.
                for name in sorted(ready, key=lambda name: (name not in needed, name)):
                    future = pool.submit(_obtain, jobs[name], edition, cache, kernels)
                    running[future] = name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(future)
                    progress = f"{finished + 1} of {len(jobs)}"
                    try:
                        is_new = future.result()
                    except BuildError as error:
                        failure = failure or error
                        say(f"{name} failed ({progress}): {error}")
                        continue
                    finished += 1
                    order.done(name)
                    state = "unchanged"
                    if is_new:
                        state = "executed"
                        executed.append(name)
                    if is_new and finished < len(jobs):
                        seconds_each = (time.monotonic() - begun) / finished
                        remaining = seconds_each * (len(jobs) - finished)
                        progress += f", about {remaining:.0f} s left"
                    say(f"{name}: {state} ({progress})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            kernels.kill()
    if failure:
        raise failure
    return executed


def _in_cache(job: Job, cache: Path) -> Path:
    return cache / f"{job.notebook.name}-{job.digest[:24]}"


def _obtain(job: Job, edition: Path, cache: Path, kernels) -> bool:
    """Copy a finished notebook from the cache, after executing it if it is not there; whether it was not."""
    cached = _in_cache(job, cache)
    is_new = not cached.exists()
    if is_new:
        kernels.execute(job, edition, cached)
    executed = (cached / "notebook.ipynb").read_text("utf-8")
    if not is_new:
        executed = with_prose(executed, job.notebook)
    (edition / "notebooks" / f"{job.notebook.name}.ipynb").write_text(executed, "utf-8")
    shutil.copyfile(cached / "values.json", edition / "results" / f"{job.notebook.name}.json")
    os.utime(cached)
    return is_new


def with_prose(executed: str, notebook: TextNotebook) -> str:
    """An executed notebook as it would be had it been executed with the prose that it has now."""
    node = json.loads(executed)
    ran = iter([cell for cell in node["cells"] if cell["cell_type"] == "code"])
    is_injected = any("injected-parameters" in tags_of(cell) for cell in node["cells"])
    cells = []
    for cell in json.loads(to_ipynb(notebook))["cells"]:
        if cell["cell_type"] != "code":
            cell["source"] = cell["source"].splitlines(keepends=True)
            cells.append(cell)
            continue
        cells.append(next(ran))
        if "parameters" in tags_of(cell) and is_injected:
            cells.append(next(ran))
    node["cells"] = cells
    return _in_order(node)


def _in_order(node: dict) -> str:
    """A notebook as text, its cells numbered and bare of all metadata but tags."""
    number_cells(node["cells"])
    for cell in node["cells"]:
        tags = tags_of(cell)
        cell["metadata"] = {"tags": tags} if tags else {}
    return ipynb_text(node)


def stage(edition: Path, needs: Iterable[str], folder: Path) -> Path:
    """Lay out a folder in which one notebook runs, with nothing but what it declares: the data, and values it needs."""
    for name in ("notebooks", "results"):
        (folder / name).mkdir(parents=True)
    for name in ("data", "predictions"):
        if (edition / name).exists():
            try:
                (folder / name).symlink_to((edition / name).absolute(), target_is_directory=True)
            except OSError:  # Windows reserves links for administrators
                shutil.copytree(edition / name, folder / name)
    for name in needs:
        shutil.copyfile(edition / "results" / f"{name}.json", folder / "results" / f"{name}.json")
    return folder / "notebooks"


def execute_apart(job: Job, edition: Path, cached: Path) -> None:
    """Execute a notebook on a worker of a cluster: nothing is written but its place in the cache.

    A worker that dies leaves an edition as it is, so that another one can begin again.
    """
    if not cached.exists():
        Kernels({}, cached.parent).execute(job, edition, cached)
