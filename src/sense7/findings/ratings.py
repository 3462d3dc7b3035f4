"""How the ratings are spread, and how often each dimension is rated at all."""

import numpy as np
import pandas as pd

from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table, under_keys
from sense7.findings.core import finding, require_own
from sense7.findings.ground_truth import label_counts, labels
from sense7.study import ABSENT, NOT_RATED, RATED, UNREADABLE, Study
from sense7.taxonomy import LEVELS, RATING_NAMES
from sense7.workbook.options import Interval

__all__ = [
    "applicability",
    "applicability_of_all_turns",
    "applicability_of_first_turn",
    "level_counts",
    "mean_levels",
    "nearest_rivals",
    "published_shares",
    "relational_very_poor_of_all",
    "shares_very_poor",
]

_FIRST_TURN = {
    "first turn": "relational_applicability_first_turn",
    "later turns": "relational_applicability_later_turns",
    "later minus first": "relational_applicability_later_minus_first",
}
"""Rows of :func:`applicability_of_first_turn`, of Relational -> key."""

CLAIMED_DIMENSION = "Relational"
"""The dimension of which the paper says that it applies least often, and is very poor most often."""

_RIVALS = {
    "applicability: nearest other minus Relational": ("relational_applicability_below_nearest", "share of turns"),
    "very poor: Relational minus nearest other": ("relational_very_poor_above_nearest", "share of rated turns"),
}
"""Rows of :func:`nearest_rivals` -> key, unit."""

_PUBLISHED = {
    "applicability_Relational": "relational_applicability",
    "very_poor_of_rated_Relational": "relational_very_poor",
}
"""Key of a row -> key under which the ledger compares it with a published value."""

_NO_LEVEL = (NOT_RATED, ABSENT, UNREADABLE)
NEVER_ASKED = "never asked in this data set"
NEVER_RATED = "asked, and never rated in this data set"


def _ratio_row(numerator, denominator, participants, bootstrap, unit, method) -> dict:
    """Row of a ratio of sums over turns, with its participant-bootstrap interval."""
    values = np.column_stack([numerator, denominator]).astype(float)
    return bootstrap.row(
        bootstrap.estimate(ratio, values, participants),
        n=int(values[:, 1].sum()),
        unit=unit,
        method=method,
        undefined="no answer can be read",
    )


def _missing(name: str, study: Study, unit: str, method: str) -> dict | None:
    """Row that says why a rating has no value; None if it has one."""
    if study.turns[name].notna().any():
        return None
    reason = NEVER_RATED if name in study.asked else NEVER_ASKED
    return estimate_row(n=0, unit=unit, method=method, reason=reason)


