"""Conditions compared: means, mixed model, odds ratios, dimension by condition, equal loadings, fading."""

import itertools
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy import stats

from sense7.estimators.alpha import (
    correlations_from_covariances,
    covariances_from_sums,
    moments_by_participant,
    usable,
)
from sense7.estimators.bootstrap import MOST_UNDEFINED, ParticipantBootstrap, ratio
from sense7.estimators.cumulative_logit import fit_cumulative_logit, separated
from sense7.estimators.effect_size import cohens_d, group_moments, mean_difference
from sense7.estimators.estimates import (
    Estimate,
    estimate_row,
    estimate_table,
    holm,
    p_in_words,
    safe_names,
)
from sense7.estimators.factor import ITEMS_FOR_A_FACTOR, fit_one_factor
from sense7.estimators.least_squares import coefficient, within
from sense7.estimators.mixed import fit_nested, nested_sums, satterthwaite, satterthwaite_f
from sense7.estimators.order import rounded
from sense7.findings.core import Number, finding, need, require_own, resampled, share, tabulate
from sense7.findings.measures import conversation_ratings, turn_rating, turn_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "best_condition",
    "condition_design",
    "condition_differences",
    "condition_means",
    "design_values",
    "dimension_by_condition",
    "largest_loading_difference",
    "levels_by_turn",
    "mixed_contrasts",
    "odds_ratios",
    "p_values_in_words",
    "prompt_fading",
    "prompted_minus_best_other",
    "prompted_minus_mean_of_others",
]

POINTS, LEVEL = "points (levels from 1 to 5)", "level (from 1 to 5)"
RATINGS = {
    "ground_truth": ("ground truth of the conversation", "condition_mean"),
    "overall": ("mean overall rating of the conversation's turns", "condition_mean_overall"),
}
"""What a conversation is compared on -> words, beginning of the key of a condition's mean."""

NO_CONDITION = "no conversation has a condition in this data set"
ONE_CONDITION = "there is one condition only, so there is nothing to compare"
NEVER_RATED = (
    f"no conversation with a condition has a {RATINGS['ground_truth'][0]} in this data set"
)
MOST_CONDITIONS = 12  # with more, pairs are more than a reader can take in


def ordered_conditions(study: Study) -> list[str]:
    """Conditions in the order in which they are compared: the prompted one, then by name."""
    return sorted(study.conditions, key=lambda name: name != study.prompted_condition)


def condition_pairs(study: Study) -> dict[str, tuple[str, str]]:
    """All pairs of conditions that are compared, by the row's name; none if there are more than 12 conditions."""
    pairs = (
        itertools.combinations(ordered_conditions(study), 2)
        if len(study.conditions) <= MOST_CONDITIONS
        else ()
    )
    return {f"{first} minus {second}": (first, second) for first, second in pairs}


def pairs_in_keys(study: Study) -> dict[str, str]:
    """All pairs of conditions as they stand in a key, ``<first>_<second>``, by the row's name."""
    safe = safe_names(study.conditions)
    return {
        name: f"{safe[first]}_{safe[second]}"
        for name, (first, second) in condition_pairs(study).items()
    }


def no_pairs(study: Study) -> str:
    """Why no pair of conditions is compared; "" if pairs are."""
    if len(study.conditions) > MOST_CONDITIONS:
        return f"{len(study.conditions)} conditions are too many to compare all pairs"
    return (NO_CONDITION, ONE_CONDITION)[len(study.conditions)] if len(study.conditions) < 2 else ""


def compared_conversations(study: Study, rating: str = "ground_truth") -> pd.DataFrame:
    """Conversations with a condition and the rating, as ``y``."""
    frame = conversation_ratings(study)
    frame = frame.assign(y=frame[rating].astype(float))
    return frame[frame[["y", "condition", "participant"]].notna().all(axis=1)]


def present_in(study: Study, frame: pd.DataFrame) -> list[str]:
    """Conditions that some rows have, in order."""
    return [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]


def need_prompted(study: Study, present: list[str]) -> None:
    """What comparing the prompted condition with others needs."""
    known = study.prompted_condition is not None
    need(known, f"which condition is prompted is not known: {study.prompted_reason}")
    need(study.prompted_condition in present, "no rated conversation in the prompted condition")
    need(len(present) > 1, "no rated conversation in any other condition")


@dataclass(frozen=True)
class Design:
    """How conditions are distributed over participants: its kind, the counts it follows from, participants."""

    kind: str
    words: str
    n: int


