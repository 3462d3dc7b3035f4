"""People beside each other: their own conversations, and two raters' scores of the same ones."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.figures.source import INK, Shown, Sources, main_color
from sense7.figures.style import (
    MARKS,
    Figure,
    drawn,
    figure_of,
    legend_above,
    new_drawing,
    with_gaps,
)
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

MOST = 300
"""So many participants are drawn at most, evenly spaced in their order: more could not be distinguished."""


def ratings_by_participant(
    conversations: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Draw one column per participant, ordered by mean: a dot per conversation, a line over their range, the mean.

    Beside it stand two bars on the same scale: the middle 80 % of the participants' means, and of the distances
    of conversations from their participant's mean, centered at the mean of all.

    Parameters
    ----------
    conversations : DataFrame
        One row per conversation: participant, rating (1..5).
    name : str
        Name of the figure's data file.
    caption : str
        What to look for, n, and what is drawn.
    source : Study or Source, optional
        Whose data they are, see :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no rating. Of more than 300 participants so many are drawn, evenly spaced.

    Examples
    --------
    >>> rated = pd.DataFrame({"participant": ["P2", "P1", "P1", "P2"], "rating": [4.0, 2.0, 3.0, 4.5]})
    >>> figure = ratings_by_participant(rated, name="x", caption="n = 4 conversations.")
    >>> figure.alt.split(". ")[0]
    'Ratings of 4 conversations by 2 participants, ordered by mean'
    """
    if conversations.empty:
        return Sentence("No figure of the participants' ratings: no conversation was rated.")
    by_participant = conversations.groupby("participant", sort=False)["rating"]
    means = by_participant.mean().sort_values(kind="stable")
    means_of_rows = conversations["participant"].map(means)
    around_mean = conversations["rating"] - means_of_rows + conversations["rating"].mean()
    middle_of_means = np.percentile(means, (10, 90))
    middle_around_mean = np.percentile(around_mean, (10, 90))

    number = min(MOST, len(means))
    evenly_spaced = np.linspace(0, len(means) - 1, number).round().astype(int)
    chosen = means.iloc[evenly_spaced]
    column = conversations["participant"].map(pd.Series(range(number), index=chosen.index))
    dots = conversations.assign(column=column)[column.notna()]
    dots = dots.sort_values("column", kind="stable", ignore_index=True)
    people = count_of(len(means), "participant")
    color = main_color(source)
    if number < len(means):
        caption += f" Drawn: {MOST} of {people}, evenly spaced in their order."

    def draw():
        drawing = new_drawing(7, 3.2)
        axes, beside = drawing.subplots(1, 2, sharey=True, width_ratios=(3, 1.15))
        ratings_of_column = dots.groupby("column")["rating"]
        columns = np.arange(number)
        axes.plot(
            with_gaps(columns, columns),
            with_gaps(ratings_of_column.min(), ratings_of_column.max()),
            color=INK,
            alpha=0.5,
            linewidth=min(1.0, 80 / number),
            label="range of a person's conversations",
        )
        x = dots["column"]
        y = dots["rating"]
        axes.plot(
            with_gaps(x, x + 1e-3),
            with_gaps(y, y),
            color=color,
            alpha=0.8,
            linewidth=180 / max(number, 30),
            solid_capstyle="round",
            label="conversation",
        )
        axes.plot(
            with_gaps(columns - 0.4, columns + 0.4),
            with_gaps(chosen, chosen),
            color=INK,
            linewidth=2.5,
            label="person's mean",
        )
        axes.set(
            xlim=(-1, number),
            xticks=[],
            xlabel="one column per participant, ordered by mean",
            ylabel="rating",
        )
        axes.grid(visible=False, axis="x")
        axes.set_yticks(range(1, 6), LEVELS)
        axes.set_ylim(0.9, 5.1)
        bars = [(middle_of_means, INK), (middle_around_mean, color)]
        for position, ((low, high), color_of_bar) in enumerate(bars):
            beside.bar(position, high - low, bottom=low, width=0.55, color=color_of_bar)
        beside.set_title("middle 80% of", fontsize=10)
        beside.set_xticks([0, 1], ["people's\nmeans", "within\nperson"])
        beside.set_xlim(-0.6, 1.6)
        beside.tick_params(length=0)
        beside.grid(visible=False, axis="x")
        legend_above(drawing)
        return drawing

    ranges_in_words = []
    for values, (low, high) in (
        ("participants' means", middle_of_means),
        (
            "conversations around their participant's mean, moved to the mean of all",
            middle_around_mean,
        ),
    ):
        ranges_in_words.append(f"middle 80% of the {values}: {low:.2f} to {high:.2f}")
    rated = count_of(len(conversations), "conversation")
    alt = f"Ratings of {rated} by {people}, ordered by mean. {'; '.join(ranges_in_words)}."
    return figure_of(draw, name, alt, caption, dots.drop(columns="column"), source)


