"""Cells in, cells out: xlsx files as plain sheets, before any meaning is given to them.

Reading is by calamine, which keeps texts such as NA, None and nan as texts and decodes
``_x000D_``; writing is by XlsxWriter, typed cell by cell, so that no text becomes a
number, a link or a formula. What is written is read back equal.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import is_zipfile

from sense7.errors import UserError

__all__ = ["Sheet", "cell_name", "read_sheets", "write_sheets"]

LONGEST_TEXT = 32_767
"""Characters a cell may hold by the xlsx standard's limits."""

_EPOCH = datetime.datetime(2025, 9, 19)
_TEMPORAL = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)


@dataclass(frozen=True)
class Sheet:
    """One sheet as it stands in the file.

    Attributes
    ----------
    name : str
        Name of the sheet.
    header : list of str
        Row 1 as text, in order; "" where a header cell is blank.
    rows : list of list
        The rows from row 2 on, each as long as the header. A cell is None (blank), str,
        float, bool, or a date or time. Row ``i`` of the list is row ``i + 2`` of the sheet.
    merged : int
        Number of merged ranges; only the first cell of each holds its value.
    visible : bool
        False if the sheet is hidden.
    """

    name: str
    header: list[str]
    rows: list[list] = field(repr=False)
    merged: int = 0
    visible: bool = True

    def column(self, index: int) -> list:
        """Cells of one column, from row 2 on."""
        return [row[index] for row in self.rows]


