"""Recorded values beside what is expected in simulated data, and beside R's.

- the table of a page's values, which :mod:`sense7.book.extensions.page` puts at its end;
- ``put-in``: its content, which says what was put in and what is expected, where that is known;
- ``reference-values``: how many values R gives, and what is compared with which call and tolerance, from
  ``data/reference.json``, which ``make reference`` writes.
"""

import math
from collections.abc import Mapping

from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.values import edition_of, raw
from sense7.book.words import TEMPLATES
from sense7.checkout import data_file
from sense7.expected import BEYOND, ExpectedValue
from sense7.files import read_json

TABLES = TEMPLATES.get_template("tables.html").module


def compared(value: Mapping, truth: ExpectedValue) -> tuple[bool, str]:
    r"""Whether a recorded value differs from the expected one, and how the two compare, in words.

    .. math:: z = \frac{\text{found} - \text{expected}}{\sqrt{s^2 + e^2}}

    is their distance in standard errors: s is the standard deviation over simulated studies, and
    e the Monte Carlo error of the expected value.

    Examples
    --------
    >>> value = {"estimate": 0.88, "low": 0.85, "high": 0.9}
    >>> compared(value, ExpectedValue(0.84)), compared(value, ExpectedValue(0.877, sd=0.01))
    ((True, 'outside the interval'), (False, 'inside the interval; 0.3 standard errors above'))
    """
    estimate, low, high = (value[name] for name in ("estimate", "low", "high"))
    if truth.sd == 0 and low is None:
        differs = estimate != truth.value
        return differs, "not the same" if differs else "the same"
    differs = low is not None and not low <= truth.value <= high
    words = []
    if low is not None:
        words.append("outside the interval" if differs else "inside the interval")
    if truth.sd:
        z = (estimate - truth.value) / math.hypot(truth.sd, truth.error)
        differs |= abs(z) > BEYOND
        side = "above" if z > 0 else "below"
        words.append(f"{abs(z):.1f} standard errors {side}")
    if not words:
        words.append("no interval, and its spread over simulated studies is not known")
    return differs, "; ".join(words)


class PutInDirective(SphinxDirective):
    """Say what was put in and what is expected, where that is known."""

    has_content = True

    def run(self):
        if edition_of(self.env).expected:
            return self.parse_content_to_nodes()
        return []


class ReferenceValues(SphinxDirective):
    """The stored table of R's values."""

    def run(self):
        file = data_file("reference.json")
        self.env.note_dependency(str(file))
        return [raw(TABLES.reference(read_json(file)))]
