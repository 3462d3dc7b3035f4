"""Correlations of the dimensions, and how well each goes with the rest."""

import itertools

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.estimators.item_analysis import (
    FEWEST_UNITS,
    ROUNDING,
    average_correlation,
    correlations_from_covariances,
    guttman_lambda6,
    item_rest_from_covariances,
    lacking_items,
    rows_of,
    standardized_alpha,
    too_few,
    usable,
    varies,
)
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["consistency", "correlation_matrix", "correlations", "item_rest"]

_PAIRS = tuple(f"{a} with {b}" for a, b in itertools.combinations(DIMENSION_NAMES, 2))
"""Rows of :func:`correlations` of the seven dimensions."""

_CORRELATIONS = {
    "turn": """
        correlation_turn_Affective_Cognitive correlation_turn_Affective_Response correlation_turn_Affective_Prosocial
        correlation_turn_Affective_Interest correlation_turn_Affective_Contextual correlation_turn_Affective_Relational
        correlation_turn_Cognitive_Response correlation_turn_Cognitive_Prosocial correlation_turn_Cognitive_Interest
        correlation_turn_Cognitive_Contextual correlation_turn_Cognitive_Relational
        correlation_turn_Response_Prosocial correlation_turn_Response_Interest correlation_turn_Response_Contextual
        correlation_turn_Response_Relational
        correlation_turn_Prosocial_Interest correlation_turn_Prosocial_Contextual
        correlation_turn_Prosocial_Relational
        correlation_turn_Interest_Contextual correlation_turn_Interest_Relational
        correlation_turn_Contextual_Relational
    """
}
"""Ratings -> keys of :func:`correlations`, in the order of the pairs."""

_ITEM_REST = {
    ("turn", "pairwise"): """
        item_rest_turn_Affective item_rest_turn_Cognitive item_rest_turn_Response item_rest_turn_Prosocial
        item_rest_turn_Interest item_rest_turn_Contextual item_rest_turn_Relational
    """,
    ("turn", "listwise"): """
        item_rest_turn_listwise_Affective item_rest_turn_listwise_Cognitive item_rest_turn_listwise_Response
        item_rest_turn_listwise_Prosocial item_rest_turn_listwise_Interest item_rest_turn_listwise_Contextual
        item_rest_turn_listwise_Relational
    """,
    ("post", "pairwise"): """
        item_rest_post_Affective item_rest_post_Cognitive item_rest_post_Response item_rest_post_Prosocial
        item_rest_post_Interest item_rest_post_Contextual item_rest_post_Relational
    """,
}
"""Ratings and rule for missing ones -> keys of :func:`item_rest`, in the order of the dimensions."""

_STATISTICS = {
    "average correlation": average_correlation,
    "standardised alpha": standardized_alpha,
    "Guttman's lambda 6": guttman_lambda6,
}
"""Rows of :func:`consistency` -> statistic of a correlation matrix."""

_CONSISTENCY = {
    ("turn", "pairwise"): "average_correlation_turn alpha_standardised_turn guttman_lambda6_turn",
    ("turn", "listwise"): """
        average_correlation_turn_listwise alpha_standardised_turn_listwise guttman_lambda6_turn_listwise
    """,
    ("post", "pairwise"): "average_correlation_post alpha_standardised_post guttman_lambda6_post",
}
"""Ratings and rule for missing ones -> keys of :func:`consistency`, in the order of its rows."""


