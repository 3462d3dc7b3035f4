"""Figures of calibration: what a judge's score is worth on the scale of those who rated."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from sense7.arguments import check_arguments
from sense7.estimators.estimates import require_estimates
from sense7.figures.style import COLOURS, STYLE, Figure, styled
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS

__all__ = ["reliability_diagram"]

_SIZE = (7, 4.8)
_HEIGHTS = [4, 1]


def reliability_diagram(table: pd.DataFrame, *, name: str, caption: str) -> Figure | Sentence:
    """Reliability diagram: mean ground truth at each predicted level, against the line of equal values.

    Below the diagram, bars show how often each level was predicted.

    Parameters
    ----------
    table : DataFrame
        Table of estimates with one row per predicted level 1..5, as
        :func:`sense7.judge.metrics.calibration` returns it; ``n`` counts predictions.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, n and the kind of interval.

    Returns
    -------
    Figure or Sentence
        A level that was never predicted has no mark; a sentence if none was.

    Examples
    --------
    >>> from sense7.estimators.estimates import estimate_row, estimate_table
    >>> rows = {4: estimate_row(3.5, 3.0, 3.9, n=20, unit="level, 1 to 5", method="mean; interval")}
    >>> reliability_diagram(estimate_table(rows, "prediction"), name="x", caption="n = 20").alt[:76]
    'Reliability diagram: mean ground truth by predicted level. Predicted 4: 3.50'
    """
    require_estimates("reliability_diagram", "table", table)
    known = table[np.isfinite(table["estimate"].astype(float))]
    if known.empty:
        reasons = "; ".join(dict.fromkeys(filter(None, table["reason"])))
        return Sentence(f"No reliability diagram: {reasons or 'nothing was predicted'}.")
    levels = np.arange(1, len(LEVELS) + 1)
    with styled():
        drawing = MatplotlibFigure(figsize=_SIZE, layout="constrained")
        upper, lower = drawing.subplots(2, sharex=True, height_ratios=_HEIGHTS)
        _diagonal(upper, levels)
        numbers = known[["estimate", "low", "high"]].to_numpy(dtype=float)
        spans = np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T
        upper.errorbar(known.index, numbers[:, 0], yerr=spans, fmt="o-", color=COLOURS[0], capsize=4, linewidth=1.5)
        bars = lower.bar(known.index, known["n"], color=COLOURS[0], width=0.6)
        lower.bar_label(bars, labels=[f"{n:,}" for n in known["n"]], padding=2)
        _label(upper, lower, levels)
    if not np.isfinite(known["low"].astype(float)).any():
        caption += " No interval could be computed."
    return Figure(drawing, name, _in_words(known), caption, table)


def _diagonal(axes, levels: np.ndarray) -> None:
    ends = [levels[0], levels[-1]]
    axes.plot(ends, ends, linestyle="--", linewidth=1, color=STYLE["axes.edgecolor"], alpha=0.6)
    axes.text(1.55, 1.68, "score = ratings", rotation=45, rotation_mode="anchor", transform_rotates_text=True)


def _label(upper, lower, levels: np.ndarray) -> None:
    upper.set(xlim=(0.5, len(levels) + 0.5), ylim=(0.8, len(levels) + 0.2), yticks=levels)
    upper.set_ylabel("mean ground truth (level)")
    lower.set_xticks(levels, [f"{level}\n{words}" for level, words in zip(levels, LEVELS, strict=True)])
    lower.set_xlabel("level of the judge's score")
    lower.set_ylabel("predictions")
    lower.set_yticks([])
    lower.margins(y=0.35)
    lower.grid(visible=False)


def _in_words(known: pd.DataFrame) -> str:
    parts = []
    for level, row in known.iterrows():
        text = f"Predicted {level}: {format_number(row['estimate'], row['unit'])}"
        if np.isfinite(row["low"]):
            text += f" ({format_number(row['low'], row['unit'])} to {format_number(row['high'], row['unit'])})"
        parts.append(f"{text}, n = {row['n']:,}")
    return f"Reliability diagram: mean ground truth by predicted level. {'; '.join(parts)}."


check_arguments(globals())
