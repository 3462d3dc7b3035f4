"""The verbs `run` and `template`; see :mod:`sense7.cli` for exit codes and messages."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.errors import UserError

__all__ = ["assignments", "run", "template"]


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
        print(f"sense7: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(f"{done.results}\n{done.notebook}")


def template(
    out: Annotated[Path, typer.Argument(metavar="OUT.xlsx", help="Workbook to write.")],
    force: Annotated[bool, typer.Option(help="Write over a file that is there.")] = False,
) -> None:
    """Write an empty workbook of the format: every column explained, answers to choose from."""
    from sense7.workbook.template import write_template

    print(write_template(out, replace=force))


def assignments(items: list[str]) -> dict:
    """NAME=VALUE with the value as YAML reads it: 5 is a number, "5" a text, [1, 2] a list."""
    import yaml

    given = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise UserError(f"{item!r}: expected NAME=VALUE, e.g. draws=2000.")
        try:
            given[name.strip()] = yaml.safe_load(text) if text.strip() else ""
        except yaml.YAMLError:
            given[name.strip()] = text
    return given
