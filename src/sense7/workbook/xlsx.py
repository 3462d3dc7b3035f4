"""Cells in, cells out: .xlsx files as plain sheets, before any meaning is given to them.

Calamine reads. It lays a sheet out as a rectangle up to its last cell, reads an error such as #N/A and a formula
without a stored value as blanks, knows nothing of what is hidden, and ends the whole process where the memory does not
suffice; so every package is looked at before, and a sheet that has any of these is parsed whole. XlsxWriter writes,
typed cell by cell. What is written is read back equal; what can't be is refused.
"""

import contextlib
import datetime
import io
import math
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_text, cell_name, is_number

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
        rb"<row\s[^<>]*?\shidden\s*=\s*[\"'](?:1|true)",  # begins with <, so that no text is searched again and again
        rb"<c[\s/>](?!r=\"[A-Z]\d{1,6}\")",  # not the usual <c r="A1" of a column up to Z and a row below a million
        rb":(?:f|row|c)[\s/>]",  # the same with a prefix
    )
]
_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", ""}
"""Errors that calamine knows; others, such as #CALC! and #SPILL!, make a workbook unreadable to it."""

_SHARED_TEXT = re.compile(rb"<(?:[^\s<>/:]+:)?si[\s/>]")
_ANNOUNCED = re.compile(rb"uniqueCount\s*=\s*[\"']\s*\+?(\d+)")
_REFERENCE = re.compile(rb"t\s*=\s*[\"']s[\"'][^<>]*>\s*<(?:[^\s<>/:]+:)?v[^<>]*>\s*(\d{1,9})\s*<")
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
    errors: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    formulas: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)

    def column(self, index: int) -> list:
        """Cells of one column, from row 2 on."""
        return [row[index] for row in self.rows]


# --- a look into the package ---


def unpacked(path: Path) -> dict[str, bytes]:
    """The parts of an .xlsx file by their names without case; refused if it is none, or larger than one can be."""
    with reading(path) as stream:
        start = stream.read(200)
    if start.startswith(b"version https://git-lfs"):
        raise refusal(path, "no-workbook", reason="it is a Git LFS pointer to the file itself")
    if start.startswith(b"\xd0\xcf\x11\xe0"):  # Office before .xlsx, and all that it protects
        raise refusal(path, "no-workbook", reason="it has a password, or the format before .xlsx")
    if not zipfile.is_zipfile(path):
        raise refusal(path, "no-workbook", reason="it is no .xlsx file, or cut short")
    parts = {}
    part = "the list of parts"
    try:
        with zipfile.ZipFile(path) as package:
            infos = package.infolist()
            size = sum(info.file_size for info in infos)
            if size > min(LARGEST, max(ALWAYS_SMALL, DENSEST * path.stat().st_size)):
                reason = f"unpacks to {size / 2**20:,.0f} MB"
                raise refusal(path, "too-large", reason=reason)
            for info in infos:
                part = info.filename
                if info.flag_bits & 1:
                    raise refusal(path, "no-workbook", reason="it has a password")
                if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("an unknown compression")
                with package.open(info) as stream:
                    xml = stream.read(info.file_size + 1)
                # Without a document type there are no entities that could be expanded.
                if b"\0" in xml[:4] or (
                    info.filename.endswith(("xml", "rels")) and b"<!DOCTYPE" in xml
                ):
                    raise ValueError("not in UTF-8, or with a document type")
                if parts.setdefault(info.filename.casefold(), xml) is not xml:
                    raise ValueError("it is there twice")
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise refusal(path, "damaged", reason=f"{part}: {one_line(error)}") from None
    if "_rels/.rels" not in parts or not any(name.endswith("workbook.xml") for name in parts):
        raise refusal(path, "no-workbook", reason="it is a zip archive, and none of a workbook")
    return parts


def require_readable(path: Path, parts: Mapping[str, bytes], sheets: Mapping[str, str]) -> None:
    """Refuse what would fill the memory: shared texts that are announced, or stand in many cells; parts read twice."""
    names = [name for name, part in sheets.items() if list(sheets.values()).count(part) > 1]
    if names:
        raise refusal(path, "damaged", reason=f"{' and '.join(names[:2])} are one part")
    shared = b"".join(xml for name, xml in parts.items() if name.endswith("sharedstrings.xml"))
    announced = _ANNOUNCED.search(shared)
    if announced and int(announced[1][:20]) > len(shared):
        raise refusal(
            path,
            "too-large",
            reason=f"sharedStrings.xml announces {announced[1][:20].decode()} texts",
        )
    starts = [match.start() for match in _SHARED_TEXT.finditer(shared)]
    sizes = [end - start for start, end in pairwise([*starts, len(shared)])]
    if max(sizes, default=0) * sum(xml.count(b"<") for xml in parts.values()) <= LARGEST:
        return
    total = 0
    for part in sheets.values():
        for number, count in Counter(_REFERENCE.findall(parts.get(part, b""))).items():
            if int(number) < len(sizes):
                total += count * sizes[int(number)]
    if total > LARGEST:
        raise refusal(
            path, "too-large", reason=f"texts of sharedStrings.xml: {total / 2**20:,.0f} MB"
        )


