"""Lines: estimates by turn or around an event, eigenvalues, calibration, and the ceiling over the content share."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from sense7.figures.estimates import (
    Tables,
    by_series,
    ranges_in_words,
    scale_of,
    series_in_words,
    with_sizes,
)
from sense7.figures.source import INK, Shown, Sources, main_color
from sense7.figures.style import (
    MARKS,
    Figure,
    drawn,
    figure_of,
    has_estimate,
    name_lines,
    new_axes,
    numbers_and_reach,
    reasons_of,
)
from sense7.record import format_number
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS


def lines_by_turn(
    tables: Tables,
    *,
    name: str,
    label: str,
    caption: str,
    source: Shown = None,
) -> Figure | Sentence:
    """Estimates turn by turn with their intervals, a line, color and mark for each table.

    Parameters
    ----------
    tables : DataFrame or mapping of name -> DataFrame
        Tables of estimates with one row per turn, e.g. one for each condition.
    name, label, caption : str
        As for :func:`sense7.figures.intervals`; the label is that of the upright axis. Shares are drawn in percent.
        Differences have a line at zero.
    source : Study, Source, or mapping of name -> one of these, optional
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence with the reason if there is nothing to draw. Rows without an estimate are left out.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> row = estimate_row(-0.5, -0.9, -0.1, n=9, unit="level, difference", method="mean; 95% interval")
    >>> table = estimate_table({1: row}, "time")
    >>> lines_by_turn(table, name="x", label="drop", caption="Look.").alt.partition(" Source")[0]
    'drop, turn by turn. turn 1: -0.50 (-0.90 to -0.10).'
    """
    tables = by_series(tables)
    estimated = {}
    for series, table in tables.items():
        estimated[series] = table[has_estimate(table)]
    everything = pd.concat(tables, names=["line"])
    if not any(len(table) for table in estimated.values()):
        reasons = reasons_of(everything)
        return Sentence(f"No figure of {label}: {reasons or 'there are no turns'}.")
    units = everything["unit"].str
    scale = scale_of(everything)
    sources = Sources.of(source)

    def draw():
        drawing, axes = new_axes(7, 4)
        if units.contains("difference").any() or " minus " in label:
            axes.axhline(0, linewidth=0.9, color=INK)
        offsets = [0]
        if len(estimated) > 1:
            offsets = np.linspace(-0.12, 0.12, len(estimated))
        colors = sources.colors(list(estimated))
        for index, (series, table) in enumerate(estimated.items()):
            estimates, reach = numbers_and_reach(table, scale)
            axes.errorbar(
                table.index.to_numpy(dtype=float) + offsets[index],
                estimates,
                yerr=reach,
                fmt=MARKS[index % len(MARKS)],
                linestyle=("-", "--", ":", "-.")[index // 4 % 4],  # colors are four
                color=colors[index],
                capsize=2,
                linewidth=1.2,
                label=drawn(series) or None,
            )
        axes.set_ylabel(label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("turn of the assistant in the conversation")
        name_lines(axes)
        return drawing

    sentences = []
    row_sources = []
    for series, table in tables.items():
        sentences.append(f"{series_in_words(series, table.rename('turn {}'.format))}.")
        row_sources += [sources.source(series)] * len(table)
    alt = f"{label}, turn by turn. {' '.join(sentences)}"
    caption = with_sizes(caption, everything)
    data = everything
    if len(tables) == 1:
        data = next(iter(tables.values()))
    return figure_of(draw, name, alt, caption, data, source, row_sources=row_sources)


def scree(
    table: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Eigenvalues of the ratings from the largest, with those of noise.

    Parameters
    ----------
    table : DataFrame
        As :func:`sense7.findings.reliability.parallel_analysis` returns it.
    name, caption, source
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if the table is empty.
    """
    if table.empty:
        return Sentence(
            "No figure of the eigenvalues: too few ratings vary, or too few units rate all of them."
        )
    lines = {
        "components": ("ratings", "o-", main_color(source)),
        "components, noise": ("noise, as many rows as units", "s--", INK),
        "components, noise of participants": ("noise, as many rows as participants", "^:", INK),
    }
    lines = {column: line for column, line in lines.items() if table[column].notna().any()}

    def draw():
        drawing, axes = new_axes(7, 3.4)
        for column, (label, marks, color) in lines.items():
            axes.plot(table.index, table[column], marks, color=color, label=label)
        axes.set(xlabel="rank", ylabel="eigenvalue of the correlations")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        name_lines(axes)
        return drawing

    parts = []
    for column, (label, _, _) in lines.items():
        values = ", ".join(f"{value:z.2f}" for value in table[column])
        parts.append(f"{label}: {values}")
    alt = f"Eigenvalues from the largest to the smallest. {'; '.join(parts)}."
    return figure_of(draw, name, alt, caption, table, source)


