"""Cells in, cells out: xlsx files as plain sheets, before any meaning is given to them.

Reading is by calamine, which keeps texts such as NA, None and nan as texts and decodes
``_x000D_``; writing is by XlsxWriter, typed cell by cell, so that no text becomes a
number, a link or a formula. What is written is read back equal; what can't be is refused.
"""

import datetime
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from zipfile import is_zipfile

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing
from sense7.workbook.package import MOST_COLUMNS, MOST_ROWS, Marks, examine, long_numbers

__all__ = ["Percent", "Sheet", "cell_name", "read_sheets", "write_sheets"]

LONGEST_TEXT = 32_767
"""Characters (UTF-16 units, so most emoji count twice) that a cell of an .xlsx file may hold."""

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""How files of Office begin that are no zip archives: those before .xlsx, and any that a password protects."""

_CREATED = datetime.datetime(2025, 9, 19)  # any fixed date: equal content is to give equal bytes
_EXACT = 2.0**53
"""Above it whole numbers come to equal their neighbors."""
_FIRST_DAY = datetime.date(1900, 1, 1)
_FORMATS = {
    datetime.datetime: "yyyy-mm-dd hh:mm:ss.000",
    datetime.date: "yyyy-mm-dd",
    datetime.time: "hh:mm:ss.000",
    datetime.timedelta: "[h]:mm:ss.000",
}


class Percent(float):
    """A number that the file shows as a percentage: 1.0 is shown as 100 %."""


@dataclass(frozen=True)
class Sheet:
    """One sheet as it stands in the file.

    Attributes
    ----------
    name : str
        Name of the sheet.
    header : list of str
        Row 1 as text, in order; "" where a header cell is blank. Blank columns at the end are left out.
    rows : list of list
        The rows from row 2 on, each as long as the header. A cell is None (blank), str,
        float, bool, or a date, time, moment or duration. Row ``i`` of the list is row ``i + 2``
        of the sheet. Blank rows at the end are left out.
    visible : bool
        False if the sheet is hidden.
    merged : int
        Number of merged ranges; only the first cell of each holds its value.
    errors : list of tuple
        Column (from 0) and row (from 1) of each cell that holds an error such as #N/A, which
        is read as blank.
    formulas : list of tuple
        Likewise of each formula that has no stored value, or was never calculated.
    hidden : list of int
        Rows (from 1) that are hidden, by a filter or by hand. Neither these nor formulas, errors and merged ranges are
        written or compared.
    """

    name: str
    header: list[str]
    rows: list[list] = field(repr=False)
    visible: bool = True
    merged: int = field(default=0, compare=False)
    errors: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    formulas: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)

    def column(self, index: int) -> list:
        """Cells of one column, from row 2 on."""
        return list(map(itemgetter(index), self.rows))


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


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or one.

    Parameters
    ----------
    path : path
        The file.
    only : str, optional
        Name of the one sheet that is to be read; nothing is read where the file has none of that name.

    Returns
    -------
    dict
        Name -> :class:`Sheet`, in the file's order. Chart sheets are passed over.

    Raises
    ------
    UserError
        If there is no such file, it can't be read, is no .xlsx workbook, or unpacks to more than can be read.
    """
    import python_calamine

    path = Path(path)
    _require_readable(path)
    marks = examine(path)
    where = ""
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        metadata = {entry.name: entry for entry in book.sheets_metadata}
        _require_distinct(book.sheet_names, path)
        sheets = {}
        for name in book.sheet_names:
            if metadata[name].typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"sheet {name}: "
            sheets[name] = _sheet(
                path, book.get_sheet_by_name(name), metadata[name], marks.get(name, Marks([], [], [], []))
            )
    except BaseException as error:
        # A panic of the Rust library derives from BaseException and has no importable name.
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, (python_calamine.CalamineError, OSError, ValueError)):
            raise
        raise UserError(
            f"{path}: {where}not a workbook that can be read ({one_line(error)}). "
            "Expected an .xlsx file; open it in a spreadsheet program and save it again as .xlsx."
        ) from None
    return sheets


def _require_readable(path: Path) -> None:
    with reading(path) as stream:
        start = stream.read(200)
    if not start:
        raise UserError(f"{path}: the file is empty. Fetch or save it again.")
    if start.startswith(b"version https://git-lfs"):
        raise UserError(f"{path}: this is a Git LFS pointer, not the workbook itself. Download the file it stands for.")
    if start.startswith(_OLD_OFFICE):
        raise UserError(
            f"{path}: the workbook is protected by a password, or of a format before .xlsx, and neither can be read. "
            "Save a copy as .xlsx without a password and use that."
        )
    if is_zipfile(path):
        return
    if path.suffix.casefold() == ".xlsx":
        raise UserError(f"{path}: not an .xlsx file, or cut short (it is no zip archive). Fetch or save it again.")
    tables = " Of CSV files, give the folder that holds Tasks.csv and Messages.csv."
    raise UserError(
        f"{path}: not a workbook that can be read. Expected an .xlsx file; open it in a spreadsheet program and save "
        f"it again as .xlsx.{tables if path.suffix.casefold() == '.csv' else ''}"
    )


