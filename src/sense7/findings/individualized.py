"""How individual ratings are: parts of their variance, two people in one condition, and people's characteristics."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.findings.context import CONTEXT, context_design, context_frame, not_varying
from sense7.findings.core import (
    Number,
    finding,
    frame_of,
    need,
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
from sense7.statistics.least_squares import cross_products, indicators, least_squares, within
from sense7.statistics.mixed import Nested, NestedSums, fit_nested, nested_sums
from sense7.statistics.order import rounded
from sense7.statistics.rater_agreement import icc_of_sums, icc_sums
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "explained_together",
    "own_ratings",
    "participant_icc",
    "relations",
    "same_condition_differences",
    "variance_shares",
]

MODEL_DRAWS = 1000
"""A mixed model is fitted again in each resample, so fewer are drawn than where sums suffice."""

RATING = "ground truth of a conversation"
NEVER_RATED = f"no {RATING} in this data set"
ONE_EACH = "no participant has two rated conversations, so persons can't be told from conversations"


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
    """The mixed model of some conversations, with what is needed to fit it to resampled participants."""

    sums: NestedSums
    fit: Nested
    counts: np.ndarray  # conversations of each participant in each condition

    def resampled(self, bootstrap: ParticipantBootstrap) -> ModelVariances:
        """Its variances, NaN in resamples where the fit failed; that of conditions is zero if there is one."""
        weights = bootstrap.times_taken(self.sums.participants)
        fits = fit_nested(self.sums, weights, self.fit.ratios)
        condition = np.zeros(len(weights))
        if self.counts.shape[1] > 1:
            counts = weights @ self.counts
            condition = variance_of_effects(fits.coefficients, fits.covariance, counts)
        participant, participant_by_condition, _, conversation = fits.variances.T
        return ModelVariances(
            weights, participant, condition, participant_by_condition, conversation
        )


def fit_variance_model(frame: pd.DataFrame) -> tuple[str, VarianceModel | None]:
    """Why there is no model of these conversations, or the model."""
    per_person = frame["participant"].value_counts()
    if frame.empty:
        return NEVER_RATED, None
    if len(per_person) < 2:
        return "there is one participant only", None
    if per_person.max() < 2:
        return ONE_EACH, None
    if rounded(np.ptp(frame["y"])) == 0:
        return "the ratings do not vary", None
    names = sorted(frame["condition"].unique())
    design = indicators(frame["condition"], names)
    sums = nested_sums(frame["y"], design, frame["participant"], frame["condition"])
    fit = fit_nested(sums)
    if not np.isfinite(fit.variances).all():
        conversations = count_of(len(frame), "conversation")
        conditions = count_of(len(names), "condition")
        return f"{conversations} in {conditions}: none is left to estimate noise from", None
    participant = sums.participants.get_indexer(frame["participant"])
    counts = sums_by_participant(design, participant, len(sums.participants))
    return "", VarianceModel(sums, fit, counts)


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


def no_interaction(frame: pd.DataFrame) -> str:
    """Why participant by condition can't be distinguished from another part."""
    if frame.groupby("participant")["condition"].nunique().max() < 2:
        return "no participant met two conditions: it is part of the participant's"
    return "no participant has two conversations in a condition: it is part of the conversation's"


def no_differences(study: Study, model: VarianceModel) -> str:
    """Why conditions have no share; "" if they have one."""
    if model.counts.shape[1] > 1:
        return ""
    if study.conditions:
        return "there is one condition only"
    return "no conversation has a condition"


@dataclass(frozen=True, eq=False)
class VarianceShares:
    """Shares of the variance of all conversations' ratings, tables of estimates."""

    shares: pd.DataFrame
    comparison: pd.DataFrame


