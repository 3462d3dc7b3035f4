"""Cells in, cells out: .xlsx files as plain sheets, before any meaning is given to them.

Calamine reads. It lays a sheet out as a rectangle up to its last cell, reads an error such as #N/A and a formula
without a stored value as blanks, rounds long numbers, knows nothing of what is hidden, and ends the whole process where
the memory does not suffice; so every package is looked at before, and a sheet that has any of these is parsed whole.
XlsxWriter writes, typed cell by cell. What is written is read back equal; what can't be is refused.
"""

import contextlib
import datetime
import io
import itertools
import math
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing
from sense7.taxonomy import normalise_name
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_text, cell_name, is_number

LONGEST_TEXT = 32_767
"""Characters (UTF-16 units, so most emoji count twice) that a cell of an .xlsx file may hold."""

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
MOST_CELLS = 26 * 999_999
"""Cells of the rectangles from A1 to the last filled cell, over all sheets of a file."""

MOST_TAGS = 1_000_000
"""Tags of a part beside the sheets that are looked at."""

DEEPEST = 1_000
"""Tags inside each other."""

LONGEST_TAG = 2**16
"""Bytes of a tag."""

MOST_SHARED = 4_000_000
"""Texts of a workbook to which cells refer by their number."""

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
        rb"v>\s*\d{16}",  # a long number, such as an id
    )
]
_VALUE = re.compile(rb"<(?:[^\s<>/:]+:)?v(?:\s[^<>]*)?>(?:\s*(\d{1,9})\s*</)?")
"""A cell's value: which shared text it refers to, if it is one; else what is no short number."""

_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}
"""Errors that calamine knows; others, such as #CALC! and #SPILL!, make a workbook unreadable to it."""

_DOCUMENT_TYPE = re.compile(rb"(?>\xef\xbb\xbf|\s+|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", re.DOTALL)
_SHARED_TEXT = re.compile(rb"<(?:[^\s<>/:]+:)?si[\s/>]")
_CELL_NAME = re.compile(r"([A-Za-z]{1,3})(\d{1,7})")
_BLANK_OR_ZERO = re.compile(r"(?:0(?:\.0*)?)?")


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
    package = _Package(path)
    try:
        package.unpack()
        package.read_book()
        return package.marks()
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as error:
        raise refusal(path, "damaged/zip", part=package.part, error=error) from None
    except (ElementTree.ParseError, LookupError) as error:
        raise refusal(path, "damaged/xml", part=package.part, error=one_line(error)) from None