def _require_distinct(names: list[str], path: Path) -> None:
    counts = Counter(map(str.casefold, names))
    for name in names:
        if counts[name.casefold()] > 1:
            raise UserError(f"{path}: several sheets are called {name}. Rename or remove all but one.")


def _sheet(path: Path, source, metadata, marks: Marks) -> Sheet:
    import python_calamine

    table = source.to_python(skip_empty_area=False)
    header = [_header_text(cell) for cell in table[0]] if table else []
    rows = [[None if cell == "" else cell for cell in row] for row in table[1:]]
    changes = [(*place, Percent) for place in marks.percentages] + [
        (*place, lambda _: None) for place in marks.formulas
    ]
    ids = [column for column, name in enumerate(header) if "id" in name.casefold()]
    if any(type(row[column]) is float and row[column] > _EXACT for row in rows for column in ids):
        # A number that comes to equal its neighbor stays what it is in the file, as a text.
        changes += [
            (*place, lambda number, digits=digits: number if int(number) == int(digits) else digits)
            for *place, digits in long_numbers(path, metadata.name)
        ]
    for column, row, change in changes:
        if 0 <= row - 2 < len(rows) and column < len(rows[row - 2]) and type(rows[row - 2][column]) is float:
            rows[row - 2][column] = change(rows[row - 2][column])
    while rows and not _filled(rows[-1]):
        rows.pop()
    width = _filled(header, "")
    if width < len(header):
        width = max(width, max(map(_filled, rows), default=0))
        header, rows = header[:width], [row[:width] for row in rows]
    return Sheet(
        name=metadata.name,
        header=header,
        rows=rows,
        visible=metadata.visible == python_calamine.SheetVisibleEnum.Visible,
        merged=len(source.merged_cell_ranges or ()),
        errors=marks.errors,
        formulas=marks.formulas,
        hidden=[row for row in marks.hidden if 1 < row <= len(rows) + 1],
    )


def _filled(cells: list, blank: object = None) -> int:
    """Number of cells up to the last that is not blank."""
    length = len(cells)
    while length and cells[length - 1] == blank:
        length -= 1
    return length


def _header_text(cell) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def write_sheets(sheets: Mapping[str, Sheet] | Sequence[Sheet], path: str | Path) -> None:
    """Write sheets to an .xlsx file, cell by cell with their types.

    Texts stay texts, also those that begin like a formula; control characters are escaped as the
    format prescribes; numbers keep every digit. The file's bytes depend on its content only. It
    appears whole or not at all: it is written beside its place and then moved there.

    What was read by :func:`read_sheets` is written and read again equal. Two kinds of cells
    come back as what the format makes of them: an int as a float, a moment at midnight as a date.

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
        If the format can't hold something without loss, naming it: a text of more than 32,767
        characters, a character that XML has no place for, an infinite number, an integer
        beyond the precision of cells, a time finer than a millisecond, a date before 1900, a type
        that cells do not have, a name that sheets can't have. Or if the file can't be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.xlsx"
    >>> write_sheets([Sheet("Notes", ["text"], [["=1+1"], ["NA"], [None], [3.0]])], path)
    >>> read_sheets(path)["Notes"].rows
    [['=1+1'], ['NA'], [None], [3.0]]
    """
    path = Path(path)
    ordered = list(sheets.values() if isinstance(sheets, Mapping) else sheets)
    _require_names(ordered, path)
    for sheet in ordered:
        _require_writable(sheet, path)
    try:
        with replacing(path) as part:
            _write(ordered, part)
    except Exception as error:
        # FileCreateError is XlsxWriter's name for an OSError.
        if not isinstance(error, OSError) and type(error).__name__ != "FileCreateError":
            raise
        raise UserError(not_written(path, error)) from None


def _write(sheets: list[Sheet], part: Path) -> None:
    import xlsxwriter

    # In constant_memory rows go to the disk as they come, in the folder of the unfinished file.
    made = io.BytesIO()  # an archive on a disk that is full reports that a second time when it is collected
    book = xlsxwriter.Workbook(made, {"constant_memory": True, "tmpdir": str(part.parent)})
    book.set_properties({"created": _CREATED})
    formats = {kind: book.add_format({"num_format": code}) for kind, code in _FORMATS.items()}
    shown = False
    for sheet in sheets:
        page = book.add_worksheet(sheet.name, _exact_worksheet())
        page.freeze_panes(1, 0)
        if not sheet.visible:
            page.hide()
        elif not shown:
            page.activate()  # a sheet that is not hidden has to be the active one
            page.set_first_sheet()
            shown = True
        for row, cells in enumerate([sheet.header, *sheet.rows]):
            for column, cell in enumerate(cells):
                _write_cell(page, row, column, cell, formats)
    book.close()
    part.write_bytes(made.getvalue())


