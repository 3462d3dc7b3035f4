"""The official workbook, read to validated frames.

The real workbook could not be seen when this was written, so the reader lives with what
it did not foresee: an error is what makes the analysis impossible (a missing sheet or
key column, duplicate TaskIds, no rating at all) or its numbers false (answers on a scale that was not declared, a
column that mostly can't be read); all else is a counted warning that names
its cells and says what was done. Conventions: the facts of the official release, in
``book/format.md``.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.study import Study
from sense7.taxonomy import normalise_name
from sense7.workbook.answers import read_scales
from sense7.workbook.columns import KEY_COLUMNS, Table, column_report, leave_out_further_names, locate_sheet
from sense7.workbook.conditions import find_prompted
from sense7.workbook.conversations import read_conversations
from sense7.workbook.diagnostics import Diagnostics, WorkbookError
from sense7.workbook.messages import read_messages
from sense7.workbook.options import ALL_COLUMNS, ReadingOptions, scale_columns, with_scales_sheet
from sense7.workbook.parsed import ParsedWorkbook
from sense7.workbook.participants import read_participants
from sense7.workbook.sheets import Sheet, read_sheets
from sense7.workbook.tables import read_tables

__all__ = ["parse_sheets", "parse_workbook", "read_workbook"]

_DEFAULT = ReadingOptions()


def read_workbook(
    path: str | Path,
    *,
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str | None = None,
    part: bool = False,
    options: ReadingOptions | None = None,
) -> Study:
    """Read a workbook of the official format.

    Parameters
    ----------
    path : path
        The .xlsx file, or a folder of tables, see :func:`~sense7.workbook.tables.read_tables`.
    strict : bool
        Whether any warning is an error.
    prompted_condition : str, optional
        The condition with the empathy prompt; guessed from the names if not given.
    name : str, optional
        Name of the study; the file's stem if not given.
    part : bool
        Whether this is one part of a data set (:mod:`sense7.workbook.partitions`), which may lack any rating.
    options : ReadingOptions, optional
        Declared scales and words; those of ``FILE.reading.yml`` beside the workbook if not given. A sheet Scales of
        the workbook declares scales, too; what is given here comes first.

    Returns
    -------
    Study
        Validated frames, with all diagnostics.

    Raises
    ------
    UserError
        If the file can't be opened or is no workbook, or ``prompted_condition`` is not in it.
    WorkbookError
        If the analysis is impossible, or ``strict`` and anything was found; lists every diagnostic.
    """
    with _uncollected():
        return parse_workbook(
            path, strict=strict, prompted_condition=prompted_condition, name=name, part=part, options=options
        ).study()


def parse_workbook(
    path: str | Path,
    *,
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str | None = None,
    part: bool = False,
    options: ReadingOptions | None = None,
) -> ParsedWorkbook:
    """Read a workbook without making data frames of it; see :func:`read_workbook`."""
    with _uncollected():
        return _parsed(
            read_tables(path) if Path(path).is_dir() else read_sheets(path),
            path=path,
            strict=strict,
            prompted_condition=prompted_condition,
            name=name or Path(path).stem,
            part=part,
            options=ReadingOptions.beside(Path(path)) if options is None else options,
        )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collector of cycles: reading makes many objects and no cycles, and looking for some takes a third.

    Measured for ``sense7 check`` as a whole: 5 % of its processor time.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def parse_sheets(
    sheets: dict[str, Sheet],
    *,
    path: str | Path = "workbook",
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str = "workbook",
    part: bool = False,
    options: ReadingOptions = _DEFAULT,
) -> Study:
    """Give meaning to sheets that are read already; see :func:`read_workbook`."""
    return _parsed(
        sheets,
        path=path,
        strict=strict,
        prompted_condition=prompted_condition,
        name=name,
        part=part,
        options=options,
    ).study()


def _parsed(
    sheets: dict[str, Sheet],
    *,
    path: str | Path,
    strict: bool,
    prompted_condition: str | None,
    name: str,
    part: bool,
    options: ReadingOptions,
) -> ParsedWorkbook:
    diagnostics = Diagnostics()
    options = with_scales_sheet(sheets, options, path)
    located = {official: locate_sheet(sheets, official, diagnostics) for official in KEY_COLUMNS}
    tables = {official: Table(official, sheet, diagnostics) if sheet else None for official, sheet in located.items()}
    tasks, messages = tables["Tasks"], tables["Messages"]
    explained = bool(tasks and tasks.has_keys and messages and messages.has_keys) and leave_out_further_names(
        tasks, messages, diagnostics
    )
    conversations = read_conversations(tasks, diagnostics, options) if tasks and tasks.has_keys else None
    message_columns = turns = None
    if messages and messages.has_keys:
        levels = read_scales(messages, diagnostics, options)
        if conversations is not None:
            message_columns, turns = read_messages(messages, levels, tasks, conversations, diagnostics)
    participants, participants_sheet = read_participants(
        sheets, tables, conversations, diagnostics, options, explained=explained
    )
    named = {normalise_name(name) for name in (*scale_columns(), *(participants or ()), ALL_COLUMNS)}
    if unknown := [name for name in options.missing if normalise_name(name) not in named]:
        raise UserError(
            f"{path}: missing answers were declared of {unknown[0]!r}, which is no column of answers and none of "
            f"the participants' sheet. Use {ALL_COLUMNS} (all of them) or the name of one."
        )
    errors = [diagnostic for diagnostic in diagnostics.errors if not (part and diagnostic.kind == "no-rating")]
    if conversations is None or message_columns is None or errors or (strict and diagnostics.problems):
        raise WorkbookError(path, diagnostics, strict)
    prompted, reason = find_prompted(conversations, prompted_condition, path)
    return ParsedWorkbook(
        name=name,
        conversations=conversations,
        messages=message_columns,
        turns=turns,
        participants=participants,
        participants_sheet=participants_sheet,
        columns=column_report(tasks, messages, turns),
        sheets=sheets,
        diagnostics=list(diagnostics),
        prompted_condition=prompted,
        prompted_reason=reason,
    )


check_arguments(globals())
