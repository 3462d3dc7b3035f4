"""Curves of variants: what every defensible choice gives, drawn so that a reader can choose.

``book/static/specifications.js`` marks the variant that a reader chooses, at first the main analysis, from the same
table, which stands in the figure as JSON.
"""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import PercentFormatter

from sense7.figures.figure import (
    Figure,
    drawn,
    figure_of,
    has_estimate,
    name_rows,
    new_axes,
    range_of,
    rounded,
    wrapped,
)
from sense7.figures.source import GRAY, INK, Shown, main_color
from sense7.record import format_number, format_value
from sense7.tables import NO_MATH, Sentence, Table
from sense7.terminal import count_of

if TYPE_CHECKING:  # it imports scipy.stats, a second for a notebook that shows no curve
    from sense7.findings.robustness import Headline

DEFAULT = "Main analysis"
_QUESTIONS = {
    "averaging": "order of averaging",
    "coding": "coding of the levels",
    "conditions": "differences between conditions",
    "exclusions": "left out",
    "failure": "a failure is a rating",
    "missing": "missing ratings",
    "moment": "loss in the",
    "poor turn": "a turn is poor by",
}
"""Choices whose names need more words."""


class _MarkedFigure(Figure):
    """A figure of variants from left to right, in which a script marks the chosen one."""

    def _add_marks(self, root: ElementTree.Element, drawing: MatplotlibFigure) -> None:
        """Add an empty mark that knows how a variant's place and numbers become coordinates."""
        (axes,) = drawing.axes
        points_per_dot = 72 / drawing.dpi
        places = points_per_dot * axes.transData.transform([(0, 0), (1, 1)])
        (x, y), (x_of_one, y_of_one) = places
        height = 72 * drawing.get_figheight()  # SVG counts from the upper end
        top = height - points_per_dot * axes.bbox.y1
        bottom = height - points_per_dot * axes.bbox.y0
        geometry = [x, x_of_one - x, height - y, y - y_of_one, top, bottom]
        mark = ElementTree.SubElement(root, "g")
        mark.set("class", "sense7-here")
        mark.set("data-geometry", " ".join(f"{number:.5g}" for number in geometry))
        mark.set("style", "fill: none; stroke: currentColor; stroke-linecap: round")
        for width in (1, 3, 9):
            ElementTree.SubElement(mark, "path", {"d": "", "stroke-width": str(width)})


@dataclass(frozen=True, eq=False)
class SpecificationCurve(_MarkedFigure):
    """A figure with the sentence of the chosen variant, and all of them for the script that lets a reader choose.

    Attributes
    ----------
    sentence : str
        Result of the main analysis, as HTML.
    content : dict
        What the script needs: name, choices with their questions and options, and each variant: numbers of its
        options, estimate, low, high (None where there is none), n, result in words, place from the lowest estimate.
    options : Figure
        The options of each variant, below each other.
    """

    sentence: str = ""
    content: dict = field(default_factory=dict, repr=False)
    options: Figure | None = field(default=None, repr=False)

    def html(self) -> str:
        """Sentence, curve, its options in a fold, table as JSON and as CSV, as one HTML element."""
        # No text of a workbook may end the script that holds it.
        content = json.dumps(self.content, separators=(",", ":"))
        content = content.replace("<", "\\u003c").replace(">", "\\u003e")
        return super().html(
            above=f'<output class="{NO_MATH}" aria-live="polite">{self.sentence}</output>',
            below=f"<details><summary>The choices of each variant</summary>{self.options.both_svgs()}</details>"
            f'<script type="application/json">{content}</script>',
            css=f' sense7-specifications" id="specification-{self.name}',
        )


