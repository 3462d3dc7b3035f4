r"""What a person's own earlier ratings are worth to a judge, and how far they could take it.

A judge that reads a conversation does not know who rates it. Some of what it misses belongs to the person: one rates
strictly, another kindly. A few earlier ratings of the same person show this. The share of the variance between
persons is the limit of what they can show.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.intraclass import icc_1
from sense7.terminal import count_of

__all__ = ["NO_JUDGE", "own_ratings"]

NO_JUDGE = "no judge"
"""Starts from the mean of others' conversations: nothing is read."""

FOLDS = 10
FEWEST_PARTICIPANTS = 5
LIMIT = "limit"

_UNIT = "share of variance"
_KINDS = {NO_JUDGE: "none", "learned judge": "learned"}


def own_ratings(
    frame: pd.DataFrame, scores: Mapping[str, np.ndarray], bootstrap: ParticipantBootstrap, most: int = 5
) -> dict[str, pd.DataFrame]:
    r"""Share of the variance that is explained with 0, 1, 2 ... earlier ratings of the same person.

    With :math:`r_i = y_i - f_i` the rating minus the judge's score and :math:`\bar r_k` the mean of the last k earlier
    ones of the person, the prediction is

    .. math:: f_i + \mu + w_k (\bar r_k - \mu), \qquad w_k = \frac{k \rho}{1 + (k - 1) \rho}

    with :math:`\mu` the mean and :math:`\rho` the intraclass correlation of the r of other participants. What is
    explained is :math:`1 - \sum (y - \hat y)^2 / \sum (y - \bar y)^2`, with :math:`\bar y` the mean over the
    other participants. The limit, with ever more ratings of the person, is :math:`R_0 + (1 - R_0) \rho`, with
    :math:`R_0` the share explained without any.

    Parameters
    ----------
    frame : DataFrame
        participant and ground_truth, in the order of sheet Tasks, which is **taken** to be that in which the
        conversations took place, as for personal examples.
    scores : mapping of str -> array
        Judge -> score of each row, NaN where there is none; no participant's score may rest on their own ratings.
        Without a judge is always computed.
    bootstrap : ParticipantBootstrap
        Resamples of participants; predictions are held fixed.
    most : int
        Of earlier ratings; fewer if less than half of the participants have as many.

    Returns
    -------
    dict
        "no judge" and each judge -> table of estimates with the rows 0, 1, 2 ... and "limit". All rest on the same
        conversations: those that all judges scored, with as many earlier ratings as the last row has.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> people = np.repeat([f"P{n}" for n in range(40)], 4)
    >>> truth = np.repeat(generator.normal(size=40), 4) + generator.normal(size=160) / 4
    >>> frame = pd.DataFrame({"participant": people, "ground_truth": truth})
    >>> table = own_ratings(frame, {}, ParticipantBootstrap(people, draws=100, seed=1))["no judge"]
    >>> table.index.tolist(), bool(table.loc["1", "estimate"] > table.loc["0", "estimate"] + 0.5)
    (['0', '1', '2', '3', 'limit'], True)
    """
    every, scores = [NO_JUDGE, *scores], {name: score for name, score in scores.items() if np.isfinite(score).any()}
    rows = np.isfinite(frame["ground_truth"].to_numpy(dtype=float))
    for score in scores.values():
        rows &= np.isfinite(score)
    known = frame[rows].reset_index(drop=True)
    earlier = known.groupby("participant").cumcount().to_numpy()
    people = known["participant"].nunique()
    if people < FEWEST_PARTICIPANTS:
        why = f"{count_of(people, 'participant')} with ratings and scores: too few to learn from others"
        return {name: _without(name, why) for name in every}
    longest = np.sort(known.groupby("participant").size().to_numpy())[::-1] - 1
    most = int(min(most, longest[(people - 1) // 2]))
    if most < 1:
        why = "fewer than half of the participants have two rated conversations"
        return {name: _without(name, why) for name in every}
    starts = {NO_JUDGE: np.zeros(len(known))} | {name: np.asarray(score, float)[rows] for name, score in scores.items()}
    tables = {name: _table(name, known, start, earlier, most, bootstrap) for name, start in starts.items()}
    rows = list(tables[NO_JUDGE].index)
    return {name: tables[name] if name in tables else _without(name, "it has no scores", rows) for name in every}


def _without(name: str, why: str, rows: Sequence[str] = ("0", "1")) -> pd.DataFrame:
    about = {"n": 0, "unit": _UNIT, "method": f"variance explained, {name}", "reason": why}
    return estimate_table({row: estimate_row(key=_key(name, row), **about) for row in rows}, "earlier ratings")


def _key(name: str, row: str) -> str:
    return f"personal_share_{_KINDS.get(name, 'judge')}_{row}"


def _table(
    name: str, known: pd.DataFrame, start: np.ndarray, earlier: np.ndarray, most: int, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    truth = known["ground_truth"].to_numpy(dtype=float)
    residual = truth - start
    mean, share, of_others = _of_other_participants(known["participant"], residual, truth)
    asked = earlier >= most
    who = known.loc[asked, "participant"]
    whole = (truth - of_others)[asked] ** 2
    rows, columns = {}, []
    for count in range(most + 1):
        missed = residual - mean - _weight(count, share) * (_mean_of_last(known["participant"], residual, count) - mean)
        columns.append(missed[asked] ** 2)
        values = np.column_stack([columns[-1], whole])
        found = bootstrap.estimate(_explained, values, who)
        method = f"variance explained, {name}, with {count_of(count, 'earlier rating')} of the person"
        key = _key(name, str(count))
        rows[str(count)] = bootstrap.row(found, n=len(who), unit=_UNIT, method=method, key=key)
    weights = share[asked][:, None]
    values = np.column_stack([columns[0], whole, weights, np.ones(len(who))])
    found = bootstrap.estimate(_limit, values, who)
    method = f"variance explained, {name}, with ever more ratings of the person: intraclass correlation of what is left"
    rows[LIMIT] = bootstrap.row(found, n=len(who), unit=_UNIT, method=method, key=_key(name, LIMIT))
    return estimate_table(rows, "earlier ratings")


def _of_other_participants(
    people: pd.Series, residual: np.ndarray, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and intraclass correlation of the residuals, and mean rating, of the other folds of participants."""
    mean, share, of_others = (np.empty(len(truth)) for _ in range(3))
    for train, test in GroupKFold(min(FOLDS, people.nunique())).split(truth, groups=people):
        mean[test], of_others[test] = residual[train].mean(), truth[train].mean()
        share[test] = np.clip(np.nan_to_num(icc_1(residual[train], people.iloc[train])), 0, 1)
    return mean, share, of_others


def _weight(count: int, share: np.ndarray) -> np.ndarray:
    return count * share / (1 + (count - 1) * share) if count else np.zeros(len(share))


def _mean_of_last(people: pd.Series, residual: np.ndarray, count: int) -> np.ndarray:
    """Mean of the person's last earlier residuals, so many of them; 0 where there are fewer."""
    if not count:
        return np.zeros(len(residual))
    before = pd.Series(residual).groupby(people.to_numpy()).shift()
    return np.nan_to_num(before.groupby(people.to_numpy()).rolling(count).mean().droplevel(0).sort_index().to_numpy())


def _explained(sums: np.ndarray) -> np.ndarray:
    return 1 - sums[..., 0] / sums[..., 1]


def _limit(sums: np.ndarray) -> np.ndarray:
    share = sums[..., 2] / sums[..., 3]
    return 1 - sums[..., 0] / sums[..., 1] * (1 - share)


check_arguments(globals())
