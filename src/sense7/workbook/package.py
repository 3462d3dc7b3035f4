"""A look into an .xlsx package before it is read in earnest.

Calamine lays a sheet out as a full rectangle up to its last cell, and reads an error such as
#N/A as a blank. So a single stray cell in the last row and column, or a zip bomb, would exhaust
the memory, and an error would go unnoticed. Regular expressions over the bytes find all three; no XML is
parsed here, so no entity is ever expanded.
"""

import html
import re
import zipfile
import zlib
from pathlib import Path

from sense7.errors import UserError

__all__ = ["examine"]

LARGEST = 512 * 2**20
"""Bytes that the package may unpack to."""

MOST_CELLS = 20_000_000
"""Cells of the rectangle from A1 to a sheet's last filled cell."""

_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
_ROW = re.compile(rb"row [^>]*?\br=\"(\d{1,7})\"")  # begins with a literal, which makes the search quick
_WIDE = re.compile(rb" r=\"[A-Z]{3}\d")
_FILLED_CELL = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=\"([A-Z]{1,3})(\d{1,7})\"[^>]*(?<!/)>")
_ERROR_CELL = re.compile(rb"<(?:\w+:)?c\s(?=[^>]*\bt=\"e\")[^>]*?\br=\"([A-Z]{1,3})(\d{1,7})\"[^>]*>")
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RuntimeError, OSError)


def examine(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Find the error cells of each sheet, and refuse what can't be read within reason.

    Parameters
    ----------
    path : Path
        A file; anything but an .xlsx package is passed over.

    Returns
    -------
    dict
        Sheet -> (column from 0, row from 1) of each cell that holds an error such as #N/A.

    Raises
    ------
    UserError
        If the package unpacks to more than 512 MiB, or a sheet reaches too far.
    """
    try:
        with zipfile.ZipFile(path) as package:
            unpacked = sum(info.file_size for info in package.infolist())
            if unpacked > LARGEST:
                raise UserError(
                    f"{path}: unpacks to {unpacked / 2**20:,.0f} MB, more than a workbook of conversations can be "
                    f"({LARGEST // 2**20} MB). Check where it comes from, or save it anew from a spreadsheet program."
                )
            errors = {}
            for name, part in _sheet_parts(package).items():
                xml = package.read(part)
                _require_reasonable(path, name, xml)
                errors[name] = [_place(*match) for match in _ERROR_CELL.findall(xml)] if b't="e"' in xml else []
            return errors
    except _UNREADABLE:
        return {}  # calamine will say what is wrong with it, or read it all the same


def _sheet_parts(package: zipfile.ZipFile) -> dict[str, str]:
    """Name of a sheet -> name of its part in the package."""
    targets = {
        _attribute(tag, "Id"): _attribute(tag, "Target")
        for tag in _RELATION.findall(package.read("xl/_rels/workbook.xml.rels"))
    }
    parts = {}
    for tag in _SHEET.findall(package.read("xl/workbook.xml")):
        target = targets.get(_attribute(tag, r"\w+:id"), "")
        part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
        if part in package.NameToInfo:
            parts[_attribute(tag, "name")] = part
    return parts


def _attribute(tag: bytes, name: str) -> str:
    match = re.search(rf"\s{name}=\"([^\"]*)\"", tag.decode("utf-8", errors="replace"))
    return html.unescape(match[1]) if match else ""


def _require_reasonable(path: Path, name: str, xml: bytes) -> None:
    lowest = max(map(int, _ROW.findall(xml)), default=0)
    if lowest * (16_384 if _WIDE.search(xml) else 702) <= MOST_CELLS:
        return  # true of every sensible sheet; the exact count takes longer
    places = [_place(*match) for match in _FILLED_CELL.findall(xml)]
    width = max((column for column, _ in places), default=-1) + 1
    height = max((row for _, row in places), default=0)
    if width * height > MOST_CELLS:
        raise UserError(
            f"{path}: sheet {name} reaches to row {height:,} and column {width:,}, which is more than can be read "
            "at once. Delete the stray cells far below or beside the data and save it anew."
        )


def _place(letters: bytes, row: bytes) -> tuple[int, int]:
    column = 0
    for letter in letters:
        column = column * 26 + letter - 64
    return column - 1, int(row)
