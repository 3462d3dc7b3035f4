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
from sense7.taxonomy import CORE_COLUMNS, RATING_NAMES
from sense7.terminal import count_of
from sense7.workbook.diagnostics import Diagnostics, refusal
from sense7.workbook.ids import as_text
from sense7.workbook.options import is_scales_sheet
from sense7.workbook.sheets import KEY_COLUMNS, locate_sheet
from sense7.workbook.tables import as_typed
from sense7.workbook.template import official_scales
from sense7.workbook.xlsx import Sheet

FORMATS = ("parquet", "csv")


def partition_folders(folder: str | Path) -> list[Path]:
    """Give the parts of a data set, in order: its folders ``part=0000``, ``part=0001`` and so on."""
    folder = Path(folder).expanduser()
    try:
        folders = sorted(path for path in folder.iterdir() if re.fullmatch(r"part=\d+", path.name) and path.is_dir())
    except OSError as error:
        raise refusal(folder, "unreadable-folder", error=reason(error)) from None
    if not folders:
        raise refusal(folder, "no-part", folder=folder)
    return folders


def write_partitions(study: Study, folder: str | Path, parts: int, *, form: str = "parquet") -> list[Path]:
    """Write a study in parts about equal in messages, each with all that some of the participants did.

    What is written is what was validated: conversations as Tasks spells them, levels as numbers, ``unknown`` where
    somebody declined to rate. ``folder`` is absent or empty, and appears whole or not at all.
    """
    folder = Path(folder).expanduser().absolute()
    people = study.conversations["participant"].unique()
    if not 1 <= parts <= len(people):
        raise refusal(count_of(parts, "part"), "number-of-parts", people=len(people))
    write = {"parquet": _write_parquet, "csv": _write_csv}[form]
    # Participants in order of the file, cut where messages are about equally shared; no part stays empty.
    conversations = study.conversations
    messages = conversations["conversation"].map(study.messages["conversation"].value_counts()).fillna(0) + 1
    load = messages.groupby(conversations["participant"], sort=False).sum()
    wanted, part_of, last = np.floor((load.cumsum() - load) / load.sum() * parts).astype(int), {}, -1
    for number, (participant, part) in enumerate(wanted.items()):
        last = min(last + 1, max(last, part, parts - (len(wanted) - number), 0))
        part_of[participant] = last
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise refusal(folder, "folder-in-use")
        with scratch_folder(folder.parent) as scratch:
            making = scratch / folder.name
            for number in range(parts):
                target = making / f"part={number:04d}"
                target.mkdir(parents=True)
                for sheet in _sheets(study, {one for one, part in part_of.items() if part == number}):
                    write(sheet, target / f"{sheet.name}.{form}")
            if folder.exists():
                folder.rmdir()
            shutil.move(making, folder)
    except OSError as error:
        raise UserError(not_written(error.filename or folder, error)) from None
    return partition_folders(folder)


def _sheets(study: Study, people: set[str]) -> Iterator[Sheet]:
    """The sheets of a part: the official ones of these participants, and every further one whole."""

    def rows(frame: pd.DataFrame) -> list[list]:
        return [
            [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row]
            for row in frame.itertuples(index=False)
        ]

    own = study.conversations[study.conversations["participant"].isin(people)]
    tasks = own.assign(participant=own["participant"].where(~own["participant"].str.startswith(" (no PID)"), None))
    ratings = {}
    for name in RATING_NAMES:
        states = study.turns[f"{name}_state"]
        ratings[name] = study.turns[name].astype(object).where(states == RATED, "unknown")
        ratings[name][states == ABSENT] = None
        ratings[name][states == UNREADABLE] = UNREADABLE  # no word of any scale, so it stays that
    said = study.messages[study.messages["conversation"].isin(own["conversation"])]
    frames = {"Tasks": tasks, "Messages": said.join(pd.DataFrame(ratings).set_index(study.turns["row"]), on="row")}
    for sheet, frame in frames.items():
        present = [column for column in CORE_COLUMNS[sheet] if column.name in frame]
        names = [column.name for column in present]
        yield Sheet(sheet, [column.official for column in present], rows(frame[names]))
    if study.participants is not None:
        known = study.participants[study.participants["participant"].isin(people)].drop(columns="row")
        yield Sheet(study.participants_sheet, ["PID", *known.columns[1:]], rows(known))
    written = [study.sheets.get(study.participants_sheet)]
    written += [locate_sheet(study.sheets, official, Diagnostics()) for official in KEY_COLUMNS]
    written += filter(is_scales_sheet, study.sheets.values())
    yield official_scales()  # which what is written is on, and may lie between two levels of
    yield from (sheet for sheet in study.sheets.values() if not any(sheet is other for other in written))


def _write_csv(sheet: Sheet, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as stream:
        table = csv.writer(stream)
        table.writerow(sheet.header)
        for number, row in enumerate(sheet.rows, 2):
            texts = ["" if cell is None else as_text(cell) for cell in row]
            for column, cell, text in zip(sheet.header, row, texts, strict=True):
                if isinstance(cell, str) and as_text(as_typed(text)) != cell:
                    place = f"sheet {sheet.name}, column {column}, row {number} of a part"
                    raise refusal(place, "text-like-number", text=cell)
            table.writerow(texts)


def _write_parquet(sheet: Sheet, path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise refusal(path, "no-pyarrow/writing") from None
    columns = {}
    try:
        for position, name in enumerate(sheet.header):
            cells = sheet.column(position)
            if len({type(cell) for cell in cells if cell is not None}) > 1:  # a column of a parquet file has one type
                cells = [as_text(cell) for cell in cells]
            columns[name] = pyarrow.array(cells)
        parquet.write_table(pyarrow.table(columns), path)
    except (pyarrow.ArrowException, UnicodeError) as error:
        raise refusal(f"sheet {sheet.name}", "not-for-parquet", error=one_line(error)) from None
