"""Estimates with their intervals, one row for each: in one panel or several, with the lines that they are judged by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    estimated = table[np.isfinite(table["estimate"].astype(float))]
    if "n = " not in caption and len(estimated):
        interval_kinds = []
        for method in estimated["method"]:
            if "interval" in method:
                interval_kinds.append(method.rpartition("; ")[2])
        kinds = "; ".join(dict.fromkeys(interval_kinds)) or "no interval"
        caption = f"{caption.rstrip('. ')}. n = {range_of_sizes(estimated['n'])}; {kinds}."
    if not np.isfinite(table["low"].astype(float)).any():
        caption += " No interval could be computed."
    return caption


def range_of_sizes(n: pd.Series) -> str:
    """The smallest and the largest n, or the one that all have."""
    sizes = dict.fromkeys((n.min(), n.max()))
    return " to ".join(f"{size:,}" for size in sizes)


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
    panel = _Panel("", by_series(tables))
    for table in panel.tables.values():
        require_estimates("intervals", "tables", table)
    if not len(panel.first):
        return Sentence(f"No figure of {label}: there is nothing to show.")
    sentences = []
    for series, table in panel.tables.items():
        heading = f"{series}: " if series else ""
        sentences.append(f"{heading}{ranges_in_words(table)}.")
    alt = f"{label}. {' '.join(sentences)}"
    data = panel.first
    if len(panel.tables) > 1:
        data = pd.concat(panel.tables, names=["interval"])

    def draw() -> MatplotlibFigure:
        return _draw([panel], label, limits, zero=zero)

    return Figure(draw(), draw(), name, alt, with_sizes(caption, data), data)


def by_series(tables: Mapping[str, pd.DataFrame] | pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables by the name of their series; a single one has none."""
    if isinstance(tables, Mapping):
        return dict(tables)
    return {"": tables}


@dataclass(frozen=True)
class _Panel:
    """Tables of estimates with the same rows, by series, and the lines that they are judged by."""

    heading: str
    tables: dict[str, pd.DataFrame]
    lines: Sequence[float] = ()

    @property
    def first(self) -> pd.DataFrame:
        """The table that says which rows there are, and their unit."""
        return next(iter(self.tables.values()))

    @property
    def unit(self) -> str:
        return self.first["unit"].iloc[0]

    @property
    def scale(self) -> int:
        """Factor of what is drawn: shares are drawn in percent."""
        return 100 if self.first["unit"].str.startswith("share").all() else 1

    def in_words(self) -> list[str]:
        """The panel's lines and estimates in words, one text for each series."""
        question = self.heading
        if self.lines:
            lines = "line" if len(self.lines) == 1 else "lines"
            values = " and ".join(format_number(line, self.unit) for line in self.lines)
            question += f", {lines} at {values}"
        texts = []
        for series, table in self.tables.items():
            heading = f"{series}: " if series else ""
            texts.append(f"{question}: {heading}{ranges_in_words(table)}")
        return texts


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
    drawn_panels = []
    texts = []
    tables_of_panels = []
    questions = []
    for question, (tables, judged_by) in panels.items():
        lines = [float(line) for line in judged_by if np.isfinite(line)]
        panel = _Panel(question, by_series(tables), lines)
        for series, table in panel.tables.items():
            require_estimates("forest", "panels", table)
            tables_of_panels.append(table.assign(series=series) if series else table)
            questions.append(question)
        drawn_panels.append(panel)
        texts += panel.in_words()
    if not tables_of_panels:
        return Sentence("No figure of the estimates: there is nothing to show.")
    data = pd.concat(tables_of_panels, keys=questions, names=["question"])
    if not np.isfinite(data["estimate"].astype(float)).any():
        reasons = "; ".join(dict.fromkeys(filter(None, data["reason"])))
        return Sentence(f"No figure of the estimates: {reasons or 'there is nothing to show'}.")

    def draw() -> MatplotlibFigure:
        return _draw(drawn_panels, label, limits, beside=beside)

    alt = f"{'. '.join(texts)}."
    return Figure(draw(), draw(), name, alt, with_sizes(caption, data), data)