def condition_design(study: Study) -> Design:
    """Return whether conditions vary within or between participants, as the conversations show it.

    Participants with at least two conversations decide: if at least 90% of them met several conditions, it is *within
    participants*; if at most 10% did, *between participants*; otherwise *mixed*. If nobody has two conversations, it is
    between participants. Its kind may also be *one condition* and *no condition*.
    """
    known = study.conversations[study.conversations["condition"].notna()]
    met = known.groupby("participant")["condition"].agg(["size", "nunique"])
    if len(study.conditions) < 2:
        kind = ("no condition", "one condition")[len(study.conditions)]
        return Design(kind, (NO_CONDITION, ONE_CONDITION)[len(study.conditions)], len(met))
    several = met.loc[met["size"] > 1, "nunique"]
    if several.empty:
        return Design("between participants", "no participant has two conversations", len(met))
    share = (several > 1).mean()
    kind = (
        "within participants"
        if share >= 0.9
        else "between participants"
        if share <= 0.1
        else "mixed"
    )
    words = (
        f"{(several > 1).sum():,} of {count_of(len(several), 'participant')} with several conversations met several "
        f"conditions, and {(several == len(study.conditions)).sum():,} met all {len(study.conditions)}"
    )
    return Design(kind, words, len(met))


@finding
def design_values(study: Study) -> list[dict]:
    """Return the kind of :func:`condition_design`, and its words, as two values for a record."""
    design = condition_design(study)
    method = "participants with several conversations, by the number of conditions they met"
    common = {"n": design.n, "unit": "design", "method": method, "reason": ""}
    return [
        {"key": "condition_design", "estimate": design.kind, **common},
        {"key": "condition_design_words", "estimate": design.words, **common},
    ]


# Means


@finding
def condition_means(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth"
) -> pd.DataFrame:
    """Return the mean rating (1..5) of the conversations of each condition; n counts conversations with the rating.

    ``rating`` is ``ground_truth`` or ``overall``. Conversations without it are left out.
    """
    require_own(study, bootstrap)
    frame, safe, (words, key) = (
        compared_conversations(study, rating),
        safe_names(study.conditions),
        RATINGS[rating],
    )

    def mean(own: pd.DataFrame):
        need(study.conditions, NO_CONDITION)
        need(len(frame), f"no conversation with a condition has a {words} in this data set")
        need(len(own), f"no conversation of this condition has a {words}")
        return share(bootstrap, own["y"], np.ones(len(own)), own["participant"])

    numbers = []
    for name in ordered_conditions(study) or ["no condition"]:
        own, method = frame[frame["condition"] == name], f"mean over conversations of the {words}"
        key_of_name = f"{key}_{safe[name]}" if name in safe else ""
        numbers.append(Number(name, partial(mean, own), LEVEL, method, own, key_of_name))
    return tabulate("condition", numbers, bootstrap)


@finding
def condition_differences(
    study: Study, bootstrap: ParticipantBootstrap, *, standardized: bool = False
) -> pd.DataFrame:
    r"""Return the difference of the mean ground truths of each pair of conditions, in points or as Cohen's d.

    .. math:: \bar y_a - \bar y_b, \quad d = (\bar y_a - \bar y_b) / s_{ab}

    over conversations, s pooled over the two conditions (:func:`sense7.estimators.effect_size.cohens_d`). One row that
    says so if there are fewer than two conditions, or more than 12. n counts conversations.
    """
    require_own(study, bootstrap)
    frame, keys, method = (
        compared_conversations(study),
        pairs_in_keys(study),
        "difference of means over conversations",
    )
    unit, statistic, undefined = POINTS, mean_difference, "no rated conversation"
    if standardized:
        unit, statistic, undefined = (
            "Cohen's d",
            cohens_d,
            "too few conversations, or ratings that do not vary",
        )

    def difference(both: pd.DataFrame, pair: tuple[str, str]):
        need(pair, no_pairs(study))
        empty = [one for one in pair if not (both["condition"] == one).any()]
        need(not empty, f"no rated conversation in {' and '.join(empty)}")
        moments = group_moments(both["y"], both["condition"] == pair[1])
        return resampled(bootstrap, statistic, moments, both["participant"])

    numbers = []
    for name, pair in (condition_pairs(study) or {"no pair": ()}).items():
        both = frame[frame["condition"].isin(pair)] if pair else frame
        ways = method + ", in standard deviations" * bool(standardized and pair)
        key = f"condition_d_{keys[name]}" if standardized and pair else ""
        numbers.append(
            Number(name, partial(difference, both, pair), unit, ways, both, key, undefined)
        )
    return tabulate("pair", numbers, bootstrap)


