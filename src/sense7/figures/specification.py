"""Specification curves: what every defensible choice gives, drawn so that a reader can choose.

Without a script the figure marks the specification of the other pages; ``book/static/specifications.js`` moves the mark
to the one that a reader chooses, from the same table, which stands in the figure as JSON.
"""

import html
import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from sense7.errors import UserError
from sense7.figures.source import GRAY, INK, Shown, main_color
from sense7.figures.style import (
    WIDE,
    Figure,
    drawn,
    figure_for_widths,
    figure_of,
    has_estimate,
    name_rows,
    new_drawing,
    range_of,
    rounded,
    with_gaps,
)
from sense7.findings.robustness import HEADLINES, Headline, agreement
from sense7.record import format_number
from sense7.tables import NO_MATH, Sentence, Table
from sense7.terminal import count_of

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


@dataclass(frozen=True, eq=False)
class SpecificationCurve(Figure):
    """A figure with the sentence of the chosen specification, and all of them for the script that lets a reader choose.

    Attributes
    ----------
    sentence : str
        Result of the specification of the other pages, as HTML.
    content : dict
        What the script needs: name, choices with their questions and options, and each specification: numbers of its
        options, estimate, low, high (None where there is none), n, result in words, place from the lowest estimate.
    """

    sentence: str = ""
    content: dict = field(default_factory=dict, repr=False)

    def _finished(self, svg: str, drawing: MatplotlibFigure) -> str:
        """The mark of the chosen specification, and by what its place follows from a specification."""
        curve, options = drawing.axes
        points_per_dot = 72 / drawing.dpi
        origin = curve.transData.transform((0, 0))
        one_further = curve.transData.transform((1, 1))
        x, y = points_per_dot * origin
        dx, dy = points_per_dot * (one_further - origin)
        height = 72 * drawing.get_figheight()
        # From the upper end of the drawing, as SVG counts.
        x0 = _five_digits(x)
        dx = _five_digits(dx)
        y0 = _five_digits(height - y)
        dy = _five_digits(-dy)
        top = _five_digits(height - points_per_dot * curve.bbox.y1)
        bottom = _five_digits(height - points_per_dot * options.bbox.y0)

        line = ""
        interval = ""
        point = ""
        _, estimate, low, high, _, _, position, _ = self.content["rows"][0]
        if position is not None:
            x = x0 + dx * position
            line = f"M{x:g} {top}V{bottom}"
            point = f"M{x:g} {y0 + dy * estimate:g}h.01"
            if low is not None:
                interval = f"M{x:g} {y0 + dy * low:g}V{y0 + dy * high:g}"
        geometry = f"{x0} {dx} {y0} {dy} {top} {bottom}"
        return (
            f'{svg.removesuffix("</svg>")}<g class="sense7-here" data-geometry="{geometry}" fill="none" '
            f'stroke="currentColor" stroke-linecap="round"><path d="{line}" stroke-width="1"/>'
            f'<path d="{interval}" stroke-width="3"/><path d="{point}" stroke-width="9"/></g></svg>'
        )

    def html(self) -> str:
        """Sentence, curve with its options, table as JSON and as CSV, as one HTML element."""
        # No text of a workbook may end the script that holds it.
        content = json.dumps(self.content, separators=(",", ":"))
        content = content.replace("<", "\\u003c").replace(">", "\\u003e")
        return super().html(
            before=f'<output class="{NO_MATH}" aria-live="polite">{self.sentence}</output>',
            after=f'<script type="application/json">{content}</script>',
            kind=f' sense7-specifications" id="specification-{self.name}',
        )