@finding
def variance_shares(
    study: Study,
    bootstrap: ParticipantBootstrap,
    draws: int = MODEL_DRAWS,
    frame: pd.DataFrame | None = None,
) -> VarianceShares:
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
    VarianceShares
        Estimates with intervals; n counts conversations. Where there is no topic, participants are compared with
        conditions alone, and the other way round; where there is neither, there is no comparison.
    """
    if frame is None:
        frame = context_frame(study)
    if not study.conditions:
        frame = frame.assign(condition="")
    frame = frame.dropna(subset=["condition", "participant"])
    varying = [name for name in CONTEXT if not not_varying(frame, name)]
    frame = frame.dropna(subset=varying)
    # The rows that are left out may have been the only ones that varied.
    varying = [name for name in varying if not not_varying(frame, name)]
    fewer_draws = bootstrap.first(draws)

    reason, model = fit_variance_model(frame)
    values = {}
    no_condition = ""
    not_separable = ""
    if model is not None:
        no_condition = no_differences(study, model)
        if not model.sums.free[1]:
            not_separable = no_interaction(frame)
        values = _shares_on_one_base(model, frame, varying, fewer_draws)
    no_context = ""
    if not varying:
        no_context = "nothing of the context varies in this data set"
    no_comparison = ""
    if no_condition and "topic" not in varying:
        no_comparison = "neither condition nor topic varies in this data set"

    def part(
        label: str,
        key: str,
        why_not: str = "",
        *,
        shifted: bool = True,
        unit: str = "share of the variance",
    ) -> Number:
        return Number(
            label=label,
            statistic=values.get(label),
            unit=unit,
            method=f"{RATING}: mixed model with conditions fixed, context within participants",
            rows=frame,
            key=key,
            undefined="the conversations are too few, or too alike, "
            "to distinguish it from the other parts",
            reason=reason or why_not,
            shifted=shifted,
        )

    base = "one_base_share"
    interaction = "participant by condition"
    shares = [
        part("participant", f"{base}_participant", shifted=False),
        part("condition", f"{base}_condition", no_condition),
        part(interaction, f"{base}_participant_by_condition", not_separable, shifted=False),
        part("context", f"{base}_context", no_context),
        part("the rest", f"{base}_rest"),
    ]
    for name, words in CONTEXT.items():
        shares.append(part(f"of the context: {words}", f"{base}_{name}", not_varying(frame, name)))

    both = "condition and topic"
    difference = f"participant minus {both}"
    comparison = [
        part("participant", "participant_share", shifted=False),
        part(both, "condition_and_topic_share", no_comparison),
        part(
            difference,
            "participant_share_beyond_condition_and_topic",
            no_comparison,
            unit="share of the variance, difference",
        ),
    ]
    return VarianceShares(
        shares=tabulate("part", shares, fewer_draws),
        comparison=tabulate("share", comparison, fewer_draws),
    )


def _shares_on_one_base(
    model: VarianceModel, frame: pd.DataFrame, varying: list[str], bootstrap: ParticipantBootstrap
) -> dict[str, np.ndarray]:
    """Shares of the variance in all rows and in every resample, by the row of :func:`variance_shares`."""
    variances = model.resampled(bootstrap)
    sums, columns = context_sums(frame, varying, model.sums.participants)
    of_context = context_variances(variances.weights @ sums, columns)
    condition_and_topic = variances.condition + of_context["topic"]
    parts = {
        "participant": variances.participant,
        "condition": variances.condition,
        "participant by condition": variances.participant_by_condition,
        "context": of_context["all"],
        "the rest": variances.conversation - of_context["all"],
        "condition and topic": condition_and_topic,
        "participant minus condition and topic": variances.participant - condition_and_topic,
    }
    for name, words in CONTEXT.items():
        parts[f"of the context: {words}"] = of_context[name]
    total = variances.participant + variances.condition + variances.participant_by_condition
    total = total + variances.conversation
    return {name: values / total for name, values in parts.items()}


def context_sums(
    frame: pd.DataFrame, varying: list, names: pd.Index
) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Cross products within participants, rows and one, summed by participant; columns of each context."""
    designs = []
    columns = {}
    first = 0
    for name in ("condition", *varying):
        design = context_design(frame, [name])
        last = first + design.shape[1]
        columns[name] = list(range(first, last))
        designs.append(design)
        first = last
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
    return sums, columns


