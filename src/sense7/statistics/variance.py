"""How individual the ratings are: parts of their variance, and how differently people rate in one condition.

The variance of ratings is split into that between participants, the participant-by-condition interaction, that between
a participant's conversations in one condition, and, where turns are rated, that between the turns of a conversation.
Conditions are fixed effects. Their variance, and that of the conversations' context, is taken up on the same base, so
that shares can be compared.
"""

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces, sums_by_participant
from sense7.statistics.comparison import conversation_ratings
from sense7.statistics.context import CONTEXT, context_design, context_frame, not_varying, within
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.least_squares import least_squares
from sense7.statistics.mixed import Nested, NestedSums, fit_nested, nested_sums
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "BASE_KEYS",
    "COMPARISON_KEYS",
    "CONTEXT_BASE_KEYS",
    "KEYS",
    "OneBase",
    "VarianceParts",
    "icc_1",
    "intraclass_correlations",
    "one_base",
    "participant_icc",
    "same_condition_differences",
    "variance_of_effects",
    "variance_parts",
]

PARTS = ("participant", "participant by condition", "conversation", "turn")
KEYS = {
    "participant": "participant",
    "participant by condition": "participant_condition",
    "conversation": "conversation",
    "turn": "residual",
}
"""Endings of keys by the part's name."""

BASE_PARTS = ("participant", "condition", "participant by condition", "conversation", "turn", "noise within a turn")
BASE_KEYS = {
    "ground_truth": {
        "participant": "conversation_mean_share_participant",
        "condition": "conversation_mean_share_condition",
        "participant by condition": "conversation_mean_share_participant_by_condition",
        "conversation": "conversation_mean_share_conversation",
        "turn": "conversation_mean_share_turn",
        "noise within a turn": "conversation_mean_share_noise",
    },
    "turn_mean": {
        "participant": "turn_mean_share_participant",
        "condition": "turn_mean_share_condition",
        "participant by condition": "turn_mean_share_participant_by_condition",
        "conversation": "turn_mean_share_conversation",
        "turn": "turn_mean_share_turn",
        "noise within a turn": "turn_mean_share_noise",
    },
    "overall": {
        "participant": "turn_overall_share_participant",
        "condition": "turn_overall_share_condition",
        "participant by condition": "turn_overall_share_participant_by_condition",
        "conversation": "turn_overall_share_conversation",
        "turn": "turn_overall_share_turn",
        "noise within a turn": "turn_overall_share_noise",
    },
}
"""Rating -> rows of :attr:`VarianceParts.on_one_base` -> keys."""

MODEL_DRAWS = 1000
"""A mixed model is fitted again in each resample, so fewer are drawn than where sums suffice."""

TURN_RATINGS = {
    "turn_mean": "mean over the rated dimensions of a turn",
    "overall": "overall rating of a turn",
}
FEWEST_PAIRS = 10
_PAIRED = 100  # resamples at once: what fits into the cache is faster
ONE_EACH = "no participant has two rated conversations, so persons can't be told from conversations"


@dataclass(frozen=True, eq=False)
class VarianceParts:
    r"""Parts of a rating's variance, tables of estimates with one row per part.

    Attributes
    ----------
    variances, shares : DataFrame
        In squared levels, and as shares of their sum; conditions are fixed and not among them.
    differences : DataFrame
        What they mean for two ratings, in levels, if the parts are normally distributed: expected
        difference of two participants' levels in a condition (:math:`2\sqrt{(\sigma_p^2 + \sigma_{pc}^2)/\pi}`),
        and of two conversations of one participant in a condition (:math:`2 \sigma_c / \sqrt{\pi}`).
    on_one_base : DataFrame
        Shares of the variance of all ratings, the conditions' included: participant, condition (see
        :func:`variance_of_effects`), participant by condition, conversation, turn, and noise within a turn.
    """

    variances: pd.DataFrame
    shares: pd.DataFrame
    differences: pd.DataFrame
    on_one_base: pd.DataFrame


def _rated(study: Study, rating: str) -> tuple[pd.DataFrame, str]:
    """Rows with the rating as ``y``, and what it is; conditions as text, one if there are none."""
    if rating in TURN_RATINGS:
        words = TURN_RATINGS[rating]
        frame = study.turns[["participant", "condition", "conversation"]].copy()
        whole = study.turns[list(DIMENSION_NAMES)].mean(axis=1) if rating == "turn_mean" else study.turns[rating]
        frame["y"] = whole.astype(float)
    else:
        words = "ground truth of a conversation"
        frame = conversation_ratings(study).reset_index()
        frame["y"] = frame[rating]
    if not study.conditions:
        frame["condition"] = ""
    return frame[frame["y"].notna() & frame["condition"].notna() & frame["participant"].notna()], words


