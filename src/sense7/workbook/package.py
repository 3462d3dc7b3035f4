"""A look into an .xlsx package before it is read in earnest.

Calamine lays a sheet out as a full rectangle up to its last cell, reads an error such as #N/A and a formula without
a stored value as blanks, rounds long numbers, knows nothing of hidden rows, and ends the whole process where the memory
does not suffice. So all that is to be found before. Regular expressions over the bytes do that, however a part
is called; no XML is parsed here, so no entity is ever expanded.
"""

import html
import re
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from sense7.errors import UserError

__all__ = ["Marks", "examine", "long_numbers"]

LARGEST = 512 * 2**20
"""Bytes that the package may unpack to."""

DENSEST = 100
"""Times its own size that a package of more than ``ALWAYS_SMALL`` bytes may unpack to; workbooks are about 10."""

ALWAYS_SMALL = 16 * 2**20

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""Rows and columns that a sheet of an .xlsx file may have."""

MOST_CELLS = 26 * 999_999
"""Cells of the rectangle from A1 to a sheet's last filled cell, and cells that a sheet may speak of."""

# Each expression takes time in proportion to any text: none looks beyond the beginning of the next
# tag, and none goes back over what it has matched.
_UNCLOSED = re.compile(rb"<[^<>]*+<")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^<>]*+>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^<>]*+>")
_PREFIX = rb"(?:[^\s<>/:\"'=]+:)?"
# A cell tag that is not the usual <c r="A1" of a column up to Z and a row below a million: rare, so looked at closely.
_UNUSUAL = (re.compile(rb"<c[\s/>](?!r=\"[A-Z]\d{1,6}\")"), re.compile(rb":c[\s/>]"))
_SHORTEST_USUAL = len('<c r="A1"/>')
_STEP = re.compile(rb"<(/?)" + _PREFIX + rb"(c|row)(?=[\s/>])((?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+)>")
_REFERENCE = re.compile(  # the first attribute r; what stands inside the values of others is none
    rb"(?:\s+[^\s=]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*?\s+r\s*=\s*[\"']([A-Za-z]{0,9})(\d{0,9})"
)
_ERROR_CELL = re.compile(
    rb"<" + _PREFIX + rb"c\s(?=[^<>]*\bt\s*=\s*[\"']e[\"'])"
    rb"(?>[^<>]*?\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"'])[^<>]*+>"
)
_FORMULA_ALONE, _FORMULA_UNCALCULATED = (
    re.compile(
        # A formula whose value is an empty text says so by its type.
        rb"<" + _PREFIX + rb"c\s(?![^<>]*\bt\s*=\s*[\"']str)"
        rb"(?>[^<>]*?\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"'])[^<>]*+(?<!/)>\s*+"
        rb"<" + _PREFIX + rb"f\b[^<>]*+(?:(?<=/)>|>[^<]*+</[^<>]*+>)\s*+"
        rb"(?:<" + _PREFIX + rb"v\s*/>|<" + _PREFIX + rb"v\s*>\s*+" + stored + rb"</[^<>]*+>)?\s*+</"
    )
    for stored in (rb"", rb"(?:0(?:\.0*+)?\s*+)?+")
)
"""Formulas without a stored value; and those with none or 0, where the workbook says that nothing is calculated yet."""
_UNCALCULATED = re.compile(rb"<(?:\w+:)?calcPr\s[^<>]*\bfullCalcOnLoad\s*=\s*[\"'](?:1|true)[\"']")
_LONG_NUMBER = re.compile(
    rb"<" + _PREFIX + rb"c\s(?![^<>]*\bt\s*=\s*[\"'](?!n[\"']))"
    rb"(?>[^<>]*?\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"'])[^<>]*+(?<!/)>\s*+"
    rb"<" + _PREFIX + rb"v\s*>\s*+(\d{16,})\s*+</"
)
_ROW = re.compile(rb"<" + _PREFIX + rb"row(?=[\s/>])((?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+)>")
_HIDDEN_ROW = re.compile(rb"\shidden\s*=\s*[\"'](?:1|true)[\"']|\sht\s*=\s*[\"']0(?:\.0*)?[\"']")
_HIDDEN_SIGN = re.compile(rb"row\s[^<>]*?\s(?:hidden|ht)\s*=\s*[\"'](?:1|true|0)")
_ROW_NUMBER = re.compile(rb"\sr\s*=\s*[\"'](\d{1,9})[\"']")
# Signs of the two, at which a search ends early: compiled, since b"<f" in xml takes more than twice as long.
_ERROR_SIGN = re.compile(rb"=[\"']e[\"']")
_FORMULA_SIGNS = (re.compile(rb"<f"), re.compile(rb":f"))
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError)
_ENCRYPTED = 1


