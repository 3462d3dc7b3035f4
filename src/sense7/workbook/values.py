"""Cells of any type as texts, names and numbers; and ids that are spelt differently."""

import contextlib
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

__all__ = [
    "CODES",
    "DECLINING_WORDS",
    "MISSING_WORDS",
    "as_name",
    "as_names",
    "as_number",
    "as_shown",
    "as_text",
    "as_texts",
    "codes_among",
    "count_filled",
    "distinct_keys",
    "group_spellings",
    "has_decimal_comma",
    "is_blank",
    "is_import_id",
    "is_look_alike",
    "looks_like_number",
    "match_ids",
    "rows_of",
]

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that Unicode calls default ignorable: zero-width, bidirectional and the like."""

_LOOK_ALIKES = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5\u0131\u0261",
    "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXaivopuig",
)
"""Cyrillic and Greek letters, and two rare Latin ones, that look like a common Latin letter.

Single letters of confusables.txt of Unicode Technical Standard 39 that most fonts draw alike.
"""

_IMPORT_ID = re.compile(r"\{\s*.?ImportId.?\s*:", re.IGNORECASE)
_LIKE_NUMBER = re.compile(
    r"=.+|(?!\d{1,4}\.\d{1,2}\.\d{2,4}$)[~<>\u2248]?\s*(?:[A-Z]{0,2}[^\w\s.,:;/+(-]|[A-Z]{3}|Rs\.?)?\s*"
    r"[(+\u2212-]?\d[\d.,'\u2019\s]*\)?\s*(?:%|[^\w\s.,:;/+-]|[^\W\d_]{1,7}\.?)?",
    re.DOTALL,
)
"""A number as people write one: digits grouped, a decimal comma, a currency, a unit, a percent sign; or a formula."""

MISSING_WORDS = frozenset({
    "#n/a", "#n/a n/a", "#na", "#nv", "(blank)",
    "(empty)", "(leer)", "(missing)", "(null)", "*", "-", "--", "---", "-1.#ind", "-inf", "-nan", ".", "..", "...",
    "1.#ind", "1.#qnan", "<na>", "<null>", "=na()", "?", "??", "???", "[null]", "\\n", "blank", "empty", "fehlend",
    "inf", "k. a.", "k.a.", "leer", "manquant", "missing", "missing value", "n. a.", "n.a.", "n/a", "n/d", "na",
    "na()", "nan", "nat", "nd", "nil", "ninguno", "no data", "no value", "none", "none selected", "not answered",
    "not asked", "not available", "not shown", "null", "nv", "perdido", "skipped", "sysmis", "system missing",
    "unanswered", "undefined", "vac\u00edo", "vide", "void", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014",
    "\u2026", "\u2212",
} | {f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz_"})  # fmt: skip
"""What spreadsheets, statistics and survey programs write for a missing value, by normalize_word."""

DECLINING_WORDS = frozenset({
    "can't rate", "can't say", "can't tell", "cannot rate", "cannot say", "declined", "dk", "do not know",
    "don't know", "dont know", "i don't know", "no answer", "no opinion", "no response", "not applicable",
    "not rated", "prefer not to answer", "prefer not to say", "rather not say", "refused", "unable to rate",
    "unknown",
})  # fmt: skip
"""English words by which a person declines to answer; other languages: :mod:`sense7.workbook.languages`."""

_POSITIVE = (7, 8, 9, 66, 77, 88, *range(95, 100), 666, 777, 888, *range(995, 1000), 7777, 8888, 9999, 99999, 999999)
CODES = frozenset({*_POSITIVE, *(-number for number in _POSITIVE), *range(-9, 0)})
"""Numbers that survey programs write for a missing answer."""

_TOO_MANY = 6
"""Codes that no survey program writes into one column."""

_AGE = re.compile(r"^age|age$|[^a-z]age|alter\b|edad|\u00e2ge|idade|\u5e74\u9f62|\u5e74\u9f84", re.IGNORECASE)

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)


def is_blank(cell) -> bool:
    """Whether a cell holds nothing, or nothing but space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def count_filled(cells: Sequence) -> int:
    """How many of many cells are not blank.

    Examples
    --------
    >>> count_filled([None, "", " ", "a", 0.0, False])
    3
    """
    try:
        spaces = sum(map(str.isspace, filter(None, cells)))
    except TypeError:  # not all of them are texts
        spaces = sum(isinstance(cell, str) and cell.isspace() for cell in cells)
    return len(cells) - cells.count(None) - cells.count("") - spaces


