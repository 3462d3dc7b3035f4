"""Tables of estimates with their intervals: rows of marks, and lines."""

from collections.abc import Callable, Mapping, Sequence
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
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS
from sense7.terminal import plain

Tables = Mapping[str, pd.DataFrame] | pd.DataFrame
Lines = Sequence[float] | Mapping[str, float]


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
    estimated = table[has_estimate(table) & table["n"].notna()]  # published values have no n
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
    about = {"unit": unit, "method": "published", "reason": "published without an interval"}
    rows = {row: estimate_row(value, n=0, **about) for row, value in values.items()}
    return estimate_table(rows, name).assign(n=None)


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


def highest(table: pd.DataFrame, words: str) -> str:
    """A title: the name of the row with the highest estimate, and what is said of it.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.1, 0.4]}, index=["Affective", "Cognitive"])
    >>> highest(table, "is named most often"), highest(table[:0], "is named most often")
    ('Cognitive is named most often', 'Not computed from these data')
    """
    return lowest(table.assign(estimate=-table["estimate"].astype(float)), words)


def lowest(table: pd.DataFrame, words: str) -> str:
    """A title: the name of the row with the lowest estimate, and what is said of it."""
    in_order = table["estimate"].astype(float).dropna().sort_values()
    if in_order.empty:
        return "Not computed from these data"
    return f"{drawn(in_order.index[0])} {words}"


@dataclass(frozen=True)
class _Panel:
    """Tables of estimates by series, and the values of the lines that they are judged by, by name where it has one."""

    heading: str
    tables: Mapping[str, pd.DataFrame]
    lines: pd.Series
    bars: bool = False

    @property
    def first_table(self) -> pd.DataFrame:
        """The table that says which rows there are, and their unit."""
        return next(iter(self.tables.values()))

    @property
    def unit(self) -> str:
        return self.first_table["unit"].iloc[0]

    @property
    def title(self) -> str:
        """The question, and the names of the lines with their values."""
        parts = [drawn(self.heading, 120)] if self.heading else []
        for name, value in self.lines.items():
            if isinstance(name, str):
                parts.append(f"dashed: {drawn(name)} {format_number(value, self.unit)}")
        return "; ".join(parts)

    @property
    def label(self) -> str:
        """The unit as it is drawn: shares in percent, their differences in percentage points."""
        if scale_of(self.first_table) == 1:
            return drawn(self.unit)
        if "difference" in self.unit:
            return f"{drawn(self.unit)} (percentage points)"
        return f"{drawn(self.unit)} (%)"

    def row_names(self, width: float) -> list[str]:
        """Names of the rows, on lines that leave more than half of the drawing's width to the marks."""
        return [wrapped(drawn(row, 90), 0.42 * width) for row in self.first_table.index]

    def height(self, width: float) -> float:
        """Height of the axes in inches: a row is as high as its name, or as the marks of its series."""
        row = max(1.2 * LINE * lines_of(self.row_names(width)), 0.12 + 0.13 * len(self.tables))
        return 0.1 + row * len(self.first_table)

    def in_words(self) -> list[str]:
        """The panel's lines and estimates in words, one text for each series."""
        question = self.heading
        if len(self.lines):
            values = []
            for name, value in self.lines.items():
                number = format_number(value, self.unit)
                values.append(f"{name} {number}" if isinstance(name, str) else number)
            noun = "line" if len(self.lines) == 1 else "lines"
            question = ", ".join(filter(None, [question, f"{noun} at {' and '.join(values)}"]))
        rows = [rows_in_words(series, table) for series, table in self.tables.items()]
        return [": ".join(filter(None, [question, words])) for words in rows]

    def draw(self, axes, sources: Sources, width: float) -> None:
        """Draw the lines, the estimates of each series with their intervals, and why a row has none."""
        scale = scale_of(self.first_table)
        styles = iter(("--", ":"))
        for name, value in self.lines.items():
            look = {"color": INK, "linewidth": 1.2}
            if name == "published":
                look = {"color": GRAY, "linewidth": 1.8}
            if value == 0:
                look["linewidth"] = 0.9
            else:
                look["linestyle"] = next(styles, "-.")
            axes.axvline(scale * value, zorder=1, **look)
        rows = self.first_table.index
        spread = 0.22 * (len(self.tables) > 1)
        highest = 0 if self.bars else -spread  # the first table's interval is that of its bar
        offsets = np.linspace(highest, spread, len(self.tables))
        colors = sources.colors(list(self.tables), self.heading)
        is_drawn = np.zeros(len(rows), dtype=bool)
        for index, (series, table) in enumerate(self.tables.items()):
            numbers, reach = numbers_and_reach(table.reindex(rows), scale)
            drawn_rows = np.flatnonzero(np.isfinite(numbers))
            is_drawn[drawn_rows] = True
            look = {"fmt": MARKS[index % len(MARKS)], "color": colors[index]}
            if self.bars and not index:
                axes.barh(drawn_rows, numbers[drawn_rows], height=0.6, color=colors[0])
                look = {"fmt": "none", "ecolor": INK}
                place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 9}
                for row in drawn_rows:
                    number = format_number(table["estimate"].iloc[row], self.unit)
                    axes.text(1.01, row, number, **place)
            axes.errorbar(
                numbers[drawn_rows],
                drawn_rows + offsets[index],
                xerr=reach[:, drawn_rows],
                label=drawn(series) or None,
                markersize=5,
                capsize=3 * reach.any(),
                **look,
            )
        for row in np.flatnonzero(~is_drawn):
            reason = drawn(f"none: {plain(self.first_table['reason'].iloc[row])}", int(7 * width))
            look = {"transform": axes.get_yaxis_transform(), "va": "center", "style": "italic"}
            axes.text(0.01, row, reason, fontsize=9, **look)
        name_rows(axes, self.row_names(width))


