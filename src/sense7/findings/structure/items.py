"""Correlations of the dimensions, and how well each goes with the rest."""

import itertools

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.item_analysis import (
    FEWEST_UNITS,
    ROUNDING,
    average_correlation,
    correlations_from_covariances,
    guttman_lambda6,
    item_rest_from_covariances,
    lacking_items,
    rows_of,
    standardised_alpha,
    too_few,
    usable,
    varies,
)
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["CONSISTENCY_KEYS", "PAIR_KEYS", "consistency", "correlation_matrix", "correlations", "item_rest"]

PAIR_KEYS = {f"{a} with {b}": f"{a}_{b}" for a, b in itertools.combinations(DIMENSION_NAMES, 2)}
"""Pairs of dimensions: row of :func:`correlations` -> end of its key."""

CONSISTENCY_KEYS = {
    "average correlation": "average_correlation",
    "standardised alpha": "alpha_standardised",
    "Guttman's lambda 6": "guttman_lambda6",
}
"""Rows of :func:`consistency` -> beginning of the key."""


def correlation_matrix(ratings: pd.DataFrame) -> pd.DataFrame:
    """Pearson correlations, each over the units that rate both items; NaN where undefined.

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
    """Per unit what a correlation needs summed: 1, x, y, xx, yy, xy."""
    x, y = both.to_numpy(dtype=float).T - 3
    return np.column_stack([np.ones(len(both)), x, y, x * x, y * y, x * y])


def _correlation(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (yy - y * y / n)
        defined = (n >= FEWEST_UNITS) & (xx - x * x / n > ROUNDING) & (yy - y * y / n > ROUNDING)
        return np.where(defined, np.clip((xy - x * y / n) / np.sqrt(spread), -1, 1), np.nan)


def correlations(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Pearson correlation of each pair of items, over the units that rate both.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.

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
        unit, method = "Pearson correlation", "Pearson correlation of the units that rate both"
        estimate, low, high, reason = bootstrap.estimate(_correlation, _pair(both), both.index)
        if not np.isfinite(estimate):
            reason = _no_pair(ratings, both)
        elif not reason:
            method += f"; {bootstrap.description}"
        rows[f"{a} with {b}"] = estimate_row(estimate, low, high, n=len(both), unit=unit, method=method, reason=reason)
    return estimate_table(rows, "pair")


def _no_pair(ratings: pd.DataFrame, both: pd.DataFrame) -> str:
    never = [name for name in both if not ratings[name].notna().any()]
    if never:
        return f"never rated: {', '.join(never)}"
    if len(both) < FEWEST_UNITS:
        return "fewer than three units rate both"
    return f"does not vary: {', '.join(name for name in both if not varies(both[name]))}"


def item_rest(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, missing: str = "pairwise") -> pd.DataFrame:
    """Correlation of each item with the sum of the others, by :func:`item_rest_from_covariances`.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    missing : {"pairwise", "listwise"}
        Rule for missing ratings; see the head of this module.

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
        results = bootstrap.estimates(
            lambda sums: item_rest_from_covariances(covariances_from_sums(sums)),
            *moments_by_participant(used.to_numpy(dtype=float), used.index),
        )
        undefined = "too few units rate the item together with the others"
        counts = list(used.notna().sum())
        rows = rows_of(used, results, bootstrap, counts=counts, unit=unit, method=method, undefined=undefined)
    return estimate_table(
        {name: rows.get(name) or _no_item(ratings, name, unit, method, reason) for name in ratings}, "item"
    )


def _no_item(ratings: pd.DataFrame, name: str, unit: str, method: str, reason: str) -> dict:
    n = int(ratings[name].notna().sum())
    why = "never rated in this data set" if n == 0 else reason or "does not vary in the units used"
    return estimate_row(n=n, unit=unit, method=method, reason=why)


def consistency(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, missing: str = "pairwise") -> pd.DataFrame:
    """Average correlation, standardised alpha and Guttman's lambda 6.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    missing : {"pairwise", "listwise"}
        Pairwise, correlations are covariances over pairs by standard deviations of all ratings of
        an item (as psych::alpha does), not quite those of :func:`correlations`.

    Returns
    -------
    DataFrame
        A row each; the names are those of ``CONSISTENCY_KEYS``. n is the number of units.
    """
    used, note = usable(ratings, missing)
    method = f"{missing}, {count_of(used.shape[1], 'item')}{note}"
    names = list(CONSISTENCY_KEYS)
    if reason := too_few(used, items=2):
        rows = {name: estimate_row(n=len(used), unit=name, method=f"{name}, {method}", reason=reason) for name in names}
        return estimate_table(rows, "statistic")
    results = bootstrap.estimates(_consistency, *moments_by_participant(used.to_numpy(dtype=float), used.index))
    rows = {}
    for name, result in zip(names, results, strict=True):
        rows |= rows_of(
            [name],
            [result],
            bootstrap,
            counts=[len(used)],
            unit=name,
            method=f"{name}, {method}",
            undefined="some of the ratings are the same, or too few units rate them together",
            lacking=lacking_items(used, note),
        )
    return estimate_table(rows, "statistic")


def _consistency(sums: np.ndarray) -> np.ndarray:
    correlations = correlations_from_covariances(covariances_from_sums(sums))
    functions = (average_correlation, standardised_alpha, guttman_lambda6)
    return np.stack([function(correlations) for function in functions], axis=-1)


check_arguments(globals())
