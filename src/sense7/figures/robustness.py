"""Specification curves: what every defensible choice gives, and which choices gave what."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.figures.style import COLOURS, STYLE, Figure, styled
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.terminal import count_of

__all__ = ["specification_curve"]

_LABEL = 28
"""Characters of a line beside the curve, which is not high."""

_COLUMNS = ("estimate", "low", "high", "n", "unit", "method", "reason")


def specification_curve(
    table: pd.DataFrame, *, name: str, label: str, caption: str, reference: float | None = None
) -> Figure | Sentence:
    """Estimates of all specifications in order, and below each the options that it chose.

    Parameters
    ----------
    table : DataFrame
        As :func:`sense7.findings.robustness.headlines.multiverse` returns it: choices, then estimates; the
        first row is the specification of the other pages and is marked.
    name, label, caption : str
        As for :func:`sense7.figures.charts.intervals`.
    reference : float, optional
        Drawn as a line, in the unit of the estimates.

    Returns
    -------
    Figure or Sentence
        Specifications that can't be computed are left out, and counted in the alternative text; a
        sentence if there is none.
    """
    choices = [column for column in table.columns if column not in _COLUMNS]
    known = table[np.isfinite(table["estimate"])].sort_values("estimate", kind="stable")
    if known.empty:
        return Sentence(f"No curve of {label}: {table['reason'].iloc[0]}.")
    unit = known["unit"].iloc[0]
    scale = 100 if unit.startswith("share") else 1
    numbers = scale * known[["estimate", "low", "high"]].to_numpy(dtype=float)
    places = np.arange(len(known))
    options = [(choice, option) for choice in choices for option in dict.fromkeys(table[choice])]
    first = known.index == table.index[0]
    with styled():
        drawing = MatplotlibFigure(figsize=(7, 2.6 + 0.2 * len(options)), layout="constrained")
        curve, panel = drawing.subplots(2, 1, sharex=True, height_ratios=[2.2, 0.2 * len(options)])
        reach = np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T
        for chosen, colour, mark, text in (
            (~first, COLOURS[0], "o", "other specifications"),
            (first, COLOURS[1], "D", "as on the other pages"),
        ):
            if chosen.any():
                curve.errorbar(
                    places[chosen],
                    numbers[chosen, 0],
                    yerr=reach[:, chosen],
                    fmt=mark,
                    color=colour,
                    markersize=4,
                    elinewidth=0.8,
                    label=text,
                )
        if reference is not None:
            curve.axhline(scale * reference, color=STYLE["text.color"], linewidth=1, linestyle="--")
        curve.set_ylabel(textwrap.fill(f"{label} (%)" if scale == 100 else label, _LABEL))
        curve.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
        curve.grid(visible=False, axis="x")
        for row, (choice, option) in enumerate(options):
            taken = (known[choice] == option).to_numpy()
            for chosen, colour, mark in ((taken & ~first, COLOURS[0], "o"), (taken & first, COLOURS[1], "D")):
                panel.plot(places[chosen], np.full(chosen.sum(), row), mark, color=colour, markersize=3)
        panel.set_yticks(range(len(options)), [f"{choice}: {option}" for choice, option in options], fontsize=8)
        panel.set_ylim(len(options) - 0.5, -0.5)
        for row in range(1, len(options)):
            if options[row][0] != options[row - 1][0]:
                panel.axhline(row - 0.5, color=STYLE["grid.color"], linewidth=0.8)
        panel.set_xticks([])
        panel.set_xlabel("specifications, from the lowest estimate to the highest")
        panel.grid(visible=False, axis="x")
    return Figure(drawing, name, _alt(table, known, choices, label, unit), caption, known)


def _alt(table: pd.DataFrame, known: pd.DataFrame, choices: list[str], label: str, unit: str) -> str:
    def words(number: float) -> str:
        return format_number(number, unit)

    text = f"Specification curve of {label}. {len(known)} of {count_of(len(table), 'specification')} could be computed"
    text += f": from {words(known['estimate'].min())} to {words(known['estimate'].max())}"
    text += f", median {words(known['estimate'].median())}"
    first = table.iloc[0]
    if np.isfinite(first["estimate"]):
        text += f"; as on the other pages {words(first['estimate'])}"
        if np.isfinite(first["low"]):
            text += f" ({words(first['low'])} to {words(first['high'])})"
    medians = [
        f"{choice} {option} {words(group.median())}"
        for choice in choices
        for option, group in known.groupby(choice, sort=False)["estimate"]
    ]
    return f"{text}. Medians by option: {'; '.join(medians)}."


check_arguments(globals())