def correlation_matrix(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return Pearson correlations, each over the units that rate both items; NaN where undefined.

    Items without a rating or without variation keep their row and column, of NaN.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [1, 3, 2, 4.0], "c": [5.0] * 4})
    >>> correlation_matrix(ratings).loc["a"].round(3).tolist()
    [1.0, 0.8, nan]
    """
    names = list(ratings)
    matrix = pd.DataFrame(np.nan, index=names, columns=names)
    for name in names:
        if varies(ratings[name]):
            matrix.loc[name, name] = 1.0
    for a, b in itertools.combinations(names, 2):
        both = ratings[[a, b]].dropna()
        matrix.loc[a, b] = matrix.loc[b, a] = float(_correlation(_pair(both).sum(axis=0)))
    return matrix


def _pair(both: pd.DataFrame) -> np.ndarray:
    """Terms of each unit whose sums give a correlation: 1, x, y, xx, yy, xy."""
    x, y = both.to_numpy(dtype=float).T - 3
    return np.column_stack([np.ones(len(both)), x, y, x * x, y * y, x * y])


def _correlation(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (yy - y * y / n)
        defined = (n >= FEWEST_UNITS) & (xx - x * x / n > ROUNDING) & (yy - y * y / n > ROUNDING)
        return np.where(defined, np.clip((xy - x * y / n) / np.sqrt(spread), -1, 1), np.nan)


def correlations(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, recorded_as: str = "") -> pd.DataFrame:
    r"""Return the Pearson correlation of each pair of items, over the units that rate both.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    recorded_as : {"turn", ""}
        Whose keys the rows get: those of the seven ratings per turn; "" for no keys.

    Returns
    -------
    DataFrame
        One row per pair, "a with b": estimate, low, high (-1..1), n (units that rate both),
        unit, method, reason.

    Notes
    -----
    Checked against pandas and against resampled frames.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [1, 3, 2, 4.0]}, index=list("pqrs"))
    >>> correlations(ratings, ParticipantBootstrap(ratings.index, 100, 1))["estimate"].round(3).to_dict()
    {'a with b': 0.8}
    """
    rows = {}
    for a, b in itertools.combinations(ratings, 2):
        both = ratings[[a, b]].dropna()
        rows[f"{a} with {b}"] = bootstrap.row(
            bootstrap.estimate(_correlation, _pair(both), both.index),
            n=len(both),
            unit="Pearson correlation",
            method="Pearson correlation of the units that rate both",
            undefined=_no_pair(ratings, both),
        )
    return estimate_table(rows, "pair", keys_of_rows(_PAIRS, _CORRELATIONS.get(recorded_as, "")))


def _no_pair(ratings: pd.DataFrame, both: pd.DataFrame) -> str:
    """Why two items have no correlation, if they have none."""
    never = [name for name in both if not ratings[name].notna().any()]
    if never:
        return f"never rated: {', '.join(never)}"
    if len(both) < FEWEST_UNITS:
        return "fewer than three units rate both"
    return f"does not vary: {', '.join(name for name in both if not varies(both[name]))}"


def item_rest(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, missing: str = "pairwise", *, recorded_as: str = ""
) -> pd.DataFrame:
    """Return the correlation of each item with the sum of the others, by :func:`item_rest_from_covariances`.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    missing : {"pairwise", "listwise"}
        Rule for missing ratings; see :func:`sense7.estimators.alpha.cronbach_alpha`.
    recorded_as : {"turn", "post", ""}
        Whose keys the rows get: those of the ratings per turn, or after the conversation; "" for no keys.

    Returns
    -------
    DataFrame
        One row per item: estimate, low, high (-1..1), n (pairwise: units that rate the item;
        listwise: units that rate all), unit, method, reason.

    Notes
    -----
    R: psych::alpha(use='pairwise')$item.stats$r.drop, tests/reference/reference.R; equal to 1e-7.
    """
    used, note = usable(ratings, missing)
    items = count_of(used.shape[1], "item")
    unit, method = "correlation", f"correlation with the sum of the others, {missing}, {items}{note}"
    rows = {}
    if not (reason := too_few(used, items=2)):
        estimates = bootstrap.estimates(
            lambda sums: item_rest_from_covariances(covariances_from_sums(sums)),
            *moments_by_participant(used.to_numpy(dtype=float), used.index),
        )
        undefined = "too few units rate the item together with the others"
        counts = list(used.notna().sum())
        rows = rows_of(used, estimates, bootstrap, counts=counts, unit=unit, method=method, undefined=undefined)
    rows = {name: rows.get(name) or _no_item(ratings, name, unit, method, reason) for name in ratings}
    keys = keys_of_rows(DIMENSION_NAMES, _ITEM_REST.get((recorded_as, missing), ""))
    return estimate_table(rows, "item", keys)


def _no_item(ratings: pd.DataFrame, name: str, unit: str, method: str, reason: str) -> dict:
    n = int(ratings[name].notna().sum())
    why = "never rated in this data set" if n == 0 else reason or "does not vary in the units used"
    return estimate_row(n=n, unit=unit, method=method, reason=why)


def consistency(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, missing: str = "pairwise", *, recorded_as: str = ""
) -> pd.DataFrame:
    """Return the average correlation, standardised alpha and Guttman's lambda 6.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    missing : {"pairwise", "listwise"}
        Pairwise, correlations are covariances over pairs by standard deviations of all ratings of
        an item (as psych::alpha does), not quite those of :func:`correlations`.
    recorded_as : {"turn", "post", ""}
        As for :func:`item_rest`.

    Returns
    -------
    DataFrame
        One row for each. n is the number of units.
    """
    used, note = usable(ratings, missing)
    method = f"{missing}, {count_of(used.shape[1], 'item')}{note}"
    keys = keys_of_rows(_STATISTICS, _CONSISTENCY.get((recorded_as, missing), ""))
    if reason := too_few(used, items=2):
        rows = {
            name: estimate_row(n=len(used), unit=name, method=f"{name}, {method}", reason=reason)
            for name in _STATISTICS
        }
        return estimate_table(rows, "statistic", keys)
    estimates = bootstrap.estimates(_consistency, *moments_by_participant(used.to_numpy(dtype=float), used.index))
    rows = {}
    for name, estimate in zip(_STATISTICS, estimates, strict=True):
        rows |= rows_of(
            [name],
            [estimate],
            bootstrap,
            counts=[len(used)],
            unit=name,
            method=f"{name}, {method}",
            undefined="some of the ratings are the same, or too few units rate them together",
            lacking=lacking_items(used, note),
        )
    return estimate_table(rows, "statistic", keys)


def _consistency(sums: np.ndarray) -> np.ndarray:
    correlations = correlations_from_covariances(covariances_from_sums(sums))
    return np.stack([statistic(correlations) for statistic in _STATISTICS.values()], axis=-1)


check_arguments(globals())