def score_pairs(
    panels: Mapping[str, pd.DataFrame],
    *,
    name: str,
    caption: str,
    limits: tuple[float, float] | None = None,
    source: Shown = None,
) -> Figure:
    """Two values of each thing as a point, such as two raters' scores; on the dashed line they are equal.

    Parameters
    ----------
    panels : mapping of str to DataFrame
        Title of the panel -> its points: the first two columns are drawn across and upwards, and named as the axes
        are to be. A third, where there is one, says to which series a point belongs.
    name, caption, source
        As for :func:`ratings_by_participant`.
    limits : tuple of float, optional
        Ends of the scale on which all rated, for whole ticks; otherwise those of the values.
    """
    colors = Sources.of(source).of_all.colors

    def draw():
        drawing = new_drawing(7, 0.9 + 7 / max(len(panels), 2))
        grid = drawing.subplots(1, len(panels), squeeze=False)[0]
        for panel, (axes, (title, points)) in enumerate(zip(grid, panels.items(), strict=True)):
            across, upwards, *series_columns = points.columns
            values = points[[across, upwards]].to_numpy(dtype=float)
            low, high = limits or (values.min(), values.max())
            ends = np.array([low, high]) + 0.04 * np.array([low - high, high - low])
            axes.plot(ends, ends, linestyle="--", linewidth=1, color=INK, alpha=0.6)
            # Each series has its look; without series, each panel.
            if series_columns:
                groups = list(points.groupby(series_columns[0], sort=False))
                labels = [drawn(series) for series, _ in groups]
                looks = range(len(groups))
            else:
                groups = [(None, points)]
                labels = [None]
                looks = [panel]
            for (_, points_of_series), label, look in zip(groups, labels, looks, strict=True):
                axes.plot(
                    points_of_series[across],
                    points_of_series[upwards],
                    MARKS[look % len(MARKS)],
                    label=label,
                    clip_on=False,
                    color=colors[look % len(colors)],
                    alpha=0.6,
                    markeredgewidth=0,
                )
            axes.set(xlim=ends, ylim=ends, xlabel=across, ylabel=upwards, aspect="equal")
            if limits:
                axes.set_xticks(np.arange(low, high + 1))
                axes.set_yticks(np.arange(low, high + 1))
            axes.set_title(title, fontsize=10, weight="bold")
        if any(points.shape[1] > 2 for points in panels.values()):
            legend_above(drawing)
        return drawing

    parts = []
    for title, points in panels.items():
        across, upwards, *_ = points.columns
        values = points[[across, upwards]].to_numpy(dtype=float)
        share_below = float((values[:, 1] < values[:, 0]).mean())
        largest_difference = np.abs(np.diff(values)).max()
        parts.append(
            f"{title}: {len(points)} points, {across} across and {upwards} upwards; "
            f"{format_number(share_below, 'share')} lie below the line of equal values, and the largest difference is "
            f"{largest_difference:.3f}."
        )
    data = pd.concat(panels, names=["panel"])
    return figure_of(draw, name, " ".join(parts), caption, data, source)
