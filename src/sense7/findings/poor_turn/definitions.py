"""What a poor turn goes with: post-task ratings of conversations with and without one.

"The effect of a poor turn" has no one definition, and the definitions give different
numbers on the same data; so all of them are computed side by side, and a published value is compared with all of
them.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.effect_size import group_moments, pooled_difference, standardized
from sense7.estimators.estimates import estimate_row, estimate_table, keys_of_rows
from sense7.estimators.mixed import fit_random_intercept, random_intercept_sums
from sense7.findings.measures import OUTCOMES, is_poor
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["poor_turn_conversations", "poor_turn_effects", "poor_turn_grid", "poor_turn_measures", "published_in_grid"]

FEWEST = 2
UNIT = "Cohen's d"
POINTS = "points (levels from 1 to 5)"
MEASURES = {"d": UNIT, "points": POINTS}
"""What :func:`poor_turn_measures` returns -> unit."""

DEFINITIONS = {
    "at least one poor turn, between conversations": ("any", "between"),
    "exactly one poor turn, between conversations": ("one", "between"),
    "at least one poor turn, within participants": ("any", "within"),
    "exactly one poor turn, within participants": ("one", "within"),
    "at least one poor turn, mixed model": ("any", "mixed"),
    "exactly one poor turn, mixed model": ("one", "mixed"),
}
"""Definitions of the effect: row -> which conversations count as poor, comparison."""

_D = """
    poor_turn_d poor_turn_d_exactly_one poor_turn_d_within poor_turn_d_within_exactly_one poor_turn_d_mixed
    poor_turn_d_mixed_exactly_one
"""
"""Keys of d on empathy, in the order of the definitions."""

_POINTS = {
    "at least one poor turn, between conversations": "poor_turn_points",
    "at least one poor turn, within participants": "poor_turn_points_within",
}
"""Definition -> key of the difference in points on empathy."""


def poor_turn_conversations(study: Study, outcome: str = "empathy") -> pd.DataFrame:
    """Return the poor turns and the post-task outcome of each conversation.

    Parameters
    ----------
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


