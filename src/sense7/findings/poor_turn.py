"""How turns make the whole: what a poor turn goes with, how turns predict it, and what empathy goes with.

"The effect of a poor turn" has no one definition, and the definitions give different numbers on the same data; so all
of them are computed side by side, and a published value is compared with all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

from sense7.findings.core import (
    Needs,
    Number,
    finding,
    frame_of,
    is_constant,
    rank_correlation,
    resampled,
    tabulate,
    value_row,
    within_correlation,
)
from sense7.findings.measures import ANSWERS_OF, OUTCOMES, answers_to, is_poor, turn_rating
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.statistics.effect_size import group_moments, pooled_difference, standardized
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.least_squares import (
    coefficient,
    cross_products,
    least_squares,
    within,
)
from sense7.statistics.mixed import fit_nested, nested_sums
from sense7.statistics.order import rounded
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


@dataclass(frozen=True)
class Definition:
    """A definition of the effect of a poor turn.

    ``poor_turns`` says how many make a conversation count as poor, at least one or exactly one; ``comparison`` how such
    conversations are compared with those without; ``keys`` are those of each measure on empathy; ``outcome`` is one
    of ``ALL_TURNS`` and ``OTHER_TURNS``, or "" for the ratings after the conversation.
    """

    poor_turns: str
    comparison: str
    keys: dict[str, str]
    outcome: str = ""


ALL_TURNS = "overall rating of all turns"
OTHER_TURNS = "overall rating of turns not poor"
"""Outcomes that the turns themselves give: means of the item EmpathyOverall."""


DEFINITIONS = {
    "at least one poor turn, between conversations": Definition(
        "at least one", "between", {"d": "poor_turn_d", "points": "poor_turn_points"}
    ),
    "exactly one poor turn, between conversations": Definition(
        "exactly one", "between", {"d": "poor_turn_d_exactly_one"}
    ),
    "at least one poor turn, within participants": Definition(
        "at least one",
        "within",
        {"d": "poor_turn_d_within", "points": "poor_turn_points_within"},
    ),
    "exactly one poor turn, within participants": Definition(
        "exactly one", "within", {"d": "poor_turn_d_within_exactly_one"}
    ),
    "at least one poor turn, mixed model": Definition(
        "at least one", "mixed", {"d": "poor_turn_d_mixed"}
    ),
    "exactly one poor turn, mixed model": Definition(
        "exactly one", "mixed", {"d": "poor_turn_d_mixed_exactly_one"}
    ),
    f"at least one poor turn, {ALL_TURNS}": Definition(
        "at least one", "between", {"d": "poor_turn_d_overall"}, ALL_TURNS
    ),
    f"at least one poor turn, {OTHER_TURNS}": Definition(
        "at least one", "between", {"d": "poor_turn_d_overall_not_poor"}, OTHER_TURNS
    ),
}
"""Every definition of the effect, by its name."""

BY_TURNS = [name for name, definition in DEFINITIONS.items() if definition.outcome]
"""Definitions by the turns' own ratings, which the published value is not judged by."""

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


def poor_turn_conversations(study: Study, outcome: str = "") -> pd.DataFrame:
    """Return participant, number of poor and of rated turns, and outcome of each conversation that has the last two.

    ``outcome`` is ``ALL_TURNS``, ``OTHER_TURNS``, or "" for empathy as rated after the conversation.

    R: the counts of conversations with and without a poor turn, tests/reference/reference.R.
    """
    conversations = study.conversations.set_index("conversation")
    overall = study.turns["overall"]
    turns_of_conversation = study.turns["conversation"]
    if outcome == ALL_TURNS:
        outcomes = overall.groupby(turns_of_conversation).mean()
    elif outcome == OTHER_TURNS:
        outcomes = overall.where(~is_poor(overall)).groupby(turns_of_conversation).mean()
    else:
        outcomes = conversations[OUTCOMES["empathy"]].mean(axis=1)
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "poor": is_poor(overall).groupby(turns_of_conversation).sum(),
            "rated": overall.groupby(turns_of_conversation).count(),
            "outcome": outcomes,
        }
    ).reindex(conversations.index)
    return frame[(frame["rated"] > 0) & frame["outcome"].notna()]


