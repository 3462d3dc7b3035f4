"""Figures of what comes before and after an event."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.charts import ranges_in_words
from sense7.figures.direct_labels import name_lines
from sense7.figures.style import COLOURS, STYLE, Figure, new_axes, styled
from sense7.tables import Sentence

__all__ = ["event_time", "in_words_of_time"]


def event_time(
    tables: Mapping[str, pd.DataFrame] | pd.DataFrame,
    *,
    name: str,
    label: str,
    caption: str,
    reference: float | None = None,
) -> Figure | Sentence:
    """Estimates by event time with their intervals, one line a table; a sentence if there are none.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates whose index is the number of turns after (negative: before) the event.
    name : str
        Name of the figure's data file.
    label : str
        Label of the upright axis, with its unit.
    caption : str
        n and the kind of interval.
    reference : float, optional
        Where a dashed line stands.
    """
    tables = {"": tables} if isinstance(tables, pd.DataFrame) else dict(tables)
    if not any(np.isfinite(table["estimate"].astype(float)).any() for table in tables.values()):
        reasons = sorted({reason for table in tables.values() for reason in table["reason"] if reason})
        return Sentence(f"No figure of {label}: {'; '.join(reasons) or 'there is nothing to show'}.")
    times = sorted({time for table in tables.values() for time in table.index})
    with styled():
        drawing, axes = new_axes(7, 3.4)
        if reference is not None:
            axes.axhline(reference, linestyle="--", linewidth=1, color=STYLE["axes.edgecolor"])
        axes.axvline(0, linestyle=":", linewidth=1, color=STYLE["axes.edgecolor"])
        shifts = np.linspace(-0.1, 0.1, len(tables)) if len(tables) > 1 else [0]
        for index, (which, table) in enumerate(tables.items()):
            known = table[np.isfinite(table["estimate"].astype(float))]
            numbers = known[["estimate", "low", "high"]].to_numpy(dtype=float)
            axes.errorbar(
                known.index.to_numpy(dtype=float) + shifts[index],
                numbers[:, 0],
                yerr=np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T,
                fmt="os^D"[index % 4],
                linestyle=("-", "--", "-.", ":")[index % 4],
                color=COLOURS[index % len(COLOURS)],
                capsize=3,
                label=which or None,
            )
        axes.set_xticks(times, [f"{time:+d}" if time else "0" for time in times])
        axes.set_xlabel("turns after (+) or before (-) the first poor turn")
        axes.set_ylabel(label)
        name_lines(axes)
    if not any(np.isfinite(table["low"].astype(float)).any() for table in tables.values()):
        caption += " No interval could be computed."
    data = pd.concat(tables, names=["series"]) if len(tables) > 1 else next(iter(tables.values()))
    alt = f"{label} by turns around the first poor turn. " + " ".join(
        f"{which + ': ' if which else ''}{ranges_in_words(table.rename(index=in_words_of_time))}."
        for which, table in tables.items()
    )
    return Figure(drawing, name, alt, caption, data)


def in_words_of_time(time: int) -> str:
    """Return a time of the event in words, for the alternative text of a figure.

    Examples
    --------
    >>> in_words_of_time(0), in_words_of_time(-2)
    ('the first poor turn', '2 before')
    """
    if time == 0:
        return "the first poor turn"
    return f"{abs(time)} {'after' if time > 0 else 'before'}"


check_arguments(globals())
