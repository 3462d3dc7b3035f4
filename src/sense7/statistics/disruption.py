"""What a poor turn goes with: post-task ratings of conversations with and without one.

"The effect of a poor turn" has no one definition, and the definitions give different
numbers on the same data; so all of them are computed side by side, and a published value is compared with all of
them.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import labels
from sense7.statistics.least_squares import least_squares
from sense7.statistics.mixed import fit_random_intercept, random_intercept_sums
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "DEFINITIONS",
    "HELD_KEYS",
    "KEYS",
    "LADDER_KEYS",
    "LENGTH_KEYS",
    "OUTCOMES",
    "POINTS_KEYS",
    "POOR",
    "SPREAD_KEYS",
    "cohens_d",
    "is_poor",
    "poor_turn_by_length",
    "poor_turn_conversations",
    "poor_turn_effects",
    "poor_turn_grid",
    "poor_turn_ladder",
    "poor_turn_measures",
    "published_in_grid",
]

POOR = 2
"""A rating is poor if its level is at most this: the one setting that code, captions and prose read.

Code asks :func:`is_poor`; prose says ``{setting}`poor_turn```, see :mod:`sense7.book.settings`.
"""

FEWEST = 2
UNIT = "Cohen's d"
POINTS = "points (levels from 1 to 5)"
MEASURES = {"d": UNIT, "points": POINTS, "spread": "levels, standard deviation"}
"""What :func:`poor_turn_measures` returns -> unit."""

DEFINITIONS = {
    "at least one poor turn, between conversations": ("poor_turn_d", "any", "between"),
    "exactly one poor turn, between conversations": ("poor_turn_d_exactly_one", "one", "between"),
    "at least one poor turn, within participants": ("poor_turn_d_within", "any", "within"),
    "exactly one poor turn, within participants": ("poor_turn_d_within_exactly_one", "one", "within"),
    "at least one poor turn, mixed model": ("poor_turn_d_mixed", "any", "mixed"),
    "exactly one poor turn, mixed model": ("poor_turn_d_mixed_exactly_one", "one", "mixed"),
}
"""Definitions of the effect: name -> key, which conversations count as poor, comparison."""

KEYS = {name: key for name, (key, *_) in DEFINITIONS.items()}

POINTS_KEYS = {
    "at least one poor turn, between conversations": "poor_turn_points",
    "exactly one poor turn, between conversations": "poor_turn_points_exactly_one",
    "at least one poor turn, within participants": "poor_turn_points_within",
    "exactly one poor turn, within participants": "poor_turn_points_within_exactly_one",
    "at least one poor turn, mixed model": "poor_turn_points_mixed",
    "exactly one poor turn, mixed model": "poor_turn_points_mixed_exactly_one",
}
"""Definitions -> keys of the difference in points, that is, of d before it is divided by a standard deviation."""

SPREAD_KEYS = {
    "at least one poor turn, between conversations": "poor_turn_spread",
    "exactly one poor turn, between conversations": "poor_turn_spread_exactly_one",
    "at least one poor turn, within participants": "poor_turn_spread_within",
    "exactly one poor turn, within participants": "poor_turn_spread_within_exactly_one",
    "at least one poor turn, mixed model": "poor_turn_spread_mixed",
    "exactly one poor turn, mixed model": "poor_turn_spread_mixed_exactly_one",
}
"""Definitions -> keys of the standard deviation that the difference is divided by."""

SPREADS = {
    "between": "sd of conversations",
    "within": "sd of participants' means",
    "mixed": "sd of the model",
}
"""Comparison -> what the difference in points is divided by."""

HELD_KEYS = {
    "definitions with an interval that holds the published value": "poor_turn_definitions_holding_published",
    "smallest d of the definitions": "poor_turn_d_smallest",
    "largest d of the definitions": "poor_turn_d_largest",
}
"""Rows of :func:`published_in_grid` -> keys."""

LADDER_KEYS = {
    "as they are": "poor_turn_ladder_as_they_are",
    "at the same number of turns": "poor_turn_ladder_same_length",
    "and the same mean of the other turns": "poor_turn_ladder_same_other_turns",
    "and within the same participant": "poor_turn_ladder_same_participant",
}
"""Rungs of :func:`poor_turn_ladder` -> keys."""

LENGTH_KEYS = {
    "shortest third": "poor_turn_share_shortest_third",
    "middle third": "poor_turn_share_middle_third",
    "longest third": "poor_turn_share_longest_third",
}
"""Rows of :func:`poor_turn_by_length` -> keys."""

OUTCOMES = {
    "empathy": [f"post_{name}" for name in DIMENSION_NAMES],
    "experience": ["successful", "engaged", "positive_interaction", "use_again"],
}
"""Post-task ratings whose mean is the outcome: the seven of empathy, or the four of the experience."""


def is_poor(values) -> np.ndarray:
    """Whether the level of each rating is at most ``POOR``.

    Parameters
    ----------
    values : array or Series
        Ratings from 1 to 5. The level of one that is no whole number, such as a mean or a rating that was given on
        another scale, is its :func:`sense7.statistics.ground_truth.labels`: the nearest, halves to the even one.

    Returns
    -------
    array of bool, or Series of bool with the index of a Series
        False where there is no rating.

    Examples
    --------
    >>> is_poor([1.0, 2.0, 2.5, 2.51, 3.0, np.nan]).tolist()
    [True, True, True, False, False, False]
    """
    poor = labels(values) <= POOR
    return pd.Series(poor, index=values.index) if isinstance(values, pd.Series) else poor


def poor_turn_conversations(study: Study, outcome: str = "empathy") -> pd.DataFrame:
    """Poor turns and post-task outcome of each conversation.

    Parameters
    ----------
    study : Study
        The data.
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    DataFrame
        participant; ``poor`` (turns whose overall rating :func:`is_poor`); ``rated`` (turns with
        an overall rating); ``outcome`` (mean of the post-task ratings given, 1..5). Only
        conversations that have both a rated turn and a post-task rating.

    Notes
    -----
    R: the counts of both kinds, tests/reference/reference.R.
    """
    turns = study.turns
    groups = turns["overall"].groupby(turns["conversation"])
    conversations = study.conversations.set_index("conversation")
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "poor": is_poor(turns["overall"]).groupby(turns["conversation"]).sum(),
            "rated": groups.count(),
            "outcome": conversations[OUTCOMES[outcome]].mean(axis=1),
        }
    ).reindex(conversations.index)
    return frame[(frame["rated"] > 0) & frame["outcome"].notna()]


def cohens_d(sums: np.ndarray) -> np.ndarray:
    r"""Cohen's d of two groups from their sums, with the pooled standard deviation.

    .. math:: d = \frac{\bar y_0 - \bar y_1}{s}, \quad
              s^2 = \frac{(n_0 - 1) s_0^2 + (n_1 - 1) s_1^2}{n_0 + n_1 - 2}

    Parameters
    ----------
    sums : array, shape (..., 2, 3)
        For each group n, the sum and the sum of squares; the second group is subtracted.

    Returns
    -------
    array, shape (...)
        NaN where a group is empty, fewer than three values remain, or nothing varies.

    References
    ----------
    Cohen, J. (1988). Statistical power analysis for the behavioral sciences.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> groups = [[4.0, 5.0, 3.0], [2.0, 3.0, 1.0]]
    >>> float(cohens_d(np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups])))
    2.0
    """
    return _pooled(sums)[..., 0]


def _pooled(sums: np.ndarray) -> np.ndarray:
    """Cohen's d, its numerator and its denominator, on the last axis; see :func:`cohens_d`."""
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        groups = (squares - n * means**2).sum(axis=-1)
        freedom = n.sum(axis=-1) - 2
        # Guards against a variance of zero that rounding made slightly larger.
        defined = (n > 0).all(axis=-1) & (freedom > 0) & (groups > 1e-9 * np.maximum(squares.sum(axis=-1), 1))
        return _measured(means[..., 0] - means[..., 1], groups / freedom, defined)


