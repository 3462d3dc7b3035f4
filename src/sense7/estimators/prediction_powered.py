r"""Prediction-powered means: a judge scores every conversation, users rate some of them.

The mean of the judge's scores is precise and may be wrong; the mean of the ratings is right and may be imprecise.
Prediction-powered inference adds to the first what the judge is wrong by where users rated as well. How much the judge
counts is chosen by what makes the interval shortest; a judge that knows nothing then counts for nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from sense7.arguments import check_arguments
from sense7.terminal import count_of

__all__ = ["FEWEST_CLUSTERS", "PoweredMean", "Sums", "mean_of_sums", "prediction_powered_mean", "sums_of"]

FEWEST_CLUSTERS = 5
"""Participants with ratings below which there is no interval."""


class Sums(NamedTuple):
    """Sums over the rows of each participant, arrays of one length.

    Attributes
    ----------
    rated, ratings, scores : array
        Number of rated rows, and sums of the ratings and of the judge's scores over these.
    unrated, unrated_scores : array
        Number of the other rows, and sum of the judge's scores over these.
    """

    rated: np.ndarray
    ratings: np.ndarray
    scores: np.ndarray
    unrated: np.ndarray
    unrated_scores: np.ndarray


@dataclass(frozen=True)
class PoweredMean:
    r"""A mean of ratings with its interval.

    Attributes
    ----------
    estimate, low, high : float
        NaN where there is none.
    weight : float
        :math:`\lambda`, how much the judge counts; 0: not at all.
    rated, unrated : int
        Rows of each kind.
    reason : str
        Why there is no interval; "" if there is one.
    """

    estimate: float
    low: float
    high: float
    weight: float
    rated: int
    unrated: int
    reason: str = ""


def sums_of(ratings: np.ndarray, scores: np.ndarray, participants: pd.Series) -> Sums:
    """Sums by participant of what :func:`mean_of_sums` needs.

    Parameters
    ----------
    ratings : array, shape (rows,)
        NaN where the user did not rate.
    scores : array, shape (rows,)
        The judge's; finite.
    participants : Series
        Participant of each row.

    Examples
    --------
    >>> sums_of(np.array([4.0, np.nan]), np.array([3.0, 5.0]), pd.Series(["a", "a"])).unrated_scores.tolist()
    [5.0]
    """
    ratings, scores = np.asarray(ratings, dtype=float), np.asarray(scores, dtype=float)
    codes = pd.factorize(np.asarray(participants, dtype=object))[0]
    rated = np.isfinite(ratings)
    columns = (rated, np.where(rated, ratings, 0), np.where(rated, scores, 0), ~rated, np.where(rated, 0, scores))
    return Sums(*(np.bincount(codes, weights=column.astype(float)) for column in columns))


def prediction_powered_mean(
    ratings: np.ndarray,
    scores: np.ndarray,
    participants: pd.Series,
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> PoweredMean:
    """Mean rating of all rows from the ratings of some and the judge's scores of all; see :func:`mean_of_sums`.

    Parameters
    ----------
    ratings, scores, participants
        As for :func:`sums_of`.
    confidence : float
        Of the interval.
    weight : float, optional
        How much the judge counts; 0: users alone. The best one if not given.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> quality = generator.normal(size=400)
    >>> ratings = quality + generator.normal(size=400) / 2
    >>> ratings[100:] = np.nan
    >>> people = pd.Series(np.arange(400) // 4)
    >>> powered, alone = (prediction_powered_mean(ratings, quality, people, weight=weight) for weight in (None, 0.0))
    >>> powered.high - powered.low < (alone.high - alone.low) * 0.75
    True
    """
    return mean_of_sums(sums_of(ratings, scores, participants), confidence=confidence, weight=weight)


def mean_of_sums(sums: Sums, *, confidence: float = 0.95, weight: float | None = None) -> PoweredMean:
    r"""Prediction-powered mean, with participants as clusters.

    .. math:: \hat\theta_\lambda = \bar y_L + \lambda (\bar f_U - \bar f_L), \qquad
              \hat\sigma^2_\lambda = \frac{m}{m-q} \sum_p (a_p + \lambda b_p)^2

    with L the rated and U the other rows, m the participants with rated rows, and what participant p adds to the two
    parts

    .. math:: a_p = \frac{1}{n_L} \sum_{i \in L_p} (y_i - \bar y_L), \qquad
              b_p = \frac{1}{n_U} \sum_{i \in U_p} (f_i - \bar f_U) - \frac{1}{n_L} \sum_{i \in L_p} (f_i - \bar f_L)

    The weight that makes the variance least is :math:`\lambda = -\sum_p a_p b_p / \sum_p b_p^2`. The interval is a t
    interval of m - q degrees of freedom, with q = 1, or 2 where the weight is chosen by the same data. It does not
    matter whether a participant has rows of one kind or of both.

    Parameters
    ----------
    sums : Sums
        By participant.
    confidence : float
        Of the interval.
    weight : float, optional
        :math:`\lambda`; the best one if not given.

    Returns
    -------
    PoweredMean
        Without unrated rows, or with a judge whose scores do not differ, the users' mean.

    References
    ----------
    Angelopoulos, A. N., and others (2023). Prediction-powered inference. Science 382, 669-674. Angelopoulos, A. N.,
    Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient prediction-powered inference. arXiv 2311.01453. With one row per
    participant, the weight is theirs but for the variance of the scores, which is estimated in each part.

    Notes
    -----
    The rated participants have to be drawn as the others are. A judge that learned from these ratings has to predict
    each participant without that participant's ratings, as in cross-prediction (Zrnic & Candes, 2024).

    Examples
    --------
    >>> sums = Sums(*np.array([[2, 2, 0], [8.0, 4, 0], [8, 4, 0], [0, 0, 2], [0, 0, 10]]))
    >>> mean_of_sums(sums, weight=1.0).estimate  # 3 + (5 - 3)
    5.0
    """
    sums = Sums(*(np.asarray(column, dtype=float) for column in sums))
    rated, unrated = sums.rated.sum(), sums.unrated.sum()
    clusters = int((sums.rated > 0).sum())
    if not rated:
        return PoweredMean(*[np.nan] * 3, 0.0, 0, int(unrated), "no conversation is rated")
    mean, judged = sums.ratings.sum() / rated, sums.scores.sum() / rated
    of_users = (sums.ratings - sums.rated * mean) / rated
    of_judge, shift = np.zeros(len(of_users)), 0.0
    if unrated:
        elsewhere = sums.unrated_scores.sum() / unrated
        of_judge = (sums.unrated_scores - sums.unrated * elsewhere) / unrated
        of_judge -= (sums.scores - sums.rated * judged) / rated
        shift = elsewhere - judged
    fitted = 1 + (weight is None)
    if weight is None:
        known = of_judge @ of_judge
        weight = -float(of_users @ of_judge) / known if known > 0 else 0.0
    estimate = mean + weight * shift
    found = {"weight": float(weight), "rated": int(rated), "unrated": int(unrated)}
    if clusters < FEWEST_CLUSTERS:
        reason = f"{count_of(clusters, 'participant')} with ratings: too few for an interval"
        return PoweredMean(float(estimate), np.nan, np.nan, **found, reason=reason)
    parts = of_users + weight * of_judge
    error = np.sqrt(clusters / (clusters - fitted) * parts @ parts)
    half = stdtrit(clusters - fitted, (1 + confidence) / 2) * error
    return PoweredMean(float(estimate), float(estimate - half), float(estimate + half), **found)


check_arguments(globals())
