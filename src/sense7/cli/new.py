"""``sense7 new``: the beginning of something to add to the book."""

from typing import Annotated

import typer

__all__ = ["new"]

new = typer.Typer(no_args_is_help=True, help="Begin something new in a checkout: a finding.")


@new.callback()
def _group() -> None:
    """Keep the verb below a verb, although it is the only one."""


@new.command()
def finding(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the finding, such as length-of-turns.")],
    title: Annotated[str, typer.Option(help="Heading of its page: a statement or a question.")] = "",
) -> None:
    """Write module, test and notebook of a new finding, which work as they are.

    They compute a mean. Put your statistic in its place, then follow "Add a finding" in CONTRIBUTING.md.
    """
    from sense7.book.new_finding import write_finding
    from sense7.checkout import find_checkout

    written = write_finding(find_checkout(), name, title)
    print("\n".join(map(str, written)))
