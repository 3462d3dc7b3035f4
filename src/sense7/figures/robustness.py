"""Specification curves: what every defensible choice gives, drawn so that a reader can choose.

The drawing is small: lines whose places are numbers of specifications and of pixels, stretched to the width of the
text, with labels beside them that keep their size, so that it reads on a phone. Without a script it shows the
specification of the other pages; ``book/static/specifications.js`` lets a reader choose another one, from the
same table, which stands in the figure as JSON.
"""

import base64
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.figures.style import COLOURS, csv_text
from sense7.findings.robustness import HEADLINES, Headline, agreement
from sense7.record import format_number
from sense7.tables import NO_MATH, Sentence, Table
from sense7.terminal import count_of, plain_lines

__all__ = ["SpecificationCurve", "specification_curve", "specification_table"]

HEIGHT = 220
"""Of the curve, in pixels."""

DEFAULT = "As on the other pages"
_WIDTH = 1000
"""Of the picture of one estimate, in its own unit."""

_DIGITS = 6
_NARROWEST = 1e-4
"""Range below which a scale would show nothing but rounding."""
_WHAT_TO_SEE = "Each dot is one combination of choices with its interval; the line through them marks the one above."
_QUESTIONS = {
    "averaging": "order of averaging",
    "coding": "coding of the levels",
    "conditions": "differences between conditions",
    "exclusions": "left out",
    "failure": "a failure is a rating",
    "missing": "missing ratings",
    "moment": "loss in the",
    "poor turn": "a turn is poor by",
    "rating": "rating",
}
"""Choices whose names need more words."""


def specification_curve(
    table: pd.DataFrame, *, name: str, caption: str, published: float | None = None
) -> "SpecificationCurve | Sentence":
    """Estimates of all specifications in order, and which one a reader has chosen.

    Parameters
    ----------
    table : DataFrame
        As :func:`sense7.findings.robustness.multiverse` returns it: choices, then estimates; the
        first row is the specification of the other pages.
    name : str
        The headline: a key of ``HEADLINES``, by which other pages find the figure.
    caption : str
        n, and what the intervals are.
    published : float, optional
        The published value, of a headline that has one.

    Returns
    -------
    SpecificationCurve or Sentence
        A sentence if no specification can be computed.
    """
    if name not in HEADLINES:
        raise UserError(f"specification_curve wants a headline as name, one of {', '.join(HEADLINES)}; got {name!r}.")
    if not np.isfinite(table["estimate"]).any():
        return Sentence(f"No curve of {HEADLINES[name].title}: {table['reason'].iloc[0]}.")
    return SpecificationCurve(table, name, caption, published)


def specification_table(tables: Mapping[str, pd.DataFrame], published: Mapping[str, float]) -> Table:
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
        curve = specification_curve(table, name=name, caption="", published=published.get(name))
        rows[HEADLINES[name].title] = (
            curve.range_in_words() if isinstance(curve, SpecificationCurve) else {"as on the other pages": curve.text}
        )
    frame = pd.DataFrame.from_dict(rows, orient="index").fillna("").rename_axis("headline")
    return Table(frame, "Every headline over all combinations of its choices; intervals by resampled participants")


