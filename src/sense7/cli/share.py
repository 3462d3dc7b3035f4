"""The verbs that collect ratings, and bring conversations of other programs here."""

from pathlib import Path
from typing import Annotated

from sense7.cli.common import Force, argument, complain, option
from sense7.errors import UserError
from sense7.terminal import plain_lines


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
    condition: Annotated[
        str | None,
        option("The condition of all of them; '{model}' is the name of each one's model."),
    ] = None,
    ratings: Annotated[
        Path | None,
        option("Ratings: .csv or .xlsx, with FILE.map.yml beside it.", metavar="FILE"),
    ] = None,
    force: Force = False,
) -> None:
    """Bring conversations of other programs here, to be rated or judged, with their ratings if there are any.

    Formats: lists of messages with role and content (JSON, JSON Lines), ChatGPT's data export, plain text with User:
    and Assistant:. A key that is not known, and that may hold what somebody said, refuses the file.
    """
    from sense7.exchange import read_chats, summary, write_chats

    endings = [".jsonl", ".xlsx"]
    if ratings:
        endings = [".xlsx"]
    if out.suffix.casefold() not in endings:
        raise UserError(
            f"--out {out}: give a name that ends in {' or '.join(endings)} (.jsonl: conversations, .xlsx: a workbook)."
        )
    chats, left_out = read_chats(files, participant=participant, condition=condition)
    lines = summary(chats, left_out)
    if out.suffix.casefold() == ".jsonl":
        write_chats(chats, out, replace=force)
    else:
        from sense7.exchange.joining import write_workbook

        lines += write_workbook(chats, out, ratings, replace=force)
    print(plain_lines("\n".join([*lines, str(out)])))


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
