"""Cronbach's alpha of the seven ratings, by turn and after the conversation."""

import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["alpha_if_dropped", "alpha_table", "alpha_taking_turns_as_independent"]

_ALPHAS = {
    "per turn, pairwise": ("turn", "pairwise", []),
    "per turn, listwise": ("turn", "listwise", []),
    "per turn, without Relational": ("turn", "pairwise", ["Relational"]),
    "after the conversation": ("post", "pairwise", []),
}
"""Rows of :func:`alpha_table` -> ratings, rule for missing ones, dimensions left out."""

_ALPHA_KEYS = "alpha_turn alpha_turn_listwise alpha_turn_without_relational alpha_post"
"""Keys of :func:`alpha_table`, in the order of its rows."""


def alpha_table(turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return alpha per turn (pairwise, listwise, without Relational) and after the conversation (pairwise).

    Parameters
    ----------
    turns, post_task : DataFrame
        As :func:`~sense7.findings.measures.turn_ratings` and :func:`~sense7.findings.measures.post_task_ratings`
        return them.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.

    Returns
    -------
    DataFrame
        One row for each, in that order, as :func:`alpha_row`.
    """
    frames = {"turn": turns, "post": post_task}
    rows = {
        name: alpha_row(frames[level].drop(columns=left_out), bootstrap, missing=missing)
        for name, (level, missing, left_out) in _ALPHAS.items()
    }
    return estimate_table(rows, "ratings", keys_of_rows(_ALPHAS, _ALPHA_KEYS))


def alpha_taking_turns_as_independent(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return alpha per turn, pairwise, with Feldt's interval, which takes every turn as independent of every other."""
    row = alpha_row(turns, bootstrap, interval="feldt")
    return estimate_table({"per turn, turns taken as independent": row | {"key": "alpha_turn_feldt"}}, "ratings")


def alpha_if_dropped(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, recorded_as: str = "") -> pd.DataFrame:
    """Return alpha of the other items, pairwise, for each item that is left out in turn.

    Parameters
    ----------
    ratings, bootstrap
        As for :func:`sense7.estimators.alpha.alpha_row`.
    recorded_as : {"turn", "post", ""}
        Whose keys the rows get: those of the ratings per turn, or after the conversation; "" for no keys.

    Returns
    -------
    DataFrame
        One row per item, as :func:`alpha_row`; without a value for an item that was never rated.

    Notes
    -----
    R: psych::alpha(use='pairwise')$alpha.drop$raw_alpha, tests/reference/reference.R; equal to 1e-7.
    """
    rows = {}
    for name in ratings:
        if ratings[name].notna().any():
            rows[name] = alpha_row(ratings.drop(columns=name), bootstrap)
        else:
            rows[name] = estimate_row(n=0, unit="alpha", method="alpha of the others", reason="never rated itself")
    keys = {name: f"alpha_{recorded_as}_without_only_{name}" for name in DIMENSION_NAMES} if recorded_as else None
    return estimate_table(rows, "left out", keys)


check_arguments(globals())
