"""Tables of estimates with their intervals: rows of marks or bars, and lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from sense7.figures.figure import (
    LINE,
    MARKS,
    WIDE,
    Figure,
    drawn,
    figure_of,
    has_estimate,
    lines_of,
    name_rows,
    new_axes,
    new_drawing,
    range_of,
    reasons_of,
    rounded,
    wrapped,
)
from sense7.figures.source import GRAY, INK, Shown, Sources
from sense7.record import format_number
from sense7.statistics.estimates import COLUMNS
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import plain

Tables = Mapping[str, pd.DataFrame] | pd.DataFrame
Lines = Sequence[float] | Mapping[str, float]
Limits = tuple[float | None, float | None]


def estimate_in_words(row: Mapping) -> str:
    """An estimate with its interval, or why there is none."""
    if not np.isfinite(row["estimate"]):
        return f"not available ({row['reason']})"
    text = format_number(row["estimate"], row["unit"])
    if np.isfinite(row["low"]):
        low = format_number(row["low"], row["unit"])
        high = format_number(row["high"], row["unit"])
        text += f" ({low} to {high})"
    return text


def rows_in_words(series: str, table: pd.DataFrame) -> str:
    """The rows of a series in words, after its name where it has one."""
    parts = []
    for name, row in table.iterrows():
        place = f"{round(name, 3):g}" if isinstance(name, float) else name
        parts.append(f"{place}: {estimate_in_words(row)}")
    return ": ".join(filter(None, [series, "; ".join(parts)]))


def scale_of(table: pd.DataFrame) -> int:
    """Factor of what is drawn: shares are drawn in percent."""
    if table["unit"].str.startswith("share").all():
        return 100
    return 1


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
    if "no interval" not in caption and not np.isfinite(table["low"].astype(float)).any():
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


def decided(row: Mapping, title: str, question: str) -> str:
    """The title of a figure: a sentence where the whole interval of a row lies above zero, a question otherwise.

    Parameters
    ----------
    row : Series or mapping
        Row of a table of estimates.
    title, question : str
        A sentence that is true where the interval lies above zero; the question that the figure answers.

    Examples
    --------
    >>> decided({"low": -0.1}, "It rises", "Does it rise?")
    'Does it rise?'
    """
    if row["low"] > 0:
        return title
    return question


def highest(table: pd.DataFrame) -> str:
    """Name of the row with the highest estimate, for a title.

    Examples
    --------
    >>> highest(pd.DataFrame({"estimate": [0.1, 0.4]}, index=["Affective", "Cognitive"]))
    'Cognitive'
    """
    return lowest(table.assign(estimate=-table["estimate"].astype(float)))


def lowest(table: pd.DataFrame) -> str:
    """Name of the row with the lowest estimate, for a title; "none" of an empty table."""
    in_order = table["estimate"].astype(float).sort_values()
    return next(iter(map(drawn, in_order.index)), "none")


@dataclass(frozen=True)
class _Panel:
    """Tables of estimates by series, and the lines that they are judged by: name, "" for none, -> value."""

    heading: str
    tables: dict[str, pd.DataFrame]
    lines: dict[str, float]

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
    def title(self) -> str:
        """The question, and the names of the lines with their values."""
        parts = [drawn(self.heading, 120)] if self.heading else []
        for name, value in self.lines.items():
            if name.strip():
                parts.append(f"dashed: {drawn(name)} {format_number(value, self.unit)}")
        return "; ".join(parts)

    @property
    def label(self) -> str:
        """The unit as it is drawn: shares in percent, their differences in percentage points."""
        if self.scale == 1:
            return drawn(self.unit)
        if "difference" in self.unit:
            return f"{drawn(self.unit)} (percentage points)"
        return f"{drawn(self.unit)} (%)"

    @property
    def ends(self) -> np.ndarray:
        """Smallest and largest number that is drawn."""
        numbers = [line * self.scale for line in self.lines.values()]
        for table in self.tables.values():
            numbers += [*(self.scale * table[["estimate", "low", "high"]].to_numpy(float).ravel())]
        return np.array([np.nanmin(numbers), np.nanmax(numbers)])

    def row_names(self, width: float) -> list[str]:
        """Names of the rows, on lines that leave half of the drawing's width, or more, to the marks."""
        inches = 3.2
        if width < WIDE:
            inches = 1.7
        return [wrapped(drawn(row), min(inches, 0.45 * width)) for row in self.first_table.index]

    def height(self, width: float) -> float:
        """Height of the axes in inches: a row is as high as its name, or as the marks of its series."""
        row = max(1.2 * LINE * lines_of(self.row_names(width)), 0.12 + 0.13 * len(self.tables))
        return 0.1 + row * len(self.first_table)

    def in_words(self) -> list[str]:
        """The panel's lines and estimates in words, one text for each series."""
        question = self.heading
        if self.lines:
            values = []
            for name, value in self.lines.items():
                values.append(f"{name} {format_number(value, self.unit)}".strip())
            noun = "line" if len(self.lines) == 1 else "lines"
            question = ", ".join(filter(None, [question, f"{noun} at {' and '.join(values)}"]))
        rows = [rows_in_words(series, table) for series, table in self.tables.items()]
        return [": ".join(filter(None, [question, words])) for words in rows]