def specification_curve(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    published: float | None = None,
    source: Shown = None,
) -> SpecificationCurve | Sentence:
    """Estimates of all specifications in order, the options of each below it, and which one a reader has chosen.

    Parameters
    ----------
    table : DataFrame
        As :func:`sense7.findings.robustness.multiverse` returns it: choices, then estimates; the
        first row is the specification of the other pages.
    name : str
        The headline: a key of ``HEADLINES``, by which other pages find the figure.
    caption : str
        What the intervals are.
    published : float, optional
        The published value, of a headline that has one.
    source : Study or Source, optional
        Whose data they are, see :func:`sense7.figures.forest`.

    Returns
    -------
    SpecificationCurve or Sentence
        A sentence if no specification can be computed.
    """
    from sense7.findings.robustness import HEADLINES

    headline = HEADLINES[name]
    if not has_estimate(table).any():
        return Sentence(f"No curve of {headline.title}: {table['reason'].iloc[0]}.")
    data = table[[*headline.choices, "estimate", "low", "high", "n", "reason"]]
    data = data.sort_values("estimate", kind="stable", na_position="last")
    estimated = data[data["estimate"].notna()]
    reference, compared_with = _reference(headline, published)
    color = main_color(source)

    title = f"All {len(estimated)} estimates in order: where do they lie?"
    agreement_of_variants = _agreement_in_words(table, name, published)
    if agreement_of_variants:
        title = agreement_of_variants.capitalize()

    def draw(width: float):
        drawing, axes = new_axes(width, 2.7)
        numbers = estimated[["estimate", "low", "high"]].astype(float).map(rounded).to_numpy()
        positions = np.arange(len(estimated))
        axes.vlines(positions, numbers[:, 1], numbers[:, 2], color=color, linewidth=1)
        axes.plot(positions, numbers[:, 0], "o", color=color, markersize=4)
        if reference is not None:
            look = {"color": INK, "linewidth": 0.9}
            if headline.is_published:
                look = {"color": GRAY, "linewidth": 1.8, "linestyle": "--"}
            axes.axhline(reference, **look)
        if np.ptp(numbers[np.isfinite(numbers)]) < 1e-4:  # a scale would show nothing but rounding
            axes.set_ylim(numbers[0, 0] - 0.5, numbers[0, 0] + 0.5)
        unit = headline.unit
        if unit.startswith("share"):
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set(xlim=(-0.7, len(estimated) - 0.3), xticks=[])
        label = headline.title
        if unit not in label:
            label = f"{label} ({unit})"
        axes.set_ylabel(wrapped(label, 2.4))
        line = ""
        if reference is not None:
            line = "; dashed: published" if headline.is_published else f"; line: {compared_with}"
        axes.set_xlabel(wrapped(f"one column per analysis variant{line}", 0.7 * width))
        axes.grid(visible=False, axis="x")
        return drawing

    option_rows = []
    for choice, options in headline.choices.items():
        option_rows.append((choice, ""))
        option_rows += [(choice, option) for option in options]

    def draw_options(width: float):
        drawing, axes = new_axes(width, 0.5 + 0.22 * len(option_rows))
        names = []
        for row, (choice, option) in enumerate(option_rows):
            with_option = np.flatnonzero(estimated[choice] == option)
            look = {"color": color, "markersize": 7, "markeredgewidth": 2}
            axes.plot(with_option, np.full(len(with_option), row), "|", **look)
            names.append(drawn(option, 30) or f"{_QUESTIONS.get(choice, choice)}:")
        name_rows(axes, names)
        for tick, (_, option) in zip(axes.yaxis.get_major_ticks(), option_rows, strict=True):
            if not option:
                tick.label1.set_weight("bold")
                tick.tick1line.set_visible(False)
        axes.set(xlim=(-0.7, len(estimated) - 0.3), xticks=[])
        axes.set_xlabel("one column per analysis variant, as above")
        axes.grid(visible=False)
        return drawing

    position_of = {number: position for position, number in enumerate(estimated.index)}
    rows = []
    for number, row in table.iterrows():
        options = [options.index(row[choice]) for choice, options in headline.choices.items()]
        numbers = []
        for column in ("estimate", "low", "high"):
            numbers.append(rounded(row[column]) if np.isfinite(row[column]) else None)
        result = _result(row, headline.unit)
        position = position_of.get(number)
        rank = ""
        if position is not None:
            rank = f"number {position + 1} of {len(estimated)} from the lowest"
        rows.append([options, *numbers, int(row["n"]), result, position, rank])

    choices = []
    for choice, options in headline.choices.items():
        choices.append([choice, _QUESTIONS.get(choice, choice), list(options)])
    content = {
        "name": name,
        "choices": choices,
        "default": DEFAULT,
        "left_out": headline.left_out,
        "rows": rows,
    }

    _, default_estimate, _, _, _, default_result, _, rank = rows[0]
    sentence = f"{DEFAULT}: <strong>{html.escape(default_result)}</strong>"
    if rank:
        sentence += f" ({rank})"
    sentence += "."

    estimates = estimated["estimate"]
    lowest, highest = _ends(estimates, headline)
    median = format_number(float(estimates.median()), headline.unit)
    alt = f"Specification curve of {headline.title}. {len(estimated)} of {count_of(len(table), 'analysis variant')} "
    alt += f"could be computed: from {lowest} to {highest}, median {median}"
    if default_estimate is not None:
        alt += f"; main analysis {default_result}"
    alt += "."
    caption = (
        "Each dot is one way to run the analysis, with its interval; the vertical line is the chosen one. "
        f"n = {range_of(estimated['n'])}; {caption}"
    )
    words = f"Options of the variants of {headline.title}, from the lowest estimate to the highest."
    options = figure_of(
        draw_options,
        f"{name}-options",
        "Which choices each column stands for",
        words,
        "",
        data,
        source,
        make=_MarkedFigure,
    )
    return figure_of(
        draw,
        name,
        title,
        alt,
        caption,
        data,
        source,
        make=SpecificationCurve,
        sentence=sentence,
        content=content,
        options=options,
    )


