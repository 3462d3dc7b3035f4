"""A table to take away, as a link on the page that shows it."""

import base64
import html
from dataclasses import dataclass, field

import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.style import csv_text
from sense7.tables import NO_MATH
from sense7.terminal import count_of, plain_lines

__all__ = ["Download"]


@dataclass(frozen=True, eq=False)
class Download:
    """A table that a reader downloads as CSV instead of reading it on the page.

    The file stands in the page itself, so that it is there without a network, and begins with a mark by which
    spreadsheet programs know its encoding. Texts that a spreadsheet would take for formulas are made harmless as in
    :func:`sense7.figures.style.csv_text`.

    Attributes
    ----------
    data : DataFrame
        The table; its index is left out.
    name : str
        Name of the file, without its ending.
    text : str
        What the link says.

    Examples
    --------
    >>> Download(pd.DataFrame({"a": [1, 2]}), "numbers", "Two numbers")
    Two numbers (CSV, 2 rows)
    """

    data: pd.DataFrame = field(repr=False)
    name: str
    text: str

    def _repr_html_(self) -> str:
        # The index would be a first column without a name, which a coder could sort apart from the rest.
        columns = list(self.data.columns)
        table = csv_text(self.data.set_index(columns[0])) if columns else ""
        encoded = base64.b64encode(("\ufeff" + table).encode()).decode()
        return (
            f'<p class="{NO_MATH}"><a download="{html.escape(self.name)}.csv" href="data:text/csv;base64,{encoded}">'
            f"{html.escape(repr(self))}</a></p>"
        )

    def __repr__(self) -> str:
        return plain_lines(f"{self.text} (CSV, {count_of(len(self.data), 'row')})")


check_arguments(globals())
