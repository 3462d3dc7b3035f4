"""Ratings of the turns and ratings after the conversation: mean, trough, peak and end, and the experience."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares, within_correlation
from sense7.estimators.ranks import spearman_row
from sense7.findings.measures import OUTCOMES, turn_rating
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "FOLDS",
    "available_turn_rating",
    "cross_validated_r2",
    "empathy_and_experience",
]

PREDICTORS = ("mean", "trough", "peak", "end")
"""Summaries of the ratings of a conversation's turns: their mean, lowest, highest and last."""

MODELS = {
    "mean alone": ("mean",),
    "peak and end": ("peak", "end"),
    "all four": PREDICTORS,
}
"""Models that are cross-validated: words -> summaries."""

_PREDICTED = {
    "mean alone": "predicted_mean",
    "peak and end": "predicted_peak_end",
    "all four minus mean alone": "predicted_beyond_mean",
}
"""Rows of :func:`cross_validated_r2` -> keys."""

FOLDS = 10

EXPERIENCE = {
    "all four together": "empathy_satisfaction",
    "successful": "empathy_Successful",
    "engaged": "empathy_Engaged",
    "positive interaction": "empathy_PositiveInteraction",
    "use again": "empathy_UseAgain",
}
"""Ratings of the experience -> keys."""

_WITHIN = {"all four together, within participants": "empathy_satisfaction_within"}
"""The same minus each participant's means, which data in parts do not give."""

RATINGS = {"overall": "the overall rating", "dimensions": "the mean of the rated dimensions"}
"""Rating of a turn -> words."""

SHARE = "share of the variance"


def available_turn_rating(study: Study) -> str:
    """Return ``overall`` if any turn has an overall rating, otherwise ``dimensions``."""
    return "overall" if study.turns["overall"].notna().any() else "dimensions"


def turn_summaries(study: Study, outcome: str = "empathy", rating: str = "overall") -> pd.DataFrame:
    """Return mean, trough, peak and end of the rated turns of each conversation, beside its post-task outcome.

    Parameters
    ----------
    outcome : {"empathy", "experience"}
        Mean of the post-task ratings given: the seven of empathy, or the four of the experience.
    rating : {"overall", "dimensions"}
        See :func:`~sense7.findings.measures.turn_rating`. Turns without it are left out: the end is the last *rated*
        turn.

    Returns
    -------
    DataFrame
        One row per conversation that has both: participant, mean, trough, peak, end, ``rated`` (turns), outcome.
    """
    turns = study.turns.assign(rating=turn_rating(study.turns, rating))
    rated = turns[turns["rating"].notna()].sort_values("turn", kind="stable").groupby("conversation")["rating"]
    conversations = study.conversations.set_index("conversation")
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "mean": rated.mean(),
            "trough": rated.min(),
            "peak": rated.max(),
            "end": rated.last(),
            "rated": rated.count(),
            "outcome": conversations[OUTCOMES[outcome]].mean(axis=1),
        }
    ).reindex(conversations.index)
    return frame[(frame["rated"] > 0) & frame["outcome"].notna()].astype({"rated": int})


def _missing(study: Study, frame: pd.DataFrame, outcome: str, rating: str) -> str:
    """Why nothing can be fitted; "" if it can."""
    if not turn_rating(study.turns, rating).notna().any():
        return f"{RATINGS[rating]} of a turn was never given in this data set"
    if not study.conversations[OUTCOMES[outcome]].notna().any(axis=None):
        return f"post-task {outcome} was never rated in this data set"
    if frame["participant"].nunique() < FEWEST_PARTICIPANTS or len(frame) < 2 * len(PREDICTORS):
        people = count_of(frame["participant"].nunique(), "participant")
        return f"only {count_of(len(frame), 'conversation')} of {people} with both"
    if np.ptp(frame["outcome"]) == 0:
        return f"post-task {outcome} does not vary"
    return ""


def _alike(frame: pd.DataFrame) -> str:
    """Why the four summaries can't be distinguished; "" if they can."""
    if constant := [name for name in PREDICTORS if np.ptp(frame[name]) == 0]:
        return f"the {' and the '.join(constant)} of the turns' ratings is the same in every conversation"
    correlations = np.corrcoef(frame[list(PREDICTORS)].to_numpy(), rowvar=False)
    if np.linalg.eigvalsh(correlations)[0] < 1e-8:
        return "mean, trough, peak and end of the turns can't be distinguished in this data set"
    return ""