def numbers_and_reach(table: pd.DataFrame, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimates as they are drawn, and how far their intervals reach down and up from them; 0 where there is none."""
    columns = table[["estimate", "low", "high"]].astype(float).map(rounded)
    numbers = scale * columns.to_numpy()
    return numbers[:, 0], np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T


def forest(
    tables: Tables | Mapping[str, tuple[Tables, Lines]],
    *,
    name: str,
    title: str,
    caption: str,
    label: str = "",
    lines: Lines = (),
    bars: bool = False,
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
        Of a figure of one panel. A line at zero is solid, others are dashed, then dotted; that of a published value is
        gray. Differences always have one at zero.
    bars : bool
        Whether the first table has bars in the place of marks, with its numbers printed at the right.
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
    if isinstance(tables, pd.DataFrame):
        tables = {"": tables}
    if all(isinstance(table, pd.DataFrame) for table in tables.values()):
        tables = {"": (tables, lines)}
    panels = []
    data = {}
    for heading, (series, lines_of_panel) in tables.items():
        tables_of_panel = {"": series} if isinstance(series, pd.DataFrame) else series
        if not sum(len(table) for table in tables_of_panel.values()):
            continue
        values = pd.Series(lines_of_panel, dtype=float).dropna()
        panel = _Panel(heading, tables_of_panel, values, bars)
        if "difference" in panel.unit and values.empty:
            panel.lines[0] = 0.0
        panels.append(panel)
        for name_of_series, table in tables_of_panel.items():
            data[heading, name_of_series] = table

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
            panel.draw(axes, Sources.of(source), width)
            axes.set_title(panel_title, loc="left", fontsize=10)
            axes.xaxis.set_major_locator(MaxNLocator(6 if width == WIDE else 4))
            if not label:
                axes.set_xlabel(wrapped(panel.label, 0.5 * width))
        if label:
            grid[-1].set_xlabel(wrapped(label, 0.42 * width))
        return drawing

    texts = [text for panel in panels for text in panel.in_words()]
    words = f"{'. '.join(texts)}."
    return _figure_of_estimates(draw, data, words, label, name, title, caption, source)


def _figure_of_estimates(
    draw: Callable,
    tables: Mapping[tuple[str, str], pd.DataFrame],
    words: str,
    label: str,
    name: str,
    title: str,
    caption: str,
    source: Shown,
) -> Figure | Sentence:
    """The figure of tables by question and series; a sentence with the reasons if no row has an estimate."""
    nothing = f"No figure of {label or 'the estimates'}"
    if not tables:
        return Sentence(f"{nothing}: there is nothing to show.")
    data = pd.concat(tables, names=["question", "series"])
    if not has_estimate(data).any():
        return Sentence(f"{nothing}: {reasons_of(data) or 'there is nothing to show'}.")
    if data["unit"].any():  # numbers without intervals have none
        caption = with_sizes(caption, data)
    for level in (1, 0):
        if set(data.index.get_level_values(level)) == {""}:
            data = data.droplevel(level)
    return figure_of(draw, name, title, words, caption, data, source)


def lines(
    tables: Mapping[str, pd.DataFrame | pd.Series] | pd.DataFrame,
    *,
    name: str,
    title: str,
    label: str,
    across: str,
    caption: str,
    levels: Mapping[int, str] | None = None,
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates over a whole number, with their intervals: a line, color and mark for each series.

    Parameters
    ----------
    tables : DataFrame, or mapping of series -> DataFrame or Series
        Tables of estimates, or numbers without intervals, indexed by the whole number.
    name, title, caption, source
        As for :func:`forest`.
    label, across : str
        Labels of the upright axis and of the other one, with their units. Shares are drawn in percent; differences
        have a line at zero.
    levels : mapping of int -> str, optional
        Names of the levels on the axis across, where both axes are levels: a dashed line shows where they are equal.

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
    data = {}
    estimated = {}
    texts = []
    for series, numbers in tables.items():
        table = numbers
        if isinstance(numbers, pd.Series):
            table = pd.DataFrame({"estimate": numbers, "low": np.nan, "high": np.nan})
            table = table.assign(n=0, unit="", method="", reason="")
        data["", series] = table
        table = table[has_estimate(table)]
        if len(table):
            estimated[series] = table
            texts.append(rows_in_words(series, table))

    def draw(width: float):
        everything = pd.concat(estimated)
        drawing, axes = new_axes(width, 3.3)
        if everything["unit"].str.contains("difference").any():
            axes.axhline(0, linewidth=0.9, color=INK)
        spread = 0.12 * (len(estimated) > 1)
        offsets = np.linspace(-spread, spread, len(estimated))
        colors = Sources.of(source).colors(list(estimated))
        for index, (series, table) in enumerate(estimated.items()):
            numbers, reach = numbers_and_reach(table, scale_of(everything))
            axes.errorbar(
                table.index.to_numpy(dtype=float) + offsets[index],
                numbers,
                yerr=reach if reach.any() else None,
                fmt=MARKS[index % len(MARKS)],
                linestyle=("-", "--", ":", "-.")[index % 4],
                color=colors[index],
                capsize=2,
                linewidth=1.4,
                label=drawn(series) or None,
            )
        axes.set_ylabel(wrapped(label, 2.6))
        axes.set_xlabel(wrapped(across, 0.7 * width))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if levels:
            axes.axline((1, 1), slope=1, linestyle="--", linewidth=1, color=INK, zorder=1)
            axes.set_xticks(list(levels), list(levels.values()))
            axes.set_ylim(0.8, len(levels) + 0.2)
        return drawing

    words = f"{label} over {across}. {'. '.join(texts)}."
    return _figure_of_estimates(draw, data, words, label, name, title, caption, source)


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
    levels = {}
    for level, words in enumerate(LEVELS, 1):
        count = table["n"].get(level, 0)
        name_of_level = words.replace(" ", "\n")
        levels[level] = f"{level}\n{name_of_level}\nn = {count:,.0f}"
    return lines(
        table,
        name=name,
        title=title,
        label="mean rating by people (levels from 1 to 5)",
        across="level of the judge's score, and number of predictions",
        caption=caption,
        levels=levels,
        source=source,
    )
