"""Boxes below each other, each with what stands beside it: steps of a study, messages, definitions."""

import pandas as pd
from matplotlib.patches import FancyBboxPatch

from sense7.figures.figure import LINE, Figure, drawn, figure_of, lines_of, new_axes, wrapped
from sense7.figures.source import INK, Shown, main_color
from sense7.tables import Sentence

LONGEST = 260
"""Letters of a text; its middle is left out where it has more."""


def flow(
    boxes: pd.DataFrame,
    *,
    name: str,
    title: str,
    caption: str,
    arrows: bool = True,
    source: Shown = None,
) -> Figure | Sentence:
    """Boxes below each other, with a note beside each one.

    Parameters
    ----------
    boxes : DataFrame
        One row per box: text and note ("" for none).
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    arrows : bool
        Whether an arrow leads from each box to the next one.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no box.

    Examples
    --------
    >>> boxes = pd.DataFrame({"text": ["9 turns", "8 rated turns"], "note": ["", "left out: 1 never rated"]})
    >>> flow(boxes, name="flow", title="Few are left out", caption="Look.").alt.partition(" Source")[0]
    'Few are left out. 9 turns; 8 rated turns (left out: 1 never rated).'
    """
    if boxes.empty:
        return Sentence(f"No figure {name}: there is nothing to show.")
    color = main_color(source)

    def draw(width: float):
        left_width = 0.48 * width
        right_start = 0.54 * width
        right_width = width - right_start - 0.05
        rows = []
        for text, note in zip(boxes["text"], boxes["note"], strict=True):
            text_lines = wrapped(drawn(text, LONGEST), left_width - 0.2)
            note_lines = wrapped(drawn(note, LONGEST), right_width) if note else ""
            rows.append((text_lines, note_lines, 0.18 + LINE * lines_of([text_lines, note_lines])))
        gap = 0.26 if arrows else 0.1
        height = 0.1 + sum(row_height + gap for *_, row_height in rows)
        drawing, axes = new_axes(width, height)
        drawing.get_layout_engine().set(w_pad=0, h_pad=0)
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        look = {"facecolor": "none", "boxstyle": "round,pad=0,rounding_size=0.06"}
        y = 0.05
        for index, (text_lines, note_lines, row_height) in enumerate(rows):
            middle = y + row_height / 2
            size = (left_width, row_height)
            axes.add_patch(FancyBboxPatch((0.05, y), *size, edgecolor=color, linewidth=1.6, **look))
            axes.text(0.18, middle, text_lines, va="center")
            if index and arrows:
                arrow = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", (left_width / 2, y), (left_width / 2, y - gap), arrowprops=arrow)
            if note_lines:
                axes.plot([left_width + 0.05, right_start], [middle] * 2, color=INK, linewidth=0.7)
                axes.text(right_start + 0.08, middle, note_lines, va="center")
            y += row_height + gap
        return drawing

    parts = []
    for text, note in zip(boxes["text"], boxes["note"], strict=True):
        parts.append(f"{text} ({note})" if note else text)
    return figure_of(draw, name, title, f"{'; '.join(parts)}.", caption, boxes, source)
