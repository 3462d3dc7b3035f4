"""Sweeps: notebooks over a grid of parameters and data sets, and a table of all that they recorded.

Every point of the grid is executed as an edition is, with a cache of its own: a sweep that was killed goes on where it
was when it is given again.
"""

import csv
import io
import itertools
import json
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path

from sense7 import sources
from sense7.book import execute
from sense7.book.execute import SCRATCH, BuildError
from sense7.book.notebooks import find_notebooks
from sense7.book.plan import Job, plan_jobs
from sense7.book.replacing import under_way
from sense7.book.rerun import select_notebook
from sense7.book.scheduler import ThisMachine
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.files import not_written, parse_yaml, reading, write_whole
from sense7.loading import load
from sense7.workbook import ReadingOptions

__all__ = ["read_grid", "sweep"]

VALUE = ("notebook", "key", "estimate", "low", "high", "n", "unit", "method", "reason")
RESERVED = ("results", "predictions")


def read_grid(path: Path | None, assigned: Sequence[str] = ()) -> list[dict]:
    """Read the points of a grid: every combination of the values given for each parameter.

    Parameters
    ----------
    path : path, optional
        A YAML file: name -> list of values; or a list of points, each name -> value, which are taken as they stand.
    assigned : sequence of str
        ``NAME=V1,V2``, with values as YAML reads them; these are combined with those of the file.

    Returns
    -------
    list of dict
        At least one; without anything given it is the point of all defaults.

    Raises
    ------
    UserError
        If the file or an assignment can't be read.

    Examples
    --------
    >>> read_grid(None, ["draws=100,200", "seed=1"])
    [{'draws': 100, 'seed': 1}, {'draws': 200, 'seed': 1}]
    """
    points = [{}] if path is None else _from_file(path)
    for item in assigned:
        name, equals, text = item.partition("=")
        try:
            values = parse_yaml(f"[{text}]") if equals and name.strip() else []
        except ValueError:
            values = []
        if not values:
            raise UserError(f"{item!r}: expected NAME=VALUE,VALUE, e.g. draws=1000,2000.")
        points = [point | {name.strip(): value} for point in points for value in values]
    return points


