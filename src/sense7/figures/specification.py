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
from matplotlib.ticker import PercentFormatter

from sense7.errors import UserError
from sense7.figures.style import COLOURS, INK, Figure, drawn, rounded, styled
from sense7.findings.robustness import HEADLINES, agreement
from sense7.record import format_number
from sense7.tables import NO_MATH, Sentence, Table
from sense7.terminal import count_of

DEFAULT = "As on the other pages"
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
        points = 72 / drawing.dpi
        (x, y), (right, up) = points * curve.transData.transform([(0, 0), (1, 1)])
        top, bottom = points * curve.bbox.y1, points * options.bbox.y0
        height = 72 * drawing.get_figheight()
        numbers = [x, right - x, height - y, y - up, height - top, height - bottom]
        x0, dx, y0, dy, top, bottom = (float(f"{number:.5g}") for number in numbers)
        line = interval = point = ""
        _, estimate, low, high, _, _, place = self.content["rows"][0]
        if place is not None:
            at = x0 + dx * place
            line, point = f"M{at:g} {top}V{bottom}", f"M{at:g} {y0 + dy * estimate:g}h.01"
            interval = "" if low is None else f"M{at:g} {y0 + dy * low:g}V{y0 + dy * high:g}"
        paths = "".join(
            f'<path d="{d}" stroke-width="{width}"/>'
            for d, width in ((line, 1), (interval, 3), (point, 9))
        )
        geometry = f"{x0} {dx} {y0} {dy} {top} {bottom}"
        mark = (
            f'<g class="sense7-here" data-geometry="{geometry}" fill="none" stroke="currentColor" '
        )
        return f'{svg.removesuffix("</svg>")}{mark}stroke-linecap="round">{paths}</g></svg>'

    def html(self) -> str:
        """Sentence, curve with its options, table as JSON and as CSV, as one HTML element."""
        # No text of a workbook may end the script that holds it.
        content = (
            json.dumps(self.content, separators=(",", ":"))
            .replace("<", "\\u003c")
            .replace(">", "\\u003e")
        )
        return super().html(
            before=f'<output class="{NO_MATH}" aria-live="polite">{self.sentence}</output>',
            after=f'<script type="application/json">{content}</script>',
            kind=f' sense7-specifications" id="specification-{self.name}',
        )


