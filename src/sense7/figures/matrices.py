"""Matrices: numbers on shades."""

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from sense7.figures.figure import (
    LINE,
    Figure,
    drawn,
    figure_of,
    lines_of,
    new_axes,
    wrapped,
)
from sense7.figures.source import INK, Shown, main_color
from sense7.tables import Sentence


def heat_map(
    matrix: pd.DataFrame,
    *,
    name: str,
    title: str,
    label: str,
    caption: str,
    shares_of_rows: bool = False,
    source: Shown = None,
) -> Figure | Sentence:
    """A matrix of correlations, counts or means as shaded cells with the numbers in them.

    Parameters
    ----------
    matrix : DataFrame
        NaN where there is no number: such a cell stays empty. Of a matrix with the same rows and columns, such as
        correlations, the diagonal is left out. Whole numbers are counts.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    label : str
        What the numbers are.
    shares_of_rows : bool
        Whether counts are shaded by their shares of the row, which stand below them, and the diagonal is framed: of a
        judge's levels against those of people.

    Returns
    -------
    Figure or Sentence
        A sentence if there is not one number.

    Examples
    --------
    >>> counts = pd.DataFrame([[3, 1], [0, 4]], index=["good", "poor"], columns=["good", "poor"])
    >>> figure = heat_map(counts, name="x", title="T", label="judged", caption="n = 8", shares_of_rows=True)
    >>> figure.alt.partition(" Source")[0]
    'T. judged. good: good 3 (75%), poor 1 (25%); poor: good 0 (0%), poor 4 (100%).'
    """
    import seaborn

    is_square = matrix.index.equals(matrix.columns)
    numbers = matrix.astype(float)
    texts = matrix.map("{:z.2f}".format)
    if all(column_type.kind in "iu" for column_type in matrix.dtypes):
        texts = matrix.map("{:,.0f}".format)
    if shares_of_rows:
        totals = matrix.sum(axis=1)
        numbers = numbers.div(totals.where(totals > 0), axis=0)
        texts += "\n(" + numbers.map("{:.0%}".format) + ")"
    elif is_square:
        numbers = numbers.mask(np.eye(len(matrix), dtype=bool))
    values = numbers.to_numpy()
    if not np.isfinite(values).any():
        return Sentence(f"No figure of {label}: no number is there to show.")
    lowest = min(0, np.nanmin(values))
    lightest_to_darkest = LinearSegmentedColormap.from_list(
        "shades", ["#f4f4f4", main_color(source)]
    )

    def draw(width: float):
        row_names = [wrapped(drawn(row, 40), 0.25 * width) for row in matrix.index]
        column_names = [drawn(column, 30) for column in matrix.columns]
        room = 0.6 * width / len(column_names)
        rotation = 0
        height = 0.9 + max(0.4, 1.15 * LINE * lines_of(row_names)) * len(matrix)
        if max(len(word) for word in " ".join(column_names).split()) < 12 * room:
            column_names = [wrapped(column, room) for column in column_names]
        else:
            rotation = 90
            height += 0.08 * max(len(column) for column in column_names)
        drawing, axes = new_axes(width, height)
        seaborn.heatmap(
            numbers,
            ax=axes,
            annot=texts,
            fmt="",
            annot_kws={"fontsize": 9, "color": "#000000"},
            cmap=lightest_to_darkest,
            vmin=lowest,
            vmax=2 * np.nanmax(values) - lowest,  # black stands out from the lighter half
            cbar=False,
            xticklabels=column_names,
            yticklabels=row_names,
        )
        if shares_of_rows and is_square:
            for level in range(len(matrix)):
                axes.add_patch(Rectangle((level, level), 1, 1, fill=False, edgecolor=INK))
        axes.tick_params(axis="x", rotation=rotation)
        axes.tick_params(axis="y", rotation=0)
        axes.set(xlabel=drawn(matrix.columns.name or ""), ylabel=drawn(matrix.index.name or ""))
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.set_title(wrapped(label, 0.6 * width), fontsize=10, loc="left")
        return drawing

    parts = []
    for y, row in enumerate(matrix.index):
        cells = []
        for x, column in enumerate(matrix.columns):
            is_second = is_square and x < y and not shares_of_rows  # of a pair
            if np.isfinite(values[y, x]) and not is_second:
                cells.append(f"{column} {texts.iloc[y, x]}".replace("\n", " "))
        if cells:
            parts.append(f"{row}: {', '.join(cells)}")
    alt = f"{label}. {'; '.join(parts)}."
    return figure_of(draw, name, title, alt, caption, matrix, source)
