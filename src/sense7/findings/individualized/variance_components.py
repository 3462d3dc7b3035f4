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

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, pieces, sums_by_participant
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares, within
from sense7.estimators.mixed import Nested, NestedSums, fit_nested, nested_sums
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["VarianceParts", "variance_parts"]

PARTS = ("participant", "participant by condition", "conversation", "turn")
_VARIANCES = {
    "participant": "variance_participant",
    "participant by condition": "variance_participant_condition",
    "conversation": "variance_conversation",
}
"""Rows of :attr:`VarianceParts.variances` -> keys."""

_SHARES = {"participant": "icc_participant"}
"""Rows of :attr:`VarianceParts.shares` -> keys."""

_ON_ONE_BASE = {
    "participant": "conversation_mean_share_participant",
    "condition": "conversation_mean_share_condition",
    "participant by condition": "conversation_mean_share_participant_by_condition",
    "conversation": "conversation_mean_share_conversation",
    "turn": "conversation_mean_share_turn",
    "noise within a turn": "conversation_mean_share_noise",
}
"""Rows of :attr:`VarianceParts.on_one_base` -> keys."""

OF_ALL = "share of the variance, conditions included"

MODEL_DRAWS = 1000
"""A mixed model is fitted again in each resample, so fewer are drawn than where sums suffice."""

TURN_RATINGS = {
    "turn_mean": "mean over the rated dimensions of a turn",
    "overall": "overall rating of a turn",
}
ONE_EACH = "no participant has two rated conversations, so persons can't be told from conversations"


@dataclass(frozen=True, eq=False)
class VarianceParts:
    r"""Parts of a rating's variance, tables of estimates with one row per part.

    Attributes
    ----------
    variances, shares : DataFrame
        In squared levels, and as shares of their sum; conditions are fixed and not among them.
    on_one_base : DataFrame
        Shares of the variance of conversations' ground truth, the conditions' included: participant, condition (see
        :func:`variance_of_effects`), participant by condition, conversation, turn, and noise within a turn; empty for
        ratings of turns.
    """

    variances: pd.DataFrame
    shares: pd.DataFrame
    on_one_base: pd.DataFrame


