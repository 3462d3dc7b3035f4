"""Sheets of the official format, and an empty workbook to fill in, with columns explained and answers to choose."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from sense7.taxonomy import CORE_COLUMNS, DIMENSIONS, TURN_RATING, Column
from sense7.workbook.diagnostics import refusal
from sense7.workbook.options import SCALES_SHEET, Interval, scale_columns
from sense7.workbook.xlsx import Sheet, new_workbook

MEANINGS = tomllib.loads(Path(__file__).with_name("template.toml").read_text("utf-8"))
"""Column -> what it means, of the format and of the sheet Participants."""


def official_sheets(
    tasks: list[dict], messages: list[dict], by: str = "official", further: Sequence[str] = ()
) -> list[Sheet]:
    """Lay out Tasks (with further columns) and Messages from cells by the official names, or those of the frames."""
    sheets = []
    for (name, columns), rows, more in zip(CORE_COLUMNS.items(), (tasks, messages), (list(further), []), strict=True):
        keys = [getattr(column, by) for column in columns] + more
        header = [column.official for column in columns] + more
        sheets.append(Sheet(name, header, [[row.get(key) for key in keys] for row in rows]))
    return sheets


def official_scales() -> Sheet:
    """The sheet that declares every column to be on the official scale."""
    rows = [[name, Interval(1, size).option] for name, size in scale_columns().items()]
    return Sheet(SCALES_SHEET, ["column", "scale"], rows)


def explain(column: Column) -> str:
    """Say what a column of the format means, and which answers it takes."""
    meaning = MEANINGS["format"].get(column.official)
    if meaning is None:
        dimension = next(one for one in DIMENSIONS if one.name == column.name.removeprefix("post_"))
        when = "After the conversation" if column.name.startswith("post_") else "In this message"
        meaning = f"{dimension.title}. {when}: the assistant {dimension.definition}."
    if column.scale is None:
        return meaning
    levels = ", ".join(f"{level} = {words[0]}" for level, words in enumerate(column.scale.vocabularies[0], 1))
    blank = "unknown: asked, but not rated; blank: not asked" if column.scale is TURN_RATING else "blank: no answer"
    return f"{meaning}\n{levels}. Numbers or words; {blank}."


def write_template(path: str | Path, *, replace: bool = False) -> Path:
    """Write an empty workbook with the sheets Tasks, Messages and Participants; equal calls give equal bytes.

    Each header cell has a note that says what the column means and which answers it takes; cells of answer scales have
    a list to choose from, which lets other entries through, as the reader knows numbers and further words too.
    """
    path = Path(path).expanduser()
    if path.suffix.casefold() != ".xlsx":
        raise refusal(path, "template-ending")
    if path.is_dir():
        raise refusal(path, "template-folder")
    if path.exists() and not replace:
        raise refusal(path, "template-there")
    with new_workbook(path) as book:
        bold = book.add_format({"bold": True, "bottom": 1})
        notes = {sheet: {one.official: explain(one) for one in columns} for sheet, columns in CORE_COLUMNS.items()}
        for sheet, meanings in (notes | {"Participants": MEANINGS["participants"]}).items():
            page = book.add_worksheet(sheet)
            for position, (name, note) in enumerate(meanings.items()):
                page.write_string(0, position, name, bold)
                page.write_comment(0, position, note, {"author": "", "x_scale": 2.2, "y_scale": 1.8})
                page.set_column(position, position, max(12, len(name) + 2))
            for position, column in enumerate(CORE_COLUMNS.get(sheet, ())):
                scale, choices = column.scale, ["user", "assistant", "error"]
                if scale is not None:
                    choices = [words[0].capitalize() for words in scale.vocabularies[0]]
                    choices += ["Unknown"] if scale is TURN_RATING else []
                elif column.name != "role":
                    continue
                validation = {
                    "validate": "list",
                    "source": choices,
                    # A role that isn't exactly one of the three makes no turn; answers are read in other forms too.
                    "error_type": "warning" if scale else "stop",
                    "error_title": "Not on the list",
                    "error_message": f"Numbers from 1 to {scale.size} are read too. Keep this entry?"
                    if scale
                    else f"Write exactly one of: {', '.join(choices)}.",
                }
                page.data_validation(
                    1, position, 20_000, position, validation
                )  # further rows can be filled all the same
            page.freeze_panes(1, 0)
    return path