def compared_conversations(study: Study, definition: Definition) -> pd.DataFrame:
    """Conversations of a definition (any poor turn, or exactly one), ``poor`` being whether they have such turns."""
    conversations = poor_turn_conversations(study, definition.outcome)
    compared = conversations.assign(poor=conversations["poor"] > 0)
    if definition.poor_turns == "exactly one":
        return compared[conversations["poor"] <= 1]
    return compared


def needs_of_outcome(study: Study, outcome: str = "") -> dict:
    """What a comparison of conversations without and with a poor turn needs, for a `Number`."""
    answers = answers_to(study, "the overall rating")
    reason = ""
    if not outcome:
        answers |= answers_to(study, "post-task empathy")
        reason = why_no_judgment_of_the_whole(study)
    elif study.turns.dropna(subset=["overall"])["conversation"].is_unique:
        reason = "no conversation has two turns with an overall rating: a poor turn would be compared with itself"
    return {"needs": Needs(answers=answers, in_each_group=FEWEST), "reason": reason}


def poor_turn_effects(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return Cohen's d of a poor turn by every definition: the table ``d`` of :func:`poor_turn_measures`."""
    return poor_turn_measures(study, bootstrap)["d"]


@finding
def poor_turn_measures(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    r"""Return the effect of a poor turn by every definition: as Cohen's d and in points.

    - *Between conversations*: :func:`~sense7.statistics.effect_size.cohens_d` of conversations without and with poor
      turns.
    - *Within participants*: participants who have both kinds; mean difference of their two
      means, divided by :math:`\sqrt{(s_0^2 + s_1^2)/2}`, the standard deviations of these means.
    - *Mixed model*: the outcome on having a poor turn with a random intercept of the participant
      (REML); minus the coefficient, divided by :math:`\sqrt{\sigma_p^2 + \sigma^2}`.
    - *Overall rating*: between conversations, with the mean of the item EmpathyOverall as the outcome: over all turns,
      the poor ones included, so that the difference is large by construction; or over the turns that are not poor.

    The outcome of the others is the mean of the seven post-task ratings of empathy given.

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
    numbers = {measure: [] for measure in MEASURES}
    for name, definition in DEFINITIONS.items():
        conversations = compared_conversations(study, definition)
        declared = {
            "label": name,
            "method": f"{name}; n counts conversations",
            "rows": conversations,
            "groups": conversations["poor"],
            "undefined": "the outcome does not vary",
            **needs_of_outcome(study, definition.outcome),
        }
        if definition.comparison == "between":
            declared["contrast"] = UNIT
        if definition.comparison == "within":
            means = _means_of_both_kinds(conversations)
            declared["method"] = f"{name}; n counts participants"
            declared["rows"] = means.index
            declared["counted"] = "participant"
            declared["groups"] = np.repeat([False, True], len(means))
        effect = cache(partial(EFFECTS[definition.comparison], bootstrap, conversations))
        for column, (measure, unit) in enumerate(MEASURES.items()):
            key = definition.keys.get(measure, "")
            number = Number(
                statistic=partial(_column, effect, column), unit=unit, key=key, **declared
            )
            numbers[measure].append(number)
    return {
        measure: tabulate("definition", of_measure, bootstrap)
        for measure, of_measure in numbers.items()
    }


def between_conversations(
    bootstrap: ParticipantBootstrap, conversations: pd.DataFrame
) -> np.ndarray:
    """Effect between conversations, by measure, in all rows and in every resample."""
    moments = group_moments(conversations["outcome"], conversations["poor"])
    return resampled(bootstrap, pooled_difference, moments, conversations["participant"])


def within_participants(bootstrap: ParticipantBootstrap, conversations: pd.DataFrame) -> np.ndarray:
    """Effect within participants who have both kinds of conversations, by measure."""
    means = _means_of_both_kinds(conversations)
    y = means.to_numpy()
    terms = np.stack([np.ones_like(y), y, y**2], axis=-1)

    def difference(sums: np.ndarray) -> np.ndarray:
        n, total, squares = np.moveaxis(sums, -1, 0)
        means = total / n
        variance = ((squares - n * means**2) / (n - 1)).mean(axis=-1)
        return standardized(means[..., 0] - means[..., 1], variance, rounded(variance) > 0)

    return resampled(bootstrap, difference, terms, means.index)


def in_mixed_model(bootstrap: ParticipantBootstrap, conversations: pd.DataFrame) -> np.ndarray:
    """Effect in the mixed model, by measure; fitted in every resample."""
    poor = conversations["poor"]
    design = np.column_stack([~poor, poor]).astype(float)
    sums = nested_sums(conversations["outcome"], design, conversations["participant"])
    fits = fit_nested(sums, bootstrap.times_taken(sums.participants))
    without_minus_with = fits.coefficients[:, 0] - fits.coefficients[:, 1]
    variance = fits.variances.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return standardized(without_minus_with, variance, rounded(variance) > 0)


EFFECTS = {
    "between": between_conversations,
    "within": within_participants,
    "mixed": in_mixed_model,
}
"""Comparison of a definition -> its effect, with a column for each of ``MEASURES``."""


def _means_of_both_kinds(conversations: pd.DataFrame) -> pd.DataFrame:
    """Mean outcome of each participant's conversations without, then with a poor turn; those who have both kinds."""
    means = conversations.pivot_table(
        index="participant", columns="poor", values="outcome", aggfunc="mean"
    )
    means = means.reindex(columns=[False, True])
    return means.reindex(conversations["participant"].unique()).dropna()


def poor_turn_grid(
    study: Study, measures: dict[str, pd.DataFrame], published: float
) -> pd.DataFrame:
    """Return every definition as text: d, interval, points, conversations of both kinds, whether the published d is in.

    Within participants, conversations are those of participants who have both kinds. There is a note where something
    is missing.
    """
    rows = {}
    for name, definition in DEFINITIONS.items():
        compared = compared_conversations(study, definition)
        if definition.comparison == "within":
            kinds_met = compared.groupby("participant")["poor"].transform("nunique")
            compared = compared[kinds_met == 2]
        d = measures["d"].loc[name]
        points = measures["points"].loc[name]
        interval = "none"
        holds_published = ""
        if np.isfinite(d["low"]):
            interval = f"{d['low']:z.3f} to {d['high']:z.3f}"
            holds_published = "yes" if _holds(d, published) else "no"
        rows[name] = {
            UNIT: f"{d['estimate']:z.3f}",
            "interval": interval,
            "points": f"{points['estimate']:z.2f}",
            "with": int(compared["poor"].sum()),
            "without": int((~compared["poor"]).sum()),
            "holds it": holds_published,
            "note": d["reason"],
        }
    grid = frame_of(rows, "definition").replace("nan", "not available")
    if not grid["note"].any():
        grid = grid.drop(columns="note")
    return grid


def _holds(effects, published: float):
    """Whether the interval of an effect, or of each of several, holds the published value."""
    above_lower_limit = rounded(effects["low"]) <= published
    below_upper_limit = published <= rounded(effects["high"])
    return above_lower_limit & below_upper_limit


@finding
def published_in_grid(effects: pd.DataFrame, published: float) -> dict:
    """Return how many definitions have an interval that holds a published value, and whether at least one has.

    No more than one of the definitions can be the one behind the published value, and which one is not stated. So
    the value is in line with these data if it lies in the interval of at least one definition, and not if it lies
    outside all of them. Definitions by the turns' own ratings (``BY_TURNS``) are counted, and left out of this rule.

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
    with_interval = effects[np.isfinite(effects["low"])]
    values = effects["estimate"].dropna()
    holds = _holds(with_interval, published)
    judged = holds.drop(BY_TURNS, errors="ignore")

    count = np.nan
    no_interval = "no definition has an interval"
    if len(holds):
        count = int(holds.sum())
        no_interval = ""
    answer = None
    no_answer = "no definition by ratings after the conversation has an interval"
    if len(judged):
        answer = "yes" if judged.any() else "no"
        no_answer = ""
    no_value = ""
    if values.empty:
        no_value = str(effects["reason"].iloc[0])

    def extreme(value: float, word: str) -> dict:
        return estimate_row(
            value,
            n=len(values),
            unit=UNIT,
            method=f"{word} of the definitions",
            reason=no_value,
            key=f"poor_turn_d_{word}",
        )

    rows = {
        "definitions with an interval that holds the published value": estimate_row(
            count,
            n=len(holds),
            unit="number of specifications",
            method=f"count of {count_of(len(holds), 'definition')} with an interval",
            reason=no_interval,
            key="poor_turn_definitions_holding_published",
        ),
        "smallest d of the definitions": extreme(values.min(), "smallest"),
        "largest d of the definitions": extreme(values.max(), "largest"),
    }
    verdict = value_row(
        "published_poor_turn_d_held_by_some_definition",
        answer,
        n=len(judged),
        unit="yes or no",
        method=f"whether the interval of at least one of {count_of(len(judged), 'definition')} by ratings after the "
        "conversation holds it",
        reason=no_answer,
    )
    return {"counts": estimate_table(rows, "what"), "held": verdict}


@finding
def poor_turn_ladder(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return how much lower conversations with a poor turn are rated afterwards, adjusted for more and more.

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
    conversations = poor_turn_conversations(study)
    mean_of_others = poor_turn_conversations(study, OTHER_TURNS)["outcome"]
    frame = conversations.join(mean_of_others.rename("others"), how="inner")
    frame = frame.assign(poor=frame["poor"] > 0, intercept=1.0)
    of_turns = "the number of turns and the mean of the other turns"

    def step(
        label: str,
        key: str,
        words: str,
        adjusted_for: list[str],
        *,
        within_participants: bool = False,
    ) -> Number:
        """One regression of the outcome on having a poor turn and on what is adjusted for."""
        z = frame[["poor", *adjusted_for, "outcome"]].to_numpy(dtype=float)
        if within_participants:
            z = within(z, frame["participant"])

        def lower():
            products = cross_products(z)
            return -resampled(bootstrap, coefficient(0), products, frame["participant"])

        return Number(
            label=label,
            statistic=lower,
            unit=POINTS,
            method=f"least squares on having a poor turn{words}",
            rows=frame,
            key=f"poor_turn_ladder_{key}",
            undefined="conversations with a poor turn differ from the others "
            "in what is adjusted for",
            groups=frame["poor"],
            contrast="difference of means",
            **needs_of_outcome(study),
        )

    numbers = [
        step("as they are", "as_they_are", "", ["intercept"]),
        step(
            "at the same number of turns",
            "same_length",
            ", the number of turns",
            ["rated", "intercept"],
        ),
        step(
            "and the same mean of the other turns",
            "same_other_turns",
            f", {of_turns}",
            ["rated", "others", "intercept"],
        ),
        step(
            "and within the same participant",
            "same_participant",
            f", {of_turns}, with an intercept of each participant",
            ["rated", "others"],
            within_participants=True,
        ),
    ]
    return tabulate("adjusted for", numbers, bootstrap)


def available_turn_rating(study: Study) -> str:
    """Return ``overall`` if any turn has an overall rating, otherwise ``dimensions``."""
    if study.turns["overall"].notna().any():
        return "overall"
    return "dimensions"


def turn_summaries(study: Study, rating: str = "overall") -> pd.DataFrame:
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
            "outcome": conversations[OUTCOMES["empathy"]].mean(axis=1),
        }
    ).reindex(conversations.index)
    return frame[(frame["rated"] > 0) & frame["outcome"].notna()].astype({"rated": int})


@finding
def cross_validated_r2(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "overall"
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
    frame = turn_summaries(study, rating)
    participants = pd.Index(frame["participant"].unique())
    folds = min(FOLDS, len(participants))

    def shares_predicted(sums: np.ndarray) -> np.ndarray:
        mean = predicted_share(sums, ("mean",))
        peak_and_end = predicted_share(sums, ("peak", "end"))
        all_four = predicted_share(sums, PREDICTORS)
        return np.stack([mean, peak_and_end, all_four - mean], axis=-1)

    @cache
    def shares():
        generator = np.random.default_rng(bootstrap.seed)
        fold_of_participant = generator.permutation(np.arange(len(participants)) % folds)
        fold = fold_of_participant[participants.get_indexer(frame["participant"])]
        z = np.column_stack([np.ones(len(frame)), frame[[*PREDICTORS, "outcome"]]])
        products = np.zeros((len(z), folds, z.shape[1], z.shape[1]))
        products[np.arange(len(z)), fold] = cross_products(z)
        return resampled(bootstrap, shares_predicted, products, frame["participant"])

    undefined = "mean, trough, peak and end of the turns can't be distinguished in some fold"
    constant = [name for name in PREDICTORS if is_constant(frame[name])]
    if constant:
        undefined = f"the same in every conversation: {', '.join(constant)} of the turns' ratings"
    needs = Needs(
        answers=answers_to(study, ANSWERS_OF[rating], "post-task empathy"),
        rows=2 * len(PREDICTORS),
        participants=FEWEST_PARTICIPANTS,
        varying={"post-task empathy is": frame["outcome"]},
    )
    numbers = []
    for column, (label, key) in enumerate(PREDICTED.items()):
        number = Number(
            label=label,
            statistic=partial(_column, shares, column),
            unit="share of the variance",
            method=f"least squares, {count_of(folds, 'fold')} of participants",
            rows=frame,
            needs=needs,
            key=key,
            undefined=undefined,
            reason=why_no_judgment_of_the_whole(study),
        )
        numbers.append(number)
    return tabulate("model", numbers, bootstrap)


def _column(table: Callable[[], np.ndarray], column: int) -> np.ndarray:
    """One column of a table that is computed when the first of its columns is asked for."""
    return table()[:, column]


def predicted_share(sums: np.ndarray, predictors: tuple[str, ...]) -> np.ndarray:
    """The share of the variance that a model predicts, each fold from all others; cross products (..., folds, 6, 6)."""
    training = sums.sum(axis=-3, keepdims=True) - sums
    places = [0, *(1 + PREDICTORS.index(name) for name in predictors), -1]
    columns = np.ix_(places, places)
    b = least_squares(training[(..., *columns)])[0]
    held_out = sums[(..., *columns)]
    xx = held_out[..., :-1, :-1]
    xy = held_out[..., :-1, -1]
    yy = sums[..., -1, -1]
    squared_fits = np.einsum("...i,...ij,...j->...", b, xx, b)
    errors = (yy - 2 * (b * xy).sum(axis=-1) + squared_fits).sum(axis=-1)

    n = sums[..., 0, 0]
    total = sums[..., 0, -1]
    mean = training[..., 0, -1] / training[..., 0, 0]
    errors_of_mean = (yy - 2 * mean * total + mean**2 * n).sum(axis=-1)
    return np.where(rounded(errors_of_mean) > 0, 1 - errors / errors_of_mean, np.nan)


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
    conversations = study.conversations
    inside = "all four together, within participants"
    numbers = []
    for label, key in {**EXPERIENCE, inside: "empathy_satisfaction_within"}.items():
        names = OUTCOMES["experience"]
        answer = "post-task experience"
        if not label.startswith("all four together"):
            names = [label.replace(" ", "_")]
            answer = label
        rated = pd.DataFrame(
            {
                "participant": conversations["participant"],
                "empathy": conversations[OUTCOMES["empathy"]].mean(axis=1),
                "experience": conversations[names].mean(axis=1),
            }
        ).dropna()
        correlation = rank_correlation
        method = "Spearman correlation of mean post-task empathy with the mean of the experience"
        if len(names) == 1:
            method = f"Spearman correlation of mean post-task empathy with {label}"
        if label == inside:
            rated = rated[rated["participant"].duplicated(keep=False)]
            correlation = within_correlation
            method = "Pearson correlation within participants"
        answers = answers_to(study, "post-task empathy")
        answers[answer] = conversations[names]
        number = Number(
            label=label,
            statistic=partial(
                correlation,
                bootstrap,
                rated["empathy"],
                rated["experience"],
                rated["participant"],
            ),
            unit="correlation",
            method=method,
            rows=rated["participant"],
            needs=Needs(answers=answers),
            key=key,
            undefined="one of the two does not vary",
        )
        numbers.append(number)
    return tabulate("experience", numbers, bootstrap)
