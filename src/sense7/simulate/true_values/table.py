"""The table of true values, ``keys.csv``: which function computes each, what it is, and what it rests on.

A row stands for a family of keys. A star in a key stands for any name, and {pair} for the names of two conditions; {0}
and {1} in the other columns stand for these names; the first row that matches holds. ``function`` is the one that
computes the family, with its module; without it the truth file states the value. ``batches`` says on which draws it is
computed: all of them, half of them where it costs more, or those with a judge. What a value rests on are keys of
parameters, with stars, or groups of them, which begin with @ (``truth.toml``).
"""

import csv
import importlib.resources
import itertools
import re
import tomllib
from dataclasses import dataclass

_HERE = importlib.resources.files("sense7.simulate")
TABLES = tomllib.loads((_HERE / "truth.toml").read_text("utf-8"))
"""What the truth file says of parameters, and the groups of them."""

TWINS = {
    "relational_applicability": "applicability_Relational",
    "relational_very_poor": "very_poor_of_rated_Relational",
    "kappa_affective": "kappa_linear_Affective",
    "kappa_relational": "kappa_linear_Relational",
    "alpha_turn_without_relational": "alpha_turn_without_only_Relational",
    "alpha_turn_feldt": "alpha_turn",
}
"""Keys of the same statistic: with another interval, or under the name that a published figure has."""


@dataclass(frozen=True)
class Family:
    """A row of the table."""

    key: str
    function: str
    batches: str
    unit: str
    meaning: str
    rests_on: tuple[str, ...]


def _families() -> dict[re.Pattern, Family]:
    """Rows of the table by the pattern of their keys."""
    text = (_HERE / "true_values" / "keys.csv").read_text("utf-8")
    families = {}
    for row in csv.DictReader(text.splitlines()):
        parts = [TABLES["groups"].get(part, part) for part in row["rests_on"].split()]
        row["rests_on"] = tuple(" ".join(parts).split())
        pattern = re.escape(row["key"]).replace(r"\*", "(.*)").replace(r"\{pair\}", "(.*)")
        families[re.compile(pattern)] = Family(**row)
    return families


FAMILIES = _families()


def family_and_names(key: str) -> tuple[Family, tuple[str, ...]]:
    """The row of the table that a key belongs to, and the names in the key; KeyError if there is none.

    >>> family, names = family_and_names("mean_Affective")
    >>> family.function, names
    ('ratings.levels', ('Affective',))
    """
    for pattern, family in FAMILIES.items():
        match = pattern.fullmatch(key)
        if match is not None:
            return family, match.groups()
    raise KeyError(key)


def functions_of(batches: str) -> list[str]:
    """Functions that are computed on some of the draws, in the order of the table."""
    functions = [family.function for family in FAMILIES.values() if family.batches == batches]
    return list(dict.fromkeys(functions))


def described(key: str, conditions: tuple[str, ...] = ()) -> tuple[str, str, tuple[str, ...]]:
    """Unit, meaning, and patterns of the parameters that it rests on, of a true value.

    >>> described("mean_Affective")
    ('level', 'mean turn rating of Affective', ('quality_mean', 'dimension_intercept_Affective'))
    """
    family, names = family_and_names(key)
    if "{pair}" in family.key:
        # Names of conditions may hold anything: the pair is looked up.
        pairs = itertools.product(conditions, conditions)
        names = next(pair for pair in pairs if "_".join(pair) == names[0])
    rests_on = tuple(pattern.format(*names) for pattern in family.rests_on)
    return family.unit, family.meaning.format(*names), rests_on