@finding
def prompted_minus_mean_of_others(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the prompted condition's mean ground truth minus the mean of the other conditions' means.

    Each of the other conditions counts the same, however many conversations it has. One row; n counts conversations.
    """
    require_own(study, bootstrap)
    frame = compared_conversations(study)
    present = present_in(study, frame)

    def difference():
        need(study.conditions, NO_CONDITION)
        need(len(frame), NEVER_RATED)
        need_prompted(study, present)

        def first_minus_rest(sums: np.ndarray) -> np.ndarray:
            means = ratio(sums)
            return means[..., 0] - means[..., 1:].mean(axis=-1)

        return resampled(
            bootstrap, first_minus_rest, sums_by_condition(frame, present), frame["participant"]
        )

    method, undefined = (
        "mean of the prompted condition minus mean of the others' means",
        "the ratings do not vary",
    )
    key = "prompted_difference_ground_truth"
    return tabulate(
        "rating",
        [Number("ground truth", difference, POINTS, method, frame, key, undefined)],
        bootstrap,
    )


def sums_by_condition(frame: pd.DataFrame, conditions: list[str]) -> np.ndarray:
    """Value and a one of each row, in the column of its condition: (rows, conditions, 2)."""
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    return groups[:, :, None] * np.column_stack([frame["y"], np.ones(len(frame))])[:, None, :]


@finding
def best_condition(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Return the condition with the highest mean, and the share of bootstrap resamples in which it is the highest.

    Returns
    -------
    dict
        ``best``: a value for a record, whose estimate is the name, or None with the reason where several share the
        highest mean; ``share``: a row of estimates, the share of resamples in which that condition alone is the
        highest. There is no share with fewer than five rated participants, as there is no interval.
    """
    require_own(study, bootstrap)
    frame = compared_conversations(study)
    names = present_in(study, frame)
    alone, best = np.nan, None
    reason = no_share = NO_CONDITION if not study.conditions else NEVER_RATED if frame.empty else ""
    if not reason and len(names) < 2:
        reason = no_share = ONE_CONDITION
    if not reason:
        values = sums_by_condition(frame, names)
        means = rounded(ratio(values.sum(axis=0)))
        highest = means >= means.max()
        if highest.sum() > 1:
            reason = no_share = "several conditions have the same highest mean"
    if not reason:
        best, no_share = names[means.argmax()], bootstrap.too_few(frame["participant"])
    if not no_share:
        drawn = rounded(bootstrap.distribution(ratio, values, frame["participant"]))
        # A condition that a resample does not hold is not the highest in it.
        others = np.where(np.isnan(drawn), -np.inf, drawn)[:, ~highest]
        alone = (drawn[:, highest] > others).all(axis=1).mean()
    kind = f"condition with the highest mean {RATINGS['ground_truth'][0]}"
    method = f"{kind}; {count_of(bootstrap.draws, 'resampling')} of participants"
    named = {
        "estimate": best,
        "n": len(frame),
        "unit": "condition",
        "method": kind,
        "reason": reason,
    }
    shared = {"n": len(frame), "unit": "share of resamplings", "method": method}
    shared["reason"] = no_share.replace("no interval", "no share")
    return {
        "best": named | {"key": "best_condition"},
        "share": estimate_row(alone, **shared, key="best_condition_share"),
    }


# Mixed model

MODEL = "mixed model: participant, participant by condition, conversation; REML"


@dataclass(frozen=True)
class Contrasts:
    """All pairs of conditions by the mixed model."""

    differences: pd.DataFrame
    p: pd.DataFrame
    overall: pd.DataFrame
    pairs: pd.DataFrame
    reason: str

    @property
    def shown(self) -> pd.DataFrame:
        """The pairs in words."""
        forms = ["{:z.3f}".format, "{:.3f}".format, "{:.1f}".format, p_in_words, p_in_words]
        return pd.DataFrame(
            {name: self.pairs[name].map(form) for name, form in zip(self.pairs, forms, strict=True)}
        )


@finding
def mixed_contrasts(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame | None = None
) -> Contrasts:
    r"""Return tests of all pairs of conditions in a mixed model, with Holm's correction.

    .. math:: y = \mu_c + u_p + v_{pc} + w_{pci} + e

    Conditions are fixed; participant, participant by condition, and conversation are random; REML. Where a
    conversation has one value, w is the residual. t tests and F with Satterthwaite's degrees of freedom. A variance
    that the design can't tell from another (participant by condition, if nobody meets two conditions) is part of that.

    Parameters
    ----------
    bootstrap : ParticipantBootstrap
        Its confidence is that of the model's intervals.
    frame : DataFrame, optional
        Other rows than the conversations with their ground truth: participant, condition, ``y``, and ``conversation``
        where one has several rows.

    Notes
    -----
    R: pairs(emmeans::emmeans(lmerTest::lmer), adjust='holm'), tests/reference/reference.R; differences and errors
    equal to 2e-4, Holm's p and degrees of freedom to 0.1%.
    """
    require_own(study, bootstrap)
    frame = compared_conversations(study) if frame is None else frame
    present, n, keys = present_in(study, frame), len(frame), pairs_in_keys(study)
    columns = ["difference", "standard error", "degrees of freedom", "p", "p (Holm)"]
    pairs, differences, tests = pd.DataFrame(columns=columns), {}, {}
    overall = estimate_row(
        n=n,
        unit="p value",
        method=MODEL,
        reason="too few participants and conversations for a test",
    )
    reason = no_pairs(study) or ("" if n else NEVER_RATED)
    if not reason and len(present) < 2:
        reason = "only one condition has rated conversations"
    if not reason and rounded(np.ptp(frame["y"])) == 0:
        reason = "the ratings do not vary"
    if not reason:
        design = np.column_stack([frame["condition"] == name for name in present]).astype(float)
        groups = frame.get("conversation")
        sums = nested_sums(
            frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups
        )
        fit = fit_nested(sums)
        if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-12:
            reason = "too few conversations for the model"
    if reason:
        none = estimate_row(n=n, unit=POINTS, method=MODEL, reason=reason)
        overall = none | {"unit": "p value"}
        differences, tests = dict.fromkeys(keys, none), dict.fromkeys(keys, overall)
    else:
        known = {
            name: pair for name, pair in condition_pairs(study).items() if set(pair) <= set(present)
        }
        weights = np.array(
            [[(one == a) - float(one == b) for one in present] for a, b in known.values()]
        )
        difference = weights @ fit.coefficients
        error = np.sqrt(np.einsum("ci,ij,cj->c", weights, fit.covariance, weights))
        freedom = np.clip(satterthwaite(sums, fit, weights), 1, None)
        p = 2 * stats.t.sf(np.abs(difference / error), freedom)
        values = np.column_stack([difference, error, freedom, p, holm(p)])
        pairs = pd.DataFrame(values, index=pd.Index(list(known), name="pair"), columns=columns)
        half = error * stats.t.ppf((1 + bootstrap.confidence) / 2, freedom)
        interval = f"{MODEL}; {bootstrap.confidence:.0%} interval of the model (t), participants as random effects"
        for name, (estimate, _, df, _, p_holm), reach in zip(known, values, half, strict=True):
            limits = estimate - reach, estimate + reach
            differences[name] = estimate_row(estimate, *limits, n=n, unit=POINTS, method=interval)
            method = f"{MODEL}; t test with {df:.1f} degrees of freedom, Holm over {count_of(len(known), 'pair')}"
            tests[name] = estimate_row(p_holm, n=n, unit="p value", method=method)
        f, df, p = satterthwaite_f(sums, fit, np.eye(len(present))[1:] - np.eye(len(present))[0])
        if np.isfinite(p):
            words = f"F = {f:z.2f} on {len(present) - 1} and {df:.1f} degrees of freedom (Satterthwaite)"
            overall = estimate_row(p, n=n, unit="p value", method=f"{MODEL}; {words}")
    return Contrasts(
        estimate_table(
            differences, "pair", {name: f"condition_model_difference_{keys[name]}" for name in keys}
        ),
        estimate_table(tests, "pair", {name: f"condition_p_holm_{keys[name]}" for name in keys}),
        estimate_table({"F test": overall}, "test", {"F test": "condition_p_f_test"}),
        pairs,
        reason,
    )


def p_values_in_words(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the p values of a table of estimates in words: p, n, method, and a note where there is none."""
    shown = pd.DataFrame(
        {
            "p": tests["estimate"].map(p_in_words),
            "n": tests["n"],
            "method": tests["method"],
            "note": tests["reason"],
        }
    )
    return shown if shown["note"].any() else shown.drop(columns="note")


@finding
def prompted_minus_best_other(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame | None = None
) -> dict:
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
    study, bootstrap, frame
        As for :func:`mixed_contrasts`.

    Returns
    -------
    dict
        A row of estimates: estimate, low, high (points; positive: the prompted condition is rated higher than every
        other), n (rows of the model), unit, method, reason. Conditions without a rated conversation are left out.

    References
    ----------
    Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 295-300.
    """
    prompted, contrasts = study.prompted_condition, mixed_contrasts(study, bootstrap, frame)
    table = contrasts.differences
    common = {
        "n": int(table["n"].max()) if len(table) else 0,
        "unit": POINTS,
        "key": "prompted_minus_best_other",
    }
    method = "mixed model: smallest difference of the prompted condition from another"
    firsts = [name for name, pair in condition_pairs(study).items() if pair[0] == prompted]
    pairs = contrasts.pairs.loc[[name for name in firsts if name in contrasts.pairs.index]].astype(
        float
    )
    reason = contrasts.reason
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    if not reason and pairs.empty:
        reason = "no rated conversation in the prompted condition, or in any other"
    if reason:
        return estimate_row(**common, method=method, reason=reason)
    difference, error, freedom = (pairs.iloc[:, column].to_numpy() for column in range(3))
    alpha, m = 1 - bootstrap.confidence, len(pairs)
    low = (difference - stats.t.ppf(1 - alpha / 2, freedom) * error).min()
    high = (difference + stats.t.ppf(1 - alpha / (2 * m), freedom) * error).min()
    method += (
        f", of {count_of(m, 'difference')}; {bootstrap.confidence:.0%} interval of the model (t): smallest lower limit "
        "(intersection-union), smallest upper limit (Bonferroni)"
    )
    return estimate_row(difference.min(), low, high, **common, method=method)


# Cumulative logit


def main_turn_rating(study: Study) -> str:
    """The rating of turns by which conditions are compared: overall or, if never given, the dimension rated most."""
    if study.turns["overall"].notna().any():
        return "overall"
    return str(study.turns[list(DIMENSION_NAMES)].notna().sum().idxmax())


@finding
def odds_ratios(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return proportional odds ratios of all pairs of conditions, over turns.

    .. math:: \mathrm{OR}_{ab} = \exp(\beta_a - \beta_b)

    the factor by which the odds of a rating above any cut are higher in a than in b. The rating is the overall one or,
    if that was never given, the dimension rated most often; turns without it or without a condition are left out. t
    intervals on the log scale, with one degree of freedom less than participants; errors clustered by participant.

    Returns
    -------
    DataFrame
        One row per pair: estimate, low, high (above 0; 1 if alike), n (turns of all conditions), unit, method, reason.

    Notes
    -----
    R: ordinal::clm, tests/reference/reference.R.
    """
    require_own(study, bootstrap)
    rating = main_turn_rating(study)
    turns = study.turns[study.turns[rating].notna() & study.turns["condition"].notna()]
    present, levels = present_in(study, turns), turns[rating].to_numpy(dtype=float)

    @cache
    def model():
        need(not no_pairs(study), no_pairs(study))
        need(present, "never rated in this data set")
        need(len(present) > 1, "only one condition has rated turns")
        need(len(turns["participant"].unique()) > 1, "there is one participant only")
        need(np.ptp(levels) > 0, "the ratings do not vary")
        always = "some conditions were always rated at least as high as the others: the odds ratio is not finite"
        need(not separated(levels, turns["condition"].to_numpy()), always)
        design = np.column_stack([turns["condition"] == name for name in present[1:]]).astype(float)
        fit = fit_cumulative_logit(levels, design, turns["participant"])
        need(fit, "too few turns for the model")
        return fit

    def odds(*pair: str) -> Estimate:
        fit, absent = model(), [one for one in pair if one not in present]
        need(not absent, f"no rated turn in {' and '.join(absent)}")
        contrast = np.array([(one == pair[0]) - float(one == pair[1]) for one in present[1:]])
        log, error = contrast @ fit.coefficients, np.sqrt(contrast @ fit.covariance @ contrast)
        reason = bootstrap.too_few(range(fit.participants))
        if not reason and fit.participants < 2 * len(present):
            reason = f"no interval: {count_of(fit.participants, 'participant')}: too few for clustered errors"
        half = (
            np.nan
            if reason
            else error * stats.t.ppf((1 + bootstrap.confidence) / 2, fit.participants - 1)
        )
        return Estimate(*np.exp([log, log - half, log + half]), reason)

    keys = pairs_in_keys(study)
    outcome = "overall rating" if rating == "overall" else f"rating of {rating}"
    method = f"cumulative logit of the {outcome} on condition"
    interval = f"{bootstrap.confidence:.0%} t interval, errors clustered by participant"
    rows = {
        f"{a} against {b}": (partial(odds, a, b), keys[name])
        for name, (a, b) in condition_pairs(study).items()
    }
    numbers = [
        Number(
            name,
            statistic,
            "odds ratio",
            method,
            turns,
            f"condition_odds_ratio_{key}",
            interval=interval,
        )
        for name, (statistic, key) in rows.items()
    ]
    return tabulate(
        "pair", numbers or [Number("no pair", model, "odds ratio", method, turns)], bootstrap
    )


# Dimension by condition


@dataclass(frozen=True)
class DimensionByCondition:
    """The test of dimension by condition."""

    test: pd.DataFrame
    where: dict
    deviations: pd.DataFrame


@finding
def dimension_by_condition(study: Study, bootstrap: ParticipantBootstrap) -> DimensionByCondition:
    r"""Return the test of dimension by condition: whether a condition gains more on one dimension than on another.

    With :math:`m_{dc}` the mean over the conversations of condition c of their mean rating on dimension d, and dots for
    means over dimensions or conditions, each counting the same:

    .. math:: \text{deviation}_{dc} = m_{dc} - m_{d\cdot} - m_{\cdot c} + m_{\cdot\cdot}

    The statistic is the largest :math:`|\text{deviation}_{dc}|` in units of its bootstrap standard error; p is the
    share of resamples in which the largest distance of a deviation from its estimate, in the same units, is at least as
    large. So it allows for the number of dimensions and conditions, and for what a participant's ratings have in
    common. Only conversations rated on every dimension that anybody rated count; conditions with fewer than five of
    these are left out.

    References
    ----------
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing (the largest of several statistics).
    """
    require_own(study, bootstrap)
    names, frame, fewest = study.rated_dimensions, conversation_ratings(study), 5
    frame = frame[frame[["condition", "participant", *names]].notna().all(axis=1) & bool(names)]
    frame = frame[frame.groupby("condition")["condition"].transform("size") >= fewest]
    conditions, who = present_in(study, frame), frame["participant"]
    common = {
        "unit": POINTS,
        "method": "deviation of a dimension in a condition from both their means",
    }
    tested = {
        "n": len(frame),
        "unit": "p value",
        "method": "largest deviation of a dimension in a condition, in bootstrap standard errors",
    }
    rows, where = {}, None

    def deviations(sums: np.ndarray) -> np.ndarray:  # (..., conditions, 1 + dimensions)
        means = sums[..., 1:] / sums[..., :1]
        profiles = means - means.mean(axis=-2, keepdims=True)
        return profiles - profiles.mean(axis=-1, keepdims=True)

    reason = no_pairs(study)
    if not reason and len(names) < 2:
        reason = "fewer than two dimensions were rated in this data set"
    if not reason and len(conditions) < 2:
        reason = "fewer than two conditions have conversations in which every dimension was rated"
    largest = estimate_row(n=len(frame), **common, reason=reason)
    interaction = largest | {"unit": "p value"}
    if not reason:
        groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
        values = (
            groups[:, :, None] * np.column_stack([np.ones(len(frame)), frame[names]])[:, None, :]
        )
        estimates, drawn = (
            deviations(values.sum(axis=0)),
            bootstrap.distribution(deviations, values, who),
        )
        for (i, dimension), (j, condition) in itertools.product(
            enumerate(names), enumerate(conditions)
        ):
            found = Estimate(estimates[j, i], *bootstrap.interval(drawn[:, j, i], who))
            rows[f"{dimension}, {condition}"] = bootstrap.row(found, n=groups[:, j].sum(), **common)
        known = drawn[np.isfinite(drawn).all(axis=(1, 2))]
        errors = known.std(axis=0) if len(known) > 1 else np.zeros_like(estimates)
        reason = bootstrap.too_few(who).replace("no interval", "no test")
        if not reason and not (rounded(errors) > 0).all():
            reason = "no test: a deviation is the same in every resample"
        if not reason and len(known) < (1 - MOST_UNDEFINED) * len(drawn):
            reason = "no test: too many resamples lack a condition"
        interaction = estimate_row(**tested, reason=reason)
        if not reason:
            observed = np.abs(estimates / errors).max()
            by_chance = np.abs((known - estimates) / errors).max(axis=(1, 2))
            p = (np.count_nonzero(by_chance >= observed - 1e-12) + 1) / (len(known) + 1)
            interaction = estimate_row(p, **tested)
    table = estimate_table(rows, "dimension, condition")
    if rows:
        where = str(rounded(table["estimate"].abs()).idxmax())
        largest = table.loc[where].to_dict()
        largest["method"] += "; the largest of all"
    keys = {
        "interaction": "condition_by_dimension_p",
        "largest deviation": "condition_by_dimension_largest",
    }
    named = {
        "n": int(largest["n"]),
        "unit": "dimension, condition",
        "method": "largest deviation in size",
    }
    named |= {
        "key": "condition_by_dimension_where",
        "estimate": where,
        "reason": "" if rows else reason,
    }
    test = estimate_table({"interaction": interaction, "largest deviation": largest}, "test", keys)
    return DimensionByCondition(test, named, table)


# Equal loadings


@finding
def largest_loading_difference(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the largest difference of a factor loading, prompted condition minus the others together.

    .. math:: \hat\delta_d = \hat\lambda_{d, \text{prompted}} - \hat\lambda_{d, \text{others}}, \quad
              \hat\delta_{d^*} \text{ with } d^* = \arg\max_d |\hat\delta_d|

    with :math:`\lambda` the loadings of one factor by maximum likelihood on the correlations of the turns that rate
    every dimension (:func:`sense7.estimators.factor.fit_one_factor`), at least 20 in each group. The interval allows
    for the dimension having been picked as the largest: with :math:`s_d` the bootstrap standard errors and * a resample
    (the first 1,000),

    .. math:: \hat\delta_{d^*} \pm c\, s_{d^*}, \quad
              c = \text{quantile of } \max_d |\hat\delta^*_d - \hat\delta_d| / s_d

    at the confidence, so that all dimensions' intervals hold their differences together.

    Returns
    -------
    DataFrame
        One row: estimate (difference of two correlations of dimension and factor), low, high, n (turns that rate every
        dimension), unit, method (which names the dimension), reason.
    """
    require_own(study, bootstrap)
    fewest = 20
    known = study.turns_put_to_rating["condition"].notna().to_numpy()
    ratings = turn_ratings(study)[known]
    prompted = (
        study.turns_put_to_rating["condition"][known] == study.prompted_condition
    ).to_numpy()
    used, note = usable(ratings.set_axis(pd.RangeIndex(len(ratings))))
    people, prompted = ratings.index[used.index], prompted[used.index]
    common = {"n": len(used), "unit": "difference of loadings"}
    method = "one factor by maximum likelihood, turns that rate every dimension"

    def differences(sums: np.ndarray) -> np.ndarray:
        loadings = fit_one_factor(
            correlations_from_covariances(covariances_from_sums(sums))
        ).loadings
        return loadings[..., 0, :] - loadings[..., 1, :]

    reason = ""
    if study.prompted_condition is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    elif used.shape[1] < ITEMS_FOR_A_FACTOR:
        reason = f"a factor needs {ITEMS_FOR_A_FACTOR} dimensions that were rated and vary{note}"
    elif min(prompted.sum(), (~prompted).sum()) < fewest:
        reason = (
            f"turns that rate every dimension: {prompted.sum()} in the prompted condition and {(~prompted).sum()} in "
            f"the others; this needs {fewest} in each"
        )
    row = estimate_row(**common, method=method, reason=reason)
    if not reason:
        everyone = pd.Index(people.unique())
        moments = np.zeros((len(everyone), 2, 4, used.shape[1], used.shape[1]))
        for place, group in enumerate((prompted, ~prompted)):
            sums, names = moments_by_participant(used[group].to_numpy(dtype=float), people[group])
            moments[everyone.get_indexer(names), place] = sums
        estimates, undefined = (
            differences(moments.sum(axis=0)),
            "some of the ratings are the same, or sums of others",
        )
        row["reason"] = f"no factor model can be fitted: {undefined}"
        if np.isfinite(estimates).all():
            largest, own = (
                int(rounded(np.abs(estimates)).argmax()),
                replace(bootstrap, draws=min(bootstrap.draws, 1_000)),
            )
            method += f"; {used.columns[largest]}, prompted condition minus the others, the largest in size"
            draws = own.distribution(differences, moments, pd.Series(everyone))
            fitted = draws[np.isfinite(draws).all(axis=1)]
            errors = fitted.std(axis=0) if len(fitted) else np.zeros(len(estimates))
            reason, reach = own.too_few(people.to_series()), np.nan
            if not reason and (
                len(fitted) < (1 - MOST_UNDEFINED) * len(draws) or not (rounded(errors) > 0).all()
            ):
                reason = (
                    "no interval: the factor model can't be fitted in too many of the resamples"
                )
            if not reason:
                c = np.quantile((np.abs(fitted - estimates) / errors).max(axis=1), own.confidence)
                reach = c * errors[largest]
                method += f"; {own.confidence:.0%} interval for all dimensions together"
                method += f", {own.draws:,} resamplings of participants"
            limits = estimates[largest] - reach, estimates[largest] + reach
            row = estimate_row(estimates[largest], *limits, **common, method=method, reason=reason)
    keys = {"largest difference": "prompted_largest_loading_difference"}
    return estimate_table({"largest difference": row}, "loading", keys)


# Fading

MEAN = "the mean of the rated dimensions"


def rated_turns(study: Study) -> pd.DataFrame:
    """Rated turns: conversation, participant, condition, turn, y (mean of the rated dimensions)."""
    turns = study.turns[["conversation", "participant", "condition", "turn"]]
    turns = turns.assign(y=turn_rating(study.turns, "dimensions"))
    return turns[turns["y"].notna()].reset_index(drop=True)


def levels_by_turn(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return the mean rating of the first turn, the second, and so on to at most the tenth, by condition.

    A turn counts by the mean of its rated dimensions. Later turns are those of the conversations that are still going,
    so that a change from turn to turn may be one of which conversations remain; :func:`prompt_fading` compares each
    with itself. One table per condition (``all conversations`` if there is none); n counts rated turns.
    """
    require_own(study, bootstrap)
    turns = rated_turns(study)
    last = max(int(turns["turn"].max()) if len(turns) else 1, 1)

    def mean(chosen: pd.DataFrame):
        need(len(turns), f"{MEAN} of a turn was never given in this data set")
        need(len(chosen), "no such turn was rated")
        return share(bootstrap, chosen["y"], np.ones(len(chosen)), chosen["participant"])

    tables = {}
    for condition in study.conditions or ["all conversations"]:
        own = turns[turns["condition"] == condition] if study.conditions else turns
        by_turn = {turn: own[own["turn"] == turn] for turn in range(1, min(10, last) + 1)}
        how = "level, 1 to 5", f"mean over turns of {MEAN}"
        numbers = [
            Number(turn, partial(mean, chosen), *how, chosen) for turn, chosen in by_turn.items()
        ]
        tables[condition] = tabulate("turn", numbers, bootstrap)
    return tables


@finding
def prompt_fading(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return whether the empathy prompt's advantage fades: its slope per turn minus that of the other conditions.

    .. math:: y_{ct} - \bar y_c = \beta_{g(c)} (t - \bar t_c) + e_{ct}

    by least squares over all rated turns t of the conversations c, with one slope for the prompted condition and one
    for all others; y is the mean of a turn's rated dimensions. Each conversation is compared with itself, so that it
    does not matter which conversations are long. A straight line is assumed; a long conversation weighs more.

    Returns
    -------
    DataFrame
        The difference of the slopes (points per turn; negative: it fades) over all participants, and over those who had
        conversations of both kinds: estimate, low, high, n (rated turns), unit, method, reason.
    """
    require_own(study, bootstrap)
    every = rated_turns(study)
    turns = every[every["condition"].notna()].reset_index(drop=True)
    prompted = (turns["condition"] == study.prompted_condition).to_numpy()
    kinds = pd.Series(prompted).groupby(turns["participant"]).transform("nunique").to_numpy()

    def slopes(used: np.ndarray):
        need(len(every), f"{MEAN} of a turn was never given in this data set")
        need(
            study.prompted_condition is not None,
            "it is not known which condition has the empathy prompt",
        )
        need(
            prompted.any() and not prompted.all(),
            "there is no condition to compare the empathy prompt with",
        )
        need(used.any(), "no participant met both")
        own, groups = turns[used], np.column_stack([prompted, ~prompted])[used]
        columns = groups * own[["turn"]].to_numpy(dtype=float)
        z = within(np.column_stack([columns, own["y"]]), own["conversation"])
        return resampled(
            bootstrap, coefficient(0, minus=1), z[:, :, None] * z[:, None, :], own["participant"]
        )

    method = f"least squares of {MEAN}, each conversation minus its own mean"
    undefined = "no conversation has two rated turns to compare"
    everyone = np.ones(len(turns), dtype=bool)
    return tabulate(
        "participants",
        [
            Number(
                name, partial(slopes, used), "points per turn", method, turns[used], key, undefined
            )
            for name, used, key in (
                ("all participants", everyone, "prompt_fading"),
                ("participants who met both", kinds == 2, "prompt_fading_within"),
            )
        ],
        bootstrap,
    )
