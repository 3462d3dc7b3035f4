"""Cells of any type as texts, names and numbers; ids that are spelt in several ways, or rounded by a spreadsheet."""

import datetime
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, pairwise

from sense7.characters import look_of, with_code_points, with_plain_signs
from sense7.taxonomy import ARABIC_DECIMAL_POINT, has_small_digits
from sense7.terminal import count_of

_LIKE_NUMBER = re.compile(
    r"=.+|(?!\d{1,4}\.\d{1,2}\.\d{2,4}$)[~<>\u2248]?\s*+(?:(?:[A-Z]{0,2}[^\w\s.,:;/+(-]|[A-Z]{3}|Rs\.?)\s*+)?"
    r"[(+\u2212-]?\d[\d.,'\u2019\s]*+\)?\s*+(?:%|[^\w\s.,:;/+-]|[^\W\d_]{1,7}\.?)?",
    re.DOTALL,
)
"""A number as people write one: digits grouped, a decimal comma, a currency, a unit, a percent sign; or a formula."""

_DECIMAL_COMMA = re.compile(r"\s*+[+-]?(?![1-9]\d{0,2},\d{3}\s*$)\d*+,\d++\s*", re.ASCII)
"""One comma before digits that can't separate thousands."""

_SCIENTIFIC = re.compile(r"-?\d(?:[.,](\d+))?[eE]([+-])(\d{1,3})")

_MONTH = (
    r"(?:jan|jän|ene|gen|feb|fev|fév|mar|mrz|mär|mrt|apr|abr|avr|mai|may|mei|mag|jun|jui|giu|jul|lug|aug|ago|aoû|"
    r"sep|set|oct|okt|ott|out|nov|dec|dez|dic|déc)[^\W\d_]{0,2}\.?"
)
_YEAR, _DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|[12]\d|3[01])"
_RETYPED = re.compile(
    rf"{_DAY}[-. /]{{1,2}}{_MONTH}(?:[-. /]{{1,2}}(?:{_YEAR}|\d\d))?|{_MONTH}-(?:{_YEAR}|\d\d)|"
    rf"(?:{_YEAR}([-./]){_DAY}\1{_DAY}|{_DAY}([-./]){_DAY}\2{_YEAR})(?:[ T]00:00(?::00)?)?|"
    r"(?:\d{4}年)?\d{1,2}月\d{1,2}日|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: [AP]M)?",
    re.IGNORECASE,
)
"""A date or a time as spreadsheets write it: 3-Jan, Jan-03, 3. Mrz, 3/1/2026, 2026-01-03, 1:02."""

_TRUTH_VALUES = frozenset(
    "TRUE FALSE WAHR FALSCH VRAI FAUX VERDADERO VERDADEIRO FALSO VERO WAAR ONWAAR True False".split()  # noqa: SIM905
)
_ERROR = re.compile(r"#[^\W\d_]\S{1,12}[?!]|Err:\d{3}")
"""An error of a formula, as spreadsheets in any language write it: #NAME?, #REF!."""

_POSITIVE = (
    7,
    8,
    9,
    66,
    77,
    88,
    *range(95, 100),
    666,
    777,
    888,
    *range(995, 1000),
    7777,
    8888,
    9999,
    99999,
    999999,
)
CODES = frozenset({*_POSITIVE, *(-number for number in _POSITIVE), *range(-9, 0)})
"""Numbers that survey programs write for a missing answer."""

MOST_GROUPS = 10
"""Groups of similar names of a column that are told one by one."""


def cell_name(column: int, row: int) -> str:
    """Name of a cell, column counted from 0, row from 1: AB10 is the cell of column 27, row 10."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row}"


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
    """A cell as a name or id in plain signs: 12.0 and "12 " are 12; see :func:`sense7.characters.with_plain_signs`."""
    if isinstance(cell, float) and not cell.is_integer():
        cell = as_shown(cell)
    text = as_text(cell)
    if text is None:
        return None
    return with_plain_signs(text) or None


def as_names(cells: Sequence) -> list[str | None]:
    """Each cell of a column by :func:`as_name`."""
    keys = distinct_keys(cells)
    names = {}
    for key, cell in zip(keys, cells, strict=True):
        if key not in names:
            names[key] = as_name(cell)
    return list(map(names.__getitem__, keys))


def distinct_keys(cells: Sequence) -> Sequence:
    """Keys under which a mapping distinguishes the cells of a column: with their types where 1 could be True."""
    types = set(map(type, cells)) - {str, type(None)}
    if len(types) < 2:
        return cells
    return list(zip(map(type, cells), cells, strict=True))


def as_number(cell, *, decimal_comma: bool = False) -> float | None:
    """A cell as a number, None if it holds none; "1,000" is none, since it may be a thousand or one."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, str) and not cell.isascii():
        if has_small_digits(cell):
            return None
        cell = with_plain_signs(cell).replace(ARABIC_DECIMAL_POINT, ".")
    if decimal_comma and isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    # To Python 1_000 is a number.
    is_underscored = isinstance(cell, str) and "_" in cell
    if not isinstance(cell, int | float | str) or is_underscored:
        return None
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    if math.isfinite(number):
        return number
    return None


