"""Tables for pages, and what readers switch between: estimates in the words of their units, all texts as text."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.files import digest_of
from sense7.outputs import output, outputs_of, show
from sense7.record import format_number
from sense7.statistics.estimates import p_in_words
from sense7.taxonomy import DIMENSIONS
from sense7.terminal import plain_lines

NO_MATH = "mathjax_ignore tex2jax_ignore"
"""Classes by which a notebook's viewer leaves dollar signs in names alone; pages of the book load no MathJax."""

_BREAKS = re.compile("[\t\r\n]")
_CLAUSE_END = re.compile(r"[.:;](?=\s|$)")


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
    """A table with a caption; every cell is shown as text.

    Attributes
    ----------
    frame : DataFrame
        Texts, with the row's name as index.
    caption : str
        What the table shows.
    fold : bool
        Whether a page shows it folded under the first part of its caption, as what repeats a figure. Paper shows it.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": ["9"]}, index=["all"])
    >>> Table(frame, "Turns by rating; n = 9.", fold=True)._repr_html_().partition("<table")[0]
    '<details class="sense7-fold"><summary>Table: Turns by rating</summary>'
    """

    frame: pd.DataFrame
    caption: str
    fold: bool = False

    def _repr_html_(self) -> str:
        if not self.fold:
            return self._table()
        summary = html.escape(_CLAUSE_END.split(self.caption, maxsplit=1)[0])
        return f'<details class="sense7-fold"><summary>Table: {summary}</summary>{self._table()}</details>'

    def _table(self) -> str:
        corner = str(self.frame.index.name or "")
        columns = [self.frame.index, *(self.frame.iloc[:, n] for n in range(self.frame.shape[1]))]
        styles = [_LEFT if _is_of_texts(column) else "" for column in columns]
        head = ""
        for name, style in zip((corner, *self.frame.columns), styles, strict=True):
            head += f'\n      <th scope="col"{style}>{_escaped(name)}</th>'
        rows = ""
        for name, *cells in self.frame.itertuples(name=None):
            rows += f'\n    <tr>\n      <th scope="row"{styles[0]}>{_escaped(name)}</th>'
            for cell, style in zip(cells, styles[1:], strict=True):
                rows += f"\n      <td{style}>{_escaped(cell)}</td>"
            rows += "\n    </tr>"
        return (
            f'<table class="dataframe table {NO_MATH}"><caption>{html.escape(self.caption)}</caption>\n'
            f"  <thead>\n    <tr>{head}\n    </tr>\n  </thead>\n  <tbody>{rows}\n  </tbody>\n</table>"
        )

    def __repr__(self) -> str:
        return plain_lines(f"{self.caption}\n{self.frame.to_string()}")


_LEFT = ' style="text-align: left"'
"""Jupyter's own style sheets set every cell to the right, where texts read badly."""


def _is_of_texts(column: pd.Series | pd.Index) -> bool:
    """Whether most cells of a column do not begin with a number, as estimates and intervals do."""
    cells = pd.Series(column).dropna().astype(str)
    return cells.str.match(r"\W*[0-9]").mean() < 0.5


def _escaped(cell: object) -> str:
    """Text of a cell for HTML, on one line; "" where there is none."""
    if pd.isna(cell):
        return ""
    return html.escape(_BREAKS.sub(" ", str(cell)), quote=False)


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

    def _repr_html_(self) -> str:
        bodies = {name: value._repr_html_() for name, value in self.shown.items()}
        content = self.label + "".join(f"\0{name}\0{body}" for name, body in bodies.items())
        # Of the content, not counted: an id that another cell can't have, and the same in every build.
        group = f"switch-{digest_of(content.encode())[:12]}"
        parts = []
        checked = " checked"
        for number, (name, body) in enumerate(bodies.items(), 1):
            identifier = f"{group}-{number}"
            parts.append(
                f'<input type="radio" name="{group}" id="{identifier}"{checked}>'
                f'<label for="{identifier}" id="{identifier}-name">{html.escape(name)}</label>'
                f'<div role="group" tabindex="0" aria-labelledby="{identifier}-name">{body}</div>'
            )
            checked = ""
        legend = f"<legend>Show: {html.escape(self.label)}</legend>"
        return f'<fieldset class="sense7-switch">{legend}{"".join(parts)}</fieldset>'

    def notebook_outputs(self) -> list[dict]:
        """What a notebook shows outside the book: each variant below its name."""
        outputs = []
        for name, value in self.shown.items():
            heading = f"{self.label[:1].upper()}{self.label[1:]}: {name}"
            words = f'<p class="{NO_MATH}"><strong>{html.escape(heading)}</strong></p>'
            outputs.append(output({"text/html": words, "text/plain": plain_lines(heading)}))
            outputs += outputs_of(value)
        return outputs

    def _ipython_display_(self) -> None:
        show(self)

    def __repr__(self) -> str:
        lines = [f"Switch, {self.label}:"]
        lines += [f"[{name}]\n{value!r}" for name, value in self.shown.items()]
        return "\n".join(lines)


