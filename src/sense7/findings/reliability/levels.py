r"""Consistency of the ratings within conversations and between them: covariances, correlations, alpha and omega.

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
turn-to-turn variation). Conversations are those of all participants, so that what lies between conversations holds what
lies between participants. A conversation with one turn that rates both says nothing about :math:`S_W`.

*Pairwise*, all sums for two items are over the turns that rate both, and those for a variance over the turns that rate
the item; *listwise*, over the turns that rate every item. Alpha and omega of each matrix are the multilevel
reliabilities of Geldhof, Preacher and Zyphur (2014) and of Lai (2021), here by analysis of variance in place of a
multilevel structural equation model.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import SCALE, alpha_from_covariances
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.factor import ITEMS_FOR_A_FACTOR, fit_one_factor, omega_total
from sense7.estimators.item_analysis import (
    average_correlation,
    correlations_from_covariances,
    joined,
    lacking_items,
    too_few,
    usable,
)
from sense7.estimators.nested_covariances import between_covariances, nested_moments, within_covariances
from sense7.findings.structure.one_factor import FEWEST_UNITS
from sense7.terminal import count_of

__all__ = [
    "CORRELATION_KEYS",
    "LEVEL_ALPHA_KEYS",
    "LEVEL_OMEGA_KEYS",
    "alphas_by_level",
    "average_correlations_by_level",
    "correlation_matrix_within",
    "omegas_within",
]

ALPHAS = {
    "within conversations, pairwise": ("within_alpha", "within", "pairwise", []),
    "within conversations, listwise": ("within_alpha_listwise", "within", "listwise", []),
    "within conversations, without Relational": (
        "within_alpha_without_relational",
        "within",
        "pairwise",
        ["Relational"],
    ),
    "between conversations, pairwise": ("between_alpha", "between", "pairwise", []),
    "between conversations, listwise": ("between_alpha_listwise", "between", "listwise", []),
}
"""Rows of :func:`alphas_by_level` -> key, level, rule for missing ratings, dimensions left out."""

LEVEL_ALPHA_KEYS = {name: key for name, (key, *_) in ALPHAS.items()}

OMEGAS = {
    "within conversations, listwise": ("within_omega_listwise", "within", "listwise", []),
    "within conversations, without Relational": (
        "within_omega_without_relational",
        "within",
        "listwise",
        ["Relational"],
    ),
}
"""Rows of :func:`omegas_within`, as ``ALPHAS``."""

LEVEL_OMEGA_KEYS = {name: key for name, (key, *_) in OMEGAS.items()}

CORRELATIONS = {
    "within conversations, pairwise": ("within_average_correlation", "within", "pairwise", []),
    "within conversations, listwise": ("within_average_correlation_listwise", "within", "listwise", []),
    "between conversations, pairwise": ("between_average_correlation", "between", "pairwise", []),
}
"""Rows of :func:`average_correlations_by_level`, as ``ALPHAS``."""

CORRELATION_KEYS = {name: key for name, (key, *_) in CORRELATIONS.items()}


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


def _omega(sums: np.ndarray, level: str) -> np.ndarray:
    fit = fit_one_factor(correlations_from_covariances(_covariances(sums, level)))
    return omega_total(fit.loadings, fit.uniquenesses)


def _rows(
    ratings, bootstrap, which, statistic, unit: str, what: str, scales, *, items: int, units: int
) -> pd.DataFrame:
    rows = {}
    for name, (_, level, missing, left_out) in which.items():
        used, note = usable(ratings.drop(columns=left_out), missing)
        method = f"{what} of the covariances {level} conversations, {missing}, {count_of(used.shape[1], 'item')}{note}"
        if reason := too_few(used, items, units):
            rows[name] = estimate_row(n=len(used), unit=unit, method=method, reason=reason)
            continue
        moments, people = nested_moments(used)
        scale = scales.get(level)
        undefined = _undefined(moments.sum(axis=0), level)
        found = bootstrap.estimate(lambda sums, level=level: statistic(sums, level), moments, people, scale)
        row = bootstrap.row(
            found, n=len(used), unit=unit, method=method, undefined=undefined, how=bootstrap.describe(scale)
        )
        lacking = lacking_items(used, note) if np.isfinite(row["estimate"]) else ""
        rows[name] = row | {"reason": joined(row["reason"], lacking)}
    return estimate_table(rows, "level")


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
    r"""Cronbach's alpha of the turns within conversations, and of the conversations.

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
        One row per entry of ``LEVEL_ALPHA_KEYS``: estimate (at most 1 of complete ratings), low, high, n (turns), unit,
        method, reason. The interval within is that of :func:`sense7.estimators.alpha.alpha_row`. Alpha between
        may be estimated above 1, where its logarithmic scale ends, and has the t interval on its own scale.

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
    return _rows(ratings, bootstrap, ALPHAS, _alpha, "alpha", "Cronbach's alpha", scales, items=2, units=3)


def omegas_within(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Omega total of one factor fitted to the correlations within conversations.

    The factor is fitted by maximum likelihood (:func:`sense7.estimators.factor.fit_one_factor`), the formula is that of
    :func:`sense7.estimators.factor.omega_total`.

    Parameters
    ----------
    ratings, bootstrap
        As for :func:`alphas_by_level`.

    Returns
    -------
    DataFrame
        One row per entry of ``LEVEL_OMEGA_KEYS``, as :func:`alphas_by_level`. There is none where the matrix is not
        positive definite. Between conversations there are no omegas: an estimated matrix of that level, a difference
        of two, is not positive definite as soon as the dimensions hardly differ there.
    """
    of = {"items": ITEMS_FOR_A_FACTOR, "units": FEWEST_UNITS}
    return _rows(ratings, bootstrap, OMEGAS, _omega, "omega", "omega total of one factor", {"within": SCALE}, **of)


def average_correlations_by_level(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Mean correlation of two dimensions within conversations, and between conversations.

    .. math:: \bar r = \frac{2}{k (k - 1)} \sum_{i < j} \frac{S_{ij}}{\sqrt{S_{ii} S_{jj}}}

    with S the covariances of the level (:func:`within_covariances`, :func:`between_covariances`).

    Parameters
    ----------
    ratings, bootstrap
        As for :func:`alphas_by_level`.

    Returns
    -------
    DataFrame
        One row per entry of ``CORRELATION_KEYS``, with percentile intervals; otherwise as :func:`alphas_by_level`.
    """
    unit = "average correlation"
    return _rows(ratings, bootstrap, CORRELATIONS, _average, unit, "average correlation", {}, items=2, units=3)


def correlation_matrix_within(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlations within conversations, pairwise: :func:`within_covariances` by their variances; NaN if undefined.

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
