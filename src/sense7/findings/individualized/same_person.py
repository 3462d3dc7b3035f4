"""How alike the conversations of one participant are."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.rater_agreement import icc_of_sums, icc_sums
from sense7.findings.individualized.variance_components import ONE_EACH, rated_conversations
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["own_ratings", "participant_icc", "same_condition_differences"]

FEWEST_PAIRS = 10

_ICC = {"as rated": "icc_1"}
_PAIRS = {
    "two people, same condition": "apart_two_people",
    "one person, same condition": "apart_one_person",
    "two people minus one person, same condition": "apart_excess",
}
_PAIRED = 100  # resamples at once: what fits into the cache is faster


def own_ratings(study: Study) -> pd.DataFrame:
    """Return the ground truth of each participant's conversations: what the shares of the variance rest on.

    Returns
    -------
    DataFrame
        One row per conversation with ground truth and condition (any, if no conversation has one), in the order of the
        file: participant, rating (1..5).
    """
    frame, _ = rated_conversations(study, "ground_truth")
    return frame[["participant", "y"]].rename(columns={"y": "rating"}).reset_index(drop=True)


def participant_icc(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return ICC(1) of participants over conversations' ground truth, by analysis of variance.

    Returns
    -------
    DataFrame
        One row, *as rated*; n counts conversations.
    """
    frame, words = rated_conversations(study, "ground_truth")
    method = f"ICC(1) of participants by analysis of variance; {words}"
    common = {"n": len(frame), "unit": "intraclass correlation", "method": method}
    if frame.empty:
        row = estimate_row(**common, reason=f"no {words} in this data set")
    elif frame["participant"].value_counts().max() < 2:
        row = estimate_row(**common, reason=ONE_EACH)
    else:
        codes, names = pd.factorize(frame["participant"].to_numpy())
        icc = bootstrap.estimate(icc_of_sums, icc_sums(frame["y"].to_numpy(), codes, len(names)), pd.Series(names))
        undefined = "the ratings do not vary" if len(names) > 1 else "there is one participant only"
        row = bootstrap.row(icc, **common, undefined=undefined)
    return estimate_table({"as rated": row}, "ratings", _ICC)


def same_condition_differences(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean absolute difference of two ratings in the same condition, by two people and by one.

    .. math:: \frac{\sum_{p < q} \sum_{i \in p, j \in q} a_{ij} |g_i - g_j|}
              {\sum_{p < q} \sum_{i \in p, j \in q} a_{ij}}

    with g the ground truth of a conversation and a = 1 if two are in the same condition. For one person, the pairs are
    of the same participant. Every pair of conversations counts the same. In a resample a pair of participants counts as
    often as both were taken together; a participant is never compared with a copy of themselves.

    Parameters
    ----------
    study : Study
        The data. Conversations without a condition are left out; if no conversation has one, all count as of one.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Rows for two people, one person, and the first minus the second; estimate in levels; n counts pairs of
        conversations (for the difference, conversations).
    """
    frame, words = rated_conversations(study, "ground_truth")
    unit, method = "levels (from 1 to 5)", f"mean absolute difference of the {words} over pairs in the same condition"
    if frame.empty:
        none = estimate_row(n=0, unit=unit, method=method, reason=f"no {words} in this data set")
        return estimate_table(dict.fromkeys(_PAIRS, none), "two conversations", _PAIRS)
    cell = frame.groupby("condition").ngroup().to_numpy()
    rows = _pair_rows(frame["y"].to_numpy(), cell, frame["participant"], list(_PAIRS), bootstrap, unit, method)
    return estimate_table(rows, "two conversations", _PAIRS)


def _pair_sums(y: np.ndarray, group: np.ndarray, weights: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of absolute differences of the pairs within a group, and numbers of pairs, each pair once each way.

    In order of y the sum needs the rows below each row only: no pair is formed, so that the cost is linear in rows.

    Parameters
    ----------
    y, group : array, shape (rows,)
        Values, and the groups in which they are paired: 0, 1, ..
    weights : array, shape (draws, participants)
        How often each participant is taken, which makes so many pairs of a row with any other, and none with itself.
    who : array of int, shape (rows,)
        Participant of each row.

    Returns
    -------
    sums, pairs : array, shape (draws, groups)
    """
    order = np.lexsort((y, group))
    y, group, weights = y[order], group[order], weights[:, who[order]]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    moments = weights * y
    below, moments_below = np.cumsum(weights, axis=1), np.cumsum(moments, axis=1)
    total, moment = (np.add.reduceat(values, starts, axis=1) for values in (weights, moments))
    # Of all rows below; those of earlier groups are subtracted.
    sums = np.add.reduceat(moments * below - weights * moments_below, starts, axis=1)
    sums -= (below[:, starts] - weights[:, starts]) * moment - (moments_below[:, starts] - moments[:, starts]) * total
    return 2 * sums, total**2 - np.add.reduceat(weights * weights, starts, axis=1)


def _pair_rows(y, cell, participants: pd.Series, names, bootstrap, unit, method) -> dict:
    who = bootstrap.codes(participants)
    y = y - y.mean()  # sums of small numbers lose less
    once = np.ones((1, len(bootstrap.names)))
    # Pairs of one person: by person alone, and subtracted from all pairs as often as both were taken.
    people, own_cell = np.unique(np.column_stack([who, cell]), axis=0, return_inverse=True)
    own = [
        np.bincount(people[:, 0], weights=part[0], minlength=len(bootstrap.names))
        for part in _pair_sums(y, own_cell.ravel(), once, who)
    ]
    everyone = [part.sum() for part in _pair_sums(y, cell, once, who)]
    counts = [round((everyone[1] - own[1].sum()) / 2), round(own[1].sum() / 2)]

    def apart(weights: np.ndarray) -> np.ndarray:
        everyone = [part.sum(axis=1) for part in _pair_sums(y, cell, weights, who)]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance, pairs = (whole - weights**2 @ part for whole, part in zip(everyone, own, strict=True))
            two = np.where(pairs > 0, distance, np.nan) / pairs
            one = (weights @ own[0]) / (weights @ own[1])
            return np.column_stack([two, one, two - one])

    estimates = apart(once)[0]
    draws = bootstrap.in_every_draw(apart, len(y), _PAIRED)
    rows = {}
    numbers = [*counts, len(participants)]
    for i, name in enumerate(names):
        fewest = min(counts) if i == 2 else counts[i]
        if fewest < FEWEST_PAIRS:
            reason = f"only {count_of(fewest, 'such pair', 'such pairs')} of conversations"
            reason = "too few pairs of conversations" if i == 2 else reason
            rows[name] = estimate_row(n=numbers[i], unit=unit, method=method, reason=reason)
            continue
        distance = Estimate(estimates[i], *bootstrap.interval(draws[:, i], participants))
        rows[name] = bootstrap.row(distance, n=numbers[i], unit=unit, method=method)
    return rows


check_arguments(globals())