def as_text(cell) -> str | None:
    """A cell as text, unchanged if it is text; only a blank cell is None."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def as_name(cell) -> str | None:
    r"""A cell as a name or an id: 12.0 and "12 " are 12; None if nothing visible is left.

    In Unicode's form NFC, without invisible characters; every run of white space is one space, none at the ends.

    Examples
    --------
    >>> as_name(12.0), as_name(" P\u200b1\u00a0 b "), as_name("\ufeff")
    ('12', 'P1 b', None)
    """
    text = as_text(as_shown(cell) if isinstance(cell, float) and not cell.is_integer() else cell)
    if text is None:
        return None
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip() or None
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).split()) or None


def distinct_keys(cells: Sequence) -> Sequence:
    """Keys under which a mapping tells the cells of a column apart: the cells, with their types where 1 could be True.

    A column repeats a few answers and names thousands of times, so that each is best looked at once.

    Examples
    --------
    >>> distinct_keys(["a", 1.0, None])
    ['a', 1.0, None]
    >>> distinct_keys([1.0, True])
    [(<class 'float'>, 1.0), (<class 'bool'>, True)]
    """
    types = set(map(type, cells)) - {str, type(None)}
    return cells if len(types) < 2 else list(zip(map(type, cells), cells, strict=True))


def as_names(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_name`."""
    keys = distinct_keys(cells)
    names = {key: as_name(key if keys is cells else key[1]) for key in dict.fromkeys(keys)}
    return list(map(names.__getitem__, keys))


