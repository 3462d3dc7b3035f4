r"""Cumulative logit model: ordered levels without distances between them.

The mixed model takes the step from poor to neutral to be as long as that from good to very good. The cumulative
logit uses only the order of the levels: each condition multiplies the odds of a higher level by one factor, the same
at every cut of the scale (*proportional odds*). It has no random effect of a person; the dependence of turns of
one person is left to the standard errors.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

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
    r"""Return statsmodels' cumulative logit model, with errors clustered by participant; None without a maximum.

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
    # Imported here: with it comes half a second of what fits no such model.
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    clusters, people = pd.factorize(np.asarray(participants))
    design = np.asarray(design, dtype=float)
    ranks, occurring = pd.factorize(np.asarray(levels), sort=True)
    width = design.shape[1]
    parameters = width + len(occurring) - 1
    if len(occurring) < 2 or len(people) < 2 or len(ranks) <= parameters:
        return None
    model = OrderedModel(ranks, design, distr="logit")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fit = model.fit(method="newton", disp=False, skip_hessian=True)
        except np.linalg.LinAlgError:
            return None
    thresholds = model.transform_threshold_params(fit.params)[1:-1]
    found = np.concatenate([fit.params[:width], thresholds])
    if not fit.mle_retvals["converged"] or np.ptp(design @ found[:width]) > _FARTHEST:
        return None
    # Its derivatives are numerical: exact ones give what every processor gives, in any order of the rows.
    scores, curvature = _derivatives(found, ranks, design)
    if not np.isfinite(curvature).all():
        return None
    found -= np.linalg.pinv(curvature) @ scores.sum(axis=0)
    scores, curvature = _derivatives(found, ranks, design)
    by_person = np.zeros((len(people), parameters))
    np.add.at(by_person, clusters, scores)
    inverse = np.linalg.pinv(curvature)
    n, m = len(ranks), len(people)
    correction = m / (m - 1) * (n - 1) / (n - parameters)
    covariance = correction * inverse @ (by_person.T @ by_person) @ inverse
    return CumulativeLogit(
        coefficients=found[:width],
        covariance=covariance[:width, :width],
        thresholds=found[width:],
        log_likelihood=fit.llf,
        participants=m,
    )


def _derivatives(
    parameters: np.ndarray, ranks: np.ndarray, design: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Score of each row, and curvature of the log-likelihood, by coefficients and thresholds."""
    width = design.shape[1]
    cuts = np.concatenate([[-np.inf], parameters[width:], [np.inf]])
    columns = np.eye(len(cuts))[:, 1:-1]
    linear = design @ parameters[:width]
    to_upper = np.column_stack([-design, columns[ranks + 1]])
    to_lower = np.column_stack([-design, columns[ranks]])
    upper, lower = expit(cuts[ranks + 1] - linear), expit(cuts[ranks] - linear)
    upper_slope = upper * (1 - upper) / (upper - lower)
    lower_slope = lower * (1 - lower) / (upper - lower)
    scores = to_upper * upper_slope[:, None] - to_lower * lower_slope[:, None]
    bend = to_upper.T * (upper_slope * (1 - 2 * upper)) @ to_upper
    bend -= to_lower.T * (lower_slope * (1 - 2 * lower)) @ to_lower
    return scores, bend - scores.T @ scores


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
    low = by_group.min().to_numpy()
    high = by_group.max().to_numpy()
    if len(low) < 2:
        return False
    for cut in np.unique(np.concatenate([low, high])):
        below = high <= cut
        above = low >= cut
        # A group that has this level only may go to either side.
        if (below | above).all() and below.any() and above.any():
            return True
    return False
