"""Figures that any table of estimates or counts can have."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.estimators.estimates import require_estimates
from sense7.figures.direct_labels import name_parts
from sense7.figures.narrow import legend_above
from sense7.figures.style import COLOURS, LEVEL_COLOURS, STYLE, Figure, drawn, ink_on, new_axes, styled
from sense7.record import format_number
from sense7.study import ABSENT, NOT_RATED, UNREADABLE
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "counts_by_group",
    "counts_by_two_groups",
    "distributions",
    "histogram",
    "intervals",
    "level_distribution",
    "ranges_in_words",
    "stacked_shares",
]

_WITHOUT_LEVEL = {
    NOT_RATED: ("unknown or not applicable", "////"),
    ABSENT: ("blank", ""),
    UNREADABLE: ("can't be read", "...."),
}
"""Answers without a level: their words, and their hatching."""

HEAVY_TAIL = 20
"""An axis is logarithmic if the largest value is more than so many times the median."""


NARROWEST_LABEL = 0.04
"""A part of a stacked bar has its share written into it from this share on."""


def ranges_in_words(table: pd.DataFrame) -> str:
    """Rows of a table of estimates in words."""
    parts = []
    for name, row in table.iterrows():
        if not np.isfinite(row["estimate"]):
            parts.append(f"{name}: not available ({row['reason']})")
            continue
        text = f"{name}: {format_number(row['estimate'], row['unit'])}"
        if np.isfinite(row["low"]):
            text += f" ({format_number(row['low'], row['unit'])} to {format_number(row['high'], row['unit'])})"
        parts.append(text)
    return "; ".join(parts)


def intervals(
    tables: Mapping[str, pd.DataFrame] | pd.DataFrame,
    *,
    name: str,
    label: str,
    caption: str,
    limits: tuple[float, float] | None = None,
    zero: bool = False,
) -> Figure | Sentence:
    """Estimates with their intervals, one row for each; every table has its color and mark.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates with the same rows; several are drawn side by side.
    name : str
        Name of the figure's data file.
    label : str
        Label of the axis, with its unit; shares are drawn in percent.
    caption : str
        n and the kind of interval.
    limits : tuple, optional
        Ends of the axis, in the units drawn.
    zero : bool
        Whether a line marks zero, for what is judged by which side of it an interval lies on.

    Returns
    -------
    Figure or Sentence
        Rows without an estimate say so in their place; a sentence if there is no row.
    """
    tables = dict(tables) if isinstance(tables, Mapping) else {"": tables}
    for table in tables.values():
        require_estimates("intervals", "tables", table)
    rows = list(next(iter(tables.values())).index)
    if not rows:
        return Sentence(f"No figure of {label}: there is nothing to show.")
    scale = 100 if next(iter(tables.values()))["unit"].str.startswith("share").all() else 1
    with styled():
        drawing, axes = new_axes(7, 0.8 + 0.36 * len(rows) * max(1, 0.6 * len(tables)))
        offsets = np.linspace(-0.18, 0.18, len(tables)) if len(tables) > 1 else [0]
        for index, (label_of_table, table) in enumerate(tables.items()):
            places = np.arange(len(rows)) + offsets[index]
            numbers = scale * table.loc[rows, ["estimate", "low", "high"]].to_numpy(dtype=float)
            numbers, places = numbers[known := np.isfinite(numbers[:, 0])], places[known]
            axes.errorbar(
                numbers[:, 0],
                places,
                xerr=np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T,
                fmt="os^D"[index % 4],
                color=COLOURS[index % len(COLOURS)],
                capsize=3,
                label=drawn(label_of_table) or None,
            )
        if limits:
            axes.set_xlim(limits)
        if zero:
            axes.axvline(0, color=STYLE["text.color"], linewidth=1, linestyle="--", zorder=1)
        for place, row in enumerate(rows):
            if not any(np.isfinite(table.loc[row, "estimate"]) for table in tables.values()):
                axes.text(
                    0.01,
                    place,
                    "not available in this data set",
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    style="italic",
                )
        axes.set_yticks(range(len(rows)), [drawn(row) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        if len(tables) > 1:
            legend_above(drawing)
    if not any(np.isfinite(table["low"]).any() for table in tables.values()):
        caption += " No interval could be computed."
    data = pd.concat(tables, names=["interval"]) if len(tables) > 1 else next(iter(tables.values()))
    alt = f"{label}. " + " ".join(
        f"{which + ': ' if which else ''}{ranges_in_words(table)}." for which, table in tables.items()
    )
    return Figure(drawing, name, alt, caption, data)


def level_distribution(counts: pd.DataFrame, *, name: str, caption: str) -> Figure:
    """Shares of the answers to each rating as stacked bars: the levels from very poor to very good, then no level.

    Answers that decline to rate are hatched, blank cells are empty with an outline, and answers that can't be read are
    dotted, all in the color of the page's text, so that they read on light and dark pages.

    Parameters
    ----------
    counts : DataFrame
        As :func:`sense7.findings.ratings.level_counts` returns it. A bar is as long as all turns of its row.
    name, caption : str
        As for :func:`intervals`.
    """
    answers = [answer for answer in (*range(1, 6), *_WITHOUT_LEVEL) if answer in counts]
    shares = counts[answers].div(counts[answers].sum(axis=1), axis=0).fillna(0)
    words = dict(zip(range(1, 6), LEVELS, strict=True)) | {key: word for key, (word, _) in _WITHOUT_LEVEL.items()}
    answers = [answer for answer in answers if answer not in _WITHOUT_LEVEL or counts[answer].any()]
    with styled(), mpl.rc_context({"hatch.linewidth": 0.6}):
        drawing, axes = new_axes(7, 1.5 + 0.36 * len(counts))
        left, parts = np.zeros(len(counts)), []
        for answer in answers:
            width = shares[answer].to_numpy()
            look = (
                {"facecolor": "none", "edgecolor": STYLE["text.color"], "linewidth": 0.6, "clip_on": False}
                | {"hatch": _WITHOUT_LEVEL[answer][1]}
                if answer in _WITHOUT_LEVEL
                else {"color": LEVEL_COLOURS[answer - 1]}
            )
            parts.append((words[answer], 100 * (left[0] + width[0] / 2), look.get("color", STYLE["text.color"])))
            bars = np.flatnonzero(width)  # a bar without width would be drawn as a line
            axes.barh(bars, 100 * width[bars], left=100 * left[bars], label=words[answer], height=0.72, **look)
            left += width
        axes.set_yticks(range(len(counts)), [drawn(row) for row in counts.index])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of turns (%)")
        axes.grid(visible=False, axis="y")
        if (shares[answers].iloc[0] > 0).all():
            name_parts(axes, parts, -0.36)
        else:
            legend_above(drawing)
    described = []
    for row in counts.index:
        parts = [f"{words[answer]} {share:.0%}" for answer, share in shares.loc[row, answers].items()]
        described.append(f"{row}: {', '.join(parts)}")
    alt = "Shares of the answers to each rating. " + "; ".join(described) + "."
    return Figure(drawing, name, alt, caption, counts)


def stacked_shares(tables: Mapping[str, pd.DataFrame], *, name: str, caption: str) -> Figure | Sentence:
    """Shares of a whole as stacked bars, one bar per table and one color per row, in the order of the rows.

    Parameters
    ----------
    tables : mapping of name -> DataFrame
        Tables of estimates with the same rows, each of shares that add up to one. A row without an
        estimate, or with a negative one, has no width; the data say which.
    name, caption : str
        As for :func:`intervals`.

    Returns
    -------
    Figure or Sentence
        With the share in each part that is wide enough for it; a sentence if no table has an estimate.
    """
    for table in tables.values():
        require_estimates("stacked_shares", "tables", table)
    known = {bar: table for bar, table in tables.items() if np.isfinite(table["estimate"]).any()}
    if not known:
        reasons = list(dict.fromkeys(reason for table in tables.values() for reason in table["reason"]))
        return Sentence(f"No figure of shares of the variance: {'; '.join(reasons) or 'there is nothing to show'}.")
    rows = list(next(iter(known.values())).index)
    with styled():
        drawing, axes = new_axes(7, 1.3 + 0.45 * len(known))
        left = np.zeros(len(known))
        for place, row in enumerate(rows):
            width = np.array([max(0.0, np.nan_to_num(table.loc[row, "estimate"])) for table in known.values()])
            color = (*COLOURS, "#B0B0B0")[place % (len(COLOURS) + 1)]
            bars = axes.barh(
                range(len(known)), 100 * width, left=100 * left, color=color, label=drawn(row), height=0.72
            )
            (ink,) = ink_on([mpl.colors.to_rgb(color)])
            labels = [f"{100 * share:.0f}" if share >= NARROWEST_LABEL else "" for share in width]
            axes.bar_label(bars, labels=labels, label_type="center", color=ink)
            left += width
        axes.set_yticks(range(len(known)), [drawn(bar) for bar in known])
        axes.set_ylim(len(known) - 0.5, -0.5)
        axes.set_xlim(0, 100 * max(1, left.max()))
        axes.set_xlabel("share of the variance (%)")
        axes.grid(visible=False, axis="y")
        legend_above(drawing)
    alt = "Shares of the variance. " + " ".join(f"{bar}: {ranges_in_words(table)}." for bar, table in known.items())
    data = pd.concat(known, names=["rating"])
    return Figure(drawing, name, alt, caption, data)


def counts_by_group(counts: pd.Series, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Counts of groups as bars, the number at the end of each; a sentence if there are none.

    Parameters
    ----------
    counts : Series of int
        Indexed by group.
    name, label, caption : str
        As for :func:`intervals`.
    """
    if counts.empty:
        return Sentence(f"No figure of {label}: nothing was given in this data set.")
    with styled():
        drawing, axes = new_axes(7, 0.9 + 0.34 * len(counts))
        bars = axes.barh(range(len(counts)), counts.to_numpy(), color=COLOURS[0], height=0.7)
        axes.bar_label(bars, labels=[f"{count:,}" for count in counts], padding=3)
        axes.set_yticks(range(len(counts)), [drawn(group) for group in counts.index])
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.1)
    alt = f"{label}. " + "; ".join(f"{group}: {count:,}" for group, count in counts.items()) + "."
    return Figure(drawing, name, alt, caption, counts.to_frame("count"))