_FORMATS = re.compile(rb"<(?:\w+:)?numFmt\s[^<>]*+>")
_STYLE = re.compile(rb"<(?:\w+:)?xf[\s/>][^<>]*+>?")
_STYLED_CELL = re.compile(
    rb"<" + _PREFIX + rb"c\s(?=[^<>]*\bs\s*=\s*[\"'](\d{1,9})[\"'])"
    rb"(?>[^<>]*?\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"'])"
)
_BUILT_IN_PERCENTAGES = frozenset({9, 10})
"""Number formats 0% and 0.00%, which every .xlsx file has without naming them."""


class Marks(NamedTuple):
    """What the cells of a sheet don't say by their values: column (from 0) and row (from 1) of each.

    Errors and formulas without a value are read as blanks and are none; percentages are numbers that are shown so.
    Hidden rows are counted from 1.
    """

    errors: list[tuple[int, int]]
    formulas: list[tuple[int, int]]
    percentages: list[tuple[int, int]]
    hidden: list[int]


def examine(path: Path) -> dict[str, Marks]:
    """Find what the cells of each sheet don't say by their values, and refuse what can't be read within reason.

    Parameters
    ----------
    path : Path
        A zip archive.

    Returns
    -------
    dict
        Sheet -> its marks.

    Raises
    ------
    UserError
        If it is no package, is damaged or protected, unpacks to too much, has a document type, or a sheet reaches
        too far.
    """
    part = "the list of parts"
    try:
        with zipfile.ZipFile(path) as package:
            _require_sound(path, package)
            book, names = _sheet_names(path, package)
            alone = _FORMULA_UNCALCULATED if _UNCALCULATED.search(book) else _FORMULA_ALONE
            percentages = _percentage_styles(package)
            marks = {}
            for part in package.namelist():
                xml = _unpacked(package, part)
                _require_plain(path, part, xml)
                if b"sheetData" in xml:
                    name = names.get(part.casefold(), part)
                    _require_reasonable(path, name, xml)
                    marks[name] = _marks(path, name, xml, percentages, alone)
            return marks
    except _UNREADABLE as error:
        raise UserError(f"{path}: damaged: {part} can't be unpacked ({error}). Fetch or save it again.") from None


def long_numbers(path: Path, sheet: str) -> list[tuple[int, int, str]]:
    """Column (from 0), row (from 1) and digits of each number of a sheet that has 16 digits or more in the file."""
    with zipfile.ZipFile(path) as package:
        names = _sheet_names(path, package)[1]
        xml = b"".join(_unpacked(package, part) for part in package.namelist() if names.get(part.casefold()) == sheet)
    return [(*_place(*cell), digits.decode()) for *cell, digits in _LONG_NUMBER.findall(xml)]


