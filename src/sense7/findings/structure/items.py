"""Correlations of the dimensions, and how well each goes with the rest."""

import itertools

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import (
    FEWEST_UNITS,
    ROUNDING,
    average_correlation,
    correlations_from_covariances,
    covariances_from_sums,
    item_rest_from_covariances,
    joined,
    lacking_items,
    moments_by_participant,
    rows_of,
    too_few,
    usable,
    varies,
)
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.terminal import count_of

__all__ = ["average_correlation_row", "correlation_matrix", "correlations", "item_rest"]


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
    keys = {name: f"correlation_{recorded_as}_{name.replace(' with ', '_')}" for name in rows} if recorded_as else None
    return estimate_table(rows, "pair", keys)


def _no_pair(ratings: pd.DataFrame, both: pd.DataFrame) -> str:
    """Why two items have no correlation, if they have none."""
    never = [name for name in both if not ratings[name].notna().any()]
    if never:
        return f"never rated: {', '.join(never)}"
    if len(both) < FEWEST_UNITS:
        return "fewer than three units rate both"
    return f"does not vary: {', '.join(name for name in both if not varies(both[name]))}"


def item_rest(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, recorded_as: str = "") -> pd.DataFrame:
    """Return the correlation of each item with the sum of the others, by :func:`item_rest_from_covariances`.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    recorded_as : {"turn", ""}
        Whose keys the rows get: those of the ratings per turn; "" for no keys.

    Returns
    -------
    DataFrame
        One row per item: estimate, low, high (-1..1), n (units that rate the item), unit, method, reason. Covariances
        are pairwise; see :func:`sense7.estimators.alpha.cronbach_alpha`.

    Notes
    -----
    R: psych::alpha(use='pairwise')$item.stats$r.drop, tests/reference/reference.R; equal to 1e-7.
    """
    used, note = usable(ratings, "pairwise")
    items = count_of(used.shape[1], "item")
    unit, method = "correlation", f"correlation with the sum of the others, pairwise, {items}{note}"
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
    keys = {name: f"item_rest_{recorded_as}_{name}" for name in rows} if recorded_as else None
    return estimate_table(rows, "item", keys)


def _no_item(ratings: pd.DataFrame, name: str, unit: str, method: str, reason: str) -> dict:
    n = int(ratings[name].notna().sum())
    why = "never rated in this data set" if n == 0 else reason or "does not vary in the units used"
    return estimate_row(n=n, unit=unit, method=method, reason=why)


def average_correlation_row(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, key: str = "") -> dict:
    """Return the mean correlation of two items, pairwise, as a row of estimates.

    Each covariance is over the units that rate both items, and each variance over those that rate the item (as
    psych::alpha does), so that it is not quite the mean of :func:`correlations`.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    key : str
        Under which it is recorded; "" for none.

    Returns
    -------
    dict
        Row of estimates; n is the number of units.
    """
    used, note = usable(ratings, "pairwise")
    name = "average correlation"
    common = {"n": len(used), "unit": name, "method": f"{name}, pairwise, {count_of(used.shape[1], 'item')}{note}"}
    key = {"key": key} if key else {}
    if reason := too_few(used, items=2):
        return estimate_row(**common, reason=reason) | key
    estimate = bootstrap.estimate(
        lambda sums: average_correlation(correlations_from_covariances(covariances_from_sums(sums))),
        *moments_by_participant(used.to_numpy(dtype=float), used.index),
    )
    row = bootstrap.row(
        estimate, **common, undefined="some of the ratings are the same, or too few units rate them together"
    )
    return row | {"reason": joined(row["reason"], lacking_items(used, note))} | key


check_arguments(globals())
