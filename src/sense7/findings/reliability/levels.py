r"""Consistency of the ratings within conversations and between them: covariances, correlations and alpha.

A covariance over all turns mixes two questions: whether the ratings move together from turn to turn of one
conversation, and whether conversations that are rated high on one dimension are rated high on the others. They are
separated by an analysis of variance of the turns in conversations. With C conversations, :math:`n_c` turns of
conversation c that rate both items, N turns in all, and conversation means :math:`\bar x_c, \bar y_c` over these turns,

.. math::

    S_W = \frac{\sum_c \sum_t (x_{ct} - \bar x_c)(y_{ct} - \bar y_c)}{\sum_c (n_c - 1)}, \qquad
    S_B = \frac{M_B - S_W}{n_0}, \qquad
    M_B = \frac{\sum_c n_c (\bar x_c - \bar x)(\bar y_c - \bar y)}{C - 1}, \qquad
    n_0 = \frac{N - \sum_c n_c^2 / N}{C - 1}

are the covariances *within* conversations (pooled) and *between* conversations (of their expected ratings, free of
turn-to-turn variation). Conversations are those of all participants, so that differences between conversations include
those between participants. A conversation with one turn that rates both says nothing about :math:`S_W`.

All sums for two items are over the turns that rate both, and those for a variance over the turns that rate
the item. Alpha of each matrix is the multilevel
reliability of Geldhof, Preacher and Zyphur (2014) and of Lai (2021), here by analysis of variance in place of a
multilevel structural equation model.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import (
    SCALE,
    alpha_from_covariances,
    average_correlation,
    between_covariances,
    correlations_from_covariances,
    joined,
    lacking_items,
    nested_moments,
    too_few,
    usable,
    within_covariances,
)
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap, Scale
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.terminal import count_of

__all__ = [
    "alphas_by_level",
    "average_correlations_by_level",
    "correlation_matrix_within",
]

_ALPHAS = {
    "within conversations": ("within_alpha", "within"),
    "between conversations": ("between_alpha", "between"),
}
"""Rows of :func:`alphas_by_level` -> key, level."""

_CORRELATIONS = {
    "within conversations": ("within_average_correlation", "within"),
    "between conversations": ("between_average_correlation", "between"),
}
"""Rows of :func:`average_correlations_by_level`, as ``_ALPHAS``."""
FEWEST_ITEMS = 2
FEWEST_ROWS = 3
_SMALLEST_VARIANCE = 1e-9
_COVARIANCES = {"within": within_covariances, "between": between_covariances}


def _covariances(sums: np.ndarray, level: str) -> np.ndarray:
    """Covariances of the level; none of them where an item does not vary there but by rounding."""
    covariances = _COVARIANCES[level](sums)
    varies = (np.diagonal(covariances, axis1=-2, axis2=-1) > _SMALLEST_VARIANCE).all(axis=-1)
    return np.where(varies[..., None, None], covariances, np.nan)


def _alpha(sums: np.ndarray, level: str) -> np.ndarray:
    return alpha_from_covariances(_covariances(sums, level))


def _average(sums: np.ndarray, level: str) -> np.ndarray:
    return average_correlation(correlations_from_covariances(_covariances(sums, level)))


def _table(
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    rows: dict[str, tuple[str, str]],
    statistic: Callable[[np.ndarray, str], np.ndarray],
    names: tuple[str, str],
    scales: dict[str, Scale],
) -> pd.DataFrame:
    """Table of a statistic of sums and level; its name and unit, and the scale of its interval at each level."""
    used, note = usable(ratings, "pairwise")
    items, reason = count_of(used.shape[1], "item"), too_few(used, FEWEST_ITEMS, FEWEST_ROWS)
    table = {}
    for name, (key, level) in rows.items():
        method = f"{names[0]} of the covariances {level} conversations, pairwise, {items}{note}"
        common = {"n": len(used), "unit": names[1], "method": method}
        if reason:
            table[name] = estimate_row(**common, reason=reason, key=key)
            continue
        moments, people = nested_moments(used)
        scale = scales.get(level)
        estimate = bootstrap.estimate(lambda sums, level=level: statistic(sums, level), moments, people, scale)
        undefined = _undefined(moments.sum(axis=0), level)
        row = bootstrap.row(estimate, **common, undefined=undefined, how=bootstrap.describe(scale))
        lacking = lacking_items(used, note) if np.isfinite(row["estimate"]) else ""
        table[name] = row | {"reason": joined(row["reason"], lacking), "key": key}
    return estimate_table(table, "level")


def _undefined(sums: np.ndarray, level: str) -> str:
    """Why a matrix of this level gives no value, if it does not."""
    if (sums[1] == 0).any():
        return "no conversation has two turns that rate the same two dimensions"
    if not (np.diagonal(within_covariances(sums)) > _SMALLEST_VARIANCE).all():
        return "a dimension does not vary within conversations"
    if level == "between" and not (np.diagonal(between_covariances(sums)) > _SMALLEST_VARIANCE).all():
        return "a dimension does not vary between conversations beyond its turns"
    return "some of the ratings are the same, or sums of others"


def alphas_by_level(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return Cronbach's alpha of the turns within conversations, and of the conversations.

    .. math:: \alpha = \frac{k}{k - 1}\left(1 - \frac{\sum_i S_{ii}}{\sum_{ij} S_{ij}}\right)

    with S the covariances of the level (:func:`within_covariances`, :func:`between_covariances`). Alpha within is that
    of a turn's departure from its conversation: it holds no difference between persons, conditions or topics. Alpha
    between is that of a conversation's expected ratings, free of turn-to-turn variation; not that of observed means.

    Parameters
    ----------
    ratings : DataFrame, shape (turns, items)
        As :func:`~sense7.findings.measures.nested_turn_ratings` returns it. Items never rated or without variation are
        left out, and named.
    bootstrap : ParticipantBootstrap
        Of the participants.

    Returns
    -------
    DataFrame
        Rows within conversations and between conversations: estimate (at most 1 of complete ratings), low, high,
        n (turns), unit, method, reason. The interval within is that of :func:`sense7.estimators.alpha.alpha_row`.
        Alpha between may be estimated above 1, where its logarithmic scale ends, and has the t interval on its own
        scale.

    References
    ----------
    Geldhof, G. J., Preacher, K. J., & Zyphur, M. J. (2014). Psychological Methods 19, 72-91. Lai, M. H. C. (2021).
    Psychological Methods 26, 90-102.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> ratings = pd.DataFrame({"Affective": [1.0, 3, 4, 5], "Relational": [2.0, 3, 3, 5]}, index=index)
    >>> float(alphas_by_level(ratings, ParticipantBootstrap(["P"], 100, 1))["estimate"].iloc[0].round(3))
    0.889
    """
    scales = {"within": SCALE, "between": OWN_SCALE}
    return _table(ratings, bootstrap, _ALPHAS, _alpha, ("Cronbach's alpha", "alpha"), scales)


