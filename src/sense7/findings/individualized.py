"""How individual ratings are: parts of their variance, two people in one condition, and people's characteristics."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd
from scipy import optimize, stats

from sense7.findings.context import CONTEXT, context_design, context_frame, varying
from sense7.findings.core import (
    Needs,
    Number,
    finding,
    frame_of,
    is_constant,
    rank_correlation,
    resampled,
    tabulate,
)
from sense7.findings.measures import conversation_ratings
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces, sums_by_participant
from sense7.statistics.estimates import (
    Estimate,
    estimate_row,
    estimate_table,
    p_in_words,
    safe_names,
)
from sense7.statistics.least_squares import cross_products, least_squares, within
from sense7.statistics.mixed import NestedSums, fit_nested, nested_sums
from sense7.statistics.order import rounded
from sense7.statistics.rater_agreement import icc_of_sums, icc_sums
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "own_ratings",
    "participant_icc",
    "relations",
    "variance_shares",
]

MODEL_DRAWS = 1000
"""A mixed model is fitted again in each resample, so fewer are drawn than where sums suffice."""

RATING = "ground truth of a conversation"

COMPARED = ("participant", "condition and topic", "participant minus condition and topic")
"""Rows of :func:`variance_shares` by which the claim is judged."""

PARTS = ("participant", "condition", "participant by condition", "context", "the rest")
"""Rows of :func:`variance_shares` that sum to one."""


def rated_conversations(study: Study) -> pd.DataFrame:
    """Conversations with ground truth ``y``, participant and condition (as text, one if there are none)."""
    frame = conversation_ratings(study).reset_index()
    frame = frame.assign(y=frame["ground_truth"])
    if not study.conditions:
        frame = frame.assign(condition="")
    return frame.dropna(subset=["y", "condition", "participant"])


def own_ratings(study: Study) -> pd.DataFrame:
    """Return the ground truth of each participant's conversations, in the order of the file: participant, rating."""
    frame = rated_conversations(study)
    return frame[["participant", "y"]].rename(columns={"y": "rating"}).reset_index(drop=True)


# The mixed model


@dataclass(frozen=True, eq=False)
class ModelVariances:
    """Variances by the mixed model, for all participants and then in every resample: arrays of 1 + draws numbers.

    ``weights`` (1 + draws, participants) say how often each participant is taken. ``conversation`` is the residual one.
    """

    weights: np.ndarray
    participant: np.ndarray
    condition: np.ndarray
    participant_by_condition: np.ndarray
    conversation: np.ndarray


@dataclass(frozen=True, eq=False)
class VarianceModel:
    """The mixed model of some conversations: participant, condition and ``y``; conditions are fixed."""

    frame: pd.DataFrame

    @cached_property
    def sums(self) -> NestedSums:
        """Sums of the conversations by participant and condition."""
        design = pd.get_dummies(self.frame["condition"], dtype=float)
        participants, conditions = self.frame["participant"], self.frame["condition"]
        return nested_sums(self.frame["y"], design, participants, conditions)

    @property
    def missing(self) -> str:
        """Why the variance of these conversations has no parts; "" if it has."""
        if self.frame.empty:
            return ""
        if self.frame["participant"].value_counts().max() < 2:
            return "no participant has two rated conversations, so persons can't be told from conversations"
        return self.sums.without_noise

    def resampled(self, bootstrap: ParticipantBootstrap) -> ModelVariances:
        """Its variances, NaN in resamples where the fit failed; that of conditions is zero if there is one."""
        participants = self.sums.participants
        weights = bootstrap.times_taken(participants)
        fits = fit_nested(self.sums, weights, fit_nested(self.sums).ratios)
        condition = np.zeros(len(weights))
        conversations = pd.crosstab(self.frame["participant"], self.frame["condition"])
        if conversations.shape[1] > 1:
            counts = weights @ conversations.loc[participants].to_numpy()
            condition = variance_of_effects(fits.coefficients, fits.covariance, counts)
        participant, participant_by_condition, _, conversation = fits.variances.T
        return ModelVariances(
            weights, participant, condition, participant_by_condition, conversation
        )


