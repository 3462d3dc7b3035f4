"""How individual ratings are: parts of their variance, two people in one condition, and people's characteristics."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from scipy import stats

from sense7.estimators.bootstrap import ParticipantBootstrap, pieces, sums_by_participant
from sense7.estimators.estimates import (
    Estimate,
    estimate_row,
    estimate_table,
    p_in_words,
    safe_names,
)
from sense7.estimators.least_squares import least_squares, within
from sense7.estimators.mixed import Nested, NestedSums, fit_nested, nested_sums
from sense7.estimators.order import rounded
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import icc_of_sums, icc_sums
from sense7.findings.context import CONTEXT, context_design, context_frame, not_varying, products
from sense7.findings.core import Number, finding, need, require_own, resampled, tabulate
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "explained_together",
    "own_ratings",
    "participant_icc",
    "relations",
    "same_condition_differences",
    "variance_parts",
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
    frame = frame.assign(y=frame["ground_truth"], **({} if study.conditions else {"condition": ""}))
    return frame[frame[["y", "condition", "participant"]].notna().all(axis=1)]


def own_ratings(study: Study) -> pd.DataFrame:
    """Return the ground truth of each participant's conversations, in the order of the file: participant, rating."""
    frame = rated_conversations(study)
    return frame[["participant", "y"]].rename(columns={"y": "rating"}).reset_index(drop=True)


# The mixed model


@dataclass(frozen=True, eq=False)
class VarianceModel:
    """The mixed model of some conversations, with what is needed to fit it to resampled participants."""

    sums: NestedSums
    fit: Nested
    counts: np.ndarray  # conversations of each participant in each condition

    def resampled(self, own: ParticipantBootstrap) -> tuple[Nested, np.ndarray]:
        """Fits in the resamples, NaN where one failed or participants are too few; and their weights."""
        conditions = self.counts.shape[1]
        weights = own.weights()[:, own.names.get_indexer(self.sums.participants)]
        if own.too_few(self.sums.participants):
            shapes = (conditions,), (conditions, conditions), (4,), ()
            return Nested(*(np.full((own.draws, *shape), np.nan) for shape in shapes)), weights
        fit = fit_nested(self.sums, weights, self.fit.variances[:3] / self.fit.variances[3])
        fit.variances[~np.isfinite(fit.variances).all(axis=1)] = (
            np.nan
        )  # a fit that failed gives no part
        return fit, weights

    def of_conditions(self, fit: Nested, weights: np.ndarray) -> np.ndarray:
        """Variance of the conditions' effects in a fit, or in the fits of resamples; zero for one condition."""
        if self.counts.shape[1] < 2:
            return np.zeros(fit.variances.shape[:-1])
        return variance_of_effects(fit.coefficients, fit.covariance, weights @ self.counts)


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
    design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
    sums = nested_sums(
        frame["y"].to_numpy(), design, frame["participant"], frame["condition"], None
    )
    fit = fit_nested(sums)
    if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-9 * np.var(frame["y"]):
        return "too few conversations for the model", None
    counts = sums_by_participant(
        design, sums.participants.get_indexer(frame["participant"]), len(sums.participants)
    )
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
    centered = coefficients - (f * coefficients).sum(axis=-1, keepdims=True)
    own = (f * np.diagonal(covariance, axis1=-2, axis2=-1)).sum(axis=-1)
    return (
        (f * centered**2).sum(axis=-1) - own + np.einsum("...i,...ij,...j->...", f, covariance, f)
    )


def no_interaction(frame: pd.DataFrame) -> str:
    """Why participant by condition can't be distinguished from another part."""
    if frame.groupby("participant")["condition"].nunique().max() < 2:
        return "no participant met two conditions: it is part of the participant's"
    return "no participant has two conversations in a condition: it is part of the conversation's"


def no_differences(study: Study, model: VarianceModel) -> str:
    """Why conditions have no share; "" if they have one."""
    if model.counts.shape[1] > 1:
        return ""
    return "there is one condition only" if study.conditions else "no conversation has a condition"


def intervals(
    names: dict[str, tuple[str, str]],
    values: np.ndarray,
    own: ParticipantBootstrap,
    shifted=(),
    **common,
):
    """Numbers of the columns of an array (1 + draws, parts): row -> key, why there is none.

    Resampling inflates what conditions and contexts explain: the draws of rows that are ``shifted`` are moved so that
    their mean is the estimate.
    """
    people = common["rows"]["participant"]

    def statistic(place: int, name: str, why: str) -> Estimate:
        need(not why, why)
        estimate, *draws = values[:, place]
        shift = estimate if name in shifted else None
        return Estimate(estimate, *own.interval(np.array(draws), people, shift_to=shift))

    return [
        Number(name, partial(statistic, place, name, why), key=key, **common)
        for place, (name, (key, why)) in enumerate(names.items())
    ]