def average_correlations_by_level(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean correlation of two dimensions within conversations, and between conversations.

    .. math:: \bar r = \frac{2}{k (k - 1)} \sum_{i < j} \frac{S_{ij}}{\sqrt{S_{ii} S_{jj}}}

    with S the covariances of the level (:func:`within_covariances`, :func:`between_covariances`).

    Parameters
    ----------
    ratings, bootstrap
        As for :func:`alphas_by_level`.

    Returns
    -------
    DataFrame
        As :func:`alphas_by_level`, with percentile intervals.
    """
    return _table(ratings, bootstrap, _CORRELATIONS, _average, ("average correlation", "average correlation"), {})


def correlation_matrix_within(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return correlations within conversations, pairwise (:func:`within_covariances` by variances); NaN if undefined.

    Parameters
    ----------
    ratings : DataFrame, shape (turns, items)
        As :func:`~sense7.findings.measures.nested_turn_ratings` returns it.

    Returns
    -------
    DataFrame, square
        A dimension that was never rated, or does not vary within conversations, has a row and a column of NaN.
    """
    moments, _ = nested_moments(ratings)
    matrix = correlations_from_covariances(within_covariances(moments.sum(axis=0)))
    return pd.DataFrame(matrix, index=list(ratings), columns=list(ratings))


check_arguments(globals())
