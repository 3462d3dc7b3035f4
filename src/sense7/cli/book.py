"""The verbs about books: build one or many notebooks of it, read its ledger, verify it, put editions together."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sense7 import __version__
from sense7.cli.common import (
    AllowUnreadable,
    DataOption,
    Missing,
    Parameters,
    Prompted,
    Quiet,
    SameData,
    Scale,
    Words,
    assignments,
    complain,
    fail,
    one_data,
    progress_bar,
    require_book,
)
from sense7.errors import UserError
from sense7.terminal import plain_lines

__all__ = ["build", "ledger", "notebooks", "run", "site", "verify"]


def build(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A workbook, or the name of a data set; synthetic if not given.")
    ] = "",
    data_option: SameData = None,
    name: Annotated[str | None, typer.Option(help="Name of the edition.")] = None,
    predictions: Annotated[
        str | None, typer.Option(help="Folder of a judge's predictions; predictions_NAME if that is there.")
    ] = None,
    parameter: Parameters = None,
    prompted: Prompted = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks that run at once.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, whose workers execute the notebooks.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Count the reader's warnings as errors.")] = False,
    scale: Scale = None,
    words: Words = None,
    allow_unreadable: AllowUnreadable = False,
    missing: Missing = None,
    quiet: Quiet = False,
) -> None:
    """Build the book of a workbook; the last line is the path of its front page."""
    require_book("Building a book")
    from sense7.book.build import build_edition, lines_of
    from sense7.book.manifest import installed_otherwise
    from sense7.book.plan import BuildError
    from sense7.checkout import find_project
    from sense7.workbook.options import ReadingOptions

    project = find_project()
    for line in installed_otherwise(project.sources):
        print(line, file=sys.stderr)
    given = assignments(parameter or []) | ({"prompted_condition": prompted} if prompted else {})
    try:
        with progress_bar(quiet) as (say, progress):
            if not project.is_checkout:
                say(f"no checkout here: sense7 {__version__} as installed; written to {project.place / '_build'}")
            finished, _, changed = build_edition(
                one_data(data, data_option, "synthetic"),
                name=name,
                predictions=predictions,
                parameters=given,
                workers=jobs,
                scheduler=scheduler,
                strict=strict,
                options=ReadingOptions.of(scale, words, allow_unreadable, missing),
                say=say,
                progress=progress,
            )
            if not changed:
                say("nothing changed since this edition was built")
    except BuildError as error:
        fail(str(error), 1)
    for stream, text in lines_of(finished):
        print(text, file=getattr(sys, stream))


def ledger(
    edition: Annotated[
        str, typer.Argument(metavar="EDITION|KEY", help="Name of a built edition, or key of a recorded value.")
    ] = "synthetic",
    strict: Annotated[
        bool,
        typer.Option(help="Exit with 1 if the official workbook differs from a primary figure, or was not compared."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print every published claim beside what an edition computed; of a key, the function, file and line behind it."""
    from sense7.book.editions import edition_folder
    from sense7.book.ledger import read_ledger
    from sense7.checkout import find_project
    from sense7.claims import DIFFERS, PRIMARY, REPRODUCED

    place = find_project().place
    if source := None if edition_folder(place, edition).exists() else _source_of_key(place, edition):
        print(source)
        return
    rows, label = read_ledger(place, edition)
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _print_ledger(f"Ledger of the edition {edition}: {label}", [row for row in rows if not _of_another(row)])
        if others := [row for row in rows if _of_another(row)]:
            _print_ledger("Claims about other works, compared with the numbers that they released", others)
    # Other works are compared with their own numbers in every edition, which says nothing of SENSE-7.
    rows = [row for row in rows if not _of_another(row)]
    if strict and not any(row["verdict"] in {REPRODUCED, DIFFERS} for row in rows):
        fail(
            f"{edition}: nothing was compared with the paper, since these data are: {label}. Only the official "
            "workbook from the authors' repository is compared: sense7 fetch official, then sense7 build official",
            1,
        )
    differing = [row["id"] for row in rows if row["verdict"] == DIFFERS and row["published"]["grade"] in PRIMARY]
    if strict and differing:
        fail(f"{edition}: differs from a primary figure: {', '.join(differing)}", 1)


def _source_of_key(place: Path, key: str):
    """Where a value that some built edition records is computed; None if none records it."""
    from sense7.book.editions import edition_folder
    from sense7.book.ledger import source_of
    from sense7.record import read_values

    for results in sorted(edition_folder(place, "synthetic").parent.glob("*/results")):
        if value := read_values(results).get(key):
            return source_of(results.parent / "notebooks" / f"{value['notebook']}.ipynb", value)
    return None


def _of_another(row: Mapping) -> bool:
    """Whether a row is about another work, compared with the numbers that this work released."""
    return bool(row["published"].get("release"))


def _print_ledger(title: str, rows: list[dict]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sense7.record import format_value

    table = Table(title=Text(plain_lines(title)), title_justify="left", show_lines=True)
    for head in ("Claim", "Grade", "Published", "This edition", "Claim's rule", "Check of the method"):
        table.add_column(head)
    for row in rows:
        claim, computed = row["published"], row["computed"]
        note = f"\nContradiction: {claim['contradiction']}" if claim["contradiction"] else ""
        cells = (
            f"{claim['title']}{note}",
            claim["grade"],
            claim["shown"],
            format_value(computed) if computed else "-",
            "\n".join(filter(None, (row["rule"]["mark"], row["rule"]["why"]))),
            row["check"]["mark"] + (" (tuned)" if row["tuned"] else "") if row["check"] else "-",
        )
        table.add_row(*(Text(plain_lines(cell)) for cell in cells))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)


