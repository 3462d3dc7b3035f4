"""The gap between expected and experienced empathy."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.findings.context.means import NOT_GIVEN, largest_groups, mean_row
from sense7.findings.context.tests import RESAMPLES_AT_ONCE, permutation_row, t_row, with_holm
from sense7.findings.measures import OUTCOMES
from sense7.study import Study

__all__ = [
    "agreement_of_ways",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_by_topic_and_way",
    "gap_differs_by_topic",
    "overall_gap",
    "topics_that_differ",
]

WAYS = {
    "both scales from 0 to 1": "scale",
    "desired level at the middle of its third": "thirds",
    "experienced cut into three bins": "bins",
    "percent ranks within the data set": "ranks",
}
"""Ways to put desired (1..3) and experienced (1..5) empathy together: words -> short name."""

_GAPS = {
    "both scales from 0 to 1": "expected_experienced_gap_scale",
    "desired level at the middle of its third": "expected_experienced_gap_thirds",
    "experienced cut into three bins": "expected_experienced_gap_bins",
    "percent ranks within the data set": "expected_experienced_gap_ranks",
}
"""Rows of :func:`expected_experienced_gap` -> keys."""

_TESTS = {
    "both scales from 0 to 1": "expected_experienced_p_scale",
    "desired level at the middle of its third": "expected_experienced_p_thirds",
    "experienced cut into three bins": "expected_experienced_p_bins",
    "percent ranks within the data set": "expected_experienced_p_ranks",
}
"""Rows of :func:`gap_differs_by_topic` -> keys."""

_AGREEMENT = {
    "thirds": "expected_experienced_agreement_thirds",
    "bins": "expected_experienced_agreement_bins",
    "ranks": "expected_experienced_agreement_ranks",
}
"""Rows of :func:`agreement_of_ways` -> keys."""

_DIFFERING = {
    "both scales from 0 to 1: more experienced": "expected_experienced_topics_1",
    "both scales from 0 to 1: less experienced": "expected_experienced_topics_2",
    "desired level at the middle of its third: more experienced": "expected_experienced_topics_3",
    "desired level at the middle of its third: less experienced": "expected_experienced_topics_4",
    "experienced cut into three bins: more experienced": "expected_experienced_topics_5",
    "experienced cut into three bins: less experienced": "expected_experienced_topics_6",
}
"""Rows of :func:`topics_that_differ` -> keys."""

OF_SCALE = "points on a scale from 0 to 1"


def expected_and_experienced(study: Study) -> pd.DataFrame:
    """Return desired empathy before and mean post-task empathy after, of the conversations that have both.

    Returns
    -------
    DataFrame
        participant, topic, ``expected`` (desired empathy, 1..3), ``experienced`` (mean of the post-task
        ratings of empathy given, 1..5).
    """
    conversations = study.conversations
    frame = conversations[["participant", "topic"]].assign(
        expected=conversations["desired_empathy"], experienced=conversations[OUTCOMES["empathy"]].mean(axis=1)
    )
    return frame[frame[["expected", "experienced"]].notna().all(axis=1)].reset_index(drop=True)


def gaps(expected: np.ndarray, experienced: np.ndarray, way: str) -> np.ndarray:
    r"""Return experienced minus expected empathy of each conversation, on a common scale from 0 to 1.

    With e the expected (1..3) and x the experienced level (1..5):

    - scale: :math:`(x - 1)/4 - (e - 1)/2`;
    - thirds: :math:`(x - 1)/4 - (2e - 1)/6`, a level of three being the middle of its third;
    - bins: x cut into three equal parts k (1..3): :math:`(k - e)/2`.

    Examples
    --------
    >>> gaps(np.array([1, 2, 3]), np.array([5.0, 3.0, 2.0]), "scale").tolist()
    [1.0, 0.0, -0.75]
    >>> gaps(np.array([1, 2, 3]), np.array([5.0, 3.0, 2.0]), "bins").tolist()
    [1.0, 0.0, -1.0]
    """
    unit = (experienced - 1) / 4
    if way == "scale":
        return unit - (expected - 1) / 2
    if way == "thirds":
        return unit - (2 * expected - 1) / 6
    if way == "bins":
        return (np.clip(np.floor(3 * unit + 1e-9), 0, 2) + 1 - expected) / 2
    raise ValueError(f"{way!r} is no way to put the scales together")


def _no_gap(study: Study, frame: pd.DataFrame) -> str:
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was not given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    return "" if len(frame) else "no conversation has both"


def expected_experienced_gap(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the mean of experienced minus expected empathy, by every way to put the scales together.

    See :func:`gaps`. Percent ranks have the same mean before and after for any answers, so they give no
    overall gap; they compare topics (:func:`gap_by_topic`).

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row per way (``WAYS``): estimate (-1..1, positive if more was experienced), low, high, n
        (conversations), unit, method, reason.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    rows = {}
    for words, way in WAYS.items():
        method = f"mean of experienced minus expected, {words}"
        if missing or way == "ranks":
            reason = missing or "percent ranks have the same mean by construction; they only compare topics"
            rows[words] = estimate_row(n=len(frame), unit=OF_SCALE, method=method, reason=reason)
        else:
            y = gaps(frame["expected"].to_numpy(), frame["experienced"].to_numpy(), way)
            rows[words] = mean_row(y, frame["participant"], bootstrap, OF_SCALE, method)
    return estimate_table(rows, "way", _GAPS)


def overall_gap(gaps_by_way: pd.DataFrame) -> dict:
    """Return the gap by the first way, which stands for all in the text, as a value for a record.

    Parameters
    ----------
    gaps_by_way : DataFrame
        From :func:`expected_experienced_gap`.
    """
    return gaps_by_way.iloc[0].to_dict() | {"key": "expected_experienced_gap"}


def gap_by_topic(
    study: Study, bootstrap: ParticipantBootstrap, way: str = "scale", *, centered: bool = False
) -> pd.DataFrame:
    """Return the gap of the conversations on each topic.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; percent ranks are computed again in each.
    way : {"scale", "thirds", "bins", "ranks"}
        See :func:`gaps`; ranks: share of conversations below, ties counting half.
    centered : bool
        Whether the mean gap over all conversations with a topic is subtracted.

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
    unit = "points of rank from 0 to 1" if way == "ranks" else OF_SCALE
    method = f"experienced minus expected, {next(words for words, short in WAYS.items() if short == way)}"
    method += "; minus the mean over topics' conversations" if centered else ""
    rows = {}
    if reason:
        rows[NOT_GIVEN] = estimate_row(n=0, unit=unit, method=method, reason=reason)
    else:
        draws, estimates = _gap_draws(frame, way, centered, bootstrap)
        for i, topic in enumerate(largest_groups(frame["topic"])):
            participants = frame.loc[frame["topic"] == topic, "participant"]
            gap = Estimate(estimates[i], *bootstrap.interval(draws[:, i], participants))
            rows[topic] = bootstrap.row(gap, n=len(participants), unit=unit, method=method)
    keys = {topic: f"expected_experienced_gap_topic_{number}" for number, topic in enumerate(rows, 1)}
    return estimate_table(rows, "topic", keys if way == "scale" and not centered else None)