@dataclass(frozen=True, eq=False)
class VarianceParts:
    """Parts of the variance of conversations' ground truth, tables of estimates with one row per part."""

    variances: pd.DataFrame
    shares: pd.DataFrame
    on_one_base: pd.DataFrame


@finding
def variance_parts(
    study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS
) -> VarianceParts:
    r"""Return variance components of the ground truth by a mixed model (REML), conditions fixed, and their shares.

    On the one base the residual variance of the model is split further:

    - *noise within a turn* is what the dimensions of a turn do not have in common,
      :math:`s^2_e \overline{1/k}`, with :math:`s^2_e` the mean square of ratings around the turn and the dimension,
      and k the number of dimensions rated in a turn.
    - *turn* is :math:`s^2_t \overline{1/T}` less the noise, with :math:`s^2_t` the mean square of turn means around
      the conversation's and T the rated turns of a conversation. *Conversation* is the rest.

    Such differences may be slightly negative. Conversations without ground truth or condition are left out. A part that
    the design can't distinguish from another one has no estimate, and is part of that one. The model is fitted in each
    of the first ``draws`` resamples.

    Notes
    -----
    R: lme4::lmer(y ~ model + (1 | participant) + (1 | pm)), tests/reference/reference.R; equal to 2e-4.
    """
    require_own(study, bootstrap)
    frame, own = rated_conversations(study), replace(bootstrap, draws=min(bootstrap.draws, draws))
    names = {
        "participant": ["variance_participant", ""],
        "participant by condition": ["variance_participant_condition", ""],
        "conversation": ["variance_conversation", ""],
    }
    whole = {
        "participant": ["conversation_mean_share_participant", ""],
        "condition": ["conversation_mean_share_condition", ""],
        "participant by condition": ["conversation_mean_share_participant_by_condition", ""],
        "conversation": ["conversation_mean_share_conversation", ""],
        "turn": ["conversation_mean_share_turn", ""],
        "noise within a turn": ["conversation_mean_share_noise", ""],
    }
    reason, model = fit_variance_model(frame)
    variances = shares = base = np.empty((0, 0))
    if reason:
        for part in (*names.values(), *whole.values()):
            part[1] = reason
    else:
        fits, weights = model.resampled(own)
        everyone = np.ones(len(model.counts))
        variances = np.concatenate([model.fit.variances[None], fits.variances])[:, [0, 1, 3]]
        shares = variances / variances.sum(axis=1, keepdims=True)
        if not model.sums.free[1]:
            names["participant by condition"][1] = whole["participant by condition"][1] = (
                no_interaction(frame)
            )
        whole["condition"][1] = no_differences(study, model)
        turns = turn_sums(study, frame, model.sums.participants)
        turn, noise, *_ = within_conversations(turns.sum(axis=0))
        if not np.isfinite(turn):
            whole["turn"][1] = "no conversation has two rated turns: it is part of the conversation"
        if not np.isfinite(noise):
            whole["noise within a turn"][1] = (
                "too few turns with two rated dimensions: it is part of the turn"
            )
        base = []
        for fit, taken in ((model.fit, everyone), (fits, weights)):
            _, _, of_turns, of_noise = within_conversations(taken @ turns)
            person, interaction, _, rest = np.moveaxis(fit.variances, -1, 0)
            condition = model.of_conditions(fit, taken)
            parts = [person, condition, interaction, rest - of_turns - of_noise, of_turns, of_noise]
            kept = [
                0 * part if why else part
                for part, (_, why) in zip(parts, whole.values(), strict=True)
            ]
            base.append(np.stack(kept, axis=-1) / sum(kept)[..., None])
        base = np.concatenate([base[0][None], base[1]])
    common = {"method": f"{RATING}: mixed model with conditions fixed; REML", "rows": frame}
    within_them, share = {"participant": "icc_participant"}, "share of the variance"
    as_shares = {name: (within_them.get(name, ""), why) for name, (_, why) in names.items()}
    units = "squared levels", share, f"{share}, conditions included"
    return VarianceParts(
        tabulate("part", intervals(names, variances, own, unit=units[0], **common), own),
        tabulate("part", intervals(as_shares, shares, own, unit=units[1], **common), own),
        tabulate("part", intervals(whole, base, own, ("condition",), unit=units[2], **common), own),
    )


