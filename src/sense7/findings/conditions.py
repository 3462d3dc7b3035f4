"""Conditions compared: means, mixed model, odds ratios, dimension by condition, equal loadings, fading."""

import itertools
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.checkout import data_file
from sense7.files import read_json
from sense7.findings.core import (
    Needs,
    Number,
    finding,
    frame_of,
    mean_number,
    resampled,
    tabulate,
    value_row,
)
from sense7.findings.measures import (
    answers_to,
    conversation_ratings,
    prompt_unknown,
    turn_rating,
    turn_ratings,
)
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
    "reference_odds_ratios",
]

POINTS = "points (levels from 1 to 5)"
LEVEL = "level (from 1 to 5)"
RATINGS = {
    "ground_truth": (
        "ground truth of the conversation",
        "a rating of a dimension",
        "condition_mean",
    ),
    "overall": (
        "mean overall rating of the conversation's turns",
        "the overall rating",
        "condition_mean_overall",
    ),
}
"""What a conversation is compared on -> words, words of the answers, beginning of the key of a condition's mean."""

NO_CONDITION = "condition was never given in this data set"
ONE_CONDITION = "there is one condition only, so there is nothing to compare"
NO_PROMPTED = "no rated conversation in the prompted condition, or in any other"
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


@finding
def design_values(study: Study) -> list[dict]:
    """Return how conditions are distributed over participants, as two values for a record: the kind, and its words.

    It is *within participants* if at least half of the participants met more than one condition, and else *between
    participants*; the words say how many did. Its kind may also be *one condition* and *no condition*.
    """
    with_condition = study.conversations[study.conversations["condition"].notna()]
    met = with_condition.groupby("participant")["condition"].nunique()
    several = met > 1
    everybody = count_of(len(met), "participant")
    words = f"{several.sum():,} of {everybody} met more than one condition"
    design = "between participants"
    if len(study.conditions) < 2:
        design = "one condition" if study.conditions else "no condition"
        words = no_pairs(study)
    elif 2 * several.sum() >= len(met):
        design = "within participants"
    method = "within participants if at least half of them met more than one condition"
    common = {"n": len(met), "unit": "design", "method": method}
    return [
        value_row("condition_design", design, **common),
        value_row("condition_design_words", words, **common),
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
    words, answer, key = RATINGS[rating]
    in_keys = safe_names(study.conditions)

    def number(name: str) -> Number:
        rows = frame[frame["condition"] == name]
        return mean_number(
            bootstrap,
            rows["y"],
            rows,
            label=name,
            unit=LEVEL,
            method=f"mean over conversations of the {words}",
            needs=Needs(answers=answers_to(study, "condition", answer)),
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
            moments = group_moments(rows["y"], rows["condition"] == second)
            return resampled(bootstrap, statistic, moments, rows["participant"])

        return Number(
            label=name,
            statistic=difference,
            unit=unit,
            method=f"{method}{in_units}",
            rows=rows,
            key=key_of.format(in_key),
            needs=Needs(answers=answers_to(study, "a rating of a dimension"), in_each_group=1),
            undefined=undefined,
            groups=rows["condition"],
            contrast=contrast,
        )

    numbers = [number(name, pair) for name, pair in condition_pairs(study).items()]
    numbers = numbers or [Number("no pair", None, unit, method, frame, reason=no_pairs(study))]
    return tabulate("pair", numbers, bootstrap)


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
    participants = frame["participant"]
    sums = sums_by_condition(frame, present)
    with np.errstate(invalid="ignore"):
        means = rounded(ratio(sums.sum(axis=0)))
    is_highest = means >= means.max(initial=-np.inf)
    best = None
    reason = ""
    if is_highest.sum() > 1:
        reason = "several conditions have the same highest mean"
    elif len(present) > 1:
        best = present[means.argmax()]

    def share_of_resamples():
        few = _too_few(bootstrap, participants, frame["condition"], "difference of means")
        if few:
            return Estimate(np.nan, reason=few.replace("no interval", "no share"))
        in_resamples = rounded(bootstrap.distribution(ratio, sums, participants))
        # A condition that a resample does not hold is not the highest in it.
        compared = np.where(np.isnan(in_resamples), -np.inf, in_resamples)
        is_best = in_resamples[:, is_highest] > compared[:, ~is_highest]
        return float(is_best.all(axis=1).mean())

    method = f"condition with the highest mean {RATINGS['ground_truth'][0]}"
    share = Number(
        label="share",
        statistic=share_of_resamples,
        unit="share of resamplings",
        method=f"{method}; {count_of(bootstrap.draws, 'resampling')} of participants",
        rows=frame,
        needs=Needs(
            answers=answers_to(study, "condition", "a rating of a dimension"), in_each_group=1
        ),
        groups=frame["condition"],
        key="best_condition_share",
        reason=reason,
    )
    row = share.row(bootstrap)
    best_reason = "" if best else row["reason"]
    common = {"n": len(frame), "unit": "condition", "method": method}
    return {
        "best": value_row("best_condition", best, **common, reason=best_reason),
        "share": row,
    }


# Mixed model

MODEL = "mixed model: participant, participant by condition, conversation; REML"


@dataclass(frozen=True)
class Contrasts:
    """All pairs of conditions by the mixed model."""

    differences: pd.DataFrame
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
    pairs = pd.DataFrame(columns=_CONTRAST_COLUMNS)
    f_test = Number(
        label="F test",
        statistic=None,
        unit="p value",
        method=MODEL,
        rows=frame,
        needs=Needs(in_each_group=1, varying={"the rating is": frame["y"]}),
        groups=frame["condition"],
        key="condition_p_f_test",
        reason=no_pairs(study),
    )
    reason = f_test.missing
    no_error = ""
    if not reason:
        sums = nested_sums(
            frame["y"],
            indicators(frame["condition"], present),
            frame["participant"],
            frame["condition"],
            frame.get("conversation"),
        )
        fit = fit_nested(sums)
        _, *smaller_variances = fit.variances
        if frame["participant"].nunique() < 2:
            no_error = "there is one participant only, so that participants can't be random effects"
        elif not np.any(smaller_variances):
            no_error = (
                "ratings agree exactly: within participants, conditions differ by the same for everybody, "
                "and no noise is left"
            )
        if not np.isfinite(fit.variances).all():
            conversations = count_of(len(frame), "conversation")
            conditions = count_of(len(present), "condition")
            reason = f"{conversations} in {conditions}: none is left to estimate noise from"
        reason = reason or sums.without_noise
        if not reason and not no_error:
            pairs = _compared_in_model(all_pairs, present, sums, fit)
            identity = np.eye(len(present))
            f, freedom, p = satterthwaite_f(sums, fit, identity[1:] - identity[0])
            if np.isfinite(p):
                degrees = f"{len(present) - 1} and {freedom:.1f} degrees of freedom (Satterthwaite)"
                f_test = replace(
                    f_test, statistic=float(p), method=f"{MODEL}; F = {f:z.2f} on {degrees}"
                )
            else:
                why = "a condition's mean has at most two degrees of freedom"
                too_few = f"too few participants and conversations for a test: {why}"
                f_test = replace(f_test, reason=too_few)
    if no_error or reason:
        f_test = replace(f_test, reason=reason or f"no test: {no_error}")

    def difference(name: str) -> Estimate:
        if name in pairs.index:
            pair = pairs.loc[name]
            tail = (1 + bootstrap.confidence) / 2
            reach = pair["standard error"] * stats.t.ppf(tail, pair["degrees of freedom"])
            return Estimate(
                pair["difference"], pair["difference"] - reach, pair["difference"] + reach
            )
        contrast = _contrast(all_pairs[name], present)
        if not np.any(contrast):
            return Estimate(np.nan)
        return Estimate(np.dot(contrast, fit.coefficients), reason=f"no interval: {no_error}")

    differences = []
    for name, pair in all_pairs.items():
        if len(pairs) and name not in pairs.index:
            continue
        number = replace(
            f_test,
            label=name,
            statistic=partial(difference, name),
            unit=POINTS,
            method=MODEL,
            key=f"condition_model_difference_{pair.in_key}",
            interval=f"{bootstrap.confidence:.0%} interval of the model (t), "
            "participants as random effects",
            reason=reason,
        )
        differences.append(number)
    return Contrasts(
        differences=tabulate("pair", differences, bootstrap),
        overall=tabulate("test", [f_test], bootstrap),
        pairs=pairs,
        reason=no_error or reason,
    )


_CONTRAST_COLUMNS = ["difference", "standard error", "degrees of freedom", "p", "p (Holm)"]


def _compared_in_model(
    pairs: dict[str, Pair], present: list[str], sums: NestedSums, fit: Nested
) -> pd.DataFrame:
    """Every pair of conditions that have rows: difference, its error and degrees of freedom, p values."""
    contrasts = {}
    for name, pair in pairs.items():
        contrast = _contrast(pair, present)
        if np.any(contrast):
            contrasts[name] = contrast
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


def _contrast(pair: Pair, conditions: list[str]) -> np.ndarray:
    """Weights of the coefficients for the first condition minus the second; zero if either has no rows."""
    names = np.array(conditions)
    is_first = names == pair.first
    is_second = names == pair.second
    return (is_first.astype(float) - is_second) * (is_first.any() and is_second.any())


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
    contrasts = mixed_contrasts(study, bootstrap, frame)
    is_compared = []
    for name, pair in condition_pairs(study).items():
        if pair.first == study.prompted_condition and name in contrasts.pairs.index:
            is_compared.append(name)
    pairs = contrasts.pairs.loc[is_compared].astype(float)

    def smallest():
        difference = pairs["difference"]
        error = pairs["standard error"]
        freedom = pairs["degrees of freedom"]
        alpha = 1 - bootstrap.confidence
        lower_limits = difference - stats.t.ppf(1 - alpha / 2, freedom) * error
        upper_limits = difference + stats.t.ppf(1 - alpha / (2 * len(pairs)), freedom) * error
        return Estimate(difference.min(), lower_limits.min(), upper_limits.min())

    of_pairs = count_of(len(pairs), "difference")
    number = Number(
        label="prompted minus the best of the others",
        statistic=smallest,
        unit=POINTS,
        method=f"mixed model: smallest of {of_pairs} of the prompted condition from another",
        rows=pd.RangeIndex(contrasts.differences["n"].max() if len(contrasts.differences) else 0),
        interval=f"{bootstrap.confidence:.0%} interval of the model (t): smallest lower limit "
        "(intersection-union), smallest upper limit (Bonferroni)",
        key="prompted_minus_best_other",
        reason=contrasts.reason or prompt_unknown(study) or NO_PROMPTED * pairs.empty,
    )
    return number.row(bootstrap)


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

    reason = no_pairs(study)
    if not reason and separated(levels, turns["condition"].to_numpy()):
        always_higher = "some conditions were always rated at least as high as the others"
        reason = f"{always_higher}: the odds ratio is not finite"

    @cache
    def model():
        design = indicators(turns["condition"], present)[:, 1:]
        return fit_cumulative_logit(levels, design, turns["participant"])

    outcome = "overall rating" if rating == "overall" else f"rating of {rating}"
    described = {
        "unit": "odds ratio",
        "method": f"cumulative logit of the {outcome} on condition",
        "rows": turns,
        "counted": "turn",
        "needs": Needs(participants=2, in_each_group=1, varying={"the rating is": levels}),
        "reason": reason,
    }

    def number(pair: Pair) -> Number:
        def odds_ratio():
            fit = model()
            if not fit:
                return Estimate(np.nan, reason="too few turns for the model")
            # The first condition is the reference and has no coefficient.
            contrast = _contrast(pair, present)[1:]
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
            return Estimate(*np.exp([log_odds, log_odds - reach, log_odds + reach]))

        is_compared = turns["condition"].isin([pair.first, pair.second])
        return Number(
            label=f"{pair.first} against {pair.second}",
            statistic=odds_ratio,
            key=f"condition_odds_ratio_{pair.in_key}",
            groups=turns["condition"].where(is_compared),
            contrast="odds ratio",
            interval=f"{bootstrap.confidence:.0%} t interval, errors clustered by participant",
            **described,
        )

    numbers = [number(pair) for pair in condition_pairs(study).values()]
    numbers = numbers or [Number("no pair", None, **described)]
    return tabulate("pair", numbers, bootstrap)


# Dimension by condition


@dataclass(frozen=True)
class DimensionByCondition:
    """The test of dimension by condition."""

    test: pd.DataFrame
    where: dict


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
    participants = frame["participant"]
    few = _too_few(bootstrap, participants, frame["condition"], "dimension by condition")
    where = None
    largest = np.full(1, np.nan)
    deviations = np.full((1, 1, 1), np.nan)
    test = Number(
        label="interaction",
        statistic=lambda: _test_of_deviations(deviations, few),
        unit="p value",
        method="largest deviation of a dimension in a condition, in bootstrap standard errors",
        rows=frame,
        needs=Needs(in_each_group=1),
        groups=frame["condition"],
        key="condition_by_dimension_p",
        reason=reason,
    )
    rows = frame

    def deviations_from_means(sums: np.ndarray) -> np.ndarray:
        means = sums[..., 1:] / sums[..., :1]
        profiles = means - means.mean(axis=-2, keepdims=True)
        return profiles - profiles.mean(axis=-1, keepdims=True)

    if not test.missing:
        columns = np.column_stack([np.ones(len(frame)), frame[dimensions]])
        values = cross_products(indicators(frame["condition"], conditions), columns)
        deviations = resampled(bootstrap, deviations_from_means, values, participants)
        sizes = rounded(np.abs(deviations[0].T))
        dimension, condition = np.unravel_index(sizes.argmax(), sizes.shape)
        where = f"{dimensions[dimension]}, {conditions[condition]}"
        largest = deviations[:, condition, dimension]
        rows = frame[frame["condition"] == conditions[condition]]
    if few:
        # Of a small condition few resamples have a deviation: that it is small is the reason to give.
        largest = Estimate(float(largest[0]), reason=few)
    deviation = Number(
        label="largest deviation",
        statistic=largest,
        unit=POINTS,
        method="deviation of a dimension in a condition from both their means; the largest of all",
        rows=rows,
        participants=participants,
        key="condition_by_dimension_largest",
        reason=test.missing,
    )
    table = tabulate("test", [test, deviation], bootstrap)
    name_of_largest = value_row(
        "condition_by_dimension_where",
        where,
        n=len(rows),
        unit="dimension, condition",
        method="largest deviation in size",
        reason=test.missing,
    )
    return DimensionByCondition(table, name_of_largest)


FEWEST_IN_A_CONDITION = 5


def _too_few(
    bootstrap: ParticipantBootstrap,
    participants: pd.Series,
    groups: pd.Series | np.ndarray,
    contrast: str,
) -> str:
    """Why there are too few participants in all, or else in a group of a contrast; "" if there are enough."""
    few = bootstrap.too_few(participants)
    return few or bootstrap.too_few_in_a_group(participants, groups, contrast)


def _test_of_deviations(deviations: np.ndarray, few: str) -> float | Estimate:
    """P value of the largest deviation in units of its bootstrap standard error, or why there is none."""
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
    if reason:
        return Estimate(np.nan, reason=reason)
    observed = np.abs(estimates / errors).max()
    by_chance = np.abs((defined - estimates) / errors).max(axis=(1, 2))
    as_large = np.count_nonzero(by_chance >= observed - 1e-12)
    return float((as_large + 1) / (len(defined) + 1))


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

    reason = prompt_unknown(study)
    if not reason and used.shape[1] < ITEMS_FOR_A_FACTOR:
        reason = f"a factor needs {ITEMS_FOR_A_FACTOR} dimensions that were rated and vary{note}"
    largest = Number(
        label="largest difference",
        statistic=None,
        unit="difference of loadings",
        method="one factor by maximum likelihood, turns that rate every dimension",
        rows=participants,
        counted="turn that rates every dimension",
        needs=Needs(in_each_group=FEWEST_TURNS_IN_A_GROUP),
        groups=prompted,
        key="prompted_largest_loading_difference",
        reason=reason,
    )
    if not largest.missing:
        largest = _largest_difference(largest, used, prompted, bootstrap)
    return tabulate("loading", [largest], bootstrap)


FEWEST_TURNS_IN_A_GROUP = 20


def _loading_differences(sums: np.ndarray) -> np.ndarray:
    """Loadings in the first group minus those in the second, from both groups' sums of moments."""
    correlations = correlations_from_covariances(covariances_from_sums(sums))
    loadings = fit_one_factor(correlations).loadings
    return loadings[..., 0, :] - loadings[..., 1, :]


def _largest_difference(
    number: Number, ratings: pd.DataFrame, prompted: np.ndarray, bootstrap: ParticipantBootstrap
) -> Number:
    """The number with the largest difference of a loading and its simultaneous interval."""
    participants = number.rows
    everybody = pd.Index(participants.unique())
    moments = np.zeros((len(everybody), 2, 4, ratings.shape[1], ratings.shape[1]))
    for group, in_group in enumerate((prompted, ~prompted)):
        values = ratings[in_group].to_numpy(dtype=float)
        sums, names = moments_by_participant(values, participants[in_group])
        moments[everybody.get_indexer(names), group] = sums
    estimates = _loading_differences(moments.sum(axis=0))
    if not np.isfinite(estimates).all():
        why = "some of the ratings are the same, or sums of others"
        return replace(number, reason=f"no factor model can be fitted: {why}")

    largest = int(rounded(np.abs(estimates)).argmax())
    name = ratings.columns[largest]
    method = f"{number.method}; {name}, prompted condition minus the others, the largest in size"
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
    estimate = Estimate(estimates[largest], reason=reason)
    if not reason:
        largest_departures = (np.abs(fitted - estimates) / errors).max(axis=1)
        reach = np.quantile(largest_departures, fewer_draws.confidence) * errors[largest]
        estimate = Estimate(
            estimates[largest], estimates[largest] - reach, estimates[largest] + reach
        )
    interval = f"{fewer_draws.confidence:.0%} interval for all dimensions together"
    resamplings = f"{fewer_draws.draws:,} resamplings of participants"
    return replace(number, statistic=estimate, method=method, interval=f"{interval}, {resamplings}")


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
        return mean_number(
            bootstrap,
            rows["y"],
            rows,
            label=turn,
            unit="level, 1 to 5",
            method=f"mean over turns of {MEAN}",
            counted="turn",
            needs=Needs(answers=answers_to(study, "a rating of a dimension")),
        )

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
    turns = rated_turns(study)
    turns = turns[turns["condition"].notna()].reset_index(drop=True)
    prompted = turns["condition"] == study.prompted_condition
    met_both = prompted.groupby(turns["participant"]).transform("nunique") == 2
    everybody = pd.Series(True, index=turns.index)

    def number(label: str, key: str, chosen: pd.Series) -> Number:
        rows = turns[chosen]

        def difference_of_slopes():
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
            counted="turn",
            needs=Needs(answers=answers_to(study, "a rating of a dimension"), in_each_group=1),
            reason=prompt_unknown(study),
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
