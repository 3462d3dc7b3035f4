"""Conversations as a workbook of the official format, checked by its reader before it is written."""

from collections.abc import Iterable
from pathlib import Path

import sense7
from sense7.errors import UserError
from sense7.exchange.chats import ASSISTANT
from sense7.exchange.ratings import Joined, Rated
from sense7.files import reading
from sense7.taxonomy import IMPORT_SHEETS, MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook import ReadingOptions, Sheet, parse_sheets, write_sheets
from sense7.workbook.xlsx import LONGEST_TEXT

__all__ = ["workbook_sheets", "write_workbook"]

_OMITTED, _IMPORT = IMPORT_SHEETS


def workbook_sheets(joined: Joined, made_from: Iterable[tuple[str, str]] = ()) -> list[Sheet]:
    """Lay out conversations as sheets of the official format.

    Parameters
    ----------
    joined : Joined
        See :func:`sense7.exchange.ratings.join_ratings`.
    made_from : iterable of (key, value)
        Rows of the sheet Import.

    Returns
    -------
    list of Sheet
        Tasks, Messages, Omitted (if anything is), Import.

    Raises
    ------
    UserError
        If a text is too long for a cell; names conversation and message.
    """
    tasks = [column.official for column in TASK_COLUMNS]
    messages = [column.official for column in MESSAGE_COLUMNS]
    omitted = [
        [one.task["TaskId"], float(part.before), part.what, part.text or None]
        for one in joined.rated
        for part in one.chat.omitted
    ]
    sheets = [
        Sheet("Tasks", tasks, [[one.task.get(name) for name in tasks] for one in joined.rated]),
        Sheet(
            "Messages",
            messages,
            [[cells.get(name) for name in messages] for one in joined.rated for cells in _rows(one)],
        ),
    ]
    if omitted:
        sheets.append(Sheet(_OMITTED, list(IMPORT_SHEETS[_OMITTED]), omitted))
    return [*sheets, Sheet(_IMPORT, list(IMPORT_SHEETS[_IMPORT]), [list(pair) for pair in made_from])]


def _rows(one: Rated) -> Iterable[dict]:
    for number, message in enumerate(one.chat.messages, 1):
        units = len(message.text.encode("utf-16-le")) // 2
        if units > LONGEST_TEXT:
            raise UserError(
                f"conversation {one.chat.id!r}, message {number}: a text of {units:,} characters; a cell of a workbook "
                f"holds at most {LONGEST_TEXT:,}. Leave this conversation out, or write JSON Lines (--out NAME.jsonl)."
            )
        yield {
            "TaskId": one.task["TaskId"],
            "MessageId": float(number),
            "TimeOffsetSeconds": message.seconds,
            "Role": message.role,
            "Content": message.text,
        } | (one.ratings.get(number, {}) if message.role == ASSISTANT else {})


def write_workbook(joined: Joined, files: Iterable[Path], out: Path, options: ReadingOptions) -> None:
    """Write a workbook that ``sense7 check`` accepts, and beside it how its ratings are to be read, if declared.

    Parameters
    ----------
    joined : Joined
        Conversations and ratings.
    files : iterable of Path
        What they come from; named in the workbook with their SHA-256.
    out : Path
        The .xlsx file.
    options : ReadingOptions
        Scales and words of the ratings.

    Raises
    ------
    UserError
        If the reader finds an error in what would be written, or it can't be written. Then nothing is.
    """
    beside = ReadingOptions.place(out)
    if beside.exists():
        raise UserError(
            f"{beside}: says how another workbook of this name is to be read. Remove it, or choose another --out."
        )
    if not joined.rated:
        raise UserError("no conversation with a message was found. Nothing was written.")
    made_from = [("sense7", sense7.__version__), *((f"sha256 of {path.name}", _sha256(path)) for path in files)]
    sheets = workbook_sheets(joined, made_from)
    parse_sheets({sheet.name: sheet for sheet in sheets}, path=out, part=not joined.has_ratings, options=options)
    write_sheets(sheets, out)
    options.write_beside(out)


def _sha256(path: Path) -> str:
    import hashlib

    with reading(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
