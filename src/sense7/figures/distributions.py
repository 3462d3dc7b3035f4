"""Distributions: levels of each rating as stacked bars, and lengths by condition as boxes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.figures.figure import (
    Figure,
    drawn,
    figure_of,
    name_rows,
    new_axes,
    new_drawing,
    wrapped,
)
from sense7.figures.source import INK, Shown, main_color
from sense7.study import ABSENT, DECLINED, NOT_RATED, UNREADABLE
from sense7.tables import Sentence
from sense7.taxonomy import LEVEL_COLOURS, LEVELS

_WITHOUT_LEVEL = {
    NOT_RATED: ("unknown or not applicable", "////"),
    ABSENT: ("blank", ""),
    UNREADABLE: ("can't be read", "...."),
    DECLINED: ("declined", "xxxx"),
}
"""Answers without a level -> their words and the pattern of their bars."""


def level_distribution(
    counts: pd.DataFrame, *, name: str, title: str, caption: str, source: Shown = None
) -> Figure:
    """Shares of the answers to each rating as stacked bars: the levels from very poor to very good, then no level.

    Answers that the rating does not apply are hatched, blank cells are empty with an outline, answers that can't be
    read are dotted, and those that decline to say are crossed, all in the color of the page's text.

    Parameters
    ----------
    counts : DataFrame
        As :func:`sense7.findings.ratings.level_counts` returns it. A bar is as long as all turns of its row.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    """
    words = dict(enumerate(LEVELS, 1))
    for answer, (text, _) in _WITHOUT_LEVEL.items():
        if answer in counts and counts[answer].any():
            words[answer] = text
    counts_shown = counts[list(words)]
    shares = counts_shown.div(counts_shown.sum(axis=1), axis=0).fillna(0)
    left_ends = shares.cumsum(axis=1) - shares

    def draw(width: float):
        names = [wrapped(drawn(rating), 0.25 * width) for rating in counts.index]
        drawing, axes = new_axes(width, 0.7 + 0.34 * len(counts))
        for answer, text in words.items():
            look = {"edgecolor": INK, "linewidth": 0.6}
            if answer in _WITHOUT_LEVEL:
                look |= {"facecolor": "none", "hatch": _WITHOUT_LEVEL[answer][1]}
            else:
                look["facecolor"] = LEVEL_COLOURS[answer - 1]
            bars = np.flatnonzero(shares[answer])  # a bar without length would be drawn as a line
            lengths = 100 * shares[answer].iloc[bars]
            left = 100 * left_ends[answer].iloc[bars]
            axes.barh(bars, lengths, left=left, height=0.72, label=text, **look)
        name_rows(axes, names)
        axes.set(xlim=(0, 100), xlabel="share of turns (%)")
        return drawing

    rows_in_words = []
    for row, shares_of_row in shares.iterrows():
        parts = [f"{words[answer]} {share:.0%}" for answer, share in shares_of_row.items()]
        rows_in_words.append(f"{row}: {', '.join(parts)}")
    alt = f"Shares of the answers to each rating. {'; '.join(rows_in_words)}."
    return figure_of(draw, name, title, alt, caption, counts, source)


def distributions(
    frames: Mapping[str, pd.DataFrame],
    *,
    name: str,
    title: str,
    label: str,
    caption: str,
    source: Shown = None,
) -> Figure | Sentence:
    """Box plots: one panel per quantity, one row per condition.

    A box holds the middle half of the values, and its line is the median; whiskers reach from the first to the last
    percentile, and dots are the values beyond.

    Parameters
    ----------
    frames : mapping of str -> DataFrame
        Label of the axis -> condition, value (no NaN); those without a row are left out.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    label : str
        What is shown, for those who do not see it.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no value at all. An axis whose largest value is more than twenty times the
        median is logarithmic, and says so. The data are the quartiles.
    """
    frames = {axis: frame for axis, frame in frames.items() if len(frame)}
    if not frames:
        return Sentence(f"No figure of {label}: there is nothing to show.")
    quartiles = {}
    for axis, frame in frames.items():
        description = frame.groupby("condition")["value"].describe().rename(columns=str)
        quartiles[axis] = description[["count", "25%", "50%", "75%"]]
    rows = max(len(table) for table in quartiles.values())
    color = main_color(source)

    def draw(width: float):
        drawing = new_drawing(width, len(frames) * (0.7 + 0.34 * rows))
        grid = drawing.subplots(len(frames), squeeze=False)[:, 0]
        for axes, (axis, frame) in zip(grid, frames.items(), strict=True):
            conditions = list(quartiles[axis].index)
            values = [frame.loc[frame["condition"] == name, "value"] for name in conditions]
            axes.boxplot(
                values,
                orientation="horizontal",
                positions=range(len(conditions)),
                whis=(1, 99),  # codespell:ignore
                widths=0.6,
                patch_artist=True,
                boxprops={"facecolor": color, "edgecolor": INK, "linewidth": 0.6},
                whiskerprops={"color": INK},
                capprops={"color": INK},
                medianprops={"color": INK, "linewidth": 2},
                flierprops={"marker": ".", "markerfacecolor": INK, "markeredgewidth": 0},
            )
            label_of_axis = axis
            median = frame["value"].median()
            if median > 0 and frame["value"].max() > 20 * median:
                # Linear up to one: seconds and words may be zero.
                axes.set_xscale("symlog", linthresh=1)
                axes.xaxis.set_major_formatter("{x:,.0f}")
                label_of_axis = f"{axis} (logarithmic axis)"
            name_rows(axes, [wrapped(drawn(condition), 0.3 * width) for condition in conditions])
            axes.set_xlabel(wrapped(label_of_axis, 0.6 * width))
        return drawing

    parts = []
    for axis, table in quartiles.items():
        conditions = []
        for condition, row in table.iterrows():
            conditions.append(
                f"{condition}: median {row['50%']:g}, quartiles {row['25%']:g} and {row['75%']:g}, "
                f"n = {row['count']:,.0f}"
            )
        parts.append(f"{axis}: {'; '.join(conditions)}")
    data = pd.concat(quartiles, names=["quantity"])
    data = data.rename(
        columns={"count": "n", "25%": "lower quartile", "50%": "median", "75%": "upper quartile"}
    )
    alt = f"{label}. {'. '.join(parts)}."
    return figure_of(draw, name, title, alt, caption, data, source)