def _panels_of(tables: Tables | Mapping[str, tuple[Tables, Lines]], lines: Lines) -> list[_Panel]:
    """The panels of a figure whose tables stand in one panel, or in one for each question."""
    if isinstance(tables, pd.DataFrame):
        tables = {"": tables}
    if all(isinstance(table, pd.DataFrame) for table in tables.values()):
        tables = {"": (tables, lines)}
    panels = []
    for heading, (tables_of_panel, lines_of_panel) in tables.items():
        series = tables_of_panel
        if isinstance(series, pd.DataFrame):
            series = {"": series}
        if not sum(len(table) for table in series.values()):
            continue
        if not isinstance(lines_of_panel, Mapping):
            lines_of_panel = {" " * index: line for index, line in enumerate(lines_of_panel)}  # noqa: PLW2901
        values = {name: float(line) for name, line in lines_of_panel.items() if np.isfinite(line)}
        panel = _Panel(heading, dict(series), values)
        if "difference" in panel.unit and not panel.lines:
            panel.lines[""] = 0.0
        panels.append(panel)
    return panels


def forest(
    tables: Tables | Mapping[str, tuple[Tables, Lines]],
    *,
    name: str,
    title: str,
    caption: str,
    label: str = "",
    lines: Lines = (),
    limits: Limits | Mapping[str, Limits] = (None, None),
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates with their intervals, one row for each, beside the lines that they are judged by.

    Parameters
    ----------
    tables : DataFrame, mapping of series -> DataFrame, or mapping of question -> (tables, lines)
        A table of estimates; or several, which are drawn side by side in the rows of the first one, each with its
        color and mark; or one panel for each question, in one unit. Shares are drawn in percent.
    name : str
        Name of the figure's data file.
    title : str
        Says what is seen or, where that is not decided, what to look at.
    caption : str
        What to see. Where it does not say n, the numbers of observations and the kind of interval are added.
    label : str, optional
        Label of the axis, with its unit, that all panels share; each has its own otherwise, labelled by its unit.
    lines : sequence of float, or mapping of name -> float, optional
        Of a figure of one panel. A line at zero is solid, others are dashed, then dotted; one whose name says that
        it was published is gray. Differences always have one at zero.
    limits : tuple, or mapping of question -> tuple, optional
        Ends of the axes, in the units drawn, None for free; no interval is cut by them.
    source : Study, Source, or mapping of name -> one of these, optional
        Whose data the figure shows, or each of its tables or questions: the drawing, its data and its files say so,
        and blue is simulated, orange real, gray published.

    Returns
    -------
    Figure or Sentence
        Rows without an estimate say so in their place; a sentence if no row has one.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.9, 0.8, 0.95, n=9, unit="alpha", method="alpha; 95% interval")
    >>> panels = {"consistent": (estimate_table({"A": row}, "data"), (0.7,))}
    >>> figure = forest(panels, name="x", title="Ratings move together", caption="Look.")
    >>> figure.alt.partition(" Source")[0], figure.caption
    ('Ratings move together. consistent, line at 0.700: A: 0.900 (0.800 to 0.950).', 'Look. n = 9; 95% interval.')
    """
    sources = Sources.of(source)
    panels = _panels_of(tables, lines)
    row_sources = []
    texts = []
    data = {}
    for panel in panels:
        texts += panel.in_words()
        for series, table in panel.tables.items():
            row_sources += [sources.source(series, panel.heading)] * len(table)
            data[panel.heading, series] = table
    if not panels:
        return Sentence(f"No figure of {label or 'the estimates'}: there is nothing to show.")
    everything = pd.concat(data, names=["question", "series"])
    if not has_estimate(everything).any():
        return Sentence(f"No figure of {label or 'the estimates'}: {reasons_of(everything)}.")

    def draw(width: float):
        heights = [panel.height(width) for panel in panels]
        titles = [wrapped(panel.title, 0.55 * width) for panel in panels]
        height = sum(heights) + 0.6 * len(panels) + 0.1
        height += LINE * sum(lines_of([panel_title]) for panel_title in titles if panel_title)
        drawing = new_drawing(width, height)
        grid = drawing.subplots(
            len(panels), sharex=bool(label), squeeze=False, height_ratios=heights
        )[:, 0]
        for axes, panel, panel_title in zip(grid, panels, titles, strict=True):
            _draw_panel(axes, panel, sources, width)
            axes.set_title(panel_title, loc="left", fontsize=10)
            axes.set_xlabel(wrapped(panel.label, 0.5 * width))
        for axes, panel in zip(grid, panels, strict=True):  # an axis may be shared: after all
            ends = limits
            if isinstance(limits, Mapping):
                ends = limits.get(panel.heading, (None, None))
            # Ends are moved where they would cut a mark, an interval or a line.
            low, high = ends
            smallest, largest = panel.ends
            margin = 0.04 * (largest - smallest)
            if low is not None:
                low = min(low, smallest - margin * (smallest < low))
            if high is not None:
                high = max(high, largest + margin * (largest > high))
            axes.set_xlim(low, high)
            axes.xaxis.set_major_locator(MaxNLocator(6 if width == WIDE else 4))
        if label:
            for axes in grid:
                axes.set_xlabel("")
            grid[-1].set_xlabel(wrapped(label, 0.6 * width))
        return drawing

    alt = f"{'. '.join(texts)}."
    data_of_figure = everything
    for level in (1, 0):  # of series and questions without names
        if set(everything.index.get_level_values(level)) == {""}:
            data_of_figure = data_of_figure.droplevel(level)
    return figure_of(
        draw,
        name,
        title,
        alt,
        with_sizes(caption, everything),
        data_of_figure,
        source,
        row_sources=row_sources,
    )


def _draw_panel(axes, panel: _Panel, sources: Sources, width: float) -> None:
    """Lines, the estimates of each series with their intervals, and why a row has none."""
    styles = iter(("--", ":"))
    for name, value in panel.lines.items():
        look = {"color": INK, "linewidth": 1.2}
        if "published" in name:
            look = {"color": GRAY, "linewidth": 1.8}
        if value == 0:
            look["linewidth"] = 0.9
        else:
            look["linestyle"] = next(styles, "-.")
        axes.axvline(panel.scale * value, zorder=1, **look)
    rows = panel.first_table.index
    spread = 0.22 * (len(panel.tables) > 1)
    offsets = np.linspace(-spread, spread, len(panel.tables))
    colors = sources.colors(list(panel.tables), panel.heading)
    is_drawn = np.zeros(len(rows), dtype=bool)
    for index, (series, table) in enumerate(panel.tables.items()):
        numbers, reach = numbers_and_reach(table.reindex(rows), panel.scale)
        drawn_rows = np.flatnonzero(np.isfinite(numbers))
        is_drawn[drawn_rows] = True
        axes.errorbar(
            numbers[drawn_rows],
            drawn_rows + offsets[index],
            xerr=reach[:, drawn_rows],
            label=drawn(series) or None,
            fmt=MARKS[index % len(MARKS)],
            markersize=5,
            color=colors[index],
            capsize=3,
        )
    for row in np.flatnonzero(~is_drawn):
        reason = drawn(f"none: {plain(panel.first_table['reason'].iloc[row])}", int(7 * width))
        look = {"transform": axes.get_yaxis_transform(), "va": "center", "style": "italic"}
        axes.text(0.01, row, reason, fontsize=9, **look)
    name_rows(axes, panel.row_names(width))


def numbers_and_reach(table: pd.DataFrame, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimates as they are drawn, and how far their intervals reach down and up from them; 0 where there is none."""
    columns = table[["estimate", "low", "high"]].astype(float).map(rounded)
    numbers = scale * columns.to_numpy()
    return numbers[:, 0], np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T


