"""The verbs that collect ratings, and bring conversations of other programs here."""

from pathlib import Path
from typing import Annotated

from sense7.cli.common import Force, Many, argument, complain, option, with_options
from sense7.errors import UserError
from sense7.files import require_free
from sense7.terminal import plain_lines


@with_options
def import_chats(
    *,
    files: Annotated[
        list[Path],
        argument("Conversations: .json, .jsonl, or plain text.", "FILE..."),
    ],
    out: Annotated[
        Path, option("Conversations or workbook to write.", metavar="CHATS.jsonl|MINE.xlsx")
    ],
    participant: Annotated[str | None, option("The person in all of these conversations.")] = None,
    condition: Annotated[str | None, option("The assistant in all of these conversations.")] = None,
    ratings: Annotated[
        Path | None, option("Ratings, a row per turn: .csv or .xlsx.", metavar="FILE")
    ] = None,
    columns: Annotated[
        Path | None, option("Their columns, in lines NAME: COLUMN.", metavar="MAP.yml")
    ] = None,
    column: Annotated[
        Many, option("The same for one, as Affective=q1.", metavar="NAME=COLUMN", many=True)
    ] = None,
    new_ids: Annotated[
        bool, option("Number the conversations instead of keeping their ids.", "--new-ids")
    ] = False,
    force: Force = False,
) -> None:
    """Bring conversations of other programs here, to be rated or judged, with their ratings if there are any.

    Formats: lists of messages with role and content (JSON, JSON Lines), ChatGPT's data export, plain text with User:
    and Assistant:. A key that is not known, and that may hold what somebody said, refuses the file.
    """
    from sense7.exchange import ImportSummary, read_chats, write_chats
    from sense7.exchange.joining import column_map, join_ratings, read_ratings, write_workbook

    of_workbook = out.suffix.casefold() == ".xlsx"
    if not of_workbook and out.suffix.casefold() != ".jsonl":
        raise UserError(
            f"--out {out}: give a name that ends in .jsonl (conversations) or .xlsx (a workbook)."
        )
    require_free(out, f"--out {out}", replace=force)
    describes_ratings = columns or column
    if not of_workbook and (ratings or describes_ratings):
        raise UserError(
            f"--out {out}: ratings stand in a workbook. Give a name that ends in .xlsx."
        )
    if ratings is None and describes_ratings:
        raise UserError("--columns and --column are about ratings. Give --ratings FILE.csv.")
    summary = ImportSummary()
    chats = read_chats(
        files,
        participant=participant,
        condition=condition,
        new_ids=new_ids,
        summary=summary,
    )
    lines = []
    if of_workbook:
        table = None
        if ratings is not None:
            table = read_ratings(ratings, column_map(columns, column or []))
        joined = join_ratings(list(chats), table)
        write_workbook(joined, out, replace=force)
        lines = joined.lines()
        for remark in joined.remarks:
            complain(remark)
    else:
        write_chats(chats, out, replace=force)
    print(plain_lines("\n".join([*summary.lines(), *lines, str(out)])))


def instrument(
    study: Annotated[Path, argument("Study file: what is asked, how, and whom.", "STUDY.yml")],
    out: Annotated[Path, option("Page to write.", metavar="PAGE.html")],
    conversations: Annotated[
        Path, option("To rate, as `sense7 import` writes.", metavar="FILE.jsonl")
    ],
    force: Force = False,
) -> None:
    """Write a page on which people rate conversations: one file, without a server."""
    from sense7.collect.page import write_page
    from sense7.collect.study import read_conversations, read_study_file

    study_file = read_study_file(study)
    print(write_page(study_file, read_conversations(conversations), out, replace=force))


def gather(
    folder: Annotated[
        Path,
        argument("The files that people downloaded from the page.", "FOLDER"),
    ],
    out: Annotated[Path, option("Workbook to write.", metavar="OUT.xlsx")],
    force: Force = False,
) -> None:
    """Write a workbook from what many people downloaded."""
    from sense7.collect.gathering import gather as gather_downloads

    gathered = gather_downloads(folder, out, replace=force)
    for note in gathered.notes:
        complain(note)
    print(f"{gathered.summary}\n{out}")
