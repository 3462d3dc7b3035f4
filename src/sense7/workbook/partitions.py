"""A data set in parts by participant, for what no memory holds at once: each part a folder of tables of its own.

``part=0000/Tasks.parquet``, ``part=0000/Messages.parquet`` and so on, named as Hive, Spark, DuckDB and Dask name
partitions. All that a participant did lies in one part, and each part is read like any folder of tables.
"""

import csv
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import not_written, one_line, reason, scratch_folder
from sense7.study import ABSENT, RATED, UNREADABLE, Study
from sense7.taxonomy import MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS
from sense7.terminal import count_of
from sense7.workbook.columns import KEY_COLUMNS, locate_sheet
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.options import SCALES_SHEET, Interval, is_scales_sheet, scale_columns
from sense7.workbook.sheets import Sheet
from sense7.workbook.tables import as_typed
from sense7.workbook.values import as_text

__all__ = ["FORMATS", "partition_folders", "write_partitions"]

FORMATS = ("parquet", "csv")
_NAME = re.compile(r"part=\d+")


def partition_folders(folder: str | Path) -> list[Path]:
    """Give the parts of a data set, in order.

    Parameters
    ----------
    folder : path
        Holds folders ``part=0000``, ``part=0001`` and so on; what else lies there is passed over.

    Raises
    ------
    UserError
        If it can't be read or holds no part.
    """
    folder = Path(folder).expanduser()
    try:
        folders = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_dir())
    except OSError as error:
        raise UserError(f"{folder}: can't be read ({reason(error)}). Check its path and permissions.") from None
    if not folders:
        raise UserError(f"{folder}: holds no part (part=0000, ..). Make them: sense7 partition WORKBOOK {folder}")
    return folders


def write_partitions(study: Study, folder: str | Path, parts: int, *, form: str = "parquet") -> list[Path]:
    """Write a study in parts, each with all that some of the participants did.

    Parameters
    ----------
    study : Study
        What is written is what was validated: conversations as Tasks spells them, levels as numbers, ``unknown``
        where somebody declined to rate. Messages that belong to no conversation are left out, as they were in reading.
    folder : path
        Absent or empty; it appears whole or not at all.
    parts : int
        Number of parts, at most that of participants. Parts are about equal in messages.
    form : {"parquet", "csv"}
        Parquet is written by pyarrow, and keeps every text.

    Returns
    -------
    list of Path
        The parts' folders.

    Raises
    ------
    UserError
        If the folder is in use or can't be written, there are fewer participants than parts, or a text can't be
        kept by the format.
    """
    folder = Path(folder).expanduser().absolute()
    people = study.conversations["participant"].unique()
    if not 1 <= parts <= len(people):
        raise UserError(
            f"{count_of(parts, 'part')}: give a number from 1 to {len(people)}, the number of participants."
        )
    write = {"parquet": _write_parquet, "csv": _write_csv}[form]
    part_of = _parts(study, parts)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UserError(f"{folder}: is there already. Remove it, or give another place.")
        with scratch_folder(folder.parent) as scratch:
            making = scratch / folder.name
            for number in range(parts):
                target = making / f"part={number:04d}"
                target.mkdir(parents=True)
                for sheet in _sheets(study, set(part_of.index[part_of == number])):
                    write(sheet, target / f"{sheet.name}.{form}")
            if folder.exists():
                folder.rmdir()
            shutil.move(making, folder)
    except OSError as error:
        raise UserError(not_written(error.filename or folder, error)) from None
    return partition_folders(folder)


def _parts(study: Study, parts: int) -> pd.Series:
    """Participant -> number of the part: in order of the file, cut where messages are about equally shared."""
    conversations = study.conversations
    messages = conversations["conversation"].map(study.messages["conversation"].value_counts()).fillna(0) + 1
    load = messages.groupby(conversations["participant"], sort=False).sum()
    part = np.floor((load.cumsum() - load) / load.sum() * parts).astype(int).to_numpy()
    return pd.Series(_without_gaps(part, parts), index=load.index)


