"""Tables for pages, and what readers switch between: estimates in the words of their units, all texts as text."""

import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.record import format_number
from sense7.statistics.estimates import require_estimates
from sense7.terminal import plain_lines

__all__ = ["NO_MATH", "Sentence", "Table", "Variants", "estimates", "plain"]

NO_MATH = "mathjax_ignore tex2jax_ignore"
"""Classes by which a notebook's viewer leaves dollar signs in names alone; pages of the book load no MathJax."""

_BREAKS = re.compile("[\t\r\n]")


@dataclass(frozen=True)
class Sentence:
    """What stands in the place of a figure or table that can't be made, saying why."""

    text: str

    def _repr_html_(self) -> str:
        return f'<p class="{NO_MATH}"><em>{html.escape(self.text)}</em></p>'

    def __repr__(self) -> str:
        return plain_lines(self.text)


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
            body = _one_line_each(self.frame).to_html(
                escape=True, border=0, na_rep="", classes=f"table {NO_MATH}", index_names=False
            )
        corner = html.escape(str(self.frame.index.name or ""))
        body = body.replace("<th></th>", f"<th>{corner}</th>", 1).replace("<th>", '<th scope="col">')
        body = body.replace('<tr style="text-align: right;">', "<tr>")
        head, _, rest = body.partition("<tbody>")
        rest = rest.replace('<th scope="col">', '<th scope="row">')
        opening = head.index(">") + 1
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        return f"{head[:opening]}{caption}{head[opening:]}<tbody>{rest}"

    def __repr__(self) -> str:
        return plain_lines(f"{self.caption}\n{self.frame.to_string()}")


def _one_line_each(frame: pd.DataFrame) -> pd.DataFrame:
    """Texts with blanks for line breaks and tabs, as a page would show them; pandas would write them as escapes."""

    def text(cell):
        return _BREAKS.sub(" ", cell) if isinstance(cell, str) else cell

    return frame.rename(index=text, columns=text).map(text)


# What makes the switch work stands beside it, so that it works in a notebook outside the book as well. Inputs are
# hidden from sight only: a keyboard and a screen reader need them. On paper all variants stand below each other.
_SWITCH_STYLE = (
    ".sense7-switch{position:relative;display:flex;flex-wrap:wrap;gap:0 .25em}"
    ".sense7-switch{min-width:0;border:0;margin:1em 0;padding:0}"
    ".sense7-switch>input{position:absolute;opacity:0;pointer-events:none}"
    ".sense7-switch>label{cursor:pointer;padding:.2em .6em;border:1px solid;border-radius:.3em;margin:0 0 .3em}"
    ".sense7-switch>input:focus-visible+label{outline:3px solid;outline-offset:2px}"
    ".sense7-switch>div{order:1;width:100%;min-width:0;overflow-x:auto}"
    "@media screen{.sense7-switch>input:checked+label{font-weight:700;box-shadow:inset 0 -.2em}"
    ".sense7-switch>input:not(:checked)+label+div{display:none}}"
    "@media print{.sense7-switch{display:block}.sense7-switch>input{display:none}"
    ".sense7-switch>label{display:block;border:0;padding:0;font-weight:700}}"
)


class Variants:
    """Results of one analysis done in several ways, all of them computed; a reader switches between them.

    On a page they are a group of radio buttons, which works without a script, a kernel or a network:
    with a keyboard by the arrow keys, for a screen reader by its legend and labels. Printed, all
    variants stand below each other, each under its name. Equal variants give equal HTML.

    Parameters
    ----------
    shown : mapping of str to Figure, Table or Sentence
        Name of the variant -> what is shown of it; the first is shown at first.
    label : str
        What the variants differ in, such as "rule for missing ratings".

    Raises
    ------
    ValueError
        If there is no variant, or one is no figure, table or sentence.

    Examples
    --------
    >>> Variants({"pairwise": Sentence("As rated."), "listwise": Sentence("Nothing.")}, label="missing rule")
    Switch, missing rule:
    [pairwise]
    As rated.
    [listwise]
    Nothing.
    """

    def __init__(self, shown: Mapping[str, object], *, label: str):
        self.shown = {str(name): value for name, value in shown.items()}
        self.label = label
        if not self.shown:
            raise ValueError(f"variants of {label!r}: there is none")
        for name, value in self.shown.items():
            if not callable(getattr(value, "_repr_html_", None)):
                raise ValueError(f"variants of {label!r}: {name!r} is no figure, table or sentence")

    def _repr_html_(self) -> str:
        bodies = {name: value._repr_html_() for name, value in self.shown.items()}
        content = "\0".join([self.label, *(text for pair in bodies.items() for text in pair)])
        # Of the content, not counted: an id that another cell can't have, and the same in every build.
        group = f"switch-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
        parts = []
        for number, (name, body) in enumerate(bodies.items(), 1):
            place = f"{group}-{number}"
            checked = " checked" if number == 1 else ""
            parts.append(
                f'<input type="radio" name="{group}" id="{place}"{checked}>'
                f'<label for="{place}" id="{place}-name">{html.escape(name)}</label>'
                f'<div role="group" tabindex="0" aria-labelledby="{place}-name">{body}</div>'
            )
        legend = f"<legend>Switch: {html.escape(self.label)}</legend>"
        return f'<style>{_SWITCH_STYLE}</style><fieldset class="sense7-switch">{legend}{"".join(parts)}</fieldset>'

    def __repr__(self) -> str:
        return "\n".join([f"Switch, {self.label}:", *(f"[{name}]\n{value!r}" for name, value in self.shown.items())])


def estimates(table: pd.DataFrame, caption: str) -> Table | Sentence:
    """A table of estimates for people: estimate, interval, n, and a note where one is missing.

    Parameters
    ----------
    table : DataFrame
        As statistics return it.
    caption : str
        What it shows; units and the kind of interval. Where it does not name the interval, the methods of the
        estimates are added: no interval stands without saying what it is.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.5, 0.4, 0.6, n=9, unit="share of turns", method="mean; percentile interval")
    >>> estimates(estimate_table({"a": row}, "which"), "Rated turns").caption
    'Rated turns; mean; percentile interval'
    """
    require_estimates("estimates", "table", table, optional=["method"])  # may stand in the index
    if table.empty:
        return Sentence("There is nothing to show.")
    if np.isfinite(table["low"].astype(float)).any() and "interval" not in caption.casefold():
        caption = "; ".join([caption, *dict.fromkeys(table["method"])])
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
        return f"{int(value):,}" if float(value).is_integer() else f"{value:z,.2f}"
    return str(value)


check_arguments(globals())
