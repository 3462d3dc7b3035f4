"""Cells in, cells out: .xlsx files as plain sheets, before any meaning is given to them.

Calamine reads. It lays a sheet out as a rectangle up to its last cell, reads an error such as #N/A and a formula
without a stored value as blanks, rounds long numbers, knows nothing of hidden rows, and ends the whole process where
the memory does not suffice; so every package is looked at before, and a sheet that has any of these is parsed by expat.
XlsxWriter writes, typed cell by cell. What is written is read back equal; what can't be is refused.
"""

import datetime
import io
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing

LONGEST_TEXT = 32_767
"""Characters (UTF-16 units, so most emoji count twice) that a cell of an .xlsx file may hold."""

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
MOST_CELLS = 26 * 999_999
"""Cells of the rectangle from A1 to a sheet's last filled cell, and cells that a sheet may speak of."""

LARGEST, DENSEST, ALWAYS_SMALL = 512 * 2**20, 100, 16 * 2**20
"""Bytes that a package may unpack to; times its own size (workbooks are about 10); what is never too much."""

SAVE_AGAIN = "ave it again from a spreadsheet program."
# Signs of what calamine does not tell. Compiled, since b"<f" in xml takes more than twice as long.
_SIGNS = [
    re.compile(sign)
    for sign in (
        rb"=[\"']e[\"']",  # an error
        rb"<f[\s/>]",
        rb":f[\s/>]",  # formulas
        rb"row\s[^<>]*?\s(?:hidden|ht)\s*=\s*[\"'](?:1|true|0)",
        rb"<c[\s/>](?!r=\"[A-Z]\d{1,6}\")",  # not the usual <c r="A1" of a column up to Z and a row below a million
        rb":c[\s/>]",
    )
]


class Percent(float):
    """A number that the file shows as a percentage: 1.0 is shown as 100 %."""


@dataclass(frozen=True)
class Sheet:
    """One sheet as it stands in the file: names of row 1 as text, and the rows from row 2 on, each as long as these.

    A cell is None (blank), str, float, bool, or a date, time, moment or duration. Blank rows and columns at the end are
    left out. Of the others, neither written nor compared: how many ranges are merged; column (from 0) and row (from 1)
    of each error, and of each formula that was never calculated or has no stored value; rows that are hidden.
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


class Marks(NamedTuple):
    """What the values of a sheet don't say: places of errors, formulas, percentages and long numbers; hidden rows."""

    errors: list[tuple[int, int]]
    formulas: list[tuple[int, int]]
    percentages: list[tuple[int, int]]
    digits: list[tuple[int, int, str]]
    hidden: list[int]


def cell_name(column: int, row: int) -> str:
    """Name of a cell, column counted from 0, row from 1: AB10 is the cell of column 27, row 10."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


# --- a look into the package ---


def examine(path: Path, closely: bool = False) -> dict[str, Marks]:
    """Sheet -> its marks, of every sheet if ``closely``; what can't be read within reason is refused."""
    part = "the list of parts"
    try:
        with zipfile.ZipFile(path) as package:
            known = {info.filename.casefold(): info for info in package.infolist()}
            book = next((name for name in known if name.endswith("workbook.xml")), None)
            packed, unpacked = path.stat().st_size, sum(info.file_size for info in package.infolist())
            if "_rels/.rels" not in known or book is None:
                raise UserError(
                    f"{path}: not a workbook that can be read (a zip archive, but none of an .xlsx workbook). "
                    "Expected an .xlsx file; open it in a spreadsheet program and save it again as .xlsx."
                )
            if any(info.flag_bits & 1 for info in known.values()):
                raise UserError(
                    f"{path}: the archive is protected by a password. Save a copy without one and use that."
                )
            if len(known) < len(package.infolist()):
                raise UserError(f"{path}: damaged: a part is in the archive twice. S{SAVE_AGAIN}")
            if unpacked > LARGEST:
                raise UserError(
                    f"{path}: unpacks to {unpacked / 2**20:,.0f} MB, more than a workbook of conversations can be "
                    f"({LARGEST // 2**20} MB). Check where it comes from, or s{SAVE_AGAIN}"
                )
            if unpacked > max(ALWAYS_SMALL, DENSEST * packed):
                raise UserError(
                    f"{path}: unpacks to {unpacked / packed:,.0f} times its size, as no workbook of conversations "
                    f"does. Check where it comes from, or s{SAVE_AGAIN}"
                )

            def content(name: str) -> bytes:
                """Content of a part; no more of it is unpacked than the list of parts says that there is."""
                if (info := known.get(name)) is None:
                    return b""
                if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("it is compressed in a way that .xlsx files do not know")
                with package.open(info) as stream:
                    xml = stream.read(info.file_size + 1)
                if xml.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in xml[:4]:
                    raise UserError(
                        f"{path}: {info.filename} is not in UTF-8. Open it in a spreadsheet program and save it again "
                        "as .xlsx."
                    )
                if b"<!DOCTYPE" in xml[:4096]:
                    raise UserError(
                        f"{path}: {info.filename} has a document type, as no workbook does. Check where it comes from, "
                        f"or s{SAVE_AGAIN}"
                    )
                return xml

            names, calculated = _sheet_names(path, book, known, content)
            percentages = _percentage_styles(
                path, next((name for name in known if name.endswith("styles.xml")), ""), content
            )
            signs = _SIGNS + [re.compile(rb"\ss\s*=\s*[\"'](?:%s)[\"']" % b"|".join(percentages))] * bool(percentages)
            marks = {}
            for key, info in known.items():
                part = info.filename
                xml = content(key)
                if b"sheetData" in xml:
                    name = names.get(key, part)
                    # What has none of the signs, and is no larger than a sheet can be, needs no closer look.
                    if (
                        closely
                        or len(xml) >= MOST_CELLS * len('<c r="A1"/>')
                        or any(sign.search(xml) for sign in signs)
                    ):
                        marks[name] = _look(path, name, xml, percentages, calculated)
            return marks
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise UserError(f"{path}: damaged: {part} can't be unpacked ({error}). Fetch or save it again.") from None


