"""Cells in, cells out: .xlsx files as plain sheets, before any meaning is given to them.

Calamine reads. It lays a sheet out as a rectangle up to its last cell, reads an error such as #N/A and a formula
without a stored value as blanks, knows nothing of hidden rows, and ends the whole process where the memory does not
suffice; so the parts of every package are looked at before. XlsxWriter writes, typed cell by cell. What is written is
read back equal; what can't be is refused.
"""

import contextlib
import datetime
import io
import math
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_text, cell_name, column_number, is_number

LONGEST_TEXT = 32_767
"""Characters (UTF-16 units, so most emoji count twice) that a cell of an .xlsx file may hold."""

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
MOST_CELLS = 26 * 999_999
"""Cells of the rectangles from A1 to the last filled cell, over all sheets of a file."""

LARGEST = 256 * 2**20
"""Bytes that a package may unpack to; also of all texts, once shared ones stand in each cell that refers to them."""

DENSEST = 100
"""Times its own size that a package may unpack to; workbooks are about 10."""

ALWAYS_SMALL = 16 * 2**20
"""Bytes to which any package may unpack."""

# Signs of what calamine does not tell. Compiled, since b"<f" in xml takes more than twice as long.
_SIGNS = [
    re.compile(sign)
    for sign in (
        rb"=[\"']e[\"']",  # an error
        rb"<f[\s/>]",  # a formula
        rb"<row\s[^<>]*?\shidden\s*=",  # begins with <, so that no text is searched again and again
        rb"<c[\s/>](?!r=\"[A-Z]\d{1,6}\")",  # not the usual <c r="A1" of a column up to Z and a row below a million
        rb":(?:f|row|c)[\s/>]",  # the same with a prefix
    )
]
_CELL = re.compile(
    rb"<(?:\w+:)?c r=\"([A-Z]{1,3})(\d{1,7})\"([^<>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL
)
_CELL_ELSEWHERE = re.compile(rb"<(?:\w+:)?c[\s/>](?!r=\"[A-Z]{1,3}\d{1,7}\")[^<]{,40}")
_HIDDEN_ROW = re.compile(
    rb"<(?:\w+:)?row\s(?=[^<>]*\bhidden=\"(?:1|true)\")[^<>]*\br=\"(\d{1,7})\""
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_VALUE = re.compile(rb"<(?:\w+:)?v>\s*([^<]*?)\s*<")
_SHARED_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
_ANNOUNCED = re.compile(rb"uniqueCount\s*=\s*[\"']\s*\+?(\d{1,20})")
_REFERENCE = re.compile(rb"t=[\"']s[\"'][^<>]*>\s*<(?:\w+:)?v[^<>]*>\s*(\d{1,9})\s*<")
"""A cell that refers to a shared text."""


@dataclass(frozen=True)
class Sheet:
    """One sheet as it stands in the file: names of row 1 as text, and the rows from row 2 on, each as long as these.

    A cell is None (blank), str, float, bool, or a date, time, moment or duration. Blank rows and columns at the end are
    left out. Of the others, neither written nor compared: column (from 0) and row (from 1) of each error, and of each
    formula that was never calculated or has no stored value; hidden rows.
    """

    name: str
    header: list[str]
    rows: list[list] = field(repr=False)
    visible: bool = field(default=True, compare=False)
    without_value: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)

    def column(self, index: int) -> list:
        """Cells of one column, from row 2 on."""
        return [row[index] for row in self.rows]


# --- a look into the package ---


def unpacked(path: Path) -> dict[str, bytes]:
    """The parts of an .xlsx file by their names without case; refused if it is none, or larger than one can be."""
    parts = {}
    name = "the list of parts"
    try:
        with reading(path) as stream, zipfile.ZipFile(stream) as package:
            size = sum(info.file_size for info in package.infolist())
            if size > min(LARGEST, max(ALWAYS_SMALL, DENSEST * path.stat().st_size)):
                reason = f"unpacks to {size / 2**20:,.0f} MB"
                raise refusal(path, "too-large", reason=reason)
            for info in package.infolist():
                name = info.filename.casefold()
                with package.open(info) as part:  # no more than it says
                    parts[name] = part.read(info.file_size + 1)
                # Without a document type there are no entities that could be expanded.
                is_xml = name.endswith(("xml", "rels"))
                if b"\0" in parts[name][:4] or (is_xml and b"<!DOCTYPE" in parts[name]):
                    reason = f"{name}: not in UTF-8, or with a document type"
                    raise refusal(path, "no-workbook", reason=reason)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise refusal(path, "no-workbook", reason=f"{name}: {one_line(error)}") from None
    return parts


