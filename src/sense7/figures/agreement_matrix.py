"""Figure of agreement between every two raters, as the lower triangle of a matrix."""

import matplotlib as mpl
import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.estimates import require_estimates
from sense7.figures.charts import ranges_in_words
from sense7.figures.style import Figure, drawn, ink_on, new_axes, styled
from sense7.tables import Sentence

__all__ = ["agreement_matrix"]

_WIDTH = 7
_COLOURS = "cividis"  # even in lightness, the same to colour-blind readers


def agreement_matrix(table: pd.DataFrame, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Agreement of every two raters: the lower triangle of a matrix, each cell with its number.

    Parameters
    ----------
    table : DataFrame
        Table of estimates with one row per pair, and the columns ``first`` and ``second``: the two raters. Raters
        stand in the order in which they first occur.
    name : str
        Name of the figure's data file.
    label : str
        What the numbers are.
    caption : str
        What to see, n and the kind of interval.

    Returns
    -------
    Figure or Sentence
        A cell without an estimate stays empty; a sentence if there is no estimate.

    Raises
    ------
    UserError
        If the table does not say who the two raters are.

    Examples
    --------
    >>> from sense7.estimators.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.7, 0.6, 0.8, n=50, unit="Spearman's rho", method="Spearman; interval")
    >>> table = estimate_table({"expert with person": row}, "pair").assign(first="expert", second="person")
    >>> agreement_matrix(table, name="x", label="Spearman correlation", caption="n = 50; 95% interval.").alt
    'Matrix of the Spearman correlation. expert with person: 0.700 (0.600 to 0.800).'
    """
    require_estimates("agreement_matrix", "table", table)
    if lacking := {"first", "second"} - set(table.columns):
        raise UserError(f"agreement_matrix wants two raters in each row; the table lacks {', '.join(sorted(lacking))}.")
    if not np.isfinite(table["estimate"].astype(float)).any():
        reasons = "; ".join(dict.fromkeys(filter(None, table["reason"])))
        return Sentence(f"No figure of the {label}: {reasons or 'there is nothing to show'}.")
    triangle = _lower_triangle(table)
    with styled():
        drawing, axes = new_axes(_WIDTH, 0.43 * len(triangle) + 1.3)
        _draw(axes, triangle)
    alt = f"Matrix of the {label}. {ranges_in_words(table)}."
    return Figure(drawing, name, alt, caption, table)


def _lower_triangle(table: pd.DataFrame) -> pd.DataFrame:
    """Rows: all raters but the first; columns: all but the last; NaN above the diagonal and where there is none."""
    raters = list(dict.fromkeys(table[["first", "second"]].to_numpy().ravel()))
    cells = pd.DataFrame(np.nan, index=raters, columns=raters)
    for first, second, estimate in table[["first", "second", "estimate"]].itertuples(index=False):
        left, below = sorted((first, second), key=raters.index)
        cells.loc[below, left] = estimate
    return cells.iloc[1:, :-1]


def _draw(axes, triangle: pd.DataFrame) -> None:
    numbers = np.ma.masked_invalid(triangle.to_numpy(dtype=float))
    lowest, highest = np.floor(10 * numbers.min()) / 10, np.ceil(10 * numbers.max()) / 10
    colours = mpl.colormaps[_COLOURS](mpl.colors.Normalize(lowest, max(highest, lowest + 0.1))(numbers))
    for (row, column), number in np.ndenumerate(numbers.filled(np.nan)):
        if np.isfinite(number):
            colour = colours[row, column]
            axes.add_patch(mpl.patches.Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, color=colour, linewidth=0))
            axes.text(column, row, f"{number:z.2f}", ha="center", va="center", color=ink_on([colour])[0])
    rows, columns = triangle.shape
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axes.set_yticks(range(rows), [drawn(rater, 24) for rater in triangle.index])
    names = [drawn(rater, 24) for rater in triangle.columns]
    axes.set_xticks(range(columns), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


check_arguments(globals())
