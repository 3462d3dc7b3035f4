"""Conditions compared: whom they vary within or between, how far apart they are, how sure that is.

A participant has a level of their own, and an interaction of their own with a condition. So
intervals resample participants, and p values come from a model with both: with a participant's
level alone it finds differences in most data sets that have none.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.disruption import cohens_d
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import ground_truth
from sense7.statistics.mixed import (
    Nested,
    NestedSums,
    fit_nested,
    likelihood_ratio,
    nested_sums,
    satterthwaite,
    satterthwaite_f,
)
from sense7.statistics.multiplicity import holm
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.terminal import count_of

__all__ = [
    "TEST_KEYS",
    "Contrasts",
    "Design",
    "best_condition",
    "condition_design",
    "condition_differences",
    "condition_keys",
    "condition_means",
    "condition_pairs",
    "conversation_ratings",
    "friedman",
    "kruskal_wallis",
    "mixed_contrasts",
    "no_pairs",
    "ordered_conditions",
    "p_values_in_words",
    "pair_keys",
    "prompted_by_dimension",
    "prompted_is_highest",
    "prompted_minus_best_other",
    "rank_tests",
    "safe_names",
    "wilcoxon",
]

MOSTLY = 0.9
"""Share of participants from which on a design is called by what they have in common."""

MOST_CONDITIONS = 12
"""With more, pairs are not compared: they would be more than a reader can take in."""

RATINGS = {
    "ground_truth": "ground truth of the conversation",
    "overall": "mean overall rating of the conversation's turns",
    **{name: f"mean {name} rating of the conversation's turns" for name in DIMENSION_NAMES},
}
"""What a conversation can be compared on: its mean over all rated dimensions, or one rating."""

TEST_KEYS = {"F test": "condition_p_f_test", "likelihood ratio": "condition_p_likelihood_ratio"}
"""Tests of all conditions at once: row of :attr:`Contrasts.overall` -> key."""

_EQUAL = 1e-9
"""Means that differ by no more are equal but for rounding."""

NO_CONDITION = "no conversation has a condition in this data set"
ONE_CONDITION = "there is one condition only, so there is nothing to compare"


class Design(NamedTuple):
    """How conditions are spread over participants: ``kind``, the same in ``words``, ``n`` participants."""

    kind: str
    words: str
    n: int


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Names that can stand in a key: letters, digits, dot, hyphen and underscore only, each another.

    Examples
    --------
    >>> safe_names(["gpt-4", "a <b>", "a [b]"])
    {'gpt-4': 'gpt-4', 'a <b>': 'a-b', 'a [b]': 'a-b-2'}
    """
    taken: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", str(name)).strip("-") or "unnamed"
        candidate, number = plain, 2
        while candidate in taken.values():
            candidate, number = f"{plain}-{number}", number + 1
        taken[name] = candidate
    return taken


def ordered_conditions(study: Study) -> list[str]:
    """Conditions in the order in which they are compared: the prompted one, then by name."""
    first = [name for name in study.conditions if name == study.prompted_condition]
    return first + [name for name in study.conditions if name not in first]


def condition_keys(study: Study, start: str) -> dict[str, str]:
    """Keys of all conditions, ``<start>_<condition>``, by the row's name."""
    return {name: f"{start}_{safe}" for name, safe in safe_names(study.conditions).items()}


def pair_keys(study: Study, start: str) -> dict[str, str]:
    """Keys of all pairs of conditions, ``<start>_<first>_<second>``, by the row's name."""
    safe = safe_names(study.conditions)
    return {name: f"{start}_{safe[a]}_{safe[b]}" for name, (a, b) in condition_pairs(study).items()}


def condition_pairs(study: Study) -> dict[str, tuple[str, str]]:
    """All pairs of conditions that are compared, by the row's name; none if there are more than 12 conditions."""
    conditions = ordered_conditions(study)
    pairs = itertools.combinations(conditions, 2) if len(conditions) <= MOST_CONDITIONS else ()
    return {_pair(*pair): pair for pair in pairs}


def _pair(first: str, second: str) -> str:
    return f"{first} minus {second}"


