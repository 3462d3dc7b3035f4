"""How the ratings are spread, and how often each dimension is rated at all."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from sense7.findings.core import Needs, Number, finding, mean_number, share, tabulate
from sense7.findings.ground_truth import label_counts, labels
from sense7.findings.measures import answers_to, is_first_turn
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
UNDEFINED = "no answer can be read"


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
    readable = _readable(turns, name)
    return mean_number(
        bootstrap,
        readable[f"{name}_state"] == RATED,
        readable,
        label=name,
        unit="share of turns",
        method=f"rated turns by {among}",
        counted="turn",
        key=key,
        reason="" if name in study.asked else NEVER_ASKED,
    )


def _readable(turns: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turns whose answer to a rating can be read."""
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
    readable = _readable(study.turns_put_to_rating, CLAIMED_DIMENSION)
    is_rated = readable[f"{CLAIMED_DIMENSION}_state"] == RATED
    is_first = is_first_turn(readable)

    def share_among(chosen: pd.Series) -> np.ndarray:
        return share(bootstrap, is_rated & chosen, chosen, readable["participant"])

    def later_minus_first():
        return share_among(~is_first) - share_among(is_first)

    def number(label: str, statistic: Callable[[], np.ndarray], rows: pd.DataFrame) -> Number:
        return Number(
            label=label,
            statistic=statistic,
            unit="share of turns",
            method="rated turns by turns shown for rating",
            rows=rows,
            counted="turn",
            key=f"relational_applicability_{label.replace(' ', '_')}",
            reason="" if CLAIMED_DIMENSION in study.asked else NEVER_ASKED,
            undefined="no first turn, or no later one, was shown for rating",
        )

    numbers = [
        number("first turn", partial(share_among, is_first), readable[is_first]),
        number("later turns", partial(share_among, ~is_first), readable[~is_first]),
        number("later minus first", later_minus_first, readable),
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
    readable = _readable(study.turns_put_to_rating, CLAIMED_DIMENSION)
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
        label=name,
        unit=f"share of {among}",
        method=f"turns at level 1 by {among}",
        counted="turn",
        needs=Needs(answers={name: study.turns[name]}),
        key=key,
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
    answers = answers_to(study, CLAIMED_DIMENSION)
    answers["another dimension"] = study.turns[rivals]

    def share_of(is_counted: Callable, is_among: Callable, name: str) -> np.ndarray:
        return share(bootstrap, is_counted(name), is_among(name), turns["participant"])

    def is_rated(name: str) -> pd.Series:
        return turns[f"{name}_state"] == RATED

    def is_readable(name: str) -> pd.Series:
        return ~turns[f"{name}_state"].isin(UNSAID)

    def is_very_poor(name: str) -> np.ndarray:
        return labels(turns[name]) == 1

    rated_share = partial(share_of, is_rated, is_readable)
    very_poor_of_rated = partial(share_of, is_very_poor, is_rated)
    very_poor_of_all = partial(share_of, is_very_poor, is_readable)

    def below_nearest():
        lowest = np.fmin.reduce([rated_share(name) for name in rivals])
        return lowest - rated_share(CLAIMED_DIMENSION)

    def above_nearest(very_poor_share: Callable[[str], np.ndarray]) -> np.ndarray:
        highest = np.fmax.reduce([very_poor_share(name) for name in rivals])
        return very_poor_share(CLAIMED_DIMENSION) - highest

    def number(label: str, statistic: Callable, unit: str, key: str) -> Number:
        return Number(
            label=label,
            statistic=statistic,
            unit=unit,
            method="difference to the nearest other dimension, found again in each resample",
            rows=turns,
            counted="turn",
            needs=Needs(answers=answers),
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
    ends = study.rescaled.set_index("name")[["lowest", "highest"]]
    numbers = []
    for name in RATING_NAMES:
        rated = study.turns[study.turns[name].notna()]
        method = "mean over rated turns"
        if name in ends.index:
            scale = Interval(*ends.loc[name])
            mean = scale.original(study.turns[name].mean(), len(LEVELS))
            method += (
                f"; the answers, from {scale} with the mean {mean:.2f}, were rescaled to 1 to 5"
            )
        number = mean_number(
            bootstrap,
            rated[name],
            rated,
            label=name,
            unit="level, 1 to 5",
            method=method,
            counted="turn",
            needs=Needs(answers={name: study.turns[name]}),
            key=f"mean_{name}",
        )
        numbers.append(number)
    return tabulate("rating", numbers, bootstrap)


@finding
def published_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the shares of Relational that the paper publishes: applicability and very poor."""
    tables = [applicability(study, bootstrap), shares_very_poor(study, bootstrap)]
    return under_keys(pd.concat(tables), _PUBLISHED)


def level_counts(study: Study) -> pd.DataFrame:
    """Return the number of turns of the assistant by rating and answer.

    Answers are levels 1..5 (rescaled ratings at the nearest one), and those without a level.

    Returns
    -------
    DataFrame
        One row per rating; columns 1, 2, 3, 4, 5, ``not rated`` (unknown, or not applicable), ``absent`` (blank), and
        ``unreadable`` and ``declined`` where there are any. The sum of a row is the number of turns.
    """
    counts = {}
    for name in RATING_NAMES:
        states = study.turns[f"{name}_state"]
        counts[name] = [
            *label_counts(study.turns[name]),
            *((states == state).sum() for state in _NO_LEVEL),
        ]
    table = pd.DataFrame.from_dict(
        counts, orient="index", columns=[*range(1, 6), *_NO_LEVEL]
    ).rename_axis("rating")
    return table.drop(columns=[state for state in UNSAID if not table[state].any()])
