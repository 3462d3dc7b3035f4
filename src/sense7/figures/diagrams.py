"""Pictures of how the study was made: who is left at each step, one rated conversation, and the seven dimensions."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyBboxPatch, Rectangle

from sense7.figures.source import INK, Shown, main_color
from sense7.figures.style import (
    WIDE,
    Figure,
    drawn,
    figure_for_widths,
    ink_on,
    legend_above,
    new_axes,
)
from sense7.tables import Sentence
from sense7.taxonomy import LEVEL_COLOURS, LEVELS

_LINE = 0.17
"""Height of a line of text, in inches."""

_LETTERS = 12.3
"""Letters to an inch, on average, at ten points."""

LONGEST_MESSAGE = 260
"""Letters after which a message is cut."""


def _sheet(width: float, height: float):
    """An empty drawing whose axes count inches from its upper left corner."""
    drawing, axes = new_axes(width, height)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return drawing, axes


def _wrapped(text: str, width: float) -> str:
    """A text in lines that fit into a width in inches."""
    return textwrap.fill(text, max(8, int(width * _LETTERS)))


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _box(axes, x: float, y: float, width: float, height: float, **look) -> None:
    """A box with round corners, a thin line unless it looks otherwise."""
    look = {"edgecolor": INK, "linewidth": 0.6, **look}
    style = "round,pad=0,rounding_size=0.06"
    box = FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor="none", **look)
    axes.add_patch(box)


def study_flow(
    steps: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Draw how many there are at each step of a study, and beside it what was left out and why.

    Parameters
    ----------
    steps : DataFrame
        As :func:`sense7.findings.dataset.flow` returns it: one row per step, by what is counted, with n and left_out
        (what is left out on the way to this step, in words; "" for nothing).
    name : str
        Name of the figure's data file.
    caption : str
        What to see.
    source : Study or Source, optional
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no step.

    Examples
    --------
    >>> steps = pd.DataFrame({"n": [9, 8], "left_out": ["", "1 never rated"]}, index=["turns", "rated turns"])
    >>> study_flow(steps, name="flow", caption="Look.").alt.partition(" Source")[0]
    'Flow of the study. 9 turns; 8 rated turns (left out: 1 never rated).'
    """
    if steps.empty:
        return Sentence("No flow of the study: there is nothing to show.")
    color = main_color(source)

    def draw(width: float):
        left_width = 0.5 * width
        right_start = left_width + 0.35
        right_width = width - right_start
        boxes = []
        for step, row in steps.iterrows():
            text = _wrapped(f"{row['n']:,} {drawn(step)}", left_width - 0.3)
            beside = ""
            if row["left_out"]:
                beside = _wrapped(f"left out: {drawn(row['left_out'], 200)}", right_width - 0.2)
            boxes.append((text, beside, 0.16 + _LINE * max(_lines(text), _lines(beside))))
        gap = 0.3
        height = sum(height for _, _, height in boxes) + gap * (len(boxes) - 1) + 0.1
        drawing, axes = _sheet(width, height)
        y = 0.05
        for index, (text, beside, box_height) in enumerate(boxes):
            middle = y + box_height / 2
            _box(axes, 0.05, y, left_width, box_height, edgecolor=color, linewidth=1.6)
            axes.text(0.05 + left_width / 2, middle, text, ha="center", va="center")
            if index:
                arrow = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
                x = 0.05 + left_width / 2
                axes.annotate("", (x, y), (x, y - gap), arrowprops=arrow)
            if beside:
                look = {"linewidth": 0.7, "linestyle": "--"}
                _box(axes, right_start, y, right_width - 0.05, box_height, **look)
                axes.text(right_start + 0.08, middle, beside, va="center", fontsize=9)
                axes.plot([0.05 + left_width, right_start], [middle] * 2, color=INK, linewidth=0.7)
            y += box_height + gap
        return drawing

    parts = []
    for step, row in steps.iterrows():
        part = f"{row['n']:,} {step}"
        if row["left_out"]:
            part += f" (left out: {row['left_out']})"
        parts.append(part)
    alt = f"Flow of the study. {'; '.join(parts)}."
    return figure_for_widths(draw, name, alt, caption, steps, source)