def no_pairs(study: Study) -> str:
    """Why no pair of conditions is compared; "" if pairs are."""
    if len(study.conditions) > MOST_CONDITIONS:
        return f"{len(study.conditions)} conditions are too many to compare all pairs"
    return (NO_CONDITION, ONE_CONDITION)[len(study.conditions)] if len(study.conditions) < 2 else ""


def conversation_ratings(study: Study) -> pd.DataFrame:
    """One row a conversation: participant, condition, topic, and the means of its ratings.

    Returns
    -------
    DataFrame
        Indexed by conversation: participant, condition, topic (None if blank), ``ground_truth``
        (1..5; mean over the rated dimensions of each turn, then over turns), and ``overall`` and
        each dimension (1..5; mean over the turns in which it is rated, NaN if none).
    """
    frame = study.conversations.set_index("conversation")[["participant", "condition", "topic"]]
    means = study.turns.groupby("conversation")[list(RATING_NAMES)].mean().reindex(frame.index)
    truth = ground_truth(study.turns, study.conversations["conversation"])
    return frame.assign(ground_truth=truth.to_numpy(), **{name: means[name] for name in RATING_NAMES})


def _compared(study: Study, rating: str, ratings: pd.DataFrame | None = None) -> pd.DataFrame:
    """Conversations with a condition and the rating, as ``y``; ``ratings`` are the :func:`conversation_ratings`."""
    frame = conversation_ratings(study) if ratings is None else ratings
    frame = frame.assign(y=frame[rating].astype(float))
    return frame[frame["y"].notna() & frame["condition"].notna() & frame["participant"].notna()]


def _never(study: Study, rating: str, compared: pd.DataFrame | None = None) -> str:
    """Why no condition can be rated or compared at all; "" if it can. ``compared`` are its rows, if they are known."""
    if not study.conditions:
        return NO_CONDITION
    if (_compared(study, rating) if compared is None else compared).empty:
        return f"no conversation with a condition has a {RATINGS[rating]} in this data set"
    return ""


def condition_design(study: Study) -> Design:
    """Whether conditions vary within or between participants, read off the conversations.

    Participants with at least two conversations tell it: if at least 90% of them met several
    conditions, it is *within participants*; if at most 10% did, *between participants*; otherwise
    *mixed*. If nobody has two conversations, it is between participants.

    Returns
    -------
    Design
        Its kind may also be *one condition* and *no condition*.
    """
    known = study.conversations[study.conversations["condition"].notna()]
    met = known.groupby("participant")["condition"].agg(["size", "nunique"])
    if len(study.conditions) < 2:
        kind = ("no condition", "one condition")[len(study.conditions)]
        return Design(kind, (NO_CONDITION, ONE_CONDITION)[len(study.conditions)], len(met))
    several = met[met["size"] > 1]
    if several.empty:
        return Design("between participants", "no participant has two conversations", len(met))
    share = (several["nunique"] > 1).mean()
    kind = "within participants" if share >= MOSTLY else "between participants" if share <= 1 - MOSTLY else "mixed"
    words = (
        f"{(several['nunique'] > 1).sum():,} of {count_of(len(several), 'participant')} with several conversations met "
        f"several conditions, and {(several['nunique'] == len(study.conditions)).sum():,} met all "
        f"{len(study.conditions)}"
    )
    return Design(kind, words, len(met))


def condition_means(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> pd.DataFrame:
    """Mean rating of the conversations of each condition.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    rating : str
        One of ``RATINGS``. Conversations without it are left out.

    Returns
    -------
    DataFrame
        One row per condition: estimate, low, high (1..5), n (conversations), unit, method, reason.
    """
    frame = _compared(study, rating)
    unit, method = "level (from 1 to 5)", f"mean over conversations of the {RATINGS[rating]}"
    rows = {}
    for name in ordered_conditions(study):
        own = frame[frame["condition"] == name]
        if own.empty:
            reason = _never(study, rating, frame) or f"no conversation of this condition has a {RATINGS[rating]}"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        values = np.column_stack([own["y"], np.ones(len(own))])
        rows[name] = _row(ratio, values, own["participant"], bootstrap, unit, method)
    if not rows:
        rows["no condition"] = estimate_row(n=0, unit=unit, method=method, reason=NO_CONDITION)
    return estimate_table(rows, "condition")


def _row(statistic, values, participants, bootstrap, unit, method, undefined="the ratings do not vary") -> dict:
    estimate, low, high, reason = bootstrap.estimate(statistic, values, participants)
    if not np.isfinite(estimate):
        return estimate_row(n=len(values), unit=unit, method=method, reason=undefined)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(values), unit=unit, method=method, reason=reason)


