"""A forest: estimates with intervals beside the lines that they are judged by, one panel for each question."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.estimators.estimates import require_estimates
from sense7.figures.charts import ranges_in_words
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, styled
from sense7.record import format_number
from sense7.tables import Sentence

__all__ = ["forest"]

_LONGEST = 78
"""Signs of a panel's title that fit above it."""


def forest(panels: Mapping[str, tuple[pd.DataFrame, Sequence[float]]], *, name: str, caption: str) -> Figure | Sentence:
    """Draw one panel for each question: its estimates with intervals, and the lines that they are judged by.

    Parameters
    ----------
    panels : mapping of str -> (DataFrame, sequence of float)
        Question -> table of estimates in one unit, and its lines: the first is that of the claim (dashed), a second one
        that of its contrary (dotted). Shares are drawn in percent.
    name : str
        Name of the figure's data file.
    caption : str
        n, the kind of interval, and what the lines are.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no estimate. Estimates without an interval are drawn as a mark alone.

    Examples
    --------
    >>> from sense7.estimators.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.9, 0.8, 0.95, n=9, unit="alpha", method="alpha; 95% interval")
    >>> forest({"consistent": (estimate_table({"A": row}, "data"), (0.7,))}, name="x", caption="n = 9.")
    Figure: consistent, line at 0.700: A: 0.900 (0.800 to 0.950).
    """
    if not panels:
        return Sentence("No figure of the estimates: there is nothing to show.")
    for table, _ in panels.values():
        require_estimates("forest", "panels", table)
    estimates = pd.concat([table for table, _ in panels.values()])
    if not np.isfinite(estimates["estimate"].astype(float)).any():
        reasons = dict.fromkeys(reason for reason in estimates["reason"] if reason)
        return Sentence(f"No figure of the estimates: {'; '.join(reasons) or 'there is nothing to show'}.")
    rows = [len(table) for table, _ in panels.values()]
    said = []
    with styled():
        height = sum(0.95 + 0.3 * count for count in rows)
        drawing = MatplotlibFigure(figsize=(7, height), layout="constrained")
        grid = {"height_ratios": [0.35 + 0.3 * count for count in rows]}
        all_axes = drawing.subplots(len(panels), squeeze=False, gridspec_kw=grid)[:, 0]
        for axes, (title, (table, lines)) in zip(all_axes, panels.items(), strict=True):
            unit = table["unit"].iloc[0]
            scale = 100 if unit.startswith("share") else 1
            numbers = scale * table[["estimate", "low", "high"]].to_numpy(dtype=float)
            places = np.arange(len(table))
            reach = np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T
            axes.errorbar(numbers[:, 0], places, xerr=reach, fmt="o", color=COLOURS[0], capsize=3)
            for line, style in zip(lines, ("--", ":"), strict=False):
                axes.axvline(scale * line, linestyle=style, color=STYLE["text.color"], linewidth=1.2)
            axes.set_yticks(places, [drawn(row) for row in table.index])
            axes.set_ylim(len(table) - 0.5, -0.5)
            axes.set_title(drawn(title, _LONGEST), loc="left", fontsize=10)
            axes.set_xlabel(f"{drawn(unit)} (%)" if scale == 100 else drawn(unit))
            axes.grid(visible=False, axis="y")
            where = " and ".join(format_number(float(line), unit) for line in lines)
            said.append(f"{title}, line{'s' * (len(lines) > 1)} at {where}: {ranges_in_words(table)}")
    data = pd.concat({title: table for title, (table, _) in panels.items()}, names=["question"])
    return Figure(drawing, name, f"{'. '.join(said)}.", caption, data)


check_arguments(globals())