def context_variances(sums: np.ndarray, columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it does not vary."""
    outcome = sum(len(places) for places in columns.values())  # the column behind all contexts'
    products = sums[..., :-2].reshape(*sums.shape[:-1], outcome + 1, outcome + 1)
    conversations = sums[..., -2]
    participants = sums[..., -1]
    freedom = np.round(conversations - participants)

    def mean_square(names: Iterable[str]) -> np.ndarray:
        """Residual mean square of the outcome, the last column, on those of some variables."""
        used = []
        for name in names:
            used += columns[name]
        used.append(outcome)
        _, residual, rank = least_squares(products[..., used, :][..., used])
        residual_freedom = freedom - rank
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(residual_freedom > 0, residual / residual_freedom, np.nan)

    of_conditions = mean_square(["condition"])
    falls = {"all": of_conditions - mean_square(columns)}
    for name in CONTEXT:
        falls[name] = np.zeros_like(of_conditions)
        if name in columns:
            falls[name] = of_conditions - mean_square(["condition", name])
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

    def by_analysis_of_variance():
        need(len(frame), NEVER_RATED)
        need(frame["participant"].duplicated().any(), ONE_EACH)
        sums, names = icc_sums(frame["y"], frame["participant"])
        return resampled(bootstrap, icc_of_sums, sums, names)

    def by_mixed_model():
        reason, model = fit_variance_model(frame)
        need(model, reason)
        variances = model.resampled(fewer_draws)
        conversations = variances.participant_by_condition + variances.conversation
        return variances.participant / (variances.participant + conversations)

    undefined = "the ratings do not vary"
    if frame["participant"].nunique() < 2:
        undefined = "there is one participant only"
    anova = Number(
        label="analysis of variance",
        statistic=by_analysis_of_variance,
        unit="intraclass correlation",
        method=f"ICC(1) of participants by analysis of variance; {RATING}",
        rows=frame,
        key="icc_anova",
        undefined=undefined,
    )
    reml = Number(
        label="mixed model",
        statistic=by_mixed_model,
        unit="intraclass correlation",
        method=f"{RATING}: mixed model with conditions fixed; REML",
        rows=frame,
        key="icc_reml",
    )
    rows = {anova.label: anova.row(bootstrap), reml.label: reml.row(fewer_draws)}
    return estimate_table(rows, "by")


@finding
def same_condition_differences(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean absolute difference of two ratings in the same condition, by two people and by one.

    .. math:: \frac{\sum_{p < q} \sum_{i \in p, j \in q} a_{ij} |g_i - g_j|}
              {\sum_{p < q} \sum_{i \in p, j \in q} a_{ij}}

    with g the ground truth of a conversation and a = 1 if two are in the same condition. For one person, the pairs are
    of the same participant. Every pair of conversations counts the same. In a resample a pair of participants counts as
    often as both were taken together; a participant is never compared with a copy of themselves. At least ten pairs.

    Returns
    -------
    DataFrame
        Rows for two people, one person, and the first minus the second; estimate in levels; n counts pairs of
        conversations (for the difference, conversations).
    """
    frame = rated_conversations(study)
    pairs_of = _pairs_in_a_condition(frame, bootstrap)

    def number(label: str, key: str, pairs: _Pairs, few: str, rows: object) -> Number:
        def mean_distance():
            need(len(frame), NEVER_RATED)
            need(pairs.count >= FEWEST_PAIRS, few)
            return pairs.distance

        return Number(
            label=f"{label}, same condition",
            statistic=mean_distance,
            unit="levels (from 1 to 5)",
            method="mean absolute difference of the ground truth of a conversation "
            "over pairs in the same condition",
            rows=rows,
            key=key,
            participants=frame["participant"],
        )

    numbers = []
    for whose, pairs in pairs_of.items():
        few = "no such pair of conversations"
        if pairs.count:
            few = f"only {count_of(pairs.count, 'such pair')} of conversations"
        key = f"apart_{whose.replace(' ', '_')}"
        numbers.append(number(whose, key, pairs, few, pd.RangeIndex(pairs.count)))
    two_people = pairs_of["two people"]
    one_person = pairs_of["one person"]
    excess = _Pairs(
        count=min(two_people.count, one_person.count),
        distance=two_people.distance - one_person.distance,
    )
    few = "too few pairs of conversations"
    numbers.append(number("two people minus one person", "apart_excess", excess, few, frame))
    return tabulate("two conversations", numbers, bootstrap)


FEWEST_PAIRS = 10


class _Pairs(NamedTuple):
    """Pairs of conversations: how many, and their mean absolute difference in all rows and in every resample."""

    count: int
    distance: np.ndarray


def _pairs_in_a_condition(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> dict[str, _Pairs]:
    """All pairs of conversations in the same condition, of two people and of one person."""
    if frame.empty:
        return dict.fromkeys(("two people", "one person"), _Pairs(0, np.empty(0)))
    condition = frame.groupby("condition").ngroup().to_numpy()
    participant = bootstrap.codes(frame["participant"])
    participants = len(bootstrap.names)
    y = frame["y"].to_numpy() - frame["y"].mean()  # sums of small numbers lose less
    everyone_once = np.ones((1, participants))

    # Pairs of one person: by person alone, and subtracted from all pairs as often as both were taken.
    cells, cell = np.unique(np.column_stack([participant, condition]), axis=0, return_inverse=True)
    person_of_cell = cells[:, 0]
    cell_sums, cell_pairs = pair_sums(y, cell.ravel(), everyone_once, participant)
    person_sums = np.bincount(person_of_cell, weights=cell_sums[0], minlength=participants)
    person_pairs = np.bincount(person_of_cell, weights=cell_pairs[0], minlength=participants)

    def distances(weights: np.ndarray) -> np.ndarray:
        """Mean difference of pairs of two people, and of one person, in each resample."""
        all_sums, all_pairs = pair_sums(y, condition, weights, participant)
        sums = all_sums.sum(axis=1) - weights**2 @ person_sums
        pairs = all_pairs.sum(axis=1) - weights**2 @ person_pairs
        with np.errstate(divide="ignore", invalid="ignore"):
            two_people = np.where(pairs > 0, sums, np.nan) / pairs
            one_person = (weights @ person_sums) / (weights @ person_pairs)
        return np.column_stack([two_people, one_person])

    in_all_rows = distances(everyone_once)
    # So many resamples at once stay in the processor's cache.
    in_resamples = bootstrap.in_every_draw(distances, len(y), 100)
    of_two_people, of_one_person = np.concatenate([in_all_rows, in_resamples]).T
    pairs = pair_sums(y, condition, everyone_once, participant)[1].sum()
    pairs_of_one_person = round(person_pairs.sum() / 2)
    return {
        "two people": _Pairs(round(pairs / 2) - pairs_of_one_person, of_two_people),
        "one person": _Pairs(pairs_of_one_person, of_one_person),
    }


def pair_sums(
    y: np.ndarray, group: np.ndarray, weights: np.ndarray, who: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of absolute differences of the pairs within a group, and numbers of pairs, each pair once each way.

    ``weights`` (draws, participants) say how often each participant is taken, which makes so many pairs of a row with
    any other, and none with itself; ``who`` is the participant of each row. In order of y the sum needs the rows below
    each row only: no pair is formed, so that the cost is linear in rows.
    """
    order = np.lexsort((y, group))
    y = y[order]
    group = group[order]
    weights = weights[:, who[order]]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    moments = weights * y
    weights_up_to = np.cumsum(weights, axis=1)
    moments_up_to = np.cumsum(moments, axis=1)
    group_weight = np.add.reduceat(weights, starts, axis=1)
    group_moment = np.add.reduceat(moments, starts, axis=1)
    # Of all rows below; those of earlier groups are subtracted.
    of_all_below = moments * weights_up_to - weights * moments_up_to
    sums = np.add.reduceat(of_all_below, starts, axis=1)
    earlier_weights = weights_up_to[:, starts] - weights[:, starts]
    earlier_moments = moments_up_to[:, starts] - moments[:, starts]
    sums -= earlier_weights * group_moment - earlier_moments * group_weight
    pairs_with_itself = np.add.reduceat(weights * weights, starts, axis=1)
    return 2 * sums, group_weight**2 - pairs_with_itself


# Characteristics: the unit is the participant, who has one mean rating. Tested on conversations, characteristics that
# mean nothing would look related by the dozen. Any column of the participants' sheet is examined, under any name.

NO_SHEET = "the workbook has no participants' sheet"
NO_COLUMN = "no column of the participants' sheet can be examined"
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
            kind = "number" if _are_numbers(answers) else "group"
            columns[name] = ["" if reason else kind, reason, len(answers)]
    return frame_of(columns, "characteristic", ["kind", "reason", "answers"])


def _are_numbers(answers: pd.Series) -> bool:
    """Whether answers are numbers; yes and no are none."""
    is_yes_or_no = pd.api.types.is_bool_dtype(answers)
    return pd.api.types.is_numeric_dtype(answers) and not is_yes_or_no


def _why_left_out(name: str, answers: pd.Series) -> str:
    """Why a column is neither one of numbers nor one of groups; "" if it is."""
    if len(answers) < 10:
        return f"{count_of(len(answers), 'participant')} with ratings answered it: too few"
    are_numbers = _are_numbers(answers)
    values = answers if are_numbers else answers.astype(str)
    distinct = values.nunique()
    all_differ = distinct == len(values)
    last_word = name.lower().replace("_", " ").split()[-1:]
    if distinct == 1:
        return "the same for everybody"
    if all_differ and last_word in (["id"], ["pid"], ["uuid"]):
        return "an identifier"
    if are_numbers:
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
    """Return how every characteristic is related to participants' mean ratings, with control of false discoveries.

    Numbers by Spearman's rank correlation, groups by omega squared, whose interval is that of the noncentral F
    distribution with participants independent, since resampling inflates it; its lower limit is at most the estimate,
    which may be negative. p is the share of permutations of the participants (as many as draws, with the bootstrap's
    seed) with at least as strong a relation; q by Benjamini and Hochberg over all that were examined. Participants
    without an answer are left out of that characteristic.

    References
    ----------
    Benjamini, Y., & Hochberg, Y. (1995). Journal of the Royal Statistical Society B 57, 289-300.

    Notes
    -----
    R: cor.test(method='spearman', exact=FALSE), p.adjust(method='BH'), tests/reference/reference.R; correlations, and
    q of the approximations, equal to 1e-7.
    """
    return relations_of(study.participants, participant_means(study), bootstrap, bootstrap.draws)


@finding
def relations_of(
    sheet: pd.DataFrame | None, means: pd.Series, bootstrap: ParticipantBootstrap, permutations: int
) -> Relations:
    """Relations of a sheet's columns to one number per participant; without permutations p by t and F."""
    columns = characteristic_columns(sheet, means.index)
    examined = columns[columns["kind"] != ""]
    left_out = columns[columns["kind"] == ""]
    in_keys = safe_names(examined.index)
    generator = np.random.default_rng(bootstrap.seed)
    p_values = {}

    def number(name: str) -> Number:
        answers = sheet.set_index("participant")[name].reindex(means.index).dropna()
        y = means[answers.index]
        varies = np.ptp(rounded(y)) > 0
        declared = {
            "unit": "Spearman's rho",
            "method": "Spearman's rank correlation with participants' mean ratings",
            "key": f"characteristic_correlation_{in_keys[name]}",
        }
        relation_of = _correlation
        if examined.loc[name, "kind"] == "group":
            groups = count_of(answers.astype(str).nunique(), "group")
            declared = {
                "unit": "share of the variance of participants' means (omega squared)",
                "method": f"omega squared of {groups}",
                "key": f"characteristic_omega_squared_{in_keys[name]}",
                "interval": f"{bootstrap.confidence:.0%} {NONCENTRAL}",
            }
            relation_of = _explained_by_groups
        estimate = None
        reason = "the ratings do not vary"
        if varies:
            reason = ""
            estimate, p_values[name] = relation_of(answers, y, bootstrap, permutations, generator)
        return Number(name, estimate, rows=answers.index, reason=reason, **declared)

    numbers = [number(name) for name in examined.index]
    estimates = estimate_table({}, "characteristic", {})
    if numbers:
        estimates = tabulate("characteristic", numbers, bootstrap)
    tests = _tests(p_values, examined.index)
    return Relations(
        estimates=estimates,
        tests=tests,
        left_out=left_out[["reason"]],
        summary=_summary(tests, sheet, len(means)),
    )


def _tests(p_values: dict[str, float], names: pd.Index) -> pd.DataFrame:
    """P and q values of the characteristics that were examined, and which count as related."""
    tests = pd.DataFrame({"p": p_values}, index=names, dtype=float).assign(q=np.nan)
    tested = tests["p"].notna()
    if tested.any():
        tests.loc[tested, "q"] = stats.false_discovery_control(tests.loc[tested, "p"])
    tests["related"] = rounded(tests["q"]) <= FALSE_DISCOVERY_RATE
    return tests


def _summary(tests: pd.DataFrame, sheet: pd.DataFrame | None, participants: int) -> pd.DataFrame:
    """How many characteristics were examined, and how many of them are related."""
    reason = ""
    if sheet is None:
        reason = NO_SHEET
    elif tests.empty:
        reason = NO_COLUMN
    elif tests["p"].isna().all():
        reason = "no characteristic can be tested"
    counts = {"examined": len(tests), "related": int(tests["related"].sum())}
    rows = {}
    for name, count in counts.items():
        rows[name] = estimate_row(
            np.nan if reason else count,
            n=participants,
            unit="number of characteristics",
            method=f"Benjamini-Hochberg, false discovery rate {FALSE_DISCOVERY_RATE:g}",
            reason=reason,
            key=f"characteristics_{name}",
        )
    return estimate_table(rows, "characteristics")


def _correlation(
    answers: pd.Series,
    means: pd.Series,
    bootstrap: ParticipantBootstrap,
    permutations: int,
    generator: np.random.Generator,
) -> tuple[Estimate, float]:
    """Spearman's correlation of numbers with participants' means, and its p value."""
    x = answers.to_numpy(dtype=float)
    y = rounded(means.to_numpy())
    n = len(x)
    rho, p = stats.spearmanr(x, y)
    if permutations:
        standard_x = stats.zscore(stats.rankdata(x))
        standard_y = stats.zscore(stats.rankdata(y))

        def strength(order: np.ndarray) -> np.ndarray:
            return np.abs(standard_y[order] @ standard_x) / n

        p = share_as_strong(strength, abs(rho), n, permutations, generator)
    rhos = rank_correlation(bootstrap, x, y, answers.index)
    return bootstrap.percentile(rhos, answers.index), float(p)


def _explained_by_groups(
    answers: pd.Series,
    means: pd.Series,
    bootstrap: ParticipantBootstrap,
    permutations: int,
    generator: np.random.Generator,
) -> tuple[Estimate, float]:
    r"""Omega squared of groups of participants in their means, adjusted for chance, and its p value.

    .. math:: \omega^2 = \frac{SS_b - (k - 1) MS_w}{SS_b + SS_w + MS_w}

    Unlike eta squared, :math:`SS_b / (SS_b + SS_w)`, it is about zero on average where groups do not differ, and may be
    negative (Hays, 1963).
    """
    groups = pd.get_dummies(answers.astype(str), dtype=float).to_numpy()
    n, count = groups.shape
    centered = means.to_numpy() - means.mean()
    by_root_of_size = groups / np.sqrt(groups.sum(axis=0))
    total = (centered**2).sum()

    def share_between(order: np.ndarray) -> np.ndarray:
        squares_between = (centered[order] @ by_root_of_size) ** 2
        return squares_between.sum(axis=-1) / total

    between = float(share_between(np.arange(n)))
    inside = 1 - between
    freedom_between = count - 1
    freedom_within = n - count
    mean_square_within = inside / freedom_within
    f = between / freedom_between / max(mean_square_within, 1e-12)
    if permutations:
        p = share_as_strong(share_between, between, n, permutations, generator)
    else:
        p = float(stats.f.sf(f, freedom_between, freedom_within))

    omega = (between - freedom_between * mean_square_within) / (1 + mean_square_within)
    if rounded(inside) <= 0:
        return Estimate(omega, reason="no interval: the groups tell the means exactly"), p
    low, high = noncentral_limits(f, freedom_between, freedom_within, n, bootstrap.confidence)
    return Estimate(omega, min(low, omega), high), p


def share_as_strong(
    strength: Callable[[np.ndarray], np.ndarray],
    observed: float,
    n: int,
    permutations: int,
    generator: np.random.Generator,
) -> float:
    """Share of permutations at least as strong as the observed one, which counts as one of them."""
    as_strong = 0
    for piece in pieces(permutations, n, 2000):
        order = np.argsort(generator.random((piece.stop - piece.start, n)), axis=1)
        as_strong += int((rounded(strength(order)) >= rounded(observed)).sum())
    return (as_strong + 1) / (permutations + 1)


def noncentral_limits(
    f: float, freedom_between: int, freedom_within: int, n: int, confidence: float
) -> tuple[float, float]:
    """Limits of the explained share, from the noncentralities whose quantiles f is."""
    tail = (1 - confidence) / 2
    limits = []
    for level in (1 - tail, tail):
        noncentrality = _noncentrality(f, freedom_between, freedom_within, level)
        limits.append(noncentrality / (noncentrality + n))
    return limits[0], limits[1]


def _noncentrality(f: float, freedom_between: int, freedom_within: int, level: float) -> float:
    """Noncentrality of the F distribution of which f is a quantile, by bisection; 0 if there is none."""

    def probability_below(noncentrality: float) -> float:
        return stats.ncf.cdf(f, freedom_between, freedom_within, noncentrality)

    if stats.f.cdf(f, freedom_between, freedom_within) <= level:
        return 0.0
    low = 0.0
    high = 1.0
    while probability_below(high) > level and high < 1e6:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if probability_below(middle) > level:
            low = middle
        else:
            high = middle
    return low


@finding
def explained_together(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return what all characteristics together explain of the variance of participants' means, and what they predict.

    Both rows are shares of one base, the variance of participants' mean ratings, each participant counting the same:

    - *explained, adjusted*: adjusted R squared of the means on all characteristics (numbers as they are, groups as
      groups), an estimate of what the true coefficients would explain; its interval from the noncentral F
      distribution, :math:`\lambda / (\lambda + n)`, its lower limit at most the estimate, which may be negative.
      Participants are its independent units.
    - *predicted, cross-validated*: :math:`1 - \sum (y_i - \hat y_{(i)})^2 / \sum (y_i - \bar y_{(i)})^2`, each
      participant predicted from the others; below zero where prediction is worse than the others' mean.

    n counts participants, those who answered every characteristic that at least 80% answered; there have to be at least
    20 more of them than coefficients.
    """
    means = participant_means(study)
    sheet = study.participants
    columns = characteristic_columns(sheet, means.index)
    often_answered = columns["answers"] >= 0.8 * len(means)
    columns = columns[(columns["kind"] != "") & often_answered]

    answered = means
    design = np.empty((0, 0))
    reason = ""
    if sheet is None:
        reason = NO_SHEET
    elif means.empty:
        reason = "no conversation has a ground truth"
    elif columns.empty:
        reason = NO_COLUMN
    else:
        design, answered = characteristics_design(sheet, columns, means)
        reason = _why_not_explained(design, answered)

    keys = {
        "explained, adjusted": "characteristics_explained",
        "predicted, cross-validated": "characteristics_explained_cross_validated",
    }
    common = {"n": len(answered), "unit": "share of the variance of participants' means"}
    method = count_of(len(columns), "characteristic")
    if reason:
        without_number = estimate_row(**common, method=method, reason=reason)
        return estimate_table(dict.fromkeys(keys, without_number), "share", keys)

    method = f"{method}, {count_of(design.shape[1] - 1, 'coefficient')}"
    y = answered.to_numpy()
    explained = _adjusted_r2(design, y, bootstrap.confidence)
    rows = {
        "explained, adjusted": estimate_row(
            explained.estimate,
            explained.low,
            explained.high,
            **common,
            method=f"adjusted R squared, {method}; {bootstrap.confidence:.0%} {NONCENTRAL}",
        ),
        "predicted, cross-validated": estimate_row(
            _predicted_r2(design, y),
            **common,
            method=f"leave one participant out, {method}",
        ),
    }
    return estimate_table(rows, "share", keys)


def _why_not_explained(design: np.ndarray, means: pd.Series) -> str:
    """Why the characteristics can't explain participants' means; "" if they can."""
    if len(means) - design.shape[1] < 20:
        coefficients = count_of(design.shape[1], "coefficient")
        participants = count_of(len(means), "participant")
        return f"{participants} answered all, too few for {coefficients}"
    if rounded(np.ptp(means)) == 0:
        return "the ratings do not vary"
    return ""


def _adjusted_r2(design: np.ndarray, y: np.ndarray, confidence: float) -> Estimate:
    """Adjusted R squared, with the interval from the noncentral F distribution."""
    n, coefficients = design.shape
    basis = np.linalg.qr(design)[0]
    residuals = y - basis @ (basis.T @ y)
    residual_squares = (residuals**2).sum()
    total_squares = ((y - y.mean()) ** 2).sum()
    residual_variance = residual_squares / (n - coefficients)
    adjusted = 1 - residual_variance / (total_squares / (n - 1))
    explained_variance = (total_squares - residual_squares) / (coefficients - 1)
    f = explained_variance / residual_variance
    low, high = noncentral_limits(f, coefficients - 1, n - coefficients, n, confidence)
    return Estimate(adjusted, min(low, adjusted), high)


def _predicted_r2(design: np.ndarray, y: np.ndarray) -> float:
    """R squared of each participant's mean as predicted from all other participants."""
    n = len(y)
    basis = np.linalg.qr(design)[0]
    residuals = y - basis @ (basis.T @ y)
    leverage = np.minimum((basis**2).sum(axis=1), 1)
    # A participant who is the only one of a group can't be predicted.
    predictable = leverage <= 1 - 1e-9
    errors = residuals[predictable] / (1 - leverage[predictable])
    from_mean_of_others = (y - y.mean())[predictable] * n / (n - 1)
    return 1 - (errors**2).sum() / (from_mean_of_others**2).sum()


def characteristics_design(
    sheet: pd.DataFrame, columns: pd.DataFrame, means: pd.Series
) -> tuple[np.ndarray, pd.Series]:
    """Ones, numbers by their standard deviation, groups but one; columns that add nothing are left out."""
    answers = sheet.set_index("participant")[list(columns.index)].reindex(means.index).dropna()
    parts = [np.ones((len(answers), 1))]
    for name, kind in columns["kind"].items():
        values = answers[name]
        if kind == "group":
            indicators = pd.get_dummies(values.astype(str), drop_first=True, dtype=float)
            parts.append(indicators.to_numpy())
        elif len(values) and np.ptp(values) > 0:
            standardized = (values - values.mean()) / values.std()
            parts.append(standardized.to_numpy(float)[:, None])
    design = np.concatenate(parts, axis=1)
    independent = []
    for column in range(design.shape[1]):
        with_column = [*independent, column]
        if np.linalg.matrix_rank(design[:, with_column]) > len(independent):
            independent = with_column
    return design[:, independent], means[answers.index]