def rated_conversations(study: Study, rating: str) -> tuple[pd.DataFrame, str]:
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
    r"""Return variance components of a rating by a mixed model (REML) with conditions fixed, and their shares.

    On the one base the residual variance of the model is split further:

    - *noise within a turn* is what the dimensions of a turn do not have in common,
      :math:`s^2_e \overline{1/k}`, with :math:`s^2_e` the mean square of ratings around the turn and the dimension,
      and k the number of dimensions rated in a turn.
    - *turn* is :math:`s^2_t \overline{1/T}` less the noise, with :math:`s^2_t` the mean
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
    frame, words = rated_conversations(study, rating)
    turns = rating in TURN_RATINGS
    parts = PARTS if turns else PARTS[:3]
    method = f"{words}: mixed model with conditions fixed; REML"
    reason, model = fit_variance_model(frame, words, turns)
    if reason:
        units = ("squared levels", parts), ("share of the variance", parts), (OF_ALL, () if turns else _ON_ONE_BASE)
        return _tables(
            turns,
            *(
                {name: estimate_row(n=len(frame), unit=unit, method=method, reason=reason) for name in names}
                for unit, names in units
            ),
        )
    # At the level of conversations the model's residual is the conversation.
    components = [0, 1, 2, 3] if turns else [0, 1, 3]
    known = [component == 3 or bool(model.sums.free[component]) for component in components]
    own = replace(bootstrap, draws=min(bootstrap.draws, draws))
    resamples = model.resampled(own, frame["participant"])
    estimates, resampled = model.fit.variances[components], resamples[0].variances[:, components]

    def rows(statistic, names, unit, identified) -> dict:
        values, draws = statistic(estimates), statistic(resampled)
        return {
            name: own.row(
                Estimate(values[i] if identified[i] else np.nan, *own.interval(draws[:, i], frame["participant"])),
                n=len(frame),
                unit=unit,
                method=method,
                undefined=confounded(name, frame),
            )
            for i, name in enumerate(names)
        }

    share = lambda values: values / values.sum(axis=-1, keepdims=True)  # noqa: E731
    return _tables(
        turns,
        rows(lambda values: values, parts, "squared levels", known),
        rows(share, parts, "share of the variance", known),
        {} if turns else _on_one_base(study, frame, model, resamples, own, method),
    )


def _tables(turns: bool, variances: dict, shares: dict, on_one_base: dict) -> VarianceParts:
    """Tables of these rows, with keys unless they are of turns."""
    return VarianceParts(
        estimate_table(variances, "part", None if turns else _VARIANCES),
        estimate_table(shares, "part", None if turns else _SHARES),
        estimate_table(on_one_base, "part", _ON_ONE_BASE),
    )


@dataclass(frozen=True, eq=False)
class VarianceModel:
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


def fit_variance_model(frame: pd.DataFrame, words: str, turns: bool) -> tuple[str, VarianceModel | None]:
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
    return "", VarianceModel(sums, fit, counts)


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


def _on_one_base(study, frame, model, resamples, own, method) -> dict[str, dict]:
    """Shares of the variance of the ground truth, the conditions' included and the residual variance split."""
    turns = _turns_of(study, frame, model.sums.participants)
    undefined = dict.fromkeys(_ON_ONE_BASE, "")
    one_condition = model.counts.shape[1] < 2
    if one_condition:
        undefined["condition"] = (
            "there is one condition only" if study.conditions else "no conversation has a condition"
        )
    if not model.sums.free[1]:
        undefined["participant by condition"] = confounded("participant by condition", frame)
    turn, noise, *_ = _within_conversations(turns.sum(axis=0))
    if not np.isfinite(turn):
        undefined["turn"] = "no conversation has two rated turns: it is part of the conversation"
    if not np.isfinite(noise):
        undefined["noise within a turn"] = "too few turns with two rated dimensions: it is part of the turn"
    kept = np.array([not reason for reason in undefined.values()])

    def shares(fit: Nested, weights: np.ndarray | None) -> np.ndarray:
        values = np.zeros((*fit.variances.shape[:-1], len(_ON_ONE_BASE)))
        values[..., [0, 2]] = fit.variances[..., :2]
        values[..., 1] = 0 if one_condition else model.of_conditions(fit, weights)
        _, _, values[..., 4], values[..., 5] = _within_conversations(
            turns.sum(axis=0) if weights is None else weights @ turns
        )
        values[..., 3] = fit.variances[..., 3] - values[..., 4] - values[..., 5]
        values = np.where(kept, values, 0)
        return values / values.sum(axis=-1, keepdims=True)

    estimates, draws = shares(model.fit, None), shares(*resamples)
    common = {"n": len(frame), "unit": OF_ALL, "method": method}
    rows = {}
    for i, (name, reason) in enumerate(undefined.items()):
        if reason:
            rows[name] = estimate_row(**common, reason=reason)
            continue
        shift = estimates[i] if name == "condition" else None
        interval = own.interval(draws[:, i], frame["participant"], shift_to=shift)
        rows[name] = own.row(Estimate(estimates[i], *interval), **common)
    return rows


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


def confounded(name: str, frame: pd.DataFrame) -> str:
    """Why a part can't be distinguished from another."""
    if name == "participant by condition":
        if frame.groupby("participant")["condition"].nunique().max() < 2:
            return "no participant met two conditions: it is part of the participant's"
        return "no participant has two conversations in a condition: it is part of the conversation's"
    if (frame.groupby("conversation").size() < 2).all():
        return "no conversation has two rated turns: it is part of the turn's"
    if frame.groupby("participant")["condition"].nunique().max() < 2:
        return "it can't be told from the participant's"
    return "no participant has two conversations in a condition: it is part of participant by condition"


check_arguments(globals())
