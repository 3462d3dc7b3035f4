"""Calibration: a judge's scores brought to the scale of those who rated, by what other participants teach."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from sense7.errors import UserError
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.core import finding
from sense7.findings.ground_truth import labels
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import run_metrics
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "agreement_after_calibration",
    "calibrated",
    "calibration_errors",
    "mean_over_runs",
]

AS_GIVEN, ISOTONIC = "as given", "isotonic"

FOLDS = 10
FEWEST_PARTICIPANTS = 5
"""Participants with ratings and scores below which no mapping is learned."""

_ERROR = "expected calibration error: mean over conversations of |mean rating - mean score| of their score's level"


def mean_over_runs(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One score per conversation: the mean over the runs of a judge that have one.

    Parameters
    ----------
    runs : mapping
        Run -> predictions, as :func:`sense7.judge.scores.judges.read_runs` returns them for a judge.

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


def calibrated(frame: pd.DataFrame) -> np.ndarray:
    """Scores mapped to the scale of the ratings by isotonic regression, participants held out."""
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
            raise UserError(
                "All ratings are of one fold of participants. Give predictions of more participants."
            )
        mapped[new] = (
            IsotonicRegression(out_of_bounds="clip")
            .fit(score[known], truth[known])
            .predict(score[new])
        )
    return mapped


@finding
def calibration_errors(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
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
    DataFrame
        Table of estimates: the error of the scores as given, that of the calibrated ones, and by how much it is lower
        on the same conversations.

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
    >>> calibration_errors(frame, bootstrap)["estimate"].tolist()
    [0.75, 0.0, 0.75]
    """
    given, truth = (frame[name].to_numpy(dtype=float) for name in ("score", "ground_truth"))
    nothing = frame.attrs.get("reason") or "no conversation has both a rating and a score"
    try:
        mapped, why = calibrated(frame), nothing
    except UserError as error:
        mapped, why = np.full(len(frame), np.nan), frame.attrs.get("reason") or str(error)

    def errors(sums: np.ndarray) -> np.ndarray:
        return np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1]

    def row(
        scores: list[np.ndarray],
        statistic: Callable,
        method: str,
        reason: str,
        lowest: float,
        key: str,
    ) -> dict:
        known = np.isfinite(truth) & np.isfinite(scores).all(axis=0)
        shown = {"n": int(known.sum()), "unit": "level, difference", "method": method, "key": key}
        if not known.any():
            return estimate_row(**shown, reason=reason)
        # Per conversation and scores: rating minus score in the column of the score's level, and 1.
        sums = np.zeros((shown["n"], len(scores), len(LEVELS) + 1))
        sums[..., -1] = 1
        for place, score in enumerate(scores):
            sums[np.arange(shown["n"]), place, labels(score[known]).astype(int) - 1] = (
                truth - score
            )[known]
        found = bootstrap.estimate(statistic, sums, frame.loc[known, "participant"], OWN_SCALE)
        found = found._replace(low=np.maximum(found.low, lowest))
        return bootstrap.row(found, **shown, how=bootstrap.describe(OWN_SCALE))

    rows = {
        way: row(
            [score],
            lambda sums: errors(sums)[..., 0],
            f"{way}: {_ERROR}",
            reason,
            0,
            f"calibration_error_{key}",
        )
        for way, score, reason, key in (
            (AS_GIVEN, given, nothing, "as_given"),
            (ISOTONIC, mapped, why, "isotonic"),
        )
    }
    method = f"{_ERROR}; as given minus isotonic"
    rows["lower by"] = row(
        [given, mapped], lambda sums: -np.diff(errors(sums))[..., 0], method, why, -np.inf, ""
    )
    return estimate_table(rows, "scores")


@finding
def agreement_after_calibration(
    frame: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Return Spearman's correlation and the mean absolute error, of the scores as given and of calibrated ones.

    The expected calibration error is also zero for one score that every conversation gets; these two tell a judge that
    distinguishes conversations from such a score. Both kinds of scores are of the same conversations.

    Parameters
    ----------
    frame : DataFrame
        As for :func:`calibrated`; rows without rating or score do not count.
    bootstrap : ParticipantBootstrap
        Resamples of participants; mapped scores are held fixed.

    Returns
    -------
    DataFrame
        Table of estimates with four rows: each of the two, as given and isotonic.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> agreement_after_calibration(frame, ParticipantBootstrap(people, 100, 1))["estimate"].tolist()
    [1.0, 1.0, 0.75, 0.0]
    """
    reason = frame.attrs.get("reason", "")
    try:
        mapped = calibrated(frame)
    except UserError as error:
        mapped = np.full(len(frame), np.nan)
        reason = reason or str(error)
    metrics_of = {
        AS_GIVEN: run_metrics(
            frame.assign(score=frame["score"].where(~np.isnan(mapped))), bootstrap
        ),
        ISOTONIC: run_metrics(frame.assign(score=mapped), bootstrap),
    }
    rows = {}
    for metric, words in {"spearman": "Spearman", "mean_absolute_error": "MAE"}.items():
        for scores, table in metrics_of.items():
            row = table.loc[metric].to_dict()
            key = f"calibration_{metric}_{scores.replace(' ', '_')}"
            row.update(key=key, method=f"{scores}: {row['method']}", reason=reason or row["reason"])
            rows[f"{words}, {scores}"] = row
    return estimate_table(rows, "measure")
