"""One factor for each group of the taxonomy compared with one factor for all."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.alpha import covariances_from_sums, moments_by_participant
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.estimators.factor import FIT_INDICES, OneFactor, fit_one_factor, indices_of
from sense7.estimators.group_factors import GroupFactorModel, GroupFactors, fit_group_factors
from sense7.estimators.item_analysis import correlations_from_covariances, joined, lacking_items, too_few, usable
from sense7.estimators.nested_covariances import nested_moments, within_covariances
from sense7.findings.structure.one_factor import FEWEST_UNITS, ITEMS_FOR_A_TEST
from sense7.taxonomy import DIMENSIONS
from sense7.terminal import count_of

__all__ = ["comparison", "fit_of_models"]

GROUPS = {dimension.name: dimension.group for dimension in DIMENSIONS}
"""Dimension -> its group in the taxonomy."""

MODELS = ("one factor", "a factor for each group")

_FIT_ROWS = tuple(f"{model}: {index}" for model in MODELS for index in FIT_INDICES)
"""Rows of :func:`fit_of_models`."""

_FIT = {
    "turn": """
        group_factors_turn_chisq group_factors_turn_df group_factors_turn_cfi group_factors_turn_tli
        group_factors_turn_rmsea group_factors_turn_srmr group_factors_turn_log_likelihood group_factors_turn_aic
        group_factors_turn_bic
    """,
    "within": """
        one_factor_within_chisq one_factor_within_df one_factor_within_cfi one_factor_within_tli
        one_factor_within_rmsea one_factor_within_srmr one_factor_within_log_likelihood one_factor_within_aic
        one_factor_within_bic
        group_factors_within_chisq group_factors_within_df group_factors_within_cfi group_factors_within_tli
        group_factors_within_rmsea group_factors_within_srmr group_factors_within_log_likelihood
        group_factors_within_aic group_factors_within_bic
    """,
    "post": """
        group_factors_post_chisq group_factors_post_df group_factors_post_cfi group_factors_post_tli
        group_factors_post_rmsea group_factors_post_srmr group_factors_post_log_likelihood group_factors_post_aic
        group_factors_post_bic
    """,
}
"""Ratings -> keys of :func:`fit_of_models`, of its last rows: one factor per turn and after the conversation has its
keys from :func:`sense7.findings.structure.one_factor.fit_indices`."""

_PAIRS = {
    "correlation of affective and cognitive": ("affective", "cognitive"),
    "correlation of affective and motivational": ("affective", "motivational"),
    "correlation of cognitive and motivational": ("cognitive", "motivational"),
}
"""Rows of :func:`comparison` -> groups whose factors are correlated."""

_UNITS = {
    "likelihood ratio": "chi-square",
    "BIC of the groups minus that of one factor": "BIC",
    "p of one factor": "p value",
    **dict.fromkeys(_PAIRS, "correlation"),
}
"""Rows of :func:`comparison` -> unit."""

_COMPARISON = {
    "turn": """
        group_factors_turn_likelihood_ratio group_factors_turn_bic_difference group_factors_turn_p
        group_factors_turn_correlation_affective_cognitive group_factors_turn_correlation_affective_motivational
        group_factors_turn_correlation_cognitive_motivational
    """,
    "within": """
        group_factors_within_likelihood_ratio group_factors_within_bic_difference group_factors_within_p
        group_factors_within_correlation_affective_cognitive group_factors_within_correlation_affective_motivational
        group_factors_within_correlation_cognitive_motivational
    """,
    "post": """
        group_factors_post_likelihood_ratio group_factors_post_bic_difference group_factors_post_p
        group_factors_post_correlation_affective_cognitive group_factors_post_correlation_affective_motivational
        group_factors_post_correlation_cognitive_motivational
    """,
}
"""Ratings -> keys of :func:`comparison`, in the order of its rows."""

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
    level = "covariances within conversations, " if within else ""
    return f"maximum likelihood, {level}listwise, {count_of(used.shape[1], 'item')}{note}"


def fit_of_models(ratings: pd.DataFrame, *, within: bool = False, recorded_as: str = "") -> pd.DataFrame:
    """Return how well one factor fits, and how well one factor for each group of the taxonomy does, listwise.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant, or by participant and conversation. Columns are dimensions; those never rated or
        without variation are left out.
    within : bool
        Whether to take the covariances within conversations
        (:func:`sense7.estimators.nested_covariances.within_covariances`). The index holds the conversation then, and n
        is the number of turns less that of conversations.
    recorded_as : {"turn", "within", "post", ""}
        Whose keys the rows get: those of the ratings per turn, within conversations, or after the conversation; ""
        for no keys.

    Returns
    -------
    DataFrame
        One row per model and index: estimate, n, unit, method, reason. The indices are those
        of :func:`sense7.findings.structure.one_factor.fit_indices`. There are no intervals: resampling inflates misfit.
    """
    used, note, model, reason = _prepared(ratings, within)
    n, method = _units(used, within), _method(used, note, within)
    indices = {} if model is None else _indices_of_models(used, n, model, within, both=not reason)
    about = joined("no interval: resampling inflates misfit", lacking_items(used, note))
    rows = {}
    for name in _FIT_ROWS:
        model_name, index = name.split(": ")
        value = indices.get(model_name, {}).get(index, np.nan)
        why = about if np.isfinite(value) else _UNDEFINED if model_name in indices else reason
        rows[name] = estimate_row(value, n=n, unit=index, method=method, reason=why)
    keys = _FIT.get(recorded_as, "")
    return estimate_table(rows, "model and index", keys_of_rows(_FIT_ROWS[-len(keys.split()) :], keys))


def _indices_of_models(
    used: pd.DataFrame, n: int, model: GroupFactorModel, within: bool, *, both: bool
) -> dict[str, dict[str, float]]:
    """Fit indices of one factor and, unless that is the same model, of one for each group."""
    moments, _, covariances_of = _moments(used, within)
    # By maximum likelihood: divided by the number of units, of which the pooled covariances lose none.
    covariances = covariances_of(moments.sum(axis=0)) * (1 if within else (n - 1) / n)
    correlations = correlations_from_covariances(covariances)
    one = fit_one_factor(correlations)
    fits = {"one factor": (one.discrepancy, np.outer(one.loadings, one.loadings), 2 * used.shape[1])}
    if both:
        fit = fit_group_factors(correlations, [GROUPS[name] for name in used])
        spread = fit.correlations[model.code[:, None], model.code[None, :]]
        fits["a factor for each group"] = fit.discrepancy, np.outer(fit.loadings, fit.loadings) * spread, model.size
    return {
        name: indices_of(covariances, n, float(discrepancy), implied, parameters=size)
        for name, (discrepancy, implied, size) in fits.items()
    }


def comparison(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, within: bool = False, recorded_as: str = ""
) -> pd.DataFrame:
    r"""Return the comparison of one factor for each group of the taxonomy with one factor for all, listwise.

    The likelihood ratio is n times the difference of the two discrepancies. It takes units as independent, and so does
    the difference of BIC. The p value does not: with d the q departures of the factors' correlations from those of one
    factor (see the head of this module), and V their covariance by leaving out each of m participants in turn,

    .. math:: d^\top V^{-1} d \; \frac{m - q}{q (m - 1)} \sim F_{q, m - q}

    if one factor is right. Intervals of the correlations are t intervals with the same kind of error.

    Parameters
    ----------
    ratings, within, recorded_as
        As for :func:`fit_of_models`.
    bootstrap : ParticipantBootstrap
        Of the participants.

    Returns
    -------
    DataFrame
        Rows likelihood ratio, difference of BIC, p of one factor, and the correlation of each two factors: estimate,
        low, high, n, unit, method, reason.

    References
    ----------
    Hotelling, H. (1931). Annals of Mathematical Statistics 2, 360-378 (the distribution of the test).
    """
    used, note, model, reason = _prepared(ratings, within)
    n, method = _units(used, within), _method(used, note, within)
    keys = keys_of_rows(_UNITS, _COMPARISON.get(recorded_as, ""))
    if reason:
        rows = {
            name: estimate_row(n=n, unit=unit, method=method, reason=_no_pair(name, used) or reason)
            for name, unit in _UNITS.items()
        }
        return estimate_table(rows, "comparison", keys)
    fits = _fits_without_each(used, bootstrap, within)
    common, lacking = {"n": n, "method": method}, lacking_items(used, note)
    rows = _test_rows(fits, model, common, lacking)
    for name in _PAIRS:
        if why := _no_pair(name, used):
            rows[name] = estimate_row(**common, unit=_UNITS[name], reason=why)
        else:
            rows[name] = _correlation_row(name, fits, bootstrap, common, lacking)
    return estimate_table(rows, "comparison", keys)


class _Fits(NamedTuple):
    """One factor of all data; one factor for each group, of all data and then without each participant; these."""

    one: OneFactor
    groups: GroupFactors
    people: pd.Index


def _fits_without_each(used: pd.DataFrame, bootstrap: ParticipantBootstrap, within: bool) -> _Fits:
    moments, people, covariances_of = _moments(used, within)
    left_out = bootstrap.without_each(lambda sums: sums, moments, people)
    sums = np.concatenate([moments.sum(axis=0)[None], left_out])
    correlations = correlations_from_covariances(covariances_of(sums))
    groups = fit_group_factors(correlations, [GROUPS[name] for name in used])
    return _Fits(fit_one_factor(correlations[0]), groups, people)


def _test_rows(fits: _Fits, model: GroupFactorModel, common: dict, lacking: str) -> dict[str, dict]:
    """Likelihood ratio, difference of BIC, and p value."""
    ratio = common["n"] * float(fits.one.discrepancy - fits.groups.discrepancy[0])
    penalty = model.constraints * np.log(common["n"])
    undefined = "" if np.isfinite(ratio) else _UNDEFINED
    no_interval = undefined or joined("no interval: units are taken as independent", lacking)
    p, no_p, test = _p(model, fits.groups, len(fits.people))
    no_p = undefined or no_p or lacking
    with_test = common | {"method": f"{common['method']}; {test}"}
    return {
        "likelihood ratio": estimate_row(ratio, **common, unit="chi-square", reason=no_interval),
        "BIC of the groups minus that of one factor": estimate_row(
            penalty - ratio, **common, unit="BIC", reason=no_interval
        ),
        "p of one factor": estimate_row(p, **with_test, unit="p value", reason=no_p),
    }


def _correlation_row(name: str, fits: _Fits, bootstrap: ParticipantBootstrap, common: dict, lacking: str) -> dict:
    """Correlation of two groups' factors, with its t interval."""
    first, second = (fits.groups.groups.index(group) for group in _PAIRS[name])
    values = fits.groups.correlations[:, first, second]
    # The statistic returns what is fitted already, so that the rules of an interval are applied once.
    estimate = bootstrap.estimate(
        lambda sums: values[1:] if sums.ndim > 1 else values[0],
        np.ones((len(fits.people), 1)),
        fits.people,
        OWN_SCALE,
    )
    how = bootstrap.describe(OWN_SCALE)
    row = bootstrap.row(estimate, **common, unit=_UNITS[name], undefined=_UNDEFINED, how=how)
    return row | {"reason": joined(row["reason"], lacking)}


def _no_pair(name: str, used: pd.DataFrame) -> str:
    """Why the correlation of two groups has no value: a group without ratings."""
    present = {GROUPS[column] for column in used}
    missing = [group for group in _PAIRS.get(name, ()) if group not in present]
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
