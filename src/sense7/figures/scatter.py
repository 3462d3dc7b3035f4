"""Points: each person's conversations, and two values of the same things."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.figures.figure import MARKS, WIDE, Figure, drawn, figure_of, new_drawing, wrapped
from sense7.figures.source import INK, Shown, Sources, main_color
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of


def ratings_by_participant(
    conversations: pd.DataFrame, *, name: str, title: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """One column per participant, ordered by mean: a dot per conversation, a stroke at the mean.

    Beside it stand two bars on the same scale: the middle 80 % of the participants' means, and of the distances
    of conversations from their participant's mean, centered at the mean of all.

    Parameters
    ----------
    conversations : DataFrame
        One row per conversation: participant, rating (1..5).
    name, title, caption, source
        As for :func:`sense7.figures.forest`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no rating.

    Examples
    --------
    >>> rated = pd.DataFrame({"participant": ["P2", "P1", "P1", "P2"], "rating": [4.0, 2.0, 3.0, 4.5]})
    >>> figure = ratings_by_participant(rated, name="x", title="People differ", caption="n = 4 conversations.")
    >>> figure.alt.split(". ")[1]
    'Ratings of 4 conversations by 2 participants, ordered by mean'
    """
    if conversations.empty:
        return Sentence("No figure of the participants' ratings: no conversation was rated.")
    ratings = conversations["rating"]
    means = conversations.groupby("participant", sort=False)["rating"].mean()
    means = means.sort_values(kind="stable")
    around_mean = ratings - conversations["participant"].map(means) + ratings.mean()
    middle_of_means = np.percentile(means, (10, 90))
    middle_around_mean = np.percentile(around_mean, (10, 90))

    column = conversations["participant"].map(pd.Series(range(len(means)), index=means.index))
    dots = conversations.assign(column=column)
    dots = dots.sort_values("column", kind="stable", ignore_index=True)
    people = count_of(len(means), "participant")
    color = main_color(source)

    def draw(width: float):
        drawing = new_drawing(width, 3.0)
        axes, beside = drawing.subplots(1, 2, sharey=True, width_ratios=(0.4 * width, 1))
        size = min(6, 60 * width / len(means))
        axes.plot(dots["column"], dots["rating"], "o", color=color, markersize=size / 3 + 1.5,
                  markeredgewidth=0, label="conversation")  # fmt: skip
        axes.plot(range(len(means)), means, "_", color=INK, markersize=size + 2, markeredgewidth=2,
                  label="person's mean")  # fmt: skip
        axes.set(xlim=(-1, len(means)), xticks=[], ylabel="rating")
        axes.set_xlabel(wrapped("one column per participant, by mean", 0.4 * width))
        axes.grid(visible=False, axis="x")
        axes.set_yticks(range(1, 6), LEVELS)
        axes.set_ylim(0.9, 5.1)
        middles = [(middle_of_means, INK), (middle_around_mean, color)]
        for index, ((low, high), color_of_bar) in enumerate(middles):
            beside.bar(index, high - low, bottom=low, width=0.55, color=color_of_bar)
        beside.set_title("middle 80%", fontsize=10)
        beside.set_xticks([0, 1], ["means", "within"])
        beside.set_xlim(-0.6, 1.6)
        beside.grid(visible=False, axis="x")
        return drawing

    rated = count_of(len(conversations), "conversation")
    low, high = middle_of_means
    alt = f"Ratings of {rated} by {people}, ordered by mean. "
    alt += f"Middle 80% of the participants' means: {low:.2f} to {high:.2f}; "
    low, high = middle_around_mean
    alt += f"of conversations around their participant's mean: {low:.2f} to {high:.2f}."
    return figure_of(draw, name, title, alt, caption, dots.drop(columns="column"), source)


def score_pairs(
    panels: Mapping[str, pd.DataFrame],
    *,
    name: str,
    title: str,
    caption: str,
    source: Shown = None,
) -> Figure:
    """Two values of each thing as a point, such as two raters' scores; on the dashed line they are equal.

    Parameters
    ----------
    panels : mapping of str to DataFrame
        Title of the panel -> its points: the first two columns are drawn across and upwards, and named as the axes
        are to be. A third, where there is one, says to which series a point belongs.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    """
    colors = Sources.of(source).source().colors

    def draw(width: float):
        columns = 1 if width < WIDE else len(panels)
        rows = len(panels) // columns
        drawing = new_drawing(width, rows * (0.3 + 0.98 * width / columns))
        grid = drawing.subplots(rows, columns, squeeze=False).ravel()
        for axes, (heading, points) in zip(grid, panels.items(), strict=True):
            across, upwards, *series_columns = points.columns
            values = points[[across, upwards]].to_numpy(dtype=float)
            low, high = values.min(), values.max()
            ends = np.array([low, high]) + 0.04 * np.array([low - high, high - low])
            axes.plot(ends, ends, linestyle="--", linewidth=1, color=INK)
            groups = [(None, points)]
            if series_columns:
                groups = list(points.groupby(series_columns[0], sort=False))
            for index, (series, points_of_series) in enumerate(groups):
                axes.plot(
                    points_of_series[across],
                    points_of_series[upwards],
                    MARKS[index % len(MARKS)],
                    label=drawn(series) if series_columns else None,
                    clip_on=False,
                    color=colors[index % len(colors)],
                    alpha=0.85,
                    markeredgewidth=0,
                )
            axes.set(xlim=ends, ylim=ends, aspect="equal")
            axes.set_xlabel(wrapped(across, 2.6))
            axes.set_ylabel(wrapped(upwards, 2.6))
            axes.set_title(wrapped(drawn(heading), 2.4), fontsize=10, pad=12)
        return drawing

    parts = []
    for heading, points in panels.items():
        across, upwards, *_ = points.columns
        values = points[[across, upwards]].to_numpy(dtype=float)
        share_below = float((values[:, 1] < values[:, 0]).mean())
        largest_difference = np.abs(np.diff(values)).max()
        parts.append(
            f"{heading}: {len(points)} points, {across} across and {upwards} upwards; "
            f"{format_number(share_below, 'share')} lie below the line of equal values, and the largest difference is "
            f"{largest_difference:.3f}."
        )
    data = pd.concat(panels, names=["panel"])
    return figure_of(draw, name, title, " ".join(parts), caption, data, source)