class _Exact(float):
    """A number that is written with every digit; XlsxWriter formats numbers by .16G, which loses one."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


# The look-ahead leaves the closing underscore, which may open the next code: _x0041_x0042_. It may also
# be that of a control character's code, still to come.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}[_\x00-\x08\x0B-\x1F])")
_CONTROL = re.compile(r"[\x00-\x08\x0B-\x1F]")


def _escape(text):
    """Escape control characters as _xHHHH_, and what looks like such an escape."""
    if not isinstance(text, str):  # XlsxWriter passes numbers of truth values and of its own too
        return text
    text = _CONTROL.sub(lambda match: f"_x{ord(match[0]):04X}_", _CODE.sub("_x005F_", text))
    # XlsxWriter takes a text of this form for mark-up, and writes it unescaped.
    return f"_x003C_{text[1:]}" if text.startswith("<r>") and text.endswith("</r>") else text


def _exact_worksheet() -> type:
    from xlsxwriter.worksheet import Worksheet

    class ExactWorksheet(Worksheet):
        """A worksheet that escapes texts so that each comes back as it was.

        XlsxWriter's own escaping overlooks codes that share an underscore.
        """

        _escape_control_characters = staticmethod(_escape)

    return ExactWorksheet


def _is_blank(cell) -> bool:
    return cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))


def _write_cell(page, row: int, column: int, cell, formats: dict) -> None:
    if _is_blank(cell):
        return
    if isinstance(cell, str):
        page.write_string(row, column, cell)
    elif isinstance(cell, bool):
        page.write_boolean(row, column, cell)
    elif isinstance(cell, int | float):
        page.write_number(row, column, _Exact(cell))
    else:
        kind = next(kind for kind in formats if isinstance(cell, kind))
        page.write_datetime(row, column, cell, formats[kind])


def _require_names(sheets: list[Sheet], path: Path) -> None:
    seen: set[str] = set()
    for sheet in sheets:
        name = sheet.name
        problem = None
        if not 0 < _units(name) <= 31:
            problem = "a sheet's name has 1 to 31 characters"
        elif re.search(r"[\[\]:*?/\\\x00-\x1f\ud800-\udfff\ufffe\uffff]|^'|'$", name):
            problem = r"a sheet's name has none of [ ] : * ? / \, no control character, and no apostrophe at its ends"
        elif name.casefold() in seen:
            problem = "two sheets have this name but for case"
        if problem:
            raise UserError(f"{path}: sheet {name!r}: {problem}. Nothing was written.")
        seen.add(name.casefold())
    if not any(sheet.visible for sheet in sheets):
        raise UserError(f"{path}: a workbook needs at least one sheet that is not hidden. Nothing was written.")


def _require_writable(sheet: Sheet, path: Path) -> None:
    for row, cells in enumerate([sheet.header, *sheet.rows], 1):
        for column, cell in enumerate(cells):
            problem = _unwritable(cell)
            if row > MOST_ROWS or column >= MOST_COLUMNS:
                problem = f"beyond the {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns of an .xlsx sheet"
            if problem:
                raise UserError(
                    f"{path}: sheet {sheet.name}, cell {cell_name(column, row)}: {problem}. Nothing was written."
                )


def _unwritable(cell) -> str | None:
    """Why a cell can't be written without loss; None if it can."""
    if _is_blank(cell) or isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        if len(cell) > LONGEST_TEXT // 2 and (length := _units(cell)) > LONGEST_TEXT:
            return f"a text of {length:,} characters; an .xlsx cell holds at most {LONGEST_TEXT:,}"
        if re.search("[\ud800-\udfff\ufffe\uffff]", cell):
            return "a character that an .xlsx file can't hold (a lone surrogate, U+FFFE or U+FFFF)"
        return None
    if isinstance(cell, int):
        if abs(cell) > 2**1000 or int(float(cell)) != cell:
            return "an integer with more digits than an .xlsx cell holds; write it as text"
        return None
    if isinstance(cell, float):
        return None if math.isfinite(cell) else "an infinite number; an .xlsx cell can't hold one"
    if isinstance(cell, tuple(_FORMATS)):
        return _unwritable_time(cell)
    return f"a value of type {type(cell).__name__}; cells hold text, numbers, truth values and dates"


def _unwritable_time(cell) -> str | None:
    if getattr(cell, "tzinfo", None) is not None:
        return "a time with a time zone; an .xlsx cell has none"
    fine = cell.microseconds if isinstance(cell, datetime.timedelta) else getattr(cell, "microsecond", 0)
    if fine % 1000:
        return "a time finer than a millisecond, which an .xlsx cell can't hold exactly"
    if isinstance(cell, datetime.timedelta):
        return "a negative duration; an .xlsx cell can't hold one" if cell < datetime.timedelta(0) else None
    day = cell.date() if isinstance(cell, datetime.datetime) else cell
    if isinstance(day, datetime.date) and day < _FIRST_DAY:
        return "a date before 1900; an .xlsx cell can't hold one"
    return None


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2
