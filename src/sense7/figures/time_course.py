"""Figures over the turns of a conversation, or over another scale."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.charts import ranges_in_words
from sense7.figures.direct_labels import name_lines
from sense7.figures.style import COLOURS, Figure, drawn, new_axes, styled
from sense7.tables import Sentence

__all__ = ["lines_by_turn"]

_MARKS, _LINES = "os^DvP", ("-", "--", ":", "-.")


def lines_by_turn(
    tables: Mapping[str, pd.DataFrame], *, name: str, label: str, caption: str, across: str = ""
) -> Figure | Sentence:
    """Estimates turn by turn with their intervals, a line, colour and mark a table.

    Parameters
    ----------
    tables : mapping of name -> DataFrame
        Tables of estimates with one row per turn, e.g. one a condition.
    name, label, caption : str
        As for :func:`sense7.figures.intervals`; the label is that of the upright axis. Shares are drawn in percent.
    across : str, optional
        What the rows are, where they are not turns: the label of the other axis.

    Returns
    -------
    Figure or Sentence
        A sentence with the reason if there is nothing to draw. Rows without an estimate are left out.
    """
    known = {which: table[np.isfinite(table["estimate"])] for which, table in tables.items()}
    if not any(len(table) for table in known.values()):
        reasons = [reason for table in tables.values() for reason in table["reason"] if reason]
        return Sentence(f"No figure of {label}: {(reasons or ['there are no turns'])[0]}.")
    scale = 100 if pd.concat(known)["unit"].str.startswith("share").all() else 1
    with styled():
        drawing, axes = new_axes(7, 4)
        reach = 0.04 if across else 0.15
        offsets = np.linspace(-reach, reach, len(known)) if len(known) > 1 else [0]
        for index, (which, table) in enumerate(known.items()):
            numbers = scale * table[["estimate", "low", "high"]].to_numpy(dtype=float)
            axes.errorbar(
                table.index.to_numpy(dtype=float) + offsets[index],
                numbers[:, 0],
                yerr=np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T,
                fmt=_MARKS[index % len(_MARKS)],
                linestyle=_LINES[index // len(COLOURS) % len(_LINES)],
                color=COLOURS[index % len(COLOURS)],
                capsize=2,
                linewidth=1.2,
                label=drawn(which),
            )
        axes.set_xlabel(across or "turn of the assistant in the conversation")
        axes.set_ylabel(label)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        name_lines(axes)
    place = (lambda row: f"at {row:g}") if across else (lambda turn: f"turn {turn}")
    described = " ".join(
        f"{which}: {ranges_in_words((table if len(table) else tables[which]).rename(place))}."
        for which, table in known.items()
    )
    data = pd.concat(dict(tables), names=["line"])
    return Figure(drawing, name, f"{label}, {f'by {across}' if across else 'turn by turn'}. {described}", caption, data)


check_arguments(globals())