def _require_sound(path: Path, package: zipfile.ZipFile) -> None:
    """Refuse a package for what its list of parts says."""
    parts = package.infolist()
    names = {info.filename.casefold() for info in parts}
    if "_rels/.rels" not in names or not any(name.endswith("workbook.xml") for name in names):
        raise UserError(
            f"{path}: not a workbook that can be read (a zip archive, but none of an .xlsx workbook). "
            "Expected an .xlsx file; open it in a spreadsheet program and save it again as .xlsx."
        )
    if any(info.flag_bits & _ENCRYPTED for info in parts):
        raise UserError(f"{path}: the archive is protected by a password. Save a copy without one and use that.")
    if len(names) < len(parts):
        raise UserError(f"{path}: damaged: a part is in the archive twice. Save it again from a spreadsheet program.")
    unpacked, packed = sum(info.file_size for info in parts), path.stat().st_size
    if unpacked > LARGEST:
        raise UserError(
            f"{path}: unpacks to {unpacked / 2**20:,.0f} MB, more than a workbook of conversations can be "
            f"({LARGEST // 2**20} MB). Check where it comes from, or save it again from a spreadsheet program."
        )
    if unpacked > max(ALWAYS_SMALL, DENSEST * packed):
        raise UserError(
            f"{path}: unpacks to {unpacked / packed:,.0f} times its size, as no workbook of conversations does. "
            "Check where it comes from, or save it again from a spreadsheet program."
        )


def _unpacked(package: zipfile.ZipFile, part: str) -> bytes:
    """Content of a part; no more of it is unpacked than the list of parts says that there is."""
    info = package.getinfo(part)
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ValueError("it is compressed in a way that .xlsx files do not know")
    with package.open(info) as stream:
        return stream.read(info.file_size + 1)


def _require_plain(path: Path, part: str, xml: bytes) -> None:
    """Refuse what no workbook has and the reading library would misread: document types, other encodings."""
    if xml.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in xml[:4]:
        raise UserError(f"{path}: {part} is not in UTF-8. Open it in a spreadsheet program and save it again as .xlsx.")
    if b"<!DOCTYPE" in xml[:4096]:
        raise UserError(
            f"{path}: {part} has a document type, as no workbook does. Check where it comes from, or save it again "
            "from a spreadsheet program."
        )


def _sheet_names(path: Path, package: zipfile.ZipFile) -> tuple[bytes, dict[str, str]]:
    """The list of sheets; and name of a sheet's part, in lower case -> name of the sheet."""
    known = {name.casefold(): name for name in package.namelist()}
    book = next(name for name in known if name.endswith("workbook.xml"))
    folder = book.removesuffix("workbook.xml")
    relations = known.get(f"{folder}_rels/workbook.xml.rels")
    targets = {
        _attribute(tag, "Id"): _attribute(tag, "Target")
        for tag in _RELATION.findall(_unpacked(package, relations) if relations else b"")
    }
    names = {}
    listed = _unpacked(package, known[book])
    for tag in _SHEET.findall(listed):
        target = targets.get(_attribute(tag, r"\w+:id"), "")
        part = target.removeprefix("/") if target.startswith(("/", folder or "/")) else f"{folder}{target}"
        name, other = _attribute(tag, "name"), names.get(part.casefold())
        if other is not None and part.casefold() in known:  # thousands of names could stand for one large sheet
            raise UserError(
                f"{path}: the sheets {other} and {name} are one and the same part ({part}). "
                "Save it again from a spreadsheet program."
            )
        names[part.casefold()] = name
    return listed, names


def _attribute(tag: bytes, name: str) -> str:
    match = re.search(rf"\s{name}\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", tag.decode("utf-8", errors="replace"))
    return html.unescape(match[1] or match[2] or "") if match else ""


def _require_reasonable(path: Path, name: str, xml: bytes) -> None:
    if not any(tag.search(xml) for tag in _UNUSUAL) and len(xml) < MOST_CELLS * _SHORTEST_USUAL:
        return  # true of every sensible sheet; the exact extent takes longer
    _require_closed(path, name, xml)
    height, width, cells = _extent(xml)
    if width * height > MOST_CELLS or height > MOST_ROWS or width > MOST_COLUMNS:
        raise UserError(
            f"{path}: sheet {name} reaches to row {height:,} and column {width:,}, which is more than can be read "
            "at once. Delete the stray cells far below or beside the data and save it again."
        )
    if cells > MOST_CELLS:
        raise UserError(
            f"{path}: sheet {name} has more than {MOST_CELLS:,} cells, most of them blank. "
            "Delete the rows below the data and save it again."
        )


