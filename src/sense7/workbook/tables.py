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

# By itself the module takes a text of 131,072 characters for an open quote.
csv.field_size_limit(2**31 - 1)

_NUMBER = re.compile(r"-?\d{1,17}(\.\d{1,17})?")


def table_files(folder: str | Path) -> list[Path]:
    """Give the files of a folder that are tables, in the order of their names; hidden ones are passed over."""
    paths = sorted(Path(folder).glob("[!.]*"))
    files = [path for path in paths if path.suffix.casefold() == ".csv"]
    if not files:
        raise refusal(folder, "no-table", reason="no .csv file lies there")
    return files


def hash_tables(folder: str | Path) -> tuple[str, int]:
    """Give the SHA-256 of a folder's tables, by their names and bytes, and the number of their bytes."""
    total, size = hashlib.sha256(), 0
    for path in table_files(folder):
        with reading(path) as stream:
            digest = hashlib.file_digest(stream, "sha256").digest()
            size += stream.tell()
        total.update(path.name.encode() + b"\0" + digest)
    return total.hexdigest(), size


def read_tables(folder: str | Path, decimal: str = ".") -> dict[str, Sheet]:
    """Read every table of a folder: name -> sheet."""
    return {path.stem: read_table(path, decimal) for path in table_files(folder)}


def decoded(content: bytes, where: object, fix: str) -> str:
    """Text in UTF-8, with or without a byte order mark; a UserError says where it is none."""
    fault = content.find(b"\0")
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        fault = error.start
    if fault >= 0:
        line = content.count(b"\n", 0, fault) + 1
        raise UserError(f"{where}: line {line}, byte {fault + 1}: not a text in UTF-8. {fix}")
    return text


def as_typed(text: str, decimal: str = ".") -> str | float | None:
    """A CSV file's cell as a workbook's: None if blank, a number where that loses nothing, and texts as they were.

    Where a comma is the decimal sign, a text with a point is no number.
    """
    if is_guarded(text):
        return text[1:]
    if text and _NUMBER.fullmatch(text) and (decimal == "." or "." not in text):
        number = float(text)
        if text in (as_text(number), repr(number)):
            return number
    return text or None


def read_table(path: Path, decimal: str = ".") -> Sheet:
    """Read a CSV file (UTF-8; commas, semicolons, tabs or bars).

    Row ``i`` of the sheet's list is row ``i + 2`` of the table, where a text with line breaks is still one row.
    """
    with reading(path) as stream:
        content = stream.read()
    decoded(content, path, 'Save it again as CSV in UTF-8 (in a spreadsheet program: "CSV UTF-8").')
    # Line by line: a StringIO takes four bytes for each character of the file.
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    names = next(lines, "")
    delimiter = max(",;\t|", key=names.count)  # the first of equal ones
    table = csv.reader(itertools.chain([names], lines), delimiter=delimiter, strict=True)
    rows = []
    shared_cells = {}
    try:
        cells = without_end(next(table, []), "")
        header = [cell[1:] if is_guarded(cell) else cell for cell in cells]
        if not header:
            raise refusal(path, "no-table", reason="row 1 names no column")
        for number, cells in enumerate(table, 2):
            if len(header) > MOST_COLUMNS or len(header) * number > MOST_CELLS:
                reason = f"row 1 names {len(header):,} columns, of at least {number:,} rows"
                raise refusal(path, "too-large", reason=reason)
            filled = without_end(cells, "")
            if len(filled) > len(header):
                reason = f"{count_of(len(filled), 'cell')}, and row 1 names {count_of(len(header), 'column')}"
                raise refusal(path, "no-csv", row=number, reason=reason)
            # Equal cells are one object: ids, roles and answers recur in most rows.
            typed = [as_typed(text, decimal) for text in filled]
            row = [shared_cells.setdefault(cell, cell) for cell in typed]
            rows.append(row + [None] * (len(header) - len(filled)))
    except csv.Error as error:
        reason = f"no CSV, at or before line {table.line_num} ({one_line(error)})"
        raise refusal(path, "no-csv", row=len(rows) + 2, reason=reason) from None
    return Sheet(path.stem, header, without_end(rows, [None] * len(header)))
