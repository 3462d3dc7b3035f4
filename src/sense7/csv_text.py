"""Tables as CSV, in which no text is a formula to a spreadsheet program; the reader takes each text as it was.

A text that such a program would take for a formula gets one apostrophe before it, and so does one that begins with
apostrophes and then like a formula, so that every text can be told from what stands for it.
"""

import csv
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = "[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
"""How a formula begins, also in full width; a tab or line break before it is passed over."""

_GUARDED_WHEN_WRITTEN = re.compile(f"'*{_FORMULA}")
_GUARDED = re.compile(f"'+{_FORMULA}")


def guarded(cell: object) -> object:
    """Give a cell as it is written: a text that a program could take for a formula behind one apostrophe.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1+1"), guarded("'tis"), guarded(-1)
    ("'=1+1", "''=1+1", "'tis", -1)
    """
    if isinstance(cell, str) and _GUARDED_WHEN_WRITTEN.match(cell):
        return f"'{cell}"
    return cell


def is_guarded(cell: str) -> bool:
    """Whether the first apostrophe of a cell stands for no sign of its text, see :func:`guarded`.

    Examples
    --------
    >>> is_guarded("'=1+1"), is_guarded("'tis"), is_guarded("=1+1")
    (True, False, False)
    """
    return cell.startswith("'") and _GUARDED.match(cell) is not None


def frame_as_csv(table: "pd.DataFrame") -> str:
    """Write a frame as CSV, its index first: numbers plain, texts in quotes, so that no separator begins a cell.

    Examples
    --------
    >>> import pandas as pd
    >>> print(frame_as_csv(pd.DataFrame({"n": [-1, 2]}, index=["=1+1", "'tis"])), end="")
    "","n"
    "'=1+1",-1
    "'tis",2
    """
    safe = table.rename(index=guarded, columns=guarded).map(guarded)
    safe.index.names = [guarded(name) for name in table.index.names]
    return safe.to_csv(quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