def condition_differences(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth", *, standardised: bool = False
) -> pd.DataFrame:
    r"""All pairs of conditions: difference of their means, in points or as Cohen's d.

    .. math:: \bar y_a - \bar y_b, \quad d = (\bar y_a - \bar y_b) / s_{ab}

    over conversations, with s the pooled standard deviation of conversations in the two conditions
    (:func:`sense7.statistics.disruption.cohens_d`).

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; they also carry what a participant's conversations
        in both conditions have in common.
    rating : str
        One of ``RATINGS``. Conversations without it are left out.
    standardised : bool
        Whether as d.

    Returns
    -------
    DataFrame
        One row per pair, the prompted condition first, then by name; one row that says so if there are fewer
        than two conditions, or more than 12. n counts conversations.
    """
    frame = _compared(study, rating)
    unit = "Cohen's d" if standardised else "points (levels from 1 to 5)"
    rows = {}
    for name, (first, second) in condition_pairs(study).items():
        method = (
            "difference of means over conversations, in standard deviations"
            if standardised
            else ("difference of means over conversations")
        )
        both = frame[frame["condition"].isin([first, second])]
        empty = [one for one in (first, second) if not (both["condition"] == one).any()]
        if empty:
            reason = f"no rated conversation in {' and '.join(empty)}"
            rows[name] = estimate_row(n=len(both), unit=unit, method=method, reason=reason)
            continue
        groups = np.column_stack([both["condition"] == first, both["condition"] == second]).astype(float)
        y = both["y"].to_numpy()
        values = groups[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]
        statistic, undefined = (
            (cohens_d, "too few conversations, or ratings that do not vary")
            if standardised
            else (_difference, "no rated conversation")
        )
        rows[name] = _row(statistic, values, both["participant"], bootstrap, unit, method, undefined)
    if not rows:
        method = "difference of means over conversations"
        rows["no pair"] = estimate_row(n=len(frame), unit=unit, method=method, reason=no_pairs(study))
    return estimate_table(rows, "pair")


def _difference(sums: np.ndarray) -> np.ndarray:
    means = sums[..., 1] / sums[..., 0]
    return means[..., 0] - means[..., 1]


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
        frame = _compared(study, rating)
    present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    reason, fit = no_pairs(study) or _never(study, rating, frame), None
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


def p_values_in_words(tests: pd.DataFrame) -> pd.DataFrame:
    """P values of a table of estimates in words: p, n, method, and a note where there is none."""
    shown = pd.DataFrame(
        {"p": tests["estimate"].map(p_in_words), "n": tests["n"], "method": tests["method"], "note": tests["reason"]}
    )
    return shown if shown["note"].any() else shown.drop(columns="note")


