"""Ratings of turns in a table of any layout with one row per turn: what its columns mean, and its rows.

Cells are kept as they are, words or numbers. The reader of workbooks decides what they mean on a scale.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sense7.errors import UserError
from sense7.files import one_line, parse_yaml
from sense7.taxonomy import MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS, normalise_name
from sense7.workbook.sheets import Sheet, read_sheets
from sense7.workbook.tables import ENDINGS, read_table, read_text
from sense7.workbook.values import is_blank

__all__ = ["ANSWERS", "KEYS", "OF_TASKS", "TURN", "ColumnMap", "RatingTable", "read_ratings"]

TURN = "Turn"
"""Name under which a column counts the assistant's messages of a conversation: 1, 2, 3 ..."""

KEYS = (TURN, "MessageId", "Content")
"""Columns that can say which turn a row rates."""

RATINGS = tuple(column.official for column in MESSAGE_COLUMNS if column.name in RATING_NAMES)
ANSWERS = (*RATINGS, "Comment")
"""Columns of a turn that a row fills."""

OF_TASKS = tuple(column.official for column in TASK_COLUMNS if column.official != "TaskId")
"""Columns of a conversation, which are the same in each row of it."""

_NAMES = ("TaskId", *KEYS, *ANSWERS, *OF_TASKS)
_ALIKE = {normalise_name(name): name for name in _NAMES} | {
    normalise_name(column.name): column.official
    for column in (*TASK_COLUMNS, *MESSAGE_COLUMNS)
    if column.official in _NAMES
}

_NEEDED = {
    ("TaskId",): ("the conversation", "TaskId=COLUMN"),
    KEYS: (f"the turn, by one of {', '.join(KEYS)}", f"{TURN}=COLUMN"),
    RATINGS: ("a rating", "Affective=COLUMN"),
}
"""Columns of which one has to be there -> what they say, and an example of the option."""


@dataclass(frozen=True)
class ColumnMap:
    """What the columns of a table mean.

    Attributes
    ----------
    columns : mapping
        Name in the official format, or ``Turn``, -> name in the table.
    """

    columns: Mapping[str, str]

    @classmethod
    def of(cls, path: Path | None = None, items: Iterable[str] = ()) -> "ColumnMap":
        """Read a map as users give it.

        Parameters
        ----------
        path : Path, optional
            YAML, one line per column, NAME: COLUMN.
        items : iterable of str
            NAME=COLUMN; these come before the file.

        Raises
        ------
        UserError
            If a name is not known, or the file is no such YAML.

        Examples
        --------
        >>> ColumnMap.of(None, ["conversation=chat", "overall=q8", "Turn=no"]).columns
        {'TaskId': 'chat', 'EmpathyOverall': 'q8', 'Turn': 'no'}
        """
        columns = {} if path is None else {_official(name, str(path)): str(of) for name, of in _entries(path).items()}
        for item in items:
            name, equals, of = item.partition("=")
            if not equals or not of.strip():
                raise UserError(f"--column {item!r}: expected NAME=COLUMN, e.g. Affective=q1.")
            columns[_official(name, f"--column {item}")] = of.strip()
        return cls(columns)

    def positions(self, sheet: Sheet, path: Path) -> dict[str, int]:
        """Find the columns in a table: those of the map, and further ones by their official names."""
        positions = {}
        for name, of in self.columns.items():
            found = [number for number, header in enumerate(sheet.header) if header == of]
            if len(found) != 1:
                problem = "is missing" if not found else "stands there several times"
                raise UserError(
                    f"{path}: the column {of!r} ({name}) {problem} in row 1 (columns present: "
                    f"{', '.join(sheet.header)}). Correct the map or the table."
                )
            positions[name] = found[0]
        for number, header in enumerate(sheet.header):
            name = _ALIKE.get(normalise_name(header))
            if name and name not in self.columns and number not in positions.values():
                if name in positions:
                    raise UserError(
                        f"{path}: columns {sheet.header[positions[name]]!r} and {header!r} could both be {name}. "
                        f"Say which: --column {name}=COLUMN."
                    )
                positions[name] = number
        return positions


@dataclass(frozen=True)
class RatingTable:
    """Ratings of turns.

    Attributes
    ----------
    path : Path
        The file.
    rows : list of dict
        Official name, or ``Turn``, -> cell; row ``i`` of the list is row ``i + 2`` of the table.
    columns : list of str
        Names that the table has.
    unused : list of str
        Columns of the table that have no meaning here.
    """

    path: Path
    rows: list[dict]
    columns: list[str]
    unused: list[str]

    def filled(self, row: Mapping) -> dict:
        """Answers of a row that are not blank."""
        return {name: row[name] for name in ANSWERS if name in row and not is_blank(row[name])}


def read_ratings(path: Path, columns: ColumnMap) -> RatingTable:
    """Read a table of ratings.

    Parameters
    ----------
    path : Path
        A CSV or parquet file, or a workbook, whose first sheet it is. Names of columns are in row 1.
    columns : ColumnMap
        What they mean. A column with a name of the official format needs no entry.

    Raises
    ------
    UserError
        If it can't be read, or lacks a column for the conversation, the turn, or any rating.
    """
    ending = path.suffix.casefold()
    if ending not in (*ENDINGS, ".xlsx"):
        raise UserError(
            f"{path}: expected a table that ends in {', '.join(ENDINGS)} or .xlsx. Save it as CSV in UTF-8."
        )
    sheet = next(iter(read_sheets(path).values())) if ending == ".xlsx" else read_table(path)
    positions = columns.positions(sheet, path)
    for wanted, (what, example) in _NEEDED.items():
        if not any(name in positions for name in wanted):
            raise UserError(
                f"{path}: no column for {what} (columns present: {', '.join(sheet.header)}). Name it: "
                f"--column {example}, or in a file for --columns."
            )
    rows = [{name: row[position] for name, position in positions.items()} for row in sheet.rows]
    unused = [header for number, header in enumerate(sheet.header) if number not in positions.values()]
    return RatingTable(path, rows, list(positions), unused)


def _official(name: object, where: str) -> str:
    official = _ALIKE.get(normalise_name(str(name)))
    if official is None:
        raise UserError(f"{where}: {str(name)[:60]!r} is no column of the format. Use one of {', '.join(_NAMES)}.")
    return official


def _entries(path: Path) -> Mapping:
    try:
        entries = parse_yaml(read_text(path))
    except ValueError as error:
        raise UserError(f"{path}: {one_line(error)}. Write one line per column, NAME: COLUMN.") from None
    of_bool = [name for name, of in entries.items() if isinstance(of, bool)] if isinstance(entries, Mapping) else []
    if of_bool:  # YAML reads a bare yes, no, on, off as a truth value
        raise UserError(f"{path}: {of_bool[0]}: this is read as true or false. Put the column's name in quotes.")
    if not isinstance(entries, Mapping) or not all(isinstance(of, str | int | float) for of in entries.values()):
        raise UserError(f"{path}: holds no map of columns. Write one line per column, NAME: COLUMN.")
    return entries
