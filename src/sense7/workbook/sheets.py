"""The official workbook, read to validated frames.

The real workbook could not be seen when this was written, so the reader lives with what it did not foresee: an error
is what makes the analysis impossible (a missing sheet or key column, duplicate TaskIds, no rating at all) or its
numbers false (answers on a scale that was not declared, a column that mostly can't be read); all else is a counted
warning that names its cells and says what was done. Conventions: ``book/format.md``.
"""

import contextlib
import gc
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sense7.study import ABSENT, STATES, UNREADABLE, Study
from sense7.taxonomy import normalise_name
from sense7.workbook.conversations import Columns, read_conversations
from sense7.workbook.diagnostics import ERROR, WARNING, Diagnostics, WorkbookError, refusal
from sense7.workbook.ids import as_name, as_names, is_blank
from sense7.workbook.messages import read_messages
from sense7.workbook.options import (
    ALL_COLUMNS,
    ReadingOptions,
    scale_columns,
    with_scales_sheet,
)
from sense7.workbook.participants import find_participants, read_participants
from sense7.workbook.scales import read_scales
from sense7.workbook.table import KEY_COLUMNS, Table, leave_out, locate_sheet
from sense7.workbook.tables import read_tables
from sense7.workbook.xlsx import Sheet, read_sheets


@dataclass(frozen=True, eq=False, repr=False)
class ParsedWorkbook(Study):
    """A workbook that was read and checked, by columns, without data frames: importing pandas takes longer than that.

    A state is its place in ``sense7.study.STATES``.
    """

    def study(self) -> Study:
        """The same with data frames."""
        import pandas as pd

        def frame(columns: Columns) -> pd.DataFrame:
            series = {}
            for name, column in columns.items():
                # Without a type of its own pandas would infer one for a list, and turn None into NaN.
                dtype = object if isinstance(column, list) else None
                series[name] = pd.Series(column, dtype=dtype, copy=False)
            return pd.DataFrame(series)

        turns = dict(self.turns)
        for name, column in turns.items():
            if name.endswith("_state"):
                turns[name] = pd.Categorical.from_codes(column, STATES)
        fields = {**vars(self), "turns": turns}
        for name in ("conversations", "messages", "turns", "participants"):
            if fields[name] is not None:
                fields[name] = frame(fields[name])
        fields["columns"] = pd.DataFrame(self.columns)
        return Study(**fields)


def read_workbook(path: str | Path, **options) -> Study:
    """Read a workbook of the official format, or a folder of its tables, as a study.

    Parameters
    ----------
    path : str or path
        The .xlsx file, or a folder with a CSV file for each sheet.
    **options
        As for :func:`parse_workbook`, all of them by name: ``strict`` (any warning is an error),
        ``prompted_condition`` (the condition with the empathy prompt), ``name`` (of the study), ``options`` (scales
        and words that differ from the official format, see :class:`~sense7.workbook.options.ReadingOptions`), ``rated``
        (whether a workbook without any rating is refused) and ``sheets`` (where they are read already).

    Returns
    -------
    Study
        Conversations, messages, turns and participants as data frames. A blank or unreadable answer is NaN; what the
        reader noticed is in ``diagnostics``.

    Raises
    ------
    UserError
        If the file can't be opened or is no workbook, or ``prompted_condition`` is not in it.
    WorkbookError
        If the analysis is impossible, or ``strict`` and anything was found; lists every diagnostic.

    Notes
    -----
    :func:`sense7.load` reads data sets by name, too, and adds where they come from.

    Examples
    --------
    >>> from sense7.checkout import data_file
    >>> study = read_workbook(data_file("synthetic.xlsx"))
    >>> len(study.conversations), len(study.turns), study.prompted_condition
    (672, 6450, 'model-a-empathy-prompt')
    """
    return parse_workbook(path, **options).study()


def parse_sheets(
    sheets: dict[str, Sheet], *, path: str | Path = "workbook", name: str = "workbook", **options
) -> Study:
    """Give meaning to sheets that are read already; options as for :func:`parse_workbook`."""
    return parse_workbook(path, name=name, sheets=sheets, **options).study()


