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
    ranks, occurring = pd.factorize(np.asarray(levels), sort=True)
    width = design.shape[1]
    parameters = width + len(occurring) - 1
    if len(occurring) < 2 or len(people) < 2 or len(ranks) <= parameters:
        return None
    # Derivatives are numerical: in another order of the rows the tenth digit would differ.
    order = np.lexsort((clusters, *design.T, ranks))
    model = OrderedModel(ranks[order], design[order], distr="logit")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            groups = {"groups": clusters[order]}
            fit = model.fit(method="newton", disp=False, cov_type="cluster", cov_kwds=groups)
        except np.linalg.LinAlgError:
            return None
    coefficients = fit.params[:width]
    covariance = fit.cov_params()[:width, :width]
    is_finite = np.isfinite(coefficients).all() and np.isfinite(covariance).all()
    if not (fit.mle_retvals["converged"] and is_finite):
        return None
    if np.ptp(design @ coefficients) > _FARTHEST:
        return None
    return CumulativeLogit(
        coefficients=coefficients,
        covariance=covariance,
        thresholds=model.transform_threshold_params(fit.params)[1:-1],
        log_likelihood=fit.llf,
        participants=len(people),
    )


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