def rated_conversation(
    messages: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Draw one conversation, with the ratings of each answer as a strip of tiles below it.

    Parameters
    ----------
    messages : DataFrame
        As :func:`sense7.findings.examples.short_conversation` returns it: one row per message, by its place, with who
        (user or assistant), text, and a column for each rating (1..5; NaN if there is none).
    name : str
        Name of the figure's data file.
    caption : str
        What to see.
    source : Study or Source, optional
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no message. A message of more letters than ``LONGEST_MESSAGE`` is cut.

    Examples
    --------
    >>> messages = pd.DataFrame({"who": ["user", "assistant"], "text": ["Hi.", "Hello."], "Interest": [None, 4.0]})
    >>> rated_conversation(messages, name="talk", caption="Look.").alt.partition(" Source")[0]
    'A conversation with the ratings of each answer. user: Hi. assistant: Hello. (Interest 4)'
    """
    if messages.empty:
        return Sentence("No picture of a conversation: no short one has texts and ratings.")
    ratings = list(messages.columns[2:])

    def draw(width: float):
        indent = 0.09 * width
        text_width = width - indent - 0.3
        rows = []
        for message in messages.to_dict("records"):
            text = textwrap.shorten(
                drawn(message["text"], 10_000), LONGEST_MESSAGE, placeholder=" …"
            )
            text = _wrapped(text, text_width)
            levels = [message[rating] for rating in ratings]
            rows.append((message["who"] == "assistant", text, levels))
        height_of_names = 0.22
        if width < WIDE:
            height_of_names = 0.95
        height = 0.1 + height_of_names
        for is_answer, text, _ in rows:
            height += 0.26 + _LINE * _lines(text)
            if is_answer:
                height += 0.34
        drawing, axes = _sheet(width, height)
        y = 0.05
        is_first = True
        for is_answer, text, levels in rows:
            x = 0.05
            if is_answer:
                x += indent
            box_height = 0.14 + _LINE * _lines(text)
            _box(axes, x, y, text_width + 0.2, box_height)
            axes.text(x + 0.1, y + box_height / 2, text, va="center")
            y += box_height + 0.04
            if is_answer:
                tile = (text_width + 0.2) / len(ratings)
                if is_first:
                    y += height_of_names
                    _draw_names(axes, ratings, x, y, tile, is_upright=width < WIDE)
                    is_first = False
                _draw_strip(axes, levels, x, y, tile)
                y += 0.34
            y += 0.08
        for level, color in zip(LEVELS, LEVEL_COLOURS, strict=True):
            axes.scatter([], [], marker="s", s=90, color=color, label=level)
        axes.scatter(
            [],
            [],
            marker="s",
            s=90,
            facecolor="none",
            edgecolor=INK,
            hatch="////",
            label="no level",
        )
        legend_above(drawing)
        return drawing

    parts = []
    for message in messages.to_dict("records"):
        part = f"{message['who']}: {message['text']}"
        levels = []
        for rating in ratings:
            if np.isfinite(message[rating] or np.nan):
                levels.append(f"{rating} {message[rating]:g}")
        if levels:
            part += f" ({', '.join(levels)})"
        parts.append(part)
    alt = f"A conversation with the ratings of each answer. {' '.join(parts)}"
    return figure_for_widths(draw, name, alt, caption, messages, source)


def _draw_names(
    axes, names: list[str], x: float, y: float, tile: float, *, is_upright: bool
) -> None:
    """The names of the ratings above the first strip, upright where there is no room beside each other."""
    for index, name in enumerate(names):
        middle = x + (index + 0.5) * tile
        look = {"ha": "center", "va": "bottom", "fontsize": 9}
        if is_upright:
            look["rotation"] = 90
        axes.text(middle, y - 0.03, drawn(name, 14), **look)


def _draw_strip(axes, levels: list[float], x: float, y: float, tile: float) -> None:
    """One tile for each rating of an answer: its level, or hatched where it has none."""
    for index, level in enumerate(levels):
        corner = (x + index * tile + 0.01, y)
        if level is None or not np.isfinite(level):
            look = {"facecolor": "none", "edgecolor": INK, "linewidth": 0.5, "hatch": "////"}
            axes.add_patch(Rectangle(corner, tile - 0.02, 0.24, **look))
            continue
        color = LEVEL_COLOURS[round(level) - 1]
        axes.add_patch(Rectangle(corner, tile - 0.02, 0.24, facecolor=color, edgecolor="none"))
        (ink,) = ink_on([to_rgb(color)])
        middle = (x + (index + 0.5) * tile, y + 0.12)
        axes.text(*middle, f"{level:g}", color=ink, ha="center", va="center", fontsize=9)


def taxonomy_tree(
    dimensions: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure:
    """Draw the dimensions of empathy in their groups, each with its definition.

    Parameters
    ----------
    dimensions : DataFrame
        One row per dimension, by its title, with group and definition.
    name : str
        Name of the figure's data file.
    caption : str
        What to see.
    source : Source, optional
        As for :func:`sense7.figures.intervals`.

    Examples
    --------
    >>> one = pd.DataFrame({"group": ["motivational"], "definition": ["is curious"]}, index=["Interest"])
    >>> taxonomy_tree(one, name="taxonomy", caption="Look.").alt.partition(" Source")[0]
    'Dimensions by group. motivational: Interest (is curious).'
    """
    groups = dict(list(dimensions.groupby("group", sort=False)))

    def draw(width: float):
        number = 1
        if width == WIDE:
            number = len(groups)
        column_width = (width - 0.15 * (number - 1)) / number
        cards_of = {}
        for group, rows in groups.items():
            cards_of[group] = []
            for dimension, words in rows["definition"].items():
                title = textwrap.fill(dimension, int(9 * column_width))
                definition = textwrap.fill(words, int(13 * column_width))
                height = 0.2 + _LINE * _lines(title) + 0.155 * _lines(definition)
                cards_of[group].append((title, definition, height))
        heights = []
        for cards in cards_of.values():
            heights.append(0.42 + sum(height + 0.1 for _, _, height in cards))
        height = sum(heights)
        if number > 1:
            height = max(heights)
        drawing, axes = _sheet(width, height)
        x = 0.0
        y = 0.0
        for (group, cards), group_height in zip(cards_of.items(), heights, strict=True):
            top = y
            axes.text(x + 0.05, top + 0.2, group, weight="bold", va="center", fontsize=11)
            axes.plot([x, x + column_width - 0.05], [top + 0.34] * 2, color=INK, linewidth=1)
            top += 0.42
            for title, definition, card_height in cards:
                _box(axes, x + 0.02, top, column_width - 0.08, card_height)
                axes.text(x + 0.1, top + 0.07, title, va="top", weight="bold")
                below = top + 0.1 + _LINE * _lines(title)
                axes.text(x + 0.1, below, definition, va="top", fontsize=9)
                top += card_height + 0.1
            if number > 1:
                x += column_width + 0.15
            else:
                y += group_height
        return drawing

    parts = []
    for group, rows in groups.items():
        definitions = [f"{title} ({row['definition']})" for title, row in rows.iterrows()]
        parts.append(f"{group}: {', '.join(definitions)}")
    alt = f"Dimensions by group. {'; '.join(parts)}."
    return figure_for_widths(draw, name, alt, caption, dimensions, source)