def parse_workbook(
    path: str | Path,
    *,
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str | None = None,
    rated: bool = True,
    options: ReadingOptions | None = None,
    sheets: dict[str, Sheet] | None = None,
) -> ParsedWorkbook:
    """Read a workbook without making data frames of it.

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
    rated : bool
        Whether a workbook without any rating is refused.
    options : ReadingOptions, optional
        Declared scales and words; those of ``FILE.reading.yml`` beside the workbook if not given. A sheet Scales of
        the workbook declares scales, too; what is given here comes first.
    sheets : mapping, optional
        The sheets, where they are read already.

    Raises
    ------
    UserError
        If the file can't be opened or is no workbook, or ``prompted_condition`` is not in it.
    WorkbookError
        If the analysis is impossible, or ``strict`` and anything was found; lists every diagnostic.
    """
    with _without_garbage_collection():
        if sheets is None:
            sheets = read_tables(path) if Path(path).is_dir() else read_sheets(path)
            if options is None:
                options = ReadingOptions.beside(Path(path))
        options = with_scales_sheet(sheets, options or ReadingOptions(), path)
        reading = Reading(sheets, options)
        find_tables(reading)
        leave_out_rows(reading)
        read_tasks(reading)
        read_said(reading)
        read_people(reading)
        columns = [*scale_columns(), ALL_COLUMNS, *(reading.participants or ())]
        column_names = set(map(normalise_name, columns))
        for column in options.missing:
            if normalise_name(column) not in column_names:
                raise refusal(path, "no-missing-column", name=column)
        errors = {diagnostic.kind for diagnostic in reading.diagnostics.of(ERROR)}
        if not rated:
            errors.discard("no-rating")
        is_refused = strict and reading.diagnostics.of(ERROR, WARNING)
        if reading.conversations is None or reading.turns is None or errors or is_refused:
            raise WorkbookError(path, reading.diagnostics, strict)
        prompted, reason = find_prompted(reading.conversations, prompted_condition, path)
        return ParsedWorkbook(
            name=name or Path(path).stem,
            conversations=reading.conversations,
            messages=reading.messages,
            turns=reading.turns,
            participants=reading.participants,
            participants_sheet=reading.participants_sheet,
            columns=_columns(reading),
            sheets=sheets,
            diagnostics=list(reading.diagnostics),
            prompted_condition=prompted,
            prompted_reason=reason,
        )


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Reading makes many objects and no cycles, and looking for some takes a third of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- the passes ---


@dataclass
class Reading:
    """What is read of a workbook: each pass takes what those before it gave, and adds to it."""

    sheets: dict[str, Sheet]
    options: ReadingOptions
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    tables: dict[str, Table] = field(default_factory=dict)  # official name -> the sheet
    tasks_table: Table | None = None  # None if the sheet or one of its key columns is missing
    messages_table: Table | None = None
    explained: bool = False  # whether the sheets have further rows of names
    answers: Mapping = field(default_factory=dict)
    ratings: Mapping = field(default_factory=dict)
    conversations: Columns | None = None
    messages: Columns | None = None
    turns: Columns | None = None
    participants: Columns | None = None
    participants_sheet: str | None = None


def find_tables(reading: Reading) -> None:
    """Find the sheets of the format, and their columns."""
    sheets = {}
    for official in KEY_COLUMNS:
        sheets[official] = locate_sheet(reading.sheets, official, reading.diagnostics)
    for official, sheet in sheets.items():
        if sheet is not None:
            reading.tables[official] = Table(official, sheet, reading.diagnostics)
    usable = {name: table for name, table in reading.tables.items() if table.has_keys}
    reading.tasks_table = usable.get("Tasks")
    reading.messages_table = usable.get("Messages")


def leave_out_rows(reading: Reading) -> None:
    """Make rows blank that hold no data."""
    tasks, messages = reading.tasks_table, reading.messages_table
    if tasks is None or messages is None:
        return
    in_tasks = set(as_names(tasks.cells("TaskId")))
    of_messages = leave_out(messages, "TaskId", in_tasks, False)
    in_messages = set(as_names(messages.cells("TaskId")))
    of_tasks = leave_out(tasks, "TaskId", in_messages, of_messages)
    reading.explained = of_messages or of_tasks


