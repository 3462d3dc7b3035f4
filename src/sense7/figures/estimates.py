"""Estimates with their intervals, one row for each: in one panel or several, with the lines that they are judged by."""

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from sense7.figures.source import GRAY, INK, Shown, Sources
from sense7.figures.style import (
    MARKS,
    Figure,
    drawn,
    figure_of,
    has_estimate,
    legend_above,
    name_rows,
    new_drawing,
    numbers_and_reach,
    range_of,
    reasons_of,
)
from sense7.record import format_number
from sense7.statistics.estimates import COLUMNS
from sense7.tables import Sentence
from sense7.terminal import plain

Tables = Mapping[str, pd.DataFrame] | pd.DataFrame
Lines = Sequence[float] | Mapping[str, float]


def ranges_in_words(table: pd.DataFrame) -> str:
    """Rows of a table of estimates in words."""
    parts = []
    for name, row in table.iterrows():
        if not np.isfinite(row["estimate"]):
            parts.append(f"{name}: not available ({row['reason']})")
            continue
        text = f"{name}: {format_number(row['estimate'], row['unit'])}"
        if np.isfinite(row["low"]):
            low = format_number(row["low"], row["unit"])
            high = format_number(row["high"], row["unit"])
            text += f" ({low} to {high})"
        parts.append(text)
    return "; ".join(parts)


def scale_of(table: pd.DataFrame) -> int:
    """Factor of what is drawn: shares are drawn in percent."""
    if table["unit"].str.startswith("share").all():
        return 100
    return 1


def series_in_words(series: str, table: pd.DataFrame) -> str:
    """The rows of a series in words, after its name where it has one."""
    if series:
        return f"{series}: {ranges_in_words(table)}"
    return ranges_in_words(table)


def with_sizes(caption: str, table: pd.DataFrame) -> str:
    """A caption with n and the kinds of intervals of the table that is drawn, where it does not say n itself."""
    estimated = table[has_estimate(table)]
    if "n = " not in caption and len(estimated):
        interval_kinds = []
        for method in estimated["method"]:
            if "interval" in method:
                interval_kinds.append(method.rpartition("; ")[2])
        kinds = "; ".join(dict.fromkeys(interval_kinds)) or "no interval"
        caption = f"{caption.rstrip('. ')}. n = {range_of(estimated['n'])}; {kinds}."
    if not np.isfinite(table["low"].astype(float)).any():
        caption += " No interval could be computed."
    return caption


def published_values(values: Mapping[str, float], name: str, unit: str) -> pd.DataFrame:
    """Published values as a table of estimates without intervals, to be drawn beside estimates.

    Parameters
    ----------
    values : mapping
        Name of the row -> published value.
    name : str
        What the rows are.
    unit : str
        Unit of the values.

    Examples
    --------
    >>> published_values({"Affective": 0.703}, "dimension", "weighted kappa")["estimate"].tolist()
    [0.703]
    """
    rows = {}
    for row, value in values.items():
        rows[row] = dict.fromkeys(COLUMNS)
        rows[row].update(estimate=value, low=np.nan, high=np.nan, unit=unit)
        rows[row].update(method="published", reason="published without an interval")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(name)


