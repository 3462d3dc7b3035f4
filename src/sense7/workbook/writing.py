"""What is written in the official format: its sheets laid out, an empty workbook to fill in, and a data set in parts.

Parts are by participant, for what no memory holds at once: ``part=0000/Tasks.csv``, ``part=0000/Messages.csv``
and so on, named as Hive, Spark, DuckDB and Dask name partitions. All that a participant did lies in one part, and each
part is read like any folder of tables.
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sense7.csv_text import csv_text, guarded
from sense7.errors import UserError
from sense7.file_names import file_names
from sense7.files import not_written, replacing_folder, require_empty, require_free
from sense7.study import ABSENT, RATED, UNREADABLE, Study
from sense7.taxonomy import CORE_COLUMNS, DIMENSIONS, RATING_NAMES, TURN_RATING, Column
from sense7.terminal import count_of
from sense7.workbook.diagnostics import Diagnostics, refusal
from sense7.workbook.ids import as_text
from sense7.workbook.options import SCALES_SHEET, Interval, is_scales_sheet, scale_columns
from sense7.workbook.table import KEY_COLUMNS, locate_sheet
from sense7.workbook.tables import as_typed
from sense7.workbook.xlsx import Sheet, new_workbook

MEANINGS = tomllib.loads(Path(__file__).with_name("template.toml").read_text("utf-8"))
"""Column -> what it means, of the format and of the sheet Participants."""


def official_sheets(
    tasks: list[dict], messages: list[dict], by: str = "official", further: Sequence[str] = ()
) -> list[Sheet]:
    """Lay out Tasks (with further columns) and Messages from cells by the official names, or those of the frames."""
    sheets = []
    for name, records, further_columns in (("Tasks", tasks, further), ("Messages", messages, ())):
        columns = CORE_COLUMNS[name]
        header = [*(column.official for column in columns), *further_columns]
        keys = [*(getattr(column, by) for column in columns), *further_columns]
        rows = [list(map(record.get, keys)) for record in records]
        sheets.append(Sheet(name, header, rows))
    return sheets


def official_scales() -> Sheet:
    """The sheet that declares every column to be on the official scale."""
    rows = [[name, Interval(1, size).option] for name, size in scale_columns().items()]
    return Sheet(SCALES_SHEET, ["column", "scale"], rows)


# --- the template ---


def explain(column: Column) -> str:
    """Say what a column of the format means, and which answers it takes."""
    meaning = MEANINGS["format"].get(column.official)
    for dimension in DIMENSIONS:
        says = f"the assistant {dimension.definition}."
        if column.name == dimension.name:
            meaning = f"{dimension.title}. In this message: {says}"
        elif column.name == f"post_{dimension.name}":
            meaning = f"{dimension.title}. After the conversation: {says}"
    if column.scale is None:
        return meaning
    levels = [
        f"{level} = {words[0]}" for level, words in enumerate(column.scale.vocabularies[0], 1)
    ]
    no_answer = "blank: no answer"
    if column.scale is TURN_RATING:
        no_answer = "unknown: asked, but not rated; blank: not asked"
    return f"{meaning}\n{', '.join(levels)}. Numbers or words; {no_answer}."


def write_template(path: str | Path, *, replace: bool = False) -> Path:
    """Write an empty workbook with the sheets Tasks, Messages and Participants; equal calls give equal bytes.

    Each header cell has a note that says what the column means and which answers it takes.
    """
    path = Path(path).expanduser()
    if path.suffix.casefold() != ".xlsx":
        raise refusal(path, "template-ending")
    require_free(path, replace=replace)
    with new_workbook(path, replace=replace) as book:
        bold = book.add_format({"bold": True, "bottom": 1})
        notes = {}
        for sheet, columns in CORE_COLUMNS.items():
            notes[sheet] = {column.official: explain(column) for column in columns}
        notes["Participants"] = MEANINGS["participants"]
        for sheet, meanings in notes.items():
            page = book.add_worksheet(sheet)
            for position, (name, note) in enumerate(meanings.items()):
                page.write_string(0, position, name, bold)
                page.write_comment(
                    0, position, note, {"author": "", "x_scale": 2.2, "y_scale": 1.8}
                )
                page.set_column(position, position, max(12, len(name) + 2))
            page.freeze_panes(1, 0)
    return path


# --- parts ---


def partition_folders(folder: str | Path) -> list[Path]:
    """Give the parts of a data set, in order: its folders ``part=0000``, ``part=0001`` and so on."""
    folder = Path(folder).expanduser()
    folders = []
    for path in sorted(folder.glob("part=*")):
        if re.fullmatch(r"part=\d+", path.name) and path.is_dir():
            folders.append(path)
    if not folders:
        raise refusal(folder, "no-part", folder=folder)
    return folders


def write_partitions(study: Study, folder: str | Path, parts: int) -> list[Path]:
    """Write a study in parts, each with all that some of the participants did, about as many in each.

    What is written is what was validated: conversations as Tasks spells them, levels as numbers, ``unknown`` where
    somebody declined to rate. ``folder`` is absent or empty, and appears whole or not at all.
    """
    folder = Path(folder).expanduser().absolute()
    participants = study.conversations["participant"].unique()
    if not 1 <= parts <= len(participants):
        raise refusal(count_of(parts, "part"), "number-of-parts", people=len(participants))
    try:
        require_empty(folder)
        with replacing_folder(folder) as making:
            for number, part_participants in enumerate(np.array_split(participants, parts)):
                target = making / f"part={number:04d}"
                target.mkdir()
                sheets = _sheets(study, part_participants.tolist())
                names = file_names((sheet.name for sheet in sheets), study.name)
                for sheet in sheets:
                    _require_as_typed(sheet)
                    text = csv_text([sheet.header, *sheet.rows])
                    path = target / f"{names[sheet.name]}.csv"
                    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    except OSError as error:
        raise UserError(not_written(error.filename or folder, error)) from None
    return partition_folders(folder)


def _sheets(study: Study, participants: list[str]) -> list[Sheet]:
    """The sheets of a part: the official ones of these participants, and every further one whole."""

    def records(frame) -> list[dict]:
        cells = frame.astype(object)
        return cells.where(cells.notna(), None).to_dict("records")

    is_in_part = study.conversations["participant"].isin(participants)
    conversations = study.conversations[is_in_part]
    has_no_id = conversations["participant"].str.startswith(" (no PID)")
    tasks = conversations.assign(participant=conversations["participant"].mask(has_no_id, None))
    ratings = study.turns[["row"]].copy()
    for name in RATING_NAMES:
        states = study.turns[f"{name}_state"]
        ratings[name] = study.turns[name].astype(object).where(states == RATED, "unknown")
        ratings.loc[states == ABSENT, name] = None
        # No word of any scale, so it stays unreadable.
        ratings.loc[states == UNREADABLE, name] = UNREADABLE
    messages = study.messages[study.messages["conversation"].isin(conversations["conversation"])]
    messages = messages.join(ratings.set_index("row"), on="row")
    sheets = official_sheets(records(tasks), records(messages), by="name")
    names_of_written = set()
    for official in KEY_COLUMNS:
        names_of_written.add(locate_sheet(study.sheets, official, Diagnostics()).name)
    if study.participants is not None:
        characteristics = study.participants[study.participants["participant"].isin(participants)]
        characteristics = characteristics.drop(columns="row")
        rows = [list(record.values()) for record in records(characteristics)]
        header = ["PID", *characteristics.columns[1:]]
        sheets.append(Sheet(study.participants_sheet, header, rows))
        names_of_written.add(study.participants_sheet)
    # What is written is on the official scales, and may lie between two levels of them.
    sheets.append(official_scales())
    for name, sheet in study.sheets.items():
        if name not in names_of_written and not is_scales_sheet(sheet):
            sheets.append(sheet)
    return sheets


def _require_as_typed(sheet: Sheet) -> None:
    """Refuse a text that would be read back as a number."""
    for number, row in enumerate(sheet.rows, 2):
        for column, cell in zip(sheet.header, row, strict=True):
            if isinstance(cell, str) and as_text(as_typed(str(guarded(cell)))) != (cell or None):
                where = f"sheet {sheet.name}, column {column}, row {number} of a part"
                raise refusal(where, "text-like-number", text=cell)
