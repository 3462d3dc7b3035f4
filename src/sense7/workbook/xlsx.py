"""Cells in, cells out: .xlsx files as plain sheets, before any meaning is given to them.

Calamine reads. It lays a sheet out as a rectangle up to its last cell, reads an error such as #N/A and a formula
without a stored value as blanks, rounds long numbers, knows nothing of what is hidden, and ends the whole process where
the memory does not suffice; so every package is looked at before, and a sheet that has any of these is parsed whole.
XlsxWriter writes, typed cell by cell. What is written is read back equal; what can't be is refused.
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
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing
from sense7.taxonomy import normalise_name
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import cell_name

LONGEST_TEXT = 32_767
"""Characters (UTF-16 units, so most emoji count twice) that a cell of an .xlsx file may hold."""

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
MOST_CELLS = 26 * 999_999
"""Cells of the rectangle from A1 to a sheet's last filled cell, and cells that a sheet may speak of."""

MOST_TAGS = 1_000_000
"""Tags of a part beside the sheets that are looked at."""

LARGEST, DENSEST, ALWAYS_SMALL = 512 * 2**20, 100, 16 * 2**20
"""Bytes that a package may unpack to; times its own size (workbooks are about 10); what is never too much."""

# Signs of what calamine does not tell. Compiled, since b"<f" in xml takes more than twice as long.
_SIGNS = [
    rb"=[\"']e[\"']",  # an error
    rb"<f[\s/>]",
    rb":f[\s/>]",  # formulas
    rb"row\b[^<>]*?\s(?:hidden|ht)\s*=\s*[\"'](?:1|true|0)",
    rb"<c[\s/>](?!r=\"[A-Z]\d{1,6}\")",  # not the usual <c r="A1" of a column up to Z and a row below a million
    rb":c[\s/>]",
    rb"v>\s*\d{16}",  # a long number, such as an id
]
_HIDDEN_COLUMN = re.compile(rb"col\b[^<>]*?\s(?:hidden|width)\s*=\s*[\"'](?:1[\"']|true|0)")  # above the cells


class Percent(float):
    """A number that the file shows as a percentage: 1.0 is shown as 100 %."""


@dataclass(frozen=True)
class Sheet:
    """One sheet as it stands in the file: names of row 1 as text, and the rows from row 2 on, each as long as these.

    A cell is None (blank), str, float, bool, or a date, time, moment or duration. Blank rows and columns at the end are
    left out. Of the others, neither written nor compared: how many ranges are merged; column (from 0) and row (from 1)
    of each error, and of each formula that was never calculated or has no stored value; what is hidden.
    """

    name: str
    header: list[str]
    rows: list[list] = field(repr=False)
    visible: bool = field(default=True, compare=False)
    merged: int = field(default=0, compare=False)
    errors: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    formulas: list[tuple[int, int]] = field(default_factory=list, compare=False, repr=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)
    hidden_columns: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def names(self) -> list[str]:
        """Names of the columns, reduced to letters and digits without case."""
        return list(map(normalise_name, self.header))

    def column(self, index: int) -> list:
        """Cells of one column, from row 2 on."""
        return list(map(itemgetter(index), self.rows))


# --- a look into the package ---