def run(
    notebook: Annotated[str, typer.Argument(help="Number or name of a notebook, such as 03; or a path.")],
    data: DataOption = None,
    parameter: Parameters = None,
    prompted: Prompted = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.ipynb", help="Where the copy is to be; NAME.executed.ipynb here.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Execute a copy of one notebook with parameters of your own, and print what it recorded.

    The last two lines are the folder of the values and the executed copy.
    """
    from sense7.book.execute import rerun
    from sense7.book.plan import BuildError
    from sense7.checkout import find_project

    require_book("Running a notebook")
    parameters = assignments(parameter or [])
    for name, value in (("data", data), ("prompted_condition", prompted)):
        if value is not None and parameters.setdefault(name, value) != value:
            raise UserError(f"{name}: given twice, as {parameters[name]} and as {value}. Give one of them.")
    try:
        done = rerun(find_project().sources, notebook, parameters, out=out)
    except BuildError as error:
        fail(str(error), 1)
    if not quiet:
        _print_values(
            ": ".join(filter(None, (done.name, done.label))),
            json.loads((done.results / f"{done.name}.json").read_text(encoding="utf-8")),
        )
    print(f"{done.results}\n{done.notebook}")


def _print_values(title: str, values: list[dict]) -> None:
    """Print what a notebook recorded: value with its interval, n, or why there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sense7.record import format_value

    table = Table(title=Text(plain_lines(title)), title_justify="left")
    for head in ("Name", "Value", "n", "How it was computed"):
        table.add_column(head, justify="right" if head == "n" else "left", overflow="fold")
    for value in values:
        n = "" if value["n"] is None else f"{value['n']:,}"
        cells = (value["key"], format_value(value), n, value["method"] or value["reason"] or "")
        table.add_row(*(Text(plain_lines(cell)) for cell in cells))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def verify(
    edition: Annotated[str, typer.Argument(help="Name of an edition, or its folder.")] = "synthetic",
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks that run at once.")] = None,
    quiet: Quiet = False,
) -> None:
    """Recompute an edition from its own data in a temporary place, and compare; exit code 1 if anything differs."""
    from sense7.book.plan import BuildError
    from sense7.book.verify import verify_edition
    from sense7.checkout import find_project

    require_book("Verifying an edition")
    try:
        with progress_bar(quiet) as (say, progress):
            comparison = verify_edition(find_project(), edition, workers=jobs, say=say, progress=progress)
    except BuildError as error:
        fail(str(error), 1)
    for note in comparison.notes:
        complain(note)
    _print_comparison(comparison)
    if comparison.differences:
        raise typer.Exit(1)


def _print_comparison(comparison) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sense7.book.verify import DIFFERENT, EQUAL, NEAR, TOLERANCE

    # In a file or a pipe nothing is cut off at the width of the terminal.
    console = Console(width=None if sys.stdout.isatty() else 160)
    heads = ("What", "Compared", EQUAL, f"{NEAR} of {TOLERANCE:g}", DIFFERENT)
    table = Table(title=Text(plain_lines(f"{comparison.folder}: {comparison.label}")), title_justify="left")
    for head in heads:
        table.add_column(head, justify="left" if head == "What" else "right")
    for kind, counts in comparison.counts.items():
        table.add_row(
            kind, *(f"{number:,}" for number in (counts.total(), counts[EQUAL], counts[NEAR], counts[DIFFERENT]))
        )
    console.print(table)
    if comparison.differences:
        table = Table(title=Text("Shown otherwise than recomputed"), title_justify="left", show_lines=True)
        for head in ("What", "Where", "Which", "Shown", "Recomputed"):
            table.add_column(head, overflow="fold")
        for difference in comparison.differences:
            parts = (difference.kind, difference.where, difference.what, difference.shown, difference.recomputed)
            table.add_row(*(Text(plain_lines(part)) for part in parts))
        console.print(table)
    total = sum(counts.total() for counts in comparison.counts.values())
    differing = len(comparison.differences)
    print(f"{differing:,} of {total:,} differ" if differing else f"verified: all {total:,} agree")


def site(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; absent or empty.")],
    editions: Annotated[list[str], typer.Argument(metavar="EDITION...", help="Names of finished editions.")],
) -> None:
    """Put editions together to a folder for a web server; pages lead from one edition to another."""
    from sense7.book.editions import edition_folder, write_site
    from sense7.book.plan import configuration
    from sense7.checkout import find_project

    root, place = find_project()
    finished = edition_folder(place, "synthetic").parent
    print(write_site(finished, editions, out, configuration(root)["repository"]["url"]))


def notebooks(
    check_only: Annotated[bool, typer.Option("--check", help="Only say whether they are up to date.")] = False,
) -> None:
    """Derive the .ipynb files that Binder and Colab open from the text notebooks."""
    from sense7.book.notebooks import derive_copies, find_notebooks, installable_from
    from sense7.book.plan import configuration
    from sense7.checkout import find_checkout

    root = find_checkout()
    address = installable_from(configuration(root)["repository"])
    stale = derive_copies(find_notebooks(root), address, write=not check_only)
    if stale and check_only:
        fail(f"not up to date: {', '.join(path.name for path in stale)}. Run: make derived", 1)
    print(f"{len(stale)} written" if stale else "up to date")
