"""Cells of any type as texts, names and numbers."""

import functools
import math
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence

MISSING_TEXTS = frozenset(
    [
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)
"""Texts that pandas reads as missing by default."""


def cell_name(column: int, row: int) -> str:
    """Name of a cell, column counted from 0, row from 1: AB10 is the cell of column 27, row 10."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row}"


def column_number(letters: str) -> int:
    """Column of a cell's letters, counted from 0: AB is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def is_blank(cell) -> bool:
    """Whether a cell holds nothing, or nothing but space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def is_number(value: object) -> bool:
    """Whether a value is a number; to Python truth values are integers, too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(cell) -> str | None:
    """A cell as text, unchanged if it is text; only a blank cell is None."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def as_texts(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_text`."""
    if set(map(type, cells)) <= {str, type(None)}:
        return list(cells)
    return list(map(as_text, cells))


def as_name(cell) -> str | None:
    """A cell as a name or id in form NFC without outer space: 12.0 and "12 " are 12; None if it is blank."""
    text = as_text(cell)
    if text is None:
        return None
    return unicodedata.normalize("NFC", text).strip() or None


def as_names(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_name`."""
    name_of_distinct = functools.lru_cache(maxsize=None, typed=True)(as_name)
    return list(map(name_of_distinct, cells))


def select(column: Sequence, indices: Iterable[int]) -> list | array:
    """Some cells of a column, as a list or as an array of numbers like the column's own."""
    cells = map(column.__getitem__, indices)
    return array(column.typecode, cells) if isinstance(column, array) else list(cells)


def as_number(cell, decimal: str = ".") -> float | None:
    """The number in a cell, also of a text in ASCII digits with a decimal sign; None if it holds none.

    Examples
    --------
    >>> as_number(" .5 "), as_number("4,5", decimal=","), as_number("1,000")
    (0.5, 4.5, None)
    """
    if not is_number(cell):
        if not isinstance(cell, str) or len(cell) > 100:
            return None
        sign = re.escape(decimal)
        form = rf"\s*[+-]?(\d+({sign}\d*)?|{sign}\d+)(e[+-]?\d+)?\s*"
        if not re.fullmatch(form, cell, re.ASCII | re.IGNORECASE):
            return None
        cell = cell.replace(decimal, ".")
    number = float(cell)
    if math.isfinite(number):
        return number
    return None