def parts_of_sheets(path: Path, parts: Mapping[str, bytes]) -> tuple[dict[str, str], bool]:
    """Name of each sheet -> its part; and whether the formulas were calculated when the file was saved."""
    book = next(name for name in parts if name.endswith("workbook.xml"))
    folder = book.removesuffix("workbook.xml")
    targets = {}
    sheets = {}
    is_calculated = True
    try:
        for element in ElementTree.fromstring(parts[f"{folder}_rels/workbook.xml.rels"]):  # noqa: S314 -- no document type, no entity
            target = element.get("Target", "")
            if not target.startswith(("/", folder or "/")):
                target = folder + target
            targets[element.get("Id")] = target.removeprefix("/")
        for element in ElementTree.fromstring(parts[book]).iter():  # noqa: S314
            tag = element.tag.rpartition("}")[2]
            if tag == "calcPr":
                is_calculated = element.get("fullCalcOnLoad") not in {"1", "true"}
            elif tag == "sheet":
                ids = [value for key, value in element.attrib.items() if key.endswith("}id")]
                sheets[element.get("name", "")] = targets.get(*ids[:1], "").casefold()
    except (ElementTree.ParseError, KeyError, TypeError) as error:
        raise refusal(path, "damaged", reason=f"{book}: {one_line(error)}") from None
    return sheets, is_calculated


def marks_of(path: Path, name: str, xml: bytes, is_calculated: bool) -> dict[str, list]:
    """Places (column from 0, row from 1) of errors and formulas without a value, and hidden rows of a sheet.

    A cell without a place follows the last one. A sheet that reaches too far is refused.
    """
    marks = defaultdict(list)
    if not any(sign.search(xml) for sign in _SIGNS):
        return marks
    column = row = width = height = 0
    children = []
    value = ""
    all_rows = ElementTree.Element("sheetData")
    try:
        for event, element in ElementTree.iterparse(io.BytesIO(xml), ("start", "end")):  # noqa: S314
            tag = element.tag.rpartition("}")[2]
            if event == "start" and tag == "row":
                row = int(element.get("r", row + 1))
                column = -1
                if element.get("hidden") in {"1", "true"}:
                    marks["hidden"].append(row)
            elif event == "start" and tag == "c":
                column += 1
                if "r" in element.attrib:
                    match = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", element.get("r"))
                    if match is None:
                        raise ValueError(f"a cell at {element.get('r'):.20}")
                    row, column = int(match[2]), -1
                    for letter in match[1]:
                        column = (column + 1) * 26 + ord(letter) - 65
                children, value = [], ""
            elif event == "end" and tag in {"f", "v", "is"}:
                children.append(tag)
                if tag == "v":
                    value = (element.text or "").strip()
            elif event == "end" and tag == "c":
                type_of_cell = element.get("t", "n")
                cell = (column, row)
                if children:
                    height, width = max(height, row), max(width, column + 1)
                is_too_far = height > MOST_ROWS or width > MOST_COLUMNS
                if is_too_far or width * height > MOST_CELLS:
                    reason = f"sheet {name} reaches to row {height:,} and column {width:,}"
                    raise refusal(path, "too-large", reason=reason)
                if type_of_cell == "e":
                    marks["errors"].append(cell)
                    if value not in _ERRORS:
                        raise ValueError(f"cell {cell_name(*cell)}: the error {value:.20}")
                if children[:1] == ["v"] and "f" in children:  # of which calamine drops the value
                    raise ValueError(f"cell {cell_name(*cell)}: a value before its formula")
                is_zero = re.fullmatch(r"(?:0(?:\.0*)?)?", value) is not None
                if (
                    "f" in children
                    and type_of_cell != "str"
                    and (not value or (is_zero and not is_calculated))
                ):
                    marks["formulas"].append(cell)
            if event == "start" and tag == "sheetData":
                all_rows = element
            elif event == "end" and tag == "row":
                all_rows.clear()
    except (ElementTree.ParseError, ValueError, AttributeError, LookupError) as error:
        raise refusal(path, "damaged", reason=f"sheet {name}: {one_line(error)}") from None
    return marks