def specification_curve(
    table: pd.DataFrame, *, name: str, caption: str, published: float | None = None
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

    Returns
    -------
    SpecificationCurve or Sentence
        A sentence if no specification can be computed.
    """
    if name not in HEADLINES:
        raise UserError(
            f"specification_curve wants a headline as name, one of {', '.join(HEADLINES)}; got {name!r}."
        )
    one = HEADLINES[name]
    if not np.isfinite(table["estimate"]).any():
        return Sentence(f"No curve of {one.title}: {table['reason'].iloc[0]}.")
    data = table[[*one.choices, "estimate", "low", "high", "n", "reason"]]
    data = data.sort_values("estimate", kind="stable", na_position="last")
    known = data[data["estimate"].notna()]
    reference, compared_with = _reference(name, published)
    options = [(choice, option) for choice, given in one.choices.items() for option in ("", *given)]

    @styled()
    def draw() -> MatplotlibFigure:
        size = 7, 3.6 + 0.22 * len(options)
        drawing = MatplotlibFigure(figsize=size, layout="constrained")
        axes, below = drawing.subplots(2, sharex=True, height_ratios=(2.6, 0.22 * len(options)))
        numbers, places = (
            known[["estimate", "low", "high"]].to_numpy(dtype=float),
            np.arange(len(known)),
        )
        # One path for all intervals: elements of their own weigh more.
        gaps = np.full(len(known), np.nan)
        ends = (
            np.column_stack([places, places, gaps]).ravel(),
            np.column_stack([numbers[:, 1:], gaps]).ravel(),
        )
        axes.plot(*ends, color=COLOURS[0], linewidth=1)
        axes.plot(places, numbers[:, 0], "o", color=COLOURS[0], markersize=4)
        if reference is not None:
            axes.axhline(reference, color=INK, linestyle="--", linewidth=1.2)
            words = f"published: {compared_with}" if one.claim else compared_with
            # Where most estimates lie on the other side of the line.
            right = reference <= np.median(numbers[:, 0])
            ha = "right" if right else "left"
            axes.text(
                right, reference, words, transform=axes.get_yaxis_transform(), ha=ha, va="bottom"
            )
        if np.ptp(numbers[np.isfinite(numbers)]) < 1e-4:  # a scale would show nothing but rounding
            axes.set_ylim(numbers[0, 0] - 0.5, numbers[0, 0] + 0.5)
        if one.unit.startswith("share"):
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set(xlim=(-0.7, len(known) - 0.3), ylabel=one.unit)
        title = one.title if one.unit in one.title else f"{one.title} ({one.unit})"
        axes.set_title(
            textwrap.fill(f"All {len(known)} estimates in order: {title}", 62),
            loc="left",
            fontsize=10,
        )
        axes.tick_params(bottom=False)
        for row, (choice, option) in enumerate(options):
            taken = np.flatnonzero(known[choice] == option)
            below.plot(
                taken,
                np.full(len(taken), row),
                "|",
                color=COLOURS[0],
                markersize=7,
                markeredgewidth=2,
            )
        names = [
            drawn(option) if option else f"{_QUESTIONS.get(choice, choice)}:"
            for choice, option in options
        ]
        below.set_yticks(range(len(options)), names)
        for tick, (_, option) in zip(below.yaxis.get_major_ticks(), options, strict=True):
            tick.label1.set_weight("normal" if option else "bold")
            tick.tick1line.set_visible(bool(option))
        below.set(ylim=(len(options) - 0.5, -0.5), xticks=[], xlabel="one column per specification")
        axes.grid(visible=False, axis="x")
        below.grid(visible=False)
        return drawing

    def words(number) -> str:
        return format_number(float(number), one.unit)

    place_of = {number: place for place, number in enumerate(known.index)}
    rows = [
        [
            [given.index(row[choice]) for choice, given in one.choices.items()],
            *(
                rounded(row[column]) if np.isfinite(row[column]) else None
                for column in ("estimate", "low", "high")
            ),
            int(row["n"]),
            _result(row, one.unit),
            place_of.get(number),
        ]
        for number, row in table.iterrows()
    ]
    agree = agreement(table, name, published)
    agreed = ""
    if reference is not None and len(agree):
        what = "holds the published value," if one.claim else "lies above"
        of = count_of(len(agree), "specification")
        agreed = f"{agree.sum()} of {of} have an interval that {what} {compared_with}."
    content = {
        "name": name,
        "choices": [
            [choice, _QUESTIONS.get(choice, choice), list(given)]
            for choice, given in one.choices.items()
        ],
        "default": DEFAULT,
        "agreement": agreed,
        "left_out": one.left_out,
        "rows": rows,
    }
    _, estimate, *_, said, place = rows[0]
    rank = (
        ""
        if place is None
        else f" By its estimate it is number {place + 1} of {len(known)}, from the lowest."
    )
    sentence = f"{DEFAULT}: <strong>{html.escape(said)}</strong>. {html.escape(agreed)}{rank}"
    alt = f"Specification curve of {one.title}. {len(known)} of {count_of(len(table), 'specification')} could be "
    alt += f"computed: from {words(known['estimate'].min())} to {words(known['estimate'].max())}"
    alt += f", median {words(known['estimate'].median())}"
    alt += "" if estimate is None else f"; as on the other pages {said}"
    medians = [
        f"{choice} {option} {words(group.median())}"
        for choice in one.choices
        for option, group in known.groupby(choice, sort=False)["estimate"]
    ]
    sizes = " to ".join(f"{n:,}" for n in dict.fromkeys((known["n"].min(), known["n"].max())))
    caption = (
        "Each dot is one combination of choices with its interval; the line through them marks the one above. "
        f"n = {sizes}, by specification; {caption}"
    )
    alt = f"{alt}. Medians by option: {'; '.join(medians)}."
    return SpecificationCurve(draw(), draw(), name, alt, caption, data, sentence, content)


def _reference(name: str, published: float | None) -> tuple[float | None, str]:
    """What intervals are compared with, the published value or the headline's reference, and in words."""
    one = HEADLINES[name]
    reference = published if one.claim else one.reference
    words = (
        ""
        if reference is None
        else "zero"
        if reference == 0
        else format_number(float(reference), one.unit)
    )
    return reference, words


def _result(row: pd.Series, unit: str) -> str:
    """An estimate with interval and n in words, or why there is none."""
    if not np.isfinite(row["estimate"]):
        return f"no estimate: {row['reason']}"
    estimate, low, high = (
        format_number(row[column], unit) for column in ("estimate", "low", "high")
    )
    interval = f" [{low}, {high}]" if np.isfinite(row["low"]) else f" ({row['reason']})"
    return f"{estimate}{interval}, n = {row['n']:,}"


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
        one, known = HEADLINES[name], table["estimate"].dropna()
        rows[one.title] = {"as on the other pages": _result(table.iloc[0], one.unit)}
        if known.empty:
            continue
        agree = agreement(table, name, published.get(name))
        _, compared_with = _reference(name, published.get(name))
        what = f"hold the published {compared_with}" if one.claim else f"above {compared_with}"
        rows[one.title] |= {
            "lowest": format_number(known.min(), one.unit),
            "highest": format_number(known.max(), one.unit),
            "intervals that agree": f"{agree.sum()} of {len(agree)} {what}"
            if compared_with
            else "",
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").fillna("").rename_axis("headline")
    return Table(
        frame,
        "Every headline over all combinations of its choices; intervals by resampled participants",
    )
