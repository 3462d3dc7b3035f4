"""The workbook, read to validated frames: as the official format says, and as its reading file declares.

An error is what makes the analysis impossible or its numbers false. All else is a counted warning that names its cells
and says what was done.
"""

import contextlib
import gc
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sense7.study import STATES, UNREADABLE, Study
from sense7.taxonomy import RATING_NAMES
from sense7.workbook.answers import count_answered, read_answers
from sense7.workbook.conversations import Columns, read_conversations
from sense7.workbook.diagnostics import ERROR, Diagnostics, WorkbookError
from sense7.workbook.ids import is_blank
from sense7.workbook.messages import read_messages
from sense7.workbook.participants import find_participants, read_participants
from sense7.workbook.reading import Reading, parse_reading, reading_beside
from sense7.workbook.table import KEY_COLUMNS, Table, official_sheet_name
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
            if name.endswith("_state") and not isinstance(column, list):
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
        The .xlsx file, or a folder with a CSV file for each sheet. ``FILE.reading.yml`` beside it declares what its
        cells mean.
    **options
        As for :func:`parse_workbook`, by name: ``name`` (of the
        study), ``rated`` (whether a workbook without any rating is refused).

    Returns
    -------
    Study
        Conversations, messages, turns and participants as data frames. A blank or unreadable answer is NaN; what the
        reader noticed is in ``diagnostics``.

    Raises
    ------
    UserError
        If the file or its reading file can't be opened or read.
    WorkbookError
        If the analysis is impossible; lists every error and warning.

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
    sheets: dict[str, Sheet],
    reading: Reading | None = None,
    *,
    path: str | Path = "workbook",
    name: str = "workbook",
    **options,
) -> Study:
    """Give meaning to sheets that are read already; options as for :func:`parse_workbook`."""
    reading = reading or parse_reading("reading: 1", path)
    return parse_workbook(path, name=name, sheets=sheets, reading=reading, **options).study()


def parse_workbook(
    path: str | Path,
    *,
    name: str | None = None,
    rated: bool = True,
    reading: Reading | None = None,
    sheets: dict[str, Sheet] | None = None,
) -> ParsedWorkbook:
    """Read a workbook without making data frames of it.

    Parameters
    ----------
    path : path
        The .xlsx file, or a folder of tables, see :func:`~sense7.workbook.tables.read_tables`.
    name : str, optional
        Name of the study; the file's stem if not given.
    rated : bool
        Whether a workbook without any rating is refused.
    reading, sheets : optional
        What declares the meaning of cells, and the sheets, where they are not read from ``path``.

    Raises
    ------
    UserError
        If the file or its reading file can't be opened or read.
    WorkbookError
        If the analysis is impossible; lists every error and warning.
    """
    with _without_garbage_collection():
        reading = reading or reading_beside(path)
        passes = read_passes(sheets or sheets_of(path, reading), reading)
        errors = {diagnostic.kind for diagnostic in passes.diagnostics.of(ERROR)}
        if not rated:
            errors.discard("no-rating")
        if passes.turns is None or errors:
            raise WorkbookError(path, passes.diagnostics)
        conditions = [name for name in passes.conversations["condition"] if name is not None]
        prompted, reason = reading.prompted_among(conditions)
        people = passes.tables.get("Participants")
        return ParsedWorkbook(
            name=name or Path(path).stem,
            conversations=passes.conversations,
            messages=passes.messages,
            turns=passes.turns,
            participants=passes.participants,
            participants_sheet=people and people.sheet.name,
            columns=passes.columns(),
            sheets=passes.sheets,
            diagnostics=list(passes.diagnostics),
            prompted_condition=prompted,
            prompted_reason=reason,
            reading=reading.text,
        )


def sheets_of(path: str | Path, reading: Reading) -> dict[str, Sheet]:
    """The sheets of a workbook, or the tables of a folder."""
    if Path(path).is_dir():
        return read_tables(path, reading.decimal)
    return read_sheets(path)


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


