"""Figures: one style, one function a figure, alt text computed from what is drawn.

A figure is shown as SVG whose ink takes the colour of the page's text, so that it reads
on light and dark pages alike; a PNG on white stands by for viewers without SVG. The data
behind it can be downloaded beside it.
"""

import base64
import html
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS

__all__ = ["Figure", "counts_by_group", "histogram", "intervals", "level_distribution"]

_INK = "#010203"  # replaced by the colour of the page's text
_GRID = "#8c8c8c"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours: told apart by colour-blind readers, visible on white and black."""

LEVEL_COLOURS = ("#CA0020", "#F4A582", "#B0B0B0", "#92C5DE", "#0571B0")
NOT_RATED_COLOUR = "#7A6A53"

STYLE = {
    "figure.dpi": 100,
    "savefig.bbox": "tight",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "svg.fonttype": "path",
    "svg.hashsalt": "sense7",
    "text.parse_math": False,  # names from a workbook are text, whatever signs they hold
}


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawn figure with all that belongs to it.

    Attributes
    ----------
    drawing : matplotlib.figure.Figure
        The drawing.
    name : str
        Name for the file of its data.
    alt : str
        What is seen, for those who do not see it.
    caption : str
        n, and what the intervals are.
    data : DataFrame
        What is drawn.
    """

    drawing: MatplotlibFigure
    name: str
    alt: str
    caption: str
    data: pd.DataFrame = field(repr=False)

    def svg(self) -> str:
        """The drawing as an SVG element that takes the page's colour."""
        stream = io.StringIO()
        with mpl.rc_context(STYLE):
            self.drawing.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        source = stream.getvalue()
        source = re.sub(r"<!--.*?-->", "", source, flags=re.DOTALL)
        source = re.sub(r"<metadata>.*?</metadata>", "", source, flags=re.DOTALL)
        # A document type or XML head has no place inside a page.
        source = source[source.index("<svg") :].replace(_INK, "currentColor")
        label = html.escape(self.alt, quote=True)
        return source.replace("<svg", f'<svg role="img" aria-label="{label}"', 1).strip()

    def html(self) -> str:
        """Figure, caption and link to the data as one HTML element."""
        table = base64.b64encode(self.data.to_csv().encode()).decode()
        return (
            '<figure class="sense7-figure" style="margin: 1em 0; max-width: 100%; overflow-x: auto">'
            f"{self.svg()}<figcaption>{html.escape(self.caption)} "
            f'<a download="{html.escape(self.name)}.csv" href="data:text/csv;base64,{table}">'
            "Data (CSV)</a></figcaption></figure>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        stream = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.drawing.savefig(stream, format="png", facecolor="white", metadata={"Software": None})
        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(stream.getvalue()).decode(),
            "text/plain": f"Figure: {self.alt}",
        }


def _axes(width: float, height: float):
    """One pair of axes in the style, without pyplot's state."""
    drawing = MatplotlibFigure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots()


def _ranges(table: pd.DataFrame) -> str:
    """Rows of a table of estimates in words."""
    parts = []
    for name, row in table.iterrows():
        if not np.isfinite(row["estimate"]):
            parts.append(f"{name}: not available ({row['reason']})")
            continue
        text = f"{name}: {format_number(row['estimate'], row['unit'])}"
        if np.isfinite(row["low"]):
            text += f" ({format_number(row['low'], row['unit'])} to {format_number(row['high'], row['unit'])})"
        parts.append(text)
    return "; ".join(parts)


