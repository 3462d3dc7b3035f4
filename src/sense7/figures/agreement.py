"""Figures of agreement: published values beside computed ones, and raters compared on many questions."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.estimators.estimates import require_estimates
from sense7.figures.charts import ranges_in_words
from sense7.figures.narrow import legend_above
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, styled

__all__ = ["intervals_by_group", "published_against_computed"]

_MARKS = "os^D"
_TO_TWO_DECIMALS = 0.005
"""A value and its rounding to two decimals differ by at most this."""


def published_against_computed(
    table: pd.DataFrame,
    panels: Mapping[str, tuple[str, Mapping[str, str]]],
    groups: Mapping[str, str],
    *,
    name: str,
    caption: str,
) -> Figure:
    """Draw every published value against the one that was computed again, one panel for each measure.

    Parameters
    ----------
    table : DataFrame
        One row per pair of raters and question, with the columns that are named below and corpus.
    panels : mapping
        Measure -> column with the published values, and the columns with computed ones: column -> how it was computed.
        The first is drawn with filled marks; of each further one only what differs from the published value by more
        than rounding, with open marks.
    groups : mapping
        Corpus -> its name; each has a color and a mark.
    name, caption : str
        As for :func:`sense7.figures.charts.intervals`.

    Returns
    -------
    Figure
        Equal values lie on the dashed line.
    """
    parts = []
    with styled():
        drawing = MatplotlibFigure(figsize=(7, 4.1), layout="constrained")
        for axes, (measure, (published, columns)) in zip(
            drawing.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            values = table[[published, *columns]].to_numpy(dtype=float)
            ends = np.array([values.min() - 0.04, values.max() + 0.04])
            axes.plot(ends, ends, linestyle="--", linewidth=1, color=STYLE["axes.edgecolor"], zorder=1)
            first, *further = columns
            for index, (corpus, label) in enumerate(groups.items()):
                rows = table[table["corpus"] == corpus]
                look = {"marker": _MARKS[index % 4], "s": 22, "linewidths": 1.1, "edgecolors": COLOURS[index % 6]}
                axes.scatter(rows[published], rows[first], color=COLOURS[index % 6], alpha=0.75, label=label, **look)
                for column in further:
                    differs = rows[(rows[column] - rows[published]).abs() > _TO_TWO_DECIMALS]
                    axes.scatter(differs[published], differs[column], facecolors="none", **look)
            axes.set(xlim=ends, ylim=ends, xlabel=f"{measure}, published", ylabel=f"{measure}, computed here")
            axes.set_aspect("equal")
            for column, how in columns.items():
                apart = (table[column] - table[published]).abs()
                near = int((apart <= _TO_TWO_DECIMALS).sum())
                way = f" {how}" if how else ""
                parts.append(
                    f"{measure}{way}: {near} of {len(table)} within rounding, largest difference {apart.max():.3f}"
                )
        legend_above(drawing)
    alt = f"Published against computed agreement, values from {values.min():.2f} to {values.max():.2f}. "
    return Figure(drawing, name, alt + "; ".join(parts) + ".", caption, table)


def intervals_by_group(
    tables: Mapping[str, pd.DataFrame],
    groups: Mapping[str, Mapping[str, str]],
    *,
    name: str,
    label: str,
    caption: str,
    zero: bool = False,
) -> Figure:
    """Draw estimates with their intervals, one panel below the other for each group of rows.

    Parameters
    ----------
    tables : mapping
        Name of a series -> table of estimates with the same rows.
    groups : mapping
        Title of a panel -> its rows: row of the tables -> its label.
    name, label, caption : str
        As for :func:`sense7.figures.charts.intervals`; shares are drawn in percent.
    zero : bool
        Whether zero has a line.

    Returns
    -------
    Figure
        A row without an estimate has no mark; the panels share one axis.
    """
    for table in tables.values():
        require_estimates("intervals_by_group", "tables", table)
    everything = pd.concat(tables, names=["series"])
    scale = 100 if everything["unit"].str.startswith("share").all() else 1
    heights = [len(rows) + 0.4 for rows in groups.values()]
    offsets = np.linspace(-0.27, 0.27, len(tables)) if len(tables) > 1 else [0]
    parts = []
    with styled():
        drawing = MatplotlibFigure(figsize=(5.6, 1.2 + 0.42 * sum(heights)), layout="constrained")
        panels = drawing.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (title, rows) in zip(panels, groups.items(), strict=True):
            if zero:
                axes.axvline(0, linewidth=1, color=STYLE["axes.edgecolor"])
            for index, (series, table) in enumerate(tables.items()):
                numbers = scale * table.loc[list(rows), ["estimate", "low", "high"]].to_numpy(dtype=float)
                known = np.isfinite(numbers[:, 0])
                axes.errorbar(
                    numbers[known, 0],
                    np.flatnonzero(known) + offsets[index],
                    xerr=np.nan_to_num(np.abs(numbers[known, 1:] - numbers[known, :1])).T,
                    fmt=_MARKS[index % 4],
                    markersize=4.5,
                    linewidth=1.2,
                    color=COLOURS[index % len(COLOURS)],
                    capsize=2,
                    label=drawn(series),
                )
                parts.append(f"{title}, {series}: {ranges_in_words(table.loc[list(rows)].rename(index=rows))}.")
            axes.set_title(drawn(title), loc="left", fontsize=10, fontweight="bold")
            axes.set_yticks(range(len(rows)), [drawn(words, 40) for words in rows.values()])
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
        panels[-1].set_xlabel(f"{label} (%)" if scale == 100 else label)
        legend_above(drawing)
    return Figure(drawing, name, f"{label}. {' '.join(parts)}", caption, everything)


check_arguments(globals())
