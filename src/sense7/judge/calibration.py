"""Calibration: a judge's scores brought to the scale of those who rated, by what other participants teach."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from sense7.errors import UserError
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.cumulative_logit import fit_cumulative_logit
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import labels
from sense7.judge.judges import ABSENT
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "MAPPINGS",
    "calibrated",
    "calibration_errors",
    "mean_over_runs",
]

MAPPINGS = ("isotonic", "ordinal")
"""Ways to map scores to levels."""

AS_GIVEN = "as given"

FOLDS = 10
FEWEST_PARTICIPANTS = 5
"""Participants with ratings and scores below which no mapping is learned."""

_KEYS = {AS_GIVEN: "calibration_error_as_given", "isotonic": "calibration_error_isotonic"}


_ERROR = "expected calibration error: mean over conversations of |mean rating - mean score| of their score's level"


def mean_over_runs(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One score per conversation: the mean over the runs of a judge that have one.

    Parameters
    ----------
    runs : mapping
        Run -> predictions, as :func:`sense7.judge.judges.read_runs` returns them for a judge.

    Returns
    -------
    DataFrame
        conversation, participant, ground_truth, score; in the order of the first run. Empty without a run, and its
        ``attrs["reason"]`` says so.

    Examples
    --------
    >>> run = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "ground_truth": [4.0], "score": [3.0]})
    >>> mean_over_runs({"1": run, "2": run.assign(score=4.0), "3": run.assign(score=np.nan)})["score"].tolist()
    [3.5]
    """
    frames = list(runs.values())
    if not frames:
        nothing = pd.DataFrame(columns=["conversation", "participant", "ground_truth", "score"])
        nothing.attrs["reason"] = ABSENT
        return nothing
    scores = pd.concat([frame["score"].reset_index(drop=True) for frame in frames], axis=1)
    known = frames[0][["conversation", "participant", "ground_truth"]].reset_index(drop=True)
    return known.assign(score=scores.astype(float).mean(axis=1))


def calibrated(frame: pd.DataFrame, mapping: str = "isotonic") -> np.ndarray:
    """Scores mapped to the scale of the ratings, participants held out."""
    if mapping not in MAPPINGS:
        raise UserError(f"{mapping!r} is no mapping of scores. Choose one of {', '.join(MAPPINGS)}.")
    score, truth = (frame[name].to_numpy(dtype=float) for name in ("score", "ground_truth"))
    people = frame["participant"].to_numpy(dtype=object)
    rated = np.isfinite(score) & np.isfinite(truth)
    number = len(pd.unique(people[rated]))
    if number < FEWEST_PARTICIPANTS:
        raise UserError(
            f"{count_of(number, 'participant')} with ratings and scores: too few to learn what a score is worth. Give "
            f"predictions of at least {FEWEST_PARTICIPANTS} participants' rated conversations."
        )
    mapped, scored = np.full(len(score), np.nan), np.flatnonzero(np.isfinite(score))
    groups = pd.factorize(people[scored])[0]
    for train, test in GroupKFold(min(FOLDS, number)).split(scored, groups=groups):
        known, new = scored[train][rated[scored[train]]], scored[test]
        if not len(known):
            raise UserError("All ratings are of one fold of participants. Give predictions of more participants.")
        if mapping == "isotonic":
            mapped[new] = IsotonicRegression(out_of_bounds="clip").fit(score[known], truth[known]).predict(score[new])
            continue
        level = labels(truth[known])
        occurring, fit = np.unique(level), fit_cumulative_logit(level, score[known][:, None], pd.Series(people[known]))
        if fit is not None:
            above = expit(score[new][:, None] * fit.coefficients - fit.thresholds)
            mapped[new] = occurring[0] + above @ np.diff(occurring)
        elif len(occurring) == 1 or np.ptp(score[known]) == 0:
            mapped[new] = level.mean()
        else:
            raise UserError(
                "The cumulative logit of the levels on the scores has no maximum: the scores part the levels without "
                "any overlap. Use the mapping isotonic."
            )
    return mapped


def calibration_errors(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    r"""Expected calibration error before and after calibration.

    .. math:: ECE = \sum_{k=1}^{5} \frac{n_k}{n} \left| \bar y_k - \bar s_k \right|

    with :math:`\bar y_k` and :math:`\bar s_k` the mean rating and the mean score of the :math:`n_k` conversations
    whose score has the label k.

    Parameters
    ----------
    frame : DataFrame
        As for :func:`calibrated`; rows without rating or score do not count.
    bootstrap : ParticipantBootstrap
        Resamples of participants; mapped scores are held fixed.

    Returns
    -------
    dict
        "calibration": table of estimates by mapping; "drop": by how much calibration lowers the error of the same
        conversations.

    Notes
    -----
    Resamples would add their own chance to an error that is never below zero. So its interval and that of its drop
    are t intervals; that of the error ends at zero. Chance alone makes the error greater than zero, before
    calibration more than after: a drop of a few hundredths says nothing in a small study. Guo and others (2017), On
    calibration of modern neural networks, with levels for bins and distances for shares.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> bootstrap = ParticipantBootstrap(people, draws=100, seed=1)
    >>> calibration_errors(frame, bootstrap)["calibration"].loc[["as given", "isotonic"], "estimate"].tolist()
    [0.75, 0.0]
    """
    truth, scores, reasons = frame["ground_truth"].to_numpy(dtype=float), {}, {}
    scores[AS_GIVEN] = frame["score"].to_numpy(dtype=float)
    for mapping in MAPPINGS:
        try:
            scores[mapping] = calibrated(frame, mapping)
        except UserError as error:
            scores[mapping], reasons[mapping] = np.full(len(frame), np.nan), str(error)
    # Per conversation: rating minus score in the column of the score's level, and 1; by mapping in another dimension.
    sums = {}
    for way, score in scores.items():
        known = np.isfinite(score) & np.isfinite(truth)
        sums[way] = np.zeros((known.sum(), len(LEVELS) + 1))
        sums[way][:, -1] = 1
        sums[way][np.arange(known.sum()), labels(score[known]).astype(int) - 1] = (truth - score)[known]

    def row(way: str, values: np.ndarray, statistic: Callable, method: str, lowest: float, key: str = "") -> dict:
        shown = {"n": len(values), "unit": "level, difference", "method": method, "key": key}
        if not len(values):
            reason = frame.attrs.get("reason") or reasons.get(way) or "no conversation has both a rating and a score"
            return estimate_row(**shown, reason=reason)
        known = np.isfinite(scores[way]) & np.isfinite(truth)
        found = bootstrap.estimate(statistic, values, frame.loc[known, "participant"], OWN_SCALE)
        return bootstrap.row(
            found._replace(low=np.maximum(found.low, lowest)), **shown, how=bootstrap.describe(OWN_SCALE)
        )

    def error(sums: np.ndarray) -> np.ndarray:
        return np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1]

    def drop(sums: np.ndarray) -> np.ndarray:
        return error(sums[..., 0, :]) - error(sums[..., 1, :])

    errors = {way: row(way, values, error, f"{way}: {_ERROR}", 0, _KEYS.get(way, "")) for way, values in sums.items()}
    drops = {}
    for way in MAPPINGS:
        both = np.stack([sums[AS_GIVEN], sums[way]], axis=1) if len(sums[way]) else sums[way]
        drops[way] = row(way, both, drop, f"{_ERROR}; as given minus {way}", -np.inf)
    return {"calibration": estimate_table(errors, "scores"), "drop": estimate_table(drops, "scores")}
