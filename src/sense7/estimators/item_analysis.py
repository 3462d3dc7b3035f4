"""Item analysis: correlations of items, corrected item-rest correlations."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate
from sense7.terminal import count_of

__all__ = [
    "ROUNDING",
    "average_correlation",
    "correlations_from_covariances",
    "item_rest_from_covariances",
    "joined",
    "lacking_items",
    "rows_of",
    "too_few",
    "usable",
    "varies",
]

FEWEST_UNITS = 3
ROUNDING = 1e-9


def varies(values: pd.Series) -> bool:
    """Return whether there are two different values."""
    return bool(values.max() > values.min())  # False for NaN


def usable(ratings: pd.DataFrame, missing: str = "listwise") -> tuple[pd.DataFrame, str]:
    """Return the ratings without items that were never rated or do not vary and, listwise, without incomplete units.

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
    """Return which items a value over all items lacks, for its reason; "" if none.

    Examples
    --------
    >>> lacking_items(pd.DataFrame({"a": [1, 2], "b": [2, 1]}), " (never rated: c)")
    '2 dimensions; never rated: c'
    """
    return f"{count_of(used.shape[1], 'dimension')}; {note[2:-1]}" if note else ""


def joined(*reasons: str) -> str:
    """Return reasons in one line; empty ones are left out."""
    return "; ".join(filter(None, reasons))


def too_few(used: pd.DataFrame, items: int, units: int = FEWEST_UNITS) -> str:
    """Return why the ratings that :func:`usable` left are too few for a statistic; "" if they are enough.

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
    number = "none of these ratings" if count == 0 else f"only {count} of these ratings"
    return (
        f"{number} {'were' if count > 1 else 'was'} given and {'vary' if count > 1 else 'varies'}; this needs {items}"
    )


def rows_of(
    names: Sequence[str],
    estimates: Sequence[Estimate],
    bootstrap: ParticipantBootstrap,
    *,
    counts: Sequence[int],
    unit: str,
    method: str,
    undefined: str,
) -> dict[str, dict]:
    """Return rows of estimates from :meth:`ParticipantBootstrap.estimates`.

    ``undefined`` is the reason where there is no estimate.
    """
    return {
        name: bootstrap.row(estimate, n=n, unit=unit, method=method, undefined=undefined)
        for name, estimate, n in zip(names, estimates, counts, strict=True)
    }


def item_rest_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Return the correlation of each item with the sum of the others, from their covariances.

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
        defined = (own > ROUNDING) & (rest > ROUNDING)
        r = np.where(defined, (sums - own) / np.sqrt(np.where(defined, own * rest, 1)), np.nan)
        return np.where(np.abs(r) <= 1 + ROUNDING, np.clip(r, -1, 1), np.nan)


def correlations_from_covariances(covariances: np.ndarray) -> np.ndarray:
    """Return correlation matrices from covariance matrices of shape (..., k, k); NaN where a variance is zero."""
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(np.where(own > ROUNDING, own, np.nan))
        return covariances / (scale[..., :, None] * scale[..., None, :])


def average_correlation(correlations: np.ndarray) -> np.ndarray:
    """Return the mean of the k (k - 1) / 2 correlations of matrices of shape (..., k, k).

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


def unexplained_variances(correlations: np.ndarray) -> np.ndarray:
    """Return the share of each item that the others do not explain, (..., k); NaN where not positive definite."""
    correlations = np.asarray(correlations, dtype=float)
    finite = np.isfinite(correlations).all(axis=(-2, -1))
    identity = np.eye(correlations.shape[-1])
    safe = np.where(finite[..., None, None], correlations, identity)
    positive = finite & (np.linalg.eigvalsh(safe)[..., 0] > ROUNDING)
    inverse = np.linalg.inv(np.where(positive[..., None, None], safe, identity))
    return np.where(positive[..., None], 1 / np.diagonal(inverse, axis1=-2, axis2=-1), np.nan)


check_arguments(globals())
