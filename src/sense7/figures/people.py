"""People beside each other: their own conversations, and two raters' scores of the same ones."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.figures.style import COLOURS, INK, MARKS, Figure, drawn, legend_above, styled
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

MOST = 300
"""So many participants are drawn at most, evenly spaced in their order: more could not be distinguished."""


def ratings_by_participant(
    conversations: pd.DataFrame, *, name: str, caption: str
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
    means = (
        conversations.groupby("participant", sort=False)["rating"].mean().sort_values(kind="stable")
    )
    own = (
        conversations["rating"]
        - conversations["participant"].map(means)
        + conversations["rating"].mean()
    )
    middles = {
        "participants' means": np.percentile(means, (10, 90)),
        "conversations around their participant's mean, moved to the mean of all": np.percentile(
            own, (10, 90)
        ),
    }
    number = min(MOST, len(means))
    chosen = means.iloc[np.linspace(0, len(means) - 1, number).round().astype(int)]
    place = conversations["participant"].map(pd.Series(range(number), index=chosen.index))
    shown = conversations.assign(place=place)[place.notna()].sort_values(
        "place", kind="stable", ignore_index=True
    )
    people = count_of(len(means), "participant")
    if number < len(means):
        caption += f" Drawn: {MOST} of {people}, evenly spaced in their order."

    @styled()
    def draw() -> MatplotlibFigure:
        drawing = MatplotlibFigure(figsize=(7, 3.2), layout="constrained")
        axes, beside = drawing.subplots(1, 2, sharey=True, width_ratios=(3, 1.15))
        # Each kind of mark is one path of the drawing, with a gap after each stroke: elements of their own weigh more.
        ranges = shown.groupby("place")["rating"].agg(["min", "max"]).to_numpy()
        gaps, columns = np.full(number, np.nan), np.arange(number)
        strokes = (
            np.column_stack([columns, columns, gaps]).ravel(),
            np.column_stack([ranges, gaps]).ravel(),
        )
        axes.plot(*strokes, color=INK, alpha=0.35, linewidth=min(0.5, 40 / number))
        dots = {
            "alpha": 0.8,
            "linewidth": 180 / max(number, 30),
            "solid_capstyle": "round",
            "label": "conversation",
        }
        x, y, gap = shown["place"], shown["rating"], np.full(len(shown), np.nan)
        strokes = np.column_stack([x, x + 1e-3, gap]).ravel(), np.column_stack([y, y, gap]).ravel()
        axes.plot(*strokes, color=COLOURS[0], **dots)
        ends = np.column_stack([columns - 0.4, columns + 0.4, gaps]).ravel()
        axes.plot(
            ends,
            np.column_stack([chosen, chosen, gaps]).ravel(),
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
        for at, ((low, high), color) in enumerate(
            zip(middles.values(), (INK, COLOURS[0]), strict=True)
        ):
            beside.bar(at, high - low, bottom=low, width=0.55, color=color)
        beside.set_title("middle 80%", fontsize=10)
        beside.set_xticks([0, 1], ["people's\nmeans", "within\nperson"])
        beside.set_xlim(-0.6, 1.6)
        beside.tick_params(length=0)
        beside.grid(visible=False, axis="x")
        legend_above(drawing)
        return drawing

    words = "; ".join(
        f"middle 80% of the {which}: {low:.2f} to {high:.2f}"
        for which, (low, high) in middles.items()
    )
    conversations = count_of(len(conversations), "conversation")
    alt = f"Ratings of {conversations} by {people}, ordered by mean. {words}."
    return Figure(draw(), draw(), name, alt, caption, shown.drop(columns="place"))


def score_pairs(
    panels: Mapping[str, pd.DataFrame],
    *,
    name: str,
    caption: str,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Two values of each thing as a point, such as two raters' scores; on the dashed line they are equal.

    Parameters
    ----------
    panels : mapping of str to DataFrame
        Title of the panel -> its points: the first two columns are drawn across and upwards, and named as the axes
        are to be. A third, where there is one, says to which series a point belongs.
    name, caption : str
        As for :func:`ratings_by_participant`.
    limits : tuple of float, optional
        Ends of the scale on which all rated, for whole ticks; otherwise those of the values.
    """

    @styled()
    def draw() -> MatplotlibFigure:
        drawing = MatplotlibFigure(figsize=(7, 0.9 + 7 / max(len(panels), 2)), layout="constrained")
        for index, (axes, (title, points)) in enumerate(
            zip(drawing.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True)
        ):
            across, upwards, *by = points.columns
            values = points[[across, upwards]].to_numpy(dtype=float)
            low, high = limits or (values.min(), values.max())
            ends = np.array([low, high]) + 0.04 * np.array([low - high, high - low])
            axes.plot(ends, ends, linestyle="--", linewidth=1, color=INK, alpha=0.6)
            for place, (series, own) in enumerate(
                points.groupby(by[0], sort=False) if by else [(None, points)]
            ):
                look = {
                    "color": COLOURS[(place if by else index) % 6],
                    "alpha": 0.6,
                    "markeredgewidth": 0,
                }
                mark = MARKS[(place if by else index) % 6]
                axes.plot(
                    own[across],
                    own[upwards],
                    mark,
                    label=series and drawn(series),
                    clip_on=False,
                    **look,
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
        below = format_number(float((values[:, 1] < values[:, 0]).mean()), "share")
        parts.append(
            f"{title}: {len(points)} points, {across} across and {upwards} upwards; {below} lie below the line of "
            f"equal values, and the largest difference is {np.abs(np.diff(values)).max():.3f}."
        )
    return Figure(
        draw(), draw(), name, " ".join(parts), caption, pd.concat(panels, names=["panel"])
    )
