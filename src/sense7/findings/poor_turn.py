"""How turns make the whole: what a poor turn goes with, how turns predict it, and what empathy goes with.

"The effect of a poor turn" has no one definition, and the definitions give different numbers on the same data; so all
of them are computed side by side, and a published value is compared with all of them.
"""

from functools import partial

import numpy as np
import pandas as pd

from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.estimators.effect_size import group_moments, pooled_difference, standardized
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import coefficient, least_squares, within, within_correlation
from sense7.estimators.mixed import fit_random_intercept, random_intercept_sums
from sense7.estimators.order import rounded
from sense7.estimators.ranks import spearman_row
from sense7.findings.core import Number, finding, need, require_own, resampled, tabulate
from sense7.findings.measures import OUTCOMES, is_poor, turn_rating
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "available_turn_rating",
    "cross_validated_r2",
    "empathy_and_experience",
    "poor_turn_effects",
    "poor_turn_grid",
    "poor_turn_ladder",
    "poor_turn_measures",
    "published_in_grid",
]

FEWEST = 2
UNIT = "Cohen's d"
POINTS = "points (levels from 1 to 5)"
MEASURES = {"d": UNIT, "points": POINTS}
"""What :func:`poor_turn_measures` returns -> unit."""

DEFINITIONS = {
    "at least one poor turn, between conversations": (
        "any",
        "between",
        "poor_turn_d",
        "poor_turn_points",
    ),
    "exactly one poor turn, between conversations": (
        "one",
        "between",
        "poor_turn_d_exactly_one",
        "",
    ),
    "at least one poor turn, within participants": (
        "any",
        "within",
        "poor_turn_d_within",
        "poor_turn_points_within",
    ),
    "exactly one poor turn, within participants": (
        "one",
        "within",
        "poor_turn_d_within_exactly_one",
        "",
    ),
    "at least one poor turn, mixed model": ("any", "mixed", "poor_turn_d_mixed", ""),
    "exactly one poor turn, mixed model": ("one", "mixed", "poor_turn_d_mixed_exactly_one", ""),
}
"""Definitions of the effect: which conversations count as poor, comparison, keys of d and of points on empathy."""

PREDICTORS = ("mean", "trough", "peak", "end")
"""Summaries of the ratings of a conversation's turns: their mean, lowest, highest and last."""

PREDICTED = {
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
"""Ratings of the experience -> keys of their rank correlations."""


def poor_turn_conversations(study: Study, outcome: str = "empathy") -> pd.DataFrame:
    """Return participant, number of poor and of rated turns, and outcome of each conversation that has the last two.

    R: the counts of conversations with and without a poor turn, tests/reference/reference.R.
    """
    turns = study.turns
    conversations = study.conversations.set_index("conversation")
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "poor": is_poor(turns["overall"]).groupby(turns["conversation"]).sum(),
            "rated": turns["overall"].groupby(turns["conversation"]).count(),
            "outcome": conversations[OUTCOMES[outcome]].mean(axis=1),
        }
    ).reindex(conversations.index)
    return frame[(frame["rated"] > 0) & frame["outcome"].notna()]


def _compared(conversations: pd.DataFrame, counted: str) -> pd.DataFrame:
    """Conversations of a definition (any poor turn, or exactly one), ``poor`` being whether they have such turns."""
    poor = conversations["poor"]
    return conversations.assign(poor=poor > 0)[
        (poor == 0) | (poor == 1 if counted == "one" else poor > 0)
    ]


def _why_not_compared(study: Study, chosen: pd.DataFrame, outcome: str) -> str:
    """Why there is nothing to compare; "" if there is."""
    if not study.turns["overall"].notna().any():
        return "the overall rating was never given in this data set, so no turn can be called poor"
    if not study.conversations[OUTCOMES[outcome]].notna().any(axis=None):
        return f"post-task {outcome} was never rated in this data set"
    counts = chosen["poor"].value_counts().reindex([False, True], fill_value=0)
    if counts.min() < FEWEST:
        with_poor_turn = count_of(counts[True], "conversation")
        return f"{with_poor_turn} with such a turn and {counts[False]} without a poor one: too few"
    return ""


