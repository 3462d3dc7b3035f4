"""The verbs for more than one edition or one machine; see :mod:`sense7.cli` for exit codes and messages."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.errors import UserError
from sense7.terminal import count_of, plain_lines

__all__ = ["partition", "statistics", "sweep"]

_Jobs = Annotated[int | None, typer.Option(min=1, help="Tasks at once.")]
_Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, whose workers do it.")]
_Quiet = Annotated[bool, typer.Option(help="Print the result only.")]


def sweep(
    notebook: Annotated[str, typer.Argument(help="Number or name of a notebook, such as 03; or all.")],
    out: Annotated[Path, typer.Option(metavar="TABLE.csv", help="Table to write.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=V1,V2", help="Values of a parameter; may be repeated."),
    ] = None,
    grid: Annotated[Path | None, typer.Option(metavar="FILE.yml", help="The same as a file.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="A workbook, or a data set's name; may be repeated.")] = None,
    jobs: _Jobs = None,
    scheduler: _Scheduler = None,
    quiet: _Quiet = False,
) -> None:
    """Execute notebooks over a grid of parameters and data sets and tabulate their values; exit code 1 if any fails."""
    from sense7.cli_more import progress_bar
    from sense7.pipeline.build import find_checkout
    from sense7.pipeline.scheduler import connect
    from sense7.pipeline.sweep import read_grid
    from sense7.pipeline.sweep import sweep as run_sweep

    root = find_checkout()
    points = read_grid(grid, parameter or [])
    with connect(scheduler, jobs, shared=root) as where, progress_bar(quiet) as (say, progress):
        failures = run_sweep(
            root, notebook, points, data or ["synthetic"], out, where=where, say=say, progress=progress
        )
    for failure in failures:
        print(plain_lines(f"sense7: {failure}"), file=sys.stderr)
    print(out)
    if failures:
        raise typer.Exit(1)


def partition(
    data: Annotated[str, typer.Argument(help="A workbook, or the name of a data set.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; absent or empty.")],
    parts: Annotated[int, typer.Option(min=1, help="Number of parts.")] = 8,
    form: Annotated[str, typer.Option("--format", help="parquet, or csv.")] = "parquet",
) -> None:
    """Write a data set in parts by participant, each a folder of tables."""
    from sense7.loading import load
    from sense7.workbook.partitions import FORMATS, write_partitions

    if form not in FORMATS:
        raise UserError(f"--format {form}: give {' or '.join(FORMATS)}.")
    print(f"{count_of(len(write_partitions(load(data), out, parts, form=form)), 'part')}\n{out}")


def statistics(
    folder: Annotated[Path, typer.Argument(help="Data set in parts, as `sense7 partition` writes it.")],
    out: Annotated[Path, typer.Option(metavar="TABLE.csv", help="Table to write.")],
    predictions: Annotated[Path | None, typer.Option(help="A file of a judge's predictions, for the accuracy.")] = None,
    draws: Annotated[int, typer.Option(min=100, help="Resamplings of participants.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random step.")] = 1,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    jobs: _Jobs = None,
    scheduler: _Scheduler = None,
) -> None:
    """Compute the main statistics of a data set in parts, one part at a time and process."""
    import pandas as pd

    from sense7.files import write_whole
    from sense7.judge.predictions import counted_scores, read_predictions
    from sense7.pipeline.parts import statistics_of_parts
    from sense7.pipeline.scheduler import connect

    scores = None
    if predictions is not None:
        frame = read_predictions(predictions).frame
        scores = pd.Series(counted_scores(frame), index=frame["conversation"])
    options = {"draws": draws, "seed": seed, "confidence": confidence}
    with connect(scheduler, jobs) as where:
        table = statistics_of_parts(folder, scores, apply=where.map, **options)
    write_whole(out, table.to_csv())
    print(out)
