"""Expected and found: what a page says of its values on simulated data."""

import pytest

from helpers import naming
from sense7.book.extensions.tables import compared
from sense7.expected import BEYOND, ExpectedValue

COMPARED = {  # found, expected, whether they differ, distance in standard errors
    "in its interval": ((0.5, 0.4, 0.6), ExpectedValue(0.4), False, None),
    "in its interval and far": ((0.5, 0.4, 0.6), ExpectedValue(0.6, sd=0.05), True, 2.0),
    "without an interval": ((0.5, None, None), ExpectedValue(0.6, sd=0.1), False, 1.0),
    "at the edge": ((BEYOND, None, None), ExpectedValue(0.0, sd=1.0), False, 2.0),
    "without any spread": ((0.5, None, None), ExpectedValue(0.6), False, None),
    "an equal number": ((5, None, None), ExpectedValue(5, sd=0.0), False, None),
    "another number": ((5, None, None), ExpectedValue(4, sd=0.0), True, None),
}


@pytest.mark.parametrize("case", COMPARED)
def test_found_beside_expected_in_words(case):
    interval, truth, is_apart, errors = COMPARED[case]
    found = dict(zip(("estimate", "low", "high"), interval, strict=True)) | {"unit": "alpha"}
    differs, words = compared(found, truth)
    assert differs is is_apart
    naming.check(words, *([errors] if errors else []))
