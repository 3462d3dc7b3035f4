"""Figure of how time and memory grow with the size of the data."""

import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sense7.arguments import check_arguments
from sense7.figures.direct_labels import name_lines
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, styled
from sense7.tables import Sentence

__all__ = ["growth_curves"]

_PANELS = {"seconds": "processor time (s)", "mebibytes": "peak memory (MiB)"}
_MARKS, _LINES = "os^DvP", ("-", "--", ":", "-.")


def growth_curves(table: pd.DataFrame, *, name: str, caption: str, empty: str = "") -> Figure | Sentence:
    """Processor time and peak memory over the number of conversations, both axes logarithmic: a straight line a power.

    Parameters
    ----------
    table : DataFrame
        Columns line, conversations, seconds, mebibytes; see :func:`sense7.benchmarks.growth`.
    name, caption : str
        As for :func:`sense7.figures.intervals`.
    empty : str
        What is said if there is nothing to draw.

    Returns
    -------
    Figure or Sentence
        Beside the lines, a thin grey one that grows as fast as the data (linear).
    """
    if table.empty:
        return Sentence(empty or "There is nothing to draw.")
    sizes = sorted(table["conversations"].unique())
    with styled():
        drawing = MatplotlibFigure(figsize=(7.4, 4.4), layout="constrained")
        for column, axes in zip(_PANELS, drawing.subplots(1, 2), strict=True):
            for index, (line, rows) in enumerate(table.groupby("line", sort=False)):
                axes.loglog(
                    rows["conversations"],
                    rows[column],
                    marker=_MARKS[index % len(_MARKS)],
                    markersize=5,
                    linewidth=1.4,
                    linestyle=_LINES[index // len(COLOURS) % len(_LINES)],
                    color=COLOURS[index % len(COLOURS)],
                    label=drawn(line),
                )
            lowest = max(table[column].min(), 1e-6)
            linear = [lowest * size / sizes[0] for size in sizes]
            axes.loglog(sizes, linear, color=STYLE["grid.color"], linewidth=1, linestyle=":", label="linear")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_major_locator(LogLocator(numticks=8))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,g}"))
            axes.set_xlabel("conversations")
            axes.set_ylabel(_PANELS[column])
            name_lines(axes)
    return Figure(drawing, name, _alt(table), caption, table.set_index("line"))


def _alt(table: pd.DataFrame) -> str:
    text = "Two panels, processor time and peak memory over the number of conversations, on logarithmic axes."
    for line, rows in table.groupby("line", sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        text += (
            f" {line}: from {_seconds(first)} and {first['mebibytes']:,.0f} MiB with "
            f"{first['conversations']:,} conversations to {_seconds(last)} and {last['mebibytes']:,.0f} MiB "
            f"with {last['conversations']:,}."
        )
    return text


def _seconds(row: pd.Series) -> str:
    return f"{row['seconds']:,.0f} s" if row["seconds"] >= 100 else f"{row['seconds']:.3g} s"


check_arguments(globals())