def variance_parts(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth", draws: int = MODEL_DRAWS
) -> VarianceParts:
    r"""Variance components of a rating by a mixed model (REML) with conditions fixed, and their shares on one base.

    On the one base the residual variance of the model is split further:

    - *noise within a turn* is what the dimensions of a turn do not have in common,
      :math:`s^2_e \overline{1/k}`, with :math:`s^2_e` the mean square of ratings around the turn and the dimension,
      and k the number of dimensions rated in a turn. An overall rating is a single one: its noise belongs to *turn*.
    - In a conversation's mean, *turn* is :math:`s^2_t \overline{1/T}` less the noise, with :math:`s^2_t` the mean
      square of turn means around the conversation's and T the rated turns of a conversation: what is left of turns in
      a mean over few of them. *Conversation* is the rest.

    Such differences may be slightly negative. The condition's share is adjusted, and its draws are moved so that their
    mean is the estimate, since resampling inflates it.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first ``draws`` resamples; the model is fitted in each.
    rating : {"ground_truth", "turn_mean", "overall"}
        Ground truth of conversations; or of turns the mean over the rated dimensions, or the
        overall rating. Rows without it, or without a condition, are left out.
    draws : int
        Largest number of resamples.

    Notes
    -----
    R: lme4::lmer(overall ~ model + (1 | participant) + (1 | pm) + (1 | conversation)),
    tests/reference/reference.R; equal to 2e-4. A part that the design can't distinguish from another one has no
    estimate, and is part of that one.
    """
    frame, words = _rated(study, rating)
    parts = PARTS if rating in TURN_RATINGS else PARTS[:3]
    method = f"{words}: mixed model with conditions fixed; REML"
    reason, model = _fitted(frame, words, rating in TURN_RATINGS)
    if reason:
        return _no_parts(parts, len(frame), method, reason)
    # At the level of conversations the model's residual is the conversation.
    places = [0, 1, 2, 3] if rating in TURN_RATINGS else [0, 1, 3]
    known = [place == 3 or bool(model.sums.free[place]) for place in places]
    own = replace(bootstrap, draws=min(bootstrap.draws, draws))
    estimates, drawn, weights = model.fit.variances[places], *model.resampled(own, frame["participant"])
    resampled = drawn.variances[:, places]

    def rows(statistic, names, unit, told) -> dict:
        values, in_draws = statistic(estimates), statistic(resampled)
        found = [
            (values[place] if told[place] else np.nan, *own.interval(in_draws[:, place], frame["participant"]))
            for place in range(len(names))
        ]
        return {
            name: own.row(found[place], n=len(frame), unit=unit, method=method, undefined=_mixed_up(name, frame))
            for place, name in enumerate(names)
        }

    share = lambda values: values / values.sum(axis=-1, keepdims=True)  # noqa: E731
    return VarianceParts(
        estimate_table(rows(lambda values: values, parts, "squared levels", known), "part"),
        estimate_table(rows(share, parts, "share of the variance", known), "part"),
        estimate_table(rows(_differences, DIFFERENCES, "levels (from 1 to 5)", [True, known[2]]), "two of"),
        _on_one_base(study, frame, rating, model, drawn, weights, own, method),
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """The mixed model of some rows, with what is needed to fit it to resampled participants."""

    sums: NestedSums
    fit: Nested
    counts: np.ndarray  # rows of each participant in each condition

    def resampled(self, own: ParticipantBootstrap, participants: pd.Series) -> tuple[Nested, np.ndarray]:
        """Fits in the resamples, NaN where one failed or participants are too few; and their weights."""
        conditions = self.counts.shape[1]
        weights = own.weights()[:, own.names.get_indexer(self.sums.participants)]
        if own.too_few(participants):
            shapes = (conditions,), (conditions, conditions), (4,), ()
            return Nested(*(np.full((own.draws, *shape), np.nan) for shape in shapes)), weights
        fit = fit_nested(self.sums, weights, self.fit.variances[:3] / self.fit.variances[3])
        fit.variances[~np.isfinite(fit.variances).all(axis=1)] = np.nan  # a fit that failed gives no part
        return fit, weights

    def of_conditions(self, fit: Nested, weights: np.ndarray | None = None) -> np.ndarray:
        """Variance of the conditions' effects in a fit, or in the fits of resamples."""
        counts = self.counts.sum(axis=0) if weights is None else weights @ self.counts
        return variance_of_effects(fit.coefficients, fit.covariance, counts)


def _fitted(frame: pd.DataFrame, words: str, turns: bool) -> tuple[str, _Model | None]:
    """Why there is no model of these rows, or the model."""
    per_person = frame.groupby("participant")["conversation"].nunique()
    if frame.empty:
        return f"no {words} in this data set", None
    if len(per_person) < 2:
        return "there is one participant only", None
    if per_person.max() < 2:
        return ONE_EACH, None
    if np.ptp(frame["y"]) < 1e-9:
        return "the ratings do not vary", None
    names = sorted(frame["condition"].unique())
    design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
    groups = frame["conversation"] if turns else None
    sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
    fit = fit_nested(sums)
    if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-9 * np.var(frame["y"]):
        return "too few conversations for the model", None
    counts = sums_by_participant(design, sums.participants.get_indexer(frame["participant"]), len(sums.participants))
    return "", _Model(sums, fit, counts)


def variance_of_effects(coefficients: np.ndarray, covariance: np.ndarray, counts: np.ndarray) -> np.ndarray:
    r"""Variance of the means of conditions over the rows, less what their standard errors add to it.

    .. math:: \sum_j f_j (\beta_j - \bar\beta)^2 - \sum_j f_j V_{jj} + \sum_{jk} f_j f_k V_{jk},
              \quad \bar\beta = \sum_j f_j \beta_j

    So it is zero on average where conditions do not differ, and single estimates may be negative.

    Parameters
    ----------
    coefficients : array, shape (..., conditions)
        Mean of each condition.
    covariance : array, shape (..., conditions, conditions)
        Their covariances V.
    counts : array, shape (..., conditions)
        Rows of each condition; f is its share of them.

    Returns
    -------
    array, shape (...)
        In squared levels.

    Examples
    --------
    >>> round(float(variance_of_effects(np.array([1.0, 3.0]), np.eye(2) / 10, np.array([5, 5]))), 6)
    0.95
    """
    counts = np.asarray(counts, dtype=float)
    shares = counts / counts.sum(axis=-1, keepdims=True)
    centered = coefficients - (shares * coefficients).sum(axis=-1, keepdims=True)
    own = (shares * np.diagonal(covariance, axis1=-2, axis2=-1)).sum(axis=-1)
    together = np.einsum("...i,...ij,...j->...", shares, covariance, shares)
    return (shares * centered**2).sum(axis=-1) - own + together


def _on_one_base(study, frame, rating, model, drawn, weights, own, method) -> pd.DataFrame:
    """Shares of the variance of all ratings, the conditions' included and the residual variance split."""
    turns = _turns_of(study, frame, model.sums.participants)
    one_condition = model.counts.shape[1] < 2

    def parts(fit: Nested, of: np.ndarray | None) -> np.ndarray:
        values = np.zeros((*fit.variances.shape[:-1], len(BASE_PARTS)))
        values[..., [0, 2, 3]] = fit.variances[..., :3]
        values[..., 1] = 0 if one_condition else model.of_conditions(fit, of)
        _, noise, turn_of_mean, noise_of_mean = _within_conversations(turns.sum(axis=0) if of is None else of @ turns)
        if rating == "ground_truth":
            values[..., 4], values[..., 5] = turn_of_mean, noise_of_mean
            values[..., 3] = fit.variances[..., 3] - turn_of_mean - noise_of_mean
        else:
            values[..., 5] = noise if rating == "turn_mean" else 0
            values[..., 4] = fit.variances[..., 3] - values[..., 5]
        return values

    undefined = dict.fromkeys(BASE_PARTS, "")
    if one_condition:
        undefined["condition"] = (
            "there is one condition only" if study.conditions else "no conversation has a condition"
        )
    for place, name in ((1, "participant by condition"), (2, "conversation")):
        if not model.sums.free[place] and not (rating == "ground_truth" and place == 2):
            undefined[name] = _mixed_up(name, frame)
    alone = _within_conversations(turns.sum(axis=0))
    if rating == "overall":
        undefined["noise within a turn"] = "an overall rating is a single one: its noise is part of the turn"
    elif not np.isfinite(alone[1]):
        undefined["noise within a turn"] = "too few turns with two rated dimensions: it is part of the turn"
    if rating == "ground_truth" and not np.isfinite(alone[0]):
        undefined["turn"] = "no conversation has two rated turns: it is part of the conversation"
    kept = np.array([not undefined[name] for name in BASE_PARTS])

    def shares(values: np.ndarray) -> np.ndarray:
        values = np.where(kept, values, 0)
        return values / values.sum(axis=-1, keepdims=True)

    estimates, in_draws = shares(parts(model.fit, None)), shares(parts(drawn, weights))
    rows = {}
    for place, name in enumerate(BASE_PARTS):
        shift = estimates[place] if name == "condition" else None
        found = (
            (estimates[place], *own.interval(in_draws[:, place], frame["participant"], shift_to=shift))
            if kept[place]
            else (np.nan, np.nan, np.nan, "")
        )
        unit = "share of the variance, conditions included"
        rows[name] = own.row(found, n=len(frame), unit=unit, method=method, undefined=undefined[name])
    return estimate_table(rows, "part")


def _turns_of(study: Study, frame: pd.DataFrame, names: pd.Index) -> np.ndarray:
    """Sums per participant of what :func:`_within_conversations` needs, over the turns of these conversations."""
    turns = study.turns[["conversation", "participant", *DIMENSION_NAMES]]
    turns = turns[turns["conversation"].isin(frame["conversation"])]
    turns = turns[turns[list(DIMENSION_NAMES)].notna().any(axis=1)]
    ratings = turns[list(DIMENSION_NAMES)].to_numpy(dtype=float)
    number = np.isfinite(ratings).sum(axis=1)
    codes = names.get_indexer(turns["participant"])
    products = _products_within_turns(ratings, codes, len(names))
    means = np.nanmean(ratings, axis=1) if len(ratings) else np.empty(0)
    talks = pd.DataFrame({"talk": turns["conversation"].to_numpy(), "who": codes, "y": means, "one": 1 / number})
    talks = talks.groupby("talk", sort=False).agg(
        who=("who", "first"), turns=("y", "size"), spread=("y", "var"), one=("one", "sum")
    )
    count = talks["turns"].to_numpy(dtype=float)
    counted = [
        np.bincount(codes, weights=number, minlength=len(names)),
        np.bincount(codes, minlength=len(names)),
        np.bincount(codes, weights=1 / number, minlength=len(names)),
    ]
    for value in (
        np.nan_to_num(talks["spread"].to_numpy()) * (count - 1),
        count - 1,
        np.ones(len(count)),
        1 / count,
        talks["one"].to_numpy() / count**2,
    ):
        counted.append(np.bincount(talks["who"], weights=value, minlength=len(names)))
    return np.column_stack([products, *counted])


def _products_within_turns(ratings: np.ndarray, codes: np.ndarray, participants: int) -> np.ndarray:
    """Sums per participant of the products of dimensions and rating, each less its mean over the turn's ratings."""
    width = ratings.shape[1] + 1
    products = np.zeros((participants, width, width))
    for some in pieces(len(ratings), width**3):  # of all turns at once they would take gigabytes
        row, dimension = np.nonzero(np.isfinite(ratings[some]))
        z = within(np.column_stack([np.eye(width - 1)[dimension], ratings[some][row, dimension]]), pd.Series(row))
        for one, other in combinations_with_replacement(range(width), 2):
            np.add.at(products[:, one, other], codes[some][row], z[:, one] * z[:, other])
    one, other = np.tril_indices(width)
    products[:, one, other] = products[:, other, one]
    return products.reshape(participants, width**2)


def _within_conversations(sums: np.ndarray) -> tuple[np.ndarray, ...]:
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
        turn_of_mean = np.nan_to_num(turn * one_by_turns / talks) - np.where(np.isfinite(turn), noise_of_mean, 0)
        return turn, noise * one_by_rated / turns, turn_of_mean, noise_of_mean


DIFFERENCES = ("two participants' levels", "two conversations of one participant")


def _differences(variances: np.ndarray) -> np.ndarray:
    pairs = np.stack([variances[..., 0] + variances[..., 1], variances[..., 2]], axis=-1)
    return 2 * np.sqrt(pairs / np.pi)


def _mixed_up(name: str, frame: pd.DataFrame) -> str:
    """Why a part can't be told from another."""
    if name == "participant by condition":
        if frame.groupby("participant")["condition"].nunique().max() < 2:
            return "no participant met two conditions: it is part of the participant's"
        return "no participant has two conversations in a condition: it is part of the conversation's"
    if (frame.groupby("conversation").size() < 2).all():
        return "no conversation has two rated turns: it is part of the turn's"
    if frame.groupby("participant")["condition"].nunique().max() < 2:
        return "it can't be told from the participant's"
    return "no participant has two conversations in a condition: it is part of participant by condition"


def _no_parts(parts, n: int, method: str, reason: str) -> VarianceParts:
    units = {
        "squared levels": parts,
        "share of the variance": parts,
        "levels (from 1 to 5)": DIFFERENCES,
        "share of the variance, conditions included": BASE_PARTS,
    }
    return VarianceParts(
        *(
            estimate_table(
                {name: estimate_row(n=n, unit=unit, method=method, reason=reason) for name in names},
                "two of" if names is DIFFERENCES else "part",
            )
            for unit, names in units.items()
        )
    )


COMPARISON = ("participant", "condition and topic", "participant minus condition and topic")
COMPARISON_KEYS = {
    "participant": "participant_share",
    "condition and topic": "condition_and_topic_share",
    "participant minus condition and topic": "participant_share_beyond_condition_and_topic",
}
"""Rows of :attr:`OneBase.comparison` -> keys."""

CONTEXT_BASE = ("participant", "condition", "participant by condition", "context", "the rest")
CONTEXT_BASE_KEYS = {
    "participant": "one_base_share_participant",
    "condition": "one_base_share_condition",
    "participant by condition": "one_base_share_participant_by_condition",
    "context": "one_base_share_context",
    "the rest": "one_base_share_rest",
    "of the context: topic": "one_base_share_topic",
    "of the context: importance": "one_base_share_importance",
    "of the context: desired empathy": "one_base_share_desired_empathy",
}
"""Rows of :attr:`OneBase.shares` -> keys."""


@dataclass(frozen=True, eq=False)
class OneBase:
    """Shares of the variance of all conversations' ground truth, tables of estimates.

    Attributes
    ----------
    shares : DataFrame
        Participant, condition, participant by condition, context and the rest, which add up to one; then the topic, the
        importance and the desired empathy, each alone, which need not add up to the context.
    comparison : DataFrame
        Participant; condition and topic together; and the first minus the second.
    """

    shares: pd.DataFrame
    comparison: pd.DataFrame


_TOO_FEW_FOR_PARTS = "the conversations are too few, or too alike, to distinguish it from the other parts"


def one_base(study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS) -> OneBase:
    r"""Shares of participants, conditions and context of one base, the variance of all conversations' ground truth.

    Participants, participant by condition and the conversations' residual variance are REML estimates with conditions
    fixed; the condition's variance is that of :func:`variance_of_effects`. The context's is the fall of the mean square
    within participants when its columns are added to the conditions',

    .. math:: \frac{\mathrm{RSS}_{c}}{n - G - r_c} - \frac{\mathrm{RSS}_{c + x}}{n - G - r_{c + x}}

    with n conversations, G participants and r the rank of the columns. It is taken off the residual variance.
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

    Returns
    -------
    OneBase
        Estimates with intervals; n counts conversations. Where there is no topic, participants are compared with
        conditions alone, and the other way round; where there is neither, there is no comparison.
    """
    frame, words = context_frame(study), "ground truth of a conversation"
    frame = frame.assign(conversation=range(len(frame)), **({} if study.conditions else {"condition": ""}))
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    given = [name for name in CONTEXT if not not_varying(frame, name)]
    frame = frame[frame[given].notna().all(axis=1)]
    # Rows that are left out may take the variation with them.
    given = [name for name in given if not not_varying(frame, name)]
    reason, model = _fitted(frame, words, turns=False)
    method, unit = f"{words}: mixed model with conditions fixed, context within participants", "share of the variance"
    alone = [f"of the context: {short}" for short in CONTEXT.values()]
    if reason:
        none = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
        return OneBase(
            estimate_table(dict.fromkeys((*CONTEXT_BASE, *alone), none), "part"),
            estimate_table(dict.fromkeys(COMPARISON, none), "share"),
        )
    own = replace(bootstrap, draws=min(bootstrap.draws, draws))
    drawn, weights = model.resampled(own, frame["participant"])
    sums, columns = _context_sums(frame, given, model.sums.participants)
    one_condition = model.counts.shape[1] < 2

    def parts(fit: Nested, of: np.ndarray | None) -> np.ndarray:
        """Shares: those of the base, of each context alone, and the comparison."""
        context = _context_variances(sums.sum(axis=0) if of is None else of @ sums, columns)
        condition = np.zeros(fit.variances.shape[:-1]) if one_condition else model.of_conditions(fit, of)
        people, both, rest = (fit.variances[..., place] for place in (0, 1, 3))
        together = condition + context["topic"]
        every = np.stack(
            [
                *(people, condition, both, context["all"], rest - context["all"]),
                *(context[name] for name in CONTEXT),
                *(people, together, people - together),
            ],
            axis=-1,
        )
        return every / (people + condition + both + rest)[..., None]

    estimates, in_draws = parts(model.fit, None), parts(drawn, weights)
    undefined = _undefined_on_base(study, frame, given, one_condition, model)
    rows = {}
    for place, (name, known) in enumerate(undefined):
        why = known or ("" if np.isfinite(estimates[place]) else _TOO_FEW_FOR_PARTS)
        explained = name not in ("participant", "participant by condition")
        shift = estimates[place] if explained and np.isfinite(estimates[place]) else None
        interval = own.interval(in_draws[:, place], frame["participant"], shift_to=shift)
        found = (np.nan, np.nan, np.nan, "") if why else (estimates[place], *interval)
        rows[place] = own.row(found, n=len(frame), unit=unit, method=method, undefined=why)
    names, count = [name for name, _ in undefined], len(CONTEXT_BASE) + len(CONTEXT)
    return OneBase(
        estimate_table({names[place]: rows[place] for place in range(count)}, "part"),
        estimate_table({names[place]: rows[place] for place in range(count, len(names))}, "share"),
    )


def _undefined_on_base(study, frame, given, one_condition: bool, model: _Model) -> list[tuple[str, str]]:
    """Rows of both tables of :class:`OneBase`, each with why it has no estimate, or ""."""
    no_condition = "there is one condition only" if study.conditions else "no conversation has a condition"
    no_condition = no_condition if one_condition else ""
    no_interaction = "" if model.sums.free[1] else _mixed_up("participant by condition", frame)
    no_context = "" if given else "nothing of the context varies in this data set"
    of_context = [(f"of the context: {CONTEXT[name]}", not_varying(frame, name)) for name in CONTEXT]
    nothing = "neither condition nor topic varies in this data set" if one_condition and "topic" not in given else ""
    parts = zip(CONTEXT_BASE, ("", no_condition, no_interaction, no_context, ""), strict=True)
    return [*parts, *of_context, *zip(COMPARISON, ("", nothing, nothing), strict=True)]


def _context_sums(frame: pd.DataFrame, given: list, names: pd.Index) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Cross products within participants, rows and one, summed by participant; columns of each context."""
    conditions = context_design(frame, ["condition"])
    pieces, columns, start = [conditions], {"condition": list(range(conditions.shape[1]))}, conditions.shape[1]
    for name in given:
        piece = context_design(frame, [name])
        pieces.append(piece)
        columns[name] = list(range(start, start + piece.shape[1]))
        start += piece.shape[1]
    z = within(np.column_stack([*pieces, frame["y"]]), frame["participant"])
    codes = names.get_indexer(frame["participant"])
    products = sums_by_participant(z[:, :, None] * z[:, None, :], codes, len(names)).reshape(len(names), -1)
    return np.column_stack([products, np.bincount(codes, minlength=len(names)), np.ones(len(names))]), columns


def _context_variances(sums: np.ndarray, columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it was not given."""
    width = round(np.sqrt(sums.shape[-1] - 2))
    cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
    freedom = np.round(sums[..., -2] - sums[..., -1])

    def mean_square(names) -> np.ndarray:
        kept = [place for name in names for place in columns[name]] + [width - 1]
        _, residual, rank = least_squares(cross[..., kept, :][..., kept])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(freedom - rank > 0, residual / (freedom - rank), np.nan)

    without = mean_square(["condition"])
    found = {
        name: without - mean_square(["condition", name]) if name in columns else np.zeros_like(without)
        for name in CONTEXT
    }
    return found | {"all": without - mean_square(list(columns))}


def icc_1(y: np.ndarray, groups: pd.Series) -> float:
    r"""Intraclass correlation ICC(1) by the one-way analysis of variance.

    .. math:: \frac{B - W}{B + (n_0 - 1) W}, \quad n_0 = \frac{1}{m - 1}\left(n - \frac{\sum_i n_i^2}{n}\right)

    with B and W the mean squares between and within m groups of :math:`n_i` rows.

    Parameters
    ----------
    y : array, shape (rows,)
        The values; no NaN.
    groups : Series
        Group of each row.

    Returns
    -------
    float
        At most 1, below zero where groups are more alike than chance; NaN below two groups, if no
        group has two rows, or if nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: anova(aov(overall ~ factor(participant))), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> round(icc_1(np.array([1.0, 2, 5, 6, 9, 9]), pd.Series(list("aabbcc"))), 4)
    0.9766
    """
    codes, names = pd.factorize(pd.Series(groups).to_numpy())
    sums = _icc_sums(np.asarray(y, dtype=float), codes, np.ones((len(codes), 1)), len(names))
    return float(_icc_of(sums.sum(axis=0), centred=False))


def _icc_sums(y: np.ndarray, codes: np.ndarray, conditions: np.ndarray, count: int) -> np.ndarray:
    """Per participant: number, n, n squared, y squared; then by condition n and totals, and their products by n."""
    totals, counts = np.zeros((count, conditions.shape[1])), np.zeros((count, conditions.shape[1]))
    np.add.at(totals, codes, conditions * y[:, None])
    np.add.at(counts, codes, conditions)
    n = counts.sum(axis=1)
    both = np.concatenate([counts, totals], axis=1)
    products = both[:, :, None] * both[:, None, :] / n[:, None, None]
    head = np.column_stack([np.ones(count), n, n**2, np.bincount(codes, weights=y**2, minlength=count)])
    return np.concatenate([head, both, products.reshape(count, -1)], axis=1)


def _icc_of(sums: np.ndarray, *, centred: bool) -> np.ndarray:
    """ICC(1) from the sums; of values minus their condition's mean if ``centred``."""
    width = round((np.sqrt(4 * sums.shape[-1] - 15) - 1) / 4)  # from 4 + 2 width + (2 width)^2 entries
    groups, n, squares_of_n, squares = np.moveaxis(sums[..., :4], -1, 0)
    counts, totals = sums[..., 4 : 4 + width], sums[..., 4 + width : 4 + 2 * width]
    products = sums[..., 4 + 2 * width :].reshape(*sums.shape[:-1], 2 * width, 2 * width)
    with np.errstate(divide="ignore", invalid="ignore"):
        if centred:
            means = np.where(counts > 0, totals / counts, 0)
        else:
            means = np.broadcast_to((totals.sum(axis=-1) / n)[..., None], totals.shape)
        # Total of a participant minus what the means make of it: weights -mean on counts, 1 on totals.
        weights = np.concatenate([-means, np.ones_like(means)], axis=-1)
        between = np.einsum("...i,...ij,...j->...", weights, products, weights)
        whole = squares - 2 * (means * totals).sum(axis=-1) + (means**2 * counts).sum(axis=-1)
        within = whole - between
        size = (n - squares_of_n / n) / (groups - 1)
        b, w = between / (groups - 1), within / (n - groups)
        defined = (groups > 1) & (n > groups) & (whole > 1e-9 * np.maximum(squares, 1))
        return np.where(defined, (b - w) / (b + (size - 1) * w), np.nan)


def participant_icc(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """ICC(1) of participants over conversations' ground truth, as it is and without conditions' means.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; conditions' means are taken again in each.

    Returns
    -------
    DataFrame
        Rows *as rated* and *without conditions' means* (the degrees of freedom of these means are not
        taken off); n counts conversations.
    """
    frame, words = _rated(study, "ground_truth")
    unit = "intraclass correlation"
    rows = {}
    for name, centred in (("as rated", False), ("without conditions' means", True)):
        method = f"ICC(1) of participants by analysis of variance; {words}, {name}"
        reason = ""
        if frame.empty:
            reason = f"no {words} in this data set"
        elif frame["participant"].value_counts().max() < 2:
            reason = ONE_EACH
        elif centred and frame["condition"].nunique() < 2:
            reason = "there is one condition only" if study.conditions else "no conversation has a condition"
        if reason:
            rows[name] = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
            continue
        codes, names = pd.factorize(frame["participant"].to_numpy())
        conditions = pd.get_dummies(frame["condition"], dtype=float).to_numpy()
        sums = _icc_sums(frame["y"].to_numpy(), codes, conditions, len(names))
        found = bootstrap.estimate(
            lambda values, centred=centred: _icc_of(values, centred=centred), sums, pd.Series(names)
        )
        undefined = "the ratings do not vary" if len(names) > 1 else "there is one participant only"
        rows[name] = bootstrap.row(found, n=len(frame), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "ratings")


def intraclass_correlations(table: np.ndarray, confidence: float = 0.95) -> pd.DataFrame:
    """The six intraclass correlations of a complete table of rows rated on the same columns.

    Parameters
    ----------
    table : array, shape (rows, columns)
        At least two of each, no NaN.
    confidence : float
        Of the intervals, which take rows as independent and ratings as normal.

    Returns
    -------
    DataFrame
        Rows ICC1, ICC2, ICC3 (of one column), ICC1k, ICC2k, ICC3k (of their mean): estimate, low, high.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: psych::ICC(lmer=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> intraclass_correlations(table)["estimate"].round(2).tolist()
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    n, k = table.shape
    grand, by_row, by_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rows = k * ((by_row - grand) ** 2).sum() / (n - 1)
    columns = n * ((by_column - grand) ** 2).sum() / (k - 1)
    inside = ((table - by_row[:, None]) ** 2).sum() / (n * (k - 1))
    rest = ((table - by_row[:, None] - by_column + grand) ** 2).sum() / ((n - 1) * (k - 1))
    tail = (1 + confidence) / 2
    single = lambda f: (f - 1) / (f + k - 1)  # noqa: E731
    one, three = rows / inside, rows / rest
    limits = {
        1: (one / stats.f.ppf(tail, n - 1, n * (k - 1)), one * stats.f.ppf(tail, n * (k - 1), n - 1)),
        3: (three / stats.f.ppf(tail, n - 1, (n - 1) * (k - 1)), three * stats.f.ppf(tail, (n - 1) * (k - 1), n - 1)),
    }
    two = (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)
    ratio = columns / rest
    above = (k - 1) * (n - 1) * (k * two * ratio + n * (1 + (k - 1) * two) - k * two) ** 2
    below = (n - 1) * k**2 * two**2 * ratio**2 + (n * (1 + (k - 1) * two) - k * two) ** 2
    f_low, f_high = stats.f.ppf(tail, n - 1, above / below), stats.f.ppf(tail, above / below, n - 1)
    base = k * columns + (k * n - k - n) * rest
    low = n * (rows - f_low * rest) / (f_low * base + n * rows)
    high = n * (f_high * rows - rest) / (base + n * f_high * rows)
    found = {
        "ICC1": (single(one), *map(single, limits[1])),
        "ICC2": (two, low, high),
        "ICC3": (single(three), *map(single, limits[3])),
    }
    of_mean = lambda r: r * k / (1 + r * (k - 1))  # noqa: E731
    found |= {f"{name}k": tuple(map(of_mean, values)) for name, values in found.items()}
    return pd.DataFrame.from_dict(found, orient="index", columns=["estimate", "low", "high"])


def same_condition_differences(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""How far apart two ratings in the same condition are: by two people, and by one.

    .. math:: \frac{\sum_{p < q} \sum_{i \in p, j \in q} a_{ij} |g_i - g_j|}
              {\sum_{p < q} \sum_{i \in p, j \in q} a_{ij}}

    with g the ground truth of a conversation and a = 1 if two are in the same condition, or in
    the same condition and on the same topic. For one person, the pairs are of the same participant. Every pair of
    conversations counts the same. In a resample a pair of participants counts as often as both
    were taken together; a participant is never compared with a copy of themselves.

    Parameters
    ----------
    study : Study
        The data. Conversations without a condition (and, for the pairs by topic, a topic) are left out; if no
        conversation has a condition, all count as of one.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Rows for two people, one person, and the first minus the second, for both kinds of pairs;
        estimate in levels; n counts pairs of conversations (for the difference,
        conversations).
    """
    frame, words = _rated(study, "ground_truth")
    unit = "levels (from 1 to 5)"
    rows = {}
    for kind in ("same condition", "same condition and topic"):
        some = frame[frame["topic"].notna()] if "topic" in kind else frame
        method = f"mean absolute difference of the {words} over pairs in the {kind}"
        names = [f"{who}, {kind}" for who in ("two people", "one person", "two people minus one person")]
        if some.empty:
            reason = f"no {words} in this data set" if frame.empty else "no rated conversation has a topic"
            rows |= {name: estimate_row(n=0, unit=unit, method=method, reason=reason) for name in names}
            continue
        cell = some.groupby(["condition", "topic"] if "topic" in kind else "condition").ngroup().to_numpy()
        rows |= _pair_rows(some["y"].to_numpy(), cell, some["participant"], names, bootstrap, unit, method)
    return estimate_table(rows, "two conversations")


def _pair_sums(y: np.ndarray, group: np.ndarray, weights: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of absolute differences of the pairs within a group, and numbers of pairs, each pair once each way.

    In order of y the sum is that of what lies below: no pair is formed, so that the cost is linear in rows.

    Parameters
    ----------
    y, group : array, shape (rows,)
        Values, and the groups in which they are paired: 0, 1, ..
    weights : array, shape (draws, participants)
        How often each participant is taken, which makes so many pairs of a row with any other, and none with itself.
    who : array of int, shape (rows,)
        Participant of each row.

    Returns
    -------
    sums, pairs : array, shape (draws, groups)
    """
    order = np.lexsort((y, group))
    y, group, weights = y[order], group[order], weights[:, who[order]]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    moments = weights * y
    below, moments_below = np.cumsum(weights, axis=1), np.cumsum(moments, axis=1)
    total, moment = (np.add.reduceat(values, starts, axis=1) for values in (weights, moments))
    # Of all rows below; those of the groups before are taken off.
    sums = np.add.reduceat(moments * below - weights * moments_below, starts, axis=1)
    sums -= (below[:, starts] - weights[:, starts]) * moment - (moments_below[:, starts] - moments[:, starts]) * total
    return 2 * sums, total**2 - np.add.reduceat(weights * weights, starts, axis=1)


def _pair_rows(y, cell, participants: pd.Series, names, bootstrap, unit, method) -> dict:
    who = bootstrap.codes(participants)
    y = y - y.mean()  # sums of small numbers lose less
    once = np.ones((1, len(bootstrap.names)))
    # Pairs of one person's: theirs alone, by person; and taken off from all pairs, as often as both were taken.
    people, own_cell = np.unique(np.column_stack([who, cell]), axis=0, return_inverse=True)
    own = [
        np.bincount(people[:, 0], weights=part[0], minlength=len(bootstrap.names))
        for part in _pair_sums(y, own_cell.ravel(), once, who)
    ]
    everyone = [part.sum() for part in _pair_sums(y, cell, once, who)]
    counts = [round((everyone[1] - own[1].sum()) / 2), round(own[1].sum() / 2)]

    def apart(weights: np.ndarray) -> np.ndarray:
        everyone = [part.sum(axis=1) for part in _pair_sums(y, cell, weights, who)]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance, pairs = (whole - weights**2 @ part for whole, part in zip(everyone, own, strict=True))
            two = np.where(pairs > 0, distance, np.nan) / pairs
            one = (weights @ own[0]) / (weights @ own[1])
            return np.column_stack([two, one, two - one])

    estimates = apart(once)[0]
    draws = bootstrap.in_every_draw(apart, len(y), _PAIRED)
    rows = {}
    for place, name in enumerate(names):
        counted = [counts[place]] if place < 2 else counts
        n = counts[place] if place < 2 else len(participants)
        if min(counted) < FEWEST_PAIRS:
            reason = (
                f"only {count_of(min(counted), 'such pair', 'such pairs')} of conversations"
                if place < 2
                else "too few pairs of conversations"
            )
            rows[name] = estimate_row(n=n, unit=unit, method=method, reason=reason)
            continue
        found = estimates[place], *bootstrap.interval(draws[:, place], participants)
        rows[name] = bootstrap.row(found, n=n, unit=unit, method=method)
    return rows


check_arguments(globals())
