"""Figures of agreement: groups of rows with an estimate and interval each, and two raters' scores side by side."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.estimates import require_estimates
from sense7.figures.charts import ranges_in_words
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, new_axes, styled
from sense7.record import format_number
from sense7.tables import Sentence

__all__ = ["grouped_intervals", "score_pairs"]

_WIDTH = 7
_MARKS = "os^D"


def grouped_intervals(
    groups: Mapping[str, pd.DataFrame],
    *,
    name: str,
    label: str,
    caption: str,
    limits: tuple[float, float],
) -> Figure | Sentence:
    """Estimates with their intervals in groups: one heading, colour and mark per group, numbers beside the rows.

    A row's name stands above its interval, so that long names cost no width, and its numbers beside it.

    Parameters
    ----------
    groups : mapping of str to DataFrame
        Heading -> table of estimates; each may have other rows.
    name : str
        Name of the figure's data file.
    label : str
        Label of the axis, with its unit.
    caption : str
        What to see, n and the kind of interval.
    limits : tuple of float
        Ends of the axis; a stroke in every row marks zero where it lies between them.

    Returns
    -------
    Figure or Sentence
        A row without an estimate says so in its place; a sentence if there is no row.

    Raises
    ------
    UserError
        If a group is no table of estimates.
    """
    for table in groups.values():
        require_estimates("grouped_intervals", "groups", table)
    groups = {heading: table for heading, table in groups.items() if len(table)}
    if not groups:
        return Sentence(f"No figure of {label}: there is nothing to show.")
    height = sum(len(table) + 0.9 for table in groups.values())
    left, right = limits
    with styled():
        drawing, axes = new_axes(_WIDTH, 0.6 + 0.42 * height)
        place = 0.0
        for index, (heading, table) in enumerate(groups.items()):
            colour, mark = COLOURS[index % len(COLOURS)], _MARKS[index % len(_MARKS)]
            axes.plot([left], [place], mark, color=colour, markersize=8, clip_on=False)
            axes.text(left + 0.035 * (right - left), place, drawn(heading), va="center", weight="bold", size=11)
            place += 0.8
            for row, numbers in table.iterrows():
                _row(axes, place, drawn(row), numbers, colour, mark, limits)
                place += 1
            place += 0.1
        axes.set_xlim(limits)
        axes.set_ylim(place - 0.4, -0.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
        axes.grid(alpha=0.18, axis="x")
    alt = f"{label}. " + " ".join(f"{heading}: {ranges_in_words(table)}." for heading, table in groups.items())
    data = pd.concat(groups, names=["group"])
    return Figure(drawing, name, alt, caption, data)


def _row(axes, place: float, title: str, numbers: pd.Series, colour: str, mark: str, limits: tuple) -> None:
    """Name above, interval below, numbers beside it."""
    left, right = limits
    estimate, low, high = (float(numbers[column]) for column in ("estimate", "low", "high"))
    axes.text(left, place - 0.2, title, va="center", size=10)
    if left < 0 < right:  # not through the names
        axes.plot([0, 0], [place + 0.05, place + 0.35], color=STYLE["axes.edgecolor"], linewidth=1)
    if not np.isfinite(estimate):
        axes.text(left, place + 0.2, "not available", va="center", style="italic", size=10)
        return
    text = f"{estimate:z.2f}"
    if np.isfinite(low):
        text += f" [{low:z.2f}, {high:z.2f}]"
        axes.plot([low, high], [place + 0.2] * 2, color=colour, linewidth=2.2, solid_capstyle="butt")
    axes.plot([estimate], [place + 0.2], mark, color=colour, markersize=7)
    axes.text(1.02, place + 0.2, text, transform=axes.get_yaxis_transform(), va="center", size=10)


def score_pairs(
    scores: pd.DataFrame,
    panels: Mapping[str, tuple[str, str]],
    *,
    axes_names: Mapping[str, str],
    name: str,
    caption: str,
    limits: tuple[float, float],
) -> Figure:
    """Scores of two raters as points, a panel for each pair, all on the same scale; the dashed line: equal scores.

    Parameters
    ----------
    scores : DataFrame
        One row per conversation, one column per rater.
    panels : mapping of str to tuple of str
        Title of the panel -> columns drawn across and upwards.
    axes_names : mapping of str to str
        Column -> label of its axis, with the unit.
    name, caption : str
        As for :func:`grouped_intervals`.
    limits : tuple of float
        Ends of the scale on which all rated.

    Returns
    -------
    Figure
        Equal points are drawn darker.

    Raises
    ------
    UserError
        If the scores lack a column.
    """
    wanted = list(dict.fromkeys(column for pair in panels.values() for column in pair))
    if lacking := [column for column in wanted if column not in scores.columns]:
        raise UserError(f"score_pairs wants scores with a column for each rater; they lack {', '.join(lacking)}.")
    margin = 0.04 * (limits[1] - limits[0])
    parts = []
    with styled():
        drawing = MatplotlibFigure(figsize=(_WIDTH, 0.9 + _WIDTH / len(panels)), layout="constrained")
        for index, (axes, (title, (across, upwards))) in enumerate(
            zip(drawing.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True)
        ):
            axes.plot(limits, limits, linestyle="--", linewidth=1, color=STYLE["axes.edgecolor"], alpha=0.6)
            colour, mark = COLOURS[index % len(COLOURS)], _MARKS[index % len(_MARKS)]
            points = scores[across], scores[upwards]
            axes.plot(*points, mark, color=colour, alpha=0.6, markersize=5.5, markeredgewidth=0, clip_on=False)
            axes.set(xlim=(limits[0] - margin, limits[1] + margin), ylim=(limits[0] - margin, limits[1] + margin))
            axes.set_xticks(np.arange(limits[0], limits[1] + 1))
            axes.set_yticks(np.arange(limits[0], limits[1] + 1))
            axes.set_aspect("equal")
            axes.set_xlabel(axes_names[across])
            axes.set_ylabel(axes_names[upwards])
            axes.set_title(title, fontsize=10, weight="bold")
            above = float((scores[upwards] < scores[across]).mean())
            flat = title.replace("\n", " ")
            parts.append(
                f"{flat}: {len(scores)} points, {axes_names[across]} across and {axes_names[upwards]} upwards; "
                f"{format_number(above, 'share')} lie below the line of equal scores."
            )
    return Figure(drawing, name, " ".join(parts), caption, scores[wanted])


check_arguments(globals())