def p_in_words(p: float) -> str:
    """A p value to four places.

    Examples
    --------
    >>> p_in_words(0.00002), p_in_words(0.031)
    ('< 0.0001', '0.0310')
    """
    return "" if not np.isfinite(p) else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def prompted_by_dimension(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Prompted condition minus the mean of the other conditions' means, for each rating.

    Each of the other conditions counts the same, however many conversations it has.

    Returns
    -------
    DataFrame
        A row each for the ground truth, the overall rating and the seven dimensions; n counts
        conversations.
    """
    unit, method = "points (levels from 1 to 5)", "mean of the prompted condition minus mean of the others' means"
    rows, ratings = {}, conversation_ratings(study)
    for rating in RATINGS:
        frame = _compared(study, rating, ratings)
        present = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
        reason = _never(study, rating, frame)
        if not reason and study.prompted_condition is None:
            reason = f"which condition is prompted is not known: {study.prompted_reason}"
        elif not reason and study.prompted_condition not in present:
            reason = "no rated conversation in the prompted condition"
        elif not reason and len(present) < 2:
            reason = "no rated conversation in any other condition"
        if reason:
            rows[rating] = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
            continue
        values = _by_condition(frame, present)
        rows[rating] = _row(_first_minus_rest, values, frame["participant"], bootstrap, unit, method)
    return estimate_table(rows, "rating").rename(index={"ground_truth": "ground truth"})


def _by_condition(frame: pd.DataFrame, conditions: list[str]) -> np.ndarray:
    """Of each row its value and a one, in the place of its condition: (rows, conditions, 2)."""
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    return groups[:, :, None] * np.column_stack([frame["y"], np.ones(len(frame))])[:, None, :]


def _first_minus_rest(sums: np.ndarray) -> np.ndarray:
    means = sums[..., 0] / sums[..., 1]
    return means[..., 0] - means[..., 1:].mean(axis=-1)


def best_condition(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> dict:
    """Name of the condition with the highest mean, and the share of bootstrap resamples in which it is the highest.

    Where several conditions share the highest mean there is no name, and the reason says so.

    Returns
    -------
    dict
        ``best``: a value for a record, whose estimate is the name; ``share``: a row of a table of
        estimates, the share of resamples of participants in which that condition alone is the highest. There is no
        share with fewer than five rated participants, as there is no interval.
    """
    means = _ConditionMeans.of(study, bootstrap, rating)
    kind = f"condition with the highest mean {RATINGS[rating]}"
    reason = _never(study, rating) or (ONE_CONDITION if len(means.names) < 2 else "")
    if not reason and len(means.highest) > 1:
        reason = "several conditions have the same highest mean"
    if reason:
        best = {"estimate": None, "n": means.n, "unit": "condition", "method": kind, "reason": reason}
        return {"best": best, "share": means.share(None, kind, reason)}
    (name,) = means.highest
    best = {"estimate": name, "n": means.n, "unit": "condition", "method": kind, "reason": ""}
    return {"best": best, "share": means.share(name, kind)}


def prompted_is_highest(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> dict:
    """Whether the prompted condition has the highest mean, and the share of bootstrap resamples in which it has it.

    Returns
    -------
    dict
        ``highest``: a value for a record: "yes", "no", or "tie" where another condition has the same highest mean;
        ``share``: a row of a table of estimates, as in :func:`best_condition`.
    """
    means = _ConditionMeans.of(study, bootstrap, rating)
    kind = f"whether the prompted condition has the highest mean {RATINGS[rating]}"
    prompted = study.prompted_condition
    reason = _never(study, rating) or (ONE_CONDITION if len(means.names) < 2 else "")
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    elif not reason and prompted not in means.names:
        reason = "no rated conversation in the prompted condition"
    value = {"estimate": None, "n": means.n, "unit": "yes, no or tie", "method": kind}
    if reason:
        return {"highest": value | {"reason": reason}, "share": means.share(None, kind, reason)}
    answer = "no" if prompted not in means.highest else "yes" if len(means.highest) == 1 else "tie"
    return {"highest": value | {"estimate": answer, "reason": ""}, "share": means.share(prompted, kind)}


@dataclass(frozen=True, eq=False)
class _ConditionMeans:
    """Means of the conditions that have ratings.

    Attributes
    ----------
    names : list of str
        The conditions.
    values : array, shape (conditions,)
        Their means.
    resampled : array, shape (resamples, conditions)
        Their means in every resample; NaN where it does not hold the condition.
    participants : Series
        Participant of each rated conversation.
    bootstrap : ParticipantBootstrap
        What resampled them.
    """

    names: list[str]
    values: np.ndarray
    resampled: np.ndarray
    participants: pd.Series
    bootstrap: ParticipantBootstrap

    @classmethod
    def of(cls, study: Study, bootstrap: ParticipantBootstrap, rating: str) -> "_ConditionMeans":
        frame = _compared(study, rating)
        names = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
        if not names:
            return cls(names, np.empty(0), np.empty((0, 0)), frame["participant"].iloc[:0], bootstrap)
        values = _by_condition(frame, names)
        resampled = bootstrap.distribution(ratio, values, frame["participant"])
        return cls(names, ratio(values.sum(axis=0)), resampled, frame["participant"], bootstrap)

    @property
    def n(self) -> int:
        """Number of rated conversations."""
        return len(self.participants)

    @property
    def highest(self) -> list[str]:
        """The condition with the highest mean, or all that share it."""
        return [name for name, mean in zip(self.names, self.values, strict=True) if mean >= self.values.max() - _EQUAL]

    def share(self, name: str | None, kind: str, reason: str = "") -> dict:
        """Share of the resamples in which a condition alone is the highest, as a row of estimates."""
        unit, method = "share of resamplings", f"{kind}; {count_of(self.bootstrap.draws, 'resampling')} of participants"
        reason = reason or self.bootstrap.too_few(self.participants).replace("no interval", "no share")
        if reason:
            return estimate_row(n=self.n, unit=unit, method=method, reason=reason)
        place = self.names.index(name)
        others = np.delete(self.resampled, place, axis=1)
        # A condition that a resample does not hold is not the highest in it.
        above = self.resampled[:, [place]] > np.where(np.isnan(others), -np.inf, others) + _EQUAL
        return estimate_row(above.all(axis=1).mean(), n=self.n, unit=unit, method=method)


def kruskal_wallis(groups: list[np.ndarray]) -> tuple[float, float, float, float]:
    r"""Kruskal and Wallis' rank test: H, p, epsilon squared and eta squared of H.

    .. math:: \epsilon^2 = H (n + 1) / (n^2 - 1), \quad \eta_H^2 = (H - k + 1) / (n - k)

    NaN if there are fewer than two groups, or all values are equal.

    References
    ----------
    Kruskal, W. H., & Wallis, W. A. (1952). Journal of the American Statistical Association 47, 583-621.

    Notes
    -----
    R: kruskal.test, rstatix::kruskal_effsize, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> [round(float(x), 3) for x in kruskal_wallis([np.array([1.0, 2, 3]), np.array([4.0, 5, 6])])]
    [3.857, 0.05, 0.771, 0.714]
    """
    values, n = np.concatenate(groups), sum(map(len, groups))
    if len(groups) < 2 or n <= len(groups) or np.ptp(values) == 0:
        return (np.nan,) * 4
    h, p = stats.kruskal(*groups)
    return h, p, h * (n + 1) / (n**2 - 1), (h - len(groups) + 1) / (n - len(groups))


def friedman(table: np.ndarray) -> tuple[float, float, float]:
    r"""Friedman's rank test of columns within rows: chi squared, p and Kendall's W.

    .. math:: W = \chi^2 / (n (k - 1))

    NaN below three columns or two rows, or if every row is constant.

    References
    ----------
    Friedman, M. (1937). Journal of the American Statistical Association 32, 675-701.

    Notes
    -----
    R: friedman.test, rstatix::friedman_effsize, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.array([[1.0, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> [round(float(x), 3) for x in friedman(table)]
    [4.667, 0.097, 0.778]
    """
    rows, columns = table.shape
    if columns < 3 or rows < 2 or (np.ptp(table, axis=1) == 0).all():
        return (np.nan,) * 3
    chi, p = stats.friedmanchisquare(*table.T)
    return chi, p, chi / (rows * (columns - 1))


def wilcoxon(differences: np.ndarray) -> tuple[float, float, float]:
    """Wilcoxon's signed-rank test: V, p (normal, corrected for continuity) and rank-biserial correlation.

    Differences of zero are left out; NaN if none is left.

    References
    ----------
    Wilcoxon, F. (1945). Biometrics Bulletin 1, 80-83.

    Notes
    -----
    R: wilcox.test(paired=TRUE, exact=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> [round(float(x), 3) for x in wilcoxon(np.array([1.0, 2, 3, -0.5]))]
    [9.0, 0.201, 0.8]
    """
    differences = np.asarray(differences, dtype=float)
    differences = differences[np.abs(differences) > 1e-12]
    if not len(differences):
        return (np.nan,) * 3
    ranks = stats.rankdata(np.abs(differences))
    total, v = ranks.sum(), ranks[differences > 0].sum()
    ties = np.unique(ranks, return_counts=True)[1].astype(float)
    n = len(differences)
    spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48)
    away = v - total / 2
    p = 2 * stats.norm.sf(max(abs(away) - 0.5, 0) / spread)
    return v, min(p, 1.0), (2 * v - total) / total


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
    frame = _compared(study, rating)
    conditions = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    reason = _never(study, rating) or (ONE_CONDITION if len(conditions) < 2 else "")
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
            rows[f"Wilcoxon, {_pair(conditions[0], other)}"] = _test_row(
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
