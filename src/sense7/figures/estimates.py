"""Estimates with their intervals, one row for each: in one panel or several, with the lines that they are judged by."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import MaxNLocator

from sense7.estimators.estimates import require_estimates
from sense7.figures.style import MARKS, STYLE, Figure, colors_of, drawn, legend_above, styled
from sense7.record import format_number
from sense7.tables import Sentence


def ranges_in_words(table: pd.DataFrame) -> str:
    """Rows of a table of estimates in words."""
    parts = []
    for name, row in table.iterrows():
        if not np.isfinite(row["estimate"]):
            parts.append(f"{name}: not available ({row['reason']})")
            continue
        text = f"{name}: {format_number(row['estimate'], row['unit'])}"
        if np.isfinite(row["low"]):
            text += f" ({format_number(row['low'], row['unit'])} to {format_number(row['high'], row['unit'])})"
        parts.append(text)
    return "; ".join(parts)


def with_sizes(caption: str, table: pd.DataFrame) -> str:
    """A caption with n and the kinds of intervals of the table that is drawn, where it does not say n itself."""
    known = table[np.isfinite(table["estimate"].astype(float))]
    if "n = " not in caption and len(known):
        sizes = " to ".join(f"{n:,}" for n in dict.fromkeys((known["n"].min(), known["n"].max())))
        kinds = dict.fromkeys(
            method.rpartition("; ")[2] for method in known["method"] if "interval" in method
        )
        caption = f"{caption.rstrip('. ')}. n = {sizes}; {'; '.join(kinds) or 'no interval'}."
    if not np.isfinite(table["low"].astype(float)).any():
        caption += " No interval could be computed."
    return caption


def intervals(
    tables: Mapping[str, pd.DataFrame] | pd.DataFrame,
    *,
    name: str,
    label: str,
    caption: str,
    limits: tuple[float, float] | None = None,
    zero: bool = False,
) -> Figure | Sentence:
    """Estimates with their intervals, one row for each; every table has its color and mark.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates with the same rows; several are drawn side by side.
    name : str
        Name of the figure's data file.
    label : str
        Label of the axis, with its unit; shares are drawn in percent.
    caption : str
        What to see. Where it does not say n, the numbers of observations and the kind of interval are added.
    limits : tuple, optional
        Ends of the axis, in the units drawn.
    zero : bool
        Whether a line marks zero. Differences always have one.

    Returns
    -------
    Figure or Sentence
        Rows without an estimate say so in their place; a sentence if there is no row.
    """
    tables = dict(tables) if isinstance(tables, Mapping) else {"": tables}
    for table in tables.values():
        require_estimates("intervals", "tables", table)
    if not len(next(iter(tables.values()))):
        return Sentence(f"No figure of {label}: there is nothing to show.")
    data = pd.concat(tables, names=["interval"])
    alt = " ".join(
        f"{which + ': ' if which else ''}{ranges_in_words(table)}."
        for which, table in tables.items()
    )
    data = data if len(tables) > 1 else next(iter(tables.values()))

    def draw() -> MatplotlibFigure:
        return _draw([("", tables, ())], label, limits, zero)

    return Figure(draw(), draw(), name, f"{label}. {alt}", with_sizes(caption, data), data)


def forest(
    panels: Mapping[str, tuple[Mapping[str, pd.DataFrame] | pd.DataFrame, Sequence[float]]],
    *,
    name: str,
    caption: str,
    label: str = "",
    limits: tuple[float, float] | None = None,
    beside: bool = False,
) -> Figure | Sentence:
    """Draw one panel for each question: its estimates with intervals, and the lines that they are judged by.

    Parameters
    ----------
    panels : mapping of str -> (tables, sequence of float)
        Question -> a table of estimates in one unit, or several of them by name with the same rows, as for
        :func:`intervals`; and its lines: the first is that of the claim (dashed), a second one that of its contrary
        (dotted). Shares are drawn in percent.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, and what the lines are. Where it does not say n, the numbers of observations and the kind of
        interval are added.
    label : str, optional
        The label of one axis that all panels share; each has its own otherwise, and its label is the unit.
    limits : tuple, optional
        Ends of the axes, in the units drawn.
    beside : bool
        Whether the panels stand beside each other, with the same rows.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no estimate. Estimates without an interval are drawn as a mark alone.

    Examples
    --------
    >>> from sense7.estimators.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.9, 0.8, 0.95, n=9, unit="alpha", method="alpha; 95% interval")
    >>> figure = forest({"consistent": (estimate_table({"A": row}, "data"), (0.7,))}, name="x", caption="Look.")
    >>> figure, figure.caption
    (Figure: consistent, line at 0.700: A: 0.900 (0.800 to 0.950)., 'Look. n = 9; 95% interval.')
    """
    shown, said, data = [], [], []
    for question, (given, judged_by) in panels.items():
        tables = dict(given) if isinstance(given, Mapping) else {"": given}
        for table in tables.values():
            require_estimates("forest", "panels", table)
        lines = [float(line) for line in judged_by if np.isfinite(line)]
        shown.append((question, tables, lines))
        unit = next(iter(tables.values()))["unit"].iloc[0]
        where = " and ".join(format_number(line, unit) for line in lines)
        words = f", line{'s' * (len(lines) > 1)} at {where}" if lines else ""
        for series, table in tables.items():
            said.append(
                f"{question}{words}: {f'{series}: ' if series else ''}{ranges_in_words(table)}"
            )
            data.append(table.assign(series=series) if series else table)
    everything = (
        pd.concat(data, keys=[one[0] for one in shown for _ in one[1]], names=["question"])
        if data
        else None
    )
    if everything is None or not np.isfinite(everything["estimate"].astype(float)).any():
        reasons = (
            []
            if everything is None
            else dict.fromkeys(reason for reason in everything["reason"] if reason)
        )
        return Sentence(
            f"No figure of the estimates: {'; '.join(reasons) or 'there is nothing to show'}."
        )

    def draw() -> MatplotlibFigure:
        return _draw(shown, label, limits, False, beside=beside)

    return Figure(
        draw(), draw(), name, f"{'. '.join(said)}.", with_sizes(caption, everything), everything
    )


def _draw(panels, label, limits, zero, *, beside=False) -> MatplotlibFigure:
    counts = [
        len(next(iter(tables.values()))) * max(1, 0.6 * len(tables)) for _, tables, _ in panels
    ]
    around = 0.5 + 0.4 * len(panels) if label else 0.62 * len(panels)
    height = 1 + 0.25 * max(counts) if beside else 0.3 + 0.18 * sum(counts) + around
    with styled():
        drawing = MatplotlibFigure(figsize=(7, height), layout="constrained")
        if beside:
            grid = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        else:
            ratios = [0.4 + count for count in counts]
            grid = drawing.subplots(
                len(panels), sharex=bool(label), squeeze=False, height_ratios=ratios
            )[:, 0]
        for axes, (heading, tables, lines) in zip(grid, panels, strict=True):
            first = next(iter(tables.values()))
            rows, unit = list(first.index), first["unit"].iloc[0]
            scale = 100 if first["unit"].str.startswith("share").all() else 1
            offsets = np.linspace(-0.2, 0.2, len(tables)) if len(tables) > 1 else [0]
            known = np.zeros(len(rows), dtype=bool)
            for index, (color, (series, table)) in enumerate(
                zip(colors_of(list(tables)), tables.items(), strict=True)
            ):
                numbers = scale * table.loc[rows, ["estimate", "low", "high"]].to_numpy(dtype=float)
                there = np.isfinite(numbers[:, 0])
                known |= there
                reach = np.nan_to_num(np.abs(numbers[there, 1:] - numbers[there, :1])).T
                places = np.flatnonzero(there) + offsets[index]
                look = {"fmt": MARKS[index % len(MARKS)], "color": color, "capsize": 3}
                axes.errorbar(
                    numbers[there, 0], places, xerr=reach, label=drawn(series) or None, **look
                )
            if zero or "difference" in unit or " minus " in label:
                axes.axvline(0, color=STYLE["text.color"], linewidth=1, linestyle="--", zorder=1)
            for line, style in zip(lines, ("--", ":"), strict=False):
                axes.axvline(
                    scale * line, linestyle=style, color=STYLE["text.color"], linewidth=1.2
                )
            for place in np.flatnonzero(~known):
                text = "not available" if beside else "not available in this data set"
                axes.text(
                    0.01,
                    place,
                    text,
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    style="italic",
                )
            if limits:
                axes.set_xlim(limits)
            axes.xaxis.set_major_locator(MaxNLocator(5 if beside else "auto"))
            axes.set_yticks(range(len(rows)), [drawn(row, 40 if beside else 60) for row in rows])
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            percent = " (%)" if scale == 100 else ""
            if beside:
                axes.set_xlabel(f"{drawn(heading)}{percent}")
            else:
                axes.set_title(drawn(heading, 78) if heading else "", loc="left", fontsize=10)
                if not label:
                    axes.set_xlabel(f"{drawn(unit)}{percent}")
        if label:
            grid[-1].set_xlabel(label)
        names = dict.fromkeys(
            str(first.index.name or "") for _, tables, _ in panels for first in tables.values()
        )
        grid[0].set_ylabel(drawn(next(iter(names)))) if beside or len(panels) == 1 else None
        if any(len(tables) > 1 for _, tables, _ in panels):
            legend_above(drawing)
    return drawing
