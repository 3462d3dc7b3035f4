"""Conversations as ribbons around their first poor turn: one thin row each, the means above them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sense7.arguments import check_arguments
from sense7.figures.charts import ranges_in_words
from sense7.figures.narrow import legend_above
from sense7.figures.recovery import in_words_of_time
from sense7.figures.style import COLOURS, LEVEL_COLOURS, STYLE, Figure, styled
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = ["ribbons"]

MOST = 400
"""So many conversations are drawn at most, evenly spaced in their order: thinner rows could not be seen."""


def ribbons(turns: pd.DataFrame, means: Mapping[str, pd.DataFrame], *, name: str, caption: str) -> Figure | Sentence:
    """Draw each conversation as a row of its turns around the first poor one, colored by level, and the means above.

    Rows are ordered by the mean level after the first poor turn, the highest above; last come conversations that were
    rated no more after it. Where a turn is not rated, or there is none, the row is empty.

    Parameters
    ----------
    turns : DataFrame
        One row per rated turn: conversation, time (turns after the first poor one; negative: before), level (1..5).
    means : mapping of name -> DataFrame
        Tables of estimates of the mean level, whose index is the time; one line with its band each.
    name : str
        Name of the figure's data file.
    caption : str
        What to look for, n, and the kind of interval.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no turn, or none but the first poor ones. Of more than ``MOST`` conversations so many are
        drawn.

    Examples
    --------
    >>> turns = pd.DataFrame({"conversation": list("aabb"), "time": [0, 1, 0, 1], "level": [2, 4, 1, 2]})
    >>> ribbons(turns, {}, name="x", caption="n = 4 turns.").alt.partition(". ")[2]
    '1 after: very poor 0, poor 1, neutral 0, good 1, very good 0.'
    """
    if turns["time"].nunique() < 2:
        reasons = dict.fromkeys(reason for table in means.values() for reason in table["reason"] if reason)
        none = "no conversation with a poor turn has another rated turn near it"
        why = none if len(turns) else "; ".join(reasons) or "there are none"
        return Sentence(f"No figure of the turns around the first poor one: {why}.")
    order = _order(turns)
    number = min(MOST, len(order))
    chosen = order[np.linspace(0, len(order) - 1, number).round().astype(int)]
    place = pd.Series(range(number), index=chosen)
    shown = turns[turns["conversation"].isin(chosen)]
    shown = shown.assign(row=shown["conversation"].map(place)).sort_values(["row", "time"], ignore_index=True)
    if number < len(order):
        caption += f" Drawn: {number} of {count_of(len(order), 'conversation')}, evenly spaced in their order."
    with styled():
        drawing = MatplotlibFigure(figsize=(7, 5.8), layout="constrained")
        above, below = drawing.subplots(2, 1, sharex=True, height_ratios=(2, 3))
        _means(above, means)
        for level, color in enumerate(LEVEL_COLOURS, 1):
            path = _boxes(shown[shown["level"] == level])
            below.add_patch(PathPatch(path, facecolor=color, edgecolor="none", label=LEVELS[level - 1]))
        times = sorted(turns["time"].unique())
        below.set_xlim(times[0] - 0.5, times[-1] + 0.5)
        below.set_ylim(number, 0)
        below.set_yticks([])
        below.set_ylabel("one row per conversation")
        below.set_xticks(times, [f"{time:+d}" if time else "0" for time in times])
        below.set_xlabel("turns after (+) or before (-) the first poor turn")
        below.grid(visible=False)
        legend_above(drawing)
    if not any(np.isfinite(table["low"].astype(float)).any() for table in means.values()):
        caption += " No interval could be computed."
    alt = f"Levels of {count_of(len(order), 'conversation')} around their first poor turn. {_in_words(turns)}."
    alt += "".join(f" {which}: {ranges_in_words(table.rename(in_words_of_time))}." for which, table in means.items())
    return Figure(drawing, name, alt, caption, shown.drop(columns="row"))


def _order(turns: pd.DataFrame) -> np.ndarray:
    """Conversations by the mean level of the turns after the first poor one; those without any come last."""
    after = turns[turns["time"] > 0].groupby("conversation")["level"].mean()
    names = pd.Series(turns["conversation"].unique())
    return names.iloc[(-names.map(after)).argsort(kind="stable")].to_numpy()


def _means(axes, means: Mapping[str, pd.DataFrame]) -> None:
    axes.axvline(0, linestyle=":", linewidth=1, color=STYLE["axes.edgecolor"])
    for (which, table), color, line in zip(means.items(), COLOURS, ("-", "--", "-."), strict=False):
        known = table[np.isfinite(table["estimate"].astype(float))]
        numbers = known[["estimate", "low", "high"]].to_numpy(dtype=float)
        axes.fill_between(known.index, numbers[:, 1], numbers[:, 2], color=color, alpha=0.25, linewidth=0)
        axes.plot(known.index, numbers[:, 0], line, color=color, marker="o", markersize=3, label=which)
    axes.set_ylabel("mean level")
    axes.tick_params(labelbottom=False)


def _boxes(cells: pd.DataFrame) -> Path:
    """One path with a box for each run of neighboring cells of a row; it weighs much less than an element for each."""
    row, time = cells["row"].to_numpy(), cells["time"].to_numpy()
    starts = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(time, prepend=0) != 1))
    if not len(starts):
        return Path(np.zeros((0, 2)))
    left, right, top = time[starts] - 0.5, time[[*(starts[1:] - 1), len(time) - 1]] + 0.5, row[starts]
    corners = [(left, top), (right, top), (right, top + 1), (left, top + 1), (left, top)]
    vertices = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(vertices.reshape(-1, 2), codes * len(starts))


def _in_words(turns: pd.DataFrame) -> str:
    """How often each level was given at each time after the first poor turn."""
    counts = pd.crosstab(turns["time"], turns["level"]).reindex(columns=range(1, 6), fill_value=0)
    return "; ".join(
        f"{in_words_of_time(time)}: " + ", ".join(f"{LEVELS[level - 1]} {count:,}" for level, count in row.items())
        for time, row in counts[counts.index > 0].iterrows()
    )


check_arguments(globals())