def cell_name(column: int, row: int) -> str:
    """Name of a cell: column counted from 0, row from 1.

    Examples
    --------
    >>> cell_name(0, 2), cell_name(27, 10)
    ('A2', 'AB10')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def read_sheets(path: str | Path) -> dict[str, Sheet]:
    """Read every worksheet of an Excel or OpenDocument file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        Name -> :class:`Sheet`, in the file's order. Chart sheets are passed over.

    Raises
    ------
    UserError
        If there is no such file, it can't be read, or it is no workbook.
    """
    import python_calamine

    path = Path(path)
    _require_readable(path)
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        metadata = {entry.name: entry for entry in book.sheets_metadata}
        sheets = {}
        for name in book.sheet_names:
            if metadata[name].typ != python_calamine.SheetTypeEnum.WorkSheet:
                continue
            sheets[name] = _sheet(name, book.get_sheet_by_name(name), metadata[name])
    except python_calamine.PasswordError:
        raise UserError(
            f"{path}: the workbook is protected by a password. Save a copy without one and use that."
        ) from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise UserError(
            f"{path}: not a workbook that can be read ({_one_line(error)}). "
            "Expected an .xlsx file; open it in a spreadsheet program and save it anew as .xlsx."
        ) from None
    return sheets


def _require_readable(path: Path) -> None:
    if not path.exists():
        raise UserError(f"{path}: there is no such file. Check the path.")
    if path.is_dir():
        raise UserError(f"{path}: this is a folder. Give the path of an .xlsx file.")
    try:
        with path.open("rb") as stream:
            start = stream.read(200)
    except OSError as error:
        raise UserError(f"{path}: can't be opened ({error.strerror}). Check its permissions.") from None
    if not start:
        raise UserError(f"{path}: the file is empty. Fetch or save it again.")
    if start.startswith(b"version https://git-lfs"):
        raise UserError(f"{path}: this is a Git LFS pointer, not the workbook itself. Download the file it stands for.")
    if path.suffix.casefold() == ".xlsx" and not is_zipfile(path) and not start.startswith(b"\xd0\xcf"):
        raise UserError(f"{path}: not an .xlsx file, or cut short (it is no zip archive). Fetch or save it again.")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _sheet(name, source, metadata) -> Sheet:
    import python_calamine

    table = source.to_python(skip_empty_area=False)
    header = [_header_text(cell) for cell in table[0]] if table else []
    rows = [[None if cell == "" else cell for cell in row] for row in table[1:]]
    while rows and all(cell is None for cell in rows[-1]):
        rows.pop()
    return Sheet(
        name=name,
        header=header,
        rows=rows,
        merged=len(source.merged_cell_ranges or ()),
        visible=metadata.visible == python_calamine.SheetVisibleEnum.Visible,
    )


def _header_text(cell) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def write_sheets(sheets: Mapping[str, Sheet] | Sequence[Sheet], path: str | Path) -> None:
    """Write sheets to an .xlsx file, cell by cell with their types.

    Texts stay texts, whatever they begin with; control characters are escaped as the
    format prescribes. The file's bytes depend on its content only. It appears whole or
    not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    sheets : mapping or sequence of Sheet
        In the order in which they are to stand. A cell may also be an int, or a NaN,
        which is written blank.
    path : path
        Where the file is to be.

    Raises
    ------
    UserError
        If a cell can't be held by the format without loss (a text of more than 32,767
        characters, a character that XML has no place for, an infinite number, a type
        that cells do not have), naming it; or if the file can't be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.xlsx"
    >>> write_sheets([Sheet("Notes", ["text"], [["=1+1"], ["NA"], [None], [3.0]])], path)
    >>> read_sheets(path)["Notes"].rows
    [['=1+1'], ['NA'], [None], [3.0]]
    """
    import xlsxwriter

    path = Path(path)
    temporary = path.with_name(f".{path.name}.part")
    ordered = list(sheets.values() if isinstance(sheets, Mapping) else sheets)
    for sheet in ordered:
        _require_writable(sheet, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        book = xlsxwriter.Workbook(str(temporary), {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
        book.set_properties({"created": _EPOCH})
        for sheet in ordered:
            page = book.add_worksheet(sheet.name)
            page.freeze_panes(1, 0)
            if not sheet.visible:
                page.hide()
            for column, text in enumerate(sheet.header):
                page.write_string(0, column, text)
            for row, cells in enumerate(sheet.rows, 1):
                for column, cell in enumerate(cells):
                    _write_cell(page, row, column, cell)
        book.close()
        temporary.replace(path)
    except (OSError, xlsxwriter.exceptions.XlsxWriterException) as error:
        raise UserError(f"{path}: can't be written ({_one_line(error)}).") from None
    finally:
        temporary.unlink(missing_ok=True)


def _is_blank(cell) -> bool:
    return cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))


def _write_cell(page, row: int, column: int, cell) -> None:
    if _is_blank(cell):
        return
    if isinstance(cell, str):
        page.write_string(row, column, cell)
    elif isinstance(cell, bool):
        page.write_boolean(row, column, cell)
    elif isinstance(cell, _TEMPORAL):
        page.write_datetime(row, column, cell)
    else:
        page.write_number(row, column, cell)


def _require_writable(sheet: Sheet, path: Path) -> None:
    for row, cells in enumerate([sheet.header, *sheet.rows], 1):
        for column, cell in enumerate(cells):
            if problem := _unwritable(cell):
                raise UserError(
                    f"{path}: sheet {sheet.name}, cell {cell_name(column, row)}: {problem}. Nothing was written."
                )


def _unwritable(cell) -> str | None:
    if _is_blank(cell) or isinstance(cell, (bool, *_TEMPORAL)):
        return None
    if isinstance(cell, str):
        if len(cell) > LONGEST_TEXT:
            return f"a text of {len(cell):,} characters; an .xlsx cell holds at most {LONGEST_TEXT:,}"
        if any("\ud800" <= character <= "\udfff" or character in "\ufffe\uffff" for character in cell):
            return "a character that an .xlsx file can't hold (a lone surrogate, U+FFFE or U+FFFF)"
        return None
    if isinstance(cell, int | float):
        return None if math.isfinite(cell) else "an infinite number; an .xlsx cell can't hold one"
    return f"a value of type {type(cell).__name__}; cells hold text, numbers, truth values and dates"