def _parse(path: Path, name: str, xml: bytes, start: Callable, end: Callable | None = None, text=None) -> None:
    """Call ``start(tag, attributes)`` for every tag, named without its prefix; no entity is ever expanded."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, attributes: start(tag.rpartition(":")[2], attributes)
    if end:
        parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])
        parser.CharacterDataHandler = text

    def refuse(*_):
        raise UserError(f"{path}: {name} has a document type, as no workbook does. S{SAVE_AGAIN}")

    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise UserError(f"{path}: {name}: damaged: {one_line(error)}. S{SAVE_AGAIN}") from None


def _sheet_names(path: Path, book: str, known: Mapping, content: Callable) -> tuple[dict[str, str], bool]:
    """Part in lower case -> name of its sheet; and whether the workbook says that its formulas are calculated."""
    folder = book.removesuffix("workbook.xml")
    targets, names, calculated = {}, {}, True

    def relation(tag: str, attributes: dict) -> None:
        if tag == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def entry(tag: str, attributes: dict) -> None:
        nonlocal calculated
        if tag == "calcPr":
            calculated = attributes.get("fullCalcOnLoad") not in {"1", "true"}
        if tag == "sheet":
            target = targets.get(next((value for key, value in attributes.items() if key.endswith(":id")), ""), "")
            target = target.removeprefix("/") if target.startswith(("/", folder or "/")) else f"{folder}{target}"
            name, part = attributes.get("name", ""), target.casefold()
            if part in names and part in known:  # thousands of names could stand for one large sheet
                raise UserError(
                    f"{path}: the sheets {names[part]} and {name} are one and the same part ({target}). S{SAVE_AGAIN}"
                )
            names[part] = name

    for part, handler in ((f"{folder}_rels/workbook.xml.rels", relation), (book, entry)):
        if part in known:
            _parse(path, part, content(part), handler)
    return names, calculated


def _percentage_styles(path: Path, part: str, content: Callable) -> list[bytes]:
    """Numbers of the cell styles that show a number as a percentage; formats 9 and 10 do, without being named."""
    formats, styles, inside = {"9", "10"}, [], False

    def start(tag: str, attributes: dict) -> None:
        nonlocal inside
        if tag == "numFmt" and "%" in attributes.get("formatCode", ""):
            formats.add(attributes.get("numFmtId"))
        if tag in {"cellStyleXfs", "cellXfs", "cellStyles", "dxfs"}:
            inside = tag == "cellXfs"
        elif tag == "xf" and inside:
            styles.append(attributes.get("numFmtId"))

    if xml := content(part):
        _parse(path, part, xml, start)
    return [b"%d" % number for number, one in enumerate(styles) if one in formats]


def _look(path: Path, name: str, xml: bytes, percentages: list[bytes], calculated: bool) -> Marks:
    """Marks of a sheet, cell by cell; one that reaches too far is refused. A cell without a place follows the last."""
    marks = Marks([], [], [], [], [])
    row = width = height = cells = 0
    column, cell, formula, value = -1, {}, False, None
    shown_in_percent = {style.decode() for style in percentages}
    blank = re.compile(r"\s*" if calculated else r"\s*(?:0(?:\.0*)?)?\s*")

    def start(tag: str, attributes: dict) -> None:
        nonlocal row, column, cell, cells, formula, value
        if tag == "row":
            row, column = int(attributes["r"]) if attributes.get("r", "").isdecimal() else row + 1, -1
            if attributes.get("hidden") in {"1", "true"} or re.fullmatch(r"0(\.0*)?", attributes.get("ht", "")):
                marks.hidden.append(row)
        elif tag == "c":
            cell, formula, value, column, cells = attributes, False, None, column + 1, cells + 1
            if place := re.fullmatch(r"([A-Za-z]{1,9})(\d{1,9})", attributes.get("r", "")):
                row, column = int(place[2]), 0
                for letter in place[1].upper():
                    column = column * 26 + ord(letter) - 64
                column -= 1
            if cells > MOST_CELLS:
                raise UserError(
                    f"{path}: sheet {name} has more than {MOST_CELLS:,} cells, most of them blank. "
                    "Delete the rows below the data and save it again."
                )
        elif tag == "f":
            formula = True
        elif tag in {"v", "is"}:
            value = ""

    def text(characters: str) -> None:
        nonlocal value
        if value is not None:
            value += characters

    def end(tag: str) -> None:
        nonlocal height, width, value
        if tag != "c":
            return
        kind = cell.get("t", "n")
        if value is not None or formula:
            height, width = max(height, row), max(width, column + 1)
            if width * height > MOST_CELLS or height > MOST_ROWS or width > MOST_COLUMNS:
                raise UserError(
                    f"{path}: sheet {name} reaches to row {height:,} and column {width:,}, which is more than can be "
                    "read at once. Delete the stray cells far below or beside the data and save it again."
                )
        if kind == "e":
            marks.errors.append((column, row))
        if formula and kind != "str" and blank.fullmatch(value or ""):
            marks.formulas.append((column, row))
        if cell.get("s") in shown_in_percent:
            marks.percentages.append((column, row))
        if kind == "n" and re.fullmatch(r"\s*\d{16,}\s*", value or ""):
            marks.digits.append((column, row, value.strip()))
        value = None

    _parse(path, f"sheet {name}", xml, start, end, text)
    return marks


# --- reading ---


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or the one named ``only``: name -> sheet, in the file's order."""
    import python_calamine

    path = Path(path)
    with reading(path) as stream:
        start = stream.read(200)
    tables = " Of CSV files, give the folder that holds Tasks.csv and Messages.csv."
    if not start:
        raise UserError(f"{path}: the file is empty. Fetch or save it again.")
    if start.startswith(b"version https://git-lfs"):
        raise UserError(f"{path}: this is a Git LFS pointer, not the workbook itself. Download the file it stands for.")
    if start.startswith(b"\xd0\xcf\x11\xe0"):  # Office before .xlsx, and all that it protects
        raise UserError(
            f"{path}: the workbook is protected by a password, or of a format before .xlsx, and neither can be read. "
            "Save a copy as .xlsx without a password and use that."
        )
    if not zipfile.is_zipfile(path):
        if path.suffix.casefold() == ".xlsx":
            raise UserError(f"{path}: not an .xlsx file, or cut short (it is no zip archive). Fetch or save it again.")
        raise UserError(
            f"{path}: not a workbook that can be read. Expected an .xlsx file; open it in a spreadsheet program and "
            f"save it again as .xlsx.{tables if path.suffix.casefold() == '.csv' else ''}"
        )
    marks, where, sheets = examine(path), "", {}
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        counts = Counter(map(str.casefold, book.sheet_names))
        if twice := [name for name in book.sheet_names if counts[name.casefold()] > 1]:
            raise UserError(f"{path}: several sheets are called {twice[0]}. Rename or remove all but one.")
        for metadata in book.sheets_metadata:
            name = metadata.name
            if metadata.typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"sheet {name}: "
            source = book.get_sheet_by_name(name)
            table = source.to_python(skip_empty_area=False)
            header = [
                str(int(c)) if isinstance(c, float) and c.is_integer() else str(c) for c in table[:1] and table[0]
            ]
            rows = [[None if cell == "" else cell for cell in row] for row in table[1:]]
            ids = [column for column, title in enumerate(header) if "id" in title.casefold()]
            inexact = any(type(row[c]) is float and row[c] > 2.0**53 for row in rows for c in ids)
            if inexact and name not in marks:
                marks = examine(path, closely=True)
            own = marks.get(name, Marks([], [], [], [], []))
            changes = [(*place, Percent) for place in own.percentages]
            changes += [(*place, lambda _: None) for place in own.formulas]
            if inexact:  # a number that comes to equal its neighbor stays what it is in the file, as a text
                changes += [
                    (*place, lambda number, digits=digits: number if int(number) == int(digits) else digits)
                    for *place, digits in own.digits
                ]
            for column, row, change in changes:
                if 0 <= row - 2 < len(rows) and column < len(rows[row - 2]) and type(rows[row - 2][column]) is float:
                    rows[row - 2][column] = change(rows[row - 2][column])
            while rows and not _filled(rows[-1]):
                rows.pop()
            if (width := _filled(header, "")) < len(header):
                width = max(width, max(map(_filled, rows), default=0))
                header, rows = header[:width], [row[:width] for row in rows]
            sheets[name] = Sheet(
                name=name,
                header=header,
                rows=rows,
                visible=metadata.visible == python_calamine.SheetVisibleEnum.Visible,
                merged=len(source.merged_cell_ranges or ()),
                errors=own.errors,
                formulas=own.formulas,
                hidden=[row for row in own.hidden if 1 < row <= len(rows) + 1],
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


def _filled(cells: list, blank: object = None) -> int:
    """Number of cells up to the last that is not blank."""
    length = len(cells)
    while length and cells[length - 1] == blank:
        length -= 1
    return length


# --- writing ---

_FORMATS = {
    datetime.datetime: "yyyy-mm-dd hh:mm:ss.000",
    datetime.date: "yyyy-mm-dd",
    datetime.time: "hh:mm:ss.000",
    datetime.timedelta: "[h]:mm:ss.000",
}


def write_sheets(sheets: Mapping[str, Sheet] | Sequence[Sheet], path: str | Path) -> None:
    """Write sheets to an .xlsx file whose bytes depend on its content only; it appears whole or not at all.

    Texts stay texts, numbers keep every digit, NaN is blank. What the format can't hold without loss is refused by its
    cell. Two kinds come back as what the format makes of them: an int as a float, a moment at midnight as a date.
    """
    path, seen = Path(path), set()
    ordered = list(sheets.values() if isinstance(sheets, Mapping) else sheets)
    for sheet in ordered:
        name, problem = sheet.name, None
        if not 0 < len(name.encode("utf-16-le", errors="surrogatepass")) // 2 <= 31:
            problem = "a sheet's name has 1 to 31 characters"
        elif re.search(r"[\[\]:*?/\\\x00-\x1f\ud800-\udfff\ufffe\uffff]|^'|'$", name):
            problem = r"a sheet's name has none of [ ] : * ? / \, no control character, and no apostrophe at its ends"
        elif name.casefold() in seen:
            problem = "two sheets have this name but for case"
        if problem:
            raise UserError(f"{path}: sheet {name!r}: {problem}. Nothing was written.")
        seen.add(name.casefold())
    if not any(sheet.visible for sheet in ordered):
        raise UserError(f"{path}: a workbook needs at least one sheet that is not hidden. Nothing was written.")
    for sheet in ordered:
        for row, cells in enumerate([sheet.header, *sheet.rows], 1):
            for column, cell in enumerate(cells):
                problem = None if type(cell) is float and math.isfinite(cell) else _unwritable(cell)
                if row > MOST_ROWS or column >= MOST_COLUMNS:
                    problem = f"beyond the {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns of an .xlsx sheet"
                if problem:
                    raise UserError(
                        f"{path}: sheet {sheet.name}, cell {cell_name(column, row)}: {problem}. Nothing was written."
                    )
    try:
        with replacing(path) as part:
            _write(ordered, part)
    except Exception as error:
        # FileCreateError is XlsxWriter's name for an OSError.
        if not isinstance(error, OSError) and type(error).__name__ != "FileCreateError":
            raise
        raise UserError(not_written(path, error)) from None


def _unwritable(cell) -> str | None:
    """Why a cell can't be written without loss; None if it can."""
    if cell is None or isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        length = len(cell.encode("utf-16-le", errors="surrogatepass")) // 2 if len(cell) > LONGEST_TEXT // 2 else 0
        if length > LONGEST_TEXT:
            return f"a text of {length:,} characters; an .xlsx cell holds at most {LONGEST_TEXT:,}"
        if re.search("[\ud800-\udfff\ufffe\uffff]", cell):
            return "a character that an .xlsx file can't hold (a lone surrogate, U+FFFE or U+FFFF)"
    elif isinstance(cell, int):
        if abs(cell) > 2**1000 or int(float(cell)) != cell:
            return "an integer with more digits than an .xlsx cell holds; write it as text"
    elif isinstance(cell, float):
        return "an infinite number; an .xlsx cell can't hold one" if math.isinf(cell) else None
    elif not isinstance(cell, tuple(_FORMATS)):
        return f"a value of type {type(cell).__name__}; cells hold text, numbers, truth values and dates"
    elif getattr(cell, "tzinfo", None) is not None:
        return "a time with a time zone; an .xlsx cell has none"
    elif (cell.microseconds if isinstance(cell, datetime.timedelta) else getattr(cell, "microsecond", 0)) % 1000:
        return "a time finer than a millisecond, which an .xlsx cell can't hold exactly"
    elif isinstance(cell, datetime.timedelta) and cell < datetime.timedelta(0):
        return "a negative duration; an .xlsx cell can't hold one"
    elif isinstance(cell, datetime.date) and cell.year < 1900:
        return "a date before 1900; an .xlsx cell can't hold one"
    return None


class _Exact(float):
    """A number that is written with every digit; XlsxWriter formats numbers by .16G, which loses one."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


# The look-ahead leaves the closing underscore, which may open the next code: _x0041_x0042_. It may also
# be that of a control character's code, still to come.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}[_\x00-\x08\x0B-\x1F])")
_CONTROL = re.compile(r"[\x00-\x08\x0B-\x1F]")


def _escape(text):
    """Escape control characters as _xHHHH_, and what looks like such an escape; XlsxWriter overlooks some of these."""
    if not isinstance(text, str):  # XlsxWriter passes numbers of truth values and of its own too
        return text
    text = _CONTROL.sub(lambda match: f"_x{ord(match[0]):04X}_", _CODE.sub("_x005F_", text))
    # XlsxWriter takes a text of this form for mark-up, and writes it unescaped.
    return f"_x003C_{text[1:]}" if text.startswith("<r>") and text.endswith("</r>") else text


def _write(sheets: list[Sheet], part: Path) -> None:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

    class ExactWorksheet(Worksheet):
        """A worksheet that escapes texts so that each comes back as it was."""

        _escape_control_characters = staticmethod(_escape)

    # In constant_memory rows go to the disk as they come, in the folder of the unfinished file.
    made = io.BytesIO()  # an archive on a disk that is full reports that a second time when it is collected
    book = xlsxwriter.Workbook(made, {"constant_memory": True, "tmpdir": str(part.parent)})
    book.set_properties({"created": datetime.datetime(2025, 9, 19)})  # any fixed date: equal content, equal bytes
    formats = {kind: book.add_format({"num_format": code}) for kind, code in _FORMATS.items()}
    shown = False
    for sheet in sheets:
        page = book.add_worksheet(sheet.name, ExactWorksheet)
        page.freeze_panes(1, 0)
        if not sheet.visible:
            page.hide()
        elif not shown:
            page.activate()  # a sheet that is not hidden has to be the active one
            page.set_first_sheet()
            shown = True
        for row, cells in enumerate([sheet.header, *sheet.rows]):
            for column, cell in enumerate(cells):
                if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
                    continue
                if isinstance(cell, str):
                    page.write_string(row, column, cell)
                elif isinstance(cell, bool):
                    page.write_boolean(row, column, cell)
                elif isinstance(cell, int | float):
                    page.write_number(row, column, _Exact(cell))
                else:
                    page.write_datetime(row, column, cell, formats[next(k for k in formats if isinstance(cell, k))])
    book.close()
    part.write_bytes(made.getvalue())
