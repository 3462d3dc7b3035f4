"""The verbs `run`, `template`, `site` and `verify`; see :mod:`sense7.cli` for exit codes and messages."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.errors import UserError
from sense7.files import parse_yaml
from sense7.terminal import plain_lines

__all__ = ["assignments", "progress_bar", "run", "site", "template", "verify"]


def run(
    notebook: Annotated[str, typer.Argument(help="Number or name of a notebook, such as 03; or a path.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A notebook parameter; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.ipynb", help="Where the copy is to be; NAME.executed.ipynb here.")
    ] = None,
) -> None:
    """Execute a copy of one notebook with parameters of your own; the values lie beside it."""
    from sense7.pipeline.build import find_checkout
    from sense7.pipeline.execute import BuildError
    from sense7.pipeline.rerun import rerun

    try:
        done = rerun(find_checkout(), notebook, assignments(parameter or []), out=out)
    except BuildError as error:
        print(plain_lines(f"sense7: {error}"), file=sys.stderr)
        raise typer.Exit(1) from None
    print(f"{done.results}\n{done.notebook}")


def template(
    out: Annotated[Path, typer.Argument(metavar="OUT.xlsx", help="Workbook to write.")],
    force: Annotated[bool, typer.Option(help="Write over a file that is there.")] = False,
) -> None:
    """Write an empty workbook of the format: every column explained, answers to choose from."""
    from sense7.workbook.template import write_template

    print(write_template(out, replace=force))


def site(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; absent or empty.")],
    editions: Annotated[list[str], typer.Argument(metavar="EDITION...", help="Names of finished editions.")],
) -> None:
    """Put editions together to a folder for a web server; pages lead from one edition to another."""
    from sense7.pipeline.build import edition_folder, find_checkout
    from sense7.pipeline.editions import write_site

    print(write_site(edition_folder(find_checkout(), "synthetic").parent, editions, out))


def verify(
    edition: Annotated[str, typer.Argument(help="Name of an edition, or its folder.")] = "synthetic",
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks that run at once.")] = None,
    quiet: Annotated[bool, typer.Option(help="Print the result only.")] = False,
) -> None:
    """Recompute an edition from its own data in a temporary place, and compare; exit code 1 if anything differs."""
    from sense7.pipeline.build import find_checkout
    from sense7.pipeline.execute import BuildError
    from sense7.pipeline.verify import verify_edition

    try:
        with progress_bar(quiet) as (say, progress):
            found = verify_edition(find_checkout(), edition, workers=jobs, say=say, progress=progress)
    except BuildError as error:
        print(plain_lines(f"sense7: {error}"), file=sys.stderr)
        raise typer.Exit(1) from None
    for note in found.notes:
        print(plain_lines(f"sense7: {note}"), file=sys.stderr)
    _print_comparison(found)
    if found.differences:
        raise typer.Exit(1)


def _print_comparison(found) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sense7.pipeline.verify import DIFFERENT, EQUAL, NEAR, TOLERANCE

    # In a file or a pipe nothing is to be cut off, whatever the width of the terminal.
    console = Console(width=None if sys.stdout.isatty() else 160)
    heads = ("What", "Compared", EQUAL, f"{NEAR} of {TOLERANCE:g}", DIFFERENT)
    table = Table(title=Text(plain_lines(f"{found.folder}: {found.label}")), title_justify="left")
    for head in heads:
        table.add_column(head, justify="left" if head == "What" else "right")
    for kind, counts in found.counts.items():
        table.add_row(
            kind, *(f"{number:,}" for number in (counts.total(), counts[EQUAL], counts[NEAR], counts[DIFFERENT]))
        )
    console.print(table)
    if found.differences:
        table = Table(title=Text("Shown otherwise than recomputed"), title_justify="left", show_lines=True)
        for head in ("What", "Where", "Which", "Shown", "Recomputed"):
            table.add_column(head, overflow="fold")
        for difference in found.differences:
            parts = (difference.kind, difference.where, difference.what, difference.shown, difference.recomputed)
            table.add_row(*(Text(plain_lines(part)) for part in parts))
        console.print(table)
    total = sum(counts.total() for counts in found.counts.values())
    differing = len(found.differences)
    print(f"{differing:,} of {total:,} differ" if differing else f"verified: all {total:,} agree")


def assignments(items: list[str]) -> dict:
    """NAME=VALUE with the value as YAML reads it: 5 is a number, "5" a text, [1, 2] a list."""
    given = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise UserError(f"{item!r}: expected NAME=VALUE, e.g. draws=2000.")
        try:
            given[name.strip()] = parse_yaml(text) if text.strip() else ""
        except ValueError:
            given[name.strip()] = text
    return given


class progress_bar:
    """Lines and, on a terminal, a bar on standard error; nothing if quiet."""

    def __init__(self, quiet: bool):
        self.quiet = quiet

    def __enter__(self):
        if self.quiet:
            return (lambda line: None), (lambda done, total, name: None)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True, highlight=False)
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.bar.start()
        task = self.bar.add_task("notebooks", total=None)

        def say(line: str) -> None:
            console.print(plain_lines(f"  {line}"), markup=False)

        def progress(done: int, total: int, name: str) -> None:
            self.bar.update(task, completed=done, total=total)

        return say, progress

    def __exit__(self, *exception) -> None:
        if not self.quiet:
            self.bar.stop()