def reliability_diagram(
    table: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """Reliability diagram: mean ground truth at each predicted level, against the line of equal values.

    Parameters
    ----------
    table : DataFrame
        Table of estimates with one row per predicted level 1..5, as
        :func:`sense7.judge.scores.metrics.calibration` returns it; ``n`` counts predictions.
    name, caption, source
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A level that was never predicted has no mark; a sentence if none was.

    Examples
    --------
    >>> from sense7.statistics.estimates import estimate_row, estimate_table
    >>> rows = {4: estimate_row(3.5, 3.0, 3.9, n=20, unit="level, 1 to 5", method="mean; interval")}
    >>> reliability_diagram(estimate_table(rows, "prediction"), name="x", caption="n = 20").alt[:76]
    'Reliability diagram: mean ground truth by predicted level. Predicted 4: 3.50'
    """
    predicted = table[has_estimate(table)]
    if predicted.empty:
        reasons = reasons_of(table)
        return Sentence(f"No reliability diagram: {reasons or 'nothing was predicted'}.")
    levels = np.arange(1, len(LEVELS) + 1)
    ends = [1, len(LEVELS)]

    def draw():
        drawing, axes = new_axes(7, 3.4)
        axes.plot(ends, ends, linestyle="--", linewidth=1, color=INK, alpha=0.6)
        axes.text(
            1.55,
            1.68,
            "score = ratings",
            rotation=45,
            rotation_mode="anchor",
            transform_rotates_text=True,
        )
        estimates, reach = numbers_and_reach(predicted)
        axes.errorbar(
            predicted.index,
            estimates,
            yerr=reach,
            fmt="o-",
            color=main_color(source),
            capsize=4,
            linewidth=1.5,
        )
        axes.set(xlim=(0.5, len(levels) + 0.5), ylim=(0.8, len(levels) + 0.2), yticks=levels)
        sizes = table["n"].reindex(levels).fillna(0)
        names = []
        for level, level_name in zip(levels, LEVELS, strict=True):
            names.append(f"{level}\n{level_name}\nn = {sizes[level]:,.0f}")
        axes.set_xticks(levels, names)
        axes.set(
            xlabel="level of the judge's score, and number of predictions",
            ylabel="mean ground truth (level)",
        )
        return drawing

    parts = []
    for level, row in predicted.iterrows():
        words = ranges_in_words(predicted.loc[[level]].rename("Predicted {}".format))
        parts.append(f"{words}, n = {row['n']:,}")
    alt = f"Reliability diagram: mean ground truth by predicted level. {'; '.join(parts)}."
    return figure_of(draw, name, alt, with_sizes(caption, table), table, source)


def ceiling_curves(
    curve: pd.DataFrame,
    judges: Mapping[str, float],
    *,
    name: str,
    caption: str,
    bound: pd.Series | None = None,
    source: Shown = None,
) -> Figure:
    """Ceiling of Spearman's correlation over the content share, with each judge as a dot at the share it needs.

    Parameters
    ----------
    curve : DataFrame
        Indexed by content share (0..1, ascending), with a column ``spearman``.
    judges : mapping
        Name -> its Spearman correlation; NaN is not drawn. A dot stands where the result meets
        the curve: the content share that it needs at least; at an end where it lies beyond the curve.
    name, caption, source
        As for :func:`sense7.figures.intervals`.
    bound : Series, optional
        Row of a table of estimates: the upper bound of the content share, drawn as a band of its interval.
    """
    ceiling = curve["spearman"].astype(float)
    has_bound = bound is not None and np.isfinite(bound["estimate"])
    lowest = format_number(ceiling.iloc[0], "")
    highest = format_number(ceiling.iloc[-1], "")
    alt = "A curve that rises with the content share: the ceiling of Spearman's correlation, "
    alt += f"from {lowest} to {highest}."
    results = {judge: float(result) for judge, result in judges.items() if np.isfinite(result)}
    levels = curve.index.to_numpy(dtype=float)
    shares = {judge: float(np.interp(result, ceiling, levels)) for judge, result in results.items()}
    for judge, result in results.items():
        if result <= ceiling.iloc[0]:
            needs = "which takes no content"
        elif result > ceiling.iloc[-1]:
            needs = "above the whole curve"
        else:
            share = format_number(shares[judge], "share of the variance")
            needs = f"which takes a content share of {share} at least"
        alt += f" {judge}: {format_number(result, '')}, {needs}."
    if has_bound:
        words = ranges_in_words(bound.to_frame().T.set_axis(["Upper bound of the content share"]))
        alt += f" {words}."

    def draw():
        drawing, axes = new_axes(7, 4)
        axes.plot(curve.index, ceiling, color=INK, linewidth=2, label="ceiling")
        colors = Sources.of(source).colors(list(results))
        for color, (judge, result) in zip(colors, results.items(), strict=True):
            axes.plot([shares[judge]], [result], "o", color=color, markersize=7, label=drawn(judge))
        if has_bound:
            low = high = bound["estimate"]
            if np.isfinite(bound["low"]):
                low = bound["low"]
                high = bound["high"]
            axes.axvspan(low, high, color=INK, alpha=0.12, linewidth=0)
            axes.axvline(bound["estimate"], color=INK, alpha=0.6, linewidth=1.2)
            axes.text(
                bound["estimate"],
                1.01,
                "bound",
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="bottom",
            )
        below_results = [result - 0.05 for result in results.values()]
        axes.set(xlim=(0, 1), ylim=(min([0, *below_results]), 1))
        axes.set(xlabel="content share s", ylabel="Spearman correlation with the ratings")
        name_lines(axes)
        return drawing

    if bound is not None and not has_bound:
        caption += f" No upper bound of the content share: {bound['reason']}."
    return figure_of(draw, name, alt, caption, curve, source)
