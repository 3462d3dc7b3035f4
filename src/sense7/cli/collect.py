"""The verbs that collect ratings: a page to rate on, and a workbook from what people downloaded."""

from pathlib import Path
from typing import Annotated

import typer

from sense7.cli.common import complain

__all__ = ["gather", "instrument"]

Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def instrument(
    study: Annotated[Path, typer.Argument(metavar="STUDY.yml", help="Study file: what is asked, how, and whom.")],
    out: Annotated[Path, typer.Option(metavar="PAGE.html", help="Page to write.")],
    conversations: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Conversations to rate, as `sense7 import` writes them.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a page on which people rate conversations: one file, without a server."""
    from sense7.collect.page import write_page
    from sense7.collect.study import read_conversations, read_study_file

    asked = read_study_file(study)
    carried = read_conversations(conversations) if conversations else []
    print(write_page(asked, carried, out, replace=force))


def gather(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The files that people downloaded from the page.")],
    out: Annotated[Path, typer.Option(metavar="OUT.xlsx", help="Workbook to write.")],
    force: Force = False,
) -> None:
    """Write a workbook from what many people downloaded."""
    from sense7.collect.gathering import gather as gather_downloads

    gathered = gather_downloads(folder, out, replace=force)
    for note in gathered.notes:
        complain(note)
    print(f"{gathered.summary}\n{out}")
