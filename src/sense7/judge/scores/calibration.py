"""Calibration: a judge's scores brought to the scale of those who rated, by what other participants teach."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from sense7.errors import UserError
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.core import finding
from sense7.findings.ground_truth import labels
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, run_metrics
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "agreement_after_calibration",
    "calibrated",
    "calibration_errors",
    "mean_over_runs",
    "with_calibrated",
]

FOLDS = 10
FEWEST_PARTICIPANTS = 5
"""Participants with ratings and scores below which no mapping is learned."""

_ERROR = "expected calibration error: mean over conversations of |mean rating - mean score| of their score's level"


def mean_over_runs(runs: Mapping[str, Run]) -> pd.DataFrame:
    """One score per conversation: the mean over the runs of a judge that have one.

    Parameters
    ----------
    runs : mapping
        A judge's runs by their names, as :func:`sense7.judge.scores.judges.read_runs` returns them.

    Returns
    -------
    DataFrame
        conversation, participant, ground_truth, score; in the order of the first run, with the columns that
        :func:`with_calibrated` adds. Empty without a run, and its ``attrs["reason"]`` says so.

    Examples
    --------
    >>> frame = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "ground_truth": [4.0]})
    >>> runs = {score: Run.of(frame.assign(score=score)) for score in (3.0, 4.0, np.nan)}
    >>> mean_over_runs(runs)["score"].tolist()
    [3.5]
    """
    if not runs:
        nothing = pd.DataFrame(columns=["conversation", "participant", "ground_truth", "score"])
        nothing.attrs["reason"] = ABSENT
        return with_calibrated(nothing)
    scores = pd.DataFrame({name: run.score for name, run in runs.items()})
    first, *_ = runs.values()
    rated = first.table[["conversation", "participant", "ground_truth"]]
    return with_calibrated(rated.assign(score=scores.mean(axis=1)))


def calibrated(frame: pd.DataFrame) -> np.ndarray:
    """Scores mapped to the scale of the ratings by isotonic regression, participants held out."""
    score = frame["score"].to_numpy(dtype=float)
    truth = frame["ground_truth"].to_numpy(dtype=float)
    people = frame["participant"].to_numpy(dtype=object)
    rated = np.isfinite(score) & np.isfinite(truth)
    number = len(pd.unique(people[rated]))
    if number < FEWEST_PARTICIPANTS:
        raise UserError(
            f"{count_of(number, 'participant')} with ratings and scores: too few to learn what a score is worth. Give "
            f"predictions of at least {FEWEST_PARTICIPANTS} participants' rated conversations."
        )
    mapped = np.full(len(score), np.nan)
    scored = np.flatnonzero(np.isfinite(score))
    groups = pd.factorize(people[scored])[0]
    for train, test in GroupKFold(min(FOLDS, number)).split(scored, groups=groups):
        learn_from = scored[train][rated[scored[train]]]
        if not len(learn_from):
            raise UserError(
                "All ratings are of one fold of participants. Give predictions of more participants."
            )
        mapping = IsotonicRegression(out_of_bounds="clip").fit(score[learn_from], truth[learn_from])
        mapped[scored[test]] = mapping.predict(score[scored[test]])
    return mapped


def with_calibrated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return predictions with the column calibrated, computed once, or ``attrs["not_calibrated"]``, the reason."""
    if "calibrated" in frame:
        return frame
    reason = ""
    try:
        frame = frame.assign(calibrated=calibrated(frame))
    except UserError as error:
        reason = str(error)
        frame = frame.assign(calibrated=np.nan)
    frame.attrs["not_calibrated"] = frame.attrs.get("reason") or reason
    return frame


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
    calibration of modern neural networks, with levels for bins and distances for shares. R: isoreg, each participant
    held out, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> bootstrap = ParticipantBootstrap(people, draws=100, seed=1)
    >>> calibration_errors(frame, bootstrap)["estimate"].tolist()
    [0.75, 0.0, 0.75]
    """
    frame = with_calibrated(frame)
    lower_by = f"{_ERROR}; as given minus isotonic"
    rows = {
        "as given": _error_row(frame, ["score"], f"as given: {_ERROR}", bootstrap),
        "isotonic": _error_row(frame, ["calibrated"], f"isotonic: {_ERROR}", bootstrap),
        "lower by": _error_row(frame, ["score", "calibrated"], lower_by, bootstrap),
    }
    keys = {"as given": "calibration_error_as_given", "isotonic": "calibration_error_isotonic"}
    return estimate_table(rows, "scores", keys)


def _error_row(
    frame: pd.DataFrame, columns: list[str], method: str, bootstrap: ParticipantBootstrap
) -> dict:
    """Calibration error of one kind of scores; of two, by how much that of the second is lower."""
    rows = frame[np.isfinite(frame[["ground_truth", *columns]].astype(float)).all(axis=1)]
    about = {"n": len(rows), "unit": "level, difference", "method": method}
    if rows.empty:
        reason = frame.attrs.get("reason")
        if "calibrated" in columns:
            reason = frame.attrs["not_calibrated"]
        reason = reason or "no conversation has both a rating and a score"
        return estimate_row(**about, reason=reason)
    # Per conversation and scores: rating minus score in the column of the score's level, and 1.
    sums = np.zeros((len(rows), len(columns), len(LEVELS) + 1))
    sums[..., -1] = 1
    for column, name in enumerate(columns):
        level = labels(rows[name]).astype(int)
        sums[np.arange(len(rows)), column, level - 1] = rows["ground_truth"] - rows[name]

    def statistic(sums: np.ndarray) -> np.ndarray:
        errors = np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1]
        if len(columns) == 1:
            return errors[..., 0]
        return errors[..., 0] - errors[..., 1]

    estimate = bootstrap.estimate(statistic, sums, rows["participant"], OWN_SCALE)
    if len(columns) == 1:  # no error is below zero
        estimate = estimate._replace(low=np.maximum(estimate.low, 0))
    return bootstrap.row(estimate, **about, how=bootstrap.describe(OWN_SCALE))


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
    frame = with_calibrated(frame)
    as_given = frame["score"].where(frame["calibrated"].notna())
    metrics_of = {
        "as given": run_metrics(Run.of(frame.assign(score=as_given)), bootstrap),
        "isotonic": run_metrics(Run.of(frame.assign(score=frame["calibrated"])), bootstrap),
    }
    rows = {}
    for metric in ("spearman", "mean_absolute_error"):
        for scores, table in metrics_of.items():
            row = table.loc[metric].to_dict()
            row["key"] = f"calibration_{metric}_{scores.replace(' ', '_')}"
            row["method"] = f"{scores}: {row['method']}"
            row["reason"] = frame.attrs["not_calibrated"] or row["reason"]
            rows[f"{METRICS[metric].title}, {scores}"] = row
    return estimate_table(rows, "measure")
