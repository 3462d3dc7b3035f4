"""Conditions compared: means, mixed model, odds ratios, dimension by condition, equal loadings, fading."""

import itertools
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.checkout import data_file
from sense7.files import read_json
from sense7.findings.core import (
    Number,
    finding,
    frame_of,
    mean_number,
    need,
    resampled,
    tabulate,
    value_row,
)
from sense7.findings.measures import conversation_ratings, need_prompt, turn_rating, turn_ratings
from sense7.statistics.alpha import (
    correlations_from_covariances,
    covariances_from_sums,
    moments_by_participant,
    usable,
)
from sense7.statistics.bootstrap import MOST_UNDEFINED, ParticipantBootstrap, ratio
from sense7.statistics.cumulative_logit import fit_cumulative_logit, separated
from sense7.statistics.effect_size import cohens_d, group_moments, mean_difference
from sense7.statistics.estimates import (
    Estimate,
    estimate_row,
    estimate_table,
    holm,
    p_in_words,
    safe_names,
)
from sense7.statistics.factor import ITEMS_FOR_A_FACTOR, fit_one_factor
from sense7.statistics.least_squares import coefficient, cross_products, indicators, within
from sense7.statistics.mixed import (
    Nested,
    NestedSums,
    fit_nested,
    nested_sums,
    satterthwaite,
    satterthwaite_f,
)
from sense7.statistics.order import rounded
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
    "reference_odds_ratios",
]

POINTS = "points (levels from 1 to 5)"
LEVEL = "level (from 1 to 5)"
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


class Pair(NamedTuple):
    """Two conditions that are compared, and how both stand in a key: ``<first>_<second>``."""

    first: str
    second: str
    in_key: str


def condition_pairs(study: Study) -> dict[str, Pair]:
    """All pairs of conditions that are compared, by the row's name; none if there are more than 12 conditions."""
    if len(study.conditions) > MOST_CONDITIONS:
        return {}
    safe = safe_names(study.conditions)
    pairs = {}
    for first, second in itertools.combinations(ordered_conditions(study), 2):
        pairs[f"{first} minus {second}"] = Pair(first, second, f"{safe[first]}_{safe[second]}")
    return pairs


def no_pairs(study: Study) -> str:
    """Why no pair of conditions is compared; "" if pairs are."""
    if len(study.conditions) > MOST_CONDITIONS:
        return f"{len(study.conditions)} conditions are too many to compare all pairs"
    if not study.conditions:
        return NO_CONDITION
    if len(study.conditions) == 1:
        return ONE_CONDITION
    return ""


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
    is_identified = study.prompted_condition is not None
    need(is_identified, f"which condition is prompted is not known: {study.prompted_reason}")
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
    with_condition = study.conversations[study.conversations["condition"].notna()]
    met = with_condition.groupby("participant")["condition"].agg(["size", "nunique"])
    if not study.conditions:
        return Design("no condition", NO_CONDITION, len(met))
    if len(study.conditions) == 1:
        return Design("one condition", ONE_CONDITION, len(met))
    conditions_met = met.loc[met["size"] > 1, "nunique"]
    if conditions_met.empty:
        return Design("between participants", "no participant has two conversations", len(met))
    met_several = conditions_met > 1
    met_all = conditions_met == len(study.conditions)
    design = "mixed"
    if met_several.mean() >= 0.9:
        design = "within participants"
    elif met_several.mean() <= 0.1:
        design = "between participants"
    words = (
        f"{met_several.sum():,} of {count_of(len(conditions_met), 'participant')} with several conversations "
        f"met several conditions, and {met_all.sum():,} met all {len(study.conditions)}"
    )
    return Design(design, words, len(met))


@finding
def design_values(study: Study) -> list[dict]:
    """Return the kind of :func:`condition_design`, and its words, as two values for a record."""
    design = condition_design(study)
    method = "participants with several conversations, by the number of conditions they met"
    common = {"n": design.n, "unit": "design", "method": method}
    return [
        value_row("condition_design", design.kind, **common),
        value_row("condition_design_words", design.words, **common),
    ]


# Means