def intervals(
    tables: Mapping[str, pd.DataFrame] | pd.DataFrame,
    *,
    name: str,
    label: str,
    caption: str,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Estimates with their intervals, a row each, one colour and mark a table.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates with the same rows; several are drawn side by side.
    name : str
        Name of the figure's data file.
    label : str
        Label of the axis, with its unit; shares are drawn in percent.
    caption : str
        n and the kind of interval.
    limits : tuple, optional
        Ends of the axis, in the units drawn.

    Returns
    -------
    Figure
        Rows without an estimate say so in their place.
    """
    tables = {"": tables} if isinstance(tables, pd.DataFrame) else dict(tables)
    rows = list(next(iter(tables.values())).index)
    scale = 100 if next(iter(tables.values()))["unit"].str.startswith("share").all() else 1
    with mpl.rc_context(STYLE):
        drawing, axes = _axes(7, 0.8 + 0.36 * len(rows) * max(1, 0.6 * len(tables)))
        offsets = np.linspace(-0.18, 0.18, len(tables)) if len(tables) > 1 else [0]
        for index, (label_of_table, table) in enumerate(tables.items()):
            places = np.arange(len(rows)) + offsets[index]
            numbers = scale * table.loc[rows, ["estimate", "low", "high"]].to_numpy(dtype=float)
            numbers, places = numbers[known := np.isfinite(numbers[:, 0])], places[known]
            axes.errorbar(
                numbers[:, 0],
                places,
                xerr=np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T,
                fmt="os^D"[index % 4],
                color=COLOURS[index % len(COLOURS)],
                capsize=3,
                label=label_of_table or None,
            )
        if limits:
            axes.set_xlim(limits)
        for place, row in enumerate(rows):
            if not any(np.isfinite(table.loc[row, "estimate"]) for table in tables.values()):
                axes.text(
                    0.01,
                    place,
                    "not available in this data set",
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    style="italic",
                )
        axes.set_yticks(range(len(rows)), [str(row) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        if len(tables) > 1:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(tables))
    data = pd.concat(tables, names=["interval"]) if len(tables) > 1 else next(iter(tables.values()))
    alt = f"{label}. " + " ".join(
        f"{which + ': ' if which else ''}{_ranges(table)}." for which, table in tables.items()
    )
    return Figure(drawing, name, alt, caption, data)


def level_distribution(counts: pd.DataFrame, *, name: str, caption: str) -> Figure:
    """Shares of the levels of each rating as stacked bars, from very poor to very good.

    Parameters
    ----------
    counts : DataFrame
        As :func:`sense7.statistics.ratings.level_counts` returns it.
    name, caption : str
        As for :func:`intervals`.
    """
    levels = counts[[1, 2, 3, 4, 5]]
    shares = levels.div(levels.sum(axis=1), axis=0)
    with mpl.rc_context(STYLE):
        drawing, axes = _axes(7, 1.1 + 0.36 * len(counts))
        left = np.zeros(len(counts))
        for level, word, colour in zip(levels, LEVELS, LEVEL_COLOURS, strict=True):
            width = shares[level].fillna(0).to_numpy()
            axes.barh(range(len(counts)), 100 * width, left=100 * left, color=colour, label=word, height=0.72)
            left += width
        axes.set_yticks(range(len(counts)), [str(row) for row in counts.index])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of rated turns (%)")
        axes.grid(visible=False, axis="y")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=5, handlelength=1.2)
    described = [
        f"{row}: "
        + ", ".join(f"{word} {share:.0%}" for word, share in zip(LEVELS, shares.loc[row].fillna(0), strict=True))
        for row in counts.index
    ]
    alt = "Shares of the five levels for each rating. " + "; ".join(described) + "."
    return Figure(drawing, name, alt, caption, counts)


def counts_by_group(counts: pd.Series, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Counts of groups as bars, the number at the end of each; a sentence if there are none.

    Parameters
    ----------
    counts : Series of int
        Indexed by group.
    name, label, caption : str
        As for :func:`intervals`.
    """
    if counts.empty:
        return Sentence(f"No figure of {label}: nothing was given in this data set.")
    with mpl.rc_context(STYLE):
        drawing, axes = _axes(7, 0.9 + 0.34 * len(counts))
        bars = axes.barh(range(len(counts)), counts.to_numpy(), color=COLOURS[0], height=0.7)
        axes.bar_label(bars, labels=[f"{count:,}" for count in counts], padding=3)
        axes.set_yticks(range(len(counts)), [str(group) for group in counts.index])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.1)
    alt = f"{label}. " + "; ".join(f"{group}: {count:,}" for group, count in counts.items()) + "."
    return Figure(drawing, name, alt, caption, counts.to_frame("count"))


def histogram(values: pd.Series, *, name: str, label: str, caption: str) -> Figure:
    """How often each whole number occurs.

    Parameters
    ----------
    values : Series of int
        What is counted.
    name, label, caption : str
        As for :func:`intervals`.
    """
    counts = values.value_counts().sort_index()
    with mpl.rc_context(STYLE):
        drawing, axes = _axes(7, 2.8)
        axes.bar(counts.index, counts.to_numpy(), color=COLOURS[0], width=0.8)
        axes.set_xlabel(label)
        axes.set_ylabel("conversations")
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        axes.grid(visible=False, axis="x")
    alt = (
        f"Histogram of {label}: from {counts.index.min()} to {counts.index.max()}, median {values.median():g}, "
        f"most often {counts.idxmax()} ({counts.max():,} times)."
    )
    return Figure(drawing, name, alt, caption, counts.rename_axis("value").to_frame("conversations"))
