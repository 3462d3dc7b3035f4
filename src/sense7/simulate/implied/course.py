"""Implied values of the course of a conversation: turn by turn, and from the turns to the whole."""

import numpy as np

from sense7.simulate.implied import arrays
from sense7.simulate.implied.arrays import Tables
from sense7.simulate.implied.conversations import prompted
from sense7.simulate.parameters import EXPERIENCE_ITEMS

__all__ = ["details_of_course", "values_of_course"]


def values_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ratings after the conversation have to do with each other."""
    return _outcomes(tables)


def details_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value: slope per turn within conversations of the prompted condition minus that of the others."""
    study, rated = tables.study, ~np.isnan(tables.turn_mean)
    best = prompted(study.parameters)
    if best is None or len(study.parameters.conditions) < 2:
        return {}
    of, level = study.conversation[rated], tables.turn_mean[rated]
    turn = arrays.centered(study.turn[rated] + 1.0, arrays.compact(of))

    def slope(rows: np.ndarray) -> float:
        return float(arrays.divided((turn * (level - 3))[rows].sum(), (turn**2)[rows].sum()))

    own = study.condition[of] == study.parameters.conditions.index(best)
    people = study.participant[of]
    both = np.isin(people, np.intersect1d(people[own], people[~own]))
    return {
        "prompt_fading": slope(own) - slope(~own),
        "prompt_fading_within": slope(own & both) - slope(~own & both),
    }


def _outcomes(tables: Tables) -> dict[str, float]:
    ranked, person = arrays.ranks(tables.post), arrays.compact(tables.study.participant)
    own = (arrays.centered(outcome, person) for outcome in (tables.post, tables.experience))
    values = {
        "empathy_satisfaction": arrays.correlation(ranked, arrays.ranks(tables.experience)),
        "empathy_satisfaction_within": arrays.correlation(*own),
    }
    for position, name in enumerate(EXPERIENCE_ITEMS):
        values[f"empathy_{name}"] = arrays.correlation(ranked, arrays.ranks(tables.study.experience[:, position]))
    return values
