"""What a poor turn goes with: post-task ratings of conversations with and without one.

"The effect of a poor turn" has no one definition, and the definitions give different
numbers on the same data; so all of them are computed side by side.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import labels
from sense7.statistics.mixed import fit_random_intercept, random_intercept_sums
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "DEFINITIONS",
    "KEYS",
    "OUTCOMES",
    "POOR",
    "cohens_d",
    "is_poor",
    "poor_turn_conversations",
    "poor_turn_effects",
]

POOR = 2
"""A rating is poor if its level is at most this: the one setting that code, captions and prose read.

Code asks :func:`is_poor`; prose says ``{setting}`poor_turn```, see :mod:`sense7.pipeline.settings`.
"""

FEWEST = 2
UNIT = "Cohen's d"

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
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        within = (squares - n * means**2).sum(axis=-1)
        freedom = n.sum(axis=-1) - 2
        # Guards against a variance of nought that rounding made a hair.
        defined = (n > 0).all(axis=-1) & (freedom > 0) & (within > 1e-9 * np.maximum(squares.sum(axis=-1), 1))
        return np.where(defined, (means[..., 0] - means[..., 1]) / np.sqrt(within / freedom), np.nan)


def poor_turn_effects(study: Study, bootstrap: ParticipantBootstrap, outcome: str = "empathy") -> pd.DataFrame:
    r"""Effect of a poor turn on a post-task outcome, by every definition.

    - *Between conversations*: :func:`cohens_d` of conversations without and with poor turns.
    - *Within participants*: participants who have both kinds; mean difference of their two
      means, divided by :math:`\sqrt{(s_0^2 + s_1^2)/2}`, the standard deviations of these means.
    - *Mixed model*: the outcome on having a poor turn with a random intercept of the participant
      (REML); minus the coefficient by :math:`\sqrt{\sigma_p^2 + \sigma^2}`.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.
    outcome : {"empathy", "experience"}
        See ``OUTCOMES``.

    Returns
    -------
    DataFrame
        A row a definition: estimate (positive where conversations with a poor turn are rated
        lower), low, high, n (conversations, or participants within participants), unit, method,
        reason.

    Notes
    -----
    R: effectsize::cohens_d(pooled_sd=TRUE), lme4::lmer(overall ~ poor + (1 | participant)),
    tests/reference/reference.R; equal to 1e-7, the mixed model to 2e-4.
    """
    conversations = poor_turn_conversations(study, outcome)
    rows = {}
    for name, (_, which, comparison) in DEFINITIONS.items():
        poor = conversations["poor"]
        chosen = conversations.assign(poor=poor > 0)[(poor == 0) | (poor == 1 if which == "one" else poor > 0)]
        if reason := _missing(study, chosen, outcome):
            rows[name] = estimate_row(n=len(chosen), unit=UNIT, method=name, reason=reason)
        else:
            rows[name] = _COMPARISONS[comparison](chosen, bootstrap, name)
    return estimate_table(rows, "definition")


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


def _between(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict:
    groups = np.column_stack([~chosen["poor"], chosen["poor"]]).astype(float)
    y = chosen["outcome"].to_numpy()
    values = groups[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]
    return _bootstrapped(cohens_d, values, chosen["participant"], bootstrap, method, "conversations")


def _within(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict:
    means = chosen.pivot_table(index="participant", columns="poor", values="outcome", aggfunc="mean")
    means = means.reindex(chosen["participant"].unique()).dropna()
    if len(means) < FEWEST:
        reason = f"only {count_of(len(means), 'participant')} with conversations of both kinds"
        return estimate_row(n=len(means), unit=UNIT, method=method, reason=reason)
    y = means.to_numpy()  # columns in order: without, then with a poor turn
    values = np.stack([np.ones_like(y), y, y**2], axis=-1)
    return _bootstrapped(_paired_d, values, means.index, bootstrap, method, "participants")


def _paired_d(sums: np.ndarray) -> np.ndarray:
    n, total, squares = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        variances = (squares - n * means**2) / (n - 1)
        spread = variances.mean(axis=-1)
        return np.where(spread > 1e-12, (means[..., 0] - means[..., 1]) / np.sqrt(spread), np.nan)


def _bootstrapped(statistic, values, participants, bootstrap, method: str, units: str) -> dict:
    found = bootstrap.estimate(statistic, values, participants)
    method, undefined = f"{method}; n counts {units}", "the outcome does not vary"
    return bootstrap.row(found, n=len(values), unit=UNIT, method=method, undefined=undefined)


def _mixed(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, method: str) -> dict:
    design = np.column_stack([np.ones(len(chosen)), chosen["poor"]]).astype(float)
    sums, names = random_intercept_sums(chosen["outcome"].to_numpy(), design, chosen["participant"])
    row = _bootstrapped(_standardised, sums, names, bootstrap, method, "conversations")
    return row | {"n": len(chosen)}


def _standardised(sums: np.ndarray) -> np.ndarray:
    fit = fit_random_intercept(sums)
    total = fit.participant_variance + fit.residual_variance
    return np.where(total > 1e-12, -fit.coefficients[..., 1] / np.sqrt(total), np.nan)


_COMPARISONS = {"between": _between, "within": _within, "mixed": _mixed}


check_arguments(globals())