def _five_digits(number: float) -> float:
    return float(f"{number:.5g}")


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
        Whose data they are, see :func:`sense7.figures.intervals`.

    Returns
    -------
    SpecificationCurve or Sentence
        A sentence if no specification can be computed.
    """
    if name not in HEADLINES:
        raise UserError(
            f"specification_curve wants a headline as name, one of {', '.join(HEADLINES)}; got {name!r}."
        )
    headline = HEADLINES[name]
    if not has_estimate(table).any():
        return Sentence(f"No curve of {headline.title}: {table['reason'].iloc[0]}.")
    data = table[[*headline.choices, "estimate", "low", "high", "n", "reason"]]
    data = data.sort_values("estimate", kind="stable", na_position="last")
    estimated = data[data["estimate"].notna()]
    reference, compared_with = _reference(headline, published)
    color = main_color(source)

    # Rows below the curve: each choice, and its options.
    option_rows = []
    for choice, options in headline.choices.items():
        option_rows.append((choice, ""))
        option_rows += [(choice, option) for option in options]

    def draw():
        height_of_options = 0.22 * len(option_rows)
        drawing = new_drawing(7, 3.6 + height_of_options)
        axes, below = drawing.subplots(2, sharex=True, height_ratios=(2.6, height_of_options))
        numbers = estimated[["estimate", "low", "high"]].to_numpy(dtype=float)
        positions = np.arange(len(estimated))
        low_and_high = with_gaps(numbers[:, 1], numbers[:, 2])
        axes.plot(with_gaps(positions, positions), low_and_high, color=color, linewidth=1)
        axes.plot(positions, numbers[:, 0], "o", color=color, markersize=4)
        if reference is not None:
            axes.axhline(reference, **_look_of_line(headline))
        if np.ptp(numbers[np.isfinite(numbers)]) < 1e-4:  # a scale would show nothing but rounding
            axes.set_ylim(numbers[0, 0] - 0.5, numbers[0, 0] + 0.5)
        if headline.unit.startswith("share"):
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set(xlim=(-0.7, len(estimated) - 0.3), ylabel=headline.unit)
        title = headline.title
        if headline.unit not in title:
            title = f"{title} ({headline.unit})"
        title = f"All {len(estimated)} estimates in order: {title}"
        # Beside the line, its name would lie on the intervals.
        if reference is not None and headline.claim:
            title = f"{title}; dashed: published {compared_with}"
        elif reference is not None:
            title = f"{title}; solid: {compared_with}"
        title = textwrap.fill(title, 62)
        axes.set_title(title, loc="left", fontsize=10)
        axes.tick_params(bottom=False)
        names = []
        for row, (choice, option) in enumerate(option_rows):
            with_option = np.flatnonzero(estimated[choice] == option)
            below.plot(
                with_option,
                np.full(len(with_option), row),
                "|",
                color=color,
                markersize=7,
                markeredgewidth=2,
            )
            names.append(drawn(option) or f"{_QUESTIONS.get(choice, choice)}:")
        name_rows(below, names)
        for tick, (_, option) in zip(below.yaxis.get_major_ticks(), option_rows, strict=True):
            if not option:
                tick.label1.set_weight("bold")
                tick.tick1line.set_visible(False)
        below.set(xticks=[], xlabel="one column per analysis variant")
        axes.grid(visible=False, axis="x")
        below.grid(visible=False)
        return drawing

    position_of = {number: position for position, number in enumerate(estimated.index)}
    rows = []
    for number, row in table.iterrows():
        options = [options.index(row[choice]) for choice, options in headline.choices.items()]
        estimate, low, high = (
            _rounded_or_none(row[column]) for column in ("estimate", "low", "high")
        )
        result = _result(row, headline.unit)
        position = position_of.get(number)
        rank = ""
        if position is not None:
            rank = f"{_rank(position + 1, len(estimated))} of {len(estimated)}"
        rows.append([options, estimate, low, high, int(row["n"]), result, position, rank])

    agrees = agreement(table, name, published)
    agreed = ""
    if reference is not None and len(agrees):
        relation = "lies above"
        if headline.claim:
            relation = "contains the published value,"
        variants = count_of(len(agrees), "analysis variant")
        agreed = f"Interval {relation} {compared_with}: {agrees.sum()} of {variants}."
    choices = []
    for choice, options in headline.choices.items():
        choices.append([choice, _QUESTIONS.get(choice, choice), list(options)])
    content = {
        "name": name,
        "choices": choices,
        "default": DEFAULT,
        "agreement": agreed,
        "left_out": headline.left_out,
        "rows": rows,
    }

    _, default_estimate, _, _, _, default_result, _, rank = rows[0]
    sentence = f"{DEFAULT}: <strong>{html.escape(default_result)}</strong>"
    if rank:
        sentence += f" ({rank})"
    sentence += f". {html.escape(agreed)}"

    estimates = estimated["estimate"]
    lowest, highest = _ends(estimates, headline)
    median = format_number(float(estimates.median()), headline.unit)
    alt = f"Specification curve of {headline.title}. {len(estimated)} of {count_of(len(table), 'analysis variant')} "
    alt += f"could be computed: from {lowest} to {highest}, median {median}"
    if default_estimate is not None:
        alt += f"; main analysis {default_result}"
    medians = []
    for choice in headline.choices:
        for option, estimates_of_option in estimated.groupby(choice, sort=False)["estimate"]:
            median = format_number(float(estimates_of_option.median()), headline.unit)
            medians.append(f"{choice} {option} {median}")
    alt += f". Medians by option: {'; '.join(medians)}."
    caption = (
        "Each dot is one way to run the analysis, with its interval; the vertical line is the one selected above. "
        f"n = {range_of(estimated['n'])}; {caption}"
    )
    return figure_of(
        draw,
        name,
        alt,
        caption,
        data,
        source,
        make=SpecificationCurve,
        sentence=sentence,
        content=content,
    )


def _rank(number: int, count: int) -> str:
    """Which of the estimates one is, from the smallest: smallest, 2nd smallest, 3rd smallest, ..., largest."""
    if number == 1:
        return "smallest"
    if number == count:
        return "largest"
    ending = "th"
    if number % 100 not in (11, 12, 13):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} smallest"


def _rounded_or_none(number: float) -> float | None:
    if np.isfinite(number):
        return rounded(number)
    return None


def _reference(headline: Headline, published: float | None) -> tuple[float | None, str]:
    """What intervals are compared with, the published value or the headline's reference, and in words."""
    reference = headline.reference
    if headline.claim:
        reference = published
    if reference is None:
        return None, ""
    if reference == 0:
        return reference, "zero"
    return reference, format_number(float(reference), headline.unit)