def intervals(
    tables: Tables,
    *,
    name: str,
    label: str,
    caption: str,
    limits: tuple[float, float] | None = None,
    zero: bool = False,
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates with their intervals, one row for each; every table has its color and mark.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates; several are drawn side by side, in the rows of the first one. A row that another one
        lacks has no mark of it.
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
    source : Study, Source, or mapping of name -> one of these, optional
        Whose data the figure shows, or each of its tables: the drawing, its data and its files say so, and blue is
        simulated, orange real, gray published.

    Returns
    -------
    Figure or Sentence
        Rows without an estimate say so in their place; a sentence if there is no row.
    """
    panel = _Panel("", by_series(tables))
    if not len(panel.first_table):
        return Sentence(f"No figure of {label}: there is nothing to show.")
    sentences = []
    row_sources = []
    sources = Sources.of(source)
    for series, table in panel.tables.items():
        sentences.append(f"{series_in_words(series, table)}.")
        row_sources += [sources.source(series)] * len(table)
    alt = f"{label}. {' '.join(sentences)}"
    data = panel.first_table
    if len(panel.tables) > 1:
        data = pd.concat(panel.tables, names=["interval"])
    if zero or " minus " in label:
        panel = _Panel("", panel.tables, lines={"": 0.0})

    def draw():
        return _draw([panel], label, {"": limits}, sources)

    caption = with_sizes(caption, data)
    return figure_of(draw, name, alt, caption, data, source, row_sources=row_sources)


def by_series(tables: Tables) -> dict[str, pd.DataFrame]:
    """Tables by the name of their series; a single one has none."""
    if isinstance(tables, Mapping):
        return dict(tables)
    return {"": tables}


@dataclass(frozen=True)
class _Panel:
    """Tables of estimates by series, and the lines that they are judged by: name, "" for none, -> value."""

    heading: str
    tables: dict[str, pd.DataFrame]
    lines: Mapping[str, float] = field(default_factory=dict)

    @property
    def first_table(self) -> pd.DataFrame:
        """The table that says which rows there are, and their unit."""
        return next(iter(self.tables.values()))

    @property
    def unit(self) -> str:
        return self.first_table["unit"].iloc[0]

    @property
    def scale(self) -> int:
        """Factor of what is drawn."""
        return scale_of(self.first_table)

    @property
    def percent(self) -> str:
        """What the label of the axis says of the scale."""
        if self.scale == 100:
            return " (%)"
        return ""

    def in_words(self) -> list[str]:
        """The panel's lines and estimates in words, one text for each series."""
        question = self.heading
        if self.lines:
            values = []
            for name, value in self.lines.items():
                values.append(f"{name} {format_number(value, self.unit)}".strip())
            noun = "line" if len(self.lines) == 1 else "lines"
            question += f", {noun} at {' and '.join(values)}"
        return [
            f"{question}: {series_in_words(series, table)}" for series, table in self.tables.items()
        ]


def _named(lines: Lines) -> dict[str, float]:
    """Lines by their name, those that are there; lines that are given as numbers alone have none."""
    if not isinstance(lines, Mapping):
        lines = {" " * index: line for index, line in enumerate(lines)}
    return {name: float(value) for name, value in lines.items() if np.isfinite(value)}


def forest(
    panels: Mapping[str, tuple[Tables, Lines]],
    *,
    name: str,
    caption: str,
    label: str = "",
    limits: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
    beside: bool = False,
    source: Shown = None,
) -> Figure | Sentence:
    """Draw one panel for each question: its estimates with intervals, and the lines that they are judged by.

    Parameters
    ----------
    panels : mapping of str -> (tables, lines)
        Question -> a table of estimates in one unit, or several of them by name, as for :func:`intervals`; and its
        lines, as numbers or as name -> number. A line at zero is solid, others are dashed, then dotted; one whose name
        says that it was published is gray. Names stand in the panel's title. Shares are drawn in percent.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, and what the lines are. Where it does not say n, the numbers of observations and the kind of
        interval are added.
    label : str, optional
        The label of one axis that all panels share; each has its own otherwise, and its label is the unit.
    limits : tuple, or mapping of question -> tuple, optional
        Ends of the axes, in the units drawn.
    beside : bool
        Whether the panels stand beside each other, with the same rows.
    source : Study, Source, or mapping of name -> one of these, optional
        As for :func:`intervals`; names are those of tables or of questions.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no estimate. Estimates without an interval are drawn as a mark alone.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.9, 0.8, 0.95, n=9, unit="alpha", method="alpha; 95% interval")
    >>> panels = {"consistent": (estimate_table({"A": row}, "data"), (0.7,))}
    >>> figure = forest(panels, name="x", caption="Look.")
    >>> figure.alt.partition(" Source")[0], figure.caption
    ('consistent, line at 0.700: A: 0.900 (0.800 to 0.950).', 'Look. n = 9; 95% interval.')
    """
    sources = Sources.of(source)
    drawn_panels = []
    texts = []
    row_sources = []
    for question, (tables, lines) in panels.items():
        panel = _Panel(question, by_series(tables), _named(lines))
        for series, table in panel.tables.items():
            row_sources += [sources.source(series, question)] * len(table)
        drawn_panels.append(panel)
        texts += panel.in_words()
    if not texts:
        return Sentence("No figure of the estimates: there is nothing to show.")
    data = _data_of(drawn_panels)
    if not has_estimate(data).any():
        reasons = reasons_of(data)
        return Sentence(f"No figure of the estimates: {reasons or 'there is nothing to show'}.")
    limits_of = limits
    if not isinstance(limits, Mapping):
        limits_of = dict.fromkeys(panels, limits)

    def draw():
        if beside:
            return _draw_beside(drawn_panels, label, limits_of, sources)
        return _draw(drawn_panels, label, limits_of, sources)

    alt = f"{'. '.join(texts)}."
    caption = with_sizes(caption, data)
    return figure_of(draw, name, alt, caption, data, source, row_sources=row_sources)


def _data_of(panels: Sequence[_Panel]) -> pd.DataFrame:
    """Rows of all panels below each other, each with its question and, where a panel has several, its series."""
    tables = []
    questions = []
    for panel in panels:
        for series, table in panel.tables.items():
            tables.append(table.assign(series=series) if series else table)
            questions.append(panel.heading)
    return pd.concat(tables, keys=questions, names=["question"])


def _room_for_rows(panel: _Panel) -> float:
    """Height of a panel in rows: those of tables side by side need more room, but not each as much as a row."""
    return len(panel.first_table) * max(1, 0.6 * len(panel.tables))


def _draw(
    panels: Sequence[_Panel], label: str, limits: Mapping[str, tuple | None], sources: Sources
):
    """Panels of estimates below each other, with one axis label or one for each."""
    has_legend = any(len(panel.tables) > 1 for panel in panels)
    room_for_rows = [_room_for_rows(panel) for panel in panels]
    # A line of a title begins where the rows' names end.
    row_names = list(itertools.chain.from_iterable(panel.first_table.index for panel in panels))
    longest_row = max(len(drawn(row)) for row in row_names)
    letters = max(34, 82 - longest_row)
    titles = [textwrap.fill(_title(panel), letters) for panel in panels]
    lines_of_titles = sum(title.count("\n") for title in titles)
    height = 0.3 + 0.2 * sum(room_for_rows) + 0.17 * lines_of_titles + 0.74 * len(panels)
    if label:
        height -= 0.34 * (len(panels) - 1)
    if has_legend:
        height += 0.3
    drawing = new_drawing(7, height)
    grid = drawing.subplots(
        len(panels),
        sharex=bool(label),
        squeeze=False,
        height_ratios=[0.4 + room for room in room_for_rows],
    )[:, 0]
    for axes, panel, title in zip(grid, panels, titles, strict=True):
        _draw_panel(axes, panel, sources)
        _draw_rows(axes, panel, 60)
        axes.set_title(title, loc="left", fontsize=10)
        if not label:
            axes.set_xlabel(f"{drawn(panel.unit)}{panel.percent}")
    for axes, panel in zip(grid, panels, strict=True):  # an axis may be shared: after all are drawn
        axes.set_xlim(limits.get(panel.heading))
    if label:
        grid[-1].set_xlabel(label)
    if len(panels) == 1:
        grid[0].set_ylabel(drawn(panels[0].first_table.index.name or ""))
    if has_legend:
        legend_above(drawing)
    return drawing


def _draw_beside(
    panels: Sequence[_Panel], label: str, limits: Mapping[str, tuple | None], sources: Sources
):
    """Panels of estimates beside each other, with the same rows."""
    height = 1 + 0.25 * max(_room_for_rows(panel) for panel in panels)
    drawing = new_drawing(7, height)
    grid = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    letters = 56 // len(panels)
    for axes, panel in zip(grid, panels, strict=True):
        _draw_panel(axes, panel, sources)
        axes.set_xlim(limits.get(panel.heading))
        axes.xaxis.set_major_locator(MaxNLocator(5))
        _draw_rows(axes, panel, 40)
        axes.set_xlabel(textwrap.fill(_title(panel, panel.percent), letters))
    if label:
        grid[-1].set_xlabel(label)
    grid[0].set_ylabel(drawn(panels[0].first_table.index.name or ""))
    if any(len(panel.tables) > 1 for panel in panels):
        legend_above(drawing)
    return drawing


def _draw_panel(axes, panel: _Panel, sources: Sources) -> None:
    """Lines, and the estimates of each series with their intervals, in the order of the rows."""
    lines = dict(panel.lines)
    if "difference" in panel.unit and not lines:
        lines = {"": 0.0}
    styles = iter(("--", ":"))
    for name, value in lines.items():
        look = {"color": INK, "linewidth": 1.2}
        if "published" in name:
            look = {"color": GRAY, "linewidth": 1.8}
        if value == 0:
            look["linewidth"] = 0.9
        else:
            look["linestyle"] = next(styles, "-.")
        axes.axvline(panel.scale * value, zorder=1, **look)
    rows = panel.first_table.index
    offsets = [0]
    if len(panel.tables) > 1:
        offsets = np.linspace(-0.2, 0.2, len(panel.tables))
    colors = sources.colors(list(panel.tables), panel.heading)
    for index, (series, table) in enumerate(panel.tables.items()):
        estimates, reach = numbers_and_reach(table.reindex(rows), panel.scale)
        drawn_rows = np.flatnonzero(np.isfinite(estimates))
        axes.errorbar(
            estimates[drawn_rows],
            drawn_rows + offsets[index],
            xerr=reach[:, drawn_rows],
            label=drawn(series) or None,
            fmt=MARKS[index % len(MARKS)],
            markersize=5,
            color=colors[index],
            capsize=3,
        )


def _draw_rows(axes, panel: _Panel, longest: int) -> None:
    """The names of a panel's rows, and why there is nothing in those that no series has an estimate of."""
    rows = panel.first_table.index
    is_drawn = np.zeros(len(rows), dtype=bool)
    for table in panel.tables.values():
        is_drawn |= has_estimate(table.reindex(rows)).to_numpy()
    for row in np.flatnonzero(~is_drawn):
        axes.text(
            0.01,
            row,
            textwrap.shorten(f"none: {plain(panel.first_table['reason'].iloc[row])}", 44),
            transform=axes.get_yaxis_transform(),
            va="center",
            style="italic",
            fontsize=8,
        )
    name_rows(axes, [drawn(row, longest) for row in rows])


def _title(panel: _Panel, unit: str = "") -> str:
    """The question of a panel, and the names of its lines with their values."""
    values = []
    for name, value in panel.lines.items():
        if name.strip():
            values.append(f"{drawn(name)} {format_number(value, panel.unit)}")
    title = f"{drawn(panel.heading, 120)}{unit}"
    if values:
        title += f"; dashed: {', '.join(values)}"
    return title
