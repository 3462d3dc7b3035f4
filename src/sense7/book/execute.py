"""Execution of notebooks: by papermill, side by side, and only where something changed.

The digest of all that a notebook's result depends on (:mod:`sense7.book.jobs`) is the name of its place in the cache,
which several editions share. A finished notebook is moved there in one step, so that an interrupted build loses none.
Prose is no part of the digest: what was executed gets the prose that the notebook has now.

Papermill runs in threads of this process: its kernels end by themselves when that is gone.
"""

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from sense7 import paper
from sense7.book.editions import source_of
from sense7.book.jobs import Job, Jobs, in_order
from sense7.book.notebooks import (
    TextNotebook,
    find_notebooks,
    ipynb_text,
    plain_outputs,
    refuse_edited,
    skip_unfit,
    to_ipynb,
)
from sense7.errors import BuildError, UserError
from sense7.files import (
    WRITTEN,
    digest_of_file,
    not_written,
    note_as_written,
    one_line,
    replacing_folder,
    require_as_written,
    scratch_folder,
    unused_path,
    write_whole,
)
from sense7.processes import FIXED, KILLED, NO_MEMORY, without_keys
from sense7.record import EXECUTED_BY
from sense7.terminal import did_you_mean, silent

STARTS = 3
"""How often a kernel that does not come up is started."""

FORKS = sys.platform == "linux"
"""Whether this system forks safely; macOS does not, once its libraries run."""

STATISTICS = ("scipy.stats", "seaborn", "sklearn", "statsmodels.api")
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

    workers = (
        os.cpu_count() or 1
    ) + 1  # one that starts or ends is waited for, which leaves its processor to another

    def __init__(self, jobs: Jobs, cache: Path, say: Callable = silent):
        self.stopped, self._say, self._started, self._lock = False, say, [], threading.Lock()
        waiting = [job for job in jobs.values() if not _place(job, cache).exists()]
        self.fork = FORKS and bool(waiting)
        if self.fork:
            from sense7.book import kernels

            inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
            try:
                modules = set(STATISTICS if len(waiting) > 1 else ())
                modules = modules.union(*(job.modules for job in waiting))
                kernels.start_fork_server(modules, without_keys() | ENVIRONMENT | inline)
            except (
                OSError,
                AttributeError,
                TypeError,
            ) as error:  # the last two: another Python's fork server
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
            apart, finished = scratch / "apart", scratch / "finished"
            finished.mkdir()
            failed = cached.parent.with_name("failed") / f"{name}.ipynb"
            copy = self.executed_copy(
                job, stage(edition, job.notebook.needs, apart), scratch, failed
            )
            (finished / "notebook.ipynb").write_text(copy, encoding="utf-8")
            shutil.copyfile(apart / "results" / f"{name}.json", finished / "values.json")
            finished.replace(cached)
            failed.unlink(missing_ok=True)

    def executed_copy(self, job: Job, folder: Path, scratch: Path, failed: Path) -> str:
        """Execute a notebook as papermill does, its kernel in ``folder``; equal runs give equal texts.

        Where a cell fails, papermill's copy, which marks the cell, is kept as ``failed``. Values have to be recorded.
        """
        import papermill
        from jupyter_core.utils import ensure_event_loop
        from nbclient.exceptions import DeadKernelError

        from sense7.book.kernels import kernel_manager, require_loopback

        require_loopback()
        logging.getLogger("papermill").addHandler(
            logging.NullHandler()
        )  # what it has to say is in its exceptions
        notebook, source, done = job.notebook, scratch / "given.ipynb", scratch / "done.ipynb"
        given = notebook.defaults | job.parameters
        source.write_text(skip_unfit(to_ipynb(notebook), given, folder), encoding="utf-8")
        for attempt in range(1, STARTS + 1):
            # IPython's folder in place of the user's: what users have a kernel do at its start changes what it gives.
            environment = (
                without_keys() | ENVIRONMENT | {"IPYTHONDIR": str(scratch / f"ipython {attempt}")}
            )
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
                    kernel_manager_class=kernel_manager(
                        scratch / f"{attempt}.json", environment, fork, started
                    ),
                    progress_bar=False,
                    # Else all of it is written again before and after every cell, and nobody looks.
                    request_save_on_cell_execute=False,
                    # All that it gave is here by then. A kernel that is asked to end takes a while.
                    shutdown_kernel="immediate",
                    # Notices about unencrypted loopback ports say nothing about the notebook.
                    extra_arguments=["--IPKernelApp.log_level=50"],
                )
                break
            except papermill.exceptions.PapermillExecutionError as error:
                with contextlib.suppress(OSError):
                    failed.parent.mkdir(exist_ok=True)
                    shutil.copyfile(done, failed)
                first = next(iter(error.source.strip().splitlines()), "")
                plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
                inside = re.findall(r"^File \S*?(sense7/\S+?\.py):(\d+), in ", plain, re.MULTILINE)
                deepest = " ({}, line {})".format(*inside[-1]) if inside else ""
                raise BuildError(
                    f"{notebook.path}: code cell {error.exec_count}, which begins with {first!r}, "
                    f"raised {error.ename}: {error.evalue}{deepest}. Where it stopped: {failed}"
                ) from None
            except Exception as error:
                # A forked kernel did not come up; or processes may have taken the same ports meanwhile: start again.
                retry = (fork or isinstance(error, RuntimeError)) and not isinstance(
                    error, DeadKernelError
                )
                if not retry or attempt == STARTS or self.stopped:
                    problem = f"could not be executed ({type(error).__name__}: {one_line(error)})"
                    if processes and processes[-1].poll() == KILLED and not self.stopped:
                        problem = f"its kernel was killed. {NO_MEMORY}"
                    raise BuildError(f"{notebook.path}: {problem.rstrip('.')}.") from error
                if fork:
                    self.fall_back(error)
            finally:
                ensure_event_loop().close()  # nbclient makes one for every thread, and leaves it open
        values = folder / given.get("results", "") / f"{notebook.name}.json"
        if not values.exists() or not json.loads(values.read_text(encoding="utf-8")):
            raise BuildError(
                f"{notebook.path}: records no value under its own name. "
                f'Make a s7.Recorder("{notebook.name}", results) in it, and record one.'
            )
        node = json.loads(done.read_text(encoding="utf-8"))
        # Without times and random ids, so that equal runs are equal.
        node["metadata"]["papermill"] = {"parameters": node["metadata"]["papermill"]["parameters"]}
        node["metadata"]["language_info"] = {"name": "python"}
        return _in_order(node)


