"""Figures of the structure of the ratings: a correlation matrix with its numbers, eigenvalues beside noise."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.direct_labels import name_lines
from sense7.figures.style import COLOURS, Figure, ink_on, new_axes, styled
from sense7.tables import Sentence

__all__ = ["heat_map", "scree"]

_COLOURS = "cividis"  # even in lightness, the same to colour-blind readers


def heat_map(matrix: pd.DataFrame, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """A correlation matrix as coloured cells with the numbers in them.

    Parameters
    ----------
    matrix : DataFrame, square
        Correlations; NaN where there is none: such a cell stays empty. The diagonal is not coloured.
    name : str
        Name of the figure's data file.
    label : str
        What the numbers are.
    caption : str
        n, and over what.

    Returns
    -------
    Figure or Sentence
        A sentence if there is not one correlation.
    """
    pairs = {(a, b): float(matrix.loc[a, b]) for a, b in itertools.combinations(matrix.index, 2)}
    known = {pair: r for pair, r in pairs.items() if np.isfinite(r)}
    if not known:
        return Sentence(f"No figure of the {label}: no two of these were rated together and vary.")
    import seaborn

    shown = matrix.astype(float).mask(np.eye(len(matrix), dtype=bool)).rename(index=str, columns=str)
    low, high = np.floor(10 * min(known.values())) / 10, np.ceil(10 * max(known.values())) / 10
    with styled():
        drawing, axes = new_axes(7, 5.4)
        seaborn.heatmap(
            shown,
            ax=axes,
            cmap=_COLOURS,
            vmin=low,
            vmax=max(high, low + 0.1),
            annot=True,
            fmt="z.2f",
            square=True,
            cbar=False,  # the numbers are in the cells
        )
        axes.set_xlabel(label)
        axes.set_xticklabels(axes.get_xticklabels(), rotation=40, ha="right", rotation_mode="anchor")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        # Black or white, whichever stands out more: seaborn's own choice is faint on mid-grey.
        filled = axes.collections[0].get_facecolors()[shown.notna().to_numpy().ravel()]
        for number, ink in zip(axes.texts, ink_on(filled), strict=True):
            number.set_color(ink)
    parts = [f"{a} and {b}: {r:z.2f}" if np.isfinite(r) else f"{a} and {b}: none" for (a, b), r in pairs.items()]
    lowest, highest = min(known, key=known.get), max(known, key=known.get)
    alt = (
        f"Matrix of the {label}. Lowest {lowest[0]} and {lowest[1]}, {known[lowest]:z.2f}; highest "
        f"{highest[0]} and {highest[1]}, {known[highest]:z.2f}. {'; '.join(parts)}."
    )
    return Figure(drawing, name, alt, caption, matrix)


def scree(table: pd.DataFrame, *, name: str, caption: str) -> Figure | Sentence:
    """Eigenvalues of the ratings from the largest, with those of noise.

    Parameters
    ----------
    table : DataFrame
        As :func:`sense7.findings.reliability.parallel_analysis` returns it.
    name, caption : str
        As for :func:`heat_map`.

    Returns
    -------
    Figure or Sentence
        A sentence if the table is empty.
    """
    if table.empty:
        return Sentence("No figure of the eigenvalues: too few ratings vary, or too few units rate all of them.")
    lines = {
        "components": ("ratings", "o-"),
        "components, noise": ("noise, as many rows as units", "s--"),
        "components, noise of participants": ("noise, as many rows as participants", "^:"),
    }
    parts = []
    with styled():
        drawing, axes = new_axes(7, 3.4)
        for place, (column, (label, marks)) in enumerate(lines.items()):
            if table[column].notna().any():
                axes.plot(table.index, table[column], marks, color=COLOURS[place], label=label)
                parts.append(f"{label}: {', '.join(f'{value:z.2f}' for value in table[column])}")
        axes.set_xlabel("rank")
        axes.set_ylabel("eigenvalue of the correlations")
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        name_lines(axes)
    alt = f"Eigenvalues from the largest to the smallest. {'; '.join(parts)}."
    return Figure(drawing, name, alt, caption, table)


check_arguments(globals())
