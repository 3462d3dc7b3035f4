"""The picture by which an edition is announced where its address is shared: 1,200 by 630 pixels."""

import io
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from sense7.book.ledger_axis import positions
from sense7.figures.style import COLOURS, drawn, styled

__all__ = ["card"]

_ROWS = 12
"""Most rows that stay readable in a preview."""


def card(ledger: Sequence[Mapping], label: str) -> bytes:
    """Draw what the ledger of an edition shows: published figures beside this edition's values and intervals.

    Parameters
    ----------
    ledger : sequence of mapping
        Rows of ledger.json.
    label : str
        What the data of the edition are.

    Returns
    -------
    bytes
        A PNG of 1,200 by 630 pixels.

    Examples
    --------
    >>> card([], "an example")[1:4]
    b'PNG'
    """
    rows = [row for row in ledger if not row["published"]["release"] and row["published"]["value"] is not None]
    rows = [row for row in rows if positions(row) and row["computed"]["low"] is not None][:_ROWS]
    stream = io.BytesIO()
    with styled():
        drawing = Figure(figsize=(12, 6.3), facecolor="white")
        drawing.text(0.05, 0.86, "SENSE-7: a reproducible companion", fontsize=30, weight="bold")
        drawing.text(0.05, 0.78, f"Data: {drawn(label, 90)}", fontsize=17)
        axes = drawing.add_axes((0.3, 0.12, 0.65, 0.58))
        for place, row in enumerate(rows):
            reference, estimate, low, high = positions(row)
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=3)
            axes.plot([estimate], [place], "o", color=COLOURS[0], markersize=9)
            axes.axvline(reference, linestyle="--", color="black", linewidth=1)
        axes.set_xlim(0, 100)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        names = [drawn(row["published"]["short"] or row["published"]["title"], 32) for row in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=13)
        axes.set_xticks([0, 50, 100], ["zero", "as published", "twice as published"], fontsize=13)
        axes.grid(visible=False)
        drawing.savefig(stream, format="png", dpi=100, bbox_inches=None, metadata={"Software": None})
    return stream.getvalue()