def _draw(
    panels: Sequence[_Panel],
    label: str,
    limits: tuple[float, float] | None,
    *,
    zero: bool = False,
    beside: bool = False,
) -> MatplotlibFigure:
    """Panels of estimates, below each other or beside each other, with one axis label or one for each."""
    # Rows of tables side by side need more room, but not each as much as a row.
    room_for_rows = [len(panel.first) * max(1, 0.6 * len(panel.tables)) for panel in panels]
    if beside:
        height = 1 + 0.25 * max(room_for_rows)
    else:
        room_for_labels = 0.5 + 0.4 * len(panels) if label else 0.62 * len(panels)
        height = 0.3 + 0.18 * sum(room_for_rows) + room_for_labels

    with styled():
        drawing = MatplotlibFigure(figsize=(7, height), layout="constrained")
        if beside:
            grid = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        else:
            grid = drawing.subplots(
                len(panels),
                sharex=bool(label),
                squeeze=False,
                height_ratios=[0.4 + room for room in room_for_rows],
            )[:, 0]
        for axes, panel in zip(grid, panels, strict=True):
            without_estimate = _draw_estimates(axes, panel)
            if zero or "difference" in panel.unit or " minus " in label:
                axes.axvline(0, color=STYLE["text.color"], linewidth=1, linestyle="--", zorder=1)
            for line, style in zip(panel.lines, ("--", ":"), strict=False):
                axes.axvline(
                    panel.scale * line, linestyle=style, color=STYLE["text.color"], linewidth=1.2
                )
            text = "not available" if beside else "not available in this data set"
            for row in without_estimate:
                axes.text(
                    0.01,
                    row,
                    text,
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    style="italic",
                )
            if limits:
                axes.set_xlim(limits)
            axes.xaxis.set_major_locator(MaxNLocator(5 if beside else "auto"))
            longest = 40 if beside else 60
            row_names = [drawn(row, longest) for row in panel.first.index]
            axes.set_yticks(range(len(row_names)), row_names)
            axes.set_ylim(len(row_names) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            percent = " (%)" if panel.scale == 100 else ""
            if beside:
                axes.set_xlabel(f"{drawn(panel.heading)}{percent}")
            else:
                title = drawn(panel.heading, 78) if panel.heading else ""
                axes.set_title(title, loc="left", fontsize=10)
                if not label:
                    axes.set_xlabel(f"{drawn(panel.unit)}{percent}")
        if label:
            grid[-1].set_xlabel(label)
        if beside or len(panels) == 1:
            grid[0].set_ylabel(drawn(panels[0].first.index.name or ""))
        if any(len(panel.tables) > 1 for panel in panels):
            legend_above(drawing)
    return drawing


def _draw_estimates(axes, panel: _Panel) -> np.ndarray:
    """Draw the estimates of each series with their intervals; positions of the rows that no series has one of."""
    rows = panel.first.index
    offsets = [0]
    if len(panel.tables) > 1:
        offsets = np.linspace(-0.2, 0.2, len(panel.tables))
    has_estimate = np.zeros(len(rows), dtype=bool)
    colors = colors_of(list(panel.tables))
    for index, (series, table) in enumerate(panel.tables.items()):
        columns = table.loc[list(rows), ["estimate", "low", "high"]]
        numbers = panel.scale * columns.to_numpy(dtype=float)
        is_finite = np.isfinite(numbers[:, 0])
        has_estimate |= is_finite
        estimates = numbers[is_finite, 0]
        distances = np.abs(numbers[is_finite, 1:] - numbers[is_finite, :1])
        axes.errorbar(
            estimates,
            np.flatnonzero(is_finite) + offsets[index],
            xerr=np.nan_to_num(distances).T,
            label=drawn(series) or None,
            fmt=MARKS[index % len(MARKS)],
            color=colors[index],
            capsize=3,
        )
    return np.flatnonzero(~has_estimate)