def _measured(difference: np.ndarray, variance: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """The difference in standard deviations, in points, and the standard deviation; NaN where not defined."""
    spread = np.sqrt(np.where(defined, variance, np.nan))
    return np.stack([difference / spread, np.where(defined, difference, np.nan), spread], axis=-1)


def poor_turn_effects(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    """Cohen's d of a poor turn by every definition: the table ``d`` of :func:`poor_turn_measures`.

    Parameters
    ----------
    study, bootstrap, outcome
        As for :func:`poor_turn_measures`.

    Returns
    -------
    DataFrame
        One row per definition.

    Notes
    -----
    R: effectsize::cohens_d and lme4::lmer, tests/reference/reference.R; see :func:`poor_turn_measures`.
    """
    return poor_turn_measures(study, bootstrap, outcome)["d"]


def poor_turn_measures(
    study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy"
) -> dict[str, pd.DataFrame]:
    r"""Effect of a poor turn on a post-task outcome by every definition: Cohen's d, in points, and what d divides by.

    - *Between conversations*: :func:`cohens_d` of conversations without and with poor turns.
    - *Within participants*: participants who have both kinds; mean difference of their two
      means, divided by :math:`\sqrt{(s_0^2 + s_1^2)/2}`, the standard deviations of these means.
    - *Mixed model*: the outcome on having a poor turn with a random intercept of the participant
      (REML); minus the coefficient, divided by :math:`\sqrt{\sigma_p^2 + \sigma^2}`.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    dict of DataFrame
        ``d`` (Cohen's d), ``points`` (the difference, levels 1 to 5) and ``spread`` (the standard deviation, levels);
        d is points divided by spread. Each with one row per definition: estimate (positive where conversations with a
        poor turn are rated lower), low, high, n (conversations, or participants within participants), unit, method,
        reason.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), lme4::lmer(overall ~ poor + (1 | participant)),
    tests/reference/reference.R; equal to 1e-7, the mixed model to 2e-4.
    """
    conversations = poor_turn_conversations(study, outcome)
    tables: dict[str, dict] = {measure: {} for measure in MEASURES}
    for name, (_, which, comparison) in DEFINITIONS.items():
        chosen = _chosen(conversations, which)
        if reason := _missing(study, chosen, outcome):
            rows = _none(len(chosen), name, reason)
        else:
            rows = _COMPARISONS[comparison](chosen, bootstrap, name)
        for measure, row in rows.items():
            tables[measure][name] = row
    return {measure: estimate_table(rows, "definition") for measure, rows in tables.items()}


def _chosen(conversations: pd.DataFrame, which: str) -> pd.DataFrame:
    """Conversations of a definition, ``poor`` being whether they have such turns."""
    poor = conversations["poor"]
    return conversations.assign(poor=poor > 0)[(poor == 0) | (poor == 1 if which == "one" else poor > 0)]


def _none(n: int, method: str, reason: str) -> dict[str, dict]:
    return {measure: estimate_row(n=n, unit=unit, method=method, reason=reason) for measure, unit in MEASURES.items()}


def poor_turn_grid(study: Study, measures: dict[str, pd.DataFrame], published: float) -> pd.DataFrame:
    """Every definition of the effect of a poor turn beside a published value of Cohen's d.

    Parameters
    ----------
    study : Study
        The data.
    measures : dict of DataFrame
        As :func:`poor_turn_measures` returns them, of the outcome ``empathy``.
    published : float
        The published value of Cohen's d.

    Returns
    -------
    DataFrame
        One row per definition: d with its interval, the difference in points, what it is divided by and how large
        that is, conversations with and without such a turn (within participants, those of participants who have both),
        whether the interval holds the published value, and a note where something is missing.
    """
    conversations = poor_turn_conversations(study)
    rows = {}
    for name, (_, which, comparison) in DEFINITIONS.items():
        chosen = _chosen(conversations, which)
        if comparison == "within":
            chosen = chosen[chosen.groupby("participant")["poor"].transform("nunique") == 2]
        d, points, spread = (measures[measure].loc[name] for measure in MEASURES)
        known = np.isfinite(d["low"])
        rows[name] = {
            "Cohen's d": f"{d['estimate']:z.3f}" if np.isfinite(d["estimate"]) else "not available",
            "interval": f"{d['low']:z.3f} to {d['high']:z.3f}" if known else "none",
            "points": f"{points['estimate']:z.2f}" if np.isfinite(points["estimate"]) else "not available",
            "divided by": SPREADS[comparison]
            + (f", {spread['estimate']:.2f}" if np.isfinite(spread["estimate"]) else ", not available"),
            "with": int(chosen["poor"].sum()),
            "without": int((~chosen["poor"]).sum()),
            "holds it": ("yes" if d["low"] <= published <= d["high"] else "no") if known else "",
            "note": d["reason"],
        }
    grid = pd.DataFrame.from_dict(rows, orient="index").rename_axis("definition")
    return grid if grid["note"].any() else grid.drop(columns="note")


def published_in_grid(effects: pd.DataFrame, published: float) -> dict:
    """How many definitions have an interval that holds a published value, and whether at least one has.

    No more than one of the definitions can be the one behind the published value, and which one is not stated. So
    the value is in line with these data if it lies in the interval of at least one definition, and not if it lies
    outside all of them.

    Parameters
    ----------
    effects : DataFrame
        As :func:`poor_turn_effects` returns it.
    published : float
        The published value of Cohen's d.

    Returns
    -------
    dict
        ``counts``: a table of estimates, the rows of ``HELD_KEYS`` (n: definitions with an interval, or with a value;
        no intervals); ``held``: a value for a record, "yes" or "no".

    Examples
    --------
    >>> row = estimate_row(0.9, 0.7, 1.2, n=9, unit="Cohen's d", method="m")
    >>> found = published_in_grid(estimate_table({"a": row, "b": row | {"high": 1.0}}, "definition"), 1.1)
    >>> found["held"]["estimate"], found["counts"]["estimate"].tolist()
    ('yes', [1.0, 0.9, 0.9])
    """
    known = effects[np.isfinite(effects["low"])]
    values = effects["estimate"].dropna()
    held = int(((known["low"] <= published) & (published <= known["high"])).sum())
    no_interval = "" if len(known) else "no definition has an interval"
    no_value = "" if len(values) else str(effects["reason"].iloc[0])
    of = f"of {count_of(len(known), 'definition')} with an interval"
    numbers = (
        (float(held) if len(known) else np.nan, len(known), "specifications", f"count {of}", no_interval),
        (values.min(), len(values), UNIT, "smallest of the definitions", no_value),
        (values.max(), len(values), UNIT, "largest of the definitions", no_value),
    )
    rows = {
        name: estimate_row(value, n=n, unit=unit, method=method, reason=reason)
        for name, (value, n, unit, method, reason) in zip(HELD_KEYS, numbers, strict=True)
    }
    answer = {"n": len(known), "unit": "yes or no", "method": f"whether the interval of at least one {of} holds it"}
    answer |= {"estimate": ("yes" if held else "no") if len(known) else None, "reason": no_interval}
    return {"counts": estimate_table(rows, "what"), "held": answer}


def poor_turn_ladder(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    """How much lower conversations with a poor turn are rated afterwards, with more and more held equal.

    Minus the coefficient of having at least one poor turn in a least-squares regression of the outcome on it and on

    - nothing else (a difference of means);
    - the number of rated turns: a longer conversation has more chances of a poor turn;
    - that, and the mean overall rating of the turns that are not poor: how good the conversation was otherwise;
    - both, with an intercept of each participant: a person's conversations are compared with each other.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    DataFrame
        The rows of ``LADDER_KEYS``: estimate (points, levels 1 to 5; positive: lower with a poor turn), low, high, n
        (conversations), unit, method, reason. All rungs rest on the same conversations: those with a rated turn that
        is not poor, and a post-task rating.

    Notes
    -----
    Checked against statsmodels' OLS, with an indicator of each participant in the last rung.
    """
    frame = _with_other_turns(study, outcome)
    reason = _missing(study, frame, outcome)
    columns = frame[["poor", "rated", "others", "outcome"]].to_numpy(dtype=float)
    own = _minus_own_mean(columns, frame["participant"])
    ones = np.ones((len(frame), 1))
    designs = (columns[:, [0, 3]], columns[:, [0, 1, 3]], columns, own)
    words = ("", ", the number of turns", ", the number of turns and the mean of the other turns")
    words = (*words, f"{words[-1]}, with an intercept of each participant")
    rows = {}
    for name, design, held in zip(LADDER_KEYS, designs, words, strict=True):
        method = f"least squares on having a poor turn{held}"
        if reason:
            rows[name] = estimate_row(n=len(frame), unit=POINTS, method=method, reason=reason)
            continue
        z = design if design is own else np.column_stack([design[:, :-1], ones, design[:, -1]])
        cross = z[:, :, None] * z[:, None, :]
        found = bootstrap.estimate(lambda sums: -least_squares(sums)[0][..., 0], cross, frame["participant"])
        undefined = "conversations with a poor turn differ from the others in what is to be held equal"
        rows[name] = bootstrap.row(found, n=len(frame), unit=POINTS, method=method, undefined=undefined)
    return estimate_table(rows, "what is held equal")


def _with_other_turns(study: Study, outcome: str) -> pd.DataFrame:
    """Conversations with a turn that is not poor: the mean of these turns, and whether they have a poor one besides."""
    frame = poor_turn_conversations(study, outcome)
    turns = study.turns
    good = turns["overall"].astype(float).where(~is_poor(turns["overall"]))
    means = good.groupby(turns["conversation"]).mean().reindex(frame.index)
    return frame.assign(poor=frame["poor"] > 0, others=means)[means.notna()]


def _minus_own_mean(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    frame = pd.DataFrame(values)
    codes = pd.factorize(groups)[0]
    return (frame - frame.groupby(codes).transform("mean")).to_numpy()


def poor_turn_by_length(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the conversations with at least one poor turn, by the number of their rated turns.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        The rows of ``LENGTH_KEYS``: estimate (0..1), low, high, n (conversations of that length), unit, method, reason.
        The thirds are cut at the numbers of turns below which a third and two thirds of the conversations lie; equal
        lengths are never parted, so that thirds are not equally large.
    """
    frame = poor_turn_conversations(study)
    unit, method = "share of conversations", "with at least one poor turn"
    third = np.zeros(0, dtype=int)
    if len(frame):
        third = np.searchsorted(np.quantile(frame["rated"], [1 / 3, 2 / 3]), frame["rated"], side="left")
    never = not study.turns["overall"].notna().any()
    rows = {}
    for place, name in enumerate(LENGTH_KEYS):
        chosen = frame[third == place]
        if chosen.empty:
            reason = "the overall rating was never given in this data set" if never else "no conversation is so long"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        span = f"{chosen['rated'].min()} to {chosen['rated'].max()} rated turns"
        values = np.column_stack([chosen["poor"] > 0, np.ones(len(chosen))]).astype(float)
        found = bootstrap.estimate(ratio, values, chosen["participant"])
        rows[name] = bootstrap.row(found, n=len(chosen), unit=unit, method=f"{method}, of those with {span}")
    return estimate_table(rows, "length")


def _missing(study: Study, chosen: pd.DataFrame, outcome: str) -> str:
    """Why there is nothing to compare; "" if there is."""
    if not study.turns["overall"].notna().any():
        return "the overall rating was never given in this data set, so no turn can be called poor"
    if not study.conversations[OUTCOMES[outcome]].notna().any(axis=None):
        return f"post-task {outcome} was never rated in this data set"
    counts = chosen["poor"].value_counts().reindex([False, True], fill_value=0)
    if counts.min() < FEWEST:
        return (
            f"{count_of(counts[True], 'conversation')} with such a turn and {counts[False]} without a poor one: too few"
        )
    return ""


def _between(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict[str, dict]:
    groups = np.column_stack([~chosen["poor"], chosen["poor"]]).astype(float)
    y = chosen["outcome"].to_numpy()
    values = groups[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]
    return _bootstrapped(_pooled, values, chosen["participant"], bootstrap, f"{method}; n counts conversations")


def _within(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict[str, dict]:
    means = chosen.pivot_table(index="participant", columns="poor", values="outcome", aggfunc="mean")
    means = means.reindex(chosen["participant"].unique()).dropna()
    if len(means) < FEWEST:
        reason = f"only {count_of(len(means), 'participant')} with conversations of both kinds"
        return _none(len(means), method, reason)
    y = means.to_numpy()  # columns in order: without, then with a poor turn
    values = np.stack([np.ones_like(y), y, y**2], axis=-1)
    return _bootstrapped(_paired, values, means.index, bootstrap, f"{method}; n counts participants")


def _paired(sums: np.ndarray) -> np.ndarray:
    n, total, squares = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        variance = ((squares - n * means**2) / (n - 1)).mean(axis=-1)
        return _measured(means[..., 0] - means[..., 1], variance, variance > 1e-12)


def _mixed(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict[str, dict]:
    design = np.column_stack([np.ones(len(chosen)), chosen["poor"]]).astype(float)
    sums, names = random_intercept_sums(chosen["outcome"].to_numpy(), design, chosen["participant"])
    return _bootstrapped(_of_model, sums, names, bootstrap, f"{method}; n counts conversations", len(chosen))


def _of_model(sums: np.ndarray) -> np.ndarray:
    fit = fit_random_intercept(sums)
    total = fit.participant_variance + fit.residual_variance
    with np.errstate(invalid="ignore"):
        return _measured(-fit.coefficients[..., 1], total, total > 1e-12)


def _bootstrapped(statistic, values, participants, bootstrap, method: str, n: int | None = None) -> dict[str, dict]:
    """A row for each of ``MEASURES``."""
    found = bootstrap.estimates(statistic, values, participants)
    common = {"n": n or len(values), "method": method, "undefined": "the outcome does not vary"}
    return {
        measure: bootstrap.row(one, unit=unit, **common)
        for (measure, unit), one in zip(MEASURES.items(), found, strict=True)
    }


_COMPARISONS = {"between": _between, "within": _within, "mixed": _mixed}


check_arguments(globals())
