"""A map of means by two groupings: colored cells, lighter where the mean is higher, with mean and n in them."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.style import Figure, drawn, ink_on, new_axes, styled
from sense7.tables import Sentence

__all__ = ["cell_means"]

_COLOURS = "cividis"  # even in lightness, the same to colour-blind readers


def cell_means(table: pd.DataFrame, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Draw the mean of each row and column as a colored cell with the mean and n; empty where there is no mean.

    Parameters
    ----------
    table : DataFrame
        One row per cell. The first two columns are the groups of the map's rows and columns, in their order; then mean
        (NaN: the cell is left empty) and n.
    name : str
        Name of the figure's data file.
    label : str
        What the means are.
    caption : str
        What to look for, n, and which cells are left empty.

    Returns
    -------
    Figure or Sentence
        A sentence if no cell has a mean.

    Examples
    --------
    >>> table = pd.DataFrame({"topic": ["work", "work"], "condition": ["a", "b"], "mean": [4, np.nan], "n": [12, 2]})
    >>> cell_means(table, name="x", label="mean", caption="n = 14 conversations.")
    Figure: Map of the mean by topic and condition. work: a 4.00 (n = 12), b empty (n = 2).
    """
    if not np.isfinite(table["mean"].astype(float)).any():
        return Sentence(f"No figure of the {label}: no cell has enough conversations.")
    by_row, by_column = table.columns[:2]
    index, columns = table[by_row].unique(), table[by_column].unique()
    cells = table.pivot_table(index=by_row, columns=by_column, values=["mean", "n"], aggfunc="first", dropna=False)
    means, counts = (cells[value].reindex(index=index, columns=columns) for value in ("mean", "n"))
    means, counts = means.astype(float), counts.fillna(0).astype(int)
    with styled():
        drawing, axes = new_axes(max(7, 1.6 + 0.9 * means.shape[1]), 1.4 + 0.42 * len(means))
        mesh = axes.pcolormesh(np.ma.masked_invalid(means), cmap=_COLOURS, edgecolors="none")
        inks = ink_on(mesh.to_rgba(means.to_numpy().ravel()))
        for place, ink in enumerate(inks):
            row, column = divmod(place, means.shape[1])
            if np.isfinite(means.iloc[row, column]):
                text = f"{means.iloc[row, column]:.2f}\nn = {counts.iloc[row, column]:,}"
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=8.5)
        axes.set_xticks(
            np.arange(means.shape[1]) + 0.5, [drawn(one, 24) for one in means.columns], rotation=25, ha="right"
        )
        axes.set_yticks(np.arange(len(means)) + 0.5, [drawn(one, 30) for one in means.index])
        axes.set_ylim(len(means), 0)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    parts = [
        f"{row}: " + ", ".join(_in_words(column, means.loc[row, column], counts.loc[row, column]) for column in means)
        for row in means.index
    ]
    alt = f"Map of the {label} by {by_row} and {by_column}. {'; '.join(parts)}."
    return Figure(drawing, name, alt, caption, table)


def _in_words(column: object, mean: float, n: int) -> str:
    return f"{column} {f'{mean:.2f}' if np.isfinite(mean) else 'empty'} (n = {n:,})"


check_arguments(globals())
