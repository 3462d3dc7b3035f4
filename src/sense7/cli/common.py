"""What verbs share: options, tables, and how they end; see :mod:`sense7.cli`."""

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NoReturn

import typer

from sense7.errors import BuildError, UserError
from sense7.files import parse_yaml
from sense7.terminal import plain_lines, silent


def option(words: str, *names: str, **more):
    """What follows an option's type: its help first."""
    return typer.Option(*names, help=words, **more)


def argument(words: str, metavar: str | None = None):
    """What follows an argument's type: its help first."""
    return typer.Argument(metavar=metavar, help=words)


Many = list[str]
Parameters = Annotated[
    Many, option("A parameter. Can be repeated.", "--parameter", "-p", metavar="NAME=VALUE")
]
Workbook = Annotated[str, argument("A workbook or a data set.", "DATA")]
Jobs = Annotated[int | None, option("Tasks at once.", min=1)]
Quiet = Annotated[bool, option("Print the result only.", "--quiet", "-q")]
Force = Annotated[bool, option("Write over a file that is there.", "--force")]
Json = Annotated[bool, option("Print as JSON.", "--json")]
Data = Annotated[
    str,
    option("A workbook, or the name of a data set.", "--data", metavar="DATA", show_default=False),
]


def complain(message: str) -> None:
    """Print a message of ours on standard error."""
    print(plain_lines(f"sense7: {message}"), file=sys.stderr)


def fail(message: str) -> NoReturn:
    """End with a message and exit code 1."""
    complain(message)
    raise typer.Exit(1)


def assignments(items: list[str]) -> dict:
    """NAME=VALUE with the value as YAML reads it: 5 is a number, "5" a text, [1, 2] a list."""
    values = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise UserError(f"{item!r}: expected NAME=VALUE, e.g. draws=2000.")
        value = text.strip()
        if value:
            with contextlib.suppress(ValueError):
                value = parse_yaml(text)
        values[name.strip()] = value
    return values


_EXECUTES_NOTEBOOKS = ("ipykernel", "jupytext", "papermill")


@contextlib.contextmanager
def building(purpose: str, *further: str) -> Iterator[None]:
    """Refuse to go on without the packages of the extra ``book``, and end with 1 where a book could not be built.

    Binder has no more than the packages that execute a notebook.
    """
    from importlib.util import find_spec

    packages = (*_EXECUTES_NOTEBOOKS, *further)
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise UserError(
            f"{purpose} needs what is not installed: {', '.join(missing)}. "
            "Install the companion with what builds books: pip install 'sense7-companion[book]'"
        )
    try:
        yield
    except BuildError as error:
        fail(str(error))


def number_in_words(number: float) -> str:
    """A count with separators, another number to three decimals; "" if there is none."""
    if not isinstance(number, float):
        return f"{number:,}"
    return f"{number:z.3f}" if math.isfinite(number) else ""


def print_table(
    title: str, heads: Iterable[str], rows: Iterable[Iterable], *, lined: bool = False
) -> None:
    """Print a table in which all is text; in a file or a pipe nothing is cut off at the width of the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=plain_lines(title), title_justify="left", show_lines=lined)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        texts = [cell if isinstance(cell, str) else number_in_words(cell) for cell in row]
        table.add_row(*map(plain_lines, texts))
    width = 160
    if sys.stdout.isatty():
        width = None
    Console(width=width, markup=False, emoji=False).print(table)


def reporting(quiet: bool = False) -> Callable:
    """What a verb says on the way, line by line on standard error; nothing if quiet."""
    if quiet:
        return silent

    def say(line: str) -> None:
        print(plain_lines(f"  {line}"), file=sys.stderr, flush=True)

    return say
