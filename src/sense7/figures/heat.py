"""Heat maps: correlations, counts or means of two groupings, with the numbers in the cells."""

import numpy as np
import pandas as pd

from sense7.figures.style import Figure, drawn, ink_on, new_axes, styled
from sense7.tables import Sentence

__all__ = ["heat_map"]


def heat_map(matrix: pd.DataFrame, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """A matrix of correlations, counts or means as colored cells with the numbers in them.

    Parameters
    ----------
    matrix : DataFrame
        NaN where there is no number: such a cell stays empty. Of a matrix with the same rows and columns, such as
        correlations, the diagonal is left out. Whole numbers are counts.
    name : str
        Name of the figure's data file.
    label : str
        What the numbers are.
    caption : str
        What to see, n, and over what.

    Returns
    -------
    Figure or Sentence
        A sentence if there is not one number.
    """
    import seaborn

    square = matrix.index.equals(matrix.columns)
    shown = matrix.mask(np.eye(len(matrix), dtype=bool)) if square else matrix
    numbers = shown.to_numpy(dtype=float)
    if not np.isfinite(numbers).any():
        why = "no two of these were rated together and vary" if square else "nothing was given in this data set"
        return Sentence(f"No figure of {label}: {why}.")
    counts = all(kind.kind in "iu" for kind in shown.dtypes)
    form = ",.0f" if counts else "z.2f"
    with styled():
        drawing, axes = new_axes(7, 5.4 if square else 1.6 + 0.32 * len(matrix))
        seaborn.heatmap(
            shown.astype(float).rename(index=str, columns=str),
            cmap="cividis",  # even in lightness, the same to colour-blind readers
            vmin=0 if counts else np.floor(10 * np.nanmin(numbers)) / 10,
            vmax=None if counts else max(np.ceil(10 * np.nanmax(numbers)), np.floor(10 * np.nanmin(numbers)) + 1) / 10,
            annot=True,
            fmt=form,
            square=square,
            cbar=False,  # the numbers are in the cells
            ax=axes,
        )
        # Black or white, whichever stands out more: seaborn's own choice is faint on mid-grey.
        filled = axes.collections[0].get_facecolors()[np.isfinite(numbers).ravel()]
        for number, ink in zip(axes.texts, ink_on(filled), strict=True):
            number.set_color(ink)
        names = [drawn(column, 40) for column in matrix.columns]
        axes.set_xticks(axes.get_xticks(), names, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_yticks(axes.get_yticks(), [drawn(row, 40) for row in matrix.index], rotation=0)
        axes.set(xlabel=drawn(matrix.columns.name or ""), ylabel=drawn(matrix.index.name or ""))
        axes.set_title(label, fontsize=10, loc="left")
        axes.tick_params(length=0)
        axes.grid(visible=False)
    parts = []
    for place, (row, cells) in enumerate(shown.iterrows()):
        shown_once = cells.iloc[place + 1 :] if square else cells
        said = [f"{column} {f'{cell:{form}}' if np.isfinite(cell) else 'none'}" for column, cell in shown_once.items()]
        parts += [f"{row}: {', '.join(said)}"] * bool(said)
    return Figure(drawing, name, f"Heat map of {label}. {'; '.join(parts)}.", caption, matrix)