def poor_turn_effects(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> pd.DataFrame:
    """Return Cohen's d of a poor turn by every definition: the table ``d`` of :func:`poor_turn_measures`."""
    return poor_turn_measures(study, bootstrap, outcome)["d"]


@finding
def poor_turn_measures(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> dict[str, pd.DataFrame]:
    r"""Return the effect of a poor turn by every definition: as Cohen's d and in points.

    - *Between conversations*: :func:`~sense7.estimators.effect_size.cohens_d` of conversations without and with poor
      turns.
    - *Within participants*: participants who have both kinds; mean difference of their two
      means, divided by :math:`\sqrt{(s_0^2 + s_1^2)/2}`, the standard deviations of these means.
    - *Mixed model*: the outcome on having a poor turn with a random intercept of the participant
      (REML); minus the coefficient, divided by :math:`\sqrt{\sigma_p^2 + \sigma^2}`.

    Parameters
    ----------
    outcome : {"empathy", "experience"}
        Mean of the post-task ratings given: the seven of empathy, or the four of the experience.

    Returns
    -------
    dict of DataFrame
        ``d`` (Cohen's d) and ``points`` (the difference, levels 1 to 5). Each with one row per definition, positive
        where conversations with a poor turn are rated lower; n counts conversations, or participants within them.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), lme4::lmer(overall ~ poor + (1 | participant)),
    tests/reference/reference.R; equal to 1e-7, the mixed model to 2e-4.
    """
    require_own(study, bootstrap)
    conversations = poor_turn_conversations(study, outcome)
    tables: dict[str, dict] = {measure: {} for measure in MEASURES}
    for name, (counted, comparison, *_) in DEFINITIONS.items():
        chosen = _compared(conversations, counted)
        n, method, people = len(chosen), f"{name}; n counts conversations", chosen["participant"]
        reason = _why_not_compared(study, chosen, outcome)
        if comparison == "within" and not reason:
            means = chosen.pivot_table(
                index="participant", columns="poor", values="outcome", aggfunc="mean"
            )
            means = means.reindex(people.unique()).dropna()
            n, method, people = len(means), f"{name}; n counts participants", means.index
            reason = (
                ""
                if n >= FEWEST
                else f"only {count_of(n, 'participant')} with conversations of both kinds"
            )
        if reason:
            for measure, unit in MEASURES.items():
                tables[measure][name] = estimate_row(n=n, unit=unit, method=name, reason=reason)
            continue
        if comparison == "between":
            statistic, values = pooled_difference, group_moments(chosen["outcome"], chosen["poor"])
        elif comparison == "within":
            y = means.to_numpy()  # columns in order: without, then with a poor turn
            statistic, values = _paired_difference, np.stack([np.ones_like(y), y, y**2], axis=-1)
        else:
            design = np.column_stack([np.ones(n), chosen["poor"]]).astype(float)
            statistic = _difference_of_model
            values, people = random_intercept_sums(chosen["outcome"].to_numpy(), design, people)
        common = {"n": n, "method": method, "undefined": "the outcome does not vary"}
        for (measure, unit), found in zip(
            MEASURES.items(), bootstrap.estimates(statistic, values, people), strict=False
        ):
            tables[measure][name] = bootstrap.row(found, unit=unit, **common)
    keys = {}
    if outcome == "empathy":
        keys["d"] = {name: definition[2] for name, definition in DEFINITIONS.items()}
        keys["points"] = {name: definition[3] for name, definition in DEFINITIONS.items()}
    return {
        measure: estimate_table(rows, "definition", keys.get(measure))
        for measure, rows in tables.items()
    }


def _paired_difference(sums: np.ndarray) -> np.ndarray:
    n, total, squares = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        variance = ((squares - n * means**2) / (n - 1)).mean(axis=-1)
        return standardized(means[..., 0] - means[..., 1], variance, rounded(variance) > 0)


def _difference_of_model(sums: np.ndarray) -> np.ndarray:
    fit = fit_random_intercept(sums)
    total = fit.participant_variance + fit.residual_variance
    with np.errstate(invalid="ignore"):
        return standardized(-fit.coefficients[..., 1], total, rounded(total) > 0)


def poor_turn_grid(
    study: Study, measures: dict[str, pd.DataFrame], published: float
) -> pd.DataFrame:
    """Return every definition as text: d, interval, points, conversations of both kinds, whether the published d is in.

    Within participants, conversations are those of participants who have both kinds. There is a note where something
    is missing.
    """
    conversations = poor_turn_conversations(study)
    rows = {}
    for name, (counted, comparison, *_) in DEFINITIONS.items():
        chosen = _compared(conversations, counted)
        if comparison == "within":
            chosen = chosen[chosen.groupby("participant")["poor"].transform("nunique") == 2]
        d, points = (measures[measure].loc[name] for measure in MEASURES)
        known = np.isfinite(d["low"])
        rows[name] = {
            "Cohen's d": f"{d['estimate']:z.3f}" if np.isfinite(d["estimate"]) else "not available",
            "interval": f"{d['low']:z.3f} to {d['high']:z.3f}" if known else "none",
            "points": f"{points['estimate']:z.2f}"
            if np.isfinite(points["estimate"])
            else "not available",
            "with": int(chosen["poor"].sum()),
            "without": int((~chosen["poor"]).sum()),
            "holds it": ("yes" if _holds(d, published) else "no") if known else "",
            "note": d["reason"],
        }
    grid = pd.DataFrame.from_dict(rows, orient="index").rename_axis("definition")
    return grid if grid["note"].any() else grid.drop(columns="note")


def _holds(effects, published: float):
    return (rounded(effects["low"]) <= published) & (published <= rounded(effects["high"]))


@finding
def published_in_grid(effects: pd.DataFrame, published: float) -> dict:
    """Return how many definitions have an interval that holds a published value, and whether at least one has.

    No more than one of the definitions can be the one behind the published value, and which one is not stated. So
    the value is in line with these data if it lies in the interval of at least one definition, and not if it lies
    outside all of them.

    Returns
    -------
    dict
        ``counts``: a table of estimates (definitions that hold it, smallest d, largest d; n: definitions with an
        interval, or with a value; no intervals); ``held``: a value for a record, "yes" or "no".

    Examples
    --------
    >>> row = estimate_row(0.9, 0.7, 1.2, n=9, unit="Cohen's d", method="m")
    >>> verdict = published_in_grid(estimate_table({"a": row, "b": row | {"high": 1.0}}, "definition"), 1.1)
    >>> verdict["held"]["estimate"], verdict["counts"]["estimate"].tolist()
    ('yes', [1.0, 0.9, 0.9])
    """
    known = effects[np.isfinite(effects["low"])]
    values = effects["estimate"].dropna()
    held = int(_holds(known, published).sum())
    no_interval = "" if len(known) else "no definition has an interval"
    of = f"of {count_of(len(known), 'definition')} with an interval"
    extreme = {
        "n": len(values),
        "unit": UNIT,
        "reason": "" if len(values) else str(effects["reason"].iloc[0]),
    }
    rows = {
        "definitions with an interval that holds the published value": estimate_row(
            float(held) if len(known) else np.nan,
            n=len(known),
            unit="specifications",
            method=f"count {of}",
            reason=no_interval,
            key="poor_turn_definitions_holding_published",
        ),
        "smallest d of the definitions": estimate_row(
            values.min(),
            **extreme,
            method="smallest of the definitions",
            key="poor_turn_d_smallest",
        ),
        "largest d of the definitions": estimate_row(
            values.max(), **extreme, method="largest of the definitions", key="poor_turn_d_largest"
        ),
    }
    answer = {
        "key": "published_poor_turn_d_held_by_some_definition",
        "estimate": ("yes" if held else "no") if len(known) else None,
        "n": len(known),
        "unit": "yes or no",
        "method": f"whether the interval of at least one {of} holds it",
        "reason": no_interval,
    }
    return {"counts": estimate_table(rows, "what"), "held": answer}


@finding
def poor_turn_ladder(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> pd.DataFrame:
    """Return how much lower conversations with a poor turn are rated afterwards, with more and more held equal.

    Minus the coefficient of having at least one poor turn in a least-squares regression of the outcome on it and on

    - nothing else (a difference of means);
    - the number of rated turns: a longer conversation has more chances of a poor turn;
    - that, and the mean overall rating of the turns that are not poor: how good the conversation was otherwise;
    - both, with an intercept of each participant: a person's conversations are compared with each other.

    Returns
    -------
    DataFrame
        One row per step: points (positive: lower with a poor turn), n (conversations). All steps rest on the same
        conversations: those with a rated turn that is not poor, and a post-task rating.
    """
    require_own(study, bootstrap)
    frame = poor_turn_conversations(study, outcome)
    turns = study.turns
    good = turns["overall"].astype(float).where(~is_poor(turns["overall"]))
    others = good.groupby(turns["conversation"]).mean().reindex(frame.index)
    frame = frame.assign(poor=frame["poor"] > 0, others=others)[others.notna()]
    columns = frame[["poor", "rated", "others", "outcome"]].to_numpy(dtype=float)
    poor, rated, other, y = columns.T
    one, words = np.ones(len(frame)), "the number of turns and the mean of the other turns"
    steps = {
        "as they are": ("as_they_are", "", [poor, one, y]),
        "at the same number of turns": (
            "same_length",
            ", the number of turns",
            [poor, rated, one, y],
        ),
        "and the same mean of the other turns": (
            "same_other_turns",
            f", {words}",
            [poor, rated, other, one, y],
        ),
        "and within the same participant": (
            "same_participant",
            f", {words}, with an intercept of each participant",
            list(within(columns, frame["participant"]).T),
        ),
    }

    def lower(z: list[np.ndarray]) -> np.ndarray:
        need(not (why := _why_not_compared(study, frame, outcome)), why)
        z = np.column_stack(z)
        return -resampled(
            bootstrap, coefficient(0), z[:, :, None] * z[:, None, :], frame["participant"]
        )

    numbers = [
        Number(
            label,
            partial(lower, z),
            POINTS,
            f"least squares on having a poor turn{held}",
            frame,
            f"poor_turn_ladder_{key}",
            "conversations with a poor turn differ from the others in what is to be held equal",
        )
        for label, (key, held, z) in steps.items()
    ]
    return tabulate("what is held equal", numbers, bootstrap)


def available_turn_rating(study: Study) -> str:
    """Return ``overall`` if any turn has an overall rating, otherwise ``dimensions``."""
    return "overall" if study.turns["overall"].notna().any() else "dimensions"


def turn_summaries(study: Study, outcome: str = "empathy", rating: str = "overall") -> pd.DataFrame:
    """Return mean, trough, peak and end of the rated turns of each conversation, beside its post-task outcome.

    ``rating`` is the overall rating, or the mean of the dimensions; the end is the last *rated* turn.
    """
    turns = study.turns.assign(rating=turn_rating(study.turns, rating))
    rated = (
        turns[turns["rating"].notna()]
        .sort_values("turn", kind="stable")
        .groupby("conversation")["rating"]
    )
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


@finding
def cross_validated_r2(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy", rating: str = "overall"
) -> pd.DataFrame:
    r"""Return the share of the variance of conversations of *new* participants that each model predicts.

    .. math:: 1 - \frac{\sum_c (y_c - \hat y_c)^2}{\sum_c (y_c - \bar y_{-c})^2}

    with :math:`\hat y_c` from least squares, and :math:`\bar y_{-c}` the mean, over the participants outside c's
    fold. Folds are of participants, drawn by the seed of the bootstrap. In each resampling all copies of a
    participant stay in that participant's fold; the folds are those of the estimate.

    Returns
    -------
    DataFrame
        Rows ``mean alone``, ``peak and end`` and ``all four minus mean alone``: estimate (at most 1; below 0 where the
        mean of the others predicts better), n (conversations).

    References
    ----------
    Stone, M. (1974). Journal of the Royal Statistical Society B 36, 111-147.
    """
    require_own(study, bootstrap)
    frame = turn_summaries(study, outcome, rating)
    people = pd.Index(frame["participant"].unique())
    folds, reason, unit = min(FOLDS, len(people)), "", "share of the variance"
    if not turn_rating(study.turns, rating).notna().any():
        words = {"overall": "the overall rating", "dimensions": "the mean of the rated dimensions"}[
            rating
        ]
        reason = f"{words} of a turn was never given in this data set"
    elif not study.conversations[OUTCOMES[outcome]].notna().any(axis=None):
        reason = f"post-task {outcome} was never rated in this data set"
    elif len(people) < FEWEST_PARTICIPANTS or len(frame) < 2 * len(PREDICTORS):
        reason = f"only {count_of(len(frame), 'conversation')} of {count_of(len(people), 'participant')} with both"
    elif np.ptp(rounded(frame["outcome"])) == 0:
        reason = f"post-task {outcome} does not vary"
    if reason:
        none = estimate_row(
            n=len(frame), unit=unit, method="least squares, folds of participants", reason=reason
        )
        return estimate_table(dict.fromkeys(PREDICTED, none), "model", PREDICTED)
    fold = np.random.default_rng(bootstrap.seed).permutation(np.arange(len(people)) % folds)
    row_fold = fold[people.get_indexer(frame["participant"])]
    z = np.column_stack([np.ones(len(frame)), frame[[*PREDICTORS, "outcome"]]])
    values = np.zeros((len(z), folds, z.shape[1], z.shape[1]))
    values[np.arange(len(z)), row_fold] = z[:, :, None] * z[:, None, :]
    undefined = "some fold leaves nothing to learn from"
    if constant := [name for name in PREDICTORS if np.ptp(rounded(frame[name])) == 0]:
        undefined = f"the {' and the '.join(constant)} of the turns' ratings is the same in every conversation"
    elif (
        np.linalg.eigvalsh(np.corrcoef(frame[list(PREDICTORS)].to_numpy(), rowvar=False))[0] < 1e-8
    ):
        undefined = (
            "mean, trough, peak and end of the turns can't be distinguished in this data set"
        )
    draws = bootstrap.distribution(_predicted_shares, values, frame["participant"])
    common = {"n": len(frame), "unit": unit, "undefined": undefined}
    rows = {}
    for name, share, drawn in zip(
        PREDICTED, _predicted_shares(values.sum(axis=0)), draws.T, strict=True
    ):
        found = Estimate(share, *bootstrap.interval(drawn, frame["participant"]))
        rows[name] = bootstrap.row(
            found, **common, method=f"least squares, {count_of(folds, 'fold')} of participants"
        )
    return estimate_table(rows, "model", PREDICTED)


def _predicted_shares(sums: np.ndarray) -> np.ndarray:
    """Cross products by fold (..., folds, 6, 6) -> shares: mean, peak and end, all minus mean."""
    train = sums.sum(axis=-3, keepdims=True) - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        level = train[..., 0, -1] / train[..., 0, 0]
    y, n, total = sums[..., -1, -1], sums[..., 0, 0], sums[..., 0, -1]
    null = (y - 2 * level * total + level**2 * n).sum(axis=-1)
    shares = []
    for chosen in (("mean",), ("peak", "end"), PREDICTORS):
        used = [0, *(1 + PREDICTORS.index(name) for name in chosen), -1]
        columns = np.ix_(used, used)
        b = least_squares(train[(..., *columns)])[0]
        held_out = sums[(..., *columns)]
        a, c = held_out[..., :-1, :-1], held_out[..., :-1, -1]
        error = (y - 2 * (b * c).sum(axis=-1) + np.einsum("...i,...ij,...j->...", b, a, b)).sum(
            axis=-1
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            shares.append(np.where(rounded(null) > 0, 1 - error / null, np.nan))
    mean, peak_and_end, every = shares
    return np.stack([mean, peak_and_end, every - mean], axis=-1)


@finding
def empathy_and_experience(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return Spearman's correlation over conversations of mean post-task empathy with the post-task experience.

    Returns
    -------
    DataFrame
        Rows ``all four together`` (mean of those given), successful, engaged, positive interaction, use again;
        n counts conversations with both. The last row is Pearson's correlation of a participant's conversations minus
        that participant's mean: a habit of rating high has no part in it.
    """
    require_own(study, bootstrap)
    conversations, inside = study.conversations, "all four together, within participants"
    empathy = conversations[OUTCOMES["empathy"]].mean(axis=1)
    rows = {}
    for words in (*EXPERIENCE, inside):
        names = OUTCOMES["experience"] if words.startswith("all") else [words.replace(" ", "_")]
        outcome = "the experience" if len(names) > 1 else words
        of = "the mean of the experience" if len(names) > 1 else words
        method = f"Spearman correlation of mean post-task empathy with {of}"
        experience = conversations[names].mean(axis=1)
        known = (empathy.notna() & experience.notna()).to_numpy()
        reason = ""
        if not empathy.notna().any():
            reason = "post-task empathy was never rated in this data set"
        elif not experience.notna().any():
            reason = f"{outcome} was never rated in this data set"
        elif not known.any():
            reason = "no conversation has both"
        pair, people = (
            np.column_stack([empathy, experience])[known],
            conversations.loc[known, "participant"],
        )
        if words == inside:
            method = "Pearson correlation within participants"
        if reason:
            rows[words] = estimate_row(
                n=known.sum(), unit="correlation", method=method, reason=reason
            )
        elif words == inside:
            rows[words] = within_correlation(pair, people, people, bootstrap, method)
        else:
            rows[words] = spearman_row(pair[:, 0], pair[:, 1], people, bootstrap, method)
    return estimate_table(rows, "experience", EXPERIENCE | {inside: "empathy_satisfaction_within"})
