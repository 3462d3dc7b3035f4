"""Which scale the numbers of a column are on, from all of them at once."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import product

from sense7.workbook.options import Interval

__all__ = ["Foreign", "Numbers", "foreign_scale", "unused_end"]

LARGEST_STRAY_SHARE = 0.05
"""Share of a column's numbers that are no level, above which they can't be slips, if there are ``FEWEST_STRAYS``."""

LARGEST_POOLED_STRAY_SHARE = 0.01
"""The same for all columns that share the scale together."""

FEWEST_STRAYS = 3
ENOUGH_NUMBERS = 20
"""Numbers from which on an end that never occurs is worth a word."""

FEWEST_LEVELS = 3
"""Different numbers from which on a column says anything about the ends of its scale."""

MOST_STEPS = 10
"""On a finer scale, such as 0 to 100, nobody has to have chosen the very end."""

_RARE = 0.005
_USUAL = sorted(
    [Interval(low, high) for low, high in product((0, 1), (1, 3, 4, 5, 6, 7, 9, 10)) if low < high]
    + [Interval(0, 100)]
    + [Interval(-end, end) for end in (1, 2, 3, 4, 5, 10, 100)],
    key=lambda interval: (interval.highest - interval.lowest, interval.lowest != 1),
)


@dataclass(frozen=True)
class Numbers:
    """Numbers of one or several columns.

    Attributes
    ----------
    counts : Counter
        Number -> how often it occurs; percentages as shown, so that 100 % is 100.
    percent : int
        How many of them are percentages.
    """

    counts: Counter = field(default_factory=Counter)
    percent: int = 0

    def __add__(self, other: "Numbers") -> "Numbers":
        return Numbers(self.counts + other.counts, self.percent + other.percent)

    def without(self, codes: Collection[float]) -> "Numbers":
        """The same without some numbers."""
        return Numbers(Counter({n: count for n, count in self.counts.items() if n not in codes}), self.percent)

    def off(self, size: int) -> int:
        """How many are not one of the levels 1..size; percentages never are."""
        strays = sum(count for number, count in self.counts.items() if not _is_level(number, size))
        return max(strays, self.percent)


@dataclass(frozen=True)
class Foreign:
    """A scale other than the official one: what was seen of it, and which it probably is."""

    seen: str
    likely: Interval


def foreign_scale(own: Numbers, pooled: Numbers, size: int) -> Foreign | None:
    """Recognize that a column's numbers are on another scale than 1..size.

    A column is on another scale if more than 5 % of its numbers, and at least three, are no level or are percentages;
    if it holds such numbers and they are more than 1 %, and at least three, of all columns that share the scale; or if
    it holds zeros and, among at least 20 numbers, never the highest level. Fewer strays are taken for slips: they are
    unreadable, with a warning.

    Parameters
    ----------
    own : Numbers
        Of the column.
    pooled : Numbers
        Of all columns that share the scale and have no declared one.
    size : int
        Number of levels of the official scale.

    Returns
    -------
    Foreign or None
        None if the numbers are on 1..size.

    Examples
    --------
    >>> found = foreign_scale(Numbers(Counter({1: 5, 4: 5, 7: 5})), Numbers(Counter({1: 5, 4: 5, 7: 5})), 5)
    >>> found.seen, found.likely.option
    ('numbers from 1 to 7, 5 of 15 above 5', '1-7')
    >>> foreign_scale(Numbers(Counter({1: 500, 5: 500, 7: 1})), Numbers(Counter({1: 500, 5: 500, 7: 1})), 5) is None
    True
    """
    total, strays = own.counts.total(), own.off(size)
    if not strays:
        return None
    among_all = pooled.off(size)
    shifted = own.counts[0] and not own.counts[size] and total >= ENOUGH_NUMBERS
    recurring = among_all >= FEWEST_STRAYS and among_all > LARGEST_POOLED_STRAY_SHARE * pooled.counts.total()
    many = strays >= FEWEST_STRAYS and strays > LARGEST_STRAY_SHARE * total
    if not (shifted or recurring or many):
        return None
    return Foreign(_seen(own, size), _likely(own, pooled, size))


def unused_end(numbers: Numbers, interval: Interval) -> float | None:
    """Give the largest number where the upper end of a scale never occurs; None where it does, or numbers are few.

    Examples
    --------
    >>> unused_end(Numbers(Counter({1: 20, 3: 20, 4: 20})), Interval(1, 5))
    4
    """
    lowest, highest = sorted((interval.lowest, interval.highest))
    on_scale = {number: count for number, count in numbers.counts.items() if interval.holds(number)}
    if highest - lowest > MOST_STEPS or sum(on_scale.values()) < ENOUGH_NUMBERS or len(on_scale) < FEWEST_LEVELS:
        return None
    return max(on_scale) if max(on_scale) < highest else None


def _is_level(number: float, size: int) -> bool:
    return float(number).is_integer() and 1 <= number <= size


def _seen(own: Numbers, size: int) -> str:
    counts, total = own.counts, own.counts.total()
    kinds = {
        f"above {size}": sum(count for number, count in counts.items() if number > size),
        "below 1": sum(count for number, count in counts.items() if number < 1),
        "between two levels": sum(
            count for number, count in counts.items() if 1 <= number <= size and not float(number).is_integer()
        ),
        "percentages": own.percent,
    }
    parts = ", ".join(f"{count:,} of {total:,} {kind}" for kind, count in kinds.items() if count)
    return f"numbers from {min(counts):g} to {max(counts):g}, {parts}"


def _likely(own: Numbers, pooled: Numbers, size: int) -> Interval:
    """The smallest usual scale that holds the numbers of a column and of those like it, single strays left out."""
    if own.percent:
        return Interval(0, 100)
    common = [
        number
        for numbers in (own, pooled)
        for number, count in numbers.counts.items()
        if count > _RARE * numbers.counts.total()
    ]
    lowest, highest = min(common), max(common)
    if lowest == 0 and highest == size - 1:
        return Interval(0, size - 1)
    holding = [interval for interval in _USUAL if interval.lowest <= lowest and highest <= interval.highest]
    if lowest >= 1:  # most scales begin with 1, and a scale of fewer levels than the official one is no reason
        holding = [interval for interval in holding if interval.lowest == 1 and interval.highest >= size] or holding
    return holding[0] if holding else Interval(lowest, highest)
