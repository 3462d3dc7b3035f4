"""How the ratings are spread, and how often each dimension is rated at all."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import label_counts, labels
from sense7.study import ABSENT, NOT_RATED, RATED, UNREADABLE, Study
from sense7.taxonomy import LEVELS, RATING_NAMES
from sense7.workbook.options import Interval

__all__ = ["applicability", "level_counts", "level_shares", "mean_levels"]

_NO_LEVEL = (NOT_RATED, ABSENT, UNREADABLE)
NEVER_ASKED = "never asked in this data set"
NEVER_RATED = "asked, and never rated in this data set"


def _ratio_row(numerator, denominator, participants, bootstrap, unit, method) -> dict:
    """Row of a ratio of sums over turns, with its participant-bootstrap interval."""
    values = np.column_stack([numerator, denominator]).astype(float)
    estimate, low, high, reason = bootstrap.estimate(ratio, values, participants)
    method = f"{method}; {bootstrap.description}" if np.isfinite(low) else method
    return estimate_row(estimate, low, high, n=values[:, 1].sum(), unit=unit, method=method, reason=reason)


def _missing(name: str, study: Study, unit: str, method: str) -> dict | None:
    """Row that says why a rating has no value, if it has none."""
    if study.turns[name].notna().any():
        return None
    reason = NEVER_RATED if name in study.asked else NEVER_ASKED
    return estimate_row(n=0, unit=unit, method=method, reason=reason)


def applicability(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the turns put to rating in which each rating has a level.

    A turn is put to rating if any of the eight ratings was answered, be it by unknown;
    turns that nobody was asked about say nothing about applicability. Neither do turns in which the answer to a
    rating can't be read: they are left out of that rating's denominator.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.

    Returns
    -------
    DataFrame
        A row for overall and each dimension: estimate, low, high (0..1), n (turns put to
        rating), unit, method, reason.

    Notes
    -----
    R: mean(!is.na), tests/reference/reference.R; equal to 1e-9.
    """
    turns = study.turns_put_to_rating
    method = "rated turns by turns put to rating"
    unit = "share of turns"
    rows = {}
    for name in RATING_NAMES:
        if name not in study.asked:
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=NEVER_ASKED)
            continue
        rated, readable = turns[f"{name}_state"] == RATED, turns[f"{name}_state"] != UNREADABLE
        rows[name] = _ratio_row(rated, readable, turns["participant"], bootstrap, unit, method)
    return estimate_table(rows, "rating")


def level_shares(study: Study, bootstrap: ParticipantBootstrap, level: int, *, of: str = "rated") -> pd.DataFrame:
    """Share of one level, such as very poor, for each rating.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.
    level : int
        1..5.
    of : {"rated", "all"}
        Whether the share is of the turns in which the rating has a level, or of all turns
        put to rating.

    Returns
    -------
    DataFrame
        A row a rating, as :func:`applicability`.
    """
    turns = study.turns_put_to_rating
    unit = "share of rated turns" if of == "rated" else "share of turns put to rating"
    method = f"turns at level {level} by {'rated turns' if of == 'rated' else 'turns put to rating'}"
    rows = {}
    for name in RATING_NAMES:
        rows[name] = _missing(name, study, unit, method)
        if rows[name] is None:
            chosen = turns[name].notna() if of == "rated" else turns[f"{name}_state"] != UNREADABLE
            at_level = labels(turns[name]) == level
            rows[name] = _ratio_row(at_level, chosen, turns["participant"], bootstrap, unit, method)
    return estimate_table(rows, "rating")


def mean_levels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Mean level of each rating over the turns that have one.

    Returns
    -------
    DataFrame
        A row a rating, as :func:`applicability`; estimates in 1..5.
    """
    turns = study.turns
    unit = "level, 1 to 5"
    ends = study.rescaled.set_index("name")[["lowest", "highest"]]
    rows = {}
    for name in RATING_NAMES:
        method = "mean over rated turns"
        if name in ends.index:
            given = Interval(*ends.loc[name])
            mean = given.original(turns[name].mean(), len(LEVELS))
            method += f"; the answers, from {given} with the mean {mean:.2f}, were rescaled to 1 to 5"
        rows[name] = _missing(name, study, unit, method)
        if rows[name] is None:
            rows[name] = _ratio_row(
                turns[name].fillna(0), turns[name].notna(), turns["participant"], bootstrap, unit, method
            )
    return estimate_table(rows, "rating")


def level_counts(study: Study) -> pd.DataFrame:
    """Turns put to rating by rating and answer: levels 1..5 (rescaled ratings at the nearest one) and states.

    Returns
    -------
    DataFrame
        One row per rating; columns 1, 2, 3, 4, 5, ``not rated``, ``absent``, and ``unreadable`` where there is any.
    """
    turns = study.turns_put_to_rating
    counts = {}
    for name in RATING_NAMES:
        states = turns[f"{name}_state"]
        counts[name] = [*label_counts(turns[name]), *((states == state).sum() for state in _NO_LEVEL)]
    table = pd.DataFrame.from_dict(counts, orient="index", columns=[*range(1, 6), *_NO_LEVEL]).rename_axis("rating")
    return table if table[UNREADABLE].any() else table.drop(columns=UNREADABLE)


check_arguments(globals())
