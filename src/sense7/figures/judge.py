"""Figures of how well levels are predicted."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import MaxNLocator

from sense7.arguments import check_arguments
from sense7.figures.charts import ranges_in_words
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, styled
from sense7.tables import Sentence

__all__ = ["metric_panels"]


def metric_panels(
    tables: Mapping[str, pd.DataFrame], *, name: str, caption: str, against: str | None = None
) -> Figure | Sentence:
    """Several metrics of the same predictions, one panel for each; a sentence if there are none.

    Parameters
    ----------
    tables : mapping of label -> DataFrame
        Tables of estimates with the same rows; the label is that of the panel's axis. Shares are drawn in percent.
    name : str
        Name of the figure's data file.
    caption : str
        n and the kind of interval.
    against : str, optional
        A row whose estimate stands in each panel as a dashed line, where it has one.

    Returns
    -------
    Figure
        Rows without an estimate say so in their place.
    """
    everything = pd.concat(tables, names=["metric"])
    if not np.isfinite(everything["estimate"].astype(float)).any():
        reasons = sorted({reason for reason in everything["reason"] if reason})
        return Sentence(f"No figure of {', '.join(tables)}: {'; '.join(reasons) or 'there is nothing to show'}.")
    rows = list(next(iter(tables.values())).index)
    with styled():
        drawing = MatplotlibFigure(figsize=(7.5, 1 + 0.38 * len(rows)), layout="constrained")
        panels = drawing.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for index, (axes, (label, table)) in enumerate(zip(panels, tables.items(), strict=True)):
            shares = table["unit"].str.startswith("share").all()
            numbers = (100 if shares else 1) * table.loc[rows, ["estimate", "low", "high"]].to_numpy(dtype=float)
            known = np.isfinite(numbers[:, 0])
            if against in rows and known[rows.index(against)]:
                line = numbers[rows.index(against), 0]
                axes.axvline(line, linestyle="--", linewidth=1, color=STYLE["axes.edgecolor"])
            axes.errorbar(
                numbers[known, 0],
                np.flatnonzero(known),
                xerr=np.nan_to_num(np.abs(numbers[known, 1:] - numbers[known, :1])).T,
                fmt="os^D"[index % 4],
                color=COLOURS[index % len(COLOURS)],
                capsize=3,
            )
            for place in np.flatnonzero(~known):
                across = axes.get_yaxis_transform()
                axes.text(0.02, place, "not available", transform=across, va="center", style="italic")
            axes.set_xlabel(f"{label} (%)" if shares else label)
            axes.xaxis.set_major_locator(MaxNLocator(5))
            axes.grid(visible=False, axis="y")
        panels[0].set_yticks(range(len(rows)), [drawn(row, 40) for row in rows])
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
    if not np.isfinite(everything["low"].astype(float)).any():
        caption += " No interval could be computed."
    alt = " ".join(f"{label}: {ranges_in_words(table)}." for label, table in tables.items())
    return Figure(drawing, name, alt, caption, everything)


check_arguments(globals())
