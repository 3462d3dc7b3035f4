"""Mixed model of the conditions, with its contrasts."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words
from sense7.estimators.mixed import (
    Nested,
    NestedSums,
    fit_nested,
    likelihood_ratio,
    nested_sums,
    satterthwaite,
    satterthwaite_f,
)
from sense7.estimators.multiplicity import holm
from sense7.findings.conditions.means import compared_conversations, why_not_compared
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions
from sense7.findings.conditions.rank_comparisons import TEST_KEYS
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["Contrasts", "mixed_contrasts", "prompted_minus_best_other"]


@dataclass(frozen=True, eq=False)
class Contrasts:
    """All pairs of conditions by the mixed model.

    Attributes
    ----------
    differences, p : DataFrame
        Tables of estimates, one row per pair: the difference in points, and its p value by Holm.
    shown : DataFrame
        Difference, standard error, degrees of freedom, p and p by Holm, in words.
    reason : str
        Why there are none; "" if there are.
    overall : DataFrame
        Whether the conditions differ at all: p values, the rows of ``TEST_KEYS``.
    errors, freedom : Series
        Standard error (points) and degrees of freedom (Satterthwaite) of each difference; empty if there are none.
    """

    differences: pd.DataFrame
    p: pd.DataFrame
    shown: pd.DataFrame
    reason: str
    overall: pd.DataFrame
    errors: pd.Series
    freedom: pd.Series


def mixed_contrasts(
    study: Study, rating: str = "ground_truth", *, turns: bool = False, confidence: float = 0.95
) -> Contrasts:
    r"""Test all pairs of conditions in a mixed model, with Holm's correction.

    .. math:: y = \mu_c + u_p + v_{pc} + w_{pci} + e

    Conditions are fixed; participant, participant by condition, and conversation are random; REML. Without
    ``turns`` a conversation has one value and w is the residual. t tests with Satterthwaite's degrees
    of freedom. A variance that the design can't tell from another (participant by condition, if
    nobody meets two conditions) is part of that.

    Parameters
    ----------
    study : Study
        The data.
    rating : str
        One of ``RATINGS``.
    turns : bool
        Whether the rating of each turn is the outcome (overall and dimensions only).
    confidence : float
        Of the model's intervals.

    Notes
    -----
    R: pairs(emmeans::emmeans(lmerTest::lmer), adjust='holm'), tests/reference/reference.R; differences and errors
    equal to 2e-4, Holm's p and degrees of freedom to 0.1%.
    """
    pairs = condition_pairs(study)
    unit, kind = "points (levels from 1 to 5)", "mixed model: participant, participant by condition, conversation; REML"
    groups = None
    if turns:
        frame = study.turns[study.turns[rating].notna() & study.turns["condition"].notna()]
        frame = frame.assign(y=frame[rating].astype(float))
        groups = frame["conversation"]
    else:
        frame = compared_conversations(study, rating)
    present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    reason, fit = no_pairs(study) or why_not_compared(study, rating, frame), None
    if not reason and len(present) < 2:
        reason = "only one condition has rated conversations"
    if not reason and np.ptp(frame["y"]) < 1e-9:
        reason = "the ratings do not vary"
    if not reason:
        design = np.column_stack([frame["condition"] == name for name in present]).astype(float)
        sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
        fit = fit_nested(sums)
        if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-12:
            reason = "too few conversations for the model"
    if reason:
        none = estimate_row(n=len(frame), unit=unit, method=kind, reason=reason)
        differences, p = (estimate_table(dict.fromkeys(pairs, none | {"unit": of}), "pair") for of in (unit, "p value"))
        overall = estimate_table(dict.fromkeys(TEST_KEYS, none | {"unit": "p value"}), "test")
        empty = pd.Series(dtype=float)
        return Contrasts(differences, p, pd.DataFrame(), reason, overall, empty, empty)
    known = {name: pair for name, pair in pairs.items() if set(pair) <= set(present)}
    weights = np.zeros((len(known), len(present)))
    for row, (first, second) in enumerate(known.values()):
        weights[row, [present.index(first), present.index(second)]] = 1, -1
    estimates = weights @ fit.coefficients
    errors = np.sqrt(np.einsum("ci,ij,cj->c", weights, fit.covariance, weights))
    freedom = np.clip(satterthwaite(sums, fit, weights), 1, None)
    p = 2 * stats.t.sf(np.abs(estimates / errors), freedom)
    adjusted = holm(p)
    width = errors * stats.t.ppf((1 + confidence) / 2, freedom)
    interval = f"{confidence:.0%} interval of the model (t), participants as random effects"
    differences, tests, shown = {}, {}, {}
    for row, name in enumerate(known):
        differences[name] = estimate_row(
            estimates[row],
            estimates[row] - width[row],
            estimates[row] + width[row],
            n=len(frame),
            unit=unit,
            method=f"{kind}; {interval}",
        )
        tests[name] = estimate_row(
            adjusted[row],
            n=len(frame),
            unit="p value",
            method=f"{kind}; t test with {freedom[row]:.1f} degrees of freedom, "
            f"Holm over {count_of(len(known), 'pair')}",
        )
        shown[name] = {
            "difference": f"{estimates[row]:z.3f}",
            "standard error": f"{errors[row]:.3f}",
            "degrees of freedom": f"{freedom[row]:.1f}",
            "p": p_in_words(p[row]),
            "p (Holm)": p_in_words(adjusted[row]),
        }
    return Contrasts(
        estimate_table(differences, "pair"),
        estimate_table(tests, "pair"),
        pd.DataFrame.from_dict(shown, orient="index").rename_axis("pair"),
        "",
        _any_difference(sums, fit, len(frame), kind),
        pd.Series(errors, index=list(known)),
        pd.Series(freedom, index=list(known)),
    )


def _any_difference(sums: NestedSums, fit: Nested, n: int, kind: str) -> pd.DataFrame:
    """Test whether all conditions are alike: by F, and by the ratio of the likelihoods with and without them."""
    conditions = len(fit.coefficients)
    f, freedom, p = satterthwaite_f(sums, fit, np.eye(conditions)[1:] - np.eye(conditions)[0])
    chi, degrees, p_of_ratio = likelihood_ratio(
        fit_nested(sums, restricted=False),
        fit_nested(replace(sums, design=np.ones((len(sums.design), 1))), restricted=False),
    )
    common, why = {"n": n, "unit": "p value"}, "too few participants and conversations for a test"
    words = {
        "F test": (p, f"{kind}; F = {f:z.2f} on {conditions - 1} and {freedom:.1f} degrees of freedom (Satterthwaite)"),
        "likelihood ratio": (
            p_of_ratio,
            f"{kind.replace('REML', 'ML')}; chi squared = {chi:z.2f} on {count_of(degrees, 'degree')} of freedom",
        ),
    }
    rows = {
        name: estimate_row(value, **common, method=method)
        if np.isfinite(value)
        else estimate_row(**common, method=kind, reason=why)
        for name, (value, method) in words.items()
    }
    return estimate_table(rows, "test")


def prompted_minus_best_other(study: Study, contrasts: Contrasts, confidence: float = 0.95) -> dict:
    r"""Prompted condition minus the best of the others, in the mixed model: the smallest of its differences.

    .. math:: \min_k \hat\delta_k, \quad \left[\min_k (\hat\delta_k - t_{k, 1 - \alpha/2}\, SE_k),\;
              \min_k (\hat\delta_k + t_{k, 1 - \alpha/(2m)}\, SE_k)\right]

    with :math:`\hat\delta_k` the prompted condition's mean minus that of the other condition k of m, and
    :math:`\alpha` one minus the confidence. The interval lies above zero only if each of the differences does, each
    tested at the full level: an intersection-union test, which needs no correction for the number of conditions.
    The upper limit has Bonferroni's, so that the interval holds the smallest true difference with at least the
    confidence.

    Parameters
    ----------
    study : Study
        The data; it says which condition is prompted.
    contrasts : Contrasts
        As :func:`mixed_contrasts` returns them for this study.
    confidence : float
        Of the interval.

    Returns
    -------
    dict
        A row of estimates: estimate, low, high (points; positive: the prompted condition is rated higher than every
        other), n (conversations), unit, method, reason. Conditions without a rated conversation are left out.

    References
    ----------
    Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 295-300.
    """
    prompted, table = study.prompted_condition, contrasts.differences
    unit, method = (
        "points (levels from 1 to 5)",
        "mixed model: smallest difference of the prompted condition from another",
    )
    n = int(table["n"].max()) if len(table) else 0
    reason = contrasts.reason
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    rows = [name for name, pair in condition_pairs(study).items() if pair[0] == prompted and name in contrasts.errors]
    if not reason and not rows:
        reason = "no rated conversation in the prompted condition, or in any other"
    if reason:
        return estimate_row(n=n, unit=unit, method=method, reason=reason)
    estimates, errors = table.loc[rows, "estimate"].to_numpy(dtype=float), contrasts.errors[rows].to_numpy()
    freedom, tail = contrasts.freedom[rows].to_numpy(), (1 - confidence) / 2
    low = (estimates - stats.t.ppf(1 - tail, freedom) * errors).min()
    high = (estimates + stats.t.ppf(1 - tail / len(rows), freedom) * errors).min()
    method += (
        f", of {count_of(len(rows), 'difference')}; {confidence:.0%} interval of the model (t): smallest lower limit "
        "(intersection-union), smallest upper limit (Bonferroni)"
    )
    return estimate_row(estimates.min(), low, high, n=n, unit=unit, method=method)


check_arguments(globals())