def sheets_in(path: Path, parts: Mapping[str, bytes], book: str) -> list[bytes]:
    """XML of each sheet, in the order of the workbook."""
    folder = posixpath.dirname(f"/{book}")
    try:
        relations = ElementTree.fromstring(parts[f"{folder[1:]}/_rels/workbook.xml.rels"])  # noqa: S314 -- no document type, no entity
        targets = {relation.get("Id"): relation.get("Target") for relation in relations}
        sheets = []
        for sheet in ElementTree.fromstring(parts[book]).iterfind("{*}sheets/{*}sheet"):  # noqa: S314
            ids = [value for key, value in sheet.items() if key.endswith("}id")]
            target = posixpath.normpath(posixpath.join(folder, targets[ids[0]]))
            sheets.append(parts.get(target.removeprefix("/").casefold(), b""))
    except (ElementTree.ParseError, LookupError, TypeError) as error:
        raise refusal(path, "no-workbook", reason=f"{book}: {one_line(error)}") from None
    return sheets


def require_memory(path: Path, parts: Mapping[str, bytes], sheets: Sequence[bytes]) -> None:
    """Refuse shared texts that no memory holds once they stand in every cell that refers to them."""
    shared = b"".join(xml for name, xml in parts.items() if name.endswith("sharedstrings.xml"))
    if not shared:
        return
    announced = _ANNOUNCED.search(shared)
    if announced and int(announced[1]) > len(shared):
        reason = f"sharedStrings.xml announces {announced[1].decode()} texts"
        raise refusal(path, "too-large", reason=reason)
    references = Counter()
    for xml in sheets:
        references.update(_REFERENCE.findall(xml))
    total = 0
    for number, text in enumerate(_SHARED_TEXT.split(shared)[1:]):
        total += references[b"%d" % number] * len(text)
    if total > LARGEST:
        reason = f"texts of sharedStrings.xml: {total / 2**20:,.0f} MB"
        raise refusal(path, "too-large", reason=reason)


def marks_of(where: str, xml: bytes, is_calculated: bool) -> tuple[list, list]:
    """Places (column from 0, row from 1) of errors and formulas without a value, and hidden rows of a sheet.

    A sheet that reaches too far is refused, and so is a cell that does not begin with its place, as <c r="A1"> does.
    """
    without_value = []
    if not any(sign.search(xml) for sign in _SIGNS):
        return without_value, []
    elsewhere = _CELL_ELSEWHERE.search(xml)
    if elsewhere:
        text = elsewhere[0].decode(errors="replace")
        raise refusal(where, "no-workbook", reason=f"a cell without its place: {text}")
    hidden = [int(row[1]) for row in _HIDDEN_ROW.finditer(xml)]
    width = height = 0
    for letters, digits, attributes, content in _CELL.findall(xml):
        if not content:  # formatted, and blank
            continue
        column, row = column_number(letters.decode()), int(digits)
        width, height = max(width, column + 1), max(height, row)
        if b't="e"' in attributes:
            without_value.append((column, row))
        elif b't="str"' not in attributes and _FORMULA.search(content):
            value = b"".join(_VALUE.findall(content))
            if not value or (not is_calculated and not value.strip(b"0.")):
                without_value.append((column, row))
    if height > MOST_ROWS or width > MOST_COLUMNS or width * height > MOST_CELLS:
        reason = f"it reaches to row {height:,} and column {width:,}"
        raise refusal(where, "too-large", reason=reason)
    return without_value, hidden


# --- reading ---


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or the one named ``only``: name -> sheet, in the file's order."""
    import python_calamine

    path = Path(path)
    parts = unpacked(path)
    books = [name for name in parts if name.endswith("workbook.xml")]
    if not books:
        raise refusal(path, "no-workbook", reason="it is a zip archive, and none of a workbook")
    is_calculated = not re.search(rb"fullCalcOnLoad=\"(?:1|true)\"", parts[books[0]])
    xml_of_sheets = sheets_in(path, parts, books[0])
    require_memory(path, parts, xml_of_sheets)
    where = str(path)
    sheets = {}
    cells = 0
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        for metadata, xml in zip(book.sheets_metadata, xml_of_sheets, strict=True):
            name = metadata.name
            if metadata.typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"{path}: sheet {name}"
            without_value, hidden = marks_of(where, xml, is_calculated)
            page = book.get_sheet_by_name(name)
            height, width = (last + 1 for last in page.end or (-1, -1))
            cells += height * width
            if cells > MOST_CELLS:
                raise refusal(where, "too-large", reason=f"with those before, {cells:,} cells")
            header, *rows = page.to_python(skip_empty_area=False) or [[]]
            rows = [[None if cell == "" else cell for cell in row] for row in rows]
            for column, row in without_value:  # 0, where nothing is stored
                if 1 < row < height + 1 and column < width and type(rows[row - 2][column]) is float:
                    rows[row - 2][column] = None
            rows = without_end(rows, [None] * width)
            sheets[name] = Sheet(
                name,
                list(map(as_text, header)),
                rows,
                metadata.visible == python_calamine.SheetVisibleEnum.Visible,
                without_value,
                [row for row in hidden if 1 < row <= len(rows) + 1],
            )
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise refusal(where, "no-workbook", reason=one_line(error)) from None
    return sheets