def turn_sums(study: Study, frame: pd.DataFrame, names: pd.Index) -> np.ndarray:
    """Sums per participant of what :func:`within_conversations` needs, over the turns of these conversations."""
    turns = study.turns[["conversation", "participant", *DIMENSION_NAMES]]
    turns = turns[turns["conversation"].isin(frame["conversation"])]
    turns = turns[turns[list(DIMENSION_NAMES)].notna().any(axis=1)]
    ratings = turns[list(DIMENSION_NAMES)].to_numpy(dtype=float)
    number, width = np.isfinite(ratings).sum(axis=1), len(DIMENSION_NAMES) + 1
    codes = names.get_indexer(turns["participant"])
    # Products of dimensions and rating, each less its mean over the turn's ratings.
    cross = np.zeros((len(names), width, width))
    for some in pieces(len(ratings), width**3):  # of all turns at once they would take gigabytes
        row, dimension = np.nonzero(np.isfinite(ratings[some]))
        z = within(
            np.column_stack([np.eye(width - 1)[dimension], ratings[some][row, dimension]]),
            pd.Series(row),
        )
        for one, other in combinations_with_replacement(range(width), 2):
            np.add.at(cross[:, one, other], codes[some][row], z[:, one] * z[:, other])
    one, other = np.tril_indices(width)
    cross[:, one, other] = cross[:, other, one]
    means = np.nanmean(ratings, axis=1) if len(ratings) else np.empty(0)
    talks = pd.DataFrame(
        {"talk": turns["conversation"].to_numpy(), "who": codes, "y": means, "one": 1 / number}
    )
    talks = talks.groupby("talk", sort=False).agg(
        who=("who", "first"), turns=("y", "size"), spread=("y", "var"), one=("one", "sum")
    )
    count = talks["turns"].to_numpy(dtype=float)
    squares = np.nan_to_num(talks["spread"].to_numpy()) * (count - 1)
    of_turns = np.column_stack([number, np.ones(len(number)), 1 / number])
    of_talks = np.column_stack(
        [squares, count - 1, np.ones(len(count)), 1 / count, talks["one"] / count**2]
    )
    sums = [
        sums_by_participant(of_turns, codes, len(names)),
        sums_by_participant(of_talks, talks["who"], len(names)),
    ]
    return np.column_stack([cross.reshape(len(names), -1), *sums])


