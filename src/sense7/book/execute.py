"""Execution of notebooks: by papermill, side by side, and only where something changed.

What a notebook gives depends on its code, its parameters, the workbook, the library, the
locked environment, and the notebooks whose values it reads. The digest of all these is
the name of its place in the cache, which several editions share. A finished notebook is
moved there in one step, so that an interrupted build loses none. Prose is no part of the
digest: what was executed gets the prose that the notebook has now.

Papermill runs in threads of this process: a kernel ends by itself when the process that
started it is gone, so that not even a killed build leaves one behind.
"""

import contextlib
import functools
import json
import logging
import math
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from sense7.book.by_hand import skip_unfit
from sense7.book.notebooks import TextNotebook, cells_of, ipynb_text, to_ipynb
from sense7.book.plan import FIXED, Job
from sense7.book.warm_kernels import Nursery, NurseryError
from sense7.errors import UserError
from sense7.judge.endpoint import without_keys

__all__ = [
    "SCRATCH",
    "BuildError",
    "Kernels",
    "execute_apart",
    "executed_copy",
    "obtain",
    "require_values",
    "run",
    "stage",
    "start_kernels",
]

SCRATCH = ".making-"
"""Names of folders in the making begin so; one that a killed build left is cleared away by the next."""

SECONDS = "seconds"
"""File in the cache, beside an executed notebook: how long that took."""

_DIGEST = 24
"""Characters of a digest in the name of a place in the cache."""

STARTS = 3
"""How often a kernel that does not come up is started."""

KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 28), "MALLOC_TRIM_THRESHOLD_": str(1 << 28)}
"""Bytes that the C library of Linux keeps: tables of resamples are made and dropped all the time, and memory that it
returned to the system has to be cleared again, which takes a fifth of a kernel's time in the system."""

WORTH_WARMING = 2
"""From how many notebooks on kernels are warm: one alone would wait for imports that it may not need."""

INLINE = "module://matplotlib_inline.backend_inline"
"""What a kernel sets for matplotlib before that is imported."""


class BuildError(Exception):
    """A book that could not be built, for a reason in its own sources."""