def _ends(estimates: pd.Series, headline: Headline) -> tuple[str, str]:
    """The lowest and the highest estimate, in words."""
    lowest = format_number(float(estimates.min()), headline.unit)
    return lowest, format_number(float(estimates.max()), headline.unit)


def _look_of_line(headline: Headline) -> dict:
    """How the line is drawn that the intervals of a headline are compared with: a published value is gray."""
    if headline.claim:
        return {"color": GRAY, "linewidth": 1.8, "linestyle": "--"}
    return {"color": INK, "linewidth": 0.9}


def _result(row: pd.Series, unit: str) -> str:
    """An estimate with interval and n in words, or why there is none."""
    if not np.isfinite(row["estimate"]):
        return f"no estimate: {row['reason']}"
    estimate = format_number(row["estimate"], unit)
    if np.isfinite(row["low"]):
        interval = f"[{format_number(row['low'], unit)}, {format_number(row['high'], unit)}]"
    else:
        interval = f"({row['reason']})"
    return f"{estimate} {interval}, n = {row['n']:,}"


def specification_ranges(
    tables: Mapping[str, pd.DataFrame],
    published: Mapping[str, float],
    *,
    name: str,
    caption: str,
    source: Shown = None,
) -> Figure | Sentence:
    """Draw all estimates of every headline as strokes, each headline on an axis of its own.

    Parameters
    ----------
    tables : mapping
        Headline -> its specifications, the first of which is that of the other pages.
    published : mapping
        Headline -> its published value, where it has one.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, n, and that no interval is drawn.
    source : Study or Source, optional
        Whose data they are, see :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if no specification can be computed. Headlines without an estimate are left out of the drawing.
    """
    drawn_tables = {}
    for headline, table in tables.items():
        estimated = table[has_estimate(table)]
        if len(estimated):
            drawn_tables[headline] = estimated
    if not drawn_tables:
        return Sentence("No figure of the ranges: no specification could be computed.")
    color = main_color(source)
    ranges = []
    for headline, table in drawn_tables.items():
        ranges.append(_range_in_words(HEADLINES[headline], table, published.get(headline)))

    def draw(width: float):
        letters = 38
        ticks = 6
        height = 0.56
        if width < WIDE:
            letters = 20
            ticks = 3
            height = 0.72
        size = (width, 0.3 + height * len(ranges))
        drawing = new_drawing(*size)
        grid = drawing.subplots(len(ranges), squeeze=False)[:, 0]
        for axes, (headline, table) in zip(grid, drawn_tables.items(), strict=True):
            scale = 1
            if HEADLINES[headline].unit.startswith("share"):
                scale = 100
            estimates = scale * table["estimate"].to_numpy(dtype=float)
            axes.plot(estimates, np.zeros(len(estimates)), "|", color=color, markersize=14)
            if table.index[0] == tables[headline].index[0]:
                axes.plot(estimates[:1], [0], "o", color=INK, markersize=7)
            reference, _ = _reference(HEADLINES[headline], published.get(headline))
            if reference is not None:
                axes.axvline(scale * reference, **_look_of_line(HEADLINES[headline]))
            axes.set_yticks([0], [textwrap.fill(_title(HEADLINES[headline]), letters)])
            axes.set_ylim(-1, 1)
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False, axis="y")
            axes.xaxis.set_major_locator(MaxNLocator(ticks))
        return drawing

    alt = f"Estimates under all combinations of choices. {'; '.join(ranges)}."
    data = pd.concat(drawn_tables, names=["headline", "specification"])
    data = data[["estimate", "low", "high", "n"]]
    return figure_for_widths(draw, name, alt, caption, data, source)