def within_conversations(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    """Variance of turn means around their conversation, of noise in a turn mean, and of both in a conversation's mean.

    Noise is NaN where no turn has two rated dimensions; turns where no conversation has two. In a conversation's mean
    a part that is not known counts to the next one outside it.
    """
    width = len(DIMENSION_NAMES) + 1
    ratings, turns, one_by_rated, squares, freedom, talks, one_by_turns, both = np.moveaxis(
        sums[..., width**2 :], -1, 0
    )
    _, residual, rank = least_squares(sums[..., : width**2].reshape(*sums.shape[:-1], width, width))
    left = np.round(ratings - turns) - rank
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(left > 0, residual / left, np.nan)
        turn = np.where(freedom > 0, squares / freedom, np.nan)
        noise_of_mean = np.nan_to_num(noise * both / talks)
        turn_of_mean = np.nan_to_num(turn * one_by_turns / talks) - np.where(
            np.isfinite(turn), noise_of_mean, 0
        )
        return turn, noise * one_by_rated / turns, turn_of_mean, noise_of_mean


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
    require_own(study, bootstrap)
    frame = context_frame(study) if frame is None else frame
    frame = frame.assign(**({} if study.conditions else {"condition": ""}))
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    varying = [name for name in CONTEXT if not not_varying(frame, name)]
    frame = frame[frame[varying].notna().all(axis=1)]
    # The rows that are left out may have been the only ones that varied.
    varying = [name for name in varying if not not_varying(frame, name)]
    reason, model = fit_variance_model(frame)
    own, values = replace(bootstrap, draws=min(bootstrap.draws, draws)), np.empty((0, 0))
    no_condition = no_interaction_why = ""
    if model:
        no_condition = no_differences(study, model)
        no_interaction_why = "" if model.sums.free[1] else no_interaction(frame)
        sums, columns = context_sums(frame, varying, model.sums.participants)
        fits, weights = model.resampled(own)
        parts = []
        for fit, taken in ((model.fit, np.ones(len(sums))), (fits, weights)):
            context = context_variances(taken @ sums, columns)
            condition = model.of_conditions(fit, taken)
            person, interaction, _, rest = np.moveaxis(fit.variances, -1, 0)
            together = condition + context["topic"]
            split = [person, condition, interaction, context["all"], rest - context["all"]]
            split += [*(context[name] for name in CONTEXT), person, together, person - together]
            parts.append(
                np.stack(split, axis=-1) / (person + condition + interaction + rest)[..., None]
            )
        values = np.concatenate([parts[0][None], parts[1]])
    nothing = (
        "neither condition nor topic varies in this data set"
        if no_condition and "topic" not in varying
        else ""
    )
    no_context = "" if varying else "nothing of the context varies in this data set"
    of_context = {f"of the context: {CONTEXT[name]}": not_varying(frame, name) for name in CONTEXT}
    names = {
        "participant": ("one_base_share_participant", ""),
        "condition": ("one_base_share_condition", no_condition),
        "participant by condition": ("one_base_share_participant_by_condition", no_interaction_why),
        "context": ("one_base_share_context", no_context),
        "the rest": ("one_base_share_rest", ""),
    }
    names |= {
        name: (f"one_base_share_{column}", why)
        for column, (name, why) in zip(CONTEXT, of_context.items(), strict=True)
    }
    compared = {
        "participant": ("participant_share", ""),
        "condition and topic": ("condition_and_topic_share", nothing),
        "participant minus condition and topic": (
            "participant_share_beyond_condition_and_topic",
            nothing,
        ),
    }
    common = {
        "unit": "share of the variance",
        "method": f"{RATING}: mixed model with conditions fixed, context within participants",
        "rows": frame,
        "undefined": "the conversations are too few, or too alike, to distinguish it from the other parts",
    }
    shifted = {*names, *compared} - {"participant", "participant by condition"}
    names, compared = (
        {name: (key, reason or why) for name, (key, why) in table.items()}
        for table in (names, compared)
    )
    return VarianceShares(
        tabulate("part", intervals(names, values[:, : len(names)], own, shifted, **common), own),
        tabulate(
            "share", intervals(compared, values[:, len(names) :], own, shifted, **common), own
        ),
    )


def context_sums(
    frame: pd.DataFrame, varying: list, names: pd.Index
) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Cross products within participants, rows and one, summed by participant; columns of each context."""
    designs = {name: context_design(frame, [name]) for name in ("condition", *varying)}
    ends = np.cumsum([design.shape[1] for design in designs.values()])
    columns = {
        name: list(range(end - designs[name].shape[1], end))
        for name, end in zip(designs, ends, strict=True)
    }
    z = within(np.column_stack([*designs.values(), frame["y"]]), frame["participant"])
    codes = names.get_indexer(frame["participant"])
    cross = sums_by_participant(products(z), codes, len(names)).reshape(len(names), -1)
    return np.column_stack(
        [cross, np.bincount(codes, minlength=len(names)), np.ones(len(names))]
    ), columns


def context_variances(sums: np.ndarray, columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it does not vary."""
    width = round(np.sqrt(sums.shape[-1] - 2))
    cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
    freedom = np.round(sums[..., -2] - sums[..., -1])

    def mean_square(names) -> np.ndarray:
        kept = [column for name in names for column in columns[name]] + [width - 1]
        _, residual, rank = least_squares(cross[..., kept, :][..., kept])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(freedom - rank > 0, residual / (freedom - rank), np.nan)

    without = mean_square(["condition"])
    falls = {
        name: without - mean_square(["condition", name])
        if name in columns
        else np.zeros_like(without)
        for name in CONTEXT
    }
    return falls | {"all": without - mean_square(list(columns))}


# The same person


@finding
def participant_icc(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return ICC(1) of participants over conversations' ground truth, by analysis of variance; n conversations."""
    require_own(study, bootstrap)
    frame = rated_conversations(study)
    codes, names = pd.factorize(frame["participant"].to_numpy())

    def icc():
        need(len(frame), NEVER_RATED)
        need(frame["participant"].duplicated().any(), ONE_EACH)
        return resampled(
            bootstrap,
            icc_of_sums,
            icc_sums(frame["y"].to_numpy(), codes, len(names)),
            pd.Series(names),
        )

    undefined = "the ratings do not vary" if len(names) > 1 else "there is one participant only"
    how = "intraclass correlation", f"ICC(1) of participants by analysis of variance; {RATING}"
    return tabulate(
        "ratings", [Number("as rated", icc, *how, frame, "icc_1", undefined)], bootstrap
    )


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
    require_own(study, bootstrap)
    frame, rows = rated_conversations(study), {}
    how = "mean absolute difference of the ground truth of a conversation over pairs in the same condition"
    common = {"unit": "levels (from 1 to 5)", "method": how}
    keys = {
        "two people, same condition": "apart_two_people",
        "one person, same condition": "apart_one_person",
        "two people minus one person, same condition": "apart_excess",
    }
    if frame.empty:
        none = estimate_row(n=0, **common, reason=NEVER_RATED)
        return estimate_table(dict.fromkeys(keys, none), "two conversations", keys)
    cell, who = (
        frame.groupby("condition").ngroup().to_numpy(),
        bootstrap.codes(frame["participant"]),
    )
    y = frame["y"].to_numpy() - frame["y"].mean()  # sums of small numbers lose less
    once = np.ones((1, len(bootstrap.names)))
    # Pairs of one person: by person alone, and subtracted from all pairs as often as both were taken.
    people, own_cell = np.unique(np.column_stack([who, cell]), axis=0, return_inverse=True)
    own = [
        np.bincount(people[:, 0], weights=part[0], minlength=len(bootstrap.names))
        for part in pair_sums(y, own_cell.ravel(), once, who)
    ]

    def apart(weights: np.ndarray) -> np.ndarray:
        everyone = [part.sum(axis=1) for part in pair_sums(y, cell, weights, who)]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance, pairs = (
                whole - weights**2 @ part for whole, part in zip(everyone, own, strict=True)
            )
            two = np.where(pairs > 0, distance, np.nan) / pairs
            one = (weights @ own[0]) / (weights @ own[1])
            return np.column_stack([two, one, two - one])

    of_one = round(own[1].sum() / 2)
    of_two = round(pair_sums(y, cell, once, who)[1].sum() / 2) - of_one
    estimates, draws = (
        apart(once)[0],
        bootstrap.in_every_draw(apart, len(y), 100),
    )  # so many at once stay in the cache
    counts = {0: (of_two, of_two), 1: (of_one, of_one), 2: (min(of_two, of_one), len(y))}
    for (place, (pairs, n)), name in zip(counts.items(), keys, strict=True):
        few = (
            f"only {count_of(pairs, 'such pair')} of conversations"
            if place < 2
            else "too few pairs of conversations"
        )
        found = Estimate(
            estimates[place], *bootstrap.interval(draws[:, place], frame["participant"])
        )
        row = bootstrap.row(found, n=n, **common)
        rows[name] = estimate_row(n=n, **common, reason=few) if pairs < 10 else row
    return estimate_table(rows, "two conversations", keys)


def pair_sums(
    y: np.ndarray, group: np.ndarray, weights: np.ndarray, who: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of absolute differences of the pairs within a group, and numbers of pairs, each pair once each way.

    ``weights`` (draws, participants) say how often each participant is taken, which makes so many pairs of a row with
    any other, and none with itself; ``who`` is the participant of each row. In order of y the sum needs the rows below
    each row only: no pair is formed, so that the cost is linear in rows.
    """
    order = np.lexsort((y, group))
    y, group, weights = y[order], group[order], weights[:, who[order]]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    moments = weights * y
    below, moments_below = np.cumsum(weights, axis=1), np.cumsum(moments, axis=1)
    total, moment = (np.add.reduceat(values, starts, axis=1) for values in (weights, moments))
    # Of all rows below; those of earlier groups are subtracted.
    sums = np.add.reduceat(moments * below - weights * moments_below, starts, axis=1)
    sums -= (below[:, starts] - weights[:, starts]) * moment - (
        moments_below[:, starts] - moments[:, starts]
    ) * total
    return 2 * sums, total**2 - np.add.reduceat(weights * weights, starts, axis=1)


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
            rows[name] = {
                "measure": "omega squared" if row["unit"].startswith("share") else row["unit"],
                "estimate": f"{row['estimate']:z.2f}"
                if np.isfinite(row["estimate"])
                else row["reason"],
                "interval": f"{row['low']:z.2f} to {row['high']:z.2f}"
                if np.isfinite(row["low"])
                else "",
                "n": row["n"],
                "p": p_in_words(test["p"]),
                "q": p_in_words(test["q"]),
                "related": "yes" if test["related"] else "no",
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("characteristic")


def characteristic_columns(participants: pd.DataFrame | None, people: pd.Index) -> pd.DataFrame:
    """Kind of each column of the participants' sheet (number, group, or "" and why it is left out), and its answers.

    Of the ``people`` with a rating; the others do not count.
    """
    kinds = {}
    if participants is not None:
        own = participants[participants["participant"].isin(people)]
        for name in own.columns.drop(["participant", "row"], errors="ignore"):
            answers = own[name].dropna()
            kinds[name] = (*kind_of(str(name), answers), len(answers))
    frame = pd.DataFrame.from_dict(kinds, orient="index", columns=["kind", "reason", "answers"])
    return frame.rename_axis("characteristic")


def kind_of(name: str, answers: pd.Series) -> tuple[str, str]:
    """Whether the answers are numbers or groups; "" and the reason if neither."""
    if len(answers) < 10:
        return "", f"{count_of(len(answers), 'participant')} with ratings answered it: too few"
    number = pd.api.types.is_numeric_dtype(answers) and not pd.api.types.is_bool_dtype(answers)
    values = answers if number else answers.astype(str)
    distinct = values.nunique()
    if distinct == 1:
        return "", "the same for everybody"
    if distinct == len(values) and name.lower().replace("_", " ").split()[-1:] in (
        ["id"],
        ["pid"],
        ["uuid"],
    ):
        return "", "an identifier"
    if number:
        whole = (values == np.round(values)).all()
        running = whole and distinct == len(values) and np.ptp(values) == len(values) - 1
        return ("", "a running number") if running else ("number", "")
    if distinct == len(values):
        return "", "another text for everybody"
    if distinct > min(MOST_GROUPS, len(values) / FEWEST_PER_GROUP):
        return "", f"{distinct} groups of {len(values)} participants are too many"
    return "group", ""


def analysis_of_variance(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sums of squares between and within groups, and their degrees of freedom; NaN if nothing varies.

    ``sums`` (..., groups, 3) hold for each group n, the sum and the sum of squares.
    """
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        grand = total.sum(axis=-1) ** 2 / n.sum(axis=-1)
    between = np.where(n > 0, total**2 / np.where(n > 0, n, 1), 0).sum(axis=-1) - grand
    whole = squares.sum(axis=-1) - grand
    groups = (n > 0).sum(axis=-1)
    varies = rounded(whole / np.maximum(squares.sum(axis=-1), 1)) > 0
    between = np.where(varies, between, np.nan)
    return between, np.maximum(whole - between, 0), groups - 1, n.sum(axis=-1) - groups


def omega_squared(sums: np.ndarray) -> np.ndarray:
    r"""Share of the variance between groups, adjusted for chance: omega squared, from :func:`analysis_of_variance`.

    .. math:: \omega^2 = \frac{SS_b - (k - 1) MS_w}{SS_b + SS_w + MS_w}

    Unlike eta squared, :math:`SS_b / (SS_b + SS_w)`, it is about zero on average where groups do not differ, and may be
    negative. NaN if nothing varies, or if there are no more rows than groups (Hays, 1963).

    Examples
    --------
    >>> groups = [[1.0, 2.0], [3.0, 4.0]]
    >>> sums = np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups])
    >>> round(float(omega_squared(sums)), 3)
    0.636
    """
    between, within_them, above, below = analysis_of_variance(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = within_them / below
        return np.where(
            below > 0, (between - above * square) / (between + within_them + square), np.nan
        )


def participant_means(study: Study) -> pd.Series:
    """Each participant's mean ground truth over conversations, to nine decimals; those without one are left out.

    Rounded, since means that are equal differ in their last bits by the order of summation, and would not tie in ranks.
    """
    return rounded(
        conversation_ratings(study)
        .groupby("participant", sort=False)["ground_truth"]
        .mean()
        .dropna()
    )


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
    require_own(study, bootstrap)
    return relations_of(study.participants, participant_means(study), bootstrap, bootstrap.draws)


@finding
def relations_of(
    sheet: pd.DataFrame | None, means: pd.Series, bootstrap: ParticipantBootstrap, permutations: int
) -> Relations:
    """Relations of a sheet's columns to one number per participant; without permutations p by t and F."""
    columns = characteristic_columns(sheet, means.index)
    examined, rows, p = columns[columns["kind"] != ""], {}, {}
    generator = np.random.default_rng(bootstrap.seed)
    for name, kind in examined["kind"].items():
        values = sheet.set_index("participant")[name].reindex(means.index).dropna()
        relate = number_relation if kind == "number" else group_relation
        rows[name], p[name] = relate(
            values, means[values.index], bootstrap, permutations, generator
        )
    measures = {"number": "correlation", "group": "omega_squared"}
    safe = safe_names(rows)
    keys = {
        name: f"characteristic_{measures[examined.loc[name, 'kind']]}_{safe[name]}" for name in rows
    }
    estimates = estimate_table(rows, "characteristic", keys)
    tests = pd.DataFrame({"p": p}, index=estimates.index, dtype=float).assign(q=np.nan)
    known = tests["p"].notna()
    if known.any():
        tests.loc[known, "q"] = stats.false_discovery_control(tests.loc[known, "p"])
    tests["related"] = rounded(tests["q"]) <= FALSE_DISCOVERY_RATE
    reason = NO_SHEET if sheet is None else NO_COLUMN
    reason = "" if known.any() else reason if tests.empty else "no characteristic can be tested"
    method = f"Benjamini-Hochberg, false discovery rate {FALSE_DISCOVERY_RATE:g}"
    summary = {
        name: estimate_row(
            np.nan if reason else count,
            n=len(means),
            unit="characteristics",
            method=method,
            reason=reason,
            key=f"characteristics_{name}",
        )
        for name, count in (("examined", len(tests)), ("related", int(tests["related"].sum())))
    }
    left_out = columns.loc[columns["kind"] == "", ["reason"]]
    return Relations(estimates, tests, left_out, estimate_table(summary, "characteristics"))


def number_relation(
    values: pd.Series, y: pd.Series, bootstrap, permutations, generator
) -> tuple[dict, float]:
    """Spearman's correlation as a row of estimates, and its p value."""
    x, y_values, n = values.to_numpy(dtype=float), rounded(y.to_numpy()), len(values)
    common = {
        "n": n,
        "unit": "Spearman's rho",
        "method": "Spearman's rank correlation with participants' mean ratings",
    }
    if np.ptp(y_values) == 0:
        return estimate_row(**common, reason="the ratings do not vary"), np.nan
    rho, p = stats.spearmanr(x, y_values)
    if permutations:
        centered = [
            (ranks - ranks.mean()) / ranks.std()
            for ranks in (stats.rankdata(x), stats.rankdata(y_values))
        ]
        strength = lambda order: np.abs(centered[1][order] @ centered[0]) / n  # noqa: E731
        p = share_as_strong(strength, abs(rho), n, permutations, generator)
    codes = bootstrap.codes(values.index)
    draws = bootstrap.in_every_draw(lambda weights: spearman_in_draws(x, y_values, weights, codes))
    return bootstrap.row(Estimate(rho, *bootstrap.interval(draws, values.index)), **common), float(
        p
    )


def group_relation(
    values: pd.Series, y: pd.Series, bootstrap, permutations, generator
) -> tuple[dict, float]:
    """Omega squared as a row of estimates, and its p value."""
    groups, y_values, n = (
        pd.get_dummies(values.astype(str), dtype=float).to_numpy(),
        y.to_numpy(),
        len(y),
    )
    unit = "share of the variance of participants' means (omega squared)"
    common = {
        "n": n,
        "unit": unit,
        "method": f"omega squared of {count_of(groups.shape[1], 'group')}",
    }
    sums = (
        groups[:, :, None] * np.column_stack([np.ones(n), y_values, y_values**2])[:, None, :]
    ).sum(axis=0)
    between, within_them, above, below = (float(part) for part in analysis_of_variance(sums))
    if not np.isfinite(between):
        return estimate_row(**common, reason="the ratings do not vary"), np.nan
    f, whole = between / max(within_them, 1e-12) * below / above, between + within_them
    p = float(stats.f.sf(f, above, below))
    if permutations:
        centered, by_size = y_values - y_values.mean(), groups / np.sqrt(groups.sum(axis=0))
        strength = lambda order: ((centered[order] @ by_size) ** 2).sum(axis=1) / whole  # noqa: E731
        p = share_as_strong(strength, between / whole, n, permutations, generator)
    estimate = Estimate(
        float(omega_squared(sums)), reason="no interval: the groups tell the means exactly"
    )
    if rounded(within_them / max(between, 1e-12)) > 0:
        low, high = noncentral_limits(f, int(above), int(below), n, bootstrap.confidence)
        estimate = Estimate(estimate.estimate, min(low, estimate.estimate), high)
    return bootstrap.row(estimate, **common, how=f"{bootstrap.confidence:.0%} {NONCENTRAL}"), p


def share_as_strong(strength, observed: float, n: int, permutations: int, generator) -> float:
    """Share of permutations at least as strong as the observed one, which counts as one of them."""
    as_strong = 0
    for piece in pieces(permutations, n, 2000):
        order = np.argsort(generator.random((piece.stop - piece.start, n)), axis=1)
        as_strong += int((rounded(strength(order)) >= rounded(observed)).sum())
    return (as_strong + 1) / (permutations + 1)


def noncentral_limits(
    f: float, above: int, below: int, n: int, confidence: float
) -> tuple[float, float]:
    """Limits of the explained share, from the noncentralities whose quantiles f is."""
    tail = (1 - confidence) / 2
    limits = []
    for level in (1 - tail, tail):
        if stats.f.cdf(f, above, below) <= level:
            limits.append(0.0)
            continue
        left, right = 0.0, 1.0
        while stats.ncf.cdf(f, above, below, right) > level and right < 1e6:
            right *= 2
        for _ in range(60):
            middle = (left + right) / 2
            left, right = (
                (middle, right)
                if stats.ncf.cdf(f, above, below, middle) > level
                else (left, middle)
            )
        limits.append(left / (left + n))
    return limits[0], limits[1]


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
    require_own(study, bootstrap)
    means, sheet = participant_means(study), study.participants
    columns = characteristic_columns(sheet, means.index)
    columns = columns[(columns["kind"] != "") & (columns["answers"] >= 0.8 * len(means))]
    reason, design, y = (
        NO_SHEET if sheet is None else "" if len(means) else "no conversation has a ground truth",
        None,
        means,
    )
    if not reason and columns.empty:
        reason = NO_COLUMN
    if not reason:
        design, y = characteristics_design(sheet, columns, means)
        if len(y) - design.shape[1] < 20:
            coefficients = count_of(design.shape[1], "coefficient")
            reason = f"{count_of(len(y), 'participant')} answered all, too few for {coefficients}"
        elif rounded(np.ptp(y)) == 0:
            reason = "the ratings do not vary"
    keys = {
        "explained, adjusted": "characteristics_explained",
        "predicted, cross-validated": "characteristics_explained_cross_validated",
    }
    common, method = (
        {"n": len(y), "unit": "share of the variance of participants' means"},
        count_of(len(columns), "characteristic"),
    )
    if reason:
        return estimate_table(
            dict.fromkeys(keys, estimate_row(**common, method=method, reason=reason)), "share", keys
        )
    method = f"{method}, {count_of(design.shape[1] - 1, 'coefficient')}"
    n, width = design.shape
    basis = np.linalg.qr(design)[0]
    residual, whole = y.to_numpy() - basis @ (basis.T @ y.to_numpy()), ((y - y.mean()) ** 2).sum()
    rest = (residual**2).sum()
    adjusted = 1 - rest / (n - width) / (whole / (n - 1))
    f = (whole - rest) / (width - 1) / (rest / (n - width))
    low, high = noncentral_limits(f, width - 1, n - width, n, bootstrap.confidence)
    how = f"adjusted R squared, {method}; {bootstrap.confidence:.0%} {NONCENTRAL}"
    leverage = np.minimum((basis**2).sum(axis=1), 1)
    alone = leverage > 1 - 1e-9  # a participant who is the only one of a group can't be predicted
    predicted = ((residual[~alone] / (1 - leverage[~alone])) ** 2).sum()
    without = (((y.to_numpy() - y.mean()) * n / (n - 1))[~alone] ** 2).sum()
    rows = (
        estimate_row(adjusted, min(low, adjusted), high, **common, method=how),
        estimate_row(
            1 - predicted / without, **common, method=f"leave one participant out, {method}"
        ),
    )
    return estimate_table(dict(zip(keys, rows, strict=True)), "share", keys)


def characteristics_design(
    sheet: pd.DataFrame, columns: pd.DataFrame, means: pd.Series
) -> tuple[np.ndarray, pd.Series]:
    """Ones, numbers by their standard deviation, groups but one; columns that add nothing are left out."""
    answers = sheet.set_index("participant")[list(columns.index)].reindex(means.index).dropna()
    parts = [np.ones((len(answers), 1))]
    for name, kind in columns["kind"].items():
        if kind == "group":
            parts.append(
                pd.get_dummies(answers[name].astype(str), drop_first=True, dtype=float).to_numpy()
            )
        elif len(answers) and np.ptp(answers[name]) > 0:
            parts.append(
                ((answers[name] - answers[name].mean()) / answers[name].std()).to_numpy(float)[
                    :, None
                ]
            )
    design = np.concatenate(parts, axis=1)
    kept = []
    for column in range(design.shape[1]):
        if np.linalg.matrix_rank(design[:, [*kept, column]]) > len(kept):
            kept.append(column)
    return design[:, kept], means[answers.index]
