"""The table of R's reference values on a page: what is compared with which call, and the largest error.

A Sphinx extension with one directive, ``reference-values`` and its argument:

- ``counts``: one sentence with the number of values, and of those that are asserted;
- ``families``: statistic and function, R call with the package's version, number of values, tolerance, largest error.

Everything is read from ``data/reference.json``, which ``make reference`` measures.
"""

import json
from collections.abc import Sequence

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.directives import page_table
from sense7.checkout import data_file
from sense7.errors import UserError

__all__ = ["FILE", "power_of_ten", "setup"]

FILE = "reference.json"
"""The stored table, in ``data/``."""

NOT_STORED = "The table of reference values is not part of this checkout. `make reference` measures it."
_CLASSES = ("sense7-reference", "colwidths-given")
_TIMES = "\u00d7"
_PARTS = ("counts", "families")


def power_of_ten(number: float) -> str:
    """Write a tolerance or an error in few characters.

    Examples
    --------
    >>> power_of_ten(1e-07), power_of_ten(1e-12), power_of_ten(0.0)
    ('10⁻⁷', '10⁻¹²', '0')
    """
    if number == 0:
        return "0"
    digits, exponent = f"{number:.1e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    digits = digits.removesuffix(".0")
    return power if digits == "1" else f"{digits} {_TIMES} {power}"


class ReferenceValues(SphinxDirective):
    """One part of the stored table."""

    required_arguments = 1

    def run(self):
        part = directives.choice(self.arguments[0], _PARTS)
        try:
            file = data_file(FILE)
        except UserError:
            return [nodes.paragraph(text=NOT_STORED)]
        self.env.note_dependency(str(file))
        stored = json.loads(file.read_text(encoding="utf-8"))
        return [getattr(self, f"_{part}")(stored)]

    def _counts(self, stored):
        left = stored["values"] - stored["asserted"]
        return nodes.paragraph(
            text=f"R gives {stored['values']:,} values. The tests assert {stored['asserted']:,} of them; "
            f"{left:,} belong to statistics that the library does not compute."
        )

    def _families(self, stored):
        head = ("Statistic, function, and call of R", "Values", "Tolerance", "Largest error")
        return page_table(
            "Every statistic that is compared with R",
            head,
            (52, 12, 17, 19),
            [
                [
                    [
                        nodes.paragraph("", "", nodes.strong(text=row["statistic"])),
                        *map(_code, row["functions"]),
                        _r_call(row["r"], row["packages"]),
                    ],
                    [nodes.paragraph(text=f"{row['values']:,}")],
                    [
                        nodes.paragraph(text=_size(error, "tolerance") if error["tolerance"] else "equal")
                        for error in row["errors"]
                    ],
                    [nodes.paragraph(text=_size(error, "largest_error")) for error in row["errors"]],
                ]
                for row in stored["families"]
            ],
            _CLASSES,
        )


def _code(text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.literal(text=text))


def _r_call(call: str, packages: Sequence[str]) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.Text("R: "), nodes.literal(text=call), nodes.Text(f" ({', '.join(packages)})"))


def _size(error: dict, kind: str) -> str:
    relative = error["kind"] == "relative" and error[kind] > 0
    return power_of_ten(error[kind]) + (" of it" if relative else "")


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("reference-values", ReferenceValues)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
