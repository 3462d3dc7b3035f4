"""Conditions and pairs of conditions of a study, in order."""

import itertools

from sense7.arguments import check_arguments
from sense7.estimators.estimates import safe_names
from sense7.study import Study

__all__ = ["condition_pairs"]

MOST_CONDITIONS = 12
"""With more, pairs are not compared: they would be more than a reader can take in."""

NO_CONDITION = "no conversation has a condition in this data set"
ONE_CONDITION = "there is one condition only, so there is nothing to compare"


def ordered_conditions(study: Study) -> list[str]:
    """Conditions in the order in which they are compared: the prompted one, then by name."""
    first = [name for name in study.conditions if name == study.prompted_condition]
    return first + [name for name in study.conditions if name not in first]


def pairs_in_keys(study: Study) -> dict[str, str]:
    """All pairs of conditions as they stand in a key, ``<first>_<second>``, by the row's name."""
    safe = safe_names(study.conditions)
    return {name: f"{safe[first]}_{safe[second]}" for name, (first, second) in condition_pairs(study).items()}


def condition_pairs(study: Study) -> dict[str, tuple[str, str]]:
    """All pairs of conditions that are compared, by the row's name; none if there are more than 12 conditions."""
    conditions = ordered_conditions(study)
    pairs = itertools.combinations(conditions, 2) if len(conditions) <= MOST_CONDITIONS else ()
    return {pair_name(*pair): pair for pair in pairs}


def pair_name(first: str, second: str) -> str:
    return f"{first} minus {second}"


def no_pairs(study: Study) -> str:
    """Why no pair of conditions is compared; "" if pairs are."""
    if len(study.conditions) > MOST_CONDITIONS:
        return f"{len(study.conditions)} conditions are too many to compare all pairs"
    return (NO_CONDITION, ONE_CONDITION)[len(study.conditions)] if len(study.conditions) < 2 else ""


check_arguments(globals())