def histogram(values: pd.Series, *, name: str, label: str, caption: str) -> Figure:
    """How often each whole number occurs.

    Parameters
    ----------
    values : Series of int
        What is counted.
    name, label, caption : str
        As for :func:`intervals`.
    """
    counts = values.value_counts().sort_index()
    with styled():
        drawing, axes = new_axes(7, 2.8)
        axes.bar(counts.index, counts.to_numpy(), color=COLOURS[0], width=0.8)
        axes.set_xlabel(label)
        axes.set_ylabel("conversations")
        # A single value would otherwise fill the axis.
        axes.set_xlim(counts.index.min() - 1.5, counts.index.max() + 1.5)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        axes.grid(visible=False, axis="x")
    alt = (
        f"Histogram of {label}: from {counts.index.min()} to {counts.index.max()}, median {values.median():g}, "
        f"most often {counts.idxmax()} ({count_of(int(counts.max()), 'time')})."
    )
    return Figure(drawing, name, alt, caption, counts.rename_axis("value").to_frame("conversations"))


def distributions(frames: Mapping[str, pd.DataFrame], *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Letter-value plots (seaborn's boxenplot): one panel per quantity, one row per condition.

    The widest box holds the middle half of the values, each further pair of boxes half of what is left, so that tails
    are shown as well (Hofmann, Wickham and Kafadar, 2017).

    Parameters
    ----------
    frames : mapping of str -> DataFrame
        Label of the axis -> condition, value (no NaN); those without a row are left out.
    name, caption : str
        As for :func:`intervals`.
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
    quartiles = {
        axis: frame.groupby("condition")["value"].describe().rename(columns=str)[["count", "25%", "50%", "75%"]]
        for axis, frame in frames.items()
    }
    rows = max(map(len, quartiles.values()))
    ink = STYLE["text.color"]
    with styled():
        drawing = MatplotlibFigure(figsize=(7, len(frames) * (0.8 + 0.36 * rows)), layout="constrained")
        for axes, (axis, frame) in zip(drawing.subplots(len(frames), squeeze=False)[:, 0], frames.items(), strict=True):
            seaborn.boxenplot(
                frame,
                x="value",
                y="condition",
                order=list(quartiles[axis].index),
                color=COLOURS[5],
                width=0.7,
                linecolor=ink,
                linewidth=0.5,
                line_kws={"color": ink, "linewidth": 1.8},
                flier_kws={"s": 8, "facecolor": ink, "linewidth": 0},
                ax=axes,
            )
            tail = frame["value"].max() > HEAVY_TAIL * frame["value"].median() > 0
            if tail:
                # Linear up to one: seconds and words may be zero.
                axes.set_xscale("symlog", linthresh=1)
                axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.set(xlabel=f"{axis} (logarithmic axis)" if tail else axis, ylabel="")
            axes.set_yticks(axes.get_yticks(), [drawn(condition) for condition in quartiles[axis].index])
            axes.grid(visible=False, axis="y")
    parts = [
        f"{axis}: "
        + "; ".join(
            f"{condition}: median {row['50%']:g}, quartiles {row['25%']:g} and {row['75%']:g}, n = {row['count']:,.0f}"
            for condition, row in table.iterrows()
        )
        for axis, table in quartiles.items()
    ]
    data = pd.concat(quartiles, names=["quantity"])
    data = data.rename(columns={"count": "n", "25%": "lower quartile", "50%": "median", "75%": "upper quartile"})
    return Figure(drawing, name, f"{label}. {'. '.join(parts)}.", caption, data)


def counts_by_two_groups(counts: pd.DataFrame, *, name: str, label: str, caption: str) -> Figure | Sentence:
    """Counts of two groupings as a heat map with the numbers in its cells; a sentence if there are none.

    Parameters
    ----------
    counts : DataFrame of int
        Rows and columns are groups.
    name, label, caption : str
        As for :func:`intervals`; the label is what the numbers in the cells are.
    """
    import seaborn

    if counts.empty:
        return Sentence(f"No figure of {label}: nothing was given in this data set.")
    with styled():
        drawing, axes = new_axes(7, 1.6 + 0.32 * len(counts))
        # cividis is even in lightness, and the same to colour-blind readers.
        seaborn.heatmap(counts, annot=True, fmt=",d", cmap="cividis", vmin=0, cbar=False, ax=axes)
        (cells,) = axes.collections
        cells.update_scalarmappable()  # gives the cells their colours
        for text, ink in zip(axes.texts, ink_on(cells.get_facecolors()), strict=True):
            text.set_color(ink)
        axes.set_xticks(axes.get_xticks(), [drawn(column, 40) for column in counts.columns], rotation=30, ha="right")
        axes.set_yticks(axes.get_yticks(), [drawn(row, 40) for row in counts.index], rotation=0)
        axes.set(xlabel=counts.columns.name or "", ylabel=counts.index.name or "")
        axes.set_title(label, fontsize=10, loc="left")
        axes.tick_params(length=0)
    parts = [
        f"{row}: " + ", ".join(f"{column} {count:,}" for column, count in counts.loc[row].items())
        for row in counts.index
    ]
    return Figure(drawing, name, f"Heat map of {label}. {'; '.join(parts)}.", caption, counts)


check_arguments(globals())