def gap_by_topic_and_way(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return each topic's gap minus that of all, by every way to put the scales together.

    Returns
    -------
    dict of DataFrame
        Short name of the way -> table of estimates of :func:`gap_by_topic`.
    """
    return {way: gap_by_topic(study, bootstrap, way, centered=True) for way in WAYS.values()}


def _gap_draws(frame: pd.DataFrame, way: str, centered: bool, bootstrap) -> tuple[np.ndarray, np.ndarray]:
    """Gap of each topic shown in every draw (draws, topics), and in the data."""
    codes = bootstrap.codes(frame["participant"])
    topics = np.array(largest_groups(frame["topic"]), dtype=object)
    member = (frame["topic"].to_numpy()[:, None] == topics[None, :]).astype(float)
    expected, experienced = frame["expected"].to_numpy(), frame["experienced"].to_numpy()

    def _topic_gaps(rows: np.ndarray) -> np.ndarray:
        if way == "ranks":
            gap = rows * (percent_ranks(experienced, rows) - percent_ranks(expected, rows))
        else:
            gap = rows * gaps(expected, experienced, way)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = gap @ member / (rows @ member)
            return means - (gap.sum(axis=1) / rows.sum(axis=1))[:, None] if centered else means

    draws = bootstrap.in_every_draw(lambda weights: _topic_gaps(weights[:, codes]), len(codes), RESAMPLES_AT_ONCE)
    return draws, _topic_gaps(np.ones((1, len(codes))))[0]


def percent_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of weight below each value, ties counting half, for many sets of weights.

    Parameters
    ----------
    values : array, shape (rows,)
        The values that are ranked.
    weights : array, shape (draws, rows)
        How often each row is taken.

    Returns
    -------
    array, shape (draws, rows)
        0..1.

    Examples
    --------
    >>> percent_ranks(np.array([3.0, 1.0, 3.0]), np.array([[1.0, 2.0, 1.0]])).tolist()
    [[0.75, 0.25, 0.75]]
    """
    levels, codes = np.unique(values, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(levels)))
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ((np.cumsum(counts, axis=1) - counts / 2) / totals)[:, codes]


