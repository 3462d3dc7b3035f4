"""How the ratings are spread, and how often each dimension is rated at all."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows, under_keys
from sense7.findings.ground_truth import label_counts, labels
from sense7.study import ABSENT, NOT_RATED, RATED, UNREADABLE, Study
from sense7.taxonomy import LEVELS, RATING_NAMES
from sense7.workbook.options import Interval

__all__ = [
    "applicability",
    "applicability_by_turn",
    "applicability_of_first_turn",
    "level_counts",
    "level_shares",
    "mean_levels",
    "under_claims",
]

TURNS = 10
"""The last turn of :func:`applicability_by_turn`, as of the courses over turns on other pages."""

_APPLICABILITY = {
    "put": """
        applicability_overall applicability_Affective applicability_Cognitive applicability_Response
        applicability_Prosocial applicability_Interest applicability_Contextual applicability_Relational
    """,
    "all": """
        applicability_all_turns_overall applicability_all_turns_Affective applicability_all_turns_Cognitive
        applicability_all_turns_Response applicability_all_turns_Prosocial applicability_all_turns_Interest
        applicability_all_turns_Contextual applicability_all_turns_Relational
    """,
}
"""Turns of the denominator -> keys of :func:`applicability`, in the order of the ratings."""

_FIRST_TURN = {
    "first turn": "relational_applicability_first_turn",
    "later turns": "relational_applicability_later_turns",
    "later minus first": "relational_applicability_later_minus_first",
}
"""Rows of :func:`applicability_of_first_turn`, of Relational -> key."""

_VERY_POOR = {
    "rated": """
        very_poor_of_rated_overall very_poor_of_rated_Affective very_poor_of_rated_Cognitive very_poor_of_rated_Response
        very_poor_of_rated_Prosocial very_poor_of_rated_Interest very_poor_of_rated_Contextual
        very_poor_of_rated_Relational
    """,
    "all": """
        very_poor_of_all_overall very_poor_of_all_Affective very_poor_of_all_Cognitive very_poor_of_all_Response
        very_poor_of_all_Prosocial very_poor_of_all_Interest very_poor_of_all_Contextual very_poor_of_all_Relational
    """,
}
"""Turns of the denominator -> keys of :func:`level_shares` of level 1, in the order of the ratings."""

_MEANS = """
    mean_overall mean_Affective mean_Cognitive mean_Response mean_Prosocial mean_Interest mean_Contextual
    mean_Relational
"""

_CLAIMED = {
    "applicability_Relational": "relational_applicability",
    "very_poor_of_rated_Relational": "relational_very_poor",
    "very_poor_of_all_Relational": "relational_very_poor_of_all",
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


def applicability(study: Study, bootstrap: ParticipantBootstrap, *, of: str = "put") -> pd.DataFrame:
    """Return the share of turns in which each rating has a level.

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
    return estimate_table(rows, "rating", keys_of_rows(RATING_NAMES, _APPLICABILITY[of]))


def _rated(turns: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How many of these ratings each turn has, and how many of their answers can be read."""
    states = turns[[f"{name}_state" for name in names]]
    return (states == RATED).sum(axis=1).to_numpy(), (states != UNREADABLE).sum(axis=1).to_numpy()


def applicability_by_turn(
    study: Study, bootstrap: ParticipantBootstrap, names: Sequence[str] = ("Relational",)
) -> pd.DataFrame:
    """Return the share of the first turns put to rating, of the second, and so on, in which dimensions are rated.

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
        reason; keys for Relational alone. Later turns are those of longer conversations.
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
    keys = {turn: f"relational_applicability_turn_{turn}" for turn in rows} if list(names) == ["Relational"] else None
    return estimate_table(rows, "turn", keys)


def applicability_of_first_turn(
    study: Study, bootstrap: ParticipantBootstrap, name: str = "Relational"
) -> pd.DataFrame:
    """Return the share of first turns, and of later turns, in which a dimension is rated, and their difference.

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
        Rows first turn, later turns, later minus first: estimate, low, high, n (turns put to rating), unit, method,
        reason; keys for Relational.
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
        estimate = bootstrap.estimate(statistic, values[chosen], turns["participant"][chosen])
        rows[row] = bootstrap.row(estimate, n=int(chosen.sum()), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "turns", _FIRST_TURN if name == "Relational" else None)


def level_shares(study: Study, bootstrap: ParticipantBootstrap, level: int, *, of: str = "rated") -> pd.DataFrame:
    """Return the share of one level, such as very poor, for each rating.

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
        One row per rating, as :func:`applicability`; keys for level 1.
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
    return estimate_table(rows, "rating", keys_of_rows(RATING_NAMES, _VERY_POOR[of] if level == 1 else ""))


def mean_levels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean level of each rating over the turns that have one.

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
            own_scale = Interval(*ends.loc[name])
            mean = own_scale.original(turns[name].mean(), len(LEVELS))
            method += f"; the answers, from {own_scale} with the mean {mean:.2f}, were rescaled to 1 to 5"
        rows[name] = _missing(name, study, unit, method)
        if rows[name] is None:
            rows[name] = _ratio_row(
                turns[name].fillna(0), turns[name].notna(), turns["participant"], bootstrap, unit, method
            )
    return estimate_table(rows, "rating", keys_of_rows(RATING_NAMES, _MEANS))


def under_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that the ledger compares with a published value, under the ledger's key."""
    return under_keys(table, _CLAIMED)


def level_counts(study: Study, *, of: str = "put") -> pd.DataFrame:
    """Return the number of turns by rating and answer.

    Answers are levels 1..5 (rescaled ratings at the nearest one), and those without a level.

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
