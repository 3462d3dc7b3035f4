r"""Cumulative logit model: ordered levels without distances between them.

The mixed model takes the step from poor to neutral to be as long as that from good to very good. The cumulative
logit uses only the order of the levels: each condition multiplies the odds of a higher level by one factor, the same
at every cut of the scale (*proportional odds*). It has no random effect of a person; the dependence of turns of
one person is left to the standard errors.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit

_SLOPE = 1e-4
"""Largest slope of the mean log-likelihood at a point that is taken as its maximum."""

_STEPS = 50
_SMALL_STEP = 1e-9
_ROUNDING = 1e-12

_FARTHEST = 25
"""Log odds beyond which there is no maximum: the likelihood is flat on the way to infinity."""


@dataclass(frozen=True, eq=False)
class CumulativeLogit:
    r"""A fitted model: :math:`\log\frac{P(y \le k)}{P(y > k)} = \theta_k - x^\top\beta`."""

    coefficients: np.ndarray
    covariance: np.ndarray
    thresholds: np.ndarray
    log_likelihood: float
    participants: int


def fit_cumulative_logit(
    levels: np.ndarray, design: np.ndarray, participants: pd.Series
) -> CumulativeLogit | None:
    r"""Return the cumulative logit model fitted by maximum likelihood, with errors clustered by participant.

    .. math:: \frac{m}{m-1} \frac{n-1}{n-q} \, H^{-1} \Big(\sum_g s_g s_g^\top\Big) H^{-1}

    is the covariance of all q parameters for m participants, with H the curvature of the log-likelihood and s
    the score of each participant's rows.

    Examples
    --------
    >>> levels, group = np.repeat([1, 2, 1, 2], [30, 10, 10, 30]), np.repeat([0.0, 1.0], 40)
    >>> fit = fit_cumulative_logit(levels, group[:, None], pd.Series(np.arange(80) % 20))
    >>> round(float(np.exp(fit.coefficients[0])), 3)  # (30 / 10) / (10 / 30)
    9.0
    """
    codes, people = pd.factorize(pd.Series(participants).to_numpy())
    occurring, ranks = np.unique(levels, return_inverse=True)
    if len(occurring) < 2 or len(people) < 2:
        return None
    # Equal rows are one row with a weight: of a few conditions and levels, there are very few.
    cells, cell = np.unique(
        np.column_stack([ranks, design]).astype(float), axis=0, return_inverse=True
    )
    # Of scores without steps there are as many cells as rows; each participant is in a few of them.
    where = codes, cell.ravel()
    counts = sparse.csr_array((np.ones(len(codes)), where), shape=(len(people), len(cells)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        maximum = _maximum(cells[:, 0].astype(int), cells[:, 1:], counts.sum(axis=0))
    if maximum is None:
        return None
    point, likelihood, rows, curvature = maximum
    scores, inverse = counts @ rows, np.linalg.inv(curvature)
    slope = scores.sum(axis=0)
    m, n, q, width = len(people), len(ranks), len(point), cells.shape[1] - 1
    if n <= q or not (np.isfinite(inverse).all() and np.abs(slope).max() < _SLOPE * n):
        return None
    if np.ptp(cells[:, 1:] @ point[:width]) > _FARTHEST:
        return None
    covariance = m / (m - 1) * (n - 1) / (n - q) * inverse @ (scores.T @ scores) @ inverse
    return CumulativeLogit(point[:width], covariance[:width, :width], point[width:], likelihood, m)


def _maximum(levels: np.ndarray, design: np.ndarray, weights: np.ndarray) -> tuple | None:
    """Coefficients and thresholds, log-likelihood, score of each row, curvature; None where there is no maximum.

    The log-likelihood is concave (Pratt, 1981): Newton steps, halved where they do not ascend, find its maximum.
    """
    last, effects = levels.max(), -design
    below = np.bincount(levels, weights=weights).cumsum()[:-1] / weights.sum()
    point = np.concatenate([np.zeros(design.shape[1]), np.log(below / (1 - below))])
    thresholds = np.eye(last + 2)[:, 1:-1]  # none below the first level, none above the last
    upper, lower = (np.column_stack([effects, thresholds[levels + step]]) for step in (1, 0))
    ends = np.where(levels == last, np.inf, 0), np.where(levels == 0, -np.inf, 0)

    def at(point: np.ndarray) -> tuple:
        a, b = (expit(side @ point + end) for side, end in zip((upper, lower), ends, strict=True))
        share, of_a, of_b = a - b, a * (1 - a), b * (1 - b)
        score = (of_a[:, None] * upper - of_b[:, None] * lower) / share[:, None]
        bend = upper.T @ ((weights * of_a * (1 - 2 * a) / share)[:, None] * upper)
        bend = bend - lower.T @ ((weights * of_b * (1 - 2 * b) / share)[:, None] * lower)
        return float(weights @ np.log(share)), score, bend - score.T @ (weights[:, None] * score)

    likelihood, score, curvature = at(point)
    for _ in range(_STEPS):
        try:
            step = -np.linalg.solve(curvature, weights @ score)
        except np.linalg.LinAlgError:
            return None
        trial = at(point + step)
        while (
            not trial[0] >= likelihood - _ROUNDING * abs(likelihood)
            and np.abs(step).max() > _SMALL_STEP
        ):
            step = step / 2
            trial = at(point + step)
        point, (likelihood, score, curvature) = point + step, trial
        if np.abs(step).max() <= _SMALL_STEP:
            return point, likelihood, score, curvature
    return None


def separated(levels: np.ndarray, groups: np.ndarray) -> bool:
    """Return whether some groups are never above a level and all others never below it: odds ratios are then infinite.

    Examples
    --------
    >>> separated(np.array([1, 2, 2, 3]), np.array(["a", "a", "b", "b"]))
    True
    >>> separated(np.array([1, 3, 2, 3]), np.array(["a", "a", "b", "b"]))
    False
    """
    by_group = pd.Series(np.asarray(levels, dtype=float)).groupby(np.asarray(groups))
    low, high = by_group.min().to_numpy(), by_group.max().to_numpy()
    for cut in np.unique(np.concatenate([low, high])):
        below, above = high <= cut, low >= cut
        # A group that has this level only may go to either side.
        if (below | above).all() and below.any() and above.any() and len(low) > 1:
            return True
    return False