def examine(path: Path) -> dict[str, dict[str, list]]:
    """Sheet -> its marks, of the sheets that show a sign of any; what can't be read within reason is refused."""
    part, marks = "the list of parts", {}
    try:
        with zipfile.ZipFile(path) as package:
            parts = package.infolist()
            known = {info.filename.casefold(): info for info in parts}
            book = next((name for name in known if name.endswith("workbook.xml")), "")
            packed, unpacked = path.stat().st_size, sum(info.file_size for info in parts)
            if not book or "_rels/.rels" not in known:
                raise refusal(path, "no-workbook/zip")
            if any(info.flag_bits & 1 for info in parts):
                raise refusal(path, "protected/zip")
            if len(known) < len(parts):
                raise refusal(path, "part-twice")
            if unpacked > LARGEST:
                raise refusal(path, "bomb/large", megabytes=unpacked / 2**20, limit=LARGEST // 2**20)
            if unpacked > max(ALWAYS_SMALL, DENSEST * packed):
                raise refusal(path, "bomb/dense", times=unpacked / packed)

            def content(name: str) -> bytes:
                """Content of a part; no more of it is unpacked than the list of parts says that there is."""
                nonlocal part
                if (info := known.get(name)) is None:
                    return b""
                part = info.filename
                if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("it is compressed in a way that .xlsx files do not know")
                with package.open(info) as stream:
                    xml = stream.read(info.file_size + 1)
                if xml.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in xml[:4]:
                    raise refusal(path, "not-utf-8", part=part)
                # Without a document type there are no entities that could be expanded.
                if re.match(rb"(?>\xef\xbb\xbf|\s+|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", xml, re.DOTALL):
                    raise refusal(path, "document-type", part=part)
                return xml

            def tags(name: str) -> Iterator[tuple[str, dict]]:
                xml = content(name)
                for number, (_, tag, element) in enumerate(_events(path, part, xml, "start") if xml else ()):
                    if number == MOST_TAGS:
                        break
                    yield tag, element.attrib

            folder, calculated = book.removesuffix("workbook.xml"), True
            targets = {of.get("Id"): of.get("Target", "") for _, of in tags(f"{folder}_rels/workbook.xml.rels")}
            names: dict[str, str] = {}
            for tag, attributes in tags(book):
                if tag == "calcPr":
                    calculated = attributes.get("fullCalcOnLoad") not in {"1", "true"}
                elif tag == "sheet":
                    target = targets.get(next((of for key, of in attributes.items() if key.endswith("}id")), ""), "")
                    inside = target.removeprefix("/") if target.startswith(("/", folder or "/")) else folder + target
                    name, place = attributes.get("name", ""), inside.casefold()
                    if place in names and place in known:  # thousands of names could stand for one large sheet
                        raise refusal(path, "one-part", first=names[place], second=name, part=inside)
                    names[place] = name
            # Numbers of the cell styles that show a number as a percentage; formats 9 and 10 do, without being named.
            formats, styles, of_cells = {"9", "10"}, [], False
            for tag, attributes in tags(next((name for name in known if name.endswith("styles.xml")), "")):
                if tag == "numFmt" and "%" in attributes.get("formatCode", ""):
                    formats.add(attributes.get("numFmtId"))
                elif tag == "xf" and of_cells:
                    styles.append(attributes.get("numFmtId"))
                elif tag in {"cellStyleXfs", "cellXfs", "cellStyles", "dxfs"}:
                    of_cells = tag == "cellXfs"
            percent = {str(number) for number, style in enumerate(styles) if style in formats}
            signs = _SIGNS + [rb"\ss\s*=\s*[\"'](?:%s)[\"']" % "|".join(percent).encode()] * bool(percent)
            for place in known:
                xml = content(place)
                # What has none of the signs, and is no larger than a sheet can be, needs no closer look.
                large, start = len(xml) >= MOST_CELLS * len('<c r="A1"/>'), xml.find(b"sheetData")
                hidden = start >= 0 and _HIDDEN_COLUMN.search(xml, 0, start)
                if start >= 0 and (large or hidden or any(re.search(sign, xml) for sign in signs)):
                    name = names.get(place, part)
                    marks[name] = _look(path, name, xml, percent, calculated)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise refusal(path, "damaged/zip", part=part, error=error) from None
    return marks


def _events(path: Path, part: str, xml: bytes, *events: str) -> Iterator[tuple[str, str, ElementTree.Element]]:
    """Start and end of every element of a part, each with its name without a prefix."""
    try:
        for event, element in ElementTree.iterparse(io.BytesIO(xml), events):  # noqa: S314 -- no document type, no entity
            yield event, element.tag.rpartition("}")[2], element
    except (ElementTree.ParseError, LookupError) as error:
        raise refusal(path, "damaged/xml", part=part, error=one_line(error)) from None


def _look(path: Path, name: str, xml: bytes, percent: set[str], calculated: bool) -> dict[str, list]:
    """Places (column from 0, row from 1) of errors, formulas, percentages and digits; what is hidden.

    A sheet that reaches too far is refused. A cell without a place follows the last one.
    """
    marks, row, column, width, height, cells, rows = defaultdict(list), 0, -1, 0, 0, 0, []
    blank = re.compile(r"\s*" if calculated else r"\s*(?:0(?:\.0*)?)?\s*")

    def is_hidden(about: Mapping, size: str) -> bool:
        return about.get("hidden") in {"1", "true"} or bool(re.fullmatch(r"0(\.0*)?", about.get(size, "")))

    for event, tag, element in _events(path, f"sheet {name}", xml, "start", "end"):
        if event == "end" and tag == "c":
            about, inside, column, cells = element.attrib, {}, column + 1, cells + 1
            for child in element:
                inside[child.tag.rpartition("}")[2]] = child.text or ""
            if cells > MOST_CELLS:
                raise refusal(path, "too-many-cells", sheet=name, limit=MOST_CELLS)
            if place := re.fullmatch(r"([A-Za-z]{1,9})(\d{1,9})", about.get("r", "")):
                row, column = int(place[2]), -1
                for letter in place[1].upper():
                    column = (column + 1) * 26 + ord(letter) - 65
            value, kind = inside.get("v", ""), about.get("t", "n")
            if "v" in inside or "is" in inside or "f" in inside:
                height, width = max(height, row), max(width, column + 1)
                if width * height > MOST_CELLS or height > MOST_ROWS or width > MOST_COLUMNS:
                    raise refusal(path, "too-far", sheet=name, row=height, column=width)
            if kind == "e":
                marks["errors"].append((column, row))
            if "f" in inside and kind != "str" and blank.fullmatch(value):
                marks["formulas"].append((column, row))
            if about.get("s") in percent:
                marks["percentages"].append((column, row))
            if kind == "n" and len(value) > 15 and re.fullmatch(r"\s*\d{16,}\s*", value):
                marks["digits"].append((column, row, value.strip()))
        elif event == "end" and tag == "row":
            rows.clear()  # what was seen needs no memory
        elif event == "start" and tag == "row":
            about, column = element.attrib, -1
            row = int(about["r"]) if about.get("r", "").isdecimal() else row + 1
            if is_hidden(about, "ht"):
                marks["hidden"].append(row)
        elif event == "start" and tag == "sheetData":
            rows = element
        elif event == "start" and tag == "col" and is_hidden(element.attrib, "width"):
            first, last = (min(int(element.get(end, "0")), MOST_COLUMNS) for end in ("min", "max"))
            marks["hidden_columns"] += range(first - 1, last)
    return marks


# --- reading ---


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or the one named ``only``: name -> sheet, in the file's order."""
    import python_calamine

    path = Path(path)
    with reading(path) as stream:
        start = stream.read(200)
    if not start:
        raise refusal(path, "empty-file")
    if start.startswith(b"version https://git-lfs"):
        raise refusal(path, "lfs-pointer")
    if start.startswith(b"\xd0\xcf\x11\xe0"):  # Office before .xlsx, and all that it protects
        raise refusal(path, "protected")
    if not zipfile.is_zipfile(path):
        kinds = {".xlsx": "damaged/short", ".csv": "no-workbook/csv"}
        raise refusal(path, kinds.get(path.suffix.casefold(), "no-workbook"))
    marks, where, sheets = examine(path), path, {}
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        counts = Counter(map(str.casefold, book.sheet_names))
        if twice := [name for name in book.sheet_names if counts[name.casefold()] > 1]:
            raise refusal(path, "sheet-twice", sheet=twice[0])
        for metadata in book.sheets_metadata:
            name = metadata.name
            if metadata.typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"{path}: sheet {name}"
            source = book.get_sheet_by_name(name)
            names, *table = source.to_python(skip_empty_area=False) or [[]]
            header = [str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell) for cell in names]
            rows = [[None if cell == "" else cell for cell in row] for row in table]
            own = marks.get(name, defaultdict(list))
            changes = [(*place, Percent) for place in own["percentages"]]
            changes += [(*place, lambda _: None) for place in own["formulas"]]
            changes += [  # an id that comes to equal its neighbor stays what it is in the file, as a text
                (column, row, lambda number, digits=digits: number if int(number) == int(digits) else digits)
                for column, row, digits in own["digits"]
                if "id" in "".join(header[column : column + 1]).casefold()
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
                errors=own["errors"],
                formulas=own["formulas"],
                hidden=[row for row in own["hidden"] if 1 < row <= len(rows) + 1],
                hidden_columns=[column for column in own["hidden_columns"] if column < len(header)],
            )
    except BaseException as error:
        # A panic of the Rust library derives from BaseException and has no importable name.
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, (python_calamine.CalamineError, OSError, ValueError)):
            raise
        raise refusal(where, "no-workbook/library", error=one_line(error)) from None
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
    from xlsxwriter.worksheet import Worksheet

    class ExactWorksheet(Worksheet):
        """A worksheet that escapes texts so that each comes back as it was."""

        _escape_control_characters = staticmethod(_escape)

    path, ordered = Path(path), list(sheets.values() if isinstance(sheets, Mapping) else sheets)
    for sheet in ordered:
        for row, cells in enumerate([sheet.header, *sheet.rows], 1):
            for column, cell in enumerate(cells):
                problem = None if type(cell) is float and math.isfinite(cell) else _unwritable(cell)
                if row > MOST_ROWS or column >= MOST_COLUMNS:
                    problem = f"beyond the {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns of an .xlsx sheet"
                if problem:
                    where = f"{path}: sheet {sheet.name}, cell {cell_name(column, row)}"
                    raise UserError(f"{where}: {problem}. Nothing was written.")
    # In constant_memory rows go to the disk as they come, in the folder of the unfinished file.
    with new_workbook(path, constant_memory=True) as book:
        formats = {kind: book.add_format({"num_format": code}) for kind, code in _FORMATS.items()}
        for sheet in ordered:
            page = book.add_worksheet(sheet.name, ExactWorksheet)
            page.freeze_panes(1, 0)
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
                        style = formats[next(kind for kind in formats if isinstance(cell, kind))]
                        page.write_datetime(row, column, cell, style)