@dataclass
class Passes:
    """What is read of a workbook: each pass takes what those before it gave, and adds to it."""

    sheets: dict[str, Sheet]
    reading: Reading
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    tables: dict[str, Table] = field(default_factory=dict)  # official name -> the sheet
    answers: Mapping = field(default_factory=dict)
    conversations: Columns | None = None
    messages: Columns | None = None
    turns: Columns | None = None
    participants: Columns | None = None

    def require_declared_names(self) -> None:
        """Refuse names in the reading file that the workbook does not have."""
        reading, headers = self.reading, []
        for sheet in self.sheets.values():
            headers += [header.strip() for header in sheet.header]
        reading.require_names("sheets", [name.strip() for name in self.sheets])
        reading.require_names("columns", headers)
        people = self.tables.get("Participants")
        reading.require_names("characteristics", getattr(people, "further", ()))
        if isinstance(reading.prompted, str) and reading.prompted and self.conversations:
            conditions = {name for name in self.conversations["condition"] if name}
            reading.require_names("prompted", sorted(conditions))

    def columns(self) -> list[dict]:
        """What became of each column of the format."""
        states_of = {name: states for name, (_, states) in self.answers.items()}
        for name in RATING_NAMES:  # only ratings of the assistant's turns count
            states_of[name] = self.turns[f"{name}_state"]
        records = []
        for official in KEY_COLUMNS:
            table = self.tables[official]
            for column in table.columns:
                lowest = highest = math.nan
                unreadable = 0
                if column.scale is None:
                    counts = Counter(table.cells(column.official))
                    filled = sum(count for cell, count in counts.items() if not is_blank(cell))
                else:
                    states = states_of[column.name]
                    filled = count_answered(states)
                    unreadable = states.count(STATES.index(UNREADABLE))
                    ends = self.reading.answers_of(column).scale
                    official_ends = (1, column.scale.size)
                    if filled and ends and (ends.lowest, ends.highest) != official_ends:
                        lowest, highest = ends.lowest, ends.highest
                record = {
                    "sheet": official,
                    "column": column.official,
                    "name": column.name,
                    "question": column.is_question,
                    "filled": filled,
                    "unreadable": unreadable,
                    "lowest": lowest,
                    "highest": highest,
                }
                records.append(record)
        return records


def read_passes(sheets: dict[str, Sheet], reading: Reading) -> Passes:
    """Read all that can be read of a workbook, and report what is wrong with it.

    A name in the reading file that the workbook does not have is refused.
    """
    passes = Passes(sheets, reading)
    for name, sheet in sheets.items():
        official = official_sheet_name(name, reading)
        if official in passes.tables:
            passes.diagnostics.add("duplicate", {"sheet": name}, official=official)
        elif official in KEY_COLUMNS:
            passes.tables[official] = Table(official, sheet, reading, passes.diagnostics)
    for official in KEY_COLUMNS:
        if official not in passes.tables:
            present = ", ".join(sheets) or "none"
            location = {"sheet": official}
            passes.diagnostics.add("missing-sheet", location, official=official, present=present)
    tasks, messages = passes.tables.get("Tasks"), passes.tables.get("Messages")
    if tasks is not None and tasks.has_keys:
        passes.answers = read_answers(tasks)
        passes.conversations = read_conversations(tasks, passes.answers)
    if messages is not None and messages.has_keys:
        ratings = read_answers(messages)
        if passes.conversations is not None:
            passes.messages, passes.turns = read_messages(
                messages, ratings, tasks, passes.conversations
            )
    people_sheet = find_participants(sheets, reading)
    if people_sheet is not None:
        people = Table("Participants", people_sheet, reading, passes.diagnostics)
        passes.tables["Participants"] = people
        passes.participants = read_participants(people, tasks, passes.conversations)
    passes.require_declared_names()
    return passes
