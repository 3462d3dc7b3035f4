"""Implied values of the course of a conversation: turn by turn, and from the turns to the whole."""

import numpy as np

from sense7.simulate.implied import arrays
from sense7.simulate.implied.arrays import Tables
from sense7.simulate.implied.conversations import prompted
from sense7.simulate.parameters import EXPERIENCE_ITEMS

__all__ = ["details_of_course", "values_of_course"]

TURNS = 10


def values_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ratings after the conversation have to do with each other."""
    return _outcomes(tables)


def details_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value of how ratings change over turns."""
    return _levels_and_slopes(tables)


def _levels_and_slopes(tables: Tables) -> dict[str, float]:
    study, rated = tables.study, ~np.isnan(tables.turn_mean)
    of, level = study.conversation[rated], tables.turn_mean[rated]
    turn = study.turn[rated] + 1.0
    condition, names = study.condition[of], sorted(study.parameters.conditions)
    means = arrays.mean_by(
        level, (np.minimum(turn, TURNS + 1) * len(names) + condition).astype(int), (TURNS + 2) * len(names)
    )
    # Sums of products of turn and level within conversations; a slope is a quotient of their sums.
    group = arrays.compact(of)
    products = arrays.centered(turn, group) * (level - 3)
    squares = arrays.centered(turn, group) ** 2

    def slope(rows: np.ndarray) -> float:
        return float(arrays.divided(products[rows].sum(), squares[rows].sum()))

    values = {"turn_slope_1": slope(np.ones(len(of), dtype=bool))}
    for number, name in enumerate(names, 1):
        code = study.parameters.conditions.index(name)
        for turn_number in range(1, TURNS + 1):
            values[f"level_turn_{turn_number}_condition_{number}"] = means[turn_number * len(names) + code]
        values[f"turn_slope_{number + 1}"] = slope(condition == code)
    best = prompted(study.parameters)
    if best is None or len(names) < 2:
        return values
    own = condition == study.parameters.conditions.index(best)
    values |= {"prompt_slope": slope(own), "prompt_slope_others": slope(~own)}
    values["prompt_fading"] = slope(own) - slope(~own)
    people = study.participant[of]
    both = np.isin(people, np.intersect1d(people[own], people[~own]))
    values["prompt_fading_within"] = slope(own & both) - slope(~own & both)
    alike = [arrays.regression(arrays.with_ones(turn[rows]), level[rows])[0][1] for rows in (own, ~own)]
    values["prompt_fading_mixed_up"] = alike[0] - alike[1]
    return values


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