@finding
def applicability(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of turns in which each rating has a level.

    A turn is put to rating if any of the eight ratings was answered, be it by unknown; turns that nobody was asked
    about say nothing about applicability. Turns in which the answer to a rating can't be read are left out of that
    rating's denominator.

    Returns
    -------
    DataFrame
        A row for overall and each dimension: estimate, low, high (0..1), n (turns of the
        denominator), unit, method, reason.

    Notes
    -----
    R: mean(!is.na), tests/reference/reference.R; equal to 1e-9.
    """
    require_own(study, bootstrap)
    turns, words = study.turns_put_to_rating, "turns put to rating"
    rows = {name: _share_rated(study, turns, name, bootstrap, words) for name in RATING_NAMES}
    return estimate_table(rows, "rating", {name: f"applicability_{name}" for name in rows})


@finding
def applicability_of_all_turns(study: Study, bootstrap: ParticipantBootstrap, name: str = "Relational") -> pd.DataFrame:
    """Return the share of all turns of the assistant in which a dimension has a level: one row.

    Turns that were not put to rating count as not rated.
    """
    require_own(study, bootstrap)
    row = _share_rated(study, study.turns, name, bootstrap, "all turns")
    return estimate_table({name: row}, "rating", {name: f"applicability_all_turns_{name}"})


def _share_rated(study: Study, turns: pd.DataFrame, name: str, bootstrap: ParticipantBootstrap, words: str) -> dict:
    """Row of the share of turns in which a rating has a level."""
    method, unit = f"rated turns by {words}", "share of turns"
    if name not in study.asked:
        return estimate_row(n=0, unit=unit, method=method, reason=NEVER_ASKED)
    return _ratio_row(*_rated(turns, name), turns["participant"], bootstrap, unit, method)


def _rated(turns: pd.DataFrame, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether each turn has this rating, and whether its answer can be read."""
    states = turns[f"{name}_state"]
    return (states == RATED).to_numpy(), (states != UNREADABLE).to_numpy()


@finding
def applicability_of_first_turn(
    study: Study, bootstrap: ParticipantBootstrap, name: str = "Relational"
) -> pd.DataFrame:
    """Return the share of first turns, and of later turns, in which a dimension is rated, and their difference.

    Parameters
    ----------
    name : str
        The dimension.

    Returns
    -------
    DataFrame
        Rows first turn, later turns, later minus first: estimate, low, high, n (turns put to rating), unit, method,
        reason; keys for Relational.
    """
    require_own(study, bootstrap)
    turns, unit, method = study.turns_put_to_rating, "share of turns", "rated turns by turns put to rating"
    first = (turns["turn"] == 1).to_numpy()
    rated, readable = _rated(turns, name)
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
        estimate = bootstrap.estimate(statistic, values[chosen], turns["participant"][chosen])
        rows[row] = bootstrap.row(estimate, n=int(chosen.sum()), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "turns", _FIRST_TURN if name == "Relational" else None)


@finding
def shares_very_poor(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of very poor among the turns that have a level, for each rating.

    Returns
    -------
    DataFrame
        One row per rating, as :func:`applicability`.
    """
    require_own(study, bootstrap)
    rows = {name: _share_very_poor(study, name, bootstrap, of_rated=True) for name in RATING_NAMES}
    return estimate_table(rows, "rating", {name: f"very_poor_of_rated_{name}" for name in rows})


@finding
def relational_very_poor_of_all(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of very poor on Relational Continuity among all turns put to rating: one row."""
    require_own(study, bootstrap)
    row = _share_very_poor(study, CLAIMED_DIMENSION, bootstrap, of_rated=False)
    return estimate_table({CLAIMED_DIMENSION: row | {"key": "relational_very_poor_of_all"}}, "rating")


def _share_very_poor(study: Study, name: str, bootstrap: ParticipantBootstrap, *, of_rated: bool) -> dict:
    turns, words = study.turns_put_to_rating, "rated turns" if of_rated else "turns put to rating"
    unit, method = f"share of {words}", f"turns at level 1 by {words}"
    if missing := _missing(name, study, unit, method):
        return missing
    chosen = turns[name].notna() if of_rated else turns[f"{name}_state"] != UNREADABLE
    return _ratio_row(labels(turns[name]) == 1, chosen, turns["participant"], bootstrap, unit, method)


@finding
def nearest_rivals(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how far Relational Continuity lies from its nearest rival: below in applicability, above in very poor.

    .. math:: \min_{j \ne R} a_j - a_R, \qquad v_R - \max_{j \ne R} v_j

    with :math:`a_j` the share of turns put to rating in which dimension j has a level, and :math:`v_j` the share of
    very poor among these. Relational is the lowest, or the highest, of all if the distance is above zero.

    Returns
    -------
    DataFrame
        One row for each distance: estimate, low, high (-1..1), n (turns put to rating), unit, method, reason.
        Dimensions that were never rated are no rivals.
    """
    require_own(study, bootstrap)
    turns = study.turns_put_to_rating
    others = [name for name in study.rated_dimensions if name != CLAIMED_DIMENSION]
    reason = (
        "" if CLAIMED_DIMENSION in study.rated_dimensions else f"{CLAIMED_DIMENSION} was never rated in this data set"
    )
    reason = reason or ("" if others else "no other dimension was rated in this data set")
    rows = {}
    for row, (key, unit) in _RIVALS.items():
        low = key == "relational_applicability_below_nearest"
        method = "difference to the nearest other dimension, found again in each resample"
        if reason:
            rows[row] = estimate_row(n=len(turns), unit=unit, method=method, reason=reason, key=key)
            continue
        of_each = []
        for name in (CLAIMED_DIMENSION, *others):
            rated, readable = _rated(turns, name)
            of_each.append((rated, readable) if low else (labels(turns[name]) == 1, rated))

        def distance(sums: np.ndarray, low: bool = low) -> np.ndarray:
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = sums[..., 0] / sums[..., 1]
            own, rivals = shares[..., 0], shares[..., 1:]
            return np.nanmin(rivals, axis=-1) - own if low else own - np.nanmax(rivals, axis=-1)

        values = np.moveaxis(np.array(of_each, dtype=float), -1, 0)
        estimate = bootstrap.estimate(distance, values, turns["participant"])
        undefined = "no answer can be read"
        rows[row] = bootstrap.row(estimate, n=len(turns), unit=unit, method=method, undefined=undefined) | {"key": key}
    return estimate_table(rows, "distance")


@finding
def mean_levels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of each rating over the turns that have one.

    Returns
    -------
    DataFrame
        One row per rating, as :func:`applicability`; estimates in 1..5.
    """
    require_own(study, bootstrap)
    turns = study.turns
    unit = "level, 1 to 5"
    ends = study.rescaled.set_index("name")[["lowest", "highest"]]
    rows = {}
    for name in RATING_NAMES:
        method = "mean over rated turns"
        if name in ends.index:
            own_scale = Interval(*ends.loc[name])
            mean = own_scale.original(turns[name].mean(), len(LEVELS))
            method += f"; the answers, from {own_scale} with the mean {mean:.2f}, were rescaled to 1 to 5"
        rows[name] = _missing(name, study, unit, method)
        if rows[name] is None:
            rows[name] = _ratio_row(
                turns[name].fillna(0), turns[name].notna(), turns["participant"], bootstrap, unit, method
            )
    return estimate_table(rows, "rating", {name: f"mean_{name}" for name in rows})


@finding
def published_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the shares of :func:`applicability` and :func:`shares_very_poor` that the paper publishes."""
    shares = pd.concat([applicability(study, bootstrap), shares_very_poor(study, bootstrap)])
    return under_keys(shares, _PUBLISHED)


def level_counts(study: Study, *, of: str = "put") -> pd.DataFrame:
    """Return the number of turns by rating and answer.

    Answers are levels 1..5 (rescaled ratings at the nearest one), and those without a level.

    Parameters
    ----------
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
