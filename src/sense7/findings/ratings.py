"""How the ratings are spread, and how often each dimension is rated at all."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from sense7.findings.core import Number, finding, mean_number, mean_of_rows, need, share, tabulate
from sense7.findings.ground_truth import label_counts, labels
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import under_keys
from sense7.study import ABSENT, NOT_RATED, RATED, UNSAID, Study
from sense7.taxonomy import LEVELS, RATING_NAMES
from sense7.workbook.reading import Interval

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

CLAIMED_DIMENSION = "Relational"
"""The dimension of which the paper says that it applies least often, and is very poor most often."""

_PUBLISHED = {
    "applicability_Relational": "relational_applicability",
    "very_poor_of_rated_Relational": "relational_very_poor",
}
"""Key of a row -> key under which the ledger compares it with a published value."""

_NO_LEVEL = (NOT_RATED, ABSENT, *UNSAID)
NEVER_ASKED = "never asked in this data set"
NEVER_RATED = "asked, and never rated in this data set"
UNDEFINED = "no answer can be read"


def _was_rated(study: Study, name: str) -> list[tuple[bool, str]]:
    """What a number of a rating needs: that it was asked, and that somebody gave it."""
    return [
        (name in study.asked, NEVER_ASKED),
        (study.turns[name].notna().any(), NEVER_RATED),
    ]


@finding
def applicability(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of turns in which each rating has a level.

    A turn was shown for rating if any of the eight ratings was answered, be it by unknown; turns that
    nobody was asked about say nothing about applicability. Turns in which the answer to a rating
    can't be read, or declines to say, are left out of that rating's denominator.

    Returns
    -------
    DataFrame
        A row for overall and each dimension: estimate, low, high (0..1), n (turns of the
        denominator), unit, method, reason.

    Notes
    -----
    R: mean(!is.na), tests/reference/reference.R; equal to 1e-9.
    """
    turns = study.turns_put_to_rating
    numbers = []
    for name in RATING_NAMES:
        key = f"applicability_{name}"
        numbers.append(_share_rated(study, bootstrap, turns, "turns shown for rating", name, key))
    return tabulate("rating", numbers, bootstrap)