def run(
    jobs: Jobs,
    edition: Path,
    cache: Path,
    *,
    workers: int | None = None,
    say: Callable = silent,
    kernels=None,
) -> list[str]:
    """Bring every notebook's result into ``edition``, each after those that it needs; return those executed.

    What failed is said at once. It is raised when those that run beside it are finished, and kept; an interrupt kills
    what runs. ``kernels`` may be a cluster (:mod:`sense7.book.scheduler`).
    """
    for folder in (edition / "notebooks", edition / "results", cache):
        folder.mkdir(parents=True, exist_ok=True)
    kernels = kernels or Kernels(jobs, cache, say)
    needed = {name for job in jobs.values() for name in job.notebook.needs}
    order = TopologicalSorter({name: job.notebook.needs for name, job in jobs.items()})
    order.prepare()
    executed, done, failure, running, begun = [], 0, None, {}, time.monotonic()
    with ThreadPoolExecutor(min(workers or kernels.workers, len(jobs))) as pool:
        try:
            while order.is_active() and (running or not failure):
                # First those that others wait for.
                ready = () if failure else order.get_ready()
                for name in sorted(ready, key=lambda name: (name not in needed, name)):
                    running[pool.submit(_obtain, jobs[name], edition, cache, kernels)] = name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name, number = running.pop(future), f"{done + 1} of {len(jobs)}"
                    try:
                        fresh = future.result()
                    except BuildError as error:
                        failure = failure or error
                        say(f"{name} failed ({number}): {error}")
                        continue
                    done += 1
                    order.done(name)
                    executed += [name] if fresh else []
                    seconds = (time.monotonic() - begun) / done * (len(jobs) - done)
                    left = f", about {seconds:.0f} s left" if fresh and done < len(jobs) else ""
                    say(f"{name}: {'executed' if fresh else 'unchanged'} ({number}{left})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            kernels.kill()
    if failure:
        raise failure
    return executed


def _place(job: Job, cache: Path) -> Path:
    return cache / f"{job.notebook.name}-{job.digest[:24]}"


def _obtain(job: Job, edition: Path, cache: Path, kernels) -> bool:
    """Copy a finished notebook from the cache, after executing it if it is not there; whether it was not."""
    cached = _place(job, cache)
    fresh = not cached.exists()
    if fresh:
        kernels.execute(job, edition, cached)
    shown = (cached / "notebook.ipynb").read_text(encoding="utf-8")
    shown = shown if fresh else with_prose(shown, job.notebook)
    (edition / "notebooks" / f"{job.notebook.name}.ipynb").write_text(shown, encoding="utf-8")
    shutil.copyfile(cached / "values.json", edition / "results" / f"{job.notebook.name}.json")
    os.utime(cached)
    return fresh


def with_prose(executed: str, notebook: TextNotebook) -> str:
    """An executed notebook as it would be had it been executed with the prose that it has now."""
    node = json.loads(executed)
    ran = iter([cell for cell in node["cells"] if cell["cell_type"] == "code"])
    injected = any(
        "injected-parameters" in cell["metadata"].get("tags", ()) for cell in node["cells"]
    )
    cells = []
    for cell in json.loads(to_ipynb(notebook))["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell | {"source": cell["source"].splitlines(keepends=True)})
            continue
        cells.append(next(ran))
        if "parameters" in cell["metadata"].get("tags", ()) and injected:
            cells.append(next(ran))
    return _in_order(node | {"cells": cells})


def _in_order(node: dict) -> str:
    """A notebook as text, its cells numbered and bare of all metadata but tags."""
    for number, cell in enumerate(node["cells"], 1):
        cell["id"] = f"cell-{number:02d}"
        cell["metadata"] = {
            name: tags for name, tags in cell["metadata"].items() if name == "tags" and tags
        }
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


# --- one notebook, run again with other parameters ---------------------------------------


class Rerun(NamedTuple):
    """A notebook that was run again: its name, what its data are, the executed copy, the folder of the values."""

    name: str
    label: str
    notebook: Path
    results: Path


def select_notebook(text: str, notebooks: Sequence[TextNotebook]) -> TextNotebook:
    """The notebook that a user names: by number ("3"), name ("03-reliability", "reliability") or path."""
    known: dict[str, TextNotebook] = {}
    for notebook in notebooks:
        number, _, title = notebook.name.partition("-")
        known |= dict.fromkeys((notebook.name, title, number, number.lstrip("0") or "0"), notebook)
    name = Path(text).name.removesuffix(".md").removesuffix(".ipynb")
    if name not in known:
        names = ", ".join(notebook.name for notebook in notebooks)
        hint = did_you_mean(
            text, [name for name in known if not name.isdecimal()], "Check the name."
        )
        raise UserError(f"{text}: not a notebook of this book ({names}). {hint}")
    return known[name]


def _require_unedited(out: Path, results: Path) -> None:
    """Refuse to replace an executed copy, or values, that are not as a run wrote them."""
    files = [out]
    if results.is_dir() and not results.is_symlink():
        files += sorted(path for path in results.iterdir() if path.name != WRITTEN)
    else:
        files.append(results)  # a file or link of this name is not ours
    require_as_written(files, results)


def _shown_anywhere(executed: str) -> str:
    """An executed notebook with the outputs of any kernel, in the place of those of a page."""
    node = json.loads(executed)
    for cell in node["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = plain_outputs(cell["outputs"])
    return ipynb_text(node)


def rerun(
    root: Path, notebook: str, parameters: Mapping | None = None, *, out: str | Path | None = None
) -> Rerun:
    """Execute a copy of one notebook with given parameters, after those whose values it reads, with the same.

    The copy is ``out``, or NAME.executed.ipynb in the working directory; its values lie beside it in STEM.results. Both
    are moved there when all is done: after an error nothing has changed but for papermill's copy of
    what failed, which gets a name of its own. A copy that was edited, and a folder that holds
    anything else, are kept, and refused.
    """
    known = find_notebooks(root)
    chosen = select_notebook(notebook, known)
    given = dict(parameters or {})
    if "results" in given:
        raise UserError(
            "results: the values lie beside the copy. Choose its place by --out FILE.ipynb."
        )
    out = (
        Path(out).expanduser().absolute()
        if out is not None
        else Path.cwd() / f"{chosen.name}.executed.ipynb"
    )
    if out.suffix != ".ipynb":
        raise UserError(f"{out}: the executed copy is a notebook. Give a name that ends in .ipynb.")
    results = out.with_name(f"{out.stem}.results")
    failed = unused_path(out.with_name(f"{out.stem}.failed.ipynb"))
    _require_unedited(out, results)
    by_name, names = {one.name: one for one in known}, [chosen.name]
    for name in names:  # which grows
        names += [other for other in by_name[name].needs if other not in names]
    needed = [by_name[name] for name in names]
    refuse_edited([one.path for one in needed])
    ordered = in_order(needed, given)
    data = given.get("data", chosen.defaults.get("data", paper.DATA_SETS[0]))
    own, origin = {"results": results.name}, None
    if given.keys() & {"data", "prompted_condition"}:  # refused before it runs
        origin = paper.open_study(data, given).provenance
        own["data"] = source_of(data, paper.resolve(data)[0])
    if predictions := given.get("predictions"):
        folder = Path(predictions).expanduser()
        if not folder.is_dir():
            raise UserError(
                f"{predictions}: no folder of predictions. Give the one that `sense7 judge run` wrote."
            )
        own["predictions"] = str(folder.resolve())
    kernels = Kernels({}, out)
    try:
        with replacing_folder(results, check=partial(_require_unedited, out)) as making:
            # The copy runs where it will lie, so that what it is given is true of its place.
            scratch = making.parent
            for one, settings in ordered:
                (left := scratch / f"{one.name}.left").mkdir()
                settings |= {key: value for key, value in own.items() if key in one.defaults}
                executed = kernels.executed_copy(Job(one, settings), scratch, left, failed)
            executed = _shown_anywhere(executed)
            values = [path for path in making.iterdir() if path.is_file()]
            written = {path.name: digest_of_file(path) for path in values}
            written[f"../{out.name}"] = hashlib.sha256(executed.encode()).hexdigest()
            note_as_written(making, written)
            _require_unedited(out, results)
            if results.exists():
                # So that the copy counts as written also if the process is killed before the values.
                note_as_written(results, written)
            write_whole(out, executed, replace=out.exists())
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from None
    label = ""
    if "data" in chosen.defaults:
        label = (origin or paper.resolve(data)[1]).label
    return Rerun(chosen.name, label, out, results)
