"""Cronbach's alpha of the seven ratings, by turn and after the conversation."""

import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["alpha_if_dropped", "alpha_table"]

_ALPHAS = {
    "per turn, pairwise": ("turn", "pairwise", []),
    "per turn, listwise": ("turn", "listwise", []),
    "per turn, without Relational": ("turn", "pairwise", ["Relational"]),
    "after the conversation, pairwise": ("post", "pairwise", []),
    "after the conversation, listwise": ("post", "listwise", []),
}
"""Rows of :func:`alpha_table` -> ratings, rule for missing ones, dimensions left out."""

_ALPHA_KEYS = {
    "participants": """
        alpha_turn alpha_turn_listwise alpha_turn_without_relational alpha_post alpha_post_listwise
    """,
    "percentile": """
        alpha_turn_percentile alpha_turn_listwise_percentile alpha_turn_without_relational_percentile
        alpha_post_percentile alpha_post_listwise_percentile
    """,
    "feldt": """
        alpha_turn_feldt alpha_turn_listwise_feldt alpha_turn_without_relational_feldt alpha_post_feldt
        alpha_post_listwise_feldt
    """,
}
"""Interval -> keys of :func:`alpha_table`, in the order of its rows."""

_WITHOUT_ONLY = {
    ("turn", "pairwise"): """
        alpha_turn_without_only_Affective alpha_turn_without_only_Cognitive alpha_turn_without_only_Response
        alpha_turn_without_only_Prosocial alpha_turn_without_only_Interest alpha_turn_without_only_Contextual
        alpha_turn_without_only_Relational
    """,
    ("turn", "listwise"): """
        alpha_turn_listwise_without_only_Affective alpha_turn_listwise_without_only_Cognitive
        alpha_turn_listwise_without_only_Response alpha_turn_listwise_without_only_Prosocial
        alpha_turn_listwise_without_only_Interest alpha_turn_listwise_without_only_Contextual
        alpha_turn_listwise_without_only_Relational
    """,
    ("post", "pairwise"): """
        alpha_post_without_only_Affective alpha_post_without_only_Cognitive alpha_post_without_only_Response
        alpha_post_without_only_Prosocial alpha_post_without_only_Interest alpha_post_without_only_Contextual
        alpha_post_without_only_Relational
    """,
    ("post", "listwise"): """
        alpha_post_listwise_without_only_Affective alpha_post_listwise_without_only_Cognitive
        alpha_post_listwise_without_only_Response alpha_post_listwise_without_only_Prosocial
        alpha_post_listwise_without_only_Interest alpha_post_listwise_without_only_Contextual
        alpha_post_listwise_without_only_Relational
    """,
}
"""Ratings and rule for missing ones -> keys of :func:`alpha_if_dropped`, in the order of the dimensions."""


def alpha_table(
    turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap, *, interval: str
) -> pd.DataFrame:
    """Return alpha per turn (pairwise, listwise, without Relational) and after the task (pairwise, listwise).

    Parameters
    ----------
    turns, post_task : DataFrame
        As :func:`~sense7.findings.measures.turn_ratings` and :func:`~sense7.findings.measures.post_task_ratings`
        return them.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    interval : {"participants", "percentile", "feldt"}
        See :func:`alpha_row`.

    Returns
    -------
    DataFrame
        One row for each, in that order; each kind of interval has keys of its own.
    """
    frames = {"turn": turns, "post": post_task}
    rows = {
        name: alpha_row(frames[level].drop(columns=left_out), bootstrap, missing=missing, interval=interval)
        for name, (level, missing, left_out) in _ALPHAS.items()
    }
    return estimate_table(rows, "ratings", keys_of_rows(_ALPHAS, _ALPHA_KEYS[interval]))


def alpha_if_dropped(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, missing: str = "pairwise", recorded_as: str = ""
) -> pd.DataFrame:
    """Return alpha of the other items, for each item that is left out in turn.

    Parameters
    ----------
    ratings, bootstrap, missing
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
            rows[name] = alpha_row(ratings.drop(columns=name), bootstrap, missing=missing)
        else:
            rows[name] = estimate_row(n=0, unit="alpha", method="alpha of the others", reason="never rated itself")
    keys = keys_of_rows(DIMENSION_NAMES, _WITHOUT_ONLY.get((recorded_as, missing), ""))
    return estimate_table(rows, "left out", keys)


check_arguments(globals())