def cross_validated_r2(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy", rating: str = "overall"
) -> pd.DataFrame:
    r"""Return the share of the variance of conversations of *new* participants that each model predicts.

    .. math:: 1 - \frac{\sum_c (y_c - \hat y_c)^2}{\sum_c (y_c - \bar y_{-c})^2}

    with :math:`\hat y_c` from least squares, and :math:`\bar y_{-c}` the mean, over the participants outside c's
    fold. Folds are of participants, drawn by the seed of the bootstrap. In each resampling all copies of a
    participant stay in that participant's fold; the folds are those of the estimate.

    Parameters
    ----------
    outcome, rating : str
        See :func:`turn_summaries`.

    Returns
    -------
    DataFrame
        Rows ``mean alone``, ``peak and end`` and ``all four minus mean alone``: estimate (at most 1; below 0 where the
        mean of the others predicts better), low, high, n (conversations), unit, method, reason.

    References
    ----------
    Stone, M. (1974). Journal of the Royal Statistical Society B 36, 111-147.
    """
    frame = turn_summaries(study, outcome, rating)
    people = pd.Index(frame["participant"].unique())
    folds = min(FOLDS, len(people))
    method = f"least squares, {count_of(folds, 'fold')} of participants"
    if reason := _missing(study, frame, outcome, rating):
        none = estimate_row(n=len(frame), unit=SHARE, method="least squares, folds of participants", reason=reason)
        return estimate_table(dict.fromkeys(_PREDICTED, none), "model", _PREDICTED)
    fold = np.random.default_rng(bootstrap.seed).permutation(np.arange(len(people)) % folds)
    row_fold = fold[people.get_indexer(frame["participant"])]
    z = np.column_stack([np.ones(len(frame)), frame[[*PREDICTORS, "outcome"]]])
    values = np.zeros((len(z), folds, z.shape[1], z.shape[1]))
    values[np.arange(len(z)), row_fold] = z[:, :, None] * z[:, None, :]
    draws = bootstrap.distribution(_predicted_shares, values, frame["participant"])
    estimates = _predicted_shares(values.sum(axis=0))
    undefined = _alike(frame) or "some fold leaves nothing to learn from"
    rows = {}
    for i, name in enumerate(_PREDICTED):
        share = Estimate(estimates[i], *bootstrap.interval(draws[..., i], frame["participant"]))
        rows[name] = bootstrap.row(share, n=len(frame), unit=SHARE, method=method, undefined=undefined)
    return estimate_table(rows, "model", _PREDICTED)


def _predicted_shares(sums: np.ndarray) -> np.ndarray:
    """Cross products by fold (..., folds, 6, 6) -> shares: mean, peak and end, all minus mean."""
    train = sums.sum(axis=-3, keepdims=True) - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        level = train[..., 0, -1] / train[..., 0, 0]
    y, n, total = sums[..., -1, -1], sums[..., 0, 0], sums[..., 0, -1]
    null = (y - 2 * level * total + level**2 * n).sum(axis=-1)
    shares = []
    for chosen in MODELS.values():
        used = [0, *(1 + PREDICTORS.index(name) for name in chosen), -1]
        columns = np.ix_(used, used)
        b = least_squares(train[(..., *columns)])[0]
        held_out = sums[(..., *columns)]
        a, c = held_out[..., :-1, :-1], held_out[..., :-1, -1]
        error = (y - 2 * (b * c).sum(axis=-1) + np.einsum("...i,...ij,...j->...", b, a, b)).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares.append(np.where(null > 1e-9, 1 - error / null, np.nan))
    mean, peak_and_end, every = shares
    return np.stack([mean, peak_and_end, every - mean], axis=-1)


def empathy_and_experience(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return Spearman's correlation over conversations of mean post-task empathy with the post-task experience.

    Returns
    -------
    DataFrame
        Rows ``all four together`` (mean of those given), successful, engaged, positive interaction, use again:
        estimate (-1..1), low, high, n (conversations with both), unit, method, reason. The last row is Pearson's
        correlation of a participant's conversations minus that participant's mean
        (:func:`~sense7.estimators.least_squares.within_correlation`): a habit of rating high has no part in it.
    """
    conversations = study.conversations
    empathy = conversations[OUTCOMES["empathy"]].mean(axis=1)
    columns = {"all four together": OUTCOMES["experience"]}
    columns |= {name.replace("_", " "): [name] for name in OUTCOMES["experience"]}
    columns["all four together, within participants"] = OUTCOMES["experience"]
    rows = {}
    for words, names in columns.items():
        outcome = "the experience" if len(names) > 1 else words
        method = (
            f"Spearman correlation of mean post-task empathy with {'the mean of ' if len(names) > 1 else ''}{outcome}"
        )
        experience = conversations[names].mean(axis=1)
        known = (empathy.notna() & experience.notna()).to_numpy()
        reason = ""
        if not empathy.notna().any():
            reason = "post-task empathy was never rated in this data set"
        elif not experience.notna().any():
            reason = f"{outcome} was never rated in this data set"
        elif not known.any():
            reason = "no conversation has both"
        common = {"n": known.sum(), "unit": "correlation"}
        if reason:
            rows[words] = estimate_row(**common, method=method, reason=reason)
            continue
        if words.endswith("within participants"):
            who, values = conversations.loc[known, "participant"], np.column_stack([empathy[known], experience[known]])
            rows[words] = within_correlation(values, who, who, bootstrap, "Pearson correlation within participants")
            continue
        rows[words] = spearman_row(
            empathy[known].to_numpy(),
            experience[known].to_numpy(),
            conversations.loc[known, "participant"],
            bootstrap,
            method,
        )
    return estimate_table(rows, "experience", EXPERIENCE | _WITHIN)


check_arguments(globals())