def as_shown(number: float) -> float:
    """A number as spreadsheets show it, by its first 15 digits: 2.9999999999999996 is 3."""
    return float(f"{number:.15g}")


def looks_like_number(cell) -> bool:
    """Whether a text is a number in a form that is not read as one."""
    return (
        isinstance(cell, str)
        and bool(_LIKE_NUMBER.fullmatch(with_plain_signs(cell)))
        and as_number(cell) is None
    )


def codes_among(numbers: Iterable[float], size: int = 0) -> list[float]:
    """Numbers that probably stand for a missing answer: known codes, apart from all others, which lie close together.

    ``numbers`` are those of a column on a scale from 1 to ``size`` (0: no scale).
    """
    candidates = {number for number in numbers if number in CODES and not 1 <= number <= size}
    answers = sorted(set(numbers) - candidates)
    if size:
        lowest, highest = min([1, *answers]), max([size, *answers])
        while highest + 1 in candidates:  # the scale goes on
            highest += 1
        distance = 1
        are_integers = True
    elif len(answers) < 2:
        return []
    else:
        lowest, highest = answers[0], max(0, answers[-1])
        distance = (highest - lowest) / 4
        if all(larger - smaller == 1 for smaller, larger in pairwise(answers)):
            distance = max(distance, 2.5)
        else:
            distance = max(distance, 10 - highest)
        are_integers = all(float(number).is_integer() for number in answers)
    high_codes = [number for number in candidates if number > highest + distance]
    low_codes = []
    if lowest >= 0:
        low_codes = [number for number in candidates if number < 0]
        if not are_integers:
            low_codes = [number for number in low_codes if number < -9]
    if low_codes:
        # All integers from the lowest up, as from -3 to 3, are a scale.
        lacks_none = set(range(int(min(low_codes)), 0)) <= set(low_codes)
        if lacks_none and -min(low_codes) >= highest / 2:
            low_codes = []
    codes = sorted([*low_codes, *high_codes])
    if len(codes) > 5:  # no survey program writes more into one column
        return []
    return codes


def _loose_form(identifier: str) -> str:
    """What is left of an id without case, braces, space between letters and signs, and the forms of a number."""
    form = identifier.casefold().strip("{}")
    form = re.sub(r"(?<!\d)\s|\s(?!\d)", "", form)
    if re.fullmatch(r"\d+(\.0*)?", form):
        # Not by int(), which refuses very long numbers.
        return form.split(".")[0].lstrip("0") or "0"
    return form


def group_spellings(
    names: Iterable[str], form_of: Callable[[str], str] = _loose_form
) -> dict[str, list[str]]:
    """Names by what is left of them without case, braces, space and leading zeros, or by another form."""
    groups = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[form_of(name)].append(name)
    return groups


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """Names that look alike, in groups: one at least has letters of another alphabet."""
    names = list(names)
    if all(map(str.isascii, names)):
        return []
    groups = group_spellings(names, look_of).values()
    # On a keyboard's own signs, such as l, I and 1, a person has looked.
    return [group for group in groups if len(group) > 1 and not all(map(str.isascii, group))]


def respelt(names: Iterable[str | None], spellings: set[str]) -> dict[str, str]:
    """Names that are none of the spellings -> the only one of these that is alike, or else looks alike."""
    unknown = set(names) - spellings - {None}
    if not unknown:
        return {}
    groups = group_spellings(spellings)
    alike = {name: groups.get(_loose_form(name), []) for name in unknown}
    for group in look_alikes([*spellings, *unknown]):
        for name in unknown.intersection(group):
            alike[name] = alike[name] or [member for member in group if member in spellings]
    return {name: group[0] for name, group in alike.items() if len(group) == 1}


def is_error(name: str) -> bool:
    """Whether a name is what a spreadsheet writes where a formula failed."""
    return _ERROR.fullmatch(name) is not None


def report_rounded(table, official: str, cells: Sequence, names: list[str | None]) -> None:
    """Report ids of a column that a spreadsheet has shortened or rounded."""
    distinct_names = set(names) - {None}
    shortened = set(filter(_is_shortened, distinct_names))
    long_numbers = set()
    for name in distinct_names - shortened:
        if len(name) > 11 and name.isascii() and name.isdigit():
            long_numbers.add(name)
    rounded = set()
    for cell, name in zip(cells, names, strict=True):
        if isinstance(cell, float) and abs(cell) > 2**53:
            rounded.add(name)
    # A spreadsheet shows six digits of a number and stores 15; zeros stand for all others.
    if all(len(name.rstrip("0")) <= (15 if len(name) > 15 else 6) for name in long_numbers):
        rounded |= long_numbers
    for entry, wrong_names in (("rounded-id/shortened", shortened), ("rounded-id", rounded)):
        rows = [row for row, name in enumerate(names, 2) if name in wrong_names]
        if rows:
            table.add(entry, official, rows, names[rows[0] - 2])
    report_retyped(table, official, cells, names, without=shortened)


