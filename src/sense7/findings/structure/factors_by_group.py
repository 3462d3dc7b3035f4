"""One factor for each group of the taxonomy against one for all."""

import itertools

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.factor import fit_one_factor, indices_of
from sense7.estimators.group_factors import GroupFactorModel, GroupFactors, fit_group_factors
from sense7.estimators.item_analysis import correlations_from_covariances, joined, lacking_items, too_few, usable
from sense7.estimators.nested_covariances import nested_moments, within_covariances
from sense7.findings.structure.one_factor import FEWEST_UNITS, FIT_KEYS, ITEMS_FOR_A_TEST
from sense7.taxonomy import DIMENSIONS
from sense7.terminal import count_of

__all__ = ["COMPARISON_KEYS", "FIT_KEYS_OF_MODELS", "GROUPS", "comparison", "fit_of_models"]

GROUPS = {dimension.name: dimension.group for dimension in DIMENSIONS}
"""Dimension -> its group in the taxonomy."""

_NAMES = tuple(dict.fromkeys(GROUPS.values()))
_PAIRS = tuple(itertools.combinations(_NAMES, 2))
MODELS = {"one factor": "one_factor", "a factor for each group": "group_factors"}

FIT_KEYS_OF_MODELS = {
    f"{model}: {index}": f"{key}_{{}}_{end}" for model, key in MODELS.items() for index, end in FIT_KEYS.items()
}
"""Rows of :func:`fit_of_models` -> pattern of their keys, ``{}`` standing for the ratings."""

COMPARISON_KEYS = {
    "likelihood ratio": "group_factors_{}_likelihood_ratio",
    "BIC of the groups minus that of one factor": "group_factors_{}_bic_difference",
    "p of one factor": "group_factors_{}_p",
    **{f"correlation of {a} and {b}": f"group_factors_{{}}_correlation_{a}_{b}" for a, b in _PAIRS},
}
"""Rows of :func:`comparison` -> pattern of their keys."""
_ALIKE = (
    "the groups that were rated are no other model than one factor: this needs two groups of several dimensions, or "
    "one of them and two further groups"
)
_UNDEFINED = "no factor model can be fitted: some of the ratings are the same, or sums of others"


def _moments(ratings: pd.DataFrame, within: bool):
    """Sums by participant, the participants, and how correlations come from the sums."""
    if within:
        moments, people = nested_moments(ratings)
        return moments, people, within_covariances
    moments, people = moments_by_participant(ratings.to_numpy(dtype=float), ratings.index.get_level_values(0))
    return moments, people, covariances_from_sums


def _units(ratings: pd.DataFrame, within: bool) -> int:
    """Independent units: units, or within conversations the units less the conversations."""
    return len(ratings) - (ratings.index.get_level_values(1).nunique() if within else 0)


def _prepared(ratings: pd.DataFrame, within: bool) -> tuple[pd.DataFrame, str, GroupFactorModel | None, str]:
    """Units used, what was left out, the model (none if not even one factor can be fitted), and why there is none."""
    used, note = usable(ratings)
    units = _units(used, within)
    if not (reason := too_few(used, ITEMS_FOR_A_TEST, FEWEST_UNITS)) and units < FEWEST_UNITS:
        reason = f"turns beyond the first of their conversation: {units}; this needs {FEWEST_UNITS}"
    if reason:
        return used, note, None, reason
    model = GroupFactorModel([GROUPS[name] for name in used])
    return used, note, model, "" if model.constraints > 0 else _ALIKE


def _method(used: pd.DataFrame, note: str, within: bool) -> str:
    where = "covariances within conversations, " if within else ""
    return f"maximum likelihood, {where}listwise, {count_of(used.shape[1], 'item')}{note}"


def fit_of_models(ratings: pd.DataFrame, *, within: bool = False) -> pd.DataFrame:
    """How well one factor fits, and how well one factor for each group of the taxonomy does, listwise.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant, or by participant and conversation. Columns are dimensions; those never rated or
        without variation are left out.
    within : bool
        Whether to take the covariances within conversations
        (:func:`sense7.estimators.nested_covariances.within_covariances`). The index holds the conversation then, and n
        is the number of turns less that of conversations.

    Returns
    -------
    DataFrame
        One row per model and index (``FIT_KEYS_OF_MODELS``): estimate, n, unit, method, reason. The indices are those
        of :func:`sense7.findings.structure.one_factor.fit_indices`. There are no intervals: resampling inflates misfit.
    """
    used, note, model, reason = _prepared(ratings, within)
    n, k, fits = _units(used, within), used.shape[1], {}
    if model is not None:
        moments, _, of = _moments(used, within)
        # By maximum likelihood: divided by the number of units, of which the pooled covariances lose none.
        covariances = of(moments.sum(axis=0)) * (1 if within else (n - 1) / n)
        correlations = correlations_from_covariances(covariances)
        one = fit_one_factor(correlations)
        fits["one factor"] = float(one.discrepancy), np.outer(one.loadings, one.loadings), 2 * k
    if model is not None and not reason:
        fit = fit_group_factors(correlations, [GROUPS[name] for name in used])
        spread = fit.correlations[model.code[:, None], model.code[None, :]]
        implied = np.outer(fit.loadings, fit.loadings) * spread
        fits["a factor for each group"] = float(fit.discrepancy), implied, model.size
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    method, rows = _method(used, note, within), {}
    for name in FIT_KEYS_OF_MODELS:
        which, index = name.split(": ")
        found = dict.fromkeys(FIT_KEYS, np.nan)
        if which in fits:
            discrepancy, implied, size = fits[which]
            found = indices_of(covariances, n, discrepancy, implied, parameters=size)
        why = about if np.isfinite(found[index]) else _UNDEFINED if which in fits else reason
        rows[name] = estimate_row(found[index], n=n, unit=index, method=method, reason=why)
    return estimate_table(rows, "model and index")


