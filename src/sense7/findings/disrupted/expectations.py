"""Unmet expectations: conversations that were to be empathic and were not felt to be.

An expectation counts as unmet where the participant wished for high empathy before the
conversation and rated its turns, on the average, closer to neutral than to good, or lower. A response surface
looks at all wishes and all ratings at once, without a cut.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares
from sense7.findings.measures import OUTCOMES, turn_levels
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["response_surface", "unmet_expectations"]

HIGH = 3
"""The highest of the three levels of desired empathy."""

LOW_BELOW = 3.5
"""A conversation is low in empathy if the mean level of its turns is below this: half-way between neutral and good."""

FEWEST = 2
UNIT = "level, difference"

COMPARISONS = {
    "against all other conversations": (),
    "at the same mean rating of turns": ("mean",),
    "beyond low ratings and high wishes by themselves": ("low", "high", "mean"),
}
"""Comparison -> columns that are held equal."""

_COMPARED = {
    "against all other conversations": "expectation_difference",
    "at the same mean rating of turns": "expectation_difference_adjusted",
    "beyond low ratings and high wishes by themselves": "expectation_loss",
}
"""Comparison -> key."""

_SURFACE = {"mean rating by wish": "response_surface_interaction"}
"""Row of :func:`response_surface` -> key."""

WISHES = {1: "minimal empathy wished for", 2: "some empathy wished for", 3: "high empathy wished for"}
"""Levels of desired empathy, in words for a figure."""

SHOWN_RATINGS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
"""Mean ratings at which :func:`response_surface` shows the surface."""

_NEAR = 0.25


def expectation_conversations(study: Study) -> pd.DataFrame:
    """Return wish, mean rating and post-task empathy of each conversation.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    DataFrame
        participant; ``mean`` (mean level of its rated turns: overall rating or, if that was never given,
        mean of the rated dimensions); ``desired`` (1 minimal .. 3 high); ``low`` (``mean`` below ``LOW_BELOW``);
        ``high`` (highest desired empathy); ``unmet`` (both); ``outcome`` (mean of the post-task
        ratings of empathy given, 1..5). Only conversations with a rated turn, a desired empathy and a post-task rating.
    """
    conversations = study.conversations.set_index("conversation")
    levels, _ = turn_levels(study)
    means = levels.groupby("conversation")["level"].mean()
    frame = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "mean": means.reindex(conversations.index).astype(float),
            "desired": conversations["desired_empathy"].astype(float),
            "outcome": conversations[OUTCOMES["empathy"]].mean(axis=1),
        }
    ).dropna(subset=["mean", "desired", "outcome"])
    frame["low"], frame["high"] = frame["mean"] < LOW_BELOW, frame["desired"] == HIGH
    frame["unmet"] = frame["low"] & frame["high"]
    return frame


def unmet_expectations(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how much lower conversations with an unmet expectation are rated afterwards.

    Minus the coefficient of ``unmet`` in a least-squares regression of the outcome on it and on

    - nothing else (the plain difference of means);
    - the mean level of the turns;
    - that, low ratings and high wishes: what an unmet expectation goes with beyond what low ratings
      go with where less was wished, and high wishes where ratings were not low.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals, which take the place of clustered errors.

    Returns
    -------
    DataFrame
        One row per comparison: estimate (levels; positive: lower where the expectation was unmet), low, high,
        n (conversations), unit, method, reason. Missing values: see :func:`expectation_conversations`.

    Notes
    -----
    Checked against statsmodels' OLS, and the intervals against its errors clustered by participant. On
    simulated studies with a planted loss the last comparison finds it, up to what the unobserved
    threshold of the simulation blurs.
    """
    frame = expectation_conversations(study)
    missing = _missing(study, frame)
    rows = {}
    for name, adjusted_for in COMPARISONS.items():
        method = f"least squares on unmet{''.join(f', {column}' for column in adjusted_for)}"
        method += f"; {count_of(int(frame['unmet'].sum()), 'conversation')} with an unmet expectation"
        if missing:
            rows[name] = estimate_row(n=len(frame), unit=UNIT, method=method, reason=missing)
        else:
            rows[name] = _row(frame, adjusted_for, bootstrap, method)
    return estimate_table(rows, "comparison", _COMPARED)