def _from_file(path: Path) -> list[dict]:
    with reading(path) as stream:
        content = stream.read()
    try:
        grid = parse_yaml(content.decode("utf-8-sig"))
    except ValueError as error:  # UnicodeDecodeError is one
        raise UserError(f"{path}: can't be read ({error}). Write YAML in UTF-8.") from None
    if isinstance(grid, list) and grid and all(isinstance(point, dict) for point in grid):
        return grid
    if isinstance(grid, dict) and grid:
        lists = [values if isinstance(values, list) else [values] for values in grid.values()]
        if all(lists):
            return [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
    raise UserError(
        f"{path}: no grid. Write a line NAME: [VALUE, VALUE] for each parameter, or a list of points NAME: VALUE."
    )


def sweep(
    project: Project,
    notebook: str,
    points: Sequence[Mapping],
    data: Sequence[str],
    out: Path,
    *,
    where: ThisMachine,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> list[str]:
    """Execute a notebook, or all, at every point of a grid, and write what was recorded as a table.

    Parameters
    ----------
    project : Project
        Whose notebooks are executed, and where ``_build`` keeps what was executed.
    notebook : str
        Number or name of a notebook, or ``all``. What it needs of others is executed too, and not tabulated.
    points : sequence of mapping
        Values of parameters, see :func:`read_grid`; ``data`` may be one of them.
    data : sequence of str
        Data sets at which each point without one of its own is taken.
    out : Path
        The CSV file: the data set and the parameters of the point, then the recorded value, or why there is none.
    where : ThisMachine or Cluster
        Where notebooks are executed; see :func:`sense7.book.scheduler.connect`.
    say, progress : callable
        As for :func:`sense7.book.build.build_edition`.

    Returns
    -------
    list of str
        A line for each point that failed.

    Raises
    ------
    UserError
        If a data set, a parameter or the table's place is unfit; nothing was executed then.
    """
    chosen = None if notebook == "all" else select_notebook(notebook, find_notebooks(project.sources)).name
    places = project.place / "_build" / "sweeps"
    points = [{"data": name, **point} for point in points for name in ([point["data"]] if "data" in point else data)]
    if not points:
        raise UserError("no data set to sweep over. Give one: --data NAME")
    names = list(dict.fromkeys(name for point in points for name in point))
    if clash := sorted({*names} & {*RESERVED, *VALUE, "status"}):
        raise UserError(f"{', '.join(clash)}: can't be swept over; that is set by the sweep itself, or is its column.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(not_written(out, error)) from None
    if out.is_dir():
        raise UserError(f"{out}: this is a folder. Give the name of the table, such as sweep.csv.")
    planned = [_planned(project.sources, point, chosen) for point in points]
    failures, rows = [], {}
    progress(0, len(points), "")
    with under_way(places, places / "cache", kept=None):
        for number, result in _executed(points, planned, chosen, places, where, say):
            words = ", ".join(f"{name}={value}" for name, value in points[number].items())
            failed = isinstance(result, BuildError)
            rows[number] = [{"status": f"failed: {result}"}] if failed else result
            failures += [f"{words}: {result}"] if failed else []
            say(f"{words}: {'failed' if failed else 'done'}")
            progress(len(rows), len(points), words)
    _write(out, names, [(point, rows[number]) for number, point in enumerate(points)])
    return failures


def _executed(
    points: Sequence[Mapping], planned: Sequence[Mapping[str, Job]], chosen: str | None, places: Path, where, say
) -> Iterator[tuple[int, list[dict] | BuildError]]:
    """Execute all points, several at once: the number of each as it is done, and its values or why it failed."""
    once = defaultdict(threading.Lock)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=places) as scratch:
        copies = _copies(points, Path(scratch))
        kernels = where.kernels(say, warm=len(planned) > 1)

        def take(number: int) -> list[dict]:
            edition = Path(scratch) / str(number)
            for folder in ("notebooks", "results"):
                (edition / folder).mkdir(parents=True)
            (edition / "data").symlink_to(copies[points[number]["data"]])
            for job in planned[number].values():
                with once[job.digest]:  # what several points need is executed once
                    execute.obtain(job, edition, places / "cache", kernels)
            values = _values(edition / "results", planned[number], chosen)
            shutil.rmtree(edition)
            return values

        with kernels.threads(where.notebooks) as pool:
            running = {pool.submit(take, number): number for number in range(len(points))}
            for future in as_completed(running):
                try:
                    yield running[future], future.result()
                except BuildError as error:
                    yield running[future], error


def _planned(root: Path, point: Mapping, chosen: str | None) -> dict[str, Job]:
    """The jobs of a point, each after those it needs, once its data set is seen to be fit."""
    data = str(point["data"])
    path, provenance = sources.resolve(data)
    load(data, prompted_condition=point.get("prompted_condition"))
    parameters = dict(point) | {"data": f"../data/{provenance.file}", "results": "../results"}
    jobs = plan_jobs(root, parameters, ReadingOptions.beside(path).digest(provenance.sha256), [])
    if chosen is None:
        return jobs
    needed = {chosen}
    for name in reversed(jobs):
        if name in needed:
            needed.update(jobs[name].notebook.needs)
    return {name: job for name, job in jobs.items() if name in needed}


def _copies(points: Sequence[Mapping], folder: Path) -> dict[str, Path]:
    """Copy each data set, so that what becomes of the file meanwhile changes nothing: name -> folder of the copy."""
    copies = {}
    for number, name in enumerate(dict.fromkeys(point["data"] for point in points)):
        copies[name] = folder / f"data {number}"
        path, provenance = sources.resolve(str(name))
        sources.copy_for_edition(path, provenance, copies[name])
    return copies


def _values(results: Path, jobs: Mapping[str, Job], chosen: str | None) -> list[dict]:
    names = list(jobs) if chosen is None else [chosen]
    return [value for name in names for value in json.loads((results / f"{name}.json").read_text(encoding="utf-8"))]


def _write(out: Path, names: Sequence[str], rows: Sequence[tuple[Mapping, list[dict]]]) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, [*names, *VALUE, "status"], extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    for point, values in rows:
        table.writerows({"status": "ok", **value, **point} for value in values)
    try:
        write_whole(out, text.getvalue())
    except OSError as error:
        raise UserError(not_written(out, error)) from None