def poor_turn_effects(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    """Return Cohen's d of a poor turn by every definition: the table ``d`` of :func:`poor_turn_measures`.

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
        See ``OUTCOMES``.

    Returns
    -------
    dict of DataFrame
        ``d`` (Cohen's d) and ``points`` (the difference, levels 1 to 5). Each with one row per definition: estimate
        (positive where conversations with a poor turn are rated lower), low, high, n (conversations, or participants
        within participants), unit, method, reason.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), lme4::lmer(overall ~ poor + (1 | participant)),
    tests/reference/reference.R; equal to 1e-7, the mixed model to 2e-4.
    """
    conversations = poor_turn_conversations(study, outcome)
    tables: dict[str, dict] = {measure: {} for measure in MEASURES}
    for name, (counted, comparison) in DEFINITIONS.items():
        chosen = conversations_compared(conversations, counted)
        if reason := why_not_compared(study, chosen, outcome):
            rows = _none(len(chosen), name, reason)
        else:
            rows = _COMPARISONS[comparison](chosen, bootstrap, name)
        for measure, row in rows.items():
            tables[measure][name] = row
    keys = {"d": keys_of_rows(DEFINITIONS, _D), "points": _POINTS} if outcome == "empathy" else {}
    return {measure: estimate_table(rows, "definition", keys.get(measure)) for measure, rows in tables.items()}


def conversations_compared(conversations: pd.DataFrame, counted: str) -> pd.DataFrame:
    """Return the conversations of a definition, ``poor`` being whether they have such turns.

    Parameters
    ----------
    conversations : DataFrame
        As :func:`poor_turn_conversations` returns them.
    counted : {"any", "one"}
        Whether at least one poor turn counts, or exactly one; conversations with more are then left out.
    """
    poor = conversations["poor"]
    return conversations.assign(poor=poor > 0)[(poor == 0) | (poor == 1 if counted == "one" else poor > 0)]


def _none(n: int, method: str, reason: str) -> dict[str, dict]:
    return {measure: estimate_row(n=n, unit=unit, method=method, reason=reason) for measure, unit in MEASURES.items()}


def poor_turn_grid(study: Study, measures: dict[str, pd.DataFrame], published: float) -> pd.DataFrame:
    """Return every definition of the effect of a poor turn beside a published value of Cohen's d.

    Parameters
    ----------
    measures : dict of DataFrame
        As :func:`poor_turn_measures` returns them, of the outcome ``empathy``.
    published : float
        The published value of Cohen's d.

    Returns
    -------
    DataFrame
        One row per definition: d with its interval, the difference in points, conversations with and without such a
        turn (within participants, those of participants who have both), whether the interval holds the published value,
        and a note where something is missing.
    """
    conversations = poor_turn_conversations(study)
    rows = {}
    for name, (counted, comparison) in DEFINITIONS.items():
        chosen = conversations_compared(conversations, counted)
        if comparison == "within":
            chosen = chosen[chosen.groupby("participant")["poor"].transform("nunique") == 2]
        d, points = (measures[measure].loc[name] for measure in MEASURES)
        known = np.isfinite(d["low"])
        rows[name] = {
            "Cohen's d": f"{d['estimate']:z.3f}" if np.isfinite(d["estimate"]) else "not available",
            "interval": f"{d['low']:z.3f} to {d['high']:z.3f}" if known else "none",
            "points": f"{points['estimate']:z.2f}" if np.isfinite(points["estimate"]) else "not available",
            "with": int(chosen["poor"].sum()),
            "without": int((~chosen["poor"]).sum()),
            "holds it": ("yes" if d["low"] <= published <= d["high"] else "no") if known else "",
            "note": d["reason"],
        }
    grid = pd.DataFrame.from_dict(rows, orient="index").rename_axis("definition")
    return grid if grid["note"].any() else grid.drop(columns="note")


def published_in_grid(effects: pd.DataFrame, published: float) -> dict:
    """Return how many definitions have an interval that holds a published value, and whether at least one has.

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
    held = int(((known["low"] <= published) & (published <= known["high"])).sum())
    no_interval = "" if len(known) else "no definition has an interval"
    no_value = "" if len(values) else str(effects["reason"].iloc[0])
    of = f"of {count_of(len(known), 'definition')} with an interval"
    smallest_and_largest = {"n": len(values), "unit": UNIT, "reason": no_value}
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
            values.min(), **smallest_and_largest, method="smallest of the definitions", key="poor_turn_d_smallest"
        ),
        "largest d of the definitions": estimate_row(
            values.max(), **smallest_and_largest, method="largest of the definitions", key="poor_turn_d_largest"
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


def why_not_compared(study: Study, chosen: pd.DataFrame, outcome: str) -> str:
    """Return why there is nothing to compare; "" if there is."""
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
    values = group_moments(chosen["outcome"], chosen["poor"])
    return _bootstrapped(
        pooled_difference, values, chosen["participant"], bootstrap, f"{method}; n counts conversations"
    )


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
        return standardized(means[..., 0] - means[..., 1], variance, variance > 1e-12)


def _mixed(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict[str, dict]:
    design = np.column_stack([np.ones(len(chosen)), chosen["poor"]]).astype(float)
    sums, names = random_intercept_sums(chosen["outcome"].to_numpy(), design, chosen["participant"])
    return _bootstrapped(_of_model, sums, names, bootstrap, f"{method}; n counts conversations", len(chosen))


def _of_model(sums: np.ndarray) -> np.ndarray:
    fit = fit_random_intercept(sums)
    total = fit.participant_variance + fit.residual_variance
    with np.errstate(invalid="ignore"):
        return standardized(-fit.coefficients[..., 1], total, total > 1e-12)


def _bootstrapped(statistic, values, participants, bootstrap, method: str, n: int | None = None) -> dict[str, dict]:
    """A row for each of ``MEASURES``."""
    estimates = bootstrap.estimates(statistic, values, participants)
    common = {"n": n or len(values), "method": method, "undefined": "the outcome does not vary"}
    return {
        measure: bootstrap.row(estimate, unit=unit, **common)
        for (measure, unit), estimate in zip(MEASURES.items(), estimates[:2], strict=True)
    }


_COMPARISONS = {"between": _between, "within": _within, "mixed": _mixed}


check_arguments(globals())
