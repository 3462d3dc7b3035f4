"""Mixed model of the conditions, with its contrasts."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.estimates import estimate_row, estimate_table, holm, p_in_words
from sense7.estimators.mixed import (
    Nested,
    NestedSums,
    fit_nested,
    nested_sums,
    satterthwaite,
    satterthwaite_f,
)
from sense7.findings.conditions.means import compared_conversations, why_not_compared
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions, pairs_in_keys
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["Contrasts", "mixed_contrasts", "p_values_in_words", "prompted_minus_best_other"]

_POINTS = "points (levels from 1 to 5)"
_MODEL = "mixed model: participant, participant by condition, conversation; REML"
_TESTS = {"F test": "condition_p_f_test"}
"""Test of all conditions at once -> key."""


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
        Whether the conditions differ at all: the p value of the ``F test``.
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
    r"""Return tests of all pairs of conditions in a mixed model, with Holm's correction.

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
    frame, groups = _model_frame(study, rating, turns=turns)
    present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    recorded = rating == "ground_truth"
    if reason := no_pairs(study) or why_not_compared(study, rating, frame) or _why_no_model(frame, present):
        return _no_contrasts(study, len(frame), reason, recorded=recorded)
    design = np.column_stack([frame["condition"] == name for name in present]).astype(float)
    sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
    fit = fit_nested(sums)
    if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-12:
        return _no_contrasts(study, len(frame), "too few conversations for the model", recorded=recorded)
    pairs = _tested_pairs(study, sums, fit, present, confidence)
    interval = f"{confidence:.0%} interval of the model (t), participants as random effects"
    differences, tests = {}, {}
    for name, pair in pairs.iterrows():
        limits = pair["difference"] - pair["half"], pair["difference"] + pair["half"]
        method = f"{_MODEL}; {interval}"
        differences[name] = estimate_row(pair["difference"], *limits, n=len(frame), unit=_POINTS, method=method)
        method = (
            f"{_MODEL}; t test with {pair['freedom']:.1f} degrees of freedom, Holm over {count_of(len(pairs), 'pair')}"
        )
        tests[name] = estimate_row(pair["p_holm"], n=len(frame), unit="p value", method=method)
    return Contrasts(
        *_pair_tables(study, differences, tests, recorded=recorded),
        _shown(pairs),
        "",
        _any_difference(sums, fit, len(frame), recorded=recorded),
        pairs["error"],
        pairs["freedom"],
    )


def _why_no_model(frame: pd.DataFrame, present: list[str]) -> str:
    if len(present) < 2:
        return "only one condition has rated conversations"
    return "the ratings do not vary" if np.ptp(frame["y"]) < 1e-9 else ""


def _tested_pairs(study: Study, sums: NestedSums, fit: Nested, present: list[str], confidence: float) -> pd.DataFrame:
    """Difference of each pair of conditions, its error, degrees of freedom, p values and half the interval."""
    known = {name: pair for name, pair in condition_pairs(study).items() if set(pair) <= set(present)}
    weights = np.array([[(one == a) - float(one == b) for one in present] for a, b in known.values()])
    pairs = pd.DataFrame(index=pd.Index(list(known), name="pair"))
    pairs["difference"] = weights @ fit.coefficients
    pairs["error"] = np.sqrt(np.einsum("ci,ij,cj->c", weights, fit.covariance, weights))
    pairs["freedom"] = np.clip(satterthwaite(sums, fit, weights), 1, None)
    pairs["p"] = 2 * stats.t.sf(np.abs(pairs["difference"] / pairs["error"]), pairs["freedom"])
    pairs["p_holm"] = holm(pairs["p"].to_numpy())
    pairs["half"] = pairs["error"] * stats.t.ppf((1 + confidence) / 2, pairs["freedom"])
    return pairs


def _model_frame(study: Study, rating: str, *, turns: bool) -> tuple[pd.DataFrame, pd.Series | None]:
    """Rows of the model with the outcome as ``y``, and their conversations if a conversation has several rows."""
    if not turns:
        return compared_conversations(study, rating), None
    frame = study.turns[study.turns[rating].notna() & study.turns["condition"].notna()]
    frame = frame.assign(y=frame[rating].astype(float))
    return frame, frame["conversation"]


