"""Cells of any type as texts, names and numbers; ids that are spelt in several ways, or rounded by a spreadsheet."""

import contextlib
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sense7.terminal import count_of

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that Unicode calls default ignorable: zero-width, bidirectional and the like."""

_LIKE_NUMBER = re.compile(
    r"=.+|(?!\d{1,4}\.\d{1,2}\.\d{2,4}$)[~<>\u2248]?\s*(?:[A-Z]{0,2}[^\w\s.,:;/+(-]|[A-Z]{3}|Rs\.?)?\s*"
    r"[(+\u2212-]?\d[\d.,'\u2019\s]*\)?\s*(?:%|[^\w\s.,:;/+-]|[^\W\d_]{1,7}\.?)?",
    re.DOTALL,
)
"""A number as people write one: digits grouped, a decimal comma, a currency, a unit, a percent sign; or a formula."""

_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?![1-9]\d{0,2},\d{3}\s*$)\d+,\d+\s*", re.ASCII)
"""One comma between digits that can't separate thousands."""

_SCIENTIFIC = re.compile(r"\d(?:[.,](\d+))?[eE]\+(\d{1,3})")

_POSITIVE = (7, 8, 9, 66, 77, 88, *range(95, 100), 666, 777, 888, *range(995, 1000), 7777, 8888, 9999, 99999, 999999)
CODES = frozenset({*_POSITIVE, *(-number for number in _POSITIVE), *range(-9, 0)})
"""Numbers that survey programs write for a missing answer."""


def cell_name(column: int, row: int) -> str:
    """Name of a cell, column counted from 0, row from 1: AB10 is the cell of column 27, row 10."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def is_blank(cell) -> bool:
    """Whether a cell holds nothing, or nothing but space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def as_text(cell) -> str | None:
    """A cell as text, unchanged if it is text; only a blank cell is None."""
    if cell is None or isinstance(cell, str):
        return cell
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def as_texts(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_text`."""
    return list(cells) if set(map(type, cells)) <= {str, type(None)} else list(map(as_text, cells))


def as_name(cell) -> str | None:
    """A cell as a name or id in form NFC, invisible characters and doubled space left out: 12.0 and "12 " are 12."""
    text = as_text(as_shown(cell) if isinstance(cell, float) and not cell.is_integer() else cell)
    if text is None:
        return None
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip() or None
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).split()) or None


def as_names(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_name`."""
    keys = distinct_keys(cells)
    names = {key: as_name(key if keys is cells else key[1]) for key in dict.fromkeys(keys)}
    return list(map(names.__getitem__, keys))


def distinct_keys(cells: Sequence) -> Sequence:
    """Keys under which a mapping tells the cells of a column apart: with their types where 1 could be True."""
    types = set(map(type, cells)) - {str, type(None)}
    return cells if len(types) < 2 else list(zip(map(type, cells), cells, strict=True))


def as_number(cell, *, decimal_comma: bool = False) -> float | None:
    """A cell as a number, None if it holds none; "1,000" is none, since it may be a thousand or one."""
    if isinstance(cell, bool):
        return None
    if decimal_comma and isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    if isinstance(cell, int | float) or (isinstance(cell, str) and "_" not in cell):  # to Python 1_000 is a number
        with contextlib.suppress(ValueError, OverflowError):
            return value if math.isfinite(value := float(cell)) else None
    return None


def as_shown(number: float) -> float:
    """A number as spreadsheets show it, by its first 15 digits: 2.9999999999999996 is 3."""
    return float(f"{number:.15g}")


def looks_like_number(cell) -> bool:
    """Whether a text is a number in a form that is not read as one."""
    return isinstance(cell, str) and bool(_LIKE_NUMBER.fullmatch(cell.strip())) and as_number(cell) is None


def codes_among(numbers: Iterable[float], size: int = 0) -> list[float]:
    """Numbers that probably stand for a missing answer: known codes, apart from all others, which lie close together.

    ``numbers`` are those of a column on a scale from 1 to ``size`` (0: no scale).
    """
    candidates = {number for number in numbers if number in CODES and not 1 <= number <= size}
    rest = sorted(set(numbers) - candidates)
    if not size and len(rest) < 2:
        return []
    low, high = min([1, *rest] if size else rest), max([size, *rest])
    while size and high + 1 in candidates:  # the scale goes on
        high += 1
    steps = all(after - before == 1 for before, after in pairwise(rest))
    far = high + (1 if size else max(2.5 if steps else 10 - high, (high - low) / 4))
    whole = bool(size) or all(float(number).is_integer() for number in rest)
    below = [number for number in candidates if number < 0 <= low and (whole or number < -9)]
    if below and -min(below) >= high / 2 and set(range(int(min(below)), 0)) <= set(below):  # such as from -3 to 3
        below = []
    codes = sorted([*below, *(number for number in candidates if number > far)])
    return codes if len(codes) < 6 else []  # no survey program writes more into one column


def _loose_form(identifier: str) -> str:
    """What is left of an id without case, braces and the forms of a number."""
    form = unicodedata.normalize("NFKC", identifier.casefold()).strip("{}")
    # Not by int(), which refuses very long numbers.
    return form.split(".")[0].lstrip("0") or "0" if re.fullmatch(r"\d+(\.0*)?", form) else form


def group_spellings(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by what is left of them without case, braces and leading zeros."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[_loose_form(name)].append(name)
    return groups


def respelt(names: Iterable[str | None], known: set[str]) -> dict[str, str]:
    """Names that are not among the known ones -> the only known one that is alike."""
    groups = group_spellings(known)
    alike = {name: groups.get(_loose_form(name), []) for name in set(names) - known - {None}}
    return {name: group[0] for name, group in alike.items() if len(group) == 1}


def report_rounded(table, official: str, cells: Sequence, names: list[str | None]) -> None:
    """Report ids of a column that a spreadsheet has shortened or rounded."""
    shortened, long, rounded = set(), set(), set()
    for name in set(names) - {None}:  # a spreadsheet shows eleven digits, of which it keeps six, and stores fifteen
        if name.startswith("##") and not name.strip("#"):  # the column was too narrow
            shortened.add(name)
        elif match := _SCIENTIFIC.fullmatch(name):
            shortened |= {name} if len(match[1] or "") < int(match[2]) >= 11 else set()
        elif len(name) > 11 and name.isascii() and name.isdigit():
            long.add(name)
            kept = len(name.rstrip("0"))
            rounded |= {name} if kept <= 6 or kept <= 15 < len(name) else set()
    inexact = {name for cell, name in zip(cells, names, strict=True) if isinstance(cell, float) and abs(cell) > 2**53}
    rounded = (rounded if rounded == long else set()) | inexact
    for entry, wrong in (("rounded-id/shortened", shortened), ("rounded-id", rounded)):
        rows = [row for row, name in enumerate(names, 2) if name in wrong]
        table.add(entry, official, rows, names[rows[0] - 2] if rows else "")


def report_similar(table, official: str, names: list[str | None], rows: list[int], noun: str) -> None:
    """Report names of a column that differ only in case, braces or leading zeros: each stays one of its own."""
    counts = Counter(name for name in names if name is not None)
    for group in group_spellings(counts).values():
        if len(group) > 1:
            told = ", ".join(f"{name!r} ({count_of(counts[name], 'row')})" for name in group)
            found = [row for name, row in zip(names, rows, strict=True) if name in group]
            table.add("similar", official, found, told, noun=noun)