def estimates(table: pd.DataFrame, caption: str, *, fold: bool = False) -> Table | Sentence:
    """A table of estimates for people: estimate, interval, n, corrected p if any, and a note where one is missing.

    Parameters
    ----------
    table : DataFrame
        As statistics return it.
    caption : str
        What it shows; units and the kind of interval. Where it does not name the interval, the methods of the
        estimates are added: no interval stands without saying what it is.
    fold : bool
        Whether it is folded, see :class:`Table`.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.5, 0.4, 0.6, n=9, unit="share of turns", method="mean; percentile interval")
    >>> estimates(estimate_table({"a": row}, "which"), "Rated turns").caption
    'Rated turns; mean; percentile interval'
    """
    if table.empty:
        return Sentence("There is nothing to show.")
    if np.isfinite(table["low"].astype(float)).any() and "interval" not in caption.casefold():
        caption = "; ".join([caption, *dict.fromkeys(table["method"])])
    rows = []
    for _, row in table.iterrows():
        unit = row["unit"]
        cells = {"estimate": "not available", "interval": "", "n": f"{row['n']:,}"}
        if np.isfinite(row["estimate"]):
            cells["estimate"] = format_number(row["estimate"], unit)
        if np.isfinite(row["low"]):
            low, high = format_number(row["low"], unit), format_number(row["high"], unit)
            cells["interval"] = f"{low} to {high}"
        if "p_holm" in table:
            cells["p, Holm"] = p_in_words(row["p_holm"])
        cells["note"] = row["reason"]
        rows.append(cells)
    frame = pd.DataFrame(rows, index=table.index)
    empty = [name for name in ("interval", "note") if (frame[name] == "").all()]
    return Table(frame.drop(columns=empty), caption, fold)


def side_by_side(tables: Mapping[str, pd.DataFrame], caption: str, *, fold: bool = False) -> Table:
    """Tables of estimates with the same rows as one: a column for each, estimates with intervals, and n in the last.

    Examples
    --------
    >>> row = {"estimate": -0.1, "low": -0.2, "high": 0.05, "n": 50, "unit": "Spearman's rho"}
    >>> side_by_side({"GPT-4o": pd.DataFrame(row, index=["EPITOME"])}, "By corpus").frame.loc["EPITOME"].to_dict()
    {'GPT-4o': '-0.100 [-0.200, 0.050]', 'n': '50'}
    """
    columns = {}
    for name, table in tables.items():
        columns[name] = []
        for row in table.to_dict("records"):
            cell = "-"
            if np.isfinite(row["estimate"]):
                cell = format_number(row["estimate"], row["unit"])
            if np.isfinite(row["estimate"]) and np.isfinite(row["low"]):
                low, high = (format_number(row[end], row["unit"]) for end in ("low", "high"))
                cell += f" [{low}, {high}]"
            columns[name].append(cell)
    columns["n"] = [f"{n:,}" for n in table["n"]]
    return Table(pd.DataFrame(columns, index=table.index), caption, fold)


def for_paper(table: pd.DataFrame) -> pd.DataFrame:
    """A table of estimates as a paper prints it; pandas writes it as LaTeX, Word's HTML or CSV.

    Parameters
    ----------
    table : DataFrame
        As statistics return it.

    Returns
    -------
    DataFrame
        Texts. Rows are named by the titles of dimensions; estimate with its interval, to two decimals, or shares in
        percent to one, under the unit, "" where there is none; n; and p by Holm's method where it was corrected.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.12, -0.01, 0.24, n=87, unit="Spearman's rho", method="rho; 95% interval")
    >>> for_paper(estimate_table({"Interest": row}, "dimension")).loc["Interest"].to_dict()
    {"Spearman's rho": '0.12 [-0.01, 0.24]', 'n': '87'}
    """
    titles = {dimension.name: dimension.title for dimension in DIMENSIONS}
    rows = []
    for row in table.to_dict("records"):
        is_share = row["unit"].startswith("share")
        unit = f"{row['unit']} (%)" if is_share else row["unit"]
        numbers = []
        for column in ("estimate", "low", "high"):
            numbers.append(f"{100 * row[column]:z.1f}" if is_share else f"{row[column]:z.2f}")
        text = numbers[0] if np.isfinite(row["estimate"]) else ""
        if np.isfinite(row["low"]):
            text += f" [{numbers[1]}, {numbers[2]}]"
        cells = {unit: text, "n": f"{row['n']:,}"}
        if "p_holm" in row:
            cells["p (Holm)"] = p_in_words(row["p_holm"])
        rows.append(cells)
    return pd.DataFrame(rows, index=table.index).rename(index=titles).fillna("")


def plain(
    frame: pd.DataFrame,
    caption: str,
    empty: str = "There is nothing to show.",
    *,
    fold: bool = False,
) -> Table | Sentence:
    """Any table: whole numbers with separators, others to two decimals; a sentence if it is empty."""
    if frame.empty:
        return Sentence(empty)
    texts = frame.astype(object).map(_cell, na_action="ignore").fillna("")
    return Table(texts, caption, fold)


def _cell(value) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return str(value)
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:z,.2f}"
