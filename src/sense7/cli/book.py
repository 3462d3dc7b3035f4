"""The verbs about books: build one or many notebooks of it, read its ledger, verify it, put editions together."""

import sys
from pathlib import Path
from typing import Annotated

from sense7.checkout import find_project
from sense7.cli.common import (
    Jobs,
    Parameters,
    Quiet,
    Workbook,
    argument,
    assignments,
    building,
    complain,
    fail,
    option,
    print_table,
    reporting,
)
from sense7.terminal import plain


def build(
    *,
    data: Workbook = "synthetic",
    name: Annotated[str | None, option("Name of the edition.")] = None,
    predictions: Annotated[
        str | None, option("Folder of a judge's predictions, if not predictions_NAME.")
    ] = None,
    parameter: Parameters = (),
    jobs: Jobs = None,
    scheduler: Annotated[
        str | None, option("Of a Dask scheduler, whose workers do it.", metavar="ADDRESS")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Build the book of a workbook; the last line is the path of its front page."""
    with building("Building a book", "jupyter_book"):
        say = reporting(quiet)
        from sense7.book.build import build_edition, lines_of
        from sense7.book.code import installed_otherwise

        project = find_project()
        for line in installed_otherwise(project.sources):
            print(line, file=sys.stderr)
        built = build_edition(
            data,
            name=name,
            predictions=predictions,
            parameters=assignments(parameter),
            workers=jobs,
            scheduler=scheduler,
            say=say,
        )
        if not built.changed:
            say("nothing changed since this edition was built")
    for stream, text in lines_of(built.folder, project.sources):
        print(text, file=getattr(sys, stream))


def ledger(
    edition: Annotated[str, argument("Name of a built edition.")] = "synthetic",
    strict: Annotated[
        bool, option("Exit with 1 unless the official workbook gives every primary figure.")
    ] = False,
) -> None:
    """Print every published claim beside what an edition computed."""
    from sense7.book.ledger import read_ledger
    from sense7.claims import PRIMARY, State

    rows, facts = read_ledger(find_project().place, edition)
    label = facts["label"]
    # Other works are compared with their own numbers in every edition, which says nothing of SENSE-7.
    of_paper = [row for row in rows if not row["published"].get("release")]
    of_other_works = [row for row in rows if row["published"].get("release")]
    _print_claims(f"Ledger of the edition {edition}: {label}", of_paper)
    if of_other_works:
        title = "Claims about other works, compared with the numbers that they released"
        _print_claims(title, of_other_works)
    print(plain(f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"))
    is_compared = facts["kind"] == "official" and facts["verified"]
    if strict and not is_compared:
        fail(
            f"{edition}: nothing was compared with the paper, since these data are: {label}. Only the official "
            "workbook from the authors' repository is compared: sense7 fetch official, then sense7 build official"
        )
    differing = [
        row["id"]
        for row in of_paper
        if row["state"] == State.NOT_MET and row["published"]["grade"] in PRIMARY
    ]
    if strict and differing:
        fail(f"{edition}: differs from a primary figure: {', '.join(differing)}")


def _print_claims(title: str, rows: list[dict]) -> None:
    """Print claims of the ledger beside what an edition computed."""
    from sense7.record import format_number, format_value

    cells = []
    for row in rows:
        claim = row["published"]
        computed = row["computed"]
        rehearsal = row["rehearsal"]
        title_cell = claim["title"]
        if claim["contradiction"]:
            title_cell += f"\nContradiction: {claim['contradiction']}"
        found = "-"
        if computed:
            found = format_value(computed)
        state = "\n".join(filter(None, (row["state"], row["why"])))
        expected = "-"
        if rehearsal and rehearsal["expected"] is not None:
            expected = format_number(rehearsal["expected"], computed["unit"])
        if rehearsal and rehearsal["is_set"]:
            expected += "\nset to the published figure"
        cells.append((title_cell, claim["grade"], claim["shown"], found, state, expected))
    heads = ("Claim", "Grade", "Published", "This edition", "State", "Expected (simulated data)")
    print_table(title, heads, cells, lined=True)


def run(
    notebook: Annotated[str, argument("Number or name of a notebook, such as 03.")],
    parameter: Parameters = (),
    out: Annotated[
        Path | None, option("The copy; NAME.executed.ipynb here.", metavar="FILE.ipynb")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Execute a copy of one notebook with parameters of your own, and print what it recorded.

    The last two lines are the folder of the values and the executed copy.
    """
    from sense7.record import format_value, read_values

    with building("Running a notebook"):
        from sense7.book.again import rerun

        executed = rerun(find_project(), notebook, assignments(parameter), out=out)
    cells = []
    for value in read_values(executed.results).values():
        n = "" if value["n"] is None else value["n"]
        how = value["method"] or value["reason"]
        cells.append((value["key"], format_value(value), n, how))
    title = ": ".join(filter(None, (executed.name, executed.label)))
    if not quiet:
        print_table(title, ("Name", "Value", "n", "How it was computed"), cells)
    print(f"{executed.results}\n{executed.notebook}")


def verify(
    edition: Annotated[str, argument("Name of an edition, or its folder.")] = "synthetic",
    jobs: Jobs = None,
) -> None:
    """Recompute an edition from its own data in a temporary place, and compare; exit code 1 if anything differs."""
    with building("Verifying an edition"):
        from sense7.book.again import verify_edition

        comparison = verify_edition(find_project(), edition, workers=jobs, say=reporting())
    title = f"{comparison.folder}: {comparison.label}"
    if comparison.differences:
        heads = ("Value", "Part", "Recorded", "Recomputed")
        rows = [[str(cell) for cell in row] for row in comparison.differences]
        print_table(title, heads, rows, lined=True)
        fail(f"{len(rows):,} parts of {comparison.compared:,} values differ")
    print(f"{title}\nverified: all {comparison.compared:,} values agree")


def site(
    out: Annotated[Path, argument("Folder to write; absent or empty.", "OUT")],
    editions: Annotated[list[str], argument("Names of finished editions.", "EDITION...")],
) -> None:
    """Put editions together to a folder for a web server; pages lead from one edition to another."""
    from sense7.book.editions import edition_folder, write_site

    working_folder = find_project().place
    folder = edition_folder(working_folder, "synthetic").parent
    print(write_site(folder, editions, out, say=complain))


def notebooks() -> None:
    """Make the .ipynb that Binder, Colab and GitHub show, from the text notebooks and the synthetic workbook."""
    with building("Making the notebooks"):
        from sense7.book.build import derive_notebooks

        written = derive_notebooks(say=reporting())
    if written:
        print(f"{len(written)} written")
    else:
        print("up to date")
