"""The gap between expected and experienced empathy."""

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, pieces
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import NEGLIGIBLE, within
from sense7.estimators.order import in_order_of_appearance
from sense7.findings.context.frame import MOST_DRAWS, not_varying
from sense7.findings.context.means import NOT_GIVEN, largest_groups, mean_row
from sense7.findings.measures import OUTCOMES
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["expected_experienced_gap", "gap_by_topic", "gap_differs_by_topic"]

SCALE, RANKS = "both scales from 0 to 1", "percent ranks within the data set"
"""Ways to put desired (1..3) and experienced (1..5) empathy together."""

_TESTS = {SCALE: "expected_experienced_p_scale", RANKS: "expected_experienced_p_ranks"}
"""Rows of :func:`gap_differs_by_topic` -> keys."""

OF_SCALE = "points on a scale from 0 to 1"

RESAMPLES_AT_ONCE = 500


def expected_and_experienced(study: Study) -> pd.DataFrame:
    """Return desired empathy before and mean post-task empathy after, of the conversations that have both.

    Returns
    -------
    DataFrame
        participant, topic, ``expected`` (desired empathy, 1..3), ``experienced`` (mean of the post-task ratings of
        empathy given, 1..5), ``gap`` (experienced minus expected, both on a scale from 0 to 1).
    """
    conversations = study.conversations
    frame = conversations[["participant", "topic"]].assign(
        expected=conversations["desired_empathy"], experienced=conversations[OUTCOMES["empathy"]].mean(axis=1)
    )
    frame = frame[frame[["expected", "experienced"]].notna().all(axis=1)].reset_index(drop=True)
    return frame.assign(gap=(frame["experienced"] - 1) / 4 - (frame["expected"] - 1) / 2)


def _no_gap(study: Study, frame: pd.DataFrame) -> str:
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was not given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    return "" if len(frame) else "no conversation has both"


def expected_experienced_gap(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean of experienced minus expected empathy, both scales from 0 to 1.

    .. math:: \overline{(x - 1)/4 - (e - 1)/2}

    with e the expected (1..3) and x the experienced level (1..5).

    Returns
    -------
    DataFrame
        One row: estimate (-1..1, positive if more was experienced), low, high, n (conversations), unit, method, reason.
    """
    frame = expected_and_experienced(study)
    method = f"mean of experienced minus expected, {SCALE}"
    if reason := _no_gap(study, frame):
        row = estimate_row(n=len(frame), unit=OF_SCALE, method=method, reason=reason)
    else:
        row = mean_row(frame["gap"], frame["participant"], bootstrap, OF_SCALE, method)
    return estimate_table({SCALE: row}, "way", {SCALE: "expected_experienced_gap"})


def gap_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the gap of the conversations on each topic, both scales from 0 to 1.

    Returns
    -------
    DataFrame
        One row per topic (of more than 40, the 40 largest), as :func:`expected_experienced_gap`.
    """
    frame = expected_and_experienced(study)
    reason = _no_gap(study, frame)
    frame = frame[frame["topic"].notna()]
    if not reason and frame.empty:
        reason = "topic was not given in this data set"
    method = f"experienced minus expected, {SCALE}"
    rows = {}
    if reason:
        rows[NOT_GIVEN] = estimate_row(n=0, unit=OF_SCALE, method=method, reason=reason)
    for topic in largest_groups(frame["topic"]) if not reason else ():
        own = frame[frame["topic"] == topic]
        rows[topic] = mean_row(own["gap"], own["participant"], bootstrap, OF_SCALE, method)
    keys = {topic: f"expected_experienced_gap_topic_{number}" for number, topic in enumerate(rows, 1)}
    return estimate_table(rows, "topic", keys)


def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return whether the gap differs by topic: p values by permutation of the topics within participants.

    Adding a constant to a scale moves all topics' gaps alike and leaves every p value as it is. The p value of percent
    ranks (the share of conversations below, ties counting half) does not depend on the units either: it stays the same
    if the levels of either scale are replaced by any others in the same order.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws, at most 2,000 permutations; seed.

    Returns
    -------
    DataFrame
        One row for both scales from 0 to 1, and one for percent ranks.
    """
    frame = expected_and_experienced(study)
    if reason := _no_gap(study, frame):
        none = estimate_row(n=0, unit="p value", method="permutation", reason=reason)
        return estimate_table(dict.fromkeys(_TESTS, none), "way", _TESTS)
    ranks = [(stats.rankdata(frame[name]) - 0.5) / len(frame) for name in ("experienced", "expected")]
    ways = {SCALE: frame["gap"], RANKS: ranks[0] - ranks[1]}
    return estimate_table(
        {way: permutation_row(frame.assign(y=y), bootstrap) for way, y in ways.items()}, "way", _TESTS
    )


def permutation_row(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Return the p value of the topics, permuted among each participant's own conversations."""
    draws = min(bootstrap.draws, MOST_DRAWS)
    method = f"{count_of(draws, 'permutation')} of topics within participants"
    reason = not_varying(frame, "topic")
    frame = in_order_of_appearance(frame[frame["topic"].notna()], "participant")
    if not reason and frame.groupby("participant")["topic"].nunique().max() < 2:
        reason = "no participant has conversations on two topics"
    y = within(frame[["y"]].to_numpy(dtype=float), frame["participant"])[:, 0]
    if not reason and (y**2).sum() < NEGLIGIBLE:
        reason = "no participant's conversations differ"
    if reason:
        return estimate_row(n=len(frame), unit="p value", method=method, reason=reason)
    topics, participants = pd.factorize(frame["topic"])[0], pd.factorize(frame["participant"])[0]
    size = np.bincount(topics)

    def between(values: np.ndarray) -> np.ndarray:
        cells = topics + len(size) * np.arange(len(values))[:, None]
        sums = np.bincount(cells.ravel(), weights=values.ravel(), minlength=len(values) * len(size))
        return (sums.reshape(len(values), len(size)) ** 2 / size).sum(axis=1)

    observed = between(y[None])[0]
    generator = np.random.default_rng(bootstrap.seed)
    as_large = 0
    for piece in pieces(draws, len(y), RESAMPLES_AT_ONCE):
        order = participants + generator.random((piece.stop - piece.start, len(y)))
        as_large += int((between(y[np.argsort(order, axis=1)]) >= observed * (1 - 1e-12)).sum())
    return estimate_row((1 + as_large) / (1 + draws), n=len(frame), unit="p value", method=method)


check_arguments(globals())