def response_surface(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    r"""Return how the judgment after the conversation depends on the mean rating of its turns and on the wish.

    A quadratic polynomial by least squares over conversations,

    .. math:: y = b_0 + b_1 m + b_2 w + b_3 m^2 + b_4 m w + b_5 w^2 + e

    with the mean rating and the wish each put on the scale from -1 (their lowest level) to 1 (their highest):
    :math:`m = (\bar r - 3) / 2`, :math:`w` = desired empathy - 2. If low ratings cost more where more was wished for,
    :math:`b_4` is positive.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.

    Returns
    -------
    dict
        ``surface``: a table of estimates with :math:`b_4`: estimate (levels of the judgment for a step of 1 on the
        scale from -1 to 1), low, high, n (conversations), unit, method, reason. ``levels``: for each wish, in
        the words of ``WISHES``, a table with one row per mean rating (``SHOWN_RATINGS``, as far as conversations with
        that wish reach) and the judgment that the surface gives there, not cut off at the ends of the scale; n counts
        the conversations with that wish. Missing values: see :func:`expectation_conversations`.

    References
    ----------
    Edwards, J. R., & Parry, M. E. (1993). On the use of polynomial regression equations as an alternative to
    difference scores in organizational research. Academy of Management Journal 36, 1577-1613.

    Notes
    -----
    Checked against statsmodels' OLS.
    """
    frame = expectation_conversations(study)
    method = "quadratic response surface by least squares"
    missing = _never(study, frame)
    if not missing and frame["desired"].eq(frame["desired"].iloc[0]).all():
        missing = "all participants wished for the same level of empathy"
    shown = {words: _shown_ratings(frame, wish) for wish, words in WISHES.items()}
    points = [
        _surface_columns(np.array(shown[words]), np.full(len(shown[words]), wish)) for wish, words in WISHES.items()
    ]
    parts = [np.eye(6)[[4]], *points]
    if missing:
        estimates = [Estimate(np.nan)] * sum(map(len, parts))
    else:
        columns = _surface_columns(frame["mean"].to_numpy(), frame["desired"].to_numpy())
        z = np.column_stack([columns, frame["outcome"]])
        cross = z[:, :, None] * z[:, None, :]
        estimates = bootstrap.estimates(_combinations(np.concatenate(parts)), cross, frame["participant"])
    common = {"method": method, "undefined": missing or "the wishes or the ratings take too few values"}
    remaining = iter(estimates)
    surface = {
        row: bootstrap.row(next(remaining), n=len(frame), unit="level per half scale", **common) for row in _SURFACE
    }
    levels = {}
    for wish, words in WISHES.items():
        n = int((frame["desired"] == wish).sum())
        rows = {at: bootstrap.row(next(remaining), n=n, unit="level, 1 to 5", **common) for at in shown[words]}
        if n or missing:
            levels[words] = estimate_table(rows, "mean rating of the turns")
    return {"surface": estimate_table(surface, "part of the surface", _SURFACE), "levels": levels}


def _shown_ratings(frame: pd.DataFrame, wish: int) -> Sequence[float]:
    """Mean ratings at which conversations with a wish are shown: near any of theirs, or else the highest."""
    own = frame.loc[frame["desired"] == wish, "mean"]
    return [at for at in SHOWN_RATINGS if own.min() - _NEAR <= at <= own.max() + _NEAR] or SHOWN_RATINGS[-1:]


def _surface_columns(mean: np.ndarray, desired: np.ndarray) -> np.ndarray:
    m, w = (mean - 3) / 2, desired - 2.0
    return np.column_stack([np.ones(len(m)), m, w, m**2, m * w, w**2])


def _combinations(parts: np.ndarray):
    """Linear combinations of least-squares coefficients, from cross products; NaN where a coefficient is undefined."""

    def statistic(cross: np.ndarray) -> np.ndarray:
        coefficients = least_squares(cross)[0]
        known = np.isfinite(coefficients)
        lacking = (~known).astype(float) @ (parts != 0).T.astype(float) > 0
        return np.where(lacking, np.nan, np.where(known, coefficients, 0.0) @ parts.T)

    return statistic


def _never(study: Study, frame: pd.DataFrame) -> str:
    """Which variable was never given; "" if there are conversations with all of them."""
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was never given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    if frame.empty:
        return "no conversation has a rated turn, a desired empathy and a post-task rating"
    return ""


def _missing(study: Study, frame: pd.DataFrame) -> str:
    """Why there is nothing to compare; "" if there is."""
    if never := _never(study, frame):
        return never
    unmet = int(frame["unmet"].sum())
    if min(unmet, len(frame) - unmet) < FEWEST:
        others = count_of(len(frame) - unmet, "other")
        return f"{count_of(unmet, 'conversation')} with an unmet expectation and {others}: too few"
    return ""


def _row(frame: pd.DataFrame, adjusted_for: tuple[str, ...], bootstrap: ParticipantBootstrap, method: str) -> dict:
    columns = frame[["unmet", *adjusted_for, "outcome"]].to_numpy(dtype=float)
    z = np.column_stack([np.ones(len(frame)), columns])
    loss = bootstrap.estimate(
        lambda cross: -least_squares(cross)[0][..., 1], z[:, :, None] * z[:, None, :], frame["participant"]
    )
    undefined = "what is to be held equal can't be distinguished from the unmet expectation in these conversations"
    return bootstrap.row(loss, n=len(frame), unit=UNIT, method=method, undefined=undefined)


check_arguments(globals())