@dataclass(frozen=True, eq=False)
class SpecificationCurve:
    """A drawn specification curve with its table.

    Attributes
    ----------
    table : DataFrame
        All specifications; the first is that of the other pages.
    name, caption : str
        The headline's key, and what stands below the figure.
    published : float or None
        The published value.
    """

    table: pd.DataFrame = field(repr=False)
    name: str
    caption: str
    published: float | None = None

    @property
    def headline(self) -> Headline:
        """The headline itself."""
        return HEADLINES[self.name]

    @cached_property
    def data(self) -> pd.DataFrame:
        """All specifications in the order in which they are drawn; those without an estimate come last."""
        columns = [*self.headline.choices, "estimate", "low", "high", "n", "reason"]
        return self.table[columns].sort_values("estimate", kind="stable", na_position="last")

    @cached_property
    def places(self) -> dict[int, int]:
        """Specification that could be computed -> its place from the lowest estimate, 0, 1, .."""
        known = self.data.index[self.data["estimate"].notna()]
        return {number: place for place, number in enumerate(known)}

    @property
    def reference(self) -> float | None:
        """What intervals are compared with: the published value, else the headline's reference."""
        return self.published if self.headline.claim else self.headline.reference

    @cached_property
    def axis(self) -> tuple[float, float]:
        """Ends of the scale: all limits and the reference, with some room."""
        numbers = self.table[["estimate", "low", "high"]].to_numpy(dtype=float).ravel()
        numbers = np.append(numbers, [] if self.reference is None else self.reference)
        low, high = np.nanmin(numbers), np.nanmax(numbers)
        # Equal estimates differ by rounding only.
        room = 0.06 * (high - low) if high - low > _NARROWEST else 0.5
        return _rounded(low - room), _rounded(high + room)

    @property
    def alt(self) -> str:
        """What is seen: range, median, the first specification, and the median of each option."""
        known, first = self.table[self.table["estimate"].notna()], self.table.iloc[0]
        text = f"Specification curve of {self.headline.title}. {len(known)} of "
        text += f"{count_of(len(self.table), 'specification')} could be computed: from "
        text += f"{self._words(known['estimate'].min())} to {self._words(known['estimate'].max())}"
        text += f", median {self._words(known['estimate'].median())}"
        if np.isfinite(first["estimate"]):
            text += f"; as on the other pages {self._value(first)}"
        medians = [
            f"{choice} {option} {self._words(group.median())}"
            for choice in self.headline.choices
            for option, group in known.groupby(choice, sort=False)["estimate"]
        ]
        return f"{text}. Medians by option: {'; '.join(medians)}."

    @property
    def _sizes(self) -> str:
        """The numbers of observations that the estimates rest on."""
        known = self.table.loc[self.table["estimate"].notna(), "n"]
        spread = f"{known.min():,}" if known.min() == known.max() else f"{known.min():,} to {known.max():,}"
        return f"n = {spread}, by specification"

    def _words(self, number: float) -> str:
        return format_number(float(number), self.headline.unit)

    def _value(self, row: pd.Series) -> str:
        text = self._words(row["estimate"])
        return f"{text} [{self._words(row['low'])}, {self._words(row['high'])}]" if np.isfinite(row["low"]) else text

    def _result(self, row: pd.Series) -> str:
        """An estimate with interval and n in words, or why there is none."""
        if not np.isfinite(row["estimate"]):
            return f"no estimate: {row['reason']}"
        lacking = "" if np.isfinite(row["low"]) else f" ({row['reason']})"
        return f"{self._value(row)}{lacking}, n = {row['n']:,}"

    @property
    def _agreement(self) -> str:
        """How many intervals agree with the published value or lie above the reference."""
        agree = agreement(self.table, self.name, self.published)
        if self.reference is None or agree.empty:
            return ""
        what = "holds the published value," if self.headline.claim else "lies above"
        of = count_of(len(agree), "specification")
        return f"{agree.sum()} of {of} have an interval that {what} {self._compared_with}."

    def range_in_words(self) -> dict[str, str]:
        """The first estimate, the range of all, and how many intervals agree: a row of :func:`specification_table`."""
        known = self.table["estimate"].dropna()
        agree = agreement(self.table, self.name, self.published)
        what = f"hold the published {self._compared_with}" if self.headline.claim else f"above {self._compared_with}"
        return {
            "as on the other pages": self._result(self.table.iloc[0]),
            "lowest": self._words(known.min()),
            "highest": self._words(known.max()),
            "intervals that agree": f"{agree.sum()} of {len(agree)} {what}" if self._compared_with else "",
        }

    def content(self) -> dict:
        """What the script needs: choices, scale, sentences, and each specification with its place in the curve.

        A row is the options' numbers, estimate, low, high (null where there is none), n, the result in words, and the
        place from the lowest estimate (null where there is none).
        """
        options = {choice: list(given) for choice, given in self.headline.choices.items()}
        rows = []
        for number, row in self.table.iterrows():
            numbers = [_rounded(row[column]) for column in ("estimate", "low", "high")]
            codes = [options[choice].index(row[choice]) for choice in options]
            rows.append([codes, *numbers, int(row["n"]), self._result(row), self.places.get(number)])
        return {
            "name": self.name,
            "choices": [[choice, _QUESTIONS.get(choice, choice), given] for choice, given in options.items()],
            "axis": self.axis,
            "height": HEIGHT,
            "width": _WIDTH,
            "default": DEFAULT,
            "agreement": self._agreement,
            "left_out": self.headline.left_out,
            "rows": rows,
        }

    def _y(self, number: float) -> float:
        low, high = self.axis
        return round(HEIGHT * (1 - (number - low) / (high - low)), 1)

    def _x(self, number: float) -> float:
        low, high = self.axis
        return round(_WIDTH * (number - low) / (high - low), 1)

    @property
    def _ticks(self) -> dict[float, str]:
        low, high = self.axis
        ticks = [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if low < tick < high]
        percent = self.headline.unit.startswith("share")
        return {tick: f"{100 * tick:.4g}%" if percent else f"{tick:.4g}" for tick in ticks}

    @property
    def _compared_with(self) -> str:
        """The reference in words; "" if there is none."""
        if self.reference is None:
            return ""
        return "zero" if self.reference == 0 else self._words(self.reference)

    @property
    def _reference_label(self) -> str:
        return f"published: {self._compared_with}" if self.headline.claim else self._compared_with

    def _sentence(self) -> str:
        result = html.escape(self._result(self.table.iloc[0]))
        place = self.places.get(self.table.index[0])
        known = len(self.places)
        rank = "" if place is None else f" By its estimate it is number {place + 1} of {known}, from the lowest."
        return f"{DEFAULT}: <strong>{result}</strong>. {html.escape(self._agreement)}{rank}"

    def _chosen(self) -> str:
        """The chosen estimate and its interval, large, beside the reference."""
        first = self.table.iloc[0]
        numbers = {name: self._x(first[name]) for name in ("estimate", "low", "high") if np.isfinite(first[name])}
        interval = f"M{numbers['low']} 48H{numbers['high']}" if "low" in numbers else ""
        point = f"M{numbers['estimate']} 48h.1" if "estimate" in numbers else ""
        parts = [_path("interval", interval, COLOURS[1], 4), _path("point", point, COLOURS[1], 16, round_ends=True)]
        texts = [_text(self._x(tick) / _WIDTH, "top:64px", "tick", words) for tick, words in self._ticks.items()]
        grid = "".join(f"M{self._x(tick)} 24v38" for tick in self._ticks)
        if self.reference is not None:
            where = self._x(self.reference)
            parts.insert(0, _path("reference", f"M{where} 20v44", "currentColor", 2, dashed=True))
            texts.append(_text(where / _WIDTH, "top:0", "reference", self._reference_label))
        words = self._words(first["estimate"]) if point else ""
        texts.append(_text(numbers.get("estimate", 0) / _WIDTH, "top:20px", "estimate", words))
        parts.insert(0, _path("grid", grid, "#8c8c8c", 1))
        return _track("sense7-chosen", 84, _WIDTH, "".join(parts), "".join(texts), hidden=True)

    @property
    def _title(self) -> str:
        """The headline with its unit, where its name does not say it."""
        one = self.headline
        return one.title if one.unit in one.title else f"{one.title} ({one.unit})"

    def _curve(self) -> str:
        known = self.table.loc[list(self.places)]
        limits = [
            f"M{place + 0.5} {self._y(low)}V{self._y(high)}"
            for place, (low, high) in enumerate(known[["low", "high"]].to_numpy(dtype=float))
            if np.isfinite(low)
        ]
        points = [f"M{place + 0.5} {self._y(number)}h.001" for place, number in enumerate(known["estimate"])]
        width = len(known)
        parts = [_path("grid", "".join(f"M0 {self._y(tick)}h{width}" for tick in self._ticks), "#8c8c8c", 1)]
        parts.append(_path("intervals", "".join(limits), COLOURS[0], 1.5))
        parts.append(_path("points", "".join(points), COLOURS[0], 6, round_ends=True))
        texts = [_text(0, f"top:{self._y(tick)}px", "tick", words) for tick, words in self._ticks.items()]
        if self.reference is not None:
            y = self._y(self.reference)
            parts.append(_path("reference", f"M0 {y}h{width}", "currentColor", 1.5, dashed=True))
            # Where most estimates lie on the other side of the line.
            share = 0.12 if self.reference > known["estimate"].median() else 1
            texts.append(_text(share, f"top:{y}px", "reference", self._reference_label))
        place, first = self.places.get(self.table.index[0]), self.table.iloc[0]
        interval = ""
        if np.isfinite(first["low"]):
            interval = f"M{place + 0.5} {self._y(first['low'])}V{self._y(first['high'])}"
        point = "" if place is None else points[place]
        parts += [_path("interval", interval, COLOURS[1], 4), _path("point", point, COLOURS[1], 12, round_ends=True)]
        return _track("sense7-curve", HEIGHT, width, "".join(parts), "".join(texts), label=self.alt)

    def _options(self) -> str:
        """Below the curve, one line per option: the specifications that take it."""
        known, first, lines = self.table.loc[list(self.places)], self.table.iloc[0], []
        for number, (choice, options) in enumerate(self.headline.choices.items()):
            lines.append(f'<p class="choice">{html.escape(_QUESTIONS.get(choice, choice))}</p>')
            for code, option in enumerate(options):
                marks = "".join(f"M{place + 0.5} 2v8" for place in np.flatnonzero(known[choice] == option))
                taken = " taken" if first[choice] == option else ""
                track = _track("", 12, len(known), _path("marks", marks, COLOURS[0], 3), "", hidden=True)
                words = f"<span>{html.escape(option)}</span>"
                lines.append(f'<div class="option{taken}" data-option="{number}-{code}">{words}{track}</div>')
        return "".join(lines)

    def html(self) -> str:
        """Sentence, chosen estimate, curve, options, table as JSON and as CSV, as one HTML element."""
        # No text of a workbook may end the script that holds it.
        content = json.dumps(self.content(), separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
        table = base64.b64encode(csv_text(self.data.map(_rounded_cell)).encode()).decode()
        place = self.places.get(self.table.index[0])
        here = f"{100 * (place + 0.5) / len(self.places):.2f}%" if place is not None else "-1%"
        kind = "sense7-figure sense7-specifications" + " unknown" * (place is None)
        return (
            f'<figure class="{kind}" id="specification-{self.name}" style="--here:{here}">'
            f'<output class="{NO_MATH}" aria-live="polite">{self._sentence()}</output>{self._chosen()}'
            f'<p class="{NO_MATH}">All {len(self.places)} estimates in order: {html.escape(self._title)}</p>'
            f'<div class="lines {NO_MATH}">'
            f'<div class="option">{self._curve()}</div>{self._options()}</div>'
            f'<script type="application/json">{content}</script>'
            f'<figcaption class="{NO_MATH}">{_WHAT_TO_SEE} {self._sizes}; {html.escape(self.caption)} '
            f'<a download="{self.name}.csv" href="data:text/csv;base64,{table}">Data (CSV)</a></figcaption></figure>'
        )

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return plain_lines(f"Figure: {self.alt}")


def _rounded(number: float) -> float | None:
    """To the digits that are kept in a figure's data; None where there is no number."""
    return float(f"{number:.{_DIGITS}g}") if np.isfinite(number) else None


def _rounded_cell(cell: object) -> object:
    return _rounded(cell) if isinstance(cell, float) else cell


def _path(name: str, d: str, color: str, width: float, *, dashed: bool = False, round_ends: bool = False) -> str:
    """A line whose width no stretching changes; one of no length with round ends is a dot."""
    extra = ' stroke-dasharray="5 4"' * dashed + ' stroke-linecap="round"' * round_ends
    return (
        f'<path class="{name}" d="{d}" stroke="{color}" stroke-width="{width:g}" fill="none" '
        f'vector-effect="non-scaling-stroke"{extra}/>'
    )


def _text(share: float, place: str, kind: str, words: str) -> str:
    """A label at a share of the width; near an end it stands inside."""
    shift = 0 if share < 0.2 else -100 if share > 0.8 else -50
    style = f"position:absolute;left:{100 * share:.2f}%;{place};transform:translateX({shift}%)"
    return f'<span class="{kind}" style="{style}">{html.escape(words)}</span>'


def _track(name: str, height: int, width: int, paths: str, texts: str, *, label: str = "", hidden: bool = False) -> str:
    """Lines that are stretched to the width of the page, and labels that are not."""
    role = ' aria-hidden="true"' if hidden else f' role="img" aria-label="{html.escape(label, quote=True)}"'
    box = "position:absolute;top:0;left:0;width:100%;height:100%;min-width:0;max-width:none;overflow:visible"
    return (
        f'<div class="track {name}" style="position:relative;height:{height}px"{role}>'
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true" style="{box}">{paths}</svg>'
        f"{texts}</div>"
    )


check_arguments(globals())
