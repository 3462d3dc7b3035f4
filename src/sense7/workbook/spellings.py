"""Names that are spelt in several ways: what was read as one name, and what may be meant as one."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from operator import eq

from sense7.terminal import count_of
from sense7.workbook.diagnostics import ERROR, NOTICE, WARNING, Diagnostics
from sense7.workbook.values import as_names, as_text, group_spellings, is_look_alike, rows_of

__all__ = ["report_normalised", "report_similar"]

_GROUPS_APART = 10
"""Groups of similar names that are diagnostics of their own; more than this many are one diagnostic."""

_SHOWN = 3
_SHOWN_DIGITS, _SHORTENED_TO, _KEPT_DIGITS = 11, 6, 15
"""Digits up to which a spreadsheet shows a number whole, of which it shows six otherwise; and which it keeps at all."""
_SCIENTIFIC = re.compile(r"\d(?:[.,](\d+))?[eE]\+(\d{1,3})")


def report_normalised(
    cells: Sequence, names: list[str | None], location: dict, diagnostics: Diagnostics, elsewhere: Sequence = ()
) -> None:
    """Report names of a column that a spreadsheet has rounded, or that became one by ``as_name``.

    Parameters
    ----------
    cells, names : sequence
        The column as it was read, and as names.
    location : dict
        Where the column stands, as arguments of ``Diagnostics.add``.
    diagnostics : Diagnostics
        Where to report.
    elsewhere : sequence
        Cells of the column in which the same names are defined, such as those of Tasks.

    Notes
    -----
    The rows are those whose spelling is not the first one.
    """
    _report_rounded(cells, names, location, diagnostics)
    defined = as_names(elsewhere)
    if all(map(eq, elsewhere, defined)) and all(map(eq, cells, names)):
        return
    defining = list(zip(elsewhere, defined, strict=True))
    own = list(zip(cells, names, strict=True))
    normalised = {name for cell, name in (*defining, *own) if isinstance(cell, str) and cell != name} - {None}
    if not normalised:
        return
    first: dict[str, str] = {}
    for cell, name in (*defining, *own):
        if name in normalised:
            first.setdefault(name, as_text(cell))
    other = {row: name for row, (cell, name) in enumerate(own, 2) if name in first and as_text(cell) != first[name]}
    if other:
        distinct = list(dict.fromkeys(other.values()))
        shown = ", ".join(distinct[:_SHOWN])
        diagnostics.add(
            NOTICE,
            "normalised-name",
            "spelt in several ways that differ only in white space, invisible characters or Unicode form; "
            "they were read as one name.",
            "nothing, if that is as meant; the authors' scripts would tell them apart.",
            **location,
            rows=list(other),
            value=shown if len(distinct) <= _SHOWN else f"{shown} and {len(distinct) - _SHOWN:,} more",
        )


def _report_rounded(cells: Sequence, names: list[str | None], location: dict, diagnostics: Diagnostics) -> None:
    """Report ids of which a spreadsheet has kept the first digits only: 1.40521E+15, or zeros after the 15th digit."""
    shortened, long, rounded = set(), set(), set()
    for name in set(names) - {None}:
        if match := _SCIENTIFIC.fullmatch(name):
            shortened |= {name} if len(match[1] or "") < int(match[2]) >= _SHOWN_DIGITS else set()
        elif len(name) > _SHOWN_DIGITS and name.isascii() and name.isdigit():
            long.add(name)
            kept = len(name.rstrip("0"))
            rounded |= {name} if kept <= _SHORTENED_TO or kept <= _KEPT_DIGITS < len(name) else set()
    inexact = {name for cell, name in zip(cells, names, strict=True) if isinstance(cell, float) and abs(cell) > 2**53}
    rounded = (rounded if rounded == long else set()) | inexact
    for severity, wrong in ((ERROR, shortened), (WARNING, rounded)):
        if wrong:
            diagnostics.add(
                severity,
                "rounded-id",
                "digits of these ids are lost: a spreadsheet has rounded them, or written them in scientific notation, "
                "so that different ones may have become one.",
                "take the ids from the original file, and format their column as text before they are pasted.",
                **location,
                rows=[row for row, name in enumerate(names, 2) if name in wrong],
                value=next(name for name in names if name in wrong),
            )


def report_similar(
    names: list[str | None], rows: list[int], noun: str, location: dict, diagnostics: Diagnostics
) -> None:
    """Report names of a column that differ only in case, braces, leading zeros or look-alike characters.

    They stay apart: one may mean several, and one diagnostic for each group of them says which.

    Parameters
    ----------
    names : list
        Name of each row; None where there is none.
    rows : list of int
        The rows of the sheet.
    noun : str
        What the names are of, such as ``participant``.
    location : dict
        Where the column stands, as arguments of ``Diagnostics.add``.
    diagnostics : Diagnostics
        Where to report.
    """
    counts = Counter(name for name in names if name is not None)
    groups = [sorted(group, key=lambda name: (-counts[name], name)) for group in group_spellings(counts)]
    if not groups:
        return
    rows_by_name = rows_of(names, rows)
    together = [groups] if len(groups) > _GROUPS_APART else [[group] for group in groups]
    for some in together:
        shown = "; ".join(_described(group, counts) for group in some[:_SHOWN])
        more = f"; and {count_of(len(some) - _SHOWN, 'further group')} of names" if len(some) > _SHOWN else ""
        diagnostics.add(
            WARNING,
            f"similar-{noun}s",
            f"names of {noun}s that differ only in case, braces, leading zeros or look-alike characters: "
            f"{shown}{more}. Each is counted as a {noun} of its own.",
            f"spell them alike if they are one {noun}.",
            **location,
            rows=sorted(row for group in some for name in group for row in rows_by_name[name]),
        )


def _described(group: list[str], counts: Counter) -> str:
    """Each spelling with its number of rows, and its characters that look like others."""
    said = []
    for name in group:
        strange = [
            f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
            for character in dict.fromkeys(name)
            if is_look_alike(character) and not all(character in other for other in group)
        ]
        holds = f", with {', '.join(strange[:_SHOWN])}" if strange else ""
        said.append(f"{name!r} ({count_of(counts[name], 'row')}{holds})")
    return ", ".join(said)