def _pair_tables(study: Study, differences: dict, tests: dict, *, recorded: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of the differences and of their p values by Holm."""
    pairs = pairs_in_keys(study) if recorded else {}
    return (
        estimate_table(
            differences, "pair", {name: f"condition_model_difference_{pair}" for name, pair in pairs.items()}
        ),
        estimate_table(tests, "pair", {name: f"condition_p_holm_{pair}" for name, pair in pairs.items()}),
    )


def _no_contrasts(study: Study, n: int, reason: str, *, recorded: bool) -> Contrasts:
    """Contrasts without estimates, and the reason in every row."""
    none = estimate_row(n=n, unit=_POINTS, method=_MODEL, reason=reason)
    no_p = none | {"unit": "p value"}
    pairs = condition_pairs(study)
    tables = _pair_tables(study, dict.fromkeys(pairs, none), dict.fromkeys(pairs, no_p), recorded=recorded)
    overall = estimate_table(dict.fromkeys(_TESTS, no_p), "test", _TESTS if recorded else None)
    empty = pd.Series(dtype=float)
    return Contrasts(*tables, pd.DataFrame(), reason, overall, empty, empty)


def _shown(pairs: pd.DataFrame) -> pd.DataFrame:
    """The contrasts in words."""
    columns = {
        "difference": pairs["difference"].map("{:z.3f}".format),
        "standard error": pairs["error"].map("{:.3f}".format),
        "degrees of freedom": pairs["freedom"].map("{:.1f}".format),
        "p": pairs["p"].map(p_in_words),
        "p (Holm)": pairs["p_holm"].map(p_in_words),
    }
    return pd.DataFrame(columns)


def _any_difference(sums: NestedSums, fit: Nested, n: int, *, recorded: bool) -> pd.DataFrame:
    """P value of all conditions being alike, by F."""
    conditions = len(fit.coefficients)
    f, freedom, p = satterthwaite_f(sums, fit, np.eye(conditions)[1:] - np.eye(conditions)[0])
    common = {"n": n, "unit": "p value"}
    row = estimate_row(**common, method=_MODEL, reason="too few participants and conversations for a test")
    if np.isfinite(p):
        words = f"F = {f:z.2f} on {conditions - 1} and {freedom:.1f} degrees of freedom (Satterthwaite)"
        row = estimate_row(p, **common, method=f"{_MODEL}; {words}")
    return estimate_table({"F test": row}, "test", _TESTS if recorded else None)


def p_values_in_words(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the p values of a table of estimates in words: p, n, method, and a note where there is none."""
    shown = pd.DataFrame(
        {"p": tests["estimate"].map(p_in_words), "n": tests["n"], "method": tests["method"], "note": tests["reason"]}
    )
    return shown if shown["note"].any() else shown.drop(columns="note")


def prompted_minus_best_other(study: Study, contrasts: Contrasts, confidence: float = 0.95) -> dict:
    r"""Return the prompted condition minus the best of the others, in the mixed model: its smallest difference.

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
    common = {"unit": _POINTS, "key": "prompted_minus_best_other"}
    method = "mixed model: smallest difference of the prompted condition from another"
    n = int(table["n"].max()) if len(table) else 0
    reason = contrasts.reason
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    rows = [name for name, pair in condition_pairs(study).items() if pair[0] == prompted and name in contrasts.errors]
    if not reason and not rows:
        reason = "no rated conversation in the prompted condition, or in any other"
    if reason:
        return estimate_row(n=n, **common, method=method, reason=reason)
    estimates, errors = table.loc[rows, "estimate"].to_numpy(dtype=float), contrasts.errors[rows].to_numpy()
    freedom, tail = contrasts.freedom[rows].to_numpy(), (1 - confidence) / 2
    low = (estimates - stats.t.ppf(1 - tail, freedom) * errors).min()
    high = (estimates + stats.t.ppf(1 - tail / len(rows), freedom) * errors).min()
    method += (
        f", of {count_of(len(rows), 'difference')}; {confidence:.0%} interval of the model (t): smallest lower limit "
        "(intersection-union), smallest upper limit (Bonferroni)"
    )
    return estimate_row(estimates.min(), low, high, n=n, **common, method=method)


check_arguments(globals())