def utf16_units(text: str) -> int:
    """Length of a text as an .xlsx file counts it."""
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def without_end(cells: list, blank: object = None) -> list:
    """Cells, or rows, up to the last that is not blank."""
    length = len(cells)
    while length and cells[length - 1] == blank:
        length -= 1
    return cells[:length]


# --- writing ---


def write_sheets(
    sheets: Mapping[str, Sheet] | Sequence[Sheet],
    path: str | Path,
    *,
    replace: bool = True,
    own: bool = False,
) -> None:
    """Write sheets to an .xlsx file whose bytes depend on its content only; it appears whole or not at all.

    A file that is there is replaced, unless ``replace`` is false: then as
    :func:`sense7.files.replacing` says.

    Texts stay texts, numbers keep every digit (an int comes back as a float), NaN is blank. What the format can't hold
    without loss, and dates and times, are refused by their cell.
    """
    from xlsxwriter.worksheet import Worksheet

    class ExactWorksheet(Worksheet):
        """A worksheet that escapes texts so that each comes back as it was."""

        @staticmethod
        def _escape_control_characters(text):
            """Escape control characters as _xHHHH_, and what looks like such an escape; XlsxWriter overlooks some."""
            # XlsxWriter passes numbers of truth values and of its own too.
            if not isinstance(text, str):
                return text
            text = _CODE.sub("_x005F_", text)
            text = _CONTROL.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
            if text.startswith("<r>") and text.endswith("</r>"):
                # XlsxWriter takes a text of this form for mark-up, and writes it unescaped.
                return f"_x003C_{text[1:]}"
            return text

    path = Path(path)
    if isinstance(sheets, Mapping):
        sheets = sheets.values()
    options = {
        "constant_memory": True,  # rows go to the disk as they come, in the folder of the unfinished file
        "strings_to_formulas": False,  # a text stays one, also after = and http:
        "strings_to_urls": False,
    }
    for sheet in sheets:
        for row, cells in enumerate([sheet.header, *sheet.rows]):
            for column, cell in enumerate(cells):
                problem = _unwritable(cell)
                if problem:
                    where = f"{path}: sheet {sheet.name}, cell {cell_name(column, row + 1)}"
                    raise UserError(f"{where}: {problem}. Nothing was written.")
    with new_workbook(path, replace=replace, own=own, **options) as book:
        for sheet in sheets:
            page = book.add_worksheet(sheet.name, ExactWorksheet)
            page.freeze_panes(1, 0)
            for row, cells in enumerate([sheet.header, *sheet.rows]):
                for column, cell in enumerate(cells):
                    if not is_number(cell):
                        page.write(row, column, cell)  # nothing if it is None
                    elif not math.isnan(cell):
                        page.write(row, column, _Exact(cell))


def _unwritable(cell: object) -> str | None:
    """Why an .xlsx file can't hold a cell without loss; None if it can."""
    if isinstance(cell, str):
        length = utf16_units(cell)
        if length > LONGEST_TEXT:
            return (
                f"a text of {length:,} characters, more than the {LONGEST_TEXT:,} of an .xlsx cell"
            )
        if UNWRITABLE.search(cell):
            return "a lone surrogate, U+FFFE or U+FFFF, which an .xlsx file can't hold"
    elif cell is not None and not isinstance(cell, int | float):
        return f"a value of type {type(cell).__name__}, neither text nor number"
    elif cell and ((isinstance(cell, int) and abs(cell) > 2**53) or math.isinf(cell)):
        return "infinite, or an integer with more digits than an .xlsx cell holds"
    return None


@contextlib.contextmanager
def new_workbook(
    path: Path,
    *,
    replace: bool = False,
    own: bool = False,
    **options,
) -> "Iterator[xlsxwriter.Workbook]":  # noqa: F821 -- imported when needed
    """A workbook of XlsxWriter to fill: its file appears whole or not at all, equal content gives equal bytes."""
    import xlsxwriter

    # Not to the disk: an archive on a full one reports that a second time when it is collected.
    package = io.BytesIO()
    try:
        with replacing(path, replace=replace, own=own) as part:
            book = xlsxwriter.Workbook(package, {"tmpdir": str(part.parent), **options})
            book.set_properties({"created": datetime.datetime(2025, 9, 19)})  # any fixed date
            yield book
            book.close()
            part.write_bytes(package.getvalue())
    except (OSError, xlsxwriter.exceptions.FileCreateError) as error:
        raise UserError(not_written(path, error)) from None


class _Exact(float):
    """A number that is written with every digit; XlsxWriter formats numbers by .16G, which loses one."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


# The look-ahead leaves the closing underscore, which may open the next code: _x0041_x0042_. It may also
# be that of a control character's code, still to come.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}[_\x00-\x08\x0B-\x1F])")
_CONTROL = re.compile(r"[\x00-\x08\x0B-\x1F]")
UNWRITABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""Halves of surrogate pairs, and the two that are no characters: no file can hold them."""
