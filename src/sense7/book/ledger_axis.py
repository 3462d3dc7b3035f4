"""The axis of a claim in pictures of the ledger: where its published value, estimate and interval lie."""

import math
from collections.abc import Mapping

__all__ = ["MARKS", "positions"]

MARKS = {"passed": "●", "not-passed": "◆", "undecided": "○"}
"""Outcome of a claim's rule -> a mark, so that it does not rest on color alone."""

_WIDEST = 2
"""Largest multiple of a published value on the common axis; what lies beyond ends at its edge."""


def positions(row: Mapping) -> tuple[float, float, float, float] | None:
    """Where reference, estimate and both limits lie on a row's axis, in percent of its width.

    For a published figure the axis goes from zero to twice that figure; for a claim in words it
    is as wide as the interval needs to either side of the value that the claim excludes.

    Parameters
    ----------
    row : mapping
        Of ledger.json.

    Returns
    -------
    tuple of float or None
        None if the row has no value, or one that has no axis, such as a p value. Without an interval both limits are
        the estimate.

    Examples
    --------
    >>> published = {"value": 2.0, "kind": "figure", "compare": {"within": 0.1}}
    >>> computed = {"estimate": 2.0, "low": 1.0, "high": 4.0}
    >>> positions({"published": published, "computed": computed})
    (50.0, 50.0, 25.0, 100.0)
    """
    claim, computed = row["published"], row["computed"]
    if computed is None or not isinstance(computed["estimate"], int | float) or claim["kind"] == "check":
        return None
    numbers = [computed["estimate"], computed["low"], computed["high"]]
    numbers = [numbers[0] if number is None else number for number in numbers]
    rule = claim["compare"] or {}
    if claim["value"] is not None:
        places = [number / claim["value"] / _WIDEST for number in (claim["value"], *numbers)]
    elif "beyond" in rule or "sign" in rule:
        reference = rule.get("beyond", 0)
        reach = 2.1 * max(abs(number - reference) for number in numbers) or 1
        places = [0.5 + (number - reference) / reach for number in (reference, *numbers)]
    else:
        return None
    reference, estimate, low, high = (round(100 * min(max(place, 0), 1), 1) for place in places if math.isfinite(place))
    return reference, estimate, low, high
