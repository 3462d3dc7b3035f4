"""Cronbach's alpha of the seven ratings, by turn and after the conversation."""

import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table

__all__ = ["ALPHAS", "ALPHA_KEYS", "alpha_if_dropped", "alpha_table"]

ALPHAS = {
    "per turn, pairwise": ("alpha_turn", "turn", "pairwise", []),
    "per turn, listwise": ("alpha_turn_listwise", "turn", "listwise", []),
    "per turn, without Relational": ("alpha_turn_without_relational", "turn", "pairwise", ["Relational"]),
    "after the conversation, pairwise": ("alpha_post", "post", "pairwise", []),
    "after the conversation, listwise": ("alpha_post_listwise", "post", "listwise", []),
}
"""The alphas of the book: name -> key, ratings, rule for missing ones, dimensions left out."""

ALPHA_KEYS = {name: key for name, (key, *_) in ALPHAS.items()}


def alpha_table(
    turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap, *, interval: str
) -> pd.DataFrame:
    """Alpha per turn (pairwise, listwise, without Relational) and after the task (pairwise, listwise).

    Parameters
    ----------
    turns, post_task : DataFrame
        As :func:`~sense7.findings.measures.turn_ratings` and :func:`~sense7.findings.measures.post_task_ratings`
        return them.
    bootstrap : ParticipantBootstrap
        Of the participants.
    interval : {"participants", "percentile", "feldt"}
        See :func:`alpha_row`.

    Returns
    -------
    DataFrame
        A row each: the keys of ``ALPHAS``.
    """
    frames = {"turn": turns, "post": post_task}
    return estimate_table(
        {
            name: alpha_row(frames[which].drop(columns=left_out), bootstrap, missing=missing, interval=interval)
            for name, (_, which, missing, left_out) in ALPHAS.items()
        },
        "ratings",
    )


def alpha_if_dropped(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, missing: str = "pairwise"
) -> pd.DataFrame:
    """Alpha of the other items, for each item that is left out in turn.

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
    return estimate_table(rows, "left out")


check_arguments(globals())
