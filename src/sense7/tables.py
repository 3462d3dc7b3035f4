"""Tables for pages: estimates in the words of their units, all texts as text."""

import html
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.record import format_number

__all__ = ["Sentence", "Table", "estimates", "plain"]


@dataclass(frozen=True)
class Sentence:
    """What stands in the place of a figure or table that can't be made, saying why."""

    text: str

    def _repr_html_(self) -> str:
        return f"<p><em>{html.escape(self.text)}</em></p>"

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Table:
    """A table with a caption; every cell is shown as text, whatever it holds.

    Attributes
    ----------
    frame : DataFrame
        Texts, with the row's name as index.
    caption : str
        What the table shows.
    """

    frame: pd.DataFrame
    caption: str

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            body = self.frame.to_html(escape=True, border=0, na_rep="", classes="table", index_names=False)
        corner = html.escape(str(self.frame.index.name or ""))
        body = body.replace("<th></th>", f"<th>{corner}</th>", 1).replace("<th>", '<th scope="col">')
        body = body.replace(' style="text-align: right;"', "")
        head, _, rest = body.partition("<tbody>")
        rest = rest.replace('<th scope="col">', '<th scope="row">')
        opening = head.index(">") + 1
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        return f"{head[:opening]}{caption}{head[opening:]}<tbody>{rest}"

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.frame.to_string()}"


def estimates(table: pd.DataFrame, caption: str) -> Table | Sentence:
    """A table of estimates for people: estimate, interval, n, and a note where one is missing.

    Parameters
    ----------
    table : DataFrame
        As statistics return it.
    caption : str
        What it shows; units and the kind of interval.
    """
    if table.empty:
        return Sentence("There is nothing to show.")
    rows = []
    for _, row in table.iterrows():
        known, interval = np.isfinite(row["estimate"]), np.isfinite(row["low"])
        rows.append(
            {
                "estimate": format_number(row["estimate"], row["unit"]) if known else "not available",
                "interval": f"{format_number(row['low'], row['unit'])} to {format_number(row['high'], row['unit'])}"
                if interval
                else "",
                "n": f"{row['n']:,}",
                "note": row["reason"],
            }
        )
    frame = pd.DataFrame(rows, index=table.index)
    empty = [name for name in ("interval", "note") if not (frame[name] != "").any()]
    return Table(frame.drop(columns=empty), caption)


def plain(frame: pd.DataFrame, caption: str, empty: str = "There is nothing to show.") -> Table | Sentence:
    """Any table: whole numbers with separators, others to two decimals; a sentence if it is empty."""
    if frame.empty:
        return Sentence(empty)
    shown = frame.astype(object).map(_cell)
    return Table(shown, caption)


def _cell(value) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float | np.number):
        return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"
    return str(value)