def _is_shortened(name: str) -> bool:
    """Whether a name is what a spreadsheet shows for a number that is too long for it, or for the width of a column."""
    if name.startswith("##"):
        return not name.strip("#")
    match = _SCIENTIFIC.fullmatch(name)
    if match is None:
        return False
    exponent = int(match[3])
    return match[2] == "+" and exponent >= 11 and len(match[1] or "") < exponent


def is_retyped(text: str) -> bool:
    """Whether a text is what a spreadsheet writes for a date, a time, a number of its own form, or an error."""
    return any(form.fullmatch(text) for form in (_RETYPED, _SCIENTIFIC, _ERROR))


def report_retyped(
    table,
    column: str | int,
    cells: Sequence,
    names: list[str | None],
    without: Collection[str] = (),
) -> None:
    """Report names of which a spreadsheet has made a date, a time, a truth value, an error or another number.

    Conditions and topics may be truth values and numbers with decimals.
    """
    is_id = column in {"PID", "TaskId"}
    texts = {
        name
        for cell, name in zip(cells, names, strict=True)
        if isinstance(cell, str) and name is not None
    }
    retyped_texts = {name for name in texts if is_retyped(name)}
    if is_id:
        retyped_texts |= texts & _TRUTH_VALUES
    words = {name for name in texts if as_number(name) is None}
    keeps_zeros = any(re.fullmatch(r"\d+\.\d*0", name) for name in texts)
    # Of ids such as 12a4 one may have been 12e4; the number is then 120000.
    are_digits_with_letters = bool(words) and all(
        re.fullmatch(r"\d+[a-zA-Z]\d+|[0-9a-f]+|[0-9A-F]+", name) for name in words
    )
    retyped = defaultdict(list)
    for row, (cell, name) in enumerate(zip(cells, names, strict=True), 2):
        if name is None or name in without:
            continue
        if isinstance(cell, str):
            is_other = name in retyped_texts
        elif isinstance(cell, bool):
            is_other = is_id
        elif isinstance(cell, int | float):
            is_cut = cell % 1 != 0 and not keeps_zeros  # 1.10 has become 1.1, and 1/2 may be 0.5
            is_power_of_ten = are_digits_with_letters and cell >= 10 and cell % 10 == 0
            is_other = is_id and (is_cut or is_power_of_ten)
        else:  # a moment of a day is no id that somebody typed, but may well be one that a program gave
            is_other = not isinstance(cell, datetime.datetime) or cell.time() == datetime.time()
        if is_other:
            retyped[name].append(row)
    for name, rows in retyped.items():
        table.add("rounded-id/retyped", column, rows, name)


def report_replaced_signs(
    table, column: str | int, cells: Sequence, names: list[str | None], *, joined_only: bool = False
) -> None:
    """Report names that are not read as they are written, both forms of three of them; blanks at the ends are no sign.

    ``joined_only``: only those that came to equal a name that is written otherwise.
    """
    written = defaultdict(set)
    rows_of = defaultdict(list)
    for row, (cell, name) in enumerate(zip(cells, names, strict=True), 2):
        if name is not None:
            form = name
            if isinstance(cell, str):
                form = cell.strip(" \t\r\n")
            written[name].add(form)
            if form != name:
                rows_of[form].append(row)
    name_of = {}
    for name, forms in written.items():
        if joined_only and len(forms) == 1:
            continue
        for form in forms:
            if form in rows_of:
                name_of[form] = name
    pairs = [f"{with_code_points(form)} as {name!r}" for form, name in list(name_of.items())[:3]]
    if len(name_of) > 3:
        pairs.append(f"and {len(name_of) - 3:,} others")
    rows = sorted(chain.from_iterable(rows_of[form] for form in name_of))
    table.add("replaced-signs", column, rows, forms=", ".join(pairs))


def report_similar(
    table, column: str | int, names: list[str | None], rows: list[int], noun: str
) -> None:
    """Report names of a column that are spelt or look alike: each stays one of its own."""
    counts = Counter(name for name in names if name is not None)
    spellings = [group for group in group_spellings(counts).values() if len(group) > 1]
    looks = [group for group in look_alikes(counts) if group not in spellings]
    for entry, groups in (("similar", spellings), ("similar/look", looks)):
        rows_of = {}  # by the forms of a group in words
        for group in groups:
            forms = [
                f"{with_code_points(name)} ({count_of(counts[name], 'row')})" for name in group
            ]
            rows_of[", ".join(forms)] = [
                row for name, row in zip(names, rows, strict=True) if name in group
            ]
        if len(rows_of) > MOST_GROUPS:
            first_groups = "; ".join(list(rows_of)[:3])
            forms = f"{first_groups}; and {len(rows_of) - 3:,} other groups"
            rows_of = {forms: sorted(chain.from_iterable(rows_of.values()))}
        for forms, group_rows in rows_of.items():
            table.add(entry, column, group_rows, noun=noun, forms=forms)
