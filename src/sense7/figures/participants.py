"""Ratings of each participant beside each other: whether people differ more than their own conversations do."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.figures.style import COLOURS, STYLE, Figure, styled
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = ["ratings_by_participant"]

MOST = 300
"""So many participants are drawn at most, evenly spaced in their order: more could not be distinguished."""

MIDDLE = (10, 90)
"""Percentiles between which the middle of a distribution lies."""

_BETWEEN, _WITHIN = "people's\nmeans", "within\nperson"


def ratings_by_participant(conversations: pd.DataFrame, *, name: str, caption: str) -> Figure | Sentence:
    """Draw one column per participant, ordered by mean: a dot per conversation, a line over their range, the mean.

    Beside it stand two bars on the same scale: the middle of the participants' means, and the middle of the distances
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
        A sentence if there is no rating. Of more than ``MOST`` participants so many are drawn, evenly spaced.

    Examples
    --------
    >>> rated = pd.DataFrame({"participant": ["P2", "P1", "P1", "P2"], "rating": [4.0, 2.0, 3.0, 4.5]})
    >>> figure = ratings_by_participant(rated, name="x", caption="n = 4 conversations.")
    >>> figure.alt.split(". ")[0]
    'Ratings of 4 conversations by 2 participants, ordered by mean'
    """
    if conversations.empty:
        return Sentence("No figure of the participants' ratings: no conversation was rated.")
    spread = _spread(conversations)
    shown = _in_order(conversations)
    people = count_of(conversations["participant"].nunique(), "participant")
    alt = f"Ratings of {count_of(len(conversations), 'conversation')} by {people}, ordered by mean. " + "; ".join(
        f"middle {MIDDLE[1] - MIDDLE[0]}% of the {words}: {low:.2f} to {high:.2f}"
        for words, (low, high) in spread.items()
    )
    if len(shown) < len(conversations):
        caption += f" Drawn: {MOST} of {people}, evenly spaced in their order."
    with styled():
        drawing = MatplotlibFigure(figsize=(7, 3.9), layout="constrained")
        axes, beside = drawing.subplots(1, 2, sharey=True, width_ratios=(3, 1.15))
        _columns(axes, shown)
        _bars(beside, list(spread.values()))
        axes.set_yticks(range(1, 6), LEVELS)
        axes.set_ylim(0.9, 5.1)
    return Figure(drawing, name, f"{alt}.", caption, shown)


def _spread(ratings: pd.DataFrame) -> dict[str, np.ndarray]:
    """Percentiles of the participants' means, and of the conversations around them, centered at the mean of all."""
    means = ratings.groupby("participant")["rating"].mean()
    own = ratings["rating"] - ratings["participant"].map(means) + ratings["rating"].mean()
    return {
        "participants' means": np.percentile(means, MIDDLE),
        "conversations around their participant's mean, moved to the mean of all": np.percentile(own, MIDDLE),
    }


def _in_order(ratings: pd.DataFrame) -> pd.DataFrame:
    """Rows of the participants that are drawn, in ascending order of their means."""
    means = ratings.groupby("participant", sort=False)["rating"].mean().sort_values(kind="stable")
    number = min(MOST, len(means))
    chosen = means.iloc[np.linspace(0, len(means) - 1, number).round().astype(int)]
    place = ratings["participant"].map(pd.Series(range(number), index=chosen.index))
    rows = ratings.assign(place=place)[place.notna()].sort_values("place", kind="stable", ignore_index=True)
    return rows.drop(columns="place")


def _columns(axes, shown: pd.DataFrame) -> None:
    people = shown.groupby("participant", sort=False)["rating"].agg(["min", "max", "mean"])
    place = pd.factorize(shown["participant"])[0]
    columns = np.arange(len(people))
    ranges = {"color": STYLE["text.color"], "alpha": 0.35, "linewidth": min(0.5, 40 / len(people))}
    dots = {"color": COLOURS[0], "alpha": 0.8, "linewidth": 180 / max(len(people), 30), "solid_capstyle": "round"}
    means = {"color": COLOURS[1], "linewidth": 2, "solid_capstyle": "butt"}
    # Each kind of mark is one path of the drawing, with a gap after each stroke: elements of their own weigh much more.
    _strokes(axes, columns, columns, people["min"], people["max"], **ranges)
    _strokes(axes, place, place + 1e-3, shown["rating"], shown["rating"], label="conversation", **dots)
    _strokes(axes, columns - 0.4, columns + 0.4, people["mean"], people["mean"], label="person's mean", **means)
    axes.set_xlim(-1, len(people))
    axes.set_xticks([])
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("one column per participant, ordered by mean")
    legend = axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, handlelength=0.8)
    for handle in legend.legend_handles:
        handle.set_linewidth(6)


def _strokes(axes, left, right, low, high, **look) -> None:
    gap = np.full(len(left), np.nan)
    x = np.column_stack([left, right, gap]).ravel()
    y = np.column_stack([low, high, gap]).ravel()
    axes.plot(x, y, **look)


def _bars(axes, spread: list) -> None:
    for place, ((low, high), color) in enumerate(zip(spread, (COLOURS[1], COLOURS[0]), strict=True)):
        axes.bar(place, high - low, bottom=low, width=0.55, color=color)
    axes.set_title(f"middle {MIDDLE[1] - MIDDLE[0]}%", fontsize=10)
    axes.set_xlim(-0.6, 1.6)
    axes.set_xticks([0, 1], [_BETWEEN, _WITHIN], fontsize=9)
    axes.tick_params(length=0)
    axes.grid(visible=False, axis="x")


check_arguments(globals())
