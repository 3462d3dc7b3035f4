"""Conditions compared by rank tests."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words
from sense7.estimators.rank_tests import friedman, kruskal_wallis, wilcoxon
from sense7.findings.conditions.means import compared_conversations, why_not_compared
from sense7.findings.conditions.pairs import MOST_CONDITIONS, ONE_CONDITION, ordered_conditions, pair_name
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["TEST_KEYS", "p_values_in_words", "rank_tests"]

TEST_KEYS = {"F test": "condition_p_f_test", "likelihood ratio": "condition_p_likelihood_ratio"}
"""Tests of all conditions at once: row of :attr:`~sense7.findings.conditions.mixed_model.Contrasts.overall` -> key."""


def p_values_in_words(tests: pd.DataFrame) -> pd.DataFrame:
    """P values of a table of estimates in words: p, n, method, and a note where there is none."""
    shown = pd.DataFrame(
        {"p": tests["estimate"].map(p_in_words), "n": tests["n"], "method": tests["method"], "note": tests["reason"]}
    )
    return shown if shown["note"].any() else shown.drop(columns="note")


def rank_tests(study: Study, rating: str = "ground_truth") -> pd.DataFrame:
    """Rank tests on means of participants in conditions, as a description beside the mixed model.

    Friedman's and Wilcoxon's tests take participants who met all conditions, or both of a pair.
    Kruskal and Wallis' test takes the means as if each came from another person; where people
    meet several conditions, its p value is no test.

    Returns
    -------
    DataFrame
        One row per test: estimate (size of the effect), n (means, or participants), unit, method (with
        the statistic and p), reason.
    """
    frame = compared_conversations(study, rating)
    conditions = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    reason = why_not_compared(study, rating) or (ONE_CONDITION if len(conditions) < 2 else "")
    means = frame.pivot_table(index="participant", columns="condition", values="y", aggfunc="mean")
    means = means.reindex(index=frame["participant"].unique(), columns=conditions)
    rows = {}
    groups = [means[name].dropna().to_numpy() for name in conditions]
    h, p, epsilon, _ = kruskal_wallis(groups) if groups else (np.nan,) * 4
    rows["Kruskal-Wallis"] = _test_row(
        epsilon,
        sum(map(len, groups)),
        "epsilon squared",
        f"H = {h:z.2f}, p {_with_sign(p)}; n counts means of participants in conditions",
        reason or "too few means, or all are equal",
    )
    complete = means.dropna()
    chi, p, w = friedman(complete.to_numpy()) if conditions else (np.nan,) * 3
    rows["Friedman"] = _test_row(
        w,
        len(complete),
        "Kendall's W",
        f"chi squared = {chi:z.2f}, p {_with_sign(p)}; participants who met all conditions",
        reason
        or f"{count_of(len(complete), 'participant')} met all {len(conditions)} conditions: "
        "too few participants or conditions",
    )
    if conditions and conditions[0] == study.prompted_condition and len(conditions) <= MOST_CONDITIONS:
        for other in conditions[1:]:
            both = means[[conditions[0], other]].dropna()
            v, p, r = wilcoxon((both[conditions[0]] - both[other]).to_numpy())
            rows[f"Wilcoxon, {pair_name(conditions[0], other)}"] = _test_row(
                r,
                len(both),
                "rank-biserial correlation",
                f"V = {v:z.1f}, p {_with_sign(p)}; participants who met both, not corrected for the number of pairs",
                "no participant who met both rated them differently",
            )
    return estimate_table(rows, "test")


def _with_sign(p: float) -> str:
    words = p_in_words(p)
    return words if words.startswith("<") else f"= {words}"


def _test_row(effect: float, n: int, unit: str, method: str, reason: str) -> dict:
    if not np.isfinite(effect):
        return estimate_row(n=n, unit=unit, method="rank test", reason=reason)
    return estimate_row(effect, n=n, unit=unit, method=method)


check_arguments(globals())
