"""The same drawing laid out for a phone: one panel below the other, long words on several lines, nothing smaller."""

import contextlib
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

__all__ = ["legend_above", "narrowed"]

_WIDTH = 4.1  # inches: on a phone 360 pixels wide, ten points are about eleven pixels
_SMALLEST = 10  # points
_LINE = 0.168  # inches, at ten points
_LETTER = 0.08
_AROUND = 0.9  # inches of a panel's height for what stands above and below its rows
_TICKS = 5
_ROW, _TITLE, _LABEL = 20, 30, 36
"""Letters in one line: of a row's name, a panel's title, an axis's label."""


def legend_above(drawing: MatplotlibFigure, handles: Sequence | None = None, labels: Sequence[str] | None = None):
    """A legend above all panels, in as many columns as there is room for.

    Parameters
    ----------
    drawing : matplotlib.figure.Figure
        The drawing.
    handles, labels : sequence, optional
        What is explained, and its names; those of all panels, each name once, if they are not given.
    """
    if handles is None:
        pairs = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in drawing.axes]
        named = {label: handle for pair in pairs for handle, label in pair}
        handles, labels = list(named.values()), list(named)
    widest = 0.55 + _LETTER * max(map(len, labels), default=0)
    fitting = max(1, int(drawing.get_figwidth() / widest))
    lines = -(-len(labels) // fitting) or 1
    legend = drawing.legend(handles, labels, loc="outside upper center", ncols=-(-len(labels) // lines) or 1)
    legend.explained, legend.lines = (handles, labels), lines
    return legend


@contextlib.contextmanager
def narrowed(drawing: MatplotlibFigure) -> Iterator[None]:
    """Within the context, the drawing is as wide as a phone; afterwards all is as it was, to be laid out again."""
    with contextlib.ExitStack() as undo:
        width, height = drawing.get_size_inches()
        undo.callback(drawing.set_size_inches, width, height)
        more = sum(_wrap_rows(axes, undo) for axes in _with_names_of_rows(drawing))
        drawing.set_size_inches(_WIDTH, (height + more) * _stack_panels(drawing, undo))
        for axes in drawing.axes:
            _wrap(axes.xaxis.label, _LABEL, undo)
            _wrap(axes.yaxis.label, max(12, int(axes.bbox.height / drawing.dpi / _LETTER)), undo)
            for title in (axes.title, axes._left_title, axes._right_title):
                _wrap(title, _TITLE, undo)
            ticks = axes.xaxis.get_major_locator()
            if getattr(ticks, "_nbins", None) == "auto":  # which does not foresee as many digits as there may be
                undo.callback(ticks.set_params, nbins="auto")
                ticks.set_params(nbins=_TICKS)
        for text in drawing.findobj(Text):
            if text.get_fontsize() < _SMALLEST and text.get_text():
                undo.callback(text.set_fontsize, text.get_fontsize())
                text.set_fontsize(_SMALLEST)
        more = _LINE * _rearrange_legends(drawing, undo)
        drawing.set_figheight(drawing.get_figheight() + more)
        yield


def _with_names_of_rows(drawing: MatplotlibFigure) -> list:
    """Panels with names beside their rows; of those that share them, the first."""
    found = []
    for axes in drawing.axes:
        named = isinstance(axes.yaxis.get_major_locator(), FixedLocator) and any(
            character.isalpha() for label in axes.get_yticklabels() for character in label.get_text()
        )
        if named and not any(axes.get_shared_y_axes().joined(axes, other) for other in found):
            found.append(axes)
    return found


def _wrap_rows(axes, undo: contextlib.ExitStack) -> float:
    """Put names of rows on lines; how much higher the panel has to be for them, in inches."""
    ticks, names = axes.get_yticks(), [label.get_text() for label in axes.get_yticklabels()]
    undo.callback(axes.set_yticks, ticks, names)
    wrapped = [textwrap.fill(name.strip(), _ROW) for name in names]
    axes.set_yticks(ticks, wrapped)
    lines = np.array([name.count("\n") + 1 for name in wrapped])
    # Two names that follow each other share the distance between their rows.
    needed = _LINE * max((lines[1:] + lines[:-1]).max(initial=0) / 2, lines.max(initial=0) / 2) + 0.1
    low, high = sorted(axes.get_ylim())
    panels = [other for other in axes.figure.axes if other.get_position().x0 == axes.get_position().x0]
    share = axes.get_position().height / sum(other.get_position().height for other in panels)
    there = (axes.figure.get_figheight() - _AROUND * len(panels)) * share / max(high - low, 1)
    return max(0.0, needed - there) * max(high - low, 1) / share


def _stack_panels(drawing: MatplotlibFigure, undo: contextlib.ExitStack) -> float:
    """Put panels that stand side by side below each other; how many times higher the drawing has to be."""
    panels = [axes for axes in drawing.axes if axes.get_subplotspec() is not None]
    columns = max((axes.get_subplotspec().get_gridspec().ncols for axes in panels), default=1)
    if columns == 1:
        return 1.0
    grid = GridSpec(len(panels), 1, figure=drawing)
    for place, axes in enumerate(panels):
        undo.callback(axes.set_subplotspec, axes.get_subplotspec())
        axes.set_subplotspec(grid[place])
        shown = axes.yaxis.get_tick_params().get("labelleft", True)
        undo.callback(axes.tick_params, axis="y", labelleft=shown)
        axes.tick_params(axis="y", labelleft=True)
    return 0.9 * columns


def _wrap(text: Text, longest: int, undo: contextlib.ExitStack) -> None:
    words = text.get_text()
    if len(words) > longest:
        undo.callback(text.set_text, words)
        text.set_text("\n".join(textwrap.fill(line, longest) for line in words.split("\n")))


def _rearrange_legends(drawing: MatplotlibFigure, undo: contextlib.ExitStack) -> int:
    """Legends in fewer columns, and those that stand above one panel above all of them; how many lines more."""
    more = 0
    for legend in list(drawing.legends):
        _hide(legend, undo)
        again = legend_above(drawing, *(getattr(legend, "explained", None) or _explained(legend)))
        undo.callback(again.remove)
        more += again.lines - getattr(legend, "lines", 1)
    for axes in drawing.axes:
        legend = axes.get_legend()
        if legend is not None and legend._ncols > 1:
            _hide(legend, undo)
            again = legend_above(drawing, *axes.get_legend_handles_labels())
            undo.callback(again.remove)
            more += again.lines - 1
    return max(0, more)


def _explained(legend: Legend) -> tuple[list, list[str]]:
    return legend.legend_handles, [text.get_text() for text in legend.get_texts()]


def _hide(legend: Legend, undo: contextlib.ExitStack) -> None:
    for switch in (legend.set_visible, legend.set_in_layout):
        switch(False)
        undo.callback(switch, True)