class _Package:
    """The parts of an .xlsx file, by their names without case; ``part`` is the one that is looked at."""

    def __init__(self, path: Path):
        self.path = path
        self.part = "the list of parts"
        self.file_names = {}
        self.xml = {}
        self.book = ""
        self.is_calculated = True
        self.sheet_names = {}  # of each part that a name of the workbook stands for

    def unpack(self) -> None:
        """Read every part, no more of it than the list of parts says."""
        with zipfile.ZipFile(self.path) as package:
            parts = package.infolist()
            part_of = {info.filename.casefold(): info for info in parts}
            self.file_names = {name: info.filename for name, info in part_of.items()}
            self.book = next((name for name in part_of if name.endswith("workbook.xml")), "")
            if not self.book or "_rels/.rels" not in part_of:
                raise refusal(self.path, "no-workbook/zip")
            if any(info.flag_bits & 1 for info in parts):
                raise refusal(self.path, "protected/zip")
            if len(part_of) < len(parts):
                raise refusal(self.path, "part-twice")
            unpacked = sum(info.file_size for info in parts)
            if unpacked > min(LARGEST, max(ALWAYS_SMALL, DENSEST * self.path.stat().st_size)):
                raise refusal(self.path, "bomb", megabytes=unpacked / 2**20)
            for name, info in part_of.items():
                self.part = info.filename
                if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("it is compressed in a way that .xlsx files do not know")
                with package.open(info) as stream:
                    xml = stream.read(info.file_size + 1)
                if xml.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in xml[:4]:
                    raise refusal(self.path, "not-utf-8", part=self.part)
                # Without a document type there are no entities that could be expanded.
                if _DOCUMENT_TYPE.match(xml):
                    raise refusal(self.path, "document-type", part=self.part)
                self.xml[name] = xml

    def read_book(self) -> None:
        """Read the names of the sheets, and whether the formulas were calculated."""
        folder = self.book.removesuffix("workbook.xml")
        targets = {}
        for _, attributes in self._tags(f"{folder}_rels/workbook.xml.rels"):
            targets[attributes.get("Id")] = attributes.get("Target", "")
        for tag, attributes in self._tags(self.book):
            if tag == "calcPr":
                self.is_calculated = attributes.get("fullCalcOnLoad") not in {"1", "true"}
            elif tag == "sheet":
                ids = [value for key, value in attributes.items() if key.endswith("}id")]
                target = targets.get(ids[0], "") if ids else ""
                file_name = target.removeprefix("/")
                if not target.startswith(("/", folder or "/")):
                    file_name = folder + target
                name, part = attributes.get("name", ""), file_name.casefold()
                # Thousands of names for one part could stand for one large sheet.
                if part in self.sheet_names and part in self.xml:
                    first = self.sheet_names[part]
                    raise refusal(self.path, "one-part", first=first, second=name, part=file_name)
                self.sheet_names[part] = name

    def _tags(self, name: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The first tags of a part beside the sheets, with their attributes; none if there is no such part."""
        self.part = name
        elements = _elements(self.xml.get(name) or b"<none/>", "start")
        for _, tag, element in itertools.islice(elements, MOST_TAGS):
            yield tag, element

    def marks(self) -> dict[str, dict[str, list]]:
        """Sheet -> its marks, of the sheets that show a sign of any; refused where shared texts are too large."""
        sheets = {part: xml for part, xml in self.xml.items() if b"sheetData" in xml}
        looks = {}
        for part, xml in sheets.items():
            if any(sign.search(xml) for sign in _SIGNS):
                self.part = f"sheet {self.sheet_names.get(part, part)}"
                looks[part] = self._look(part)
        for part, xml in self.xml.items():
            if not part.endswith("sharedstrings.xml"):
                continue
            self.part = self.file_names[part]
            sizes = _shared_sizes(self.path, self.part, xml)
            if _most_text(sizes, sheets.values()) > LARGEST:
                # That many at most; so the tags of all sheets are counted.
                for sheet in sheets.keys() - looks.keys():
                    looks[sheet] = self._look(sheet)
                sizes = _sizes_of_texts(xml)
                total = 0
                for look in looks.values():
                    for number, count in look.shared.items():
                        if number < len(sizes):
                            total += count * sizes[number]
                if total > LARGEST:
                    megabytes = total / 2**20
                    raise refusal(self.path, "shared-text", part=self.part, megabytes=megabytes)
        return {self.sheet_names.get(part, part): look.marks for part, look in looks.items()}

    def _look(self, part: str) -> "_Look":
        """Look at all tags of a sheet."""
        name, xml = self.sheet_names.get(part, part), self.xml[part]
        if re.search(rb"<[^<>!?][^<>]{%d}" % LONGEST_TAG, xml):
            raise refusal(self.path, "damaged/xml", part=f"sheet {name}", error="a tag is too long")
        look = _Look(self.path, name, self.is_calculated)
        parser = ElementTree.XMLParser(target=look)  # noqa: S314 -- no document type, no entity
        parser.feed(xml)
        parser.close()
        return look


def _elements(xml: bytes, *events: str) -> Iterator[tuple[str, str, ElementTree.Element]]:
    """Start and end of every element of a part, each with its name without a prefix."""
    for event, element in ElementTree.iterparse(io.BytesIO(xml), events):  # noqa: S314 -- no document type, no entity
        yield event, element.tag.rpartition("}")[2], element


def _shared_sizes(path: Path, part: str, xml: bytes) -> list[int]:
    """Bytes that each shared text has at most; a part that announces more texts than it can hold is refused."""
    for _, tag, element in itertools.islice(_elements(xml, "start"), MOST_TAGS):
        if tag == "sst":
            announced = element.get("uniqueCount", "").strip().removeprefix("+")
            if announced.isdecimal() and (len(announced) > 18 or int(announced) > len(xml)):
                raise refusal(path, "shared-text/announced", part=part, number=f"{announced:.20}")
            break
    if xml.count(b"<si") + xml.count(b":si") > MOST_SHARED:
        raise refusal(path, "shared-text/many", part=part, most=MOST_SHARED)
    if b"<!" in xml:  # a comment or a marked section, in which other texts could seem to begin
        return _sizes_of_texts(xml)
    starts = [match.start() for match in _SHARED_TEXT.finditer(xml)]
    return [end - start for start, end in itertools.pairwise([*starts, len(xml)])]


def _sizes_of_texts(xml: bytes) -> list[int]:
    """Bytes of each shared text, without its tags."""
    ends = (element for _, tag, element in _elements(xml, "end") if tag == "si")
    return [sum(len(text.encode()) for text in element.itertext()) for element in ends]


def _most_text(sizes: Sequence[int], sheets: Iterable[bytes]) -> int:
    """Bytes that shared texts have in cells at most: a short number is taken for a text's, all else for the longest."""
    longest, total = max(sizes, default=0), 0
    for xml in sheets:
        for number, count in Counter(_VALUE.findall(xml)).items():
            if not number:
                total += count * longest
            elif int(number) < len(sizes):
                total += count * sizes[int(number)]
    return total


class _Look:
    """What calamine does not tell of a sheet, taken from its tags as they come, so that none of them is kept.

    Places (column from 0, row from 1) of errors, formulas and long numbers; hidden rows; how often which shared text
    is referred to. A cell without a place follows the last one. A sheet that reaches too far is refused.
    """

    def __init__(self, path: Path, name: str, calculated: bool):
        self.marks = defaultdict(list)
        self.shared = Counter()
        self._path = path
        self._name = name
        self._calculated = calculated
        self._width = 0
        self._height = 0
        self._depth = 0
        self._row = 0
        self._column = -1
        self._type = "n"
        self._children = set()
        self._value = []
        self._in_value = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """A tag that opens."""
        tag = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth > DEEPEST:
            raise refusal(
                self._path,
                "damaged/xml",
                part=f"sheet {self._name}",
                error="tags are nested too deeply",
            )
        if tag == "row":
            number = attributes.get("r", "")
            self._row += 1
            self._column = -1
            if number.isdecimal() and len(number) < 10:
                self._row = int(number)
            elif number:
                self._refuse_cell(number)
            if self._row > MOST_ROWS:
                raise refusal(self._path, "too-far", sheet=self._name, row=self._row, column=1)
            if attributes.get("hidden") in {"1", "true"}:
                self.marks["hidden"].append(self._row)
        elif tag == "c":
            self._type = attributes.get("t", "n")
            self._children = set()
            self._value = []
            self._column += 1
            if "r" in attributes:
                match = _CELL_NAME.fullmatch(attributes["r"])
                if match is None:
                    self._refuse_cell(attributes["r"])
                self._row = int(match[2])
                self._column = -1
                for letter in match[1].upper():
                    self._column = (self._column + 1) * 26 + ord(letter) - 65
        else:
            if tag == "f" and "v" in self._children:  # of which calamine drops the value
                place = cell_name(self._column, self._row)
                raise refusal(
                    self._path,
                    "damaged/xml",
                    part=f"sheet {self._name}",
                    error=f"in cell {place} a value stands before its formula",
                )
            self._children.add(tag)
            if tag == "v":
                self._value, self._in_value = [], True

    def _refuse_cell(self, name: str) -> None:
        raise refusal(self._path, "too-far/place", sheet=self._name, place=f"{name:.20}")

    def data(self, text: str) -> None:
        """Text between tags."""
        if self._in_value:
            self._value.append(text)

    def end(self, tag: str) -> None:
        """A tag that closes."""
        tag = tag.rpartition("}")[2]
        self._depth -= 1
        if tag == "v":
            self._in_value = False
        if tag != "c":
            return
        value, children = "".join(self._value).strip(), self._children
        self._children = set()
        cell = (self._column, self._row)
        if children & {"v", "is", "f"}:
            self._height = max(self._height, self._row)
            self._width = max(self._width, self._column + 1)
            is_too_long = self._height > MOST_ROWS or self._width > MOST_COLUMNS
            if is_too_long or self._width * self._height > MOST_CELLS:
                reach = {"row": self._height, "column": self._width}
                raise refusal(self._path, "too-far", sheet=self._name, **reach)
            if self._type == "e":
                self.marks["errors"].append(cell)
                if value and value not in _ERRORS:
                    place = {"sheet": self._name, "cell": cell_name(*cell)}
                    raise refusal(self._path, "unknown-error", **place, error=f"{value:.20}")
        if "f" in children and self._type != "str":
            is_zero = _BLANK_OR_ZERO.fullmatch(value) is not None
            if not value or (is_zero and not self._calculated):
                self.marks["formulas"].append(cell)
        if self._type == "n" and re.fullmatch(r"\d{16,}", value):
            self.marks["digits"].append((*cell, value))
        if self._type == "s" and len(value) < 10 and value.isdecimal():
            self.shared[int(value)] += 1


# --- reading ---


def read_sheets(path: str | Path, only: str | None = None) -> dict[str, Sheet]:
    """Read every worksheet of an .xlsx file, or the one named ``only``: name -> sheet, in the file's order."""
    import python_calamine

    path = Path(path)
    _require_workbook(path)
    marks_of = examine(path)
    where = path
    sheets = {}
    cells = 0
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        counts = Counter(map(str.casefold, book.sheet_names))
        for name in book.sheet_names:
            if counts[name.casefold()] > 1:
                raise refusal(path, "sheet-twice", sheet=name)
        for metadata in book.sheets_metadata:
            name = metadata.name
            if metadata.typ != python_calamine.SheetTypeEnum.WorkSheet or only not in (None, name):
                continue
            where = f"{path}: sheet {name}"
            page = book.get_sheet_by_name(name)
            height, width = (last + 1 for last in page.end or (-1, -1))
            cells += height * width
            if cells > MOST_CELLS:
                reach = {"sheet": name, "row": height, "column": width}
                raise refusal(path, "too-far/together", **reach, most=MOST_CELLS)
            table = page.to_python(skip_empty_area=False) or [[]]
            is_visible = metadata.visible == python_calamine.SheetVisibleEnum.Visible
            sheets[name] = _as_sheet(name, table, marks_of.get(name, defaultdict(list)), is_visible)
    except BaseException as error:
        # A panic of the Rust library derives from BaseException and has no importable name.
        is_panic = type(error).__name__ == "PanicException"
        expected = (python_calamine.CalamineError, OSError, ValueError)
        if not is_panic and not isinstance(error, expected):
            raise
        raise refusal(where, "no-workbook/library", error=one_line(error)) from None
    return sheets


def _require_workbook(path: Path) -> None:
    """Refuse a file that is no .xlsx package, saying what it is where its first bytes show it."""
    with reading(path) as stream:
        start = stream.read(200)
    if not start:
        raise refusal(path, "empty-file")
    if start.startswith(b"version https://git-lfs"):
        raise refusal(path, "lfs-pointer")
    # Office before .xlsx, and all that it protects, begins with this.
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        raise refusal(path, "protected")
    if not zipfile.is_zipfile(path):
        entries = {".xlsx": "damaged/short", ".csv": "no-workbook/csv"}
        raise refusal(path, entries.get(path.suffix.casefold(), "no-workbook"))


def _as_sheet(name: str, table: list[list], marks: Mapping[str, list], is_visible: bool) -> Sheet:
    """A sheet of what calamine read; formulas without a stored value are blank, ids of many digits are texts."""
    header = list(map(as_text, table[0]))
    rows = [[None if cell == "" else cell for cell in row] for row in table[1:]]

    def has_number(column: int, row: int) -> bool:
        is_inside = 0 <= row - 2 < len(rows) and column < len(header)
        return is_inside and type(rows[row - 2][column]) is float

    for column, row in marks["formulas"]:
        if has_number(column, row):
            rows[row - 2][column] = None
    for column, row, digits in marks["digits"]:
        # As a rounded number an id would come to equal its neighbour.
        is_id = has_number(column, row) and "id" in normalise_name(header[column])
        if is_id and int(rows[row - 2][column]) != int(digits):
            rows[row - 2][column] = digits
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