def run(
    jobs: Mapping[str, Job],
    edition: Path,
    cache: Path,
    *,
    workers: int,
    report: Callable[[str, bool], None] = lambda name, executed: None,
    say: Callable[[str], None] = lambda line: None,
    warm: bool = True,
    kernels: "Kernels | None" = None,
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
    say : callable
        Called with what a user should know, such as that kernels had to start fresh.
    warm : bool
        Whether kernels are forked from one process that has imported the libraries; see
        :mod:`sense7.book.warm_kernels`. What notebooks give is the same.
    kernels : Kernels, optional
        Where notebooks are executed, such as on a cluster (:mod:`sense7.book.scheduler`); here if not given.

    Returns
    -------
    int
        Number of notebooks that were executed.

    Raises
    ------
    BuildError
        Naming the notebook, the cell and the exception, if one fails; those that run beside
        it are finished first and kept.
    KeyboardInterrupt
        At once, without waiting for what runs: its kernels are killed.
    """
    for folder in (edition / "notebooks", edition / "results", cache):
        folder.mkdir(parents=True, exist_ok=True)
    sorter = TopologicalSorter({name: job.notebook.needs for name, job in jobs.items()})
    sorter.prepare()
    executed, failure, running, urgency = 0, None, {}, _urgency(jobs, cache)
    kernels = kernels or start_kernels(jobs, cache, say, warm=warm)
    kernels.data = _workbook(jobs, edition)
    with kernels.threads(workers) as pool:
        while sorter.is_active() and not (failure and not running):
            for name in sorted(sorter.get_ready(), key=urgency) if not failure else ():
                running[pool.submit(obtain, jobs[name], edition, cache, kernels)] = name
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


def start_kernels(
    jobs: Mapping[str, Job], cache: Path, say: Callable[[str], None] = lambda line: None, *, warm: bool = True
) -> "Kernels":
    """Kernels for :func:`run`; where warm ones are worth it, what they need is imported from now on."""
    to_execute = sum(not _place(job, cache).exists() for job in jobs.values())
    return Kernels(say, warm=warm and to_execute >= WORTH_WARMING)


def _urgency(jobs: Mapping[str, Job], cache: Path) -> Callable[[str], tuple[bool, float]]:
    """Key to sort notebooks by: first those that others wait for, then the longest, as their last execution took.

    What is long, or waited for, would else be left for the end, when other processors have nothing to do.
    """
    needed = {name for job in jobs.values() for name in job.notebook.needs}
    kept = sorted(cache.glob(f"*/{SECONDS}"), key=lambda path: path.stat().st_mtime)
    seconds = {path.parent.name[: -_DIGEST - 1]: float(path.read_text(encoding="utf-8")) for path in kept}
    return lambda name: (name not in needed, -seconds.get(name, math.inf))


def _workbook(jobs: Mapping[str, Job], edition: Path) -> Path | None:
    """The workbook that the notebooks load, if they load the same."""
    workbooks = {job.parameters["data"] for job in jobs.values() if "data" in job.parameters}
    return (edition / "notebooks" / workbooks.pop()).resolve() if len(workbooks) == 1 else None


class Kernels:
    """The kernels of a run, so that they can be stopped together from another thread."""

    def __init__(
        self,
        say: Callable[[str], None] = lambda line: None,
        *,
        warm: bool = False,
    ):
        self.data: Path | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._started: list = []
        self._say = say
        self._fresh = False
        self._nursery = self._open() if warm else None

    def _open(self) -> Nursery | None:
        try:
            return Nursery(without_keys() | FIXED | KEPT_MEMORY | {"MPLBACKEND": INLINE})
        except (NurseryError, OSError) as error:
            self._fell_back(str(error))
            return None

    def _fell_back(self, reason: str) -> None:
        if not self._fresh and not self._stopped:
            self._say(f"kernels start fresh, which takes longer: {reason}")
        self._fresh = True

    @contextlib.contextmanager
    def threads(self, workers: int) -> Iterator[ThreadPoolExecutor]:
        """Give threads to execute notebooks in; an exception kills their kernels at once, and waits for nothing."""
        # What papermill has to say is in its exceptions; a kernel that was killed here needs no message.
        logging.getLogger("papermill").addHandler(logging.NullHandler())
        with ThreadPoolExecutor(workers) as pool:
            try:
                yield pool
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.kill()
                raise
            finally:
                self.close()

    def close(self) -> None:
        """End the process that forks kernels."""
        if self._nursery:
            self._nursery.close()

    @property
    def stopped(self) -> bool:
        """Whether the run was called off."""
        return self._stopped

    def kill(self) -> None:
        """Kill every kernel, and those that are about to start."""
        with self._lock:
            self._stopped = True
            for process in self._started:
                process.kill()  # does nothing to one that has ended

    def execute(self, job: Job, edition: Path, cached: Path) -> None:
        """Execute a notebook of an edition, and move what it gave to its place in one step."""
        _execute(job, edition, cached, self)

    def _add(self, process) -> None:
        with self._lock:
            self._started.append(process)
            if self._stopped:
                process.kill()

    def manager(self, folder: Path) -> type:
        """Class of a kernel manager that starts its kernel here, alike on every machine.

        Parameters
        ----------
        folder : Path
            IPython's folder, in place of the user's: what users have a kernel do at its start would change what a
            notebook gives. The connection file lies beside it.
        """
        from sense7.book.kernel_provisioner import kernel_manager

        config = {
            "environment": without_keys() | FIXED | {"IPYTHONDIR": str(folder)},
            "fork": functools.partial(self._nursery.fork, data=self.data) if self._nursery else None,
            "fell_back": self._fell_back,
            "started": self._add,
        }
        return kernel_manager(folder.with_name(f"{folder.name}.json"), config)


def _place(job: Job, cache: Path) -> Path:
    return cache / f"{job.notebook.name}-{job.digest[:_DIGEST]}"


def obtain(job: Job, edition: Path, cache: Path, kernels: Kernels) -> bool:
    """Copy a finished notebook from the cache, after executing it if it is not there.

    Parameters
    ----------
    job : Job
        The notebook; the values that it needs of others lie in the edition already.
    edition, cache : Path
        As for :func:`run`; the edition's folders are there.
    kernels : Kernels
        Of the run.

    Returns
    -------
    bool
        Whether it had to be executed.
    """
    cached = _place(job, cache)
    fresh = not cached.exists()
    if fresh:
        kernels.execute(job, edition, cached)
    executed = (cached / "notebook.ipynb").read_text(encoding="utf-8")
    shown = executed if fresh else with_prose(executed, job.notebook)
    (edition / "notebooks" / f"{job.notebook.name}.ipynb").write_text(shown, encoding="utf-8")
    shutil.copyfile(cached / "values.json", edition / "results" / f"{job.notebook.name}.json")
    os.utime(cached)
    return fresh


def with_prose(executed: str, notebook: TextNotebook) -> str:
    """An executed notebook as it would be had it been executed with the prose that it has now.

    Parameters
    ----------
    executed : str
        In Jupyter's format, as :func:`executed_copy` gives it; of the same cells of code.
    notebook : TextNotebook
        As it stands now.
    """
    node = json.loads(executed)
    ran = iter([cell for cell in node["cells"] if cell["cell_type"] == "code"])
    injected = any("injected-parameters" in cell["metadata"].get("tags", ()) for cell in node["cells"])
    cells = []
    for cell in cells_of(notebook):
        if cell["cell_type"] == "code":
            cells.append(next(ran))
            if "parameters" in cell["metadata"].get("tags", ()) and injected:
                cells.append(next(ran))
        else:
            cells.append(cell | {"source": cell["source"].splitlines(keepends=True)})
    node["cells"] = cells
    return _in_order(node)


def stage(edition: Path, needs: Iterable[str], folder: Path) -> Path:
    """Lay out a folder in which one notebook runs, with nothing but what it declares: the data, and values it needs.

    Parameters
    ----------
    edition : Path
        Folder of an edition, finished or in the making.
    needs : iterable of str
        Notebooks whose recorded values are copied.
    folder : Path
        Folder to fill; made if need be.

    Returns
    -------
    Path
        Where the notebook runs. It records beside that, into ``results``.
    """
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


def _execute(job: Job, edition: Path, cached: Path, kernels: Kernels) -> None:
    """Execute a notebook in a folder of its own, and move what it gave to its place in one step."""
    name = job.notebook.name
    with tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{name}-", dir=cached.parent) as scratch:
        apart, finished = Path(scratch) / "apart", Path(scratch) / "finished"
        finished.mkdir()
        start = time.perf_counter()
        copy = executed_copy(job, stage(edition, job.notebook.needs, apart), Path(scratch), kernels)
        (finished / "notebook.ipynb").write_text(copy, encoding="utf-8")
        (finished / SECONDS).write_text(f"{time.perf_counter() - start:.2f}", encoding="utf-8")
        shutil.copyfile(require_values(job.notebook, apart / "results"), finished / "values.json")
        try:
            finished.replace(cached)
        except OSError:
            if not cached.exists():  # else another build was quicker with the same notebook
                raise


def execute_apart(job: Job, edition: Path, cached: Path) -> None:
    """Execute a notebook on a worker of a cluster: nothing is written but its place in the cache.

    A worker that dies leaves an edition as it is, so that another one can begin again.
    """
    if cached.exists():
        return
    kernels, done = Kernels(), threading.Event()
    kernels.data = _workbook({job.notebook.name: job}, edition)
    kernels._nursery = _kernels_of_worker()._nursery
    threading.Thread(target=_watch, args=(edition, kernels, done), daemon=True).start()
    try:
        _execute(job, edition, cached, kernels)
    finally:
        done.set()


@functools.cache
def _kernels_of_worker() -> Kernels:
    return Kernels(warm=True)


def _watch(edition: Path, kernels: Kernels, done: threading.Event) -> None:
    """Kill a task's kernel where the edition is gone: the build was interrupted and no longer waits."""
    while not done.wait(1):
        if not edition.exists():
            kernels.kill()
            return


def executed_copy(job: Job, folder: Path, scratch: Path, kernels: Kernels | None = None) -> str:
    """Execute a notebook as papermill does.

    Parameters
    ----------
    job : Job
        What is to run.
    folder : Path
        Where its kernel runs: relative paths among its parameters are meant from there.
    scratch : Path
        Folder for what is left behind.
    kernels : optional
        The kernels of a run of several; one that starts fresh if not given.

    Returns
    -------
    str
        The executed notebook in Jupyter's format; equal runs are equal.

    Raises
    ------
    BuildError
        Naming the notebook, the cell and the exception, if one fails.
    """
    from papermill.exceptions import PapermillExecutionError

    kernels = kernels or Kernels()
    source, done = scratch / "given.ipynb", scratch / "done.ipynb"
    source.write_text(
        skip_unfit(to_ipynb(job.notebook), {**job.notebook.defaults, **job.parameters}, folder), encoding="utf-8"
    )
    for attempt in range(STARTS):
        try:
            _papermill(job, source, done, folder, kernels, scratch / f"ipython {attempt}")
            break
        except PapermillExecutionError as error:
            raise BuildError(_failure(job.notebook, error)) from None
        except UserError:
            raise
        except Exception as error:
            # Kernels of other processes may have taken the same ports meanwhile: start again.
            if isinstance(error, RuntimeError) and attempt + 1 < STARTS and not kernels.stopped:
                continue
            problem = f"could not be executed ({type(error).__name__}: {error})"
            raise BuildError(f"{job.notebook.path}: {problem}.") from error
    return _tidy(done)


def require_values(notebook: TextNotebook, results: Path) -> Path:
    """Give the place of the values that a notebook recorded.

    Raises
    ------
    BuildError
        If it recorded none.
    """
    values = results / f"{notebook.name}.json"
    if not values.exists() or not json.loads(values.read_text(encoding="utf-8")):
        raise BuildError(
            f"{notebook.path}: records no value under its own name. "
            f'Make a s7.Recorder("{notebook.name}", results) in it, and record one.'
        )
    return values


def _papermill(job: Job, source: Path, done: Path, folder: Path, kernels: Kernels, ipython: Path) -> None:
    import papermill
    from jupyter_core.utils import ensure_event_loop

    try:
        papermill.execute_notebook(
            source,
            done,
            parameters=job.parameters,
            kernel_name="python3",
            # Not cwd=: papermill would change the folder of this whole process, in every thread at once.
            resources={"metadata": {"path": str(folder)}},
            kernel_manager_class=kernels.manager(ipython),
            progress_bar=False,
            # Else all of it is written again before and after every cell, and nobody looks.
            request_save_on_cell_execute=False,
            # All that it gave is here by then. A kernel that is asked to end takes a while.
            shutdown_kernel="immediate",
            # Notices about unencrypted loopback ports say nothing about the notebook.
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
    finally:
        ensure_event_loop().close()  # nbclient makes one for every thread, and leaves it open


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
    return _in_order(node)


def _in_order(node: dict) -> str:
    """A notebook as text, its cells numbered and bare of all metadata but tags."""
    for number, cell in enumerate(node["cells"], 1):
        cell["id"] = f"cell-{number:02d}"
        tags = cell["metadata"].get("tags", [])
        cell["metadata"] = {"tags": tags} if tags else {}
    return ipynb_text(node)
