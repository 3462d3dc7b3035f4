"""Names that are spelt in several ways: what was read as one name, and what may be meant as one."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from operator import eq

from sense7.terminal import count_of
from sense7.workbook.diagnostics import NOTICE, WARNING, Diagnostics
from sense7.workbook.values import as_names, as_text, group_spellings, is_look_alike, rows_of

__all__ = ["report_normalised", "report_similar"]

_GROUPS_APART = 10
"""Groups of similar names that are diagnostics of their own; more than this many are one diagnostic."""

_SHOWN = 3


def report_normalised(
    cells: Sequence, names: list[str | None], location: dict, diagnostics: Diagnostics, elsewhere: Sequence = ()
) -> None:
    """Report names of a column that became one by :func:`~sense7.workbook.values.as_name`.

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