def comparison(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, within: bool = False) -> pd.DataFrame:
    r"""One factor for each group of the taxonomy compared with one factor for all, listwise.

    The likelihood ratio is n times the difference of the two discrepancies. It takes units as independent, and so does
    the difference of BIC. The p value does not: with d the q departures of the factors' correlations from those of one
    factor (see the head of this module), and V their covariance by leaving out each of m participants in turn,

    .. math:: d^\top V^{-1} d \; \frac{m - q}{q (m - 1)} \sim F_{q, m - q}

    if one factor is right. Intervals of the correlations are t intervals with the same kind of error.

    Parameters
    ----------
    ratings, within
        As for :func:`fit_of_models`.
    bootstrap : ParticipantBootstrap
        Of the participants.

    Returns
    -------
    DataFrame
        One row per entry of ``COMPARISON_KEYS``: estimate, low, high, n, unit, method, reason.

    References
    ----------
    Hotelling, H. (1931). Annals of Mathematical Statistics 2, 360-378 (the distribution of the test).
    """
    used, note, model, reason = _prepared(ratings, within)
    method, n = _method(used, note, within), _units(used, within)
    if reason:
        rows = {
            name: estimate_row(n=n, unit=_unit(name), method=method, reason=_no_pair(name, used) or reason)
            for name in COMPARISON_KEYS
        }
        return estimate_table(rows, "comparison")
    moments, people, of = _moments(used, within)
    groups = [GROUPS[name] for name in used]
    sums = moments.sum(axis=0)
    left_out = bootstrap.without_each(lambda sums: sums, moments, people)
    correlations = correlations_from_covariances(of(np.concatenate([sums[None], left_out])))
    fit, one = fit_group_factors(correlations, groups), fit_one_factor(correlations[0])
    ratio = n * float(one.discrepancy - fit.discrepancy[0])
    undefined = "" if np.isfinite(ratio) else _UNDEFINED
    lacking, none = lacking_items(used, note), "no interval: units are taken as independent"
    penalty = model.constraints * np.log(n)
    rows = {}
    for name, value in zip(COMPARISON_KEYS, (ratio, penalty - ratio), strict=False):
        why = undefined or joined(none, lacking)
        rows[name] = estimate_row(value, n=n, unit=_unit(name), method=method, reason=why)
    p, why, how = _p(model, fit, len(people))
    rows["p of one factor"] = estimate_row(
        p, n=n, unit="p value", method=f"{method}; {how}", reason=undefined or joined(why, "" if why else lacking)
    )
    for name, (a, b) in zip(list(COMPARISON_KEYS)[3:], _PAIRS, strict=True):
        if why := _no_pair(name, used):
            rows[name] = estimate_row(n=n, unit=_unit(name), method=method, reason=why)
            continue
        values = fit.correlations[:, fit.groups.index(a), fit.groups.index(b)]
        # What is fitted already takes the place of the statistic, so that the rules of an interval stand in one place.
        found = bootstrap.estimate(
            lambda sums, values=values: values[1:] if sums.ndim > 1 else values[0],
            np.ones((len(people), 1)),
            people,
            OWN_SCALE,
        )
        row = bootstrap.row(
            found, n=n, unit=_unit(name), method=method, undefined=_UNDEFINED, how=bootstrap.describe(OWN_SCALE)
        )
        rows[name] = row | {"reason": joined(row["reason"], lacking)}
    return estimate_table(rows, "comparison")


def _unit(name: str) -> str:
    units = {"p of one factor": "p value", "likelihood ratio": "chi-square"}
    return units.get(name, "correlation" if name.startswith("correlation") else "BIC")


def _no_pair(name: str, used: pd.DataFrame) -> str:
    """Why the correlation of two groups has no value: a group without ratings."""
    present = {GROUPS[column] for column in used}
    pair = name.removeprefix("correlation of ").split(" and ") if name.startswith("correlation") else []
    missing = [group for group in pair if group not in present]
    return f"no dimension of this group was rated, or varies: {', '.join(missing)}" if missing else ""


def _p(model: GroupFactorModel, fit: GroupFactors, people: int) -> tuple[float, str, str]:
    """P value of one factor, why there is none, and how it was computed."""
    q = model.constraints
    how = f"test of {count_of(q, 'departure')}, covariance by leaving out each participant in turn"
    departures = model.departures(fit.correlations)
    if people <= q + 2:
        return np.nan, f"no test: only {count_of(people, 'participant')}", how
    if not np.isfinite(departures).all():
        without = np.count_nonzero(~np.isfinite(departures[1:]).all(axis=1))
        return np.nan, f"no test: undefined without {without} of the {count_of(people, 'participant')}", how
    spread = departures[1:] - departures[1:].mean(axis=0)
    covariance = (people - 1) / people * spread.T @ spread
    if np.linalg.eigvalsh(covariance)[0] <= 1e-14:
        return np.nan, "no test: leaving out a participant changes nothing", how
    statistic = float(departures[0] @ np.linalg.solve(covariance, departures[0]))
    return float(stats.f.sf(statistic * (people - q) / (q * (people - 1)), q, people - q)), "", how


check_arguments(globals())