def variance_of_effects(
    coefficients: np.ndarray, covariance: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    r"""Variance of the means of conditions over the rows, less what their standard errors add to it.

    .. math:: \sum_j f_j (\beta_j - \bar\beta)^2 - \sum_j f_j V_{jj} + \sum_{jk} f_j f_k V_{jk},
              \quad \bar\beta = \sum_j f_j \beta_j

    with f the shares of the rows. So it is zero on average where conditions do not differ, and may be negative.

    Examples
    --------
    >>> round(float(variance_of_effects(np.array([1.0, 3.0]), np.eye(2) / 10, np.array([5, 5]))), 6)
    0.95
    """
    counts = np.asarray(counts, dtype=float)
    with np.errstate(invalid="ignore"):  # without a row there are no shares: NaN
        f = counts / counts.sum(axis=-1, keepdims=True)
    mean = (f * coefficients).sum(axis=-1, keepdims=True)
    variance = (f * (coefficients - mean) ** 2).sum(axis=-1)
    variances_of_coefficients = np.diagonal(covariance, axis1=-2, axis2=-1)
    added_by_errors = (f * variances_of_coefficients).sum(axis=-1)
    error_of_mean = np.einsum("...i,...ij,...j->...", f, covariance, f)
    return variance - added_by_errors + error_of_mean


@finding
def variance_shares(
    study: Study,
    bootstrap: ParticipantBootstrap,
    draws: int = MODEL_DRAWS,
    frame: pd.DataFrame | None = None,
) -> pd.DataFrame:
    r"""Return shares of participants, conditions and context in the variance of all conversations' ground truth.

    Participants, participant by condition and the conversations' residual variance are REML estimates with conditions
    fixed; the condition's variance is that of :func:`variance_of_effects`. The context's is the fall of the mean square
    within participants when its columns are added to the conditions',

    .. math:: \frac{\mathrm{RSS}_{c}}{n - G - r_c} - \frac{\mathrm{RSS}_{c + x}}{n - G - r_{c + x}}

    with n conversations, G participants and r the rank of the columns. It is subtracted from the residual variance.
    Both are zero on average where there is no effect, and single estimates may be negative. What people's
    choice of context has in common with their level belongs to *participant*.

    Parameters
    ----------
    study : Study
        The data. Conversations without a condition, or without a context that others have, are left out.
    bootstrap : ParticipantBootstrap
        Its first ``draws`` resamples. Resampling inflates what is explained: the draws of the rows with a
        condition or a context are moved so that their mean is the estimate.
    draws : int
        Largest number of resamples; the model is fitted in each.
    frame : DataFrame, optional
        Other ratings of the conversations than the ground truth: participant, condition, context, ``y``.

    Returns
    -------
    DataFrame
        Rows ``PARTS``, the parts of the context (topic, importance, desired empathy), and the other rows of
        ``COMPARED``: estimates with intervals; n counts conversations. Where there is no topic, participants are
        compared with conditions alone, and the other way round; where there is neither, there is no comparison.
    """
    if frame is None:
        frame = context_frame(study)
    if not study.conditions:
        frame = frame.assign(condition="")
    frame = frame.dropna(subset=["condition", "participant"])
    frame = frame.dropna(subset=varying(frame))
    # The rows that are left out may have been the only ones that varied.
    context = varying(frame)
    fewer_draws = bootstrap.first(draws)
    has_conditions = not is_constant(frame["condition"])
    no_condition = "" if has_conditions else "fewer than two conditions have rated conversations"
    no_context = "" if context else "nothing of the context varies in this data set"
    no_comparison = ""
    if not has_conditions and "topic" not in context:
        no_comparison = "neither condition nor topic varies in this data set"
    model = VarianceModel(frame)
    no_model = model.missing

    @cache
    def shares() -> dict[str, np.ndarray]:
        variances = model.resampled(fewer_draws)
        by_condition = variances.participant_by_condition
        sums, variables = context_sums(frame, context, model.sums.participants)
        of_context = context_variances(variances.weights @ sums, variables)
        condition_and_topic = variances.condition + of_context["topic"]
        parts = {
            "participant": variances.participant,
            "condition": variances.condition,
            # A part that the design can't tell from another is no number of its own.
            "participant by condition": by_condition
            if model.sums.free[1]
            else by_condition * np.nan,
            "context": of_context["all"],
            "the rest": variances.conversation - of_context["all"],
            "condition and topic": condition_and_topic,
            "participant minus condition and topic": variances.participant - condition_and_topic,
        }
        for name, words in CONTEXT.items():
            parts[f"of the context: {words}"] = of_context[name]
        total = variances.participant + variances.condition + by_condition + variances.conversation
        return {name: values / total for name, values in parts.items()}

    def part(
        label: str,
        key: str,
        reason: str = "",
        *,
        shifted: bool = True,
        unit: str = "share of the variance",
    ) -> Number:
        return Number(
            label=label,
            statistic=lambda: shares()[label],
            unit=unit,
            method=f"{RATING}: mixed model with conditions fixed, context within participants",
            rows=frame,
            needs=Needs(participants=2, varying={"the rating is": frame["y"]}),
            key=key,
            undefined="the conversations are too few, or too alike, to tell it from the other parts",
            reason=no_model or reason,
            shifted=shifted,
        )

    numbers = [
        part("participant", "participant_share", shifted=False),
        part("condition", "condition_share", no_condition),
        part("participant by condition", "participant_by_condition_share", shifted=False),
        part("context", "context_share", no_context),
        part("the rest", "residual_share"),
    ]
    for name, words in CONTEXT.items():
        not_given = "" if name in context else f"{words} was not given, or does not vary"
        numbers.append(part(f"of the context: {words}", f"context_share_{name}", not_given))
    numbers += [
        part("condition and topic", "condition_and_topic_share", no_comparison),
        part(
            "participant minus condition and topic",
            "participant_share_beyond_condition_and_topic",
            no_comparison,
            unit="share of the variance, difference",
        ),
    ]
    return tabulate("share", numbers, fewer_draws)


def context_sums(
    frame: pd.DataFrame, context: list, names: pd.Index
) -> tuple[np.ndarray, list[str]]:
    """Cross products within participants, rows and one, summed by participant; the variable of each column."""
    designs = []
    variables = []
    for name in ("condition", *context):
        design = context_design(frame, [name])
        designs.append(design)
        variables += [name] * design.shape[1]
    variables.append("y")
    z = within(np.column_stack([*designs, frame["y"]]), frame["participant"])
    participant = names.get_indexer(frame["participant"])
    products = sums_by_participant(cross_products(z), participant, len(names))
    sums = np.column_stack(
        [
            products.reshape(len(names), -1),
            np.bincount(participant, minlength=len(names)),
            np.ones(len(names)),
        ]
    )
    return sums, variables


def context_variances(sums: np.ndarray, variables: list[str]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it does not vary."""
    products = sums[..., :-2].reshape(*sums.shape[:-1], len(variables), len(variables))
    conversations = sums[..., -2]
    participants = sums[..., -1]
    freedom = np.round(conversations - participants)

    def mean_square(*names: str) -> np.ndarray:
        """Residual mean square of the outcome, the last column, on those of some variables."""
        used = np.isin(variables, [*names, "y"])
        _, residual, rank = least_squares(products[..., used, :][..., used])
        residual_freedom = freedom - rank
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(residual_freedom > 0, residual / residual_freedom, np.nan)

    of_conditions = mean_square("condition")
    falls = {"all": of_conditions - mean_square(*variables)}
    for name in CONTEXT:
        falls[name] = np.zeros_like(of_conditions)
        if name in variables:
            falls[name] = of_conditions - mean_square("condition", name)
    return falls


# The same person


@finding
def participant_icc(
    study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS
) -> pd.DataFrame:
    """Return the intraclass correlation of participants over conversations' ground truth, two ways; n conversations.

    By analysis of variance it is ICC(1), and differences of conditions belong to the error. By the
    mixed model (REML) conditions are fixed: the participants' variance by the sum of theirs, of
    participant by condition, and of conversations. The model is fitted in each of the first
    ``draws`` resamples.

    Notes
    -----
    R, tests/reference/reference.R: anova(aov), equal to 1e-7;
    lme4::lmer(y ~ model + (1 | participant) + (1 | pm)), equal to 2e-4.
    """
    frame = rated_conversations(study)
    fewer_draws = bootstrap.first(draws)
    mixed_model = VarianceModel(frame)

    def by_analysis_of_variance():
        sums, names = icc_sums(frame["y"], frame["participant"])
        return resampled(bootstrap, icc_of_sums, sums, names)

    def by_mixed_model():
        variances = mixed_model.resampled(fewer_draws)
        conversations = variances.participant_by_condition + variances.conversation
        return variances.participant / (variances.participant + conversations)

    def number(label: str, statistic: Callable, method: str, key: str) -> Number:
        return Number(
            label=label,
            statistic=statistic,
            unit="intraclass correlation",
            method=f"{RATING}: {method}",
            rows=frame,
            needs=Needs(participants=2, varying={"the rating is": frame["y"]}),
            reason=mixed_model.missing,
            key=key,
        )

    anova = "ICC(1) of participants by analysis of variance"
    reml = "mixed model with conditions fixed; REML"
    one_way = number("analysis of variance", by_analysis_of_variance, anova, "icc_anova")
    model = number("mixed model", by_mixed_model, reml, "icc_reml")
    rows = {one_way.label: one_way.row(bootstrap), model.label: model.row(fewer_draws)}
    return estimate_table(rows, "by")


# Characteristics: the unit is the participant, who has one mean rating. Tested on conversations, characteristics that
# mean nothing would look related by the dozen. Any column of the participants' sheet is examined, under any name.

NO_SHEET = "the workbook has no participants' sheet"
FALSE_DISCOVERY_RATE = 0.05
MOST_GROUPS = 12
FEWEST_PER_GROUP = 3
"""Smallest average number of participants in a group."""

NONCENTRAL = "interval from the noncentral F distribution, participants independent"


@dataclass(frozen=True, eq=False)
class Relations:
    """Every characteristic against participants' mean ratings."""

    estimates: pd.DataFrame
    tests: pd.DataFrame
    left_out: pd.DataFrame
    summary: pd.DataFrame

    @property
    def shown(self) -> pd.DataFrame:
        """Estimates and tests in words."""
        rows = {}
        for name, row in self.estimates.iterrows():
            test = self.tests.loc[name]
            measure = row["unit"]
            if measure.startswith("share"):
                measure = "omega squared"
            estimate = row["reason"]
            if np.isfinite(row["estimate"]):
                estimate = f"{row['estimate']:z.2f}"
            interval = ""
            if np.isfinite(row["low"]):
                interval = f"{row['low']:z.2f} to {row['high']:z.2f}"
            rows[name] = {
                "measure": measure,
                "estimate": estimate,
                "interval": interval,
                "n": row["n"],
                "p": p_in_words(test["p"]),
                "q": p_in_words(test["q"]),
                "related": "yes" if test["related"] else "no",
            }
        return frame_of(rows, "characteristic")


def characteristic_columns(participants: pd.DataFrame | None, people: pd.Index) -> pd.DataFrame:
    """Kind of each column of the participants' sheet (number, group, or "" and why it is left out), and its answers.

    Of the ``people`` with a rating; the others do not count.
    """
    columns = {}
    if participants is not None:
        with_rating = participants[participants["participant"].isin(people)]
        for name in with_rating.columns.drop(["participant", "row"], errors="ignore"):
            answers = with_rating[name].dropna()
            reason = _why_left_out(str(name), answers)
            scale = "number" if are_numbers(answers) else "group"
            columns[name] = ["" if reason else scale, reason, len(answers)]
    return frame_of(columns, "characteristic", ["kind", "reason", "answers"])


def are_numbers(answers: pd.Series) -> bool:
    """Whether answers are numbers; yes and no are none."""
    is_yes_or_no = pd.api.types.is_bool_dtype(answers)
    return pd.api.types.is_numeric_dtype(answers) and not is_yes_or_no


def _why_left_out(name: str, answers: pd.Series) -> str:
    """Why a column is neither one of numbers nor one of groups; "" if it is."""
    if len(answers) < 10:
        return f"{count_of(len(answers), 'participant')} with ratings answered it: too few"
    is_numeric = are_numbers(answers)
    values = answers if is_numeric else answers.astype(str)
    distinct = values.nunique()
    all_differ = distinct == len(values)
    last_word = name.lower().replace("_", " ").split()[-1:]
    if distinct == 1:
        return "the same for everybody"
    if all_differ and last_word in (["id"], ["pid"], ["uuid"]):
        return "an identifier"
    if is_numeric:
        are_whole = (values == np.round(values)).all()
        if are_whole and all_differ and np.ptp(values) == len(values) - 1:
            return "a running number"
        return ""
    if all_differ:
        return "another text for everybody"
    if distinct > min(MOST_GROUPS, len(values) / FEWEST_PER_GROUP):
        return f"{distinct} groups of {len(values)} participants are too many"
    return ""


def participant_means(study: Study) -> pd.Series:
    """Each participant's mean ground truth over conversations, to nine decimals; those without one are left out.

    Rounded, since means that are equal differ in their last bits by the order of summation, and would not tie in ranks.
    """
    conversations = conversation_ratings(study)
    means = conversations.groupby("participant", sort=False)["ground_truth"].mean()
    return rounded(means.dropna())


@finding
def relations(study: Study, bootstrap: ParticipantBootstrap) -> Relations:
    r"""Return how every characteristic is related to participants' mean ratings, with control of false discoveries.

    Numbers by Spearman's rank correlation. Groups by omega squared,

    .. math:: \omega^2 = \frac{SS_b - (k - 1) MS_w}{SS_b + SS_w + MS_w}

    which is about zero on average where the k groups do not differ, and may be negative (Hays, 1963); its interval is
    that of the noncentral F distribution with participants independent, since resampling inflates it, and its lower
    limit is at most the estimate. p is the share of permutations of the participants (as many as draws, with the
    bootstrap's seed) with at least as strong a relation; q by Benjamini and Hochberg over all that were examined.
    Participants without an answer are left out of that characteristic.

    References
    ----------
    Benjamini, Y., & Hochberg, Y. (1995). Journal of the Royal Statistical Society B 57, 289-300.

    Notes
    -----
    R: cor.test(method='spearman', exact=FALSE), tests/reference/reference.R; correlations equal to 1e-7.
    """
    means = participant_means(study)
    columns = characteristic_columns(study.participants, means.index)
    kinds = columns.loc[columns["kind"] != "", "kind"]
    generator = np.random.default_rng(bootstrap.seed)
    numbers = []
    p_values = {}
    for name, in_key in safe_names(kinds.index).items():
        answers = study.participants.set_index("participant")[name].reindex(means.index).dropna()
        y = means[answers.index]
        relation = _relation_of_numbers
        if kinds[name] == "group":
            relation = _relation_of_groups
        declared, p = relation(answers, y, bootstrap, generator)
        p_values[name] = p
        declared["key"] += f"_{in_key}"
        varying = {"the mean rating is": y}
        number = Number(label=name, rows=answers.index, needs=Needs(varying=varying), **declared)
        numbers.append(number)

    tests = pd.DataFrame({"p": p_values}, index=kinds.index, dtype=float).assign(q=np.nan)
    tested = tests["p"].notna()
    if tested.any():
        tests.loc[tested, "q"] = stats.false_discovery_control(tests.loc[tested, "p"])
    tests["related"] = rounded(tests["q"]) <= FALSE_DISCOVERY_RATE
    reason = ""
    if study.participants is None:
        reason = NO_SHEET
    elif kinds.empty:
        reason = "no column of the participants' sheet can be examined"
    elif not tested.any():
        reason = "the mean ratings are the same"
    rows = {}
    for name, count in {"examined": len(tests), "related": tests["related"].sum()}.items():
        rows[name] = estimate_row(
            np.nan if reason else count,
            n=len(means),
            unit="number of characteristics",
            method=f"Benjamini-Hochberg, false discovery rate {FALSE_DISCOVERY_RATE:g}",
            reason=reason,
            key=f"characteristics_{name}",
        )
    return Relations(
        estimates=tabulate("characteristic", numbers, bootstrap),
        tests=tests,
        left_out=columns.loc[columns["kind"] == "", ["reason"]],
        summary=estimate_table(rows, "characteristics"),
    )


def _relation_of_numbers(
    answers: pd.Series,
    means: pd.Series,
    bootstrap: ParticipantBootstrap,
    generator: np.random.Generator,
) -> tuple[dict, float]:
    """Spearman's correlation of numbers with participants' means as a number is declared, and its p value."""
    declared = {
        "statistic": lambda: rank_correlation(bootstrap, answers, means, answers.index),
        "unit": "Spearman's rho",
        "method": "Spearman's rank correlation with participants' mean ratings",
        "key": "characteristic_correlation",
    }
    if is_constant(means):
        return declared, np.nan
    standard_x = stats.zscore(stats.rankdata(answers))
    standard_y = stats.zscore(stats.rankdata(rounded(means)))

    def strength(order: np.ndarray) -> np.ndarray:
        return np.abs(standard_y[order] @ standard_x) / len(answers)

    return declared, share_as_strong(strength, len(answers), bootstrap.draws, generator)


def _relation_of_groups(
    answers: pd.Series,
    means: pd.Series,
    bootstrap: ParticipantBootstrap,
    generator: np.random.Generator,
) -> tuple[dict, float]:
    """Omega squared of groups of participants in their means as a number is declared, and its p value."""
    groups = pd.get_dummies(answers.astype(str), dtype=float).to_numpy()
    n, k = groups.shape
    centered = means.to_numpy() - means.mean()
    by_root_of_size = groups / np.sqrt(groups.sum(axis=0))

    def share_between(order: np.ndarray) -> np.ndarray:
        squares_between = (centered[order] @ by_root_of_size) ** 2
        return squares_between.sum(axis=-1) / (centered**2).sum()

    def omega_squared():
        between = float(share_between(np.arange(n)))
        mean_square_within = (1 - between) / (n - k)
        omega = (between - (k - 1) * mean_square_within) / (1 + mean_square_within)
        if rounded(1 - between) <= 0:
            return Estimate(omega, reason="no interval: the groups tell the means exactly")
        f = between / (k - 1) / mean_square_within
        low, high = noncentral_limits(f, k - 1, n - k, n, bootstrap.confidence)
        return Estimate(omega, min(low, omega), high)

    declared = {
        "statistic": omega_squared,
        "unit": "share of the variance of participants' means (omega squared)",
        "method": f"omega squared of {count_of(k, 'group')}",
        "key": "characteristic_omega_squared",
        "interval": f"{bootstrap.confidence:.0%} {NONCENTRAL}",
    }
    if is_constant(means):
        return declared, np.nan
    return declared, share_as_strong(share_between, n, bootstrap.draws, generator)


def share_as_strong(
    strength: Callable[[np.ndarray], np.ndarray],
    n: int,
    permutations: int,
    generator: np.random.Generator,
) -> float:
    """Share of permutations at least as strong as the observed order, which counts as one of them."""
    observed = rounded(strength(np.arange(n)))
    as_strong = 0
    for piece in pieces(permutations, n, 2000):
        order = np.argsort(generator.random((piece.stop - piece.start, n)), axis=1)
        as_strong += int((rounded(strength(order)) >= observed).sum())
    return (as_strong + 1) / (permutations + 1)


def noncentral_limits(
    f: float, freedom_between: int, freedom_within: int, n: int, confidence: float
) -> tuple[float, float]:
    """Limits of the explained share, from the noncentralities of the F distribution whose quantiles f is."""

    def share_at(level: float) -> float:
        def excess(noncentrality: float) -> float:
            return stats.ncf.cdf(f, freedom_between, freedom_within, noncentrality) - level

        if stats.f.cdf(f, freedom_between, freedom_within) <= level:
            return 0.0
        high = 1.0
        while excess(high) > 0 and high < 1e6:
            high *= 2
        noncentrality = high if excess(high) > 0 else optimize.brentq(excess, 0, high, xtol=1e-11)
        return noncentrality / (noncentrality + n)

    tail = (1 - confidence) / 2
    return share_at(1 - tail), share_at(tail)
