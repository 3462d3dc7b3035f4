"""Implied values of the course of a conversation: turn by turn, and from the turns to the whole."""

import numpy as np

from sense7.simulate.implied import arrays
from sense7.simulate.implied.arrays import Tables
from sense7.simulate.implied.conversations import prompted
from sense7.simulate.parameters import EXPERIENCE_ITEMS

__all__ = ["details_of_course", "values_of_course"]

_SUMMARIES = ("mean", "trough", "peak", "end")


def values_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ratings after the conversation have to do with each other."""
    return _outcomes(tables)


def details_of_course(tables: Tables) -> dict[str, float]:
    """Key -> value of how ratings change over turns, and what they have to do with those after the conversation."""
    return _fading(tables) | _summaries(tables)


def _fading(tables: Tables) -> dict[str, float]:
    """Slope per turn within conversations of the prompted condition minus that of the others."""
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


def _summaries(tables: Tables) -> dict[str, float]:
    """Post-task empathy on mean, lowest, highest and last overall rating of the conversation."""
    rows = np.flatnonzero(tables.overall > 0)
    level, of = tables.overall[rows].astype(float), tables.study.conversation[rows]
    counts = np.bincount(of, minlength=len(tables.study.turns))
    starts = (np.cumsum(counts) - counts)[counts > 0]
    if not len(starts):
        columns, outcome = np.empty((0, 4)), np.empty(0)
    else:
        columns = np.column_stack(
            [
                tables.overall_mean[counts > 0],
                np.minimum.reduceat(level, starts),
                np.maximum.reduceat(level, starts),
                level[starts + counts[counts > 0] - 1],
            ]
        )
        outcome = tables.post[counts > 0]
    coefficients, left = arrays.regression(np.column_stack([columns, np.ones(len(columns))]), outcome)
    values = {f"peak_end_{name}": coefficients[position] for position, name in enumerate(_SUMMARIES)}
    values["peak_end_share_explained"] = 1 - left / ((outcome - outcome.mean()) ** 2).sum() if len(outcome) else np.nan
    inflation = np.full(4, np.nan)
    if np.isfinite(coefficients).all():
        inflation = np.diag(np.linalg.inv(np.corrcoef(columns, rowvar=False)))
    return values | {f"peak_end_inflation_{name}": inflation[position] for position, name in enumerate(_SUMMARIES)}


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
