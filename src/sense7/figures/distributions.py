"""Counts and distributions: stacked bars, lengths by condition, distances from the truth, and heat maps."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd

from sense7.figures.estimates import ranges_in_words
from sense7.figures.source import INK, Shown, Sources, main_color
from sense7.figures.style import (
    Figure,
    drawn,
    figure_of,
    has_estimate,
    ink_on,
    legend_above,
    name_parts,
    name_rows,
    new_axes,
    new_drawing,
)
from sense7.study import ABSENT, DECLINED, NOT_RATED, UNREADABLE
from sense7.tables import Sentence
from sense7.taxonomy import LEVEL_COLOURS, LEVELS


def level_distribution(
    counts: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure:
    """Shares of the answers to each rating as stacked bars: the levels from very poor to very good, then no level.

    Answers that the rating does not apply are hatched, blank cells are empty with an outline, answers that can't be
    read are dotted, and those that decline to say are crossed, all in the color of the page's text.

    Parameters
    ----------
    counts : DataFrame
        As :func:`sense7.findings.ratings.level_counts` returns it. A bar is as long as all turns of its row.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, and n.
    source : Study or Source, optional
        Whose data they are, see :func:`sense7.figures.intervals`.
    """
    words = dict(zip(range(1, 6), LEVELS, strict=True))
    words[NOT_RATED] = "unknown or not applicable"
    words[ABSENT] = "blank"
    words[UNREADABLE] = "can't be read"
    words[DECLINED] = "declined"
    hatches = {NOT_RATED: "////", ABSENT: "", UNREADABLE: "....", DECLINED: "xxxx"}
    columns = [answer for answer in words if answer in counts]
    shares = counts[columns].div(counts[columns].sum(axis=1), axis=0).fillna(0)
    answers = []
    for answer in columns:
        if answer not in hatches or counts[answer].any():
            answers.append(answer)

    @mpl.rc_context({"hatch.linewidth": 0.6})
    def draw():
        drawing, axes = new_axes(7, 1.5 + 0.36 * len(counts))
        left_ends = np.zeros(len(counts))
        parts_of_first_bar = []
        for answer in answers:
            width = 100 * shares[answer].to_numpy()
            middle = left_ends[0] + width[0] / 2
            if answer in hatches:
                look = {"facecolor": "none", "edgecolor": INK, "linewidth": 0.6, "clip_on": False}
                look["hatch"] = hatches[answer]
                parts_of_first_bar.append((words[answer], middle, INK))
            else:
                color = LEVEL_COLOURS[answer - 1]
                look = {"color": color}
                parts_of_first_bar.append((words[answer], middle, color))
            bars = np.flatnonzero(width)  # a bar without width would be drawn as a line
            axes.barh(
                bars, width[bars], left=left_ends[bars], label=words[answer], height=0.72, **look
            )
            left_ends += width
        _label_bars(axes, counts.index, "share of turns (%)", 100)
        axes.set_ylabel(str(counts.index.name or "rating"))
        if (shares[answers].iloc[0] > 0).all():
            name_parts(axes, parts_of_first_bar, -0.36)
        else:
            legend_above(drawing)
        return drawing

    rows_in_words = []
    for row in counts.index:
        shares_of_row = shares.loc[row, answers]
        parts = [f"{words[answer]} {share:.0%}" for answer, share in shares_of_row.items()]
        rows_in_words.append(f"{row}: {', '.join(parts)}")
    alt = f"Shares of the answers to each rating. {'; '.join(rows_in_words)}."
    return figure_of(draw, name, alt, caption, counts, source)


def stacked_shares(
    tables: Mapping[str, pd.DataFrame], *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Shares of a whole as stacked bars, one bar per table, from the first row, which is darkest, to the last.

    Parameters
    ----------
    tables : mapping of name -> DataFrame
        Tables of estimates with the same rows, each of shares that add up to one. A row without an
        estimate, or with a negative one, has no width; the data say which.
    name, caption, source
        As for :func:`level_distribution`.

    Returns
    -------
    Figure or Sentence
        With the share in each part that is wide enough for it; a sentence if no table has an estimate.
    """
    estimated = {}
    reasons = []
    for bar, table in tables.items():
        reasons += list(table["reason"])
        if has_estimate(table).any():
            estimated[bar] = table
    if not estimated:
        reason = "; ".join(dict.fromkeys(reasons)) or "there is nothing to show"
        return Sentence(f"No figure of shares of the variance: {reason}.")
    rows = list(next(iter(estimated.values())).index)

    def draw():
        import seaborn

        color_of_source = main_color(source)
        shades = seaborn.light_palette(color_of_source, n_colors=len(rows) + 1)[:0:-1]
        drawing, axes = new_axes(7, 1.5 + 0.45 * len(estimated))
        left_ends = np.zeros(len(estimated))
        parts_of_first_bar = []
        for row, color, ink in zip(rows, shades, ink_on(shades), strict=True):
            shares = [np.nan_to_num(table.loc[row, "estimate"]) for table in estimated.values()]
            width = np.maximum(0.0, 100 * np.array(shares))
            axes.barh(
                range(len(estimated)),
                width,
                left=left_ends,
                color=color,
                edgecolor=INK,
                linewidth=0.4,
                label=drawn(row),
                height=0.72,
            )
            parts_of_first_bar.append((drawn(row), left_ends[0] + width[0] / 2, INK))
            for bar in np.flatnonzero(width >= 4):
                axes.text(
                    left_ends[bar] + width[bar] / 2,
                    bar,
                    f"{width[bar]:.0f}",
                    color=ink,
                    ha="center",
                    va="center",
                )
            left_ends += width
        _label_bars(
            axes, list(estimated), "share of the variance (%)", max(100, round(left_ends.max(), 6))
        )
        name_parts(axes, parts_of_first_bar, -0.36)
        return drawing

    bars = [f"{bar}: {ranges_in_words(table)}." for bar, table in estimated.items()]
    alt = f"Shares of the variance. {' '.join(bars)}"
    data = pd.concat(estimated, names=["rating"])
    return figure_of(draw, name, alt, caption, data, source)


