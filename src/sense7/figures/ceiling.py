"""Figures of what a judge can reach at most, and of where judges stand."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.figures.narrow import legend_above
from sense7.figures.style import COLOURS, STYLE, Figure, drawn, styled
from sense7.record import format_number
from sense7.tables import Sentence

__all__ = ["ceiling_curves"]

_PANELS = {"spearman_untied": "Spearman correlation", "accuracy": "accuracy with these labels"}
_TIED = "spearman"
_LINES = ("--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def ceiling_curves(
    curve: pd.DataFrame,
    judges: Mapping[str, tuple[float, ...]],
    *,
    name: str,
    caption: str,
    bound: pd.Series | None = None,
) -> Figure | Sentence:
    """Ceilings of Spearman's correlation and of accuracy over the content share, with judges as level lines.

    Parameters
    ----------
    curve : DataFrame
        Indexed by content share (0..1, ascending), with columns ``spearman_untied``, ``spearman`` and ``accuracy``. The
        first is the ceiling of the correlation, for any labels; the second, with the ties of the labels, is a
        thin line below it.
    judges : mapping
        Name -> (Spearman correlation, accuracy, and what is not drawn); NaN is not drawn. A dot stands where the line
        meets the curve: the content share that the result needs at least.
    name : str
        Name of the figure's data file.
    caption : str
        n, and what the interval of the bound is.
    bound : Series, optional
        Row of a table of estimates: the upper bound of the content share. A line, with its interval
        shaded lightly and what lies beyond that shaded.

    Returns
    -------
    Figure or Sentence
        A sentence where a curve is not defined, as with a single label.
    """
    if not np.isfinite(curve[[_TIED, *_PANELS]].to_numpy(dtype=float)).all():
        return Sentence("No figure of the ceiling: it takes at least two different labels of conversations.")
    known = bound is not None and np.isfinite(bound["estimate"])
    drawn = [result for results in judges.values() for result in results[:2] if np.isfinite(result)]
    lowest = min([0.0, *(result - 0.05 for result in drawn)])
    with styled():
        drawing = MatplotlibFigure(figsize=(7.4, 3.9), layout="constrained")
        for column, axes in zip(_PANELS, drawing.subplots(1, 2, sharey=True), strict=True):
            if known:
                _shade(axes, bound)
            axes.plot(curve.index, curve[column], color=COLOURS[0], linewidth=2, label="ceiling")
            if column == "spearman_untied":
                label = "ceiling with the ties of these labels"
                axes.plot(curve.index, curve[_TIED], color=COLOURS[0], linewidth=0.8, label=label)
            for index, (judge, results) in enumerate(judges.items()):
                _level(axes, curve[column], judge, results[list(_PANELS).index(column)], index)
            axes.set_xlim(0, 1)
            axes.set_ylim(lowest, 1)
            axes.set_xlabel("content share s")
            axes.set_title(_PANELS[column], fontsize=10)
        legend_above(drawing)
    if bound is not None and not known:
        caption += f" No upper bound of the content share: {bound['reason']}."
    return Figure(drawing, name, _alt(curve, judges, bound if known else None), caption, curve)


def _shade(axes, bound: pd.Series) -> None:
    sure, grey = bound["estimate"], STYLE["grid.color"]
    if np.isfinite(bound["low"]):
        sure = bound["high"]
        axes.axvspan(bound["low"], bound["high"], color=grey, alpha=0.18, linewidth=0, label="interval of the bound")
    axes.axvline(bound["estimate"], color=grey, linewidth=1.2, label="upper bound of s")
    axes.axvspan(sure, 1, color=grey, alpha=0.4, linewidth=0, label="beyond the bound")


def _level(axes, ceiling: pd.Series, judge: str, result: float, index: int) -> None:
    if not np.isfinite(result):
        return
    colour = COLOURS[1 + index % (len(COLOURS) - 1)]
    axes.axhline(result, color=colour, linestyle=_LINES[index % len(_LINES)], linewidth=1.4, label=drawn(judge))
    meets = _meets(ceiling, result)
    if np.isfinite(meets):
        axes.plot([meets], [result], "o", color=colour, markersize=5)


def _meets(ceiling: pd.Series, result: float) -> float:
    """Content share at which a rising curve reaches a result; NaN if it starts above or never does."""
    if not ceiling.iloc[0] < result <= ceiling.iloc[-1]:
        return np.nan
    return float(np.interp(result, ceiling.to_numpy(), ceiling.index.to_numpy(dtype=float)))


def _alt(curve: pd.DataFrame, judges: Mapping, bound: pd.Series | None) -> str:
    share = "share of the variance"
    text = "Two curves that rise with the content share, from none to all."
    for column, title in _PANELS.items():
        ends = " to ".join(format_number(float(curve[column].iloc[place]), "") for place in (0, -1))
        text += f" Ceiling of {title}: from {ends}."
        for judge, results in judges.items():
            result = results[list(_PANELS).index(column)]
            if not np.isfinite(result):
                continue
            meets = _meets(curve[column], result)
            text += f" {judge}: {format_number(float(result), '')}, "
            if np.isfinite(meets):
                text += f"which takes a content share of {format_number(meets, share)} at least."
            else:
                text += "which takes no content." if result <= curve[column].iloc[0] else "above the whole curve."
    if bound is not None:
        text += f" Upper bound of the content share: {format_number(bound['estimate'], share)}"
        if np.isfinite(bound["low"]):
            text += f" ({format_number(bound['low'], share)} to {format_number(bound['high'], share)})"
        text += "."
    return text


check_arguments(globals())
