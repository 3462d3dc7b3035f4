"""A caterpillar plot: the distances of many values from their truths, in ascending order."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.figures.style import COLOURS, STYLE, Figure, new_axes, styled
from sense7.tables import Sentence
from sense7.terminal import count_of

__all__ = ["caterpillar"]


def caterpillar(rows: Sequence[Mapping], *, beyond: float, name: str, caption: str) -> Figure | Sentence:
    r"""Draw the distances of values from their truths in ascending order, and what standard normal ones would be.

    The i-th of N ordered distances is drawn at height i; the line is the normal quantile of :math:`(i - 1/2) / N`.

    Parameters
    ----------
    rows : sequence of mappings
        One for each value: distance, in standard errors, and further columns for the data's table.
    beyond : float
        Distances beyond this, on either side, have another color.
    name : str
        Name of the figure's data file.
    caption : str
        What the distances are.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no distance.

    Examples
    --------
    >>> rows = [{"distance": 0.5}, {"distance": -2.5}, {"distance": 1.0}]
    >>> caterpillar(rows, beyond=1.96, name="x", caption="n = 3 values.")
    Figure: 3 distances from -2.5 to 1.0, in ascending order; 1 of them beyond 1.96.
    """
    table = pd.DataFrame(rows)
    if table.empty:
        return Sentence("No figure of distances: no value has an implied truth and an error.")
    table = table.sort_values("distance", kind="stable", ignore_index=True)
    ordered = table["distance"].to_numpy(dtype=float)
    heights = np.arange(1, len(ordered) + 1)
    outside = np.abs(ordered) > beyond
    with styled():
        drawing, axes = new_axes(7, 4.5)
        normal = stats.norm.ppf((heights - 0.5) / len(heights))
        axes.plot(normal, heights, color=STYLE["text.color"], linewidth=1, linestyle="--", label="normal distances")
        for chosen, color, mark, label in (
            (~outside, COLOURS[0], "o", f"at most {beyond:g}"),
            (outside, COLOURS[1], "D", f"beyond {beyond:g}"),
        ):
            axes.plot(ordered[chosen], heights[chosen], mark, color=color, markersize=3, label=label)
        for limit in (-beyond, beyond):
            axes.axvline(limit, color=STYLE["text.color"], linewidth=1, linestyle=":")
        axes.set_xlabel("found minus implied, in standard errors")
        axes.set_ylabel("values in ascending order")
        axes.legend(loc="upper left")
    alt = (
        f"{count_of(len(ordered), 'distance')} from {ordered[0]:.1f} to {ordered[-1]:.1f}, in ascending order; "
        f"{outside.sum():,} of them beyond {beyond:g}."
    )
    return Figure(drawing, name, alt, caption, table)


check_arguments(globals())