def _label_bars(axes, names: Sequence, label: str, right: float) -> None:
    name_rows(axes, [drawn(name) for name in names])
    axes.set(xlim=(0, right), xlabel=label)


def distributions(
    frames: Mapping[str, pd.DataFrame],
    *,
    name: str,
    label: str,
    caption: str,
    source: Shown = None,
) -> Figure | Sentence:
    """Letter-value plots (seaborn's boxenplot): one panel per quantity, one row per condition.

    The widest box holds the middle half of the values, each further pair of boxes half of what is left, so that tails
    are shown as well (Hofmann, Wickham and Kafadar, 2017).

    Parameters
    ----------
    frames : mapping of str -> DataFrame
        Label of the axis -> condition, value (no NaN); those without a row are left out.
    name, caption, source
        As for :func:`level_distribution`.
    label : str
        What is shown, for those who do not see it.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no value at all. An axis whose largest value is more than twenty times the
        median is logarithmic, and says so. The data are the quartiles.
    """
    import seaborn

    frames = {axis: frame for axis, frame in frames.items() if len(frame)}
    if not frames:
        return Sentence(f"No figure of {label}: there is nothing to show.")
    quartiles = {}
    for axis, frame in frames.items():
        description = frame.groupby("condition")["value"].describe().rename(columns=str)
        quartiles[axis] = description[["count", "25%", "50%", "75%"]]
    rows = max(len(table) for table in quartiles.values())

    def draw():
        height = len(frames) * (0.8 + 0.36 * rows)
        drawing = new_drawing(7, height)
        grid = drawing.subplots(len(frames), squeeze=False)[:, 0]
        for axes, (axis, frame) in zip(grid, frames.items(), strict=True):
            conditions = list(quartiles[axis].index)
            seaborn.boxenplot(
                frame,
                x="value",
                y="condition",
                order=conditions,
                color=main_color(source),
                width=0.7,
                linecolor=INK,
                linewidth=0.5,
                line_kws={"color": INK, "linewidth": 1.8},
                flier_kws={"s": 8, "facecolor": INK, "linewidth": 0},
                ax=axes,
            )
            label_of_axis = axis
            median = frame["value"].median()
            if median > 0 and frame["value"].max() > 20 * median:
                # Linear up to one: seconds and words may be zero.
                axes.set_xscale("symlog", linthresh=1)
                axes.xaxis.set_major_formatter("{x:,.0f}")
                label_of_axis = f"{axis} (logarithmic axis)"
            axes.set(xlabel=label_of_axis, ylabel="condition")
            axes.set_yticks(axes.get_yticks(), [drawn(condition) for condition in conditions])
            axes.grid(visible=False, axis="y")
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
    return figure_of(draw, name, alt, caption, data, source)


