"""A folder of tables in place of a workbook: each CSV file is the sheet of its name.

A CSV file knows no types, so a cell is a number exactly where the number, written out again, gives the same
text: 4, 4.0 and -0.5 are numbers; 007, 1e3 and NA stay texts, and nothing is lost on the way. Where a number is
expected the reader takes such texts for numbers all the same.
"""

import csv
import hashlib
import io
import itertools
import re
from pathlib import Path

from sense7.csv_text import is_guarded
from sense7.errors import UserError
from sense7.files import one_line, reading
from sense7.terminal import count_of
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_text
from sense7.workbook.xlsx import MOST_CELLS, MOST_COLUMNS, Sheet, without_end

csv.field_size_limit(
    2**31 - 1
)  # by itself the module takes a text of 131,072 characters for an open quote

_SEPARATOR = re.compile(r'"?sep=(.)"?\1*+\s*', re.IGNORECASE)
"""A first line by which Excel is told the separator."""

_NUMBER = re.compile(r"-?\d{1,17}(\.\d{1,17})?")


def table_files(folder: str | Path) -> list[Path]:
    """Give the files of a folder that are tables, in the order of their names; hidden ones are passed over."""
    files, seen = (
        sorted(path for path in Path(folder).glob("[!.]*") if path.suffix.casefold() == ".csv"),
        {},
    )
    if not files:
        raise refusal(folder, "no-table")
    for path in files:
        if (other := seen.setdefault(path.stem.casefold(), path)) is not path:
            raise refusal(folder, "table-twice", first=other.name, second=path.name)
    return files


def hash_tables(folder: str | Path) -> tuple[str, int]:
    """Give the SHA-256 of a folder's tables, by their names and bytes, and the number of their bytes."""
    total, size = hashlib.sha256(), 0
    for path in table_files(folder):
        with reading(path) as stream:
            total.update(
                path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest()
            )
            size += stream.tell()
    return total.hexdigest(), size


def read_tables(folder: str | Path) -> dict[str, Sheet]:
    """Read every table of a folder: name -> sheet."""
    return {path.stem: read_table(path) for path in table_files(folder)}


def decoded(content: bytes, where: object, fix: str) -> str:
    """Text in UTF-8, with or without a byte order mark; a UserError says where it is none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"line {line}, " if (line := content.count(b"\n", 0, error.start) + 1) > 1 else ""
        raise UserError(f"{where}: {place}byte {error.start + 1}: not UTF-8. {fix}") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{where}: line {line}: a zero byte, so this is no text in UTF-8. {fix}")
    return text


def as_typed(text: str) -> str | float | None:
    """A CSV file's cell as a workbook's: None if blank, a number where that loses nothing, and texts as they were."""
    if is_guarded(text):
        return text[1:]
    if text and _NUMBER.fullmatch(text):
        number = float(text)
        if text in (as_text(number), repr(number)):
            return number
    return text or None


def read_table(path: Path) -> Sheet:
    """Read a CSV file (UTF-8; commas, semicolons, tabs or bars).

    Row ``i`` of the sheet's list is row ``i + 2`` of the table, where a text with line breaks is still one row.
    """
    with reading(path) as stream:
        content = stream.read()
    decoded(content, path, 'Save it again as CSV in UTF-8 (in a spreadsheet program: "CSV UTF-8").')
    # Line by line: a StringIO takes four bytes for each character of the file.
    lines, rows, shared = (
        io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""),
        [],
        {},
    )
    sample = list(itertools.islice(lines, 500))
    if said := sample and _SEPARATOR.fullmatch(sample[0]):
        sample.pop(0)
    delimiter = (
        said[1] if said else max(",;\t|", key=lambda one: _fit(sample, one))
    )  # the first of equal ones
    spaced = bool(sample) and sample[0].count(delimiter) == sample[0].count(f"{delimiter} ") > 0
    dialect = {"delimiter": delimiter, "skipinitialspace": spaced, "strict": True}
    table = csv.reader(itertools.chain(sample, lines), **dialect)
    try:
        header = [
            name[1:] if is_guarded(name) else name for name in without_end(next(table, []), "")
        ]
        if not header:
            raise refusal(path, "no-names")
        for number, cells in enumerate(table, 2):
            if len(header) > MOST_COLUMNS or len(header) * number > MOST_CELLS:
                raise refusal(path, "too-far/table", columns=len(header), rows=number)
            if len(filled := without_end(cells, "")) > len(header):
                counts = {
                    "cells": count_of(len(filled), "cell"),
                    "columns": count_of(len(header), "column"),
                }
                raise refusal(path, "too-many-fields", row=number, **counts)
            # Equal cells are one object: ids, roles and answers recur in most rows.
            row = [shared.setdefault(cell, cell) for cell in map(as_typed, filled)]
            rows.append(row + [None] * (len(header) - len(filled)))
    except csv.Error as error:
        line = table.line_num + bool(said)
        raise refusal(path, "no-csv", row=len(rows) + 2, line=line, error=one_line(error)) from None
    return Sheet(path.stem, header, without_end(rows, [None] * len(header)))


def _fit(lines: list[str], delimiter: str) -> tuple[bool, float, int]:
    """How well lines are a table with a separator: unbroken, with rows as wide as the names, or else narrower."""
    table, whole, widths = csv.reader(lines, delimiter=delimiter, strict=True), True, []
    try:
        for cells in table:
            widths += [len(cells)] if cells else []
    except csv.Error:
        whole = table.line_num == len(lines)  # at its end the sample may cut a text in two
    names, *rows = widths or [0]
    fitting = sum(1 + (width == names) for width in rows if 1 < width <= names)
    return (whole, fitting / max(1, len(rows)), names) if names > 1 else (False, 0, 0)
