"""Whether the dimensions measure the same in the prompted condition as in the others."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import correlations_from_covariances, covariances_from_sums, moments_by_participant, usable
from sense7.estimators.bootstrap import MOST_UNDEFINED, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.factor import ITEMS_FOR_A_FACTOR, fit_one_factor
from sense7.findings.measures import turn_ratings
from sense7.study import Study

__all__ = ["largest_loading_difference"]

FEWEST_TURNS = 20
"""Smallest number of turns, rated on every dimension, in each of the two groups."""

MOST_DRAWS = 1_000
"""Two factor models are fitted in each resample, so fewer are drawn than where sums suffice."""

_KEYS = {"largest difference": "prompted_largest_loading_difference"}


def largest_loading_difference(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the largest difference of a factor loading, prompted condition minus the others together.

    .. math:: \hat\delta_d = \hat\lambda_{d, \text{prompted}} - \hat\lambda_{d, \text{others}}, \quad
              \hat\delta_{d^*} \text{ with } d^* = \arg\max_d |\hat\delta_d|

    with :math:`\lambda` the loadings of one factor by maximum likelihood on the correlations of the turns that rate
    every dimension (:func:`sense7.estimators.factor.fit_one_factor`). The interval allows for the dimension having been
    picked as the largest: with :math:`s_d` the bootstrap standard errors and * a resample,

    .. math:: \hat\delta_{d^*} \pm c\, s_{d^*}, \quad
              c = \text{quantile of } \max_d |\hat\delta^*_d - \hat\delta_d| / s_d

    at the confidence, so that all dimensions' intervals hold their differences together. If it holds zero, no dimension
    was seen to load differently.

    Parameters
    ----------
    study : Study
        The data; it says which condition is prompted.
    bootstrap : ParticipantBootstrap
        Its first 1,000 resamples of participants.

    Returns
    -------
    DataFrame
        One row: estimate (difference of two correlations of dimension and factor), low, high, n (turns that rate every
        dimension), unit, method (which names the dimension), reason.

    Notes
    -----
    Checked against statsmodels' Factor (ml) of each group.
    """
    known = study.turns_put_to_rating["condition"].notna().to_numpy()
    ratings = turn_ratings(study)[known]
    prompted = (study.turns_put_to_rating["condition"][known] == study.prompted_condition).to_numpy()
    used, note = usable(ratings.set_axis(pd.RangeIndex(len(ratings))))
    people, prompted = ratings.index[used.index], prompted[used.index]
    method = "one factor by maximum likelihood, turns that rate every dimension"
    common = {"n": len(used), "unit": "difference of loadings", "method": method}
    reason = ""
    if study.prompted_condition is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    elif used.shape[1] < ITEMS_FOR_A_FACTOR:
        reason = f"a factor needs {ITEMS_FOR_A_FACTOR} dimensions that were rated and vary{note}"
    elif min(prompted.sum(), (~prompted).sum()) < FEWEST_TURNS:
        reason = (
            f"turns that rate every dimension: {prompted.sum()} in the prompted condition and {(~prompted).sum()} in "
            f"the others; this needs {FEWEST_TURNS} in each"
        )
    if reason:
        return estimate_table({"largest difference": estimate_row(**common, reason=reason)}, "loading", _KEYS)
    own = replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))
    parts = [
        moments_by_participant(used[group].to_numpy(dtype=float), people[group]) for group in (prompted, ~prompted)
    ]
    everyone = pd.Index(people.unique())
    moments = np.zeros((len(everyone), 2, *parts[0][0].shape[1:]))
    for group, (sums, names) in enumerate(parts):
        moments[everyone.get_indexer(names), group] = sums

    def differences(sums: np.ndarray) -> np.ndarray:
        loadings = fit_one_factor(correlations_from_covariances(covariances_from_sums(sums))).loadings
        return loadings[..., 0, :] - loadings[..., 1, :]

    estimates = differences(moments.sum(axis=0))
    if not np.isfinite(estimates).all():
        undefined = "no factor model can be fitted: some of the ratings are the same, or sums of others"
        return estimate_table({"largest difference": estimate_row(**common, reason=undefined)}, "loading", _KEYS)
    largest = int(np.abs(estimates).argmax())
    common["method"] += f"; {used.columns[largest]}, prompted condition minus the others, the largest in size"
    row = estimate_row(estimates[largest], **common, reason=own.too_few(people.to_series()))
    if not row["reason"]:
        draws = own.distribution(differences, moments, pd.Series(everyone))
        fitted = draws[np.isfinite(draws).all(axis=1)]
        errors = fitted.std(axis=0) if len(fitted) else np.zeros(len(estimates))
        if len(fitted) < (1 - MOST_UNDEFINED) * len(draws) or not (errors > 1e-9).all():
            row["reason"] = "no interval: the factor model can't be fitted in too many of the resamples"
        else:
            reach = np.quantile((np.abs(fitted - estimates) / errors).max(axis=1), own.confidence) * errors[largest]
            how = (
                f"{own.confidence:.0%} interval for all dimensions together, {own.draws:,} resamplings of participants"
            )
            words = f"{common['method']}; {how}"
            low, high = estimates[largest] - reach, estimates[largest] + reach
            row = estimate_row(estimates[largest], low, high, **common | {"method": words})
    return estimate_table({"largest difference": row}, "loading", _KEYS)


check_arguments(globals())