def read_tasks(reading: Reading) -> None:
    """Read the answers on conversations, and the conversations."""
    if reading.tasks_table is not None:
        reading.answers = read_scales(reading.tasks_table, reading.options)
        reading.conversations = read_conversations(reading.tasks_table, reading.answers)


def read_said(reading: Reading) -> None:
    """Read the ratings of messages, and the messages with the turns among them."""
    table = reading.messages_table
    if table is None:
        return
    reading.ratings = read_scales(table, reading.options)
    if reading.conversations is not None:
        reading.messages, reading.turns = read_messages(
            table, reading.ratings, reading.tasks_table, reading.conversations
        )


def read_people(reading: Reading) -> None:
    """Find and read the sheet with one row per participant, if there is one."""
    sheet = find_participants(reading.sheets, reading.tables, reading.diagnostics)
    if sheet is not None:
        reading.participants_sheet = sheet.name
        reading.participants = read_participants(
            sheet,
            reading.tables.get("Tasks"),
            reading.conversations,
            reading.explained,
            reading.options,
            reading.diagnostics,
        )


def _columns(reading: Reading) -> dict[str, list]:
    """What became of each column of the format."""
    columns = defaultdict(list)
    # Ratings count where they belong, in assistant turns.
    for table, answers, counted_rows in (
        (reading.tasks_table, reading.answers, slice(None)),
        (reading.messages_table, reading.ratings, reading.turns["row"] - 2),
    ):
        for column in table.columns:
            header = None
            if column.official in table.positions:
                header = table.sheet.header[table.positions[column.official]]
            lowest, highest = math.nan, math.nan
            if column.scale:
                _, states = answers[column.name]
                states = states[counted_rows]
                filled = int((states != STATES.index(ABSENT)).sum())
                unreadable = int((states == STATES.index(UNREADABLE)).sum())
                declared = reading.options.scale_of(column.official, column.scale.size)
                if declared and (declared.lowest, declared.highest) != (1, column.scale.size):
                    lowest, highest = declared.lowest, declared.highest
            else:
                filled = len(table.sheet.rows) - sum(map(is_blank, table.cells(column.official)))
                unreadable = 0
            record = {
                "sheet": table.official,
                "column": column.official,
                "name": column.name,
                "header": header,
                "question": column.is_question,
                "filled": filled,
                "unreadable": unreadable,
                "lowest": lowest,
                "highest": highest,
            }
            for key, value in record.items():
                columns[key].append(value)
    return dict(columns)


# --- the prompted condition ---


def find_prompted(
    conversations: Mapping[str, Iterable], chosen: str | None, path: str | Path
) -> tuple[str | None, str]:
    """Give the empathy-prompted condition, None if it is not known, and how it is known or why not."""
    conditions = sorted({name for name in conversations["condition"] if isinstance(name, str)})
    if chosen:
        name = as_name(chosen)
        if name not in conditions:
            names = ", ".join(map(repr, conditions)) or "none"
            raise refusal(path, "unknown-condition", name=chosen, conditions=names)
        return name, "given"
    prompted = list(filter(_speaks_of_empathy_or_prompt, conditions))
    if len(prompted) == 1:
        return prompted[0], "inferred from its name"
    if prompted:
        return None, f"several conditions' names speak of it: {', '.join(prompted)}"
    return None, "no condition's name speaks of empathy or of a prompt"


def _speaks_of_empathy_or_prompt(condition: str) -> bool:
    """Whether a word of a condition's name is of empathy or a prompt, and none negates it; GptEmp is two words."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", condition).casefold()
    words = re.findall(r"[a-z]+", text)
    for word in words:
        if re.fullmatch(r"non?|not|without|un|(non?|un)(empath|prompt).*", word):
            return False
    return any(re.fullmatch(r"emph?|.*(empath|prompt).*", word) for word in words)