def as_texts(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_text`."""
    return list(cells) if set(map(type, cells)) <= {str, type(None)} else list(map(as_text, cells))


def as_number(cell, *, decimal_comma: bool = False) -> float | None:
    """A cell as a number; None if it holds none, or one beyond all bounds.

    Parameters
    ----------
    cell : object
        As a sheet holds it.
    decimal_comma : bool
        Whether a comma in a text may stand for the decimal point. "1,000" is no number then either: it may be a
        thousand or one.

    Examples
    --------
    >>> [as_number(text, decimal_comma=True) for text in ("10,0", "0,125", "1,000", "1,5,2")]
    [10.0, 0.125, None, None]
    """
    if isinstance(cell, bool):
        return None
    if decimal_comma and has_decimal_comma(cell):
        cell = cell.replace(",", ".")
    if isinstance(cell, int | float) or (isinstance(cell, str) and "_" not in cell):  # to Python 1_000 is a number
        with contextlib.suppress(ValueError, OverflowError):
            return value if math.isfinite(value := float(cell)) else None
    return None


def has_decimal_comma(cell) -> bool:
    """Whether a cell is a text with one comma between digits that can't separate thousands.

    Examples
    --------
    >>> [has_decimal_comma(cell) for cell in ("10,0", "1234,567", "1,000", 10.0)]
    [True, True, False, False]
    """
    return isinstance(cell, str) and bool(_DECIMAL_COMMA.fullmatch(cell)) and not _THOUSANDS.fullmatch(cell)


def looks_like_number(cell) -> bool:
    """Whether a text is a number in a form that is not read as one.

    Examples
    --------
    >>> [looks_like_number(cell) for cell in ("21,500", "1.234,56 \u20ac", "US$ 5", "45 %", "18-24", "P1 b", 4.0)]
    [True, True, True, True, False, False, False]
    """
    return isinstance(cell, str) and bool(_LIKE_NUMBER.fullmatch(cell.strip())) and as_number(cell) is None


def is_import_id(cell) -> bool:
    """Whether a cell is one that Qualtrics writes below the names of columns."""
    return isinstance(cell, str) and bool(_IMPORT_ID.match(cell.strip()))


def as_shown(number: float) -> float:
    """A number as spreadsheets show it, by its first 15 digits: 2.9999999999999996 is 3."""
    return float(f"{number:.15g}")


def codes_among(numbers: Iterable[float], size: int = 0, name: str = "") -> list[float]:
    """Numbers that probably stand for a missing answer: known codes, apart from all others, which lie close together.

    Parameters
    ----------
    numbers : iterable of float
        The distinct numbers of a column, or of several on one scale.
    size : int
        Levels of the scale 1..size, none of which is a code; 0 where there is no scale.
    name : str
        Of the column: people don't come in all ages.

    Examples
    --------
    >>> codes_among([1, 2, 3, 4, 5, 9, -99], 5), codes_among([1, 3, 5, 7, 9], 5), codes_among([-2, -1, 0, 1, 2], 5)
    ([-99, 9], [], [])
    >>> codes_among([18, 25, 31, 47, 999]), codes_among([0, 1, 2, 3, 9]), codes_among([0, 40, 80, 99])
    ([999], [9], [])
    """
    distinct = set(numbers)
    candidates = {number for number in distinct & CODES if not 1 <= number <= size}
    rest = sorted(distinct - candidates)
    low, high = min([1, *rest] if size else rest, default=0), max([size, *rest], default=0)
    above, below = sorted(n for n in candidates if n > high), sorted(n for n in candidates if n < low)
    steps = all(after - before == 1 for before, after in pairwise(rest))
    if size and (steps or (low == 1 and high == size)):
        small = 8 if rest and (steps or len(rest) >= size - 1) else 66
        small = 7 if small == 8 and len(rest) >= min(3, size - 1) else small
        while above and above[0] <= high + 1:  # the scale goes on
            high = above.pop(0)
        above = [number for number in above if number >= small]
    elif len(rest) > 1:
        gap = (high - low) / (4 if _AGE.search(name) else 2)
        above = [number for number in above if number > high + gap and (number > 10 or (steps and number >= high + 3))]
        above = [number for number in above if number >= 8]
    else:
        return []
    scale, end = [], low - 1
    while below and below[-1] >= -9 and below[-1] >= end - 1:
        end = below.pop()
        scale.append(end)
    if not size and not all(float(number).is_integer() for number in rest):
        scale, below = [], [number for number in below if number < -9]
    elif rest and scale and -end >= rest[-1] / 2:  # such as from -3 to 3
        scale = []
    codes = (sorted(below + scale) if low >= 0 else []) + above
    return codes if len(codes) < _TOO_MANY else []


def _in_latin(text: str) -> str:
    """A text with the Latin letters that it looks like, accents kept."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).translate(_LOOK_ALIKES))


def is_look_alike(character: str) -> bool:
    r"""Whether a character looks like another one, as a Cyrillic or a full-width letter does.

    Examples
    --------
    >>> is_look_alike("\u0410"), is_look_alike("\uff21"), is_look_alike("A"), is_look_alike("\u00e9")
    (True, True, False, False)
    """
    return _in_latin(character) != character


def _loose_forms(identifier: str) -> set[str]:
    """What is left of an id without case, braces and the forms of a number; and that in Latin letters.

    Two forms, since letters that look alike do not do so in both cases.
    """
    plain = {identifier} if identifier.isascii() else {unicodedata.normalize("NFKC", identifier), _in_latin(identifier)}
    return {_bare(text) for text in plain}


def _bare(text: str) -> str:
    bare = text.strip("{}").casefold()
    if re.fullmatch(r"\d+(\.0*)?", bare):
        return bare.split(".")[0].lstrip("0") or "0"  # not by int(), which refuses very long numbers
    return bare


def rows_of(names: Iterable, rows: Iterable[int]) -> dict[str, list[int]]:
    """The rows in which each name stands: names in the order of their first rows.

    Examples
    --------
    >>> rows_of(["a", "b", "a"], [2, 3, 4])
    {'a': [2, 4], 'b': [3]}
    """
    rows_by_value: dict[str, list[int]] = defaultdict(list)
    for name, row in zip(names, rows, strict=True):
        rows_by_value[name].append(row)
    return dict(rows_by_value)


def group_spellings(known: Iterable[str]) -> list[list[str]]:
    """Names that differ only in case, braces, leading zeros or look-alike characters: groups of two or more.

    Examples
    --------
    >>> group_spellings(["P1", "GPT", "gpt", "p01", "gpt-2", "\u0420\u0410", "PA", "\u0440\u0430"])
    [['GPT', 'gpt'], ['\u0420\u0410', 'PA', '\u0440\u0430']]
    """
    group_of: dict[str, list[str]] = {}
    forms_of: dict[int, list[str]] = {}
    for name in dict.fromkeys(known):
        forms = _loose_forms(name)
        met = {id(group): group for form in forms if (group := group_of.get(form)) is not None}
        joined = [member for group in met.values() for member in group] + [name]
        reached = [form for number in met for form in forms_of.pop(number)] + list(forms)
        forms_of[id(joined)] = reached
        group_of |= dict.fromkeys(reached, joined)
    return [group for group in {id(group): group for group in group_of.values()}.values() if len(group) > 1]


def match_ids(identifiers: list[str | None], known: set[str]) -> list[str | None]:
    """Each id as ``known`` spells it: the same, or the only one alike; None if there is none."""
    distinct = set(identifiers) - {None}
    resolved: dict[str | None, str | None] = {None: None} | {name: name for name in distinct & known}
    if unknown := distinct - known:
        spellings: dict[str, set[str]] = defaultdict(set)
        for name in known:
            for form in _loose_forms(name):
                spellings[form].add(name)
        for name in unknown:
            alike = set().union(*(spellings.get(form, ()) for form in _loose_forms(name)))
            resolved[name] = next(iter(alike)) if len(alike) == 1 else None
    return [resolved[identifier] for identifier in identifiers]
