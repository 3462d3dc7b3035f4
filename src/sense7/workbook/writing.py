"""What is written in the official format: its sheets laid out, and an empty workbook to fill in."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from sense7.files import require_free
from sense7.taxonomy import (
    CORE_COLUMNS,
    DIMENSIONS,
    PARTICIPANT_COLUMNS,
    TURN_RATING,
    Column,
)
from sense7.workbook.diagnostics import refusal
from sense7.workbook.reading import STANDARD, reading_path, usual_words, write_reading
from sense7.workbook.xlsx import Sheet, new_workbook


def official_sheets(conversations: Iterable[tuple[Mapping, Iterable[Mapping]]]) -> list[Sheet]:
    """Lay out Tasks and Messages: each conversation is its task and its messages, cells by the official names."""
    tasks, messages = [], []
    for task, messages_of_task in conversations:
        tasks.append(task)
        for number, message in enumerate(messages_of_task, 1):
            ids = {"TaskId": task["TaskId"], "MessageId": float(number)}
            messages.append({**ids, **message})
    sheets = []
    for name, records in (("Tasks", tasks), ("Messages", messages)):
        header = [column.official for column in CORE_COLUMNS[name]]
        rows = [list(map(record.get, header)) for record in records]
        sheets.append(Sheet(name, header, rows))
    return sheets


# --- the template ---


def explain(column: Column) -> str:
    """Say what a column of the format means, and which answers it takes."""
    meaning = column.meaning
    for dimension in DIMENSIONS:
        says = f"the assistant {dimension.definition}."
        if column.name == dimension.name:
            meaning = f"{dimension.title}. In this message: {says}"
        elif column.name == f"post_{dimension.name}":
            meaning = f"{dimension.title}. After the conversation: {says}"
    if column.scale is None:
        return meaning
    words = usual_words(column.scale.name)
    levels = [f"{level} = {word}" for level, word in enumerate(words, 1)]
    no_answer = "blank: no answer"
    if column.scale is TURN_RATING:
        no_answer = "unknown: asked, but not rated; blank: not asked"
    return f"{meaning}\n{', '.join(levels)}. Numbers or words; {no_answer}."


def write_template(path: str | Path, *, replace: bool = False) -> Path:
    """Write an empty workbook with the sheets Tasks, Messages and Participants, and its reading file beside it.

    Equal calls give equal bytes. Each header cell has a note that says what the column means, and which answers it
    takes.
    """
    path = Path(path).expanduser()
    if path.suffix.casefold() != ".xlsx":
        raise refusal(path, "template-ending")
    require_free(path, replace=replace)
    require_free(reading_path(path), replace=replace)
    with new_workbook(path, replace=replace) as book:
        bold = book.add_format({"bold": True, "bottom": 1})
        notes = {}
        for sheet, columns in CORE_COLUMNS.items():
            notes[sheet] = {column.official: explain(column) for column in columns}
        notes["Participants"] = PARTICIPANT_COLUMNS
        for sheet, meanings in notes.items():
            page = book.add_worksheet(sheet)
            for position, (name, note) in enumerate(meanings.items()):
                page.write_string(0, position, name, bold)
                page.write_comment(
                    0, position, note, {"author": "", "x_scale": 2.2, "y_scale": 1.8}
                )
                page.set_column(position, position, max(12, len(name) + 2))
            page.freeze_panes(1, 0)
    write_reading(path, STANDARD)
    return path