@finding
def condition_means(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth"
) -> pd.DataFrame:
    """Return the mean rating (1..5) of the conversations of each condition; n counts conversations with the rating.

    ``rating`` is ``ground_truth`` or ``overall``. Conversations without it are left out.
    """
    frame = compared_conversations(study, rating)
    words, key = RATINGS[rating]
    in_keys = safe_names(study.conditions)

    def number(name: str) -> Number:
        rows = frame[frame["condition"] == name]
        return mean_number(
            bootstrap,
            rows["y"],
            rows,
            [
                (study.conditions, NO_CONDITION),
                (len(frame), f"no conversation with a condition has a {words} in this data set"),
                (len(rows), f"no conversation of this condition has a {words}"),
            ],
            label=name,
            unit=LEVEL,
            method=f"mean over conversations of the {words}",
            key=f"{key}_{in_keys[name]}" if name in in_keys else "",
        )

    numbers = [number(name) for name in ordered_conditions(study) or ["no condition"]]
    return tabulate("condition", numbers, bootstrap)


@finding
def condition_differences(
    study: Study, bootstrap: ParticipantBootstrap, *, standardized: bool = False
) -> pd.DataFrame:
    r"""Return the difference of the mean ground truths of each pair of conditions, in points or as Cohen's d.

    .. math:: \bar y_a - \bar y_b, \quad d = (\bar y_a - \bar y_b) / s_{ab}

    over conversations, s pooled over the two conditions (:func:`sense7.statistics.effect_size.cohens_d`). One row that
    says so if there are fewer than two conditions, or more than 12. n counts conversations.
    """
    frame = compared_conversations(study)
    unit = POINTS
    contrast = "difference of means"
    statistic = mean_difference
    undefined = "no rated conversation"
    method = "difference of means over conversations"
    in_units = ""
    key_of = ""
    if standardized:
        in_units = ", in standard deviations"
        key_of = "condition_d_{}"
        unit = "Cohen's d"
        contrast = "Cohen's d"
        statistic = cohens_d
        undefined = "too few conversations, or ratings that do not vary"

    def number(name: str, pair: Pair) -> Number:
        first, second, in_key = pair
        rows = frame[frame["condition"].isin([first, second])]

        def difference():
            empty = [
                condition
                for condition in (first, second)
                if condition not in set(rows["condition"])
            ]
            need(not empty, f"no rated conversation in {' and '.join(empty)}")
            moments = group_moments(rows["y"], rows["condition"] == second)
            return resampled(bootstrap, statistic, moments, rows["participant"])

        return Number(
            label=name,
            statistic=difference,
            unit=unit,
            method=f"{method}{in_units}",
            rows=rows,
            key=key_of.format(in_key),
            undefined=undefined,
            groups=rows["condition"],
            contrast=contrast,
        )

    numbers = [number(name, pair) for name, pair in condition_pairs(study).items()]
    numbers = numbers or [_no_pair(study, frame, unit, method)]
    return tabulate("pair", numbers, bootstrap)


def _no_pair(study: Study, rows: pd.DataFrame, unit: str, method: str) -> Number:
    """The only row of a table of pairs where no pair is compared: it says why."""
    return Number("no pair", None, unit, method, rows, reason=no_pairs(study))


