r"""Internal structure of the ratings: their correlations, each with the rest, and what follows from these.

All of it is algebra on a covariance matrix. *Pairwise*, each covariance is over the units that
rate both items and each variance over those that rate the item; *listwise*, over the units that
rate every item. A rating that is missing is never scored: the correlation of an item with a sum
that skips holes would score them zero, and is too low.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.reliability import covariances_from_sums, moments_by_participant
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "CONSISTENCY_KEYS",
    "PAIR_KEYS",
    "average_correlation",
    "consistency",
    "correlation_matrix",
    "correlations",
    "correlations_from_covariances",
    "guttman_lambda6",
    "item_rest",
    "item_rest_from_covariances",
    "joined",
    "lacking_items",
    "rows_of",
    "standardised_alpha",
    "too_few",
    "unexplained_variances",
    "usable",
    "varies",
]

PAIR_KEYS = {f"{a} with {b}": f"{a}_{b}" for a, b in itertools.combinations(DIMENSION_NAMES, 2)}
"""Pairs of dimensions: row of :func:`correlations` -> end of its key."""

CONSISTENCY_KEYS = {
    "average correlation": "average_correlation",
    "standardised alpha": "alpha_standardised",
    "Guttman's lambda 6": "guttman_lambda6",
}
"""Rows of :func:`consistency` -> beginning of the key."""

FEWEST_UNITS = 3
_NOUGHT = 1e-9


def varies(values: pd.Series) -> bool:
    """Whether there are two different values."""
    return bool(values.max() > values.min())  # False for NaN


def usable(ratings: pd.DataFrame, missing: str = "listwise") -> tuple[pd.DataFrame, str]:
    """Leave out items that were never rated or do not vary and, listwise, incomplete units.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant; NaN if not rated.
    missing : {"pairwise", "listwise"}
        Whether units that lack one of the items rated at all are kept.

    Returns
    -------
    used : DataFrame
        What is left.
    note : str
        What was left out, for the method; "" if nothing.

    Examples
    --------
    >>> used, note = usable(pd.DataFrame({"a": [1, 2.0], "b": [3, 3.0], "c": [np.nan] * 2}))
    >>> list(used), note
    (['a'], ' (never rated: c; does not vary: b)')
    """
    if missing not in {"pairwise", "listwise"}:
        raise ValueError(f"missing must be 'pairwise' or 'listwise', not {missing!r}")
    rated = ratings.loc[:, ratings.notna().any()]
    never = [name for name in ratings if name not in rated]
    if missing == "listwise":
        rated = rated.dropna()
    constant = [name for name in rated if not varies(rated[name])] if len(rated) else []
    notes = [
        f"{what}: {', '.join(names)}" for what, names in (("never rated", never), ("does not vary", constant)) if names
    ]
    return rated.drop(columns=constant), f" ({'; '.join(notes)})" if notes else ""


def lacking_items(used: pd.DataFrame, note: str) -> str:
    """What a value over all items lacks, for its reason; "" if nothing.

    Examples
    --------
    >>> lacking_items(pd.DataFrame({"a": [1, 2], "b": [2, 1]}), " (never rated: c)")
    '2 dimensions; never rated: c'
    """
    return f"{count_of(used.shape[1], 'dimension')}; {note[2:-1]}" if note else ""


def joined(*reasons: str) -> str:
    """Reasons in one line; those that are empty are passed over."""
    return "; ".join(filter(None, reasons))


def too_few(used: pd.DataFrame, items: int, units: int = FEWEST_UNITS) -> str:
    """Why what :func:`usable` left is too little for a statistic; "" if it is enough.

    Parameters
    ----------
    used : DataFrame
        Ratings left.
    items, units : int
        The fewest that the statistic takes.

    Examples
    --------
    >>> too_few(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), items=3)
    'only 1 of these ratings was given and varies; this needs 3'
    """
    count = used.shape[1]
    if len(used) < units and count:
        return f"units that rate all of {count_of(count, 'item')}: {len(used)}; this needs {units}"
    if count >= items:
        return ""
    which = "none of these ratings" if count == 0 else f"only {count} of these ratings"
    return f"{which} {'were' if count > 1 else 'was'} given and {'vary' if count > 1 else 'varies'}; this needs {items}"


def rows_of(
    names: Sequence[str],
    results: Sequence[tuple[float, float, float, str]],
    bootstrap: ParticipantBootstrap,
    *,
    counts: Sequence[int],
    unit: str,
    method: str,
    undefined: str,
    lacking: str = "",
) -> dict[str, dict]:
    """Rows of estimates from :meth:`ParticipantBootstrap.estimates`.

    ``undefined`` is the reason where there is none; ``lacking`` is added to the reason in every row.
    """
    rows = {}
    for name, (estimate, low, high, reason), n in zip(names, results, counts, strict=True):
        if not np.isfinite(estimate):
            rows[name] = estimate_row(n=n, unit=unit, method=method, reason=joined(undefined, lacking))
            continue
        how = method if reason else f"{method}; {bootstrap.description}"
        why = joined(reason, lacking)
        rows[name] = estimate_row(estimate, low, high, n=n, unit=unit, method=how, reason=why)
    return rows


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
        defined = (n >= FEWEST_UNITS) & (xx - x * x / n > _NOUGHT) & (yy - y * y / n > _NOUGHT)
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


def item_rest_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Correlation of each item with the sum of the others, from their covariances.

    .. math:: r_i = \frac{\sum_{j \ne i} C_{ij}}{\sqrt{C_{ii} \sum_{j \ne i} \sum_{l \ne i} C_{jl}}}

    Parameters
    ----------
    covariances : array, shape (..., k, k)
        One matrix or many.

    Returns
    -------
    array, shape (..., k)
        -1..1; NaN where a variance is zero, or pairwise covariances are of no real data set.

    References
    ----------
    Henrysson, S. (1963). Psychometrika 28, 211-218 (correction for overlap).

    Notes
    -----
    R: psych::alpha(use='pairwise')$item.stats$r.drop, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> item_rest_from_covariances(np.array([[1.0, 0.5], [0.5, 1.0]])).tolist()
    [0.5, 0.5]
    """
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    sums = covariances.sum(axis=-1)
    rest = sums.sum(axis=-1)[..., None] - 2 * sums + own
    with np.errstate(divide="ignore", invalid="ignore"):
        defined = (own > _NOUGHT) & (rest > _NOUGHT)
        r = np.where(defined, (sums - own) / np.sqrt(np.where(defined, own * rest, 1)), np.nan)
        return np.where(np.abs(r) <= 1 + _NOUGHT, np.clip(r, -1, 1), np.nan)


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


