"""Cells as texts, names and numbers, whatever type they have in the file; and ids that are spelt differently."""

import contextlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable

__all__ = ["as_name", "as_number", "as_text", "count_filled", "group_spellings", "is_blank", "match_ids"]


def is_blank(cell) -> bool:
    """Whether a cell holds nothing, or nothing but space."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def count_filled(cells: list) -> int:
    """How many of many cells are not blank.

    Examples
    --------
    >>> count_filled([None, "", " ", "a", 0.0, False])
    3
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    return len(cells) - cells.count(None) - texts.count("") - sum(map(str.isspace, texts))


def as_text(cell) -> str | None:
    """A cell as text, unchanged if it is text; only a blank cell is None."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def as_name(cell) -> str | None:
    """A cell as a name or an id, without space at its ends: 12.0 and "12 " are 12; None if blank."""
    text = as_text(cell)
    return (text.strip() or None) if text is not None else None


def as_number(cell) -> float | None:
    """A cell as a number; None if it holds none, or one beyond all bounds."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float) or (isinstance(cell, str) and "_" not in cell):  # to Python 1_000 is a number
        with contextlib.suppress(ValueError, OverflowError):
            return value if math.isfinite(value := float(cell)) else None
    return None


def _loose_identifier(identifier: str) -> str:
    """What is left of an id without case, braces, and the forms of a number."""
    bare = identifier.strip("{}").casefold()
    if re.fullmatch(r"\d+(\.0*)?", bare):
        return bare.split(".")[0].lstrip("0") or "0"  # not by int(), which refuses very long numbers
    return bare


def group_spellings(known: Iterable[str]) -> dict[str, set[str]]:
    """Loose form of an id -> the spellings that have it."""
    by_loose: dict[str, set[str]] = defaultdict(set)
    for identifier in known:
        by_loose[_loose_identifier(identifier)].add(identifier)
    return by_loose


def match_ids(identifiers: list[str | None], known: set[str]) -> list[str | None]:
    """Each id as ``known`` spells it: the same, or the only one alike; None if there is none."""
    by_loose = group_spellings(known)
    resolved: dict[str | None, str | None] = {None: None}
    for identifier in set(identifiers) - {None}:
        alike = {identifier} if identifier in known else by_loose.get(_loose_identifier(identifier), set())
        resolved[identifier] = next(iter(alike)) if len(alike) == 1 else None
    return [resolved[identifier] for identifier in identifiers]