def heat_map(
    matrix: pd.DataFrame, *, name: str, label: str, caption: str, source: Shown = None
) -> Figure | Sentence:
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
    source : Study or Source, optional
        Whose data they are, see :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is not one number.
    """
    is_square = matrix.index.equals(matrix.columns)
    cells = matrix
    if is_square:
        cells = matrix.mask(np.eye(len(matrix), dtype=bool))
    numbers = cells.to_numpy(dtype=float)
    if not np.isfinite(numbers).any():
        if is_square:
            return Sentence(f"No figure of {label}: no two of these were rated together and vary.")
        return Sentence(f"No figure of {label}: nothing was given in this data set.")
    if all(column_type.kind in "iu" for column_type in cells.dtypes):
        number_format = ",.0f"
        color_limits = (0, np.nanmax(numbers))
    else:
        # The colors begin and end at whole tenths, at least one apart.
        number_format = "z.2f"
        lowest = np.floor(10 * np.nanmin(numbers))
        highest = max(np.ceil(10 * np.nanmax(numbers)), lowest + 1)
        color_limits = (lowest / 10, highest / 10)
    texts = [_number(cell, number_format) for cell in numbers.ravel()]
    height = 1.6 + 0.27 * len(matrix)
    if is_square:
        height = 5.4

    def draw():
        drawing, axes = new_axes(7, height)
        draw_cells(axes, cells, texts, color_limits, Sources.of(source), is_square=is_square)
        axes.set_title(label, fontsize=10, loc="left")
        return drawing

    parts = []
    for index, (row, cells_of_row) in enumerate(cells.iterrows()):
        if is_square:  # each pair once
            cells_of_row = cells_of_row.iloc[index + 1 :]  # noqa: PLW2901 -- the same row
        columns_in_words = []
        for column, cell in cells_of_row.items():
            columns_in_words.append(f"{column} {_number(cell, number_format) or 'none'}")
        if columns_in_words:
            parts.append(f"{row}: {', '.join(columns_in_words)}")
    alt = f"Heat map of {label}. {'; '.join(parts)}."
    return figure_of(draw, name, alt, caption, matrix, source)


def _number(cell: float, number_format: str) -> str:
    """A number as it stands in its cell; "" if there is none."""
    if np.isfinite(cell):
        return f"{cell:{number_format}}"
    return ""


def draw_cells(
    axes,
    cells: pd.DataFrame,
    texts: Sequence[str],
    color_limits: tuple[float, float],
    sources: Sources,
    *,
    is_square: bool = False,
) -> None:
    """Draw seaborn's heat map with a text in each cell, row by row, and a legend of its shades."""
    import seaborn

    numbers = cells.astype(float).rename(index=str, columns=str)
    # Ten shades: the legend of a continuous map would be an image.
    shades = seaborn.light_palette(sources.of_all.colors[0], n_colors=10)
    seaborn.heatmap(
        numbers,
        cmap=mpl.colors.ListedColormap(shades),
        annot=np.reshape(texts, numbers.shape),
        fmt="",
        vmin=color_limits[0],
        vmax=color_limits[1],
        square=is_square,
        linewidths=0.6,
        linecolor="white",
        cbar_kws={"shrink": 0.9, "pad": 0.02, "aspect": 30},
        ax=axes,
    )
    # Black or white, whichever stands out more: seaborn's own choice is faint on mid-grey.
    is_filled = np.isfinite(numbers.to_numpy())
    fills = axes.collections[0].get_facecolors()[is_filled.ravel()]
    for number, ink in zip(axes.texts, ink_on(fills), strict=True):
        number.set_color(ink)
    axes.collections[0].colorbar.outline.set_visible(False)
    longest = max(8, 52 // len(cells.columns))
    names = []
    for column in cells.columns:
        names.append(textwrap.fill(drawn(column, 40), longest, break_long_words=False))
    axes.set_xticks(axes.get_xticks(), names, rotation=0, fontsize=9)
    axes.set_yticks(axes.get_yticks(), [drawn(row, 40) for row in cells.index], rotation=0)
    axes.set(xlabel=drawn(cells.columns.name or ""), ylabel=drawn(cells.index.name or ""))
    axes.tick_params(length=0)
    axes.grid(visible=False)
