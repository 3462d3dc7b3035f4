"""Recorded values beside what simulated data imply for them, and beside R's.

A Sphinx extension:

- the table of a page's values, which :mod:`sense7.book.extensions.page` puts at its end;
- ``reference-values``: how many values R gives, what is compared with which call, and the largest error, from
  ``data/reference.json``, which ``make reference`` measures.
"""

import json
from collections.abc import Mapping, Sequence

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.values import Edition, marks, page_table, paragraph
from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.implied import BEYOND, ImpliedTruth
from sense7.record import format_number, format_value

__all__ = ["setup"]

NO_REFERENCE = "The table of reference values is not part of this checkout. `make reference` measures it."


def compared(found: Mapping, truth: ImpliedTruth) -> tuple[bool, str]:
    """Whether a found value parts from the implied one, and how the two lie to each other, in words.

    Examples
    --------
    >>> found = {"estimate": 0.88, "low": 0.85, "high": 0.9}
    >>> compared(found, ImpliedTruth(0.84)), compared(found, ImpliedTruth(0.877, sd=0.01))
    ((True, 'outside the interval'), (False, 'inside the interval; 0.3 standard errors above'))
    """
    value, low, high = found["estimate"], found["low"], found["high"]
    if isinstance(value, str) or isinstance(truth.value, str) or (truth.is_fixed and low is None):
        return value != truth.value, "the same" if value == truth.value else "not the same"
    parts = low is not None and not low <= truth.value <= high
    words = [] if low is None else [f"{'outside' if parts else 'inside'} the interval"]
    z = truth.distance(found) if truth.sd else None
    if z is not None:
        parts |= abs(z) > BEYOND
        words.append(f"{abs(z):.1f} standard errors {'above' if z > 0 else 'below'}")
    return parts, "; ".join(words) or "no interval, and its spread over simulated studies is not known"


def values_table(edition: Edition, keys: Sequence[str], title: str) -> nodes.container:
    """Recorded values, one row each: name, value, n and method, and beside simulated data what is implied."""
    with_truth = any(key in edition.implied for key in keys)
    body = []
    for key in keys:
        value, truth = edition.values[key], edition.implied.get(key)
        n = "" if value["n"] is None else f"{value['n']:,}"
        name = [paragraph(nodes.literal(text=key))]
        row = [name, format_value(value) + marks(edition, key), n, value["method"] or ""]
        if truth is not None:
            implied = format_number(truth.value, value["unit"])
            parts, words = compared(value, truth) if value["estimate"] is not None else (False, "-")
            row += [[paragraph(implied), paragraph(truth.source)]]
            row += [[paragraph(nodes.strong(text=words) if parts else words)]]
        body.append(row + [[]] * (2 * with_truth - len(row[4:])))
    head, widths = ("Name", "Value", "n", "How it was computed"), (28, 24, 10, 38)
    if with_truth:
        head, widths = (*head, "Implied", "Found and implied"), (18, 18, 8, 26, 15, 15)
    return page_table(title, head, widths, body, ["sense7-values", "colwidths-given"])


class ReferenceValues(SphinxDirective):
    """The stored table of R's values."""

    def run(self):
        try:
            file = data_file("reference.json")
        except UserError:
            return [paragraph(NO_REFERENCE)]
        self.env.note_dependency(str(file))
        stored = json.loads(file.read_text(encoding="utf-8"))
        rows = [
            [
                [
                    paragraph(nodes.strong(text=row["statistic"])),
                    *(paragraph(nodes.literal(text=name)) for name in row["functions"]),
                    paragraph("R: ", nodes.literal(text=row["r"]), f" ({', '.join(row['packages'])})"),
                ],
                f"{row['values']:,}",
                *([paragraph(size(error, kind)) for error in row["errors"]] for kind in ("tolerance", "largest_error")),
            ]
            for row in stored["families"]
        ]
        head = ("Statistic, function, and call of R", "Values", "Tolerance", "Largest error")
        classes = ["sense7-reference", "colwidths-given"]
        return [
            paragraph(
                f"R gives {stored['values']:,} values. The tests assert {stored['asserted']:,} of them; "
                f"{stored['values'] - stored['asserted']:,} belong to statistics that the library does not compute."
            ),
            page_table("Every statistic that is compared with R", head, (52, 12, 17, 19), rows, classes),
        ]


def size(error: Mapping, kind: str) -> str:
    """A tolerance or an error in few characters.

    Examples
    --------
    >>> size({"tolerance": 1e-7, "kind": "relative"}, "tolerance"), size({"tolerance": 0}, "tolerance")
    ('1e-07 of it', 'equal')
    """
    if not error["tolerance"] and kind == "tolerance":
        return "equal"
    return f"{error[kind]:.2g}" + " of it" * (error["kind"] == "relative" and error[kind] > 0)


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("reference-values", ReferenceValues)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
