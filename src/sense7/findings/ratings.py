"""How the ratings are spread, and how often each dimension is rated at all."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import label_counts, labels
from sense7.study import ABSENT, NOT_RATED, RATED, UNREADABLE, Study
from sense7.taxonomy import LEVELS, RATING_NAMES
from sense7.workbook.options import Interval

__all__ = [
    "FIRST_TURN_KEYS",
    "applicability",
    "applicability_by_turn",
    "applicability_of_first_turn",
    "level_counts",
    "level_shares",
    "mean_levels",
]

TURNS = 10
"""The last turn of :func:`applicability_by_turn`, as of the courses over turns on other pages."""

FIRST_TURN_KEYS = {
    "first turn": "relational_applicability_first_turn",
    "later turns": "relational_applicability_later_turns",
    "later minus first": "relational_applicability_later_minus_first",
}
"""Rows of :func:`applicability_of_first_turn` -> keys, of Relational Continuity."""

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


def applicability(study: Study, bootstrap: ParticipantBootstrap, *, of: str = "put") -> pd.DataFrame:
    """Share of turns in which each rating has a level.

    A turn is put to rating if any of the eight ratings was answered, be it by unknown; turns that nobody was asked
    about say nothing about applicability. The share of all turns of the assistant counts them as not rated. Turns in
    which the answer to a rating can't be read are left out of that rating's denominator in both.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    of : {"put", "all"}
        Whether the share is of the turns put to rating, or of all turns of the assistant.

    Returns
    -------
    DataFrame
        A row for overall and each dimension: estimate, low, high (0..1), n (turns of the
        denominator), unit, method, reason.

    Notes
    -----
    R: mean(!is.na), tests/reference/reference.R; equal to 1e-9. That is of the turns put to rating.
    """
    turns, words = (study.turns, "all turns") if of == "all" else (study.turns_put_to_rating, "turns put to rating")
    method, unit = f"rated turns by {words}", "share of turns"
    rows = {}
    for name in RATING_NAMES:
        if name not in study.asked:
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=NEVER_ASKED)
            continue
        rows[name] = _ratio_row(*_rated(turns, [name]), turns["participant"], bootstrap, unit, method)
    return estimate_table(rows, "rating")


def _rated(turns: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How many of these ratings each turn has, and how many of their answers can be read."""
    states = turns[[f"{name}_state" for name in names]]
    return (states == RATED).sum(axis=1).to_numpy(), (states != UNREADABLE).sum(axis=1).to_numpy()


def applicability_by_turn(
    study: Study, bootstrap: ParticipantBootstrap, names: Sequence[str] = ("Relational",)
) -> pd.DataFrame:
    """Share of the first turns put to rating, of the second, and so on, in which these dimensions are rated.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    names : sequence of str
        Dimensions. Of several, the share is that of their ratings together.

    Returns
    -------
    DataFrame
        One row per turn, 1 to at most 10: estimate, low, high (0..1), n (ratings that were asked for), unit, method,
        reason. Later turns are those of longer conversations.
    """
    turns = study.turns_put_to_rating
    unit, method = "share of turns", "ratings given by ratings asked for, turns put to rating"
    asked = [name for name in names if name in study.asked]
    last = int(turns["turn"].max()) if len(turns) else 1
    rows = {}
    for turn in range(1, min(TURNS, last) + 1):
        own = turns[turns["turn"] == turn]
        reason = NEVER_ASKED if not asked else "" if len(own) else "no such turn was put to rating"
        rows[turn] = (
            estimate_row(n=0, unit=unit, method=method, reason=reason)
            if reason
            else _ratio_row(*_rated(own, asked), own["participant"], bootstrap, unit, method)
        )
    return estimate_table(rows, "turn")


def applicability_of_first_turn(
    study: Study, bootstrap: ParticipantBootstrap, name: str = "Relational"
) -> pd.DataFrame:
    """Share of first turns, and of later turns, in which a dimension is rated, and their difference.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    name : str
        The dimension.

    Returns
    -------
    DataFrame
        One row per entry of ``FIRST_TURN_KEYS``: estimate, low, high, n (turns put to rating), unit, method, reason.
    """
    turns, unit, method = study.turns_put_to_rating, "share of turns", "rated turns by turns put to rating"
    first = (turns["turn"] == 1).to_numpy()
    rated, readable = _rated(turns, [name])
    values = np.column_stack([rated * first, readable * first, rated * ~first, readable * ~first]).astype(float)
    statistics = {
        "first turn": (lambda sums: sums[..., 0] / sums[..., 1], values[:, 1] > 0, "no first turn was put to rating"),
        "later turns": (lambda sums: sums[..., 2] / sums[..., 3], values[:, 3] > 0, "no later turn was put to rating"),
        "later minus first": (
            lambda sums: sums[..., 2] / sums[..., 3] - sums[..., 0] / sums[..., 1],
            readable > 0,
            "no first turn, or no later one, was put to rating",
        ),
    }
    rows = {}
    for row, (statistic, chosen, undefined) in statistics.items():
        if name not in study.asked:
            rows[row] = estimate_row(n=0, unit=unit, method=method, reason=NEVER_ASKED)
            continue
        found = bootstrap.estimate(statistic, values[chosen], turns["participant"][chosen])
        rows[row] = bootstrap.row(found, n=int(chosen.sum()), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "turns")


def level_shares(study: Study, bootstrap: ParticipantBootstrap, level: int, *, of: str = "rated") -> pd.DataFrame:
    """Share of one level, such as very poor, for each rating.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    level : int
        1..5.
    of : {"rated", "all"}
        Whether the share is of the turns in which the rating has a level, or of all turns
        put to rating.

    Returns
    -------
    DataFrame
        One row per rating, as :func:`applicability`.
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
        One row per rating, as :func:`applicability`; estimates in 1..5.
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


def level_counts(study: Study, *, of: str = "put") -> pd.DataFrame:
    """Turns by rating and answer: levels 1..5 (rescaled ratings at the nearest one), and answers without a level.

    Parameters
    ----------
    study : Study
        The data.
    of : {"put", "all"}
        Whether to count the turns put to rating, or all turns of the assistant.

    Returns
    -------
    DataFrame
        One row per rating; columns 1, 2, 3, 4, 5, ``not rated`` (unknown, or not applicable), ``absent`` (blank), and
        ``unreadable`` where there is any. The sum of a row is the number of turns.
    """
    turns = study.turns if of == "all" else study.turns_put_to_rating
    counts = {}
    for name in RATING_NAMES:
        states = turns[f"{name}_state"]
        counts[name] = [*label_counts(turns[name]), *((states == state).sum() for state in _NO_LEVEL)]
    table = pd.DataFrame.from_dict(counts, orient="index", columns=[*range(1, 6), *_NO_LEVEL]).rename_axis("rating")
    return table if table[UNREADABLE].any() else table.drop(columns=UNREADABLE)


check_arguments(globals())