def _range_in_words(headline: Headline, table: pd.DataFrame, published: float | None) -> str:
    """A headline with its smallest and largest estimate, and with what they are compared with."""
    lowest, highest = _ends(table["estimate"], headline)
    words = f"{_title(headline)}: {lowest} to {highest} ({count_of(len(table), 'analysis', 'analyses')})"
    _, compared_with = _reference(headline, published)
    if headline.claim and compared_with:
        words += f"; published {compared_with}"
    return words


def _title(headline: Headline) -> str:
    """The title of a headline as the beginning of a line."""
    return headline.title[0].upper() + headline.title[1:]


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
    rows = {}
    for name, table in tables.items():
        headline = HEADLINES[name]
        row = {"main analysis": _result(table.iloc[0], headline.unit)}
        rows[headline.title] = row
        estimates = table["estimate"].dropna()
        if estimates.empty:
            continue
        row["lowest"], row["highest"] = _ends(estimates, headline)
        agrees = agreement(table, name, published.get(name))
        _, compared_with = _reference(headline, published.get(name))
        relation = "above"
        if headline.claim:
            relation = "contain the published"
        row["intervals that agree"] = ""
        if compared_with:
            row["intervals that agree"] = (
                f"{agrees.sum()} of {len(agrees)} {relation} {compared_with}"
            )
    frame = pd.DataFrame.from_dict(rows, orient="index").fillna("").rename_axis("headline")
    return Table(
        frame,
        "Each result over all its analysis variants; intervals by resampled participants",
    )