def _require_closed(path: Path, name: str, xml: bytes) -> None:
    """Refuse a tag that begins inside another: what it holds would be overlooked here, and not by calamine."""
    if match := _UNCLOSED.search(xml):
        raise UserError(
            f"{path}: sheet {name}: damaged: the tag at byte {match.start() + 1:,} has no end. "
            "Save it again from a spreadsheet program."
        )


def _extent(xml: bytes) -> tuple[int, int, int]:
    """Last row and column that hold something, as calamine counts them, and how many cells there are.

    A cell or row without a place follows the one before it. Counting ends where it is too much.
    """
    height = width = cells = 0
    row, column = 1, 0
    for closing, tag, attributes in (match.groups() for match in _STEP.finditer(xml)):
        blank = attributes.endswith(b"/")
        if tag == b"row":
            if not closing and (reference := _REFERENCE.match(attributes)):
                row = int(reference[2] or 1)
            if closing or blank:
                row, column = row + 1, 0
        elif not closing:
            at = row
            if reference := _REFERENCE.match(attributes):
                column, at = _place(reference[1].upper(), reference[2] or b"1")
            column, cells = column + 1, cells + 1
            if not blank:
                height, width = max(height, at), max(width, column)
            if cells > MOST_CELLS or height > MOST_ROWS or height * width > MOST_CELLS:
                break
    return height, width, cells


def _percentage_styles(package: zipfile.ZipFile) -> frozenset[bytes]:
    """Numbers of the cell styles that show a number as a percentage."""
    part = next((name for name in package.namelist() if name.casefold().endswith("styles.xml")), None)
    xml = _unpacked(package, part) if part else b""
    formats = {_attribute(tag, "numFmtId") for tag in _FORMATS.findall(xml) if "%" in _attribute(tag, "formatCode")}
    formats |= set(map(str, _BUILT_IN_PERCENTAGES))
    start = xml.find(b"cellXfs")
    styles = _STYLE.findall(xml, start, xml.find(b"cellXfs>", start + 8)) if start >= 0 else []
    return frozenset(b"%d" % n for n, tag in enumerate(styles) if _attribute(tag, "numFmtId") in formats)


def _marks(path: Path, name: str, xml: bytes, percentages: frozenset[bytes], alone: re.Pattern) -> Marks:
    has_errors = _ERROR_SIGN.search(xml)
    has_formulas = any(sign.search(xml) for sign in _FORMULA_SIGNS)
    if has_errors or has_formulas or percentages:
        _require_closed(path, name, xml)
    errors = _ERROR_CELL.findall(xml) if has_errors else []
    formulas = alone.findall(xml) if has_formulas else []
    styled = _STYLED_CELL.findall(xml) if percentages else []
    return Marks(
        [_place(*match) for match in errors],
        [_place(*match) for match in formulas],
        [_place(*cell) for style, *cell in styled if style in percentages],
        _hidden_rows(xml),
    )


def _hidden_rows(xml: bytes) -> list[int]:
    """Rows that are hidden by hand or by a filter, or have no height; one without a number follows the one before."""
    hidden, row = [], 0
    if not _HIDDEN_SIGN.search(xml):
        return hidden
    for match in _ROW.finditer(xml):
        number = _ROW_NUMBER.search(match[1])
        row = int(number[1]) if number else row + 1
        if _HIDDEN_ROW.search(match[1]):
            hidden.append(row)
    return hidden


def _place(letters: bytes, row: bytes) -> tuple[int, int]:
    column = 0
    for letter in letters:
        column = column * 26 + letter - 64
    return column - 1, int(row)