def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return whether the gap differs by topic: p values by permutation of the topics within participants, by way.

    Adding a constant to a scale moves all topics' gaps alike and leaves every p value as it is. The p value of percent
    ranks (those within the data set) does not depend on the units either: it stays the same if the levels of
    either scale are replaced by any others in the same order.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws, at most 2,000 permutations; seed.

    Returns
    -------
    DataFrame
        One row per way (``WAYS``), as :func:`~sense7.findings.context.tests.context_tests`.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    rows = {}
    for words, way in WAYS.items():
        if missing:
            rows[words] = estimate_row(n=0, unit="p value", method="permutation", reason=missing)
            continue
        expected, experienced = frame["expected"].to_numpy(), frame["experienced"].to_numpy()
        if way == "ranks":
            once = np.ones((1, len(frame)))
            y = (percent_ranks(experienced, once) - percent_ranks(expected, once))[0]
        else:
            y = gaps(expected, experienced, way)
        rows[words] = permutation_row(frame.assign(y=y), bootstrap)
    return estimate_table(rows, "way", _TESTS)


def agreement_of_ways(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the Spearman correlation over topics of each way's gaps with those of the first way.

    Parameters
    ----------
    tables : mapping of str -> DataFrame
        From :func:`gap_by_topic_and_way`.

    Returns
    -------
    DataFrame
        One row for each further way; n counts topics. No interval: topics are not sampled.
    """
    first, *others = tables
    reference = tables[first]["estimate"]
    rows = {}
    for words in others:
        method = f"Spearman correlation over topics with: {first}"
        gap = tables[words]["estimate"]
        if reference.isna().any() or gap.isna().any():
            row = estimate_row(n=0, unit="correlation", method=method, reason=tables[first]["reason"].iloc[0])
        elif len(gap) < 3:
            row = estimate_row(n=len(gap), unit="correlation", method=method, reason="fewer than three topics")
        elif np.ptp(gap) < 1e-12 or np.ptp(reference) < 1e-12:
            row = estimate_row(n=len(gap), unit="correlation", method=method, reason="all topics have the same gap")
        else:
            row = estimate_row(stats.spearmanr(reference, gap).statistic, n=len(gap), unit="correlation", method=method)
        rows[words] = row
    return estimate_table(rows, "way", _AGREEMENT)


def topics_that_differ(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the numbers of topics whose gap differs from zero, by each way that has an overall gap; Holm over topics.

    p by the bootstrap standard error, t with the topic's participants minus one degrees of freedom; differing
    if Holm's p is below one minus the confidence.

    Returns
    -------
    DataFrame
        Rows ``<way>: more experienced`` and ``<way>: less experienced``; n counts topics that could be tested.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    frame = frame[frame["topic"].notna()]
    if not missing and frame.empty:
        missing = "topic was not given in this data set"
    rows, method = {}, "topics whose gap differs from zero, t by bootstrap standard error, Holm over topics"
    for words, way in WAYS.items():
        if way == "ranks":
            continue
        directions = {f"{words}: more experienced": 1, f"{words}: less experienced": -1}
        if missing:
            rows |= dict.fromkeys(directions, estimate_row(n=0, unit="topics", method=method, reason=missing))
            continue
        y = pd.Series(gaps(frame["expected"].to_numpy(), frame["experienced"].to_numpy(), way), index=frame.index)
        tests, signs = {}, {}
        for topic in largest_groups(frame["topic"]):
            chosen = frame["topic"] == topic
            values = np.column_stack([y[chosen], np.ones(chosen.sum())])
            tests[topic] = t_row(ratio, values, frame.loc[chosen, "participant"], bootstrap, method)
            signs[topic] = np.sign(y[chosen].mean())
        p = with_holm(estimate_table(tests, "topic"))["estimate"]
        for name, sign in directions.items():
            count = int(((p < 1 - bootstrap.confidence) & (pd.Series(signs) == sign)).sum())
            known = int(p.notna().sum())
            reason = "" if known else "no topic has enough participants"
            rows[name] = estimate_row(count if known else np.nan, n=known, unit="topics", method=method, reason=reason)
    return estimate_table(rows, "way", _DIFFERING)


check_arguments(globals())
