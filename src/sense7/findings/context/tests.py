"""Tests of the context variables."""

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, pieces
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import NEGLIGIBLE, coefficient, within
from sense7.estimators.multiplicity import holm
from sense7.estimators.order import in_order_of_appearance
from sense7.findings.context.frame import CONTEXT, MOST_DRAWS, STEPS, context_frame, not_varying, products
from sense7.findings.context.slopes import slope_model
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["context_tests"]

_TESTS = {
    "topic": "context_p_topic",
    "importance": "context_p_importance",
    "desired empathy": "context_p_desired_empathy",
    "any of the three": "context_p",
}
"""Rows of :func:`context_tests`, corrected -> keys."""

RESAMPLES_AT_ONCE = 500


def context_tests(study: Study, bootstrap: ParticipantBootstrap, *, corrected: bool = True) -> pd.DataFrame:
    """Return p values of the ratings depending on topic, importance and desired empathy, corrected for being three.

    Topic: permutation of the topics among each participant's own conversations, statistic the sum of
    squares between topics of the ratings minus the participant's mean. Importance and desired empathy: slope within
    participants by its bootstrap standard error, t with participants minus one degrees of freedom.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws, at most 2,000 permutations; seed.
    corrected : bool
        Whether the p values are Holm's, over those that can be computed.

    Returns
    -------
    DataFrame
        Rows topic, importance, desired empathy and, with Holm's, any of the three: estimate (p), n
        (conversations), unit, method, reason.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.
    """
    frame = context_frame(study)
    rows = {"topic": permutation_row(frame, bootstrap)}
    for name in STEPS:
        method = "slope within participants, t by bootstrap standard error"
        if reason := not_varying(frame, name):
            rows[CONTEXT[name]] = estimate_row(n=0, unit="p value", method=method, reason=reason)
            continue
        complete, z, _ = slope_model(frame, name, "within participants")
        rows[CONTEXT[name]] = t_row(coefficient(0), products(z), complete["participant"], bootstrap, method)
    table = estimate_table(rows, "context")
    if not corrected:
        return table
    table = with_holm(table)
    known = table[table["estimate"].notna()]
    method = "the smallest of these p values, which holds for the three together"
    reason = "" if len(known) else "none of the three can be tested in this data set"
    smallest = known["estimate"].min() if len(known) else np.nan
    rows = table.to_dict("index")
    rows["any of the three"] = estimate_row(
        smallest, n=known["n"].max() if len(known) else 0, unit="p value", method=method, reason=reason
    )
    return estimate_table(rows, "context", _TESTS)


def t_row(statistic, values, participants, bootstrap, method: str) -> dict:
    estimate = float(statistic(values.sum(axis=0)))
    p, reason = np.nan, bootstrap.too_few(participants)
    if not reason and not np.isfinite(estimate):
        reason = "the slope can't be told here"
    if not reason:
        draws = bootstrap.distribution(statistic, values, participants)
        *_, reason = bootstrap.interval(draws, participants)
        # Where there is an interval, there is a standard error: one rule for both.
        if not reason:
            freedom = pd.Series(participants).nunique() - 1
            p = 2 * stats.t.sf(abs(estimate) / np.nanstd(draws), freedom)
    reason = reason.replace("no interval", "no test")
    return estimate_row(p, n=len(values), unit="p value", method=method, reason=reason)


def with_holm(table: pd.DataFrame) -> pd.DataFrame:
    tests = int(table["estimate"].notna().sum())
    counted = f"; Holm over {tests} tests" if tests > 1 else ""
    return table.assign(estimate=holm(table["estimate"]), method=table["method"] + counted)


def permutation_row(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Return the p value of the topics, permuted among each participant's own conversations."""
    draws = min(bootstrap.draws, MOST_DRAWS)
    method = f"{count_of(draws, 'permutation')} of topics within participants"
    reason = not_varying(frame, "topic")
    frame = in_order_of_appearance(frame[frame["topic"].notna()], "participant")
    if not reason and frame.groupby("participant")["topic"].nunique().max() < 2:
        reason = "no participant has conversations on two topics"
    y = within(frame[["y"]].to_numpy(dtype=float), frame["participant"])[:, 0]
    if not reason and (y**2).sum() < NEGLIGIBLE:
        reason = "no participant's conversations differ"
    if reason:
        return estimate_row(n=len(frame), unit="p value", method=method, reason=reason)
    topics, participants = pd.factorize(frame["topic"])[0], pd.factorize(frame["participant"])[0]
    size = np.bincount(topics)

    def between(values: np.ndarray) -> np.ndarray:
        cells = topics + len(size) * np.arange(len(values))[:, None]
        sums = np.bincount(cells.ravel(), weights=values.ravel(), minlength=len(values) * len(size))
        return (sums.reshape(len(values), len(size)) ** 2 / size).sum(axis=1)

    observed = between(y[None])[0]
    generator = np.random.default_rng(bootstrap.seed)
    as_large = 0
    for piece in pieces(draws, len(y), RESAMPLES_AT_ONCE):
        order = participants + generator.random((piece.stop - piece.start, len(y)))
        as_large += int((between(y[np.argsort(order, axis=1)]) >= observed * (1 - 1e-12)).sum())
    return estimate_row((1 + as_large) / (1 + draws), n=len(frame), unit="p value", method=method)


check_arguments(globals())
