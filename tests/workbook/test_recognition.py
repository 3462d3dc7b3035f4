"""Which scale a column's numbers are on: the limits of what passes for slips, and the scale that is proposed."""

from collections import Counter

import pytest

from sense7.workbook.options import Interval, ReadingOptions
from sense7.workbook.scales import Numbers, foreign_scale, unused_end


def numbers(percent=0, **counts):
    """Numbers with their counts; n3 stands for 3, m2 for -2, n2_5 for 2.5."""
    signs = {"n": "", "m": "-"}
    return Numbers(Counter({float(signs[k[0]] + k[1:].replace("_", ".")): n for k, n in counts.items()}), percent)


LEVELS = {"n1": 10, "n2": 10, "n3": 10, "n4": 10, "n5": 10}


@pytest.mark.parametrize(
    ("own", "elsewhere", "likely"),
    [
        (numbers(**LEVELS), numbers(), None),
        (numbers(**LEVELS, n6=2), numbers(n3=1000), None),  # fewer than three
        (numbers(n3=57, n5=1, n6=3), numbers(n3=1000), None),  # 3 of 61: at most 5 %
        (numbers(n3=57, n5=1, n6=4), numbers(n3=1000), Interval(1, 6)),  # 4 of 62: more
        (numbers(n3=57, n5=1, n6=1), numbers(n3=241, n7=2), None),  # 3 of 302 in all: at most 1 %
        (numbers(n3=57, n5=1, n6=1), numbers(n3=201, n7=2), Interval(1, 7)),  # 3 of 262: more
        (numbers(n0=1, n3=10, n4=9), numbers(), Interval(0, 4)),  # zeros and, among 20, no 5
        (numbers(n0=1, n3=10, n4=8), numbers(), None),  # among 19
        (numbers(n0=1, n3=10, n4=8, n5=1), numbers(n3=100), None),
        (numbers(3, n1=10, n5=10), numbers(), Interval(0, 100)),
    ],
)
def test_a_foreign_scale_is_told_from_slips_by_how_many_there_are(own, elsewhere, likely):
    found = foreign_scale(own, own + elsewhere, 5)
    assert (found and found[1]) == likely


def test_what_was_seen_is_said_in_numbers():
    own = numbers(2, n0=3, n2_5=4, n3=5, n7=6)
    assert foreign_scale(own, own, 5)[0] == (
        "numbers from 0 to 7, 6 of 18 above 5, 3 of 18 below 1, 4 of 18 between two levels, 2 of 18 percentages"
    )


@pytest.mark.parametrize(
    ("seen", "interval", "end"),
    [
        ({"n1": 5, "n2": 5, "n4": 10}, Interval(1, 5), 4),
        ({"n1": 5, "n2": 5, "n4": 9}, Interval(1, 5), None),  # 19 numbers
        ({"n1": 10, "n4": 10}, Interval(1, 5), None),  # two of the levels
        ({"n1": 5, "n2": 5, "n5": 10}, Interval(1, 5), None),
        ({"n1": 5, "n2": 5, "n4": 10, "n9": 5}, Interval(1, 5), 4),  # what is off the scale is no end of it
        ({"n1": 5, "n2": 5, "n4": 10}, Interval(5, 1), 4),
        ({"n0": 5, "n2": 5, "n9": 10}, Interval(0, 10), 9),
        ({"n0": 5, "n2": 5, "n9": 10}, Interval(0, 11), None),  # so fine that nobody has to have chosen the end
    ],
)
def test_an_end_that_never_occurs_is_found_where_there_are_enough_numbers(seen, interval, end):
    assert unused_end(numbers(**seen), interval) == end


def test_options_say_what_was_declared():
    options = ReadingOptions.of(["1-7", "Affective=5-1"], {"goed": 4}, allow_unreadable=True)
    assert str(options) == (
        "scale of all: 1 to 7; scale of Affective: 5 to 1; words of all given; unreadable answers allowed"
    )
    assert str(ReadingOptions()) == ""