@contextlib.contextmanager
def new_workbook(path: Path, **options) -> "Iterator[xlsxwriter.Workbook]":  # noqa: F821 -- imported when needed
    """A workbook of XlsxWriter to fill: its file appears whole or not at all, equal content gives equal bytes."""
    import xlsxwriter

    made = io.BytesIO()  # an archive on a disk that is full reports that a second time when it is collected
    try:
        with replacing(path) as part:
            book = xlsxwriter.Workbook(made, {"tmpdir": str(part.parent), **options})
            book.set_properties({"created": datetime.datetime(2025, 9, 19)})  # any fixed date
            yield book
            book.close()
            part.write_bytes(made.getvalue())
    except Exception as error:
        # FileCreateError is XlsxWriter's name for an OSError.
        if not isinstance(error, OSError) and type(error).__name__ != "FileCreateError":
            raise
        raise UserError(not_written(path, error)) from None


def _unwritable(cell) -> str | None:
    """Why a cell can't be written without loss; None if it can."""
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
    elif cell is not None and not isinstance(cell, tuple(_FORMATS)):
        return f"a value of type {type(cell).__name__}; cells hold text, numbers, truth values and dates"
    elif cell is not None:
        span = cell if isinstance(cell, datetime.timedelta) else None
        fraction = getattr(cell, "microsecond", 0) if span is None else span.microseconds
        early = getattr(cell, "year", 1900) < 1900 if span is None else span.days < 0
        if early or fraction % 1000 or getattr(cell, "tzinfo", None) is not None:
            return (
                "a time with a time zone, finer than a millisecond, negative, or before 1900, which no .xlsx cell holds"
            )
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