@finding
def applicability_of_all_turns(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of all turns of the assistant in which Relational Continuity has a level: one row.

    Turns that were not shown for rating count as not rated.
    """
    name = CLAIMED_DIMENSION
    key = f"applicability_all_turns_{name}"
    number = _share_rated(study, bootstrap, study.turns, "all turns", name, key)
    return tabulate("rating", [number], bootstrap)


def _share_rated(
    study: Study,
    bootstrap: ParticipantBootstrap,
    turns: pd.DataFrame,
    among: str,
    name: str,
    key: str,
) -> Number:
    """The share of turns in which a rating has a level, of those whose answer can be read."""
    is_asked = name in study.asked
    readable = _readable(turns, name, is_asked)

    def rated_share():
        need(is_asked, NEVER_ASKED)
        is_rated = readable[f"{name}_state"] == RATED
        return mean_of_rows(bootstrap, is_rated, readable["participant"])

    return Number(
        label=name,
        statistic=rated_share,
        unit="share of turns",
        method=f"rated turns by {among}",
        rows=readable,
        key=key,
        undefined=UNDEFINED,
    )


def _readable(turns: pd.DataFrame, name: str, is_there: bool) -> pd.DataFrame:
    """Turns whose answer to a rating can be read; none if there is no such rating."""
    if not is_there:
        return turns[:0]
    return turns[~turns[f"{name}_state"].isin(UNSAID)]


@finding
def applicability_of_first_turn(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of first turns, and of later turns, in which Relational Continuity is rated.

    Returns
    -------
    DataFrame
        Rows first turn, later turns, later minus first: estimate, low, high, n (turns shown for
        rating), unit, method, reason.
    """
    is_asked = CLAIMED_DIMENSION in study.asked
    turns = study.turns_put_to_rating
    readable = _readable(turns, CLAIMED_DIMENSION, is_asked)
    is_rated = readable[f"{CLAIMED_DIMENSION}_state"] == RATED
    is_first = readable["turn"] == 1

    def share_among(chosen: pd.Series) -> np.ndarray:
        need(is_asked, NEVER_ASKED)
        return share(bootstrap, is_rated & chosen, chosen, readable["participant"])

    def later_minus_first():
        return share_among(~is_first) - share_among(is_first)

    def number(
        label: str, statistic: Callable[[], np.ndarray], rows: pd.DataFrame, absent: str
    ) -> Number:
        return Number(
            label=label,
            statistic=statistic,
            unit="share of turns",
            method="rated turns by turns shown for rating",
            rows=rows,
            key=f"relational_applicability_{label.replace(' ', '_')}",
            undefined=f"{absent} shown for rating",
        )

    first = partial(share_among, is_first)
    later = partial(share_among, ~is_first)
    numbers = [
        number("first turn", first, readable[is_first], "no first turn was"),
        number("later turns", later, readable[~is_first], "no later turn was"),
        number(
            "later minus first", later_minus_first, readable, "no first turn, or no later one, was"
        ),
    ]
    return tabulate("turns", numbers, bootstrap)


@finding
def shares_very_poor(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of very poor among the turns that have a level, for each rating.

    Returns
    -------
    DataFrame
        One row per rating, as :func:`applicability`.
    """
    turns = study.turns_put_to_rating
    numbers = []
    for name in RATING_NAMES:
        rated = turns[turns[name].notna()]
        key = f"very_poor_of_rated_{name}"
        numbers.append(_share_very_poor(study, bootstrap, rated, "rated turns", name, key))
    return tabulate("rating", numbers, bootstrap)


@finding
def relational_very_poor_of_all(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of very poor on Relational Continuity among all turns shown for rating: one row."""
    turns = study.turns_put_to_rating
    ever_rated = study.turns[CLAIMED_DIMENSION].notna().any()
    readable = _readable(turns, CLAIMED_DIMENSION, ever_rated)
    key = "relational_very_poor_of_all"
    number = _share_very_poor(
        study, bootstrap, readable, "turns shown for rating", CLAIMED_DIMENSION, key
    )
    return tabulate("rating", [number], bootstrap)


def _share_very_poor(
    study: Study,
    bootstrap: ParticipantBootstrap,
    turns: pd.DataFrame,
    among: str,
    name: str,
    key: str,
) -> Number:
    """The share of these turns whose level of a rating is 1, very poor."""
    return mean_number(
        bootstrap,
        labels(turns[name]) == 1,
        turns,
        _was_rated(study, name),
        label=name,
        unit=f"share of {among}",
        method=f"turns at level 1 by {among}",
        key=key,
        undefined=UNDEFINED,
    )


@finding
def nearest_rivals(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how far Relational Continuity lies from its nearest rival.

    Below it in applicability, above it in the share of very poor:

    .. math:: \min_{j \ne R} a_j - a_R, \qquad v_R - \max_{j \ne R} v_j

    with :math:`a_j` the share of turns shown for rating in which dimension j has a level, and
    :math:`v_j` the share of very poor among these. Relational is the lowest, or the highest, of all
    if the distance is above zero. The share :math:`v_j` is conditional on being rated, which
    Relational seldom is; the last row is the same distance with :math:`v_j` the share of very poor
    among all turns shown for rating.

    Returns
    -------
    DataFrame
        One row for each distance: estimate, low, high (-1..1), n (turns shown for rating), unit,
        method, reason. Dimensions that were never rated are no rivals.
    """
    turns = study.turns_put_to_rating
    rivals = [name for name in study.rated_dimensions if name != CLAIMED_DIMENSION]

    def require_rivals():
        ever_rated = CLAIMED_DIMENSION in study.rated_dimensions
        need(ever_rated, f"{CLAIMED_DIMENSION} was never rated in this data set")
        need(rivals, "no other dimension was rated in this data set")

    def rated_share(name: str) -> np.ndarray:
        states = turns[f"{name}_state"]
        return share(bootstrap, states == RATED, ~states.isin(UNSAID), turns["participant"])

    def very_poor_of_rated(name: str) -> np.ndarray:
        is_rated = turns[f"{name}_state"] == RATED
        return share(bootstrap, labels(turns[name]) == 1, is_rated, turns["participant"])

    def very_poor_of_all(name: str) -> np.ndarray:
        is_readable = ~turns[f"{name}_state"].isin(UNSAID)
        return share(bootstrap, labels(turns[name]) == 1, is_readable, turns["participant"])

    def below_nearest():
        require_rivals()
        lowest = np.fmin.reduce([rated_share(name) for name in rivals])
        return lowest - rated_share(CLAIMED_DIMENSION)

    def above_nearest(very_poor_share: Callable[[str], np.ndarray]) -> np.ndarray:
        require_rivals()
        highest = np.fmax.reduce([very_poor_share(name) for name in rivals])
        return very_poor_share(CLAIMED_DIMENSION) - highest

    def number(label: str, statistic: Callable, unit: str, key: str) -> Number:
        return Number(
            label=label,
            statistic=statistic,
            unit=unit,
            method="difference to the nearest other dimension, found again in each resample",
            rows=turns,
            key=key,
            undefined=UNDEFINED,
        )

    numbers = [
        number(
            "applicability: nearest other minus Relational",
            below_nearest,
            "share of turns, difference",
            "relational_applicability_below_nearest",
        ),
        number(
            "very poor, of rated turns: Relational minus nearest other",
            partial(above_nearest, very_poor_of_rated),
            "share of rated turns, difference",
            "relational_very_poor_above_nearest",
        ),
        number(
            "very poor, of all turns shown for rating: Relational minus nearest other",
            partial(above_nearest, very_poor_of_all),
            "share of turns shown for rating, difference",
            "relational_very_poor_of_all_above_nearest",
        ),
    ]
    return tabulate("distance", numbers, bootstrap)


@finding
def mean_levels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of each rating over the turns that have one.

    Returns
    -------
    DataFrame
        One row per rating, as :func:`applicability`; estimates in 1..5.
    """
    numbers = [_mean_level(study, bootstrap, name) for name in RATING_NAMES]
    return tabulate("rating", numbers, bootstrap)


def _mean_level(study: Study, bootstrap: ParticipantBootstrap, name: str) -> Number:
    """The mean level of a rating; its method tells what was rescaled."""
    rated = study.turns[study.turns[name].notna()]
    method = "mean over rated turns"
    ends = study.rescaled.set_index("name")[["lowest", "highest"]]
    if name in ends.index:
        scale = Interval(*ends.loc[name])
        mean = scale.original(study.turns[name].mean(), len(LEVELS))
        method += f"; the answers, from {scale} with the mean {mean:.2f}, were rescaled to 1 to 5"

    return mean_number(
        bootstrap,
        rated[name],
        rated,
        _was_rated(study, name),
        label=name,
        unit="level, 1 to 5",
        method=method,
        key=f"mean_{name}",
        undefined=UNDEFINED,
    )


@finding
def published_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the shares of Relational that the paper publishes: applicability and very poor."""
    tables = [applicability(study, bootstrap), shares_very_poor(study, bootstrap)]
    return under_keys(pd.concat(tables), _PUBLISHED)


def level_counts(study: Study, *, of: str = "put") -> pd.DataFrame:
    """Return the number of turns by rating and answer.

    Answers are levels 1..5 (rescaled ratings at the nearest one), and those without a level.

    Parameters
    ----------
    of : {"put", "all"}
        Whether to count the turns shown for rating, or all turns of the assistant.

    Returns
    -------
    DataFrame
        One row per rating; columns 1, 2, 3, 4, 5, ``not rated`` (unknown, or not applicable), ``absent`` (blank), and
        ``unreadable`` and ``declined`` where there are any. The sum of a row is the number of turns.
    """
    turns = study.turns if of == "all" else study.turns_put_to_rating
    counts = {}
    for name in RATING_NAMES:
        states = turns[f"{name}_state"]
        counts[name] = [
            *label_counts(turns[name]),
            *((states == state).sum() for state in _NO_LEVEL),
        ]
    table = pd.DataFrame.from_dict(
        counts, orient="index", columns=[*range(1, 6), *_NO_LEVEL]
    ).rename_axis("rating")
    return table.drop(columns=[state for state in UNSAID if not table[state].any()])