def _reference(headline: "Headline", published: float | None) -> tuple[float | None, str]:
    """What intervals are compared with, the published value or the headline's reference, and in words."""
    reference = headline.reference
    if headline.is_published:
        reference = published
    if reference is None:
        return None, ""
    if reference == 0:
        return reference, "zero"
    return reference, format_number(float(reference), headline.unit)


def _agreement_in_words(table: pd.DataFrame, name: str, published: float | None) -> str:
    """In how many variants the interval agrees with the headline; "" if it is compared with nothing."""
    from sense7.findings.robustness import HEADLINES, agreement

    headline = HEADLINES[name]
    agrees = agreement(table, name, published)
    _, compared_with = _reference(headline, published)
    if agrees.empty or not compared_with:
        return ""
    relation = "lies above"
    if headline.is_published:
        relation = "contains the published value,"
    return f"in {agrees.sum()} of {count_of(len(agrees), 'variant')} the interval {relation} {compared_with}"


def _ends(estimates: pd.Series, headline: "Headline") -> tuple[str, str]:
    """The lowest and the highest estimate, in words."""
    lowest = format_number(float(estimates.min()), headline.unit)
    return lowest, format_number(float(estimates.max()), headline.unit)


def _result(row: pd.Series, unit: str) -> str:
    """An estimate with interval and n in words, or why there is none."""
    if not np.isfinite(row["estimate"]):
        return f"no estimate: {row['reason']}"
    value = format_value({**row.dropna(), "unit": unit})
    return f"{value}, n = {row['n']:,}"


def specification_table(
    tables: Mapping[str, pd.DataFrame], published: Mapping[str, float]
) -> Table:
    """Range of every headline over its specifications, and how many intervals agree with it.

    Parameters
    ----------
    tables : mapping
        Headline -> its specifications.
    published : mapping
        Headline -> its published value, where it has one.

    Returns
    -------
    Table
        One row per headline; where no specification could be computed, the reason.
    """
    from sense7.findings.robustness import HEADLINES

    rows = {}
    for name, table in tables.items():
        headline = HEADLINES[name]
        lowest = highest = ""
        estimates = table["estimate"].dropna()
        if len(estimates):
            lowest, highest = _ends(estimates, headline)
        rows[headline.title] = {
            "main analysis": _result(table.iloc[0], headline.unit),
            "lowest": lowest,
            "highest": highest,
            "agreement": _agreement_in_words(table, name, published.get(name)),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("headline")
    return Table(
        frame,
        "Each result over all its analysis variants; intervals by resampled participants",
    )
