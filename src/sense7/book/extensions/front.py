"""What the front page shows of claims and of the ratings.

A Sphinx extension with directives that read the folder of the edition:

- ``claim-card``: what this edition's data give for a claim in words, or with ``:ratings: elsewhere``
  what the ratings that another study released give: as a number, as a bar on an axis that all cards
  of one unit share, and by the claim's rule;
- ``rated-conversation``: one conversation as a table of its ratings, one column for each answer.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions import METADATA
from sense7.book.extensions.finding import shown_row
from sense7.book.extensions.values import edition_of, looked_up, raw
from sense7.book.pages import EXAMPLE, TEMPLATES, label
from sense7.files import read_json
from sense7.record import format_number

__all__ = ["setup"]

_SHOWN = TEMPLATES.get_template("claims.html").module

_STEP = 0.1
"""Ends of an axis are multiples of it."""


def axis(value: Mapping, values: Sequence[Mapping]) -> dict | None:
    """Where zero, a value and its interval lie on the axis of all values of its unit, in percent of its width.

    Examples
    --------
    >>> small = {"estimate": 0.02, "low": 0.01, "high": 0.03, "unit": "share"}
    >>> large = {"estimate": 0.5, "low": -0.2, "high": 0.8, "unit": "share"}
    >>> axis(small, [small, large])["places"]
    [20.0, 22.0, 21.0, 23.0]
    """
    if value["low"] is None:
        return None
    alike = []
    for other in values:
        if other["unit"] == value["unit"] and other["low"] is not None:
            alike.append(other)
    lowest = min(other["low"] for other in alike)
    highest = max(other["high"] for other in alike)
    unit = value["unit"]
    quantity, _, rest = unit.partition(", ")
    title = f"difference ({quantity}s)" if rest == "difference" else unit
    first = _STEP * min(math.floor(lowest / _STEP), 0)
    last = _STEP * max(math.ceil(highest / _STEP), 1)
    numbers = [0, value["estimate"], value["low"], value["high"]]
    return {
        "places": [round(100 * (number - first) / (last - first), 1) for number in numbers],
        "low": format_number(first, unit),
        "high": format_number(last, unit),
        "title": title,
    }


class ClaimCardDirective(SphinxDirective):
    """What some ratings give for a claim in words."""

    required_arguments = 1
    option_spec: ClassVar = {"ratings": lambda text: options.choice(text, ("elsewhere",))}

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        row = edition.claims.get(self.arguments[0])
        if row is None:
            raise self.error(f"claim-card: the ledger has no claim {self.arguments[0]}.")
        if row["computed"] is None:
            raise self.error(f"claim-card: no notebook of this edition computes {row['id']}.")
        value = row["computed"]
        elsewhere = None
        source = label(edition.facts)
        if "ratings" in self.options:
            elsewhere = row["elsewhere"]
            if not elsewhere:
                raise self.error(f"claim-card: no released ratings bear on {row['id']}.")
            value = elsewhere["value"]
            source = f"real ratings of {elsewhere['study']}"
        # Values that decide claims without a published figure: this edition's, and those of other studies.
        values = []
        for other in edition.ledger:
            if other["published"]["value"] is None and other["computed"]:
                values.append(other["computed"])
                if other["elsewhere"]:
                    values.append(other["elsewhere"]["value"])
        scale = axis(value, values)
        return [raw(_SHOWN.card(shown_row(row, edition.facts), scale, source, elsewhere))]


class RatedConversationDirective(SphinxDirective):
    """One conversation of the edition and its ratings; nothing where none is rated."""

    def run(self):
        edition = edition_of(self.env)
        file = edition.folder / EXAMPLE
        self.env.note_dependency(str(file))
        if not file.exists():
            return []
        return [raw(_SHOWN.conversation(read_json(file), label(edition.facts)))]


def setup(app):
    """Register the directives with Sphinx."""
    app.add_directive("claim-card", ClaimCardDirective)
    app.add_directive("rated-conversation", RatedConversationDirective)
    return METADATA