@finding
def prompted_minus_mean_of_others(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the prompted condition's mean ground truth minus the mean of the other conditions' means.

    Each of the other conditions counts the same, however many conversations it has. One row; n counts conversations.
    """
    frame = compared_conversations(study)
    present = present_in(study, frame)

    def first_minus_others(sums: np.ndarray) -> np.ndarray:
        means = ratio(sums)
        return means[..., 0] - means[..., 1:].mean(axis=-1)

    def difference():
        need(study.conditions, NO_CONDITION)
        need(len(frame), NEVER_RATED)
        need_prompted(study, present)
        sums = sums_by_condition(frame, present)
        return resampled(bootstrap, first_minus_others, sums, frame["participant"])

    number = Number(
        label="ground truth",
        statistic=difference,
        unit=POINTS,
        method="mean of the prompted condition minus mean of the others' means",
        rows=frame,
        key="prompted_difference_ground_truth",
        undefined="the ratings do not vary",
        groups=frame["condition"],
        contrast="difference of means",
    )
    return tabulate("rating", [number], bootstrap)


def sums_by_condition(frame: pd.DataFrame, conditions: list[str]) -> np.ndarray:
    """Value and a one of each row, in the column of its condition: (rows, conditions, 2)."""
    values = np.column_stack([frame["y"], np.ones(len(frame))])
    return cross_products(indicators(frame["condition"], conditions), values)


@finding
def best_condition(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Return the condition with the highest mean, and the share of bootstrap resamples in which it is the highest.

    Returns
    -------
    dict
        ``best``: a value for a record, whose estimate is the name, or None with the reason where several share the
        highest mean; ``share``: a row of estimates, the share of resamples in which that condition alone is the
        highest. There is no share with too few participants in a condition, as there is no interval of a difference.
    """
    frame = compared_conversations(study)
    present = present_in(study, frame)
    reason = ""
    if not study.conditions:
        reason = NO_CONDITION
    elif frame.empty:
        reason = NEVER_RATED
    elif len(present) < 2:
        reason = ONE_CONDITION
    else:
        sums = sums_by_condition(frame, present)
        means = rounded(ratio(sums.sum(axis=0)))
        is_highest = means >= means.max()
        if is_highest.sum() > 1:
            reason = "several conditions have the same highest mean"

    best = None
    share_of_resamples = np.nan
    no_share = reason
    if not reason:
        best = present[means.argmax()]
        few = _too_few(bootstrap, frame["participant"], frame["condition"], "difference of means")
        no_share = few.replace("no interval", "no share")
    if not no_share:
        means_in_resamples = bootstrap.distribution(ratio, sums, frame["participant"])
        means_in_resamples = rounded(means_in_resamples)
        # A condition that a resample does not hold is not the highest in it.
        compared = np.where(np.isnan(means_in_resamples), -np.inf, means_in_resamples)
        of_best = means_in_resamples[:, is_highest]
        share_of_resamples = (of_best > compared[:, ~is_highest]).all(axis=1).mean()

    method = f"condition with the highest mean {RATINGS['ground_truth'][0]}"
    resamples = count_of(bootstrap.draws, "resampling")
    return {
        "best": value_row(
            "best_condition", best, n=len(frame), unit="condition", method=method, reason=reason
        ),
        "share": estimate_row(
            share_of_resamples,
            n=len(frame),
            unit="share of resamplings",
            method=f"{method}; {resamples} of participants",
            reason=no_share,
            key="best_condition_share",
        ),
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
        forms = {
            "difference": "{:z.3f}".format,
            "standard error": "{:.3f}".format,
            "degrees of freedom": "{:.1f}".format,
            "p": p_in_words,
            "p (Holm)": p_in_words,
        }
        return pd.DataFrame({name: self.pairs[name].map(form) for name, form in forms.items()})


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
    if frame is None:
        frame = compared_conversations(study)
    present = present_in(study, frame)
    all_pairs = condition_pairs(study)
    reason = _why_no_contrasts(study, frame, present)
    if not reason:
        sums = nested_sums(
            frame["y"],
            indicators(frame["condition"], present),
            frame["participant"],
            frame["condition"],
            frame.get("conversation"),
        )
        fit = fit_nested(sums)
        if not np.isfinite(fit.variances).all():
            conversations = count_of(len(frame), "conversation")
            conditions = count_of(len(present), "condition")
            reason = f"{conversations} in {conditions}: none is left to estimate noise from"

    no_error = ""
    no_test = reason
    if not reason:
        no_error = _why_no_error(frame, fit)
        no_test = f"no test: {no_error}"
    of_tests = {"n": len(frame), "unit": "p value"}
    overall = estimate_row(**of_tests, method=MODEL, reason=no_test)
    tests = dict.fromkeys(all_pairs, overall)
    shown_pairs = list(all_pairs)
    pairs = pd.DataFrame(columns=_CONTRAST_COLUMNS)
    if not reason and not no_error:
        pairs = _compared_in_model(all_pairs, present, sums, fit)
        shown_pairs = list(pairs.index)
        overall = _f_test(sums, fit, len(present), len(frame))
        tests = {}
        for name, pair in pairs.iterrows():
            t_test = f"t test with {pair['degrees of freedom']:.1f} degrees of freedom"
            holm_over = count_of(len(pairs), "pair")
            method = f"{MODEL}; {t_test}, Holm over {holm_over}"
            tests[name] = estimate_row(pair["p (Holm)"], **of_tests, method=method)

    def number(name: str) -> Number:
        first, second, in_key = all_pairs[name]

        def difference():
            if not no_error:
                pair = pairs.loc[name]
                tail = (1 + bootstrap.confidence) / 2
                reach = pair["standard error"] * stats.t.ppf(tail, pair["degrees of freedom"])
                middle = pair["difference"]
                return Estimate(middle, middle - reach, middle + reach)
            if first not in present or second not in present:
                return Estimate(np.nan)
            contrast = np.dot(_contrast(first, second, present), fit.coefficients)
            return Estimate(contrast, reason=f"no interval: {no_error}")

        return Number(
            label=name,
            statistic=difference,
            unit=POINTS,
            method=MODEL,
            rows=frame,
            key=f"condition_model_difference_{in_key}",
            undefined=f"no interval: {no_error}",
            reason=reason,
            interval=f"{bootstrap.confidence:.0%} interval of the model (t), "
            "participants as random effects",
        )

    differences = estimate_table({}, "pair", {})
    if shown_pairs:
        differences = tabulate("pair", [number(name) for name in shown_pairs], bootstrap)
    test_keys = {name: f"condition_p_holm_{pair.in_key}" for name, pair in all_pairs.items()}
    return Contrasts(
        differences=differences,
        p=estimate_table(tests, "pair", test_keys),
        overall=estimate_table({"F test": overall}, "test", {"F test": "condition_p_f_test"}),
        pairs=pairs,
        reason=no_error or reason,
    )


_CONTRAST_COLUMNS = ["difference", "standard error", "degrees of freedom", "p", "p (Holm)"]


def _why_no_contrasts(study: Study, frame: pd.DataFrame, present: list[str]) -> str:
    """Why conditions can't be compared in a model; "" if they can."""
    if no_pairs(study):
        return no_pairs(study)
    if frame.empty:
        return NEVER_RATED
    if len(present) < 2:
        return "only one condition has rated conversations"
    if rounded(np.ptp(frame["y"])) == 0:
        return "the ratings do not vary"
    return ""


def _why_no_error(frame: pd.DataFrame, fit: Nested) -> str:
    """Why differences of conditions have no standard error in the model; "" if they have one."""
    if frame["participant"].nunique() < 2:
        return "there is one participant only, so that participants can't be random effects"
    _, participant_by_condition, conversation, residual = fit.variances
    if participant_by_condition == 0 and conversation == 0 and residual == 0:
        return (
            "ratings agree exactly: within participants, conditions differ by the same for everybody, "
            "and no noise is left"
        )
    return ""


def _compared_in_model(
    pairs: dict[str, Pair], present: list[str], sums: NestedSums, fit: Nested
) -> pd.DataFrame:
    """Every pair of conditions that have rows: difference, its error and degrees of freedom, p values."""
    contrasts = {}
    for name, (first, second, _) in pairs.items():
        if first in present and second in present:
            contrasts[name] = _contrast(first, second, present)
    weights = np.array(list(contrasts.values()))
    difference = weights @ fit.coefficients
    error = np.sqrt(np.einsum("ci,ij,cj->c", weights, fit.covariance, weights))
    freedom = np.clip(satterthwaite(sums, fit, weights), 1, None)
    p = 2 * stats.t.sf(np.abs(difference / error), freedom)
    return pd.DataFrame(
        np.column_stack([difference, error, freedom, p, holm(p)]),
        index=pd.Index(list(contrasts), name="pair"),
        columns=_CONTRAST_COLUMNS,
    )


def _contrast(first: str, second: str, conditions: list[str]) -> list[float]:
    """Weights of the conditions' coefficients that give the first condition minus the second one."""
    return [float(name == first) - float(name == second) for name in conditions]


def _f_test(sums: NestedSums, fit: Nested, conditions: int, n: int) -> dict:
    """The F test of no difference between any conditions, as a row of estimates."""
    identity = np.eye(conditions)
    f, freedom, p = satterthwaite_f(sums, fit, identity[1:] - identity[0])
    if not np.isfinite(p):
        reason = (
            "too few participants and conversations for a test: a condition's mean has at most "
            "two degrees of freedom"
        )
        return estimate_row(n=n, unit="p value", method=MODEL, reason=reason)
    words = f"F = {f:z.2f} on {conditions - 1} and {freedom:.1f} degrees of freedom (Satterthwaite)"
    return estimate_row(p, n=n, unit="p value", method=f"{MODEL}; {words}")


def p_values_in_words(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the p values of a table of estimates in words: p, n, method, and a note where there is none."""
    columns = {
        "p": tests["estimate"].map(p_in_words),
        "n": tests["n"],
        "method": tests["method"],
    }
    if tests["reason"].any():
        columns["note"] = tests["reason"]
    return pd.DataFrame(columns)


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
    prompted = study.prompted_condition
    contrasts = mixed_contrasts(study, bootstrap, frame)
    compared_with_prompted = []
    for name, pair in condition_pairs(study).items():
        if pair.first == prompted and name in contrasts.pairs.index:
            compared_with_prompted.append(name)
    pairs = contrasts.pairs.loc[compared_with_prompted].astype(float)

    common = {
        "n": int(contrasts.differences["n"].max()) if len(contrasts.differences) else 0,
        "unit": POINTS,
        "key": "prompted_minus_best_other",
    }
    method = "mixed model: smallest difference of the prompted condition from another"
    reason = contrasts.reason
    if not reason and prompted is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    if not reason and pairs.empty:
        reason = "no rated conversation in the prompted condition, or in any other"
    if reason:
        return estimate_row(**common, method=method, reason=reason)

    difference = pairs["difference"].to_numpy()
    error = pairs["standard error"].to_numpy()
    freedom = pairs["degrees of freedom"].to_numpy()
    alpha = 1 - bootstrap.confidence
    lower_limits = difference - stats.t.ppf(1 - alpha / 2, freedom) * error
    upper_limits = difference + stats.t.ppf(1 - alpha / (2 * len(pairs)), freedom) * error
    interval = (
        f"{bootstrap.confidence:.0%} interval of the model (t): smallest lower limit "
        "(intersection-union), smallest upper limit (Bonferroni)"
    )
    return estimate_row(
        difference.min(),
        lower_limits.min(),
        upper_limits.min(),
        **common,
        method=f"{method}, of {count_of(len(pairs), 'difference')}; {interval}",
    )


# Cumulative logit


def main_turn_rating(study: Study) -> str:
    """The rating of turns by which conditions are compared: overall or, if never given, the dimension rated most."""
    if study.turns["overall"].notna().any():
        return "overall"
    return str(study.turns[list(DIMENSION_NAMES)].notna().sum().idxmax())


def reference_odds_ratios() -> pd.DataFrame:
    """Return R's odds ratio of two conditions of the reference study, marginal and conditional, as it is stored.

    The marginal one compares all turns of two conditions, regardless of who rated them, as :func:`odds_ratios` does;
    the conditional one those of one person and conversation. The study is simulated (``tests/reference``).
    """
    stored = read_json(data_file("reference.json"))["odds_ratios"]
    rows = {
        "marginal": ("no random effects", "clm", stored["marginal"]),
        "conditional": ("participants and conversations random", "clmm", stored["conditional"]),
    }
    table = frame_of(rows, "odds ratio is", ["cumulative logit", "function of R", "odds ratio"])
    return table.assign(pair=stored["pair"], package=stored["package"])


@finding
def odds_ratios(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return proportional odds ratios of all pairs of conditions, over turns.

    .. math:: \mathrm{OR}_{ab} = \exp(\beta_a - \beta_b)

    the factor by which the odds of a rating above any cut are higher in a than in b. It is marginal: all turns of two
    conditions are compared, regardless of who rated them. The rating is the overall one or,
    if that was never given, the dimension rated most often; turns without it or without a condition are left out. t
    intervals on the log scale, with one degree of freedom less than participants; errors clustered by participant.

    Returns
    -------
    DataFrame
        One row per pair: estimate, low, high (above 0; 1 if alike), n (turns of all conditions), unit, method, reason.

    Notes
    -----
    R: ordinal::clm, tests/reference/reference.R. For the conditional ratio see :func:`reference_odds_ratios`.
    """
    rating = main_turn_rating(study)
    turns = study.turns[study.turns[rating].notna() & study.turns["condition"].notna()]
    present = present_in(study, turns)
    levels = turns[rating].to_numpy(dtype=float)

    @cache
    def model():
        need(not no_pairs(study), no_pairs(study))
        need(present, "never rated in this data set")
        need(len(present) > 1, "only one condition has rated turns")
        need(len(turns["participant"].unique()) > 1, "there is one participant only")
        need(np.ptp(levels) > 0, "the ratings do not vary")
        is_separated = separated(levels, turns["condition"].to_numpy())
        always_higher = "some conditions were always rated at least as high as the others"
        need(not is_separated, f"{always_higher}: the odds ratio is not finite")
        design = indicators(turns["condition"], present)[:, 1:]
        fit = fit_cumulative_logit(levels, design, turns["participant"])
        need(fit, "too few turns for the model")
        return fit

    outcome = "overall rating" if rating == "overall" else f"rating of {rating}"
    described = {
        "unit": "odds ratio",
        "method": f"cumulative logit of the {outcome} on condition",
        "rows": turns,
    }

    def number(pair: Pair) -> Number:
        first, second, in_key = pair

        def odds_ratio():
            fit = model()
            absent = [name for name in (first, second) if name not in present]
            need(not absent, f"no rated turn in {' and '.join(absent)}")
            # The first condition is the reference and has no coefficient.
            contrast = np.array(_contrast(first, second, present[1:]))
            log_odds = contrast @ fit.coefficients
            error = np.sqrt(contrast @ fit.covariance @ contrast)
            reason = bootstrap.too_few(range(fit.participants))
            if not reason and fit.participants < 2 * len(present):
                participants = count_of(fit.participants, "participant")
                reason = f"no interval: {participants}: too few for clustered errors"
            if reason:
                return Estimate(np.exp(log_odds), reason=reason)
            tail = (1 + bootstrap.confidence) / 2
            reach = error * stats.t.ppf(tail, fit.participants - 1)
            low = np.exp(log_odds - reach)
            high = np.exp(log_odds + reach)
            return Estimate(np.exp(log_odds), low, high)

        return Number(
            label=f"{first} against {second}",
            statistic=odds_ratio,
            key=f"condition_odds_ratio_{in_key}",
            groups=turns["condition"].where(turns["condition"].isin([first, second])),
            contrast="odds ratio",
            interval=f"{bootstrap.confidence:.0%} t interval, errors clustered by participant",
            **described,
        )

    numbers = [number(pair) for pair in condition_pairs(study).values()]
    numbers = numbers or [_no_pair(study, **described)]
    return tabulate("pair", numbers, bootstrap)


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
    dimensions = study.rated_dimensions
    frame = conversation_ratings(study)
    is_complete = frame[["condition", "participant", *dimensions]].notna().all(axis=1)
    frame = frame[is_complete & bool(dimensions)]
    size_of_condition = frame.groupby("condition")["condition"].transform("size")
    frame = frame[size_of_condition >= FEWEST_IN_A_CONDITION]
    conditions = present_in(study, frame)

    reason = no_pairs(study)
    if not reason and len(dimensions) < 2:
        reason = "fewer than two dimensions were rated in this data set"
    if not reason and len(conditions) < 2:
        reason = "fewer than two conditions have conversations in which every dimension was rated"

    def number(dimension: str, condition: str, values: np.ndarray) -> Number:
        statistic = values
        if few:
            # Of a small condition few resamples have a deviation: that it is small is the reason to give.
            statistic = Estimate(float(values[0]), reason=few)
        return Number(
            label=f"{dimension}, {condition}",
            statistic=statistic,
            unit=POINTS,
            method=_DEVIATION,
            rows=frame[frame["condition"] == condition],
            participants=frame["participant"],
        )

    numbers = []
    where = None
    largest = estimate_row(n=len(frame), unit=POINTS, method=_DEVIATION, reason=reason)
    interaction = estimate_row(n=len(frame), unit="p value", method=_DEVIATION, reason=reason)
    few = ""
    if not reason:
        participants = frame["participant"]
        few = _too_few(bootstrap, participants, frame["condition"], "dimension by condition")
        columns = np.column_stack([np.ones(len(frame)), frame[dimensions]])
        values = cross_products(indicators(frame["condition"], conditions), columns)
        deviations = resampled(bootstrap, _deviations, values, participants)
        interaction = _test_of_deviations(deviations, len(frame), few)
        for i, dimension in enumerate(dimensions):
            for j, condition in enumerate(conditions):
                numbers.append(number(dimension, condition, deviations[:, j, i]))
    table = tabulate("dimension, condition", numbers, bootstrap)
    if numbers:
        where = str(rounded(table["estimate"].abs()).idxmax())
        largest = table.loc[where].to_dict()
        largest["method"] += "; the largest of all"
    tests = {"interaction": interaction, "largest deviation": largest}
    keys = {
        "interaction": "condition_by_dimension_p",
        "largest deviation": "condition_by_dimension_largest",
    }
    name_of_largest = value_row(
        "condition_by_dimension_where",
        where,
        n=int(largest["n"]),
        unit="dimension, condition",
        method="largest deviation in size",
        reason=reason,
    )
    return DimensionByCondition(estimate_table(tests, "test", keys), name_of_largest, table)


FEWEST_IN_A_CONDITION = 5
_DEVIATION = "deviation of a dimension in a condition from both their means"


def _deviations(sums: np.ndarray) -> np.ndarray:
    """Deviations (..., conditions, dimensions) from numbers and sums of ratings (..., conditions, 1 + dimensions)."""
    means = sums[..., 1:] / sums[..., :1]
    profiles = means - means.mean(axis=-2, keepdims=True)
    return profiles - profiles.mean(axis=-1, keepdims=True)


def _too_few(
    bootstrap: ParticipantBootstrap,
    participants: pd.Series,
    groups: pd.Series | np.ndarray,
    contrast: str,
) -> str:
    """Why there are too few participants in all, or else in a group of a contrast; "" if there are enough."""
    few = bootstrap.too_few(participants)
    return few or bootstrap.too_few_in_a_group(participants, groups, contrast)


def _test_of_deviations(deviations: np.ndarray, n: int, few: str) -> dict:
    """P value of the largest deviation in units of its bootstrap standard error, as a row of estimates."""
    estimates = deviations[0]
    in_resamples = deviations[1:]
    is_defined = np.isfinite(in_resamples).all(axis=(1, 2))
    defined = in_resamples[is_defined]
    errors = np.zeros_like(estimates)
    if len(defined) > 1:
        errors = defined.std(axis=0)
    reason = few.replace("no interval", "no test")
    if not reason and not (rounded(errors) > 0).all():
        reason = "no test: a deviation is the same in every resample"
    if not reason and len(defined) < (1 - MOST_UNDEFINED) * len(in_resamples):
        reason = "no test: too many resamples lack a condition"
    p = np.nan
    if not reason:
        observed = np.abs(estimates / errors).max()
        by_chance = np.abs((defined - estimates) / errors).max(axis=(1, 2))
        as_large = np.count_nonzero(by_chance >= observed - 1e-12)
        p = (as_large + 1) / (len(defined) + 1)
    return estimate_row(
        p,
        n=n,
        unit="p value",
        method="largest deviation of a dimension in a condition, in bootstrap standard errors",
        reason=reason,
    )


# Equal loadings


@finding
def largest_loading_difference(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the largest difference of a factor loading, prompted condition minus the others together.

    .. math:: \hat\delta_d = \hat\lambda_{d, \text{prompted}} - \hat\lambda_{d, \text{others}}, \quad
              \hat\delta_{d^*} \text{ with } d^* = \arg\max_d |\hat\delta_d|

    with :math:`\lambda` the loadings of one factor by maximum likelihood on the correlations of the turns that rate
    every dimension (:func:`sense7.statistics.factor.fit_one_factor`), at least 20 in each group. The interval allows
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
    condition = study.turns_put_to_rating["condition"].to_numpy()
    has_condition = pd.notna(condition)
    ratings = turn_ratings(study)[has_condition]
    used, note = usable(ratings.set_axis(pd.RangeIndex(len(ratings))))
    participants = ratings.index[used.index]
    prompted = (condition[has_condition] == study.prompted_condition)[used.index]

    reason = ""
    if study.prompted_condition is None:
        reason = f"which condition is prompted is not known: {study.prompted_reason}"
    elif used.shape[1] < ITEMS_FOR_A_FACTOR:
        reason = f"a factor needs {ITEMS_FOR_A_FACTOR} dimensions that were rated and vary{note}"
    elif min(prompted.sum(), (~prompted).sum()) < FEWEST_TURNS_IN_A_GROUP:
        reason = (
            f"turns that rate every dimension: {prompted.sum()} in the prompted condition and "
            f"{(~prompted).sum()} in the others; this needs {FEWEST_TURNS_IN_A_GROUP} in each"
        )
    row = estimate_row(n=len(used), unit=_LOADINGS, method=_ONE_FACTOR, reason=reason)
    if not reason:
        row = _largest_difference(used, participants, prompted, bootstrap)
    keys = {"largest difference": "prompted_largest_loading_difference"}
    return estimate_table({"largest difference": row}, "loading", keys)


FEWEST_TURNS_IN_A_GROUP = 20
_LOADINGS = "difference of loadings"
_ONE_FACTOR = "one factor by maximum likelihood, turns that rate every dimension"


def _loading_differences(sums: np.ndarray) -> np.ndarray:
    """Loadings in the first group minus those in the second, from both groups' sums of moments."""
    correlations = correlations_from_covariances(covariances_from_sums(sums))
    loadings = fit_one_factor(correlations).loadings
    return loadings[..., 0, :] - loadings[..., 1, :]


def _largest_difference(
    ratings: pd.DataFrame,
    participants: pd.Index,
    prompted: np.ndarray,
    bootstrap: ParticipantBootstrap,
) -> dict:
    """The largest difference of a loading with its simultaneous interval, as a row of estimates."""
    everybody = pd.Index(participants.unique())
    moments = np.zeros((len(everybody), 2, 4, ratings.shape[1], ratings.shape[1]))
    for group, in_group in enumerate((prompted, ~prompted)):
        values = ratings[in_group].to_numpy(dtype=float)
        sums, names = moments_by_participant(values, participants[in_group])
        moments[everybody.get_indexer(names), group] = sums
    estimates = _loading_differences(moments.sum(axis=0))
    if not np.isfinite(estimates).all():
        why = "some of the ratings are the same, or sums of others"
        reason = f"no factor model can be fitted: {why}"
        return estimate_row(n=len(ratings), unit=_LOADINGS, method=_ONE_FACTOR, reason=reason)

    largest = int(rounded(np.abs(estimates)).argmax())
    method = (
        f"{_ONE_FACTOR}; {ratings.columns[largest]}, prompted condition minus the others, "
        "the largest in size"
    )
    fewer_draws = bootstrap.first(1_000)
    in_resamples = fewer_draws.distribution(_loading_differences, moments, pd.Series(everybody))
    fitted = in_resamples[np.isfinite(in_resamples).all(axis=1)]
    errors = np.zeros(len(estimates))
    if len(fitted):
        errors = fitted.std(axis=0)
    too_many_undefined = len(fitted) < (1 - MOST_UNDEFINED) * len(in_resamples)
    reason = _too_few(fewer_draws, participants.to_series(), prompted, "loadings")
    if not reason and (too_many_undefined or not (rounded(errors) > 0).all()):
        reason = "no interval: the factor model can't be fitted in too many of the resamples"
    reach = np.nan
    if not reason:
        largest_departures = (np.abs(fitted - estimates) / errors).max(axis=1)
        c = np.quantile(largest_departures, fewer_draws.confidence)
        reach = c * errors[largest]
        method += f"; {fewer_draws.confidence:.0%} interval for all dimensions together"
        method += f", {fewer_draws.draws:,} resamplings of participants"
    return estimate_row(
        estimates[largest],
        estimates[largest] - reach,
        estimates[largest] + reach,
        n=len(ratings),
        unit=_LOADINGS,
        method=method,
        reason=reason,
    )


# Fading

MEAN = "the mean of the rated dimensions"


def rated_turns(study: Study) -> pd.DataFrame:
    """Rated turns: conversation, participant, condition, turn, y (mean of the rated dimensions)."""
    turns = study.turns[["conversation", "participant", "condition", "turn"]]
    turns = turns.assign(y=turn_rating(study.turns, "dimensions"))
    return turns[turns["y"].notna()].reset_index(drop=True)


@finding
def levels_by_turn(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return the mean rating of the first turn, the second, and so on to at most the tenth, by condition.

    A turn counts by the mean of its rated dimensions. Later turns are those of the conversations that are still going,
    so that a change from turn to turn may be one of which conversations remain; :func:`prompt_fading` compares each
    with itself. One table per condition (``all conversations`` if there is none); n counts rated turns.
    """
    turns = rated_turns(study)
    last = 1
    if len(turns):
        last = min(max(int(turns["turn"].max()), 1), 10)

    def number(turn: int, of_condition: pd.DataFrame) -> Number:
        rows = of_condition[of_condition["turn"] == turn]
        needs = [
            (len(turns), f"{MEAN} of a turn was never given in this data set"),
            (len(rows), "no such turn was rated"),
        ]
        unit = "level, 1 to 5"
        method = f"mean over turns of {MEAN}"
        return mean_number(bootstrap, rows["y"], rows, needs, label=turn, unit=unit, method=method)

    tables = {}
    for condition in study.conditions or ["all conversations"]:
        of_condition = turns
        if study.conditions:
            of_condition = turns[turns["condition"] == condition]
        numbers = [number(turn, of_condition) for turn in range(1, last + 1)]
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
    rated = rated_turns(study)
    turns = rated[rated["condition"].notna()].reset_index(drop=True)
    prompted = turns["condition"] == study.prompted_condition
    met_both = prompted.groupby(turns["participant"]).transform("nunique") == 2
    everybody = pd.Series(True, index=turns.index)

    def number(label: str, key: str, chosen: pd.Series) -> Number:
        rows = turns[chosen]

        def difference_of_slopes():
            need(len(rated), f"{MEAN} of a turn was never given in this data set")
            need_prompt(study, prompted)
            need(len(rows), "no participant met both")
            is_prompted = prompted[chosen]
            columns = np.column_stack(
                [
                    np.where(is_prompted, rows["turn"], 0.0),
                    np.where(is_prompted, 0.0, rows["turn"]),
                    rows["y"],
                ]
            )
            z = within(columns, rows["conversation"])
            products = cross_products(z)
            return resampled(bootstrap, coefficient(0, minus=1), products, rows["participant"])

        return Number(
            label=label,
            statistic=difference_of_slopes,
            unit="points per turn",
            method=f"least squares of {MEAN}, each conversation minus its own mean",
            rows=rows,
            key=key,
            undefined="no conversation has two rated turns to compare",
            groups=prompted[chosen],
            contrast="fading",
        )

    numbers = [
        number("all participants", "prompt_fading", everybody),
        number("participants who met both", "prompt_fading_within", met_both),
    ]
    return tabulate("participants", numbers, bootstrap)