def correlations_from_covariances(covariances: np.ndarray) -> np.ndarray:
    """Correlation matrices from covariance matrices of shape (..., k, k); NaN where a variance is zero."""
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(np.where(own > _NOUGHT, own, np.nan))
        return covariances / (scale[..., :, None] * scale[..., None, :])


def average_correlation(correlations: np.ndarray) -> np.ndarray:
    """Mean of the k (k - 1) / 2 correlations of matrices of shape (..., k, k).

    Notes
    -----
    R: psych::alpha(use='pairwise')$total$average_r, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> float(average_correlation(np.array([[1.0, 0.5], [0.5, 1.0]])))
    0.5
    """
    k = correlations.shape[-1]
    return (correlations.sum(axis=(-2, -1)) - np.trace(correlations, axis1=-2, axis2=-1)) / (k * (k - 1))


def standardised_alpha(correlations: np.ndarray) -> np.ndarray:
    r"""Alpha of the items brought to equal variances.

    .. math:: \alpha_s = \frac{k \bar r}{1 + (k - 1) \bar r}

    Parameters
    ----------
    correlations : array, shape (..., k, k)
        One matrix or many.

    Notes
    -----
    R: psych::alpha(use='pairwise')$total$std.alpha, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> round(float(standardised_alpha(np.array([[1.0, 0.5], [0.5, 1.0]]))), 6)
    0.666667
    """
    k, r = correlations.shape[-1], average_correlation(correlations)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(1 + (k - 1) * r > _NOUGHT, k * r / (1 + (k - 1) * r), np.nan)


def guttman_lambda6(correlations: np.ndarray) -> np.ndarray:
    r"""Guttman's lambda 6, a lower bound of reliability.

    .. math:: \lambda_6 = 1 - \frac{\sum_i (1 - R_i^2)}{\sum_{ij} r_{ij}}, \quad
              1 - R_i^2 = 1 / (R^{-1})_{ii}

    with :math:`R_i^2` the squared multiple correlation of item i with the others.

    Parameters
    ----------
    correlations : array, shape (..., k, k)
        One matrix or many.

    Returns
    -------
    array, shape (...)
        NaN where the matrix is singular or not positive definite.

    References
    ----------
    Guttman, L. (1945). Psychometrika 10, 255-282.

    Notes
    -----
    R: psych::alpha(use='pairwise')$total$G6(smc), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> round(float(guttman_lambda6(np.array([[1.0, 0.5], [0.5, 1.0]]))), 6)
    0.5
    """
    unexplained = unexplained_variances(correlations)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - unexplained.sum(axis=-1) / correlations.sum(axis=(-2, -1))


def unexplained_variances(correlations: np.ndarray) -> np.ndarray:
    """Share of each item that the others do not explain, (..., k); NaN where not positive definite."""
    correlations = np.asarray(correlations, dtype=float)
    finite = np.isfinite(correlations).all(axis=(-2, -1))
    identity = np.eye(correlations.shape[-1])
    safe = np.where(finite[..., None, None], correlations, identity)
    positive = finite & (np.linalg.eigvalsh(safe)[..., 0] > _NOUGHT)
    inverse = np.linalg.inv(np.where(positive[..., None, None], safe, identity))
    return np.where(positive[..., None], 1 / np.diagonal(inverse, axis1=-2, axis2=-1), np.nan)


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