def _without_gaps(part: np.ndarray, parts: int) -> np.ndarray:
    """Parts that rise by at most one, and reach the last: none stays empty.

    >>> _without_gaps(np.array([0, 0, 3, 3, 3]), 4).tolist()
    [0, 0, 1, 2, 3]
    """
    count, out, last = len(part), [], -1
    for number, wanted in enumerate(part.tolist()):
        last = min(last + 1, max(last, wanted, parts - (count - number), 0))
        out.append(last)
    return np.array(out)


def _sheets(study: Study, people: set[str]) -> Iterator[Sheet]:
    """The sheets of a part: the official ones of these participants, and every further one whole."""
    own = study.conversations[study.conversations["participant"].isin(people)]
    tasks = own.assign(participant=own["participant"].where(~own["participant"].str.startswith(" (no PID)"), None))
    yield _sheet("Tasks", tasks, TASK_COLUMNS)
    ratings = {
        name: study.turns[name].astype(object).where(study.turns[f"{name}_state"] == RATED, "unknown")
        for name in RATING_NAMES
    }
    for name, cells in ratings.items():
        cells[study.turns[f"{name}_state"] == ABSENT] = None
        cells[study.turns[f"{name}_state"] == UNREADABLE] = UNREADABLE  # no word of any scale, so it stays that
    rated = pd.DataFrame(ratings).set_index(study.turns["row"])
    said = study.messages[study.messages["conversation"].isin(own["conversation"])]
    yield _sheet("Messages", said.join(rated, on="row"), MESSAGE_COLUMNS)
    if study.participants is not None:
        known = study.participants[study.participants["participant"].isin(people)].drop(columns="row")
        header = ["PID", *known.columns[1:]]
        yield Sheet(study.participants_sheet, header, [_plain(row) for row in known.itertuples(index=False)])
    written = [study.sheets.get(study.participants_sheet)]
    written += [locate_sheet(study.sheets, official, Diagnostics()) for official in KEY_COLUMNS]
    written += filter(is_scales_sheet, study.sheets.values())
    # What is written is on the official scale, and may lie between two of its levels.
    scales = [[column, Interval(1, size).option] for column, size in scale_columns().items()]
    yield Sheet(SCALES_SHEET, ["column", "scale"], scales)
    yield from (sheet for sheet in study.sheets.values() if not any(sheet is other for other in written))


def _sheet(name: str, frame: pd.DataFrame, columns) -> Sheet:
    present = [column for column in columns if column.name in frame]
    cells = frame[[column.name for column in present]]
    return Sheet(name, [column.official for column in present], [_plain(row) for row in cells.itertuples(index=False)])


def _plain(row) -> list:
    return [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row]


def _write_csv(sheet: Sheet, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as stream:
        table = csv.writer(stream)
        table.writerow(sheet.header)
        for number, row in enumerate(sheet.rows, 2):
            texts = ["" if cell is None else as_text(cell) for cell in row]
            for column, cell, text in zip(sheet.header, row, texts, strict=True):
                if isinstance(cell, str) and as_text(as_typed(text)) != cell:
                    raise UserError(
                        f"sheet {sheet.name}, column {column}, row {number} of a part: a CSV file can't tell the text "
                        f"{cell!r} from a number. Write parquet: --format parquet"
                    )
            table.writerow(texts)


def _write_parquet(sheet: Sheet, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError(
            "parquet files are written by pyarrow, which is not installed. "
            "Run: python -m pip install pyarrow; or write CSV: --format csv"
        ) from None
    columns = {}
    try:
        for position, name in enumerate(sheet.header):
            cells = sheet.column(position)
            if len({type(cell) for cell in cells if cell is not None}) > 1:  # a column of a parquet file has one type
                cells = [as_text(cell) for cell in cells]
            columns[name] = pyarrow.array(cells)
        parquet.write_table(pyarrow.table(columns), path)
    except (pyarrow.ArrowException, UnicodeError) as error:
        raise UserError(f"sheet {sheet.name}: can't be kept in a parquet file ({one_line(error)}).") from None