# --- reading ---


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or the one named ``only``: name -> sheet, in the file's order."""
    import python_calamine

    path = Path(path)
    parts = unpacked(path)
    part_of, is_calculated = parts_of_sheets(path, parts)
    require_readable(path, parts, part_of)
    where = path
    sheets = {}
    cells = 0
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        for metadata in book.sheets_metadata:
            name = metadata.name
            if metadata.typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"{path}: sheet {name}"
            marks = marks_of(path, name, parts.get(part_of.get(name, ""), b""), is_calculated)
            page = book.get_sheet_by_name(name)
            height, width = (last + 1 for last in page.end or (-1, -1))
            cells += height * width
            if cells > MOST_CELLS:
                raise refusal(where, "too-large", reason=f"with those before, {cells:,} cells")
            if name.casefold() in map(str.casefold, sheets):
                raise refusal(where, "damaged", reason="another sheet has this name")
            table = page.to_python(skip_empty_area=False) or [[]]
            is_visible = metadata.visible == python_calamine.SheetVisibleEnum.Visible
            sheets[name] = _as_sheet(name, table, marks, is_visible)
    except BaseException as error:
        # A panic of the Rust library derives from BaseException and has no importable name.
        is_panic = type(error).__name__ == "PanicException"
        if not is_panic and not isinstance(
            error, (python_calamine.CalamineError, OSError, ValueError)
        ):
            raise
        raise refusal(where, "no-workbook", reason=one_line(error)) from None
    return sheets


def _as_sheet(name: str, table: list[list], marks: Mapping[str, list], is_visible: bool) -> Sheet:
    """A sheet of what calamine read, in which formulas without a stored value are blank."""
    header = list(map(as_text, table[0]))
    rows = [[None if cell == "" else cell for cell in row] for row in table[1:]]
    for column, row in marks["formulas"]:
        if (
            0 <= row - 2 < len(rows)
            and column < len(header)
            and type(rows[row - 2][column]) is float
        ):
            rows[row - 2][column] = None
    rows = without_end(rows, [None] * len(header))
    named_columns = len(without_end(header, ""))
    if named_columns < len(header):
        lengths = [len(without_end(row)) for row in rows]
        width = max([named_columns, *lengths])
        header = header[:width]
        rows = [row[:width] for row in rows]
    hidden = [row for row in marks["hidden"] if 1 < row <= len(rows) + 1]
    return Sheet(name, header, rows, is_visible, marks["errors"], marks["formulas"], hidden)


def utf16_units(text: str) -> int:
    """Length of a text as an .xlsx file counts it."""
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def may_be_cut(text: str) -> bool:
    """Whether a text is as long as a cell of an .xlsx file may be, by characters or by UTF-16 units."""
    if len(text) < LONGEST_TEXT // 2:  # shorter even where each character takes two units
        return False
    units = utf16_units(text)
    # A character of two units that has no room is left out whole.
    ends_before_a_pair = units == LONGEST_TEXT - 1 and units > len(text)
    return LONGEST_TEXT in (len(text), units) or ends_before_a_pair


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
    sheets = list(sheets)
    for sheet in sheets:
        _require_writable(sheet, path)
    options = {
        "constant_memory": True,  # rows go to the disk as they come, in the folder of the unfinished file
        "strings_to_formulas": False,  # a text stays one, also after = and http:
        "strings_to_urls": False,
    }
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


def _require_writable(sheet: Sheet, path: Path) -> None:
    """Refuse a sheet with a cell that an .xlsx file can't hold without loss."""
    for row, cells in enumerate([sheet.header, *sheet.rows]):
        for column, cell in enumerate(cells):
            problem = _unwritable(cell)
            if row >= MOST_ROWS or column >= MOST_COLUMNS:
                problem = (
                    f"beyond the {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns of an .xlsx sheet"
                )
            if problem:
                where = f"{path}: sheet {sheet.name}, cell {cell_name(column, row + 1)}"
                raise UserError(f"{where}: {problem}. Nothing was written.")


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
    except Exception as error:
        # FileCreateError is XlsxWriter's name for an OSError.
        if not isinstance(error, OSError) and type(error).__name__ != "FileCreateError":
            raise
        raise UserError(not_written(path, error)) from None


def _unwritable(cell) -> str | None:
    """Why a cell can't be written without loss; None if it can."""
    if cell is None or (type(cell) is float and math.isfinite(cell)):  # as most cells are
        return None
    if isinstance(cell, str):
        length = utf16_units(cell)
        if length > LONGEST_TEXT:
            return f"a text of {length:,} characters; an .xlsx cell holds at most {LONGEST_TEXT:,}: shorten it"
        if re.search("[\ud800-\udfff\ufffe\uffff]", cell):
            return "a character that an .xlsx file can't hold (a lone surrogate, U+FFFE or U+FFFF)"
        return None
    if not isinstance(cell, int | float):
        return f"a value of type {type(cell).__name__}; cells hold text, numbers and truth values"
    has_too_many_digits = isinstance(cell, int) and (abs(cell) > 2**1000 or float(cell) != cell)
    if has_too_many_digits or math.isinf(cell):
        return "an infinite number, or an integer with more digits than an .xlsx cell holds"
    return None


class _Exact(float):
    """A number that is written with every digit; XlsxWriter formats numbers by .16G, which loses one."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


# The look-ahead leaves the closing underscore, which may open the next code: _x0041_x0042_. It may also
# be that of a control character's code, still to come.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}[_\x00-\x08\x0B-\x1F])")
_CONTROL = re.compile(r"[\x00-\x08\x0B-\x1F]")
