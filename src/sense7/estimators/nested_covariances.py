"""Covariances of ratings within and between conversations."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import pair_moments
from sense7.estimators.bootstrap import pieces, sums_by_participant

__all__ = ["between_covariances", "nested_moments", "within_covariances"]


def nested_moments(ratings: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    r"""Sums of each participant from which the covariances of both levels follow, for every two items.

    Parameters
    ----------
    ratings : DataFrame, shape (turns, k)
        Indexed by participant and conversation; NaN if not rated.

    Returns
    -------
    moments : array, shape (participants, 8, k, k)
        Sums over the participant's conversations c of, in order, over the :math:`n_c` turns that rate both items:
        products of the deviations from the conversation's means; :math:`n_c - 1`; :math:`n_c \bar x_c \bar y_c`;
        :math:`n_c \bar x_c`; :math:`n_c \bar y_c`; :math:`n_c`; :math:`n_c^2`; 1. Ratings are counted from 3.
    participants : Index
        In the order of their first turns.

    Examples
    --------
    One participant, two conversations of two turns: the deviations of a are 1 and 1, those of b are 1 and 1.

    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5], "b": [2.0, 4, 5, 3]}, index=index))
    >>> moments[0, 0].tolist(), moments[0, 1, 0, 1]
    ([[4.0, 0.0], [0.0, 4.0]], np.float64(2.0))
    """
    owners, talks = (ratings.index.get_level_values(level) for level in (0, 1))
    codes, conversations = pd.factorize(talks)
    values = ratings.to_numpy(dtype=float)
    items = values.shape[1]
    sums = np.zeros((len(conversations), 4, items, items))
    for piece in pieces(len(values), 4 * items**2):
        sums += sums_by_participant(pair_moments(values[piece]), codes[piece], len(conversations))
    n, x, y, xy = np.moveaxis(sums, 1, 0)
    rated = n > 0
    product = x * y / np.where(rated, n, 1)
    parts = np.stack([xy - product, np.maximum(n - 1, 0), product, x, y, n, n**2, rated], axis=1)
    first = np.unique(codes, return_index=True)[1] if len(codes) else []
    owner, people = pd.factorize(owners[first])
    return sums_by_participant(parts, owner, len(people)), people


def within_covariances(sums: np.ndarray) -> np.ndarray:
    r"""Pooled covariances within conversations, :math:`S_W` of this module's head.

    Parameters
    ----------
    sums : array, shape (..., 8, k, k)
        Of :func:`nested_moments`, over participants.

    Returns
    -------
    array, shape (..., k, k)
        Points squared; NaN where no conversation has two turns that rate both items.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5], "b": [2.0, 4, 3, 5]}, index=index))
    >>> within_covariances(moments.sum(axis=0)).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    own, freedom = sums[..., 0, :, :], sums[..., 1, :, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(freedom > 0, own / freedom, np.nan)


def between_covariances(sums: np.ndarray) -> np.ndarray:
    r"""Covariances between conversations without turn-to-turn variation, :math:`S_B` of this module's head.

    Parameters
    ----------
    sums : array, shape (..., 8, k, k)
        Of :func:`nested_moments`, over participants.

    Returns
    -------
    array, shape (..., k, k)
        Points squared; a variance may come out negative where little lies between conversations. NaN where fewer
        than two conversations rate both items, or :func:`within_covariances` is undefined.

    Examples
    --------
    The means of the two conversations are 2 and 4, each of two turns with a variance of 2.

    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5]}, index=index))
    >>> between_covariances(moments.sum(axis=0)).tolist()
    [[1.0]]
    """
    _, _, product, x, y, n, squared, groups = np.moveaxis(sums, -3, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_square = (product - x * y / n) / (groups - 1)
        turns = (n - squared / n) / (groups - 1)
        return np.where(groups > 1, (mean_square - within_covariances(sums)) / turns, np.nan)


check_arguments(globals())