def bars(
    tables: Tables,
    *,
    name: str,
    title: str,
    label: str,
    caption: str,
    printed: Mapping[str, str] | None = None,
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates as bars from the largest to the smallest, with their intervals, and printed beside them.

    Parameters
    ----------
    tables : DataFrame or mapping of series -> DataFrame
        A table of estimates; of several, the first has bars, and others, such as published values, have marks.
    name, title, caption, source
        As for :func:`forest`.
    label : str
        Label of the axis, with its unit; shares are drawn in percent.
    printed : mapping of row -> str, optional
        Printed in place of the estimate.

    Returns
    -------
    Figure or Sentence
        Rows without an estimate are left out, and the alt text says why; a sentence if no row has one.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(0.3, 0.2, 0.4, n=9, unit="share of people", method="mean; 95% interval")
    >>> bars(estimate_table({"A": row}, "who"), name="x", title="T", label="people (%)", caption="Look.").caption
    'Look. n = 9; 95% interval.'
    """
    sources = Sources.of(source)
    if isinstance(tables, pd.DataFrame):
        tables = {"": tables}
    first_table = next(iter(tables.values()))
    estimated = first_table[has_estimate(first_table)]
    estimated = estimated.sort_values("estimate", ascending=False, kind="stable")
    if estimated.empty:
        reasons = reasons_of(first_table) or "there is nothing to show"
        return Sentence(f"No figure of {label}: {reasons}.")
    scale = scale_of(first_table)
    texts = []
    for row, values in estimated.iterrows():
        text = format_number(values["estimate"], values["unit"])
        texts.append(printed[row] if printed else text)

    def draw(width: float):
        names = [wrapped(drawn(row), 0.36 * width) for row in estimated.index]
        row_height = max(0.27, 1.2 * LINE * lines_of(names))
        drawing, axes = new_axes(width, 0.7 + row_height * len(names))
        colors = sources.colors(list(tables))
        for index, (series, table) in enumerate(tables.items()):
            numbers, reach = numbers_and_reach(table.reindex(estimated.index), scale)
            rows = np.flatnonzero(np.isfinite(numbers))
            look = {"color": colors[index], "label": drawn(series) or None}
            if index:
                axes.plot(numbers[rows], rows, MARKS[index + 2], markeredgecolor=INK, **look)
                continue
            axes.barh(rows, numbers[rows], height=0.62, **look)
            if reach.any():
                axes.errorbar(numbers, rows, xerr=reach, fmt="none", color=INK, linewidth=1)
        for row, text in enumerate(texts):
            look = {"transform": axes.get_yaxis_transform(), "va": "center"}
            axes.text(1.01, row, text, **look)
        name_rows(axes, names)
        axes.set_xlabel(wrapped(label, 0.42 * width))
        return drawing

    data = first_table
    if len(tables) > 1:
        data = pd.concat(tables, names=["series"])
    row_sources = []
    for series, table in tables.items():
        row_sources += [sources.source(series)] * len(table)
    alt = ". ".join(rows_in_words(series, table) for series, table in tables.items())
    caption = with_sizes(caption, first_table)
    return figure_of(
        draw, name, title, f"{label}: {alt}.", caption, data, source, row_sources=row_sources
    )


def lines(
    tables: Mapping[str, pd.DataFrame | pd.Series] | pd.DataFrame,
    *,
    name: str,
    title: str,
    label: str,
    across: str,
    caption: str,
    ticks: Mapping[float, str] | None = None,
    limits: Limits = (None, None),
    diagonal: bool = False,
    band: Mapping | None = None,
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates over a quantity, with their intervals: a line, color and mark for each series.

    Parameters
    ----------
    tables : DataFrame, or mapping of series -> DataFrame or Series
        Tables of estimates, or numbers without intervals, indexed by the quantity.
    name, title, caption, source
        As for :func:`forest`.
    label, across : str
        Labels of the upright axis and of the other one, with their units. Shares are drawn in percent; differences
        have a line at zero.
    ticks : mapping of float -> str, optional
        Names of places on the axis across.
    limits : tuple, optional
        Ends of the upright axis, None for free.
    diagonal : bool
        Whether a dashed line shows where both are equal.
    band : mapping, optional
        Row of a table of estimates across, drawn as a band of its interval.

    Returns
    -------
    Figure or Sentence
        A sentence with the reason if there is nothing to draw. Rows without an estimate are left out.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(-0.5, -0.9, -0.1, n=9, unit="level, difference", method="mean; 95% interval")
    >>> table = estimate_table({1: row}, "turn")
    >>> lines(table, name="x", title="It drops", label="drop", across="turn", caption="Look.").alt.partition(" So")[0]
    'It drops. drop over turn. 1: -0.50 (-0.90 to -0.10).'
    """
    if isinstance(tables, pd.DataFrame):
        tables = {"": tables}
    estimated = {}
    for series, numbers in tables.items():
        table = numbers
        if isinstance(numbers, pd.Series):
            table = pd.DataFrame({"estimate": numbers, "low": np.nan, "high": np.nan})
            table = table.assign(n=0, unit="", method="", reason="")
        estimated[series] = table
    everything = pd.concat(estimated, names=["line"]) if estimated else pd.DataFrame()
    if everything.empty or not has_estimate(everything).any():
        reasons = "" if everything.empty else reasons_of(everything)
        return Sentence(f"No figure of {label}: {reasons or 'there is nothing to show'}.")
    estimated = {series: table[has_estimate(table)] for series, table in estimated.items()}
    estimated = {series: table for series, table in estimated.items() if len(table)}
    scale = scale_of(everything)
    sources = Sources.of(source)

    def draw(width: float):
        drawing, axes = new_axes(width, 3.3)
        if everything["unit"].str.contains("difference").any():
            axes.axhline(0, linewidth=0.9, color=INK)
        if diagonal:
            axes.axline((1, 1), slope=1, linestyle="--", linewidth=1, color=INK)
        if band is not None and np.isfinite(band["estimate"]):
            low, high = np.where(
                np.isfinite(band["low"]), [band["low"], band["high"]], band["estimate"]
            )
            axes.axvspan(low, high, color=INK, alpha=0.12, linewidth=0)
            axes.axvline(band["estimate"], color=INK, alpha=0.6, linewidth=1.2)
        spread = 0.12 * (len(estimated) > 1 and not ticks and band is None)
        offsets = np.linspace(-spread, spread, len(estimated))
        colors = sources.colors(list(estimated))
        for index, (series, table) in enumerate(estimated.items()):
            numbers, reach = numbers_and_reach(table, scale)
            mark = MARKS[index % len(MARKS)] if len(table) <= MOST_MARKS else ""
            axes.errorbar(
                table.index.to_numpy(dtype=float) + offsets[index],
                numbers,
                yerr=reach if reach.any() else None,
                fmt=mark,
                linestyle=("-", "--", ":", "-.")[index % 4],
                color=colors[index],
                capsize=2,
                linewidth=1.4,
                label=drawn(series) or None,
            )
        axes.set_ylabel(wrapped(label, 2.6))
        axes.set_xlabel(wrapped(across, 0.7 * width))
        axes.set_ylim(*limits)
        if ticks:
            axes.set_xticks(list(ticks), list(ticks.values()))
        elif (everything.index.get_level_values(-1) % 1 == 0).all():
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return drawing

    texts = []
    row_sources = []
    for series, table in estimated.items():
        ends = table
        if len(table) > MOST_MARKS:
            ends = table.iloc[[0, -1]]
        texts.append(rows_in_words(series, ends))
    for series in everything.index.get_level_values(0):
        row_sources.append(sources.source(series))
    alt = f"{label} over {across}. {'. '.join(texts)}."
    data = everything
    if len(tables) == 1:
        data = everything.droplevel(0)
    if everything["unit"].any():
        caption = with_sizes(caption, everything)
    return figure_of(draw, name, title, alt, caption, data, source, row_sources=row_sources)


MOST_MARKS = 20
"""A line of more points has no marks, and its alt text says only its ends."""


def reliability_diagram(
    table: pd.DataFrame, *, name: str, title: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Mean rating of people at each level that a judge gave, against the line of equal values.

    Parameters
    ----------
    table : DataFrame
        Table of estimates with one row per predicted level 1..5, as
        :func:`sense7.judge.scores.metrics.calibration` returns it; ``n`` counts predictions.
    name, title, caption, source
        As for :func:`forest`.
    """
    ticks = {}
    for level, words in enumerate(LEVELS, 1):
        count = table["n"].get(level, 0)
        name_of_level = words.replace(" ", "\n")
        ticks[level] = f"{level}\n{name_of_level}\nn = {count:,.0f}"
    return lines(
        table,
        name=name,
        title=title,
        label="mean rating by people (levels from 1 to 5)",
        across="level of the judge's score, and number of predictions",
        caption=caption,
        ticks=ticks,
        limits=(0.8, 5.2),
        diagonal=True,
        source=source,
    )
